/* Parts of a data set: who gets which part (split_deal.c), behind the checks of split.c. */
#pragma once

#include "margin/split.h"
#include "model/problem/samples.h"

/* The rows in dense numbers of what they share: equal values get equal numbers, in ascending order
 * of the values. */
typedef struct mg_units {
    int64_t count;   /* different values */
    int32_t *number; /* of each sample */
    int64_t *order;  /* samples in order of their numbers, then of their own */
    int64_t *starts; /* count + 1 places in order */
} mg_units;

/* How many different values a list has for these samples. DATA: a missing one; MEMORY, CANCELLED.
 */
margin_status mg_count_units(margin_context *context, const margin_vector *v,
                             const mg_samples *samples, const char *name, int64_t *count,
                             margin_error *error);

/* One repeat: what is dealt, and to whom. */
typedef struct mg_deal {
    margin_context *context;
    int64_t rows;  /* samples */
    int64_t folds; /* 0: stated shares */
    double test, validation;
    uint64_t seed, round; /* round: the repeat */
    bool in_order;
    const mg_units *classes; /* NULL: not stratified */
    const mg_units *groups;  /* NULL: each row by itself */
    const mg_units *times;   /* NULL: not in order of time */
} mg_deal;

/* part[i]: the fold (stated shares: margin_part; time: the run) of sample i. DATA: an empty part.
 */
margin_status mg_deal_parts(const mg_deal *deal, int32_t *part, margin_error *error);
