/* The report in a model file. Seconds and threads are of the run, not of the model: they are not
 * stored. */
#include "model/store/store.h"

#include <string.h>

const char *const mg_store_tasks[4] = {"classify", "regress", "cluster", "transform"};
const char *const mg_store_types[5] = {"F64", "F32", "I32", "I64", "U8"};
const char *const mg_store_decisions[4] = {"sign", "argmax", "votes", "value"};

/* A text cut inside a character would come back longer: bytes that are not UTF-8 become '?'. */
static void write_clean(mg_text *out, const char *key, const char *text) {
    char clean[sizeof((margin_report *)0)->reason];
    const int64_t length = (int64_t)strlen(text);
    memcpy(clean, text, (size_t)length + 1);
    for (int64_t at = 0; at < length;) {
        const int step = mg_utf8_length(text + at, length - at);
        if (step == 0) clean[at] = '?';
        at += MG_MAX(step, 1);
    }
    mg_store_write_text(out, key, clean);
}

void mg_store_write_report(mg_text *out, const margin_report *report) {
    mg_store_write_raw(out, "report", "{");
    mg_store_write_integer(out, "status", (int64_t)report->status);
    mg_store_write_integer(out, "rows", report->rows);
    mg_store_write_integer(out, "columns", report->columns);
    mg_store_write_integer(out, "classes", report->classes);
    mg_store_write_number(out, "objective", report->objective);
    mg_store_write_number(out, "gap", report->gap);
    mg_store_write_number(out, "tolerance", report->tolerance);
    mg_store_write_integer(out, "iterations", report->iterations);
    mg_store_write_integer(out, "subproblems", report->subproblems);
    write_clean(out, "iteration_name", report->iteration_name);
    write_clean(out, "formula", report->formula);
    write_clean(out, "reason", report->reason);
    mg_store_write_number(out, "train_accuracy", report->train_accuracy);
    mg_store_write_number(out, "train_rmse", report->train_rmse);
    mg_store_write_number(out, "train_r2", report->train_r2);
    mg_store_write_raw(out, "items", "{");
    for (int64_t k = 0; k < report->item_count; k++)
        mg_store_write_number(out, report->items[k].name, report->items[k].value);
    mg_text_puts(out, "}}");
}

static margin_status read_short_text(const mg_store_reader *r, const json_t *object,
                                     const char *key, char *to, size_t capacity) {
    const char *text;
    MG_TRY(mg_json_text(r, object, key, &text));
    if (strlen(text) >= capacity)
        return mg_fail_stored(r, "its entry %s is longer than %d bytes", key, (int)capacity - 1);
    strcpy(to, text);
    return MARGIN_OK;
}

static margin_status read_items(const mg_store_reader *r, const json_t *object,
                                margin_report *report) {
    const json_t *items;
    MG_TRY(mg_json_object(r, object, "items", &items));
    if (json_object_size(items) > MARGIN_REPORT_ITEMS)
        return mg_fail_stored(r, "its report has more than %d items", MARGIN_REPORT_ITEMS);
    for (void *at = json_object_iter((json_t *)items); at;
         at = json_object_iter_next((json_t *)items, at)) {
        margin_report_item *item = &report->items[report->item_count++];
        const char *name = json_object_iter_key(at);
        if (strlen(name) >= sizeof item->name)
            return mg_fail_stored(r, "its report has an item with too long a name");
        strcpy(item->name, name);
        MG_TRY(mg_json_number(r, items, name, &item->value));
    }
    return MARGIN_OK;
}

/* Keeps sums of counts in range; nothing is counted as far. */
#define MOST_COUNT (INT64_C(1) << 53)

static margin_status read_counts(const mg_store_reader *r, const json_t *object,
                                 margin_report *report) {
    int64_t status;
    MG_TRY(mg_json_integer(r, object, "status", MARGIN_OK, MARGIN_STOPPED_STALLED, &status));
    report->status = (margin_status)status;
    MG_TRY(mg_json_integer(r, object, "rows", 0, MOST_COUNT, &report->rows));
    MG_TRY(mg_json_integer(r, object, "columns", 0, MOST_COUNT, &report->columns));
    MG_TRY(mg_json_integer(r, object, "classes", 0, MOST_COUNT, &report->classes));
    MG_TRY(mg_json_integer(r, object, "iterations", 0, MOST_COUNT, &report->iterations));
    return mg_json_integer(r, object, "subproblems", 0, MOST_COUNT, &report->subproblems);
}

margin_status mg_store_read_report(const mg_store_reader *r, const json_t *object,
                                   margin_report *report) {
    const json_t *stored;
    margin_report made = {.task = report->task};
    MG_TRY(mg_json_object(r, object, "report", &stored));
    MG_TRY(read_counts(r, stored, &made));
    MG_TRY(mg_json_number(r, stored, "objective", &made.objective));
    MG_TRY(mg_json_number(r, stored, "gap", &made.gap));
    MG_TRY(mg_json_number(r, stored, "tolerance", &made.tolerance));
    MG_TRY(mg_json_number(r, stored, "train_accuracy", &made.train_accuracy));
    MG_TRY(mg_json_number(r, stored, "train_rmse", &made.train_rmse));
    MG_TRY(mg_json_number(r, stored, "train_r2", &made.train_r2));
    MG_TRY(read_short_text(r, stored, "iteration_name", made.iteration_name,
                           sizeof made.iteration_name));
    MG_TRY(read_short_text(r, stored, "formula", made.formula, sizeof made.formula));
    MG_TRY(read_short_text(r, stored, "reason", made.reason, sizeof made.reason));
    MG_TRY(read_items(r, stored, &made));
    *report = made;
    return MARGIN_OK;
}
