/* Packed symmetric products against plain sums, for every instruction set and both precisions. */
#include "support/support.h"

#include "math/products/symmetric_product.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const mg_isa isas[] = {MG_ISA_REF, MG_ISA_AVX2, MG_ISA_AVX512};
enum { STRIDE = 40, SENTINEL = 12345 };

typedef struct block {
    const mg_symmetric_ops *ops;
    int64_t size, lines;
    double *values; /* lines x size, as packed */
    void *packed;
} block;

/* Multiples of 1/16 up to 2, which f32 holds and whose products add up exactly. */
static double exact_number(uint64_t *seed) {
    return (double)((int)(support_random(seed) % 65) - 32) / 16;
}

static block make_block(const mg_symmetric_ops *ops, int64_t size, int64_t lines, uint64_t seed) {
    block b = {.ops = ops, .size = size, .lines = lines};
    const mg_affine plain = {0};
    b.values = malloc((size_t)(lines * size + 1) * sizeof(double));
    b.packed = malloc((size_t)(mg_symmetric_packed(ops, size, STRIDE) * ops->number_size));
    assert_true(b.values && b.packed);
    memset(b.packed, 0x7F, (size_t)(mg_symmetric_packed(ops, size, STRIDE) * ops->number_size));
    for (int64_t k = 0; k < lines * size; k++)
        b.values[k] = exact_number(&seed);
    for (int64_t k = 0; k < lines; k++)
        ops->pack_f64(b.values + k * size, size, &plain, 1.0, STRIDE,
                      (char *)b.packed + k * ops->width * ops->number_size);
    return b;
}

static void free_block(block *b) {
    free(b->values);
    free(b->packed);
}

/* c += sign sum e e', and nothing else changes. */
static void check_product(const block *b, double sign, int64_t ldc, bool in_parts) {
    const int64_t size = b->size, panels = mg_symmetric_panels(b->ops, size);
    double *c = malloc((size_t)(size * ldc) * sizeof *c);
    assert_non_null(c);
    for (int64_t k = 0; k < size * ldc; k++)
        c[k] = SENTINEL;
    if (in_parts)
        for (int64_t k = panels - 1; k >= 0; k--)
            mg_symmetric_add(b->ops, b->packed, STRIDE, b->lines, size, k, k + 1, sign, c, ldc);
    else
        mg_symmetric_add(b->ops, b->packed, STRIDE, b->lines, size, 0, INT64_MAX, sign, c, ldc);
    for (int64_t i = 0; i < size; i++)
        for (int64_t j = 0; j < ldc; j++) {
            double expected = SENTINEL;
            for (int64_t k = 0; k < b->lines && j <= i; k++)
                expected += sign * b->values[k * size + i] * b->values[k * size + j];
            assert_true(c[i * ldc + j] == expected);
        }
    free(c);
}

static void test_products(void **state) {
    (void)state;
    for (int isa = 0; isa <= (int)mg_isa_level(); isa++)
        for (int single = 0; single < 2; single++) {
            const mg_symmetric_ops *ops = mg_symmetric_ops_for(isas[isa], single != 0);
            assert_true(strstr(ops->name, single ? "f32" : "f64") != NULL);
            assert_int_equal(ops->number_size, single ? 4 : 8);
            for (int64_t size = 1; size <= 2 * ops->width + 3; size++) {
                const int64_t lines[] = {0, 1, 7, STRIDE};
                block b = make_block(ops, size, lines[size % 4], (uint64_t)size);
                check_product(&b, 1.0, size, false);
                check_product(&b, -1.0, size + 3, false);
                check_product(&b, 1.0, size + 1, true);
                free_block(&b);
            }
            block wide = make_block(ops, 20 * ops->width - 5, 5, 99); /* several groups */
            check_product(&wide, 1.0, wide.size, false);
            check_product(&wide, 1.0, wide.size, true);
            free_block(&wide);
        }
}

