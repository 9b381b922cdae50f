/* Objective and gap of a linear model once more, from the data, by plain loops in extended
 * precision that share nothing with the training but the formulas of the losses. certificate.c
 * derives the bound. */
#include "linear/learners/linear_learner.h"
#include "linear/objective/linear_options.h"
#include "linear/verify/elimination.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef long double real;

typedef struct verification {
    mg_fit *fit;
    const mg_problem *problem;
    const mg_loss *loss;
    const mg_hypothesis *h;
    const mg_penalty *penalty;
    bool intercept;
    int64_t columns;
    real *scores, *c, *dual; /* samples; dual: alpha_i y_i (alpha_i for residuals) */
    real *v;                 /* columns + 1: sum dual_i (a_i, 1) */
    real *terms, *square;    /* columns: sum |dual_i a_ij|, sum a_ij^2 */
    real *values;            /* columns: a row */
    double *row;             /* columns: as it is stored */
} verification;

/* ---- Rows ------------------------------------------------------------------------------------ */

static void read_row(const verification *k, int64_t sample) {
    const mg_problem *p = k->problem;
    mg_sample_values(p, sample, k->row);
    for (int64_t j = 0; j < k->columns; j++) {
        k->values[j] = (real)k->row[j] * (p->scale ? (real)p->scale[j] : 1.0L);
        if (p->shift) k->values[j] += (real)p->shift[j];
    }
}

static real product(const verification *k, int64_t sample, const double *w, double b) {
    real sum = 0.0L;
    read_row(k, sample);
    for (int64_t j = 0; j < k->columns; j++)
        sum += k->values[j] * (real)w[j];
    return sum + (real)b;
}

static real sign_of(const verification *k, int64_t i) {
    return k->loss->margin_based ? (real)k->problem->sign[i] : 1.0L;
}

static double margin_at(const verification *k, int64_t i) {
    return (double)(k->loss->margin_based ? sign_of(k, i) * k->scores[i]
                                          : k->scores[i] - (real)k->problem->target[i]);
}

/* ---- Objective ------------------------------------------------------------------------------- */

static real penalty_of(const verification *k) {
    const double *w = k->h->view.linear.weights;
    real square = 0.0L, absolute = 0.0L;
    for (int64_t j = 0; j < k->columns; j++) {
        square += (real)w[j] * (real)w[j];
        absolute += (real)fabs(w[j]);
    }
    return (real)k->penalty->rho / 2.0L * square + (real)k->penalty->kappa * absolute;
}

static margin_status find_objective(verification *k, real *objective) {
    const double *w = k->h->view.linear.weights;
    real sum = 0.0L;
    for (int64_t i = 0; i < k->problem->count; i++) {
        if (mg_cancelled(k->fit->context)) return mg_fail_cancelled(k->fit->error);
        k->scores[i] = product(k, i, w, k->h->view.linear.intercept[0]);
        k->c[i] = (real)k->penalty->factor * (real)mg_sample_weight(k->problem, i);
        sum += k->c[i] * (real)k->loss->value(margin_at(k, i));
    }
    *objective = sum + penalty_of(k);
    return MARGIN_OK;
}

/* ---- Rounding -------------------------------------------------------------------------------- */

/* What rounding of the weights to doubles and of the training's sums in doubles may make of the
 * gap, to first order in the scores, and to second order in the gradient. Uses `v`. */
