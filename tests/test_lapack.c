/* LAPACK's seam: factorisations rebuilt, sizes and outcomes, and the race: many threads at once
 * give the serial result bit by bit, and no thread appears that is not ours. */
#include "support/support.h"

#include "math/products/lapack.h"

#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

static void pivoted_qr_rebuilds(void **state) {
    (void)state;
    enum { M = 90, N = 50 };
    margin_context *context = support_context(NULL, 1);
    const mg_stop stop = mg_stop_make(context, -1);
    double *a = random_matrix(M, N, 4), *qr = copy_of(a, M * N), tau[N];
    int pivots[N] = {0};
    assert_int_equal(mg_lapack_dgeqp3(&stop, M, N, qr, M, pivots, tau, NULL), MARGIN_OK);
    double *r = calloc(M * N, sizeof *r);
    assert_non_null(r);
    for (int64_t j = 0; j < N; j++)
        for (int64_t i = 0; i <= j; i++)
            r[i + j * M] = qr[i + j * M];
    for (int64_t j = 1; j < N; j++) /* pivoting: the diagonal does not grow */
        assert_true(fabs(r[j + j * M]) <= fabs(r[j - 1 + (j - 1) * M]) * (1 + 1e-12));
    assert_int_equal(mg_lapack_dormqr(&stop, 'L', 'N', M, N, N, qr, M, tau, r, M, NULL), MARGIN_OK);
    for (int64_t j = 0; j < N; j++)
        assert_same_matrix(r + j * M, a + (pivots[j] - 1) * M, M, 1e-13);
    free(a), free(qr), free(r);
    margin_context_free(context);
}

/* R'R is what the rows put in have: A'A + B'B. */
static void triangles_fold(void **state) {
    (void)state;
    enum { N = 70, M = 90 };
    margin_context *context = support_context(NULL, 1);
    const mg_stop stop = mg_stop_make(context, -1);
    double *a = random_matrix(N, N, 8), *b = random_matrix(M, N, 9);
    for (int64_t j = 0; j < N; j++)
        for (int64_t i = j + 1; i < N; i++)
            a[i + j * N] = 0;
    double *at = transposed(a, N, N), *bt = transposed(b, M, N);
    double *first = product(at, a, N, N, N), *second = product(bt, b, N, M, N);
    assert_int_equal(mg_lapack_dtpqrt(&stop, M, N, 0, a, N, b, M, NULL), MARGIN_OK);
    double *rt = transposed(a, N, N), *rebuilt = product(rt, a, N, N, N);
    for (int64_t i = 0; i < N * N; i++)
        assert_true(fabs(rebuilt[i] - first[i] - second[i]) <= 1e-11);
    free(a), free(b), free(at), free(bt), free(first), free(second), free(rt), free(rebuilt);
    margin_context_free(context);
}

static void symmetric_eigenvalues(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 1);
    const mg_stop stop = mg_stop_make(context, -1);
    double small[4] = {2, 1, 1, 2}, two[2]; /* eigenvalues 1 and 3 */
    int64_t info = -1;
    assert_int_equal(mg_lapack_dsyevd(&stop, 'N', 'L', 2, small, 2, two, &info, NULL), MARGIN_OK);
    assert_close(two[0], 1, 1e-15);
    assert_close(two[1], 3, 1e-15);

    enum { N = 80 };
    double *a = definite_matrix(N, 5), *v = copy_of(a, N * N), values[N];
    assert_int_equal(mg_lapack_dsyevd(&stop, 'V', 'U', N, v, N, values, &info, NULL), MARGIN_OK);
    assert_int_equal(info, 0);
    double *av = product(a, v, N, N, N);
    for (int64_t j = 0; j < N; j++) {
        assert_true(j == 0 || values[j] >= values[j - 1]);
        for (int64_t i = 0; i < N; i++)
            assert_true(fabs(av[i + j * N] - values[j] * v[i + j * N]) <= 1e-12 * values[N - 1]);
    }
    free(a), free(v), free(av);
    margin_context_free(context);
}

