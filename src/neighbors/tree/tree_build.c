/* The upper part of the tree: points are dealt into buckets along the medians of a sample, again
 * and again until a bucket is small enough for exact medians (tree_buckets.c). One pass over memory
 * makes up to 64 buckets, where exact medians would take six.
 *
 * Nothing depends on threads: pieces are cut by row number, the order within a bucket is that of
 * the rows, and tensors are laid out by bucket number. */
#include "neighbors/tree/tree_build.h"

#include <string.h>

enum {
    SMALL = 4096,    /* points of a bucket that is not dealt any more */
    PER_BUCKET = 32, /* points of the sample for each bucket */
    MOST_BUCKETS = 64,
    MOST_SAMPLE = MOST_BUCKETS * PER_BUCKET,
    PIECES = 64,     /* of the rows, for parallel passes over one segment */
    GENERATIONS = 10 /* of dealing; what is large then is not going to be cut well by samples */
};

/* A run of points that belong together: a bucket, or dealt into others. */
typedef struct segment {
    int64_t first, last;
    int side; /* which of the two arrays of points holds it */
    bool bucket;
    int levels;                  /* dealt into 2^levels */
    int32_t child[MOST_BUCKETS]; /* segments; -1: empty */
    int64_t first_leaf, first_node;
    int32_t root; /* as a child */
    float *range; /* its box: low, high */
} segment;

typedef struct build {
    margin_context *context;
    const mg_tree_source *source;
    mg_arena arena;
    int64_t stride;
    float *points[2];
    uint8_t *bucket_of;
    segment *segments;
    int64_t count, capacity;
    int64_t begin; /* first segment of the generation */
    int64_t nodes, leaves, upper;
    mg_hypothesis *h;
    void *copies;
    float *box, *leaf;
    int32_t *child, *row, *least;
    int32_t **order; /* scratch of each worker */
    uint64_t **keys;
    int64_t scratch;
    bool exact[PIECES];
    margin_error *error;
} build;

static int64_t piece_end(int64_t first, int64_t last, int64_t piece, int64_t pieces) {
    return first + (last - first) / pieces * piece + (last - first) % pieces * piece / pieces;
}

/* ---- Points in f32 --------------------------------------------------------------------------- */

static margin_status fill_piece(void *argument, int64_t piece, int worker) {
    build *b = argument;
    (void)worker;
    const mg_tree_source *source = b->source;
    const int64_t end = piece_end(0, source->rows, piece + 1, PIECES);
    const double step = 1 / source->scale;
    bool exact = true;
    for (int64_t i = piece_end(0, source->rows, piece, PIECES); i < end; i++) {
        float *point = b->points[0] + i * b->stride;
        const int64_t at = (source->index ? source->index[i] : i) * source->x->stride;
        for (int64_t j = 0; j < source->columns; j++) {
            const double x = mg_stored_value(source->x, at + j), centre = source->centre[j];
            point[j] = (float)((x - centre) * source->scale);
            exact &= (double)point[j] * step + centre == x;
        }
        for (int64_t j = source->columns; j < b->stride; j++)
            point[j] = 0;
        const int32_t number = (int32_t)i;
        memcpy(point + b->stride - 1, &number, sizeof number);
    }
    b->exact[piece] = exact;
    return MARGIN_OK;
}

/* ---- Dealing --------------------------------------------------------------------------------- */

/* A binary tree of cuts; node 1 on top. */
typedef struct cuts {
    int64_t column[MOST_BUCKETS];
    float value[MOST_BUCKETS];
} cuts;

typedef struct dealing {
    build *b;
    segment *s;
    cuts cuts;
    int64_t pieces;
    int64_t count[PIECES][MOST_BUCKETS]; /* then: where the next point goes */
} dealing;

/* The cut of sample points order[0..count): the median of the widest column, above it where many
 * are equal to the least. Returns how many are below. */
