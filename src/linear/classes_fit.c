/* From options to a certified model of several classes trained together. */
#include "linear/classes_fit.h"

#include "learn/dual.h"
#include "linear/classes_smooth.h"
#include "linear/linear_options.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct classes_run {
    mg_fit *fit;
    mg_linear_options options;
    mg_design design;
    mg_classes objective;
    mg_classes_solution solution;
} classes_run;

/* ---- Report ---------------------------------------------------------------------------------- */

static void fill_report(classes_run *run, const char *loss, const char *solver, const char *steps) {
    const mg_classes_solution *solution = &run->solution;
    const mg_penalty *penalty = &run->objective.penalty;
    margin_report *report = &run->fit->report;
    report->status = solution->status;
    report->objective = solution->primal;
    report->gap = solution->gap;
    report->tolerance = run->options.tolerance;
    report->iterations = solution->iterations;
    snprintf(report->iteration_name, sizeof report->iteration_name, "%s", steps);
    mg_linear_describe(penalty, loss, report);
    mg_report_set(report, "C", penalty->C);
    mg_report_set(report, "alpha", penalty->alpha);
    mg_report_set(report, "lambda", penalty->lambda);
    mg_report_reason(report, "%s (solver %s)", solution->why, solver);
}

/* ---- Hypothesis ------------------------------------------------------------------------------ */

static margin_status make_hypothesis(classes_run *run) {
    const mg_classes *o = &run->objective;
    margin_error *error = run->fit->error;
    mg_hypothesis *h = NULL;
    double *weights = NULL, *intercept = NULL;
    margin_status status;
    MG_GO(mg_hypothesis_new(run->fit->context->heap, &mg_hypothesis_linear, o->columns, o->classes,
                            &h, error));
    MG_GO(mg_hypothesis_tensor_new(h, "weights", MARGIN_F64, o->classes, o->columns, &weights,
                                   error));
    MG_GO(mg_hypothesis_tensor_new(h, "intercept", MARGIN_F64, o->classes, 0, &intercept, error));
    for (int64_t j = 0; j < o->classes * o->columns; j++)
        weights[j] = run->solution.w[j] + 0.0; /* -0 prints as 0 */
    for (int64_t k = 0; k < o->classes; k++)
        intercept[k] = run->solution.b[k] + 0.0;
    MG_GO(mg_hypothesis_attach(h, error));
    run->fit->hypothesis = h;
    return MARGIN_OK;
done:
    mg_hypothesis_free(h);
    return status;
}

/* ---- Fit ------------------------------------------------------------------------------------- */

static margin_status take_solution(classes_run *run) {
    const mg_classes *o = &run->objective;
    MG_NEW(run->design.heap, run->solution.w, o->classes * (o->columns + 1), "the weights",
           run->fit->error);
    run->solution.b = run->solution.w + o->classes * o->columns;
    memset(run->solution.w, 0, (size_t)(o->classes * (o->columns + 1)) * sizeof(double));
    return MARGIN_OK;
}

static margin_status solve(classes_run *run) {
    mg_fit *fit = run->fit;
    mg_classes_job job = {.objective = &run->objective,
                          .tolerance = run->options.tolerance,
                          .stop = mg_stop_make(fit->context, run->options.max_iterations),
                          .seed = fit->seed,
                          .error = fit->error};
    const margin_status status = mg_classes_minimise(&job, &run->solution);
    if (status >= 0) run->solution.status = status;
    return status;
}

static margin_status fit_run(classes_run *run, mg_classes_loss loss) {
    mg_fit *fit = run->fit;
    const mg_linear_options *o = &run->options;
    MG_TRY(mg_design_create(fit->context, fit->problem, &run->design, fit->error));
    MG_TRY(mg_classes_create(&run->design, loss, &o->penalty, o->intercept, &run->objective,
                             fit->error));
    MG_TRY(take_solution(run));
    MG_TRY(solve(run));
    fill_report(run, "(log sum_k exp(f_k) - f_y)", "lbfgs", "L-BFGS steps");
    MG_TRY(make_hypothesis(run));
    return run->solution.status;
}

margin_status mg_classes_fit(mg_fit *fit, const margin_option *table, int option_count,
                             mg_classes_loss loss, const char *default_spelling,
                             double default_value) {
    classes_run run = {.fit = fit};
    run.options = mg_linear_options_of(fit, table, option_count, default_spelling, default_value);
    const margin_status status = fit_run(&run, loss);
    mg_free(fit->context->heap, run.solution.shares);
    mg_free(fit->context->heap, run.solution.w);
    mg_classes_free(&run.objective);
    mg_design_free(&run.design);
    return status;
}