/* Of rank 30: the factor rebuilds the matrix, and nothing is left on the diagonal behind it. */
static void pivoted_cholesky_rebuilds(void **state) {
    (void)state;
    enum { N = 150, RANK = 30 };
    margin_context *context = support_context(NULL, 1);
    const mg_stop stop = mg_stop_make(context, -1);
    double *x = random_matrix(N, RANK, 6), *t = transposed(x, N, RANK);
    double *a = product(x, t, N, RANK, N), *u = copy_of(a, N * N);
    int pivots[N] = {0}, rank = 0;
    assert_int_equal(mg_lapack_dpstrf(&stop, 'U', N, u, N, pivots, 1e-9, &rank, NULL), MARGIN_OK);
    assert_int_equal(rank, RANK);
    assert_true(fabs(u[RANK * (N + 1)]) <= 1e-9);
    for (int64_t j = 0; j < N; j++)
        for (int64_t i = 0; i <= j; i++) {
            double sum = 0;
            for (int64_t l = 0; l <= (i < RANK ? i : RANK - 1); l++)
                sum += u[l + i * N] * u[l + j * N];
            assert_true(fabs(sum - a[pivots[i] - 1 + (pivots[j] - 1) * N]) <= 1e-10);
        }
    free(x), free(t), free(a), free(u);
    margin_context_free(context);
}

static void empty_matrices(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 1);
    const mg_stop stop = mg_stop_make(context, -1);
    double none = 0;
    int pivot = 0;
    int64_t info = -1;
    assert_int_equal(mg_lapack_dtpqrt(&stop, 0, 0, 0, &none, 1, &none, 1, NULL), MARGIN_OK);
    assert_int_equal(mg_lapack_dgeqp3(&stop, 0, 0, &none, 1, &pivot, &none, NULL), MARGIN_OK);
    assert_int_equal(mg_lapack_dsyevd(&stop, 'V', 'L', 0, &none, 1, &none, &info, NULL), MARGIN_OK);
    int rank = -1;
    assert_int_equal(mg_lapack_dpstrf(&stop, 'U', 0, &none, 1, &pivot, 0, &rank, NULL), MARGIN_OK);
    margin_context_free(context);
}

/* Refused before anything is touched, so no memory stands behind the pointers. */
static void sizes_beyond_32_bits(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 1);
    const mg_stop stop = mg_stop_make(context, -1);
    int64_t huge = (int64_t)INT32_MAX + 1, info = -1;
    margin_error error = {0};
    assert_int_equal(mg_lapack_dtpqrt(&stop, huge, 1, 0, NULL, 1, NULL, huge, &error),
                     MARGIN_ERROR_LIMIT);
    assert_contains(error.text, "2147483648");
    assert_contains(error.text, "dtpqrt");
    assert_int_equal(mg_lapack_dgeqp3(&stop, huge, 1, NULL, huge, NULL, NULL, NULL),
                     MARGIN_ERROR_LIMIT);
    assert_int_equal(mg_lapack_dormqr(&stop, 'L', 'N', 1, huge, 1, NULL, 1, NULL, NULL, 1, NULL),
                     MARGIN_ERROR_LIMIT);
    /* 2 n^2 passes 2^31 between these two; the smaller fails for want of memory, not by size */
    assert_int_equal(mg_lapack_dsyevd(&stop, 'V', 'L', 32767, NULL, 32767, NULL, &info, &error),
                     MARGIN_ERROR_LIMIT);
    assert_contains(error.text, "dsyevd");
    assert_int_equal(mg_lapack_dpstrf(&stop, 'U', huge, NULL, huge, NULL, 0, NULL, &error),
                     MARGIN_ERROR_LIMIT);
    assert_contains(error.text, "dpstrf");
    assert_int_equal(info, -1);
    margin_context_free(context);
}

/* The library's own handler prints and stops the program; ours lets the call return. */
static void wrong_arguments_come_back(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 1);
    const mg_stop stop = mg_stop_make(context, -1);
    double a[1] = {1}, value = 0;
    int64_t info = 0;
    margin_error error = {0};
    assert_int_equal(mg_lapack_dsyevd(&stop, 'X', 'L', 1, a, 1, &value, &info, &error),
                     MARGIN_ERROR_INTERNAL);
    assert_contains(error.text, "argument 1 of LAPACK's dsyevd");
    assert_int_equal(mg_lapack_dsyevd(&stop, 'V', 'L', -1, a, 1, &value, &info, NULL),
                     MARGIN_ERROR_INTERNAL);
    assert_int_equal(mg_lapack_dsyevd(&stop, 'V', 'L', 2, a, 1, &value, &info, &error),
                     MARGIN_ERROR_INTERNAL);
    margin_context_free(context);
}

/* ---- Allocation ---- */

