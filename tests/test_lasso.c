/* Lasso, elastic net and the l1_ratio of logistic regression as people call them: known answers,
 * values of another program, limits at which they are other learners, and bad input.
 *
 * The values were computed with scikit-learn 1.9.1 (Lasso, ElasticNet, LogisticRegression with
 * solver="saga"; alpha = lambda (2-r)/2, C = 2 C/(2-r), l1_ratio = r/(2-r)), then corrected on
 * their signs with Newton's method in NumPy. */
#include "model_cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/group_context.h"

/* A fit that converges to a proven optimum, which verification confirms. */
static margin_model *fit_proven(const char *spec, const margin_data *data, margin_report *report) {
    margin_report own = {0}, again = {0};
    margin_error error = {0};
    if (!report) report = &own;
    margin_model *model = fit_text(context, spec, data, report);
    if (report->status != MARGIN_OK) fail_msg("%s: %s", spec, report->reason);
    if (margin_verify(context, model, data, &again, &error) < 0) fail_msg("%s", error.text);
    assert_int_equal(again.status, MARGIN_OK);
    assert_close(again.objective, report->objective, 1e-12);
    assert_true(fabs(again.gap - report->gap) <= 1e-9);
    return model;
}

static int64_t nonzero(const margin_model *model, int64_t columns) {
    int64_t count = 0;
    for (int64_t j = 0; j < columns; j++)
        count += margin_model_weights(model, 0)[j] != 0;
    return count;
}

/* ---- Known answers --------------------------------------------------------------------------- */

enum { ROWS = 8, COLUMNS = 7 };
static const double target[ROWS] = {3, -1, 4, 1, -5, 9, 2, -6};

/* Columns of +1 and -1 that are orthogonal to each other and to the constant (Hadamard). */
static margin_data orthogonal(double x[ROWS * COLUMNS]) {
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) {
            int bits = i & (j + 1), odd = 0;
            for (; bits; bits >>= 1)
                odd ^= bits & 1;
            x[i * COLUMNS + j] = odd ? -1 : 1;
        }
    return (margin_data){.x = margin_dense_f64(x, ROWS, COLUMNS, COLUMNS),
                         .y = margin_values_f64(target, ROWS)};
}

/* sum (f-y)^2 + alpha ((1-r) |w|^2 + r |w|_1) comes apart by columns: w_j is x_j.y, moved towards 0
 * by alpha r / 2 and divided by 8 + alpha (1-r). */
static void test_soft_threshold(void **state) {
    const double alphas[] = {0.5, 3, 11, 1000}, ratios[] = {1, 0.5, 0.05};
    double x[ROWS * COLUMNS], mean = 0;
    (void)state;
    const margin_data data = orthogonal(x);
    for (int i = 0; i < ROWS; i++)
        mean += target[i] / ROWS;
    for (int a = 0; a < 4; a++)
        for (int r = 0; r < 3; r++) {
            char spec[100];
            snprintf(spec, sizeof spec, "elastic-net(alpha=%g, l1_ratio=%g, tol=1e-12)", alphas[a],
                     ratios[r]);
            margin_model *model = fit_proven(spec, &data, NULL);
            for (int j = 0; j < COLUMNS; j++) {
                double product = 0;
                for (int i = 0; i < ROWS; i++)
                    product += x[i * COLUMNS + j] * target[i];
                const double left = fmax(fabs(product) - alphas[a] * ratios[r] / 2, 0);
                const double w = copysign(left, product) / (8 + alphas[a] * (1 - ratios[r]));
                assert_close(margin_model_weights(model, 0)[j], w, 1e-13);
                if (left == 0) assert_true(margin_model_weights(model, 0)[j] == 0);
            }
            assert_close(margin_model_intercept(model, 0), mean, 1e-14);
            margin_model_free(model);
        }
}

