/* Objective and gap of a model of several classes once more, from the data, by plain loops in
 * extended precision that share nothing with the training. classes_certificate.c and classes_free.c
 * derive the bound. */
#include "linear/learners/classes_fit.h"
#include "linear/objective/linear_options.h"
#include "linear/verify/elimination.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef long double real;

typedef struct verification {
    mg_fit *fit;
    const mg_problem *problem;
    const mg_hypothesis *h;
    const mg_penalty *penalty;
    mg_loss_kind loss;
    bool intercept;
    int64_t count, classes, columns;
    real *c;         /* samples */
    real *scores;    /* samples x classes */
    real *q;         /* samples x classes: shares */
    real *v;         /* classes x (columns + 1): sum c (q - e_y) (a, 1) */
    real *terms;     /* classes x (columns + 1): sums of the absolute values of v's terms */
    real *square;    /* columns + 1: sum a^2 */
    real *values;    /* columns + 1: a row, and 1 */
    real *factors;   /* 2 x classes */
    real *shift;     /* classes: added to the intercepts */
    double *row;     /* columns: as it is stored */
    int64_t support; /* hinge: samples whose own share is below 1 */
} verification;

/* ---- Rows ------------------------------------------------------------------------------------ */

static margin_status read_row(const verification *k, int64_t sample) {
    const mg_problem *p = k->problem;
    if (mg_cancelled(k->fit->context)) return mg_fail_cancelled(k->fit->error);
    mg_sample_values(p, sample, k->row);
    for (int64_t j = 0; j < k->columns; j++) {
        k->values[j] = (real)k->row[j] * (p->scale ? (real)p->scale[j] : 1.0L);
        if (p->shift) k->values[j] += (real)p->shift[j];
    }
    k->values[k->columns] = 1.0L;
    return MARGIN_OK;
}

static real score(const verification *k, int64_t class) {
    const double *w = k->h->view.linear.weights + class * k->columns;
    real sum = 0.0L;
    for (int64_t j = 0; j < k->columns; j++)
        sum += k->values[j] * (real)w[j];
    return sum + (real)k->h->view.linear.intercept[class];
}

/* ---- Objective ------------------------------------------------------------------------------- */

/* The loss of scores f of a sample of class y; for the softmax, q becomes the shares. */
static real loss_of(const verification *k, const real *f, int32_t y, real *q) {
    real most = -(real)INFINITY, sum = 0.0L, others = 0.0L;
    for (int64_t m = 0; m < k->classes; m++)
        most = fmaxl(most, k->loss == MG_LOSS_CRAMMER_SINGER && m != y ? 1.0L + f[m] : f[m]);
    if (k->loss == MG_LOSS_CRAMMER_SINGER) return most - f[y];
    for (int64_t m = 0; m < k->classes; m++) {
        q[m] = expl(f[m] - most);
        sum += q[m];
        others += m == y ? 0.0L : q[m];
    }
    for (int64_t m = 0; m < k->classes; m++)
        q[m] /= sum;
    return f[y] == most ? log1pl(others) : logl(sum) + most - f[y];
}

static margin_status find_objective(verification *k, real *objective) {
    const double *w = k->h->view.linear.weights;
    real sum = 0.0L, square = 0.0L;
    for (int64_t i = 0; i < k->count; i++) {
        real *f = k->scores + i * k->classes;
        MG_TRY(read_row(k, i));
        for (int64_t m = 0; m < k->classes; m++)
            f[m] = score(k, m);
        k->c[i] = (real)k->penalty->factor * (real)mg_sample_weight(k->problem, i);
        sum += k->c[i] * loss_of(k, f, k->problem->code[i], k->q + i * k->classes);
    }
    for (int64_t j = 0; j < k->classes * k->columns; j++)
        square += (real)w[j] * (real)w[j];
    *objective = sum + (real)k->penalty->rho / 2.0L * square;
    return MARGIN_OK;
}

/* ---- Rounding -------------------------------------------------------------------------------- */

/* What rounding of the weights to doubles and of the training's sums in doubles may make of the
 * gap: see linear_verify.c. Uses `v`. */
