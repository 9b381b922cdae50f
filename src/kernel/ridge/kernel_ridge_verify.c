/* Objective and gap of a kernel ridge once more, by plain loops over pairs of rows.
 *
 * The dual point u has a coefficient for every sample: that of its support row, where a row occurs
 * more than once what fits each copy's residual best. With f_u = f the distance is
 * sum c (r - alpha u / c)^2; with u = c r / alpha it is alpha |f - f_u|^2, and the less counts.
 *
 * With an intercept u bounds P only if it sums up to 0. Where it sums up to s, u - s v does,
 * v = c / sum c: its function is s f_v from f_u, and |f_v| <= sum v sqrt(k(x, x)). */
#include "kernel/ridge/kernel_ridge.h"

#include "learn/kernels/kernel_sums.h"

#include <math.h>

/* A fit counts the rounding of kernel values with this part of MG_ROUNDING at least, and is
 * converged only with it. */
static const double fit_part = 0.125;

typedef struct verification {
    mg_fit *fit;
    const mg_problem *problem;
    const mg_hypothesis *h;
    double alpha;
    int64_t count;
    int64_t *entries;     /* of the rows of x: which coefficient is theirs */
    double *weight, *sum; /* of the rows of x: of their samples, of c r / alpha of these */
    double *r, *u;        /* count: y - f(x), dual variables */
    double *blur;         /* count: what rounding may have made of f(x) in training */
    double shift, apart;  /* alpha s / sum c, alpha |s f_v|^2 */
    bool matches;         /* support rows are the rows of the samples */
} verification;

/* Samples of one row have one coefficient, which is shared out among them. */
static void share_out(verification *v) {
    const mg_problem *p = v->problem;
    for (int64_t i = 0; i < v->count; i++) {
        const double c = mg_sample_weight(p, i);
        v->u[i] = c * v->r[i] / v->alpha;
        v->weight[mg_sample_row(p, i)] += c;
        v->sum[mg_sample_row(p, i)] += v->u[i];
    }
    for (int64_t i = 0; i < v->count; i++) {
        const int64_t row = mg_sample_row(p, i), k = v->entries[row];
        const double all = v->h->view.expansion.coefficients[k];
        v->u[i] += mg_sample_weight(p, i) / v->weight[row] * (all - v->sum[row]);
    }
}

static void sum_up_to_zero(verification *v) {
    const mg_problem *p = v->problem;
    long double sum = 0.0L, weight = 0.0L, reach = 0.0L;
    for (int64_t i = 0; i < v->count; i++) {
        double blur;
        const double c = mg_sample_weight(p, i),
                     square = mg_kernel_sums_square(v->fit, v->h, v->entries, i, &blur);
        sum += (long double)v->u[i];
        weight += (long double)c;
        reach += (long double)(c * sqrt(fmax(square + blur, 0.0)));
    }
    v->shift = v->alpha * (double)(sum / weight);
    v->apart = (double)((long double)v->shift * sum * reach * reach / weight);
}

/* alpha |f - f_u|^2 for u = c r / alpha, as |f|^2 - 2 f.f_u + |f_u|^2; *blur: what rounding may
 * have made of it. */
static margin_status distance_of_dual(verification *v, double *distance, double *blur) {
    const mg_problem *p = v->problem;
    long double norm = 0.0L;
    double norm_blur;
    for (int64_t i = 0; i < v->count; i++) {
        v->blur[i] = mg_sample_target(p, i) - v->r[i]; /* f, as there is no intercept */
        v->u[i] = mg_sample_weight(p, i) * v->r[i] / v->alpha;
    }
    MG_TRY(mg_kernel_sums_norm(v->fit, v->h, &norm, &norm_blur));
    MG_TRY(mg_kernel_sums_distance(v->fit, v->h, v->entries, v->u, v->blur, norm, distance, blur));
    *distance *= v->alpha;
    *blur = v->alpha * (*blur + norm_blur);
    return MARGIN_OK;
}

typedef struct sums {
    long double loss, norm, gap;
    double blur, norm_blur, gap_blur; /* what rounding may have made of P, alpha a'Ka, the gap */
    double counted;                   /* in a fit, of the last two */
} sums;

