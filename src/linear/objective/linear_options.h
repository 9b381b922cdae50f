/* The options that linear learners share, as plain numbers, and the formula they make. */
#pragma once

#include "linear/objective/solver.h"

typedef struct mg_linear_options {
    mg_penalty penalty;
    bool intercept;
    double tolerance;
    int64_t max_iterations; /* < 0: none */
    const char *solver;     /* NULL: auto */
    mg_descent_options descent;
    bool penalised; /* the learner has a penalty */
} mg_linear_options;

/* Values of fit->options found by their names in the learner's table; see mg_linear_fit.
 * `l1_ratio`: where the table has no such option. */
mg_linear_options mg_linear_options_of(const mg_fit *fit, const margin_component *info,
                                       double l1_ratio);

/* The `check` of a learner: refuses a decay beside schedule=constant. */
margin_status mg_linear_check(const margin_component *info, const mg_option_value *options,
                              margin_error *error);

/* One of the textbook solvers (descent.h). */
bool mg_is_descent(const char *solver);

/* The formula of the report: what P is, in the spelling of the penalty, with this text for the loss
 * of a sample. */
void mg_linear_describe(const mg_penalty *penalty, const char *loss, margin_report *report);
/* With |w|_1 in the penalty, the items nonzero (weights that are not 0) and lambda_max (the least
 * lambda with which all are 0); kappa_max: the least such kappa, NaN: not known. */
void mg_linear_describe_sparsity(const mg_penalty *penalty, const double *w, int64_t columns,
                                 double kappa_max, margin_report *report);
