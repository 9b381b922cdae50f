/* Random numbers: published vectors, exact definitions, statistics, pinned values. */
#include "support/support.h"

#include "base/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The known answers that the authors publish with their reference implementation (Random123,
 * philox4x32 with 10 rounds). */
static void philox_gives_the_published_answers(void **state) {
    (void)state;
    static const struct {
        uint32_t counter[4], key[2], out[4];
    } cases[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (int i = 0; i < MG_LENGTH(cases); i++) {
        uint32_t out[4];
        mg_philox(cases[i].counter, cases[i].key, out);
        assert_memory_equal(out, cases[i].out, sizeof out);
    }
}

/* ---- Definitions ---- */

/* Draw number `draw` as random.h says: two 64-bit draws a block of the generator. */
static uint64_t draw(uint64_t seed, mg_purpose purpose, uint64_t index, uint32_t number) {
    uint32_t counter[4] = {(uint32_t)index, (uint32_t)(index >> 32), (uint32_t)purpose, number / 2};
    uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)}, out[4];
    mg_philox(counter, key, out);
    int half = number % 2 ? 2 : 0;
    return out[half] | (uint64_t)out[half + 1] << 32;
}

static void draws_are_functions_of_seed_purpose_index(void **state) {
    (void)state;
    uint64_t random = 1;
    for (int i = 0; i < 1000; i++) {
        uint64_t seed = support_random(&random), index = support_random(&random);
        uint64_t word = mg_random_u64(seed, MG_RANDOM_SPLIT, index);
        assert_true(word == draw(seed, MG_RANDOM_SPLIT, index, 0));
        double unit = mg_random_unit(seed, MG_RANDOM_SPLIT, index);
        assert_true(unit >= 0 && unit < 1);
        assert_true(unit == ldexp((double)(word >> 11), -53));
        assert_true(word != mg_random_u64(seed, MG_RANDOM_START, index));
        assert_true(word != mg_random_u64(seed + 1, MG_RANDOM_SPLIT, index));
        assert_true(word != mg_random_u64(seed, MG_RANDOM_SPLIT, index + 1));
    }
}

__extension__ typedef unsigned __int128 wide;

/* Lemire's method by 128-bit arithmetic, and with the rejection written out. */
static uint64_t below_reference(uint64_t seed, uint64_t index, uint64_t bound, int *rejected) {
    for (uint32_t number = 0;; number++) {
        wide product = (wide)draw(seed, MG_RANDOM_TEST, index, number) * bound;
        wide range = (wide)1 << 64;
        if ((uint64_t)product >= (uint64_t)(range % bound)) return (uint64_t)(product >> 64);
        (*rejected)++;
    }
}

static void bounded_integers_follow_their_definition(void **state) {
    (void)state;
    static const uint64_t bounds[] = {1,
                                      2,
                                      3,
                                      10,
                                      1000003,
                                      (uint64_t)1 << 32,
                                      ((uint64_t)1 << 63) + 1,
                                      (uint64_t)3 << 62,
                                      UINT64_MAX,
                                      UINT64_MAX - 5};
    int rejected = 0;
    for (int i = 0; i < MG_LENGTH(bounds); i++) {
        for (uint64_t index = 0; index < 2000; index++) {
            uint64_t got = mg_random_below(9, MG_RANDOM_TEST, index, bounds[i]);
            assert_true(got < bounds[i]);
            assert_true(got == below_reference(9, index, bounds[i], &rejected));
        }
    }
    assert_true(rejected > 1500); /* bound 2^63 + 1 rejects half of the draws */
}

