/* The watchdog over public calls beside fits (watchdog.h): judging, promises, splits, searches,
 * predictions, transformations, verification, statistics, neighbours, reading and writing.
 *
 *   test_cancel_calls               all
 *   test_cancel_calls PART...       those whose names contain one of these words, printed */
#include "model_cases.h"
#include "watchdog.h"

#include "base/status.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Values and labels are random: no order in which a sort has little to do. */
enum { ROWS = 1600000, COLUMNS = 4, CLASSES = 5, SOME = 20000 };

static double *values, *labels, *classes, *numbers, *room;
static int64_t *row_numbers, *first_rows;
static margin_textbook_node *nodes;
static char *text;
static int64_t text_length;
static margin_context *maker;

static int set_up(void **state) {
    (void)state;
    uint64_t seed = 7;
    values = malloc((size_t)ROWS * COLUMNS * sizeof *values);
    labels = malloc(ROWS * sizeof *labels);
    classes = malloc(ROWS * sizeof *classes);
    numbers = malloc(ROWS * sizeof *numbers);
    room = malloc((size_t)ROWS * 16 * sizeof *room);
    row_numbers = malloc((size_t)ROWS * 8 * sizeof *row_numbers);
    first_rows = malloc(SOME * sizeof *first_rows);
    nodes = malloc(ROWS * sizeof *nodes);
    text = malloc((size_t)ROWS * 24);
    if (!values || !labels || !classes || !numbers || !room || !row_numbers || !first_rows ||
        !nodes || !text)
        return 1;
    for (int64_t k = 0; k < (int64_t)ROWS * COLUMNS; k++)
        values[k] = support_uniform(&seed) - 0.5;
    text_length = sprintf(text, "word,y\n");
    for (int64_t i = 0; i < ROWS; i++) {
        const double sum = values[i * COLUMNS] + 2 * values[i * COLUMNS + 1] +
                           0.5 * (support_uniform(&seed) - 0.5);
        labels[i] = sum > 0;
        classes[i] = floor(fabs(sum) * 8) - CLASSES * floor(fabs(sum) * 8 / CLASSES);
        numbers[i] = sum;
        text_length += sprintf(text + text_length, "w%010llu,%d\n",
                               (unsigned long long)(support_random(&seed) % 10000000000), sum > 0);
    }
    for (int64_t i = 0; i < SOME; i++)
        first_rows[i] = i;
    return margin_context_create(NULL, &maker, NULL) != MARGIN_OK;
}

static int tear_down(void **state) {
    (void)state;
    margin_context_free(maker);
    free(values);
    free(labels);
    free(classes);
    free(numbers);
    free(room);
    free(row_numbers);
    free(first_rows);
    free(nodes);
    free(text);
    return 0;
}

static margin_data data_of(const double *y, int64_t rows) {
    return (margin_data){.x = margin_dense_f64(values, rows, COLUMNS, COLUMNS),
                         .y = y ? margin_values_f64(y, rows) : (margin_vector){0}};
}

/* What one call works with, as a time limit is that of each; what else it needs is its own. */
typedef struct subject {
    margin_data data;
    const margin_model *model;
    margin_promise_options promise;
    margin_split_options split;
    margin_evaluate_options evaluate;
    const char *spec, *stages;
    const void *bytes; /* a file in memory, and one */
    int64_t length;
    const char *path;
    const margin_table *table;
    const margin_neighbors *index;
    const margin_splits *splits;
} subject;

static void watch(const char *name, const char *on, watchdog_call call, const subject *s) {
    if (watchdog_wants(name, on)) watchdog_watch(name, on, call, s);
}

static void watch_cancel(const char *name, const char *on, watchdog_call call, const subject *s) {
    if (watchdog_wants(name, on)) watchdog_cancel(name, on, call, s);
}

/* From `learned` rows; NULL where nothing of `name` is watched. */
static margin_model *model_of(const char *spec, const double *y, int64_t learned) {
    margin_data data = data_of(y, ROWS);
    if (learned < ROWS) {
        data.selection = first_rows;
        data.selected = learned;
    }
    return fit_text(maker, spec, &data, NULL);
}

/* ---- Judging --------------------------------------------------------------------------------- */

static margin_status evaluate(margin_context *context, const void *argument, margin_error *error) {
    const subject *s = argument;
    margin_metrics metrics = {0};
    const margin_status status =
        margin_evaluate_with(context, s->model, &s->data, &s->evaluate, &metrics, error);
    if (status >= 0) margin_metrics_free(&metrics);
    return status;
}

