/* margin_promise: a copy of a model with what is settled after the fit. */
#include "select/promise/cross_fit.h"

#include "model/measure/outcome.h"
#include "model/predict/fit_score.h"
#include "model/predict/predict.h"
#include "model/problem/data_rows.h"
#include "model/train/train.h"

#include <math.h>
#include <string.h>

#define ARGUMENT(condition, ...) MG_REQUIRE(condition, error, MARGIN_ERROR_ARGUMENT, __VA_ARGS__)

margin_status mg_add_numbers(margin_model *model, const char *name, int64_t rows, int64_t columns,
                             double **numbers, margin_error *error) {
    return mg_bag_add(&model->additions->bag, name, MARGIN_F64, rows, columns, numbers, error);
}

/* ---- Checks ---------------------------------------------------------------------------------- */

static margin_status check_decision(const margin_model *model, const margin_promise_options *o,
                                    margin_error *error) {
    const int ways = (o->threshold != 0) + (o->threshold_metric != NULL) + (o->costs != NULL);
    const margin_metric *metric = margin_metric_find(o->threshold_metric);
    if (!ways) return MARGIN_OK;
    ARGUMENT(model->task == MARGIN_CLASSIFY,
             "thresholds and costs decide between classes, and '%s' has numbers for answers",
             model->spec);
    ARGUMENT(ways == 1, "a threshold, a metric to choose one by and costs exclude each other");
    ARGUMENT(margin_model_has_probabilities(model) || o->calibrate,
             "'%s' has no probabilities to decide by; calibrate it", model->spec);
    ARGUMENT(!o->costs || o->cost_count == model->classes * model->classes,
             "%lld costs for %lld classes; give a row of %lld for each class",
             (long long)o->cost_count, (long long)model->classes, (long long)model->classes);
    for (int64_t i = 0; o->costs && i < o->cost_count; i++)
        ARGUMENT(isfinite(o->costs[i]), "cost %lld is not a number", (long long)i + 1);
    ARGUMENT(o->costs || model->classes == 2,
             "a threshold decides between two classes, and the model has %lld; give costs",
             (long long)model->classes);
    ARGUMENT(o->threshold >= 0 && o->threshold <= 1, "the threshold %s is no probability",
             mg_number(o->threshold).text);
    ARGUMENT(!o->threshold_metric ||
                 (metric && metric->task == MARGIN_CLASSIFY && !metric->needs_probabilities &&
                  strcmp(o->threshold_metric, "auc") != 0 &&
                  strcmp(o->threshold_metric, "average_precision") != 0),
             "'%s' is no metric that a threshold changes; take f1, accuracy, balanced_accuracy, "
             "precision or recall",
             o->threshold_metric);
    return MARGIN_OK;
}

static margin_status check_coverage(const margin_model *model, const margin_data *data,
                                    const margin_promise_options *o, int64_t rows,
                                    margin_error *error) {
    if (o->coverage == 0) return MARGIN_OK;
    ARGUMENT(o->coverage > 0 && o->coverage < 1,
             "a coverage of %s: give a share between 0 and 1, 0.9 for most",
             mg_number(o->coverage).text);
    ARGUMENT(!data->weights.values,
             "a coverage is a share of rows, which count alike: leave the weights out");
    ARGUMENT(model->task == MARGIN_CLASSIFY || model->target.count == 1,
             "a coverage is promised for one target, and the model has %lld",
             (long long)model->target.count);
    ARGUMENT(mg_rows_beyond(o->coverage, rows) <= rows,
             "a coverage of %s is less than %lld rows can tell from none; take more",
             mg_number(o->coverage).text, (long long)rows);
    ARGUMENT(mg_rows_beyond(o->coverage, rows) >= 1,
             "%lld rows can promise a coverage of at most %lld/%lld = %s, and %s was asked for; "
             "take less, or more rows",
             (long long)rows, (long long)rows, (long long)rows + 1,
             mg_about((double)rows / (double)(rows + 1)).text, mg_number(o->coverage).text);
    return MARGIN_OK;
}

