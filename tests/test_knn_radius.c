/* knn(radius=R): answers by hand, values of scikit-learn 1.9.1 (RadiusNeighborsClassifier and
 * RadiusNeighborsRegressor), plain loops, rows without neighbours, extreme coordinates, bad input.
 */
#include "model_cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static margin_data points_data(const double *x, int64_t rows, int64_t columns, const double *y) {
    return (margin_data){.x = margin_dense_f64(x, rows, columns, columns),
                         .y = margin_values_f64(y, rows)};
}

/* ---- By hand: 0 1 2 3 10 on a line, classes 0 1 1 0 1, values 0 10 20 30 40 ------------------ */

static const double line[5] = {0, 1, 2, 3, 10};

static void test_votes(void **state) {
    static const double y[5] = {0, 1, 1, 0, 1};
    static const struct {
        const char *spec;
        double q, share; /* of class 1; NaN: no answer */
        int64_t label;
    } cases[] = {
        {"knn(radius=1)", 1, 2.0 / 3, 1}, /* the edge belongs to it */
        {"knn(radius=0.999)", 1, 1, 1},
        {"knn(radius=0)", 3, 0, 0},
        {"knn(radius=0.5)", 0.5, 0.5, 0}, /* one vote each: the lower class */
        {"knn(radius=1.5, weights=distance)", 0.4, 0.4, 0},
        {"knn(radius=5, weights=distance)", 2, 1, 1}, /* one at distance 0 */
        {"knn(radius=inf)", -100, 0.6, 1},
        {"knn(radius=1)", 8, 1, 1}, /* nobody: the nearest, 10 */
        {"knn(radius=1, empty=nearest)", 6.4, 0, 0},
        {"knn(radius=1, empty=nearest)", 6.5, 0, 0}, /* equally far: the earlier row */
        {"knn(radius=1, empty=prior)", 8, 0.6, 1},
        {"knn(radius=1, empty=none)", 8, (double)NAN, -1},
        {"knn(radius=1, empty=none)", 9, 1, 1},
    };
    margin_context *context = support_context(NULL, 2);
    margin_data data = points_data(line, 5, 1, y);
    (void)state;
    for (int n = 0; n < (int)(sizeof cases / sizeof cases[0]); n++) {
        margin_model *model = fit_text(context, cases[n].spec, &data, NULL);
        const margin_matrix q = margin_dense_f64(&cases[n].q, 1, 1, 1);
        double p[2];
        int64_t label;
        assert_int_equal(margin_probabilities(model, &q, p, NULL), MARGIN_OK);
        assert_int_equal(margin_predict(model, &q, &label, NULL), MARGIN_OK);
        if (isnan(cases[n].share) ? !isnan(p[1]) : !(fabs(p[1] - cases[n].share) <= 1e-12))
            fail_msg("%s at %g: share %.17g", cases[n].spec, cases[n].q, p[1]);
        if (label != cases[n].label) fail_msg("%s: class %d", cases[n].spec, (int)label);
        margin_model_free(model);
    }
    margin_context_free(context);
}

static double value_at(margin_context *context, const char *spec, const margin_data *data,
                       double q) {
    double value;
    const margin_matrix at = margin_dense_f64(&q, 1, 1, 1);
    margin_model *model = fit_text(context, spec, data, NULL);
    assert_int_equal(margin_predict_values(model, &at, &value, NULL), MARGIN_OK);
    margin_model_free(model);
    return value;
}

/* Weights are copies: also in the mean of all rows, and where they are tiny. */
static void test_values_and_weights(void **state) {
    static const double y[5] = {0, 10, 20, 30, 40}, w[5] = {2, 1, 0.5, 0, 4};
    static const double tiny[5] = {2e-9, 1e-9, 5e-10, 0, 4e-9};
    margin_context *context = support_context(NULL, 1);
    margin_data data = points_data(line, 5, 1, y);
    (void)state;
    assert_close(value_at(context, "knn(radius=1, task=regress)", &data, 1), 10, 1e-12);
    assert_close(value_at(context, "knn(radius=2, task=regress, weights=distance)", &data, 0.5),
                 10.0 * (1 / 0.5 + 2 / 1.5) / (2 / 0.5 + 1 / 1.5), 1e-12);
    assert_close(value_at(context, "knn(radius=1, task=regress, empty=prior)", &data, 6), 20,
                 1e-12);
    assert_true(isnan(value_at(context, "knn(radius=1, task=regress, empty=none)", &data, 6)));
    for (int n = 0; n < 2; n++) {
        data.weights = margin_values_f64(n ? tiny : w, 5);
        assert_close(value_at(context, "knn(radius=1, task=regress)", &data, 1), 20 / 3.5, 1e-12);
        assert_close(value_at(context, "knn(radius=1, task=regress)", &data, 3), 20, 1e-12);
        assert_close(value_at(context, "knn(radius=1, task=regress)", &data, 4.5), 20, 1e-12);
        assert_close(value_at(context, "knn(radius=1, task=regress, empty=prior)", &data, 6),
                     180 / 7.5, 1e-12);
    }
    margin_context_free(context);
}

