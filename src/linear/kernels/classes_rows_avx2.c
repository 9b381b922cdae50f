/* Dense rows against several classes with AVX2. */
#include "linear/kernels/classes_rows.h"
#include "math/vectors/vec_avx2.h"

#define ROW_TILE    4
#define CLASS_TILE  3
#define COLUMN_TILE 4

#define WORK               double
#define VEC                vec
#define VEC_LANES          4
#define VEC_ZERO()         vec_zero()
#define VEC_LOAD(p)        vec_load(p)
#define VEC_SET(x)         vec_set(x)
#define VEC_SUBTRACT(a, b) vec_subtract(a, b)
#define VEC_FMA(a, b, c)   vec_fma(a, b, c)
#define VEC_SUM(a)         vec_sum(a)
#define VEC_ADD_TO(c, a)   vec_store(c, vec_add(vec_load(c), a))

#define REAL              double
#define NAME(x)           x##_f64
#define X_LOAD(p)         vec_load(p)
#define X_LOAD_PART(p, n) vec_load_part(p, n)
#include "linear/kernels/classes_rows_tmpl.h"
#undef REAL
#undef NAME
#undef X_LOAD
#undef X_LOAD_PART

#define REAL              float
#define NAME(x)           x##_f32
#define X_LOAD(p)         vec_widen(p)
#define X_LOAD_PART(p, n) vec_widen_part(p, n)
#include "linear/kernels/classes_rows_tmpl.h"
#undef NAME
#undef X_LOAD
#undef X_LOAD_PART
#undef WORK
#undef VEC
#undef VEC_LANES
#undef VEC_ZERO
#undef VEC_LOAD
#undef VEC_SET
#undef VEC_SUBTRACT
#undef VEC_FMA
#undef VEC_SUM
#undef VEC_ADD_TO

static const int32_t mask_table[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};

MG_INLINE __m256 load_part(const float *p, int64_t n) {
    return _mm256_maskload_ps(p, _mm256_loadu_si256((const __m256i *)(mask_table + 8 - n)));
}

/* Halves, in f64 from there on. */
MG_INLINE double sum_single(__m256 a) {
    const __m128 half = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    return vec_sum(_mm256_cvtps_pd(half));
}

MG_INLINE void add_widened(double *c, __m256 a) {
    const __m256d low = _mm256_cvtps_pd(_mm256_castps256_ps128(a));
    const __m256d high = _mm256_cvtps_pd(_mm256_extractf128_ps(a, 1));
    vec_store(c, vec_add(vec_load(c), low));
    vec_store(c + LANES, vec_add(vec_load(c + LANES), high));
}

#define WORK               float
#define NAME(x)            x##_single
#define VEC                __m256
#define VEC_LANES          8
#define VEC_ZERO()         _mm256_setzero_ps()
#define VEC_LOAD(p)        _mm256_loadu_ps(p)
#define VEC_SET(x)         _mm256_set1_ps(x)
#define VEC_SUBTRACT(a, b) _mm256_sub_ps(a, b)
#define VEC_FMA(a, b, c)   _mm256_fmadd_ps(a, b, c)
#define VEC_SUM(a)         sum_single(a)
#define VEC_ADD_TO(c, a)   add_widened(c, a)
#define X_LOAD(p)          _mm256_loadu_ps(p)
#define X_LOAD_PART(p, n)  load_part(p, n)
#include "linear/kernels/classes_rows_tmpl.h"

const mg_classes_rows mg_classes_rows_avx2[3] = {{scores_f64, gradient_f64, false},
                                                 {scores_f32, gradient_f32, false},
                                                 {scores_single, gradient_single, true}};
