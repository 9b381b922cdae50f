#include "classes_cases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64, CLASSES = 16 };

static void scores_at(const classes_oracle *o, int64_t i, const double *w, const double *b,
                      double *f) {
    for (int64_t k = 0; k < o->classes; k++) {
        f[k] = b[k];
        for (int64_t j = 0; j < o->columns; j++)
            f[k] += w[k * o->columns + j] * o->x[i * o->columns + j];
    }
}

static double loss_at(const classes_oracle *o, const double *f, int64_t own) {
    double most = f[own], sum = 0;
    for (int64_t k = 0; k < o->classes; k++)
        most = fmax(most, f[k] + (o->hinge && k != own));
    if (o->hinge) return most - f[own];
    for (int64_t k = 0; k < o->classes; k++)
        sum += exp(f[k] - most);
    return log(sum) + most - f[own];
}

double oracle_value(const classes_oracle *o, const double *w, const double *b) {
    double value = 0, *f = calloc((size_t)o->classes, sizeof *f);
    for (int64_t i = 0; i < o->rows; i++) {
        scores_at(o, i, w, b, f);
        value +=
            o->factor * (o->weights ? o->weights[i] : 1) * loss_at(o, f, (int64_t)o->labels[i]);
    }
    for (int64_t j = 0; j < o->classes * o->columns; j++)
        value += o->rho / 2 * w[j] * w[j];
    free(f);
    return value;
}

double oracle_of_model(const classes_oracle *o, const margin_model *model) {
    double *w = calloc((size_t)(o->classes * (o->columns + 1)), sizeof *w);
    double *b = w + o->classes * o->columns;
    for (int64_t k = 0; k < o->classes; k++) {
        memcpy(w + k * o->columns, margin_model_weights(model, k), (size_t)o->columns * sizeof *w);
        b[k] = margin_model_intercept(model, k);
    }
    const double value = oracle_value(o, w, b);
    free(w);
    return value;
}

/* x = m^-1 x, with pivots. */
static void eliminate(double *m, int n, double *x) {
    for (int i = 0; i < n; i++) {
        int best = i;
        for (int r = i + 1; r < n; r++)
            if (fabs(m[r * n + i]) > fabs(m[best * n + i])) best = r;
        for (int c = 0; c < n; c++) {
            const double t = m[i * n + c];
            m[i * n + c] = m[best * n + c];
            m[best * n + c] = t;
        }
        const double t = x[i];
        x[i] = x[best];
        x[best] = t;
        for (int r = i + 1; r < n; r++) {
            const double share = m[r * n + i] / m[i * n + i];
            for (int c = i; c < n; c++)
                m[r * n + c] -= share * m[i * n + c];
            x[r] -= share * x[i];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int c = i + 1; c < n; c++)
            x[i] -= m[i * n + c] * x[c];
        x[i] /= m[i * n + i];
    }
}

/* Gradient and Hessian; what has no penalty gets a little curvature, as all classes may move
 * together. */
static void derivatives(const classes_oracle *o, const double *w, const double *b, double *g,
                        double *h) {
    const int p = (int)o->columns, size = p + 1, n = size * (int)o->classes;
    double q[CLASSES];
    memset(g, 0, (size_t)n * sizeof *g);
    memset(h, 0, (size_t)(n * n) * sizeof *h);
    for (int64_t i = 0; i < o->rows; i++) {
        const double c = o->factor * (o->weights ? o->weights[i] : 1);
        double most = -INFINITY, sum = 0, row[MOST];
        memcpy(row, o->x + i * p, (size_t)p * sizeof *row);
        row[p] = o->intercept;
        scores_at(o, i, w, b, q);
        for (int k = 0; k < o->classes; k++)
            most = fmax(most, q[k]);
        for (int k = 0; k < o->classes; k++)
            sum += q[k] = exp(q[k] - most);
        for (int k = 0; k < o->classes; k++)
            q[k] /= sum;
        for (int k = 0; k < o->classes; k++)
            for (int r = 0; r < size; r++) {
                g[k * size + r] += c * (q[k] - (k == (int)o->labels[i])) * row[r];
                for (int l = 0; l < o->classes; l++)
                    for (int s = 0; s < size; s++)
                        h[(k * size + r) * n + l * size + s] +=
                            c * q[k] * ((k == l) - q[l]) * row[r] * row[s];
            }
    }
    for (int k = 0; k < o->classes; k++)
        for (int r = 0; r < size; r++) {
            if (r < p) g[k * size + r] += o->rho * w[k * p + r];
            h[(k * size + r) * (n + 1)] += r < p ? fmax(o->rho, 1e-7) : o->intercept ? 1e-7 : 1;
        }
}

double oracle_least(const classes_oracle *o, double *w_out, double *b_out) {
    const int p = (int)o->columns, size = p + 1, n = size * (int)o->classes;
    double w[MOST] = {0}, b[CLASSES] = {0}, w2[MOST], b2[CLASSES], g[MOST];
    double *h = calloc((size_t)(n * n), sizeof *h);
    assert_true(n <= MOST && o->classes <= CLASSES);
    double value = oracle_value(o, w, b);
    for (int step = 0; step < 60; step++) {
        derivatives(o, w, b, g, h);
        eliminate(h, n, g);
        double t = 1, next = 0;
        for (int cut = 0; cut < 40; cut++, t /= 2) {
            for (int k = 0; k < o->classes; k++) {
                for (int j = 0; j < p; j++)
                    w2[k * p + j] = w[k * p + j] - t * g[k * size + j];
                b2[k] = b[k] - (o->intercept ? t * g[k * size + p] : 0);
            }
            next = oracle_value(o, w2, b2);
            if (next <= value) break;
        }
        if (!(next < value)) break;
        value = next;
        memcpy(w, w2, sizeof w);
        memcpy(b, b2, sizeof b);
    }
    if (w_out) memcpy(w_out, w, (size_t)(o->classes * o->columns) * sizeof *w);
    if (b_out) memcpy(b_out, b, (size_t)o->classes * sizeof *b);
    free(h);
    return value;
}
