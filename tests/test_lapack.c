/* LAPACK's seam: factorisations rebuilt, sizes and outcomes, and the race: many threads at once
 * give the serial result bit by bit, and no thread appears that is not ours. */
#include "support/support.h"

#include "math/products/lapack.h"

#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static mg_heap *new_heap(const margin_allocator *allocator) {
    mg_heap *heap = NULL;
    assert_int_equal(mg_heap_create(allocator, 0, &heap, NULL), MARGIN_OK);
    return heap;
}

static double *random_matrix(int64_t rows, int64_t columns, uint64_t seed) {
    double *a = malloc((size_t)(rows * columns) * sizeof *a);
    assert_non_null(a);
    for (int64_t i = 0; i < rows * columns; i++)
        a[i] = support_normal(&seed);
    return a;
}

static double *copy_of(const double *a, int64_t count) {
    double *b = malloc((size_t)count * sizeof *b);
    assert_non_null(b);
    memcpy(b, a, (size_t)count * sizeof *b);
    return b;
}

/* c = a b, column-major, plain loops: the oracle. */
static double *product(const double *a, const double *b, int64_t m, int64_t k, int64_t n) {
    double *c = calloc((size_t)(m * n), sizeof *c);
    assert_non_null(c);
    for (int64_t j = 0; j < n; j++)
        for (int64_t l = 0; l < k; l++)
            for (int64_t i = 0; i < m; i++)
                c[i + j * m] += a[i + l * m] * b[l + j * k];
    return c;
}

static double *transposed(const double *a, int64_t m, int64_t n) {
    double *t = malloc((size_t)(m * n) * sizeof *t);
    assert_non_null(t);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < m; i++)
            t[j + i * n] = a[i + j * m];
    return t;
}

/* x x' / n + 0.1, positive definite for n columns or more */
static double *definite_matrix(int64_t n, uint64_t seed) {
    double *x = random_matrix(n, n, seed), *t = transposed(x, n, n), *a = product(x, t, n, n, n);
    for (int64_t i = 0; i < n; i++)
        a[i + i * n] += 0.1 * (double)n;
    free(x);
    free(t);
    return a;
}

static void assert_same_matrix(const double *a, const double *b, int64_t count, double tolerance) {
    for (int64_t i = 0; i < count; i++)
        assert_close(a[i], b[i], tolerance);
}

static void cholesky_solves(void **state) {
    (void)state;
    enum { N = 130, RHS = 3 }; /* beyond one LAPACK block of 64 */
    double *a = definite_matrix(N, 1), *factor = copy_of(a, N * N);
    double *x = random_matrix(N, RHS, 2), *b = product(a, x, N, N, RHS);
    int64_t info = -1;
    assert_int_equal(mg_lapack_dpotrf('L', N, factor, N, &info, NULL), MARGIN_OK);
    assert_int_equal(info, 0);
    assert_int_equal(mg_lapack_dpotrs('L', N, RHS, factor, N, b, N, NULL), MARGIN_OK);
    assert_same_matrix(b, x, N * RHS, 1e-12);
    for (int64_t j = 0; j < N; j++)
        for (int64_t i = 0; i < j; i++)
            factor[i + j * N] = 0;
    double *upper = transposed(factor, N, N), *rebuilt = product(factor, upper, N, N, N);
    assert_same_matrix(rebuilt, a, N * N, 1e-13);
    free(a), free(factor), free(x), free(b), free(upper), free(rebuilt);
}

static void cholesky_of_an_indefinite_matrix(void **state) {
    (void)state;
    double a[9] = {4, 2, 0, 2, 1, 0, 0, 0, 1}; /* the leading 2 x 2 minor is 0 */
    int64_t info = -1;
    assert_int_equal(mg_lapack_dpotrf('U', 3, a, 3, &info, NULL), MARGIN_OK);
    assert_int_equal(info, 2);
}

