/* Equations by elimination. */
#include "linear/verify/elimination.h"

margin_status mg_eliminate(margin_context *context, double *m, int64_t n, double *x,
                           margin_error *error) {
    for (int64_t i = 0; i < n; i++) {
        if (mg_cancelled(context)) return mg_fail_cancelled(error);
        for (int64_t r = i + 1; r < n; r++) {
            const double share = m[r * n + i] / m[i * n + i];
            if (share == 0.0) continue;
            for (int64_t j = i; j < n; j++)
                m[r * n + j] -= share * m[i * n + j];
            x[r] -= share * x[i];
        }
    }
    for (int64_t i = n - 1; i >= 0; i--) {
        for (int64_t j = i + 1; j < n; j++)
            x[i] -= m[i * n + j] * x[j];
        x[i] /= m[i * n + i];
    }
    return MARGIN_OK;
}
