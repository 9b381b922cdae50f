/* svm(multiclass=argmax), the hinge of Crammer and Singer: values of LIBLINEAR, the dual problem
 * added up from the model's dual variables, properties.
 *
 * The values were computed with LIBLINEAR 2.3's method for this loss (scikit-learn 1.9.1,
 * LinearSVC(multi_class="crammer_singer", fit_intercept=False, tol=1e-10)); it has no free
 * intercept. The objective was added up by NumPy. */
#include "classes_cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Values of LIBLINEAR --------------------------------------------------------------------- */

static void assert_table(const char *path, const char *spec, double objective) {
    assert_int_equal(fit_table(path, NULL, spec, objective, 1e-7).subproblems, 1);
}

static void test_examples(void **state) {
    char iris[SUPPORT_PATH], wine[SUPPORT_PATH];
    (void)state;
    support_source(iris, "examples/data/iris.csv");
    support_source(wine, "examples/data/wine.csv");
    assert_table(iris, "svm(multiclass=argmax, intercept=no, tol=1e-8)", 22.450058067339764);
    assert_table(iris, "svm(multiclass=argmax, intercept=no, alpha=0.5, tol=1e-8)",
                 22.450058067339764);
    assert_table(wine, "standardize | svm(multiclass=argmax, intercept=no, tol=1e-8)",
                 2.7239673897558405);
}

static void test_glass(void **state) {
    char path[SUPPORT_PATH];
    (void)state;
    SUPPORT_DATA_OR_SKIP(path, "tabular/glass.csv");
    assert_table(path, "standardize | svm(multiclass=argmax, intercept=no, tol=1e-8)",
                 166.66458516706317);
    assert_table(path, "standardize | svm(multiclass=argmax, intercept=no, C=0.1, tol=1e-8)",
                 18.01854555903564);
}

/* ---- The dual problem ------------------------------------------------------------------------ */

/* max sum_i sum_k!=y -alpha_ik - |W(alpha)|^2 / (2 rho) with alpha_ik <= c 1[k = y], sums over k,
 * and over i with an intercept, 0: all of it checked on the model's dual variables. */
static void assert_proven(const classes_oracle *o, const margin_model *model,
                          const margin_report *report) {
    double *alpha = calloc((size_t)(o->rows * o->classes), sizeof *alpha);
    double dual = 0, square = 0;
    for (int64_t k = 0; k < o->classes; k++) {
        const int64_t *rows;
        const double *coefficients, *signs;
        const int64_t count = margin_model_dual(model, k, &rows, &coefficients, &signs, NULL);
        double sum = 0, total = 0;
        for (int64_t e = 0; e < count; e++) {
            assert_true(coefficients[e] > 0);
            alpha[rows[e] * o->classes + k] = signs[e] * coefficients[e];
            sum += signs[e] * coefficients[e];
            total += coefficients[e];
        }
        if (o->intercept) assert_true(fabs(sum) <= 1e-9 * fmax(total, 1));
    }
    for (int64_t i = 0; i < o->rows; i++) {
        const double c = o->factor * (o->weights ? o->weights[i] : 1);
        double sum = 0;
        for (int64_t k = 0; k < o->classes; k++) {
            const double a = alpha[i * o->classes + k];
            const bool own = k == (int64_t)o->labels[i];
            assert_true(a <= (own ? c * (1 + 1e-12) : 0));
            sum += a;
            if (!own) dual -= a;
        }
        assert_true(fabs(sum) <= 1e-12 * c);
    }
    for (int64_t k = 0; k < o->classes; k++)
        for (int64_t j = 0; j < o->columns; j++) {
            double v = 0;
            for (int64_t i = 0; i < o->rows; i++)
                v += alpha[i * o->classes + k] * o->x[i * o->columns + j];
            square += v * v;
        }
    dual -= square / (2 * o->rho);
    const double primal = oracle_of_model(o, model);
    assert_close(primal, report->objective, 1e-11);
    assert_true(primal - dual >= -1e-10 * fmax(1, primal));
    assert_true(primal - dual <= report->tolerance * fmax(1, primal) * (1 + 1e-6));
    assert_true(fabs((primal - dual) / fmax(1, primal) - report->gap) <= 1e-10);
    free(alpha);
}

