/* impute: missing values (NaN) become a statistic of their column. */
#include "features/columns/column_moments.h"
#include "features/columns/stages.h"
#include "features/columns/value_map.h"
#include "features/columns/value_runs.h"
#include "learn/column_choice.h"

#include <float.h>
#include <math.h>

typedef enum fill_kind { FILL_MEAN, FILL_MEDIAN, FILL_MOST_FREQUENT, FILL_NUMBER } fill_kind;

typedef struct impute_view {
    const double *fill; /* one number per column */
} impute_view;

static fill_kind wanted_kind(const mg_option_value *with) {
    return with->text ? (fill_kind)with->integer : FILL_NUMBER;
}

static fill_kind kind_of_column(const margin_data *data, int64_t j, const mg_option_value *with) {
    return mg_is_categorical(data->columns, j) ? FILL_MOST_FREQUENT : wanted_kind(with);
}

/* ---- Statistics of one column ---------------------------------------------------------------- */

/* Ties: the least value. */
static double most_frequent(const mg_value_run *runs, int64_t count) {
    int64_t best = 0;
    for (int64_t k = 1; k < count; k++)
        if (runs[k].weight > runs[best].weight) best = k;
    return count ? runs[best].value : (double)NAN;
}

/* ---- Fit ------------------------------------------------------------------------------------- */

typedef struct runs_task {
    const margin_context *context;
    const mg_column_reader *reader;
    const bool *columns;
    const margin_data *data;
    const mg_option_value *with;
    int64_t slots;
    mg_value_run *space; /* two parts per slot */
    double *fill;
} runs_task;

/* Every slots-th column, from number `slot` on. */
static margin_status fill_by_runs(void *argument, int64_t slot, int worker) {
    const runs_task *task = argument;
    const int64_t room = mg_column_runs_room(task->reader);
    mg_value_run *const runs = task->space + 2 * room * slot;
    (void)worker;
    for (int64_t j = slot; j < task->data->x.columns; j += task->slots) {
        if (!task->columns[j]) continue;
        const int64_t count = mg_column_runs(task->reader, j, runs, runs + room);
        if (mg_cancelled(task->context)) return MARGIN_ERROR_CANCELLED;
        const fill_kind kind = kind_of_column(task->data, j, task->with);
        task->fill[j] =
            kind == FILL_MEDIAN ? mg_runs_median(runs, count) : most_frequent(runs, count);
    }
    return MARGIN_OK;
}

/* Columns that are sorted at the same time: as many as there are threads, but no more than take
 * about the memory of the data itself. The result does not depend on it. */
static int64_t count_slots(const margin_context *context, const margin_matrix *x, int64_t room) {
    const int64_t slot_bytes = 2 * room * (int64_t)sizeof(mg_value_run);
    const int64_t fit = mg_row_bytes(x) * x->rows / slot_bytes;
    return MG_MAX(1, MG_MIN(fit, mg_threads(context)));
}

/* Median and most frequent value of the marked columns. */
static margin_status fill_ranked(margin_context *context, const margin_data *data,
                                 const mg_option_value *with, const bool *columns, double *fill,
                                 margin_error *error) {
    margin_status status;
    mg_column_reader reader = {0};
    mg_value_run *space = NULL;
    MG_GO(mg_column_reader_open(context, data, columns, &reader, error));
    const int64_t room = mg_column_runs_room(&reader);
    const int64_t slots = count_slots(context, &data->x, room);
    MG_GO_NEW(context->heap, space, 2 * room * slots, "sorting the values of columns", error);
    runs_task task = {context, &reader, columns, data, with, slots, space, fill};
    status = mg_parallel(context, slots, fill_by_runs, &task, error);
done:
    mg_free(context->heap, space);
    mg_column_reader_close(&reader);
    return status;
}

static margin_status fill_means(margin_context *context, const margin_data *data,
                                const bool *ranked, double *fill, margin_error *error) {
    mg_column_moments moments;
    MG_TRY(mg_column_moments_make(context, data, NULL, MG_WANT_SPREAD, &moments, error));
    for (int64_t j = 0; j < data->x.columns; j++) {
        const double mean = isnan(moments.mean[j]) ? (double)INFINITY : moments.mean[j];
        if (!ranked[j]) fill[j] = moments.weight[j] > 0 ? mean : (double)NAN;
    }
    mg_column_moments_free(&moments);
    return MARGIN_OK;
}

/* A number that the data's type cannot hold would become infinity. */
static margin_status check_width(const margin_data *data, const double *fill, margin_error *error) {
    const double most = data->x.value_type == MARGIN_F32 ? (double)FLT_MAX : DBL_MAX;
    char name[32];
    for (int64_t j = 0; j < data->x.columns; j++) {
        if (isinf(fill[j]))
            return mg_fail_at(error, MG_DATA(OVERFLOW), (mg_place){.feature = j + 1},
                              "impute: what column %s would be filled with is beyond double "
                              "precision; divide the column, leave it out, or give a number: "
                              "impute(with=0)",
                              mg_column_name(data->columns, j, name));
        MG_REQUIRE(fabs(fill[j]) <= most, error, MARGIN_ERROR_DATA,
                   "impute: %s is too large for data in single precision", mg_number(fill[j]).text);
    }
    return MARGIN_OK;
}

