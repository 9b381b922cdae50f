/* The stream's schema and batches, and what of them can be checked. */
#include "data/arrow/arrow_batches.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { FIRST_ROOM = 16, SHOWN_BYTES = 60 };
static const int64_t most_rows = INT64_MAX / 64; /* so that places in buffers count in bytes */
static const int64_t most_bare_rows = 1 << 20; /* that hold no value, so that nothing bounds them */

/* ---- What the stream says ------------------------------------------------------------------- */

static margin_status fail_stream(const mg_arrow *arrow, int code) {
    const char *words = arrow->stream->get_last_error(arrow->stream);
    if (!words || !*words) words = strerror(code);
    if (arrow->bytes && code == ENOMEM)
        return mg_no_memory(arrow->heap, 1, 0, "the batches of an Arrow stream", arrow->error);
    if (arrow->bytes)
        return mg_fail(arrow->error, MARGIN_ERROR_FORMAT,
                       "%s is not readable as an Arrow stream: %.600s", arrow->name, words);
    return mg_fail_file(arrow->error, code, "%s broke off: %.600s", arrow->name, words);
}

static margin_status fail_batch(const mg_arrow *arrow, const char *what) {
    return mg_fail(arrow->error, MARGIN_ERROR_FORMAT,
                   "%s: batch %lld %s; its producer is to be mended", arrow->name,
                   (long long)arrow->batch_count, what);
}

static margin_status fail_column(const mg_arrow *arrow, const mg_arrow_column *column,
                                 const char *what) {
    return mg_fail(arrow->error, MARGIN_ERROR_FORMAT,
                   "%s: batch %lld: column '%.*s' %s; its producer is to be mended", arrow->name,
                   (long long)arrow->batch_count, SHOWN_BYTES, column->name, what);
}

/* ---- Types ---------------------------------------------------------------------------------- */

static mg_arrow_type type_of(const char *format) {
    static const struct {
        const char *format;
        mg_arrow_type type;
    } known[] = {
        {"c", {MG_ARROW_NUMBER, MG_ARRAY_I8, 1, MG_ARROW_OTHER}},
        {"C", {MG_ARROW_NUMBER, MG_ARRAY_U8, 1, MG_ARROW_OTHER}},
        {"s", {MG_ARROW_NUMBER, MG_ARRAY_I16, 2, MG_ARROW_OTHER}},
        {"S", {MG_ARROW_NUMBER, MG_ARRAY_U16, 2, MG_ARROW_OTHER}},
        {"i", {MG_ARROW_NUMBER, MG_ARRAY_I32, 4, MG_ARROW_OTHER}},
        {"I", {MG_ARROW_NUMBER, MG_ARRAY_U32, 4, MG_ARROW_OTHER}},
        {"l", {MG_ARROW_NUMBER, MG_ARRAY_I64, 8, MG_ARROW_OTHER}},
        {"L", {MG_ARROW_NUMBER, MG_ARRAY_U64, 8, MG_ARROW_OTHER}},
        {"e", {MG_ARROW_NUMBER, MG_ARRAY_F16, 2, MG_ARROW_OTHER}},
        {"f", {MG_ARROW_NUMBER, MG_ARRAY_F32, 4, MG_ARROW_OTHER}},
        {"g", {MG_ARROW_NUMBER, MG_ARRAY_F64, 8, MG_ARROW_OTHER}},
        {"b", {.form = MG_ARROW_BITS}},
        {"n", {.form = MG_ARROW_NULLS}},
        {"u", {.form = MG_ARROW_TEXT}},
        {"U", {.form = MG_ARROW_LARGE_TEXT}},
        {"vu", {.form = MG_ARROW_VIEWS}},
    };
    for (int k = 0; format && k < MG_LENGTH(known); k++)
        if (strcmp(format, known[k].format) == 0) return known[k].type;
    return (mg_arrow_type){.form = MG_ARROW_OTHER};
}

static mg_arrow_type column_type(const struct ArrowSchema *schema) {
    mg_arrow_type type = type_of(schema->format);
    if (!schema->dictionary) return type;
    const bool whole = type.form == MG_ARROW_NUMBER && type.number != MG_ARRAY_F16 &&
                       type.number != MG_ARRAY_F32 && type.number != MG_ARRAY_F64;
    type.values = type_of(schema->dictionary->format).form;
    if (!whole || type.values < MG_ARROW_TEXT) type.form = MG_ARROW_OTHER;
    return type;
}

