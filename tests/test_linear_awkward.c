/* Awkward data, one kind a test, for every linear learner of the catalogue: a finite model with a
 * proof that holds or a reason, or a refusal that names what is wrong. */
#include "model_cases.h"

#include "learn/learner.h"
#include "model/object/model_object.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 30, MOST_COLUMNS = 40 };

typedef struct awkward {
    double x[ROWS * MOST_COLUMNS], y[ROWS], labels[ROWS];
    int64_t rows, columns;
} awkward;

/* Normal columns; a target and two classes by one of them, with noise. */
static void awkward_make(awkward *a, int64_t columns, uint64_t seed) {
    a->rows = ROWS;
    a->columns = columns;
    for (int64_t i = 0; i < ROWS; i++) {
        for (int64_t j = 0; j < columns; j++)
            a->x[i * columns + j] = support_normal(&seed);
        a->y[i] = 2 + a->x[i * columns] + 0.5 * support_normal(&seed);
        a->labels[i] = a->x[i * columns] + 0.8 * support_normal(&seed) > 0;
    }
    a->labels[0] = 0;
    a->labels[1] = 1;
}

static margin_data data_of(const awkward *a, const margin_component *learner) {
    const bool regression = (learner->abilities & MARGIN_CAN_REGRESSION) != 0;
    return (margin_data){.x = margin_dense_f64(a->x, a->rows, a->columns, a->columns),
                         .y = margin_values_f64(regression ? a->y : a->labels, a->rows)};
}

static bool classifies(const margin_component *learner) {
    return (learner->abilities & MARGIN_CAN_REGRESSION) == 0;
}

static bool has_option(const margin_component *c, const char *name) {
    for (int k = 0; k < c->option_count; k++)
        if (strcmp(c->options[k].name, name) == 0) return true;
    return false;
}

#define FOR_EACH_LEARNER(c)                                                                        \
    for (int at = 0; at < margin_component_count(); at++)                                          \
        for (const margin_component *c = margin_component_at(at);                                  \
             c && c->kind == MARGIN_LEARNER && mg_learner_find(c->name)->takes_affine; c = NULL)

/* A finite model that a second look agrees with. */
static margin_model *fit_sound(margin_context *context, const char *text, const margin_data *data) {
    margin_report report = {0}, found = {0};
    margin_error error = {0};
    margin_model *model = fit_text(context, text, data, &report);
    for (int64_t k = 0; k < margin_model_score_count(model); k++) {
        for (int64_t j = 0; j < data->x.columns; j++)
            assert_true(isfinite(margin_model_weights(model, k)[j]));
        assert_true(isfinite(margin_model_intercept(model, k)));
    }
    if (report.status == MARGIN_OK && !(report.gap <= report.tolerance))
        fail_msg("%s: converged at a gap of %g", text, report.gap);
    if (report.status != MARGIN_OK && strlen(report.reason) < 40)
        fail_msg("%s: stopped without a word: %s", text, report.reason);
    const margin_status status = margin_verify(context, model, data, &found, &error);
    /* where rounding ended the training, it also moves the gap */
    const bool near = report.status != MARGIN_OK && status >= 0 && found.gap <= 2 * report.gap;
    if (status != MARGIN_OK && !near) fail_msg("%s: %s%s", text, error.text, found.reason);
    return model;
}

static void check_all(const awkward *a) {
    margin_context *context = support_context(NULL, 2);
    FOR_EACH_LEARNER(c) {
        const margin_data data = data_of(a, c);
        margin_model_free(fit_sound(context, c->name, &data));
    }
    margin_context_free(context);
}

static void test_more_columns_than_rows(void **state) {
    awkward a;
    (void)state;
    awkward_make(&a, MOST_COLUMNS, 1);
    check_all(&a);
}

static void test_duplicate_and_collinear_columns(void **state) {
    awkward a;
    (void)state;
    awkward_make(&a, 5, 2);
    for (int64_t i = 0; i < ROWS; i++) {
        a.x[i * 5 + 3] = a.x[i * 5];
        a.x[i * 5 + 4] = 2 * a.x[i * 5] - 3 * a.x[i * 5 + 1];
    }
    check_all(&a);
}

