/* One row of a design after the other, for methods that go sample by sample. */
#pragma once

#include "linear/design/design.h"

/* The row of A at hand: all values of a dense row, shift included, or what a sparse one stores,
 * times scale, without the shift. */
typedef struct mg_step_row {
    const mg_design *design;
    const double *shift; /* columns; NULL: 0 */
    const mg_vector_ops *vectors;
    bool sparse, in_place; /* dense values are those of the matrix */
    bool as_is;            /* products take the row of the matrix, and nothing is copied */
    int64_t number;        /* of that row */
    void (*prefetch)(const margin_matrix *x, int64_t row); /* NULL: there is nothing to fetch */
    const double *values;
    double *room;        /* columns */
    int64_t stored, *at; /* sparse: how many, and their columns */
    double shift_square; /* sparse: shift.shift, 0 without one, */
    double along_shift;  /* and shift times what is stored */
} mg_step_row;

/* shift: the design's, or another, whose numbers are there already; `sparse` only for CSR
 * data that no stage makes. */
margin_status mg_step_row_new(const mg_design *design, const double *shift, bool sparse,
                              mg_arena *arena, mg_step_row *row, margin_error *error);
/* The same with (a_ij - centre_j) factor_j in place of a_ij; units: room, as long as the row is. */
margin_status mg_step_row_in_units(const mg_design *design, const double *centre,
                                   const double *factor, mg_arena *arena, mg_design *units,
                                   mg_step_row *row, margin_error *error);
void mg_step_row_read(mg_step_row *row, int64_t sample);
/* Product with w, and w += by row; of a sparse one without the shift. */
double mg_step_row_dot(const mg_step_row *row, const double *w);
void mg_step_row_add(const mg_step_row *row, double by, double *w);
/* |(a, 1)|^2, without an intercept |a|^2. */
double mg_step_row_square(const mg_step_row *row, bool intercept);
