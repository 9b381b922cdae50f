/* Numbers modulo a prime. */
#include "math/products/modular.h"

#include <math.h>
#include <string.h>

uint64_t mg_modular_inverse(uint64_t a) {
    uint64_t result = 1;
    for (uint64_t power = mg_modular_prime - 2; power > 0; power >>= 1) {
        if (power & 1) result = mg_modular_times(result, a);
        a = mg_modular_times(a, a);
    }
    return result;
}

void mg_modular_fill(mg_modular_powers *powers) {
    const uint64_t half = mg_modular_inverse(2);
    uint64_t *at = powers->at;
    at[-MG_LEAST_POWER] = 1;
    for (int k = -MG_LEAST_POWER; k > 0; k--)
        at[k - 1] = mg_modular_times(at[k], half);
    for (int k = -MG_LEAST_POWER; k + 1 < MG_POWERS; k++)
        at[k + 1] = mg_modular_times(at[k], 2);
}

uint64_t mg_modular_number(const mg_modular_powers *powers, double value) {
    enum { DIGITS = 52, EXPONENTS = 2047, LEAST_EXPONENT = -1075 };
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const int exponent = (int)(bits >> DIGITS & EXPONENTS);
    const uint64_t hidden = (uint64_t)(exponent > 0) << DIGITS;
    const uint64_t digits = (bits & ((UINT64_C(1) << DIGITS) - 1)) | hidden;
    if (digits == 0 || exponent == EXPONENTS) return 0;
    const int place = MG_MAX(exponent, 1) + LEAST_EXPONENT - MG_LEAST_POWER;
    const uint64_t size = mg_modular_times(digits, powers->at[place]);
    return bits >> 63 ? mg_modular_less(0, size) : size;
}

bool mg_modular_ratio(double x, uint64_t *number) {
    static const double close = 1e-7, most_q = 1000.0, most_p = 1e15;
    double above = 1.0, below = 0.0, p = nearbyint(x), q = 1.0, rest = x - p;
    while (fabs(x * q - p) > close * fmax(1.0, fabs(x))) {
        const double next = nearbyint(1.0 / rest);
        const double new_p = next * p + above, new_q = next * q + below;
        if (!(fabs(new_q) <= most_q && fabs(new_p) <= most_p)) return false;
        rest = 1.0 / rest - next;
        above = p;
        below = q;
        p = new_p;
        q = new_q;
    }
    if (!(fabs(p) <= most_p)) return false;
    const uint64_t part = fabs(q) > 1.0 ? mg_modular_inverse((uint64_t)fabs(q)) : 1;
    const uint64_t size = mg_modular_times((uint64_t)fabs(p), part);
    *number = (p < 0.0) != (q < 0.0) ? mg_modular_less(0, size) : size;
    return true;
}
