/* Streams of Arrow IPC (https://arrow.apache.org/docs/format/Columnar.html): messages of a header,
 * which is a FlatBuffer, and a body of buffers. Batches point into the bytes; every place and
 * length is checked, and the offsets of texts, so that whoever reads the arrays need not know the
 * bytes.
 *
 * Not read: compression, nested columns, dictionaries that grow (isDelta), the other byte order,
 * streams before Arrow 0.15. */
#include "base/context.h"
#include "base/sort.h"
#include "data/arrow/arrow_batches.h"
#include "data/arrow/flatbuffer.h"
#include "data/source/source.h"
#include "data/table/table.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool is_file(const char *text, int64_t length) {
    return length >= 6 && memcmp(text, "ARROW1", 6) == 0;
}

bool mg_arrow_looks(const char *text, int64_t length) {
    static const unsigned char begin[4] = {0xff, 0xff, 0xff, 0xff};
    return is_file(text, length) || (length >= 8 && memcmp(text, begin, sizeof begin) == 0);
}

/* ---- Types ---------------------------------------------------------------------------------- */

typedef enum ipc_layout { IPC_NOTHING, IPC_FLAT, IPC_TEXT, IPC_LARGE_TEXT, IPC_VIEWS } ipc_layout;

typedef struct ipc_type {
    const char *format; /* of the C data interface */
    ipc_layout layout;
    int bits; /* FLAT: of a value; 0: of types that are not read */
} ipc_type;

static ipc_type whole_numbers(int64_t bits, bool sign) {
    static const char *const formats[][4] = {{"C", "S", "I", "L"}, {"c", "s", "i", "l"}};
    for (int k = 0; k < 4; k++)
        if (bits == 8 << k) return (ipc_type){formats[sign][k], IPC_FLAT, 8 << k};
    return (ipc_type){0};
}

static ipc_type real_numbers(int64_t precision) {
    static const char *const formats[] = {"e", "f", "g"};
    if (precision < 0 || precision > 2) return (ipc_type){0};
    return (ipc_type){formats[precision], IPC_FLAT, 16 << precision};
}

/* By the number of the type in a schema's union; format NULL: unknown or nested. */
static ipc_type type_of(int64_t number, const mg_flat_table *details) {
    static const ipc_type others[] = {
        [1] = {"n", IPC_NOTHING, 0},     [4] = {"z", IPC_TEXT, 0},
        [5] = {"u", IPC_TEXT, 0},        [6] = {"b", IPC_FLAT, 1},
        [7] = {"d:", IPC_FLAT, 0},       [8] = {"tdD", IPC_FLAT, 0},
        [9] = {"ttu", IPC_FLAT, 0},      [10] = {"ts:", IPC_FLAT, 0},
        [11] = {"tiM", IPC_FLAT, 0},     [15] = {"w:", IPC_FLAT, 0},
        [18] = {"tDu", IPC_FLAT, 0},     [19] = {"Z", IPC_LARGE_TEXT, 0},
        [20] = {"U", IPC_LARGE_TEXT, 0}, [23] = {"vz", IPC_VIEWS, 0},
        [24] = {"vu", IPC_VIEWS, 0}};
    if (number == 2)
        return whole_numbers(mg_flat_number(details, 0, 4, 0), mg_flat_number(details, 1, 1, 0));
    if (number == 3) return real_numbers(mg_flat_number(details, 0, 2, 0));
    return number > 0 && number < MG_LENGTH(others) ? others[number] : (ipc_type){0};
}

/* ---- The stream ------------------------------------------------------------------------------ */

typedef struct ipc_column {
    const char *name;
    ipc_type type, values;    /* values: of a dictionary, of which `type` are the codes */
    int64_t dictionary;       /* its number; the format of values is NULL: none */
    struct ipc_column *keeps; /* the words: one of the columns of that dictionary */
    struct ArrowArray words;  /* the latest; not released: some have come */
} ipc_column;

typedef struct ipc_stream {
    margin_context *context;
    const char *at, *end;
    int64_t message;
    mg_arena arena;
    ipc_column *columns, **keepers; /* keepers: of the words, by the number of the dictionary */
    int64_t count, dictionaries;
    char why[200];
} ipc_stream;

static int broken(ipc_stream *s, const char *why) {
    snprintf(s->why, sizeof s->why, "message %lld %s", (long long)s->message, why);
    return EINVAL;
}

