/* k-means clustering. */
#include "cluster/learner/kmeans_learner.h"
#include "base/sort.h"
#include "base/text/number_text.h"
#include "cluster/centres/kmeans.h"
#include "cluster/learner/silhouette.h"
#include "learn/hypothesis/dual.h"

#include <math.h>
#include <stdio.h>

/* Several restarts are worth it by default while one pass costs no more than this many
 * differences. */
static const double cheap_pass = 1e6;
enum { CHEAP_RESTARTS = 10, MOST_CLUSTERS = 1000000 };

static const margin_option options[] = {
    MG_INTEGER("k", "8", "how many clusters", .low = 1, .high = MOST_CLUSTERS, MG_RICHER),
    MG_CHOICE("too_few", "error", "error|fewer",
              "where the data has fewer different rows than k: an error, or a cluster for each"),
    MG_CHOICE("start", "++", "++|sample",
              "first centres: spread out by k-means++, or rows drawn at random"),
    MG_NUMBERS("centres", NULL,
               "first centres, one after the other: k times as many numbers as columns",
               .low = -(double)INFINITY, .high = (double)INFINITY),
    MG_INTEGER("restarts", "auto",
               "runs from different starts, of which the best is kept; auto: 10 for small data, 1 "
               "where k x rows x columns is above 10^6",
               .low = 1, .high = 10000, .choices = "auto"),
    MG_INTEGER("max_iter", "300", "limit on the iterations of a run", .low = 1, .high = 1e9),
    MG_NUMBER(
        "tol", "0",
        "stop when an iteration lowers the inertia by less than this fraction; 0: when no row "
        "changes cluster",
        .low = 0, .high = 1, .high_open = 1),
};

static const mg_option_value *option_of(const mg_fit *fit, const char *name) {
    return mg_option_named(&fit->learner->info, fit->options, name);
}

static margin_status kmeans_check(const margin_component *info, const mg_option_value *values,
                                  margin_error *error) {
    const mg_option_value *centres = mg_option_named(info, values, "centres");
    const mg_option_value *start = mg_option_named(info, values, "start");
    const mg_option_value *restarts = mg_option_named(info, values, "restarts");
    for (int64_t c = 0; c < centres->count; c++)
        MG_REQUIRE(isfinite(centres->numbers[c]), error, MARGIN_ERROR_SPEC,
                   "kmeans: centres holds a number that is not finite");
    MG_REQUIRE(centres->count == 0 || !start->given, error, MARGIN_ERROR_SPEC,
               "kmeans: start and centres exclude each other: centres are a start");
    MG_REQUIRE(centres->count == 0 || mg_option_named(info, values, "too_few")->integer == 0, error,
               MARGIN_ERROR_SPEC,
               "kmeans: too_few=fewer and centres exclude each other: centres are all wanted");
    MG_REQUIRE(centres->count == 0 || restarts->text || restarts->integer == 1, error,
               MARGIN_ERROR_SPEC,
               "kmeans: restarts=%lld and centres exclude each other: given centres are one start, "
               "and every run from them ends alike",
               (long long)restarts->integer);
    return MARGIN_OK;
}

static int64_t restarts_of(const mg_fit *fit, int64_t k) {
    const mg_option_value *restarts = option_of(fit, "restarts");
    const mg_problem *p = fit->problem;
    if (option_of(fit, "centres")->count > 0) return 1;
    if (!restarts->text) return restarts->integer;
    const double cost = (double)k * (double)p->count * (double)p->x.columns;
    return cost <= cheap_pass ? CHEAP_RESTARTS : 1;
}

static int compare_samples(const mg_problem *p, int64_t a, int64_t b) {
    const mg_row_span left = mg_span_of(&p->x, mg_sample_row(p, a));
    const mg_row_span right = mg_span_of(&p->x, mg_sample_row(p, b));
    int64_t i = left.first, j = right.first;
    while (i < left.last || j < right.last) {
        const int64_t at = i < left.last ? mg_span_column(&p->x, left, i) : INT64_MAX;
        const int64_t to = j < right.last ? mg_span_column(&p->x, right, j) : INT64_MAX;
        const double one = at <= to ? mg_stored_value(&p->x, i++) : 0;
        const double other = to <= at ? mg_stored_value(&p->x, j++) : 0;
        if (one != other) return one < other ? -1 : 1;
    }
    return 0;
}

static bool sample_before(int64_t a, int64_t b, const void *problem) {
    return compare_samples(problem, a, b) < 0;
}

