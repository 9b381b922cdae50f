/* A call of every public function that takes a model. */
#include "hostile_models.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile double sink; /* what an accessor points to is read */

static void read_columns(const margin_column *columns, int64_t count) {
    for (int64_t j = 0; j < count && columns; j++) {
        sink += (double)strlen(columns[j].name);
        for (int64_t k = 0; k < columns[j].category_count; k++)
            sink += (double)strlen(columns[j].categories[k]);
    }
}

static void read_score(const margin_model *model, int64_t score, int64_t features) {
    const int64_t *rows = NULL;
    const double *coefficients = NULL, *signs = NULL, *updates = NULL;
    const double *weights = margin_model_weights(model, score);
    int64_t first, second;
    for (int64_t j = 0; weights && j < features; j++)
        sink += weights[j];
    sink += margin_model_intercept(model, score);
    margin_model_score_classes(model, score, &first, &second);
    const int64_t duals = margin_model_dual(model, score, &rows, &coefficients, &signs, &updates);
    for (int64_t k = 0; k < duals; k++)
        sink += (double)rows[k] + coefficients[k] + signs[k] + updates[k];
}

static void read_class(const margin_model *model, int64_t c, int64_t features) {
    margin_telling telling[4];
    margin_likelihood likelihood = {0};
    double weight, probabilities[8];
    const char *name = margin_model_class_name(model, c);
    const double *centre = margin_model_centre(model, c);
    if (name) sink += (double)strlen(name);
    for (int64_t j = 0; centre && j < features; j++)
        sink += centre[j];
    sink += margin_model_cluster_size(model, c) + margin_model_prior(model, c, &weight);
    sink += margin_model_class_value(model, c);
    sink += (double)margin_model_telling(model, c, 4, telling);
    for (int64_t j = -1; j <= features; j++)
        sink += margin_model_likelihood(model, c, j, &likelihood, 8, probabilities);
}

static int64_t bytes_of(const margin_tensor *tensor) {
    const int64_t size = tensor->type == MARGIN_U8                                  ? 1
                         : tensor->type == MARGIN_F32 || tensor->type == MARGIN_I32 ? 4
                                                                                    : 8;
    return tensor->shape[0] * tensor->shape[1] * size;
}

/* By number and by name they are the same; all of it is read. */
static void read_tensors(const margin_model *model) {
    const int64_t count = margin_model_tensor_count(model);
    for (int64_t k = -1; k <= count; k++) {
        margin_tensor tensor = {.size = sizeof tensor}, named = {.size = sizeof named};
        if (!margin_model_tensor(model, k, &tensor)) continue;
        const int64_t bytes = bytes_of(&tensor);
        for (int64_t b = 0; b < bytes; b++)
            sink += (double)((const unsigned char *)tensor.values)[b];
        sink += margin_model_tensor_find(model, tensor.name, &named);
    }
}

static void read_promises(const margin_model *model, int64_t classes) {
    const double *costs = margin_model_costs(model);
    sink += (double)margin_model_calibration(model) + margin_model_threshold(model) +
            margin_model_coverage(model);
    for (int64_t k = 0; costs && k < classes * classes; k++)
        sink += costs[k];
}

static void read_model(const margin_model *model) {
    int64_t n, features;
    const margin_column *columns = margin_model_columns(model, &n);
    read_columns(columns, n);
    const margin_column *seen = margin_model_features(model, &features);
    read_columns(seen, features);
    read_columns(margin_model_target(model), margin_model_target_count(model));
    sink += (double)strlen(margin_model_spec(model)) + (double)margin_model_report(model)->rows;
    sink += (double)margin_model_unknown(model) + margin_model_has_probabilities(model);
    for (int64_t score = -1; score <= margin_model_score_count(model); score++)
        read_score(model, score, features);
    for (int64_t c = -1; c <= margin_model_class_count(model); c++)
        read_class(model, c, features);
    read_tensors(model);
    read_promises(model, margin_model_class_count(model));
}

/* Calls in turn; stops at the first that is wrong. */
typedef struct use {
    margin_context *context;
    const margin_model *model;
    const hostile_data *set;
    const char *path;
    margin_error *error;
    const char *wrong;
} use;

