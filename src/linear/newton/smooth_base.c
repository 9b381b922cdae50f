/* The start matrix H0 of the smooth solvers: a diagonal, or Cholesky factors made from all samples
 * or a few. */
#include "base/scoped.h"
#include "linear/newton/smooth.h"
#include "math/products/cholesky.h"

#include <string.h>

enum { MOST_COLUMNS = 8192, CHUNK = 256 };
/* Most bytes of factors. */
static const int64_t most_bytes = (int64_t)1 << 30;

static const char purpose[] = "a Hessian";

/* ---- Cost ------------------------------------------------------------------------------------
 * Nanoseconds on one core of 2020, all roughly: only their ratio matters, and little. */

static double pass_cost(const mg_smooth *s) {
    const margin_matrix *x = &s->design->problem->x;
    const double functions = (double)s->functions, columns = (double)s->columns;
    const double length = mg_row_length(&s->design->problem->x), rows = (double)s->samples;
    if (s->functions > 1) {
        const double value = mg_is_csr(x) ? 0.5 : s->single ? 0.04 : 0.08;
        return rows * functions * (8.0 + 2.0 * value * length) + 2.0 * functions * columns;
    }
    const double value = mg_is_csr(x) ? 2.0 : x->value_type == MARGIN_F32 ? 0.9 : 1.6;
    return rows * (10.0 + value * length) + 10.0 * columns;
}

double mg_smooth_price(const mg_smooth *s, mg_smooth_base base, int64_t rows, bool single) {
    const double length = mg_row_length(&s->design->problem->x) + 1.0;
    const double product = mg_is_csr(&s->design->problem->x) ? 0.7 : single ? 0.05 : 0.1;
    const double gram = 0.5 * length * length * product + 2.0 * length; /* a row */
    const double functions = (double)s->functions;
    double factors = base == MG_BASE_BLOCKS ? functions : 1.0, grams = factors;
    double n = (double)s->block;
    if (base == MG_BASE_WHOLE) {
        grams = functions * (functions - 1.0) / 2.0;
        n *= functions - 1.0;
    }
    const double cost = grams * gram * (double)MG_MIN(rows, s->samples) +
                        factors * (n * n * n / 6.0 * 0.1 + n * n * 20.0);
    return cost / pass_cost(s);
}

bool mg_smooth_can_factor(const mg_smooth *s, int64_t factors) {
    enum { ROOM = 18 }; /* in matrices: for sums of a Gram, and the rest */
    const int64_t matrix = s->block * s->block * (int64_t)sizeof(double);
    if (s->block > MOST_COLUMNS || factors * matrix > most_bytes) return false;
    return mg_fits_limit(s->design->heap, (2 * factors + ROOM) * matrix, 1);
}

/* ---- Curvatures ------------------------------------------------------------------------------ */

typedef struct curvature_walk {
    const mg_smooth *s;
    double *curvatures; /* samples, or NULL: only their sum */
} curvature_walk;

static margin_status add_curvatures(void *state, const mg_block *block, void *argument) {
    const curvature_walk *walk = argument;
    const mg_smooth *s = walk->s;
    const mg_loss *loss = s->objective->loss;
    double own[CHUNK], at[CHUNK], *total = state;
    for (int64_t k = 0; k < block->count; k += CHUNK) {
        const int64_t first = block->first + k, count = MG_MIN(block->count - k, CHUNK);
        double *out = walk->curvatures ? walk->curvatures + first : own;
        mg_design_margins(s->design, loss, first, count, s->here.scores + first, at);
        mg_loss_pass_for(s->design->isa)(loss->kind, at, s->objective->c + first, count, NULL, out);
        for (int64_t i = 0; i < count; i++)
            *total += out[i];
    }
    return MARGIN_OK;
}

margin_status mg_smooth_curvatures(mg_smooth *s, double *curvatures, double *total) {
    curvature_walk walk = {s, curvatures};
    return mg_sweep_sums(s->design->context, s->samples, MG_BLOCK_ROWS, 1, 0, add_curvatures, &walk,
                         total, s->job->error);
}

/* 2 q (1 - q) for the shares q of a function in all samples. */
static double curvature_of(const mg_objective *o, int64_t k) {
    const double share = o->totals[k] / o->mass;
    return 2.0 * share * (1.0 - share);
}

void mg_smooth_set_diagonal(mg_smooth *s, double total) {
    const mg_objective *o = s->objective;
    for (int64_t k = 0; k < s->functions; k++) {
        const double curvature = s->functions > 1 ? total * curvature_of(o, k) : total;
        double *d = s->diagonals + k * s->block;
        for (int64_t j = 0; j < s->block; j++) {
            d[j] = curvature;
            if (j < s->columns) d[j] += o->penalty.rho * s->factor[j] * s->factor[j];
            if (!(d[j] > 0.0)) d[j] = 1.0;
        }
    }
    s->base = MG_BASE_DIAGONAL;
}

