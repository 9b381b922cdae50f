/* Exact nearest neighbours: rows of a matrix, and the questions that can be asked of them.
 *
 * The answer to a query is the first k rows in the order (distance, row number), the distance being
 * that of metric.h. The tree and the scan only decide which rows need not be looked at; whatever
 * they do in f32 is bounded rigorously, so the method never changes a bit of an answer.
 *
 *   metric.h           the distance
 *   search*            one query: tree or scan, one table per instruction set
 *   batch.c, tiles.c   many queries: in an order that keeps caches warm, or by tiles of products
 *
 * neighbors/tree builds the tree; neighbors/learner makes, chooses and checks an index and votes.
 *
 * An index is a hypothesis of the kind "neighbors": its state is tensors, so it is saved, loaded
 * and checked as every model is. */
#pragma once

#include "learn/hypothesis/hypothesis.h"
#include "neighbors/search/metric.h"

enum {
    MG_LEAF = 16,             /* points of a leaf */
    MG_BRANCH = 8,            /* boxes of a node */
    MG_TREE_COLUMNS = 64,     /* no tree beyond */
    MG_TREE_DEPTH = 48,       /* nodes on a path */
    MG_NEIGHBORS_LIST = 1024, /* neighbours that fit on the stack */
    MG_PACKET = 8,            /* queries that are answered together, */
    MG_PACKET_COLUMNS = 8,    /* of few columns, */
    MG_PACKET_NEIGHBORS = 8   /* and for few neighbours */
};

/* Squares of scaled coordinates, and sums of them over all columns, are far within f32. */
#define MG_SCALED_MOST 0x1p31

/* The tree: nodes of eight tight boxes, leaves of sixteen points, both as structures of arrays in
 * f32: a coordinate x of column j is stored as (float)((x - centre[j]) scale), and boxes are those
 * of the stored values. */
typedef struct mg_tree {
    int64_t nodes, leaves;
    const float *box;     /* nodes x columns x 16: the 8 lower ends, the 8 upper ends */
    const int32_t *child; /* nodes x 8: a later node, or ~leaf; lanes without a child have a box
                             from inf to -inf */
    const int32_t *least; /* nodes x 8: the least row number below */
    const float *leaf;    /* leaves x columns x 16; +inf where there is no point */
    const int32_t *row;   /* leaves x 16: row numbers; -1 where there is no point */
    bool exact;           /* every stored value stands for its coordinate exactly */
} mg_tree;

/* The view of an index. */
typedef struct mg_neighbors {
    mg_isa isa;
    mg_metric metric;
    int64_t rows, columns;
    bool single;          /* points are f32 */
    const void *points;   /* rows x columns; with a tree in the order of its leaves, 16 to a leaf */
    const double *centre; /* columns: near the middle of the bulk of the data */
    double scale;         /* a power of two that brings |x - centre| below MG_SCALED_MOST */
    const mg_tree *tree;  /* NULL: none */
    mg_tree tree_store;
    /* For votes and means; NULL without. */
    const int32_t *code;  /* rows: class */
    const double *value;  /* rows: target */
    const double *weight; /* rows; NULL: all one */
    double value_scale;   /* a power of two, 1 but where sums of weight x value would overflow */
    double most_value;    /* the largest |value| */
    double k;             /* weight that takes part; INFINITY: all within the radius */
    double radius;        /* rows beyond take no part; INFINITY: no such limit */
    const double *prior;  /* scores of a query without neighbours, or NULL */
    bool nearest_stands;  /* without neighbours the nearest row answers */
    int64_t reach;        /* rows that are first looked at */
    bool by_distance;     /* votes weigh 1 / distance */
} mg_neighbors;

MG_INLINE const mg_neighbors *mg_neighbors_view(const mg_hypothesis *h) {
    return h->view.other;
}

/* ---- One query ------------------------------------------------------------------------------- */

