/* Small tables that once made a proof false, or an honest model refused: powers of large numbers,
 * columns far from 0, rows on the border of a margin, targets met exactly. What one fit reaches no
 * other may claim to be out of reach. */
#include "model_cases.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A table of tests/fixtures/hard; `weights`: its column of weights, or NULL. */
static margin_table *read_hard(margin_context *context, const char *name, const char *weights) {
    const margin_read_options options = {
        .size = sizeof options, .target = "y", .weights = weights, .categorical = NULL};
    char path[SUPPORT_PATH], file[100];
    margin_table *table = NULL;
    margin_error error = {0};
    snprintf(file, sizeof file, "tests/fixtures/hard/%s", name);
    if (margin_table_read(context, support_source(path, file), &options, &table, &error) < 0)
        fail_msg("%s", error.text);
    return table;
}

static margin_context *seeded(uint64_t seed) {
    const margin_context_options options = {.size = sizeof options, .threads = 2, .seed = seed};
    margin_context *context = NULL;
    assert_int_equal(margin_context_create(&options, &context, NULL), MARGIN_OK);
    return context;
}

typedef struct fitted {
    margin_report report, found; /* of the fit, of its verification, which holds */
} fitted;

static fitted fit_verified(margin_context *context, const char *spec, const margin_data *data) {
    fitted f = {0};
    margin_error error = {0};
    margin_model *model = fit_text(context, spec, data, &f.report);
    if (margin_verify(context, model, data, &f.found, &error) != MARGIN_OK)
        fail_msg("%s: %s %s", spec, error.text, f.found.reason);
    margin_model_free(model);
    return f;
}

/* No gap is below the distance to an objective that somebody has reached. */
static void assert_bound(const char *what, double objective, double gap, double reached,
                         double rounding) {
    const double distance = objective - reached;
    if (!(distance <= gap * fmax(1, fabs(objective)) + rounding))
        fail_msg("%s: objective %.17g with a gap of %g, and %.17g was reached", what, objective,
                 gap, reached);
}

static void test_powers(void **state) {
    (void)state;
    static const struct {
        const char *table, *spec, *other;
    } cases[] = {
        {"powers.csv", "poly(degree=6) | ridge", "poly(degree=6) | ridge(solver=qr)"},
        {"powers_of_one.csv", "poly(degree=10, columns=\"5\") | ridge",
         "poly(degree=10, columns=\"5\") | ridge(solver=qr)"},
    };
    margin_context *context = seeded(0);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        margin_table *table = read_hard(context, cases[k].table, NULL);
        const margin_data data = margin_table_data(table);
        const fitted a = fit_verified(context, cases[k].spec, &data),
                     b = fit_verified(context, cases[k].other, &data);
        const double least = fmin(a.report.objective, b.report.objective);
        margin_path_result path = {0};
        margin_error error = {0};
        margin_spec *spec = parse_text(context, cases[k].spec);
        assert_bound(cases[k].spec, a.report.objective, a.report.gap, least, 1e-12);
        assert_bound(cases[k].other, b.report.objective, b.report.gap, least, 1e-12);
        assert_bound(cases[k].spec, a.found.objective, a.found.gap, least, 1e-12);
        if (margin_path(context, spec, &data, &path, &error) < 0) fail_msg("%s", error.text);
        assert_bound("path", margin_path_point_at(&path, 0)->objective,
                     margin_path_point_at(&path, 0)->gap, least, 1e-12);
        margin_path_free(&path);
        margin_spec_free(spec);
        margin_table_free(table);
    }
    margin_context_free(context);
}

/* The least of softmax without penalty, as Newton's method reaches it. */
static void test_no_penalty(void **state) {
    (void)state;
    const double reached = 4.158884;
    static const int steps[] = {5, 50, 500};
    margin_context *context = seeded(5000000);
    margin_table *table = read_hard(context, "no_penalty.csv", NULL);
    const margin_data data = margin_table_data(table);
    const fitted best = fit_verified(context, "poly(interactions=no) | softmax(alpha=0)", &data);
    assert_true(best.report.objective < reached);
    for (int k = 0; k < 3; k++) {
        char spec[100];
        snprintf(spec, sizeof spec,
                 "poly(interactions=no) | softmax(alpha=0, solver=minibatch, max_iter=%d)",
                 steps[k]);
        const fitted f = fit_verified(context, spec, &data);
        assert_bound(spec, f.report.objective, f.report.gap, reached, 1e-9);
        assert_bound(spec, f.found.objective, f.found.gap, reached, 1e-9);
    }
    margin_table_free(table);
    margin_context_free(context);
}

