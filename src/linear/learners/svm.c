/* Support vector machines: the linear function with the widest margin that the penalty allows. */
#include "linear/learners/linear_learner.h"
#include "linear/learners/linear_learners.h"

#include <math.h>
#include <string.h>

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
    {.name = "multiclass",
     .type = MARGIN_OPTION_CHOICE,
     .default_text = "ovr",
     .choices = "ovr|ovo|argmax",
     .help =
         "more than two classes: one against the rest, one against one, or all trained together "
         "(hinge of Crammer and Singer)"},
};

static mg_loss_kind loss_of(const mg_fit *fit) {
    if (fit->problem->kind == MG_ARGMAX) return MG_LOSS_CRAMMER_SINGER;
    return fit->options[LOSS_AT].integer == 0 ? MG_LOSS_HINGE : MG_LOSS_SQUARED_HINGE;
}

static const mg_option_value *value_of(const mg_option_value *values, const char *name) {
    int k = 0;
    while (strcmp(options[k].name, name) != 0)
        k++;
    return &values[k];
}

static bool is(const mg_option_value *value, const char *word) {
    return value->text && strcmp(value->text, word) == 0;
}

/* multiclass=argmax has a loss and a method of its own, and needs a penalty. */
static margin_status check_argmax(const mg_option_value *values, margin_error *error) {
    const mg_option_value *loss = value_of(values, "loss"), *solver = value_of(values, "solver");
    const mg_option_value *C = value_of(values, "C"), *alpha = value_of(values, "alpha"),
                          *lambda = value_of(values, "lambda");
    if (!is(value_of(values, "multiclass"), "argmax")) return MARGIN_OK;
    MG_REQUIRE(!loss->given || !is(loss, "squared-hinge"), error, MARGIN_ERROR_SPEC,
               "svm: multiclass=argmax has the hinge of Crammer and Singer only; leave "
               "loss=squared-hinge out, or use multiclass=ovr or ovo");
    MG_REQUIRE(is(solver, "auto") || is(solver, "dual_cd"), error, MARGIN_ERROR_SPEC,
               "svm: multiclass=argmax is solved by dual coordinate descent; leave solver=%s out",
               solver->text);
    MG_REQUIRE(!(C->given && isinf(C->number)) && !(alpha->given && alpha->number == 0.0) &&
                   !(lambda->given && lambda->number == 0.0),
               error, MARGIN_ERROR_SPEC,
               "svm: multiclass=argmax needs a penalty; give C a finite value");
    return MARGIN_OK;
}

static margin_status svm_check(const mg_option_value *values, margin_error *error) {
    MG_TRY(check_argmax(values, error));
    return mg_linear_check_descent(options, MG_LENGTH(options), values, error);
}

static mg_linear_options svm_options(const mg_fit *fit) {
    return mg_linear_options_of(fit, options, MG_LENGTH(options), "C", 1.0);
}

static margin_status svm_fit(mg_fit *fit) {
    const mg_linear_options o = svm_options(fit);
    return mg_linear_fit(fit, 1, &o, loss_of(fit));
}

static margin_status svm_share(mg_shared *shared) {
    return mg_linear_share(shared, options, MG_LENGTH(options));
}

static margin_status svm_fit_many(mg_fit *fits, int64_t count) {
    const mg_linear_options o = svm_options(&fits[0]);
    return mg_linear_fit(fits, count, &o, loss_of(&fits[0]));
}

static margin_status svm_verify(mg_fit *fit, const mg_hypothesis *hypothesis) {
    const mg_linear_options o = svm_options(fit);
    return mg_linear_verify(fit, &o, loss_of(fit), hypothesis);
}

const mg_learner mg_learner_svm = {
    .info = {.name = "svm",
             .kind = MARGIN_LEARNER,
             .summary = "Support vector machine: the linear function with the widest soft margin",
             .formula = "C sum max(1 - y f, 0) + |w|^2/2,  f = w.x + b  (or the loss squared)",
             .source = "Cortes and Vapnik 1995; Li, Sun and Toh 2018 (semismooth Newton)",
             .page = "docs/svm.md",
             .abilities = MARGIN_CAN_TWO_CLASS | MARGIN_CAN_SPARSE | MARGIN_CAN_WEIGHTS |
                          MARGIN_CAN_TRACE | MARGIN_CAN_ARGMAX,
             .options = options,
             .option_count = MG_LENGTH(options)},
    .makes = {&mg_hypothesis_linear},
    .takes_affine = true,
    .takes_made_rows = true,
    .check = svm_check,
    .fit = svm_fit,
    .share = svm_share,
    .fit_many = svm_fit_many,
    .differ = MG_DIFFER_SIGNS,
    .verify = svm_verify,
};
