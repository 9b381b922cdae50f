/* Brute force for many queries: |x - q|^2 - |q|^2 = |x|^2 - 2 x.q by register tiles in f32, each
 * value a proven lower bound, rows below a query's threshold kept, and only those ranked by the
 * distance itself.
 *
 * x and q are centred and scaled as in the tree (y = (x - centre) scale). A value that ends in a
 * tile differs from |y_x|^2 - 2 y_x.y_q by at most c u (|y_x| + |y_q|)^2 <= 2 c u (|y_x|^2 +
 * |y_q|^2), u = 2^-24, c = columns + 16: the chain of f32 sums, and rounding the coordinates. The
 * accumulators start at |y_x|^2 - e_x with e_x = 2 c u |y_x|^2. So with T = |y_x|^2 - 2 y_x.y_q a
 * value v has T - 2 e_x - e_q <= v <= T + e_q: the k-th least v + 2 e_x + 2 e_q is a threshold for
 * v. */
#include "base/pool.h"
#include "neighbors/neighbor_list.h"

#include <float.h>
#include <string.h>

enum {
    QUERIES = 96,    /* of a block */
    DEPTH = 272,     /* columns of a part of a panel: it stays in the first cache */
    MOST_TILE = 384, /* numbers of a tile */
    MOST_ROWS = 12,
    LEAST_QUERIES = 24, /* fewer are scanned */
    LEAST_COLUMNS = 4
};

typedef struct candidate {
    float value;
    int32_t row;
} candidate;

typedef struct packed {
    margin_context *context;
    const mg_neighbors_batch *batch;
    const mg_tile_ops *ops;
    int64_t panels, parts, depth; /* of points; parts of `depth` columns */
    float *panel;                 /* panels x columns x ops->columns */
    float *start, *share;         /* one a point: |y|^2 - e, e */
    double unit;                  /* 2 c u */
    int64_t room;                 /* candidates of a query */
    int64_t blocks, slices;
    mg_neighbor *merged; /* slices x queries x k, if there are several slices */
    int64_t *found;
    struct scratch *scratch;
} packed;

typedef struct scratch {
    float *panel;  /* QUERIES x columns */
    float *tile;   /* QUERIES / rows tiles */
    float *sorted; /* room */
    float threshold[QUERIES + MOST_ROWS];
    float share[QUERIES];
    int64_t count[QUERIES];
    candidate *candidates; /* QUERIES x room */
    mg_neighbor *list;     /* k */
} scratch;

bool mg_neighbors_tiles_pay(const mg_neighbors_batch *batch) {
    const mg_neighbors *index = batch->index;
    return index->metric.kind == MG_METRIC_EUCLID && batch->count >= LEAST_QUERIES &&
           index->columns >= LEAST_COLUMNS && batch->k <= 4096 &&
           (index->rows >= 32 * batch->k || isfinite(batch->radius));
}

/* ---- Points ---------------------------------------------------------------------------------- */

static double scaled_point(const mg_neighbors *index, int64_t row, int64_t j) {
    const int64_t at = row * index->columns + j;
    const double x = index->single ? (double)((const float *)index->points)[at]
                                   : ((const double *)index->points)[at];
    return (x - index->centre[j]) * index->scale;
}

static margin_status pack_panel(void *argument, int64_t number, int worker) {
    const packed *p = argument;
    const mg_neighbors *index = p->batch->index;
    const int64_t width = p->ops->columns;
    float *out = p->panel + number * index->columns * width;
    (void)worker;
    for (int64_t l = 0; l < width; l++) {
        const int64_t row = number * width + l;
        double square = 0;
        for (int64_t j = 0; j < index->columns; j++) {
            const double y = row < index->rows ? scaled_point(index, row, j) : 0;
            out[j * width + l] = (float)y;
            square += y * y;
        }
        const float share = (float)(p->unit * square * (1 + 0x1p-20) + 0x1p-80);
        p->share[row] = share;
        p->start[row] = row < index->rows ? (float)square - share : FLT_MAX;
    }
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
    memset(s->panel, 0, (size_t)(QUERIES * columns) * sizeof *s->panel);
    for (int64_t i = 0; i < QUERIES + MOST_ROWS; i++)
        s->threshold[i] = -FLT_MAX;
    for (int64_t i = 0; i < count; i++) {
        const double *q = p->batch->queries + (first + i) * p->batch->stride;
        float *out = s->panel + i / rows * rows * columns + i % rows;
        double square = 0;
        s->count[i] = -1;
        if (!mg_neighbors_usable(q, columns)) continue;
        for (int64_t j = 0; j < columns; j++) {
            const double y = (q[j] - index->centre[j]) * index->scale;
            square += y * y;
            out[j * rows] = (float)(-2 * y);
        }
        if (!(square < 0x1p102)) {
            for (int64_t j = 0; j < columns; j++)
                out[j * rows] = 0;
            continue;
        }
        s->count[i] = 0;
        s->share[i] = (float)(p->unit * square * (1 + 0x1p-20) + 0x1p-80);
        s->threshold[i] = first_threshold(p, square, s->share[i]);
    }
}

