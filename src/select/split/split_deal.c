/* Who gets which part.
 *
 * Rows by themselves: they are shuffled and brought into the order of their classes (one class: as
 * they are). Folds are dealt round and round, so that each class and the whole differ by at most
 * one row between folds. A part of q of m rows takes every m/q-th of them (Bresenham's line), so
 * that it has exactly q rows and of each class its share to within one. Groups: from the largest to
 * the smallest, equal ones in shuffled order, each to the part where it raises sum over parts p and
 * classes c of count_pc^2 / (share_p N_c^2) least, of equal ones to the one with fewer rows for its
 * share. That sum is least where every part has its share
 * of each class; with one class and equal shares it is the rule of the least loaded machine
 * (Graham, "Bounds on multiprocessing timing anomalies", 1969). In later repeats each size is taken
 * times a number drawn from 1/2 to 1, so that groups come in another order and the large ones still
 * first. Times: runs of rows by their place in order; equal times go where the first of them goes.
 */
#include "select/split/split_deal.h"
#include "base/cancelled_at.h"

#include "base/random.h"
#include "base/sort.h"

#include <math.h>
#include <string.h>

/* The rows in shuffled order, class after class. */
static margin_status shuffle_rows(const mg_deal *d, int64_t *order, margin_error *error) {
    int64_t *places;
    for (int64_t i = 0; i < d->rows; i++)
        order[i] = i;
    if (!d->in_order &&
        !mg_random_shuffle_many(d->context, d->seed, MG_RANDOM_SPLIT, d->round, order, d->rows))
        return mg_fail_cancelled(error);
    if (!d->classes) return MARGIN_OK;
    MG_NEW(d->context->heap, places, d->classes->count + d->rows, "the order of the rows", error);
    int64_t *shuffled = places + d->classes->count;
    memcpy(places, d->classes->starts, (size_t)d->classes->count * sizeof *places);
    memcpy(shuffled, order, (size_t)d->rows * sizeof *shuffled);
    for (int64_t i = 0; i < d->rows && !mg_cancelled_at(d->context, i); i++)
        order[places[d->classes->number[shuffled[i]]]++] = shuffled[i];
    mg_free(d->context->heap, places);
    return mg_cancelled(d->context) ? mg_fail_cancelled(error) : MARGIN_OK;
}

static void deal_folds(const mg_deal *d, const int64_t *order, int32_t *part) {
    for (int64_t i = 0; i < d->rows; i++)
        part[order[i]] = (int32_t)(d->in_order ? i * d->folds / d->rows : i % d->folds);
}

/* Gives q of the rows that still are in training, and may leave it, to part `to`. */
static void take_share(const mg_deal *d, const int64_t *order, int64_t rows, int64_t q, int32_t to,
                       int32_t *part) {
    int64_t left = 0, balance, seen = 0;
    for (int64_t i = 0; i < rows; i++)
        left += part[order[i]] == MARGIN_PART_TRAIN;
    balance = left / 2;
    for (int64_t i = 0; i < rows; i++) {
        if (part[order[i]] != MARGIN_PART_TRAIN) continue;
        balance += q;
        seen++;
        if (d->in_order ? seen > left - q : balance >= left) part[order[i]] = to;
        if (balance >= left) balance -= left;
    }
}

/* Rows of a part of this share: at least one, and one must be left. */
static int64_t rows_of(double share, int64_t rows) {
    const int64_t q = (int64_t)floor(share * (double)rows + 0.5);
    return MG_MAX((int64_t)1, MG_MIN(q, rows - 1));
}

/* A class of one row stays in training: taken off the order. Returns how many rows remain. */
static int64_t leave_single(const mg_deal *d, int64_t *order) {
    int64_t kept = 0;
    for (int64_t i = 0; i < d->rows; i++) {
        const int64_t *starts =
            d->classes ? d->classes->starts + d->classes->number[order[i]] : NULL;
        if (!starts || starts[1] - starts[0] > 1) order[kept++] = order[i];
    }
    return kept;
}

