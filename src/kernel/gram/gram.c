/* Rows of a Gram matrix: the whole of it, or the rows used last.
 *
 * Where the whole matrix fits into the memory given it is computed once, at the first use, half of
 * it mirrored. Otherwise rows are computed when they are asked for and kept in slots; a doubly
 * linked list orders the slots by their last use. */
#include "kernel/gram/kernel.h"

#include <string.h>

struct mg_gram {
    mg_heap *heap;
    margin_matrix x;
    const int64_t *rows;
    int64_t count;
    mg_kernel kernel;
    mg_kernel_scratch *scratch;
    double *squares;  /* of all rows of x; NULL where the kernel needs none */
    double *diagonal; /* count */
    double *values;   /* slots * count; whole: row i in slot i */
    bool whole, filled;
    /* Slots; NULL if whole. */
    int64_t slots, used;
    int64_t newest, oldest;          /* -1: none is in use */
    int64_t *slot_of;                /* of each row, -1: not kept */
    int64_t *row_of, *newer, *older; /* of each slot */
};

bool mg_gram_is_whole(const mg_gram *gram) {
    return gram->whole;
}

const double *mg_gram_diagonal(const mg_gram *gram) {
    return gram->diagonal;
}

void mg_gram_free(mg_gram *gram) {
    if (!gram) return;
    mg_heap *heap = gram->heap;
    mg_kernel_scratch_free(gram->scratch);
    mg_free(heap, gram->squares);
    mg_free(heap, gram->diagonal);
    mg_free(heap, gram->values);
    mg_free(heap, gram->slot_of);
    mg_free(heap, gram->row_of);
    mg_free(heap, gram->newer);
    mg_free(heap, gram->older);
    mg_free(heap, gram);
}

/* ---- Creation -------------------------------------------------------------------------------- */

static const char purpose[] = "rows of the Gram matrix";

static margin_status new_slots(mg_gram *gram, int64_t bytes, margin_error *error) {
    const int64_t row_bytes = gram->count * (int64_t)sizeof *gram->values;
    gram->slots = MG_MIN(MG_MAX(row_bytes > 0 ? bytes / row_bytes : 0, 2), gram->count);
    gram->whole = gram->slots == gram->count;
    MG_REQUIRE(gram->slots == 0 || gram->count <= INT64_MAX / 8 / gram->slots, error,
               MARGIN_ERROR_LIMIT, "%s: more than memory can hold", purpose);
    MG_NEW(gram->heap, gram->values, gram->slots * gram->count, purpose, error);
    if (gram->whole) return MARGIN_OK;
    MG_NEW(gram->heap, gram->slot_of, gram->count, purpose, error);
    MG_NEW(gram->heap, gram->row_of, gram->slots, purpose, error);
    MG_NEW(gram->heap, gram->newer, gram->slots, purpose, error);
    MG_NEW(gram->heap, gram->older, gram->slots, purpose, error);
    for (int64_t i = 0; i < gram->count; i++)
        gram->slot_of[i] = -1;
    return MARGIN_OK;
}

static int64_t gram_row(const mg_gram *gram, int64_t i) {
    return gram->rows ? gram->rows[i] : i;
}

/* k(x, x) from the squared norm, by the same steps as in a block: x.x is the squared norm and the
 * distance is 0. */
static margin_status fill_diagonal(margin_context *context, mg_gram *gram, margin_error *error) {
    double *squares = gram->squares;
    MG_NEW(gram->heap, gram->diagonal, gram->count, purpose, error);
    if (!squares) {
        MG_NEW(gram->heap, squares, gram->x.rows, purpose, error);
        margin_status status = mg_row_squares(context, &gram->x, squares);
        if (status < 0) {
            mg_free(gram->heap, squares);
            return status == MARGIN_ERROR_CANCELLED ? mg_fail_cancelled(error) : status;
        }
    }
    const mg_isa isa = mg_isa_level();
    for (int64_t i = 0; i < gram->count; i++) {
        const double square = squares[gram_row(gram, i)];
        gram->diagonal[i] = gram->kernel.kind == MG_KERNEL_LAPLACIAN ? 0.0 : square;
        mg_kernel_finish(isa, &gram->kernel, square, &square, &gram->diagonal[i], 1);
    }
    if (squares != gram->squares) mg_free(gram->heap, squares);
    return MARGIN_OK;
}

