#include "learn/exact/least_curvature.h"

#include "data/source/crc64.h"
#include "learn/exact/merged_rows.h"
#include "math/rows/row_ops.h"
#include "math/rows/sparse_columns.h"

#include <math.h>
#include <string.h>

enum {
    LANES = MG_ROW_FOUR,
    MOST_BLOCKS = 8,
    SHARE = 4 /* of the memory limit */,
    MOST_BYTES = 1 << 30
};

typedef struct curvature_run {
    const mg_column_curvature *c;
    mg_row_fours_add *add;
    mg_row_fours rows;
    int64_t columns;
    double *v; /* columns x 4, in units of the stored values */
    int64_t blocks;
    double *sums; /* blocks x (columns + 1) x 4: of the stored values, and of 1 */
} curvature_run;

static double scale_of(const mg_problem *problem, int64_t j) {
    return problem->scale ? problem->scale[j] : 1.0;
}

/* What is added to a stored value times its scale. */
static double shift_of(const mg_column_curvature *c, int64_t j) {
    return (c->problem->shift ? c->problem->shift[j] : 0.0) - c->mean[j];
}

static margin_status curvature_add_block(void *argument, int64_t block, int worker) {
    const curvature_run *run = argument;
    const mg_problem *problem = run->c->problem;
    const int64_t numbers = (run->columns + 1) * LANES,
                  end = problem->count * (block + 1) / run->blocks;
    double *sums = run->sums + block * numbers;
    (void)worker;
    memset(sums, 0, (size_t)numbers * sizeof *sums);
    for (int64_t i = problem->count * block / run->blocks; i < end; i++)
        run->add(&problem->x, &run->rows, i, sums);
    return MARGIN_OK;
}

static void prepare_product(curvature_run *run, const double *v) {
    const mg_column_curvature *c = run->c;
    double *offset = run->rows.offset;
    memset(offset, 0, sizeof run->rows.offset);
    for (int64_t j = 0; j < run->columns; j++) {
        const double by = c->norm[j] > 0.0 ? 1.0 / c->norm[j] : 0.0;
        const double shift = shift_of(c, j) * by, scale = scale_of(c->problem, j) * by;
        for (int l = 0; l < LANES; l++) {
            offset[l] += shift * v[j * LANES + l];
            run->v[j * LANES + l] = scale * v[j * LANES + l];
        }
    }
}

/* A column that is left out is multiplied by 1. */
static margin_status curvature_product(void *state, const double *v, double *image,
                                       margin_error *error) {
    curvature_run *run = state;
    const mg_column_curvature *c = run->c;
    const int64_t n = run->columns, numbers = (n + 1) * LANES;
    double *sums = run->sums;
    prepare_product(run, v);
    MG_TRY(mg_parallel(c->context, run->blocks, curvature_add_block, run, error));
    for (int64_t block = 1; block < run->blocks; block++)
        for (int64_t k = 0; k < numbers; k++)
            sums[k] += sums[block * numbers + k];
    for (int64_t j = 0; j < n; j++)
        for (int l = 0; l < LANES; l++) {
            const double sum = scale_of(c->problem, j) * sums[j * LANES + l] +
                               shift_of(c, j) * sums[n * LANES + l];
            image[j * LANES + l] = c->norm[j] > 0.0 ? sum / c->norm[j] : v[j * LANES + l];
        }
    if (c->groups) mg_column_groups_add(c->groups, c->norm, 1.0, v, LANES, image);
    return mg_stop_check(c->stop, 0);
}

/* Below it rounding of the products has a say, more so of columns that are far from 0. */
static double least_sure(const mg_column_curvature *c) {
    static const double enough = 1e-5, rounding = 1e-8;
    double total = 0.0, far = 0.0;
    for (int64_t i = 0; i < c->problem->count; i++)
        total += c->weights[i];
    for (int64_t j = 0; j < c->problem->x.columns; j++)
        if (c->norm[j] > 0.0) far = fmax(far, fabs(shift_of(c, j)) / c->norm[j]);
    return fmax(enough, rounding * total * far * far);
}

/* Of all rows, their targets and weights, and the units of columns. What else is behind H follows
 * from these; it is not in the seed, so that a verification, which finds it with other roundings,
 * draws the same. */
static uint64_t seed_of(const mg_column_curvature *c) {
    const mg_problem *p = c->problem;
    uint64_t rows = 0;
    mg_crc64 crc;
    for (int64_t i = 0; i < p->count; i++)
        rows = rows * 0x9e3779b97f4a7c15U + mg_sample_hash(p, i);
    mg_crc64_begin(&crc);
    mg_crc64_add(&crc, &rows, sizeof rows);
    if (p->weight) mg_crc64_add(&crc, p->weight, p->count * (int64_t)sizeof *p->weight);
    if (p->scale) mg_crc64_add(&crc, p->scale, p->x.columns * (int64_t)sizeof *p->scale);
    if (p->shift) mg_crc64_add(&crc, p->shift, p->x.columns * (int64_t)sizeof *p->shift);
    return mg_crc64_value(&crc);
}

/* Their sums are not to cost more than their rows. */
static int64_t blocks_of(const mg_column_curvature *c) {
    const mg_problem *problem = c->problem;
    const int64_t stored = mg_sparse_count(&problem->x, problem->index, problem->count);
    return MG_MAX(MG_MIN(stored / MG_MAX(problem->x.columns, 1), MOST_BLOCKS), 1);
}

margin_status mg_least_curvature(const mg_column_curvature *c, int64_t most, double *least,
                                 margin_error *error) {
    const margin_matrix *x = &c->problem->x;
    const int64_t n = x->columns;
    curvature_run run = {
        .c = c, .columns = n, .rows = {.rows = c->problem->index, .weights = c->weights}};
    mg_least_eigenvalue job = {.size = n,
                               .product = curvature_product,
                               .state = &run,
                               .most = most,
                               .equation = c->equation};
    mg_arena arena;
    margin_status status;
    const int64_t limit = mg_heap_limit(c->context->heap);
    const double sure = least_sure(c);
    *least = 0.0;
    if (!mg_is_csr(x) || c->problem->count <= n || !(sure < 1.0)) return MARGIN_OK;
    run.blocks = blocks_of(c);
    const int64_t bytes = (MG_LEAST_VECTORS + 1 + run.blocks) * LANES * (n + 1) * 8;
    if (bytes > MOST_BYTES || (limit > 0 && bytes > limit / SHARE)) return MARGIN_OK;
    run.add = mg_row_fours_for(x, mg_isa_level());
    job.seed = seed_of(c);
    mg_arena_init(&arena, c->context->heap);
    MG_GO(MG_PIECES(&arena, "the least eigenvalue", error, MG_PIECE(run.v, n * LANES),
                    MG_PIECE(run.sums, run.blocks * (n + 1) * LANES),
                    MG_PIECE(job.work, MG_LEAST_VECTORS * n * LANES)));
    run.rows.vectors = run.v;
    status = mg_least_eigenvalue_bound(&job, least, error);
    if (!(*least > sure)) *least = 0.0;
done:
    mg_arena_free(&arena);
    return status;
}
