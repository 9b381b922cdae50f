/* One row of a design after the other. */
#include "linear/design/design_sample.h"

#include "math/losses/linear_kernels.h"
#include "math/rows/sparse_row.h"

margin_status mg_step_row_new(const mg_design *design, const double *shift, bool sparse,
                              mg_arena *arena, mg_step_row *row, margin_error *error) {
    const margin_matrix *x = &design->problem->x;
    *row = (mg_step_row){.design = design,
                         .shift = shift,
                         .vectors = mg_vector_ops_for(design->isa),
                         .sparse = sparse};
    if (!design->made && !mg_is_by_columns(x)) row->prefetch = mg_dual_rows_for(x)->prefetch;
    row->as_is = row->prefetch && !design->scale && !shift;
    row->in_place = row->as_is && !mg_is_csr(x) && x->value_type == MARGIN_F64;
    MG_TRY(MG_PIECES(arena, "a row", error, MG_PIECE(row->room, design->columns),
                     MG_PIECE(row->at, sparse ? design->columns : 1)));
    row->values = row->room;
    if (sparse && shift) row->shift_square = row->vectors->square(shift, design->columns);
    return MARGIN_OK;
}

margin_status mg_step_row_in_units(const mg_design *design, const double *centre,
                                   const double *factor, mg_arena *arena, mg_design *units,
                                   mg_step_row *row, margin_error *error) {
    double *scale, *shift;
    MG_TRY(MG_PIECES(arena, "a row", error, MG_PIECE(scale, design->columns),
                     MG_PIECE(shift, design->columns)));
    for (int64_t j = 0; j < design->columns; j++) {
        scale[j] = factor[j] * (design->scale ? design->scale[j] : 1.0);
        shift[j] = factor[j] * ((design->shift ? design->shift[j] : 0.0) - centre[j]);
    }
    *units = *design;
    units->scale = scale;
    const bool sparse = mg_is_csr(&design->problem->x) && !design->made;
    return mg_step_row_new(units, shift, sparse, arena, row, error);
}

static void read_stored(mg_step_row *row) {
    const mg_design *d = row->design;
    row->stored = mg_sparse_row(&d->problem->x, row->number, row->at, row->room);
    for (int64_t e = 0; d->scale && e < row->stored; e++)
        row->room[e] *= d->scale[row->at[e]];
    row->along_shift = 0.0;
    for (int64_t e = 0; row->shift && e < row->stored; e++)
        row->along_shift += row->room[e] * row->shift[row->at[e]];
}

void mg_step_row_read(mg_step_row *row, int64_t sample) {
    const mg_design *d = row->design;
    const margin_matrix *x = &d->problem->x;
    row->number = mg_sample_row(d->problem, sample);
    if (row->as_is) return;
    if (row->sparse) {
        read_stored(row);
        return;
    }
    if (row->in_place) {
        row->values = (const double *)x->values + row->number * x->stride;
        return;
    }
    mg_sample_values(d->problem, sample, row->room);
    for (int64_t j = 0; d->scale && j < d->columns; j++)
        row->room[j] *= d->scale[j];
    for (int64_t j = 0; row->shift && j < d->columns; j++)
        row->room[j] += row->shift[j];
}

double mg_step_row_dot(const mg_step_row *row, const double *w) {
    const mg_design *d = row->design;
    double sum = 0.0;
    if (row->as_is) return d->ops->dot(&d->problem->x, row->number, w);
    if (!row->sparse) return row->vectors->dot(row->values, w, d->columns);
    for (int64_t e = 0; e < row->stored; e++)
        sum += row->values[e] * w[row->at[e]];
    return sum;
}

void mg_step_row_add(const mg_step_row *row, double by, double *w) {
    const mg_design *d = row->design;
    if (row->as_is)
        d->ops->add(&d->problem->x, row->number, by, w);
    else if (!row->sparse)
        row->vectors->add(w, by, row->values, d->columns);
    for (int64_t e = 0; e < row->stored; e++)
        w[row->at[e]] += by * row->values[e];
}

double mg_step_row_square(const mg_step_row *row, bool intercept) {
    const mg_design *d = row->design;
    double square = intercept ? 1.0 : 0.0;
    if (row->as_is) return square + d->ops->square(&d->problem->x, row->number);
    if (!row->sparse) return square + row->vectors->square(row->values, d->columns);
    square += row->shift_square;
    for (int64_t e = 0; e < row->stored; e++)
        square += row->values[e] * row->values[e];
    return fmax(square + 2.0 * row->along_shift, 0.0); /* far columns cancel */
}
