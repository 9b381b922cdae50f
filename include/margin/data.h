/* margin/data.h - matrix views, data sets, tables and files.
 *
 * Views are passed by value or by const pointer, never own anything, and are read only during the
 * call they are given to. A model or table never points into the caller's arrays. */
#ifndef MARGIN_DATA_H
#define MARGIN_DATA_H

#include "margin/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Views ----------------------------------------------------------------------------------- */

typedef enum margin_type {
    MARGIN_F64 = 1,
    MARGIN_F32 = 2,
    MARGIN_I32 = 3,
    MARGIN_I64 = 4,
    MARGIN_U8 = 5,
    MARGIN_I8 = 6,
    MARGIN_I16 = 7,
    MARGIN_U16 = 8,
    MARGIN_U32 = 9,
    MARGIN_U64 = 10,
    MARGIN_BITS = 11 /* of margin_array only: 0 and 1, eight to a byte, the lowest bit first */
} margin_type;

/* A column by itself, as arrays of columns, records and the buffers of Arrow have it. Its number i
 * is number offset + i of `values`, stride bytes apart; nothing has to be aligned. */
typedef struct margin_array {
    const void *values;
    const uint8_t *validity; /* a bit for each of `values`, the lowest first: where it is 0 the
                                number is missing (NaN), whatever stands there; NULL: none is */
    int64_t offset;          /* where the first row is, in numbers (bits) */
    int64_t stride;          /* 0: one follows the other; a step of whole records reads one of their
                                fields; may be negative */
    int32_t type; /* margin_type. Booleans of a byte: U8. I64, U64: rounded beyond 2^53 */
    int32_t reserved_word;
    const void *reserved[2]; /* NULL */
} margin_array;

/* rows x columns numbers, in one of three forms.
 * Dense: `row_starts` is NULL; element (i, j) is values[i * stride + j], stride in elements, >=
 * columns. By columns: element (i, j) is number i of column_values[j], or of arrays[j]; `values`,
 * `row_starts` and `stride` are not used (see margin_columns_f64, margin_columns_typed). CSR: row i
 * holds values[k] in column column_indices[k] for k in [row_starts[i], row_starts[i + 1]); columns
 * ascend within a row, no duplicates. `stride` is not used. A NaN is a missing value; a fit refuses
 * it unless the pipeline starts with `impute`. */
typedef struct margin_matrix {
    const void *values;         /* MARGIN_F64 or MARGIN_F32 */
    const void *row_starts;     /* rows + 1 offsets, MARGIN_I32 or MARGIN_I64; NULL: dense */
    const void *column_indices; /* MARGIN_I32 or MARGIN_I64 */
    int64_t rows, columns, stride;
    int32_t value_type, start_type, index_type; /* margin_type */
    int32_t reserved_word;
    const void *const *column_values; /* by columns: where each begins; else NULL */
    const margin_array *arrays;       /* by columns, each of a type of its own; else NULL */
    const void *reserved;             /* NULL */
} margin_matrix;

/* A vector of count numbers; values NULL means "not given". Any margin_type but U64 and BITS; no
 * type is converted by the caller. Class labels of I64 keep all digits. Where a learner takes
 * classes and numbers, integers are classes. */
typedef struct margin_vector {
    const void *values;
    int64_t count;
    int32_t type; /* margin_type */
    int32_t reserved_word;
    const void *reserved; /* NULL */
} margin_vector;

MARGIN_API margin_matrix margin_dense_f64(const double *values, int64_t rows, int64_t columns,
                                          int64_t stride);
MARGIN_API margin_matrix margin_dense_f32(const float *values, int64_t rows, int64_t columns,
                                          int64_t stride);
/* Each column by itself, as tables of columns (Arrow, data frames) and arrays in Fortran order have
 * them: column j is columns[j][0..rows). Nothing is copied where margin_fit trains a linear model
 * (behind affine stages or none) of more rows than columns and where margin_predict and its like,
 * margin_evaluate and margin_verify answer: rows are put together a few at a time, and results have
 * the bytes of the same rows in C order. Other learners, stages and solver=dual_cd, multiclass=ovo
 * need all rows at once: the fit, as whatever else needs them, makes a copy, which counts for the
 * memory limit. All functions that take a margin_data take this form, but for margin_data_write; of
 * those that take a margin_matrix, margin_predict and its like. The others refuse it (ARGUMENT): an
 * index of neighbours, margin_textbook_tree, margin_model_transform, margin_transform_inverse. */
