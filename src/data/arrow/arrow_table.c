/* From a stream to a table: roles, numbers in parallel blocks of rows, missing values, categories.
 */
#include "base/sort.h"
#include "data/arrow/arrow_batches.h"

#include <math.h>
#include <string.h>

enum { SHOWN_BYTES = 60, CHUNK = 256 };

static const char purpose[] = "the columns of a table";

/* ---- Roles ---------------------------------------------------------------------------------- */

static const char *what_it_holds(const char *format) {
    switch (*format) {
    case 't':
        return "dates, times or durations";
    case 'd':
        return "decimal numbers";
    case 'z':
    case 'Z':
    case 'w':
        return "bytes";
    case '+':
        return "lists or structs";
    default:
        return format[0] == 'v' && format[1] == 'z' ? "bytes" : "values";
    }
}

static margin_status fail_type(const mg_arrow *arrow, int64_t j) {
    const struct ArrowSchema *schema = arrow->schema.children[j];
    const char *format = schema->dictionary ? schema->dictionary->format : schema->format;
    return mg_fail_at(arrow->error, MARGIN_ERROR_FORMAT, (mg_place){.column = j + 1},
                      "%s: column '%.*s' holds %s%s of the Arrow type %.40s; columns hold numbers, "
                      "booleans, texts or dictionaries of texts: cast it to one of these where the "
                      "data are made, or have it ignored",
                      arrow->name, SHOWN_BYTES, arrow->columns[j].name,
                      schema->dictionary ? "a dictionary of " : "",
                      format ? what_it_holds(format) : "values", format ? format : "");
}

static margin_status fail_texts(const mg_arrow *arrow, int64_t j, const char *wanted) {
    return mg_fail_at(arrow->error, MARGIN_ERROR_DATA, (mg_place){.column = j + 1},
                      "%s: column '%.*s' holds texts, but %s numbers", arrow->name, SHOWN_BYTES,
                      arrow->columns[j].name, wanted);
}

static bool lists_missing(const margin_column *expected) {
    for (int64_t k = 0; k < expected->category_count; k++)
        if (strcmp(expected->categories[k], MG_MISSING_NAME) == 0) return true;
    return false;
}

static margin_status settle_column(mg_arrow *arrow, int64_t j) {
    mg_arrow_column *column = &arrow->columns[j];
    const mg_column_plan *plan = &column->plan;
    const bool texts = mg_arrow_is_text(&column->type);
    if (plan->role == MG_ROLE_IGNORED) return MARGIN_OK;
    if (column->type.form == MG_ARROW_OTHER) return fail_type(arrow, j);
    if (texts && plan->role == MG_ROLE_WEIGHT) return fail_texts(arrow, j, "weights are");
    if (texts && plan->expected && !plan->categorical)
        return fail_texts(arrow, j, "the model was trained on");
    column->coded = texts || (plan->categorical && plan->role != MG_ROLE_WEIGHT);
    column->names_missing = column->coded && plan->role == MG_ROLE_FEATURE &&
                            (plan->expected ? lists_missing(plan->expected)
                                            : arrow->options->missing == MARGIN_MISSING_CATEGORY);
    return MARGIN_OK;
}

static margin_status plan_columns(mg_arrow *arrow) {
    const int64_t count = arrow->schema.n_children;
    mg_heap *heap = arrow->heap;
    const char **names;
    mg_column_plan *plan;
    MG_SCOPED_ARENA(arena, heap);
    MG_TRY(MG_PIECES(&arena, purpose, arrow->error, MG_PIECE(names, count), MG_PIECE(plan, count)));
    for (int64_t j = 0; j < count; j++)
        names[j] = arrow->columns[j].name;
    MG_TRY(mg_plan_columns(heap, names, true, count, arrow->options, arrow->name, plan,
                           &arrow->features, arrow->error));
    MG_TRY(mg_names_unique(heap, names, count, &arrow->unique, arrow->error));
    for (int64_t j = 0; j < count; j++) {
        mg_arrow_column *column = &arrow->columns[j];
        column->plan = plan[j];
        column->name = plan[j].expected ? plan[j].expected->name : arrow->unique.items[j];
        arrow->targets += plan[j].role == MG_ROLE_TARGET;
        MG_TRY(settle_column(arrow, j));
    }
    return MARGIN_OK;
}

