/* CSV text: any block size, thread count and instruction set give the same table or the same
 * sentence; what is accepted agrees cell by cell with a plain reader written here; the table can be
 * summarized. */
#include "fuzz.h"

#include "data/csv/csv.h"

#include <math.h>

static margin_context *one, *several;

static margin_status read_text(margin_context *context, const uint8_t *data, size_t size,
                               const margin_read_options *options, int64_t block_bytes,
                               margin_table **table, margin_error *error) {
    mg_source source;
    margin_status status = mg_source_memory(context, data, (int64_t)size, "fuzz", &source, error);
    if (status < 0) return status; /* it begins as gzip does and is none */
    status = mg_csv_read(context, &source, options, block_bytes, table, error);
    mg_source_close(&source);
    return status;
}

/* ---- Two tables are one --------------------------------------------------------------------- */

static int same_bytes(const void *a, const void *b, size_t size) {
    return size == 0 || memcmp(a, b, size) == 0;
}

static void check_same_column(const margin_column *a, const margin_column *b) {
    FUZZ_CHECK(strcmp(a->name, b->name) == 0 && a->kind == b->kind);
    FUZZ_CHECK(a->category_count == b->category_count);
    for (int64_t k = 0; k < a->category_count; k++)
        FUZZ_CHECK(strcmp(a->categories[k], b->categories[k]) == 0);
}

static void check_same(const margin_table *a, const margin_table *b) {
    const margin_matrix *x = &a->x.view, *z = &b->x.view;
    FUZZ_CHECK(x->rows == z->rows && x->columns == z->columns && x->value_type == z->value_type);
    const size_t rows = (size_t)x->rows, value = x->value_type == MARGIN_F32 ? 4 : 8;
    FUZZ_CHECK(same_bytes(x->values, z->values, rows * (size_t)x->columns * value));
    FUZZ_CHECK(a->has_target == b->has_target && !a->weights == !b->weights);
    if (a->has_target) FUZZ_CHECK(same_bytes(a->y, b->y, rows * sizeof(double)));
    if (a->weights) FUZZ_CHECK(same_bytes(a->weights, b->weights, rows * sizeof(double)));
    for (int64_t j = 0; j < x->columns; j++)
        check_same_column(&a->columns.items[j], &b->columns.items[j]);
    if (a->has_target) check_same_column(a->target.items, b->target.items);
    FUZZ_CHECK(a->details.missing == b->details.missing);
    FUZZ_CHECK(a->details.unknown_categories == b->details.unknown_categories);
    FUZZ_CHECK(a->details.rows_dropped == b->details.rows_dropped);
}

/* ---- A plain reader ------------------------------------------------------------------------- */

typedef struct plain_reader {
    const char *at, *end;
    char separator;
    char *cell; /* the text of the last cell, room for the whole input */
    size_t length;
    int quoted;
} plain_reader;

static int is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

/* One cell by the book: quotes only count where they open or close it. Returns what ended it. */
static char plain_cell(plain_reader *r) {
    r->length = 0;
    r->quoted = 0;
    const char *at = r->at;
    while (at < r->end && is_blank(*at) && *at != r->separator)
        at++;
    if (at < r->end && *at == '"') {
        r->quoted = 1;
        for (at++; at < r->end && (*at != '"' || (at + 1 < r->end && at[1] == '"')); at++) {
            r->cell[r->length++] = *at;
            at += *at == '"';
        }
        FUZZ_CHECK(at < r->end); /* what was accepted is closed */
        for (at++; at < r->end && is_blank(*at) && *at != r->separator;)
            at++;
        FUZZ_CHECK(at == r->end || *at == r->separator || *at == '\n');
    } else {
        for (; at < r->end && *at != r->separator && *at != '\n'; at++)
            r->cell[r->length++] = *at;
        while (r->length && is_blank(r->cell[r->length - 1]))
            r->length--;
        if (r->length >= 2 && r->cell[0] == '\'' && r->cell[r->length - 1] == '\'') {
            r->length -= 2;
            memmove(r->cell, r->cell + 1, r->length);
        }
    }
    const char ended = at == r->end ? '\0' : *at == '\n' ? '\n' : ',';
    r->at = at + 1;
    return ended;
}

static void skip_blank_lines(plain_reader *r) {
    while (r->at < r->end) {
        const char *at = r->at + (*r->at == '\r' && r->at + 1 < r->end);
        if (*at != '\n') return;
        r->at = at + 1;
    }
}

static double cell_value(const margin_matrix *x, int64_t row, int64_t column) {
    const int64_t at = row * x->stride + column;
    return x->value_type == MARGIN_F32 ? (double)((const float *)x->values)[at]
                                       : ((const double *)x->values)[at];
}

/* The plain cell means this value of this column. */
static void check_cell(const plain_reader *r, const margin_column *column, double value,
                       margin_type type) {
    const char *start = r->cell, *stop = r->cell + r->length;
    mg_csv_trim(&start, &stop);
    const size_t length = (size_t)(stop - start);
    if (isnan(value)) {
        FUZZ_CHECK(mg_csv_is_missing(start, stop - start));
    } else if (column->kind == MARGIN_CATEGORICAL) {
        const char *category = column->categories[(int64_t)value];
        if (!mg_is_utf8(r->cell, (int64_t)r->length)) return;
        FUZZ_CHECK(strlen(category) == r->length && memcmp(category, r->cell, r->length) == 0);
    } else if (type == MARGIN_F32) {
        float read = 0;
        FUZZ_CHECK(margin_number_parse_f32(start, length, &read) && (double)read == value);
    } else {
        double read = 0;
        FUZZ_CHECK(margin_number_parse_f64(start, length, &read) && read == value);
    }
}