typedef struct mg_neighbor {
    double distance;
    int32_t row;
    int32_t unused;
} mg_neighbor;

/* A query and what it has found. */
typedef struct mg_search {
    const double *q; /* columns finite numbers of size at most MG_NEIGHBORS_LARGEST */
    mg_neighbor *list;
    int64_t k;         /* > 0: that many nearest; 0: all within `radius`, the list may be NULL */
    double radius;     /* rows beyond are not wanted; INFINITY: no such limit */
    mg_neighbor after; /* only rows behind this one in the order; distance -1: all */
    const margin_context *context; /* a scan ends early once it is cancelled; NULL: never */
    /* results */
    int64_t count;  /* in the list, in order; within a radius in any order, list or not */
    int64_t visits; /* nodes and leaves */
    int64_t ranked; /* distances computed */
    /* of the search itself */
    double worst;      /* distance that a row must not exceed to matter */
    int32_t worst_row; /* and at that distance this row number */
} mg_search;

MG_INLINE mg_search mg_search_within(const double *q, int64_t k, double radius, mg_neighbor *list) {
    return (mg_search){.q = q, .list = list, .k = k, .radius = radius, .after = {-1, -1, 0}};
}
MG_INLINE mg_search mg_search_nearest(const double *q, int64_t k, mg_neighbor *list) {
    return mg_search_within(q, k, (double)INFINITY, list);
}

/* The nearest k (fewer, if there are fewer) by the tree if there is one, else by a scan. Allocates
 * nothing. */
void mg_neighbors_find(const mg_neighbors *index, mg_search *search);
/* The same by a scan of rows [first, first + count) alone; with a tree: of its slots. */
void mg_neighbors_scan(const mg_neighbors *index, mg_search *search, int64_t first, int64_t count);
/* Is it worth while to answer queries that are close to each other together? */
MG_INLINE bool mg_neighbors_packets_pay(const mg_neighbors *index, int64_t k) {
    return index->tree && index->tree->nodes > 0 && index->metric.kind == MG_METRIC_EUCLID &&
           index->columns <= MG_PACKET_COLUMNS && k <= MG_PACKET_NEIGHBORS;
}
/* Answers 1 to MG_PACKET searches for the same k, from the first row in the order. The answers are
 * those of mg_neighbors_find; the sooner, the closer the queries are. */
void mg_neighbors_find_together(const mg_neighbors *index, mg_search *searches, int count);
/* Sorts a list by (distance, row). Allocates nothing. */
void mg_neighbors_sort(mg_neighbor *list, int64_t count);
/* Rows or slots of the points. */
MG_INLINE int64_t mg_neighbors_slots(const mg_neighbors *index) {
    return index->tree ? index->tree->leaves * MG_LEAF : index->rows;
}
MG_INLINE const void *mg_neighbors_point(const mg_neighbors *index, int64_t slot) {
    const int64_t at = slot * index->columns;
    return index->single ? (const void *)((const float *)index->points + at)
                         : (const void *)((const double *)index->points + at);
}

/* Coordinate j of a row or slot, and what stands for it in f32 before it is rounded. */
MG_INLINE double mg_neighbors_coordinate(const mg_neighbors *index, int64_t slot, int64_t j) {
    const int64_t at = slot * index->columns + j;
    return index->single ? (double)((const float *)index->points)[at]
                         : ((const double *)index->points)[at];
}
MG_INLINE double mg_neighbors_scaled(const mg_neighbors *index, int64_t slot, int64_t j) {
    return (mg_neighbors_coordinate(index, slot, j) - index->centre[j]) * index->scale;
}

/* Is q a point that distances can be asked for? */
bool mg_neighbors_usable(const double *q, int64_t columns);

/* ---- Many queries ---------------------------------------------------------------------------- */

/* Called once for each query, from any thread: its nearest rows in order, in memory of the worker
 * that may be changed. count -1: the query was not usable. */
