/* Objective and gap of a linear model once more, from the data, by plain loops that share nothing
 * with the training but the formulas of the losses. certificate.c derives the bound. */
#include "linear/elimination.h"
#include "linear/linear_learner.h"
#include "linear/linear_options.h"

#include <math.h>
#include <string.h>

typedef struct verification {
    mg_fit *fit;
    const mg_problem *problem;
    const mg_loss *loss;
    const mg_hypothesis *h;
    const mg_penalty *penalty;
    bool intercept;
    int64_t columns;
    double *scores, *c, *dual; /* samples; dual: alpha_i y_i (alpha_i for residuals) */
    double *v;                 /* columns + 1: sum dual_i (a_i, 1) */
    double enough;             /* gap that needs no closer look */
    double *terms, *square;    /* columns: sum |dual_i a_ij|, sum a_ij^2 */
    double *values;            /* columns: a row */
} verification;

/* ---- Rows ------------------------------------------------------------------------------------ */

static void read_row(const verification *k, int64_t sample, double *values) {
    const mg_problem *p = k->problem;
    mg_sample_values(p, sample, values);
    for (int64_t j = 0; j < k->columns; j++) {
        if (p->scale) values[j] *= p->scale[j];
        if (p->shift) values[j] += p->shift[j];
    }
}

static double product(const verification *k, int64_t sample, const double *w, double b) {
    double sum = 0.0;
    read_row(k, sample, k->values);
    for (int64_t j = 0; j < k->columns; j++)
        sum += k->values[j] * w[j];
    return sum + b;
}

static double sign_of(const verification *k, int64_t i) {
    return k->loss->margin_based ? (double)k->problem->sign[i] : 1.0;
}

static double margin_at(const verification *k, int64_t i) {
    return k->loss->margin_based ? sign_of(k, i) * k->scores[i]
                                 : k->scores[i] - k->problem->target[i];
}

/* ---- Objective ------------------------------------------------------------------------------- */

static double penalty_of(const verification *k) {
    const double *w = k->h->view.linear.weights;
    double square = 0.0, absolute = 0.0;
    for (int64_t j = 0; j < k->columns; j++) {
        square += w[j] * w[j];
        absolute += fabs(w[j]);
    }
    return (k->penalty->rho > 0.0 ? k->penalty->rho / 2.0 * square : 0.0) +
           (k->penalty->kappa > 0.0 ? k->penalty->kappa * absolute : 0.0);
}

static margin_status find_objective(verification *k, double *objective) {
    const double *w = k->h->view.linear.weights;
    double sum = 0.0;
    for (int64_t i = 0; i < k->problem->count; i++) {
        if (mg_cancelled(k->fit->context)) return mg_fail_cancelled(k->fit->error);
        k->scores[i] = product(k, i, w, k->h->view.linear.intercept[0]);
        k->c[i] = k->penalty->factor * mg_sample_weight(k->problem, i);
        sum += k->c[i] * k->loss->value(margin_at(k, i));
    }
    *objective = sum + penalty_of(k);
    return MARGIN_OK;
}

/* ---- Dual variables -------------------------------------------------------------------------- */

/* From the model's dual form, whose rows are in the order of the samples, or from the slopes. */
static void take_dual(verification *k) {
    const mg_hypothesis *h = k->h;
    const int64_t entries = h->dual_starts ? h->dual_starts[1] : 0;
    for (int64_t i = 0, at = 0; i < k->problem->count; i++) {
        double alpha = -k->c[i] * k->loss->slope(margin_at(k, i));
        if (h->dual_starts) {
            alpha = 0.0;
            if (at < entries && h->dual_rows[at] == mg_sample_original(k->problem, i))
                alpha = h->dual_coefficients[at++];
        }
        k->dual[i] = sign_of(k, i) * alpha;
    }
}

static void clip(verification *k) {
    for (int64_t i = 0; i < k->problem->count; i++) {
        const double u = sign_of(k, i) * k->dual[i] / k->c[i];
        const double inside = fmin(fmax(u, k->loss->dual_low), k->loss->dual_high);
        k->dual[i] = sign_of(k, i) * k->c[i] * inside;
    }
}

