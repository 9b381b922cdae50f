/* Rows against eight weight vectors with AVX-512. */
#include "math/vectors/vec_avx512.h"

#define TABLE mg_dual_lane_rows_avx512
#include "linear/kernels/dual_cd_lanes_all_tmpl.h"
