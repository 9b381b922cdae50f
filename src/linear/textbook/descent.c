/* Gradient descent: the moving point, the best one so far, and the driver. */
#include "linear/textbook/descent.h"
#include "base/random.h"

#include <string.h>

enum { MOST_STEPS = 10000, MOST_PASSES = 1000 };

/* ---- Setting up ------------------------------------------------------------------------------ */

static margin_status new_numbers(mg_descent *d, int64_t count, double **numbers) {
    MG_ARENA_NEW(d->arena, *numbers, count, "the state of a solver", d->job->error);
    memset(*numbers, 0, (size_t)count * sizeof **numbers);
    return MARGIN_OK;
}

static margin_status new_point(mg_descent *d, bool with_gradient, mg_descent_point *point) {
    const int64_t weights = d->functions * d->columns;
    *point = (mg_descent_point){.value = (double)INFINITY};
    MG_TRY(new_numbers(d, d->numbers, &point->w));
    point->b = point->w + weights;
    if (!with_gradient) return MARGIN_OK;
    MG_TRY(new_numbers(d, d->numbers, &point->gradient));
    point->gradient_b = point->gradient + weights;
    return MARGIN_OK;
}

static margin_status descent_new_vectors(mg_descent *d) {
    const bool dual = d->solution->alpha;
    MG_TRY(new_point(d, true, &d->here));
    MG_TRY(new_point(d, false, &d->best));
    if (d->adapts) MG_TRY(new_point(d, true, &d->there));
    if (dual) MG_TRY(new_numbers(d, d->samples, &d->alpha));
    if (dual || d->late) MG_TRY(new_numbers(d, d->samples, &d->slopes));
    if (d->objective->loss->kind != MG_LOSS_SQUARED || !mg_is_unpenalised(d->objective))
        return MARGIN_OK;
    return new_numbers(d, 2 * d->columns, &d->norm);
}

/* ---- Points ---------------------------------------------------------------------------------- */

margin_status mg_descent_evaluate(mg_descent *d, mg_descent_point *point) {
    mg_loss_point pass = {.gradient = d->late ? NULL : point->gradient,
                          .intercept_gradient = point->gradient_b,
                          .slopes = point == &d->here ? d->slopes : NULL};
    MG_TRY(mg_objective_pass(d->objective, point->w, point->b, &pass, d->job->error));
    point->value = pass.value;
    point->errors = pass.errors;
    return MARGIN_OK;
}

margin_status mg_descent_gradient(mg_descent *d) {
    const mg_descent_point *p = &d->here;
    double total;
    if (!d->late) return MARGIN_OK;
    MG_TRY(mg_objective_gradient(d->objective, d->slopes, p->gradient, &total, d->job->error));
    d->vectors->add(p->gradient, d->objective->penalty.rho, p->w, d->columns);
    return MARGIN_OK;
}

/* After `here` was evaluated at the end of a unit: trace, best point, signs of divergence. */
static void descent_note(mg_descent *d) {
    static const double little = 1e-12;
    static const double far = 1e4; /* above the start: no step of a method that works leads there */
    const mg_descent_point *p = &d->here;
    const bool first = d->units == 0;
    mg_linear_trace(d->job, d->units, p->w, p->b, p->value, p->errors);
    d->diverged = !first && !(p->value <= far * fmax(d->start_value, d->goal.constant));
    d->idle = first || p->value < d->best.value - little * fabs(d->best.value) ? 0 : d->idle + 1;
    if (!(p->value < d->best.value)) return;
    d->best.value = p->value;
    d->best.errors = p->errors;
    memcpy(d->best.w, p->w, (size_t)d->numbers * sizeof *p->w);
    d->goal.proven = false;
}

/* ---- Start ----------------------------------------------------------------------------------- */

/* From which kappa on all weights are 0: the greatest slope where only the constant is fitted. What
 * rounding leaves of the slope of the intercept is taken off. */
static margin_status find_l1_limit(mg_descent *d) {
    const bool intercept = d->objective->intercept;
    double *centre;
    if (!(d->objective->penalty.kappa > 0.0)) return MARGIN_OK;
    MG_TRY(new_numbers(d, 2 * d->columns, &centre));
    MG_TRY(mg_design_coordinates(d->design, intercept, centre, centre + d->columns, d->job->error));
    MG_TRY(mg_descent_evaluate(d, &d->here)); /* w = 0 and the best constant */
    MG_TRY(mg_descent_gradient(d));
    for (int64_t j = 0; j < d->columns; j++) {
        const double rest = intercept ? centre[j] * d->here.gradient_b[0] : 0.0;
        d->solution->l1_limit = fmax(d->solution->l1_limit, fabs(d->here.gradient[j] - rest));
    }
    return MARGIN_OK;
}