static margin_status find_rounding(verification *k, real *rounding) {
    static const real unit = 4.0L * (real)DBL_EPSILON;
    const real rho = (real)k->penalty->rho;
    const mg_problem *p = k->problem;
    real first = 0.0L, square = 0.0L;
    memset(k->v, 0, (size_t)(k->classes * k->columns) * sizeof *k->v);
    for (int64_t i = 0; i < k->count; i++) {
        const real *q = k->q + i * k->classes;
        MG_TRY(read_row(k, i));
        for (int64_t j = 0; j < k->columns; j++)
            k->values[j] =
                fabsl(k->values[j]) + (p->shift ? 2.0L * fabsl((real)p->shift[j]) : 0.0L);
        for (int64_t m = 0; m < k->classes; m++) {
            const double *w = k->h->view.linear.weights + m * k->columns;
            const bool hinge = k->loss == MG_LOSS_CRAMMER_SINGER, own = m == p->code[i];
            const real slope = hinge ? 1.0L : own ? 1.0L - q[m] : q[m];
            const real bend = hinge ? 0.0L : q[m] * (1.0L - q[m]);
            real terms = fabsl((real)k->h->view.linear.intercept[m]);
            for (int64_t j = 0; j < k->columns; j++)
                terms += fabsl((real)w[j]) * k->values[j];
            first += k->c[i] * unit * terms * fminl(1.0L, slope + unit * terms);
            for (int64_t j = 0; j < k->columns; j++)
                k->v[m * k->columns + j] += k->c[i] * unit * (slope + bend * terms) * k->values[j];
        }
    }
    for (int64_t j = 0; j < k->classes * k->columns; j++) {
        first += k->v[j] * fabsl((real)k->h->view.linear.weights[j]);
        square += k->v[j] * k->v[j];
    }
    *rounding = rho > 0.0L ? first + square / (2.0L * rho) : first;
    return MARGIN_OK;
}

/* ---- Shares ---------------------------------------------------------------------------------- */

/* Of the hinge, from the model's dual form: function m has c (1[m = y] - q_m), in the order of the
 * samples. */
static void take_dual(verification *k) {
    const mg_hypothesis *h = k->h;
    if (!h->dual_starts) {
        for (int64_t i = 0; i < k->count; i++)
            for (int64_t m = 0; m < k->classes; m++)
                k->q[i * k->classes + m] = m == k->problem->code[i] ? 1.0L : 0.0L;
        return;
    }
    for (int64_t m = 0; m < k->classes; m++) {
        int64_t at = h->dual_starts[m];
        for (int64_t i = 0; i < k->count; i++) {
            real alpha = 0.0L;
            if (at < h->dual_starts[m + 1] &&
                h->dual_rows[at] == mg_sample_original(k->problem, i)) {
                alpha = (real)h->dual_signs[at] * (real)h->dual_coefficients[at];
                k->support += m == k->problem->code[i];
                at++;
            }
            k->q[i * k->classes + m] = (m == k->problem->code[i] ? 1.0L : 0.0L) - alpha / k->c[i];
        }
    }
}

/* Into the simplex. */
static void clip(verification *k) {
    for (int64_t i = 0; i < k->count; i++) {
        real *q = k->q + i * k->classes, sum = 0.0L;
        for (int64_t m = 0; m < k->classes; m++)
            sum += q[m] = fmaxl(q[m], 0.0L);
        for (int64_t m = 0; m < k->classes; m++)
            q[m] = sum > 0.0L ? q[m] / sum : m == k->problem->code[i];
    }
}

/* Classes with too much give it to those with too little. */
static void balance(verification *k) {
    real *should = k->factors, *has = k->factors + k->classes, lack = 0.0L;
    if (!k->intercept) return;
    memset(should, 0, (size_t)(2 * k->classes) * sizeof *should);
    for (int64_t i = 0; i < k->count; i++) {
        should[k->problem->code[i]] += k->c[i];
        for (int64_t m = 0; m < k->classes; m++)
            has[m] += k->c[i] * k->q[i * k->classes + m];
    }
    for (int64_t m = 0; m < k->classes; m++)
        lack += fmaxl(should[m] - has[m], 0.0L);
    for (int64_t i = 0; i < k->count && lack > 0.0L; i++) {
        real *q = k->q + i * k->classes, taken = 0.0L;
        for (int64_t m = 0; m < k->classes; m++) {
            const real keep = has[m] > should[m] ? should[m] / has[m] : 1.0L;
            taken += q[m] * (1.0L - keep);
            q[m] *= keep;
        }
        for (int64_t m = 0; m < k->classes; m++)
            q[m] += taken * fmaxl(should[m] - has[m], 0.0L) / lack;
    }
}

