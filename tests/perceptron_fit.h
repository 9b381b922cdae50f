/* Fitting the perceptron at the learner's own interface, with the steps recorded. */
#ifndef PERCEPTRON_FIT_H
#define PERCEPTRON_FIT_H

#include "support/support.h"

#include "perceptron/learner/perceptron.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_STEPS = 20000 };

typedef struct recorded {
    int64_t count; /* of steps, the start included */
    int64_t rows[MOST_STEPS], errors[MOST_STEPS];
    double intercept[MOST_STEPS], loss[MOST_STEPS];
    double first_weight[MOST_STEPS];
    double distance[MOST_STEPS];
    double alpha[MOST_STEPS][3], updates[MOST_STEPS][3]; /* of three samples, dual form */
    int64_t weight_count, alpha_count;
} recorded;

typedef struct fitted {
    margin_status status;
    mg_hypothesis *h;
    margin_report report;
    margin_error error;
} fitted;

static int record_step(const margin_trace_step *step, void *user) {
    recorded *r = user;
    assert_true(r->count < MOST_STEPS);
    assert_int_equal(step->step, r->count);
    r->rows[r->count] = step->row;
    r->errors[r->count] = step->errors;
    r->loss[r->count] = step->loss;
    r->distance[r->count] = step->distance ? *step->distance : (double)NAN;
    r->intercept[r->count] = step->intercept;
    r->first_weight[r->count] =
        step->weights && step->weight_count > 0 ? step->weights[0] : (double)NAN;
    r->weight_count = step->weight_count;
    r->alpha_count = step->alpha_count;
    for (int k = 0; step->alpha && step->alpha_count == 3 && k < 3; k++) {
        r->alpha[r->count][k] = step->alpha[k];
        r->updates[r->count][k] = step->updates[k];
    }
    r->count++;
    return 0;
}

/* Option values from "name=value; name=value". */
static margin_status read_options(mg_arena *arena, const char *text, mg_option_value *values,
                                  margin_error *error) {
    const margin_component *info = &mg_learner_perceptron.info;
    for (int k = 0; k < info->option_count; k++)
        MG_TRY(mg_option_default(info->name, &info->options[k], arena, &values[k], error));
    while (*text) {
        char name[40], value[400];
        int used = 0;
        if (sscanf(text, " %39[a-z0-9_]=%399[^;]%n", name, value, &used) != 2)
            fail_msg("options: %s", text);
        const int k = mg_option_index(info, name);
        if (k < 0) fail_msg("no option %s", name);
        const mg_written written = {value, (int64_t)strlen(value), 0, false};
        MG_TRY(mg_option_read(info->name, &info->options[k], &written, arena, &values[k], error));
        text += used;
        text += *text == ';';
    }
    return MARGIN_OK;
}

static margin_status fit_with(margin_context *context, const mg_problem *problem, const char *text,
                              uint64_t seed, recorded *steps, mg_hypothesis **h,
                              margin_report *report, margin_error *error) {
    mg_option_value values[32];
    mg_arena arena;
    const mg_trace trace = {.step = record_step, .user = steps};
    mg_arena_init(&arena, context->heap);
    margin_status status = read_options(&arena, text, values, error);
    if (status == MARGIN_OK) status = mg_learner_check(&mg_learner_perceptron, values, error);
    if (status == MARGIN_OK) {
        mg_fit fit = {.learner = &mg_learner_perceptron,
                      .context = context,
                      .problem = problem,
                      .options = values,
                      .trace = steps ? &trace : NULL,
                      .seed = seed,
                      .error = error};
        mg_report_init(&fit.report);
        if (steps) steps->count = 0;
        status = mg_learner_perceptron.fit(&fit);
        if (status < 0) assert_null(fit.hypothesis);
        *h = fit.hypothesis;
        *report = fit.report;
    }
    mg_arena_free(&arena);
    return status;
}

/* The report of the verification. */
MG_INLINE margin_report verify_with(margin_context *context, const mg_problem *problem,
                                    const char *text, const mg_hypothesis *h) {
    mg_option_value values[32];
    mg_arena arena;
    mg_arena_init(&arena, context->heap);
    assert_int_equal(read_options(&arena, text, values, NULL), MARGIN_OK);
    mg_fit fit = {.learner = &mg_learner_perceptron,
                  .context = context,
                  .problem = problem,
                  .options = values};
    mg_report_init(&fit.report);
    assert_int_equal(mg_learner_perceptron.verify(&fit, h), MARGIN_OK);
    mg_arena_free(&arena);
    return fit.report;
}

static fitted fit_perceptron(margin_context *context, const mg_problem *problem, const char *text,
                             uint64_t seed, recorded *steps) {
    fitted f = {.h = NULL};
    f.status = fit_with(context, problem, text, seed, steps, &f.h, &f.report, &f.error);
    if (f.status < 0 && f.status != MARGIN_ERROR_SPEC && f.status != MARGIN_ERROR_DATA &&
        f.status != MARGIN_ERROR_CANCELLED)
        fail_msg("%s: %s", text, f.error.text);
    if (f.h) assert_int_equal(mg_hypothesis_attach(f.h, &f.error), MARGIN_OK);
    return f;
}

#endif
