/* Stages that change values and leave every column in its place: one walk for all of them. */
#pragma once

#include "features/columns/row_chunk.h"

/* What the values of one row need to know of it: image = value * scale / norm. */
typedef struct mg_row_norm {
    double scale, norm;
} mg_row_norm;

typedef struct mg_value_map {
    const void *argument;
    mg_row_norm (*of_row)(const void *argument, const margin_matrix *x, int64_t row); /* or NULL */
    /* out[k] = image of chunk->values[k], which is in column chunk->columns[k] if
     * sparse, else chunk->first + k. */
    void (*map)(const void *argument, mg_row_norm of_row, const mg_row_chunk *chunk, bool sparse,
                double *out);
    bool keeps_zeros; /* 0 becomes 0 in every column: CSR stays CSR */
    const char *name; /* of the stage, for messages */
} mg_value_map;

/* A new matrix with the image of every value: same value type, CSR if `in` is and zeros stay, else
 * dense. In parallel. */
margin_status mg_map_values(margin_context *context, const margin_matrix *in,
                            const mg_value_map *map, mg_matrix_buffer *out, margin_error *error);