static margin_status add_up(verification *k) {
    const int64_t size = k->columns + 1;
    memset(k->v, 0, (size_t)((2 * k->classes + 1) * size) * sizeof *k->v);
    for (int64_t i = 0; i < k->count; i++) {
        MG_TRY(read_row(k, i));
        for (int64_t j = 0; j < size; j++)
            k->square[j] += k->values[j] * k->values[j];
        for (int64_t m = 0; m < k->classes; m++) {
            const real q = k->q[i * k->classes + m];
            real r = k->c[i] * q;
            if (m == k->problem->code[i]) { /* q - 1 */
                r = 0.0L;
                for (int64_t l = 0; l < k->classes; l++)
                    r -= l == m ? 0.0L : k->c[i] * k->q[i * k->classes + l];
            }
            for (int64_t j = 0; j < size && r != 0.0L; j++) {
                k->v[m * size + j] += r * k->values[j];
                k->terms[m * size + j] += fabsl(r * k->values[j]);
            }
        }
    }
    return MARGIN_OK;
}

static real dual_sum(const verification *k) {
    real sum = 0.0L;
    for (int64_t i = 0; i < k->count; i++)
        for (int64_t m = 0; m < k->classes; m++) {
            const real q = k->q[i * k->classes + m];
            if (k->loss == MG_LOSS_CRAMMER_SINGER)
                sum += m == k->problem->code[i] ? 0.0L : k->c[i] * q;
            else if (q > 0.0L)
                sum -= k->c[i] * q * logl(q);
        }
    return sum;
}

/* As in linear_verify.c. */
static real dual_in_boxes(const verification *k) {
    static const real small = 1e-10L;
    const real rho = (real)k->penalty->rho;
    real sum = dual_sum(k);
    for (int64_t m = 0; m < k->classes; m++)
        for (int64_t j = 0; j < k->columns; j++) {
            const int64_t at = m * (k->columns + 1) + j;
            const real w = (real)k->h->view.linear.weights[m * k->columns + j], v = fabsl(k->v[at]);
            const real rms = sqrtl(k->square[j] / (real)k->count);
            real x = v / rho; /* the worst weight */
            if (fabsl(k->v[at] + rho * w) <=
                small * k->terms[m * (k->columns + 1) + k->columns] * rms)
                x = fminl(x, 2.0L * fabsl(w) + 1.0L / rms);
            sum -= x * (v - rho / 2.0L * x);
        }
    return sum;
}

static real dual_objective(const verification *k) {
    const real sum = dual_sum(k);
    real square = 0.0L;
    for (int64_t m = 0; m < k->classes; m++)
        for (int64_t j = 0; j < k->columns; j++)
            square += k->v[m * (k->columns + 1) + j] * k->v[m * (k->columns + 1) + j];
    return k->penalty->rho > 0.0 ? sum - square / (2.0L * (real)k->penalty->rho) : sum;
}

/* ---- No penalty ------------------------------------------------------------------------------ */

/* What v, which should be 0, may cost. */
static real slack(const verification *k) {
    real sum = 0.0L;
    for (int64_t m = 0; m < k->classes; m++) {
        const real *v = k->v + m * (k->columns + 1);
        if (k->intercept) sum += fabsl(v[k->columns] * (real)k->h->view.linear.intercept[m]);
        for (int64_t j = 0; j < k->columns; j++)
            sum += fabsl(v[j] * (real)k->h->view.linear.weights[m * k->columns + j]);
    }
    return 2.0L * sum;
}

/* The Hessian of all classes but the last one, scaled to a diagonal of 1. */
static margin_status fill_matrix(verification *k, double *m, int64_t n, double *scale) {
    const int64_t size = k->columns + 1;
    memset(m, 0, (size_t)(n * n) * sizeof *m);
    for (int64_t i = 0; i < k->count; i++) {
        const real *q = k->q + i * k->classes;
        MG_TRY(read_row(k, i));
        k->values[k->columns] = (real)k->intercept;
        for (int64_t r = 0; r < n; r++) {
            if (mg_cancelled(k->fit->context)) return mg_fail_cancelled(k->fit->error);
            for (int64_t s = 0; s < n; s++) {
                const int64_t a = r / size, b = s / size;
                const real weight = k->c[i] * q[a] * (a == b ? 1.0L - q[a] : -q[b]);
                m[r * n + s] += (double)(weight * k->values[r % size] * k->values[s % size]);
            }
        }
    }
    for (int64_t r = 0; r < n; r++)
        scale[r] = m[r * n + r] > 0.0 ? 1.0 / sqrt(m[r * n + r]) : 0.0;
    for (int64_t r = 0; r < n; r++)
        for (int64_t s = 0; s < n; s++)
            m[r * n + s] = r == s ? 1.0 + 1e-10 : m[r * n + s] * scale[r] * scale[s];
    return MARGIN_OK;
}

