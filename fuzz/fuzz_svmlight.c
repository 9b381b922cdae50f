/* svmlight text: both instruction sets agree on every input, to the byte; what is read is a valid
 * matrix; written out plainly it reads back to the same table. */
#include "base/text/text.h"
#include "fuzz.h"

#include "data/source/source.h"
#include "data/table/table.h"

static margin_context *context;

static margin_status read_text(const uint8_t *data, size_t size, const margin_read_options *options,
                               margin_table **table, margin_error *error) {
    mg_source source;
    margin_status status = mg_source_memory(context, data, (int64_t)size, "fuzz", &source, error);
    if (status < 0) return status; /* it begins as gzip does and is none */
    status = mg_reader_svmlight.read(context, &source, options, table, error);
    mg_source_close(&source);
    return status;
}

static int same_bytes(const void *a, const void *b, size_t size) {
    return size == 0 || memcmp(a, b, size) == 0;
}

static int64_t pairs_of(const margin_table *table) {
    return mg_row_start(&table->x.view, table->x.view.rows);
}

static void check_same(const margin_table *a, const margin_table *b) {
    const margin_matrix *x = &a->x.view, *z = &b->x.view;
    FUZZ_CHECK(x->rows == z->rows && x->columns == z->columns && pairs_of(a) == pairs_of(b));
    FUZZ_CHECK(x->value_type == z->value_type && a->has_target == b->has_target);
    const size_t pairs = (size_t)pairs_of(a), rows = (size_t)x->rows;
    const size_t value = x->value_type == MARGIN_F32 ? 4 : 8;
    FUZZ_CHECK(same_bytes(x->row_starts, z->row_starts, (rows + 1) * sizeof(int64_t)));
    FUZZ_CHECK(same_bytes(x->column_indices, z->column_indices, pairs * sizeof(int32_t)));
    FUZZ_CHECK(same_bytes(x->values, z->values, pairs * value));
    if (a->has_target) FUZZ_CHECK(same_bytes(a->y, b->y, rows * sizeof(double)));
    if (a->weights && b->weights)
        FUZZ_CHECK(same_bytes(a->weights, b->weights, rows * sizeof(double)));
    FUZZ_CHECK(a->details.missing == b->details.missing);
    FUZZ_CHECK(a->details.rows_dropped == b->details.rows_dropped);
}

static double value_at(const margin_matrix *x, int64_t k) {
    return x->value_type == MARGIN_F32 ? (double)((const float *)x->values)[k]
                                       : ((const double *)x->values)[k];
}

/* Zero-based, numeric labels. */
static void check_round_trip(const margin_table *table, margin_read_options options) {
    const margin_matrix *x = &table->x.view;
    mg_text text;
    mg_text_init(&text, table->heap);
    for (int64_t i = 0; i < x->rows; i++) {
        mg_text_number(&text, table->has_target ? table->y[i] : 0);
        for (int64_t k = mg_row_start(x, i); k < mg_row_start(x, i + 1); k++) {
            mg_text_puts(&text, " ");
            mg_text_integer(&text, mg_column_index(x, k));
            mg_text_puts(&text, ":");
            mg_text_number(&text, value_at(x, k));
        }
        mg_text_puts(&text, "\n");
    }
    options.index_base = -1;
    options.ignore = options.weights = options.categorical = NULL;
    options.svmlight_columns = x->columns;
    if (!table->has_target) options.target = "";
    margin_table *again;
    margin_error error;
    FUZZ_CHECK(read_text((const uint8_t *)text.data, (size_t)text.length, &options, &again,
                         &error) == MARGIN_OK);
    check_same(table, again);
    margin_table_free(again);
    mg_text_free(&text);
}

static margin_read_options take_options(fuzz_stream *stream) {
    static const char *const references[] = {NULL, NULL, NULL, "2", "x1,3", "label", "-1", "1,1"};
    margin_read_options options = {.size = sizeof options};
    const uint8_t choice = fuzz_byte(stream), columns = fuzz_byte(stream);
    options.index_base = (int)(choice % 3) - 1;
    options.value_type = choice & 4 ? MARGIN_F32 : MARGIN_F64;
    options.missing = (margin_missing)(choice / 8 % 3);
    options.target_optional = choice >> 5 & 1;
    if (choice >> 6 & 1) options.target = "";
    options.ignore = references[columns & 7];
    options.weights = references[columns >> 3 & 7];
    options.categorical = columns >> 6 == 3 ? "label" : NULL;
    options.svmlight_columns = columns >> 6 == 2 ? 5 : 0;
    return options;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_stream stream = {data, size};
    margin_error error, plain_error;
    if (context == NULL) {
        const margin_context_options one = {.size = sizeof one, .threads = 1};
        FUZZ_CHECK(margin_context_create(&one, &context, &error) == MARGIN_OK);
    }
    const margin_read_options options = take_options(&stream);
    margin_table *table = NULL, *plain = NULL;
    const margin_status status = read_text(stream.data, stream.size, &options, &table, &error);
    setenv("MARGIN_ISA", "ref", 1);
    FUZZ_CHECK(read_text(stream.data, stream.size, &options, &plain, &plain_error) == status);
    unsetenv("MARGIN_ISA");
    if (status < 0) {
        FUZZ_CHECK(table == NULL && plain == NULL && error.text[0] != 0);
        FUZZ_CHECK(strcmp(error.text, plain_error.text) == 0);
        return 0;
    }
    FUZZ_CHECK(status == MARGIN_OK && table->x.view.rows > 0);
    const margin_data read = margin_table_data(table);
    FUZZ_CHECK(mg_matrix_check(context, &read.x, "x", &error) == MARGIN_OK);
    check_same(table, plain);
    FUZZ_CHECK(!table->weights == !plain->weights);
    if (options.missing == MARGIN_MISSING_KEEP) check_round_trip(table, options);
    margin_table_free(table);
    margin_table_free(plain);
    return 0;
}