static void test_constant_column(void **state) {
    awkward a;
    (void)state;
    awkward_make(&a, 4, 3);
    for (int64_t i = 0; i < ROWS; i++)
        a.x[i * 4 + 2] = -3.5;
    margin_context *context = support_context(NULL, 2);
    FOR_EACH_LEARNER(c) {
        const margin_data data = data_of(&a, c);
        margin_model *model = fit_sound(context, c->name, &data);
        for (int64_t k = 0; k < margin_model_score_count(model); k++)
            if (fabs(margin_model_weights(model, k)[2]) > 1e-3)
                fail_msg("%s: the constant has weight %g", c->name,
                         margin_model_weights(model, k)[2]);
        margin_model_free(model);
    }
    margin_context_free(context);
}

static void test_columns_of_very_different_size(void **state) {
    awkward a;
    (void)state;
    awkward_make(&a, 4, 4);
    for (int64_t i = 0; i < ROWS; i++) {
        a.x[i * 4 + 1] *= 1e-12;
        a.x[i * 4 + 2] *= 1e12;
    }
    check_all(&a);
    margin_context *context = support_context(NULL, 2);
    FOR_EACH_LEARNER(c) { /* on one scale there is nothing awkward left */
        char text[80];
        margin_report report = {0};
        const margin_data data = data_of(&a, c);
        if (!has_option(c, "solver")) continue; /* the perceptron finds a hyperplane or none */
        snprintf(text, sizeof text, "standardize | %s", c->name);
        margin_model_free(fit_text(context, text, &data, &report));
        if (report.status != MARGIN_OK) fail_msg("%s: %s", text, report.reason);
    }
    margin_context_free(context);
}

/* Columns whose sizes differ by 1e9, with next to no penalty: the ends of the stated domain. */
static void test_weak_penalties_on_columns_of_unlike_size(void **state) {
    static const char *const specs[] = {
        "logistic(C=1e6)",
        "logistic(C=1e6, l1_ratio=1)",
        "logistic(C=1e6, l1_ratio=0.5)",
        "svm(C=1e6)",
        "svm(C=1e6, loss=squared-hinge)",
        "exponential(C=1e6)",
        "softmax(C=1e6)",
        "lasso(alpha=1e-6)",
        "elastic-net(alpha=1e-6)",
        "ridge(alpha=1e-6)",
    };
    margin_context *context = support_context(NULL, 2);
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        awkward a;
        awkward_make(&a, 4, seed);
        for (int64_t i = 0; i < ROWS; i++) {
            a.x[i * 4 + 1] *= 1e-5;
            a.x[i * 4 + 2] *= 1e4;
        }
        for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
            char name[20] = "";
            margin_report found = {0};
            margin_error error = {0};
            sscanf(specs[k], "%19[a-z-]", name);
            const margin_data data = data_of(&a, margin_component_find(name));
            margin_model *model = fit_sound(context, specs[k], &data);
            if (margin_model_report(model)->status != MARGIN_OK)
                fail_msg("%s: %s", specs[k], margin_model_report(model)->reason);
            if (margin_verify(context, model, &data, &found, &error) != MARGIN_OK)
                fail_msg("%s: %s%s", specs[k], error.text, found.reason);
            margin_model_free(model);
        }
    }
    margin_context_free(context);
}

/* Sound and converged, with the same bytes for any number of threads. */
static void check_converged(const char *spec, const margin_data *data) {
    margin_context *one = support_context(NULL, 1), *three = support_context(NULL, 3);
    margin_report found = {0};
    margin_error error = {0};
    margin_model *model = fit_sound(one, spec, data), *other = fit_sound(three, spec, data);
    if (margin_model_report(model)->status != MARGIN_OK)
        fail_msg("%s: %s", spec, margin_model_report(model)->reason);
    if (margin_verify(one, model, data, &found, &error) != MARGIN_OK)
        fail_msg("%s: %s%s", spec, error.text, found.reason);
    for (int64_t k = 0; k < margin_model_score_count(model); k++)
        assert_memory_equal(margin_model_weights(model, k), margin_model_weights(other, k),
                            (size_t)data->x.columns * sizeof(double));
    margin_model_free(model);
    margin_model_free(other);
    margin_context_free(one);
    margin_context_free(three);
}

