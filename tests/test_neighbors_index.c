/* Public indexes of neighbours: answers in every layout, radius, files in place, hostile files,
 * refusals, the textbook's tree. */
#include "hostile_tensors.h"
#include "model_cases.h"

#include "model/predict/model_neighbors.h"
#include "model/store/store.h"
#include "neighbors/learner/index.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static margin_neighbors *build(margin_context *context, const margin_matrix *x, double p,
                               margin_neighbors_method method) {
    const margin_neighbors_options options = {.size = sizeof options, .p = p, .method = method};
    margin_neighbors *index = NULL;
    margin_error error = {0};
    if (margin_neighbors_build(context, x, &options, &index, &error) < 0)
        fail_msg("%s", error.text);
    return index;
}

/* ---- Values of another program --------------------------------------------------------------- */

/* scipy.spatial.cKDTree of SciPy 1.17.1 over the four columns of iris, p = 1, 2, 3, inf. */
static void test_known_distances(void **state) {
    static const double q[4] = {6.013, 2.917, 4.811, 1.659};
    static const struct {
        double p, distances[4];
        int64_t rows[4];
    } cases[] = {{1,
                  {0.2480000000000002, 0.4000000000000004, 0.4560000000000004, 0.4739999999999995},
                  {138, 127, 126, 63}},
                 {2,
                  {0.1644992401198256, 0.2055723716845239, 0.2620305325720652, 0.2953980365540705},
                  {138, 127, 126, 63}},
                 {3,
                  {0.1500523669011089, 0.1679627657467789, 0.2220292145628757, 0.2687229404159842},
                  {138, 127, 126, 63}},
                 {(double)INFINITY,
                  {0.141, 0.141, 0.1870000000000003, 0.2590000000000001},
                  {127, 138, 126, 63}}};
    margin_context *context = support_context(NULL, 2);
    margin_table *table = NULL;
    margin_error error = {0};
    char path[SUPPORT_PATH];
    (void)state;
    if (margin_table_read(context, support_source(path, "examples/data/iris.csv"), NULL, &table,
                          &error) < 0)
        fail_msg("%s", error.text);
    const margin_matrix x = margin_table_data(table).x;
    for (int n = 0; n < 4; n++)
        for (int method = 1; method < 3; method++) {
            margin_neighbors *index =
                build(context, &x, cases[n].p, (margin_neighbors_method)method);
            int64_t rows[4];
            double distances[4];
            assert_int_equal(margin_neighbors_one(index, q, 4, rows, distances, &error), MARGIN_OK);
            for (int k = 0; k < 4; k++) {
                assert_int_equal(rows[k], cases[n].rows[k]);
                assert_close(distances[k], cases[n].distances[k], 1e-14);
            }
            margin_neighbors_free(index);
        }
    margin_table_free(table);
    margin_context_free(context);
}

/* ---- The same from every call ---------------------------------------------------------------- */

static void assert_same_answers(margin_context *context, const margin_neighbors *index,
                                const margin_matrix *queries, int64_t k, const int64_t *rows,
                                const double *distances) {
    int64_t *found = malloc((size_t)(queries->rows * k) * sizeof *found);
    double *far = malloc((size_t)(queries->rows * k) * sizeof *far);
    margin_error error = {0};
    if (margin_neighbors_nearest(context, index, queries, k, found, far, &error) < 0)
        fail_msg("%s", error.text);
    assert_memory_equal(found, rows, (size_t)(queries->rows * k) * sizeof *found);
    assert_memory_equal(far, distances, (size_t)(queries->rows * k) * sizeof *far);
    free(found);
    free(far);
}

