/* Classes that are declared beforehand, whether rows have them or not. */
#include "model_cases.h"

#include "base/status.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/group_context.h"

enum { ROWS = 60, COLUMNS = 3, CLASSES = 3 };

/* Rows by class: 0 first, then 1, then 2. */
static double values[ROWS * COLUMNS];
static int32_t labels[ROWS];
static const double declared[] = {2, 0, 1};

static int make_rows(void **state) {
    uint64_t random = 3;
    for (int i = 0; i < ROWS; i++) {
        labels[i] = i * CLASSES / ROWS;
        for (int j = 0; j < COLUMNS; j++)
            values[i * COLUMNS + j] =
                floor(4 * support_uniform(&random)) + (j == labels[i] ? 1 : 0);
    }
    return support_open_context(state);
}

/* Rows [first, last), with all classes declared. */
static margin_data rows_of(int64_t first, int64_t last) {
    return (margin_data){
        .x = margin_dense_f64(values + first * COLUMNS, last - first, COLUMNS, COLUMNS),
        .y = margin_labels_i32(labels + first, last - first),
        .classes = margin_values_f64(declared, CLASSES)};
}

static const char *const bayes[] = {
    "naive-bayes", "naive-bayes(distribution=gaussian)", "naive-bayes(distribution=bernoulli)",
    "naive-bayes(distribution=multinomial)", "naive-bayes(distribution=multinomial, smoothing=0)"};

static void assert_same_numbers(const margin_model *a, const margin_model *b) {
    margin_tensor x = {.size = sizeof x}, y = {.size = sizeof y};
    assert_int_equal(margin_model_tensor_count(a), margin_model_tensor_count(b));
    for (int64_t k = 0; margin_model_tensor(a, k, &x); k++) {
        assert_true(margin_model_tensor_find(b, x.name, &y));
        assert_true(x.shape[0] == y.shape[0] && x.shape[1] == y.shape[1]);
        for (int64_t n = 0; x.type == MARGIN_F64 && n < x.shape[0] * x.shape[1]; n++)
            assert_close(((const double *)x.values)[n], ((const double *)y.values)[n], 1e-12);
    }
}

/* A first part with one class alone, then the rest, is one fit to all rows. */
static void parts_are_the_whole(void **state) {
    (void)state;
    for (int k = 0; k < MG_LENGTH(bayes); k++) {
        margin_error error = {0};
        margin_report found = {.size = sizeof found};
        const margin_data all = rows_of(0, ROWS), first = rows_of(0, 10), second = rows_of(10, 45),
                          third = rows_of(45, ROWS);
        margin_model *whole = fit_text(context, bayes[k], &all, NULL);
        margin_model *one = fit_text(context, bayes[k], &first, NULL), *two = NULL, *three = NULL;
        assert_int_equal(margin_model_class_count(one), CLASSES);
        for (int c = 0; c < CLASSES; c++)
            assert_true(margin_model_class_value(one, c) == c);
        assert_int_equal(margin_verify(context, one, &first, &found, &error), MARGIN_OK);
        assert_int_equal(margin_update(context, one, &second, &two, NULL, &error), MARGIN_OK);
        assert_int_equal(margin_update(context, two, &third, &three, NULL, &error), MARGIN_OK);
        assert_same_numbers(whole, three);
        assert_int_equal(margin_verify(context, three, &all, &found, &error), MARGIN_OK);
        margin_model_free(whole);
        margin_model_free(one);
        margin_model_free(two);
        margin_model_free(three);
    }
}

static double probability(const margin_model *model, int c) {
    const margin_matrix row = margin_dense_f64(values, 1, COLUMNS, COLUMNS);
    double p[CLASSES];
    assert_int_equal(margin_probabilities(model, &row, p, NULL), MARGIN_OK);
    assert_close(p[0] + p[1] + p[2], 1, 1e-12);
    return p[c];
}

/* P(class) of a class without rows is smoothing / (rows + classes smoothing). */
static void a_class_without_rows_has_its_share(void **state) {
    (void)state;
    static const struct {
        const char *spec;
        double prior;
    } cases[] = {{"naive-bayes(distribution=bernoulli)", 1.0 / 43},
                 {"naive-bayes(distribution=bernoulli, smoothing=0)", 0},
                 {"naive-bayes(distribution=gaussian, smoothing=0)", 0},
                 {"naive-bayes(distribution=multinomial, smoothing=0)", 0},
                 {"naive-bayes(smoothing=0)", 0}};
    const margin_data data = rows_of(0, 40);
    for (int k = 0; k < MG_LENGTH(cases); k++) {
        margin_model *model = fit_text(context, cases[k].spec, &data, NULL);
        double weight = -1;
        assert_close(margin_model_prior(model, 2, &weight), cases[k].prior, 1e-12);
        assert_true(weight == 0);
        assert_true(cases[k].prior > 0 ? probability(model, 2) > 0 : probability(model, 2) == 0);
        margin_model_free(model);
    }
    margin_model *near = fit_text(context, "knn(k=3)", &data, NULL);
    assert_int_equal(margin_model_class_count(near), CLASSES);
    assert_true(probability(near, 2) == 0);
    margin_model_free(near);
}

