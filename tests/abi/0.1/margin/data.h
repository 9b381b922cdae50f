#ifndef MARGIN_DATA_H
#define MARGIN_DATA_H
#include "margin/base.h"
#ifdef __cplusplus
extern "C" {
#endif
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
    MARGIN_BITS = 11
} margin_type;
typedef struct margin_array {
    const void *values;
    const uint8_t *validity;
    int64_t offset;
    int64_t stride;
    int32_t type;
    int32_t reserved_word;
    const void *reserved[2];
} margin_array;
typedef struct margin_matrix {
    const void *values;
    const void *row_starts;
    const void *column_indices;
    int64_t rows, columns, stride;
    int32_t value_type, start_type, index_type;
    int32_t reserved_word;
    const void *const *column_values;
    const margin_array *arrays;
    const void *reserved;
} margin_matrix;
typedef struct margin_vector {
    const void *values;
    int64_t count;
    int32_t type;
    int32_t reserved_word;
    const void *reserved;
} margin_vector;
MARGIN_API margin_matrix margin_dense_f64(const double *values, int64_t rows, int64_t columns,
                                          int64_t stride);
MARGIN_API margin_matrix margin_dense_f32(const float *values, int64_t rows, int64_t columns,
                                          int64_t stride);
MARGIN_API margin_matrix margin_columns_f64(const double *const *columns, int64_t rows,
                                            int64_t count);
MARGIN_API margin_matrix margin_columns_f32(const float *const *columns, int64_t rows,
                                            int64_t count);
MARGIN_API margin_matrix margin_columns_typed(const margin_array *arrays, int64_t rows,
                                              int64_t count);
MARGIN_API margin_matrix margin_csr_f64(const double *values, const int32_t *column_indices,
                                        const int64_t *row_starts, int64_t rows, int64_t columns);
MARGIN_API margin_matrix margin_csr_f32(const float *values, const int32_t *column_indices,
                                        const int64_t *row_starts, int64_t rows, int64_t columns);
MARGIN_API margin_vector margin_labels_u8(const uint8_t *values, int64_t count);
MARGIN_API margin_vector margin_labels_i32(const int32_t *values, int64_t count);
MARGIN_API margin_vector margin_labels_i64(const int64_t *values, int64_t count);
MARGIN_API margin_vector margin_values_f64(const double *values, int64_t count);
MARGIN_API margin_vector margin_values_f32(const float *values, int64_t count);
typedef enum margin_column_kind {
    MARGIN_NUMERIC = 0,
    MARGIN_CATEGORICAL = 1
} margin_column_kind;
typedef struct margin_column {
    const char *name;
    int32_t kind;
    int32_t reserved_word;
    const char *const *categories;
    int64_t category_count;
    const void *reserved[2];
} margin_column;
typedef struct margin_data {
    margin_matrix x;
    margin_vector y;
    margin_vector weights;
    const margin_column *columns;
    const margin_column *target;
    const int64_t *selection;
    int64_t selected;
    int64_t targets;
    margin_vector classes;
    const void *reserved[8];
} margin_data;
typedef struct margin_table margin_table;
typedef enum margin_format {
    MARGIN_FORMAT_AUTO = 0,
    MARGIN_FORMAT_CSV,
    MARGIN_FORMAT_SVMLIGHT,
    MARGIN_FORMAT_NPY,
    MARGIN_FORMAT_IDX,
    MARGIN_FORMAT_ARROW
} margin_format;
typedef enum margin_missing {
    MARGIN_MISSING_KEEP = 0,
    MARGIN_MISSING_ERROR,
    MARGIN_MISSING_DROP,
    MARGIN_MISSING_CATEGORY
} margin_missing;
typedef enum margin_unknown {
    MARGIN_UNKNOWN_MISSING = 0,
    MARGIN_UNKNOWN_KEEP,
    MARGIN_UNKNOWN_ERROR
} margin_unknown;
typedef enum margin_header {
    MARGIN_HEADER_AUTO = 0,
    MARGIN_HEADER_YES,
    MARGIN_HEADER_NO
} margin_header;
typedef struct margin_read_options {
    size_t size;
    int32_t format;
    const char *target;
    const char *weights;
    const char *ignore;
    const char *categorical;
    const char *labels;
    int32_t missing;
    int32_t header;
    char separator;
    int32_t index_base;
    int32_t value_type;
    const margin_column *expected;
    int64_t expected_count;
    const margin_column *expected_target;
    int32_t target_optional;
    int64_t svmlight_columns;
    int64_t expected_targets;
    int32_t unknown;
    int32_t unknown_target;
    int32_t target_complete;
} margin_read_options;
#define MARGIN_MAX_CSV_COLUMNS 1000000
#define MARGIN_MAX_LINE_BYTES  (INT64_C(1) << 30)
MARGIN_API MARGIN_CHECKED margin_status margin_table_read(margin_context *context, const char *path,
                                                          const margin_read_options *options,
                                                          margin_table **table,
                                                          margin_error *error);
MARGIN_API MARGIN_CHECKED margin_status
margin_table_parse(margin_context *context, const void *bytes, int64_t length, const char *name,
                   const margin_read_options *options, margin_table **table, margin_error *error);
MARGIN_API void margin_table_free(margin_table *table);
MARGIN_API margin_data margin_table_data(const margin_table *table);
typedef struct margin_table_details {
    size_t size;
    int32_t format;
    int64_t rows_dropped;
    int64_t missing;
    int64_t unknown_categories;
    int64_t unknown_classes;
    int32_t has_header;
    char separator;
    const char *name;
} margin_table_details;
MARGIN_API void margin_table_info(const margin_table *table, margin_table_details *details);
typedef struct margin_column_summary {
    margin_column column;
    const char *type;
    int64_t count, missing, zeros;
    int64_t distinct;
    double minimum, maximum, mean, deviation;
    int64_t top;
    int64_t top_count;
    double reserved[4];
} margin_column_summary;
MARGIN_API MARGIN_CHECKED margin_status margin_table_summarize(margin_context *context,
                                                               const margin_table *table,
                                                               margin_column_summary *summaries,
                                                               int64_t capacity,
                                                               margin_error *error);
typedef struct margin_write_options {
    size_t size;
    int32_t format;
    char separator;
    int32_t no_header;
    int32_t zero_based;
    const char *labels;
} margin_write_options;
MARGIN_API MARGIN_CHECKED margin_status margin_data_write(margin_context *context,
                                                          const margin_data *data, const char *path,
                                                          const margin_write_options *options,
                                                          margin_error *error);
MARGIN_API MARGIN_CHECKED margin_status margin_file_write(const char *path, const void *bytes,
                                                          int64_t length, margin_error *error);
#ifdef __cplusplus
}
#endif
#endif
