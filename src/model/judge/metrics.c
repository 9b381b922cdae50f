/* margin_evaluate: what a model is worth on a labelled data set. */
#include "cluster/learner/silhouette.h"
#include "model/judge/judge.h"

#include <math.h>
#include <string.h>

static void clear_metrics(margin_metrics *metrics) {
    const double none = (double)NAN;
    memset(metrics, 0, sizeof *metrics);
    metrics->accuracy = metrics->error = metrics->log_loss = metrics->auc = none;
    metrics->precision = metrics->recall = metrics->f1 = none;
    metrics->rmse = metrics->mae = metrics->r2 = none;
    metrics->inertia = metrics->silhouette = none;
    metrics->mean_margin = metrics->least_margin = metrics->least_geometric_margin = none;
}

/* ---- Classification -------------------------------------------------------------------------- */

static margin_status decide_samples(const mg_judged *judged, int64_t *labels, margin_error *error) {
    int64_t functions = judged->model->hypothesis->functions;
    double *work;
    MG_NEW(judged->context->heap, work, mg_decide_room(judged->model), "the votes", error);
    for (int64_t i = 0; i < judged->samples.count; i++)
        labels[i] = mg_decide(judged->model, judged->scores + i * functions, work);
    mg_free(judged->context->heap, work);
    return MARGIN_OK;
}

static void count_confusion(const mg_judged *judged, const int64_t *labels, double *confusion) {
    int64_t classes = judged->model->classes;
    memset(confusion, 0, (size_t)(classes * classes) * sizeof *confusion);
    for (int64_t i = 0; i < judged->samples.count; i++)
        confusion[judged->codes[i] * classes + labels[i]] += mg_samples_weight(&judged->samples, i);
}

/* Adds those of class c; 0 where there is no row to count. F1: 2 right / (its rows + rows given to
 * it). */
static void add_class(const double *confusion, int64_t classes, int64_t c, margin_metrics *m) {
    const double right = confusion[c * classes + c];
    double rows = 0, given = 0;
    for (int64_t k = 0; k < classes; k++) {
        rows += confusion[c * classes + k];
        given += confusion[k * classes + c];
    }
    m->precision += given > 0 ? right / given : 0;
    m->recall += rows > 0 ? right / rows : 0;
    m->f1 += rows + given > 0 ? 2 * right / (rows + given) : 0;
}

static void judge_classes(const double *confusion, int64_t classes, margin_metrics *m) {
    m->precision = m->recall = m->f1 = 0;
    if (classes == 2) {
        add_class(confusion, 2, 1, m);
        return;
    }
    for (int64_t c = 0; c < classes; c++)
        add_class(confusion, classes, c, m);
    m->precision /= (double)classes;
    m->recall /= (double)classes;
    m->f1 /= (double)classes;
}

/* -log P(class) from scores that are logarithms: no probability is rounded to 0. */
static double log_score_loss(const double *scores, int64_t classes, int32_t code) {
    double greatest = scores[0], sum = 0;
    for (int64_t c = 1; c < classes; c++)
        greatest = MG_MAX(greatest, scores[c]);
    for (int64_t c = 0; c < classes; c++)
        sum += exp(scores[c] - greatest);
    return log(sum) - (scores[code] - greatest);
}

/* Mean of -log P(true class). No clipping: a class that was given probability 0 costs infinity. */
static margin_status log_loss(const mg_judged *judged, double *loss, margin_error *error) {
    const margin_model *model = judged->model;
    int64_t functions = model->hypothesis->functions;
    double *probabilities, sum = 0, total = 0;
    if (!margin_model_has_probabilities(model)) return MARGIN_OK;
    MG_NEW(judged->context->heap, probabilities, model->classes, "the probabilities", error);
    for (int64_t i = 0; i < judged->samples.count; i++) {
        const double weight = mg_samples_weight(&judged->samples, i);
        const double *scores = judged->scores + i * functions;
        total += weight;
        if (mg_learner_more_of(model->learner)->log_scores) {
            sum += weight * log_score_loss(scores, model->classes, judged->codes[i]);
            continue;
        }
        model->learner->probabilities(scores, functions, model->classes, probabilities);
        sum -= weight * log(probabilities[judged->codes[i]]);
    }
    mg_free(judged->context->heap, probabilities);
    *loss = sum / total;
    return MARGIN_OK;
}

