/* Kernel ridge by gradient descent on the coefficients. */
#include "kernel/ridge/kernel_ridge.h"

#include <math.h>

static margin_status descend(mg_fit *fit, const mg_ridge_options *options, mg_arena *arena,
                             mg_kernel_system *system) {
    mg_kernel_objective objective;
    mg_kernel_point point;
    margin_report *report = &fit->report;
    MG_TRY(mg_kernel_objective_make(system, fit, mg_loss_get(MG_LOSS_SQUARED), &options->penalty,
                                    arena, &objective));
    MG_TRY(mg_kernel_point_make(&objective, arena, &point));
    mg_ridge_describe(options, &system->kernel, report);
    MG_TRY(mg_kernel_descend_fit(fit, &objective, &point));
    report->objective = point.value;
    report->gap = mg_kernel_point_gap(&point);
    if (!mg_kernel_is_definite(&system->kernel)) {
        report->gap = (double)INFINITY;
        report->status = MARGIN_STOPPED_STALLED;
    }
    return mg_kernel_system_hand_over(system, point.a, 0.0, fit);
}

margin_status mg_ridge_descend(mg_fit *fit, const mg_ridge_options *options) {
    const int64_t m = fit->problem->count;
    mg_kernel_system system = {0};
    margin_context context;
    mg_kernel kernel;
    mg_arena arena;
    mg_context_copy(fit->context, &context);
    const bool stored = mg_system_fits(&context, MG_GRAM_TRIANGLE, m);
    MG_TRY(mg_kernel_of_fit(fit, &options->choice, "kernel-ridge", &kernel));
    margin_status status =
        mg_kernel_system_make(&context, fit->problem, &kernel,
                              stored ? MG_GRAM_TRIANGLE : MG_GRAM_NONE, &system, fit->error);
    if (status < 0 && !mg_timed_out(&context, status)) return status;
    mg_arena_init(&arena, context.heap);
    status = descend(fit, options, &arena, &system);
    mg_arena_free(&arena);
    mg_kernel_system_free(&system);
    return status;
}
