/* Objective and gap of a model of several classes once more, from the data, by plain loops that
 * share nothing with the training. classes_certificate.c and classes_free.c derive the bound. */
#include "linear/classes_fit.h"
#include "linear/elimination.h"
#include "linear/linear_options.h"

#include <math.h>
#include <string.h>

typedef struct verification {
    mg_fit *fit;
    const mg_problem *problem;
    const mg_hypothesis *h;
    const mg_penalty *penalty;
    mg_classes_loss loss;
    bool intercept;
    int64_t count, classes, columns;
    double *c;       /* samples */
    double *q;       /* samples x classes: shares */
    double *v;       /* classes x (columns + 1): sum c (q - e_y) (a, 1) */
    double *terms;   /* classes x (columns + 1): sums of the absolute values of v's terms */
    double *square;  /* columns + 1: sum a^2 */
    double *values;  /* columns + 1: a row, and 1 */
    double *factors; /* 2 x classes */
    int64_t support; /* hinge: samples whose own share is below 1 */
} verification;

/* ---- Rows ------------------------------------------------------------------------------------ */

static margin_status read_row(const verification *k, int64_t sample) {
    const mg_problem *p = k->problem;
    if (mg_cancelled(k->fit->context)) return mg_fail_cancelled(k->fit->error);
    mg_sample_values(p, sample, k->values);
    for (int64_t j = 0; j < k->columns; j++) {
        if (p->scale) k->values[j] *= p->scale[j];
        if (p->shift) k->values[j] += p->shift[j];
    }
    k->values[k->columns] = 1.0;
    return MARGIN_OK;
}

static double score(const verification *k, int64_t class) {
    const double *w = k->h->view.linear.weights + class * k->columns;
    double sum = 0.0;
    for (int64_t j = 0; j < k->columns; j++)
        sum += k->values[j] * w[j];
    return sum + k->h->view.linear.intercept[class];
}

/* ---- Objective ------------------------------------------------------------------------------- */

/* The loss of scores f of a sample of class y; for the softmax, f becomes the shares. */
static double loss_of(const verification *k, double *f, int32_t y) {
    double most = -(double)INFINITY, sum = 0.0, loss;
    if (k->loss == MG_CLASSES_HINGE) {
        for (int64_t m = 0; m < k->classes; m++)
            most = fmax(most, m == y ? f[m] : 1.0 + f[m]);
        return most - f[y];
    }
    for (int64_t m = 0; m < k->classes; m++)
        most = fmax(most, f[m]);
    for (int64_t m = 0; m < k->classes; m++)
        sum += exp(f[m] - most);
    loss = f[y] == most ? 0.0 : log(sum) + most - f[y];
    if (f[y] == most) {
        for (int64_t m = 0; m < k->classes; m++)
            loss += m == y ? 0.0 : exp(f[m] - most);
        loss = log1p(loss);
    }
    for (int64_t m = 0; m < k->classes; m++)
        f[m] = exp(f[m] - most) / sum;
    return loss;
}

static margin_status find_objective(verification *k, double *objective) {
    const double *w = k->h->view.linear.weights;
    double sum = 0.0, square = 0.0;
    for (int64_t i = 0; i < k->count; i++) {
        double *f = k->q + i * k->classes;
        MG_TRY(read_row(k, i));
        for (int64_t m = 0; m < k->classes; m++)
            f[m] = score(k, m);
        k->c[i] = k->penalty->factor * mg_sample_weight(k->problem, i);
        sum += k->c[i] * loss_of(k, f, k->problem->code[i]);
    }
    for (int64_t j = 0; j < k->classes * k->columns; j++)
        square += w[j] * w[j];
    *objective = sum + (k->penalty->rho > 0.0 ? k->penalty->rho / 2.0 * square : 0.0);
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
                k->q[i * k->classes + m] = m == k->problem->code[i] ? 1.0 : 0.0;
        return;
    }
    for (int64_t m = 0; m < k->classes; m++) {
        int64_t at = h->dual_starts[m];
        for (int64_t i = 0; i < k->count; i++) {
            double alpha = 0.0;
            if (at < h->dual_starts[m + 1] &&
                h->dual_rows[at] == mg_sample_original(k->problem, i)) {
                alpha = h->dual_signs[at] * h->dual_coefficients[at];
                k->support += m == k->problem->code[i];
                at++;
            }
            k->q[i * k->classes + m] = (m == k->problem->code[i] ? 1.0 : 0.0) - alpha / k->c[i];
        }
    }
}

