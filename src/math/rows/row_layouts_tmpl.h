/* Includes the templates ROWS_DENSE (if there is one) and ROWS_CSR for each layout of rows, with
 * REAL, for sparse rows INDEX, and NAME(x), which appends dense_f64, csr_f32_i64 and the like. */
#if defined(ROWS_DENSE)
#define REAL    double
#define NAME(x) x##_dense_f64
#include ROWS_DENSE
#undef REAL
#undef NAME

#define REAL    float
#define NAME(x) x##_dense_f32
#include ROWS_DENSE
#undef REAL
#undef NAME
#endif

#define REAL    double
#define INDEX   int32_t
#define NAME(x) x##_csr_f64_i32
#include ROWS_CSR
#undef INDEX
#undef NAME

#define INDEX   int64_t
#define NAME(x) x##_csr_f64_i64
#include ROWS_CSR
#undef REAL
#undef INDEX
#undef NAME

#define REAL    float
#define INDEX   int32_t
#define NAME(x) x##_csr_f32_i32
#include ROWS_CSR
#undef INDEX
#undef NAME

#define INDEX   int64_t
#define NAME(x) x##_csr_f32_i64
#include ROWS_CSR
#undef REAL
#undef INDEX
#undef NAME

#undef ROWS_DENSE
#undef ROWS_CSR
