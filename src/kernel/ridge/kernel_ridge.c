/* The learner kernel-ridge: options, choice of the way, report. */
#include "kernel/ridge/kernel_ridge.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Rows up to which a factor, which also gives the errors at rows left out, is chosen. */
enum { DIRECT_ROWS = 2048 };
/* A factor takes as long as so many rows / this steps. */
enum { STEPS_OF_FACTOR = 16 };
/* From so many penalties on a band form is made for them: it takes as long as four factors, and
 * with it each penalty a quarter of one. */
enum { PENALTIES_OF_FORM = 6 };

/* ---- Options --------------------------------------------------------------------------------- */

static const margin_option option_table[] = {
    MG_OPTION_KERNEL_RBF,
    MG_OPTIONS_KERNEL_SHAPE,
    MG_OPTION_ALPHA_OF("1", "|f|^2, alpha above 0"),
    MG_OPTION_LAMBDA_OF("|f|^2, lambda above 0"),
    MG_OPTION_C_AGAINST(NULL, "|f|^2/2, less than inf"),
    MG_SWITCH("intercept", "no", "fit an intercept, which is never penalised"),
    MG_CHOICE(
        "solver", "auto", "auto|cholesky|cg|gd",
        "a factor of the Gram matrix, which also tells the errors at rows left out; "
        "conjugate gradients; or by the number of rows; or the textbook's gradient descent on "
        "the coefficients"),
    MG_OPTION_KERNEL_RATE,
    MG_OPTION_TOL("1e-06"),
    MG_INTEGER("max_iter", NULL, "limit on steps of solver=cg and gd (default: 10000)", .low = 1,
               .high = 1e9),
    MG_CHOICE("task", "auto", "auto|classify|regress",
              "what the target is; auto: numbers are values unless they look like classes"),
    MG_OPTION_MULTICLASS,
    MG_OPTION_CLASS_WEIGHT,
};

static const margin_component *const own = &mg_learner_kernel_ridge.info;

static const mg_option_value *option(const mg_option_value *values, const char *name) {
    return mg_option_named(own, values, name);
}

mg_ridge_options mg_ridge_options_of(const mg_fit *fit) {
    const mg_option_value *values = fit->options;
    return (mg_ridge_options){.choice = mg_kernel_options_of(own, values),
                              .penalty =
                                  mg_penalty_of(own, values, 0.0, mg_total_weight(fit->problem)),
                              .intercept = option(values, "intercept")->integer != 0,
                              .tolerance = option(values, "tol")->number,
                              .automatic = mg_option_is(own, values, "solver", "auto"),
                              .direct = mg_option_is(own, values, "solver", "cholesky"),
                              .descends = mg_option_is(own, values, "solver", "gd"),
                              .max_iterations = option(values, "max_iter")->integer};
}

static margin_status kernel_ridge_check(const margin_component *info, const mg_option_value *values,
                                        margin_error *error) {
    MG_TRY(mg_kernel_options_check(info, values, error));
    const bool descent = mg_option_is(own, values, "solver", "gd");
    MG_REQUIRE(!descent || option(values, "intercept")->integer == 0, error, MARGIN_ERROR_SPEC,
               "kernel-ridge: solver=gd has no intercept; leave one of them out");
    MG_REQUIRE(!mg_asks_no_penalty(info, values), error, MARGIN_ERROR_SPEC,
               "kernel-ridge: without a penalty a kernel can fit any numbers; take a small alpha "
               "above 0, such as 1e-6");
    return MARGIN_OK;
}

/* ---- The way --------------------------------------------------------------------------------- */

static mg_kernel_plan plan_of(const mg_ridge_run *run, mg_kernel_way way) {
    const mg_kernel_sizes sizes =
        mg_kernel_sizes_of(&run->fits[0], &run->options->choice.kernel, run->targets);
    return mg_kernel_plan_make(run->context, &sizes, way);
}

/* Conjugate gradients that would take longer than a factor give way to it, or, where there is no
 * memory for one, end after twice as many steps, which make kernel values anew. */
