/* Elementary functions in plain C. */
#include "math/ref/vec_fused_ref.h"
#include "math/vector_math.h"
#include "math/vector_math_tmpl.h"

const mg_vector_math mg_vector_math_ref = {exp_array, log1p_array};
