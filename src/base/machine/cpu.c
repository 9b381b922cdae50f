#if defined(__linux__)
#define _DEFAULT_SOURCE /* syscall */
#endif
#include "base/machine/cpu.h"

#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

/* The compiler's run-time test also asks the operating system whether it saves the wide registers.
 */
static mg_isa isa_of_processor(void) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    int avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
               __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
               __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("pclmul");
    int avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                 __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    if (avx2) return avx512 ? MG_ISA_AVX512 : MG_ISA_AVX2;
#endif
    return MG_ISA_REF;
}

mg_isa mg_isa_level(void) {
    mg_isa best = isa_of_processor();
    const char *asked = getenv("MARGIN_ISA");
    if (asked) {
        for (mg_isa isa = MG_ISA_REF; isa < best; isa = (mg_isa)(isa + 1))
            if (strcmp(asked, mg_isa_name(isa)) == 0) return isa;
    }
    return best;
}

#if defined(__x86_64__) && defined(__linux__) && defined(SYS_arch_prctl)
enum {
    ASK_FOR_STATE = 0x1023, /* ARCH_REQ_XCOMP_PERM */
    TILE_DATA = 18,         /* XFEATURE_XTILEDATA */
    AVX512_BF16 = 1 << 5,
    AMX_BF16 = 1 << 22,
    AMX_TILE = 1 << 24
};

bool mg_has_matrix_registers(void) {
    unsigned a, b, c, d;
    if (isa_of_processor() != MG_ISA_AVX512 || getenv("MARGIN_ISA")) return false;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
    if (!(d & AMX_BF16) || !(d & AMX_TILE)) return false;
    return syscall(SYS_arch_prctl, ASK_FOR_STATE, TILE_DATA) == 0;
}

bool mg_has_half_products(void) {
    unsigned a, b, c, d;
    return mg_isa_level() == MG_ISA_AVX512 && __get_cpuid_count(7, 1, &a, &b, &c, &d) &&
           (a & AVX512_BF16) != 0;
}
#else
bool mg_has_matrix_registers(void) {
    return false;
}
bool mg_has_half_products(void) {
    return false;
}
#endif

bool mg_has_byte_products(void) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    return mg_isa_level() == MG_ISA_AVX512 && __builtin_cpu_supports("avx512vnni");
#else
    return false;
#endif
}

const char *mg_isa_name(mg_isa isa) {
    switch (isa) {
    case MG_ISA_REF:
        return "ref";
    case MG_ISA_AVX2:
        return "avx2";
    case MG_ISA_AVX512:
        return "avx512";
    }
    return "ref";
}
