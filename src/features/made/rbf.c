/* rbf: radial basis functions about centres. */
#include "features/made/rbf.h"

#include "cluster/centres/centre_squares.h"
#include "features/columns/stages.h"
#include "features/made/kernel_map.h"
#include "learn/column_choice.h"
#include "math/rows/vector_math.h"

#include <math.h>
#include <string.h>

typedef struct rbf_view {
    int64_t count, columns;
    double minus_gamma;
    bool bias;
    mg_isa isa;
    double packed[];
} rbf_view;

/* ---- Fit ------------------------------------------------------------------------------------- */

static const mg_option_value *option(const mg_option_value *options, const char *name) {
    return mg_stage_option(&mg_stage_rbf, options, name);
}

static mg_rbf_wish wish_of(const mg_option_value *options, int64_t columns) {
    const mg_option_value *sigma = option(options, "sigma"), *gamma = option(options, "gamma");
    mg_rbf_wish wish = {.pick = (mg_rbf_pick)option(options, "pick")->integer,
                        .centres = option(options, "centres")->integer,
                        .sigma = sigma->number};
    if (gamma->given) {
        wish.sigma = 1 / sqrt(2 * gamma->number);
    } else if (sigma->text) {
        wish.spacing = strcmp(sigma->text, "spacing") == 0;
        wish.median = !wish.spacing;
    } else if (!sigma->given) {
        wish.spacing = wish.pick == MG_RBF_EVEN && columns == 1 && wish.centres > 1;
        wish.median = !wish.spacing;
    }
    return wish;
}

static margin_status check_columns(const margin_data *data, const mg_rbf_wish *wish,
                                   margin_error *error) {
    const double count = mg_rbf_count(wish, data->x.columns);
    MG_TRY(mg_map_refuse_categories(&mg_stage_rbf.info, data, error));
    MG_REQUIRE(count <= MG_RBF_MOST, error, MARGIN_ERROR_LIMIT,
               "rbf: %lld evenly spaced centres for each of %lld columns make %s centres in all, "
               "and the limit is %d; take pick=sample",
               (long long)wish->centres, (long long)data->x.columns, mg_number(count).text,
               MG_RBF_MOST);
    return MARGIN_OK;
}

static margin_status rbf_keep(const double *centres, int64_t count, double sigma, bool bias,
                              mg_fitted_stage *fitted, margin_error *error) {
    const int64_t columns = fitted->columns_in;
    double *kept, *gamma;
    MG_TRY(mg_bag_add(&fitted->bag, "centres", MARGIN_F64, count, columns, &kept, error));
    MG_TRY(mg_bag_add(&fitted->bag, "gamma", MARGIN_F64, 1, 0, &gamma, error));
    memcpy(kept, centres, (size_t)(count * columns) * sizeof *kept);
    *gamma = 1 / (2 * sigma * sigma);
    MG_REQUIRE(isfinite(*gamma) && *gamma > 0, error, MARGIN_ERROR_DATA,
               "rbf: sigma = %s is out of range: scale the columns (minmax | rbf)",
               mg_about(sigma).text);
    fitted->columns_out = count + bias;
    MG_TRY(mg_columns_numbered(fitted->heap, "rbf", count + bias, &fitted->columns, error));
    if (bias) fitted->columns.items[count].name = "1";
    return MARGIN_OK;
}

static margin_status rbf_fit(margin_context *context, const margin_data *data,
                             const mg_option_value *options, mg_fitted_stage *fitted,
                             margin_error *error) {
    const mg_rbf_wish wish = wish_of(options, data->x.columns);
    const bool bias = option(options, "bias")->integer != 0;
    double *centres, sigma;
    int64_t count = 0;
    const double *drawn = mg_stage_drawn(fitted, "centres", &count);
    MG_SCOPED_ARENA(arena, context->heap);
    MG_TRY(check_columns(data, &wish, error));
    MG_ARENA_NEW(&arena, centres, (int64_t)mg_rbf_count(&wish, data->x.columns) * data->x.columns,
                 "the centres", error);
    if (drawn && wish.pick != MG_RBF_EVEN && (double)count <= mg_rbf_count(&wish, data->x.columns))
        memcpy(centres, drawn, (size_t)(count * data->x.columns) * sizeof *drawn);
    else
        MG_TRY(mg_rbf_centres(context, data, &wish, centres, &count, error));
    if (wish.pick == MG_RBF_SAMPLE && count < wish.centres)
        mg_log(context, MARGIN_LOG_NOTE,
               "rbf: the data has only %lld different row%s, so there are no more centres",
               (long long)count, count == 1 ? "" : "s");
    MG_TRY(mg_rbf_width(context, data, &wish, centres, count, &sigma, error));
    mg_log(context, MARGIN_LOG_NOTE, "rbf makes %lld columns, sigma %s", (long long)count + bias,
           mg_about(sigma).text);
    return rbf_keep(centres, count, sigma, bias, fitted, error);
}

