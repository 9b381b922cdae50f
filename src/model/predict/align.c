/* Columns and category codes of any data set in the order of a model: by name. */
#include "model/predict/align.h"
#include "data/table/names.h"
#include "model/predict/predict.h"
#include "model/problem/data_rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NOWHERE = -1, SHOWN = 60 };

/* ---- Columns --------------------------------------------------------------------------------- */

static bool same_names(const margin_model *model, const margin_data *data) {
    if (data->x.columns != model->inputs.count) return false;
    for (int64_t j = 0; j < data->x.columns; j++)
        if (strcmp(model->inputs.items[j].name, data->columns[j].name) != 0) return false;
    return true;
}

/* from[k]: place of the model's column k in the data. *found: how many there are. */
static margin_status find_columns(const margin_model *model, const mg_name_index *names,
                                  int64_t *from, int64_t *found, margin_error *error) {
    *found = 0;
    for (int64_t k = 0; k < model->inputs.count; k++) {
        const char *name = model->inputs.items[k].name;
        bool several = false;
        from[k] = mg_name_find(names, name, (int64_t)strlen(name), &several);
        MG_REQUIRE(!several, error, MG_DATA(COLUMNS),
                   "several columns of the data are called '%.*s', and their order is not the "
                   "model's: give each a name of its own",
                   SHOWN, name);
        *found += from[k] != NOWHERE;
    }
    return MARGIN_OK;
}

static margin_status fail_missing(const margin_model *model, const int64_t *from, int64_t found,
                                  margin_error *error) {
    int64_t first = 0;
    while (from[first] != NOWHERE)
        first++;
    return mg_fail(error, MG_DATA(COLUMNS),
                   "the data lacks %lld of the %lld columns that the model was trained on, such as "
                   "'%.*s'",
                   (long long)(model->inputs.count - found), (long long)model->inputs.count, SHOWN,
                   model->inputs.items[first].name);
}

/* Places by name; *by_name: false if the model's names mean nothing to the data. */
static margin_status place_columns(const margin_model *model, const margin_data *data,
                                   mg_heap *heap, int64_t *from, bool *by_name,
                                   margin_error *error) {
    const char **names;
    MG_SCOPED(mg_name_index, index);
    MG_SCOPED_ARENA(arena, heap);
    int64_t found = 0;
    MG_ARENA_NEW(&arena, names, data->x.columns, "the names of the columns", error);
    for (int64_t j = 0; j < data->x.columns; j++)
        names[j] = data->columns[j].name;
    MG_TRY(mg_name_index_make(heap, names, data->x.columns, &index, error));
    MG_TRY(find_columns(model, &index, from, &found, error));
    *by_name = found > 0;
    if (found == 0 || found == model->inputs.count) return MARGIN_OK;
    return fail_missing(model, from, found, error);
}

/* ---- Rewriting ------------------------------------------------------------------------------- */

typedef struct rewriting {
    const margin_matrix *in;
    const int64_t *from;
    const mg_recoding *recoding;
    margin_matrix out; /* its values are written */
} rewriting;

static margin_status move_block(const mg_block *block, void *argument) {
    const rewriting *r = argument;
    const int64_t columns = r->out.columns;
    for (int64_t i = block->first; i < block->first + block->count; i++) {
        const int64_t out = i * r->out.stride;
        for (int64_t j = 0; j < columns; j++)
            mg_store_value(&r->out, out + j, mg_dense_value(r->in, i, r->from ? r->from[j] : j));
    }
    return MARGIN_OK;
}

/* A dense copy with the columns from[0..columns) (NULL: all in order). */
static margin_status move_columns(margin_context *context, mg_aligned *aligned, int64_t columns,
                                  const int64_t *from, margin_error *error) {
    const margin_matrix x = aligned->data.x;
    MG_TRY(mg_matrix_new_dense(context->heap, x.rows, columns, x.value_type,
                               "the data in the columns of the model", &aligned->buffer, error));
    rewriting r = {.in = &x, .from = from, .out = aligned->buffer.view};
    MG_TRY(mg_sweep_each(context, x.rows, mg_block_rows(mg_row_bytes(&x)), move_block, &r, error));
    aligned->data.x = aligned->buffer.view;
    return MARGIN_OK;
}