static void assert_sample(const sample *s, const double *weights, const char *spec,
                          classes_oracle o) {
    margin_context *context = support_context(NULL, 2);
    double objective = 0;
    o.x = s->f64;
    o.labels = s->labels;
    o.weights = weights;
    o.rows = s->rows;
    o.columns = s->columns;
    o.classes = s->classes;
    o.hinge = 1;
    for (int layout = 0; layout < LAYOUTS; layout++) {
        margin_data data = sample_data(s, layout);
        margin_report report = {0}, found = {0};
        margin_error error = {0};
        if (weights) data.weights = margin_values_f64(weights, s->rows);
        margin_model *model = fit_text(context, spec, &data, &report);
        assert_int_equal(report.status, MARGIN_OK);
        assert_proven(&o, model, &report);
        if (layout == 0) objective = report.objective;
        assert_close(report.objective, objective, 2 * report.tolerance);
        if (margin_verify(context, model, &data, &found, &error) != MARGIN_OK)
            fail_msg("%s: %s %s", spec, error.text, found.reason);
        assert_close(found.gap, report.gap, 1e-9);
        margin_model_free(model);
    }
    margin_context_free(context);
}

static void test_proven(void **state) {
    double weights[80];
    (void)state;
    sample *s = sample_make(80, 5, 4, 0.25, 15);
    for (int i = 0; i < 80; i++)
        weights[i] = 0.25 + i % 5;
    const classes_oracle plain = {.factor = 1, .rho = 1, .intercept = 1};
    assert_sample(s, NULL, "svm(multiclass=argmax, tol=1e-6)", plain);
    assert_sample(s, weights, "svm(multiclass=argmax, loss=hinge, C=0.2, tol=1e-6)",
                  (classes_oracle){.factor = 0.2, .rho = 1, .intercept = 1});
    assert_sample(s, weights, "svm(multiclass=argmax, alpha=2, intercept=no, tol=1e-6)",
                  (classes_oracle){.factor = 1, .rho = 4});
    sample_free(s);
}

/* The one without an intercept is worse, and one more column of 1e3 is nearly a free intercept. */
static void test_free_intercept(void **state) {
    enum { ROWS = 80, COLUMNS = 3 };
    double wide[ROWS * (COLUMNS + 1)];
    (void)state;
    sample *s = sample_make(ROWS, COLUMNS, 3, 0.2, 16);
    margin_context *context = support_context(NULL, 1);
    for (int i = 0; i < ROWS; i++) {
        memcpy(wide + i * (COLUMNS + 1), s->f64 + i * COLUMNS, COLUMNS * sizeof *wide);
        wide[i * (COLUMNS + 1) + COLUMNS] = 30;
    }
    const margin_data data = sample_data(s, DENSE_F64);
    const margin_data more = {.x = margin_dense_f64(wide, ROWS, COLUMNS + 1, COLUMNS + 1),
                              .y = margin_values_f64(s->labels, ROWS)};
    margin_report with = {0}, without = {0}, nearly = {0};
    margin_model_free(fit_text(context, "svm(multiclass=argmax, tol=1e-7)", &data, &with));
    margin_model_free(
        fit_text(context, "svm(multiclass=argmax, intercept=no, tol=1e-7)", &data, &without));
    margin_model_free(
        fit_text(context, "svm(multiclass=argmax, intercept=no, tol=1e-7)", &more, &nearly));
    assert_true(with.objective < without.objective * (1 - 1e-3));
    assert_true(with.objective <= nearly.objective * (1 + 1e-7));
    assert_close(with.objective, nearly.objective, 1e-3);
    margin_context_free(context);
    sample_free(s);
}

/* Only rows at the margin or inside of it carry the solution. */
static void test_support_vectors(void **state) {
    char path[SUPPORT_PATH];
    int64_t inside = 0;
    (void)state;
    support_source(path, "examples/data/iris.csv");
    margin_context *context = support_context(NULL, 2);
    margin_table *table;
    margin_error error = {0};
    margin_report report = {0};
    if (margin_table_read(context, path, NULL, &table, &error) < 0) fail_msg("%s", error.text);
    const margin_data data = margin_table_data(table);
    margin_model *model = fit_text(context, "svm(multiclass=argmax, tol=1e-6)", &data, &report);
    double scores[150 * 3];
    assert_int_equal(margin_scores(model, &data.x, scores, &error), MARGIN_OK);
    for (int i = 0; i < 150; i++) {
        const int own = i / 50; /* rows lie by class */
        double other = -INFINITY;
        for (int k = 0; k < 3; k++)
            if (k != own) other = fmax(other, scores[3 * i + k]);
        inside += scores[3 * i + own] - other < 1.01;
    }
    assert_true(inside > 10 && inside < 40);
    assert_true(margin_report_item_value(&report, "support_vectors") <= (double)inside);
    margin_model_free(model);
    margin_table_free(table);
    margin_context_free(context);
}

