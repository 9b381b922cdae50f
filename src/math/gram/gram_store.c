/* The rows of a Gram matrix: the whole of it, or those used last: a hand goes round the slots and
 * takes those that were not used while it went round (the clock of Corbato, 1968). */
#include "math/gram/gram_tiles.h"
#include "math/gram/kernel_tile.h"

#include <string.h>
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

/* Columns that are looked at together: a thousand rows of them stay in the second cache. */
enum { VISIT_COLUMNS = 256, LEFT_ROWS = 24 };

static mg_kernel_out out_of(const mg_gram *gram) {
    return (mg_kernel_out){.type = gram->type, .factor = gram->factor, .ld = gram->ld};
}

/* ---- Tiles ----------------------------------------------------------------------------------- */

/* Rows of a block of the whole matrix; of some rows of it, with so many columns. */
enum { TILE_SIDE = 480, STRIP = 96, CHUNK = 1024, PAST = 1 << 23 /* numbers: beyond caches */ };

typedef struct tile_work {
    const mg_gram *gram;
    const mg_gram_tiles *right;
    const int64_t *points; /* on the left; NULL: 0, 1, ... */
    void *const *rows;     /* where their values go */
    int64_t count, columns, side;
    int64_t offset; /* of the columns in those rows */
    float *left;    /* of each worker */
    int64_t left_size;
} tile_work;

static void tile_rows(const tile_work *work, int64_t at, int64_t count, int64_t first,
                      int64_t columns, int worker) {
    const mg_gram *gram = work->gram;
    int64_t points[TILE_SIDE];
    float *out[TILE_SIDE], *left = work->left + worker * work->left_size;
    for (int64_t r = 0; r < count; r++) {
        points[r] = work->points ? work->points[at + r] : at + r;
        out[r] = (work->rows ? (float *)work->rows[at + r]
                             : (float *)(void *)gram->values + (at + r) * gram->ld) +
                 work->offset + first;
    }
    mg_gram_left(gram->tiles, points, count, left);
    mg_gram_tiles_fill(work->right, left, count, first, columns, out);
}

/* Four values of each of four rows; past: to whole vectors, past the caches. */
MG_INLINE void mirror_four(const float *from, float *to, int64_t ld, bool past) {
#if defined(__SSE__)
    __m128 row[] = {_mm_loadu_ps(from), _mm_loadu_ps(from + ld), _mm_loadu_ps(from + 2 * ld),
                    _mm_loadu_ps(from + 3 * ld)};
    _MM_TRANSPOSE4_PS(row[0], row[1], row[2], row[3]);
    for (int j = 0; j < 4 && past; j++)
        _mm_stream_ps(to + j * ld, row[j]);
    for (int j = 0; j < 4 && !past; j++)
        _mm_storeu_ps(to + j * ld, row[j]);
#else
    (void)past;
    for (int j = 0; j < 4; j++)
        for (int k = 0; k < 4; k++)
            to[j * ld + k] = from[k * ld + j];
#endif
}

MG_INLINE void mirror_block(float *values, int64_t ld, int64_t at, int64_t rows, int64_t first,
                            int64_t columns, bool past) {
    enum { EDGE = 16 }; /* rows of a cache line */
    const int64_t shift = (int64_t)((uintptr_t)values / sizeof *values % EDGE);
    for (int64_t i = at, end; i < at + rows; i = end) {
        end = MG_MIN(i + EDGE - (i + shift) % EDGE, at + rows);
        for (int64_t j = first; j < first + columns; j += 4) {
            int64_t k = i;
            for (; k + 4 <= end && j + 4 <= first + columns; k += 4)
                mirror_four(values + k * ld + j, values + j * ld + k, ld, past);
            for (int64_t c = j; k < end && c < MG_MIN(j + 4, first + columns); c++)
                for (int64_t r = k; r < end; r++)
                    values[c * ld + r] = values[r * ld + c];
        }
    }
}

void mg_gram_mirror(float *values, int64_t ld, int64_t at, int64_t rows, int64_t first,
                    int64_t columns, bool past) {
    if (!past || (uintptr_t)(values + at) % 16 != 0 || ld % 4 != 0) {
        mirror_block(values, ld, at, rows, first, columns, false);
        return;
    }
    mirror_block(values, ld, at, rows, first, columns, true);
#if defined(__SSE__)
    _mm_sfence();
#endif
}