MARGIN_API margin_matrix margin_columns_f64(const double *const *columns, int64_t rows,
                                            int64_t count);
MARGIN_API margin_matrix margin_columns_f32(const float *const *columns, int64_t rows,
                                            int64_t count);
/* The same of columns of types of their own: integers, booleans, fields of records, with validity
 * bitmaps. Column j is arrays[j], whose numbers become F64 as they are put together (F32, if
 * value_type is set to that), so all that is said above holds. A missing number is as a NaN.
 * Dictionaries: their codes, of whatever width, are the column; the words, in the order of the
 * codes, are the categories of its description in margin_data.columns. */
MARGIN_API margin_matrix margin_columns_typed(const margin_array *arrays, int64_t rows,
                                              int64_t count);
/* CSR with 32-bit column indices and 64-bit row starts; set the type fields yourself for other
 * widths. */
MARGIN_API margin_matrix margin_csr_f64(const double *values, const int32_t *column_indices,
                                        const int64_t *row_starts, int64_t rows, int64_t columns);
MARGIN_API margin_matrix margin_csr_f32(const float *values, const int32_t *column_indices,
                                        const int64_t *row_starts, int64_t rows, int64_t columns);
/* Labels and values of other widths: set .type yourself. */
MARGIN_API margin_vector margin_labels_u8(const uint8_t *values, int64_t count);
MARGIN_API margin_vector margin_labels_i32(const int32_t *values, int64_t count);
MARGIN_API margin_vector margin_labels_i64(const int64_t *values, int64_t count);
MARGIN_API margin_vector margin_values_f64(const double *values, int64_t count);
MARGIN_API margin_vector margin_values_f32(const float *values, int64_t count);
typedef enum margin_column_kind {
    MARGIN_NUMERIC = 0,
    MARGIN_CATEGORICAL = 1 /* codes 0..category_count-1, as whole numbers of the matrix's (target's)
                              own type; missing: NaN or, in columns of a margin_data, -1. Other
                              codes no training takes (DATA, row) */
} margin_column_kind;

typedef struct margin_column {
    const char *name;   /* UTF-8, never NULL inside a table or model */
    int32_t kind;       /* margin_column_kind */
    int32_t index_base; /* of a svmlight file: 1 or -1, as its indices count from 1 or 0; else 0 */
    /* category_count names, NULL if numeric. Any order will do: those of a table are sorted by
     * their bytes, the classes of a model by name. */
    const char *const *categories;
    int64_t category_count;
    const void *reserved[2]; /* NULL */
} margin_column;

/* A data set: features, and as they apply a target, sample weights, column descriptions and a
 * selection of rows. Zero what is not used: `margin_data d = {.x = ..., .y = ...};` */
typedef struct margin_data {
    margin_matrix x;
    margin_vector y;       /* x.rows numbers: class labels, codes (see target) or values; with
                              several targets x.rows * targets values, those of a row together */
    margin_vector weights; /* x.rows numbers >= 0; weight k counts as k copies, 0 as absent */
    const margin_column *columns; /* x.columns descriptions, or NULL: numeric columns x1, x2, ... */
    const margin_column *target;  /* NULL: y holds labels or values; categorical: y holds codes */
    const int64_t *selection;     /* row numbers to use (a fold), in this order; NULL: all rows */
    int64_t selected;             /* their count */
    int64_t targets; /* 0 or 1: one. More: y is a matrix (row-major) and `target` points to as many
                        numeric descriptions, or is NULL: y1, y2, ... margin_fit (learners with
                        MARGIN_CAN_TARGETS), margin_evaluate, margin_verify and its like,
                        margin_statistics and margin_data_write take several. */
    /* Classes that are known beforehand: labels, or codes where the target is categorical, in any
     * order; not given: those that occur. A model has all of them, also those that no row is of (a
     * part of the data, a fold), where its learner is a rule (MARGIN_IS_RULE: naive-bayes, knn) or
     * the linear perceptron (but for multiclass=ovo); others refuse (DATA) what they cannot learn.
     * A label outside is DATA. Of margin_fit, margin_update, searches and what else trains. */
    margin_vector classes;
    const void *reserved[8]; /* NULL */
} margin_data;

