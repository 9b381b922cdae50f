/* From options to a certified linear model. */
#include "linear/learners/linear_learner.h"

#include "linear/design/merged_rows.h"
#include "linear/objective/linear_options.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct linear_run {
    mg_fit *fit;
    mg_linear_options options;
    mg_merged_rows merged; /* of the design, if there is such a thing */
    mg_design design;
    mg_objective objective;
    const mg_linear_solver *solver;
    char why[200]; /* it was chosen; empty: it was asked for */
    mg_linear_solution solution;
} linear_run;

/* ---- Solver ---------------------------------------------------------------------------------- */

static margin_status choose_solver(linear_run *run) {
    const char *name = run->options.solver;
    margin_error *error = run->fit->error;
    char why[200] = "";
    if (!name || strcmp(name, "auto") == 0) {
        run->solver = mg_linear_choose(&run->objective, run->why);
        MG_REQUIRE(run->solver, error, MARGIN_ERROR_SPEC, "no solver minimises this: %s", run->why);
        return MARGIN_OK;
    }
    run->solver = mg_linear_solver_named(name);
    MG_REQUIRE(run->solver, error, MARGIN_ERROR_INTERNAL, "there is no solver %s", name);
    MG_REQUIRE(run->solver->can(&run->objective, why), error, MARGIN_ERROR_SPEC,
               "solver=%s cannot minimise this: %s; leave it to solver=auto", name, why);
    return MARGIN_OK;
}

static mg_linear_job job_of(linear_run *run) {
    mg_fit *fit = run->fit;
    const mg_linear_options *o = &run->options;
    const bool is_unpenalised = mg_is_unpenalised(&run->objective);
    return (mg_linear_job){.context = fit->context,
                           .objective = &run->objective,
                           .tolerance = o->tolerance,
                           .stop = mg_stop_make(fit->context, o->max_iterations),
                           .trace = fit->trace,
                           .seed = fit->seed,
                           .descent = o->descent,
                           .residual = o->residual && is_unpenalised,
                           .by_distance = o->residual && !is_unpenalised &&
                                          !(run->objective.penalty.kappa > 0.0),
                           .error = fit->error};
}

/* Solver after solver, as long as one hands over to another. */
static margin_status linear_solve_on(linear_run *run, mg_linear_job *job) {
    mg_linear_solution *out = &run->solution;
    while (out->next) {
        const mg_linear_solver *next = mg_linear_solver_named(out->next);
        out->next = NULL;
        const margin_status status = next->solve(job, out);
        if (status < 0) return status;
        out->status = status;
    }
    return out->status;
}

static margin_status linear_solve(linear_run *run) {
    mg_linear_job job = job_of(run);
    run->solution.next = run->solver->name;
    return linear_solve_on(run, &job);
}

/* The least kappa for which w = 0, where the solver has not come across it: a pass. */
static margin_status find_limit(linear_run *run) {
    mg_linear_solution *solution = &run->solution;
    mg_design *d = &run->design;
    double *memory, b;
    if (!(run->objective.penalty.kappa > 0.0) || !run->objective.loss->smooth ||
        !isnan(solution->l1_limit))
        return MARGIN_OK;
    MG_NEW(d->heap, memory, 2 * d->columns, "the limit of the penalty", run->fit->error);
    mg_loss_point point = {.gradient = memory};
    memset(memory, 0, (size_t)(2 * d->columns) * sizeof *memory);
    mg_objective_constant(&run->objective, &b);
    const margin_status status = mg_design_loss(d, run->objective.loss, memory + d->columns, b,
                                                run->objective.c, &point, run->fit->error);
    solution->l1_limit = 0.0;
    for (int64_t j = 0; j < d->columns && status >= 0; j++)
        solution->l1_limit = fmax(solution->l1_limit, fabs(point.gradient[j]));
    mg_free(d->heap, memory);
    return status;
}

/* ---- Report ---------------------------------------------------------------------------------- */

