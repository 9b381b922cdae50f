/* Categories: the dictionaries of the workers become one per column, in bytewise order, and the
 * workers' codes in the arrays become places in that order. So the result depends on neither blocks
 * nor threads, although which worker met a text first does. */
#include "data/csv/csv.h"

#include <math.h>

enum { REMAP_GRAIN = 4 /* blocks per task */, TEXTS_BETWEEN_LOOKS = 1 << 14 };

typedef struct settling {
    mg_csv *csv;
    const mg_csv_pass *pass;
    const mg_csv_worker *workers;
    int worker_count;
    int64_t *columns; /* column of each slot */
    int32_t **maps;   /* [slot * worker_count + worker]: code to place; NULL: they are the same */
} settling;

/* ---- Merging -------------------------------------------------------------------------------- */

/* Code in the merged dictionary of an entry of a worker's; what is not UTF-8 is Latin-1. */
static int32_t merge_entry(mg_heap *heap, mg_dictionary *merged, const mg_dictionary_entry *entry) {
    int32_t code;
    if (mg_is_utf8(entry->text, entry->length)) {
        code = mg_dictionary_code_exact(merged, entry->text, entry->length);
    } else {
        char *wide = mg_new(heap, 2 * (int64_t)entry->length, 1);
        if (!wide) return MG_DICTIONARY_MEMORY;
        int64_t length = mg_csv_from_latin1(entry->text, entry->length, wide);
        code = mg_dictionary_code_exact(merged, wide, length);
        mg_free(heap, wide);
    }
    if (code < 0) return code;
    merged->entries[code].seen += entry->seen - 1;
    return code;
}

static margin_status merge_worker(const settling *s, int64_t slot, int worker,
                                  mg_dictionary *merged) {
    if (!s->workers[worker].dictionaries) return MARGIN_OK;
    const mg_dictionary *from = &s->workers[worker].dictionaries[slot];
    if (from->count == 0) return MARGIN_OK;
    int32_t *map = mg_new(s->csv->heap, from->count, sizeof *map);
    if (!map) return MARGIN_ERROR_MEMORY;
    s->maps[slot * s->worker_count + worker] = map;
    for (int64_t k = 0; k < from->count; k++) {
        const mg_dictionary_entry *entry = &from->entries[k];
        if (k % TEXTS_BETWEEN_LOOKS == 0 && mg_cancelled(s->csv->context))
            return MARGIN_ERROR_CANCELLED;
        map[k] = merge_entry(s->csv->heap, merged, entry);
        if (map[k] < 0) return MARGIN_ERROR_MEMORY;
    }
    return MARGIN_OK;
}

/* Turns merged codes into places; forgets a map that changes nothing. */
static void finish_maps(const settling *s, int64_t slot, const int32_t *ranks) {
    for (int w = 0; w < s->worker_count; w++) {
        int32_t **map = &s->maps[slot * s->worker_count + w];
        if (!*map) continue;
        int64_t count = s->workers[w].dictionaries[slot].count;
        bool same = true;
        for (int64_t k = 0; k < count; k++) {
            (*map)[k] = ranks[(*map)[k]];
            same &= (*map)[k] == k;
        }
        if (!same) continue;
        mg_free(s->csv->heap, *map);
        *map = NULL;
    }
}

/* The categories that a model expects come first. */
static margin_status merge_list(const mg_dictionary *list, mg_dictionary *merged) {
    for (int64_t k = 0; list && k < list->count; k++) {
        const mg_dictionary_entry *entry = &list->entries[k];
        if (mg_dictionary_code_exact(merged, entry->text, entry->length) != k)
            return MARGIN_ERROR_MEMORY;
    }
    return MARGIN_OK;
}

