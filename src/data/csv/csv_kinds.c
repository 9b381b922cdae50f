/* How each column is to be read. What the options or a model say is final; for the rest a sample
 * guesses, and the passes correct it: a wrong guess costs time, nothing else. */
#include "data/csv/csv.h"
#include "data/table/encoder.h"

enum {
    SAMPLE_PLACES = 8,     /* spread over the blocks */
    SAMPLE_ROWS = 50,      /* at each */
    SAMPLE_CELLS = 1 << 16 /* at each, but one row at least */
};

/* Columns in which the sample has a text are marked in `texts`. */
static void sample_rows(const mg_csv *csv, int64_t offset, uint8_t *texts) {
    mg_csv_cursor cursor = {csv->text + offset, csv->text + csv->end, csv->separator};
    int64_t rows = MG_MAX(MG_MIN((int64_t)SAMPLE_ROWS, SAMPLE_CELLS / csv->columns), (int64_t)1);
    while (rows-- > 0 && mg_csv_next_row(&cursor)) {
        const char *start, *stop;
        bool ended = false;
        for (int64_t j = 0; !ended && mg_csv_next(&cursor, &start, &stop, &ended); j++) {
            if (j >= csv->columns || texts[j]) continue;
            mg_csv_cell cell = mg_csv_cell_of(start, stop, csv->has_quotes);
            texts[j] = mg_csv_content_of(&cell) == MG_CSV_IS_TEXT;
        }
    }
}

static void sample_blocks(const mg_csv *csv, uint8_t *texts) {
    int64_t step = MG_MAX(csv->block_count / SAMPLE_PLACES, (int64_t)1);
    for (int64_t block = 0; block < csv->block_count; block += step)
        sample_rows(csv, csv->blocks[block].start, texts);
}

/* A column whose categories a model knows. */
static margin_status expect_categories(const mg_csv *csv, int64_t j, mg_csv_column *column) {
    const mg_column_plan *plan = &csv->plan[j];
    const margin_unknown unknown =
        plan->role == MG_ROLE_TARGET ? csv->options->unknown_target : csv->options->unknown;
    column->kind = unknown == MARGIN_UNKNOWN_KEEP ? MG_CSV_TEXT : MG_CSV_LISTED;
    column->refuses = unknown == MARGIN_UNKNOWN_ERROR;
    column->list = &csv->lists[j];
    mg_dictionary_init(column->list, csv->heap);
    MG_TRY(mg_list_categories(plan->expected, column->list, csv->error));
    column->names_missing =
        plan->role == MG_ROLE_FEATURE &&
        mg_dictionary_find(column->list, MG_CSV_MISSING_NAME, MG_CSV_MISSING_LENGTH) >= 0;
    return MARGIN_OK;
}

static margin_status choose_kind(const mg_csv *csv, int64_t j, bool text) {
    const mg_column_plan *plan = &csv->plan[j];
    mg_csv_column *column = &csv->cells[j];
    *column = (mg_csv_column){
        .feature = plan->role == MG_ROLE_FEATURE,
        .narrow = plan->role == MG_ROLE_FEATURE && csv->table->x.view.value_type == MARGIN_F32,
        .required = plan->role == MG_ROLE_TARGET ? mg_target_is_required(csv->options)
                                                 : csv->options->missing == MARGIN_MISSING_ERROR};
    if (plan->role == MG_ROLE_IGNORED) {
        column->kind = MG_CSV_UNUSED;
    } else if (plan->role == MG_ROLE_WEIGHT) {
        column->kind = MG_CSV_WEIGHT;
    } else if (!plan->expected) {
        column->kind = plan->categorical || text ? MG_CSV_TEXT : MG_CSV_NUMBER;
        column->label = plan->role == MG_ROLE_TARGET;
        column->names_missing = column->feature && csv->options->missing == MARGIN_MISSING_CATEGORY;
    } else if (plan->categorical) {
        return expect_categories(csv, j, column);
    } else {
        column->kind = MG_CSV_STRICT;
        column->exact = plan->role == MG_ROLE_TARGET;
    }
    return MARGIN_OK;
}

margin_status mg_csv_choose_kinds(mg_csv *csv) {
    uint8_t *texts = mg_new_zero(csv->heap, csv->columns, 1);
    if (!texts) return mg_no_memory(csv->heap, csv->columns, 1, "the types of columns", csv->error);
    sample_blocks(csv, texts);
    margin_status status = MARGIN_OK;
    for (int64_t j = 0; status == MARGIN_OK && j < csv->columns; j++)
        status = choose_kind(csv, j, texts[j]);
    mg_free(csv->heap, texts);
    return status;
}
