/* k-means against plain Lloyd iterations from the same start, scikit-learn, and properties of a
 * fixed point. */
#include "hostile_tensors.h"
#include "model_cases.h"

#include "cluster/learner/silhouette.h"
#include "model/object/model_object.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static margin_error error;
#define OK(expression)                                                                             \
    do {                                                                                           \
        if ((expression) < 0) fail_msg("%s", error.text);                                          \
    } while (0)

/* ---- Data ------------------------------------------------------------------------------------ */

typedef struct {
    int64_t rows, columns, k;
    double *x, *w, *start;
} points;

/* Rows around k places; the first k rows, spread over the places, are a start. */
static points points_make(int64_t rows, int64_t columns, int64_t k, double spread, uint64_t seed) {
    points p = {rows,
                columns,
                k,
                calloc((size_t)(rows * columns), sizeof(double)),
                calloc((size_t)rows, sizeof(double)),
                calloc((size_t)(k * columns), sizeof(double))};
    double *places = calloc((size_t)(k * columns), sizeof *places);
    for (int64_t c = 0; c < k * columns; c++)
        places[c] = 4 * support_normal(&seed);
    for (int64_t i = 0; i < rows; i++) {
        const int64_t c = (int64_t)(support_random(&seed) % (uint64_t)k);
        p.w[i] = (double)(1 + i % 3);
        for (int64_t j = 0; j < columns; j++)
            p.x[i * columns + j] = places[c * columns + j] + spread * support_normal(&seed);
    }
    memcpy(p.start, p.x, (size_t)(k * columns) * sizeof *p.start);
    free(places);
    return p;
}

static void points_free(points *p) {
    free(p->x);
    free(p->w);
    free(p->start);
}

static margin_data points_data(const points *p, bool weighted) {
    margin_data data = {.x = margin_dense_f64(p->x, p->rows, p->columns, p->columns)};
    if (weighted) data.weights = margin_values_f64(p->w, p->rows);
    return data;
}

/* "kmeans(k=.., centres="...")" for a start; free() it. */
static char *spec_of(const points *p, const char *more) {
    const size_t size = 200 + (size_t)(p->k * p->columns) * 30;
    char *text = malloc(size), number[MARGIN_NUMBER_TEXT];
    int used = snprintf(text, size, "kmeans(k=%d%s, centres=\"", (int)p->k, more);
    for (int64_t c = 0; c < p->k * p->columns; c++) {
        margin_number_print_f64(p->start[c], number);
        used += snprintf(text + used, size - (size_t)used, "%s ", number);
    }
    snprintf(text + used, size - (size_t)used, "\")");
    return text;
}

/* ---- Plain Lloyd ----------------------------------------------------------------------------- */

static double plain_square(const double *a, const double *b, int64_t n) {
    double sum = 0;
    for (int64_t j = 0; j < n; j++)
        sum += (a[j] - b[j]) * (a[j] - b[j]);
    return sum;
}

static int64_t plain_nearest(const points *p, const double *centres, int64_t i, double *square) {
    int64_t best = 0;
    *square = 0;
    for (int64_t c = 0; c < p->k; c++) {
        const double d = plain_square(p->x + i * p->columns, centres + c * p->columns, p->columns);
        if (c > 0 && d >= *square) continue;
        *square = d;
        best = c;
    }
    return best;
}

/* From p->start; labels and centres at the end; iterations. */
static int plain_lloyd(const points *p, bool weighted, int most, double *centres, int64_t *labels,
                       double *inertia) {
    const int64_t n = p->columns, k = p->k;
    double *sums = calloc((size_t)(k * n), sizeof *sums), *sizes = calloc((size_t)k, sizeof *sizes);
    int round = 0;
    memcpy(centres, p->start, (size_t)(k * n) * sizeof *centres);
    for (bool moved = true; moved && round < most; round++) {
        moved = false;
        memset(sums, 0, (size_t)(k * n) * sizeof *sums);
        memset(sizes, 0, (size_t)k * sizeof *sizes);
        for (int64_t i = 0; i < p->rows; i++) {
            double square;
            const int64_t c = plain_nearest(p, centres, i, &square);
            moved = moved || round == 0 || c != labels[i];
            labels[i] = c;
            sizes[c] += weighted ? p->w[i] : 1;
            for (int64_t j = 0; j < n; j++)
                sums[c * n + j] += (weighted ? p->w[i] : 1) * p->x[i * n + j];
        }
        for (int64_t c = 0; c < k; c++)
            for (int64_t j = 0; j < n && sizes[c] > 0; j++)
                centres[c * n + j] = sums[c * n + j] / sizes[c];
    }
    *inertia = 0;
    for (int64_t i = 0; i < p->rows; i++) {
        double square;
        labels[i] = plain_nearest(p, centres, i, &square);
        *inertia += (weighted ? p->w[i] : 1) * square;
    }
    free(sums);
    free(sizes);
    return round;
}

