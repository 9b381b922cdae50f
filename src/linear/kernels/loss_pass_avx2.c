/* The loss pass with AVX2. */
#include "math/vectors/vec_avx2.h"

#define PASS mg_loss_pass_avx2
#include "linear/kernels/loss_pass_tmpl.h"
