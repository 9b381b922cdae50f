#include "arrow_maker.h"

#include "support/support.h"

#include <stdlib.h>
#include <string.h>

static void *take(size_t bytes) {
    void *made = calloc(1, bytes ? bytes : 1);
    assert_non_null(made);
    return made;
}

static void *copy_of(const void *from, size_t bytes) {
    void *made = malloc(bytes ? bytes : 1);
    assert_non_null(made);
    if (bytes) memcpy(made, from, bytes);
    return made;
}

/* ---- Arrays --------------------------------------------------------------------------------- */

static void release_array(struct ArrowArray *array) {
    arrow_maker *maker = array->private_data;
    assert_non_null(array->release);
    for (int64_t j = 0; j < array->n_children; j++) {
        if (array->children[j] && array->children[j]->release)
            array->children[j]->release(array->children[j]);
        free(array->children[j]);
    }
    free(array->children);
    if (array->dictionary) {
        array->dictionary->release(array->dictionary);
        free(array->dictionary);
    }
    for (int64_t k = 0; array->buffers && k < array->n_buffers; k++)
        free((void *)(uintptr_t)array->buffers[k]);
    free((void *)array->buffers);
    memset(array, 0x5a, sizeof *array);
    array->release = NULL;
    maker->live--;
}

static struct ArrowArray array_of(arrow_maker *maker, int64_t length, int64_t offset, int buffers) {
    maker->live++;
    return (struct ArrowArray){.length = length,
                               .null_count = -1,
                               .offset = offset,
                               .n_buffers = buffers,
                               .buffers = take((size_t)buffers * sizeof(void *)),
                               .release = release_array,
                               .private_data = maker};
}

static uint8_t *bits_of(const char *ones, int64_t count) {
    uint8_t *bits = take((size_t)(count + 7) / 8);
    for (int64_t k = 0; k < count; k++)
        if (ones[k] == '1') bits[k / 8] |= (uint8_t)(1 << k % 8);
    return bits;
}

struct ArrowArray maker_numbers(arrow_maker *maker, int64_t length, int64_t offset,
                                const void *values, size_t each, const char *there) {
    struct ArrowArray made = array_of(maker, length, offset, 2);
    if (there) made.buffers[0] = bits_of(there, offset + length);
    made.buffers[1] = copy_of(values, (size_t)(offset + length) * each);
    return made;
}

struct ArrowArray maker_bits(arrow_maker *maker, int64_t length, int64_t offset, const char *bits,
                             const char *there) {
    struct ArrowArray made = array_of(maker, length, offset, 2);
    if (there) made.buffers[0] = bits_of(there, offset + length);
    made.buffers[1] = bits_of(bits, offset + length);
    return made;
}

struct ArrowArray maker_nulls(arrow_maker *maker, int64_t length) {
    return array_of(maker, length, 0, 0);
}

static size_t length_of(const char *text) {
    return text ? strlen(text) : 0;
}

static void *ends_of(const char *const *texts, int64_t count, bool large) {
    int64_t end = 0, *wide = take((size_t)(count + 1) * sizeof *wide);
    int32_t *narrow = take((size_t)(count + 1) * sizeof *narrow);
    for (int64_t k = 0; k < count; k++) {
        end += (int64_t)length_of(texts[k]);
        wide[k + 1] = end;
        narrow[k + 1] = (int32_t)end;
    }
    free(large ? (void *)narrow : (void *)wide);
    return large ? (void *)wide : (void *)narrow;
}

static void *views_of(const char *const *texts, int64_t count) {
    char *views = take((size_t)count * 16);
    int32_t end = 0;
    for (int64_t k = 0; k < count; k++) {
        const int32_t length = (int32_t)length_of(texts[k]), words[2] = {0, end};
        if (!texts[k]) continue;
        memcpy(views + 16 * k, &length, 4);
        memcpy(views + 16 * k + 4, texts[k], (size_t)(length > 12 ? 4 : length));
        if (length > 12) memcpy(views + 16 * k + 8, words, 8);
        end += length;
    }
    return views;
}

