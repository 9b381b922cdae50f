/* Items of binary arrays: from any width, byte order and spacing to f64, f32 or text. */
#include "data/arrays/array.h"
#include "base/text/number_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Numbers converted at a time: the two buffers stay in the first-level cache. */
enum { CHUNK = 512 };

/* ---- Placing -------------------------------------------------------------------------------- */

margin_status mg_array_place(const mg_source *source, int64_t offset, int64_t rows, int64_t columns,
                             bool column_major, mg_array *array, margin_error *error) {
    int64_t there = source->length - offset, items = 0, bytes = 0;
    bool overflow = __builtin_mul_overflow(rows, columns, &items) ||
                    __builtin_mul_overflow(items, (int64_t)array->item_bytes, &bytes);
    if (overflow || bytes > there)
        return mg_fail(
            error, MARGIN_ERROR_FORMAT,
            "%s: the header announces %lld x %lld items of %d bytes, but only %lld bytes "
            "follow it; the file is damaged or cut off",
            source->name, (long long)rows, (long long)columns, array->item_bytes, (long long)there);
    if (bytes < there)
        return mg_fail(error, MARGIN_ERROR_FORMAT,
                       "%s: %lld bytes follow the %lld x %lld items that the header announces; a "
                       "file must hold one array",
                       source->name, (long long)(there - bytes), (long long)rows,
                       (long long)columns);
    MG_REQUIRE(rows > 0, error, MARGIN_ERROR_DATA, "%s: the array has no rows", source->name);
    MG_REQUIRE(columns > 0, error, MARGIN_ERROR_DATA, "%s: the array has no columns", source->name);
    array->source = source;
    array->first = source->text + offset;
    array->rows = rows;
    array->columns = columns;
    array->row_step = array->item_bytes * (column_major ? 1 : columns);
    array->column_step = array->item_bytes * (column_major ? rows : 1);
    return MARGIN_OK;
}

/* ---- Numbers -------------------------------------------------------------------------------- */

bool mg_host_is_big_endian(void) {
    const uint16_t probe = 1;
    unsigned char first;
    memcpy(&first, &probe, 1);
    return first == 0;
}

/* IEEE 754 binary16 (1 sign, 5 exponent, 10 fraction bits) in place of a binary32, whose exponent
 * is greater by 112. Subnormal numbers are completed with a leading one, then relieved of it. */
static float half_value(uint16_t half) {
    const uint32_t exponent_112 = UINT32_C(112) << 23, exponent_113 = UINT32_C(113) << 23;
    uint32_t sign = (uint32_t)(half & 0x8000) << 16;
    uint32_t bits = (uint32_t)(half & 0x7fff) << 13;
    uint32_t exponent = half >> 10 & 31;
    if (exponent == 31)
        bits |= UINT32_C(0x7f800000);
    else
        bits += exponent > 0 ? exponent_112 : exponent_113;
    float value;
    memcpy(&value, &bits, sizeof value);
    if (exponent == 0) value -= 0x1p-14F;
    return sign ? -value : value;
}

/* Items that are not numbers as they lie, in the machine's byte order: halves as floats, truth as 0
 * and 1. */
static margin_array unpack(const mg_array *array, const char *from, int64_t step, int64_t count,
                           char packed[8 * CHUNK]) {
    const int size = array->item_bytes;
    const bool swap = array->big_endian != mg_host_is_big_endian();
    for (int64_t k = 0; k < count; k++, from += step) {
        char *item = packed + k * size;
        for (int b = 0; b < size; b++)
            item[b] = from[swap ? size - 1 - b : b];
        if (array->kind == MG_ARRAY_BOOL) *item = *item != 0;
    }
    for (int64_t k = count; array->kind == MG_ARRAY_F16 && k-- > 0;) { /* grow from the end */
        uint16_t half;
        memcpy(&half, packed + 2 * k, sizeof half);
        const float value = half_value(half);
        memcpy(packed + 4 * k, &value, sizeof value);
    }
    return (margin_array){.values = packed};
}

/* As rows of a matrix are made of columns of any type. */
static const margin_type types[] = {
    [MG_ARRAY_F16] = MARGIN_F32, [MG_ARRAY_F32] = MARGIN_F32, [MG_ARRAY_F64] = MARGIN_F64,
    [MG_ARRAY_I8] = MARGIN_I8,   [MG_ARRAY_I16] = MARGIN_I16, [MG_ARRAY_I32] = MARGIN_I32,
    [MG_ARRAY_I64] = MARGIN_I64, [MG_ARRAY_U8] = MARGIN_U8,   [MG_ARRAY_U16] = MARGIN_U16,
    [MG_ARRAY_U32] = MARGIN_U32, [MG_ARRAY_U64] = MARGIN_U64, [MG_ARRAY_BOOL] = MARGIN_U8};

#define REAL_TYPES_TMPL "data/arrays/array_tmpl.h"
#include "base/real_types_tmpl.h"

