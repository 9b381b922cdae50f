/* Values of a FlatBuffer (https://flatbuffers.dev/internals), each place checked when it is used:
 * what lies outside reads as 0, or as nothing, and marks the whole as broken. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct mg_flatbuffer {
    const char *bytes;
    int64_t size;
    bool broken;
} mg_flatbuffer;

/* fields 0: it is not there. */
typedef struct mg_flat_table {
    mg_flatbuffer *of;
    int64_t at, vtable, fields;
} mg_flat_table;

/* The whole number of `width` bytes at a place, with its sign. */
int64_t mg_flat_value(mg_flatbuffer *of, int64_t at, int width);
mg_flat_table mg_flat_root(mg_flatbuffer *of);

/* Field `k` of a table. */
int64_t mg_flat_number(const mg_flat_table *table, int64_t k, int width, int64_t otherwise);
mg_flat_table mg_flat_child(const mg_flat_table *table, int64_t k);
/* The place of the first of *count items of so many bytes. */
int64_t mg_flat_list(const mg_flat_table *table, int64_t k, int64_t item, int64_t *count);
/* Table number i of a list that begins at `first`. */
mg_flat_table mg_flat_item(const mg_flat_table *table, int64_t first, int64_t i);
/* Ends with a zero byte; NULL: it is not there. */
const char *mg_flat_text(const mg_flat_table *table, int64_t k);
