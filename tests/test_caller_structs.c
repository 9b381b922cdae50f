/* Structs that a caller has room for: each size of them, and reserved fields. */
#include "model_cases.h"

#include <math.h>
#include <string.h>

static margin_context *context;
static sample *classes, *numbers;
static margin_model *logistic, *bayes, *squares, *covered;
static margin_neighbors *neighbors;
static margin_table *table;
static margin_spec *spec;

/* Each fills in the place; 1: done, 0: refused. */
static int give_report(void *place) {
    margin_error error = {0};
    const margin_data data = sample_data(classes, DENSE_F64);
    return margin_verify(context, logistic, &data, place, &error) == MARGIN_OK;
}
static int give_parts(void *place) {
    margin_error error = {0};
    const margin_data data = sample_data(classes, DENSE_F64);
    margin_report found = {0};
    return margin_verify_parts(context, logistic, &data, &found, place, 1, &error) == MARGIN_OK;
}
static int give_fitted(void *place) {
    margin_error error = {0};
    const margin_data data = sample_data(classes, DENSE_F64);
    margin_model *model = NULL;
    const int done = margin_fit(context, spec, &data, &model, place, &error) == MARGIN_OK;
    margin_model_free(model);
    return done;
}
static int give_updated(void *place) {
    margin_error error = {0};
    const margin_data data = sample_data(classes, DENSE_F64);
    margin_model *model = NULL;
    const int done = margin_update(context, bayes, &data, &model, place, &error) == MARGIN_OK;
    margin_model_free(model);
    return done;
}
static int give_metrics(void *place) {
    margin_error error = {0};
    const margin_data data = sample_data(classes, DENSE_F64);
    const int done = margin_evaluate(context, logistic, &data, place, &error) == MARGIN_OK;
    if (done) margin_metrics_free(place);
    return done;
}
static int give_class(void *place) {
    margin_error error = {0};
    const margin_data data = sample_data(classes, DENSE_F64);
    margin_metrics metrics = {0};
    assert_int_equal(margin_evaluate(context, logistic, &data, &metrics, &error), MARGIN_OK);
    const int done = margin_metrics_class(&metrics, 1, place);
    margin_metrics_free(&metrics);
    return done;
}
static int give_separation(void *place) {
    margin_error error = {0};
    const margin_data data = sample_data(classes, DENSE_F64);
    const int done = margin_separable(context, &data, place, &error) >= 0;
    if (done) margin_separation_free(place);
    return done;
}
static int give_path(void *place) {
    margin_error error = {0};
    const margin_data data = sample_data(numbers, DENSE_F64);
    margin_spec *penalties;
    assert_int_equal(margin_spec_parse(context, "ridge(alpha={1,2})", &penalties, &error), 0);
    const int done = margin_path(context, penalties, &data, place, &error) == MARGIN_OK;
    if (done) {
        assert_non_null(margin_path_point_at(place, 1));
        assert_null(margin_path_point_at(place, 2));
        assert_null(margin_path_point_at(place, -1));
        margin_path_free(place);
        assert_null(margin_path_point_at(place, 0));
    }
    margin_spec_free(penalties);
    return done;
}
static int give_statistics(void *place) {
    margin_error error = {0};
    const margin_data data = sample_data(numbers, DENSE_F64);
    const int done = margin_statistics(context, squares, &data, NULL, place, &error) == MARGIN_OK;
    if (done) {
        assert_non_null(margin_statistics_coefficient(place, 0));
        assert_null(margin_statistics_coefficient(place, numbers->columns + 1));
        assert_null(margin_statistics_dependence(place, 0));
        margin_statistics_free(place);
        assert_null(margin_statistics_coefficient(place, 0));
    }
    return done;
}
static int give_likelihood(void *place) {
    return margin_model_likelihood(bayes, 0, 0, place, 0, NULL);
}
static int give_tensor(void *place) {
    return margin_model_tensor(logistic, 0, place);
}
static int give_setting(void *place) {
    return margin_spec_setting(spec, 0, "C", place);
}
static int give_lists(void *place) {
    margin_error error = {0};
    const margin_matrix x = sample_view(numbers, DENSE_F64);
    const int done = margin_neighbors_within(context, neighbors, &x, 1, place, &error) == MARGIN_OK;
    if (done) margin_neighbors_lists_free(place);
    return done;
}
static int give_coverage(void *place) {
    margin_error error = {0};
    const margin_data data = sample_data(numbers, DENSE_F64);
    return margin_coverage(context, covered, &data, place, &error) == MARGIN_OK;
}
static int give_difference(void *place) {
    static const double values[] = {1, 2, 4};
    const margin_search_result result = {.splits = 3, .test_share = 0.5};
    return margin_search_interval(&result, values, NULL, 0.9, place);
}
static int give_importance(void *place) {
    margin_error error = {0};
    const margin_data data = sample_data(classes, DENSE_F64);
    margin_importance *importance;
    assert_int_equal(margin_importance_measure(context, logistic, &data, NULL, &importance, &error),
                     0);
    const int done = margin_importance_of(importance, 0, place);
    margin_importance_free(importance);
    return done;
}
/* These have no answer: what tells is whether a field was written. */
static int give_details(void *place) {
    margin_table_info(table, place);
    return ((margin_table_details *)place)->format == MARGIN_FORMAT_CSV;
}
static int give_capabilities(void *place) {
    margin_capabilities(place);
    const int32_t cores = ((margin_capabilities_info *)place)->cores;
    return cores >= 1 && cores < 1 << 20;
}
static int give_index(void *place) {
    margin_neighbors_describe(neighbors, place);
    return ((margin_neighbors_info *)place)->rows == numbers->rows;
}

