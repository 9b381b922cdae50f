/* A step of a solver, for whoever looks on. */
#include "linear/objective/solver.h"

#include <math.h>

void mg_linear_trace(const mg_linear_job *job, int64_t step, const double *w, const double *b,
                     double value, int64_t errors) {
    const mg_objective *o = job->objective;
    const bool one = o->functions == 1;
    if (!job->trace) return;
    const margin_trace_step record = {.subproblem = job->trace->subproblem,
                                      .subproblems = job->trace->subproblems,
                                      .step = step,
                                      .row = -1,
                                      .errors = o->loss->margin_based || !one ? errors : -1,
                                      .loss = value,
                                      .intercept = one ? *b : (double)NAN,
                                      .weights = w,
                                      .weight_count =
                                          one ? o->columns : o->functions * (o->columns + 1)};
    mg_trace_show(job->trace, &record);
}
