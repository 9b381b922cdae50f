/* The learner kernel-logistic. */
#include "kernel/logistic/kernel_logistic.h"

#include <math.h>

/* Rows up to which steps are solved by a factor. */
enum { DIRECT_ROWS = 1024 };

static const margin_option option_table[] = {
    MG_OPTION_KERNEL_RBF,
    MG_OPTIONS_KERNEL_SHAPE,
    MG_OPTION_C_AGAINST("1", "|f|^2/2, less than inf"),
    MG_OPTION_ALPHA_OF(NULL, "|f|^2, alpha above 0"),
    MG_OPTION_LAMBDA_OF("|f|^2, lambda above 0"),
    MG_CHOICE(
        "solver", "auto", "auto|cholesky|cg|gd",
        "Newton's method by a factor, or by conjugate gradients, or by the number of rows; or "
        "the textbook's gradient descent on the coefficients"),
    MG_OPTION_KERNEL_RATE,
    MG_OPTION_TOL("1e-06"),
    MG_INTEGER("max_iter", NULL, "limit on steps (default: 100, of solver=gd 10000)", .low = 1,
               .high = 1e9),
    MG_OPTION_MULTICLASS,
    MG_OPTION_CLASS_WEIGHT,
};

static const margin_component *const own = &mg_learner_kernel_logistic.info;

static margin_status kernel_logistic_check(const margin_component *info,
                                           const mg_option_value *values, margin_error *error) {
    const mg_kernel kernel = mg_kernel_options_of(own, values).kernel;
    MG_TRY(mg_kernel_options_check(info, values, error));
    MG_REQUIRE(!mg_asks_no_penalty(info, values), error, MARGIN_ERROR_SPEC,
               "kernel-logistic: without a penalty a kernel can tell any classes apart; take a "
               "large C, such as 1e6");
    const bool given = kernel.kind == MG_KERNEL_FUNCTION || kernel.kind == MG_KERNEL_PRECOMPUTED;
    MG_REQUIRE(given || mg_kernel_is_definite(&kernel), error, MARGIN_ERROR_SPEC,
               "kernel-logistic: needs a kernel that is an inner product, as its objective else "
               "has no least value: rbf, laplacian, linear, exp, or poly with coef0 >= 0");
    return MARGIN_OK;
}

/* ---- Fit ------------------------------------------------------------------------------------- */

static margin_status kernel_logistic_fit_many(mg_fit *fits, int64_t count) {
    const mg_option_value *values = fits[0].options;
    const mg_kernel_choice choice = mg_kernel_options_of(own, values);
    const bool descent = mg_option_is(own, values, "solver", "gd");
    const bool strict = mg_option_is(own, values, "solver", "cholesky");
    const bool direct = strict || (mg_option_is(own, values, "solver", "auto") &&
                                   fits[0].problem->count <= DIRECT_ROWS);
    mg_kernel_task task = {.choice = &choice,
                           .loss = mg_loss_get(MG_LOSS_LOGISTIC),
                           .penalty =
                               mg_penalty_of(own, values, 0.0, mg_total_weight(fits[0].problem)),
                           .needs_definite = true,
                           .tolerance = mg_option_named(own, values, "tol")->number,
                           .minimise = descent ? mg_kernel_descend : mg_kernel_newton};
    MG_TRY(
        mg_kernel_store(&task, fits, count, direct ? MG_WAY_NEWTON_FACTOR : MG_WAY_NEWTON, strict));
    return mg_kernel_fit_all(&task, fits, count);
}

static margin_status kernel_logistic_fit(mg_fit *fit) {
    MG_TRY(kernel_logistic_fit_many(fit, 1));
    return fit->report.status;
}

static margin_status kernel_logistic_share(mg_shared *shared) {
    const mg_kernel_choice choice = mg_kernel_options_of(own, shared->options);
    MG_TRY(mg_kernel_share(shared, &choice, own->name));
    shared->together = shared->fits;
    return MARGIN_OK;
}

static margin_status kernel_logistic_verify(mg_fit *fit, const mg_hypothesis *hypothesis) {
    return mg_kernel_point_verify(fit, hypothesis, mg_loss_get(MG_LOSS_LOGISTIC));
}

const mg_learner mg_learner_kernel_logistic = {
    .info = {.name = "kernel-logistic",
             .summary = "Logistic regression over a kernel: a sum of kernels that is the log-odds "
                        "of a class",
             .formula = "C sum log(1+exp(-y f)) + |f|^2/2,  f = sum_j a_j k(x_j, x),  P(y=1) = "
                        "1/(1+exp(-f))",
             .source = "Zhu and Hastie 2005; Rasmussen and Williams 2006 (Newton's method)",
             .page = "docs/kernel-logistic.md",
             .abilities = MARGIN_CAN_TWO_CLASS | MARGIN_CAN_SPARSE | MARGIN_CAN_WEIGHTS |
                          MARGIN_CAN_PROBABILITY | MARGIN_CAN_TRACE,
             MG_LEARNER_TABLE(option_table)},
    .makes = {&mg_hypothesis_expansion},
    .fits = mg_kernel_fits,
    .check = kernel_logistic_check,
    .share = kernel_logistic_share,
    .fit = kernel_logistic_fit,
    .fit_many = kernel_logistic_fit_many,
    .differ = MG_DIFFER_SIGNS,
    .verify = kernel_logistic_verify,
    .told = " rate ",
    .probabilities = mg_logistic_probabilities,
};
