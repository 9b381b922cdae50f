/* The factor in extended precision: from a matrix and from rows, of independent rows and of
 * dependent ones. */
#include "support/support.h"

#include "math/products/extended_factor.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 6, ROWS = 9 };

typedef struct bench {
    margin_context *context;
    long double rows[ROWS][SIZE], matrix[SIZE * SIZE], scratch[SIZE], scale[SIZE];
    int64_t order[SIZE];
    mg_extended_factor f;
} bench;

/* Rows of a generator's numbers; the last two columns are sums of others where `dependent`. */
static void make(bench *b, bool dependent) {
    uint64_t state = 7;
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < SIZE; j++) {
            state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
            b->rows[i][j] = (long double)(int)(state >> 60) - 7.0L;
        }
        if (dependent) {
            b->rows[i][4] = b->rows[i][0] + b->rows[i][1];
            b->rows[i][5] = b->rows[i][2] - b->rows[i][3];
        }
    }
    b->f = (mg_extended_factor){.size = SIZE,
                                .count = dependent ? 4 : SIZE,
                                .matrix = b->matrix,
                                .scratch = b->scratch,
                                .order = b->order};
}

static void fill(bench *b) {
    memset(b->matrix, 0, sizeof b->matrix);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < SIZE; j++)
            for (int k = 0; k <= j; k++)
                b->matrix[j * SIZE + k] += b->rows[i][j] * b->rows[i][k];
}

/* X'y for some y: in the span of X'X. */
static void right_side(const bench *b, const long double *scale, long double *x) {
    for (int j = 0; j < SIZE; j++) {
        x[j] = 0.0L;
        for (int i = 0; i < ROWS; i++)
            x[j] += b->rows[i][j] * (long double)(i * i % 5 - 1) * (scale ? scale[j] : 1.0L);
    }
}

/* Both ways find |L^-1 X'y|^2, which is that of the part of y that columns of X make. */
static void from_matrix_and_from_rows(void **state) {
    bench b;
    (void)state;
    b.context = support_context(NULL, 1);
    for (int dependent = 0; dependent < 2; dependent++) {
        long double x[SIZE], by_matrix, by_rows, row[SIZE];
        make(&b, dependent);
        fill(&b);
        assert_int_equal(mg_extended_cholesky(b.context, &b.f, NULL), MARGIN_OK);
        assert_int_equal(b.f.definite, b.f.count);
        right_side(&b, NULL, x);
        by_matrix = mg_extended_solve(&b.f, x);
        assert_int_equal(mg_extended_error(b.context, &b.f, false, NULL), MARGIN_OK);
        assert_true(b.f.error > 0.0L && b.f.error < 1e-13L);
        memset(b.matrix, 0, sizeof b.matrix);
        for (int i = 0; i < ROWS; i++) {
            memcpy(row, b.rows[i], sizeof row);
            mg_extended_fold(&b.f, row);
        }
        assert_int_equal(mg_extended_reflect(b.context, &b.f, b.scale, NULL), MARGIN_OK);
        assert_int_equal(b.f.definite, b.f.count);
        right_side(&b, b.scale, x);
        by_rows = mg_extended_solve(&b.f, x);
        assert_true(by_matrix > 1.0L && fabsl(by_matrix - by_rows) < 1e-12L * by_matrix);
        assert_int_equal(mg_extended_error(b.context, &b.f, true, NULL), MARGIN_OK);
        assert_true(b.f.error > 0.0L && b.f.error < 1e-16L);
    }
    margin_context_free(b.context);
}

/* Of more rows than there is rank the error tells; with fewer kept the factor is as good as new. */
static void beyond_the_rank(void **state) {
    bench b, fewer;
    (void)state;
    b.context = fewer.context = support_context(NULL, 1);
    make(&b, true);
    fill(&b);
    b.f.count = 5;
    assert_int_equal(mg_extended_cholesky(b.context, &b.f, NULL), MARGIN_OK);
    assert_int_equal(mg_extended_error(b.context, &b.f, false, NULL), MARGIN_OK);
    assert_true(b.f.error > 0.1L && (b.f.definite == 5 || isinf(b.f.error)));
    make(&fewer, true);
    fill(&fewer);
    assert_int_equal(mg_extended_cholesky(fewer.context, &fewer.f, NULL), MARGIN_OK);
    b.f.count = fewer.f.count;
    assert_int_equal(mg_extended_error(b.context, &b.f, false, NULL), MARGIN_OK);
    assert_int_equal(mg_extended_error(fewer.context, &fewer.f, false, NULL), MARGIN_OK);
    assert_true(b.f.error == fewer.f.error && b.f.error < 1e-13L);
    margin_context_free(b.context);
}

/* Rows beside each other and threads change nothing. */
static void many_rows(void **state) {
    enum { MANY = 600, NUMBERS = MANY * MANY }; /* of more than one block */
    long double *matrix = calloc(4 * NUMBERS, sizeof *matrix), trace = 0.0L, error = 0.0L;
    long double *scratch = matrix + 3 * NUMBERS, *unit = scratch + MANY;
    int64_t order[2][MANY];
    uint64_t seed = 5;
    (void)state;
    assert_non_null(matrix);
    for (int r = 0; r < MANY; r++)
        for (int c = 0; c <= r; c++)
            matrix[r * MANY + c] = r == c ? 400.0L : (long double)support_uniform(&seed);
    memcpy(matrix + NUMBERS, matrix, NUMBERS * sizeof *matrix);
    memcpy(matrix + 2 * NUMBERS, matrix, NUMBERS * sizeof *matrix);
    for (int t = 0; t < 2; t++) {
        margin_context *context = support_context(NULL, t == 0 ? 1 : 3);
        mg_extended_factor f = {.size = MANY,
                                .count = MANY,
                                .matrix = matrix + t * NUMBERS,
                                .scratch = scratch,
                                .order = order[t]};
        assert_int_equal(mg_extended_cholesky(context, &f, NULL), MARGIN_OK);
        assert_int_equal(f.definite, MANY);
        assert_int_equal(mg_extended_error(context, &f, false, NULL), MARGIN_OK);
        assert_true(t == 0 || f.error == error);
        error = f.error;
        for (int k = 0; k < MANY && t == 0; k++) {
            memset(unit, 0, MANY * sizeof *unit);
            unit[k] = 1.0L;
            trace += mg_extended_solve(&f, unit);
        }
        margin_context_free(context);
    }
    assert_memory_equal(order[0], order[1], sizeof order[0]);
    assert_true(fabsl(error - 8.0L * (long double)LDBL_EPSILON * MANY * trace) < 1e-14L * error);
    for (int r = 0; r < MANY; r++)
        for (int c = r % 7; c <= r; c += 7) {
            const int64_t at = order[0][r], other = order[0][c];
            const int64_t low = MG_MAX(at, other), high = MG_MIN(at, other);
            long double sum = 0.0L;
            for (int k = 0; k <= c; k++)
                sum += matrix[at * MANY + order[0][k]] * matrix[other * MANY + order[0][k]];
            assert_true(matrix[at * MANY + other] == matrix[NUMBERS + at * MANY + other]);
            assert_true(fabsl(sum - matrix[2 * NUMBERS + low * MANY + high]) < 1e-17L * 400.0L);
        }
    free(matrix);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_matrix_and_from_rows),
        cmocka_unit_test(beyond_the_rank),
        cmocka_unit_test(many_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
