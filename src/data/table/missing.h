/* Missing values of a table that a reader has filled in, NaN where they are: counted, refused, or
 * their rows left out. */
#pragma once

#include "data/table/table.h"

typedef struct mg_missing {
    _Atomic int64_t count; /* of feature values */
    _Atomic int64_t first; /* row, INT64_MAX: none */
} mg_missing;
void mg_missing_begin(mg_missing *missing);
/* Looks at the features of a block of rows; from any thread. */
void mg_missing_note(mg_missing *missing, const margin_matrix *x, const mg_block *block);

/* What the options say of them. `features` names the columns of x; `dropped` (NULL: not wanted) has
 * a byte for each row and gets 1 for those that are left out. */
margin_status mg_missing_treat(const mg_missing *missing, const margin_read_options *options,
                               const margin_column *features, int64_t targets, margin_table *table,
                               uint8_t *dropped, margin_error *error);
