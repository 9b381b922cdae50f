#include "least_squares_cases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

regression regression_make(int64_t rows, int64_t columns, double offset, double noise,
                           uint64_t seed) {
    regression r = {rows, columns, malloc((size_t)(rows * columns) * sizeof(double)),
                    malloc((size_t)rows * sizeof(double))};
    for (int64_t i = 0; i < rows; i++) {
        r.y[i] = 2 + noise * support_normal(&seed);
        for (int64_t j = 0; j < columns; j++) {
            const double value = support_normal(&seed);
            r.x[i * columns + j] = value + offset;
            r.y[i] += (j % 2 ? -value : value) / (double)(j + 1);
        }
    }
    return r;
}

void regression_free(regression *r) {
    free(r->x);
    free(r->y);
}

margin_data regression_data(const regression *r) {
    return (margin_data){.x = margin_dense_f64(r->x, r->rows, r->columns, r->columns),
                         .y = margin_values_f64(r->y, r->rows)};
}

/* One Householder reflection after the other on rows x (columns + 1), then back substitution. */
static void solve_qr(long double *a, int64_t rows, int64_t columns, long double *w) {
    const int64_t width = columns + 1;
    for (int64_t k = 0; k < columns; k++) {
        long double square = 0;
        for (int64_t i = k; i < rows; i++)
            square += a[i * width + k] * a[i * width + k];
        const long double corner = a[k * width + k];
        const long double beta = corner > 0 ? -sqrtl(square) : sqrtl(square);
        if (square == 0) fail_msg("the oracle needs independent columns");
        a[k * width + k] = corner - beta;
        for (int64_t j = k + 1; j < width; j++) {
            long double sum = 0;
            for (int64_t i = k; i < rows; i++)
                sum += a[i * width + k] * a[i * width + j];
            sum /= beta * (corner - beta);
            for (int64_t i = k; i < rows; i++)
                a[i * width + j] += sum * a[i * width + k];
        }
        a[k * width + k] = beta;
    }
    for (int64_t k = columns - 1; k >= 0; k--) {
        w[k] = a[k * width + columns];
        for (int64_t j = k + 1; j < columns; j++)
            w[k] -= a[k * width + j] * w[j];
        w[k] /= a[k * width + k];
    }
}

static long double weight_of(const double *weights, int64_t i) {
    return weights ? (long double)weights[i] : 1.0L;
}

void oracle_solve(const regression *r, const double *weights, double alpha, bool intercept,
                  long double *w, long double *b) {
    const int64_t n = r->columns, width = n + 1, rows = r->rows + n;
    long double *a = calloc((size_t)(rows * width), sizeof *a), total = 0;
    long double *mean = calloc((size_t)width, sizeof *mean);
    for (int64_t i = 0; i < r->rows; i++) {
        total += weight_of(weights, i);
        for (int64_t j = 0; j < n; j++)
            mean[j] += weight_of(weights, i) * (long double)r->x[i * n + j];
        mean[n] += weight_of(weights, i) * (long double)r->y[i];
    }
    for (int64_t j = 0; j < width; j++)
        mean[j] = intercept ? mean[j] / total : 0;
    for (int64_t i = 0; i < r->rows; i++) {
        const long double root = sqrtl(weight_of(weights, i));
        for (int64_t j = 0; j < n; j++)
            a[i * width + j] = root * ((long double)r->x[i * n + j] - mean[j]);
        a[i * width + n] = root * ((long double)r->y[i] - mean[n]);
    }
    for (int64_t j = 0; j < n; j++)
        a[(r->rows + j) * width + j] = sqrtl((long double)alpha);
    solve_qr(a, rows, n, w);
    *b = mean[n];
    for (int64_t j = 0; j < n; j++)
        *b -= mean[j] * w[j];
    free(mean);
    free(a);
}

long double oracle_value(const regression *r, const double *weights, double alpha,
                         const long double *w, long double b) {
    long double sum = 0;
    for (int64_t i = 0; i < r->rows; i++) {
        long double f = b;
        for (int64_t j = 0; j < r->columns; j++)
            f += w[j] * (long double)r->x[i * r->columns + j];
        sum += weight_of(weights, i) * (f - (long double)r->y[i]) * (f - (long double)r->y[i]);
    }
    for (int64_t j = 0; j < r->columns; j++)
        sum += (long double)alpha * w[j] * w[j];
    return sum;
}

void assert_solution(const margin_model *model, const regression *r, const long double *w,
                     long double b, double tolerance) {
    const double *found = margin_model_weights(model, 0);
    long double whole = 1e-300L;
    for (int64_t j = 0; j < r->columns; j++) {
        long double square = 0;
        for (int64_t i = 0; i < r->rows; i++)
            square += (long double)r->x[i * r->columns + j] * (long double)r->x[i * r->columns + j];
        const long double length = sqrtl(square / (long double)r->rows);
        whole = fmaxl(whole, fabsl(w[j]) * length);
        whole = fmaxl(whole, fabsl((long double)found[j]) * length * 1e-6L);
    }
    for (int64_t j = 0; j < r->columns; j++) {
        long double square = 0;
        for (int64_t i = 0; i < r->rows; i++)
            square += (long double)r->x[i * r->columns + j] * (long double)r->x[i * r->columns + j];
        const long double length = sqrtl(square / (long double)r->rows);
        const double away = (double)(fabsl((long double)found[j] - w[j]) * length / whole);
        if (!(away <= tolerance))
            fail_msg("weight %d is %.17g and not %.17Lg: %g apart", (int)j, found[j], w[j], away);
    }
    const double away = (double)(fabsl((long double)margin_model_intercept(model, 0) - b) /
                                 fmaxl(fmaxl(fabsl(b), whole), 1e-3L));
    if (!(away <= tolerance))
        fail_msg("the intercept is %.17g and not %.17Lg", margin_model_intercept(model, 0), b);
}

margin_model *fit_proven(margin_context *context, const char *spec, const margin_data *data,
                         margin_report *report) {
    margin_report mine = {0}, found = {0};
    margin_error error = {0};
    if (!report) report = &mine;
    margin_model *model = fit_text(context, spec, data, report);
    if (report->status != MARGIN_OK) fail_msg("%s: %s", spec, report->reason);
    assert_true(report->gap <= report->tolerance);
    const margin_status status = margin_verify(context, model, data, &found, &error);
    if (status != MARGIN_OK) fail_msg("%s: %s", spec, status < 0 ? error.text : found.reason);
    return model;
}
