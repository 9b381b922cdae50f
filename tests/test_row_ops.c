/* Row products: every instruction set against plain loops, over lengths, strides, misalignment,
 * layouts and types. */
#include "support/support.h"

#include "math/rows/row_ops.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_COLUMNS = 120, ROWS = 9 };

/* A matrix in allocations of exactly its size, so that a memory checker sees a read beyond it. */
typedef struct sample {
    margin_matrix x;
    void *block; /* values begin `offset` elements into it */
    void *starts, *indices;
    double plain[ROWS][MAX_COLUMNS];
} sample;

static void sample_free(sample *s) {
    free(s->block);
    free(s->starts);
    free(s->indices);
}

static void put_value(void *values, margin_type type, int64_t k, double value) {
    if (type == MARGIN_F32)
        ((float *)values)[k] = (float)value;
    else
        ((double *)values)[k] = value;
}

static void put_index(void *values, margin_type type, int64_t k, int64_t value) {
    if (type == MARGIN_I32)
        ((int32_t *)values)[k] = (int32_t)value;
    else
        ((int64_t *)values)[k] = value;
}

static double draw(uint64_t *state, bool whole) {
    double value = whole ? floor(support_uniform(state) * 17.0) - 8.0 : support_normal(state);
    return (double)(float)value; /* the same number in both types */
}

static void dense_sample(sample *s, margin_type type, int64_t columns, int64_t stride,
                         int64_t offset, bool whole, uint64_t *state) {
    const size_t size = type == MARGIN_F32 ? 4 : 8;
    const int64_t length = (ROWS - 1) * stride + columns;
    memset(s, 0, sizeof *s);
    s->block = malloc((size_t)(offset + length) * size + 1);
    char *values = (char *)s->block + (size_t)offset * size;
    s->x = margin_dense_f64((const double *)(void *)values, ROWS, columns, stride);
    s->x.value_type = type;
    for (int64_t k = 0; k < length; k++)
        put_value(values, type, k, (double)NAN); /* between the rows: must not be used */
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < columns; j++)
            put_value(values, type, i * stride + j, s->plain[i][j] = draw(state, whole));
}

static void sparse_sample(sample *s, margin_type type, margin_type start, margin_type index,
                          int64_t columns, bool whole, uint64_t *state) {
    memset(s, 0, sizeof *s);
    s->block = malloc(ROWS * (size_t)columns * 8 + 1);
    s->starts = malloc((ROWS + 1) * 8);
    s->indices = malloc(ROWS * (size_t)columns * 8 + 1);
    int64_t k = 0;
    for (int64_t i = 0; i < ROWS; i++) {
        put_index(s->starts, start, i, k);
        const double density = (double)i / (ROWS - 1); /* from an empty row to a full one */
        for (int64_t j = 0; j < columns; j++) {
            if (support_uniform(state) >= density) continue;
            put_value(s->block, type, k, s->plain[i][j] = draw(state, whole));
            put_index(s->indices, index, k++, j);
        }
    }
    put_index(s->starts, start, ROWS, k);
    s->x = margin_csr_f64(s->block, s->indices, s->starts, ROWS, columns);
    s->x.value_type = type;
    s->x.start_type = start;
    s->x.index_type = index;
}

/* ---- Checks of one matrix -------------------------------------------------------------------- */

static double plain_dot(const double *a, const double *b, int64_t n, double *magnitude) {
    long double sum = 0.0L, size = 0.0L;
    for (int64_t j = 0; j < n; j++) {
        sum += (long double)a[j] * (long double)b[j];
        size += fabsl((long double)a[j] * (long double)b[j]);
    }
    *magnitude = (double)size;
    return (double)sum;
}

static void assert_dot(double found, const double *a, const double *b, int64_t n) {
    double magnitude;
    const double expected = plain_dot(a, b, n, &magnitude);
    if (!(fabs(found - expected) <= 0x1p-53 * (double)(n + 2) * magnitude))
        fail_msg("product of %lld: %.17g, expected %.17g", (long long)n, found, expected);
}

