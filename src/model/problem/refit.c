/* Stages fitted again for a verification. What a seed draws (frequencies, centres on rows or means)
 * is taken over from the model: a draw is no claim. All else follows from the data.
 *
 * What is no sum, but a value of the data, an option or a difference of two, is the same to the
 * bit. Places in a column (its mean, a centre) may differ by 1e-9 of its range, other numbers by
 * 1e-9 of themselves; both by what the column's sum loses to rounding, 64 units in the last place
 * of its greatest value, and by what rounding in the stages before does to it (blur.c). Inverses
 * of a factor agree by what they make.
 * A stage that agrees goes on with the numbers of the model: later ones see what its rows became.
 */
#include "features/columns/column_moments.h"
#include "learn/column_choice.h"
#include "model/problem/pipeline.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LAST_PLACES (64 * DBL_EPSILON)

typedef struct difference {
    const char *name; /* of the tensor, "columns": their names; NULL: there is none */
    int64_t at;
} difference;

static double greatest_of(const double *numbers, int64_t count, int64_t step) {
    double greatest = 0;
    for (int64_t k = 0; k < count; k++)
        if (isfinite(numbers[k * step])) greatest = fmax(greatest, fabs(numbers[k * step]));
    return greatest;
}

static bool is_called(const mg_tensor *tensor, const char *name) {
    return strcmp(tensor->name, name) == 0;
}

static bool is_by_column(const mg_tensor *tensor) {
    return is_called(tensor, "offset") || is_called(tensor, "divisor") || is_called(tensor, "fill");
}

static bool is_by_place(const mg_fitted_stage *fitted, const mg_tensor *a) {
    return a->dimensions == 2 && a->shape[1] == fitted->columns_in;
}

/* What the columns of the stage's input are: their descriptions, their range (NULL: it was not
 * looked at yet), and how far rounding may have moved them (NULL: not). */
typedef struct stage_input {
    const margin_column *columns;
    bool made; /* some by a stage */
    const mg_column_moments *range;
    const double *blur;
} stage_input;

/* Columns of the data hold the same bits everywhere, what stages make of them need not. */
static bool makes_columns(const mg_fitted_stage *fitted) {
    bool made = false, indicates;
    for (int64_t j = 0; j < fitted->columns_out && !made; j++)
        made = mg_stage_origin(fitted, j, &indicates) < 0;
    return made;
}

/* Whether number i is no sum, so that nothing rounds it: categories, range, median, given ones. */
static bool is_exact(const mg_fitted_stage *fitted, const mg_tensor *a, int64_t i,
                     const stage_input *input) {
    if (input->made) return false;
    if (is_called(a, "values") || strcmp(fitted->stage->info.name, "minmax") == 0) return true;
    if (!is_called(a, "fill")) return false;
    const char *with = mg_stage_option(fitted->stage, fitted->options, "with")->text;
    return !with || strcmp(with, "mean") != 0 || mg_is_categorical(input->columns, i);
}

/* The share of number i by which it may be off: none of a place, which may be far from 0. */
static double share_of(const mg_fitted_stage *fitted, const mg_tensor *a, int64_t i) {
    const bool place = is_called(a, "offset") || is_called(a, "fill") || is_by_place(fitted, a) ||
                       (is_called(a, "target") && i == 0);
    return place && !is_called(a, "inverse") ? 0 : 1e-9;
}

/* Beyond that share. */
static double slack_of(const mg_fitted_stage *fitted, const mg_tensor *a, int64_t i,
                       const stage_input *input) {
    const mg_column_moments *range = input->range;
    const double *blur = input->blur;
    const double *x = a->data;
    if (is_called(a, "inverse")) /* see mg_stage_compare_inverse */
        return i % a->shape[1] > i / a->shape[1] ? 0 : (double)INFINITY;
    if (is_called(a, "target")) return LAST_PLACES * fabs(x[0]) + (i == 0 ? 1e-9 * x[1] : 0);
    if (is_by_place(fitted, a))
        return LAST_PLACES * greatest_of(x + i % a->shape[1], a->shape[0], a->shape[1]) +
               (blur ? blur[i % a->shape[1]] : 0);
    if (!is_by_column(a) || !range || !(range->least[i] <= range->greatest[i])) return 0;
    const double width = 1e-9 * range->greatest[i] - 1e-9 * range->least[i];
    /* a divisor may be a difference of two values */
    return LAST_PLACES * fmax(fabs(range->least[i]), fabs(range->greatest[i])) +
           (is_called(a, "divisor") ? 0 : width) + (blur ? 2 * blur[i] : 0);
}

static bool agree(const mg_fitted_stage *fitted, const mg_tensor *tensor, int64_t i, double stored,
                  const stage_input *input) {
    const double a = ((const double *)tensor->data)[i], b = stored;
    if (a == b || (isnan(a) && isnan(b))) return true;
    if (is_exact(fitted, tensor, i, input)) return false;
    const double share = share_of(fitted, tensor, i) * fmin(fabs(a), fabs(b));
    return fabs(a - b) <= share + slack_of(fitted, tensor, i, input);
}

