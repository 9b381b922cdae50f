/* Thin wrappers: 64-bit sizes checked, workspace allocated, Fortran's hidden lengths passed. */
#include "math/products/lapack.h"

#if MARGIN_REFERENCE_LAPACK
#define ROUTINE(name) mg_ref_##name /* renamed by cmake/lapack.cmake */
#define DESCRIPTION   "reference LAPACK and BLAS, linked in statically, no threads of its own"
#else
#define ROUTINE(name) name##_
#define DESCRIPTION   "the system's LAPACK, thread safety not known"
#endif

/* Fortran: every argument by address, lengths of character arguments by value at the end. Hidden,
 * so that the shared library does not export the routines that are linked into it. */
#if MARGIN_REFERENCE_LAPACK
#pragma GCC visibility push(hidden)
#endif
void ROUTINE(dpotrf)(const char *uplo, const int *n, double *a, const int *lda, int *info,
                     size_t uplo_length);
void ROUTINE(dpotrs)(const char *uplo, const int *n, const int *columns, const double *a,
                     const int *lda, double *b, const int *ldb, int *info, size_t uplo_length);
void ROUTINE(dpstrf)(const char *uplo, const int *n, double *a, const int *lda, int *pivots,
                     int *rank, const double *tolerance, double *work, int *info,
                     size_t uplo_length);
void ROUTINE(dgeqp3)(const int *m, const int *n, double *a, const int *lda, int *pivots,
                     double *tau, double *work, const int *lwork, int *info);
void ROUTINE(dormqr)(const char *side, const char *transpose, const int *m, const int *n,
                     const int *k, const double *a, const int *lda, const double *tau, double *c,
                     const int *ldc, double *work, const int *lwork, int *info, size_t side_length,
                     size_t transpose_length);
void ROUTINE(dtrtrs)(const char *uplo, const char *transpose, const char *diagonal, const int *n,
                     const int *columns, const double *a, const int *lda, double *b, const int *ldb,
                     int *info, size_t uplo_length, size_t transpose_length,
                     size_t diagonal_length);
void ROUTINE(dsyevd)(const char *vectors, const char *uplo, const int *n, double *a, const int *lda,
                     double *values, double *work, const int *lwork, int *integer_work,
                     const int *integer_lwork, int *info, size_t vectors_length,
                     size_t uplo_length);
void ROUTINE(dgesdd)(const char *job, const int *m, const int *n, double *a, const int *lda,
                     double *values, double *u, const int *ldu, double *vt, const int *ldvt,
                     double *work, const int *lwork, int *integer_work, int *info,
                     size_t job_length);
#if MARGIN_REFERENCE_LAPACK
#pragma GCC visibility pop
#endif

const char *mg_lapack_description(void) {
    return DESCRIPTION;
}

/* The sizes of one call, as LAPACK wants them. */
typedef struct fortran_sizes {
    int v[5];
} fortran_sizes;

/* Narrows up to five sizes (unused ones are 0); `routine` for the sentence. */
static margin_status narrow(const char *routine, const int64_t sizes[5], fortran_sizes *out,
                            margin_error *error) {
    for (int i = 0; i < 5; i++) {
        MG_REQUIRE(sizes[i] >= 0, error, MARGIN_ERROR_INTERNAL, "%s was called with a size below 0",
                   routine);
        MG_REQUIRE(sizes[i] <= INT32_MAX, error, MARGIN_ERROR_LIMIT,
                   "a matrix dimension of %lld is beyond the 2147483647 that LAPACK's %s takes",
                   (long long)sizes[i], routine);
        out->v[i] = (int)sizes[i];
    }
    return MARGIN_OK;
}

#define NARROW(routine, out, ...) narrow(routine, (int64_t[5]){__VA_ARGS__}, out, error)

/* info < 0 means that argument -info was wrong: a defect of ours, since sizes were checked. */
static margin_status finish(const char *routine, int fortran_info, int64_t *info,
                            margin_error *error) {
    MG_REQUIRE(fortran_info >= 0, error, MARGIN_ERROR_INTERNAL,
               "argument %d of LAPACK's %s was wrong", -fortran_info, routine);
    if (info) *info = fortran_info;
    return MARGIN_OK;
}

