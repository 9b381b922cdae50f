/* margin_evaluate: what a model is worth on a labelled data set. */
#include "base/cancelled_at.h"
#include "cluster/learner/silhouette.h"
#include "model/judge/judge.h"
#include "model/measure/outcome.h"

#include <math.h>
#include <string.h>

/* ---- Classification -------------------------------------------------------------------------- */

static margin_status decide_samples(const mg_judged *judged, int64_t *labels, margin_error *error) {
    int64_t functions = judged->model->hypothesis->functions;
    double *work;
    MG_NEW(judged->context->heap, work, mg_decide_room(judged->model), "the votes", error);
    int64_t i = 0;
    while (i < judged->samples.count &&
           (labels[i] = mg_decide(judged->model, judged->scores + i * functions, work)) >= 0)
        i++;
    mg_free(judged->context->heap, work);
    if (i == judged->samples.count) return MARGIN_OK;
    const int64_t row = mg_samples_row(&judged->samples, i);
    return mg_fail_at(error, MG_DATA(INFINITE_VALUE), (mg_place){.row = row + 1},
                      "row %lld has no class: its scores are beyond double precision; leave such "
                      "rows out",
                      (long long)row + 1);
}

/* What probabilities give each sample. */
typedef struct {
    double *loss, *brier; /* NULL: the model has no probabilities */
    double *scores;       /* ranks of more than two classes; NULL: none */
} judged_rows;

/* work: two numbers a class. */
static void judge_row(const mg_judged *judged, int64_t i, double *work, judged_rows *rows) {
    const margin_model *model = judged->model;
    const int64_t functions = model->hypothesis->functions, k = model->classes;
    const double *scores = judged->scores + i * functions;
    const int32_t code = judged->codes[i];
    double *p = work, *ranks = rows->scores ? rows->scores + i * k : work + k;
    mg_probabilities(model, scores, p);
    mg_class_ranks(model, scores, p, ranks);
    rows->loss[i] = code < 0 ? 0 : mg_log_loss(model, p, ranks, code);
    rows->brier[i] = code < 0 ? 0 : mg_brier(p, k, code);
}

static margin_status judge_rows(const mg_judged *judged, mg_arena *arena, judged_rows *rows,
                                margin_error *error) {
    const margin_model *model = judged->model;
    const int64_t n = judged->samples.count, k = model->classes;
    const char *purpose = "the probabilities";
    double *work;
    MG_TRY(MG_PIECES(arena, purpose, error, MG_PIECE(work, 2 * k), MG_PIECE(rows->loss, n),
                     MG_PIECE(rows->brier, n)));
    if (k > 2) MG_ARENA_NEW(arena, rows->scores, n * k, purpose, error);
    for (int64_t i = 0; i < n; i++) {
        if (mg_cancelled_at(judged->context, i)) return mg_fail_cancelled(error);
        judge_row(judged, i, work, rows);
    }
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

/* Rows of unknown classes have no margin. */
static void two_class_margins(const mg_judged *judged, const double *scores,
                              margin_metrics *metrics) {
    double sum = 0, total = 0, least = (double)INFINITY;
    for (int64_t i = 0; i < judged->samples.count; i++) {
        if (judged->codes[i] < 0) continue;
        const double margin = judged->codes[i] == 1 ? scores[i] : -scores[i];
        sum += mg_samples_weight(&judged->samples, i) * margin;
        total += mg_samples_weight(&judged->samples, i);
        least = MG_MIN(least, margin);
    }
    if (!(total > 0)) return;
    metrics->mean_margin = sum / total;
    metrics->least_margin = least;
    const double norm = weight_norm(judged);
    metrics->least_geometric_margin = norm > 0 ? least / norm : (double)NAN;
}

static margin_status class_metrics(const mg_judged *judged, const margin_measure_options *options,
                                   margin_metrics *metrics, margin_error *error) {
    const margin_model *model = judged->model;
    const int64_t n = judged->samples.count;
    judged_rows rows = {NULL, NULL, NULL};
    MG_SCOPED_ARENA(arena, judged->context->heap);
    int64_t *labels = mg_arena_new(&arena, n, sizeof *labels);
    double *two = model->classes == 2 ? mg_arena_new(&arena, n, sizeof *two) : NULL;
    if (!labels || (model->classes == 2 && !two))
        MG_TRY(mg_no_memory(arena.heap, n, sizeof *labels, "the predicted classes", error));
    MG_TRY(decide_samples(judged, labels, error));
    if (margin_model_has_probabilities(model)) MG_TRY(judge_rows(judged, &arena, &rows, error));
    if (two) two_class_scores(judged, two);
    const bool each = model->decision == MG_DECIDE_ARGMAX; /* a score for each class */
    const mg_outcome outcome = {.task = MARGIN_CLASSIFY,
                                .rows = n,
                                .classes = model->classes,
                                .weights = judged->samples.weights,
                                .truth = judged->codes,
                                .predicted = labels,
                                .loss = rows.loss,
                                .brier = rows.brier,
                                .scores = two           ? two
                                          : rows.scores ? rows.scores
                                          : each        ? judged->scores
                                                        : NULL};
    MG_TRY(mg_measure_outcome(judged->context, &outcome, options, metrics, error));
    if (two) two_class_margins(judged, two, metrics);
    return MARGIN_OK;
}

/* ---- Clusters -------------------------------------------------------------------------------- */

/* Each row to its side. */
static void count_sides(const mg_judged *judged, margin_metrics *metrics) {
    metrics->cluster_sizes[0] = metrics->cluster_sizes[1] = 0;
    for (int64_t i = 0; i < judged->samples.count; i++)
        metrics->cluster_sizes[judged->scores[i] >= 0] += mg_samples_weight(&judged->samples, i);
}

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
    double *features;
    if (samples->count > MG_MOST_SILHOUETTE) return MARGIN_OK;
    MG_SCOPED_ARENA(arena, heap);
    MG_ARENA_NEW(&arena, features, samples->count * columns, "the rows behind the stages", error);
    MG_TRY(mg_model_features(judged->context, judged->model, x, samples->rows, samples->count,
                             features, error));
    const margin_matrix made = margin_dense_f64(features, samples->count, columns, columns);
    const mg_clustered rows = {.x = &made,
                               .weight = samples->weights,
                               .count = samples->count,
                               .k = judged->model->classes,
                               .labels = labels,
                               .sizes = metrics->cluster_sizes};
    return mg_silhouette(judged->context, &rows, &metrics->silhouette, NULL, error);
}

