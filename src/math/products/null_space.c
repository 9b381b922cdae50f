/* Projections on what a matrix of dependent columns sees. */
#include "math/products/null_space.h"

#include "base/sort.h"
#include "math/products/blas.h"
#include "math/products/cholesky.h"
#include "math/products/lapack.h"

#include <math.h>
#include <string.h>

static const char purpose[] = "the dependent columns";

static double *sum_at(const mg_null_space *n, int64_t l) {
    return n->sums + l * n->size;
}

typedef struct sums_task {
    const mg_null_space *n;
    const double *factor, *scale;
} sums_task;

/* R11^-1 R12, in the columns' own units; N'N without its ones. */
static void make_sums(void *argument) {
    const sums_task *task = argument;
    const mg_null_space *n = task->n;
    enum { FEW = 8 }; /* sums, which are not worth blocks of the factor */
    const int size = (int)n->size, rank = (int)n->rank, rest = size - rank;
    const double one = 1.0, zero = 0.0;
    if (rest > FEW) mg_blas_solve_upper(rank, rest, task->factor, size, n->sums, size);
    for (int64_t l = 0; l < rest && rest <= FEW; l++)
        mg_cholesky_solve_upper(mg_isa_level(), rank, task->factor, size, sum_at(n, l));
    for (int64_t l = 0; l < rest; l++)
        for (int64_t i = 0; i < rank; i++)
            sum_at(n, l)[i] *= task->scale[i] / task->scale[rank + l];
    mg_blas_dsyrk("U", "T", &rest, &rank, &one, n->sums, &size, &zero, n->inner, &rest, 1, 1);
}

/* N'N and its factor. *done: the lengths of the columns allow it. */
static margin_status factor_inner(const mg_stop *stop, mg_arena *arena, mg_null_space *n,
                                  bool *done, margin_error *error) {
    const double least = 1e-6;
    const int64_t k = n->size - n->rank;
    double norm = 0.0, *work;
    int64_t failed = 0;
    MG_TRY(MG_PIECES(arena, purpose, error, MG_PIECE(work, 2 * k)));
    for (int64_t l = 0; l < k; l++) {
        double sum = 0.0;
        n->inner[l * (k + 1)] += 1.0;
        for (int64_t i = 0; i < k; i++)
            sum += fabs(n->inner[MG_MAX(i, l) * k + MG_MIN(i, l)]);
        norm = fmax(norm, sum);
    }
    MG_TRY(mg_cholesky_factor(stop->context, k, n->inner, k, &failed, error));
    *done = !failed && mg_cholesky_condition(stop->context, k, n->inner, k, norm, work) > least;
    return MARGIN_OK;
}

static bool longer_first(int64_t a, int64_t b, const void *scale) {
    return ((const double *)scale)[a] > ((const double *)scale)[b];
}

/* Longest rows first and then with pivots: so each row is as accurate as its own length allows (Cox
 * and Higham, "Stability of Householder QR factorization for weighted least squares problems",
 * 1998). */
static margin_status reflect_null(const mg_stop *stop, mg_arena *arena, mg_null_space *n,
                                  const double *scale, margin_error *error) {
    const int64_t m = n->size, k = m - n->rank;
    int *pivots;
    MG_TRY(MG_PIECES(arena, purpose, error, MG_PIECE(n->sorted, 2 * m), MG_PIECE(pivots, k),
                     MG_PIECE(n->null, m * k), MG_PIECE(n->tau, k)));
    for (int64_t r = 0; r < m; r++)
        n->sorted[r] = r;
    mg_sort_few(n->sorted, m, n->sorted + m, longer_first, scale);
    memset(pivots, 0, (size_t)k * sizeof *pivots);
    for (int64_t l = 0; l < k; l++) {
        const double own = scale[n->rank + l] / scale[n->sorted[0]];
        for (int64_t r = 0; r < m; r++) {
            const int64_t at = n->sorted[r];
            n->null[l * m + r] = at < n->rank        ? -own * sum_at(n, l)[at]
                                 : at == n->rank + l ? own
                                                     : 0.0;
        }
    }
    return mg_lapack_dgeqp3(stop, m, k, n->null, m, pivots, n->tau, error);
}

margin_status mg_null_space_make(const mg_stop *stop, mg_arena *arena, int64_t size, int64_t rank,
                                 double *factor, const double *scale, mg_null_space *n,
                                 margin_error *error) {
    const int64_t k = size - rank;
    bool done;
    sums_task task = {n, factor, scale};
    *n = (mg_null_space){.size = size, .rank = rank, .sums = factor + rank * size};
    MG_TRY(
        MG_PIECES(arena, purpose, error, MG_PIECE(n->inner, k * k), MG_PIECE(n->work, 2 * size)));
    const margin_status status = mg_blas_run(stop, MG_MAX(rank, k), make_sums, &task, error);
    if (status != MARGIN_OK) return status;
    MG_TRY(factor_inner(stop, arena, n, &done, error));
    return done ? MARGIN_OK : reflect_null(stop, arena, n, scale, error);
}

static margin_status reflect(const mg_stop *stop, const mg_null_space *n, char transpose, double *x,
                             margin_error *error) {
    const int64_t m = n->size, k = m - n->rank;
    return mg_lapack_dormqr(stop, 'L', transpose, m, 1, k, n->null, m, n->tau, x, m, error);
}

static margin_status remove_reflected(const mg_stop *stop, const mg_null_space *n, double *x,
                                      margin_error *error) {
    for (int64_t r = 0; r < n->size; r++)
        n->work[r] = x[n->sorted[r]];
    margin_status status = reflect(stop, n, 'T', n->work, error);
    memset(n->work, 0, (size_t)(n->size - n->rank) * sizeof *x);
    if (status == MARGIN_OK) status = reflect(stop, n, 'N', n->work, error);
    for (int64_t r = 0; r < n->size; r++)
        x[n->sorted[r]] = n->work[r];
    return status;
}

/* x - N (N'N)^-1 N'x */
margin_status mg_null_space_remove(const mg_stop *stop, const mg_null_space *n, double *x,
                                   margin_error *error) {
    const mg_isa isa = mg_isa_level();
    const mg_vector_ops *ops = mg_vector_ops_for(isa);
    const int64_t r = n->rank, k = n->size - r;
    double *y = n->work;
    if (n->null) return remove_reflected(stop, n, x, error);
    for (int64_t l = 0; l < k; l++)
        y[l] = x[r + l] - ops->dot(sum_at(n, l), x, r);
    mg_cholesky_solve(isa, k, n->inner, k, y);
    for (int64_t l = 0; l < k; l++) {
        ops->add(x, y[l], sum_at(n, l), r);
        x[r + l] -= y[l];
    }
    return MARGIN_OK;
}
