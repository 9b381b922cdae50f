/* What the ways to solve a kernel ridge share: the samples, the judgement, the corrections. */
#include "kernel/ridge/kernel_ridge.h"
#include "learn/kernels/kernel_sums.h"
#include "math/rows/row_pair.h"

#include <math.h>
#include <string.h>

static const char purpose[] = "the coefficients of the rows";

static void take_samples(mg_ridge_run *run) {
    const mg_problem *p = run->problem;
    run->total = 0.0;
    for (int64_t i = 0; i < run->count; i++) {
        run->c[i] = mg_sample_weight(p, i);
        run->shift[i] = run->alpha / run->c[i];
        run->total += run->c[i];
    }
    for (int64_t t = 0; t < run->targets; t++) {
        double *y = run->y + t * run->count;
        run->penalty[t] = mg_ridge_options_of(&run->fits[t]).penalty;
        for (int64_t i = 0; i < run->count; i++)
            y[i] = mg_sample_target(run->fits[t].problem, i);
    }
}

/* ---- Judgement ------------------------------------------------------------------------------- */

/* The b for which the weighted squares of the residuals are least. */
static double best_intercept(const mg_ridge_run *run, const double *residual) {
    double sum = 0.0;
    for (int64_t i = 0; i < run->count; i++)
        sum += run->c[i] * residual[i];
    return sum / run->total;
}

/* With an intercept the dual point sums up to 0: from coefficients that sum up to s it is s c / sum
 * c away, which moves the residuals, and the function by s times at most `reach`. */
static double missed_sum(const mg_ridge_run *run, int64_t t, double s, double reach) {
    const double alpha = run->penalty[t].alpha;
    const double moved = alpha * s / sqrt(run->total), apart = s * reach;
    return (2.0 * sqrt(run->gap[t] + run->rounding[t]) + moved) * moved + alpha * apart * apart;
}

/* P and D at K a + e, |e| <= blur: P - D is the distance less alpha a'e, and P at K a moves by
 * sum_i (alpha a_i + 2 c_i residual_i + c_i e_i) e_i. What errors of one sign add up to counts:
 * those of the kernel values may follow the signs of a. `sizes`: what their terms add up to (NULL:
 * a bound of it). */
static void count_rounding(mg_ridge_run *run, int64_t t, const double *sizes) {
    const int64_t m = run->count;
    const mg_kernel_system *system = &run->system;
    const double *a = run->a + t * m, *residual = run->residual + t * m, b = run->b[t];
    const double alpha = run->penalty[t].alpha;
    const double unit = mg_kernel_rounding * (16.0 + 2.0 * sqrt((double)run->problem->x.columns));
    double terms = 0.0, steep = 0.0, sum = 0.0, absolute = 0.0, reach = 0.0;
    for (int64_t i = 0; i < m; i++) {
        const double root = mg_kernel_system_root(system, i);
        terms += fabs(a[i]) * root;
        steep += fabs(a[i]) * root * mg_kernel_system_steepness(system, i);
        absolute += fabs(a[i]);
        sum += a[i];
        reach += run->c[i] * root / run->total;
    }
    run->rounding[t] = unit * run->objective[t];
    for (int64_t i = 0; i < m; i++) {
        const double root = mg_kernel_system_root(system, i) / 2.0;
        const double f =
            sizes ? sizes[i] : root * (mg_kernel_system_steepness(system, i) * terms + steep);
        const double blur = unit * (f + fabs(run->y[t * m + i]) + fabs(b));
        run->rounding[t] +=
            alpha * fabs(a[i]) * blur + run->c[i] * blur * (2.0 * fabs(residual[i]) + blur);
    }
    if (run->options->intercept)
        run->rounding[t] += missed_sum(run, t, fabs(sum) + mg_kernel_rounding * absolute, reach);
}

static void judge_target(mg_ridge_run *run, int64_t t) {
    const int64_t m = run->count;
    const double *a = run->a + t * m, *y = run->y + t * m, *fitted = run->fitted + t * m;
    double *residual = run->residual + t * m, loss = 0.0, norm = 0.0, gap = 0.0;
    const double alpha = run->penalty[t].alpha;
    for (int64_t i = 0; i < m; i++)
        residual[i] = y[i] - fitted[i] - alpha / run->c[i] * a[i];
    run->b[t] = run->options->intercept ? best_intercept(run, residual) : 0.0;
    for (int64_t i = 0; i < m; i++) {
        const double miss = y[i] - fitted[i] - run->b[t];
        residual[i] -= run->b[t];
        loss += run->c[i] * miss * miss;
        norm += a[i] * fitted[i];
        gap += run->c[i] * residual[i] * residual[i];
    }
    run->objective[t] = loss + alpha * fmax(norm, 0.0);
    run->gap[t] = gap;
}

