/* Least squares: solving with a factor of the normal equations, and the solution of least norm
 * where columns depend on each other. */
#include "linear/squares/least_squares.h"

#include "base/random.h"
#include "learn/exact/exact_columns.h"
#include "math/products/cholesky.h"

#include <stdio.h>
#include <string.h>

margin_status mg_squares_factor_new(mg_squares *s, mg_squares_factor *f) {
    const int64_t n = s->columns;
    memset(f, 0, sizeof *f);
    MG_ARENA_NEW(&s->arena, f->column, n, "a list of columns", s->error);
    for (int64_t j = 0; j < n; j++)
        if (s->norm[j] > 0.0) f->column[f->count++] = j;
    f->rank = f->count;
    return MG_PIECES(&s->arena, "the normal equations", s->error, MG_PIECE(f->scale, f->count),
                     MG_PIECE(f->work, 2 * f->count), MG_PIECE(f->product, n));
}

margin_status mg_squares_factor_apart(mg_squares *s, mg_squares_factor *f) {
    const int64_t n = f->count, ld = f->ld;
    const double *shared = f->matrix;
    MG_ARENA_NEW(&s->arena, f->matrix, n * n, "the normal equations", s->error);
    f->ld = n;
    for (int64_t k = 0; shared && k < n; k++)
        memcpy(f->matrix + k * n, shared + k * ld, (size_t)(k + 1) * sizeof *shared);
    return MARGIN_OK;
}

/* ---- Solving --------------------------------------------------------------------------------- */

margin_status mg_squares_try_cholesky(mg_squares *s, double *matrix, int64_t n, int64_t ld,
                                      double norm, double *work, bool *done) {
    int64_t failed = 0;
    MG_TRY(mg_cholesky_factor(s->context, n, matrix, ld, &failed, s->error));
    *done = false;
    return failed ? MARGIN_OK : mg_squares_judge_cholesky(s, matrix, n, ld, norm, work, done);
}

double mg_squares_least_reciprocal(int64_t n) {
    return 10.0 * (double)MG_MAX(n, 1) * 0x1p-53;
}

margin_status mg_squares_judge_cholesky(mg_squares *s, const double *matrix, int64_t n, int64_t ld,
                                        double norm, double *work, bool *done) {
    const double reciprocal = mg_cholesky_condition(s->context, n, matrix, ld, norm, work);
    if (mg_cancelled(s->context)) return mg_fail_cancelled(s->error);
    s->condition = 1.0 / sqrt(reciprocal);
    *done = reciprocal > mg_squares_least_reciprocal(n);
    return MARGIN_OK;
}

margin_status mg_squares_factor_pivoted(mg_squares *s, mg_squares_factor *f, const int *pivots) {
    int64_t *column;
    double *scale;
    MG_TRY(MG_PIECES(&s->arena, "a list of columns", s->error, MG_PIECE(column, f->count),
                     MG_PIECE(scale, f->count)));
    for (int64_t k = 0; k < f->count; k++) {
        column[k] = f->column[pivots[k] - 1];
        scale[k] = f->scale[pivots[k] - 1];
    }
    f->column = column;
    f->scale = scale;
    return MARGIN_OK;
}

/* The step is x in the factor's first `rank` places, and 0 elsewhere. */
static void place(const mg_squares *s, const mg_squares_factor *f, const double *x, double *step) {
    memset(step, 0, (size_t)s->columns * sizeof *step);
    for (int64_t k = 0; k < f->rank; k++)
        step[f->column[k]] = f->scale[k] * x[k];
}

/* Takes out of a step what A does not see. */
static margin_status project(mg_squares *s, const mg_squares_factor *f, double *step) {
    double *x = f->work;
    if (f->rank == f->count || s->alpha > 0.0) return MARGIN_OK;
    for (int64_t k = 0; k < f->count; k++)
        x[k] = step[f->column[k]];
    MG_TRY(mg_squares_in_time(s, mg_null_space_remove(&s->stop, &f->null, x, s->error)));
    for (int64_t k = 0; k < f->count; k++)
        step[f->column[k]] = x[k];
    return MARGIN_OK;
}

margin_status mg_squares_factor_start(mg_squares *s, const mg_squares_factor *f, double *x) {
    mg_cholesky_solve_upper(s->design.isa, f->rank, f->matrix, f->ld, x);
    place(s, f, x, s->step);
    return project(s, f, s->step);
}

