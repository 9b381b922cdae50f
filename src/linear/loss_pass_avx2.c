/* The loss pass with AVX2. */
#include "math/vec_avx2.h"

#define PASS mg_loss_pass_avx2
#include "linear/loss_pass_tmpl.h"
