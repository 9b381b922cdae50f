/* When the textbook solvers are done, and what they say. */
#include "linear/proof/end_words.h"
#include "linear/proof/goal.h"
#include "linear/textbook/descent.h"
#include "math/products/cholesky.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Proofs that cost passes: first after this many units, then at distances that grow by a part. */
enum { FIRST_CHECK = 8, GROWTH = 4, COLUMNS_PER_PASS = 8 };

static bool falls_for_ever(const mg_descent *d) {
    const mg_loss_kind kind = d->objective->loss->kind;
    return mg_is_unpenalised(d->objective) &&
           (kind == MG_LOSS_LOGISTIC || kind == MG_LOSS_EXPONENTIAL);
}

/* ---- Residual of the normal equations -------------------------------------------------------- */

/* Tells when a proof is worth its price: max_j |a_j'Cr| / (|a_j| |y|) with centred columns and
 * target; with an intercept the column of ones is one of them. The gradient of sum c r^2 is twice
 * these products. */
static double residual(const mg_descent *d, const mg_descent_point *p) {
    const double total = d->objective->intercept ? p->gradient_b : 0.0;
    const double *shift = d->design->shift;
    double most = fabs(total) / sqrt(d->mass), blur = 0.0;
    for (int64_t j = 0; j < d->columns; j++) {
        if (!(d->norm[j] > 0.0)) continue;
        most = fmax(most, fabs(p->gradient[j] - d->mean[j] * total) / d->norm[j]);
        blur = fmax(blur, fabs(d->mean[j] - (shift ? shift[j] : 0.0)) / d->norm[j]);
    }
    most *= 1.0 + 4.0 * DBL_EPSILON * sqrt(d->mass) * blur; /* of deviations far from 0 */
    const double unit = d->spread > 0.0 ? d->spread : sqrt(p->value);
    const double gap = most > 0.0 ? most / 2.0 / unit : 0.0;
    return isnan(gap) ? (double)INFINITY : gap;
}

/* ---- Proof ----------------------------------------------------------------------------------- */

/* Of the best point. */
static margin_status prove(mg_descent *d) {
    mg_linear_solution *out = d->solution;
    if (d->proven) return MARGIN_OK;
    memcpy(out->w, d->best_w, (size_t)d->columns * sizeof *out->w);
    *out->b = d->best_b;
    if (d->alpha) memcpy(out->alpha, d->alpha, (size_t)d->samples * sizeof *out->alpha);
    MG_TRY(mg_certify(d->objective, out, d->job->error));
    out->passes += 2;
    d->proven = true;
    return MARGIN_OK;
}

/* What the proof would find, as far as can be told for nothing; NAN: nothing can. */
static double expected_gap(const mg_descent *d) {
    const mg_descent_point *p = &d->here;
    const double scale = fmax(1.0, fabs(p->value));
    if (d->mean) return residual(d, p);
    if (falls_for_ever(d) && p->errors == 0) return p->value / scale;
    if (!d->objective->loss->smooth || d->objective->penalty.kappa > 0.0 ||
        mg_is_unpenalised(d->objective))
        return (double)NAN;
    const double square = d->vectors->square(p->gradient, d->columns);
    /* of the intercept's derivative the proof sees the square, over a curvature that is not known
     */
    const double bend = mg_descent_bend(d->objective->loss) * d->mass;
    const double intercept = p->gradient_b * p->gradient_b / bend;
    return (square / (2.0 * d->objective->penalty.rho) + intercept) / scale;
}

/* Gains count as well: where the loss weighs next to nothing, w = 0 has a tiny gap too. */
static double allowed_gap(const mg_descent *d) {
    const double tolerance = d->job->tolerance;
    if (d->mean) return tolerance;
    return mg_wanted_gap(tolerance, d->best_value, d->constant_value) /
           fmax(1.0, fabs(d->best_value));
}

/* Without a penalty a proof needs a matrix of the columns, which costs as much as many passes. */
static int64_t price(const mg_descent *d) {
    return mg_is_unpenalised(d->objective) && !d->mean ? d->columns / COLUMNS_PER_PASS : 0;
}

static bool is_time_to_prove(mg_descent *d, double expected) {
    if (d->here.value > d->best_value) return false; /* the best one had its chance */
    if (!isnan(expected)) return expected <= d->strictness * allowed_gap(d);
    if (d->units < d->next_check) return false;
    d->next_check = d->units + MG_MAX(FIRST_CHECK + price(d), d->units / GROWTH);
    return true;
}

