/* The loss pass in plain C. */
#include "math/ref/vec_fused_ref.h"

#define PASS mg_loss_pass_ref
#include "linear/loss_pass_tmpl.h"
