/* Gradient descent for several classes: the point, its rate, when it is done. */
#include "linear/textbook/classes_descent.h"
#include "linear/proof/goal.h"

#include <math.h>
#include <string.h>

enum { MOST_STEPS = 10000, MOST_PASSES = 1000 };
/* Without a penalty a proof needs a matrix; see descent_proof.c. */
enum { FIRST_CHECK = 8, GROWTH = 4, NUMBERS_PER_PASS = 8 };

/* ---- Setting up ------------------------------------------------------------------------------ */

static margin_status take_memory(mg_classes_descent *d) {
    const int64_t numbers = d->classes * (d->columns + 1), weights = d->classes * d->columns;
    double *at = mg_arena_new(&d->arena, 3 * numbers, sizeof *at);
    if (!at)
        return mg_no_memory(d->o->design->heap, 3 * numbers, sizeof *at, "the state of a solver",
                            d->job->error);
    memset(at, 0, (size_t)(3 * numbers) * sizeof *at);
    d->w = at;
    d->b = d->w + weights;
    d->gradient = d->w + numbers;
    d->gradient_b = d->gradient + weights;
    d->best = d->gradient + numbers;
    return MARGIN_OK;
}

static margin_status set_start(mg_classes_descent *d, int64_t count) {
    const int64_t weights = d->classes * d->columns, all = weights + d->classes;
    MG_REQUIRE(
        count == 0 || count == weights || (count == all && d->o->intercept), d->job->error,
        MARGIN_ERROR_SPEC,
        "start_weights has %lld numbers; for %lld classes and %lld columns they are the %lld "
        "weights, class by class%s",
        (long long)count, (long long)d->classes, (long long)d->columns, (long long)weights,
        d->o->intercept ? ", and then, if wanted, an intercept for each class" : "");
    d->constant_value = mg_objective_constant(d->o, d->b);
    for (int64_t k = 0; k < d->classes; k++)
        if (d->o->totals[k] > 0.0) d->b[k] = 0.0; /* the others stay out of the way */
    const double *start = d->options->start_weights;
    for (int64_t j = 0; j < count; j++)
        if (j < weights || d->o->totals[j - weights] > 0.0) d->w[j] = start[j];
    return MARGIN_OK;
}

margin_status mg_classes_descent_evaluate(mg_classes_descent *d) {
    mg_loss_point point = {.gradient = d->gradient, .intercept_gradient = d->gradient_b};
    MG_TRY(mg_objective_pass(d->o, d->w, d->b, &point, d->job->error));
    d->solution->passes++;
    d->value = point.value;
    d->errors = point.errors;
    return MARGIN_OK;
}

/* After the point was evaluated at the end of a unit: trace, best point, signs of divergence. */
static void note(mg_classes_descent *d) {
    static const double little = 1e-12, far = 1e4;
    const bool first = d->units == 0;
    mg_linear_trace(d->job, d->units, d->w, d->b, d->value, d->errors);
    d->diverged = !first && !(d->value <= far * fmax(d->start_value, d->constant_value));
    d->idle = first || d->value < d->best_value - little * fabs(d->best_value) ? 0 : d->idle + 1;
    if (!first && !(d->value < d->best_value)) return;
    d->best_value = d->value;
    d->best_errors = d->errors;
    memcpy(d->best, d->w, (size_t)(d->classes * (d->columns + 1)) * sizeof *d->best);
    d->proven = false;
}

static margin_status begin(mg_classes_descent *d, int64_t start_count) {
    for (int64_t k = 0; k < d->classes; k++)
        d->mass += d->o->totals[k];
    d->mu = d->o->penalty.rho / d->mass;
    MG_TRY(take_memory(d));
    MG_TRY(set_start(d, start_count));
    MG_TRY(mg_classes_descent_evaluate(d));
    MG_REQUIRE(isfinite(d->value), d->job->error, MARGIN_ERROR_DATA,
               "the objective is beyond double precision at the start; bring the columns to one "
               "scale first: standardize | ...");
    d->start_value = d->value;
    note(d);
    return MARGIN_OK;
}

/* ---- Rate ------------------------------------------------------------------------------------ */

static margin_status find_curvature(mg_classes_descent *d, int64_t limit) {
    const mg_curvature q = {.design = d->o->design,
                            .c = d->o->c,
                            .intercept = d->o->intercept,
                            .share = d->o->loss->curvature_bound / d->mass,
                            .mu = d->mu,
                            .limit = limit};
    return mg_curvature_find(&q, &d->curvature, &d->solution->passes, d->job->error);
}

