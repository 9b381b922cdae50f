/* One query, compiled once for each instruction set: include lanes and define TABLE.
 *
 * The filter is in f32 and bounded: with y = (x - centre) scale, x32 = (float)y, and the filter
 * norm N (the largest gap, their sum, or Euclid's norm), |N(x32 - q32) - N(y_x - y_q)| <= E = 2^-24
 * (N(y_x) + N(y_q)) <= 2^-24 (2 N(y_q) + r) for every x with N(y_x - y_q) <= r: so a row at
 * distance at most v has an f32 value of at most limit(v), whatever the other rows are. Boxes are
 * made of stored values and use the same monotone operations, so they are never farther than their
 * rows. The f32 operations are plain ones, not fused: all instruction sets visit the same nodes. */
#include "base/context.h"
#include "neighbors/search/neighbor_list.h"
#include "neighbors/search/search_limit.h"

#include <float.h>

/* A box to look into: lane `lane` of its node, counted over all nodes. */
typedef struct pending {
    float value;
    int32_t child;
    int64_t lane;
} pending;

MG_INLINE lanes8 box_values(const float *box, const float *q, int64_t columns, mg_filter filter) {
    lanes8 sum = lanes8_set(0);
    for (int64_t j = 0; j < columns; j++, box += 16) {
        const lanes8 at = lanes8_set(q[j]);
        const lanes8 below = lanes8_subtract(lanes8_load(box), at);
        const lanes8 above = lanes8_subtract(at, lanes8_load(box + 8));
        const lanes8 gap = lanes8_max(lanes8_max(below, above), lanes8_set(0));
        if (filter == MG_FILTER_MOST)
            sum = lanes8_max(sum, gap);
        else
            sum = lanes8_add(sum, filter == MG_FILTER_SQUARES ? lanes8_multiply(gap, gap) : gap);
    }
    return sum;
}

MG_INLINE lanes16 leaf_values(const float *leaf, const float *q, int64_t columns,
                              mg_filter filter) {
    lanes16 sum = lanes16_zero();
    for (int64_t j = 0; j < columns; j++, leaf += MG_LEAF) {
        const lanes16 gap = lanes16_gap(leaf, q[j]);
        if (filter == MG_FILTER_MOST)
            sum = lanes16_max(sum, gap);
        else
            sum = lanes16_add(sum, filter == MG_FILTER_SQUARES ? lanes16_square(gap) : gap);
    }
    return sum;
}

/* The distance of a stored point, offered; Euclid's root only if it can matter. */
MG_INLINE void rank(const mg_neighbors *index, mg_search *s, const void *point, bool single,
                    int64_t columns, mg_filter filter, int32_t row, double *most) {
    double distance;
    s->ranked++;
    if (filter == MG_FILTER_SQUARES && index->metric.kind == MG_METRIC_EUCLID) {
        const double sum = mg_metric_sum(point, single, s->q, columns, true, 1);
        if (sum > *most) return;
        if (MG_LIKELY(sum >= MG_METRIC_SMALL && sum <= MG_METRIC_LARGE))
            distance = sqrt(sum);
        else
            distance = mg_metric_scaled(&index->metric, point, single, s->q, columns);
    } else {
        distance = mg_metric_distance(&index->metric, point, single, s->q, columns);
    }
    const double before = s->worst;
    mg_list_offer(s, distance, row);
    if (s->worst < before) *most = mg_search_most(s->worst);
}