static real find_rounding(const verification *k) {
    static const real unit = 4.0L * (real)DBL_EPSILON;
    const double *w = k->h->view.linear.weights;
    const real rho = (real)k->penalty->rho, kappa = (real)k->penalty->kappa;
    real first = 0.0L, square = 0.0L, most = 0.0L, loss = 0.0L;
    memset(k->v, 0, (size_t)k->columns * sizeof *k->v);
    for (int64_t i = 0; i < k->problem->count; i++) {
        const double t = margin_at(k, i);
        const real bend = k->loss->curved ? (real)k->loss->curvature(t) : 0.0L;
        real terms = fabsl((real)k->h->view.linear.intercept[0]),
             slope = fabsl((real)k->loss->slope(t));
        read_row(k, i);
        for (int64_t j = 0; j < k->columns; j++) {
            k->values[j] = fabsl(k->values[j]);
            if (k->problem->shift) k->values[j] += 2.0L * fabsl((real)k->problem->shift[j]);
            if (w[j] != 0.0) terms += fabsl((real)w[j]) * k->values[j];
        }
        if (!k->loss->margin_based) slope += fabsl(bend * (real)k->problem->target[i]);
        if (!k->loss->smooth && t < 1.0 + 1e-9) slope = 1.0L;
        loss += k->c[i] * (real)k->loss->value(t);
        first += k->c[i] * unit * terms * (slope + bend * unit * terms);
        for (int64_t j = 0; j < k->columns; j++)
            k->v[j] += k->c[i] * unit * (slope + bend * terms) * k->values[j];
    }
    for (int64_t j = 0; j < k->columns; j++) {
        square += k->v[j] * k->v[j];
        most = fmaxl(most, k->v[j]);
        first += k->v[j] * fabsl((real)w[j]);
    }
    if (rho > 0.0L) return first + square / (2.0L * rho);
    if (kappa > 0.0L) return first + loss * fminl(1.0L, most / kappa);
    return first;
}

/* ---- Dual variables -------------------------------------------------------------------------- */

/* The derivative in the intercept with `shift` added to it; *bend: the second one. */
static real slope_at(const verification *k, real shift, real *bend) {
    real sum = 0.0L;
    *bend = 0.0L;
    for (int64_t i = 0; i < k->problem->count; i++) {
        const double z = (double)(sign_of(k, i) * (k->scores[i] + shift));
        sum += sign_of(k, i) * k->c[i] * (real)k->loss->slope(z);
        *bend += k->c[i] * (real)k->loss->curvature(z);
    }
    return sum;
}

/* Moves the scores to the best intercept for these weights, where the dual variables of a smooth
 * loss add up to 0: a better bound than one from variables that are made to. */
static bool settle_intercept(verification *k) {
    enum { MOST = 200 };
    real low = -(real)INFINITY, high = (real)INFINITY, shift = 0.0L;
    if (!k->intercept || !k->loss->margin_based || !k->loss->curved || k->h->dual_starts)
        return false;
    for (int round = 0; round < MOST; round++) {
        real bend;
        const real slope = slope_at(k, shift, &bend), before = shift;
        if (slope == 0.0L || isnan(slope)) break;
        *(slope > 0.0L ? &high : &low) = shift;
        shift -= bend > 0.0L    ? fmaxl(-4.0L, fminl(4.0L, slope / bend))
                 : slope > 0.0L ? 4.0L
                                : -4.0L;
        if (!(shift > low && shift < high))
            shift = isinf(low) || isinf(high) ? before : 0.5L * (low + high);
        if (shift == before) break;
    }
    for (int64_t i = 0; i < k->problem->count; i++)
        k->scores[i] += shift;
    return shift != 0.0L;
}

/* From the model's dual form, whose rows are in the order of the samples, or from the slopes. */
static void take_dual(verification *k) {
    const mg_hypothesis *h = k->h;
    const int64_t entries = h->dual_starts ? h->dual_starts[1] : 0;
    for (int64_t i = 0, at = 0; i < k->problem->count; i++) {
        real alpha = 0.0L;
        if (!h->dual_starts)
            alpha = -k->c[i] * (real)k->loss->slope(margin_at(k, i));
        else if (at < entries && h->dual_rows[at] == mg_sample_original(k->problem, i))
            alpha = (real)h->dual_coefficients[at++];
        k->dual[i] = sign_of(k, i) * alpha;
    }
}

