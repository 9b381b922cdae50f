/* The options that linear learners share, as plain numbers, and the formula they make. */
#ifndef MG_LINEAR_OPTIONS_H
#define MG_LINEAR_OPTIONS_H

#include "linear/solver.h"

typedef struct mg_linear_options {
    mg_penalty penalty;
    bool intercept;
    double tolerance;
    int64_t max_iterations; /* < 0: none */
    const char *solver;     /* NULL: auto */
    mg_descent_options descent;
    int64_t start_count; /* of descent.start_weights */
    bool penalised;      /* the learner has a penalty */
} mg_linear_options;

/* Values of fit->options found by their names in the learner's table; see mg_linear_fit. */
mg_linear_options mg_linear_options_of(const mg_fit *fit, const margin_option *table,
                                       int option_count, const char *default_spelling,
                                       double default_value);

/* The formula of the report: what P is, in the spelling of the penalty. */
void mg_linear_describe(const mg_objective *objective, margin_report *report);

#endif
