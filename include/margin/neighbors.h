/* margin/neighbors.h - exact nearest neighbours among the rows of a matrix, by themselves.
 *
 * An index holds a copy of the rows. The answer to a query is the first k rows in the order
 * (distance, row number), or all rows within a radius; every method gives the same rows and the
 * same bits of distance, whatever the number of threads and the processor. See docs/knn.md.
 *
 *   margin_neighbors *index;
 *   margin_matrix x = margin_dense_f64(points, rows, columns, columns);
 *   if (margin_neighbors_build(context, &x, NULL, &index, &error) < 0 ||
 *       margin_neighbors_nearest(context, index, &queries, 5, numbers, distances, &error) < 0)
 *       return complain(error.text);
 */
#ifndef MARGIN_NEIGHBORS_H
#define MARGIN_NEIGHBORS_H

#include "margin/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Immutable: any number of threads may use one at the same time. It may outlive its context. */
typedef struct margin_neighbors margin_neighbors;

typedef enum margin_neighbors_method {
    MARGIN_NEIGHBORS_AUTO = 0, /* by counting what probes of the tree would visit */
    MARGIN_NEIGHBORS_TREE = 1, /* kd-tree, at most 64 columns */
    MARGIN_NEIGHBORS_BRUTE = 2 /* every row */
} margin_neighbors_method;

/* Zero is the default everywhere. */
typedef struct margin_neighbors_options {
    size_t size;    /* sizeof(margin_neighbors_options) */
    double p;       /* Minkowski distance (sum |x_j - z_j|^p)^(1/p): p >= 1 or INFINITY; 0: 2 */
    int32_t method; /* margin_neighbors_method */
    int64_t k; /* neighbours that will be asked for, as far as the choice depends on it; 0: 5 */
} margin_neighbors_options;

/* Builds an index over x: dense, f32 or f64, at least one row, finite and of size at most 1e300.
 * ARGUMENT (shapes, p, sparse x: write the zeros out, queries alone may be CSR), DATA (a value with
 * its row, a tree of too many columns), LIMIT (more than 2^31 - 65 rows), MEMORY, CANCELLED. Cost
 * of a tree: about n log n; memory: the data and half as much again, while it is built twice that.
 */
MARGIN_API MARGIN_CHECKED margin_status margin_neighbors_build(
    margin_context *context, const margin_matrix *x, const margin_neighbors_options *options,
    margin_neighbors **index, margin_error *error);
MARGIN_API void margin_neighbors_free(margin_neighbors *index);

/* The training rows of a knn model as an index, without a copy: rows as they were given to the fit
 * (those of weight 0 are left out, and not counted in row numbers). Of a model with stages queries
 * have its columns and pass the stages, one after the other and on one thread; distances are those
 * behind them. It borrows from the model: once that is freed it may only be freed, too. MODEL:
 * another learner; MEMORY. */
MARGIN_API MARGIN_CHECKED margin_status margin_neighbors_of(const margin_model *model,
                                                            margin_neighbors **index,
                                                            margin_error *error);

/* The k nearest rows of each query, on the context's threads. `queries` has the index's columns,
 * dense or CSR, f32 or f64. rows, distances: queries.rows x k numbers each, either may be NULL. A
 * row that is its own query is found too. ARGUMENT (k < 1 or more than there are rows, columns),
 * DATA names a query that is not finite or beyond 1e300; then nothing is written. MEMORY,
 * CANCELLED: the outputs may be partly written. */
MARGIN_API MARGIN_CHECKED margin_status margin_neighbors_nearest(
    margin_context *context, const margin_neighbors *index, const margin_matrix *queries, int64_t k,
    int64_t *rows, double *distances, margin_error *error);

/* One query of `columns` numbers on the calling thread; allocates nothing. ARGUMENT also where rows
 * have passed stages: ask the function above. */
MARGIN_API MARGIN_CHECKED margin_status margin_neighbors_one(const margin_neighbors *index,
                                                             const double *query, int64_t k,
                                                             int64_t *rows, double *distances,
                                                             margin_error *error);

