/* margin_statistics: certified values, values of other programs, properties, refusals. */
#include "least_squares_cases.h"
#include "statistics_tables.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/group_context.h"

/* Fits and takes statistics; the model is freed first, which the result must survive. */
static margin_statistics_result statistics_of(const char *spec, const margin_data *data,
                                              const margin_statistics_options *options) {
    margin_statistics_result result = {0};
    margin_error error = {0};
    margin_model *model = fit_text(context, spec, data, NULL);
    if (margin_statistics(context, model, data, options, &result, &error) < 0)
        fail_msg("%s: %s", spec, error.text);
    margin_model_free(model);
    return result;
}

static void refused(const char *spec, const margin_data *fitted, const margin_data *data,
                    margin_status status, const char *part) {
    margin_statistics_result result = {0}, before = {0};
    margin_error error = {0};
    margin_model *model = fit_text(context, spec, fitted, NULL);
    memset(&result, 0x5C, sizeof result);
    result.size = sizeof result;
    memcpy(&before, &result, sizeof result);
    assert_int_equal(margin_statistics(context, model, data, NULL, &result, &error), status);
    assert_contains(error.text, part);
    assert_memory_equal(&result, &before, sizeof result);
    margin_model_free(model);
}

/* Digits that agree: -log10 of the relative error, 15 at most. */
static double digits(double value, double certified) {
    const double miss = fabs(value - certified) / fabs(certified);
    return miss > 1e-15 ? -log10(miss) : 15;
}

static void assert_digits(double value, double certified, double least, const char *what) {
    const double found = digits(value, certified);
    if (!(found >= least))
        fail_msg("%s: %.17g, certified %.17g: %.1f digits, not %.1f", what, value, certified, found,
                 least);
}

/* Two numbers a coefficient, the intercept last: estimate and standard error. */
static void assert_coefficients(const margin_statistics_result *r, const double *certified,
                                double least) {
    for (int64_t j = 0; j < r->coefficient_count; j++) {
        const margin_coefficient *c = margin_statistics_coefficient(r, j);
        assert_digits(c->estimate, certified[2 * j], least, c->name);
        assert_digits(c->error, certified[2 * j + 1], least, c->name);
        assert_close(c->statistic, c->estimate / c->error, 1e-15);
        assert_true(c->low < c->estimate && c->estimate < c->high);
        assert_close((c->high - c->low) / 2 / c->error, (c->high - c->estimate) / c->error, 1e-9);
    }
}

/* ---- Certified values ------------------------------------------------------------------------ */

static void test_norris(void **state) {
    (void)state;
    static const double certified[] = {1.00211681802045, 0.429796848199937E-03, -0.262323073774029,
                                       0.232818234301152};
    const margin_data data = {.x = margin_dense_f64(norris_x, 36, 1, 1),
                              .y = margin_values_f64(norris_y, 36)};
    margin_statistics_result r = statistics_of("least-squares", &data, NULL);
    assert_coefficients(&r, certified, 13);
    assert_digits(r.residual_error, 0.884796396144373, 13, "residual error");
    assert_digits(r.r2, 0.999993745883712, 14, "r2");
    assert_digits(r.f, 5436385.54079785, 12, "F");
    assert_digits(margin_statistics_coefficient(&r, 1)->p_value, 0.2677467423332024, 12, "p");
    assert_digits(r.f_p_value, 4.654040852472409e-90, 11, "p of F");
    assert_true(r.freedom == 34 && r.rows == 36 && r.rank == 1 && r.dependence_count == 0);
    assert_close(margin_statistics_coefficient(&r, 0)->inflation, 1, 1e-14);
    assert_true(isnan(margin_statistics_coefficient(&r, 1)->inflation));
    assert_true(r.distance < 1e-6);
    margin_statistics_free(&r);
}