/* The three spellings are one penalty, and lasso is the elastic net of ratio 1. */
static void test_spellings(void **state) {
    const char *const specs[] = {"lasso(alpha=3, tol=1e-12)", "lasso(lambda=0.375, tol=1e-12)",
                                 "lasso(C=0.16666666666666666, tol=1e-12)",
                                 "elastic-net(alpha=3, l1_ratio=1, tol=1e-12)"};
    const double objective[] = {1, 1.0 / 8, 1.0 / 6, 1};
    double x[ROWS * COLUMNS];
    margin_report first = {0}, report = {0};
    (void)state;
    const margin_data data = orthogonal(x);
    margin_model *model = fit_proven(specs[0], &data, &first);
    for (int k = 0; k < 4; k++) {
        margin_model *other = fit_proven(specs[k], &data, &report);
        for (int j = 0; j < COLUMNS; j++)
            assert_close(margin_model_weights(model, 0)[j], margin_model_weights(other, 0)[j],
                         1e-13);
        assert_close(report.objective, first.objective * objective[k], 1e-13);
        assert_close(margin_report_item_value(&report, "alpha"), 3, 1e-14);
        assert_close(margin_report_item_value(&report, "lambda"), 0.375, 1e-14);
        assert_close(margin_report_item_value(&report, "lambda_max"),
                     margin_report_item_value(&first, "lambda_max"), 1e-13);
        margin_model_free(other);
    }
    assert_string_equal(first.formula, "sum (f-y)^2 + alpha |w|_1");
    assert_true(margin_report_item_value(&first, "nonzero") == (double)nonzero(model, COLUMNS));
    margin_model_free(model);
}

/* From lambda_max on all weights are 0 exactly, and the intercept is the mean. */
static void test_all_zero(void **state) {
    double x[ROWS * COLUMNS], most = 0;
    margin_report report = {0};
    char spec[100];
    (void)state;
    const margin_data data = orthogonal(x);
    for (int j = 0; j < COLUMNS; j++) {
        double product = 0;
        for (int i = 0; i < ROWS; i++)
            product += x[i * COLUMNS + j] * target[i];
        most = fmax(most, 2 * fabs(product) / ROWS);
    }
    margin_model *model = fit_proven("lasso(lambda=1000)", &data, &report);
    assert_int_equal(nonzero(model, COLUMNS), 0);
    assert_close(margin_report_item_value(&report, "lambda_max"), most, 1e-14);
    margin_model_free(model);
    snprintf(spec, sizeof spec, "lasso(lambda=%.17g)", most);
    model = fit_proven(spec, &data, NULL);
    assert_int_equal(nonzero(model, COLUMNS), 0);
    assert_close(margin_model_intercept(model, 0), 7.0 / 8, 1e-14);
    margin_model_free(model);
    snprintf(spec, sizeof spec, "lasso(lambda=%.17g)", most * 0.9999);
    model = fit_proven(spec, &data, NULL);
    assert_int_equal(nonzero(model, COLUMNS), 1);
    margin_model_free(model);
}

/* ---- Products of the columns alone ----------------------------------------------------------- */

enum { LONG = 3000, SHORT = 9 };

/* The objective of a spec with this alpha and r = 1/2, in more digits. */
static long double objective_at(const margin_model *model, const double *x, const double *y,
                                const double *weight, long double alpha) {
    const double *w = margin_model_weights(model, 0);
    long double sum = 0, penalty = 0;
    for (int i = 0; i < LONG; i++) {
        long double r = y[i] - (long double)margin_model_intercept(model, 0);
        for (int j = 0; j < SHORT; j++)
            r -= (long double)w[j] * (long double)x[i * SHORT + j];
        sum += (long double)weight[i] * r * r;
    }
    for (int j = 0; j < SHORT; j++)
        penalty += ((long double)w[j] * (long double)w[j] + fabsl((long double)w[j])) / 2;
    return sum + alpha * penalty;
}

/* Columns `offset` from 0, noise of this size, the last column the sum of two up to a millionth. */
static void make_long(double offset, double noise, double *x, double *y, double *weight) {
    uint64_t seed = 5;
    for (int i = 0; i < LONG; i++) {
        double sum = 0;
        for (int j = 0; j < SHORT; j++) {
            double v = 0;
            for (int k = 0; k < 6; k++)
                v += (double)((seed = seed * 6364136223846793005U + 1442695040888963407U) >> 40) /
                     (double)(1 << 24);
            x[i * SHORT + j] = offset * (j + 1) + v;
            sum += j % 3 == 0 ? v * j : 0;
        }
        x[i * SHORT + SHORT - 1] = x[i * SHORT] - x[i * SHORT + 1] + 1e-6 * sum;
        y[i] = sum + noise * x[i * SHORT + 4] + noise * (i % 7 - 3);
        weight[i] = 1 + i % 4;
    }
}

/* A gap from products holds rounding, too: no better weights are farther below than it says. Where
 * products hide more than `tol` the rows are asked. */
