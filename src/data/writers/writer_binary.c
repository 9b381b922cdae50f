/* npy and idx: the feature matrix in one file, the target in another.
 *
 * Both files are written to their ends before either appears under its name. */
#include "data/arrays/array.h"
#include "data/writers/writer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    NPY_ALIGNMENT = 64, /* of the first item in the file */
    NPY_HEADER = 256,   /* bytes that suffice for our headers */
    NPY_START = 10,     /* magic, version, length */
    IDX_HEADER = 12,
    IDX_BYTES = 0x08 /* the idx type of unsigned bytes */
};

/* ---- The two files -------------------------------------------------------------------------- */

typedef struct binary_file {
    const char *path;
    char header[NPY_HEADER];
    int64_t header_bytes;
    int64_t row_bytes;
    mg_format_rows format;
    const void *layout;
    mg_output *output;
} binary_file;

static margin_status write_file(const mg_write_job *job, binary_file *file, margin_error *error) {
    MG_TRY(mg_output_open(job->context->heap, file->path, &file->output, error));
    MG_TRY(mg_output_write(file->output, file->header, file->header_bytes, error));
    return mg_write_rows(job, file->layout, file->row_bytes, file->format, file->output, error);
}

static margin_status commit_file(binary_file *file, margin_error *error) {
    mg_output *output = file->output;
    file->output = NULL;
    return output ? mg_output_commit(output, error) : MARGIN_OK;
}

/* `labels->path` NULL: there is no second file. */
static margin_status write_files(const mg_write_job *job, binary_file *features,
                                 binary_file *labels, margin_error *error) {
    margin_status status;
    MG_GO(write_file(job, features, error));
    if (labels->path) MG_GO(write_file(job, labels, error));
    MG_GO(mg_output_finish(features->output, error));
    if (labels->path) MG_GO(mg_output_finish(labels->output, error));
    MG_GO(commit_file(features, error));
    status = commit_file(labels, error);
done:
    mg_output_abandon(features->output);
    mg_output_abandon(labels->output);
    return status;
}

static margin_status check_layout(const mg_write_job *job, const char *format,
                                  margin_error *error) {
    const margin_data *data = job->data;
    char name[32];
    MG_REQUIRE(data->x.columns > 0, error, MARGIN_ERROR_DATA, "%s: there are no columns to write",
               job->path);
    MG_REQUIRE(!data->weights.values, error, MARGIN_ERROR_DATA,
               "%s: %s has no place for sample weights; write CSV", job->path, format);
    int64_t categorical = mg_first_categorical(data);
    MG_REQUIRE(categorical < 0, error, MARGIN_ERROR_DATA,
               "%s: %s holds numbers only, but column %s has categories; write CSV or encode it "
               "first",
               job->path, format, mg_column_name(data->columns, categorical, name));
    MG_REQUIRE(
        !data->y.values || job->options.labels, error, MARGIN_ERROR_ARGUMENT,
        "%s: %s keeps the target in a file of its own; name it (margin_write_options.labels)",
        job->path, format);
    MG_REQUIRE(data->y.values || !job->options.labels, error, MARGIN_ERROR_ARGUMENT,
               "%s: there is no target to write to it", job->options.labels);
    MG_REQUIRE(!job->options.labels || strcmp(job->options.labels, job->path) != 0, error,
               MARGIN_ERROR_ARGUMENT, "%s: data and labels need two files", job->path);
    MG_REQUIRE(!job->options.labels || strcmp(job->options.labels, "-") != 0, error,
               MARGIN_ERROR_ARGUMENT, "labels cannot go to standard output; give a file name");
    return MARGIN_OK;
}

/* Room at the end of a block's text for `count` items of `bytes`. */
static margin_status take_room(mg_block_text *text, int64_t count, int64_t bytes, char **to,
                               margin_error *error) {
    *to = mg_block_room(text, count * bytes);
    if (!*to) return mg_no_memory(text->heap, count, (size_t)bytes, "the output buffers", error);
    text->length += count * bytes;
    return MARGIN_OK;
}

/* ---- npy ------------------------------------------------------------------------------------ */

/* Text categories as the fixed-width Unicode items that NumPy reads as strings. */
typedef struct npy_text {
    int64_t width; /* code points of the longest name, at least 1 */
} npy_text;

/* Version 1.0 with the dictionary filled up with blanks so that items are aligned. `columns` < 0:
 * one dimension. */
static void make_npy_header(binary_file *file, const char *kind, int64_t rows, int64_t columns) {
    char *text = file->header + NPY_START;
    int length = snprintf(text, NPY_HEADER - NPY_START,
                          "{'descr': '%c%s', 'fortran_order': False, 'shape': (%lld,",
                          mg_host_is_big_endian() ? '>' : '<', kind, (long long)rows);
    if (columns >= 0)
        length += snprintf(text + length, (size_t)(NPY_HEADER - NPY_START - length), " %lld",
                           (long long)columns);
    length += snprintf(text + length, (size_t)(NPY_HEADER - NPY_START - length), "), }");
    int total = (NPY_START + length + 1 + NPY_ALIGNMENT - 1) / NPY_ALIGNMENT * NPY_ALIGNMENT;
    memset(text + length, ' ', (size_t)(total - NPY_START - length));
    file->header[total - 1] = '\n';
    memcpy(file->header, "\x93NUMPY\x01\x00", 8);
    file->header[8] = (char)((total - NPY_START) & 0xff);
    file->header[9] = (char)((total - NPY_START) >> 8);
    file->header_bytes = total;
}

