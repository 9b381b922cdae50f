/* The sufficient statistics, in one sweep.
 *
 * Dense numbers are summed about a pivot, the first row of their class in the block, so that
 * variances do not cancel; where weights make them cancel all the same, the block is summed once
 * more, about the means. Blocks are joined by Chan's formula. Counts and 0/1 numbers are summed a
 * block at a time, too. A block with gaps, and sparse data, go value by value (West, "Updating mean
 * and variance estimates: an improved method", 1979). What sparse data do not store is made up for
 * at the end: all of it is 0. */
#include "bayes/learner/bayes.h"
#include "bayes/rows/bayes_entries.h"
#include "math/rows/sparse_row.h"

#include <string.h>

/* A state: weight of each class; missing; statistics; sparse data: weight of what is stored. */
typedef struct counter {
    margin_context *context;
    const mg_problem *problem;
    const mg_bayes_layout *layout;
    const mg_bayes_rows *rows, *rows_of_data; /* of gathered numbers, if they are; never */
    int64_t state_numbers;
    double *scratch; /* per worker: pivot, first, second, weights of classes; gathered rows */
    int64_t scratch_numbers, table_numbers; /* classes x stride */
    int64_t stride;                         /* gaussians rounded up: rows of tables are aligned */
    bool gather;                            /* gaussian columns lie between others */
    int64_t ahead;                          /* rows fetched ahead of those that are summed */
    int64_t linear_stride;                  /* of a table of counts and 0/1 numbers */
    double *linear;                         /* per worker: such a table, weights of classes */
    int64_t linear_numbers;
} counter;

enum { CHUNK = 64, LEAST_BLOCK = 2048 };

static double *state_missing(const counter *c, double *state) {
    return state + c->layout->classes;
}
static double *state_statistics(const counter *c, double *state) {
    return state + c->layout->classes + 1;
}
static double *state_stored(const counter *c, double *state) {
    return state_statistics(c, state) + c->layout->classes * c->layout->slots;
}

/* ---- Value by value -------------------------------------------------------------------------- */

/* False: the value cannot be counted. */
static bool bayes_count_add_value(const counter *c, double *state, int64_t k, int64_t j,
                                  double value, double weight) {
    const mg_bayes_layout *layout = c->layout;
    double *slots = state_statistics(c, state) + k * layout->slots + layout->first[j];
    if (isnan(value)) {
        *state_missing(c, state) += weight;
        return true;
    }
    if (isinf(value)) return false;
    switch (layout->kinds[j]) {
    case MG_BAYES_GAUSSIAN:
        mg_bayes_add_moment(slots, value, weight);
        return true;
    case MG_BAYES_BERNOULLI:
        slots[MG_BAYES_SEEN] += weight;
        slots[MG_BAYES_ONES] += value > 0 ? weight : 0.0; /* no branch: as often as not */
        return true;
    case MG_BAYES_MULTINOMIAL:
        slots[0] += weight * value;
        return value >= 0;
    }
    const int64_t level = mg_bayes_level(layout, j, value);
    if (level == layout->levels[j]) return false;
    slots[level] += weight;
    return true;
}

static bool add_listed(const counter *c, double *state, const mg_block *block,
                       const int64_t *columns, int64_t count) {
    const mg_problem *p = c->problem;
    bool good = true;
    for (int64_t i = block->first; i < block->first + block->count && count > 0; i++) {
        const int64_t row = mg_sample_row(p, i) * p->x.stride;
        const double weight = mg_sample_weight(p, i);
        for (int64_t n = 0; n < count; n++)
            good &= bayes_count_add_value(c, state, p->code[i], columns[n],
                                          mg_stored_value(&p->x, row + columns[n]), weight);
    }
    return good;
}

/* Entries of a row where all columns hold 0/1 numbers, or all counts: what they count, and of the
 * former not that they are seen, as if they were not stored. */
static bool add_alike(const counter *c, double *slots, double weight, int64_t *columns,
                      double *values, int64_t count) {
    const bool counts = c->layout->kinds[0] == MG_BAYES_MULTINOMIAL;
    const int64_t used = mg_bayes_factors(counts, count, columns, values);
    for (int64_t e = 0; e < used; e++)
        slots[counts ? columns[e] : columns[e] * MG_BAYES_TRIALS + MG_BAYES_ONES] +=
            weight * values[e];
    return used >= 0;
}