/* The number of rank r of values[0..count), by halving (Hoare 1961). */
static float number_of_rank(float *values, int64_t count, int64_t r) {
    int64_t low = 0, high = count - 1;
    while (low < high) {
        const float a = values[low], b = values[(low + high) / 2], c = values[high];
        const float pivot = a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
        int64_t i = low, j = high;
        while (i <= j) {
            while (values[i] < pivot)
                i++;
            while (values[j] > pivot)
                j--;
            if (i <= j) {
                const float swapped = values[i];
                values[i++] = values[j];
                values[j--] = swapped;
            }
        }
        if (r <= j)
            high = j;
        else if (r >= i)
            low = i;
        else
            break;
    }
    return values[r];
}

/* Lowers the threshold of query i to its k-th least upper bound, and drops what is above. */
static void compact(const packed *p, scratch *s, int64_t i) {
    candidate *list = s->candidates + i * p->room;
    const int64_t k = p->batch->k;
    int64_t kept = 0;
    if (s->count[i] >= k) {
        for (int64_t c = 0; c < s->count[i]; c++)
            s->sorted[c] = list[c].value + 2 * p->share[list[c].row];
        float bound = number_of_rank(s->sorted, s->count[i], k - 1);
        bound = bound + 2 * s->share[i] + fabsf(bound) * 0x1p-20f;
        if (bound < s->threshold[i]) s->threshold[i] = bound;
    }
    for (int64_t c = 0; c < s->count[i]; c++)
        if (list[c].value <= s->threshold[i]) list[kept++] = list[c];
    s->count[i] = kept;
}

/* Ranks the candidates of a query by their distances; the k nearest are left in s->list. */
static int64_t rank_candidates(const packed *p, scratch *s, int64_t i, const double *q) {
    const mg_neighbors *index = p->batch->index;
    const candidate *list = s->candidates + i * p->room;
    mg_search search = mg_search_within(q, p->batch->k, p->batch->radius, s->list);
    mg_list_begin(&search);
    for (int64_t c = 0; c < s->count[i]; c++)
        mg_list_offer(&search,
                      mg_metric_distance(&index->metric, mg_neighbors_point(index, list[c].row),
                                         index->single, q, index->columns),
                      list[c].row);
    mg_list_finish(&search);
    return search.count;
}

/* More rows are within the bounds than fit: they are settled now and the k nearest stay. Later rows
 * that are equal have greater numbers. */
static void settle(const packed *p, scratch *s, int64_t i, const double *q) {
    candidate *list = s->candidates + i * p->room;
    const int64_t count = rank_candidates(p, s, i, q);
    int64_t kept = 0;
    for (int64_t c = 0; c < s->count[i]; c++)
        for (int64_t n = 0; n < count; n++)
            if (s->list[n].row == list[c].row) {
                list[kept++] = list[c];
                break;
            }
    s->count[i] = kept;
}

static void collect(const packed *p, scratch *s, int64_t i, int64_t panel, const float *values,
                    const double *q) {
    candidate *list = s->candidates + i * p->room;
    const int64_t width = p->ops->columns;
    const float threshold = s->threshold[i];
    int64_t count = s->count[i];
    if (count < 0) return;
    for (int64_t l = 0; l < width; l++)
        if (values[l] <= threshold)
            list[count++] = (candidate){values[l], (int32_t)(panel * width + l)};
    s->count[i] = count;
    if (count <= p->room - width) return;
    compact(p, s, i);
    if (s->count[i] > p->room - width) settle(p, s, i, q);
}

