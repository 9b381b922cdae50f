/* idx files, the format of MNIST and its relatives: two zero bytes, a type, the number of
 * dimensions, the dimensions as 32-bit numbers, then the items, everything big endian. */
#include "data/arrays/array.h"

enum { MAX_IDX_DIMENSIONS = 4 };

static uint32_t big_endian(const char *bytes) {
    uint32_t value = 0;
    for (int k = 0; k < 4; k++)
        value = value << 8 | (unsigned char)bytes[k];
    return value;
}

static bool find_type(int code, mg_array *array) {
    static const struct {
        int code, bytes;
        mg_array_kind kind;
    } types[] = {{0x08, 1, MG_ARRAY_U8},  {0x09, 1, MG_ARRAY_I8},  {0x0b, 2, MG_ARRAY_I16},
                 {0x0c, 4, MG_ARRAY_I32}, {0x0d, 4, MG_ARRAY_F32}, {0x0e, 8, MG_ARRAY_F64}};
    for (int k = 0; k < MG_LENGTH(types); k++)
        if (types[k].code == code) {
            array->kind = types[k].kind;
            array->item_bytes = types[k].bytes;
            array->big_endian = true;
            return true;
        }
    return false;
}

margin_status mg_idx_describe(const mg_source *source, mg_array *array, margin_error *error) {
    const char *text = source->text;
    mg_array described = {0};
    MG_REQUIRE(source->length >= 4 && text[0] == 0 && text[1] == 0, error, MARGIN_ERROR_FORMAT,
               "%s: is not an idx file (it does not begin with two zero bytes)", source->name);
    MG_REQUIRE(find_type((unsigned char)text[2], &described), error, MARGIN_ERROR_FORMAT,
               "%s: type 0x%02x is none of the idx types 0x08, 0x09, 0x0b to 0x0e", source->name,
               (unsigned)(unsigned char)text[2]);
    int dimensions = (unsigned char)text[3];
    MG_REQUIRE(dimensions >= 1 && dimensions <= MAX_IDX_DIMENSIONS, error, MARGIN_ERROR_FORMAT,
               "%s: has %d dimensions; 1 to %d can be read", source->name, dimensions,
               MAX_IDX_DIMENSIONS);
    int64_t offset = 4 + 4 * (int64_t)dimensions;
    MG_REQUIRE(source->length >= offset, error, MARGIN_ERROR_FORMAT,
               "%s: the file ends inside its idx header; it is damaged or cut off", source->name);
    int64_t columns = 1;
    for (int k = 1; k < dimensions; k++)
        MG_REQUIRE(
            !__builtin_mul_overflow(columns, (int64_t)big_endian(text + 4 + 4 * k), &columns),
            error, MARGIN_ERROR_FORMAT, "%s: the dimensions in the header are impossibly large",
            source->name);
    MG_TRY(mg_array_place(source, offset, (int64_t)big_endian(text + 4), columns, false, &described,
                          error));
    *array = described;
    return MARGIN_OK;
}

static margin_status read_idx(margin_context *context, mg_source *source,
                              const margin_read_options *options, margin_table **table,
                              margin_error *error) {
    mg_array array;
    MG_TRY(mg_idx_describe(source, &array, error));
    return mg_array_table(context, &array, MARGIN_FORMAT_IDX, options, table, error);
}

static const char *const endings[] = {"-ubyte", ".idx", NULL};
const mg_reader mg_reader_idx = {MARGIN_FORMAT_IDX, "idx", endings, read_idx};