/* Rows that any labels separate. */
static void test_wide_with_weak_penalties(void **state) {
    enum { FEW = 30, MANY = 600 };
    static const char *const specs[] = {
        "logistic(C=1e6)",
        "exponential(C=1e6)",
        "svm(C=1e6, loss=squared-hinge)",
        "standardize | svm(C=1e6, loss=squared-hinge)",
        "svm(C=1e6, intercept=no)",
        "logistic(C=1, intercept=no)",
        "svm(C=100, multiclass=argmax)",
        "standardize | svm(C=100, multiclass=argmax)",
        "softmax(C=100)",
    };
    static double x[FEW * MANY];
    double two[FEW], three[FEW], weights[FEW];
    uint64_t seed = 3;
    (void)state;
    for (int k = 0; k < FEW * MANY; k++)
        x[k] = support_normal(&seed);
    memcpy(x + MANY, x, MANY * sizeof *x); /* the same row twice */
    memset(x + 2 * MANY, 0, MANY * sizeof *x);
    for (int i = 0; i < FEW; i++) {
        two[i] = i < 2 ? 1 : i % 2;
        three[i] = i < 2 ? 1 : i % 3;
        weights[i] = 1 + i % 4;
    }
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
        const bool many = strstr(specs[k], "argmax") || strstr(specs[k], "softmax");
        const margin_data data = {.x = margin_dense_f64(x, FEW, MANY, MANY),
                                  .y = margin_values_f64(many ? three : two, FEW),
                                  .weights = margin_values_f64(weights, FEW)};
        check_converged(specs[k], &data);
    }
}

/* Scores of a million less a million have few digits; the columns' means are taken off inside. */
static void test_offsets_that_nobody_took_off(void **state) {
    enum { MANY_ROWS = 300, COLUMNS = 20 };
    static const char *const specs[] = {
        "logistic(C=1)",
        "logistic(C=1e6)",
        "logistic(C=1, l1_ratio=1)",
        "logistic(C=1e6, l1_ratio=1)",
        "logistic(C=1e6, l1_ratio=0.5)",
        "exponential(C=1e6)",
        "softmax(C=1e6)",
        "svm(C=1)",
    };
    static double x[MANY_ROWS * COLUMNS];
    double labels[MANY_ROWS];
    uint64_t seed = 5;
    (void)state;
    for (int i = 0; i < MANY_ROWS; i++) {
        double sum = 0;
        for (int j = 0; j < COLUMNS; j++) {
            const double value = support_normal(&seed);
            x[i * COLUMNS + j] = 1e6 + value;
            if (j < 5) sum += value;
        }
        labels[i] = sum + support_normal(&seed) > 0;
    }
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
        const margin_data data = {.x = margin_dense_f64(x, MANY_ROWS, COLUMNS, COLUMNS),
                                  .y = margin_values_f64(labels, MANY_ROWS)};
        check_converged(specs[k], &data);
    }
}

/* Coordinate descent that gets nowhere leaves the rest to a method that factors. */
static void test_coordinate_descent_hands_over(void **state) {
    awkward a;
    (void)state;
    awkward_make(&a, 4, 4);
    for (int64_t i = 0; i < ROWS; i++)
        a.x[i * 4 + 2] *= 1e6;
    margin_context *context = support_context(NULL, 1);
    static const char *const specs[] = {"svm(C=1e6, solver=dual_cd)", "svm(C=1e10, solver=dual_cd)",
                                        "logistic(C=1e10, solver=dual_cd)"};
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
        const margin_data data = {.x = margin_dense_f64(a.x, ROWS, 4, 4),
                                  .y = margin_values_f64(a.labels, ROWS)};
        margin_model *model = fit_sound(context, specs[k], &data);
        if (margin_model_report(model)->status != MARGIN_OK ||
            margin_model_report(model)->iterations > 5000)
            fail_msg("%s: %g steps, %s", specs[k], (double)margin_model_report(model)->iterations,
                     margin_model_report(model)->reason);
        margin_model_free(model);
    }
    margin_context_free(context);
}