/* What a fold did not see is judged like any other class. */
static void folds_keep_their_classes(void **state) {
    (void)state;
    const margin_data train = rows_of(0, 40), test = rows_of(30, ROWS);
    margin_metrics metrics = {.size = sizeof metrics};
    margin_error error = {0};
    margin_model *model = fit_text(context, "knn", &train, NULL);
    assert_int_equal(margin_evaluate(context, model, &test, &metrics, &error), MARGIN_OK);
    assert_true(metrics.unknown == 0 && metrics.classes == CLASSES && metrics.accuracy <= 0.5);
    margin_metrics_free(&metrics);
    margin_model_free(model);
}

static void names_are_codes_of_the_target(void **state) {
    (void)state;
    static const char *const names[] = {"yes", "no", "maybe", "never"};
    static const int64_t codes[] = {0, 2, 1};
    const margin_column target = {
        .name = "answer", .kind = MARGIN_CATEGORICAL, .categories = names, .category_count = 4};
    margin_data data = rows_of(0, 40); /* yes and no */
    data.target = &target;
    data.classes = margin_labels_i64(codes, 3);
    margin_model *model = fit_text(context, "naive-bayes", &data, NULL);
    assert_int_equal(margin_model_class_count(model), 3);
    assert_string_equal(margin_model_class_name(model, 0), "maybe");
    assert_string_equal(margin_model_class_name(model, 1), "no");
    assert_string_equal(margin_model_class_name(model, 2), "yes");
    margin_model_free(model);
    static const int64_t beyond[] = {0, 1, 4};
    data.classes = margin_labels_i64(beyond, 3);
    fit_refused(context, "naive-bayes", &data, MARGIN_ERROR_DATA, "the code 4");
}

static void long_labels_keep_their_digits(void **state) {
    (void)state;
    static int64_t digits[ROWS];
    static const int64_t known[] = {INT64_C(9007199254740993), INT64_C(9007199254740995),
                                    INT64_C(9007199254740997)};
    for (int i = 0; i < ROWS; i++)
        digits[i] = known[labels[i]];
    margin_data data = rows_of(0, 10);
    data.y = margin_labels_i64(digits, 10);
    data.classes = margin_labels_i64(known, 3);
    margin_model *model = fit_text(context, "naive-bayes", &data, NULL);
    assert_int_equal(margin_model_class_count(model), 3);
    assert_string_equal(margin_model_class_name(model, 2), "9007199254740997");
    margin_model_free(model);
}

/* Declaring what occurs changes nothing but what may be declared. */
static void what_occurs_is_the_same_model(void **state) {
    (void)state;
    static const char *const specs[] = {"logistic", "softmax", "svm(multiclass=ovo)", "perceptron",
                                        "naive-bayes"};
    for (int k = 0; k < MG_LENGTH(specs); k++) {
        margin_data data = rows_of(0, ROWS);
        margin_model *with = fit_text(context, specs[k], &data, NULL);
        data.classes.values = NULL;
        margin_model *without = fit_text(context, specs[k], &data, NULL);
        assert_same_model(with, without);
        margin_model_free(with);
        margin_model_free(without);
    }
    /* thirty labels of two rows each look like a measurement until they are declared */
    double many[ROWS], all[ROWS];
    for (int i = 0; i < ROWS; i++)
        many[i] = 7.5 * (i / 2), all[i] = 7.5 * ((ROWS - 1 - i) / 2);
    margin_data data = rows_of(0, ROWS);
    data.y = margin_values_f64(many, ROWS);
    data.classes.values = NULL;
    fit_refused(context, "naive-bayes", &data, MARGIN_ERROR_DATA, "looks like a measurement");
    data.classes = margin_values_f64(all, ROWS); /* each twice */
    margin_model *model = fit_text(context, "naive-bayes", &data, NULL);
    assert_int_equal(margin_model_class_count(model), ROWS / 2);
    margin_model_free(model);
}

/* Whoever minimises, each in its ways to several classes; rules take a class without rows, and so
 * does the linear perceptron, which walks (test_fit_options). */
