#ifndef MARGIN_NEIGHBORS_H
#define MARGIN_NEIGHBORS_H
#include "margin/model.h"
#ifdef __cplusplus
extern "C" {
#endif
typedef struct margin_neighbors margin_neighbors;
typedef enum margin_neighbors_method {
    MARGIN_NEIGHBORS_AUTO = 0,
    MARGIN_NEIGHBORS_TREE = 1,
    MARGIN_NEIGHBORS_BRUTE = 2
} margin_neighbors_method;
typedef struct margin_neighbors_options {
    size_t size;
    double p;
    int32_t method;
    int64_t k;
} margin_neighbors_options;
MARGIN_API MARGIN_CHECKED margin_status margin_neighbors_build(
    margin_context *context, const margin_matrix *x, const margin_neighbors_options *options,
    margin_neighbors **index, margin_error *error);
MARGIN_API void margin_neighbors_free(margin_neighbors *index);
MARGIN_API MARGIN_CHECKED margin_status margin_neighbors_of(const margin_model *model,
                                                            margin_neighbors **index,
                                                            margin_error *error);
MARGIN_API MARGIN_CHECKED margin_status margin_neighbors_nearest(
    margin_context *context, const margin_neighbors *index, const margin_matrix *queries, int64_t k,
    int64_t *rows, double *distances, margin_error *error);
MARGIN_API MARGIN_CHECKED margin_status margin_neighbors_one(const margin_neighbors *index,
                                                             const double *query, int64_t k,
                                                             int64_t *rows, double *distances,
                                                             margin_error *error);
typedef struct margin_neighbors_lists {
    size_t size;
    int64_t queries;
    const int64_t *starts;
    const int64_t *rows;
    const double *distances;
    void *inner;
} margin_neighbors_lists;
MARGIN_API MARGIN_CHECKED margin_status margin_neighbors_within(
    margin_context *context, const margin_neighbors *index, const margin_matrix *queries,
    double radius, margin_neighbors_lists *lists, margin_error *error);
MARGIN_API void margin_neighbors_lists_free(margin_neighbors_lists *lists);
typedef struct margin_neighbors_info {
    size_t size;
    int64_t rows, columns;
    double p;
    int32_t method;
    const char *reason;
} margin_neighbors_info;
MARGIN_API void margin_neighbors_describe(const margin_neighbors *index,
                                          margin_neighbors_info *info);
MARGIN_API MARGIN_CHECKED margin_status margin_neighbors_save(const margin_neighbors *index,
                                                              const char *path,
                                                              margin_error *error);
MARGIN_API MARGIN_CHECKED margin_status margin_neighbors_load(margin_context *context,
                                                              const char *path,
                                                              margin_neighbors **index,
                                                              margin_error *error);
MARGIN_API MARGIN_CHECKED margin_status margin_neighbors_map(margin_context *context,
                                                             const char *path,
                                                             margin_neighbors **index,
                                                             margin_error *error);
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
typedef struct margin_textbook_node {
    int64_t column;
    int64_t parent, left, right;
    int64_t depth;
} margin_textbook_node;
MARGIN_API MARGIN_CHECKED margin_status margin_textbook_tree(margin_context *context,
                                                             const margin_matrix *x,
                                                             margin_textbook_node *nodes,
                                                             int64_t *root, margin_error *error);
#ifdef __cplusplus
}
#endif
#endif
