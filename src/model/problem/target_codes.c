/* Targets as a learner takes them: labels found among a model's classes, values of a regression. */
#include "base/sort.h"
#include "base/text/number_text.h"
#include "model/problem/target_labels.h"
#include "model/problem/target_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int64_t class_of_value(const margin_model *model, double value) {
    int64_t at = mg_lower_bound(model->class_values, model->classes, value);
    return at < model->classes && model->class_values[at] == value ? at : -1;
}

int64_t mg_class_of_name(const margin_model *model, const char *name) {
    double value;
    if (model->class_values)
        return margin_number_parse_f64(name, strlen(name), &value) ? class_of_value(model, value)
                                                                   : -1;
    for (int64_t c = 0; c < model->classes; c++)
        if (strcmp(model->class_names[c], name) == 0) return c;
    return -1;
}

static int64_t class_of_label(const margin_model *model, const margin_data *data, int64_t row) {
    char text[MARGIN_NUMBER_TEXT];
    if (model->class_values)
        return mg_label_is_long(data, row)
                   ? -1
                   : class_of_value(model, mg_vector_f64(&data->y, row) + 0.0);
    mg_label_print(data, row, text);
    return mg_class_of_name(model, text);
}

static bool same_label(const margin_data *data, int64_t a, int64_t b) {
    const int64_t *whole = data->y.type == MARGIN_I64 ? data->y.values : NULL;
    return whole ? whole[a] == whole[b] : mg_vector_f64(&data->y, a) == mg_vector_f64(&data->y, b);
}

mg_name_list mg_list_classes(const margin_model *model) {
    mg_name_list list = {.most = 12};
    for (int64_t c = 0; c < model->classes && !list.full; c++)
        mg_name_list_add(&list, model->class_names[c], "");
    return list;
}

static margin_status target_fail_unknown(const margin_data *data, const margin_model *model,
                                         int64_t row, const char *label, margin_error *error) {
    return mg_fail_at(error, MG_DATA(UNKNOWN_CLASS), (mg_place){.row = row + 1},
                      "row %lld has the label '%s' in the target %s, which %s%s",
                      (long long)row + 1, label, mg_target_name(data),
                      data->classes.values
                          ? "is not among the classes that are declared (margin_data.classes): "
                          : "the model does not know; it knows ",
                      mg_list_classes(model).text);
}

/* Class of each category of the data's target, -1 where the model has none. */
static margin_status category_classes(const margin_data *data, const margin_model *model,
                                      mg_heap *heap, int32_t **classes, margin_error *error) {
    int64_t count = data->target->category_count;
    MG_NEW(heap, *classes, count, "the categories of the target", error);
    for (int64_t k = 0; k < count; k++)
        (*classes)[k] = (int32_t)mg_class_of_name(model, data->target->categories[k]);
    return MARGIN_OK;
}

