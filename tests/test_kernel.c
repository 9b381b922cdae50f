/* Kernel functions against their formulas; blocks against pairs; same bits for any block, layout
 * and number of threads. */
#include "support/support.h"

#include "base/context.h"
#include "learn/kernels/kernel_options.h"
#include "math/gram/kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const mg_kernel kernels[] = {
    {.kind = MG_KERNEL_LINEAR},
    {.kind = MG_KERNEL_POLY, .gamma = 1.0, .coef0 = 1.0, .degree = 2},
    {.kind = MG_KERNEL_POLY, .gamma = 0.25, .coef0 = -0.5, .degree = 3},
    {.kind = MG_KERNEL_RBF, .gamma = 0.03},
    {.kind = MG_KERNEL_EXP},
    {.kind = MG_KERNEL_SIGMOID, .gamma = 0.05, .coef0 = 0.1},
    {.kind = MG_KERNEL_LAPLACIAN, .gamma = 0.02},
};

/* ---- Data: the same numbers in several layouts ------------------------------------------------*/

typedef struct layouts {
    int64_t rows, columns;
    double *f64; /* stride columns + 3 */
    float *f32;
    double *values;
    int32_t *indices;
    int64_t *starts;
} layouts;

static layouts make_layouts(int64_t rows, int64_t columns, double density, uint64_t *state) {
    const size_t size = (size_t)(rows * columns);
    layouts d = {rows,
                 columns,
                 calloc((size_t)(rows * (columns + 3)) + 1, 8),
                 calloc(size + 1, 4),
                 calloc(size + 1, 8),
                 calloc(size + 1, 4),
                 calloc((size_t)rows + 1, 8)};
    int64_t k = 0;
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < columns; j++) {
            const double drawn = 0.5 * support_normal(state);
            if (support_uniform(state) >= density) continue;
            const float value = (float)drawn;
            d.f64[i * (columns + 3) + j] = (double)value;
            d.f32[i * columns + j] = value;
            d.values[k] = (double)value;
            d.indices[k++] = (int32_t)j;
        }
        d.starts[i + 1] = k;
    }
    return d;
}

static void free_layouts(layouts *d) {
    free(d->f64);
    free(d->f32);
    free(d->values);
    free(d->indices);
    free(d->starts);
}

enum { LAYOUTS = 3 };

static margin_matrix layout(const layouts *d, int which) {
    if (which == 0) return margin_dense_f64(d->f64, d->rows, d->columns, d->columns + 3);
    if (which == 1) return margin_dense_f32(d->f32, d->rows, d->columns, d->columns);
    return margin_csr_f64(d->values, d->indices, d->starts, d->rows, d->columns);
}

/* Every instruction set in turn, by the environment. */
static void for_each_isa(void (*check)(void)) {
    unsetenv("MARGIN_ISA");
    const int best = (int)mg_isa_level();
    for (int isa = 0; isa <= best; isa++) {
        setenv("MARGIN_ISA", mg_isa_name((mg_isa)isa), 1);
        check();
    }
    unsetenv("MARGIN_ISA");
}

/* ---- Formulas -------------------------------------------------------------------------------- */

static void formulas(void **unused) {
    (void)unused;
    const double values[] = {1.0, 2.0, 0.0, 3.0, -1.0, 0.5};
    const margin_matrix x = margin_dense_f64(values, 2, 3, 3);
    const double dot = 1.0, distance = 4.0 + 9.0 + 0.25, absolute = 2.0 + 3.0 + 0.5;
    const double expected[] = {dot,
                               4.0,
                               pow(0.25 * dot - 0.5, 3.0),
                               exp(-0.03 * distance),
                               exp(dot),
                               tanh(0.05 * dot + 0.1),
                               exp(-0.02 * absolute)};
    for (int k = 0; k < MG_LENGTH(kernels); k++) {
        assert_close(mg_kernel_rows(NULL, &kernels[k], &x, 0, &x, 1), expected[k], 1e-15);
        if (kernels[k].kind != MG_KERNEL_LAPLACIAN)
            assert_close(mg_kernel_from_dot(&kernels[k], dot, 5.0, 10.25), expected[k], 1e-15);
    }
    /* rounding must not make a squared distance negative */
    assert_true(mg_kernel_from_dot(&kernels[3], 1.0000001, 1.0, 1.0) == 1.0);
    assert_true(isnan(mg_kernel_from_dot(&kernels[6], 1.0, 1.0, 1.0)));
    assert_true(mg_power(3.0, 0) == 1.0 && mg_power(-2.0, 5) == -32.0);
}