static margin_status go_to_start(mg_descent *d) {
    const mg_linear_solution *given = d->solution;
    const double *totals = d->objective->totals;
    d->goal.constant = mg_objective_constant(d->objective, d->here.b);
    MG_TRY(find_l1_limit(d));
    memcpy(d->here.w, given->w, (size_t)(d->functions * d->columns) * sizeof *given->w);
    for (int64_t k = 0; k < d->functions; k++) /* classes without samples stay out of the way */
        if (!totals || totals[k] > 0.0) d->here.b[k] = given->b[k];
    MG_TRY(mg_descent_evaluate(d, &d->here));
    MG_REQUIRE(isfinite(d->here.value), d->job->error, MG_DATA(OVERFLOW),
               "the objective is beyond double precision at the start; bring the columns to one "
               "scale first: standardize | ...");
    d->start_value = d->here.value;
    descent_note(d);
    return MARGIN_OK;
}

/* ---- Curvature ------------------------------------------------------------------------------- */

/* A loss with corners, or one that bends more and more, has no bound; its curvature where z is 0 or
 * 1 gives the scale of a first step. */
double mg_loss_most_curvature(const mg_loss *loss) {
    return isfinite(loss->curvature_bound) ? loss->curvature_bound : 1.0;
}

/* v becomes the unit vector along it; returns the length. */
static double descent_normalise(const mg_descent *d, double *v, double *v0) {
    double most = fabs(*v0), square;
    for (int64_t j = 0; j < d->columns; j++)
        most = fmax(most, fabs(v[j]));
    if (!(most > 0.0) || !isfinite(most)) return most;
    for (int64_t j = 0; j < d->columns; j++)
        v[j] /= most;
    *v0 /= most;
    square = sqrt(d->vectors->square(v, d->columns) + *v0 * *v0);
    for (int64_t j = 0; j < d->columns; j++)
        v[j] /= square;
    *v0 /= square;
    return most * square;
}

/* Of curvature / M x sum c (a, 1)(a, 1)' + mu diag(1, 0), which for several functions bounds each
 * block, by power iteration. */
margin_status mg_descent_curvature(mg_descent *d, int64_t passes) {
    static const double enough = 1e-4;
    const mg_objective *o = d->objective;
    const double share = mg_loss_most_curvature(o->loss) / d->mass;
    double *v, *image, v0 = o->intercept ? 1.0 : 0.0, before = 0.0;
    MG_SCOPED_ARENA(arena, d->design->heap);
    d->curvature = 0.0;
    MG_TRY(MG_PIECES(&arena, "the curvature of the loss", d->job->error, MG_PIECE(v, d->columns),
                     MG_PIECE(image, d->columns)));
    for (int64_t j = 0; j < d->columns; j++)
        v[j] = mg_random_normal(0, MG_RANDOM_START, (uint64_t)j);
    descent_normalise(d, v, &v0);
    for (int64_t pass = 0; pass < passes; pass++) {
        double total = 0.0;
        MG_TRY(mg_design_product(d->design, NULL, d->samples, o->c, v, v0, image, &total,
                                 d->job->error));
        for (int64_t j = 0; j < d->columns; j++)
            v[j] = share * image[j] + d->mu * v[j];
        v0 = o->intercept ? share * total : 0.0;
        d->curvature = descent_normalise(d, v, &v0);
        if (!(d->curvature > 0.0) || !(d->curvature > before * (1.0 + enough))) break;
        before = d->curvature;
    }
    return MARGIN_OK;
}

/* ---- Rate ------------------------------------------------------------------------------------ */

/* The greatest curvature of a single row's loss is at least that of the mean over all rows. */
static margin_status find_rate(mg_descent *d) {
    enum { PASSES = 100 };
    d->rate = d->job->descent.rate;
    if (!isnan(d->rate)) return MARGIN_OK;
    d->curvature = d->mu;
    if (d->job->solver != &mg_solver_sgd) MG_TRY(mg_descent_curvature(d, PASSES));
    const double whole = d->curvature + d->rows_curvature;
    MG_REQUIRE(isfinite(whole), d->job->error, MG_DATA(OVERFLOW),
               "the curvature of the loss is beyond double precision; bring the columns to "
               "one scale first: standardize | ...");
    d->rate = whole > 0.0 ? 1.0 / whole : 1.0;
    return MARGIN_OK;
}

/* With decay = rate x mu the rates are 1/(1/rate + mu t), which a strongly convex J calls for
 * (Bottou, "Large-scale machine learning with stochastic gradient descent", 2010). */
