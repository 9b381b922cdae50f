/* Sparse rows and several functions, eight of them side by side (row_ops.h): the products with the
 * rows and with their copy by columns. */
#include "linear/objective/coupled.h"

#include "math/rows/sparse_row.h"

#include <string.h>

enum { TASK_COLUMNS = 256, LANES = MG_ROW_LANES };

typedef struct column_walk {
    const mg_objective *o;
    const double *w;
    double *gradient;
} column_walk;

/* Number k of row i of a table of `rows` rows, lanes of functions one behind the other. */
MG_INLINE int64_t lane_of(int64_t k, int64_t rows, int64_t i) {
    return (k / LANES * rows + i) * LANES + k % LANES;
}

margin_status mg_coupled_take_sparse(mg_objective *o, mg_coupled *c, margin_error *error) {
    const mg_problem *p = o->design->problem;
    const int64_t lanes = (o->functions + LANES - 1) / LANES * LANES;
    MG_TRY(MG_PIECES(&o->arena, "the functions of the classes", error,
                     MG_PIECE(c->slopes, o->samples * lanes),
                     MG_PIECE(c->weights, o->columns * lanes)));
    memset(c->slopes, 0, (size_t)(o->samples * lanes) * sizeof *c->slopes);
    memset(c->weights, 0, (size_t)(o->columns * lanes) * sizeof *c->weights);
    MG_TRY(mg_sparse_columns_make(o->design->context, &p->x, p->index, o->samples, NULL,
                                  &c->by_column, error));
    c->turned = margin_csr_f64(c->by_column.values, c->by_column.samples, c->by_column.starts,
                               o->columns, o->samples);
    c->of_rows = mg_row_lanes_for(&p->x, o->design->isa);
    c->of_columns = mg_row_lanes_for(&c->turned, o->design->isa);
    return MARGIN_OK;
}

static margin_status turn_columns(const mg_block *block, void *argument) {
    const column_walk *walk = argument;
    const mg_objective *o = walk->o;
    const double *scale = o->design->scale;
    for (int64_t k = 0; k < o->functions; k++)
        for (int64_t j = block->first; j < block->first + block->count; j++)
            o->coupled->weights[lane_of(k, o->columns, j)] =
                (scale ? scale[j] : 1.0) * walk->w[k * o->columns + j];
    return MARGIN_OK;
}

margin_status mg_coupled_turn_weights(const mg_objective *o, const double *w, margin_error *error) {
    column_walk walk = {.o = o, .w = w};
    return mg_sweep_each(o->design->context, o->columns, TASK_COLUMNS, turn_columns, &walk, error);
}

void mg_coupled_turn_slopes(const mg_objective *o, int64_t first, int64_t count,
                            const double *slopes) {
    for (int64_t r = 0; r < count; r++)
        for (int64_t k = 0; k < o->functions; k++)
            o->coupled->slopes[lane_of(k, o->samples, first + r)] = slopes[r * o->functions + k];
}

void mg_coupled_sparse_scores(const mg_objective *o, int64_t first, int64_t count, double *scores) {
    const mg_coupled *c = o->coupled;
    for (int64_t r = 0; r < count; r++)
        for (int64_t k = 0; k < o->functions; k += LANES) {
            double z[LANES];
            c->of_rows->dot(&o->design->problem->x, mg_sample_row(o->design->problem, first + r),
                            c->weights + lane_of(k, o->columns, 0), z);
            memcpy(scores + r * o->functions + k, z,
                   (size_t)MG_MIN(LANES, o->functions - k) * sizeof *z);
        }
}

static margin_status coupled_sparse_add_columns(const mg_block *block, void *argument) {
    const column_walk *walk = argument;
    const mg_objective *o = walk->o;
    const mg_coupled *c = o->coupled;
    for (int64_t j = block->first; j < block->first + block->count; j++)
        for (int64_t k = 0; k < o->functions; k += LANES) {
            double sum[LANES];
            c->of_columns->dot(&c->turned, j, c->slopes + lane_of(k, o->samples, 0), sum);
            for (int64_t l = 0; l < MG_MIN(LANES, o->functions - k); l++)
                walk->gradient[(k + l) * o->columns + j] = sum[l];
        }
    return MARGIN_OK;
}

margin_status mg_coupled_sparse_gradient(const mg_objective *o, double *gradient,
                                         margin_error *error) {
    column_walk walk = {.o = o, .gradient = gradient};
    const int64_t task = o->columns > 16 * TASK_COLUMNS ? TASK_COLUMNS : 8;
    return mg_sweep_each(o->design->context, o->columns, task, coupled_sparse_add_columns, &walk,
                         error);
}
