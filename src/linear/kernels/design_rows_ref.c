/* Dense rows of a design in plain C. */
#include "linear/kernels/design_rows.h"
#include "math/vectors/vec_ref.h"

enum { TOGETHER = 4, MOST_ROWS = MG_CHUNK_ROWS };

#define REAL            double
#define NAME(x)         x##_f64
#define LOAD(p)         vec_load(p)
#define LOAD_PART(p, n) vec_load_part(p, n)
#include "linear/kernels/design_rows_tmpl.h"
#undef REAL
#undef NAME
#undef LOAD
#undef LOAD_PART

#define REAL            float
#define NAME(x)         x##_f32
#define LOAD(p)         vec_widen(p)
#define LOAD_PART(p, n) vec_widen_part(p, n)
#include "linear/kernels/design_rows_tmpl.h"

const mg_design_rows mg_design_rows_ref[2] = {{scores_f64, gradient_f64, moments_f64},
                                              {scores_f32, gradient_f32, moments_f32}};
