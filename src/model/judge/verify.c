/* margin_verify: the report's proof, made again from the model and the data. */
#include "model/predict/align.h"
#include "model/predict/predict.h"
#include "model/problem/multiclass.h"

#include <math.h>
#include <string.h>

/* How far two computations of one number may be apart, relative to the number; and relative to the
 * terms that cancel in a score: they add up in another order, and linear weights have been to
 * original units and back. */
static const double agreement = 1e-6, cancellation = 1e-10;

/* A lambda_max below this comes from products at the lower end of the numbers. */
static const double negligible = 1e-250;

/* Size of the terms of a score, |w| |x|, as far as the items tell. */
static double score_scale(const margin_report *report) {
    double radius = margin_report_item_value(report, "radius");
    double norm = margin_report_item_value(report, "least_margin") /
                  margin_report_item_value(report, "least_geometric_margin");
    double scale = (radius > 0 ? radius : 1) * (norm > 0 ? norm : 1);
    return isfinite(scale) ? MG_MAX(scale, 1.0) : 1;
}

static bool agree(double a, double b, double scale) {
    if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
    if (a == b) return true;
    return fabs(a - b) <= agreement * MG_MAX(fabs(a), fabs(b)) + cancellation * scale;
}

/* A gap is a bound: one that turns out lower is as good. */
static bool gap_holds(const margin_report *stored, double found, double rounding) {
    if (isnan(stored->gap)) return true;
    double allowed = MG_MAX(stored->gap, stored->tolerance);
    if (isnan(allowed)) allowed = stored->gap;
    return found <= allowed * (1 + agreement) + 1e-12 + rounding;
}

/* With a large C the rounding of scores shows in the objective: where both gaps are proven, it may
 * move by the part of itself that was asked for. */
static bool objective_holds(const margin_report *stored, const margin_report *found, double scale,
                            double rounding) {
    static const double most = 1e-4, most_rounded = 1e-2; /* of the objective */
    if (agree(stored->objective, found->objective, scale)) return true;
    if ((rounding <= most_rounded || stored->gap > 1) &&
        fabs(stored->objective - found->objective) <= rounding * MG_MAX(1, fabs(found->objective)))
        return true;
    const double allowed = MG_MIN(stored->tolerance, most) * fabs(stored->objective);
    return stored->gap <= stored->tolerance && found->gap <= stored->tolerance &&
           fabs(stored->objective - found->objective) <= allowed;
}

static const char *const hidden_items[] = {MG_ITEM_ROUNDING, MG_ITEM_OBJECTIVE_ROUNDING,
                                           MG_ITEM_TERMS};

/* Its value; 0: there is none. */
static double take_item(margin_report *report, const char *item) {
    for (int64_t i = 0; i < report->item_count; i++) {
        if (strcmp(report->items[i].name, item) != 0) continue;
        const double value = report->items[i].value;
        report->item_count--;
        memmove(&report->items[i], &report->items[i + 1],
                (size_t)(report->item_count - i) * sizeof report->items[i]);
        return value;
    }
    return 0;
}

static bool item_holds(const margin_report_item *found, double stored, double scale, double terms) {
    const bool is_lambda = strcmp(found->name, "lambda_max") == 0;
    if (is_lambda && fabs(stored) < negligible && fabs(found->value) < negligible) return true;
    if (is_lambda && !isfinite(stored) && !isfinite(found->value)) return true;
    return agree(stored, found->value, is_lambda ? terms : scale);
}

/* Compares what was found with what is stored; the first difference becomes the reason. */
static void compare(const margin_report *stored, margin_report *found) {
    const double scale = score_scale(stored);
    const double terms = take_item(found, MG_ITEM_TERMS);
    const double rounding = fmin(take_item(found, MG_ITEM_ROUNDING), 1);
    const double own = take_item(found, MG_ITEM_OBJECTIVE_ROUNDING);
    const double of_objective = own > 0 ? own : rounding;
    const char *name = NULL;
    double was = 0, is = 0;
    if (stored->rows != found->rows) {
        name = "number of rows";
        was = (double)stored->rows;
        is = (double)found->rows;
    } else if (!objective_holds(stored, found, scale * (double)stored->rows, of_objective)) {
        name = "objective";
        was = stored->objective;
        is = found->objective;
    } else if (!gap_holds(stored, found->gap, rounding)) {
        name = "gap";
        was = stored->gap;
        is = found->gap;
    }
    for (int64_t i = 0; !name && i < found->item_count; i++) {
        const margin_report_item *item = &found->items[i];
        double value = margin_report_item_value(stored, item->name);
        if (item_holds(item, value, scale, terms)) continue;
        name = item->name;
        was = value;
        is = item->value;
    }
    if (!name) {
        mg_report_reason(found, "recomputed from the data and equal to the model's report");
        found->status = MARGIN_OK;
        return;
    }
    mg_report_reason(found,
                     "the %s is %s on this data and %s in the model's report: this is not the "
                     "data it was trained on, or the model was changed",
                     name, mg_number(is).text, mg_number(was).text);
    found->status = MARGIN_STOPPED_STALLED;
}