static void pivoted_cholesky_finds_the_rank(void **state) {
    (void)state;
    enum { N = 40, RANK = 7 };
    mg_heap *heap = new_heap(NULL);
    double *x = random_matrix(N, RANK, 3), *t = transposed(x, N, RANK);
    double *a = product(x, t, N, RANK, N), *factor = copy_of(a, N * N);
    int pivots[N];
    int64_t rank = -1, info = -1;
    assert_int_equal(mg_lapack_dpstrf(heap, 'L', N, factor, N, pivots, 1e-9, &rank, &info, NULL),
                     MARGIN_OK);
    assert_int_equal(rank, RANK);
    assert_int_equal(info, 1);
    /* P' a P = L L' on the leading columns of L */
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j <= i; j++) {
            double sum = 0;
            for (int64_t l = 0; l < RANK && l <= j; l++)
                sum += factor[i + l * N] * factor[j + l * N];
            assert_close(sum, a[(pivots[i] - 1) + (pivots[j] - 1) * N], 1e-11);
        }
    free(x), free(t), free(a), free(factor);
    mg_heap_release(heap);
}

static void pivoted_qr_rebuilds(void **state) {
    (void)state;
    enum { M = 90, N = 50 };
    mg_heap *heap = new_heap(NULL);
    double *a = random_matrix(M, N, 4), *qr = copy_of(a, M * N), tau[N];
    int pivots[N] = {0};
    assert_int_equal(mg_lapack_dgeqp3(heap, M, N, qr, M, pivots, tau, NULL), MARGIN_OK);
    double *r = calloc(M * N, sizeof *r);
    assert_non_null(r);
    for (int64_t j = 0; j < N; j++)
        for (int64_t i = 0; i <= j; i++)
            r[i + j * M] = qr[i + j * M];
    for (int64_t j = 1; j < N; j++) /* pivoting: the diagonal does not grow */
        assert_true(fabs(r[j + j * M]) <= fabs(r[j - 1 + (j - 1) * M]) * (1 + 1e-12));
    assert_int_equal(mg_lapack_dormqr(heap, 'L', 'N', M, N, N, qr, M, tau, r, M, NULL), MARGIN_OK);
    for (int64_t j = 0; j < N; j++)
        assert_same_matrix(r + j * M, a + (pivots[j] - 1) * M, M, 1e-13);
    free(a), free(qr), free(r);
    mg_heap_release(heap);
}

static void triangular_solve(void **state) {
    (void)state;
    double l[9] = {2, 1, 4, 0, 3, 5, 0, 0, 8}, b[3] = {2, 7, 38}; /* x = (1, 2, 3) */
    int64_t info = -1;
    assert_int_equal(mg_lapack_dtrtrs('L', 'N', 'N', 3, 1, l, 3, b, 3, &info, NULL), MARGIN_OK);
    assert_int_equal(info, 0);
    for (int i = 0; i < 3; i++)
        assert_close(b[i], i + 1, 1e-15);
    l[4] = 0;
    assert_int_equal(mg_lapack_dtrtrs('L', 'N', 'N', 3, 1, l, 3, b, 3, &info, NULL), MARGIN_OK);
    assert_int_equal(info, 2);
    assert_close(b[2], 3, 1e-15); /* untouched */
}

static void symmetric_eigenvalues(void **state) {
    (void)state;
    mg_heap *heap = new_heap(NULL);
    double small[4] = {2, 1, 1, 2}, two[2]; /* eigenvalues 1 and 3 */
    int64_t info = -1;
    assert_int_equal(mg_lapack_dsyevd(heap, 'N', 'L', 2, small, 2, two, &info, NULL), MARGIN_OK);
    assert_close(two[0], 1, 1e-15);
    assert_close(two[1], 3, 1e-15);

    enum { N = 80 };
    double *a = definite_matrix(N, 5), *v = copy_of(a, N * N), values[N];
    assert_int_equal(mg_lapack_dsyevd(heap, 'V', 'U', N, v, N, values, &info, NULL), MARGIN_OK);
    assert_int_equal(info, 0);
    double *av = product(a, v, N, N, N);
    for (int64_t j = 0; j < N; j++) {
        assert_true(j == 0 || values[j] >= values[j - 1]);
        for (int64_t i = 0; i < N; i++)
            assert_true(fabs(av[i + j * N] - values[j] * v[i + j * N]) <= 1e-12 * values[N - 1]);
    }
    free(a), free(v), free(av);
    mg_heap_release(heap);
}