/* What is left of the digits decides, not the offset: f32 and f64 of the same numbers agree. */
static void test_f32_with_large_offsets(void **state) {
    awkward a;
    float x[ROWS * 3];
    (void)state;
    awkward_make(&a, 3, 5);
    for (int64_t k = 0; k < ROWS * 3; k++) {
        volatile float rounded = (float)(1e5 + a.x[k]); /* some compilers skip the rounding */
        x[k] = rounded;
        a.x[k] = (double)rounded;
    }
    for (int64_t k = 0; k < ROWS * 3; k++)
        assert_true(a.x[k] == (double)x[k]);
    margin_context *context = support_context(NULL, 2);
    FOR_EACH_LEARNER(c) {
        char text[80];
        if (!has_option(c, "solver")) continue;
        snprintf(text, sizeof text, "standardize | %s", c->name);
        margin_data data = data_of(&a, c);
        margin_model *wide = fit_sound(context, text, &data);
        data.x = margin_dense_f32(x, ROWS, 3, 3);
        margin_model *narrow = fit_sound(context, text, &data);
        const double b = margin_model_report(wide)->objective;
        const double near =
            1e-9 + margin_model_report(wide)->gap + margin_model_report(narrow)->gap;
        if (fabs(margin_model_report(narrow)->objective - b) > near * fmax(1, fabs(b)))
            fail_msg("%s: objectives %.17g and %.17g, gaps %g and %g", text,
                     margin_model_report(narrow)->objective, b, margin_model_report(narrow)->gap,
                     margin_model_report(wide)->gap);
        margin_model_free(wide);
        margin_model_free(narrow);
    }
    margin_context_free(context);
}

static void test_separable_without_penalty(void **state) {
    awkward a;
    (void)state;
    awkward_make(&a, 2, 6);
    for (int64_t i = 0; i < ROWS; i++)
        a.labels[i] = a.x[i * 2] > 0;
    margin_context *context = support_context(NULL, 2);
    FOR_EACH_LEARNER(c) {
        char text[80];
        if (!classifies(c) || !has_option(c, "C")) continue;
        snprintf(text, sizeof text, "%s(C=inf)", c->name);
        const margin_data data = data_of(&a, c);
        margin_model *model = fit_sound(context, text, &data);
        assert_true(margin_model_report(model)->train_accuracy == 1);
        if (strcmp(c->name, "logistic") == 0 || strcmp(c->name, "exponential") == 0) {
            assert_true(margin_model_report(model)->status > 0);
            assert_contains(margin_model_report(model)->reason, "there is no optimum");
        }
        margin_model_free(model);
    }
    margin_context_free(context);
}

static void test_target_of_one_value(void **state) {
    awkward a;
    (void)state;
    awkward_make(&a, 3, 7);
    for (int64_t i = 0; i < ROWS; i++) {
        a.y[i] = 7;
        a.labels[i] = 7;
    }
    margin_context *context = support_context(NULL, 2);
    FOR_EACH_LEARNER(c) {
        const margin_data data = data_of(&a, c);
        if (classifies(c)) {
            fit_refused(context, c->name, &data, MARGIN_ERROR_DATA, "'7'");
            continue;
        }
        margin_model *model = fit_sound(context, c->name, &data);
        for (int j = 0; j < 3; j++)
            assert_true(fabs(margin_model_weights(model, 0)[j]) < 1e-9);
        assert_close(margin_model_intercept(model, 0), 7, 1e-9);
        margin_model_free(model);
    }
    margin_context_free(context);
}

static void test_impossible_weights(void **state) {
    awkward a;
    double weights[ROWS];
    (void)state;
    awkward_make(&a, 3, 8);
    margin_context *context = support_context(NULL, 2);
    FOR_EACH_LEARNER(c) {
        margin_data data = data_of(&a, c);
        if (!(c->abilities & MARGIN_CAN_WEIGHTS)) continue;
        data.weights = margin_values_f64(weights, ROWS);
        for (int i = 0; i < ROWS; i++)
            weights[i] = i == 4 ? -1 : 1;
        fit_refused(context, c->name, &data, MARGIN_ERROR_DATA, "row 5");
        weights[4] = NAN;
        fit_refused(context, c->name, &data, MARGIN_ERROR_DATA, "row 5");
        memset(weights, 0, sizeof weights);
        fit_refused(context, c->name, &data, MARGIN_ERROR_DATA, "weight 0");
    }
    margin_context_free(context);
}

/* Next to no loss, and next to no penalty. */
static void test_extreme_penalties(void **state) {
    awkward a;
    (void)state;
    awkward_make(&a, 3, 9);
    margin_context *context = support_context(NULL, 2);
    FOR_EACH_LEARNER(c) {
        char text[80];
        const margin_data data = data_of(&a, c);
        if (!has_option(c, "C")) continue;
        snprintf(text, sizeof text, "%s(C=1e-10)", c->name);
        margin_model *weak = fit_sound(context, text, &data);
        for (int64_t k = 0; k < margin_model_score_count(weak); k++)
            for (int j = 0; j < 3; j++)
                assert_true(fabs(margin_model_weights(weak, k)[j]) < 1e-6);
        margin_model_free(weak);
        snprintf(text, sizeof text, "%s(C=1e10)", c->name);
        margin_model_free(fit_sound(context, text, &data));
    }
    margin_context_free(context);
}