/* The score of class 1 against class 0 of each sample, into `out`. */
static void two_class_scores(const mg_judged *judged, double *out) {
    int64_t functions = judged->model->hypothesis->functions;
    for (int64_t i = 0; i < judged->samples.count; i++) {
        const double *scores = judged->scores + i * functions;
        out[i] = functions == 2 ? scores[1] - scores[0] : scores[0];
    }
}

static double weight_norm(const mg_judged *judged) {
    const mg_hypothesis *h = judged->model->hypothesis;
    double square = 0;
    if (h->kind != &mg_hypothesis_linear) return (double)NAN;
    for (int64_t j = 0; j < h->columns; j++) {
        double w = h->view.linear.weights[j];
        if (h->functions == 2) w = h->view.linear.weights[h->columns + j] - w;
        square += w * w;
    }
    return sqrt(square);
}

static margin_status two_class_metrics(const mg_judged *judged, margin_metrics *metrics,
                                       margin_error *error) {
    mg_heap *heap = judged->context->heap;
    double *scores, sum = 0, least = (double)INFINITY;
    MG_NEW(heap, scores, judged->samples.count, "the scores of the rows", error);
    two_class_scores(judged, scores);
    for (int64_t i = 0; i < judged->samples.count; i++) {
        double margin = judged->codes[i] == 1 ? scores[i] : -scores[i];
        sum += mg_samples_weight(&judged->samples, i) * margin;
        least = MG_MIN(least, margin);
    }
    metrics->mean_margin = sum / metrics->weight;
    metrics->least_margin = least;
    double norm = weight_norm(judged);
    metrics->least_geometric_margin = norm > 0 ? least / norm : (double)NAN;
    margin_status status =
        mg_auc(heap, scores, judged->codes, &judged->samples, &metrics->auc, error);
    mg_free(heap, scores);
    return status;
}

static margin_status class_metrics(const mg_judged *judged, margin_metrics *metrics,
                                   margin_error *error) {
    mg_heap *heap = judged->context->heap;
    int64_t classes = judged->model->classes, *labels = NULL;
    double *confusion = NULL;
    margin_status status;
    MG_GO_NEW(heap, labels, judged->samples.count, "the predicted classes", error);
    MG_GO_NEW(heap, confusion, classes * classes, "the confusion matrix", error);
    MG_GO(decide_samples(judged, labels, error));
    count_confusion(judged, labels, confusion);
    metrics->accuracy = mg_score_classes(labels, judged->codes, &judged->samples);
    metrics->error = 1 - metrics->accuracy;
    judge_classes(confusion, classes, metrics);
    MG_GO(log_loss(judged, &metrics->log_loss, error));
    if (classes == 2) MG_GO(two_class_metrics(judged, metrics, error));
    metrics->confusion = confusion;
    metrics->inner = mg_heap_retain(heap);
    confusion = NULL;
done:
    mg_free(heap, confusion);
    mg_free(heap, labels);
    return status;
}

/* ---- Clusters -------------------------------------------------------------------------------- */

/* Each row to the centre with the greatest score, minus its squared distance. */
static void assign_samples(const mg_judged *judged, int32_t *labels, margin_metrics *metrics) {
    const int64_t k = judged->model->classes;
    metrics->inertia = 0;
    memset(metrics->cluster_sizes, 0, (size_t)k * sizeof *metrics->cluster_sizes);
    for (int64_t i = 0; i < judged->samples.count; i++) {
        const double *scores = judged->scores + i * k,
                     weight = mg_samples_weight(&judged->samples, i);
        int32_t best = 0;
        for (int32_t c = 1; c < k; c++)
            if (scores[c] > scores[best]) best = c;
        labels[i] = best;
        metrics->inertia -= weight * scores[best];
        metrics->cluster_sizes[best] += weight;
    }
}

static margin_status cluster_silhouette(const mg_judged *judged, const margin_matrix *x,
                                        const int32_t *labels, margin_metrics *metrics,
                                        margin_error *error) {
    const mg_samples *samples = &judged->samples;
    const int64_t columns = judged->model->hypothesis->columns;
    mg_heap *heap = judged->context->heap;
    double *features = NULL;
    margin_status status = MARGIN_OK;
    if (samples->count > MG_MOST_SILHOUETTE) return MARGIN_OK;
    MG_GO_NEW(heap, features, samples->count * columns, "the rows behind the stages", error);
    MG_GO(mg_model_features(judged->context, judged->model, x, samples->rows, samples->count,
                            features, error));
    const margin_matrix made = margin_dense_f64(features, samples->count, columns, columns);
    const mg_clustered rows = {.x = &made,
                               .weight = samples->weights,
                               .count = samples->count,
                               .k = judged->model->classes,
                               .labels = labels,
                               .sizes = metrics->cluster_sizes};
    MG_GO(mg_silhouette(judged->context, &rows, &metrics->silhouette, error));
done:
    mg_free(heap, features);
    return status;
}