static int64_t cut_sample(const build *b, const float *points, int32_t *order, int64_t count,
                          uint64_t *keys, cuts *c, int node) {
    float low[MG_TREE_COLUMNS], high[MG_TREE_COLUMNS];
    const int64_t columns = b->source->columns;
    c->column[node] = 0;
    c->value[node] = INFINITY;
    if (count < 2) return count;
    mg_build_range(points, b->stride, columns, order, count, low, high);
    const int64_t column = mg_build_widest(low, high, columns);
    for (int64_t i = 0; i < count; i++)
        keys[i] = (uint64_t)mg_ordered_bits(points[order[i] * b->stride + column]) << 32 |
                  (uint32_t)order[i];
    mg_select_keys(keys, count, count / 2);
    float value = points[(int64_t)(keys[count / 2] & UINT32_MAX) * b->stride + column];
    if (value <= low[column]) {
        float above = INFINITY;
        for (int64_t i = 0; i < count; i++) {
            const float x = points[order[i] * b->stride + column];
            if (x > value && x < above) above = x;
        }
        value = above;
    }
    int64_t below = 0;
    for (int64_t i = 0; i < count; i++) {
        const int32_t at = order[i];
        if (points[at * b->stride + column] < value) {
            order[i] = order[below];
            order[below++] = at;
        }
    }
    c->column[node] = column;
    c->value[node] = value;
    return below;
}

static void cut_segment(const build *b, const segment *s, cuts *c) {
    const float *points = b->points[s->side] + s->first * b->stride;
    const int64_t count = s->last - s->first, buckets = INT64_C(1) << s->levels;
    const int64_t sampled = MG_MIN(count, buckets * PER_BUCKET);
    int32_t order[MOST_SAMPLE];
    uint64_t keys[MOST_SAMPLE];
    int64_t start[MOST_BUCKETS * 2], size[MOST_BUCKETS * 2];
    for (int64_t i = 0; i < sampled; i++) { /* one point of each equal part, at a random place */
        const uint64_t hash = (uint64_t)i * UINT64_C(0x9E3779B97F4A7C15);
        const double at = ((double)i + (double)(hash >> 11) * 0x1p-53) / (double)sampled;
        order[i] = (int32_t)MG_MIN((int64_t)(at * (double)count), count - 1);
    }
    start[1] = 0;
    size[1] = sampled;
    for (int node = 1; node < buckets; node++) {
        const int64_t below = cut_sample(b, points, order + start[node], size[node], keys, c, node);
        start[2 * node] = start[node];
        size[2 * node] = below;
        start[2 * node + 1] = start[node] + below;
        size[2 * node + 1] = size[node] - below;
    }
}

static int bucket_of_point(const cuts *c, const float *point, int levels) {
    int node = 1;
    for (int level = 0; level < levels; level++)
        node = 2 * node + (point[c->column[node]] >= c->value[node]);
    return node - (1 << levels);
}

static margin_status count_piece(void *argument, int64_t piece, int worker) {
    dealing *d = argument;
    const build *b = d->b;
    (void)worker;
    const int64_t end = piece_end(d->s->first, d->s->last, piece + 1, d->pieces);
    memset(d->count[piece], 0, sizeof d->count[piece]);
    for (int64_t i = piece_end(d->s->first, d->s->last, piece, d->pieces); i < end; i++) {
        const int k =
            bucket_of_point(&d->cuts, b->points[d->s->side] + i * b->stride, d->s->levels);
        b->bucket_of[i] = (uint8_t)k;
        d->count[piece][k]++;
    }
    return MARGIN_OK;
}

static margin_status move_piece(void *argument, int64_t piece, int worker) {
    dealing *d = argument;
    const build *b = d->b;
    (void)worker;
    const int64_t end = piece_end(d->s->first, d->s->last, piece + 1, d->pieces);
    const int64_t stride = b->stride;
    for (int64_t i = piece_end(d->s->first, d->s->last, piece, d->pieces); i < end; i++) {
        const float *from = b->points[d->s->side] + i * stride;
        float *to = b->points[!d->s->side] + d->count[piece][b->bucket_of[i]]++ * stride;
        if (stride == 4)
            memcpy(to, from, 16);
        else
            memcpy(to, from, (size_t)stride * sizeof *to);
    }
    return MARGIN_OK;
}

