/* What every fitted stage needs: its tensors and options, made, found and freed. */
#include "learn/learner.h"

#include <math.h>
#include <string.h>

margin_status mg_fitted_stage_init(mg_fitted_stage *fitted, mg_heap *heap, const mg_stage *stage,
                                   const mg_option_value *options, int64_t columns_in,
                                   margin_error *error) {
    mg_option_value *copies = NULL;
    MG_TRY(mg_options_copy(heap, options, stage->info.option_count, &copies, error));
    *fitted = (mg_fitted_stage){.stage = stage,
                                .heap = heap,
                                .options = copies,
                                .columns_in = columns_in,
                                .columns_out = columns_in};
    return MARGIN_OK;
}

void mg_fitted_stage_clear(mg_fitted_stage *fitted) {
    if (!fitted->heap) return;
    for (int k = 0; k < fitted->tensor_count; k++)
        mg_free(fitted->heap, fitted->tensors[k].data);
    MG_FREE(fitted->heap, (void *)fitted->view, fitted->options);
    if (fitted->columns.items) mg_columns_free(&fitted->columns);
    memset(fitted, 0, sizeof *fitted);
}

void *mg_stage_tensor(mg_fitted_stage *fitted, const char *name, margin_type type, int64_t rows,
                      int64_t columns) {
    const size_t length = strlen(name);
    const int64_t width = MG_MAX(columns, 1);
    mg_tensor *tensor = &fitted->tensors[fitted->tensor_count];
    if (fitted->tensor_count == MG_MAX_TENSORS || length >= sizeof tensor->name) return NULL;
    if (rows < 0 || columns < 0 || rows > INT64_MAX / width) return NULL;
    void *data = mg_new_zero(fitted->heap, rows * width, (size_t)mg_type_size(type));
    if (!data) return NULL;
    *tensor = (mg_tensor){.type = type,
                          .dimensions = columns > 0 ? 2 : 1,
                          .shape = {rows, columns > 0 ? columns : 0},
                          .data = data};
    memcpy(tensor->name, name, length);
    fitted->tensor_count++;
    return data;
}

const mg_tensor *mg_stage_tensor_find(const mg_fitted_stage *fitted, const char *name) {
    for (int k = 0; k < fitted->tensor_count; k++)
        if (strcmp(fitted->tensors[k].name, name) == 0) return &fitted->tensors[k];
    return NULL;
}

margin_status mg_stage_expect(const mg_fitted_stage *fitted, const char *name, margin_type type,
                              int64_t rows, const void **data, margin_error *error) {
    const mg_tensor *tensor = mg_stage_tensor_find(fitted, name);
    const char *stage = fitted->stage->info.name;
    MG_REQUIRE(tensor, error, MARGIN_ERROR_MODEL, "the stage %s has no tensor %s", stage, name);
    MG_REQUIRE(tensor->type == type, error, MARGIN_ERROR_MODEL,
               "tensor %s of the stage %s has another number type than it must have", name, stage);
    MG_REQUIRE(tensor->dimensions == 1 && (rows < 0 || tensor->shape[0] == rows), error,
               MARGIN_ERROR_MODEL, "tensor %s of the stage %s must be a vector of %lld numbers",
               name, stage, (long long)rows);
    *data = tensor->data;
    return MARGIN_OK;
}

void mg_stage_affine(const mg_fitted_stage *fitted, double *scale, double *shift) {
    for (int64_t j = 0; j < fitted->columns_in; j++) {
        double offset, divisor;
        fitted->stage->affine(fitted, j, &offset, &divisor);
        scale[j] = 1 / divisor;
        shift[j] = isinf(divisor) ? 0 : -offset / divisor;
    }
}

int64_t mg_stage_origin(const mg_fitted_stage *fitted, int64_t column, bool *indicates) {
    *indicates = false;
    if (fitted->stage->affine) return column;
    return fitted->stage->origin ? fitted->stage->origin(fitted, column, indicates) : -1;
}

bool mg_stage_same_indicated(const mg_fitted_stage *fitted, int64_t a, int64_t b) {
    for (int s = fitted->before_count - 1; s >= 0 && a >= 0 && b >= 0; s--) {
        bool left, right;
        a = mg_stage_origin(&fitted->before[s], a, &left);
        b = mg_stage_origin(&fitted->before[s], b, &right);
        if (left || right) return left && right && a == b;
    }
    return false;
}
