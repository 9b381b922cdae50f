/* onehot: categories to 0/1 indicator columns, in the place of the column they come from. */
#include "features/made/onehot.h"

#include "base/sort.h"
#include "features/columns/stages.h"
#include "features/columns/value_runs.h"
#include "learn/column_choice.h"

#include <math.h>
#include <string.h>

/* A numeric column with more distinct values than this is no set of categories. */
enum { MOST_VALUES = 100000 };

/* ---- Fit ------------------------------------------------------------------------------------- */

typedef struct onehot_fit {
    margin_context *context;
    const margin_data *data;
    int64_t drop;
    bool *listed;    /* numeric columns to take as categories */
    int64_t *counts; /* categories per input column, 0: passed */
    double **values; /* distinct values of the listed columns, else NULL */
    int64_t listed_count, value_count, columns_out;
    margin_error *error;
} onehot_fit;

static margin_status find_values(onehot_fit *f, const mg_column_reader *reader, int64_t j,
                                 mg_value_run *runs) {
    char buffer[32];
    const int64_t count = mg_column_runs(reader, j, runs, runs + mg_column_runs_room(reader));
    const char *name = mg_column_name(f->data->columns, j, buffer);
    if (mg_cancelled(f->context)) return mg_fail_cancelled(f->error);
    MG_REQUIRE(count > 0, f->error, MARGIN_ERROR_DATA, "onehot: column %s has no values", name);
    MG_REQUIRE(count <= MOST_VALUES, f->error, MG_DATA(CATEGORIES),
               "onehot: column %s has %lld distinct values, more than the limit of %d for "
               "categories; leave it out of columns=",
               name, (long long)count, MOST_VALUES);
    MG_NEW(f->context->heap, f->values[j], count, "the categories of a column", f->error);
    for (int64_t k = 0; k < count; k++)
        f->values[j][k] = runs[k].value;
    f->counts[j] = count;
    f->value_count += count;
    return MARGIN_OK;
}

/* Distinct values of the listed columns. */
static margin_status find_all_values(onehot_fit *f) {
    margin_status status;
    mg_column_reader reader = {0};
    mg_value_run *runs = NULL;
    if (f->listed_count == 0) return MARGIN_OK;
    MG_GO(mg_column_reader_open(f->context, f->data, f->listed, &reader, f->error));
    MG_GO_NEW(f->context->heap, runs, 2 * mg_column_runs_room(&reader),
              "sorting the values of columns", f->error);
    for (int64_t j = 0; j < f->data->x.columns; j++) {
        if (f->listed[j]) MG_GO(find_values(f, &reader, j, runs));
    }
done:
    mg_free(f->context->heap, runs);
    mg_column_reader_close(&reader);
    return status;
}

/* Which columns become indicators, and how many output columns there are. */
static margin_status find_counts(onehot_fit *f, const char *list) {
    const int64_t n = f->data->x.columns;
    for (int64_t j = 0; j < n; j++)
        f->listed[j] = false;
    if (list)
        MG_TRY(mg_choose_columns(f->context->heap, "onehot", f->data, list, f->listed, f->error));
    for (int64_t j = 0; j < n; j++) {
        f->counts[j] = 0;
        f->values[j] = NULL;
        if (mg_is_categorical(f->data->columns, j)) {
            f->counts[j] = f->data->columns[j].category_count;
            MG_REQUIRE(f->counts[j] > 0, f->error, MARGIN_ERROR_DATA,
                       "onehot: column %s has no values", f->data->columns[j].name);
            f->listed[j] = false;
        }
        f->listed_count += f->listed[j];
    }
    MG_TRY(find_all_values(f));
    for (int64_t j = 0; j < n; j++)
        f->columns_out += f->counts[j] ? f->counts[j] - f->drop : 1;
    MG_REQUIRE(f->columns_out <= INT32_MAX, f->error, MARGIN_ERROR_LIMIT,
               "onehot would make %lld columns, more than the limit of %lld",
               (long long)f->columns_out, (long long)INT32_MAX);
    MG_REQUIRE(f->columns_out > 0, f->error, MARGIN_ERROR_DATA,
               "onehot(drop=first) would leave no column: each has a single category");
    return MARGIN_OK;
}