/* Makes the sum 0: the larger class shrinks; residuals lose their mean. */
static void balance(verification *k) {
    double positive = 0.0, negative = 0.0, weight = 0.0;
    if (!k->intercept) return;
    for (int64_t i = 0; i < k->problem->count; i++) {
        *(k->loss->margin_based && sign_of(k, i) < 0.0 ? &negative : &positive) += k->dual[i];
        weight += k->c[i];
    }
    for (int64_t i = 0; i < k->problem->count; i++) {
        if (!k->loss->margin_based)
            k->dual[i] -= positive / weight * k->c[i];
        else if (sign_of(k, i) > 0.0 && positive > -negative)
            k->dual[i] *= -negative / positive;
        else if (sign_of(k, i) < 0.0 && -negative > positive)
            k->dual[i] *= -positive / negative;
    }
}

static margin_status add_up(verification *k) {
    memset(k->v, 0, (size_t)(k->columns + 1) * sizeof *k->v);
    memset(k->terms, 0, (size_t)(2 * k->columns) * sizeof *k->terms);
    for (int64_t i = 0; i < k->problem->count; i++) {
        if (mg_cancelled(k->fit->context)) return mg_fail_cancelled(k->fit->error);
        read_row(k, i, k->values);
        for (int64_t j = 0; j < k->columns; j++) {
            k->v[j] += k->dual[i] * k->values[j];
            k->terms[j] += fabs(k->dual[i] * k->values[j]);
            k->square[j] += k->values[j] * k->values[j];
        }
        k->v[k->columns] += k->dual[i];
    }
    return MARGIN_OK;
}

/* The sum of D without what columns take off, with all dual variables times `factor`. */
static double dual_sum(const verification *k, double factor) {
    double sum = 0.0;
    for (int64_t i = 0; i < k->problem->count; i++) {
        const double u = factor * sign_of(k, i) * k->dual[i] / k->c[i];
        sum += k->c[i] * k->loss->dual(fmin(fmax(u, k->loss->dual_low), k->loss->dual_high));
        if (!k->loss->margin_based) sum += factor * k->dual[i] * k->problem->target[i];
    }
    return sum;
}

/* D with all dual variables times `factor`. */
static double dual_objective(const verification *k, double factor) {
    double square = 0.0;
    for (int64_t j = 0; j < k->columns; j++) {
        const double excess = fmax(fabs(factor * k->v[j]) - k->penalty->kappa, 0.0);
        square += excess * excess;
    }
    const double sum = dual_sum(k, factor);
    return k->penalty->rho > 0.0 ? sum - square / (2.0 * k->penalty->rho) : sum;
}

/* D where w_j is at most twice as large as in the model, and a scale of the column's more, in the
 * columns whose v is what it should be but for rounding. */
static double dual_in_boxes(const verification *k) {
    static const double rounding = 1e-10;
    const double rho = k->penalty->rho, kappa = k->penalty->kappa;
    double sum = dual_sum(k, 1.0);
    for (int64_t j = 0; j < k->columns; j++) {
        const double w = k->h->view.linear.weights[j], v = k->v[j];
        const double excess = fmax(fabs(v) - kappa, 0.0);
        const double off = w == 0.0 ? excess : fabs(v - rho * w - copysign(kappa, w));
        const double rms = sqrt(k->square[j] / (double)k->problem->count);
        double x = excess > 0.0 ? excess / rho : 0.0; /* the worst w_j */
        if (off <= rounding * k->terms[j]) x = fmin(x, 2.0 * fabs(w) + 1.0 / rms);
        if (x > 0.0) sum -= isinf(x) ? x : x * (excess - rho / 2.0 * x);
    }
    return sum;
}

/* ---- No penalty ------------------------------------------------------------------------------ */

/* What v, which should be 0, may cost. */
static double slack(const verification *k) {
    double sum = k->intercept ? fabs(k->v[k->columns] * k->h->view.linear.intercept[0]) : 0.0;
    for (int64_t j = 0; j < k->columns; j++)
        sum += fabs(k->v[j] * k->h->view.linear.weights[j]);
    return 2.0 * sum;
}

