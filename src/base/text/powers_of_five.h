/* 5^q for q = MG_POWER_LOWEST..MG_POWER_HIGHEST as 128-bit numbers (high half first), scaled by a
 * power of two so that the top bit is set. Rounded down, except -27 <= q < 0: rounded up. Made by
 * scripts/make_powers_of_five.py. */
#pragma once

#include <stdint.h>

enum {
    MG_POWER_LOWEST = -342,
    MG_POWER_HIGHEST = 324,
    MG_POWER_COUNT = MG_POWER_HIGHEST - MG_POWER_LOWEST + 1
};

extern const uint64_t mg_powers_of_five[MG_POWER_COUNT][2];
