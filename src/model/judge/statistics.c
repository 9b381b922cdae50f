/* margin_statistics: from the variances of a learner to tests and intervals. */
#include "margin/statistics.h"

#include "learn/inference.h"
#include "math/vectors/tails.h"
#include "model/predict/align.h"
#include "model/predict/predict.h"
#include "model/problem/data_rows.h"
#include "model/problem/multiclass.h"

#include <math.h>
#include <string.h>

/* What the caller's result points to. */
typedef struct statistics_store {
    mg_arena arena;
    mg_inference inference;
    margin_coefficient *coefficients;
    margin_dependence *dependences;
    char *names; /* the model may go before the result */
} statistics_store;

void margin_statistics_free(margin_statistics_result *result) {
    if (!result || !result->inner) return;
    mg_arena_end(((statistics_store *)result->inner)->arena);
    mg_result_give(result, MG_RESULT(margin_statistics_result, inner),
                   &(margin_statistics_result){0});
}

const margin_coefficient *margin_statistics_coefficient(const margin_statistics_result *result,
                                                        int64_t number) {
    const statistics_store *store = result ? result->inner : NULL;
    return store && number >= 0 && number < result->coefficient_count ? &store->coefficients[number]
                                                                      : NULL;
}

const margin_dependence *margin_statistics_dependence(const margin_statistics_result *result,
                                                      int64_t number) {
    const statistics_store *store = result ? result->inner : NULL;
    return store && number >= 0 && number < result->dependence_count ? &store->dependences[number]
                                                                     : NULL;
}

/* ---- Asking the learner ---------------------------------------------------------------------- */

static margin_status check_model(const margin_model *model, margin_error *error) {
    MG_REQUIRE(mg_learner_more_of(model->learner)->infer &&
                   model->hypothesis->kind == &mg_hypothesis_linear,
               error, MARGIN_ERROR_ARGUMENT,
               "%s has no standard errors; least-squares and logistic(C=inf) have",
               model->learner->info.name);
    MG_REQUIRE(model->task != MARGIN_CLASSIFY || model->decision == MG_DECIDE_SIGN, error,
               MG_DATA(TARGET),
               "the model has %lld classes; standard errors are those of a model of two classes",
               (long long)model->classes);
    return MARGIN_OK;
}

static margin_status check_weights(const mg_spec_component *learner, margin_error *error) {
    const mg_option_value *value = mg_spec_option(learner, "class_weight");
    const bool plain = !value || !value->text || strcmp(value->text, "none") == 0;
    MG_REQUIRE(
        plain, error, MARGIN_ERROR_DATA,
        "class_weight=%s counts rows that are not there, and standard errors would take them "
        "for observations; train without it",
        value->text);
    return MARGIN_OK;
}

static margin_status ask_part(margin_context *context, const mg_split *split, int64_t number,
                              const mg_spec_component *learner, const mg_hypothesis *hypothesis,
                              mg_inference *inference, margin_error *error) {
    mg_part part = {0};
    MG_TRY(mg_part_make(split, number, &part, error));
    part.problem.scale = part.problem.shift = NULL; /* the hypothesis has taken them in */
    mg_fit fit = {.context = context,
                  .learner = learner->learner,
                  .problem = &part.problem,
                  .options = learner->options,
                  .error = error};
    const margin_status status =
        mg_learner_more_of(learner->learner)->infer(&fit, hypothesis, inference);
    mg_part_free(&part);
    return status;
}

static margin_status ask_learner(margin_context *context, const margin_model *model,
                                 const mg_spec_component *learner, const margin_data *data,
                                 int64_t target, statistics_store *store, int64_t *rows,
                                 margin_error *error) {
    const bool several = model->target.count > 1;
    mg_hypothesis *h = model->hypothesis;
    MG_SCOPED(mg_samples, samples);
    MG_SCOPED(mg_staged, staged);
    MG_SCOPED(mg_split, split);
    MG_OWNED(mg_hypothesis, one);
    mg_reduction reduction;
    mg_decision decision;
    MG_TRY(check_weights(learner, error));
    MG_TRY(mg_reduction_choose(learner, model, &reduction, &decision, error));
    MG_TRY(mg_samples_make(context->heap, data, &samples, error));
    MG_TRY(mg_pipeline_apply(context, model, data, &samples, &staged, error));
    staged.target = (mg_target_scale){0, 1}; /* the model's units, not the learner's */
    MG_TRY(mg_split_make(context, reduction, data, &samples, &staged, model, &split, error));
    *rows = samples.count;
    if (several) MG_TRY(h->kind->slice(context->heap, h, target, &one, error));
    return ask_part(context, &split, target, learner, several ? one : h, &store->inference, error);
}

/* ---- Coefficients ---------------------------------------------------------------------------- */

