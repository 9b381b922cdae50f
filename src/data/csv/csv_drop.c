/* Rows with missing values left out: the kept ones move up in place. */
#include "data/csv/csv.h"

#include <math.h>

enum { ROWS_BETWEEN_LOOKS = 4096 }; /* at the wish to cancel */

static margin_status move_rows(const mg_csv *csv, char *array, size_t row_bytes) {
    int64_t kept = 0;
    for (int64_t row = 0; array && row < csv->rows; row++) {
        if (row % ROWS_BETWEEN_LOOKS == 0 && mg_cancelled(csv->context))
            return mg_fail_cancelled(csv->error);
        if (csv->dropped[row]) continue;
        if (kept < row)
            memmove(array + (size_t)kept * row_bytes, array + (size_t)row * row_bytes, row_bytes);
        kept++;
    }
    return MARGIN_OK;
}

static int64_t listed_count(const mg_csv *csv, int64_t j) {
    return csv->cells[j].list ? csv->cells[j].list->count : 0;
}

/* Takes categories without a row out of a column's order, but those that a model expects.
 * `places` has room for all of them. */
static void prune_column(mg_csv *csv, int64_t j, int64_t rows, int32_t *places) {
    const mg_csv_column *column = &csv->cells[j];
    int64_t count = csv->category_counts[j], kept = 0;
    memset(places, 0, (size_t)count * sizeof *places);
    for (int64_t row = 0; row < rows; row++) {
        double code = mg_csv_cell_get(column, row);
        if (!isnan(code)) places[(int64_t)code] = 1;
    }
    for (int64_t k = 0; k < count; k++) {
        if (!places[k] && k >= listed_count(csv, j)) continue;
        csv->orders[j][kept] = csv->orders[j][k];
        places[k] = (int32_t)kept++;
    }
    csv->category_counts[j] = kept;
    if (kept == count) return;
    for (int64_t row = 0; row < rows; row++) {
        double code = mg_csv_cell_get(column, row);
        if (!isnan(code)) mg_csv_cell_set(column, row, (double)places[(int64_t)code]);
    }
}

static margin_status prune_categories(mg_csv *csv, int64_t rows) {
    int64_t most = 0;
    for (int64_t j = 0; j < csv->columns; j++)
        if (csv->orders[j]) most = MG_MAX(most, csv->category_counts[j]);
    int32_t *places = NULL;
    MG_NEW(csv->heap, places, most, "the categories of a column", csv->error);
    for (int64_t j = 0; j < csv->columns && !mg_cancelled(csv->context); j++)
        if (csv->orders[j]) prune_column(csv, j, rows, places);
    mg_free(csv->heap, places);
    return mg_cancelled(csv->context) ? mg_fail_cancelled(csv->error) : MARGIN_OK;
}

/* Values not in their lists among the rows that are left: NaN there can mean nothing else. */
static void count_unknown(mg_csv *csv, int64_t rows) {
    csv->unknown = csv->unknown_classes = 0;
    for (int64_t j = 0; j < csv->columns; j++) {
        int64_t unknown = 0;
        for (int64_t row = 0; csv->cells[j].list && row < rows; row++) {
            const double code = mg_csv_cell_get(&csv->cells[j], row);
            unknown += !(code < (double)listed_count(csv, j));
        }
        csv->unknown += unknown;
        csv->unknown_classes += csv->cells[j].feature ? 0 : unknown;
    }
}

margin_status mg_csv_drop_rows(mg_csv *csv) {
    margin_table *table = csv->table;
    for (int64_t row = 0; row < csv->rows; row++)
        csv->rows_dropped += csv->dropped[row];
    if (csv->rows_dropped == 0) return MARGIN_OK;
    int64_t rows = csv->rows - csv->rows_dropped;
    MG_REQUIRE(rows > 0, csv->error, MARGIN_ERROR_DATA,
               "%s: every one of its %lld rows has a missing value, so none is left",
               csv->source->name, (long long)csv->rows);
    size_t value_bytes = table->x.view.value_type == MARGIN_F32 ? sizeof(float) : sizeof(double);
    MG_TRY(move_rows(csv, (char *)(uintptr_t)table->x.view.values,
                     (size_t)csv->features * value_bytes));
    MG_TRY(move_rows(csv, (char *)table->y, (size_t)csv->targets * sizeof *table->y));
    MG_TRY(move_rows(csv, (char *)table->weights, sizeof *table->weights));
    table->x.view.rows = rows;
    csv->missing = 0;
    count_unknown(csv, rows);
    return prune_categories(csv, rows);
}
