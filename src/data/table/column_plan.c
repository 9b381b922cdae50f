/* Which column of a file plays which part: the options' references, or a trained model's wishes. */
#include "base/text/nearest.h"
#include "base/text/text.h"
#include "data/table/names.h"

#include <stdio.h>
#include <string.h>

enum { SHOWN_BYTES = 60, LISTED = 5 };

typedef struct planner {
    const char *const *names;
    bool has_names;
    int64_t count;
    const margin_read_options *options;
    const char *file;
    mg_name_index raw;    /* the names as they stand in the file */
    mg_name_index unique; /* made unique: what a model knows them by */
    mg_names unique_names;
    mg_column_plan *plan;
    int64_t *targets; /* named so far */
    margin_error *error;
} planner;

/* Texts of users may be long; messages need not be. */
static int shown(int64_t length) {
    return (int)MG_MIN(length, (int64_t)SHOWN_BYTES);
}

/* ---- References ----------------------------------------------------------------------------- */

static margin_status plan_fail_unknown(const planner *p, const char *text, int64_t length,
                                       const char *what) {
    if (!p->has_names)
        return mg_fail(p->error, MARGIN_ERROR_DATA,
                       "%s: no column '%.*s' (%s): the file has no header, so its %lld columns are "
                       "called x1 to x%lld, or by number, negative from the end",
                       p->file, shown(length), text, what, (long long)p->count,
                       (long long)p->count);
    mg_nearest nearest = mg_nearest_begin(text, length);
    for (int64_t j = 0; j < p->count; j++)
        mg_nearest_offer(&nearest, p->names[j], (int64_t)strlen(p->names[j]));
    if (nearest.best)
        return mg_fail(p->error, MARGIN_ERROR_DATA,
                       "%s: no column '%.*s' (%s); did you mean '%.*s'?", p->file, shown(length),
                       text, what, shown(nearest.best_length), nearest.best);
    return mg_fail(p->error, MARGIN_ERROR_DATA,
                   "%s: no column '%.*s' (%s): the file has %lld columns, from '%.*s' to '%.*s'",
                   p->file, shown(length), text, what, (long long)p->count, SHOWN_BYTES,
                   p->names[0], SHOWN_BYTES, p->names[p->count - 1]);
}

static margin_status resolve(const planner *p, const char *text, int64_t length, const char *what,
                             int64_t *column) {
    bool several = false;
    int64_t found = mg_name_find(&p->raw, text, length, &several);
    MG_REQUIRE(!several, p->error, MARGIN_ERROR_DATA,
               "%s: several columns are called '%.*s' (%s): say which by its number; the first is "
               "column %lld",
               p->file, shown(length), text, what, (long long)found + 1);
    if (found < 0) found = mg_column_number(text, length, p->count);
    MG_REQUIRE(found < p->count, p->error, MARGIN_ERROR_DATA,
               "%s: no column %.*s (%s): the file has %lld columns", p->file, shown(length), text,
               what, (long long)p->count);
    if (found < 0) return plan_fail_unknown(p, text, length, what);
    *column = found;
    return MARGIN_OK;
}

static const char *role_name(mg_role role) {
    switch (role) {
    case MG_ROLE_FEATURE:
        return "a feature";
    case MG_ROLE_TARGET:
        return "the target";
    case MG_ROLE_WEIGHT:
        return "the weights";
    case MG_ROLE_IGNORED:
        return "to be ignored";
    }
    return "";
}

static margin_status assign_role(const planner *p, int64_t column, mg_role role) {
    mg_role had = p->plan[column].role;
    MG_REQUIRE(had == MG_ROLE_FEATURE || had == role, p->error, MARGIN_ERROR_DATA,
               "%s: column %lld ('%.*s') is %s and %s at once; name another column for one of the "
               "two",
               p->file, (long long)column + 1, SHOWN_BYTES, p->names[column], role_name(had),
               role_name(role));
    p->plan[column].role = role;
    return MARGIN_OK;
}

static margin_status mark_ignored(const planner *p, int64_t column) {
    return assign_role(p, column, MG_ROLE_IGNORED);
}

static margin_status mark_categorical(const planner *p, int64_t column) {
    p->plan[column].categorical = true;
    return MARGIN_OK;
}

static mg_listed list_of(const planner *p, const char *text) {
    bool several = false;
    const bool whole = mg_name_find(&p->raw, text, (int64_t)strlen(text), &several) >= 0;
    return (mg_listed){.next = text, .whole = whole};
}