typedef struct ipc_message {
    mg_flatbuffer bytes;
    mg_flat_table head; /* schema, dictionary or batch */
    int64_t kind;       /* 1, 2, 3; 0: there is none more */
    const char *body;
    int64_t body_size;
} ipc_message;

enum { IPC_END, IPC_SCHEMA, IPC_DICTIONARY, IPC_BATCH };

/* The next message; the stream ends with a header of no bytes, or where the bytes do. */
static int next_message(ipc_stream *s, ipc_message *m) {
    const int64_t left = s->end - s->at;
    mg_flatbuffer prefix = {s->at, left, false};
    *m = (ipc_message){0};
    s->message++;
    if (left == 0) return 0;
    const int64_t mark = mg_flat_value(&prefix, 0, 4), size = mg_flat_value(&prefix, 4, 4);
    if (prefix.broken) return broken(s, "is cut off");
    if (mark != -1) return broken(s, "does not begin as those of Arrow 0.15 and later");
    if (size == 0) return 0;
    if (size < 0 || size > left - 8) return broken(s, "is cut off");
    m->bytes = (mg_flatbuffer){s->at + 8, size, false};
    const mg_flat_table root = mg_flat_root(&m->bytes);
    m->kind = mg_flat_number(&root, 1, 1, 0);
    m->head = mg_flat_child(&root, 2);
    m->body = s->at + 8 + size;
    m->body_size = mg_flat_number(&root, 3, 8, 0);
    if (m->bytes.broken || m->kind < IPC_SCHEMA || m->kind > IPC_BATCH)
        return broken(s, "has a damaged header");
    if (m->body_size < 0 || m->body_size > left - 8 - size) return broken(s, "is cut off");
    s->at = m->body + m->body_size;
    return 0;
}

/* ---- Arrays --------------------------------------------------------------------------------- */

typedef struct ipc_batch {
    ipc_stream *stream;
    ipc_message *message;
    mg_flat_table head;
    mg_arena *arena;
    int64_t nodes, buffers, views; /* that were taken */
} ipc_batch;

static void released(struct ArrowArray *array) {
    array->release = NULL;
}

static int take_node(ipc_batch *b, struct ArrowArray *array) {
    int64_t count;
    const int64_t first = mg_flat_list(&b->head, 1, 16, &count), k = b->nodes++;
    if (k >= count) return broken(b->stream, "has too few columns");
    array->length = mg_flat_value(b->head.of, first + 16 * k, 8);
    array->null_count = mg_flat_value(b->head.of, first + 16 * k + 8, 8);
    return array->length < 0 || array->length > INT64_MAX / 64
               ? broken(b->stream, "has a length that cannot be")
               : 0;
}

/* *size: of the buffer, in bytes; at least `least` of them. */
static int take_buffer(ipc_batch *b, int64_t least, const void **to, int64_t *size) {
    int64_t count;
    const int64_t first = mg_flat_list(&b->head, 2, 16, &count), k = b->buffers++;
    if (k >= count) return broken(b->stream, "has too few buffers");
    const int64_t at = mg_flat_value(b->head.of, first + 16 * k, 8);
    *size = mg_flat_value(b->head.of, first + 16 * k + 8, 8);
    if (at < 0 || *size < 0 || at > b->message->body_size || *size > b->message->body_size - at)
        return broken(b->stream, "has a buffer outside of its body");
    if (*size < least) return broken(b->stream, "has a buffer that is too short");
    *to = *size > 0 ? b->message->body + at : NULL;
    return 0;
}

/* Bitmaps may be left out where nothing is missing. */
static int take_bitmap(ipc_batch *b, struct ArrowArray *array) {
    int64_t size;
    const int code = take_buffer(b, 0, &array->buffers[0], &size);
    if (code) return code;
    if (size > 0 && size < (array->length + 7) / 8)
        return broken(b->stream, "has a buffer that is too short");
    if (size == 0 && array->null_count > 0)
        return broken(b->stream, "has missing values and no bitmap of them");
    array->null_count = size > 0 ? -1 : 0;
    return 0;
}