/* The bounds must not change a single label: clusters apart and blurred, few and many. */
static void test_plain_lloyd(void **state) {
    const struct {
        int64_t rows, columns, k;
        double spread;
    } cases[] = {{300, 2, 3, 1},   {500, 5, 9, 4},   {400, 1, 17, 2},
                 {500, 13, 24, 3}, {2200, 3, 40, 4}, {200, 40, 8, 5}};
    for (size_t t = 0; t < sizeof cases / sizeof cases[0]; t++)
        for (int weighted = 0; weighted < 2; weighted++) {
            points p =
                points_make(cases[t].rows, cases[t].columns, cases[t].k, cases[t].spread, 40 + t);
            double *centres = calloc((size_t)(p.k * p.columns), sizeof *centres), inertia;
            int64_t *labels = calloc((size_t)p.rows, sizeof *labels);
            int64_t *found = calloc((size_t)p.rows, sizeof *found);
            plain_lloyd(&p, weighted, 1000, centres, labels, &inertia);
            char *spec = spec_of(&p, ", max_iter=1000");
            margin_data data = points_data(&p, weighted);
            margin_report report = {0}, verified = {0};
            margin_model *model = fit_text(*state, spec, &data, &report);
            assert_int_equal(report.status, MARGIN_OK);
            assert_true(margin_report_item_value(&report, "gain") == 0 &&
                        margin_report_item_value(&report, "moved") == 0);
            assert_close(report.objective, inertia, 1e-12);
            OK(margin_predict(model, &data.x, found, &error));
            assert_memory_equal(found, labels, (size_t)p.rows * sizeof *labels);
            for (int64_t c = 0; c < p.k; c++)
                for (int64_t j = 0; j < p.columns; j++)
                    assert_close(margin_model_centre(model, c)[j], centres[c * p.columns + j],
                                 1e-10);
            assert_int_equal(margin_verify(*state, model, &data, &verified, &error), MARGIN_OK);
            p.x[0] += 1; /* not the data it was trained on */
            assert_int_equal(margin_verify(*state, model, &data, &verified, &error),
                             MARGIN_STOPPED_STALLED);
            margin_model_free(model);
            free(spec);
            free(found);
            free(labels);
            free(centres);
            points_free(&p);
        }
}

/* scikit-learn 1.9, KMeans(4, init=first four rows, n_init=1, tol=0). */
static void test_scikit_learn(void **state) {
    points p = points_make(60, 3, 4, 1, 1);
    for (int i = 0; i < 60; i++) {
        p.w[i] = 1 + (i % 3) / 2.0;
        for (int j = 0; j < 3; j++)
            p.x[i * 3 + j] = (i * 7 + j * 13 + i * j * 3) % 17 / 4.0 + (i % 4) * 2 * (j != 1);
    }
    memcpy(p.start, p.x, 12 * sizeof *p.start);
    char *spec = spec_of(&p, "");
    const double inertia[2] = {214.19154135338346, 320.96285511363635};
    for (int weighted = 0; weighted < 2; weighted++) {
        margin_data data = points_data(&p, weighted);
        margin_report report = {0};
        margin_model *model = fit_text(*state, spec, &data, &report);
        assert_close(report.objective, inertia[weighted], 1e-13);
        margin_model_free(model);
    }
    free(spec);
    points_free(&p);
}

/* ---- Starts, restarts, threads --------------------------------------------------------------- */

/* Well apart: k-means++ finds them all, whatever the seed. */
static void test_starts(void **state) {
    points p = points_make(300, 4, 12, 0.01, 9);
    margin_data data = points_data(&p, false);
    double *centres = calloc(48, sizeof *centres), inertia;
    int64_t *labels = calloc(300, sizeof *labels);
    (void)plain_lloyd(&p, false, 1, centres, labels, &inertia);
    for (int seed = 0; seed < 3; seed++) {
        margin_context_options options = {.size = sizeof options, .seed = (uint64_t)seed};
        margin_context *context = NULL;
        OK(margin_context_create(&options, &context, &error));
        margin_report report = {0}, more = {0};
        margin_model *model = fit_text(context, "kmeans(k=12)", &data, &report);
        assert_true(report.objective < 300 * 4 * 0.01 * 0.01 * 1.2);
        margin_model_free(model);
        model = fit_text(context, "kmeans(k=12, start=sample, restarts=1)", &data, &report);
        margin_model *best =
            fit_text(context, "kmeans(k=12, start=sample, restarts=8)", &data, &more);
        assert_true(more.objective <= report.objective);
        assert_true(margin_report_item_value(&more, "best_run") >= 1);
        margin_model_free(best);
        margin_model_free(model);
        margin_context_free(context);
    }
    (void)state;
    free(labels);
    free(centres);
    points_free(&p);
}

