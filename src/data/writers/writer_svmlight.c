/* svmlight: the label, then index:value for every number that is not zero, a line for each row. */
#include "data/csv/csv_cell.h"
#include "data/svmlight/svmlight_block.h"
#include "data/writers/writer.h"

#include <math.h>
#include <string.h>

enum {
    INDEX_TEXT = 20,
    PAIR_TEXT = INDEX_TEXT + 2 + MARGIN_NUMBER_TEXT /* " index:value" */
};

/* ---- What the format cannot hold ------------------------------------------------------------ */

/* True if a reader gets this text back as the label it was. */
static bool is_label(const char *name) {
    double value;
    size_t length = strlen(name);
    if (mg_csv_is_missing(name, (int64_t)length)) return false;
    if (margin_number_parse_f64(name, length, &value)) return isfinite(value);
    for (const char *at = name; *at; at++)
        if ((unsigned char)*at <= ' ' || *at == 0x7f || strchr(":,#", *at)) return false;
    return true;
}

static margin_status check_target(const mg_write_job *job, margin_error *error) {
    const margin_column *target = job->data->target;
    if (!target || target->kind != MARGIN_CATEGORICAL) return MARGIN_OK;
    for (int64_t k = 0; k < target->category_count; k++)
        MG_REQUIRE(is_label(target->categories[k]), error, MARGIN_ERROR_DATA,
                   "%s: the class '%s' cannot be a label in an svmlight file (blanks, ':', ',' and "
                   "'#' separate there, and it must not look like a missing value); write CSV",
                   job->path, target->categories[k]);
    return MARGIN_OK;
}

static margin_status check_layout(const mg_write_job *job, margin_error *error) {
    const margin_data *data = job->data;
    char name[32];
    MG_REQUIRE(data->y.values, error, MARGIN_ERROR_DATA,
               "%s: svmlight needs a label in every row, but there is no target", job->path);
    MG_REQUIRE(!data->weights.values, error, MARGIN_ERROR_DATA,
               "%s: svmlight has no place for sample weights; write CSV", job->path);
    int64_t categorical = mg_first_categorical(data);
    MG_REQUIRE(categorical < 0, error, MARGIN_ERROR_DATA,
               "%s: svmlight holds numbers only, but column %s has categories; write CSV or encode "
               "it first",
               job->path, mg_column_name(data->columns, categorical, name));
    int64_t most = MG_SVMLIGHT_LAST_INDEX + (job->options.zero_based != 0);
    MG_REQUIRE(data->x.columns <= most, error, MARGIN_ERROR_LIMIT,
               "%s: %lld columns are more than the %lld that svmlight files may have", job->path,
               (long long)data->x.columns, (long long)most);
    return check_target(job, error);
}

static margin_status fail_number(const mg_write_job *job, int64_t row, const char *what,
                                 double value, margin_error *error) {
    return mg_fail_at(error, MARGIN_ERROR_DATA, (mg_place){.row = row + 1},
                      "%s: row %lld has %s in %s; svmlight has no sign for it, write CSV",
                      job->path, (long long)row + 1, isnan(value) ? "no value" : "infinity", what);
}

/* ---- Rows ----------------------------------------------------------------------------------- */

static char *put_index(char *to, int64_t index) {
    char digits[INDEX_TEXT];
    int at = INDEX_TEXT;
    do {
        digits[--at] = (char)('0' + index % 10);
        index /= 10;
    } while (index > 0);
    memcpy(to, digits + at, (size_t)(INDEX_TEXT - at));
    return to + INDEX_TEXT - at;
}

/* A pair unless the value is zero; NULL if it is not finite. */
static char *put_pair(char *to, const margin_matrix *x, int64_t k, int64_t index) {
    const bool narrow = x->value_type == MARGIN_F32;
    const double value = mg_stored_value(x, k);
    if (value == 0) return to;
    if (!isfinite(value)) return NULL;
    *to++ = ' ';
    to = put_index(to, index);
    *to++ = ':';
    return to + (narrow ? margin_number_print_f32((float)value, to)
                        : margin_number_print_f64(value, to));
}

static margin_status fail_feature(const mg_write_job *job, int64_t row, int64_t k, int64_t column,
                                  margin_error *error) {
    const margin_matrix *x = &job->data->x;
    char buffer[32], where[128] = "column ";
    const char *name = mg_column_name(job->data->columns, column, buffer);
    strncat(where, name, sizeof where - strlen(where) - 1);
    return fail_number(job, row, where, mg_stored_value(x, k), error);
}

static margin_status add_pairs(const mg_write_job *job, int64_t row, mg_block_text *text,
                               margin_error *error) {
    const margin_matrix *x = &job->data->x;
    const int64_t base = job->options.zero_based ? 0 : 1;
    const mg_row_span span = mg_span_of(x, row);
    const int64_t bytes = (span.last - span.first) * PAIR_TEXT + 1;
    char *to = mg_block_room(text, bytes);
    if (!to) return mg_no_memory(text->heap, bytes, 1, "the output buffers", error);
    for (int64_t k = span.first; k < span.last; k++) {
        int64_t column = mg_span_column(x, span, k);
        to = put_pair(to, x, k, column + base);
        if (!to) return fail_feature(job, row, k, column, error);
    }
    *to++ = '\n';
    text->length = to - text->data;
    return MARGIN_OK;
}

static margin_status add_label(const mg_write_job *job, int64_t row, mg_block_text *text,
                               margin_error *error) {
    const margin_data *data = job->data;
    const double value = mg_vector_f64(&data->y, row);
    if (!isfinite(value)) return fail_number(job, row, "the target", value, error);
    char number[MARGIN_NUMBER_TEXT];
    const char *label = number;
    size_t length;
    if (data->target && data->target->kind == MARGIN_CATEGORICAL) {
        MG_TRY(mg_category_name(data->target, value, row, "the target", &label, error));
        length = strlen(label);
    } else {
        length = (size_t)mg_print_element(&data->y, row, number);
    }
    char *to = mg_block_room(text, (int64_t)length);
    if (!to) return mg_no_memory(text->heap, (int64_t)length, 1, "the output buffers", error);
    memcpy(to, label, length);
    text->length += (int64_t)length;
    return MARGIN_OK;
}

static margin_status format_rows(const mg_write_job *job, const void *layout, int64_t first,
                                 int64_t count, mg_block_text *text, margin_error *error) {
    (void)layout;
    for (int64_t k = first; k < first + count; k++) {
        if (mg_cancelled(job->context)) return mg_fail_cancelled(error);
        MG_TRY(add_label(job, mg_written_row(job, k), text, error));
        MG_TRY(add_pairs(job, mg_written_row(job, k), text, error));
    }
    return MARGIN_OK;
}

margin_status mg_write_svmlight(const mg_write_job *job, margin_error *error) {
    const margin_matrix *x = &job->data->x;
    const int64_t row_bytes = (mg_is_csr(x) ? 2 * mg_row_bytes(x) : 16 * x->columns) + 8;
    mg_output *output = NULL;
    margin_status status;
    MG_TRY(check_layout(job, error));
    MG_GO(mg_output_open(job->context->heap, job->path, &output, error));
    MG_GO(mg_write_rows(job, NULL, row_bytes, format_rows, output, error));
    status = mg_output_commit(output, error);
    output = NULL;
done:
    mg_output_abandon(output);
    return status;
}