static void test_products(void **state) {
    static const struct {
        double offset, noise;
        const char *more;
        bool by_products;
    } cases[] = {{0, 1, "", true},
                 {100, 1, "", true},
                 {0, 1e-6, "", false},
                 {1e6, 1, "", true},
                 {1e9, 1e-3, "", false},
                 {0, 1, ", tol=1e-13", false},
                 {0, 1, ", max_iter=9", false},
                 {0, 1, ", solver=working_set", false}};
    static double x[LONG * SHORT], y[LONG], weight[LONG];
    char spec[100];
    (void)state;
    for (int k = 0; k < (int)(sizeof cases / sizeof *cases); k++) {
        margin_report report = {0};
        make_long(cases[k].offset, cases[k].noise, x, y, weight);
        const margin_data data = {.x = margin_dense_f64(x, LONG, SHORT, SHORT),
                                  .y = margin_values_f64(y, LONG),
                                  .weights = margin_values_f64(weight, LONG)};
        margin_model *best =
            fit_text(context, "elastic-net(solver=working_set, tol=1e-12)", &data, &report);
        snprintf(spec, sizeof spec, "elastic-net(alpha=1%s)", cases[k].more);
        margin_model *model = fit_text(context, spec, &data, &report);
        assert_int_equal(strstr(report.reason, "products of the columns") != NULL,
                         cases[k].by_products);
        const long double had = objective_at(model, x, y, weight, 1),
                          least = objective_at(best, x, y, weight, 1);
        assert_int_equal(report.status, MARGIN_OK);
        if (cases[k].by_products) {
            assert_true((double)((had - least) / fmaxl(1, had)) <= report.gap);
            assert_close(report.objective, (double)had, 1e-10);
        }
        margin_model_free(model);
        margin_model_free(best);
    }
}

/* Beside a constant target of many rows lambda_max is what is left of its sums. */
static void test_constant_target(void **state) {
    enum { MANY = 400 };
    static double ones[2 * MANY], constant[MANY];
    (void)state;
    for (int i = 0; i < MANY; i++) {
        ones[2 * i] = ones[2 * i + 1] = 1;
        constant[i] = 3;
    }
    const margin_data data = {.x = margin_dense_f64(ones, MANY, 2, 2),
                              .y = margin_values_f64(constant, MANY)};
    margin_report report = {0}, found = {0};
    margin_error error = {0};
    margin_model *model =
        fit_text(context, "elastic-net(lambda=1000, tol=0.25, max_iter=3, solver=minibatch)", &data,
                 &report);
    const margin_status status = margin_verify(context, model, &data, &found, &error);
    if (status != MARGIN_OK) fail_msg("%s%s", error.text, found.reason);
    margin_model_free(model);
}

/* Columns so small that their squares vanish have no lambda_max to a fit, which is no change of the
 * model; weights of 0 are honest there. */
static void test_tiny_columns(void **state) {
    static const char *const specs[] = {"lasso(lambda=0.1)", "elastic-net(lambda=0.1)",
                                        "logistic(l1_ratio=1)"};
    double x[20], y[20];
    (void)state;
    for (int i = 0; i < 20; i++) {
        x[i] = 1e-200 * cos(7 * i);
        y[i] = x[i] > 0;
    }
    const margin_data data = {.x = margin_dense_f64(x, 20, 1, 1), .y = margin_values_f64(y, 20)};
    for (int k = 0; k < 3; k++) {
        margin_model *model = fit_proven(specs[k], &data, NULL);
        assert_true(margin_model_weights(model, 0)[0] == 0.0);
        margin_model_free(model);
    }
}

/* ---- Other learners in the limit ------------------------------------------------------------- */

