/* The results of measuring: what owns them, and how they reach a caller. */
#include "model/measure/outcome.h"

#include <math.h>
#include <string.h>

margin_status mg_measured_new(mg_heap *heap, mg_measured **measured, margin_error *error) {
    mg_measured *made;
    MG_NEW_OWNER(heap, made, "the metrics", error);
    for (int m = 0; m < MG_METRICS; m++)
        made->value[m] = (double)NAN;
    *measured = made;
    return MARGIN_OK;
}

void mg_measured_free(mg_measured *measured) {
    if (measured) mg_arena_end(measured->arena);
}

margin_status mg_measured_room(mg_measured *measured, int64_t count, double **room,
                               margin_error *error) {
    MG_ARENA_NEW(&measured->arena, *room, count, "the metrics", error);
    return MARGIN_OK;
}

void mg_metrics_clear(margin_metrics *m) {
    const double none = (double)NAN;
    memset(m, 0, sizeof *m);
    m->size = sizeof *m;
    m->accuracy = m->error = m->log_loss = m->auc = none;
    m->precision = m->recall = m->f1 = m->brier = m->average_precision = none;
    m->rmse = m->mae = m->r2 = m->mse = none;
    m->mean_margin = m->least_margin = m->least_geometric_margin = none;
    m->inertia = m->silhouette = none;
}

void margin_metrics_free(margin_metrics *metrics) {
    if (!metrics || !metrics->inner) return;
    mg_measured_free(metrics->inner);
    metrics->inner = NULL;
    metrics->confusion = metrics->cluster_sizes = NULL;
    metrics->target_rmse = metrics->target_mae = metrics->target_r2 = NULL;
}

margin_status mg_measure_options_take(const margin_measure_options *given,
                                      margin_measure_options *o, margin_error *error) {
    MG_TRY(mg_options_take(given, MG_SIZE_UP_TO(margin_measure_options, level),
                           "margin_measure_options", o, sizeof *o, error));
    if (o->level == 0) o->level = 0.95;
    MG_REQUIRE(o->level > 0 && o->level < 1, error, MARGIN_ERROR_ARGUMENT,
               "the level of the intervals is %s; give a number between 0 and 1, 0.95 for most",
               mg_number(o->level).text);
    MG_REQUIRE(o->bootstrap == 0 || (o->bootstrap >= 20 && o->bootstrap <= 1000000), error,
               MARGIN_ERROR_ARGUMENT,
               "%lld resamples for the intervals; give 20 to 1000000, 1000 for most, or 0 for none",
               (long long)o->bootstrap);
    return MARGIN_OK;
}

/* ---- Measuring ------------------------------------------------------------------------------- */

static margin_status measure_numbers(margin_context *context, const mg_outcome *o,
                                     margin_metrics *m, margin_error *error) {
    mg_measured *measured = m->inner;
    const int64_t count = o->targets;
    mg_value_score *each;
    double *numbers;
    MG_NEW(context->heap, each, count, "the scores of the targets", error);
    margin_status status =
        mg_score_values(context, o->value, count, o->target, o->weights, o->rows, each, error);
    if (status >= 0 && count > 1) status = mg_measured_room(measured, 3 * count, &numbers, error);
    if (status >= 0 && count > 1) {
        m->targets = count;
        m->target_rmse = numbers;
        m->target_mae = numbers + count;
        m->target_r2 = numbers + 2 * count;
        for (int64_t t = 0; t < count; t++) {
            m->target_rmse[t] = each[t].rmse;
            m->target_mae[t] = each[t].mae;
            m->target_r2[t] = each[t].r2;
        }
    }
    if (status >= 0) {
        const mg_value_score all = mg_score_all(each, count);
        measured->value[MG_MSE] = all.mse;
        measured->value[MG_RMSE] = all.rmse;
        measured->value[MG_MAE] = all.mae;
        measured->value[MG_R2] = all.r2;
    }
    mg_free(context->heap, each);
    return status;
}

static margin_status measure_classes(margin_context *context, const mg_outcome *o,
                                     margin_metrics *m, margin_error *error) {
    mg_measured *measured = m->inner;
    double *scratch;
    MG_TRY(mg_measured_room(measured, o->classes * o->classes, &m->confusion, error));
    MG_ARENA_NEW(&measured->arena, measured->classes, o->classes, "the figures of the classes",
                 error);
    MG_NEW(context->heap, scratch, 3 * o->classes, "the sums of the classes", error);
    mg_measure_classes(o, scratch, measured->value);
    mg_free(context->heap, scratch);
    mg_class_table(o, m->confusion, measured->classes);
    for (int64_t i = 0; i < o->rows; i++)
        if (o->truth[i] < 0) m->unknown += mg_outcome_weight(o, i);
    return MARGIN_OK;
}

static void copy_values(const double *value, margin_metrics *m) {
    m->accuracy = value[MG_ACCURACY];
    m->error = value[MG_ERROR];
    m->log_loss = value[MG_LOG_LOSS];
    m->brier = value[MG_BRIER];
    m->auc = value[MG_AUC];
    m->average_precision = value[MG_AVERAGE_PRECISION];
    m->precision = value[MG_PRECISION];
    m->recall = value[MG_RECALL];
    m->f1 = value[MG_F1];
    m->mse = value[MG_MSE];
    m->rmse = value[MG_RMSE];
    m->mae = value[MG_MAE];
    m->r2 = value[MG_R2];
}

margin_status mg_measure_outcome(margin_context *context, const mg_outcome *o,
                                 const margin_measure_options *options, margin_metrics *m,
                                 margin_error *error) {
    mg_measured *measured = NULL;
    int64_t *orders = NULL;
    margin_status status = mg_measured_new(context->heap, &measured, error);
    if (status < 0) return status;
    mg_metrics_clear(m);
    m->inner = measured;
    m->task = (int32_t)o->task;
    m->rows = o->rows;
    m->classes = o->classes;
    for (int64_t i = 0; i < o->rows; i++)
        m->weight += mg_outcome_weight(o, i);
    if (o->task == MARGIN_REGRESS) {
        MG_GO(measure_numbers(context, o, m, error));
    } else {
        MG_GO(measure_classes(context, o, m, error));
        if (o->scores && options->bootstrap)
            MG_GO_NEW(context->heap, orders, mg_rank_columns(o) * o->rows,
                      "the order of the scores", error);
        if (o->scores) MG_GO(mg_rank_table(context, o, measured->classes, orders, error));
        if (o->scores) mg_rank_means(o, measured->classes, measured->value);
    }
    copy_values(measured->value, m);
    if (options->bootstrap) MG_GO(mg_bootstrap(context, o, orders, options, measured, error));
    if (mg_cancelled(context)) status = mg_fail_cancelled(error);
done:
    mg_free(context->heap, orders);
    if (status < 0) {
        m->inner = NULL;
        mg_measured_free(measured);
    }
    return status;
}
