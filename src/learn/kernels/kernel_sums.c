/* Sums over pairs of rows once more, for verification. */
#include "learn/kernels/kernel_sums.h"

#include "math/rows/row_pair.h"

#include <math.h>

double mg_kernel_terms(const mg_kernel *kernel, double value, double x, double z) {
    const double size = fabs(kernel->gamma) * x * z;
    switch (kernel->kind) {
    case MG_KERNEL_POLY:
        return kernel->degree * mg_power(size + fabs(kernel->coef0), kernel->degree);
    case MG_KERNEL_RBF:
        return value * (1.0 + kernel->gamma * (x * x + z * z));
    case MG_KERNEL_EXP:
        return value * (1.0 + x * z);
    case MG_KERNEL_SIGMOID: /* by its slope, which so little of its argument changes by a quarter */
        return 1.0 + size * (MG_ROUNDING * size < 0.1 ? 1.25 * (1.0 - value * value) : 1.0);
    case MG_KERNEL_LAPLACIAN:
        return value + 1.0;
    case MG_KERNEL_FUNCTION:
    case MG_KERNEL_PRECOMPUTED:
        return fabs(value);
    case MG_KERNEL_LINEAR:
        break;
    }
    return x * z;
}

static double norm_of(const margin_matrix *x, int64_t row) {
    const mg_kernel linear = {.kind = MG_KERNEL_LINEAR};
    return sqrt(mg_kernel_rows(NULL, &linear, x, row, x, row));
}

void mg_kernel_sums_match(mg_fit *fit, const mg_hypothesis *h, int64_t *entries, bool *matches) {
    const mg_problem *p = fit->problem;
    int64_t at = h->view.expansion.starts[0];
    const int64_t end = h->view.expansion.starts[1];
    const bool none = at == end;
    bool same = true;
    for (int64_t row = 0; row < p->x.rows; row++)
        entries[row] = -1;
    for (int64_t i = 0; i < p->count && !none; i++)
        entries[mg_sample_row(p, i)] = 0;
    for (int64_t row = 0; row < p->x.rows && same; row++) {
        if (entries[row] < 0) continue;
        same = at < end && mg_alike_rows(&h->view.expansion.support, h->view.expansion.entries[at],
                                         &p->x, row, p->made);
        entries[row] = at++;
    }
    *matches = same && (none || at == end);
    if (!*matches) fit->verified.contradiction = "its support rows are not those of the data";
}

double mg_kernel_sums_score(const mg_fit *fit, const mg_hypothesis *h, const margin_matrix *x,
                            int64_t row, double *blur) {
    const mg_kernel *kernel = &h->view.expansion.kernel;
    const margin_matrix *support = &h->view.expansion.support;
    const double norm = blur ? norm_of(x, row) : 0.0;
    long double sum = 0.0L;
    if (blur) *blur = 0.0;
    for (int64_t k = h->view.expansion.starts[0]; k < h->view.expansion.starts[1]; k++) {
        const int64_t s = h->view.expansion.entries[k];
        const double a = h->view.expansion.coefficients[k];
        const double value = mg_kernel_rows(fit->context, kernel, support, s, x, row);
        sum += (long double)a * (long double)value;
        if (!blur) continue;
        const bool exact =
            kernel->kind == MG_KERNEL_RBF && value == 1.0 && mg_same_rows(support, s, x, row);
        const double terms =
            exact ? value
                  : mg_kernel_terms(kernel, value, norm, sqrt(h->view.expansion.squares[s]));
        *blur += MG_ROUNDING * fabs(a) * terms;
    }
    return (double)sum;
}

double mg_kernel_sums_square(const mg_fit *fit, const mg_hypothesis *h, const margin_matrix *x,
                             int64_t row, double *blur) {
    const mg_kernel *kernel = &h->view.expansion.kernel;
    const double value = mg_kernel_rows(fit->context, kernel, x, row, x, row);
    *blur = MG_ROUNDING * mg_kernel_terms(kernel, value, norm_of(x, row), norm_of(x, row));
    return value;
}

margin_status mg_kernel_sums_norm(const mg_fit *fit, const mg_hypothesis *h, long double *norm,
                                  double *blur) {
    *norm = 0.0L;
    *blur = 0.0;
    for (int64_t k = h->view.expansion.starts[0]; k < h->view.expansion.starts[1]; k++) {
        double of_score;
        if (mg_cancelled(fit->context)) return mg_fail_cancelled(fit->error);
        const double f = mg_kernel_sums_score(fit, h, &h->view.expansion.support,
                                              h->view.expansion.entries[k], &of_score);
        *norm += (long double)h->view.expansion.coefficients[k] * (long double)f;
        *blur += fabs(h->view.expansion.coefficients[k]) * of_score;
    }
    return MARGIN_OK;
}

margin_status mg_kernel_sums_distance(const mg_fit *fit, const mg_hypothesis *h, const double *u,
                                      const double *f, long double norm, double *distance,
                                      double *blur) {
    const mg_problem *p = fit->problem;
    const mg_kernel *kernel = &h->view.expansion.kernel;
    long double cross = 0.0L, square = 0.0L, sizes = 0.0L;
    for (int64_t i = 0; i < p->count; i++) {
        long double sum = 0.0L, terms = 0.0L;
        if (mg_cancelled(fit->context)) return mg_fail_cancelled(fit->error);
        for (int64_t j = 0; j < p->count; j++) {
            const long double term =
                (long double)u[j] * (long double)mg_kernel_rows(fit->context, kernel, &p->x,
                                                                mg_sample_row(p, j), &p->x,
                                                                mg_sample_row(p, i));
            sum += term;
            terms += fabsl(term);
        }
        square += (long double)u[i] * sum;
        sizes += fabsl((long double)u[i]) * terms;
        cross += (long double)u[i] * (long double)f[i];
    }
    *distance = (double)fmaxl(norm - 2.0L * cross + square, 0.0L);
    *blur = MG_ROUNDING * (double)sizes;
    return MARGIN_OK;
}

margin_status mg_kernel_sums_definite(const mg_fit *fit, const mg_hypothesis *h, bool *definite) {
    const mg_kernel_points points = mg_kernel_points_of(fit->problem);
    mg_kernel_curvature found;
    MG_TRY(mg_kernel_decide(fit->context, &h->view.expansion.kernel, &points, &found, fit->error));
    *definite = found == MG_KERNEL_DEFINITE;
    return MARGIN_OK;
}
