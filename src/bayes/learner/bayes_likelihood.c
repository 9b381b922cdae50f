/* The probabilities of a model as they stand in a textbook, from the stored counts. */
#include "base/sort.h"
#include "bayes/learner/bayes.h"
#include "bayes/learner/naive_bayes.h"

/* (count + lambda) / (total + choices lambda); where nothing was counted and nothing is added, all
 * choices are alike. */
static double bayes_likelihood_share(double lambda, double count, double total, double choices) {
    const double below = total + choices * lambda;
    return below > 0 ? (count + lambda) / below : 1 / choices;
}

double mg_bayes_prior(const mg_hypothesis *h, int64_t class_index, double *weight) {
    const mg_bayes_view *v = mg_bayes_view_of(h);
    double total = 0;
    if (weight) *weight = v->counts[class_index];
    if (v->settings.priors) return v->settings.priors[class_index];
    for (int64_t k = 0; k < v->layout.classes; k++)
        total += v->counts[k];
    return bayes_likelihood_share(v->settings.prior_smoothing, v->counts[class_index], total,
                                  (double)v->layout.classes);
}

static void fill_levels(const mg_bayes_view *v, int64_t j, const double *slots,
                        margin_likelihood *out, int64_t capacity, double *probabilities) {
    const mg_bayes_layout *layout = &v->layout;
    const int64_t levels = layout->levels[j];
    out->distribution = MARGIN_DISTRIBUTION_CATEGORICAL;
    out->levels = levels;
    out->counts = slots;
    if (layout->kinds[j] == MG_BAYES_VALUES) out->values = layout->values + layout->first_value[j];
    for (int64_t level = 0; level < levels; level++)
        out->total += slots[level];
    for (int64_t level = 0; level < MG_MIN(levels, capacity); level++)
        probabilities[level] =
            bayes_likelihood_share(v->settings.smoothing, slots[level], out->total, (double)levels);
}

/* Whether a gaussian column, found in their ascending list, is left out. */
static bool is_constant(const mg_bayes_view *v, int64_t j) {
    const mg_bayes_layout *layout = &v->layout;
    int64_t at;
    MG_BISECT(at, 0, layout->gaussians, layout->gaussian[at] < j);
    return !(v->slope[at] > 0);
}

static void fill_gaussian(const mg_bayes_view *v, int64_t j, const double *slots,
                          margin_likelihood *out) {
    double pooled[MG_BAYES_MOMENTS];
    out->distribution = MARGIN_DISTRIBUTION_GAUSSIAN;
    out->total = slots[MG_BAYES_WEIGHT];
    if (!(out->total > 0)) { /* no value in this class: as over all */
        mg_bayes_pool(&v->layout, v->statistics, j, pooled);
        slots = pooled;
    }
    out->mean = slots[MG_BAYES_MEAN];
    out->deviation = 0;
    if (!is_constant(v, j))
        out->deviation = sqrt(slots[MG_BAYES_SQUARES] / slots[MG_BAYES_WEIGHT] + v->epsilon);
}

void mg_bayes_likelihood(const mg_hypothesis *h, int64_t class_index, int64_t j,
                         margin_likelihood *likelihood, int64_t capacity, double *probabilities) {
    const mg_bayes_view *v = mg_bayes_view_of(h);
    const mg_bayes_layout *layout = &v->layout;
    const double *slots = v->statistics + class_index * layout->slots + layout->first[j];
    const double none = (double)NAN;
    margin_likelihood out = {.count = none, .p = none, .mean = none, .deviation = none};
    switch (layout->kinds[j]) {
    case MG_BAYES_GAUSSIAN:
        fill_gaussian(v, j, slots, &out);
        break;
    case MG_BAYES_BERNOULLI:
        out.distribution = MARGIN_DISTRIBUTION_BERNOULLI;
        out.total = slots[MG_BAYES_SEEN];
        out.count = slots[MG_BAYES_ONES];
        out.p = bayes_likelihood_share(v->settings.smoothing, out.count, out.total, 2);
        break;
    case MG_BAYES_MULTINOMIAL:
        out.distribution = MARGIN_DISTRIBUTION_MULTINOMIAL;
        out.total = v->words[class_index];
        out.count = slots[0];
        out.p = bayes_likelihood_share(v->settings.smoothing, out.count, out.total,
                                       (double)v->word_columns);
        break;
    default:
        fill_levels(v, j, slots, &out, capacity, probabilities);
    }
    *likelihood = out;
}