static void choices_follow_the_enum(void **unused) {
    (void)unused;
    static const char *const names[] = {"linear", "poly", "rbf", "exp", "sigmoid", "laplacian"};
    const char *at = MG_KERNEL_CHOICES;
    for (int k = MG_KERNEL_LINEAR; k <= MG_KERNEL_LAPLACIAN; k++) {
        assert_memory_equal(at, names[k], strlen(names[k]));
        at += strlen(names[k]) + 1;
    }
}

/* One pair of rows in any two layouts. */
static void pairs_of_layouts(void **unused) {
    (void)unused;
    uint64_t state = 5;
    layouts d = make_layouts(6, 11, 0.4, &state);
    for (int k = 0; k < MG_LENGTH(kernels); k++)
        for (int a = 0; a < LAYOUTS; a++)
            for (int b = 0; b < LAYOUTS; b++)
                for (int64_t i = 0; i < 6; i++) {
                    const margin_matrix x = layout(&d, a), z = layout(&d, b), plain = layout(&d, 0);
                    assert_close(mg_kernel_rows(NULL, &kernels[k], &x, i, &z, 5 - i),
                                 mg_kernel_rows(NULL, &kernels[k], &plain, i, &plain, 5 - i),
                                 1e-15);
                }
    free_layouts(&d);
}

/* ---- The exponential -------------------------------------------------------------------------*/

static double ulp(double value) {
    return nextafter(fabs(value), (double)INFINITY) - fabs(value);
}

static void check_exponential(void) {
    const mg_kernel kernel = {.kind = MG_KERNEL_EXP};
    enum { COUNT = 4001 };
    double worst = 0.0, *values = malloc(COUNT * sizeof *values);
    for (int part = 0; part < 40; part++) {
        const double low = part < 20 ? -1.0 : -708.0, width = part < 20 ? 2.0 : 1417.0;
        for (int i = 0; i < COUNT; i++)
            values[i] = low + width * (i + part / 40.0) / COUNT;
        mg_kernel_finish(mg_isa_level(), &kernel, 0.0, NULL, values, COUNT);
        for (int i = 0; i < COUNT; i++) {
            const long double expected =
                expl((long double)(low + width * (i + part / 40.0) / COUNT));
            const double error = fabs((double)((long double)values[i] - expected));
            worst = fmax(worst, error / ulp((double)expected));
        }
    }
    free(values);
    if (worst > 1.0) fail_msg("exp is off by %g units in the last place", worst);
}

static void check_exponential_ends(void) {
    const mg_kernel kernel = {.kind = MG_KERNEL_EXP};
    const double in[] = {0.0,        -0.0,
                         709.0,      709.9,
                         1e308,      (double)INFINITY,
                         -745.0,     -746.0,
                         -1e308,     -(double)INFINITY,
                         (double)NAN};
    double out[MG_LENGTH(in)];
    memcpy(out, in, sizeof in);
    mg_kernel_finish(mg_isa_level(), &kernel, 0.0, NULL, out, MG_LENGTH(in));
    assert_true(out[0] == 1.0 && out[1] == 1.0);
    assert_close(out[2], exp(709.0), 1e-15);
    assert_true(isinf(out[3]) && isinf(out[4]) && isinf(out[5]));
    assert_true(out[6] == 0x1p-1074);
    assert_true(out[7] == 0.0 && out[8] == 0.0 && out[9] == 0.0);
    assert_true(isnan(out[10]));
}

static void exponential(void **unused) {
    (void)unused;
    for_each_isa(check_exponential);
    for_each_isa(check_exponential_ends);
}

static void check_place(void) {
    enum { COUNT = 37 };
    uint64_t state = 8;
    for (int k = 0; k < MG_LENGTH(kernels); k++) {
        double dots[COUNT], squares[COUNT], all[COUNT];
        for (int j = 0; j < COUNT; j++) {
            dots[j] = support_normal(&state);
            squares[j] = 9.0 + support_uniform(&state);
        }
        memcpy(all, dots, sizeof dots);
        mg_kernel_finish(mg_isa_level(), &kernels[k], 9.5, squares, all, COUNT);
        for (int j = 0; j < COUNT; j++) {
            double one = dots[j];
            mg_kernel_finish(mg_isa_level(), &kernels[k], 9.5, squares + j, &one, 1);
            assert_true(one == all[j]);
            if (kernels[k].kind != MG_KERNEL_LAPLACIAN)
                assert_close(one, mg_kernel_from_dot(&kernels[k], dots[j], 9.5, squares[j]), 1e-14);
        }
    }
}

