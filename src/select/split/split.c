/* margin_split: checks, numbering of classes, groups and times, and the parts as row numbers. */
#include "base/cancelled_at.h"
#include "select/split/split_deal.h"

#include "base/sort.h"

#include <math.h>
#include <string.h>

enum { MOST_SPLITS = 100000 };

struct margin_splits {
    mg_heap *heap;
    mg_samples samples;
    int64_t *rows; /* owned copy of the samples' rows, as the caller's selection may go away */
    int64_t folds, repeats;
    bool shares, times;
    int32_t *part;  /* repeats x samples */
    int32_t *list;  /* repeats x samples: the samples part by part, each in its own order */
    int64_t *start; /* repeats x (parts + 1): where a part begins in there */
    int64_t parts;  /* folds; 3 for stated shares; folds + 1 runs of time */
};

/* ---- Options --------------------------------------------------------------------------------- */

static margin_status check_vector(const margin_vector *v, int64_t rows, const char *name,
                                  margin_error *error) {
    if (!v->values) return MARGIN_OK;
    MG_REQUIRE(v->count == rows, error, MARGIN_ERROR_ARGUMENT,
               "%s has %lld entries and the data set %lld rows", name, (long long)v->count,
               (long long)rows);
    MG_REQUIRE(mg_type_size(v->type) > 0 && v->type != MARGIN_U64, error, MARGIN_ERROR_ARGUMENT,
               "%s has a type that is none of a margin_vector", name);
    return MARGIN_OK;
}

static margin_status check_shares(const margin_split_options *o, margin_error *error) {
    MG_REQUIRE(o->test > 0 && o->test < 1, error, MARGIN_ERROR_ARGUMENT,
               "the share of the test part is %s; give a number between 0 and 1, or folds",
               mg_number(o->test).text);
    MG_REQUIRE(o->validation >= 0 && o->test + o->validation < 1, error, MARGIN_ERROR_ARGUMENT,
               "the shares of test and validation, %s and %s, leave nothing to train on",
               mg_number(o->test).text, mg_number(o->validation).text);
    return MARGIN_OK;
}

static margin_status check_options(const margin_data *data, margin_split_options *o,
                                   margin_error *error) {
    const bool groups = o->groups.values, time = o->time.values;
    if (o->repeats == 0) o->repeats = 1;
    MG_REQUIRE(o->repeats >= 1, error, MARGIN_ERROR_ARGUMENT, "the number of repeats is %lld",
               (long long)o->repeats);
    MG_REQUIRE(o->folds >= 2 || o->folds == 0 || o->folds == MARGIN_LEAVE_ONE_OUT, error,
               MARGIN_ERROR_ARGUMENT,
               "%lld fold%s cannot take turns in being tested; give 2 or more", (long long)o->folds,
               o->folds == 1 ? "" : "s");
    MG_REQUIRE(!o->folds || (o->test == 0 && o->validation == 0), error, MARGIN_ERROR_ARGUMENT,
               "folds and shares exclude each other");
    if (!o->folds) MG_TRY(check_shares(o, error));
    MG_REQUIRE(
        !time || (!groups && !o->stratify && o->repeats == 1 && !o->in_order), error,
        MARGIN_ERROR_ARGUMENT,
        "a split in order of time has one way to be drawn: without groups, classes, repeats");
    MG_REQUIRE(!o->in_order || (!groups && !o->stratify && o->repeats == 1), error,
               MARGIN_ERROR_ARGUMENT,
               "rows in their order have one way to be split: without groups, classes, repeats");
    MG_REQUIRE(!o->stratify || data->targets <= 1, error, MARGIN_ERROR_ARGUMENT,
               "several targets are no classes to be shared out");
    MG_REQUIRE(!o->stratify || data->y.values, error, MG_DATA(TARGET),
               "there is no target whose classes could be shared out");
    MG_TRY(check_vector(&o->groups, data->x.rows, "groups", error));
    return check_vector(&o->time, data->x.rows, "time", error);
}

/* A row on two sides would be known before it is tested on. */
static margin_status check_once(mg_heap *heap, const margin_data *data, margin_error *error) {
    unsigned char *seen = mg_new_zero(heap, data->x.rows, 1);
    margin_status status = MARGIN_OK;
    if (!seen) return mg_no_memory(heap, data->x.rows, 1, "the rows that were selected", error);
    for (int64_t i = 0; i < data->selected && !status; i++) {
        const int64_t row = data->selection[i];
        if (seen[row])
            status = mg_fail_at(error, MARGIN_ERROR_DATA, (mg_place){.row = row + 1},
                                "row %lld is selected twice, and could be learnt from and tested "
                                "on; give it a weight instead",
                                (long long)row + 1);
        seen[row] = 1;
    }
    mg_free(heap, seen);
    return status;
}

