/* The linear passes over a design: scores, gradients, products with a weighted Gram. */
#include "linear/design/design.h"

#include "linear/design/design_block.h"
#include "linear/design/design_columns.h"

#include <string.h>

/* ---- Making ---------------------------------------------------------------------------------- */

int64_t mg_rows_of_block(const mg_problem *p, int64_t beside, int64_t sums, int64_t times) {
    enum { LEAST_BLOCKS = 16, NUMBER = sizeof(double) };
    const int64_t row_bytes = MG_MAX(mg_row_bytes(&p->x), 1);
    int64_t rows = mg_block_rows(row_bytes + beside * NUMBER);
    while (rows < times * sums * NUMBER / row_bytes && 2 * rows <= p->count / LEAST_BLOCKS)
        rows *= 2;
    return rows;
}

int64_t mg_rows_of_chunk(const margin_matrix *x, int64_t bytes) {
    const int64_t fitting = bytes / MG_MAX(mg_row_bytes(x), 1);
    return MG_MAX(8, MG_MIN(fitting / 8 * 8, MG_CHUNK_ROWS));
}

/* Columns are read on for a while, as many rows as fit into the second cache: whole chunks. */
static int64_t walk_rows_for(const mg_design *d) {
    const int64_t bytes = 256 * 1024, fitting = bytes / MG_MAX(mg_row_bytes(&d->problem->x), 1);
    if (!d->column_ops) return d->chunk_rows;
    return MG_MAX(64, MG_MIN(fitting, MG_COLUMN_ROWS)) / d->chunk_rows * d->chunk_rows;
}

/* Columns that are shifted are centred in X's units, where the difference is exact. */
static margin_status make_centre(mg_design *d, margin_error *error) {
    if (!d->rows || !d->shift) return MARGIN_OK;
    if (!d->centre)
        MG_ARENA_NEW(&d->arena, d->centre, d->columns, "the weights of a linear model", error);
    for (int64_t j = 0; j < d->columns; j++) {
        const double scale = d->scale ? d->scale[j] : 1.0;
        d->centre[j] = scale != 0 ? -d->shift[j] / scale : 0.0;
    }
    return MARGIN_OK;
}

static margin_status take_vectors(mg_design *d, margin_error *error) {
    double *sums;
    MG_TRY(MG_PIECES(&d->arena, "the gradient of a linear model", error,
                     MG_PIECE(d->work, d->columns), MG_PIECE(sums, MG_PASS_SUMS + d->columns)));
    d->sums = (mg_pass_sums *)sums;
    MG_TRY(mg_made_rows_new(d, error));
    return make_centre(d, error);
}

margin_status mg_design_create(margin_context *context, const mg_problem *problem,
                               mg_design *design, margin_error *error) {
    enum { CACHE = 24 * 1024 }; /* the first one, together with the sums */
    const mg_isa isa = mg_isa_level();
    *design = (mg_design){.context = context,
                          .problem = problem,
                          .isa = isa,
                          .samples = problem->count,
                          .columns = problem->x.columns,
                          .scale = problem->scale,
                          .shift = problem->shift,
                          .heap = context->heap,
                          .arena = {.heap = context->heap},
                          .ops = mg_row_ops_for(&problem->x, isa),
                          .rows = mg_design_rows_for(&problem->x, isa),
                          .block_rows = mg_rows_of_block(problem, 0, problem->x.columns, 4),
                          .column_ops = problem->index ? NULL : mg_column_ops_for(&problem->x, isa),
                          .chunk_rows = mg_rows_of_chunk(&problem->x, CACHE)};
    design->walk_rows = walk_rows_for(design);
    const margin_status status = take_vectors(design, error);
    if (status < 0) mg_design_free(design);
    return status;
}

margin_status mg_design_take_offsets(mg_design *d, margin_error *error) {
    enum { VALUES = 1 << 21, LEAST_ROWS = 128 }; /* of long rows some will do */
    static const double far_off = 1e3;           /* beyond, scores lose more than three digits */
    const int64_t n = d->columns;
    double *mean, *deviation;
    bool is_far = false;
    if (!d->rows || d->problem->maker) return MARGIN_OK;
    MG_TRY(MG_PIECES(&d->arena, "the means of the columns", error, MG_PIECE(mean, n),
                     MG_PIECE(deviation, n)));
    mg_design some = *d;
    some.samples = MG_MIN(d->samples, MG_MAX(VALUES / MG_MAX(n, 1), LEAST_ROWS));
    MG_TRY(mg_design_moments(&some, false, mean, deviation, error));
    for (int64_t j = 0; j < n; j++)
        if (deviation[j] > 0.0 && fabs(mean[j]) > far_off * deviation[j])
            is_far = true;
        else if (deviation[j] > 0.0)
            mean[j] = 0.0;
    if (!is_far) return MARGIN_OK;
    for (int64_t j = 0; j < n; j++)
        deviation[j] = (d->shift ? d->shift[j] : 0.0) - mean[j];
    d->offset = mean;
    d->shift = deviation;
    return make_centre(d, error);
}

double mg_design_intercept(const mg_design *d, const double *w, double b) {
    for (int64_t j = 0; d->offset && j < d->columns; j++)
        b -= d->offset[j] * w[j];
    return b;
}

void mg_design_free(mg_design *design) {
    if (design->by_column) mg_sparse_columns_free(design->heap, design->by_column);
    mg_arena_free(&design->arena);
    memset(design, 0, sizeof *design);
}