/* Into the simplex. */
static void clip(verification *k) {
    for (int64_t i = 0; i < k->count; i++) {
        double *q = k->q + i * k->classes, sum = 0.0;
        for (int64_t m = 0; m < k->classes; m++)
            sum += q[m] = fmax(q[m], 0.0);
        for (int64_t m = 0; m < k->classes; m++)
            q[m] = sum > 0.0 ? q[m] / sum : m == k->problem->code[i];
    }
}

/* Classes with too much give it to those with too little. */
static void balance(verification *k) {
    double *should = k->factors, *has = k->factors + k->classes, lack = 0.0;
    if (!k->intercept) return;
    memset(should, 0, (size_t)(2 * k->classes) * sizeof *should);
    for (int64_t i = 0; i < k->count; i++) {
        should[k->problem->code[i]] += k->c[i];
        for (int64_t m = 0; m < k->classes; m++)
            has[m] += k->c[i] * k->q[i * k->classes + m];
    }
    for (int64_t m = 0; m < k->classes; m++)
        lack += fmax(should[m] - has[m], 0.0);
    for (int64_t i = 0; i < k->count && lack > 0.0; i++) {
        double *q = k->q + i * k->classes, taken = 0.0;
        for (int64_t m = 0; m < k->classes; m++) {
            const double keep = has[m] > should[m] ? should[m] / has[m] : 1.0;
            taken += q[m] * (1.0 - keep);
            q[m] *= keep;
        }
        for (int64_t m = 0; m < k->classes; m++)
            q[m] += taken * fmax(should[m] - has[m], 0.0) / lack;
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
            const double q = k->q[i * k->classes + m];
            double r = k->c[i] * q;
            if (m == k->problem->code[i]) { /* q - 1 */
                r = 0.0;
                for (int64_t l = 0; l < k->classes; l++)
                    r -= l == m ? 0.0 : k->c[i] * k->q[i * k->classes + l];
            }
            for (int64_t j = 0; j < size && r != 0.0; j++) {
                k->v[m * size + j] += r * k->values[j];
                k->terms[m * size + j] += fabs(r * k->values[j]);
            }
        }
    }
    return MARGIN_OK;
}

static double dual_sum(const verification *k) {
    double sum = 0.0;
    for (int64_t i = 0; i < k->count; i++)
        for (int64_t m = 0; m < k->classes; m++) {
            const double q = k->q[i * k->classes + m];
            if (k->loss == MG_CLASSES_HINGE)
                sum += m == k->problem->code[i] ? 0.0 : k->c[i] * q;
            else if (q > 0.0)
                sum -= k->c[i] * q * log(q);
        }
    return sum;
}

/* As in linear_verify.c. */
static double dual_in_boxes(const verification *k) {
    static const double rounding = 1e-10;
    const double rho = k->penalty->rho;
    double sum = dual_sum(k);
    for (int64_t m = 0; m < k->classes; m++)
        for (int64_t j = 0; j < k->columns; j++) {
            const int64_t at = m * (k->columns + 1) + j;
            const double w = k->h->view.linear.weights[m * k->columns + j], v = fabs(k->v[at]);
            const double rms = sqrt(k->square[j] / (double)k->count);
            double x = v / rho; /* the worst weight */
            if (fabs(k->v[at] + rho * w) <= rounding * k->terms[at])
                x = fmin(x, 2.0 * fabs(w) + 1.0 / rms);
            sum -= x * (v - rho / 2.0 * x);
        }
    return sum;
}

static double dual_objective(const verification *k) {
    const double sum = dual_sum(k);
    double square = 0.0;
    for (int64_t m = 0; m < k->classes; m++)
        for (int64_t j = 0; j < k->columns; j++)
            square += k->v[m * (k->columns + 1) + j] * k->v[m * (k->columns + 1) + j];
    return k->penalty->rho > 0.0 ? sum - square / (2.0 * k->penalty->rho) : sum;
}

/* ---- No penalty ------------------------------------------------------------------------------ */

/* What v, which should be 0, may cost. */
static double slack(const verification *k) {
    double sum = 0.0;
    for (int64_t m = 0; m < k->classes; m++) {
        const double *v = k->v + m * (k->columns + 1);
        if (k->intercept) sum += fabs(v[k->columns] * k->h->view.linear.intercept[m]);
        for (int64_t j = 0; j < k->columns; j++)
            sum += fabs(v[j] * k->h->view.linear.weights[m * k->columns + j]);
    }
    return 2.0 * sum;
}