static void shuffles_are_fisher_yates(void **state) {
    (void)state;
    enum { COUNT = 300 };
    int64_t order[COUNT], expected[COUNT];
    for (uint64_t round = 0; round < 20; round++) {
        for (int i = 0; i < COUNT; i++)
            order[i] = expected[i] = 1000 + i;
        mg_random_shuffle(4, MG_RANDOM_SHUFFLE, round, order, COUNT);
        for (int i = COUNT - 1; i > 0; i--) {
            int64_t j = (int64_t)mg_random_below(4, MG_RANDOM_SHUFFLE, (round << 40) + (uint64_t)i,
                                                 (uint64_t)i + 1);
            int64_t kept = expected[i];
            expected[i] = expected[j];
            expected[j] = kept;
        }
        assert_memory_equal(order, expected, sizeof order);
        int seen[COUNT] = {0};
        for (int i = 0; i < COUNT; i++)
            seen[order[i] - 1000]++;
        for (int i = 0; i < COUNT; i++)
            assert_int_equal(seen[i], 1);
    }
    mg_random_shuffle(4, MG_RANDOM_SHUFFLE, 0, order, 0);
    mg_random_shuffle(4, MG_RANDOM_SHUFFLE, 0, order, 1);
}

/* ---- Statistics ----
 * Fixed seeds: a passing test passes for ever; the bounds are those of about five deviations. */

static void assert_uniform(const int64_t *counts, int cells) {
    int64_t total = 0;
    double chi = 0;
    for (int i = 0; i < cells; i++)
        total += counts[i];
    double expected = (double)total / cells;
    for (int i = 0; i < cells; i++)
        chi += ((double)counts[i] - expected) * ((double)counts[i] - expected) / expected;
    double freedom = cells - 1, deviation = sqrt(2 * freedom);
    if (fabs(chi - freedom) > 5 * deviation + 5)
        fail_msg("chi-square %g with %g degrees of freedom", chi, freedom);
}

static void bounded_integers_are_uniform(void **state) {
    (void)state;
    static const int bounds[] = {2, 3, 7, 10, 100};
    for (int b = 0; b < MG_LENGTH(bounds); b++) {
        int64_t counts[100] = {0};
        for (uint64_t i = 0; i < 100000; i++)
            counts[mg_random_below(1, MG_RANDOM_SAMPLE, i, (uint64_t)bounds[b])]++;
        assert_uniform(counts, bounds[b]);
    }
    int64_t thirds[3] = {0}; /* three quarters of 2^64: a biased method shows at once */
    for (uint64_t i = 0; i < 30000; i++)
        thirds[mg_random_below(2, MG_RANDOM_SAMPLE, i, (uint64_t)3 << 62) >> 62]++;
    assert_uniform(thirds, 3);
}

static void bits_are_fair_and_independent(void **state) {
    (void)state;
    enum { DRAWS = 20000 };
    int ones[64] = {0}, agree[64] = {0};
    uint64_t previous = mg_random_u64(3, MG_RANDOM_TEST, 0);
    for (uint64_t i = 1; i <= DRAWS; i++) {
        uint64_t word = mg_random_u64(3, MG_RANDOM_TEST, i);
        for (int bit = 0; bit < 64; bit++) {
            ones[bit] += (int)(word >> bit & 1);
            agree[bit] += (int)(~(word ^ previous) >> bit & 1);
        }
        previous = word;
    }
    for (int bit = 0; bit < 64; bit++) {
        assert_true(fabs(ones[bit] - DRAWS / 2.0) < 5 * sqrt(DRAWS) / 2);
        assert_true(fabs(agree[bit] - DRAWS / 2.0) < 5 * sqrt(DRAWS) / 2);
    }
}

static void permutations_are_equally_likely(void **state) {
    (void)state;
    int64_t counts[120] = {0};
    for (uint64_t round = 0; round < 60000; round++) {
        int64_t order[5] = {0, 1, 2, 3, 4};
        mg_random_shuffle(7, MG_RANDOM_SHUFFLE, round, order, 5);
        int rank = 0;
        for (int i = 0; i < 5; i++) {
            int smaller = 0;
            for (int k = i + 1; k < 5; k++)
                smaller += order[k] < order[i];
            rank = rank * (5 - i) + smaller;
        }
        counts[rank]++;
    }
    assert_uniform(counts, 120);
}

/* ---- Normal ---- */

