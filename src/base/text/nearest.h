/* Words as people type them, upper and lower case alike: endings of file names, and "did you mean",
 * the known word nearest to a mistyped one. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* True if text[0..length) ends with `ending`. */
bool mg_ends_with(const char *text, int64_t length, const char *ending);

/* Changes (one letter added, left out, replaced, or two neighbours swapped) that turn a into b,
 * upper and lower case alike; `limit` + 1 if more than `limit`. Words over 64 bytes: limit + 1. */
int mg_edit_distance(const char *a, int64_t a_length, const char *b, int64_t b_length, int limit);

/* A search over any list: begin, offer each known word, look at `best`. */
typedef struct mg_nearest {
    const char *word; /* the mistyped one */
    int64_t length;
    int distance;      /* of the best so far; at first one more than is likely a slip */
    const char *other; /* what other programs call so; NULL: nothing */
    const char *best;  /* borrowed from the offer; NULL: nothing is near */
    int64_t best_length;
} mg_nearest;
mg_nearest mg_nearest_begin(const char *word, int64_t length);
void mg_nearest_offer(mg_nearest *nearest, const char *known, int64_t length); /* ties: the first */
