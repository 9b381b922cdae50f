/* Least squares: weights, target and columns of the problem; passes over the data, how good a
 * solution is, and its refinement. */
#include "linear/squares/least_squares.h"

#include <float.h>
#include <string.h>

/* ---- Setting up ------------------------------------------------------------------------------ */

mg_squares mg_squares_of(mg_fit *fit, bool intercept) {
    mg_squares s = {.fit = fit,
                    .context = fit->context,
                    .error = fit->error,
                    .problem = fit->problem,
                    .stop = mg_stop_make(fit->context, -1),
                    .intercept = intercept,
                    .samples = fit->problem->count,
                    .columns = fit->problem->x.columns};
    mg_arena_init(&s.arena, fit->context->heap);
    return s;
}

/* c_i = weight_i / mean weight: neither huge nor tiny weights leave the range of numbers. Sums of
 * few different weights are rounded the same way again and again, so digits are left for that. */
static void set_weights(mg_squares *s) {
    const double *weight = s->problem->weight;
    double most = 0.0;
    long double sum = 0.0L, total = 0.0L;
    for (int64_t i = 0; weight && i < s->samples; i++)
        most = MG_MAX(weight[i], most);
    for (int64_t i = 0; weight && i < s->samples; i++)
        sum += (long double)(weight[i] / most);
    s->unit = weight ? most * ((double)sum / (double)s->samples) : 1.0;
    for (int64_t i = 0; i < s->samples; i++) {
        s->c[i] = weight ? weight[i] / s->unit : 1.0;
        total += (long double)s->c[i];
    }
    s->total = (double)total;
}

/* From the first target, so that a constant target has exactly that mean. */
static margin_status set_target(mg_squares *s) {
    const double *y = s->problem->target, first = y[0];
    double sum = 0.0;
    for (int64_t i = 0; i < s->samples; i++)
        sum += s->c[i] * (y[i] - first);
    s->centre = s->intercept ? first + sum / s->total : 0.0;
    s->spread = mg_squares_spread(y, s->c, s->samples, s->centre);
    s->floor = 0.0;
    MG_REQUIRE(isfinite(s->spread), s->error, MG_DATA(OVERFLOW),
               "the squares of the target overflow: divide it by a power of ten");
    return MARGIN_OK;
}

margin_status mg_squares_begin(mg_squares *s) {
    const int64_t n = s->columns;
    MG_TRY(mg_design_create(s->context, s->problem, &s->design, s->error));
    MG_TRY(MG_PIECES(&s->arena, "the columns of least squares", s->error,
                     MG_PIECE(s->c, s->samples), MG_PIECE(s->mean, n), MG_PIECE(s->norm, n),
                     MG_PIECE(s->w, n), MG_PIECE(s->gradient, n), MG_PIECE(s->step, n)));
    for (int64_t j = 0; j < n; j++)
        s->mean[j] = s->norm[j] = s->w[j] = s->gradient[j] = s->step[j] = 0.0;
    set_weights(s);
    s->alpha = (1.0 - s->penalty.l1_ratio) * s->penalty.alpha / s->unit;
    s->rank = -1;
    return set_target(s);
}

void mg_squares_end(mg_squares *s) {
    if (s->design.heap) mg_design_free(&s->design);
    mg_arena_free(&s->arena);
}

margin_status mg_squares_check_values(const mg_problem *problem, margin_context *context,
                                      margin_error *error) {
    return problem->unchecked ? mg_problem_check_finite(context, problem, false, error) : MARGIN_OK;
}

/* Whether a constant column is not 0 and yet below `least`, before the stages. */
static bool vanishes(const mg_squares *s, int64_t j, double least) {
    const double shift = s->problem->shift ? s->problem->shift[j] : 0.0;
    const double scale = s->problem->scale ? s->problem->scale[j] : 1.0;
    const double raw = fabs((s->mean[j] - shift) / scale);
    return raw > 0.0 && raw < least;
}

margin_status mg_squares_check_norms(mg_squares *s) {
    const double most = 1e150, least = 1e-130;
    char buffer[32];
    for (int64_t j = 0; j < s->columns; j++) {
        const double norm = s->norm[j], size = fmax(norm, fabs(s->mean[j]));
        const bool over = !(norm < most && fabs(s->mean[j]) < most);
        const bool under = (size > 0.0 && size <= least) || (norm == 0.0 && vanishes(s, j, least));
        if (!over && !under) continue;
        MG_TRY(mg_squares_check_values(s->problem, s->context, s->error)); /* a gap is told first */
        return mg_fail(s->error, MG_DATA(OVERFLOW),
                       over ? "the squares of column %s overflow: divide it by a power of ten"
                            : "the values of column %s are below 1e-130, where squares vanish: "
                              "multiply it by a power of ten, or leave it out",
                       mg_column_name(s->problem->columns, j, buffer));
    }
    return MARGIN_OK;
}

