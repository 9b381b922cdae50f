/* The report's numbers once more, from the model and the data, by plain loops that share nothing
 * with the training. */
#include "perceptron/learner/perceptron_verify.h"

#include <math.h>

typedef struct verification {
    mg_fit *fit;
    const mg_problem *problem;
    const mg_hypothesis *h;
    int64_t errors, doubtful; /* rows so near the plane that rounding decides their sign */
    double error_weight, weight, criterion, least, radius_square;
} verification;

/* ---- Scores ---------------------------------------------------------------------------------- */

/* A sum, and the sum of the absolute values of its terms, which tells what rounding may do to it.
 */
typedef struct rounded {
    double sum, terms;
} rounded;

static void add_term(rounded *r, double term) {
    r->sum += term;
    r->terms += fabs(term);
}

/* w.x of a row; w NULL: x.x */
static rounded product(const margin_matrix *x, int64_t row, const double *w) {
    rounded sum = {0};
    if (mg_is_csr(x)) {
        for (int64_t k = mg_row_start(x, row); k < mg_row_start(x, row + 1); k++)
            add_term(&sum, mg_stored_value(x, k) *
                               (w ? w[mg_column_index(x, k)] : mg_stored_value(x, k)));
    } else {
        for (int64_t j = 0; j < x->columns; j++) {
            const double value = mg_stored_value(x, row * x->stride + j);
            add_term(&sum, value * (w ? w[j] : value));
        }
    }
    return sum;
}

/* Without the intercept. */
static rounded expansion_sum(const mg_hypothesis *h, const margin_matrix *x, int64_t row) {
    const int64_t *starts = h->view.expansion.starts;
    rounded sum = {0};
    for (int64_t k = starts[0]; k < starts[1]; k++)
        add_term(&sum, h->view.expansion.coefficients[k] *
                           mg_kernel_rows(&h->view.expansion.kernel, &h->view.expansion.support,
                                          h->view.expansion.entries[k], x, row));
    return sum;
}

static rounded score(const verification *v, int64_t row, int64_t function) {
    const margin_matrix *x = &v->problem->x;
    const bool expands = v->h->kind == &mg_hypothesis_expansion;
    rounded sum = expands ? expansion_sum(v->h, x, row)
                          : product(x, row, v->h->view.linear.weights + function * x->columns);
    add_term(&sum,
             expands ? v->h->view.expansion.intercept[0] : v->h->view.linear.intercept[function]);
    return sum;
}

static rounded margin_of(const verification *v, int64_t sample) {
    const mg_problem *p = v->problem;
    const int64_t row = mg_sample_row(p, sample);
    if (p->kind == MG_TWO_CLASS) {
        const rounded own = score(v, row, 0);
        return (rounded){p->sign[sample] * own.sum + 0.0, own.terms};
    }
    rounded best = {-(double)INFINITY, 0};
    for (int64_t f = 0; f < v->h->functions; f++) {
        const rounded other = score(v, row, f);
        if (f != p->code[sample] && other.sum > best.sum) best = other;
    }
    const rounded own = score(v, row, p->code[sample]);
    return (rounded){own.sum - best.sum, own.terms + best.terms};
}

/* ---- Sums ------------------------------------------------------------------------------------ */

static void add_sample(verification *v, int64_t sample) {
    const mg_problem *p = v->problem;
    const int64_t row = mg_sample_row(p, sample);
    const rounded score = margin_of(v, sample);
    const double margin = score.sum, weight = mg_sample_weight(p, sample);
    double square = product(&p->x, row, NULL).sum;
    if (v->h->kind == &mg_hypothesis_expansion)
        square = mg_kernel_rows(&v->h->view.expansion.kernel, &p->x, row, &p->x, row);
    v->radius_square = fmax(v->radius_square, square + 1.0);
    v->least = fmin(v->least, margin);
    v->weight += weight;
    v->doubtful += fabs(margin) <= MG_ROUNDING * score.terms;
    if (margin > 0.0) return;
    v->errors++;
    v->error_weight += weight;
    v->criterion -= weight * margin;
}

static double expansion_norm(const mg_hypothesis *h) {
    double square = 0.0;
    const int64_t *starts = h->view.expansion.starts;
    for (int64_t k = starts[0]; k < starts[1]; k++)
        square += h->view.expansion.coefficients[k] *
                  expansion_sum(h, &h->view.expansion.support, h->view.expansion.entries[k]).sum;
    return sqrt(fmax(square, 0.0));
}

static double perceptron_norm_of(const mg_hypothesis *h) {
    if (h->kind == &mg_hypothesis_expansion) return expansion_norm(h);
    double square = 0.0;
    for (int64_t j = 0; j < h->columns; j++)
        square += h->view.linear.weights[j] * h->view.linear.weights[j];
    return sqrt(square);
}

margin_status mg_perceptron_verify(mg_fit *fit, const mg_hypothesis *hypothesis) {
    verification v = {.fit = fit,
                      .problem = fit->problem,
                      .h = hypothesis,
                      .least = (double)INFINITY,
                      .radius_square = 1.0};
    for (int64_t i = 0; i < v.problem->count; i++) {
        if (mg_cancelled(fit->context)) return mg_fail_cancelled(fit->error);
        add_sample(&v, i);
    }
    margin_report *report = &fit->report;
    report->objective = v.criterion;
    report->gap = v.criterion / fmax(1.0, v.criterion);
    report->tolerance = 0.0;
    report->status = v.errors == 0 ? MARGIN_OK : MARGIN_STOPPED_STALLED;
    mg_report_set(report, "radius", sqrt(v.radius_square));
    mg_report_claim(report, &fit->verified, "errors", (double)v.errors, (double)v.doubtful);
    mg_report_set(report, "least_margin", v.least);
    const double norm = hypothesis->functions == 1 ? perceptron_norm_of(hypothesis) : 0.0;
    if (hypothesis->functions == 1)
        mg_report_set(report, "least_geometric_margin", norm > 0.0 ? v.least / norm : (double)NAN);
    return MARGIN_OK;
}
