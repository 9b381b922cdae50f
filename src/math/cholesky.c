/* Cholesky factors. */
#include "math/cholesky.h"

#include "math/row_ops.h"

#include <math.h>
#include <string.h>

margin_status mg_cholesky_factor(margin_context *context, int64_t n, double *a, int64_t lda,
                                 int64_t *failed, margin_error *error) {
    const mg_vector_ops *ops = mg_vector_ops_for(mg_isa_level());
    *failed = 0;
    for (int64_t i = 0; i < n; i++) {
        double *row = a + i * lda;
        if (mg_cancelled(context)) return mg_fail_cancelled(error);
        for (int64_t j = 0; j < i; j++)
            row[j] = (row[j] - ops->dot(row, a + j * lda, j)) / a[j * lda + j];
        const double pivot = row[i] - ops->square(row, i);
        if (!(pivot > 0.0 && isfinite(pivot))) {
            *failed = i + 1;
            return MARGIN_OK;
        }
        row[i] = sqrt(pivot);
    }
    return MARGIN_OK;
}

void mg_cholesky_solve_lower(mg_isa isa, int64_t n, const double *l, int64_t ld, double *x) {
    const mg_vector_ops *ops = mg_vector_ops_for(isa);
    for (int64_t i = 0; i < n; i++)
        x[i] = (x[i] - ops->dot(l + i * ld, x, i)) / l[i * ld + i];
}

void mg_cholesky_solve_upper(mg_isa isa, int64_t n, const double *l, int64_t ld, double *x) {
    const mg_vector_ops *ops = mg_vector_ops_for(isa);
    for (int64_t i = n - 1; i >= 0; i--) {
        x[i] /= l[i * ld + i];
        ops->add(x, -x[i], l + i * ld, i);
    }
}

void mg_cholesky_solve(mg_isa isa, int64_t n, const double *l, int64_t ld, double *x) {
    mg_cholesky_solve_lower(isa, n, l, ld, x);
    mg_cholesky_solve_upper(isa, n, l, ld, x);
}

/* ---- Condition ------------------------------------------------------------------------------- */

static double sum_absolute(const double *x, int64_t n) {
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++)
        sum += fabs(x[i]);
    return sum;
}

/* Higham's estimate of |A^-1|_1: a maximisation of |A^-1 x|_1 over the corners of the unit ball
 * that goes from corner to corner, and a vector of alternating signs against unlucky matrices. */
static double inverse_norm(mg_isa isa, int64_t n, const double *l, int64_t ld, double *x,
                           double *sign) {
    enum { STEPS = 5 };
    double best = 0.0;
    int64_t corner = -1;
    for (int64_t i = 0; i < n; i++)
        x[i] = 1.0 / (double)n;
    for (int step = 0; step < STEPS; step++) {
        mg_cholesky_solve(isa, n, l, ld, x);
        const double norm = sum_absolute(x, n);
        if (step > 0 && norm <= best) break;
        best = norm;
        for (int64_t i = 0; i < n; i++)
            sign[i] = x[i] >= 0 ? 1.0 : -1.0;
        mg_cholesky_solve(isa, n, l, ld, sign);
        int64_t next = 0;
        for (int64_t i = 1; i < n; i++)
            if (fabs(sign[i]) > fabs(sign[next])) next = i;
        if (next == corner) break;
        corner = next;
        memset(x, 0, (size_t)n * sizeof *x);
        x[corner] = 1.0;
    }
    for (int64_t i = 0; i < n; i++)
        x[i] = (i & 1 ? -1.0 : 1.0) * (1.0 + (n > 1 ? (double)i / (double)(n - 1) : 0.0));
    mg_cholesky_solve(isa, n, l, ld, x);
    return fmax(best, 2.0 * sum_absolute(x, n) / (3.0 * (double)n));
}

double mg_cholesky_condition(mg_isa isa, int64_t n, const double *l, int64_t ld, double norm,
                             double *work) {
    if (n == 0) return 1.0;
    const double inverse = inverse_norm(isa, n, l, ld, work, work + n);
    const double product = norm * inverse;
    return product > 0.0 && isfinite(product) ? 1.0 / product : 0.0;
}