/* Functions so wide that their columns are almost equal. */
static void test_wide_functions(void **state) {
    (void)state;
    margin_context *context = seeded(5002753);
    margin_table *table = read_hard(context, "wide_functions.csv", NULL);
    const margin_data data = margin_table_data(table);
    const fitted a = fit_verified(context, "rbf(sigma=10000) | exponential(alpha=0, solver=lbfgs)",
                                  &data),
                 b = fit_verified(
                     context, "rbf(sigma=10000) | exponential(alpha=0, solver=lbfgs, tol=1e-10)",
                     &data);
    const double reached = fmin(69.3829, b.report.objective);
    assert_bound("rough", a.report.objective, a.report.gap, reached, 1e-9);
    assert_bound("rough", a.found.objective, a.found.gap, reached, 1e-9);
    assert_true(a.report.status != MARGIN_OK || a.report.gap <= a.report.tolerance);
    margin_table_free(table);
    margin_context_free(context);
}

static void test_offset(void **state) {
    (void)state;
    margin_context *context = seeded(0);
    margin_table *table = read_hard(context, "offset.csv", "wt");
    const margin_data data = margin_table_data(table);
    const fitted rough = fit_verified(context, "svm(C=10000, tol=0.1, multiclass=argmax)", &data),
                 fine = fit_verified(context, "svm(C=10000, tol=1e-5, multiclass=argmax)", &data);
    assert_bound("rough", rough.report.objective, rough.report.gap, fine.report.objective, 1e-8);
    assert_bound("rough", rough.found.objective, rough.found.gap, fine.report.objective, 1e-8);
    margin_table_free(table);
    margin_context_free(context);
}

/* The objective is the sum of the parts, and so is the distance to its least. */
static void test_sums_over_classes(void **state) {
    (void)state;
    static const char *const specs[] = {
        "logistic(C=0.01, tol=0.1, solver=lbfgs)", "logistic(C=0.001, tol=0.3, solver=gd)",
        "svm(C=0.01, tol=0.1)", "svm(loss=squared-hinge, C=0.001, tol=0.2)"};
    static const char *const fine[] = {"logistic(C=0.01, tol=1e-9)", "logistic(C=0.001, tol=1e-9)",
                                       "svm(C=0.01, tol=1e-7)",
                                       "svm(loss=squared-hinge, C=0.001, tol=1e-9)"};
    margin_context *context = seeded(0);
    for (uint64_t seed = 20; seed < 26; seed++)
        for (int k = 0; k < 4; k++) {
            sample *s = sample_make(60, 4, 5, 0.1, seed);
            const margin_data data = sample_data(s, DENSE_F64);
            const fitted a = fit_verified(context, specs[k], &data),
                         b = fit_verified(context, fine[k], &data);
            assert_bound(specs[k], a.report.objective, a.report.gap, b.report.objective, 1e-11);
            assert_bound(specs[k], a.found.objective, a.found.gap, b.report.objective, 1e-11);
            sample_free(s);
        }
    margin_context_free(context);
}