static void test_layouts_and_threads(void **state) {
    enum { K = 9 };
    margin_context *contexts[4];
    sample *s = sample_make(600, 5, 2, 0, 4);
    const margin_matrix x = sample_view(s, DENSE_F64);
    int64_t *rows = malloc(600 * K * sizeof *rows), one[K];
    double *distances = malloc(600 * K * sizeof *distances), far[K];
    (void)state;
    for (int t = 0; t < 4; t++)
        contexts[t] = support_context(NULL, t + 1);
    margin_neighbors *first = build(contexts[0], &x, 2, MARGIN_NEIGHBORS_BRUTE);
    for (int i = 0; i < 600; i++)
        assert_int_equal(
            margin_neighbors_one(first, s->f64 + 5 * i, K, rows + K * i, distances + K * i, NULL),
            MARGIN_OK);
    for (int layout = DENSE_F64; layout <= STRIDED_F32; layout++)
        for (int method = 1; method < 3; method++) {
            const margin_matrix view = sample_view(s, layout);
            margin_neighbors *index =
                build(contexts[layout % 4], &view, 2, (margin_neighbors_method)method);
            for (int other = 0; other < LAYOUTS; other++) {
                const margin_matrix queries = sample_view(s, other);
                assert_same_answers(contexts[other % 4], index, &queries, K, rows, distances);
            }
            assert_int_equal(margin_neighbors_one(index, s->f64, K, one, far, NULL), MARGIN_OK);
            assert_memory_equal(one, rows, sizeof one);
            assert_int_equal(margin_neighbors_one(index, s->f64, K, NULL, NULL, NULL), MARGIN_OK);
            margin_neighbors_free(index);
        }
    margin_neighbors_free(first);
    for (int t = 0; t < 4; t++)
        margin_context_free(contexts[t]);
    sample_free(s);
    free(rows);
    free(distances);
}

/* All rows, k at most and a list that is longer than what fits on the stack. */
static void test_all_rows(void **state) {
    enum { ROWS = 2500 };
    margin_context *context = support_context(NULL, 2);
    sample *s = sample_make(ROWS, 3, 2, 0, 4);
    const margin_matrix x = sample_view(s, DENSE_F64);
    int64_t *rows = malloc(ROWS * sizeof *rows), *again = malloc(ROWS * sizeof *again);
    double *distances = malloc(ROWS * sizeof *distances);
    (void)state;
    for (int method = 1; method < 3; method++) {
        margin_neighbors *index = build(context, &x, 1, (margin_neighbors_method)method);
        const margin_matrix q = margin_dense_f64(s->f64, 1, 3, 3);
        margin_neighbors_lists lists = {0};
        assert_int_equal(margin_neighbors_one(index, s->f64, ROWS, rows, distances, NULL),
                         MARGIN_OK);
        assert_int_equal(margin_neighbors_nearest(context, index, &q, ROWS, again, NULL, NULL),
                         MARGIN_OK);
        assert_memory_equal(rows, again, ROWS * sizeof *rows);
        assert_int_equal(
            margin_neighbors_within(context, index, &q, (double)INFINITY, &lists, NULL), MARGIN_OK);
        assert_int_equal(lists.starts[1], ROWS);
        assert_memory_equal(rows, lists.rows, ROWS * sizeof *rows);
        margin_neighbors_lists_free(&lists);
        for (int i = 1; i < ROWS; i++)
            assert_true(distances[i - 1] < distances[i] ||
                        (distances[i - 1] == distances[i] && rows[i - 1] < rows[i]));
        margin_neighbors_free(index);
    }
    margin_context_free(context);
    sample_free(s);
    free(rows);
    free(again);
    free(distances);
}