static margin_status solve_conjugate(mg_ridge_run *run) {
    const mg_kernel_plan direct = plan_of(run, MG_WAY_FACTOR);
    const bool open = run->options->automatic && run->options->max_iterations < 0;
    const bool may_change = open && direct.chosen;
    const bool anew = run->system.storage == MG_GRAM_NONE;
    const mg_kernel kernel = run->system.kernel;
    if (open && (direct.chosen || anew))
        run->stop.max_iterations =
            (direct.chosen ? 1 : 2) * MG_MAX(run->count / STEPS_OF_FACTOR, 50);
    MG_TRY(mg_ridge_conjugate(run));
    if (!may_change || run->ended != MARGIN_STOPPED_ITERATIONS) return MARGIN_OK;
    run->stop.max_iterations = -1;
    run->stop.pace = NULL;
    run->ended = MARGIN_OK;
    run->iterations = 0;
    mg_kernel_system_free(&run->system);
    MG_TRY(mg_announce(run->context, &direct.says, run->error));
    MG_TRY(mg_kernel_system_make(run->context, run->problem, &kernel, MG_GRAM_SQUARE, &run->system,
                                 run->error));
    return mg_ridge_direct(run);
}

bool mg_ridge_is_direct(const mg_ridge_options *options, int64_t rows) {
    return options->direct || (options->automatic && rows <= DIRECT_ROWS);
}

bool mg_ridge_wants_form(int64_t penalties) {
    return penalties >= PENALTIES_OF_FORM;
}

static void start_again(mg_ridge_run *run) {
    const size_t bytes = (size_t)(run->targets * run->count) * sizeof *run->a;
    memset(run->a, 0, bytes);
    memset(run->fitted, 0, bytes);
    run->iterations = 0;
}

/* By the form, if there is one, and where that does not prove, by a factor. */
static margin_status solve_direct(mg_ridge_run *run, bool reduce) {
    margin_status status = reduce ? mg_ridge_reduce(run) : MARGIN_OK;
    bool proven = false;
    if (status == MARGIN_OK && run->form.scale) {
        MG_TRY(mg_ridge_by_form(run, &proven));
        status = mg_stop_check(&run->stop, 0);
    }
    if (proven && status == MARGIN_OK) return MARGIN_OK;
    mg_ridge_form_free(run->context->heap, &run->form);
    if (status != MARGIN_OK) return status < 0 ? status : (run->ended = status);
    start_again(run);
    return mg_ridge_direct(run);
}

margin_status mg_ridge_solve(mg_ridge_run *run) {
    const mg_ridge_options *options = run->options;
    const mg_kept *kept = run->fits[0].kept;
    const bool direct = mg_ridge_is_direct(options, run->count);
    bool reduce =
        direct && kept && isinf(run->stop.deadline) && mg_ridge_wants_form(kept->following + 1);
    mg_kernel kernel;
    MG_TRY(mg_kernel_of_fit(&run->fits[0], &options->choice, own->name, &kernel));
    if (direct && mg_ridge_take(run, &kernel)) {
        MG_TRY(mg_ridge_begin(run));
        return solve_direct(run, reduce && !run->worn);
    }
    mg_kernel_plan plan = plan_of(run, reduce   ? MG_WAY_FORM
                                       : direct ? MG_WAY_FACTOR
                                                : MG_WAY_CONJUGATE);
    if (!plan.chosen && reduce) {
        reduce = false;
        plan = plan_of(run, MG_WAY_FACTOR);
    }
    if (!plan.chosen && options->automatic) plan = plan_of(run, MG_WAY_CONJUGATE);
    MG_TRY(mg_announce(run->context, &plan.says, run->error));
    MG_TRY(mg_ridge_begin(run));
    MG_TRY(mg_kernel_system_make(run->context, run->problem, &kernel, plan.storage, &run->system,
                                 run->error));
    return plan.storage == MG_GRAM_SQUARE ? solve_direct(run, reduce) : solve_conjugate(run);
}

