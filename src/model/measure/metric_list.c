/* The metrics by name, and results by it. */
#include "model/measure/outcome.h"

#include <math.h>
#include <string.h>

#define CLASSES(name, help, greater)                                                               \
    { name, help, MARGIN_CLASSIFY, greater, 0 }
#define PROBABILITIES(name, help)                                                                  \
    { name, help, MARGIN_CLASSIFY, 0, 1 }
#define NUMBERS(name, help, greater)                                                               \
    { name, help, MARGIN_REGRESS, greater, 0 }
#define CLUSTERS(name, help, greater)                                                              \
    { name, help, MARGIN_CLUSTER, greater, 0 }

static const margin_metric metrics[MG_METRICS] = {
    [MG_ACCURACY] = CLASSES("accuracy", "share of the rows that are told right", 1),
    [MG_ERROR] = CLASSES("error", "1 - accuracy", 0),
    [MG_LOG_LOSS] = PROBABILITIES("log_loss", "mean of -log P(true class)"),
    [MG_BRIER] = PROBABILITIES("brier", "mean squared distance of the probabilities from 0 and 1"),
    [MG_AUC] =
        CLASSES("auc", "area under the ROC curve; more classes: mean of one against the rest", 1),
    [MG_AVERAGE_PRECISION] = CLASSES(
        "average_precision", "sum of precision times gain in recall; more classes: mean", 1),
    [MG_PRECISION] = CLASSES("precision", "of the second class; more classes: mean", 1),
    [MG_RECALL] = CLASSES("recall", "of the second class; more classes: mean", 1),
    [MG_F1] = CLASSES("f1", "of the second class; more classes: mean", 1),
    [MG_BALANCED_ACCURACY] =
        CLASSES("balanced_accuracy", "mean recall of the classes that occur", 1),
    [MG_PRECISION_MACRO] = CLASSES("precision_macro", "mean over the classes", 1),
    [MG_RECALL_MACRO] = CLASSES("recall_macro", "mean over the classes", 1),
    [MG_F1_MACRO] = CLASSES("f1_macro", "mean over the classes", 1),
    [MG_PRECISION_MICRO] = CLASSES("precision_micro", "of all decisions together", 1),
    [MG_RECALL_MICRO] = CLASSES("recall_micro", "of all decisions together", 1),
    [MG_F1_MICRO] = CLASSES("f1_micro", "of all decisions together", 1),
    [MG_PRECISION_WEIGHTED] = CLASSES("precision_weighted", "mean by the rows of the classes", 1),
    [MG_RECALL_WEIGHTED] = CLASSES("recall_weighted", "mean by the rows of the classes", 1),
    [MG_F1_WEIGHTED] = CLASSES("f1_weighted", "mean by the rows of the classes", 1),
    [MG_MSE] = NUMBERS("mse", "mean squared error", 0),
    [MG_RMSE] = NUMBERS("rmse", "root of the mean squared error", 0),
    [MG_MAE] = NUMBERS("mae", "mean absolute error", 0),
    [MG_R2] = NUMBERS("r2", "1 - squared error / that of the mean", 1),
    [MG_INERTIA] = CLUSTERS("inertia", "sum of squared distances to the nearest centre", 0),
    [MG_SILHOUETTE] = CLUSTERS("silhouette", "how much nearer rows are to their own cluster", 1),
};

const margin_metric *margin_metric_at(int64_t number) {
    return number >= 0 && number < MG_METRICS ? &metrics[number] : NULL;
}

const margin_metric *margin_metric_find(const char *name) {
    for (int i = 0; name && i < MG_METRICS; i++)
        if (!strcmp(metrics[i].name, name)) return &metrics[i];
    return NULL;
}

int mg_metric_number(const margin_metric *metric) {
    return (int)(metric - metrics);
}

double margin_metrics_value(const margin_metrics *found, const char *name) {
    const margin_metric *metric = margin_metric_find(name);
    const mg_measured *inner = found ? found->inner : NULL;
    return metric && inner ? inner->value[metric - metrics] : (double)NAN;
}

int margin_metrics_interval(const margin_metrics *found, const char *name, double *low,
                            double *high) {
    const margin_metric *metric = margin_metric_find(name);
    const mg_measured *inner = found ? found->inner : NULL;
    if (!metric || !inner || !inner->low) return 0;
    const int64_t number = metric - metrics;
    if (number >= MG_MEASURED || isnan(inner->low[number])) return 0;
    *low = inner->low[number];
    *high = inner->high[number];
    return 1;
}

int margin_metrics_class(const margin_metrics *found, int64_t class_index,
                         margin_class_metrics *out) {
    const mg_measured *inner = found ? found->inner : NULL;
    if (!inner || !inner->classes || class_index < 0 || class_index >= found->classes) return 0;
    const mg_result_type type = MG_RESULT(margin_class_metrics, average_precision);
    if (mg_result_check(out, type, NULL) < 0) return 0;
    mg_result_give(out, type, &inner->classes[class_index]);
    return 1;
}