static void test_threads(void **state) {
    (void)state;
    points p = points_make(5000, 5, 20, 3, 21);
    float *single = malloc((size_t)(p.rows * p.columns) * sizeof *single);
    for (int64_t v = 0; v < p.rows * p.columns; v++)
        single[v] = (float)p.x[v];
    const char *const specs[] = {"kmeans(k=20, restarts=2)", "kmeans(k=20, start=sample)",
                                 "kmeans(k=20, restarts=1, tol=1e-3)",
                                 "kmeans(k=20, restarts=1, max_iter=3)",
                                 "kmeans(k=50, restarts=1, max_iter=8)"};
    for (size_t n = 0; n < sizeof specs / sizeof specs[0]; n++) {
        margin_data data = points_data(&p, n == 1);
        if (n == 2) data.x = margin_dense_f32(single, p.rows, p.columns, p.columns);
        margin_model *first = NULL;
        for (int threads = 1; threads <= 4; threads++) {
            margin_context *context = support_context(NULL, threads);
            margin_report report = {0}, found = {0};
            margin_model *model = fit_text(context, specs[n], &data, &report);
            if (n == 2)
                assert_true(report.status == MARGIN_OK &&
                            margin_report_item_value(&report, "gain") <= 1e-3);
            if (n >= 3) assert_true(report.status == MARGIN_STOPPED_ITERATIONS);
            if (threads == 1 && margin_verify(context, model, &data, &found, &error) != MARGIN_OK)
                fail_msg("%s", found.reason);
            if (!first) {
                first = model;
            } else {
                assert_same_model(first, model);
                margin_model_free(model);
            }
            margin_context_free(context);
        }
        margin_model_free(first);
    }
    margin_data few = points_data(&p, false);
    double expected = 0;
    few.x.rows = few.weights.count = 700; /* so few have the exact silhouette */
    for (int threads = 1; threads <= 8; threads++) {
        margin_context *context = support_context(NULL, threads);
        margin_report report = {0};
        margin_model_free(fit_text(context, "kmeans(k=9)", &few, &report));
        const double found = margin_report_item_value(&report, "silhouette");
        if (threads == 1) expected = found;
        assert_true(found == expected && found > 0.05);
        margin_context_free(context);
    }
    free(single);
    points_free(&p);
}

/* ---- Empty clusters, duplicates -------------------------------------------------------------- */

/* Two of the centres are far from every row: they get the farthest rows. */
static void test_empty_clusters(void **state) {
    const double x[12] = {0, 0.5, 1, 1.5, 10, 10.5, 11, 11.5, 50, 50.5, 51, 90};
    margin_data data = {.x = margin_dense_f64(x, 12, 1, 1)};
    margin_report report = {0}, found = {0};
    margin_model *model =
        fit_text(*state, "kmeans(k=4, centres=\"5 1000 2000 6\")", &data, &report);
    assert_int_equal(report.status, MARGIN_OK);
    assert_true(margin_report_item_value(&report, "relocated") >= 2);
    double total = 0;
    for (int c = 0; c < 4; c++) {
        assert_true(margin_model_cluster_size(model, c) > 0);
        total += margin_model_cluster_size(model, c);
    }
    assert_true(total == 12);
    assert_close(report.objective, 2 * 1.25 + 0.5, 1e-12);
    assert_int_equal(margin_verify(*state, model, &data, &found, &error), MARGIN_OK);
    assert_null(margin_model_centre(model, 4));
    assert_true(isnan(margin_model_cluster_size(model, -1)));
    margin_model_free(model);
}