/* ---- Tables -------------------------------------------------------------------------------------
 * A table owns data read from a file. Features form one dense row-major or CSR matrix; the target
 * and the weights are vectors beside it. A table is immutable and may be used from many threads. */
typedef struct margin_table margin_table;

typedef enum margin_format {
    MARGIN_FORMAT_AUTO = 0, /* by the file name's ending, ".gz" set aside; where that says little
                               (.txt, .data, ..., none, standard input) by the first bytes */
    MARGIN_FORMAT_CSV,      /* .csv .tsv .data .txt ... */
    MARGIN_FORMAT_SVMLIGHT, /* .svm .libsvm .svmlight */
    MARGIN_FORMAT_NPY,      /* .npy */
    MARGIN_FORMAT_IDX,      /* *-ubyte, .idx */
    MARGIN_FORMAT_ARROW /* .arrows: streams of Arrow IPC (0.15 or later) that are not compressed, of
                           the types of margin/arrow.h; also tables of margin_table_from_arrow */
} margin_format;

typedef enum margin_missing {
    MARGIN_MISSING_KEEP = 0, /* NaN */
    MARGIN_MISSING_ERROR,    /* refuse, with line and column */
    MARGIN_MISSING_DROP,     /* leave the row out; margin_table_info counts them */
    MARGIN_MISSING_CATEGORY /* CSV features: in a column of categories it is the category "missing",
                               else NaN; other formats: as KEEP */
} margin_missing;

/* What a category becomes that is not in the lists a model expects. */
typedef enum margin_unknown {
    MARGIN_UNKNOWN_MISSING = 0, /* NaN, like a missing value */
    MARGIN_UNKNOWN_KEEP,        /* a code behind those of the list: the column's description has the
                                   unknown categories in order behind the expected ones */
    MARGIN_UNKNOWN_ERROR        /* refuse, with line and column */
} margin_unknown;

typedef enum margin_header {
    MARGIN_HEADER_AUTO = 0,
    MARGIN_HEADER_YES,
    MARGIN_HEADER_NO
} margin_header;

/* Zero means the default everywhere. Column references are a name or, if no column has that name, a
 * number from 1; negative numbers count from the end. Lists are separated by commas; "a..b" is
 * all columns from a to b (not svmlight). */
typedef struct margin_read_options {
    size_t size;         /* sizeof(margin_read_options) */
    int32_t format;      /* margin_format */
    const char *target;  /* NULL: the last column (CSV), the label (svmlight), `labels`; "" : no
                            target; a  list: several, for regressions that take them */
    const char *weights; /* column of sample weights, or NULL */
    const char *ignore;  /* columns to leave out, or NULL (svmlight: they stay in place, empty) */
    const char *categorical; /* columns of numbers to read as categories, or NULL */
    const char *labels; /* npy, idx: file of the target, or NULL; several columns of numbers are as
                           many targets */
    int32_t missing;    /* margin_missing */
    int32_t header;     /* margin_header; CSV */
    char separator;     /* CSV: 0 finds it; ' ' stands for runs of blanks and tabs */
    int32_t index_base; /* svmlight: 1 one-based, -1 zero-based; 0: as in the file of the model that
                           `expected` is of, else zero-based if index 0 occurs */
    int32_t value_type; /* MARGIN_F64 or MARGIN_F32: type of the feature matrix; 0: F64, but
                           npy and idx files of f16 or f32 stay f32 */
    /* Read as a trained model wants it (NULL: take the file as it is): the features are these
     * columns in this order, found by name where the file has a header and by position otherwise;
     * category codes follow these lists, an unknown category becomes what `unknown` says and is
     * counted. Other columns are left out, except the target. */
    const margin_column *expected;
    int64_t expected_count;
    const margin_column *expected_target; /* its name and categories, or NULL; see below */
    int32_t target_optional;              /* 1: a file without that column is fine (but not without
                                             one that `target` names); 2: and if there is one it is
                                             not read */
    int64_t svmlight_columns; /* at least this many columns; 0: as many as the file has */
    int64_t expected_targets; /* what expected_target points to; 0: one */
    int32_t unknown; /* margin_unknown: categories of features that `expected` does not list */
    int32_t unknown_target;  /* margin_unknown: classes that `expected_target` does not list */
    int32_t target_complete; /* 1: a row whose target is missing is refused, with line and column,
                            where `missing` would keep it */
} margin_read_options;