margin_status mg_squares_moments(mg_squares *s) {
    MG_TRY(mg_design_moments(&s->design, true, s->mean, s->norm, s->error));
    MG_TRY(mg_squares_check_norms(s));
    for (int64_t j = 0; j < s->columns; j++) {
        const double deviation = s->intercept ? s->norm[j] : hypot(s->mean[j], s->norm[j]);
        if (!s->intercept) s->mean[j] = 0.0;
        s->norm[j] = sqrt(s->total) * deviation;
    }
    return mg_squares_check_norms(s);
}

/* ---- How good a solution is ------------------------------------------------------------------ */

/* With u = 2 c (r - mean r) as dual point (Fenchel, see certificate.c) the duality gap is what the
 * intercept costs plus |grad P|^2 / (2 rho). */
static double duality_gap(const mg_squares *s) {
    const double factor = s->penalty.factor * s->unit;
    double square = 0.0;
    for (int64_t j = 0; j < s->columns; j++) {
        const double most = fabs(s->gradient[j]) + s->hidden * s->norm[j];
        square += most * most;
    }
    return factor * (s->now.excess * s->now.excess / s->total) +
           2.0 * factor * factor * square / s->penalty.rho;
}

double mg_squares_rounding(const mg_squares *s, double *ratio) {
    const double *shift = s->design.shift, root = sqrt(s->total);
    double terms = root * (fabs(s->b) + fabs(s->centre)) + s->spread;
    *ratio = 1.0;
    for (int64_t j = 0; j < s->columns; j++) {
        const double stored = root * (fabs(s->mean[j]) + (shift ? fabs(shift[j]) : 0.0));
        const double offset = s->design.centre ? root * fabs(s->mean[j]) : stored;
        terms += fabs(s->w[j]) * (s->norm[j] + stored);
        if (s->norm[j] > 0.0 && offset > *ratio * s->norm[j]) *ratio = offset / s->norm[j];
    }
    return terms;
}

static void find_gap(mg_squares *s) {
    double ratio;
    const double rounding = DBL_EPSILON * mg_squares_rounding(s, &ratio);
    const double square = mg_vector_ops_for(s->design.isa)->square(s->w, s->columns);
    s->now.objective = s->penalty.factor * s->unit * s->now.value;
    if (s->penalty.rho > 0.0) s->now.objective += s->penalty.rho / 2.0 * square;
    s->now.gap = s->penalty.rho > 0.0 ? duality_gap(s) / fmax(1.0, s->now.objective)
                                      : (double)INFINITY; /* until mg_squares_judge_by */
    if (isnan(s->now.gap)) s->now.gap = (double)INFINITY;
    /* no objective is below the floor; but this one may be above what was found */
    const double whole =
        s->now.objective - s->floor +
        s->penalty.factor * s->unit * rounding * (2.0 * sqrt(s->now.value) + rounding);
    if (s->hidden > 0.0) return; /* the value is not that exact */
    s->now.gap = fmin(s->now.gap, fmax(whole, 0.0) / fmax(1.0, s->now.objective));
}

/* `gradient` is that of the residual in centred columns. */
static void judge_centred(mg_squares *s) {
    for (int64_t j = 0; j < s->columns; j++)
        s->gradient[j] = s->norm[j] > 0.0 ? s->gradient[j] - s->alpha * s->w[j] : 0.0;
    find_gap(s);
    s->judged = true;
}

void mg_squares_judge(mg_squares *s, double total) {
    s->now.excess = s->intercept ? total : 0.0;
    for (int64_t j = 0; j < s->columns; j++)
        s->gradient[j] -= s->mean[j] * s->now.excess;
    judge_centred(s);
}

void mg_squares_judge_products(mg_squares *s, double value, double excess, double hidden) {
    double ratio;
    const double rounding = DBL_EPSILON * mg_squares_rounding(s, &ratio);
    s->now.value = value;
    s->hidden = hidden;
    s->now.excess = s->intercept ? fabs(excess) + sqrt(s->total) * rounding : 0.0;
    judge_centred(s);
}

/* P is quadratic, so its distance from the optimum is g'H^-1 g: below the duality gap, which takes
 * rounding along long columns for a distance, and there without a penalty too. `distance` is that.
 * What rounding of residuals and of g may hide is counted: of g it is stretched by the condition.
 * A factor that has left out directions says nothing of them. */
void mg_squares_judge_by(mg_squares *s, double distance) {
    if (s->now.gap <= s->tolerance && s->penalty.rho > 0.0) return;
    if (s->is_partial || (s->penalty.rho > 0.0 && !mg_squares_exact(s->samples, s->columns)))
        return;
    double ratio;
    const double residual = mg_squares_rounding(s, &ratio);
    const double terms = s->condition * ratio * sqrt(s->now.value) + residual;
    const double length = sqrt(fabs(distance)) + DBL_EPSILON * terms +
                          s->condition * sqrt((double)s->columns) * s->hidden;
    const double gap = s->penalty.factor * s->unit *
                       (length * length + s->now.excess * s->now.excess / s->total) /
                       fmax(1.0, s->now.objective);
    if (gap < s->now.gap) s->now.gap = gap;
}

