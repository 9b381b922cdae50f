/* Sparse rows by columns: the copy and the sums over it. */
#include "linear/design/design_columns.h"

#include "base/sort.h"

enum { RANGES = 64 }; /* of columns, of about as many stored values each */

/* ---- The copy -------------------------------------------------------------------------------- */

static bool may_copy(const mg_design *d, int64_t stored) {
    const int64_t place = 8 + 8 * mg_sparse_parts(&d->problem->x, stored);
    if (stored > INT32_MAX || d->samples > INT32_MAX) return false;
    return mg_fits_limit(d->heap, 12 * stored + d->columns * place, 4);
}

margin_status mg_design_store_columns(mg_design *d, margin_error *error) {
    const mg_problem *p = d->problem;
    if (d->by_column || !mg_is_csr(&p->x) ||
        !may_copy(d, mg_sparse_count(&p->x, p->index, p->count)))
        return MARGIN_OK;
    mg_sparse_columns *made;
    MG_ARENA_NEW(&d->arena, made, 1, "a copy of the rows by columns", error);
    MG_TRY(mg_sparse_columns_make(d->context, &p->x, p->index, p->count, NULL, made, error));
    d->by_column = made;
    return MARGIN_OK;
}

/* ---- Sums ------------------------------------------------------------------------------------ */

typedef struct column_walk {
    const mg_design *d;
    void (*visit)(const struct column_walk *walk, int64_t j);
    const double *r;
    double total;
    double *first, *second; /* columns: results */
} column_walk;

/* The first column of a range: ranges have as many stored values and columns together. */
static int64_t first_of_range(const mg_design *d, int64_t range) {
    const int64_t *starts = d->by_column->starts, all = starts[d->columns] + d->columns;
    const int64_t wanted = all / RANGES * range + all % RANGES * range / RANGES;
    int64_t j;
    MG_BISECT(j, 0, d->columns, starts[j] + j < wanted);
    return j;
}

static margin_status visit_range(void *argument, int64_t range, int worker) {
    const column_walk *walk = argument;
    const int64_t end = first_of_range(walk->d, range + 1);
    (void)worker;
    for (int64_t j = first_of_range(walk->d, range); j < end; j++)
        walk->visit(walk, j);
    return MARGIN_OK;
}

/* In pairs: see design_loss.c. */
static double column_dot(const mg_sparse_columns *x, int64_t begin, int64_t end, const double *r) {
    enum { FEW = 128 };
    const int64_t middle = begin + (end - begin) / 2;
    double sum[4] = {0.0, 0.0, 0.0, 0.0};
    int64_t k = begin;
    if (end - begin > FEW) return column_dot(x, begin, middle, r) + column_dot(x, middle, end, r);
    for (; k + 4 <= end; k += 4)
        for (int s = 0; s < 4; s++)
            sum[s] += x->values[k + s] * r[x->samples[k + s]];
    for (int s = 0; k < end; k++, s++)
        sum[s] += x->values[k] * r[x->samples[k]];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static void find_sum(const column_walk *walk, int64_t j) {
    const mg_sparse_columns *x = walk->d->by_column;
    walk->first[j] = column_dot(x, x->starts[j], x->starts[j + 1], walk->r);
}

margin_status mg_design_column_sums(const mg_design *d, const double *r, double *gradient,
                                    margin_error *error) {
    column_walk walk = {.d = d, .visit = find_sum, .r = r, .first = gradient};
    return mg_parallel(d->context, RANGES, visit_range, &walk, error);
}

/* About the mean itself, so that nothing cancels; the zeros have the rest of the weight. */
static void find_moments(const column_walk *walk, int64_t j) {
    const mg_sparse_columns *x = walk->d->by_column;
    const mg_problem *problem = walk->d->problem;
    const int64_t begin = x->starts[j], end = x->starts[j + 1];
    double sum = 0.0, stored = 0.0, squares = 0.0;
    for (int64_t k = begin; k < end; k++) {
        const double weight = mg_sample_weight(problem, x->samples[k]);
        sum += weight * x->values[k];
        stored += weight;
    }
    const double mean = sum / walk->total;
    for (int64_t k = begin; k < end; k++) {
        const double off = x->values[k] - mean;
        squares += mg_sample_weight(problem, x->samples[k]) * off * off;
    }
    if (end - begin < problem->count) squares += fmax(walk->total - stored, 0.0) * mean * mean;
    walk->first[j] = mean;
    walk->second[j] = squares / walk->total;
}

margin_status mg_design_column_moments(const mg_design *d, double total, double *mean,
                                       double *variance, margin_error *error) {
    column_walk walk = {
        .d = d, .visit = find_moments, .total = total, .first = mean, .second = variance};
    return mg_parallel(d->context, RANGES, visit_range, &walk, error);
}
