/* The report's numbers once more, from the model and the data, by plain loops that share nothing
 * with the training. */
#include "perceptron/learner/perceptron.h"
#include "perceptron/learner/perceptron_run.h"

#include "learn/kernels/kernel_sums.h"
#include "math/rows/row_pair.h"

#include <math.h>

/* What so many additions in another order may differ by, relative to their terms. */
static const double other_order = 1e-9;

typedef struct verification {
    mg_fit *fit;
    const mg_problem *problem;
    const mg_hypothesis *h;
    int64_t errors, near_wrong, near_right; /* near: so that rounding decides a row's sign */
    long double criterion;
    double error_weight, weight, least, radius_square, constant;
    /* what rounding may have made of the criterion, of any margin, and of the radius' square */
    double blur, most_blur, square_blur;
    double least_updates, most_updates; /* that made the sums of updates which a dual form keeps */
} verification;

/* ---- Scores ---------------------------------------------------------------------------------- */

/* A sum, and the sum of the absolute values of its terms, which tells what rounding may do to it.
 */
typedef struct rounded {
    long double sum;
    double terms;
} rounded;

static void add_term(rounded *r, double term) {
    r->sum += (long double)term;
    r->terms += fabs(term);
}

/* w.x of a row; w NULL: x.x */
static rounded product(const mg_problem *p, int64_t row, const double *w) {
    const margin_matrix *x = &p->x;
    rounded sum = {0.0L, 0.0};
    const mg_row_span span = mg_span_of(x, row);
    for (int64_t k = span.first; k < span.last; k++) {
        const int64_t j = mg_span_column(x, span, k);
        const double value = mg_stored_value(x, k);
        add_term(&sum, value * (w ? w[j] : value));
        if (!span.sparse)
            sum.terms += fabs(w ? w[j] : 2.0 * value) * mg_column_blur(p, j) / MG_ROUNDING;
    }
    return sum;
}

/* Without the intercept. */
static rounded expansion_sum(const verification *v, const margin_matrix *x, int64_t row) {
    double blur;
    const double sum = mg_kernel_sums_score(v->fit, v->h, x, row, &blur);
    return (rounded){(long double)sum, blur / MG_ROUNDING};
}

static double intercept_of(const mg_hypothesis *h, int64_t function) {
    return h->kind == &mg_hypothesis_expansion ? h->view.expansion.intercept[0]
                                               : h->view.linear.intercept[function];
}

static rounded score(const verification *v, int64_t row, int64_t function) {
    const margin_matrix *x = &v->problem->x;
    const bool expands = v->h->kind == &mg_hypothesis_expansion;
    rounded sum = expands
                      ? expansion_sum(v, x, row)
                      : product(v->problem, row, v->h->view.linear.weights + function * x->columns);
    add_term(&sum, intercept_of(v->h, function));
    return sum;
}

static rounded margin_of(const verification *v, int64_t sample) {
    const mg_problem *p = v->problem;
    const int64_t row = mg_sample_row(p, sample);
    if (p->kind == MG_TWO_CLASS) {
        const rounded own = score(v, row, 0);
        return (rounded){(long double)p->sign[sample] * own.sum + 0.0L, own.terms};
    }
    rounded best = {-(long double)INFINITY, 0.0};
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
    const double margin = (double)score.sum, weight = mg_sample_weight(p, sample);
    const rounded own = product(p, row, NULL);
    double square_blur = MG_ROUNDING * own.terms, square = (double)own.sum;
    if (v->h->kind == &mg_hypothesis_expansion) {
        square = mg_kernel_sums_square(v->fit, v->h, NULL, sample, &square_blur);
        square_blur += MG_ROUNDING * fabs(square);
    }
    v->radius_square = fmax(v->radius_square, square + v->constant);
    v->square_blur = fmax(v->square_blur, square_blur);
    v->least = fmin(v->least, margin);
    v->weight += weight;
    const double blur = MG_ROUNDING * score.terms;
    v->most_blur = fmax(v->most_blur, blur);
    if (margin <= blur) v->blur += weight * blur;
    if (blur > 0.0 && fabs(margin) <= blur) ++*(margin > 0.0 ? &v->near_right : &v->near_wrong);
    if (margin > 0.0) return;
    v->errors++;
    v->error_weight += weight;
    v->criterion -= (long double)weight * score.sum;
}