static double new_code(const mg_recoding *r, int64_t row, int64_t j, double value) {
    const int64_t count = r->from[j].category_count;
    if (!(value >= 0) || isinf(value) || value != floor(value))
        return value; /* a code in no order */
    const bool code = value < (double)count;
    const int32_t mapped = code ? r->maps[j][(int64_t)value] : NOWHERE;
    if (mapped != NOWHERE) return (double)mapped;
    const bool missing = r->others_are_missing && (!r->late || r->late[row]);
    return missing ? (double)NAN : (double)r->to[j].category_count;
}

static margin_status recode_block(const mg_block *block, void *argument) {
    const rewriting *r = argument;
    for (int64_t j = 0; j < r->out.columns; j++) {
        if (!r->recoding->maps[j]) continue;
        for (int64_t i = block->first; i < block->first + block->count; i++) {
            const int64_t at = i * r->out.stride + j;
            mg_store_value(&r->out, at, new_code(r->recoding, i, j, mg_stored_value(&r->out, at)));
        }
    }
    return MARGIN_OK;
}

margin_status mg_align_recode(margin_context *context, mg_aligned *aligned,
                              const mg_recoding *recoding, margin_error *error) {
    const margin_matrix *x = &aligned->data.x;
    int64_t j = 0;
    while (j < x->columns && !recoding->maps[j])
        j++;
    if (j == x->columns) return MARGIN_OK;
    MG_REQUIRE(!mg_is_csr(x), error, MARGIN_ERROR_ARGUMENT,
               "sparse data must have the categories of the model, in its order");
    if (!aligned->buffer.heap || x->values != aligned->buffer.view.values || x->rows == 0)
        MG_TRY(move_columns(context, aligned, x->columns, NULL, error));
    rewriting r = {.recoding = recoding, .out = *x};
    return mg_sweep_each(context, x->rows, mg_block_rows(mg_row_bytes(x)), recode_block, &r, error);
}

/* ---- Categories ------------------------------------------------------------------------------ */

static margin_status check_kinds(const margin_model *model, const margin_column *columns,
                                 margin_error *error) {
    for (int64_t j = 0; columns && j < model->inputs.count; j++) {
        const bool wants = model->inputs.items[j].kind == MARGIN_CATEGORICAL;
        const bool has = columns[j].kind == MARGIN_CATEGORICAL;
        MG_REQUIRE(wants == has, error, MG_DATA(CATEGORIES),
                   "column %s holds %s and the model was trained on %s: read it as %s",
                   model->inputs.items[j].name, has ? "categories" : "numbers",
                   wants ? "categories" : "numbers",
                   wants ? "categories (margin_read_options.categorical)" : "numbers");
    }
    return MARGIN_OK;
}

margin_status mg_map_categories(mg_heap *heap, const margin_column *column,
                                const margin_column *all, int32_t **map, margin_error *error) {
    const int64_t count = column->category_count;
    MG_SCOPED(mg_name_index, index);
    int64_t same = 0;
    while (same < count && same < all->category_count &&
           strcmp(column->categories[same], all->categories[same]) == 0)
        same++;
    if (same == count) return MARGIN_OK;
    MG_TRY(mg_name_index_make(heap, all->categories, all->category_count, &index, error));
    MG_NEW(heap, *map, count, "the categories of a column", error);
    for (int64_t k = 0; k < count; k++) {
        const char *name = column->categories[k];
        bool several;
        (*map)[k] = (int32_t)mg_name_find(&index, name, (int64_t)strlen(name), &several);
    }
    return MARGIN_OK;
}

bool mg_has_categories(const mg_columns *columns) {
    for (int64_t j = 0; j < columns->count; j++)
        if (columns->items[j].kind == MARGIN_CATEGORICAL) return true;
    return false;
}

bool mg_learner_sees_categories(const margin_model *model) {
    return mg_has_categories(mg_model_feature_columns(model));
}

