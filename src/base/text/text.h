/* Growing text, for messages, JSON and files. */
#pragma once

#include "base/memory.h"

/* After a failed append `failed` is set and later appends do nothing; mg_text_check tells, with a
 * sentence about `purpose`. */
typedef struct mg_text {
    mg_heap *heap;
    char *data; /* zero-terminated once anything was appended */
    int64_t length, capacity;
    bool failed;
} mg_text;
void mg_text_init(mg_text *text, mg_heap *heap);
void mg_text_free(mg_text *text);
margin_status mg_text_check(const mg_text *text, const char *purpose, margin_error *error);
void mg_text_add(mg_text *text, const char *bytes, int64_t length);
void mg_text_puts(mg_text *text, const char *string);
void mg_text_number(mg_text *text, double value); /* shortest round trip */
void mg_text_integer(mg_text *text, int64_t value);
void mg_text_format(mg_text *text, const char *format, ...) MG_PRINTF(2, 3); /* no %f %e %g */
void mg_text_json_string(mg_text *text, const char *bytes,
                         int64_t length); /* quoted and escaped, invalid UTF-8 replaced */

bool mg_is_utf8(const char *text, int64_t length);

/* The first characters of a text for a message, "..." behind them if it goes on; control characters
 * are blanks. */
typedef struct mg_excerpt_text {
    char text[64];
} mg_excerpt_text;
mg_excerpt_text mg_excerpt(const char *text, int64_t length);

/* Names for one sentence: "a, b, c", each as its excerpt in quotes like `quote`, and "..." for
 * those beyond `most` (0: as many as there is room for). */
typedef struct mg_name_list {
    int64_t most, count;
    bool full; /* more are only counted */
    size_t used;
    char text[600];
} mg_name_list;
void mg_name_list_add(mg_name_list *list, const char *name, const char *quote);
