/* Options of one fit: weights of classes by number, what its sub-problems say. */
#include "model_cases.h"

#include "base/status.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/group_context.h"

enum { ROWS = 150, COLUMNS = 4, CLASSES = 3 };

static sample *rows;
static const double weights[] = {0.25, 3, 1.1};

static int open_rows(void **state) {
    rows = sample_make(ROWS, COLUMNS, CLASSES, 0.2, 11);
    return support_open_context(state);
}
static int close_rows(void **state) {
    sample_free(rows);
    return support_close_context(state);
}

static margin_status fit_with(margin_context *c, const char *text, const margin_data *data,
                              const margin_fit_options *options, margin_model **model,
                              margin_report *report, margin_error *error) {
    margin_spec *spec = NULL;
    MG_TRY(margin_spec_parse(c, text, &spec, error));
    const margin_status status = margin_fit_with(c, spec, data, options, model, report, error);
    margin_spec_free(spec);
    return status;
}

/* ---- Weights of classes ---------------------------------------------------------------------- */

static const margin_fit_options weighed = {
    .size = sizeof weighed, .class_weights = weights, .class_weight_count = CLASSES};

static void weights_are_those_of_the_spec(void **state) {
    (void)state;
    static const char *const texts[][2] = {
        {"logistic", "logistic(class_weight=\"0:0.25,1:3,2:1.1\")"},
        {"standardize | softmax(C=2)",
         "standardize | softmax(C=2, class_weight=\"2:1.1,0:0.25,1:3\")"},
        {"svm(class_weight=balanced)", "svm(class_weight=\"0:0.25,1:3,2:1.1\")"}};
    const margin_data data = sample_data(rows, DENSE_F64);
    for (int k = 0; k < MG_LENGTH(texts); k++) {
        margin_model *model = NULL, *wanted = fit_text(context, texts[k][1], &data, NULL);
        margin_report found = {.size = sizeof found};
        assert_int_equal(fit_with(context, texts[k][0], &data, &weighed, &model, NULL, NULL),
                         MARGIN_OK);
        assert_non_null(strstr(margin_model_spec(model), "0:0.25,1:3,2:1.1"));
        assert_int_equal(margin_verify(context, model, &data, &found, NULL), MARGIN_OK);
        assert_close(margin_model_report(model)->objective, margin_model_report(wanted)->objective,
                     0);
        margin_model_free(model);
        margin_model_free(wanted);
    }
}

/* Names with what the list is written with. */
static void any_name_has_a_weight(void **state) {
    (void)state;
    static const char *const names[] = {"a,b:1", "", "\"d\", e\\,:"};
    const margin_column target = {
        .name = "kind", .kind = MARGIN_CATEGORICAL, .categories = names, .category_count = 3};
    margin_data data = sample_data(rows, DENSE_F64), copies = data;
    data.target = copies.target = &target;
    double each[ROWS];
    /* the classes by name: the empty one, "d, a */
    static const int order[] = {2, 0, 1};
    for (int i = 0; i < ROWS; i++)
        each[i] = weights[order[(int)rows->labels[i]]];
    copies.weights = margin_values_f64(each, ROWS);
    margin_report report = {.size = sizeof report}, wanted = {.size = sizeof wanted},
                  found = {.size = sizeof found};
    margin_model *model = NULL, *again = fit_text(context, "logistic", &copies, &wanted);
    margin_error error = {0};
    if (fit_with(context, "logistic", &data, &weighed, &model, &report, &error) != MARGIN_OK)
        fail_msg("%s", error.text);
    assert_close(report.objective, wanted.objective, 1e-6);
    assert_int_equal(margin_verify(context, model, &data, &found, NULL), MARGIN_OK);
    margin_model_free(again);
    again = fit_text(context, margin_model_spec(model), &data, NULL); /* its own spec says it */
    assert_same_model(model, again);
    margin_model_free(again);
    margin_model_free(model);
}