static void test_longley(void **state) {
    (void)state;
    static const double certified[] = {
        15.0618722713733,       84.9149257747669,  -0.358191792925910E-01, 0.334910077722432E-01,
        -2.02022980381683,      0.488399681651699, -1.03322686717359,      0.214274163161675,
        -0.511041056535807E-01, 0.226073200069370, 1829.15146461355,       455.478499142212,
        -3482258.63459582,      890420.383607373};
    static const double p_values[] = {
        0.8631408328092143, 0.312681061092711,    0.002535091734111276, 0.0009443667641617933,
        0.8262117957636469, 0.003036803341630289, 0.003560403663726231};
    double x[16][6], y[16];
    for (int i = 0; i < 16; i++) {
        memcpy(x[i], longley[i] + 1, sizeof x[i]);
        y[i] = longley[i][0];
    }
    const margin_data data = {.x = margin_dense_f64(x[0], 16, 6, 6), .y = margin_values_f64(y, 16)};
    for (int k = 0; k < 2; k++) {
        margin_statistics_result r =
            statistics_of(k ? "standardize | least-squares" : "least-squares", &data, NULL);
        assert_coefficients(&r, certified, 11);
        assert_digits(r.residual_error, 304.854073561965, 12, "residual error");
        assert_digits(r.r2, 0.995479004577296, 13, "r2");
        assert_digits(r.adjusted_r2, 0.992465007628826, 13, "adjusted r2");
        assert_digits(r.f, 330.285339234588, 11, "F");
        assert_digits(r.log_likelihood, -109.6174348084806, 12, "log-likelihood");
        assert_digits(r.aic, 2 * 109.6174348084806 + 16, 12, "AIC");
        assert_digits(r.bic, 2 * 109.6174348084806 + 8 * log(16), 12, "BIC");
        for (int j = 0; j < 7; j++)
            assert_digits(margin_statistics_coefficient(&r, j)->p_value, p_values[j], 10, "p");
        assert_digits(margin_statistics_coefficient(&r, 1)->inflation, 1788.513, 6, "inflation");
        margin_statistics_free(&r);
    }
}

/* A polynomial of degree 10: the hardest of the reference sets. The powers, rounded to doubles,
 * alone cost half of the digits. */
static void test_filip(void **state) {
    (void)state;
    static const double certified[] = {
        -2772.17959193342,      559.779865474950,       -2316.37108160893,
        466.477572127796,       -1127.97394098372,      227.204274477751,
        -354.478233703349,      71.6478660875927,       -75.1242017393757,
        15.2897178747400,       -10.8753180355343,      2.23691159816033,
        -1.06221498588947,      0.221624321934227,      -0.670191154593408E-01,
        0.142363763154724E-01,  -0.246781078275479E-02, 0.535617408889821E-03,
        -0.402962525080404E-04, 0.896632837373868E-05,  -1467.48961422980,
        298.084530995537};
    double x[82][10];
    for (int i = 0; i < 82; i++) {
        double power = 1;
        for (int k = 0; k < 10; k++)
            x[i][k] = power *= filip_x[i];
    }
    const margin_data data = {.x = margin_dense_f64(x[0], 82, 10, 10),
                              .y = margin_values_f64(filip_y, 82)};
    margin_statistics_result r = statistics_of("least-squares", &data, NULL);
    assert_coefficients(&r, certified, 7);
    assert_digits(r.residual_error, 0.334801051324544E-02, 7, "residual error");
    assert_digits(r.r2, 0.996727416185620, 9, "r2");
    assert_digits(r.f, 2162.43954511489, 7, "F");
    assert_true(r.rank == 10 && r.freedom == 71 && r.condition > 1e9);
    margin_statistics_free(&r);
}

/* R: lm(dist ~ speed, cars), and confint at another level. */
static void test_cars(void **state) {
    (void)state;
    static const double known[] = {3.932408759124088, 0.4155127766571223, -17.57909489051095,
                                   6.758440169379236};
    const margin_data data = {.x = margin_dense_f64(cars[0], 50, 1, 2)};
    double y[50];
    for (int i = 0; i < 50; i++)
        y[i] = cars[i][1];
    margin_data with_target = data;
    with_target.y = margin_values_f64(y, 50);
    margin_statistics_options options = {.size = sizeof options, .confidence = 0.99};
    margin_statistics_result r = statistics_of("least-squares", &with_target, &options);
    assert_coefficients(&r, known, 13);
    assert_digits(margin_statistics_coefficient(&r, 0)->p_value, 1.489836496295085e-12, 11, "p");
    assert_digits(margin_statistics_coefficient(&r, 1)->p_value, 0.01231881615380881, 12, "p");
    assert_digits(r.adjusted_r2, 0.6438102011907144, 13, "adjusted r2");
    assert_digits(r.log_likelihood, -206.5784315136766, 13, "log-likelihood");
    assert_digits(margin_statistics_coefficient(&r, 0)->high,
                  3.932408759124088 + 2.682204026950180 * 0.4155127766571223, 12, "interval");
    assert_true(r.confidence == 0.99);
    margin_statistics_free(&r);

    static const double through_0[] = {2.909132143883943, 0.14136863749993694};
    r = statistics_of("least-squares(intercept=no)", &with_target, NULL);
    assert_true(!r.has_intercept && r.coefficient_count == 1 && r.freedom == 49);
    assert_digits(margin_statistics_coefficient(&r, 0)->error, through_0[1], 12,
                  "error without intercept");
    assert_digits(r.r2, 0.8962893058052057, 12, "r2 against the function 0");
    assert_digits(r.adjusted_r2, 0.8941727610257201, 12, "its adjusted r2");
    assert_digits(r.f, 423.4681517218068, 12, "its F");
    assert_digits(r.residual_error, 16.25923714668341, 12, "its noise");
    margin_statistics_free(&r);
}

