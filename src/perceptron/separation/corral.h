/* Active set of the nearest-point problem (a "corral" in Wolfe's words): affinely independent
 * points with positive convex weights, and the factorisation that gives the minimiser over their
 * affine hull.
 *
 * Points are z in R^n, each in one of `groups` groups (1 or 2); the weights sum to 1 within each
 * group. Appending a coordinate `lift` per group makes affine independence linear, so one QR
 * factorisation of the lifted points carries everything (P. Wolfe, "Finding the nearest point in a
 * polytope", Math. Programming 11, 1976, with QR instead of his Cholesky factor of the Gram matrix,
 * so that the condition number is not squared). For wide data the orthogonal factor would be too
 * large; then R alone is kept and updated from inner products. */
#pragma once

#include "math/rows/row_ops.h"

enum { MG_CORRAL_GROUPS = 2 };

typedef struct mg_corral {
    const mg_vector_ops *ops;
    int64_t dimension, groups;
    int64_t length; /* dimension + groups: of a lifted point */
    double lift;
    int64_t size, capacity;
    int64_t *member; /* point numbers of the caller */
    int8_t *group;
    double *weight;  /* convex weights */
    double *r;       /* upper triangle by columns, leading dimension `capacity` */
    double *q;       /* orthonormal columns of `length` numbers; NULL: R only */
    double *scratch; /* length + 4 * capacity numbers */
} mg_corral;

/* Memory from `arena`. keep_q: QR (needs length * capacity numbers), otherwise R only. */
margin_status mg_corral_create(mg_arena *arena, mg_isa isa, int64_t dimension, int64_t groups,
                               double lift, int64_t capacity, bool keep_q, mg_corral *corral,
                               margin_error *error);
void mg_corral_clear(mg_corral *corral);

/* Appends a point with weight 0. `products` (R only): inner products of z with the members, then
 * |z|^2; z may be NULL then. False if it depends on the members in double precision, or the corral
 * is full: nothing changed. */
bool mg_corral_add(mg_corral *corral, int64_t member, int group, const double *z,
                   const double *products);

/* g := g - d, where d is the least vector whose products with the members are `residual` (size
 * numbers, overwritten) up to a constant per group: one step of iterative refinement of a normal
 * that should score all members of a group alike. With Q only. */
void mg_corral_correct(mg_corral *corral, double *residual, double *g);

/* Wolfe's minor cycle: moves to the affine minimiser, dropping points on the way until all weights
 * are positive. Returns how many points were dropped, -1 after a numerical failure. */
int64_t mg_corral_settle(mg_corral *corral);