static void wrong_weights_are_refused(void **state) {
    (void)state;
    static const double none[] = {1, 0, 1}, nan[] = {1, NAN, 1};
    const struct {
        const char *spec;
        margin_fit_options options;
        margin_status status;
        const char *part;
    } cases[] = {{"logistic",
                  {.class_weights = weights, .class_weight_count = 2},
                  MARGIN_ERROR_ARGUMENT,
                  "2 class weights and 3 classes"},
                 {"logistic",
                  {.class_weights = none, .class_weight_count = 3},
                  MARGIN_ERROR_ARGUMENT,
                  "class_weights[1] is 0"},
                 {"logistic",
                  {.class_weights = nan, .class_weight_count = 3},
                  MARGIN_ERROR_ARGUMENT,
                  "class_weights[1] is nan"},
                 {"knn",
                  {.class_weights = weights, .class_weight_count = 3},
                  MARGIN_ERROR_ARGUMENT,
                  "knn has no option class_weight"},
                 {"ridge",
                  {.class_weights = weights, .class_weight_count = 3},
                  MARGIN_ERROR_ARGUMENT,
                  "this target has numbers"}};
    const margin_data data = sample_data(rows, DENSE_F64);
    for (int k = 0; k < MG_LENGTH(cases); k++) {
        margin_fit_options options = cases[k].options;
        margin_error error = {0};
        margin_model *model = NULL;
        options.size = sizeof options;
        assert_int_equal(fit_with(context, cases[k].spec, &data, &options, &model, NULL, &error),
                         cases[k].status);
        assert_contains(error.text, cases[k].part);
        assert_null(model);
    }
}

/* ---- First centres --------------------------------------------------------------------------- */

static void centres_are_those_of_the_spec(void **state) {
    (void)state;
    static const double first[] = {1, 0, 0.5, -1, -1, 1, 0.25, 0};
    const margin_fit_options options = {
        .size = sizeof options, .centres = first, .centre_count = MG_LENGTH(first)};
    static const char spec[] = "standardize | kmeans(k=2)";
    margin_data data = sample_data(rows, DENSE_F64);
    margin_error error = {0};
    margin_report found = {.size = sizeof found};
    data.y.values = NULL;
    margin_model *model = NULL,
                 *wanted = fit_text(context,
                                    "standardize | kmeans(k=2, centres=\"1 0 0.5 -1 -1 1 0.25 0\")",
                                    &data, NULL);
    assert_int_equal(fit_with(context, spec, &data, &options, &model, NULL, &error), MARGIN_OK);
    assert_string_equal(margin_model_spec(model), spec);
    for (int c = 0; c < 2; c++)
        assert_memory_equal(margin_model_centre(model, c), margin_model_centre(wanted, c),
                            COLUMNS * sizeof(double));
    assert_int_equal(margin_verify(context, model, &data, &found, NULL), MARGIN_OK);
    margin_model_free(model);
    margin_model_free(wanted);

    model = NULL;
    assert_int_equal(fit_with(context, "kmeans(k=3)", &data, &options, &model, NULL, &error),
                     MARGIN_ERROR_SPEC);
    assert_contains(error.text, "3 clusters of 4 columns need 12");
    assert_int_equal(
        fit_with(context, "kmeans(k=2, start=sample)", &data, &options, &model, NULL, &error),
        MARGIN_ERROR_SPEC);
    assert_contains(error.text, "start and centres exclude each other");
    assert_int_equal(fit_with(context, "kmeans(k=2, centres=\"1 0 0 0 0 0 0 1\")", &data, &options,
                              &model, NULL, &error),
                     MARGIN_ERROR_SPEC);
    assert_contains(error.text, "leave one of them out");
    static const int64_t counts[] = {-1, 0, 7, 9, 16, INT64_MIN, (int64_t)1 << 61, INT64_MAX};
    for (int k = 0; k < MG_LENGTH(counts); k++) {
        margin_fit_options wrong = options;
        wrong.centre_count = counts[k];
        assert_int_equal(fit_with(context, "kmeans(k=2)", &data, &wrong, &model, NULL, &error),
                         MARGIN_ERROR_SPEC);
        assert_contains(error.text, "2 clusters of 4 columns need 8");
    }
    data = sample_data(rows, DENSE_F64);
    assert_int_equal(fit_with(context, "svm", &data, &options, &model, NULL, &error),
                     MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "svm has no centres");
    assert_null(model);
}

/* As text they would be more than a spec may have. */
static void many_centres_take_no_text(void **state) {
    (void)state;
    enum { MANY = 300, WIDE = 200 };
    double *x = malloc((MANY + 40) * WIDE * sizeof *x);
    uint64_t random = 7;
    assert_non_null(x);
    for (int i = 0; i < (MANY + 40) * WIDE; i++)
        x[i] = support_uniform(&random);
    const margin_data data = {.x = margin_dense_f64(x, MANY + 40, WIDE, WIDE)};
    const margin_fit_options options = {
        .size = sizeof options, .centres = x, .centre_count = MANY * WIDE};
    margin_model *model = NULL;
    assert_int_equal(
        fit_with(context, "kmeans(k=300, max_iter=2)", &data, &options, &model, NULL, NULL),
        MARGIN_OK);
    assert_string_equal(margin_model_spec(model), "kmeans(k=300, max_iter=2)");
    margin_model_free(model);
    free(x);
}