/* ---- Begin and end --------------------------------------------------------------------------- */

mg_ridge_run mg_ridge_run_of(mg_fit *fits, int64_t targets, margin_context *context,
                             const mg_ridge_options *options) {
    mg_ridge_run run = {.fits = fits,
                        .options = options,
                        .context = context,
                        .error = fits[0].error,
                        .problem = fits[0].problem,
                        .stop = mg_stop_make(context, options->max_iterations),
                        .count = fits[0].problem->count,
                        .targets = targets,
                        .room = mg_context_room(context, INT64_MAX),
                        .condition = (double)NAN,
                        .iteration_name = "solves",
                        .method = "no step was made"};
    mg_arena_init(&run.arena, context->heap);
    return run;
}

margin_status mg_ridge_begin(mg_ridge_run *run) {
    const int64_t all = run->targets * run->count;
    const int64_t m = run->count, k = run->targets;
    MG_REQUIRE(all / run->targets == run->count && all < INT64_MAX / 64, run->error,
               MARGIN_ERROR_LIMIT, "%s: more than memory can hold", purpose);
    MG_TRY(MG_PIECES(&run->arena, purpose, run->error, MG_PIECE(run->y, all), MG_PIECE(run->a, all),
                     MG_PIECE(run->fitted, all), MG_PIECE(run->residual, all), MG_PIECE(run->c, m),
                     MG_PIECE(run->shift, m), MG_PIECE(run->b, k), MG_PIECE(run->penalty, k),
                     MG_PIECE(run->objective, k), MG_PIECE(run->gap, k), MG_PIECE(run->missed, k),
                     MG_PIECE(run->rounding, k)));
    run->alpha = run->options->penalty.alpha;
    take_samples(run);
    memset(run->a, 0, (size_t)all * sizeof *run->a);
    memset(run->fitted, 0, (size_t)all * sizeof *run->fitted);
    for (int64_t t = 0; t < run->targets; t++) {
        run->missed[t] = (double)NAN;
        run->rounding[t] = 0.0;
        judge_target(run, t);
    }
    return MARGIN_OK;
}

void mg_ridge_end(mg_ridge_run *run) {
    mg_kernel_system_free(&run->system);
    mg_ridge_form_free(run->context->heap, &run->form);
    mg_arena_free(&run->arena);
}

/* From a: K a, b, residual, objective and gap of every target. One product. */
static margin_status ridge_judge(mg_ridge_run *run) {
    MG_TRY(mg_kernel_system_multiply(&run->system, run->targets, run->a, run->fitted));
    for (int64_t t = 0; t < run->targets; t++) {
        judge_target(run, t);
        count_rounding(run, t, NULL);
    }
    return MARGIN_OK;
}

/* The relative gap of a target in the spelling of the penalty; without what rounding may hide. */
static double ridge_gap(const mg_ridge_run *run, int64_t t) {
    const double factor = run->penalty[t].factor;
    return factor * run->gap[t] / fmax(1.0, factor * run->objective[t]);
}

double mg_ridge_proven_gap(const mg_ridge_run *run, int64_t t) {
    const double size = fmax(1.0 / run->penalty[t].factor, run->objective[t]);
    if (run->system.curvature != MG_KERNEL_DEFINITE) return (double)INFINITY;
    const double gap = run->gap[t] + run->rounding[t];
    const double most = fmax(run->objective[t], run->rounding[t]); /* P is not below 0 */
    return (gap < most ? gap : most) / size;
}

bool mg_ridge_all_proven(const mg_ridge_run *run) {
    for (int64_t t = 0; t < run->targets; t++)
        if (!(mg_ridge_proven_gap(run, t) <= run->options->tolerance)) return false;
    return true;
}

/* A value of 1 in the upper triangle, of rows that are no distance apart. */
static bool is_known(const mg_ridge_run *run, int64_t i, int64_t j) {
    const mg_problem *p = run->problem;
    return run->system.gram[i * run->count + j] == 1.0 &&
           mg_row_pair(&p->x, mg_sample_row(p, i), &p->x, mg_sample_row(p, j)).difference == 0.0;
}

