/* CSV: a header, the features in order, the weights, the target or targets last.
 *
 * Numbers print in the shortest form that reads back to the same value, missing values as empty
 * cells, categories by name. Texts are put in quotes where a reader might take them for something
 * else. */
#include "base/text/nearest.h"
#include "base/text/number_text.h"
#include "data/csv/csv_cell.h"
#include "data/writers/writer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Name of the column that has none of its own. */
static const char weight_name[] = "weight";

enum { NUMBER_CELL = MARGIN_NUMBER_TEXT + 1 }; /* a number and its separator */

/* Cells of one categorical column, ready to be copied. */
typedef struct category_cells {
    char *text;      /* all cells behind each other */
    int64_t *starts; /* category_count + 1 offsets; NULL: the column is numeric */
} category_cells;

typedef struct csv_layout {
    char separator;
    bool lone;                /* one column: an empty cell would be a blank line */
    category_cells *features; /* NULL: all numeric */
    category_cells *targets;  /* NULL: the same */
} csv_layout;

/* The name of a target; of one that has none y, or y1, y2, ... */
static const char *target_name(const margin_data *data, int64_t t, char buffer[32]) {
    if (data->target && data->target[t].name) return data->target[t].name;
    if (data->targets <= 1) return "y";
    snprintf(buffer, 32, "y%lld", (long long)t + 1);
    return buffer;
}

/* ---- Cells of text -------------------------------------------------------------------------- */

static bool needs_quotes(const char *text, char separator) {
    const size_t length = strlen(text);
    if (length == 0 || strpbrk(text, "\"\r\n,;\t") || strchr(text, separator)) return true;
    if (text[0] == '\'' || mg_csv_is_blank(text[0]) || mg_csv_is_blank(text[length - 1]))
        return true;
    mg_csv_cell cell = {text, (int64_t)length, MG_CSV_PLAIN};
    return mg_csv_content_of(&cell) != MG_CSV_IS_TEXT;
}

static int64_t cell_bytes(const char *text) {
    int64_t bytes = 2;
    for (; *text; text++)
        bytes += *text == '"' ? 2 : 1;
    return bytes;
}

/* Writes the cell and returns the place behind it; cell_bytes(text) bytes suffice. */
static char *put_cell(char *to, const char *text, char separator) {
    if (!needs_quotes(text, separator)) {
        size_t length = strlen(text);
        memcpy(to, text, length);
        return to + length;
    }
    *to++ = '"';
    for (; *text; text++) {
        if (*text == '"') *to++ = '"';
        *to++ = *text;
    }
    *to++ = '"';
    return to;
}

static void free_cells(mg_heap *heap, category_cells *cells) {
    MG_FREE(heap, cells->text, cells->starts);
    *cells = (category_cells){0};
}

/* Quotes every category once. Owned by `cells` also after a failure. */
static margin_status prepare_cells(mg_heap *heap, const margin_column *column, char separator,
                                   category_cells *cells, margin_error *error) {
    if (column->kind != MARGIN_CATEGORICAL) return MARGIN_OK;
    int64_t bytes = 0;
    for (int64_t k = 0; k < column->category_count; k++)
        bytes += cell_bytes(column->categories[k]);
    MG_NEW(heap, cells->text, bytes, "the names of the categories", error);
    MG_NEW(heap, cells->starts, column->category_count + 1, "the names of the categories", error);
    char *end = cells->text;
    for (int64_t k = 0; k < column->category_count; k++) {
        cells->starts[k] = end - cells->text;
        end = put_cell(end, column->categories[k], separator);
    }
    cells->starts[column->category_count] = end - cells->text;
    return MARGIN_OK;
}

/* What the file cannot keep: CSV has no mark that tells a text from a number or from nothing. */
static void warn_of_loss(const mg_write_job *job, const margin_column *column, const char *name) {
    if (column->kind != MARGIN_CATEGORICAL || column->category_count == 0) return;
    bool numbers = false, digits = false;
    for (int64_t k = 0; k < column->category_count; k++) {
        const char *text = column->categories[k];
        mg_csv_cell cell = {text, (int64_t)strlen(text), MG_CSV_PLAIN};
        mg_csv_content content = mg_csv_content_of(&cell);
        numbers |= content == MG_CSV_IS_NUMBER;
        digits |= mg_number_loses_digits(text, cell.length);
        if (content != MG_CSV_MISSING) continue;
        mg_log(job->context, MARGIN_LOG_WARNING,
               "%s: the category '%s' of column %s will read back as a missing value", job->path,
               text, name);
    }
    if (numbers && !digits)
        mg_log(job->context, MARGIN_LOG_NOTE,
               "%s: categories of column %s look like numbers; read it back as categories "
               "(margin_read_options.categorical)",
               job->path, name);
}

