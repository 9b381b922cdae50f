/* Exponential loss: AdaBoost's, over a linear function. */
#include "linear/learners/linear_learner.h"

static const margin_option options[] = {
    MG_OPTIONS_PENALTY,
    MG_OPTION_TOL("1e-06"),
    MG_OPTION_MAX_ITER,
    MG_CHOICE(
        "solver", "auto", "auto|lbfgs|newton" MG_SOLVERS_DESCENT,
        "how: chosen from the shape of the data, quasi-Newton, or Newton" MG_SOLVERS_DESCENT_HELP),
    MG_OPTIONS_DESCENT,
    MG_OPTION_INTERCEPT,
    MG_OPTION_CLASS_WEIGHT,
    MG_OPTION_MULTICLASS,
};

/* The mean of e^(-y f) is least where f is half of the log-odds (Friedman, Hastie, Tibshirani,
 * "Additive logistic regression", Annals of Statistics 28, 2000). */
static void exponential_probabilities(const double *scores, int64_t functions, int64_t classes,
                                      double *out) {
    mg_odds_probabilities(2.0, scores, functions, classes, out);
}

const mg_learner mg_learner_exponential = {
    .info = {.name = "exponential",
             .summary = "A linear function that minimises e^(-y f), the loss of boosting",
             .formula = "C sum exp(-y f) + |w|^2/2,  f = w.x + b,  P(y=1) = 1/(1+exp(-2f))",
             .source = "Freund and Schapire 1997; Friedman, Hastie and Tibshirani 2000",
             .page = "docs/exponential.md",
             .abilities = MG_LINEAR_CAN | MARGIN_CAN_TWO_CLASS | MARGIN_CAN_PROBABILITY,
             MG_LEARNER_TABLE(options)},
    MG_LINEAR_LEARNER(mg_linear_check, mg_linear_fit_one, .loss = MG_LOSS_EXPONENTIAL),
    .probabilities = exponential_probabilities,
};