/* Whoever computes a number computes the same bits. */
static void test_parts_give_the_same_bits(void **state) {
    (void)state;
    for (int isa = 0; isa <= (int)mg_isa_level(); isa++)
        for (int single = 0; single < 2; single++) {
            const mg_symmetric_ops *ops = mg_symmetric_ops_for(isas[isa], single != 0);
            const int64_t size = 12 * ops->width + 1, bytes = size * size * 8;
            block b = make_block(ops, size, 0, 1);
            uint64_t seed = 5;
            b.lines = 33;
            for (int64_t k = 0; k < b.lines; k++)
                for (int64_t j = 0; j < size; j++)
                    mg_symmetric_set(ops, b.packed, STRIDE, k, j, support_normal(&seed));
            double *whole = calloc((size_t)bytes, 1), *parts = calloc((size_t)bytes, 1);
            mg_symmetric_add(ops, b.packed, STRIDE, b.lines, size, 0, INT64_MAX, 1, whole, size);
            for (int64_t panel = 0; panel < 13; panel += 3)
                mg_symmetric_add(ops, b.packed, STRIDE, b.lines, size, panel, panel + 3, 1, parts,
                                 size);
            assert_memory_equal(whole, parts, (size_t)bytes);
            free(whole);
            free(parts);
            free_block(&b);
        }
}

static double packed_at(const mg_symmetric_ops *ops, const void *packed, int64_t line, int64_t j) {
    const int64_t at = (j / ops->width * STRIDE + line) * ops->width + j % ops->width;
    return ops->number_size == 4 ? (double)((const float *)packed)[at]
                                 : ((const double *)packed)[at];
}

/* Every element, with and without the affine part; zeros to the end of the panel. */
static void check_packing(const mg_symmetric_ops *ops, int64_t count, bool from_f32, bool affine) {
    enum { MOST = 160 };
    double values[MOST], centre[MOST], scale[MOST], shift[MOST];
    float narrow[MOST];
    uint64_t seed = (uint64_t)count;
    const int64_t numbers = mg_symmetric_packed(ops, count, STRIDE);
    void *packed = malloc((size_t)(numbers * ops->number_size));
    assert_non_null(packed);
    memset(packed, 0x7F, (size_t)(numbers * ops->number_size));
    for (int64_t j = 0; j < count; j++) {
        values[j] = (double)(narrow[j] = (float)support_normal(&seed));
        centre[j] = support_normal(&seed);
        scale[j] = support_normal(&seed);
        shift[j] = support_normal(&seed);
    }
    const mg_affine map = affine ? (mg_affine){centre, scale, shift} : (mg_affine){0};
    char *line = (char *)packed + 3 * ops->width * ops->number_size;
    if (from_f32)
        ops->pack_f32(narrow, count, &map, 1.5, STRIDE, line);
    else
        ops->pack_f64(values, count, &map, 1.5, STRIDE, line);
    for (int64_t j = 0; j < mg_symmetric_panels(ops, count) * ops->width; j++) {
        double expected = 0;
        if (j < count) {
            expected = affine ? (values[j] - centre[j]) * scale[j] + shift[j] : values[j];
            expected *= 1.5;
        }
        if (ops->number_size == 4) expected = (double)(float)expected;
        assert_true(packed_at(ops, packed, 3, j) == expected);
    }
    mg_symmetric_set(ops, packed, STRIDE, 3, count - 1, 0.25);
    assert_true(packed_at(ops, packed, 3, count - 1) == 0.25);
    free(packed);
}

