/* Gradient descent on the coefficients of a function of kernels. */
#include "kernel/machine/kernel_descent.h"

#include <math.h>
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
static margin_status choose_rate(const mg_kernel_walk *walk, double *rate) {
    static const double slack = 1.1; /* the estimate is from below */
    const mg_kernel_objective *o = walk->objective;
    double greatest = 0.0, most = 0.0;
    if (!isnan(*rate)) return MARGIN_OK;
    MG_TRY(greatest_eigenvalue(o, walk->point->d, walk->point->kd, &greatest));
    for (int64_t i = 0; i < o->count; i++)
        most = fmax(most, o->c[i]);
    double bound = o->loss->curvature_bound;
    if (isinf(bound)) bound = 0.25; /* the logistic one, as steps get shorter */
    const double unit = o->penalty.lambda / (o->penalty.rho / 2.0); /* 1 / (factor m) */
    const double curvature =
        slack * greatest * (bound * most * unit * slack * greatest + 2.0 * o->penalty.lambda);
    *rate = curvature > 0.0 ? 1.0 / curvature : 1.0;
    return MARGIN_OK;
}

static void kernel_descent_trace(const mg_kernel_walk *walk) {
    mg_trace_note(walk->fit->trace, (margin_trace_step){.step = walk->steps,
                                                        .row = -1,
                                                        .errors = walk->point->errors,
                                                        .loss = walk->point->value,
                                                        .intercept = 0.0,
                                                        .weights = walk->point->a,
                                                        .weight_count = walk->objective->count});
}

/* Where the loss has a corner a step of one length jumps about it for ever (Shor 1985). */
static double rate_now(const mg_kernel_walk *walk, double rate) {
    return walk->objective->loss->smooth ? rate : rate / sqrt(1.0 + (double)walk->steps);
}

/* a and f stay as they are until both have their next values. */
static margin_status kernel_descent_step(const mg_kernel_walk *walk, double rate) {
    const mg_kernel_objective *o = walk->objective;
    mg_kernel_point *point = walk->point;
    const double unit = o->penalty.lambda / (o->penalty.rho / 2.0);
    const size_t bytes = (size_t)o->count * sizeof *point->a;
    memcpy(point->d, point->a, bytes);
    mg_vector_ops_for(mg_isa_level())
        ->add(point->d, -rate * unit * o->penalty.rho, point->kd, o->count);
    MG_TRY(mg_kernel_system_multiply(o->system, 1, point->d, point->kd));
    memcpy(point->a, point->d, bytes);
    memcpy(point->f, point->kd, bytes);
    return MARGIN_OK;
}

static margin_status descend(mg_kernel_walk *walk, double *rate) {
    const mg_kernel_point *point = walk->point;
    MG_TRY(choose_rate(walk, rate));
    for (;; walk->steps++) {
        MG_TRY(mg_kernel_point_judge(walk->objective, walk->point));
        kernel_descent_trace(walk);
        const bool lost = !isfinite(point->value) || !isfinite(point->gap);
        if (lost) walk->ended = MARGIN_STOPPED_STALLED;
        if (lost || mg_kernel_point_gap(point) <= walk->tolerance) return MARGIN_OK;
        walk->ended = mg_stop_check(&walk->stop, walk->steps);
        if (walk->ended < 0) return mg_fail_cancelled(walk->fit->error);
        if (walk->ended > 0) return MARGIN_OK;
        MG_TRY(kernel_descent_step(walk, rate_now(walk, *rate)));
    }
}

margin_status mg_kernel_descend(mg_kernel_walk *walk) {
    mg_fit *fit = walk->fit;
    double rate = mg_option_named(&fit->learner->info, fit->options, "rate")->number;
    walk->step_name = "steps";
    if (walk->stop.max_iterations < 0) walk->stop.max_iterations = MOST_STEPS;
    MG_TRY(
        mg_kernel_point_in_time(walk->objective, walk->point, descend(walk, &rate), &walk->ended));
    mg_report_set(&fit->report, "rate", rate);
    if (walk->ended == MARGIN_STOPPED_STALLED)
        mg_report_reason(&fit->report,
                         "gradient descent with rate %s ran away: take a smaller rate",
                         mg_about(rate).text);
    else
        mg_report_reason(&fit->report,
                         "gradient descent with rate %s reached the gap in %lld steps",
                         mg_about(rate).text, (long long)walk->steps);
    return MARGIN_OK;
}