#define CASE(type, last, give)                                                                     \
    { #type, sizeof(type), offsetof(type, last) + sizeof(((type *)0)->last), give }
static const struct {
    const char *name;
    size_t size, first;
    int (*give)(void *place);
} cases[] = {CASE(margin_report, items, give_report),
             CASE(margin_report, items, give_parts),
             CASE(margin_report, items, give_fitted),
             CASE(margin_report, items, give_updated),
             CASE(margin_metrics, inner, give_metrics),
             CASE(margin_class_metrics, average_precision, give_class),
             CASE(margin_separation, inner, give_separation),
             CASE(margin_path_result, inner, give_path),
             CASE(margin_statistics_result, inner, give_statistics),
             CASE(margin_likelihood, values, give_likelihood),
             CASE(margin_tensor, values, give_tensor),
             CASE(margin_setting, count, give_setting),
             CASE(margin_neighbors_lists, inner, give_lists),
             CASE(margin_coverage_found, width, give_coverage),
             CASE(margin_search_difference, high, give_difference),
             CASE(margin_importance_column, weight_per_deviation, give_importance),
             CASE(margin_table_details, name, give_details),
             CASE(margin_capabilities_info, cores, give_capabilities),
             CASE(margin_neighbors_info, reason, give_index)};
enum { CASES = sizeof cases / sizeof cases[0], ROOM = 1 << 16 };

static union {
    max_align_t align;
    unsigned char bytes[ROOM];
} place;

static void set_size(size_t size, int fill) {
    memset(place.bytes, fill, ROOM);
    memcpy(place.bytes, &size, sizeof size);
}

static void assert_bytes(const char *name, size_t from, size_t to, int value) {
    for (size_t k = from; k < to; k++)
        if (place.bytes[k] != value) fail_msg("%s: byte %zu was written", name, k);
}

static void only_the_stated_size_is_written(void **state) {
    (void)state;
    for (size_t c = 0; c < CASES; c++) {
        const size_t sizes[] = {0, cases[c].first, cases[c].size, cases[c].size + 40};
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            size_t kept;
            set_size(sizes[s], 0x77);
            if (!cases[c].give(place.bytes)) fail_msg("%s of size %zu", cases[c].name, sizes[s]);
            memcpy(&kept, place.bytes, sizeof kept);
            assert_int_equal(kept, sizes[s]);
            const size_t end = sizes[s] ? sizes[s] : cases[c].first;
            assert_bytes(cases[c].name, end, ROOM, 0x77);
            if (end > cases[c].size) assert_bytes(cases[c].name, cases[c].size, end, 0);
        }
    }
}

static void a_size_of_no_version_is_refused(void **state) {
    (void)state;
    for (size_t c = 0; c < CASES; c++) {
        const size_t sizes[] = {1, cases[c].first - 1, 17 * cases[c].size,
                                (size_t)0xA5A5A5A5A5A5A5A5};
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            set_size(sizes[s], 0xA5);
            if (cases[c].give(place.bytes)) fail_msg("%s of size %zu", cases[c].name, sizes[s]);
            assert_bytes(cases[c].name, sizeof(size_t), ROOM, 0xA5);
        }
    }
}