static margin_status read_columns(mg_arrow *arrow) {
    const int64_t count = arrow->schema.n_children;
    MG_TRY(mg_columns_numbered(arrow->heap, "x", count, &arrow->numbered, arrow->error));
    MG_NEW_ZERO(arrow->heap, arrow->columns, count, "the columns of a table", arrow->error);
    for (int64_t j = 0; j < count; j++) {
        const struct ArrowSchema *child = arrow->schema.children[j];
        mg_arrow_column *column = &arrow->columns[j];
        column->name = arrow->numbered.items[j].name;
        MG_REQUIRE(child && child->format, arrow->error, MARGIN_ERROR_FORMAT,
                   "%s: its schema lacks column %lld", arrow->name, (long long)j + 1);
        if (child->name && *child->name) column->name = child->name;
        MG_REQUIRE(mg_is_utf8(column->name, (int64_t)strlen(column->name)), arrow->error,
                   MARGIN_ERROR_FORMAT, "%s: the name of column %lld is not UTF-8", arrow->name,
                   (long long)j + 1);
        column->type = column_type(child);
    }
    return MARGIN_OK;
}

margin_status mg_arrow_read_schema(mg_arrow *arrow) {
    struct ArrowSchema *schema = &arrow->schema;
    const int code = arrow->stream->get_schema(arrow->stream, schema);
    if (code) {
        *schema = (struct ArrowSchema){0};
        return fail_stream(arrow, code);
    }
    MG_REQUIRE(schema->release && schema->format, arrow->error, MARGIN_ERROR_FORMAT,
               "%s has no schema", arrow->name);
    MG_REQUIRE(
        strcmp(schema->format, "+s") == 0 && !schema->dictionary, arrow->error, MARGIN_ERROR_FORMAT,
        "%s is one of single values (format %.40s) and not of rows with named columns (+s): give "
        "it as a table",
        arrow->name, schema->format);
    MG_REQUIRE(schema->n_children > 0 && schema->children, arrow->error, MARGIN_ERROR_DATA,
               "%s has no columns", arrow->name);
    MG_REQUIRE(schema->n_children <= MARGIN_MAX_CSV_COLUMNS, arrow->error, MARGIN_ERROR_LIMIT,
               "%s has %lld columns, more than the limit of %d", arrow->name,
               (long long)schema->n_children, (int)MARGIN_MAX_CSV_COLUMNS);
    return read_columns(arrow);
}

/* ---- Batches -------------------------------------------------------------------------------- */

/* Buffers of a layout, its bitmap included; of views: at least. */
static int64_t buffers_of(mg_arrow_form form) {
    static const int64_t buffers[] = {[MG_ARROW_NUMBER] = 2,
                                      [MG_ARROW_BITS] = 2,
                                      [MG_ARROW_TEXT] = 3,
                                      [MG_ARROW_LARGE_TEXT] = 3,
                                      [MG_ARROW_VIEWS] = 3};
    return buffers[form];
}

/* What is wrong with lengths and buffers of an array of values; NULL: nothing that can be seen. */
static const char *find_fault(const struct ArrowArray *array, mg_arrow_form form, int64_t rows) {
    const int64_t buffers = buffers_of(form);
    if (!array->release) return "has been released already";
    if (array->length < 0 || array->offset < 0 || array->offset > most_rows - array->length)
        return "has a length or an offset that cannot be";
    if (array->length < rows) return "has fewer values than the batch has rows";
    if (buffers == 0) return NULL;
    if (array->null_count < -1 || array->null_count > array->length)
        return "counts more nulls than values";
    if (form == MG_ARROW_VIEWS ? array->n_buffers < buffers : array->n_buffers != buffers)
        return "has another number of buffers than its type";
    if (!array->buffers) return "has no buffers";
    if (array->null_count > 0 && !array->buffers[0])
        return "has nulls and no bitmap that says where";
    if (array->length > 0 && !array->buffers[1]) return "has no values";
    if (form == MG_ARROW_VIEWS && array->n_buffers > buffers &&
        !array->buffers[array->n_buffers - 1])
        return "has texts and no sizes of their buffers";
    return NULL;
}

static margin_status check_column(const mg_arrow *arrow, const mg_arrow_column *column,
                                  const struct ArrowArray *array, int64_t rows) {
    if (column->plan.role == MG_ROLE_IGNORED) return MARGIN_OK;
    if (!array) return fail_column(arrow, column, "is not there");
    const char *fault = find_fault(array, column->type.form, rows);
    if (!fault && column->type.values) {
        fault = array->dictionary ? find_fault(array->dictionary, column->type.values, 0)
                                  : "has codes and no dictionary";
    }
    return fault ? fail_column(arrow, column, fault) : MARGIN_OK;
}