margin_status mg_descent_check(mg_descent *d, bool *done) {
    const double expected = expected_gap(d);
    *done = false;
    mg_progress(d->job->context, "training", (double)d->units, (double)d->limit, expected);
    /* with corners the dual variables get better though the point is not the best one */
    if (d->alpha && d->units >= d->next_check) d->proven = false;
    const bool noisy = d->alpha && d->units >= d->next_check;
    if (!noisy && !is_time_to_prove(d, expected)) return MARGIN_OK;
    if (noisy) d->next_check = d->units + MG_MAX(FIRST_CHECK, d->units / GROWTH);
    MG_TRY(prove(d));
    *done = d->solution->gap <= allowed_gap(d);
    if (!*done) d->strictness = fmax(0.5 * d->strictness, 1e-9);
    return MARGIN_OK;
}

margin_status mg_descent_stop(const mg_descent *d) {
    if (d->diverged) return MARGIN_STOPPED_STALLED;
    if (d->idle > MG_DESCENT_MOST_IDLE && !d->alpha && d->schedule.kind == MG_SCHEDULE_CONSTANT)
        return MARGIN_STOPPED_STALLED;
    return mg_stop_check(&d->job->stop, d->units);
}

/* ---- Ridge ----------------------------------------------------------------------------------- */

/* The gradient, and the factor of H, with 1 on the diagonal of what is factored. */
static margin_status factor_hessian(mg_descent *d, double *matrix, double *g, double *weights,
                                    int64_t *failed) {
    const mg_gram_request request = {.weights = weights};
    const int64_t p = d->columns, n = p + 1;
    double *scale = g + n;
    for (int64_t i = 0; i < d->samples; i++)
        weights[i] = d->objective->loss->curvature(0.0) * d->objective->c[i];
    MG_TRY(mg_design_gram(d->design, &request, matrix, d->job->error));
    for (int64_t j = 0; j < n; j++) {
        const bool taken = j < p || d->objective->intercept;
        const double square = matrix[j * n + j] + (j < p ? d->objective->penalty.rho : 0.0);
        scale[j] = taken && square > 0.0 ? 1.0 / sqrt(square) : 0.0;
        g[j] *= scale[j];
        for (int64_t k = 0; k < j; k++)
            matrix[j * n + k] *= scale[j] * scale[k];
        matrix[j * n + j] = 1.0;
    }
    return mg_cholesky_factor(d->design->context, n, matrix, n, failed, d->job->error);
}

/* P is quadratic, so g'H^-1 g / 2 is its distance from the optimum; NAN: rounding is in the way. */
static double distance_of(const mg_descent *d, const double *matrix, double *g) {
    static const double least = 1e-4, blur = 1e-6; /* of a diagonal of 1; of the result */
    const int64_t n = d->columns + 1;
    double sum = 0.0;
    mg_cholesky_solve_lower(d->design->isa, n, matrix, n, g);
    for (int64_t j = 0; j < n; j++) {
        if (!(matrix[j * n + j] > least)) return (double)NAN;
        sum += g[j] * g[j];
    }
    return sum / 2.0 * (1.0 + blur);
}

/* Where the penalty is weak, the duality gap |g|^2 / (2 rho) is far above the distance, which the
 * verification of a ridge takes as well. */
static margin_status prove_by_distance(mg_descent *d) {
    mg_linear_solution *out = d->solution;
    const int64_t n = d->columns + 1;
    mg_heap *heap = d->design->heap;
    double *matrix = NULL;
    int64_t failed = 0;
    margin_status status;
    if (!d->job->by_distance || out->gap <= d->job->tolerance ||
        !mg_squares_exact(d->samples, d->columns))
        return MARGIN_OK;
    MG_GO_NEW(heap, matrix, n * (n + 2) + d->samples, "a proof of the optimum", d->job->error);
    double *g = matrix + n * n;
    mg_descent_point best = {.w = d->best_w, .b = d->best_b, .gradient = g};
    MG_GO(mg_descent_evaluate(d, &best));
    g[n - 1] = best.gradient_b;
    MG_GO(factor_hessian(d, matrix, g, g + 2 * n, &failed));
    if (failed > 0) goto done;
    const double distance = distance_of(d, matrix, g), gap = distance / fmax(1.0, out->primal);
    if (gap < out->gap) {
        out->gap = gap;
        out->dual = out->primal - distance;
    }
done:
    mg_free(heap, matrix);
    return status;
}

/* ---- End ------------------------------------------------------------------------------------- */

static double round_down(double x) {
    const double unit = pow(10.0, floor(log10(x)) - 1.0);
    return unit > 0.0 && isfinite(unit) ? floor(x / unit) * unit : x;
}

double mg_descent_safe(double curvature) {
    return curvature > 0.0 ? round_down(2.0 / curvature) : (double)NAN;
}

