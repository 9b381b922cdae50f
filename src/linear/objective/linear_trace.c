/* What a solver says of itself: why it cannot, and its steps for whoever looks on. */
#include "linear/objective/solver.h"

#include <stdio.h>

bool mg_solver_cannot(char *why, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, 200, format, arguments);
    va_end(arguments);
    return false;
}

void mg_linear_trace(const mg_linear_job *job, int64_t step, const double *w, const double *b,
                     double value, int64_t errors) {
    const mg_objective *o = job->objective;
    const bool one = o->functions == 1;
    mg_trace_note(
        job->trace,
        (margin_trace_step){.step = step,
                            .row = -1,
                            .errors = o->loss->margin_based || !one ? errors : -1,
                            .loss = value,
                            .intercept = one ? *b : (double)NAN,
                            .weights = w,
                            .weight_count = one ? o->columns : o->functions * (o->columns + 1)});
}

margin_status mg_linear_trace_solution(const mg_linear_job *job,
                                       const mg_linear_solution *solution) {
    mg_loss_point point = {0};
    MG_TRY(mg_objective_pass(job->objective, solution->w, solution->b, &point, job->error));
    mg_linear_trace(job, solution->iterations, solution->w, solution->b, point.value, point.errors);
    return MARGIN_OK;
}
