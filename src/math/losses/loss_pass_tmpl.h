/* One pass of a loss over an array: included by an instruction-set file after its vector type, with
 * LOSS_PASS the name of the function.
 *
 * Eight elements at a time, in 8 / LANES vectors; term i goes to sum i mod 8 and the sums are added
 * as a tree, so the number of lanes cannot be seen in the result. The last elements are copied into
 * a group of eight, filled up with the weight 0. */
#include "math/losses/loss.h"
#include "math/vectors/vec_exp_tmpl.h"
#include "math/vectors/vec_log1p_tmpl.h"

#include <string.h>

enum { GROUP = 8, VECTORS = GROUP / LANES };

typedef struct loss_terms {
    vec value, slope, curvature;
} loss_terms;

MG_INLINE vec vec_negate(vec a) {
    return vec_subtract(vec_zero(), a);
}

/* With e = e^-|z|, which cannot overflow: log(1 + e^-z) = log1p(e) + max(-z, 0), and 1/(1 + e^z) is
 * 1/(1 + e) for z < 0, else e/(1 + e). */
MG_INLINE loss_terms logistic_terms(vec z) {
    const vec one = vec_set(1.0);
    const vec e = vec_exp(vec_negate(vec_absolute(z)));
    const vec q = vec_divide(one, vec_add(one, e)), eq = vec_multiply(e, q);
    loss_terms terms;
    terms.value = vec_add(vec_log1p(e), vec_max(vec_zero(), vec_negate(z)));
    terms.slope = vec_negate(vec_if_negative(z, q, eq));
    terms.curvature = vec_multiply(eq, q);
    return terms;
}

/* `kind` is a constant where this is called. */
MG_INLINE loss_terms loss_terms_of(mg_loss_kind kind, vec t) {
    const vec zero = vec_zero(), one = vec_set(1.0), two = vec_set(2.0);
    switch (kind) {
    case MG_LOSS_SQUARED:
        return (loss_terms){vec_multiply(t, t), vec_add(t, t), two};
    case MG_LOSS_HINGE: {
        const vec short_of_one = vec_subtract(t, one); /* negative: the sample costs something */
        return (loss_terms){vec_max(zero, vec_subtract(one, t)),
                            vec_if_negative(short_of_one, vec_set(-1.0), zero), zero};
    }
    case MG_LOSS_SQUARED_HINGE: {
        const vec short_of_one = vec_subtract(t, one);
        const vec excess = vec_max(zero, vec_subtract(one, t));
        return (loss_terms){vec_multiply(excess, excess), vec_negate(vec_add(excess, excess)),
                            vec_if_negative(short_of_one, two, zero)};
    }
    case MG_LOSS_LOGISTIC:
        return logistic_terms(t);
    case MG_LOSS_EXPONENTIAL: {
        const vec e = vec_exp(vec_negate(t));
        return (loss_terms){e, vec_negate(e), e};
    }
    case MG_LOSS_SOFTMAX: /* coupled: no functions of one number */
    case MG_LOSS_CRAMMER_SINGER:
        break;
    }
    return (loss_terms){zero, zero, zero};
}

MG_INLINE void pass_group(mg_loss_kind kind, const double *t, const double *c, double *slopes,
                          double *curvatures, vec sum[VECTORS]) {
    for (int v = 0; v < VECTORS; v++) {
        const vec weight = c ? vec_load(c + v * LANES) : vec_set(1.0);
        const loss_terms terms = loss_terms_of(kind, vec_load(t + v * LANES));
        sum[v] = vec_add(sum[v], vec_multiply(weight, terms.value));
        if (slopes) vec_store(slopes + v * LANES, vec_multiply(weight, terms.slope));
        if (curvatures) vec_store(curvatures + v * LANES, vec_multiply(weight, terms.curvature));
    }
}

MG_INLINE void pass_rest(mg_loss_kind kind, const double *t, const double *c, int64_t count,
                         double *slopes, double *curvatures, vec sum[VECTORS]) {
    double last[GROUP] = {0}, weight[GROUP] = {0}, slope[GROUP], curvature[GROUP];
    const size_t bytes = (size_t)count * sizeof *t;
    memcpy(last, t, bytes);
    for (int64_t i = 0; i < count; i++)
        weight[i] = c ? c[i] : 1.0;
    pass_group(kind, last, weight, slope, curvature, sum);
    if (slopes) memcpy(slopes, slope, bytes);
    if (curvatures) memcpy(curvatures, curvature, bytes);
}

MG_INLINE double pass_array(mg_loss_kind kind, const double *t, const double *c, int64_t count,
                            double *slopes, double *curvatures) {
    vec sum[VECTORS];
    double s[GROUP];
    int64_t i = 0;
    for (int v = 0; v < VECTORS; v++)
        sum[v] = vec_zero();
    for (; i + GROUP <= count; i += GROUP)
        pass_group(kind, t + i, c ? c + i : NULL, slopes ? slopes + i : NULL,
                   curvatures ? curvatures + i : NULL, sum);
    if (i < count)
        pass_rest(kind, t + i, c ? c + i : NULL, count - i, slopes ? slopes + i : NULL,
                  curvatures ? curvatures + i : NULL, sum);
    for (int v = 0; v < VECTORS; v++)
        vec_store(s + v * LANES, sum[v]);
    return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
}

double LOSS_PASS(mg_loss_kind kind, const double *t, const double *c, int64_t count, double *slopes,
                 double *curvatures) {
    switch (kind) {
    case MG_LOSS_SQUARED:
        return pass_array(MG_LOSS_SQUARED, t, c, count, slopes, curvatures);
    case MG_LOSS_HINGE:
        return pass_array(MG_LOSS_HINGE, t, c, count, slopes, curvatures);
    case MG_LOSS_SQUARED_HINGE:
        return pass_array(MG_LOSS_SQUARED_HINGE, t, c, count, slopes, curvatures);
    case MG_LOSS_LOGISTIC:
        return pass_array(MG_LOSS_LOGISTIC, t, c, count, slopes, curvatures);
    case MG_LOSS_EXPONENTIAL:
        return pass_array(MG_LOSS_EXPONENTIAL, t, c, count, slopes, curvatures);
    case MG_LOSS_SOFTMAX:
    case MG_LOSS_CRAMMER_SINGER:
        break;
    }
    return 0.0;
}
