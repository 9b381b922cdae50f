/* The kernels of linear models in plain C; its loss pass needs other vectors: loss_pass_ref.c. */
#include "math/losses/linear_kernels.h"
#include "math/vectors/vec_ref.h"

#define ROW_TILE    4
#define CLASS_TILE  3
#define COLUMN_TILE 4

#define VEC_LANES          1
#define VEC_ZERO()         0
#define VEC_LOAD(p)        (*(p))
#define VEC_SET(x)         (x)
#define VEC_SUBTRACT(a, b) ((a) - (b))
#define VEC_FMA(a, b, c)   ((a) * (b) + (c))
#define VEC_SUM(a)         ((double)(a))
#define VEC_ADD_TO(c, a)   (*(c) += (double)(a))

#define WORK             double
#define VEC              double
#define VALUE_TYPES_TMPL "math/losses/classes_rows_tmpl.h"
#include "math/vectors/value_types_tmpl.h"
#undef WORK
#undef VEC

#define REAL            float
#define WORK            float
#define VEC             float
#define NAME(x)         x##_single
#define LOAD(p)         (*(p))
#define LOAD_PART(p, n) ((n) > 0 ? *(p) : 0)
#include "math/losses/classes_rows_tmpl.h"
#undef REAL
#undef NAME
#undef LOAD
#undef LOAD_PART

#define LOSS_PASS mg_loss_pass_ref
#define KERNELS   mg_linear_kernels_ref
#include "math/losses/linear_kernels_tmpl.h"
