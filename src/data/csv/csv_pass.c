/* Pass 2 and what may follow: walks over all blocks, in any order and by any worker. */
#include "data/csv/csv.h"

#include <math.h>

enum { WAVE = 256 /* blocks between two looks at progress */, LIST_SLACK = 64 };

typedef struct walk {
    const mg_csv *csv;
    mg_csv_pass *pass;
    mg_csv_worker *workers;
    int64_t first; /* block of the wave */
} walk;

/* ---- Workers -------------------------------------------------------------------------------- */

static void workers_free(const mg_csv *csv, mg_csv_worker *workers, int count,
                         int64_t text_columns) {
    for (int w = 0; workers && w < count; w++) {
        for (int64_t k = 0; workers[w].dictionaries && k < text_columns; k++)
            mg_dictionary_free(&workers[w].dictionaries[k]);
        MG_FREE(csv->heap, workers[w].dictionaries, workers[w].misfits, workers[w].ends,
                workers[w].scratch);
    }
    mg_free(csv->heap, workers);
}

/* At its first block, so that a worker without work costs nothing. */
static bool set_up_worker(const mg_csv_pass *pass, mg_csv_worker *worker) {
    if (worker->ends) return true;
    if (!worker->misfits) worker->misfits = mg_new_zero(pass->heap, pass->column_count, 1);
    if (!worker->dictionaries) {
        worker->dictionaries = mg_new(pass->heap, pass->text_columns, sizeof *worker->dictionaries);
        for (int64_t k = 0; worker->dictionaries && k < pass->text_columns; k++)
            mg_dictionary_init(&worker->dictionaries[k], pass->heap);
    }
    if (!worker->misfits || !worker->dictionaries) return false;
    worker->ends = mg_new(pass->heap, MG_CSV_STEP + LIST_SLACK, sizeof *worker->ends);
    return worker->ends != NULL;
}

/* ---- The walk ------------------------------------------------------------------------------- */

static margin_status parse_task(void *argument, int64_t task, int worker) {
    const walk *walking = argument;
    mg_csv_pass *pass = walking->pass;
    int64_t block = walking->first + task;
    mg_csv_result *result = &pass->results[block];
    result->worker = worker;
    if (set_up_worker(pass, &walking->workers[worker]))
        walking->csv->kernels->parse(pass, block, &walking->workers[worker]);
    else
        result->reason = MG_CSV_MEMORY;
    if (result->reason != MG_CSV_FINE) return MARGIN_ERROR_FORMAT;
    mg_source_done(walking->csv->source, pass->blocks[block].start, pass->blocks[block + 1].start);
    return MARGIN_OK;
}

/* Fails with the lowest block's failure; *failed then tells it, or is NULL if the walk was
 * cancelled or a worker could not be set up. `workers` has one entry per thread, zeroed at first.
 */
static margin_status walk_blocks(const mg_csv *csv, mg_csv_pass *pass, mg_csv_worker *workers,
                                 const mg_csv_result **failed) {
    walk walking = {csv, pass, workers, 0};
    *failed = NULL;
    for (; walking.first < csv->block_count; walking.first += WAVE) {
        int64_t count = MG_MIN(csv->block_count - walking.first, (int64_t)WAVE);
        mg_progress(csv->context, "reading", (double)pass->blocks[walking.first].start,
                    (double)csv->end, (double)NAN);
        margin_status status = mg_parallel(csv->context, count, parse_task, &walking, NULL);
        if (status == MARGIN_OK) continue;
        if (status == MARGIN_ERROR_CANCELLED) return mg_fail_cancelled(csv->error);
        *failed = &pass->results[walking.first];
        while ((*failed)->reason == MG_CSV_FINE)
            ++*failed;
        return status;
    }
    return MARGIN_OK;
}

/* ---- One pass ------------------------------------------------------------------------------- */

/* Numbers the text columns of this pass. */
static int64_t assign_slots(mg_csv *csv) {
    int64_t slots = 0;
    for (int64_t j = 0; j < csv->columns; j++)
        if (csv->cells[j].kind == MG_CSV_TEXT) csv->cells[j].slot = slots++;
    return slots;
}

static void collect_misfits(const mg_csv *csv, const mg_csv_worker *workers, int count,
                            uint8_t *misfits) {
    for (int w = 0; w < count; w++)
        for (int64_t j = 0; workers[w].misfits && j < csv->columns; j++)
            misfits[j] |= workers[w].misfits[j];
}

static void collect_counts(mg_csv *csv, const mg_csv_pass *pass) {
    for (int64_t b = 0; b < csv->block_count; b++) {
        csv->missing += pass->results[b].missing;
        csv->unknown += pass->results[b].unknown;
        csv->unknown_classes += pass->results[b].unknown_classes;
    }
}

margin_status mg_csv_run_pass(mg_csv *csv, bool counting, uint8_t *misfits) {
    mg_csv_pass pass = {.heap = csv->heap,
                        .text = csv->text,
                        .end = csv->end,
                        .separator = csv->separator,
                        .has_quotes = csv->has_quotes,
                        .counting = counting,
                        .missing = csv->options->missing,
                        .dropped = csv->dropped,
                        .column_count = csv->columns,
                        .columns = csv->cells,
                        .text_columns = assign_slots(csv),
                        .blocks = csv->blocks};
    const int worker_count = mg_threads(csv->context);
    const mg_csv_result *failed = NULL;
    margin_status status = MARGIN_OK;
    mg_csv_worker *workers = mg_new_zero(csv->heap, worker_count, sizeof *workers);
    pass.results = mg_new_zero(csv->heap, csv->block_count, sizeof *pass.results);
    if (!workers || !pass.results)
        MG_GO(mg_no_memory(csv->heap, csv->block_count, sizeof *pass.results,
                           "the blocks of a file", csv->error));
    status = walk_blocks(csv, &pass, workers, &failed);
    if (failed) status = mg_csv_fail_result(csv, failed);
    if (status < 0) goto done;
    collect_misfits(csv, workers, worker_count, misfits);
    collect_counts(csv, &pass);
    if (pass.text_columns) status = mg_csv_settle_codes(csv, &pass, workers, worker_count);
done:
    workers_free(csv, workers, worker_count, pass.text_columns);
    mg_free(csv->heap, pass.results);
    return status;
}