static margin_status check_filled(const margin_data *data, const double *fill,
                                  margin_error *error) {
    mg_name_list empty = {.most = 5};
    char buffer[32];
    for (int64_t j = 0; j < data->x.columns; j++)
        if (isnan(fill[j])) mg_name_list_add(&empty, mg_column_name(data->columns, j, buffer), "");
    if (empty.count == 0) return check_width(data, fill, error);
    return mg_fail(error, MG_DATA(MISSING_VALUE),
                   "impute: %lld column%s only missing values: %s; leave %s out, or give a number: "
                   "impute(with=0)",
                   (long long)empty.count, empty.count == 1 ? " has" : "s have", empty.text,
                   empty.count == 1 ? "it" : "them");
}

static margin_status impute_fit(margin_context *context, const margin_data *data,
                                const mg_option_value *options, mg_fitted_stage *fitted,
                                margin_error *error) {
    const mg_option_value *with = mg_stage_option(&mg_stage_impute, options, "with");
    const int64_t n = data->x.columns;
    bool any_ranked = false, any_mean = false;
    double *fill;
    bool *ranked;
    MG_SCOPED_ARENA(arena, context->heap);
    MG_TRY(mg_bag_add(&fitted->bag, "fill", MARGIN_F64, n, 0, &fill, error));
    MG_ARENA_NEW(&arena, ranked, n, "the choice of columns", error);
    for (int64_t j = 0; j < n; j++) {
        const fill_kind kind = kind_of_column(data, j, with);
        ranked[j] = kind == FILL_MEDIAN || kind == FILL_MOST_FREQUENT;
        any_ranked |= ranked[j];
        any_mean |= kind == FILL_MEAN;
        fill[j] = with->number; /* kind FILL_NUMBER */
    }
    if (any_mean) MG_TRY(fill_means(context, data, ranked, fill, error));
    if (any_ranked) MG_TRY(fill_ranked(context, data, with, ranked, fill, error));
    return check_filled(data, fill, error);
}

/* ---- Use ------------------------------------------------------------------------------------- */

static margin_status impute_attach(mg_fitted_stage *fitted, margin_error *error) {
    const double *fill;
    MG_REQUIRE(fitted->columns_out == fitted->columns_in && fitted->bag.count == 1, error,
               MARGIN_ERROR_MODEL, "the stage impute does not keep the number of columns");
    MG_TRY(mg_bag_numbers(&fitted->bag, "fill", fitted->columns_in, 0, &fill, error));
    impute_view *view;
    MG_NEW(fitted->heap, view, 1, "a stage", error);
    view->fill = fill;
    fitted->view = view;
    return MARGIN_OK;
}

static void impute_apply_row(const mg_fitted_stage *fitted, const double *in, double *out) {
    const impute_view *view = fitted->view;
    for (int64_t j = 0; j < fitted->columns_in; j++)
        out[j] = isnan(in[j]) ? view->fill[j] : in[j];
}

static int64_t origin(const mg_fitted_stage *fitted, int64_t column, bool *indicates) {
    (void)fitted;
    *indicates = false;
    return column;
}

static void impute_chunk(const void *argument, mg_row_norm of_row, const mg_row_chunk *chunk,
                         bool sparse, double *out) {
    const impute_view *view = argument;
    const double *fill = view->fill + (sparse ? 0 : chunk->first);
    (void)of_row;
    for (int64_t k = 0; k < chunk->count; k++)
        out[k] = isnan(chunk->values[k]) ? fill[sparse ? chunk->columns[k] : k] : chunk->values[k];
}

static margin_status impute_apply(margin_context *context, const mg_fitted_stage *fitted,
                                  const margin_matrix *in, mg_matrix_buffer *out,
                                  margin_error *error) {
    const mg_value_map map = {
        .argument = fitted->view, .map = impute_chunk, .keeps_zeros = true, .name = "impute"};
    return mg_map_values(context, in, &map, out, error);
}

static const margin_option options[] = {
    MG_NUMBER("with", "mean",
              "what missing values become: a statistic of the column, or this number; categories "
              "always take the most frequent one",
              MG_ANY_NUMBER, .choices = "mean|median|most-frequent"),
};

const mg_stage mg_stage_impute = {
    .info = {.name = "impute",
             .kind = MARGIN_STAGE,
             .summary = "fills in missing values, column by column",
             .formula = "x' = x, or the column's mean, median or most frequent value where x is "
                        "missing",
             .source = "Little, Rubin, Statistical Analysis with Missing Data, 3rd ed., 2019, "
                       "chapter 4",
             .page = "docs/stages.md",
             .abilities = MARGIN_CAN_MISSING | MARGIN_CAN_SPARSE | MARGIN_CAN_WEIGHTS,
             MG_OPTION_TABLE(options)},
    .fit = impute_fit,
    .attach = impute_attach,
    .apply_row = impute_apply_row,
    .apply = impute_apply,
    .origin = origin,
    .takes_missing = true};
