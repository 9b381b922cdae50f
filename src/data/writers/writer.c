/* margin_data_write: checks what is to be written, then hands over to the format. */
#include "data/writers/writer.h"

#include "base/caller_options.h"
#include "data/reader/reader.h"
#include "data/table/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Shared by the formats ------------------------------------------------------------------ */

int mg_print_element(const margin_vector *v, int64_t row, char text[MARGIN_NUMBER_TEXT]) {
    if (v->type == MARGIN_F32)
        return margin_number_print_f32(((const float *)v->values)[row], text);
    if (v->type == MARGIN_I64)
        return snprintf(text, MARGIN_NUMBER_TEXT, "%lld",
                        (long long)((const int64_t *)v->values)[row]);
    return margin_number_print_f64(mg_vector_f64(v, row), text);
}

margin_status mg_category_name(const margin_column *column, double code, int64_t row,
                               const char *name, const char **category, margin_error *error) {
    *category = NULL;
    if (isnan(code)) return MARGIN_OK;
    bool good = code >= 0 && code < (double)column->category_count && code == floor(code);
    if (!good)
        return mg_fail_at(error, MARGIN_ERROR_DATA, (mg_place){.row = row + 1},
                          "row %lld has the code %s in column %s, which has %lld categories",
                          (long long)row + 1, mg_number(code).text, name,
                          (long long)column->category_count);
    *category = column->categories[(int64_t)code];
    return MARGIN_OK;
}

int64_t mg_first_categorical(const margin_data *data) {
    for (int64_t j = 0; data->columns && j < data->x.columns; j++)
        if (data->columns[j].kind == MARGIN_CATEGORICAL) return j;
    return -1;
}

/* ---- The whole ------------------------------------------------------------------------------ */

static margin_status take_options(const margin_write_options *given, margin_write_options *options,
                                  margin_error *error) {
    MG_TRY(mg_options_take(given, MG_SIZE_UP_TO(margin_write_options, labels),
                           "margin_write_options", options, sizeof *options, error));
    char separator = options->separator;
    bool letter = (separator >= 'a' && separator <= 'z') || (separator >= 'A' && separator <= 'Z');
    bool number = (separator >= '0' && separator <= '9') || strchr("+-.", separator);
    bool other = strchr("\"'\r\n ", separator) || (unsigned char)separator >= 0x80;
    MG_REQUIRE(!separator || !(letter || number || other), error, MARGIN_ERROR_ARGUMENT,
               "the separator cannot be '%c'; use one such as ',' ';' '|' or a tab", separator);
    return MARGIN_OK;
}

static margin_status write_format(const mg_write_job *job, margin_format format,
                                  margin_error *error) {
    bool binary = format == MARGIN_FORMAT_NPY || format == MARGIN_FORMAT_IDX;
    MG_REQUIRE(!binary || strcmp(job->path, "-") != 0, error, MARGIN_ERROR_ARGUMENT,
               "standard output takes CSV or svmlight; give npy and idx files a name");
    MG_REQUIRE(!job->options.labels || binary, error, MARGIN_ERROR_ARGUMENT,
               "%s: a labels file goes with npy and idx; CSV and svmlight hold the target "
               "themselves",
               job->path);
    MG_REQUIRE(mg_data_targets(job->data) == 1 || format == MARGIN_FORMAT_CSV ||
                   format == MARGIN_FORMAT_NPY,
               error, MARGIN_ERROR_DATA, "%s: %lld targets go into CSV or npy; this holds one",
               job->path, (long long)job->data->targets);
    switch (format) {
    case MARGIN_FORMAT_CSV:
        return mg_write_csv(job, error);
    case MARGIN_FORMAT_SVMLIGHT:
        return mg_write_svmlight(job, error);
    case MARGIN_FORMAT_NPY:
        return mg_write_npy(job, error);
    case MARGIN_FORMAT_IDX:
        return mg_write_idx(job, error);
    case MARGIN_FORMAT_ARROW:
        return mg_fail(
            error, MARGIN_ERROR_ARGUMENT,
            "%s: Arrow streams are read and not written; write CSV, svmlight, npy or idx",
            job->path);
    case MARGIN_FORMAT_AUTO:
        break;
    }
    return mg_fail(error, MARGIN_ERROR_ARGUMENT, "format %d is not known", (int)format);
}

static margin_status write_data(margin_context *context, const margin_data *data, const char *path,
                                const margin_write_options *options, margin_error *error) {
    mg_write_job job = {.context = context, .data = data, .path = path};
    margin_format format = MARGIN_FORMAT_AUTO;
    MG_TRY(mg_views_check_targets(context, data, error));
    MG_TRY(take_options(options, &job.options, error));
    MG_TRY(mg_output_check_name(path, error)); /* before its ending is looked at */
    MG_TRY(mg_format_find(path, job.options.format, &format, error));
    job.rows = data->selection ? data->selected : data->x.rows;
    return write_format(&job, format, error);
}

margin_status margin_data_write(margin_context *context, const margin_data *data, const char *path,
                                const margin_write_options *options, margin_error *error) {
    MG_GIVEN(error, {context, "context"}, {data, "data set"}, {path, "path"});
    margin_context call = mg_context_call(context);
    return mg_call_status(&call, write_data(&call, data, path, options, error),
                          "before all rows were written", error);
}
