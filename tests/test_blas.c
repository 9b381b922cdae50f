/* The products that LAPACK works with, against plain loops: odd sizes, leading dimensions, all
 * transposes and triangles, increments, alpha and beta, every instruction set; and what must not be
 * touched is not. */
#include "support/support.h"

#include "math/products/blas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const isa_names[] = {"ref", "avx2", "avx512"};
static const int sizes[] = {1, 2, 7, 24, 33, 65, 130};
enum { SIZES = sizeof sizes / sizeof *sizes, MOST = 130, PAD = 3, ROOM = (MOST + PAD) * 2 * MOST };
static const double factors[] = {0.0, 1.0, -0.75};

typedef struct numbers {
    double a[ROOM], b[ROOM], before[ROOM], c[ROOM], expected[ROOM];
} numbers;

static void fill(double *x, uint64_t seed) {
    for (int i = 0; i < ROOM; i++)
        x[i] = support_normal(&seed);
}

static void start(numbers *x) {
    memcpy(x->c, x->before, sizeof x->c);
    memcpy(x->expected, x->before, sizeof x->c);
}

static void assert_same(const double *a, const double *b) {
    for (int i = 0; i < ROOM; i++)
        if (!(fabs(a[i] - b[i]) <= 1e-11)) fail_msg("number %d: %.17g, not %.17g", i, a[i], b[i]);
}

/* Element (i, j) of op(a). */
static double at(const double *a, int lda, char transpose, int i, int j) {
    return transpose == 'N' ? a[i + j * lda] : a[j + i * lda];
}

/* Runs `body` with each instruction set; small orders of the room cut the operands often. */
static void run(void (*body)(void *)) {
    numbers *x = malloc(sizeof *x);
    assert_non_null(x);
    fill(x->a, 1);
    fill(x->b, 2);
    fill(x->before, 3);
    for (int isa = 0; isa <= (int)mg_isa_level(); isa++) {
        setenv("MARGIN_ISA", isa_names[isa], 1);
        margin_context *context = support_context(NULL, 1);
        const mg_stop stop = mg_stop_make(context, -1);
        for (int64_t order = 20; order <= (SUPPORT_SLOWER > 20 ? 20 : 1000); order *= 50)
            assert_int_equal(mg_blas_run(&stop, order, body, x, NULL), MARGIN_OK);
        margin_context_free(context);
        unsetenv("MARGIN_ISA");
    }
    free(x);
}

/* ---- Matrices -------------------------------------------------------------------------------- */

static void one_gemm(numbers *x, const char *words, const int *size, double alpha, double beta) {
    const int m = size[0], n = size[1], k = size[2], ldc = m + PAD;
    const int lda = (words[0] == 'N' ? m : k) + PAD, ldb = (words[1] == 'N' ? k : n) + 1;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            double sum = 0.0;
            for (int l = 0; l < k; l++)
                sum += at(x->a, lda, words[0], i, l) * at(x->b, ldb, words[1], l, j);
            double *c = x->expected + i + j * ldc;
            *c = alpha * sum + (beta == 0.0 ? 0.0 : beta * *c);
        }
    if (beta == 0.0) x->c[0] = (double)NAN; /* not read */
    mg_blas_dgemm(&words[0], &words[1], &m, &n, &k, &alpha, x->a, &lda, x->b, &ldb, &beta, x->c,
                  &ldc, 1, 1);
    assert_same(x->c, x->expected);
}

static void gemm_body(void *argument) {
    static const char *const words[] = {"NN", "NT", "TN", "TT"};
    uint64_t seed = 1;
    for (int w = 0; w < 4; w++)
        for (int i = 0; i < SIZES * SIZES * SIZES; i += 4) {
            const int size[] = {sizes[i % SIZES], sizes[i / SIZES % SIZES],
                                sizes[i / SIZES / SIZES]};
            start(argument);
            one_gemm(argument, words[w], size, factors[seed % 3], factors[seed / 3 % 3]);
            seed++;
        }
}

static void test_dgemm(void **state) {
    (void)state;
    run(gemm_body);
}

static void one_syr2k(numbers *x, char uplo, char word, int n, int k, double beta) {
    const double alpha = -1.5;
    const int ldc = n + PAD, lda = (word == 'N' ? n : k) + PAD, ldb = lda + 1;
    for (int j = 0; j < n; j++)
        for (int i = uplo == 'L' ? j : 0; i < (uplo == 'L' ? n : j + 1); i++) {
            double sum = 0.0;
            for (int l = 0; l < k; l++)
                sum += at(x->a, lda, word, i, l) * at(x->b, ldb, word, j, l) +
                       at(x->b, ldb, word, i, l) * at(x->a, lda, word, j, l);
            double *c = x->expected + i + j * ldc;
            *c = alpha * sum + (beta == 0.0 ? 0.0 : beta * *c);
        }
    mg_blas_dsyr2k(&uplo, &word, &n, &k, &alpha, x->a, &lda, x->b, &ldb, &beta, x->c, &ldc, 1, 1);
    assert_same(x->c, x->expected);
}