/* A workspace of `length` numbers, which LAPACK must be able to count. */
static margin_status new_workspace(mg_heap *heap, const char *routine, double length, double **work,
                                   int *lwork, margin_error *error) {
    MG_REQUIRE(length <= INT32_MAX, error, MARGIN_ERROR_LIMIT,
               "the matrix is too large: the workspace of LAPACK's %s would exceed 2147483647 "
               "numbers",
               routine);
    *lwork = length < 1 ? 1 : (int)length;
    MG_NEW(heap, *work, *lwork, "the workspace of a matrix factorisation", error);
    return MARGIN_OK;
}

margin_status mg_lapack_dpotrf(char uplo, int64_t n, double *a, int64_t lda, int64_t *info,
                               margin_error *error) {
    fortran_sizes s;
    int found = 0;
    MG_TRY(NARROW("dpotrf", &s, n, lda));
    ROUTINE(dpotrf)(&uplo, &s.v[0], a, &s.v[1], &found, 1);
    return finish("dpotrf", found, info, error);
}

margin_status mg_lapack_dpotrs(char uplo, int64_t n, int64_t columns, const double *a, int64_t lda,
                               double *b, int64_t ldb, margin_error *error) {
    fortran_sizes s;
    int found = 0;
    MG_TRY(NARROW("dpotrs", &s, n, columns, lda, ldb));
    ROUTINE(dpotrs)(&uplo, &s.v[0], &s.v[1], a, &s.v[2], b, &s.v[3], &found, 1);
    return finish("dpotrs", found, NULL, error);
}

margin_status mg_lapack_dpstrf(mg_heap *heap, char uplo, int64_t n, double *a, int64_t lda,
                               int *pivots, double tolerance, int64_t *rank, int64_t *info,
                               margin_error *error) {
    fortran_sizes s;
    int found = 0, found_rank = 0, lwork;
    double *work;
    MG_TRY(NARROW("dpstrf", &s, n, lda));
    MG_TRY(new_workspace(heap, "dpstrf", 2.0 * (double)n, &work, &lwork, error));
    ROUTINE(dpstrf)
    (&uplo, &s.v[0], a, &s.v[1], pivots, &found_rank, &tolerance, work, &found, 1);
    mg_free(heap, work);
    *rank = found_rank;
    return finish("dpstrf", found, info, error);
}

margin_status mg_lapack_dgeqp3(mg_heap *heap, int64_t m, int64_t n, double *a, int64_t lda,
                               int *pivots, double *tau, margin_error *error) {
    fortran_sizes s;
    int found = 0, lwork = -1;
    double best = 0, *work;
    MG_TRY(NARROW("dgeqp3", &s, m, n, lda));
    ROUTINE(dgeqp3)(&s.v[0], &s.v[1], a, &s.v[2], pivots, tau, &best, &lwork, &found);
    MG_TRY(finish("dgeqp3", found, NULL, error));
    MG_TRY(new_workspace(heap, "dgeqp3", best, &work, &lwork, error));
    ROUTINE(dgeqp3)(&s.v[0], &s.v[1], a, &s.v[2], pivots, tau, work, &lwork, &found);
    mg_free(heap, work);
    return finish("dgeqp3", found, NULL, error);
}

margin_status mg_lapack_dormqr(mg_heap *heap, char side, char transpose, int64_t m, int64_t n,
                               int64_t k, const double *a, int64_t lda, const double *tau,
                               double *c, int64_t ldc, margin_error *error) {
    fortran_sizes s;
    int found = 0, lwork = -1;
    double best = 0, *work;
    MG_TRY(NARROW("dormqr", &s, m, n, k, lda, ldc));
    ROUTINE(dormqr)
    (&side, &transpose, &s.v[0], &s.v[1], &s.v[2], a, &s.v[3], tau, c, &s.v[4], &best, &lwork,
     &found, 1, 1);
    MG_TRY(finish("dormqr", found, NULL, error));
    MG_TRY(new_workspace(heap, "dormqr", best, &work, &lwork, error));
    ROUTINE(dormqr)
    (&side, &transpose, &s.v[0], &s.v[1], &s.v[2], a, &s.v[3], tau, c, &s.v[4], work, &lwork,
     &found, 1, 1);
    mg_free(heap, work);
    return finish("dormqr", found, NULL, error);
}

