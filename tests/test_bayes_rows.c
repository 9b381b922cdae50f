/* Naive Bayes' vector sums of 0/1 numbers and counts, against plain loops and sparse rows. */
#include "model_cases.h"

#include "bayes/rows/bayes_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { T_ROWS = 7, T_WIDE = 21, T_CLASSES = 5 };
typedef struct tallied {
    double x[T_ROWS][T_WIDE], on[T_CLASSES][T_WIDE], weights[T_ROWS];
    float narrow[T_ROWS][T_WIDE];
    int32_t codes[T_ROWS];
} tallied;

static void fill_tallied(tallied *t, bool counts) {
    uint64_t seed = 11;
    for (int i = 0; i < T_ROWS; i++) {
        t->codes[i] = (int32_t)(support_random(&seed) % T_CLASSES);
        t->weights[i] = 0.1 + support_uniform(&seed);
        for (int j = 0; j < T_WIDE; j++) {
            t->x[i][j] = (double)((int)(support_random(&seed) % 5) - (counts ? 0 : 2));
            t->narrow[i][j] = (float)t->x[i][j];
        }
    }
    for (int k = 0; k < T_CLASSES; k++)
        for (int j = 0; j < T_WIDE; j++)
            t->on[k][j] = j == 3 ? -(double)INFINITY : -support_uniform(&seed);
}

/* Columns first ... first + n - 1; the sums of rows one after the other, to the bit. */
static void check_tallied(const tallied *t, mg_isa isa, bool single, bool counts, int n) {
    const mg_bayes_rows *kernel = mg_bayes_rows_for(isa, single);
    const void *rows[T_ROWS];
    double table[T_CLASSES][T_WIDE] = {{0}}, plain[T_CLASSES][T_WIDE] = {{0}};
    double out[T_ROWS][T_CLASSES] = {{0}};
    for (int i = 0; i < T_ROWS; i++)
        rows[i] = single ? (const void *)(t->narrow[i] + T_WIDE - n)
                         : (const void *)(t->x[i] + T_WIDE - n);
    assert_true(kernel->tally(rows, t->codes, t->weights, T_ROWS, n, T_WIDE, counts, table[0]));
    kernel->weigh(rows, T_ROWS, n, counts, t->on[0], T_WIDE, T_CLASSES, out[0]);
    for (int i = 0; i < T_ROWS; i++) {
        const double *x = t->x[i] + T_WIDE - n;
        for (int j = 0; j < n; j++)
            if (x[j] > 0) plain[t->codes[i]][j] += t->weights[i] * (counts ? x[j] : 1);
        for (int k = 0; k < T_CLASSES; k++) {
            double sum = 0;
            for (int j = 0; j < n; j++)
                if (x[j] > 0) sum += t->on[k][j] * (counts ? x[j] : 1);
            assert_true(sum == out[i][k] || fabs(sum - out[i][k]) < 1e-13 * (1 + fabs(sum)));
        }
    }
    assert_memory_equal(table, plain, sizeof table);
}

static void check_gaps(tallied *t, mg_isa isa, bool single, bool counts) {
    const mg_bayes_rows *kernel = mg_bayes_rows_for(isa, single);
    const double bad[] = {(double)NAN, (double)INFINITY, -(double)INFINITY, -1};
    double table[T_WIDE], out[T_CLASSES];
    const int32_t code = 0;
    for (int at = 0; at < T_WIDE; at++)
        for (int b = 0; b < 4; b++) {
            const double was = t->x[1][at];
            const void *row = single ? (const void *)t->narrow[1] : (const void *)t->x[1];
            const bool good = b == 3 && !counts;
            t->x[1][at] = bad[b], t->narrow[1][at] = (float)bad[b];
            memset(table, 0, sizeof table), memset(out, 0, sizeof out);
            assert_true(kernel->tally(&row, &code, NULL, 1, T_WIDE, T_WIDE, counts, table) == good);
            kernel->weigh(&row, 1, T_WIDE, counts, t->on[0], T_WIDE, T_CLASSES, out);
            for (int k = 0; k < T_CLASSES; k++)
                assert_true(!isnan(out[k]) == good);
            t->x[1][at] = was, t->narrow[1][at] = (float)was;
        }
}

static void test_tallies(void **state) {
    static tallied t;
    (void)state;
    for (int counts = 0; counts < 2; counts++) {
        fill_tallied(&t, counts);
        for (int isa = 0; isa <= (int)mg_isa_level(); isa++)
            for (int single = 0; single < 2; single++) {
                for (int n = 1; n <= T_WIDE; n++)
                    check_tallied(&t, (mg_isa)isa, single, counts, n);
                check_gaps(&t, (mg_isa)isa, single, counts);
            }
    }
}

