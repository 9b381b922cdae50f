/* Elementary functions with AVX-512. */
#include "math/vectors/vec_avx512.h"
#include "math/vectors/vector_math.h"
#include "math/vectors/vector_math_tmpl.h"

const mg_vector_math mg_vector_math_avx512 = {exp_array, log1p_array};
