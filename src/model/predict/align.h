/* Data in the columns and codes of a model. */
#pragma once

#include "model/object/model.h"

/* A data set as a model counts its columns and categories. `data` is the caller's but for x and
 * columns; what had to be rewritten is owned. */
typedef struct mg_aligned {
    mg_heap *heap;
    margin_data data;
    mg_matrix_buffer buffer;
    margin_column *columns;
} mg_aligned;

/* Columns are told by name if the data has descriptions and at least one name is the model's (then
 * all of the model's must be there, and others are left out); else they are the model's, in its
 * order. Nothing is copied if all are in their places.
 * ARGUMENT: another number of columns, sparse data in another order. DATA: columns that are missing
 * or are called alike; categories where the model has numbers, or the other way round. */
margin_status mg_align_columns(margin_context *context, const margin_model *model,
                               const margin_data *data, mg_aligned *aligned, margin_error *error);

/* The same with category codes by name, too. A category that the model does not know, and a code
 * without a category, gets the code behind the model's last one (or stays behind it). The columns
 * are then the model's. ARGUMENT: sparse data with other codes. */
margin_status mg_align(margin_context *context, const margin_model *model, const margin_data *data,
                       mg_aligned *aligned, margin_error *error);
void mg_aligned_free(mg_aligned *aligned); /* all zero is fine */

/* Replaces the codes of columns: column j by maps[j][code] where that is not NULL; a code that is
 * not below counts[j], and one whose place is -1, becomes `others[j]`. NaN stays. */
typedef struct mg_recoding {
    const int32_t *const *maps;
    const int64_t *counts;
    const double *others;
} mg_recoding;
margin_status mg_align_recode(margin_context *context, mg_aligned *aligned,
                              const mg_recoding *recoding, margin_error *error);
