/* Tails by continued fractions (NIST Digital Library of Mathematical Functions, 8.9; DiDonato and
 * Morris, ACM TOMS 18, 1992; by Lentz's method) times a leading term. The leading term is a
 * density, written with deviances D(a, m) = a log(a/m) + m - a and Stirling's remainders so that
 * nothing cancels (Loader, "Fast and accurate computation of binomial probabilities", 2000). */
#include "math/vectors/tails.h"

#include <math.h>
#include <stdbool.h>

typedef long double real;

static const real two_pi = 6.283185307179586476925286766559005768L;
static const real tiny = 1e-300L;
enum { MOST_TERMS = 20000000 };

/* log Gamma(z) - (z - 1/2) log z + z - log(2 pi)/2, for z > 0 */
static real stirling(real z) {
    real sum = 0.0L;
    for (; z < 24.0L; z += 1.0L) /* remainder(z) - remainder(z + 1) */
        sum += (z + 0.5L) * log1pl(1.0L / z) - 1.0L;
    const real s = 1.0L / (z * z);
    const real series =
        1.0L / 12 -
        s * (1.0L / 360 -
             s * (1.0L / 1260 -
                  s * (1.0L / 1680 -
                       s * (1.0L / 1188 -
                            s * (691.0L / 360360 - s * (1.0L / 156 - s * 3617.0L / 122400))))));
    return sum + series / z;
}

/* a log(a/m) + m - a >= 0 */
static real deviance(real a, real m) {
    const real d = a - m, v = d / (a + m);
    if (fabsl(v) > 0.1L) return a * logl(a / m) - d;
    real sum = d * v, power = 2.0L * a * v;
    for (int k = 3; k < 200; k += 2) {
        power *= v * v;
        const real next = sum + power / (real)k;
        if (next == sum) break;
        sum = next;
    }
    return sum;
}

/* ---- Beta ------------------------------------------------------------------------------------ */

/* x^a y^b Gamma(a+b) / (Gamma(a) Gamma(b)) with y = 1 - x */
static real beta_leading(real a, real b, real x, real y) {
    const real n = a + b, d = deviance(a, n * x) + deviance(b, n * y);
    return sqrtl(a / n * b / two_pi) * expl(stirling(n) - stirling(a) - stirling(b) - d);
}

/* One step of a continued fraction by Lentz's rule; false: the value stands. */
static bool go_on(real over, real under, real *c, real *d, real *value) {
    *d = under + over * *d;
    *c = under + over / *c;
    if (fabsl(*d) < tiny) *d = tiny;
    if (fabsl(*c) < tiny) *c = tiny;
    *d = 1.0L / *d;
    *value *= *c * *d;
    return fabsl(*c * *d - 1.0L) > 1e-19L;
}

/* I_x(a, b) divided by the leading term, in a form that takes y beside x, so that x near 1 loses
 * nothing. */
static real beta_fraction(real a, real b, real x, real y) {
    const real lambda = x < y ? a - (a + b) * x : (a + b) * y - b;
    real value = a * (lambda + 1.0L) / (a + 1.0L);
    if (fabsl(value) < tiny) value = tiny;
    real c = value, d = 0.0L;
    for (int k = 1; k < MOST_TERMS; k++) {
        const real n = (real)k, e = a + 2 * n - 1;
        const real over = (a + n - 1) * (a + b + n - 1) / e * (n * (b - n) / e) * x * x;
        const real under = n + n * (b - n) * x / e + (a + n) * (lambda + 1 + n * (1 + y)) / (e + 2);
        if (!go_on(over, under, &c, &d, &value)) break;
    }
    return 1.0L / value;
}

/* The regularised incomplete beta function I_x(a, b), y = 1 - x. */
static real beta_lower(real a, real b, real x, real y) {
    if (!(x > 0.0L)) return 0.0L;
    if (!(y > 0.0L)) return 1.0L;
    if (x <= (a + 1.0L) / (a + b + 2.0L))
        return beta_leading(a, b, x, y) * beta_fraction(a, b, x, y);
    return 1.0L - beta_leading(a, b, x, y) * beta_fraction(b, a, y, x);
}

/* ---- Gamma ----------------------------------------------------------------------------------- */

