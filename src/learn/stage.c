/* What every fitted stage needs. */
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
                                .bag = {.heap = heap, .owner = {"stage", stage->info.name}},
                                .options = copies,
                                .columns_in = columns_in,
                                .columns_out = columns_in};
    return MARGIN_OK;
}

void mg_fitted_stage_clear(mg_fitted_stage *fitted) {
    if (!fitted->heap) return;
    mg_bag_free(&fitted->bag);
    MG_FREE(fitted->heap, (void *)fitted->view, fitted->options);
    if (fitted->columns.items) mg_columns_free(&fitted->columns);
    memset(fitted, 0, sizeof *fitted);
}

const double *mg_stage_drawn(const mg_fitted_stage *fitted, const char *name, int64_t *rows) {
    const mg_tensor *tensor = fitted->stored ? mg_bag_find(&fitted->stored->bag, name) : NULL;
    if (!tensor) return NULL;
    *rows = tensor->shape[0];
    return tensor->data;
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
