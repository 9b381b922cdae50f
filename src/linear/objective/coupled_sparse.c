/* Sparse rows and several functions: the products with the rows and with their copy by columns. */
#include "linear/objective/coupled.h"

#include "math/rows/sparse_row.h"

#include <string.h>

enum { TASK_COLUMNS = 256 };

typedef struct column_walk {
    const mg_objective *o;
    const double *w, *slopes;
    double *gradient;
} column_walk;

static margin_status turn_columns(const mg_block *block, void *argument) {
    const column_walk *walk = argument;
    const mg_objective *o = walk->o;
    const double *scale = o->design->scale;
    for (int64_t k = 0; k < o->functions; k++)
        for (int64_t j = block->first; j < block->first + block->count; j++)
            o->coupled->weights[j * o->functions + k] =
                (scale ? scale[j] : 1.0) * walk->w[k * o->columns + j];
    return MARGIN_OK;
}

margin_status mg_coupled_turn_weights(const mg_objective *o, const double *w, margin_error *error) {
    column_walk walk = {.o = o, .w = w};
    return mg_sweep_each(o->design->context, o->columns, TASK_COLUMNS, turn_columns, &walk, error);
}

void mg_coupled_sparse_scores(const mg_objective *o, int64_t first, int64_t count, double *scores) {
    const mg_design *d = o->design;
    const margin_matrix *x = &d->problem->x;
    const int64_t functions = o->functions;
    memset(scores, 0, (size_t)(count * functions) * sizeof *scores);
    for (int64_t r = 0; r < count; r++) {
        const int64_t row = mg_design_row(d, first + r), last = mg_row_start(x, row + 1);
        double *z = scores + r * functions;
        for (int64_t e = mg_row_start(x, row); e < last; e++) {
            const double value = mg_stored_value(x, e);
            const double *w = o->coupled->weights + mg_column_index(x, e) * functions;
            for (int64_t k = 0; k < functions; k++)
                z[k] += value * w[k];
        }
    }
}

static margin_status coupled_sparse_add_columns(const mg_block *block, void *argument) {
    const column_walk *walk = argument;
    const mg_objective *o = walk->o;
    const mg_sparse_columns *c = &o->coupled->by_column;
    const int64_t functions = o->functions;
    double *sum = o->coupled->work + block->worker * o->coupled->scratch;
    for (int64_t j = block->first; j < block->first + block->count; j++) {
        memset(sum, 0, (size_t)functions * sizeof *sum);
        for (int64_t e = c->starts[j]; e < c->starts[j + 1]; e++) {
            const double value = c->values[e];
            const double *slopes = walk->slopes + c->samples[e] * functions;
            for (int64_t k = 0; k < functions; k++)
                sum[k] += value * slopes[k];
        }
        for (int64_t k = 0; k < functions; k++)
            walk->gradient[k * o->columns + j] = sum[k];
    }
    return MARGIN_OK;
}

margin_status mg_coupled_sparse_gradient(const mg_objective *o, const double *slopes,
                                         double *gradient, margin_error *error) {
    column_walk walk = {.o = o, .slopes = slopes, .gradient = gradient};
    const int64_t task = o->columns > 16 * TASK_COLUMNS ? TASK_COLUMNS : 8;
    return mg_sweep_each(o->design->context, o->columns, task, coupled_sparse_add_columns, &walk,
                         error);
}
