/* Distances whose plain sums would leave the range of numbers. */
#include "neighbors/search/metric.h"

double mg_metric_scaled(const mg_metric *metric, const void *x, bool single, const double *q,
                        int64_t columns) {
    const double most = mg_metric_most(x, single, q, columns);
    if (!(most > 0) || !isfinite(most)) return most; /* NaN and infinity too */
    int exponent;
    frexp(most, &exponent);
    if (metric->kind == MG_METRIC_EUCLID) {
        exponent = MG_MAX(exponent, -1000); /* 2^1000 is a number, and enough */
        const double sum = mg_metric_sum(x, single, q, columns, true, ldexp(1, -exponent));
        return ldexp(sqrt(sum), exponent);
    }
    double sum = 0;
    for (int64_t j = 0; j < columns; j++)
        sum += pow(mg_metric_gap(x, single, q, j) / most, metric->p);
    return most * pow(sum, 1 / metric->p);
}