/* ---- Another program ------------------------------------------------------------------------- */

static const double queries[16] = {5.9,   3.0,   4.9,   1.75,  6.1, 2.8, 4.7,  1.6,
                                   5.013, 3.331, 1.517, 0.253, 6.3, 2.7, 4.95, 1.77};

static void test_iris(void **state) {
    static const struct {
        const char *spec;
        double second[4], right;
    } classes[] = {
        {"knn(radius=0.6)", {0.47058823529411764, 0.625, 0, 0.3125}, 148},
        {"knn(radius=1.5, weights=distance)",
         {0.4821257807056421, 0.6045655713736829, 0, 0.39914569284587287},
         150},
        {"knn(radius=0.8, p=1, weights=distance)",
         {0.18170266836086374, 0.6267893660531696, 0, 0.1158705416847289},
         150},
        {"knn(radius=0.5, p=inf)", {0.5, 0.6176470588235294, 0, 0.5}, 145},
    };
    static const struct {
        const char *spec;
        double value[4];
    } values[] = {
        {"knn(radius=0.5)", {1.7, 1.6277777777777775, 0.2441176470588235, 1.669230769230769}},
        {"knn(radius=0.7, weights=distance)",
         {1.7264882379511175, 1.2, 0.25195711208076177, 1.709036190240392}},
        {"knn(radius=0.9, p=3)",
         {1.650877192982456, 1.5774193548387099, 0.24347826086956517, 1.7380952380952384}},
    };
    margin_context *context = support_context(NULL, 2);
    margin_table *table = NULL;
    margin_error error = {0};
    char path[SUPPORT_PATH];
    double three[450], fourth[150], q[12], found[12];
    (void)state;
    if (margin_table_read(context, support_source(path, "examples/data/iris.csv"), NULL, &table,
                          &error) < 0)
        fail_msg("%s", error.text);
    const margin_data data = margin_table_data(table);
    const margin_matrix at = margin_dense_f64(queries, 4, 4, 4);
    for (int n = 0; n < 4; n++) {
        margin_report report = {0};
        margin_model *model = fit_text(context, classes[n].spec, &data, &report);
        assert_close(report.train_accuracy, classes[n].right / 150, 1e-12);
        assert_int_equal(margin_probabilities(model, &at, found, NULL), MARGIN_OK);
        for (int i = 0; i < 4; i++)
            assert_close(found[3 * i + 1], classes[n].second[i], 1e-12);
        margin_model_free(model);
    }
    for (int i = 0; i < 150; i++) {
        memcpy(three + 3 * i, (const double *)data.x.values + i * data.x.stride, 3 * sizeof *three);
        fourth[i] = ((const double *)data.x.values)[i * data.x.stride + 3];
    }
    for (int i = 0; i < 4; i++)
        memcpy(q + 3 * i, queries + 4 * i, 3 * sizeof *q);
    const margin_data numbers = points_data(three, 150, 3, fourth);
    const margin_matrix there = margin_dense_f64(q, 4, 3, 3);
    for (int n = 0; n < 3; n++) {
        margin_model *model = fit_text(context, values[n].spec, &numbers, NULL);
        assert_int_equal(margin_predict_values(model, &there, found, NULL), MARGIN_OK);
        for (int i = 0; i < 4; i++)
            assert_close(found[i], values[n].value[i], 1e-12);
        margin_model_free(model);
    }
    margin_table_free(table);
    margin_context_free(context);
}

/* ---- Plain loops, methods, threads ----------------------------------------------------------- */

enum { ROWS = 1300, QUERIES = 80, MOST = 6 };

typedef struct cloud {
    double *x, *y, *q, *w;
    int columns;
} cloud;

/* Multiples of 1/64, so that distances from a radius of such a number are exact and equal ones
 * occur. */
