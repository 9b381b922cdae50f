/* What a naive Bayes model minimises, from its statistics alone, and what a report says of it:
 *
 *   - sum_i log P(c_i, x_i) - smoothing sum log P + epsilon / 2 sum_i sum_j 1 / var_jc(i)
 *
 * The second sum is over classes and levels: the prior that Laplace's estimate stands for; the
 * third, over gaussian columns, is what var_smoothing adds to variances. Each group of parameters
 * minimises its own part in closed form, so the model is the minimum. */
#include "bayes/learner/bayes.h"

#include <stdio.h>

/* -(count + lambda) log p, where nothing times infinity is nothing. */
static double cost(double count, double lambda, double log_p) {
    const double times = count + lambda;
    return times > 0 ? -times * log_p : 0;
}

static double prior_cost(const mg_bayes_view *v) {
    double sum = 0;
    for (int64_t k = 0; k < v->layout.classes; k++)
        sum += cost(v->counts[k], v->settings.priors ? 0 : v->settings.prior_smoothing,
                    v->log_prior[k]);
    return sum;
}

static double gaussian_cost(const mg_bayes_view *v, int64_t g, int64_t k) {
    const mg_bayes_layout *layout = &v->layout;
    const int64_t at = k * layout->gaussians + g;
    const double *m = v->statistics + k * layout->slots + layout->first[layout->gaussian[g]];
    const double slope = v->slope[at];
    if (!(m[MG_BAYES_WEIGHT] > 0) || !(slope > 0)) return 0;
    return -m[MG_BAYES_WEIGHT] * v->level[at] +
           (m[MG_BAYES_SQUARES] + m[MG_BAYES_WEIGHT] * v->epsilon) * slope * slope;
}

static double table_cost(const mg_bayes_view *v, int64_t j, int64_t k) {
    const mg_bayes_layout *layout = &v->layout;
    const double *slots = v->statistics + k * layout->slots + layout->first[j];
    const double *log_p = v->tables + v->table_row[j] * layout->classes + k;
    double sum = 0;
    for (int64_t level = 0; level < layout->levels[j]; level++)
        sum += cost(slots[level], v->settings.smoothing, log_p[level * layout->classes]);
    return sum;
}

static double linear_cost(const mg_bayes_view *v, int64_t n, int64_t k) {
    const mg_bayes_layout *layout = &v->layout;
    const int64_t j = layout->linear[n], at = n * layout->classes + k;
    const double *slots = v->statistics + k * layout->slots + layout->first[j];
    const double lambda = v->settings.smoothing;
    if (layout->kinds[j] == MG_BAYES_MULTINOMIAL) return cost(slots[0], lambda, v->linear_on[at]);
    return cost(slots[MG_BAYES_ONES], lambda, v->linear_one[at]) +
           cost(MG_MAX(slots[MG_BAYES_SEEN] - slots[MG_BAYES_ONES], 0.0), lambda,
                v->linear_off[at]);
}

/* Minus the logarithm of the joint likelihood of the training data and of the prior that smoothing
 * stands for, from the statistics alone. */
static double bayes_objective(const mg_bayes_view *v) {
    long double sum = (long double)prior_cost(v); /* of as many terms as there are columns */
    for (int64_t k = 0; k < v->layout.classes; k++) {
        for (int64_t g = 0; g < v->layout.gaussians; g++)
            sum += (long double)gaussian_cost(v, g, k);
        for (int64_t t = 0; t < v->layout.tables; t++)
            sum += (long double)table_cost(v, v->layout.table[t], k);
        for (int64_t n = 0; n < v->layout.linears; n++)
            sum += (long double)linear_cost(v, n, k);
    }
    return (double)sum;
}

/* ---- Report ---------------------------------------------------------------------------------- */

/* Pairs of a class and a level (or count) that training never saw together. */
static int64_t count_zeros(const mg_bayes_view *v) {
    const mg_bayes_layout *layout = &v->layout;
    int64_t zeros = 0;
    for (int64_t k = 0; k < layout->classes; k++) {
        const double *slots = v->statistics + k * layout->slots;
        for (int64_t t = 0; t < layout->tables; t++)
            for (int64_t level = 0; level < layout->levels[layout->table[t]]; level++)
                zeros += slots[layout->first[layout->table[t]] + level] == 0;
        for (int64_t n = 0; n < layout->linears; n++) {
            const int64_t j = layout->linear[n];
            const double *own = slots + layout->first[j];
            if (layout->kinds[j] == MG_BAYES_MULTINOMIAL)
                zeros += own[0] == 0;
            else
                zeros += (own[MG_BAYES_ONES] == 0) + (own[MG_BAYES_SEEN] <= own[MG_BAYES_ONES]);
        }
    }
    return zeros;
}

static int64_t count_constants(const mg_bayes_view *v) {
    int64_t constants = 0;
    for (int64_t g = 0; g < v->layout.gaussians; g++)
        constants += !(v->slope[g] > 0);
    return constants;
}

void mg_bayes_describe(const mg_bayes_view *v, double missing, margin_report *report) {
    const int64_t zeros = count_zeros(v), constants = count_constants(v);
    char rule[160];
    snprintf(rule, sizeof rule, "P(c|x) ~ P(c) prod_j P(x_j|c), counted with smoothing %s",
             mg_number(v->settings.smoothing).text);
    mg_report_formula(report, rule);
    snprintf(report->iteration_name, sizeof report->iteration_name, "passes");
    report->status = MARGIN_OK;
    report->objective = bayes_objective(v);
    report->gap = report->tolerance = 0;
    report->iterations = 1;
    if (zeros > 0 && v->settings.smoothing == 0)
        mg_report_reason(report,
                         "counted in one pass; smoothing=0 gives probability 0 to %lld pairs of a "
                         "class and a value that do not occur together: a row with one of them "
                         "excludes the class",
                         (long long)zeros);
    else if (constants > 0)
        mg_report_reason(report,
                         "counted in one pass; %lld constant column%s left out, for they tell no "
                         "class from another",
                         (long long)constants, constants == 1 ? " is" : "s are");
    else
        mg_report_reason(report, "counted in one pass; the counts determine the optimum");
    mg_report_set(report, "zero_counts", (double)zeros);
    mg_report_set(report, "missing_values", missing);
    mg_report_set(report, "constant_columns", (double)constants);
}
