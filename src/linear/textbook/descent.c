/* The moving point of the textbook solvers and its rate. */
#include "linear/textbook/descent.h"

#include "base/random.h"

#include <math.h>
#include <string.h>

/* ---- Setting up ------------------------------------------------------------------------------ */

static double *new_numbers(mg_descent *d, int64_t count, bool *failed) {
    double *numbers = mg_arena_new(&d->arena, count, sizeof *numbers);
    *failed |= !numbers;
    if (numbers) memset(numbers, 0, (size_t)count * sizeof *numbers);
    return numbers;
}

static margin_status new_vectors(mg_descent *d) {
    bool failed = false;
    d->here.w = new_numbers(d, d->columns, &failed);
    d->here.gradient = new_numbers(d, d->columns, &failed);
    d->best_w = new_numbers(d, d->columns, &failed);
    if (d->solution->alpha) {
        d->alpha = new_numbers(d, d->samples, &failed);
        d->slopes = new_numbers(d, d->samples, &failed);
    }
    if (d->job->residual) {
        d->spare = new_numbers(d, d->columns, &failed);
        d->mean = new_numbers(d, d->columns, &failed);
        d->norm = new_numbers(d, d->columns, &failed);
    }
    if (!failed) return MARGIN_OK;
    return mg_no_memory(d->design->heap, 6 * d->columns + 2 * d->samples, sizeof(double),
                        "the state of a solver", d->job->error);
}

static double sum_of(const double *values, int64_t count) {
    double sum = 0.0;
    for (int64_t i = 0; i < count; i++)
        sum += values[i];
    return sum;
}

/* Norms of the columns and of the target, centred if there is an intercept. */
static margin_status measure_columns(mg_descent *d) {
    const double *c = d->objective->c, *y = d->design->problem->target;
    double centre = 0.0;
    if (!d->mean) return MARGIN_OK;
    MG_TRY(mg_design_moments(d->design, true, d->mean, d->norm, d->job->error));
    for (int64_t j = 0; j < d->columns; j++) {
        if (!d->objective->intercept) {
            d->norm[j] = hypot(d->mean[j], d->norm[j]);
            d->mean[j] = 0.0;
        }
        d->norm[j] *= sqrt(d->mass);
    }
    if (d->objective->intercept)
        for (int64_t i = 0; i < d->samples; i++)
            centre += c[i] / d->mass * (y[i] - y[0]);
    if (d->objective->intercept) centre += y[0];
    d->spread = mg_squares_spread(y, c, d->samples, centre);
    return MARGIN_OK;
}

/* From which kappa on all weights are 0: the greatest slope where only the constant is fitted. */
static margin_status find_l1_limit(mg_descent *d, double constant) {
    if (!(d->objective->penalty.kappa > 0.0)) return MARGIN_OK;
    d->here.b = constant; /* and w = 0 */
    MG_TRY(mg_descent_evaluate(d, &d->here));
    for (int64_t j = 0; j < d->columns; j++)
        d->solution->l1_limit = fmax(d->solution->l1_limit, fabs(d->here.gradient[j]));
    return MARGIN_OK;
}

static margin_status go_to_start(mg_descent *d) {
    memcpy(d->here.w, d->solution->w, (size_t)d->columns * sizeof *d->here.w);
    d->here.b = *d->solution->b;
    MG_TRY(mg_descent_evaluate(d, &d->here));
    MG_REQUIRE(isfinite(d->here.value), d->job->error, MARGIN_ERROR_DATA,
               "the objective is beyond double precision at the start; bring the columns to one "
               "scale first: standardize | ...");
    d->start_value = d->here.value;
    d->best_value = (double)INFINITY;
    mg_descent_note(d);
    return MARGIN_OK;
}

