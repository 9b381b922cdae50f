/* Fits: what data is refused and how it is said, which rows take part, what the classes are. */
#include "model_cases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double none = (double)NAN;

typedef struct {
    margin_context *context;
    sample *two;   /* two classes, separable */
    sample *three; /* three classes */
} fixture;

static int set_up(void **state) {
    fixture *f = calloc(1, sizeof *f);
    f->context = support_context(NULL, 2);
    f->two = sample_make(60, 4, 2, 0, 11);
    f->three = sample_make(90, 5, 3, 0.1, 12);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    sample_free(f->two);
    sample_free(f->three);
    margin_context_free(f->context);
    free(f);
    return 0;
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static void test_null_arguments(void **state) {
    fixture *f = *state;
    margin_error error = {0};
    margin_model *model = NULL;
    margin_data data = sample_data(f->two, DENSE_F64);
    margin_spec *spec = parse_text(f->context, "perceptron");
    assert_int_equal(margin_fit(NULL, spec, &data, &model, NULL, &error), MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "context is NULL");
    assert_int_equal(margin_fit(f->context, NULL, &data, &model, NULL, &error),
                     MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "spec is NULL");
    assert_int_equal(margin_fit(f->context, spec, NULL, &model, NULL, &error),
                     MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "data set is NULL");
    assert_int_equal(margin_fit(f->context, spec, &data, NULL, NULL, &error),
                     MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_fit(f->context, spec, &data, NULL, NULL, NULL), MARGIN_ERROR_ARGUMENT);
    margin_fit_options options = {.size = 4};
    assert_int_equal(margin_fit_with(f->context, spec, &data, &options, &model, NULL, &error),
                     MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "options.size is 4");
    struct {
        margin_fit_options known;
        void *later;
    } newer = {.known = {.size = sizeof newer}, .later = &newer};
    assert_int_equal(margin_fit_with(f->context, spec, &data, &newer.known, &model, NULL, &error),
                     MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "later version");
    margin_spec_free(spec);
    margin_model_free(NULL);
}

static void test_shapes(void **state) {
    fixture *f = *state;
    margin_data data = sample_data(f->two, DENSE_F64);
    data.x.stride = 3;
    fit_refused(f->context, "perceptron", &data, MARGIN_ERROR_ARGUMENT, "stride 3");
    data = sample_data(f->two, DENSE_F64);
    data.y.count = 59;
    fit_refused(f->context, "perceptron", &data, MARGIN_ERROR_ARGUMENT,
                "y has 59 numbers and x has 60 rows");
    data = sample_data(f->two, DENSE_F64);
    data.y.type = MARGIN_U64;
    fit_refused(f->context, "perceptron", &data, MARGIN_ERROR_ARGUMENT, "y: type");
    data = sample_data(f->two, DENSE_F64);
    data.y.values = (const char *)data.y.values + 1;
    fit_refused(f->context, "perceptron", &data, MARGIN_ERROR_ARGUMENT, "aligned");
    data = sample_data(f->two, DENSE_F64);
    data.weights = margin_values_f64(f->two->labels, 61);
    fit_refused(f->context, "perceptron", &data, MARGIN_ERROR_ARGUMENT, "weights has 61");
    data = sample_data(f->two, DENSE_F64);
    const int64_t selection[3] = {0, 60, 1};
    data.selection = selection;
    data.selected = 3;
    fit_refused(f->context, "perceptron", &data, MARGIN_ERROR_ARGUMENT, "selection[1] is row 60");
    data.selected = -1;
    fit_refused(f->context, "perceptron", &data, MARGIN_ERROR_ARGUMENT, "selection");
    const int64_t negative[1] = {-1};
    data.selection = negative;
    data.selected = 1;
    fit_refused(f->context, "perceptron", &data, MARGIN_ERROR_ARGUMENT, "row -1");
}

static void test_descriptions(void **state) {
    fixture *f = *state;
    margin_data data = sample_data(f->two, DENSE_F64);
    const char *const names[2] = {"a", NULL};
    margin_column columns[4] = {{.name = "one"}, {.name = "two"}, {.name = "three"}, {0}};
    data.columns = columns;
    fit_refused(f->context, "perceptron", &data, MARGIN_ERROR_ARGUMENT, "column 4 has no name");
    columns[3].name = "four";
    columns[3].kind = (margin_column_kind)7;
    fit_refused(f->context, "perceptron", &data, MARGIN_ERROR_ARGUMENT, "column four is neither");
    columns[3].kind = MARGIN_CATEGORICAL;
    columns[3].category_count = 2;
    fit_refused(f->context, "perceptron", &data, MARGIN_ERROR_ARGUMENT, "no list of categories");
    columns[3].categories = names;
    fit_refused(f->context, "perceptron", &data, MARGIN_ERROR_ARGUMENT, "category 1 has no name");
    columns[3].category_count = 1;
    fit_refused(f->context, "minmax | perceptron", &data, MARGIN_ERROR_DATA,
                "column four holds categories");
    fit_refused(f->context, "minmax | perceptron", &data, MARGIN_ERROR_DATA,
                "onehot | minmax | perceptron");
}

static void test_nothing_to_learn(void **state) {
    fixture *f = *state;
    margin_data data = sample_data(f->two, DENSE_F64);
    data.y.values = NULL;
    fit_refused(
        f->context, "minmax | perceptron", &data, MARGIN_ERROR_DATA,
        "the data has no target, which perceptron learns from: give it (margin_data.y), name");

    data = sample_data(f->two, DENSE_F64);
    data.x.rows = data.y.count = 0;
    fit_refused(f->context, "perceptron", &data, MARGIN_ERROR_DATA, "the data set has no rows");
    data = sample_data(f->two, DENSE_F64);
    const int64_t row = 0;
    data.selection = &row;
    fit_refused(f->context, "perceptron", &data, MARGIN_ERROR_DATA, "the selection has no rows");
    data.selected = 1;
    fit_refused(f->context, "perceptron", &data, MARGIN_ERROR_DATA, "every row has the label");

    data = sample_data(f->two, DENSE_F64);
    data.x.columns = 0;
    fit_refused(f->context, "perceptron", &data, MARGIN_ERROR_DATA, "no feature columns");
    fit_refused(f->context, "standardize | perceptron", &data, MARGIN_ERROR_DATA,
                "no feature columns");
}

static void test_weights_refused(void **state) {
    fixture *f = *state;
    margin_data data = sample_data(f->two, DENSE_F64);
    double *weights = calloc(60, sizeof *weights);
    data.weights = margin_values_f64(weights, 60);
    fit_refused(f->context, "perceptron", &data, MARGIN_ERROR_DATA,
                "all 60 rows have the weight 0");
    for (int i = 0; i < 60; i++)
        weights[i] = 1;
    weights[17] = -0.5;
    fit_refused(f->context, "perceptron", &data, MARGIN_ERROR_DATA, "row 18 has the weight -0.5");
    weights[17] = none;
    fit_refused(f->context, "perceptron", &data, MARGIN_ERROR_DATA, "row 18 has the weight nan");
    weights[17] = (double)INFINITY;
    fit_refused(f->context, "perceptron", &data, MARGIN_ERROR_DATA, "row 18 has the weight inf");
    for (int i = 0; i < 60; i++)
        weights[i] = 1e307;
    fit_refused(f->context, "perceptron", &data, MARGIN_ERROR_DATA, "add up");
    free(weights);
}

static void test_labels_refused(void **state) {
    fixture *f = *state;
    sample *s = f->two;
    double *labels = malloc(60 * sizeof *labels);
    margin_data data = sample_data(s, DENSE_F64);
    data.y.values = labels;
    memcpy(labels, s->labels, 60 * sizeof *labels);
    labels[9] = none;
    fit_refused(f->context, "perceptron", &data, MARGIN_ERROR_DATA,
                "row 10 has no value in the target y");
    margin_column target = {.name = "kind"};
    data.target = &target;
    labels[9] = -(double)INFINITY;
    fit_refused(f->context, "perceptron", &data, MARGIN_ERROR_DATA,
                "row 10 has the value -inf in the target kind");
    for (int i = 0; i < 60; i++)
        labels[i] = 4.5;
    fit_refused(f->context, "perceptron", &data, MARGIN_ERROR_DATA,
                "every row has the label '4.5'");

    const char *const names[2] = {"yes", "no"};
    target = (margin_column){
        .name = "kind", .kind = MARGIN_CATEGORICAL, .categories = names, .category_count = 2};
    memcpy(labels, s->labels, 60 * sizeof *labels);
    labels[3] = 2;
    fit_refused(f->context, "perceptron", &data, MARGIN_ERROR_DATA,
                "row 4 has the code 2 in the target kind, which has 2 categories");
    labels[3] = 0.5;
    fit_refused(f->context, "perceptron", &data, MARGIN_ERROR_DATA, "row 4 has the code 0.5");
    const char *const twice[2] = {"yes", "yes"};
    target.categories = twice;
    labels[3] = 0;
    fit_refused(f->context, "perceptron", &data, MARGIN_ERROR_ARGUMENT,
                "two categories of the name 'yes'");
    free(labels);
}

/* Integers of 64 bits keep their digits as labels, and are refused as numbers that they are not. */
static void test_long_labels(void **state) {
    fixture *f = *state;
    margin_data data = sample_data(f->two, DENSE_F64);
    int64_t labels[60];
    margin_error error = {0};
    for (int i = 0; i < 60; i++)
        labels[i] = INT64_C(9007199254740992) + (f->two->labels[i] > 0);
    data.y = margin_labels_i64(labels, 60);
    margin_model *model = fit_text(f->context, "perceptron", &data, NULL);
    assert_int_equal(margin_model_class_count(model), 2);
    assert_string_equal(margin_model_class_name(model, 0), "9007199254740992");
    assert_string_equal(margin_model_class_name(model, 1), "9007199254740993");
    assert_int_equal(margin_model_target(model)->kind, MARGIN_CATEGORICAL);
    margin_metrics metrics = {.size = sizeof metrics};
    if (margin_evaluate(f->context, model, &data, &metrics, &error) < 0) fail_msg("%s", error.text);
    assert_true(metrics.accuracy == 1);
    margin_metrics_free(&metrics);
    labels[59] += 2;
    assert_int_equal(margin_evaluate(f->context, model, &data, &metrics, &error),
                     MARGIN_ERROR_DATA);
    assert_contains(error.text, labels[59] % 2 ? "row 60 has the label '9007199254740995'"
                                               : "row 60 has the label '9007199254740994'");
    margin_model_free(model);
    for (int i = 0; i < 59; i++)
        labels[i] = i;
    fit_refused(f->context, "ridge", &data, MARGIN_ERROR_DATA, "row 60 has the value 900719925474");
}

static void test_measurements_are_no_classes(void **state) {
    fixture *f = *state;
    sample *s = sample_make(300, 2, 2, 0, 3);
    for (int i = 0; i < 300; i++)
        s->labels[i] = i % 11 + 0.25;
    margin_data data = sample_data(s, DENSE_F64);
    fit_refused(f->context, "perceptron", &data, MARGIN_ERROR_DATA,
                "that are not whole (10.25, for one)");
    for (int i = 0; i < 300; i++) /* 33 numbers in 9 or 10 rows, with gaps */
        s->labels[i] = 2 * (i % 33);
    fit_refused(f->context, "perceptron", &data, MARGIN_ERROR_DATA,
                "33 different numbers, 30 of them in fewer than 10 rows");
    fit_refused(f->context, "perceptron", &data, MARGIN_ERROR_DATA, "ridge, least-squares");
    for (int i = 0; i < 300; i++) /* the same, numbered without a gap */
        s->labels[i] = i % 33;
    margin_model_free(fit_text(f->context, "perceptron(passes=1)", &data, NULL));
    for (int i = 0; i < 300; i++) /* ratings in half stars */
        s->labels[i] = 0.5 * (i % 10);
    margin_model_free(fit_text(f->context, "perceptron(passes=1)", &data, NULL));
    sample_free(s);
}

static void test_spec_with_sets(void **state) {
    fixture *f = *state;
    margin_data data = sample_data(f->two, DENSE_F64);
    fit_refused(f->context, "perceptron(rate={0.5,1})", &data, MARGIN_ERROR_SPEC, "2 specs");
}

/* ---- Rows that take part --------------------------------------------------------------------- */

/* Rows that are left out may hold anything. */
static void poison(sample *s, int64_t row) {
    for (int64_t j = 0; j < s->columns; j++)
        s->f64[row * s->columns + j] = none;
    s->labels[row] = none;
}

static void test_absent_rows(void **state) {
    fixture *f = *state;
    static const char *const specs[] = {"perceptron", "standardize | perceptron",
                                        "normalize | minmax | perceptron(form=dual)"};
    for (size_t n = 0; n < 3; n++) {
        sample *s = sample_make(50, 4, 2, 0, 5);
        double weights[50];
        int64_t selection[50], count = 0;
        for (int64_t i = 0; i < 50; i++) {
            weights[i] = i % 5 != 2;
            if (weights[i] > 0)
                selection[count++] = i;
            else
                poison(s, i);
        }
        margin_report reports[2] = {0};
        margin_data data = sample_data(s, DENSE_F64);
        data.selection = selection;
        data.selected = count;
        margin_model *selected = fit_text(f->context, specs[n], &data, &reports[0]);
        data.selection = NULL;
        data.weights = margin_values_f64(weights, 50);
        margin_model *weighted = fit_text(f->context, specs[n], &data, &reports[1]);
        assert_same_model(selected, weighted);
        assert_int_equal(reports[1].rows, count);
        assert_true(reports[0].train_accuracy == reports[1].train_accuracy);
        assert_true(reports[0].train_accuracy > 0.5);

        /* and the same with the rows really gone */
        sample *gone = sample_make(50, 4, 2, 0, 5);
        for (int64_t k = 0; k < count; k++) {
            memmove(gone->f64 + k * 4, gone->f64 + selection[k] * 4, 4 * sizeof(double));
            gone->labels[k] = gone->labels[selection[k]];
        }
        data = sample_data(gone, DENSE_F64);
        data.x.rows = data.y.count = count;
        margin_model *shorter = fit_text(f->context, specs[n], &data, NULL);
        assert_memory_equal(margin_model_weights(shorter, 0), margin_model_weights(weighted, 0),
                            4 * sizeof(double));
        assert_true(margin_model_intercept(shorter, 0) == margin_model_intercept(weighted, 0));
        const int64_t *rows[2] = {NULL, NULL};
        int64_t entries = margin_model_dual(shorter, 0, &rows[0], NULL, NULL, NULL);
        assert_int_equal(entries, margin_model_dual(weighted, 0, &rows[1], NULL, NULL, NULL));
        for (int64_t k = 0; k < entries; k++) /* rows are those of the data given */
            assert_int_equal(selection[rows[0][k]], rows[1][k]);
        margin_model_free(shorter);
        margin_model_free(weighted);
        margin_model_free(selected);
        sample_free(gone);
        sample_free(s);
    }
}

static void test_order_and_repeats_of_selection(void **state) {
    fixture *f = *state;
    const int64_t selection[9] = {40, 7, 7, 21, 3, 58, 40, 0, 1};
    sample *s = f->two, *copy = sample_make(9, 4, 2, 0, 1);
    for (int k = 0; k < 9; k++) {
        memcpy(copy->f64 + k * 4, s->f64 + selection[k] * 4, 4 * sizeof(double));
        copy->labels[k] = s->labels[selection[k]];
    }
    margin_data data = sample_data(s, DENSE_F64), gathered = sample_data(copy, DENSE_F64);
    data.selection = selection;
    data.selected = 9;
    static const char *const specs[] = {"perceptron(order=shuffled)", "minmax | perceptron",
                                        "perceptron(kernel=poly)"};
    for (size_t n = 0; n < 3; n++) {
        margin_model *a = fit_text(f->context, specs[n], &data, NULL);
        margin_model *b = fit_text(f->context, specs[n], &gathered, NULL);
        double *left = scores_of(a, &data.x), *right = scores_of(b, &data.x);
        for (int i = 0; i < 60; i++) /* an expansion adds its rows up in another order */
            assert_close(left[i], right[i], n == 2 ? 1e-12 : 0);
        free(left);
        free(right);
        margin_model_free(a);
        margin_model_free(b);
    }
    sample_free(copy);
}

static void test_missing_values(void **state) {
    fixture *f = *state;
    for (int layout = 0; layout < LAYOUTS; layout++) {
        sample *s = sample_make(40, 3, 2, 0, 9);
        margin_column columns[3] = {{.name = "age"}, {.name = "size"}, {.name = "mass"}};
        for (int kind = 0; kind < 2; kind++) {
            float bad = kind ? INFINITY : NAN;
            const int wide = 25 * (3 + SAMPLE_PADDING) + 1;
            s->f64[25 * 3 + 1] = s->wide_f64[wide] = (double)bad;
            s->f32[25 * 3 + 1] = s->wide_f32[wide] = bad;
            for (int64_t k = s->start_i64[25]; k < s->start_i64[26]; k++)
                if (s->index_i64[k] == 1) s->stored_f64[k] = (double)(s->stored_f32[k] = bad);
            margin_data data = sample_data(s, layout);
            data.columns = columns;
            fit_refused(f->context, "standardize | perceptron", &data, MARGIN_ERROR_DATA, "row 26");
            fit_refused(f->context, "perceptron", &data, MARGIN_ERROR_DATA, "column size");
            if (kind == 0) {
                margin_model *model =
                    fit_text(f->context, "impute | standardize | perceptron", &data, NULL);
                margin_model_free(model);
            } else {
                fit_refused(f->context, "impute | perceptron", &data, MARGIN_ERROR_DATA, "inf");
            }
        }
        sample_free(s);
    }
}

/* ---- Classes --------------------------------------------------------------------------------- */

static void test_label_types(void **state) {
    fixture *f = *state;
    static const char *const specs[] = {"perceptron", "perceptron(multiclass=ovo)",
                                        "perceptron(multiclass=argmax)"};
    const double values[3] = {-3, 0.5, 1000};
    const char *const names[5] = {"pear", "apple", "unused", "fig", ""};
    const int to_category[3] = {1, 3, 0}; /* apple, fig, pear: by name as by number */
    sample *s = f->three;
    margin_data data = sample_data(s, DENSE_F64);
    for (size_t n = 0; n < 3; n++) {
        margin_model *plain = fit_text(f->context, specs[n], &data, NULL);
        assert_int_equal(margin_model_class_count(plain), 3);
        assert_string_equal(margin_model_class_name(plain, 2), "2");
        assert_null(margin_model_class_name(plain, 3));
        assert_null(margin_model_class_name(plain, -1));
        double *expected = scores_of(plain, &data.x);
        for (int type = 0; type < 6; type++) {
            double f64[90];
            float f32[90];
            int32_t i32[90];
            int64_t i64[90];
            margin_column target = {.name = "fruit",
                                    .kind = MARGIN_CATEGORICAL,
                                    .categories = names,
                                    .category_count = 5};
            for (int i = 0; i < 90; i++) {
                int c = (int)s->labels[i];
                f64[i] = type == 5 ? to_category[c] : values[c];
                f32[i] = (float)values[c];
                i32[i] = (int32_t)floor(values[c]);
                i64[i] = (int64_t)i32[i] * 1000000007;
            }
            margin_data typed = data;
            const char *last = "1000";
            if (type == 0) typed.y = margin_values_f64(f64, 90);
            if (type == 1) typed.y = margin_values_f32(f32, 90);
            if (type == 2) typed.y = margin_labels_i32(i32, 90);
            if (type == 3) typed.y = margin_labels_i64(i64, 90);
            if (type == 3) last = "1000000007000";
            if (type >= 4) typed.y = margin_values_f64(f64, 90);
            if (type == 5) typed.target = &target;
            if (type == 5) last = "pear";
            margin_model *model = fit_text(f->context, specs[n], &typed, NULL);
            assert_int_equal(margin_model_class_count(model), 3);
            assert_string_equal(margin_model_class_name(model, 2), last);
            assert_string_equal(margin_model_target(model)->name, type == 5 ? "fruit" : "y");
            assert_int_equal(margin_model_target(model)->category_count, type == 5 ? 5 : 0);
            double *scores = scores_of(model, &data.x);
            assert_memory_equal(scores, expected,
                                (size_t)(90 * margin_model_score_count(model)) * sizeof(double));
            free(scores);
            margin_model_free(model);
        }
        free(expected);
        margin_model_free(plain);
    }
}

/* Labels that a table holds, those that it does not, and both: classes by value, ascending. */
static void test_labels_near_and_far(void **state) {
    fixture *f = *state;
    static const double sets[][3] = {{0, 1, 2},          {-64, 4031, 7},      {-65, 4031, 7},
                                     {-64, 4032, 7},     {0, 1, 0.5},         {-3e9, -2.5, 1e300},
                                     {4031, 4030, 4032}, {1e9, 1e9 + 1, 5},   {-0.0, 3, 1},
                                     {1e-20, 0, 1},      {-1e15, 1 - 1e15, 0}};
    enum { N = 9000 };
    double *x = malloc(N * sizeof *x), *y = malloc(N * sizeof *y);
    int64_t *labels = malloc(N * sizeof *labels);
    for (size_t set = 0; set < sizeof sets / sizeof *sets; set++) {
        for (int k = 0; k < N; k++) {
            x[k] = k % 3;
            y[k] = sets[set][k % 3];
        }
        margin_data data = {.x = margin_dense_f64(x, N, 1, 1), .y = margin_values_f64(y, N)};
        margin_report report = {0};
        margin_model *model = fit_text(f->context, "naive-bayes(categorical=1)", &data, &report);
        assert_int_equal(margin_model_class_count(model), 3);
        assert_true(report.train_accuracy == 1);
        margin_error error = {0};
        if (margin_predict(model, &data.x, labels, &error) < 0) fail_msg("%s", error.text);
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++)
                assert_int_equal(labels[a] < labels[b], sets[set][a] < sets[set][b]);
        margin_report found = {0};
        y[8765] = 77;
        assert_int_equal(margin_verify(f->context, model, &data, &found, &error),
                         MARGIN_ERROR_DATA);
        assert_contains(error.text, "row 8766 has the label '77'");
        y[8765] = (double)NAN;
        fit_refused(f->context, "naive-bayes", &data, MARGIN_ERROR_DATA, "row 8766 has no value");
        margin_model_free(model);
    }
    free(labels);
    free(y);
    free(x);
}

static void test_signed_zero_is_one_label(void **state) {
    fixture *f = *state;
    double labels[60];
    for (int i = 0; i < 60; i++)
        labels[i] = f->two->labels[i] > 0 ? 1 : i % 2 ? -0.0 : 0.0;
    margin_data data = sample_data(f->two, DENSE_F64);
    data.y.values = labels;
    margin_model *model = fit_text(f->context, "perceptron", &data, NULL);
    assert_int_equal(margin_model_class_count(model), 2);
    assert_string_equal(margin_model_class_name(model, 0), "0");
    margin_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_null_arguments),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_descriptions),
        cmocka_unit_test(test_nothing_to_learn),
        cmocka_unit_test(test_weights_refused),
        cmocka_unit_test(test_labels_refused),
        cmocka_unit_test(test_long_labels),
        cmocka_unit_test(test_measurements_are_no_classes),
        cmocka_unit_test(test_spec_with_sets),
        cmocka_unit_test(test_absent_rows),
        cmocka_unit_test(test_order_and_repeats_of_selection),
        cmocka_unit_test(test_missing_values),
        cmocka_unit_test(test_label_types),
        cmocka_unit_test(test_labels_near_and_far),
        cmocka_unit_test(test_signed_zero_is_one_label),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