/* ---- Numbering ------------------------------------------------------------------------------- */

static margin_status read_values(const margin_vector *v, const mg_samples *samples,
                                 const char *name, double *values, margin_error *error) {
    for (int64_t i = 0; i < samples->count; i++) {
        const int64_t row = mg_samples_row(samples, i);
        values[i] = mg_vector_f64(v, row);
        if (isnan(values[i]))
            return mg_fail_at(
                error, MARGIN_ERROR_DATA, (mg_place){.row = row + 1},
                "row %lld has no %s: its cell is empty; fill it in, or take such rows out of "
                "the table",
                (long long)row + 1, name);
    }
    return MARGIN_OK;
}

static void free_units(mg_heap *heap, mg_units *units) {
    MG_FREE(heap, units->number, units->order, units->starts);
}

static margin_status number_units(margin_context *context, const margin_vector *v,
                                  const mg_samples *samples, const char *name, mg_units *units,
                                  margin_error *error) {
    mg_heap *heap = context->heap;
    const int64_t n = samples->count;
    double *values = NULL;
    int64_t *scratch = NULL;
    margin_status status = MARGIN_OK;
    MG_GO_NEW(heap, values, n, "what rows are told apart by", error);
    MG_GO_NEW(heap, scratch, n, "the order of the rows", error);
    MG_GO_NEW(heap, units->order, n, "the order of the rows", error);
    MG_GO_NEW(heap, units->number, n, "what rows have in common", error);
    MG_GO(read_values(v, samples, name, values, error));
    for (int64_t i = 0; i < n; i++)
        units->order[i] = i;
    if (!mg_sort(context, units->order, n, scratch, mg_lower_at, values))
        MG_GO(mg_fail_cancelled(error));
    for (int64_t i = 0; i < n; i++) {
        if (mg_cancelled_at(context, i)) MG_GO(mg_fail_cancelled(error));
        units->count += i == 0 || values[units->order[i]] > values[units->order[i - 1]];
    }
    MG_GO_NEW(heap, units->starts, units->count + 1, "what rows have in common", error);
    int64_t at = -1;
    for (int64_t i = 0; i < n; i++) {
        if (mg_cancelled_at(context, i)) MG_GO(mg_fail_cancelled(error));
        if (i == 0 || values[units->order[i]] > values[units->order[i - 1]])
            units->starts[++at] = i;
        units->number[units->order[i]] = (int32_t)at;
    }
    units->starts[units->count] = n;
done:
    MG_FREE(heap, scratch, values);
    return status;
}

margin_status mg_count_units(margin_context *context, const margin_vector *v,
                             const mg_samples *samples, const char *name, int64_t *count,
                             margin_error *error) {
    mg_units units = {0};
    const margin_status status = number_units(context, v, samples, name, &units, error);
    *count = units.count;
    free_units(context->heap, &units);
    return status;
}

/* ---- Enough of everything -------------------------------------------------------------------- */

static void class_text(const margin_data *data, const mg_samples *samples, const mg_units *classes,
                       int64_t c, char text[64]) {
    const int64_t row = mg_samples_row(samples, classes->order[classes->starts[c]]);
    const double value = mg_vector_f64(&data->y, row);
    const margin_column *target = data->target;
    if (target && target->kind == MARGIN_CATEGORICAL && value >= 0 &&
        value < (double)target->category_count) {
        const char *name = target->categories[(int64_t)value];
        size_t length = strnlen(name, 60);
        memcpy(text, name, length);
        text[length] = 0;
    } else {
        memcpy(text, mg_number(value).text, MARGIN_NUMBER_TEXT);
    }
}

static margin_status check_classes(const margin_data *data, const mg_samples *samples,
                                   const mg_units *classes, int64_t folds, margin_error *error) {
    char name[64];
    for (int64_t c = 0; c < classes->count; c++) {
        const int64_t rows = classes->starts[c + 1] - classes->starts[c];
        if (rows >= folds) continue;
        class_text(data, samples, classes, c, name);
        return mg_fail(error, MG_DATA(FEW_ROWS),
                       "class '%s' has %lld row%s, fewer than the %lld folds; take fewer folds, or "
                       "do not stratify (margin_split_options.stratify)",
                       name, (long long)rows, rows == 1 ? "" : "s", (long long)folds);
    }
    return MARGIN_OK;
}

static margin_status check_count(int64_t have, int64_t parts, const char *what, bool folds,
                                 margin_error *error) {
    MG_REQUIRE(have >= parts, error, MG_DATA(FEW_ROWS), "%lld %s%s cannot be split into %lld %s%s",
               (long long)have, what, have == 1 ? "" : "s", (long long)parts,
               folds ? "folds" : "parts", folds ? "; take fewer" : "");
    return MARGIN_OK;
}

/* ---- Drawing --------------------------------------------------------------------------------- */