static cloud make_cloud(int columns) {
    cloud c = {malloc(sizeof(double) * ROWS * MOST), malloc(sizeof(double) * ROWS),
               malloc(sizeof(double) * QUERIES * MOST), malloc(sizeof(double) * ROWS), columns};
    uint64_t state = 12345;
    for (int i = 0; i < ROWS * columns + QUERIES * columns; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const double value = (double)(state >> 58) / 64;
        if (i < ROWS * columns)
            c.x[i] = value;
        else
            c.q[i - ROWS * columns] = 1.2 * value;
    }
    for (int i = 0; i < ROWS; i++) {
        c.y[i] = floor(3 * c.x[i * columns]) + 0.25 * c.x[i * columns + columns - 1];
        c.w[i] = 1 + i % 3;
    }
    return c;
}

static void free_cloud(cloud *c) {
    free(c->x);
    free(c->y);
    free(c->q);
    free(c->w);
}

static double plain_distance(const cloud *c, int row, const double *q) {
    double square = 0;
    for (int j = 0; j < c->columns; j++)
        square += (c->x[row * c->columns + j] - q[j]) * (c->x[row * c->columns + j] - q[j]);
    return sqrt(square);
}

static double plain_value(const cloud *c, const double *q, double radius, bool by_distance) {
    double sum = 0, shares = 0, least = (double)INFINITY, alone = 0;
    for (int i = 0; i < ROWS; i++) {
        const double distance = plain_distance(c, i, q);
        if (distance < least) alone = c->y[i];
        least = fmin(least, distance);
    }
    for (int i = 0; i < ROWS; i++) {
        const double distance = plain_distance(c, i, q);
        if (distance > radius) continue;
        const double near = least == 0 ? distance == 0 : 1 / distance;
        sum += c->w[i] * (by_distance ? near : 1) * c->y[i];
        shares += c->w[i] * (by_distance ? near : 1);
    }
    return shares > 0 ? sum / shares : alone;
}

/* Few and many columns, small balls and such as hold more than a list on the stack, tree, scan and
 * tiles, one and many at a time: the same bits. */
static void test_plain_loops(void **state) {
    SUPPORT_LARGE_CASE();
    static const double radii[] = {0.05, 0.25, 0.6, 3};
    static const char *const methods[] = {"tree", "brute"};
    margin_context *context = support_context(NULL, 3), *single = support_context(NULL, 1);
    (void)state;
    for (int columns = 2; columns <= MOST; columns += 4) {
        cloud c = make_cloud(columns);
        margin_data data = points_data(c.x, ROWS, columns, c.y);
        data.weights = margin_values_f64(c.w, ROWS);
        const margin_matrix q = margin_dense_f64(c.q, QUERIES, columns, columns);
        for (int n = 0; n < 8; n++) {
            double first[QUERIES], values[QUERIES];
            for (int method = 0; method < 2; method++) {
                char spec[90];
                snprintf(spec, sizeof spec, "knn(radius=%g, weights=%s, method=%s)", radii[n / 2],
                         n % 2 ? "distance" : "uniform", methods[method]);
                margin_model *model = fit_text(context, spec, &data, NULL);
                assert_int_equal(margin_predict_values(model, &q, values, NULL), MARGIN_OK);
                if (method == 0) memcpy(first, values, sizeof first);
                assert_memory_equal(first, values, sizeof first);
                for (int t = 0; t < 2; t++) {
                    assert_int_equal(margin_predict_parallel(t ? single : context, model, &q,
                                                             MARGIN_OUTPUT_VALUES, values, NULL),
                                     MARGIN_OK);
                    assert_memory_equal(first, values, sizeof first);
                }
                margin_model_free(model);
            }
            for (int i = 0; i < QUERIES; i++) {
                const double expected =
                    plain_value(&c, c.q + i * columns, radii[n / 2], n % 2 != 0);
                if (!(fabs(first[i] - expected) <= 1e-11 * fabs(expected)))
                    fail_msg("%d columns, case %d, query %d: %.17g, expected %.17g", columns, n, i,
                             first[i], expected);
            }
        }
        free_cloud(&c);
    }
    margin_context_free(context);
    margin_context_free(single);
}

/* ---- Files, proof, allocations --------------------------------------------------------------- */