/* Inertia, sizes and silhouette of other rows, by hand: centres 0 and 10. */
static void test_metrics(void **state) {
    const double train[4] = {-1, 1, 9, 11}, x[4] = {0, 2, 9, 14}, weights[4] = {1, 2, 1, 1};
    margin_data data = {.x = margin_dense_f64(train, 4, 1, 1)}, other = data;
    margin_metrics m = {.size = sizeof m};
    margin_model *model = fit_text(*state, "kmeans(k=2)", &data, NULL);
    const int low = margin_model_centre(model, 0)[0] < 5 ? 0 : 1;
    other.x = margin_dense_f64(x, 4, 1, 1);
    assert_int_equal(margin_evaluate(*state, model, &other, &m, &error), MARGIN_OK);
    assert_close(m.inertia, 0 + 4 + 1 + 16, 1e-12);
    assert_true(m.cluster_sizes[low] == 2 && m.cluster_sizes[1 - low] == 2);
    assert_close(m.silhouette,
                 ((11.5 - 2) / 11.5 + (9.5 - 2) / 9.5 + (8 - 5) / 8.0 + (13 - 5) / 13.0) / 4,
                 1e-12);
    assert_true(isnan(m.accuracy) && isnan(m.rmse));
    margin_metrics_free(&m);
    other.weights = margin_values_f64(weights, 4);
    const int64_t rows[3] = {1, 2, 3};
    other.selection = rows;
    other.selected = 3;
    assert_int_equal(margin_evaluate(*state, model, &other, &m, &error), MARGIN_OK);
    assert_close(m.inertia, 2 * 4 + 1 + 16, 1e-12);
    assert_true(m.cluster_sizes[low] == 2 && m.cluster_sizes[1 - low] == 2 && m.rows == 3);
    /* the row of weight 2 as two copies of itself */
    assert_close(m.silhouette, (2 * 1 + (7 - 5) / 7.0 + (12 - 5) / 12.0) / 4, 1e-12);
    margin_metrics_free(&m);
    margin_model_free(model);
}

/* Where the centres would move on, the clusters are those of the centres that are kept. */
static void test_silhouette_of_stopped(void **state) {
    enum { ROWS = 60 };
    static const char *const specs[] = {"kmeans(k=3, max_iter=1)", "kmeans(k=3, tol=0.5)"};
    double x[2 * ROWS];
    uint64_t random = 7;
    for (int v = 0; v < 2 * ROWS; v++)
        x[v] = support_normal(&random);
    margin_data data = {.x = margin_dense_f64(x, ROWS, 2, 2)};
    for (int k = 0; k < 2; k++) {
        margin_report report = {0}, found = {0};
        margin_metrics m = {.size = sizeof m};
        margin_model *model = fit_text(*state, specs[k], &data, &report);
        assert_true(margin_report_item_value(&report, "moved") > 0);
        assert_int_equal(margin_evaluate(*state, model, &data, &m, &error), MARGIN_OK);
        assert_close(margin_report_item_value(&report, "silhouette"), m.silhouette, 1e-12);
        assert_int_equal(margin_verify(*state, model, &data, &found, &error), MARGIN_OK);
        margin_metrics_free(&m);
        margin_model_free(model);
    }
}

/* Few steps on more rows: some rows tell the silhouette, a forged number of them nothing. */
static void test_silhouette_of_some(void **state) {
    enum { ROWS = 1500, COLUMNS = 4, ASKED = 256 };
    static double x[COLUMNS * ROWS];
    uint64_t random = 7;
    for (int v = 0; v < COLUMNS * ROWS; v++)
        x[v] = support_normal(&random) + 4 * (v / COLUMNS % 3);
    margin_data data = {.x = margin_dense_f64(x, ROWS, COLUMNS, COLUMNS)};
    margin_report report = {0}, found = {0};
    margin_metrics m = {.size = sizeof m};
    margin_model *model =
        fit_text(*state, "kmeans(k=3, restarts=1, max_iter=1, tol=0.9)", &data, &report);
    const double told = margin_report_item_value(&report, "silhouette");
    assert_true(margin_report_item_value(&report, "silhouette_rows") == ASKED);
    assert_int_equal(margin_evaluate(*state, model, &data, &m, &error), MARGIN_OK);
    assert_true(told != m.silhouette);
    assert_close(told, m.silhouette, 0.05);
    assert_int_equal(margin_verify(*state, model, &data, &found, &error), MARGIN_OK);
    assert_close(margin_report_item_value(&found, "silhouette"), told, 1e-12);
    for (int k = 0; k < 3; k++) {
        const double forged[] = {ASKED + 0.5, 2 * ASKED, (double)NAN};
        mg_report_set(&model->report, "silhouette_rows", forged[k]);
        assert_int_equal(margin_verify(*state, model, &data, &found, &error),
                         MARGIN_STOPPED_STALLED);
    }
    margin_metrics_free(&m);
    margin_model_free(model);
}

/* A cluster for each different row where there are fewer of them than clusters. */
static void test_fewer(void **state) {
    const double x[14] = {1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 1, 1, -0.0, 3};
    const int64_t clusters[] = {4, 4, 3};
    static const char *const specs[] = {"kmeans(k=9, too_few=fewer)",
                                        "kmeans(k=5, too_few=fewer, start=sample)",
                                        "kmeans(k=3, too_few=fewer)"};
    const margin_data data = {.x = margin_dense_f64(x, 7, 2, 2)};
    for (int k = 0; k < 3; k++) {
        margin_report report = {0}, found = {0};
        margin_model *model = fit_text(*state, specs[k], &data, &report);
        assert_non_null(margin_model_centre(model, clusters[k] - 1));
        assert_null(margin_model_centre(model, clusters[k]));
        assert_int_equal(margin_verify(*state, model, &data, &found, NULL), MARGIN_OK);
        assert_int_equal(strstr(report.reason, "4 clusters, as the data has no more") != NULL,
                         k < 2);
        if (k < 2) assert_true(report.objective == 0);
        margin_model_free(model);
    }
}

