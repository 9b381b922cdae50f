/* Ridge without each fold in turn, under many penalties: eigenvectors of the products of each
 * fold's columns. Declines, for the caller to fit one by one, what it cannot do to about 1e-8. */
#include "linear/folds/fold_products.h"
#include "linear/folds/folds.h"

#include <string.h>

#define MOST_CONDITION 1e9 /* of eigenvalues */

static margin_status make_fit(const mg_fold_products *p, int64_t number, const mg_fold_system *s,
                              const mg_linear_options *options, const double *values,
                              const double *turned, double *w) {
    const int64_t n = p->columns;
    mg_fit *fit = &p->fits[number];
    memset(w, 0, (size_t)n * sizeof(double));
    for (int64_t l = 0; l < n; l++) {
        const double value = values[l] + options[number].penalty.alpha;
        const double step = value > 0.0 ? turned[l] / value : 0.0;
        for (int64_t j = 0; j < n; j++)
            w[j] += step * s->matrix[l * n + j];
    }
    fit->report.status = MARGIN_OK;
    fit->report.gap = (double)NAN;
    fit->report.tolerance = options[number].tolerance;
    return mg_linear_make(fit->context->heap, w, n, mg_fold_intercept(s, w, n), &fit->hypothesis,
                          NULL);
}

static margin_status ridge_fold(const mg_fold_products *p, int64_t f, mg_fold_system *s,
                                double *values, const mg_linear_options *options) {
    const int64_t n = p->columns, count = p->count;
    double *turned = values + n, lost = 1.0; /* how much larger the sums were */
    for (int64_t j = 0; j < n; j++)
        if (s->matrix[j * n + j] > 0.0)
            lost = fmax(lost, s->length[j] * s->length[j] / s->matrix[j * n + j]);
    MG_TRY(mg_fold_turn(p, s->matrix, s->slope, values, turned, NULL));
    for (int64_t k = f * count; k < (f + 1) * count; k++) {
        const double alpha = options[k].penalty.alpha;
        if (!(lost * (values[n - 1] + alpha) <= MOST_CONDITION * (values[s->constant] + alpha)))
            return MARGIN_ERROR_LIMIT;
        MG_TRY(make_fit(p, k, s, options, values, turned, turned + n));
    }
    return MARGIN_OK;
}

margin_status mg_ridge_folds(mg_fit *fits, int64_t count, const mg_linear_options *options) {
    MG_REQUIRE(options[0].intercept, fits[0].error, MARGIN_ERROR_LIMIT, "there is no intercept");
    const margin_status status = mg_ridge_left_out(fits, count, options);
    if (status != MARGIN_ERROR_LIMIT) return status;
    return mg_fold_products_solve(fits, count, 3, ridge_fold, options);
}
