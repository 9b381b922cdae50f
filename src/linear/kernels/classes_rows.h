/* Dense rows against the weights of several classes at once: the inner loops of the passes over a
 * design whose model has a function for each class.
 *
 * Numbers of the work (weights, centre, slopes and the sums within a call) are f64, or f32 for f32
 * rows where that is asked for; results are f64. Rows are given by address. With a centre,
 * x_j - centre_j stands for x_j. The bits of a score do not depend on the rows beside it, but on
 * the instruction set: sums have as many parts as a vector has lanes. */
#ifndef MG_CLASSES_ROWS_H
#define MG_CLASSES_ROWS_H

#include "base/cpu.h"
#include "data/table/matrix.h"

enum {
    MG_CLASSES_MOST_ROWS = 64, /* of one call: MG_CHUNK_ROWS */
    MG_CLASSES_PADDING = 16    /* weights have a leading dimension that is a multiple of this */
};

typedef struct mg_classes_rows {
    /* scores[r * classes + k] = sum_j (x_rj - centre_j) w[k * ld + j]; w and centre hold zeros from
     * `columns` up to ld */
    void (*scores)(const void *const *rows, int64_t count, int64_t columns, const void *centre,
                   const void *w, int64_t ld, int64_t classes, double *scores);
    /* sum[k * columns + j] += sum_r slopes[r * classes + k] (x_rj - centre_j) */
    void (*gradient)(const void *const *rows, int64_t count, int64_t columns, const void *centre,
                     const void *slopes, int64_t classes, double *sum);
    bool single; /* the work is f32 */
} mg_classes_rows;

/* For a dense view; `single` is heeded where the values are f32. */
const mg_classes_rows *mg_classes_rows_for(const margin_matrix *x, mg_isa isa, bool single);

#endif