static void test_refusals(void **state) {
    const double x[12] = {1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 1, 1};
    margin_data data = {.x = margin_dense_f64(x, 6, 2, 2)};
    fit_refused(*state, "kmeans(k=4)", &data, MARGIN_ERROR_DATA,
                "only 3 different rows and cannot make 4 clusters");
    fit_refused(*state, "kmeans(k=4, start=sample)", &data, MARGIN_ERROR_DATA,
                "only 3 different rows");
    fit_refused(*state, "kmeans(k=4, centres=\"1 1 2 2 3 3 4 4\")", &data, MARGIN_ERROR_DATA,
                "fewer different rows than the 4 clusters asked for, or rows too close");
    const double tiny[4] = {1e-300, 2e-300, 3e-300, 4e-300};
    margin_data close = {.x = margin_dense_f64(tiny, 4, 1, 1)};
    fit_refused(*state, "kmeans(k=2, centres=\"0 1\")", &close, MARGIN_ERROR_DATA, "minmax | ");
    fit_refused(*state, "kmeans(k=7)", &data, MARGIN_ERROR_DATA, "6 rows cannot make 7 clusters");
    fit_refused(*state, "kmeans(k=2, centres=\"1 2 3\")", &data, MARGIN_ERROR_SPEC,
                "centres has 3 numbers, and 2 clusters of 2 columns need 4");
    fit_refused(*state, "kmeans(k=2, start=sample, centres=\"1 2 3 4\")", &data, MARGIN_ERROR_SPEC,
                "exclude each other");
    fit_refused(*state, "kmeans(k=2, centres=\"1 2 3 4\", restarts=3)", &data, MARGIN_ERROR_SPEC,
                "restarts=3 and centres exclude each other");
    fit_refused(*state, "kmeans(centres=\"1 2 3 4\")", &data, MARGIN_ERROR_SPEC,
                "centres has 4 numbers, and 8 clusters of 2 columns need 16");
    fit_refused(*state, "kmeans(k=2, centres=\"1 2 3 4\", too_few=fewer)", &data, MARGIN_ERROR_SPEC,
                "too_few=fewer and centres exclude each other");
    margin_model *model = fit_text(*state, "kmeans(k=3)", &data, NULL);
    assert_close(margin_model_report(model)->objective, 0, 1e-30);
    margin_model_free(model);
    model = fit_text(*state, "kmeans(k=1)", &data, NULL); /* the mean */
    assert_close(margin_model_centre(model, 0)[1], 10.0 / 6, 1e-15);
    assert_true(isnan(margin_report_item_value(margin_model_report(model), "simple_silhouette")));
    margin_model_free(model);
    double wide[12];
    for (int v = 0; v < 12; v++)
        wide[v] = (v - 6) * 1e200;
    data.x.values = wide;
    fit_refused(*state, "kmeans(k=3)", &data, MARGIN_ERROR_DATA, "range of numbers");
    for (int v = 0; v < 12; v++)
        wide[v] = v * 1e-300;
    fit_refused(*state, "kmeans(k=3)", &data, MARGIN_ERROR_DATA, "0 between rows that differ");
}

/* The centres were last moved to the means of clusters that changed, and no row changes for it: not
 * yet a fixed point. One more step is one. */
static void test_last_step(void **state) {
    static const double x[] = {0, 1, 2, 9}, chain[] = {0, 3, 4.9, 12};
    margin_data data = {.x = margin_dense_f64(x, 4, 1, 1)};
    margin_report report = {0};
    margin_model_free(fit_text(*state, "kmeans(k=2, centres=\"0 5\", max_iter=1)", &data, &report));
    assert_int_equal(report.status, MARGIN_STOPPED_ITERATIONS);
    assert_contains(report.reason, "while the centres still move, which changes the cluster of 0 "
                                   "rows; raise max_iter");
    margin_model_free(fit_text(*state, "kmeans(k=2, centres=\"0 5\", max_iter=2)", &data, &report));
    assert_int_equal(report.status, MARGIN_OK);
    data.x = margin_dense_f64(chain, 4, 1, 1);
    margin_model_free(fit_text(*state, "kmeans(k=2, centres=\"0 4\", max_iter=1)", &data, &report));
    assert_contains(report.reason, "the cluster of 1 row; raise max_iter");
}