static margin_status align_codes(margin_context *context, const margin_model *model,
                                 const bool *late, mg_aligned *aligned, margin_error *error) {
    const margin_column *columns = aligned->data.columns, *items = model->inputs.items;
    const int64_t n = model->inputs.count;
    mg_heap *heap = context->heap;
    int32_t **maps;
    margin_status status;
    MG_NEW_ZERO(heap, maps, n, "the categories", error);
    for (int64_t j = 0; j < n; j++)
        if (items[j].kind == MARGIN_CATEGORICAL)
            MG_GO(mg_map_categories(heap, &columns[j], &items[j], &maps[j], error));
    const mg_recoding recoding = {maps, columns, items, late != NULL, late};
    status = mg_align_recode(context, aligned, &recoding, error);
done:
    for (int64_t j = 0; j < n; j++)
        mg_free(heap, maps[j]);
    mg_free(heap, maps);
    return status;
}

/* ---- The whole ------------------------------------------------------------------------------- */

static margin_status reorder(margin_context *context, const margin_model *model,
                             const int64_t *from, mg_aligned *aligned, margin_error *error) {
    const margin_column *columns = aligned->data.columns;
    const int64_t n = model->inputs.count;
    MG_REQUIRE(!mg_is_csr(&aligned->data.x), error, MARGIN_ERROR_ARGUMENT,
               "sparse data must have the model's columns in its order, from '%.*s' to '%.*s'",
               SHOWN, model->inputs.items[0].name, SHOWN, model->inputs.items[n - 1].name);
    MG_NEW(context->heap, aligned->columns, n, "the columns of a model", error);
    for (int64_t j = 0; j < n; j++)
        aligned->columns[j] = columns[from[j]];
    aligned->data.columns = aligned->columns;
    return move_columns(context, aligned, n, from, error);
}

margin_status mg_align_columns(margin_context *context, const margin_model *model,
                               const margin_data *data, mg_aligned *aligned, margin_error *error) {
    mg_aligned made = {.heap = context->heap, .data = *data};
    bool by_name = false;
    int64_t *from = NULL;
    margin_status status = MARGIN_OK;
    if (data->columns && !same_names(model, data)) {
        MG_GO_NEW(context->heap, from, model->inputs.count, "the columns of a model", error);
        MG_GO(place_columns(model, data, context->heap, from, &by_name, error));
    }
    if (by_name)
        MG_GO(reorder(context, model, from, &made, error));
    else
        MG_GO(mg_columns_check(model, &data->x, error));
    MG_GO(check_kinds(model, made.data.columns, error));
    *aligned = made;
    made = (mg_aligned){0};
done:
    mg_free(context->heap, from);
    mg_aligned_free(&made);
    return status;
}

static margin_status align(margin_context *context, const margin_model *model,
                           const margin_data *data, const bool *late, mg_aligned *aligned,
                           margin_error *error) {
    mg_aligned made;
    margin_status status = MARGIN_OK;
    MG_TRY(mg_align_columns(context, model, data, &made, error));
    if (made.data.columns) status = align_codes(context, model, late, &made, error);
    if (status >= 0 && made.data.columns)
        status = mg_data_codes(context, false, &made.data, &made.buffer, error);
    if (status < 0) {
        mg_aligned_free(&made);
        return status;
    }
    made.data.columns = model->inputs.items;
    *aligned = made;
    return MARGIN_OK;
}

margin_status mg_align(margin_context *context, const margin_model *model, const margin_data *data,
                       mg_aligned *aligned, margin_error *error) {
    return align(context, model, data, NULL, aligned, error);
}

margin_status mg_align_training(margin_context *context, const margin_model *model,
                                const margin_data *data, mg_aligned *aligned, margin_error *error) {
    const double first = margin_report_item_value(&model->report, MG_STAGE_ROWS);
    MG_SCOPED(mg_samples, samples);
    bool *late;
    if (!mg_model_is_updated(model) || !mg_learner_sees_categories(model))
        return mg_align(context, model, data, aligned, error);
    MG_TRY(mg_samples_make(context->heap, data, &samples, error));
    MG_SCOPED_ARENA(arena, context->heap);
    MG_ARENA_NEW(&arena, late, data->x.rows, "the rows that came later", error);
    memset(late, 0, (size_t)data->x.rows * sizeof *late);
    for (int64_t i = 0; i < samples.count; i++)
        late[mg_samples_row(&samples, i)] = (double)i >= first;
    return align(context, model, data, late, aligned, error);
}

void mg_aligned_free(mg_aligned *aligned) {
    if (!aligned->heap) return;
    mg_matrix_buffer_free(&aligned->buffer);
    mg_free(aligned->heap, aligned->columns);
    *aligned = (mg_aligned){0};
}
