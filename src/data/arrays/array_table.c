/* From an array to a table: columns by their roles, in parallel blocks of rows. */
#include "base/scoped.h"
#include "data/arrays/array.h"
#include "data/table/encoder.h"
#include "data/table/missing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    PANEL_COLUMNS = 8,     /* 64 bytes of a row */
    PANEL_BYTES = 16 << 20 /* of a file that is given back at a time */
};

typedef struct array_reader {
    margin_context *context;
    const mg_array *array;
    margin_read_options options; /* with the target as this format means it */
    margin_table *table;
    mg_columns numbered;               /* the file's columns: x1, x2, ... */
    const char **names;                /* theirs */
    mg_column_plan *plan;              /* one entry for each */
    margin_column *chosen;             /* descriptions of the features */
    int64_t targets;                   /* columns that are targets */
    bool straight;                     /* every column is a feature, in order */
    bool read_again;                   /* pages must come back after they were given back */
    int64_t first_column, last_column; /* that this pass over the rows reads */
    mg_missing missing;
} array_reader;

/* ---- Roles ---------------------------------------------------------------------------------- */

/* A file without names has no target of its own: it comes from the labels or from --target. A model
 * tells by the number of columns. */
static void settle_target(array_reader *reader) {
    margin_read_options *options = &reader->options;
    if (options->labels || (!options->target && !options->expected)) options->target = "";
}

/* A model wants a target, and the file has no column to spare for it. */
static bool lacks_labels(const array_reader *reader) {
    const margin_read_options *options = &reader->options;
    bool wants = options->expected && options->expected_target && !options->target_optional &&
                 !(options->target && !*options->target);
    return wants && !options->labels && reader->array->columns == options->expected_count;
}

static margin_status plan_columns(array_reader *reader, margin_error *error) {
    mg_heap *heap = reader->context->heap;
    const int64_t columns = reader->array->columns;
    int64_t features = 0;
    MG_TRY(mg_columns_numbered(heap, "x", columns, &reader->numbered, error));
    MG_NEW(heap, reader->names, columns, "the names of the columns", error);
    MG_NEW(heap, reader->plan, columns, "the roles of the columns", error);
    for (int64_t j = 0; j < columns; j++)
        reader->names[j] = reader->numbered.items[j].name;
    MG_TRY(mg_plan_columns(heap, reader->names, false, columns, &reader->options,
                           reader->array->source->name, reader->plan, &features, error));
    MG_NEW(heap, reader->chosen, features, "the names of the columns", error);
    reader->straight = features == columns;
    for (int64_t j = 0; j < columns; j++) {
        const mg_column_plan *plan = &reader->plan[j];
        reader->targets += plan->role == MG_ROLE_TARGET;
        if (plan->role != MG_ROLE_FEATURE) continue;
        reader->chosen[plan->feature] = reader->numbered.items[j];
        if (plan->expected) reader->chosen[plan->feature].name = plan->expected->name;
        reader->straight &= plan->feature == j;
    }
    reader->table->x.view.columns = features;
    return MARGIN_OK;
}

static margin_type natural_type(const array_reader *reader) {
    if (reader->options.value_type) return reader->options.value_type;
    mg_array_kind kind = reader->array->kind;
    return kind == MG_ARRAY_F32 || kind == MG_ARRAY_F16 ? MARGIN_F32 : MARGIN_F64;
}

static margin_status array_table_make_room(array_reader *reader, margin_error *error) {
    margin_table *table = reader->table;
    const int64_t rows = reader->array->rows;
    MG_TRY(mg_matrix_new_dense(table->heap, rows, table->x.view.columns, natural_type(reader),
                               "the feature matrix", &table->x, error));
    for (int64_t j = 0; j < reader->array->columns; j++)
        if (reader->plan[j].role == MG_ROLE_WEIGHT)
            MG_NEW(table->heap, table->weights, rows, "the weights", error);
    if (reader->targets > 0)
        MG_NEW(table->heap, table->y, rows * reader->targets, "the target", error);
    table->has_target = reader->targets > 0;
    return MARGIN_OK;
}

/* ---- Values --------------------------------------------------------------------------------- */

