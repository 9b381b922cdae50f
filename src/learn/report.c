/* Filling in and joining reports. */
#include "learn/report.h"

#include "base/random.h"
#include "learn/learner.h"

#include <math.h>
#include <string.h>

void mg_report_give(const margin_report *found, const margin_context *context, double started,
                    margin_report *place) {
    if (!place) return;
    margin_report given = *found;
    given.threads = mg_threads(context);
    given.seconds = mg_clock() - started;
    mg_result_give(place, MG_REPORT, &given);
}

double mg_rows_rounding(int64_t rows, int64_t block_rows) {
    int64_t in_order = block_rows; /* of the last leaf of the sweep */
    while (128 * in_order < rows)
        in_order *= 2;
    return MG_ROUNDING + 0.5 * DBL_EPSILON * (double)MG_MIN(in_order, rows);
}

void mg_report_init(margin_report *report) {
    memset(report, 0, sizeof *report);
    report->size = sizeof *report;
    report->objective = report->gap = report->tolerance = (double)NAN;
    report->train_accuracy = report->train_rmse = report->train_r2 = (double)NAN;
    report->subproblems = 1;
    report->threads = 1;
}

static margin_report_item *find_item(margin_report *report, const char *name) {
    for (int64_t i = 0; i < report->item_count && i < MARGIN_REPORT_ITEMS; i++)
        if (strcmp(report->items[i].name, name) == 0) return &report->items[i];
    return NULL;
}

static void copy_text(char *to, size_t capacity, const char *from) {
    size_t length = strlen(from);
    if (length >= capacity) length = capacity - 1;
    memcpy(to, from, length);
    to[length] = 0;
}

void mg_report_set(margin_report *report, const char *name, double value) {
    margin_report_item *item = find_item(report, name);
    if (!item) {
        if (report->item_count >= MARGIN_REPORT_ITEMS) return;
        item = &report->items[report->item_count++];
        copy_text(item->name, sizeof item->name, name);
    }
    item->value = value;
}

double margin_report_item_value(const margin_report *report, const char *name) {
    if (!report || !name) return (double)NAN;
    const margin_report_item *item = find_item((margin_report *)report, name);
    return item ? item->value : (double)NAN;
}

void mg_report_formula(margin_report *report, const char *text) {
    copy_text(report->formula, sizeof report->formula, text);
}

void mg_report_reason(margin_report *report, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    mg_sentence(report->reason, sizeof report->reason, format, arguments);
    va_end(arguments);
}

/* The worse of two numbers of which the greater is worse; not to know it is the worst. */
static double greater(double a, double b) {
    return isnan(a) || isnan(b) ? (double)NAN : MG_MAX(a, b);
}

static bool is_one_of(const char *name, const char *const *names, int count) {
    for (int i = 0; i < count; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

static double join_item(const char *name, double a, double b) {
    static const char *const sums[] = {"mistakes",        "updates", "support_vectors",
                                       "bounded_vectors", "errors",  "norm"};
    static const char *const least[] = {"margin", "least_margin", "least_geometric_margin"};
    static const char *const penalty[] = {"C", "alpha", "lambda"};
    if (is_one_of(name, sums, MG_LENGTH(sums))) return a + b;
    if (is_one_of(name, penalty, MG_LENGTH(penalty))) return a == b ? a : (double)NAN;
    if (is_one_of(name, least, MG_LENGTH(least)))
        return isnan(a) || isnan(b) ? (double)NAN : MG_MIN(a, b);
    return greater(a, b);
}

/* From the optimum, at most. */
static double distance_of(const margin_report *report) {
    return report->gap * MG_MAX(1.0, fabs(report->objective));
}

/* Which of two parts that ended early says how the whole ended: what the clock did comes first, as
 * more time is then the first remedy. */
static int rank_of(margin_status status) {
    return status == MARGIN_STOPPED_TIME ? MARGIN_STOPPED_STALLED + 1 : (int)status;
}

void mg_report_join(margin_report *into, const margin_report *part, const char *label) {
    if (rank_of(part->status) > rank_of(into->status)) {
        into->status = part->status;
        mg_report_reason(into, "%s: %s", label, part->reason);
    }
    const double distance = distance_of(into) + distance_of(part);
    into->objective += part->objective;
    into->gap = distance / MG_MAX(1.0, fabs(into->objective));
    if (isinf(into->objective)) {
        into->gap = (double)INFINITY;
        if (into->status == MARGIN_OK) into->status = MARGIN_STOPPED_STALLED;
        mg_report_reason(into, "the sum of the objectives is beyond double precision: divide the "
                               "targets or the weights of the rows by a power of ten");
    }
    into->tolerance = greater(into->tolerance, part->tolerance);
    into->iterations += part->iterations;
    into->subproblems += part->subproblems;
    for (int64_t i = 0; i < part->item_count; i++) {
        const margin_report_item *item = &part->items[i];
        const margin_report_item *mine = find_item(into, item->name);
        mg_report_set(into, item->name,
                      mine ? join_item(item->name, mine->value, item->value) : item->value);
    }
}

void mg_report_claim(margin_report *report, mg_verified *verified, const char *name, double value,
                     double rounding) {
    mg_report_set(report, name, value);
    const margin_report_item *item = find_item(report, name);
    if (item) verified->items[item - report->items] = rounding;
}

void mg_verified_join(mg_verified *into, const mg_verified *part) {
    into->objective += part->objective;
    into->gap += part->gap;
    for (int i = 0; i < MARGIN_REPORT_ITEMS; i++)
        into->items[i] += part->items[i];
    if (!into->contradiction) into->contradiction = part->contradiction;
    if (!into->claimed) into->claimed = part->claimed;
}

void mg_trace_note(const mg_trace *trace, margin_trace_step step) {
    if (!trace) return;
    step.subproblem = trace->subproblem;
    step.subproblems = trace->subproblems;
    if (trace->step(&step, trace->user)) margin_context_cancel(trace->context);
}

int64_t mg_scored_finest(int64_t count, int64_t most, int64_t least) {
    while (most > count && most > least)
        most /= 2;
    return most;
}

int64_t mg_scored_stretch(int64_t stretches, int64_t k, int64_t finer) {
    for (; stretches < finer; stretches *= 2)
        k = 2 * k + (int64_t)(mg_random_u64(1, MG_RANDOM_SAMPLE, (uint64_t)(stretches + k)) & 1);
    return k;
}

int64_t mg_scored_row(int64_t count, int64_t finest, int64_t stretches, int64_t k) {
    const int64_t at = mg_scored_stretch(stretches, k, finest);
    const int64_t first = count / finest * at + count % finest * at / finest;
    const int64_t end = count / finest * (at + 1) + count % finest * (at + 1) / finest;
    const uint64_t drawn = mg_random_u64(0, MG_RANDOM_SAMPLE, (uint64_t)at);
    return first + (int64_t)(drawn % (uint64_t)(end - first));
}