/* All columns are features. */
static void check_cells(const margin_table *table, const uint8_t *data, size_t size) {
    const margin_matrix *x = &table->x.view;
    plain_reader r = {(const char *)data,
                      (const char *)data + size,
                      table->details.separator,
                      malloc(size + 1),
                      0,
                      0};
    FUZZ_CHECK(r.cell != NULL);
    if (size && data[size - 1] == 0x1a) r.end--; /* the end of file of DOS */
    if (size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0) r.at += 3;
    for (;;) { /* comments and blank lines */
        const char *newline = memchr(r.at, '\n', (size_t)(r.end - r.at));
        const char *at = r.at, *stop = newline ? newline : r.end;
        while (at < stop && is_blank(*at)) /* the separator is not known yet */
            at++;
        if (*r.at != '#' && at < stop) break;
        FUZZ_CHECK(newline != NULL);
        r.at = newline + 1;
    }
    if (table->details.has_header)
        for (int64_t j = 0; j < x->columns; j++)
            plain_cell(&r);
    for (int64_t i = 0; i < x->rows; i++) {
        skip_blank_lines(&r);
        for (int64_t j = 0; j < x->columns; j++) {
            const char ended = plain_cell(&r);
            FUZZ_CHECK((ended == ',') == (j + 1 < x->columns));
            check_cell(&r, &table->columns.items[j], cell_value(x, i, j), x->value_type);
        }
    }
    for (; r.at < r.end; r.at++) /* nothing is left */
        FUZZ_CHECK(is_blank(*r.at) || *r.at == '\n' || *r.at == 0x1a);
    free(r.cell);
}

/* ---- The target ----------------------------------------------------------------------------- */

static margin_read_options take_options(fuzz_stream *stream) {
    static const char *const references[] = {NULL, NULL, "", "1", "2", "-1", "a", "1,3"};
    static const char *const list[] = {"a", "b"};
    static const margin_column columns[] = {
        {.name = "a"},
        {.name = "b", .kind = MARGIN_CATEGORICAL, .categories = list, .category_count = 2}};
    margin_read_options options = {.size = sizeof options};
    const uint8_t choice = fuzz_byte(stream), roles = fuzz_byte(stream), more = fuzz_byte(stream);
    static const char separators[] = {0, 0, ',', ';', '\t', ' ', '|', 0};
    options.value_type = choice & 1 ? MARGIN_F32 : MARGIN_F64;
    options.missing = (margin_missing)(choice / 2 % 4);
    options.header = (margin_header)(choice / 8 % 3);
    options.separator = separators[choice >> 5];
    options.target = references[roles & 7];
    options.weights = references[roles >> 3 & 7];
    options.ignore = references[more & 7];
    options.categorical = references[more >> 3 & 7];
    if (roles >> 6 == 3) {
        options.expected = columns;
        options.expected_count = 1 + (more >> 6 & 1);
        options.expected_target = &columns[1];
        options.target_optional = more >> 7;
    }
    return options;
}

static void set_up(void) {
    margin_context_options options = {.size = sizeof options, .threads = 1};
    if (one != NULL) return;
    FUZZ_CHECK(margin_context_create(&options, &one, NULL) == MARGIN_OK);
    options.threads = 2;
    FUZZ_CHECK(margin_context_create(&options, &several, NULL) == MARGIN_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_stream stream = {data, size};
    margin_error error, other_error;
    set_up();
    const margin_read_options options = take_options(&stream);
    const int64_t block_bytes = fuzz_between(&stream, 1, 200);
    margin_table *table = NULL, *other = NULL;
    const margin_status status =
        read_text(one, stream.data, stream.size, &options, 1 << 20, &table, &error);
    setenv("MARGIN_ISA", "ref", 1);
    const margin_status other_status =
        read_text(several, stream.data, stream.size, &options, block_bytes, &other, &other_error);
    unsetenv("MARGIN_ISA");
    FUZZ_CHECK(status == other_status);
    if (status < 0) {
        FUZZ_CHECK(table == NULL && other == NULL && error.text[0] != 0);
        FUZZ_CHECK(strcmp(error.text, other_error.text) == 0);
        FUZZ_CHECK(error.line == other_error.line && error.row == other_error.row);
        return 0;
    }
    FUZZ_CHECK(status == MARGIN_OK && table->x.view.rows > 0 && table->x.view.columns > 0);
    check_same(table, other);
    const bool plain = !table->has_target && !table->weights && !options.expected &&
                       !options.ignore && options.missing == MARGIN_MISSING_KEEP &&
                       table->details.separator != ' ';
    if (plain) check_cells(table, stream.data, stream.size);
    const int64_t columns = table->x.view.columns + table->target.count;
    margin_column_summary *summaries = calloc((size_t)columns, sizeof *summaries);
    FUZZ_CHECK(summaries != NULL);
    FUZZ_CHECK(margin_table_summarize(one, table, summaries, columns, &error) == MARGIN_OK);
    for (int64_t j = 0; j < table->x.view.columns; j++)
        FUZZ_CHECK(summaries[j].count + summaries[j].missing == table->x.view.rows);
    free(summaries);
    margin_table_free(table);
    margin_table_free(other);
    return 0;
}
