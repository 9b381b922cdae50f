/* Elementary functions in plain C. */
#include "math/vectors/vec_fused_ref.h"
#include "math/vectors/vector_math.h"
#include "math/vectors/vector_math_tmpl.h"

const mg_vector_math mg_vector_math_ref = {exp_array, log1p_array};