static void test_files_and_proof(void **state) {
    static const char *const specs[] = {
        "knn(radius=0.5)", "standardize | knn(radius=0.25, empty=prior, weights=distance)",
        "knn(radius=0.125, empty=none, method=brute)", "knn(radius=inf, p=1)"};
    char dir[SUPPORT_PATH], path[SUPPORT_PATH];
    margin_context *context = support_context(NULL, 2);
    sample *s = sample_make(400, 3, 3, 0.1, 9);
    margin_data data = sample_data(s, DENSE_F64);
    (void)state;
    support_temp_dir(dir);
    snprintf(path, sizeof path, "%.*s/m.margin", SUPPORT_PATH - 20, dir);
    for (int n = 0; n < 4; n++) {
        margin_model *copy = NULL;
        margin_report report = {0}, found = {0};
        margin_error error = {0};
        margin_model *model = fit_text(context, specs[n], &data, &report);
        assert_true(isnan(report.gap));
        if (margin_model_save(model, path, &error) < 0 ||
            margin_model_load(context, path, &copy, &error) < 0)
            fail_msg("%s: %s", specs[n], error.text);
        assert_same_model(model, copy);
        if (margin_verify(context, copy, &data, &found, &error) < 0) fail_msg("%s", error.text);
        assert_true(margin_report_item_value(&found, "differences") == 0);
        assert_close(found.objective, report.objective, 1e-12);
        margin_model_free(copy);
        if (n == 3) { /* all rows vote, one of them for another class */
            s->labels[0] = s->labels[0] == 0;
            assert_true(margin_verify(context, model, &data, &found, &error) != MARGIN_OK);
            assert_true(margin_report_item_value(&found, "differences") > 0);
        }
        margin_model_free(model);
    }
    support_temp_remove(dir);
    sample_free(s);
    margin_context_free(context);
}

static void test_allocations(void **state) {
    sample *s = sample_make(200, 3, 3, 0.1, 9);
    fit_attempt attempt = {"knn(radius=0.5, empty=prior)", sample_data(s, DENSE_F64)};
    (void)state;
    assert_true(support_fail_each_allocation(1, attempt_fit, &attempt) > 20);
    sample_free(s);
}

/* ---- Extremes -------------------------------------------------------------------------------- */

/* One row; all rows equal; coordinates of 1e-300 and of 1e300: by k and by radius. */
static void test_extremes(void **state) {
    static const double one[2] = {3, 4}, y[150] = {1, 0, 0, 1, 1, 0, 1};
    static const double small[8] = {1e-300, 0, 2e-300, 0, 0, 3e-300, 4e-300, 4e-300};
    static const double large[8] = {1e300, 0, -1e300, 0, 0, 1e300, -1e300, -1e300};
    margin_context *context = support_context(NULL, 2);
    double equal[300], value;
    (void)state;
    static const char *const methods[] = {"auto", "tree", "brute"};
    for (int m = 0; m < 3; m++) {
        char spec[90];
        const margin_matrix q = margin_dense_f64(one, 1, 2, 2),
                            at0 = margin_dense_f64(small, 1, 2, 2);
        margin_data data = points_data(one, 1, 2, y);
        for (int n = 0; n < 3; n++) {
            static const char *const way[] = {"k=1", "radius=0", "radius=1e-300"};
            snprintf(spec, sizeof spec, "knn(%s, method=%s, task=regress)", way[n], methods[m]);
            margin_model *model = fit_text(context, spec, &data, NULL);
            assert_int_equal(margin_predict_values(model, n < 2 ? &q : &at0, &value, NULL),
                             MARGIN_OK);
            assert_true(value == 1);
            margin_model_free(model);
        }
        for (int i = 0; i < 300; i++)
            equal[i] = 7.3;
        data = points_data(equal, 150, 2, y);
        for (int n = 0; n < 2; n++) {
            const margin_matrix there = margin_dense_f64(equal, 1, 2, 2);
            snprintf(spec, sizeof spec, "knn(%s, method=%s, task=regress)", n ? "radius=0" : "k=5",
                     methods[m]);
            margin_model *model = fit_text(context, spec, &data, NULL);
            assert_int_equal(margin_predict_values(model, n ? &there : &q, &value, NULL),
                             MARGIN_OK);
            assert_close(value, n ? 4.0 / 150 : 0.6, 1e-15); /* the first five rows; all */
            margin_model_free(model);
        }
        for (int size = 0; size < 2; size++) {
            const double *x = size ? large : small;
            static const struct {
                const char *way;
                double value;
            } cases[2][3] = {{{"k=1", 1}, {"k=2", 0.5}, {"radius=1e-300", 0.5}},
                             {{"k=1", 1}, {"k=2", 0.5}, {"radius=1.5e300", 0.5}}};
            data = points_data(x, 4, 2, y);
            const margin_matrix there = margin_dense_f64(x, 1, 2, 2);
            for (int n = 0; n < 3; n++) {
                snprintf(spec, sizeof spec, "knn(%s, method=%s, task=regress)", cases[size][n].way,
                         methods[m]);
                margin_model *model = fit_text(context, spec, &data, NULL);
                assert_int_equal(margin_predict_values(model, &there, &value, NULL), MARGIN_OK);
                if (value != cases[size][n].value)
                    fail_msg("%s, size %d: %.17g", spec, size, value);
                margin_model_free(model);
            }
        }
    }
    margin_context_free(context);
}

