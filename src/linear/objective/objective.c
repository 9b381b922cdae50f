/* The objective of a linear model: penalty, sample weights, value and gradient. */
#include "linear/objective/objective.h"

#include <math.h>
#include <string.h>

/* ---- Penalty --------------------------------------------------------------------------------- */

static bool given(const mg_option_value *options, int index, double *value) {
    if (index < 0 || !options[index].given) return false;
    *value = options[index].number;
    return true;
}

/* The three spellings from alpha: lambda = alpha / m = 1 / (2 C m). */
static void fill_spellings(mg_penalty *penalty, double alpha, double total_weight) {
    penalty->alpha = alpha;
    penalty->lambda = alpha / total_weight;
    penalty->C = alpha > 0 ? 1 / (2 * alpha) : (double)INFINITY;
}

mg_penalty mg_penalty_make(const mg_option_value *options, int c_index, int alpha_index,
                           int lambda_index, const char *default_spelling, double default_value,
                           double l1_ratio, double total_weight) {
    mg_penalty penalty = {.l1_ratio = l1_ratio, .factor = 1, .spelling = default_spelling};
    double value = default_value, strength; /* of N(w) */
    if (given(options, c_index, &value))
        penalty.spelling = "C";
    else if (given(options, alpha_index, &value))
        penalty.spelling = "alpha";
    else if (given(options, lambda_index, &value))
        penalty.spelling = "lambda";

    if (strcmp(penalty.spelling, "C") == 0) {
        fill_spellings(&penalty, 1 / (2 * value), total_weight);
        penalty.C = value;
        penalty.factor = isinf(value) ? 1 : value;
        strength = isinf(value) ? 0 : 0.5;
    } else if (strcmp(penalty.spelling, "alpha") == 0) {
        fill_spellings(&penalty, value, total_weight);
        strength = value;
    } else {
        fill_spellings(&penalty, value * total_weight, total_weight);
        penalty.lambda = value;
        penalty.factor = 1 / total_weight;
        strength = value;
    }
    penalty.rho = 2 * strength * (1 - l1_ratio);
    penalty.kappa = strength * l1_ratio;
    return penalty;
}

double mg_total_weight(const mg_problem *problem) {
    double total = 0.0;
    for (int64_t i = 0; i < problem->count; i++)
        total += mg_sample_weight(problem, i);
    return total;
}

/* ---- Objective ------------------------------------------------------------------------------- */

margin_status mg_objective_create(mg_design *design, const mg_loss *loss, const mg_penalty *penalty,
                                  bool intercept, const double class_weight[2],
                                  mg_objective *objective, margin_error *error) {
    const mg_problem *problem = design->problem;
    double *c;
    MG_NEW(design->heap, c, design->samples, "the weights of the samples", error);
    for (int64_t i = 0; i < design->samples; i++) {
        c[i] = penalty->factor * mg_sample_weight(problem, i);
        if (class_weight) c[i] *= class_weight[problem->sign[i] > 0];
    }
    *objective = (mg_objective){.design = design,
                                .loss = loss,
                                .penalty = *penalty,
                                .intercept = intercept,
                                .c = c,
                                .total_weight = mg_total_weight(problem)};
    return MARGIN_OK;
}

void mg_objective_free(mg_objective *objective) {
    if (objective->design) mg_free(objective->design->heap, objective->c);
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
static double balance(const mg_loss *loss, double negative, double positive) {
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

double mg_objective_constant(const mg_objective *objective, double *value) {
    const mg_loss *loss = objective->loss;
    const mg_design *d = objective->design;
    double totals[2], b = 0.0;
    total_weights(objective, totals);
    if (loss->margin_based) {
        if (objective->intercept) b = balance(loss, totals[0], totals[1]);
        *value = totals[0] * loss->value(-b) + totals[1] * loss->value(b);
        return b;
    }
    if (objective->intercept) b = totals[1] / totals[0];
    *value = 0.0;
    for (int64_t i = 0; i < d->samples; i++)
        *value += objective->c[i] * loss->value(b - d->problem->target[i]);
    return b;
}

double mg_objective_penalty(const mg_objective *objective, const double *w) {
    const mg_penalty *penalty = &objective->penalty;
    double square = 0.0, absolute = 0.0;
    for (int64_t j = 0; j < objective->design->columns; j++) {
        square += w[j] * w[j];
        absolute += fabs(w[j]);
    }
    double value = 0.0; /* a factor of 0 stays 0 where w has overflowed the square */
    if (penalty->rho > 0) value += penalty->rho / 2 * square;
    if (penalty->kappa > 0) value += penalty->kappa * absolute;
    return value;
}

margin_status mg_objective_pass(const mg_objective *objective, const double *w, double b,
                                mg_loss_point *point, margin_error *error) {
    const double rho = objective->penalty.rho;
    MG_TRY(mg_design_loss(objective->design, objective->loss, w, b, objective->c, point, error));
    point->value += mg_objective_penalty(objective, w);
    if (point->gradient)
        for (int64_t j = 0; j < objective->design->columns; j++)
            point->gradient[j] += rho * w[j];
    if (!objective->intercept) point->intercept_gradient = 0.0;
    return MARGIN_OK;
}

/* ---- Least squares --------------------------------------------------------------------------- */

static double norm_from(const double *y, const double *c, int64_t count, double centre) {
    double most = 0.0, square = 0.0;
    for (int64_t i = 0; i < count; i++)
        most = fmax(most, fabs(y[i] - centre));
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
