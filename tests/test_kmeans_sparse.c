/* k-means on sparse rows against the same rows made dense: one start, one iteration, one end. */
#include "model_cases.h"
#include "stage_support.h"

#include "cluster/centres/centre_sparse.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static margin_error error;

typedef enum { NORMAL, ONES, FAR, ALIKE } kind; /* numbers */

typedef struct {
    const char *name, *spec;
    int64_t rows, columns;
    double share; /* of the numbers that are not 0 */
    kind kind;
    bool weighted, single;
} sparse_case;

static const sparse_case cases[] = {
    {"few columns", "kmeans(k=5, restarts=3)", 400, 12, 0.3, NORMAL, false, false},
    {"wide", "kmeans(k=8)", 500, 3000, 0.01, NORMAL, false, false},
    {"wide, weighted", "kmeans(k=21)", 500, 900, 0.02, NORMAL, true, false},
    {"indicators", "kmeans(k=11)", 2500, 120, 0.04, ONES, false, false},
    {"single precision", "kmeans(k=20)", 900, 150, 0.05, NORMAL, false, true},
    {"rows far from 0", "kmeans(k=9)", 600, 200, 0.04, FAR, false, false},
    {"rows that occur often", "kmeans(k=7)", 900, 400, 0.02, ALIKE, true, false},
    {"rows drawn", "kmeans(k=10, start=sample)", 700, 300, 0.03, NORMAL, false, false},
    {"rows drawn, alike", "kmeans(k=10, start=sample)", 900, 400, 0.02, ALIKE, false, false},
    {"tolerance", "kmeans(k=12, tol=1e-3)", 3000, 100, 0.05, NORMAL, false, false},
    {"stopped", "kmeans(k=12, max_iter=3)", 3000, 100, 0.05, NORMAL, true, false},
    {"fewer", "kmeans(k=40, too_few=fewer)", 500, 400, 0.02, ALIKE, false, false},
    {"one", "kmeans(k=1)", 300, 70, 0.05, NORMAL, false, false},
};

typedef struct {
    double *x, *weights;
    float *floats;
    stage_csr csr;
    margin_data dense, sparse;
} tables;

static tables tables_make(const sparse_case *c) {
    const int64_t count = c->rows * c->columns;
    uint64_t seed = 7;
    tables t = {.x = calloc((size_t)count, sizeof(double)),
                .weights = calloc((size_t)c->rows, sizeof(double))};
    for (int64_t i = 0; i < c->rows; i++) {
        double *row = t.x + i * c->columns;
        t.weights[i] = 0.1 + (double)(i % 4);
        if (c->kind == ALIKE && i >= 30)
            memcpy(row, t.x + i * 7 % 30 * c->columns, (size_t)c->columns * sizeof *row);
        else
            for (int64_t j = 0; j < c->columns; j++) {
                if (c->kind == FAR) row[0] = 1e6 + support_normal(&seed);
                if ((double)(support_random(&seed) % 100000) >= 1e5 * c->share) continue;
                row[j] = c->kind == ONES ? 1 : (double)(float)support_normal(&seed);
            }
    }
    t.csr = stage_to_csr(t.x, c->rows, c->columns);
    t.dense.x = margin_dense_f64(t.x, c->rows, c->columns, c->columns);
    t.sparse.x = t.csr.view;
    if (c->single) {
        t.floats = stage_to_floats(t.x, count);
        t.csr.floats = stage_to_floats(t.csr.values, t.csr.starts[c->rows]);
        t.dense.x = margin_dense_f32(t.floats, c->rows, c->columns, c->columns);
        t.sparse.x = margin_csr_f32(t.csr.floats, t.csr.indices, t.csr.starts, c->rows, c->columns);
    }
    if (c->weighted) t.dense.weights = t.sparse.weights = margin_values_f64(t.weights, c->rows);
    return t;
}

static void tables_free(tables *t) {
    stage_csr_free(&t->csr);
    free(t->floats);
    free(t->weights);
    free(t->x);
}

/* Labels of the training rows by the model. */
static int64_t *labels_of(const margin_model *model, const margin_matrix *x) {
    int64_t *labels = calloc((size_t)x->rows, sizeof *labels);
    assert_int_equal(margin_predict(model, x, labels, &error), MARGIN_OK);
    return labels;
}

static void compare_models(const sparse_case *c, const tables *t, const margin_model *dense,
                           const margin_model *sparse) {
    int64_t *one = labels_of(dense, &t->dense.x), *other = labels_of(sparse, &t->sparse.x);
    int64_t *crossed = labels_of(sparse, &t->dense.x);
    if (memcmp(one, other, (size_t)c->rows * sizeof *one) != 0 ||
        memcmp(one, crossed, (size_t)c->rows * sizeof *one) != 0)
        fail_msg("%s: labels differ", c->name);
    assert_true(margin_model_centre(sparse, 0) != NULL);
    for (int64_t m = 0; margin_model_centre(dense, m); m++) {
        assert_close(margin_model_cluster_size(dense, m), margin_model_cluster_size(sparse, m),
                     1e-12);
        for (int64_t j = 0; j < c->columns; j++)
            assert_true(
                fabs(margin_model_centre(dense, m)[j] - margin_model_centre(sparse, m)[j]) <=
                1e-9 * (c->kind == FAR ? 1e3 : 1));
    }
    free(crossed);
    free(other);
    free(one);
}

