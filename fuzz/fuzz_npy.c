/* .npy files: what is accepted fits into its bytes; written out plainly it reads back to the same
 * table; text items are valid UTF-8. The first byte of the input chooses the options. */
#include "base/text/text.h"
#include "fuzz.h"

#include "data/arrays/array.h"

static margin_context *context;

static margin_status read_bytes(const void *data, int64_t size, const margin_read_options *options,
                                margin_table **table) {
    mg_source source;
    margin_error error;
    margin_status status = mg_source_memory(context, data, size, "fuzz", &source, &error);
    FUZZ_CHECK(status == MARGIN_OK);
    status = mg_reader_npy.read(context, &source, options, table, &error);
    mg_source_close(&source);
    if (status < 0) FUZZ_CHECK(status == MARGIN_ERROR_FORMAT || status == MARGIN_ERROR_DATA);
    if (status < 0) FUZZ_CHECK(error.text[0] && *table == NULL);
    return status;
}

/* The features as a C-order file; its length. */
static int64_t plain_file(const margin_matrix *x, char *to) {
    const bool narrow = x->value_type == MARGIN_F32;
    int header =
        sprintf(to + 10, "{'descr': '<f%d', 'fortran_order': False, 'shape': (%lld, %lld)}",
                narrow ? 4 : 8, (long long)x->rows, (long long)x->columns);
    memcpy(to, "\x93NUMPY\x01\x00", 8);
    to[8] = (char)(header & 255);
    to[9] = (char)(header >> 8);
    size_t bytes = (size_t)(x->rows * x->columns * (narrow ? 4 : 8));
    memcpy(to + 10 + header, x->values, bytes);
    return 10 + header + (int64_t)bytes;
}

static void check_round_trip(const margin_table *table) {
    const margin_matrix *x = &table->x.view;
    size_t bytes = (size_t)(x->rows * x->columns * mg_type_size(x->value_type));
    char *file = malloc(bytes + 300);
    margin_table *again = NULL;
    margin_read_options options = {.target = ""};
    FUZZ_CHECK(read_bytes(file, plain_file(x, file), &options, &again) == MARGIN_OK);
    FUZZ_CHECK(again->x.view.rows == x->rows && again->x.view.columns == x->columns);
    FUZZ_CHECK(again->x.view.value_type == x->value_type);
    FUZZ_CHECK(memcmp(again->x.view.values, x->values, bytes) == 0);
    margin_table_free(again);
    free(file);
}

static void check_text(const uint8_t *data, size_t size) {
    mg_source source;
    mg_array array;
    margin_error error;
    FUZZ_CHECK(mg_source_memory(context, data, (int64_t)size, "fuzz", &source, &error) ==
               MARGIN_OK);
    if (mg_npy_describe(&source, &array, &error) == MARGIN_OK && mg_array_is_text(&array)) {
        mg_text text;
        mg_text_init(&text, context->heap);
        for (int64_t i = 0; i < array.rows; i++) {
            text.length = 0;
            if (mg_array_read_text(&array, i, array.columns - 1, &text, &error) < 0) continue;
            FUZZ_CHECK(text.length <= array.item_bytes);
            for (int64_t k = 0; k < text.length;) {
                int step = mg_utf8_length(text.data + k, text.length - k);
                FUZZ_CHECK(step > 0);
                k += step;
            }
        }
        mg_text_free(&text);
    }
    mg_source_close(&source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size >= 3 && data[1] == 0x1f && data[2] == 0x8b) return 0; /* gzip is another target's */
    static const char *const targets[] = {NULL, "", "1", "-1"};
    fuzz_stream stream = {data, size};
    uint8_t choice = fuzz_byte(&stream);
    if (!context) {
        margin_context_options one_thread = {.size = sizeof one_thread, .threads = 1};
        FUZZ_CHECK(margin_context_create(&one_thread, &context, NULL) == MARGIN_OK);
    }
    margin_read_options options = {.target = targets[choice & 3],
                                   .value_type = (margin_type)(choice >> 2 & 3) % 3,
                                   .missing = (margin_missing)((choice >> 4 & 3) % 3),
                                   .categorical = choice >> 6 == 1 ? "1" : NULL,
                                   .weights = choice >> 6 == 2 ? "2" : NULL};
    margin_table *table = NULL;
    if (read_bytes(stream.data, (int64_t)stream.size, &options, &table) == MARGIN_OK) {
        const margin_matrix *x = &table->x.view;
        FUZZ_CHECK(x->rows > 0 && x->columns > 0);
        FUZZ_CHECK((uint64_t)x->rows <= stream.size / (uint64_t)x->columns);
        FUZZ_CHECK(table->columns.count == x->columns);
        check_round_trip(table);
    }
    margin_table_free(table);
    check_text(stream.data, stream.size);
    return 0;
}
