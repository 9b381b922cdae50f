/* Rounding cannot tell columns that depend on each other from columns that almost do. But the
 * numbers of the data are fractions, decimal or binary ones, so that rows can be read modulo a
 * prime without any rounding, and eliminated there (Gauss and Jordan). Columns that are independent
 * there are independent. The reverse fails only where the prime divides every minor of the next
 * order: about one chance in 2^61.
 *
 * A row that a random vector of the null space of the rows so far sends to 0 is taken for one of
 * their span (Freivalds 1979; the same chance), so that most rows cost one product. */
#include "learn/exact/exact_columns.h"

#include "base/random.h"
#include "base/sort.h"
#include "math/products/modular.h"

#include <math.h>
#include <string.h>

enum { MG_EXACT_DIGITS = 9 };

typedef struct exact_run {
    const mg_problem *problem;
    bool intercept;
    int64_t columns, size, rank; /* size: columns + 1 */
    mg_modular_powers *powers;
    uint64_t *basis; /* rank rows of `size`: 1 in their own pivot, 0 in the others' */
    /* size: a row; a vector that all rows of the basis send to 0, random where none has a pivot */
    uint64_t *row, *null;
    int64_t *pivot; /* rank */
    int8_t *digits; /* columns: decimals of its numbers, or -1; NULL: numbers are binary */
    double *most;   /* columns: the largest of its numbers */
    uint64_t tenth[MG_EXACT_DIGITS + 1]; /* powers of 1/10 */
    bool *independent;                   /* size */
    double *values;
} exact_run;

/* ---- Numbers ---------------------------------------------------------------------------------
 * A column whose numbers all are decimals of few digits was written so: 0.1 is a tenth there, and
 * not the fraction next to it. Up to 15 digits in all, two decimals never are the same double.
 * Columns are asked as binary fractions first (a difference may be exact, and no decimal). */

static const double powers_of_ten[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};

/* Whether value is the number next to a whole number *k over 10^digits. */
static bool is_decimal(double value, int digits, double *k) {
    static const double most = 1e15;
    const double power = powers_of_ten[digits];
    *k = nearbyint(value * power);
    return fabs(*k) <= most && *k / power == value;
}

static void raise_digits(exact_run *run, int64_t j, double value) {
    double k;
    while (run->digits[j] >= 0 && !is_decimal(value, run->digits[j], &k))
        run->digits[j] = run->digits[j] < MG_EXACT_DIGITS ? (int8_t)(run->digits[j] + 1) : -1;
    run->most[j] = fmax(run->most[j], fabs(value));
}

static void raise_row(exact_run *run, int64_t i) {
    const mg_problem *p = run->problem;
    const margin_matrix *x = &p->x;
    if (!mg_is_csr(x)) {
        mg_sample_values(p, i, run->values);
        for (int64_t j = 0; j < run->columns; j++)
            raise_digits(run, j, run->values[j]);
        return;
    }
    const int64_t row = mg_sample_row(p, i), end = mg_row_start(x, row + 1);
    for (int64_t e = mg_row_start(x, row); e < end; e++)
        raise_digits(run, mg_column_index(x, e), mg_stored_value(x, e));
}

/* *any: a column has decimals, whatever the order of its rows. Of rows as they lie; what stages
 * make is binary, and what f32 has rounded is as it is. */
