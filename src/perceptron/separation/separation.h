/* Decides strict linear separability and proves the answer; finds the largest margin on the way.
 *
 * Widest:  the hyperplane that maximises min_i y_i (w.x_i + b) over |w| = 1   (margin_separable)
 * Unit:    the same over |(w, b)| = 1                                          (Novikoff's gamma)
 *
 * Both are distances between convex hulls: the closest points of the hulls of the two classes, or
 * the point of least norm in the hull of y_i (x_i, 1). If that distance is 0 its convex weights
 * prove that there is no hyperplane. */
#pragma once

#include "learn/learner.h"

typedef enum mg_separation_kind { MG_SEPARATE_WIDEST, MG_SEPARATE_UNIT } mg_separation_kind;

typedef enum mg_verdict { MG_UNDECIDED = -1, MG_NOT_SEPARABLE = 0, MG_SEPARABLE = 1 } mg_verdict;

typedef struct mg_separation {
    mg_heap *heap; /* a reference */
    mg_verdict verdict;
    /* separable (undecided: the best found, or with a limit of work perhaps none) */
    double *weights; /* x.columns numbers; norm 1 (unit: norm 1 together with the intercept) */
    double intercept;
    double margin;     /* least y (w.x + b) over all rows, evaluated in double-double arithmetic */
    double margin_gap; /* 1 - margin / (proven upper bound), in [0, 1] */
    /* the convex weights: proof if not separable, support vectors of the widest hyperplane
     * otherwise */
    int64_t count;
    int64_t *samples;     /* sample numbers of the problem */
    double *coefficients; /* sum 1 within each class */
    double residual;      /* largest |difference of the two weighted means| in any column over that
                             column's range */
    int64_t iterations;   /* changes of the active set */
    double work;          /* numbers read, or as many as take that time */
} mg_separation;

/* `problem` is of kind MG_TWO_CLASS with both signs present. most_work: numbers that may be read
 * (INFINITY: no limit). Returns OK (decided, and
 * margin_gap <= 1e-6 if separable), STOPPED_STALLED (double precision tells no more: undecided, or
 * separable and not known to be the widest), STOPPED_ITERATIONS (the same, for most_work),
 * STOPPED_TIME (the same for lack of time), or a failure. Cost: a few dozen passes over the data
 * plus O(n^2) per change of the active set of at most n + 2 rows. The result does not depend on the
 * number of threads. */
margin_status mg_separate(margin_context *context, const mg_problem *problem,
                          mg_separation_kind kind, double most_work, mg_separation *out,
                          margin_error *error);
void mg_separation_free(mg_separation *separation);