static margin_status list_parts(margin_splits *s, int64_t repeat, margin_error *error) {
    const int64_t n = s->samples.count;
    const int32_t *part = s->part + repeat * n;
    int32_t *list = s->list + repeat * n;
    int64_t *start = s->start + repeat * (s->parts + 1);
    memset(start, 0, (size_t)(s->parts + 1) * sizeof *start);
    for (int64_t i = 0; i < n; i++)
        start[part[i] + 1]++;
    for (int64_t p = 0; p < s->parts; p++) { /* the order of the three is train, test, validation */
        MG_REQUIRE(start[p + 1] > 0 || (s->shares && p == MARGIN_PART_VALIDATION), error,
                   MG_DATA(FEW_ROWS), "%s; take %s",
                   s->times ? "one time has so many rows that a part has none"
                            : "the groups are too uneven, so that a part has no rows",
                   s->shares ? "other shares" : "fewer folds");
        start[p + 1] += start[p];
    }
    for (int64_t i = 0; i < n; i++)
        list[start[part[i]]++] = (int32_t)i;
    for (int64_t p = s->parts; p > 0; p--)
        start[p] = start[p - 1];
    start[0] = 0;
    return MARGIN_OK;
}

static margin_status draw(margin_context *context, margin_splits *s, mg_deal *deal,
                          margin_error *error) {
    mg_heap *heap = context->heap;
    const int64_t n = s->samples.count;
    s->shares = deal->folds == 0;
    s->times = deal->times != NULL;
    s->folds = s->shares ? 1 : deal->folds;
    s->parts = s->shares ? 3 : s->folds + (s->times ? 1 : 0);
    MG_REQUIRE(s->folds <= MOST_SPLITS / s->repeats || s->repeats == 1, error,
               MARGIN_ERROR_ARGUMENT, "%lld folds times %lld repeats are more than %d splits",
               (long long)s->folds, (long long)s->repeats, MOST_SPLITS);
    MG_REQUIRE(s->repeats <= INT64_MAX / 8 / MG_MAX(n, s->parts), error, MARGIN_ERROR_LIMIT,
               "so many splits do not fit into memory");
    MG_NEW(heap, s->part, s->repeats * n, "the parts of the rows", error);
    MG_NEW(heap, s->list, s->repeats * n, "the parts of the rows", error);
    MG_NEW(heap, s->start, s->repeats * (s->parts + 1), "the sizes of the parts", error);
    for (int64_t r = 0; r < s->repeats; r++) {
        if (mg_cancelled(context)) return mg_fail_cancelled(error);
        deal->round = (uint64_t)r;
        MG_TRY(mg_deal_parts(deal, s->part + r * n, error));
        if (mg_cancelled(context)) return mg_fail_cancelled(error);
        MG_TRY(list_parts(s, r, error));
    }
    return MARGIN_OK;
}

static margin_status split_samples(margin_context *context, const margin_data *data,
                                   const margin_split_options *o, margin_splits *s,
                                   margin_error *error) {
    mg_heap *heap = context->heap;
    const int64_t n = s->samples.count;
    mg_units classes = {0}, groups = {0}, times = {0};
    mg_deal deal = {.context = context,
                    .rows = n,
                    .folds = o->folds,
                    .test = o->test,
                    .validation = o->validation,
                    .seed = o->seed,
                    .in_order = o->in_order != 0};
    margin_status status = MARGIN_OK;
    const int64_t asked = o->folds > 0 ? o->folds : o->validation > 0 ? 3 : 2;
    MG_GO(check_count(n, asked, "row", o->folds, error));
    if (o->groups.values) {
        MG_GO(number_units(context, &o->groups, &s->samples, "group", &groups, error));
        MG_GO(check_count(groups.count, MG_MAX(asked, 2), "group", o->folds, error));
        deal.groups = &groups;
    }
    if (o->time.values) {
        MG_GO(number_units(context, &o->time, &s->samples, "time", &times, error));
        deal.times = &times;
    }
    if (o->folds == MARGIN_LEAVE_ONE_OUT) {
        deal.folds = deal.groups ? groups.count : deal.times ? MG_MAX(times.count - 1, 1) : n;
        deal.in_order = true;
    }
    if (deal.times)
        MG_GO(check_count(times.count, deal.folds ? deal.folds + 1 : asked, "different time",
                          o->folds, error));
    if (o->stratify) {
        MG_GO(number_units(context, &data->y, &s->samples, "class", &classes, error));
        MG_GO(check_classes(data, &s->samples, &classes, deal.groups ? 0 : deal.folds, error));
        deal.classes = &classes;
    }
    status = draw(context, s, &deal, error);
done:
    free_units(heap, &classes);
    free_units(heap, &groups);
    free_units(heap, &times);
    return status;
}

