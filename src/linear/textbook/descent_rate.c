/* Curvature and rate of gradient descent. */
#include "base/random.h"
#include "linear/textbook/descent.h"

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
margin_status mg_descent_choose_rate(mg_descent *d) {
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
