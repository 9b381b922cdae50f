/* Support vector machines: the linear function with the widest margin that the penalty allows. */
#include "kernel/svm/kernel_svm.h"
#include "learn/kernels/kernel_options.h"
#include "linear/learners/linear_learner.h"

#include <string.h>

/* Of options in the table. */
enum { LOSS_AT, KERNEL_AT };

static const margin_option options[] = {
    [LOSS_AT] = MG_CHOICE("loss", "hinge", "hinge|squared-hinge",
                          "what a row costs: max(1 - y f, 0), or that squared"),
    [KERNEL_AT] = MG_OPTION_KERNEL("linear", MG_KERNEL_CHOICES_OWN,
                                   "linear: f is a linear function of the columns; others: f is a "
                                   "sum of kernel values with training rows; user: a function of "
                                   "the program; precomputed: the data are the Gram matrix"),
    MG_OPTIONS_KERNEL_SHAPE,
    MG_OPTIONS_PENALTY,
    MG_CHOICE("task", "auto", "auto|classify|regress|one-class",
              "auto takes a target of many numbers for a regression, where there is a kernel; "
              "one-class has no target and tells outliers from the rest"),
    MG_NUMBER("nu", "0.5",
              "one-class: at most this share of the rows are outliers, at least this share support "
              "vectors",
              .low = 0, .low_open = 1, .high = 1, .when = "task=one-class"),
    MG_NUMBER("epsilon", "0.1", "regression: errors up to this cost nothing", MG_FROM_0,
              MG_SIMPLER),
    MG_OPTION_TOL_OF("0.0001", "relative duality gap to reach (with a kernel: 0.001)"),
    MG_NUMBER("kkt", NULL,
              "with a kernel: end at this violation of the KKT conditions, LIBSVM's measure, "
              "in place of tol",
              MG_ABOVE_0),
    MG_OPTION_MAX_ITER,
    MG_CHOICE(
        "solver", "auto", "auto|dual_cd|lbfgs|newton|ssnal" MG_SOLVERS_DESCENT,
        "how: chosen from loss and shape of the data; dual coordinate descent; quasi-Newton or "
        "Newton (squared hinge); semismooth Newton (hinge)" MG_SOLVERS_DESCENT_HELP
        "; with a kernel auto, or for classes gd on the coefficients of the rows"),
    MG_OPTIONS_DESCENT,
    MG_OPTION_INTERCEPT,
    MG_OPTION_CLASS_WEIGHT,
    MG_CHOICE("multiclass", "ovr", "ovr|ovo|argmax",
              "more than two classes: one against the rest, one against one (with "
              "a kernel the default), or all trained together (hinge of Crammer "
              "and Singer)"),
};

static mg_loss_kind svm_loss(const mg_fit *fit) {
    if (fit->problem->kind == MG_ARGMAX) return MG_LOSS_CRAMMER_SINGER;
    return fit->options[LOSS_AT].integer == 0 ? MG_LOSS_HINGE : MG_LOSS_SQUARED_HINGE;
}

/* multiclass=argmax has a loss and a method of its own, and needs a penalty. */
static margin_status check_argmax(const margin_component *info, const mg_option_value *values,
                                  margin_error *error) {
    const mg_option_value *solver = mg_option_named(info, values, "solver");
    if (!mg_option_is(info, values, "multiclass", "argmax")) return MARGIN_OK;
    MG_REQUIRE(mg_option_is(info, values, "loss", "hinge"), error, MARGIN_ERROR_SPEC,
               "svm: multiclass=argmax has the hinge of Crammer and Singer only; leave "
               "loss=squared-hinge out, or use multiclass=ovr or ovo");
    MG_REQUIRE(strcmp(solver->text, "auto") == 0 || strcmp(solver->text, "dual_cd") == 0, error,
               MARGIN_ERROR_SPEC,
               "svm: multiclass=argmax is solved by dual coordinate descent; leave solver=%s out",
               solver->text);
    MG_REQUIRE(!mg_asks_no_penalty(info, values), error, MARGIN_ERROR_SPEC,
               "svm: multiclass=argmax needs a penalty; give C a finite value");
    return MARGIN_OK;
}

