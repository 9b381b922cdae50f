/* From options to a certified linear model: one function, or as many as the loss couples. */
#include "learn/exact/least_curvature.h"
#include "learn/exact/merged_rows.h"
#include "linear/learners/linear_learner.h"
#include "linear/proof/goal.h"

#include <stdio.h>
#include <string.h>

static mg_loss_kind loss_of(const mg_fit *fit) {
    const mg_linear_family *family = fit->learner->family;
    return family->loss_of ? family->loss_of(fit) : family->loss;
}

mg_linear_options mg_linear_options_for(const mg_fit *fit) {
    const mg_linear_family *family = fit->learner->family;
    return mg_linear_options_of(fit, &fit->learner->info, family->l1_ratio);
}

typedef struct linear_run {
    mg_fit *fit;
    const mg_linear_options *options;
    mg_merged_rows merged; /* of the design, if there is such a thing */
    mg_design design;
    mg_objective objective;
    const mg_linear_solver *solver;
    char why[200]; /* it was chosen; empty: it was asked for */
    mg_arena arena;
    mg_linear_solution *solution; /* its numbers are in the arena */
} linear_run;

/* ---- Solver ---------------------------------------------------------------------------------- */

static margin_status choose_solver(linear_run *run) {
    const char *name = run->options->solver;
    margin_error *error = run->fit->error;
    char why[200] = "";
    if (!name || strcmp(name, "auto") == 0) {
        run->solver = mg_linear_choose(&run->objective, run->why);
        MG_REQUIRE(run->solver, error, MARGIN_ERROR_SPEC, "no solver minimises this: %s", run->why);
        return MARGIN_OK;
    }
    run->solver = mg_linear_solver_named(name);
    MG_REQUIRE(run->solver, error, MARGIN_ERROR_INTERNAL, "there is no solver %s", name);
    MG_REQUIRE(!run->solver->can || run->solver->can(&run->objective, why), error,
               MARGIN_ERROR_SPEC, "solver=%s cannot minimise this: %s; leave it to solver=auto",
               name, why);
    return MARGIN_OK;
}

static mg_linear_job job_of(linear_run *run) {
    mg_fit *fit = run->fit;
    const mg_linear_options *o = run->options;
    return (mg_linear_job){.context = fit->context,
                           .objective = &run->objective,
                           .tolerance = o->tolerance,
                           .stop = mg_stop_make(fit->context, o->max_iterations),
                           .trace = fit->trace,
                           .seed = fit->seed,
                           .descent = o->descent,
                           .error = fit->error};
}

static bool are_for_one_solver(const linear_run *runs, int64_t count) {
    const mg_linear_solver *solver = runs[0].solver;
    for (int64_t k = 1; k < count; k++)
        if (runs[k].solver != solver) return false;
    return count > 1 && solver->can_together && solver->can_together(&runs[0].objective);
}

/* ---- Report ---------------------------------------------------------------------------------- */

/* Whatever a solver says: converged is a model whose own gap was found to be small enough. */
static void hold_to_gap(const linear_run *run) {
    mg_linear_solution *out = run->solution;
    const double tolerance = run->options->tolerance;
    if (out->status != MARGIN_OK || out->gap <= tolerance) return;
    out->status = MARGIN_STOPPED_STALLED;
    mg_explain_end(out->status, "steps", out->iterations, out->gap, tolerance, out->why,
                   sizeof out->why);
}

static void fill_report(linear_run *run) {
    const mg_linear_solution *solution = run->solution;
    const mg_penalty *penalty = &run->objective.penalty;
    margin_report *report = &run->fit->report;
    hold_to_gap(run);
    report->status = solution->status;
    report->objective = solution->primal;
    report->gap = solution->gap;
    report->tolerance = run->options->tolerance;
    report->iterations = solution->iterations;
    report->train_accuracy = solution->accuracy;
    snprintf(report->iteration_name, sizeof report->iteration_name, "%s", run->solver->step_name);
    mg_linear_describe(penalty, run->objective.loss->formula, report);
    if (run->options->penalised) mg_report_penalty(report, penalty);
    mg_linear_describe_sparsity(penalty, solution->w, run->objective.columns, solution->l1_limit,
                                report);
    mg_report_reason(report, "%s%s (solver %s%s%s)", solution->why,
                     solution->drawn ? MG_LEAST_DRAWN : "", run->solver->name,
                     run->why[0] ? ", as " : "", run->why);
}

