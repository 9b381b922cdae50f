/* One objective for every linear model:
 *
 *   P(w, b) = sum_i c_i loss(t_i) + rho/2 |w|^2 + kappa |w|_1        b free (or absent)
 *
 * c_i = (C or 1) x sample weight x class weight. The three spellings of the penalty all become
 * (factor, rho, kappa) here, and the report's objective is P in the spelling the formula shows. */
#ifndef MG_OBJECTIVE_H
#define MG_OBJECTIVE_H

#include "linear/design.h"

typedef struct mg_penalty {
    double C, alpha, lambda; /* the same penalty in the three spellings (INFINITY, 0, 0: none) */
    double l1_ratio;         /* 0: ridge, 1: lasso */
    double factor;           /* of the summed loss in P */
    double rho, kappa;
    const char *spelling; /* the one that was given: "C", "alpha", "lambda" */
} mg_penalty;

typedef struct mg_objective {
    mg_design *design;
    const mg_loss *loss;
    mg_penalty penalty;
    bool intercept;
    double *c;           /* samples numbers, owned; factor included */
    double total_weight; /* sum of sample weights: the m of the conversions */
} mg_objective;

/* From the options C, alpha, lambda (at most one given) and the learner's default. */
mg_penalty mg_penalty_make(const mg_option_value *options, int c_index, int alpha_index,
                           int lambda_index, const char *default_spelling, double default_value,
                           double l1_ratio, double total_weight);

/* A solution and how good it provably is. */
typedef struct mg_linear_solution {
    double *w; /* columns numbers, A's units; owned by the caller */
    double b;
    double primal, dual,
        gap; /* gap = (primal - dual) / max(1, |primal|), from a feasible dual point */
    int64_t iterations, passes;
    margin_status status;
    char why[400];
} mg_linear_solution;

/* The certificate. From scores f (computed afresh): u_i = -slope(t_i) c_i is made feasible (sum y u
 * = 0 by scaling the heavier class, box kept), then primal and dual are evaluated in f64. Costs one
 * pass. rho = 0: dual feasibility needs X'u = 0; see certificate.c. */
margin_status mg_certify(const mg_objective *objective, mg_linear_solution *solution,
                         margin_error *error);

#endif