static void one_syrk(numbers *x, char uplo, char word, int n, int k, double beta) {
    const double alpha = -1.5;
    const int lda = (word == 'N' ? n : k) + PAD, ldc = n + 2;
    for (int j = 0; j < n; j++)
        for (int i = uplo == 'L' ? j : 0; i < (uplo == 'L' ? n : j + 1); i++) {
            double sum = 0.0, *c = x->expected + i + j * ldc;
            for (int l = 0; l < k; l++)
                sum += at(x->a, lda, word, i, l) * at(x->a, lda, word, j, l);
            *c = alpha * sum + (beta == 0.0 ? 0.0 : beta * *c);
        }
    mg_blas_dsyrk(&uplo, &word, &n, &k, &alpha, x->a, &lda, &beta, x->c, &ldc, 1, 1);
    assert_same(x->c, x->expected);
}

static void syrk_body(void *argument) {
    for (int i = 0; i < SIZES * SIZES; i++)
        for (int way = 0; way < 4; way++) {
            start(argument);
            one_syrk(argument, "LU"[way & 1], "NT"[way >> 1], sizes[i % SIZES], sizes[i / SIZES],
                     factors[i % 3]);
        }
}

static void test_dsyrk(void **state) {
    (void)state;
    run(syrk_body);
}

static void syr2k_body(void *argument) {
    for (int i = 0; i < SIZES * SIZES; i++)
        for (int way = 0; way < 4; way++) {
            start(argument);
            one_syr2k(argument, "LU"[way & 1], "NT"[way >> 1], sizes[i % SIZES], sizes[i / SIZES],
                      factors[i % 3]);
        }
}

static void test_dsyr2k(void **state) {
    (void)state;
    run(syr2k_body);
}

/* Element (i, j) of op(triangle). */
static double triangle_at(const double *a, int lda, const char *words, int i, int j) {
    const bool upper = (words[1] == 'U') == (words[2] == 'N');
    if (i == j && words[3] == 'U') return 1.0;
    return (upper ? i <= j : i >= j) ? at(a, lda, words[2], i, j) : 0.0;
}

static void one_trmm(numbers *x, const char *words, int m, int n, double alpha) {
    const bool left = words[0] == 'L';
    const int lda = (left ? m : n) + PAD, ldb = m + 1;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            double sum = 0.0;
            for (int l = 0; l < (left ? m : n); l++)
                sum += left ? triangle_at(x->a, lda, words, i, l) * x->c[l + j * ldb]
                            : x->c[i + l * ldb] * triangle_at(x->a, lda, words, l, j);
            x->expected[i + j * ldb] = alpha * sum;
        }
    mg_blas_dtrmm(words, words + 1, words + 2, words + 3, &m, &n, &alpha, x->a, &lda, x->c, &ldb, 1,
                  1, 1, 1);
    assert_same(x->c, x->expected);
}

static void trmm_body(void *argument) {
    for (int way = 0; way < 16; way++)
        for (int i = 0; i < SIZES * SIZES; i++) {
            const char words[] = {"LR"[way & 1], "UL"[way >> 1 & 1], "NT"[way >> 2 & 1],
                                  "UN"[way >> 3]};
            start(argument);
            one_trmm(argument, words, sizes[i % SIZES], sizes[i / SIZES], factors[(i + way) % 3]);
        }
}

static void test_dtrmm(void **state) {
    SUPPORT_LARGE_CASE();
    (void)state;
    run(trmm_body);
}

/* What is multiplied comes back; the diagonal keeps the condition small. */
static void solve_body(void *argument) {
    numbers *x = argument;
    for (int i = 0; i < SIZES * SIZES; i++) {
        const int n = sizes[i % SIZES], count = sizes[i / SIZES], lda = n + PAD, ldb = n + 1;
        start(x);
        for (int k = 0; k < n; k++)
            x->a[k * (lda + 1)] = 4.0 * n;
        for (int j = 0; j < count; j++)
            for (int r = 0; r < n; r++) {
                double sum = 0.0;
                for (int l = r; l < n; l++)
                    sum += x->a[r + l * lda] * x->expected[l + j * ldb];
                x->c[r + j * ldb] = sum;
            }
        mg_blas_solve_upper(n, count, x->a, lda, x->c, ldb);
        assert_same(x->c, x->expected);
    }
}

