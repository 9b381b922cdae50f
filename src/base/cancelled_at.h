/* A loop over many rows asks whether its call is to end. */
#pragma once

#include "base/context.h"
#include "base/random.h"

/* For each of many rows, i its number: looks once in 4096 of them (mg_cancelled). */
MG_INLINE bool mg_cancelled_at(const margin_context *context, int64_t i) {
    return i % 4096 == 0 && mg_cancelled(context);
}

/* mg_random_shuffle, of many. False: the call is to end, and they are in no order. */
MARGIN_CHECKED bool mg_random_shuffle_many(const margin_context *context, uint64_t seed,
                                           mg_purpose purpose, uint64_t round, int64_t *order,
                                           int64_t count);