/* One column: merge in worker order, sort, make the maps. */
static margin_status settle_task(void *argument, int64_t slot, int worker) {
    const settling *s = argument;
    mg_csv *csv = s->csv;
    int64_t j = s->columns[slot];
    mg_dictionary *merged = &csv->categories[j];
    (void)worker;
    const mg_dictionary *list = s->pass->columns[j].list;
    mg_dictionary_init(merged, csv->heap);
    MG_TRY(merge_list(list, merged));
    for (int w = 0; w < s->worker_count; w++)
        MG_TRY(merge_worker(s, slot, w, merged));
    csv->orders[j] = mg_new(csv->heap, merged->count, sizeof *csv->orders[j]);
    int32_t *ranks = mg_new(csv->heap, merged->count, sizeof *ranks);
    const margin_status status =
        !csv->orders[j] || !ranks
            ? MARGIN_ERROR_MEMORY
            : mg_dictionary_sort_behind(csv->context, merged, list ? list->count : 0,
                                        csv->orders[j], ranks);
    if (status >= 0) finish_maps(s, slot, ranks);
    csv->category_counts[j] = merged->count;
    mg_free(csv->heap, ranks);
    return status;
}

/* ---- Codes in the arrays -------------------------------------------------------------------- */

static margin_status remap_block(const settling *s, int64_t block) {
    const mg_csv_pass *pass = s->pass;
    int64_t first = pass->blocks[block].row, last = pass->blocks[block + 1].row;
    for (int64_t slot = 0; slot < pass->text_columns; slot++) {
        const int32_t *map = s->maps[slot * s->worker_count + pass->results[block].worker];
        const mg_csv_column *column = &pass->columns[s->columns[slot]];
        if (!map) continue;
        for (int64_t row = first; row < last; row++) {
            const double code = mg_csv_cell_get(column, row);
            if (!isnan(code)) mg_csv_cell_set(column, row, (double)map[(int32_t)code]);
        }
    }
    return MARGIN_OK;
}

static margin_status remap_task(void *argument, int64_t task, int worker) {
    const settling *s = argument;
    (void)worker;
    int64_t last = MG_MIN((task + 1) * REMAP_GRAIN, s->csv->block_count);
    for (int64_t block = task * REMAP_GRAIN; block < last; block++)
        MG_TRY(remap_block(s, block));
    return MARGIN_OK;
}

/* Values that a model's list does not have. */
static void count_unknown(mg_csv *csv, int64_t j) {
    const mg_dictionary *list = csv->cells[j].list, *merged = &csv->categories[j];
    for (int64_t k = list ? list->count : merged->count; k < merged->count; k++) {
        csv->unknown += merged->entries[k].seen;
        csv->unknown_classes += csv->cells[j].feature ? 0 : merged->entries[k].seen;
    }
}

/* ---- The whole ------------------------------------------------------------------------------ */

static margin_status settle(settling *s) {
    mg_csv *csv = s->csv;
    const mg_csv_pass *pass = s->pass;
    for (int64_t j = 0; j < csv->columns; j++)
        if (pass->columns[j].kind == MG_CSV_TEXT) s->columns[pass->columns[j].slot] = j;
    margin_status status = mg_parallel(csv->context, pass->text_columns, settle_task, s, NULL);
    if (status == MARGIN_ERROR_CANCELLED) return mg_fail_cancelled(csv->error);
    if (status < 0)
        return mg_no_memory(csv->heap, csv->rows, sizeof(int32_t), "the categories of a column",
                            csv->error);
    for (int64_t slot = 0; slot < pass->text_columns; slot++)
        count_unknown(csv, s->columns[slot]);
    int64_t tasks = (csv->block_count + REMAP_GRAIN - 1) / REMAP_GRAIN;
    status = mg_parallel(csv->context, tasks, remap_task, s, NULL);
    return status < 0 ? mg_fail_cancelled(csv->error) : MARGIN_OK;
}

margin_status mg_csv_settle_codes(mg_csv *csv, const mg_csv_pass *pass,
                                  const mg_csv_worker *workers, int worker_count) {
    int64_t maps = pass->text_columns * worker_count;
    settling s = {.csv = csv, .pass = pass, .workers = workers, .worker_count = worker_count};
    margin_status status = MARGIN_OK;
    s.columns = mg_new(csv->heap, pass->text_columns, sizeof *s.columns);
    s.maps = mg_new_zero(csv->heap, maps, sizeof *s.maps);
    if (s.columns && s.maps)
        status = settle(&s);
    else
        status =
            mg_no_memory(csv->heap, maps, sizeof *s.maps, "the categories of columns", csv->error);
    for (int64_t k = 0; s.maps && k < maps; k++)
        mg_free(csv->heap, s.maps[k]);
    MG_FREE(csv->heap, (void *)s.maps, s.columns);
    return status;
}
