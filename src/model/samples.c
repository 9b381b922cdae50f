/* Data sets as they come from the caller: checked once, then reduced to the samples that count. */
#include "model/samples.h"

#include <math.h>
#include <string.h>

/* ---- Checks ---------------------------------------------------------------------------------- */

static margin_status check_vector(const margin_vector *v, int64_t rows, const char *name,
                                  margin_error *error) {
    if (!v->values) return MARGIN_OK;
    MG_REQUIRE(v->type == MARGIN_F64 || v->type == MARGIN_F32 || v->type == MARGIN_I32 ||
                   v->type == MARGIN_I64,
               error, MARGIN_ERROR_ARGUMENT,
               "%s: type must be MARGIN_F64, MARGIN_F32, MARGIN_I32 or MARGIN_I64", name);
    MG_REQUIRE((uintptr_t)v->values % (uintptr_t)mg_type_size(v->type) == 0, error,
               MARGIN_ERROR_ARGUMENT, "%s: values must be aligned to their type", name);
    MG_REQUIRE(v->count == rows, error, MARGIN_ERROR_ARGUMENT,
               "%s has %lld numbers and x has %lld rows", name, (long long)v->count,
               (long long)rows);
    return MARGIN_OK;
}

static margin_status check_column(const margin_column *column, const char *where, int64_t number,
                                  margin_error *error) {
    MG_REQUIRE(column->name, error, MARGIN_ERROR_ARGUMENT, "%s %lld has no name", where,
               (long long)number);
    if (column->kind == MARGIN_NUMERIC) return MARGIN_OK;
    MG_REQUIRE(column->kind == MARGIN_CATEGORICAL, error, MARGIN_ERROR_ARGUMENT,
               "%s %s is neither numeric nor categorical", where, column->name);
    MG_REQUIRE(column->category_count >= 0 && (column->categories || column->category_count == 0),
               error, MARGIN_ERROR_ARGUMENT, "%s %s has no list of categories", where,
               column->name);
    for (int64_t k = 0; k < column->category_count; k++)
        MG_REQUIRE(column->categories[k], error, MARGIN_ERROR_ARGUMENT,
                   "%s %s: category %lld has no name", where, column->name, (long long)k);
    return MARGIN_OK;
}

static margin_status check_selection(const margin_data *data, margin_error *error) {
    if (!data->selection) return MARGIN_OK;
    MG_REQUIRE(data->selected >= 0, error, MARGIN_ERROR_ARGUMENT, "selection: %lld rows",
               (long long)data->selected);
    for (int64_t i = 0; i < data->selected; i++)
        MG_REQUIRE(data->selection[i] >= 0 && data->selection[i] < data->x.rows, error,
                   MARGIN_ERROR_ARGUMENT,
                   "selection[%lld] is row %lld (counted from 0), and x has %lld rows",
                   (long long)i, (long long)data->selection[i], (long long)data->x.rows);
    return MARGIN_OK;
}

margin_status mg_data_check(margin_context *context, const margin_data *data, margin_error *error) {
    MG_REQUIRE(context && data, error, MARGIN_ERROR_ARGUMENT, "the %s is NULL",
               context ? "data set" : "context");
    MG_TRY(mg_matrix_check(context, &data->x, "x", error));
    MG_TRY(check_vector(&data->y, data->x.rows, "y", error));
    MG_TRY(check_vector(&data->weights, data->x.rows, "weights", error));
    for (int64_t j = 0; data->columns && j < data->x.columns; j++)
        MG_TRY(check_column(&data->columns[j], "column", j + 1, error));
    if (data->target) MG_TRY(check_column(data->target, "target", 1, error));
    return check_selection(data, error);
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
            return mg_fail_at(error, MARGIN_ERROR_DATA, (mg_place){0, 0, row + 1, -1},
                              "row %lld has the weight %s; weights are numbers from 0 on, and 0 "
                              "leaves a row out",
                              (long long)row + 1, mg_number(weight).text);
        *count += weight > 0;
        *ones = *ones && (weight == 1 || weight == 0);
        total += weight;
    }
    MG_REQUIRE(*count > 0, error, MARGIN_ERROR_DATA,
               "all %lld rows have the weight 0, so that none is left", (long long)rows);
    MG_REQUIRE(isfinite(total), error, MARGIN_ERROR_DATA,
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
    MG_REQUIRE(rows > 0, error, MARGIN_ERROR_DATA, "the %s has no rows",
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
    mg_free(samples->heap, samples->weights);
    mg_free(samples->heap, samples->owned_rows);
    memset(samples, 0, sizeof *samples);
}