static margin_status call_everything(margin_context *context, void *user, margin_error *error) {
    enum { N = 6 };
    const mg_stop stop = mg_stop_make(context, -1);
    double *a = definite_matrix(N, 7), values[N], tau[N], u[N * N] = {0};
    int pivots[N] = {0}, rank;
    int64_t info;
    (void)user;
    margin_status status = mg_lapack_dgeqp3(&stop, N, N, a, N, pivots, tau, error);
    if (status >= 0) status = mg_lapack_dormqr(&stop, 'L', 'T', N, N, N, a, N, tau, u, N, error);
    if (status >= 0) status = mg_lapack_dtpqrt(&stop, N, N, 0, a, N, u, N, error);
    if (status >= 0) status = mg_lapack_dsyevd(&stop, 'V', 'L', N, a, N, values, &info, error);
    if (status >= 0) status = mg_lapack_dpstrf(&stop, 'U', N, a, N, pivots, 1e300, &rank, error);
    free(a);
    return status;
}

static void each_allocation_failing(void **state) {
    (void)state;
    /* each its workspace and that of the products; dsyevd one more */
    assert_int_equal(support_fail_each_allocation(1, call_everything, NULL), 11);
}

/* ---- The end before the end ---- */

enum { PIVOTED_CHOLESKY, EIGENVALUES, PIVOTED_QR, APPLIED_QR, TRIANGLES, LONG_CALLS };

/* Some ten seconds or more in plain C, so that what follows comes in the middle. */
enum { LONG_N = SUPPORT_SLOWER > 20 ? 600 : 2000 };

typedef struct long_call {
    int kind;
    mg_stop stop;
    double *a, *b, *c, *numbers;
    int *pivots;
    margin_status status;
} long_call;

static void call_long(long_call *call) {
    enum { N = LONG_N };
    const mg_stop *stop = &call->stop;
    int64_t info = 0;
    int rank;
    switch (call->kind) {
    case PIVOTED_CHOLESKY:
        do {
            for (int64_t i = 0; i < N; i++)
                call->a[i * (N + 1)] = N;
            call->status =
                mg_lapack_dpstrf(stop, 'U', N, call->a, N, call->pivots, 0.0, &rank, NULL);
        } while (call->status == MARGIN_OK);
        break;
    case EIGENVALUES:
        call->status = mg_lapack_dsyevd(stop, 'V', 'L', N, call->a, N, call->numbers, &info, NULL);
        break;
    case PIVOTED_QR:
        call->status = mg_lapack_dgeqp3(stop, N, N, call->a, N, call->pivots, call->numbers, NULL);
        break;
    case APPLIED_QR:
        do {
            call->status = mg_lapack_dormqr(stop, 'L', 'N', N, N, N, call->a, N, call->numbers,
                                            call->b, N, NULL);
        } while (call->status == MARGIN_OK);
        break;
    default:
        call->status = mg_lapack_dtpqrt(stop, N, N, 0, call->a, N, call->b, N, NULL);
    }
}

static long_call new_long_call(int kind, margin_context *context) {
    enum { SQUARE = LONG_N * LONG_N };
    long_call call = {.kind = kind, .stop = mg_stop_make(context, -1)};
    uint64_t state = 1;
    call.a = malloc(3 * SQUARE * sizeof *call.a);
    call.numbers = calloc(LONG_N, sizeof *call.numbers);
    call.pivots = calloc(LONG_N, sizeof *call.pivots);
    assert_non_null(call.a);
    assert_non_null(call.numbers);
    assert_non_null(call.pivots);
    for (int64_t i = 0; i < 3 * SQUARE; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        call.a[i] = (double)(state >> 40) * 0x1p-24 - 0.5;
    }
    call.b = call.a + SQUARE;
    call.c = call.b + SQUARE;
    return call;
}

static void free_long_call(long_call *call) {
    free(call->a);
    free(call->numbers);
    free(call->pivots);
}

static void *cancel_soon(void *context) {
    const struct timespec pause = {.tv_nsec = 200000000};
    nanosleep(&pause, NULL);
    margin_context_cancel(context);
    return NULL;
}

/* Much for a loaded machine under a sanitizer; a few milliseconds are what it should be. */
static const double soon = 5.0;