margin_status mg_ridge_solve_penalties(mg_ridge_run *run) {
    bool proven = false;
    mg_kernel kernel;
    MG_TRY(mg_kernel_of_fit(&run->fits[0], &run->options->choice, own->name, &kernel));
    MG_REQUIRE(mg_ridge_take(run, &kernel), run->error, MARGIN_ERROR_INTERNAL, "no matrix is kept");
    MG_TRY(mg_ridge_begin(run));
    if (!run->worn) MG_TRY(mg_ridge_by_shifts(run, &proven));
    if (proven) return MARGIN_OK;
    start_again(run);
    MG_TRY(mg_ridge_reduce(run));
    return mg_ridge_by_form(run, &proven);
}

/* ---- Report ---------------------------------------------------------------------------------- */

void mg_ridge_describe(const mg_ridge_options *options, const mg_kernel *kernel,
                       margin_report *report) {
    mg_kernel_report(&options->penalty, kernel, "(f-y)^2", report);
    report->tolerance = options->tolerance;
}

static margin_status status_of(const mg_ridge_run *run, double gap) {
    const bool cut = run->ended == MARGIN_STOPPED_TIME; /* without it there would be more */
    if (gap <= run->options->tolerance && !cut) return MARGIN_OK;
    return run->ended > 0 ? run->ended : MARGIN_STOPPED_STALLED;
}

static void describe_end(const mg_ridge_run *run, margin_report *report) {
    const mg_kernel_name kernel = mg_kernel_describe(&run->system.kernel);
    static const double most = 1e12;
    if (run->system.curvature != MG_KERNEL_DEFINITE)
        mg_report_reason(report,
                         "%s; but the kernel %s %s, so nothing bounds how low the objective could "
                         "be: take %s%s",
                         run->method, kernel.text, mg_kernel_doubt(run->system.curvature),
                         mg_kernel_definite_words(&run->system.kernel),
                         run->condition > most
                             ? "; and K + alpha is singular but for rounding: take a larger alpha"
                             : "");
    else if (report->status == MARGIN_STOPPED_TIME)
        mg_report_reason(report, "the time limit came first: %s; kernel %s", run->method,
                         kernel.text);
    else if (report->status == MARGIN_STOPPED_ITERATIONS)
        mg_report_reason(report, "the limit of %lld steps is reached: %s; raise max_iter%s",
                         (long long)run->iterations, run->method,
                         run->system.storage == MG_GRAM_NONE ? ", alpha or the memory, for a factor"
                                                             : " or alpha");
    else if (report->status == MARGIN_STOPPED_STALLED)
        mg_report_reason(report,
                         "rounding limits the residual (%s, kernel %s): %stake a larger alpha",
                         run->method, kernel.text, mg_kernel_scale_words(&run->system.kernel));
    else
        mg_report_reason(report, "%s; kernel %s", run->method, kernel.text);
}

void mg_ridge_say(mg_ridge_run *run, int64_t t) {
    margin_report *report = &run->fits[t].report;
    const double factor = run->penalty[t].factor;
    mg_ridge_options options = *run->options;
    options.penalty = run->penalty[t];
    mg_ridge_describe(&options, &run->system.kernel, report);
    report->objective = factor * run->objective[t];
    report->gap = mg_ridge_proven_gap(run, t);
    report->status = status_of(run, report->gap);
    report->iterations = run->iterations;
    snprintf(report->iteration_name, sizeof report->iteration_name, "%s", run->iteration_name);
    if (!isnan(run->condition)) mg_report_set(report, "condition", run->condition);
    if (!isnan(run->missed[t]))
        mg_report_set(report, "leave_one_out_rmse", sqrt(run->missed[t] / run->total));
    describe_end(run, report);
}

margin_status mg_ridge_hand_over(mg_ridge_run *run) {
    for (int64_t t = 0; t < run->targets; t++) {
        mg_ridge_say(run, t);
        MG_TRY(mg_kernel_system_hand_over(&run->system, run->a + t * run->count, run->b[t] + 0.0,
                                          &run->fits[t]));
    }
    return MARGIN_OK;
}

/* ---- The learner ----------------------------------------------------------------------------- */

