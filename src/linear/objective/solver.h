/* An optimiser for the linear objective, and the job it is given. One file per optimiser; which one
 * `solver=auto` takes is decided in one place (linear_choose.c) from the loss, the penalty and the
 * shape of the data, never by the clock, and said in the report. */
#pragma once

#include "linear/objective/objective.h"

/* What the textbook optimisers (gd, sgd, minibatch) take beside the objective. */
typedef struct mg_descent_options {
    double rate;   /* of the mean loss with its penalty, see descent.h; NAN: from the curvature */
    int schedule;  /* MG_SCHEDULE_AUTO, ... of descent.h */
    double decay;  /* NAN: from the penalty */
    int64_t batch; /* rows of a minibatch */
    const mg_option_value *start; /* weights; NULL: zeros */
    double start_intercept;
} mg_descent_options;

typedef struct mg_linear_job {
    margin_context *context;
    const struct mg_linear_solver *solver; /* at work */
    const mg_objective *objective;
    double tolerance; /* of the relative gap */
    mg_stop stop;
    const mg_trace *trace; /* NULL: none */
    uint64_t seed;
    mg_descent_options descent;
    margin_error *error;
} mg_linear_job;

typedef struct mg_linear_solver {
    const char *name;      /* value of the option `solver` */
    const char *step_name; /* what it counts: "Newton steps"; at most 23 bytes */
    /* Whether it can handle this objective at all; if not, `why` (200 bytes) says so in a clause.
     * NULL: any. */
    bool (*can)(const mg_objective *objective, char *why);
    bool cuts; /* its steps may be cut short by the clock (mg_stop_arm); else it ends in time */
    /* Improves solution->w and ->b (given: a start) until the certificate reaches the tolerance,
     * `stop` says so, or rounding ends progress; leaves a certified primal, dual and gap in
     * `solution`. Never a bare "did not converge": solution->why says what limits and what helps.
     */
    margin_status (*solve)(mg_linear_job *job, mg_linear_solution *solution);
    /* Several problems in one go that differ in their signs only: the same rows, c, penalty and
     * options; each solution as if it had been solved alone. NULL: one after the other. The first
     * of them says whether it can. */
    bool (*can_together)(const mg_objective *objective);
    margin_status (*solve_together)(mg_linear_job *jobs, mg_linear_solution *solutions,
                                    int64_t count);
} mg_linear_solver;

extern const mg_linear_solver mg_solver_gd, mg_solver_sgd, mg_solver_minibatch, mg_solver_lbfgs,
    mg_solver_newton, mg_solver_ssnal, mg_solver_dual_cd, mg_solver_working_set;

/* What the state of a solver begins with. */
#define MG_SOLVER_STATE                                                                            \
    mg_linear_job *job;                                                                            \
    mg_linear_solution *solution;                                                                  \
    const mg_objective *objective;                                                                 \
    mg_design *design;                                                                             \
    const mg_vector_ops *vectors;                                                                  \
    int64_t functions, columns, samples
#define MG_SOLVER_OF(of_job, of_solution)                                                          \
    .job = (of_job), .solution = (of_solution), .objective = (of_job)->objective,                  \
    .design = (of_job)->objective->design,                                                         \
    .vectors = mg_vector_ops_for((of_job)->objective->design->isa),                                \
    .functions = (of_job)->objective->functions, .columns = (of_job)->objective->columns,          \
    .samples = (of_job)->objective->samples

/* The end of a `can` that is false: writes `why`. */
bool mg_solver_cannot(char *why, const char *format, ...) MG_PRINTF(2, 3);

/* For the trace, if there is one: the state after step number `step` (0: the start). Several
 * functions: b lies right behind w. */
void mg_linear_trace(const mg_linear_job *job, int64_t step, const double *w, const double *b,
                     double value, int64_t errors);
/* The same of the solution as it is: a pass. */
margin_status mg_linear_trace_solution(const mg_linear_job *job,
                                       const mg_linear_solution *solution);

/* Sparse columns up to which a Gram of them is worth its memory: beyond, rows one at a time. And
 * the rows per column from which rows count as many more than columns. */
enum { MG_MANY_COLUMNS = 2000, MG_NARROW = 10 };
