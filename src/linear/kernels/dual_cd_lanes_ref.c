/* Rows against eight weight vectors in plain C. */
#include "math/vectors/vec_ref.h"

#define TABLE mg_dual_lane_rows_ref
#include "linear/kernels/dual_cd_lanes_all_tmpl.h"
