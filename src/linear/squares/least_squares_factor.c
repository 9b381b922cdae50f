/* Least squares: solving with a factor of the normal equations, and the solution of least norm
 * where columns depend on each other. */
#include "linear/squares/least_squares.h"

#include "base/sort.h"
#include "math/products/cholesky.h"
#include "math/products/lapack.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

margin_status mg_squares_factor_new(mg_squares *s, mg_squares_factor *f) {
    const int64_t n = s->columns;
    memset(f, 0, sizeof *f);
    MG_ARENA_NEW(&s->arena, f->column, n, "a list of columns", s->error);
    for (int64_t j = 0; j < n; j++)
        if (s->norm[j] > 0.0) f->column[f->count++] = j;
    f->rank = f->count;
    MG_TRY(mg_squares_new(s, 4 * f->count, &f->scale, "the scale of the columns"));
    f->work = f->scale + f->count;
    return mg_squares_new(s, f->count * f->count, &f->matrix, "the normal equations");
}

/* ---- Solving --------------------------------------------------------------------------------- */

void mg_squares_spectral(const mg_squares *s, const double *vectors, const double *values,
                         int64_t rank, int64_t n, double *x, double *sum) {
    const mg_vector_ops *ops = mg_vector_ops_for(s->design.isa);
    memset(sum, 0, (size_t)n * sizeof *sum);
    for (int64_t l = 0; l < rank; l++) {
        const double *vector = vectors + l * n;
        ops->add(sum, ops->dot(vector, x, n) / values[l], vector, n);
    }
    memcpy(x, sum, (size_t)n * sizeof *x);
}

margin_status mg_squares_try_cholesky(mg_squares *s, double *matrix, int64_t n, double norm,
                                      double *work, bool *done) {
    const double least = 10.0 * (double)MG_MAX(n, 1) * 0x1p-53;
    int64_t failed = 0;
    MG_TRY(mg_cholesky_factor(s->context, n, matrix, n, &failed, s->error));
    *done = false;
    if (failed) return MARGIN_OK;
    const double reciprocal = mg_cholesky_condition(s->context, n, matrix, n, norm, work);
    if (mg_cancelled(s->context)) return mg_fail_cancelled(s->error);
    s->condition = 1.0 / sqrt(reciprocal);
    *done = reciprocal > least;
    return MARGIN_OK;
}

margin_status mg_squares_factor_correct(mg_squares *s, void *factor, double *step) {
    const mg_squares_factor *f = factor;
    double *x = f->work;
    for (int64_t k = 0; k < f->count; k++)
        x[k] = f->scale[k] * s->gradient[f->column[k]];
    if (f->values)
        mg_squares_spectral(s, f->matrix, f->values, f->rank, f->count, x, x + f->count);
    else
        mg_cholesky_solve(s->design.isa, f->count, f->matrix, f->count, x);
    memset(step, 0, (size_t)s->columns * sizeof *step);
    for (int64_t k = 0; k < f->count; k++)
        step[f->column[k]] = f->scale[k] * x[k];
    return mg_squares_project(s, f, step);
}

/* ---- Directions that A does not see ---------------------------------------------------------- */

double mg_squares_blur(const mg_squares *s, const mg_squares_factor *f) {
    const double *shift = s->problem->shift;
    double most = 0.0;
    for (int64_t k = 0; k < f->count && shift && !s->intercept; k++)
        most = fmax(most, fabs(shift[f->column[k]]) / s->norm[f->column[k]]);
    return 8.0 * 0x1p-53 * sqrt((double)f->count) * (1.0 + sqrt(s->total) * most);
}

static bool longer_first(int64_t a, int64_t b, const void *scale) {
    return ((const double *)scale)[a] > ((const double *)scale)[b];
}

/* diag(scale) times the vectors that are not used, longest rows first and then with pivots: so each
 * row is as accurate as its own length allows (Cox and Higham, "Stability of Householder QR
 * factorization for weighted least squares problems", 1998). */
static margin_status factor_null(mg_squares *s, mg_squares_factor *f) {
    const int64_t m = f->count, k = m - f->rank;
    int64_t *sorted;
    int *pivots;
    MG_ARENA_NEW(&s->arena, sorted, 2 * m, "a list of columns", s->error);
    MG_ARENA_NEW(&s->arena, pivots, k, "a list of columns", s->error);
    f->order = sorted;
    for (int64_t r = 0; r < m; r++)
        sorted[r] = r;
    mg_sort(sorted, m, sorted + m, longer_first, f->scale);
    memset(pivots, 0, (size_t)k * sizeof *pivots);
    MG_TRY(mg_squares_new(s, m * k, &f->null, "the dependent columns"));
    MG_TRY(mg_squares_new(s, k, &f->tau, "the dependent columns"));
    for (int64_t l = 0; l < k; l++)
        for (int64_t r = 0; r < m; r++)
            f->null[l * m + r] = f->scale[sorted[r]] / f->scale[sorted[0]] *
                                 f->matrix[(f->rank + l) * m + sorted[r]];
    return mg_squares_in_time(
        s, mg_lapack_dgeqp3(&s->stop, m, k, f->null, m, pivots, f->tau, s->error));
}

static margin_status reflect(mg_squares *s, const mg_squares_factor *f, char transpose, double *x) {
    const int64_t m = f->count, k = m - f->rank;
    return mg_squares_in_time(
        s, mg_lapack_dormqr(&s->stop, 'L', transpose, m, 1, k, f->null, m, f->tau, x, m, s->error));
}

margin_status mg_squares_project(mg_squares *s, const mg_squares_factor *f, double *step) {
    const int64_t m = f->count, k = m - f->rank;
    double *x = f->work;
    if (!f->null) return MARGIN_OK;
    for (int64_t r = 0; r < m; r++)
        x[r] = step[f->column[f->order[r]]];
    MG_TRY(reflect(s, f, 'T', x));
    memset(x, 0, (size_t)k * sizeof *x);
    MG_TRY(reflect(s, f, 'N', x));
    if (s->out_of_time) return MARGIN_OK;
    for (int64_t r = 0; r < m; r++)
        step[f->column[f->order[r]]] = x[r];
    return MARGIN_OK;
}

/* Whether column k takes part in a dependence. */
static bool takes_part(const mg_squares_factor *f, int64_t k) {
    double square = 0.0;
    for (int64_t l = f->rank; l < f->count; l++)
        square += f->matrix[l * f->count + k] * f->matrix[l * f->count + k];
    return square > 1e-10;
}

/* "x1, x2, x7 and 3 more" */
static void name_columns(mg_squares *s, const mg_squares_factor *f) {
    enum { MOST_NAMES = 6 };
    char *text = s->columns_text, buffer[32];
    const size_t room = sizeof s->columns_text - 40;
    size_t length = 0;
    int64_t named = 0, more = 0;
    for (int64_t k = 0; k < f->count; k++) {
        if (!takes_part(f, k)) continue;
        const char *name = mg_column_name(s->problem->columns, f->column[k], buffer);
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

margin_status mg_squares_factor_null(mg_squares *s, mg_squares_factor *f) {
    if (f->rank == f->count) return MARGIN_OK;
    name_columns(s, f);
    s->rank = f->rank;
    return factor_null(s, f);
}
