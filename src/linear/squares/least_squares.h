/* Least squares and ridge, solved directly.
 *
 *   minimise  sum_i c_i (a_i.w + b - y_i)^2 + alpha |w|^2         b free (or absent: 0)
 *
 * with c_i the weight of sample i divided by the mean weight. Everything is computed with centred
 * columns and a centred target (that is what a free intercept amounts to), and every solution is
 * corrected against residuals that come from the data, unless products of columns prove it
 * (normal).
 *
 *   normal   Cholesky of A'A + alpha I, with pivoting where columns depend on each other; where
 *            that is reliable
 *   qr       orthogonal factors of blocks of rows, with pivoting: the accuracy of the data
 *   rows     Cholesky of A A' + alpha I: more columns than rows
 *   cg       conjugate gradients, to the tolerance: where a factor would cost more
 *
 * Without a penalty and with dependent columns the answer is the one of least |w|, in the units in
 * which the learner sees the columns; that of cg is one of many where more than categories depend
 * and no rows own a column. */
#pragma once

#include "learn/exact/owned_rows.h"
#include "linear/objective/linear_options.h"
#include "math/products/null_space.h"

/* What a pass over the data found at (w, b). */
typedef struct mg_squares_point {
    double value;     /* sum c r^2, r = y - f */
    double excess;    /* sum c r; 0 without intercept */
    double objective; /* P in the spelling of the penalty */
    double gap;       /* relative: find_gap of least_squares_pass.c */
} mg_squares_point;

typedef struct mg_squares mg_squares;

/* Estimates in seconds of one core, from sizes alone; see mg_squares_price. */
typedef struct mg_squares_cost {
    double step, factor; /* of conjugate gradients; of the direct way */
    double most;         /* steps that are worth a try before the direct way, */
    double trial;        /* or where `most` is 0, if the first ones go well */
    bool fits;           /* the direct way is possible */
} mg_squares_cost;

/* An approximate solution of (A'CA + alpha I) step = gradient with centred A, and s->distance. */
typedef margin_status (*mg_squares_correct)(mg_squares *s, void *argument, double *step);

struct mg_squares {
    mg_fit *fit;
    margin_context *context;
    margin_error *error;
    const mg_problem *problem;
    mg_arena arena; /* everything below that is a pointer */
    mg_design design;
    mg_stop stop;
    mg_penalty penalty;
    double alpha; /* of the problem above */
    double tolerance;
    bool intercept;
    int64_t samples, columns;
    double *c;     /* samples */
    double unit;   /* weight of a sample / c */
    double total;  /* sum c */
    double centre; /* weighted mean of the target; 0 without intercept */
    double spread; /* mg_squares_spread */
    double *mean;  /* columns: weighted means of A; 0 without intercept */
    double *norm;  /* columns: sqrt(sum c (a - mean)^2); 0: a constant, which gets weight 0 */
    double *w, b;
    double floor;     /* no objective is below */
    double *gradient; /* columns: sum c r (a - mean) - alpha w, of the last pass */
    double *step;     /* columns */
    double distance;  /* gradient' H^-1 gradient */
    double *slopes;   /* samples: -2 c r of the last pass; NULL: not wanted */
    mg_squares_point now;
    double hidden; /* what rounding of products may hide of gradient_j / norm_j; 0 after a pass */
    int64_t refinements;
    double l1_limit;        /* mg_squares_l1: the least kappa with w = 0 */
    double condition;       /* of the scaled matrix, estimated */
    int64_t rank;           /* -1: full */
    bool is_partial;        /* the factor may have left out what the columns do span */
    bool is_undecided;      /* and whether it has is not known */
    char method[64];        /* for the report */
    char columns_text[200]; /* the dependent columns, by name */
    bool out_of_time; /* what was being computed is worth nothing, or not as good as it could be */
    bool judged;      /* now and gradient belong to w and b */
    double *kept;     /* columns: a copy of the weights */
    double *dual;     /* samples: coefficients of the rows where those are solved for; NULL */
    /* The factor that solved this target and solves others; NULL: none. */
    mg_squares_correct correct;
    void *factor;
    bool may_doubt; /* what it does not solve to the tolerance is left to QR */
    margin_status (*solve_again)(mg_squares *s, void *factor); /* in place of `correct`, or NULL */
    int64_t steps;                                             /* of conjugate gradients */
    bool only;                                                 /* they are all there is */
    bool is_free;      /* they are to leave nothing of the target */
    bool is_unbounded; /* or are all there is to be had for many sparse columns, without a bound */
    bool is_dear;      /* a factor takes so long that it is not compared with them */
    mg_owned_rows *owned;  /* NULL: nobody has looked */
    int64_t owners;        /* rows that their own columns have fitted */
    double enough;         /* gap that is good enough: the tolerance, or that of a small target */
    double least;          /* bound of the least eigenvalue of A'CA over norms; 0: none */
    bool is_drawn;         /* but for a random draw */
    int64_t most_steps;    /* that were allowed; < 0: any number */
    mg_squares_cost price; /* by which they were chosen, or not */
};

