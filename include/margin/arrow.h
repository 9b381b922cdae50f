/* margin/arrow.h - tables of other programs by the Arrow C data interface.
 *
 * The three structs below are those of https://arrow.apache.org/docs/format/CDataInterface.html and
 * CStreamInterface.html, word for word and under the guards that those pages name: whoever has them
 * from elsewhere may include this header before or after. Nothing of Arrow needs to be installed.
 */
#ifndef MARGIN_ARROW_H
#define MARGIN_ARROW_H

#include "margin/data.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE           2
#define ARROW_FLAG_MAP_KEYS_SORTED    4

struct ArrowSchema {
    const char *format;
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

#endif /* ARROW_C_DATA_INTERFACE */

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

#endif /* ARROW_C_STREAM_INTERFACE */

/* Reads a stream of record batches into a table, which is then as one read from a file: columns by
 * name, categories, target and weights by `options` (NULL: the last column is the target), read for
 * a model with `expected`. `format`, `header`, `separator`, `labels`, `index_base` and
 * `svmlight_columns` mean nothing here.
 *
 * A stream has structs (format +s) whose children are the columns:
 *  - numbers: integers of 8 to 64 bits with and without sign, half, single and double precision,
 *    booleans (0 and 1) and columns of nulls. The features stay f32 where all of them are half or
 *    single precision and `value_type` is 0. Integers beyond 2^53 are rounded in features; a target
 *    that has some is categorical, with all digits.
 *  - categories: utf8, large_utf8, utf8_view, and dictionaries of those under indices of any width.
 *    The categories are the texts that occur, in order of their bytes, so a table does not depend
 *    on how its producer encoded it or cut it into batches. Numbers that are declared categorical
 *    are called by their shortest text, booleans `false` and `true`.
 *  - missing: what the validity bitmap (of the value, of its dictionary's, of its row) says, and
 *    NaN. A text such as "NA" or "" is a text.
 *  - anything else (dates, decimals, lists, ...) is refused by name, unless the column is ignored:
 *    cast it in the program that has it.
 * A column without a name is called x1, x2, ... by its place.
 *
 * The stream is released before this function returns, whatever it returns, and so are the schema
 * and all batches; every callback is called from the calling thread. The batches are held until the
 * last one has come (a producer that makes them on demand holds them meanwhile), then copied once,
 * on all threads. Buffers have no lengths in Arrow's structs: what their lengths, offsets, counts
 * and indices say of each other is checked, that the buffers are as long is the producer's word.
 * Columns of nulls have none: where there are no others, at most 2^20 rows are read.
 *
 * Fails with ARGUMENT, FILE (the stream's own error, with its code as `system_error` and its
 * words), FORMAT (a type that is not read, arrays that contradict the schema or themselves), DATA
 * (no such column, no rows, a value that is refused), MEMORY, LIMIT, CANCELLED. */
MARGIN_API MARGIN_CHECKED margin_status margin_table_from_arrow(margin_context *context,
                                                                struct ArrowArrayStream *stream,
                                                                const margin_read_options *options,
                                                                margin_table **table,
                                                                margin_error *error);

/* The `count` columns of one batch where they lie, as arrays for margin_columns_typed: nothing is
 * copied, so schema and batch stay the caller's and live as long as the arrays are used. Integers,
 * booleans, single and double precision; of a dictionary the codes. A column of anything else
 * (texts, half precision, dates) gets the type 0: leave it out, or read the batch with
 * margin_table_from_arrow, which also puts several batches together, in a copy. What formats and
 * lengths say of each other is checked, that the buffers are as long is the producer's word.
 * Fails with ARGUMENT, FORMAT (arrays that contradict the schema, rows that are null). */
MARGIN_API MARGIN_CHECKED margin_status margin_arrays_from_arrow(const struct ArrowSchema *schema,
                                                                 const struct ArrowArray *batch,
                                                                 margin_array *arrays,
                                                                 int64_t count,
                                                                 margin_error *error);

#ifdef __cplusplus
}
#endif
#endif
