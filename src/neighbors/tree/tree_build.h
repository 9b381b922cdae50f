/* The tree of an index, and the inside of its construction. */
#pragma once

#include "neighbors/search/neighbor_index.h"

/* Builds the tree of n points and adds its tensors to h, which has centre and scale. */
typedef struct mg_tree_source {
    const margin_matrix *x;
    const int64_t *index;
    int64_t rows, columns;
    const double *centre;
    double scale;
} mg_tree_source;
/* `exact`: every coordinate is what its f32 stands for. */
margin_status mg_tree_make(margin_context *context, const mg_tree_source *source, mg_hypothesis *h,
                           bool *exact, margin_error *error);

/* Points while building: `stride` floats each, columns coordinates and, last, the row's number. */
MG_INLINE int32_t mg_build_row(const float *point, int64_t stride) {
    int32_t row;
    __builtin_memcpy(&row, point + stride - 1, sizeof row);
    return row;
}

/* Bits that order as the numbers do. */
MG_INLINE uint32_t mg_ordered_bits(float value) {
    uint32_t bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    return bits ^ (bits >> 31 ? UINT32_MAX : UINT32_C(0x80000000));
}

/* The item of rank r of keys[0..count), all different, in place r; lower ones before it, greater
 * ones behind it. */
void mg_select_keys(uint64_t *keys, int64_t count, int64_t r);

/* Least and greatest of each column over points[order[0..count)] (order NULL: in turn). */
void mg_build_range(const float *points, int64_t stride, int64_t columns, const int32_t *order,
                    int64_t count, float *low, float *high);
/* The column of the greatest range. */
int64_t mg_build_widest(const float *low, const float *high, int64_t columns);

/* ---- A bucket, by exact medians (tree_buckets.c) ---- */

MG_INLINE int64_t mg_leaves_of(int64_t points) {
    return (points + MG_LEAF - 1) / MG_LEAF;
}
/* Nodes over that many leaves. */
int64_t mg_nodes_of(int64_t leaves);

/* Where a bucket goes: it writes leaves from first_leaf, nodes from first_node. */
typedef struct mg_bucket {
    const margin_context *context;
    const float *points; /* count of them */
    int64_t count, stride, columns;
    int64_t first_leaf, first_node;
    int32_t *order; /* count numbers of scratch */
    uint64_t *keys; /* as many */
    /* the tree */
    const mg_tree_source *source;
    void *copies; /* points in their own type */
    float *box, *leaf;
    int32_t *child, *row;
    /* result: what the bucket is called as a child */
    int32_t root;
    float low[MG_TREE_COLUMNS], high[MG_TREE_COLUMNS];
} mg_bucket;
/* Unfinished once the context is cancelled. */
void mg_bucket_build(mg_bucket *bucket);

/* Lane of a node. */
void mg_tree_set_lane(float *box, int32_t *child, int64_t columns, int64_t node, int lane,
                      const float *low, const float *high, int32_t to);
/* All lanes of a node without a child. */
void mg_tree_clear_node(float *box, int32_t *child, int64_t columns, int64_t node);
