/* All folds and penalties of a search at once: fit_many of mg_learner for MG_DIFFER_FOLDS. `fits`
 * go fold by fold through the same penalties; options: one for each fit. MEMORY, CANCELLED; LIMIT
 * where one declines: these fits are to be made one by one. */
#pragma once

#include "linear/objective/linear_options.h"

MG_INLINE margin_status mg_folds_decline(margin_error *error, const char *why) {
    return mg_fail(error, MARGIN_ERROR_LIMIT, "the folds are not solved together: %s", why);
}

/* The samples of the whole that a fold does not learn from: so many of `tested`, which has room for
 * all. LIMIT: it learns from others, or in another order. */
margin_status mg_fold_tested(const mg_problem *whole, const mg_problem *train, int64_t *tested,
                             int64_t *count);

/* Two classes, no |w|_1, each row tested once. Each fit has its gap. */
margin_status mg_logistic_folds(mg_fit *fits, int64_t count, const mg_linear_options *options);

/* Each has its duality gap, with the rounding of the sums in it; declines where a gap cannot be had
 * from sums. */
margin_status mg_lasso_folds(mg_fit *fits, int64_t count, const mg_linear_options *options);

/* Gaps are NaN: nothing is proven of sums. DATA (overflow). Where each fold leaves out one row:
 * scores of these in place of hypotheses. */
margin_status mg_ridge_folds(mg_fit *fits, int64_t count, const mg_linear_options *options);

/* Products of columns without each fold of a search in turn: sums over rows, so those of the rows
 * outside of a fold are the sum over all folds less its own. With rows d = x - c for one centre c,
 * weights g and training rows T of total weight W and sums s = sum_T g d,
 *
 *   A'CA = D (sum_T g d d' - s s'/W) D       D: the scale of each column in this fold
 *
 * which loses few digits, as the means of the folds lie close together; `length` says how many. */

typedef struct mg_fold_products {
    mg_fit *fits; /* fold by fold, `count` each of the same problem */
    int64_t folds, count, columns, size;
    const mg_problem *whole;
    double *grams; /* folds + 1: the last one is the sum */
    double *centre, *target;
    double level; /* that targets are taken from */
    mg_arena *arena;
} mg_fold_products;

/* Instead of all folds: the products of all rows, in p->grams. Fills in rows, weights and targets
 * of all samples. */
margin_status mg_fold_products_whole(mg_fold_products *p, mg_fit *fits, int64_t count,
                                     mg_arena *arena, int64_t *rows, double *weights,
                                     double *targets);

/* The least squares of one fold, columns and target centred, in the learner's units. A number of
 * matrix or slope is a sum whose terms are together at most 3 length_j length_k in size. */
typedef struct mg_fold_system {
    double *matrix;        /* columns x columns, both triangles */
    double *slope;         /* columns: products with the target */
    double *mean, *length; /* columns; length of the target: length[columns] */
    double square, level;  /* of the target: sum of squares, mean */
    int64_t constant;      /* columns that are */
} mg_fold_system;

/* Eigenvectors of the matrix, by rows in its place, and eigenvalues, none below 0; turned: the
 * slope in them. LIMIT: they were not found. */
margin_status mg_fold_turn(const mg_fold_products *p, double *matrix, const double *slope,
                           double *values, double *turned, margin_error *error);
/* The intercept that goes with w in a fold. */
double mg_fold_intercept(const mg_fold_system *s, const double *w, int64_t columns);

/* solve(p, f, system, room, options) on every fold, side by side; room: `room` numbers a column. Of
 * `count` fits to the folds of fits[0].shared->whole, which all have an intercept; their rows are
 * read once. MEMORY, CANCELLED; LIMIT: not these, as a column is constant in one fold only, or
 * nearly so: they are to be made one by one. */
typedef margin_status mg_fold_solve(const mg_fold_products *p, int64_t f, mg_fold_system *s,
                                    double *room, const mg_linear_options *options);
margin_status mg_fold_products_solve(mg_fit *fits, int64_t count, int64_t room,
                                     mg_fold_solve *solve, const mg_linear_options *options);