/* ---- Logistic regression --------------------------------------------------------------------- */

static double *iris_two(margin_table **table, margin_data *data) {
    char path[SUPPORT_PATH];
    margin_error error = {0};
    static int64_t selection[100];
    if (margin_table_read(context, support_source(path, "examples/data/iris.csv"), NULL, table,
                          &error) < 0)
        fail_msg("%s", error.text);
    for (int64_t i = 0; i < 100; i++)
        selection[i] = 50 + i;
    *data = margin_table_data(*table);
    data->selection = selection;
    data->selected = 100;
    return NULL;
}

/* statsmodels 0.15, Logit: versicolor against virginica */
static void test_logistic(void **state) {
    (void)state;
    static const double known[] = {-2.465220195186667, 2.394301018535296, -6.680887014078566,
                                   4.479564566600875,  9.429385153926688, 4.737207700316674,
                                   18.28613688785106,  9.742612139826198, -42.63780381302229,
                                   25.707660833159384};
    static const double p_values[] = {0.3031884267750917, 0.1358527348206036, 0.046536505962572965,
                                      0.06052859060066346, 0.09720365729812872};
    static const double through_0[] = {-6.3277193814571895, 2.4793016443052807, -6.618186532140634,
                                       2.5294254605497875,  8.433801299359809,  3.4698902662239735,
                                       10.282543993912633,  3.459381591840556};
    margin_table *table = NULL;
    margin_data data;
    iris_two(&table, &data);
    margin_statistics_result r =
        statistics_of("standardize | logistic(C=inf, tol=1e-12)", &data, NULL);
    assert_true(r.task == MARGIN_CLASSIFY && r.rows == 100 && r.freedom == 95);
    assert_coefficients(&r, known, 6);
    for (int j = 0; j < 5; j++)
        assert_digits(margin_statistics_coefficient(&r, j)->p_value, p_values[j], 6, "p");
    assert_digits(r.log_likelihood, -5.949273395679427, 9, "log-likelihood");
    assert_digits(r.null_log_likelihood, 100 * log(0.5), 13, "of the intercept alone");
    assert_digits(r.pseudo_r2, 1 - 5.949273395679427 / (100 * log(2)), 9, "pseudo r2");
    assert_digits(r.ratio, 126.73088932063021, 9, "likelihood ratio");
    assert_digits(r.ratio_p_value, 1.947106984058176e-26, 7, "its p");
    assert_digits(r.aic, 21.898546791358854, 9, "AIC");
    assert_digits(r.bic, 34.924397721299314, 9, "BIC");
    assert_true(isnan(r.r2) && isnan(r.f) && isnan(r.residual_error));
    assert_true(r.distance < 1e-4);
    margin_statistics_free(&r);
    r = statistics_of("logistic(C=inf, tol=1e-12, intercept=no)", &data, NULL);
    assert_int_equal(r.coefficient_count, 4);
    assert_coefficients(&r, through_0, 6);
    margin_statistics_free(&r);
    refused("logistic", &data, &data, MARGIN_ERROR_DATA, "penalty");
    refused("logistic(C=inf, class_weight=balanced)", &data, &data, MARGIN_ERROR_DATA,
            "class_weight");
    data.selection = NULL;
    refused("logistic(C=1)", &data, &data, MARGIN_ERROR_DATA, "3 classes");
    margin_table_free(table);
}

/* ---- Columns that depend on others ----------------------------------------------------------- */

enum { NORTH, SOUTH, TOTAL, SEVEN, FREE, NAMED };

static const margin_column names[NAMED] = {
    {.name = "north"}, {.name = "south"}, {.name = "total"}, {.name = "seven"}, {.name = "free"}};

static regression dependent_columns(void) {
    regression r = regression_make(60, NAMED, 1, 1, 5);
    for (int64_t i = 0; i < r.rows; i++) {
        double *x = r.x + i * NAMED;
        x[TOTAL] = 2 * x[NORTH] - x[SOUTH] + 3;
        x[SEVEN] = 7;
    }
    return r;
}