static margin_status find_digits(exact_run *run, const margin_context *context,
                                 const double *weights, mg_arena *arena, bool *any,
                                 margin_error *error) {
    const mg_problem *p = run->problem;
    *any = false;
    if (p->maker || p->made || p->x.value_type != MARGIN_F64) return MARGIN_OK;
    MG_TRY(MG_PIECES(arena, "the dependences of columns", error,
                     MG_PIECE(run->digits, run->columns), MG_PIECE(run->most, run->columns)));
    memset(run->digits, 0, (size_t)run->columns * sizeof *run->digits);
    memset(run->most, 0, (size_t)run->columns * sizeof *run->most);
    run->tenth[0] = 1;
    for (int d = 1; d <= MG_EXACT_DIGITS; d++)
        run->tenth[d] = mg_modular_times(run->tenth[d - 1], mg_modular_inverse(10));
    for (int64_t i = 0; i < p->count; i++) {
        if (mg_cancelled(context)) return mg_fail_cancelled(error);
        if (!weights || weights[i] > 0.0) raise_row(run, i);
    }
    for (int64_t j = 0; j < run->columns; j++) {
        double k;
        if (run->digits[j] > 0 && !is_decimal(run->most[j], run->digits[j], &k))
            run->digits[j] = -1; /* the largest has too many digits */
        *any |= run->digits[j] > 0;
    }
    return MARGIN_OK;
}