static void describe(const margin_model *model, const margin_data *data, int64_t rows,
                     margin_report *found) {
    found->task = model->task;
    found->rows = rows;
    found->columns = data->x.columns;
    found->classes = model->classes;
}

static margin_status verify(margin_context *context, const margin_model *model,
                            const mg_spec_component *learner, const margin_data *data,
                            margin_report *found, margin_report *parts, int64_t capacity,
                            margin_error *error) {
    mg_samples samples = {0};
    mg_staged staged = {0};
    mg_split split = {0};
    mg_reduction reduction;
    mg_decision decision;
    margin_status status;
    MG_GO(mg_samples_make(context->heap, data, &samples, error));
    MG_GO(mg_pipeline_apply(context, model, data, &samples, &staged, error));
    if (!(learner->info->abilities & MARGIN_CAN_SPARSE))
        MG_GO(mg_staged_densify(context, &staged, learner->info->name, error));
    MG_GO(mg_reduction_choose(learner, model, &reduction, &decision, error));
    MG_GO(mg_split_make(context, reduction, data, &samples, &staged, model, &split, error));
    if (parts && capacity < split.parts)
        MG_GO(mg_fail(error, MARGIN_ERROR_ARGUMENT, "room for %lld reports; the model has %lld",
                      (long long)capacity, (long long)split.parts));
    MG_GO(mg_split_weigh(learner, model, &split, error));
    MG_GO(mg_split_verify(context, &split, learner, model, found, parts, error));
    describe(model, data, samples.count, found);
    for (int64_t k = 0; parts && k < split.parts; k++) {
        describe(model, data, samples.count, &parts[k]);
        for (size_t n = 0; n < MG_LENGTH(hidden_items); n++)
            take_item(&parts[k], hidden_items[n]);
    }
done:
    mg_split_free(&split);
    mg_staged_free(&staged);
    mg_samples_free(&samples);
    return status;
}

margin_status margin_verify_parts(margin_context *context, const margin_model *model,
                                  const margin_data *data, margin_report *found,
                                  margin_report *parts, int64_t capacity, margin_error *error) {
    double started = mg_clock();
    margin_spec *spec = NULL;
    margin_report report;
    mg_aligned aligned = {0};
    margin_status status;
    MG_REQUIRE(model && found, error, MARGIN_ERROR_ARGUMENT, "the %s is NULL",
               model ? "place for the report" : "model");
    MG_TRY(mg_data_check_targets(context, data, error));
    MG_TRY(mg_target_count_check(model, data, error));
    MG_REQUIRE(model->learner->verify, error, MARGIN_ERROR_ARGUMENT,
               "%s makes no claim that could be verified", model->learner->info.name);
    MG_TRY(mg_align(context, model, data, &aligned, error));
    MG_GO(margin_spec_parse(context, model->spec, &spec, error)); /* for the learner's options */
    MG_GO(verify(context, model, mg_spec_learner(spec), &aligned.data, &report, parts, capacity,
                 error));
    bool holds = true;
    compare(&model->report, &report);
    MG_GO(mg_model_fold_check(model, &holds, error));
    if (!holds) {
        report.status = MARGIN_STOPPED_STALLED;
        mg_report_reason(&report,
                         "the model's weights are not what its stages make of those that its "
                         "learner found: the model was changed");
    }
    report.threads = mg_pool_threads(context->pool);
    report.seconds = mg_clock() - started;
    *found = report;
    status = report.status;
done:
    mg_aligned_free(&aligned);
    margin_spec_free(spec);
    return status;
}

margin_status margin_verify(margin_context *context, const margin_model *model,
                            const margin_data *data, margin_report *found, margin_error *error) {
    return margin_verify_parts(context, model, data, found, NULL, 0, error);
}