static void read_values(const array_reader *reader, const char *from, int64_t step, int64_t count,
                        int64_t to, int64_t to_step) {
    const margin_matrix *x = &reader->table->x.view;
    if (x->value_type == MARGIN_F32)
        mg_array_read_f32(reader->array, from, step, count, (float *)x->values + to, to_step);
    else
        mg_array_read_f64(reader->array, from, step, count, (double *)x->values + to, to_step);
}

static void read_column(const array_reader *reader, int64_t column, const mg_block *block) {
    const mg_array *array = reader->array;
    const mg_column_plan *plan = &reader->plan[column];
    const margin_table *table = reader->table;
    const char *from = array->first + block->first * array->row_step + column * array->column_step;
    switch (plan->role) {
    case MG_ROLE_FEATURE:
        read_values(reader, from, array->row_step, block->count,
                    block->first * table->x.view.stride + plan->feature, table->x.view.stride);
        break;
    case MG_ROLE_TARGET:
        mg_array_read_f64(array, from, array->row_step, block->count,
                          table->y + block->first * reader->targets + plan->target,
                          reader->targets);
        break;
    case MG_ROLE_WEIGHT:
        mg_array_read_f64(array, from, array->row_step, block->count, table->weights + block->first,
                          1);
        break;
    case MG_ROLE_IGNORED:
        break;
    }
}

/* Integers of eight bytes in targets and categories are looked at again, for digits that f64 has no
 * room for. */
static bool is_read_again(const array_reader *reader) {
    const mg_array *array = reader->array;
    bool again = false;
    for (int64_t j = 0; j < array->columns; j++)
        again |= reader->plan[j].role == MG_ROLE_TARGET || reader->plan[j].categorical;
    return again && (array->kind == MG_ARRAY_I64 || array->kind == MG_ARRAY_U64);
}

static void give_back(const array_reader *reader, int64_t first, int64_t last) {
    if (reader->read_again)
        mg_source_set_aside(reader->array->source, first, last);
    else
        mg_source_done(reader->array->source, first, last);
}

static margin_status read_block(const mg_block *block, void *argument) {
    array_reader *reader = argument;
    const mg_array *array = reader->array;
    const char *from = array->first + block->first * array->row_step;
    bool row_major = array->column_step == array->item_bytes;
    if (reader->straight && row_major) {
        read_values(reader, from, array->item_bytes, block->count * array->columns,
                    block->first * array->columns, 1);
    } else {
        for (int64_t j = reader->first_column; j < reader->last_column; j++)
            read_column(reader, j, block);
    }
    if (row_major) {
        int64_t begin = from - array->source->text;
        give_back(reader, begin, begin + block->count * array->row_step);
    }
    bool may_miss =
        array->kind == MG_ARRAY_F16 || array->kind == MG_ARRAY_F32 || array->kind == MG_ARRAY_F64;
    if (may_miss && reader->last_column == array->columns)
        mg_missing_note(&reader->missing, &reader->table->x.view, block);
    return MARGIN_OK;
}

static margin_status read_pass(array_reader *reader, int64_t first, int64_t last) {
    const mg_array *array = reader->array;
    reader->first_column = first;
    reader->last_column = last;
    return mg_sweep_each(reader->context, array->rows,
                         mg_block_rows(array->columns * array->item_bytes), read_block, reader,
                         NULL);
}

/* Column by column arrays are read a few columns at a time, so that pages can be given back while
 * the table grows; at least so many that the table is written in whole cache lines. */
static margin_status read_items(array_reader *reader, margin_error *error) {
    const mg_array *array = reader->array;
    const int64_t column_bytes = array->rows * array->item_bytes;
    const bool row_major = array->column_step == array->item_bytes;
    const int64_t width =
        row_major ? array->columns : MG_MAX((int64_t)PANEL_COLUMNS, PANEL_BYTES / column_bytes);
    margin_status status = MARGIN_OK;
    for (int64_t first = 0; first < array->columns && status == MARGIN_OK; first += width) {
        const int64_t last = MG_MIN(first + width, array->columns);
        status = read_pass(reader, first, last);
        int64_t begin = array->first - array->source->text;
        if (!row_major)
            give_back(reader, begin + first * column_bytes, begin + last * column_bytes);
    }
    return status < 0 ? mg_fail_cancelled(error) : MARGIN_OK;
}