/* The shares go a Newton step towards v = 0; u: room for classes numbers. */
static margin_status correct(verification *k, double *m, int64_t n, double *scale, double *g,
                             real *u) {
    const int64_t size = k->columns + 1;
    MG_TRY(fill_matrix(k, m, n, scale));
    for (int64_t r = 0; r < n; r++)
        g[r] = (double)k->v[r] * scale[r];
    MG_TRY(mg_eliminate(k->fit->context, m, n, g, k->fit->error));
    for (int64_t i = 0; i < k->count; i++) {
        real *q = k->q + i * k->classes, mean = 0.0L;
        MG_TRY(read_row(k, i));
        k->values[k->columns] = (real)k->intercept;
        u[k->classes - 1] = 0.0L;
        for (int64_t a = 0; a < k->classes - 1; a++) {
            u[a] = 0.0L;
            for (int64_t j = 0; j < size; j++)
                u[a] += k->values[j] * (real)(g[a * size + j] * scale[a * size + j]);
            mean += q[a] * u[a];
        }
        for (int64_t a = 0; a < k->classes; a++)
            q[a] *= 1.0L - (u[a] - mean);
    }
    clip(k);
    balance(k);
    return add_up(k);
}

static margin_status correct_all(verification *k, real enough) {
    enum { MOST_ROUNDS = 8, MOST_SIZE = 3000 };
    const int64_t n = (k->classes - 1) * (k->columns + 1);
    real before = (real)INFINITY, left = slack(k);
    double *m = NULL;
    margin_status status = MARGIN_OK;
    if (n > MOST_SIZE || left <= enough) return MARGIN_OK;
    MG_NEW(k->fit->context->heap, m, n * (n + 2), "a verification", k->fit->error);
    for (int round = 0; round < MOST_ROUNDS && left > enough && left < 0.5L * before; round++) {
        before = left;
        MG_GO(correct(k, m, n, m + n * n, m + n * (n + 1), k->shift));
        left = slack(k);
    }
done:
    mg_free(k->fit->context->heap, m);
    return status;
}

/* ---- Verification ---------------------------------------------------------------------------- */

/* Adds to the intercepts what makes every class have what it should: Newton's method for the best
 * intercepts with these weights. g: classes numbers, m: classes x classes. */
static margin_status settle_intercepts(verification *k, double *m, double *g) {
    enum { MOST = 60 };
    static const real least = 1e-290L; /* smaller terms say nothing and are slow */
    const int64_t n = k->classes - 1;
    real before = (real)INFINITY;
    memset(k->shift, 0, (size_t)k->classes * sizeof *k->shift);
    for (int round = 0; round < MOST; round++) {
        real *s = k->factors, left = 0.0L;
        memset(s, 0, (size_t)k->classes * sizeof *s);
        memset(m, 0, (size_t)(n * n) * sizeof *m);
        for (int64_t i = 0; i < k->count; i++) {
            const real *q = k->q + i * k->classes;
            if (mg_cancelled(k->fit->context)) return mg_fail_cancelled(k->fit->error);
            for (int64_t a = 0; a < k->classes; a++)
                s[a] += k->c[i] * (q[a] - (a == k->problem->code[i] ? 1.0L : 0.0L));
            for (int64_t a = 0; a < n; a++)
                for (int64_t b = 0; b < n && k->c[i] * q[a] > least; b++) {
                    const real term = k->c[i] * q[a] * (a == b ? 1.0L - q[a] : -q[b]);
                    if (fabsl(term) > least) m[a * n + b] += (double)term;
                }
        }
        for (int64_t a = 0; a < k->classes; a++)
            left = fmaxl(left, fabsl(s[a]));
        if (!(left > 0.0L) || !(left < before * (round < 20 ? 4.0L : 0.9L))) return MARGIN_OK;
        before = left;
        for (int64_t a = 0; a < n; a++) {
            const double own = m[a * n + a];
            g[a] = own > 0.0 ? (double)s[a] : 0.0;
            m[a * n + a] = own > 0.0 ? own * (1.0 + 1e-12) : 1.0;
        }
        MG_TRY(mg_eliminate(k->fit->context, m, n, g, k->fit->error));
        for (int64_t a = 0; a < n; a++)
            k->shift[a] -= isfinite(g[a]) ? (real)fmax(-2.0, fmin(2.0, g[a])) : 0.0L;
        for (int64_t i = 0; i < k->count; i++) {
            real *f = k->scores + i * k->classes;
            for (int64_t a = 0; a < n; a++)
                f[a] += k->shift[a];
            loss_of(k, f, k->problem->code[i], k->q + i * k->classes);
            for (int64_t a = 0; a < n; a++)
                f[a] -= k->shift[a];
        }
    }
    return MARGIN_OK;
}