static const char far[] = "the squared distances of rows leave the range of numbers";

/* Distances, or sums by weight, that are no numbers: no row may go without a centre. */
static void test_overflow(void **state) {
    static const char *const specs[] = {
        "kmeans(k=1)", "kmeans(k=1, start=sample)", "kmeans(k=1, centres=1, max_iter=1)",
        "kmeans(k=2)", "kmeans(k=2, start=sample)", "kmeans(k=2, centres=\"-1e308 1e308\")"};
    static const double rows[][3] = {
        {-1e308, 1e308, 0.5e308}, {-1e308, 1e308, 0}, {1e200, 2e200, -1e200}, {1e160, 0, 1}};
    static const double weights[][3] = {
        {2, 1e300, 1}, {2, 2, 2}, {1, 1, 1}, {1e200, 1e200, 1e200}, {2, 1e9, 1}};
    for (size_t s = 0; s < sizeof specs / sizeof *specs; s++)
        for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
            for (size_t w = 0; w < sizeof weights / sizeof *weights; w++) {
                margin_data data = {.x = margin_dense_f64(rows[r], 3, 1, 1),
                                    .weights = margin_values_f64(weights[w], 3)};
                if (strstr(specs[s], "k=2") && r == 3) continue; /* two clusters hold them */
                fit_refused(*state, specs[s], &data, MARGIN_ERROR_DATA, far);
            }
    const float single[2] = {-3e38F, 3e38F};
    margin_data data = {.x = margin_dense_f32(single, 2, 1, 1),
                        .weights = margin_values_f64(weights[0], 2)};
    fit_refused(*state, "kmeans(k=1)", &data, MARGIN_ERROR_DATA, far);
}

/* The same where the filter has room for more groups of centres than there are; of many rows it
 * looks at some before it makes its frame. */
static void test_overflow_filter(void **state) {
    const int64_t counts[] = {300, 2100};
    for (int c = 0; c < 2; c++)
        for (int start = 0; start < 3; start++) {
            points p = points_make(counts[c], 4, 9, 3, 78);
            char *given = spec_of(&p, "");
            const char *const specs[] = {given, "kmeans(k=9, start=sample, restarts=1)",
                                         "kmeans(k=9)"};
            const margin_data data = points_data(&p, true);
            p.x[4 * 7 + 1] = -1e300;
            fit_refused(*state, specs[start], &data, MARGIN_ERROR_DATA, far);
            free(given);
            points_free(&p);
        }
}

/* A silhouette of many columns is long work. */
static void test_cancelled(void **state) {
    const double x[4] = {-1, 1, 9, 11}, sizes[2] = {2, 2};
    const int32_t labels[4] = {0, 0, 1, 1};
    margin_context *context = support_context(NULL, 1);
    const margin_matrix view = margin_dense_f64(x, 4, 1, 1);
    const mg_clustered rows = {.x = &view, .count = 4, .k = 2, .labels = labels, .sizes = sizes};
    double value;
    (void)state;
    assert_int_equal(mg_silhouette(context, &rows, &value, NULL, &error), MARGIN_OK);
    assert_close(value, 0.8, 0.01);
    margin_context_cancel(context);
    assert_int_equal(mg_silhouette(context, &rows, &value, NULL, &error), MARGIN_ERROR_CANCELLED);
    margin_context_free(context);
}

/* Tiny and huge units: the bounds are single precision, the result is not. */
static void test_units(void **state) {
    points p = points_make(800, 3, 10, 2, 33);
    margin_report plain = {0}, scaled = {0};
    margin_data data = points_data(&p, false);
    margin_model *model = fit_text(*state, "kmeans(k=10, restarts=1)", &data, &plain);
    margin_model_free(model);
    for (int n = 0; n < 4; n++) {
        const double units[4] = {0x1p-140, 0x1p-500, 0x1p140, 0x1p480};
        points q = points_make(800, 3, 10, 2, 33);
        for (int64_t v = 0; v < 2400; v++)
            q.x[v] *= units[n];
        data = points_data(&q, false);
        model = fit_text(*state, "kmeans(k=10, restarts=1)", &data, &scaled);
        assert_int_equal(scaled.iterations, plain.iterations);
        assert_close(scaled.objective / units[n] / units[n], plain.objective, 1e-12);
        margin_model_free(model);
        points_free(&q);
    }
    points_free(&p);
}

/* ---- The filter in single precision ---------------------------------------------------------- */

/* Awkward for it: a grid with many equal distances, copies of rows and of centres, an offset that
 * single precision cannot tell from the values, one row far from all others. */
enum { GRID, COPIES, OFFSET, OUTLIER, PLAIN, KINDS };

