/* gd, sgd and minibatch for the softmax objective: as descent.h for one function, with the same
 * rates, schedules and words. */
#ifndef MG_CLASSES_DESCENT_H
#define MG_CLASSES_DESCENT_H

#include "linear/design/step_row.h"
#include "linear/newton/look_ahead.h"
#include "linear/proof/newton_matrix.h"
#include "linear/textbook/descent.h"

typedef struct mg_classes_descent {
    mg_linear_job *job;
    const mg_descent_options *options;
    mg_linear_solution *solution;
    const mg_objective *o;
    const mg_vector_ops *vectors;
    mg_arena arena;
    int64_t classes, columns, samples;
    double *w, *b;                 /* the point: classes x columns, classes right behind */
    double *gradient, *gradient_b; /* of P there, likewise */
    double value;
    int64_t errors, best_errors;
    double *best; /* as w: the best point seen */
    double best_value;
    double start_value, constant_value; /* P at the start; with W = 0 and the best intercepts */
    double mass, mu;                    /* M; rho / M */
    int64_t units, limit;
    const char *unit_name;
    mg_schedule schedule;
    double curvature, rows_curvature; /* of J; what single rows add to it */
    bool noisy;
    bool is_default; /* limit: nobody gave it */
    int64_t next_check, idle;
    double strictness;
    bool proven, diverged;
} mg_classes_descent;

/* solver: "gd", "sgd" or "minibatch". start_weights of the options, NULL or `start_count` numbers:
 * classes x columns, or those and an intercept for each class; SPEC if it is another number. */
margin_status mg_classes_descend(mg_linear_job *job, const mg_descent_options *options,
                                 int64_t start_count, const char *solver,
                                 mg_linear_solution *solution);

/* Chooses rate and schedule; needs rows_curvature and noisy. Up to 100 passes. */
margin_status mg_classes_descent_rate(mg_classes_descent *d);
/* A pass: value, gradient and errors of the point. */
margin_status mg_classes_descent_evaluate(mg_classes_descent *d);

/* ---- Row by row (classes_descent_rows.c) ---- */
typedef struct mg_classes_stroll {
    mg_classes_descent *d;
    int64_t batch, step;
    int64_t *order; /* samples */
    double *slopes; /* batch x classes: of the scores, divided by the rows of the batch */
    mg_step_row row;
    /* sparse rows: w_k = factor u_k + along_k shift; u is d->w during a pass */
    double factor;
    double *along, *shift_u; /* classes; shift . u_k */
    int64_t until_poll;      /* multiplications */
} mg_classes_stroll;

/* Memory from d->arena; measures the rows, sets d->noisy and d->rows_curvature. */
margin_status mg_classes_stroll_begin(mg_classes_descent *d, int64_t batch, mg_classes_stroll *m);
/* All rows once, in a new order. */
margin_status mg_classes_stroll_pass(mg_classes_stroll *m);

#endif
