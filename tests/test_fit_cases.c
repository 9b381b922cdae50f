/* Random small fits (fit_case.h): what converges is proven, verifies, has the same bytes for any
 * number of threads and predicts the same once it is saved and loaded.
 *
 *   test_fit_cases             numbers 0 to 1999
 *   test_fit_cases FIRST LAST  others */
#include "support/support.h"

#include "fit_case.h"

#include <stdio.h>
#include <stdlib.h>

/* Cases beyond those that found something, and are mended. */
static const long found[] = {
    11668,    13890,    17663,    18366,    33319,    34058,    38356,   39225,   43475,   44848,
    51362,    56391,    70433,    203083,   203231,   211813,   213243,  738959,  860544,  976908,
    1078756,  1133931,  1142538,  1209511,  1369643,  1472883,  1583616, 1604797, 1627094, 1756933,
    2012233,  2014571,  2191307,  2213197,  2371758,  2372118,  2400135, 2417059, 2644765, 2738765,
    2887482,  3005579,  3011162,  3093500,  3333877,  3610651,  3856532, 4495792, 4576139, 4918582,
    5009046,  5128583,  5230086,  5915440,  5936696,  7781658,  8490525, 8584190, 9140351, 10379523,
    10608521, 12640689, 14146488, 16012104, 16040731, 16073768,
};

typedef struct bench {
    margin_context *one, *three;
    int refused, converged, failed;
} bench;

static margin_context *patient_context(int threads) {
    margin_context *context = NULL;
    const margin_context_options options = {
        .size = sizeof options, .threads = threads, .time_limit = FIT_CASE_SECONDS};
    assert_int_equal(margin_context_create(&options, &context, NULL), MARGIN_OK);
    return context;
}

static void try_case(bench *b, long number) {
    static fit_outcome outcome;
    uint8_t bytes[FIT_CASE_BYTES];
    fit_case_bytes((uint64_t)number, bytes);
    fit_case_run(b->one, b->three, bytes, sizeof bytes, &outcome);
    b->refused += outcome.refused;
    b->converged += outcome.converged;
    if (!outcome.complaint[0]) return;
    b->failed++;
    print_message("does not hold: %ld: %s on %s: %s\n", number, outcome.spec, outcome.data,
                  outcome.complaint);
}

static void try_range(long first, long last) {
    bench b = {patient_context(1), patient_context(3), 0, 0, 0};
    for (long number = first; number <= last; number++)
        try_case(&b, number);
    print_message("%ld to %ld: %d converged, %d refused, %d fail\n", first, last, b.converged,
                  b.refused, b.failed);
    margin_context_free(b.one);
    margin_context_free(b.three);
    assert_int_equal(b.failed, 0);
    assert_true(b.refused <= (last - first + 1) / 4 + 1);
}

static void cases_hold(void **state) {
    (void)state;
    try_range(0, 1999);
}

static void what_was_found_holds(void **state) {
    (void)state;
    if (getenv("MARGIN_TEST_LAUNCHED")) skip(); /* valgrind rounds long double to double */
    for (size_t k = 0; k < sizeof found / sizeof *found; k++)
        try_range(found[k], found[k]);
}

/* What fuzzing found, in fuzz/seeds/fit: the choices that a number does not make. */
static void what_fuzzing_found_holds(void **state) {
    static const char *const names[] = {"found_no_penalty", "found_lost_digits", "found_radius",
                                        "found_stopped",    "found_distance",    "found_norm"};
    static fit_outcome outcome;
    margin_context *one = patient_context(1), *three = patient_context(3);
    (void)state;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        char path[SUPPORT_PATH], name[80];
        size_t length;
        snprintf(name, sizeof name, "fuzz/seeds/fit/%s", names[k]);
        char *bytes = support_read_file(support_source(path, name), &length);
        fit_case_run(one, three, (const uint8_t *)bytes, (int64_t)length, &outcome);
        if (outcome.complaint[0])
            fail_msg("%s: %s on %s: %s", names[k], outcome.spec, outcome.data, outcome.complaint);
        free(bytes);
    }
    margin_context_free(one);
    margin_context_free(three);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cases_hold),
        cmocka_unit_test(what_was_found_holds),
        cmocka_unit_test(what_fuzzing_found_holds),
    };
    if (argc <= 2) return cmocka_run_group_tests(tests, NULL, NULL);
    try_range(strtol(argv[1], NULL, 10), strtol(argv[2], NULL, 10));
    return 0;
}