/* known: of each row the sum of v over the rows that equal it, itself too; at least that. */
static margin_status sum_equal(const mg_ridge_run *run, const double *v, double *known) {
    const int64_t m = run->count;
    memcpy(known, v, (size_t)m * sizeof *known);
    for (int64_t i = 0; i < m && run->system.storage == MG_GRAM_SQUARE; i++) {
        if (mg_cancelled(run->context)) return mg_fail_cancelled(run->error);
        for (int64_t j = i + 1; j < m; j++) {
            if (!is_known(run, i, j)) continue;
            known[i] += v[j];
            known[j] += v[i];
        }
    }
    return MARGIN_OK;
}

/* Values of rbf are known the better the smaller they are, and those of the diagonal and of equal
 * rows are 1: what they add up to, by a product. v: 3 count numbers. */
static margin_status sum_rbf(const mg_ridge_run *run, const double *a, double *v, double *out) {
    const int64_t m = run->count;
    double *known = v + 2 * m;
    for (int64_t i = 0; i < m; i++) {
        v[i] = fabs(a[i]);
        v[m + i] = v[i] * mg_kernel_system_steepness(&run->system, i);
    }
    MG_TRY(mg_kernel_system_multiply(&run->system, 2, v, out));
    MG_TRY(sum_equal(run, v + m, known));
    for (int64_t i = 0; i < m; i++) {
        const double steep = mg_kernel_system_steepness(&run->system, i);
        out[i] = fmax((steep * out[i] + out[m + i]) / 2.0 - known[i], 0.0) + out[i];
    }
    return MARGIN_OK;
}

/* Those of sigmoid by their slopes: flat ones are known. Few samples: of more nothing is proven. */
static margin_status sum_sigmoid(const mg_ridge_run *run, const double *a, double *norm,
                                 double *out) {
    const mg_kernel *kernel = &run->system.kernel;
    const margin_matrix *x = &run->problem->x;
    for (int64_t i = 0; i < run->count; i++) {
        const int64_t row = mg_sample_row(run->problem, i);
        norm[i] = sqrt(mg_row_pair(x, row, x, row).square_a);
    }
    for (int64_t i = 0; i < run->count; i++) {
        const int64_t row = mg_sample_row(run->problem, i);
        if (mg_cancelled(run->context)) return mg_fail_cancelled(run->error);
        out[i] = 0.0;
        for (int64_t k = 0; k < run->count; k++) {
            const double value =
                mg_kernel_rows(run->context, kernel, x, row, x, mg_sample_row(run->problem, k));
            out[i] += fabs(a[k]) * mg_kernel_terms(kernel, value, norm[i], norm[k]);
        }
    }
    return MARGIN_OK;
}

/* Sharper where the bound by steepness alone is too much. */
static margin_status sharpen(mg_ridge_run *run) {
    const int64_t m = run->count;
    const mg_kernel_kind kind = run->system.kernel.kind;
    double *v, *out;
    if (kind != MG_KERNEL_RBF && (kind != MG_KERNEL_SIGMOID || m > MG_MOST_DECIDED))
        return MARGIN_OK;
    MG_TRY(MG_PIECES(&run->arena, purpose, run->error, MG_PIECE(v, 3 * m), MG_PIECE(out, 2 * m)));
    for (int64_t t = 0; t < run->targets; t++) {
        if (mg_ridge_proven_gap(run, t) <= run->options->tolerance) continue;
        const double *a = run->a + t * m;
        MG_TRY(kind == MG_KERNEL_RBF ? sum_rbf(run, a, v, out) : sum_sigmoid(run, a, v, out));
        count_rounding(run, t, out);
    }
    return MARGIN_OK;
}

margin_status mg_ridge_fail_indefinite(const mg_ridge_run *run) {
    return mg_fail(run->error, MARGIN_ERROR_DATA,
                   "K + alpha is not positive definite for the kernel %s: there is no least; take "
                   "a larger alpha, or %s",
                   mg_kernel_describe(&run->system.kernel).text,
                   mg_kernel_definite_words(&run->system.kernel));
}

/* ---- Corrections ----------------------------------------------------------------------------- */

