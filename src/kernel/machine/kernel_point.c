/* Functions of kernels under an objective. */
#include "kernel/machine/kernel_point.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char purpose[] = "the coefficients of the rows";

margin_status mg_kernel_objective_make(const mg_kernel_system *system, const mg_fit *fit,
                                       const mg_loss *loss, const mg_penalty *penalty,
                                       mg_arena *arena, mg_kernel_objective *objective) {
    const mg_problem *p = fit->problem;
    const int64_t m = p->count;
    *objective =
        (mg_kernel_objective){.system = system, .loss = loss, .penalty = *penalty, .count = m};
    MG_TRY(MG_PIECES(arena, purpose, system->error, MG_PIECE(objective->c, m),
                     MG_PIECE(objective->y, m)));
    for (int64_t i = 0; i < m; i++) {
        objective->c[i] = penalty->factor * mg_sample_weight(p, i);
        objective->y[i] = mg_sample_target(p, i);
    }
    return MARGIN_OK;
}

margin_status mg_kernel_point_make(const mg_kernel_objective *objective, mg_arena *arena,
                                   mg_kernel_point *point) {
    const int64_t m = objective->count;
    *point = (mg_kernel_point){.judged_gap = (double)INFINITY};
    MG_TRY(MG_PIECES(arena, purpose, objective->system->error, MG_PIECE(point->a, m),
                     MG_PIECE(point->f, m), MG_PIECE(point->g, m), MG_PIECE(point->curvature, m),
                     MG_PIECE(point->d, m), MG_PIECE(point->kd, m), MG_PIECE(point->judged, m)));
    for (int64_t i = 0; i < m; i++)
        point->a[i] = point->f[i] = point->judged[i] = 0.0;
    point->judged_value = mg_kernel_loss(objective, point->f, NULL, NULL);
    return MARGIN_OK;
}

double mg_kernel_loss(const mg_kernel_objective *o, const double *f, double *slopes,
                      double *curvatures) {
    const bool margin = o->loss->margin_based;
    long double sum = 0.0L; /* equal terms would add up their rounding */
    for (int64_t i = 0; i < o->count; i++) {
        const double t = margin ? o->y[i] * f[i] : f[i] - o->y[i];
        sum += (long double)(o->c[i] * o->loss->value(t));
        if (slopes) slopes[i] = o->c[i] * o->loss->slope(t) * (margin ? o->y[i] : 1.0);
        if (curvatures) curvatures[i] = o->c[i] * o->loss->curvature(t);
    }
    return (double)sum;
}

/* Scores may be off by `blur`, each in a direction of its own, slopes by their curvature times
 * that, and so is d; `moved` is what that makes of |f - f_u|, whose square is the distance. At a
 * corner the slope is that of the other side: what blur costs there. */
static double rounding_of(const mg_kernel_objective *o, const mg_kernel_point *point) {
    const double rho = o->penalty.rho, unit = mg_kernel_rounding;
    const double corner = o->loss->smooth ? 0.0 : 1.0;
    double terms = 0.0, miss = 0.0, moved = 0.0, sum = 0.0;
    for (int64_t i = 0; i < o->count; i++) {
        const double root = mg_kernel_system_root(o->system, i);
        terms += fabs(point->a[i]) * root;
        miss += fabs(point->d[i]) * root;
    }
    for (int64_t i = 0; i < o->count; i++) {
        const double root = mg_kernel_system_root(o->system, i), blur = unit * root * terms;
        const double slope = point->curvature[i] * blur * (1.0 + blur);
        const double a = fabs(point->a[i]), g = fabs(point->g[i]);
        const double own = root * ((slope + unit * g) / rho + unit * a);
        const double value = (g + slope + rho * a + corner * o->c[i]) * blur;
        moved += own * own;
        sum += value * value;
    }
    const double square = 2.0 / rho * point->gap;
    const double most = sqrt(square + unit * miss * miss) + sqrt(moved);
    return unit * point->loss + sqrt(sum) + rho / 2.0 * (most * most - square);
}

margin_status mg_kernel_point_judge(const mg_kernel_objective *o, mg_kernel_point *point) {
    const mg_vector_ops *ops = mg_vector_ops_for(mg_isa_level());
    const double rho = o->penalty.rho;
    point->loss = mg_kernel_loss(o, point->f, point->g, point->curvature);
    point->errors = o->loss->margin_based ? 0 : -1;
    for (int64_t i = 0; i < o->count; i++) {
        point->d[i] = point->a[i] + point->g[i] / rho;
        point->errors += o->loss->margin_based && !(o->y[i] * point->f[i] > 0.0);
    }
    MG_TRY(mg_kernel_system_multiply(o->system, 1, point->d, point->kd));
    const double norm = ops->dot(point->a, point->f, o->count);
    point->value = point->loss + rho / 2.0 * fmax(norm, 0.0);
    point->gap = rho / 2.0 * fmax(ops->dot(point->d, point->kd, o->count), 0.0);
    point->rounding = rounding_of(o, point);
    memcpy(point->judged, point->a, (size_t)o->count * sizeof *point->judged);
    point->judged_value = point->value;
    point->judged_gap = point->gap + point->rounding;
    return MARGIN_OK;
}

margin_status mg_kernel_point_in_time(const mg_kernel_objective *o, mg_kernel_point *point,
                                      margin_status status, margin_status *ended) {
    if (!mg_timed_out(o->system->context, status)) return status;
    *ended = MARGIN_STOPPED_TIME;
    memcpy(point->a, point->judged, (size_t)o->count * sizeof *point->a);
    point->value = point->judged_value;
    point->gap = point->judged_gap;
    point->rounding = 0.0;
    return MARGIN_OK;
}

double mg_kernel_point_gap(const mg_kernel_point *point) {
    const double gap = point->gap + point->rounding; /* P is not below 0 */
    return (gap < point->value ? gap : point->value) / fmax(1.0, fabs(point->value));
}
