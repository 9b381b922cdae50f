/* Stages fitted again for a verification. What a seed draws (frequencies, centres on rows or means)
 * is taken over from the model: a draw is no claim. All else follows from the data.
 *
 * Numbers agree if they differ by 1e-9 of themselves; one per column also if by 1e-12 of the
 * greatest value in the column (a mean near 0 has few digits of its own); those of a matrix if by
 * 1e-6 of its greatest (the inverse of a factor has the rounding of its condition). */
#include "features/columns/column_moments.h"
#include "model/problem/pipeline.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct difference {
    const char *name; /* of the tensor; NULL: there is none */
    int64_t at;
} difference;

static double greatest_of(const double *numbers, int64_t count) {
    double greatest = 0;
    for (int64_t k = 0; k < count; k++)
        if (isfinite(numbers[k])) greatest = fmax(greatest, fabs(numbers[k]));
    return greatest;
}

static bool agree(double a, double b, double slack) {
    return a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-9 * fmin(fabs(a), fabs(b)) + slack;
}

/* `range` NULL: it was not looked at yet. */
static difference find_difference(const mg_fitted_stage *fitted, const mg_fitted_stage *stored,
                                  const mg_column_moments *range) {
    for (int k = 0; k < fitted->bag.count; k++) {
        const mg_tensor *a = &fitted->bag.tensors[k], *b = mg_bag_find(&stored->bag, a->name);
        const bool matrix = a->dimensions == 2, target = strcmp(a->name, "target") == 0;
        const bool by_column = !matrix && !target && a->shape[0] == fitted->columns_in;
        const int64_t count = a->shape[0] * (matrix ? a->shape[1] : 1);
        if (!b || a->type != b->type || memcmp(a->shape, b->shape, sizeof a->shape) != 0)
            return (difference){a->name, -1};
        if (a->type != MARGIN_F64 &&
            memcmp(a->data, b->data, (size_t)(count * mg_type_size(a->type))) != 0)
            return (difference){a->name, -1};
        const double *x = a->data, *y = b->data;
        double slack = a->type != MARGIN_F64 ? 0
                       : matrix              ? 1e-6 * greatest_of(x, count)
                       : target              ? 1e-9 * greatest_of(x, count)
                                             : 0;
        for (int64_t i = 0; i < count && a->type == MARGIN_F64; i++) {
            if (by_column && range)
                slack = 1e-12 * fmax(fabs(range->least[i]), fabs(range->greatest[i]));
            if (!agree(x[i], y[i], slack)) return (difference){a->name, i};
        }
    }
    return (difference){NULL, -1};
}

static margin_status tell(const mg_fitted_stage *fitted, const margin_data *data,
                          const mg_fitted_stage *stored, difference d, margin_error *error) {
    const char *stage = fitted->stage->info.name;
    const mg_tensor *a = mg_bag_find(&fitted->bag, d.name), *b = mg_bag_find(&stored->bag, d.name);
    char place[64] = "", name[32];
    if (d.at < 0)
        return mg_fail(error, MARGIN_ERROR_MODEL,
                       "the stage %s has another %s than this data gives it", stage, d.name);
    if (a->dimensions == 1 && a->shape[0] == fitted->columns_in)
        snprintf(place, sizeof place, " of column %.40s",
                 mg_column_name(data->columns, d.at, name));
    return mg_fail(error, MARGIN_ERROR_MODEL,
                   "the stage %s has the %s%s %s, and this data gives %s", stage, d.name, place,
                   mg_number(((const double *)b->data)[d.at]).text,
                   mg_number(((const double *)a->data)[d.at]).text);
}

margin_status mg_stage_compare(margin_context *context, const mg_fitted_stage *fitted,
                               const margin_data *data, const mg_row_maker *maker,
                               const mg_fitted_stage *stored, margin_error *error) {
    mg_column_moments range;
    difference found = find_difference(fitted, stored, NULL);
    if (found.name && found.at >= 0) {
        MG_TRY(mg_column_moments_make(context, data, maker, MG_WANT_RANGE, &range, error));
        found = find_difference(fitted, stored, &range);
        mg_column_moments_free(&range);
    }
    return found.name ? tell(fitted, data, stored, found, error) : MARGIN_OK;
}

margin_status mg_pipeline_refit(margin_context *context, const margin_spec *spec,
                                const margin_model *model, const margin_data *data,
                                const mg_samples *samples, margin_error *error) {
    margin_context quiet;
    margin_data described = *data; /* as in training: stages name columns by these */
    margin_model *again;
    mg_staged staged = {0};
    margin_status status;
    mg_context_copy(context, &quiet);
    quiet.options.log = NULL; /* the fit has said it */
    described.columns = model->inputs.items;
    MG_TRY(mg_model_new(context->heap, &again, error));
    again->refitted = model;
    again->task = model->task;
    again->learner = model->learner;
    MG_GO(mg_columns_copy(context->heap, model->target.items, model->target.count, &again->target,
                          error));
    status = mg_pipeline_fit(&quiet, spec, &described, samples, again, &staged, error);
done:
    mg_staged_free(&staged);
    margin_model_free(again);
    return status;
}