static void test_limits(void **state) {
    const char *const pairs[][2] = {{"lasso(alpha=0)", "least-squares"},
                                    {"lasso(lambda=0)", "least-squares"},
                                    {"lasso(C=inf)", "least-squares"},
                                    {"elastic-net(alpha=0)", "least-squares"},
                                    {"elastic-net(l1_ratio=0)", "ridge"},
                                    {"elastic-net(lambda=0.5, l1_ratio=0)", "ridge(lambda=0.5)"}};
    (void)state;
    sample *s = sample_make(60, 5, 2, 0.2, 3);
    const margin_data data = {.x = sample_view(s, DENSE_F64),
                              .y = margin_values_f64(s->f64 + 1, 60)};
    for (int k = 0; k < 6; k++) {
        margin_report report = {0}, other = {0};
        margin_model *model = fit_proven(pairs[k][0], &data, &report);
        margin_model *same = fit_proven(pairs[k][1], &data, &other);
        for (int j = 0; j < 5; j++)
            assert_true(margin_model_weights(model, 0)[j] == margin_model_weights(same, 0)[j]);
        if (k >= 4) assert_string_equal(report.formula, other.formula);
        margin_model_free(model);
        margin_model_free(same);
    }
    /* and on the way there */
    margin_model *near = fit_proven("lasso(alpha=1e-9)", &data, NULL);
    margin_model *limit = fit_proven("least-squares", &data, NULL);
    for (int j = 0; j < 5; j++)
        assert_close(margin_model_weights(near, 0)[j], margin_model_weights(limit, 0)[j], 1e-7);
    margin_model_free(near);
    margin_model_free(limit);
    sample_free(s);
}

/* ---- Values of another program --------------------------------------------------------------- */

static margin_table *read_table(const char *path, const char *column, const char *ignore) {
    margin_read_options options = {.size = sizeof options, .target = column, .ignore = ignore};
    margin_table *table = NULL;
    margin_error error = {0};
    if (margin_table_read(context, path, &options, &table, &error) < 0) fail_msg("%s", error.text);
    return table;
}

static void test_wine(void **state) {
    static const struct {
        const char *spec;
        double objective, weights[13];
    } cases[] = {
        {"standardize | lasso(lambda=0.4, tol=1e-12)",
         0.5302170716741,
         {0, 0, 0, 0, 0, 0, 0, 0, 0.0676668674245, 0, 0, 0.000865136173555, 12.0121885044}},
        {"standardize | lasso(lambda=0.1, tol=1e-12)",
         0.3637637649548,
         {0.046398766899, 0, -0.0165627624543, 0, 0.0249487439645, 0, 0, 0, 0.115647153877, 0,
          0.00330015381514, 0.00115834747457, 11.6991096675}},
        {"standardize | lasso(lambda=0.02, tol=1e-12)",
         0.2910667124711,
         {0.106978541961, 0.0986348128084, -0.0334958170007, 0, 0.0473868626932, 0.00311086280362,
          -0.104591986131, -0.0976865633795, 0.148072664423, 0.0654267444706, 0.132960088689,
          0.001069259084, 11.2909625084}},
        {"standardize | elastic-net(lambda=0.1, tol=1e-12)",
         0.3333501250832,
         {0.077143312492, 0.0714997186858, -0.0282383992971, 0, 0.0456703350979, 0, -0.01543042925,
          -0.00930404767474, 0.126277871598, 0, 0.0568227903464, 0.00105820301958, 11.5397590803}},
        {"standardize | elastic-net(lambda=0.02, l1_ratio=0.9, tol=1e-12)",
         0.2893023259721,
         {0.109021734791, 0.104107180824, -0.0339811410092, 0, 0.048389430232, 0.00427145258345,
          -0.115637753265, -0.1024157386, 0.148995868226, 0.0774235556704, 0.13383533724,
          0.00106222393737, 11.2763768922}},
    };
    char path[SUPPORT_PATH];
    (void)state;
    margin_table *table =
        read_table(support_source(path, "examples/data/wine.csv"), "alcohol", "cultivar");
    const margin_data data = margin_table_data(table);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        margin_report report = {0};
        margin_model *model = fit_proven(cases[k].spec, &data, &report);
        assert_close(report.objective, cases[k].objective, 1e-11);
        for (int j = 0; j < 12; j++) {
            assert_close(margin_model_weights(model, 0)[j], cases[k].weights[j], 1e-9);
            assert_true((margin_model_weights(model, 0)[j] == 0) == (cases[k].weights[j] == 0));
        }
        assert_close(margin_model_intercept(model, 0), cases[k].weights[12], 1e-9);
        margin_model_free(model);
    }
    margin_table_free(table);
}

