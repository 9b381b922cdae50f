/* Cholesky factors of matrices that rounding may have made indefinite. */
#include "math/products/ridge_factor.h"

static const double growth = 1e4, most = 1e6;

margin_status mg_ridge_factor(margin_context *context, int64_t n, double *a, const double *diagonal,
                              double ridge, margin_error *error) {
    int64_t failed = 1;
    for (; failed != 0; ridge *= growth) {
        for (int64_t i = 0; i < n; i++) {
            for (int64_t j = 0; j < i; j++)
                a[i * n + j] = a[j * n + i];
            a[i * n + i] = diagonal[i] * (1.0 + ridge);
        }
        MG_TRY(mg_cholesky_factor(context, n, a, n, &failed, error));
        MG_REQUIRE(failed == 0 || ridge < most, error, MG_DATA(OVERFLOW),
                   "the products of the columns are beyond double precision; bring the columns to "
                   "one scale first: standardize | ...");
    }
    return MARGIN_OK;
}