static margin_status prepare(margin_context *context, mg_gram *gram, int64_t bytes,
                             margin_error *error) {
    MG_TRY(
        mg_kernel_scratch_new(context, &gram->kernel, &gram->x, &gram->x, &gram->scratch, error));
    if (gram->kernel.kind == MG_KERNEL_RBF) {
        MG_NEW(gram->heap, gram->squares, gram->x.rows, purpose, error);
        margin_status status = mg_row_squares(context, &gram->x, gram->squares);
        if (status == MARGIN_ERROR_CANCELLED) return mg_fail_cancelled(error);
        MG_TRY(status);
    }
    MG_TRY(fill_diagonal(context, gram, error));
    return new_slots(gram, bytes, error);
}

margin_status mg_gram_create(margin_context *context, const mg_kernel *kernel,
                             const margin_matrix *x, const int64_t *rows, int64_t count,
                             int64_t bytes, mg_gram **out, margin_error *error) {
    mg_gram *gram;
    MG_NEW(context->heap, gram, 1, purpose, error);
    memset(gram, 0, sizeof *gram);
    gram->heap = context->heap;
    gram->x = *x;
    gram->rows = rows;
    gram->count = count;
    gram->kernel = *kernel;
    gram->newest = gram->oldest = -1;
    margin_status status = prepare(context, gram, bytes, error);
    if (status < 0) {
        mg_gram_free(gram);
        return status;
    }
    *out = gram;
    return MARGIN_OK;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static mg_kernel_block block_of(const mg_gram *gram, int64_t first, int64_t count) {
    mg_kernel_block block = {.x = &gram->x,
                             .z = &gram->x,
                             .x_rows = gram->rows ? gram->rows + first : NULL,
                             .z_rows = gram->rows,
                             .x_first = first,
                             .x_count = count,
                             .z_count = gram->count,
                             .x_squares = gram->squares,
                             .z_squares = gram->squares};
    return block;
}

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
static int64_t take_slot(mg_gram *gram, int64_t i) {
    int64_t slot = gram->used;
    if (slot < gram->slots) {
        gram->used++;
    } else {
        slot = gram->oldest;
        unlink_slot(gram, slot);
        gram->slot_of[gram->row_of[slot]] = -1;
    }
    gram->row_of[slot] = i;
    gram->slot_of[i] = slot;
    make_newest(gram, slot);
    return slot;
}

static const double *cached_row(mg_gram *gram, int64_t i, margin_status *status) {
    int64_t slot = gram->slot_of[i];
    if (slot >= 0) {
        unlink_slot(gram, slot);
        make_newest(gram, slot);
        return gram->values + slot * gram->count;
    }
    slot = take_slot(gram, i);
    double *values = gram->values + slot * gram->count;
    const mg_kernel_block block = block_of(gram, i, 1);
    *status = mg_kernel_fill_with(gram->scratch, &block, values, gram->count);
    if (*status >= 0) return values;
    /* The slot holds nothing: it stays the newest, but belongs to no row's request any more. */
    gram->slot_of[i] = -1;
    return NULL;
}

const double *mg_gram_row(mg_gram *gram, int64_t i, margin_status *status) {
    *status = MARGIN_OK;
    if (!gram->whole) return cached_row(gram, i, status);
    if (!gram->filled) {
        const mg_kernel_block block = block_of(gram, 0, gram->count);
        *status = mg_kernel_fill_square(gram->scratch, &block, gram->values, gram->count);
        if (*status < 0) return NULL;
        gram->filled = true;
    }
    return gram->values + i * gram->count;
}