/* A failure has a sentence and is no defect of the library. */
static margin_status note(use *u, margin_status status, const char *name) {
    if (status < 0 && !u->wrong && (status == MARGIN_ERROR_INTERNAL || strlen(u->error->text) < 10))
        u->wrong = name;
    u->error->text[0] = 0;
    return status;
}

static void use_prediction(use *u) {
    const margin_model *model = u->model;
    const margin_matrix *x = &u->set->data.x;
    const int64_t width = margin_model_score_count(model) + margin_model_class_count(model) + 1;
    double *out = calloc((size_t)width * HOSTILE_ROWS, sizeof *out);
    int64_t *labels = calloc(HOSTILE_ROWS, sizeof *labels);
    void *scratch = malloc((size_t)margin_model_scratch_size(model) + 1);
    margin_context *c = u->context;
    if (out && labels && scratch) {
        note(u, margin_predict(model, x, labels, u->error), "margin_predict");
        note(u, margin_predict_values(model, x, out, u->error), "margin_predict_values");
        note(u, margin_scores(model, x, out, u->error), "margin_scores");
        note(u, margin_probabilities(model, x, out, u->error), "margin_probabilities");
        note(u, margin_class_scores(model, x, out, u->error), "margin_class_scores");
        note(u, margin_distances(model, x, out, u->error), "margin_distances");
        for (int what = MARGIN_OUTPUT_LABELS; what <= MARGIN_OUTPUT_DISTANCES; what++) {
            const margin_output o = (margin_output)what;
            void *to = o == MARGIN_OUTPUT_LABELS ? (void *)labels : out;
            note(u, margin_predict_scratch(model, x, o, to, scratch, u->error),
                 "margin_predict_scratch");
            note(u, margin_predict_parallel(c, model, x, o, to, u->error),
                 "margin_predict_parallel");
            note(u, margin_predict_data(c, model, &u->set->data, o, to, u->error),
                 "margin_predict_data");
        }
    }
    free(scratch);
    free(labels);
    free(out);
}

/* Rows of features, which may be none of the model's, back to inputs. */
static void use_inverse(use *u, const double *rows, int64_t features) {
    const int64_t inputs = u->set->data.x.columns;
    const margin_matrix x = margin_dense_f64(rows, HOSTILE_ROWS, features, features);
    double *out = calloc((size_t)inputs * HOSTILE_ROWS + 1, sizeof *out);
    if (out)
        note(u, margin_transform_inverse(u->model, &x, out, u->error), "margin_transform_inverse");
    free(out);
}

static void use_transform(use *u) {
    int64_t features;
    margin_transformed made = {.size = sizeof made};
    if (note(u, margin_transform(u->context, u->model, &u->set->data, &made, u->error),
             "margin_transform") >= 0)
        margin_transformed_free(&made);
    margin_model_features(u->model, &features);
    double *out = features < 1 << 16 ? calloc((size_t)features * HOSTILE_ROWS, sizeof *out) : NULL;
    if (out)
        note(u, margin_model_transform(u->context, u->model, &u->set->data.x, out, u->error),
             "margin_model_transform");
    if (out) use_inverse(u, out, features);
    for (int64_t j = -1; j <= features; j++) {
        double shift, scale;
        (void)margin_model_scale(u->model, j, &shift, &scale);
    }
    free(out);
}

