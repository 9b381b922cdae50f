/* Sums, differences, products and quotients of vectors: gcc and clang give them the operators of
 * numbers. */
#pragma once

#include "base/status.h"

#define MG_ARITHMETIC(type)                                                                        \
    MG_INLINE type type##_add(type a, type b) {                                                    \
        return a + b;                                                                              \
    }                                                                                              \
    MG_INLINE type type##_subtract(type a, type b) {                                               \
        return a - b;                                                                              \
    }                                                                                              \
    MG_INLINE type type##_multiply(type a, type b) {                                               \
        return a * b;                                                                              \
    }                                                                                              \
    MG_INLINE type type##_divide(type a, type b) {                                                 \
        return a / b;                                                                              \
    }
