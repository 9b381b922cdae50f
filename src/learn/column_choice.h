/* Columns that an option names: `columns` of a stage, those of a learner with rules per column. */
#pragma once

#include "learn/learner.h"

/* An option of the stage's table. The name must exist. */
MG_INLINE const mg_option_value *mg_stage_option(const mg_stage *stage,
                                                 const mg_option_value *options, const char *name) {
    return mg_option_named(&stage->info, options, name);
}

/* Marks chosen[j] for the columns of `list`, separated by commas (empty items are passed over): a
 * name or, where no column is called so, a number from 1, negative numbers from the end. NULL:
 * every numeric column. DATA if a column does not exist. `stage` stands in messages. */
margin_status mg_choose_columns(mg_heap *heap, const char *stage, const margin_data *data,
                                const char *list, bool *chosen, margin_error *error);

bool mg_is_categorical(const margin_column *columns, int64_t column);
