/* fourier: random features whose dot products are nearly a kernel of differences (Rahimi and Recht,
 * "Random features for large-scale kernel machines", NIPS 2007):
 *
 *   exp(-gamma |x-z|^2) = E cos(w.(x - z)),   w normal with variance 2 gamma
 *
 * laplacian: w of Cauchy numbers times gamma. Cosines and sines in pairs: their dot products are
 * functions of x - z alone, and every row has norm 1. */
#include "features/columns/stages.h"
#include "features/made/kernel_map.h"

#include "base/cancelled_at.h"

#include <math.h>

typedef struct fourier_view {
    const double *frequencies; /* pairs x columns */
    int64_t pairs, columns;
    double factor;
    const mg_vector_ops *ops;
} fourier_view;

enum { MOST_FEATURES = 100000 };

static const margin_option options[] = {
    MG_INTEGER("features", "500",
               "how many columns, an even number: half of them cosines, half sines", .low = 2,
               .high = MOST_FEATURES, MG_RICHER),
    MG_OPTION_KERNEL("rbf", MG_KERNEL_CHOICES,
                     "rbf or laplacian, exp(-gamma |x-z|^2) or exp(-gamma |x-z|_1)"),
    MG_OPTIONS_KERNEL_SHAPE,
};

static double draw(uint64_t seed, const mg_kernel *kernel, int64_t index) {
    const double pi = 3.14159265358979323846;
    if (kernel->kind == MG_KERNEL_RBF)
        return sqrt(2.0 * kernel->gamma) *
               mg_random_normal(seed, MG_RANDOM_SAMPLE, (uint64_t)index);
    const double u = mg_random_unit(seed, MG_RANDOM_SAMPLE, (uint64_t)index);
    return kernel->gamma * tan(pi * (u - 0.5));
}

static margin_status fourier_fit(margin_context *context, const margin_data *data,
                                 const mg_option_value *values, mg_fitted_stage *fitted,
                                 margin_error *error) {
    const margin_component *info = &mg_stage_fourier.info;
    const int64_t features = mg_option_named(info, values, "features")->integer;
    const int64_t n = data->x.columns, pairs = features / 2;
    mg_kernel kernel;
    MG_TRY(mg_map_kernel(context, info, data, values, &kernel, error));
    MG_REQUIRE(mg_kernel_has_waves(kernel.kind), error, MARGIN_ERROR_SPEC,
               "fourier: stands for kernels of differences, rbf and laplacian; for others take "
               "nystroem(kernel=...), for (x.z + 1)^d poly(degree=d, scaled=poly)");
    MG_REQUIRE(features % 2 == 0, error, MARGIN_ERROR_SPEC,
               "fourier: features=%lld is odd; cosines and sines come in pairs",
               (long long)features);
    int64_t rows;
    const double *drawn = mg_stage_drawn(fitted, "frequencies", &rows);
    double *frequencies, *gamma;
    MG_TRY(mg_bag_add(&fitted->bag, "frequencies", MARGIN_F64, pairs, n, &frequencies, error));
    MG_TRY(mg_bag_add(&fitted->bag, "gamma", MARGIN_F64, 1, 0, &gamma, error));
    *gamma = kernel.gamma;
    for (int64_t k = 0; k < pairs * n; k++) {
        if (mg_cancelled_at(context, k)) return mg_fail_cancelled(error);
        frequencies[k] = drawn ? drawn[k] : draw(context->options.seed, &kernel, k);
    }
    fitted->columns_out = 2 * pairs;
    mg_log(context, MARGIN_LOG_NOTE, "fourier makes %lld columns, gamma %s", (long long)(2 * pairs),
           mg_about(kernel.gamma).text);
    return mg_columns_numbered(fitted->heap, "fourier", 2 * pairs, &fitted->columns, error);
}

static margin_status fourier_attach(mg_fitted_stage *fitted, margin_error *error) {
    const int64_t pairs =
        mg_option_named(&mg_stage_fourier.info, fitted->options, "features")->integer / 2;
    const double *frequencies, *gamma;
    const mg_bag *bag = &fitted->bag;
    MG_TRY(mg_bag_numbers(bag, "gamma", 1, 0, &gamma, error));
    MG_TRY(mg_bag_numbers(bag, "frequencies", pairs, fitted->columns_in, &frequencies, error));
    MG_REQUIRE(bag->count == 2 && fitted->columns_out == 2 * pairs &&
                   fitted->columns.count == fitted->columns_out && *gamma > 0,
               error, MARGIN_ERROR_MODEL, "the stage fourier has other columns than it says");
    fourier_view *view;
    MG_NEW(fitted->heap, view, 1, "a stage", error);
    *view = (fourier_view){frequencies, pairs, fitted->columns_in, 1.0 / sqrt((double)pairs),
                           mg_vector_ops_for(mg_isa_level())};
    fitted->view = view;
    return MARGIN_OK;
}

static void fourier_apply_row(const mg_fitted_stage *fitted, const double *in, double *out) {
    const fourier_view *view = fitted->view;
    for (int64_t k = 0; k < view->pairs; k++) {
        const double angle =
            view->ops->dot(view->frequencies + k * view->columns, in, view->columns);
        out[2 * k] = view->factor * cos(angle);
        out[2 * k + 1] = view->factor * sin(angle);
    }
}

const mg_stage mg_stage_fourier = {
    .info = {.name = "fourier",
             .kind = MARGIN_STAGE,
             .summary = "random cosines and sines whose dot products are nearly a kernel",
             .formula = "x' = (cos(w_k.x), sin(w_k.x)) / sqrt(features/2),  x'.z' ~ k(x, z)",
             .source = "Rahimi and Recht 2007",
             .page = "docs/stages.md",
             .abilities = MARGIN_CAN_SPARSE | MARGIN_CAN_WEIGHTS,
             MG_OPTION_TABLE(options)},
    .fit = fourier_fit,
    .attach = fourier_attach,
    .apply_row = fourier_apply_row,
    .kept_bytes = 256 << 20};
