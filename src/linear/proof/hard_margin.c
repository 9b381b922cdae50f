/* The strip between two classes that a hinge without a penalty keeps free.
 *
 * All y f > 0: the strip of the model is 2 min y f / |w| across. No strip is wider than the
 * distance of any two points of the hulls of the classes: with alpha >= 0 of the same sum A in both
 * (without an intercept: of any sums) that of sum alpha_i a_i / A over each, 2 |sum alpha_i y_i
 * a_i| / sum alpha_i (Bennett and Bredensteiner, "Duality and geometry in SVM classifiers", ICML
 * 2000). */
#include "linear/proof/hard_margin.h"

#include <math.h>
#include <string.h>

/* 0: not above what rounding of the greatest score could make. */
static double least_margin(const double *scores, const int8_t *sign, int64_t count) {
    static const double rounding = 1e-9;
    double least = (double)INFINITY, most = 0;
    for (int64_t i = 0; i < count; i++) {
        least = fmin(least, sign[i] * scores[i]);
        most = fmax(most, fabs(scores[i]));
    }
    return least > rounding * most ? least : 0;
}

/* r = alpha y, the class of the larger sum scaled down; returns the sum of alpha. */
static double balance(const mg_objective *objective, const double *alpha, double *r) {
    const mg_design *d = objective->design;
    const int8_t *sign = d->problem->sign;
    double sums[2] = {0, 0};
    for (int64_t i = 0; i < d->samples; i++)
        sums[sign[i] > 0] += alpha[i];
    const double least = fmin(sums[0], sums[1]);
    for (int64_t i = 0; i < d->samples; i++) {
        const double own = sums[sign[i] > 0];
        r[i] = sign[i] * alpha[i];
        if (objective->intercept && own > 0) r[i] *= least / own;
    }
    return objective->intercept ? 2 * least : sums[0] + sums[1];
}

margin_status mg_describe_strip(const mg_objective *objective, const mg_linear_solution *solution,
                                margin_report *report, margin_error *error) {
    mg_design *d = objective->design;
    const mg_vector_ops *vectors = mg_vector_ops_for(d->isa);
    double *r, *v;
    margin_status status;
    if (!mg_has_strip(objective) || !solution->alpha) return MARGIN_OK;
    MG_NEW(d->heap, r, d->samples + d->columns, "the width of the margin", error);
    v = r + d->samples;
    MG_GO(mg_design_scores(d, solution->w, *solution->b, r, error));
    const double least = least_margin(r, d->problem->sign, d->samples);
    const double norm = sqrt(vectors->square(solution->w, d->columns));
    if (least > 0 && norm > 0) {
        const double sum = balance(objective, solution->alpha, r);
        MG_GO(mg_design_gradient(d, r, v, NULL, error));
        const double apart = sqrt(vectors->square(v, d->columns));
        mg_report_set(report, "width", 2 * least / norm);
        mg_report_set(report, "width_bound", sum > 0 ? 2 * apart / sum : (double)NAN);
    }
done:
    mg_free(d->heap, r);
    return status;
}