/* Deals one segment, or finds that it stays as it is. ends[k]: where bucket k ends. */
static margin_status deal(build *b, segment *s, int64_t ends[MOST_BUCKETS]) {
    const int64_t count = s->last - s->first;
    dealing *d = mg_new(b->context->heap, 1, sizeof *d);
    if (!d) return MARGIN_ERROR_MEMORY;
    margin_status status;
    int64_t at = s->first, most = 0;
    d->b = b;
    d->s = s;
    d->pieces = count >= 1 << 16 ? PIECES : 1;
    s->levels = count > SMALL * 16 ? 6 : 3;
    cut_segment(b, s, &d->cuts);
    MG_GO(mg_parallel(b->context, d->pieces, count_piece, d, NULL));
    for (int k = 0; k < 1 << s->levels; k++) {
        const int64_t begin = at;
        for (int64_t piece = 0; piece < d->pieces; piece++) {
            const int64_t here = d->count[piece][k];
            d->count[piece][k] = at;
            at += here;
        }
        ends[k] = at;
        most = MG_MAX(most, at - begin);
    }
    s->bucket = most > count / 8 * 7; /* mostly equal points: no use */
    if (!s->bucket) status = mg_parallel(b->context, d->pieces, move_piece, d, NULL);
done:
    mg_free(b->context->heap, d);
    return status;
}

typedef struct generation {
    build *b;
    int64_t (*ends)[MOST_BUCKETS];
} generation;

static margin_status deal_task(void *argument, int64_t task, int worker) {
    generation *g = argument;
    (void)worker;
    segment *s = &g->b->segments[g->b->begin + task];
    if (s->bucket) return MARGIN_OK;
    return deal(g->b, s, g->ends[task]);
}

static margin_status grow_segments(build *b, int64_t count) {
    if (count <= b->capacity) return MARGIN_OK;
    const int64_t capacity = MG_MAX(count, 2 * b->capacity);
    segment *grown = mg_resize(b->context->heap, b->segments, capacity, sizeof *grown);
    if (!grown)
        return mg_no_memory(b->context->heap, capacity, sizeof *grown, "the tree", b->error);
    b->segments = grown;
    b->capacity = capacity;
    return MARGIN_OK;
}

/* The segments that segment number `s` was dealt into. */
static void add_children(build *b, int64_t number, const int64_t ends[MOST_BUCKETS], bool last) {
    int64_t before = b->segments[number].first;
    for (int k = 0; k < 1 << b->segments[number].levels; k++) {
        segment *s = &b->segments[number];
        s->child[k] = -1;
        if (ends[k] > before) {
            s->child[k] = (int32_t)b->count;
            b->segments[b->count++] = (segment){.first = before,
                                                .last = ends[k],
                                                .side = !s->side,
                                                .bucket = last || ends[k] - before <= SMALL};
        }
        before = ends[k];
    }
}

static margin_status next_generation(build *b, bool last) {
    const int64_t begin = b->begin, end = b->count, count = end - begin;
    generation g = {.b = b};
    margin_status status;
    int64_t open = 0;
    for (int64_t i = begin; i < end; i++)
        open += !b->segments[i].bucket;
    if (open == 0) {
        b->begin = end;
        return MARGIN_OK;
    }
    MG_TRY(grow_segments(b, end + open * MOST_BUCKETS));
    MG_NEW(b->context->heap, g.ends, count, "the tree", b->error);
    status = count == 1 ? deal_task(&g, 0, 0) : mg_parallel(b->context, count, deal_task, &g, NULL);
    for (int64_t i = begin; i < end && status >= 0; i++)
        if (!b->segments[i].bucket) add_children(b, i, g.ends[i - begin], last);
    b->begin = end;
    mg_free(b->context->heap, g.ends);
    if (status == MARGIN_ERROR_CANCELLED) return mg_fail_cancelled(b->error);
    return status < 0 ? mg_no_memory(b->context->heap, 1, sizeof(dealing), "the tree", b->error)
                      : MARGIN_OK;
}

static margin_status deal_all(build *b) {
    MG_TRY(grow_segments(b, 1));
    b->segments[0] = (segment){.last = b->source->rows, .bucket = b->source->rows <= SMALL};
    b->count = 1;
    for (int round = 0; b->begin < b->count; round++)
        MG_TRY(next_generation(b, round + 1 >= GENERATIONS));
    return MARGIN_OK;
}

/* ---- Layout ---------------------------------------------------------------------------------- */

static bool has_octet(const segment *s, int octet) {
    for (int k = 0; k < MG_BRANCH; k++)
        if (s->child[octet * MG_BRANCH + k] >= 0) return true;
    return false;
}