/* Honest models, some of them stopped: each verifies. */
static void test_verified(void **state) {
    (void)state;
    static const struct {
        const char *table, *weights, *spec;
        uint64_t seed;
    } cases[] = {
        {"one_column.csv", NULL, "softmax(alpha=1e-6)", 0},
        {"borderline.csv", "w", "normalize(norm=l1) | svm(lambda=0.1, max_iter=198)", 9023365},
        {"two_huge_rows.csv", NULL, "least-squares(intercept=no)", 0},
        {"two_huge_rows.csv", NULL, "least-squares", 0},
        {"large_target.csv", "w", "least-squares(intercept=no)", 0},
        {"large_target.csv", "w", "least-squares", 0},
        {"large_target.csv", "w", "ridge", 0},
        {"large_target.csv", "w", "ridge(C=1e5, solver=gd, max_iter=7)", 0},
        {"powers.csv", NULL, "ridge(C=1e5, solver=gd, max_iter=3)", 0},
        {"no_penalty.csv", NULL, "ridge(C=1e5, solver=gd, max_iter=50)", 0},
        {"no_penalty.csv", NULL, "lasso(lambda=0, solver=gd, max_iter=46)", 0},
        {"offset_copies.csv", "w", "svm", 0},
        {"offset_copies.csv", "w", "svm(class_weight=balanced)", 0},
        {"parts_of_rows.csv", "w", "knn(k=4)", 0}, /* the last neighbour counts in part */
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        margin_context *context = seeded(cases[k].seed);
        margin_table *table = read_hard(context, cases[k].table, cases[k].weights);
        const margin_data data = margin_table_data(table);
        fit_verified(context, cases[k].spec, &data);
        margin_table_free(table);
        margin_context_free(context);
    }
    margin_context *context = seeded(9023365);
    margin_table *table = read_hard(context, "borderline.csv", "w");
    const margin_data data = margin_table_data(table);
    fit_verified(context, "normalize(norm=l1) | svm(lambda=0.1, max_iter=198, multiclass=argmax)",
                 &data);
    margin_table_free(table);
    margin_context_free(context);
}

/* A sparse table with every value stored. */
enum { FULL_ROWS = 120, FULL_COLUMNS = 60 };
typedef struct full_rows {
    double x[FULL_ROWS * FULL_COLUMNS], y[FULL_ROWS], w[FULL_ROWS];
    int64_t starts[FULL_ROWS + 1];
    int32_t index[FULL_ROWS * FULL_COLUMNS];
} full_rows;

static margin_data full_data(full_rows *t, int64_t rows, int64_t columns) {
    for (int64_t i = 0; i <= rows; i++)
        t->starts[i] = i * columns;
    for (int64_t k = 0; k < rows * columns; k++)
        t->index[k] = (int32_t)(k % columns);
    return (margin_data){.x = margin_csr_f64(t->x, t->index, t->starts, rows, columns),
                         .y = margin_values_f64(t->y, rows)};
}

/* Scores of sparse rows are not centred: rounding decides on which side of the hinge's corner they
 * are, and with it the objective. */
static void test_corner(void **state) {
    (void)state;
    enum { ROWS = 10, COLUMNS = 14 };
    static full_rows t;
    margin_context *context = seeded(0);
    uint64_t random = 2;
    for (int k = 0; k < 100; k++) {
        for (int j = 0; j < ROWS * COLUMNS; j++)
            t.x[j] = (j % COLUMNS % 3 == 0 ? 1e9 : 0) + support_normal(&random);
        for (int i = 0; i < ROWS; i++)
            t.y[i] = i < 2 ? i : t.x[i * COLUMNS + 1] + t.x[i * COLUMNS + 2] > 0;
        const margin_data data = full_data(&t, ROWS, COLUMNS);
        fit_verified(context, "svm(lambda=1e-8)", &data);
    }
    margin_context_free(context);
}

/* One row in hundreds has a value, a few another class: constants and means leave more rounding
 * than the numbers that are told. */
static void test_rare(void **state) {
    (void)state;
    static const struct {
        const char *spec;
        int64_t rows;
        int every; /* rows of the rare class, or target 1 */
    } cases[] = {{"lasso(alpha=0.01)", 735, 735},
                 {"lasso(alpha=1)", 2957, 2957},
                 {"standardize | lasso(alpha=1e-6)", 735, 735},
                 {"elastic-net(alpha=0.001)", 735, 735},
                 {"logistic(l1_ratio=1)", 735, 245},
                 {"minmax | softmax", 2695, 48},
                 {"softmax", 12000, 60}};
    double x[12000], y[12000];
    margin_context *context = seeded(0);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        for (int64_t i = 0; i < cases[k].rows; i++) {
            x[i] = i == 100;
            y[i] = i % cases[k].every == 0;
        }
        const margin_data data = {.x = margin_dense_f64(x, cases[k].rows, 1, 1),
                                  .y = margin_values_f64(y, cases[k].rows)};
        fit_verified(context, cases[k].spec, &data);
    }
    margin_context_free(context);
}

