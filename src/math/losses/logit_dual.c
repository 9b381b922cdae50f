/* The logistic loss seen from its dual variables, one or all at once. */
#include "math/losses/logit_dual.h"

#include "math/rows/vector_math.h"

#include <math.h>
#include <string.h>

enum { SPAN = MG_LOGIT_SPAN, LANES = MG_LOGIT_LANES };

/* ---- One ------------------------------------------------------------------------------------- */

/* c / (1 + e^-s), and its derivative in s. */
static double share(double c, double s, double *slope) {
    const double small = exp(-fabs(s)), whole = c / (1.0 + small);
    *slope = whole * small / (1.0 + small);
    return s >= 0.0 ? whole : whole * small;
}

double mg_logit_root(double c, double curvature, double alpha, double z, double s, double d,
                     double slope, double *found) {
    enum { MOST = 40 };
    double low = curvature * (alpha - c) - z, high = curvature * alpha - z;
    const double enough = 1e-2 * fabs(d);
    for (int k = 0; k < MOST && (k == 0 || fabs(d) > enough); k++) {
        if (d > 0.0)
            high = s;
        else
            low = s;
        s -= d / (1.0 + curvature * slope);
        if (!(s >= low && s <= high)) s = 0.5 * (low + high);
        *found = share(c, s, &slope);
        d = curvature * (*found - alpha) + z + s;
    }
    return s;
}

/* ---- Side by side ---------------------------------------------------------------------------- */

void mg_logit_losses(mg_isa isa, const double *z, double *value) {
    double small[LANES];
    for (int l = 0; l < LANES; l++)
        small[l] = -fabs(z[l]);
    mg_vector_exp(isa, small, LANES, small);
    mg_vector_log1p(isa, small, LANES, value);
    for (int l = 0; l < LANES; l++)
        value[l] += fmax(-z[l], 0.0);
}

void mg_logit_shares(mg_isa isa, double c, const double *s, double *share, double *slope) {
    double small[LANES];
    for (int l = 0; l < LANES; l++)
        small[l] = -fabs(s[l]);
    mg_vector_exp(isa, small, LANES, small);
    for (int l = 0; l < LANES; l++) {
        const double whole = c / (1.0 + small[l]);
        slope[l] = whole * small[l] / (1.0 + small[l]);
        share[l] = s[l] >= 0.0 ? whole : whole * small[l];
    }
}

/* One step of Newton's method or of halving for each lane that is not there; false: all are. */
static bool refine_lanes(double curvature, const double *slope, const double *d,
                         const double *enough, double *low, double *high, double *s) {
    bool some = false;
    for (int l = 0; l < LANES; l++) {
        const bool there = !(fabs(d[l]) > enough[l]);
        double next = s[l] - d[l] / (1.0 + curvature * slope[l]);
        low[l] = d[l] > 0.0 ? low[l] : s[l];
        high[l] = d[l] > 0.0 ? s[l] : high[l];
        next = next >= low[l] && next <= high[l] ? next : 0.5 * (low[l] + high[l]);
        s[l] = there ? s[l] : next;
        some |= !there;
    }
    return some;
}

void mg_logit_roots(mg_isa isa, double c, double curvature, const double *z, const double *enough,
                    double *alpha, double *s, double *d, double *slope) {
    enum { MOST = 40 };
    double low[LANES], high[LANES], before[LANES];
    for (int l = 0; l < LANES; l++) {
        before[l] = alpha[l];
        low[l] = curvature * (alpha[l] - c) - z[l];
        high[l] = curvature * alpha[l] - z[l];
    }
    for (int k = 0; k < MOST && refine_lanes(curvature, slope, d, enough, low, high, s); k++) {
        mg_logit_shares(isa, c, s, alpha, slope);
        for (int l = 0; l < LANES; l++)
            d[l] = curvature * (alpha[l] - before[l]) + z[l] + s[l];
    }
}

/* ---- A span ---------------------------------------------------------------------------------- */

/* Of an entropy, in bends: more is a quadratic. */
static const double most_curvature = 0.2;

/* Entropies that are themselves: alpha and aim are away from the bounds. */
static void choose_models(mg_logit_span *span) {
    for (int64_t i = 0; i < span->samples; i++) {
        const double c = span->c[i], alpha = span->alpha[i], aim = span->aims[i];
        const double least = 1.0 / (most_curvature * span->bends[i]);
        if (!(fmin(alpha, c - alpha) > least && fmin(aim, c - aim) > least)) continue;
        span->aims[i] = (double)INFINITY;
        span->logits[i] = log(alpha / (c - alpha));
    }
}