MG_INLINE void visit_leaf(const mg_neighbors *index, mg_search *s, int64_t leaf, const float *q32,
                          int64_t columns, bool single, mg_filter filter, float *limit,
                          const mg_reach *reach, double *most) {
    const mg_tree *tree = index->tree;
    const lanes16 values = leaf_values(tree->leaf + leaf * columns * MG_LEAF, q32, columns, filter);
    const int32_t *rows = tree->row + leaf * MG_LEAF;
    unsigned hits = lanes16_within(values, *limit);
    const int64_t size = single ? 4 : 8;
    const char *points = (const char *)index->points + leaf * MG_LEAF * columns * size;
    s->visits++;
    if (s->k == 1 && (hits & (hits - 1))) { /* the nearest first: others seldom survive it */
        float value[MG_LEAF];
        lanes16_store(value, values);
        int best = __builtin_ctz(hits);
        for (unsigned rest = hits & (hits - 1); rest; rest &= rest - 1)
            if (value[__builtin_ctz(rest)] < value[best]) best = __builtin_ctz(rest);
        hits &= ~(1u << best);
        rank(index, s, points + best * columns * size, single, columns, filter, rows[best], most);
        *limit = mg_search_limit(reach, s->worst);
        hits &= lanes16_within(values, *limit);
    }
    if (!hits) return;
    const double before = s->worst;
    for (; hits; hits &= hits - 1) {
        const int i = __builtin_ctz(hits);
        rank(index, s, points + i * columns * size, single, columns, filter, rows[i], most);
    }
    if (s->worst < before) *limit = mg_search_limit(reach, s->worst);
}

/* For few neighbours in Euclid's distance: rows that may matter are noted by their f32 values, and
 * the k-th least of these bounds the k-th distance, so few exact distances remain for the end. */
enum { FEW = 8, NOTED = 80, AT_ONCE = 4 };
typedef struct notes {
    lanes8 least; /* ascending, the k-th least value last; 0 before the first */
    int count;
    float value[NOTED + AT_ONCE];
    int32_t slot[NOTED];
} notes;

static void begin_notes(notes *n, int64_t k) {
    float least[FEW];
    for (int l = 0; l < FEW; l++)
        least[l] = l < FEW - k ? 0 : INFINITY;
    n->least = lanes8_load(least);
    n->count = 0;
}

/* Drops the notes above the limit. */
MG_INLINE void sift_notes(notes *n, float limit) {
    int kept = 0;
    for (int i = 0; i < n->count; i++) {
        n->value[kept] = n->value[i];
        n->slot[kept] = n->slot[i];
        kept += n->value[i] <= limit;
    }
    n->count = kept;
}

MG_INLINE void rank_notes(const mg_neighbors *index, mg_search *s, notes *n, int64_t columns,
                          bool single, float limit, double *most) {
    const char *points = (const char *)index->points;
    const int64_t size = columns * (single ? 4 : 8);
    sift_notes(n, limit);
    for (int i = 0; i < n->count; i++)
        rank(index, s, points + n->slot[i] * size, single, columns, MG_FILTER_SQUARES,
             index->tree->row[n->slot[i]], most);
    n->count = 0;
}

MG_INLINE void note_leaf(const mg_neighbors *index, mg_search *s, notes *n, int64_t leaf,
                         const float *q32, int64_t columns, bool single, float *limit,
                         const mg_reach *reach) {
    const lanes16 values =
        leaf_values(index->tree->leaf + leaf * columns * MG_LEAF, q32, columns, MG_FILTER_SQUARES);
    unsigned hits = lanes16_within(values, *limit);
    const char *points = (const char *)index->points;
    const int64_t size = columns * (single ? 4 : 8);
    float value[MG_LEAF];
    s->visits++;
    if (!hits) return;
    lanes16_store(value, values);
    const int before = n->count;
    int count = before;
    lanes8 least = n->least;
    for (; hits; hits &= hits - 1, count++) {
        const int i = __builtin_ctz(hits);
        n->value[count] = value[i];
        n->slot[count] = (int32_t)(leaf * MG_LEAF + i);
        if (columns > 4) __builtin_prefetch(points + (leaf * MG_LEAF + i) * size);
    }
    n->count = count;
    for (int i = 0; i < AT_ONCE - 1; i++)
        n->value[count + i] = INFINITY;
    for (int i = before; i < count; i += AT_ONCE)
        least = lanes8_insert_four(least, n->value + i);
    n->least = least;
    const float bound = mg_search_limit_above(reach, lanes8_last(least));
    *limit = bound < *limit ? bound : *limit;
}