/* An objective below tol is a gap below tol, whatever the slopes are. */
static void test_enough_smooth(void **state) {
    (void)state;
    static const float x[] = {-679046336,  -679046336,  -2172227584, 0, 1.30955195F,
                              494336864,   494336864,   1242932096,  0, 0.25020671F,
                              1155755392,  1155755392,  -10595427,   0, -1.05010176F,
                              -1460088064, -1460088064, -377649472,  0, 0.34648266F,
                              -621298112,  -621298112,  -458843136,  0, -0.37676477F,
                              -163818720,  -163818720,  1063024832,  0, -1.51941466F,
                              -589931456,  -589931456,  738947008,   0, -1.60842526F};
    static const double y[] = {0, 1, 1, 0, 0, 0, 0};
    static const int64_t selection[] = {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6};
    static const char *const specs[] = {"poly | softmax(C=100)", "poly | exponential(C=100)",
                                        "poly | logistic(C=100)"};
    const margin_data data = {.x = margin_dense_f32(x, 7, 5, 5),
                              .y = margin_values_f64(y, 7),
                              .selection = selection,
                              .selected = 14};
    margin_context *context = seeded(0);
    for (int k = 0; k < 3; k++) {
        const fitted f = fit_verified(context, specs[k], &data);
        assert_int_equal(f.report.status, MARGIN_OK);
        assert_true(f.report.iterations < 50);
    }
    margin_context_free(context);
}

/* Where P is below 1 a lasso is solved relative to it, but not for as long as it takes. */
static void test_enough_l1(void **state) {
    (void)state;
    static full_rows t;
    margin_context *context = seeded(0);
    uint64_t random = 3;
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < FULL_ROWS; i++) {
            double *x = t.x + i * FULL_COLUMNS;
            const bool empty = support_uniform(&random) < 0.25;
            for (int j = 0; j < FULL_COLUMNS; j++) {
                const double z = support_normal(&random);
                const double value[] = {1e9 * z,          1e9 + z, z, i == 0 ? 1e6 : z > 0,
                                        z > -0.7 ? 0 : z, 1e-9 * z};
                x[j] = empty ? 0.0 : value[j % 6];
            }
            t.y[i] = 1e-9 * support_normal(&random);
            t.w[i] = 1e9;
        }
        margin_data data = full_data(&t, FULL_ROWS, FULL_COLUMNS);
        data.weights = margin_values_f64(t.w, FULL_ROWS);
        const fitted f = fit_verified(context, "elastic-net(max_iter=1000)", &data);
        assert_int_equal(f.report.status, MARGIN_OK);
        assert_true(f.report.iterations < 100);
    }
    margin_table *table = read_hard(context, "slow_lasso.csv", "w");
    const margin_data data = margin_table_data(table);
    const fitted f = fit_verified(context, "poly | lasso(lambda=0.1, max_iter=200)", &data);
    assert_int_equal(f.report.status, MARGIN_STOPPED_STALLED); /* millions of steps are left */
    margin_table_free(table);
    margin_context_free(context);
}

/* A word about the target, where there is none. */
static void test_no_target(void **state) {
    (void)state;
    static const char *const specs[] = {
        "standardize(target=yes) | kmeans(k=2)", "minmax(target=yes) | kmeans(k=2)",
        "standardize(target=yes) | ridge", "minmax(target=yes) | ridge"};
    static const double x[] = {1, 2, 2, 3, 3, 5, 9, 9};
    const margin_data data = {.x = margin_dense_f64(x, 4, 2, 2)};
    margin_context *context = seeded(0);
    for (int k = 0; k < 4; k++) {
        margin_error error = {0};
        margin_model *model = NULL;
        margin_spec *spec = parse_text(context, specs[k]);
        const margin_status status = margin_fit(context, spec, &data, &model, NULL, &error);
        assert_int_equal(status, MARGIN_ERROR_DATA);
        assert_contains(error.text, "target");
        margin_spec_free(spec);
    }
    margin_context_free(context);
}