static bool add_sparse(const counter *c, double *state, const mg_block *block) {
    const mg_problem *p = c->problem;
    int64_t columns[CHUNK];
    double values[CHUNK];
    bool good = true;
    for (int64_t i = block->first; i < block->first + block->count; i++) {
        const int64_t row = mg_sample_row(p, i), k = p->code[i], end = mg_row_start(&p->x, row + 1);
        const double weight = mg_sample_weight(p, i);
        double *stored = state_stored(c, state) + k * c->layout->columns;
        double *slots = state_statistics(c, state) + k * c->layout->slots;
        for (int64_t at = mg_row_start(&p->x, row), count; at < end; at += count) {
            count = MG_MIN(CHUNK, end - at);
            mg_stored_columns(&p->x, at, count, columns);
            mg_stored_values(&p->x, at, count, values);
            if (c->layout->alike && add_alike(c, slots, weight, columns, values, count)) continue;
            mg_stored_columns(&p->x, at, count, columns);
            mg_stored_values(&p->x, at, count, values);
            for (int64_t e = 0; e < count; e++) {
                stored[columns[e]] += weight;
                good &= bayes_count_add_value(c, state, k, columns[e], values[e], weight);
            }
        }
    }
    return good;
}

/* ---- A block of numbers ---------------------------------------------------------------------- */

/* The gaussian columns of a row, next to each other. */
static void gather_row(const counter *c, int64_t row, double *out) {
    const margin_matrix *x = &c->problem->x;
    for (int64_t g = 0; g < c->layout->gaussians; g++)
        out[g] = mg_stored_value(x, row * x->stride + c->layout->gaussian[g]);
}

/* Addresses of the samples [first, first + count + c->ahead), count <= CHUNK; beyond the last
 * sample that one again. */
static void find_rows(const counter *c, int64_t first, int64_t count, double *gathered,
                      const void **rows) {
    const mg_problem *p = c->problem;
    const int64_t size = mg_type_size(p->x.value_type), n = c->layout->gaussians;
    for (int64_t i = 0; i < count + c->ahead; i++) {
        const int64_t row = mg_sample_row(p, MG_MIN(first + i, p->count - 1));
        if (c->gather) gather_row(c, row, gathered + i * n);
        rows[i] = c->gather ? (const void *)(gathered + i * n)
                            : (const char *)p->x.values + row * p->x.stride * size;
    }
}

/* pivot: the first row of each class that occurs in the block; weights of the classes there. */
static void find_pivots(const counter *c, const mg_block *block, double *pivot, double *weights) {
    const mg_problem *p = c->problem;
    const int64_t classes = c->layout->classes;
    int64_t missing = classes;
    memset(weights, 0, (size_t)classes * sizeof *weights);
    for (int64_t i = block->first; i < block->first + block->count; i++) {
        const int64_t k = p->code[i];
        if (missing > 0 && weights[k] == 0) {
            gather_row(c, mg_sample_row(p, i), pivot + k * c->stride);
            missing--;
        }
        weights[k] += mg_sample_weight(p, i);
    }
}

static bool has_gap(const double *sums, int64_t count) {
    double sum = 0;
    for (int64_t j = 0; j < count; j++)
        sum += sums[j] * 0.0; /* NaN and infinity stay NaN */
    return isnan(sum);
}

/* Moves the pivots to the means if some variance is a small difference of large numbers: where the
 * first row of a class is far from the others and has little weight. */
static bool move_pivots(const counter *c, double *pivot, const double *first, const double *second,
                        const double *weights) {
    static const double little = 1e-5; /* with equal weights it is at least one part in the rows */
    const int64_t n = c->layout->gaussians;
    bool move = false;
    for (int64_t k = 0; k < c->layout->classes; k++)
        for (int64_t at = k * c->stride; at < k * c->stride + n && weights[k] > 0; at++)
            move |= second[at] - first[at] * (first[at] / weights[k]) < little * second[at];
    for (int64_t k = 0; k < c->layout->classes && move; k++)
        for (int64_t at = k * c->stride; at < k * c->stride + n && weights[k] > 0; at++)
            pivot[at] += first[at] / weights[k];
    return move;
}

static void join_block(const counter *c, const double *pivot, const double *first,
                       const double *second, const double *weights, double *state) {
    const mg_bayes_layout *layout = c->layout;
    double *statistics = state_statistics(c, state);
    for (int64_t k = 0; k < layout->classes; k++) {
        const double weight = weights[k];
        if (!(weight > 0)) continue;
        for (int64_t g = 0; g < layout->gaussians; g++) {
            const int64_t at = k * c->stride + g;
            const double shift = first[at] / weight, squares = second[at] - first[at] * shift;
            const double moments[MG_BAYES_MOMENTS] = {weight, pivot[at] + shift,
                                                      MG_MAX(squares, 0.0)};
            mg_bayes_join_moments(
                statistics + k * layout->slots + layout->first[layout->gaussian[g]], moments);
        }
    }
}

