/* The rows that a sampled Hessian is made from: row_sample.c draws them.
 *
 * Lengths of rows take a pass to find and matter only where few rows are much longer than the
 * others; so they are found once a step had to be cut. */
#include "linear/newton/smooth.h"
#include "math/rows/sparse_row.h"

#include <math.h>

/* ---- Lengths --------------------------------------------------------------------------------- */

/* e_j = scale_j x_j + shift_j */
typedef struct length_walk {
    mg_smooth *s;
    double *scale, *shift; /* columns */
    double *scratch;       /* per worker: a row, and the columns of a sparse one */
    double zero;           /* |e|^2 of a row of zeros */
} length_walk;

static double dense_length(const length_walk *walk, int64_t i, double *values) {
    double sum = 0.0;
    mg_sample_values(walk->s->design->problem, i, values);
    for (int64_t j = 0; j < walk->s->columns; j++) {
        const double e = walk->scale[j] * values[j] + walk->shift[j];
        sum += e * e;
    }
    return sum;
}

static double sparse_length(const length_walk *walk, int64_t row, double *values) {
    int64_t *columns = (int64_t *)(values + walk->s->columns);
    const int64_t count = mg_sparse_row(&walk->s->design->problem->x, row, columns, values);
    double sum = walk->zero;
    for (int64_t k = 0; k < count; k++) {
        const int64_t j = columns[k];
        const double scaled = walk->scale[j] * values[k];
        sum += scaled * (scaled + 2.0 * walk->shift[j]);
    }
    return fmax(sum, 0.0);
}

static margin_status find_block_lengths(const mg_block *block, void *argument) {
    const length_walk *walk = argument;
    const mg_problem *problem = walk->s->design->problem;
    double *values = walk->scratch + 2 * walk->s->columns * block->worker;
    for (int64_t i = block->first; i < block->first + block->count; i++) {
        const int64_t row = mg_sample_row(problem, i);
        walk->s->lengths[i] = mg_is_csr(&problem->x) ? sparse_length(walk, row, values)
                                                     : dense_length(walk, i, values);
    }
    return MARGIN_OK;
}

static void set_scales(length_walk *walk) {
    const mg_smooth *s = walk->s;
    const mg_problem *problem = s->design->problem;
    walk->zero = 0.0;
    for (int64_t j = 0; j < s->columns; j++) {
        const double moved = (s->design->shift ? s->design->shift[j] : 0.0) - s->centre[j];
        walk->scale[j] = s->factor[j] * (problem->scale ? problem->scale[j] : 1.0);
        walk->shift[j] = s->factor[j] * moved;
        walk->zero += walk->shift[j] * walk->shift[j];
    }
}

static margin_status find_lengths(mg_smooth *s) {
    mg_heap *heap = s->design->heap;
    const int64_t rooms = 2 + 2 * mg_pool_threads(s->design->context->pool);
    length_walk walk = {.s = s};
    margin_status status;
    MG_ARENA_NEW(&s->arena, s->lengths, s->samples, "lengths of the rows", s->job->error);
    MG_NEW(heap, walk.scale, rooms * s->columns, "lengths of the rows", s->job->error);
    walk.shift = walk.scale + s->columns;
    walk.scratch = walk.shift + s->columns;
    set_scales(&walk);
    status = mg_sweep_each(s->design->context, s->samples, s->design->block_rows,
                           find_block_lengths, &walk);
    s->solution->passes++;
    mg_free(heap, walk.scale);
    return status < 0 ? mg_fail_cancelled(s->job->error) : MARGIN_OK;
}

/* ---- Sample ---------------------------------------------------------------------------------- */

margin_status mg_smooth_sample(mg_smooth *s, const double *curvatures, int64_t rows, int64_t round,
                               mg_row_sample *sample) {
    if (s->was_cut && !s->lengths && s->functions == 1) MG_TRY(find_lengths(s));
    const mg_row_chances chances = {.samples = s->samples,
                                    .columns = s->columns,
                                    .curvatures = curvatures,
                                    .lengths = s->lengths,
                                    .seed = s->job->seed,
                                    .round = (uint64_t)round};
    return mg_row_sample_draw(s->design->heap, &chances, rows, sample, s->job->error);
}
