/* Fits of functions of kernels. */
#include "kernel/machine/kernel_fit.h"

#include "base/text/number_text.h"

#include <math.h>
#include <stdio.h>

margin_status mg_kernel_store(mg_kernel_task *task, const mg_fit *fit, int64_t functions,
                              mg_kernel_way way, bool strict) {
    const mg_kernel_sizes sizes = mg_kernel_sizes_of(fit, &task->choice->kernel, functions);
    mg_kernel_plan plan = mg_kernel_plan_make(fit->context, &sizes, way);
    if (!plan.chosen && !strict) plan = mg_kernel_plan_make(fit->context, &sizes, MG_WAY_NEWTON);
    task->storage = plan.storage;
    return mg_announce(fit->context, &plan.says, fit->error);
}

static margin_status fit_one(mg_kernel_task *task, mg_fit *fit) {
    mg_kernel_objective objective;
    mg_kernel_point point;
    margin_report *report = &fit->report;
    MG_TRY(mg_kernel_objective_make(&task->system, fit, task->loss, &task->penalty, &task->arena,
                                    &objective));
    MG_TRY(mg_kernel_point_make(&objective, &task->arena, &point));
    const int64_t limit = mg_option_named(&fit->learner->info, fit->options, "max_iter")->integer;
    mg_kernel_walk walk = {.fit = fit,
                           .objective = &objective,
                           .point = &point,
                           .arena = &task->arena,
                           .stop = mg_stop_make(task->context, limit),
                           .tolerance = task->tolerance};
    MG_TRY(task->minimise(&walk));
    report->iterations = walk.steps;
    report->status = walk.ended;
    snprintf(report->iteration_name, sizeof report->iteration_name, "%s", walk.step_name);
    if (walk.ended == MARGIN_STOPPED_TIME)
        mg_report_reason(report, "the time limit came after %s",
                         mg_counted(walk.steps, walk.step_name).text);
    if (walk.ended == MARGIN_STOPPED_ITERATIONS)
        mg_report_reason(report, "the limit of %s is reached: raise max_iter",
                         mg_counted(walk.steps, walk.step_name).text);
    report->objective = point.value;
    report->gap = mg_kernel_point_gap(&point);
    report->tolerance = task->tolerance;
    if (report->gap <= report->tolerance && report->status != MARGIN_STOPPED_TIME) {
        report->status = MARGIN_OK;
    } else if (report->status == MARGIN_OK) { /* by scores that steps had added up */
        report->status = MARGIN_STOPPED_STALLED;
        mg_report_reason(report, "rounding of the coefficients limits the gap: take a smaller C or "
                                 "a larger tol");
    }
    if (task->system.curvature != MG_KERNEL_DEFINITE) {
        report->gap = (double)INFINITY;
        report->status = MARGIN_STOPPED_STALLED;
        mg_report_reason(report, "the kernel %s, so there is no proof",
                         mg_kernel_doubt(task->system.curvature));
    }
    MG_REQUIRE(isfinite(point.value), fit->error, MG_DATA(OVERFLOW),
               "the coefficients left the range of numbers; take a smaller rate");
    mg_kernel_report(&task->penalty, &task->system.kernel, task->loss->formula, report);
    return mg_kernel_system_hand_over(&task->system, point.a, 0.0, fit);
}

static margin_status fit_each(mg_kernel_task *task, mg_fit *fits, int64_t count) {
    mg_kernel kernel;
    MG_TRY(mg_kernel_of_fit(&fits[0], task->choice, fits[0].learner->info.name, &kernel));
    const margin_status status = mg_kernel_system_make(task->context, fits[0].problem, &kernel,
                                                       task->storage, &task->system, fits[0].error);
    if (status < 0 && !mg_timed_out(task->context, status)) return status;
    MG_REQUIRE(!task->needs_definite || task->system.curvature != MG_KERNEL_INDEFINITE,
               fits[0].error, MARGIN_ERROR_DATA,
               "the kernel %s, and the objective has no least value: take one that is an inner "
               "product, such as rbf, or kernel values of your own with a positive definite matrix",
               mg_kernel_doubt(MG_KERNEL_INDEFINITE));
    for (int64_t k = 0; k < count; k++) {
        MG_TRY(fit_one(task, &fits[k]));
        mg_arena_free(&task->arena);
    }
    return MARGIN_OK;
}

margin_status mg_kernel_fit_all(mg_kernel_task *task, mg_fit *fits, int64_t count) {
    margin_context context;
    mg_context_copy(fits[0].context, &context);
    task->context = &context;
    mg_arena_init(&task->arena, context.heap);
    const margin_status status = fit_each(task, fits, count);
    mg_arena_free(&task->arena);
    mg_kernel_system_free(&task->system);
    if (status < 0) mg_fits_undo(fits, count);
    return MG_MIN(status, MARGIN_OK);
}