static void clip(verification *k) {
    for (int64_t i = 0; i < k->problem->count; i++) {
        const real u = sign_of(k, i) * k->dual[i] / k->c[i];
        const real inside = fminl(fmaxl(u, (real)k->loss->dual_low), (real)k->loss->dual_high);
        k->dual[i] = sign_of(k, i) * k->c[i] * inside;
    }
}

/* Makes the sum 0: the larger class shrinks; residuals lose their mean. */
static void balance(verification *k) {
    real positive = 0.0L, negative = 0.0L, weight = 0.0L;
    if (!k->intercept) return;
    for (int64_t i = 0; i < k->problem->count; i++) {
        *(k->loss->margin_based && sign_of(k, i) < 0.0L ? &negative : &positive) += k->dual[i];
        weight += k->c[i];
    }
    for (int64_t i = 0; i < k->problem->count; i++) {
        if (!k->loss->margin_based)
            k->dual[i] -= positive / weight * k->c[i];
        else if (sign_of(k, i) > 0.0L && positive > -negative)
            k->dual[i] *= -negative / positive;
        else if (sign_of(k, i) < 0.0L && -negative > positive)
            k->dual[i] *= -positive / negative;
    }
}

static margin_status add_up(verification *k) {
    memset(k->v, 0, (size_t)(3 * k->columns + 1) * sizeof *k->v);
    for (int64_t i = 0; i < k->problem->count; i++) {
        if (mg_cancelled(k->fit->context)) return mg_fail_cancelled(k->fit->error);
        read_row(k, i);
        for (int64_t j = 0; j < k->columns; j++) {
            k->v[j] += k->dual[i] * k->values[j];
            k->terms[j] += fabsl(k->dual[i] * k->values[j]);
            k->square[j] += k->values[j] * k->values[j];
        }
        k->v[k->columns] += k->dual[i];
    }
    return MARGIN_OK;
}

/* The sum of D without what columns take off, with all dual variables times `factor`. */
static real dual_sum(const verification *k, real factor) {
    real sum = 0.0L;
    for (int64_t i = 0; i < k->problem->count; i++) {
        const double u = (double)(factor * sign_of(k, i) * k->dual[i] / k->c[i]);
        sum += k->c[i] * (real)k->loss->dual(fmin(fmax(u, k->loss->dual_low), k->loss->dual_high));
        if (!k->loss->margin_based) sum += factor * k->dual[i] * (real)k->problem->target[i];
    }
    return sum;
}

/* D with all dual variables times `factor`. */
static real dual_objective(const verification *k, real factor) {
    const real sum = dual_sum(k, factor);
    real square = 0.0L;
    for (int64_t j = 0; j < k->columns; j++) {
        const real excess = fmaxl(fabsl(factor * k->v[j]) - (real)k->penalty->kappa, 0.0L);
        square += excess * excess;
    }
    return k->penalty->rho > 0.0 ? sum - square / (2.0L * (real)k->penalty->rho) : sum;
}

/* D where w_j is at most twice as large as in the model, and a scale of the column's more, in the
 * columns whose v is what it should be but for rounding. */
static real dual_in_boxes(const verification *k) {
    static const real small = 1e-10L;
    const real rho = (real)k->penalty->rho, kappa = (real)k->penalty->kappa;
    real sum = dual_sum(k, 1.0L), total = 0.0L;
    for (int64_t i = 0; i < k->problem->count; i++)
        total += fabsl((real)k->dual[i]);
    for (int64_t j = 0; j < k->columns; j++) {
        const real w = (real)k->h->view.linear.weights[j], v = k->v[j];
        const real excess = fmaxl(fabsl(v) - kappa, 0.0L);
        const real off = w == 0.0L ? excess : fabsl(v - rho * w - copysignl(kappa, w));
        const real rms = sqrtl(k->square[j] / (real)k->problem->count);
        real x = excess > 0.0L ? excess / rho : 0.0L; /* the worst w_j */
        if (off <= small * total * rms) x = fminl(x, 2.0L * fabsl(w) + 1.0L / rms);
        if (x > 0.0L) sum -= isinf(x) ? x : x * (excess - rho / 2.0L * x);
    }
    return sum;
}

