/* Random small fits (fit_case.h): what converges is proven, verifies, has the same bytes for any
 * number of threads and predicts the same once it is saved and loaded.
 *
 *   test_fit_cases             numbers 0 to 1999
 *   test_fit_cases FIRST LAST  others */
#include "support/support.h"

#include "fit_case.h"

#include <stdio.h>
#include <stdlib.h>

/* Cases that found something. With a reason: does not hold yet, is tried and printed only; NULL: is
 * mended and has to hold. */
static const struct {
    long number;
    const char *reason;
} found[] = {
    {1604, NULL},
    {1932, NULL},
    {11668, NULL},
    {13890, NULL},
    {17663, NULL},
    {18366, NULL},
    {33319, NULL},
    {34058, NULL},
    {38356, NULL},
    {39225, NULL},
    {43475, NULL},
    {44848, NULL},
    {51362, NULL},
    {56391, NULL},
    {70433, NULL},
    {203083, NULL},
    {203231, NULL},
    {211813, NULL},
    {213243, NULL},
    {738959, NULL},
    {976908, NULL},
    {860544, NULL},
    {1078756, NULL},
    {1133931, NULL},
    {1142538, NULL},
    {1209511, NULL},
    {1369643, NULL},
    {1472883, NULL},
    {1583616, NULL},
    {1604797, NULL},
    {1627094, NULL},
    {1756933, NULL},
    {2012233, NULL},
    {2014571, NULL},
    {2191307, NULL},
    {2371758, NULL},
    {2372118, NULL},
    {2400135, NULL},
    {2417059, NULL},
    {2644765, NULL},
    {2738765, NULL},
    {2887482, NULL},
    {3005579, NULL},
    {3011162, NULL},
    {3093500, NULL},
    {3333877, NULL},
    {3610651, NULL},
    {3856532, NULL},
    {4495792, NULL},
    {4576139, NULL},
    {4918582, NULL},
    {5009046, NULL},
    {5128583, NULL},
    {5230086, NULL},
    {5915440, NULL},
    {5936696, NULL},
    {7781658, NULL},
    {8584190, NULL},
    {8490525, NULL},
    {9140351, "no bound is found for softmax without a penalty"},
    {10608521, NULL},
    {2213197, "softmax on columns of 1, 1e6, 1e12 and 1e18: another proof than the fit's"},
};

typedef struct bench {
    margin_context *one, *three;
    int refused, converged, failed;
} bench;

static const char *known_reason(long number) {
    for (size_t k = 0; k < sizeof found / sizeof *found; k++)
        if (found[k].number == number) return found[k].reason;
    return NULL;
}

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
    const char *reason = known_reason(number);
    fit_case_bytes((uint64_t)number, bytes);
    fit_case_run(b->one, b->three, bytes, sizeof bytes, &outcome);
    b->refused += outcome.refused;
    b->converged += outcome.converged;
    if (reason && !outcome.complaint[0]) print_message("known: %ld holds now\n", number);
    if (!outcome.complaint[0]) return;
    b->failed += !reason;
    print_message("%s%s: %ld: %s on %s: %s\n", reason ? "known: " : "does not hold",
                  reason ? reason : "", number, outcome.spec, outcome.data, outcome.complaint);
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

static void what_was_found_holds_or_is_known(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof found / sizeof *found; k++)
        if (found[k].number > 1999) try_range(found[k].number, found[k].number);
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
        cmocka_unit_test(what_was_found_holds_or_is_known),
        cmocka_unit_test(what_fuzzing_found_holds),
    };
    if (argc <= 2) return cmocka_run_group_tests(tests, NULL, NULL);
    try_range(strtol(argv[1], NULL, 10), strtol(argv[2], NULL, 10));
    return 0;
}
