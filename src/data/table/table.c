/* The table as an object. What fills it are the readers (reader.c). */
#include "data/table/table.h"

#include "base/caller_options.h"

#include <string.h>

margin_status mg_table_new(mg_heap *heap, const char *name, margin_table **table,
                           margin_error *error) {
    margin_table *made = NULL;
    MG_NEW(heap, made, 1, "a table", error);
    *made = (margin_table){.heap = heap};
    const margin_status status =
        mg_take_text(heap, name, -1, "the name of a table", &made->name, error);
    if (status < 0) {
        mg_free(heap, made);
        return status;
    }
    made->details.name = made->name;
    mg_heap_retain(heap);
    *table = made;
    return MARGIN_OK;
}

void margin_table_free(margin_table *table) {
    if (!table) return;
    mg_heap *heap = table->heap;
    mg_matrix_buffer_free(&table->x);
    mg_columns_free(&table->columns);
    mg_columns_free(&table->target);
    MG_FREE(heap, table->y, table->weights, table->name, table);
    mg_heap_release(heap);
}

margin_data margin_table_data(const margin_table *table) {
    margin_data data = {.x = table->x.view, .columns = table->columns.items};
    if (table->has_target) {
        const int64_t targets = table->target.count;
        data.y = margin_values_f64(table->y, targets * table->x.view.rows);
        data.target = table->target.items;
        data.targets = targets > 1 ? targets : 0;
    }
    if (table->weights) data.weights = margin_values_f64(table->weights, table->x.view.rows);
    return data;
}

void margin_table_info(const margin_table *table, margin_table_details *details) {
    const mg_result_type type = MG_RESULT(margin_table_details, name);
    if (mg_result_check(details, type, NULL) >= 0) mg_result_give(details, type, &table->details);
}