/* ---- Hypothesis ------------------------------------------------------------------------------ */

/* The squared hinge's dual variables, which are 0 for the rows outside of the margin. */
static margin_status find_alpha(linear_run *run) {
    mg_loss_point point = {0};
    MG_ARENA_NEW(&run->arena, run->solution->alpha, run->design.samples, "the dual variables",
                 run->fit->error);
    point.slopes = run->solution->alpha;
    MG_TRY(mg_objective_pass(&run->objective, run->solution->w, run->solution->b, &point,
                             run->fit->error));
    for (int64_t i = 0; i < run->design.samples; i++)
        run->solution->alpha[i] = fabs(run->solution->alpha[i]);
    return MARGIN_OK;
}

/* Entries of the dual form of a function: rows, coefficients, signs. */
typedef struct dual_part {
    int64_t count, *rows;
    double *coefficients, *signs;
} dual_part;

/* The dual variable of sample i in function k, signed: of several functions c (1[y = k] - q_k). Of
 * a merged sample each gets the share that its weight has. */
static double dual_of(const linear_run *run, int64_t i, int64_t k) {
    const mg_objective *o = &run->objective;
    const mg_problem *p = run->fit->problem;
    const double *alpha = run->solution->alpha;
    if (run->merged.arena.heap) {
        const int32_t at = run->merged.group[i];
        return p->sign[i] * (alpha[at] / o->c[at] * (o->penalty.factor * mg_sample_weight(p, i)));
    }
    if (o->functions == 1) return p->sign[i] * alpha[i];
    const double *q = run->solution->shares + i * o->functions;
    if (k != p->code[i]) return -o->c[i] * q[k];
    double others = 0.0; /* 1 - q_k, exactly where it is small */
    for (int64_t l = 0; l < o->functions; l++)
        others += l == k ? 0.0 : q[l];
    return o->c[i] * others;
}

/* The samples with a dual variable that is not 0: they carry the proof. */
static margin_status set_dual(const linear_run *run, int64_t k, dual_part *part, mg_hypothesis *h) {
    const mg_problem *p = run->fit->problem;
    part->count = 0;
    for (int64_t i = 0; i < p->count; i++) {
        const double alpha = dual_of(run, i, k);
        if (alpha == 0.0) continue;
        part->rows[part->count] = mg_sample_original(p, i);
        part->coefficients[part->count] = fabs(alpha);
        part->signs[part->count++] = alpha > 0.0 ? 1.0 : -1.0;
    }
    return mg_hypothesis_set_dual(h, part->count, part->rows, part->coefficients, part->signs,
                                  part->coefficients, run->fit->error);
}

/* Room for any function; support vectors are samples whose own function has a dual variable. */
static margin_status begin_dual(linear_run *run, dual_part *part) {
    const mg_problem *p = run->fit->problem;
    int64_t count = 0;
    if (!run->solution->alpha && run->objective.loss->kind == MG_LOSS_SQUARED_HINGE)
        MG_TRY(find_alpha(run));
    if (!run->solution->alpha) return MARGIN_OK;
    for (int64_t i = 0; i < p->count; i++)
        count += dual_of(run, i, run->objective.functions > 1 ? p->code[i] : 0) != 0.0;
    mg_report_set(&run->fit->report, "support_vectors", (double)count);
    return MG_PIECES(&run->arena, "the support vectors", run->fit->error,
                     MG_PIECE(part->rows, p->count), MG_PIECE(part->coefficients, p->count),
                     MG_PIECE(part->signs, p->count));
}

static margin_status make_function(const linear_run *run, int64_t k, dual_part *part,
                                   mg_hypothesis **h) {
    const int64_t columns = run->objective.columns;
    double *w = run->solution->w + k * columns;
    for (int64_t j = 0; j < columns; j++)
        w[j] += 0.0; /* -0 prints as 0 */
    const double b = mg_design_intercept(&run->design, w, run->solution->b[k]) + 0.0;
    MG_TRY(mg_linear_make(run->design.heap, w, columns, b, h, run->fit->error));
    return part->rows ? set_dual(run, k, part, *h) : MARGIN_OK;
}