/* The step of an array of reports is the size in its first element. */
static void reports_step_by_their_size(void **state) {
    (void)state;
    margin_error error = {0};
    sample *three = sample_make(60, 3, 3, 0.1, 8);
    const margin_data data = sample_data(three, DENSE_F64);
    margin_model *model = fit_text(context, "logistic(multiclass=ovr)", &data, NULL);
    const size_t step = sizeof(margin_report) + 64;
    margin_report found = {0};
    set_size(step, 0x77);
    assert_int_equal(margin_verify_parts(context, model, &data, &found,
                                         (margin_report *)(void *)place.bytes, 2, &error),
                     MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_verify_parts(context, model, &data, &found,
                                         (margin_report *)(void *)place.bytes, 3, &error),
                     MARGIN_OK);
    double sum = 0;
    for (size_t k = 0; k < 3; k++) {
        margin_report part;
        memcpy(&part, place.bytes + k * step, sizeof part);
        assert_int_equal(part.size, step);
        assert_int_equal(part.rows, 60);
        sum += part.objective;
        assert_bytes("parts", k * step + sizeof part, (k + 1) * step, 0);
    }
    assert_true(sum > found.objective * (1 - 1e-12) && sum < found.objective * (1 + 1e-12));
    assert_bytes("parts", 3 * step, ROOM, 0x77);
    margin_model_free(model);
    sample_free(three);
}

static void assert_reserved(const margin_data *data, const char *what) {
    margin_error error = {0};
    margin_model *model = NULL;
    assert_int_equal(margin_fit(context, spec, data, &model, NULL, &error), MARGIN_ERROR_ARGUMENT);
    if (!strstr(error.text, "reserved") || !strstr(error.text, what)) fail_msg("%s", error.text);
    assert_null(model);
}

static void reserved_fields_are_zero(void **state) {
    (void)state;
    const margin_data data = sample_data(classes, DENSE_F64);
    margin_column columns[8] = {{.name = "a"}, {.name = "b"}, {.name = "c"}, {.name = "d"}};
    margin_data changed = data;
    changed.reserved[7] = &data;
    assert_reserved(&changed, "data set");
    changed = data;
    changed.x.reserved = &data;
    assert_reserved(&changed, "x");
    changed = data;
    changed.x.reserved_word = 1;
    assert_reserved(&changed, "x");
    changed = data;
    changed.y.reserved = &data;
    assert_reserved(&changed, "y");
    changed = data;
    changed.columns = columns;
    columns[1].reserved[1] = &data;
    assert_reserved(&changed, "b");
}

static int stop_at_second(const margin_trace_step *step, void *user) {
    (void)step;
    return ++*(int *)user == 2;
}

static void a_trace_may_end_the_fit(void **state) {
    (void)state;
    margin_error error = {0};
    const margin_data data = sample_data(classes, DENSE_F64);
    margin_model *model = NULL;
    static const char *const texts[] = {"logistic(solver=gd)", "perceptron",
                                        "kernel-logistic(solver=gd)", "svm(kernel=linear)"};
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
        int steps = 0;
        margin_spec *traced;
        const margin_fit_options options = {
            .size = sizeof options, .trace = stop_at_second, .user = &steps};
        if (margin_spec_parse(context, texts[k], &traced, &error) < 0) fail_msg("%s", error.text);
        assert_int_equal(margin_fit_with(context, traced, &data, &options, &model, NULL, &error),
                         MARGIN_ERROR_CANCELLED);
        assert_null(model);
        assert_int_equal(steps, 2);
        margin_context_resume(context);
        margin_spec_free(traced);
    }
}

static margin_status fit_from(const char *text, const margin_model *start, const margin_data *data,
                              margin_report *report, margin_error *error) {
    const margin_fit_options options = {.size = sizeof options, .start = start};
    margin_model *model = NULL;
    margin_spec *parsed = NULL;
    assert_int_equal(margin_spec_parse(context, text, &parsed, error), MARGIN_OK);
    const margin_status status =
        margin_fit_with(context, parsed, data, &options, &model, report, error);
    margin_model_free(model);
    margin_spec_free(parsed);
    return status;
}

/* A size between two fields would hand half a pointer over. */
static void options_end_with_a_field(void **state) {
    (void)state;
    margin_error error = {0};
    const margin_data data = sample_data(classes, DENSE_F64);
    margin_model *model = fit_text(context, "logistic", &data, NULL), *next = NULL;
    margin_spec *parsed = parse_text(context, "logistic");
    margin_fit_options options = {.start = model};
    for (options.size = 1; options.size < sizeof options; options.size++)
        if (options.size % sizeof(double) != 0)
            assert_int_equal(margin_fit_with(context, parsed, &data, &options, &next, NULL, &error),
                             MARGIN_ERROR_ARGUMENT);
    assert_null(next);
    margin_spec_free(parsed);
    margin_model_free(model);
}