static margin_status bound_here(verification *k, real objective, real enough, real *bound) {
    clip(k);
    balance(k);
    MG_TRY(add_up(k));
    if (k->penalty->rho > 0.0) {
        *bound = dual_objective(k);
        if (!(objective - *bound <= enough)) *bound = fmaxl(*bound, dual_in_boxes(k));
    } else {
        MG_TRY(correct_all(k, 1e-13L * fabsl(objective)));
        *bound = dual_objective(k) - slack(k);
    }
    if (!(*bound >= 0.0L)) *bound = 0.0L;
    return MARGIN_OK;
}

/* From the shares as they are; and with the best intercepts where that is not as good as it was
 * asked for. */
static margin_status find_bound(verification *k, real objective, real *bound, double tolerance) {
    const real enough = (real)tolerance * fmaxl(1.0L, fabsl(objective));
    double *matrix;
    real settled = 0.0L;
    if (k->loss == MG_LOSS_CRAMMER_SINGER) take_dual(k);
    MG_TRY(bound_here(k, objective, enough, bound));
    if (k->loss == MG_LOSS_CRAMMER_SINGER || !k->intercept || objective - *bound <= enough)
        return MARGIN_OK;
    for (int64_t i = 0; i < k->count; i++)
        loss_of(k, k->scores + i * k->classes, k->problem->code[i], k->q + i * k->classes);
    MG_NEW(k->fit->context->heap, matrix, k->classes * (k->classes + 1), "a verification",
           k->fit->error);
    margin_status status = settle_intercepts(k, matrix, matrix + k->classes * k->classes);
    if (status >= 0) status = bound_here(k, objective, enough, &settled);
    mg_free(k->fit->context->heap, matrix);
    *bound = fmaxl(*bound, settled);
    return status;
}

static void fill_report(const verification *k, const mg_linear_options *options, real objective,
                        real bound, real rounding) {
    const real size = fmaxl(1.0L, fabsl(objective));
    margin_report *report = &k->fit->report;
    report->objective = (double)objective;
    report->gap = (double)((objective - bound) / size);
    report->tolerance = options->tolerance;
    report->status = report->gap <= options->tolerance ? MARGIN_OK : MARGIN_STOPPED_STALLED;
    mg_report_set(report, "C", k->penalty->C);
    mg_report_set(report, "alpha", k->penalty->alpha);
    mg_report_set(report, "lambda", k->penalty->lambda);
    mg_report_set(report, MG_ITEM_ROUNDING, (double)(rounding / size));
    if (k->loss == MG_LOSS_CRAMMER_SINGER)
        mg_report_set(report, "support_vectors", (double)k->support);
}

margin_status mg_classes_verify(mg_fit *fit, const margin_option *table, int option_count,
                                mg_loss_kind loss, const char *default_spelling,
                                double default_value, const mg_hypothesis *hypothesis) {
    const mg_linear_options options =
        mg_linear_options_of(fit, table, option_count, default_spelling, default_value);
    verification k = {.fit = fit,
                      .problem = fit->problem,
                      .h = hypothesis,
                      .penalty = &options.penalty,
                      .loss = loss,
                      .intercept = options.intercept,
                      .count = fit->problem->count,
                      .classes = fit->problem->classes,
                      .columns = fit->problem->x.columns};
    real *memory, objective = 0.0L, bound = 0.0L, rounding = 0.0L;
    margin_status status;
    MG_NEW(fit->context->heap, memory,
           k.count * (2 * k.classes + 1) + 2 * (k.classes + 1) * (k.columns + 1) + 3 * k.classes +
               k.columns,
           "a verification", fit->error);
    k.c = memory;
    k.scores = k.c + k.count;
    k.q = k.scores + k.count * k.classes;
    k.v = k.q + k.count * k.classes;
    k.terms = k.v + k.classes * (k.columns + 1);
    k.square = k.terms + k.classes * (k.columns + 1);
    k.values = k.square + k.columns + 1;
    k.factors = k.values + k.columns + 1;
    k.shift = k.factors + 2 * k.classes;
    k.row = (double *)(k.shift + k.classes);
    MG_GO(find_objective(&k, &objective));
    MG_GO(find_rounding(&k, &rounding));
    MG_GO(find_bound(&k, objective, &bound, options.tolerance));
    fill_report(&k, &options, objective, bound, rounding);
done:
    mg_free(fit->context->heap, memory);
    return status;
}