/* M + small diagonal with M = sum c curvature (a, 1)(a, 1)', scaled to a diagonal of 1. */
static margin_status fill_matrix(verification *k, double *m, double *scale) {
    const int64_t p = k->columns, n = p + 1;
    memset(m, 0, (size_t)(n * n) * sizeof *m);
    for (int64_t i = 0; i < k->problem->count; i++) {
        if (mg_cancelled(k->fit->context)) return mg_fail_cancelled(k->fit->error);
        const double d = k->c[i] * k->loss->curvature(margin_at(k, i));
        read_row(k, i, k->values);
        for (int64_t r = 0; r < n; r++) {
            const double left = d * (r < p ? k->values[r] : (double)k->intercept);
            for (int64_t s = 0; s < n; s++)
                m[r * n + s] += left * (s < p ? k->values[s] : (double)k->intercept);
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
        g[j] = k->v[j] * scale[j];
    MG_TRY(mg_eliminate(k->fit->context, m, n, g, k->fit->error));
    for (int64_t j = 0; j < n; j++)
        g[j] *= scale[j];
    for (int64_t i = 0; i < k->problem->count; i++)
        k->dual[i] -= k->c[i] * k->loss->curvature(margin_at(k, i)) *
                      product(k, i, g, k->intercept ? g[k->columns] : 0.0);
    clip(k);
    return add_up(k);
}

static margin_status correct_all(verification *k, double enough) {
    enum { MOST_ROUNDS = 8, MOST_COLUMNS = 4096 };
    const int64_t n = k->columns + 1;
    double *m = NULL, before = (double)INFINITY, left = slack(k);
    margin_status status = MARGIN_OK;
    if (!k->loss->curved || k->columns > MOST_COLUMNS || left <= enough) return MARGIN_OK;
    MG_NEW(k->fit->context->heap, m, n * (n + 2), "a verification", k->fit->error);
    for (int round = 0; round < MOST_ROUNDS && left > enough && left < 0.5 * before; round++) {
        before = left;
        MG_GO(correct(k, m, m + n * n, m + n * (n + 1)));
        left = slack(k);
    }
done:
    mg_free(k->fit->context->heap, m);
    return status;
}

/* ---- Bound ----------------------------------------------------------------------------------- */

static double greatest(const verification *k) {
    double most = 0.0;
    for (int64_t j = 0; j < k->columns; j++)
        most = fmax(most, fabs(k->v[j]));
    return most;
}

/* The factor of the dual variables that serves best where |v_j| <= kappa must hold. */
static double lasso_factor(const verification *k) {
    const double limit = greatest(k) > 0.0 ? k->penalty->kappa / greatest(k) : (double)INFINITY;
    if (k->loss->kind != MG_LOSS_SQUARED) return fmin(1.0, limit);
    double square = 0.0, linear = 0.0; /* D = linear x - square x^2 */
    for (int64_t i = 0; i < k->problem->count; i++) {
        linear += k->dual[i] * k->problem->target[i];
        square -= k->c[i] * k->loss->dual(k->dual[i] / k->c[i]);
    }
    if (!(square > 0.0)) return fmin(1.0, limit);
    return fmax(-limit, fmin(limit, linear / (2.0 * square)));
}

static margin_status find_bound(verification *k, double objective, double *bound) {
    const mg_penalty *penalty = k->penalty;
    take_dual(k);
    clip(k);
    balance(k);
    MG_TRY(add_up(k));
    if (penalty->rho > 0.0) {
        *bound = dual_objective(k, 1.0);
        if (penalty->kappa > 0.0 && greatest(k) > penalty->kappa)
            *bound = fmax(*bound, dual_objective(k, penalty->kappa / greatest(k)));
    } else if (penalty->kappa > 0.0) {
        *bound = dual_objective(k, lasso_factor(k));
    } else {
        MG_TRY(correct_all(k, 1e-13 * fabs(objective)));
        *bound = dual_objective(k, 1.0) - slack(k);
    }
    if ((penalty->rho > 0.0 || penalty->kappa > 0.0) && !(objective - *bound <= k->enough))
        *bound = fmax(*bound, dual_in_boxes(k));
    if (!(*bound >= 0.0)) *bound = 0.0;
    return MARGIN_OK;
}

/* ---- Weights that are 0 ---------------------------------------------------------------------- */

/* The best score that is the same for all rows: where its derivative changes its sign. */
static double best_constant(const verification *k) {
    double low = -64.0, high = 64.0, positive = 0.0, negative = 0.0, targets = 0.0;
    for (int64_t i = 0; i < k->problem->count; i++) {
        *(sign_of(k, i) > 0.0 ? &positive : &negative) += k->c[i];
        if (!k->loss->margin_based) targets += k->c[i] * k->problem->target[i];
    }
    if (!k->intercept) return 0.0;
    if (!k->loss->margin_based) return targets / positive;
    for (int halvings = 0; halvings < 80; halvings++) {
        const double b = 0.5 * (low + high);
        const bool rises = positive * k->loss->slope(b) > negative * k->loss->slope(-b);
        *(rises ? &high : &low) = b;
    }
    return 0.5 * (low + high);
}

/* The items of a penalty with |w|_1: how many weights are not 0, and from which lambda on all are:
 * the greatest slope of the loss where only the constant is fitted. Uses scores, dual and v. */
static margin_status report_sparsity(verification *k) {
    static const double rounding = 1e-12;
    const double constant = best_constant(k), *w = k->h->view.linear.weights;
    margin_report *report = &k->fit->report;
    double terms = 0.0, limit;
    int64_t nonzero = 0;
    if (!(k->penalty->kappa > 0.0) || !k->loss->smooth) return MARGIN_OK;
    for (int64_t j = 0; j < k->columns; j++)
        nonzero += w[j] != 0.0;
    for (int64_t i = 0; i < k->problem->count; i++) {
        k->scores[i] = constant;
        k->dual[i] = sign_of(k, i) * k->c[i] * k->loss->slope(margin_at(k, i));
        read_row(k, i, k->values);
        for (int64_t j = 0; j < k->columns; j++)
            terms = fmax(terms, fabs(k->dual[i] * k->values[j]));
    }
    MG_TRY(add_up(k));
    limit = greatest(k) > rounding * terms ? greatest(k) : 0.0; /* constant columns, or target */
    mg_report_set(report, "nonzero", (double)nonzero);
    mg_report_set(report, "l1_ratio", k->penalty->l1_ratio);
    mg_report_set(report, "lambda_max", limit / k->penalty->kappa * k->penalty->lambda);
    return MARGIN_OK;
}

/* ---- Verification ---------------------------------------------------------------------------- */

static void fill_report(const verification *k, const mg_linear_options *options, double objective,
                        double bound) {
    margin_report *report = &k->fit->report;
    report->objective = objective;
    report->gap = (objective - bound) / fmax(1.0, fabs(objective));
    report->tolerance = options->tolerance;
    report->status = report->gap <= options->tolerance ? MARGIN_OK : MARGIN_STOPPED_STALLED;
    mg_report_set(report, "C", k->penalty->C);
    mg_report_set(report, "alpha", k->penalty->alpha);
    mg_report_set(report, "lambda", k->penalty->lambda);
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
    double *memory, objective = 0.0, bound = 0.0;
    margin_status status;
    MG_NEW(fit->context->heap, memory, 3 * samples + 4 * columns + 1, "a verification", fit->error);
    k.scores = memory;
    k.c = k.scores + samples;
    k.dual = k.c + samples;
    k.v = k.dual + samples;
    k.values = k.v + columns + 1;
    k.terms = k.values + columns;
    k.square = k.terms + columns;
    MG_GO(find_objective(&k, &objective));
    k.enough = options->tolerance * fmax(1.0, fabs(objective));
    MG_GO(find_bound(&k, objective, &bound));
    fill_report(&k, options, objective, bound);
    MG_GO(report_sparsity(&k));
done:
    mg_free(fit->context->heap, memory);
    return status;
}
