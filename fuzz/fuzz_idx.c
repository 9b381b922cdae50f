/* idx files: what is accepted fits into its bytes and gives the numbers that the plainest reading
 * gives. */
#include "fuzz.h"

#include "data/arrays/array.h"

static margin_context *context;

/* One big-endian item, the slow and simple way. */
static double item_value(int type, const uint8_t *bytes) {
    static const int sizes[] = {1, 1, 0, 2, 4, 4, 8};
    uint64_t bits = 0;
    for (int k = 0; k < sizes[type - 8]; k++)
        bits = bits << 8 | bytes[k];
    uint32_t low = (uint32_t)bits;
    float narrow;
    double wide;
    memcpy(&narrow, &low, sizeof narrow);
    memcpy(&wide, &bits, sizeof wide);
    switch (type) {
    case 0x08:
        return (double)(uint8_t)bits;
    case 0x09:
        return (double)(int8_t)bits;
    case 0x0b:
        return (double)(int16_t)bits;
    case 0x0c:
        return (double)(int32_t)bits;
    case 0x0d:
        return (double)narrow;
    default:
        return wide;
    }
}

static void check_items(const margin_matrix *x, const uint8_t *data, size_t size) {
    const int type = data[2], dimensions = data[3];
    const size_t items = (size_t)(x->rows * x->columns), begin = 4 + 4 * (size_t)dimensions;
    FUZZ_CHECK((size - begin) % items == 0);
    const size_t item_size = (size - begin) / items;
    for (size_t k = 0; k < items; k++) {
        double expected = item_value(type, data + begin + k * item_size);
        double got = x->value_type == MARGIN_F32 ? (double)((const float *)x->values)[k]
                                                 : ((const double *)x->values)[k];
        FUZZ_CHECK(expected == got || (expected != expected && got != got));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size >= 2 && data[0] == 0x1f && data[1] == 0x8b) return 0; /* gzip is another target's */
    mg_source source;
    margin_error error;
    margin_table *table = NULL;
    if (!context) {
        margin_context_options one_thread = {.size = sizeof one_thread, .threads = 1};
        FUZZ_CHECK(margin_context_create(&one_thread, &context, NULL) == MARGIN_OK);
    }
    FUZZ_CHECK(mg_source_memory(context, data, (int64_t)size, "fuzz", &source, &error) ==
               MARGIN_OK);
    margin_read_options options = {0};
    margin_status status = mg_reader_idx.read(context, &source, &options, &table, &error);
    mg_source_close(&source);
    if (status == MARGIN_OK) {
        check_items(&table->x.view, data, size);
    } else {
        FUZZ_CHECK(status == MARGIN_ERROR_FORMAT || status == MARGIN_ERROR_DATA);
        FUZZ_CHECK(error.text[0] && table == NULL);
    }
    margin_table_free(table);
    return 0;
}
