/* What stages that stand for a kernel share. */
#include "features/made/kernel_map.h"

#include "features/columns/row_chunk.h"
#include "learn/column_choice.h"

margin_status mg_map_refuse_categories(const margin_component *info, const margin_data *data,
                                       margin_error *error) {
    for (int64_t j = 0; j < data->x.columns; j++)
        MG_REQUIRE(!mg_is_categorical(data->columns, j), error, MG_DATA(CATEGORIES),
                   "%s: column %s holds categories, which have no distances; encode them first: "
                   "onehot | %s",
                   info->name, data->columns[j].name, info->name);
    return MARGIN_OK;
}

static margin_status kernel_map_check(const margin_component *info, const margin_data *data,
                                      const mg_option_value *options, margin_error *error) {
    MG_TRY(mg_map_refuse_categories(info, data, error));
    MG_TRY(mg_options_check_when(info, options, error));
    MG_TRY(mg_kernel_options_check(info, options, error));
    const mg_kernel kernel = mg_kernel_options_of(info, options).kernel;
    MG_REQUIRE(mg_kernel_is_definite(&kernel), error, MARGIN_ERROR_SPEC,
               "%s: needs a kernel that is an inner product: rbf, laplacian, linear, exp, or poly "
               "with coef0 >= 0",
               info->name);
    return MARGIN_OK;
}

margin_status mg_map_kernel(margin_context *context, const margin_component *info,
                            const margin_data *data, const mg_option_value *options,
                            mg_kernel *kernel, margin_error *error) {
    const mg_kernel_choice choice = mg_kernel_options_of(info, options);
    mg_problem samples = {.kind = MG_CLUSTERING,
                          .x = data->x,
                          .index = data->selection,
                          .count = mg_selected_rows(data)};
    double *weights = NULL;
    MG_TRY(kernel_map_check(info, data, options, error));
    if (data->weights.values && choice.rule == MG_GAMMA_SCALE) {
        MG_NEW(context->heap, weights, samples.count, "the weights of the rows", error);
        for (int64_t i = 0; i < samples.count; i++)
            weights[i] = mg_vector_f64(&data->weights, mg_sample_row(&samples, i));
        samples.weight = weights;
    }
    const margin_status status =
        mg_kernel_resolve(context, &choice, "...", &samples, kernel, error);
    mg_free(context->heap, weights);
    return status;
}