static margin_status measure(margin_context *context, const void *argument, margin_error *error) {
    const subject *s = argument;
    margin_metrics metrics = {0};
    const margin_predictions given = {.size = sizeof given,
                                      .task = MARGIN_CLASSIFY,
                                      .rows = ROWS,
                                      .classes = 2,
                                      .truth = s->data.y,
                                      .predicted = s->data.y,
                                      .scores = numbers};
    const margin_status status = margin_measure(context, &given, NULL, &metrics, error);
    if (status >= 0) margin_metrics_free(&metrics);
    return status;
}

static margin_status importance(margin_context *context, const void *argument,
                                margin_error *error) {
    const subject *s = argument;
    const margin_importance_options options = {.size = sizeof options, .metric = s->spec};
    margin_importance *found = NULL;
    const margin_status status =
        margin_importance_measure(context, s->model, &s->data, &options, &found, error);
    margin_importance_free(found);
    return status;
}

static margin_status margins(margin_context *context, const void *argument, margin_error *error) {
    const subject *s = argument;
    return margin_margins(context, s->model, &s->data, room, NULL, error);
}

static margin_status verify(margin_context *context, const void *argument, margin_error *error) {
    const subject *s = argument;
    margin_report found = {0};
    return margin_verify(context, s->model, &s->data, &found, error);
}

static margin_status statistics(margin_context *context, const void *argument,
                                margin_error *error) {
    const subject *s = argument;
    margin_statistics_result found = {0};
    const margin_status status =
        margin_statistics(context, s->model, &s->data, NULL, &found, error);
    if (status >= 0) margin_statistics_free(&found);
    return status;
}

static void test_judging(void **state) {
    static const struct {
        const char *spec, *metric;
        double *const *y;
    } of[] = {{"logistic", "auc", &labels},
              {"naive-bayes", "auc", &classes},
              {"softmax", "log_loss", &classes},
              {"least-squares", "r2", &numbers},
              {"kmeans(k=20)", "inertia", NULL}};
    (void)state;
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        const double *y = of[k].y ? *of[k].y : NULL;
        margin_model *model = model_of(of[k].spec, y, SOME);
        subject s = {.data = data_of(y, ROWS), .model = model, .spec = of[k].metric};
        s.evaluate.size = sizeof s.evaluate;
        watch("evaluate", of[k].spec, evaluate, &s);
        watch("importance", of[k].spec, importance, &s);
        if (y && y != numbers) watch("margins", of[k].spec, margins, &s);
        s.evaluate.bootstrap = 100;
        if (y) watch("evaluate by resampling", of[k].spec, evaluate, &s);
        margin_model_free(model);
    }
    const subject s = {.data = data_of(labels, ROWS)};
    watch("measure", "scores", measure, &s);
}

static void test_proofs(void **state) {
    static const struct {
        const char *spec;
        double *const *y;
        int64_t rows;
    } of[] = {{"logistic", &labels, ROWS},
              {"naive-bayes", &classes, ROWS},
              {"least-squares", &numbers, ROWS},
              {"svm(kernel=rbf)", &labels, SOME},
              {"knn", &labels, ROWS},
              {"kmeans(k=20)", NULL, ROWS}};
    (void)state;
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        const double *y = of[k].y ? *of[k].y : NULL;
        if (!watchdog_wants("verify", of[k].spec) && !watchdog_wants("statistics", of[k].spec))
            continue;
        margin_model *model = model_of(of[k].spec, y, of[k].rows);
        subject s = {.data = data_of(y, ROWS), .model = model};
        if (of[k].rows < ROWS) {
            s.data.selection = first_rows;
            s.data.selected = SOME;
        }
        watch("verify", of[k].spec, verify, &s);
        if (y == numbers) watch("statistics", of[k].spec, statistics, &s);
        margin_model_free(model);
    }
    margin_model *model = model_of("logistic(alpha=0)", labels, ROWS);
    const subject s = {.data = data_of(labels, ROWS), .model = model};
    watch("statistics", "logistic(alpha=0)", statistics, &s);
    margin_model_free(model);
}

/* ---- Choosing -------------------------------------------------------------------------------- */

static margin_status promise(margin_context *context, const void *argument, margin_error *error) {
    const subject *s = argument;
    margin_model *made = NULL;
    const margin_status status =
        margin_promise(context, s->model, &s->data, &s->promise, &made, error);
    margin_model_free(made);
    return status;
}