static margin_status set_tensors(const onehot_fit *f, mg_fitted_stage *fitted) {
    const int64_t n = f->data->x.columns;
    uint8_t *kind;
    int64_t *count;
    double *values;
    MG_TRY(mg_bag_add(&fitted->bag, "kind", MARGIN_U8, n, 0, &kind, f->error));
    MG_TRY(mg_bag_add(&fitted->bag, "count", MARGIN_I64, n, 0, &count, f->error));
    MG_TRY(mg_bag_add(&fitted->bag, "values", MARGIN_F64, f->value_count, 0, &values, f->error));
    for (int64_t j = 0; j < n; j++) {
        kind[j] = (uint8_t)(!f->counts[j]  ? MG_ONEHOT_PASS
                            : f->values[j] ? MG_ONEHOT_VALUES
                                           : MG_ONEHOT_CODES);
        count[j] = f->counts[j];
        if (!f->values[j]) continue;
        memcpy(values, f->values[j], (size_t)f->counts[j] * sizeof *values);
        values += f->counts[j];
    }
    fitted->columns_out = f->columns_out;
    return MARGIN_OK;
}

/* "colour=red", zero-terminated, behind the texts so far. */
static void add_name(mg_text *texts, const char *column, const char *category) {
    mg_text_puts(texts, column);
    if (category) {
        mg_text_puts(texts, "=");
        mg_text_puts(texts, category);
    }
    mg_text_add(texts, "", 1);
}

static void add_names(const onehot_fit *f, mg_text *texts) {
    char buffer[32], number[MARGIN_NUMBER_TEXT];
    for (int64_t j = 0; j < f->data->x.columns; j++) {
        const char *name = mg_column_name(f->data->columns, j, buffer);
        if (!f->counts[j]) add_name(texts, name, NULL);
        for (int64_t k = f->drop; k < f->counts[j]; k++) {
            if (f->values[j]) margin_number_print_f64(f->values[j][k], number);
            add_name(texts, name, f->values[j] ? number : f->data->columns[j].categories[k]);
        }
    }
}

static margin_status set_columns(const onehot_fit *f, mg_fitted_stage *fitted) {
    margin_status status;
    mg_text texts;
    mg_text_init(&texts, f->context->heap);
    add_names(f, &texts);
    if (mg_cancelled(f->context))
        status = mg_fail_cancelled(f->error);
    else
        status = mg_columns_named(fitted->heap, &texts, f->columns_out, &fitted->columns, f->error);
    mg_text_free(&texts);
    return status;
}

static margin_status fit(margin_context *context, const margin_data *data,
                         const mg_option_value *options, mg_fitted_stage *fitted,
                         margin_error *error) {
    const mg_stage *stage = &mg_stage_onehot;
    const int64_t n = data->x.columns;
    onehot_fit f = {.context = context,
                    .data = data,
                    .drop = mg_stage_option(stage, options, "drop")->integer,
                    .error = error};
    margin_status status;
    MG_GO_NEW(context->heap, f.listed, n, "the choice of columns", error);
    MG_GO_NEW(context->heap, f.counts, n, "the choice of columns", error);
    f.values = mg_new_zero(context->heap, n, sizeof *f.values);
    if (!f.values)
        MG_GO(mg_no_memory(context->heap, n, sizeof *f.values, "the choice of columns", error));
    MG_GO(find_counts(&f, mg_stage_option(stage, options, "columns")->text));
    MG_GO(set_tensors(&f, fitted));
    MG_GO(set_columns(&f, fitted));
done:
    for (int64_t j = 0; f.values && j < n; j++)
        mg_free(context->heap, f.values[j]);
    MG_FREE(context->heap, f.values, f.counts, f.listed);
    return status;
}

/* ---- Attach ---------------------------------------------------------------------------------- */

static margin_status check_values(const mg_onehot_column *column, int64_t j, margin_error *error) {
    for (int64_t k = 0; k < column->count; k++)
        MG_REQUIRE(isfinite(column->values[k]) &&
                       (k == 0 || column->values[k - 1] < column->values[k]),
                   error, MARGIN_ERROR_MODEL,
                   "the stage onehot has impossible categories for column %lld", (long long)j + 1);
    return MARGIN_OK;
}