/* ---- Sub-problems ---------------------------------------------------------------------------- */

enum { MOST_PARTS = 8 };
typedef struct told {
    int64_t count;
    margin_report parts[MOST_PARTS];
} told;

static void keep_part(const margin_report *report, int64_t subproblem, void *user) {
    told *t = user;
    assert_int_equal(subproblem, t->count);
    assert_int_equal(report->size, sizeof *report);
    t->parts[t->count++] = *report;
}

static void parts_tell_their_own(void **state) {
    (void)state;
    static const struct {
        const char *spec;
        int parts;
    } cases[] = {{"logistic", 3},
                 {"svm(multiclass=ovo)", 3},
                 {"softmax", 1},
                 {"standardize | svm(kernel=rbf)", 3},
                 {"perceptron(passes=2)", 3}};
    const margin_data data = sample_data(rows, DENSE_F64);
    for (int k = 0; k < MG_LENGTH(cases); k++) {
        told t = {0};
        const margin_fit_options options = {.size = sizeof options, .part = keep_part, .user = &t};
        margin_model *model = NULL;
        margin_report report = {.size = sizeof report}, found = {.size = sizeof found};
        margin_report verified[MOST_PARTS] = {{.size = sizeof(margin_report)}};
        double objective = 0;
        int64_t stopped = 0;
        assert_true(fit_with(context, cases[k].spec, &data, &options, &model, &report, NULL) >= 0);
        assert_int_equal(t.count, cases[k].parts);
        assert_int_equal(
            margin_verify_parts(context, model, &data, &found, verified, MOST_PARTS, NULL),
            MARGIN_OK);
        for (int64_t p = 0; p < t.count; p++) {
            const margin_report *part = &t.parts[p];
            assert_int_equal(part->rows, ROWS);
            assert_int_equal(part->subproblems, report.subproblems);
            assert_true(part->reason[0] && part->iterations > 0 && part->item_count > 0);
            assert_close(part->objective, verified[p].objective, 1e-9);
            objective += part->objective;
            stopped += part->status != MARGIN_OK;
        }
        assert_close(objective, report.objective, 1e-12);
        assert_true((stopped > 0) == (report.status != MARGIN_OK));
        margin_model_free(model);
    }
}

static void told_of_no_failure(void **state) {
    (void)state;
    told t = {0};
    margin_data data = sample_data(rows, DENSE_F64);
    const margin_fit_options options = {.size = sizeof options, .part = keep_part, .user = &t};
    margin_model *model = NULL;
    data.selected = 0;
    data.selection = (const int64_t[]){0};
    assert_int_equal(fit_with(context, "logistic", &data, &options, &model, NULL, NULL),
                     MARGIN_ERROR_DATA);
    assert_int_equal(t.count, 0);
}

/* ---- A start --------------------------------------------------------------------------------- */

/* Three passes and then three more are six. */
static void perceptrons_go_on(void **state) {
    (void)state;
    static const char *const texts[] = {
        "perceptron(multiclass=argmax, passes=%d)", "standardize | perceptron(passes=%d)",
        "perceptron(multiclass=ovo, passes=%d)", "perceptron(variant=pocket, passes=%d)"};
    const margin_data data = sample_data(rows, DENSE_F64);
    for (int k = 0; k < MG_LENGTH(texts); k++) {
        char half[80], whole[80];
        snprintf(half, sizeof half, texts[k], 3);
        snprintf(whole, sizeof whole, texts[k], 6);
        margin_report report = {.size = sizeof report}, found = {.size = sizeof found};
        margin_model *first = fit_text(context, half, &data, NULL), *second = NULL;
        margin_model *wanted = fit_text(context, whole, &data, NULL);
        const margin_fit_options options = {.size = sizeof options, .start = first};
        assert_true(fit_with(context, half, &data, &options, &second, &report, NULL) > 0);
        assert_true(isnan(margin_report_item_value(&report, "bound"))); /* it is one from zero */
        assert_int_equal(margin_verify(context, second, &data, &found, NULL), MARGIN_OK);
        for (int64_t f = 0; f < margin_model_score_count(wanted) && k != 3; f++)
            assert_memory_equal(margin_model_weights(second, f), margin_model_weights(wanted, f),
                                COLUMNS * sizeof(double));
        margin_model_free(first);
        margin_model_free(second);
        margin_model_free(wanted);
    }
}

