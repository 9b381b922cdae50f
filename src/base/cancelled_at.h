/* A loop over many rows asks whether its call is to end. */
#pragma once

#include "base/context.h"

/* For each of many rows, i its number: looks once in 4096 of them (mg_cancelled). */
MG_INLINE bool mg_cancelled_at(const margin_context *context, int64_t i) {
    return i % 4096 == 0 && mg_cancelled(context);
}