static margin_status check_options(const margin_model *model, const margin_promise_options *o,
                                   margin_error *error) {
    MG_TRY(mg_model_predicts(model, error));
    ARGUMENT(model->task != MARGIN_CLUSTER, "clusters have no truth that could be promised");
    ARGUMENT(!model->additions, "the model has promises already; take the one that was fitted");
    ARGUMENT(o->calibrate >= 0 && o->calibrate <= MARGIN_CALIBRATE_TEMPERATURE,
             "%d is no calibration", (int)o->calibrate);
    ARGUMENT(!o->calibrate || model->task == MARGIN_CLASSIFY,
             "a regression has no probabilities to calibrate");
    ARGUMENT(o->calibrate != MARGIN_CALIBRATE_TEMPERATURE || model->decision != MG_DECIDE_VOTES,
             "pairs of classes (multiclass=ovo) have no scores of classes that a temperature could "
             "divide; take another calibration, or multiclass=ovr");
    ARGUMENT(o->folds == 0 || (o->folds >= 2 && o->folds <= MG_MOST_FOLDS),
             "%lld folds; give 2 to %d", (long long)o->folds, MG_MOST_FOLDS);
    return check_decision(model, o, error);
}

/* ---- Making ---------------------------------------------------------------------------------- */

static margin_status add_decision(margin_model *model, const margin_promise_options *o,
                                  margin_error *error) {
    double *kept;
    if (o->threshold > 0) {
        MG_TRY(mg_add_numbers(model, "threshold", 1, 0, &kept, error));
        *kept = o->threshold;
    }
    if (!o->costs) return MARGIN_OK;
    MG_TRY(mg_add_numbers(model, "costs", model->classes, model->classes, &kept, error));
    memcpy(kept, o->costs, (size_t)o->cost_count * sizeof *kept);
    return MARGIN_OK;
}

static margin_status add_coverage(margin_context *context, const margin_data *data,
                                  const margin_promise_options *o, margin_model *model,
                                  mg_crossed *c, margin_error *error) {
    double *level;
    bool done = false;
    if (o->coverage == 0) return MARGIN_OK;
    MG_TRY(mg_add_numbers(model, "coverage", 1, 0, &level, error));
    *level = o->coverage;
    if (!o->groups.values) /* a row's group would stay where the row is left out */
        MG_TRY(mg_cover_left_out(context, model, data, c, &done, error));
    if (done) return MARGIN_OK;
    MG_TRY(mg_cross_fit(context, model, data, o, true, c, error));
    return mg_cover_folds(context, model, c, error);
}

/* Everything in turn: a threshold is chosen by the probabilities that the model will give. */
static margin_status add_all(margin_context *context, const margin_data *data,
                             const margin_promise_options *o, margin_model *model, mg_crossed *c,
                             margin_error *error) {
    MG_TRY(mg_cross_fit(context, model, data, o, o->calibrate || o->threshold_metric, c, error));
    MG_TRY(check_coverage(model, data, o, c->samples.count, error));
    if (o->calibrate) MG_TRY(mg_calibrate(context, model, c, o->calibrate, error));
    MG_TRY(mg_additions_attach(model, error));
    if (o->threshold_metric)
        MG_TRY(mg_choose_threshold(context, model, c, o->threshold_metric, error));
    MG_TRY(add_decision(model, o, error));
    return add_coverage(context, data, o, model, c, error);
}

