/* The target of one row: a number, a label of many digits, a category. */
#include "model/problem/target_labels.h"

#include <math.h>
#include <stdio.h>

const char *mg_target_name(const margin_data *data) {
    return data->target ? data->target->name : "y";
}

bool mg_target_is_categorical(const margin_data *data) {
    return data->target && data->target->kind == MARGIN_CATEGORICAL;
}

margin_status mg_target_require(const margin_data *data, const char *learner, margin_error *error) {
    MG_REQUIRE(data->y.values, error, MG_DATA(TARGET),
               "the data has no target%s%s%s: give it (margin_data.y), name a column of the file "
               "(margin_read_options.target), or for npy and idx the file of the labels "
               "(margin_read_options.labels)",
               learner ? ", which " : "", learner ? learner : "", learner ? " learns from" : "");
    return MARGIN_OK;
}

margin_status mg_label_check(const char *name, int64_t row, double value, margin_error *error) {
    mg_place place = {.row = row + 1};
    if (isnan(value))
        return mg_fail_at(error, MG_DATA(MISSING_VALUE), place,
                          "row %lld has no value in the target %s: leave such rows out",
                          (long long)row + 1, name);
    if (isinf(value))
        return mg_fail_at(error, MG_DATA(INFINITE_VALUE), place,
                          "row %lld has the value %s in the target %s", (long long)row + 1,
                          mg_number(value).text, name);
    return MARGIN_OK;
}

bool mg_label_is_long(const margin_data *data, int64_t row) {
    if (data->y.type != MARGIN_I64) return false;
    const int64_t value = ((const int64_t *)data->y.values)[row];
    return value >= (int64_t)MG_LABEL_LONG || value <= -(int64_t)MG_LABEL_LONG;
}

int mg_label_print(const margin_data *data, int64_t row, char text[MARGIN_NUMBER_TEXT]) {
    return mg_label_is_long(data, row)
               ? snprintf(text, MARGIN_NUMBER_TEXT, "%lld",
                          (long long)((const int64_t *)data->y.values)[row])
               : margin_number_print_f64(mg_vector_f64(&data->y, row) + 0.0, text);
}

margin_status mg_label_read(const margin_data *data, int64_t row, double *label,
                            margin_error *error) {
    *label = mg_vector_f64(&data->y, row) + 0.0; /* -0 is 0 */
    return mg_label_check(mg_target_name(data), row, *label, error);
}

margin_status mg_label_category(const margin_data *data, int64_t row, int64_t *category,
                                margin_error *error) {
    double value = 0;
    MG_TRY(mg_label_read(data, row, &value, error));
    if (value < 0 || value >= (double)data->target->category_count || value != floor(value))
        return mg_fail_at(error, MG_DATA(TARGET), (mg_place){.row = row + 1},
                          "row %lld has the code %s in the target %s, which has %lld categories",
                          (long long)row + 1, mg_number(value).text, mg_target_name(data),
                          (long long)data->target->category_count);
    *category = (int64_t)value;
    return MARGIN_OK;
}