static void solve_basic(mg_squares *s, const mg_squares_factor *f, const double *gradient,
                        double *step) {
    double *x = f->work;
    for (int64_t k = 0; k < f->rank; k++)
        x[k] = f->scale[k] * gradient[f->column[k]];
    mg_cholesky_solve(s->design.isa, f->rank, f->matrix, f->ld, x);
    place(s, f, x, step);
}

/* f->product = A'CA v of the centred columns */
static margin_status squares_multiply(mg_squares *s, const mg_squares_factor *f, const double *v) {
    double *out = f->product, total = 0.0, centre = 0.0;
    for (int64_t j = 0; j < s->columns; j++)
        centre += s->mean[j] * v[j];
    MG_TRY(
        mg_design_product(&s->design, NULL, s->samples, s->c, v, -centre, out, &total, s->error));
    for (int64_t j = 0; j < s->columns; j++)
        out[j] = s->norm[j] > 0.0 ? out[j] - s->mean[j] * total : 0.0;
    return MARGIN_OK;
}

/* Products of rounded numbers tell what A sees as badly as the square of the condition; a sum of
 * its rows tells it better, and what the step has besides is taken out. */
static margin_status correct_null(mg_squares *s, const mg_squares_factor *f, double *step) {
    double *rest = f->product, *away = f->away;
    solve_basic(s, f, step, away);
    MG_TRY(squares_multiply(s, f, away));
    for (int64_t j = 0; j < s->columns; j++)
        away[j] = rest[j] -= step[j];
    MG_TRY(project(s, f, away));
    for (int64_t j = 0; j < s->columns; j++)
        step[j] += rest[j] - away[j];
    return MARGIN_OK;
}

margin_status mg_squares_factor_correct(mg_squares *s, void *factor, double *step) {
    const mg_squares_factor *f = factor;
    solve_basic(s, f, s->gradient, step);
    s->distance = mg_squares_along(s, step); /* of least norm it may have lost digits */
    MG_TRY(project(s, f, step));
    const bool tells = f->away && mg_squares_size(s, step) > MG_SQUARES_ENOUGH;
    return tells && !s->out_of_time ? correct_null(s, f, step) : MARGIN_OK;
}

/* ---- Directions that A does not see ---------------------------------------------------------- */

double mg_squares_blur(const mg_squares *s, const mg_squares_factor *f) {
    const double *shift = s->problem->shift;
    double most = 0.0;
    for (int64_t k = 0; k < f->count && shift && !s->intercept; k++)
        most = fmax(most, fabs(shift[f->column[k]]) / s->norm[f->column[k]]);
    return 8.0 * 0x1p-53 * sqrt((double)f->count) * (1.0 + sqrt(s->total) * most);
}

void mg_squares_name_columns(mg_squares *s, const bool *takes_part) {
    enum { MOST_NAMES = 6 };
    char *text = s->columns_text, buffer[32];
    const size_t room = sizeof s->columns_text - 40;
    size_t length = 0;
    int64_t named = 0, more = 0;
    for (int64_t j = 0; j < s->columns; j++) {
        if (!takes_part[j]) continue;
        const char *name = mg_column_name(s->problem->columns, j, buffer);
        if (more > 0 || named >= MOST_NAMES || length + strlen(name) + 3 > room) {
            more++;
            continue;
        }
        length +=
            (size_t)snprintf(text + length, room - length, "%s%s", named > 0 ? ", " : "", name);
        named++;
    }
    if (more > 0)
        snprintf(text + length, sizeof s->columns_text - length, "%s%lld%s",
                 named > 0 ? " and " : "", (long long)more, named > 0 ? " more" : " columns");
}

static void find_names(mg_squares *s, const mg_squares_factor *f, bool *takes_part) {
    const double little = 1e-5;
    memset(takes_part, 0, (size_t)s->columns * sizeof *takes_part);
    for (int64_t l = f->rank; l < f->count; l++) {
        const double *sum = f->matrix + l * f->count;
        takes_part[f->column[l]] = true;
        for (int64_t i = 0; i < f->rank; i++)
            if (fabs(sum[i]) * f->scale[l] > little * f->scale[i]) takes_part[f->column[i]] = true;
    }
    mg_squares_name_columns(s, takes_part);
}

