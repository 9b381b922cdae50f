/* Writers from the inside: a job, and rows turned into bytes block by block.
 *
 * Blocks of rows are formatted in parallel into buffers and written in order, while the next ones
 * are formatted: the bytes do not depend on the number of threads, the memory is a few buffers for
 * each. Adding a format is one file and one line in writer.c. */
#pragma once

#include "data/matrix/matrix.h"
#include "data/source/file_output.h"

typedef struct mg_write_job {
    margin_context *context;
    const margin_data *data; /* checked by writer.c */
    margin_write_options options;
    const char *path;
    int64_t rows; /* that are written: the selected ones or all */
} mg_write_job;

/* The data row that is written as row k. */
static inline int64_t mg_written_row(const mg_write_job *job, int64_t k) {
    return job->data->selection ? job->data->selection[k] : k;
}

/* A buffer that one block is formatted into. mg_block_room makes room for `bytes` more and gives
 * the place to write to, NULL if memory ran out; the writer then adds to `length` itself. */
typedef struct mg_block_text {
    mg_heap *heap;
    char *data;
    int64_t length, capacity;
} mg_block_text;
char *mg_block_room(mg_block_text *text, int64_t bytes);

/* Formats rows [first, first + count) of the job. Called from any thread. */
typedef margin_status (*mg_format_rows)(const mg_write_job *job, const void *layout, int64_t first,
                                        int64_t count, mg_block_text *text, margin_error *error);

/* Formats all rows of the job, about `row_bytes` bytes each, and writes them. */
margin_status mg_write_rows(const mg_write_job *job, const void *layout, int64_t row_bytes,
                            mg_format_rows format, mg_output *output, margin_error *error);

/* Text of y[row]: whole numbers of integer vectors exactly, others in their shortest form. */
int mg_print_element(const margin_vector *v, int64_t row, char text[MARGIN_NUMBER_TEXT]);

/* The category of a code, NULL for NaN. DATA if it is not the number of a category; `row` and
 * `name` say where. */
margin_status mg_category_name(const margin_column *column, double code, int64_t row,
                               const char *name, const char **category, margin_error *error);

/* First categorical feature, or -1. */
int64_t mg_first_categorical(const margin_data *data);

/* Formats: each opens, writes and commits its files. */
margin_status mg_write_csv(const mg_write_job *job, margin_error *error);
margin_status mg_write_svmlight(const mg_write_job *job, margin_error *error);
margin_status mg_write_npy(const mg_write_job *job, margin_error *error);
margin_status mg_write_idx(const mg_write_job *job, margin_error *error);