/* Offsets rise and stay within the text. */
static int check_offsets(ipc_batch *b, const struct ArrowArray *array, int width, int64_t size) {
    mg_flatbuffer offsets = {array->buffers[1], INT64_MAX, false};
    int64_t before = 0;
    for (int64_t i = 0; array->length > 0 && i <= array->length; i++) {
        const int64_t offset = mg_flat_value(&offsets, i * width, width);
        if (offset < before || offset > size)
            return broken(b->stream, "has a text outside of its buffer");
        before = offset;
    }
    return 0;
}

static int take_texts(ipc_batch *b, int width, struct ArrowArray *array) {
    const int64_t places = array->length > 0 ? (array->length + 1) * width : 0;
    int64_t size;
    int code = take_buffer(b, places, &array->buffers[1], &size);
    if (!code) code = take_buffer(b, 0, &array->buffers[2], &size);
    return code ? code : check_offsets(b, array, width, size);
}

/* Whoever reads a view holds it against the sizes of these buffers. */
static int take_views(ipc_batch *b, int64_t parts, struct ArrowArray *array) {
    int64_t size, *sizes = (int64_t *)(void *)(array->buffers + 2 + parts + 1);
    int code = take_buffer(b, 16 * array->length, &array->buffers[1], &size);
    for (int64_t k = 0; !code && k < parts; k++)
        code = take_buffer(b, 0, &array->buffers[2 + k], &sizes[k]);
    array->buffers[2 + parts] = sizes;
    return code;
}

static int take_array(ipc_batch *b, const ipc_type *type, struct ArrowArray *array) {
    static const int64_t buffers[] = {0, 2, 3, 3, 3};
    int64_t parts = 0, size, lists, first;
    *array = (struct ArrowArray){.n_buffers = buffers[type->layout], .release = released};
    int code = take_node(b, array);
    if (code) return code;
    if (type->layout == IPC_VIEWS) {
        first = mg_flat_list(&b->head, 4, 8, &lists);
        parts = b->views < lists ? mg_flat_value(b->head.of, first + 8 * b->views, 8) : -1;
        b->views++;
        mg_flat_list(&b->head, 2, 16, &lists);
        if (parts < 0 || parts > lists) return broken(b->stream, "has too few buffers");
        array->n_buffers += parts;
    }
    array->buffers = mg_arena_new(b->arena, array->n_buffers + parts + 1, sizeof *array->buffers);
    if (!array->buffers) return ENOMEM;
    if (type->layout == IPC_NOTHING) return 0;
    code = take_bitmap(b, array);
    if (code) return code;
    switch (type->layout) {
    case IPC_NOTHING:
        break;
    case IPC_FLAT:
        return take_buffer(b, (array->length * type->bits + 7) / 8, &array->buffers[1], &size);
    case IPC_TEXT:
        return take_texts(b, 4, array);
    case IPC_LARGE_TEXT:
        return take_texts(b, 8, array);
    case IPC_VIEWS:
        return take_views(b, parts, array);
    }
    return 0;
}

static int open_batch(ipc_stream *s, ipc_message *m, mg_flat_table head, mg_arena *arena,
                      ipc_batch *b) {
    *b = (ipc_batch){.stream = s, .message = m, .head = head, .arena = arena};
    const mg_flat_table compression = mg_flat_child(&head, 3);
    if (compression.at) return broken(s, "is compressed: write the stream without compression");
    return m->bytes.broken ? broken(s, "has a damaged header") : 0;
}

/* ---- Schema --------------------------------------------------------------------------------- */

static int take_field(ipc_stream *s, const mg_flat_table *field, ipc_column *column) {
    const mg_flat_table details = mg_flat_child(field, 3), code = mg_flat_child(field, 4);
    const mg_flat_table index = mg_flat_child(&code, 1);
    *column = (ipc_column){.name = mg_flat_text(field, 0),
                           .type = type_of(mg_flat_number(field, 2, 1, 0), &details)};
    if (!column->name) column->name = "";
    if (!column->type.format) {
        snprintf(s->why, sizeof s->why,
                 "column '%.60s' has columns of its own or a type that is not known: leave it out "
                 "where the stream is written",
                 column->name);
        return EINVAL;
    }
    if (code.at == 0) return 0;
    column->values = column->type;
    column->dictionary = mg_flat_number(&code, 0, 8, 0);
    column->type =
        index.at ? whole_numbers(mg_flat_number(&index, 0, 4, 0), mg_flat_number(&index, 1, 1, 0))
                 : whole_numbers(32, true);
    return column->type.format ? 0 : broken(s, "has a dictionary of a kind that is not known");
}

