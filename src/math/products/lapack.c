/* Thin wrappers: 64-bit sizes checked, workspace allocated, Fortran's hidden lengths passed. */
#include "math/products/lapack.h"

#include "math/products/blas.h"

#if MARGIN_REFERENCE_LAPACK
#define ROUTINE(name) mg_ref_##name /* renamed by cmake/lapack.cmake */
#define DESCRIPTION                                                                                \
    "reference LAPACK on products of our own, linked in statically, no threads of its own"
#else
#define ROUTINE(name) name##_
#define DESCRIPTION   "the system's LAPACK, thread safety not known"
#endif

/* Fortran: every argument by address, lengths of character arguments by value at the end. Hidden,
 * so that the shared library does not export the routines that are linked into it. */
#if MARGIN_REFERENCE_LAPACK
#pragma GCC visibility push(hidden)
#endif
void ROUTINE(dgeqp3)(const int *m, const int *n, double *a, const int *lda, int *pivots,
                     double *tau, double *work, const int *lwork, int *info);
void ROUTINE(dormqr)(const char *side, const char *transpose, const int *m, const int *n,
                     const int *k, const double *a, const int *lda, const double *tau, double *c,
                     const int *ldc, double *work, const int *lwork, int *info, size_t side_length,
                     size_t transpose_length);
void ROUTINE(dsyevd)(const char *vectors, const char *uplo, const int *n, double *a, const int *lda,
                     double *values, double *work, const int *lwork, int *integer_work,
                     const int *integer_lwork, int *info, size_t vectors_length,
                     size_t uplo_length);
void ROUTINE(dpstrf)(const char *uplo, const int *n, double *a, const int *lda, int *pivots,
                     int *rank, const double *tolerance, double *work, int *info,
                     size_t uplo_length);
void ROUTINE(dtpqrt)(const int *m, const int *n, const int *l, const int *block, double *a,
                     const int *lda, double *b, const int *ldb, double *t, const int *ldt,
                     double *work, int *info);
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

/* One call: what its routine takes, and what came of it. */
typedef struct routine {
    const char *name;
    void (*run)(void *routine); /* with `work` of `lwork` numbers; -1: asks how many */
    fortran_sizes s;
    char word[2];
    double *a, *b, *c, *values;
    const double *reflectors, *factors;
    double *work, best;
    int *integers, *integer_work;
    int lwork, integer_lwork, found;
} routine;

/* found < 0 means that argument -found was wrong: a defect of ours, since sizes were checked. */
static margin_status lapack_check(const routine *r, margin_error *error) {
    MG_REQUIRE(r->found >= 0, error, MARGIN_ERROR_INTERNAL, "argument %d of LAPACK's %s was wrong",
               -r->found, r->name);
    return MARGIN_OK;
}

static margin_status ask(routine *r, margin_error *error) {
    r->work = &r->best;
    r->lwork = -1;
    r->run(r);
    return lapack_check(r, error);
}

/* With a workspace of `length` numbers, which LAPACK must be able to count. order: of the products
 * in it. */
static margin_status lapack_run(routine *r, const mg_stop *stop, double length, int64_t order,
                                int64_t *info, margin_error *error) {
    mg_heap *heap = stop->context->heap;
    MG_REQUIRE(length <= INT32_MAX, error, MARGIN_ERROR_LIMIT,
               "the matrix is too large: the workspace of LAPACK's %s would exceed 2147483647 "
               "numbers",
               r->name);
    r->lwork = length < 1 ? 1 : (int)length;
    MG_NEW(heap, r->work, r->lwork, "the workspace of a matrix factorisation", error);
    const margin_status status = mg_blas_run(stop, order, r->run, r, error);
    mg_free(heap, r->work);
    if (status != MARGIN_OK) return status;
    if (info) *info = r->found;
    return lapack_check(r, error);
}

static void call_dgeqp3(void *argument) {
    routine *r = argument;
    ROUTINE(dgeqp3)
    (&r->s.v[0], &r->s.v[1], r->a, &r->s.v[2], r->integers, r->values, r->work, &r->lwork,
     &r->found);
}

margin_status mg_lapack_dgeqp3(const mg_stop *stop, int64_t m, int64_t n, double *a, int64_t lda,
                               int *pivots, double *tau, margin_error *error) {
    routine r = {.name = "dgeqp3", .run = call_dgeqp3, .a = a, .values = tau, .integers = pivots};
    MG_TRY(NARROW(r.name, &r.s, m, n, lda));
    MG_TRY(ask(&r, error));
    return lapack_run(&r, stop, r.best, MG_MAX(m, n), NULL, error);
}

