/* The learners lasso and elastic-net: least squares with |w|_1 in the penalty. Where there is none
 * of that they are least squares and ridge, and solved as such. */
#include "linear/folds/folds.h"
#include "linear/learners/linear_learner.h"
#include "linear/squares/least_squares.h"

#define NORM "((1-r) |w|^2 + r |w|_1)"

#define PENALTIES(norm)                                                                            \
    MG_OPTION_ALPHA_OF("1", norm), MG_OPTION_LAMBDA_OF(norm), MG_OPTION_C_OF(NULL, norm "/2")
#define OTHERS                                                                                     \
    MG_OPTION_TOL("1e-06"), MG_OPTION_MAX_ITER,                                                    \
        MG_CHOICE("solver", "auto", "auto|working_set" MG_SOLVERS_DESCENT,                         \
                  "how: coordinate descent on growing sets of columns" MG_SOLVERS_DESCENT_HELP),   \
        MG_OPTIONS_DESCENT, MG_OPTION_INTERCEPT

static const margin_option lasso_options[] = {PENALTIES("|w|_1"), OTHERS};
static const margin_option elastic_net_options[] = {PENALTIES(NORM), MG_OPTION_L1_RATIO("0.5"),
                                                    OTHERS};

static margin_status lasso_share(mg_shared *shared) {
    const char *solver = mg_option_named(&shared->learner->info, shared->options, "solver")->text;
    if (!mg_is_descent(solver)) shared->together = shared->fits;
    return MARGIN_OK;
}

static margin_status lasso_fit_many(mg_fit *fits, int64_t count) {
    MG_TRY(mg_squares_check_folds(fits, count));
    return mg_linear_fit_penalties(fits, count, mg_lasso_folds);
}

static const mg_learner_more lasso_more = {.finds_infinite = true};

const mg_learner mg_learner_lasso = {
    .info = {.name = "lasso",
             .summary = "Least squares with a penalty on the weights that makes most of them 0",
             .formula = "minimise sum (w.x + b - y)^2 + alpha |w|_1",
             .source = "Tibshirani 1996; Massias, Gramfort and Salmon 2018 (working sets)",
             .page = "docs/lasso.md",
             .abilities = MG_LINEAR_CAN | MARGIN_CAN_REGRESSION,
             MG_LEARNER_TABLE(lasso_options)},
    MG_LINEAR_LEARNER(mg_linear_check, mg_squares_fit_one, .loss = MG_LOSS_SQUARED,
                      .l1_ratio = 1.0),
    .told = MG_SQUARES_TOLD,
    .share = lasso_share,
    .fit_many = lasso_fit_many,
    .differ = MG_DIFFER_FOLDS,
    .more = &lasso_more,
};

const mg_learner mg_learner_elastic_net = {
    .info = {.name = "elastic-net",
             .summary = "Least squares with the penalties of ridge and lasso in one",
             .formula = "minimise sum (w.x + b - y)^2 + alpha " NORM,
             .source = "Zou and Hastie 2005; Massias, Gramfort and Salmon 2018 (working sets)",
             .page = "docs/elastic-net.md",
             .abilities = MG_LINEAR_CAN | MARGIN_CAN_REGRESSION,
             MG_LEARNER_TABLE(elastic_net_options)},
    MG_LINEAR_LEARNER(mg_linear_check, mg_squares_fit_one, .loss = MG_LOSS_SQUARED),
    .told = MG_SQUARES_TOLD MG_PATH_TOLD,
    .share = lasso_share,
    .fit_many = lasso_fit_many,
    .differ = MG_DIFFER_FOLDS,
    .more = &lasso_more,
};