static void finish_in_any_place(void **unused) {
    (void)unused;
    for_each_isa(check_place);
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

static double *fill_all(margin_context *context, const mg_kernel *kernel, const margin_matrix *x,
                        const margin_matrix *z) {
    double *x_squares = malloc((size_t)x->rows * 8 + 1),
           *z_squares = malloc((size_t)z->rows * 8 + 1);
    double *out = malloc((size_t)(x->rows * z->rows) * 8 + 1);
    assert_int_equal(mg_row_squares(context, x, NULL, x_squares), MARGIN_OK);
    assert_int_equal(mg_row_squares(context, z, NULL, z_squares), MARGIN_OK);
    const mg_kernel_block block = {.x = x,
                                   .z = z,
                                   .x_count = x->rows,
                                   .z_count = z->rows,
                                   .x_squares = x_squares,
                                   .z_squares = z_squares};
    assert_int_equal(mg_kernel_fill(context, kernel, &block, out, z->rows, NULL), MARGIN_OK);
    free(x_squares);
    free(z_squares);
    return out;
}

static void assert_same(const double *a, const double *b, int64_t count) {
    for (int64_t k = 0; k < count; k++)
        if (a[k] != b[k]) fail_msg("value %lld: %.17g and %.17g", (long long)k, a[k], b[k]);
}

/* All pairs of layouts give the same bits, near those of single pairs. */
static void check_block(int64_t rows, int64_t z_rows, int64_t columns, double density) {
    margin_context *context = support_context(NULL, 2), *single = support_context(NULL, 1);
    uint64_t state = 11;
    layouts dx = make_layouts(rows, columns, density, &state);
    layouts dz = make_layouts(z_rows, columns, density, &state);
    for (int k = 0; k < MG_LENGTH(kernels); k++) {
        double *first = NULL;
        for (int a = 0; a < LAYOUTS; a++)
            for (int b = 0; b < LAYOUTS; b++) {
                const margin_matrix x = layout(&dx, a), z = layout(&dz, b);
                double *out = fill_all(a + b ? context : single, &kernels[k], &x, &z);
                if (!first) {
                    first = out;
                    for (int64_t i = 0; i < rows; i++)
                        for (int64_t j = 0; j < z_rows; j++)
                            assert_close(out[i * z_rows + j],
                                         mg_kernel_rows(NULL, &kernels[k], &x, i, &z, j), 1e-12);
                } else {
                    assert_same(out, first, rows * z_rows);
                    free(out);
                }
            }
        free(first);
    }
    free_layouts(&dx);
    free_layouts(&dz);
    margin_context_free(context);
    margin_context_free(single);
}

static void check_blocks(void) {
    check_block(1, 1, 0, 1.0);
    check_block(1, 1, 1, 1.0);
    check_block(5, 7, 3, 1.0);
    check_block(1, 33, 20, 0.5);
    check_block(70, 9, 13, 0.8);
    check_block(67, 131, 40, 0.3);
    check_block(19, 21, 300, 0.9);  /* deeper than one panel */
    check_block(18, 40, 700, 0.02); /* thin: row by row */
}

static void blocks(void **unused) {
    (void)unused;
    for_each_isa(check_blocks);
}

/* Chosen rows, any part of a block, a stride in the output: the bits of the whole. */
static void check_parts(void) {
    margin_context *context = support_context(NULL, 2);
    uint64_t state = 13;
    enum { ROWS = 80 };
    layouts d = make_layouts(ROWS, 50, 0.1, &state);
    for (int k = 0; k < MG_LENGTH(kernels); k++)
        for (int which = 0; which < LAYOUTS; which++) {
            const margin_matrix x = layout(&d, which);
            double squares[ROWS], part[12 * 40];
            double *whole = fill_all(context, &kernels[k], &x, &x);
            assert_int_equal(mg_row_squares(context, &x, NULL, squares), MARGIN_OK);
            int64_t rows[12], z_rows[31];
            for (int64_t i = 0; i < 12; i++)
                rows[i] = (i * 37 + 5) % ROWS;
            for (int64_t j = 0; j < 31; j++)
                z_rows[j] = (j * 13 + 2) % ROWS;
            mg_kernel_block block = {.x = &x,
                                     .z = &x,
                                     .x_rows = rows,
                                     .z_rows = z_rows,
                                     .x_count = 12,
                                     .z_count = 31,
                                     .x_squares = squares,
                                     .z_squares = squares};
            part[31] = 42.0;
            assert_int_equal(mg_kernel_fill(context, &kernels[k], &block, part, 40, NULL),
                             MARGIN_OK);
            assert_true(part[31] == 42.0); /* between the rows of the output */
            for (int64_t i = 0; i < 12; i++)
                for (int64_t j = 0; j < 31; j++)
                    assert_true(part[i * 40 + j] == whole[rows[i] * ROWS + z_rows[j]]);
            block.x_rows = NULL;
            block.x_first = 17;
            block.x_count = 1;
            assert_int_equal(mg_kernel_fill(context, &kernels[k], &block, part, 40, NULL),
                             MARGIN_OK);
            for (int64_t j = 0; j < 31; j++)
                assert_true(part[j] == whole[17 * ROWS + z_rows[j]]);
            free(whole);
        }
    free_layouts(&d);
    margin_context_free(context);
}

static void parts(void **unused) {
    (void)unused;
    for_each_isa(check_parts);
}

/* The mirrored square is the plain one, symmetric, with an exact diagonal. */
static void check_square(void) {
    margin_context *context = support_context(NULL, 3);
    uint64_t state = 17;
    enum { ROWS = 203 };
    for (int density = 1; density <= 10; density += 9) {
        layouts d = make_layouts(ROWS, 30, density / 10.0, &state);
        for (int k = 0; k < MG_LENGTH(kernels); k++)
            for (int which = 0; which < LAYOUTS; which++) {
                const margin_matrix x = layout(&d, which);
                double squares[ROWS], *whole = fill_all(context, &kernels[k], &x, &x);
                double *mirrored = malloc(ROWS * ROWS * 8);
                mg_kernel_scratch *scratch;
                assert_int_equal(mg_row_squares(context, &x, NULL, squares), MARGIN_OK);
                const mg_kernel_block block = {.x = &x,
                                               .z = &x,
                                               .x_count = ROWS,
                                               .z_count = ROWS,
                                               .x_squares = squares,
                                               .z_squares = squares};
                assert_int_equal(
                    mg_kernel_scratch_new(context, &kernels[k], &x, &x, &scratch, NULL), MARGIN_OK);
                const mg_kernel_out out = {
                    .type = MARGIN_F64, .values = mirrored, .ld = ROWS, .square = true};
                assert_int_equal(mg_kernel_fill_out(scratch, &block, &out), MARGIN_OK);
                double ones[ROWS], sums[ROWS];
                for (int i = 0; i < ROWS; i++)
                    ones[i] = 1.0;
                assert_int_equal(mg_kernel_multiply(scratch, &block, ones, 1, sums), MARGIN_OK);
                for (int i = 0; i < ROWS; i++) {
                    double sum = 0.0;
                    for (int j = 0; j < ROWS; j++)
                        sum += whole[i * ROWS + j];
                    assert_true(sums[i] == sum);
                }
                mg_kernel_scratch_free(scratch);
                assert_same(mirrored, whole, ROWS * ROWS);
                for (int64_t i = 0; i < ROWS; i++) {
                    for (int64_t j = 0; j < i; j++)
                        assert_true(whole[i * ROWS + j] == whole[j * ROWS + i]);
                    if (kernels[k].kind == MG_KERNEL_RBF || kernels[k].kind == MG_KERNEL_LAPLACIAN)
                        assert_true(whole[i * ROWS + i] == 1.0);
                    if (kernels[k].kind == MG_KERNEL_LINEAR)
                        assert_true(whole[i * ROWS + i] == squares[i]);
                }
                free(whole);
                free(mirrored);
            }
        free_layouts(&d);
    }
    margin_context_free(context);
}

static void square_blocks(void **unused) {
    (void)unused;
    for_each_isa(check_square);
}

/* Of some rows in turn, more than one block of them: as the product of a rectangle, and the same
 * for any number of threads. */
static void check_square_product(void) {
    enum { ROWS = 1100, COLUMNS = 5, SOME = 1013 };
    double *values = malloc(ROWS * COLUMNS * 8), squares[ROWS], v[SOME], out[3][SOME];
    int64_t rows[SOME];
    uint64_t state = 23;
    for (int k = 0; k < ROWS * COLUMNS; k++)
        values[k] = support_normal(&state);
    for (int i = 0; i < SOME; i++) {
        rows[i] = (i * 7) % ROWS;
        v[i] = support_normal(&state);
    }
    const margin_matrix x = margin_dense_f64(values, ROWS, COLUMNS, COLUMNS);
    const mg_kernel_block block = {.x = &x,
                                   .z = &x,
                                   .x_rows = rows,
                                   .z_rows = rows,
                                   .x_count = SOME,
                                   .z_count = SOME,
                                   .x_squares = squares,
                                   .z_squares = squares};
    for (int k = 0; k < MG_LENGTH(kernels); k++) {
        for (int threads = 1; threads <= 3; threads += 2) {
            margin_context *context = support_context(NULL, threads);
            mg_kernel_scratch *scratch;
            assert_int_equal(mg_row_squares(context, &x, NULL, squares), MARGIN_OK);
            assert_int_equal(mg_kernel_scratch_new(context, &kernels[k], &x, &x, &scratch, NULL),
                             MARGIN_OK);
            assert_int_equal(mg_kernel_multiply_square(scratch, &block, v, out[threads / 2], NULL),
                             MARGIN_OK);
            assert_int_equal(mg_kernel_multiply(scratch, &block, v, 1, out[2]), MARGIN_OK);
            mg_kernel_scratch_free(scratch);
            margin_context_free(context);
        }
        double most = 0.0;
        for (int i = 0; i < SOME; i++)
            most = fmax(most, fabs(out[2][i]));
        for (int i = 0; i < SOME; i++)
            assert_true(fabs(out[0][i] - out[2][i]) <= 1e-12 * most);
        assert_same(out[0], out[1], SOME);
    }
    free(values);
}

static void square_products(void **unused) {
    (void)unused;
    for_each_isa(check_square_product);
}

/* ---- Scale ----------------------------------------------------------------------------------- */

static void scale(void **unused) {
    (void)unused;
    margin_context *context = support_context(NULL, 2);
    uint64_t state = 19;
    layouts d = make_layouts(50, 7, 0.5, &state);
    const int64_t rows[] = {3, 4, 10, 49, 7};
    const double weights[] = {1.0, 2.0, 1.0, 3.0, 0.5};
    double mean = 0.0, variance = 0.0, total = 0.0, gamma;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < 5; i++)
            for (int64_t j = 0; j < 7; j++) {
                const double value = d.f64[rows[i] * 10 + j];
                if (pass == 0) {
                    mean += weights[i] * value;
                    total += weights[i];
                } else {
                    variance +=
                        weights[i] * (value - mean / total) * (value - mean / total) / total;
                }
            }
    for (int which = 0; which < LAYOUTS; which++) {
        const margin_matrix x = layout(&d, which);
        assert_int_equal(mg_kernel_scale(context, &x, rows, weights, 5, &gamma, NULL), MARGIN_OK);
        assert_close(gamma, 1.0 / (7.0 * variance), 1e-13);
    }
    const double same[] = {2.0, 2.0, 2.0, 2.0};
    const margin_matrix constant = margin_dense_f64(same, 2, 2, 2);
    assert_int_equal(mg_kernel_scale(context, &constant, NULL, NULL, 2, &gamma, NULL), MARGIN_OK);
    assert_true(gamma == 1.0);
    free_layouts(&d);
    margin_context_free(context);
}

