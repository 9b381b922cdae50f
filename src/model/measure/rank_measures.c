/* What follows from the order that scores bring the rows into, one class against the rest. */
#include "base/cancelled_at.h"
#include "base/pool.h"
#include "base/sort.h"
#include "model/measure/outcome.h"

#include <math.h>

typedef struct {
    const margin_context *context;
    const mg_outcome *outcome;
    int64_t *orders;  /* all columns, or one for each worker */
    int64_t *scratch; /* one for each worker */
    bool all;
    const double *scores;
    int64_t stride, column;
    margin_class_metrics *table;
} ranking;

static bool higher_score(int64_t a, int64_t b, const void *argument) {
    const ranking *r = argument;
    return r->scores[a * r->stride + r->column] > r->scores[b * r->stride + r->column];
}

static bool sort_column(const ranking *given, int64_t column, int64_t *order, int64_t *scratch) {
    ranking r = *given;
    r.column = column;
    for (int64_t i = 0; i < r.outcome->rows; i++)
        order[i] = i;
    return mg_sort(r.context, order, r.outcome->rows, scratch, higher_score, &r);
}

/* From the greatest score down, equal ones together: `above` positives and negatives so far. What
 * is no number (a probability of what overflowed) is equal to all. Leaves off where the call is to
 * end. */
static void rank_measure(const margin_context *context, const mg_outcome *o, int64_t column,
                         const int64_t *order, double *auc, double *average_precision) {
    const int64_t stride = mg_rank_columns(o), positive = o->classes == 2 ? 1 : column;
    double above[2] = {0, 0}, pairs = 0, precision = 0;
    for (int64_t i = 0, groups = 0; i < o->rows && !mg_cancelled_at(context, groups); groups++) {
        const double score = o->scores[order[i] * stride + column];
        double here[2] = {0, 0};
        for (; i < o->rows && !(o->scores[order[i] * stride + column] < score); i++)
            here[o->truth[order[i]] == positive] += mg_outcome_weight(o, order[i]);
        pairs += here[0] * (above[1] + 0.5 * here[1]);
        above[0] += here[0];
        above[1] += here[1];
        if (here[1] > 0) precision += here[1] * (above[1] / (above[0] + above[1]));
    }
    const bool both = above[0] > 0 && above[1] > 0;
    *auc = both ? pairs / above[0] / above[1] : (double)NAN;
    *average_precision = both ? precision / above[1] : (double)NAN;
}

static margin_status rank_column(void *argument, int64_t column, int worker) {
    const ranking *r = argument;
    const int64_t rows = r->outcome->rows;
    int64_t *order = r->orders + (r->all ? column : worker) * rows;
    margin_class_metrics *table = &r->table[r->outcome->classes == 2 ? 1 : column];
    if (!sort_column(r, column, order, r->scratch + worker * rows)) return MARGIN_ERROR_CANCELLED;
    rank_measure(r->context, r->outcome, column, order, &table->auc, &table->average_precision);
    return MARGIN_OK;
}

margin_status mg_rank_table(margin_context *context, const mg_outcome *o,
                            margin_class_metrics *table, int64_t *orders, margin_error *error) {
    const int64_t threads = margin_context_threads(context);
    ranking r = {.context = context,
                 .outcome = o,
                 .scores = o->scores,
                 .stride = mg_rank_columns(o),
                 .table = table,
                 .orders = orders,
                 .all = orders != NULL};
    int64_t *room;
    MG_NEW(context->heap, room, 2 * threads * o->rows, "the order of the scores", error);
    r.scratch = room;
    if (!orders) r.orders = room + threads * o->rows;
    const margin_status status = mg_parallel(context, r.stride, rank_column, &r, NULL);
    mg_free(context->heap, room);
    return status < 0 ? mg_fail_cancelled(error) : MARGIN_OK;
}

void mg_rank_means(const mg_outcome *o, const margin_class_metrics *table,
                   double value[MG_MEASURED]) {
    double area = 0, precision = 0, count = 0;
    for (int64_t c = o->classes == 2; c < o->classes; c++) {
        if (isnan(table[c].auc)) continue;
        area += table[c].auc;
        precision += table[c].average_precision;
        count++;
    }
    value[MG_AUC] = count > 0 ? area / count : (double)NAN;
    value[MG_AVERAGE_PRECISION] = count > 0 ? precision / count : (double)NAN;
}

void mg_measure_ranks(const margin_context *context, const mg_outcome *o, const int64_t *orders,
                      double value[MG_MEASURED]) {
    double area = 0, precision = 0, count = 0;
    for (int64_t c = 0; c < mg_rank_columns(o); c++) {
        double auc, ap;
        rank_measure(context, o, c, orders + c * o->rows, &auc, &ap);
        if (isnan(auc)) continue;
        area += auc;
        precision += ap;
        count++;
    }
    value[MG_AUC] = count > 0 ? area / count : (double)NAN;
    value[MG_AVERAGE_PRECISION] = count > 0 ? precision / count : (double)NAN;
}