static void test_dependences(void **state) {
    (void)state;
    regression r = dependent_columns();
    margin_data data = regression_data(&r);
    data.columns = names;
    margin_statistics_options options = {.size = sizeof options, .covariance = 1};
    margin_statistics_result s = statistics_of("least-squares", &data, &options);
    assert_int_equal(s.dependence_count, 2);
    const margin_dependence *d = margin_statistics_dependence(&s, 0);
    assert_int_equal(d[0].feature, TOTAL);
    assert_int_equal(d[0].term_count, 2);
    assert_true(d[0].terms[0] == NORTH && d[0].terms[1] == SOUTH);
    assert_close(d[0].factors[0], 2, 1e-12);
    assert_close(d[0].factors[1], -1, 1e-12);
    assert_close(d[0].constant, 3, 1e-11);
    assert_true(d[1].feature == SEVEN && d[1].term_count == 0);
    assert_close(d[1].constant, 7, 1e-15);
    assert_true(s.rank == 3 && s.freedom == 56);
    for (int j = 0; j < NAMED + 1; j++) {
        const bool known = j == FREE;
        assert_true(isnan(margin_statistics_coefficient(&s, j)->error) == !known);
        assert_true(isnan(margin_statistics_coefficient(&s, j)->p_value) == !known);
        assert_string_equal(margin_statistics_coefficient(&s, j)->name,
                            j < NAMED ? names[j].name : "(intercept)");
        for (int k = 0; k < NAMED + 1; k++)
            assert_true(isnan(s.covariance[j * (NAMED + 1) + k]) == !(known && k == FREE));
    }
    /* the free column is judged as if the dependent ones were not there */
    const double error = margin_statistics_coefficient(&s, FREE)->error, f = s.f;
    margin_statistics_free(&s);
    regression left = regression_make(60, 3, 0, 1, 5);
    for (int64_t i = 0; i < 60; i++) {
        left.x[i * 3] = r.x[i * NAMED + NORTH];
        left.x[i * 3 + 1] = r.x[i * NAMED + SOUTH];
        left.x[i * 3 + 2] = r.x[i * NAMED + FREE];
        left.y[i] = r.y[i];
    }
    const margin_data left_data = regression_data(&left);
    s = statistics_of("least-squares", &left_data, NULL);
    assert_close(margin_statistics_coefficient(&s, 2)->error, error, 1e-12);
    assert_close(s.f, f, 1e-11);
    assert_true(s.dependence_count == 0 && s.covariance == NULL);
    margin_statistics_free(&s);
    regression_free(&left);
    regression_free(&r);
}

/* Two groups of dependent columns, one of them without a constant, and duplicates behind them. */
static void test_groups(void **state) {
    (void)state;
    regression r = regression_make(200, 8, 2, 1, 6);
    for (int64_t i = 0; i < r.rows; i++) {
        double *x = r.x + i * 8;
        x[2] = x[0];
        x[4] = x[1] + 0.5 * x[3];
        x[7] = x[5] - x[6] + 4 * x[2];
    }
    const margin_data data = regression_data(&r);
    margin_statistics_result s = statistics_of("least-squares", &data, NULL);
    assert_int_equal(s.dependence_count, 3);
    static const int64_t features[] = {2, 4, 7}, terms[][3] = {{0}, {1, 3}, {0, 5, 6}};
    static const double factors[][3] = {{1}, {1, 0.5}, {4, 1, -1}};
    for (int k = 0; k < 3; k++) {
        assert_int_equal(margin_statistics_dependence(&s, k)->feature, features[k]);
        assert_int_equal(margin_statistics_dependence(&s, k)->term_count, k + 1);
        assert_true(margin_statistics_dependence(&s, k)->constant == 0);
        for (int i = 0; i <= k; i++) {
            assert_int_equal(margin_statistics_dependence(&s, k)->terms[i], terms[k][i]);
            assert_close(margin_statistics_dependence(&s, k)->factors[i], factors[k][i], 1e-11);
        }
    }
    assert_true(margin_statistics_coefficient(&s, 8)->error >
                0); /* the intercept takes part in none */
    for (int j = 0; j < 8; j++)
        assert_true(isnan(margin_statistics_coefficient(&s, j)->error));
    margin_statistics_free(&s);
    regression_free(&r);
}

/* ---- The oracle ------------------------------------------------------------------------------ */

/* Inverse of sum weight (x, 1)(x, 1)' by Gauss and Jordan in long double. */
static void oracle_inverse(const regression *r, const double *weights, bool intercept,
                           long double *inverse) {
    const int64_t n = r->columns + intercept;
    long double *a = calloc((size_t)(n * n), sizeof *a);
    for (int64_t i = 0; i < r->rows; i++)
        for (int64_t j = 0; j < n; j++)
            for (int64_t k = 0; k < n; k++) {
                const double left = j < r->columns ? r->x[i * r->columns + j] : 1;
                const double right = k < r->columns ? r->x[i * r->columns + k] : 1;
                a[j * n + k] += (weights ? weights[i] : 1) * (long double)left * right;
            }
    for (int64_t j = 0; j < n * n; j++)
        inverse[j] = j % (n + 1) == 0;
    for (int64_t k = 0; k < n; k++) {
        const long double pivot = a[k * n + k];
        for (int64_t j = 0; j < n; j++) {
            a[k * n + j] /= pivot;
            inverse[k * n + j] /= pivot;
        }
        for (int64_t i = 0; i < n; i++) {
            const long double factor = a[i * n + k];
            for (int64_t j = 0; i != k && j < n; j++) {
                a[i * n + j] -= factor * a[k * n + j];
                inverse[i * n + j] -= factor * inverse[k * n + j];
            }
        }
    }
    free(a);
}