typedef void (*mg_neighbors_take)(void *argument, int64_t query, const double *q, mg_neighbor *list,
                                  int64_t count, int64_t room);

typedef struct mg_neighbors_batch {
    const mg_neighbors *index;
    const double *queries; /* count rows of columns numbers, `stride` apart */
    int64_t count, stride, k;
    double radius; /* rows beyond are not wanted; INFINITY: no such limit */
    mg_neighbors_take take;
    void *argument;
    /* Where `take` writes about query i: from written[.] + i * written_bytes; fetched ahead. NULL:
     * none. */
    const void *written[2];
    int64_t written_bytes;
} mg_neighbors_batch;

/* Answers all queries on the context's threads. MEMORY, LIMIT, CANCELLED. */
margin_status mg_neighbors_run(margin_context *context, const mg_neighbors_batch *batch,
                               margin_error *error);
/* By tiles (Euclidean, no tree): what mg_neighbors_run does where it pays. */
margin_status mg_neighbors_run_tiles(margin_context *context, const mg_neighbors_batch *batch,
                                     margin_error *error);
/* The same by given tiles. With `doubt`, bfloat16 gives way to f32 if it leaves too many rows to be
 * ranked for a sample of the queries. */
struct mg_tile_ops;
margin_status mg_neighbors_run_tiles_by(margin_context *context, const mg_neighbors_batch *batch,
                                        const struct mg_tile_ops *ops, bool doubt,
                                        margin_error *error);
bool mg_neighbors_tiles_pay(const mg_neighbors_batch *batch);

/* ---- Instruction sets ------------------------------------------------------------------------ */

/* Tiles: panels hold `rows` queries or `columns` points side by side, in f32 line by line (a line
 * is a column of the data), or in bfloat16 (`half`) in blocks of 32 lines: of queries 32 numbers
 * one behind the other, of points sixteen at a time in pairs of lines. */
typedef struct mg_tile_ops {
    int rows, columns;
    bool half;
    /* Points first ... first + columns - 1 as a panel, the last one again behind it, and the
     * squares of their lengths. NULL with `half`: in plain C. */
    void (*pack)(const mg_neighbors *index, int64_t first, void *panel, double *square);
    /* c (rows x columns, continued unless `start` is given: then it begins as start[columns]) plus
     * a'b over `depth` lines. With `threshold` (rows numbers, the last part): the bit of each row
     * that has a number at or below its threshold; c is stored only if there is one. */
    unsigned (*product)(int64_t depth, const void *a, const void *b, const float *start,
                        const float *threshold, float *c);
    /* A bit for each of `columns` values that is at or below the threshold. */
    uint32_t (*within)(const float *values, float threshold);
    void (*begin)(void), (*end)(void); /* around products on a thread; NULL: nothing to do */
} mg_tile_ops;

typedef struct mg_neighbors_ops {
    /* The most |x - centre| of `count` rows, which are `stride` numbers apart; not finite if one of
     * the numbers is not. */
    double (*farthest)(const void *x, bool single, int64_t count, int64_t columns, int64_t stride,
                       const double *centre);
    /* From q to the point in a slot. */
    double (*distance)(const mg_neighbors *index, int64_t slot, const double *q);
    void (*search)(const mg_neighbors *index, mg_search *search);
    void (*search_together)(const mg_neighbors *index, mg_search *searches, int count);
    void (*scan)(const mg_neighbors *index, mg_search *search, int64_t first, int64_t count);
    mg_tile_ops tile;
} mg_neighbors_ops;

const mg_neighbors_ops *mg_neighbors_ops_for(mg_isa isa);
MG_ISA_TABLES(mg_neighbors_ops, mg_neighbors_ops);
#if defined(__x86_64__)
/* product NULL: the compiler did not know them */
extern const mg_tile_ops mg_tile_ops_amx, mg_tile_ops_bf16;
#endif