/* Counts of dense rows, among them a block with a gap, are those of sparse rows. */
static void test_tallied_blocks(void **state) {
    enum { MANY = 9000, TWELVE = 12 };
    static double x[MANY * TWELVE], y[MANY];
    static const char spec[] =
        "naive-bayes(distribution=bernoulli, multinomial='x3,x4,x9', gaussian='x6')";
    static double values[MANY * TWELVE];
    static int32_t columns[MANY * TWELVE];
    static int64_t starts[MANY + 1];
    margin_context *context = support_context(NULL, 2);
    uint64_t seed = 5;
    int64_t stored = 0;
    (void)state;
    for (int64_t i = 0; i < MANY * TWELVE; i++)
        x[i] = (double)(support_random(&seed) % 3);
    x[4000 * TWELVE + 1] = x[8500 * TWELVE + 8] = (double)NAN;
    for (int64_t i = 0; i < MANY; i++) {
        y[i] = (double)(support_random(&seed) % 4);
        for (int32_t j = 0; j < TWELVE; j++) {
            if (x[i * TWELVE + j] == 0) continue;
            columns[stored] = j;
            values[stored++] = x[i * TWELVE + j];
        }
        starts[i + 1] = stored;
    }
    margin_data data = {.x = margin_dense_f64(x, MANY, TWELVE, TWELVE),
                        .y = margin_values_f64(y, MANY)};
    margin_model *dense = fit_text(context, spec, &data, NULL);
    data.x = margin_csr_f64(values, columns, starts, MANY, TWELVE);
    margin_model *sparse = fit_text(context, spec, &data, NULL);
    margin_tensor a = {.size = sizeof a}, b = {.size = sizeof b};
    assert_true(margin_model_tensor_find(dense, "hypothesis.statistics", &a));
    assert_true(margin_model_tensor_find(sparse, "hypothesis.statistics", &b));
    assert_true(a.shape[1] == 2 * 8 + 3 + 3 && b.shape[1] == a.shape[1]);
    for (int64_t at = 0; at < a.shape[0] * a.shape[1]; at++) {
        const bool moments = at % a.shape[1] >= 8 && at % a.shape[1] <= 10;
        assert_close(((const double *)a.values)[at], ((const double *)b.values)[at],
                     moments ? 1e-9 : 0);
    }
    margin_model_free(dense);
    margin_model_free(sparse);
    margin_context_free(context);
}

/* Rows of many stored values, more classes than are added up together. */
static void test_wide_sparse(void **state) {
    enum { MANY = 120, WIDTH = 700, CLASSES = 15 };
    const char *const specs[] = {"naive-bayes(distribution=bernoulli)",
                                 "naive-bayes(distribution=multinomial)",
                                 "naive-bayes(distribution=multinomial, bernoulli=\"2,699\")",
                                 "naive-bayes(distribution=bernoulli, smoothing=0)"};
    static double x[MANY * WIDTH], y[MANY], values[MANY * WIDTH];
    static int64_t starts[MANY + 1];
    static int32_t indices[MANY * WIDTH];
    margin_context *context = support_context(NULL, 2);
    int64_t stored = 0;
    uint64_t seed = 12;
    (void)state;
    for (int64_t i = 0; i < MANY; i++) {
        y[i] = (double)(i % CLASSES);
        for (int64_t j = 0; j < WIDTH; j++) {
            if (support_uniform(&seed) < 0.4) continue;
            x[i * WIDTH + j] = values[stored] = floor(4 * support_uniform(&seed)); /* 0, too */
            indices[stored++] = (int32_t)j;
        }
        starts[i + 1] = stored;
    }
    for (int n = 0; n < (int)(sizeof specs / sizeof *specs); n++) {
        margin_data dense = {.x = margin_dense_f64(x, MANY, WIDTH, WIDTH),
                             .y = margin_values_f64(y, MANY)};
        margin_data sparse = dense;
        margin_report reports[2] = {0}, found = {0};
        sparse.x = margin_csr_f64(values, indices, starts, MANY, WIDTH);
        margin_model *a = fit_text(context, specs[n], &dense, &reports[0]);
        margin_model *b = fit_text(context, specs[n], &sparse, &reports[1]);
        double *left = scores_of(a, &dense.x), *right = scores_of(b, &sparse.x);
        for (int64_t k = 0; k < MANY * CLASSES; k++)
            if (!isinf(left[k]) || !isinf(right[k])) assert_close(left[k], right[k], 1e-11);
        assert_close(reports[0].objective, reports[1].objective, 1e-12);
        assert_int_equal(margin_verify(context, b, &sparse, &found, NULL), MARGIN_OK);
        free(left);
        free(right);
        margin_model_free(a);
        margin_model_free(b);
    }
    margin_context_free(context);
}

/* Of many columns a block has more rows than of few. */
static void test_sparse_blocks(void **state) {
    enum { MANY = 9000, WIDTH = 2000, STORED = 5, CLASSES = 11 };
    static double y[MANY], values[MANY * STORED], weights[MANY];
    static int64_t starts[MANY + 1];
    static int32_t indices[MANY * STORED];
    uint64_t seed = 12;
    margin_model *models[2];
    (void)state;
    for (int64_t i = 0; i < MANY; i++) {
        y[i] = (double)(i % CLASSES);
        weights[i] = 0.1;
        starts[i + 1] = (i + 1) * STORED;
        for (int64_t e = 0; e < STORED; e++) {
            values[i * STORED + e] = 1 + support_uniform(&seed);
            indices[i * STORED + e] = (int32_t)(e * (WIDTH / STORED) + (i * (e + 3)) % 400);
        }
    }
    const margin_data data = {.x = margin_csr_f64(values, indices, starts, MANY, WIDTH),
                              .y = margin_values_f64(y, MANY),
                              .weights = margin_values_f64(weights, MANY)};
    for (int t = 0; t < 2; t++) {
        margin_report found = {0};
        margin_context *context = support_context(NULL, t == 0 ? 1 : 3);
        models[t] = fit_text(context, "naive-bayes(distribution=bernoulli)", &data, NULL);
        assert_int_equal(margin_verify(context, models[t], &data, &found, NULL), MARGIN_OK);
        if (t == 1) assert_same_model(models[0], models[1]);
        margin_context_free(context);
    }
    margin_model_free(models[0]);
    margin_model_free(models[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tallies),
        cmocka_unit_test(test_tallied_blocks),
        cmocka_unit_test(test_wide_sparse),
        cmocka_unit_test(test_sparse_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