static void test_promises(void **state) {
    static const struct {
        const char *name;
        int32_t calibrate;
        const char *metric;
        double coverage;
        int several;
    } asked[] = {{"sigmoid", MARGIN_CALIBRATE_SIGMOID, NULL, 0, 0},
                 {"isotonic", MARGIN_CALIBRATE_ISOTONIC, NULL, 0, 1},
                 {"temperature", MARGIN_CALIBRATE_TEMPERATURE, NULL, 0, 1},
                 {"threshold", 0, "f1", 0, 0},
                 {"coverage", 0, NULL, 0.9, 0}};
    (void)state;
    for (size_t k = 0; k < sizeof asked / sizeof *asked; k++) {
        const double *y = asked[k].several ? classes : labels;
        margin_model *model = model_of("naive-bayes", y, ROWS);
        const subject s = {.data = data_of(y, ROWS),
                           .model = model,
                           .promise = {.size = sizeof s.promise,
                                       .folds = 2,
                                       .calibrate = asked[k].calibrate,
                                       .threshold_metric = asked[k].metric,
                                       .coverage = asked[k].coverage}};
        watch("promise", asked[k].name, promise, &s);
        margin_model_free(model);
    }
}

/* Those of a model that promises. */
static margin_status sets(margin_context *context, const void *argument, margin_error *error) {
    const subject *s = argument;
    return margin_predict_sets(context, s->model, &s->data, (uint8_t *)room, error);
}

static margin_status coverage(margin_context *context, const void *argument, margin_error *error) {
    const subject *s = argument;
    margin_coverage_found found = {0};
    return margin_coverage(context, s->model, &s->data, &found, error);
}

static void test_sets(void **state) {
    (void)state;
    margin_data data = data_of(classes, SOME);
    const margin_promise_options asked = {.size = sizeof asked, .coverage = 0.9};
    margin_model *model = model_of("naive-bayes", classes, SOME), *sure = NULL;
    assert_int_equal(margin_promise(maker, model, &data, &asked, &sure, NULL), MARGIN_OK);
    const subject s = {.data = data_of(classes, ROWS), .model = sure};
    watch("sets", "naive-bayes", sets, &s);
    watch("coverage", "naive-bayes", coverage, &s);
    margin_model_free(sure);
    margin_model_free(model);
}

static margin_status split(margin_context *context, const void *argument, margin_error *error) {
    const subject *s = argument;
    margin_splits *made = NULL;
    const margin_status status = margin_split(context, &s->data, &s->split, &made, error);
    margin_splits_free(made);
    return status;
}

static void test_splits(void **state) {
    (void)state;
    const margin_vector all = margin_values_f64(numbers, ROWS);
    const subject rows = {.data = data_of(classes, ROWS),
                          .split = {.size = sizeof rows.split, .folds = 5, .repeats = 20}};
    subject by = rows;
    watch("split", "rows", split, &rows);
    by.split.stratify = 1;
    watch("split", "classes", split, &by);
    by.split.groups = all;
    by.split.repeats = 1;
    watch("split", "groups", split, &by);
    by = rows;
    by.split.repeats = 1;
    by.split.time = all;
    watch("split", "time", split, &by);
}

static margin_status search(margin_context *context, const void *argument, margin_error *error) {
    const subject *s = argument;
    margin_spec *spec = parse_text(maker, s->spec);
    margin_search_result *found = NULL;
    const margin_search_options options = {.size = sizeof options, .baseline = 1, .training = 1};
    const margin_status status =
        margin_search(context, spec, &s->data, s->splits, &options, &found, error);
    margin_search_result_free(found);
    margin_spec_free(spec);
    return status;
}

static void test_searches(void **state) {
    static const struct {
        const char *spec;
        double *const *y;
        int64_t rows;
    } of[] = {{"naive-bayes(smoothing={1e-9,1e-3,1})", &classes, ROWS},
              {"ridge(alpha={1e-3..1e3 log 7})", &numbers, ROWS},
              {"logistic(alpha={1e-3..1 log 4})", &labels, ROWS},
              {"svm(kernel=rbf, C={1,10})", &labels, SOME},
              {"standardize | knn(k={1,5})", &labels, ROWS}};
    (void)state;
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        margin_splits *splits = NULL;
        subject s = {.data = data_of(*of[k].y, of[k].rows),
                     .split = {.size = sizeof s.split, .folds = 3},
                     .spec = of[k].spec};
        assert_int_equal(margin_split(maker, &s.data, &s.split, &splits, NULL), MARGIN_OK);
        s.splits = splits;
        watch("search", of[k].spec, search, &s);
        margin_splits_free(splits);
    }
}

