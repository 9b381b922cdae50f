/* The start matrix H0 of the steps for several classes: a diagonal, one factor for all classes, or
 * a factor for each. */
#include "linear/newton/classes_smooth.h"

#include "base/pool.h"
#include "linear/design/row_sample.h"
#include "math/products/ridge_factor.h"

#include <math.h>
#include <string.h>

enum { FIRST_ROWS = 4000, ROWS_PER_COLUMN = 10, MOST_COLUMNS = 8192 };
/* Most bytes of factors. */
static const int64_t most_bytes = (int64_t)1 << 30;
/* What the first factor may cost, in passes, and what each later one may cost against the passes
 * made since the one before. */
static const double first_price = 20.0;
static const double later_price[] = {0.25, 0.6, 1.2, 2.5};
enum { LEAST_STEPS = 8 };

static const char purpose[] = "a Hessian";

/* ---- Cost ------------------------------------------------------------------------------------
 * Nanoseconds on one core of 2020, all roughly: only their ratio matters, and little. */

static double values_per_row(const mg_classes_state *s) {
    const margin_matrix *x = &s->o->design->problem->x;
    if (!mg_is_csr(x) || x->rows == 0) return (double)x->columns;
    return (double)(mg_row_start(x, x->rows) - mg_row_start(x, 0)) / (double)x->rows;
}

static double pass_cost(const mg_classes_state *s) {
    const bool sparse = mg_is_csr(&s->o->design->problem->x);
    const double value = sparse ? 0.5 : s->single ? 0.04 : 0.08;
    const double classes = (double)s->classes;
    return (double)s->o->samples * classes * (8.0 + 2.0 * value * values_per_row(s)) +
           2.0 * classes * (double)s->columns;
}

static int64_t sample_rows(const mg_classes_state *s) {
    return MG_MIN(s->o->samples, MG_MAX(FIRST_ROWS, ROWS_PER_COLUMN * s->block));
}

static double factor_price(const mg_classes_state *s) {
    const double n = (double)s->block, length = values_per_row(s) + 1.0;
    const double product = mg_is_csr(&s->o->design->problem->x) ? 0.7 : 0.04;
    return ((double)sample_rows(s) * (0.5 * length * length * product + 2.0 * length) +
            n * n * n / 6.0 * 0.1 + n * n * 20.0) /
           pass_cost(s);
}

/* By the limit and not by what is left of it: that may depend on what other threads do. */
static bool can_hold(const mg_classes_state *s, int64_t factors) {
    enum { ROOM = 16 }; /* for sums of a Gram, in matrices */
    const int64_t matrix = s->block * s->block * (int64_t)sizeof(double);
    const int64_t limit = mg_heap_limit(s->o->design->heap);
    if (s->block > MOST_COLUMNS || factors * matrix > most_bytes) return false;
    return limit == 0 || 2 * (factors + ROOM) * matrix <= limit;
}

/* ---- Making ---------------------------------------------------------------------------------- */

static void set_diagonal(mg_classes_state *s) {
    const mg_objective *o = s->o;
    double total = 0.0;
    for (int64_t k = 0; k < s->classes; k++)
        total += o->totals[k];
    for (int64_t k = 0; k < s->classes; k++) {
        const double share = o->totals[k] / total;
        const double curvature = fmax(2.0 * total * share * (1.0 - share), 1e-300);
        for (int64_t j = 0; j < s->columns; j++)
            s->diagonals[k * s->block + j] =
                curvature + o->penalty.rho * s->factor[j] * s->factor[j];
        s->diagonals[k * s->block + s->columns] = curvature;
    }
    s->base = MG_BASE_DIAGONAL;
}

/* Factor number `at` of the Gram of the rows with these curvatures, and the penalty. */
static margin_status make_factor(mg_classes_state *s, int64_t at, const double *curvatures,
                                 int64_t rows) {
    const mg_objective *o = s->o;
    margin_error *error = s->job->error;
    const int64_t n = s->block, last = n - 1;
    double *a = s->matrices + at * n * n, *diagonal = s->diagonals + at * n;
    const mg_row_chances chances = {.samples = o->samples,
                                    .columns = s->columns,
                                    .curvatures = curvatures,
                                    .seed = s->job->seed,
                                    .round = (uint64_t)(s->builds * s->classes + at)};
    mg_row_sample sample = {0};
    mg_gram_request request = {
        .weights = curvatures, .centre = s->centre, .factor = s->factor, .single = true};
    margin_status status;
    if (rows < o->samples) {
        MG_TRY(mg_row_sample_draw(o->design->heap, &chances, rows, &sample, error));
        request.chosen = sample.rows;
        request.count = sample.count;
        request.weights = sample.weights;
    }
    MG_GO(mg_design_gram(o->design, &request, a, error));
    for (int64_t j = 0; j < n && !o->intercept; j++)
        a[last * n + j] = a[j * n + last] = 0.0;
    for (int64_t j = 0; j < n; j++) {
        const double own =
            a[j * n + j] + (j < last ? o->penalty.rho * s->factor[j] * s->factor[j] : 0.0);
        diagonal[j] = own > 0.0 ? own : 1.0;
    }
    status = mg_ridge_factor(o->design->context, n, a, diagonal, mg_ridge_single, error);
done:
    if (sample.heap) mg_row_sample_free(&sample);
    return status;
}

static margin_status take_matrices(mg_classes_state *s, int64_t count) {
    const int64_t numbers = count * s->block * s->block;
    s->matrices = mg_arena_new(&s->arena, numbers, sizeof *s->matrices);
    return s->matrices ? MARGIN_OK
                       : mg_no_memory(s->o->design->heap, numbers, sizeof *s->matrices, purpose,
                                      s->job->error);
}

