/* The objective of a linear model: penalty, sample weights, value and gradient. */
#include "linear/objective/coupled.h"

#include <string.h>

/* ---- Objective ------------------------------------------------------------------------------- */

static margin_status weigh_samples(mg_objective *made, margin_error *error) {
    const mg_problem *problem = made->design->problem;
    MG_ARENA_NEW(&made->arena, made->c, made->samples, "the weights of the samples", error);
    if (made->loss->coupled) MG_TRY(mg_coupled_create(made, error));
    for (int64_t k = 0; made->totals && k < made->functions; k++)
        made->totals[k] = 0.0;
    for (int64_t i = 0; i < made->samples; i++) {
        made->c[i] = made->penalty.factor * mg_sample_weight(problem, i);
        made->mass += made->c[i];
        if (made->totals) made->totals[problem->code[i]] += made->c[i];
    }
    return MARGIN_OK;
}

margin_status mg_objective_create(mg_design *design, const mg_loss *loss, const mg_penalty *penalty,
                                  bool intercept, mg_objective *objective, margin_error *error) {
    *objective = (mg_objective){.design = design,
                                .arena = {.heap = design->heap},
                                .loss = loss,
                                .penalty = *penalty,
                                .intercept = intercept,
                                .functions = loss->coupled ? design->problem->classes : 1,
                                .columns = design->columns,
                                .samples = design->samples};
    const margin_status status = weigh_samples(objective, error);
    if (status < 0) mg_objective_free(objective);
    return status;
}

void mg_objective_free(mg_objective *objective) {
    if (objective->coupled)
        mg_sparse_columns_free(objective->arena.heap, &objective->coupled->by_column);
    mg_arena_free(&objective->arena);
    memset(objective, 0, sizeof *objective);
}

/* ---- Constants ------------------------------------------------------------------------------- */

/* Sums of c over the samples of each class, or sums of c and c y. */
static void total_weights(const mg_objective *objective, double totals[2]) {
    const mg_design *d = objective->design;
    totals[0] = totals[1] = 0.0;
    for (int64_t i = 0; i < d->samples; i++) {
        if (objective->loss->margin_based) {
            totals[d->problem->sign[i] > 0] += objective->c[i];
        } else {
            totals[0] += objective->c[i];
            totals[1] += objective->c[i] * d->problem->target[i];
        }
    }
}

/* The b that minimises negative loss(-b) + positive loss(b), by halving: its derivative rises. */
static double objective_balance(const mg_loss *loss, double negative, double positive) {
    double low = -1.0, high = 1.0;
    while (low > -64.0 && positive * loss->slope(low) > negative * loss->slope(-low))
        low *= 2.0;
    while (high < 64.0 && positive * loss->slope(high) < negative * loss->slope(-high))
        high *= 2.0;
    for (int k = 0; k < 60; k++) {
        const double b = 0.5 * (low + high);
        *(positive * loss->slope(b) > negative * loss->slope(-b) ? &high : &low) = b;
    }
    return 0.5 * (low + high);
}

static double constant_of_one(const mg_objective *objective, double *b) {
    const mg_loss *loss = objective->loss;
    const mg_design *d = objective->design;
    double totals[2], value = 0.0;
    total_weights(objective, totals);
    *b = 0.0;
    if (loss->margin_based) {
        if (objective->intercept) *b = objective_balance(loss, totals[0], totals[1]);
        return totals[0] * loss->value(-*b) + totals[1] * loss->value(*b);
    }
    if (objective->intercept) *b = totals[1] / totals[0];
    for (int64_t i = 0; i < d->samples; i++)
        value += objective->c[i] * loss->value(*b - d->problem->target[i]);
    return value;
}

/* Of the softmax: the logarithms of the classes' shares, with the mean 0. */
static double constant_of_several(const mg_objective *o, double *b) {
    static const double away = -1000.0;
    const double total = mg_sum(o->totals, o->functions);
    double sum = 0.0, value = 0.0;
    int64_t present = 0;
    for (int64_t k = 0; k < o->functions; k++) {
        const double share = o->totals[k] / total;
        b[k] = o->intercept && share > 0.0 ? log(share) : 0.0;
        value -= o->totals[k] * b[k];
        sum += b[k];
        present += share > 0.0;
    }
    if (!o->intercept) return total * log((double)o->functions);
    for (int64_t k = 0; k < o->functions; k++)
        b[k] = o->totals[k] > 0.0 ? b[k] - sum / (double)present : away;
    return value;
}