margin_status mg_squares_exact_rank(mg_squares *s, int64_t *rank) {
    bool *independent;
    MG_ARENA_NEW(&s->arena, independent, s->columns + 1, "the dependent columns", s->error);
    MG_TRY(mg_squares_in_time(s, mg_exact_columns(s->context, s->problem, s->intercept, s->c,
                                                  independent, rank, s->error)));
    *rank = s->out_of_time ? s->columns : *rank - s->intercept;
    return MARGIN_OK;
}

/* What is left out must be nothing at all: a direction of rounding's size may fit the target. */
static margin_status judge_rank(mg_squares *s, const mg_squares_factor *f) {
    const double little = 4e6; /* multiplications */
    const double most = (double)MG_MIN(s->samples, s->columns);
    const mg_column_sums sums = {.count = f->count - f->rank,
                                 .terms = f->rank,
                                 .ld = f->count,
                                 .column = f->column,
                                 .factors = f->null.sums};
    int64_t rank, rows = s->samples;
    bool hold = false;
    if (s->samples < s->columns)
        MG_TRY(mg_exact_rows(s->context, s->problem, s->c, NULL, &rows, s->error));
    s->is_partial = f->rank < rows - s->intercept;
    if (!s->is_partial) return MARGIN_OK; /* there can be no more */
    MG_TRY(mg_squares_in_time(
        s, mg_exact_sums(s->context, s->problem, s->intercept, s->c, &sums, &hold, s->error)));
    if (s->out_of_time) return MARGIN_OK;
    s->is_partial = !hold;
    s->is_undecided = most * most * (double)s->columns > little;
    if (hold || s->is_undecided) return MARGIN_OK;
    MG_TRY(mg_squares_exact_rank(s, &rank));
    s->is_partial = rank > f->rank;
    return MARGIN_OK;
}

margin_status mg_squares_factor_null(mg_squares *s, mg_squares_factor *f) {
    bool *marks;
    if (f->rank == f->count) return MARGIN_OK;
    s->rank = f->rank;
    MG_TRY(mg_squares_in_time(s, mg_null_space_make(&s->stop, &s->arena, f->count, f->rank,
                                                    f->matrix, f->scale, &f->null, s->error)));
    if (s->out_of_time) return MARGIN_OK;
    MG_ARENA_NEW(&s->arena, marks, s->columns + 1, "the dependent columns", s->error);
    find_names(s, f, marks);
    return judge_rank(s, f);
}

/* v: directions that the factor leaves out, in a random mixture, made accurate by the data. */
static margin_status choose_null(mg_squares *s, const mg_squares_factor *f, int64_t turn,
                                 double *v) {
    double *rest = s->gradient;
    memset(v, 0, (size_t)s->columns * sizeof *v);
    for (int64_t k = 0; k < f->count; k++) {
        const uint64_t at = (uint64_t)(turn * f->count + k);
        v[f->column[k]] = mg_random_below(0, MG_RANDOM_CHECK, at, 2) ? f->scale[k] : -f->scale[k];
    }
    memcpy(rest, v, (size_t)s->columns * sizeof *v);
    MG_TRY(project(s, f, rest));
    for (int64_t j = 0; j < s->columns; j++)
        v[j] -= rest[j];
    MG_TRY(squares_multiply(s, f, v));
    solve_basic(s, f, f->product, rest);
    for (int64_t j = 0; j < s->columns; j++)
        v[j] -= rest[j];
    return MARGIN_OK;
}

margin_status mg_squares_factor_check(mg_squares *s, const mg_squares_factor *f, bool *empty) {
    enum { TURNS = 2 };
    const double least = mg_squares_blur(s, f);
    double *v = s->step;
    *empty = true;
    for (int64_t turn = 0; turn < TURNS && *empty && !s->out_of_time; turn++) {
        double square = 0.0, left = 0.0;
        MG_TRY(choose_null(s, f, turn, v));
        MG_TRY(squares_multiply(s, f, v));
        for (int64_t k = 0; k < f->count; k++) {
            const double own = v[f->column[k]] / f->scale[k];
            square += own * own;
            left += v[f->column[k]] * f->product[f->column[k]];
        }
        *empty = left <= least * least * square;
    }
    return MARGIN_OK;
}