/* Place of the dots in "a..b", unless a column is called so; -1: it is no range. */
static int64_t range_dots(const planner *p, const char *text, int64_t length) {
    bool several;
    for (int64_t k = 1; k + 2 < length; k++)
        if (text[k] == '.' && text[k + 1] == '.')
            return mg_name_find(&p->raw, text, length, &several) < 0 ? k : -1;
    return -1;
}

static margin_status resolve_range(const planner *p, const mg_listed *list, const char *what,
                                   int64_t *first, int64_t *last) {
    const int64_t dots = range_dots(p, list->item, list->length);
    MG_TRY(resolve(p, list->item, dots < 0 ? list->length : dots, what, first));
    *last = *first;
    if (dots < 0) return MARGIN_OK;
    MG_TRY(resolve(p, list->item + dots + 2, list->length - dots - 2, what, last));
    MG_REQUIRE(*first <= *last, p->error, MARGIN_ERROR_DATA,
               "%s: the columns %.*s (%s) run backwards: column %lld stands behind %lld", p->file,
               shown(list->length), list->item, what, (long long)*first + 1, (long long)*last + 1);
    return MARGIN_OK;
}

/* Calls `mark` for every column of a list. */
static margin_status for_each_listed(const planner *p, const char *text, const char *what,
                                     margin_status (*mark)(const planner *, int64_t)) {
    if (!text) return MARGIN_OK;
    int64_t first = 0, last = 0;
    for (mg_listed list = list_of(p, text); mg_next_listed(&list);) {
        MG_TRY(resolve_range(p, &list, what, &first, &last));
        for (int64_t j = first; j <= last; j++)
            MG_TRY(mark(p, j));
    }
    return MARGIN_OK;
}

/* ---- Targets -------------------------------------------------------------------------------- */

/* The next target: of a model, if it is read for one. */
static margin_status mark_target(const planner *p, int64_t column) {
    const margin_column *wanted = p->options->expected_target;
    mg_column_plan *plan = &p->plan[column];
    MG_REQUIRE(plan->role != MG_ROLE_TARGET, p->error, MARGIN_ERROR_DATA,
               "%s: column %lld ('%.*s') is named as a target twice", p->file,
               (long long)column + 1, SHOWN_BYTES, p->names[column]);
    MG_TRY(assign_role(p, column, MG_ROLE_TARGET));
    plan->target = (*p->targets)++;
    if (!wanted || plan->target >= mg_expected_targets(p->options)) return MARGIN_OK;
    plan->expected = &wanted[plan->target];
    plan->categorical = plan->expected->kind == MARGIN_CATEGORICAL;
    return MARGIN_OK;
}

static margin_status plan_named_targets(const planner *p) {
    const int64_t wanted = mg_expected_targets(p->options);
    MG_TRY(for_each_listed(p, p->options->target, "the target", mark_target));
    MG_REQUIRE(wanted == 0 || *p->targets == wanted, p->error, MARGIN_ERROR_DATA,
               "%s: the model has %lld target%s and %lld %s named: '%.*s'", p->file,
               (long long)wanted, wanted == 1 ? "" : "s", (long long)*p->targets,
               *p->targets == 1 ? "is" : "are", shown((int64_t)strlen(p->options->target)),
               p->options->target);
    return MARGIN_OK;
}

static margin_status plan_weights(const planner *p) {
    const char *reference = p->options->weights;
    int64_t column = 0;
    if (!reference || !*reference) return MARGIN_OK;
    MG_TRY(resolve(p, reference, (int64_t)strlen(reference), "the weights", &column));
    return assign_role(p, column, MG_ROLE_WEIGHT);
}

/* The last column without another part, or -1. */
static int64_t last_free(const planner *p) {
    for (int64_t j = p->count; j-- > 0;)
        if (p->plan[j].role == MG_ROLE_FEATURE) return j;
    return -1;
}

/* ---- As the file is ------------------------------------------------------------------------- */

static margin_status plan_as_is(const planner *p, int64_t *features) {
    const margin_read_options *options = p->options;
    if (!options->target) {
        int64_t last = last_free(p);
        if (last >= 0) MG_TRY(mark_target(p, last));
    } else if (*options->target) {
        MG_TRY(plan_named_targets(p));
    }
    int64_t next = 0;
    for (int64_t j = 0; j < p->count; j++)
        if (p->plan[j].role == MG_ROLE_FEATURE) p->plan[j].feature = next++;
    MG_REQUIRE(next > 0, p->error, MG_DATA(COLUMNS),
               "%s: no column is left for features: %lld of %lld serve as target, weights or are "
               "ignored%s",
               p->file, (long long)p->count, (long long)p->count,
               options->target ? "" : " (the last column is the target unless told otherwise)");
    *features = next;
    return MARGIN_OK;
}