/* One panel against all queries of the block. */
static void cross_panel(const packed *p, scratch *s, int64_t first, int64_t count, int64_t panel) {
    const mg_tile_ops *ops = p->ops;
    const int64_t columns = p->batch->index->columns, tile = ops->rows * ops->columns;
    for (int64_t part = 0; part < p->parts; part++) {
        const int64_t begin = part * p->depth, depth = MG_MIN(p->depth, columns - begin);
        const bool last = part == p->parts - 1;
        const float *b = p->panel + (panel * columns + begin) * ops->columns;
        for (int64_t i = 0; i < count; i += ops->rows) {
            float *out = s->tile + i / ops->rows * tile;
            unsigned hits = ops->product(depth, s->panel + i * columns + begin * ops->rows, b,
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
    if (s->count[i] >= 0) {
        compact(p, s, i);
        return rank_candidates(p, s, i, q);
    }
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

static margin_status cross_block(void *argument, int64_t task, int worker) {
    packed *p = argument;
    const mg_neighbors_batch *b = p->batch;
    scratch *s = &p->scratch[worker];
    const int64_t block = task / p->slices, slice = task % p->slices;
    const int64_t first = block * QUERIES, count = MG_MIN(QUERIES, b->count - first);
    const int64_t begin = p->panels * slice / p->slices;
    const int64_t end = p->panels * (slice + 1) / p->slices;
    const int64_t width = p->ops->columns, rows = b->index->rows;
    pack_queries(p, s, first, count);
    for (int64_t panel = begin; panel < end; panel++) {
        if ((panel & 63) == 0 && mg_cancelled(p->context)) return MARGIN_ERROR_CANCELLED;
        cross_panel(p, s, first, count, panel);
    }
    for (int64_t i = 0; i < count; i++) {
        const double *q = b->queries + (first + i) * b->stride;
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
    const int64_t end = MG_MIN((block + 1) * QUERIES, p->batch->count);
    for (int64_t i = block * QUERIES; i < end; i++)
        merge_slices(p, i, p->scratch[worker].list);
    return MARGIN_OK;
}

/* ---- All ------------------------------------------------------------------------------------- */

static void shape(packed *p) {
    const mg_neighbors *index = p->batch->index;
    const int64_t columns = index->columns, width = p->ops->columns;
    const int threads = mg_pool_threads(p->context->pool);
    p->panels = (index->rows + width - 1) / width;
    p->parts = (columns + DEPTH - 1) / DEPTH;
    p->depth = (columns + p->parts - 1) / p->parts;
    p->unit = 2 * (double)(columns + 16) * 0x1.02p-24;
    p->room = MG_MAX(4 * p->batch->k + 16, 112) + width;
    p->blocks = (p->batch->count + QUERIES - 1) / QUERIES;
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

static margin_status make_room(packed *p, mg_arena *arena, margin_error *error) {
    const mg_neighbors_batch *b = p->batch;
    const int64_t columns = b->index->columns, points = p->panels * p->ops->columns;
    const int threads = mg_pool_threads(p->context->pool);
    bool failed = false;
    p->panel = piece_of(arena, points * columns, sizeof(float), &failed);
    p->start = piece_of(arena, points, sizeof(float), &failed);
    p->share = piece_of(arena, points, sizeof(float), &failed);
    p->scratch = piece_of(arena, threads, sizeof *p->scratch, &failed);
    for (int t = 0; t < threads && !failed; t++) {
        scratch *s = &p->scratch[t];
        s->panel = piece_of(arena, QUERIES * columns, sizeof(float), &failed);
        s->tile = piece_of(arena, QUERIES * p->ops->columns + MOST_TILE, sizeof(float), &failed);
        s->sorted = piece_of(arena, p->room, sizeof(float), &failed);
        s->candidates = piece_of(arena, QUERIES * p->room, sizeof(candidate), &failed);
        s->list = piece_of(arena, b->k, sizeof(mg_neighbor), &failed);
    }
    if (p->slices > 1) {
        p->merged = piece_of(arena, p->slices * b->count * b->k, sizeof(mg_neighbor), &failed);
        p->found = piece_of(arena, p->slices * b->count, sizeof(int64_t), &failed);
    }
    if (failed)
        return mg_no_memory(p->context->heap, points * columns, sizeof(float),
                            "the points in tiles", error);
    return MARGIN_OK;
}

margin_status mg_neighbors_run_tiles(margin_context *context, const mg_neighbors_batch *batch,
                                     margin_error *error) {
    packed p = {
        .context = context, .batch = batch, .ops = &mg_neighbors_ops_for(batch->index->isa)->tile};
    mg_arena arena;
    margin_status status;
    mg_arena_init(&arena, context->heap);
    shape(&p);
    MG_GO(make_room(&p, &arena, error));
    status = mg_parallel(context, p.panels, pack_panel, &p);
    if (status >= 0) status = mg_parallel(context, p.blocks * p.slices, cross_block, &p);
    if (status >= 0 && p.slices > 1) status = mg_parallel(context, p.blocks, merge_block, &p);
    if (status < 0) status = mg_fail_cancelled(error);
done:
    mg_arena_free(&arena);
    return status < 0 ? status : MARGIN_OK;
}