static sums add_up(const verification *v) {
    const mg_problem *p = v->problem;
    const double b = v->h->view.expansion.intercept[0];
    sums s = {0};
    for (int64_t i = 0; i < v->count; i++) {
        const double c = mg_sample_weight(p, i), f = mg_sample_target(p, i) - b - v->r[i];
        const double miss = v->r[i] - v->alpha * v->u[i] / c + v->shift, blur = v->blur[i];
        s.loss += (long double)c * (long double)v->r[i] * (long double)v->r[i];
        s.norm += (long double)v->u[i] * (long double)f;
        s.gap += (long double)c * (long double)miss * (long double)miss;
        s.blur += c * blur * (2.0 * fabs(v->r[i]) + blur);
        s.norm_blur += v->alpha * fabs(v->u[i]) * blur;
        s.gap_blur += c * blur * (2.0 * fabs(miss) + blur);
        s.counted +=
            fit_part * blur * (v->alpha * fabs(v->u[i]) + c * (2.0 * fabs(miss) + fit_part * blur));
    }
    return s;
}

static margin_status judge(verification *v, const mg_ridge_options *o) {
    const double factor = o->penalty.factor;
    bool definite;
    MG_TRY(mg_kernel_sums_definite(v->fit, v->h, &definite));
    margin_report *report = &v->fit->report;
    sums s = add_up(v);
    const double objective =
        (double)((long double)factor * (s.loss + (long double)v->alpha * fmaxl(s.norm, 0.0L)));
    double distance = (double)s.gap + v->apart;
    const double enough = (o->tolerance * fmax(1.0, objective)) / factor;
    if (v->matches && (o->descends || distance > enough) && !o->intercept && definite) {
        double other = 0.0, blur = 0.0;
        MG_TRY(distance_of_dual(v, &other, &blur));
        if (other < distance) s.gap_blur = fmax(s.gap_blur, blur);
        distance = fmin(distance, other);
    }
    const double hidden = s.norm_blur + s.gap_blur;       /* of P - D */
    const double most = fmax(objective / factor, hidden); /* P is not below 0 */
    const bool near = fmin(distance - s.gap_blur, objective / factor) <= enough;
    /* a fit does not count what it cannot see: the other half of a precomputed matrix */
    const bool told = o->descends || v->fit->verified.skew > 0.0 || s.counted <= enough;
    report->objective = objective;
    report->gap = v->matches && definite
                      ? factor * fmin(distance + hidden, most) / fmax(1.0, objective)
                      : (double)INFINITY;
    v->fit->verified.objective = factor * (s.blur + s.norm_blur);
    v->fit->verified.gap = factor * (o->descends ? 2.0 : 1.0) * hidden; /* which counts none */
    report->status = definite && near && told ? MARGIN_OK : MARGIN_STOPPED_STALLED;
    return MARGIN_OK;
}

static margin_status verify(verification *v, const mg_ridge_options *o) {
    const mg_problem *p = v->problem;
    const double b = v->h->view.expansion.intercept[0];
    mg_kernel_sums_match(v->fit, v->h, v->entries, &v->matches);
    for (int64_t i = 0; i < v->count; i++) {
        if (mg_cancelled(v->fit->context)) return mg_fail_cancelled(v->fit->error);
        const double f = mg_kernel_sums_sample(v->fit, v->h, v->entries, i, &v->blur[i]);
        v->r[i] = mg_sample_target(p, i) - f - b;
        v->blur[i] += MG_ROUNDING * (fabs(mg_sample_target(p, i)) + fabs(b));
        v->u[i] = 0.0;
    }
    for (int64_t row = 0; row < p->x.rows; row++)
        v->weight[row] = v->sum[row] = 0.0;
    if (v->matches && v->h->view.expansion.starts[1] > v->h->view.expansion.starts[0]) share_out(v);
    if (o->intercept) sum_up_to_zero(v);
    if (!o->intercept && b != 0.0)
        v->fit->verified.contradiction = "it has an intercept, and its spec says intercept=no";
    mg_ridge_describe(o, &v->h->view.expansion.kernel, &v->fit->report);
    return judge(v, o);
}

margin_status mg_kernel_ridge_verify(mg_fit *fit, const mg_hypothesis *hypothesis) {
    const mg_ridge_options o = mg_ridge_options_of(fit);
    const int64_t m = fit->problem->count, rows = fit->problem->x.rows;
    verification v = {
        .fit = fit, .problem = fit->problem, .h = hypothesis, .alpha = o.penalty.alpha, .count = m};
    mg_arena arena;
    MG_TRY(mg_kernel_sums_skew(fit, hypothesis));
    mg_arena_init(&arena, fit->context->heap);
    margin_status status = MG_PIECES(&arena, "the residuals", fit->error, MG_PIECE(v.entries, rows),
                                     MG_PIECE(v.r, m), MG_PIECE(v.u, m), MG_PIECE(v.blur, m),
                                     MG_PIECE(v.weight, rows), MG_PIECE(v.sum, rows));
    if (status >= 0) status = verify(&v, &o);
    mg_arena_free(&arena);
    return status;
}