/* ---- Room ----------------------------------------------------------------------------------- */

static margin_type natural_type(const mg_arrow *arrow) {
    if (arrow->options->value_type) return arrow->options->value_type;
    for (int64_t j = 0; j < arrow->schema.n_children; j++) {
        const mg_arrow_column *column = &arrow->columns[j];
        const bool single =
            !column->coded && column->type.form == MG_ARROW_NUMBER &&
            (column->type.number == MG_ARRAY_F16 || column->type.number == MG_ARRAY_F32);
        if (column->plan.role == MG_ROLE_FEATURE && !single) return MARGIN_F64;
    }
    return MARGIN_F32;
}

static margin_status arrow_table_make_room(mg_arrow *arrow) {
    margin_error *error = arrow->error;
    margin_table *table = arrow->table;
    mg_heap *heap = arrow->heap;
    const int64_t rows = arrow->rows, targets = arrow->targets;
    MG_TRY(mg_matrix_new_dense(heap, rows, arrow->features, natural_type(arrow),
                               "the feature matrix", &table->x, error));
    MG_REQUIRE(targets == 0 || rows <= INT64_MAX / 16 / targets, error, MARGIN_ERROR_LIMIT,
               "%lld rows have too many targets", (long long)rows);
    if (targets > 0) MG_NEW(heap, table->y, rows * targets, "the target", error);
    table->has_target = targets > 0;
    for (int64_t j = 0; j < arrow->schema.n_children; j++)
        if (arrow->columns[j].plan.role == MG_ROLE_WEIGHT)
            MG_NEW(heap, table->weights, rows, "the weights", error);
    MG_NEW(heap, arrow->chosen, arrow->features, purpose, error);
    MG_NEW(heap, arrow->aims, targets, "the targets", error);
    if (arrow->options->missing == MARGIN_MISSING_DROP)
        MG_NEW_ZERO(heap, arrow->dropped, rows, purpose, error);
    return MARGIN_OK;
}

/* ---- A target's digits ---------------------------------------------------------------------- */

/* The first row of a piece whose whole number f64 cannot hold, -1: none. */
static int64_t inexact_row(const mg_arrow_piece *piece) {
    const mg_array all = mg_arrow_numbers(piece);
    for (int64_t row = 0; row < all.rows; row++) {
        mg_array rest = all;
        rest.first += row * all.row_step;
        rest.rows -= row;
        const int64_t found = mg_array_inexact_row(&rest, 0);
        if (found < 0) return -1;
        row += found;
        if (mg_arrow_is_there(piece, row)) return row;
    }
    return -1;
}

/* Labels whose digits a number would lose become categories, unless they have to be numbers. */
static margin_status settle_target(mg_arrow *arrow, int64_t j) {
    mg_arrow_column *column = &arrow->columns[j];
    const bool target = column->plan.role == MG_ROLE_TARGET && !column->coded;
    if (!target || column->type.form != MG_ARROW_NUMBER) return MARGIN_OK;
    for (int64_t b = 0; b < arrow->batch_count && !column->coded; b++) {
        const mg_arrow_piece piece = mg_arrow_piece_of(arrow, &arrow->batches[b], j);
        const int64_t row = inexact_row(&piece);
        if (row < 0) continue;
        const mg_array numbers = mg_arrow_numbers(&piece);
        if (column->plan.expected || arrow->targets > 1)
            return mg_array_fail_inexact(&numbers, row, 0, arrow->name, piece.row + row + 1,
                                         arrow->error);
        column->coded = true;
    }
    return MARGIN_OK;
}

/* ---- Numbers -------------------------------------------------------------------------------- */