static void cancelling_ends_every_routine(void **state) {
    (void)state;
    setenv("MARGIN_ISA", "ref", 1);
    for (int kind = 0; kind < LONG_CALLS; kind++) {
        margin_context *context = support_context(NULL, 1);
        long_call call = new_long_call(kind, context);
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, cancel_soon, context), 0);
        const double start = mg_clock();
        call_long(&call);
        const double took = mg_clock() - start;
        pthread_join(thread, NULL);
        assert_int_equal(call.status, MARGIN_ERROR_CANCELLED);
        assert_true(took < 0.2 + soon);
        free_long_call(&call);
        margin_context_free(context);
    }
    unsetenv("MARGIN_ISA");
}

/* At several moments: the divide and conquer at the end has no products of matrices. */
static void a_deadline_ends_every_routine(void **state) {
    (void)state;
    setenv("MARGIN_ISA", "ref", 1);
    for (int kind = 0; kind < LONG_CALLS; kind++)
        for (double limit = 0.0; limit < 1.0; limit = 3.0 * limit + 0.05) {
            margin_context *context = support_context(NULL, 1);
            long_call call = new_long_call(kind, context);
            const double start = mg_clock();
            call.stop.deadline = start + limit;
            call_long(&call);
            assert_int_equal(call.status, MARGIN_STOPPED_TIME);
            assert_true(mg_clock() - start < limit + soon);
            free_long_call(&call);
            margin_context_free(context);
        }
    unsetenv("MARGIN_ISA");
}

/* ---- Race ---- */

enum { RACE_N = 150, RACE_THREADS = 8, RACE_ROUNDS = 6 };

/* Everything that the routines leave behind for one input. */
typedef struct race_result {
    double factor[RACE_N * RACE_N], qr[RACE_N * RACE_N], tau[RACE_N];
    double vectors[RACE_N * RACE_N], values[RACE_N], cholesky[RACE_N * RACE_N];
    int pivots[RACE_N], places[RACE_N];
} race_result;

typedef struct race {
    margin_context *context;
    pthread_barrier_t start;
    const race_result *expected;
    int64_t matching;
} race;

static margin_status run_all(margin_context *context, uint64_t seed, race_result *out) {
    memset(out, 0, sizeof *out);
    double *a = definite_matrix(RACE_N, seed), *x = random_matrix(RACE_N, RACE_N, seed + 1);
    int64_t info;
    int rank;
    memcpy(out->factor, a, sizeof out->factor);
    memcpy(out->qr, x, sizeof out->qr);
    memcpy(out->vectors, a, sizeof out->vectors);
    memcpy(out->cholesky, a, sizeof out->cholesky);
    const mg_stop stop = mg_stop_make(context, -1);
    margin_status status =
        mg_lapack_dgeqp3(&stop, RACE_N, RACE_N, out->qr, RACE_N, out->pivots, out->tau, NULL);
    if (status >= 0)
        status = mg_lapack_dtpqrt(&stop, RACE_N, RACE_N, 0, out->factor, RACE_N, x, RACE_N, NULL);
    if (status >= 0)
        status = mg_lapack_dsyevd(&stop, 'V', 'L', RACE_N, out->vectors, RACE_N, out->values, &info,
                                  NULL);
    if (status >= 0)
        status = mg_lapack_dpstrf(&stop, 'U', RACE_N, out->cholesky, RACE_N, out->places, 0, &rank,
                                  NULL);
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
        if (run_all(shared->context, race_seed(round), mine) < 0) continue;
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
    race shared = {.context = support_context(NULL, 1)};
    race_result *expected = malloc(3 * sizeof *expected);
    assert_non_null(expected);
    int before = threads_of_this_process();
    for (int i = 0; i < 3; i++)
        assert_int_equal(run_all(shared.context, race_seed(i), &expected[i]), MARGIN_OK);
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
    margin_context_free(shared.context);
    assert_int_equal(shared.matching, RACE_THREADS * RACE_ROUNDS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pivoted_qr_rebuilds),
        cmocka_unit_test(triangles_fold),
        cmocka_unit_test(symmetric_eigenvalues),
        cmocka_unit_test(pivoted_cholesky_rebuilds),
        cmocka_unit_test(empty_matrices),
        cmocka_unit_test(sizes_beyond_32_bits),
        cmocka_unit_test(wrong_arguments_come_back),
        cmocka_unit_test(each_allocation_failing),
        cmocka_unit_test(cancelling_ends_every_routine),
        cmocka_unit_test(a_deadline_ends_every_routine),
        cmocka_unit_test(many_threads_give_the_serial_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
