/* The loss pass in plain C. */
#include "math/vectors/vec_fused_ref.h"

#define PASS mg_loss_pass_ref
#include "linear/kernels/loss_pass_tmpl.h"
