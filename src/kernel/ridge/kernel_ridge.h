/* Kernel ridge: for every target the function of least
 *
 *   P(f) = sum_i c_i (f(x_i) - y_i)^2 + alpha |f|^2,      f = sum_j a_j k(x_j, .) + b
 *
 * with weights c, |f|^2 = a'Ka, and b 0 unless asked for. The coefficients solve
 *
 *   (K + alpha / c) a + b 1 = y,      1'a = 0 (with b)
 *
 * For any a (with 1'a = 0) the dual D(a) = 2 alpha a'y - alpha a'Ka - alpha^2 sum a_i^2 / c_i is at
 * most the least P, and what the equations miss is the distance:
 *
 *   P(a) - D(a) = sum_i c_i residual_i^2,   residual = y - b - K a - (alpha / c) a
 *
 * so the proof costs one product with K. What rounding may have made of the distance and of P is
 * counted with it. Here alpha is that of the summed loss whatever the
 * spelling; reports are in the spelling of the penalty (factor P). */
#pragma once

#include "kernel/machine/kernel_fit.h"
#include "math/products/band_form.h"

typedef struct mg_ridge_options {
    mg_kernel_choice choice;
    mg_penalty penalty;
    bool intercept;
    double tolerance;
    bool automatic, direct, descends; /* the solver asked for; none of them: cg */
    int64_t max_iterations;           /* < 0: none */
} mg_ridge_options;

/* S K S = Q B Q', S = sqrt(c), B a band; both lie in the lower triangle of the Gram matrix. */
typedef struct mg_ridge_form {
    double *scale; /* count: S; NULL: there is no form; owned, and behind it band.turns */
    mg_band_form band;
} mg_ridge_form;

/* What `targets` fits over the same samples have in common, and their numbers one target after the
 * other. */
typedef struct mg_ridge_run {
    mg_fit *fits; /* targets */
    const mg_ridge_options *options;
    margin_context *context;
    margin_error *error;
    const mg_problem *problem; /* of the first */
    mg_stop stop;
    mg_pace pace; /* of conjugate gradients */
    int64_t room; /* of memory, before the threads have theirs */
    mg_arena arena;
    mg_kernel_system system;
    bool worn; /* below the diagonal of its square there is no K */
    mg_ridge_form form;
    int64_t count, targets;
    double total;            /* of the weights */
    mg_penalty *penalty;     /* targets; only a form serves several that differ */
    double alpha;            /* of the first */
    double *c;               /* count: weights */
    double *shift;           /* count: alpha / c */
    double *y;               /* targets x count */
    double *a;               /* targets x count */
    double *b;               /* targets */
    double *fitted;          /* targets x count: K a */
    double *residual;        /* targets x count: y - b - K a - (alpha / c) a */
    double *objective, *gap; /* targets: P and P - D, not yet in the spelling */
    double *rounding;        /* targets: what rounding may hide of the distance */
    double *missed;          /* targets: sum of squares of errors at rows left out; NaN: unknown */
    double condition;        /* estimate; NaN: unknown */
    int64_t iterations;
    const char *iteration_name;
    margin_status ended; /* above 0: a limit came first */
    char method[160];
} mg_ridge_run;

/* One of `targets` fits; the context is the caller's. */
mg_ridge_run mg_ridge_run_of(mg_fit *fits, int64_t targets, margin_context *context,
                             const mg_ridge_options *options);
/* Takes the samples of the fits and memory for the vectors: a = 0, b = 0. */
margin_status mg_ridge_begin(mg_ridge_run *run);
void mg_ridge_end(mg_ridge_run *run);
/* The relative gap of a target in the spelling of the penalty, with what rounding may hide;
 * INFINITY: there is no bound. */
double mg_ridge_proven_gap(const mg_ridge_run *run, int64_t target);
bool mg_ridge_all_proven(const mg_ridge_run *run); /* to the tolerance */
/* Adds steps that nearly solve the equations for the residuals, until that changes nothing more. */
typedef margin_status (*mg_ridge_correct)(mg_ridge_run *run, void *argument, double *step);
margin_status mg_ridge_refine(mg_ridge_run *run, double enough, mg_ridge_correct correct,
                              void *argument);
/* x = A^-1 x, nearly. */
typedef void (*mg_ridge_inverse)(const void *state, double *x);
/* A correction of all targets by it. */
margin_status mg_ridge_correct_by(mg_ridge_run *run, mg_ridge_inverse inverse, const void *state,
                                  const double *ones, double *step);
/* Solves for b and puts 1'a = 0, given A^-1 1 (that of each target so far `apart`) and steps A^-1
 * residual. */
void mg_ridge_project(const mg_ridge_run *run, const double *ones, int64_t apart, double *step);

/* "K + alpha is not positive definite": DATA. */
margin_status mg_ridge_fail_indefinite(const mg_ridge_run *run);

/* The ways. */
margin_status mg_ridge_direct(mg_ridge_run *run);
/* Makes the form; STOPPED_TIME: not in time. Then a solution by it, proven or not. */
margin_status mg_ridge_reduce(mg_ridge_run *run);
margin_status mg_ridge_by_form(mg_ridge_run *run, bool *proven); /* all targets */
/* ridge_shifts.c: all targets, which have one y; where that is not quick, nothing. */
margin_status mg_ridge_by_shifts(mg_ridge_run *run, bool *proven);
void mg_ridge_form_free(mg_heap *heap, mg_ridge_form *form);
/* ridge_kept.c: the system and the form that the fit before left, if they will do; leaves them for
 * fits that are to follow. */
bool mg_ridge_take(mg_ridge_run *run, const mg_kernel *kernel);
margin_status mg_ridge_leave(mg_ridge_run *run);
/* Leaves a system that no fit has had yet. */
margin_status mg_ridge_keep(mg_kept *to, const mg_kernel_system *system);
margin_status mg_ridge_conjugate(mg_ridge_run *run);

/* kernel_path.c: fits that differ in their penalty. */
margin_status mg_kernel_ridge_path(mg_fit *fits, int64_t count);
/* kernel_ridge_folds.c: all folds and penalties of a search. */
margin_status mg_kernel_ridge_folds(mg_fit *fits, int64_t count);

/* The lower triangle of S K S into `out`, which may be K. */
void mg_ridge_scaled(const mg_ridge_run *run, const double *scale, double *out);
/* By the way that options and sizes choose, from the beginning. */
margin_status mg_ridge_solve(mg_ridge_run *run);
/* Of targets with penalties of their own, by the form of a system that was kept. */
margin_status mg_ridge_solve_penalties(mg_ridge_run *run);
/* Whether that is a factor, or a form; whether a form is made for so many penalties. */
bool mg_ridge_is_direct(const mg_ridge_options *options, int64_t rows);
bool mg_ridge_wants_form(int64_t penalties);
/* The report of a target. */
void mg_ridge_say(mg_ridge_run *run, int64_t target);

/* The plain numbers of a fit's options. */
mg_ridge_options mg_ridge_options_of(const mg_fit *fit);
/* Reports and hypotheses of all targets. */
margin_status mg_ridge_hand_over(mg_ridge_run *run);
/* Penalty, formula and gamma of a report. */
void mg_ridge_describe(const mg_ridge_options *options, const mg_kernel *kernel,
                       margin_report *report);
margin_status mg_kernel_ridge_verify(mg_fit *fit, const mg_hypothesis *hypothesis);

extern const mg_learner mg_learner_kernel_ridge;