static void singular_values_rebuild(void **state) {
    (void)state;
    enum { M = 70, N = 30 };
    mg_heap *heap = new_heap(NULL);
    double *a = random_matrix(M, N, 6), *work = copy_of(a, M * N);
    double *u = malloc(M * N * sizeof *u), *vt = malloc(N * N * sizeof *vt), values[N], again[N];
    int64_t info = -1;
    assert_int_equal(mg_lapack_dgesdd(heap, 'S', M, N, work, M, values, u, M, vt, N, &info, NULL),
                     MARGIN_OK);
    assert_int_equal(info, 0);
    for (int64_t j = 0; j < N; j++)
        for (int64_t i = 0; i < M; i++)
            u[i + j * M] *= values[j];
    double *rebuilt = product(u, vt, M, N, N);
    assert_same_matrix(rebuilt, a, M * N, 1e-13);
    memcpy(work, a, M * N * sizeof *a);
    assert_int_equal(
        mg_lapack_dgesdd(heap, 'N', M, N, work, M, again, NULL, 1, NULL, 1, &info, NULL),
        MARGIN_OK);
    assert_same_matrix(again, values, N, 1e-13);
    free(a), free(work), free(u), free(vt), free(rebuilt);
    mg_heap_release(heap);
}

static void empty_matrices(void **state) {
    (void)state;
    mg_heap *heap = new_heap(NULL);
    double none = 0;
    int pivot = 0;
    int64_t info = -1, rank = -1;
    assert_int_equal(mg_lapack_dpotrf('L', 0, &none, 1, &info, NULL), MARGIN_OK);
    assert_int_equal(info, 0);
    assert_int_equal(mg_lapack_dgeqp3(heap, 0, 0, &none, 1, &pivot, &none, NULL), MARGIN_OK);
    assert_int_equal(mg_lapack_dpstrf(heap, 'L', 0, &none, 1, &pivot, -1, &rank, &info, NULL),
                     MARGIN_OK);
    assert_int_equal(mg_lapack_dsyevd(heap, 'V', 'L', 0, &none, 1, &none, &info, NULL), MARGIN_OK);
    assert_int_equal(
        mg_lapack_dgesdd(heap, 'S', 0, 0, &none, 1, &none, &none, 1, &none, 1, &info, NULL),
        MARGIN_OK);
    mg_heap_release(heap);
}

/* Refused before anything is touched, so no memory stands behind the pointers. */
static void sizes_beyond_32_bits(void **state) {
    (void)state;
    mg_heap *heap = new_heap(NULL);
    int64_t huge = (int64_t)INT32_MAX + 1, info = -1, rank = -1;
    margin_error error = {0};
    assert_int_equal(mg_lapack_dpotrf('L', huge, NULL, huge, &info, &error), MARGIN_ERROR_LIMIT);
    assert_contains(error.text, "2147483648");
    assert_contains(error.text, "dpotrf");
    assert_int_equal(mg_lapack_dpotrs('L', 1, huge, NULL, 1, NULL, 1, NULL), MARGIN_ERROR_LIMIT);
    assert_int_equal(mg_lapack_dtrtrs('L', 'N', 'N', 1, 1, NULL, huge, NULL, 1, &info, NULL),
                     MARGIN_ERROR_LIMIT);
    assert_int_equal(mg_lapack_dgeqp3(heap, huge, 1, NULL, huge, NULL, NULL, NULL),
                     MARGIN_ERROR_LIMIT);
    assert_int_equal(mg_lapack_dormqr(heap, 'L', 'N', 1, huge, 1, NULL, 1, NULL, NULL, 1, NULL),
                     MARGIN_ERROR_LIMIT);
    assert_int_equal(
        mg_lapack_dpstrf(heap, 'L', 1500000000, NULL, 1500000000, NULL, 0, &rank, &info, NULL),
        MARGIN_ERROR_LIMIT); /* the size fits, 2 n does not */
    /* 2 n^2 passes 2^31 between these two; the smaller fails for want of memory, not by size */
    assert_int_equal(mg_lapack_dsyevd(heap, 'V', 'L', 32767, NULL, 32767, NULL, &info, &error),
                     MARGIN_ERROR_LIMIT);
    assert_contains(error.text, "dsyevd");
    assert_int_equal(mg_lapack_dgesdd(heap, 'S', 30000, 30000, NULL, 30000, NULL, NULL, 30000, NULL,
                                      30000, &info, &error),
                     MARGIN_ERROR_LIMIT);
    assert_contains(error.text, "30000 x 30000");
    assert_int_equal(info, -1);
    mg_heap_release(heap);
}