static void fill_report(linear_run *run) {
    const mg_linear_solution *solution = &run->solution;
    const mg_penalty *penalty = &run->objective.penalty;
    margin_report *report = &run->fit->report;
    report->status = solution->status;
    report->objective = solution->primal;
    report->gap = solution->gap;
    report->tolerance = run->options.tolerance;
    report->iterations = solution->iterations;
    snprintf(report->iteration_name, sizeof report->iteration_name, "%s",
             run->solver->step_name ? run->solver->step_name : "steps");
    mg_linear_describe(penalty, run->objective.loss->formula, report);
    if (run->options.penalised) {
        mg_report_set(report, "C", penalty->C);
        mg_report_set(report, "alpha", penalty->alpha);
        mg_report_set(report, "lambda", penalty->lambda);
    }
    mg_linear_describe_sparsity(&run->objective, solution->w, solution->l1_limit, report);
    if (run->why[0])
        mg_report_reason(report, "%s (solver %s, as %s)", solution->why, run->solver->name,
                         run->why);
    else
        mg_report_reason(report, "%s (solver %s)", solution->why, run->solver->name);
}

/* ---- Hypothesis ------------------------------------------------------------------------------ */

/* The samples with a dual variable above 0: they carry the proof. */
static margin_status add_dual(const linear_run *run, mg_hypothesis *h) {
    const mg_problem *p = run->fit->problem;
    const double *alpha = run->solution.alpha;
    mg_heap *heap = run->fit->context->heap;
    int64_t count = 0, at = 0, *rows = NULL;
    double *numbers = NULL;
    margin_status status;
    for (int64_t i = 0; i < p->count; i++)
        count += alpha[i] > 0.0;
    mg_report_set(&run->fit->report, "support_vectors", (double)count);
    MG_GO_NEW(heap, rows, count, "the support vectors", run->fit->error);
    MG_GO_NEW(heap, numbers, 2 * count, "the support vectors", run->fit->error);
    for (int64_t i = 0; i < p->count; i++) {
        if (!(alpha[i] > 0.0)) continue;
        rows[at] = mg_sample_original(p, i);
        numbers[at] = alpha[i];
        numbers[count + at++] = p->sign[i];
    }
    status =
        mg_hypothesis_set_dual(h, count, rows, numbers, numbers + count, numbers, run->fit->error);
done:
    mg_free(heap, rows);
    mg_free(heap, numbers);
    return status;
}

/* The squared hinge's dual variables, which are 0 for the rows outside of the margin. */
static margin_status find_alpha(linear_run *run) {
    mg_loss_point point = {0};
    MG_NEW(run->design.heap, run->solution.alpha, run->design.samples, "the dual variables",
           run->fit->error);
    point.slopes = run->solution.alpha;
    MG_TRY(mg_objective_pass(&run->objective, run->solution.w, run->solution.b, &point,
                             run->fit->error));
    for (int64_t i = 0; i < run->design.samples; i++)
        run->solution.alpha[i] = fabs(run->solution.alpha[i]);
    return MARGIN_OK;
}

/* Of a merged sample each gets the share that its weight has. */
static margin_status spread_alpha(linear_run *run) {
    const mg_problem *p = run->fit->problem;
    mg_heap *heap = run->design.heap;
    const double factor = run->objective.penalty.factor;
    double *alpha;
    if (!run->merged.heap) return MARGIN_OK;
    MG_NEW(heap, alpha, p->count, "the dual variables", run->fit->error);
    for (int64_t i = 0; i < p->count; i++) {
        const int32_t k = run->merged.group[i];
        alpha[i] = run->solution.alpha[k] / run->objective.c[k] * (factor * mg_sample_weight(p, i));
    }
    mg_free(heap, run->solution.alpha);
    run->solution.alpha = alpha;
    return MARGIN_OK;
}

