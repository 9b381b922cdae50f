/* The target from a file of its own. */
#include "base/scoped.h"
#include "base/text/number_text.h"
#include "data/arrays/array.h"
#include "data/table/encoder.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char label_name[] = "y";

static margin_status describe_file(const mg_source *source, mg_array *array, margin_error *error) {
    static const char npy_magic[] = "\x93NUMPY";
    if (source->length >= 6 && memcmp(source->text, npy_magic, 6) == 0)
        return mg_npy_describe(source, array, error);
    if (source->length >= 4 && source->text[0] == 0 && source->text[1] == 0)
        return mg_idx_describe(source, array, error);
    return mg_fail(error, MARGIN_ERROR_FORMAT, "%s: labels are read from .npy or idx files",
                   source->name);
}

/* expected: targets of the model, 0: any number. */
static margin_status check_shape(const mg_array *array, const margin_table *table, int64_t expected,
                                 margin_error *error) {
    MG_REQUIRE(array->columns == 1 || !mg_array_is_text(array), error, MARGIN_ERROR_DATA,
               "%s: labels that are text must be one column, this file has %lld",
               array->source->name, (long long)array->columns);
    MG_REQUIRE(array->columns <= MG_MAX_TARGETS, error, MARGIN_ERROR_LIMIT,
               "%s: %lld columns of labels are more than the limit of %d", array->source->name,
               (long long)array->columns, (int)MG_MAX_TARGETS);
    MG_REQUIRE(expected == 0 || array->columns == expected, error, MARGIN_ERROR_DATA,
               "%s: %lld column%s of labels, and the model has %lld target%s", array->source->name,
               (long long)array->columns, array->columns == 1 ? "" : "s", (long long)expected,
               expected == 1 ? "" : "s");
    MG_REQUIRE(array->rows == table->x.view.rows, error, MARGIN_ERROR_DATA,
               "%s has %s, but %s has %s", array->source->name,
               mg_counted(array->rows, "labels").text, table->name,
               mg_counted(table->x.view.rows, "rows").text);
    return MARGIN_OK;
}

/* Codes of text labels in order of appearance, -1: unknown to the model; an empty text is a missing
 * label. */
static margin_status read_codes(margin_context *context, const mg_array *array, mg_encoder *encoder,
                                margin_table *table, margin_error *error) {
    MG_SCOPED(mg_text, text);
    mg_text_init(&text, table->heap);
    const bool is_text = mg_array_is_text(array);
    for (int64_t i = 0; i < array->rows; i++) {
        if (i % 4096 == 0 && mg_cancelled(context)) MG_TRY(mg_fail_cancelled(error));
        char number[MARGIN_NUMBER_TEXT];
        const char *label = number;
        int64_t length, code;
        if (is_text) {
            text.length = 0;
            MG_TRY(mg_array_read_text(array, i, 0, &text, error));
            label = text.data;
            length = text.length;
        } else {
            length = mg_array_print(array, i, 0, number);
        }
        table->y[i] = (double)NAN;
        if (length == 0) continue;
        MG_TRY(mg_encoder_code(encoder, label, length, &code, error));
        if (code < 0 && encoder->refuses)
            MG_TRY(mg_encoder_refuse(encoder, array->source->name, i, "the labels", label, length,
                                     error));
        table->y[i] = (double)code;
    }
    return MARGIN_OK;
}

static margin_status read_categories(margin_context *context, const mg_array *array,
                                     const margin_read_options *options, margin_table *table,
                                     margin_error *error) {
    const margin_column *expected = options->expected_target;
    MG_SCOPED(mg_encoder, encoder);
    MG_TRY(mg_encoder_init(table->heap, expected, options, true, &encoder, error));
    MG_TRY(read_codes(context, array, &encoder, table, error));
    return mg_encoder_describe(&encoder, expected ? expected->name : label_name, table->y,
                               MARGIN_F64, array->rows, 1, &table->target, error);
}