double mg_objective_constant(const mg_objective *objective, double *b) {
    return objective->coupled ? constant_of_several(objective, b) : constant_of_one(objective, b);
}

/* ---- Functions ------------------------------------------------------------------------------- */

double mg_objective_penalty(const mg_objective *objective, const double *w) {
    const mg_penalty *penalty = &objective->penalty;
    const mg_vector_ops *vectors = mg_vector_ops_for(objective->design->isa);
    const int64_t count = objective->functions * objective->columns;
    double square = 0.0, absolute = 0.0; /* 0 where a factor is, whatever has overflowed */
    for (int64_t k = 0; penalty->rho > 0 && k < objective->functions; k++)
        square += vectors->square(w + k * objective->columns, objective->columns);
    for (int64_t j = 0; penalty->kappa > 0 && j < count; j++)
        absolute += fabs(w[j]);
    return penalty->rho / 2 * square + penalty->kappa * absolute;
}

void mg_objective_centre(const mg_objective *o, double *w, double *b) {
    double across = 0.0;
    int64_t present = 0;
    if (!o->coupled) return;
    for (int64_t j = 0; j < o->columns; j++) {
        double sum = 0.0;
        for (int64_t k = 0; k < o->functions; k++)
            sum += w[k * o->columns + j];
        for (int64_t k = 0; k < o->functions; k++)
            w[k * o->columns + j] -= sum / (double)o->functions;
    }
    for (int64_t k = 0; k < o->functions; k++) {
        if (!(o->totals[k] > 0.0)) continue;
        across += b[k];
        present++;
    }
    for (int64_t k = 0; k < o->functions && o->intercept; k++)
        b[k] -= across / (double)present;
}

/* ---- Passes ---------------------------------------------------------------------------------- */

margin_status mg_objective_pass(const mg_objective *o, const double *w, const double *b,
                                mg_loss_point *point, margin_error *error) {
    const double rho = o->penalty.rho;
    if (o->coupled)
        MG_TRY(mg_coupled_pass(o, w, b, point, error));
    else
        MG_TRY(mg_design_loss(o->design, o->loss, w, *b, o->c, point, error));
    point->value += mg_objective_penalty(o, w);
    for (int64_t j = 0; point->gradient && j < o->functions * o->columns; j++)
        point->gradient[j] += rho * w[j];
    for (int64_t k = 0; point->intercept_gradient && !o->intercept && k < o->functions; k++)
        point->intercept_gradient[k] = 0.0;
    return MARGIN_OK;
}

margin_status mg_objective_finite(double value, margin_error *error) {
    MG_REQUIRE(isfinite(value), error, MG_DATA(OVERFLOW),
               "the objective is beyond double precision; bring the columns to one scale first: "
               "standardize | ...");
    return MARGIN_OK;
}

margin_status mg_objective_scores(const mg_objective *o, const double *w, const double *b,
                                  double *scores, margin_error *error) {
    mg_loss_point point = {.scores = scores};
    return o->coupled ? mg_coupled_pass(o, w, b, &point, error)
                      : mg_design_scores(o->design, w, *b, scores, error);
}

margin_status mg_objective_gradient(const mg_objective *o, const double *residuals,
                                    double *gradient, double *sums, margin_error *error) {
    mg_loss_point point = {.given = residuals, .gradient = gradient, .intercept_gradient = sums};
    return o->coupled ? mg_coupled_pass(o, NULL, NULL, &point, error)
                      : mg_design_gradient(o->design, residuals, gradient, sums, error);
}

/* ---- Least squares --------------------------------------------------------------------------- */

static double norm_from(const double *y, const double *c, int64_t count, double centre) {
    double most = 0.0, square = 0.0;
    for (int64_t i = 0; i < count; i++)
        most = MG_MAX(fabs(y[i] - centre), most);
    if (!(most > 0.0) || isinf(most)) return most;
    for (int64_t i = 0; i < count; i++)
        square += c[i] * ((y[i] - centre) / most) * ((y[i] - centre) / most);
    return isfinite(square) && isfinite(most * most) ? most * sqrt(square) : (double)INFINITY;
}

double mg_squares_spread(const double *y, const double *c, int64_t count, double centre) {
    const double spread = norm_from(y, c, count, centre);
    return spread > 0.0 ? spread : norm_from(y, c, count, 0.0);
}

bool mg_squares_exact(int64_t samples, int64_t columns) {
    const double work = (double)samples * (double)columns * (double)columns;
    return columns <= 1000 && work <= 1e10;
}
