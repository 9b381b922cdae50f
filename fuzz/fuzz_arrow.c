/* Streams of Arrow IPC: what is accepted is a table whose categories are in range, the same for any
 * number of threads. */
#include "fuzz.h"

#include "margin/margin.h"

static margin_context *context_of(int threads) {
    margin_context *context = NULL;
    const margin_context_options options = {
        .size = sizeof options, .threads = threads, .memory_limit = 64 << 20};
    FUZZ_CHECK(margin_context_create(&options, &context, NULL) == MARGIN_OK);
    return context;
}

static double value_at(const margin_matrix *x, int64_t k) {
    return x->value_type == MARGIN_F32 ? (double)((const float *)x->values)[k]
                                       : ((const double *)x->values)[k];
}

static void check_same(const margin_table *table, const margin_table *other) {
    const margin_data a = margin_table_data(table), b = margin_table_data(other);
    FUZZ_CHECK(a.x.rows == b.x.rows && a.x.columns == b.x.columns && a.x.rows > 0);
    for (int64_t k = 0; k < a.x.rows * a.x.columns; k++) {
        const double value = value_at(&a.x, k), twin = value_at(&b.x, k);
        const margin_column *column = &a.columns[k % a.x.columns];
        FUZZ_CHECK(memcmp(&value, &twin, sizeof value) == 0);
        FUZZ_CHECK(column->kind != MARGIN_CATEGORICAL || value != value ||
                   (value >= 0 && value < (double)column->category_count));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static margin_context *one, *two;
    margin_table *table = NULL, *other = NULL;
    margin_error error, twin;
    const margin_read_options options = {.size = sizeof options, .format = MARGIN_FORMAT_ARROW};
    if (!one) one = context_of(1);
    if (!two) two = context_of(2);
    if (size >= 2 && data[0] == 0x1f && data[1] == 0x8b) return 0; /* gzip is another target's */
    const margin_status status =
        margin_table_parse(one, data, (int64_t)size, "fuzz", &options, &table, &error);
    FUZZ_CHECK(margin_table_parse(two, data, (int64_t)size, "fuzz", &options, &other, &twin) ==
               status);
    if (status == MARGIN_OK)
        check_same(table, other);
    else
        FUZZ_CHECK(!table && !other && error.text[0] && strcmp(error.text, twin.text) == 0);
    margin_table_free(table);
    margin_table_free(other);
    return 0;
}
