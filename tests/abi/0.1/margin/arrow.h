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
#endif
#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE
struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};
#endif
MARGIN_API MARGIN_CHECKED margin_status margin_table_from_arrow(margin_context *context,
                                                                struct ArrowArrayStream *stream,
                                                                const margin_read_options *options,
                                                                margin_table **table,
                                                                margin_error *error);
MARGIN_API MARGIN_CHECKED margin_status margin_arrays_from_arrow(const struct ArrowSchema *schema,
                                                                 const struct ArrowArray *batch,
                                                                 margin_array *arrays,
                                                                 int64_t count,
                                                                 margin_error *error);
#ifdef __cplusplus
}
#endif
#endif
