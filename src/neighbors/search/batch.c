/* Many queries. With a tree they are taken along a space-filling curve (Morton 1966), so that one
 * finds in the caches what the one before it needed, and each starts with the radius that the
 * triangle inequality allows: d_k(q') <= d_k(q) + d(q, q'). Where up to eight of them lie close
 * together, they share a walk of the tree. None of it changes an answer. */
#include "neighbors/search/neighbor_index.h"

#include <math.h>
#include <string.h>

enum {
    CHUNK = 256,    /* queries of a task; each chunk starts fresh */
    SCAN_CHUNK = 8, /* of a task that scans */
    PIECES = 16,    /* of the queries while they are sorted, */
    PIECE = 1024,   /* of at least so many */
    DIGIT = 11,     /* bits of a pass of the sort */
    KEY_BITS = 33,
    NUMBER_BITS = 31,
    SAMPLE = 127,
    AHEAD = 12,   /* queries that are fetched ahead */
    SPREAD = 8,   /* queries within that many distances of neighbours are close */
    FEW_CLOSE = 3 /* fewer go alone */
};

/* ---- Order ----------------------------------------------------------------------------------- */

typedef struct ordering {
    const mg_neighbors_batch *batch;
    int64_t columns; /* that the key is made of */
    int bits;        /* of each */
    int shift;
    int64_t pieces;
    double low[MG_TREE_COLUMNS], step[MG_TREE_COLUMNS];
    uint64_t *keys, *other;
    int64_t (*count)[1 << DIGIT]; /* of each piece */
} ordering;

static int64_t piece_end(const ordering *o, int64_t piece) {
    const int64_t count = o->batch->count;
    return count / o->pieces * piece + count % o->pieces * piece / o->pieces;
}

/* The bulk of the queries in one column, so that a few far ones do not coarsen the rest. */
static void measure_column(ordering *o, int64_t j) {
    const mg_neighbors_batch *b = o->batch;
    double values[SAMPLE];
    int64_t count = 0;
    for (int64_t i = 0; i < SAMPLE; i++) {
        const double value = b->queries[b->count * i / SAMPLE * b->stride + j];
        int64_t at = count;
        if (!(fabs(value) <= MG_NEIGHBORS_LARGEST)) continue;
        for (count++; at > 0 && values[at - 1] > value; at--)
            values[at] = values[at - 1];
        values[at] = value;
    }
    const double low = count ? values[count / 50] : 0;
    const double high = count ? values[count - 1 - count / 50] : 0;
    o->low[j] = low - (high - low) / 4;
    o->step[j] = high > low ? (double)(1 << o->bits) / (1.5 * (high - low)) : 0;
}

static uint64_t key_of(const ordering *o, const double *q) {
    const double most = (double)((1 << o->bits) - 1);
    uint32_t cell[KEY_BITS];
    uint64_t key = 0;
    for (int64_t j = 0; j < o->columns; j++) {
        const double at = (q[j] - o->low[j]) * o->step[j];
        cell[j] = at > 0 ? (uint32_t)MG_MIN(at, most) : 0; /* NaN: 0 */
    }
    for (int bit = o->bits - 1; bit >= 0; bit--)
        for (int64_t j = 0; j < o->columns; j++)
            key = key << 1 | (cell[j] >> bit & 1);
    return key;
}

static margin_status key_piece(void *argument, int64_t piece, int worker) {
    const ordering *o = argument;
    const mg_neighbors_batch *b = o->batch;
    (void)worker;
    for (int64_t i = piece_end(o, piece); i < piece_end(o, piece + 1); i++)
        o->keys[i] = key_of(o, b->queries + i * b->stride) << NUMBER_BITS | (uint64_t)i;
    return MARGIN_OK;
}

static int digit_of(const ordering *o, uint64_t key) {
    return (int)(key >> o->shift & ((1 << DIGIT) - 1));
}

static margin_status count_piece(void *argument, int64_t piece, int worker) {
    const ordering *o = argument;
    (void)worker;
    memset(o->count[piece], 0, sizeof o->count[piece]);
    for (int64_t i = piece_end(o, piece); i < piece_end(o, piece + 1); i++)
        o->count[piece][digit_of(o, o->keys[i])]++;
    return MARGIN_OK;
}

static margin_status move_piece(void *argument, int64_t piece, int worker) {
    const ordering *o = argument;
    (void)worker;
    for (int64_t i = piece_end(o, piece); i < piece_end(o, piece + 1); i++)
        o->other[o->count[piece][digit_of(o, o->keys[i])]++] = o->keys[i];
    return MARGIN_OK;
}