/* Sums about the pivots, of the rows of a block. */
static void sum_block(const counter *c, const mg_block *block, const double *pivot, double *first,
                      double *second, double *gathered) {
    const mg_problem *p = c->problem;
    const int64_t n = c->layout->gaussians;
    const void *rows[CHUNK + MG_BAYES_AHEAD];
    memset(first, 0, (size_t)(2 * c->table_numbers) * sizeof *first);
    for (int64_t at = block->first; at < block->first + block->count; at += CHUNK) {
        const int64_t count = MG_MIN(CHUNK, block->first + block->count - at);
        find_rows(c, at, count, gathered, rows);
        c->rows->moments(rows, c->ahead, p->code + at, p->weight ? p->weight + at : NULL, count, n,
                         c->stride, pivot, first, second);
    }
}

static bool add_numbers(const counter *c, const mg_block *block, double *state) {
    const int64_t n = c->layout->gaussians;
    double *pivot = c->scratch + block->worker * c->scratch_numbers;
    double *first = pivot + c->table_numbers, *second = first + c->table_numbers;
    double *weights = second + c->table_numbers, *gathered = weights + c->layout->classes;
    if (n == 0) return true;
    find_pivots(c, block, pivot, weights);
    sum_block(c, block, pivot, first, second, gathered);
    if (has_gap(first, c->table_numbers) || has_gap(second, c->table_numbers))
        return add_listed(c, state, block, c->layout->gaussian, n);
    if (move_pivots(c, pivot, first, second, weights))
        sum_block(c, block, pivot, first, second, gathered);
    join_block(c, pivot, first, second, weights, state);
    return true;
}

/* ---- A block of counts and 0/1 numbers ------------------------------------------------------- */

/* Into the table; false: there is a gap, and it is void. */
static bool tally_block(const counter *c, const mg_block *block, double *table) {
    const mg_problem *p = c->problem;
    const mg_bayes_layout *layout = c->layout;
    const int64_t size = mg_type_size(p->x.value_type);
    const void *rows[CHUNK];
    bool good = true;
    for (int64_t at = block->first; at < block->first + block->count && good; at += CHUNK) {
        const int64_t count = MG_MIN(CHUNK, block->first + block->count - at);
        const double *weights = p->weight ? p->weight + at : NULL;
        for (int64_t n = 0, run; n < layout->linears; n += run) {
            const int64_t j = layout->linear[n];
            run = mg_bayes_run(layout, n);
            for (int64_t i = 0; i < count; i++)
                rows[i] =
                    (const char *)p->x.values + (mg_sample_row(p, at + i) * p->x.stride + j) * size;
            good &=
                c->rows_of_data->tally(rows, p->code + at, weights, count, run, c->linear_stride,
                                       layout->kinds[j] == MG_BAYES_MULTINOMIAL, table + n);
        }
    }
    return good;
}

static void join_tally(const counter *c, const double *table, const double *weights,
                       double *state) {
    const mg_bayes_layout *layout = c->layout;
    for (int64_t k = 0; k < layout->classes; k++) {
        double *statistics = state_statistics(c, state) + k * layout->slots;
        for (int64_t n = 0; n < layout->linears && weights[k] > 0; n++) {
            double *slots = statistics + layout->first[layout->linear[n]];
            const double sum = table[k * c->linear_stride + n];
            if (layout->kinds[layout->linear[n]] == MG_BAYES_MULTINOMIAL) {
                slots[0] += sum;
                continue;
            }
            slots[MG_BAYES_SEEN] += weights[k];
            slots[MG_BAYES_ONES] += sum;
        }
    }
}

static bool add_linears(const counter *c, const mg_block *block, double *state) {
    const mg_problem *p = c->problem;
    const int64_t table_numbers = c->layout->classes * c->linear_stride;
    double *table = c->linear + block->worker * c->linear_numbers;
    double *weights = table + table_numbers;
    if (c->layout->linears == 0) return true;
    memset(table, 0, (size_t)c->linear_numbers * sizeof *table);
    for (int64_t i = block->first; i < block->first + block->count; i++)
        weights[p->code[i]] += mg_sample_weight(p, i);
    if (!tally_block(c, block, table))
        return add_listed(c, state, block, c->layout->linear, c->layout->linears);
    join_tally(c, table, weights, state);
    return true;
}

