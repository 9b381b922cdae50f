/* Objective and gap of a kernel ridge once more, by plain loops over pairs of rows.
 *
 * The dual point u has a coefficient for every sample: that of its support row, where a row occurs
 * more than once what fits each copy's residual best. With f_u = f the distance is
 * sum c (r - alpha u / c)^2; with u = c r / alpha it is alpha |f - f_u|^2, and the less counts. */
#include "kernel/ridge/kernel_ridge.h"

#include "base/sort.h"
#include "learn/kernel_sums.h"

#include <math.h>
#include <string.h>

typedef struct verification {
    mg_fit *fit;
    const mg_problem *problem;
    const mg_hypothesis *h;
    double alpha;
    int64_t count;
    int64_t *order, *scratch; /* samples by row */
    double *r, *u;            /* count: y - f(x), dual variables */
    double *blur;             /* count: what rounding may have made of f(x) in training */
    bool matches;             /* support rows are the rows of the samples */
} verification;

static double coefficient_of(const mg_hypothesis *h, int64_t k) {
    return h->view.expansion.coefficients[k];
}

static bool lower_row(int64_t a, int64_t b, const void *argument) {
    const mg_problem *p = argument;
    return mg_sample_row(p, a) < mg_sample_row(p, b);
}

static double target_of(const mg_problem *p, int64_t i) {
    return p->kind == MG_TWO_CLASS ? p->sign[i] : p->target[i];
}

/* Samples first..last-1 of the order are one row, with one coefficient. */
static void share_out(verification *v, int64_t first, int64_t last, double coefficient) {
    double weight = 0.0, sum = 0.0;
    for (int64_t k = first; k < last; k++) {
        const int64_t i = v->order[k];
        weight += mg_sample_weight(v->problem, i);
        sum += mg_sample_weight(v->problem, i) * v->r[i] / v->alpha;
    }
    for (int64_t k = first; k < last; k++) {
        const int64_t i = v->order[k];
        const double c = mg_sample_weight(v->problem, i);
        v->u[i] = c * v->r[i] / v->alpha + c / weight * (coefficient - sum);
    }
}

/* Support rows stand in the order of the rows of the data; or there are none, and no function but
 * the intercept. */
static void match_rows(verification *v) {
    const mg_problem *p = v->problem;
    const mg_hypothesis *h = v->h;
    const int64_t entries = h->view.expansion.starts[1] - h->view.expansion.starts[0];
    int64_t found = 0;
    bool same = true;
    for (int64_t i = 0; i < v->count; i++)
        v->order[i] = i;
    mg_sort(v->order, v->count, v->scratch, lower_row, p);
    for (int64_t first = 0, last; first < v->count; first = last) {
        for (last = first + 1; last < v->count && mg_sample_row(p, v->order[last]) ==
                                                      mg_sample_row(p, v->order[first]);)
            last++;
        if (found < entries) {
            const int64_t k = h->view.expansion.starts[0] + found;
            share_out(v, first, last, coefficient_of(h, k));
            same = same && mg_same_rows(&h->view.expansion.support, h->view.expansion.entries[k],
                                        &p->x, mg_sample_row(p, v->order[first]));
        }
        found++;
    }
    v->matches = same && (found == entries || entries == 0);
}

/* alpha |f - f_u|^2 for u = c r / alpha. */
static margin_status distance_of_dual(verification *v, double *distance) {
    const mg_problem *p = v->problem;
    long double norm = 0.0L;
    double norm_blur;
    for (int64_t i = 0; i < v->count; i++) {
        v->blur[i] = target_of(p, i) - v->r[i]; /* f, as there is no intercept */
        v->u[i] = mg_sample_weight(p, i) * v->r[i] / v->alpha;
    }
    MG_TRY(mg_kernel_sums_norm(v->fit, v->h, &norm, &norm_blur));
    MG_TRY(mg_kernel_sums_distance(v->fit, v->h, v->u, v->blur, norm, distance));
    *distance *= v->alpha;
    return MARGIN_OK;
}

typedef struct sums {
    long double loss, norm, gap, sum;
    double blur, gap_blur; /* what rounding may have made of P and of the gap */
} sums;