/* The caller's selection may go away: its rows are kept. */
static margin_status keep_rows(mg_heap *heap, margin_splits *s, margin_error *error) {
    if (!s->samples.rows || s->samples.owned_rows) return MARGIN_OK;
    MG_NEW(heap, s->rows, s->samples.count, "the rows that are split", error);
    memcpy(s->rows, s->samples.rows, (size_t)s->samples.count * sizeof *s->rows);
    s->samples.rows = s->rows;
    return MARGIN_OK;
}

static margin_status split(margin_context *context, const margin_data *data,
                           const margin_split_options *given, margin_splits **splits,
                           margin_error *error) {
    margin_split_options o = {0};
    margin_splits *made = NULL;
    margin_status status = MARGIN_OK;
    MG_TRY(mg_options_take(given, MG_SIZE_UP_TO(margin_split_options, time), "margin_split_options",
                           &o, sizeof o, error));
    MG_TRY(mg_data_check_columns(context, data, error));
    MG_TRY(check_options(data, &o, error));
    mg_heap *heap = context->heap;
    if (data->selection) MG_TRY(check_once(heap, data, error));
    made = mg_new_zero(heap, 1, sizeof *made);
    if (!made) return mg_no_memory(heap, 1, sizeof *made, "the splits", error);
    made->heap = mg_heap_retain(heap);
    made->repeats = o.repeats;
    MG_GO(mg_samples_make(heap, data, &made->samples, error));
    if (made->samples.count > INT32_MAX) {
        status = mg_fail(error, MARGIN_ERROR_LIMIT, "more than 2^31 - 1 rows cannot be split");
        goto done;
    }
    MG_GO(keep_rows(heap, made, error));
    MG_GO(split_samples(context, data, &o, made, error));
    *splits = made;
    made = NULL;
done:
    margin_splits_free(made);
    return status < 0 ? status : MARGIN_OK;
}

margin_status margin_split(margin_context *context, const margin_data *data,
                           const margin_split_options *given, margin_splits **splits,
                           margin_error *error) {
    MG_GIVEN(error, {context, "context"}, {splits, "place for the splits"},
             {given, "options of a split"});
    margin_context call = mg_context_call(context);
    return mg_call_status(&call, split(&call, data, given, splits, error),
                          "before the rows were split", error);
}

void margin_splits_free(margin_splits *splits) {
    if (!splits) return;
    mg_heap *heap = splits->heap;
    mg_samples_free(&splits->samples);
    MG_FREE(heap, splits->rows, splits->part, splits->list, splits->start, splits);
    mg_heap_release(heap);
}

/* ---- Parts ----------------------------------------------------------------------------------- */

int64_t margin_splits_count(const margin_splits *splits) {
    return splits->folds * splits->repeats;
}

int64_t margin_splits_folds(const margin_splits *splits) {
    return splits->folds;
}

/* The dealt parts [first, end), or all others: what `part` of fold `fold` is made of. */
typedef struct part_range {
    int64_t first, end;
    bool others;
} part_range;

static part_range range_of(const margin_splits *s, int64_t fold, int32_t part) {
    if (s->shares) return (part_range){part, part + 1, false};
    if (part == MARGIN_PART_VALIDATION) return (part_range){0, 0, false};
    if (!s->times) return (part_range){fold, fold + 1, part == MARGIN_PART_TRAIN};
    return part == MARGIN_PART_TEST ? (part_range){fold + 1, fold + 2, false}
                                    : (part_range){0, fold + 1, false};
}

int64_t margin_splits_size(const margin_splits *s, int64_t split, int32_t part) {
    if (split < 0 || split >= margin_splits_count(s) || part < 0 || part > 2) return 0;
    const part_range range = range_of(s, split % s->folds, part);
    const int64_t *start = s->start + split / s->folds * (s->parts + 1);
    const int64_t count = start[range.end] - start[range.first];
    return range.others ? s->samples.count - count : count;
}

int64_t margin_splits_rows(const margin_splits *s, int64_t split, int32_t part, int64_t *rows) {
    const int64_t n = s->samples.count, size = margin_splits_size(s, split, part);
    if (size == 0) return 0;
    const part_range range = range_of(s, split % s->folds, part);
    const int64_t repeat = split / s->folds;
    const int32_t *dealt = s->part + repeat * n, *list = s->list + repeat * n;
    if (!range.others && range.end - range.first == 1) {
        list += s->start[repeat * (s->parts + 1) + range.first];
        for (int64_t k = 0; k < size; k++)
            rows[k] = mg_samples_row(&s->samples, list[k]);
        return size;
    }
    for (int64_t i = 0, count = 0; i < n; i++)
        if ((dealt[i] >= range.first && dealt[i] < range.end) != range.others)
            rows[count++] = mg_samples_row(&s->samples, i);
    return size;
}
