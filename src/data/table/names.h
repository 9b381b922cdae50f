/* Looking up column names: sorted once, so that a million columns stay cheap. */
#pragma once

#include "data/table/table.h"

typedef struct mg_named_column {
    const char *name; /* borrowed */
    int64_t column;
} mg_named_column;

typedef struct mg_name_index {
    mg_heap *heap;
    mg_named_column *sorted; /* by name, equal ones by column */
    int64_t count;
} mg_name_index;

margin_status mg_name_index_make(mg_heap *heap, const char *const *names, int64_t count,
                                 mg_name_index *index, margin_error *error);
void mg_name_index_free(mg_name_index *index);

/* The first column of that name, or -1. `several` is set if there is one and tells whether more
 * columns are called so. */
int64_t mg_name_find(const mg_name_index *index, const char *text, int64_t length, bool *several);