static margin_status nested(margin_context *context, const void *argument, margin_error *error) {
    const subject *s = argument;
    margin_spec *spec = parse_text(maker, s->spec);
    margin_nested_result *found = NULL;
    const margin_status status =
        margin_search_nested(context, (const margin_spec *const *)&spec, 1, &s->data, s->splits,
                             &s->split, NULL, 0, &found, error);
    margin_nested_result_free(found);
    margin_spec_free(spec);
    return status;
}

static margin_status usual(margin_context *context, const void *argument, margin_error *error) {
    const subject *s = argument;
    margin_spec *specs[16];
    int64_t count = 0;
    const margin_status status = margin_usual_specs(context, &s->data, 16, specs, &count, error);
    for (int64_t k = 0; k < count; k++)
        margin_spec_free(specs[k]);
    return status;
}

static void test_choosing(void **state) {
    (void)state;
    margin_splits *splits = NULL;
    subject s = {.data = data_of(labels, ROWS),
                 .split = {.size = sizeof s.split, .folds = 2},
                 .spec = "naive-bayes(smoothing={1e-9,1})"};
    assert_int_equal(margin_split(maker, &s.data, &s.split, &splits, NULL), MARGIN_OK);
    s.splits = splits;
    watch("nested search", s.spec, nested, &s);
    watch("usual specs", "labels", usual, &s);
    margin_splits_free(splits);
}

/* ---- Answers --------------------------------------------------------------------------------- */

static margin_status transform(margin_context *context, const void *argument, margin_error *error) {
    const subject *s = argument;
    margin_transformed made = {0};
    const margin_status status = margin_transform(context, s->model, &s->data, &made, error);
    if (status >= 0) margin_transformed_free(&made);
    return status;
}

static margin_status predict(margin_context *context, const void *argument, margin_error *error) {
    const subject *s = argument;
    return margin_predict_data(context, s->model, &s->data, MARGIN_OUTPUT_SCORES, room, error);
}

static margin_status intervals(margin_context *context, const void *argument, margin_error *error) {
    const subject *s = argument;
    return margin_predict_intervals(context, s->model, &s->data, room, room + ROWS, error);
}

static void test_answers(void **state) {
    static const char *const specs[] = {"poly(degree=2) | standardize", "rbf(centres=100)",
                                        "impute | minmax"};
    static const char *const learners[] = {"knn", "svm(kernel=rbf)", "poly(degree=2) | logistic"};
    (void)state;
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
        margin_model *model = model_of(specs[k], NULL, SOME);
        const subject s = {.data = data_of(NULL, k == 1 ? ROWS / 8 : ROWS), .model = model};
        watch("transform", specs[k], transform, &s);
        margin_model_free(model);
    }
    for (size_t k = 0; k < sizeof learners / sizeof *learners; k++) {
        margin_model *model = model_of(learners[k], labels, SOME);
        const subject s = {.data = data_of(NULL, ROWS), .model = model};
        watch("predict", learners[k], predict, &s);
        margin_model_free(model);
    }
    const margin_promise_options asked = {.size = sizeof asked, .coverage = 0.9};
    margin_model *model = model_of("ridge", numbers, 2000), *sure = NULL;
    margin_data learned = data_of(numbers, 2000);
    assert_int_equal(margin_promise(maker, model, &learned, &asked, &sure, NULL), MARGIN_OK);
    const subject s = {.data = data_of(NULL, ROWS), .model = sure};
    watch("intervals", "ridge", intervals, &s);
    margin_model_free(sure);
    margin_model_free(model);
}

/* ---- Neighbours ------------------------------------------------------------------------------ */

static margin_status build_index(margin_context *context, const void *argument,
                                 margin_error *error) {
    const subject *s = argument;
    margin_neighbors *index = NULL;
    const margin_status status = margin_neighbors_build(context, &s->data.x, NULL, &index, error);
    margin_neighbors_free(index);
    return status;
}

static margin_status neighbours(margin_context *context, const void *argument,
                                margin_error *error) {
    const subject *s = argument;
    return margin_neighbors_nearest(context, s->index, &s->data.x, 5, row_numbers, NULL, error);
}

