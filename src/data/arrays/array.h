/* Arrays in binary files: what npy and idx have in common once their headers are read. */
#pragma once

#include "base/text/text.h"
#include "data/source/source.h"
#include "data/table/table.h"

bool mg_host_is_big_endian(void);

typedef enum mg_array_kind {
    MG_ARRAY_F16,
    MG_ARRAY_F32,
    MG_ARRAY_F64,
    MG_ARRAY_I8,
    MG_ARRAY_I16,
    MG_ARRAY_I32,
    MG_ARRAY_I64,
    MG_ARRAY_U8,
    MG_ARRAY_U16,
    MG_ARRAY_U32,
    MG_ARRAY_U64,
    MG_ARRAY_BOOL,
    MG_ARRAY_BYTES, /* text of item_bytes bytes, filled up with zeros */
    MG_ARRAY_UCS4   /* text of item_bytes / 4 code points, filled up with zeros */
} mg_array_kind;

/* rows x columns items in the bytes of a source; item (i, j) lies at
 * first + i * row_step + j * column_step. All of them were checked to be inside the source. */
typedef struct mg_array {
    const mg_source *source;
    const char *first;
    mg_array_kind kind;
    int item_bytes;
    bool big_endian;
    int64_t rows, columns;
    int64_t row_step, column_step; /* in bytes */
} mg_array;

static inline bool mg_array_is_text(const mg_array *array) {
    return array->kind == MG_ARRAY_BYTES || array->kind == MG_ARRAY_UCS4;
}

/* Reads the header of an .npy or idx file. FORMAT if it is damaged, does not fit the length of the
 * source or describes what is no table of numbers or text; DATA if it has no rows or columns. */
margin_status mg_npy_describe(const mg_source *source, mg_array *array, margin_error *error);
margin_status mg_idx_describe(const mg_source *source, mg_array *array, margin_error *error);

/* A plain layout: rows x columns items from `offset` on, row after row or column after column,
 * which must fill the source to its end. */
margin_status mg_array_place(const mg_source *source, int64_t offset, int64_t rows, int64_t columns,
                             bool column_major, mg_array *array, margin_error *error);

/* Converts `count` numbers that lie `step` bytes apart. `to_step` is in elements. Text is not
 * allowed. Integers beyond 2^53 are rounded (see mg_array_inexact_row); f64 to f32 rounds to
 * nearest. */
void mg_array_read_f64(const mg_array *array, const char *from, int64_t step, int64_t count,
                       double *to, int64_t to_step);
void mg_array_read_f32(const mg_array *array, const char *from, int64_t step, int64_t count,
                       float *to, int64_t to_step);

/* The shortest text of number (row, column), of whole numbers all digits; returns its length, 0:
 * NaN. */
int mg_array_print(const mg_array *array, int64_t row, int64_t column,
                   char text[MARGIN_NUMBER_TEXT]);
/* The first row of a column whose whole number f64 cannot hold (mg_number_loses_digits), -1: none.
 */
int64_t mg_array_inexact_row(const mg_array *array, int64_t column);
/* DATA: the target of that row, which is the row `number` of `file`, must be a number. */
margin_status mg_array_fail_inexact(const mg_array *array, int64_t row, int64_t column,
                                    const char *file, int64_t number, margin_error *error);

/* Appends item (row, column) of a text array as UTF-8, without the zeros that fill it up. FORMAT
 * with the row if it is not valid text. */
margin_status mg_array_read_text(const mg_array *array, int64_t row, int64_t column, mg_text *text,
                                 margin_error *error);

/* The table of a feature array: roles by the options, labels from options->labels. */
margin_status mg_array_table(margin_context *context, const mg_array *array, margin_format format,
                             const margin_read_options *options, margin_table **table,
                             margin_error *error);

/* Fills the table's target from the file options->labels (npy or idx, told by its first bytes), one
 * label for each row. Text labels become categories; those a model does not know get the code -1,
 * missing ones NaN, so that rows can be left out before mg_array_settle_labels makes the unknown
 * NaN too and takes categories away that no row is left of. */
margin_status mg_array_labels(margin_context *context, const margin_read_options *options,
                              margin_table *table, margin_error *error);
margin_status mg_array_settle_labels(const margin_read_options *options, margin_table *table,
                                     margin_error *error);
