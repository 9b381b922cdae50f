#include "svm_oracle.h"

#include <math.h>
#include <stdlib.h>

double oracle_value(oracle_kernel kind, double gamma, double coef0, int degree, const double *x,
                    const double *z, int64_t columns) {
    double dot = 0.0, square = 0.0, absolute = 0.0;
    for (int64_t j = 0; j < columns; j++) {
        dot += x[j] * z[j];
        square += (x[j] - z[j]) * (x[j] - z[j]);
        absolute += fabs(x[j] - z[j]);
    }
    switch (kind) {
    case ORACLE_POLY:
        return pow(gamma * dot + coef0, degree);
    case ORACLE_RBF:
        return exp(-gamma * square);
    case ORACLE_EXP:
        return exp(dot);
    case ORACLE_SIGMOID:
        return tanh(gamma * dot + coef0);
    case ORACLE_LAPLACIAN:
        break;
    }
    return exp(-gamma * absolute);
}

static double right_slope(const svm_oracle *o, const double *f, int64_t i) {
    if (o->beta[i] >= o->high[i]) return (double)INFINITY;
    return f[i] + (o->beta[i] >= 0.0 ? o->epsilon : -o->epsilon);
}

static double left_slope(const svm_oracle *o, const double *f, int64_t i) {
    if (o->beta[i] <= o->low[i]) return -(double)INFINITY;
    return f[i] + (o->beta[i] > 0.0 ? o->epsilon : -o->epsilon);
}

static void move(svm_oracle *o, double *f, int64_t i, double step) {
    o->beta[i] += step;
    for (int64_t k = 0; k < o->rows; k++)
        f[k] += step * o->gram[i * o->rows + k];
}

/* One step; the violation before it. */
static double step_once(svm_oracle *o, double *f) {
    int64_t i = 0, j = 0;
    for (int64_t k = 1; k < o->rows; k++) {
        if (right_slope(o, f, k) < right_slope(o, f, i)) i = k;
        if (left_slope(o, f, k) > left_slope(o, f, j)) j = k;
    }
    const double violation = left_slope(o, f, j) - right_slope(o, f, i);
    if (!(violation > 1e-11)) return 0.0;
    const int64_t n = o->rows;
    const double bend = o->gram[i * n + i] + o->gram[j * n + j] - 2.0 * o->gram[i * n + j];
    const double end_i = o->beta[i] < 0.0 ? fmin(0.0, o->high[i]) : o->high[i];
    const double end_j = o->beta[j] > 0.0 ? fmax(0.0, o->low[j]) : o->low[j];
    const double most = fmin(end_i - o->beta[i], o->beta[j] - end_j);
    const double step = fmin(bend > 1e-12 ? violation / bend : most, most);
    move(o, f, i, step);
    move(o, f, j, -step);
    if (step == most && end_i - o->beta[i] < 1e-15 * (1 + fabs(end_i))) o->beta[i] = end_i;
    if (step == most && o->beta[j] - end_j < 1e-15 * (1 + fabs(end_j))) o->beta[j] = end_j;
    return violation;
}

void svm_oracle_solve(svm_oracle *o) {
    double *f = malloc((size_t)o->rows * sizeof *f), energy = 0.0, linear = 0.0, loss = 0.0;
    double up = (double)INFINITY, lowest = -(double)INFINITY, sum = 0.0;
    for (int64_t k = 0; k < o->rows; k++) {
        f[k] = -o->target[k];
        for (int64_t i = 0; i < o->rows; i++)
            f[k] += o->beta[i] * o->gram[i * o->rows + k];
    }
    for (long step = 0; step < 400000 && step_once(o, f) > 0.0; step++)
        ;
    for (int64_t k = 0; k < o->rows; k++) {
        up = fmin(up, right_slope(o, f, k));
        lowest = fmax(lowest, left_slope(o, f, k));
    }
    o->intercept = isfinite(up) && isfinite(lowest) ? -(up + lowest) / 2
                   : isfinite(up)                   ? -up
                                                    : -lowest;
    for (int64_t k = 0; k < o->rows; k++) {
        const double r = f[k] + o->intercept, beta = o->beta[k];
        energy += beta * (f[k] + o->target[k]);
        linear += o->target[k] * beta - o->epsilon * fabs(beta);
        loss += o->high[k] * fmax(-r - o->epsilon, 0.0) - o->low[k] * fmax(r - o->epsilon, 0.0);
        sum += beta;
    }
    o->primal = energy / 2 + sum * o->intercept + loss;
    o->dual = linear - energy / 2;
    free(f);
}
