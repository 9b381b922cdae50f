/* The lower part of the tree: a few thousand points cut by exact medians of the widest column.
 *
 * Every leaf but the last is full, and every node has eight children as far as the count allows:
 * over more leaves than 8^h and at most 8^(h+1) a node's children hold 8^h leaves each. */
#include "neighbors/tree/tree_build.h"

#include <string.h>

/* Leaves of a full child of a node over `leaves` > 1. */
static int64_t child_leaves(int64_t leaves) {
    int64_t unit = 1;
    while (unit * MG_BRANCH < leaves)
        unit *= MG_BRANCH;
    return unit;
}

int64_t mg_nodes_of(int64_t leaves) {
    if (leaves <= 1) return 0;
    const int64_t unit = child_leaves(leaves), full = leaves / unit, rest = leaves % unit;
    return 1 + full * mg_nodes_of(unit) + mg_nodes_of(rest);
}

void mg_tree_set_lane(float *box, int32_t *child, int64_t columns, int64_t node, int lane,
                      const float *low, const float *high, int32_t to) {
    float *to_box = box + node * columns * 16 + lane;
    for (int64_t j = 0; j < columns; j++) {
        to_box[j * 16] = low[j];
        to_box[j * 16 + 8] = high[j];
    }
    child[node * MG_BRANCH + lane] = to;
}

void mg_tree_clear_node(float *box, int32_t *child, int64_t columns, int64_t node) {
    float low[MG_TREE_COLUMNS], high[MG_TREE_COLUMNS];
    for (int64_t j = 0; j < columns; j++) {
        low[j] = INFINITY;
        high[j] = -INFINITY;
    }
    for (int lane = 0; lane < MG_BRANCH; lane++)
        mg_tree_set_lane(box, child, columns, node, lane, low, high, 0);
}

typedef struct state {
    mg_bucket *b;
    int64_t leaves, nodes; /* made so far */
} state;

static int64_t row_of(const mg_bucket *b, int32_t number) {
    return b->source->index ? b->source->index[number] : number;
}

/* Copies the original coordinates of one point behind the leaf's filter values. */
static void copy_point(const mg_bucket *b, int64_t slot, int32_t number) {
    const int64_t size = mg_type_size(b->source->x->value_type);
    mg_rows_together(b->source->x, NULL, row_of(b, number), 1,
                     (char *)b->copies + slot * b->columns * size);
}

/* The points of a leaf lie anywhere: all are asked for before the first is read. */
static void fetch_points(const mg_bucket *b, int64_t first, int64_t last) {
    const margin_matrix *x = b->source->x;
    const int64_t size = mg_type_size(x->value_type);
    for (int64_t i = first; i < last && !mg_is_by_columns(x); i++) {
        const int64_t row = row_of(b, mg_build_row(b->points + b->order[i] * b->stride, b->stride));
        mg_fetch((const char *)x->values + row * x->stride * size, 0, b->columns * size);
    }
}

static int32_t make_leaf(state *s, int64_t first, int64_t last) {
    mg_bucket *b = s->b;
    const int64_t number = b->first_leaf + s->leaves++;
    float *leaf = b->leaf + number * b->columns * MG_LEAF;
    fetch_points(b, first, last);
    for (int64_t i = 0; i < MG_LEAF; i++) {
        const int64_t slot = number * MG_LEAF + i;
        const bool used = first + i < last;
        const float *point = b->points + (used ? b->order[first + i] : 0) * b->stride;
        for (int64_t j = 0; j < b->columns; j++)
            leaf[j * MG_LEAF + i] = used ? point[j] : INFINITY;
        b->row[slot] = used ? mg_build_row(point, b->stride) : -1;
        if (used) copy_point(b, slot, b->row[slot]);
    }
    return (int32_t)~number;
}

static int32_t make_part(state *s, int64_t first, int64_t last, const float *low,
                         const float *high);

/* Cuts [first, last) into children of `unit` leaves until there is one, and puts them into the
 * lanes of a node. */
static void make_lanes(state *s, int64_t node, int *lane, int64_t unit, int64_t first, int64_t last,
                       const float *low, const float *high) {
    mg_bucket *b = s->b;
    const int64_t size = unit * MG_LEAF, children = (last - first + size - 1) / size;
    if (mg_cancelled(b->context)) return;
    if (children == 1) {
        const int32_t to = make_part(s, first, last, low, high);
        mg_tree_set_lane(b->box, b->child, b->columns, node, (*lane)++, low, high, to);
        return;
    }
    const int64_t cut = first + (children + 1) / 2 * size;
    const int64_t column = mg_build_widest(low, high, b->columns);
    float part_low[MG_TREE_COLUMNS], part_high[MG_TREE_COLUMNS];
    for (int64_t i = first; i < last; i++)
        b->keys[i] = (uint64_t)mg_ordered_bits(b->points[b->order[i] * b->stride + column]) << 32 |
                     (uint32_t)b->order[i];
    mg_select_keys(b->keys + first, last - first, cut - first);
    for (int64_t i = first; i < last; i++)
        b->order[i] = (int32_t)(b->keys[i] & UINT32_MAX);
    const int64_t ends[3] = {first, cut, last};
    for (int half = 0; half < 2; half++) {
        mg_build_range(b->points, b->stride, b->columns, b->order + ends[half],
                       ends[half + 1] - ends[half], part_low, part_high);
        make_lanes(s, node, lane, unit, ends[half], ends[half + 1], part_low, part_high);
    }
}

static int32_t make_part(state *s, int64_t first, int64_t last, const float *low,
                         const float *high) {
    const int64_t leaves = mg_leaves_of(last - first);
    if (leaves <= 1) return make_leaf(s, first, last);
    const int64_t node = s->b->first_node + s->nodes++;
    int lane = 0;
    mg_tree_clear_node(s->b->box, s->b->child, s->b->columns, node);
    make_lanes(s, node, &lane, child_leaves(leaves), first, last, low, high);
    return (int32_t)node;
}

void mg_bucket_build(mg_bucket *b) {
    state s = {.b = b};
    for (int64_t i = 0; i < b->count; i++)
        b->order[i] = (int32_t)i;
    mg_build_range(b->points, b->stride, b->columns, NULL, b->count, b->low, b->high);
    b->root = make_part(&s, 0, b->count, b->low, b->high);
}
