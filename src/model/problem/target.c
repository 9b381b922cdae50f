/* Targets: classes found among labels, labels found among classes, values. */
#include "base/sort.h"
#include "base/sweep.h"
#include "model/problem/samples.h"
#include "model/problem/target_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Labels that are not whole are taken for classes up to this many different ones; with more it is a
 * measurement, and a classifier the wrong thing to train. */
enum { MOST_FRACTIONS = 100 };

static const double largest_whole = 9007199254740992.0; /* 2^53 */

/* ---- Reading labels -------------------------------------------------------------------------- */

static const char *target_name(const margin_data *data) {
    return data->target ? data->target->name : "y";
}

static bool is_categorical(const margin_data *data) {
    return data->target && data->target->kind == MARGIN_CATEGORICAL;
}

static margin_status require_target(const margin_data *data, margin_error *error) {
    MG_REQUIRE(data->y.values, error, MARGIN_ERROR_DATA,
               "the data has no target; name a column of it, or for npy and idx the file of the "
               "labels (--labels)");
    return MARGIN_OK;
}

/* The number `value` that a target has in a row, if it can stand for itself. */
static margin_status check_label(const margin_data *data, const char *name, int64_t row,
                                 double value, margin_error *error) {
    mg_place place = {0, 0, row + 1, -1};
    if (isnan(value))
        return mg_fail_at(error, MARGIN_ERROR_DATA, place,
                          "row %lld has no value in the target %s; leave such rows out "
                          "(--missing drop)",
                          (long long)row + 1, name);
    if (isinf(value))
        return mg_fail_at(error, MARGIN_ERROR_DATA, place,
                          "row %lld has the value %s in the target %s", (long long)row + 1,
                          mg_number(value).text, name);
    if (data->y.type == MARGIN_I64 && fabs(value) >= largest_whole)
        return mg_fail_at(error, MARGIN_ERROR_DATA, place,
                          "row %lld has the label %s: labels beyond 2^53 cannot be told apart, "
                          "number them anew",
                          (long long)row + 1, mg_number(value).text);
    return MARGIN_OK;
}

/* The label of a row as a number that stands for itself. */
static margin_status read_label(const margin_data *data, int64_t row, double *label,
                                margin_error *error) {
    *label = mg_vector_f64(&data->y, row) + 0.0; /* -0 is 0 */
    return check_label(data, target_name(data), row, *label, error);
}

/* The category of a row. */
static margin_status read_category(const margin_data *data, int64_t row, int64_t *category,
                                   margin_error *error) {
    double value = 0;
    MG_TRY(read_label(data, row, &value, error));
    if (value < 0 || value >= (double)data->target->category_count || value != floor(value))
        return mg_fail_at(error, MARGIN_ERROR_DATA, (mg_place){0, 0, row + 1, -1},
                          "row %lld has the code %s in the target %s, which has %lld categories",
                          (long long)row + 1, mg_number(value).text, target_name(data),
                          (long long)data->target->category_count);
    *category = (int64_t)value;
    return MARGIN_OK;
}

/* ---- Classes among labels -------------------------------------------------------------------- */

/* Different labels so far, ascending. */
typedef struct label_set {
    mg_heap *heap;
    double *values;
    int64_t count, capacity;
} label_set;