/* Lines put together from columns are those packed from rows, whichever columns and rows. */
static void check_columns(const mg_symmetric_ops *ops, int64_t count, bool from_f32, int with) {
    enum { MOST = 60, ROWS = 90, LINES = 37, FIRST = 5 };
    static double x[ROWS * MOST], turned[MOST * ROWS];
    static float narrow[ROWS * MOST], narrow_turned[MOST * ROWS];
    const void *columns[MOST];
    double centre[MOST], scale[MOST], shift[MOST], factors[LINES], row[MOST];
    float narrow_row[MOST];
    int64_t chosen[MOST], rows[LINES];
    uint64_t seed = (uint64_t)count;
    const size_t bytes = (size_t)(mg_symmetric_packed(ops, count, STRIDE) * ops->number_size);
    char *expected = calloc(bytes, 1), *packed = calloc(bytes, 1);
    for (int64_t k = 0; k < ROWS * MOST; k++) {
        x[k] = (double)(narrow[k] = (float)support_normal(&seed));
        turned[k % MOST * ROWS + k / MOST] = x[k];
        narrow_turned[k % MOST * ROWS + k / MOST] = narrow[k];
    }
    for (int64_t j = 0; j < MOST; j++) {
        columns[j] = from_f32 ? (void *)(narrow_turned + j * ROWS) : (void *)(turned + j * ROWS);
        centre[j] = support_normal(&seed);
        scale[j] = support_normal(&seed);
        shift[j] = support_normal(&seed);
        chosen[j] = (with & 2) != 0 ? MOST - count + j : j;
    }
    const mg_affine map = (with & 1) != 0 ? (mg_affine){centre, scale, shift} : (mg_affine){0};
    const mg_column_lines from = {columns, (with & 2) != 0 ? chosen : NULL,
                                  count,   (with & 4) != 0 ? rows : NULL,
                                  FIRST,   LINES};
    for (int64_t k = 0; k < LINES; k++) {
        factors[k] = support_normal(&seed);
        rows[k] = (with & 4) != 0 ? k * 7 % ROWS : FIRST + k;
        for (int64_t j = 0; j < count; j++) {
            row[j] = x[rows[k] * MOST + chosen[j]];
            narrow_row[j] = (float)row[j];
        }
        char *line = expected + k * ops->width * ops->number_size;
        if (from_f32)
            ops->pack_f32(narrow_row, count, &map, factors[k], STRIDE, line);
        else
            ops->pack_f64(row, count, &map, factors[k], STRIDE, line);
    }
    if (from_f32)
        ops->pack_columns_f32(&from, &map, factors, STRIDE, packed);
    else
        ops->pack_columns_f64(&from, &map, factors, STRIDE, packed);
    assert_memory_equal(packed, expected, bytes);
    free(packed);
    free(expected);
}

static void test_packing_from_columns(void **state) {
    (void)state;
    for (int isa = 0; isa <= (int)mg_isa_level(); isa++)
        for (int single = 0; single < 2; single++)
            for (int64_t count = 1; count < 60; count++)
                for (int with = 0; with < 16; with++)
                    check_columns(mg_symmetric_ops_for(isas[isa], single != 0), count,
                                  (with & 8) != 0, with & 7);
}

static void test_packing(void **state) {
    (void)state;
    for (int isa = 0; isa <= (int)mg_isa_level(); isa++)
        for (int single = 0; single < 2; single++)
            for (int64_t count = 1; count < 160; count++)
                for (int with = 0; with < 4; with++)
                    check_packing(mg_symmetric_ops_for(isas[isa], single != 0), count,
                                  (with & 1) != 0, (with & 2) != 0);
}

static void test_solve(void **state) {
    enum { MOST = 20 };
    (void)state;
    for (int isa = 0; isa <= (int)mg_isa_level(); isa++) {
        const mg_symmetric_ops *ops = mg_symmetric_ops_for(isas[isa], false);
        for (int64_t lines = 1; lines <= MOST; lines++) {
            double l[MOST * (MOST + 2)], panel[MOST * 48], x[MOST * 48];
            uint64_t seed = (uint64_t)lines;
            for (int64_t k = 0; k < MOST * (MOST + 2); k++)
                l[k] = support_normal(&seed);
            for (int64_t k = 0; k < lines * ops->width; k++)
                x[k] = support_normal(&seed);
            for (int64_t i = 0; i < lines; i++) {
                l[i * (MOST + 2) + i] += 8;
                for (int64_t s = 0; s < ops->width; s++) {
                    double sum = 0;
                    for (int64_t k = 0; k <= i; k++)
                        sum += l[i * (MOST + 2) + k] * x[k * ops->width + s];
                    panel[i * ops->width + s] = sum;
                }
            }
            ops->solve(lines, l, MOST + 2, panel);
            for (int64_t k = 0; k < lines * ops->width; k++)
                assert_close(panel[k], x[k], 1e-13);
        }
        assert_null(mg_symmetric_ops_for(isas[isa], true)->solve);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products), cmocka_unit_test(test_parts_give_the_same_bits),
        cmocka_unit_test(test_packing),  cmocka_unit_test(test_packing_from_columns),
        cmocka_unit_test(test_solve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