/* Versicolor against virginica: rows 51 to 150. */
static void test_iris(void **state) {
    static const struct {
        const char *spec;
        double objective, weights[5];
    } cases[] = {
        {"logistic(l1_ratio=1, tol=1e-12)",
         15.59134928879,
         {-1.17086769475, -1.15664746871, 4.8199442319, 5.99047132845, -22.9358796237}},
        {"logistic(l1_ratio=1, C=0.5, tol=1e-12)",
         10.48014333637,
         {-0.71224295535, 0, 4.15497957162, 4.00659113961, -22.5225254367}},
        {"logistic(l1_ratio=1, C=0.1, tol=1e-12)",
         4.034598275163,
         {0, 0, 2.99591103419, 0, -14.6206770796}},
        {"logistic(l1_ratio=1, C=10, solver=working_set, tol=1e-12)",
         75.37411645613,
         {-2.18745205864, -4.66157319838, 7.59848789597, 13.468283956, -32.9432003501}},
        {"logistic(l1_ratio=0.5, tol=1e-12)",
         21.35404853935,
         {-0.5896314915, -0.609533037186, 3.43877118631, 2.98939117375, -16.3711400334}},
    };
    char path[SUPPORT_PATH];
    int64_t selection[100];
    (void)state;
    margin_table *table = read_table(support_source(path, "examples/data/iris.csv"), NULL, NULL);
    margin_data data = margin_table_data(table);
    for (int i = 0; i < 100; i++)
        selection[i] = 50 + i;
    data.selection = selection;
    data.selected = 100;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        margin_report report = {0};
        margin_model *model = fit_proven(cases[k].spec, &data, &report);
        assert_close(report.objective, cases[k].objective, 1e-11);
        for (int j = 0; j < 4; j++)
            assert_close(margin_model_weights(model, 0)[j], cases[k].weights[j], 1e-7);
        assert_close(margin_model_intercept(model, 0), cases[k].weights[4], 1e-7);
        margin_model_free(model);
    }
    margin_table_free(table);
}

static void assert_objective(const char *name, const char *spec, double objective, int count) {
    char path[SUPPORT_PATH];
    margin_report report = {0};
    SUPPORT_DATA_OR_SKIP(path, name);
    margin_table *table = read_table(path, NULL, NULL);
    const margin_data data = margin_table_data(table);
    margin_model_free(fit_proven(spec, &data, &report));
    assert_close(report.objective, objective, 2e-6);
    assert_true(margin_report_item_value(&report, "nonzero") == count);
    margin_table_free(table);
}

static void test_sonar(void **state) {
    (void)state;
    assert_objective("tabular/sonar.csv", "standardize | logistic(l1_ratio=1)", 56.107646088, 49);
    assert_objective("tabular/sonar.csv", "standardize | logistic(l1_ratio=1, C=0.1)",
                     10.4605021547, 23);
    assert_objective("tabular/ionosphere.csv", "standardize | logistic(l1_ratio=1)", 73.2100404144,
                     28);
}

/* ---- Data ------------------------------------------------------------------------------------ */

/* The same in every layout and precision. */
static void test_layouts(void **state) {
    const char *const specs[] = {"lasso(alpha=4, tol=1e-12)", "elastic-net(tol=1e-12)",
                                 "standardize | lasso(lambda=0.02, tol=1e-12)",
                                 "logistic(l1_ratio=1, tol=1e-12)"};
    (void)state;
    sample *s = sample_make(300, 6, 2, 0.1, 77);
    for (int k = 0; k < 4; k++) {
        margin_model *first = NULL;
        for (int layout = 0; layout < LAYOUTS; layout++) {
            const margin_data data = sample_data(s, layout);
            margin_model *model = fit_proven(specs[k], &data, NULL);
            for (int j = 0; first && j < 6; j++)
                assert_close(margin_model_weights(model, 0)[j], margin_model_weights(first, 0)[j],
                             1e-7);
            if (first) margin_model_free(model);
            if (!first) first = model;
        }
        margin_model_free(first);
    }
    sample_free(s);
}