static margin_status copy_names(const margin_model *model, statistics_store *store,
                                margin_error *error) {
    static const char last[] = "(intercept)";
    const mg_columns *columns = mg_model_feature_columns(model);
    const mg_inference *inference = &store->inference;
    int64_t bytes = (int64_t)sizeof last;
    for (int64_t j = 0; j < inference->columns; j++)
        bytes += (int64_t)strlen(columns->items[j].name) + 1;
    MG_ARENA_NEW(&store->arena, store->names, bytes, "the names", error);
    char *at = store->names;
    for (int64_t j = 0; j < inference->coefficients; j++) {
        const char *name = j < inference->columns ? columns->items[j].name : last;
        const size_t length = strlen(name) + 1;
        store->coefficients[j].name = memcpy(at, name, length);
        at += length;
    }
    return MARGIN_OK;
}

static void set_coefficient(margin_coefficient *c, double variance, double noise, double freedom,
                            double quantile) {
    c->error = noise * sqrt(variance);
    c->statistic = c->estimate / c->error;
    c->p_value = isinf(freedom) ? mg_normal_two_sided(c->statistic)
                                : mg_student_two_sided(c->statistic, freedom);
    c->low = c->estimate - quantile * c->error;
    c->high = c->estimate + quantile * c->error;
}

static margin_status make_coefficients(const margin_model *model, int64_t target, double noise,
                                       double freedom, double confidence, statistics_store *store,
                                       margin_error *error) {
    const mg_inference *inference = &store->inference;
    const double *w = margin_model_weights(model, target);
    const double quantile = mg_student_quantile(1.0 - confidence, freedom);
    MG_ARENA_NEW(&store->arena, store->coefficients, inference->coefficients, "the coefficients",
                 error);
    MG_TRY(copy_names(model, store, error));
    for (int64_t j = 0; j < inference->coefficients; j++) {
        margin_coefficient *c = &store->coefficients[j];
        const bool is_column = j < inference->columns;
        c->estimate = is_column ? w[j] : margin_model_intercept(model, target);
        c->inflation = is_column ? inference->inflation[j] : (double)NAN;
        set_coefficient(c, inference->variance[j], noise, freedom, quantile);
    }
    for (int64_t k = 0;
         inference->covariance && k < inference->coefficients * inference->coefficients; k++)
        inference->covariance[k] *= noise * noise;
    return MARGIN_OK;
}

static margin_status make_dependences(statistics_store *store, int64_t *count,
                                      margin_error *error) {
    const mg_inference *inference = &store->inference;
    MG_ARENA_NEW(&store->arena, store->dependences, inference->dependence_count,
                 "the dependent columns", error);
    for (int64_t k = 0; k < inference->dependence_count; k++) {
        const mg_dependence *d = &inference->dependences[k];
        store->dependences[k] = (margin_dependence){.feature = d->column,
                                                    .term_count = d->term_count,
                                                    .terms = d->terms,
                                                    .factors = d->factors,
                                                    .constant = d->constant};
    }
    *count = inference->dependence_count;
    return MARGIN_OK;
}

/* ---- The whole fit --------------------------------------------------------------------------- */

static void set_criteria(margin_statistics_result *r, double parameters) {
    r->aic = 2.0 * parameters - 2.0 * r->log_likelihood;
    r->bic = log(r->weight) * parameters - 2.0 * r->log_likelihood;
}

static void describe_squares(const mg_inference *inference, margin_statistics_result *r) {
    const double pi = 3.14159265358979323846, n = r->weight, rank = (double)inference->rank;
    const double squares = inference->residual, intercept = inference->intercept ? 1.0 : 0.0;
    r->residual_error = sqrt(squares / r->freedom);
    r->log_likelihood = -0.5 * n * (log(2.0 * pi) + log(squares / n) + 1.0);
    set_criteria(r, rank + intercept + 1.0);
    if (inference->total > 0.0) {
        r->r2 = 1.0 - squares / inference->total;
        r->adjusted_r2 = 1.0 - (squares / r->freedom) / (inference->total / (n - intercept));
    }
    if (rank == 0.0) return;
    r->f_freedom = rank;
    r->f = inference->explained / rank / (squares / r->freedom);
    r->f_p_value = mg_fisher_upper(r->f, rank, r->freedom);
}

static void describe_likelihood(const mg_inference *inference, margin_statistics_result *r) {
    r->log_likelihood = inference->log_likelihood;
    r->null_log_likelihood = inference->null_log_likelihood;
    set_criteria(r, (double)(inference->rank + inference->intercept));
    r->pseudo_r2 = 1.0 - r->log_likelihood / r->null_log_likelihood;
    if (inference->rank == 0) return;
    r->ratio = 2.0 * (r->log_likelihood - r->null_log_likelihood);
    r->ratio_p_value = mg_chi_squared_upper(r->ratio, (double)inference->rank);
}