/* Fills in the columns of the view; every number of the tensors is checked before it is used. */
static margin_status set_view(mg_onehot_view *view, const mg_fitted_stage *fitted,
                              const uint8_t *kind, const int64_t *count, const double *values,
                              int64_t value_count, margin_error *error) {
    int64_t *const coded = (int64_t *)view->coded;
    int64_t first = 0, used = 0;
    for (int64_t j = 0; j < fitted->columns_in; j++) {
        const bool listed = kind[j] == MG_ONEHOT_VALUES;
        MG_REQUIRE(kind[j] <= MG_ONEHOT_VALUES && count[j] >= (kind[j] != MG_ONEHOT_PASS) &&
                       count[j] <= INT32_MAX && (kind[j] != MG_ONEHOT_PASS || count[j] == 0) &&
                       (!listed || count[j] <= value_count - used),
                   error, MARGIN_ERROR_MODEL,
                   "the stage onehot has impossible categories for column %lld", (long long)j + 1);
        view->columns[j] = (mg_onehot_column){.kind = (mg_onehot_kind)kind[j],
                                              .count = count[j],
                                              .first = first,
                                              .values = listed ? values + used : NULL};
        if (kind[j] != MG_ONEHOT_PASS) coded[view->coded_count++] = j;
        if (listed) MG_TRY(check_values(&view->columns[j], j, error));
        used += listed ? count[j] : 0;
        first += kind[j] != MG_ONEHOT_PASS ? count[j] - view->drop : 1;
        MG_REQUIRE(first <= fitted->columns_out, error, MARGIN_ERROR_MODEL,
                   "the stage onehot makes more columns than it says");
    }
    MG_REQUIRE(first == fitted->columns_out && used == value_count, error, MARGIN_ERROR_MODEL,
               "the stage onehot makes other columns than it says");
    return MARGIN_OK;
}

static margin_status onehot_attach(mg_fitted_stage *fitted, margin_error *error) {
    const int64_t n = fitted->columns_in;
    const void *kind, *count, *values;
    MG_TRY(mg_bag_expect(&fitted->bag, "kind", MARGIN_U8, n, 0, &kind, error));
    MG_TRY(mg_bag_expect(&fitted->bag, "count", MARGIN_I64, n, 0, &count, error));
    MG_TRY(mg_bag_expect(&fitted->bag, "values", MARGIN_F64, -1, 0, &values, error));
    MG_REQUIRE(fitted->bag.count == 3 && fitted->columns.count == fitted->columns_out, error,
               MARGIN_ERROR_MODEL, "the stage onehot has other columns than names");
    mg_onehot_view *view;
    const int64_t bytes = (int64_t)sizeof *view + n * (int64_t)sizeof *view->columns +
                          n * (int64_t)sizeof *view->coded;
    MG_NEW_BYTES(fitted->heap, view, bytes, "a stage", error);
    memset(view, 0, (size_t)bytes);
    fitted->view = view;
    view->coded = (int64_t *)(void *)(view->columns + n);
    view->drop = mg_stage_option(fitted->stage, fitted->options, "drop")->integer;
    view->refuse_unknown = mg_stage_option(fitted->stage, fitted->options, "unknown")->integer == 1;
    return set_view(view, fitted, kind, count, values,
                    mg_bag_find(&fitted->bag, "values")->shape[0], error);
}

static bool refuses_unknown(const mg_fitted_stage *fitted) {
    return ((const mg_onehot_view *)fitted->view)->refuse_unknown;
}

/* The last input column that begins at `column` or before it. */
static int64_t origin(const mg_fitted_stage *fitted, int64_t column, bool *indicates) {
    const mg_onehot_view *view = fitted->view;
    int64_t behind;
    MG_BISECT(behind, 1, fitted->columns_in, view->columns[behind].first <= column);
    *indicates = view->columns[behind - 1].kind != MG_ONEHOT_PASS;
    return behind - 1;
}

static const margin_option options[] = {
    MG_TEXT("columns", NULL,
            "numeric columns to take as categories too: names or numbers from 1, separated by "
            "commas"),
    MG_CHOICE("unknown", "ignore", "ignore|error",
              "what a missing value or a category not seen in training becomes: all indicators 0, "
              "or an error"),
    MG_CHOICE("drop", "none", "none|first",
              "first leaves out the indicator of each column's first category"),
};

const mg_stage mg_stage_onehot = {
    .info = {.name = "onehot",
             .kind = MARGIN_STAGE,
             .summary = "turns each category into a column that is 1 where it applies, else 0",
             .formula = "x'_c = 1 where x is category c, else 0",
             .source = "Suits, Use of dummy variables in regression equations, JASA 52, 1957",
             .page = "docs/stages.md",
             .abilities = MARGIN_CAN_SPARSE | MARGIN_CAN_WEIGHTS | MARGIN_CAN_CATEGORIES,
             MG_OPTION_TABLE(options)},
    .fit = fit,
    .attach = onehot_attach,
    .apply_row = mg_onehot_apply_row,
    .entries = mg_onehot_entries,
    .refuses_unknown = refuses_unknown,
    .apply = mg_onehot_apply,
    .origin = origin};
