/* The penalty from its three spellings. */
#include "learn/penalty.h"

#include <math.h>
#include <string.h>

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