/* ---- The sweep ------------------------------------------------------------------------------- */

static void init_state(void *state, void *argument) {
    const counter *c = argument;
    memset(state, 0, (size_t)c->state_numbers * sizeof(double));
}

static margin_status bayes_count_add_block(void *state, const mg_block *block, void *argument) {
    const counter *c = argument;
    const mg_problem *p = c->problem;
    const mg_bayes_layout *layout = c->layout;
    double *classes = state;
    bool good = true;
    if (mg_cancelled(c->context)) return MARGIN_ERROR_CANCELLED;
    for (int64_t i = block->first; i < block->first + block->count; i++)
        classes[p->code[i]] += mg_sample_weight(p, i);
    if (mg_is_csr(&p->x)) {
        for (int64_t at = 0; at < block->count; at += LEAST_BLOCK) {
            const mg_block part = {.first = block->first + at,
                                   .count = MG_MIN(LEAST_BLOCK, block->count - at)};
            if (mg_cancelled(c->context)) return MARGIN_ERROR_CANCELLED;
            good &= add_sparse(c, state, &part);
        }
    } else {
        good = add_numbers(c, block, state);
        good &= add_listed(c, state, block, layout->table, layout->tables);
        good &= add_linears(c, block, state);
    }
    return good ? MARGIN_OK : MARGIN_ERROR_DATA;
}

static void merge_state(void *into, const void *from, void *argument) {
    const counter *c = argument;
    const mg_bayes_layout *layout = c->layout;
    double *a = into;
    const double *b = from;
    double *mine = state_statistics(c, a);
    const double *theirs = state_statistics(c, (double *)from);
    for (int64_t k = 0; k <= layout->classes; k++)
        a[k] += b[k];
    for (int64_t k = 0; k < layout->classes; k++)
        for (int64_t j = 0; j < layout->columns; j++) {
            const int64_t at = k * layout->slots + layout->first[j];
            if (layout->kinds[j] == MG_BAYES_GAUSSIAN) {
                mg_bayes_join_moments(mine + at, theirs + at);
                continue;
            }
            for (int64_t s = 0; s < mg_bayes_slots(layout, j); s++)
                mine[at + s] += theirs[at + s];
        }
    if (!mg_is_csr(&c->problem->x)) return;
    double *stored = state_stored(c, a);
    const double *more = state_stored(c, (double *)from);
    for (int64_t k = 0; k < layout->classes * layout->columns; k++)
        stored[k] += more[k];
}

/* ---- What is not stored ---------------------------------------------------------------------- */

static bool add_zeros(const counter *c, double *state) {
    const mg_bayes_layout *layout = c->layout;
    const double *stored = state_stored(c, state);
    bool good = true;
    if (!mg_is_csr(&c->problem->x)) return true;
    for (int64_t k = 0; k < layout->classes; k++)
        for (int64_t j = 0; j < layout->columns; j++) {
            const double rest = state[k] - stored[k * layout->columns + j];
            const double zeros[MG_BAYES_MOMENTS] = {rest, 0, 0};
            double *slots = state_statistics(c, state) + k * layout->slots + layout->first[j];
            if (!(rest > 0)) continue;
            if (layout->kinds[j] == MG_BAYES_GAUSSIAN)
                mg_bayes_join_moments(slots, zeros);
            else
                good &= bayes_count_add_value(c, state, k, j, 0.0, rest);
        }
    return good;
}

/* ---- Bad data -------------------------------------------------------------------------------- */

static margin_status fail_cell(const counter *c, int64_t i, int64_t j, double value,
                               margin_error *error) {
    const mg_problem *p = c->problem;
    const long long row = (long long)mg_sample_original(p, i) + 1;
    char buffer[32];
    const char *name = mg_column_name(p->columns, j, buffer);
    const mg_place place = {.row = row};
    if (c->layout->kinds[j] == MG_BAYES_MULTINOMIAL)
        return mg_fail_at(error, MG_DATA(NEGATIVE_VALUE), place,
                          "row %lld has the value %s in column %s; multinomial columns hold "
                          "counts, which are not negative (gaussian takes any number)",
                          row, mg_number(value).text, name);
    return mg_fail_at(error, MG_DATA(UNKNOWN_CATEGORY), place,
                      "row %lld has the code %s in column %s, which has %lld categories", row,
                      mg_number(value).text, name, (long long)c->layout->levels[j]);
}