static void assert_covariance(const regression *r, const margin_data *data, const double *weights,
                              const char *spec, bool intercept, double tolerance) {
    const int64_t n = r->columns + intercept;
    long double *inverse = malloc((size_t)(n * n) * sizeof *inverse);
    margin_statistics_options options = {.size = sizeof options, .covariance = 1};
    margin_statistics_result s = statistics_of(spec, data, &options);
    oracle_inverse(r, weights, intercept, inverse);
    const double noise = s.residual_error * s.residual_error;
    for (int64_t j = 0; j < n; j++) {
        const double error = sqrt(noise * (double)inverse[j * n + j]);
        assert_close(margin_statistics_coefficient(&s, j)->error / error, 1, tolerance);
        for (int64_t k = 0; k < n; k++) {
            const double size = sqrt((double)inverse[j * n + j] * (double)inverse[k * n + k]);
            assert_close((s.covariance[j * n + k] / noise - (double)inverse[j * n + k]) / size, 0,
                         tolerance);
        }
    }
    margin_statistics_free(&s);
    free(inverse);
}

static void test_covariance(void **state) {
    (void)state;
    static const int64_t shapes[][2] = {{5, 1}, {40, 7}, {300, 30}, {12000, 12}};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        regression r = regression_make(shapes[k][0], shapes[k][1], 2, 1, 40 + k);
        margin_data data = regression_data(&r);
        double *weights = malloc((size_t)r.rows * sizeof *weights);
        for (int64_t i = 0; i < r.rows; i++)
            weights[i] = 1 + (double)(i % 4);
        for (int intercept = 0; intercept < 2; intercept++) {
            const char *spec = intercept ? "least-squares" : "least-squares(intercept=no)";
            data.weights = (margin_vector){0};
            assert_covariance(&r, &data, NULL, spec, intercept, 1e-10);
            data.weights = margin_values_f64(weights, r.rows);
            assert_covariance(&r, &data, weights, spec, intercept, 1e-10);
        }
        free(weights);
        regression_free(&r);
    }
}

/* Large enough for the products of columns, and the same by orthogonal factors. */
static void test_large(void **state) {
    (void)state;
    regression r = regression_make(9000, 110, 1, 1, 44), half = {4000, 110, r.x, r.y};
    margin_data data = regression_data(&r), first = regression_data(&half);
    margin_statistics_result s = statistics_of("least-squares", &data, NULL);
    double *weights = calloc(9000, sizeof *weights);
    assert_true(s.rank == 110 && s.freedom == 9000 - 111);
    margin_statistics_free(&s);
    for (int i = 0; i < 4000; i++)
        weights[i] = 1;
    data.weights = margin_values_f64(weights, 9000);
    s = statistics_of("least-squares", &data, NULL); /* 4000 rows: orthogonal factors */
    for (int i = 4000; i < 9000; i++)
        weights[i] = 1e-13;
    margin_statistics_result t = statistics_of("least-squares", &data, NULL); /* 9000: products */
    margin_statistics_result u = statistics_of("least-squares", &first, NULL);
    for (int j = 0; j < 111; j++) {
        assert_close(margin_statistics_coefficient(&s, j)->error /
                         margin_statistics_coefficient(&t, j)->error,
                     1, 1e-9);
        assert_close(margin_statistics_coefficient(&s, j)->error /
                         margin_statistics_coefficient(&u, j)->error,
                     1, 1e-12);
    }
    margin_statistics_free(&s);
    margin_statistics_free(&t);
    margin_statistics_free(&u);
    free(weights);
    regression_free(&r);
}

/* ---- Properties ------------------------------------------------------------------------------ */

static void assert_same_numbers(const margin_statistics_result *a,
                                const margin_statistics_result *b, double tolerance) {
    assert_int_equal(a->coefficient_count, b->coefficient_count);
    for (int64_t j = 0; j < a->coefficient_count; j++) {
        assert_close(margin_statistics_coefficient(a, j)->estimate,
                     margin_statistics_coefficient(b, j)->estimate, tolerance);
        assert_close(margin_statistics_coefficient(a, j)->error,
                     margin_statistics_coefficient(b, j)->error, tolerance);
        assert_close(margin_statistics_coefficient(a, j)->p_value,
                     margin_statistics_coefficient(b, j)->p_value, tolerance);
    }
    assert_close(a->freedom, b->freedom, 0);
    assert_close(a->log_likelihood, b->log_likelihood, tolerance);
    assert_close(a->condition, b->condition, tolerance);
}