margin_status mg_descent_begin(mg_linear_job *job, mg_linear_solution *solution,
                               const char *unit_name, int64_t default_limit, mg_descent *d) {
    const mg_objective *objective = job->objective;
    mg_design *design = objective->design;
    const int64_t asked = job->stop.max_iterations;
    margin_status status;
    *d = (mg_descent){.job = job,
                      .solution = solution,
                      .objective = objective,
                      .design = design,
                      .vectors = mg_vector_ops_for(design->isa),
                      .columns = design->columns,
                      .samples = design->samples,
                      .unit_name = unit_name,
                      .limit = asked < 0 ? default_limit : asked,
                      .is_default = asked < 0,
                      .curvature = (double)NAN,
                      .strictness = 0.95};
    job->stop.max_iterations = d->limit;
    d->mass = sum_of(objective->c, design->samples);
    d->mu = objective->penalty.rho / d->mass;
    double constant;
    d->constant_value = mg_objective_constant(objective, &constant);
    mg_arena_init(&d->arena, design->heap);
    MG_GO(new_vectors(d));
    MG_GO(measure_columns(d));
    MG_GO(find_l1_limit(d, constant));
    MG_GO(go_to_start(d));
    return MARGIN_OK;
done:
    mg_descent_free(d);
    return status;
}

void mg_descent_free(mg_descent *d) {
    mg_arena_free(&d->arena);
}

/* ---- Points ---------------------------------------------------------------------------------- */

margin_status mg_descent_evaluate(mg_descent *d, mg_descent_point *point) {
    mg_loss_point pass = {.gradient = point->gradient,
                          .intercept_gradient = &point->gradient_b,
                          .slopes = point == &d->here ? d->slopes : NULL};
    MG_TRY(mg_objective_pass(d->objective, point->w, &point->b, &pass, d->job->error));
    d->solution->passes++;
    point->value = pass.value;
    point->errors = pass.errors;
    return MARGIN_OK;
}

/* Far above the start: no step of a method that works leads there. */
static bool ran_away(const mg_descent *d) {
    static const double far = 1e4;
    return !(d->here.value <= far * fmax(d->start_value, d->constant_value));
}

void mg_descent_note(mg_descent *d) {
    static const double little = 1e-12;
    const mg_descent_point *p = &d->here;
    mg_linear_trace(d->job, d->units, p->w, &p->b, p->value, p->errors);
    d->diverged = d->units > 0 && ran_away(d);
    d->idle = p->value < d->best_value - little * fabs(d->best_value) ? 0 : d->idle + 1;
    if (!(p->value < d->best_value)) return;
    d->best_value = p->value;
    d->best_b = p->b;
    d->best_errors = p->errors;
    memcpy(d->best_w, p->w, (size_t)d->columns * sizeof *p->w);
    d->proven = false;
}

/* ---- Curvature ------------------------------------------------------------------------------- */

/* A loss with corners, or one that bends more and more, has no bound; its curvature where z is 0 or
 * 1 gives the scale of a first step. */
double mg_descent_bend(const mg_loss *loss) {
    return isfinite(loss->curvature_bound) ? loss->curvature_bound : 1.0;
}

/* v becomes the unit vector along it; returns the length. */
static double normalise(const mg_design *d, double *v, double *v0) {
    const mg_vector_ops *vectors = mg_vector_ops_for(d->isa);
    double most = fabs(*v0), square;
    for (int64_t j = 0; j < d->columns; j++)
        most = fmax(most, fabs(v[j]));
    if (!(most > 0.0) || !isfinite(most)) return most;
    for (int64_t j = 0; j < d->columns; j++)
        v[j] /= most;
    *v0 /= most;
    square = sqrt(vectors->square(v, d->columns) + *v0 * *v0);
    for (int64_t j = 0; j < d->columns; j++)
        v[j] /= square;
    *v0 /= square;
    return most * square;
}