/* Columns of numbers: a target each. */
static margin_status read_numbers(const mg_array *array, const margin_column *expected,
                                  margin_table *table, margin_error *error) {
    const margin_column lone = {.name = label_name};
    const int64_t targets = array->columns;
    for (int64_t t = 0; t < targets; t++) {
        const int64_t row = mg_array_inexact_row(array, t);
        if (row >= 0)
            return mg_array_fail_inexact(array, row, t, array->source->name, row + 1, error);
    }
    for (int64_t t = 0; t < targets; t++)
        mg_array_read_f64(array, array->first + t * array->column_step, array->row_step,
                          array->rows, table->y + t, targets);
    if (!expected && targets > 1)
        return mg_columns_numbered(table->heap, label_name, targets, &table->target, error);
    return mg_columns_copy(table->heap, expected ? expected : &lone, targets, &table->target,
                           error);
}

static margin_status read_labels(margin_context *context, const mg_array *array,
                                 const margin_read_options *options, margin_table *table,
                                 margin_error *error) {
    const margin_column *expected = options->expected_target;
    MG_TRY(check_shape(array, table, mg_expected_targets(options), error));
    MG_NEW(table->heap, table->y, array->rows * array->columns, "the labels", error);
    table->has_target = true;
    bool wants_categories = expected && expected->kind == MARGIN_CATEGORICAL;
    MG_REQUIRE(!expected || wants_categories || !mg_array_is_text(array), error, MARGIN_ERROR_DATA,
               "%s: the labels are text, but the model was trained on numbers",
               array->source->name);
    const bool digits = !expected && array->columns == 1 && mg_array_inexact_row(array, 0) >= 0;
    if (mg_array_is_text(array) || wants_categories || digits)
        return read_categories(context, array, options, table, error);
    return read_numbers(array, expected, table, error);
}

/* Encodes the labels that are left once more. */
static margin_status prune_categories(margin_table *table, margin_error *error) {
    const margin_column *target = table->target.items;
    MG_SCOPED(mg_encoder, encoder);
    mg_columns pruned = {0};
    MG_TRY(mg_encoder_init(table->heap, NULL, NULL, true, &encoder, error));
    for (int64_t i = 0; i < table->x.view.rows; i++) {
        const char *name = target->categories[(int64_t)table->y[i]];
        int64_t code;
        MG_TRY(mg_encoder_code(&encoder, name, (int64_t)strlen(name), &code, error));
        table->y[i] = (double)code;
    }
    MG_TRY(mg_encoder_describe(&encoder, target->name, table->y, MARGIN_F64, table->x.view.rows, 1,
                               &pruned, error));
    mg_columns_free(&table->target);
    table->target = pruned;
    return MARGIN_OK;
}

margin_status mg_array_settle_labels(const margin_read_options *options, margin_table *table,
                                     margin_error *error) {
    if (table->target.items->kind != MARGIN_CATEGORICAL) return MARGIN_OK;
    if (!options->expected_target)
        return table->details.rows_dropped > 0 ? prune_categories(table, error) : MARGIN_OK;
    const double listed = (double)options->expected_target->category_count;
    for (int64_t i = 0; i < table->x.view.rows; i++) {
        if (!(table->y[i] < 0 || table->y[i] >= listed)) continue;
        if (table->y[i] < 0) table->y[i] = (double)NAN;
        table->details.unknown_categories++;
        table->details.unknown_classes++;
    }
    return MARGIN_OK;
}

/* Of a pipe or a device. */
static margin_status look_labels(const char *name, const char *head, int64_t length,
                                 int64_t *longest_line, margin_error *error) {
    (void)length, (void)longest_line;
    MG_REQUIRE(memcmp(head, "\x93NUMPY", 6) == 0 || (head[0] == 0 && head[1] == 0 && head[2]),
               error, MARGIN_ERROR_FORMAT, "%s: labels are read from .npy and idx files", name);
    return MARGIN_OK;
}

margin_status mg_array_labels(margin_context *context, const margin_read_options *options,
                              margin_table *table, margin_error *error) {
    mg_source source = {0};
    mg_array array;
    MG_TRY(mg_source_open(context, options->labels, look_labels, &source, error));
    margin_status status;
    MG_GO(describe_file(&source, &array, error));
    MG_GO(read_labels(context, &array, options, table, error));
    status = mg_source_unchanged(&source, error);
done:
    mg_source_close(&source);
    return status;
}
