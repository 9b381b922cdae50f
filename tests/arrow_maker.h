/* Streams of Arrow batches made by hand: every buffer is an allocation of its own length, so that a
 * sanitizer sees a reader that goes beyond; every struct is counted until it is released. */
#ifndef ARROW_MAKER_H
#define ARROW_MAKER_H

#include "margin/arrow.h"

#include <stdbool.h>
#include <stddef.h>

enum { MAKER_COLUMNS = 24, MAKER_BATCHES = 64, MAKER_ROWS = 3000 };

typedef struct arrow_maker {
    int live;    /* schemas, arrays and streams that nobody has released */
    int code;    /* what get_schema (fail_at 0) or the fail_at-th get_next answers */
    int fail_at; /* -1: none */
    const char *words;
    const char *format; /* of the schema */
    const char *formats[MAKER_COLUMNS], *names[MAKER_COLUMNS], *values[MAKER_COLUMNS];
    int columns;
    struct ArrowArray batches[MAKER_BATCHES];
    int count, next;
} arrow_maker;

void maker_begin(arrow_maker *maker);
/* `values`: format of a dictionary's values, or NULL. */
void maker_column(arrow_maker *maker, const char *format, const char *name, const char *values);

/* Arrays of length values behind `offset` others; there: a 1 or 0 for each of all, NULL: all are.
 */
struct ArrowArray maker_numbers(arrow_maker *maker, int64_t length, int64_t offset,
                                const void *values, size_t each, const char *there);
struct ArrowArray maker_bits(arrow_maker *maker, int64_t length, int64_t offset, const char *bits,
                             const char *there);
struct ArrowArray maker_nulls(arrow_maker *maker, int64_t length);
/* format "u", "U" or "vu"; a text that is NULL is missing. */
struct ArrowArray maker_texts(arrow_maker *maker, int64_t length, int64_t offset,
                              const char *const *texts, const char *format);
void maker_give_dictionary(struct ArrowArray *indices, struct ArrowArray words);
/* A batch of these columns, which it takes over. */
struct ArrowArray *maker_batch(arrow_maker *maker, int64_t length, int64_t offset,
                               struct ArrowArray *columns);

struct ArrowArrayStream maker_stream(arrow_maker *maker);
/* Releases batches that no reader asked for. */
void maker_end(arrow_maker *maker);

/* MAKER_ROWS rows of a number, a whole number with gaps, a colour and a class. */
void maker_rows(arrow_maker *maker, int batch_rows);
/* margin_table_from_arrow, and that all of the stream is released. */
margin_status maker_read(margin_context *with, arrow_maker *maker,
                         const margin_read_options *options, margin_table **table,
                         margin_error *error);
void maker_assert_refused(margin_context *with, arrow_maker *maker,
                          const margin_read_options *options, margin_status status,
                          const char *part);
/* Tables of f64 with the same rows, target, names and categories. */
void maker_assert_same_tables(const margin_table *a, const margin_table *b);

#endif