static void test_one_row(void **state) {
    awkward a;
    (void)state;
    awkward_make(&a, 3, 10);
    a.rows = 1;
    margin_context *context = support_context(NULL, 2);
    FOR_EACH_LEARNER(c) {
        const margin_data data = data_of(&a, c);
        if (classifies(c)) {
            fit_refused(context, c->name, &data, MARGIN_ERROR_DATA, "the label '0'");
            continue;
        }
        margin_model *model = fit_sound(context, c->name, &data);
        double value;
        margin_error error = {0};
        assert_int_equal(margin_predict_values(model, &data.x, &value, &error), MARGIN_OK);
        assert_close(value, a.y[0], 1e-9);
        margin_model_free(model);
    }
    margin_context_free(context);
}

/* Rounding of the scores, times C, is all that two looks at such an objective differ by. */
static void test_large_C_with_many_columns(void **state) {
    margin_context *context = support_context(NULL, 2);
    (void)state;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        awkward a;
        margin_report report = {0}, found = {0};
        margin_error error = {0};
        awkward_make(&a, MOST_COLUMNS, seed);
        a.rows = 10;
        const margin_data data = {.x = margin_dense_f64(a.x, a.rows, a.columns, a.columns),
                                  .y = margin_values_f64(a.labels, a.rows)};
        margin_model *model = fit_text(context, "svm(C=1e10, solver=dual_cd)", &data, &report);
        assert_int_equal(report.status, MARGIN_OK);
        if (margin_verify(context, model, &data, &found, &error) != MARGIN_OK)
            fail_msg("seed %d: %s%s", (int)seed, error.text, found.reason);
        margin_model_free(model);
    }
    margin_context_free(context);
}

/* ---- Without a penalty ----------------------------------------------------------------------- */

/* Columns a and a + difference, or a and the difference as a multiple of `unit`, which can be told
 * from each other: the same functions exactly. */
static margin_report fit_pair(margin_context *context, const char *spec, int64_t rows,
                              const double *x, const double *y, double unit, margin_report *found) {
    double *own = malloc((size_t)(2 * rows) * sizeof *own);
    for (int64_t i = 0; i < rows; i++) {
        own[2 * i] = x[2 * i];
        own[2 * i + 1] = unit > 0 ? (x[2 * i + 1] - x[2 * i]) / unit : x[2 * i + 1];
    }
    const margin_data data = {.x = margin_dense_f64(own, rows, 2, 2),
                              .y = margin_values_f64(y, rows)};
    margin_report report = {0};
    margin_error error = {0};
    margin_model *model = fit_text(context, spec, &data, &report);
    assert_true(margin_verify(context, model, &data, found, &error) >= 0);
    margin_model_free(model);
    free(own);
    return report;
}

/* No gap is below the distance from an optimum that another form of the same columns tells. */
static void test_nearly_dependent_without_penalty(void **state) {
    static const char *const specs[] = {
        "logistic(C=inf, tol=%s)", "logistic(C=inf, solver=newton, tol=%s)",
        "exponential(alpha=0, tol=%s)", "svm(C=inf, loss=squared-hinge, tol=%s)"};
    enum { PAIRS = 200 };
    double x[2 * PAIRS], y[PAIRS];
    margin_context *context = support_context(NULL, 1);
    (void)state;
    for (int digits = 3; digits <= 12; digits += 3)
        for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
            const double unit = ldexp(1, -(int)(digits * 3.33));
            uint64_t seed = 9;
            for (int64_t i = 0; i < PAIRS; i++) {
                const double z = support_normal(&seed);
                x[2 * i] = support_normal(&seed);
                x[2 * i + 1] = x[2 * i] + unit * z;
                y[i] = z + 0.8 * support_normal(&seed) > 0;
            }
            char spec[100];
            margin_report found = {0}, verified = {0};
            snprintf(spec, sizeof spec, specs[k], "1e-10");
            const double best = fit_pair(context, spec, PAIRS, x, y, unit, &found).objective;
            snprintf(spec, sizeof spec, specs[k], "1e-06");
            const margin_report report = fit_pair(context, spec, PAIRS, x, y, 0, &verified);
            const double away = (report.objective - best) / fmax(1, report.objective) - 1e-9;
            if (digits == 3) assert_int_equal(report.status, MARGIN_OK);
            assert_true(report.gap >= away);
            assert_true(verified.gap >= away);
        }
    margin_context_free(context);
}

