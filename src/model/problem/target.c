/* Targets: classes found among labels. */
#include "base/sort.h"
#include "data/table/encoder.h"
#include "model/problem/target_labels.h"
#include "model/problem/target_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Numbers are classes if not more than MOST_RARE of them have fewer than FEW_ROWS rows, or they are
 * 0, 1, 2, ... or 1, 2, 3, ... without a gap. Those that are not whole (ratings in half stars) are
 * if there are not more than MOST_FRACTIONS, which come twice on average. Others are measurements,
 * and a classifier the wrong thing to train. */
enum { MOST_RARE = 20, FEW_ROWS = 10, MOST_FRACTIONS = 10 };

/* Different labels so far, ascending. */
typedef struct label_set {
    mg_heap *heap;
    double *values;
    int64_t count, capacity;
} label_set;

static margin_status add_label(label_set *set, double value, margin_error *error) {
    int64_t at = mg_lower_bound(set->values, set->count, value);
    if (at < set->count && set->values[at] == value) return MARGIN_OK;
    if (set->count == set->capacity) {
        int64_t capacity = set->capacity * 2 + 16;
        double *grown = mg_resize(set->heap, set->values, capacity, sizeof *grown);
        if (!grown) return mg_no_memory(set->heap, capacity, sizeof *grown, "the labels", error);
        set->values = grown;
        set->capacity = capacity;
    }
    memmove(set->values + at + 1, set->values + at,
            (size_t)(set->count - at) * sizeof *set->values);
    set->values[at] = value;
    set->count++;
    return MARGIN_OK;
}

/* `what` is wrong with the numbers as classes. */
static margin_status refuse_measurement(const margin_data *data, const char *what,
                                        margin_error *error) {
    return mg_fail(error, MG_DATA(TARGET),
                   "the target %s %s: it looks like a measurement and not like classes. A "
                   "regression predicts numbers (ridge, least-squares, knn(task=regress), "
                   "svm(task=regress)); if "
                   "another column is the target, name it (margin_read_options.target); numbers "
                   "that do name classes have to be read as categories "
                   "(margin_read_options.categorical)",
                   mg_target_name(data), what);
}

static margin_status refuse_fraction(const margin_data *data, double label, margin_error *error) {
    char what[96];
    snprintf(what, sizeof what, "has numbers that are not whole (%s, for one)",
             mg_number(label).text);
    return refuse_measurement(data, what, error);
}

/* Rows of each label, until not more than MOST_RARE can be rare; labels are many. */
static margin_status check_rare(const margin_data *data, const mg_samples *samples,
                                const label_set *set, margin_error *error) {
    const double low = set->count ? set->values[0] : 0, high = low + (double)set->count - 1;
    if (set->count <= MOST_RARE) return MARGIN_OK;
    if ((low == 0 || low == 1) && set->values[set->count - 1] == high) return MARGIN_OK;
    int64_t rare = set->count;
    int64_t *rows = mg_new_zero(set->heap, set->count, sizeof *rows);
    if (!rows) return mg_no_memory(set->heap, set->count, sizeof *rows, "the labels", error);
    for (int64_t i = 0; i < samples->count && rare > MOST_RARE; i++) {
        const double label = mg_vector_f64(&data->y, mg_samples_row(samples, i)) + 0.0;
        rare -= ++rows[mg_lower_bound(set->values, set->count, label)] == FEW_ROWS;
    }
    mg_free(set->heap, rows);
    if (rare <= MOST_RARE) return MARGIN_OK;
    char what[128];
    snprintf(what, sizeof what, "has %lld different numbers, %lld of them in fewer than %d rows",
             (long long)set->count, (long long)rare, (int)FEW_ROWS);
    return refuse_measurement(data, what, error);
}

static margin_status find_labels(const margin_data *data, const mg_samples *samples, label_set *set,
                                 margin_error *error) {
    double fraction = (double)NAN, last = (double)NAN;
    for (int64_t i = 0; i < samples->count; i++) {
        double label;
        MG_TRY(mg_label_read(data, mg_samples_row(samples, i), &label, error));
        if (label == last) continue;
        last = label;
        if (label != floor(label)) fraction = label;
        MG_TRY(add_label(set, label, error));
        if (!isnan(fraction) && set->count > MOST_FRACTIONS)
            return refuse_fraction(data, fraction, error);
        if (set->count > MG_MAX_CLASSES)
            return refuse_measurement(data, "has more different numbers than a model has classes",
                                      error);
    }
    if (!isnan(fraction) && set->count > 2 && samples->count < 2 * set->count)
        return refuse_fraction(data, fraction, error);
    return MARGIN_OK;
}

static margin_status name_numbers(const label_set *set, margin_model *model, margin_error *error) {
    MG_TRY(mg_model_set_classes(model, set->count, true, error));
    for (int64_t c = 0; c < set->count; c++) {
        char text[MARGIN_NUMBER_TEXT];
        const int length = margin_number_print_f64(set->values[c], text);
        model->class_values[c] = set->values[c];
        MG_TRY(mg_model_name_class(model, c, text, length, error));
    }
    return MARGIN_OK;
}