/* The distribution function at the draw must be the uniform number that it was made from. */
static void normals_are_the_quantiles_of_their_draws(void **state) {
    (void)state;
    double furthest = 0;
    for (uint64_t i = 0; i < 200000; i++) {
        double x = mg_random_normal(5, MG_RANDOM_TEST, i);
        double p = ldexp((double)(mg_random_u64(5, MG_RANDOM_TEST, i) >> 12) + 0.5, -52);
        double tail = p < 0.5 ? p : 1 - p;
        double back = 0.5 * erfc(fabs(x) / sqrt(2.0));
        assert_true((x < 0) == (p < 0.5));
        /* d log(tail) / dx is about x + 1 in the tail */
        if (fabs(back - tail) > tail * 4e-15 * (2 + x * x)) fail_msg("p %.17g x %.17g", p, x);
        furthest = fmax(furthest, fabs(x));
    }
    assert_true(furthest > 4 && furthest < 6);
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void normals_are_normal(void **state) {
    (void)state;
    enum { DRAWS = 100000 };
    double *x = malloc(DRAWS * sizeof *x), moments[5] = {0}, off = 0;
    for (int i = 0; i < DRAWS; i++) {
        x[i] = mg_random_normal(6, MG_RANDOM_START, (uint64_t)i);
        for (int k = 1; k <= 4; k++)
            moments[k] += pow(x[i], k) / DRAWS;
    }
    double root = sqrt(DRAWS);
    assert_true(fabs(moments[1]) < 5 / root);
    assert_true(fabs(moments[2] - 1) < 5 * sqrt(2.0) / root);
    assert_true(fabs(moments[3]) < 5 * sqrt(15.0) / root);
    assert_true(fabs(moments[4] - 3) < 5 * sqrt(96.0) / root);
    qsort(x, DRAWS, sizeof *x, ascending);
    for (int i = 0; i < DRAWS; i++)
        off = fmax(off, fabs(0.5 * erfc(-x[i] / sqrt(2.0)) - (i + 0.5) / DRAWS));
    assert_true(off < 2.0 / root); /* Kolmogorov-Smirnov: 1.36 / root is the 5 % bound */
    free(x);
}

/* ---- Same on every platform ---- */

static uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Hashes over many draws, so that one wrong bit anywhere shows. The values are part of the
 * reproducibility promise: they change in no version. */
static void draws_never_change(void **state) {
    (void)state;
    uint64_t words = 0, units = 0, normals = 0, bounded = 0, shuffled = 0;
    int64_t order[1000];
    for (uint64_t i = 0; i < 100000; i++) {
        words = words * 31 + mg_random_u64(42, MG_RANDOM_SAMPLE, i << 20);
        units = units * 31 + bits_of(mg_random_unit(42, MG_RANDOM_SAMPLE, i));
        normals = normals * 31 + bits_of(mg_random_normal(42, MG_RANDOM_SAMPLE, i));
        bounded = bounded * 31 + mg_random_below(42, MG_RANDOM_SAMPLE, i, i + 1);
    }
    for (int i = 0; i < 1000; i++)
        order[i] = i;
    mg_random_shuffle(42, MG_RANDOM_SHUFFLE, 3, order, 1000);
    for (int i = 0; i < 1000; i++)
        shuffled = shuffled * 31 + (uint64_t)order[i];
    assert_true(words == 0x1608082099c332c4u);
    assert_true(units == 0xb3a10c3f913e758au);
    assert_true(normals == 0x5e16c574e4d75dbau);
    assert_true(bounded == 0x980ac46f1556267cu);
    assert_true(shuffled == 0xb6690bd8cb7335d6u);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox_gives_the_published_answers),
        cmocka_unit_test(draws_are_functions_of_seed_purpose_index),
        cmocka_unit_test(bounded_integers_follow_their_definition),
        cmocka_unit_test(shuffles_are_fisher_yates),
        cmocka_unit_test(bounded_integers_are_uniform),
        cmocka_unit_test(bits_are_fair_and_independent),
        cmocka_unit_test(permutations_are_equally_likely),
        cmocka_unit_test(normals_are_the_quantiles_of_their_draws),
        cmocka_unit_test(normals_are_normal),
        cmocka_unit_test(draws_never_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