static void who_minimises_takes_no_class_without_rows(void **state) {
    (void)state;
    static const char *const ways[] = {"", "(multiclass=ovo)", "(kernel=rbf)",
                                       "(multiclass=argmax)"};
    const margin_data data = rows_of(0, 40);
    int refused = 0;
    for (int i = 0; i < margin_component_count(); i++) {
        const margin_component *learner = margin_component_at(i);
        if (!(learner->abilities & (MARGIN_CAN_TWO_CLASS | MARGIN_CAN_MULTICLASS))) continue;
        for (int way = 0; way < MG_LENGTH(ways); way++) {
            char text[80];
            margin_spec *spec;
            snprintf(text, sizeof text, "%s%s", learner->name, ways[way]);
            if (margin_spec_parse(context, text, &spec, NULL) < 0) continue;
            margin_spec_free(spec);
            if (!strcmp(learner->name, "perceptron") && (way == 0 || way == 3)) continue;
            if (learner->abilities & MARGIN_IS_RULE) {
                margin_model *model = fit_text(context, text, &data, NULL);
                assert_int_equal(margin_model_class_count(model), CLASSES);
                margin_model_free(model);
            } else {
                fit_refused(context, text, &data, MARGIN_ERROR_DATA,
                            "no row has the class '2', which is declared");
                refused++;
            }
        }
    }
    assert_true(refused >= 12);
}

static void what_cannot_be_is_refused_by_name(void **state) {
    (void)state;
    static const double pair[] = {0, 1}, nothing[] = {0, NAN}, one[] = {1, 1};
    static double crowd[10001];
    static const uint8_t bytes[] = {0, 1, 2};
    margin_data data = rows_of(0, 40);
    margin_error error = {0};
    margin_model *model = NULL;
    fit_refused(context, "logistic", &data, MARGIN_ERROR_DATA, "no row has the class '2'");
    fit_refused(context, "standardize | svm(multiclass=ovo)", &data, MARGIN_ERROR_DATA,
                "svm needs");
    fit_refused(context, "ridge", &data, MARGIN_ERROR_ARGUMENT, "ridge tells none");
    fit_refused(context, "kmeans", &data, MARGIN_ERROR_ARGUMENT, "kmeans tells none");
    data = rows_of(0, ROWS);
    data.classes = margin_values_f64(pair, 2);
    fit_refused(context, "naive-bayes", &data, MARGIN_ERROR_DATA, "row 41 has the label '2'");
    margin_spec *spec = parse_text(context, "naive-bayes");
    assert_int_equal(margin_fit(context, spec, &data, &model, NULL, &error), MARGIN_ERROR_DATA);
    assert_int_equal(error.cause, MARGIN_CAUSE_UNKNOWN_CLASS);
    assert_int_equal(error.row, 41);
    margin_spec_free(spec);
    data.classes = margin_values_f64(nothing, 2);
    fit_refused(context, "naive-bayes", &data, MARGIN_ERROR_DATA, "class 2 that is declared");
    data.classes = margin_values_f64(one, 2);
    fit_refused(context, "naive-bayes", &data, MARGIN_ERROR_DATA, "1 class is declared");
    for (int k = 0; k < MG_LENGTH(crowd); k++)
        crowd[k] = k;
    data.classes = margin_values_f64(crowd, MG_LENGTH(crowd));
    fit_refused(context, "naive-bayes", &data, MARGIN_ERROR_LIMIT, "10001 classes are declared");
    data.classes = (margin_vector){.values = bytes, .count = 3, .type = MARGIN_BITS};
    fit_refused(context, "naive-bayes", &data, MARGIN_ERROR_ARGUMENT,
                "classes: type must not be MARGIN_BITS");
    data.classes.type = MARGIN_U64;
    fit_refused(context, "naive-bayes", &data, MARGIN_ERROR_ARGUMENT, "but not MARGIN_U64");
    data.classes = (margin_vector){.values = pair, .count = -1, .type = MARGIN_F64};
    fit_refused(context, "naive-bayes", &data, MARGIN_ERROR_ARGUMENT, "classes: -1 numbers");
}

static void an_update_may_declare_more(void **state) {
    (void)state;
    margin_error error = {0};
    margin_data first = rows_of(0, 40), second = rows_of(20, 40);
    first.classes.values = NULL;
    margin_model *model = fit_text(context, "naive-bayes", &first, NULL), *more = NULL;
    assert_int_equal(margin_model_class_count(model), 2);
    assert_int_equal(margin_update(context, model, &second, &more, NULL, &error), MARGIN_OK);
    assert_int_equal(margin_model_class_count(more), 3);
    margin_model_free(more);
    margin_model_free(model);
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    fit_attempt attempt = {.spec = "naive-bayes", .data = rows_of(0, 30)};
    assert_true(support_fail_each_allocation(2, attempt_fit, &attempt) > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_the_whole),
        cmocka_unit_test(a_class_without_rows_has_its_share),
        cmocka_unit_test(folds_keep_their_classes),
        cmocka_unit_test(names_are_codes_of_the_target),
        cmocka_unit_test(long_labels_keep_their_digits),
        cmocka_unit_test(what_occurs_is_the_same_model),
        cmocka_unit_test(who_minimises_takes_no_class_without_rows),
        cmocka_unit_test(what_cannot_be_is_refused_by_name),
        cmocka_unit_test(an_update_may_declare_more),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, make_rows, support_close_context);
}
