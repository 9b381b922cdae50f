/* The four kinds of sparse rows: included by an instruction-set file after its vector type, with
 * TABLE (the name of its table) defined. */
#include "linear/kernels/dual_rows.h"

enum { SUMS = 4, PARTS = MG_DUAL_LANES / LANES };

#define REAL    double
#define INDEX   int32_t
#define NAME(x) x##_f64_i32
#include "linear/kernels/dual_cd_lanes_tmpl.h"
#undef INDEX
#undef NAME

#define INDEX   int64_t
#define NAME(x) x##_f64_i64
#include "linear/kernels/dual_cd_lanes_tmpl.h"
#undef REAL
#undef INDEX
#undef NAME

#define REAL    float
#define INDEX   int32_t
#define NAME(x) x##_f32_i32
#include "linear/kernels/dual_cd_lanes_tmpl.h"
#undef INDEX
#undef NAME

#define INDEX   int64_t
#define NAME(x) x##_f32_i64
#include "linear/kernels/dual_cd_lanes_tmpl.h"
#undef REAL
#undef INDEX
#undef NAME

const mg_dual_lane_rows TABLE[2][2] = {{{dot_f64_i32, add_f64_i32}, {dot_f64_i64, add_f64_i64}},
                                       {{dot_f32_i32, add_f32_i32}, {dot_f32_i64, add_f32_i64}}};