static margin_status codes_of_categories(margin_context *context, const margin_data *data,
                                         const mg_samples *samples, const margin_model *model,
                                         bool unknown, int32_t *codes, margin_error *error) {
    int32_t *classes = NULL;
    margin_status status;
    MG_GO(category_classes(data, model, samples->heap, &classes, error));
    const mg_label_range range = {0, data->target->category_count};
    const bool known = mg_target_look_up(context, data, samples, range, classes, codes);
    for (int64_t i = 0; !known && i < samples->count; i++) {
        int64_t row = mg_samples_row(samples, i), category;
        MG_GO(mg_label_category(data, row, &category, error));
        codes[i] = classes[category];
        if (codes[i] < 0 && !unknown)
            MG_GO(target_fail_unknown(data, model, row, data->target->categories[category], error));
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
    if (!values || !(fabs(values[0]) < MG_LABEL_LONG / 2) ||
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
                                     bool unknown, int32_t *codes, margin_error *error) {
    int64_t code = -1;
    if (codes_of_small_labels(context, data, samples, model, codes)) return MARGIN_OK;
    for (int64_t i = 0; i < samples->count; i++) {
        int64_t row = mg_samples_row(samples, i);
        double label;
        char text[MARGIN_NUMBER_TEXT];
        MG_TRY(mg_label_read(data, row, &label, error));
        if (i == 0 || !same_label(data, row, mg_samples_row(samples, i - 1)))
            code = class_of_label(model, data, row);
        if (code < 0 && !unknown) {
            mg_label_print(data, row, text);
            return target_fail_unknown(data, model, row, text, error);
        }
        codes[i] = (int32_t)code;
    }
    return MARGIN_OK;
}

margin_status mg_target_codes(margin_context *context, const margin_data *data,
                              const mg_samples *samples, const margin_model *model, bool unknown,
                              int32_t *codes, margin_error *error) {
    MG_TRY(mg_target_require(data, NULL, error));
    return mg_target_is_categorical(data)
               ? codes_of_categories(context, data, samples, model, unknown, codes, error)
               : codes_of_labels(context, data, samples, model, unknown, codes, error);
}

/* A whole number that is wanted as a number and that f64 cannot hold. */
static margin_status fail_inexact(const char *name, int64_t row, const char *text,
                                  margin_error *error) {
    return mg_fail_at(error, MG_DATA(TARGET), (mg_place){.row = row + 1},
                      "row %lld has the value %s in the target %s, a whole number beyond 2^53, "
                      "which cannot be held exactly; a regression takes it where it is written as "
                      "a rounded one (%s.0)",
                      (long long)row + 1, text, name, text);
}

/* A regression needs numbers. Those of many digits were read as categories. */
static margin_status refuse_categories(const margin_data *data, const mg_samples *samples,
                                       const margin_column *target, margin_error *error) {
    for (int64_t i = 0; mg_data_targets(data) == 1 && i < samples->count; i++) {
        int64_t category, row = mg_samples_row(samples, i);
        if (mg_label_category(data, row, &category, NULL) < 0) continue;
        const char *text = target->categories[category];
        if (mg_number_loses_digits(text, (int64_t)strlen(text)))
            return fail_inexact(target->name, row, text, error);
    }
    return mg_fail(error, MG_DATA(TARGET),
                   "the target %s has categories; a regression needs numbers: train a classifier "
                   "(logistic, softmax, svm, knn) or name another target%s",
                   target->name,
                   target->category_count > 0 && target->categories[0][0] == '0' &&
                           target->categories[0][1]
                       ? "; whole numbers with zeros in front, as 007, are read as texts"
                       : "");
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
            good = good && fabs(values[i]) < (plain ? (double)INFINITY : MG_LABEL_LONG);
        }
    }
    return good ? MARGIN_OK : MARGIN_ERROR_DATA;
}

/* A number as the target of a regression. */
static margin_status check_value(const margin_data *data, const char *name, int64_t row,
                                 double value, margin_error *error) {
    char text[MARGIN_NUMBER_TEXT];
    MG_TRY(mg_label_check(name, row, value, error));
    if (fabs(value) < MG_LABEL_LONG || data->y.type != MARGIN_I64) return MARGIN_OK;
    snprintf(text, sizeof text, "%lld", (long long)((const int64_t *)data->y.values)[row]);
    return fail_inexact(name, row, text, error);
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
            MG_TRY(check_value(r->data, name, mg_samples_row(r->samples, i),
                               r->values[t * r->samples->count + i], error));
        }
    return MARGIN_OK;
}

margin_status mg_target_values(margin_context *context, const margin_data *data,
                               const mg_samples *samples, double *values, margin_error *error) {
    value_reading reading = {data, samples, values, mg_data_targets(data)};
    MG_TRY(mg_target_require(data, NULL, error));
    for (int64_t t = 0; data->target && t < reading.targets; t++)
        if (data->target[t].kind == MARGIN_CATEGORICAL)
            return refuse_categories(data, samples, &data->target[t], error);
    const margin_status status = mg_sweep_each(
        context, samples->count, mg_block_rows(reading.targets * 8), read_values, &reading, NULL);
    if (status == MARGIN_ERROR_CANCELLED) return mg_fail_cancelled(error);
    return status < 0 ? check_values(&reading, error) : MARGIN_OK;
}
