/* Rows one by one, for the steps of stochastic descent. */
#include "linear/design/step_row.h"

#include "math/rows/sparse_row.h"

margin_status mg_step_row_new(const mg_design *design, bool sparse, mg_arena *arena,
                              mg_step_row *row, margin_error *error) {
    const char *purpose = "a row";
    *row = (mg_step_row){.design = design, .sparse = sparse};
    row->vectors = mg_vector_ops_for(design->isa);
    MG_ARENA_NEW(arena, row->values, design->columns, purpose, error);
    MG_ARENA_NEW(arena, row->at, sparse ? design->columns : 1, purpose, error);
    if (sparse && design->shift)
        row->shift_square = row->vectors->square(design->shift, design->columns);
    return MARGIN_OK;
}

static void read_sparse(mg_step_row *row, int64_t sample) {
    const mg_design *design = row->design;
    row->stored =
        mg_sparse_row(&design->problem->x, mg_design_row(design, sample), row->at, row->values);
    for (int64_t e = 0; design->scale && e < row->stored; e++)
        row->values[e] *= design->scale[row->at[e]];
}

void mg_step_row_read(mg_step_row *row, int64_t sample) {
    const mg_design *design = row->design;
    if (row->sparse) {
        read_sparse(row, sample);
        return;
    }
    mg_sample_values(design->problem, sample, row->values);
    for (int64_t j = 0; design->scale && j < design->columns; j++)
        row->values[j] *= design->scale[j];
    for (int64_t j = 0; design->shift && j < design->columns; j++)
        row->values[j] += design->shift[j];
}

double mg_step_row_square(const mg_step_row *row, bool intercept) {
    const double *shift = row->design->shift;
    double square = intercept ? 1.0 : 0.0;
    if (!row->sparse) return square + row->vectors->square(row->values, row->design->columns);
    for (int64_t e = 0; e < row->stored; e++) {
        const double s = shift ? shift[row->at[e]] : 0.0, a = row->values[e] + s;
        square += a * a - s * s;
    }
    return square + row->shift_square;
}
