#include "data/arrow/flatbuffer.h"

#include <string.h>

int64_t mg_flat_value(mg_flatbuffer *of, int64_t at, int width) {
    uint64_t value = 0;
    if (at < 0 || at > of->size - width) {
        of->broken = true;
        return 0;
    }
    for (int k = width; k-- > 0;)
        value = value << 8 | (unsigned char)of->bytes[at + k];
    const uint64_t sign = (uint64_t)1 << (8 * width - 1);
    return (int64_t)((value ^ sign) - sign);
}

static int64_t unsigned_value(mg_flatbuffer *of, int64_t at, int width) {
    return mg_flat_value(of, at, width) & (((int64_t)1 << 8 * width) - 1); /* width < 8 */
}

/* A table begins with the distance to its vtable, which has its length, the table's, and the
 * places of the fields in it. */
static mg_flat_table table_at(mg_flatbuffer *of, int64_t at) {
    mg_flat_table table = {of, at, at - mg_flat_value(of, at, 4), 0};
    const int64_t length = unsigned_value(of, table.vtable, 2);
    table.fields = length >= 4 ? (length - 4) / 2 : 0;
    if (length < 4) of->broken = true;
    return table;
}

mg_flat_table mg_flat_root(mg_flatbuffer *of) {
    return table_at(of, unsigned_value(of, 0, 4));
}

/* 0: it is not there */
static int64_t place_of(const mg_flat_table *table, int64_t k) {
    if (k >= table->fields) return 0;
    const int64_t distance = unsigned_value(table->of, table->vtable + 4 + 2 * k, 2);
    return distance ? table->at + distance : 0;
}

int64_t mg_flat_number(const mg_flat_table *table, int64_t k, int width, int64_t otherwise) {
    const int64_t at = place_of(table, k);
    return at ? mg_flat_value(table->of, at, width) : otherwise;
}

mg_flat_table mg_flat_child(const mg_flat_table *table, int64_t k) {
    const int64_t at = place_of(table, k);
    if (!at) return (mg_flat_table){.of = table->of};
    return table_at(table->of, at + unsigned_value(table->of, at, 4));
}

int64_t mg_flat_list(const mg_flat_table *table, int64_t k, int64_t item, int64_t *count) {
    const int64_t at = place_of(table, k);
    *count = 0;
    if (!at) return 0;
    const int64_t first = at + unsigned_value(table->of, at, 4) + 4;
    const int64_t items = unsigned_value(table->of, first - 4, 4);
    if (items > (table->of->size - first) / item)
        table->of->broken = true;
    else
        *count = items;
    return first;
}

mg_flat_table mg_flat_item(const mg_flat_table *table, int64_t first, int64_t i) {
    const int64_t at = first + 4 * i;
    return table_at(table->of, at + unsigned_value(table->of, at, 4));
}

const char *mg_flat_text(const mg_flat_table *table, int64_t k) {
    int64_t length;
    const int64_t first = mg_flat_list(table, k, 1, &length);
    if (!first) return NULL;
    if (mg_flat_value(table->of, first + length, 1) != 0) table->of->broken = true;
    return table->of->broken ? NULL : table->of->bytes + first;
}
