/* Weighted Grams of a design against plain sums: every layout and instruction set, few columns and
 * many, dense and sparse. */
#include "design_cases.h"

#include "linear/design/design_columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static margin_error error;

#define OK(call)                                                                                   \
    do {                                                                                           \
        memset(&error, 0, sizeof error);                                                           \
        if ((call) < 0) fail_msg("%s", error.text);                                                \
    } while (0)

static void expanded_row(const design_case *c, const mg_weighted_gram *request, int64_t i,
                         double *e) {
    const int64_t p = c->problem.x.columns;
    int64_t size = request->columns ? request->column_count : p;
    for (int64_t k = 0; k < size; k++) {
        const int64_t j = request->columns ? request->columns[k] : k;
        const double moved = c->a[i * p + j] - (request->centre ? request->centre[j] : 0);
        e[k] = moved * (request->factor ? request->factor[j] : 1);
    }
    if (request->extra) e[size++] = request->extra[i];
    e[size] = 1;
}

static void check_gram(const design_case *c, mg_design *d, const mg_weighted_gram *request) {
    const int64_t size = mg_design_gram_size(d, request);
    const int64_t count = request->chosen ? request->count : d->samples;
    double *gram = space(size * size), *expected = calloc((size_t)(size * size), sizeof *expected);
    double e[256], total = 0;
    assert_int_equal(size, (request->columns ? request->column_count : d->columns) + 1 +
                               (request->extra != NULL));
    for (int64_t k = 0; k < count; k++) {
        const int64_t i = request->chosen ? request->chosen[k] : k;
        const double weight = request->weights ? request->weights[k] : design_case_weight(c, i);
        expanded_row(c, request, i, e);
        total += weight;
        for (int64_t r = 0; r < size; r++)
            for (int64_t s = 0; s <= r; s++)
                expected[r * size + s] += weight * e[r] * e[s];
    }
    OK(mg_design_gram(d, request, gram, &error));
    const double terms = 100 * total * (request->single ? 1e6 : 1);
    for (int64_t r = 0; r < size; r++)
        for (int64_t s = 0; s <= r; s++) {
            assert_sum(gram[r * size + s], expected[r * size + s], terms);
            assert_true(gram[r * size + s] == gram[s * size + r]);
        }
    free(gram);
    free(expected);
}

static void check_grams(const design_case *c, mg_design *d) {
    const int64_t n = d->samples, p = d->columns;
    uint64_t seed = 6;
    double *weights = some_numbers(n, &seed), *centre = some_numbers(p, &seed);
    double *factor = some_numbers(p, &seed);
    int64_t *chosen = space(n), count = 0, *columns = space(p), taken = 0;
    for (int64_t j = 0; j < p; j++)
        if (j % 3 != 1) columns[taken++] = j;
    for (int64_t i = 0; i < n; i++) {
        weights[i] = i % 6 == 5 ? 0 : fabs(weights[i]);
        if (i % 5 != 1) chosen[count++] = n - 1 - i;
    }
    for (int with = 0; with<64; with += d->samples> 500 ? 7 : 3) {
        const mg_weighted_gram request = {.chosen = with & 1 ? chosen : NULL,
                                          .count = count,
                                          .weights = with & 2 ? weights : NULL,
                                          .centre = with & 4 ? centre : NULL,
                                          .factor = with & 4 ? factor : NULL,
                                          .extra = with & 8 ? c->target : NULL,
                                          .extra_spread = 1.0,
                                          .single = (with & 16) != 0,
                                          .columns = with & 32 ? columns : NULL,
                                          .column_count = taken};
        check_gram(c, d, &request);
    }
    const mg_weighted_gram none = {.chosen = chosen, .count = 0};
    check_gram(c, d, &none);
    const mg_weighted_gram no_columns = {.columns = columns, .column_count = 0};
    check_gram(c, d, &no_columns);
    free(columns);
    free(weights);
    free(centre);
    free(factor);
    free(chosen);
}

static void test_grams(void **state) {
    SUPPORT_LARGE_CASE();
    (void)state;
    check_cases(check_grams);
}

/* So many columns that all threads work on one triangle. */
static void test_wide_grams(void **state) {
    const int64_t rows = 600, columns = 400;
    (void)state;
    for (int layout = 0; layout < LAYOUTS; layout += 3) {
        design_case *c = design_case_make(rows, columns, layout, ALL_PARTS, 5);
        double *first = NULL;
        for (int threads = 1; threads <= 3; threads++) {
            margin_context *context = support_context(NULL, threads);
            mg_design d;
            OK(mg_design_create(context, &c->problem, &d, &error));
            const mg_weighted_gram request = {
                .extra = c->target, .extra_spread = 1.0, .single = layout % 2 == 1};
            const int64_t size = mg_design_gram_size(&d, &request);
            double *gram = space(size * size);
            OK(mg_design_gram(&d, &request, gram, &error));
            for (int64_t k = 0; k < 500; k++) {
                const int64_t r = k * 7919 % size, s = k * 104729 % size;
                double sum = 0;
                for (int64_t i = 0; i < d.samples; i++) {
                    const double *a = c->a + i * columns;
                    const double left = r < columns ? a[r] : r == columns ? c->target[i] : 1;
                    const double right = s < columns ? a[s] : s == columns ? c->target[i] : 1;
                    sum += c->weight[i] * left * right;
                }
                assert_sum(gram[r * size + s], sum, request.single ? 1e10 : 1e4);
                assert_true(gram[r * size + s] == gram[s * size + r]);
            }
            if (first) assert_memory_equal(gram, first, (size_t)(size * size) * sizeof *gram);
            if (first) free(gram);
            if (!first) first = gram;
            mg_design_free(&d);
            margin_context_free(context);
        }
        free(first);
        design_case_free(c);
    }
}

