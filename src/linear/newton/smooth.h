/* What the solvers for smooth objectives (lbfgs, newton) share: a point that moves along directions
 * until a proof says that it is good enough. One function or several: blocks of numbers that belong
 * to a function, one behind the other.
 *
 * Coordinates: the weights of columns e_j = (a_j - centre_j) factor_j of mean 0 and deviation 1,
 * and the intercept that goes with them: w_j = factor_j u_j, b = u_p - sum_j centre_j w_j. So the
 * units and offsets of the columns do not change the steps, while objective, penalty and proof are
 * those of A's units. Vectors over coordinates have `size` = functions x block numbers, block =
 * columns + 1, the last one of a block for the intercept (always 0 without one). A constant column
 * has factor 0: it stays out. */
#pragma once

#include "linear/objective/row_space.h"
#include "linear/proof/goal.h"
#include "linear/proof/newton_matrix.h"
#include "math/rows/lbfgs_pairs.h"

typedef struct mg_smooth_point {
    double *w, *b;      /* functions x columns, functions right behind; A's units */
    double *scores;     /* one function, samples; several: NULL */
    double *gradient;   /* size */
    double *raw, *sums; /* functions x columns, functions: the same in A's units */
    double value;       /* P */
    double slack; /* the gap that the slopes as dual variables prove, up to second order in the
                     intercept's gradient; no penalty: INFINITY */
    int64_t errors;
} mg_smooth_point;

/* The start matrix H0 of the steps, near the Hessian. */
typedef enum mg_smooth_base {
    MG_BASE_DIAGONAL,
    MG_BASE_SHARED, /* one factor for all functions, scaled: right where all samples have the same
                       shares */
    MG_BASE_BLOCKS, /* a factor for each function */
    MG_BASE_WHOLE   /* several functions: one factor of all, with what they have to do with each
                       other */
} mg_smooth_base;

/* Some samples and their weights. */
typedef struct mg_row_sample {
    int64_t count, capacity;
    int64_t *rows; /* ascending */
    double *weights;
} mg_row_sample;

/* Some samples as an objective of their own, with weights that make them about as much as all. */
typedef struct mg_smooth_part {
    mg_arena arena;
    mg_row_sample sample; /* its count 0: there is none */
    mg_problem problem;   /* dense: a copy of the rows */
    mg_design design;
    mg_objective objective;
} mg_smooth_part;

typedef struct mg_smooth {
    MG_SOLVER_STATE;
    mg_arena arena;
    int64_t block, size;
    mg_smooth_part part;
    double pass;                 /* seconds of the first one */
    double *centre, *factor;     /* columns */
    mg_smooth_point here, there; /* where it is; where it was before the last step */
    double *direction;           /* size */
    double *move, *move_b;       /* the same in A's units: functions x columns, functions */
    double slope, slope_there;   /* of P along the direction, before the step and at its end */
    double step;                 /* how far along it the last step went */
    bool was_cut;                /* some step so far */
    bool cut;                    /* step was much below 1 */
    bool single;                 /* several functions: passes in f32 */
    bool exact;                  /* directions are Newton's */
    bool turned;                 /* it went to the optimum of the rows, or tried */
    mg_lbfgs_pairs pairs;
    /* proof and progress */
    mg_goal goal;
    double best_slack, best_promise; /* least slack, least decrease promised by a step */
    mg_endless endless;              /* its column, if that is one */
    int64_t idle_steps;              /* since these, or the value, last fell by what counts */
    /* H0 (smooth_base.c) */
    mg_smooth_base base;
    double *matrices; /* block x block: one factor, or one for each function */
    int64_t matrix_count;
    mg_newton_matrix newton;       /* of MG_BASE_WHOLE */
    double *diagonals;             /* size: H0, or the diagonals of what was factored */
    double *function_scale;        /* functions; of H0^-1 where one factor is for all */
    double scale;                  /* of H0^-1 */
    int64_t builds, since, rented; /* factors so far; steps and passes since the last one */
    double *shares;                /* samples x functions; NULL: not needed so far */
    double *lengths; /* samples: |e_i|^2, or NULL: not needed so far (smooth_sample.c) */
    /* when to make it anew, one function (solver_lbfgs.c) */
    int level;           /* of the factor; -1: none */
    double last, before; /* what the last two steps promised: -slope */
    double promise;      /* what the next one does; INFINITY: not known */
    double *spare;       /* of conjugate gradients; NULL: not needed so far */
} mg_smooth;