margin_status mg_smooth_diagonal(mg_smooth *s) {
    double total = s->objective->mass;
    if (s->functions == 1) MG_TRY(mg_smooth_curvatures(s, NULL, &total));
    mg_smooth_set_diagonal(s, total);
    return MARGIN_OK;
}

/* ---- Factors --------------------------------------------------------------------------------- */

/* The shares of the samples at `here`: a pass. */
static margin_status find_shares(mg_smooth *s) {
    const int64_t numbers = s->samples * s->functions;
    if (!s->shares)
        MG_ARENA_NEW(&s->arena, s->shares, numbers, "the probabilities of the samples",
                     s->job->error);
    mg_loss_point point = {.shares = s->shares, .single = s->single};
    return mg_objective_pass(s->objective, s->here.w, s->here.b, &point, s->job->error);
}

/* With w = 0 every sample has the shares of the classes, so that the H_k differ by a factor, but
 * for the penalty; returns the mean of their curvatures. */
static double scale_functions(mg_smooth *s) {
    double mean = 0.0;
    for (int64_t k = 0; k < s->functions; k++) {
        s->function_scale[k] = curvature_of(s->objective, k);
        mean += s->function_scale[k] / (double)s->functions;
    }
    for (int64_t k = 0; k < s->functions; k++)
        s->function_scale[k] = mean / fmax(s->function_scale[k], 0.1 * mean);
    return mean;
}

/* Of the samples, for the factor of function k. */
static margin_status find_curvatures(mg_smooth *s, mg_smooth_base base, int64_t k, double *out) {
    /* of its greatest value: a row that is sure of itself now may not be so later */
    static const double floor_share = 1e-7;
    const double *c = s->objective->c;
    double total;
    if (s->functions == 1) return mg_smooth_curvatures(s, out, &total);
    const double mean = base == MG_BASE_SHARED ? scale_functions(s) : 0.0;
    for (int64_t i = 0; i < s->samples; i++) {
        const double share = base == MG_BASE_BLOCKS ? s->shares[i * s->functions + k] : 0.0;
        const double curvature = 2.0 * share * (1.0 - share) + floor_share;
        out[i] = c[i] * (base == MG_BASE_SHARED ? mean : curvature);
    }
    return MARGIN_OK;
}

/* Number `at`, of the rows with these curvatures. */
static margin_status make_gram(mg_smooth *s, int64_t at, const double *curvatures, int64_t rows,
                               bool single, double *a) {
    const int64_t round = s->builds * s->functions + at;
    mg_row_sample sample;
    mg_weighted_gram request = {
        .weights = curvatures, .centre = s->centre, .factor = s->factor, .single = single};
    MG_SCOPED_ARENA(arena, s->design->heap);
    if (rows < s->samples) {
        MG_TRY(mg_smooth_sample(s, curvatures, rows, round, &arena, &sample));
        request.chosen = sample.rows;
        request.count = sample.count;
        request.weights = sample.weights;
    }
    return mg_design_gram(s->design, &request, a, s->job->error);
}

/* The factor of such a Gram and the penalty. */
static margin_status make_factor(mg_smooth *s, int64_t at, bool single) {
    const double rho = s->objective->penalty.rho;
    const int64_t n = s->block, last = n - 1;
    double *a = s->matrices + at * n * n, *diagonal = s->diagonals + at * n;
    for (int64_t j = 0; j < n && !s->objective->intercept; j++)
        a[last * n + j] = a[j * n + last] = 0.0;
    for (int64_t j = 0; j < n; j++) {
        const double own = a[j * n + j] + (j < last ? rho * s->factor[j] * s->factor[j] : 0.0);
        diagonal[j] = own > 0.0 ? own : 1.0;
    }
    return mg_ridge_factor(s->design->context, n, a, diagonal,
                           single ? mg_ridge_single : mg_ridge_double, s->job->error);
}

/* Room for so many factors, and nothing of the H0 of before. */
static margin_status begin_factors(mg_smooth *s, mg_smooth_base base, int64_t count) {
    s->base = base;
    s->scale = 1.0;
    s->since = s->rented = 0;
    s->builds++;
    if (s->matrix_count >= count) return MARGIN_OK;
    s->matrix_count = count;
    MG_ARENA_NEW(&s->arena, s->matrices, count * s->block * s->block, purpose, s->job->error);
    return MARGIN_OK;
}

/* MG_BASE_WHOLE, of all samples or of a part for which there is room in `part`. */
static margin_status factor_whole(mg_smooth *s, int64_t rows, bool single, mg_smooth_part *part) {
    const mg_objective *o = rows < s->samples ? &part->objective : s->objective;
    mg_loss_point point = {.single = s->single};
    margin_error *error = s->job->error;
    MG_SCOPED_ARENA(arena, s->design->heap);
    MG_TRY(begin_factors(s, MG_BASE_WHOLE, 0));
    if (s->newton.size == 0)
        MG_TRY(mg_newton_matrix_new(s->objective, &s->arena, &s->newton, error));
    if (rows < s->samples) MG_TRY(mg_smooth_take_part(s, rows, s->builds, part));
    MG_ARENA_NEW(&arena, point.shares, o->samples * s->functions, purpose, error);
    MG_TRY(mg_objective_pass(o, s->here.w, s->here.b, &point, error));
    const mg_newton_weights curvature = {
        .weights = point.shares, .mean = s->centre, .factor = s->factor, .single = single};
    return mg_newton_matrix_make(o, &curvature, &s->newton, error);
}

