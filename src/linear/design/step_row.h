/* The row of A that a step of stochastic descent has at hand: all values of a dense row, shift
 * included, or what a sparse one stores, times scale, without the shift. */
#ifndef MG_STEP_ROW_H
#define MG_STEP_ROW_H

#include "base/memory.h"
#include "linear/design/design.h"
#include "math/rows/row_ops.h"

typedef struct mg_step_row {
    const mg_design *design;
    const mg_vector_ops *vectors;
    bool sparse;
    double *values;      /* columns */
    int64_t stored, *at; /* sparse: how many, and their columns */
    double shift_square; /* sparse: shift.shift, 0 without one */
} mg_step_row;

/* Memory from `arena`. `sparse` only for CSR data that no stage makes. MEMORY. */
margin_status mg_step_row_new(const mg_design *design, bool sparse, mg_arena *arena,
                              mg_step_row *row, margin_error *error);
void mg_step_row_read(mg_step_row *row, int64_t sample);
/* |(a, 1)|^2, without an intercept |a|^2. */
double mg_step_row_square(const mg_step_row *row, bool intercept);

#endif