static void test_as_dense(void **state) {
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        const sparse_case *c = &cases[n];
        tables t = tables_make(c);
        margin_report one = {0}, other = {0}, found = {0};
        margin_model *dense = fit_text(*state, c->spec, &t.dense, &one);
        margin_model *sparse = fit_text(*state, c->spec, &t.sparse, &other);
        if (one.iterations != other.iterations || one.status != other.status)
            fail_msg("%s: %d iterations, dense %d", c->name, (int)other.iterations,
                     (int)one.iterations);
        assert_close(one.objective, other.objective, 1e-11);
        assert_int_equal(one.item_count, other.item_count);
        for (int i = 0; i < one.item_count; i++)
            if (!(isnan(one.items[i].value) && isnan(other.items[i].value)) &&
                !(fabs(one.items[i].value - other.items[i].value) <=
                  1e-9 * (1 + fabs(one.items[i].value))))
                fail_msg("%s: %s %.17g, dense %.17g", c->name, one.items[i].name,
                         other.items[i].value, one.items[i].value);
        compare_models(c, &t, dense, sparse);
        const margin_status status = margin_verify(*state, sparse, &t.sparse, &found, &error);
        if (status != MARGIN_OK) fail_msg("%s: %s", c->name, found.reason);
        margin_model_free(sparse);
        margin_model_free(dense);
        tables_free(&t);
    }
}

static void test_threads(void **state) {
    const sparse_case c = {"threads", "kmeans(k=30, restarts=2)", 7000, 200, 0.04, NORMAL, true,
                           false};
    tables t = tables_make(&c);
    margin_model *first = NULL;
    (void)state;
    for (int threads = 1; threads <= 4; threads++) {
        margin_context *context = support_context(NULL, threads);
        margin_model *model = fit_text(context, c.spec, &t.sparse, NULL);
        if (first) assert_same_model(first, model);
        if (first) margin_model_free(model);
        first = first ? first : model;
        margin_context_free(context);
    }
    margin_model_free(first);
    tables_free(&t);
}

/* Two of the centres are far from every row. */
static void test_empty_clusters(void **state) {
    const double x[12] = {0, 0.5, 1, 1.5, 10, 10.5, 11, 11.5, 50, 50.5, 51, 90};
    stage_csr csr = stage_to_csr(x, 12, 1);
    margin_data data = {.x = csr.view};
    margin_report report = {0}, found = {0};
    margin_model *model =
        fit_text(*state, "kmeans(k=4, centres=\"5 1000 2000 6\")", &data, &report);
    assert_int_equal(report.status, MARGIN_OK);
    assert_true(margin_report_item_value(&report, "relocated") >= 2);
    assert_close(report.objective, 2 * 1.25 + 0.5, 1e-12);
    assert_int_equal(margin_verify(*state, model, &data, &found, &error), MARGIN_OK);
    margin_model_free(model);
    fit_refused(*state, "kmeans(k=13)", &data, MARGIN_ERROR_DATA, "");
    const double huge[3] = {1e200, -1e200, 1e190};
    stage_csr_free(&csr);
    csr = stage_to_csr(huge, 3, 1);
    data.x = csr.view;
    fit_refused(*state, "kmeans(k=2)", &data, MARGIN_ERROR_DATA, "leave the range of numbers");
    stage_csr_free(&csr);
}

/* Rows and centres that all but meet, and zeros that are stored. */
static void test_distances(void **state) {
    enum { N = 700, K = 8 };
    double *centres = calloc(K * N, sizeof *centres), *row = calloc(N, sizeof *row);
    double *values = calloc(K * N, sizeof *values);
    const int64_t squares = mg_tiles_square_numbers(1, N);
    double *blocks = calloc((size_t)squares, sizeof *blocks), out[MG_TILE];
    uint64_t seed = 3;
    (void)state;
    for (int j = 0; j < N; j += 9) {
        row[j] = 100 * support_normal(&seed);
        for (int c = 0; c < K; c++)
            centres[c * N + j] = row[j] + (c > 0 ? pow(10, 1 - 2 * c) * support_normal(&seed) : 0);
    }
    centres[3 * N + 5] = 1e-9;
    stage_csr csr = stage_to_csr(row, 1, N);
    csr.values[1] = 0;
    row[9] = 0;
    centres[9] = 0; /* the first is the row itself */
    mg_tiles tiles = {.values = values,
                      .blocks = blocks,
                      .squares = blocks + squares - MG_TILE,
                      .n = N,
                      .block = mg_tiles_block(N),
                      .distances = mg_tile_distances_for(mg_isa_level())};
    mg_tile_pack(centres, NULL, K, N, values);
    mg_tiles_square(&tiles, 0);
    const mg_row_lanes *lanes = mg_row_lanes_for(&csr.view, mg_isa_level());
    const mg_sparse_point point = mg_sparse_point_of(&csr.view, lanes, 0);
    mg_sparse_distances(&point, &tiles, 0, out);
    for (int c = 0; c < K; c++) {
        long double sum = 0;
        for (int j = 0; j < N; j++) {
            const long double d = (long double)row[j] - (long double)centres[c * N + j];
            sum += d * d;
        }
        assert_true(fabs(out[c] - (double)sum) <= 1e-13 * (double)sum);
    }
    assert_true(out[0] == 0);
    stage_csr_free(&csr);
    free(blocks);
    free(values);
    free(row);
    free(centres);
}

static void test_allocations(void **state) {
    const sparse_case c = {"allocations", "", 60, 30, 0.2, NORMAL, false, false};
    tables t = tables_make(&c);
    fit_attempt attempt = {"kmeans(k=3, too_few=fewer)", t.sparse};
    (void)state;
    assert_true(support_fail_each_allocation(1, attempt_fit, &attempt) > 20);
    tables_free(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_dense),       cmocka_unit_test(test_threads),
        cmocka_unit_test(test_empty_clusters), cmocka_unit_test(test_distances),
        cmocka_unit_test(test_allocations),
    };
    return cmocka_run_group_tests(tests, support_open_context, support_close_context);
}