static void check_products(const sample *s, const mg_row_ops *ops, bool whole, uint64_t *state) {
    const int64_t n = s->x.columns;
    double w[MAX_COLUMNS + 1], expected[MAX_COLUMNS + 1];
    for (int64_t j = 0; j <= n; j++)
        w[j] = draw(state, whole);
    for (int64_t i = 0; i < ROWS; i++) {
        assert_dot(ops->dot(&s->x, i, w), s->plain[i], w, n);
        assert_dot(ops->square(&s->x, i), s->plain[i], s->plain[i], n);
        const double c = whole ? -3.0 : 0.3;
        memcpy(expected, w, sizeof w);
        for (int64_t j = 0; j < n; j++) {
            const double product = c * s->plain[i][j];
            expected[j] += product;
        }
        ops->add(&s->x, i, c, w);
        for (int64_t j = 0; j <= n; j++) /* the one behind the end is not touched */
            if (w[j] != expected[j]) fail_msg("add: %.17g, expected %.17g", w[j], expected[j]);
    }
}

static void check_scores(const sample *s, const mg_row_ops *ops, uint64_t *state) {
    const int64_t n = s->x.columns;
    for (int64_t functions = 1; functions <= 5; functions++) {
        double *w = malloc((size_t)(functions * n) * sizeof *w + 1), b[5], out[ROWS * 5 + 1];
        for (int64_t j = 0; j < functions * n; j++)
            w[j] = draw(state, false);
        for (int64_t f = 0; f < functions; f++)
            b[f] = draw(state, false);
        for (int64_t first = 0; first < 3; first++) {
            const int64_t count = ROWS - 2 * first;
            out[count * functions] = 42.0;
            ops->scores(&s->x, first, count, w, b, functions, out);
            assert_true(out[count * functions] == 42.0);
            for (int64_t i = 0; i < count; i++)
                for (int64_t f = 0; f < functions; f++) /* the same bits, not nearly the same */
                    assert_true(out[i * functions + f] ==
                                ops->dot(&s->x, first + i, w + f * n) + b[f]);
        }
        free(w);
    }
}

static int64_t plain_next_error(const mg_row_scan *scan, const mg_row_ops *ops, int64_t first,
                                int64_t last, const double *w, double b) {
    for (int64_t i = first; i < last; i++) {
        double score = ops->dot(scan->x, scan->rows ? scan->rows[i] : i, w) + b;
        if (scan->sign[i] * score <= 0.0) return i;
    }
    return last;
}

static void check_next_error(const sample *s, const mg_row_ops *ops, uint64_t *state) {
    static const int64_t rows[] = {8, 0, 3, 3, 5, 1, 7, 2, 6, 4, 8, 8};
    double w[MAX_COLUMNS + 1];
    int8_t sign[MG_LENGTH(rows)];
    for (int round = 0; round < 8; round++) {
        const double b = draw(state, false);
        for (int64_t j = 0; j < s->x.columns; j++)
            w[j] = round == 0 ? 0.0 : draw(state, false);
        for (int i = 0; i < MG_LENGTH(rows); i++)
            sign[i] = support_uniform(state) < 0.5 ? -1 : 1;
        const mg_row_scan in_order = {&s->x, NULL, sign}, listed = {&s->x, rows, sign};
        for (int64_t first = 0; first <= MG_LENGTH(rows); first++) {
            const int64_t last = MG_MIN(first, ROWS);
            assert_int_equal(ops->next_error(&in_order, last, ROWS, w, b),
                             plain_next_error(&in_order, ops, last, ROWS, w, b));
            assert_int_equal(ops->next_error(&listed, first, MG_LENGTH(rows), w, b),
                             plain_next_error(&listed, ops, first, MG_LENGTH(rows), w, b));
        }
    }
}

/* Sums of whole numbers are exact in any order: every instruction set must give the same bits. */
/* The walk in registers against next_error and add in turn, over several rounds of the same rows.
 */