/* ---- Categories ----------------------------------------------------------------------------- */

/* Numbers to categories named by their text. `values` of either type, `step` elements apart; where
 * `digits` is not NULL, they are rounded, and their text is that of its column. */
static margin_status encode_numbers(mg_encoder *encoder, const char *file, const char *name,
                                    const mg_array *digits, int64_t column, void *values,
                                    margin_type type, int64_t count, int64_t step,
                                    margin_error *error) {
    const margin_matrix x = {.values = values, .value_type = (int32_t)type};
    for (int64_t k = 0; k < count * step; k += step) {
        const double value = mg_stored_value(&x, k);
        if (isnan(value)) continue;
        char text[MARGIN_NUMBER_TEXT];
        int length = digits               ? mg_array_print(digits, k / step, column, text)
                     : type == MARGIN_F64 ? margin_number_print_f64(value, text)
                                          : margin_number_print_f32((float)value, text);
        int64_t code;
        MG_TRY(mg_encoder_code(encoder, text, length, &code, error));
        if (code < 0 && encoder->refuses)
            return mg_encoder_refuse(encoder, file, k / step, name, text, length, error);
        mg_store_value(&x, k, code < 0 ? (double)NAN : (double)code);
    }
    return MARGIN_OK;
}

/* The description that goes with the codes of one column of the file, owned by `out`. */
static margin_status encode_column(array_reader *reader, int64_t j, void *values, margin_type type,
                                   int64_t step, const char *name, mg_columns *out,
                                   margin_error *error) {
    margin_table *table = reader->table;
    MG_SCOPED(mg_encoder, encoder);
    const mg_column_plan *plan = &reader->plan[j];
    const bool target = plan->role == MG_ROLE_TARGET;
    const bool inexact = mg_array_inexact_row(reader->array, j) >= 0;
    char what[96];
    MG_REQUIRE(!inexact || table->details.rows_dropped == 0, error, MARGIN_ERROR_DATA,
               "%s: column %s holds whole numbers beyond 2^53 and some rows have no label: take "
               "those rows out of the file first",
               table->name, name);
    snprintf(what, sizeof what, "column %.60s", name);
    MG_TRY(mg_encoder_init(table->heap, plan->expected, &reader->options, target, &encoder, error));
    MG_TRY(encode_numbers(&encoder, table->name, what, inexact ? reader->array : NULL, j, values,
                          type, table->x.view.rows, step, error));
    MG_TRY(mg_encoder_describe(&encoder, name, values, type, table->x.view.rows, step, out, error));
    table->details.unknown_categories += encoder.unknown;
    table->details.unknown_classes += target ? encoder.unknown : 0;
    return MARGIN_OK;
}

static margin_status describe_target(array_reader *reader, int64_t column, mg_columns *out,
                                     margin_error *error) {
    margin_table *table = reader->table;
    const mg_column_plan *plan = &reader->plan[column];
    margin_column numeric = {.name = plan->expected ? plan->expected->name
                                                    : reader->numbered.items[column].name};
    const int64_t inexact = mg_array_inexact_row(reader->array, column);
    const bool keeps_digits = inexact >= 0 && !plan->expected && reader->targets == 1;
    if (plan->categorical || keeps_digits)
        return encode_column(reader, column, table->y + plan->target, MARGIN_F64, reader->targets,
                             numeric.name, out, error);
    if (inexact >= 0)
        return mg_array_fail_inexact(reader->array, inexact, column, table->name, inexact + 1,
                                     error);
    return mg_columns_copy(table->heap, &numeric, 1, out, error);
}

static margin_status describe_targets(array_reader *reader, margin_error *error) {
    mg_heap *heap = reader->table->heap;
    mg_columns *each = NULL;
    margin_column *items = NULL;
    margin_status status;
    if (reader->targets == 0) return MARGIN_OK;
    MG_NEW_ZERO(heap, each, reader->targets, "the targets", error);
    MG_GO_NEW(heap, items, reader->targets, "the targets", error);
    for (int64_t j = 0; j < reader->array->columns; j++) {
        const mg_column_plan *plan = &reader->plan[j];
        if (plan->role != MG_ROLE_TARGET) continue;
        MG_GO(describe_target(reader, j, &each[plan->target], error));
        items[plan->target] = each[plan->target].items[0];
    }
    status = mg_columns_copy(heap, items, reader->targets, &reader->table->target, error);
done:
    for (int64_t t = 0; t < reader->targets; t++)
        mg_columns_free(&each[t]);
    MG_FREE(heap, items, each);
    return status;
}

