/* Owned descriptions of columns: items, category pointers and text lie in one block, so copying is
 * one allocation and freeing one call. */
#include "data/table/table.h"

#include <stdio.h>
#include <string.h>

enum { NUMBERED_NAME = 32 }; /* bytes for "x" and any int64, with its zero */

/* Sizes of the three parts of a block. */
typedef struct extent {
    int64_t items, pointers, text;
} extent;

static int numbered_name(char name[NUMBERED_NAME], int64_t column) {
    return snprintf(name, NUMBERED_NAME, "x%lld", (long long)column + 1);
}

static extent columns_measure(const margin_column *items, int64_t count) {
    extent size = {.items = count};
    char buffer[NUMBERED_NAME];
    for (int64_t j = 0; j < count; j++) {
        const margin_column *column = &items[j];
        size.text += column->name ? (int64_t)strlen(column->name) + 1
                                  : (int64_t)numbered_name(buffer, j) + 1;
        size.pointers += column->category_count;
        for (int64_t k = 0; k < column->category_count; k++)
            size.text += (int64_t)strlen(column->categories[k]) + 1;
    }
    return size;
}

/* Copies `string` to *end and moves *end behind it. */
static const char *place_text(char **end, const char *string) {
    char *start = *end;
    size_t bytes = strlen(string) + 1;
    memcpy(start, string, bytes);
    *end = start + bytes;
    return start;
}

margin_status mg_columns_copy(mg_heap *heap, const margin_column *items, int64_t count,
                              mg_columns *out, margin_error *error) {
    extent size = columns_measure(items, count);
    int64_t bytes = size.items * (int64_t)sizeof(margin_column) +
                    size.pointers * (int64_t)sizeof(char *) + size.text;
    char *block = mg_new(heap, bytes, 1);
    if (!block) return mg_no_memory(heap, bytes, 1, "the descriptions of the columns", error);

    margin_column *copies = (margin_column *)(void *)block;
    const char **pointers = (const char **)(void *)(copies + size.items);
    char *text = (char *)(pointers + size.pointers);
    char buffer[NUMBERED_NAME];
    for (int64_t j = 0; j < count; j++) {
        const margin_column *from = &items[j];
        if (!from->name) numbered_name(buffer, j);
        copies[j] = (margin_column){.name = place_text(&text, from->name ? from->name : buffer),
                                    .kind = from->kind,
                                    .index_base = from->index_base,
                                    .categories = from->category_count ? pointers : NULL,
                                    .category_count = from->category_count};
        for (int64_t k = 0; k < from->category_count; k++)
            *pointers++ = place_text(&text, from->categories[k]);
    }
    *out = (mg_columns){.heap = heap, .items = copies, .count = count};
    return MARGIN_OK;
}

/* Bytes of the numbers 1 to count, without a walk: a row of a sparse file can ask for thousands of
 * millions of columns. */
static int64_t numbers_text(int64_t count) {
    int64_t bytes = 0;
    for (int64_t first = 1; first <= count; first *= 10) {
        bytes += count - first + 1; /* those have a digit at this place */
        if (first > count / 10) break;
    }
    return bytes;
}

/* From "x9" to "x10"; digits stand from `start` on. */
static void next_name(char name[NUMBERED_NAME], size_t start) {
    const size_t length = strlen(name);
    size_t end = length;
    for (; end > start && name[end - 1] == '9'; end--)
        name[end - 1] = '0';
    if (end > start) {
        name[end - 1]++;
        return;
    }
    name[start] = '1';
    memcpy(name + length, "0", 2);
}

margin_status mg_columns_numbered(mg_heap *heap, const char *word, int64_t count, mg_columns *out,
                                  margin_error *error) {
    static const int64_t each = (int64_t)sizeof(margin_column);
    const int64_t most = INT64_MAX / (each + NUMBERED_NAME); /* that bytes can count */
    const int64_t start = (int64_t)strlen(word), fixed = each + start + 1;
    const int64_t bytes = count <= most ? count * fixed + numbers_text(count) : INT64_MAX;
    char *block = mg_new(heap, bytes, 1), name[NUMBERED_NAME];
    if (!block) return mg_no_memory(heap, bytes, 1, "the names of the columns", error);

    margin_column *items = (margin_column *)(void *)block;
    char *text = (char *)(items + count);
    snprintf(name, sizeof name, "%s0", word);
    for (int64_t j = 0; j < count; j++) {
        next_name(name, (size_t)start);
        items[j] = (margin_column){.name = place_text(&text, name), .kind = MARGIN_NUMERIC};
    }
    *out = (mg_columns){.heap = heap, .items = items, .count = count};
    return MARGIN_OK;
}

margin_status mg_columns_named(mg_heap *heap, const mg_text *names, int64_t count, mg_columns *out,
                               margin_error *error) {
    margin_column *items;
    const char *name = names->data;
    MG_TRY(mg_text_check(names, "the names of the columns", error));
    MG_NEW(heap, items, count, "the names of the columns", error);
    for (int64_t k = 0; k < count; k++, name += strlen(name) + 1)
        items[k] = (margin_column){.name = name, .kind = MARGIN_NUMERIC};
    const margin_status status = mg_columns_copy(heap, items, count, out, error);
    mg_free(heap, items);
    return status;
}

void mg_columns_free(mg_columns *columns) {
    if (columns->items) mg_free(columns->heap, columns->items);
    *columns = (mg_columns){0};
}