static void call_dormqr(void *argument) {
    routine *r = argument;
    ROUTINE(dormqr)
    (&r->word[0], &r->word[1], &r->s.v[0], &r->s.v[1], &r->s.v[2], r->reflectors, &r->s.v[3],
     r->factors, r->c, &r->s.v[4], r->work, &r->lwork, &r->found, 1, 1);
}

margin_status mg_lapack_dormqr(const mg_stop *stop, char side, char transpose, int64_t m, int64_t n,
                               int64_t k, const double *a, int64_t lda, const double *tau,
                               double *c, int64_t ldc, margin_error *error) {
    routine r = {.name = "dormqr",
                 .run = call_dormqr,
                 .word = {side, transpose},
                 .reflectors = a,
                 .factors = tau,
                 .c = c};
    MG_TRY(NARROW(r.name, &r.s, m, n, k, lda, ldc));
    MG_TRY(ask(&r, error));
    return lapack_run(&r, stop, r.best, MG_MAX(n, k), NULL, error);
}

enum { PANEL = 32 }; /* columns that are made without products of matrices */

static void call_dtpqrt(void *argument) {
    routine *r = argument;
    const int panel = MG_MAX(1, MG_MIN(PANEL, r->s.v[1]));
    ROUTINE(dtpqrt)
    (&r->s.v[0], &r->s.v[1], &r->s.v[2], &panel, r->a, &r->s.v[3], r->b, &r->s.v[4], r->work,
     &panel, r->work + r->lwork / 2, &r->found);
}

margin_status mg_lapack_dtpqrt(const mg_stop *stop, int64_t m, int64_t n, int64_t l, double *a,
                               int64_t lda, double *b, int64_t ldb, margin_error *error) {
    routine r = {.name = "dtpqrt", .run = call_dtpqrt, .a = a, .b = b};
    MG_TRY(NARROW(r.name, &r.s, m, n, l, lda, ldb));
    return lapack_run(&r, stop, 2.0 * PANEL * (double)MG_MAX(n, 1), MG_MAX(m, n), NULL, error);
}

static void call_dsyevd(void *argument) {
    routine *r = argument;
    ROUTINE(dsyevd)
    (&r->word[0], &r->word[1], &r->s.v[0], r->a, &r->s.v[1], r->values, r->work, &r->lwork,
     r->integer_work, &r->integer_lwork, &r->found, 1, 1);
}

/* Its workspace grows as 2 n^2: the formula is evaluated here, since LAPACK's own answer to a
 * workspace query overflows for the sizes that must be refused. */
margin_status mg_lapack_dsyevd(const mg_stop *stop, char vectors, char uplo, int64_t n, double *a,
                               int64_t lda, double *values, int64_t *info, margin_error *error) {
    routine r = {
        .name = "dsyevd", .run = call_dsyevd, .word = {vectors, uplo}, .a = a, .values = values};
    const double rows = (double)n;
    const double least = vectors == 'V' ? 1 + 6 * rows + 2 * rows * rows : 1 + 2 * rows;
    MG_TRY(NARROW(r.name, &r.s, n, lda));
    r.integer_lwork = (int)MG_MIN(3 + 5 * n, INT32_MAX);
    MG_NEW(stop->context->heap, r.integer_work, r.integer_lwork,
           "the workspace of an eigenvalue problem", error);
    /* room for the block size of the reduction to tridiagonal form (at most 64) */
    const margin_status status = lapack_run(&r, stop, least + 64 * rows, n, info, error);
    mg_free(stop->context->heap, r.integer_work);
    return status;
}

static void call_dpstrf(void *argument) {
    routine *r = argument;
    ROUTINE(dpstrf)
    (&r->word[0], &r->s.v[0], r->a, &r->s.v[1], r->integers, r->integer_work, &r->best, r->work,
     &r->found, 1);
}

margin_status mg_lapack_dpstrf(const mg_stop *stop, char uplo, int64_t n, double *a, int64_t lda,
                               int *pivots, double tolerance, int *rank, margin_error *error) {
    routine r = {.name = "dpstrf",
                 .run = call_dpstrf,
                 .word = {uplo},
                 .a = a,
                 .integers = pivots,
                 .integer_work = rank,
                 .best = tolerance};
    int64_t info; /* 1: the rank is not full */
    MG_TRY(NARROW(r.name, &r.s, n, lda));
    return lapack_run(&r, stop, 2.0 * (double)n, n, &info, error);
}
