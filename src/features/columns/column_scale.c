#include "features/columns/column_scale.h"

#include "features/columns/value_map.h"
#include "learn/column_choice.h"

#include <math.h>
#include <string.h>

typedef struct scale_view {
    const double *offset, *divisor; /* columns each */
    const double *target;           /* its offset and divisor; NULL: it stays as it is */
    bool keeps_zeros;
} scale_view;

/* ---- Fit ------------------------------------------------------------------------------------- */

static margin_status fail_categorical(const mg_stage *stage, const margin_data *data, int64_t j,
                                      margin_error *error) {
    char buffer[32];
    return mg_fail(error, MG_DATA(CATEGORIES),
                   "%s: column %s holds categories and cannot be scaled; leave it out of columns=",
                   stage->info.name, mg_column_name(data->columns, j, buffer));
}

static void log_constant(margin_context *context, const char *stage, const mg_name_list *constant,
                         int64_t columns) {
    if (constant->count == 0) return;
    const bool one = constant->count == 1;
    mg_log(context, MARGIN_LOG_NOTE,
           "%s: %lld of %lld columns %s constant and become%s 0 (they cannot tell rows apart): %s",
           stage, (long long)constant->count, (long long)columns, one ? "is" : "are",
           one ? "s" : "", constant->text);
}

/* The column of ones that poly and rbf make is no news. */
static bool is_ones(const margin_data *data, const mg_column_moments *moments, int64_t j) {
    return data->columns && moments->least[j] == 1 && strcmp(data->columns[j].name, "1") == 0;
}

static margin_status set_columns(margin_context *context, const margin_data *data,
                                 const mg_option_value *options, const bool *chosen,
                                 const mg_column_moments *moments, mg_scale_rule rule,
                                 mg_fitted_stage *fitted, margin_error *error) {
    const int64_t n = data->x.columns;
    mg_name_list constant = {.most = 5};
    char buffer[32];
    double *offset, *divisor;
    MG_TRY(mg_bag_add(&fitted->bag, "offset", MARGIN_F64, n, 0, &offset, error));
    MG_TRY(mg_bag_add(&fitted->bag, "divisor", MARGIN_F64, n, 0, &divisor, error));
    for (int64_t j = 0; j < n; j++) {
        offset[j] = 0;
        divisor[j] = 1;
        if (!chosen[j]) continue;
        if (mg_is_categorical(data->columns, j))
            return fail_categorical(fitted->stage, data, j, error);
        if (moments->least[j] == moments->greatest[j]) {
            if (!is_ones(data, moments, j))
                mg_name_list_add(&constant, mg_column_name(data->columns, j, buffer), "");
            offset[j] = moments->least[j];
            divisor[j] = HUGE_VAL;
        } else if (!rule(moments, j, options, &offset[j], &divisor[j])) {
            return mg_fail(error, MG_DATA(OVERFLOW),
                           "%s: the values of column %s, %s to %s, spread too far or too little "
                           "for double precision; change its unit",
                           fitted->stage->info.name, mg_column_name(data->columns, j, buffer),
                           mg_number(moments->least[j]).text, mg_number(moments->greatest[j]).text);
        }
    }
    log_constant(context, fitted->stage->info.name, &constant, n);
    return MARGIN_OK;
}

static bool scales_target(const mg_fitted_stage *fitted) {
    return mg_stage_option(fitted->stage, fitted->options, "target")->integer != 0;
}

static margin_status set_target(const margin_data *data, const mg_column_moments *moments,
                                mg_scale_rule rule, mg_fitted_stage *fitted, margin_error *error) {
    double *target;
    MG_TRY(mg_bag_add(&fitted->bag, "target", MARGIN_F64, 2, 0, &target, error));
    target[0] = moments->least[0];
    target[1] = 1;
    if (!(moments->least[0] < moments->greatest[0])) return MARGIN_OK;
    MG_REQUIRE(rule(moments, 0, fitted->options, &target[0], &target[1]), error, MG_DATA(OVERFLOW),
               "%s: the values of the target %s, %s to %s, spread too far or too little for double "
               "precision; change its unit",
               fitted->stage->info.name, data->target ? data->target->name : "y",
               mg_number(moments->least[0]).text, mg_number(moments->greatest[0]).text);
    return MARGIN_OK;
}

/* The target as a column of a matrix. What cannot be a target is left to those who read it. */
static margin_status fit_target(margin_context *context, const margin_data *data,
                                mg_moments_wanted wanted, mg_scale_rule rule,
                                mg_fitted_stage *fitted, margin_error *error) {
    MG_SCOPED_ARENA(arena, context->heap);
    MG_SCOPED(mg_column_moments, moments);
    margin_data seen = *data;
    double *values;
    if (!scales_target(fitted)) return MARGIN_OK;
    MG_REQUIRE(data->y.values, error, MG_DATA(TARGET),
               "%s(target=yes) scales the target of a regression, and the data has no target: say "
               "which column it is, or leave target=yes out",
               fitted->stage->info.name);
    MG_ARENA_NEW(&arena, values, data->x.rows, "the targets", error);
    for (int64_t i = 0; i < data->x.rows; i++)
        values[i] = mg_vector_f64(&data->y, i);
    seen.x = margin_dense_f64(values, data->x.rows, 1, 1);
    seen.columns = NULL;
    MG_TRY(mg_column_moments_make(context, &seen, NULL, wanted, &moments, error));
    return set_target(data, &moments, rule, fitted, error);
}