/* Weight k is k rows, weight 0 none, in any order; for least squares and likelihoods. */
static void test_weights(void **state) {
    (void)state;
    static const char *const specs[] = {"least-squares", "logistic(C=inf, tol=1e-13)"};
    enum { ROWS = 80, COLUMNS = 3 };
    for (int k = 0; k < 2; k++) {
        sample *s = sample_make(ROWS, COLUMNS, 2, 0.4, 17);
        double weights[ROWS];
        int64_t copies[ROWS * 3], count = 0;
        margin_data data = sample_data(s, k ? CSR_F64_I32_I64 : DENSE_F64), repeated = data;
        for (int64_t i = 0; i < ROWS; i++)
            weights[i] = (double)(i % 4 == 3 ? 0 : 1 + i % 3);
        for (int64_t i = ROWS - 1; i >= 0; i--)
            for (int c = 0; c < (int)weights[i]; c++)
                copies[count++] = i;
        data.weights = margin_values_f64(weights, ROWS);
        repeated.selection = copies;
        repeated.selected = count;
        margin_statistics_result a = statistics_of(specs[k], &data, NULL);
        margin_statistics_result b = statistics_of(specs[k], &repeated, NULL);
        assert_same_numbers(&a, &b, 1e-9);
        assert_true(a.weight == (double)count && a.rows < b.rows);
        margin_statistics_free(&a);
        margin_statistics_free(&b);
        sample_free(s);
    }
}

/* statsmodels: WLS with weights of mean 1 */
static void test_precision_weights(void **state) {
    (void)state;
    static const double known[] = {3.8059457001017547, 0.413519789109238, -17.21928093490795,
                                   6.743535296824092};
    double x[50], y[50], weights[50], sum = 0;
    for (int i = 0; i < 50; i++) {
        x[i] = cars[i][0];
        y[i] = cars[i][1];
        weights[i] = 1 + i % 3;
        sum += weights[i] / 50;
    }
    for (int i = 0; i < 50; i++)
        weights[i] /= sum;
    const margin_data data = {.x = margin_dense_f64(x, 50, 1, 1),
                              .y = margin_values_f64(y, 50),
                              .weights = margin_values_f64(weights, 50)};
    margin_statistics_result r = statistics_of("least-squares", &data, NULL);
    assert_coefficients(&r, known, 11);
    assert_digits(r.residual_error, 15.044275186816355, 12, "noise");
    assert_digits(r.r2, 0.6383079779344814, 12, "r2");
    margin_statistics_free(&r);
}

/* Stages that are affine change nothing; categories become columns of their own. */
static void test_stages(void **state) {
    (void)state;
    regression r = regression_make(90, 4, 3, 1, 8);
    const margin_data data = regression_data(&r);
    margin_statistics_result plain = statistics_of("least-squares", &data, NULL);
    static const char *const specs[] = {"standardize | least-squares",
                                        "minmax | standardize | least-squares", "ridge(alpha=0)"};
    for (int k = 0; k < 3; k++) {
        margin_statistics_result other = statistics_of(specs[k], &data, NULL);
        assert_same_numbers(&plain, &other, 1e-10);
        margin_statistics_free(&other);
    }
    margin_statistics_free(&plain);
    static const char *const colours[] = {"blue", "red"};
    const margin_column columns[4] = {
        {.name = "a"},
        {.name = "colour", .kind = MARGIN_CATEGORICAL, .categories = colours, .category_count = 2},
        {.name = "c"},
        {.name = "d"}};
    margin_data coded = data;
    coded.columns = columns;
    for (int64_t i = 0; i < 90; i++)
        r.x[i * 4 + 1] = (double)(i % 2);
    margin_statistics_result s = statistics_of("onehot | least-squares", &coded, NULL);
    assert_int_equal(s.dependence_count, 1);
    const margin_dependence *d = margin_statistics_dependence(&s, 0);
    assert_contains(margin_statistics_coefficient(&s, d->feature)->name, "colour=");
    assert_true(d->term_count == 1 && fabs(d->constant - 1) < 1e-12);
    assert_true(isnan(margin_statistics_coefficient(&s, s.coefficient_count - 1)->error));
    margin_statistics_free(&s);
    regression_free(&r);
}

