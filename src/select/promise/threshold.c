/* The threshold at which a metric of classes is best on rows that the fits did not see. */
#include "base/sort.h"
#include "model/measure/outcome.h"
#include "select/promise/cross_fit.h"

#include <math.h>

enum { CANDIDATES = 200 };

/* Probability of the second class of each sample, as the model will say it; *ranked: mg_ascending.
 */
static margin_status find_probabilities(const margin_context *context, const margin_model *model,
                                        const mg_crossed *c, double *p, double *ranked,
                                        double *scratch, margin_error *error) {
    const int64_t n = c->samples.count;
    double both[2];
    for (int64_t i = 0; i < n; i++) {
        mg_probabilities(model, c->scores + i * c->functions, both);
        if (isnan(both[1]))
            return mg_fail(error, MARGIN_ERROR_DATA,
                           "row %lld has no probability by the fit that did not see it; leave such "
                           "rows out",
                           (long long)mg_samples_row(&c->samples, i) + 1);
        p[i] = ranked[i] = both[1];
    }
    return mg_sort_items(context, ranked, n, sizeof *ranked, scratch, mg_ascending)
               ? MARGIN_OK
               : mg_fail_cancelled(error);
}

/* The k-th candidate: between neighbours in rank, so that no row lies on it. */
static double candidate(const double *ranked, int64_t n, int k) {
    const int64_t at = (int64_t)((double)k / CANDIDATES * (double)n);
    if (k == CANDIDATES) return 0.5;
    return at > 0 ? (ranked[at - 1] + ranked[at]) / 2 : ranked[0];
}

margin_status mg_choose_threshold(margin_context *context, margin_model *model, const mg_crossed *c,
                                  const char *name, margin_error *error) {
    const margin_metric *metric = margin_metric_find(name);
    const int64_t n = c->samples.count;
    double *numbers, *kept, value[MG_MEASURED], sums[6], most = 0;
    int64_t *labels;
    mg_outcome o = {.task = MARGIN_CLASSIFY,
                    .rows = n,
                    .classes = 2,
                    .weights = c->samples.weights,
                    .truth = c->codes};
    double best = 0.5;
    MG_SCOPED_ARENA(arena, context->heap);
    MG_ARENA_NEW(&arena, numbers, 3 * n, "the probabilities", error);
    MG_ARENA_NEW(&arena, labels, n, "the classes", error);
    double *p = numbers, *ranked = numbers + n;
    MG_TRY(find_probabilities(context, model, c, p, ranked, numbers + 2 * n, error));
    o.predicted = labels;
    for (int k = CANDIDATES; k >= 0; k--) { /* 0.5 first: ties stay with it */
        const double at = candidate(ranked, n, k);
        if (mg_cancelled(context)) return mg_fail_cancelled(error);
        if (!(at > 0)) continue;
        for (int64_t i = 0; i < n; i++)
            labels[i] = p[i] >= at;
        mg_measure_classes(&o, sums, value);
        const double worth = (metric->greater ? 1 : -1) * value[mg_metric_number(metric)];
        if (k < CANDIDATES && !(worth > most)) continue;
        most = worth;
        best = at;
    }
    MG_TRY(mg_add_numbers(model, "threshold", 1, 0, &kept, error));
    *kept = best;
    return MARGIN_OK;
}
