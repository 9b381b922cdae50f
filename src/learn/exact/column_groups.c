#include "learn/exact/column_groups.h"

#include "base/random.h"

#include <math.h>
#include <string.h>

/* ---- Finding --------------------------------------------------------------------------------- */

/* Each row has a random number of 64 bits, each column the sum of those of its rows times its
 * values: runs whose sums add to that of all rows are candidates, which every row then confirms. */
typedef struct groups_run {
    const mg_problem *problem;
    const double *weights;
    int64_t columns;
    uint64_t *sum; /* columns */
    bool *whole;   /* columns: of whole numbers */
    uint64_t all;
    int64_t *slot, mask; /* a hash table of columns: where a sum before them is found */
    int32_t *group;      /* columns: number of the run, or -1 */
    int64_t *total;      /* runs: of a row */
} groups_run;

static bool is_whole(double value) {
    static const double most = 1e9;
    return fabs(value) <= most && value == (double)(int64_t)value;
}

/* *none: a row has no whole number, so that no run has one of its. */
static margin_status add_rows(groups_run *run, const margin_context *context, bool *none,
                              margin_error *error) {
    const margin_matrix *x = &run->problem->x;
    *none = false;
    for (int64_t i = 0; i < run->problem->count && !*none; i++) {
        if (mg_cancelled(context)) return mg_fail_cancelled(error);
        if (run->weights && !(run->weights[i] > 0.0)) continue;
        const int64_t row = mg_sample_row(run->problem, i), end = mg_row_start(x, row + 1);
        const uint64_t own = mg_random_u64(0, MG_RANDOM_CHECK, (uint64_t)i);
        *none = true;
        for (int64_t e = mg_row_start(x, row); e < end; e++) {
            const int64_t j = mg_column_index(x, e);
            const double value = mg_stored_value(x, e);
            if (!is_whole(value)) {
                run->whole[j] = false;
                continue;
            }
            *none = false;
            run->sum[j] += own * (uint64_t)(int64_t)value;
        }
        run->all += own;
    }
    return MARGIN_OK;
}

/* The place of a sum in the table: where it is, or where it would be. */
static int64_t place_of_sum(const groups_run *run, const uint64_t *before, uint64_t sum) {
    int64_t at = (int64_t)(sum >> 20) & run->mask;
    while (run->slot[at] >= 0 && before[run->slot[at]] != sum)
        at = (at + 1) & run->mask;
    return at;
}

/* A scale of 0 makes a column constant, which it has to be. */
static bool may_belong(const groups_run *run, int64_t j) {
    const double *scale = run->problem->scale;
    const bool constant = run->sum[j] == 0 || run->sum[j] == run->all;
    return run->whole[j] && (!scale || scale[j] != 0.0 || constant);
}

/* Runs from left to right, each as short as it can be. before[j]: the sum of the columns before
 * j; `from`: where the next run may begin. */
static void find_runs(groups_run *run, uint64_t *before, mg_column_groups *groups) {
    int64_t from = 0;
    before[0] = 0;
    for (int64_t j = 0; j <= run->mask; j++)
        run->slot[j] = -1;
    for (int64_t j = 0; j < run->columns; j++) {
        run->slot[place_of_sum(run, before, before[j])] = j;
        before[j + 1] = before[j] + run->sum[j];
        if (!may_belong(run, j)) from = j + 1;
        const int64_t first = run->slot[place_of_sum(run, before, before[j + 1] - run->all)];
        if (first < from) continue;
        groups->first[groups->count] = first;
        groups->end[groups->count++] = from = j + 1;
    }
}

static bool row_agrees(groups_run *run, const mg_column_groups *groups, int64_t i) {
    const margin_matrix *x = &run->problem->x;
    const int64_t row = mg_sample_row(run->problem, i);
    const int64_t begin = mg_row_start(x, row), end = mg_row_start(x, row + 1);
    int64_t ones = 0;
    for (int64_t e = begin; e < end; e++) {
        const int32_t g = run->group[mg_column_index(x, e)];
        if (g < 0) continue;
        ones -= run->total[g] == 1;
        run->total[g] += (int64_t)mg_stored_value(x, e);
        ones += run->total[g] == 1;
    }
    for (int64_t e = begin; e < end; e++) {
        const int32_t g = run->group[mg_column_index(x, e)];
        if (g >= 0) run->total[g] = 0;
    }
    return ones == groups->count;
}