/* ---- Whole numbers of 64 bits ---------------------------------------------------------------- */

static bool has_eight_byte_integers(const mg_array *array) {
    return array->kind == MG_ARRAY_I64 || array->kind == MG_ARRAY_U64;
}

int mg_array_print(const mg_array *array, int64_t row, int64_t column,
                   char text[MARGIN_NUMBER_TEXT]) {
    const char *from = array->first + row * array->row_step + column * array->column_step;
    double value;
    uint64_t bits;
    if (!has_eight_byte_integers(array)) {
        mg_array_read_f64(array, from, array->row_step, 1, &value, 1);
        return isnan(value) ? 0 : margin_number_print_f64(value, text);
    }
    memcpy(&bits, from, sizeof bits);
    if (array->big_endian != mg_host_is_big_endian()) bits = __builtin_bswap64(bits);
    return array->kind == MG_ARRAY_I64
               ? snprintf(text, MARGIN_NUMBER_TEXT, "%lld", (long long)bits)
               : snprintf(text, MARGIN_NUMBER_TEXT, "%llu", (unsigned long long)bits);
}

int64_t mg_array_inexact_row(const mg_array *array, int64_t column) {
    const char *from = array->first + column * array->column_step;
    char text[MARGIN_NUMBER_TEXT];
    double value;
    for (int64_t i = 0; has_eight_byte_integers(array) && i < array->rows; i++) {
        mg_array_read_f64(array, from + i * array->row_step, array->row_step, 1, &value, 1);
        if (fabs(value) < 0x1p53) continue;
        if (mg_number_loses_digits(text, mg_array_print(array, i, column, text))) return i;
    }
    return -1;
}

margin_status mg_array_fail_inexact(const mg_array *array, int64_t row, int64_t column,
                                    const char *file, int64_t number, margin_error *error) {
    char text[MARGIN_NUMBER_TEXT];
    mg_array_print(array, row, column, text);
    return mg_fail_at(error, MARGIN_ERROR_DATA, (mg_place){.row = number},
                      "%s: row %lld has the target %s, a whole number beyond 2^53, which cannot be "
                      "held exactly as a number",
                      file, (long long)number, text);
}

/* ---- Text ----------------------------------------------------------------------------------- */

static margin_status fail_text(const mg_array *array, int64_t row, const char *what,
                               margin_error *error) {
    return mg_fail_at(error, MARGIN_ERROR_FORMAT, (mg_place){.row = row + 1},
                      "%s: the text in row %lld %s", array->source->name, (long long)row + 1, what);
}

static uint32_t code_point(const mg_array *array, const char *item, int64_t k) {
    uint32_t code;
    memcpy(&code, item + 4 * k, 4);
    return array->big_endian == mg_host_is_big_endian() ? code : __builtin_bswap32(code);
}

static void add_utf8(mg_text *text, uint32_t code) {
    char bytes[4];
    int length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (int k = length - 1; k > 0; k--) {
        bytes[k] = (char)(0x80 | (code & 0x3f));
        code >>= 6;
    }
    static const unsigned char lead[5] = {0, 0, 0xc0, 0xe0, 0xf0};
    bytes[0] = (char)(lead[length] | code);
    mg_text_add(text, bytes, length);
}

static margin_status read_ucs4(const mg_array *array, const char *item, int64_t row, mg_text *text,
                               margin_error *error) {
    int64_t length = array->item_bytes / 4;
    while (length > 0 && code_point(array, item, length - 1) == 0)
        length--;
    for (int64_t k = 0; k < length; k++) {
        uint32_t code = code_point(array, item, k);
        if (code == 0) return fail_text(array, row, "holds a zero character", error);
        if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
            return fail_text(array, row, "holds a code that is no Unicode character", error);
        add_utf8(text, code);
    }
    return MARGIN_OK;
}

static margin_status read_bytes(const mg_array *array, const char *item, int64_t row, mg_text *text,
                                margin_error *error) {
    int64_t length = array->item_bytes;
    while (length > 0 && item[length - 1] == 0)
        length--;
    for (int64_t k = 0; k < length;) {
        if (item[k] == 0) return fail_text(array, row, "holds a zero byte", error);
        int bytes = mg_utf8_length(item + k, length - k);
        if (bytes == 0) return fail_text(array, row, "is not UTF-8", error);
        k += bytes;
    }
    mg_text_add(text, item, length);
    return MARGIN_OK;
}

margin_status mg_array_read_text(const mg_array *array, int64_t row, int64_t column, mg_text *text,
                                 margin_error *error) {
    const char *item = array->first + row * array->row_step + column * array->column_step;
    MG_TRY(array->kind == MG_ARRAY_UCS4 ? read_ucs4(array, item, row, text, error)
                                        : read_bytes(array, item, row, text, error));
    if (text->failed) return mg_no_memory(text->heap, array->item_bytes, 1, "text labels", error);
    return MARGIN_OK;
}