/* ---- No penalty ------------------------------------------------------------------------------ */

/* What v, which should be 0, may cost. */
static real slack(const verification *k) {
    const double *w = k->h->view.linear.weights, *b = k->h->view.linear.intercept;
    real sum = k->intercept ? fabsl(k->v[k->columns] * (real)b[0]) : 0.0L;
    for (int64_t j = 0; j < k->columns; j++)
        sum += fabsl(k->v[j] * (real)w[j]);
    return 2.0L * sum;
}

/* M + small diagonal with M = sum c curvature (a, 1)(a, 1)', scaled to a diagonal of 1. */
static margin_status fill_matrix(verification *k, double *m, double *scale) {
    const int64_t p = k->columns, n = p + 1;
    memset(m, 0, (size_t)(n * n) * sizeof *m);
    for (int64_t i = 0; i < k->problem->count; i++) {
        if (mg_cancelled(k->fit->context)) return mg_fail_cancelled(k->fit->error);
        const real d = k->c[i] * (real)k->loss->curvature(margin_at(k, i));
        read_row(k, i);
        for (int64_t r = 0; r < n; r++) {
            const real left = d * (r < p ? k->values[r] : (real)k->intercept);
            for (int64_t s = 0; s < n; s++)
                m[r * n + s] += (double)(left * (s < p ? k->values[s] : (real)k->intercept));
        }
    }
    for (int64_t r = 0; r < n; r++)
        scale[r] = m[r * n + r] > 0.0 ? 1.0 / sqrt(m[r * n + r]) : 0.0;
    for (int64_t r = 0; r < n; r++)
        for (int64_t s = 0; s < n; s++)
            m[r * n + s] = r == s ? 1.0 + 1e-10 : m[r * n + s] * scale[r] * scale[s];
    return MARGIN_OK;
}

/* The dual variables go a Newton step towards v = 0. */
static margin_status correct(verification *k, double *m, double *scale, double *g) {
    const int64_t n = k->columns + 1;
    MG_TRY(fill_matrix(k, m, scale));
    for (int64_t j = 0; j < n; j++)
        g[j] = (double)k->v[j] * scale[j];
    MG_TRY(mg_eliminate(k->fit->context, m, n, g, k->fit->error));
    for (int64_t j = 0; j < n; j++)
        g[j] *= scale[j];
    for (int64_t i = 0; i < k->problem->count; i++)
        k->dual[i] -= k->c[i] * (real)k->loss->curvature(margin_at(k, i)) *
                      product(k, i, g, k->intercept ? g[k->columns] : 0.0);
    clip(k);
    return add_up(k);
}

static margin_status correct_all(verification *k, real enough) {
    enum { MOST_ROUNDS = 8, MOST_COLUMNS = 4096 };
    const int64_t n = k->columns + 1;
    real before = (real)INFINITY, left = slack(k);
    double *m = NULL;
    margin_status status = MARGIN_OK;
    if (!k->loss->curved || k->columns > MOST_COLUMNS || left <= enough) return MARGIN_OK;
    MG_NEW(k->fit->context->heap, m, n * (n + 2), "a verification", k->fit->error);
    for (int round = 0; round < MOST_ROUNDS && left > enough && left < 0.5L * before; round++) {
        before = left;
        MG_GO(correct(k, m, m + n * n, m + n * (n + 1)));
        left = slack(k);
    }
done:
    mg_free(k->fit->context->heap, m);
    return status;
}

/* ---- Bound ----------------------------------------------------------------------------------- */

static real greatest(const verification *k) {
    real most = 0.0L;
    for (int64_t j = 0; j < k->columns; j++)
        most = fmaxl(most, fabsl(k->v[j]));
    return most;
}