static margin_status cluster_metrics(const mg_judged *judged, const margin_matrix *x,
                                     margin_metrics *metrics, margin_error *error) {
    mg_heap *heap = judged->context->heap;
    mg_measured *measured = NULL;
    int32_t *labels = NULL;
    margin_status status;
    mg_metrics_clear(metrics);
    metrics->task = MARGIN_CLUSTER;
    metrics->rows = judged->samples.count;
    metrics->classes = judged->model->classes;
    for (int64_t i = 0; i < judged->samples.count; i++)
        metrics->weight += mg_samples_weight(&judged->samples, i);
    MG_GO(mg_measured_new(heap, &measured, error));
    MG_GO(mg_measured_room(measured, judged->model->classes, &metrics->cluster_sizes, error));
    MG_GO_NEW(heap, labels, judged->samples.count, "the clusters of the rows", error);
    if (judged->model->decision == MG_DECIDE_SIGN) {
        count_sides(judged, metrics);
    } else {
        assign_samples(judged, labels, metrics);
        MG_GO(cluster_silhouette(judged, x, labels, metrics, error));
    }
    measured->value[MG_INERTIA] = metrics->inertia;
    measured->value[MG_SILHOUETTE] = metrics->silhouette;
    metrics->inner = measured;
    measured = NULL;
done:
    mg_measured_free(measured);
    mg_free(heap, labels);
    return status;
}

static margin_status value_metrics(const mg_judged *judged, const margin_measure_options *options,
                                   margin_metrics *metrics, margin_error *error) {
    const mg_outcome outcome = {.task = MARGIN_REGRESS,
                                .rows = judged->samples.count,
                                .targets = judged->model->target.count,
                                .weights = judged->samples.weights,
                                .target = judged->targets,
                                .value = judged->scores};
    return mg_measure_outcome(judged->context, &outcome, options, metrics, error);
}

static margin_status evaluate(margin_context *context, const margin_model *model,
                              const margin_data *data, const margin_evaluate_options *given,
                              margin_metrics *metrics, margin_error *error) {
    margin_evaluate_options o;
    mg_judged judged = {0};
    margin_metrics found;
    margin_status status = MARGIN_OK;
    MG_TRY(mg_result_check(metrics, MG_METRICS_RESULT, error));
    MG_TRY(mg_options_take(given, MG_SIZE_UP_TO(margin_evaluate_options, level),
                           "margin_evaluate_options", &o, sizeof o, error));
    const margin_measure_options asked = {
        .size = sizeof asked, .bootstrap = o.bootstrap, .seed = o.seed, .level = o.level};
    margin_measure_options options;
    MG_TRY(mg_measure_options_take(&asked, &options, error));
    MG_TRY(mg_judge_open(context, model, data, o.unknown_wrong != 0, &judged, error));
    if (model->task == MARGIN_REGRESS)
        MG_GO(value_metrics(&judged, &options, &found, error));
    else if (model->task == MARGIN_CLUSTER)
        MG_GO(cluster_metrics(&judged, &judged.aligned.data.x, &found, error));
    else
        MG_GO(class_metrics(&judged, &options, &found, error));
    mg_result_give(metrics, MG_METRICS_RESULT, &found);
done:
    mg_judge_close(&judged);
    return status;
}

margin_status margin_evaluate_with(margin_context *context, const margin_model *model,
                                   const margin_data *data, const margin_evaluate_options *given,
                                   margin_metrics *metrics, margin_error *error) {
    MG_GIVEN(error, {context, "context"}, {model, "model"});
    margin_context call = mg_context_call(context);
    return mg_call_status(&call, evaluate(&call, model, data, given, metrics, error),
                          "before all rows were judged", error);
}

margin_status margin_evaluate(margin_context *context, const margin_model *model,
                              const margin_data *data, margin_metrics *metrics,
                              margin_error *error) {
    return margin_evaluate_with(context, model, data, NULL, metrics, error);
}
