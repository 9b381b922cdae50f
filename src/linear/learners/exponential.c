/* Exponential loss: AdaBoost's, over a linear function. */
#include "linear/kernels/odds.h"
#include "linear/learners/linear_learner.h"
#include "linear/learners/linear_learners.h"

#include <math.h>

static const margin_option options[] = {
    MG_OPTION_C("1"),
    MG_OPTION_ALPHA(NULL),
    MG_OPTION_LAMBDA,
    MG_OPTION_TOL("1e-06"),
    MG_OPTION_MAX_ITER,
    {.name = "solver",
     .type = MARGIN_OPTION_CHOICE,
     .default_text = "auto",
     .choices = "auto|lbfgs|newton" MG_SOLVERS_DESCENT,
     .help =
         "how: chosen from the shape of the data, quasi-Newton, or Newton" MG_SOLVERS_DESCENT_HELP},
    MG_OPTIONS_DESCENT,
    MG_OPTION_INTERCEPT,
    MG_OPTION_CLASS_WEIGHT,
    MG_OPTION_MULTICLASS,
};

static margin_status exponential_check(const mg_option_value *values, margin_error *error) {
    return mg_linear_check_descent(options, MG_LENGTH(options), values, error);
}

static mg_linear_options exponential_options(const mg_fit *fit) {
    return mg_linear_options_of(fit, options, MG_LENGTH(options), "C", 1.0);
}

static margin_status exponential_fit(mg_fit *fit) {
    const mg_linear_options o = exponential_options(fit);
    return mg_linear_fit(fit, 1, &o, MG_LOSS_EXPONENTIAL);
}

static margin_status exponential_verify(mg_fit *fit, const mg_hypothesis *hypothesis) {
    const mg_linear_options o = exponential_options(fit);
    return mg_linear_verify(fit, &o, MG_LOSS_EXPONENTIAL, hypothesis);
}

/* The mean of e^(-y f) is least where f is half of the log-odds (Friedman, Hastie, Tibshirani,
 * "Additive logistic regression", Annals of Statistics 28, 2000). */
static void exponential_probabilities(const double *scores, int64_t functions, int64_t classes,
                                      double *out) {
    mg_odds_probabilities(2.0, scores, functions, classes, out);
}

const mg_learner mg_learner_exponential = {
    .info = {.name = "exponential",
             .kind = MARGIN_LEARNER,
             .summary = "A linear function that minimises e^(-y f), the loss of boosting",
             .formula = "C sum exp(-y f) + |w|^2/2,  f = w.x + b,  P(y=1) = 1/(1+exp(-2f))",
             .source = "Freund and Schapire 1997; Friedman, Hastie and Tibshirani 2000",
             .page = "docs/exponential.md",
             .abilities = MARGIN_CAN_TWO_CLASS | MARGIN_CAN_SPARSE | MARGIN_CAN_WEIGHTS |
                          MARGIN_CAN_PROBABILITY | MARGIN_CAN_TRACE,
             .options = options,
             .option_count = MG_LENGTH(options)},
    .makes = {&mg_hypothesis_linear},
    .takes_affine = true,
    .takes_made_rows = true,
    .check = exponential_check,
    .fit = exponential_fit,
    .verify = exponential_verify,
    .probabilities = exponential_probabilities,
};
