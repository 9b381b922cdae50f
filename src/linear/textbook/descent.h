/* What the textbook solvers (gd, sgd, minibatch) share: the point and the best one so far, rates,
 * the proof, and what is said at the end.
 *
 * The rate belongs to the mean loss, as in textbooks: with M the sum of c
 *
 *   J(w, b) = P(w, b) / M = mean loss + lambda |w|^2 (+ lambda r |w|_1 ...)
 *   w -= rate x gradient of J,   b -= rate x derivative of J in b
 *
 * whatever the spelling of the penalty is (lambda is what the spelling given converts to). Steps
 * are taken in the units in which the learner sees the columns. |w|_1 is dealt with by the proximal
 * step: after the gradient step of the rest every weight moves by rate x kappa / M towards 0. */
#ifndef MG_DESCENT_H
#define MG_DESCENT_H

#include "linear/objective/solver.h"

/* Options `schedule`: step number t (from 0) has the rate
 *   constant  rate      inverse  rate / (1 + decay t)      sqrt  rate / sqrt(1 + decay t) */
enum { MG_SCHEDULE_AUTO, MG_SCHEDULE_CONSTANT, MG_SCHEDULE_INVERSE, MG_SCHEDULE_SQRT };

typedef struct mg_schedule {
    double rate, decay;
    int kind; /* not AUTO */
} mg_schedule;

/* What the options leave open is chosen; `rate` is theirs or the solver's, mu = rho / M. noisy:
 * steps may lead up, so their rates should fall. */
mg_schedule mg_schedule_make(const mg_descent_options *options, double rate, double mu, bool noisy);
double mg_schedule_rate(const mg_schedule *schedule, int64_t step);

/* Largest eigenvalue of share x sum c (a, 1)(a, 1)' + mu diag(1, 0), by power iteration: from
 * below, to about a thousandth. */
typedef struct mg_curvature {
    mg_design *design;
    const double *c; /* samples */
    bool intercept;  /* false: no 1 behind a */
    double share, mu;
    int64_t limit; /* of passes */
} mg_curvature;
/* Adds to *passes. CANCELLED, MEMORY. */
margin_status mg_curvature_find(const mg_curvature *q, double *largest, int64_t *passes,
                                margin_error *error);

typedef struct mg_descent_point {
    double *w; /* columns */
    double b;
    double *gradient; /* columns: of the smooth part of P */
    double gradient_b;
    double value; /* P */
    int64_t errors;
} mg_descent_point;

typedef struct mg_descent {
    mg_linear_job *job;
    mg_linear_solution *solution;
    const mg_objective *objective;
    mg_design *design;
    const mg_vector_ops *vectors;
    mg_arena arena;
    int64_t columns, samples;
    mg_descent_point here;
    double *best_w, best_b, best_value; /* of the points whose value is known */
    int64_t best_errors;
    double *slopes; /* samples, of `here`; NULL: not needed */
    double *alpha;  /* samples: dual variables whose sum of rows is rho w; NULL: not needed */
    double start_value, constant_value; /* P at the start; with w = 0 and the best intercept */
    double mass;                        /* M */
    double mu;                          /* rho / M */
    int64_t units;                      /* steps, or for sgd and minibatch passes over the rows */
    const char *unit_name;              /* "steps", "passes" */
    int64_t limit;                      /* of units */
    bool is_default;                    /* limit: nobody gave it */
    /* rate */
    double rows_curvature; /* what steps over single rows add to it */
    double
        curvature; /* largest eigenvalue of J's Hessian, or of what stands for it; NAN: unknown */
    mg_schedule schedule;
    bool noisy;  /* steps may lead up */
    bool adapts; /* the rate is chosen anew in every step */
    /* least squares without a penalty: the gap is the residual of the normal equations */
    double *mean, *norm, *spare; /* columns; NULL: not so */
    double spread;               /* of the target */
    /* proof */
    int64_t next_check; /* unit before which no proof is made that costs passes */
    double strictness;  /* share of the tolerance that the expected gap must reach */
    int64_t idle;       /* units without progress */
    bool proven;        /* the solution's proof is that of the best point */
    bool diverged;
} mg_descent;

/* Takes memory, goes to the start and evaluates it; traces step 0. `unit_name`: see above. */
margin_status mg_descent_begin(mg_linear_job *job, mg_linear_solution *solution,
                               const char *unit_name, int64_t default_limit, mg_descent *d);
void mg_descent_free(mg_descent *d);

/* Value, gradient and errors of a point: one pass. With slopes if d->slopes and point is &here. */
margin_status mg_descent_evaluate(mg_descent *d, mg_descent_point *point);
/* After `here` was evaluated at the end of a unit: trace, best point, signs of divergence. */
void mg_descent_note(mg_descent *d);

/* Sets curvature, rate, schedule and decay. rows_curvature: what single rows add to the curvature,
 * 0 for steps over all rows. noisy: steps may lead up, so their rates should fall. */
margin_status mg_descent_choose_rate(mg_descent *d, double rows_curvature, bool noisy);
double mg_descent_rate(const mg_descent *d, int64_t step);
/* Second derivative that stands for the loss in a rate. */
double mg_descent_bend(const mg_loss *loss);
/* mg_curvature_find for J: share = bend / M. */
margin_status mg_descent_curvature(mg_descent *d, int64_t passes, double *largest);

/* After mg_descent_note: whether the best point is proven to the tolerance. Proofs that cost passes
 * are tried at growing distances only. */
margin_status mg_descent_check(mg_descent *d, bool *done);
/* OK: go on. Otherwise it ends for that reason (STALLED: diverged, or no progress). */
margin_status mg_descent_stop(const mg_descent *d);
/* Fills in the solution with the best point; `ended` as mg_descent_stop gave it. */
margin_status mg_descent_end(mg_descent *d, margin_status ended);

/* What is said at the end. */
typedef struct mg_descent_words {
    margin_status status, ended; /* of the solution; why the steps ended */
    bool separated;              /* without a penalty, and every row is on its side */
    bool recession, separable;   /* without a penalty, and the loss falls for ever; to 0 */
    bool diverged, noisy, is_default;
    double gap, rate, value, start_value;
    double safe; /* mg_descent_safe; NAN: not known */
    int64_t units, limit;
    const char *unit_name;
} mg_descent_words;
void mg_descent_explain(const mg_descent_words *words, char *why, size_t room);
/* The rate from which on steps overshoot, to two digits, downwards. */
double mg_descent_safe(double curvature);
/* Units without progress after which constant rates are given up. */
enum { MG_DESCENT_MOST_IDLE = 200 };

/* Moves a number towards 0. */
MG_INLINE double mg_shrink(double x, double by) {
    return x > by ? x - by : x < -by ? x + by : 0.0;
}

#endif