/* Number of values below `value`. */
static int64_t lower_bound(const double *values, int64_t count, double value) {
    int64_t low = 0, high = count;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (values[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static margin_status add_label(label_set *set, double value, margin_error *error) {
    int64_t at = lower_bound(set->values, set->count, value);
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

static margin_status refuse_measurement(const margin_data *data, int64_t found, double example,
                                        margin_error *error) {
    return mg_fail(error, MARGIN_ERROR_DATA,
                   "the target %s has more than %lld different values (%s, for one), which looks "
                   "like a measurement and not like classes; name the target if it is another "
                   "column, train a regression, or put the values into classes first",
                   target_name(data), (long long)found - 1, mg_number(example).text);
}

static margin_status find_labels(const margin_data *data, const mg_samples *samples, label_set *set,
                                 margin_error *error) {
    double fraction = (double)NAN, last = (double)NAN;
    for (int64_t i = 0; i < samples->count; i++) {
        double label;
        MG_TRY(read_label(data, mg_samples_row(samples, i), &label, error));
        if (label == last) continue;
        last = label;
        if (label != floor(label)) fraction = label;
        MG_TRY(add_label(set, label, error));
        bool many =
            set->count > MG_MAX_CLASSES || (set->count > MOST_FRACTIONS && !isnan(fraction));
        if (many)
            return refuse_measurement(data, set->count, isnan(fraction) ? label : fraction, error);
    }
    return MARGIN_OK;
}

static margin_status name_number(margin_model *model, int64_t class_number, double value,
                                 margin_error *error) {
    char text[MARGIN_NUMBER_TEXT];
    int length = margin_number_print_f64(value, text);
    char *name = mg_copy_text(model->heap, text, length);
    if (!name) return mg_no_memory(model->heap, length + 1, 1, "the names of the classes", error);
    model->class_names[class_number] = name;
    model->class_values[class_number] = value;
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

static margin_status learn_labels(margin_context *context, const margin_data *data,
                                  const mg_samples *samples, margin_model *model,
                                  margin_error *error) {
    label_set set = {.heap = model->heap};
    bool small;
    margin_status status;
    MG_GO(find_small_labels(context, data, samples, &set, &small, error));
    if (!small) MG_GO(find_labels(data, samples, &set, error));
    MG_GO(mg_model_set_classes(model, set.count, true, error));
    for (int64_t c = 0; c < set.count; c++)
        MG_GO(name_number(model, c, set.values[c], error));
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
        int64_t length = (int64_t)strlen(name);
        model->class_names[c] = mg_copy_text(model->heap, name, length);
        if (!model->class_names[c])
            return mg_no_memory(model->heap, length + 1, 1, "the names of the classes", error);
    }
    return MARGIN_OK;
}

static margin_status learn_categories(const margin_data *data, const mg_samples *samples,
                                      margin_model *model, margin_error *error) {
    const margin_column *column = data->target;
    mg_heap *heap = model->heap;
    int64_t *present = NULL, *scratch = NULL, count = 0;
    margin_status status;
    MG_GO_NEW(heap, scratch, column->category_count, "the categories of the target", error);
    MG_GO_NEW(heap, present, column->category_count, "the categories of the target", error);
    memset(scratch, 0, (size_t)column->category_count * sizeof *scratch);
    for (int64_t i = 0; i < samples->count; i++) {
        int64_t category;
        MG_GO(read_category(data, mg_samples_row(samples, i), &category, error));
        scratch[category]++;
    }
    for (int64_t k = 0; k < column->category_count; k++)
        if (scratch[k] > 0) present[count++] = k;
    if (count > MG_MAX_CLASSES) {
        status = mg_fail(error, MARGIN_ERROR_DATA,
                         "the target %s has %lld categories, more than the limit of %d",
                         column->name, (long long)count, (int)MG_MAX_CLASSES);
        goto done;
    }
    mg_sort(present, count, scratch, earlier_name, column);
    MG_GO(name_categories(column, present, count, model, error));
done:
    mg_free(heap, scratch);
    mg_free(heap, present);
    return status;
}

/* y1, y2, ... */
static margin_status number_targets(int64_t count, margin_model *model, margin_error *error) {
    enum { NAME = 16 };
    mg_heap *heap = model->heap;
    char(*names)[NAME] = NULL;
    margin_column *columns = NULL;
    margin_status status;
    MG_GO_NEW(heap, names, count, "the names of the targets", error);
    MG_GO_NEW(heap, columns, count, "the names of the targets", error);
    for (int64_t t = 0; t < count; t++) {
        snprintf(names[t], NAME, "y%d", (int)(t + 1));
        columns[t] = (margin_column){.name = names[t]};
    }
    status = mg_columns_copy(heap, columns, count, &model->target, error);
done:
    mg_free(heap, columns);
    mg_free(heap, names);
    return status;
}

margin_status mg_target_describe(const margin_data *data, margin_model *model,
                                 margin_error *error) {
    const int64_t count = mg_data_targets(data);
    margin_column column = {.name = "y"};
    if (count > 1 && !data->target) return number_targets(count, model, error);
    return mg_columns_copy(model->heap, data->target ? data->target : &column, count,
                           &model->target, error);
}

margin_status mg_target_classes(margin_context *context, const margin_data *data,
                                const mg_samples *samples, margin_model *model,
                                margin_error *error) {
    MG_TRY(require_target(data, error));
    return is_categorical(data) ? learn_categories(data, samples, model, error)
                                : learn_labels(context, data, samples, model, error);
}

margin_status mg_target_learn(margin_context *context, const margin_data *data,
                              const mg_samples *samples, margin_model *model, margin_error *error) {
    MG_TRY(mg_target_classes(context, data, samples, model, error));
    MG_REQUIRE(model->classes > 1, error, MARGIN_ERROR_DATA,
               "every row has the label '%s' in the target %s; a classifier needs at least two "
               "classes",
               model->class_names[0], target_name(data));
    return mg_target_describe(data, model, error);
}

bool mg_target_looks_like_classes(const margin_data *data, const mg_samples *samples) {
    enum { MOST = 20 };
    double values[MOST + 1];
    int64_t count = 0;
    for (int64_t i = 0; data->y.values && i < samples->count; i++) {
        const double value = mg_vector_f64(&data->y, mg_samples_row(samples, i)) + 0.0;
        const int64_t at = lower_bound(values, count, value);
        if (value != floor(value) || isinf(value)) return false;
        if (at < count && values[at] == value) continue;
        if (count == MOST) return false;
        memmove(values + at + 1, values + at, (size_t)(count - at) * sizeof *values);
        values[at] = value;
        count++;
    }
    return true;
}

/* ---- Labels among classes -------------------------------------------------------------------- */

static int64_t class_of_value(const margin_model *model, double value) {
    int64_t at = lower_bound(model->class_values, model->classes, value);
    return at < model->classes && model->class_values[at] == value ? at : -1;
}

/* By name; where the model has numbers, names that read as the same number are the same. */
static int64_t class_of_name(const margin_model *model, const char *name) {
    double value;
    if (model->class_values)
        return margin_number_parse_f64(name, strlen(name), &value) ? class_of_value(model, value)
                                                                   : -1;
    for (int64_t c = 0; c < model->classes; c++)
        if (strcmp(model->class_names[c], name) == 0) return c;
    return -1;
}

static int64_t class_of_label(const margin_model *model, double value) {
    if (model->class_values) return class_of_value(model, value);
    return class_of_name(model, mg_number(value).text);
}

static margin_status fail_unknown(const margin_data *data, const margin_model *model, int64_t row,
                                  const char *label, margin_error *error) {
    enum { SHOWN = 12, ROOM = 600 };
    char known[ROOM];
    size_t length = 0;
    known[0] = 0;
    for (int64_t c = 0; c < model->classes && c < SHOWN; c++) {
        size_t more = strlen(model->class_names[c]);
        if (length + more + 8 > ROOM) break;
        if (c > 0) {
            memcpy(known + length, ", ", 2);
            length += 2;
        }
        memcpy(known + length, model->class_names[c], more + 1);
        length += more;
    }
    return mg_fail_at(error, MARGIN_ERROR_DATA, (mg_place){0, 0, row + 1, -1},
                      "row %lld has the label '%s' in the target %s, which the model does not "
                      "know; it knows %s%s",
                      (long long)row + 1, label, target_name(data), known,
                      model->classes > SHOWN ? ", ..." : "");
}

/* Class of each category of the data's target, -1 where the model has none. */
static margin_status category_classes(const margin_data *data, const margin_model *model,
                                      mg_heap *heap, int32_t **classes, margin_error *error) {
    int64_t count = data->target->category_count;
    MG_NEW(heap, *classes, count, "the categories of the target", error);
    for (int64_t k = 0; k < count; k++)
        (*classes)[k] = (int32_t)class_of_name(model, data->target->categories[k]);
    return MARGIN_OK;
}

static margin_status codes_of_categories(margin_context *context, const margin_data *data,
                                         const mg_samples *samples, const margin_model *model,
                                         int32_t *codes, margin_error *error) {
    int32_t *classes = NULL;
    margin_status status;
    MG_GO(category_classes(data, model, samples->heap, &classes, error));
    const mg_label_range range = {0, data->target->category_count};
    const bool known = mg_target_look_up(context, data, samples, range, classes, codes);
    for (int64_t i = 0; !known && i < samples->count; i++) {
        int64_t row = mg_samples_row(samples, i), category;
        MG_GO(read_category(data, row, &category, error));
        codes[i] = classes[category];
        if (codes[i] < 0)
            MG_GO(fail_unknown(data, model, row, data->target->categories[category], error));
    }
done:
    mg_free(samples->heap, classes);
    return status;
}

/* True if the classes are whole numbers close to each other and all codes could be set. */
static bool codes_of_small_labels(margin_context *context, const margin_data *data,
                                  const mg_samples *samples, const margin_model *model,
                                  int32_t *codes) {
    enum { COUNT = 4096 };
    int32_t table[COUNT];
    const double *values = model->class_values;
    if (!values || !(fabs(values[0]) < largest_whole / 2) ||
        !(values[model->classes - 1] - values[0] < COUNT))
        return false;
    const mg_label_range range = {(int64_t)floor(values[0]), COUNT};
    for (int64_t v = 0; v < COUNT; v++)
        table[v] = -1;
    for (int64_t c = 0; c < model->classes; c++) {
        if (values[c] != floor(values[c])) return false;
        table[(int64_t)values[c] - range.low] = (int32_t)c;
    }
    return mg_target_look_up(context, data, samples, range, table, codes);
}

static margin_status codes_of_labels(margin_context *context, const margin_data *data,
                                     const mg_samples *samples, const margin_model *model,
                                     int32_t *codes, margin_error *error) {
    double last = (double)NAN;
    int64_t code = -1;
    if (codes_of_small_labels(context, data, samples, model, codes)) return MARGIN_OK;
    for (int64_t i = 0; i < samples->count; i++) {
        int64_t row = mg_samples_row(samples, i);
        double label;
        MG_TRY(read_label(data, row, &label, error));
        if (label != last) code = class_of_label(model, label);
        last = label;
        if (code < 0) return fail_unknown(data, model, row, mg_number(label).text, error);
        codes[i] = (int32_t)code;
    }
    return MARGIN_OK;
}

margin_status mg_target_codes(margin_context *context, const margin_data *data,
                              const mg_samples *samples, const margin_model *model, int32_t *codes,
                              margin_error *error) {
    MG_TRY(require_target(data, error));
    return is_categorical(data) ? codes_of_categories(context, data, samples, model, codes, error)
                                : codes_of_labels(context, data, samples, model, codes, error);
}

typedef struct value_reading {
    const margin_data *data;
    const mg_samples *samples;
    double *values;
    int64_t targets;
} value_reading;

/* A block of rows, whose numbers of all targets stay in the cache. DATA: one will not do. */
static margin_status read_values(const mg_block *block, void *argument) {
    const value_reading *r = argument;
    const margin_vector *y = &r->data->y;
    const double *plain = y->type == MARGIN_F64 ? y->values : NULL;
    bool good = true;
    for (int64_t t = 0; t < r->targets; t++) {
        double *values = r->values + t * r->samples->count;
        for (int64_t i = block->first; i < block->first + block->count; i++) {
            const int64_t at = mg_samples_row(r->samples, i) * r->targets + t;
            values[i] = (plain ? plain[at] : mg_vector_f64(y, at)) + 0.0; /* -0 is 0 */
            good = good && fabs(values[i]) < (plain ? (double)INFINITY : largest_whole);
        }
    }
    return good ? MARGIN_OK : MARGIN_ERROR_DATA;
}

/* The first value that will not do, if there is one. */
static margin_status check_values(const value_reading *r, margin_error *error) {
    char number[32];
    for (int64_t i = 0; i < r->samples->count; i++)
        for (int64_t t = 0; t < r->targets; t++) {
            const char *name = r->data->target ? r->data->target[t].name : number;
            if (r->targets > 1)
                snprintf(number, sizeof number, "y%d", (int)t + 1);
            else
                snprintf(number, sizeof number, "y");
            MG_TRY(check_label(r->data, name, mg_samples_row(r->samples, i),
                               r->values[t * r->samples->count + i], error));
        }
    return MARGIN_OK;
}

margin_status mg_target_values(margin_context *context, const margin_data *data,
                               const mg_samples *samples, double *values, margin_error *error) {
    value_reading reading = {data, samples, values, mg_data_targets(data)};
    MG_TRY(require_target(data, error));
    for (int64_t t = 0; data->target && t < reading.targets; t++)
        MG_REQUIRE(data->target[t].kind != MARGIN_CATEGORICAL, error, MARGIN_ERROR_DATA,
                   "the target %s has categories; a regression needs numbers",
                   data->target[t].name);
    const margin_status status = mg_sweep_each(
        context, samples->count, mg_block_rows(reading.targets * 8), read_values, &reading);
    if (status == MARGIN_ERROR_CANCELLED) return mg_fail_cancelled(error);
    return status < 0 ? check_values(&reading, error) : MARGIN_OK;
}