static margin_status sort_pass(margin_context *context, ordering *o) {
    int64_t at = 0;
    MG_TRY(mg_parallel(context, o->pieces, count_piece, o, NULL));
    for (int digit = 0; digit < 1 << DIGIT; digit++)
        for (int64_t piece = 0; piece < o->pieces; piece++) {
            const int64_t here = o->count[piece][digit];
            o->count[piece][digit] = at;
            at += here;
        }
    MG_TRY(mg_parallel(context, o->pieces, move_piece, o, NULL));
    uint64_t *sorted = o->other;
    o->other = o->keys;
    o->keys = sorted;
    return MARGIN_OK;
}

/* The queries' numbers in the low bits of keys, in order; owned by the arena. */
static margin_status order_queries(margin_context *context, const mg_neighbors_batch *batch,
                                   mg_arena *arena, uint64_t **keys, margin_error *error) {
    const char *purpose = "the order of the queries";
    ordering o = {.batch = batch, .columns = MG_MIN(batch->index->columns, KEY_BITS)};
    o.bits = (int)MG_MIN(KEY_BITS / o.columns, 16);
    o.pieces = MG_MIN(PIECES, batch->count / PIECE + 1);
    MG_TRY(MG_PIECES(arena, purpose, error, MG_PIECE(o.keys, batch->count),
                     MG_PIECE(o.other, batch->count), MG_PIECE(o.count, o.pieces)));
    for (int64_t j = 0; j < o.columns; j++)
        measure_column(&o, j);
    margin_status status = mg_parallel(context, o.pieces, key_piece, &o, NULL);
    const int bits = o.bits * (int)o.columns;
    for (int done = 0; done < bits && status >= 0; done += DIGIT) {
        o.shift = NUMBER_BITS + done;
        status = sort_pass(context, &o);
    }
    *keys = o.keys;
    return status < 0 ? mg_fail_cancelled(error) : MARGIN_OK;
}

/* ---- Run ------------------------------------------------------------------------------------- */

typedef struct run {
    margin_context *context;
    const mg_neighbors_batch *batch;
    const uint64_t *keys; /* NULL: in turn */
    mg_neighbor *lists;   /* `room` for each worker */
    int64_t chunk, room;
    bool packets;
} run;

static int64_t query_at(const run *r, int64_t i) {
    return r->keys ? (int64_t)(r->keys[i] & ((UINT64_C(1) << NUMBER_BITS) - 1)) : i;
}

/* The radius that the query before allows: `q` has at least k rows within it. */
static double start_radius(const mg_neighbors *index, const double *before, double worst,
                           const double *q) {
    const double moved = mg_metric_distance(&index->metric, before, false, q, index->columns);
    return (worst + moved) * (1 + 1e-9) + 0x1p-1000;
}

/* What a later query reads and writes: in the order of the curve it lies anywhere. Inline, or gcc
 * drops the call. */
MG_INLINE void fetch(const mg_neighbors_batch *b, int64_t query) {
    enum { LINE = 64, MOST = 256 };
    __builtin_prefetch(b->queries + query * b->stride);
    for (int k = 0; k < 2 && b->written[k]; k++)
        for (int64_t at = 0; at < b->written_bytes && at < MOST; at += LINE)
            __builtin_prefetch((const char *)b->written[k] + query * b->written_bytes + at, 1);
}

/* The query before, whose answer limits the next ones. */
typedef struct trail {
    const double *before; /* NULL: none */
    double worst;
} trail;

static mg_search begin_search(const run *r, const trail *t, const double *q, mg_neighbor *list) {
    const mg_neighbors_batch *b = r->batch;
    mg_search search = mg_search_within(q, b->k, b->radius, list);
    search.context = r->context;
    if (t->before)
        search.radius = MG_MIN(b->radius, start_radius(b->index, t->before, t->worst, q));
    return search;
}

static void leave_trail(const mg_neighbors_batch *b, const mg_search *search, trail *t) {
    if (!b->index->tree || search->count != b->k) return;
    t->before = search->q;
    t->worst = search->list[b->k - 1].distance;
}

/* How many queries from i on lie close together, measured by the distance of the neighbours of the
 * one before. */