/* A row in its own type, zeros filled in. */
static void put_row(const margin_matrix *x, int64_t row, size_t size, char *to) {
    const char *values = x->values;
    if (!mg_is_csr(x)) {
        mg_rows_together(x, NULL, row, 1, to);
        return;
    }
    memset(to, 0, (size_t)x->columns * size);
    for (int64_t k = mg_row_start(x, row); k < mg_row_start(x, row + 1); k++)
        memcpy(to + (size_t)mg_column_index(x, k) * size, values + (size_t)k * size, size);
}

static margin_status format_npy_rows(const mg_write_job *job, const void *layout, int64_t first,
                                     int64_t count, mg_block_text *text, margin_error *error) {
    (void)layout;
    const margin_matrix *x = &job->data->x;
    const int64_t size = mg_type_size(x->value_type), row_bytes = x->columns * size;
    char *to = NULL;
    MG_TRY(take_room(text, count, row_bytes, &to, error));
    for (int64_t k = first; k < first + count && row_bytes > 0; k++, to += row_bytes)
        put_row(x, mg_written_row(job, k), (size_t)size, to);
    return MARGIN_OK;
}

static margin_status format_npy_labels(const mg_write_job *job, const void *layout, int64_t first,
                                       int64_t count, mg_block_text *text, margin_error *error) {
    (void)layout;
    const margin_vector *y = &job->data->y;
    const size_t size = (size_t)(mg_data_targets(job->data) * mg_type_size(y->type));
    char *to = NULL;
    MG_TRY(take_room(text, count, (int64_t)size, &to, error));
    for (int64_t k = first; k < first + count; k++, to += size)
        memcpy(to, (const char *)y->values + (size_t)mg_written_row(job, k) * size, size);
    return MARGIN_OK;
}

/* ---- Names of categories as Unicode items --------------------------------------------------- */

/* The code point that begins at *at, which moves behind it; a byte that begins none stands for
 * itself (Latin-1). */
static uint32_t next_code_point(const char **at) {
    const unsigned char *bytes = (const unsigned char *)*at;
    int length = mg_utf8_length(*at, (int64_t)strnlen(*at, 4));
    *at += length > 0 ? length : 1;
    if (length < 2) return bytes[0];
    uint32_t code = bytes[0] & (0x7fu >> length);
    for (int k = 1; k < length; k++)
        code = code << 6 | (bytes[k] & 0x3f);
    return code;
}

static npy_text measure_names(const margin_column *column) {
    npy_text layout = {1};
    for (int64_t k = 0; k < column->category_count; k++) {
        int64_t width = 0;
        for (const char *at = column->categories[k]; *at; width++)
            next_code_point(&at);
        layout.width = MG_MAX(layout.width, width);
    }
    return layout;
}

/* A missing label is an empty text. */
static margin_status format_npy_names(const mg_write_job *job, const void *layout, int64_t first,
                                      int64_t count, mg_block_text *text, margin_error *error) {
    const margin_data *data = job->data;
    const int64_t item_bytes = ((const npy_text *)layout)->width * 4;
    char *to = NULL;
    MG_TRY(take_room(text, count, item_bytes, &to, error));
    memset(to, 0, (size_t)(count * item_bytes));
    for (int64_t k = first; k < first + count; k++, to += item_bytes) {
        int64_t row = mg_written_row(job, k);
        const char *name;
        MG_TRY(mg_category_name(data->target, mg_vector_f64(&data->y, row), row, "the target",
                                &name, error));
        for (char *item = to; name && *name; item += 4) {
            uint32_t code = next_code_point(&name);
            memcpy(item, &code, 4);
        }
    }
    return MARGIN_OK;
}

static const char *npy_kind(margin_type type) {
    static const char *const kinds[] = {"f8", "f4", "i4", "i8", "u1",
                                        "i1", "i2", "u2", "u4"}; /* from MARGIN_F64 on */
    return kinds[type ? type - MARGIN_F64 : 0];
}

