/* Data in the columns and codes of a model. */
#pragma once

#include "model/object/model_object.h"

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

/* The same for the rows that a model was trained on: a category that stages did not know when it
 * took more rows (model/train/update.c) is missing where it would have reached the learner. */
margin_status mg_align_training(margin_context *context, const margin_model *model,
                                const margin_data *data, mg_aligned *aligned, margin_error *error);
bool mg_has_categories(const mg_columns *columns);
bool mg_learner_sees_categories(const margin_model *model);

void mg_aligned_free(mg_aligned *aligned); /* all zero is fine */

/* Place in `all` of each category of a column, -1: none; NULL in *map if all stay where they are.
 */
margin_status mg_map_categories(mg_heap *heap, const margin_column *column,
                                const margin_column *all, int32_t **map, margin_error *error);

/* Replaces the codes of columns: column j by maps[j][code] where that is not NULL; one whose place
 * is -1, and a code that `from` has no category for, becomes NaN, or else the code behind the last
 * of `to`. NaN stays. Nothing happens without maps. */
typedef struct mg_recoding {
    int32_t *const *maps;
    const margin_column *from, *to;
    bool others_are_missing;
    const bool *late; /* the rows of which others are missing; NULL: all */
} mg_recoding;
margin_status mg_align_recode(margin_context *context, mg_aligned *aligned,
                              const mg_recoding *recoding, margin_error *error);