static margin_status fit_targets(mg_fit *fits, int64_t count) {
    const mg_ridge_options options = mg_ridge_options_of(&fits[0]);
    margin_context context;
    mg_context_copy(fits[0].context, &context);
    mg_ridge_run run = mg_ridge_run_of(fits, count, &context, &options);
    run.iteration_name = "steps";
    margin_status status = mg_ridge_solve(&run);
    if (run.y && mg_timed_out(&context, status)) { /* the last that was judged */
        run.ended = MARGIN_STOPPED_TIME;
        status = MARGIN_OK;
    }
    if (status >= 0) status = mg_ridge_hand_over(&run);
    if (status >= 0) status = mg_ridge_leave(&run);
    mg_ridge_end(&run);
    if (status < 0) mg_fits_undo(fits, count);
    return status < 0 ? status : MARGIN_OK;
}

/* The textbook's way. */
static margin_status descend(mg_fit *fit, const mg_ridge_options *options) {
    mg_kernel_task task = {.choice = &options->choice,
                           .loss = mg_loss_get(MG_LOSS_SQUARED),
                           .penalty = options->penalty,
                           .tolerance = options->tolerance,
                           .minimise = mg_kernel_descend};
    MG_TRY(mg_kernel_store(&task, fit, 1, MG_WAY_NEWTON, true));
    return mg_kernel_fit_all(&task, fit, 1);
}

static margin_status kernel_ridge_fit(mg_fit *fit) {
    const mg_ridge_options options = mg_ridge_options_of(fit);
    MG_TRY(options.descends ? descend(fit, &options) : fit_targets(fit, 1));
    return fit->report.status;
}

static margin_status kernel_ridge_fit_many(mg_fit *fits, int64_t count) {
    const unsigned differ = fits[0].shared->differ;
    if (differ & MG_DIFFER_FOLDS) return mg_kernel_ridge_folds(fits, count);
    return differ & MG_DIFFER_OPTIONS ? mg_kernel_ridge_path(fits, count)
                                      : fit_targets(fits, count);
}

static margin_status kernel_ridge_share(mg_shared *shared) {
    const mg_kernel_choice choice = mg_kernel_options_of(own, shared->options);
    if (shared->differ & MG_DIFFER_FOLDS) { /* which have each a gamma of their own */
        shared->together = shared->fits;
        return MARGIN_OK;
    }
    MG_TRY(mg_kernel_share(shared, &choice, own->name));
    const bool descent = mg_option_is(own, shared->options, "solver", "gd");
    if (!descent || (shared->differ & MG_DIFFER_OPTIONS)) shared->together = shared->fits;
    return MARGIN_OK;
}

static const mg_learner_more more = {.keeps_rows = true};

const mg_learner mg_learner_kernel_ridge = {
    .info = {.name = "kernel-ridge",
             .summary = "Ridge over a kernel: a coefficient for every row",
             .formula = "minimise sum (f - y)^2 + alpha |f|^2,  f = sum_j a_j k(x_j, x)",
             .source = "Saunders, Gammerman and Vovk 1998; Kimeldorf and Wahba 1971 (representer "
                       "theorem)",
             .page = "docs/kernel-ridge.md",
             .abilities = MARGIN_CAN_TWO_CLASS | MARGIN_CAN_REGRESSION | MARGIN_CAN_SPARSE |
                          MARGIN_CAN_WEIGHTS | MARGIN_CAN_TARGETS | MARGIN_CAN_TRACE,
             MG_LEARNER_TABLE(option_table)},
    .makes = {&mg_hypothesis_expansion},
    .fits = mg_kernel_fits,
    .check = kernel_ridge_check,
    .share = kernel_ridge_share,
    .fit = kernel_ridge_fit,
    .fit_many = kernel_ridge_fit_many,
    .differ = MG_DIFFER_SIGNS | MG_DIFFER_TARGETS | MG_DIFFER_OPTIONS | MG_DIFFER_FOLDS,
    .verify = mg_kernel_ridge_verify,
    .more = &more,
    .told = " rate condition rank freedom gcv_rmse ",
};