static void use_judges(use *u, margin_status *verified) {
    const margin_data *data = &u->set->data;
    const int64_t parts = margin_model_report(u->model)->subproblems;
    margin_metrics metrics = {.size = sizeof metrics};
    margin_report found = {.size = sizeof found};
    margin_report *each = parts < 1000 ? calloc((size_t)parts, sizeof *each) : NULL;
    margin_statistics_result statistics = {0};
    double functional[HOSTILE_ROWS], geometric[HOSTILE_ROWS];
    if (note(u, margin_evaluate(u->context, u->model, data, &metrics, u->error),
             "margin_evaluate") >= 0)
        margin_metrics_free(&metrics);
    const margin_evaluate_options options = {
        .size = sizeof options, .unknown_wrong = 1, .bootstrap = 20, .level = 0.9};
    if (note(u, margin_evaluate_with(u->context, u->model, data, &options, &metrics, u->error),
             "margin_evaluate_with") >= 0)
        margin_metrics_free(&metrics);
    note(u, margin_margins(u->context, u->model, data, functional, geometric, u->error),
         "margin_margins");
    *verified =
        note(u, margin_verify(u->context, u->model, data, &found, u->error), "margin_verify");
    if (each)
        note(u, margin_verify_parts(u->context, u->model, data, &found, each, parts, u->error),
             "margin_verify_parts");
    if (note(u, margin_statistics(u->context, u->model, data, NULL, &statistics, u->error),
             "margin_statistics") >= 0)
        margin_statistics_free(&statistics);
    free(each);
}

static void use_promises(use *u) {
    const margin_data *data = &u->set->data;
    const int64_t classes = margin_model_class_count(u->model);
    const margin_importance_options shuffle = {.size = sizeof shuffle, .repeats = 1};
    margin_coverage_found found = {.size = sizeof found};
    margin_importance *importance;
    margin_model *changed;
    double lower[HOSTILE_ROWS], upper[HOSTILE_ROWS];
    uint8_t *sets = classes < 10000 ? calloc((size_t)classes + 1, HOSTILE_ROWS) : NULL;
    note(u, margin_predict_intervals(u->context, u->model, data, lower, upper, u->error),
         "margin_predict_intervals");
    if (sets)
        note(u, margin_predict_sets(u->context, u->model, data, sets, u->error),
             "margin_predict_sets");
    note(u, margin_coverage(u->context, u->model, data, &found, u->error), "margin_coverage");
    if (note(u, margin_model_with_threshold(u->context, u->model, 0.5, &changed, u->error),
             "margin_model_with_threshold") >= 0)
        margin_model_free(changed);
    if (note(u,
             margin_importance_measure(u->context, u->model, data, &shuffle, &importance, u->error),
             "margin_importance_measure") >= 0)
        margin_importance_free(importance);
    free(sets);
}

static void ask_neighbors(use *u, margin_neighbors *index) {
    margin_neighbors_lists lists = {0};
    margin_neighbors_info info = {0};
    int64_t rows[HOSTILE_ROWS];
    double distances[HOSTILE_ROWS];
    const margin_matrix *x = &u->set->data.x;
    margin_neighbors_describe(index, &info);
    note(u, margin_neighbors_nearest(u->context, index, x, 1, rows, distances, u->error),
         "margin_neighbors_nearest");
    note(u, margin_neighbors_one(index, u->set->x, 1, rows, distances, u->error),
         "margin_neighbors_one");
    if (note(u, margin_neighbors_within(u->context, index, x, 2, &lists, u->error),
             "margin_neighbors_within") >= 0)
        margin_neighbors_lists_free(&lists);
    margin_neighbors_free(index);
}

static void use_neighbors(use *u) {
    margin_neighbors *index = NULL;
    if (note(u, margin_neighbors_of(u->model, &index, u->error), "margin_neighbors_of") >= 0)
        ask_neighbors(u, index);
    /* a saved file is forced to the disk: only where an index is made of it */
    if (u->path && strcmp(margin_model_learner(u->model)->name, "knn") == 0 &&
        note(u, margin_model_save(u->model, u->path, u->error), "margin_model_save") >= 0 &&
        note(u, margin_neighbors_load(u->context, u->path, &index, u->error),
             "margin_neighbors_load") >= 0)
        ask_neighbors(u, index);
}

