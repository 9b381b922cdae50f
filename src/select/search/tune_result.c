/* The table as the caller keeps it. */
#include "select/search/tune.h"

#include <string.h>

typedef struct owned_result {
    margin_search_result table; /* first: the caller's pointer is that to the whole */
    mg_arena arena;
    margin_search_cell *cells;
} owned_result;

void margin_search_result_free(margin_search_result *result) {
    if (result) mg_arena_end(((owned_result *)result)->arena);
}

const margin_search_cell *margin_search_cell_at(const margin_search_result *result, int64_t cell) {
    if (!result || cell < 0 || cell >= result->count) return NULL;
    return &((const owned_result *)result)->cells[cell];
}

/* How many slots of a cell came from the journal. */
static int64_t count_known(const mg_cell *cell, int64_t splits) {
    int64_t known = 0;
    for (int64_t k = 0; k < splits; k++)
        known += cell->slots[k].state == MG_SLOT_KNOWN;
    return known;
}

void mg_cell_describe(const mg_tune *s, const mg_cell *cell, margin_search_cell *out) {
    const mg_slot *worst;
    *out = (margin_search_cell){.spec = cell->spec->text,
                                .owner = cell->owner,
                                .number = cell->number,
                                .status = mg_cell_status(cell, s->split_count, &worst),
                                .dropped = cell->dropped,
                                .rows = cell->rows,
                                .predictions =
                                    count_known(cell, s->split_count) ? NULL : cell->predictions};
    out->mean = mg_cell_mean(cell, s->split_count, &out->deviation);
    out->reason = worst->reason      ? worst->reason
                  : isnan(out->mean) ? "the metric is not defined on the test rows of a fold"
                  : isinf(out->mean) ? "the metric is infinite on the test rows of a fold"
                                     : "";
    for (int64_t k = 0; k < s->split_count; k++) {
        const mg_slot *slot = &cell->slots[k];
        out->gap = k == 0 || slot->gap > out->gap || isnan(slot->gap) ? slot->gap : out->gap;
        out->fit_seconds += (double)slot->fit_seconds;
        out->predict_seconds += (double)slot->predict_seconds;
    }
}

const char *mg_keep_text(mg_arena *arena, const char *text) {
    const size_t size = strlen(text ? text : "") + 1;
    char *copy = mg_arena_new(arena, (int64_t)size, 1);
    return copy ? memcpy(copy, text ? text : "", size) : NULL;
}

static const double *keep_numbers(mg_arena *arena, const double *values, int64_t count) {
    double *copy = mg_arena_new(arena, count, sizeof *copy);
    if (copy && count) memcpy(copy, values, (size_t)count * sizeof *copy);
    return copy;
}

static bool keep_cell(const mg_tune *s, const mg_cell *cell, mg_arena *arena,
                      margin_search_cell *out) {
    mg_cell_describe(s, cell, out);
    double *values = mg_arena_new(arena, 2 * s->split_count, sizeof *values);
    if (!values) return false;
    for (int64_t k = 0; k < s->split_count; k++) {
        values[k] = cell->slots[k].value;
        values[s->split_count + k] = cell->slots[k].training;
    }
    out->values = values;
    out->training = s->options.training ? values + s->split_count : NULL;
    out->spec = mg_keep_text(arena, out->spec);
    out->reason = mg_keep_text(arena, out->reason);
    if (out->predictions) {
        out->predictions =
            keep_numbers(arena, out->predictions,
                         s->split_count / s->folds * s->data->x.rows * mg_data_targets(s->data));
        if (!out->predictions) return false;
    }
    return out->spec && out->reason;
}

static bool keep_classes(const mg_tune *s, mg_arena *arena, margin_search_result *table) {
    const char **names = mg_arena_new(arena, s->whole->classes, sizeof *names);
    bool kept = names != NULL;
    for (int64_t c = 0; kept && c < s->whole->classes; c++)
        kept = (names[c] = mg_keep_text(arena, s->whole->class_names[c])) != NULL;
    table->classes = s->whole->classes;
    table->class_names = names;
    return kept;
}

double mg_tune_test_share(const mg_tune *s) {
    double share = 0;
    for (int64_t k = 0; k < s->split_count; k++)
        share += (double)margin_splits_size(s->splits, k, MARGIN_PART_TEST) /
                 (double)margin_splits_size(s->splits, k, MARGIN_PART_TRAIN) /
                 (double)s->split_count;
    return share;
}

static bool fill(const mg_tune *s, owned_result *own) {
    margin_search_result *table = &own->table;
    own->cells = mg_arena_new(&own->arena, s->count, sizeof *own->cells);
    if (!own->cells || !keep_classes(s, &own->arena, table)) return false;
    for (int64_t k = 0; k < s->count; k++) {
        const margin_search_cell *cell = &own->cells[k];
        if (!keep_cell(s, &s->cells[k], &own->arena, &own->cells[k])) return false;
        table->stopped += cell->status > 0;
        table->failed += cell->status < 0;
        table->resumed += count_known(&s->cells[k], s->split_count) == s->split_count;
    }
    if (s->baseline) table->baseline = keep_numbers(&own->arena, s->baseline, s->split_count);
    if (s->baseline && !table->baseline) return false;
    table->test_share = mg_tune_test_share(s);
    table->count = s->count;
    table->splits = s->split_count;
    table->rows = s->samples.count;
    table->task = (int32_t)s->whole->task;
    table->greater = s->metric->greater;
    table->metric = s->metric->name;
    table->seconds = mg_clock() - s->started;
    table->threads = mg_threads(s->context);
    mg_tune_choose(s, &table->best, &table->best_one_se);
    return table->best < 0 ||
           mg_cell_set_end(s, &s->cells[table->best], &own->arena, &table->set_end);
}

margin_status mg_tune_result_make(const mg_tune *s, margin_search_result **result,
                                  margin_error *error) {
    owned_result *own;
    MG_NEW_OWNER(s->heap, own, "the table", error);
    if (!fill(s, own)) {
        margin_search_result_free(&own->table);
        return mg_no_memory(s->heap, s->count, sizeof *own->cells, "the table", error);
    }
    *result = &own->table;
    return MARGIN_OK;
}
