/* normalize: each row to norm 1.
 *
 * Sums run in eight lanes by column number, so that a row gives the same bits dense or CSR, and the
 * loop can use vectors. */
#include "features/columns/stages.h"
#include "features/columns/value_map.h"
#include "learn/column_choice.h"

#include <math.h>

typedef enum norm_kind { NORM_L2, NORM_L1, NORM_MAX } norm_kind; /* in the order of the choices */

enum { LANES = 8 };

/* Squares of numbers in this range neither overflow nor lose digits. */
#define SAFE_LOW  1e-140
#define SAFE_HIGH 1e140

typedef struct norm_view {
    norm_kind kind;
} norm_view;

typedef struct row_sums {
    double greatest;                        /* of the absolute values, NaNs aside */
    double absolute[LANES], squares[LANES]; /* NaN where there is one */
} row_sums;

static row_sums sum_row(const margin_matrix *x, int64_t row, double scale) {
    const bool sparse = mg_is_csr(x);
    row_sums sums = {.greatest = 0};
    mg_row_chunk chunk;
    for (int64_t at = mg_chunk_begin(x, row); mg_chunk_next(x, row, &at, &chunk);)
        for (int64_t k = 0; k < chunk.count; k++) {
            const int64_t lane = (sparse ? chunk.columns[k] : chunk.first + k) % LANES;
            const double value = chunk.values[k] * scale, magnitude = fabs(value);
            sums.greatest = magnitude > sums.greatest ? magnitude : sums.greatest;
            sums.absolute[lane] += magnitude;
            sums.squares[lane] += value * value;
        }
    return sums;
}

static double total(const double lanes[LANES]) {
    return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
           ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

static double norm_of_sums(const row_sums *sums, norm_kind kind) {
    const double absolute = total(sums->absolute);
    if (isnan(absolute)) return absolute;
    switch (kind) {
    case NORM_L2:
        return sqrt(total(sums->squares));
    case NORM_L1:
        return absolute;
    case NORM_MAX:
        return sums->greatest;
    }
    return sums->greatest;
}

/* Rows of very large or small values are first multiplied by a power of two, which is exact. */
static mg_row_norm norm_of_row(const void *argument, const margin_matrix *x, int64_t row) {
    const norm_view *view = argument;
    mg_row_norm found = {.scale = 1};
    row_sums sums = sum_row(x, row, 1);
    if (sums.greatest > 0 && isfinite(sums.greatest) &&
        (sums.greatest < SAFE_LOW || sums.greatest > SAFE_HIGH)) {
        found.scale = ldexp(1, MG_MIN(-ilogb(sums.greatest), 1000));
        sums = sum_row(x, row, found.scale);
    }
    found.norm = norm_of_sums(&sums, view->kind);
    if (found.norm == 0) found.norm = 1; /* a row of zeros stays one */
    return found;
}

static void normalize_chunk(const void *argument, mg_row_norm of_row, const mg_row_chunk *chunk,
                            bool sparse, double *out) {
    (void)argument, (void)sparse;
    for (int64_t k = 0; k < chunk->count; k++)
        out[k] = chunk->values[k] * of_row.scale / of_row.norm;
}

static margin_status normalize_fit(margin_context *context, const margin_data *data,
                                   const mg_option_value *options, mg_fitted_stage *fitted,
                                   margin_error *error) {
    char buffer[32];
    (void)context, (void)options, (void)fitted;
    for (int64_t j = 0; j < data->x.columns; j++)
        MG_REQUIRE(
            !mg_is_categorical(data->columns, j), error, MG_DATA(CATEGORIES),
            "normalize: column %s holds categories, which have no norm; put onehot before it",
            mg_column_name(data->columns, j, buffer));
    return MARGIN_OK;
}

static margin_status normalize_attach(mg_fitted_stage *fitted, margin_error *error) {
    MG_REQUIRE(fitted->columns_out == fitted->columns_in && fitted->bag.count == 0, error,
               MARGIN_ERROR_MODEL, "the stage normalize does not keep the number of columns");
    norm_view *view;
    MG_NEW(fitted->heap, view, 1, "a stage", error);
    view->kind = (norm_kind)mg_stage_option(fitted->stage, fitted->options, "norm")->integer;
    fitted->view = view;
    return MARGIN_OK;
}

static void normalize_apply_row(const mg_fitted_stage *fitted, const double *in, double *out) {
    const int64_t n = fitted->columns_in;
    const margin_matrix x = margin_dense_f64(in, 1, n, n);
    const mg_row_norm of_row = norm_of_row(fitted->view, &x, 0);
    for (int64_t j = 0; j < n; j++)
        out[j] = in[j] * of_row.scale / of_row.norm;
}

static margin_status normalize_apply(margin_context *context, const mg_fitted_stage *fitted,
                                     const margin_matrix *in, mg_matrix_buffer *out,
                                     margin_error *error) {
    const mg_value_map map = {.argument = fitted->view,
                              .of_row = norm_of_row,
                              .map = normalize_chunk,
                              .keeps_zeros = true,
                              .name = "normalize"};
    return mg_map_values(context, in, &map, out, error);
}

static const margin_option options[] = {
    MG_CHOICE("norm", "l2", "l2|l1|max",
              "root of the sum of squares, sum of absolute values, or greatest absolute value"),
};

const mg_stage mg_stage_normalize = {
    .info = {.name = "normalize",
             .kind = MARGIN_STAGE,
             .summary = "scales every row to norm 1; a row of zeros stays as it is",
             .formula = "x' = x / norm(x)",
             .source = "Salton, Wong, Yang, A vector space model for automatic indexing, CACM 18, "
                       "1975",
             .page = "docs/stages.md",
             .abilities = MARGIN_CAN_SPARSE | MARGIN_CAN_WEIGHTS,
             MG_OPTION_TABLE(options)},
    .fit = normalize_fit,
    .attach = normalize_attach,
    .apply_row = normalize_apply_row,
    .apply = normalize_apply};
