/* Data sets as they come from the caller: checked once, then reduced to the samples that count. */
#include "model/problem/samples.h"

#include <math.h>
#include <string.h>

/* ---- Checks ---------------------------------------------------------------------------------- */

static margin_status check_name(const margin_column *column, const char *where, int64_t number,
                                margin_error *error) {
    MG_REQUIRE(column->name, error, MARGIN_ERROR_ARGUMENT, "%s %lld has no name", where,
               (long long)number);
    return MARGIN_OK;
}

static margin_status check_names(const margin_data *data, margin_error *error) {
    for (int64_t j = 0; data->columns && j < data->x.columns; j++)
        MG_TRY(check_name(&data->columns[j], "column", j + 1, error));
    for (int64_t t = 0; data->target && t < mg_data_targets(data); t++)
        MG_TRY(check_name(&data->target[t], "target", t + 1, error));
    return MARGIN_OK;
}

margin_status mg_data_check_columns(margin_context *context, const margin_data *data,
                                    margin_error *error) {
    MG_GIVEN(error, {context, "context"}, {data, "data set"});
    MG_TRY(mg_views_check_columns(context, data, error));
    return check_names(data, error);
}

margin_status mg_target_count_check(const margin_model *model, const margin_data *data,
                                    margin_error *error) {
    MG_REQUIRE(model->target.count <= 1 ? data->targets <= 1 : data->targets == model->target.count,
               error, MARGIN_ERROR_ARGUMENT, "the data has %lld target%s and the model %lld",
               (long long)mg_data_targets(data), mg_data_targets(data) == 1 ? "" : "s",
               (long long)MG_MAX(model->target.count, 1));
    return MARGIN_OK;
}

/* ---- Samples --------------------------------------------------------------------------------- */

/* Counts the rows of weight > 0; *ones says that all of their weights are 1. */
static margin_status count_weights(const margin_data *data, int64_t rows, int64_t *count,
                                   bool *ones, margin_error *error) {
    double total = 0;
    *count = 0;
    *ones = true;
    for (int64_t i = 0; i < rows; i++) {
        int64_t row = data->selection ? data->selection[i] : i;
        double weight = mg_vector_f64(&data->weights, row);
        if (!(weight >= 0) || isinf(weight))
            return mg_fail_at(error, MG_DATA(WEIGHTS), (mg_place){.row = row + 1},
                              "row %lld has the weight %s; weights are numbers from 0 on, and 0 "
                              "leaves a row out",
                              (long long)row + 1, mg_number(weight).text);
        *count += weight > 0;
        *ones = *ones && (weight == 1 || weight == 0);
        total += weight;
    }
    MG_REQUIRE(*count > 0, error, MG_DATA(NO_ROWS),
               "all %lld rows have the weight 0, so that none is left", (long long)rows);
    MG_REQUIRE(isfinite(total), error, MG_DATA(WEIGHTS),
               "the weights add up to more than a number can hold; scale them down");
    return MARGIN_OK;
}

static margin_status keep_weighted(const margin_data *data, int64_t rows, mg_samples *samples,
                                   margin_error *error) {
    bool ones;
    int64_t kept = 0;
    MG_TRY(count_weights(data, rows, &samples->count, &ones, error));
    bool all = samples->count == rows;
    if (!all) {
        MG_NEW(samples->heap, samples->owned_rows, samples->count, "the rows that count", error);
        samples->rows = samples->owned_rows;
    }
    if (!ones) MG_NEW(samples->heap, samples->weights, samples->count, "the weights", error);
    for (int64_t i = 0; i < rows && !(all && ones); i++) {
        int64_t row = data->selection ? data->selection[i] : i;
        double weight = mg_vector_f64(&data->weights, row);
        if (weight == 0) continue;
        if (!all) samples->owned_rows[kept] = row;
        if (!ones) samples->weights[kept] = weight;
        kept++;
    }
    return MARGIN_OK;
}

margin_status mg_samples_make(mg_heap *heap, const margin_data *data, mg_samples *samples,
                              margin_error *error) {
    int64_t rows = data->selection ? data->selected : data->x.rows;
    mg_samples made = {.heap = heap, .count = rows, .rows = data->selection};
    MG_REQUIRE(rows > 0, error, MG_DATA(NO_ROWS), "the %s has no rows",
               data->selection ? "selection" : "data set");
    margin_status status =
        data->weights.values ? keep_weighted(data, rows, &made, error) : MARGIN_OK;
    if (status < 0)
        mg_samples_free(&made);
    else
        *samples = made;
    return status;
}

void mg_samples_free(mg_samples *samples) {
    if (!samples->heap) return;
    MG_FREE(samples->heap, samples->weights, samples->owned_rows);
    memset(samples, 0, sizeof *samples);
}