/* Blocks on and above the diagonal, mirrored. */
static margin_status square_task(void *argument, int64_t task, int worker) {
    const tile_work *work = argument;
    int64_t i = 0;
    for (; task >= work->side - i; i++)
        task -= work->side - i;
    const int64_t at = i * TILE_SIDE, first = (i + task) * TILE_SIDE;
    const int64_t rows = MG_MIN(TILE_SIDE, work->count - at);
    const int64_t columns = MG_MIN(TILE_SIDE, work->count - first);
    tile_rows(work, at, rows, first, columns, worker);
    float *values = (float *)(void *)work->gram->values;
    const bool past = work->count * work->gram->ld >= PAST;
    if (task > 0) mg_gram_mirror(values, work->gram->ld, at, rows, first, columns, past);
    return MARGIN_OK;
}

static margin_status strip_task(void *argument, int64_t task, int worker) {
    const tile_work *work = argument;
    tile_rows(work, task * STRIP, MG_MIN(STRIP, work->count - task * STRIP), 0, work->columns,
              worker);
    return MARGIN_OK;
}

/* Strips of the rows listed, or the whole square. */
static margin_status run_tiles(margin_context *context, tile_work *work, bool square,
                               margin_error *error) {
    mg_heap *heap = work->gram->heap;
    const int64_t rows = square ? TILE_SIDE : STRIP;
    work->left_size = (mg_gram_left_size(work->gram->tiles, rows) + 15) / 16 * 16;
    work->side = (work->count + TILE_SIDE - 1) / TILE_SIDE;
    MG_NEW(heap, work->left, work->left_size * margin_context_threads(context),
           "rows of the Gram matrix", error);
    const margin_status status =
        square ? mg_parallel(context, work->side * (work->side + 1) / 2, square_task, work, NULL)
               : mg_parallel(context, (work->count + STRIP - 1) / STRIP, strip_task, work, NULL);
    mg_free(heap, work->left);
    return mg_kernel_fail(status, error);
}

margin_status mg_gram_fill(mg_gram *gram, margin_context *context, margin_error *error) {
    const int64_t count = gram->points.count;
    const mg_kernel_block block = mg_gram_block_of(gram, NULL, count, NULL, count);
    tile_work work = {.gram = gram, .right = gram->tiles, .count = count};
    mg_kernel_out out = out_of(gram);
    if (!gram->whole || gram->filled) return MARGIN_OK;
    out.values = gram->values;
    out.square = true;
    gram->scratch->context = context;
    MG_TRY(gram->tiles ? run_tiles(context, &work, true, error)
                       : mg_kernel_fail(mg_kernel_fill_out(gram->scratch, &block, &out), error));
    if (gram->tiles) mg_gram_tiles_end(gram->tiles);
    gram->filled = true;
    return MARGIN_OK;
}

const void *mg_gram_values(const mg_gram *gram, int64_t *ld) {
    *ld = gram->ld;
    return gram->filled ? gram->values : NULL;
}

/* ---- Slots ----------------------------------------------------------------------------------- */

void mg_gram_vacate(mg_gram *gram, const void *from) {
    const int64_t first = ((const char *)from - gram->values) / (gram->ld * gram->size);
    for (int64_t slot = first; slot < gram->used; slot++)
        if (gram->row_of[slot] >= 0) gram->slot_of[gram->row_of[slot]] = -1;
    gram->used = MG_MIN(gram->used, first);
}

/* With 784 columns the rows that had to be made again took a fifth of a fit, with 50 nothing that
 * shows, and half of the pages were not touched. */
enum { RELEASE_COLUMNS = 128 };

void mg_gram_release(mg_gram *gram, int64_t i) {
    if (!gram->tiles || gram->whole || gram->points.x.columns > RELEASE_COLUMNS) return;
    const int64_t slot = gram->slot_of[i];
    if (slot < 0 || gram->last[slot] == 0 || gram->released == gram->slots) return;
    gram->last[slot] = 0;
    gram->spare[gram->released++] = slot;
}

/* One that was released and not used since, or -1. */
static int64_t spare_slot(mg_gram *gram) {
    while (gram->released > 0) {
        const int64_t slot = gram->spare[--gram->released];
        if (slot < gram->used && gram->last[slot] == 0) return slot;
    }
    return -1;
}

/* Of those that this call does not use the next one that was not used since the hand came by. */
static int64_t next_slot(mg_gram *gram) {
    int64_t slot = gram->hand, *last = gram->last;
    for (; last[slot] != 0; slot = (slot + 1) % gram->slots)
        if (last[slot] != gram->call) last[slot] = 0;
    gram->hand = (slot + 1) % gram->slots;
    return slot;
}

/* A slot for row i. */
static void take_slot(mg_gram *gram, int64_t i) {
    int64_t slot = spare_slot(gram);
    if (slot < 0 && gram->used < gram->slots) {
        slot = gram->used++;
    } else {
        if (slot < 0) slot = next_slot(gram);
        if (gram->row_of[slot] >= 0) gram->slot_of[gram->row_of[slot]] = -1;
    }
    gram->row_of[slot] = i;
    gram->slot_of[i] = slot;
    gram->last[slot] = gram->call;
}