static bool has_lower_number(int64_t a, int64_t b, const void *columns) {
    const ipc_column *of = columns;
    return of[a].dictionary < of[b].dictionary;
}

/* Columns of one dictionary have its words in one place, which is found by the number. */
static int find_keepers(ipc_stream *s) {
    int64_t *order = mg_arena_new(&s->arena, 2 * s->count, sizeof *order), count = 0;
    s->keepers = mg_arena_new(&s->arena, s->count, sizeof *s->keepers);
    if (!order || !s->keepers) return ENOMEM;
    for (int64_t j = 0; j < s->count; j++)
        if (s->columns[j].values.format) order[count++] = j;
    mg_sort_few(order, count, order + s->count, has_lower_number, s->columns);
    for (int64_t k = 0; k < count; k++) {
        ipc_column *column = &s->columns[order[k]];
        ipc_column *last = s->dictionaries > 0 ? s->keepers[s->dictionaries - 1] : column;
        if (last == column || last->dictionary != column->dictionary)
            s->keepers[s->dictionaries++] = last = column;
        column->keeps = last;
        if (strcmp(last->values.format, column->values.format) != 0)
            return broken(s, "has a dictionary of two types");
    }
    return 0;
}

static int read_schema(ipc_stream *s) {
    ipc_message m;
    int64_t names = 0; /* bytes of all, which are in the header one after the other */
    int code = next_message(s, &m);
    if (code) return code;
    if (m.kind != IPC_SCHEMA) return broken(s, "is no schema");
    if (mg_host_is_big_endian() || mg_flat_number(&m.head, 0, 2, 0) != 0)
        return broken(s, "is in the other byte order");
    const int64_t first = mg_flat_list(&m.head, 1, 4, &s->count);
    s->columns = mg_arena_new(&s->arena, s->count, sizeof *s->columns);
    if (!s->columns) return ENOMEM;
    for (int64_t j = 0; !code && j < s->count; j++) {
        const mg_flat_table field = mg_flat_item(&m.head, first, j);
        code = take_field(s, &field, &s->columns[j]);
        names += (int64_t)strlen(s->columns[j].name);
        if (m.bytes.broken || names > m.bytes.size) code = broken(s, "has a damaged header");
    }
    return code ? code : find_keepers(s);
}

static void schema_released(struct ArrowSchema *schema) {
    schema->release = NULL;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
    ipc_stream *s = stream->private_data;
    const int code = read_schema(s);
    if (code) return code;
    struct ArrowSchema *fields = mg_arena_new(&s->arena, 2 * s->count, sizeof *fields);
    struct ArrowSchema **children = mg_arena_new(&s->arena, s->count, sizeof *children);
    if (!fields || !children) return ENOMEM;
    for (int64_t j = 0; j < s->count; j++) {
        const ipc_column *column = &s->columns[j];
        children[j] = &fields[j];
        fields[j] = (struct ArrowSchema){.format = column->type.format,
                                         .name = column->name,
                                         .flags = ARROW_FLAG_NULLABLE,
                                         .release = schema_released};
        if (!column->values.format) continue;
        fields[s->count + j] = (struct ArrowSchema){
            .format = column->values.format, .name = "", .release = schema_released};
        fields[j].dictionary = &fields[s->count + j];
    }
    *out = (struct ArrowSchema){.format = "+s",
                                .name = "",
                                .n_children = s->count,
                                .children = children,
                                .release = schema_released};
    return 0;
}

/* ---- Batches -------------------------------------------------------------------------------- */

static int take_dictionary(ipc_stream *s, ipc_message *m) {
    ipc_batch b;
    int64_t k;
    const int64_t number = mg_flat_number(&m->head, 0, 8, 0);
    if (mg_flat_number(&m->head, 2, 1, 0))
        return broken(s, "adds to a dictionary, which is not read: write dictionaries whole");
    MG_BISECT(k, 0, s->dictionaries, s->keepers[k]->dictionary < number);
    if (k == s->dictionaries || s->keepers[k]->dictionary != number) return 0;
    int code = open_batch(s, m, mg_flat_child(&m->head, 1), &s->arena, &b);
    if (!code) code = take_array(&b, &s->keepers[k]->values, &s->keepers[k]->words);
    return !code && m->bytes.broken ? broken(s, "has a damaged header") : code;
}

