/* The rows of a Gram matrix: the whole of it, or those used last. A doubly linked list orders the
 * slots by their last use. */
#include "kernel/gram/gram_store.h"

#include <string.h>

/* Columns that are looked at together: a thousand rows of them stay in the second cache. */
enum { VISIT_COLUMNS = 512 };

static mg_kernel_out out_of(const mg_gram *gram) {
    return (mg_kernel_out){.type = gram->type, .factor = gram->factor, .ld = gram->ld};
}

margin_status mg_gram_fill(mg_gram *gram, margin_context *context, margin_error *error) {
    if (!gram->whole || gram->filled) return MARGIN_OK;
    const int64_t count = gram->points.count;
    const mg_kernel_block block = mg_gram_block_of(gram, NULL, count, NULL, count);
    mg_kernel_out out = out_of(gram);
    out.values = gram->values;
    out.square = true;
    gram->scratch->context = context;
    MG_TRY(mg_kernel_fail(mg_kernel_fill_out(gram->scratch, &block, &out), error));
    gram->filled = true;
    gram->computed += count * (count + 1) / 2;
    return MARGIN_OK;
}

const void *mg_gram_values(const mg_gram *gram, int64_t *ld) {
    *ld = gram->ld;
    return gram->filled ? gram->values : NULL;
}

/* ---- Slots ----------------------------------------------------------------------------------- */

static void unlink_slot(mg_gram *gram, int64_t slot) {
    const int64_t newer = gram->newer[slot], older = gram->older[slot];
    if (newer >= 0)
        gram->older[newer] = older;
    else
        gram->newest = older;
    if (older >= 0)
        gram->newer[older] = newer;
    else
        gram->oldest = newer;
}

static void make_newest(mg_gram *gram, int64_t slot) {
    gram->newer[slot] = -1;
    gram->older[slot] = gram->newest;
    if (gram->newest >= 0)
        gram->newer[gram->newest] = slot;
    else
        gram->oldest = slot;
    gram->newest = slot;
}

/* A slot for row i: a fresh one, or the one that was not used for longest. */
static void take_slot(mg_gram *gram, int64_t i) {
    int64_t slot = gram->used;
    if (slot < gram->slots) {
        gram->used++;
    } else {
        slot = gram->oldest;
        unlink_slot(gram, slot);
        if (gram->row_of[slot] >= 0) gram->slot_of[gram->row_of[slot]] = -1;
    }
    gram->row_of[slot] = i;
    gram->slot_of[i] = slot;
    make_newest(gram, slot);
}

static void *row_at(const mg_gram *gram, int64_t i) {
    return gram->values + (gram->whole ? i : gram->slot_of[i]) * gram->ld * gram->size;
}

/* Slots for all rows: those that are there become the newest first, so none makes room for
 * another. Returns how many are missing, listed in gram->missing. */
static int64_t take_slots(mg_gram *gram, const int64_t *rows, int64_t count) {
    int64_t missing = 0;
    for (int64_t k = 0; k < count; k++) {
        const int64_t slot = gram->slot_of[rows[k]];
        if (slot < 0) {
            gram->missing[missing++] = rows[k];
        } else {
            unlink_slot(gram, slot);
            make_newest(gram, slot);
        }
    }
    for (int64_t k = 0; k < missing; k++)
        take_slot(gram, gram->missing[k]);
    return missing;
}

/* The slots hold nothing. */
static void forget_missing(mg_gram *gram, int64_t missing) {
    for (int64_t k = 0; k < missing; k++) {
        const int64_t i = gram->missing[k];
        gram->row_of[gram->slot_of[i]] = -1;
        gram->slot_of[i] = -1;
    }
}

static margin_status compute_missing(mg_gram *gram, margin_context *context, int64_t missing) {
    const int64_t count = gram->points.count;
    const mg_kernel_block block = mg_gram_block_of(gram, gram->missing, missing, NULL, count);
    mg_kernel_out out = out_of(gram);
    for (int64_t k = 0; k < missing; k++)
        gram->pointers[k] = row_at(gram, gram->missing[k]);
    out.rows = gram->pointers;
    gram->scratch->context = context;
    const margin_status status = mg_kernel_fill_out(gram->scratch, &block, &out);
    if (status < 0) forget_missing(gram, missing);
    gram->computed += missing * count;
    return status;
}

