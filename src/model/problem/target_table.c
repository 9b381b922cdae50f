/* Small whole targets through tables. */
#include "model/problem/target_table.h"

enum { CHUNK = 256 };

typedef struct look {
    const margin_vector *y;
    const mg_samples *samples;
    mg_label_range range;
    _Atomic unsigned char *seen; /* or: */
    const int32_t *table;
    int32_t *codes;
} look;

/* Targets of the samples [first, first + count). */
static void read_targets(const margin_vector *y, const mg_samples *samples, int64_t first,
                         int64_t count, double *out) {
    for (int64_t i = 0; samples->rows && i < count; i++)
        out[i] = mg_vector_f64(y, samples->rows[first + i]);
    if (samples->rows) return;
    const margin_array all = {.values = y->values, .type = y->type};
    mg_column_read_f64(&all, NULL, first, count, out);
}

/* Place of a target in the range; -1: it has none. */
static int64_t place_of(mg_label_range range, double value) {
    if (!(value >= (double)range.low && value < (double)(range.low + range.count))) return -1;
    const int64_t whole = (int64_t)value;
    return (double)whole == value ? whole - range.low : -1;
}

static bool note_chunk(const look *l, const double *values, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        const int64_t at = place_of(l->range, values[i]);
        if (at < 0) return false;
        if (!atomic_load_explicit(&l->seen[at], memory_order_relaxed))
            atomic_store_explicit(&l->seen[at], 1, memory_order_relaxed);
    }
    return true;
}

static bool look_up_chunk(const look *l, int64_t first, const double *values, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        const int64_t at = place_of(l->range, values[i]);
        const int32_t code = at < 0 ? -1 : l->table[at];
        if (code < 0) return false;
        l->codes[first + i] = code;
    }
    return true;
}

static margin_status look_at_block(const mg_block *block, void *argument) {
    const look *l = argument;
    double values[CHUNK];
    for (int64_t at = block->first, end = at + block->count; at < end; at += CHUNK) {
        const int64_t count = MG_MIN(CHUNK, end - at);
        read_targets(l->y, l->samples, at, count, values);
        const bool good =
            l->seen ? note_chunk(l, values, count) : look_up_chunk(l, at, values, count);
        if (!good) return MARGIN_ERROR_DATA;
    }
    return MARGIN_OK;
}

static bool look_at_all(margin_context *context, look *l) {
    return mg_sweep_each(context, l->samples->count, MG_BLOCK_ROWS, look_at_block, l, NULL) >= 0;
}

bool mg_target_note(margin_context *context, const margin_data *data, const mg_samples *samples,
                    mg_label_range range, _Atomic unsigned char *seen) {
    look l = {.y = &data->y, .samples = samples, .range = range, .seen = seen};
    return look_at_all(context, &l);
}

bool mg_target_look_up(margin_context *context, const margin_data *data, const mg_samples *samples,
                       mg_label_range range, const int32_t *table, int32_t *codes) {
    look l = {.y = &data->y, .samples = samples, .range = range, .table = table, .codes = codes};
    return look_at_all(context, &l);
}