static margin_status make_hypothesis(linear_run *run) {
    const int64_t functions = run->objective.functions;
    margin_error *error = run->fit->error;
    mg_hypothesis **parts;
    dual_part dual = {0};
    margin_status status = MARGIN_OK;
    MG_TRY(begin_dual(run, &dual));
    if (functions == 1) return make_function(run, 0, &dual, &run->fit->hypothesis);
    MG_ARENA_NEW(&run->arena, parts, functions, "the functions", error);
    memset(parts, 0, (size_t)functions * sizeof *parts);
    for (int64_t k = 0; k < functions && status >= 0; k++)
        status = make_function(run, k, &dual, &parts[k]);
    if (status >= 0)
        status = parts[0]->kind->combine(run->design.heap, parts, functions, &run->fit->hypothesis,
                                         error);
    for (int64_t k = 0; k < functions; k++)
        mg_hypothesis_free(parts[k]);
    return status;
}

/* ---- Fit ------------------------------------------------------------------------------------- */

/* Smooth losses may begin where a fit with other options ended: for the others a start is a matter
 * of the dual variables, too. */
static void take_start(linear_run *run) {
    const mg_fit *fit = run->fit;
    const mg_objective *o = &run->objective;
    const mg_hypothesis *start = fit->start;
    mg_linear_solution *solution = run->solution;
    if (!start || fit->trace || mg_is_descent(run->options->solver) ||
        start->functions != o->functions || start->columns != o->columns)
        return;
    memcpy(solution->w, start->view.linear.weights,
           (size_t)(o->functions * o->columns) * sizeof *solution->w);
    for (int64_t k = 0; k < o->functions && o->intercept; k++)
        solution->b[k] = start->view.linear.intercept[k] -
                         mg_design_intercept(&run->design, solution->w + k * o->columns, 0.0);
}

/* Zeros, or what a textbook solver was given. */
static margin_status set_start(linear_run *run) {
    const mg_linear_options *options = run->options;
    const mg_objective *o = &run->objective;
    const mg_option_value *start = options->descent.start;
    const int64_t weights = o->functions * o->columns, count = start ? start->count : 0;
    const bool several = o->functions > 1, both = several && o->intercept;
    mg_linear_solution *solution = run->solution;
    margin_error *error = run->fit->error;
    MG_REQUIRE(count == 0 || count == weights || (both && count == weights + o->functions), error,
               MARGIN_ERROR_SPEC,
               "start_weights has %lld numbers; the learner sees %lld column%s, so %lld are "
               "needed%s%s",
               (long long)count, (long long)o->columns, o->columns == 1 ? "" : "s",
               (long long)weights, several ? ", class by class" : "",
               both ? ", and then, if wanted, an intercept for each class" : "");
    MG_ARENA_NEW(&run->arena, solution->w, weights + o->functions, "the weights", error);
    solution->b = solution->w + weights;
    memset(solution->w, 0, (size_t)(weights + o->functions) * sizeof *solution->w);
    for (int64_t k = 0; k < o->functions && o->intercept; k++)
        solution->b[k] = options->descent.start_intercept;
    if (count > 0) memcpy(solution->w, start->numbers, (size_t)count * sizeof *solution->w);
    if (o->loss->smooth) take_start(run);
    if (o->loss->smooth) return MARGIN_OK;
    MG_ARENA_NEW(&run->arena, solution->alpha, o->samples * o->functions, "the dual variables",
                 error);
    memset(solution->alpha, 0, (size_t)(o->samples * o->functions) * sizeof(double));
    return MARGIN_OK;
}

/* `alone`: no other problem shares the rows. Equal rows become one where nobody can tell. */
static margin_status begin_run(linear_run *run, mg_loss_kind loss, bool alone) {
    mg_fit *fit = run->fit;
    const mg_linear_options *o = run->options;
    const bool by_rows = fit->trace || mg_is_descent(o->solver); /* the textbook solvers */
    if (alone && !by_rows)
        MG_TRY(mg_merge_rows(fit->context, fit->problem, &run->merged, fit->error));
    const mg_problem *problem = run->merged.arena.heap ? &run->merged.problem : fit->problem;
    MG_TRY(mg_design_create(fit->context, problem, &run->design, fit->error));
    if (o->intercept && !by_rows) MG_TRY(mg_design_take_offsets(&run->design, fit->error));
    MG_TRY(mg_objective_create(&run->design, mg_loss_get(loss), &o->penalty, o->intercept,
                               &run->objective, fit->error));
    mg_linear_solution *out = run->solution; /* nothing is proven yet */
    out->l1_limit = out->gap = out->accuracy = (double)NAN;
    MG_TRY(set_start(run));
    return choose_solver(run);
}

