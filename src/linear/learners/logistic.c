/* Logistic regression. */
#include "linear/folds/folds.h"
#include "linear/learners/linear_learner.h"

static const margin_option options[] = {
    MG_OPTIONS_PENALTY,
    MG_OPTION_L1_RATIO("0"),
    MG_OPTION_TOL("1e-06"),
    MG_OPTION_MAX_ITER,
    MG_CHOICE(
        "solver", "auto", "auto|dual_cd|lbfgs|newton|working_set" MG_SOLVERS_DESCENT,
        "how: chosen from the data and the penalty, dual coordinate descent, quasi-Newton, "
        "Newton, Newton over a working set of columns (for l1_ratio > 0)" MG_SOLVERS_DESCENT_HELP),
    MG_OPTIONS_DESCENT,
    MG_OPTION_INTERCEPT,
    MG_OPTION_CLASS_WEIGHT,
    MG_OPTION_MULTICLASS,
};

static margin_status logistic_share(mg_shared *shared) {
    if (!(shared->differ & MG_DIFFER_FOLDS)) return mg_linear_share(shared);
    shared->together = shared->fits;
    return MARGIN_OK;
}

static margin_status logistic_fit_many(mg_fit *fits, int64_t count) {
    return fits[0].shared->differ & MG_DIFFER_FOLDS
               ? mg_linear_fit_penalties(fits, count, mg_logistic_folds)
               : mg_linear_fit(fits, count);
}

static const mg_learner_more logistic_more = {.infer = mg_logistic_infer};
const mg_learner mg_learner_logistic = {
    .info = {.name = "logistic",
             .summary = "Logistic regression: a linear function that is the log-odds of a class",
             .formula = "C sum log(1+exp(-y f)) + |w|^2/2,  f = w.x + b,  P(y=1) = 1/(1+exp(-f))",
             .source = "Cox 1958; Liu and Nocedal 1989 (L-BFGS); Byrd, Chin, Neveitt and Nocedal "
                       "2011 (sampled Hessians)",
             .page = "docs/logistic.md",
             .abilities = MG_LINEAR_CAN | MARGIN_CAN_TWO_CLASS | MARGIN_CAN_PROBABILITY,
             MG_LEARNER_TABLE(options)},
    MG_LINEAR_LEARNER(mg_linear_check, mg_linear_fit_one, .loss = MG_LOSS_LOGISTIC),
    .share = logistic_share,
    .fit_many = logistic_fit_many,
    .differ = MG_DIFFER_SIGNS | MG_DIFFER_FOLDS,
    .probabilities = mg_logistic_probabilities,
    .more = &logistic_more,
};