/* ---- As a model wants it -------------------------------------------------------------------- */

static void take_expected(const planner *p, int64_t column, int64_t feature) {
    const margin_column *wanted = &p->options->expected[feature];
    p->plan[column].feature = feature;
    p->plan[column].expected = wanted;
    p->plan[column].categorical = wanted->kind == MARGIN_CATEGORICAL;
}

/* Number of a name "x12" (12), or 0. */
static int64_t number_of_name(const char *name) {
    int64_t number = 0;
    if (!name || name[0] != 'x' || name[1] < '1' || name[1] > '9') return 0;
    for (const char *digit = name + 1; *digit; digit++) {
        if (*digit < '0' || *digit > '9' || number > MARGIN_MAX_CSV_COLUMNS) return 0;
        number = number * 10 + (*digit - '0');
    }
    return number;
}

static int64_t find_unique(const planner *p, const char *name) {
    bool several;
    return mg_name_find(&p->unique, name, (int64_t)strlen(name), &several);
}

/* True if the columns are to be told by position: the file has no names, or the model has none. */
static bool by_position(const planner *p) {
    if (!p->has_names) return true;
    for (int64_t k = 0; k < p->options->expected_count; k++) {
        const char *name = p->options->expected[k].name;
        if (!number_of_name(name) || find_unique(p, name) >= 0) return false;
    }
    return true;
}

static margin_status fail_missing(const planner *p, int64_t missing) {
    mg_name_list list = {.most = LISTED};
    const char *first = NULL;
    for (int64_t k = 0; k < p->options->expected_count && !list.full; k++) {
        const char *name = p->options->expected[k].name;
        if (find_unique(p, name) >= 0) continue;
        if (!first) first = name;
        mg_name_list_add(&list, name, "'");
    }
    mg_nearest nearest = mg_nearest_begin(first, (int64_t)strlen(first));
    for (int64_t j = 0; j < p->count; j++)
        mg_nearest_offer(&nearest, p->unique_names.items[j],
                         (int64_t)strlen(p->unique_names.items[j]));
    for (int64_t k = 0; nearest.best && k < p->options->expected_count; k++)
        if (strcmp(p->options->expected[k].name, nearest.best) == 0) nearest.best = NULL;
    return mg_fail(p->error, MG_DATA(COLUMNS),
                   "%s lacks %lld of the %lld columns the model was trained on: %s%s%.*s%s",
                   p->file, (long long)missing, (long long)p->options->expected_count, list.text,
                   nearest.best ? "; is the first one the file's '" : "",
                   shown(nearest.best_length), nearest.best ? nearest.best : "",
                   nearest.best ? "'?" : "");
}

/* All targets of the model, or none where they may be missing. */
static margin_status plan_expected_targets(const planner *p) {
    const margin_read_options *options = p->options;
    const int64_t targets = mg_expected_targets(options);
    for (int64_t t = 0; t < targets; t++) {
        const char *name = options->expected_target[t].name;
        if (find_unique(p, name) >= 0) continue;
        if (options->target_optional) return MARGIN_OK;
        return plan_fail_unknown(p, name, (int64_t)strlen(name), "the target");
    }
    for (int64_t t = 0; t < targets; t++)
        MG_TRY(mark_target(p, find_unique(p, options->expected_target[t].name)));
    return MARGIN_OK;
}

static margin_status plan_target_by_name(const planner *p) {
    const margin_read_options *options = p->options;
    if (!options->target) return plan_expected_targets(p);
    return *options->target ? plan_named_targets(p) : MARGIN_OK;
}

static margin_status plan_by_name(const planner *p) {
    const margin_read_options *options = p->options;
    int64_t missing = 0;
    MG_TRY(plan_target_by_name(p));
    for (int64_t k = 0; k < options->expected_count; k++) {
        int64_t column = find_unique(p, options->expected[k].name);
        if (column < 0) {
            missing++;
            continue;
        }
        MG_TRY(assign_role(p, column, MG_ROLE_FEATURE));
        take_expected(p, column, k);
    }
    if (missing) return fail_missing(p, missing);
    for (int64_t j = 0; j < p->count; j++)
        if (p->plan[j].role == MG_ROLE_FEATURE && !p->plan[j].expected)
            p->plan[j].role = MG_ROLE_IGNORED;
    return MARGIN_OK;
}

static int64_t count_free(const planner *p) {
    int64_t free_columns = 0;
    for (int64_t j = 0; j < p->count; j++)
        free_columns += p->plan[j].role == MG_ROLE_FEATURE;
    return free_columns;
}

