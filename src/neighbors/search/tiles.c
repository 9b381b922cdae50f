/* Brute force for many queries: |x - q|^2 - |q|^2 = |x|^2 - 2 x.q by register tiles in f32, each
 * value a proven lower bound, rows below a query's threshold kept, and only those ranked by the
 * distance itself.
 *
 * x and q are centred and scaled as in the tree (y = (x - centre) scale). A value that ends in a
 * tile differs from |y_x|^2 - 2 y_x.y_q by at most c u (|y_x| + |y_q|)^2 <= 2 c u (|y_x|^2 +
 * |y_q|^2), u = 2^-24, c = columns + 16: the chain of f32 sums, and rounding the coordinates. The
 * accumulators start at |y_x|^2 - e_x with e_x = 2 c u |y_x|^2. So with T = |y_x|^2 - 2 y_x.y_q a
 * value v has T - 2 e_x - e_q <= v <= T + e_q: the k-th least v + 2 e_x + 2 e_q is a threshold for
 * v.
 *
 * With matrix registers, or vectors of it, the coordinates are rounded to bfloat16, by a relative
 * 2^-8 each: that adds 2 (2^-7 + 2^-16) |y_x| |y_q| <= (2^-7 + 2^-16) (|y_x|^2 + |y_q|^2), which
 * e_x and e_q hold, and about twice as many rows remain to be ranked; where it would be many more
 * (tight clusters, far apart), f32 is taken. */
#include "neighbors/search/neighbor_list.h"

#include "base/sort.h"

#include <float.h>
#include <stdatomic.h>
#include <string.h>

enum {
    QUERIES = 96,       /* of a block, */
    ONE_BLOCK = 132,    /* and of the only one */
    HALF_QUERIES = 256, /* the same in bfloat16 */
    DEPTH = 272,        /* columns of a part of a panel: it stays in the first cache */
    HALF_DEPTH = 2048,  /* the same in bfloat16, of which both panels stay in the second */
    MOST_TILE = 1024,   /* numbers of a tile */
    MOST_ROWS = 32,     /* and its sides */
    MOST_COLUMNS = 32,
    FEW = 16,            /* ranks that are found by insertion */
    HALF_LINES = 32,     /* bfloat16 lines are in blocks */
    PROBES = 32,         /* queries that say whether bfloat16 is sharp enough */
    DOUBTFUL = 24,       /* rows ranked for each neighbour at which it is not, */
    MANY = 32,           /* or one in so many of all: ranking them takes longer than tiles in f32 */
    HALF_NEIGHBORS = 32, /* for more it takes as long as f32 with vectors, */
    HALF_COLUMNS = 8,    /* and for fewer columns */
    LEAST_QUERIES = 24,  /* fewer are scanned */
    LEAST_COLUMNS = 4,
    SOME_PANELS = 8 /* one in so many says where the k nearest will end, if k is FEW or more */
};

typedef struct candidate {
    float value;
    int32_t row;
} candidate;

typedef struct packed {
    margin_context *context;
    const mg_neighbors_batch *batch;
    const mg_tile_ops *ops;
    double (*distance)(const mg_neighbors *index, int64_t slot, const double *q);
    int64_t panels, parts, depth; /* of points; parts of `depth` lines */
    int64_t lines;                /* of a panel: the columns, and in bfloat16 zeros behind them */
    int64_t number_size;          /* of a number in a panel */
    int64_t queries;              /* of a block */
    char *panel;          /* panels x lines x ops->columns numbers; NULL: each is packed where
                             it is needed, as one block of queries needs it once */
    float *start, *share; /* one a point: |y|^2 - e, e */
    double unit;          /* e = unit |y|^2 */
    int64_t room;         /* candidates of a query */
    int64_t blocks, slices;
    mg_neighbor *merged; /* slices x queries x k, if there are several slices */
    int64_t *found;
    int64_t doubtful; /* of one block: rows ranked before its end at which bfloat16 is given up; 0:
                         none */
    _Atomic bool coarse;
    struct scratch *scratch;
} packed;