/* x^a e^-x / Gamma(a) */
static real gamma_leading(real a, real x) {
    return sqrtl(a / two_pi) * expl(-stirling(a) - deviance(a, x));
}

/* The regularised upper incomplete gamma function Q(a, x). */
static real gamma_upper(real a, real x) {
    const real leading = gamma_leading(a, x);
    if (x < a + 1.0L) {
        real term = 1.0L / a, sum = term;
        for (int k = 1; k < MOST_TERMS && term > 1e-20L * sum; k++) {
            term *= x / (a + (real)k);
            sum += term;
        }
        return 1.0L - leading * sum;
    }
    real b = x + 1.0L - a, c = 1.0L / tiny, d = 1.0L / b, value = d;
    for (int k = 1; k < MOST_TERMS; k++) {
        b += 2.0L;
        if (!go_on(-(real)k * ((real)k - a), b, &c, &d, &value)) break;
    }
    return leading * value;
}

/* ---- Distributions --------------------------------------------------------------------------- */

static real normal_two_sided(real z) {
    return erfcl(fabsl(z) * 0.7071067811865475244008443621048490393L);
}

double mg_normal_two_sided(double z) {
    return (double)normal_two_sided((real)z);
}

/* Beyond this many degrees of freedom the fraction would take too many terms, and the normal tail
 * at sqrt((v - 1/2) log(1 + t^2/v)), whose error falls with the square of v, is exact enough
 * (Wallace, "Bounds on normal approximations to Student's and the chi-square distributions",
 * 1959). */
static const double many = 1e9;

static real student_two_sided(real t, real v) {
    const real square = t * t;
    if (isinf(square)) return v > (real)many ? 0.0L : beta_lower(v / 2, 0.5L, v / t / t, 1.0L);
    if (v > (real)many) return normal_two_sided(sqrtl((v - 0.5L) * log1pl(square / v)));
    return beta_lower(v / 2, 0.5L, v / (v + square), square / (v + square));
}

double mg_student_two_sided(double t, double freedom) {
    if (isnan(t) || !(freedom > 0.0)) return (double)NAN;
    if (isinf(t)) return 0.0;
    if (isinf(freedom)) return mg_normal_two_sided(t);
    return (double)student_two_sided((real)t, (real)freedom);
}

double mg_fisher_upper(double f, double freedom1, double freedom2) {
    if (isnan(f) || !(freedom1 > 0.0) || !(freedom2 > 0.0)) return (double)NAN;
    if (f <= 0.0) return 1.0;
    if (isinf(f)) return 0.0;
    if (freedom2 > 1e13) return mg_chi_squared_upper(f * freedom1, freedom1);
    const real d1 = (real)freedom1 * (real)f, d2 = (real)freedom2;
    return (double)beta_lower(d2 / 2, (real)freedom1 / 2, d2 / (d1 + d2), d1 / (d1 + d2));
}

double mg_chi_squared_upper(double x, double freedom) {
    if (isnan(x) || !(freedom > 0.0)) return (double)NAN;
    if (x <= 0.0) return 1.0;
    if (isinf(x)) return 0.0;
    return (double)gamma_upper((real)freedom / 2, (real)x / 2);
}

/* ---- Quantile -------------------------------------------------------------------------------- */

static real two_sided(real t, double freedom) {
    return isinf(freedom) ? normal_two_sided(t) : student_two_sided(t, (real)freedom);
}

/* Brackets by doubling, then halves the bracket: the tail falls strictly. */
double mg_student_quantile(double p, double freedom) {
    if (!(p > 0.0) || !(p < 1.0) || !(freedom > 0.0)) return (double)NAN;
    real low = 0.0L, high = 1.0L;
    while (two_sided(high, freedom) > (real)p && high < 1e300L) {
        low = high;
        high *= 2.0L;
    }
    while (low == 0.0L && high > 1e-300L && two_sided(high / 2, freedom) <= (real)p)
        high /= 2.0L;
    for (int k = 0; k < 64; k++) {
        const real middle = (low + high) / 2;
        if (middle == low || middle == high) break;
        if (two_sided(middle, freedom) > (real)p)
            low = middle;
        else
            high = middle;
    }
    return (double)((low + high) / 2);
}