/* The factor of the dual variables that serves best where |v_j| <= kappa must hold. */
static real lasso_factor(const verification *k) {
    const real kappa = (real)k->penalty->kappa, most = greatest(k);
    real limit = most > 0.0L ? kappa / most : (real)INFINITY;
    if (k->loss->kind != MG_LOSS_SQUARED) return fminl(1.0L, limit);
    real square = 0.0L, linear = 0.0L; /* D = linear x - square x^2 */
    for (int64_t i = 0; i < k->problem->count; i++) {
        linear += k->dual[i] * (real)k->problem->target[i];
        square -= k->c[i] * (real)k->loss->dual((double)(k->dual[i] / k->c[i]));
    }
    if (!(square > 0.0L)) return fminl(1.0L, limit);
    limit = fminl(limit, 1000.0L); /* no amplifying of what is left of nothing */
    return fmaxl(-limit, fminl(limit, linear / (2.0L * square)));
}

static margin_status bound_here(verification *k, real objective, real enough, real *bound) {
    const mg_penalty *penalty = k->penalty;
    take_dual(k);
    clip(k);
    balance(k);
    MG_TRY(add_up(k));
    if (penalty->rho > 0.0) {
        const real kappa = (real)penalty->kappa, most = greatest(k);
        *bound = dual_objective(k, 1.0L);
        if (kappa > 0.0L && most > kappa) *bound = fmaxl(*bound, dual_objective(k, kappa / most));
    } else if (penalty->kappa > 0.0) {
        *bound = dual_objective(k, lasso_factor(k));
    } else {
        MG_TRY(correct_all(k, 1e-13L * fabsl(objective)));
        *bound = dual_objective(k, 1.0L) - slack(k);
    }
    if ((penalty->rho > 0.0 || penalty->kappa > 0.0) && !(objective - *bound <= enough))
        *bound = fmaxl(*bound, dual_in_boxes(k));
    if (!(*bound >= 0.0L)) *bound = 0.0L;
    return MARGIN_OK;
}

/* Tries harder where the gap is not as small as it was asked for. */
static margin_status find_bound(verification *k, real objective, real *bound, double tolerance) {
    const real enough = (real)tolerance * fmaxl(1.0L, fabsl(objective));
    real settled = 0.0L;
    MG_TRY(bound_here(k, objective, enough, bound));
    if (objective - *bound > enough && settle_intercept(k))
        MG_TRY(bound_here(k, objective, enough, &settled));
    *bound = fmaxl(*bound, settled);
    return MARGIN_OK;
}

/* ---- Weights that are 0 ---------------------------------------------------------------------- */

/* The best score that is the same for all rows: where its derivative changes its sign. */
static double best_constant(const verification *k) {
    real positive = 0.0L, negative = 0.0L, targets = 0.0L;
    double low = -64.0, high = 64.0;
    for (int64_t i = 0; i < k->problem->count; i++) {
        *(sign_of(k, i) > 0.0L ? &positive : &negative) += k->c[i];
        if (!k->loss->margin_based) targets += k->c[i] * (real)k->problem->target[i];
    }
    if (!k->intercept) return 0.0;
    if (!k->loss->margin_based) return (double)(targets / positive);
    for (int halvings = 0; halvings < 80; halvings++) {
        const double b = 0.5 * (low + high);
        const bool rises = positive * (real)k->loss->slope(b) > negative * (real)k->loss->slope(-b);
        *(rises ? &high : &low) = b;
    }
    return 0.5 * (low + high);
}

/* The items of a penalty with |w|_1: how many weights are not 0, and from which lambda on all are:
 * the greatest slope of the loss where only the constant is fitted. Uses scores, dual and v. */