/* Rows within a radius (distance <= radius): those of query i are rows[starts[i]] up to
 * rows[starts[i + 1] - 1], in order. */
typedef struct margin_neighbors_lists {
    size_t size; /* sizeof(margin_neighbors_lists), set by the caller */
    int64_t queries;
    const int64_t *starts; /* queries + 1 */
    const int64_t *rows;
    const double *distances;
    void *inner; /* owns the arrays */
} margin_neighbors_lists;
/* ARGUMENT (radius below 0 or NaN), else as above; MEMORY and LIMIT if the lists are too long.
 * INFINITY: all rows in order of distance. */
MARGIN_API MARGIN_CHECKED margin_status margin_neighbors_within(
    margin_context *context, const margin_neighbors *index, const margin_matrix *queries,
    double radius, margin_neighbors_lists *lists, margin_error *error);
MARGIN_API void margin_neighbors_lists_free(margin_neighbors_lists *lists);

typedef struct margin_neighbors_info {
    size_t size; /* sizeof(margin_neighbors_info), set by the caller */
    int64_t rows, columns;
    double p;
    int32_t method;     /* margin_neighbors_method that is used */
    const char *reason; /* why, one sentence; lives as long as the index */
} margin_neighbors_info;
MARGIN_API void margin_neighbors_describe(const margin_neighbors *index,
                                          margin_neighbors_info *info);

/* ---- Files -------------------------------------------------------------------------------------
 * An index is saved as a model file (docs/format.md) of the kind "neighbors"; a saved knn model
 * can be loaded as an index too, but an index is no model: margin_model_load refuses it. Contents
 * are checked: a hostile file is refused with MODEL. CANCELLED, too. */
MARGIN_API MARGIN_CHECKED margin_status margin_neighbors_save(const margin_neighbors *index,
                                                              const char *path,
                                                              margin_error *error);
MARGIN_API MARGIN_CHECKED margin_status margin_neighbors_load(margin_context *context,
                                                              const char *path,
                                                              margin_neighbors **index,
                                                              margin_error *error);
/* The same without a copy: the numbers are used where they lie in the mapped file, which must not
 * be changed or cut off while the index lives. */
MARGIN_API MARGIN_CHECKED margin_status margin_neighbors_map(margin_context *context,
                                                             const char *path,
                                                             margin_neighbors **index,
                                                             margin_error *error);

/* In memory, the bytes of the file: how many, and into room of the caller's (ARGUMENT: too little).
 * Decoding makes a copy and checks as loading does. */
MARGIN_API MARGIN_CHECKED margin_status margin_neighbors_encoded_size(const margin_neighbors *index,
                                                                      int64_t *length,
                                                                      margin_error *error);
MARGIN_API MARGIN_CHECKED margin_status margin_neighbors_encode_into(const margin_neighbors *index,
                                                                     void *bytes, int64_t capacity,
                                                                     int64_t *length,
                                                                     margin_error *error);
MARGIN_API MARGIN_CHECKED margin_status margin_neighbors_decode(margin_context *context,
                                                                const void *bytes, int64_t length,
                                                                margin_neighbors **index,
                                                                margin_error *error);

/* ---- The textbook's tree -----------------------------------------------------------------------
 * A kd-tree as it is drawn on blackboards (Bentley 1975): one row at each node, columns in turn,
 * each cut at the median row (of an even number the upper one; equal values by row number). For
 * looking at, not for searching: margin_neighbors builds another one. */
typedef struct margin_textbook_node {
    int64_t column;              /* that it cuts: depth modulo columns */
    int64_t parent, left, right; /* row numbers, -1: none; left: before the row in that column */
    int64_t depth;               /* 0: root */
} margin_textbook_node;          /* fixed: never grows */
/* nodes: x.rows of them; nodes[i] is about row i. x is dense and finite. ARGUMENT, DATA, MEMORY,
 * LIMIT. */
MARGIN_API MARGIN_CHECKED margin_status margin_textbook_tree(margin_context *context,
                                                             const margin_matrix *x,
                                                             margin_textbook_node *nodes,
                                                             int64_t *root, margin_error *error);

#ifdef __cplusplus
}
#endif
#endif
