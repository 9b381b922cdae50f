/* Objective and gap of a function of kernels once more, by plain loops. */
#include "kernel/machine/kernel_fit.h"
#include "learn/kernels/kernel_sums.h"

#include <math.h>

typedef struct sums {
    long double loss, norm;
    double blur, norm_blur, moved; /* what rounding may have made of them, and of |f - f_u| */
} sums;

/* What rounding of a score may make of the slope: at a corner it is any of two. */
static double slope_blur(const mg_loss *loss, double t, double blur) {
    if (!loss->smooth) return fabs(1.0 - t) <= blur ? 1.0 : 0.0;
    return loss->curvature(t) * blur * (1.0 + blur);
}

/* Scores into f, dual variables -g / rho into u. */
static margin_status add_up(mg_fit *fit, const mg_hypothesis *h, const mg_loss *loss,
                            const mg_penalty *penalty, const int64_t *entries, double *f, double *u,
                            sums *s) {
    const mg_problem *p = fit->problem;
    *s = (sums){0};
    for (int64_t i = 0; i < p->count; i++) {
        const double c = penalty->factor * mg_sample_weight(p, i), y = p->sign[i];
        double blur;
        const double root = sqrt(fabs(mg_kernel_sums_square(fit, h, entries, i, &blur)));
        if (mg_cancelled(fit->context)) return mg_fail_cancelled(fit->error);
        f[i] = mg_kernel_sums_sample(fit, h, entries, i, &blur);
        u[i] = -c * y * loss->slope(y * f[i]) / penalty->rho;
        s->loss += (long double)(c * loss->value(y * f[i]));
        s->blur += c * blur;
        s->moved +=
            root * (MG_ROUNDING * fabs(u[i]) + c / penalty->rho * slope_blur(loss, y * f[i], blur));
    }
    return mg_kernel_sums_norm(fit, h, &s->norm, &s->norm_blur);
}

static margin_status verify(mg_fit *fit, const mg_hypothesis *h, const mg_loss *loss, double *f,
                            double *u, int64_t *entries) {
    const mg_option_value *values = fit->options;
    const mg_penalty penalty =
        mg_penalty_of(&fit->learner->info, values, 0.0, mg_total_weight(fit->problem));
    margin_report *report = &fit->report;
    double blur, distance = 0.0;
    bool matches, definite;
    sums s;
    mg_kernel_sums_match(fit, h, entries, &matches);
    MG_TRY(add_up(fit, h, loss, &penalty, entries, f, u, &s));
    MG_TRY(mg_kernel_sums_distance(fit, h, entries, u, f, s.norm, &distance, &blur));
    report->objective = (double)(s.loss + (long double)penalty.rho / 2.0L * fmaxl(s.norm, 0.0L));
    MG_TRY(mg_kernel_sums_definite(fit, h, &definite));
    report->gap = fmin(penalty.rho / 2.0 * distance, report->objective) / /* P is not below 0 */
                  fmax(1.0, report->objective);
    report->tolerance = mg_option_named(&fit->learner->info, values, "tol")->number;
    fit->verified.objective =
        s.blur + penalty.rho / 2.0 * s.norm_blur + MG_ROUNDING * report->objective;
    fit->verified.gap = penalty.rho / 2.0 * s.moved * (2.0 * sqrt(distance) + s.moved);
    if (penalty.rho / 2.0 * distance >= report->objective)
        fit->verified.gap = fmax(fit->verified.gap, fit->verified.objective);
    report->status =
        report->gap - fit->verified.gap / fmax(1.0, report->objective) <= report->tolerance
            ? MARGIN_OK
            : MARGIN_STOPPED_STALLED;
    if (!definite) {
        report->gap = (double)INFINITY;
        report->status = MARGIN_STOPPED_STALLED;
    }
    if (h->view.expansion.intercept[0] != 0.0)
        fit->verified.contradiction = "the model has an intercept, and its learner fits none";
    mg_kernel_report(&penalty, &h->view.expansion.kernel, loss->formula, report);
    return MARGIN_OK;
}

margin_status mg_kernel_point_verify(mg_fit *fit, const mg_hypothesis *hypothesis,
                                     const mg_loss *loss) {
    const int64_t m = fit->problem->count;
    double *numbers;
    MG_TRY(mg_kernel_sums_skew(fit, hypothesis));
    MG_NEW(fit->context->heap, numbers, 2 * m + fit->problem->x.rows, "the scores of the rows",
           fit->error);
    const margin_status status =
        verify(fit, hypothesis, loss, numbers, numbers + m, (int64_t *)(numbers + 2 * m));
    mg_free(fit->context->heap, numbers);
    return status;
}