struct ArrowArray maker_texts(arrow_maker *maker, int64_t length, int64_t offset,
                              const char *const *texts, const char *format) {
    const int64_t count = offset + length;
    const bool view = format[0] == 'v';
    struct ArrowArray made = array_of(maker, length, offset, view ? 4 : 3);
    size_t bytes = 0;
    char there[256] = "";
    assert_true(count < (int64_t)sizeof there);
    for (int64_t k = 0; k < count; k++) {
        bytes += length_of(texts[k]);
        there[k] = texts[k] ? '1' : '0';
    }
    char *data = take(bytes), *to = data;
    for (int64_t k = 0; k < count; k++) {
        if (texts[k]) memcpy(to, texts[k], strlen(texts[k]));
        to += length_of(texts[k]);
    }
    const int64_t size = (int64_t)bytes;
    made.buffers[0] = bits_of(there, count);
    made.buffers[1] = view ? views_of(texts, count) : ends_of(texts, count, format[0] == 'U');
    made.buffers[2] = data;
    if (view) made.buffers[3] = copy_of(&size, sizeof size);
    return made;
}

void maker_give_dictionary(struct ArrowArray *indices, struct ArrowArray words) {
    indices->dictionary = copy_of(&words, sizeof words);
}

struct ArrowArray *maker_batch(arrow_maker *maker, int64_t length, int64_t offset,
                               struct ArrowArray *columns) {
    assert_true(maker->count < MAKER_BATCHES);
    struct ArrowArray made = array_of(maker, length, offset, 1);
    made.null_count = 0;
    made.n_children = maker->columns;
    made.children = take((size_t)maker->columns * sizeof *made.children);
    for (int j = 0; j < maker->columns; j++)
        made.children[j] = copy_of(&columns[j], sizeof columns[j]);
    maker->batches[maker->count] = made;
    return &maker->batches[maker->count++];
}

/* ---- Schema --------------------------------------------------------------------------------- */

static void release_schema(struct ArrowSchema *schema) {
    arrow_maker *maker = schema->private_data;
    assert_non_null(schema->release);
    for (int64_t j = 0; j < schema->n_children; j++) {
        if (schema->children[j]) free(schema->children[j]->dictionary);
        free(schema->children[j]);
    }
    free(schema->children);
    schema->release = NULL;
    maker->live--;
}

static struct ArrowSchema *child_of(const arrow_maker *maker, int j) {
    struct ArrowSchema *child = take(sizeof *child);
    child->format = maker->formats[j];
    child->name = maker->names[j];
    child->flags = ARROW_FLAG_NULLABLE;
    if (maker->values[j]) {
        child->dictionary = take(sizeof *child->dictionary);
        child->dictionary->format = maker->values[j];
    }
    return child;
}

void maker_column(arrow_maker *maker, const char *format, const char *name, const char *values) {
    assert_true(maker->columns < MAKER_COLUMNS);
    maker->formats[maker->columns] = format;
    maker->values[maker->columns] = values;
    maker->names[maker->columns++] = name;
}

/* ---- Stream --------------------------------------------------------------------------------- */

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
    arrow_maker *maker = stream->private_data;
    memset(out, 0x77, sizeof *out); /* what is there after an error means nothing */
    if (maker->fail_at == 0) return maker->code;
    *out = (struct ArrowSchema){.format = maker->format,
                                .n_children = maker->columns,
                                .children = take((size_t)maker->columns * sizeof *out->children),
                                .release = release_schema,
                                .private_data = maker};
    for (int j = 0; j < maker->columns; j++)
        out->children[j] = child_of(maker, j);
    maker->live++;
    return 0;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
    arrow_maker *maker = stream->private_data;
    memset(out, 0x77, sizeof *out);
    if (maker->fail_at == maker->next + 1) return maker->code;
    if (maker->next == maker->count)
        *out = (struct ArrowArray){0};
    else
        *out = maker->batches[maker->next++];
    return 0;
}

static const char *get_last_error(struct ArrowArrayStream *stream) {
    const arrow_maker *maker = stream->private_data;
    return maker->words;
}

static void release_stream(struct ArrowArrayStream *stream) {
    arrow_maker *maker = stream->private_data;
    assert_non_null(stream->release);
    stream->release = NULL;
    maker->live--;
}

void maker_begin(arrow_maker *maker) {
    *maker = (arrow_maker){.fail_at = -1, .format = "+s"};
}