/* ---- Failures -------------------------------------------------------------------------------- */

static margin_status fill_once(margin_context *context, void *user, margin_error *error) {
    const margin_matrix *x = user;
    double out[16];
    const mg_kernel_block block = {.x = x, .z = x, .x_count = 4, .z_count = 4};
    return mg_kernel_fill(context, &kernels[1], &block, out, 4, error);
}

static void no_memory(void **unused) {
    (void)unused;
    uint64_t state = 23;
    layouts d = make_layouts(4, 5, 1.0, &state);
    margin_matrix x = layout(&d, 0);
    assert_true(support_fail_each_allocation(2, fill_once, &x) >= 1);
    free_layouts(&d);
}

static void cancelled(void **unused) {
    (void)unused;
    uint64_t state = 29;
    layouts d = make_layouts(4, 5, 1.0, &state);
    margin_matrix x = layout(&d, 0);
    margin_context *context = support_context(NULL, 2);
    margin_error error;
    margin_context_cancel(context);
    assert_int_equal(fill_once(context, &x, &error), MARGIN_ERROR_CANCELLED);
    assert_int_equal(error.status, MARGIN_ERROR_CANCELLED);
    margin_context_free(context);
    free_layouts(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formulas),
        cmocka_unit_test(choices_follow_the_enum),
        cmocka_unit_test(pairs_of_layouts),
        cmocka_unit_test(exponential),
        cmocka_unit_test(finish_in_any_place),
        cmocka_unit_test(blocks),
        cmocka_unit_test(parts),
        cmocka_unit_test(square_blocks),
        cmocka_unit_test(square_products),
        cmocka_unit_test(scale),
        cmocka_unit_test(no_memory),
        cmocka_unit_test(cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