static margin_status confirm(groups_run *run, const margin_context *context,
                             mg_column_groups *groups, margin_error *error) {
    for (int64_t j = 0; j < run->columns; j++)
        run->group[j] = -1;
    for (int64_t g = 0; g < groups->count; g++) {
        run->total[g] = 0;
        for (int64_t j = groups->first[g]; j < groups->end[g]; j++)
            run->group[j] = (int32_t)g;
    }
    for (int64_t i = 0; i < run->problem->count && groups->count > 0; i++) {
        if (mg_cancelled(context)) return mg_fail_cancelled(error);
        if (run->weights && !(run->weights[i] > 0.0)) continue;
        if (!row_agrees(run, groups, i)) groups->count = 0;
    }
    return MARGIN_OK;
}

/* All rows have one 1 and nothing else: all columns are one run. */
static bool is_one_run(const groups_run *run) {
    const mg_problem *p = run->problem;
    for (int64_t j = 0; p->scale && j < run->columns; j++)
        if (p->scale[j] == 0.0) return false;
    for (int64_t i = 0; i < p->count; i++) {
        const int64_t row = mg_sample_row(p, i), at = mg_row_start(&p->x, row);
        if (run->weights && !(run->weights[i] > 0.0)) continue;
        if (mg_row_start(&p->x, row + 1) != at + 1 || mg_stored_value(&p->x, at) != 1.0)
            return false;
    }
    return true;
}

/* In the units of the problem. */
static void set_entries(const groups_run *run, bool intercept, mg_column_groups *groups) {
    const mg_problem *p = run->problem;
    memset(groups->entry, 0, (size_t)run->columns * sizeof *groups->entry);
    for (int64_t g = 0; g < groups->count; g++) {
        groups->sum[g] = intercept ? 0.0 : 1.0;
        for (int64_t j = groups->first[g]; j < groups->end[g]; j++) {
            const double scale = p->scale ? p->scale[j] : 1.0;
            groups->entry[j] = scale != 0.0 ? 1.0 / scale : 0.0;
        }
    }
}

margin_status mg_column_groups_find(margin_context *context, const mg_problem *problem,
                                    bool intercept, const double *weights, mg_arena *arena,
                                    mg_column_groups *groups, margin_error *error) {
    static const char purpose[] = "the categories";
    const int64_t n = problem->x.columns;
    groups_run run = {.problem = problem, .weights = weights, .columns = n, .mask = 1};
    uint64_t *before;
    bool none;
    *groups = (mg_column_groups){0};
    if (!mg_is_csr(&problem->x) || problem->maker || n > INT32_MAX) return MARGIN_OK;
    if (problem->shift && !intercept) return MARGIN_OK; /* rounded */
    MG_SCOPED_ARENA(scratch, context->heap);
    while (run.mask < 2 * n)
        run.mask = 2 * run.mask + 1;
    MG_TRY(MG_PIECES(&scratch, purpose, error, MG_PIECE(run.sum, n), MG_PIECE(run.whole, n),
                     MG_PIECE(run.group, n), MG_PIECE(run.total, n), MG_PIECE(before, n + 1),
                     MG_PIECE(run.slot, run.mask + 1)));
    memset(run.sum, 0, (size_t)n * sizeof *run.sum);
    memset(run.whole, 1, (size_t)n * sizeof *run.whole);
    const bool one = is_one_run(&run);
    if (!one) MG_TRY(add_rows(&run, context, &none, error));
    if (!one && none) return MARGIN_OK;
    MG_TRY(MG_PIECES(arena, purpose, error, MG_PIECE(groups->first, n), MG_PIECE(groups->end, n),
                     MG_PIECE(groups->entry, n), MG_PIECE(groups->sum, n),
                     MG_PIECE(groups->part, 4 * n)));
    if (one) {
        groups->first[0] = 0;
        groups->end[0] = n;
        groups->count = 1;
    } else {
        find_runs(&run, before, groups);
        MG_TRY(confirm(&run, context, groups, error));
    }
    set_entries(&run, intercept, groups);
    return MARGIN_OK;
}

/* ---- Directions ------------------------------------------------------------------------------ */

