/* Elementary functions with AVX2. */
#include "math/vectors/vec_avx2.h"
#include "math/vectors/vector_math.h"
#include "math/vectors/vector_math_tmpl.h"

const mg_vector_math mg_vector_math_avx2 = {exp_array, log1p_array};