static margin_status within(margin_context *context, const void *argument, margin_error *error) {
    const subject *s = argument;
    margin_neighbors_lists lists = {.size = sizeof lists};
    const margin_status status =
        margin_neighbors_within(context, s->index, &s->data.x, 0.02, &lists, error);
    if (status >= 0) margin_neighbors_lists_free(&lists);
    return status;
}

static margin_status textbook(margin_context *context, const void *argument, margin_error *error) {
    const subject *s = argument;
    int64_t root;
    return margin_textbook_tree(context, &s->data.x, nodes, &root, error);
}

static void test_neighbours(void **state) {
    (void)state;
    subject all = {.data = data_of(NULL, ROWS)}, few = {.data = data_of(NULL, ROWS / 4)};
    margin_neighbors *of_all = NULL, *of_few = NULL;
    assert_int_equal(margin_neighbors_build(maker, &all.data.x, NULL, &of_all, NULL), MARGIN_OK);
    assert_int_equal(margin_neighbors_build(maker, &few.data.x, NULL, &of_few, NULL), MARGIN_OK);
    all.index = of_all;
    few.index = of_few;
    watch("index", "all", build_index, &all);
    watch("neighbours", "all", neighbours, &all);
    watch("neighbours within", "a quarter", within, &few);
    margin_neighbors_free(of_few);
    margin_neighbors_free(of_all);
    watch("textbook tree", "all", textbook, &all);
}

/* ---- Files ----------------------------------------------------------------------------------- */

static margin_status decode(margin_context *context, const void *argument, margin_error *error) {
    const subject *s = argument;
    margin_model *made = NULL;
    const margin_status status = margin_model_decode(context, s->bytes, s->length, &made, error);
    assert_true((status < 0) == !made);
    margin_model_free(made);
    return status;
}

static margin_status load(margin_context *context, const void *argument, margin_error *error) {
    margin_model *made = NULL;
    const margin_status status =
        margin_model_load(context, ((const subject *)argument)->path, &made, error);
    margin_model_free(made);
    return status;
}

static margin_status map(margin_context *context, const void *argument, margin_error *error) {
    margin_model *made = NULL;
    const margin_status status =
        margin_model_map(context, ((const subject *)argument)->path, &made, error);
    margin_model_free(made);
    return status;
}

static margin_status with_threshold(margin_context *context, const void *argument,
                                    margin_error *error) {
    margin_model *made = NULL;
    const margin_status status =
        margin_model_with_threshold(context, ((const subject *)argument)->model, 0.4, &made, error);
    margin_model_free(made);
    return status;
}

static margin_status decode_index(margin_context *context, const void *argument,
                                  margin_error *error) {
    const subject *s = argument;
    margin_neighbors *made = NULL;
    const margin_status status =
        margin_neighbors_decode(context, s->bytes, s->length, &made, error);
    margin_neighbors_free(made);
    return status;
}

/* Points without a tree. */
static void watch_index(void) {
    enum { WIDE = 64 };
    const margin_matrix x = margin_dense_f64(values, (int64_t)ROWS * COLUMNS / WIDE, WIDE, WIDE);
    margin_neighbors *index = NULL;
    subject s = {.length = 0};
    assert_int_equal(margin_neighbors_build(maker, &x, NULL, &index, NULL), MARGIN_OK);
    assert_int_equal(margin_neighbors_encoded_size(index, &s.length, NULL), MARGIN_OK);
    void *bytes = malloc((size_t)s.length);
    assert_non_null(bytes);
    assert_int_equal(margin_neighbors_encode_into(index, bytes, s.length, &s.length, NULL),
                     MARGIN_OK);
    s.bytes = bytes;
    watch_cancel("decode", "neighbours", decode_index, &s);
    free(bytes);
    margin_neighbors_free(index);
}

