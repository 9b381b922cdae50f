/* One search for the nearest point: the pool of rows, the active set, and the loop that ends at a
 * goal, where rounding ends progress, or at a limit. */
#pragma once

#include "perceptron/separation/corral.h"
#include "perceptron/separation/separation_points.h"

/* More columns than this: points stay in the user's matrix, uncentred, and the corral keeps no
 * orthogonal factor. */
enum { MG_SEARCH_DENSE_COLUMNS = 2000 };

typedef enum mg_search_goal {
    MG_SEARCH_DECIDE, /* any hyperplane, or coinciding means */
    MG_SEARCH_WIDEN   /* the widest hyperplane; there is one */
} mg_search_goal;

typedef struct mg_search {
    margin_context *context;
    mg_stop stop;
    margin_error *error;
    const mg_problem *problem;
    mg_points points;
    const mg_vector_ops *ops;
    mg_search_goal goal;
    int64_t groups, samples;
    mg_arena arena; /* of the corral and of everything below that is a pointer */
    mg_corral corral;
    /* pool: samples, and their points where `point` is not NULL (pool_capacity x dimension) */
    int64_t pool_count, pool_capacity;
    int64_t *pool;
    double *point;
    double *pool_score;
    bool *excluded;         /* pool rows that numerically depend on the corral at the present g */
    bool *in_pool;          /* per sample */
    double *g, *best_g;     /* dimension; best_g: the hyperplane with the greatest lower bound */
    mg_twin *sum;           /* dimension: g before rounding */
    double *scores;         /* per sample */
    double *raw, *products; /* scratch: dimension; corral capacity + 1 */
    double square, lower, best_lower, residual;
    double least; /* square so far */
    int64_t changes;
    double work, most_work; /* numbers read, and how many may be (a change of the active set goes on
                               to its end) */
} mg_search;

/* Fields up to `groups` are set by the caller. mg_search_free may follow a failed create. */
margin_status mg_search_create(mg_search *s);
void mg_search_free(mg_search *s);
/* OK: the goal, or as near as double precision carries: see square, residual, best_lower.
 * STOPPED_ITERATIONS: most_work; STOPPED_TIME, or a failure. */
margin_status mg_search_run(mg_search *s);