/* The rows are there, and gram->pointers says where. */
static margin_status hold_rows(mg_gram *gram, margin_context *context, const int64_t *rows,
                               int64_t count, margin_error *error) {
    if (gram->whole) {
        MG_TRY(mg_gram_fill(gram, context, error));
    } else {
        const int64_t missing = take_slots(gram, rows, count);
        if (missing > 0) MG_TRY(mg_kernel_fail(compute_missing(gram, context, missing), error));
    }
    return MARGIN_OK;
}

const double *mg_gram_row(mg_gram *gram, margin_context *context, int64_t i,
                          margin_status *status) {
    *status = hold_rows(gram, context, &i, 1, NULL);
    return *status < 0 ? NULL : row_at(gram, i);
}

/* ---- Visits ---------------------------------------------------------------------------------- */

typedef struct visit_work {
    const mg_gram *gram;
    const void *const *rows; /* where each begins */
    int64_t count;
    void const **here; /* count a worker */
    mg_gram_visit visit;
    void *argument;
} visit_work;

static margin_status visit_task(void *argument, int64_t task, int worker) {
    const visit_work *work = argument;
    const mg_gram *gram = work->gram;
    const int64_t first = task * VISIT_COLUMNS;
    const void **here = work->here + worker * work->count;
    for (int64_t k = 0; k < work->count; k++)
        here[k] = (const char *)work->rows[k] + first * gram->size;
    const mg_gram_part part = {first, MG_MIN(VISIT_COLUMNS, gram->points.count - first), here,
                               worker};
    work->visit(&part, work->argument);
    return MARGIN_OK;
}

margin_status mg_gram_rows(mg_gram *gram, margin_context *context, const int64_t *rows,
                           int64_t count, mg_gram_visit visit, void *argument,
                           margin_error *error) {
    const int64_t threads = margin_context_threads(context);
    const void **pointers = NULL;
    margin_status status;
    MG_REQUIRE(count <= gram->slots, error, MARGIN_ERROR_INTERNAL,
               "more rows of a Gram matrix than are kept; please report it");
    MG_GO(hold_rows(gram, context, rows, count, error));
    MG_GO_NEW(gram->heap, pointers, (threads + 1) * count, "rows of the Gram matrix", error);
    for (int64_t k = 0; k < count; k++)
        pointers[k] = row_at(gram, rows[k]);
    visit_work work = {gram, pointers, count, pointers + count, visit, argument};
    const int64_t blocks = (gram->points.count + VISIT_COLUMNS - 1) / VISIT_COLUMNS;
    status = mg_parallel(context, blocks, visit_task, &work);
    if (status == MARGIN_ERROR_CANCELLED) status = mg_fail_cancelled(error);
done:
    mg_free(gram->heap, pointers);
    return status;
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

static void gather(const mg_gram *gram, int64_t i, const int64_t *columns, int64_t count,
                   void *out) {
    const void *row = row_at(gram, i);
    for (int64_t j = 0; gram->type == MARGIN_F32 && j < count; j++)
        ((float *)out)[j] = ((const float *)row)[columns[j]];
    for (int64_t j = 0; gram->type == MARGIN_F64 && j < count; j++)
        ((double *)out)[j] = ((const double *)row)[columns[j]];
}

margin_status mg_gram_block(mg_gram *gram, margin_context *context, const int64_t *rows,
                            int64_t row_count, const int64_t *columns, int64_t column_count,
                            void *out, int64_t ld, margin_error *error) {
    int64_t *absent = NULL, missing = 0;
    void **places = NULL;
    margin_status status = MARGIN_OK;
    if (gram->whole) MG_TRY(mg_gram_fill(gram, context, error));
    MG_GO_NEW(gram->heap, absent, row_count, "rows of the Gram matrix", error);
    MG_GO_NEW(gram->heap, places, row_count, "rows of the Gram matrix", error);
    for (int64_t k = 0; k < row_count; k++) {
        void *to = (char *)out + k * ld * gram->size;
        if (gram->whole || gram->slot_of[rows[k]] >= 0) {
            gather(gram, rows[k], columns, column_count, to);
        } else {
            absent[missing] = rows[k];
            places[missing++] = to;
        }
    }
    if (missing > 0) {
        const mg_kernel_block block =
            mg_gram_block_of(gram, absent, missing, columns, column_count);
        mg_kernel_out to = out_of(gram);
        to.rows = places;
        gram->scratch->context = context;
        MG_GO(mg_kernel_fail(mg_kernel_fill_out(gram->scratch, &block, &to), error));
        gram->computed += missing * column_count;
    }
done:
    mg_free(gram->heap, places);
    mg_free(gram->heap, absent);
    return status;
}