/* Values at the end of the numbers: a fault of the data is said to be one, of its row or column. */
static void test_huge_values(void **state) {
    (void)state;
    static const double x[] = {1.7e308, 1,   1.6e308,  2, -1.7e308, 3,
                               1.6e308, NAN, -1.5e308, 4, 1.7e308,  5};
    static const double y[] = {1, 2, 4, 3, 9, 1};
    const margin_data gaps = {.x = margin_dense_f64(x, 6, 2, 2), .y = margin_values_f64(y, 6)};
    const margin_data full = {.x = margin_dense_f64(x, 3, 2, 2), .y = margin_values_f64(y, 3)};
    static const char *const before[] = {"", "poly(degree=3) | ", "impute | "};
    margin_context *context = seeded(0);
    for (int k = 0; k < margin_component_count(); k++)
        for (int b = 0; b < 3; b++) {
            const margin_component *stage = margin_component_at(k);
            margin_error error = {0};
            margin_model *model = NULL;
            char text[100];
            if (stage->kind != MARGIN_STAGE) continue;
            snprintf(text, sizeof text, "%s%s | ridge", before[b], stage->name);
            margin_spec *spec = parse_text(context, text);
            const margin_status status = margin_fit(
                context, spec, b == 2 || strcmp(stage->name, "impute") == 0 ? &gaps : &full, &model,
                NULL, &error);
            if (status < 0 && status != MARGIN_ERROR_DATA) fail_msg("%s: %s", text, error.text);
            margin_model_free(model);
            margin_spec_free(spec);
        }
    margin_context_free(context);
}

/* Squares that vanish are outside the domain, and said so. */
static void test_tiny_columns(void **state) {
    (void)state;
    double x[24], y[12];
    margin_context *context = seeded(0);
    for (int i = 0; i < 12; i++) {
        x[2 * i] = sin(i);
        x[2 * i + 1] = 1e-165 * cos(3 * i);
        y[i] = x[2 * i] + 2e165 * x[2 * i + 1];
    }
    const margin_data data = {.x = margin_dense_f64(x, 12, 2, 2), .y = margin_values_f64(y, 12)};
    static const char *const specs[] = {"least-squares",
                                        "least-squares(solver=qr)",
                                        "ridge",
                                        "least-squares(solver=cg, intercept=no)",
                                        "minmax | least-squares(solver=qr)",
                                        "minmax | ridge(solver=qr)"};
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++)
        fit_refused(context, specs[k], &data, MARGIN_ERROR_DATA, "column x2 are below 1e-130");
    for (int i = 0; i < 12; i++)
        x[2 * i + 1] = 1e160 * cos(3 * i);
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++)
        fit_refused(context, specs[k], &data, MARGIN_ERROR_DATA, "squares of column x2 overflow");
    margin_context_free(context);
}

/* Weights of least norm lose digits that the gap needs. The least objective is of 128 bits. */
static void test_least_norm(void **state) {
    (void)state;
    static const char *const specs[] = {"least-squares", "least-squares(solver=normal)",
                                        "least-squares(solver=qr)"};
    const double least = 0.0006150438244265456;
    margin_context *context = seeded(0);
    margin_table *table = read_hard(context, "heavy_rows.csv", "wt");
    const margin_data data = margin_table_data(table);
    for (int k = 0; k < 3; k++) {
        const fitted f = fit_verified(context, specs[k], &data);
        assert_bound(specs[k], f.report.objective, f.report.gap, least, 1e-15);
    }
    margin_table_free(table);
    margin_context_free(context);
}

/* Three objectives that are numbers, and a sum that is none: no proof. */
static void test_sum_overflows(void **state) {
    (void)state;
    double x[] = {1, 2, 4}, y[9];
    for (int i = 0; i < 9; i++)
        y[i] = (i % 2 ? 1 : -1) * 7e153;
    const margin_data data = {
        .x = margin_dense_f64(x, 3, 1, 1), .y = margin_values_f64(y, 9), .targets = 3};
    margin_context *context = seeded(0);
    margin_report report = {0};
    margin_model_free(fit_text(context, "ridge(intercept=no)", &data, &report));
    assert_true(isinf(report.objective));
    assert_int_equal(report.status, MARGIN_STOPPED_STALLED);
    assert_contains(report.reason, "beyond double precision");
    margin_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_powers),         cmocka_unit_test(test_no_penalty),
        cmocka_unit_test(test_offset),         cmocka_unit_test(test_sums_over_classes),
        cmocka_unit_test(test_verified),       cmocka_unit_test(test_no_target),
        cmocka_unit_test(test_wide_functions), cmocka_unit_test(test_huge_values),
        cmocka_unit_test(test_least_norm),     cmocka_unit_test(test_corner),
        cmocka_unit_test(test_enough_smooth),  cmocka_unit_test(test_enough_l1),
        cmocka_unit_test(test_tiny_columns),   cmocka_unit_test(test_sum_overflows),
        cmocka_unit_test(test_rare),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