margin_status mg_classes_descent_rate(mg_classes_descent *d) {
    enum { PASSES = 100 };
    double rate = d->options->rate;
    if (isnan(rate)) {
        MG_TRY(find_curvature(d, PASSES));
        MG_REQUIRE(isfinite(d->curvature), d->job->error, MARGIN_ERROR_DATA,
                   "the curvature of the loss is beyond double precision; bring the columns to "
                   "one scale first: standardize | ...");
        const double whole = d->curvature + d->rows_curvature;
        rate = whole > 0.0 ? 1.0 / whole : 1.0;
    }
    d->schedule = mg_schedule_make(d->options, rate, d->mu, d->noisy);
    return MARGIN_OK;
}

/* ---- Proof ----------------------------------------------------------------------------------- */

/* Of the best point. */
static margin_status prove(mg_classes_descent *d) {
    mg_linear_solution *out = d->solution;
    if (d->proven) return MARGIN_OK;
    memcpy(out->w, d->best, (size_t)(d->classes * (d->columns + 1)) * sizeof *out->w);
    mg_objective_centre(d->o, out->w, out->b);
    MG_TRY(mg_certify(d->o, out, d->job->error));
    out->passes += 2;
    d->proven = true;
    return MARGIN_OK;
}

/* What the proof would find, as in smooth.c, where weights have the mean 0 over the
 * classes; NAN: not known. */
static double expected_gap(const mg_classes_descent *d) {
    double square = 0.0, across = 0.0;
    const double scale = fmax(1.0, fabs(d->value));
    if (mg_is_unpenalised(d->o)) return d->errors == 0 ? d->value / scale : (double)NAN;
    for (int64_t j = 0; j < d->columns; j++) {
        double sum = 0.0, squares = 0.0;
        for (int64_t k = 0; k < d->classes; k++) {
            const double g = d->gradient[k * d->columns + j];
            sum += g;
            squares += g * g;
        }
        square += fmax(0.0, squares - sum * sum / (double)d->classes);
    }
    for (int64_t k = 0; k < d->classes; k++)
        if (d->o->totals[k] > 0.0) across += d->gradient_b[k] * d->gradient_b[k] / d->o->totals[k];
    return (square / (2.0 * d->o->penalty.rho) + across) / scale;
}

/* Gains count as well: where the loss weighs next to nothing, W = 0 has a tiny gap too. */
static double allowed_gap(const mg_classes_descent *d) {
    const double tolerance = d->job->tolerance;
    return mg_wanted_gap(tolerance, d->best_value, d->constant_value) /
           fmax(1.0, fabs(d->best_value));
}

static bool is_time_to_prove(mg_classes_descent *d, double expected) {
    const int64_t price = (d->classes - 1) * (d->columns + 1) / NUMBERS_PER_PASS;
    if (d->value > d->best_value) return false; /* the best one had its chance */
    if (!isnan(expected)) return expected <= d->strictness * allowed_gap(d);
    if (d->units < d->next_check || !mg_classes_newton_can(d->o)) return false;
    d->next_check = d->units + MG_MAX(FIRST_CHECK + price, d->units / GROWTH);
    return true;
}

static margin_status check(mg_classes_descent *d, bool *done) {
    const double expected = expected_gap(d);
    *done = false;
    mg_progress(d->o->design->context, "training", (double)d->units, (double)d->limit, expected);
    if (!is_time_to_prove(d, expected)) return MARGIN_OK;
    MG_TRY(prove(d));
    *done = d->solution->gap <= allowed_gap(d);
    if (!*done) d->strictness = fmax(0.5 * d->strictness, 1e-9);
    return MARGIN_OK;
}

static margin_status stop(const mg_classes_descent *d) {
    if (d->diverged) return MARGIN_STOPPED_STALLED;
    if (d->idle > MG_DESCENT_MOST_IDLE && d->schedule.kind == MG_SCHEDULE_CONSTANT)
        return MARGIN_STOPPED_STALLED;
    return mg_stop_check(&d->job->stop, d->units);
}

/* ---- End ------------------------------------------------------------------------------------- */

/* Whether the loss falls for ever in a direction of Newton's method from the best point: a loss
 * without an optimum is told from one that steps did not reach. */
