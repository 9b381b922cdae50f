/* Rows to bytes in parallel, bytes to the file in order.
 *
 * Two sets of buffers take turns: while one set is written, as the first task of a round, the other
 * tasks of that round format the next blocks into the other set. */
#include "data/writers/writer.h"

#include <math.h>

enum { MOST_SLOTS = 64, SLOTS_PER_THREAD = 2, FIRST_CAPACITY = 1 << 16, BLOCK_BYTES = 1 << 18 };

typedef struct write_slot {
    mg_block_text text;
    mg_gzip_piece piece; /* the text compressed, where the output wants it so */
    margin_status status;
    margin_error error;
} write_slot;

typedef struct write_run {
    const mg_write_job *job;
    const void *layout;
    mg_format_rows format;
    mg_output *output;
    int64_t block_rows;
    int64_t formatted; /* blocks that earlier rounds formatted */
    int64_t written;   /* blocks that earlier rounds wrote */
    int slot_count;
    int turn;             /* which set this round formats into */
    write_slot *slots[2]; /* slot_count each */
    margin_status write_status;
    margin_error write_error;
} write_run;

char *mg_block_room(mg_block_text *text, int64_t bytes) {
    if (bytes > text->capacity - text->length) {
        int64_t wanted = MG_MAX(text->capacity * 2, (int64_t)FIRST_CAPACITY);
        wanted = MG_MAX(wanted, text->length + bytes);
        char *grown = mg_resize(text->heap, text->data, wanted, 1);
        if (!grown) return NULL;
        text->data = grown;
        text->capacity = wanted;
    }
    return text->data + text->length;
}

static margin_status format_block(write_run *run, int64_t slot_index) {
    write_slot *slot = &run->slots[run->turn][slot_index];
    int64_t first = (run->formatted + slot_index) * run->block_rows;
    int64_t count = MG_MIN(run->block_rows, run->job->rows - first);
    slot->text.length = 0;
    slot->status = run->format(run->job, run->layout, first, count, &slot->text, &slot->error);
    if (slot->status == MARGIN_OK && mg_output_packs(run->output))
        slot->status = mg_gzip_pack(&slot->piece, slot->text.data, slot->text.length, &slot->error);
    return slot->status;
}

static margin_status write_slot_out(write_run *run, const write_slot *slot) {
    if (mg_output_packs(run->output))
        return mg_output_write_piece(run->output, &slot->piece, &run->write_error);
    return mg_output_write(run->output, slot->text.data, slot->text.length, &run->write_error);
}

static margin_status write_blocks(write_run *run) {
    write_slot *set = run->slots[!run->turn];
    run->write_status = MARGIN_OK;
    for (int64_t k = 0; k < run->formatted - run->written && run->write_status == MARGIN_OK; k++)
        run->write_status = write_slot_out(run, &set[k]);
    return run->write_status;
}

static margin_status run_task(void *argument, int64_t task, int worker) {
    (void)worker;
    write_run *run = argument;
    return task == 0 ? write_blocks(run) : format_block(run, task - 1);
}

/* The sentence of the lowest task that failed. */
static margin_status round_failure(const write_run *run, margin_status status, int64_t formatting,
                                   margin_error *error) {
    const margin_error *cause = NULL;
    if (status == MARGIN_ERROR_CANCELLED) return mg_fail_cancelled(error);
    if (run->write_status < 0) cause = &run->write_error;
    for (int64_t k = 0; !cause && k < formatting; k++)
        if (run->slots[run->turn][k].status < 0) cause = &run->slots[run->turn][k].error;
    if (error && cause) *error = *cause;
    return status;
}

static margin_status write_rounds(write_run *run, int64_t blocks, margin_error *error) {
    while (run->written < blocks) {
        int64_t formatting = MG_MIN(blocks - run->formatted, (int64_t)run->slot_count);
        for (int64_t k = 0; k < formatting; k++)
            run->slots[run->turn][k].status = MARGIN_OK;
        margin_status status = mg_parallel(run->job->context, 1 + formatting, run_task, run, NULL);
        if (status < 0) return round_failure(run, status, formatting, error);
        run->written = run->formatted;
        run->formatted += formatting;
        run->turn = !run->turn;
        double done = (double)MG_MIN(run->written * run->block_rows, run->job->rows);
        mg_progress(run->job->context, "writing", done, (double)run->job->rows, (double)NAN);
    }
    return MARGIN_OK;
}

/* Of wide tables fewer rows than a sweep takes: each slot holds the text of a block. */
static int64_t rows_of_a_block(int64_t row_bytes) {
    int64_t rows = mg_block_rows(row_bytes);
    while (rows > 1 && rows > BLOCK_BYTES / row_bytes)
        rows /= 2;
    return rows;
}

margin_status mg_write_rows(const mg_write_job *job, const void *layout, int64_t row_bytes,
                            mg_format_rows format, mg_output *output, margin_error *error) {
    mg_heap *heap = job->context->heap;
    write_run run = {.job = job, .layout = layout, .format = format, .output = output};
    run.block_rows = rows_of_a_block(row_bytes);
    int64_t blocks = (job->rows + run.block_rows - 1) / run.block_rows;
    int64_t slots = (int64_t)mg_threads(job->context) * SLOTS_PER_THREAD;
    run.slot_count = (int)MG_MIN(MG_MIN(slots, (int64_t)MOST_SLOTS), blocks);
    write_slot *all;
    MG_NEW(heap, all, 2 * run.slot_count, "the output buffers", error);
    for (int k = 0; k < 2 * run.slot_count; k++) {
        all[k].text = (mg_block_text){.heap = heap};
        all[k].piece = (mg_gzip_piece){.heap = heap};
    }
    run.slots[0] = all;
    run.slots[1] = all + run.slot_count;
    margin_status status = write_rounds(&run, blocks, error);
    for (int k = 0; k < 2 * run.slot_count; k++) {
        mg_free(heap, all[k].text.data);
        mg_gzip_piece_free(&all[k].piece);
    }
    mg_free(heap, all);
    return status;
}