static void test_layouts(void **state) {
    (void)state;
    sample *s = sample_make(200, 5, 2, 0.4, 19);
    static const char *const specs[] = {"least-squares", "logistic(C=inf, tol=1e-13)"};
    for (int k = 0; k < 2; k++) {
        margin_data data = sample_data(s, 0);
        margin_statistics_result first = statistics_of(specs[k], &data, NULL);
        for (int layout = 1; layout < LAYOUTS; layout++) {
            data = sample_data(s, layout);
            margin_statistics_result other = statistics_of(specs[k], &data, NULL);
            assert_same_numbers(&first, &other, 1e-9);
            margin_statistics_free(&other);
        }
        margin_statistics_free(&first);
    }
    sample_free(s);
}

static void test_threads(void **state) {
    (void)state;
    regression r = regression_make(9000, 6, 1, 1, 45);
    const margin_data data = regression_data(&r);
    margin_statistics_options options = {.size = sizeof options, .covariance = 1};
    margin_statistics_result first = {0};
    margin_error error = {0};
    for (int threads = 1; threads <= 4; threads++) {
        margin_context *own = support_context(NULL, threads);
        margin_model *model = fit_text(own, "least-squares", &data, NULL);
        margin_statistics_result s = {0};
        if (margin_statistics(own, model, &data, &options, &s, &error) < 0)
            fail_msg("%s", error.text);
        if (threads == 1)
            first = s;
        else
            assert_memory_equal(first.covariance, s.covariance, 49 * sizeof(double));
        if (threads > 1) margin_statistics_free(&s);
        margin_model_free(model);
        margin_context_free(own);
    }
    margin_statistics_free(&first); /* outlives its context */
    regression_free(&r);
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static void test_refusals(void **state) {
    (void)state;
    regression r = regression_make(30, 3, 0, 1, 46), other = regression_make(30, 3, 0, 1, 47);
    regression few = regression_make(4, 3, 0, 1, 48);
    const margin_data data = regression_data(&r), wrong = regression_data(&other);
    const margin_data four = regression_data(&few);
    margin_data narrow = data;
    narrow.x.columns = 2;
    refused("ridge", &data, &data, MARGIN_ERROR_DATA, "train least-squares");
    refused("ridge(lambda=0.1)", &data, &data, MARGIN_ERROR_DATA, "penalty");
    refused("least-squares", &data, &wrong, MARGIN_ERROR_DATA, "standard errors from the best");
    refused("least-squares", &four, &four, MARGIN_ERROR_DATA, "4 rows cannot tell");
    refused("least-squares", &data, &narrow, MARGIN_ERROR_ARGUMENT, "column");
    sample *s = sample_make(40, 3, 2, 0, 21);
    const margin_data separable = sample_data(s, DENSE_F64);
    refused("perceptron", &separable, &separable, MARGIN_ERROR_ARGUMENT, "perceptron has no");
    refused("logistic(C=inf, max_iter=60)", &separable, &separable, MARGIN_ERROR_DATA,
            "a hyperplane separates");
    sample_free(s);
    margin_model *model = fit_text(context, "least-squares", &data, NULL);
    margin_statistics_result result = {0};
    margin_error error = {0};
    margin_statistics_options options = {.size = sizeof options, .confidence = 1};
    assert_int_equal(margin_statistics(context, model, &data, &options, &result, &error),
                     MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "confidence");
    options = (margin_statistics_options){.size = sizeof options, .target = 1};
    assert_int_equal(margin_statistics(context, model, &data, &options, &result, &error),
                     MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "target");
    assert_int_equal(margin_statistics(context, NULL, &data, NULL, &result, &error),
                     MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_statistics(context, model, &data, NULL, NULL, &error),
                     MARGIN_ERROR_ARGUMENT);
    margin_model_free(model);
    margin_statistics_free(NULL);
    regression_free(&few);
    regression_free(&other);
    regression_free(&r);
}

/* A hyperplane that rows of both classes lie on and all others beside: column 0 separates but for
 * the rows that have 0 in it. */
static void test_touching(void **state) {
    (void)state;
    enum { ROWS = 90, COLUMNS = 3 };
    static const char *const specs[] = {"logistic(C=inf)", "logistic(C=inf, solver=newton)",
                                        "standardize | logistic(C=inf)",
                                        "logistic(C=inf, solver=gd, max_iter=3000)"};
    regression r = regression_make(ROWS, COLUMNS, 0, 1, 51);
    int32_t labels[ROWS];
    for (int i = 0; i < ROWS; i++) {
        double *row = r.x + i * COLUMNS;
        labels[i] = i < 30 ? row[1] + row[2] > (i % 3 - 1) * 0.8 : i % 2;
        row[0] =
            i < 30 ? 0 : (labels[i] ? 0.5 : -0.5) + 0.2 * (labels[i] ? 1 : -1) * row[0] * row[0];
    }
    margin_data data = regression_data(&r);
    data.y = margin_labels_i32(labels, ROWS);
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++)
        refused(specs[k], &data, &data, MARGIN_ERROR_DATA, "they touch, and do not overlap");
    r.x[40 * COLUMNS] *= -1; /* one row beyond: they overlap */
    margin_statistics_result s = statistics_of(specs[0], &data, NULL);
    assert_true(margin_statistics_coefficient(&s, 0)->error < 10);
    margin_statistics_free(&s);
    regression_free(&r);
}

