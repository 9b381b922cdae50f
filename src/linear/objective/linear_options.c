/* The options that linear learners share. */
#include "linear/objective/linear_options.h"

#include <stdio.h>
#include <string.h>

/* ---- Values by name -------------------------------------------------------------------------- */

/* NULL: not offered, or neither given nor of a default. */
static const mg_option_value *value_of(const margin_component *info, const mg_option_value *values,
                                       const char *name) {
    const int k = mg_option_index(info, name);
    return k >= 0 && mg_option_has_value(&values[k]) ? &values[k] : NULL;
}

static double number_of(const margin_component *info, const mg_option_value *values,
                        const char *name, double fallback) {
    const mg_option_value *value = value_of(info, values, name);
    return value && !isnan(value->number) ? value->number : fallback;
}

static int64_t integer_of(const margin_component *info, const mg_option_value *values,
                          const char *name, int64_t fallback) {
    const mg_option_value *value = value_of(info, values, name);
    return value ? value->integer : fallback;
}

static mg_descent_options descent_of(const margin_component *info, const mg_option_value *values) {
    return (mg_descent_options){.rate = number_of(info, values, "rate", (double)NAN),
                                .schedule = (int)integer_of(info, values, "schedule", 0),
                                .decay = number_of(info, values, "decay", (double)NAN),
                                .batch = integer_of(info, values, "batch", 1),
                                .start = value_of(info, values, "start_weights"),
                                .start_intercept = number_of(info, values, "start_intercept", 0.0)};
}

mg_linear_options mg_linear_options_of(const mg_fit *fit, const margin_component *info,
                                       double l1_ratio) {
    const mg_option_value *values = fit->options;
    const mg_option_value *solver = value_of(info, values, "solver");
    return (mg_linear_options){
        .penalty = mg_penalty_of(info, fit->options, number_of(info, values, "l1_ratio", l1_ratio),
                                 mg_total_weight(fit->problem)),
        .intercept = integer_of(info, values, "intercept", 1) != 0,
        .tolerance = number_of(info, values, "tol", 1e-6),
        .max_iterations = integer_of(info, values, "max_iter", -1),
        .solver = solver ? solver->text : NULL,
        .descent = descent_of(info, values),
        .penalised = mg_option_index(info, "alpha") >= 0};
}

/* ---- Rules ----------------------------------------------------------------------------------- */

bool mg_is_descent(const char *solver) {
    return solver && (strcmp(solver, "gd") == 0 || strcmp(solver, "sgd") == 0 ||
                      strcmp(solver, "minibatch") == 0);
}

margin_status mg_linear_check(const margin_component *info, const mg_option_value *options,
                              margin_error *error) {
    const mg_option_value *schedule = value_of(info, options, "schedule"),
                          *decay = value_of(info, options, "decay");
    MG_REQUIRE(!decay || !decay->given || !schedule || schedule->integer != 1, error,
               MARGIN_ERROR_SPEC,
               "schedule=constant has no decay; leave it out, or take inverse or sqrt");
    return MARGIN_OK;
}

/* ---- Formula --------------------------------------------------------------------------------- */

/* Without its factor. */
static const char *norm_of(const mg_penalty *penalty) {
    if (penalty->l1_ratio == 0.0) return "|w|^2";
    return penalty->l1_ratio == 1.0 ? "|w|_1" : "((1-r) |w|^2 + r |w|_1)";
}

void mg_linear_describe(const mg_penalty *penalty, const char *loss, margin_report *report) {
    const char *spelling = penalty->spelling, *norm = norm_of(penalty);
    const char *times = strcmp(spelling, "lambda") == 0 ? "mean" : "sum";
    char text[sizeof report->formula];
    if (penalty->rho == 0.0 && penalty->kappa == 0.0)
        snprintf(text, sizeof text, "%s %s", times, loss);
    else if (strcmp(spelling, "C") == 0)
        snprintf(text, sizeof text, "C sum %s + %s/2", loss, norm);
    else
        snprintf(text, sizeof text, "%s %s + %s %s", times, loss, spelling, norm);
    mg_report_formula(report, text);
}

void mg_linear_describe_sparsity(const mg_penalty *penalty, const double *w, int64_t columns,
                                 double kappa_max, margin_report *report) {
    int64_t nonzero = 0;
    if (!(penalty->kappa > 0.0)) return;
    for (int64_t j = 0; j < columns; j++)
        nonzero += w[j] != 0.0;
    mg_report_set(report, "nonzero", (double)nonzero);
    mg_report_set(report, "l1_ratio", penalty->l1_ratio);
    if (!isnan(kappa_max))
        mg_report_set(report, "lambda_max", kappa_max / penalty->kappa * penalty->lambda);
}