/* Takes memory (s->arena), finds the coordinates, or takes those of the whole that the rows are
 * some of, and goes to the start. Also on failure, call mg_smooth_free. */
margin_status mg_smooth_begin(mg_linear_job *job, mg_linear_solution *solution,
                              const mg_smooth *whole, mg_smooth *s);
void mg_smooth_free(mg_smooth *s);
/* Of samples that are many: takes some as s->part and moves the point `here`, which is not
 * evaluated yet, to where steps on them get (smooth_part.c). */
margin_status mg_smooth_start(mg_smooth *s);
/* Goes to the optimum in the space of the rows, once, if `rent`, in passes over all rows, pays for
 * it. */
margin_status mg_smooth_turn(mg_smooth *s, double rent, bool *went);
/* About `rows` samples, drawn in proportion to their weights; `round`: of the random numbers. */
margin_status mg_smooth_take_part(mg_smooth *s, int64_t rows, int64_t round, mg_smooth_part *part);
void mg_smooth_part_free(mg_smooth_part *part);
/* A few steps, without proofs, until one promises less than `enough` of the value
 * (solver_lbfgs.c). */
margin_status mg_smooth_descend(mg_smooth *s, double enough);
/* Whether MG_BASE_WHOLE is worth its price where steps begin near an optimum (solver_lbfgs.c). */
bool mg_smooth_can_whole(const mg_smooth *s);
/* The least samples that a factor is made from (solver_lbfgs.c). */
int64_t mg_smooth_least_rows(const mg_smooth *s);
/* Value, gradient and slack of a point: one pass. */
margin_status mg_smooth_evaluate(mg_smooth *s, mg_smooth_point *point);

/* One step along s->direction. Where scores are kept one pass over the data if the full step fits
 * and two if not: the best length is then found from the scores of both points. *moved false: the
 * direction does not lead down by more than rounding, and s->here is as it was. */
margin_status mg_smooth_step(mg_smooth *s, bool *moved);

/* No penalty, and no sample on the wrong side: there is no optimum. */
MG_INLINE bool mg_smooth_is_separated(const mg_smooth *s) {
    return mg_is_endless(s->objective) && s->here.errors == 0;
}

/* ---- H0 (smooth_base.c) -----------------------------------------------------------------------
 * Of one function H = sum_i c_i loss''(t_i) (e_i, 1)(e_i, 1)' + rho diag(factor^2, 0), at `here`.
 * Of several for each function k the same with c_i 2 q_ik (1 - q_ik): these blocks together bound
 * the Hessian from above, as x'(diag(q) - q q')x = sum_{k<l} q_k q_l (x_k - x_l)^2 <=
 * sum_k 2 q_k (1 - q_k) x_k^2, and they follow the shares q, as the constant bound 1/2 (Boehning,
 * Ann. Inst. Statist. Math. 44, 1992) does not. Their Hessian as a whole is Newton's matrix. */

/* One function: the curvatures c_i loss''(t_i) of the samples (NULL: not wanted) and their sum,
 * which is about the size of H's diagonal. */
margin_status mg_smooth_curvatures(mg_smooth *s, double *curvatures, double *total);
margin_status mg_smooth_diagonal(mg_smooth *s);
/* The same from that sum; several functions: from the sum of c. */
void mg_smooth_set_diagonal(mg_smooth *s, double total);
/* Whether there is room for so many factors. */
bool mg_smooth_can_factor(const mg_smooth *s, int64_t factors);
/* Cost of a factor from that many samples, in passes over the data: a constant of the shape. */
double mg_smooth_price(const mg_smooth *s, mg_smooth_base base, int64_t rows, bool single);
/* Cholesky factors from about `rows` samples, drawn in proportion to their curvatures (all samples
 * in double precision: exact). Where H is singular a multiple of its diagonal is added, no more
 * than it takes. Forgets what belonged to the H0 of before. */
margin_status mg_smooth_factor(mg_smooth *s, mg_smooth_base base, int64_t rows, bool single);
/* The same of one function from its part, at hand. */
margin_status mg_smooth_factor_part(mg_smooth *s);
/* x = H0^-1 x; of several functions without what they have in common, which changes no loss. */
margin_status mg_smooth_solve(const mg_smooth *s, double *x);
/* About `rows` samples, with weights in place of these curvatures, whose Gram is that of all in the
 * mean; `round`: of the random numbers. */
margin_status mg_smooth_sample(mg_smooth *s, const double *curvatures, int64_t rows, int64_t round,
                               mg_arena *arena, mg_row_sample *sample);