void mg_ridge_project(const mg_ridge_run *run, const double *ones, int64_t apart, double *step) {
    const int64_t m = run->count;
    if (!run->options->intercept) return;
    for (int64_t t = 0; t < run->targets; t++, ones += apart) {
        double move = 0.0, sum = 0.0;
        for (int64_t i = 0; i < m; i++)
            sum += ones[i];
        if (!isnormal(sum)) { /* rounding has left nothing of A^-1 1 */
            memset(step + t * m, 0, (size_t)m * sizeof *step);
            continue;
        }
        for (int64_t i = 0; i < m; i++)
            move += run->a[t * m + i] + step[t * m + i];
        move /= sum;
        for (int64_t i = 0; i < m; i++)
            step[t * m + i] -= move * ones[i];
    }
}

static double worst_gap(const mg_ridge_run *run) {
    double worst = 0.0;
    for (int64_t t = 0; t < run->targets; t++) {
        const double gap = ridge_gap(run, t);
        worst = gap <= worst ? worst : gap; /* NaN stays */
    }
    return worst;
}

/* Coefficients that cannot be judged any more do not count. */
static margin_status judge_or_go_back(mg_ridge_run *run, const double *before) {
    const margin_status status = ridge_judge(run);
    if (status < 0) memcpy(run->a, before, (size_t)(run->targets * run->count) * sizeof *run->a);
    return status;
}

/* A limit came first: of the multiples of what there is the one of the least objective, which on
 * the way may be above that of no coefficients. */
static void take_best_multiple(mg_ridge_run *run, int64_t t) {
    const int64_t m = run->count;
    double *a = run->a + t * m, *fitted = run->fitted + t * m, *y = run->y + t * m;
    const bool centred = run->options->intercept;
    const double f0 = centred ? best_intercept(run, fitted) : 0.0;
    const double y0 = centred ? best_intercept(run, y) : 0.0;
    double along = 0.0, square = 0.0;
    for (int64_t i = 0; i < m; i++) {
        along += run->c[i] * (y[i] - y0) * (fitted[i] - f0);
        square += run->c[i] * (fitted[i] - f0) * (fitted[i] - f0) +
                  run->penalty[t].alpha * a[i] * fitted[i];
    }
    const double multiple = along / square;
    if (!(square > 0.0 && isfinite(multiple))) return;
    for (int64_t i = 0; i < m; i++) {
        a[i] *= multiple;
        fitted[i] *= multiple;
    }
    judge_target(run, t);
    count_rounding(run, t, NULL);
}

typedef struct correction {
    const mg_ridge_run *run;
    mg_ridge_inverse inverse;
    const void *state;
    double *step;
} correction;

static margin_status correct_target(void *argument, int64_t t, int worker) {
    const correction *c = argument;
    double *step = c->step + t * c->run->count;
    (void)worker;
    memcpy(step, c->run->residual + t * c->run->count, (size_t)c->run->count * sizeof *step);
    c->inverse(c->state, step);
    return MARGIN_OK;
}

margin_status mg_ridge_correct_by(mg_ridge_run *run, mg_ridge_inverse inverse, const void *state,
                                  const double *ones, double *step) {
    correction c = {run, inverse, state, step};
    MG_TRY(mg_parallel(run->context, run->targets, correct_target, &c, run->error));
    mg_ridge_project(run, ones, 0, step);
    run->iterations++;
    return MARGIN_OK;
}

margin_status mg_ridge_refine(mg_ridge_run *run, double enough, mg_ridge_correct correct,
                              void *argument) {
    enum { MOST = 6 };
    const int64_t all = run->targets * run->count;
    double *step, *before, last;
    MG_TRY(MG_PIECES(&run->arena, purpose, run->error, MG_PIECE(step, all), MG_PIECE(before, all)));
    for (int64_t t = 0; t < run->targets; t++)
        judge_target(run, t); /* a = 0 */
    last = (double)INFINITY;
    for (int k = 0; k < MOST; k++) {
        MG_TRY(correct(run, argument, step));
        memcpy(before, run->a, (size_t)all * sizeof *before);
        for (int64_t i = 0; i < all; i++)
            run->a[i] += step[i];
        MG_TRY(judge_or_go_back(run, before));
        const double worst = worst_gap(run);
        if (!(worst < last)) { /* rounding: the step before was better */
            memcpy(before, run->a, (size_t)all * sizeof *before);
            for (int64_t i = 0; i < all; i++)
                run->a[i] -= step[i];
            MG_TRY(judge_or_go_back(run, before));
            break;
        }
        if (worst <= enough || run->ended > 0 || worst > last / 4.0) break;
        last = worst;
    }
    for (int64_t t = 0; t < run->targets && run->ended > 0; t++)
        take_best_multiple(run, t);
    return sharpen(run);
}