/* True if the box, whose value is near the limit, holds nothing that matters: only equal distances
 * with smaller row numbers would, and there are none, or no distance is as small. The nearest point
 * of the box is made of numbers that stand for coordinates exactly, so no row of it is nearer. */
static __attribute__((noinline)) bool only_ties(const mg_neighbors *index, const mg_search *s,
                                                int64_t at) {
    double corner[MG_TREE_COLUMNS];
    const int64_t node = at / MG_BRANCH, lane = at % MG_BRANCH;
    const float *box = index->tree->box + node * index->columns * 16 + lane;
    const double step = 1 / index->scale; /* a power of two */
    if (index->tree->nodes == 0 || index->tree->least[at] <= s->worst_row) return false;
    if (s->worst == 0) return true;
    if (!index->tree->exact || index->metric.kind == MG_METRIC_POWER) return false;
    for (int64_t j = 0; j < index->columns; j++) {
        const double low = (double)box[j * 16] * step + index->centre[j];
        const double high = (double)box[j * 16 + 8] * step + index->centre[j];
        corner[j] = s->q[j] < low ? low : s->q[j] > high ? high : s->q[j];
    }
    return mg_metric_distance(&index->metric, corner, false, s->q, index->columns) >= s->worst;
}

/* The boxes `hits` of a node, the nearest last; of equal ones that with the least row number. */
static __attribute__((noinline)) void
place_ties(const mg_tree *tree, int64_t node, const float *value, unsigned hits, pending *stack) {
    const int32_t *least = tree->least + node * MG_BRANCH, *child = tree->child + node * MG_BRANCH;
    int count = 0;
    for (; hits; hits &= hits - 1) {
        const int lane = __builtin_ctz(hits);
        int at = count++;
        for (; at > 0; at--) {
            const int64_t other = stack[at - 1].lane - node * MG_BRANCH;
            if (stack[at - 1].value > value[lane] ||
                (stack[at - 1].value == value[lane] && least[other] >= least[lane]))
                break;
            stack[at] = stack[at - 1];
        }
        stack[at] = (pending){value[lane], child[lane], node * MG_BRANCH + lane};
    }
}

/* Lines of a leaf arrive while others are looked at. */
MG_INLINE void fetch_leaf(const mg_neighbors *index, int64_t leaf, int64_t columns, bool single) {
    enum { LINE = 64, MOST = 512 };
    const int64_t values = columns * MG_LEAF, size = values * (single ? 4 : 8);
    const char *points = (const char *)index->points + leaf * size;
    const char *filter = (const char *)(index->tree->leaf + leaf * values);
    for (int64_t at = 0; at < values * 4 && at < MOST; at += LINE)
        __builtin_prefetch(filter + at);
    for (int64_t at = 0; at < size && at < MOST; at += LINE)
        __builtin_prefetch(points + at);
    __builtin_prefetch(index->tree->row + leaf * MG_LEAF);
}

MG_INLINE int visit_node(const mg_neighbors *index, mg_search *s, int64_t node, const float *q32,
                         int64_t columns, bool single, mg_filter filter, float limit,
                         pending *stack, int height) {
    const mg_tree *tree = index->tree;
    const lanes8 values = box_values(tree->box + node * columns * 16, q32, columns, filter);
    float value[MG_BRANCH];
    const int base = height;
    s->visits++;
    unsigned hits = lanes8_within(values, limit);
    lanes8_store(value, values);
    unsigned taken = 0;
    for (unsigned rest = hits; rest; rest &= rest - 1) { /* nearest on top */
        const int lane = __builtin_ctz(rest);
        const pending here = {value[lane], tree->child[node * MG_BRANCH + lane],
                              node * MG_BRANCH + lane};
        const int farther = __builtin_popcount(hits & ~lanes8_within(values, value[lane]));
        if (here.child < 0) fetch_leaf(index, ~here.child, columns, single);
        stack[base + farther] = here;
        taken |= 1u << farther;
    }
    height += __builtin_popcount(hits);
    if (MG_UNLIKELY(__builtin_popcount(taken) < height - base)) /* equal ones: one took them all */
        place_ties(tree, node, value, hits, stack + base);
    return height;
}

