/* Rounding cannot tell columns that depend on each other from columns that almost do. But the
 * numbers of the data are binary fractions, so that rows can be read modulo a prime without any
 * rounding, and eliminated there (Gauss and Jordan). Columns that are independent there are
 * independent. The reverse fails only where the prime divides every minor of the next order: about
 * one chance in 2^61.
 *
 * A row that a random vector of the null space of the rows so far sends to 0 is taken for one of
 * their span (Freivalds 1979; the same chance), so that most rows cost one product. */
#include "linear/proof/exact_columns.h"

#include "base/random.h"
#include "base/text/decimal.h"

#include <math.h>
#include <string.h>

static const uint64_t prime = (UINT64_C(1) << 61) - 31, low = (UINT64_C(1) << 61) - 1;

enum { LEAST_POWER = -1130, POWERS = 2200 };

typedef struct exact_run {
    const mg_problem *problem;
    bool intercept;
    int64_t columns, size, rank; /* size: columns + 1 */
    uint64_t *powers;            /* of 2, from LEAST_POWER on */
    uint64_t *basis;             /* rank rows of `size`: 1 in their own pivot, 0 in the others' */
    uint64_t *row, *null;        /* size: a row; a vector that all rows of the basis send to 0 */
    uint64_t *chosen;            /* size: random numbers */
    int64_t *pivot;              /* rank */
    bool *independent;           /* size */
    double *values;
} exact_run;

/* ---- Modulo the prime ------------------------------------------------------------------------ */

static uint64_t times(uint64_t a, uint64_t b) {
    const mg_u128 product = (mg_u128)a * b;
    const mg_u128 once = (product & low) + (product >> 61) * 31;
    const uint64_t twice = ((uint64_t)once & low) + (uint64_t)(once >> 61) * 31;
    return twice >= prime ? twice - prime : twice;
}

static uint64_t less(uint64_t a, uint64_t b) {
    return a >= b ? a - b : a + prime - b;
}

static uint64_t plus(uint64_t a, uint64_t b) {
    return less(a, less(0, b));
}

static uint64_t inverse(uint64_t a) {
    uint64_t result = 1;
    for (uint64_t power = prime - 2; power > 0; power >>= 1) {
        if (power & 1) result = times(result, a);
        a = times(a, a);
    }
    return result;
}

static void fill_powers(exact_run *run) {
    const uint64_t half = inverse(2);
    run->powers[-LEAST_POWER] = 1;
    for (int k = -LEAST_POWER; k > 0; k--)
        run->powers[k - 1] = times(run->powers[k], half);
    for (int k = -LEAST_POWER; k + 1 < POWERS; k++)
        run->powers[k + 1] = times(run->powers[k], 2);
}

/* Infinite values, as stages of a changed file make them, count as 0: no proof holds with them. */
static uint64_t read_number(const exact_run *run, double value) {
    int exponent;
    if (!isfinite(value)) return 0;
    const double digits = ldexp(fabs(frexp(value, &exponent)), 53);
    const uint64_t size = times((uint64_t)digits, run->powers[exponent - 53 - LEAST_POWER]);
    return value < 0.0 ? less(0, size) : size;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static void read_row(exact_run *run, int64_t i) {
    const mg_problem *p = run->problem;
    mg_sample_values(p, i, run->values);
    for (int64_t j = 0; j < run->columns; j++) {
        run->row[j] = read_number(run, run->values[j]);
        if (p->scale) run->row[j] = times(run->row[j], read_number(run, p->scale[j]));
        if (p->shift) run->row[j] = plus(run->row[j], read_number(run, p->shift[j]));
    }
    run->row[run->columns] = run->intercept;
}

static bool is_new(const exact_run *run) {
    uint64_t sum = 0;
    for (int64_t j = 0; j < run->size; j++)
        sum = plus(sum, times(run->row[j], run->null[j]));
    return sum != 0;
}

/* to -= factor * from */
static void take_off(const exact_run *run, uint64_t *to, uint64_t factor, const uint64_t *from) {
    for (int64_t j = 0; j < run->size && factor != 0; j++)
        to[j] = less(to[j], times(factor, from[j]));
}

/* Random numbers in the columns without a pivot; what the basis then makes of the others. */
static void choose_null(exact_run *run) {
    for (int64_t j = 0; j < run->size; j++)
        run->null[j] = run->independent[j] ? 0 : run->chosen[j];
    for (int64_t r = 0; r < run->rank; r++) {
        const uint64_t *row = run->basis + r * run->size;
        uint64_t sum = 0;
        for (int64_t j = 0; j < run->size; j++)
            if (!run->independent[j]) sum = plus(sum, times(row[j], run->chosen[j]));
        run->null[run->pivot[r]] = less(0, sum);
    }
}

/* The ones first, so that constant columns depend on them. */
static int64_t choose_pivot(const exact_run *run) {
    if (run->row[run->columns] != 0) return run->columns;
    for (int64_t j = 0; j < run->columns; j++)
        if (run->row[j] != 0) return j;
    return -1;
}

static void add_row(exact_run *run) {
    uint64_t *own = run->basis + run->rank * run->size;
    for (int64_t r = 0; r < run->rank; r++)
        take_off(run, run->row, run->row[run->pivot[r]], run->basis + r * run->size);
    const int64_t pivot = choose_pivot(run);
    if (pivot < 0) return;
    const uint64_t factor = inverse(run->row[pivot]);
    for (int64_t j = 0; j < run->size; j++)
        own[j] = times(run->row[j], factor);
    for (int64_t r = 0; r < run->rank; r++) {
        uint64_t *row = run->basis + r * run->size;
        take_off(run, row, row[pivot], own);
    }
    run->pivot[run->rank++] = pivot;
    run->independent[pivot] = true;
    choose_null(run);
}

static margin_status walk_rows(exact_run *run, const margin_context *context, const double *weights,
                               margin_error *error) {
    for (int64_t j = 0; j < run->size; j++)
        run->chosen[j] = mg_random_below(0, MG_RANDOM_CHECK, (uint64_t)j, prime);
    fill_powers(run);
    choose_null(run);
    for (int64_t i = 0; i < run->problem->count && run->rank < run->size; i++) {
        if (mg_cancelled(context)) return mg_fail_cancelled(error);
        if (weights && !(weights[i] > 0.0)) continue;
        read_row(run, i);
        if (is_new(run)) add_row(run);
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
    mg_arena arena;
    margin_status status;
    mg_arena_init(&arena, context->heap);
    memset(independent, 0, (size_t)size * sizeof *independent);
    MG_GO(MG_PIECES(&arena, "the dependences of columns", error, MG_PIECE(run.basis, size * size),
                    MG_PIECE(run.row, size), MG_PIECE(run.null, size), MG_PIECE(run.chosen, size),
                    MG_PIECE(run.powers, POWERS), MG_PIECE(run.pivot, size),
                    MG_PIECE(run.values, size)));
    status = walk_rows(&run, context, weights, error);
    *rank = run.rank;
done:
    mg_arena_free(&arena);
    return status;
}
