/* "Vectors" of one f64 in plain C, for the shared kernel templates. */
#pragma once

#include "math/vectors/vec_one.h"

MG_INLINE vec vec_fma(vec a, vec b, vec c) {
    return a * b + c;
}
MG_INLINE vec vec_exp(vec a) {
    return exp(a);
}
