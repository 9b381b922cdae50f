/* Reading CSV and its relatives: the order of the stages (csv.h tells which they are). */
#include "data/csv/csv.h"

#include "base/machine/cpu.h"
#include "base/scoped.h"

#include <stdio.h>

static const mg_csv_kernels *choose_kernels(void) {
#if defined(__x86_64__)
    if (mg_isa_level() >= MG_ISA_AVX2) return &mg_csv_kernels_avx2;
#endif
    return &mg_csv_kernels_ref;
}

static void csv_free(mg_csv *csv) {
    for (int64_t j = 0; j < csv->columns; j++) {
        if (csv->categories) mg_dictionary_free(&csv->categories[j]);
        if (csv->lists) mg_dictionary_free(&csv->lists[j]);
        if (csv->orders) mg_free(csv->heap, csv->orders[j]);
    }
    MG_FREE(csv->heap, csv->categories, csv->lists, (void *)csv->orders, csv->category_counts,
            csv->cells, csv->plan, csv->blocks, csv->dropped, (void *)csv->names, csv->name_text);
    margin_table_free(csv->table);
}

/* ---- Room ----------------------------------------------------------------------------------- */

static margin_status plan_columns(mg_csv *csv) {
    MG_NEW(csv->heap, csv->plan, csv->columns, "the columns of a table", csv->error);
    const margin_status status =
        mg_plan_columns(csv->heap, csv->names, csv->has_header, csv->columns, csv->options,
                        csv->source->name, csv->plan, &csv->features, csv->error);
    if (status == MARGIN_ERROR_DATA && csv->columns == 1 && csv->options->separator == 0)
        return mg_csv_fail_separator(csv);
    return status;
}

static int64_t count_role(const mg_csv *csv, mg_role role) {
    int64_t count = 0;
    for (int64_t j = 0; j < csv->columns; j++)
        count += csv->plan[j].role == role;
    return count;
}

static margin_status allocate_columns(mg_csv *csv) {
    static const char purpose[] = "the columns of a table";
    mg_heap *heap = csv->heap;
    MG_NEW_ZERO(heap, csv->cells, csv->columns, purpose, csv->error);
    MG_NEW_ZERO(heap, csv->categories, csv->columns, purpose, csv->error);
    MG_NEW_ZERO(heap, csv->orders, csv->columns, purpose, csv->error);
    MG_NEW_ZERO(heap, csv->category_counts, csv->columns, purpose, csv->error);
    MG_NEW_ZERO(heap, csv->lists, csv->columns, purpose, csv->error);
    return MARGIN_OK;
}

static margin_status allocate_table(mg_csv *csv) {
    margin_type type = csv->options->value_type ? csv->options->value_type : MARGIN_F64;
    char purpose[96];
    snprintf(purpose, sizeof purpose, "a table of %lld x %lld numbers", (long long)csv->rows,
             (long long)csv->features);
    MG_TRY(mg_table_new(csv->heap, csv->source->name, &csv->table, csv->error));
    margin_table *table = csv->table;
    MG_TRY(mg_matrix_new_dense(csv->heap, csv->rows, csv->features, type, purpose, &table->x,
                               csv->error));
    csv->targets = count_role(csv, MG_ROLE_TARGET);
    MG_REQUIRE(csv->targets == 0 || csv->rows <= INT64_MAX / 16 / csv->targets, csv->error,
               MARGIN_ERROR_LIMIT, "%lld rows have too many targets", (long long)csv->rows);
    if (csv->targets > 0)
        MG_NEW(csv->heap, table->y, csv->rows * csv->targets, "the target", csv->error);
    if (count_role(csv, MG_ROLE_WEIGHT) > 0)
        MG_NEW(csv->heap, table->weights, csv->rows, "the weights", csv->error);
    if (csv->options->missing == MARGIN_MISSING_DROP) {
        MG_NEW_ZERO(csv->heap, csv->dropped, csv->rows, purpose, csv->error);
    }
    return MARGIN_OK;
}

/* Where the values of each column go. */
static void place_columns(mg_csv *csv) {
    margin_table *table = csv->table;
    int64_t value_bytes =
        table->x.view.value_type == MARGIN_F32 ? (int64_t)sizeof(float) : (int64_t)sizeof(double);
    char *values = (char *)(uintptr_t)table->x.view.values;
    for (int64_t j = 0; j < csv->columns; j++) {
        mg_csv_column *column = &csv->cells[j];
        switch (csv->plan[j].role) {
        case MG_ROLE_FEATURE:
            column->cells = values + csv->plan[j].feature * value_bytes;
            column->step = table->x.view.stride * value_bytes;
            break;
        case MG_ROLE_TARGET:
            column->cells = (char *)(table->y + csv->plan[j].target);
            column->step = csv->targets * (int64_t)sizeof *table->y;
            break;
        case MG_ROLE_WEIGHT:
            column->cells = (char *)table->weights;
            column->step = (int64_t)sizeof *table->weights;
            break;
        case MG_ROLE_IGNORED:
            break;
        }
    }
}

/* ---- Passes --------------------------------------------------------------------------------- */

/* Columns taken for numbers in which a text turned up become categories; the others are done. True
 * if there are any. */
static bool promote_columns(mg_csv *csv, const uint8_t *misfits) {
    bool any = false;
    for (int64_t j = 0; j < csv->columns; j++) {
        csv->cells[j].kind = misfits[j] ? MG_CSV_TEXT : MG_CSV_SKIPPED;
        any |= misfits[j] != 0;
    }
    return any;
}