/* The Hessian of all classes but the last one, scaled to a diagonal of 1. */
static margin_status fill_matrix(verification *k, double *m, int64_t n, double *scale) {
    const int64_t size = k->columns + 1;
    memset(m, 0, (size_t)(n * n) * sizeof *m);
    for (int64_t i = 0; i < k->count; i++) {
        const double *q = k->q + i * k->classes;
        MG_TRY(read_row(k, i));
        k->values[k->columns] = k->intercept;
        for (int64_t r = 0; r < n; r++)
            for (int64_t s = 0; s < n; s++) {
                const int64_t a = r / size, b = s / size;
                const double weight = k->c[i] * q[a] * (a == b ? 1.0 - q[a] : -q[b]);
                m[r * n + s] += weight * k->values[r % size] * k->values[s % size];
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
                             double *u) {
    const int64_t size = k->columns + 1;
    MG_TRY(fill_matrix(k, m, n, scale));
    for (int64_t r = 0; r < n; r++)
        g[r] = k->v[r] * scale[r];
    MG_TRY(mg_eliminate(k->fit->context, m, n, g, k->fit->error));
    for (int64_t i = 0; i < k->count; i++) {
        double *q = k->q + i * k->classes, mean = 0.0;
        MG_TRY(read_row(k, i));
        k->values[k->columns] = k->intercept;
        u[k->classes - 1] = 0.0;
        for (int64_t a = 0; a < k->classes - 1; a++) {
            u[a] = 0.0;
            for (int64_t j = 0; j < size; j++)
                u[a] += k->values[j] * g[a * size + j] * scale[a * size + j];
            mean += q[a] * u[a];
        }
        for (int64_t a = 0; a < k->classes; a++)
            q[a] *= 1.0 - (u[a] - mean);
    }
    clip(k);
    balance(k);
    return add_up(k);
}

static margin_status correct_all(verification *k, double enough) {
    enum { MOST_ROUNDS = 8, MOST_SIZE = 3000 };
    const int64_t n = (k->classes - 1) * (k->columns + 1);
    double *m = NULL, before = (double)INFINITY, left = slack(k);
    margin_status status = MARGIN_OK;
    if (n > MOST_SIZE || left <= enough) return MARGIN_OK;
    MG_NEW(k->fit->context->heap, m, n * (n + 2) + k->classes, "a verification", k->fit->error);
    for (int round = 0; round < MOST_ROUNDS && left > enough && left < 0.5 * before; round++) {
        before = left;
        MG_GO(correct(k, m, n, m + n * n, m + n * (n + 1), m + n * (n + 2)));
        left = slack(k);
    }
done:
    mg_free(k->fit->context->heap, m);
    return status;
}

/* ---- Verification ---------------------------------------------------------------------------- */

static margin_status find_bound(verification *k, double tolerance, double objective,
                                double *bound) {
    const double enough = tolerance * fmax(1.0, fabs(objective));
    if (k->loss == MG_CLASSES_HINGE) take_dual(k);
    clip(k);
    balance(k);
    MG_TRY(add_up(k));
    if (k->penalty->rho > 0.0) {
        *bound = dual_objective(k);
        if (!(objective - *bound <= enough)) *bound = fmax(*bound, dual_in_boxes(k));
    } else {
        MG_TRY(correct_all(k, 1e-13 * fabs(objective)));
        *bound = dual_objective(k) - slack(k);
    }
    if (!(*bound >= 0.0)) *bound = 0.0;
    return MARGIN_OK;
}

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
    if (k->loss == MG_CLASSES_HINGE) mg_report_set(report, "support_vectors", (double)k->support);
}

margin_status mg_classes_verify(mg_fit *fit, const margin_option *table, int option_count,
                                mg_classes_loss loss, const char *default_spelling,
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
    double *memory, objective = 0.0, bound = 0.0;
    margin_status status;
    MG_NEW(fit->context->heap, memory,
           k.count * (k.classes + 1) + 2 * (k.classes + 1) * (k.columns + 1) + 2 * k.classes,
           "a verification", fit->error);
    k.c = memory;
    k.q = k.c + k.count;
    k.v = k.q + k.count * k.classes;
    k.terms = k.v + k.classes * (k.columns + 1);
    k.square = k.terms + k.classes * (k.columns + 1);
    k.values = k.square + k.columns + 1;
    k.factors = k.values + k.columns + 1;
    MG_GO(find_objective(&k, &objective));
    MG_GO(find_bound(&k, options.tolerance, objective, &bound));
    fill_report(&k, &options, objective, bound);
done:
    mg_free(fit->context->heap, memory);
    return status;
}
