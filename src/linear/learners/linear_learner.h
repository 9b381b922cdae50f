/* What all linear learners share: options of the penalty and the optimiser, the way from a mg_fit
 * to a hypothesis and a report, and the recomputed proof. A learner is its option table, its loss
 * and one call. */
#pragma once

#include "learn/inference.h"
#include "linear/squares/least_squares.h"
#include "linear/verify/linear_verify.h"

/* The linear family's entries of the catalogue. */
extern const mg_learner mg_learner_elastic_net, mg_learner_exponential, mg_learner_lasso,
    mg_learner_least_squares, mg_learner_logistic, mg_learner_ridge, mg_learner_softmax,
    mg_learner_svm;

enum { MG_MOST_TOGETHER = 8 };

/* ---- A learner's functions: by its table (mg_fit.learner) and its family ---- */

typedef struct mg_linear_family {
    mg_loss_kind loss;
    mg_loss_kind (*loss_of)(const mg_fit *fit); /* in place of that one; NULL: that one */
    double l1_ratio;                            /* without an option of that name */
} mg_linear_family;

mg_linear_options mg_linear_options_for(const mg_fit *fit);
/* Fits one score function, or as many as the loss couples; fills fit->hypothesis and fit->report.
 * The learner's table holds those of C, alpha, lambda, l1_ratio, tol, max_iter, solver, intercept,
 * class_weight, rate, schedule, batch, start_weights and start_intercept that it offers. `count` is
 * 1, or up to MG_MOST_TOGETHER for problems that differ in their signs only, fitted together where
 * a solver can; see fit_many of mg_learner. One fit: how it ended; several: OK. */
margin_status mg_linear_fit(mg_fit *fits, int64_t count);
margin_status mg_linear_fit_one(mg_fit *fit);
margin_status mg_linear_verify_one(mg_fit *fit, const mg_hypothesis *hypothesis);
/* As many together where the rows will be visited one at a time, so that reading them once for
 * several problems pays. */
margin_status mg_linear_share(mg_shared *shared);
/* Where solvers walk over rows in order: not dual_cd, which the choice does not fall on where rows
 * are more than columns, in every part. */
bool mg_linear_takes_columns(const margin_component *info, const mg_option_value *options,
                             int64_t rows, int64_t columns);
/* All options at once for a solver that takes many penalties. */
margin_status mg_linear_fit_penalties(mg_fit *fits, int64_t count,
                                      margin_status (*solve)(mg_fit *fits, int64_t count,
                                                             const mg_linear_options *options));
/* What is the same in all of them; behind check and fit the fields of the family. */
#define MG_LINEAR_LEARNER(of_check, of_fit, ...)                                                   \
    .makes = {&mg_hypothesis_linear}, .takes_affine = true, .takes_made_rows = true,               \
    .prefers_sparse = true, .takes_columns = mg_linear_takes_columns,                              \
    .verify = mg_linear_verify_one, .family = &(const mg_linear_family){__VA_ARGS__},              \
    .check = (of_check), .fit = (of_fit)
#define MG_LINEAR_CAN (MARGIN_CAN_SPARSE | MARGIN_CAN_WEIGHTS | MARGIN_CAN_TRACE)
/* mg_linear_fit_one for least squares, which is solved directly without |w|_1 and without the word
 * of a textbook solver. */
margin_status mg_squares_fit_one(mg_fit *fit);
/* mg_squares_check_values of folds in order: the rows of each fit that has others than the one
 * before. */
margin_status mg_squares_check_folds(const mg_fit *fits, int64_t count);
#define MG_SQUARES_TOLD " condition rank "
#define MG_PATH_TOLD    " freedom gcv_rmse leave_one_out_rmse "

/* ---- linear_choose.c ---- */
/* The solver for solver=auto, and why. NULL: none can, `why` says what is in the way. */
const mg_linear_solver *mg_linear_choose(const mg_objective *objective, char why[200]);
/* NULL: there is none of that name. */
const mg_linear_solver *mg_linear_solver_named(const char *name);
/* What least squares of these data costs by each way. */
mg_squares_cost mg_squares_price(const mg_design *design);

/* The textbook solvers (descent.h): their words of the option `solver`, and what they take. */
#define MG_SOLVERS_DESCENT "|gd|sgd|minibatch"
#define MG_SOLVERS_DESCENT_HELP                                                                    \
    "; or the textbook's gradient descent: over all rows, row by row, or in batches"
#define MG_WHEN_DESCENT .when = "solver=gd|sgd|minibatch"
#define MG_OPTIONS_DESCENT_STEPS                                                                   \
    MG_NUMBER("rate", NULL,                                                                        \
              "solver=gd, sgd, minibatch: step along the gradient of mean loss + lambda |w|^2 "    \
              "(default: 1 / its largest curvature)",                                              \
              MG_ABOVE_0, MG_WHEN_DESCENT),                                                        \
        MG_OPTION(CHOICE, "schedule", "auto",                                                      \
                  "solver=gd, sgd, minibatch: rate, rate/(1 + decay t) or rate/sqrt(1 + decay t) " \
                  "in step t; auto: a constant rate where every step lowers the objective",        \
                  .choices = "auto|constant|inverse|sqrt", MG_WHEN_DESCENT),                       \
        MG_NUMBER("decay", NULL, "of the schedule (default: for inverse rate x 2 lambda, else 1)", \
                  MG_FROM_0, MG_WHEN_DESCENT),                                                     \
        MG_INTEGER("batch", "32", "rows of a step of solver=minibatch", .low = 1, .high = 1e9,     \
                   .when = "solver=minibatch")

#define MG_OPTIONS_DESCENT                                                                         \
    MG_OPTIONS_DESCENT_STEPS,                                                                      \
        MG_NUMBERS("start_weights", NULL,                                                          \
                   "solver=gd, sgd, minibatch: weights to start from, one per column as the "      \
                   "learner sees them (default zeros)",                                            \
                   MG_ANY_NUMBER, MG_WHEN_DESCENT),                                                \
        MG_NUMBER("start_intercept", "0", "solver=gd, sgd, minibatch: intercept to start from",    \
                  MG_ANY_NUMBER, MG_WHEN_DESCENT)

/* Certainty of the weights of least squares and of maximum likelihood; see learn/inference.h. Both
 * refuse a penalty: it moves the weights, by an amount that no standard error tells. */
margin_status mg_squares_infer(mg_fit *fit, const mg_hypothesis *hypothesis, mg_inference *out);
margin_status mg_logistic_infer(mg_fit *fit, const mg_hypothesis *hypothesis, mg_inference *out);