static margin_status check_batch(const mg_arrow *arrow, const struct ArrowArray *array) {
    if (array->length < 0 || array->offset < 0 || array->offset > most_rows - array->length)
        return fail_batch(arrow, "has a length or an offset that cannot be");
    if (array->length > most_rows - arrow->rows)
        return fail_batch(arrow, "has more rows than can be counted");
    if (array->n_children != arrow->schema.n_children || !array->children)
        return fail_batch(arrow, "has another number of columns than the schema");
    if (array->null_count > 0 && !(array->n_buffers > 0 && array->buffers && array->buffers[0]))
        return fail_batch(arrow, "has rows that are null and no bitmap that says which");
    for (int64_t j = 0; j < array->n_children; j++)
        MG_TRY(check_column(arrow, &arrow->columns[j], array->children[j],
                            array->offset + array->length));
    return MARGIN_OK;
}

static margin_status make_room(mg_arrow *arrow) {
    if (arrow->batch_count < arrow->batch_room) return MARGIN_OK;
    const int64_t room = arrow->batch_room ? 2 * arrow->batch_room : FIRST_ROOM;
    mg_arrow_batch *batches = mg_resize(arrow->heap, arrow->batches, room, sizeof *batches);
    if (!batches)
        return mg_no_memory(arrow->heap, room, sizeof *batches, "the batches of a stream",
                            arrow->error);
    arrow->batches = batches;
    arrow->batch_room = room;
    return MARGIN_OK;
}

/* *more is false behind the last one. */
static margin_status read_batch(mg_arrow *arrow, bool *more) {
    MG_TRY(make_room(arrow));
    mg_arrow_batch *batch = &arrow->batches[arrow->batch_count];
    *batch = (mg_arrow_batch){.row = arrow->rows};
    const int code = arrow->stream->get_next(arrow->stream, &batch->array);
    if (code) return fail_stream(arrow, code);
    *more = batch->array.release != NULL;
    if (!*more) return MARGIN_OK;
    arrow->batch_count++;
    MG_TRY(check_batch(arrow, &batch->array));
    arrow->rows += batch->array.length;
    if (batch->array.length > 0) return MARGIN_OK;
    batch->array.release(&batch->array);
    arrow->batch_count--;
    return MARGIN_OK;
}

/* Whether a column takes memory of the producer for each row. */
static bool has_values(const mg_arrow *arrow) {
    for (int64_t j = 0; j < arrow->schema.n_children; j++)
        if (buffers_of(arrow->columns[j].type.form) > 0) return true;
    return false;
}

margin_status mg_arrow_read_batches(mg_arrow *arrow) {
    const int64_t most = has_values(arrow) ? most_rows : most_bare_rows;
    for (bool more = true; more;) {
        if (mg_cancelled(arrow->context)) return mg_fail_cancelled(arrow->error);
        MG_TRY(read_batch(arrow, &more));
        MG_REQUIRE(
            arrow->rows <= most, arrow->error, MARGIN_ERROR_LIMIT,
            "%s has %lld rows and no value: all columns that are read are of type null, and at "
            "most %lld such rows are read",
            arrow->name, (long long)arrow->rows, (long long)most);
        mg_progress(arrow->context, "reading", (double)arrow->rows, (double)NAN, (double)NAN);
    }
    MG_REQUIRE(arrow->rows > 0, arrow->error, MARGIN_ERROR_DATA, "%s has no rows", arrow->name);
    return MARGIN_OK;
}

void mg_arrow_release(mg_arrow *arrow) {
    for (int64_t b = 0; b < arrow->batch_count; b++)
        arrow->batches[b].array.release(&arrow->batches[b].array);
    if (arrow->schema.release) arrow->schema.release(&arrow->schema);
}

/* ---- Pieces --------------------------------------------------------------------------------- */

static const uint8_t *bitmap_of(const struct ArrowArray *array) {
    return array->null_count != 0 && array->n_buffers > 0 && array->buffers ? array->buffers[0]
                                                                            : NULL;
}

mg_arrow_piece mg_arrow_piece_of(const mg_arrow *arrow, const mg_arrow_batch *batch,
                                 int64_t column) {
    const struct ArrowArray *rows = &batch->array, *array = rows->children[column];
    const mg_arrow_column *of = &arrow->columns[column];
    return (mg_arrow_piece){.column = of,
                            .array = array,
                            .first = array->offset + rows->offset,
                            .there = of->type.form == MG_ARROW_NULLS ? NULL : bitmap_of(array),
                            .around = bitmap_of(rows),
                            .outer = rows->offset,
                            .row = batch->row,
                            .rows = rows->length};
}

mg_array mg_arrow_numbers(const mg_arrow_piece *piece) {
    const mg_arrow_type *type = &piece->column->type;
    const char *values = piece->array->buffers[1];
    return (mg_array){.first = values + piece->first * type->bytes,
                      .kind = type->number,
                      .item_bytes = type->bytes,
                      .big_endian = mg_host_is_big_endian(),
                      .rows = piece->rows,
                      .columns = 1,
                      .row_step = type->bytes,
                      .column_step = type->bytes};
}
