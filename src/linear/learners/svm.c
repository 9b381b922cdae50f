/* Support vector machines: the linear function with the widest margin that the penalty allows. */
#include "kernel/svm/kernel_svm.h"
#include "learn/kernel_options.h"
#include "linear/learners/linear_learner.h"
#include "linear/learners/linear_learners.h"

#include <math.h>
#include <string.h>

/* Of options in the table. */
enum { LOSS_AT, KERNEL_AT };

static const margin_option options[] = {
    [LOSS_AT] = {.name = "loss",
                 .type = MARGIN_OPTION_CHOICE,
                 .default_text = "hinge",
                 .choices = "hinge|squared-hinge",
                 .help = "what a row costs: max(1 - y f, 0), or that squared"},
    [KERNEL_AT] = MG_OPTION_KERNEL("linear", MG_KERNEL_CHOICES_GRAM,
                                   "linear: f is a linear function of the columns; others: f is a "
                                   "sum of kernel values with training rows; precomputed: the data "
                                   "are the Gram matrix"),
    MG_OPTIONS_KERNEL_SHAPE,
    MG_OPTION_C("1"),
    MG_OPTION_ALPHA(NULL),
    MG_OPTION_LAMBDA,
    {.name = "task",
     .type = MARGIN_OPTION_CHOICE,
     .default_text = "auto",
     .choices = "auto|classify|regress",
     .help = "auto takes a target of many numbers for a regression, where there is a kernel"},
    {.name = "epsilon",
     .type = MARGIN_OPTION_NUMBER,
     .low = 0,
     .high = (double)INFINITY,
     .high_open = 1,
     .default_text = "0.1",
     .help = "regression: errors up to this cost nothing"},
    MG_OPTION_TOL_OF("0.0001", "relative duality gap to reach (with a kernel: 0.001)"),
    {.name = "kkt",
     .type = MARGIN_OPTION_NUMBER,
     .low = 0,
     .low_open = 1,
     .high = (double)INFINITY,
     .high_open = 1,
     .help = "with a kernel: end at this violation of the KKT conditions, LIBSVM's measure, "
             "in place of tol"},
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
     .help = "more than two classes: one against the rest, one against one (with "
             "a kernel the default), or all trained together (hinge of Crammer "
             "and Singer)"},
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

/* What only a machine with a kernel has. */
static margin_status check_kernel(const mg_option_value *values, margin_error *error) {
    static const char *const others[] = {"kkt", "epsilon"};
    for (int k = 0; k < MG_LENGTH(others); k++)
        MG_REQUIRE(!value_of(values, others[k])->given, error, MARGIN_ERROR_SPEC,
                   "svm: %s needs a kernel or task=regress; leave it out", others[k]);
    return mg_kernel_options_check(&mg_learner_svm.info, values, error);
}

static margin_status svm_check(const mg_option_value *values, margin_error *error) {
    MG_TRY(check_kernel(values, error));
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

/* ---- With a kernel --------------------------------------------------------------------------- */

#define SVM_INFO(what, means, papers, can)                                                         \
    {                                                                                              \
        .name = "svm", .kind = MARGIN_LEARNER, .summary = what, .formula = means,                  \
        .source = papers, .page = "docs/svm.md",                                                   \
        .abilities = MARGIN_CAN_TWO_CLASS | MARGIN_CAN_SPARSE | MARGIN_CAN_WEIGHTS | (can),        \
        .options = options, .option_count = MG_LENGTH(options)                                     \
    }

static const mg_learner svm_kernel;

static margin_status kernel_check(const mg_option_value *values, margin_error *error) {
    return mg_kernel_svm_check(&svm_kernel.info, values, error);
}
static margin_status kernel_fits(const mg_problem *problem, const mg_option_value *values,
                                 const mg_hypothesis *h, margin_error *error) {
    return mg_kernel_svm_fits(&svm_kernel.info, problem, values, h, error);
}
static margin_status kernel_share(mg_shared *shared) {
    return mg_kernel_svm_share(shared, &svm_kernel.info);
}
static margin_status kernel_fit(mg_fit *fit) {
    return mg_kernel_svm_fit(fit, &svm_kernel.info);
}
static margin_status kernel_fit_many(mg_fit *fits, int64_t count) {
    return mg_kernel_svm_fit_many(fits, count, &svm_kernel.info);
}
static margin_status kernel_verify(mg_fit *fit, const mg_hypothesis *hypothesis) {
    return mg_kernel_svm_verify(fit, &svm_kernel.info, hypothesis);
}

static void kernel_defaults(mg_option_value *values) {
    mg_option_value *tol = &values[mg_option_index(&svm_kernel.info, "tol")];
    mg_option_value *multiclass = &values[mg_option_index(&svm_kernel.info, "multiclass")];
    if (!tol->given) tol->number = 1e-3;
    if (multiclass->given) return;
    multiclass->text = "ovo";
    multiclass->integer = 1;
}

static const mg_learner svm_kernel = {
    .info = SVM_INFO("Support vector machine with a kernel: the widest soft margin among sums of "
                     "kernel values",
                     "C sum max(1 - y f, 0) + |f|^2/2,  f = sum_i a_i k(x_i, x) + b",
                     "Boser, Guyon and Vapnik 1992; Platt 1998; Fan, Chen and Lin 2005",
                     MARGIN_CAN_REGRESSION),
    .makes = {&mg_hypothesis_expansion},
    .fits = kernel_fits,
    .defaults = kernel_defaults,
    .check = kernel_check,
    .share = kernel_share,
    .fit = kernel_fit,
    .fit_many = kernel_fit_many,
    .differ = MG_DIFFER_SIGNS | MG_DIFFER_ROWS,
    .verify = kernel_verify,
};

/* ---- Entry ----------------------------------------------------------------------------------- */

static const mg_learner *svm_variant(const mg_option_value *values) {
    const mg_option_value *task = value_of(values, "task");
    const bool classes = is(task, "auto") || is(task, "classify");
    return classes && is(&values[KERNEL_AT], "linear") ? &mg_learner_svm : &svm_kernel;
}

const mg_learner mg_learner_svm = {
    .info = SVM_INFO("Support vector machine: the function with the widest soft margin, linear or "
                     "with a kernel",
                     "C sum max(1 - y f, 0) + |w|^2/2,  f = w.x + b  (or the loss squared)",
                     "Cortes and Vapnik 1995; Li, Sun and Toh 2018 (semismooth Newton)",
                     MARGIN_CAN_TRACE | MARGIN_CAN_ARGMAX),
    .variant = svm_variant,
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