margin_matrix mg_arrow_place(const mg_arrow *arrow, const mg_arrow_column *column, int64_t row) {
    const margin_table *table = arrow->table;
    margin_matrix x = table->x.view;
    if (column->plan.role == MG_ROLE_TARGET)
        return margin_dense_f64(table->y + row * arrow->targets + column->plan.target, 0, 1,
                                arrow->targets);
    if (column->plan.role == MG_ROLE_WEIGHT) return margin_dense_f64(table->weights + row, 0, 1, 1);
    const int64_t at = row * x.stride + column->plan.feature;
    x.values = (const char *)x.values + at * mg_type_size((margin_type)x.value_type);
    return x;
}

static void copy_numbers(const mg_array *numbers, int64_t first, int64_t count,
                         const margin_matrix *to, int64_t k) {
    const char *from = numbers->first + first * numbers->row_step;
    if (to->value_type == MARGIN_F32)
        mg_array_read_f32(numbers, from, numbers->row_step, count,
                          (float *)to->values + k * to->stride, to->stride);
    else
        mg_array_read_f64(numbers, from, numbers->row_step, count,
                          (double *)to->values + k * to->stride, to->stride);
}

static void copy_bits(const mg_arrow_piece *piece, int64_t first, int64_t count,
                      const margin_matrix *to) {
    char bytes[CHUNK];
    const mg_array numbers = {.first = bytes, .kind = MG_ARRAY_U8, .item_bytes = 1, .row_step = 1};
    for (int64_t done = 0; done < count; done += CHUNK) {
        const int64_t part = MG_MIN(count - done, CHUNK);
        for (int64_t k = 0; k < part; k++)
            bytes[k] = mg_arrow_bit(piece->array->buffers[1], piece->first + first + done + k);
        copy_numbers(&numbers, 0, part, to, done);
    }
}

/* Rows [first, first + count) of a piece: its numbers, NaN where they are missing. What is to
 * become a code is 0 until then, so that missing values are seen here for all columns. */
static void place_piece(const mg_arrow_piece *piece, int64_t first, int64_t count,
                        const margin_matrix *to) {
    const mg_arrow_column *column = piece->column;
    const bool dictionary = column->type.values != MG_ARROW_OTHER;
    const bool numbers = !mg_arrow_is_text(&column->type) && !column->names_missing;
    if (numbers && column->type.form == MG_ARROW_NUMBER) {
        const mg_array of = mg_arrow_numbers(piece);
        copy_numbers(&of, first, count, to, 0);
    } else if (numbers && column->type.form == MG_ARROW_BITS) {
        copy_bits(piece, first, count, to);
    } else {
        const double all = numbers ? (double)NAN : 0;
        for (int64_t k = 0; k < count; k++)
            mg_store_value(to, k * to->stride, all);
    }
    if (column->names_missing) return;
    const bool nulls = dictionary && piece->array->dictionary->null_count != 0;
    for (int64_t k = 0; (nulls || piece->there || piece->around) && k < count; k++)
        if (!mg_arrow_is_there(piece, first + k) ||
            (nulls && mg_arrow_word_is_missing(piece, first + k)))
            mg_store_value(to, k * to->stride, (double)NAN);
}

/* The batch that a row of the stream is in. */
static int64_t batch_of(const mg_arrow *arrow, int64_t row) {
    int64_t b;
    MG_BISECT(b, 0, arrow->batch_count, arrow->batches[b].row <= row);
    return b - 1;
}

static void place_rows(const mg_arrow *arrow, const mg_arrow_batch *batch, int64_t first,
                       int64_t count) {
    for (int64_t j = 0; j < arrow->schema.n_children; j++) {
        const mg_arrow_column *column = &arrow->columns[j];
        if (column->plan.role == MG_ROLE_IGNORED) continue;
        const mg_arrow_piece piece = mg_arrow_piece_of(arrow, batch, j);
        const margin_matrix to = mg_arrow_place(arrow, column, first);
        place_piece(&piece, first - batch->row, count, &to);
    }
}

static margin_status place_block(const mg_block *block, void *argument) {
    mg_arrow *arrow = argument;
    const int64_t last = block->first + block->count;
    int64_t b = batch_of(arrow, block->first);
    for (int64_t row = block->first; row < last; b++) {
        const mg_arrow_batch *batch = &arrow->batches[b];
        const int64_t stop = MG_MIN(batch->row + batch->array.length, last);
        place_rows(arrow, batch, row, stop - row);
        row = stop;
    }
    mg_missing_note(&arrow->missing, &arrow->table->x.view, block);
    return MARGIN_OK;
}