/* Columns that depend on each other exactly, constant ones and empty ones do not hide an optimum.
 */
static void test_dependent_without_penalty(void **state) {
    static const char *const specs[] = {"logistic(C=inf)", "logistic(C=inf, solver=newton)",
                                        "exponential(alpha=0)", "softmax(C=inf)",
                                        "svm(C=inf, loss=squared-hinge)"};
    enum { DEPENDENT_ROWS = 120, COLUMNS = 7 };
    double x[COLUMNS * DEPENDENT_ROWS], y[DEPENDENT_ROWS];
    uint64_t seed = 10;
    margin_context *context = support_context(NULL, 1);
    (void)state;
    for (int64_t i = 0; i < DEPENDENT_ROWS; i++) {
        double *row = x + i * COLUMNS;
        row[0] = (double)(float)support_normal(&seed);
        row[1] = i % 3 == 0;
        row[2] = i % 3 == 1;
        row[3] = i % 3 == 2;
        row[4] = row[0] - 3 * row[1];
        row[5] = 1e9 + 1.0 / 3;
        row[6] = 0;
        y[i] = row[0] + row[1] + 2 * support_normal(&seed) > 0;
    }
    const margin_data data = {.x = margin_dense_f64(x, DEPENDENT_ROWS, COLUMNS, COLUMNS),
                              .y = margin_values_f64(y, DEPENDENT_ROWS)};
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++)
        for (int standard = 0; standard < 2; standard++) {
            char spec[100];
            margin_report report = {0}, found = {0};
            snprintf(spec, sizeof spec, "%s%s", standard ? "standardize | " : "", specs[k]);
            margin_model *model = fit_text(context, spec, &data, &report);
            if (report.status != MARGIN_OK) fail_msg("%s: %s", spec, report.reason);
            assert_int_equal(margin_verify(context, model, &data, &found, NULL), MARGIN_OK);
            margin_model_free(model);
        }
    margin_context_free(context);
}

/* A gap that is more than half of what it was is noticed. */
static void test_lower_gap_without_penalty(void **state) {
    margin_context *context = support_context(NULL, 1);
    awkward a;
    margin_report report = {0}, found = {0};
    (void)state;
    awkward_make(&a, 3, 77);
    const margin_data data = {.x = margin_dense_f64(a.x, a.rows, 3, 3),
                              .y = margin_values_f64(a.labels, a.rows)};
    margin_model *model = fit_text(context, "logistic(C=inf, tol=0.01)", &data, &report);
    assert_int_equal(report.status, MARGIN_OK);
    assert_int_equal(margin_verify(context, model, &data, &found, NULL), MARGIN_OK);
    assert_true(found.gap > 1e-9);
    model->report.gap = 0.7 * found.gap;
    assert_int_equal(margin_verify(context, model, &data, &found, NULL), MARGIN_STOPPED_STALLED);
    margin_model_free(model);
    margin_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_more_columns_than_rows),
        cmocka_unit_test(test_large_C_with_many_columns),
        cmocka_unit_test(test_duplicate_and_collinear_columns),
        cmocka_unit_test(test_constant_column),
        cmocka_unit_test(test_columns_of_very_different_size),
        cmocka_unit_test(test_weak_penalties_on_columns_of_unlike_size),
        cmocka_unit_test(test_coordinate_descent_hands_over),
        cmocka_unit_test(test_wide_with_weak_penalties),
        cmocka_unit_test(test_offsets_that_nobody_took_off),
        cmocka_unit_test(test_f32_with_large_offsets),
        cmocka_unit_test(test_separable_without_penalty),
        cmocka_unit_test(test_target_of_one_value),
        cmocka_unit_test(test_impossible_weights),
        cmocka_unit_test(test_extreme_penalties),
        cmocka_unit_test(test_one_row),
        cmocka_unit_test(test_nearly_dependent_without_penalty),
        cmocka_unit_test(test_dependent_without_penalty),
        cmocka_unit_test(test_lower_gap_without_penalty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