static void start_result(const mg_inference *inference, margin_statistics_result *r) {
    r->weight = inference->weight;
    r->coefficient_count = inference->coefficients;
    r->has_intercept = inference->intercept;
    r->covariance = inference->covariance;
    r->rank = inference->rank;
    r->condition = inference->condition;
    r->distance = inference->distance;
    r->freedom = r->weight - (double)(inference->rank + inference->intercept);
    r->residual_error = r->r2 = r->adjusted_r2 = r->f = r->f_freedom = r->f_p_value = (double)NAN;
    r->null_log_likelihood = r->pseudo_r2 = r->ratio = r->ratio_p_value = (double)NAN;
}

/* ---- Entry ----------------------------------------------------------------------------------- */

static margin_status make_statistics(margin_context *context, const margin_model *model,
                                     const mg_spec_component *learner, const margin_data *data,
                                     const margin_statistics_options *chosen,
                                     statistics_store *store, margin_statistics_result *r,
                                     margin_error *error) {
    const bool regression = model->task == MARGIN_REGRESS;
    store->inference.want_covariance = chosen->covariance != 0;
    MG_TRY(ask_learner(context, model, learner, data, chosen->target, store, &r->rows, error));
    start_result(&store->inference, r);
    if (regression)
        describe_squares(&store->inference, r);
    else
        describe_likelihood(&store->inference, r);
    MG_TRY(make_coefficients(model, chosen->target, regression ? r->residual_error : 1.0,
                             regression ? r->freedom : (double)INFINITY, chosen->confidence, store,
                             error));
    MG_TRY(make_dependences(store, &r->dependence_count, error));
    r->task = model->task;
    r->confidence = chosen->confidence;
    r->inner = store;
    return MARGIN_OK;
}

static margin_status take_options(const margin_model *model,
                                  const margin_statistics_options *options,
                                  margin_statistics_options *chosen, margin_error *error) {
    MG_TRY(mg_options_take(options, MG_SIZE_UP_TO(margin_statistics_options, target),
                           "margin_statistics_options", chosen, sizeof *chosen, error));
    if (chosen->confidence == 0.0) chosen->confidence = 0.95;
    MG_REQUIRE(chosen->confidence > 0.0 && chosen->confidence < 1.0, error, MARGIN_ERROR_ARGUMENT,
               "a confidence is above 0 and below 1, not %s", mg_number(chosen->confidence).text);
    const int64_t targets = MG_MAX(model->target.count, 1);
    MG_REQUIRE(chosen->target >= 0 && chosen->target < targets, error, MARGIN_ERROR_ARGUMENT,
               "the model has %lld target%s; there is no number %lld, counted from 0",
               (long long)targets, targets == 1 ? "" : "s", (long long)chosen->target);
    return MARGIN_OK;
}

static margin_status statistics(margin_context *context, const margin_model *model,
                                const margin_data *data, const margin_statistics_options *options,
                                margin_statistics_result *result, margin_error *error) {
    const mg_result_type type = MG_RESULT(margin_statistics_result, inner);
    margin_statistics_options chosen;
    margin_statistics_result made = {0};
    margin_spec *spec = NULL;
    statistics_store *store;
    mg_aligned aligned = {0};
    mg_matrix_buffer rows = {0};
    margin_status status;
    MG_TRY(mg_result_check(result, type, error));
    MG_TRY(mg_data_check_columns(context, data, error));
    MG_TRY(mg_target_count_check(model, data, error));
    MG_TRY(check_model(model, error));
    MG_TRY(take_options(model, options, &chosen, error));
    MG_NEW_OWNER(context->heap, store, "the statistics", error);
    store->inference.arena = &store->arena;
    MG_GO(mg_align(context, model, data, &aligned, error));
    MG_GO(mg_data_in_rows(context, &aligned.data, &rows, error));
    MG_GO(margin_spec_parse(context, model->spec, &spec, error)); /* for the learner's options */
    MG_GO(make_statistics(context, model, mg_spec_learner(spec), &aligned.data, &chosen, store,
                          &made, error));
    mg_result_give(result, type, &made);
    store = NULL;
done:
    mg_matrix_buffer_free(&rows);
    mg_aligned_free(&aligned);
    if (store) mg_arena_end(store->arena);
    margin_spec_free(spec);
    return status;
}

margin_status margin_statistics(margin_context *context, const margin_model *model,
                                const margin_data *data, const margin_statistics_options *options,
                                margin_statistics_result *result, margin_error *error) {
    MG_GIVEN(error, {context, "context"}, {model, "model"});
    margin_context call = mg_context_call(context);
    return mg_call_status(&call, statistics(&call, model, data, options, result, error),
                          "before the statistics were there", error);
}