static void check_walk(const sample *s, const mg_row_ops *ops, bool constant, uint64_t *state) {
    const int64_t rows[] = {3, 8, 0, 0, 5, 7}, n = s->x.columns;
    int8_t sign[ROWS];
    double w[MAX_COLUMNS], plain[MAX_COLUMNS], b = constant ? support_normal(state) : 0.0,
                                               plain_b = b;
    if (!ops->walk || n < 1 || n > ops->walk_columns) return;
    for (int i = 0; i < ROWS; i++)
        sign[i] = support_uniform(state) < 0.5 ? -1 : 1;
    for (int64_t j = 0; j < n; j++)
        w[j] = plain[j] = support_normal(state);
    for (int round = 0; round < 6; round++) {
        const mg_row_scan scan = {&s->x, round % 2 ? rows : NULL, sign};
        const int64_t last = round % 2 ? MG_LENGTH(rows) : ROWS;
        int64_t corrections = 0;
        for (int64_t i = 0; (i = ops->next_error(&scan, i, last, plain, plain_b)) < last; i++) {
            ops->add(&s->x, scan.rows ? rows[i] : i, 0.3 * sign[i], plain);
            if (constant) plain_b += 0.3 * sign[i];
            corrections++;
        }
        assert_int_equal(ops->walk(&scan, 0, last, 0.3, w, constant ? &b : NULL), corrections);
        assert_true(b == plain_b);
        assert_memory_equal(w, plain, (size_t)n * sizeof *w);
    }
}

static void check_same_everywhere(const sample *s, uint64_t *state) {
    double w[MAX_COLUMNS];
    for (int64_t j = 0; j < s->x.columns; j++)
        w[j] = draw(state, true);
    const mg_row_ops *ref = mg_row_ops_for(&s->x, MG_ISA_REF);
    for (int isa = 0; isa <= (int)mg_isa_level(); isa++) {
        const mg_row_ops *ops = mg_row_ops_for(&s->x, (mg_isa)isa);
        for (int64_t i = 0; i < ROWS; i++) {
            assert_true(ops->dot(&s->x, i, w) == ref->dot(&s->x, i, w));
            assert_true(ops->square(&s->x, i) == ref->square(&s->x, i));
        }
    }
}

