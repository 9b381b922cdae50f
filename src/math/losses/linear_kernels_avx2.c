/* The kernels of linear models with AVX2. */
#include "math/losses/linear_kernels.h"
#include "math/vectors/fvec_avx2.h"

#define ROW_TILE    4
#define CLASS_TILE  3
#define COLUMN_TILE 4
#include "math/losses/classes_rows_simd_tmpl.h"

#define LOSS_PASS mg_loss_pass_avx2
#define KERNELS   mg_linear_kernels_avx2
#include "math/losses/loss_pass_tmpl.h"

#include "math/losses/linear_kernels_tmpl.h"
