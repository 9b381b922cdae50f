/* A table's total is the sum of its parts but for the last bit of each number, shares add up to 1
 * but for theirs, and columns that were computed from others are rounded. Such a sum counts as one
 * if a table that differs by a few roundings in each of its numbers has it exactly. By Oettli and
 * Prager ("Compatibility of approximate solution of linear equations with given error bounds",
 * Numerische Mathematik 6, 1964) that is so where in each row
 *
 *   |sum_j v_j x_ij + v_0| <= units 2^-53 sum_j |v_j x_ij|
 *
 * in which the sum's own column has v = -1. Row by row, so that huge numbers in one row hide
 * nothing in another. Numbers of the data as they were stored: with an intercept the stages' scales
 * are in v and their shifts in v_0, without one the shifts count among the sizes. Whole numbers
 * below 2^53 were not rounded, and then the sum has to be exact.
 *
 * Any v that does will do. The first is that of ratios of small whole numbers near to the one that
 * was found; then that of least squares of what is left of a row beside the sizes of its terms. */
#include "learn/exact/rounded_sums.h"

#include "base/sweep.h"
#include "math/products/modular.h"

#include <math.h>
#include <string.h>

typedef long double real;

typedef struct rounded_run {
    margin_context *context;
    const mg_problem *problem;
    const mg_column_sums *r;
    real units; /* times 2^-53 */
    const double *weights;
    bool intercept;
    int64_t columns, count; /* count: sums */
    double *values;         /* workers x columns */
    double *most, *least;   /* workers x columns: the largest number of each, and the one nearest to
                             * 0; then the first row */
    bool *part;             /* the same: one is not whole, or not below 2^53 */
    real *offset;           /* columns: what is added to a stored number: by a stage, or with an
                             * intercept so that the one nearest to 0 is 0, and those near it keep
                             * their digits */
    real *factor;           /* count x terms: v, of stored numbers */
    int64_t *used, *uses;   /* count x terms: which terms are not 0; count: how many */
    real *low, *high;       /* workers x count: between which v_0 must be; then the first row */
    int64_t first, last;    /* the sums at hand */
    int64_t parts;          /* of the first of them: its terms */
} rounded_run;

static double scale_of(const rounded_run *run, int64_t j) {
    return run->problem->scale ? run->problem->scale[j] : 1.0;
}