/* Targets and weights whose sums are larger than any double, though their means are not. */
static void test_large_targets(void **state) {
    if (SUPPORT_SLOWER >= 30) return; /* valgrind calculates long double in double precision */
    static const double x[4] = {0, 1, 2, 3}, most = 1.7e308;
    static const double same[4] = {1.7e308, 1.7e308, 1.7e308, 1.7e308};
    static const double mixed[4] = {1.7e308, -1.7e308, 1.7e308, 1.6e308};
    static const double heavy[4] = {1e10, 1e10, 1e10, 1e10};
    static const char *const specs[] = {
        "knn(k=4, task=regress)", "knn(k=4, task=regress, weights=distance)",
        "knn(radius=9, task=regress)", "knn(radius=9, task=regress, weights=distance)",
        "knn(radius=0.1, task=regress, empty=prior)"};
    static const double means[] = {0.825, 0.872, 0.825, 0.872, 0.825}; /* x 1e308 */
    margin_context *context = support_context(NULL, 2);
    const double at = -1;
    const margin_matrix q = margin_dense_f64(&at, 1, 1, 1);
    (void)state;
    for (int n = 0; n < 10; n++) {
        const char *spec = specs[n / 2];
        const bool weighted = n % 2;
        margin_data data = points_data(x, 4, 1, same);
        margin_report found = {0};
        double value;
        if (weighted) data.weights = margin_values_f64(heavy, 4);
        assert_true(value_at(context, spec, &data, at) == most);
        data.y = margin_values_f64(mixed, 4);
        margin_model *model = fit_text(context, spec, &data, NULL);
        assert_int_equal(margin_predict_values(model, &q, &value, NULL), MARGIN_OK);
        /* the nearest row weighs more than k */
        assert_close(value / 1e308, weighted && n < 4 ? 1.7 : means[n / 2], 1e-14);
        assert_int_equal(margin_verify(context, model, &data, &found, NULL), MARGIN_OK);
        assert_true(margin_report_item_value(&found, "differences") == 0);
        margin_model_free(model);
    }
    margin_context_free(context);
}

/* ---- Bad input ------------------------------------------------------------------------------- */

static void test_refused(void **state) {
    static const struct {
        const char *spec, *part;
    } wrong[] = {{"knn(radius=-1)", "radius"},
                 {"knn(radius=nan)", "radius"},
                 {"knn(radius=0.5, k=3)", "k and radius exclude each other"},
                 {"knn(empty=prior)", "give radius too"},
                 {"knn(radius=1, empty=mean)", "nearest"}};
    static const double y[5] = {0, 1, 1, 0, 1}, q[3] = {8, (double)NAN, 1};
    margin_context *context = support_context(NULL, 1);
    margin_data data = points_data(line, 5, 1, y);
    margin_error error = {0};
    int64_t labels[3];
    margin_metrics metrics = {.size = sizeof metrics};
    (void)state;
    for (int n = 0; n < 5; n++) {
        margin_spec *spec = NULL;
        margin_model *model = NULL;
        margin_status status = margin_spec_parse(context, wrong[n].spec, &spec, &error);
        if (status >= 0) status = margin_fit(context, spec, &data, &model, NULL, &error);
        assert_int_equal(status, MARGIN_ERROR_SPEC);
        assert_contains(error.text, wrong[n].part);
        assert_null(model);
        margin_spec_free(spec);
    }
    margin_model *model = fit_text(context, "knn(radius=1, empty=none)", &data, NULL);
    const margin_matrix at = margin_dense_f64(q, 3, 1, 1);
    assert_int_equal(margin_predict(model, &at, labels, NULL), MARGIN_OK);
    assert_int_equal(labels[0], -1);
    assert_int_equal(labels[1], -1);
    assert_int_equal(labels[2], 1);
    data.x = margin_dense_f64(q, 1, 1, 1);
    data.y.count = 1;
    assert_int_equal(margin_evaluate(context, model, &data, &metrics, &error), MARGIN_ERROR_DATA);
    assert_contains(error.text, "no neighbour within the radius");
    margin_model_free(model);
    margin_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_votes),
        cmocka_unit_test(test_values_and_weights),
        cmocka_unit_test(test_iris),
        cmocka_unit_test(test_plain_loops),
        cmocka_unit_test(test_large_targets),
        cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_files_and_proof),
        cmocka_unit_test(test_allocations),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
