/* The loss pass in plain C, on the fused vectors that give it the bits of the other sets. */
#include "math/losses/linear_kernels.h"
#include "math/vectors/vec_fused_ref.h"

#define LOSS_PASS mg_loss_pass_ref
#include "math/losses/loss_pass_tmpl.h"