/* ---- Descriptions --------------------------------------------------------------------------- */

static margin_status describe_columns(mg_arrow *arrow) {
    margin_table *table = arrow->table;
    margin_table_details *details = &table->details;
    for (int64_t j = 0; j < arrow->schema.n_children; j++) {
        const mg_arrow_column *column = &arrow->columns[j];
        const margin_column description =
            column->coded ? column->described.items[0] : (margin_column){.name = column->name};
        const bool target = column->plan.role == MG_ROLE_TARGET;
        if (column->plan.role == MG_ROLE_FEATURE) arrow->chosen[column->plan.feature] = description;
        if (target) arrow->aims[column->plan.target] = description;
        details->unknown_categories += column->unknown;
        details->unknown_classes += target ? column->unknown : 0;
    }
    MG_TRY(mg_columns_copy(arrow->heap, arrow->chosen, arrow->features, &table->columns,
                           arrow->error));
    if (!table->has_target) return MARGIN_OK;
    return mg_columns_copy(arrow->heap, arrow->aims, arrow->targets, &table->target, arrow->error);
}

/* ---- The whole ------------------------------------------------------------------------------ */

static void name_features(const mg_arrow *arrow) {
    for (int64_t j = 0; j < arrow->schema.n_children; j++) {
        const mg_arrow_column *column = &arrow->columns[j];
        if (column->plan.role == MG_ROLE_FEATURE)
            arrow->chosen[column->plan.feature] = (margin_column){.name = column->name};
    }
}

static margin_status fill_table(mg_arrow *arrow) {
    MG_TRY(mg_arrow_read_schema(arrow));
    MG_TRY(plan_columns(arrow));
    MG_TRY(mg_arrow_read_batches(arrow));
    for (int64_t j = 0; j < arrow->schema.n_children; j++)
        MG_TRY(settle_target(arrow, j));
    MG_TRY(arrow_table_make_room(arrow));
    name_features(arrow);
    const margin_matrix *x = &arrow->table->x.view;
    MG_TRY(mg_sweep_each(arrow->context, arrow->rows, mg_block_rows(mg_row_bytes(x)), place_block,
                         arrow, arrow->error));
    MG_TRY(mg_missing_treat(&arrow->missing, arrow->options, arrow->chosen, arrow->targets,
                            arrow->table, arrow->dropped, arrow->error));
    MG_TRY(mg_arrow_encode(arrow));
    return describe_columns(arrow);
}

static void arrow_free(mg_arrow *arrow) {
    for (int64_t j = 0; arrow->columns && j < arrow->schema.n_children; j++)
        mg_columns_free(&arrow->columns[j].described);
    mg_arrow_release(arrow);
    mg_names_free(&arrow->unique);
    mg_columns_free(&arrow->numbered);
    MG_FREE(arrow->heap, arrow->columns, arrow->chosen, arrow->aims, arrow->batches,
            arrow->dropped);
    margin_table_free(arrow->table);
}

margin_status mg_arrow_table(margin_context *context, struct ArrowArrayStream *stream,
                             const char *name, const margin_read_options *options,
                             margin_table **table, margin_error *error) {
    mg_arrow arrow = {.context = context,
                      .name = name ? name : "the Arrow stream",
                      .bytes = name != NULL,
                      .heap = context->heap,
                      .stream = stream,
                      .options = options,
                      .error = error};
    margin_status status;
    mg_missing_begin(&arrow.missing);
    MG_GO(mg_table_new(arrow.heap, arrow.name, &arrow.table, error));
    arrow.table->details.format = MARGIN_FORMAT_ARROW;
    arrow.table->details.has_header = 1;
    MG_GO(fill_table(&arrow));
    *table = arrow.table;
    arrow.table = NULL;
done:
    arrow_free(&arrow);
    return status;
}
