/* The penalty from its three spellings. */
#include "learn/penalty.h"

#include <math.h>
#include <string.h>

/* The three spellings from alpha: lambda = alpha / m = 1 / (2 C m). */
static void fill_spellings(mg_penalty *penalty, double alpha, double total_weight) {
    penalty->alpha = alpha;
    penalty->lambda = alpha / total_weight;
    penalty->C = alpha > 0 ? 1 / (2 * alpha) : (double)INFINITY;
}

mg_penalty mg_penalty_make(const char *spelling, double value, double l1_ratio,
                           double total_weight) {
    mg_penalty penalty = {.l1_ratio = l1_ratio, .factor = 1, .spelling = spelling};
    double strength; /* of N(w) */
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

mg_penalty mg_penalty_of(const margin_component *info, const mg_option_value *options,
                         double l1_ratio, double total_weight) {
    static const char *const spellings[] = {"C", "alpha", "lambda"};
    const char *spelling = "lambda";
    double value = 0.0;
    bool is_given = false;
    for (int k = 0; k < MG_LENGTH(spellings); k++) {
        const int index = mg_option_index(info, spellings[k]);
        if (index < 0 || is_given || !mg_option_has_value(&options[index])) continue;
        is_given = options[index].given;
        spelling = spellings[k];
        value = options[index].number;
    }
    return mg_penalty_make(spelling, value, l1_ratio, total_weight);
}

bool mg_asks_no_penalty(const margin_component *info, const mg_option_value *options) {
    return mg_penalty_of(info, options, 0.0, 1.0).rho == 0.0;
}

void mg_report_penalty(margin_report *report, const mg_penalty *penalty) {
    mg_report_set(report, "C", penalty->C);
    mg_report_set(report, "alpha", penalty->alpha);
    mg_report_set(report, "lambda", penalty->lambda);
}

double mg_total_weight(const mg_problem *problem) {
    double total = 0.0;
    for (int64_t i = 0; i < problem->count; i++)
        total += mg_sample_weight(problem, i);
    return total;
}