static int64_t own_of(const rounded_run *run, int64_t l) {
    return run->r->column[run->r->terms + l];
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static double nearer(double a, double b) {
    return fabs(b) < fabs(a) || (fabs(b) == fabs(a) && b > a) ? b : a;
}

static margin_status look_at_numbers(const mg_block *block, void *argument) {
    const rounded_run *run = argument;
    const int64_t n = run->columns, from = block->worker * n;
    double *x = run->values + from, *most = run->most + from, *least = run->least + from;
    for (int64_t i = block->first; i < block->first + block->count; i++) {
        if (!(run->weights[i] > 0.0)) continue;
        mg_sample_values(run->problem, i, x);
        for (int64_t j = 0; j < n; j++) {
            most[j] = fmax(most[j], fabs(x[j]));
            least[j] = nearer(least[j], x[j]);
            run->part[from + j] |= x[j] != nearbyint(x[j]) || !(fabs(x[j]) < 0x1p53);
        }
    }
    return MARGIN_OK;
}

static real term_of(const rounded_run *run, const double *x, int64_t j, real factor, real *size) {
    const real shift = run->intercept ? 0.0L : fabsl(run->offset[j]);
    *size += fabsl(factor) * (fabsl((real)x[j]) + shift);
    return factor * ((real)x[j] + run->offset[j]);
}

/* The sum of a row's terms, and that of their sizes. */
static real add_terms(const rounded_run *run, int64_t l, const double *x, real *size) {
    const int64_t *column = run->r->column, *used = run->used + l * run->r->terms;
    const real *factor = run->factor + l * run->r->terms;
    *size = 0.0L;
    real sum = term_of(run, x, own_of(run, l), -1.0L, size);
    for (int64_t k = 0; k < run->uses[l]; k++)
        sum += term_of(run, x, column[used[k]], factor[used[k]], size);
    return sum;
}

static margin_status hold_rows(const mg_block *block, void *argument) {
    const rounded_run *run = argument;
    double *x = run->values + block->worker * run->columns;
    real *low = run->low + block->worker * run->count;
    real *high = run->high + block->worker * run->count;
    for (int64_t i = block->first; i < block->first + block->count; i++) {
        if (!(run->weights[i] > 0.0)) continue;
        mg_sample_values(run->problem, i, x);
        for (int64_t l = run->first; l < run->last; l++) {
            real size;
            if (!(low[l] <= high[l])) continue;
            const real sum = add_terms(run, l, x, &size), off = run->units * size;
            if (low[l] < -sum - off) low[l] = -sum - off;
            if (high[l] > -sum + off) high[l] = -sum + off;
            if (!isfinite(sum) || !isfinite(off)) high[l] = -(real)INFINITY;
        }
    }
    return MARGIN_OK;
}

static int64_t rows_of_block(const rounded_run *run) {
    return mg_block_rows(run->columns * (int64_t)sizeof(double));
}

static margin_status find_facts(rounded_run *run, margin_error *error) {
    const int64_t n = run->columns, all = mg_threads(run->context) * n;
    const mg_problem *p = run->problem;
    memset(run->most, 0, (size_t)all * sizeof *run->most);
    memset(run->part, 0, (size_t)all * sizeof *run->part);
    for (int64_t k = 0; k < all; k++)
        run->least[k] = (double)INFINITY;
    MG_TRY(mg_sweep_each(run->context, p->count, rows_of_block(run), look_at_numbers, run, error));
    for (int64_t k = n; k < all; k++) {
        run->most[k % n] = fmax(run->most[k % n], run->most[k]);
        run->least[k % n] = nearer(run->least[k % n], run->least[k]);
        run->part[k % n] |= run->part[k];
    }
    for (int64_t j = 0; j < n; j++)
        run->offset[j] = run->intercept ? -(real)run->least[j]
                         : p->shift     ? (real)p->shift[j] / (real)scale_of(run, j)
                                        : 0.0L;
    return MARGIN_OK;
}

static double part_of(const rounded_run *run, int64_t l, int64_t k) {
    return fabs((double)run->factor[l * run->r->terms + k]) * run->most[run->r->column[k]];
}

/* Of its terms those that are more than `least` stay. */
static void list_terms(rounded_run *run, int64_t l, double least) {
    const int64_t terms = run->r->terms;
    run->uses[l] = 0;
    for (int64_t k = 0; k < terms; k++)
        if (part_of(run, l, k) > least)
            run->used[l * terms + run->uses[l]++] = k;
        else
            run->factor[l * terms + k] = 0.0L;
}

/* hold[l]: of sums first..last. */
static margin_status judge_sums(rounded_run *run, int64_t first, int64_t last, bool *hold,
                                margin_error *error) {
    const int64_t count = run->count, all = mg_threads(run->context) * count;
    run->first = first;
    run->last = last;
    for (int64_t l = first; l < last; l++)
        list_terms(run, l, 0.0);
    for (int64_t k = 0; k < all; k++) {
        run->low[k] = -(real)INFINITY;
        run->high[k] = (real)INFINITY;
    }
    MG_TRY(mg_sweep_each(run->context, run->problem->count, rows_of_block(run), hold_rows, run,
                         error));
    for (int64_t k = count; k < all; k++) {
        run->low[k % count] = fmaxl(run->low[k % count], run->low[k]);
        run->high[k % count] = fminl(run->high[k % count], run->high[k]);
    }
    for (int64_t l = first; l < last; l++)
        hold[l] = run->intercept ? run->low[l] <= run->high[l]
                                 : run->low[l] <= 0.0L && run->high[l] >= 0.0L;
    return MARGIN_OK;
}

/* ---- Factors --------------------------------------------------------------------------------- */

/* Those that were given. */
static void take_factors(rounded_run *run, int64_t l) {
    const int64_t terms = run->r->terms, *column = run->r->column;
    const real own = (real)scale_of(run, own_of(run, l));
    for (int64_t k = 0; k < terms; k++)
        run->factor[l * terms + k] =
            (real)run->r->factors[l * run->r->ld + k] * (real)scale_of(run, column[k]) / own;
}

/* So much of the largest term of a sum is more than next to nothing. */
static double part_that_counts(const rounded_run *run, int64_t l, double little) {
    double most = run->most[own_of(run, l)];
    for (int64_t k = 0; k < run->r->terms; k++)
        most = fmax(most, part_of(run, l, k));
    return little * most;
}

#define NEXT_TO_NOTHING 1e-7

/* To ratios of small whole numbers, where there are such. */
static void snap(rounded_run *run, int64_t l) {
    const double least = part_that_counts(run, l, NEXT_TO_NOTHING);
    real *factor = run->factor + l * run->r->terms;
    for (int64_t k = 0; k < run->r->terms; k++) {
        double p = 0.0, q = 1.0;
        if (part_of(run, l, k) > least && !mg_small_ratio((double)factor[k], &p, &q)) {
            take_factors(run, l);
            return;
        }
        factor[k] = (real)p / (real)q;
    }
}

/* Least squares: the shares that terms change by, and v_0, from a triangle into which rows are
 * folded; its last column is the right side. */
enum { MOST_PARTS = 64 };

static mg_extended_factor triangle_of(const rounded_run *run, void *state) {
    return (mg_extended_factor){.size = run->parts + 2, .matrix = state};
}

static void start_triangle(void *state, void *argument) {
    const int64_t n = triangle_of(argument, state).size;
    memset(state, 0, (size_t)(n * n) * sizeof(real));
}

static void merge_triangles(void *into, const void *from, void *argument) {
    mg_extended_factor f = triangle_of(argument, into);
    const real *other = from;
    real y[MOST_PARTS + 2];
    for (int64_t r = 0; r < f.size; r++) {
        for (int64_t q = 0; q < f.size; q++)
            y[q] = q < r ? 0.0L : other[q * f.size + r];
        mg_extended_fold(&f, y);
    }
}

static margin_status fold_rows(void *state, const mg_block *block, void *argument) {
    const rounded_run *run = argument;
    const int64_t l = run->first, n = run->parts + 2, *used = run->used + l * run->r->terms;
    const real *factor = run->factor + l * run->r->terms;
    mg_extended_factor f = triangle_of(run, state);
    double *x = run->values + block->worker * run->columns;
    real y[MOST_PARTS + 2];
    for (int64_t i = block->first; i < block->first + block->count; i++) {
        real size, other = 0.0L;
        if (!(run->weights[i] > 0.0)) continue;
        mg_sample_values(run->problem, i, x);
        y[n - 1] = -add_terms(run, l, x, &size);
        y[n - 2] = run->intercept;
        for (int64_t k = 0; k < n - 2; k++)
            y[k] = term_of(run, x, run->r->column[used[k]], factor[used[k]], &other);
        for (int64_t k = 0; k < n && size > 0.0L; k++)
            y[k] /= size;
        if (size > 0.0L) mg_extended_fold(&f, y);
    }
    return MARGIN_OK;
}

/* x: size - 1 numbers; 0 where the terms depend on others. */
static void solve_triangle(const mg_extended_factor *f, real *x) {
    const int64_t n = f->size;
    for (int64_t r = n - 2; r >= 0; r--) {
        real sum = f->matrix[(n - 1) * n + r], length = 0.0L;
        for (int64_t q = r + 1; q < n - 1; q++)
            sum -= f->matrix[q * n + r] * x[q];
        for (int64_t q = 0; q <= r; q++)
            length = fmaxl(length, fabsl(f->matrix[r * n + q]));
        x[r] = fabsl(f->matrix[r * n + r]) > 1e-15L * length ? sum / f->matrix[r * n + r] : 0.0L;
    }
}

/* Makes what is left of the rows of sum l least, beside the sizes of their terms, by those that are
 * more than `little` of the largest one. */
static margin_status improve(rounded_run *run, int64_t l, double little, margin_error *error) {
    enum { TURNS = 3 };
    real x[MOST_PARTS + 1];
    MG_SCOPED_ARENA(arena, run->context->heap);
    take_factors(run, l);
    run->first = l;
    for (int turn = 0; turn < TURNS; turn++) {
        const bool all = turn == 0 && run->r->terms <= MOST_PARTS;
        const double least = part_that_counts(run, l, all ? 0.0 : little);
        list_terms(run, l, least);
        run->parts = run->uses[l];
        mg_extended_factor f = triangle_of(run, NULL);
        const mg_accumulator accumulator = {.state_size = f.size * f.size * (int64_t)sizeof(real),
                                            .init = start_triangle,
                                            .add = fold_rows,
                                            .merge = merge_triangles};
        if (run->parts > MOST_PARTS) return MARGIN_OK;
        MG_ARENA_NEW(&arena, f.matrix, f.size * f.size, "the dependences of columns", error);
        MG_TRY(mg_sweep(run->context, run->problem->count, rows_of_block(run), &accumulator, run,
                        f.matrix, error));
        solve_triangle(&f, x);
        for (int64_t k = 0; k < run->parts; k++)
            run->factor[l * run->r->terms + run->used[l * run->r->terms + k]] *= 1.0L + x[k];
    }
    return MARGIN_OK;
}

/* ---- Whole numbers --------------------------------------------------------------------------- */

/* Whether all columns of sum l are whole numbers, but for those that have next to no part in it. */
static bool is_whole(const rounded_run *run, int64_t l) {
    const double least = part_that_counts(run, l, NEXT_TO_NOTHING);
    bool part = run->part[own_of(run, l)];
    for (int64_t k = 0; k < run->r->terms; k++)
        part |= part_of(run, l, k) > least && run->part[run->r->column[k]];
    return !part;
}

/* Those sums exactly; of stages' shifts, which are rounded, the rows have told. */
static margin_status check_whole(rounded_run *run, bool *hold, margin_error *error) {
    const int64_t terms = run->r->terms;
    int64_t *column;
    double *factors;
    MG_SCOPED_ARENA(arena, run->context->heap);
    MG_TRY(MG_PIECES(&arena, "the dependences of columns", error,
                     MG_PIECE(column, terms + run->count), MG_PIECE(factors, run->count * terms)));
    mg_column_sums sums = {.terms = terms, .ld = terms, .column = column, .factors = factors};
    memcpy(column, run->r->column, (size_t)terms * sizeof *column);
    for (int64_t l = 0; l < run->count; l++) {
        const double own = scale_of(run, own_of(run, l));
        if (!is_whole(run, l)) continue;
        for (int64_t k = 0; k < terms; k++)
            factors[sums.count * terms + k] =
                (double)run->factor[l * terms + k] * own / scale_of(run, column[k]);
        column[terms + sums.count++] = own_of(run, l);
    }
    if (sums.count == 0) return MARGIN_OK;
    return mg_exact_sums(run->context, run->problem, run->intercept || run->problem->shift,
                         run->weights, &sums, hold, error);
}

margin_status mg_rounded_hold(margin_context *context, const mg_problem *problem, bool intercept,
                              const double *weights, const mg_column_sums *sums, double units,
                              bool *hold, margin_error *error) {
    static const double little[] = {1e-13, NEXT_TO_NOTHING};
    const int64_t n = problem->x.columns, count = sums->count, workers = mg_threads(context);
    rounded_run run = {.context = context,
                       .problem = problem,
                       .r = sums,
                       .units = (real)(units * 0x1p-53),
                       .weights = weights,
                       .intercept = intercept,
                       .columns = n,
                       .count = count};
    bool *holds;
    MG_SCOPED_ARENA(arena, context->heap);
    MG_TRY(MG_PIECES(&arena, "the dependences of columns", error, MG_PIECE(run.values, workers * n),
                     MG_PIECE(run.most, workers * n), MG_PIECE(run.least, workers * n),
                     MG_PIECE(run.part, workers * n), MG_PIECE(run.offset, n),
                     MG_PIECE(run.factor, count * sums->terms), MG_PIECE(run.low, workers * count),
                     MG_PIECE(run.high, workers * count), MG_PIECE(run.used, count * sums->terms),
                     MG_PIECE(run.uses, count), MG_PIECE(holds, count)));
    MG_TRY(find_facts(&run, error));
    for (int64_t l = 0; l < count; l++) {
        take_factors(&run, l);
        snap(&run, l);
    }
    MG_TRY(judge_sums(&run, 0, count, holds, error));
    *hold = true;
    for (int64_t l = 0; l < count && *hold; l++) {
        for (int k = 0; k < MG_LENGTH(little) && !holds[l]; k++) {
            MG_TRY(improve(&run, l, little[k], error));
            MG_TRY(judge_sums(&run, l, l + 1, holds, error));
        }
        *hold = holds[l];
    }
    return *hold ? check_whole(&run, hold, error) : MARGIN_OK;
}

/* ---- Of a factor ----------------------------------------------------------------------------- */

/* What the first `count` make of column l, in A's units, but for the constant. */
static void find_factors(const mg_extended_factor *f, const real *scale, int64_t constant,
                         int64_t count, int64_t l, double *factors) {
    const int64_t n = f->size;
    real *x = f->scratch;
    for (int64_t at = count - 1; at >= 0; at--) {
        const int64_t r = f->order[at];
        x[r] = f->matrix[l * n + r];
        for (int64_t b = at + 1; b < count; b++)
            x[r] -= f->matrix[f->order[b] * n + r] * x[f->order[b]];
        x[r] /= f->matrix[r * n + r];
    }
    for (int64_t at = 0; at < count; at++)
        if (f->order[at] != constant)
            *factors++ = (double)(x[f->order[at]] * scale[f->order[at]] / scale[l]);
}

margin_status mg_rounded_factor(margin_context *context, const mg_problem *problem,
                                const double *weights, const mg_extended_factor *f,
                                const long double *scale, int64_t count, bool *hold,
                                margin_error *error) {
    const int64_t n = f->size, constant = problem->x.columns;
    double *factors;
    int64_t *column;
    mg_column_sums sums = {.ld = count};
    *hold = false;
    MG_SCOPED_ARENA(arena, context->heap);
    MG_TRY(MG_PIECES(&arena, "the dependences of columns", error, MG_PIECE(column, n),
                     MG_PIECE(factors, (n - count) * count)));
    for (int64_t at = 0; at < n; at++) {
        const int64_t l = f->order[at];
        if (l == constant && at >= count) return MARGIN_OK; /* it is never left out */
        if (l == constant || !(scale[l] > 0.0L)) continue;
        column[sums.terms + sums.count] = l;
        if (at < count)
            sums.terms++;
        else
            find_factors(f, scale, constant, count, l, factors + sums.count++ * count);
    }
    sums.column = column;
    sums.factors = factors;
    return mg_rounded_hold(context, problem, n > constant, weights, &sums, 2.0 * MG_ROUNDED_UNITS,
                           hold, error);
}