typedef struct scratch {
    char *panel;   /* queries x lines numbers */
    char *points;  /* lines x ops->columns numbers: where no panels are kept */
    float *tile;   /* queries / rows tiles */
    float *sorted; /* room */
    float threshold[HALF_QUERIES + MOST_ROWS];
    float share[HALF_QUERIES];
    int64_t count[HALF_QUERIES];
    bool guessed[HALF_QUERIES]; /* the threshold is: some of the k nearest may lie beyond it */
    int64_t rank;               /* of the value that becomes the threshold; below k: a guess */
    candidate *candidates;      /* queries x room */
    mg_neighbor *list;          /* k */
    int64_t ranked;             /* rows so far */
} scratch;

bool mg_neighbors_tiles_pay(const mg_neighbors_batch *batch) {
    const mg_neighbors *index = batch->index;
    return index->metric.kind == MG_METRIC_EUCLID && batch->count >= LEAST_QUERIES &&
           index->columns >= LEAST_COLUMNS && batch->k <= 4096 &&
           (index->rows >= 32 * batch->k || isfinite(batch->radius));
}

/* ---- Points ---------------------------------------------------------------------------------- */

/* To the nearest, ties to even; what is next to nothing is nothing, as for the processor. */
static uint16_t half_of(double value) {
    const float single = (float)value;
    uint32_t bits;
    __builtin_memcpy(&bits, &single, sizeof bits);
    if ((bits & 0x7fffffff) < 0x00800000) return 0;
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* Puts line j of point l into its panel in bfloat16. */
static void put_point(const packed *p, char *panel, int64_t j, int64_t l, double y) {
    enum { SIDE = 16 }; /* points side by side */
    const int64_t block = j / HALF_LINES * p->ops->columns + l / SIDE * SIDE;
    ((uint16_t *)(void *)
         panel)[block * HALF_LINES + j % HALF_LINES / 2 * 2 * SIDE + l % SIDE * 2 + j % 2] =
        half_of(y);
}

/* Puts line j of query l into its panel of queries. */
static void put_query(const packed *p, char *panel, int64_t j, int64_t l, double y) {
    if (!p->ops->half)
        ((float *)(void *)panel)[j * p->ops->rows + l] = (float)y;
    else
        ((uint16_t *)(void *)
             panel)[(j / HALF_LINES * p->ops->rows + l) * HALF_LINES + j % HALF_LINES] = half_of(y);
}

static float share_of(const packed *p, double square) {
    return (float)(p->unit * square * (1 + 0x1p-20) + 0x1p-80);
}

static void pack_half(const packed *p, int64_t first, char *out, double *square) {
    const mg_neighbors *index = p->batch->index;
    const int64_t count = MG_MIN(p->ops->columns, index->rows - first);
    memset(out, 0, (size_t)(p->lines * p->ops->columns * p->number_size));
    for (int64_t l = 0; l < count; l++)
        for (int64_t j = 0; j < index->columns; j++) {
            const double y = mg_neighbors_scaled(index, first + l, j);
            put_point(p, out, j, l, y);
            square[l] += y * y;
        }
}

static void pack_points(const packed *p, int64_t number, char *out) {
    const int64_t first = number * p->ops->columns;
    double square[MOST_COLUMNS] = {0};
    if (p->ops->pack)
        p->ops->pack(p->batch->index, first, out, square);
    else
        pack_half(p, first, out, square);
    for (int64_t l = 0, row = first; l < p->ops->columns; l++, row++) {
        p->share[row] = share_of(p, square[l]);
        p->start[row] = row < p->batch->index->rows ? (float)square[l] - p->share[row] : FLT_MAX;
    }
}

static margin_status pack_panel(void *argument, int64_t number, int worker) {
    const packed *p = argument;
    (void)worker;
    pack_points(p, number, p->panel + number * p->lines * p->ops->columns * p->number_size);
    return MARGIN_OK;
}

/* ---- Queries --------------------------------------------------------------------------------- */

/* No row within the radius has a greater value: v <= T + e_q, and T = |y_x - y_q|^2 - |y_q|^2. */
static float first_threshold(const packed *p, double square, float share) {
    const double radius = p->batch->radius * p->batch->index->scale * (1 + 0x1p-40);
    const double most = radius * radius - square + 2 * (double)share;
    return radius < 0x1p60 ? (float)(most + fabs(most) * 0x1p-20 + 0x1p-80) : FLT_MAX / 4;
}

/* Puts the block's queries into panels. Those that f32 does not reach, or that are no points, get a
 * threshold below everything. */
static void pack_queries(const packed *p, scratch *s, int64_t first, int64_t count) {
    const mg_neighbors *index = p->batch->index;
    const int64_t rows = p->ops->rows, columns = index->columns;
    memset(s->panel, 0, (size_t)(p->queries * p->lines * p->number_size));
    for (int64_t i = 0; i < p->queries + MOST_ROWS; i++)
        s->threshold[i] = -FLT_MAX;
    for (int64_t i = 0; i < count; i++) {
        const double *q = p->batch->queries + (first + i) * p->batch->stride;
        char *out = s->panel + i / rows * rows * p->lines * p->number_size;
        double square = 0;
        s->count[i] = -1;
        if (!mg_neighbors_usable(q, columns)) continue;
        for (int64_t j = 0; j < columns; j++) {
            const double y = (q[j] - index->centre[j]) * index->scale;
            square += y * y;
        }
        if (!(square < 0x1p102)) continue;
        for (int64_t j = 0; j < columns; j++)
            put_query(p, out, j, i % rows, -2 * ((q[j] - index->centre[j]) * index->scale));
        s->count[i] = 0;
        s->guessed[i] = false;
        s->share[i] = share_of(p, square);
        s->threshold[i] = first_threshold(p, square, s->share[i]);
    }
}

/* The number of rank r of values[0..count), for a small r by insertion. */
static float number_of_rank(float *values, int64_t count, int64_t r) {
    float least[FEW];
    if (r >= FEW) return mg_select_f32(values, count, r);
    for (int64_t i = 0; i < FEW; i++)
        least[i] = FLT_MAX;
    for (int64_t i = 0; i < count; i++) {
        const float value = values[i];
        int64_t at = r;
        if (!(value < least[r])) continue;
        for (; at > 0 && least[at - 1] > value; at--)
            least[at] = least[at - 1];
        least[at] = value;
    }
    return least[r];
}

/* Lowers the threshold of query i to its k-th least upper bound (while it is guessed from some
 * panels: to one of a lower rank, by twice the error more), and drops what is above. */
static void compact(const packed *p, scratch *s, int64_t i) {
    candidate *list = s->candidates + i * p->room;
    const bool guess = s->rank < p->batch->k;
    int64_t kept = 0;
    if (s->count[i] >= s->rank) {
        for (int64_t c = 0; c < s->count[i]; c++)
            s->sorted[c] = list[c].value + 2 * p->share[list[c].row];
        float bound = number_of_rank(s->sorted, s->count[i], s->rank - 1);
        bound = bound + (guess ? 6 : 2) * s->share[i] + fabsf(bound) * 0x1p-20f;
        if (bound <= s->threshold[i]) s->guessed[i] = guess;
        if (bound < s->threshold[i]) s->threshold[i] = bound;
    }
    for (int64_t c = 0; c < s->count[i]; c++)
        if (list[c].value <= s->threshold[i]) list[kept++] = list[c];
    s->count[i] = kept;
}

/* Ranks the candidates of a query by their distances; the k nearest are left in s->list. */
static int64_t rank_candidates(const packed *p, scratch *s, int64_t i, const double *q) {
    const candidate *list = s->candidates + i * p->room;
    mg_search search = mg_search_within(q, p->batch->k, p->batch->radius, s->list);
    mg_list_begin(&search);
    for (int64_t c = 0; c < s->count[i]; c++)
        mg_list_offer(&search, p->distance(p->batch->index, list[c].row, q), list[c].row);
    mg_list_finish(&search);
    s->ranked += s->count[i];
    return search.count;
}

/* More rows are within the bounds than fit: they are settled now and the k nearest stay. Later rows
 * that are equal have greater numbers. */
static void tiles_settle(const packed *p, scratch *s, int64_t i, const double *q) {
    candidate *list = s->candidates + i * p->room;
    const int64_t count = rank_candidates(p, s, i, q);
    const mg_neighbor none = {-1, -1, 0}, *last = count > 0 ? &s->list[count - 1] : &none;
    int64_t kept = 0;
    for (int64_t c = 0; c < s->count[i]; c++)
        if (!mg_farther(p->distance(p->batch->index, list[c].row, q), list[c].row, last))
            list[kept++] = list[c];
    s->count[i] = kept;
}

static void collect(packed *p, scratch *s, int64_t i, int64_t panel, const float *values,
                    const double *q) {
    candidate *list = s->candidates + i * p->room;
    const int64_t width = p->ops->columns;
    int64_t count = s->count[i];
    if (count < 0) return;
    for (uint32_t hits = p->ops->within(values, s->threshold[i]); hits; hits &= hits - 1) {
        const int l = __builtin_ctz(hits);
        list[count++] = (candidate){values[l], (int32_t)(panel * width + l)};
    }
    s->count[i] = count;
    if (count <= p->room - width) return;
    compact(p, s, i);
    if (p->doubtful && s->ranked > p->doubtful) p->coarse = true;
    if (s->count[i] > p->room - width && !p->coarse) tiles_settle(p, s, i, q);
}

/* One panel against all queries of the block. */
static void cross_panel(packed *p, scratch *s, int64_t first, int64_t count, int64_t panel) {
    const mg_tile_ops *ops = p->ops;
    const int64_t tile = p->parts > 1 ? ops->rows * ops->columns : 0, size = p->number_size;
    const char *points = s->points;
    if (p->panel)
        points = p->panel + panel * p->lines * ops->columns * size;
    else
        pack_points(p, panel, s->points);
    for (int64_t part = 0; part < p->parts; part++) {
        const int64_t begin = part * p->depth;
        const int64_t depth = MG_MIN(p->depth, p->batch->index->columns - begin);
        const bool last = part == p->parts - 1;
        const char *b = points + begin * ops->columns * size;
        for (int64_t i = 0; i < count; i += ops->rows) {
            float *out = s->tile + i / ops->rows * tile;
            unsigned hits =
                ops->product(depth, s->panel + (i * p->lines + begin * ops->rows) * size, b,
                             part == 0 ? p->start + panel * ops->columns : NULL,
                             last ? s->threshold + i : NULL, out);
            for (; last && MG_UNLIKELY(hits); hits &= hits - 1) {
                const int r = __builtin_ctz(hits);
                if (i + r < count)
                    collect(p, s, i + r, panel, out + r * ops->columns,
                            p->batch->queries + (first + i + r) * p->batch->stride);
            }
        }
    }
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* The nearest of one query within the slice, in s->list. */
static int64_t finish_query(const packed *p, scratch *s, int64_t i, const double *q,
                            int64_t first_row, int64_t rows) {
    if (s->count[i] >= 0) compact(p, s, i);
    if (s->count[i] >= 0 && !s->guessed[i]) return rank_candidates(p, s, i, q);
    if (!mg_neighbors_usable(q, p->batch->index->columns)) return -1;
    mg_search search = mg_search_within(q, p->batch->k, p->batch->radius, s->list);
    mg_neighbors_scan(p->batch->index, &search, first_row, rows);
    return search.count;
}

/* The slices' lists of one query as one. */
static void merge_slices(const packed *p, int64_t query, mg_neighbor *list) {
    const int64_t k = p->batch->k;
    const double *q = p->batch->queries + query * p->batch->stride;
    mg_search search = mg_search_within(q, k, p->batch->radius, list);
    bool usable = true;
    mg_list_begin(&search);
    for (int64_t slice = 0; slice < p->slices; slice++) {
        const int64_t at = slice * p->batch->count + query;
        usable = usable && p->found[at] >= 0;
        for (int64_t n = 0; n < p->found[at]; n++)
            mg_list_offer(&search, p->merged[at * k + n].distance, p->merged[at * k + n].row);
    }
    mg_list_finish(&search);
    p->batch->take(p->batch->argument, query, q, list, usable ? search.count : -1, k);
}

/* A rank among some of the rows that the k-th of all seldom exceeds: 3.5 deviations more than its
 * mean. */
static int64_t guess_rank(int64_t k) {
    const double mean = (double)k / SOME_PANELS;
    return MG_MIN(k, (int64_t)(mean + 3.5 * sqrt(mean)) + 1);
}

static bool cross_panels(packed *p, scratch *s, int64_t first, int64_t count, int64_t begin,
                         int64_t end) {
    bool cancelled = false;
    const int64_t k = p->batch->k, some = k >= FEW && !p->ops->begin ? SOME_PANELS : 0;
    if (p->ops->begin) p->ops->begin();
    s->rank = some ? guess_rank(k) : k;
    for (int64_t panel = begin; panel < end && some && !cancelled; panel += some) {
        cancelled = mg_cancelled(p->context);
        if (!cancelled) cross_panel(p, s, first, count, panel);
    }
    for (int64_t i = 0; i < count && some; i++)
        if (s->count[i] >= 0) compact(p, s, i);
    s->rank = k;
    for (int64_t panel = begin; panel < end && !cancelled && !p->coarse; panel++) {
        if (some && (panel - begin) % some == 0) continue;
        cancelled = mg_cancelled(p->context);
        if (!cancelled) cross_panel(p, s, first, count, panel);
    }
    if (p->ops->end) p->ops->end();
    return !cancelled;
}

static margin_status cross_block(void *argument, int64_t task, int worker) {
    packed *p = argument;
    const mg_neighbors_batch *b = p->batch;
    scratch *s = &p->scratch[worker];
    const int64_t block = task / p->slices, slice = task % p->slices;
    const int64_t first = block * p->queries, count = MG_MIN(p->queries, b->count - first);
    const int64_t begin = p->panels * slice / p->slices;
    const int64_t end = p->panels * (slice + 1) / p->slices;
    const int64_t width = p->ops->columns, rows = b->index->rows;
    s->ranked = 0;
    pack_queries(p, s, first, count);
    if (!cross_panels(p, s, first, count, begin, end)) return MARGIN_ERROR_CANCELLED;
    int64_t left = s->ranked;
    for (int64_t i = 0; i < count && p->doubtful; i++) {
        if (s->count[i] < 0) continue;
        compact(p, s, i);
        left += s->count[i];
    }
    if (p->doubtful && left > p->doubtful) p->coarse = true;
    if (p->coarse) return MARGIN_OK;
    for (int64_t i = 0; i < count; i++) {
        const double *q = b->queries + (first + i) * b->stride;
        if (mg_cancelled(p->context)) return MARGIN_ERROR_CANCELLED; /* a list may be long */
        const int64_t found =
            finish_query(p, s, i, q, begin * width, MG_MIN(end * width, rows) - begin * width);
        if (p->slices == 1) {
            b->take(b->argument, first + i, q, s->list, found, b->k);
            continue;
        }
        const int64_t at = slice * b->count + first + i;
        p->found[at] = found;
        if (found > 0) memcpy(p->merged + at * b->k, s->list, (size_t)found * sizeof *s->list);
    }
    return MARGIN_OK;
}

static margin_status merge_block(void *argument, int64_t block, int worker) {
    const packed *p = argument;
    const int64_t end = MG_MIN((block + 1) * p->queries, p->batch->count);
    for (int64_t i = block * p->queries; i < end; i++)
        merge_slices(p, i, p->scratch[worker].list);
    return MARGIN_OK;
}

/* ---- All ------------------------------------------------------------------------------------- */

static void shape_numbers(packed *p) {
    const int64_t columns = p->batch->index->columns, rows = p->ops->rows;
    const int64_t most = p->ops->half ? HALF_DEPTH : DEPTH;
    const double chain = 2 * (double)(columns + 16) * 0x1.02p-24; /* 2 c u */
    p->number_size = p->ops->half ? 2 : 4;
    p->lines = p->ops->half ? (columns + HALF_LINES - 1) / HALF_LINES * HALF_LINES : columns;
    p->parts = (p->lines + most - 1) / most;
    p->depth = (p->lines + p->parts - 1) / p->parts;
    if (p->ops->half) p->depth = (p->depth + HALF_LINES - 1) / HALF_LINES * HALF_LINES;
    p->unit = p->ops->half ? 0x1.02p-7 + 2 * chain : chain;
    p->queries = p->ops->half
                     ? MG_MAX(rows, MG_MIN(HALF_QUERIES, (1 << 18) / p->lines) / rows * rows)
                 : p->batch->count <= ONE_BLOCK ? ONE_BLOCK
                                                : QUERIES;
}

static void shape(packed *p) {
    const mg_neighbors *index = p->batch->index;
    const int64_t width = p->ops->columns;
    const int threads = mg_threads(p->context);
    shape_numbers(p);
    p->panels = (index->rows + width - 1) / width;
    p->room = 4 * p->batch->k + 16 + width;
    p->blocks = (p->batch->count + p->queries - 1) / p->queries;
    /* few queries: the points are shared out; the answer does not depend on it */
    p->slices = MG_MIN((2 * threads + p->blocks - 1) / p->blocks,
                       MG_MAX(1, index->rows / MG_MAX(4096, 64 * p->batch->k)));
    p->slices = MG_MAX(p->slices, 1);
}

static void *piece_of(mg_arena *arena, int64_t count, size_t size, bool *failed) {
    void *made = *failed ? NULL : mg_arena_new(arena, count, size);
    *failed = !made;
    return made;
}

static margin_status tiles_make_room(packed *p, mg_arena *arena, margin_error *error) {
    const mg_neighbors_batch *b = p->batch;
    const int64_t points = p->panels * p->ops->columns, size = p->number_size;
    const int threads = mg_threads(p->context);
    const bool keep = p->blocks > 1;
    bool failed = false;
    if (keep) p->panel = piece_of(arena, points * p->lines, (size_t)size, &failed);
    p->start = piece_of(arena, points, sizeof(float), &failed);
    p->share = piece_of(arena, points, sizeof(float), &failed);
    p->scratch = piece_of(arena, threads, sizeof *p->scratch, &failed);
    for (int t = 0; t < threads && !failed; t++) {
        scratch *s = &p->scratch[t];
        s->panel = piece_of(arena, p->queries * p->lines, (size_t)size, &failed);
        if (!keep) s->points = piece_of(arena, p->lines * p->ops->columns, (size_t)size, &failed);
        s->tile = piece_of(arena, p->queries * p->ops->columns + MOST_TILE, sizeof(float), &failed);
        s->sorted = piece_of(arena, p->room, sizeof(float), &failed);
        s->candidates = piece_of(arena, p->queries * p->room, sizeof(candidate), &failed);
        s->list = piece_of(arena, b->k, sizeof(mg_neighbor), &failed);
    }
    if (p->slices > 1) {
        p->merged = piece_of(arena, p->slices * b->count * b->k, sizeof(mg_neighbor), &failed);
        p->found = piece_of(arena, p->slices * b->count, sizeof(int64_t), &failed);
    }
    if (failed)
        return mg_no_memory(p->context->heap, points * p->lines, (size_t)size,
                            "the points in tiles", error);
    return MARGIN_OK;
}

static void take_nothing(void *argument, int64_t query, const double *q, mg_neighbor *list,
                         int64_t count, int64_t room) {
    (void)argument, (void)query, (void)q, (void)list, (void)count, (void)room;
}

static int64_t most_ranked(const packed *p) {
    const int64_t k = p->batch->k;
    return MG_MIN(DOUBTFUL * (k + 4), 2 * k + p->batch->index->rows / MANY) * p->batch->count;
}

/* Are the tiles so coarse that many rows must be ranked? Asked of queries spread evenly, and
 * answered by counting. The points are packed. */
static margin_status too_coarse(packed *p, bool *coarse) {
    mg_neighbors_batch sample = *p->batch;
    packed probe = *p;
    sample.count = MG_MIN(PROBES, p->batch->count);
    sample.stride *= p->batch->count / sample.count;
    sample.take = take_nothing;
    probe.batch = &sample;
    probe.blocks = probe.slices = 1;
    MG_TRY(cross_block(&probe, 0, 0));
    *coarse = p->scratch[0].ranked > most_ranked(&probe);
    return MARGIN_OK;
}

static margin_status run_packed(packed *p, mg_arena *arena, bool doubt, bool *coarse,
                                margin_error *error) {
    margin_status status;
    *coarse = false;
    shape(p);
    if (doubt && p->blocks == 1) p->doubtful = most_ranked(p);
    MG_TRY(tiles_make_room(p, arena, error));
    status = mg_parallel(p->context, p->panel ? p->panels : 0, pack_panel, p, NULL);
    if (status >= 0 && doubt && p->panel) status = too_coarse(p, coarse);
    if (*coarse) return MARGIN_OK;
    if (status >= 0) status = mg_parallel(p->context, p->blocks * p->slices, cross_block, p, NULL);
    *coarse = p->coarse;
    if (status >= 0 && p->slices > 1 && !*coarse)
        status = mg_parallel(p->context, p->blocks, merge_block, p, NULL);
    return status < 0 ? mg_fail_cancelled(error) : MARGIN_OK;
}

margin_status mg_neighbors_run_tiles_by(margin_context *context, const mg_neighbors_batch *batch,
                                        const mg_tile_ops *ops, bool doubt, margin_error *error) {
    const mg_neighbors_ops *plain = mg_neighbors_ops_for(batch->index->isa);
    packed p = {.context = context, .batch = batch, .ops = ops, .distance = plain->distance};
    mg_arena arena;
    bool coarse;
    mg_arena_init(&arena, context->heap);
    margin_status status = run_packed(&p, &arena, doubt && ops->half, &coarse, error);
    mg_arena_free(&arena);
    if (status < 0 || !coarse) return status;
    return mg_neighbors_run_tiles_by(context, batch, &plain->tile, false, error);
}

margin_status mg_neighbors_run_tiles(margin_context *context, const mg_neighbors_batch *batch,
                                     margin_error *error) {
    const mg_tile_ops *ops = &mg_neighbors_ops_for(batch->index->isa)->tile;
#if defined(__x86_64__)
    if (batch->index->isa == MG_ISA_AVX512 && mg_tile_ops_amx.product && mg_has_matrix_registers())
        ops = &mg_tile_ops_amx;
    else if (batch->k <= HALF_NEIGHBORS && batch->index->columns >= HALF_COLUMNS &&
             batch->index->isa == MG_ISA_AVX512 && mg_tile_ops_bf16.product &&
             mg_has_half_products())
        ops = &mg_tile_ops_bf16;
#endif
    return mg_neighbors_run_tiles_by(context, batch, ops, true, error);
}