static sums add_up(const verification *v) {
    const mg_problem *p = v->problem;
    const double b = v->h->view.expansion.intercept[0];
    sums s = {0};
    for (int64_t i = 0; i < v->count; i++) {
        const double c = mg_sample_weight(p, i), f = target_of(p, i) - b - v->r[i];
        const double miss = v->r[i] - v->alpha * v->u[i] / c, blur = v->blur[i];
        s.loss += (long double)c * (long double)v->r[i] * (long double)v->r[i];
        s.norm += (long double)v->u[i] * (long double)f;
        s.gap += (long double)c * (long double)miss * (long double)miss;
        s.sum += (long double)v->u[i];
        s.blur += c * blur * (2.0 * fabs(v->r[i]) + blur) + v->alpha * fabs(v->u[i]) * blur;
        s.gap_blur += c * blur * (2.0 * fabs(miss) + blur);
    }
    return s;
}

static margin_status judge(verification *v, const mg_ridge_options *o) {
    const double b = v->h->view.expansion.intercept[0], factor = o->penalty.factor;
    const bool definite = mg_kernel_is_definite(&v->h->view.expansion.kernel);
    margin_report *report = &v->fit->report;
    const sums s = add_up(v);
    const double objective =
        factor * (double)(s.loss + (long double)v->alpha * fmaxl(s.norm, 0.0L));
    double distance = (double)s.gap + 2.0 * v->alpha * fabs(b * (double)s.sum);
    const double enough = (o->tolerance * fmax(1.0, objective)) / factor;
    const bool descends = strcmp(o->solver, "gd") == 0;
    if (v->matches && (descends || distance > enough) && !o->intercept && definite) {
        double other = 0.0;
        MG_TRY(distance_of_dual(v, &other));
        distance = fmin(distance, other);
    }
    distance = fmin(distance, objective / factor); /* P is not below 0 */
    report->objective = objective;
    report->gap =
        v->matches && definite ? factor * distance / fmax(1.0, objective) : (double)INFINITY;
    v->fit->verified.objective = factor * s.blur;
    v->fit->verified.gap = factor * s.gap_blur;
    report->status =
        definite && distance - s.gap_blur <= enough ? MARGIN_OK : MARGIN_STOPPED_STALLED;
    return MARGIN_OK;
}

static margin_status verify(verification *v, const mg_ridge_options *o) {
    const mg_problem *p = v->problem;
    const double b = v->h->view.expansion.intercept[0];
    for (int64_t i = 0; i < v->count; i++) {
        if (mg_cancelled(v->fit->context)) return mg_fail_cancelled(v->fit->error);
        const double f = mg_kernel_sums_score(v->h, &p->x, mg_sample_row(p, i), &v->blur[i]);
        v->r[i] = target_of(p, i) - f - b;
        v->blur[i] += MG_ROUNDING * (fabs(target_of(p, i)) + fabs(b));
        v->u[i] = 0.0;
    }
    match_rows(v);
    if (!v->matches) v->fit->verified.contradiction = "its support rows are not those of the data";
    mg_ridge_describe(o, &v->h->view.expansion.kernel, &v->fit->report);
    return judge(v, o);
}

margin_status mg_kernel_ridge_verify(mg_fit *fit, const mg_hypothesis *hypothesis) {
    const mg_ridge_options o = mg_ridge_options_of(fit);
    const int64_t m = fit->problem->count;
    verification v = {
        .fit = fit, .problem = fit->problem, .h = hypothesis, .alpha = o.penalty.alpha, .count = m};
    mg_arena arena;
    mg_arena_init(&arena, fit->context->heap);
    v.order = mg_arena_new(&arena, 2 * m, sizeof *v.order);
    v.r = mg_arena_new(&arena, 3 * m, sizeof *v.r);
    margin_status status;
    if (!v.order || !v.r) {
        status = mg_no_memory(fit->context->heap, 4 * m, 8, "the residuals", fit->error);
    } else {
        v.scratch = v.order + m;
        v.u = v.r + m;
        v.blur = v.u + m;
        status = verify(&v, &o);
    }
    mg_arena_free(&arena);
    return status < 0 ? status : MARGIN_OK;
}
