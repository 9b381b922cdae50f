/* Descriptions of columns in a model file: the number of columns where all are numeric and called
 * x1, x2, ...; else a list with a name for each numeric column and an object for each categorical
 * one. */
#include "model/store/store.h"

#include <string.h>

static bool is_numbered(const margin_column *column, int64_t j) {
    char buffer[32];
    return column->kind == MARGIN_NUMERIC &&
           strcmp(column->name, mg_column_name(NULL, j, buffer)) == 0;
}

static void write_column(mg_text *out, const margin_column *column) {
    if (column->kind == MARGIN_NUMERIC) {
        mg_text_json_string(out, column->name, (int64_t)strlen(column->name));
        return;
    }
    mg_text_puts(out, "{");
    mg_store_write_text(out, "name", column->name);
    mg_store_write_texts(out, "categories", column->categories, column->category_count);
    mg_text_puts(out, "}");
}

void mg_store_write_columns(mg_text *out, const char *key, const margin_column *columns,
                            int64_t count) {
    int64_t numbered = 0;
    while (numbered < count && is_numbered(&columns[numbered], numbered))
        numbered++;
    if (numbered == count) {
        mg_store_write_integer(out, key, count);
        return;
    }
    mg_store_write_raw(out, key, "[");
    for (int64_t j = 0; j < count; j++) {
        if (j) mg_text_puts(out, ",");
        write_column(out, &columns[j]);
    }
    mg_text_puts(out, "]");
}

/* ---- Reading --------------------------------------------------------------------------------- */

static margin_status fail_column(const mg_store_reader *r, const char *key, int64_t j) {
    return mg_fail_stored(r,
                          "its entry %s describes column %lld in a way this version does not "
                          "know",
                          key, (long long)j + 1);
}

/* Categories of all columns of the list. */
static margin_status count_categories(const mg_store_reader *r, const json_t *list, const char *key,
                                      int64_t *count) {
    *count = 0;
    for (size_t j = 0; j < json_array_size(list); j++) {
        const json_t *item = json_array_get(list, j);
        if (json_is_string(item)) continue;
        const json_t *categories = json_object_get(item, "categories");
        if (!json_is_string(json_object_get(item, "name")) || !json_is_array(categories))
            return fail_column(r, key, (int64_t)j);
        for (size_t k = 0; k < json_array_size(categories); k++)
            if (!json_is_string(json_array_get(categories, k)))
                return fail_column(r, key, (int64_t)j);
        *count += (int64_t)json_array_size(categories);
    }
    return MARGIN_OK;
}

/* Views of the list's texts; the list has passed count_categories. */
static void view_columns(const json_t *list, margin_column *items, const char **categories) {
    for (size_t j = 0; j < json_array_size(list); j++) {
        const json_t *item = json_array_get(list, j);
        const json_t *names = json_object_get(item, "categories");
        items[j] = (margin_column){.name = json_string_value(item), .kind = MARGIN_NUMERIC};
        if (json_is_string(item)) continue;
        items[j] = (margin_column){.name = json_string_value(json_object_get(item, "name")),
                                   .kind = MARGIN_CATEGORICAL,
                                   .categories = categories,
                                   .category_count = (int64_t)json_array_size(names)};
        for (size_t k = 0; k < json_array_size(names); k++)
            *categories++ = json_string_value(json_array_get(names, k));
    }
}

static margin_status read_list(const mg_store_reader *r, const json_t *list, const char *key,
                               mg_columns *columns) {
    const int64_t count = (int64_t)json_array_size(list);
    const char *purpose = "the descriptions of the columns";
    int64_t category_count;
    margin_column *items;
    const char **categories;
    MG_TRY(count_categories(r, list, key, &category_count));
    MG_SCOPED_ARENA(arena, r->heap);
    MG_TRY(MG_PIECES(&arena, purpose, r->error, MG_PIECE(items, count),
                     MG_PIECE(categories, category_count)));
    view_columns(list, items, categories);
    return mg_columns_copy(r->heap, items, count, columns, r->error);
}

margin_status mg_store_read_columns(const mg_store_reader *r, const json_t *object, const char *key,
                                    mg_columns *columns) {
    const json_t *field = json_object_get(object, key);
    if (json_is_array(field)) return read_list(r, field, key, columns);
    int64_t count;
    MG_TRY(mg_json_integer(r, object, key, 0, MG_MAX(r->length, MG_STORE_FREE_COLUMNS), &count));
    return mg_columns_numbered(r->heap, "x", count, columns, r->error);
}
