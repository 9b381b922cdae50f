/* Numbers modulo a prime, for what rounding must not decide. Those of the data are binary
 * fractions, which have their place there. */
#pragma once

#include "base/text/decimal.h"

#include <stdbool.h>

enum { MG_MODULAR_BITS = 61 };
#define mg_modular_prime ((UINT64_C(1) << MG_MODULAR_BITS) - 31)

MG_INLINE uint64_t mg_modular_times(uint64_t a, uint64_t b) {
    const uint64_t low = (UINT64_C(1) << MG_MODULAR_BITS) - 1;
    const mg_u128 product = (mg_u128)a * b;
    const mg_u128 once = (product & low) + (product >> MG_MODULAR_BITS) * 31;
    const uint64_t twice = ((uint64_t)once & low) + (uint64_t)(once >> MG_MODULAR_BITS) * 31;
    return twice >= mg_modular_prime ? twice - mg_modular_prime : twice;
}

MG_INLINE uint64_t mg_modular_less(uint64_t a, uint64_t b) {
    return a >= b ? a - b : a + mg_modular_prime - b;
}

MG_INLINE uint64_t mg_modular_plus(uint64_t a, uint64_t b) {
    return mg_modular_less(a, mg_modular_less(0, b));
}

uint64_t mg_modular_inverse(uint64_t a);

/* Powers of 2, from 2^MG_LEAST_POWER on. */
enum { MG_LEAST_POWER = -1130, MG_POWERS = 2200 };
typedef struct mg_modular_powers {
    uint64_t at[MG_POWERS];
} mg_modular_powers;
void mg_modular_fill(mg_modular_powers *powers);
/* Infinite values and NaN, as stages of a changed file make them, count as 0: no proof holds with
 * them. */
uint64_t mg_modular_number(const mg_modular_powers *powers, double value);
/* The ratio of small whole numbers that x is close to, by its continued fraction; false: none. */
bool mg_modular_ratio(double x, uint64_t *number);