/* Whole labels from LOW on, as nearly all are. False: they are not, and the set is empty. */
static margin_status find_small_labels(margin_context *context, const margin_data *data,
                                       const mg_samples *samples, label_set *set, bool *found,
                                       margin_error *error) {
    enum { LOW = -64, COUNT = 4096 };
    _Atomic unsigned char seen[COUNT];
    for (int64_t v = 0; v < COUNT; v++)
        atomic_init(&seen[v], 0);
    *found = mg_target_note(context, data, samples, (mg_label_range){LOW, COUNT}, seen);
    for (int64_t v = 0; *found && v < COUNT; v++)
        if (atomic_load_explicit(&seen[v], memory_order_relaxed))
            MG_TRY(add_label(set, (double)(LOW + v), error));
    return MARGIN_OK;
}

static margin_status learn_numbers(margin_context *context, const margin_data *data,
                                   const mg_samples *samples, margin_model *model,
                                   margin_error *error) {
    label_set set = {.heap = model->heap};
    bool small;
    margin_status status;
    MG_GO(find_small_labels(context, data, samples, &set, &small, error));
    if (!small) MG_GO(find_labels(data, samples, &set, error));
    MG_GO(check_rare(data, samples, &set, error));
    MG_GO(name_numbers(&set, model, error));
done:
    mg_free(set.heap, set.values);
    return status;
}

static bool earlier_name(int64_t a, int64_t b, const void *argument) {
    const margin_column *column = argument;
    return strcmp(column->categories[a], column->categories[b]) < 0;
}

/* present[0..count): the categories that occur, by name. */
static margin_status name_categories(const margin_column *column, const int64_t *present,
                                     int64_t count, margin_model *model, margin_error *error) {
    MG_TRY(mg_model_set_classes(model, count, false, error));
    for (int64_t c = 0; c < count; c++) {
        const char *name = column->categories[present[c]];
        MG_REQUIRE(c == 0 || strcmp(name, model->class_names[c - 1]) != 0, error,
                   MARGIN_ERROR_ARGUMENT, "the target %s has two categories of the name '%s'",
                   column->name, name);
        MG_TRY(mg_model_name_class(model, c, name, -1, error));
    }
    return MARGIN_OK;
}

static margin_status refuse_many(const margin_column *column, margin_error *error) {
    return mg_fail(error, MG_DATA(TARGET),
                   "the target %s has more than %d categories, which is the limit", column->name,
                   (int)MG_MAX_CLASSES);
}

/* Labels of which one at least is long: all are names. */
static margin_status learn_digits(const margin_data *data, const mg_samples *samples,
                                  margin_model *model, margin_error *error) {
    MG_SCOPED(mg_encoder, labels);
    int64_t *present, code;
    MG_TRY(mg_encoder_init(model->heap, NULL, NULL, true, &labels, error));
    for (int64_t i = 0; i < samples->count; i++) {
        char text[MARGIN_NUMBER_TEXT];
        const int length = mg_label_print(data, mg_samples_row(samples, i), text);
        MG_TRY(mg_encoder_code(&labels, text, length, &code, error));
    }
    MG_TRY(mg_encoder_finish(&labels, error));
    const margin_column column = mg_encoder_column(&labels, "y");
    if (column.category_count > MG_MAX_CLASSES) MG_TRY(refuse_many(&column, error));
    MG_SCOPED_ARENA(arena, model->heap);
    MG_ARENA_NEW(&arena, present, column.category_count, "the names of the classes", error);
    for (int64_t c = 0; c < column.category_count; c++)
        present[c] = c;
    return name_categories(&column, present, column.category_count, model, error);
}

/* Labels that are classes because the caller says so, each a row of `said`. */
static margin_status declare_numbers(const margin_data *said, const mg_samples *all,
                                     margin_model *model, margin_error *error) {
    label_set set = {.heap = model->heap};
    margin_status status = MARGIN_OK;
    for (int64_t k = 0; k < all->count; k++) {
        const double label = mg_vector_f64(&said->y, k) + 0.0;
        if (!isfinite(label)) {
            status = mg_fail(error, MG_DATA(TARGET), "class %lld that is declared is %s",
                             (long long)k + 1, mg_number(label).text);
            goto done;
        }
        MG_GO(add_label(&set, label, error));
    }
    MG_GO(name_numbers(&set, model, error));
done:
    mg_free(set.heap, set.values);
    return status;
}