static void check_sample(const sample *s, bool whole, uint64_t *state) {
    for (int isa = 0; isa <= (int)mg_isa_level(); isa++) {
        const mg_row_ops *ops = mg_row_ops_for(&s->x, (mg_isa)isa);
        assert_non_null(ops);
        check_products(s, ops, whole, state);
        check_scores(s, ops, state);
        check_next_error(s, ops, state);
        check_walk(s, ops, true, state);
        check_walk(s, ops, false, state);
    }
    if (whole) check_same_everywhere(s, state);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void dense_rows(void **unused) {
    (void)unused;
    static const margin_type types[] = {MARGIN_F64, MARGIN_F32};
    uint64_t state = 1;
    for (int t = 0; t < 2; t++)
        for (int64_t columns = 0; columns <= MAX_COLUMNS; columns++)
            for (int64_t extra = 0; extra < 4; extra++) {
                sample s;
                const bool whole = extra & 1;
                dense_sample(&s, types[t], columns, columns + extra, extra, whole, &state);
                check_sample(&s, whole, &state);
                sample_free(&s);
            }
}

static void sparse_rows(void **unused) {
    (void)unused;
    uint64_t state = 2;
    for (int kind = 0; kind < 16; kind++)
        for (int64_t columns = 0; columns <= MAX_COLUMNS; columns += 1 + columns / 8) {
            sample s;
            sparse_sample(&s, kind & 1 ? MARGIN_F32 : MARGIN_F64,
                          kind & 2 ? MARGIN_I32 : MARGIN_I64, kind & 4 ? MARGIN_I32 : MARGIN_I64,
                          columns, kind & 8, &state);
            check_sample(&s, kind & 8, &state);
            sample_free(&s);
        }
}

static void vectors(void **unused) {
    (void)unused;
    uint64_t state = 3;
    for (int isa = 0; isa <= (int)mg_isa_level(); isa++) {
        const mg_vector_ops *ops = mg_vector_ops_for((mg_isa)isa);
        for (int64_t n = 0; n <= MAX_COLUMNS; n++) {
            double *a = malloc((size_t)n * 8 + 1), *b = malloc((size_t)n * 8 + 1);
            double expected[MAX_COLUMNS];
            for (int64_t j = 0; j < n; j++) {
                a[j] = support_normal(&state);
                b[j] = support_normal(&state);
                const double product = 0.7 * a[j];
                expected[j] = b[j] + product;
            }
            assert_dot(ops->dot(a, b, n), a, b, n);
            assert_dot(ops->square(a, n), a, a, n);
            ops->add(b, 0.7, a, n);
            for (int64_t j = 0; j < n; j++)
                assert_true(b[j] == expected[j]);
            free(a);
            free(b);
        }
    }
}

/* A score that is not a number is never right: with `<= 0` the scan would run past it. */
static void overflow_is_an_error(void **unused) {
    (void)unused;
    const double values[] = {1e300, -1e300, 1.0, 1.0};
    const double w[] = {1e300, 1e300};
    const int8_t sign[] = {1, 1};
    const margin_matrix x = margin_dense_f64(values, 2, 2, 2);
    const mg_row_scan scan = {&x, NULL, sign};
    for (int isa = 0; isa <= (int)mg_isa_level(); isa++)
        assert_int_equal(mg_row_ops_for(&x, (mg_isa)isa)->next_error(&scan, 0, 2, w, 0.0), 0);
}

static void zero_is_an_error(void **unused) {
    (void)unused;
    const double values[] = {1.0, 2.0};
    const double w[] = {0.0};
    const int8_t sign[] = {-1, 1};
    const margin_matrix x = margin_dense_f64(values, 2, 1, 1);
    const mg_row_scan scan = {&x, NULL, sign};
    for (int isa = 0; isa <= (int)mg_isa_level(); isa++) {
        const mg_row_ops *ops = mg_row_ops_for(&x, (mg_isa)isa);
        assert_int_equal(ops->next_error(&scan, 0, 2, w, 0.0), 0);
        assert_int_equal(ops->next_error(&scan, 0, 2, w, -1.0), 1);
    }
}

/* Exactly the terms one after the other, fused, of many vectors and of one. */
static void assert_triangle(mg_isa isa, int64_t depth, int64_t rows, uint64_t *seed) {
    const mg_triangle_ops *ops = mg_triangle_ops_for(isa);
    const int64_t lda = depth + depth % 3, numbers = (rows - 1) * lda + depth;
    double *a = malloc((size_t)numbers * sizeof *a), *one = malloc((size_t)depth * sizeof *one);
    double *x = malloc((size_t)(depth * MG_TRIANGLE_WIDTH) * sizeof *x);
    double out[MG_TRIANGLE_GROUP * MG_TRIANGLE_WIDTH], of_one[MG_TRIANGLE_GROUP];
    for (int64_t k = 0; k < numbers; k++)
        a[k] = support_normal(seed);
    for (int64_t k = 0; k < depth * MG_TRIANGLE_WIDTH; k++)
        x[k] = support_normal(seed);
    ops->many(a, lda, rows, depth, x, out);
    for (int64_t i = 0; i < MG_TRIANGLE_WIDTH; i++) {
        for (int64_t j = 0; j < depth; j++)
            one[j] = x[j * MG_TRIANGLE_WIDTH + i];
        ops->one(a, lda, rows, depth, one, of_one);
        for (int64_t r = 0; r < rows; r++) {
            double sum = 0.0;
            for (int64_t j = 0; j < depth; j++)
                sum = fma(a[r * lda + j], one[j], sum);
            assert_true(of_one[r] == sum);
            assert_true(out[r * MG_TRIANGLE_WIDTH + i] == sum);
        }
    }
    free(x);
    free(one);
    free(a);
}

static void triangles(void **unused) {
    uint64_t seed = 9;
    (void)unused;
    for (int isa = 0; isa <= (int)mg_isa_level(); isa++)
        for (int64_t depth = 1; depth <= 43; depth += 3)
            for (int64_t rows = 1; rows <= MG_TRIANGLE_GROUP; rows++)
                assert_triangle((mg_isa)isa, depth, rows, &seed);
}

static void names(void **unused) {
    (void)unused;
    const double values[] = {1.0};
    const margin_matrix x = margin_dense_f64(values, 1, 1, 1);
    assert_string_equal(mg_row_ops_for(&x, MG_ISA_REF)->name, "dense f64 ref");
    for (int isa = 0; isa <= (int)mg_isa_level(); isa++)
        assert_contains(mg_row_ops_for(&x, (mg_isa)isa)->name, mg_isa_name((mg_isa)isa));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense_rows),       cmocka_unit_test(sparse_rows),
        cmocka_unit_test(vectors),          cmocka_unit_test(overflow_is_an_error),
        cmocka_unit_test(zero_is_an_error), cmocka_unit_test(names),
        cmocka_unit_test(triangles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