/* The library's own handler prints and stops the program; ours lets the call return. */
static void wrong_arguments_come_back(void **state) {
    (void)state;
    double a[1] = {1};
    int64_t info = -1;
    margin_error error = {0};
    assert_int_equal(mg_lapack_dpotrf('X', 1, a, 1, &info, &error), MARGIN_ERROR_INTERNAL);
    assert_contains(error.text, "argument 1 of LAPACK's dpotrf");
    assert_int_equal(mg_lapack_dpotrf('L', -1, a, 1, &info, NULL), MARGIN_ERROR_INTERNAL);
    assert_int_equal(mg_lapack_dpotrf('L', 2, a, 1, &info, &error), MARGIN_ERROR_INTERNAL);
    assert_contains(error.text, "argument 4");
    assert_int_equal(info, -1);
}

/* ---- Allocation ---- */

static margin_status call_everything(mg_heap *heap, margin_error *error) {
    enum { N = 6 };
    double *a = definite_matrix(N, 7), values[N], tau[N], u[N * N] = {0}, vt[N * N];
    int pivots[N] = {0};
    int64_t rank, info;
    margin_status status = mg_lapack_dpstrf(heap, 'L', N, a, N, pivots, -1, &rank, &info, error);
    memset(pivots, 0, sizeof pivots);
    if (status >= 0) status = mg_lapack_dgeqp3(heap, N, N, a, N, pivots, tau, error);
    if (status >= 0) status = mg_lapack_dormqr(heap, 'L', 'T', N, N, N, a, N, tau, u, N, error);
    if (status >= 0) status = mg_lapack_dsyevd(heap, 'V', 'L', N, a, N, values, &info, error);
    if (status >= 0)
        status = mg_lapack_dgesdd(heap, 'A', N, N, a, N, values, u, N, vt, N, &info, error);
    free(a);
    return status;
}

static void each_allocation_failing(void **state) {
    (void)state;
    int failed = 0;
    for (int n = 1;; n++) {
        support_heap counted;
        support_heap_init(&counted);
        margin_allocator allocator = support_allocator(&counted);
        mg_heap *heap = new_heap(&allocator);
        margin_error error = {0};
        atomic_store(&counted.fail_at, atomic_load(&counted.calls) + n);
        margin_status status = call_everything(heap, &error);
        mg_heap_release(heap);
        support_assert_nothing_live(&counted);
        if (atomic_load(&counted.failures) == 0) {
            assert_int_equal(status, MARGIN_OK);
            break;
        }
        assert_int_equal(status, MARGIN_ERROR_MEMORY);
        failed++;
    }
    assert_int_equal(failed, 7); /* one each, two for dsyevd and dgesdd */
}

/* ---- Race ---- */

enum { RACE_N = 150, RACE_THREADS = 8, RACE_ROUNDS = 6 };

/* Everything that the routines leave behind for one input. */
typedef struct race_result {
    double factor[RACE_N * RACE_N], solution[RACE_N], qr[RACE_N * RACE_N], tau[RACE_N];
    double vectors[RACE_N * RACE_N], values[RACE_N], singular[RACE_N];
    int pivots[RACE_N];
} race_result;

typedef struct race {
    mg_heap *heap;
    pthread_barrier_t start;
    const race_result *expected;
    int64_t matching;
} race;

