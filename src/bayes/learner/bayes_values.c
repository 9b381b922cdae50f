/* Numbers taken as categories: their distinct values. Columns are looked through side by side. */
#include "base/sort.h"
#include "bayes/learner/bayes.h"

#include <string.h>

/* More distinct values than this are measurements and not categories; of numbers that are not
 * whole fewer make one suspicious. */
enum { MOST_VALUES = 1000, MOST_FRACTIONS = 100, SMALL = 256 };

typedef struct value_set {
    double values[MOST_VALUES + 1]; /* ascending */
    int64_t count;
    bool fractions, too_many;
    bool small[SMALL]; /* whole numbers below SMALL are noted here first */
} value_set;

typedef struct finder {
    margin_context *context;
    const mg_problem *problem;
    const int64_t *columns; /* those of numbers as categories */
    value_set *sets;
} finder;

static void bayes_values_add_value(value_set *set, double value) {
    const int64_t at = mg_lower_bound(set->values, set->count, value);
    if (at < set->count && set->values[at] == value) return;
    memmove(set->values + at + 1, set->values + at,
            (size_t)(set->count - at) * sizeof *set->values);
    set->values[at] = value + 0.0; /* -0 is 0 */
    set->count++;
    set->fractions = set->fractions || value != floor(value);
    set->too_many = set->count > (set->fractions ? MOST_FRACTIONS : MOST_VALUES);
}

static void note_value(value_set *set, double value) {
    if (isnan(value) || set->too_many) return;
    if (value >= 0 && value < SMALL && value == floor(value))
        set->small[(int)value] = true;
    else
        bayes_values_add_value(set, value);
}

/* Value of a row in a column. */
static double cell(const margin_matrix *x, int64_t row, int64_t column) {
    if (!mg_is_csr(x)) return mg_stored_value(x, row * x->stride + column);
    const int64_t at = mg_row_find(x, row, column);
    const bool there = at < mg_row_start(x, row + 1) && mg_column_index(x, at) == column;
    return there ? mg_stored_value(x, at) : 0.0;
}

static margin_status find_task(void *argument, int64_t number, int worker) {
    const finder *f = argument;
    const mg_problem *p = f->problem;
    value_set *set = &f->sets[number];
    (void)worker;
    for (int64_t i = 0; i < p->count && !set->too_many; i++) {
        if (i % MG_BLOCK_ROWS == 0 && mg_cancelled(f->context)) return MARGIN_ERROR_CANCELLED;
        note_value(set, cell(&p->x, mg_sample_row(p, i), f->columns[number]));
    }
    for (int v = 0; v < SMALL && !set->too_many; v++)
        if (set->small[v]) bayes_values_add_value(set, v);
    return MARGIN_OK;
}

static margin_status refuse_measurement(const mg_problem *problem, int64_t column,
                                        const value_set *set, margin_error *error) {
    char buffer[32];
    return mg_fail(error, MG_DATA(CATEGORIES),
                   "naive-bayes: column %s has more than %lld different values (%s, for one), "
                   "which looks like a measurement and not like categories; take "
                   "distribution=gaussian for it",
                   mg_column_name(problem->columns, column, buffer), (long long)set->count - 1,
                   mg_number(set->values[set->count / 2]).text);
}

static margin_status keep_values(const finder *f, int64_t count, int64_t *levels, double **values,
                                 margin_error *error) {
    int64_t total = 0, at = 0;
    for (int64_t c = 0; c < count; c++) {
        if (f->sets[c].too_many)
            return refuse_measurement(f->problem, f->columns[c], &f->sets[c], error);
        levels[f->columns[c]] = f->sets[c].count;
        total += f->sets[c].count;
    }
    MG_NEW(f->context->heap, *values, total, "the values of columns", error);
    for (int64_t c = 0; c < count; at += f->sets[c].count, c++)
        memcpy(*values + at, f->sets[c].values, (size_t)f->sets[c].count * sizeof **values);
    return MARGIN_OK;
}

margin_status mg_bayes_find_values(margin_context *context, const mg_problem *problem,
                                   const int32_t *kinds, int64_t *levels, double **values,
                                   margin_error *error) {
    finder f = {.context = context, .problem = problem};
    mg_heap *heap = context->heap;
    int64_t *columns, count = 0;
    MG_SCOPED_ARENA(arena, heap);
    MG_ARENA_NEW(&arena, columns, problem->x.columns, "the values of columns", error);
    for (int64_t j = 0; j < problem->x.columns; j++) {
        levels[j] = kinds[j] == MG_BAYES_CODES ? problem->columns[j].category_count : 0;
        if (kinds[j] == MG_BAYES_VALUES) columns[count++] = j;
    }
    f.columns = columns;
    MG_ARENA_NEW(&arena, f.sets, count, "the values of columns", error);
    memset(f.sets, 0, (size_t)count * sizeof *f.sets);
    if (mg_parallel(context, count, find_task, &f, NULL) < 0) return mg_fail_cancelled(error);
    return keep_values(&f, count, levels, values, error);
}
