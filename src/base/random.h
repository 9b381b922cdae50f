/* Counter-based random numbers (Philox4x32-10: Salmon, Moraes, Dror, Shaw, "Parallel random
 * numbers: as easy as 1, 2, 3", SC 2011). A number is a pure function of (seed, purpose, index): no
 * state to share, the same on every platform and for any thread count. */
#pragma once

#include "base/status.h"

/* One purpose per independent use; values are part of the reproducibility promise. */
typedef enum mg_purpose {
    MG_RANDOM_SHUFFLE = 1, /* index: pass << 40 | position */
    MG_RANDOM_SPLIT = 2,
    MG_RANDOM_START = 3,
    MG_RANDOM_SAMPLE = 4,
    MG_RANDOM_CHECK = 5, /* identities tried at a random point */
    MG_RANDOM_TEST = 99
} mg_purpose;

/* The generator itself: ten rounds on a 128-bit counter with a 64-bit key. mg_random_* use the key
 * (seed) and the counter (index, purpose, draw / 2), low words first. */
void mg_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

uint64_t mg_random_u64(uint64_t seed, mg_purpose purpose, uint64_t index);
double mg_random_unit(uint64_t seed, mg_purpose purpose, uint64_t index); /* [0, 1), 53 bits */
/* N(0, 1), by inversion, with exactly rounded operations only: the same bits everywhere. */
double mg_random_normal(uint64_t seed, mg_purpose purpose, uint64_t index);
/* Uniform in [0, bound) without bias, bound > 0. */
uint64_t mg_random_below(uint64_t seed, mg_purpose purpose, uint64_t index, uint64_t bound);
/* Fisher-Yates over order[0..count): a permutation that depends on (seed, purpose, round, count)
 * alone. Position i draws index round << 40 | i; round < 2^24, count <= 2^40. */
void mg_random_shuffle(uint64_t seed, mg_purpose purpose, uint64_t round, int64_t *order,
                       int64_t count);