/* Many more columns than rows, sparse; a column without a value in it has weight 0. */
static void test_wide_sparse(void **state) {
    enum { WIDE = 3000, FEW = 60 };
    double *values = malloc(FEW * 20 * sizeof *values), y[FEW];
    int32_t *columns = malloc(FEW * 20 * sizeof *columns);
    int64_t starts[FEW + 1] = {0}, at = 0;
    uint64_t seed = 5;
    (void)state;
    for (int i = 0; i < FEW; i++) {
        y[i] = support_normal(&seed);
        for (int k = 0; k < 20; k++) {
            columns[at] = (int32_t)((k * WIDE + (int)(support_uniform(&seed) * WIDE)) / 20);
            if (columns[at] == 77) columns[at]++;
            values[at++] = support_normal(&seed);
        }
        starts[i + 1] = at;
    }
    const char *const specs[] = {"lasso(alpha=0.5)", "lasso(alpha=1e-4)", "elastic-net(alpha=0.1)",
                                 "standardize | lasso(lambda=0.01)"};
    const margin_data data = {.x = margin_csr_f64(values, columns, starts, FEW, WIDE),
                              .y = margin_values_f64(y, FEW)};
    for (int k = 0; k < 4; k++) {
        margin_model *model = fit_proven(specs[k], &data, NULL);
        assert_true(margin_model_weights(model, 0)[77] == 0);
        assert_true(nonzero(model, WIDE) > 0);
        margin_model_free(model);
    }
    free(columns);
    free(values);
}

/* Weekly rows of few weights, whose sum is rounded the same way again and again. */
static void test_few_weights(void **state) {
    enum { MANY = 28672, DAYS = 7, FEW = 3 };
    static const char *const specs[] = {"lasso(lambda=0.1)", "ridge(lambda=0.1)", "least-squares"};
    static double x[MANY * FEW], y[MANY], weight[MANY];
    uint64_t random = 7;
    (void)state;
    for (int i = 0; i < MANY; i++) {
        y[i] = 2.0 * support_normal(&random);
        for (int j = 0; j < FEW; j++)
            y[i] += x[i * FEW + j] = support_normal(&random) + (i % DAYS ? 0.0 : 3.0);
        weight[i] = (double[]){1, 2, 5}[(int)(3.0 * support_uniform(&random))];
    }
    const margin_data data = {.x = margin_dense_f64(x, MANY, FEW, FEW),
                              .y = margin_values_f64(y, MANY),
                              .weights = margin_values_f64(weight, MANY)};
    for (int k = 0; k < (int)(sizeof specs / sizeof *specs); k++) {
        margin_report again = {0};
        margin_model *model = fit_text(context, specs[k], &data, NULL);
        assert_int_equal(margin_verify(context, model, &data, &again, NULL), MARGIN_OK);
        margin_model_free(model);
    }
}

static void test_few_rows(void **state) {
    const double x[4] = {3, 4, 5, 6}, y[2] = {7, 7};
    const char *const specs[] = {"lasso", "elastic-net", "lasso(alpha=1e-6)", "lasso(alpha=0)"};
    margin_data data = {.x = margin_dense_f64(x, 1, 2, 2), .y = margin_values_f64(y, 1)};
    (void)state;
    for (int k = 0; k < 4; k++) {
        for (int rows = 1; rows <= 2; rows++) { /* one row, and a constant target */
            data.x.rows = data.y.count = rows;
            margin_model *model = fit_proven(specs[k], &data, NULL);
            assert_true(margin_model_weights(model, 0)[0] == 0);
            assert_true(margin_model_weights(model, 0)[1] == 0);
            assert_close(margin_model_intercept(model, 0), 7, 1e-15);
            margin_model_free(model);
        }
    }
}

static void test_weights(void **state) {
    (void)state;
    sample *s = sample_make(80, 5, 2, 0.1, 7);
    double weights[80], left[80];
    int64_t selection[80], kept = 0;
    for (int i = 0; i < 80; i++) {
        weights[i] = i % 4 == 2 ? 0 : 1;
        left[i] = s->f64[5 * i] + 0.25 * s->f64[5 * i + 3] + s->labels[i];
        if (weights[i] != 0) selection[kept++] = i;
    }
    for (int k = 0; k < 2; k++) {
        const char *spec = k ? "logistic(l1_ratio=1, lambda=0.01)" : "lasso(lambda=0.05)";
        margin_data data = {.x = sample_view(s, DENSE_F64),
                            .y = margin_values_f64(k ? s->labels : left, 80)};
        data.weights = margin_values_f64(weights, 80);
        margin_model *weighted = fit_proven(spec, &data, NULL);
        data.weights = (margin_vector){0};
        data.selection = selection;
        data.selected = kept;
        margin_model *selected = fit_proven(spec, &data, NULL);
        for (int j = 0; j < 5; j++)
            assert_true(margin_model_weights(weighted, 0)[j] ==
                        margin_model_weights(selected, 0)[j]);
        margin_model_free(weighted);
        margin_model_free(selected);
    }
    sample_free(s);
}

