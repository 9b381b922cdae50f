/* From options to a certified model of several classes trained together. */
#include "linear/learners/classes_fit.h"

#include "learn/dual.h"
#include "linear/dual/crammer_singer.h"
#include "linear/objective/linear_options.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct classes_run {
    mg_fit *fit;
    mg_linear_options options;
    mg_design design;
    mg_objective objective;
    mg_linear_solution solution;
    const char *solver, *steps; /* its name, and what it counts */
} classes_run;

/* ---- Report ---------------------------------------------------------------------------------- */

static void fill_report(classes_run *run) {
    const mg_linear_solution *solution = &run->solution;
    const mg_penalty *penalty = &run->objective.penalty;
    margin_report *report = &run->fit->report;
    report->status = solution->status;
    report->objective = solution->primal;
    report->gap = solution->gap;
    report->tolerance = run->options.tolerance;
    report->iterations = solution->iterations;
    snprintf(report->iteration_name, sizeof report->iteration_name, "%s", run->steps);
    mg_linear_describe(penalty, run->objective.loss->formula, report);
    mg_report_set(report, "C", penalty->C);
    mg_report_set(report, "alpha", penalty->alpha);
    mg_report_set(report, "lambda", penalty->lambda);
    mg_report_reason(report, "%s (solver %s)", solution->why, run->solver);
}

/* ---- Hypothesis ------------------------------------------------------------------------------ */

/* Entries of the dual form of one class: rows, coefficients, signs. */
typedef struct dual_part {
    int64_t count, *rows;
    double *coefficients, *signs;
} dual_part;

/* Of class k the dual variables c (1[y = k] - q_k), in the order of the samples. */
static void collect_dual(const classes_run *run, int64_t k, dual_part *part) {
    const mg_objective *o = &run->objective;
    const mg_problem *p = run->fit->problem;
    part->count = 0;
    for (int64_t i = 0; i < o->samples; i++) {
        const double *q = run->solution.shares + i * o->functions;
        double alpha = -q[k];
        if (k == p->code[i]) { /* 1 - q_k, exactly where it is small */
            alpha = 0.0;
            for (int64_t l = 0; l < o->functions; l++)
                alpha += l == k ? 0.0 : q[l];
        }
        if (alpha == 0.0) continue;
        part->rows[part->count] = mg_sample_original(p, i);
        part->coefficients[part->count] = o->c[i] * fabs(alpha);
        part->signs[part->count++] = alpha > 0.0 ? 1.0 : -1.0;
    }
}

static margin_status make_function(classes_run *run, int64_t k, dual_part *part,
                                   mg_hypothesis **h) {
    const mg_objective *o = &run->objective;
    mg_fit *fit = run->fit;
    const double *w = run->solution.w + k * o->columns;
    const double b = mg_design_intercept(&run->design, w, run->solution.b[k]);
    MG_TRY(mg_linear_make(fit->context->heap, w, o->columns, b + 0.0, h, fit->error));
    if (!run->solution.shares) return MARGIN_OK;
    collect_dual(run, k, part);
    return mg_hypothesis_set_dual(*h, part->count, part->rows, part->coefficients, part->signs,
                                  part->coefficients, fit->error);
}

/* Samples that other classes have a share of. */
static void count_support(classes_run *run) {
    const mg_objective *o = &run->objective;
    int64_t count = 0;
    for (int64_t i = 0; i < o->samples; i++) {
        const double *q = run->solution.shares + i * o->functions;
        double others = 0.0;
        for (int64_t k = 0; k < o->functions; k++)
            others += k == run->fit->problem->code[i] ? 0.0 : q[k];
        count += others > 0.0;
    }
    mg_report_set(&run->fit->report, "support_vectors", (double)count);
}

static margin_status make_hypothesis(classes_run *run) {
    const mg_objective *o = &run->objective;
    mg_heap *heap = run->fit->context->heap;
    margin_error *error = run->fit->error;
    mg_hypothesis **parts = mg_new_zero(heap, o->functions, sizeof *parts);
    dual_part dual = {0};
    margin_status status;
    if (!parts) return mg_no_memory(heap, o->functions, sizeof *parts, "the functions", error);
    for (int64_t j = 0; j < o->functions * o->columns; j++)
        run->solution.w[j] += 0.0; /* -0 prints as 0 */
    if (run->solution.shares) {
        count_support(run);
        MG_GO_NEW(heap, dual.rows, o->samples, "the support vectors", error);
        MG_GO_NEW(heap, dual.coefficients, 2 * o->samples, "the support vectors", error);
        dual.signs = dual.coefficients + o->samples;
    }
    for (int64_t k = 0; k < o->functions; k++)
        MG_GO(make_function(run, k, &dual, &parts[k]));
    status = mg_hypothesis_linear.combine(heap, parts, o->functions, &run->fit->hypothesis, error);
done:
    for (int64_t k = 0; k < o->functions; k++)
        mg_hypothesis_free(parts[k]);
    mg_free(heap, dual.coefficients);
    mg_free(heap, dual.rows);
    mg_free(heap, parts);
    return status;
}