static void *row_at(const mg_gram *gram, int64_t i) {
    return gram->values + (gram->whole ? i : gram->slot_of[i]) * gram->ld * gram->size;
}

/* Slots for all rows. Returns how many are missing, listed in gram->missing. */
static int64_t take_slots(mg_gram *gram, const int64_t *rows, int64_t count) {
    int64_t missing = 0;
    gram->call++;
    for (int64_t k = 0; k < count; k++) {
        const int64_t slot = gram->slot_of[rows[k]];
        if (slot < 0)
            gram->missing[missing++] = rows[k];
        else
            gram->last[slot] = gram->call;
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
    return status;
}

/* The rows are there. */
static margin_status hold_rows(mg_gram *gram, margin_context *context, const int64_t *rows,
                               int64_t count, margin_error *error) {
    if (gram->whole) return mg_gram_fill(gram, context, error);
    const int64_t missing = take_slots(gram, rows, count);
    return missing ? mg_kernel_fail(compute_missing(gram, context, missing), error) : MARGIN_OK;
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
    const void **here; /* count a worker */
    const float *left; /* of rows that are made on the way, `missing` of them; NULL: none */
    int64_t missing;
    const void **kept; /* where the other rows begin, `there` of them */
    int64_t there;
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
    const mg_gram_part part = {first, MG_MIN(VISIT_COLUMNS, gram->points.count - first), here};
    float *made[LEFT_ROWS];
    for (int64_t at = 0, rows, k = 0; work->left && at < work->missing; at += rows) {
        rows = MG_MIN(LEFT_ROWS, work->missing - at);
        for (; k < (at + rows) * work->there / work->missing; k++) /* come from memory meanwhile */
            for (int64_t j = 0; j < part.columns; j += 16)
                __builtin_prefetch((const float *)work->kept[k] + first + j, 0, 2);
        for (int64_t r = 0; r < rows; r++)
            made[r] = (float *)gram->pointers[at + r] + first;
        mg_gram_tiles_fill(gram->tiles, work->left + mg_gram_left_size(gram->tiles, at), rows,
                           first, part.columns, made);
    }
    work->visit(&part, work->argument);
    return MARGIN_OK;
}

typedef struct begin_work {
    const mg_gram *gram;
    float *left;
    int64_t missing, used; /* used: slots that were touched before */
} begin_work;

/* Rows laid out, and their pages: the system clears fresh ones when they are written first, or the
 * first visit would wait for those of all. */
static margin_status begin_rows(void *argument, int64_t task, int worker) {
    enum { PAGE = 4096 };
    const begin_work *work = argument;
    const mg_gram *gram = work->gram;
    const int64_t first = task * LEFT_ROWS, end = MG_MIN(first + LEFT_ROWS, work->missing);
    (void)worker;
    mg_gram_left(gram->tiles, gram->missing + first, end - first,
                 work->left + mg_gram_left_size(gram->tiles, first));
    for (int64_t k = first; k < end; k++) {
        char *row = gram->pointers[k] = row_at(gram, gram->missing[k]);
        if (gram->slot_of[gram->missing[k]] < work->used) continue;
        for (int64_t at = 0; at < gram->ld * gram->size; at += PAGE)
            row[at] = 0;
    }
    return MARGIN_OK;
}

/* Slots for the rows that are missing, and those rows laid out: each visit makes its columns. */
static margin_status begin_missing(mg_gram *gram, margin_context *context, const int64_t *rows,
                                   int64_t count, visit_work *work, float **left,
                                   margin_error *error) {
    begin_work begin = {.gram = gram, .used = gram->used};
    MG_NEW(gram->heap, *left, mg_gram_left_size(gram->tiles, count), "rows of the Gram matrix",
           error);
    const int64_t missing = begin.missing = take_slots(gram, rows, count);
    work->left = begin.left = *left;
    work->missing = missing;
    const margin_status status =
        mg_parallel(context, (missing + LEFT_ROWS - 1) / LEFT_ROWS, begin_rows, &begin, error);
    if (status < 0) forget_missing(gram, missing);
    return status;
}

margin_status mg_gram_rows(mg_gram *gram, margin_context *context, const int64_t *rows,
                           int64_t count, mg_gram_visit visit, void *argument,
                           margin_error *error) {
    const int64_t threads = margin_context_threads(context);
    const void **pointers = NULL;
    float *left = NULL;
    margin_status status;
    MG_REQUIRE(count <= gram->slots, error, MARGIN_ERROR_INTERNAL,
               "more rows of a Gram matrix than are kept; please report it");
    visit_work work = {.gram = gram, .count = count, .visit = visit, .argument = argument};
    MG_GO_NEW(gram->heap, pointers, (threads + 2) * count, "rows of the Gram matrix", error);
    work.kept = pointers + count;
    if (gram->whole || !gram->tiles)
        MG_GO(hold_rows(gram, context, rows, count, error));
    else
        MG_GO(begin_missing(gram, context, rows, count, &work, &left, error));
    for (int64_t k = 0, made = 0; k < count; k++) {
        pointers[k] = row_at(gram, rows[k]);
        if (made < work.missing && rows[k] == gram->missing[made])
            made++;
        else
            work.kept[work.there++] = pointers[k];
    }
    work.rows = pointers;
    work.here = work.kept + count;
    const int64_t blocks = (gram->points.count + VISIT_COLUMNS - 1) / VISIT_COLUMNS;
    status = mg_parallel(context, blocks, visit_task, &work, error);
    if (status < 0) forget_missing(gram, work.missing);
done:
    MG_FREE(gram->heap, left, pointers);
    return status;
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

typedef struct gather_work {
    const mg_gram *gram;
    const int64_t *rows, *columns; /* rows: of which the values are there */
    int64_t count;
    void **out;
} gather_work;

static margin_status gather_task(void *argument, int64_t task, int worker) {
    const gather_work *work = argument;
    const void *row = row_at(work->gram, work->rows[task]);
    float *narrow = work->out[task];
    double *wide = work->out[task];
    const bool is_narrow = work->gram->type == MARGIN_F32;
    (void)worker;
    for (int64_t j = 0; is_narrow && j < work->count; j++)
        narrow[j] = ((const float *)row)[work->columns[j]];
    for (int64_t j = 0; !is_narrow && j < work->count; j++)
        wide[j] = ((const double *)row)[work->columns[j]];
    return MARGIN_OK;
}

/* Values of rows that are not there, for some columns. */
static margin_status compute_block(mg_gram *gram, margin_context *context, const int64_t *rows,
                                   int64_t count, void **out, const int64_t *columns,
                                   int64_t column_count, margin_error *error) {
    if (!gram->tiles) {
        const mg_kernel_block block = mg_gram_block_of(gram, rows, count, columns, column_count);
        mg_kernel_out to = out_of(gram);
        to.rows = out;
        gram->scratch->context = context;
        return mg_kernel_fail(mg_kernel_fill_out(gram->scratch, &block, &to), error);
    }
    float *memory;
    MG_NEW(gram->heap, memory, mg_gram_right_size(gram->tiles, MG_MIN(column_count, CHUNK)),
           "rows of the Gram matrix", error);
    margin_status status = MARGIN_OK;
    for (int64_t at = 0; at < column_count && status >= 0; at += CHUNK) {
        tile_work work = {.gram = gram,
                          .points = rows,
                          .rows = out,
                          .count = count,
                          .offset = at,
                          .columns = MG_MIN(column_count - at, CHUNK)};
        mg_gram_tiles *right;
        status = mg_gram_right(context, gram->tiles, columns + at, work.columns, memory, &right);
        work.right = right;
        status =
            status < 0 ? mg_kernel_fail(status, error) : run_tiles(context, &work, false, error);
    }
    mg_free(gram->heap, memory);
    return status;
}

bool mg_gram_makes_anew(const mg_gram *gram) {
    enum { FEW = 64 };
    return gram->tiles && !gram->whole && gram->points.x.columns < FEW;
}

margin_status mg_gram_block(mg_gram *gram, margin_context *context, const int64_t *rows,
                            int64_t row_count, const int64_t *columns, int64_t column_count,
                            void *out, int64_t ld, margin_error *error) {
    const bool anew = mg_gram_makes_anew(gram);
    int64_t *list, missing = 0, there = row_count;
    void **places;
    MG_SCOPED_ARENA(arena, gram->heap);
    if (gram->whole) MG_TRY(mg_gram_fill(gram, context, error));
    MG_TRY(MG_PIECES(&arena, "rows of the Gram matrix", error, MG_PIECE(list, row_count),
                     MG_PIECE(places, row_count)));
    for (int64_t k = 0; k < row_count; k++) { /* missing ones from the front, others behind */
        const bool is_there = gram->whole || (!anew && gram->slot_of[rows[k]] >= 0);
        const int64_t to = is_there ? --there : missing++;
        list[to] = rows[k];
        places[to] = (char *)out + k * ld * gram->size;
    }
    gather_work work = {gram, list + there, columns, column_count, places + there};
    MG_TRY(mg_parallel(context, row_count - there, gather_task, &work, error));
    if (missing == 0) return MARGIN_OK;
    return compute_block(gram, context, list, missing, places, columns, column_count, error);
}