/* How CSV is read. One row a line, cells separated by one character; LF or CRLF line ends; UTF-8
 * with or without byte order mark (a text that is not UTF-8 is taken for Latin-1). Blank lines mean
 * nothing, nor do lines starting with '#' before the first row. Blanks around a cell are trimmed.
 * A cell in double quotes may contain separators, newlines and doubled quotes; single quotes around
 * a whole cell are taken off. Every row has as many cells as the first.
 *  - Separator: ".tsv" means tab, else the first of tab ; | , that the first rows contain equally
 *    often, else runs of blanks if these are; columns aligned by two blanks and more go before
 * tabs. Between blanks there are no empty cells.
 *  - Header: a first row with a text above a column of numbers, or of different texts of which none
 *    appears again below it in its column, or of different numbers above columns of texts. So a
 *    header of numbers above numbers has to be told. Unnamed columns are called x1, x2, ...; a
 *    repeated name gets a number (a, a.1).
 *  - Missing: an empty cell, ? NA N/A n/a #N/A null NULL, and nan in any case; quoted or not. Read
 *    for a model with a category "missing" in that column, it is that category.
 *  - Numbers are exact (rounded once to f64 or f32); quoted ones are numbers, too; inf is infinity.
 *  - A column is numeric if all its values are numbers, else categorical, its categories in order
 *    of their bytes and spelt as in the file ("1" and "1.0" differ). Whole numbers beyond 2^53 that
 *    an f64 would not print as the same digits (labels, identifiers) make their column categorical,
 *    too; with a point ("9007199254740993.0") they are rounded. So do whole numbers with zeros in
 *    front (007) in the target.
 *  - A column that looks like numbers with stray texts is refused with the place of the first one:
 *    at least 10 numbers, and fewer than a tenth of the values are texts, or fewer than half and
 *    the numbers have more than 100 different values. So are decimal commas, commas
 *    between thousands, and units ("$5", "5 %"). To be declared
 *    `categorical` settles it. */

/* How npy and idx are read. Rows are the first dimension, all others together make the columns
 * (npy: up to 32 dimensions, idx: 4); the columns are called x1, x2, ... npy: versions 1 to 3, both
 * orders and byte orders, f2 f4 f8, i1 to i8, u1 to u8, bool; objects, records, complex numbers and
 * dates are refused, and so is a file that does not end with its last item.
 *  - Target: the file `labels` (npy or idx, as long as the data), or the columns that `target`
 *    names; without either there is none. Text labels (U, S) become categories, an empty text is a
 *    missing label. As a target, they are called y; several columns of labels, all numbers, are
 *    the targets y1, y2, ...
 *  - `categorical`: the categories are the numbers in their shortest form.
 *  - Integers beyond 2^53 are rounded in features; as labels they become categories, with all
 *    digits. */

/* Limits, refused clearly beyond: columns of a CSV file; bytes of one line or cell. */
#define MARGIN_MAX_CSV_COLUMNS 1000000
#define MARGIN_MAX_LINE_BYTES  (INT64_C(1) << 30)

/* Reads `path` ("-": standard input; gzip is recognised by its first bytes) into a table. `options`
 * may be NULL. Fails with ARGUMENT (options), FILE, FORMAT (file:line:column), DATA (no such
 * column, nothing to read), MEMORY, LIMIT, CANCELLED. Uses all threads of the context; the result
 * does not depend on their number. Peak memory about the result.
 *
 * Plain files are mapped, not copied: one that somebody cuts off while it is read ends the process
 * with SIGBUS. Replace files by renaming, or read those that may shrink through a pipe. */
MARGIN_API MARGIN_CHECKED margin_status margin_table_read(margin_context *context, const char *path,
                                                          const margin_read_options *options,
                                                          margin_table **table,
                                                          margin_error *error);
/* The same from memory; `name` stands for the path in messages and decides the format if it is
 * AUTO. */
MARGIN_API MARGIN_CHECKED margin_status
margin_table_parse(margin_context *context, const void *bytes, int64_t length, const char *name,
                   const margin_read_options *options, margin_table **table, margin_error *error);
MARGIN_API void margin_table_free(margin_table *table);

/* The table as a data set; valid while the table lives. `columns` is set, but for svmlight files
 * beyond MARGIN_MAX_CSV_COLUMNS whose descriptions would take more memory than their data. */
MARGIN_API margin_data margin_table_data(const margin_table *table);