static margin_status choose_rate(mg_descent *d) {
    const mg_descent_options *options = &d->job->descent;
    MG_TRY(find_rate(d));
    d->schedule = options->schedule;
    if (d->schedule == MG_SCHEDULE_AUTO && !d->noisy)
        d->schedule = MG_SCHEDULE_CONSTANT;
    else if (d->schedule == MG_SCHEDULE_AUTO)
        d->schedule = d->mu > 0.0 ? MG_SCHEDULE_INVERSE : MG_SCHEDULE_SQRT;
    d->decay = 1.0;
    if (!isnan(options->decay))
        d->decay = options->decay;
    else if (d->schedule == MG_SCHEDULE_INVERSE && d->mu > 0.0)
        d->decay = d->rate * d->mu;
    return MARGIN_OK;
}

double mg_descent_rate(const mg_descent *d, int64_t step) {
    const double slower = 1.0 + d->decay * (double)step;
    if (d->schedule == MG_SCHEDULE_INVERSE) return d->rate / slower;
    return d->schedule == MG_SCHEDULE_SQRT ? d->rate / sqrt(slower) : d->rate;
}

/* ---- The method ------------------------------------------------------------------------------ */

static mg_descent descent_of(mg_linear_job *job, mg_linear_solution *solution, bool by_rows) {
    const mg_objective *o = job->objective;
    const mg_loss *loss = o->loss;
    const bool is_default = job->stop.max_iterations < 0;
    if (is_default) job->stop.max_iterations = by_rows ? MOST_PASSES : MOST_STEPS;
    return (mg_descent){MG_SOLVER_OF(job, solution),
                        .numbers = o->functions * (o->columns + 1),
                        .mass = o->mass,
                        .mu = o->penalty.rho / o->mass,
                        .is_default = is_default,
                        .curvature = (double)NAN,
                        .noisy = !loss->smooth,
                        .late = by_rows && o->functions == 1,
                        .adapts = isnan(job->descent.rate) && loss->smooth &&
                                  !isfinite(loss->curvature_bound),
                        .goal = {.job = job, .solution = solution, .strictness = 0.95}};
}

/* Rows of a step; 0: all, with one pass for each. */
static int64_t batch_of(const mg_linear_job *job) {
    if (job->solver == &mg_solver_gd) return 0;
    return job->solver == &mg_solver_sgd ? 1 : MG_MAX(1, job->descent.batch);
}

/* rows NULL: gd */
static margin_status descent_iterate(mg_descent *d, mg_descent_rows *rows) {
    MG_TRY(choose_rate(d));
    for (;;) {
        bool done;
        MG_TRY(mg_descent_check(d, &done));
        if (done) return mg_descent_end(d, MARGIN_OK);
        const bool idle =
            d->idle > MG_DESCENT_MOST_IDLE && !d->alpha && d->schedule == MG_SCHEDULE_CONSTANT;
        const margin_status stop =
            d->diverged || idle ? MARGIN_STOPPED_STALLED : mg_stop_check(&d->job->stop, d->units);
        if (stop < 0) return mg_fail_cancelled(d->job->error);
        if (stop > 0) return mg_descent_end(d, stop);
        MG_TRY(rows ? mg_descent_rows_pass(rows) : mg_descent_step(d));
        d->units++;
        descent_note(d);
    }
}

static margin_status descend(mg_linear_job *job, mg_linear_solution *solution) {
    const int64_t batch = batch_of(job);
    mg_descent d = descent_of(job, solution, batch > 0);
    mg_descent_rows rows;
    MG_SCOPED_ARENA(arena, d.design->heap);
    d.arena = &arena;
    MG_TRY(descent_new_vectors(&d));
    mg_descent_measure_target(&d);
    const double began = mg_clock();
    MG_TRY(go_to_start(&d));
    job->stop.deadline -= mg_clock() - began; /* the proof takes as long */
    if (batch > 0) MG_TRY(mg_descent_rows_begin(&d, batch, &rows));
    mg_stop_arm(&job->stop);
    margin_status status = descent_iterate(&d, batch > 0 ? &rows : NULL);
    if (mg_stop_cut(&job->stop, status)) status = mg_descent_end(&d, MARGIN_STOPPED_TIME);
    mg_stop_disarm(&job->stop);
    return status;
}

#define DESCENT(of_name, units)                                                                    \
    { .name = of_name, .step_name = units, .cuts = true, .solve = descend }
const mg_linear_solver mg_solver_gd = DESCENT("gd", "steps"),
                       mg_solver_sgd = DESCENT("sgd", "passes"),
                       mg_solver_minibatch = DESCENT("minibatch", "passes");