static margin_status run_all(mg_heap *heap, uint64_t seed, race_result *out) {
    memset(out, 0, sizeof *out);
    double *a = definite_matrix(RACE_N, seed), *x = random_matrix(RACE_N, RACE_N, seed + 1);
    int64_t info;
    memcpy(out->factor, a, sizeof out->factor);
    memcpy(out->solution, x, sizeof out->solution);
    memcpy(out->qr, x, sizeof out->qr);
    memcpy(out->vectors, a, sizeof out->vectors);
    margin_status status = mg_lapack_dpotrf('L', RACE_N, out->factor, RACE_N, &info, NULL);
    if (status >= 0)
        status = mg_lapack_dpotrs('L', RACE_N, 1, out->factor, RACE_N, out->solution, RACE_N, NULL);
    if (status >= 0)
        status =
            mg_lapack_dgeqp3(heap, RACE_N, RACE_N, out->qr, RACE_N, out->pivots, out->tau, NULL);
    if (status >= 0)
        status = mg_lapack_dsyevd(heap, 'V', 'L', RACE_N, out->vectors, RACE_N, out->values, &info,
                                  NULL);
    if (status >= 0)
        status = mg_lapack_dgesdd(heap, 'N', RACE_N, RACE_N, x, RACE_N, out->singular, NULL, 1,
                                  NULL, 1, &info, NULL);
    free(a), free(x);
    return status;
}

static uint64_t race_seed(int round) {
    return 100 + (uint64_t)round % 3;
}

static void *race_thread(void *argument) {
    race *shared = argument;
    race_result *mine = malloc(sizeof *mine);
    int64_t matching = 0;
    pthread_barrier_wait(&shared->start);
    for (int round = 0; mine && round < RACE_ROUNDS; round++) {
        if (run_all(shared->heap, race_seed(round), mine) < 0) continue;
        matching += memcmp(mine, &shared->expected[round % 3], sizeof *mine) == 0;
    }
    free(mine);
    __atomic_fetch_add(&shared->matching, matching, __ATOMIC_RELAXED);
    return NULL;
}

static int threads_of_this_process(void) {
    DIR *tasks = opendir("/proc/self/task");
    if (!tasks) return 1;
    int count = 0;
    for (struct dirent *entry = readdir(tasks); entry; entry = readdir(tasks))
        count += entry->d_name[0] != '.';
    closedir(tasks);
    return count;
}

static void many_threads_give_the_serial_bits(void **state) {
    (void)state;
    race shared = {.heap = new_heap(NULL)};
    race_result *expected = malloc(3 * sizeof *expected);
    assert_non_null(expected);
    int before = threads_of_this_process();
    for (int i = 0; i < 3; i++)
        assert_int_equal(run_all(shared.heap, race_seed(i), &expected[i]), MARGIN_OK);
    assert_int_equal(threads_of_this_process(), before); /* LAPACK started none */
    shared.expected = expected;
    assert_int_equal(pthread_barrier_init(&shared.start, NULL, RACE_THREADS), 0);
    pthread_t threads[RACE_THREADS];
    for (int i = 0; i < RACE_THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, race_thread, &shared), 0);
    for (int i = 0; i < RACE_THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&shared.start);
    free(expected);
    mg_heap_release(shared.heap);
    assert_int_equal(shared.matching, RACE_THREADS * RACE_ROUNDS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cholesky_solves),
        cmocka_unit_test(cholesky_of_an_indefinite_matrix),
        cmocka_unit_test(pivoted_cholesky_finds_the_rank),
        cmocka_unit_test(pivoted_qr_rebuilds),
        cmocka_unit_test(triangular_solve),
        cmocka_unit_test(symmetric_eigenvalues),
        cmocka_unit_test(singular_values_rebuild),
        cmocka_unit_test(empty_matrices),
        cmocka_unit_test(sizes_beyond_32_bits),
        cmocka_unit_test(wrong_arguments_come_back),
        cmocka_unit_test(each_allocation_failing),
        cmocka_unit_test(many_threads_give_the_serial_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