/* The lower triangle of the Hessian, and the slopes, at alpha. */
static void find_model(const mg_logit_span *span, double *slopes, double *hessian) {
    for (int k = 0; k < span->count; k++) {
        slopes[k] = span->slopes[k];
        for (int l = 0; l < span->count; l++) {
            slopes[k] += span->products[k * SPAN + l] * span->shares[l];
            hessian[k * SPAN + l] = span->products[k * SPAN + l];
        }
    }
    for (int64_t i = 0; i < span->samples; i++) {
        const double *move = span->moves + i * SPAN, c = span->c[i], alpha = span->alpha[i];
        if (!(c > 0.0)) continue;
        const bool itself = isinf(span->aims[i]);
        const double at = itself ? alpha : span->aims[i];
        double curvature = c / (at * (c - at));
        if (!itself) curvature = fmin(curvature, most_curvature * span->bends[i]);
        const double slope = span->logits[i] + curvature * (alpha - at);
        for (int k = 0; k < span->count; k++) {
            const double bent = curvature * move[k];
            slopes[k] += move[k] * slope;
            for (int l = 0; l <= k; l++)
                hessian[k * SPAN + l] += bent * move[l];
        }
    }
}

/* step = -H^-1 slopes by Cholesky's method, without the directions whose pivots are rounding. */
static void newton_step(int count, double *h, const double *slopes, double *step) {
    static const double rounding = 1e-13;
    for (int k = 0; k < count; k++) {
        double pivot = h[k * SPAN + k];
        step[k] = -slopes[k];
        for (int l = 0; l < k; l++) {
            double *at = &h[k * SPAN + l];
            for (int j = 0; j < l; j++)
                *at -= h[k * SPAN + j] * h[l * SPAN + j];
            *at *= h[l * SPAN + l];
            pivot -= *at * *at;
            step[k] -= *at * step[l];
        }
        /* the inverse of the factor's diagonal; 0: left out */
        h[k * SPAN + k] = pivot > rounding * h[k * SPAN + k] ? 1.0 / sqrt(pivot) : 0.0;
        step[k] *= h[k * SPAN + k];
    }
    for (int k = count - 1; k >= 0; k--) {
        for (int l = k + 1; l < count; l++)
            step[k] -= h[l * SPAN + k] * step[l];
        step[k] *= h[k * SPAN + k];
    }
}

/* How alpha_i changes. */
static double change_of(const mg_logit_span *span, int64_t i, const double *step) {
    double change = 0.0;
    for (int k = 0; k < span->count; k++)
        change += step[k] * span->moves[i * SPAN + k];
    return change;
}

/* As much of the step, at most all, as leaves an alpha whose entropy is itself within its bounds.
 */
static void take_step(mg_logit_span *span, const double *step) {
    static const double least = 0.01; /* of the way there stays so much */
    double longest = 1.0;
    for (int64_t i = 0; i < span->samples; i++) {
        const double change = change_of(span, i, step);
        const double way = change > 0.0 ? span->c[i] - span->alpha[i] : span->alpha[i];
        if (isinf(span->aims[i]) && fabs(change) * longest > (1.0 - least) * way)
            longest = (1.0 - least) * way / fabs(change);
    }
    for (int64_t i = 0; i < span->samples; i++) {
        const double c = span->c[i], alpha = span->alpha[i] + longest * change_of(span, i, step);
        span->alpha[i] = alpha;
        if (c > 0.0 && isinf(span->aims[i])) span->logits[i] = log(alpha / (c - alpha));
    }
    for (int k = 0; k < span->count; k++)
        span->shares[k] += longest * step[k];
}

void mg_logit_span_minimise(mg_logit_span *span, double enough) {
    enum { MOST = 30 };
    double slopes[SPAN], step[SPAN], hessian[SPAN * SPAN];
    memset(span->shares, 0, sizeof span->shares);
    choose_models(span);
    for (int round = 0; round < MOST; round++) {
        double promise = 0.0;
        find_model(span, slopes, hessian);
        newton_step(span->count, hessian, slopes, step);
        for (int k = 0; k < span->count; k++)
            promise -= slopes[k] * step[k];
        if (!(promise > enough)) return; /* or not a number */
        take_step(span, step);
    }
}