static margin_status prepare_targets(const mg_write_job *job, csv_layout *layout,
                                     margin_error *error) {
    const margin_data *data = job->data;
    const int64_t targets = mg_data_targets(data);
    mg_heap *heap = job->context->heap;
    char name[32];
    MG_NEW_ZERO(heap, layout->targets, targets, "the names of the categories", error);
    for (int64_t t = 0; t < targets; t++) {
        MG_TRY(
            prepare_cells(heap, &data->target[t], layout->separator, &layout->targets[t], error));
        warn_of_loss(job, &data->target[t], target_name(data, t, name));
    }
    return MARGIN_OK;
}

static margin_status prepare_layout(const mg_write_job *job, csv_layout *layout,
                                    margin_error *error) {
    const margin_data *data = job->data;
    mg_heap *heap = job->context->heap;
    int64_t length = (int64_t)strlen(job->path);
    bool tabs =
        mg_ends_with(job->path, length, ".tsv") || mg_ends_with(job->path, length, ".tsv.gz");
    layout->separator = job->options.separator ? job->options.separator : tabs ? '\t' : ',';
    layout->lone = data->x.columns + (data->weights.values != NULL) +
                       (data->y.values ? mg_data_targets(data) : 0) ==
                   1;
    if (mg_first_categorical(data) >= 0) {
        MG_NEW_ZERO(heap, layout->features, data->x.columns, "the names of the categories", error);
        char name[32];
        for (int64_t j = 0; j < data->x.columns; j++) {
            MG_TRY(prepare_cells(heap, &data->columns[j], layout->separator, &layout->features[j],
                                 error));
            warn_of_loss(job, &data->columns[j], mg_column_name(data->columns, j, name));
        }
    }
    return data->y.values && data->target ? prepare_targets(job, layout, error) : MARGIN_OK;
}

static void free_layout(const mg_write_job *job, csv_layout *layout) {
    mg_heap *heap = job->context->heap;
    for (int64_t j = 0; layout->features && j < job->data->x.columns; j++)
        free_cells(heap, &layout->features[j]);
    mg_free(heap, layout->features);
    for (int64_t t = 0; layout->targets && t < mg_data_targets(job->data); t++)
        free_cells(heap, &layout->targets[t]);
    mg_free(heap, layout->targets);
}

/* ---- Header --------------------------------------------------------------------------------- */

static margin_status add_name(mg_block_text *text, const char *name, char separator, char ending,
                              margin_error *error) {
    int64_t bytes = cell_bytes(name) + 1;
    char *to = mg_block_room(text, bytes);
    if (!to) return mg_no_memory(text->heap, bytes, 1, "the header", error);
    to = put_cell(to, name, separator);
    *to++ = ending;
    text->length = to - text->data;
    return MARGIN_OK;
}

static margin_status format_header(const mg_write_job *job, const csv_layout *layout,
                                   mg_block_text *text, margin_error *error) {
    const margin_data *data = job->data;
    const char separator = layout->separator;
    char buffer[32];
    for (int64_t j = 0; j < data->x.columns; j++)
        MG_TRY(
            add_name(text, mg_column_name(data->columns, j, buffer), separator, separator, error));
    if (data->weights.values) MG_TRY(add_name(text, weight_name, separator, separator, error));
    for (int64_t t = 0; data->y.values && t < mg_data_targets(data); t++)
        MG_TRY(add_name(text, target_name(data, t, buffer), separator, separator, error));
    if (text->length > 0) text->data[text->length - 1] = '\n';
    return MARGIN_OK;
}

static margin_status write_header(const mg_write_job *job, const csv_layout *layout,
                                  mg_output *output, margin_error *error) {
    if (job->options.no_header) return MARGIN_OK;
    mg_block_text text = {.heap = job->context->heap};
    margin_status status = format_header(job, layout, &text, error);
    if (status == MARGIN_OK) status = mg_output_write(output, text.data, text.length, error);
    mg_free(text.heap, text.data);
    return status;
}

/* ---- Rows ----------------------------------------------------------------------------------- */

/* One row being formatted. `to` has room for every number of the row; categories make their own. */
typedef struct row_text {
    const csv_layout *layout;
    mg_block_text *text;
    int64_t numbers; /* number cells of a row */
    char *to;
} row_text;

static char *put_missing(const csv_layout *layout, char *to) {
    if (!layout->lone) return to;
    memcpy(to, "nan", 3);
    return to + 3;
}

static margin_status add_category(row_text *row, const margin_column *column,
                                  const category_cells *cells, double code, int64_t data_row,
                                  const char *name, margin_error *error) {
    const char *category;
    MG_TRY(mg_category_name(column, code, data_row, name, &category, error));
    if (!category) {
        row->to = put_missing(row->layout, row->to);
        return MARGIN_OK;
    }
    const int64_t *start = cells->starts + (int64_t)code;
    const int64_t bytes = start[1] - start[0];
    row->text->length = row->to - row->text->data;
    row->to = mg_block_room(row->text, bytes + row->numbers * NUMBER_CELL);
    if (!row->to) return mg_no_memory(row->text->heap, bytes, 1, "the output buffers", error);
    memcpy(row->to, cells->text + start[0], (size_t)bytes);
    row->to += bytes;
    return MARGIN_OK;
}

