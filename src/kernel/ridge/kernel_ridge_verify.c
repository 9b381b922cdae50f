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
#include "math/products/cholesky.h"

#include <float.h>
#include <math.h>
#include <string.h>

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
        const double share = mg_sample_weight(p, i) / v->weight[row];
        v->u[i] = share * all + (v->u[i] - share * v->sum[row]); /* alone: all, exactly */
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

/* ---- Errors at rows left out -----------------------------------------------------------------
 * y_i - f_without_i(x_i) = a_i / M_ii, M = A^-1, A = K + alpha / c. With an intercept M is the
 * block of a in the inverse of [A 1; 1' 0], A^-1 less A^-1 1 1'A^-1 / 1'A^-1 1. An error E of A is
 * one of A^-1_ii by at most |E| |A^-1| A^-1_ii. */

typedef struct left_out {
    const verification *v;
    mg_isa isa;
    double *a;              /* count x count: A, then its factor, below the diagonal */
    double *inverse, *ones; /* count: the diagonal of A^-1; A^-1 1, or 0 without an intercept */
    double *sums, *blurs;   /* count: of the rows of |A|, of what rounding made of them */
    double *columns;        /* count of each worker */
    double part;            /* |E| |A^-1| at most */
} left_out;

static margin_status fill_gram(left_out *l) {
    const verification *v = l->v;
    for (int64_t i = 0; i < v->count; i++) {
        if (mg_cancelled(v->fit->context)) return mg_fail_cancelled(v->fit->error);
        l->sums[i] = l->blurs[i] = 0.0;
        for (int64_t j = 0; j <= i; j++) {
            double blur, value = mg_kernel_sums_pair(v->fit, v->h, v->entries, i, j, &blur);
            if (i == j) value += v->alpha / mg_sample_weight(v->problem, i);
            l->a[i * v->count + j] = value;
            l->sums[i] += fabs(value);
            l->blurs[i] += blur;
            l->sums[j] += i == j ? 0.0 : fabs(value);
            l->blurs[j] += i == j ? 0.0 : blur;
        }
    }
    return MARGIN_OK;
}

/* A column of L^-1, which is 0 above its diagonal. */
static margin_status invert_column(void *argument, int64_t column, int worker) {
    const left_out *l = argument;
    const int64_t m = l->v->count, rows = m - column;
    double *x = l->columns + worker * m, sum = 0.0;
    memset(x, 0, (size_t)rows * sizeof *x);
    x[0] = 1.0;
    mg_cholesky_solve_lower(l->isa, rows, l->a + column * (m + 1), m, x);
    for (int64_t i = 0; i < rows; i++)
        sum += x[i] * x[i];
    l->inverse[column] = sum;
    return MARGIN_OK;
}

static margin_status invert(left_out *l, bool intercept, int64_t *failed) {
    margin_context *context = l->v->fit->context;
    margin_error *error = l->v->fit->error;
    const int64_t m = l->v->count;
    MG_TRY(fill_gram(l));
    MG_TRY(mg_cholesky_factor(context, m, l->a, m, failed, error));
    if (*failed) return MARGIN_OK;
    for (int64_t i = 0; i < m; i++)
        l->ones[i] = intercept;
    mg_cholesky_solve(l->isa, m, l->a, m, l->ones);
    return mg_parallel(context, m, invert_column, l, error);
}

/* |A^-1| is at most its trace, and what the penalty leaves of it. */
static void bound_part(left_out *l, bool definite) {
    const int64_t m = l->v->count;
    double norm = 0.0, blur = 0.0, trace = 0.0, most = 0.0;
    for (int64_t i = 0; i < m; i++) {
        norm = fmax(norm, l->sums[i]);
        blur = fmax(blur, l->blurs[i]);
        trace += l->inverse[i];
        most = fmax(most, mg_sample_weight(l->v->problem, i) / l->v->alpha);
    }
    l->part = (MG_ROUNDING + 0.5 * DBL_EPSILON * (double)m) * norm + blur;
    l->part *= definite ? fmin(trace, most) : trace;
}