/* A part of the rows may lack a class that is declared, or have one only. */
static void perceptrons_walk_with_a_class_missing(void **state) {
    (void)state;
    static const double classes[] = {0, 1, 2};
    static const char *const texts[] = {"perceptron(multiclass=argmax)", "perceptron"};
    margin_data data = sample_data(rows, DENSE_F64);
    int64_t zeros[ROWS];
    margin_error error = {0};
    data.classes = margin_values_f64(classes, CLASSES);
    data.selection = zeros;
    for (int64_t i = 0; i < ROWS; i++)
        if (rows->labels[i] == 0) zeros[data.selected++] = i;
    for (int k = 0; k < MG_LENGTH(texts); k++) {
        margin_report found = {.size = sizeof found};
        margin_model *model = fit_text(context, texts[k], &data, NULL);
        assert_int_equal(margin_model_class_count(model), CLASSES);
        assert_int_equal(margin_verify(context, model, &data, &found, NULL), MARGIN_OK);
        assert_int_equal(margin_model_report(model)->status, MARGIN_OK);
        margin_model_free(model);
    }
    margin_model *none = NULL;
    assert_int_equal(
        fit_with(context, "perceptron(multiclass=ovo)", &data, NULL, &none, NULL, &error),
        MARGIN_ERROR_DATA);
    assert_contains(error.text, "no row has the class '1', which is declared");
}

/* What has no such start begins as always; a start of the spec's own goes before. */
static void others_begin_as_always(void **state) {
    (void)state;
    static const char *const texts[] = {"perceptron(form=dual, passes=3)",
                                        "perceptron(start=random, passes=3)"};
    const margin_data data = sample_data(rows, DENSE_F64);
    margin_model *start = fit_text(context, "perceptron(passes=5)", &data, NULL);
    const margin_fit_options options = {.size = sizeof options, .start = start};
    for (int k = 0; k < MG_LENGTH(texts); k++) {
        margin_model *model = NULL, *wanted = fit_text(context, texts[k], &data, NULL);
        assert_true(fit_with(context, texts[k], &data, &options, &model, NULL, NULL) > 0);
        assert_same_model(model, wanted);
        margin_model_free(model);
        margin_model_free(wanted);
    }
    margin_model_free(start);
}

/* Pairs of three classes are as many as the classes, and something else. */
static void pairs_begin_pairs(void **state) {
    (void)state;
    static const char *const texts[] = {"softmax", "logistic", "perceptron(multiclass=argmax)"};
    const margin_data data = sample_data(rows, DENSE_F64);
    margin_model *pairs = fit_text(context, "logistic(multiclass=ovo)", &data, NULL), *model = NULL;
    const margin_fit_options options = {.size = sizeof options, .start = pairs};
    for (int k = 0; k < MG_LENGTH(texts); k++) {
        margin_error error = {0};
        assert_int_equal(fit_with(context, texts[k], &data, &options, &model, NULL, &error),
                         MARGIN_ERROR_ARGUMENT);
        assert_contains(error.text, "in another way than this fit");
    }
    assert_true(fit_with(context, "svm(multiclass=ovo)", &data, &options, &model, NULL, NULL) >= 0);
    margin_model_free(model);
    margin_model_free(pairs);
}

static margin_status attempt(margin_context *c, void *user, margin_error *error) {
    told t = {0};
    const margin_data data = sample_data(rows, DENSE_F64);
    const margin_fit_options options = {.size = sizeof options,
                                        .class_weights = weights,
                                        .class_weight_count = 3,
                                        .part = keep_part,
                                        .user = &t};
    margin_model *model = NULL;
    (void)user;
    MG_TRY(fit_with(c, "standardize | logistic", &data, &options, &model, NULL, error));
    margin_model_free(model);
    return MARGIN_OK;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    assert_true(support_fail_each_allocation(1, attempt, NULL) > 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_are_those_of_the_spec),
        cmocka_unit_test(any_name_has_a_weight),
        cmocka_unit_test(wrong_weights_are_refused),
        cmocka_unit_test(centres_are_those_of_the_spec),
        cmocka_unit_test(many_centres_take_no_text),
        cmocka_unit_test(parts_tell_their_own),
        cmocka_unit_test(told_of_no_failure),
        cmocka_unit_test(perceptrons_go_on),
        cmocka_unit_test(perceptrons_walk_with_a_class_missing),
        cmocka_unit_test(others_begin_as_always),
        cmocka_unit_test(pairs_begin_pairs),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, open_rows, close_rows);
}