/* Too hard for coordinate descent: it stops, with its gap and what helps. */
static void test_hard(void **state) {
    const double x[] = {-1.30, 0.905, 0.446, -0.537, 0.581, 0.365, 0.294, 0.028};
    const double y[] = {0, 1, 2, 3};
    (void)state;
    margin_context *context = support_context(NULL, 1);
    const margin_data data = {.x = margin_dense_f64(x, 4, 2, 2), .y = margin_values_f64(y, 4)};
    margin_report report = {0};
    margin_model *model = fit_text(
        context, "svm(multiclass=argmax, C=1e10, tol=1e-5, max_iter=1000)", &data, &report);
    assert_int_equal(report.status, MARGIN_STOPPED_ITERATIONS);
    assert_true(report.gap > report.tolerance);
    margin_model_free(model);
    margin_context_free(context);
}

/* Copies of a row in other classes: their shares lie next to each other, where only rounding
 * decides which ones are left. */
static void test_equal_shares(void **state) {
    const double x[] = {0, 0, 0, -3, 1, -3, 0, 1}, y[] = {0, 1, 2, 3, 0, 1, 2, 3};
    const double z[] = {0, 2, 0, -1, -1, 1}, v[] = {0, 1, 2, 3, 0, 1};
    (void)state;
    margin_context *context = support_context(NULL, 1);
    const margin_data first = {.x = margin_dense_f64(x, 8, 1, 1), .y = margin_values_f64(y, 8)};
    const margin_data second = {.x = margin_dense_f64(z, 6, 1, 1), .y = margin_values_f64(v, 6)};
    margin_report report = {0};
    margin_model_free(fit_text(context, "svm(multiclass=argmax, C=100)", &first, &report));
    assert_true(report.gap <= 1e-4);
    margin_model_free(fit_text(context, "svm(multiclass=argmax, C=1e4)", &second, &report));
    assert_true(report.gap < 1);
    margin_context_free(context);
}

/* ---- Relations ------------------------------------------------------------------------------- */

/* Two classes: the hinge of the difference of both functions, with half of the penalty. */
static void test_two_classes(void **state) {
    (void)state;
    sample *s = sample_make(80, 4, 2, 0.2, 17);
    margin_context *context = support_context(NULL, 2);
    const margin_data data = sample_data(s, DENSE_F64);
    margin_report both = {0}, one = {0};
    margin_model *pair =
        fit_text(context, "svm(multiclass=argmax, alpha=0.5, tol=1e-8)", &data, &both);
    margin_model *single = fit_text(context, "svm(loss=hinge, alpha=0.25, tol=1e-8)", &data, &one);
    assert_close(both.objective, one.objective, 3e-8);
    for (int j = 0; j < 4; j++)
        assert_close(margin_model_weights(pair, 1)[j] - margin_model_weights(pair, 0)[j],
                     margin_model_weights(single, 0)[j], 1e-3);
    margin_model_free(pair);
    margin_model_free(single);
    margin_context_free(context);
    sample_free(s);
}

static double objective_of(margin_context *context, const char *spec, const margin_data *data) {
    margin_report report = {0};
    margin_model_free(fit_text(context, spec, data, &report));
    assert_int_equal(report.status, MARGIN_OK);
    return report.objective;
}

static void test_weights(void **state) {
    enum { ROWS = 60, COLUMNS = 4 };
    const char *spec = "svm(multiclass=argmax, tol=1e-7)";
    double weights[ROWS], x[3 * ROWS * COLUMNS], y[3 * ROWS];
    int64_t order[ROWS], copies = 0;
    (void)state;
    sample *s = sample_make(ROWS, COLUMNS, 4, 0.2, 18);
    margin_context *context = support_context(NULL, 2);
    margin_data data = sample_data(s, DENSE_F64);
    for (int i = 0; i < ROWS; i++) {
        weights[i] = s->labels[i] == 2 ? 0 : i % 4;
        order[i] = (i * 7) % ROWS;
        for (int k = 0; k < (int)weights[i]; k++, copies++) {
            memcpy(x + copies * COLUMNS, s->f64 + i * COLUMNS, COLUMNS * sizeof *x);
            y[copies] = 10 * s->labels[i];
        }
    }
    const margin_data copied = {.x = margin_dense_f64(x, copies, COLUMNS, COLUMNS),
                                .y = margin_values_f64(y, copies)};
    const double plain = objective_of(context, spec, &data);
    data.selection = order;
    data.selected = ROWS;
    assert_close(objective_of(context, spec, &data), plain, 3e-7);
    data.weights = margin_values_f64(weights, ROWS);
    assert_close(objective_of(context, spec, &data), objective_of(context, spec, &copied), 3e-7);
    margin_context_free(context);
    sample_free(s);
}