static void lay_out(build *b) {
    for (int64_t i = 0; i < b->count; i++) {
        segment *s = &b->segments[i];
        if (s->bucket) continue;
        b->upper++;
        for (int octet = 0; s->levels == 6 && octet < MG_BRANCH; octet++)
            b->upper += has_octet(s, octet);
    }
    b->nodes = b->upper;
    for (int64_t i = 0; i < b->count; i++) {
        segment *s = &b->segments[i];
        if (!s->bucket) continue;
        const int64_t leaves = mg_leaves_of(s->last - s->first);
        s->first_leaf = b->leaves;
        s->first_node = b->nodes;
        b->leaves += leaves;
        b->nodes += mg_nodes_of(leaves);
        b->scratch = MG_MAX(b->scratch, s->last - s->first);
    }
}

static margin_status add_tensors(build *b) {
    const int64_t columns = b->source->columns;
    mg_bag *bag = &b->h->bag;
    MG_TRY(mg_bag_add(bag, "points", b->source->x->value_type, b->leaves * MG_LEAF, columns,
                      &b->copies, b->error));
    MG_TRY(mg_bag_add(bag, "row", MARGIN_I32, b->leaves * MG_LEAF, 0, &b->row, b->error));
    MG_TRY(mg_bag_add(bag, "leaf", MARGIN_F32, b->leaves, columns * MG_LEAF, &b->leaf, b->error));
    MG_TRY(mg_bag_add(bag, "box", MARGIN_F32, b->nodes, columns * 16, &b->box, b->error));
    MG_TRY(mg_bag_add(bag, "child", MARGIN_I32, b->nodes, MG_BRANCH, &b->child, b->error));
    return mg_bag_add(bag, "least", MARGIN_I32, b->nodes, MG_BRANCH, &b->least, b->error);
}

/* ---- Lower part ------------------------------------------------------------------------------ */

static margin_status bucket_task(void *argument, int64_t task, int worker) {
    build *b = argument;
    segment *s = &b->segments[task];
    if (!s->bucket) return MARGIN_OK;
    if (!b->order[worker]) {
        b->order[worker] = mg_new(b->context->heap, b->scratch, sizeof **b->order);
        b->keys[worker] = mg_new(b->context->heap, b->scratch, sizeof **b->keys);
    }
    if (!b->order[worker] || !b->keys[worker]) return MARGIN_ERROR_MEMORY;
    mg_bucket bucket = {.context = b->context,
                        .points = b->points[s->side] + s->first * b->stride,
                        .count = s->last - s->first,
                        .stride = b->stride,
                        .columns = b->source->columns,
                        .first_leaf = s->first_leaf,
                        .first_node = s->first_node,
                        .order = b->order[worker],
                        .keys = b->keys[worker],
                        .source = b->source,
                        .copies = b->copies,
                        .box = b->box,
                        .leaf = b->leaf,
                        .child = b->child,
                        .row = b->row};
    mg_bucket_build(&bucket);
    if (mg_cancelled(b->context)) return MARGIN_ERROR_CANCELLED;
    s->root = bucket.root;
    const size_t size = (size_t)bucket.columns * sizeof(float);
    memcpy(s->range, bucket.low, size);
    memcpy(s->range + bucket.columns, bucket.high, size);
    return MARGIN_OK;
}

static margin_status build_buckets(build *b) {
    const int threads = mg_threads(b->context);
    float *ranges;
    MG_TRY(MG_PIECES(&b->arena, "the tree", b->error,
                     MG_PIECE(ranges, b->count * 2 * b->source->columns),
                     MG_PIECE(b->order, threads), MG_PIECE(b->keys, threads)));
    for (int t = 0; t < threads; t++) {
        b->order[t] = NULL;
        b->keys[t] = NULL;
    }
    for (int64_t i = 0; i < b->count; i++)
        b->segments[i].range = ranges + i * 2 * b->source->columns;
    margin_status status = mg_parallel(b->context, b->count, bucket_task, b, NULL);
    for (int t = 0; t < threads; t++)
        MG_FREE(b->context->heap, b->order[t], b->keys[t]);
    if (status == MARGIN_ERROR_CANCELLED) return mg_fail_cancelled(b->error);
    return status < 0
               ? mg_no_memory(b->context->heap, b->scratch, sizeof **b->keys, "the tree", b->error)
               : MARGIN_OK;
}

/* ---- Upper part ------------------------------------------------------------------------------ */

static void widen(float *range, const float *with, int64_t columns) {
    for (int64_t j = 0; j < columns; j++) {
        range[j] = MG_MIN(range[j], with[j]);
        range[columns + j] = MG_MAX(range[columns + j], with[columns + j]);
    }
}