/* |f|, and what rounding may have made of it. */
static margin_status find_norm(const mg_fit *fit, const mg_hypothesis *h, double *norm,
                               double *blur) {
    long double square = 0.0L;
    double of_square = 0.0;
    const bool expansion = h->kind == &mg_hypothesis_expansion;
    if (expansion) MG_TRY(mg_kernel_sums_norm(fit, h, &square, &of_square));
    for (int64_t j = 0; !expansion && j < h->functions * h->columns; j++)
        square += (long double)h->view.linear.weights[j] * (long double)h->view.linear.weights[j];
    const double found = (double)square;
    *norm = sqrt(fmax(found, 0.0));
    *blur = found > of_square ? of_square / *norm + MG_ROUNDING * *norm
                              : sqrt(fmax(found + of_square, 0.0));
    const bool is_exact = square == 0.0L && of_square == 0.0; /* no weights at all */
    if (!isfinite(found) || (found < 1e-290 && !is_exact))
        *blur = (double)INFINITY; /* as f64 has it */
    return MARGIN_OK;
}

/* Of all hyperplanes; NaN: none. Two searches may end apart by what is proven of them. */
static margin_status find_linear_margin(mg_fit *fit, double *margin, double *apart) {
    mg_separation found;
    const margin_status ended = mg_separate(fit->context, fit->problem, MG_SEPARATE_UNIT,
                                            (double)INFINITY, &found, fit->error);
    if (ended < 0) return ended;
    const bool late = ended == MARGIN_STOPPED_TIME && found.verdict == MG_UNDECIDED;
    if (found.verdict == MG_SEPARABLE) {
        *margin = found.margin;
        *apart += found.margin_gap;
    }
    mg_separation_free(&found);
    return late ? mg_fail_cancelled(fit->error) : MARGIN_OK; /* not a contradiction */
}

/* The largest margin is sought anew where the model tells of one. apart: as a part of it. */
static margin_status find_margin(const verification *v, double *margin, double *apart) {
    mg_fit *fit = v->fit;
    const mg_hypothesis *h = v->h;
    const mg_perceptron_options options = mg_perceptron_options_of(fit->options);
    const bool expansion = h->kind == &mg_hypothesis_expansion;
    *margin = (double)NAN;
    *apart = 2e-6;
    if (!mg_perceptron_two_sides(fit->problem) || options.constant == 0.0 ||
        (expansion && !mg_perceptron_asks_for_margin(&options)) ||
        isnan(margin_report_item_value(fit->claimed, "margin")))
        return MARGIN_OK;
    if (!expansion) return find_linear_margin(fit, margin, apart);
    MG_TRY(mg_perceptron_kernel_margin(fit, &h->view.expansion.kernel, margin));
    *apart += fmin((v->square_blur + fit->verified.skew) / (*margin * *margin), 1.0);
    return MARGIN_OK;
}

/* No unit vector has a margin above the radius, and no walk from zero more mistakes than the bound;
 * the model tells the least margin of its parts, their greatest bound and all their mistakes. */
static margin_status claim_margin(const verification *v, double radius) {
    mg_fit *fit = v->fit;
    const mg_perceptron_options options = mg_perceptron_options_of(fit->options);
    const double told = margin_report_item_value(fit->claimed, "bound");
    const double parts = (double)MG_MAX(fit->parts, 1);
    double margin, apart;
    MG_TRY(find_margin(v, &margin, &apart));
    /* a fit that went on where another one ended claims none */
    const double bound =
        isnan(told) ? (double)NAN : mg_perceptron_bound_of(&options, fit->problem, radius, margin);
    mg_report_claim(&fit->report, &fit->verified, "margin", margin, apart * margin);
    mg_report_claim(&fit->report, &fit->verified, "bound", bound, 3 * apart * bound);
    if (margin_report_item_value(fit->claimed, "margin") > radius * (1 + other_order))
        fit->verified.contradiction = "its margin is above its radius";
    if (margin_report_item_value(fit->claimed, "mistakes") > parts * told * (1 + 3 * apart))
        fit->verified.contradiction = "its mistakes are more than its bound";
    return MARGIN_OK;
}

/* An update adds 1 to the sum that the model keeps of its row or, as the last copy of a weight,
 * less; a step of a batch adds the weights of up to `batch` rows. */
static void count_updates(verification *v) {
    const mg_problem *p = v->problem;
    const int64_t batch = mg_perceptron_options_of(v->fit->options).batch;
    for (int64_t i = 0, e = 0; i < p->count && e < v->h->dual_starts[1]; i++) {
        if (v->h->dual_rows[e] != mg_sample_original(p, i)) continue;
        const double weight = mg_sample_weight(p, i), sum = v->h->dual_updates[e++];
        v->least_updates += batch > 0 ? sum / weight / (double)MG_MIN(batch, p->count) : sum;
        v->most_updates += sum / weight * (batch > 0 ? 1.0 : ceil(weight));
    }
}

