/* The factor in extended precision: from a matrix and from rows, of independent rows and of
 * dependent ones. */
#include "support/support.h"

#include "math/products/extended_factor.h"

#include <math.h>
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
        bool definite;
        make(&b, dependent);
        fill(&b);
        assert_int_equal(mg_extended_cholesky(b.context, &b.f, &definite, NULL), MARGIN_OK);
        assert_true(definite);
        right_side(&b, NULL, x);
        by_matrix = mg_extended_solve(&b.f, x);
        assert_int_equal(mg_extended_error(b.context, &b.f, false, NULL), MARGIN_OK);
        assert_true(b.f.error > 0.0L && b.f.error < 1e-13L);
        memset(b.matrix, 0, sizeof b.matrix);
        for (int i = 0; i < ROWS; i++) {
            memcpy(row, b.rows[i], sizeof row);
            mg_extended_fold(&b.f, row);
        }
        assert_int_equal(mg_extended_reflect(b.context, &b.f, b.scale, &definite, NULL), MARGIN_OK);
        assert_true(definite);
        right_side(&b, b.scale, x);
        by_rows = mg_extended_solve(&b.f, x);
        assert_true(by_matrix > 1.0L && fabsl(by_matrix - by_rows) < 1e-12L * by_matrix);
        assert_int_equal(mg_extended_error(b.context, &b.f, true, NULL), MARGIN_OK);
        assert_true(b.f.error > 0.0L && b.f.error < 1e-16L);
    }
    margin_context_free(b.context);
}

/* More rows than there is rank are not kept. */
static void beyond_the_rank(void **state) {
    bench b;
    bool definite;
    (void)state;
    b.context = support_context(NULL, 1);
    make(&b, true);
    fill(&b);
    b.f.count = 5;
    assert_int_equal(mg_extended_cholesky(b.context, &b.f, &definite, NULL), MARGIN_OK);
    if (definite) assert_int_equal(mg_extended_error(b.context, &b.f, false, NULL), MARGIN_OK);
    assert_true(!definite || b.f.error > 0.1L);
    margin_context_free(b.context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_matrix_and_from_rows),
        cmocka_unit_test(beyond_the_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