/* A time limit does not end them. */
static void test_loading(void **state) {
    char dir[SUPPORT_PATH], path[SUPPORT_PATH];
    margin_model *model = model_of("knn", labels, ROWS);
    subject s = {.model = model};
    void *bytes = NULL;
    (void)state;
    assert_int_equal(margin_model_encode(model, &bytes, &s.length, NULL), MARGIN_OK);
    support_temp_dir(dir);
    s.bytes = bytes;
    s.path = support_write_bytes(path, dir, "model.margin", bytes, (size_t)s.length);
    watch_cancel("decode", "knn", decode, &s);
    watch_cancel("load", "knn", load, &s);
    watch_cancel("map", "knn", map, &s);
    watch_cancel("model with threshold", "knn", with_threshold, &s);
    watch_index();
    support_temp_remove(dir);
    margin_bytes_free(model, bytes);
    margin_model_free(model);
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static margin_status parse(margin_context *context, const void *argument, margin_error *error) {
    margin_table *table = NULL;
    (void)argument;
    const margin_status status =
        margin_table_parse(context, text, text_length, "words.csv", NULL, &table, error);
    margin_table_free(table);
    return status;
}

static margin_status write(margin_context *context, const void *argument, margin_error *error) {
    const subject *s = argument;
    return margin_data_write(
        context, &s->data, "/dev/null",
        &(margin_write_options){.size = sizeof(margin_write_options), .format = MARGIN_FORMAT_CSV},
        error);
}

static margin_status summarize(margin_context *context, const void *argument, margin_error *error) {
    margin_column_summary found[2];
    return margin_table_summarize(context, ((const subject *)argument)->table, found, 2, error);
}

static margin_status update(margin_context *context, const void *argument, margin_error *error) {
    const subject *s = argument;
    margin_model *made = NULL;
    const margin_status status = margin_update(context, s->model, &s->data, &made, NULL, error);
    margin_model_free(made);
    return status;
}

static margin_status gram(margin_context *context, const void *argument, margin_error *error) {
    const subject *s = argument;
    int64_t rows;
    margin_spec *spec = parse_text(maker, s->spec);
    const margin_status status =
        margin_gram(context, spec, &s->data, (int64_t)ROWS * 16, room, &rows, error);
    margin_spec_free(spec);
    return status;
}

static margin_status separable(margin_context *context, const void *argument, margin_error *error) {
    const subject *s = argument;
    margin_separation found = {.size = sizeof found};
    const margin_status status = margin_separable(context, &s->data, &found, error);
    if (status >= 0) margin_separation_free(&found);
    return status;
}

static margin_status path(margin_context *context, const void *argument, margin_error *error) {
    const subject *s = argument;
    margin_path_result found = {.size = sizeof found};
    margin_spec *spec = parse_text(maker, s->spec);
    const margin_status status = margin_path(context, spec, &s->data, &found, error);
    if (status >= 0) margin_path_free(&found);
    margin_spec_free(spec);
    return status;
}

static void test_others(void **state) {
    (void)state;
    const subject two = {.data = data_of(labels, ROWS)};
    const subject ridge = {.data = data_of(numbers, ROWS), .spec = "ridge(alpha={1,2,3})"};
    const subject kernel = {.data = data_of(numbers, 2000), .spec = "kernel-ridge(alpha={1,2,3})"};
    watch("read", "words", parse, &two);
    watch("write", "csv", write, &two);
    watch("separable", "noisy", separable, &two);
    watch("path", ridge.spec, path, &ridge);
    watch("path", kernel.spec, path, &kernel);
}

static void test_rest(void **state) {
    (void)state;
    margin_table *table = NULL;
    margin_model *model = model_of("naive-bayes", classes, SOME);
    assert_int_equal(margin_table_parse(maker, text, text_length, "words.csv", NULL, &table, NULL),
                     MARGIN_OK);
    const subject words = {.table = table};
    const subject more = {.data = data_of(classes, ROWS), .model = model};
    const subject kernel = {.data = data_of(labels, 5000), .spec = "svm(kernel=rbf)"};
    watch("summarize", "words", summarize, &words);
    watch("update", "naive-bayes", update, &more);
    watch("gram", kernel.spec, gram, &kernel);
    margin_table_free(table);
    margin_model_free(model);
}

static void test_most_were_ended(void **state) {
    (void)state;
    watchdog_report();
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_judging),         cmocka_unit_test(test_proofs),
        cmocka_unit_test(test_promises),        cmocka_unit_test(test_splits),
        cmocka_unit_test(test_searches),        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_neighbours),      cmocka_unit_test(test_loading),
        cmocka_unit_test(test_others),          cmocka_unit_test(test_sets),
        cmocka_unit_test(test_choosing),        cmocka_unit_test(test_rest),
        cmocka_unit_test(test_most_were_ended),
    };
    if (getenv("MARGIN_TEST_LAUNCHED")) return 77; /* by a tool that makes it slow */
    watchdog_words(argc - 1, argv + 1);
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
