/* Support vector machines: the linear function with the widest margin that the penalty allows. */
#include "linear/linear_learner.h"
#include "linear/linear_learners.h"

#include <math.h>

enum { LOSS_AT = 0 }; /* of the option in the table */

static const margin_option options[] = {
    [LOSS_AT] = {.name = "loss",
                 .type = MARGIN_OPTION_CHOICE,
                 .default_text = "hinge",
                 .choices = "hinge|squared-hinge",
                 .help = "what a row costs: max(1 - y f, 0), or that squared"},
    {.name = "kernel",
     .type = MARGIN_OPTION_CHOICE,
     .default_text = "linear",
     .choices = "linear",
     .help = "linear: f is a linear function of the columns"},
    MG_OPTION_C("1"),
    MG_OPTION_ALPHA(NULL),
    MG_OPTION_LAMBDA,
    MG_OPTION_TOL("0.0001"),
    MG_OPTION_MAX_ITER,
    {.name = "solver",
     .type = MARGIN_OPTION_CHOICE,
     .default_text = "auto",
     .choices = "auto|dual_cd|lbfgs|newton|ssnal" MG_SOLVERS_DESCENT,
     .help =
         "how: chosen from loss and shape of the data; dual coordinate descent; quasi-Newton or "
         "Newton (squared hinge); semismooth Newton (hinge)" MG_SOLVERS_DESCENT_HELP},
    MG_OPTIONS_DESCENT,
    MG_OPTION_INTERCEPT,
    MG_OPTION_CLASS_WEIGHT,
    MG_OPTION_MULTICLASS,
};

static mg_loss_kind loss_of(const mg_fit *fit) {
    return fit->options[LOSS_AT].integer == 0 ? MG_LOSS_HINGE : MG_LOSS_SQUARED_HINGE;
}

static margin_status svm_check(const mg_option_value *values, margin_error *error) {
    return mg_linear_check_descent(options, MG_LENGTH(options), values, error);
}

static margin_status svm_fit(mg_fit *fit) {
    return mg_linear_fit(fit, options, MG_LENGTH(options), loss_of(fit), "C", 1.0);
}

static margin_status svm_verify(mg_fit *fit, const mg_hypothesis *hypothesis) {
    return mg_linear_verify(fit, options, MG_LENGTH(options), loss_of(fit), "C", 1.0, hypothesis);
}

const mg_learner mg_learner_svm = {
    .info = {.name = "svm",
             .kind = MARGIN_LEARNER,
             .summary = "Support vector machine: the linear function with the widest soft margin",
             .formula = "C sum max(1 - y f, 0) + |w|^2/2,  f = w.x + b  (or the loss squared)",
             .source = "Cortes and Vapnik 1995; Li, Sun and Toh 2018 (semismooth Newton)",
             .page = "docs/svm.md",
             .abilities =
                 MARGIN_CAN_TWO_CLASS | MARGIN_CAN_SPARSE | MARGIN_CAN_WEIGHTS | MARGIN_CAN_TRACE,
             .options = options,
             .option_count = MG_LENGTH(options)},
    .takes_affine = true,
    .takes_made_rows = true,
    .check = svm_check,
    .fit = svm_fit,
    .verify = svm_verify,
};