margin_status mg_curvature_find(const mg_curvature *q, double *largest, int64_t *passes,
                                margin_error *error) {
    static const double enough = 1e-4;
    mg_design *d = q->design;
    double *v, *image, v0 = q->intercept ? 1.0 : 0.0, before = 0.0;
    margin_status status = MARGIN_OK;
    *largest = 0.0;
    MG_NEW(d->heap, v, 2 * d->columns, "the curvature of the loss", error);
    image = v + d->columns;
    for (int64_t j = 0; j < d->columns; j++)
        v[j] = mg_random_normal(0, MG_RANDOM_START, (uint64_t)j);
    normalise(d, v, &v0);
    for (int64_t pass = 0; pass < q->limit; pass++) {
        double total = 0.0;
        MG_GO(mg_design_product(d, NULL, d->samples, q->c, v, v0, image, &total, error));
        ++*passes;
        for (int64_t j = 0; j < d->columns; j++)
            v[j] = q->share * image[j] + q->mu * v[j];
        v0 = q->intercept ? q->share * total : 0.0;
        *largest = normalise(d, v, &v0);
        if (!(*largest > 0.0) || !(*largest > before * (1.0 + enough))) break;
        before = *largest;
    }
done:
    mg_free(d->heap, v);
    return status;
}

margin_status mg_descent_curvature(mg_descent *d, int64_t passes, double *largest) {
    const mg_curvature q = {.design = d->design,
                            .c = d->objective->c,
                            .intercept = d->objective->intercept,
                            .share = mg_descent_bend(d->objective->loss) / d->mass,
                            .mu = d->mu,
                            .limit = passes};
    return mg_curvature_find(&q, largest, &d->solution->passes, d->job->error);
}

/* ---- Rate ------------------------------------------------------------------------------------ */

static int kind_of(const mg_descent_options *options, double mu, bool noisy) {
    if (options->schedule != MG_SCHEDULE_AUTO) return options->schedule;
    if (!noisy) return MG_SCHEDULE_CONSTANT;
    return mu > 0.0 ? MG_SCHEDULE_INVERSE : MG_SCHEDULE_SQRT;
}

/* With decay = rate x mu the rates are 1/(1/rate + mu t), which a strongly convex J calls for
 * (Bottou, "Large-scale machine learning with stochastic gradient descent", 2010). */
mg_schedule mg_schedule_make(const mg_descent_options *options, double rate, double mu,
                             bool noisy) {
    mg_schedule made = {.rate = rate, .decay = 1.0, .kind = kind_of(options, mu, noisy)};
    if (!isnan(options->decay))
        made.decay = options->decay;
    else if (made.kind == MG_SCHEDULE_INVERSE && mu > 0.0)
        made.decay = rate * mu;
    return made;
}

double mg_schedule_rate(const mg_schedule *schedule, int64_t step) {
    const double slower = 1.0 + schedule->decay * (double)step;
    if (schedule->kind == MG_SCHEDULE_INVERSE) return schedule->rate / slower;
    return schedule->kind == MG_SCHEDULE_SQRT ? schedule->rate / sqrt(slower) : schedule->rate;
}

margin_status mg_descent_choose_rate(mg_descent *d, double rows_curvature, bool noisy) {
    enum { PASSES = 100 };
    const bool given = !isnan(d->job->descent.rate);
    d->noisy = noisy;
    d->rows_curvature = rows_curvature;
    if (!given) {
        MG_TRY(mg_descent_curvature(d, PASSES, &d->curvature));
        MG_REQUIRE(isfinite(d->curvature), d->job->error, MARGIN_ERROR_DATA,
                   "the curvature of the loss is beyond double precision; bring the columns to "
                   "one scale first: standardize | ...");
    }
    const double whole = d->curvature + rows_curvature;
    const double rate = given ? d->job->descent.rate : whole > 0.0 ? 1.0 / whole : 1.0;
    d->adapts =
        !given && d->objective->loss->smooth && !isfinite(d->objective->loss->curvature_bound);
    d->schedule = mg_schedule_make(&d->job->descent, rate, d->mu, noisy);
    return MARGIN_OK;
}

double mg_descent_rate(const mg_descent *d, int64_t step) {
    return mg_schedule_rate(&d->schedule, step);
}
