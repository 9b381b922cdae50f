/* What a model file may be refused with, for the targets that read models. */
#ifndef FUZZ_REFUSAL_H
#define FUZZ_REFUSAL_H

#include <margin/margin.h>

#include <stdbool.h>
#include <string.h>

/* A kernel of a program's own is not in a file: that is the context's lack. */
static inline bool fuzz_is_refusal(margin_status status, const margin_error *error) {
    return status == MARGIN_ERROR_MODEL || status == MARGIN_ERROR_LIMIT ||
           (status == MARGIN_ERROR_ARGUMENT && strstr(error->text, "kernel=user"));
}

#endif
