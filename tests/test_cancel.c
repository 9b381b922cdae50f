/* A watchdog over the whole registry: every learner, every stage and every solver, on problems that
 * take seconds (watchdog.h). Calls beside fits: test_cancel_calls.
 *
 *   test_cancel                     all
 *   test_cancel PART...             those whose spec or data contain one of these words, printed */
#include "model_cases.h"
#include "watchdog.h"

#include "base/status.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Data ------------------------------------------------------------------------------------ */

typedef enum shape { TALL, SQUARE, WIDE, LARGE, SPARSE, CODES, SHAPES } shape;

static const struct {
    const char *name;
    int64_t rows, columns, classes;
} shapes[SHAPES] = {
    [TALL] = {"tall", 30000, 40, 5},       [SQUARE] = {"square", 2500, 2500, 2},
    [WIDE] = {"wide", 24, 3654, 2},        [LARGE] = {"large", 300000, 60, 2},
    [SPARSE] = {"sparse", 60000, 1000, 3}, [CODES] = {"codes", 1000000, 1, 2},
};

enum { NUMBERS = 18000000, STORED = 20 }; /* enough for each; values in a sparse row */

static double *values, *labels, *numbers;
static int64_t *starts;
static int32_t *indices;
static char *names;
static const char **categories;
static margin_column column;

static int set_up(void **state) {
    (void)state;
    const int64_t rows = shapes[CODES].rows;
    uint64_t seed = 7;
    values = malloc(NUMBERS * sizeof *values);
    labels = malloc((size_t)rows * sizeof *labels);
    numbers = malloc((size_t)rows * sizeof *numbers);
    starts = malloc((size_t)(rows + 1) * sizeof *starts);
    indices = malloc((size_t)shapes[SPARSE].rows * STORED * sizeof *indices);
    names = malloc((size_t)rows * 8);
    categories = malloc((size_t)rows * sizeof *categories);
    if (!values || !labels || !numbers || !starts || !indices || !names || !categories) return 1;
    for (int64_t i = 0; i < NUMBERS; i++)
        values[i] = support_uniform(&seed) - 0.5;
    for (int64_t i = 0; i < rows; i++)
        snprintf(names + 8 * i, 8, "%07d", (int)i);
    for (int64_t i = 0; i < rows; i++)
        categories[i] = names + 8 * i;
    for (int64_t i = 0; i < shapes[SPARSE].rows * STORED; i++) {
        const int64_t step = shapes[SPARSE].columns / STORED, at = i % STORED * step;
        indices[i] = (int32_t)(at + (int64_t)(support_random(&seed) % (uint64_t)step));
    }
    column = (margin_column){
        .name = "c", .kind = MARGIN_CATEGORICAL, .categories = categories, .category_count = rows};
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    free(values);
    free(labels);
    free(numbers);
    free(starts);
    free(indices);
    free(names);
    free(categories);
    return 0;
}

/* Targets with some truth in them: a sum of columns with noise, cut into classes by its size. */
static margin_data data_of(shape s, bool has_target, bool is_number) {
    const int64_t rows = shapes[s].rows, columns = shapes[s].columns;
    const int64_t per_row = s == SPARSE ? STORED : columns;
    uint64_t seed = 3;
    margin_data data = {.x = margin_dense_f64(values, rows, columns, columns)};
    for (int64_t i = 0; i < rows; i++) {
        double sum = support_uniform(&seed) - 0.5;
        for (int64_t j = 0; j < MG_MIN(per_row, 10); j++)
            sum += values[i * per_row + j];
        labels[i] = is_number ? sum : (double)((int64_t)(fabs(sum) * 8) % shapes[s].classes);
        starts[i + 1] = (i + 1) * per_row;
        if (s == CODES) numbers[i] = (double)i;
    }
    starts[0] = 0;
    if (s == SPARSE) data.x = margin_csr_f64(values, indices, starts, rows, columns);
    if (s == CODES) data.x = margin_dense_f64(numbers, rows, 1, 1);
    if (s == CODES) data.columns = &column;
    if (has_target) data.y = margin_values_f64(labels, rows);
    return data;
}

/* ---- Watchdog -------------------------------------------------------------------------------- */

typedef struct fitted {
    const char *text;
    margin_data data;
} fitted;

static margin_status fit(margin_context *context, const void *argument, margin_error *error) {
    const fitted *f = argument;
    margin_model *model = NULL;
    margin_spec *spec = parse_text(context, f->text);
    const margin_status status = margin_fit(context, spec, &f->data, &model, NULL, error);
    margin_model_free(model);
    margin_spec_free(spec);
    return status;
}

static void watch_fit(const char *text, shape s, bool has_target, bool is_number) {
    if (!watchdog_wants(text, shapes[s].name)) return;
    const fitted f = {text, data_of(s, has_target, is_number)};
    watchdog_watch(text, shapes[s].name, fit, &f);
}

static bool has_target(const margin_component *learner) {
    return learner->abilities &
           (MARGIN_CAN_TWO_CLASS | MARGIN_CAN_MULTICLASS | MARGIN_CAN_REGRESSION);
}

