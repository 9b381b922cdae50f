/* Column names: lookup by bisection, and names made unique. */
#include "data/table/names.h"

#include "base/sort.h"

#include <stdio.h>
#include <string.h>

enum { SUFFIX_BYTES = 24 }; /* ".", any int64 and the zero */

static int by_name(const void *a, const void *b) {
    return strcmp(((const mg_named_column *)a)->name, ((const mg_named_column *)b)->name);
}

margin_status mg_name_index_make(mg_heap *heap, const char *const *names, int64_t count,
                                 mg_name_index *index, margin_error *error) {
    mg_named_column *sorted, *scratch;
    MG_SCOPED_ARENA(arena, heap);
    MG_ARENA_NEW(&arena, scratch, count, "the names of the columns", error);
    MG_NEW(heap, sorted, count, "the names of the columns", error);
    for (int64_t j = 0; j < count; j++)
        sorted[j] = (mg_named_column){names[j], j};
    mg_sort_few_items(sorted, count, sizeof *sorted, scratch, by_name);
    *index = (mg_name_index){.heap = heap, .sorted = sorted, .count = count};
    return MARGIN_OK;
}

void mg_name_index_free(mg_name_index *index) {
    if (index->heap) mg_free(index->heap, index->sorted);
    *index = (mg_name_index){0};
}

static int compare_text(const char *name, const char *text, size_t length) {
    int order = strncmp(name, text, length);
    if (order) return order;
    return name[length] != '\0'; /* the longer name comes later */
}

/* First place whose name is not before the text. */
static int64_t lower_bound(const mg_name_index *index, const char *text, size_t length) {
    int64_t at;
    MG_BISECT(at, 0, index->count, compare_text(index->sorted[at].name, text, length) < 0);
    return at;
}

int64_t mg_name_find(const mg_name_index *index, const char *text, int64_t length, bool *several) {
    if (memchr(text, '\0', (size_t)length)) return -1;
    int64_t at = lower_bound(index, text, (size_t)length);
    if (at == index->count || compare_text(index->sorted[at].name, text, (size_t)length) != 0)
        return -1;
    *several = at + 1 < index->count &&
               compare_text(index->sorted[at + 1].name, text, (size_t)length) == 0;
    return index->sorted[at].column;
}

/* ---- Unique names --------------------------------------------------------------------------- */

static bool is_repetition(const mg_name_index *index, int64_t place) {
    return place > 0 && strcmp(index->sorted[place].name, index->sorted[place - 1].name) == 0;
}

/* Bytes for every name that needs a suffix. */
static int64_t repetition_bytes(const mg_name_index *index) {
    int64_t bytes = 0;
    for (int64_t k = 1; k < index->count; k++)
        if (is_repetition(index, k)) bytes += (int64_t)strlen(index->sorted[k].name) + SUFFIX_BYTES;
    return bytes;
}

/* Gives the repetitions of one name the next free numbers. A made name ends in its number, so two
 * different names cannot be given the same one. */
static void rename_repetitions(const mg_name_index *index, mg_names *unique) {
    char *end = unique->text;
    int64_t number = 0;
    for (int64_t k = 0; k < index->count; k++) {
        const mg_named_column *entry = &index->sorted[k];
        if (!is_repetition(index, k)) {
            number = 0;
            continue;
        }
        size_t room = strlen(entry->name) + SUFFIX_BYTES;
        bool several;
        int length;
        do {
            length = snprintf(end, room, "%s.%lld", entry->name, (long long)++number);
        } while (mg_name_find(index, end, length, &several) >= 0);
        unique->items[entry->column] = end;
        end += length + 1;
    }
}

margin_status mg_names_unique(mg_heap *heap, const char *const *names, int64_t count,
                              mg_names *unique, margin_error *error) {
    mg_name_index index = {0};
    mg_names made = {.heap = heap};
    margin_status status;
    MG_GO(mg_name_index_make(heap, names, count, &index, error));
    MG_GO_NEW(heap, made.items, count, "the names of the columns", error);
    MG_GO_NEW(heap, made.text, repetition_bytes(&index), "the names of the columns", error);
    for (int64_t j = 0; j < count; j++)
        made.items[j] = names[j];
    rename_repetitions(&index, &made);
done:
    mg_name_index_free(&index);
    if (status == MARGIN_OK)
        *unique = made;
    else
        mg_names_free(&made);
    return status;
}

void mg_names_free(mg_names *names) {
    if (!names->heap) return;
    MG_FREE(names->heap, (void *)names->items, names->text);
    *names = (mg_names){0};
}

/* ---- References ----------------------------------------------------------------------------- */

int64_t mg_column_number(const char *text, int64_t length, int64_t count) {
    const bool from_end = length > 0 && *text == '-';
    int64_t number = 0;
    if (length == from_end) return -1;
    for (int64_t k = from_end; k < length; k++) {
        if (text[k] < '0' || text[k] > '9') return -1;
        if (number <= count) number = number * 10 + (text[k] - '0');
    }
    if (number == 0 || number > count) return count;
    return from_end ? count - number : number - 1;
}

bool mg_next_listed(mg_listed *list) {
    while (list->next && *list->next) {
        const char *at = list->next;
        int64_t length = (int64_t)(list->whole ? strlen(at) : strcspn(at, ","));
        list->next = at + length + (at[length] == ',');
        while (!list->whole && length && *at == ' ')
            at++, length--;
        while (!list->whole && length && at[length - 1] == ' ')
            length--;
        list->item = at;
        list->length = length;
        if (length) return true;
    }
    return false;
}
