/* Data sets by name for tests that take many: made ones, the same on every machine, and those of
 * examples/data; dense or CSR, f64 or f32. */
#ifndef MADE_DATA_H
#define MADE_DATA_H

#include "support/support.h"

#include "margin/margin.h"

typedef struct made_data {
    margin_data data; /* features, target, and as it applies weights and descriptions */
    margin_table *table;
    double *x, *y, *weights, *f64; /* x: the table, row by row; f64, f32: in the layout asked for */
    float *f32;
    int32_t *index;
    int64_t *start;
} made_data;

/* Made ones have numbers with at most six binary places, so that f32 holds them exactly; a name
 * there is none of fails the test. */
made_data made_data_get(margin_context *context, const char *name, bool sparse, bool single);
void made_data_free(made_data *made);

#endif