static points awkward(int kind, int64_t rows, int64_t columns, int64_t k) {
    points p = points_make(rows, columns, k, 3, 60 + (uint64_t)kind);
    const int64_t copies = rows / 4 * columns;
    for (int64_t v = 0; v < rows * columns; v++) {
        if (kind == GRID) p.x[v] = rint(p.x[v] / 4);
        if (kind == OFFSET) p.x[v] += 1e8;
    }
    for (int64_t c = 0; kind == GRID && c < k; c++) /* different places, each with a row */
        for (int64_t j = 0, rest = c; j < columns; j++, rest /= 3)
            p.x[c * columns + j] = (double)(rest % 3 - 1);
    if (kind == COPIES) memcpy(p.x + copies, p.x, (size_t)copies * sizeof *p.x);
    for (int64_t j = 0; kind == OUTLIER && j < columns; j++)
        p.x[(rows - 1) * columns + j] = 1e12;
    memcpy(p.start, p.x, (size_t)(k * columns) * sizeof *p.start);
    return p;
}

/* `most` steps from the start: the labels and the inertia of the plain iteration. On the grid one,
 * whose distances are whole numbers: ties go to the lower centre. */
static void check_awkward(margin_context *context, const points *p, const margin_data *data,
                          int most, double tolerance) {
    char more[40], *spec;
    double *centres = calloc((size_t)(p->k * p->columns), sizeof *centres), inertia;
    int64_t *labels = calloc((size_t)p->rows, sizeof *labels);
    int64_t *found = calloc((size_t)p->rows, sizeof *found);
    snprintf(more, sizeof more, ", max_iter=%d", most);
    spec = spec_of(p, more);
    margin_report report = {0};
    margin_model *model = fit_text(context, spec, data, &report);
    plain_lloyd(p, data->weights.values != NULL, most, centres, labels, &inertia);
    OK(margin_predict(model, &data->x, found, &error));
    assert_close(report.objective, inertia, tolerance);
    assert_memory_equal(found, labels, (size_t)p->rows * sizeof *labels);
    margin_model_free(model);
    free(spec);
    free(found);
    free(labels);
    free(centres);
}

/* From 9 centres on rows pass the filter; the labels must be those of the plain iteration. */
static void test_filter(void **state) {
    for (int kind = 0; kind < KINDS; kind++)
        for (int shape = 0; shape < 5; shape++) {
            const int64_t columns = ((int64_t[]){4, 19, 7, 6, 11})[shape];
            const int64_t k = ((int64_t[]){33, 70, 140, 9, 20})[shape];
            points p = awkward(kind, 600, columns, k);
            margin_data data = points_data(&p, shape == 1);
            /* means near 1e8 are rounded to 1e-8, here and there in another order of sums */
            const double tolerance = kind == OFFSET ? 1e-9 : 1e-11;
            check_awkward(*state, &p, &data, 1, tolerance);
            if (kind != GRID) check_awkward(*state, &p, &data, 12, tolerance);
            points_free(&p);
        }
}

/* f32 data is as its values in f64. */
static void filter_single_of(margin_context *context, int64_t k) {
    points p = points_make(900, 9, k, 3, 71);
    float *single = malloc((size_t)(p.rows * p.columns) * sizeof *single);
    for (int64_t v = 0; v < p.rows * p.columns; v++)
        p.x[v] = (double)(single[v] = (float)p.x[v]);
    memcpy(p.start, p.x, (size_t)(p.k * p.columns) * sizeof *p.start);
    margin_data data = points_data(&p, true);
    char *spec = spec_of(&p, ", max_iter=15");
    margin_model *model = fit_text(context, spec, &data, NULL);
    data.x = margin_dense_f32(single, p.rows, p.columns, p.columns);
    margin_model *same = fit_text(context, spec, &data, NULL);
    for (int64_t c = 0; c < p.k; c++)
        assert_memory_equal(margin_model_centre(model, c), margin_model_centre(same, c),
                            (size_t)p.columns * sizeof(double));
    check_awkward(context, &p, &data, 15, 1e-11);
    margin_model_free(same);
    margin_model_free(model);
    free(spec);
    free(single);
    points_free(&p);
}

/* Few centres: rows lie in tiles. */
static void test_filter_single(void **state) {
    filter_single_of(*state, 48);
    filter_single_of(*state, 12);
}