/* A fit from where another one ended reaches the same optimum on a shorter way. */
static void fits_start_from_models(void **state) {
    (void)state;
    static const char *const texts[] = {"logistic(C=3)", "standardize | logistic(C=3)",
                                        "svm(loss=squared-hinge, solver=newton)"};
    margin_error error = {0};
    const margin_data data = sample_data(classes, DENSE_F64);
    const margin_data values = sample_data(numbers, DENSE_F64);
    for (int k = 0; k < 3; k++) {
        margin_report cold = {.size = sizeof cold}, warm = {.size = sizeof warm};
        margin_model *model = fit_text(context, texts[k], &data, NULL);
        assert_int_equal(fit_from(texts[k], NULL, &data, &cold, &error), MARGIN_OK);
        assert_int_equal(fit_from(texts[k], model, &data, &warm, &error), MARGIN_OK);
        assert_true(warm.iterations < cold.iterations && warm.gap <= warm.tolerance);
        assert_true(fabs(warm.objective - cold.objective) <=
                    2 * cold.tolerance * fmax(1, cold.objective));
        margin_model_free(model);
    }
    /* one that it makes no use of changes nothing */
    assert_int_equal(fit_from("knn", logistic, &data, NULL, &error), MARGIN_OK);
    assert_int_equal(fit_from("logistic", bayes, &data, NULL, &error), MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "'naive-bayes', is not linear");
    assert_int_equal(fit_from("poly | logistic", logistic, &data, NULL, &error),
                     MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "has 4 features, and this fit 15");
    assert_int_equal(fit_from("ridge", logistic, &values, NULL, &error), MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "other classes or targets");
    assert_int_equal(fit_from("softmax", logistic, &data, NULL, &error), MARGIN_OK);
}

static int open_all(void **state) {
    (void)state;
    static const char text[] = "a,b\n1,2\n3,4\n";
    margin_error error = {0};
    context = support_context(NULL, 2);
    classes = sample_make(40, 4, 2, 0.2, 5);
    numbers = sample_make(40, 4, 2, 0.2, 6);
    const margin_data data = sample_data(classes, DENSE_F64);
    const margin_data values = sample_data(numbers, DENSE_F64);
    const margin_matrix x = sample_view(numbers, DENSE_F64);
    const margin_promise_options promise = {.size = sizeof promise, .coverage = 0.8};
    logistic = fit_text(context, "logistic", &data, NULL);
    bayes = fit_text(context, "naive-bayes", &data, NULL);
    squares = fit_text(context, "least-squares", &values, NULL);
    margin_spec *ridge = NULL;
    margin_model *plain = NULL;
    if (margin_spec_parse(context, "logistic", &spec, &error) < 0 ||
        margin_spec_parse(context, "ridge", &ridge, &error) < 0 ||
        margin_fit(context, ridge, &values, &plain, NULL, &error) < 0 ||
        margin_promise(context, plain, &values, &promise, &covered, &error) < 0 ||
        margin_neighbors_build(context, &x, NULL, &neighbors, &error) < 0 ||
        margin_table_parse(context, text, sizeof text - 1, "t.csv", NULL, &table, &error) < 0)
        fail_msg("%s", error.text);
    margin_spec_free(ridge);
    margin_model_free(plain);
    return 0;
}

static int close_all(void **state) {
    (void)state;
    margin_table_free(table);
    margin_neighbors_free(neighbors);
    margin_spec_free(spec);
    margin_model_free(logistic);
    margin_model_free(bayes);
    margin_model_free(squares);
    margin_model_free(covered);
    sample_free(classes);
    sample_free(numbers);
    margin_context_free(context);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(only_the_stated_size_is_written),
                                       cmocka_unit_test(a_size_of_no_version_is_refused),
                                       cmocka_unit_test(reports_step_by_their_size),
                                       cmocka_unit_test(reserved_fields_are_zero),
                                       cmocka_unit_test(a_trace_may_end_the_fit),
                                       cmocka_unit_test(options_end_with_a_field),
                                       cmocka_unit_test(fits_start_from_models)};
    return cmocka_run_group_tests(tests, open_all, close_all);
}