/* b = a + 9, and a is alike in nearly all rows: rounding does not make the two tell apart. */
static void test_rounded_dependence(void **state) {
    (void)state;
    enum { ROWS = 57 };
    double x[2 * ROWS], y[ROWS];
    for (int i = 0; i < ROWS; i++) {
        x[2 * i] = i < 4 ? 2 : 1;
        x[2 * i + 1] = x[2 * i] + 9;
        y[i] = (7 * i * i) % 11;
    }
    const margin_data data = {.x = margin_dense_f64(x, ROWS, 2, 2),
                              .y = margin_values_f64(y, ROWS)};
    margin_statistics_result s = statistics_of("least-squares", &data, NULL);
    assert_int_equal(s.rank, 1);
    assert_int_equal(s.dependence_count, 1);
    assert_true(isnan(margin_statistics_coefficient(&s, 0)->error));
    margin_statistics_free(&s);
}

/* No noise at all: the weights are exact, and that is no reason to refuse. */
static void test_exact_fit(void **state) {
    (void)state;
    regression r = regression_make(25, 3, 0, 0, 49);
    for (int64_t i = 0; i < 25; i++)
        r.y[i] = r.x[i * 3] - 2 * r.x[i * 3 + 2] + 5;
    const margin_data data = regression_data(&r);
    margin_statistics_result s = statistics_of("least-squares", &data, NULL);
    assert_true(s.r2 > 1 - 1e-14 && margin_statistics_coefficient(&s, 0)->error < 1e-13);
    assert_close(margin_statistics_coefficient(&s, 2)->estimate, -2, 1e-13);
    margin_statistics_free(&s);
    for (int64_t i = 0; i < 25; i++)
        r.y[i] = 4;
    s = statistics_of("least-squares", &data, NULL);
    assert_true(isnan(s.r2) && s.residual_error == 0);
    margin_statistics_free(&s);
    regression_free(&r);
}

typedef struct {
    const char *spec;
    const margin_data *data;
} failing_case;

static margin_status fit_and_infer(margin_context *own, void *user, margin_error *error) {
    const failing_case *f = user;
    margin_statistics_options options = {.size = sizeof options, .covariance = 1};
    margin_statistics_result result = {0};
    margin_spec *spec = NULL;
    margin_model *model = NULL;
    margin_status status = margin_spec_parse(own, f->spec, &spec, error);
    if (status >= 0) status = margin_fit(own, spec, f->data, &model, NULL, error);
    if (status >= 0) status = margin_statistics(own, model, f->data, &options, &result, error);
    margin_statistics_free(&result);
    margin_model_free(model);
    margin_spec_free(spec);
    return status;
}

static void test_no_memory(void **state) {
    (void)state;
    regression r = dependent_columns();
    const margin_data data = regression_data(&r);
    sample *s = sample_make(60, 2, 2, 0.4, 22);
    const margin_data classes = sample_data(s, CSR_F32_I32_I64);
    failing_case cases[] = {{"standardize | least-squares", &data}, {"logistic(C=inf)", &classes}};
    for (int k = 0; k < 2; k++)
        assert_true(support_fail_each_allocation(2, fit_and_infer, &cases[k]) > 20);
    sample_free(s);
    regression_free(&r);
}

static void test_cancel(void **state) {
    (void)state;
    regression r = regression_make(3000, 5, 0, 1, 50);
    const margin_data data = regression_data(&r);
    margin_context *own = support_context(NULL, 2);
    margin_model *model = fit_text(own, "least-squares", &data, NULL);
    margin_statistics_result result = {0};
    margin_error error = {0};
    margin_context_cancel(own);
    assert_int_equal(margin_statistics(own, model, &data, NULL, &result, &error),
                     MARGIN_ERROR_CANCELLED);
    margin_model_free(model);
    margin_context_free(own);
    regression_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_norris),
        cmocka_unit_test(test_longley),
        cmocka_unit_test(test_filip),
        cmocka_unit_test(test_cars),
        cmocka_unit_test(test_logistic),
        cmocka_unit_test(test_dependences),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_covariance),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_precision_weights),
        cmocka_unit_test(test_stages),
        cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_touching),
        cmocka_unit_test(test_exact_fit),
        cmocka_unit_test(test_rounded_dependence),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_cancel),
    };
    return cmocka_run_group_tests(tests, support_open_context, support_close_context);
}