static margin_status learn_labels(margin_context *context, const margin_data *data,
                                  const mg_samples *samples, margin_model *model,
                                  margin_error *error) {
    int64_t i = 0;
    if (data->y.type == MARGIN_I64)
        while (i < samples->count && !mg_label_is_long(data, mg_samples_row(samples, i)))
            i++;
    const bool digits = data->y.type == MARGIN_I64 && i < samples->count;
    if (digits) return learn_digits(data, samples, model, error);
    return data->classes.values ? declare_numbers(data, samples, model, error)
                                : learn_numbers(context, data, samples, model, error);
}

static margin_status learn_categories(const margin_data *data, const mg_samples *samples,
                                      margin_model *model, margin_error *error) {
    const margin_column *column = data->target;
    mg_heap *heap = model->heap;
    int64_t *present, *scratch, count = 0;
    MG_SCOPED_ARENA(arena, heap);
    MG_TRY(MG_PIECES(&arena, "the categories of the target", error,
                     MG_PIECE(scratch, column->category_count),
                     MG_PIECE(present, column->category_count)));
    memset(scratch, 0, (size_t)column->category_count * sizeof *scratch);
    for (int64_t i = 0; i < samples->count; i++) {
        int64_t category;
        MG_TRY(mg_label_category(data, mg_samples_row(samples, i), &category, error));
        scratch[category]++;
    }
    for (int64_t k = 0; k < column->category_count; k++)
        if (scratch[k] > 0) present[count++] = k;
    if (count > MG_MAX_CLASSES) MG_TRY(refuse_many(column, error));
    mg_sort_few(present, count, scratch, earlier_name, column);
    return name_categories(column, present, count, model, error);
}

margin_status mg_target_describe(const margin_data *data, margin_model *model,
                                 margin_error *error) {
    const int64_t count = mg_data_targets(data);
    const bool names = model->class_names && !model->class_values; /* of labels that are digits */
    margin_column column = {.name = "y",
                            .kind = names ? MARGIN_CATEGORICAL : MARGIN_NUMERIC,
                            .categories = names ? (const char *const *)model->class_names : NULL,
                            .category_count = names ? model->classes : 0};
    if (count > 1 && !data->target)
        return mg_columns_numbered(model->heap, "y", count, &model->target, error);
    return mg_columns_copy(model->heap, data->target ? data->target : &column, count,
                           &model->target, error);
}

margin_status mg_target_classes(margin_context *context, const margin_data *data,
                                const mg_samples *samples, margin_model *model,
                                margin_error *error) {
    const mg_samples all = {.heap = samples->heap, .count = data->classes.count};
    margin_data said = *data;
    MG_TRY(mg_target_require(data, NULL, error));
    if (data->classes.values) { /* they are learned like rows that have them */
        said.y = data->classes;
        samples = &all;
    }
    MG_REQUIRE(samples->count <= MG_MAX_CLASSES || !data->classes.values, error, MARGIN_ERROR_LIMIT,
               "%lld classes are declared; %d is the limit", (long long)samples->count,
               (int)MG_MAX_CLASSES);
    return mg_target_is_categorical(data) ? learn_categories(&said, samples, model, error)
                                          : learn_labels(context, &said, samples, model, error);
}

/* Of a target of numbers: what predicts them. */
static const char *numbers_instead(const margin_model *model) {
    if (!model->class_values || !model->learner) return "";
    return mg_option_index(&model->learner->info, "task") >= 0
               ? " (task=regress predicts numbers)"
               : " (ridge, lasso and knn(task=regress) predict numbers)";
}

margin_status mg_target_learn(margin_context *context, const margin_data *data,
                              const mg_samples *samples, margin_model *model, margin_error *error) {
    MG_TRY(mg_target_classes(context, data, samples, model, error));
    MG_REQUIRE(model->classes > 1 || !data->classes.values, error, MG_DATA(ONE_CLASS),
               "%lld class%s declared; a classifier needs at least two", (long long)model->classes,
               model->classes == 1 ? " is" : "es are");
    MG_REQUIRE(model->classes > 1, error, MG_DATA(ONE_CLASS),
               "every row has the label '%s' in the target %s; a classifier needs at least two "
               "classes%s",
               model->class_names[0], mg_target_name(data), numbers_instead(model));
    return mg_target_describe(data, model, error);
}

bool mg_target_looks_like_classes(const margin_data *data, const mg_samples *samples) {
    enum { MOST = 20 };
    double values[MOST + 1];
    int64_t count = 0;
    for (int64_t i = 0; data->y.values && i < samples->count; i++) {
        const double value = mg_vector_f64(&data->y, mg_samples_row(samples, i)) + 0.0;
        const int64_t guess = value > 0 && value < MOST ? (int64_t)value : 0; /* 0, 1, 2, ... */
        if (guess < count && values[guess] == value) continue;
        const int64_t at = mg_lower_bound(values, count, value);
        if (value != floor(value) || isinf(value)) return false;
        if (at < count && values[at] == value) continue;
        if (count == MOST) return false;
        memmove(values + at + 1, values + at, (size_t)(count - at) * sizeof *values);
        values[at] = value;
        count++;
    }
    return true;
}
