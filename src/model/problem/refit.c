/* Stages fitted again for a verification. What a seed draws (frequencies, centres on rows or means)
 * is taken over from the model: a draw is no claim. All else follows from the data.
 *
 * Numbers agree if they differ by 1e-9 of themselves. Means and scales of a column, and even
 * centres in it, may also differ by what its sum loses to rounding: 64 units in the last place of
 * the greatest value, and by what rounding in the stages before does to it (blur.c). Inverses
 * of a factor agree by what they make. */
#include "features/columns/column_moments.h"
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

static bool is_by_column(const mg_tensor *tensor) {
    static const char *const names[] = {"offset", "divisor", "fill"};
    for (int k = 0; k < MG_LENGTH(names); k++)
        if (strcmp(tensor->name, names[k]) == 0) return true;
    return false;
}

/* What the columns of the stage's input are: their range (NULL: it was not looked at yet), and how
 * far rounding may have moved them (NULL: not). */
typedef struct stage_input {
    const mg_column_moments *range;
    const double *blur;
} stage_input;

/* Beyond 1e-9 of number i itself. */
static double slack_of(const mg_fitted_stage *fitted, const mg_tensor *a, int64_t i,
                       const stage_input *input) {
    const mg_column_moments *range = input->range;
    const double *blur = input->blur;
    const double *x = a->data;
    if (strcmp(a->name, "inverse") == 0) /* see compare_inverses */
        return i % a->shape[1] > i / a->shape[1] ? 0 : (double)INFINITY;
    if (strcmp(a->name, "target") == 0)
        return LAST_PLACES * fabs(x[0]) + (i == 0 ? 1e-9 * x[1] : 0);
    if (a->dimensions == 2 && a->shape[1] == fitted->columns_in)
        return LAST_PLACES * greatest_of(x + i % a->shape[1], a->shape[0], a->shape[1]) +
               (blur ? blur[i % a->shape[1]] : 0);
    if (!is_by_column(a) || !range || !(range->least[i] <= range->greatest[i])) return 0;
    /* a divisor may be a difference of two values */
    return LAST_PLACES * fmax(fabs(range->least[i]), fabs(range->greatest[i])) +
           (blur ? 2 * blur[i] : 0);
}

static bool agree(double a, double b, double slack) {
    return a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-9 * fmin(fabs(a), fabs(b)) + slack;
}

static difference compare_tensors(const mg_fitted_stage *fitted, const mg_tensor *a,
                                  const mg_tensor *b, const stage_input *input) {
    const int64_t count = a->shape[0] * (a->dimensions == 2 ? a->shape[1] : 1);
    const bool alike = b && a->type == b->type && a->dimensions == b->dimensions &&
                       memcmp(a->shape, b->shape, sizeof a->shape) == 0;
    if (!alike || (a->type != MARGIN_F64 &&
                   memcmp(a->data, b->data, (size_t)(count * mg_type_size(a->type))) != 0))
        return (difference){a->name, -1};
    const double *x = a->data, *y = b->data;
    for (int64_t i = 0; i < count && a->type == MARGIN_F64; i++)
        if (!agree(x[i], y[i], 0) && !agree(x[i], y[i], slack_of(fitted, a, i, input)))
            return (difference){a->name, i};
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

/* Whether two alike tensors, if there are any, have other bits. */
static bool differ_in(const mg_fitted_stage *fitted, const mg_fitted_stage *stored,
                      const char *name) {
    const mg_tensor *a = mg_bag_find(&fitted->bag, name), *b = mg_bag_find(&stored->bag, name);
    const int64_t bytes = a ? a->shape[0] * a->shape[1] * mg_type_size(a->type) : 0;
    return a && memcmp(a->data, b->data, (size_t)bytes) != 0;
}

/* Raises, for each feature of a centre, what two stages differ in and what rounding may move it by,
 * both as parts of the centre's norm. room: 3 x n. */
static void compare_centre(const mg_fitted_stage *fitted, const mg_fitted_stage *stored,
                           const double *centre, double *room, double *apart, double *rounding) {
    const int64_t n = fitted->columns_out;
    double *made = room, *other = made + n, *blur = other + n, square = 0;
    memset(blur, 0, (size_t)n * sizeof *blur);
    fitted->stage->blur(fitted, centre, made, blur);
    fitted->stage->apply_row(fitted, centre, made);
    fitted->stage->apply_row(stored, centre, other);
    for (int64_t k = 0; k < n; k++)
        square += made[k] * made[k];
    for (int64_t k = 0; k < n; k++) {
        const double moved = fabs(made[k] - other[k]);
        apart[k] = fmax(apart[k], isfinite(moved) ? moved / sqrt(square) : (double)INFINITY);
        rounding[k] = fmax(rounding[k], blur[k] / sqrt(square));
    }
}

/* The numbers of an inverse may be large and cancel, and say little. Two of them agree if what they
 * make of the centres does, to the rounding of kernel values: the inverse of a factor times the
 * Gram matrix is that factor again, and no other matrix gives it. */
static margin_status compare_inverses(margin_context *context, const mg_fitted_stage *fitted,
                                      const mg_fitted_stage *stored, difference *found,
                                      margin_error *error) {
    const double *centres = mg_bag_find(&fitted->bag, "centres")->data;
    const int64_t n = fitted->columns_out;
    double *apart;
    MG_NEW_ZERO(context->heap, apart, 5 * n, "what a stage makes of its centres", error);
    double *rounding = apart + n, *room = rounding + n;
    for (int64_t i = 0; i < n && !mg_cancelled(context); i++)
        compare_centre(fitted, stored, centres + i * fitted->columns_in, room, apart, rounding);
    for (int64_t k = 0; k < n; k++)
        if (apart[k] > rounding[k]) found->name = "inverse";
    mg_free(context->heap, apart);
    return mg_cancelled(context) ? mg_fail_cancelled(error) : MARGIN_OK;
}

margin_status mg_stage_compare(margin_context *context, const mg_fitted_stage *fitted,
                               const margin_data *data, const mg_row_maker *maker,
                               const double *blur, const mg_fitted_stage *stored,
                               margin_error *error) {
    mg_column_moments range;
    stage_input input = {.blur = blur};
    difference found = find_difference(fitted, stored, &input);
    if (found.name && found.at >= 0) {
        MG_TRY(mg_column_moments_make(context, data, maker, MG_WANT_RANGE, &range, error));
        input.range = &range;
        found = find_difference(fitted, stored, &input);
        mg_column_moments_free(&range);
    }
    if (!found.name && differ_in(fitted, stored, "inverse"))
        MG_TRY(compare_inverses(context, fitted, stored, &found, error));
    return found.name ? tell(fitted, data, stored, found, error) : MARGIN_OK;
}

margin_status mg_pipeline_refit(margin_context *context, const margin_spec *spec,
                                const margin_model *model, const mg_blur *blur,
                                const margin_data *data, const mg_samples *samples,
                                margin_error *error) {
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
    again->blur = blur;
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
