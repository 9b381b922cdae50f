/* Data sets as a training takes them: in rows, and with codes that stand for a category. */
#pragma once

#include "model/problem/samples.h"

/* Of data by columns a copy in rows takes the place of data->x; the caller frees it. */
margin_status mg_data_in_rows(margin_context *context, margin_data *data, mg_matrix_buffer *copy,
                              margin_error *error);

/* Codes of categories: -1 becomes NaN in a copy that takes the place of data->x, unless that is
 * `copy` already. strict: DATA where another code of a row that takes part is none of the list.
 * Data without categories cost nothing. */
margin_status mg_data_codes(margin_context *context, bool strict, margin_data *data,
                            mg_matrix_buffer *copy, margin_error *error);

/* Data to train on: checked (several: they may have several targets), in rows, codes in order. */
typedef struct mg_taken {
    margin_data data;
    mg_matrix_buffer copy;
} mg_taken;
/* To be freed after a failure, too. */
margin_status mg_data_take(margin_context *context, const margin_data *data, bool several,
                           mg_taken *taken, margin_error *error);
void mg_taken_free(mg_taken *taken);
