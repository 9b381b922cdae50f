/* Targets that are small whole numbers or categories, on all threads and without a search.
 *
 * Neither function says what is wrong: where one returns false (a label outside, missing or
 * unknown, a cancelled context), the careful reading of target.c does and names the row. Nothing
 * is allocated. */
#pragma once

#include "model/problem/samples.h"

#include <stdatomic.h>

/* Labels of a table: whole numbers in [low, low + count). */
typedef struct mg_label_range {
    int64_t low, count;
} mg_label_range;

/* seen[v - low] = 1 for each target v of the samples; `seen` comes cleared. */
bool mg_target_note(margin_context *context, const margin_data *data, const mg_samples *samples,
                    mg_label_range range, _Atomic unsigned char *seen);

/* codes[i] = table[v - low] for the target v of sample i; -1 in the table: unknown. */
bool mg_target_look_up(margin_context *context, const margin_data *data, const mg_samples *samples,
                       mg_label_range range, const int32_t *table, int32_t *codes);