static margin_status recedes(mg_classes_descent *d, bool *yes, bool *separable) {
    enum { MOST_NEWTON = 12 };
    static const double far = 4.0; /* of a margin in one step */
    const mg_objective *o = d->o;
    const int64_t weights = o->functions * o->columns;
    double *at, least, most = (double)INFINITY;
    margin_status status;
    if (!mg_is_unpenalised(d->o) || !mg_classes_newton_can(o)) return MARGIN_OK;
    MG_NEW(o->design->heap, at, 2 * weights + 3 * o->functions, "Newton's direction",
           d->job->error);
    double *b = at + weights, *w = b + o->functions, *step = w + weights + o->functions;
    memcpy(at, d->best, (size_t)(weights + o->functions) * sizeof *at);
    for (int k = 0; k < MOST_NEWTON && most >= MG_STILL && !*yes; k++) {
        MG_GO(mg_look_ahead(o, at, b, w, step, &least, &most, d->job->error));
        *yes = mg_falls_for_ever(least, most);
        *separable = *yes && least > 1e-4 * most;
        const double share = fmin(1.0, far / fmax(most, -least));
        for (int64_t j = 0; j < weights; j++)
            at[j] -= share * w[j];
        for (int64_t c = 0; c < o->functions; c++)
            b[c] -= share * step[c];
    }
    status = MARGIN_OK;
done:
    mg_free(o->design->heap, at);
    return status;
}

static margin_status end(mg_classes_descent *d, margin_status ended) {
    enum { PASSES = 200 };
    mg_linear_solution *out = d->solution;
    const bool separated = mg_is_unpenalised(d->o) && d->best_errors == 0;
    bool recession = false, separable = false;
    MG_TRY(prove(d));
    out->iterations = d->units;
    out->status = out->gap <= d->job->tolerance && !separated ? MARGIN_OK : ended;
    if (separated && out->status == MARGIN_OK) out->status = MARGIN_STOPPED_STALLED;
    if (!separated && out->status != MARGIN_OK) MG_TRY(recedes(d, &recession, &separable));
    const bool overshoots = out->status != MARGIN_OK && !isnan(d->options->rate);
    if (overshoots) MG_TRY(find_curvature(d, PASSES));
    const mg_descent_words words = {
        .status = out->status,
        .ended = ended,
        .separated = separated,
        .recession = recession,
        .separable = separable,
        .diverged = d->diverged,
        .noisy = d->noisy,
        .is_default = d->is_default,
        .gap = out->gap,
        .rate = d->schedule.rate,
        .value = d->value,
        .start_value = d->start_value,
        .safe = overshoots ? mg_descent_safe(d->curvature + d->rows_curvature) : (double)NAN,
        .units = d->units,
        .limit = d->limit,
        .unit_name = d->unit_name};
    mg_descent_explain(&words, out->why, sizeof out->why);
    return out->status;
}

/* ---- The method ------------------------------------------------------------------------------ */

static margin_status step_over_all(mg_classes_descent *d) {
    const double share = mg_schedule_rate(&d->schedule, d->units) / d->mass;
    for (int64_t j = 0; j < d->classes * (d->columns + 1); j++)
        d->w[j] -= share * d->gradient[j]; /* intercepts are behind the weights */
    return mg_classes_descent_evaluate(d);
}

/* m NULL: gd */
static margin_status iterate(mg_classes_descent *d, mg_classes_stroll *m) {
    MG_TRY(mg_classes_descent_rate(d));
    for (;;) {
        bool done;
        MG_TRY(check(d, &done));
        if (done) return end(d, MARGIN_OK);
        const margin_status ended = stop(d);
        if (ended < 0) return mg_fail_cancelled(d->job->error);
        if (ended > 0) return end(d, ended);
        MG_TRY(m ? mg_classes_stroll_pass(m) : step_over_all(d));
        d->units++;
        note(d);
    }
}

margin_status mg_classes_descend(mg_linear_job *job, const mg_descent_options *options,
                                 int64_t start_count, const char *solver,
                                 mg_linear_solution *solution) {
    const mg_objective *o = job->objective;
    const bool whole = strcmp(solver, "gd") == 0, single = strcmp(solver, "sgd") == 0;
    const bool is_default = job->stop.max_iterations < 0;
    const int64_t limit = whole ? MOST_STEPS : MOST_PASSES;
    mg_classes_descent d = {.job = job,
                            .options = options,
                            .solution = solution,
                            .o = o,
                            .vectors = mg_vector_ops_for(o->design->isa),
                            .classes = o->functions,
                            .columns = o->columns,
                            .samples = o->samples,
                            .limit = is_default ? limit : job->stop.max_iterations,
                            .is_default = is_default,
                            .unit_name = whole ? "steps" : "passes",
                            .strictness = 0.95};
    mg_classes_stroll rows;
    margin_status status;
    job->stop.max_iterations = d.limit;
    mg_arena_init(&d.arena, o->design->heap);
    MG_GO(begin(&d, start_count));
    if (!whole) MG_GO(mg_classes_stroll_begin(&d, single ? 1 : options->batch, &rows));
    status = iterate(&d, whole ? NULL : &rows);
done:
    mg_arena_free(&d.arena);
    return status;
}
