/* Which instruction set the kernels may use. */
#pragma once

#include <stdbool.h>

typedef enum mg_isa {
    MG_ISA_REF = 0,   /* plain C */
    MG_ISA_AVX2 = 1,  /* AVX2, FMA, BMI, BMI2, POPCNT, PCLMUL */
    MG_ISA_AVX512 = 2 /* the former and AVX-512 F, BW, DQ, VL */
} mg_isa;

/* The best set that the processor and the operating system support, lowered by MARGIN_ISA=ref|avx2
 * in the environment; any other value of it changes nothing. Cheap, but not free (it reads the
 * environment): ask once per call of a public function, not in a loop. */
mg_isa mg_isa_level(void);

/* Products of bfloat16 in matrix registers (AMX), with AVX-512: the processor has them, Linux lends
 * them (the process is asked for once and for all: a signal stack then needs some 11 KB), and
 * MARGIN_ISA is not set. As cheap as mg_isa_level. */
bool mg_has_matrix_registers(void);

/* Products of bfloat16 in vectors (AVX-512 BF16), with AVX-512. */
bool mg_has_half_products(void);

/* Products of bytes (AVX-512 VNNI), with AVX-512. */
bool mg_has_byte_products(void);

const char *mg_isa_name(mg_isa isa); /* "ref", "avx2", "avx512"; static storage */

/* Kernels are tables of functions, one for each instruction set, built from the same templates:
 * MG_ISA_TABLES declares name_ref and its kin (the plain one is always there), MG_ISA_TABLE is the
 * address of the one for `isa`. */
#if defined(__x86_64__)
#define MG_ISA_TABLES(type, name) extern const type name##_ref, name##_avx2, name##_avx512
#define MG_ISA_TABLE(isa, name)                                                                    \
    ((isa) == MG_ISA_AVX512 ? &name##_avx512 : (isa) == MG_ISA_AVX2 ? &name##_avx2 : &name##_ref)
#else
#define MG_ISA_TABLES(type, name) extern const type name##_ref
#define MG_ISA_TABLE(isa, name)   ((void)(isa), &name##_ref)
#endif
