/* Pass 1: how many rows there are, and where the rows of each block lie.
 *
 * Blocks are cut anywhere, so a block does not know whether it starts inside quotes. It counts for
 * both cases; the parities of the quotes, summed up in block order, then tell which one it was. */
#include "data/csv/csv.h"

enum {
    LEAST_BLOCK = 1 << 16,
    USUAL_BLOCK = 1 << 20,
    BLOCKS_WANTED = 64,    /* of a small file: enough for the threads to share */
    MOST_BLOCKS = 1 << 16, /* of a huge one */
    COUNT_WAVE = 1024      /* blocks between two looks at progress */
};

typedef struct row_counter {
    const mg_csv *csv;
    mg_csv_count *counts;
    int64_t wave; /* first block of the wave */
} row_counter;

static int64_t block_first(const mg_csv *csv, int64_t block) {
    return MG_MIN(csv->first + block * csv->block_bytes, csv->end);
}

static margin_status count_task(void *argument, int64_t task, int worker) {
    const row_counter *counter = argument;
    const mg_csv *csv = counter->csv;
    int64_t block = counter->wave + task;
    int64_t first = block_first(csv, block), last = block_first(csv, block + 1);
    (void)worker;
    csv->kernels->count(csv->text, first, last, &counter->counts[block]);
    mg_source_set_aside(csv->source, first, last);
    return MARGIN_OK;
}

static margin_status count_blocks(const mg_csv *csv, mg_csv_count *counts) {
    row_counter counter = {csv, counts, 0};
    for (; counter.wave < csv->block_count; counter.wave += COUNT_WAVE) {
        int64_t tasks = MG_MIN(csv->block_count - counter.wave, (int64_t)COUNT_WAVE);
        MG_TRY(mg_parallel(csv->context, tasks, count_task, &counter, csv->error));
    }
    return MARGIN_OK;
}

static margin_status fail_long_row(const mg_csv *csv, int64_t offset) {
    return mg_fail_source(csv->error, csv->source, offset,
                          "the row is longer than %lld bytes, which is the limit: is a closing "
                          "quote missing?",
                          (long long)MARGIN_MAX_LINE_BYTES);
}

/* Walks over the counts in order: the state and the row each block starts with. */
static margin_status place_blocks(mg_csv *csv, const mg_csv_count *counts) {
    mg_csv_block *blocks = csv->blocks;
    int64_t row = 0, last_newline = csv->first - 1;
    int state = 0;
    for (int64_t b = 0; b < csv->block_count; b++) {
        const mg_csv_count *count = &counts[b];
        int64_t newline = count->first[state];
        if (newline >= 0 && newline - last_newline > MARGIN_MAX_LINE_BYTES)
            return fail_long_row(csv, last_newline + 1);
        blocks[b] =
            (mg_csv_block){newline + 1, row + (newline >= 0 && !count->first_is_blank[state])};
        if (b == 0)
            blocks[b] = (mg_csv_block){csv->first, 0};
        else if (newline < 0)
            blocks[b].start = -1;
        if (newline >= 0) last_newline = count->last[state];
        row += count->rows[state];
        state ^= count->odd_quotes;
        csv->has_quotes |= count->any_quotes;
    }
    if (csv->end - last_newline > MARGIN_MAX_LINE_BYTES)
        return fail_long_row(csv, last_newline + 1);
    if (state) return mg_csv_fail_quotes(csv);
    csv->rows = row + 1; /* the last one ends without a newline */
    blocks[csv->block_count] = (mg_csv_block){csv->end, csv->rows};
    for (int64_t b = csv->block_count; b-- > 0;)
        if (blocks[b].start < 0) blocks[b] = blocks[b + 1];
    return MARGIN_OK;
}

static void choose_block_bytes(mg_csv *csv) {
    int64_t length = csv->end - csv->first;
    if (csv->block_bytes == 0) {
        csv->block_bytes = MG_MAX(length / BLOCKS_WANTED, (int64_t)LEAST_BLOCK);
        csv->block_bytes = MG_MIN(csv->block_bytes, (int64_t)USUAL_BLOCK);
        csv->block_bytes = MG_MAX(csv->block_bytes, length / MOST_BLOCKS);
    }
    csv->block_count = (length + csv->block_bytes - 1) / csv->block_bytes;
}

/* Every cell but the last takes at least its separator, so more cells than bytes means that rows
 * differ in length. Found here because the matrix is about to be allocated. */
static margin_status check_cell_count(const mg_csv *csv) {
    int64_t bytes = csv->end - csv->first + 1;
    if (csv->columns <= bytes / csv->rows) return MARGIN_OK;
    return mg_csv_fail_ragged(csv, csv->first);
}

margin_status mg_csv_find_rows(mg_csv *csv) {
    mg_csv_count *counts;
    MG_SCOPED_ARENA(arena, csv->heap);
    choose_block_bytes(csv);
    MG_NEW(csv->heap, csv->blocks, csv->block_count + 1, "the blocks of a file", csv->error);
    MG_ARENA_NEW(&arena, counts, csv->block_count, "the blocks of a file", csv->error);
    MG_TRY(count_blocks(csv, counts));
    MG_TRY(place_blocks(csv, counts));
    return check_cell_count(csv);
}
