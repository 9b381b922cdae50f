/* Gradient descent on the coefficients of a function of kernels. */
#include "kernel/machine/kernel_descent.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { POWER_STEPS = 30, MOST_STEPS = 10000 };

/* The greatest eigenvalue of K, from below, by the power method; v is lost. */
static margin_status greatest_eigenvalue(const mg_kernel_objective *o, double *v, double *kv,
                                         double *greatest) {
    const mg_vector_ops *ops = mg_vector_ops_for(mg_isa_level());
    *greatest = 0.0;
    for (int64_t i = 0; i < o->count; i++)
        v[i] = 1.0 + (double)(i % 7) / 16.0;
    for (int step = 0; step < POWER_STEPS; step++) {
        const double norm = sqrt(ops->square(v, o->count));
        if (!(norm > 0.0)) return MARGIN_OK;
        for (int64_t i = 0; i < o->count; i++)
            v[i] /= norm;
        MG_TRY(mg_kernel_system_multiply(o->system, 1, v, kv));
        *greatest = fmax(*greatest, sqrt(ops->square(kv, o->count)));
        memcpy(v, kv, (size_t)o->count * sizeof *v);
    }
    return MARGIN_OK;
}

/* The curvature of the mean loss + lambda a'Ka is at most l (b l + 2 lambda), l the greatest
 * eigenvalue of K and b the greatest curvature of a sample's part. */
static margin_status choose_rate(mg_kernel_descent *descent, mg_kernel_point *point) {
    static const double slack = 1.1; /* the estimate is from below */
    const mg_kernel_objective *o = descent->objective;
    double greatest = 0.0, most = 0.0;
    if (!isnan(descent->rate)) return MARGIN_OK;
    MG_TRY(greatest_eigenvalue(o, point->d, point->kd, &greatest));
    for (int64_t i = 0; i < o->count; i++)
        most = fmax(most, o->c[i]);
    double bound = o->loss->curvature_bound;
    if (isinf(bound)) bound = 1.0;
    const double unit = o->penalty.lambda / (o->penalty.rho / 2.0); /* 1 / (factor m) */
    const double curvature =
        slack * greatest * (bound * most * unit * slack * greatest + 2.0 * o->penalty.lambda);
    descent->rate = curvature > 0.0 ? 1.0 / curvature : 1.0;
    return MARGIN_OK;
}

static void kernel_descent_trace(const mg_kernel_descent *descent, const mg_kernel_point *point) {
    mg_trace_note(descent->trace, (margin_trace_step){.step = descent->steps,
                                                      .row = -1,
                                                      .errors = point->errors,
                                                      .loss = point->value,
                                                      .intercept = 0.0,
                                                      .weights = point->a,
                                                      .weight_count = descent->objective->count});
}

/* a and f stay as they are until both have their next values. */
static margin_status kernel_descent_step(const mg_kernel_descent *descent, mg_kernel_point *point) {
    const mg_kernel_objective *o = descent->objective;
    const double unit = o->penalty.lambda / (o->penalty.rho / 2.0);
    const size_t bytes = (size_t)o->count * sizeof *point->a;
    memcpy(point->d, point->a, bytes);
    mg_vector_ops_for(mg_isa_level())
        ->add(point->d, -descent->rate * unit * o->penalty.rho, point->kd, o->count);
    MG_TRY(mg_kernel_system_multiply(o->system, 1, point->d, point->kd));
    memcpy(point->a, point->d, bytes);
    memcpy(point->f, point->kd, bytes);
    return MARGIN_OK;
}

static margin_status descend(mg_kernel_descent *descent, mg_kernel_point *point) {
    MG_TRY(choose_rate(descent, point));
    for (;; descent->steps++) {
        MG_TRY(mg_kernel_point_judge(descent->objective, point));
        kernel_descent_trace(descent, point);
        if (!isfinite(point->value) || !isfinite(point->gap)) {
            descent->ended = MARGIN_STOPPED_STALLED;
            return MARGIN_OK;
        }
        if (mg_kernel_point_gap(point) <= descent->tolerance) return MARGIN_OK;
        descent->ended = mg_stop_check(&descent->stop, descent->steps);
        if (descent->ended < 0) return mg_fail_cancelled(descent->error);
        if (descent->ended > 0) return MARGIN_OK;
        MG_TRY(kernel_descent_step(descent, point));
    }
}

/* From point->a (and f = K a) on. Ends at the gap, a limit, or where the objective is no number any
 * more (STALLED). Two products a step. */
static margin_status kernel_descend(mg_kernel_descent *descent, mg_kernel_point *point) {
    if (descent->stop.max_iterations < 0) descent->stop.max_iterations = MOST_STEPS;
    return mg_kernel_point_in_time(descent->objective, point, descend(descent, point),
                                   &descent->ended);
}

static void describe(const mg_kernel_descent *descent, margin_report *report) {
    char rate[64];
    snprintf(rate, sizeof rate, "gradient descent with rate %s", mg_about(descent->rate).text);
    mg_report_set(report, "rate", descent->rate);
    if (descent->ended == MARGIN_OK)
        mg_report_reason(report, "%s reached the gap in %lld steps", rate,
                         (long long)descent->steps);
    else if (descent->ended == MARGIN_STOPPED_STALLED)
        mg_report_reason(report, "%s ran away: take a smaller rate", rate);
    else if (descent->ended == MARGIN_STOPPED_TIME)
        mg_report_reason(report, "the time limit came after %lld steps of %s",
                         (long long)descent->steps, rate);
    else
        mg_report_reason(report,
                         "the limit of %lld steps is reached by %s: raise max_iter, or leave out "
                         "solver=gd",
                         (long long)descent->steps, rate);
}

margin_status mg_kernel_descend_fit(mg_fit *fit, const mg_kernel_objective *objective,
                                    mg_kernel_point *point) {
    const margin_component *info = &fit->learner->info;
    const mg_option_value *values = fit->options;
    const int64_t limit = mg_option_named(info, values, "max_iter")->integer;
    mg_kernel_descent descent = {.objective = objective,
                                 .trace = fit->trace,
                                 .stop = mg_stop_make(objective->system->context, limit),
                                 .rate = mg_option_named(info, values, "rate")->number,
                                 .tolerance = mg_option_named(info, values, "tol")->number,
                                 .error = fit->error};
    MG_TRY(kernel_descend(&descent, point));
    MG_REQUIRE(isfinite(point->value), fit->error, MG_DATA(OVERFLOW),
               "the coefficients left the range of numbers; take a smaller rate");
    fit->report.iterations = descent.steps;
    fit->report.status = descent.ended;
    snprintf(fit->report.iteration_name, sizeof fit->report.iteration_name, "steps");
    describe(&descent, &fit->report);
    return MARGIN_OK;
}