struct ArrowArrayStream maker_stream(arrow_maker *maker) {
    maker->live++;
    return (struct ArrowArrayStream){get_schema, get_next, get_last_error, release_stream, maker};
}

void maker_end(arrow_maker *maker) {
    for (; maker->next < maker->count; maker->next++)
        maker->batches[maker->next].release(&maker->batches[maker->next]);
}

/* ---- Reading -------------------------------------------------------------------------------- */

margin_status maker_read(margin_context *with, arrow_maker *maker,
                         const margin_read_options *options, margin_table **table,
                         margin_error *error) {
    struct ArrowArrayStream stream = maker_stream(maker);
    *table = NULL;
    const margin_status status = margin_table_from_arrow(with, &stream, options, table, error);
    assert_null(stream.release);
    maker_end(maker);
    assert_int_equal(maker->live, 0);
    assert_int_equal(status < 0, *table == NULL);
    return status;
}

void maker_assert_refused(margin_context *with, arrow_maker *maker,
                          const margin_read_options *options, margin_status status,
                          const char *part) {
    margin_table *table;
    margin_error error = {0};
    const margin_status found = maker_read(with, maker, options, &table, &error);
    assert_contains(error.text, part);
    assert_int_equal(found, status);
}

void maker_rows(arrow_maker *maker, int batch_rows) {
    static const char *const colours[] = {"red", "green", "blue"};
    maker_begin(maker);
    maker_column(maker, "g", "size", NULL);
    maker_column(maker, "i", "count", NULL);
    maker_column(maker, "C", "colour", "u");
    maker_column(maker, "c", "class", NULL);
    for (int first = 0; first < MAKER_ROWS; first += batch_rows) {
        const int count = first + batch_rows < MAKER_ROWS ? batch_rows : MAKER_ROWS - first;
        double *size = malloc((size_t)count * sizeof *size);
        int32_t *number = malloc((size_t)count * sizeof *number);
        uint8_t *colour = malloc((size_t)count), *label = malloc((size_t)count);
        char *there = malloc((size_t)count + 1);
        assert_true(size && number && colour && label && there);
        for (int k = 0; k < count; k++) {
            const int i = first + k;
            size[k] = i * 0.37 - 300;
            number[k] = i * 7919 % 1009 - 500;
            colour[k] = (uint8_t)(i * i % 3);
            label[k] = (uint8_t)(i % 5 > 1);
            there[k] = i % 17 ? '1' : '0';
        }
        struct ArrowArray columns[] = {maker_numbers(maker, count, 0, size, 8, NULL),
                                       maker_numbers(maker, count, 0, number, 4, there),
                                       maker_numbers(maker, count, 0, colour, 1, NULL),
                                       maker_numbers(maker, count, 0, label, 1, NULL)};
        maker_give_dictionary(&columns[2], maker_texts(maker, 3, 0, colours, "u"));
        maker_batch(maker, count, 0, columns);
        free(size), free(number), free(colour), free(label), free(there);
    }
}

void maker_assert_same_tables(const margin_table *a, const margin_table *b) {
    const margin_data p = margin_table_data(a), q = margin_table_data(b);
    assert_int_equal(p.x.rows, q.x.rows);
    assert_int_equal(p.x.columns, q.x.columns);
    assert_memory_equal(p.x.values, q.x.values, (size_t)(p.x.rows * p.x.columns) * sizeof(double));
    assert_memory_equal(p.y.values, q.y.values, (size_t)p.x.rows * sizeof(double));
    for (int64_t j = 0; j < p.x.columns; j++) {
        assert_string_equal(p.columns[j].name, q.columns[j].name);
        assert_int_equal(p.columns[j].category_count, q.columns[j].category_count);
        for (int64_t k = 0; k < p.columns[j].category_count; k++)
            assert_string_equal(p.columns[j].categories[k], q.columns[j].categories[k]);
    }
    assert_string_equal(p.target->name, q.target->name);
    assert_int_equal(p.target->category_count, q.target->category_count);
    for (int64_t k = 0; k < p.target->category_count; k++)
        assert_string_equal(p.target->categories[k], q.target->categories[k]);
}