double mg_design_to_rows(const mg_design *d, const double *w, double *v) {
    double sum = 0.0;
    for (int64_t j = 0; j < d->columns; j++) {
        if (d->shift) sum += d->shift[j] * w[j];
        v[j] = d->scale ? d->scale[j] * w[j] : w[j];
    }
    return sum;
}

/* ---- Scores ---------------------------------------------------------------------------------- */

typedef struct score_walk {
    mg_visit_list list;
    mg_row_weights weights;
    double *scores;
} score_walk;

static margin_status score_block(const mg_block *block, void *argument) {
    const score_walk *walk = argument;
    const int64_t chunk = mg_walk_rows(&walk->list);
    for (int64_t k = 0; k < block->count; k += chunk) {
        const int64_t first = block->first + k, count = MG_MIN(block->count - k, chunk);
        mg_design_chunk_scores(&walk->list, &walk->weights, first, count, walk->scores + first);
    }
    return MARGIN_OK;
}

margin_status mg_design_scores(mg_design *d, const double *w, double b, double *scores,
                               margin_error *error) {
    score_walk walk = {{d, NULL}, mg_design_row_weights(d, w, b), scores};
    return mg_sweep_each(d->context, d->samples, d->block_rows, score_block, &walk, error);
}

/* ---- Sums over rows --------------------------------------------------------------------------
 * The gradient of given slopes, or of slopes that are products of a vector with the rows. */

typedef struct sum_walk {
    mg_visit_list list;
    mg_row_weights weights; /* w NULL: the slopes are r */
    const double *r;        /* slopes, or weights of the products, by position; NULL: the samples'
                               weights */
} sum_walk;

static void chunk_factors(const sum_walk *walk, int64_t first, int64_t count, double *r) {
    const mg_problem *problem = walk->list.design->problem;
    if (walk->r) memcpy(r, walk->r + first, (size_t)count * sizeof *r);
    for (int64_t k = 0; !walk->r && k < count; k++)
        r[k] = mg_sample_weight(problem, mg_visit_sample(&walk->list, first + k));
}

static margin_status sum_block(void *state, const mg_block *block, void *argument) {
    const sum_walk *walk = argument;
    mg_pass_sums *sums = state;
    const int64_t chunk = mg_walk_rows(&walk->list);
    double slopes[MG_COLUMN_ROWS];
    for (int64_t at = 0; at < block->count; at += chunk) {
        const int64_t first = block->first + at, count = MG_MIN(block->count - at, chunk);
        chunk_factors(walk, first, count, slopes);
        if (walk->weights.w)
            mg_design_chunk_visit(&walk->list, &walk->weights, first, count, slopes,
                                  sums->gradient);
        else
            mg_design_chunk_gradient(&walk->list, first, count, slopes, sums->gradient);
        for (int64_t k = 0; k < count; k++)
            sums->total += slopes[k];
    }
    return MARGIN_OK;
}

static margin_status sum_rows(mg_design *d, const sum_walk *walk, int64_t count, double *gradient,
                              double *total, margin_error *error) {
    const mg_pass_sums *sums = d->sums;
    MG_TRY(mg_sweep_sums(d->context, count, d->block_rows, MG_PASS_SUMS + d->columns, 0, sum_block,
                         (void *)walk, d->sums, error));
    memcpy(gradient, sums->gradient, (size_t)d->columns * sizeof *gradient);
    mg_design_from_rows(d, sums->total, gradient);
    if (total) *total = sums->total;
    return MARGIN_OK;
}

static margin_status sum_columns(const mg_design *d, const double *r, double *gradient,
                                 double *total, margin_error *error) {
    const double sum = mg_sum(r, d->samples);
    MG_TRY(mg_design_column_sums(d, r, gradient, error));
    mg_design_from_rows(d, sum, gradient);
    if (total) *total = sum;
    return MARGIN_OK;
}

margin_status mg_design_gradient(mg_design *d, const double *r, double *gradient, double *total,
                                 margin_error *error) {
    if (d->by_column && r) return sum_columns(d, r, gradient, total, error);
    const sum_walk walk = {.list = {d, NULL}, .r = r};
    return sum_rows(d, &walk, d->samples, gradient, total, error);
}

static margin_status product_by_columns(mg_design *d, const double *weights, const double *v,
                                        double v0, double *out, double *total,
                                        margin_error *error) {
    double *slopes;
    MG_SCOPED_ARENA(arena, d->heap);
    MG_ARENA_NEW(&arena, slopes, d->samples, "the scores of the rows", error);
    MG_TRY(mg_design_scores(d, v, v0, slopes, error));
    for (int64_t i = 0; i < d->samples; i++)
        slopes[i] *= weights ? weights[i] : mg_sample_weight(d->problem, i);
    return sum_columns(d, slopes, out, total, error);
}

margin_status mg_design_product(mg_design *d, const int64_t *chosen, int64_t count,
                                const double *weights, const double *v, double v0, double *out,
                                double *total, margin_error *error) {
    if (d->by_column && !chosen) return product_by_columns(d, weights, v, v0, out, total, error);
    const sum_walk walk = {
        .list = {d, chosen}, .weights = mg_design_row_weights(d, v, v0), .r = weights};
    return sum_rows(d, &walk, chosen ? count : d->samples, out, total, error);
}
