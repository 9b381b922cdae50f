/* A few rows that stand for all, for sampled Hessians. */
#ifndef MG_ROW_SAMPLE_H
#define MG_ROW_SAMPLE_H

#include "base/memory.h"

typedef struct mg_row_sample {
    mg_heap *heap;
    int64_t count, capacity;
    int64_t *rows; /* ascending */
    double *weights;
} mg_row_sample;

typedef struct mg_row_chances {
    int64_t samples, columns;
    const double *curvatures; /* samples: >= 0 */
    const double *lengths;    /* samples: squares of their lengths; NULL: all alike */
    uint64_t seed, round;     /* of the random numbers; round < 2^24 */
} mg_row_chances;

/* About `rows` samples with weights such that the weighted sum of anything over them is in the mean
 * the sum with the curvatures over all. MEMORY. Three walks over the curvatures. */
margin_status mg_row_sample_draw(mg_heap *heap, const mg_row_chances *chances, int64_t rows,
                                 mg_row_sample *sample, margin_error *error);
void mg_row_sample_free(mg_row_sample *sample);

#endif
