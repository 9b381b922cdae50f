/* The kernels of linear models with AVX-512. */
#include "math/losses/linear_kernels.h"
#include "math/vectors/fvec_avx512.h"

#define ROW_TILE    4
#define CLASS_TILE  5
#define COLUMN_TILE 4
#include "math/losses/classes_rows_simd_tmpl.h"

#define LOSS_PASS mg_loss_pass_avx512
#define KERNELS   mg_linear_kernels_avx512
#include "math/losses/loss_pass_tmpl.h"

#include "math/losses/linear_kernels_tmpl.h"