/* The item, and how far rounding may have moved it: NaN where it could be anything. */
static double add_up_left_out(const left_out *l, double *rounding) {
    const verification *v = l->v;
    double all = 0.0, weight = 0.0, square = 0.0, apart = 0.0;
    for (int64_t i = 0; i < v->count; i++)
        all += l->ones[i];
    for (int64_t i = 0; i < v->count; i++) {
        const double c = mg_sample_weight(v->problem, i);
        const double along = all != 0.0 ? l->ones[i] * l->ones[i] / all : 0.0;
        const double inverse = l->inverse[i] - along, part = l->part * l->inverse[i] / inverse;
        const bool shared = v->weight[mg_sample_row(v->problem, i)] > c; /* u has that blur, too */
        const double miss = fabs(v->u[i] / inverse);
        const double blur = shared ? c * v->blur[i] / (v->alpha * inverse) : 0.0;
        const double moved = (blur + part * miss) / (1.0 - part);
        if (!(inverse > 0.0 && part < 0.5)) return (double)NAN;
        weight += c;
        square += c * miss * miss;
        apart += c * moved * moved;
    }
    *rounding = sqrt(apart / weight);
    return apart <= square ? sqrt(square / weight) : (double)NAN;
}

static margin_status find_left_out(left_out *l, bool intercept, bool definite, double *value,
                                   double *rounding) {
    const verification *v = l->v;
    const int64_t m = v->count, workers = margin_context_threads(v->fit->context);
    mg_arena arena;
    int64_t failed = 0;
    mg_arena_init(&arena, v->fit->context->heap);
    margin_status status =
        MG_PIECES(&arena, "errors at rows left out", v->fit->error, MG_PIECE(l->a, m * m),
                  MG_PIECE(l->inverse, m), MG_PIECE(l->ones, m), MG_PIECE(l->sums, m),
                  MG_PIECE(l->blurs, m), MG_PIECE(l->columns, workers * m));
    if (status >= 0) status = invert(l, intercept, &failed);
    if (status >= 0 && !failed) {
        bound_part(l, definite);
        *value = add_up_left_out(l, rounding);
    }
    mg_arena_free(&arena);
    return status;
}

/* In time and memory for a factor. A fit that the clock stopped may have the item of some parts. */
static bool can_find_left_out(const verification *v) {
    const mg_fit *fit = v->fit;
    const mg_kernel_sizes sizes = mg_kernel_sizes_of(fit, &v->h->view.expansion.kernel, 1);
    return v->matches && fit->claimed->status != MARGIN_STOPPED_TIME &&
           mg_kernel_plan_make(fit->context, &sizes, MG_WAY_FACTOR).chosen;
}

/* Where the model has the item. Without coefficients it is 0, or, of one row and an intercept,
 * infinite. */
static margin_status claim_left_out(verification *v, const mg_ridge_options *o, bool definite) {
    static const char item[] = "leave_one_out_rmse";
    static const double much = 0.01, nothing = 1e-12; /* as of errors: model/judge/verify.c */
    left_out l = {.v = v, .isa = mg_isa_level()};
    mg_fit *fit = v->fit;
    const double claimed = margin_report_item_value(fit->claimed, item);
    double value = (double)NAN, rounding = (double)INFINITY;
    if (isnan(claimed)) return MARGIN_OK;
    if (v->h->view.expansion.starts[1] == v->h->view.expansion.starts[0]) {
        if (isfinite(claimed)) value = rounding = 0.0;
    } else if (can_find_left_out(v)) {
        MG_TRY(find_left_out(&l, o->intercept, definite, &value, &rounding));
    }
    if (isnan(value))
        fit->verified.claimed = "its leave_one_out_rmse is not compared";
    else if (rounding > much * value)
        fit->verified.claimed = "rounding may be over a hundredth of its leave_one_out_rmse";
    mg_report_claim(&fit->report, &fit->verified, item, value,
                    isnan(value) ? (double)INFINITY : rounding + nothing);
    return MARGIN_OK;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static margin_status judge(verification *v, const mg_ridge_options *o) {
    const double factor = o->penalty.factor;
    bool definite;
    MG_TRY(mg_kernel_sums_definite(v->fit, v->h, &definite));
    MG_TRY(claim_left_out(v, o, definite)); /* before u is another */
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
    const double most = fmax(objective, factor * hidden); /* P is not below 0 */
    const bool near = fmin(distance - s.gap_blur, objective / factor) <= enough;
    /* a fit does not count what it cannot see: the other half of a precomputed matrix */
    const bool told = o->descends || v->fit->verified.skew > 0.0 || s.counted <= enough;
    report->objective = objective;
    report->gap = v->matches && definite
                      ? fmin(factor * (distance + hidden), most) / fmax(1.0, objective)
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