/* From curvatures of all samples, of which about `rows` are drawn. */
margin_status mg_smooth_factor(mg_smooth *s, mg_smooth_base base, int64_t rows, bool single) {
    const int64_t count = base == MG_BASE_BLOCKS ? s->functions : 1, n = s->block;
    double *curvatures;
    if (base == MG_BASE_WHOLE) {
        MG_SCOPED(mg_smooth_part, part);
        return factor_whole(s, rows, single, &part);
    }
    MG_SCOPED_ARENA(arena, s->design->heap);
    MG_TRY(begin_factors(s, base, count));
    if (s->functions > 1 && base == MG_BASE_BLOCKS) MG_TRY(find_shares(s));
    MG_ARENA_NEW(&arena, curvatures, s->samples, "the curvatures of the samples", s->job->error);
    for (int64_t k = 0; k < count; k++) {
        MG_TRY(find_curvatures(s, base, k, curvatures));
        MG_TRY(make_gram(s, k, curvatures, rows, single, s->matrices + k * n * n));
        MG_TRY(make_factor(s, k, single));
    }
    return MARGIN_OK;
}

margin_status mg_smooth_factor_part(mg_smooth *s) {
    mg_smooth_part *part = &s->part;
    const int64_t count = part->sample.count;
    double *weights;
    MG_SCOPED_ARENA(arena, s->design->heap);
    MG_TRY(begin_factors(s, MG_BASE_BLOCKS, 1));
    MG_ARENA_NEW(&arena, weights, count, "the curvatures of the samples", s->job->error);
    const mg_weighted_gram request = {
        .weights = weights, .centre = s->centre, .factor = s->factor, .single = true};
    for (int64_t k = 0; k < count; k++)
        weights[k] = s->here.scores[part->sample.rows[k]];
    mg_design_margins(&part->design, s->objective->loss, 0, count, weights, weights);
    mg_loss_pass_for(s->design->isa)(s->objective->loss->kind, weights, part->objective.c, count,
                                     NULL, weights);
    MG_TRY(mg_design_gram(&part->design, &request, s->matrices, s->job->error));
    return make_factor(s, 0, true);
}

/* ---- Solution -------------------------------------------------------------------------------- */

typedef struct solve_walk {
    const mg_smooth *s;
    double *x;
} solve_walk;

static margin_status solve_block(void *argument, int64_t k, int worker) {
    const solve_walk *walk = argument;
    const mg_smooth *s = walk->s;
    const int64_t n = s->block;
    double *x = walk->x + k * n, by = s->scale;
    (void)worker;
    if (s->base == MG_BASE_DIAGONAL) {
        for (int64_t j = 0; j < n; j++)
            x[j] /= s->diagonals[k * n + j];
    } else {
        const bool shared = s->base == MG_BASE_SHARED;
        mg_cholesky_solve(s->design->isa, n, s->matrices + (shared ? 0 : k * n * n), n, x);
        if (shared) by *= s->function_scale[k];
    }
    for (int64_t j = 0; j < n; j++)
        x[j] *= by;
    return MARGIN_OK;
}

static margin_status centre_part(const mg_block *part, void *argument) {
    const solve_walk *walk = argument;
    const mg_smooth *s = walk->s;
    for (int64_t j = part->first; j < part->first + part->count; j++) {
        double sum = 0.0;
        for (int64_t k = 0; k < s->functions; k++)
            sum += walk->x[k * s->block + j];
        sum /= (double)s->functions;
        for (int64_t k = 0; k < s->functions; k++)
            walk->x[k * s->block + j] -= sum;
    }
    return MARGIN_OK;
}

margin_status mg_smooth_solve(const mg_smooth *s, double *x) {
    solve_walk walk = {s, x};
    margin_context *context = s->design->context;
    if (s->functions == 1) return solve_block(&walk, 0, 0);
    margin_status status = MARGIN_OK;
    if (s->base == MG_BASE_WHOLE) {
        mg_newton_matrix_within(s->objective, &s->newton, x);
        memset(x + s->newton.size, 0, (size_t)s->block * sizeof *x);
    } else {
        status = mg_parallel(context, s->functions, solve_block, &walk, NULL);
    }
    if (status >= 0) status = mg_sweep_each(context, s->block, 4096, centre_part, &walk, NULL);
    return status < 0 ? mg_fail_cancelled(s->job->error) : MARGIN_OK;
}