/* What the sums of updates may be off by, relative to their terms: each addition rounds. */
static double order_of(const verification *v) {
    const double most_drift = 1e-6;
    return other_order + fmin(DBL_EPSILON * v->most_updates, most_drift);
}

/* The sums are of all updates where the model is the last state. */
static void claim_mistakes(const verification *v) {
    const double middle = 0.5 * (v->least_updates + v->most_updates);
    if (mg_perceptron_options_of(v->fit->options).variant != MG_PLAIN) return;
    mg_report_claim(&v->fit->report, &v->fit->verified, "mistakes", middle,
                    v->most_updates - middle + order_of(v) * v->most_updates);
}

/* Weights from the start and the updates of the rows; `sum` and `terms`: a number per column. */
static bool makes_weights(const verification *v, double *sum, double *terms) {
    const mg_hypothesis *h = v->h;
    const mg_problem *p = v->problem;
    const mg_perceptron_options o = mg_perceptron_options_of(v->fit->options);
    bool sound = true;
    for (int64_t j = 0; j < o.start_count && j < h->columns; j++)
        terms[j] = fabs(sum[j] = o.start_weights[j]);
    for (int64_t i = 0, e = 0; i < p->count && e < h->dual_starts[1]; i++) {
        if (h->dual_rows[e] != mg_sample_original(p, i)) continue;
        const double update = h->dual_coefficients[e] * h->dual_signs[e];
        e++;
        const mg_row_span span = mg_span_of(&p->x, mg_sample_row(p, i));
        for (int64_t k = span.first; k < span.last; k++) {
            const int64_t j = mg_span_column(&p->x, span, k);
            const double term = update * mg_stored_value(&p->x, k);
            sum[j] += term;
            terms[j] += fabs(term);
        }
    }
    for (int64_t j = 0; j < h->columns; j++)
        sound &= fabs(h->view.linear.weights[j] - sum[j]) <= order_of(v) * terms[j];
    return sound || o.random_start;
}

/* The coefficient of each row is the sum of its updates; rows ascend. `sum`: a number per row. */
static bool makes_coefficients(const verification *v, double *sum) {
    const mg_hypothesis *h = v->h;
    const mg_problem *p = v->problem;
    const int64_t count = h->view.expansion.starts[1];
    const mg_kernel *kernel = &h->view.expansion.kernel;
    const mg_kernel_points points = mg_kernel_points_of(p);
    const bool given = kernel->kind == MG_KERNEL_PRECOMPUTED;
    int64_t s = 0;
    for (int64_t i = 0, e = 0; i < p->count && e < h->dual_starts[1]; i++) {
        if (h->dual_rows[e] != mg_sample_original(p, i)) continue;
        sum[mg_point_right(kernel, &points, i)] += h->dual_coefficients[e] * h->dual_signs[e];
        e++;
    }
    for (int64_t row = 0; row < MG_MAX(p->x.rows, given ? p->x.columns : 0); row++) {
        if (sum[row] == 0.0) continue;
        if (s == count ||
            !(fabs(h->view.expansion.coefficients[s] - sum[row]) <= other_order * fabs(sum[row])))
            return false;
        const int64_t support = h->view.expansion.entries[s++];
        if (given ? mg_kernel_sums_place(h, support) != row
                  : !mg_alike_rows(&h->view.expansion.support, support, &p->x, row,
                                   mg_row_blur(p, row)))
            return false;
    }
    return s == count;
}

/* Rows, signs and counts of updates of the dual form; each update moved the intercept, too. */
static bool makes_intercept(const verification *v) {
    const mg_hypothesis *h = v->h;
    const mg_problem *p = v->problem;
    const mg_perceptron_options o = mg_perceptron_options_of(v->fit->options);
    double intercept = o.start_intercept, terms = fabs(intercept);
    int64_t e = 0;
    for (int64_t i = 0; i < p->count && e < h->dual_starts[1]; i++) {
        const double alpha = h->dual_coefficients[e];
        if (h->dual_rows[e] != mg_sample_original(p, i)) continue;
        if (!(alpha > 0.0) || h->dual_updates[e] != alpha / o.rate ||
            h->dual_signs[e] != p->sign[i])
            return false;
        intercept += o.constant * alpha * p->sign[i];
        terms += alpha;
        e++;
    }
    return e == h->dual_starts[1] &&
           (o.random_start || fabs(intercept_of(h, 0) - intercept) <= order_of(v) * terms);
}