/* A row of weight 0 is as none, wherever it lies; the rest is then a selection of rows. */
static void test_filter_without(void **state) {
    points p = points_make(800, 6, 40, 3, 77), q = points_make(800, 6, 40, 3, 77);
    const char *const starts[] = {"kmeans(k=40, restarts=2)", NULL};
    char *given = spec_of(&p, ", max_iter=9");
    int64_t kept = 0;
    for (int64_t i = 0; i < p.rows; i++) {
        if (i % 7 == 3) {
            p.w[i] = 0;
            p.x[i * 6] = 1e9;
            continue;
        }
        memcpy(q.x + kept * 6, p.x + i * 6, 6 * sizeof *q.x);
        q.w[kept++] = p.w[i];
    }
    q.rows = kept;
    const margin_data all = points_data(&p, true), some = points_data(&q, true);
    for (int n = 0; n < 2; n++) {
        const char *spec = starts[n] ? starts[n] : given;
        margin_model *a = fit_text(*state, spec, &all, NULL);
        margin_model *b = fit_text(*state, spec, &some, NULL);
        for (int64_t c = 0; c < 40; c++)
            assert_memory_equal(margin_model_centre(a, c), margin_model_centre(b, c),
                                6 * sizeof(double));
        margin_model_free(a);
        margin_model_free(b);
    }
    free(given);
    points_free(&q);
    points_free(&p);
}

/* ---- Model ----------------------------------------------------------------------------------- */

static void test_model(void **state) {
    points p = points_make(300, 6, 5, 1, 3);
    margin_data data = points_data(&p, false);
    margin_model *model = fit_text(*state, "standardize | kmeans(k=5)", &data, NULL), *copy = NULL;
    void *bytes = NULL;
    int64_t length = 0, labels[300];
    double *scores = scores_of(model, &data.x);
    assert_int_equal(margin_model_task(model), MARGIN_CLUSTER);
    assert_int_equal(margin_model_class_count(model), 5);
    assert_null(margin_model_class_name(model, 0));
    OK(margin_predict(model, &data.x, labels, &error));
    double sizes[5] = {0};
    for (int i = 0; i < 300; i++) {
        sizes[labels[i]]++;
        for (int c = 0; c < 5; c++)
            assert_true(scores[i * 5 + c] <= scores[i * 5 + labels[i]] && scores[i * 5 + c] <= 0);
    }
    for (int c = 0; c < 5; c++)
        assert_true(sizes[c] == margin_model_cluster_size(model, c));
    OK(margin_model_encode(model, &bytes, &length, &error));
    OK(margin_model_decode(*state, bytes, length, &copy, &error));
    assert_same_model(model, copy);
    double *again = scores_of(copy, &data.x);
    assert_memory_equal(scores, again, 1500 * sizeof *scores);
    margin_bytes_free(model, bytes);
    margin_model_free(copy);
    margin_model_free(model);
    free(scores);
    free(again);
    points_free(&p);
}

static margin_status fit_body(margin_context *context, void *user, margin_error *failure) {
    margin_spec *spec = NULL;
    margin_model *model = NULL;
    margin_report found = {0};
    margin_status status =
        margin_spec_parse(context, "kmeans(k=33, restarts=1, max_iter=3)", &spec, failure);
    if (status >= 0) status = margin_fit(context, spec, user, &model, NULL, failure);
    if (status >= 0) status = margin_verify(context, model, user, &found, failure);
    margin_model_free(model);
    margin_spec_free(spec);
    return status < 0 ? status : MARGIN_OK;
}

static void test_allocations(void **state) {
    (void)state;
    points p = points_make(70, 4, 9, 2, 7);
    margin_data data = points_data(&p, true);
    assert_true(support_fail_each_allocation(1, fit_body, &data) > 20);
    assert_true(support_fail_each_allocation(3, fit_body, &data) > 20);
    points_free(&p);
}

static void test_hostile(void **state) {
    sample *s = sample_make(60, 3, 2, 0, 4);
    margin_data data = {.x = sample_view(s, DENSE_F64)};
    margin_model *model = fit_text(*state, "kmeans(k=4)", &data, NULL);
    assert_true(assert_tensors_checked(model, &data.x) > 0.3);
    margin_model_free(model);
    sample_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_lloyd),
        cmocka_unit_test(test_scikit_learn),
        cmocka_unit_test(test_starts),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_empty_clusters),
        cmocka_unit_test(test_metrics),
        cmocka_unit_test(test_silhouette_of_some),
        cmocka_unit_test(test_silhouette_of_stopped),
        cmocka_unit_test(test_fewer),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_last_step),
        cmocka_unit_test(test_overflow),
        cmocka_unit_test(test_overflow_filter),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_model),
        cmocka_unit_test(test_allocations),
        cmocka_unit_test(test_filter),
        cmocka_unit_test(test_filter_single),
        cmocka_unit_test(test_filter_without),
        cmocka_unit_test(test_cancelled),
        cmocka_unit_test(test_hostile),
    };
    return cmocka_run_group_tests(tests, support_open_context, support_close_context);
}
