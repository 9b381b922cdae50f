/* What the solvers for smooth objectives (lbfgs, newton) share: a point that moves along directions
 * until a proof says that it is good enough.
 *
 * Coordinates: the weights of columns e_j = (a_j - centre_j) factor_j of mean 0 and deviation 1,
 * and the intercept that goes with them: w_j = factor_j u_j, b = u_p - sum_j centre_j w_j. So the
 * units and offsets of the columns do not change the steps, while objective, penalty and proof are
 * those of A's units. Vectors over coordinates have `size` = columns + 1 numbers, the last one of
 * the intercept (always 0 without one). A constant column has factor 0: it stays out. */
#ifndef MG_SMOOTH_H
#define MG_SMOOTH_H

#include "linear/design/row_sample.h"
#include "linear/objective/solver.h"

typedef struct mg_smooth_point {
    double *w; /* columns, A's units */
    double b;
    double *scores;   /* samples */
    double *gradient; /* size */
    double value;     /* P */
    double slack;     /* the gap that the slopes as dual variables prove, up to second order in the
                         intercept's gradient; no penalty: INFINITY */
    int64_t errors;
} mg_smooth_point;

typedef struct mg_smooth {
    mg_linear_job *job;
    mg_linear_solution *solution;
    const mg_objective *objective;
    mg_design *design;
    const mg_vector_ops *vectors;
    mg_arena arena;
    int64_t columns, size, samples;
    double *centre, *factor;     /* columns */
    mg_smooth_point here, there; /* where it is; where it was before the last step */
    double constant_value;       /* P with w = 0 and the best intercept */
    double *direction;           /* size: set by the solver */
    double *move, move_b;        /* columns: the same in A's units */
    double slope;                /* derivative of P along the direction, before the step */
    double step;                 /* how far along it the last step went */
    bool was_cut;                /* some step so far */
    bool cut, stretched;         /* step was much below 1, or above */
    /* proof and progress */
    double strictness;  /* share of the tolerance that `slack` must reach before a proof */
    double best_slack;  /* least so far */
    int64_t idle_steps; /* since it, or the value, last fell by what counts */
    bool separated;     /* no penalty, and no sample on the wrong side: no optimum exists */
    bool proven_here;   /* the solution's proof is that of `here` */
    /* factor of a Hessian (smooth_factor.c) */
    double *factored;      /* size x size, or NULL: none yet */
    double *diagonal;      /* size: of that matrix */
    int64_t factored_rows; /* samples in it; 0: there is none */
    bool factored_exactly; /* all samples, double precision */
    int64_t builds;
    double *lengths; /* samples: |e_i|^2, or NULL: not needed so far (smooth_sample.c) */
} mg_smooth;

/* The `can` of both solvers: a loss with a second derivative and no |w|_1. */
bool mg_smooth_can(const mg_objective *objective, char *why);

/* Takes memory, finds the coordinates and goes to the start: the solution's w and b, or, where both
 * are 0, the best intercept. */
margin_status mg_smooth_begin(mg_linear_job *job, mg_linear_solution *solution, mg_smooth *s);
void mg_smooth_free(mg_smooth *s);

/* One step along s->direction, with one pass over the data if the full step fits and two if not:
 * the best length is then found from the scores of both points. *moved false: the direction does
 * not lead down by more than rounding, and s->here is as it was. */
margin_status mg_smooth_step(mg_smooth *s, bool *moved);

/* Changes of the scores along s->direction: one pass. */
margin_status mg_smooth_changes(mg_smooth *s, double *changes);

/* The best length of a step, from the scores of here and there = here + direction. */
margin_status mg_smooth_line(mg_smooth *s, double *t);

/* Whether it is done: the proof is made as soon as the slack lets hope for it. */
margin_status mg_smooth_check(mg_smooth *s, bool *done);
/* No progress for so long that only rounding is left. */
bool mg_smooth_is_idle(const mg_smooth *s);

/* Fills in the solution for the point `here`; `ended` is OK (proven), STOPPED_ITERATIONS, _TIME or
 * _STALLED. */
margin_status mg_smooth_end(mg_smooth *s, margin_status ended);

/* ---- Hessian ---------------------------------------------------------------------------------
 * H = sum_i c_i loss''(t_i) (e_i, 1)(e_i, 1)' + rho diag(factor^2, 0), at `here`. */

/* The curvatures c_i loss''(t_i) of the samples (NULL: not wanted) and their sum, which is about
 * the size of H's diagonal. */
margin_status mg_smooth_curvatures(mg_smooth *s, double *curvatures, double *total);

/* Whether there is room for a factor of that size. */
bool mg_smooth_can_factor(const mg_smooth *s);
/* Cost of a factor from that many samples, in passes over the data: a constant of the shape. */
double mg_smooth_price(const mg_smooth *s, int64_t rows, bool single);
/* Cholesky factor of H made from about `rows` samples, drawn in proportion to their curvatures (all
 * samples: exact). Where H is singular a multiple of its diagonal is added, no more than it takes.
 */
margin_status mg_smooth_factor(mg_smooth *s, int64_t rows, bool single);
/* About `rows` samples, with weights in place of their curvatures, whose H is H in the mean. */
margin_status mg_smooth_sample(mg_smooth *s, const double *curvatures, int64_t rows,
                               mg_row_sample *sample);

/* x = H^-1 x */
void mg_smooth_solve(const mg_smooth *s, double *x);

#endif
