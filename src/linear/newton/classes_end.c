/* When the minimisation for several classes is done, and what it says. As smooth_proof.c for one
 * function. */
#include "linear/newton/classes_smooth.h"
#include "linear/proof/classes_certificate.h"
#include "linear/proof/end_words.h"

#include <math.h>
#include <string.h>

/* Steps without progress after which only rounding is left; and in f32, where there is another way.
 */
enum { IDLE_STEPS = 12, IDLE_SINGLE = 6 };
#define SHARE_OF_GAIN(tolerance) sqrt(tolerance)
static const double rounding = 1e-13;

/* ---- Proof ----------------------------------------------------------------------------------- */

static margin_status prove(mg_classes_state *s) {
    mg_linear_solution *out = s->solution;
    if (s->proven_here) return MARGIN_OK;
    memcpy(out->w, s->here.w, (size_t)(s->classes * s->columns) * sizeof *out->w);
    memcpy(out->b, s->here.b, (size_t)s->classes * sizeof *out->b);
    mg_objective_centre(s->o, out->w, out->b);
    MG_TRY(mg_certify(s->o, out, s->job->error));
    out->passes += 2;
    s->proven_here = true;
    return MARGIN_OK;
}

static double expected_gap(const mg_classes_state *s) {
    if (s->separated) return s->here.value;
    if (!mg_is_unpenalised(s->o)) return s->here.slack;
    return s->solution->iterations > 0 ? s->there.value - s->here.value : (double)INFINITY;
}

static bool is_promising(const mg_classes_state *s) {
    const double tolerance = s->job->tolerance, size = fabs(s->here.value);
    const double expected = expected_gap(s), gain = s->constant_value - s->here.value;
    if (!(expected <= s->strictness * tolerance * fmax(1.0, size))) return false;
    return s->separated || expected <= fmax(SHARE_OF_GAIN(tolerance) * gain, rounding * size);
}

margin_status mg_classes_check(mg_classes_state *s, bool *done) {
    *done = false;
    s->separated = mg_is_unpenalised(s->o) && s->here.errors == 0;
    mg_progress(s->o->design->context, "training", (double)s->solution->iterations, 0.0,
                expected_gap(s) / fmax(1.0, fabs(s->here.value)));
    if (!is_promising(s)) return MARGIN_OK;
    MG_TRY(prove(s));
    *done = s->solution->gap <= s->job->tolerance;
    if (!*done) s->strictness *= 0.1;
    return MARGIN_OK;
}

bool mg_classes_is_idle(const mg_classes_state *s) {
    return s->idle_steps >= (s->single ? IDLE_SINGLE : IDLE_STEPS);
}

/* ---- Directions without end ------------------------------------------------------------------ */

margin_status mg_classes_look_ahead(const mg_objective *o, const double *at_w, const double *at_b,
                                    double *w, double *b, double *least, double *most,
                                    margin_error *error) {
    mg_heap *heap = o->design->heap;
    const int32_t *code = o->design->problem->code;
    mg_classes_newton newton = {.heap = heap};
    double *shares = NULL, *v = NULL;
    margin_status status;
    *least = (double)INFINITY;
    *most = -(double)INFINITY;
    MG_GO_NEW(heap, shares, o->samples * o->functions, "Newton's direction", error);
    MG_GO_NEW(heap, v, o->functions * (o->columns + 1), "Newton's direction", error);
    double *sums = v + o->functions * o->columns;
    mg_loss_point point = {.gradient = v, .intercept_gradient = sums, .shares = shares};
    MG_GO(mg_objective_pass(o, at_w, at_b, &point, error));
    const mg_classes_curvature curvature = {.shares = shares, .c = o->c, .rho = o->penalty.rho};
    MG_GO(mg_classes_newton_make(o, &curvature, &newton, error));
    mg_classes_newton_solve(o, &newton, v, sums, w, b);
    MG_GO(mg_objective_scores(o, w, b, shares, error));
    for (int64_t i = 0; i < o->samples; i++)
        for (int64_t k = 0; k < o->functions; k++) {
            const double *u = shares + i * o->functions;
            if (k == code[i] || !(o->totals[k] > 0.0)) continue;
            *least = fmin(*least, u[k] - u[code[i]]);
            *most = fmax(*most, u[k] - u[code[i]]);
        }
done:
    mg_classes_newton_free(&newton);
    mg_free(heap, v);
    mg_free(heap, shares);
    return status;
}

margin_status mg_classes_newton_step(mg_classes_state *s, double *least, double *most) {
    const mg_objective *o = s->o;
    double *w;
    margin_status status;
    MG_NEW(o->design->heap, w, o->functions * (o->columns + 2), "Newton's direction",
           s->job->error);
    double *b = w + o->functions * (o->columns + 1);
    MG_GO(mg_classes_look_ahead(s->o, s->here.w, s->here.b, w, b, least, most, s->job->error));
    mg_objective_centre(o, w, b);
    for (int64_t k = 0; k < o->functions; k++) { /* the step, in the coordinates of a direction */
        double *d = s->direction + k * s->block;
        d[o->columns] = -b[k];
        for (int64_t j = 0; j < o->columns; j++) {
            const double wj = w[k * o->columns + j];
            d[j] = s->factor[j] > 0.0 ? -wj / s->factor[j] : 0.0;
            d[o->columns] -= s->centre[j] * wj;
        }
        if (!o->intercept) d[o->columns] = 0.0;
    }
done:
    mg_free(o->design->heap, w);
    return status;
}

/* Whether the loss falls for ever in the direction in which Newton's method goes. */
static margin_status recedes(mg_classes_state *s, bool *yes) {
    enum { MOST_STEPS = 5 };
    double least, most;
    bool moved = true;
    if (s->separated || !mg_is_unpenalised(s->o) || !mg_classes_newton_can(s->o)) return MARGIN_OK;
    s->single = false;
    for (int step = 0; step < MOST_STEPS && moved && !*yes; step++) {
        MG_TRY(mg_classes_newton_step(s, &least, &most));
        if (most < MG_CLASSES_STILL) return MARGIN_OK;
        *yes = mg_classes_falls(least, most);
        if (!*yes) MG_TRY(mg_classes_step(s, &moved));
    }
    return MARGIN_OK;
}

/* ---- End ------------------------------------------------------------------------------------- */

static void explain(mg_classes_state *s, margin_status ended, bool recession) {
    mg_linear_solution *out = s->solution;
    const mg_smooth_words words = {.ended = ended,
                                   .separated = s->separated,
                                   .recession = recession,
                                   .gap = out->gap,
                                   .tolerance = s->job->tolerance,
                                   .steps = out->iterations,
                                   .limited =
                                       mg_is_unpenalised(s->o) && !mg_classes_newton_can(s->o)};
    mg_smooth_explain(&words, out->why, sizeof out->why);
}

margin_status mg_classes_end(mg_classes_state *s, margin_status ended) {
    mg_linear_solution *out = s->solution;
    bool recession = false;
    if (ended == MARGIN_OK || ended == MARGIN_STOPPED_STALLED) MG_TRY(recedes(s, &recession));
    MG_TRY(prove(s));
    out->status = out->gap <= s->job->tolerance ? MARGIN_OK : ended;
    if ((recession || s->separated) && out->status == MARGIN_OK)
        out->status = MARGIN_STOPPED_STALLED;
    explain(s, ended, recession);
    return out->status;
}
