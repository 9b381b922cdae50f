/* Rows against eight weight vectors with AVX2. */
#include "math/vectors/vec_avx2.h"

#define TABLE mg_dual_lane_rows_avx2
#include "linear/kernels/dual_cd_lanes_all_tmpl.h"