static margin_status run_passes(mg_csv *csv) {
    uint8_t *misfits;
    MG_NEW_ZERO(csv->heap, misfits, csv->columns, "the columns of a table", csv->error);
    margin_status status = mg_csv_run_pass(csv, true, misfits);
    if (status == MARGIN_OK && promote_columns(csv, misfits)) {
        status = mg_source_restore(csv->source, csv->error);
        if (status == MARGIN_OK) status = mg_csv_run_pass(csv, false, misfits);
    }
    mg_free(csv->heap, misfits);
    if (status == MARGIN_OK) status = mg_csv_judge_columns(csv);
    return status;
}

/* ---- Descriptions --------------------------------------------------------------------------- */

/* Name, kind and categories of column j; the pointers go to `categories` and what it points to. */
static margin_column csv_describe(const mg_csv *csv, int64_t j, const char *name,
                                  const char **categories) {
    const margin_column *expected = csv->plan[j].expected;
    if (expected && csv->category_counts[j] <= expected->category_count) return *expected;
    margin_column column = {.name = expected ? expected->name : name};
    if (!csv->orders[j]) return column;
    column.kind = MARGIN_CATEGORICAL;
    column.category_count = csv->category_counts[j];
    column.categories = categories;
    for (int64_t k = 0; k < column.category_count; k++)
        categories[k] = mg_csv_category(csv, j, k);
    return column;
}

/* In training: what a model expects is found by the names that it was given. */
static void note_repeated(const mg_csv *csv, const mg_names *names) {
    char more[60] = "";
    int64_t count = 0, first = 0;
    for (int64_t j = csv->columns - 1; j >= 0 && !csv->options->expected; j--) {
        if (names->items[j] == csv->names[j]) continue;
        count++;
        first = j;
    }
    if (!count) return;
    if (count > 1) snprintf(more, sizeof more, ", and so on for %lld columns", (long long)count);
    mg_log(csv->context, MARGIN_LOG_NOTE, "the header names %.200s twice: the second is %.200s%s",
           csv->names[first], names->items[first], more);
}

static margin_status describe_columns(mg_csv *csv) {
    margin_table *table = csv->table;
    MG_SCOPED(mg_names, names);
    margin_column *items, *targets;
    const char **categories;
    int64_t used = 0, count = 0;
    for (int64_t j = 0; j < csv->columns; j++)
        count += csv->category_counts[j];
    MG_TRY(mg_names_unique(csv->heap, csv->names, csv->columns, &names, csv->error));
    note_repeated(csv, &names);
    MG_SCOPED_ARENA(arena, csv->heap);
    MG_ARENA_NEW(&arena, items, csv->features, "the columns of a table", csv->error);
    MG_ARENA_NEW(&arena, targets, csv->targets, "the targets", csv->error);
    MG_ARENA_NEW(&arena, categories, count, "the categories of the columns", csv->error);
    for (int64_t j = 0; j < csv->columns; j++) {
        margin_column column = csv_describe(csv, j, names.items[j], categories + used);
        used += csv->category_counts[j];
        if (csv->plan[j].role == MG_ROLE_FEATURE) items[csv->plan[j].feature] = column;
        if (csv->plan[j].role == MG_ROLE_TARGET) targets[csv->plan[j].target] = column;
    }
    MG_TRY(mg_columns_copy(csv->heap, items, csv->features, &table->columns, csv->error));
    table->has_target = table->y != NULL;
    if (table->has_target)
        MG_TRY(mg_columns_copy(csv->heap, targets, csv->targets, &table->target, csv->error));
    return MARGIN_OK;
}

static void fill_details(const mg_csv *csv) {
    margin_table_details *details = &csv->table->details;
    details->format = MARGIN_FORMAT_CSV;
    details->rows_dropped = csv->rows_dropped;
    details->missing = csv->missing;
    details->unknown_categories = csv->unknown;
    details->unknown_classes = csv->unknown_classes;
    details->has_header = csv->has_header;
    details->separator = csv->separator;
}

/* ---- The whole ------------------------------------------------------------------------------ */

static margin_status run_stages(mg_csv *csv) {
    MG_TRY(mg_csv_read_head(csv));
    MG_TRY(plan_columns(csv));
    MG_TRY(mg_csv_find_rows(csv));
    MG_TRY(allocate_columns(csv));
    MG_TRY(allocate_table(csv));
    MG_TRY(mg_csv_choose_kinds(csv));
    place_columns(csv);
    MG_TRY(run_passes(csv));
    if (csv->dropped) MG_TRY(mg_csv_drop_rows(csv));
    MG_TRY(describe_columns(csv));
    fill_details(csv);
    return MARGIN_OK;
}

margin_status mg_csv_read(margin_context *context, const mg_source *source,
                          const margin_read_options *options, int64_t block_bytes,
                          margin_table **table, margin_error *error) {
    mg_csv csv = {.context = context,
                  .heap = context->heap,
                  .source = source,
                  .options = options,
                  .error = error,
                  .kernels = choose_kernels(),
                  .text = source->text,
                  .block_bytes = block_bytes};
    margin_status status = run_stages(&csv);
    if (status == MARGIN_OK) {
        *table = csv.table;
        csv.table = NULL;
    }
    csv_free(&csv);
    return status;
}

static margin_status read_csv(margin_context *context, mg_source *source,
                              const margin_read_options *options, margin_table **table,
                              margin_error *error) {
    return mg_csv_read(context, source, options, 0, table, error);
}

static const char *const endings[] = {".csv", ".tsv",   ".txt",  ".tab", ".data", ".dat",
                                      ".tra", ".train", ".test", ".tes", NULL};
const mg_reader mg_reader_csv = {MARGIN_FORMAT_CSV, "csv", endings, read_csv};