static void free_run(linear_run *run) {
    mg_objective_free(&run->objective);
    if (run->design.heap) mg_design_free(&run->design);
    mg_merged_rows_free(&run->merged);
    mg_arena_free(&run->arena);
}

/* All at once by a solver that can, or one by one; and solver after solver, as long as one hands
 * over to another. */
margin_status mg_linear_fit(mg_fit *fits, int64_t count) {
    const mg_linear_options options = mg_linear_options_for(fits);
    const mg_loss_kind loss = loss_of(fits);
    linear_run runs[MG_MOST_TOGETHER] = {0};
    mg_linear_job jobs[MG_MOST_TOGETHER];
    mg_linear_solution solutions[MG_MOST_TOGETHER] = {0};
    margin_context *context = fits[0].context;
    margin_status status;
    for (int64_t k = 0; k < count; k++) {
        runs[k] = (linear_run){.fit = &fits[k],
                               .options = &options,
                               .arena = {.heap = context->heap},
                               .solution = &solutions[k]};
        MG_GO(begin_run(&runs[k], loss, count == 1));
        jobs[k] = job_of(&runs[k]);
        solutions[k].next = runs[k].solver->name;
    }
    if (are_for_one_solver(runs, count)) {
        MG_GO(mg_context_without_end(context, fits[0].error)); /* it ends in time */
        for (int64_t k = 0; k < count; k++)
            solutions[k].next = NULL;
        MG_GO(runs[0].solver->solve_together(jobs, solutions, count));
    }
    for (int64_t k = 0; k < count; k++)
        while (solutions[k].next) {
            jobs[k].solver = mg_linear_solver_named(solutions[k].next);
            solutions[k].next = NULL;
            if (!jobs[k].solver->cuts) MG_GO(mg_context_without_end(context, fits[0].error));
            MG_GO(jobs[k].solver->solve(&jobs[k], &solutions[k]));
            solutions[k].status = status;
        }
    for (int64_t k = 0; k < count; k++) {
        fill_report(&runs[k]);
        MG_GO(make_hypothesis(&runs[k]));
    }
    status = count == 1 ? solutions[0].status : MARGIN_OK;
done:
    for (int64_t k = 0; k < count; k++)
        free_run(&runs[k]);
    if (status < 0) mg_fits_undo(fits, count);
    return status;
}

margin_status mg_linear_fit_one(mg_fit *fit) {
    return mg_linear_fit(fit, 1);
}

margin_status mg_linear_verify_one(mg_fit *fit, const mg_hypothesis *hypothesis) {
    const mg_linear_options o = mg_linear_options_for(fit);
    return mg_linear_verify(fit, &o, loss_of(fit), hypothesis);
}

margin_status mg_linear_share(mg_shared *shared) {
    const margin_matrix *x = &shared->whole->x;
    const char *solver = mg_option_named(&shared->learner->info, shared->options, "solver")->text;
    const bool by_rows = x->columns > MG_MANY_COLUMNS && x->rows <= MG_NARROW * x->columns;
    const bool visits =
        strcmp(solver, "auto") == 0 ? by_rows : strcmp(solver, mg_solver_dual_cd.name) == 0;
    if (visits && mg_is_csr(x)) shared->together = MG_MOST_TOGETHER;
    return MARGIN_OK;
}

static bool has_word(const margin_component *info, const mg_option_value *options, const char *name,
                     const char *word) {
    return mg_option_index(info, name) >= 0 && mg_option_is(info, options, name, word);
}

bool mg_linear_takes_columns(const margin_component *info, const mg_option_value *options,
                             int64_t rows, int64_t columns) {
    return rows > columns && !has_word(info, options, "multiclass", "ovo") &&
           !has_word(info, options, "solver", mg_solver_dual_cd.name);
}

margin_status mg_linear_fit_penalties(mg_fit *fits, int64_t count,
                                      margin_status (*solve)(mg_fit *fits, int64_t count,
                                                             const mg_linear_options *options)) {
    mg_linear_options *options;
    MG_SCOPED_ARENA(arena, fits[0].context->heap);
    MG_ARENA_NEW(&arena, options, count, "the penalties", fits[0].error);
    for (int64_t k = 0; k < count; k++)
        options[k] = mg_linear_options_for(&fits[k]);
    return solve(fits, count, options);
}