/* Each class against the rest, each with a choice of columns of its own. */
static void test_classes(void **state) {
    (void)state;
    sample *s = sample_make(120, 6, 3, 0.05, 9);
    const margin_data data = sample_data(s, DENSE_F64);
    margin_report report = {0};
    margin_model *model = fit_proven("logistic(l1_ratio=1, C=0.2)", &data, &report);
    int64_t zero = 0, most = 0;
    for (int f = 0; f < 3; f++) {
        int64_t here = 0;
        for (int j = 0; j < 6; j++)
            here += margin_model_weights(model, f)[j] != 0;
        zero += 6 - here;
        most = here > most ? here : most;
    }
    assert_true(zero > 0);
    assert_true(margin_report_item_value(&report, "nonzero") == (double)most);
    margin_model_free(model);
    sample_free(s);
}

/* ---- Bad input ------------------------------------------------------------------------------- */

static void test_refused(void **state) {
    static const struct {
        const char *spec, *part;
    } cases[] = {{"lasso(alpha=-1)", "alpha"},
                 {"lasso(lambda=inf)", "lambda"},
                 {"lasso(C=0)", "C"},
                 {"lasso(alpha=1, lambda=1)", "lambda"},
                 {"lasso(l1_ratio=0.5)", "l1_ratio"},
                 {"elastic-net(l1_ratio=1.5)", "l1_ratio"},
                 {"elastic-net(l1_ratio=-0.1)", "l1_ratio"},
                 {"elastic-net(tol=0)", "tol"},
                 {"logistic(l1_ratio=2)", "l1_ratio"}};
    margin_error error = {0};
    margin_spec *spec = NULL;
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        assert_int_equal(margin_spec_parse(context, cases[k].spec, &spec, &error),
                         MARGIN_ERROR_SPEC);
        assert_contains(error.text, cases[k].part);
    }
    sample *s = sample_make(40, 3, 2, 0.1, 1);
    margin_data data = sample_data(s, DENSE_F64);
    fit_refused(context, "logistic(solver=working_set)", &data, MARGIN_ERROR_SPEC,
                "there is no |w|_1 in the penalty");
    margin_model_free(
        fit_text(context, "logistic(solver=gd, l1_ratio=1, max_iter=9)", &data, NULL));
    fit_refused(context, "logistic(solver=lbfgs, l1_ratio=1)", &data, MARGIN_ERROR_SPEC,
                "|w|_1 has corners");
    s->labels[6] = (double)NAN;
    fit_refused(context, "lasso", &data, MARGIN_ERROR_DATA, "row 7");
    sample_free(s);
}

/* An objective beyond double precision has a finite gap, and is refused all the same. */
static void test_overflow(void **state) {
    double x[ROWS], y[ROWS];
    uint64_t random = 5;
    (void)state;
    for (int i = 0; i < ROWS; i++) {
        x[i] = support_normal(&random);
        y[i] = 1e152 * (x[i] + support_normal(&random));
    }
    const margin_data data = {.x = margin_dense_f64(x, ROWS, 1, 1),
                              .y = margin_values_f64(y, ROWS)};
    fit_refused(context, "lasso(C=1e5)", &data, MARGIN_ERROR_DATA, "beyond double precision");
}

static void test_other_data_is_noticed(void **state) {
    double x[ROWS * COLUMNS], y[ROWS];
    margin_report report = {0};
    margin_error error = {0};
    (void)state;
    margin_data data = orthogonal(x);
    memcpy(y, target, sizeof y);
    data.y = margin_values_f64(y, ROWS);
    margin_model *model = fit_proven("lasso(lambda=0.1)", &data, NULL);
    y[3] += 0.5;
    assert_int_equal(margin_verify(context, model, &data, &report, &error), MARGIN_STOPPED_STALLED);
    margin_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_soft_threshold),
        cmocka_unit_test(test_spellings),
        cmocka_unit_test(test_all_zero),
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_constant_target),
        cmocka_unit_test(test_tiny_columns),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_wine),
        cmocka_unit_test(test_iris),
        cmocka_unit_test(test_sonar),
        cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_wide_sparse),
        cmocka_unit_test(test_few_weights),
        cmocka_unit_test(test_few_rows),
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_overflow),
        cmocka_unit_test(test_other_data_is_noticed),
    };
    return cmocka_run_group_tests(tests, support_open_context, support_close_context);
}
