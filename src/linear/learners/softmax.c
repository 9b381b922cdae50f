/* Softmax regression: logistic regression with a function for each class. */
#include "linear/learners/linear_learner.h"
#include "math/rows/vector_math.h"

#include <string.h>

static const margin_option options[] = {
    MG_OPTIONS_PENALTY,
    MG_OPTION_TOL("1e-06"),
    MG_OPTION_MAX_ITER,
    MG_CHOICE("solver", "auto", "auto|lbfgs" MG_SOLVERS_DESCENT,
              "how: auto is lbfgs, quasi-Newton" MG_SOLVERS_DESCENT_HELP),
    MG_OPTIONS_DESCENT_STEPS,
    MG_NUMBERS(
        "start_weights", NULL,
        "solver=gd, sgd, minibatch: where to start, for each class a weight per column as the "
        "learner sees them, and then, if wanted, an intercept for each class (default zeros)",
        MG_ANY_NUMBER, MG_WHEN_DESCENT),
    MG_OPTION_INTERCEPT,
    MG_OPTION_CLASS_WEIGHT,
};

static void softmax_probabilities(const double *scores, int64_t functions, int64_t classes,
                                  double *out) {
    (void)functions;
    memcpy(out, scores, (size_t)classes * sizeof *out);
    mg_softmax(out, classes);
}

const mg_learner mg_learner_softmax = {
    .info = {.name = "softmax",
             .summary = "Softmax regression: a linear function for each class, all trained "
                        "together, whose exponentials are in proportion to its probability",
             .formula = "C sum (log sum_k exp(f_k) - f_y) + |w|^2/2,  f_k = w_k.x + b_k,  "
                        "P(y=k) = exp(f_k) / sum_l exp(f_l)",
             .source = "Theil 1969; Liu and Nocedal 1989 (L-BFGS); Boehning 1992 (bounds)",
             .page = "docs/softmax.md",
             .abilities = MG_LINEAR_CAN | MARGIN_CAN_MULTICLASS | MARGIN_CAN_PROBABILITY,
             MG_LEARNER_TABLE(options)},
    MG_LINEAR_LEARNER(mg_linear_check, mg_linear_fit_one, .loss = MG_LOSS_SOFTMAX),
    .probabilities = softmax_probabilities,
};