margin_status mg_squares_pass(mg_squares *s) {
    double sum;
    mg_loss_point point = {
        .gradient = s->gradient, .intercept_gradient = &sum, .slopes = s->slopes};
    MG_TRY(mg_design_loss(&s->design, mg_loss_get(MG_LOSS_SQUARED), s->w, s->b, s->c, &point,
                          s->error));
    s->now.value = point.value;
    s->hidden = 0.0;
    for (int64_t j = 0; j < s->columns; j++)
        s->gradient[j] /= -2.0;
    mg_squares_judge(s, -sum / 2.0);
    return MARGIN_OK;
}

margin_status mg_squares_constant(mg_squares *s) {
    mg_squares_start(s);
    return mg_squares_pass(s);
}

/* ---- Refinement ------------------------------------------------------------------------------ */

margin_status mg_squares_in_time(mg_squares *s, margin_status status) {
    if (status == MARGIN_ERROR_CANCELLED) return mg_fail_cancelled(s->error);
    s->out_of_time |= status == MARGIN_STOPPED_TIME;
    return status < 0 ? status : MARGIN_OK;
}

void mg_squares_start(mg_squares *s) {
    memset(s->w, 0, (size_t)s->columns * sizeof *s->w);
    if (s->dual) memset(s->dual, 0, (size_t)s->samples * sizeof *s->dual);
    s->b = s->centre;
    s->now.excess = 0.0;
}

void mg_squares_move(mg_squares *s, const double *step) {
    double shift = s->now.excess / s->total;
    for (int64_t j = 0; j < s->columns; j++) {
        s->w[j] += step[j];
        shift -= s->mean[j] * step[j];
    }
    if (s->intercept) s->b += shift;
}

double mg_squares_size(const mg_squares *s, const double *step) {
    double size = 0.0, whole = 0.0;
    for (int64_t j = 0; j < s->columns; j++) {
        size = fmax(size, fabs(step[j]) * s->norm[j]);
        whole = fmax(whole, fabs(s->w[j]) * s->norm[j]);
    }
    return size > 0.0 ? size / fmax(whole, size) : 0.0;
}

double mg_squares_along(const mg_squares *s, const double *step) {
    double sum = 0.0;
    for (int64_t j = 0; j < s->columns; j++)
        sum += s->gradient[j] * step[j];
    return sum;
}

static margin_status refine(mg_squares *s, mg_squares_correct correct, void *argument) {
    enum { MOST = 10 };
    static const double little = 1e-12; /* gaps that no one asks about */
    const size_t bytes = (size_t)s->columns * sizeof *s->w;
    double last = 2.0, kept_b = 0.0;
    mg_squares_point kept = {0};
    if (!s->kept) MG_ARENA_NEW(&s->arena, s->kept, s->columns, "a copy of the weights", s->error);
    for (s->refinements = 0;; s->refinements++) {
        if (!(s->hidden > 0.0)) MG_TRY(mg_squares_pass(s));
        MG_TRY(correct(s, argument, s->step));
        if (s->out_of_time) return MARGIN_OK;
        mg_squares_judge_by(s, s->distance);
        const double size = mg_squares_size(s, s->step);
        if (s->hidden > 0.0) { /* products say enough, or the data is asked */
            if (size <= MG_SQUARES_ENOUGH && s->now.gap <= fmin(s->tolerance, little))
                return MARGIN_OK;
            s->hidden = 0.0;
            s->refinements--;
            continue;
        }
        if (!(size < last) && s->refinements == 0) /* not a number: the constant is left */
            return mg_squares_constant(s);
        if (!(size < last)) { /* no better for the last correction: it was rounding */
            memcpy(s->w, s->kept, bytes);
            s->b = kept_b;
            s->now = kept;
            s->refinements--;
            return MARGIN_OK;
        }
        if (size <= MG_SQUARES_ENOUGH || s->refinements == MOST) return MARGIN_OK;
        const margin_status ended = mg_stop_check(&s->stop, s->refinements);
        if (ended < 0) return mg_fail_cancelled(s->error);
        s->out_of_time = ended > 0;
        if (ended > 0) return MARGIN_OK;
        memcpy(s->kept, s->w, bytes);
        kept_b = s->b;
        kept = s->now;
        mg_squares_move(s, s->step);
        last = size / 2.0;
    }
}

/* Where rounding has left nothing but noise the constant is better. */
margin_status mg_squares_refine(mg_squares *s, mg_squares_correct correct, void *argument) {
    static const double allowance = 1.0 + 1e-9;
    MG_TRY(refine(s, correct, argument));
    const double constant = s->penalty.factor * s->unit * s->spread * s->spread;
    return s->now.objective <= allowance * constant ? MARGIN_OK : mg_squares_constant(s);
}

margin_status mg_squares_again(mg_squares *s, mg_fit *fit) {
    s->fit = fit;
    s->problem = s->design.problem = fit->problem;
    s->out_of_time = false;
    s->steps = 0;
    MG_TRY(set_target(s));
    mg_squares_start(s);
    if (s->solve_again) return s->solve_again(s, s->factor);
    MG_TRY(mg_squares_pass(s));
    MG_TRY(s->correct(s, s->factor, s->step));
    mg_squares_move(s, s->step);
    return mg_squares_refine(s, s->correct, s->factor);
}
