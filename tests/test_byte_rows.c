/* Rows of bytes: which rows are, and that their kernel values in f32 are as near the true ones as
 * is said. Where the processor multiplies no bytes, no rows are. */
#include "support/support.h"

#include "base/context.h"
#include "math/gram/gram_tiles.h"
#include "math/rows/byte_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 75, MOST = 700 };

typedef struct fixture {
    double values[ROWS * MOST];
    float narrow[ROWS * MOST];
} fixture;

/* Whole numbers of 0 to 255 over `over`, a third of them 0, and many side by side of the first
 * rows, as at the edge of images. */
static margin_matrix make_rows(fixture *f, int64_t columns, double over, bool narrow,
                               uint64_t seed) {
    for (int64_t k = 0; k < ROWS * columns; k++) {
        const uint64_t drawn = support_random(&seed);
        const bool edge = k / columns < 50 && k % columns % 40 >= 16 && k % columns % 40 < 32;
        f->values[k] = (double)(drawn % 3 && !edge ? drawn / 3 % 256 : 0) / over;
        f->narrow[k] = (float)f->values[k];
    }
    return narrow ? margin_dense_f32(f->narrow, ROWS, columns, columns)
                  : margin_dense_f64(f->values, ROWS, columns, columns);
}

static mg_kernel_points points_of(const margin_matrix *x) {
    return (mg_kernel_points){*x, NULL, NULL, x->rows};
}

static float over_of(margin_context *context, const margin_matrix *x) {
    return mg_byte_over(context, x, NULL, x->rows);
}

static bool are_multiplied(void) {
    return mg_has_byte_products();
}

static void which_rows_are_bytes(void **unused) {
    (void)unused;
    static const double others[] = {-1.0, 0.5, 256.0, 1e30, (double)NAN, (double)INFINITY, 7.00001};
    static fixture f;
    margin_context *context = support_context(NULL, 2);
    for (int k = 0; k < 4; k++) {
        const double over = k % 2 ? 255.0 : 1.0;
        const bool narrow = k >= 2;
        const margin_matrix x = make_rows(&f, 37, over, narrow, 5);
        const mg_kernel_points points = points_of(&x);
        const float expected = are_multiplied() ? (float)over : 0.0f;
        assert_true(over_of(context, &points.x) == expected);
        for (int n = 0; n < MG_LENGTH(others); n++) {
            const int64_t at = n % 2 ? 36 : (ROWS - 1) * 37 + 3 * n; /* of the first or last row */
            const double before = f.values[at];
            f.values[at] = others[n] / over;
            f.narrow[at] = (float)f.values[at];
            assert_true(over_of(context, &points.x) == 0.0f);
            f.values[at] = before;
            f.narrow[at] = (float)before;
        }
        assert_true(over_of(context, &points.x) == expected);
    }
    const margin_matrix few = make_rows(&f, 8, 1.0, false, 5);
    const mg_kernel_points points = points_of(&few);
    assert_true(over_of(context, &points.x) == 0.0f);
    margin_context_free(context);
}

static mg_gram *gram_of(margin_context *context, const mg_kernel *kernel,
                        const mg_kernel_points *points, margin_type type, bool whole) {
    mg_gram *gram;
    const mg_gram_request request = {
        *kernel, *points,
        type,    whole ? 1 << 20 : mg_gram_bytes(points->count, type, 20),
        !whole,  type == MARGIN_F32 ? over_of(context, &points->x) : 0.0f};
    assert_int_equal(mg_gram_create(context, &request, &gram, NULL), MARGIN_OK);
    return gram;
}

static const mg_kernel kernels[] = {
    {.kind = MG_KERNEL_LINEAR},
    {.kind = MG_KERNEL_POLY, .gamma = 0.5, .coef0 = 1.0, .degree = 3},
    {.kind = MG_KERNEL_RBF, .gamma = 0.5},
    {.kind = MG_KERNEL_RBF, .gamma = 5.0},
    {.kind = MG_KERNEL_EXP, .gamma = 1.0},
    {.kind = MG_KERNEL_SIGMOID, .gamma = 0.1, .coef0 = -0.5},
    {.kind = MG_KERNEL_LAPLACIAN, .gamma = 0.5},
};

/* Gamma for numbers whose squares add up to about 1. */
static mg_kernel kernel_for(int k, int64_t columns, double over) {
    mg_kernel kernel = kernels[k];
    const double size = 0.2 * (double)columns * (255.0 / over) * (255.0 / over);
    kernel.gamma /=
        kernel.kind == MG_KERNEL_LAPLACIAN ? 0.2 * (double)columns * 255.0 / over : size;
    return kernel;
}