static void test_within(void **state) {
    margin_context *context = support_context(NULL, 3);
    sample *s = sample_make(500, 3, 2, 0, 4);
    const margin_matrix x = sample_view(s, DENSE_F64);
    margin_neighbors_lists lists[2] = {0};
    (void)state;
    margin_neighbors *tree = build(context, &x, 2, MARGIN_NEIGHBORS_TREE);
    margin_neighbors *brute = build(context, &x, 2, MARGIN_NEIGHBORS_BRUTE);
    for (double radius = 0; radius < 2; radius += 0.25) {
        assert_int_equal(margin_neighbors_within(context, tree, &x, radius, &lists[0], NULL),
                         MARGIN_OK);
        assert_int_equal(margin_neighbors_within(context, brute, &x, radius, &lists[1], NULL),
                         MARGIN_OK);
        assert_int_equal(lists[0].queries, 500);
        const size_t total = (size_t)lists[0].starts[500];
        assert_memory_equal(lists[0].starts, lists[1].starts, 501 * sizeof(int64_t));
        assert_memory_equal(lists[0].rows, lists[1].rows, total * sizeof(int64_t));
        assert_memory_equal(lists[0].distances, lists[1].distances, total * sizeof(double));
        for (int i = 0; i < 500; i += 7) {
            int64_t count = 0;
            for (int j = 0; j < 500; j++) {
                double sum = 0;
                for (int c = 0; c < 3; c++)
                    sum += (s->f64[3 * i + c] - s->f64[3 * j + c]) *
                           (s->f64[3 * i + c] - s->f64[3 * j + c]);
                count += sum <= radius * radius; /* multiples of 1/8: exact */
            }
            assert_int_equal(lists[0].starts[i + 1] - lists[0].starts[i], count);
        }
        margin_neighbors_lists_free(&lists[0]);
        margin_neighbors_lists_free(&lists[0]);
        margin_neighbors_lists_free(&lists[1]);
    }
    margin_neighbors_free(tree);
    margin_neighbors_free(brute);
    margin_neighbors_free(NULL);
    margin_context_free(context);
    sample_free(s);
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static void test_refused(void **state) {
    margin_context *context = support_context(NULL, 2);
    sample *s = sample_make(70, 5, 2, 0, 4);
    margin_matrix x = sample_view(s, DENSE_F64), sparse = sample_view(s, CSR_F64_I32_I64);
    margin_neighbors *index = NULL;
    margin_neighbors_options options = {.size = sizeof options};
    margin_error error = {0};
    int64_t rows[70];
    (void)state;
#define REFUSED(call, expected, part)                                                              \
    do {                                                                                           \
        assert_int_equal((call), (expected));                                                      \
        assert_contains(error.text, part);                                                         \
    } while (0)
    REFUSED(margin_neighbors_build(context, &sparse, NULL, &index, &error), MARGIN_ERROR_ARGUMENT,
            "write the zeros out; queries may be sparse");
    REFUSED(margin_neighbors_build(context, NULL, NULL, &index, &error), MARGIN_ERROR_ARGUMENT,
            "matrix is NULL");
    options.p = 0.99;
    REFUSED(margin_neighbors_build(context, &x, &options, &index, &error), MARGIN_ERROR_ARGUMENT,
            "p is 0.99");
    options.p = (double)NAN;
    REFUSED(margin_neighbors_build(context, &x, &options, &index, &error), MARGIN_ERROR_ARGUMENT,
            "p is nan");
    options = (margin_neighbors_options){.size = sizeof options, .k = -1};
    REFUSED(margin_neighbors_build(context, &x, &options, &index, &error), MARGIN_ERROR_ARGUMENT,
            "k is -1");
    options =
        (margin_neighbors_options){.size = sizeof options, .method = (margin_neighbors_method)3};
    REFUSED(margin_neighbors_build(context, &x, &options, &index, &error), MARGIN_ERROR_ARGUMENT,
            "no method");
    x.rows = 0;
    REFUSED(margin_neighbors_build(context, &x, NULL, &index, &error), MARGIN_ERROR_ARGUMENT,
            "0 x 5");
    x.rows = 70;
    s->f64[5 * 41 + 2] = (double)NAN;
    REFUSED(margin_neighbors_build(context, &x, NULL, &index, &error), MARGIN_ERROR_DATA, "row 42");
    s->f64[5 * 41 + 2] = 1e301;
    REFUSED(margin_neighbors_build(context, &x, NULL, &index, &error), MARGIN_ERROR_DATA, "row 42");
    s->f64[5 * 41 + 2] = 1;
    assert_null(index);
    index = build(context, &x, 2, MARGIN_NEIGHBORS_AUTO);
    REFUSED(margin_neighbors_nearest(context, index, &x, 0, rows, NULL, &error),
            MARGIN_ERROR_ARGUMENT, "0 neighbours");
    REFUSED(margin_neighbors_nearest(context, index, &x, 71, rows, NULL, &error),
            MARGIN_ERROR_ARGUMENT, "from 1 to 70");
    REFUSED(margin_neighbors_nearest(context, index, &x, INT64_MAX, rows, NULL, &error),
            MARGIN_ERROR_ARGUMENT, "9223372036854775807");
    x.columns = 4;
    REFUSED(margin_neighbors_nearest(context, index, &x, 1, rows, NULL, &error),
            MARGIN_ERROR_ARGUMENT, "4 columns");
    x.columns = 5;
    s->f64[5 * 12] = (double)INFINITY;
    s->f64[5 * 60] = (double)NAN;
    memset(rows, 7, sizeof rows);
    REFUSED(margin_neighbors_nearest(context, index, &x, 1, rows, NULL, &error), MARGIN_ERROR_DATA,
            "query 13 has the value inf in column 1");
    assert_int_equal(error.row, 13);
    assert_int_equal(rows[0], 0x0707070707070707);
    REFUSED(margin_neighbors_one(index, s->f64 + 5 * 60, 1, rows, NULL, &error), MARGIN_ERROR_DATA,
            "nan");
    margin_neighbors_lists lists = {0};
    REFUSED(margin_neighbors_within(context, index, &x, -1, &lists, &error), MARGIN_ERROR_ARGUMENT,
            "radius is -1");
    REFUSED(margin_neighbors_within(context, index, &x, (double)NAN, &lists, &error),
            MARGIN_ERROR_ARGUMENT, "radius is nan");
    margin_neighbors_free(index);
    margin_context_free(context);
    sample_free(s);
}

/* ---- Files ----------------------------------------------------------------------------------- */

static void test_files(void **state) {
    char dir[SUPPORT_PATH], path[SUPPORT_PATH];
    margin_context *context = support_context(NULL, 2), *other = support_context(NULL, 1);
    sample *s = sample_make(3000, 3, 2, 0, 4);
    const margin_matrix x = sample_view(s, DENSE_F64);
    int64_t rows[4], again[4];
    double distances[4], far[4];
    margin_error error = {0};
    (void)state;
    support_temp_dir(dir);
    snprintf(path, sizeof path, "%.*s/index.margin", SUPPORT_PATH - 20, dir);
    for (int method = 1; method < 3; method++) {
        margin_neighbors *index = build(context, &x, 1, (margin_neighbors_method)method);
        margin_neighbors *loaded = NULL, *mapped = NULL;
        margin_neighbors_info info = {0};
        if (margin_neighbors_save(index, path, &error) < 0 ||
            margin_neighbors_load(context, path, &loaded, &error) < 0 ||
            margin_neighbors_map(other, path, &mapped, &error) < 0)
            fail_msg("%s", error.text);
        const mg_hypothesis *h = mapped->model->hypothesis;
        const mg_tensor *points = mg_bag_find(&h->bag, "points");
        assert_true(points->borrowed && !mg_bag_find(&h->bag, "settings")->borrowed);
        assert_false(mg_bag_find(&loaded->model->hypothesis->bag, "points")->borrowed);
        margin_neighbors_describe(mapped, &info);
        assert_int_equal(info.rows, 3000);
        assert_int_equal(info.columns, 3);
        assert_int_equal(info.method, method);
        assert_true(info.p == 1);
        assert_contains(info.reason, "saved");
        assert_same_model(index->model, mapped->model);
        for (int i = 0; i < 3000; i += 100) {
            assert_int_equal(margin_neighbors_one(index, s->f64 + 3 * i, 4, rows, distances, NULL),
                             MARGIN_OK);
            assert_int_equal(margin_neighbors_one(mapped, s->f64 + 3 * i, 4, again, far, NULL),
                             MARGIN_OK);
            assert_memory_equal(rows, again, sizeof rows);
            assert_memory_equal(distances, far, sizeof far);
            assert_int_equal(margin_neighbors_one(loaded, s->f64 + 3 * i, 4, again, far, NULL),
                             MARGIN_OK);
            assert_memory_equal(rows, again, sizeof rows);
        }
        /* as a model it has no answers */
        const margin_matrix q = margin_dense_f64(s->f64, 30, 3, 3);
        double values[30];
        assert_int_equal(margin_predict_values(mapped->model, &q, values, &error), MARGIN_OK);
        assert_true(isnan(values[0]));
        assert_int_equal(margin_predict_parallel(context, mapped->model, &q, MARGIN_OUTPUT_VALUES,
                                                 values, &error),
                         MARGIN_OK);
        assert_true(isnan(values[29]));
        /* and is not taken for one */
        margin_model *never = NULL;
        void *bytes = NULL;
        int64_t length = 0;
        assert_int_equal(margin_model_load(context, path, &never, &error), MARGIN_ERROR_MODEL);
        assert_contains(error.text, "index.margin holds an index of neighbours without targets");
        assert_int_equal(margin_model_map(context, path, &never, &error), MARGIN_ERROR_MODEL);
        assert_contains(error.text, "without targets");
        assert_int_equal(margin_model_encode(mapped->model, &bytes, &length, &error), MARGIN_OK);
        assert_int_equal(margin_model_decode(context, bytes, length, &never, &error),
                         MARGIN_ERROR_MODEL);
        assert_null(never);
        margin_bytes_free(mapped->model, bytes);
        margin_neighbors_free(index);
        margin_neighbors_free(loaded);
        margin_neighbors_free(mapped);
    }
    /* another kind of model is none; a knn model is one, of the rows that its stages made */
    margin_data data = sample_data(s, DENSE_F64);
    margin_neighbors *index = NULL;
    margin_model *model = fit_text(context, "perceptron(passes=2)", &data, NULL);
    assert_int_equal(margin_model_save(model, path, &error), MARGIN_OK);
    assert_int_equal(margin_neighbors_load(context, path, &index, &error), MARGIN_ERROR_MODEL);
    assert_contains(error.text, "holds no neighbours");
    margin_model_free(model);
    model = fit_text(context, "knn", &data, NULL);
    assert_int_equal(margin_model_save(model, path, &error), MARGIN_OK);
    margin_model *copy = NULL;
    assert_int_equal(margin_model_map(other, path, &copy, &error), MARGIN_OK);
    assert_same_model(model, copy);
    margin_context_free(other);
    double *a = scores_of(model, &data.x), *b = scores_of(copy, &data.x);
    assert_memory_equal(a, b, (size_t)(3000 * margin_model_score_count(model)) * sizeof *a);
    free(a);
    free(b);
    margin_model_free(copy);
    margin_model_free(model);
    assert_int_equal(margin_neighbors_load(context, path, &index, &error), MARGIN_OK);
    margin_neighbors_free(index);
    support_temp_remove(dir);
    margin_context_free(context);
    sample_free(s);
}

/* Queries pass the stages as the rows did: those of an index of what the stages made. */
static void assert_staged(margin_context *context, const margin_model *model,
                          const margin_data *data) {
    enum { K = 4 };
    const int64_t n = data->x.rows, columns = 3;
    margin_neighbors *borrowed = NULL;
    margin_neighbors_info info = {.size = sizeof info};
    margin_error error = {0};
    double *features = calloc((size_t)(n * columns), sizeof *features), query[3] = {0};
    int64_t *rows = calloc((size_t)(n * K), sizeof *rows);
    double *distances = calloc((size_t)(n * K), sizeof *distances);
    assert_int_equal(margin_model_transform(context, model, &data->x, features, &error), MARGIN_OK);
    const margin_matrix made = margin_dense_f64(features, n, columns, columns);
    margin_neighbors *built = build(context, &made, 2, MARGIN_NEIGHBORS_AUTO);
    assert_int_equal(margin_neighbors_nearest(context, built, &made, K, rows, distances, &error),
                     MARGIN_OK);
    assert_int_equal(margin_neighbors_of(model, &borrowed, &error), MARGIN_OK);
    margin_neighbors_describe(borrowed, &info);
    assert_int_equal(info.columns, columns);
    int64_t *found = calloc((size_t)(n * K), sizeof *found);
    double *apart = calloc((size_t)(n * K), sizeof *apart);
    assert_int_equal(margin_neighbors_nearest(context, borrowed, &data->x, K, found, apart, &error),
                     MARGIN_OK);
    assert_memory_equal(found, rows, (size_t)(n * K) * sizeof *rows);
    assert_memory_equal(apart, distances, (size_t)(n * K) * sizeof *apart);
    margin_matrix narrow = data->x;
    narrow.columns = 2;
    assert_int_equal(margin_neighbors_nearest(context, borrowed, &narrow, K, found, apart, &error),
                     MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_neighbors_one(borrowed, query, 1, found, apart, &error),
                     MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "takes queries through them");
    margin_neighbors_free(borrowed);
    margin_neighbors_free(built);
    free(features);
    free(rows);
    free(distances);
    free(found);
    free(apart);
}

/* The rows of a model: those of an index of the same rows, under their numbers in the data. */
static void test_of_a_model(void **state) {
    enum { K = 6 };
    margin_context *context = support_context(NULL, 2);
    sample *s = sample_make(500, 3, 2, 0, 8);
    margin_data data = sample_data(s, DENSE_F64);
    margin_neighbors *borrowed = NULL;
    margin_error error = {0};
    (void)state;
    for (int method = 1; method < 3; method++) {
        margin_model *model =
            fit_text(context, method == 1 ? "knn(method=tree)" : "knn(method=brute)", &data, NULL);
        margin_neighbors *built = build(context, &data.x, 2, (margin_neighbors_method)method);
        assert_int_equal(margin_neighbors_of(model, &borrowed, &error), MARGIN_OK);
        int64_t *rows = calloc(500 * K, sizeof *rows);
        double *distances = calloc(500 * K, sizeof *distances);
        assert_int_equal(
            margin_neighbors_nearest(context, built, &data.x, K, rows, distances, &error),
            MARGIN_OK);
        assert_same_answers(context, borrowed, &data.x, K, rows, distances);
        free(rows);
        free(distances);
        margin_neighbors_free(built);
        margin_neighbors_free(borrowed);
        margin_model_free(model);
    }
    double weights[500];
    for (int i = 0; i < 500; i++)
        weights[i] = i >= 100;
    data.weights = margin_values_f64(weights, 500);
    margin_model *model = fit_text(context, "knn", &data, NULL);
    margin_neighbors_info info = {.size = sizeof info};
    int64_t row;
    double distance;
    assert_int_equal(margin_neighbors_of(model, &borrowed, &error), MARGIN_OK);
    margin_neighbors_describe(borrowed, &info);
    assert_int_equal(info.rows, 400);
    assert_contains(info.reason, "as it was fitted");
    assert_int_equal(margin_neighbors_one(borrowed, s->f64 + 480 * 3, 1, &row, &distance, &error),
                     MARGIN_OK);
    assert_true(row >= 0 && row <= 480 - 100 && distance == 0);
    margin_model_free(model); /* a collector of garbage does it in this order */
    margin_neighbors_free(borrowed);
    data.weights = (margin_vector){0};
    model = fit_text(context, "standardize | knn", &data, NULL);
    assert_staged(context, model, &data);
    margin_model_free(model);
    model = fit_text(context, "rbf(centres=4) | knn", &data, NULL); /* where distance is no more */
    const double far[] = {(double)INFINITY, 0, 0};
    const margin_matrix query = margin_dense_f64(far, 1, 3, 3);
    assert_int_equal(margin_neighbors_of(model, &borrowed, &error), MARGIN_OK);
    assert_int_equal(
        margin_neighbors_nearest(context, borrowed, &query, 1, &row, &distance, &error),
        MARGIN_ERROR_DATA);
    assert_contains(error.text, "inf");
    margin_neighbors_free(borrowed);
    margin_model_free(model);
    model = fit_text(context, "perceptron(passes=2)", &data, NULL);
    assert_int_equal(margin_neighbors_of(model, &borrowed, &error), MARGIN_ERROR_MODEL);
    assert_contains(error.text, "holds no neighbours");
    assert_int_equal(margin_neighbors_of(NULL, &borrowed, &error), MARGIN_ERROR_ARGUMENT);
    margin_model_free(model);
    margin_context_free(context);
    sample_free(s);
}

static void hostile(margin_context *context, const char *spec) {
    sample *s = sample_make(200, 2, 3, 0, 6);
    margin_data data = sample_data(s, DENSE_F64);
    double weights[200];
    for (int i = 0; i < 200; i++)
        weights[i] = 1 + i % 3;
    data.weights = margin_values_f64(weights, 200);
    margin_model *model = fit_text(context, spec, &data, NULL);
    mg_hypothesis *h = model->hypothesis;
    assert_true(assert_tensors_checked(model, &data.x) > 0.5);
    /* a scale at which f32 does not hold the points */
    double *scale = (double *)mg_bag_find(&h->bag, "settings")->data + MG_SETTING_SCALE;
    const double right = *scale;
    for (int exponent = 100; exponent < 1000; exponent += 300) {
        *scale = ldexp(1, exponent);
        h->view.other = NULL;
        assert_int_equal(mg_hypothesis_attach(h, NULL), MARGIN_ERROR_MODEL);
    }
    *scale = right;
    h->view.other = NULL;
    assert_int_equal(mg_hypothesis_attach(h, NULL), MARGIN_OK);
    margin_model_free(model);
    sample_free(s);
}

static void test_hostile(void **state) {
    margin_context *context = support_context(NULL, 1);
    (void)state;
    hostile(context, "knn(method=tree, weights=distance)");
    hostile(context, "knn(method=brute, k=3)");
    hostile(context, "knn(method=tree, task=regress)");
    margin_context_free(context);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static margin_status use_index(margin_context *context, void *user, margin_error *error) {
    const sample *s = user;
    const margin_matrix x = sample_view(s, DENSE_F64), queries = sample_view(s, CSR_F32_I64_I64);
    margin_neighbors *index = NULL;
    margin_neighbors_lists lists = {0};
    int64_t rows[140];
    margin_status status = margin_neighbors_build(context, &x, NULL, &index, error);
    if (status < 0) return status;
    status = margin_neighbors_nearest(context, index, &queries, 2, rows, NULL, error);
    if (status >= 0) {
        status = margin_neighbors_within(context, index, &queries, 1, &lists, error);
        if (status >= 0) margin_neighbors_lists_free(&lists);
    }
    margin_neighbors_free(index);
    return status;
}

typedef struct mapping {
    char path[SUPPORT_PATH];
} mapping;

static margin_status map_index(margin_context *context, void *user, margin_error *error) {
    const mapping *m = user;
    margin_neighbors *index = NULL;
    const margin_status status = margin_neighbors_map(context, m->path, &index, error);
    if (status >= 0) margin_neighbors_free(index);
    return status;
}

static void test_allocations(void **state) {
    sample *s = sample_make(70, 5, 2, 0, 4);
    char dir[SUPPORT_PATH];
    mapping m;
    (void)state;
    assert_true(support_fail_each_allocation(2, use_index, s) > 15);
    support_temp_dir(dir);
    snprintf(m.path, sizeof m.path, "%.*s/index.margin", SUPPORT_PATH - 20, dir);
    margin_context *context = support_context(NULL, 1);
    const margin_matrix x = sample_view(s, DENSE_F64);
    margin_neighbors *index = build(context, &x, 2, MARGIN_NEIGHBORS_TREE);
    assert_int_equal(margin_neighbors_save(index, m.path, NULL), MARGIN_OK);
    margin_neighbors_free(index);
    margin_context_free(context);
    assert_true(support_fail_each_allocation(1, map_index, &m) > 5);
    support_temp_remove(dir);
    sample_free(s);
}

/* ---- In memory ------------------------------------------------------------------------------- */

static void test_bytes(void **state) {
    margin_context *context = support_context(NULL, 1);
    sample *s = sample_make(500, 3, 2, 0, 4);
    const margin_matrix x = sample_view(s, DENSE_F64);
    margin_neighbors *index = build(context, &x, 2, MARGIN_NEIGHBORS_TREE), *again = NULL;
    margin_model *model = NULL;
    margin_error error = {0};
    int64_t length = 0, written = 0, rows[4], same[4];
    (void)state;
    assert_int_equal(margin_neighbors_encoded_size(index, &length, &error), MARGIN_OK);
    char *bytes = malloc((size_t)length);
    assert_int_equal(margin_neighbors_encode_into(index, bytes, length - 1, &written, &error),
                     MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_neighbors_encode_into(index, bytes, length, &written, &error),
                     MARGIN_OK);
    assert_int_equal(written, length);
    assert_int_equal(margin_neighbors_decode(context, bytes, length, &again, &error), MARGIN_OK);
    assert_same_model(index->model, again->model);
    for (int i = 0; i < 500; i += 50) {
        assert_int_equal(margin_neighbors_one(index, s->f64 + 3 * i, 4, rows, NULL, NULL), 0);
        assert_int_equal(margin_neighbors_one(again, s->f64 + 3 * i, 4, same, NULL, NULL), 0);
        assert_memory_equal(rows, same, sizeof rows);
    }
    margin_neighbors_free(again);
    assert_int_equal(margin_model_decode(context, bytes, length, &model, &error),
                     MARGIN_ERROR_MODEL);
    assert_true(margin_neighbors_decode(context, bytes, length / 2, &again, &error) < 0);
    assert_int_equal(margin_neighbors_decode(context, bytes, -1, &again, &error),
                     MARGIN_ERROR_ARGUMENT);
    free(bytes);
    margin_neighbors_free(index);
    sample_free(s);
    margin_context_free(context);
}

/* ---- The textbook's tree --------------------------------------------------------------------- */

static void test_textbook(void **state) {
    static const double six[12] = {2, 3, 5, 4, 9, 6, 4, 7, 8, 1, 7, 2};
    margin_context *context = support_context(NULL, 1);
    margin_textbook_node nodes[6];
    int64_t root = -1;
    margin_matrix x = margin_dense_f64(six, 6, 2, 2);
    (void)state;
    assert_int_equal(margin_textbook_tree(context, &x, nodes, &root, NULL), MARGIN_OK);
    assert_int_equal(root, 5); /* (7,2) */
    static const margin_textbook_node expected[6] = {{0, 1, -1, -1, 2}, {1, 5, 0, 3, 1},
                                                     {1, 5, 4, -1, 1},  {0, 1, -1, -1, 2},
                                                     {0, 2, -1, -1, 2}, {0, -1, 1, 2, 0}};
    for (int i = 0; i < 6; i++)
        assert_memory_equal(&nodes[i], &expected[i], sizeof nodes[i]);
    x.rows = 1;
    assert_int_equal(margin_textbook_tree(context, &x, nodes, &root, NULL), MARGIN_OK);
    assert_int_equal(root, 0);
    assert_int_equal(nodes[0].left, -1);
    double equal[40] = {0};
    x = margin_dense_f64(equal, 20, 2, 2);
    margin_textbook_node many[20];
    assert_int_equal(margin_textbook_tree(context, &x, many, &root, NULL), MARGIN_OK);
    assert_int_equal(root, 10);
    for (int i = 0; i < 20; i++)
        assert_true(many[i].depth <= 4 && (many[i].left < i) && many[i].right != i);
    equal[3] = (double)NAN;
    assert_int_equal(margin_textbook_tree(context, &x, many, &root, NULL), MARGIN_ERROR_DATA);
    margin_context_free(context);
}

static int ends_second(void *user) {
    return ++*(int *)user >= 2;
}

/* A scan that is cut has no answer, also that of the last query. */
static void test_cut_scan(void **state) {
    (void)state;
    enum { ROWS = 1000000 };
    double *x = calloc(ROWS, 2 * sizeof *x), distance;
    int64_t row;
    int asked = 0;
    const margin_neighbors_options options = {
        .size = sizeof options, .p = 1.5, .method = MARGIN_NEIGHBORS_BRUTE};
    const margin_context_options watched = {
        .size = sizeof watched, .threads = 1, .poll = ends_second, .user = &asked};
    const margin_matrix all = margin_dense_f64(x, ROWS, 2, 2), query = margin_dense_f64(x, 1, 2, 2);
    margin_context *own, *builder = support_context(NULL, 1);
    margin_neighbors *index;
    margin_error error = {0};
    for (int i = 0; i < 2 * ROWS; i++)
        x[i] = (double)((int64_t)i * 7919 % 100003);
    assert_int_equal(margin_neighbors_build(builder, &all, &options, &index, &error), MARGIN_OK);
    assert_int_equal(margin_context_create(&watched, &own, &error), MARGIN_OK);
    assert_int_equal(margin_neighbors_nearest(own, index, &query, 1, &row, &distance, &error),
                     MARGIN_ERROR_CANCELLED);
    assert_int_equal(asked, 2);
    margin_neighbors_lists lists = {.size = sizeof lists};
    margin_context_resume(own);
    asked = 0;
    assert_int_equal(margin_neighbors_within(own, index, &query, 1, &lists, &error),
                     MARGIN_ERROR_CANCELLED);
    assert_int_equal(asked, 2);
    margin_neighbors_free(index);
    margin_context_free(own);
    margin_context_free(builder);
    free(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_distances), cmocka_unit_test(test_layouts_and_threads),
        cmocka_unit_test(test_all_rows),        cmocka_unit_test(test_within),
        cmocka_unit_test(test_refused),         cmocka_unit_test(test_files),
        cmocka_unit_test(test_of_a_model),      cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_allocations),     cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_cut_scan),        cmocka_unit_test(test_textbook),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
