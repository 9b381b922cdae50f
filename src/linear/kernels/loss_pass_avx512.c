/* The loss pass with AVX-512. */
#include "math/vectors/vec_avx512.h"

#define PASS mg_loss_pass_avx512
#include "linear/kernels/loss_pass_tmpl.h"