/* Whole, and by blocks of a few rows and columns, which have the same bits. */
static void values_are_near(void **unused) {
    (void)unused;
    static const int64_t widths[] = {32, 33, 63, 511, 515, MOST};
    static const int64_t rows[] = {74, 0, 3, 40, 41}, columns[] = {1, 74, 33, 8};
    static fixture f;
    margin_context *context = support_context(NULL, 2);
    for (int n = 0; n < 24 * MG_LENGTH(kernels); n++) {
        const int64_t width = widths[n % 6];
        const double over = n / 6 % 2 ? 255.0 : 1.0;
        const margin_matrix x = make_rows(&f, width, over, n / 12 % 2, (uint64_t)n);
        const mg_kernel kernel = kernel_for(n / 24, width, over);
        if (kernel.kind == MG_KERNEL_EXP && over == 1.0) continue; /* leaves the range of numbers */
        const mg_kernel_points points = points_of(&x);
        mg_gram *narrow = gram_of(context, &kernel, &points, MARGIN_F32, true),
                *some = gram_of(context, &kernel, &points, MARGIN_F32, false),
                *exact = gram_of(context, &kernel, &points, MARGIN_F64, true);
        int64_t ld, exact_ld;
        float block[5 * 4];
        assert_int_equal(mg_gram_fill(narrow, context, NULL), MARGIN_OK);
        assert_int_equal(mg_gram_fill(exact, context, NULL), MARGIN_OK);
        const float *values = mg_gram_values(narrow, &ld);
        const double *right = mg_gram_values(exact, &exact_ld);
        for (int64_t i = 0; i < ROWS; i++)
            for (int64_t j = 0; j < ROWS; j++)
                assert_close(values[i * ld + j], narrow->factor * right[i * exact_ld + j],
                             kernel.kind == MG_KERNEL_EXP ? 1e-4 : 1e-5); /* of e^140 */
        assert_int_equal(mg_gram_block(some, context, rows, 5, columns, 4, block, 4, NULL),
                         MARGIN_OK);
        for (int i = 0; i < 5; i++)
            for (int j = 0; j < 4; j++)
                assert_true(block[i * 4 + j] == values[rows[i] * ld + columns[j]]);
        mg_gram_free(narrow);
        mg_gram_free(some);
        mg_gram_free(exact);
    }
    margin_context_free(context);
}

/* Within what mg_gram_error says, for gammas that make it small or large; k(x, x) is 1. */
static void errors_are_within_bounds(void **unused) {
    (void)unused;
    static fixture f;
    double off[ROWS];
    margin_context *context = support_context(NULL, 1);
    for (int n = 0; n < 32; n++) {
        const double over = n % 2 ? 255.0 : 1.0;
        const margin_matrix x = make_rows(&f, 300, over, n / 2 % 2, (uint64_t)n);
        const mg_kernel kernel = {.kind = MG_KERNEL_RBF,
                                  .gamma = pow(10.0, n / 4 - 5.0) * over * over / 65025.0};
        const mg_kernel_points points = points_of(&x);
        mg_gram *narrow = gram_of(context, &kernel, &points, MARGIN_F32, true),
                *exact = gram_of(context, &kernel, &points, MARGIN_F64, true);
        int64_t ld, exact_ld;
        assert_int_equal(mg_gram_fill(narrow, context, NULL), MARGIN_OK);
        assert_int_equal(mg_gram_fill(exact, context, NULL), MARGIN_OK);
        const float *values = mg_gram_values(narrow, &ld);
        const double *right = mg_gram_values(exact, &exact_ld);
        for (int64_t j = 0; j < ROWS && narrow->tiles; j++) {
            mg_gram_error error;
            assert_true(mg_gram_error_start(narrow, &error, off));
            mg_gram_error_add(&error, 1.0, off[j]);
            assert_true(values[j * ld + j] == 1.0f);
            for (int64_t i = 0; i < ROWS; i++) {
                const double bound = mg_gram_error_at(&error, off[i]),
                             away = (double)values[i * ld + j] - right[i * exact_ld + j];
                assert_true(fabs(away) <= bound);
                assert_true(!are_multiplied() ||
                            bound < 1e-5 * (1.0 + 65025.0 * 300.0 * kernel.gamma / (over * over)));
            }
        }
        mg_gram_free(narrow);
        mg_gram_free(exact);
    }
    margin_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(which_rows_are_bytes),
        cmocka_unit_test(values_are_near),
        cmocka_unit_test(errors_are_within_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