static difference compare_tensors(const mg_fitted_stage *fitted, const mg_tensor *a,
                                  const mg_tensor *b, const stage_input *input) {
    const int64_t count = a->shape[0] * (a->dimensions == 2 ? a->shape[1] : 1);
    const bool alike = b && a->type == b->type && a->dimensions == b->dimensions &&
                       memcmp(a->shape, b->shape, sizeof a->shape) == 0;
    if (!alike || (a->type != MARGIN_F64 &&
                   memcmp(a->data, b->data, (size_t)(count * mg_type_size(a->type))) != 0))
        return (difference){a->name, -1};
    const double *stored = b->data;
    for (int64_t i = 0; i < count && a->type == MARGIN_F64; i++)
        if (!agree(fitted, a, i, stored[i], input)) return (difference){a->name, i};
    return (difference){NULL, -1};
}

static difference find_difference(const mg_fitted_stage *fitted, const mg_fitted_stage *stored,
                                  const stage_input *input) {
    difference found = {NULL, -1};
    for (int k = 0; k < fitted->bag.count && !found.name; k++) {
        const mg_tensor *a = &fitted->bag.tensors[k];
        found = compare_tensors(fitted, a, mg_bag_find(&stored->bag, a->name), input);
    }
    if (!found.name && fitted->columns.count != stored->columns.count) found.name = "columns";
    for (int64_t j = 0; j < fitted->columns.count && !found.name; j++)
        if (strcmp(fitted->columns.items[j].name, stored->columns.items[j].name) != 0)
            found.name = "columns";
    return found;
}

static margin_status tell(const mg_fitted_stage *fitted, const margin_data *data,
                          const mg_fitted_stage *stored, difference d, margin_error *error) {
    const char *stage = fitted->stage->info.name;
    const mg_tensor *a = mg_bag_find(&fitted->bag, d.name), *b = mg_bag_find(&stored->bag, d.name);
    char place[64] = "", name[32];
    if (d.at < 0)
        return mg_fail(error, MARGIN_ERROR_MODEL,
                       "the stage %s has another '%s' than this data gives it", stage, d.name);
    if (is_by_column(a))
        snprintf(place, sizeof place, " of column %.40s",
                 mg_column_name(data->columns, d.at, name));
    return mg_fail(error, MARGIN_ERROR_MODEL,
                   "the stage %s has the %s%s %s, and this data gives %s", stage, d.name, place,
                   mg_number(((const double *)b->data)[d.at]).text,
                   mg_number(((const double *)a->data)[d.at]).text);
}

/* Of tensors that agree, so that they have the same shapes. */
static void take_over(mg_fitted_stage *fitted, const mg_fitted_stage *stored) {
    for (int k = 0; k < fitted->bag.count; k++) {
        mg_tensor *a = &fitted->bag.tensors[k];
        const int64_t count = a->shape[0] * (a->dimensions == 2 ? a->shape[1] : 1);
        if (a->type == MARGIN_F64)
            memcpy(a->data, mg_bag_find(&stored->bag, a->name)->data,
                   (size_t)count * sizeof(double));
    }
}

margin_status mg_stage_compare(margin_context *context, mg_fitted_stage *fitted,
                               const margin_data *data, const mg_row_maker *maker,
                               const double *blur, const mg_fitted_stage *stored,
                               margin_error *error) {
    mg_column_moments range;
    stage_input input = {.columns = data->columns, .blur = blur};
    for (int s = 0; s < fitted->before_count && !input.made; s++)
        input.made = makes_columns(&fitted->before[s]);
    difference found = find_difference(fitted, stored, &input);
    if (found.name && found.at >= 0) {
        MG_TRY(mg_column_moments_make(context, data, maker, MG_WANT_RANGE, &range, error));
        input.range = &range;
        found = find_difference(fitted, stored, &input);
        mg_column_moments_free(&range);
    }
    if (!found.name) MG_TRY(mg_stage_compare_inverse(context, fitted, stored, &found.name, error));
    if (found.name) return tell(fitted, data, stored, found, error);
    take_over(fitted, stored);
    return MARGIN_OK;
}

margin_status mg_pipeline_refit(margin_context *context, const margin_spec *spec,
                                const margin_model *model, const mg_blur *blur,
                                const margin_data *data, const mg_samples *samples,
                                margin_error *error) {
    margin_context quiet;
    margin_data described = *data; /* as in training: stages name columns by these */
    MG_OWNED(margin_model, again);
    MG_SCOPED(mg_staged, staged);
    mg_context_copy(context, &quiet);
    quiet.options.log = NULL; /* the fit has said it */
    described.columns = model->inputs.items;
    MG_TRY(mg_model_new(context->heap, &again, error));
    again->refitted = model;
    again->blur = blur;
    again->task = model->task;
    again->learner = model->learner;
    MG_TRY(mg_columns_copy(context->heap, model->target.items, model->target.count, &again->target,
                           error));
    return mg_pipeline_fit(&quiet, spec, &described, samples, again, &staged, error);
}