/* |entry of run g in these units|^2 */
static double square_of_run(const mg_column_groups *groups, const double *unit, int64_t g) {
    double square = 0.0;
    for (int64_t j = groups->first[g]; j < groups->end[g]; j++)
        square += groups->entry[j] * unit[j] * (groups->entry[j] * unit[j]);
    return square;
}

int64_t mg_column_groups_rank(const mg_column_groups *groups, const double *unit) {
    int64_t rank = 0;
    bool summed = false;
    for (int64_t g = 0; g < groups->count; g++)
        if (square_of_run(groups, unit, g) > 0.0) {
            rank++;
            summed |= groups->sum[g] != 0.0;
        }
    return rank - summed;
}

/* Runs have no column in common: the part along each is by itself, less what changes the sum of the
 * rows where no intercept takes it. */
void mg_column_groups_add(const mg_column_groups *groups, const double *unit, double factor,
                          const double *v, int lanes, double *out) {
    double along[4] = {0.0}, all = 0.0;
    for (int64_t g = 0; g < groups->count; g++) {
        const double square = square_of_run(groups, unit, g), sum = groups->sum[g];
        double *part = groups->part + g * lanes;
        for (int l = 0; l < lanes; l++)
            part[l] = 0.0;
        if (!(square > 0.0)) continue;
        for (int64_t j = groups->first[g]; j < groups->end[g]; j++)
            for (int l = 0; l < lanes; l++)
                part[l] += groups->entry[j] * unit[j] * v[j * lanes + l];
        all += sum * sum / square;
        for (int l = 0; l < lanes; l++) {
            part[l] /= square;
            along[l] += sum * part[l];
        }
    }
    for (int64_t g = 0; g < groups->count; g++) {
        const double square = square_of_run(groups, unit, g);
        double *part = groups->part + g * lanes;
        for (int l = 0; l < lanes && all > 0.0; l++)
            part[l] -= square > 0.0 ? along[l] / all * groups->sum[g] / square : 0.0;
        for (int64_t j = groups->first[g]; j < groups->end[g]; j++)
            for (int l = 0; l < lanes; l++)
                out[j * lanes + l] += factor * groups->entry[j] * unit[j] * part[l];
    }
}

/* ---- Rows of one value ----------------------------------------------------------------------- */

bool mg_columns_are_apart(const mg_problem *problem) {
    if (!mg_is_csr(&problem->x)) return false;
    for (int64_t i = 0; i < problem->count; i++) {
        const int64_t row = mg_sample_row(problem, i);
        if (mg_row_start(&problem->x, row + 1) - mg_row_start(&problem->x, row) > 1) return false;
    }
    return true;
}

/* ---- Columns of one class -------------------------------------------------------------------- */

margin_status mg_column_recedes(margin_context *context, const mg_problem *problem, bool intercept,
                                const double *weights, int64_t *column, margin_error *error) {
    enum { POLL = 4096 };
    const margin_matrix *x = &problem->x;
    int64_t *key; /* columns: 0 before the first value, -1 where they do not agree */
    MG_SCOPED_ARENA(arena, context->heap);
    *column = -1;
    if (!mg_is_csr(x) || problem->maker || (problem->shift && !intercept)) return MARGIN_OK;
    MG_ARENA_NEW(&arena, key, x->columns, "the columns of classes", error);
    memset(key, 0, (size_t)x->columns * sizeof *key);
    int64_t open = x->columns;
    for (int64_t i = 0; i < problem->count && open > 0; i++) {
        const int64_t row = mg_sample_row(problem, i), end = mg_row_start(x, row + 1);
        if (i % POLL == 0 && mg_cancelled(context)) return mg_fail_cancelled(error);
        for (int64_t e = mg_row_start(x, row); e < end && weights[i] > 0.0; e++) {
            const double value = mg_stored_value(x, e);
            int64_t *at = key + mg_column_index(x, e);
            const int64_t own = problem->sign ? 1 + (value * problem->sign[i] > 0.0)
                                              : 2 * problem->code[i] + 1 + (value > 0.0);
            if (value == 0.0 || *at == -1) continue;
            open -= *at != 0 && *at != own;
            *at = *at == 0 || *at == own ? own : -1;
        }
    }
    for (int64_t j = x->columns - 1; j >= 0; j--)
        if (key[j] > 0 && !(problem->scale && problem->scale[j] == 0.0)) *column = j;
    return MARGIN_OK;
}