/* *k becomes the number of different rows if that is less. */
static margin_status take_fewer(const mg_fit *fit, int64_t *k) {
    const mg_problem *p = fit->problem;
    mg_heap *heap = fit->context->heap;
    int64_t *order, *scratch, different = 1;
    MG_SCOPED_ARENA(arena, heap);
    MG_TRY(MG_PIECES(&arena, "the order of the rows", fit->error, MG_PIECE(order, p->count),
                     MG_PIECE(scratch, p->count)));
    for (int64_t i = 0; i < p->count; i++)
        order[i] = i;
    if (!mg_sort(fit->context, order, p->count, scratch, sample_before, p))
        return mg_fail_cancelled(fit->error);
    for (int64_t i = 1; i < p->count && different < *k; i++)
        different += compare_samples(p, order[i - 1], order[i]) != 0;
    *k = MG_MIN(*k, different);
    return MARGIN_OK;
}

static margin_status plan(const mg_fit *fit, mg_kmeans_task *task) {
    const mg_problem *p = fit->problem;
    const mg_option_value *centres = option_of(fit, "centres");
    const int64_t n = p->x.columns;
    int64_t k = option_of(fit, "k")->integer;
    if (option_of(fit, "too_few")->integer == 1) MG_TRY(take_fewer(fit, &k));
    *task = (mg_kmeans_task){.context = fit->context,
                             .x = &p->x,
                             .index = p->index,
                             .count = p->count,
                             .weight = p->weight,
                             .k = k,
                             .start = centres->count > 0                      ? MG_START_GIVEN
                                      : option_of(fit, "start")->integer == 0 ? MG_START_PLUS
                                                                              : MG_START_SAMPLE,
                             .given = centres->numbers,
                             .seed = fit->seed,
                             .restarts = restarts_of(fit, k),
                             .max_iterations = option_of(fit, "max_iter")->integer,
                             .tolerance = option_of(fit, "tol")->number,
                             .error = fit->error};
    MG_REQUIRE(centres->count == 0 || centres->count == k * n, fit->error, MARGIN_ERROR_SPEC,
               "kmeans: centres has %lld numbers, and %lld clusters of %lld columns need %lld",
               (long long)centres->count, (long long)k, (long long)n, (long long)(k * n));
    MG_REQUIRE(k <= p->count, fit->error, MG_DATA(FEW_ROWS),
               "kmeans: %lld rows cannot make %lld clusters; ask for fewer", (long long)p->count,
               (long long)k);
    return MARGIN_OK;
}

static double extreme(const double *sizes, int64_t k, double sign) {
    double best = sizes[0];
    for (int64_t c = 1; c < k; c++)
        if (sign * sizes[c] > sign * best) best = sizes[c];
    return best;
}

static void explain(const mg_kmeans_task *task, const mg_kmeans_result *result, int64_t asked,
                    margin_report *report) {
    const bool by_time = result->status == MARGIN_STOPPED_TIME;
    char few[120] = "";
    if (task->k < asked)
        snprintf(few, sizeof few, "%lld clusters, as the data has no more different rows; ",
                 (long long)task->k);
    if (result->status == MARGIN_OK && result->gap == 0)
        mg_report_reason(report,
                         "%sa fixed point: every row is in the cluster of its nearest centre, "
                         "and every centre is the mean of its cluster",
                         few);
    else if (result->status == MARGIN_OK)
        mg_report_reason(report, "%sanother step would lower the inertia by less than tol", few);
    else if (by_time && result->runs > 0)
        mg_report_reason(report,
                         "%sthe best of %lld runs from different starts; the time limit left none "
                         "for the rest of the %lld asked for: give it more time, or lower restarts",
                         few, (long long)result->runs, (long long)task->restarts);
    else
        mg_report_reason(
            report,
            "%sstopped %s while the centres still move, which changes the cluster of %s; %s, or "
            "accept it with tol",
            few, by_time ? "by the time limit" : "after max_iter iterations",
            mg_counted(result->moved, "rows").text,
            by_time ? "give it more time" : "raise max_iter");
}

static void kmeans_describe(const mg_kmeans_task *task, const mg_kmeans_result *result,
                            const double *sizes, int64_t asked, margin_report *report) {
    double total = 0;
    for (int64_t c = 0; c < task->k; c++)
        total += sizes[c];
    mg_report_formula(report, "inertia = sum_i min_c |x_i - c|^2");
    snprintf(report->iteration_name, sizeof report->iteration_name, "iterations");
    report->status = result->status;
    report->objective = result->inertia;
    report->tolerance = task->tolerance;
    report->iterations = result->iterations;
    explain(task, result, asked, report);
    mg_report_set(report, "moved", (double)result->moved);
    mg_report_set(report, "gain", result->gap);
    mg_report_set(report, "smallest_cluster", extreme(sizes, task->k, -1));
    mg_report_set(report, "largest_cluster", extreme(sizes, task->k, 1));
    mg_report_set(report, "simple_silhouette", task->k > 1 ? result->second / total : (double)NAN);
    if (task->restarts > 1) mg_report_set(report, "best_run", (double)result->run + 1);
    if (result->relocated > 0) mg_report_set(report, "relocated", (double)result->relocated);
}

