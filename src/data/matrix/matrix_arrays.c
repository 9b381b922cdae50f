/* Columns of types of their own: integers, bits, validity bitmaps, read where they lie. */
#include "data/matrix/matrix.h"

#include <math.h>
#include <string.h>

enum { RUN = 128 }; /* rows put together at a time */

#define EACH_TYPE(DO)                                                                              \
    DO(F64, double)                                                                                \
    DO(F32, float)                                                                                 \
    DO(I8, int8_t)                                                                                 \
    DO(I16, int16_t)                                                                               \
    DO(I32, int32_t)                                                                               \
    DO(I64, int64_t)                                                                               \
    DO(U8, uint8_t)                                                                                \
    DO(U16, uint16_t)                                                                              \
    DO(U32, uint32_t)                                                                              \
    DO(U64, uint64_t)

#define SIZE_OF(WORD, TYPE)                                                                        \
    case MARGIN_##WORD:                                                                            \
        return sizeof(TYPE);

int64_t mg_type_size(margin_type type) {
    switch (type) {
        EACH_TYPE(SIZE_OF)
    case MARGIN_BITS:
        break;
    }
    return 0;
}

static int64_t step_of(const margin_array *a) {
    return a->stride ? a->stride : mg_type_size((margin_type)a->type);
}

MG_INLINE int bit_at(const void *bits, int64_t place) {
    return ((const uint8_t *)bits)[place >> 3] >> (place & 7) & 1;
}

/* 64 bits of 1, if there are so many. */
MG_INLINE bool all_there(const uint8_t *validity, int64_t count) {
    uint64_t bits;
    if (count < 64) return false;
    memcpy(&bits, validity, sizeof bits);
    return bits == UINT64_MAX;
}

/* Neighbours are told apart so that they are read as vectors; nothing need be aligned. */
#define READ_ALL(WORD, TYPE)                                                                       \
    case MARGIN_##WORD:                                                                            \
        from += start * step;                                                                      \
        for (int64_t k = 0; (rows || step != sizeof(TYPE)) && k < count; k++) {                    \
            TYPE value;                                                                            \
            memcpy(&value, from + (rows ? rows[k] : k) * step, sizeof value);                      \
            out[k] = (REAL)value;                                                                  \
        }                                                                                          \
        for (int64_t k = 0; !rows && step == sizeof(TYPE) && k < count; k++) {                     \
            TYPE value;                                                                            \
            memcpy(&value, from + k * (int64_t)sizeof value, sizeof value);                        \
            out[k] = (REAL)value;                                                                  \
        }                                                                                          \
        break;

#define REAL_TYPES_TMPL "data/matrix/matrix_arrays_tmpl.h"
#include "base/real_types_tmpl.h"

void mg_rows_from_arrays(const margin_matrix *x, const int64_t *rows, int64_t first, int64_t count,
                         void *out) {
    if (x->value_type == MARGIN_F32)
        rows_from_arrays_f32(x, rows, first, count, out);
    else
        rows_from_arrays_f64(x, rows, first, count, out);
}

/* Where number `first` of a column lies that is of `type` and whole as it is; else NULL. */
static const void *as_it_lies(const margin_array *a, margin_type type, int64_t first) {
    const int64_t size = mg_type_size(type);
    const char *at = (const char *)a->values + (a->offset + first) * size;
    const bool same = a->type == (int32_t)type && step_of(a) == size && !a->validity;
    return same && (uintptr_t)at % (uintptr_t)size == 0 ? at : NULL;
}

/* A column is too short to be read ahead by the processor. Inline: gcc drops a call that only
 * fetches. */
MG_INLINE void fetch(const margin_array *a, int64_t first, int64_t count) {
    enum { LINE = 64 };
    const int64_t step = step_of(a), bytes = step > 0 ? count * step : 0;
    const char *from = (const char *)a->values + (a->offset + first) * step;
    for (int64_t at = 0; at < bytes; at += LINE)
        __builtin_prefetch(from + at);
}

void mg_columns_from_arrays(const margin_matrix *x, const int64_t *chosen, int64_t columns,
                            const int64_t *rows, int64_t first, int64_t count, void *room,
                            const void **out) {
    enum { AHEAD = 2 };
    const margin_type type = (margin_type)x->value_type;
    for (int64_t j = 0; j < columns; j++) {
        const margin_array *a = &x->arrays[chosen ? chosen[j] : j];
        const int64_t at = j * (count + MG_COLUMN_GAP);
        out[j] = rows ? NULL : as_it_lies(a, type, first);
        const int64_t next = MG_MIN(j + AHEAD, columns - 1);
        if (!rows) fetch(&x->arrays[chosen ? chosen[next] : next], first, count);
        if (out[j]) continue;
        if (type == MARGIN_F32)
            mg_column_read_f32(a, rows, first, count, (float *)room + at);
        else
            mg_column_read_f64(a, rows, first, count, (double *)room + at);
        out[j] = (char *)room + at * mg_type_size(type);
    }
}

double mg_array_value(const margin_matrix *x, int64_t row, int64_t column) {
    double value;
    float narrow;
    if (x->value_type == MARGIN_F64) {
        mg_column_read_f64(&x->arrays[column], NULL, row, 1, &value);
        return value;
    }
    mg_column_read_f32(&x->arrays[column], NULL, row, 1, &narrow);
    return (double)narrow;
}

static margin_status check_array(const margin_array *a, int64_t rows, const char *name,
                                 long long column, margin_error *error) {
    const bool bits = a->type == MARGIN_BITS;
    MG_REQUIRE(bits || mg_type_size((margin_type)a->type) > 0, error, MARGIN_ERROR_ARGUMENT,
               "%s: arrays[%lld] has the type %d, which is none of margin_type", name, column,
               (int)a->type);
    MG_REQUIRE(a->values, error, MARGIN_ERROR_ARGUMENT, "%s: arrays[%lld] has no values", name,
               column);
    MG_REQUIRE(!bits || a->stride == 0, error, MARGIN_ERROR_ARGUMENT,
               "%s: arrays[%lld] is of bits and has a stride, which bits cannot have", name,
               column);
    MG_REQUIRE(a->offset >= 0 && a->offset <= INT64_MAX / 8 - rows, error, MARGIN_ERROR_ARGUMENT,
               "%s: arrays[%lld] has the offset %lld", name, column, (long long)a->offset);
    const int64_t most = INT64_MAX / MG_MAX(a->offset + rows, 1);
    MG_REQUIRE(a->stride <= most && a->stride >= -most, error, MARGIN_ERROR_ARGUMENT,
               "%s: arrays[%lld] has the stride %lld, more than memory can hold", name, column,
               (long long)a->stride);
    MG_REQUIRE(!a->reserved_word && !a->reserved[0] && !a->reserved[1], error,
               MARGIN_ERROR_ARGUMENT, MG_NOT_ZERO, name);
    return MARGIN_OK;
}

margin_status mg_arrays_check(const margin_matrix *x, const char *name, margin_error *error) {
    MG_REQUIRE(!x->column_values, error, MARGIN_ERROR_ARGUMENT,
               "%s: arrays are given, and column_values too", name);
    for (int64_t j = 0; j < x->columns && x->rows > 0; j++)
        MG_TRY(check_array(&x->arrays[j], x->rows, name, (long long)j, error));
    return MARGIN_OK;
}