static margin_status report_sparsity(verification *k) {
    const double constant = best_constant(k), *w = k->h->view.linear.weights;
    const double unit = k->penalty->lambda / k->penalty->kappa;
    margin_report *report = &k->fit->report;
    const real summed =
        fmaxl(2e-5L, 2.3e-6L * (real)k->problem->count); /* units of its last place */
    real terms = 0.0L;
    int64_t nonzero = 0;
    if (!(k->penalty->kappa > 0.0) || !k->loss->smooth) return MARGIN_OK;
    for (int64_t j = 0; j < k->columns; j++)
        nonzero += w[j] != 0.0;
    for (int64_t i = 0; i < k->problem->count; i++) {
        k->scores[i] = (real)constant;
        k->dual[i] = sign_of(k, i) * k->c[i] * (real)k->loss->slope(margin_at(k, i));
        real slope = fabsl(k->dual[i]);
        if (!k->loss->margin_based) slope += summed * k->c[i] * fabsl((real)k->problem->target[i]);
        read_row(k, i);
        for (int64_t j = 0; j < k->columns; j++) {
            const real stored = k->problem->scale ? (real)k->problem->scale[j] : 1.0L;
            const real size = fmaxl(fabsl(k->values[j]), fabsl(stored * (real)k->row[j]));
            terms = fmaxl(terms, slope * size);
        }
    }
    MG_TRY(add_up(k));
    mg_report_set(report, "nonzero", (double)nonzero);
    mg_report_set(report, "l1_ratio", k->penalty->l1_ratio);
    mg_report_set(report, "lambda_max", (double)greatest(k) * unit);
    mg_report_set(report, MG_ITEM_TERMS, (double)terms * unit * (double)k->problem->count);
    return MARGIN_OK;
}

/* ---- Verification ---------------------------------------------------------------------------- */

static void fill_report(const verification *k, const mg_linear_options *options, real objective,
                        real bound, real rounding) {
    margin_report *report = &k->fit->report;
    report->objective = (double)objective;
    report->gap = (double)((objective - bound) / fmaxl(1.0L, fabsl(objective)));
    report->tolerance = options->tolerance;
    report->status = report->gap <= options->tolerance ? MARGIN_OK : MARGIN_STOPPED_STALLED;
    mg_report_set(report, "C", k->penalty->C);
    mg_report_set(report, "alpha", k->penalty->alpha);
    mg_report_set(report, "lambda", k->penalty->lambda);
    mg_report_set(report, MG_ITEM_ROUNDING, (double)(rounding / fmaxl(1.0L, fabsl(objective))));
    if (k->h->dual_starts) mg_report_set(report, "support_vectors", (double)k->h->dual_starts[1]);
}

margin_status mg_linear_verify(mg_fit *fit, const margin_option *table, int option_count,
                               mg_loss_kind loss, const char *default_spelling,
                               double default_value, const mg_hypothesis *hypothesis) {
    const mg_linear_options options =
        mg_linear_options_of(fit, table, option_count, default_spelling, default_value);
    return mg_linear_verify_as(fit, &options, loss, hypothesis);
}

margin_status mg_linear_verify_as(mg_fit *fit, const mg_linear_options *options, mg_loss_kind loss,
                                  const mg_hypothesis *hypothesis) {
    const int64_t samples = fit->problem->count, columns = fit->problem->x.columns;
    verification k = {.fit = fit,
                      .problem = fit->problem,
                      .loss = mg_loss_get(loss),
                      .h = hypothesis,
                      .penalty = &options->penalty,
                      .intercept = options->intercept,
                      .columns = columns};
    real *memory, objective = 0.0L, bound = 0.0L, rounding;
    margin_status status;
    MG_NEW(fit->context->heap, memory, 3 * samples + 5 * columns + 1, "a verification", fit->error);
    k.scores = memory;
    k.c = k.scores + samples;
    k.dual = k.c + samples;
    k.v = k.dual + samples;
    k.terms = k.v + columns + 1;
    k.square = k.terms + columns;
    k.values = k.square + columns;
    k.row = (double *)(k.values + columns);
    MG_GO(find_objective(&k, &objective));
    rounding = find_rounding(&k);
    MG_GO(find_bound(&k, objective, &bound, options->tolerance));
    fill_report(&k, options, objective, bound, rounding);
    MG_GO(report_sparsity(&k));
done:
    mg_free(fit->context->heap, memory);
    return status;
}