/* Finds the first value that cannot be counted: only called when there is one. Infinite ones are
 * named as for every learner. */
static margin_status fail_first(const counter *c, double *state, double *row, margin_error *error) {
    const mg_problem *p = c->problem;
    MG_TRY(mg_problem_check_finite(c->context, p, true, error));
    for (int64_t i = 0; i < p->count; i++) {
        mg_row_expand(&p->x, mg_sample_row(p, i), row);
        for (int64_t j = 0; j < p->x.columns; j++)
            if (!bayes_count_add_value(c, state, p->code[i], j, row[j], 1.0))
                return fail_cell(c, i, j, row[j], error);
    }
    return mg_fail(error, MARGIN_ERROR_INTERNAL, "a value could not be counted; please report it");
}

/* ---- Entry ----------------------------------------------------------------------------------- */

static margin_status bayes_count_prepare(counter *c, double **state, double **row,
                                         margin_error *error) {
    const mg_bayes_layout *layout = c->layout;
    const bool sparse = mg_is_csr(&c->problem->x);
    const int64_t n = layout->gaussians, classes = layout->classes;
    const char *purpose = "the counts of naive Bayes";
    mg_heap *heap = c->context->heap;
    c->gather = n < layout->columns;
    c->ahead = c->gather ? 0 : mg_bayes_rows_ahead(n * mg_type_size(c->problem->x.value_type));
    c->stride = (n + 7) / 8 * 8;
    c->table_numbers = classes * c->stride;
    c->scratch_numbers =
        sparse || n == 0 ? 0 : 3 * c->table_numbers + classes + (c->gather ? CHUNK * n : 0);
    c->scratch_numbers = (c->scratch_numbers + 7) / 8 * 8;
    c->state_numbers =
        classes + 1 + classes * layout->slots + (sparse ? classes * layout->columns : 0);
    c->rows_of_data = mg_bayes_rows_for(mg_isa_level(), c->problem->x.value_type == MARGIN_F32);
    c->rows = c->gather ? mg_bayes_rows_for(mg_isa_level(), false) : c->rows_of_data;
    c->linear_stride = (layout->linears + 7) / 8 * 8;
    c->linear_numbers =
        sparse || layout->linears == 0 ? 0 : (classes * (c->linear_stride + 1) + 7) / 8 * 8;
    MG_NEW(heap, c->linear, mg_threads(c->context) * c->linear_numbers, purpose, error);
    MG_NEW(heap, c->scratch, mg_threads(c->context) * c->scratch_numbers, purpose, error);
    MG_NEW(heap, *state, c->state_numbers, purpose, error);
    MG_NEW(heap, *row, c->problem->x.columns, purpose, error);
    return MARGIN_OK;
}

int64_t mg_bayes_block_rows(const mg_bayes_layout *layout, bool sparse) {
    const int64_t numbers = sparse ? layout->classes * layout->slots : 0;
    int64_t rows = LEAST_BLOCK;
    while (rows < 64 * layout->classes || 16 * rows < numbers)
        rows *= 2;
    return rows;
}

margin_status mg_bayes_count(margin_context *context, const mg_problem *problem,
                             const mg_bayes_layout *layout, mg_bayes_counts *counts,
                             margin_error *error) {
    counter c = {.context = context, .problem = problem, .layout = layout};
    double *state = NULL, *row = NULL;
    margin_status status;
    MG_GO(bayes_count_prepare(&c, &state, &row, error));
    const mg_accumulator accumulator = {.state_size = c.state_numbers * (int64_t)sizeof *state,
                                        .init = init_state,
                                        .add = bayes_count_add_block,
                                        .merge = merge_state};
    const int64_t rows = mg_bayes_block_rows(layout, mg_is_csr(&problem->x));
    status = mg_sweep(context, problem->count, rows, &accumulator, &c, state, error);
    if (status == MARGIN_ERROR_DATA || (status >= 0 && !add_zeros(&c, state))) {
        init_state(state, &c);
        status = fail_first(&c, state, row, error);
    }
    if (status < 0) goto done;
    memcpy(counts->classes, state, (size_t)layout->classes * sizeof *state);
    memcpy(counts->statistics, state_statistics(&c, state),
           (size_t)(layout->classes * layout->slots) * sizeof *state);
    counts->missing = *state_missing(&c, state);
done:
    MG_FREE(context->heap, row, state, c.scratch, c.linear);
    return status;
}