/* Sparse rows, a twentieth full, by outer products: few columns, and many in ranges. */
typedef struct sparse_case {
    margin_matrix x;
    double *dense;
    double *values;
    int32_t *columns;
    int64_t *starts;
} sparse_case;

static sparse_case sparse_case_make(int64_t rows, int64_t columns) {
    sparse_case c = {.dense = calloc((size_t)(rows * columns), sizeof(double)),
                     .values = space(rows * columns),
                     .columns = space(rows * columns),
                     .starts = space(rows + 1)};
    uint64_t seed = 14;
    int64_t at = 0;
    for (int64_t i = 0; i < rows; i++) {
        c.starts[i] = at;
        for (int64_t j = 0; j < columns && i % 10 != 3; j++) {
            if (support_uniform(&seed) > 0.05) continue;
            c.columns[at] = (int32_t)j;
            c.dense[i * columns + j] = c.values[at++] = support_normal(&seed);
        }
    }
    c.starts[rows] = at;
    c.x = margin_csr_f64(c.values, c.columns, c.starts, rows, columns);
    return c;
}

static void sparse_case_free(sparse_case *c) {
    free(c->dense);
    free(c->values);
    free(c->columns);
    free(c->starts);
}

/* The Gram of the sparse rows is that of the same rows written out. */
static void check_sparse_gram(const sparse_case *c, int threads, int with, double **first) {
    margin_context *context = support_context(NULL, threads);
    const int64_t rows = c->x.rows, p = c->x.columns;
    uint64_t seed = 15;
    double *numbers = some_numbers(2 * rows + 4 * p, &seed), *weights = numbers + rows;
    double *scale = weights + rows, *shift = scale + p;
    int64_t *chosen = space(rows), *columns = space(p);
    for (int64_t j = 0; j < p; j++)
        columns[j] = j + (j >= p / 2);
    for (int64_t i = 0; i < rows; i++) {
        weights[i] = i % 9 == 4 ? 0 : fabs(weights[i]);
        chosen[i] = rows - 1 - i;
    }
    mg_problem problem = {.x = c->x, .count = rows};
    if (with & 1) {
        problem.scale = scale;
        problem.shift = shift;
    }
    const mg_weighted_gram request = {.chosen = with & 2 ? chosen : NULL,
                                      .count = rows - rows / 8,
                                      .weights = with & 2 ? weights : NULL,
                                      .centre = with & 4 ? shift + p : NULL,
                                      .factor = with & 4 ? shift + 2 * p : NULL,
                                      .extra = with & 2 ? numbers : NULL,
                                      .extra_spread = 1.0,
                                      .columns = with & 8 ? columns : NULL,
                                      .column_count = p - 1};
    mg_design d;
    OK(mg_design_create(context, &problem, &d, &error));
    if (with & 16) OK(mg_design_store_columns(&d, &error));
    const int64_t size = mg_design_gram_size(&d, &request);
    double *gram = space(size * size), *expected = space(size * size);
    OK(mg_design_gram(&d, &request, gram, &error));
    mg_design_free(&d);
    problem.x = margin_dense_f64(c->dense, rows, p, p);
    OK(mg_design_create(context, &problem, &d, &error));
    OK(mg_design_gram(&d, &request, expected, &error));
    mg_design_free(&d);
    for (int64_t k = 0; k < size * size; k++)
        assert_sum(gram[k], expected[k], 10 * (double)rows);
    if (*first) assert_memory_equal(gram, *first, (size_t)(size * size) * sizeof *gram);
    free(*first);
    *first = gram;
    free(expected);
    free(numbers);
    free(chosen);
    free(columns);
    margin_context_free(context);
}

static void test_sparse_grams(void **state) {
    SUPPORT_LARGE_CASE();
    static const int64_t shapes[][2] = {{1, 30}, {700, 60}, {5000, 12}, {900, 450}};
    (void)state;
    for (int s = 0; s < 4; s++) {
        sparse_case c = sparse_case_make(shapes[s][0], shapes[s][1]);
        for (int with = 0; with < 32; with += s == 3 ? 3 : 1) {
            double *first = NULL;
            if ((with & 16) && !(with & 8)) continue; /* a copy by columns is for some of them */
            for (int threads = 1; threads <= (shapes[s][1] > 400 && with % 3 ? 1 : 3); threads++)
                check_sparse_gram(&c, threads, with, &first);
            free(first);
        }
        sparse_case_free(&c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grams),
        cmocka_unit_test(test_wide_grams),
        cmocka_unit_test(test_sparse_grams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