static margin_status describe_features(array_reader *reader, margin_error *error) {
    margin_table *table = reader->table;
    const margin_matrix *x = &table->x.view;
    const int64_t features = x->columns;
    mg_columns *encoded = NULL;
    margin_status status;
    MG_NEW_ZERO(table->heap, encoded, features, "the columns", error);
    for (int64_t j = 0; j < reader->array->columns; j++) {
        const mg_column_plan *plan = &reader->plan[j];
        if (plan->role != MG_ROLE_FEATURE || !plan->categorical) continue;
        char *values = (char *)x->values + plan->feature * mg_type_size(x->value_type);
        MG_GO(encode_column(reader, j, values, x->value_type, x->stride,
                            reader->chosen[plan->feature].name, &encoded[plan->feature], error));
        reader->chosen[plan->feature] = encoded[plan->feature].items[0];
    }
    status = mg_columns_copy(table->heap, reader->chosen, features, &table->columns, error);
done:
    for (int64_t k = 0; k < features; k++)
        mg_columns_free(&encoded[k]);
    mg_free(table->heap, encoded);
    return status;
}

static margin_status describe_columns(array_reader *reader, margin_error *error) {
    MG_TRY(describe_targets(reader, error));
    return describe_features(reader, error);
}

/* ---- The whole ------------------------------------------------------------------------------ */

/* Rows are left out before categories are made, so that those are the categories of what is left,
 * and an unknown category is not taken for a missing value. */
static margin_status fill_table(array_reader *reader, margin_error *error) {
    const margin_read_options *options = &reader->options;
    MG_TRY(plan_columns(reader, error));
    reader->read_again = is_read_again(reader);
    MG_TRY(array_table_make_room(reader, error));
    MG_TRY(read_items(reader, error));
    const bool labels = options->labels && options->target_optional < 2;
    if (labels) MG_TRY(mg_array_labels(reader->context, options, reader->table, error));
    const int64_t targets = reader->targets > 0 ? reader->targets : reader->table->target.count;
    MG_TRY(mg_missing_treat(&reader->missing, options, reader->chosen, targets, reader->table, NULL,
                            error));
    if (labels) MG_TRY(mg_array_settle_labels(options, reader->table, error));
    return describe_columns(reader, error);
}

margin_status mg_array_table(margin_context *context, const mg_array *array, margin_format format,
                             const margin_read_options *options, margin_table **table,
                             margin_error *error) {
    const char *file = array->source->name;
    array_reader reader = {.context = context, .array = array};
    mg_missing_begin(&reader.missing);
    if (options) reader.options = *options;
    MG_REQUIRE(!mg_array_is_text(array), error, MARGIN_ERROR_FORMAT,
               "%s: holds text; features must be numbers (text may serve as labels)", file);
    const char *target = reader.options.target;
    MG_REQUIRE(!reader.options.labels || !target || !*target, error, MARGIN_ERROR_ARGUMENT,
               "%s: the target is given twice, by margin_read_options.labels and "
               "margin_read_options.target",
               file);
    MG_REQUIRE(!lacks_labels(&reader), error, MARGIN_ERROR_DATA,
               "%s: holds the model's %lld features and no target; name the file of the labels "
               "(margin_read_options.labels)",
               file, (long long)array->columns);
    settle_target(&reader);
    margin_status status;
    MG_GO(mg_table_new(context->heap, file, &reader.table, error));
    reader.table->details.format = format;
    MG_GO(fill_table(&reader, error));
    *table = reader.table;
    reader.table = NULL;
done:
    margin_table_free(reader.table);
    mg_columns_free(&reader.numbered);
    MG_FREE(context->heap, (void *)reader.names, reader.plan, reader.chosen);
    return status;
}