static void add_number(row_text *row, double value, bool narrow) {
    if (isnan(value))
        row->to = put_missing(row->layout, row->to);
    else
        row->to += narrow ? margin_number_print_f32((float)value, row->to)
                          : margin_number_print_f64(value, row->to);
}

static void add_element(row_text *row, const margin_vector *v, int64_t data_row) {
    if (isnan(mg_vector_f64(v, data_row)))
        row->to = put_missing(row->layout, row->to);
    else
        row->to += mg_print_element(v, data_row, row->to);
}

/* What is not stored of a sparse row is zero, and for a category that means the first one. */
static margin_status add_features(row_text *row, const mg_write_job *job, int64_t data_row,
                                  margin_error *error) {
    const margin_data *data = job->data;
    const margin_matrix *x = &data->x;
    const category_cells *cells = row->layout->features;
    const bool narrow = x->value_type == MARGIN_F32;
    const mg_row_span span = mg_span_of(x, data_row);
    int64_t k = span.first;
    char name[32];
    for (int64_t j = 0; j < x->columns; j++) {
        const bool stored = k < span.last && mg_span_column(x, span, k) == j;
        const double value = stored ? mg_stored_value(x, k) : 0;
        k += stored;
        if (cells && cells[j].starts)
            MG_TRY(add_category(row, &data->columns[j], &cells[j], value, data_row,
                                mg_column_name(data->columns, j, name), error));
        else if (stored)
            add_number(row, value, narrow);
        else
            *row->to++ = '0';
        *row->to++ = row->layout->separator;
    }
    return MARGIN_OK;
}

static margin_status add_targets(row_text *row, const mg_write_job *job, int64_t data_row,
                                 margin_error *error) {
    const margin_data *data = job->data;
    const category_cells *cells = row->layout->targets;
    const int64_t targets = mg_data_targets(data);
    char name[32];
    for (int64_t t = 0; t < targets; t++) {
        const int64_t at = data_row * targets + t;
        if (cells && cells[t].starts)
            MG_TRY(add_category(row, &data->target[t], &cells[t], mg_vector_f64(&data->y, at),
                                data_row, target_name(data, t, name), error));
        else
            add_element(row, &data->y, at);
        *row->to++ = row->layout->separator;
    }
    return MARGIN_OK;
}

static margin_status format_rows(const mg_write_job *job, const void *layout, int64_t first,
                                 int64_t count, mg_block_text *text, margin_error *error) {
    const margin_data *data = job->data;
    row_text row = {layout, text, data->x.columns + 1 + mg_data_targets(data), NULL};
    for (int64_t k = first; k < first + count; k++) {
        int64_t data_row = mg_written_row(job, k);
        if (mg_cancelled(job->context)) return mg_fail_cancelled(error);
        row.to = mg_block_room(text, row.numbers * NUMBER_CELL);
        if (!row.to)
            return mg_no_memory(text->heap, row.numbers, NUMBER_CELL, "the output buffers", error);
        MG_TRY(add_features(&row, job, data_row, error));
        if (data->weights.values) {
            add_element(&row, &data->weights, data_row);
            *row.to++ = row.layout->separator;
        }
        if (data->y.values) MG_TRY(add_targets(&row, job, data_row, error));
        row.to[-1] = '\n'; /* in place of the last separator */
        text->length = row.to - text->data;
    }
    return MARGIN_OK;
}

margin_status mg_write_csv(const mg_write_job *job, margin_error *error) {
    const margin_data *data = job->data;
    MG_REQUIRE(data->x.columns > 0 || data->y.values || data->weights.values, error,
               MARGIN_ERROR_DATA, "%s: there are no columns to write", job->path);
    MG_REQUIRE(data->x.columns < MARGIN_MAX_CSV_COLUMNS - mg_data_targets(data), error,
               MARGIN_ERROR_LIMIT,
               "%s: %lld columns are more than a CSV file may have to be read again (%d); write "
               "svmlight or npy",
               job->path, (long long)data->x.columns, MARGIN_MAX_CSV_COLUMNS);
    csv_layout layout = {0};
    mg_output *output = NULL;
    margin_status status;
    MG_GO(prepare_layout(job, &layout, error));
    MG_GO(mg_output_open(job->context->heap, job->path, &output, error));
    MG_GO(write_header(job, &layout, output, error));
    MG_GO(mg_write_rows(job, &layout, (data->x.columns + 1 + mg_data_targets(data)) * 16,
                        format_rows, output, error));
    status = mg_output_commit(output, error);
    output = NULL;
done:
    mg_output_abandon(output);
    free_layout(job, &layout);
    return status;
}