MG_INLINE uint64_t number_of(const exact_run *run, int64_t j, double value) {
    const int digits = run->digits ? run->digits[j] : -1;
    double k = value;
    if (digits > 0) is_decimal(value, digits, &k);
    const uint64_t number = mg_modular_number(run->powers, k);
    return digits > 0 ? mg_modular_times(number, run->tenth[digits]) : number;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static void read_row(exact_run *run, int64_t i) {
    const mg_problem *p = run->problem;
    mg_sample_values(p, i, run->values);
    for (int64_t j = 0; j < run->columns; j++) {
        run->row[j] = number_of(run, j, run->values[j]);
        if (p->scale)
            run->row[j] =
                mg_modular_times(run->row[j], mg_modular_number(run->powers, p->scale[j]));
        if (p->shift)
            run->row[j] = mg_modular_plus(run->row[j], mg_modular_number(run->powers, p->shift[j]));
    }
    run->row[run->columns] = run->intercept;
}

static uint64_t along_null(const exact_run *run, const uint64_t *row) {
    uint64_t sum = 0;
    for (int64_t j = 0; j < run->size; j++)
        sum = mg_modular_plus(sum, mg_modular_times(row[j], run->null[j]));
    return sum;
}

/* to -= factor * from */
static void take_off(const exact_run *run, uint64_t *to, uint64_t factor, const uint64_t *from) {
    for (int64_t j = 0; j < run->size && factor != 0; j++)
        to[j] = mg_modular_less(to[j], mg_modular_times(factor, from[j]));
}

/* The ones first, so that constant columns depend on them. */
static int64_t choose_pivot(const exact_run *run) {
    if (run->row[run->columns] != 0) return run->columns;
    for (int64_t j = 0; j < run->columns; j++)
        if (run->row[j] != 0) return j;
    return -1;
}

/* What becomes 1 in its pivot goes from the others, and the vector follows. */
static void add_row(exact_run *run) {
    uint64_t *own = run->basis + run->rank * run->size;
    for (int64_t r = 0; r < run->rank; r++)
        take_off(run, run->row, run->row[run->pivot[r]], run->basis + r * run->size);
    const int64_t pivot = choose_pivot(run);
    if (pivot < 0) return;
    const uint64_t factor = mg_modular_inverse(run->row[pivot]);
    for (int64_t j = 0; j < run->size; j++)
        own[j] = mg_modular_times(run->row[j], factor);
    const uint64_t rest = along_null(run, own);
    for (int64_t r = 0; r < run->rank; r++) {
        uint64_t *row = run->basis + r * run->size, *other = run->null + run->pivot[r];
        *other = mg_modular_plus(*other, mg_modular_times(row[pivot], rest));
        take_off(run, row, row[pivot], own);
    }
    run->null[pivot] = mg_modular_less(run->null[pivot], rest);
    run->pivot[run->rank++] = pivot;
    run->independent[pivot] = true;
}

static margin_status walk_rows(exact_run *run, const margin_context *context, const double *weights,
                               margin_error *error) {
    run->rank = 0;
    memset(run->independent, 0, (size_t)run->size * sizeof *run->independent);
    for (int64_t j = 0; j < run->size; j++)
        run->null[j] = mg_random_below(0, MG_RANDOM_CHECK, (uint64_t)j, mg_modular_prime);
    for (int64_t i = 0; i < run->problem->count && run->rank < run->size; i++) {
        if (mg_cancelled(context)) return mg_fail_cancelled(error);
        if (weights && !(weights[i] > 0.0)) continue;
        read_row(run, i);
        if (along_null(run, run->row) != 0) add_row(run);
    }
    return MARGIN_OK;
}

margin_status mg_exact_columns(margin_context *context, const mg_problem *problem, bool intercept,
                               const double *weights, bool *independent, int64_t *rank,
                               margin_error *error) {
    const int64_t n = problem->x.columns, size = n + 1;
    exact_run run = {.problem = problem,
                     .intercept = intercept,
                     .columns = n,
                     .size = size,
                     .independent = independent};
    bool any, *binary;
    MG_SCOPED_ARENA(arena, context->heap);
    MG_TRY(MG_PIECES(&arena, "the dependences of columns", error, MG_PIECE(run.basis, size * size),
                     MG_PIECE(run.row, size), MG_PIECE(run.null, size), MG_PIECE(run.powers, 1),
                     MG_PIECE(run.pivot, size), MG_PIECE(run.values, size),
                     MG_PIECE(binary, size)));
    mg_modular_fill(run.powers);
    MG_TRY(walk_rows(&run, context, weights, error));
    *rank = run.rank;
    memcpy(binary, independent, (size_t)size * sizeof *binary);
    MG_TRY(find_digits(&run, context, weights, &arena, &any, error));
    if (any) MG_TRY(walk_rows(&run, context, weights, error));
    if (any && run.rank < *rank)
        *rank = run.rank;
    else
        memcpy(independent, binary, (size_t)size * sizeof *binary);
    return MARGIN_OK;
}

/* ---- Sums of columns ------------------------------------------------------------------------- */

/* run->null: a random combination of the sums, each less its own column. */
static bool combine_sums(exact_run *run, const margin_context *context,
                         const mg_column_sums *sums) {
    const double *scale = run->problem->scale;
    uint64_t factor;
    memset(run->null, 0, (size_t)run->size * sizeof *run->null);
    for (int64_t l = 0; l < sums->count; l++) {
        const int64_t own = sums->column[sums->terms + l];
        if (mg_cancelled(context)) return false;
        const uint64_t chosen = mg_random_below(0, MG_RANDOM_CHECK, (uint64_t)l, mg_modular_prime);
        run->null[own] = mg_modular_less(run->null[own], chosen);
        for (int64_t i = 0; i < sums->terms; i++) {
            const int64_t j = sums->column[i];
            const double ratio = scale ? scale[j] / scale[own] : 1.0;
            if (!mg_modular_ratio(sums->factors[l * sums->ld + i] * ratio, &factor)) return false;
            if (factor != 0)
                run->null[j] = mg_modular_plus(run->null[j], mg_modular_times(chosen, factor));
        }
    }
    return true;
}

/* Many values are 1. */
MG_INLINE uint64_t plus_term(const exact_run *run, int64_t j, double value, uint64_t sum) {
    const uint64_t factor = run->null[j];
    if (value == 0.0 || factor == 0) return sum;
    if (value == 1.0) return mg_modular_plus(sum, factor);
    return mg_modular_plus(sum, mg_modular_times(factor, number_of(run, j, value)));
}

/* Of the data as they are: a scale is in the sums, and a shift is constant. */
static uint64_t sum_row(const exact_run *run, int64_t i) {
    const margin_matrix *x = &run->problem->x;
    const int64_t row = mg_sample_row(run->problem, i);
    uint64_t sum = 0;
    if (!run->problem->maker && mg_is_csr(x)) {
        const int64_t end = mg_row_start(x, row + 1);
        const int64_t *wide = x->index_type == MARGIN_I64 ? x->column_indices : NULL;
        const int32_t *narrow = x->column_indices;
        for (int64_t k = mg_row_start(x, row); k < end; k++)
            sum = plus_term(run, wide ? wide[k] : narrow[k], mg_stored_value(x, k), sum);
        return sum;
    }
    mg_sample_values(run->problem, i, run->values);
    for (int64_t j = 0; j < run->columns; j++)
        sum = plus_term(run, j, run->values[j], sum);
    return sum;
}

static margin_status exact_check_rows(exact_run *run, const margin_context *context,
                                      const double *weights, bool *hold, margin_error *error) {
    uint64_t constant = 0;
    bool known = !run->intercept;
    *hold = true;
    for (int64_t i = 0; i < run->problem->count && *hold; i++) {
        if (mg_cancelled(context)) return mg_fail_cancelled(error);
        if (weights && !(weights[i] > 0.0)) continue;
        const uint64_t sum = sum_row(run, i);
        if (!known) constant = sum;
        known = true;
        *hold = sum == constant;
    }
    return MARGIN_OK;
}

margin_status mg_exact_sums(margin_context *context, const mg_problem *problem, bool intercept,
                            const double *weights, const mg_column_sums *sums, bool *hold,
                            margin_error *error) {
    const int64_t n = problem->x.columns;
    exact_run run = {.problem = problem, .intercept = intercept, .columns = n, .size = n + 1};
    bool any;
    MG_SCOPED_ARENA(arena, context->heap);
    *hold = false;
    MG_TRY(MG_PIECES(&arena, "the dependences of columns", error, MG_PIECE(run.null, n + 1),
                     MG_PIECE(run.powers, 1), MG_PIECE(run.values, n + 1)));
    if ((problem->shift && !intercept) || !combine_sums(&run, context, sums)) return MARGIN_OK;
    mg_modular_fill(run.powers);
    MG_TRY(exact_check_rows(&run, context, weights, hold, error));
    if (*hold) return MARGIN_OK;
    MG_TRY(find_digits(&run, context, weights, &arena, &any, error));
    return any ? exact_check_rows(&run, context, weights, hold, error) : MARGIN_OK;
}

/* ---- Equal rows ------------------------------------------------------------------------------ */

static bool smaller(int64_t a, int64_t b, const void *values) {
    return ((const uint64_t *)values)[a] < ((const uint64_t *)values)[b];
}

static margin_status count_distinct(exact_run *run, const margin_context *context,
                                    const double *weights, int64_t *order, int64_t *group,
                                    int64_t *distinct, margin_error *error) {
    int64_t rows = 0;
    for (int64_t j = 0; j < run->columns; j++)
        run->null[j] = mg_random_below(0, MG_RANDOM_CHECK, (uint64_t)j, mg_modular_prime);
    for (int64_t i = 0; i < run->problem->count; i++) {
        if (mg_cancelled(context)) return mg_fail_cancelled(error);
        if (weights && !(weights[i] > 0.0)) continue;
        run->row[i] = sum_row(run, i);
        order[rows++] = i;
    }
    if (!mg_sort(context, order, rows, order + rows, smaller, run->row))
        return mg_fail_cancelled(error);
    *distinct = 0;
    for (int64_t k = 0; k < rows; k++) {
        *distinct += k == 0 || run->row[order[k]] != run->row[order[k - 1]];
        if (group) group[order[k]] = *distinct - 1;
    }
    return MARGIN_OK;
}

margin_status mg_exact_rows(margin_context *context, const mg_problem *problem,
                            const double *weights, int64_t *group, int64_t *distinct,
                            margin_error *error) {
    const int64_t n = problem->x.columns;
    exact_run run = {.problem = problem, .columns = n};
    int64_t *order;
    MG_SCOPED_ARENA(arena, context->heap);
    MG_TRY(MG_PIECES(&arena, "equal rows", error, MG_PIECE(run.null, n),
                     MG_PIECE(run.values, n + 1), MG_PIECE(run.powers, 1),
                     MG_PIECE(run.row, problem->count), MG_PIECE(order, 2 * problem->count)));
    mg_modular_fill(run.powers);
    return count_distinct(&run, context, weights, order, group, distinct, error);
}