static void batch_released(struct ArrowArray *array) {
    mg_arena *arena = array->private_data, last = *arena;
    array->release = NULL;
    mg_arena_free(&last);
}

static int take_columns(ipc_stream *s, ipc_batch *b, struct ArrowArray *out, mg_arena *arena) {
    struct ArrowArray *arrays = mg_arena_new(arena, 2 * s->count, sizeof *arrays);
    out->children = mg_arena_new(arena, s->count, sizeof *out->children);
    out->buffers = mg_arena_new(arena, 1, sizeof *out->buffers);
    if (!arrays || !out->children || !out->buffers) return ENOMEM;
    out->buffers[0] = NULL;
    for (int64_t j = 0; j < s->count; j++) {
        const ipc_column *column = &s->columns[j];
        out->children[j] = &arrays[j];
        const int code = take_array(b, &column->type, &arrays[j]);
        if (code) return code;
        if (arrays[j].length != out->length) return broken(s, "has columns of several lengths");
        if (!column->values.format) continue;
        if (!column->keeps->words.release)
            return broken(s, "has codes of a dictionary that has not come");
        arrays[s->count + j] = column->keeps->words;
        arrays[j].dictionary = &arrays[s->count + j];
    }
    if (out->length / 8 > b->message->body_size) /* any other value takes a bit at least */
        return broken(s, "has rows without values: no column of it has any");
    return b->message->bytes.broken ? broken(s, "has a damaged header") : 0;
}

static int take_batch(ipc_stream *s, ipc_message *m, struct ArrowArray *out) {
    mg_arena own, *arena;
    ipc_batch b;
    mg_arena_init(&own, s->context->heap);
    arena = mg_arena_new(&own, 1, sizeof *arena);
    int code = arena ? open_batch(s, m, m->head, &own, &b) : ENOMEM;
    *out = (struct ArrowArray){.length = mg_flat_number(&m->head, 0, 8, 0),
                               .n_buffers = 1,
                               .n_children = s->count,
                               .private_data = arena,
                               .release = batch_released};
    if (!code) code = take_columns(s, &b, out, &own);
    if (code) {
        out->release = NULL;
        mg_arena_free(&own);
        return code;
    }
    *arena = own;
    return 0;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
    ipc_stream *s = stream->private_data;
    ipc_message m;
    *out = (struct ArrowArray){0};
    for (;;) {
        int code = next_message(s, &m);
        if (code || m.kind == IPC_END) return code;
        if (m.kind == IPC_SCHEMA) return broken(s, "is a second schema");
        if (m.kind == IPC_BATCH) return take_batch(s, &m, out);
        code = take_dictionary(s, &m);
        if (code) return code;
    }
}

static const char *get_last_error(struct ArrowArrayStream *stream) {
    const ipc_stream *s = stream->private_data;
    return s->why;
}

static void stream_released(struct ArrowArrayStream *stream) {
    ipc_stream *s = stream->private_data;
    mg_arena_free(&s->arena);
    stream->release = NULL;
}

/* ---- The reader ------------------------------------------------------------------------------ */

static margin_status read_ipc(margin_context *context, mg_source *source,
                              const margin_read_options *options, margin_table **table,
                              margin_error *error) {
    MG_REQUIRE(!is_file(source->text, source->length), error, MARGIN_ERROR_FORMAT,
               "%s: is an Arrow file (Feather), which is not read: write it as a stream, as "
               "write_ipc_stream of polars, new_stream of pyarrow and FORMAT ARROWS of duckdb do",
               source->name);
    MG_REQUIRE(mg_arrow_looks(source->text, source->length), error, MARGIN_ERROR_FORMAT,
               "%s: is not an Arrow stream (it does not begin with four bytes 255)", source->name);
    ipc_stream s = {.context = context, .at = source->text, .end = source->text + source->length};
    struct ArrowArrayStream stream = {get_schema, get_next, get_last_error, stream_released, &s};
    mg_arena_init(&s.arena, context->heap);
    const margin_status status =
        mg_arrow_table(context, &stream, source->name, options, table, error);
    stream.release(&stream);
    return status;
}

static const char *const endings[] = {".arrows", ".arrow", ".feather", NULL};
const mg_reader mg_reader_arrow = {MARGIN_FORMAT_ARROW, "arrow", endings, read_ipc};
