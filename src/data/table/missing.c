/* Missing values of a dense table: the rows that have them. */
#include "data/table/missing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void mg_missing_begin(mg_missing *missing) {
    atomic_store(&missing->count, 0);
    atomic_store(&missing->first, INT64_MAX);
}

static int64_t count_missing(const margin_matrix *x, int64_t row) {
    int64_t missing = 0;
    for (int64_t j = 0; j < x->columns; j++)
        missing += isnan(mg_stored_value(x, row * x->stride + j));
    return missing;
}

void mg_missing_note(mg_missing *missing, const margin_matrix *x, const mg_block *block) {
    int64_t count = 0, first = INT64_MAX;
    for (int64_t i = block->first; i < block->first + block->count; i++) {
        int64_t here = count_missing(x, i);
        if (here > 0 && count == 0) first = i;
        count += here;
    }
    if (count == 0) return;
    atomic_fetch_add_explicit(&missing->count, count, memory_order_relaxed);
    mg_note_row(&missing->first, first);
}

/* The first target that is missing in a row; `targets`: none. */
static int64_t missing_target(const margin_table *table, int64_t targets, int64_t row) {
    int64_t t = 0;
    while (t < targets && !(table->y && isnan(table->y[row * targets + t])))
        t++;
    return t;
}

static bool row_is_missing(const margin_table *table, int64_t targets, int64_t row) {
    return count_missing(&table->x.view, row) > 0 ||
           missing_target(table, targets, row) < targets ||
           (table->weights && isnan(table->weights[row]));
}

static void move_row(margin_table *table, int64_t targets, int64_t from, int64_t to) {
    const margin_matrix *x = &table->x.view;
    size_t bytes = (size_t)(x->stride * mg_type_size(x->value_type));
    char *values = (char *)x->values;
    memcpy(values + (size_t)to * bytes, values + (size_t)from * bytes, bytes);
    if (table->y)
        memcpy(table->y + to * targets, table->y + from * targets,
               (size_t)targets * sizeof *table->y);
    if (table->weights) table->weights[to] = table->weights[from];
}

static margin_status drop_missing(margin_table *table, int64_t targets, uint8_t *dropped,
                                  margin_error *error) {
    const int64_t rows = table->x.view.rows;
    int64_t kept = 0;
    for (int64_t i = 0; i < rows; i++) {
        const bool drop = row_is_missing(table, targets, i);
        if (dropped) dropped[i] = drop;
        if (drop) continue;
        if (kept < i) move_row(table, targets, i, kept);
        kept++;
    }
    MG_REQUIRE(kept > 0, error, MARGIN_ERROR_DATA,
               "%s: every row has a missing value; none is left", table->name);
    table->x.view.rows = kept;
    table->details.rows_dropped = rows - kept;
    return MARGIN_OK;
}

static margin_status refuse_missing(const margin_table *table, const margin_column *features,
                                    int64_t row, margin_error *error) {
    margin_matrix cell = table->x.view;
    const char *values = cell.values;
    int64_t column = 0;
    cell.columns = 1;
    for (; column < table->x.view.columns - 1; column++) {
        cell.values = values + column * mg_type_size(cell.value_type);
        if (count_missing(&cell, row) > 0) break;
    }
    return mg_fail_at(error, MG_DATA(MISSING_VALUE), (mg_place){.row = row + 1},
                      "%s: row %lld: the value of column %s is missing", table->name,
                      (long long)row + 1, features[column].name);
}

static margin_status refuse_missing_target(const margin_table *table, int64_t targets,
                                           margin_error *error) {
    for (int64_t i = 0; i < table->x.view.rows; i++) {
        const int64_t t = missing_target(table, targets, i);
        if (t == targets) continue;
        char number[32] = "";
        if (targets > 1) snprintf(number, sizeof number, " number %lld", (long long)t + 1);
        return mg_fail_at(error, MG_DATA(MISSING_VALUE), (mg_place){.row = i + 1},
                          "%s: row %lld: the target%s is missing", table->name, (long long)i + 1,
                          number);
    }
    return MARGIN_OK;
}

margin_status mg_missing_treat(const mg_missing *missing, const margin_read_options *options,
                               const margin_column *features, int64_t targets, margin_table *table,
                               uint8_t *dropped, margin_error *error) {
    const int64_t first = atomic_load(&missing->first);
    switch (options->missing) {
    case MARGIN_MISSING_KEEP:
    case MARGIN_MISSING_CATEGORY:
        table->details.missing = atomic_load(&missing->count);
        if (!mg_target_is_required(options)) return MARGIN_OK;
        return refuse_missing_target(table, targets, error);
    case MARGIN_MISSING_ERROR:
        if (first < INT64_MAX) return refuse_missing(table, features, first, error);
        return refuse_missing_target(table, targets, error);
    case MARGIN_MISSING_DROP:
        return drop_missing(table, targets, dropped, error);
    }
    return MARGIN_OK;
}
