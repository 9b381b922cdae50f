/* Rows of a Gram matrix: the whole matrix, or any small cache, give the same bits. */
#include "support/support.h"

#include "base/context.h"
#include "kernel/gram/kernel.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS = 60, COLUMNS = 9, CHOSEN = 41 };

typedef struct fixture {
    double values[ROWS * COLUMNS];
    int64_t rows[CHOSEN];
    margin_matrix x;
} fixture;

static void make_fixture(fixture *f) {
    uint64_t state = 3;
    for (int k = 0; k < ROWS * COLUMNS; k++)
        f->values[k] = support_normal(&state);
    for (int64_t i = 0; i < CHOSEN; i++)
        f->rows[i] = i * 47 % ROWS;
    f->x = margin_dense_f64(f->values, ROWS, COLUMNS, COLUMNS);
}

static const mg_kernel rbf = {.kind = MG_KERNEL_RBF, .gamma = 0.1};

static void same_bits_for_any_cache(void **unused) {
    (void)unused;
    static const mg_kernel all[] = {
        {.kind = MG_KERNEL_LINEAR},
        {.kind = MG_KERNEL_POLY, .gamma = 1.0, .coef0 = 1.0, .degree = 2},
        {.kind = MG_KERNEL_RBF, .gamma = 0.1},
        {.kind = MG_KERNEL_LAPLACIAN, .gamma = 0.1},
    };
    fixture f;
    make_fixture(&f);
    margin_context *context = support_context(NULL, 2);
    for (int k = 0; k < MG_LENGTH(all); k++) {
        mg_gram *whole, *small;
        assert_int_equal(
            mg_gram_create(context, &all[k], &f.x, f.rows, CHOSEN, 1 << 20, &whole, NULL),
            MARGIN_OK);
        assert_true(mg_gram_is_whole(whole));
        for (int64_t slots = 0; slots <= 5; slots++) {
            uint64_t state = (uint64_t)slots;
            assert_int_equal(mg_gram_create(context, &all[k], &f.x, f.rows, CHOSEN,
                                            slots * CHOSEN * 8, &small, NULL),
                             MARGIN_OK);
            assert_false(mg_gram_is_whole(small));
            for (int round = 0; round < 300; round++) {
                const int64_t i = (int64_t)(support_random(&state) % (round & 1 ? CHOSEN : 4));
                margin_status status = MARGIN_OK;
                const double *a = mg_gram_row(whole, i, &status);
                assert_int_equal(status, MARGIN_OK);
                const double *b = mg_gram_row(small, i, &status);
                assert_int_equal(status, MARGIN_OK);
                assert_memory_equal(a, b, CHOSEN * sizeof *a);
                assert_true(a[i] == mg_gram_diagonal(whole)[i]);
                const int64_t j = (i * 7 + round) % CHOSEN;
                assert_close(a[j], mg_kernel_rows(&all[k], &f.x, f.rows[i], &f.x, f.rows[j]),
                             1e-13);
            }
            mg_gram_free(small);
        }
        mg_gram_free(whole);
    }
    margin_context_free(context);
}

/* The table of the textbook example: (3,3), (4,3), (1,1). */
static void known_gram(void **unused) {
    (void)unused;
    const double values[] = {3, 3, 4, 3, 1, 1};
    const double expected[3][3] = {{18, 21, 6}, {21, 25, 7}, {6, 7, 2}};
    const margin_matrix x = margin_dense_f64(values, 3, 2, 2);
    const mg_kernel linear = {.kind = MG_KERNEL_LINEAR};
    margin_context *context = support_context(NULL, 1);
    mg_gram *gram;
    assert_int_equal(mg_gram_create(context, &linear, &x, NULL, 3, 1000, &gram, NULL), MARGIN_OK);
    for (int64_t i = 0; i < 3; i++) {
        margin_status status = MARGIN_OK;
        const double *row = mg_gram_row(gram, i, &status);
        assert_memory_equal(row, expected[i], sizeof expected[i]);
    }
    mg_gram_free(gram);
    margin_context_free(context);
}

/* A cache of two rows keeps the two used last: the memory of a row that is still in it stays. */
static void keeps_the_rows_used_last(void **unused) {
    (void)unused;
    fixture f;
    make_fixture(&f);
    margin_context *context = support_context(NULL, 1);
    mg_gram *gram;
    margin_status status = MARGIN_OK;
    assert_int_equal(mg_gram_create(context, &rbf, &f.x, NULL, ROWS, 3 * ROWS * 8, &gram, NULL),
                     MARGIN_OK);
    const double *zero = mg_gram_row(gram, 0, &status);
    const double *one = mg_gram_row(gram, 1, &status);
    const double *two = mg_gram_row(gram, 2, &status);
    assert_ptr_equal(mg_gram_row(gram, 0, &status), zero); /* now 1 is the oldest */
    assert_ptr_equal(mg_gram_row(gram, 3, &status), one);
    assert_ptr_equal(mg_gram_row(gram, 0, &status), zero);
    assert_ptr_equal(mg_gram_row(gram, 4, &status), two);
    assert_ptr_equal(mg_gram_row(gram, 3, &status), one);
    mg_gram_free(gram);
    margin_context_free(context);
}

static void cancelled(void **unused) {
    (void)unused;
    fixture f;
    make_fixture(&f);
    for (int whole = 0; whole < 2; whole++) {
        margin_context *context = support_context(NULL, 2);
        mg_gram *gram;
        margin_status status = MARGIN_OK;
        assert_int_equal(mg_gram_create(context, &rbf, &f.x, NULL, ROWS,
                                        whole ? ROWS * ROWS * 8 : 2 * ROWS * 8, &gram, NULL),
                         MARGIN_OK);
        margin_context_cancel(context);
        assert_null(mg_gram_row(gram, 5, &status));
        assert_int_equal(status, MARGIN_ERROR_CANCELLED);
        margin_context_resume(context);
        const double *row = mg_gram_row(gram, 5, &status);
        assert_non_null(row);
        assert_true(row[5] == 1.0);
        mg_gram_free(gram);
        margin_context_free(context);
    }
}

typedef struct attempt {
    fixture f;
    int64_t bytes;
} attempt;

static margin_status create_once(margin_context *context, void *user, margin_error *error) {
    attempt *a = user;
    mg_gram *gram;
    MG_TRY(mg_gram_create(context, &rbf, &a->f.x, a->f.rows, CHOSEN, a->bytes, &gram, error));
    mg_gram_free(gram);
    return MARGIN_OK;
}

static void no_memory(void **unused) {
    (void)unused;
    attempt a;
    make_fixture(&a.f);
    a.bytes = 1 << 20;
    assert_true(support_fail_each_allocation(1, create_once, &a) >= 5);
    a.bytes = 1000;
    assert_true(support_fail_each_allocation(1, create_once, &a) >= 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bits_for_any_cache),
        cmocka_unit_test(known_gram),
        cmocka_unit_test(keeps_the_rows_used_last),
        cmocka_unit_test(cancelled),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