static margin_status check_learnable(const mg_deal *d, const int32_t *part, margin_error *error) {
    for (int64_t c = 0; d->classes && c < d->classes->count; c++) {
        bool trained = false;
        for (int64_t i = d->classes->starts[c]; i < d->classes->starts[c + 1] && !trained; i++)
            trained = part[d->classes->order[i]] == MARGIN_PART_TRAIN;
        MG_REQUIRE(trained, error, MG_DATA(FEW_ROWS),
                   "the shares leave no row of class number %lld to train on; take smaller ones",
                   (long long)c + 1);
    }
    return MARGIN_OK;
}

static margin_status deal_shares(const mg_deal *d, int64_t *order, int32_t *part,
                                 margin_error *error) {
    const int64_t test = rows_of(d->test, d->rows),
                  validation = d->validation > 0 ? rows_of(d->validation, d->rows) : 0;
    memset(part, 0, (size_t)d->rows * sizeof *part);
    const int64_t rows = leave_single(d, order);
    MG_REQUIRE(test + validation <= rows && test + validation < d->rows, error, MG_DATA(FEW_ROWS),
               "%lld rows, %lld of them alone in their class, cannot be split like that%s",
               (long long)d->rows, (long long)(d->rows - rows),
               2 * rows < d->rows ? ": the target looks like a measurement, which has no classes "
                                    "to share out (margin_split_options.stratify)"
                                  : "");
    take_share(d, order, rows, test, MARGIN_PART_TEST, part);
    if (validation) take_share(d, order, rows, validation, MARGIN_PART_VALIDATION, part);
    return check_learnable(d, part, error);
}

static margin_status deal_rows(const mg_deal *d, int32_t *part, margin_error *error) {
    int64_t *order;
    margin_status status;
    MG_NEW(d->context->heap, order, d->rows, "the order of the rows", error);
    status = shuffle_rows(d, order, error);
    if (status >= 0 && d->folds)
        deal_folds(d, order, part);
    else if (status >= 0)
        status = deal_shares(d, order, part, error);
    mg_free(d->context->heap, order);
    return status;
}

/* ---- Groups ---------------------------------------------------------------------------------- */

/* What the parts hold so far, and the group that comes next. */
typedef struct {
    int64_t bins, classes;
    double share[3]; /* stated shares; else all are equal */
    double *count;   /* bins x classes */
    double *of_class, *of_group;
} grouping;

/* By how much the group would raise the sum in part p. */
static double group_cost(const grouping *g, int64_t p) {
    const double *count = g->count + p * g->classes;
    double cost = 0;
    for (int64_t c = 0; c < g->classes; c++)
        if (g->of_group[c] > 0)
            cost += g->of_group[c] * (2 * count[c] + g->of_group[c]) /
                    (g->of_class[c] * g->of_class[c]);
    return g->share[0] > 0 ? cost / g->share[p] : cost;
}

static bool is_emptier(const grouping *g, int64_t p, int64_t other) {
    double rows = 0, against = 0;
    for (int64_t c = 0; c < g->classes; c++) {
        rows += g->count[p * g->classes + c];
        against += g->count[other * g->classes + c];
    }
    return g->share[0] > 0 ? rows * g->share[other] < against * g->share[p] : rows < against;
}

static void place_group(const mg_deal *d, grouping *g, int64_t group, int32_t *part) {
    const int64_t first = d->groups->starts[group], last = d->groups->starts[group + 1];
    const int64_t *members = d->groups->order;
    int64_t best = -1;
    double least = 0;
    memset(g->of_group, 0, (size_t)g->classes * sizeof *g->of_group);
    for (int64_t i = first; i < last; i++)
        g->of_group[d->classes ? d->classes->number[members[i]] : 0]++;
    for (int64_t p = 0; p < g->bins; p++) {
        if (g->share[0] > 0 && !(g->share[p] > 0)) continue;
        const double cost = group_cost(g, p);
        if (best >= 0 && (cost > least || (cost == least && !is_emptier(g, p, best)))) continue;
        best = p;
        least = cost;
    }
    for (int64_t c = 0; c < g->classes; c++)
        g->count[best * g->classes + c] += g->of_group[c];
    for (int64_t i = first; i < last; i++)
        part[members[i]] = (int32_t)best;
}