static margin_status svm_check(const margin_component *info, const mg_option_value *values,
                               margin_error *error) {
    MG_REQUIRE(!mg_option_named(info, values, "kkt")->given, error, MARGIN_ERROR_SPEC,
               "svm: kkt needs a kernel, task=regress or task=one-class; leave it out");
    MG_REQUIRE(!mg_option_named(info, values, "epsilon")->given, error, MARGIN_ERROR_SPEC,
               "svm: epsilon belongs to regression: add task=regress, or leave it out");
    MG_TRY(mg_kernel_options_check(info, values, error));
    MG_TRY(check_argmax(info, values, error));
    return mg_linear_check(info, values, error);
}

/* ---- With a kernel --------------------------------------------------------------------------- */

#define SVM_INFO(what, means, papers, can)                                                         \
    {                                                                                              \
        .name = "svm", .kind = MARGIN_LEARNER, .summary = what, .formula = means,                  \
        .source = papers, .page = "docs/svm.md",                                                   \
        .abilities = MARGIN_CAN_TWO_CLASS | MARGIN_CAN_SPARSE | MARGIN_CAN_WEIGHTS | (can),        \
        MG_OPTION_TABLE(options)                                                                   \
    }

static const mg_learner svm_kernel = {
    .info = SVM_INFO("Support vector machine with a kernel: the widest soft margin among sums of "
                     "kernel values",
                     "C sum max(1 - y f, 0) + |f|^2/2,  f = sum_i a_i k(x_i, x) + b",
                     "Boser, Guyon and Vapnik 1992; Platt 1998; Fan, Chen and Lin 2005",
                     MARGIN_CAN_REGRESSION),
    MG_KERNEL_SVM_LEARNER,
    .fit_many = mg_kernel_svm_fit_many,
    .differ = MG_DIFFER_SIGNS | MG_DIFFER_ROWS | MG_DIFFER_FOLDS,
};

static const mg_learner svm_descent = {
    .info = SVM_INFO("Support vector machine with a kernel, by the textbook's descent on the "
                     "coefficients of the rows",
                     "C sum max(1 - y f, 0) + |f|^2/2,  f = sum_i a_i k(x_i, x)",
                     "Kimeldorf and Wahba 1971 (representer theorem); Shor 1985 (subgradients)",
                     MARGIN_CAN_TRACE),
    MG_SVM_DESCENT_LEARNER,
};

static const mg_learner svm_one_class = {
    .info = {.name = "svm",
             .summary = "Support vector machine for one class: where most of the rows are, without "
                        "a target",
             .formula = "|f|^2/2 + sum max(rho - f, 0) - nu m rho,  f = sum_i a_i k(x_i, x)",
             .source = "Scholkopf, Platt, Shawe-Taylor, Smola and Williamson 2001",
             .page = "docs/svm.md",
             .abilities = MARGIN_CAN_CLUSTER | MARGIN_CAN_SPARSE | MARGIN_CAN_WEIGHTS,
             MG_LEARNER_TABLE(options)},
    MG_KERNEL_SVM_LEARNER,
};

static const mg_learner *svm_variant(const mg_option_value *values) {
    const char *task = mg_option_named(&mg_learner_svm.info, values, "task")->text;
    const bool linear = strcmp(values[KERNEL_AT].text, "linear") == 0;
    if (strcmp(task, "one-class") == 0) return &svm_one_class;
    if (strcmp(task, "regress") == 0) return &svm_kernel;
    if (linear) return &mg_learner_svm;
    return mg_option_is(&mg_learner_svm.info, values, "solver", "gd") ? &svm_descent : &svm_kernel;
}

const mg_learner mg_learner_svm = {
    .info = SVM_INFO("Support vector machine: the function with the widest soft margin, linear or "
                     "with a kernel",
                     "C sum max(1 - y f, 0) + |w|^2/2,  f = w.x + b  (or the loss squared)",
                     "Cortes and Vapnik 1995; Li, Sun and Toh 2018 (semismooth Newton)",
                     MARGIN_CAN_TRACE | MARGIN_CAN_ARGMAX),
    .variant = svm_variant,
    MG_LINEAR_LEARNER(svm_check, mg_linear_fit_one, .loss = MG_LOSS_HINGE, .loss_of = svm_loss),
    .share = mg_linear_share,
    .fit_many = mg_linear_fit,
    .differ = MG_DIFFER_SIGNS,
};
