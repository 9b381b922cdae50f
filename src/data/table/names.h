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

/* ---- References in options ---- */

/* The column of a whole number from 1, or negative from the end; count: out of range, -1: it is no
 * number. */
int64_t mg_column_number(const char *text, int64_t length, int64_t count);
/* A walk over a list "a, b,3": items without the blanks around them, empty ones passed over. False
 * at the end. */
typedef struct mg_listed {
    const char *next; /* what is left; NULL: nothing */
    bool whole;       /* the list is one item, such as a name with a comma */
    const char *item;
    int64_t length;
} mg_listed;
bool mg_next_listed(mg_listed *list);