/* Draws the order in which groups are placed. order, sizes: twice, once as many as groups. */
static margin_status order_groups(const mg_deal *d, bool by_size, int64_t *order, double *sizes,
                                  margin_error *error) {
    const int64_t count = d->groups->count, *starts = d->groups->starts;
    for (int64_t i = 0; i < count; i++) {
        const uint64_t index = d->round << 40 | (uint64_t)i;
        const double drawn = by_size ? 1 : mg_random_unit(d->seed, MG_RANDOM_SAMPLE, index);
        order[i] = i;
        sizes[i] = -(1 + drawn) * (double)(starts[i + 1] - starts[i]);
    }
    if (!mg_random_shuffle_many(d->context, d->seed, MG_RANDOM_SPLIT, d->round, order, count) ||
        !mg_sort(d->context, order, count, order + count, mg_lower_at, sizes))
        return mg_fail_cancelled(error);
    return MARGIN_OK;
}

static margin_status place_groups(const mg_deal *d, grouping *g, const int64_t *order,
                                  int32_t *part, margin_error *error) {
    memset(g->count, 0, (size_t)(g->bins * g->classes) * sizeof *g->count);
    for (int64_t i = 0; i < d->groups->count; i++) {
        if (mg_cancelled_at(d->context, i)) return mg_fail_cancelled(error);
        place_group(d, g, order[i], part);
    }
    return MARGIN_OK;
}

static bool has_empty(const grouping *g) {
    for (int64_t p = 0; p < g->bins; p++) {
        double rows = 0;
        for (int64_t c = 0; c < g->classes; c++)
            rows += g->count[p * g->classes + c];
        if (rows == 0 && (g->share[0] == 0 || g->share[p] > 0)) return true;
    }
    return false;
}

static void share_parts(const mg_deal *d, grouping *g) {
    if (!d->folds) {
        g->share[MARGIN_PART_TRAIN] = 1 - d->test - d->validation;
        g->share[MARGIN_PART_TEST] = d->test;
        g->share[MARGIN_PART_VALIDATION] = d->validation;
    }
    memset(g->of_class, 0, (size_t)g->classes * sizeof *g->of_class);
    for (int64_t i = 0; i < d->rows; i++)
        g->of_class[d->classes ? d->classes->number[i] : 0]++;
}

static margin_status deal_groups(const mg_deal *d, int32_t *part, margin_error *error) {
    grouping g = {.bins = d->folds ? d->folds : 3, .classes = d->classes ? d->classes->count : 1};
    int64_t *order;
    double *numbers;
    const int64_t cells = (g.bins + 2) * g.classes;
    MG_SCOPED_ARENA(arena, d->context->heap);
    MG_ARENA_NEW(&arena, order, 2 * d->groups->count, "the order of the groups", error);
    MG_ARENA_NEW(&arena, numbers, cells + d->groups->count, "the classes of the parts", error);
    g.count = numbers;
    g.of_class = numbers + g.bins * g.classes;
    g.of_group = g.of_class + g.classes;
    share_parts(d, &g);
    for (int drawn = d->round > 0; drawn >= 0; drawn--) { /* where that leaves a part empty: anew */
        MG_TRY(order_groups(d, !drawn, order, numbers + cells, error));
        MG_TRY(place_groups(d, &g, order, part, error));
        if (!has_empty(&g)) break;
    }
    return MARGIN_OK;
}

/* ---- Times ----------------------------------------------------------------------------------- */

/* The run of the row at place `at` of those in order of time. */
static int32_t run_of(const mg_deal *d, int64_t at) {
    if (d->folds) return (int32_t)(at * (d->folds + 1) / d->rows);
    const int64_t test = rows_of(d->test, d->rows),
                  validation = d->validation > 0 ? rows_of(d->validation, d->rows) : 0;
    if (at >= d->rows - test) return MARGIN_PART_TEST;
    return at >= d->rows - test - validation ? MARGIN_PART_VALIDATION : MARGIN_PART_TRAIN;
}

static void deal_times(const mg_deal *d, int32_t *part) {
    for (int64_t u = 0; u < d->times->count; u++)
        for (int64_t i = d->times->starts[u]; i < d->times->starts[u + 1]; i++)
            part[d->times->order[i]] = run_of(d, d->times->starts[u]);
}

margin_status mg_deal_parts(const mg_deal *deal, int32_t *part, margin_error *error) {
    if (deal->times) {
        deal_times(deal, part);
        return MARGIN_OK;
    }
    return deal->groups ? deal_groups(deal, part, error) : deal_rows(deal, part, error);
}