static int count_close(const run *r, int64_t i, int64_t end, const trail *t) {
    const mg_neighbors_batch *b = r->batch;
    const int64_t columns = b->index->columns;
    const double most = SPREAD * t->worst * (SPREAD * t->worst);
    double low[MG_PACKET_COLUMNS], high[MG_PACKET_COLUMNS];
    int count = 0;
    for (; count < MG_PACKET && i + count < end; count++) {
        const double *q = b->queries + query_at(r, i + count) * b->stride;
        double square = 0;
        for (int64_t j = 0; j < columns; j++) {
            if (!(fabs(q[j]) <= MG_NEIGHBORS_LARGEST)) return count;
            low[j] = count == 0 || q[j] < low[j] ? q[j] : low[j];
            high[j] = count == 0 || q[j] > high[j] ? q[j] : high[j];
            square += (high[j] - low[j]) * (high[j] - low[j]);
        }
        if (!(square <= most)) break;
    }
    return count;
}

/* Queries i to i + count - 1; each worker has room for MG_PACKET lists. */
static void run_packet(const run *r, int64_t i, int count, mg_neighbor *lists, trail *t) {
    const mg_neighbors_batch *b = r->batch;
    mg_search searches[MG_PACKET];
    for (int n = 0; n < count; n++)
        searches[n] =
            begin_search(r, t, b->queries + query_at(r, i + n) * b->stride, lists + n * b->k);
    mg_neighbors_find_together(b->index, searches, count);
    for (int n = 0; n < count; n++)
        b->take(b->argument, query_at(r, i + n), searches[n].q, searches[n].list, searches[n].count,
                b->k);
    leave_trail(b, &searches[count - 1], t);
}

static void run_query(const run *r, int64_t i, mg_neighbor *list, trail *t) {
    const mg_neighbors_batch *b = r->batch;
    const int64_t number = query_at(r, i);
    const double *q = b->queries + number * b->stride;
    if (!mg_neighbors_usable(q, b->index->columns)) {
        b->take(b->argument, number, q, list, -1, b->k);
        return;
    }
    mg_search search = begin_search(r, t, q, list);
    mg_neighbors_find(b->index, &search);
    if (mg_cancelled(r->context)) return; /* a scan may have ended early */
    leave_trail(b, &search, t);
    b->take(b->argument, number, q, list, search.count, b->k);
}

static margin_status run_chunk(void *argument, int64_t task, int worker) {
    const run *r = argument;
    const mg_neighbors_batch *b = r->batch;
    mg_neighbor *list = r->lists + worker * r->room;
    const int64_t end = MG_MIN(b->count, (task + 1) * r->chunk);
    trail t = {0};
    int close;
    for (int64_t i = task * r->chunk; i < end; i += close) {
        close = r->packets && t.before ? count_close(r, i, end, &t) : 0;
        for (int n = 0; r->keys && n < MG_MAX(close, 1) && i + AHEAD + n < end; n++)
            fetch(b, query_at(r, i + AHEAD + n));
        if (close >= FEW_CLOSE) {
            run_packet(r, i, close, list, &t);
        } else {
            close = 1;
            run_query(r, i, list, &t);
        }
        if (mg_cancelled(r->context)) return MARGIN_ERROR_CANCELLED; /* the last one, too */
    }
    return MARGIN_OK;
}

margin_status mg_neighbors_run(margin_context *context, const mg_neighbors_batch *batch,
                               margin_error *error) {
    run r = {.context = context, .batch = batch};
    mg_arena arena;
    uint64_t *keys = NULL;
    margin_status status = MARGIN_OK;
    if (batch->count == 0) return MARGIN_OK;
    if (!batch->index->tree && mg_neighbors_tiles_pay(batch))
        return mg_neighbors_run_tiles(context, batch, error);
    mg_arena_init(&arena, context->heap);
    if (batch->index->tree && batch->count >= 64 && batch->count < INT64_C(1) << NUMBER_BITS)
        MG_GO(order_queries(context, batch, &arena, &keys, error));
    r.keys = keys;
    r.chunk = batch->index->tree ? CHUNK : SCAN_CHUNK;
    r.packets = keys && mg_neighbors_packets_pay(batch->index, batch->k);
    r.room = r.packets ? MG_PACKET * batch->k : batch->k;
    MG_GO_NEW(context->heap, r.lists, mg_threads(context) * r.room, "lists of neighbours", error);
    status = mg_parallel(context, (batch->count + r.chunk - 1) / r.chunk, run_chunk, &r, error);
done:
    mg_free(context->heap, r.lists);
    mg_arena_free(&arena);
    return status < 0 ? status : MARGIN_OK;
}