/* ---- Use ------------------------------------------------------------------------------------- */

static margin_status rbf_attach(mg_fitted_stage *fitted, margin_error *error) {
    const bool bias = option(fitted->options, "bias")->integer != 0;
    const int64_t count = fitted->columns_out - bias, columns = fitted->columns_in;
    const double *values, *gamma;
    const mg_bag *bag = &fitted->bag;
    rbf_view *view;
    MG_TRY(mg_bag_numbers(bag, "gamma", 1, 0, &gamma, error));
    MG_TRY(mg_bag_numbers(bag, "centres", MG_MAX(count, 0), columns, &values, error));
    const mg_rbf_wish wish = wish_of(fitted->options, columns);
    const bool chosen = wish.spacing || wish.median;
    MG_REQUIRE(count > 0 && bag->count == 2 && fitted->columns.count == fitted->columns_out &&
                   *gamma > 0 && (chosen || *gamma == 1 / (2 * wish.sigma * wish.sigma)),
               error, MARGIN_ERROR_MODEL, "the stage rbf has other centres than it says");
    const int64_t bytes =
        (int64_t)sizeof *view + mg_centres_packed(count, columns) * (int64_t)sizeof(double);
    MG_NEW_BYTES(fitted->heap, view, bytes, "a stage", error);
    *view = (rbf_view){count, columns, -*gamma, bias, mg_isa_level()};
    mg_centres_pack(values, count, columns, view->packed);
    fitted->view = view;
    return MARGIN_OK;
}

static void rbf_apply_row(const mg_fitted_stage *fitted, const double *in, double *out) {
    const rbf_view *view = fitted->view;
    mg_centre_squares(view->isa, in, view->columns, view->packed, view->count, out);
    for (int64_t k = 0; k < view->count; k++)
        out[k] *= view->minus_gamma;
    mg_vector_exp(view->isa, out, view->count, out);
    mg_map_flush(out, view->count);
    if (view->bias) out[view->count] = 1.0;
}

static const margin_option options[] = {
    MG_INTEGER("centres", "100", "how many centres; with pick=even for each column", .low = 1,
               .high = MG_RBF_MOST, MG_RICHER),
    MG_CHOICE("pick", "sample", "sample|kmeans|even",
              "where they lie: on rows drawn at random (by the seed), on the means of clusters, or "
              "evenly spaced from the least to the greatest value"),
    MG_NUMBER("sigma", NULL,
              "width: a number, the median distance of rows and centres, or the spacing of even "
              "centres (default: spacing for evenly spaced centres of one column, else median)",
              MG_ABOVE_0, .group = "width", .choices = "median|spacing", MG_SIMPLER),
    MG_NUMBER("gamma", NULL, "the width as 1 / (2 sigma^2)", MG_ABOVE_0, .group = "width",
              MG_RICHER),
    MG_SWITCH("bias", "yes", "end with a column of ones"),
};

const mg_stage mg_stage_rbf = {
    .info = {.name = "rbf",
             .kind = MARGIN_STAGE,
             .summary = "how near a row is to each of some centres",
             .formula = "x'_k = exp(-|x - centre_k|^2 / (2 sigma^2))",
             .source = "Broomhead and Lowe, Multivariable functional interpolation and adaptive "
                       "networks, Complex Systems 2, 1988",
             .page = "docs/stages.md",
             .abilities = MARGIN_CAN_SPARSE | MARGIN_CAN_WEIGHTS,
             MG_OPTION_TABLE(options)},
    .fit = rbf_fit,
    .attach = rbf_attach,
    .apply_row = rbf_apply_row,
    .kept_bytes = 256 << 20};