static margin_status cluster_metrics(const mg_judged *judged, const margin_matrix *x,
                                     margin_metrics *metrics, margin_error *error) {
    mg_heap *heap = judged->context->heap;
    int32_t *labels = NULL;
    margin_status status;
    MG_GO_NEW(heap, metrics->cluster_sizes, judged->model->classes, "the sizes", error);
    MG_GO_NEW(heap, labels, judged->samples.count, "the clusters of the rows", error);
    assign_samples(judged, labels, metrics);
    MG_GO(cluster_silhouette(judged, x, labels, metrics, error));
    metrics->inner = mg_heap_retain(heap);
done:
    if (status < 0) mg_free(heap, metrics->cluster_sizes);
    mg_free(heap, labels);
    return status;
}

/* ---- Entry ----------------------------------------------------------------------------------- */

/* rmse, mae and r2 of each of several targets: one block of numbers. */
static margin_status keep_targets(mg_heap *heap, const mg_value_score *each, int64_t count,
                                  margin_metrics *metrics, margin_error *error) {
    double *numbers = NULL;
    MG_NEW(heap, numbers, 3 * count, "the scores of the targets", error);
    metrics->targets = count;
    metrics->target_rmse = numbers;
    metrics->target_mae = numbers + count;
    metrics->target_r2 = numbers + 2 * count;
    for (int64_t t = 0; t < count; t++) {
        metrics->target_rmse[t] = each[t].rmse;
        metrics->target_mae[t] = each[t].mae;
        metrics->target_r2[t] = each[t].r2;
    }
    metrics->inner = mg_heap_retain(heap);
    return MARGIN_OK;
}

static margin_status value_metrics(const mg_judged *judged, margin_metrics *metrics,
                                   margin_error *error) {
    mg_heap *heap = judged->context->heap;
    const int64_t count = judged->model->target.count;
    mg_value_score *each = NULL;
    margin_status status;
    MG_GO_NEW(heap, each, count, "the scores of the targets", error);
    MG_GO(mg_score_values(judged->context, judged->scores, count, judged->targets, &judged->samples,
                          each, error));
    const mg_value_score score = mg_score_all(each, count);
    metrics->rmse = score.rmse;
    metrics->mae = score.mae;
    metrics->r2 = score.r2;
    if (count > 1) status = keep_targets(heap, each, count, metrics, error);
done:
    mg_free(heap, each);
    return status;
}

margin_status margin_evaluate(margin_context *context, const margin_model *model,
                              const margin_data *data, margin_metrics *metrics,
                              margin_error *error) {
    mg_judged judged = {0};
    margin_metrics found;
    margin_status status = MARGIN_OK;
    MG_REQUIRE(metrics, error, MARGIN_ERROR_ARGUMENT, "the place for the metrics is NULL");
    MG_TRY(mg_judge_open(context, model, data, &judged, error));
    clear_metrics(&found);
    found.task = model->task;
    found.rows = judged.samples.count;
    found.classes = model->classes;
    for (int64_t i = 0; i < judged.samples.count; i++)
        found.weight += mg_samples_weight(&judged.samples, i);
    if (model->task == MARGIN_REGRESS)
        MG_GO(value_metrics(&judged, &found, error));
    else if (model->task == MARGIN_CLUSTER)
        MG_GO(cluster_metrics(&judged, &judged.aligned.data.x, &found, error));
    else
        MG_GO(class_metrics(&judged, &found, error));
    *metrics = found;
done:
    mg_judge_close(&judged);
    return status;
}

void margin_metrics_free(margin_metrics *metrics) {
    if (!metrics || !metrics->inner) return;
    mg_heap *heap = metrics->inner;
    mg_free(heap, metrics->confusion);
    mg_free(heap, metrics->cluster_sizes);
    mg_free(heap, metrics->target_rmse);
    metrics->confusion = metrics->cluster_sizes = NULL;
    metrics->target_rmse = metrics->target_mae = metrics->target_r2 = NULL;
    metrics->inner = NULL;
    mg_heap_release(heap);
}