/* Where it lies in a file. */
static void use_mapped(use *u, const void *bytes, int64_t length) {
    margin_model *loaded = NULL;
    int64_t labels[HOSTILE_ROWS];
    FILE *file = u->path ? fopen(u->path, "wb") : NULL;
    if (!file) return;
    const bool written = fwrite(bytes, 1, (size_t)length, file) == (size_t)length;
    if (fclose(file) != 0 || !written) return;
    if (margin_model_load(u->context, u->path, &loaded, u->error) < 0)
        u->wrong = "margin_model_load";
    margin_model_free(loaded);
    loaded = NULL;
    if (margin_model_map(u->context, u->path, &loaded, u->error) < 0) {
        u->wrong = "margin_model_map";
        return;
    }
    read_model(loaded);
    note(u, margin_predict(loaded, &u->set->data.x, labels, u->error), "margin_predict, mapped");
    margin_model_free(loaded);
}

/* The caller's memory gets the same bytes, or none. */
static void use_room(use *u, const void *bytes, int64_t length) {
    int64_t found = 0, written = 0;
    char *room = malloc((size_t)length);
    if (!room) return;
    if (margin_model_encoded_size(u->model, &found, u->error) < 0 || found != length ||
        margin_model_encode_into(u->model, room, length - 1, &written, u->error) !=
            MARGIN_ERROR_ARGUMENT ||
        margin_model_encode_into(u->model, room, length, &written, u->error) < 0 ||
        written != length || memcmp(room, bytes, (size_t)length) != 0)
        u->wrong = "margin_model_encode_into";
    free(room);
}

/* A fit of its own spec that begins at the model, and fits for its promise, for a moment. */
static void use_fits(use *u) {
    const margin_context_options moment = {.size = sizeof moment, .time_limit = 0.2};
    const margin_fit_options options = {.size = sizeof options, .start = u->model};
    margin_context *hurried = NULL;
    margin_spec *spec = NULL;
    margin_model *made = NULL;
    const margin_promise_options promise = {.size = sizeof promise, .coverage = 0.8, .folds = 2};
    if (note(u, margin_context_with(u->context, &moment, &hurried, u->error),
             "margin_context_with") < 0)
        return;
    if (note(u, margin_promise(hurried, u->model, &u->set->data, &promise, &made, u->error),
             "margin_promise") >= 0)
        read_model(made);
    margin_model_free(made);
    made = NULL;
    if (margin_model_weights(u->model, 0) &&
        note(u, margin_spec_parse(u->context, margin_model_spec(u->model), &spec, u->error),
             "margin_spec_parse") >= 0 &&
        note(u, margin_fit_with(hurried, spec, &u->set->data, &options, &made, NULL, u->error),
             "margin_fit_with") >= 0)
        read_model(made);
    margin_model_free(made);
    margin_spec_free(spec);
    margin_context_free(hurried);
}

/* What was made of the model: more rows, the same bytes again. */
static void use_copies(use *u) {
    margin_model *made = NULL, *again = NULL;
    margin_report report = {0};
    void *first = NULL, *second = NULL;
    int64_t length = 0, other = 0;
    if (note(u, margin_update(u->context, u->model, &u->set->data, &made, &report, u->error),
             "margin_update") >= 0) {
        read_model(made);
        margin_model_free(made);
    }
    if (note(u, margin_model_encode(u->model, &first, &length, u->error), "margin_model_encode") <
        0)
        return;
    if (margin_model_decode(u->context, first, length, &again, u->error) < 0 ||
        margin_model_encode(again, &second, &other, u->error) < 0 || length != other ||
        memcmp(first, second, (size_t)length) != 0)
        u->wrong = "margin_model_encode";
    if (!u->wrong) {
        use_room(u, first, length);
        use_mapped(u, first, length);
    }
    margin_bytes_free(u->model, first);
    if (again) margin_bytes_free(again, second);
    margin_model_free(again);
}

const char *hostile_use(margin_context *context, const margin_model *model, const char *path,
                        margin_status *verified, margin_error *error) {
    hostile_data set;
    use u = {.context = context, .model = model, .set = &set, .path = path, .error = error};
    *verified = MARGIN_OK;
    read_model(model);
    if (hostile_data_of(model, &set)) {
        use_prediction(&u);
        use_transform(&u);
        use_judges(&u, verified);
        use_promises(&u);
        use_copies(&u);
        use_neighbors(&u);
        use_fits(&u);
    }
    hostile_data_free(&set);
    return u.wrong;
}
