/* Rows of a Gram matrix: the whole matrix, or any small cache, give the same bits. */
#include "support/support.h"

#include "base/context.h"
#include "learn/kernels/kernel_options.h"
#include "math/gram/gram.h"

#include <math.h>
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

static margin_status create(margin_context *context, const mg_kernel *kernel,
                            const margin_matrix *x, const int64_t *rows, int64_t count,
                            int64_t bytes, mg_gram **gram, margin_error *error) {
    const mg_gram_request request = {*kernel, {*x, rows, NULL, count}, MARGIN_F64, bytes, false,
                                     0.0f};
    return mg_gram_create(context, &request, gram, error);
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
        assert_int_equal(create(context, &all[k], &f.x, f.rows, CHOSEN, 1 << 20, &whole, NULL),
                         MARGIN_OK);
        assert_true(whole->whole);
        for (int64_t slots = 0; slots <= 5; slots++) {
            uint64_t state = (uint64_t)slots;
            assert_int_equal(create(context, &all[k], &f.x, f.rows, CHOSEN,
                                    mg_gram_bytes(CHOSEN, MARGIN_F64, slots), &small, NULL),
                             MARGIN_OK);
            assert_false(small->whole);
            for (int round = 0; round < 300; round++) {
                const int64_t i = (int64_t)(support_random(&state) % (round & 1 ? CHOSEN : 4));
                margin_status status = MARGIN_OK;
                const double *a = mg_gram_row(whole, context, i, &status);
                assert_int_equal(status, MARGIN_OK);
                const double *b = mg_gram_row(small, context, i, &status);
                assert_int_equal(status, MARGIN_OK);
                assert_memory_equal(a, b, CHOSEN * sizeof *a);
                assert_true(a[i] == whole->diagonal[i]);
                const int64_t j = (i * 7 + round) % CHOSEN;
                assert_close(a[j], mg_kernel_rows(NULL, &all[k], &f.x, f.rows[i], &f.x, f.rows[j]),
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
    assert_int_equal(create(context, &linear, &x, NULL, 3, 1000, &gram, NULL), MARGIN_OK);
    for (int64_t i = 0; i < 3; i++) {
        margin_status status = MARGIN_OK;
        const double *row = mg_gram_row(gram, context, i, &status);
        assert_memory_equal(row, expected[i], sizeof expected[i]);
    }
    mg_gram_free(gram);
    margin_context_free(context);
}

/* A cache of three rows: once it was full, a row that is used between any two others stays, and so
 * does its memory. */
static void keeps_the_rows_in_use(void **unused) {
    (void)unused;
    fixture f;
    make_fixture(&f);
    margin_context *context = support_context(NULL, 1);
    mg_gram *gram;
    margin_status status = MARGIN_OK;
    assert_int_equal(
        create(context, &rbf, &f.x, NULL, ROWS, mg_gram_bytes(ROWS, MARGIN_F64, 3), &gram, NULL),
        MARGIN_OK);
    const double *zero = mg_gram_row(gram, context, 0, &status);
    const double *one = mg_gram_row(gram, context, 1, &status);
    const double *two = mg_gram_row(gram, context, 2, &status);
    assert_ptr_equal(mg_gram_row(gram, context, 3, &status), zero); /* all were used: the first */
    for (int64_t i = 4; i < 20; i++) {
        assert_ptr_equal(mg_gram_row(gram, context, 1, &status), one);
        const double *row = mg_gram_row(gram, context, i, &status);
        assert_true(row == zero || row == two);
    }
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
        assert_int_equal(create(context, &rbf, &f.x, NULL, ROWS,
                                mg_gram_bytes(ROWS, MARGIN_F64, whole ? ROWS : 2), &gram, NULL),
                         MARGIN_OK);
        margin_context_cancel(context);
        assert_null(mg_gram_row(gram, context, 5, &status));
        assert_int_equal(status, MARGIN_ERROR_CANCELLED);
        margin_context_resume(context);
        const double *row = mg_gram_row(gram, context, 5, &status);
        assert_non_null(row);
        assert_true(row[5] == 1.0);
        mg_gram_free(gram);
        margin_context_free(context);
    }
}

/* ---- Values as f32, visits, blocks ----------------------------------------------------------- */

typedef struct seen {
    const mg_gram *gram;
    const mg_gram *exact;
    const int64_t *rows;
    int64_t count;
    int times[CHOSEN]; /* each column */
} seen;

static float rounded(const mg_gram *gram, double value) {
    return (float)(gram->factor * value);
}

static void look(const mg_gram_part *part, void *argument) {
    seen *s = argument;
    int64_t ld;
    const double *exact = mg_gram_values(s->exact, &ld);
    for (int64_t j = 0; j < part->columns; j++) {
        s->times[part->first + j]++;
        for (int64_t k = 0; k < s->count; k++)
            assert_close(((const float *)part->rows[k])[j],
                         rounded(s->gram, exact[s->rows[k] * ld + part->first + j]), 1e-5);
    }
}

/* The slot of a row that was released goes to the next row, before a fresh one; a row that was
 * asked for since keeps its own. */
static void released_rows_go_first(void **unused) {
    (void)unused;
    fixture f;
    make_fixture(&f);
    margin_context *context = support_context(NULL, 1);
    mg_gram *exact, *gram;
    mg_gram_request request = {rbf, {f.x, f.rows, NULL, CHOSEN}, MARGIN_F64, INT64_MAX / 2, false,
                               0.0f};
    assert_int_equal(mg_gram_create(context, &request, &exact, NULL), MARGIN_OK);
    assert_int_equal(mg_gram_fill(exact, context, NULL), MARGIN_OK);
    request.type = MARGIN_F32;
    request.bytes = mg_gram_bytes(CHOSEN, MARGIN_F32, 12);
    assert_int_equal(mg_gram_create(context, &request, &gram, NULL), MARGIN_OK);
    static const int64_t rows[] = {3, 40, 0, 17, 8, 1, 2};
    seen first = {gram, exact, rows, 5, {0}}, again = {gram, exact, rows + 1, 1, {0}},
         next = {gram, exact, rows + 5, 2, {0}};
    assert_int_equal(mg_gram_rows(gram, context, first.rows, 5, look, &first, NULL), MARGIN_OK);
    assert_int_equal(gram->used, 5);
    mg_gram_release(gram, 40);
    mg_gram_release(gram, 17);
    mg_gram_release(gram, 17);
    mg_gram_release(gram, 30); /* not there */
    const int64_t slot = gram->slot_of[17];
    assert_int_equal(mg_gram_rows(gram, context, again.rows, 1, look, &again, NULL), MARGIN_OK);
    assert_int_equal(mg_gram_rows(gram, context, next.rows, 2, look, &next, NULL), MARGIN_OK);
    assert_int_equal(gram->used, 6);
    assert_int_equal(gram->slot_of[1], slot);
    assert_int_equal(gram->slot_of[17], -1);
    assert_true(gram->slot_of[40] >= 0 && gram->slot_of[2] == 5);
    mg_gram_free(gram);
    mg_gram_free(exact);
    margin_context_free(context);
}

static void f32_rows_and_blocks(void **unused) {
    (void)unused;
    static const mg_kernel all[] = {
        {.kind = MG_KERNEL_LINEAR},
        {.kind = MG_KERNEL_POLY, .gamma = 1.0, .coef0 = 1.0, .degree = 3},
        {.kind = MG_KERNEL_RBF, .gamma = 0.1},
        {.kind = MG_KERNEL_EXP},
        {.kind = MG_KERNEL_SIGMOID, .gamma = 0.1, .coef0 = 1.0},
        {.kind = MG_KERNEL_LAPLACIAN, .gamma = 0.1},
    };
    static const int64_t some[] = {3, 40, 0, 17, 8}, columns[] = {1, 0, 40, 7};
    fixture f;
    make_fixture(&f);
    margin_context *context = support_context(NULL, 2);
    for (int k = 0; k < MG_LENGTH(all); k++)
        for (int64_t slots = 5; slots <= CHOSEN; slots += CHOSEN - 5) {
            mg_gram *exact, *gram;
            float block[5 * 4];
            int64_t ld;
            mg_gram_request request = {
                all[k], {f.x, f.rows, NULL, CHOSEN}, MARGIN_F64, INT64_MAX / 2, false, 0.0f};
            assert_int_equal(mg_gram_create(context, &request, &exact, NULL), MARGIN_OK);
            assert_int_equal(mg_gram_fill(exact, context, NULL), MARGIN_OK);
            request.type = MARGIN_F32;
            request.bytes = mg_gram_bytes(CHOSEN, MARGIN_F32, slots);
            assert_int_equal(mg_gram_create(context, &request, &gram, NULL), MARGIN_OK);
            assert_int_equal(gram->slots, slots);
            for (int from = 0; from < 3; from++) { /* the store has some of them, then all */
                seen s = {gram, exact, some + from, 5 - from, {0}};
                assert_int_equal(mg_gram_rows(gram, context, s.rows, s.count, look, &s, NULL),
                                 MARGIN_OK);
                for (int j = 0; j < CHOSEN; j++)
                    assert_int_equal(s.times[j], 1);
                assert_int_equal(mg_gram_block(gram, context, some, 5, columns, 4, block, 4, NULL),
                                 MARGIN_OK);
                const double *values = mg_gram_values(exact, &ld);
                for (int i = 0; i < 5; i++)
                    for (int j = 0; j < 4; j++)
                        assert_close(block[i * 4 + j],
                                     rounded(gram, values[some[i] * ld + columns[j]]), 1e-5);
            }
            mg_gram_free(gram);
            mg_gram_free(exact);
        }
    margin_context_free(context);
}

/* No value in f32 is farther from that in f64 than the bound for it, and that is no idle one; also
 * where the points lie so far from 0 that f64 loses more, and where all values of a point are
 * equal, so that their products are rounded alike. */
static void f32_errors(void **unused) {
    (void)unused;
    enum { M = 33, WIDE = 400 };
    static const int64_t columns[] = {1, 9, 130, WIDE};
    static const double gammas[] = {1e-6, 1e-3, 0.05, 2.0};
    margin_context *context = support_context(NULL, 1);
    double *x = calloc(M * WIDE, sizeof *x), off[M];
    uint64_t state = 5;
    for (int k = 0; k < 64; k++) {
        const bool equal = k >= 32, near = k % 32 < 16;
        const int64_t width = columns[k / 4 % 4];
        const double gamma = gammas[k % 4] / (equal ? (double)width : 1.0);
        const mg_kernel kernel = {.kind = MG_KERNEL_RBF, .gamma = gamma};
        mg_gram *gram[2];
        const void *values[2];
        int64_t ld[2];
        double most = 0.0;
        for (int64_t i = 0; i < M * width; i++)
            x[i] = equal && i % width > 0
                       ? x[i - 1]
                       : (near ? 100.0 : 1e7) + (1.0 + 4.0 * (i % 5 == 0)) * support_normal(&state);
        for (int t = 0; t < 2; t++) {
            const mg_gram_request request = {kernel,
                                             {margin_dense_f64(x, M, width, width), NULL, NULL, M},
                                             t ? MARGIN_F64 : MARGIN_F32,
                                             1 << 20,
                                             false,
                                             0.0f};
            assert_int_equal(mg_gram_create(context, &request, &gram[t], NULL), MARGIN_OK);
            assert_int_equal(mg_gram_fill(gram[t], context, NULL), MARGIN_OK);
            values[t] = mg_gram_values(gram[t], &ld[t]);
        }
        for (int64_t j = 0; j < M; j++) {
            mg_gram_error error;
            assert_false(mg_gram_error_start(gram[1], &error, off));
            assert_true(mg_gram_error_start(gram[0], &error, off));
            mg_gram_error_add(&error, 1.0, off[j]);
            for (int64_t i = 0; i < M; i++) {
                const double narrow = (double)((const float *)values[0])[i * ld[0] + j];
                const double exact = ((const double *)values[1])[i * ld[1] + j];
                const double bound = mg_gram_error_at(&error, off[i]);
                assert_true(fabs(narrow - exact) <= bound);
                most = fmax(most, bound);
            }
        }
        const double far = width == WIDE ? 20.0 : 200.0; /* of many columns no point is */
        assert_true(equal || !near ||
                    most < 1e-7 * (fmin((double)width, 64.0) + 10.0) *
                               (1.0 + far * kernel.gamma * (double)width));
        for (int t = 0; t < 2; t++)
            mg_gram_free(gram[t]);
    }
    free(x);
    margin_context_free(context);
}

/* ---- Open kinds ------------------------------------------------------------------------------ */

/* A Gram matrix given directly: selected rows pick their columns too. */
static void precomputed(void **unused) {
    (void)unused;
    enum { M = 12, SOME = 5 };
    static const int64_t rows[SOME] = {7, 0, 11, 3, 4};
    double values[M * M];
    for (int i = 0; i < M; i++)
        for (int j = 0; j < M; j++)
            values[i * M + j] = 1.0 / (1 + i + j);
    const margin_matrix x = margin_dense_f64(values, M, M, M);
    const mg_kernel kernel = {.kind = MG_KERNEL_PRECOMPUTED};
    margin_context *context = support_context(NULL, 1);
    mg_gram *gram;
    margin_error error;
    assert_int_equal(create(context, &kernel, &x, rows, SOME, 1 << 20, &gram, &error), MARGIN_OK);
    for (int64_t i = 0; i < SOME; i++) {
        margin_status status;
        const double *row = mg_gram_row(gram, context, i, &status);
        for (int64_t j = 0; j < SOME; j++)
            assert_true(row[j] == values[rows[i] * M + rows[j]]);
        assert_true(gram->diagonal[i] == row[i]);
    }
    mg_gram_free(gram);

    const margin_matrix narrow = margin_dense_f64(values, M, M - 2, M);
    assert_int_equal(create(context, &kernel, &narrow, rows, SOME, 1 << 20, &gram, &error),
                     MARGIN_ERROR_DATA);
    assert_non_null(strstr(error.text, "not square"));
    values[3 * M + 7] += 0.1;
    assert_int_equal(create(context, &kernel, &x, rows, SOME, 1 << 20, &gram, &error),
                     MARGIN_ERROR_DATA);
    assert_non_null(strstr(error.text, "not symmetric: row 4 has"));
    assert_non_null(strstr(error.text, "in the column of row 8"));
    assert_int_equal(error.row, 4);
    assert_int_equal(error.feature, 8);
    margin_context_free(context);
}

typedef enum mood { WORKS, STOPS, GIVES_NAN } mood;

static int dot_plus_one(const double *x, int64_t x_rows, const double *z, int64_t z_rows,
                        int64_t columns, double *values, void *user) {
    const mood *how = user;
    for (int64_t i = 0; i < x_rows; i++)
        for (int64_t j = 0; j < z_rows; j++) {
            double sum = 1.0;
            for (int64_t k = 0; k < columns; k++)
                sum += x[i * columns + k] * z[j * columns + k];
            values[i * z_rows + j] = *how == GIVES_NAN ? (double)NAN : sum;
        }
    return *how == STOPS;
}

static void function_of_the_user(void **unused) {
    (void)unused;
    fixture f;
    make_fixture(&f);
    mood how = WORKS;
    const mg_kernel kernel = {.kind = MG_KERNEL_FUNCTION, .function = dot_plus_one, .user = &how};
    const mg_kernel same = {.kind = MG_KERNEL_POLY, .gamma = 1.0, .coef0 = 1.0, .degree = 1};
    margin_context *context = support_context(NULL, 2);
    mg_gram *a, *b;
    margin_error error;
    margin_status status;
    assert_int_equal(create(context, &kernel, &f.x, f.rows, CHOSEN, 1 << 20, &a, &error), 0);
    assert_int_equal(create(context, &same, &f.x, f.rows, CHOSEN, 1 << 20, &b, &error), 0);
    how = GIVES_NAN;
    assert_int_equal(mg_gram_fill(a, context, &error), MARGIN_ERROR_DATA);
    assert_non_null(strstr(error.text, "not a finite number"));
    how = STOPS;
    assert_int_equal(mg_gram_fill(a, context, &error), MARGIN_ERROR_CANCELLED);
    how = WORKS;
    margin_context_resume(context);
    for (int64_t i = 0; i < CHOSEN; i++) {
        const double *x = mg_gram_row(a, context, i, &status),
                     *y = mg_gram_row(b, context, i, &status);
        for (int64_t j = 0; j < CHOSEN; j++)
            assert_close(x[j], y[j], 1e-13);
    }
    mg_gram_free(a);
    mg_gram_free(b);
    margin_context_free(context);
}

static void median_of_the_distances(void **unused) {
    (void)unused;
    const double values[] = {0, 0, 3, 4, 0, 0, 6, 8, 6, 8};
    const margin_matrix x = margin_dense_f64(values, 5, 2, 2);
    const mg_kernel_points points = {.x = x,
                                     .count = 4}; /* distances 5, 10, 5, 10, 5, and 0 left out */
    margin_context *context = support_context(NULL, 1);
    double gamma;
    assert_int_equal(mg_kernel_median(context, MG_KERNEL_RBF, &points, NULL, &gamma, NULL),
                     MARGIN_OK);
    assert_close(gamma, 1.0 / 50, 1e-14);
    assert_int_equal(mg_kernel_median(context, MG_KERNEL_LAPLACIAN, &points, NULL, &gamma, NULL),
                     MARGIN_OK);
    assert_close(gamma, 1.0 / 7, 1e-14);
    const double weights[] = {1, 1, 1, 4}; /* 5: 1 + 1 + 4; 10: 4 + 4 */
    assert_int_equal(mg_kernel_median(context, MG_KERNEL_RBF, &points, weights, &gamma, NULL),
                     MARGIN_OK);
    assert_close(gamma, 1.0 / 200, 1e-14);
    const double last[] = {4, 1, 4, 1}; /* 5: 4 + 4 + 1; 10: 4 + 4 */
    assert_int_equal(mg_kernel_median(context, MG_KERNEL_RBF, &points, last, &gamma, NULL),
                     MARGIN_OK);
    assert_close(gamma, 1.0 / 50, 1e-14);
    margin_context_free(context);
}

typedef struct attempt {
    fixture f;
    int64_t bytes;
} attempt;

static margin_status create_once(margin_context *context, void *user, margin_error *error) {
    attempt *a = user;
    mg_gram *gram;
    MG_TRY(create(context, &rbf, &a->f.x, a->f.rows, CHOSEN, a->bytes, &gram, error));
    mg_gram_free(gram);
    return MARGIN_OK;
}

static void no_memory(void **unused) {
    (void)unused;
    attempt a;
    make_fixture(&a.f);
    a.bytes = 1 << 20;
    assert_true(support_fail_each_allocation(1, create_once, &a) >= 4);
    a.bytes = 1000;
    assert_true(support_fail_each_allocation(1, create_once, &a) >= 4);
}

/* Wherever the values begin, whole lines of a cache or not, and past the caches as through them. */
static void mirrored_blocks(void **unused) {
    (void)unused;
    enum { LD = 80, AT = 4, HIGH = 31, FIRST = 37, WIDE = 43 };
    static float memory[LD * LD + 16];
    for (int way = 0; way < 32; way++) {
        float *values = memory + way / 2;
        for (int k = 0; k < LD * LD; k++)
            values[k] = (float)k;
        mg_gram_mirror(values, LD, AT, HIGH, FIRST, WIDE, way % 2);
        for (int i = 0; i < LD; i++)
            for (int j = 0; j < LD; j++) {
                const bool mirrored = j >= AT && j < AT + HIGH && i >= FIRST && i < FIRST + WIDE;
                assert_true(values[i * LD + j] == (float)(mirrored ? j * LD + i : i * LD + j));
            }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bits_for_any_cache),
        cmocka_unit_test(known_gram),
        cmocka_unit_test(keeps_the_rows_in_use),
        cmocka_unit_test(released_rows_go_first),
        cmocka_unit_test(cancelled),
        cmocka_unit_test(f32_rows_and_blocks),
        cmocka_unit_test(f32_errors),
        cmocka_unit_test(mirrored_blocks),
        cmocka_unit_test(precomputed),
        cmocka_unit_test(function_of_the_user),
        cmocka_unit_test(median_of_the_distances),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
