/* Gradient descent, the textbook way: over all rows (gd), row by row (sgd) or in batches of rows
 * (minibatch), for one score function or for K that are trained together.
 *
 * The rate belongs to the mean loss, as in textbooks: with M the sum of c
 *
 *   J(w, b) = P(w, b) / M = mean loss + lambda |w|^2 (+ lambda r |w|_1 ...)
 *   w -= rate x gradient of J,   b -= rate x derivative of J in b
 *
 * whatever the spelling of the penalty is (lambda is what the spelling given converts to). Steps
 * are taken in the units in which the learner sees the columns. |w|_1 is dealt with by the proximal
 * step: after the gradient step of the rest every weight moves by rate x kappa / M towards 0. */
#pragma once

#include "linear/design/design_sample.h"
#include "linear/proof/goal.h"

/* Options `schedule`: step number t (from 0) has the rate
 *   constant  rate      inverse  rate / (1 + decay t)      sqrt  rate / sqrt(1 + decay t) */
enum { MG_SCHEDULE_AUTO, MG_SCHEDULE_CONSTANT, MG_SCHEDULE_INVERSE, MG_SCHEDULE_SQRT };

/* Each is one block of functions x (columns + 1) numbers: intercepts stand behind the weights. */
typedef struct mg_descent_point {
    double *w, *b;
    double *gradient, *gradient_b; /* of the smooth part of P */
    double value;                  /* P */
    int64_t errors;
} mg_descent_point;

typedef struct mg_descent {
    MG_SOLVER_STATE;
    mg_arena *arena;
    int64_t numbers;             /* functions x (columns + 1) */
    mg_descent_point here, best; /* the best one without a gradient */
    mg_descent_point there;      /* adapts: the next one */
    double *slopes;              /* samples, of `here`; NULL: not needed */
    bool late;          /* the gradient of `here` is found from the slopes when it is asked for */
    double *alpha;      /* samples: dual variables whose sum of rows is rho w; NULL: not needed */
    double start_value; /* P at the start */
    double mass, mu;    /* M; rho / M */
    int64_t units;      /* steps, or for sgd and minibatch passes over the rows */
    bool is_default;    /* nobody gave a limit of units */
    /* rate */
    double curvature;      /* largest eigenvalue of J's Hessian, or a bound; NAN: unknown */
    double rows_curvature; /* what steps over single rows add to it */
    double rate, decay;
    int schedule; /* not AUTO */
    bool noisy;   /* steps may lead up, so their rates should fall */
    bool adapts;  /* the rate is chosen anew in every step */
    /* least squares without a penalty: the residual of the normal equations tells
     * when a proof is due */
    double *mean, *norm; /* columns; norm NULL: not so, mean NULL: not yet */
    double spread;       /* of the target */
    /* proof */
    mg_goal goal;       /* of the best point */
    int64_t next_check; /* unit before which no proof is made that costs passes */
    int64_t idle;       /* units without progress */
    bool diverged;
} mg_descent;

/* Value, gradient and errors of a point: one pass. With slopes if d->slopes and point is &here. */
margin_status mg_descent_evaluate(mg_descent *d, mg_descent_point *point);
/* That of `here`, where it is late. */
margin_status mg_descent_gradient(mg_descent *d);

/* ---- Rate ---- */
/* Of step number `step`. */
double mg_descent_rate(const mg_descent *d, int64_t step);
/* Second derivative that stands for the loss in a rate. */
double mg_loss_most_curvature(const mg_loss *loss);
/* Sets curvature, from below, to about a thousandth. */
margin_status mg_descent_curvature(mg_descent *d, int64_t passes);

/* ---- Proof (descent_proof.c) ---- */
void mg_descent_measure_target(mg_descent *d);
/* Whether the best point is proven to the tolerance. Proofs that cost passes are tried at growing
 * distances only. */
margin_status mg_descent_check(mg_descent *d, bool *done);
/* Units without progress after which constant rates are given up. */
enum { MG_DESCENT_MOST_IDLE = 200 };
/* Fills in the solution with the best point; `ended`: OK, or why the steps ended. */
margin_status mg_descent_end(mg_descent *d, margin_status ended);

/* ---- All rows (solver_gd.c) ---- */
margin_status mg_descent_step(mg_descent *d);
/* Moves weights towards 0. */
MG_INLINE void mg_shrink(const mg_descent *d, double *w, double by) {
    for (int64_t j = 0; by > 0.0 && j < d->functions * d->columns; j++)
        w[j] = w[j] > by ? w[j] - by : w[j] < -by ? w[j] + by : 0.0;
}

/* ---- Row by row (solver_sgd.c) ---- */
typedef struct mg_descent_rows {
    mg_descent *d;
    int64_t batch, step;
    int64_t *order;      /* samples */
    double *slopes;      /* batch x functions: of the scores, divided by the rows of the batch */
    double *lengths;     /* adapts: samples, |(a_i, 1)|^2 */
    double alpha_factor; /* the dual variables are alpha times this */
    mg_step_row row;     /* dense if there is |w|_1, which changes all weights */
    /* sparse rows: w_k = factor u_k + along_k shift; u is here.w during a pass */
    double factor;
    double *along, *shift_u; /* functions; shift . u_k */
    int64_t price, done;     /* multiplications of a row, in the mean, and since the last poll */
} mg_descent_rows;

/* Memory from d->arena; measures the rows: sets d->noisy and d->rows_curvature. */
margin_status mg_descent_rows_begin(mg_descent *d, int64_t batch, mg_descent_rows *m);
/* All rows once, in a new order. */
margin_status mg_descent_rows_pass(mg_descent_rows *m);