static margin_status make_hypothesis(linear_run *run) {
    mg_fit *fit = run->fit;
    mg_hypothesis *h = NULL;
    for (int64_t j = 0; j < run->design.columns; j++)
        run->solution.w[j] += 0.0; /* -0 prints as 0 */
    if (!run->solution.alpha && run->objective.loss->kind == MG_LOSS_SQUARED_HINGE)
        MG_TRY(find_alpha(run));
    if (run->solution.alpha) MG_TRY(spread_alpha(run));
    MG_TRY(
        mg_linear_make(fit->context->heap, run->solution.w, run->design.columns,
                       mg_design_intercept(&run->design, run->solution.w, *run->solution.b) + 0.0,
                       &h, fit->error));
    const margin_status status = run->solution.alpha ? add_dual(run, h) : MARGIN_OK;
    if (status < 0)
        mg_hypothesis_free(h);
    else
        fit->hypothesis = h;
    return status;
}

/* ---- Fit ------------------------------------------------------------------------------------- */

static margin_status set_start(linear_run *run) {
    const mg_descent_options *descent = &run->options.descent;
    const int64_t columns = run->design.columns;
    mg_heap *heap = run->design.heap;
    margin_error *error = run->fit->error;
    MG_REQUIRE(run->options.start_count == 0 || run->options.start_count == columns, error,
               MARGIN_ERROR_SPEC,
               "start_weights has %lld numbers; the learner sees %lld column%s, so %lld are needed",
               (long long)run->options.start_count, (long long)columns, columns == 1 ? "" : "s",
               (long long)columns);
    MG_NEW(heap, run->solution.w, columns + 1, "the weights", error);
    run->solution.b = run->solution.w + columns;
    for (int64_t j = 0; j < columns; j++)
        run->solution.w[j] = descent->start_weights ? descent->start_weights[j] : 0.0;
    *run->solution.b = run->objective.intercept ? descent->start_intercept : 0.0;
    if (run->objective.loss->smooth) return MARGIN_OK;
    MG_NEW(heap, run->solution.alpha, run->design.samples, "the dual variables", error);
    memset(run->solution.alpha, 0, (size_t)run->design.samples * sizeof(double));
    return MARGIN_OK;
}

/* Equal rows become one where nobody can tell: the textbook solvers and traces go by the rows. */
static margin_status merge_rows(linear_run *run) {
    const mg_fit *fit = run->fit;
    if (fit->trace || mg_is_descent(run->options.solver)) return MARGIN_OK;
    return mg_merge_rows(fit->context, fit->problem, &run->merged, fit->error);
}

/* `alone`: no other problem shares the rows. */
static margin_status begin_run(linear_run *run, mg_loss_kind loss, bool alone) {
    mg_fit *fit = run->fit;
    const mg_linear_options *o = &run->options;
    if (alone) MG_TRY(merge_rows(run));
    const mg_problem *problem = run->merged.heap ? &run->merged.problem : fit->problem;
    MG_TRY(mg_design_create(fit->context, problem, &run->design, fit->error));
    if (o->intercept && !fit->trace && !mg_is_descent(o->solver))
        MG_TRY(mg_design_take_offsets(&run->design, fit->error));
    MG_TRY(mg_objective_create(&run->design, mg_loss_get(loss), &o->penalty, o->intercept, NULL,
                               &run->objective, fit->error));
    run->solution.l1_limit = (double)NAN;
    MG_TRY(set_start(run));
    return choose_solver(run);
}

static margin_status end_run(linear_run *run) {
    MG_TRY(find_limit(run));
    fill_report(run);
    MG_TRY(make_hypothesis(run));
    return run->solution.status;
}

static void free_run(linear_run *run) {
    mg_heap *heap = run->fit->context->heap;
    mg_free(heap, run->solution.w);
    mg_free(heap, run->solution.alpha);
    mg_objective_free(&run->objective);
    if (run->design.heap) mg_design_free(&run->design);
    mg_merged_rows_free(&run->merged);
}