MG_INLINE void search_tree(const mg_neighbors *index, mg_search *s, int64_t columns, bool single,
                           mg_filter filter) {
    float q32[MG_TREE_COLUMNS];
    pending stack[MG_TREE_DEPTH * (MG_BRANCH - 1) + MG_BRANCH + 1];
    mg_reach reach;
    mg_list_begin(s);
    if (!mg_search_reach(index, filter, s->q, q32, &reach)) { /* far outside of f32 */
        mg_neighbors_scan(index, s, 0, mg_neighbors_slots(index));
        return;
    }
    float limit = mg_search_limit(&reach, s->worst);
    double most = mg_search_most(s->worst);
    int height = 0;
    notes noted;
    bool few = filter == MG_FILTER_SQUARES && index->metric.kind == MG_METRIC_EUCLID && s->k > 0 &&
               s->k <= FEW && s->after.distance < 0;
    begin_notes(&noted, few ? s->k : 0);
    const float near = index->tree->exact ? 1 - 0x1p-12f : 1;
    stack[height++] = (pending){-1, index->tree->nodes > 0 ? 0 : ~0, 0};
    while (height > 0) {
        const pending p = stack[--height];
        if (!(p.value <= limit)) continue;
        if (MG_UNLIKELY(p.value >= limit * near || s->worst == 0) && p.value >= 0 &&
            only_ties(index, s, p.lane))
            continue;
        const int32_t child = p.child;
        if (child >= 0) {
            height =
                visit_node(index, s, child, q32, columns, single, filter, limit, stack, height);
            continue;
        }
        if (few && noted.count > NOTED - MG_LEAF) sift_notes(&noted, limit);
        if (few && MG_UNLIKELY(noted.count > NOTED - MG_LEAF)) { /* ties need exact distances */
            rank_notes(index, s, &noted, columns, single, limit, &most);
            limit = MG_MIN(limit, mg_search_limit(&reach, s->worst));
            few = false;
        }
        if (few)
            note_leaf(index, s, &noted, ~child, q32, columns, single, &limit, &reach);
        else
            visit_leaf(index, s, ~child, q32, columns, single, filter, &limit, &reach, &most);
    }
    if (few) rank_notes(index, s, &noted, columns, single, limit, &most);
    mg_list_finish(s);
}

/* ---- Ways that are compiled apart: few columns are unrolled --------------------------------- */

#define WAY(name, columns, single, filter)                                                         \
    static __attribute__((noinline)) void name(const mg_neighbors *index, mg_search *s) {          \
        search_tree(index, s, columns, single, filter);                                            \
    }
WAY(squares_2, 2, false, MG_FILTER_SQUARES)
WAY(squares_3, 3, false, MG_FILTER_SQUARES)
WAY(squares_4, 4, false, MG_FILTER_SQUARES)
WAY(squares_5, 5, false, MG_FILTER_SQUARES)
WAY(squares_6, 6, false, MG_FILTER_SQUARES)
WAY(squares_8, 8, false, MG_FILTER_SQUARES)
WAY(squares_2_f32, 2, true, MG_FILTER_SQUARES)
WAY(squares_3_f32, 3, true, MG_FILTER_SQUARES)
WAY(squares, index->columns, false, MG_FILTER_SQUARES)
WAY(squares_f32, index->columns, true, MG_FILTER_SQUARES)
WAY(sums, index->columns, false, MG_FILTER_SUM)
WAY(sums_f32, index->columns, true, MG_FILTER_SUM)
WAY(most, index->columns, false, MG_FILTER_MOST)
WAY(most_f32, index->columns, true, MG_FILTER_MOST)
#undef WAY