margin_status mg_lapack_dtrtrs(char uplo, char transpose, char diagonal, int64_t n, int64_t columns,
                               const double *a, int64_t lda, double *b, int64_t ldb, int64_t *info,
                               margin_error *error) {
    fortran_sizes s;
    int found = 0;
    MG_TRY(NARROW("dtrtrs", &s, n, columns, lda, ldb));
    ROUTINE(dtrtrs)
    (&uplo, &transpose, &diagonal, &s.v[0], &s.v[1], a, &s.v[2], b, &s.v[3], &found, 1, 1, 1);
    return finish("dtrtrs", found, info, error);
}

/* Its workspace grows as 2 n^2: the formula is evaluated here, since LAPACK's own answer to a
 * workspace query overflows for the sizes that must be refused. */
margin_status mg_lapack_dsyevd(mg_heap *heap, char vectors, char uplo, int64_t n, double *a,
                               int64_t lda, double *values, int64_t *info, margin_error *error) {
    fortran_sizes s;
    int found = 0, lwork, integer_lwork;
    double *work = NULL;
    int *integer_work = NULL;
    margin_status status;
    double rows = (double)n;
    double least = vectors == 'V' ? 1 + 6 * rows + 2 * rows * rows : 1 + 2 * rows;
    MG_GO(NARROW("dsyevd", &s, n, lda));
    /* room for the block size of the reduction to tridiagonal form (at most 64) */
    MG_GO(new_workspace(heap, "dsyevd", least + 64 * rows, &work, &lwork, error));
    integer_lwork = vectors == 'V' ? 3 + 5 * s.v[0] : 1;
    MG_GO_NEW(heap, integer_work, integer_lwork, "the workspace of an eigenvalue problem", error);
    ROUTINE(dsyevd)
    (&vectors, &uplo, &s.v[0], a, &s.v[1], values, work, &lwork, integer_work, &integer_lwork,
     &found, 1, 1);
    status = finish("dsyevd", found, info, error);
done:
    mg_free(heap, integer_work);
    mg_free(heap, work);
    return status;
}

margin_status mg_lapack_dgesdd(mg_heap *heap, char job, int64_t m, int64_t n, double *a,
                               int64_t lda, double *values, double *u, int64_t ldu, double *vt,
                               int64_t ldvt, int64_t *info, margin_error *error) {
    fortran_sizes s;
    int found = 0, lwork = -1;
    double best = 0, *work = NULL;
    int *integer_work = NULL;
    margin_status status;
    double least = (double)MG_MIN(m, n);
    MG_GO(NARROW("dgesdd", &s, m, n, lda, ldu, ldvt));
    MG_GO_NEW(heap, integer_work, 8 * MG_MIN(m, n), "the workspace of singular values", error);
    /* refuse here what the query below could not count */
    MG_GO(least * (6 + 4 * least) + (double)MG_MAX(m, n) <= INT32_MAX
              ? MARGIN_OK
              : mg_fail(error, MARGIN_ERROR_LIMIT,
                        "a matrix of %lld x %lld is too large for LAPACK's singular values",
                        (long long)m, (long long)n));
    ROUTINE(dgesdd)
    (&job, &s.v[0], &s.v[1], a, &s.v[2], values, u, &s.v[3], vt, &s.v[4], &best, &lwork,
     integer_work, &found, 1);
    MG_GO(finish("dgesdd", found, NULL, error));
    MG_GO(new_workspace(heap, "dgesdd", best, &work, &lwork, error));
    ROUTINE(dgesdd)
    (&job, &s.v[0], &s.v[1], a, &s.v[2], values, u, &s.v[3], vt, &s.v[4], work, &lwork,
     integer_work, &found, 1);
    status = finish("dgesdd", found, info, error);
done:
    mg_free(heap, integer_work);
    mg_free(heap, work);
    return status;
}