/* ---- Fit ------------------------------------------------------------------------------------- */

/* The start, which only the textbook solvers may be given. */
static margin_status set_start(classes_run *run) {
    const mg_objective *o = &run->objective;
    const int64_t weights = o->functions * o->columns, count = run->options.start_count;
    double *w = run->solution.w;
    MG_REQUIRE(
        count == 0 || count == weights || (count == weights + o->functions && o->intercept),
        run->fit->error, MARGIN_ERROR_SPEC,
        "start_weights has %lld numbers; for %lld classes and %lld columns they are the %lld "
        "weights, class by class%s",
        (long long)count, (long long)o->functions, (long long)o->columns, (long long)weights,
        o->intercept ? ", and then, if wanted, an intercept for each class" : "");
    memset(w, 0, (size_t)(weights + o->functions) * sizeof *w);
    if (count > 0) memcpy(w, run->options.descent.start_weights, (size_t)count * sizeof *w);
    return MARGIN_OK;
}

static margin_status take_solution(classes_run *run) {
    const mg_objective *o = &run->objective;
    MG_NEW(run->design.heap, run->solution.w, o->functions * (o->columns + 1), "the weights",
           run->fit->error);
    run->solution.b = run->solution.w + o->functions * o->columns;
    if (o->loss->kind == MG_LOSS_CRAMMER_SINGER)
        MG_NEW(run->design.heap, run->solution.shares, o->samples * o->functions,
               "the dual variables of the classes", run->fit->error);
    return set_start(run);
}

static mg_linear_job job_of(classes_run *run, const mg_objective *objective) {
    mg_fit *fit = run->fit;
    return (mg_linear_job){.context = fit->context,
                           .objective = objective,
                           .tolerance = run->options.tolerance,
                           .stop = mg_stop_make(fit->context, run->options.max_iterations),
                           .trace = fit->trace,
                           .seed = fit->seed,
                           .descent = run->options.descent,
                           .error = fit->error};
}

static margin_status solve(classes_run *run) {
    const char *asked = run->options.solver;
    const mg_linear_solver *solver =
        mg_is_descent(asked) ? mg_linear_solver_named(asked) : &mg_solver_lbfgs;
    mg_linear_job job = job_of(run, &run->objective);
    margin_status status;
    if (run->objective.loss->kind == MG_LOSS_CRAMMER_SINGER) {
        run->solver = "dual_cd";
        run->steps = "walks";
        status = mg_crammer_singer(&job, &run->solution);
    } else {
        run->solver = solver->name;
        run->steps = solver->step_name;
        status = solver->solve(&job, &run->solution);
    }
    if (status >= 0) run->solution.status = status;
    return status;
}

static margin_status fit_run(classes_run *run, mg_loss_kind loss) {
    mg_fit *fit = run->fit;
    const mg_linear_options *o = &run->options;
    MG_TRY(mg_design_create(fit->context, fit->problem, &run->design, fit->error));
    if (o->intercept && !fit->trace && !mg_is_descent(o->solver))
        MG_TRY(mg_design_take_offsets(&run->design, fit->error));
    MG_TRY(mg_objective_create(&run->design, mg_loss_get(loss), &o->penalty, o->intercept, NULL,
                               &run->objective, fit->error));
    MG_TRY(take_solution(run));
    MG_TRY(mg_context_without_end(fit->context, fit->error)); /* solvers end in time */
    MG_TRY(solve(run));
    fill_report(run);
    MG_TRY(make_hypothesis(run));
    return run->solution.status;
}

margin_status mg_classes_fit(mg_fit *fit, const margin_option *table, int option_count,
                             mg_loss_kind loss, const char *default_spelling,
                             double default_value) {
    classes_run run = {.fit = fit};
    run.options = mg_linear_options_of(fit, table, option_count, default_spelling, default_value);
    const margin_status status = fit_run(&run, loss);
    mg_free(fit->context->heap, run.solution.shares);
    mg_free(fit->context->heap, run.solution.w);
    mg_objective_free(&run.objective);
    mg_design_free(&run.design);
    return status;
}