/* NAN: the loss has no such rate. */
static margin_status safe_rate(mg_descent *d, double *safe) {
    enum { PASSES = 200 };
    *safe = (double)NAN;
    if (!isfinite(d->objective->loss->curvature_bound) || isnan(d->job->descent.rate))
        return MARGIN_OK;
    MG_TRY(mg_descent_curvature(d, PASSES, &d->curvature));
    if (d->curvature > 0.0) *safe = mg_descent_safe(d->curvature + d->rows_curvature);
    return MARGIN_OK;
}

static void explain_rate(const mg_descent_words *o, char *why, size_t room) {
    const mg_number_text rate = mg_number(o->rate);
    char safe[120] = "";
    if (!isnan(o->safe))
        snprintf(safe, sizeof safe,
                 "; the largest safe rate is about %s, 2 / the largest curvature",
                 mg_number(o->safe).text);
    if (o->diverged)
        snprintf(why, room,
                 "it diverges: after %lld %s with rate=%s the objective is %s, from %s at the "
                 "start%s; leave rate out, or bring the columns to one scale (standardize | ...); "
                 "kept is the best point seen",
                 (long long)o->units, o->unit_name, rate.text, mg_number(o->value).text,
                 mg_number(o->start_value).text, safe);
    else
        snprintf(why, room,
                 "steps with rate=%s overshoot%s; leave rate out, or take a smaller one (gap %s "
                 "after %lld %s)",
                 rate.text, safe, mg_number(o->gap).text, (long long)o->units, o->unit_name);
}

static void explain_end(const mg_descent_words *o, char *why, size_t room) {
    const mg_number_text gap = mg_number(o->gap);
    if (o->status == MARGIN_OK)
        snprintf(why, room, "the gap is proven");
    else if (o->ended == MARGIN_STOPPED_ITERATIONS)
        snprintf(why, room,
                 "the limit of %lld %s%s is reached at a gap of %s: raise max_iter, bring the "
                 "columns to one scale (standardize | ...), or take solver=auto, which needs few "
                 "passes",
                 (long long)o->limit, o->unit_name,
                 o->is_default ? " (max_iter was not given)" : "", gap.text);
    else if (o->ended == MARGIN_STOPPED_TIME)
        snprintf(why, room,
                 "the time limit is reached at a gap of %s after %lld %s; solver=auto is faster",
                 gap.text, (long long)o->units, o->unit_name);
    else if (o->noisy)
        snprintf(why, room,
                 "no pass of the last %d came to a better point, at a gap of %s: with a constant "
                 "rate the steps of single rows never settle; take schedule=inverse, a smaller "
                 "rate, or solver=auto",
                 MG_DESCENT_MOST_IDLE, gap.text);
    else
        snprintf(why, room,
                 "steps no longer change the objective, at a gap of %s: bring the columns to one "
                 "scale (standardize | ...), or take solver=auto",
                 gap.text);
}

void mg_descent_explain(const mg_descent_words *words, char *why, size_t room) {
    const mg_smooth_words endless = {.separated = words->separated,
                                     .recession = words->recession,
                                     .separable = words->separable};
    if (words->separated || words->recession)
        mg_smooth_explain(&endless, why, room);
    else if (words->status != MARGIN_OK && (words->diverged || words->rate > words->safe))
        explain_rate(words, why, room);
    else
        explain_end(words, why, room);
}

margin_status mg_descent_end(mg_descent *d, margin_status ended) {
    mg_linear_solution *out = d->solution;
    double safe = (double)NAN;
    const bool separated = falls_for_ever(d) && d->best_errors == 0;
    MG_TRY(prove(d));
    MG_TRY(prove_by_distance(d));
    out->iterations = d->units;
    out->status = out->gap <= d->job->tolerance && !separated ? MARGIN_OK : ended;
    if (separated && out->status == MARGIN_OK) out->status = MARGIN_STOPPED_STALLED;
    if (out->status != MARGIN_OK) MG_TRY(safe_rate(d, &safe));
    const mg_descent_words words = {.status = out->status,
                                    .ended = ended,
                                    .separated = separated,
                                    .diverged = d->diverged,
                                    .noisy = d->noisy,
                                    .is_default = d->is_default,
                                    .gap = out->gap,
                                    .rate = d->schedule.rate,
                                    .value = d->here.value,
                                    .start_value = d->start_value,
                                    .safe = safe,
                                    .units = d->units,
                                    .limit = d->limit,
                                    .unit_name = d->unit_name};
    mg_descent_explain(&words, out->why, sizeof out->why);
    return out->status;
}