margin_status mg_write_npy(const mg_write_job *job, margin_error *error) {
    const margin_data *data = job->data;
    MG_TRY(check_layout(job, "npy", error));
    MG_REQUIRE(data->x.columns <= INT64_MAX / 8 / MG_MAX(job->rows, 1), error, MARGIN_ERROR_LIMIT,
               "%s: %lld x %lld numbers are more than a file can hold; write svmlight", job->path,
               (long long)job->rows, (long long)data->x.columns);
    binary_file features = {.path = job->path, .format = format_npy_rows};
    features.row_bytes = data->x.columns * mg_type_size(data->x.value_type);
    make_npy_header(&features, npy_kind(data->x.value_type), job->rows, data->x.columns);

    binary_file labels = {.path = job->options.labels, .format = format_npy_labels};
    npy_text names = {0};
    char kind[32];
    const int64_t targets = mg_data_targets(data);
    snprintf(kind, sizeof kind, "%s", npy_kind(data->y.type));
    labels.row_bytes = 8 * targets;
    for (int64_t t = 0; data->target && t < targets; t++)
        MG_REQUIRE(targets == 1 || data->target[t].kind == MARGIN_NUMERIC, error, MARGIN_ERROR_DATA,
                   "%s: the target %s has categories, and several targets are written as numbers; "
                   "write CSV",
                   job->options.labels, data->target[t].name ? data->target[t].name : "y");
    if (data->target && data->target->kind == MARGIN_CATEGORICAL) {
        names = measure_names(data->target);
        labels.format = format_npy_names;
        labels.layout = &names;
        labels.row_bytes = names.width * 4;
        snprintf(kind, sizeof kind, "U%lld", (long long)names.width);
    }
    make_npy_header(&labels, kind, job->rows, targets > 1 ? targets : -1);
    return write_files(job, &features, &labels, error);
}

/* ---- idx ------------------------------------------------------------------------------------ */

static void put_big_endian(char *to, int64_t value) {
    for (int k = 0; k < 4; k++)
        to[k] = (char)(value >> (24 - 8 * k) & 0xff);
}

static void make_idx_header(binary_file *file, int dimensions, int64_t rows, int64_t columns) {
    file->header[0] = file->header[1] = 0;
    file->header[2] = IDX_BYTES;
    file->header[3] = (char)dimensions;
    put_big_endian(file->header + 4, rows);
    put_big_endian(file->header + 8, columns);
    file->header_bytes = 4 + 4 * dimensions;
}

static margin_status put_byte(const mg_write_job *job, double value, int64_t row, const char *name,
                              char *to, margin_error *error) {
    if (!(value >= 0 && value <= 255 && value == floor(value)))
        return mg_fail_at(error, MARGIN_ERROR_DATA, (mg_place){.row = row + 1},
                          "%s: row %lld has %s in %s; idx files hold whole numbers from 0 to 255, "
                          "write npy or CSV",
                          job->path, (long long)row + 1, mg_number(value).text, name);
    *to = (char)(unsigned char)value;
    return MARGIN_OK;
}

static margin_status format_idx_rows(const mg_write_job *job, const void *layout, int64_t first,
                                     int64_t count, mg_block_text *text, margin_error *error) {
    (void)layout;
    const margin_matrix *x = &job->data->x;
    char *to = NULL;
    MG_TRY(take_room(text, count, x->columns, &to, error));
    memset(to, 0, (size_t)(count * x->columns));
    for (int64_t i = first; i < first + count; i++, to += x->columns) {
        const int64_t row = mg_written_row(job, i);
        const mg_row_span span = mg_span_of(x, row);
        for (int64_t k = span.first; k < span.last; k++) {
            char name[32];
            int64_t column = mg_span_column(x, span, k);
            double value = mg_stored_value(x, k);
            MG_TRY(put_byte(job, value, row, mg_column_name(job->data->columns, column, name),
                            to + column, error));
        }
    }
    return MARGIN_OK;
}

static margin_status format_idx_labels(const mg_write_job *job, const void *layout, int64_t first,
                                       int64_t count, mg_block_text *text, margin_error *error) {
    (void)layout;
    char *to = NULL;
    MG_TRY(take_room(text, count, 1, &to, error));
    for (int64_t k = 0; k < count; k++) {
        int64_t row = mg_written_row(job, first + k);
        MG_TRY(put_byte(job, mg_vector_f64(&job->data->y, row), row, "the target", to + k, error));
    }
    return MARGIN_OK;
}

margin_status mg_write_idx(const mg_write_job *job, margin_error *error) {
    const margin_data *data = job->data;
    MG_TRY(check_layout(job, "idx", error));
    MG_REQUIRE(!data->target || data->target->kind == MARGIN_NUMERIC, error, MARGIN_ERROR_DATA,
               "%s: idx holds numbers only, but the target has categories; write npy or CSV",
               job->path);
    MG_REQUIRE(job->rows <= UINT32_MAX && data->x.columns <= UINT32_MAX, error, MARGIN_ERROR_LIMIT,
               "%s: %lld x %lld is more than an idx file can say", job->path, (long long)job->rows,
               (long long)data->x.columns);
    binary_file features = {.path = job->path, .format = format_idx_rows};
    features.row_bytes = data->x.columns;
    make_idx_header(&features, 2, job->rows, data->x.columns);
    binary_file labels = {.path = job->options.labels, .format = format_idx_labels};
    labels.row_bytes = 1;
    make_idx_header(&labels, 1, job->rows, 0);
    return write_files(job, &features, &labels, error);
}