static margin_status fit_with(linear_run *run, mg_loss_kind loss) {
    margin_status status;
    MG_GO(begin_run(run, loss, true));
    MG_GO(mg_context_without_end(run->fit->context, run->fit->error)); /* solvers end in time */
    MG_GO(linear_solve(run));
    status = end_run(run);
done:
    free_run(run);
    return status;
}

margin_status mg_linear_fit(mg_fit *fit, const margin_option *table, int option_count,
                            mg_loss_kind loss, const char *default_spelling, double default_value) {
    const mg_linear_options options =
        mg_linear_options_of(fit, table, option_count, default_spelling, default_value);
    return mg_linear_fit_as(fit, &options, loss);
}

margin_status mg_linear_fit_as(mg_fit *fit, const mg_linear_options *options, mg_loss_kind loss) {
    linear_run run = {.fit = fit, .options = *options};
    return fit_with(&run, loss);
}

/* ---- Several at once ------------------------------------------------------------------------- */

/* All of them, by a solver that can. */
static margin_status solve_together(linear_run *runs, int64_t count) {
    enum { MOST = MG_MOST_TOGETHER };
    mg_linear_job jobs[MOST];
    mg_linear_solution solutions[MOST];
    MG_TRY(mg_context_without_end(runs[0].fit->context, runs[0].fit->error));
    for (int64_t k = 0; k < count; k++) {
        jobs[k] = job_of(&runs[k]);
        solutions[k] = runs[k].solution;
    }
    margin_status status = runs[0].solver->solve_together(jobs, solutions, count);
    for (int64_t k = 0; k < count; k++) {
        runs[k].solution = solutions[k];
        if (status >= 0) status = linear_solve_on(&runs[k], &jobs[k]);
    }
    return status;
}

static bool are_for_one_solver(const linear_run *runs, int64_t count) {
    const mg_linear_solver *solver = runs[0].solver;
    for (int64_t k = 1; k < count; k++)
        if (runs[k].solver != solver) return false;
    return count > 1 && solver->can_together && solver->can_together(&runs[0].objective);
}

margin_status mg_linear_fit_many(mg_fit *fits, int64_t count, const margin_option *table,
                                 int option_count, mg_loss_kind loss, const char *default_spelling,
                                 double default_value) {
    linear_run runs[MG_MOST_TOGETHER] = {0};
    margin_status status = MARGIN_OK;
    for (int64_t k = 0; k < count; k++) {
        runs[k].fit = &fits[k];
        runs[k].options =
            mg_linear_options_of(&fits[k], table, option_count, default_spelling, default_value);
        MG_GO(begin_run(&runs[k], loss, false));
    }
    const bool together = are_for_one_solver(runs, count);
    if (together) MG_GO(solve_together(runs, count));
    for (int64_t k = 0; k < count; k++) {
        if (!together) MG_GO(linear_solve(&runs[k]));
        MG_GO(end_run(&runs[k]));
    }
done:
    for (int64_t k = 0; k < count; k++)
        if (runs[k].fit) free_run(&runs[k]);
    for (int64_t k = 0; status < 0 && k < count; k++) {
        mg_hypothesis_free(fits[k].hypothesis);
        fits[k].hypothesis = NULL;
    }
    return status;
}

margin_status mg_linear_share(mg_shared *shared, const margin_option *table, int option_count) {
    const margin_matrix *x = &shared->whole->x;
    const char *solver = "auto";
    for (int k = 0; k < option_count; k++)
        if (strcmp(table[k].name, "solver") == 0 && shared->options[k].text)
            solver = shared->options[k].text;
    const bool visits = strcmp(solver, "auto") == 0 ? x->columns > MG_MANY_COLUMNS
                                                    : strcmp(solver, mg_solver_dual_cd.name) == 0;
    if (visits && mg_is_csr(x)) shared->together = MG_MOST_TOGETHER;
    return MARGIN_OK;
}