static void settle(mg_classes_state *s, mg_classes_base base) {
    s->base = base;
    s->scale = 1.0;
    s->builds++;
    s->since = s->rented = 0;
}

/* With W = 0 every sample has the shares of the classes, so that the H_k differ by a factor, but
 * for the penalty. */
static margin_status make_shared(mg_classes_state *s) {
    const mg_objective *o = s->o;
    double total = 0.0, mean = 0.0, *curvatures;
    for (int64_t k = 0; k < s->classes; k++)
        total += o->totals[k];
    for (int64_t k = 0; k < s->classes; k++) {
        const double share = o->totals[k] / total;
        s->class_scale[k] = 2.0 * share * (1.0 - share);
        mean += s->class_scale[k] / (double)s->classes;
    }
    for (int64_t k = 0; k < s->classes; k++)
        s->class_scale[k] = mean / fmax(s->class_scale[k], 0.1 * mean);
    MG_TRY(take_matrices(s, 1));
    MG_NEW(o->design->heap, curvatures, o->samples, purpose, s->job->error);
    for (int64_t i = 0; i < o->samples; i++)
        curvatures[i] = mean * o->c[i];
    const margin_status status = make_factor(s, 0, curvatures, sample_rows(s));
    mg_free(o->design->heap, curvatures);
    if (status >= 0) settle(s, MG_BASE_SHARED);
    return status;
}

static margin_status find_shares(mg_classes_state *s) {
    const mg_objective *o = s->o;
    if (!s->shares) {
        s->shares = mg_arena_new(&s->arena, o->samples * s->classes, sizeof *s->shares);
        if (!s->shares)
            return mg_no_memory(o->design->heap, o->samples * s->classes, sizeof *s->shares,
                                "the probabilities of the samples", s->job->error);
    }
    mg_loss_point point = {.shares = s->shares, .single = s->single};
    s->solution->passes++;
    return mg_objective_pass(o, s->here.w, s->here.b, &point, s->job->error);
}

static margin_status make_blocks(mg_classes_state *s) {
    /* of its greatest value: a row that is sure of itself now may not be so later */
    static const double floor_share = 1e-7;
    const mg_objective *o = s->o;
    double *curvatures;
    margin_status status = MARGIN_OK;
    if (s->base != MG_BASE_BLOCKS) MG_TRY(take_matrices(s, s->classes));
    MG_TRY(find_shares(s));
    MG_NEW(o->design->heap, curvatures, o->samples, purpose, s->job->error);
    for (int64_t k = 0; k < s->classes && status >= 0; k++) {
        for (int64_t i = 0; i < o->samples; i++) {
            const double share = s->shares[i * s->classes + k];
            curvatures[i] = o->c[i] * (2.0 * share * (1.0 - share) + floor_share);
        }
        status = make_factor(s, k, curvatures, sample_rows(s));
    }
    mg_free(o->design->heap, curvatures);
    if (status >= 0) settle(s, MG_BASE_BLOCKS);
    return status;
}

/* ---- Choice ---------------------------------------------------------------------------------- */

margin_status mg_classes_base_start(mg_classes_state *s) {
    set_diagonal(s);
    if (can_hold(s, 1) && factor_price(s) <= first_price) return make_shared(s);
    return MARGIN_OK;
}

margin_status mg_classes_base_improve(mg_classes_state *s, bool must, bool *improved) {
    const double price = (double)s->classes * factor_price(s);
    const int turn = (int)MG_MIN(MG_MAX(s->builds - 1, 0), MG_LENGTH(later_price) - 1);
    *improved = false;
    if (!can_hold(s, s->classes + 1)) return MARGIN_OK;
    const bool slow = s->since >= LEAST_STEPS && (double)s->rented >= later_price[turn] * price;
    if (!must && !slow) return MARGIN_OK;
    *improved = true;
    return make_blocks(s);
}

/* ---- Solution -------------------------------------------------------------------------------- */

typedef struct solve_walk {
    const mg_classes_state *s;
    double *x;
} solve_walk;

static margin_status solve_class(void *argument, int64_t k, int worker) {
    const solve_walk *walk = argument;
    const mg_classes_state *s = walk->s;
    const int64_t n = s->block;
    double *x = walk->x + k * n, by = s->scale;
    (void)worker;
    if (s->base == MG_BASE_DIAGONAL) {
        for (int64_t j = 0; j < n; j++)
            x[j] /= s->diagonals[k * n + j];
    } else {
        const bool shared = s->base == MG_BASE_SHARED;
        mg_cholesky_solve(s->o->design->isa, n, s->matrices + (shared ? 0 : k * n * n), n, x);
        if (shared) by *= s->class_scale[k];
    }
    for (int64_t j = 0; j < n; j++)
        x[j] *= by;
    return MARGIN_OK;
}

static margin_status centre_part(const mg_block *part, void *argument) {
    const solve_walk *walk = argument;
    const mg_classes_state *s = walk->s;
    for (int64_t j = part->first; j < part->first + part->count; j++) {
        double sum = 0.0;
        for (int64_t k = 0; k < s->classes; k++)
            sum += walk->x[k * s->block + j];
        sum /= (double)s->classes;
        for (int64_t k = 0; k < s->classes; k++)
            walk->x[k * s->block + j] -= sum;
    }
    return MARGIN_OK;
}

margin_status mg_classes_base_solve(mg_classes_state *s, double *x) {
    solve_walk walk = {s, x};
    margin_context *context = s->o->design->context;
    margin_status status = mg_parallel(context, s->classes, solve_class, &walk);
    if (status >= 0) status = mg_sweep_each(context, s->block, 4096, centre_part, &walk);
    return status < 0 ? mg_fail_cancelled(s->job->error) : MARGIN_OK;
}