static bool is_number(const margin_component *learner) {
    return !(learner->abilities & (MARGIN_CAN_TWO_CLASS | MARGIN_CAN_MULTICLASS));
}

/* ---- What is watched ------------------------------------------------------------------------- */

static void test_learners(void **state) {
    static const shape on[] = {TALL, SQUARE, LARGE, SPARSE};
    (void)state;
    for (int k = 0; k < margin_component_count(); k++) {
        const margin_component *c = margin_component_at(k);
        char spec[100];
        if (c->kind != MARGIN_LEARNER) continue;
        for (size_t s = 0; s < sizeof on / sizeof *on; s++)
            watch_fit(c->name, on[s], has_target(c), is_number(c));
        snprintf(spec, sizeof spec, "poly(degree=2) | %s", c->name);
        watch_fit(spec, TALL, has_target(c), is_number(c));
    }
}

static void test_stages(void **state) {
    static const char *const with[][2] = {{"rbf", "rbf(centres=1000)"},
                                          {"nystroem", "nystroem(centres=1000)"},
                                          {"fourier", "fourier(features=2000)"},
                                          {"impute", "impute(with=median)"}};
    (void)state;
    for (int k = 0; k < margin_component_count(); k++) {
        const margin_component *c = margin_component_at(k);
        if (c->kind == MARGIN_LEARNER || strcmp(c->name, "onehot") == 0) continue;
        const char *stage = c->name;
        for (size_t w = 0; w < sizeof with / sizeof *with; w++)
            if (strcmp(with[w][0], c->name) == 0) stage = with[w][1];
        char spec[100];
        snprintf(spec, sizeof spec, "%s | logistic", stage);
        watch_fit(spec, LARGE, true, false);
        snprintf(spec, sizeof spec, "%s | naive-bayes", stage);
        watch_fit(spec, LARGE, true, false);
    }
    watch_fit("onehot | logistic", CODES, true, false);
    watch_fit("onehot | logistic(solver=newton)", CODES, true, false);
    watch_fit("onehot | ridge", CODES, true, true);
    watch_fit("onehot | lasso", CODES, true, true);
    watch_fit("onehot | naive-bayes", CODES, true, false);
}

static void test_solvers(void **state) {
    static const struct {
        const char *spec;
        shape on;
        bool is_number;
    } cases[] = {
        {"logistic(solver=newton, tol=1e-12)", TALL, false},
        {"logistic(solver=lbfgs, tol=1e-12)", LARGE, false},
        {"logistic(solver=gd, tol=1e-12)", LARGE, false},
        {"logistic(solver=sgd, tol=1e-12)", LARGE, false},
        {"logistic(solver=minibatch, tol=1e-12)", LARGE, false},
        {"svm(solver=dual_cd, tol=1e-9)", LARGE, false},
        {"svm(solver=ssnal, tol=1e-9)", LARGE, false},
        {"svm(kernel=rbf)", TALL, false},
        {"svm(kernel=rbf)", LARGE, false},
        {"svm(kernel=rbf, C=1000)", SPARSE, false},
        {"svm(multiclass=argmax, C=1000)", TALL, false},
        {"svm(multiclass=ovo)", TALL, false},
        {"logistic(alpha=0, multiclass=ovo)", TALL, false},
        {"softmax(alpha=0)", TALL, false},
        {"ridge(solver=qr)", SQUARE, true},
        {"ridge(solver=qr)", WIDE, true},
        {"ridge(solver=normal)", SQUARE, true},
        {"ridge(solver=normal)", WIDE, true},
        {"least-squares", WIDE, true},
        {"least-squares(solver=qr)", SQUARE, true},
        {"poly(degree=2) | ridge(solver=qr)", TALL, true},
        {"poly(degree=2) | lasso(lambda=1e-6)", TALL, true},
        {"lasso(lambda=1e-6)", SQUARE, true},
        {"logistic(solver=newton)", SQUARE, false},
        {"perceptron(kernel=rbf)", TALL, false},
        {"kernel-ridge", TALL, true},
        {"kernel-ridge(solver=cg)", TALL, true},
        {"kernel-logistic", TALL, false},
        {"knn(method=tree)", LARGE, false},
        {"knn(method=brute)", LARGE, false},
        {"kmeans(k=300)", LARGE, false},
        {"kmeans(k=2000)", TALL, false},
        {"kmeans(k=20)", SPARSE, false},
        {"rbf(centres=300) | logistic", LARGE, false},
        {"poly | logistic", LARGE, false},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        watch_fit(cases[k].spec, cases[k].on, !strstr(cases[k].spec, "kmeans"), cases[k].is_number);
}

static void test_most_were_ended(void **state) {
    (void)state;
    watchdog_report();
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_learners),
        cmocka_unit_test(test_stages),
        cmocka_unit_test(test_solvers),
        cmocka_unit_test(test_most_were_ended),
    };
    if (getenv("MARGIN_TEST_LAUNCHED")) return 77; /* by a tool that makes it slow */
    watchdog_words(argc - 1, argv + 1);
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