margin_status mg_scale_fit(margin_context *context, const margin_data *data,
                           const mg_option_value *options, mg_moments_wanted wanted,
                           mg_scale_rule rule, mg_fitted_stage *fitted, margin_error *error) {
    const char *list = mg_stage_option(fitted->stage, options, "columns")->text;
    MG_SCOPED_ARENA(arena, context->heap);
    MG_SCOPED(mg_column_moments, moments);
    bool *chosen;
    MG_ARENA_NEW(&arena, chosen, data->x.columns, "the choice of columns", error);
    MG_TRY(mg_choose_columns(context->heap, fitted->stage->info.name, data, list, chosen, error));
    MG_TRY(mg_column_moments_make(context, data, fitted->maker, wanted, &moments, error));
    MG_TRY(set_columns(context, data, options, chosen, &moments, rule, fitted, error));
    return fit_target(context, data, wanted, rule, fitted, error);
}

/* ---- Use ------------------------------------------------------------------------------------- */

static double scaled(const scale_view *view, int64_t j, double value) {
    return (value - view->offset[j]) / view->divisor[j];
}

margin_status mg_scale_attach(mg_fitted_stage *fitted, margin_error *error) {
    const int64_t n = fitted->columns_in;
    const char *name = fitted->stage->info.name;
    const bool has_target = scales_target(fitted);
    const void *offset, *divisor, *target = NULL;
    MG_REQUIRE(fitted->columns_out == n && fitted->bag.count == 2 + has_target, error,
               MARGIN_ERROR_MODEL, "the stage %s does not keep the number of columns", name);
    MG_TRY(mg_bag_expect(&fitted->bag, "offset", MARGIN_F64, n, 0, &offset, error));
    MG_TRY(mg_bag_expect(&fitted->bag, "divisor", MARGIN_F64, n, 0, &divisor, error));
    if (has_target) MG_TRY(mg_bag_expect(&fitted->bag, "target", MARGIN_F64, 2, 0, &target, error));
    scale_view *view;
    MG_NEW(fitted->heap, view, 1, "a stage", error);
    *view = (scale_view){offset, divisor, target, true};
    fitted->view = view;
    MG_REQUIRE(
        !target || (isfinite(view->target[0]) && isfinite(view->target[1]) && view->target[1] > 0),
        error, MARGIN_ERROR_MODEL, "the stage %s has an impossible scale for the target", name);
    for (int64_t j = 0; j < n; j++) {
        MG_REQUIRE(isfinite(view->offset[j]) && view->divisor[j] > 0, error, MARGIN_ERROR_MODEL,
                   "the stage %s has an impossible scale for column %lld", name, (long long)j + 1);
        view->keeps_zeros = view->keeps_zeros && scaled(view, j, 0) == 0;
    }
    return MARGIN_OK;
}

void mg_scale_apply_row(const mg_fitted_stage *fitted, const double *in, double *out) {
    const scale_view *view = fitted->view;
    for (int64_t j = 0; j < fitted->columns_in; j++)
        out[j] = scaled(view, j, in[j]);
}

static void scale_chunk(const void *argument, mg_row_norm of_row, const mg_row_chunk *chunk,
                        bool sparse, double *out) {
    const scale_view *view = argument;
    (void)of_row;
    if (sparse) {
        for (int64_t k = 0; k < chunk->count; k++)
            out[k] = scaled(view, chunk->columns[k], chunk->values[k]);
        return;
    }
    const double *offset = view->offset + chunk->first, *divisor = view->divisor + chunk->first;
    for (int64_t k = 0; k < chunk->count; k++)
        out[k] = (chunk->values[k] - offset[k]) / divisor[k];
}

margin_status mg_scale_apply(margin_context *context, const mg_fitted_stage *fitted,
                             const margin_matrix *in, mg_matrix_buffer *out, margin_error *error) {
    const scale_view *view = fitted->view;
    const mg_value_map map = {.argument = view,
                              .map = scale_chunk,
                              .keeps_zeros = view->keeps_zeros,
                              .name = fitted->stage->info.name};
    return mg_map_values(context, in, &map, out, error);
}

void mg_scale_affine(const mg_fitted_stage *fitted, int64_t column, double *offset,
                     double *divisor) {
    const scale_view *view = fitted->view;
    *offset = view->offset[column];
    *divisor = view->divisor[column];
}

bool mg_scale_target(const mg_fitted_stage *fitted, double *offset, double *divisor) {
    const scale_view *view = fitted->view;
    if (!view->target) return false;
    *offset = view->target[0];
    *divisor = view->target[1];
    return true;
}