typedef struct margin_table_details {
    size_t size;                /* sizeof(margin_table_details), set by the caller */
    int32_t format;             /* margin_format */
    int64_t rows_dropped;       /* by MARGIN_MISSING_DROP */
    int64_t missing;            /* missing feature values kept */
    int64_t unknown_categories; /* values not in the lists of `expected` and `expected_target` */
    int64_t unknown_classes;    /* those of them in the target */
    int32_t has_header;
    char separator;
    const char *name; /* path as given, "standard input" for "-" */
} margin_table_details;
/* Fills in what is known of how the table was read (nothing, if the size is less than that of
 * version 0.1). */
MARGIN_API void margin_table_info(const margin_table *table, margin_table_details *details);

/* What `margin check` says of a column. Numbers leave missing values out; for categorical columns
 * only count, missing, distinct and the most frequent category apply. Cost: one pass over the table
 * (all columns at once). */
typedef struct margin_column_summary {
    margin_column column;
    const char *type; /* "number", "integer", "binary", "category", "constant" */
    int64_t count, missing, zeros;
    int64_t distinct;                         /* numbers: exact up to 1000, then -1 */
    double minimum, maximum, mean, deviation; /* sample standard deviation */
    int64_t top; /* code of the most frequent category (ties: the first), -1 */
    int64_t top_count;
    double reserved[4]; /* 0 */
} margin_column_summary;
/* Summaries of the features (x.columns entries) and, if the table has any, of the targets behind
 * them (one entry each). `summaries` holds `capacity` entries; fails with ARGUMENT if that is too
 * few, and with LIMIT on a table whose columns are not described (see margin_table_data). */
MARGIN_API MARGIN_CHECKED margin_status margin_table_summarize(margin_context *context,
                                                               const margin_table *table,
                                                               margin_column_summary *summaries,
                                                               int64_t capacity,
                                                               margin_error *error);

/* ---- Writing ----------------------------------------------------------------------------------
 * Files appear whole or not at all: written beside the target under a temporary name, flushed,
 * renamed. A replaced file keeps its permissions, a link keeps pointing to the file it points to;
 * pipes and devices are written directly. */

typedef struct margin_write_options {
    size_t size;
    int32_t format;     /* margin_format; AUTO: by the file name */
    char separator;     /* CSV: 0 means ',' (.tsv: tab) */
    int32_t no_header;  /* CSV */
    int32_t zero_based; /* svmlight; default 1-based */
    const char *labels; /* npy, idx: file for the target, which must be named if there is one */
} margin_write_options;

/* Writes a data set, or its selected rows in that order, in any format ("-": standard output as CSV
 * or svmlight; ".gz" compresses). Numbers print in the shortest form that reads back to the same
 * value.
 *  - CSV: a header, the features, the weights as column `weight`, the target last (called y if it
 *    has no name), or several. Missing values are empty cells. Categories are written by name, in
 * quotes where a reader might take them for something else; a log message tells what will not read
 * back as it was (a category NA, categories that are numbers).
 *  - svmlight: zeros are left out; classes are written by name. Refuses categorical features,
 *    several targets, weights, missing and infinite values, data without a target.
 *  - npy: f64 or f32 as the features are, C order, sparse data in full; `labels` in the type of y,
 *    a column for each target, classes as text. Refuses categorical features and weights.
 *  - idx: bytes; refuses any other value, categories, several targets and weights.
 * Fails with ARGUMENT, DATA (what the format cannot hold, with the row), FORMAT (no format by that
 * ending), FILE, MEMORY, LIMIT, CANCELLED; then an older file at `path` is as it was (pipes and
 * devices may have got a part). The bytes do not depend on the number of threads. Memory: a few
 * buffers of about 1 MB per thread. */
MARGIN_API MARGIN_CHECKED margin_status margin_data_write(margin_context *context,
                                                          const margin_data *data, const char *path,
                                                          const margin_write_options *options,
                                                          margin_error *error);

/* Writes bytes to `path` whole or not at all; for results that are not tables. "-": standard
 * output (flush stdio's buffer first). A name ending in ".gz" compresses. Pipes and devices are
 * written directly. Fails with FILE and the system's reason, or MEMORY; nothing is left behind. */
MARGIN_API MARGIN_CHECKED margin_status margin_file_write(const char *path, const void *bytes,
                                                          int64_t length, margin_error *error);

#ifdef __cplusplus
}
#endif
#endif