static void test_solve_upper(void **state) {
    (void)state;
    run(solve_body);
}

/* ---- Vectors --------------------------------------------------------------------------------- */

static const int increments[] = {1, 3, -1, -2};

/* Element i of a vector of n numbers. */
static int64_t place(int i, int n, int increment) {
    return (int64_t)(increment < 0 ? i - n + 1 : i) * increment;
}

static void one_gemv(numbers *x, char word, int m, int n, int incx, int incy, double beta) {
    const double alpha = 1.25;
    const int lda = m + PAD, nx = word == 'N' ? n : m, ny = word == 'N' ? m : n;
    for (int i = 0; i < ny; i++) {
        double sum = 0.0, *y = x->expected + place(i, ny, incy);
        for (int j = 0; j < nx; j++)
            sum += at(x->a, lda, word, i, j) * x->b[place(j, nx, incx)];
        *y = alpha * sum + (beta == 0.0 ? 0.0 : beta * *y);
    }
    mg_blas_dgemv(&word, &m, &n, &alpha, x->a, &lda, x->b, &incx, &beta, x->c, &incy, 1);
    assert_same(x->c, x->expected);
}

static void gemv_body(void *argument) {
    for (int i = 0; i < SIZES * SIZES; i++)
        for (int way = 0; way < 32; way++) {
            start(argument);
            one_gemv(argument, "NT"[way & 1], sizes[i % SIZES], sizes[i / SIZES],
                     increments[way >> 1 & 3], increments[way >> 3], factors[(i + way) % 3]);
        }
    /* rows beyond what is gathered at once */
    start(argument);
    one_gemv(argument, 'N', 2500, 5, 1, 2, 0.5);
    start(argument);
    one_gemv(argument, 'T', 2500, 5, 2, 1, 0.5);
}

static void test_dgemv(void **state) {
    (void)state;
    run(gemv_body);
}

static void one_symv(numbers *x, char uplo, int n, int incx, int incy, double beta) {
    const double alpha = -0.5;
    const int lda = n + PAD;
    for (int i = 0; i < n; i++) {
        double sum = 0.0, *y = x->expected + place(i, n, incy);
        for (int j = 0; j < n; j++)
            sum += at(x->a, lda, (uplo == 'L') == (i >= j) ? 'N' : 'T', i, j) *
                   x->b[place(j, n, incx)];
        *y = alpha * sum + (beta == 0.0 ? 0.0 : beta * *y);
    }
    mg_blas_dsymv(&uplo, &n, &alpha, x->a, &lda, x->b, &incx, &beta, x->c, &incy, 1);
    assert_same(x->c, x->expected);
}

static void symv_body(void *argument) {
    for (int i = 0; i < SIZES; i++)
        for (int way = 0; way < 32; way++) {
            start(argument);
            one_symv(argument, "LU"[way & 1], sizes[i], increments[way >> 1 & 3],
                     increments[way >> 3], factors[way % 3]);
        }
}

static void test_dsymv(void **state) {
    (void)state;
    run(symv_body);
}

static void one_ger(numbers *x, int m, int n, int incx, int incy) {
    const double alpha = 0.75;
    const int lda = m + PAD;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++)
            x->expected[i + j * lda] += alpha * x->a[place(i, m, incx)] * x->b[place(j, n, incy)];
    mg_blas_dger(&m, &n, &alpha, x->a, &incx, x->b, &incy, x->c, &lda);
    assert_same(x->c, x->expected);
}

static void ger_body(void *argument) {
    for (int i = 0; i < SIZES * SIZES; i++)
        for (int way = 0; way < 16; way++) {
            start(argument);
            one_ger(argument, sizes[i % SIZES], sizes[i / SIZES], increments[way & 3],
                    increments[way >> 2]);
        }
    start(argument);
    one_ger(argument, 2500, 5, 2, 1);
}

static void test_dger(void **state) {
    (void)state;
    run(ger_body);
}

static void test_dlamch(void **state) {
    (void)state;
    assert_true(mg_blas_dlamch("Epsilon", 7) == 0x1p-53);
    assert_true(mg_blas_dlamch("Precision", 9) == 0x1p-52);
    assert_true(mg_blas_dlamch("Safe minimum", 12) == 0x1p-1022);
    assert_true(mg_blas_dlamch("O", 1) == 0x1.fffffffffffffp1023);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dgemm),       cmocka_unit_test(test_dsyrk),
        cmocka_unit_test(test_solve_upper), cmocka_unit_test(test_dsyr2k),
        cmocka_unit_test(test_dtrmm),       cmocka_unit_test(test_dgemv),
        cmocka_unit_test(test_dsymv),       cmocka_unit_test(test_dger),
        cmocka_unit_test(test_dlamch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
