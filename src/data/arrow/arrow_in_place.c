/* Columns of a batch as arrays where they lie. */
#include "margin/arrow.h"

#include "base/status.h"

#include <string.h>

/* 0: not one of numbers that are read in place. */
static int32_t type_in_place(const char *format) {
    static const char letters[] = "cCsSiIlLfgb";
    static const int32_t types[] = {MARGIN_I8,  MARGIN_U8,  MARGIN_I16, MARGIN_U16,
                                    MARGIN_I32, MARGIN_U32, MARGIN_I64, MARGIN_U64,
                                    MARGIN_F32, MARGIN_F64, MARGIN_BITS};
    const char *found = format[0] && !format[1] ? strchr(letters, format[0]) : NULL;
    return found ? types[found - letters] : 0;
}

/* out: NULL to check alone. */
static margin_status column_in_place(const struct ArrowSchema *schema,
                                     const struct ArrowArray *batch, int64_t j, margin_array *out,
                                     margin_error *error) {
    const struct ArrowSchema *said = schema->children[j];
    const struct ArrowArray *column = batch->children[j];
    MG_REQUIRE(said && said->format && column, error, MARGIN_ERROR_FORMAT,
               "column %lld of the batch or of its schema is not there", (long long)j + 1);
    const int32_t type = type_in_place(said->format);
    if (out && type == 0) *out = (margin_array){.type = 0};
    if (type == 0) return MARGIN_OK;
    MG_REQUIRE(column->n_buffers == 2 && column->buffers && column->offset >= 0 &&
                   column->offset <= INT64_MAX - batch->offset && column->length >= batch->length &&
                   column->length - batch->length >= batch->offset &&
                   (column->buffers[1] || batch->length == 0),
               error, MARGIN_ERROR_FORMAT,
               "column %lld of the batch has %lld buffers and %lld numbers for %lld rows: its "
               "producer is to be mended",
               (long long)j + 1, (long long)column->n_buffers, (long long)column->length,
               (long long)batch->length);
    if (out)
        *out = (margin_array){.values = column->buffers[1],
                              .validity = column->null_count == 0 ? NULL : column->buffers[0],
                              .offset = column->offset + batch->offset,
                              .type = type};
    return MARGIN_OK;
}

margin_status margin_arrays_from_arrow(const struct ArrowSchema *schema,
                                       const struct ArrowArray *batch, margin_array *arrays,
                                       int64_t count, margin_error *error) {
    MG_GIVEN(error, {schema, "schema"}, {batch, "batch"}, {arrays, "place for the arrays"});
    MG_REQUIRE(schema->release && batch->release && schema->format &&
                   strcmp(schema->format, "+s") == 0,
               error, MARGIN_ERROR_ARGUMENT,
               "schema and batch must be those of rows with named columns (+s), not released");
    MG_REQUIRE(count == schema->n_children && count == batch->n_children, error,
               MARGIN_ERROR_ARGUMENT,
               "there is room for %lld columns; the batch has %lld, its "
               "schema %lld",
               (long long)count, (long long)batch->n_children, (long long)schema->n_children);
    MG_REQUIRE(batch->length >= 0 && batch->offset >= 0 &&
                   (count == 0 || (batch->children && schema->children)),
               error, MARGIN_ERROR_FORMAT, "the batch is damaged: its producer is to be mended");
    MG_REQUIRE(batch->null_count == 0 || batch->n_buffers == 0 || !batch->buffers ||
                   !batch->buffers[0],
               error, MARGIN_ERROR_FORMAT,
               "the batch says of whole rows whether they are there, which arrays cannot: read it "
               "with margin_table_from_arrow");
    for (int64_t j = 0; j < count; j++)
        MG_TRY(column_in_place(schema, batch, j, NULL, error));
    for (int64_t j = 0; j < count; j++)
        MG_TRY(column_in_place(schema, batch, j, &arrays[j], error));
    return MARGIN_OK;
}