/* Column of the model's target t by the number in its name, -1: none that is free. */
static int64_t numbered_target(const planner *p, int64_t t) {
    const int64_t column = number_of_name(p->options->expected_target[t].name) - 1;
    const bool there = column >= 0 && column < p->count && p->plan[column].role == MG_ROLE_FEATURE;
    return there ? column : -1;
}

/* The columns that their numbers tell, else the last ones. */
static margin_status plan_counted_targets(const planner *p, int64_t targets) {
    int64_t column = p->count;
    bool numbered = true;
    for (int64_t t = 0; t < targets; t++)
        numbered = numbered && numbered_target(p, t) >= 0;
    for (int64_t left = targets; !numbered && left > 0;)
        left -= p->plan[--column].role == MG_ROLE_FEATURE;
    for (int64_t t = 0; t < targets; t++) {
        while (!numbered && p->plan[column].role != MG_ROLE_FEATURE)
            column++;
        MG_TRY(mark_target(p, numbered ? numbered_target(p, t) : column));
    }
    return MARGIN_OK;
}

static margin_status plan_target_by_position(const planner *p) {
    const margin_read_options *options = p->options;
    const int64_t expected = mg_expected_targets(options), targets = MG_MAX(expected, 1);
    if (options->target) return *options->target ? plan_named_targets(p) : MARGIN_OK;
    if (count_free(p) == options->expected_count + targets)
        MG_TRY(plan_counted_targets(p, expected));
    bool wanted = expected > 0 && !options->target_optional;
    MG_REQUIRE(*p->targets > 0 || !wanted || count_free(p) != options->expected_count, p->error,
               MG_DATA(TARGET),
               "%s has %lld columns, as many as the model has features: the target%s missing",
               p->file, (long long)p->count, expected > 1 ? "s are" : " is");
    return MARGIN_OK;
}

static margin_status plan_by_position(const planner *p) {
    const int64_t targets = mg_expected_targets(p->options);
    char more[48] = "";
    if (targets == 1) snprintf(more, sizeof more, " and a target");
    if (targets > 1) snprintf(more, sizeof more, " and %lld targets", (long long)targets);
    MG_TRY(plan_target_by_position(p));
    MG_REQUIRE(
        count_free(p) == p->options->expected_count, p->error, MG_DATA(COLUMNS),
        "%s has %lld columns, but the model was trained on %lld features%s, told by position "
        "because %s: give the file the same columns in the same order",
        p->file, (long long)p->count, (long long)p->options->expected_count, more,
        p->has_names ? "the model's columns have no names" : "the file has no header");
    int64_t feature = 0;
    for (int64_t j = 0; j < p->count; j++)
        if (p->plan[j].role == MG_ROLE_FEATURE) take_expected(p, j, feature++);
    return MARGIN_OK;
}

/* ---- The whole ------------------------------------------------------------------------------ */

static margin_status plan_roles(planner *p, int64_t *features) {
    MG_TRY(for_each_listed(p, p->options->ignore, "to be ignored", mark_ignored));
    MG_TRY(plan_weights(p));
    MG_TRY(for_each_listed(p, p->options->categorical, "categorical", mark_categorical));
    if (!p->options->expected) return plan_as_is(p, features);
    MG_TRY(by_position(p) ? plan_by_position(p) : plan_by_name(p));
    *features = p->options->expected_count;
    return MARGIN_OK;
}

margin_status mg_plan_columns(mg_heap *heap, const char *const *names, bool has_names,
                              int64_t count, const margin_read_options *options, const char *file,
                              mg_column_plan *plan, int64_t *features, margin_error *error) {
    static const margin_read_options no_options = {0};
    int64_t targets = 0;
    planner p = {.names = names,
                 .has_names = has_names,
                 .count = count,
                 .options = options ? options : &no_options,
                 .file = file,
                 .plan = plan,
                 .targets = &targets,
                 .error = error};
    margin_status status;
    for (int64_t j = 0; j < count; j++)
        plan[j] = (mg_column_plan){.role = MG_ROLE_FEATURE, .feature = -1, .target = -1};
    MG_GO(mg_name_index_make(heap, names, count, &p.raw, error));
    MG_GO(mg_names_unique(heap, names, count, &p.unique_names, error));
    MG_GO(mg_name_index_make(heap, p.unique_names.items, count, &p.unique, error));
    MG_GO(plan_roles(&p, features));
    for (int64_t j = 0; j < count && p.options->target_optional == 2; j++)
        if (plan[j].role == MG_ROLE_TARGET) plan[j].role = MG_ROLE_IGNORED;
done:
    mg_name_index_free(&p.raw);
    mg_name_index_free(&p.unique);
    mg_names_free(&p.unique_names);
    return status;
}
