/* The instruction set: what the processor has, lowered by MARGIN_ISA, and its names. */
#include "support/support.h"

#include "base/machine/cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static mg_isa level_with(const char *value) {
    if (value)
        assert_int_equal(setenv("MARGIN_ISA", value, 1), 0);
    else
        assert_int_equal(unsetenv("MARGIN_ISA"), 0);
    mg_isa level = mg_isa_level();
    unsetenv("MARGIN_ISA");
    return level;
}

/* The kernel's list of processor features is the independent source. */
static bool kernel_lists(const char *feature) {
    FILE *file = fopen("/proc/cpuinfo", "r");
    if (!file) return false;
    char line[16384], padded[64];
    snprintf(padded, sizeof padded, " %s ", feature);
    bool found = false;
    while (!found && fgets(line, sizeof line, file)) {
        if (strncmp(line, "flags", 5) != 0) continue;
        line[strcspn(line, "\n")] = ' ';
        found = strstr(line, padded) != NULL;
    }
    fclose(file);
    return found;
}

static void matches_the_kernels_list(void **state) {
    (void)state;
    if (!kernel_lists("fpu")) skip();           /* not x86, or no /proc */
    if (getenv("MARGIN_TEST_LAUNCHED")) skip(); /* valgrind's processor is another one */
    bool avx2 = kernel_lists("avx2") && kernel_lists("fma") && kernel_lists("bmi1") &&
                kernel_lists("bmi2") && kernel_lists("popcnt") && kernel_lists("pclmulqdq");
    bool avx512 = avx2 && kernel_lists("avx512f") && kernel_lists("avx512bw") &&
                  kernel_lists("avx512dq") && kernel_lists("avx512vl");
    assert_int_equal(level_with(NULL), avx512 ? MG_ISA_AVX512 : avx2 ? MG_ISA_AVX2 : MG_ISA_REF);
}

static void environment_lowers_and_never_raises(void **state) {
    (void)state;
    mg_isa best = level_with(NULL);
    assert_int_equal(level_with("ref"), MG_ISA_REF);
    assert_int_equal(level_with("avx2"), best < MG_ISA_AVX2 ? best : MG_ISA_AVX2);
    assert_int_equal(level_with("avx512"), best);
}

static void other_values_change_nothing(void **state) {
    (void)state;
    mg_isa best = level_with(NULL);
    const char *others[] = {"", "REF", "avx", "avx2 ", "sse2", "avx1024"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_int_equal(level_with(others[i]), best);
}

static void capabilities_name_the_level(void **state) {
    (void)state;
    margin_capabilities_info info = {0};
    assert_int_equal(setenv("MARGIN_ISA", "ref", 1), 0);
    margin_capabilities(&info);
    unsetenv("MARGIN_ISA");
    assert_string_equal(info.instruction_set, "ref");
    assert_string_equal(mg_isa_name(MG_ISA_AVX2), "avx2");
    assert_string_equal(mg_isa_name(MG_ISA_AVX512), "avx512");
    assert_true(info.cores >= 1);
    assert_contains(info.lapack, "LAPACK");
}

static void version_agrees_with_the_header(void **state) {
    (void)state;
    char expected[32];
    snprintf(expected, sizeof expected, "%d.%d.%d", MARGIN_VERSION_MAJOR, MARGIN_VERSION_MINOR,
             MARGIN_VERSION_PATCH);
    assert_string_equal(margin_version(), expected);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_the_kernels_list),
        cmocka_unit_test(environment_lowers_and_never_raises),
        cmocka_unit_test(other_values_change_nothing),
        cmocka_unit_test(capabilities_name_the_level),
        cmocka_unit_test(version_agrees_with_the_header),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