static void search_query(const mg_neighbors *index, mg_search *s) {
    typedef void (*way)(const mg_neighbors *, mg_search *);
    static const way by_columns[9] = {squares,   squares,   squares_2, squares_3, squares_4,
                                      squares_5, squares_6, squares,   squares_8};
    way chosen;
    if (index->metric.kind == MG_METRIC_SUM)
        chosen = index->single ? sums_f32 : sums;
    else if (index->metric.kind == MG_METRIC_MOST)
        chosen = index->single ? most_f32 : most;
    else if (index->single)
        chosen = index->columns == 2   ? squares_2_f32
                 : index->columns == 3 ? squares_3_f32
                                       : squares_f32;
    else
        chosen = index->columns <= 8 ? by_columns[index->columns] : squares;
    chosen(index, s);
}

/* ---- Scan ------------------------------------------------------------------------------------ */

enum { LOOK_UP = 1024 }; /* rows between two looks at the context */

MG_INLINE void scan_rows(const mg_neighbors *index, mg_search *s, int64_t first, int64_t count,
                         bool single, mg_filter filter) {
    const int32_t *rows = index->tree ? index->tree->row : NULL;
    const int64_t columns = index->columns, size = single ? 4 : 8;
    const char *points = (const char *)index->points;
    double limit = mg_search_most(s->worst);
    for (int64_t i = first; i < first + count; i++) {
        if (s->context && i % LOOK_UP == 0 && mg_cancelled(s->context)) return;
        const int32_t row = rows ? rows[i] : (int32_t)i;
        if (row >= 0)
            rank(index, s, points + i * columns * size, single, columns, filter, row, &limit);
    }
}

static void search_scan(const mg_neighbors *index, mg_search *s, int64_t first, int64_t count) {
    mg_list_begin(s);
    if (index->metric.kind == MG_METRIC_EUCLID) {
        if (index->single)
            scan_rows(index, s, first, count, true, MG_FILTER_SQUARES);
        else
            scan_rows(index, s, first, count, false, MG_FILTER_SQUARES);
    } else if (index->single) {
        scan_rows(index, s, first, count, true, MG_FILTER_SUM);
    } else {
        scan_rows(index, s, first, count, false, MG_FILTER_SUM);
    }
    mg_list_finish(s);
}

#include "neighbors/search/packet_tmpl.h"
#include "neighbors/search/tile_tmpl.h"

static double search_distance(const mg_neighbors *index, int64_t slot, const double *q) {
    const void *point = mg_neighbors_point(index, slot);
    return index->single ? mg_metric_distance(&index->metric, point, true, q, index->columns)
                         : mg_metric_distance(&index->metric, point, false, q, index->columns);
}

/* ---- Range ----------------------------------------------------------------------------------- */

static double farthest(const void *x, bool single, int64_t count, int64_t columns, int64_t stride,
                       const double *centre) {
    vec most = vec_zero(), sum = vec_zero();
    double lane[LANES], found = 0;
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < columns; j += LANES) {
            const int64_t at = i * stride + j, n = MG_MIN(LANES, columns - j);
            const vec value = single ? vec_widen_part((const float *)x + at, n)
                                     : vec_load_part((const double *)x + at, n);
            const vec far = vec_absolute(vec_subtract(value, vec_load_part(centre + j, n)));
            most = vec_max(far, most);
            sum = vec_add(sum, far);
        }
    vec_store(lane, most);
    for (int l = 0; l < LANES; l++)
        found = lane[l] > found ? lane[l] : found;
    return isfinite(vec_sum(sum)) ? found : (double)INFINITY;
}

const mg_neighbors_ops TABLE = {
    .farthest = farthest,
    .distance = search_distance,
    .search = search_query,
    .search_together = search_together,
    .scan = search_scan,
    .tile = {.rows = TILE_ROWS,
             .columns = 2 * FLANES,
             .pack = tile_pack,
             .product = tile_product,
             .within = tile_within},
};