margin_status margin_promise(margin_context *context, const margin_model *model,
                             const margin_data *data, const margin_promise_options *given,
                             margin_model **promised, margin_error *error) {
    margin_promise_options o;
    margin_model *made = NULL, *whole = NULL;
    mg_crossed crossed = {0};
    mg_taken taken = {0};
    margin_status status;
    ARGUMENT(context && model && data && given && promised, "margin_promise: %s is NULL",
             !context ? "the context"
             : !model ? "the model"
             : !data  ? "the data set"
             : given  ? "the place for the model"
                      : "the options");
    MG_TRY(mg_options_take(given, MG_SIZE_UP_TO(margin_promise_options, groups),
                           "margin_promise_options", &o, sizeof o, error));
    margin_context call = mg_context_call(context);
    MG_GO(mg_data_take(&call, data, true, &taken, error));
    data = &taken.data;
    MG_GO(mg_columns_check(model, &data->x, error));
    MG_GO(mg_target_count_check(model, data, error));
    MG_GO(check_options(model, &o, error));
    call.options.log = NULL; /* the fits to the folds would say what the fit has said */
    MG_GO(mg_model_copy(context, model, &made, error));
    MG_GO(mg_additions_new(context->heap, &made->additions, error));
    MG_GO(add_all(&call, data, &o, made, &crossed, error));
    if (!made->additions->bag.count) {
        mg_additions_free(made->additions);
        made->additions = NULL;
    }
    MG_GO(mg_additions_attach(made, error));
    MG_GO(mg_fit_score(&call, data, &crossed.samples, NULL, made, &made->report, NULL, error));
    MG_GO(mg_model_copy(context, made, &whole, error)); /* checked as a file is */
    *promised = whole;
done:
    mg_crossed_free(&crossed);
    mg_taken_free(&taken);
    margin_model_free(made);
    return mg_call_status(&call, status, "before the fits to the folds were done", error);
}

/* ---- What a model has ------------------------------------------------------------------------ */

int32_t margin_model_calibration(const margin_model *model) {
    const mg_additions *a = model->additions;
    if (!a) return MARGIN_CALIBRATE_NONE;
    return a->sigmoid   ? MARGIN_CALIBRATE_SIGMOID
           : a->knots   ? MARGIN_CALIBRATE_ISOTONIC
           : a->inverse ? MARGIN_CALIBRATE_TEMPERATURE
                        : MARGIN_CALIBRATE_NONE;
}

double margin_model_threshold(const margin_model *model) {
    const mg_additions *a = model->additions;
    return a && a->threshold ? *a->threshold : (double)NAN;
}

const double *margin_model_costs(const margin_model *model) {
    return model->additions ? model->additions->costs : NULL;
}

double margin_model_coverage(const margin_model *model) {
    const mg_additions *a = model->additions;
    return a && a->level ? *a->level : (double)NAN;
}

margin_status margin_model_with_threshold(margin_context *context, const margin_model *model,
                                          double threshold, margin_model **changed,
                                          margin_error *error) {
    margin_model *made = NULL;
    double *kept;
    margin_status status;
    ARGUMENT(context && model && changed, "a context, a model and a place for one are needed");
    ARGUMENT(threshold > 0 && threshold <= 1, "the threshold %s is no probability",
             mg_number(threshold).text);
    ARGUMENT(model->task == MARGIN_CLASSIFY && model->classes == 2,
             "a threshold decides between two classes, which this model does not have");
    ARGUMENT(margin_model_has_probabilities(model),
             "'%s' has no probabilities to decide by; calibrate it", model->spec);
    MG_GO(mg_model_copy(context, model, &made, error));
    if (!made->additions) MG_GO(mg_additions_new(context->heap, &made->additions, error));
    if (made->additions->costs) {
        status = mg_fail(error, MARGIN_ERROR_ARGUMENT,
                         "the model decides by costs, which a threshold would contradict");
        goto done;
    }
    if (made->additions->threshold)
        kept = (double *)(uintptr_t)made->additions->threshold;
    else
        MG_GO(mg_add_numbers(made, "threshold", 1, 0, &kept, error));
    *kept = threshold;
    MG_GO(mg_additions_attach(made, error));
    *changed = made;
    made = NULL;
done:
    margin_model_free(made);
    return status;
}