/* least_squares_pass.c */
/* For the problem of a fit, with an empty arena; penalty and tolerance are 0. */
mg_squares mg_squares_of(mg_fit *fit, bool intercept);
margin_status mg_squares_begin(mg_squares *s);
void mg_squares_end(mg_squares *s);
/* Exact means and norms of the columns, one pass. */
margin_status mg_squares_moments(mg_squares *s);
/* The sentence for a value that is not finite, where nobody has looked yet; reads the rows. */
margin_status mg_squares_check_values(const mg_problem *problem, margin_context *context,
                                      margin_error *error);
/* DATA if squares of a column overflow, or nearly. */
margin_status mg_squares_check_norms(mg_squares *s);
/* What a routine of LAPACK or mg_stop_check returned: a failure, or MARGIN_OK, with out_of_time set
 * where the time limit ended it. */
margin_status mg_squares_in_time(mg_squares *s, margin_status status);
/* The pass at (w, b): leaves `now` and `gradient`. */
margin_status mg_squares_pass(mg_squares *s);
/* What the pass makes of `gradient` = sum c r a, `total` = sum c r and now.value. */
void mg_squares_judge(mg_squares *s, double total);
/* The same from products: `gradient` = sum c r (a - mean), each as far off as `hidden` norm_j at
 * most; excess: sum c r, to which rounding of the mean and of b is added. */
void mg_squares_judge_products(mg_squares *s, double value, double excess, double hidden);
/* DBL_EPSILON times this is what rounding may have made of a residual, in the length of all, and
 * times *ratio of a column, beside its norm. */
double mg_squares_rounding(const mg_squares *s, double *ratio);
/* The gap from distance = gradient' H^-1 gradient, or more than that. */
void mg_squares_judge_by(mg_squares *s, double distance);
/* The start: w = 0, b = centre. */
void mg_squares_start(mg_squares *s);
/* gradient' step */
double mg_squares_along(const mg_squares *s, const double *step);
/* max |step_j| |a_j| / max |w_j| |a_j|: up to MG_SQUARES_ENOUGH it is rounding. */
#define MG_SQUARES_ENOUGH 1e-12
double mg_squares_size(const mg_squares *s, const double *step);
/* w += step, and b with it */
void mg_squares_move(mg_squares *s, const double *step);
/* The start, judged: what there is where the time limit came before any solution. */
margin_status mg_squares_constant(mg_squares *s);
/* Corrects w and b against the data until that changes nothing. Leaves `now` and `refinements`. */
margin_status mg_squares_refine(mg_squares *s, mg_squares_correct correct, void *argument);
/* Solves for another target, that of `fit`, with the factor that is there. */
margin_status mg_squares_again(mg_squares *s, mg_fit *fit);
/* columns_text: "x1, x2, x7 and 3 more" */
void mg_squares_name_columns(mg_squares *s, const bool *takes_part);
/* least_squares_factor.c: a factor of the equilibrated A'CA + alpha I of columns that vary. Where
 * they depend on each other its first `rank` places have columns that do not, and the others are
 * sums of those. */
typedef struct mg_squares_factor {
    int64_t count;   /* columns that are not constant */
    int64_t *column; /* their numbers, in the factor's order */
    double *scale;   /* of the same: w_j = scale_j v_j, |column| about 1 in v's units */
    /* count x count, of ld each: the Cholesky factor of `rank` places; below it the sums */
    double *matrix;
    int64_t ld, rank;
    mg_null_space null;
    double *work;    /* 2 count */
    double *product; /* columns */
    double *away;    /* columns: room to correct the projection by the data; NULL: it needs none */
} mg_squares_factor;
/* Lists the columns with norm > 0, and takes memory for scale and work; there is no matrix yet. */
margin_status mg_squares_factor_new(mg_squares *s, mg_squares_factor *f);
/* Gives it a matrix of its own, with ld = count and what was below the diagonal. */
margin_status mg_squares_factor_apart(mg_squares *s, mg_squares_factor *f);
/* Columns and scale in LAPACK's order. */
margin_status mg_squares_factor_pivoted(mg_squares *s, mg_squares_factor *f, const int *pivots);
/* After matrix, order and rank are there: the sums, the projection on the least |w|, the names of
 * the dependent columns; is_partial: the sums may not be exact. Only for alpha = 0. */
