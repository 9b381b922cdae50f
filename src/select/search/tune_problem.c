/* What all settings have in common: task, classes, truth and metric. */
#include "select/search/tune.h"

#include <string.h>

static margin_status choose_task(mg_tune *s, margin_error *error) {
    for (int64_t k = 0; k < s->spec_count; k++) {
        const mg_spec_component *learner = mg_spec_learner(s->specs[k]);
        margin_task task = s->task;
        if (!task) MG_TRY(mg_task_of(learner, s->data, &s->samples, &task, error));
        MG_REQUIRE(
            task != MARGIN_TRANSFORM, error, MARGIN_ERROR_SPEC,
            "'%s' ends with a stage and predicts nothing that rows could be judged by; put a "
            "learner behind it: %s | logistic",
            s->specs[k]->text, s->specs[k]->text);
        MG_REQUIRE(task != MARGIN_CLUSTER, error, MARGIN_ERROR_SPEC,
                   "%s predicts no target that rows could be judged by; margin plot elbow compares "
                   "numbers of clusters",
                   learner->info->name);
        MG_REQUIRE(k == 0 || task == s->whole->task, error, MARGIN_ERROR_SPEC,
                   "'%s' predicts %s and '%s' %s; compare what predicts the same",
                   s->specs[0]->text, task == MARGIN_REGRESS ? "classes" : "numbers",
                   s->specs[k]->text, task == MARGIN_REGRESS ? "numbers" : "classes");
        s->whole->task = task;
    }
    return MARGIN_OK;
}

/* Single test rows: a mean of roots would be a mean of absolute errors. */
static const char *usual_metric(const mg_tune *s) {
    if (s->whole->task == MARGIN_CLASSIFY) return "accuracy";
    for (int64_t k = 0; k < s->split_count; k++)
        if (margin_splits_size(s->splits, k, MARGIN_PART_TEST) > 1) return "rmse";
    return "mse";
}

static margin_status choose_metric(mg_tune *s, margin_error *error) {
    const char *name = s->options.metric ? s->options.metric : usual_metric(s);
    s->metric = margin_metric_find(name);
    if (s->metric && s->metric->task == (int32_t)s->whole->task) return MARGIN_OK;
    mg_name_list list = {0};
    const margin_metric *metric;
    for (int64_t k = 0; (metric = margin_metric_at(k)) != NULL; k++)
        if (metric->task == (int32_t)s->whole->task) mg_name_list_add(&list, metric->name, "");
    return mg_fail(error, MARGIN_ERROR_ARGUMENT, "there is no metric '%s' of %s; there is %s", name,
                   s->whole->task == MARGIN_CLASSIFY ? "classes" : "numbers", list.text);
}

/* truth[] from what is known by sample. */
static margin_status read_truth(mg_tune *s, margin_error *error) {
    const int64_t targets = mg_data_targets(s->data), count = s->samples.count;
    int32_t *codes = NULL;
    double *values = NULL;
    margin_status status;
    MG_GO_NEW(s->heap, s->truth, s->data->x.rows * targets, "the truth of the rows", error);
    if (s->whole->task == MARGIN_CLASSIFY) {
        MG_GO_NEW(s->heap, codes, count, "the classes of the rows", error);
        MG_GO(mg_target_codes(s->context, s->data, &s->samples, s->whole, false, codes, error));
    } else {
        MG_GO_NEW(s->heap, values, targets * count, "the targets", error);
        MG_GO(mg_target_values(s->context, s->data, &s->samples, values, error));
    }
    for (int64_t i = 0; i < count; i++)
        for (int64_t t = 0; t < targets; t++)
            s->truth[mg_samples_row(&s->samples, i) * targets + t] =
                codes ? (double)codes[i] : values[t * count + i];
    status = MARGIN_OK;
done:
    MG_FREE(s->heap, values, codes);
    return status;
}

margin_status mg_tune_problem(mg_tune *s, margin_error *error) {
    MG_TRY(mg_samples_make(s->heap, s->data, &s->samples, error));
    MG_TRY(mg_model_new(s->heap, &s->whole, error));
    MG_TRY(choose_task(s, error));
    if (s->whole->task == MARGIN_CLASSIFY)
        MG_TRY(mg_target_learn(s->context, s->data, &s->samples, s->whole, error));
    else
        MG_TRY(mg_target_describe(s->data, s->whole, error));
    MG_TRY(choose_metric(s, error));
    return read_truth(s, error);
}

void mg_tune_problem_free(mg_tune *s) {
    mg_free(s->heap, s->truth);
    margin_model_free(s->whole);
    mg_samples_free(&s->samples);
}