/* The exact silhouette, of few rows, or of some of them: it takes no more differences than the
 * steps did, or few. */
static margin_status report_silhouette(mg_fit *fit, const mg_kmeans_task *task,
                                       const mg_kmeans_result *result, const int32_t *labels,
                                       const double *sizes) {
    static const double few = 2e6, most = 2e8; /* a millisecond, and a tenth of a second */
    const double count = (double)task->count, n = (double)task->x->columns;
    const double steps = (double)(result->runs * result->iterations * task->k) * count * n;
    const mg_clustered rows = {
        .x = task->x,
        .index = task->index,
        .weight = task->weight,
        .count = task->count,
        .k = task->k,
        .asked = mg_silhouette_asked(task->count, fmin(most, fmax(few, steps)) / n),
        .labels = labels,
        .sizes = sizes};
    double value;
    if (task->count > MG_MOST_SILHOUETTE || task->k < 2 || (double)rows.asked * count * n > most)
        return MARGIN_OK;
    const margin_status status = mg_silhouette(fit->context, &rows, &value, NULL, fit->error);
    if (mg_timed_out(fit->context, status)) return MARGIN_OK; /* it says less than the model does */
    MG_TRY(status);
    mg_report_set(&fit->report, "silhouette", value);
    if (rows.asked < task->count)
        mg_report_set(&fit->report, MG_SILHOUETTE_ROWS, (double)rows.asked);
    return MARGIN_OK;
}

static margin_status kmeans_fit(mg_fit *fit) {
    mg_kmeans_task task;
    mg_kmeans_result result = {.status = MARGIN_OK};
    MG_SCOPED_ARENA(arena, fit->context->heap);
    MG_OWNED(mg_hypothesis, h);
    double *centres = NULL, *sizes = NULL;
    int32_t *labels;
    MG_TRY(plan(fit, &task));
    MG_ARENA_NEW(&arena, labels, task.count, "the clusters of the rows", fit->error);
    MG_TRY(mg_hypothesis_new(fit->context->heap, &mg_hypothesis_centres, task.x->columns, task.k,
                             &h, fit->error));
    MG_TRY(
        mg_bag_add(&h->bag, "centres", MARGIN_F64, task.k, task.x->columns, &centres, fit->error));
    MG_TRY(mg_bag_add(&h->bag, "sizes", MARGIN_F64, task.k, 0, &sizes, fit->error));
    MG_TRY(mg_kmeans(&task, centres, sizes, labels, &result));
    MG_TRY(mg_hypothesis_attach(h, fit->error));
    kmeans_describe(&task, &result, sizes, option_of(fit, "k")->integer, &fit->report);
    MG_TRY(report_silhouette(fit, &task, &result, labels, sizes));
    fit->hypothesis = h;
    h = NULL;
    return MARGIN_OK;
}

static margin_status fits(const margin_component *info, const mg_problem *problem,
                          const mg_option_value *values, const mg_hypothesis *h,
                          margin_error *error) {
    const int64_t k = mg_option_named(info, values, "k")->integer;
    const bool fewer = mg_option_named(info, values, "too_few")->integer == 1;
    (void)problem;
    MG_REQUIRE(h->functions == k || (fewer && h->functions < k), error, MARGIN_ERROR_MODEL,
               "the model has %lld centres, and its kmeans asks for %lld", (long long)h->functions,
               (long long)k);
    return MARGIN_OK;
}

static margin_status kmeans_verify(mg_fit *fit, const mg_hypothesis *h) {
    fit->report.tolerance = option_of(fit, "tol")->number;
    return mg_kmeans_verify(fit, h);
}

const mg_learner mg_learner_kmeans = {
    .info = {.name = "kmeans",
             .kind = MARGIN_LEARNER,
             .summary = "k-means: clusters around centres, each row with the nearest one",
             .formula = "sum_i min_c |x_i - c|^2 over k centres c",
             .source = "Lloyd 1982; Arthur and Vassilvitskii 2007 (k-means++); Ding, Zhao, Shen, "
                       "Musuvathi and Mytkowicz 2015 (bounds)",
             .page = "docs/kmeans.md",
             .abilities = MARGIN_CAN_CLUSTER | MARGIN_CAN_SPARSE | MARGIN_CAN_WEIGHTS,
             MG_OPTION_TABLE(options)},
    .prefers_dense = true,
    .makes = {&mg_hypothesis_centres},
    .fits = fits,
    .check = kmeans_check,
    .fit = kmeans_fit,
    .verify = kmeans_verify,
    .told = " best_run relocated ",
};
