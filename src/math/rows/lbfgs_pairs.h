/* What quasi-Newton methods remember: the last steps and the changes of the gradient along them,
 * and the two-loop recursion over them (Nocedal, "Updating quasi-Newton matrices with limited
 * storage", Math. Comp. 35, 1980). */
#pragma once

#include "math/rows/row_ops.h"

enum { MG_LBFGS_MOST_PAIRS = 24 };

typedef struct mg_lbfgs_pairs {
    margin_context *context;
    const mg_vector_ops *vectors;
    int64_t size;
    int room, count, oldest;
    double *steps, *changes;             /* room x size; owned by the caller */
    double product[MG_LBFGS_MOST_PAIRS]; /* step . change > 0 */
    double share[MG_LBFGS_MOST_PAIRS];   /* between the two loops */
} mg_lbfgs_pairs;

/* memory: 2 room size numbers. room <= MG_LBFGS_MOST_PAIRS */
mg_lbfgs_pairs mg_lbfgs_pairs_make(margin_context *context, mg_isa isa, int64_t size, int room,
                                   double *memory);
void mg_lbfgs_pairs_clear(mg_lbfgs_pairs *pairs);

/* The places of the next pair, for the caller to fill. */
void mg_lbfgs_pairs_next(mg_lbfgs_pairs *pairs, double **step, double **change);
/* Takes it, if the curvature along the step is positive; false: it is not. */
bool mg_lbfgs_pairs_keep(mg_lbfgs_pairs *pairs);
/* The latest pair; NULL: there is none. */
const double *mg_lbfgs_pairs_change(const mg_lbfgs_pairs *pairs, double *product);

/* d = B g for a given d = g: the first loop, then the caller's d = H0^-1 d, then the second. */
void mg_lbfgs_pairs_before(mg_lbfgs_pairs *pairs, double *d);
void mg_lbfgs_pairs_after(mg_lbfgs_pairs *pairs, double *d);

/* Inner product; long ones in parallel, by pieces whose sums are added in order. */
double mg_lbfgs_dot(const mg_lbfgs_pairs *pairs, const double *a, const double *b);
