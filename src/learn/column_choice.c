#include "learn/column_choice.h"

#include "base/text/nearest.h"
#include "data/table/names.h"

#include <stdio.h>
#include <string.h>

bool mg_is_categorical(const margin_column *columns, int64_t column) {
    return columns && columns[column].kind == MARGIN_CATEGORICAL;
}

/* ---- Finding columns ------------------------------------------------------------------------- */

typedef struct chooser {
    const char *stage;
    const margin_column *columns; /* NULL: x1, x2, ... */
    int64_t count;
    mg_name_index index; /* of the columns' names; empty without names */
    margin_error *error;
} chooser;

static margin_status choice_fail_unknown(const chooser *c, const char *text, int64_t length) {
    mg_nearest nearest = mg_nearest_begin(text, length);
    for (int64_t k = 0; k < c->index.count; k++)
        mg_nearest_offer(&nearest, c->index.sorted[k].name,
                         (int64_t)strlen(c->index.sorted[k].name));
    char meant[100] = "";
    if (nearest.best) snprintf(meant, sizeof meant, "did you mean %.60s? ", nearest.best);
    return mg_fail(c->error, MG_DATA(COLUMNS),
                   "%s: the data has no column %s; %sthere are %lld columns, also numbered 1 to "
                   "%lld",
                   c->stage, mg_excerpt(text, length).text, meant, (long long)c->count,
                   (long long)c->count);
}

static margin_status find_column(const chooser *c, const char *text, int64_t length,
                                 int64_t *column) {
    bool several = false;
    int64_t found = c->columns ? mg_name_find(&c->index, text, length, &several) : -1;
    if (found >= 0 && several)
        return mg_fail(c->error, MG_DATA(COLUMNS),
                       "%s: several columns are called %s; give the column's number, the first is "
                       "%lld",
                       c->stage, mg_excerpt(text, length).text, (long long)found + 1);
    const bool named = !c->columns && length > 1 && *text == 'x';
    if (found < 0) found = mg_column_number(text + named, length - named, c->count);
    if (found < 0 || found == c->count) return choice_fail_unknown(c, text, length);
    *column = found;
    return MARGIN_OK;
}

static margin_status choose_listed(const chooser *c, const char *text, bool *chosen) {
    const int64_t length = (int64_t)strlen(text);
    bool several;
    const bool whole = c->columns && mg_name_find(&c->index, text, length, &several) >= 0;
    int64_t column = -1;
    for (mg_listed list = {.next = text, .whole = whole}; mg_next_listed(&list);) {
        MG_TRY(find_column(c, list.item, list.length, &column));
        chosen[column] = true;
    }
    return column < 0 ? choice_fail_unknown(c, text, length) : MARGIN_OK;
}

static margin_status index_names(mg_heap *heap, chooser *c) {
    const char **names;
    MG_NEW(heap, names, c->count, "the names of the columns", c->error);
    for (int64_t j = 0; j < c->count; j++)
        names[j] = c->columns[j].name ? c->columns[j].name : "";
    const margin_status status = mg_name_index_make(heap, names, c->count, &c->index, c->error);
    mg_free(heap, names);
    return status;
}

margin_status mg_choose_columns(mg_heap *heap, const char *stage, const margin_data *data,
                                const char *list, bool *chosen, margin_error *error) {
    const int64_t n = data->x.columns;
    for (int64_t j = 0; j < n; j++)
        chosen[j] = !list && !mg_is_categorical(data->columns, j);
    if (!list) return MARGIN_OK;
    chooser c = {stage, data->columns, n, {0}, error};
    if (c.columns) MG_TRY(index_names(heap, &c));
    const margin_status status = choose_listed(&c, list, chosen);
    mg_name_index_free(&c.index);
    return status;
}