/* Rows near the plane may have been counted otherwise: as errors those on its right side, as none
 * those on it and on its wrong one. The model tells the sum of its parts alone. */
static void claim_errors(const verification *v) {
    const bool more = margin_report_item_value(v->fit->claimed, "errors") > (double)v->errors;
    const int64_t moved = v->fit->parts > 1 ? v->near_right + v->near_wrong
                          : more            ? v->near_right
                                            : v->near_wrong;
    mg_report_claim(&v->fit->report, &v->fit->verified, "errors", (double)v->errors, (double)moved);
}

/* What the dual form says of itself is what the model is. */
static margin_status check_dual(verification *v) {
    const mg_hypothesis *h = v->h;
    const bool expansion = h->kind == &mg_hypothesis_expansion;
    const int64_t numbers = expansion ? MG_MAX(v->problem->x.rows, h->columns) : 2 * h->columns;
    mg_heap *heap = v->fit->context->heap;
    double *room;
    if (!h->dual_starts) return MARGIN_OK;
    count_updates(v);
    claim_mistakes(v);
    MG_NEW_ZERO(heap, room, numbers, "the updates of the rows", v->fit->error);
    const bool sound =
        makes_intercept(v) &&
        (expansion ? makes_coefficients(v, room) : makes_weights(v, room, room + h->columns));
    mg_free(heap, room);
    if (!sound)
        v->fit->verified.contradiction = "its coefficients are not what updates of its rows make";
    return MARGIN_OK;
}

margin_status mg_perceptron_verify(mg_fit *fit, const mg_hypothesis *hypothesis) {
    const mg_perceptron_options options = mg_perceptron_options_of(fit->options);
    verification v = {.fit = fit,
                      .problem = fit->problem,
                      .h = hypothesis,
                      .least = (double)INFINITY,
                      .constant = options.constant};
    if (v.problem->unchecked)
        MG_TRY(mg_problem_check_finite(fit->context, v.problem, false, fit->error));
    v.radius_square = v.constant;
    for (int64_t f = 0; v.constant == 0.0 && f < hypothesis->functions; f++)
        if (intercept_of(hypothesis, f) != 0.0)
            fit->verified.contradiction = "it has an intercept, and its spec says intercept=no";
    if (hypothesis->kind == &mg_hypothesis_expansion) MG_TRY(mg_kernel_sums_skew(fit, hypothesis));
    for (int64_t i = 0; i < v.problem->count; i++) {
        if (mg_cancelled(fit->context)) return mg_fail_cancelled(fit->error);
        add_sample(&v, i);
    }
    margin_report *report = &fit->report;
    mg_report_formula(report, mg_perceptron_formula(fit->problem, &options));
    report->objective = (double)v.criterion;
    report->gap = mg_perceptron_gap(report->objective, v.errors == v.problem->count);
    report->tolerance = 0.0;
    report->status = v.errors == v.near_wrong ? MARGIN_OK : MARGIN_STOPPED_STALLED;
    const double radius = sqrt(v.radius_square);
    mg_report_claim(report, &fit->verified, "radius", radius,
                    radius > 0.0 ? v.square_blur / radius : 0.0);
    MG_TRY(claim_margin(&v, radius));
    claim_errors(&v);
    mg_report_claim(report, &fit->verified, "least_margin", v.least, v.most_blur);
    fit->verified.objective = fit->verified.gap = v.blur;
    MG_TRY(check_dual(&v));
    double norm, blur;
    MG_TRY(find_norm(fit, hypothesis, &norm, &blur));
    if (!isnan(
            margin_report_item_value(fit->claimed, "norm"))) /* of older models it is not known */
        mg_report_claim(report, &fit->verified, "norm", norm, blur);
    if (hypothesis->functions > 1) {
        fit->verified.claimed = "what is claimed of its weights is their errors, least margin and "
                                "norm, which others may have, too";
        return MARGIN_OK;
    }
    mg_report_claim(report, &fit->verified, "least_geometric_margin",
                    norm > 0.0 ? v.least / norm : (double)NAN,
                    norm > blur  ? (v.most_blur + fabs(v.least) * (blur / norm)) / norm
                    : blur > 0.0 ? (double)INFINITY
                                 : 0.0);
    return MARGIN_OK;
}
