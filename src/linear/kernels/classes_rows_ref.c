/* Dense rows against several classes in plain C, and the choice. */
#include "base/status.h"
#include "linear/kernels/classes_rows.h"

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
#define X_LOAD(p)          ((WORK)(*(p)))
#define X_LOAD_PART(p, n)  ((n) > 0 ? (WORK)(*(p)) : 0)

#define WORK    double
#define VEC     double
#define REAL    double
#define NAME(x) x##_f64
#include "linear/kernels/classes_rows_tmpl.h"
#undef REAL
#undef NAME

#define REAL    float
#define NAME(x) x##_f32
#include "linear/kernels/classes_rows_tmpl.h"
#undef NAME
#undef WORK
#undef VEC

#define WORK    float
#define VEC     float
#define NAME(x) x##_single
#include "linear/kernels/classes_rows_tmpl.h"

const mg_classes_rows mg_classes_rows_ref[3] = {{scores_f64, gradient_f64, false},
                                                {scores_f32, gradient_f32, false},
                                                {scores_single, gradient_single, true}};

const mg_classes_rows *mg_classes_rows_for(const margin_matrix *x, mg_isa isa, bool single) {
    const int at = x->value_type == MARGIN_F64 ? 0 : single ? 2 : 1;
#if defined(__x86_64__)
    if (isa == MG_ISA_AVX512) return &mg_classes_rows_avx512[at];
    if (isa == MG_ISA_AVX2) return &mg_classes_rows_avx2[at];
#else
    (void)isa;
#endif
    return &mg_classes_rows_ref[at];
}