static void test_affine_and_threads(void **state) {
    static const int layouts[] = {DENSE_F64, DENSE_F32, CSR_F64_I32_I64, CSR_F32_I64_I64};
    const char *spec = "standardize | svm(multiclass=argmax, tol=1e-6)";
    double first = 0;
    (void)state;
    sample *s = sample_make(300, 6, 3, 0.2, 19);
    for (int k = 0; k < 4; k++) {
        const margin_data data = sample_data(s, layouts[k]);
        margin_model *models[2];
        margin_context *contexts[2];
        margin_report report = {0}, found = {0};
        margin_error error = {0};
        for (int t = 0; t < 2; t++) {
            contexts[t] = support_context(NULL, 1 + 3 * t);
            models[t] = fit_text(contexts[t], spec, &data, &report);
        }
        assert_same_model(models[0], models[1]);
        if (k == 0) first = report.objective;
        assert_close(report.objective, first, 3e-6);
        if (margin_verify(contexts[0], models[0], &data, &found, &error) != MARGIN_OK)
            fail_msg("%s %s", error.text, found.reason);
        for (int t = 0; t < 2; t++) {
            margin_model_free(models[t]);
            margin_context_free(contexts[t]);
        }
    }
    sample_free(s);
}

/* ---- Refusals, stops, failures --------------------------------------------------------------- */

static void test_refused(void **state) {
    (void)state;
    sample *s = sample_make(60, 4, 3, 0.2, 20);
    margin_context *context = support_context(NULL, 1);
    const margin_data data = sample_data(s, DENSE_F64);
    fit_refused(context, "svm(multiclass=argmax, loss=squared-hinge)", &data, MARGIN_ERROR_SPEC,
                "hinge of Crammer and Singer only");
    fit_refused(context, "svm(multiclass=argmax, solver=newton)", &data, MARGIN_ERROR_SPEC,
                "leave solver=newton out");
    fit_refused(context, "svm(multiclass=argmax, C=inf)", &data, MARGIN_ERROR_SPEC,
                "needs a penalty");
    fit_refused(context, "svm(multiclass=argmax, lambda=0)", &data, MARGIN_ERROR_SPEC,
                "needs a penalty");
    margin_report report = {0};
    margin_model *model =
        fit_text(context, "svm(multiclass=argmax, max_iter=1, tol=1e-9)", &data, &report);
    assert_int_equal(report.status, MARGIN_STOPPED_ITERATIONS);
    assert_contains(report.reason, "raise max_iter");
    assert_true(report.gap > report.tolerance && isfinite(report.gap));
    margin_model_free(model);
    margin_context_cancel(context);
    fit_refused(context, "svm(multiclass=argmax)", &data, MARGIN_ERROR_CANCELLED, "interrupted");
    margin_context_free(context);
    sample_free(s);
}

static void test_each_allocation(void **state) {
    static const int layouts[] = {DENSE_F32, CSR_F64_I32_I64};
    (void)state;
    sample *s = sample_make(50, 4, 3, 0.3, 21);
    for (int k = 0; k < 2; k++) {
        fit_attempt attempt = {"standardize | svm(multiclass=argmax)", sample_data(s, layouts[k])};
        assert_true(support_fail_each_allocation(1, attempt_fit, &attempt) > 20);
    }
    sample_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),        cmocka_unit_test(test_glass),
        cmocka_unit_test(test_proven),          cmocka_unit_test(test_free_intercept),
        cmocka_unit_test(test_support_vectors), cmocka_unit_test(test_hard),
        cmocka_unit_test(test_equal_shares),    cmocka_unit_test(test_two_classes),
        cmocka_unit_test(test_weights),         cmocka_unit_test(test_affine_and_threads),
        cmocka_unit_test(test_refused),         cmocka_unit_test(test_each_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