margin_status mg_squares_factor_null(mg_squares *s, mg_squares_factor *f);
margin_status mg_squares_factor_correct(mg_squares *s, void *factor, double *step);
/* s->step from the right side x: the first `rank` numbers of Q'y. */
margin_status mg_squares_factor_start(mg_squares *s, const mg_squares_factor *f, double *x);
/* *empty: the data has nothing, to double precision, in directions that the factor leaves out. Of
 * random ones, made accurate by the data; a factor of products hides what is there. Uses step and
 * gradient. */
margin_status mg_squares_factor_check(mg_squares *s, const mg_squares_factor *f, bool *empty);
/* Cholesky of n x n numbers whose 1-norm is `norm`; sets s->condition. *done: it is reliable. work:
 * 2 n. */
margin_status mg_squares_try_cholesky(mg_squares *s, double *matrix, int64_t n, int64_t ld,
                                      double norm, double *work, bool *done);
/* The least of such an estimate of 1 / condition. A pivot is never below the true one. */
double mg_squares_least_reciprocal(int64_t n);
/* The same of what is a factor already. */
margin_status mg_squares_judge_cholesky(mg_squares *s, const double *matrix, int64_t n, int64_t ld,
                                        double norm, double *work, bool *done);
/* How long a combination of columns of norm 1 may be and still be nothing but rounding. */
double mg_squares_blur(const mg_squares *s, const mg_squares_factor *f);
/* The rank of the data less the intercept, found without rounding; out of time: that of the
 * columns.
 */
margin_status mg_squares_exact_rank(mg_squares *s, int64_t *rank);

/* What one pass says of the columns. */
typedef struct mg_squares_products {
    /* size x size, of columns (a - start) * factor, y' = (y - centre) / spread, 1, of which the
     * means have then been taken off; columns beside themselves in `diagonal`, too, as there and
     * below there may be a factor. */
    double *gram, *diagonal;
    int64_t size;
    double *start, *factor; /* columns */
} mg_squares_products;
/* In s->arena; sets s->mean and s->norm. *doubtful: a column is no constant, but rounding hides its
 * spread. */
margin_status mg_squares_make_products(mg_squares *s, mg_squares_products *p, bool *doubtful);
/* What a pass at w and b would find, and in s->hidden what rounding hides of the gradient: of the
 * sums, thrice where the means of a sample are mended, and of columns that lie far from 0. Does
 * nothing, with s->hidden 0, where there is no bound, or little is left of what is summed up. Uses
 * step. */
void mg_squares_look_at_products(mg_squares *s, const mg_squares_products *p);

/* With |w|_1 in the penalty, of columns few beside the rows: w and b from their products alone.
 * *done: with a gap that is small enough, rounding included. */
margin_status mg_squares_l1(mg_squares *s, bool *done);

/* The three ways. *doubtful: the columns are so close to depending on each other that their
 * products cannot tell (the solution is then not made), or the result is not good enough; with
 * `only` just where there is no factor. */
margin_status mg_squares_normal(mg_squares *s, bool only, bool *doubtful);
margin_status mg_squares_qr(mg_squares *s);
/* After moments and factor_new: the upper triangle R, count x count by rows, with R'R = A'CA for
 * the centred columns divided by their norms; penalty and target play no part. */
margin_status mg_squares_triangle(mg_squares *s, const mg_squares_factor *f, double *r);
margin_status mg_squares_rows(mg_squares *s);
/* At most so many steps a target. *doubtful: they do not reach the tolerance. */
margin_status mg_squares_conjugate(mg_squares *s, int64_t most, bool *doubtful);
/* s->owned, but for owners; the floor: what equal rows differ by (of another target: again). */
margin_status mg_squares_find_equal(mg_squares *s);
void mg_squares_find_floor(mg_squares *s, bool again);
/* Rows that own a column (is_free, or what depends on each other): whether the others are worth a
 * problem of their own; the answer by them. After moments. */
margin_status mg_squares_find_owners(mg_squares *s, bool *worth);
margin_status mg_squares_owned(mg_squares *s, bool *done);

/* ---- Ridge under many penalties at once ---- */

/* `fits` are of one problem and differ in options[].penalty; see fit_many of mg_learner and
 * MG_DIFFER_OPTIONS. LIMIT, MEMORY, CANCELLED, DATA (overflow). */
margin_status mg_ridge_path(mg_fit *fits, int64_t count, const mg_linear_options *options);