static void empty_range(float *range, int64_t columns) {
    for (int64_t j = 0; j < columns; j++) {
        range[j] = INFINITY;
        range[columns + j] = -INFINITY;
    }
}

static int32_t upper_node(build *b, int64_t number, int64_t *next);

/* A node over eight children of a segment; widens `range` by them. */
static int32_t upper_octet(build *b, const segment *s, int octet, float *range, int64_t *next) {
    const int64_t columns = b->source->columns, node = (*next)++;
    int lane = 0;
    mg_tree_clear_node(b->box, b->child, columns, node);
    for (int k = 0; k < MG_BRANCH; k++) {
        const int32_t child = s->child[octet * MG_BRANCH + k];
        if (child < 0) continue;
        const int32_t to = upper_node(b, child, next);
        const float *box = b->segments[child].range;
        mg_tree_set_lane(b->box, b->child, columns, node, lane++, box, box + columns, to);
        widen(range, box, columns);
    }
    return (int32_t)node;
}

/* The nodes over a segment, parents before children; sets its range. At most 2 GENERATIONS deep. */
static int32_t upper_node(build *b, int64_t number, int64_t *next) {
    segment *s = &b->segments[number];
    const int64_t columns = b->source->columns;
    if (s->bucket) return s->root;
    empty_range(s->range, columns);
    if (s->levels == 3) return upper_octet(b, s, 0, s->range, next);
    const int64_t node = (*next)++;
    int lane = 0;
    mg_tree_clear_node(b->box, b->child, columns, node);
    for (int octet = 0; octet < MG_BRANCH; octet++) {
        float range[2 * MG_TREE_COLUMNS];
        if (!has_octet(s, octet)) continue;
        empty_range(range, columns);
        const int32_t to = upper_octet(b, s, octet, range, next);
        mg_tree_set_lane(b->box, b->child, columns, node, lane++, range, range + columns, to);
        widen(s->range, range, columns);
    }
    return (int32_t)node;
}

static void find_least(build *b) {
    for (int64_t node = b->nodes - 1; node >= 0; node--) /* children stand behind their parents */
        for (int lane = 0; lane < MG_BRANCH; lane++) {
            const int32_t child = b->child[node * MG_BRANCH + lane];
            const float *box = b->box + node * b->source->columns * 16 + lane;
            int32_t least = INT32_MAX;
            const int32_t *list =
                child < 0 ? b->row + (int64_t)~child * MG_LEAF : b->least + child * MG_BRANCH;
            for (int k = 0; k < (child < 0 ? MG_LEAF : MG_BRANCH) && box[0] <= box[8]; k++)
                if (list[k] >= 0 && list[k] < least) least = list[k];
            b->least[node * MG_BRANCH + lane] = least;
        }
}

/* ---- All of it ------------------------------------------------------------------------------- */

static margin_status make_points(build *b) {
    const int64_t rows = b->source->rows;
    const char *purpose = "the points of a tree while it is built";
    for (int side = 0; side < 2; side++) {
        b->points[side] = mg_arena_new(&b->arena, rows * b->stride, sizeof(float));
        if (!b->points[side])
            return mg_no_memory(b->context->heap, rows * b->stride, sizeof(float), purpose,
                                b->error);
        if (rows <= SMALL) break; /* nothing is dealt */
    }
    MG_ARENA_NEW(&b->arena, b->bucket_of, rows, purpose, b->error);
    return mg_parallel(b->context, PIECES, fill_piece, b, b->error);
}

margin_status mg_tree_make(margin_context *context, const mg_tree_source *source, mg_hypothesis *h,
                           bool *exact, margin_error *error) {
    build b = {.context = context,
               .source = source,
               .h = h,
               .error = error,
               .stride = (source->columns + 1 + 3) / 4 * 4};
    int64_t next = 0;
    margin_status status;
    mg_arena_init(&b.arena, context->heap);
    MG_GO(make_points(&b));
    MG_GO(deal_all(&b));
    lay_out(&b);
    MG_GO(add_tensors(&b));
    MG_GO(build_buckets(&b));
    if (b.count > 0) upper_node(&b, 0, &next);
    find_least(&b);
    *exact = true;
    for (int piece = 0; piece < PIECES; piece++)
        *exact = *exact && b.exact[piece];
done:
    mg_free(context->heap, b.segments);
    mg_arena_free(&b.arena);
    return status;
}
