/* Small linear problems, fits at the level of losses and options, and an optimum found by other
 * means: Newton's method with elimination, in plain loops and extended precision. */
#ifndef LINEAR_CASES_H
#define LINEAR_CASES_H

#include "support/support.h"

#include "linear/learners/linear_learner.h"

/* x is rows x columns, dense. */
typedef struct linear_case {
    int64_t rows, columns;
    double *x, *target, *weight;
    int8_t *sign;
    mg_problem problem; /* two classes; weight NULL */
} linear_case;

/* Normal columns, of which each is `mix` parts the one before; signs by a hidden function and
 * logistic noise of that size (0: separable); targets by the same function. Both signs occur. */
linear_case *linear_case_make(int64_t rows, int64_t columns, double mix, double noise,
                              uint64_t seed);
void linear_case_free(linear_case *c);
/* After changes of x, columns scale_j x_j + shift_j, in place; either may be NULL. */
void linear_case_scale(linear_case *c, const double *scale, const double *shift);

/* ---- Fits ------------------------------------------------------------------------------------ */

typedef struct linear_fitted {
    margin_status status;
    mg_hypothesis *h; /* NULL after a failure */
    mg_heap *heap;    /* of h */
    margin_report report;
    margin_error error;
} linear_fitted;

/* "C=2, tol=1e-9, solver=newton": the options of the table that linear_cases.c has. */
linear_fitted linear_fit_with(margin_context *context, const mg_problem *problem, mg_loss_kind loss,
                              const char *options, const mg_trace *trace);
/* In a context of its own with two threads; fails the test if the fit fails. */
linear_fitted linear_fit(const mg_problem *problem, mg_loss_kind loss, const char *options);
/* With a limit of time that is over at once. */
linear_fitted linear_fit_limited(const mg_problem *problem, mg_loss_kind loss, const char *options);
/* The fit is cancelled from the trace of that step, and fails for it. */
void linear_assert_cancels(const mg_problem *problem, mg_loss_kind loss, const char *options,
                           int64_t step);
/* One to four threads make the same model and proof. */
void linear_assert_threads(const mg_problem *problem, mg_loss_kind loss, const char *options);
/* Up to eight problems by one mg_linear_fit; every fit has the status of all. */
void linear_fit_together(margin_context *context, const mg_problem *problems, int count,
                         mg_loss_kind loss, const char *options, const mg_trace *trace,
                         linear_fitted *fits);
linear_fitted linear_verify(const mg_problem *problem, mg_loss_kind loss, const char *options,
                            const mg_hypothesis *h);
const double *weights_of(const linear_fitted *f);
double intercept_of(const linear_fitted *f);
void linear_fitted_free(linear_fitted *f);

/* ---- By other means -------------------------------------------------------------------------- */

enum { ORACLE_COLUMNS = 64 };

/* factor sum weight_i loss + rho/2 |w|^2; intercept or not. */
typedef struct oracle_problem {
    const linear_case *c;
    mg_loss_kind loss;
    double factor, rho;
    bool intercept;
} oracle_problem;

double oracle_objective(const oracle_problem *p, const double *w, double b);
/* The optimum: w[columns], *b; returns its objective. Columns up to ORACLE_COLUMNS. */
double oracle_solve(const oracle_problem *p, double *w, double *b);
/* P - D of the dual variables that are the slopes at (w, b), the larger class scaled down; rho > 0.
 */
double oracle_gap(const oracle_problem *p, const double *w, double b);

#endif
