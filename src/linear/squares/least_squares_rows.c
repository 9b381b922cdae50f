/* Least squares with more columns than rows: w = A'u with centred rows, and
 *
 *   (A A' + alpha I) u = y - centre
 *
 * over the samples, so the matrix is as small as the data allows and w has the least norm by
 * itself. Rows are scaled by the roots of their weights. Centred rows add up to 0: along the vector
 * of ones the matrix is empty, and gets its mean diagonal there, which changes no solution. */
#include "linear/squares/least_squares.h"

#include "learn/exact/exact_columns.h"
#include "math/products/cholesky.h"
#include "math/products/lapack.h"
#include "math/rows/sparse_columns.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

typedef struct row_system {
    mg_matrix_buffer rows; /* scaled; dense rows are centred */
    double *matrix;        /* samples x samples: Cholesky factor, or eigenvectors by rows */
    double *values;        /* NULL: Cholesky */
    int64_t rank;
    double *u;     /* samples */
    double *shift; /* columns: what sparse rows lack: row i has shift * root_i more */
    double *root;  /* samples: sqrt(c) */
    double *work;  /* 2 samples */
} row_system;

/* ---- Rows ------------------------------------------------------------------------------------ */

static margin_status copy_dense(mg_squares *s, row_system *system) {
    const double *scale = s->problem->scale;
    MG_TRY(mg_matrix_new_dense(s->context->heap, s->samples, s->columns, MARGIN_F64,
                               "a centred copy of the rows", &system->rows, s->error));
    double *to = (double *)system->rows.view.values;
    for (int64_t i = 0; i < s->samples; i++, to += system->rows.view.stride) {
        if (mg_cancelled(s->context)) return mg_fail_cancelled(s->error);
        mg_sample_values(s->problem, i, to);
        for (int64_t j = 0; j < s->columns; j++)
            to[j] = s->norm[j] > 0.0
                        ? system->root[i] * ((scale ? scale[j] : 1.0) * to[j] + system->shift[j])
                        : 0.0;
    }
    memset(system->shift, 0, (size_t)s->columns * sizeof *system->shift);
    return MARGIN_OK;
}

static margin_status copy_sparse(mg_squares *s, row_system *system) {
    const mg_problem *problem = s->problem;
    const margin_matrix *x = &problem->x;
    const int64_t stored = mg_sparse_count(x, problem->index, s->samples);
    MG_TRY(mg_matrix_new_csr(s->context->heap, s->samples, s->columns, stored, MARGIN_F64,
                             "a scaled copy of the rows", &system->rows, s->error));
    int64_t *starts = (int64_t *)system->rows.view.row_starts, at = 0;
    int32_t *columns = (int32_t *)system->rows.view.column_indices;
    double *values = (double *)system->rows.view.values;
    for (int64_t i = 0; i < s->samples; i++) {
        const int64_t row = mg_sample_row(problem, i), end = mg_row_start(x, row + 1);
        if (mg_cancelled(s->context)) return mg_fail_cancelled(s->error);
        starts[i] = at;
        for (int64_t k = mg_row_start(x, row); k < end; k++, at++) {
            const int64_t j = mg_column_index(x, k);
            columns[at] = (int32_t)j;
            values[at] = s->norm[j] > 0.0
                             ? system->root[i] * (problem->scale ? problem->scale[j] : 1.0) *
                                   mg_stored_value(x, k)
                             : 0.0;
        }
    }
    starts[s->samples] = at;
    for (int64_t j = 0; j < s->columns; j++)
        if (!(s->norm[j] > 0.0)) system->shift[j] = 0.0;
    return MARGIN_OK;
}

/* ---- The matrix ------------------------------------------------------------------------------ */

/* (z_i + root_i q).(z_k + root_k q) from the products z_i.z_k */
static void add_shift(const mg_squares *s, const row_system *system) {
    const int64_t n = s->samples;
    const mg_vector_ops *ops = mg_vector_ops_for(s->design.isa);
    const mg_row_ops *row_ops = mg_row_ops_for(&system->rows.view, s->design.isa);
    const double square = ops->square(system->shift, s->columns);
    double *product = system->work;
    for (int64_t i = 0; i < n; i++)
        product[i] = row_ops->dot(&system->rows.view, i, system->shift);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < n; k++)
            system->matrix[i * n + k] += product[i] * system->root[k] +
                                         product[k] * system->root[i] +
                                         square * system->root[i] * system->root[k];
}

static margin_status multiply_rows(mg_squares *s, row_system *system) {
    const mg_kernel linear = {.kind = MG_KERNEL_LINEAR};
    if (!system->rows.view.values && !system->rows.view.row_starts) {
        const double *shift = s->problem->shift;
        for (int64_t j = 0; j < s->columns; j++)
            system->shift[j] = (shift ? shift[j] : 0.0) - s->mean[j];
        MG_TRY(mg_is_csr(&s->problem->x) ? copy_sparse(s, system) : copy_dense(s, system));
    }
    const mg_kernel_block block = {.x = &system->rows.view,
                                   .z = &system->rows.view,
                                   .x_count = s->samples,
                                   .z_count = s->samples};
    const mg_kernel_out out = {
        .type = MARGIN_F64, .values = system->matrix, .ld = s->samples, .square = true};
    mg_kernel_scratch *scratch;
    MG_TRY(mg_kernel_scratch_new(s->context, &linear, block.x, block.z, &scratch, s->error));
    const margin_status status = mg_kernel_fill_out(scratch, &block, &out);
    mg_kernel_scratch_free(scratch);
    if (status < 0) return mg_kernel_fail(status, s->error);
    if (mg_is_csr(&system->rows.view)) add_shift(s, system);
    return MARGIN_OK;
}

/* Centres products of rows as they are. *made: rounding of what is far from 0 has not come near. */
static void centre_products(const mg_squares *s, const row_system *system, bool *made) {
    const int64_t n = s->samples;
    const double little = 1e-3;
    double *mean = system->work, all = 0.0, before = 0.0, after = 0.0;
    for (int64_t i = 0; i < n; i++) {
        const double *row = system->matrix + i * n;
        mean[i] = s->intercept ? mg_vector_ops_for(s->design.isa)->dot(row, s->c, n) / s->total : 0;
        all += s->c[i] * mean[i] / s->total;
    }
    for (int64_t i = 0; i < n; i++) {
        double *row = system->matrix + i * n;
        before += s->c[i] * row[i];
        for (int64_t k = 0; k < n; k++)
            row[k] = system->root[i] * system->root[k] * (row[k] - (mean[i] + mean[k] - all));
        after += row[i];
    }
    *made = after > little * before;
}

/* `closely`: of centred copies of the rows, even where it can be had without. */
static margin_status make_matrix(mg_squares *s, row_system *system, bool closely) {
    bool made = false;
    if (!closely)
        MG_TRY(mg_sample_products(s->context, s->problem, system->matrix, &made, s->error));
    if (made) centre_products(s, system, &made);
    if (!made) MG_TRY(multiply_rows(s, system));
    for (int64_t i = 0; i < s->samples; i++)
        system->matrix[i * (s->samples + 1)] += s->alpha;
    return MARGIN_OK;
}

/* Cholesky with the direction of the ones filled. *done: the factor is reliable. */
static margin_status try_cholesky(mg_squares *s, row_system *system, bool *done) {
    const int64_t n = s->samples;
    double trace = 0.0, norm = 0.0, *a = system->matrix;
    for (int64_t i = 0; i < n; i++)
        trace += a[i * n + i];
    const double filled = s->intercept && trace > 0.0 ? trace / (double)n / s->total : 0.0;
    for (int64_t i = 0; i < n; i++) {
        double sum = 0.0;
        for (int64_t k = 0; k < n; k++) {
            a[i * n + k] += filled * system->root[i] * system->root[k];
            sum += fabs(a[i * n + k]);
        }
        norm = fmax(norm, sum);
    }
    MG_TRY(mg_squares_try_cholesky(s, a, n, n, norm, system->work, done));
    system->rank = s->intercept ? n - 1 : n;
    return MARGIN_OK;
}

/* Products of two rows do not tell a direction of a hundred-millionth from none: but for that of
 * the ones and equal rows, what is left out may be what fits the target; and rounding of equal rows
 * may look like more. */
static margin_status find_rank(mg_squares *s, row_system *system) {
    static const double apart = 4.0; /* what is a direction, and what is none */
    const int64_t n = s->samples;
    int64_t rows;
    MG_TRY(mg_exact_rows(s->context, s->problem, s->c, NULL, &rows, s->error));
    rows -= s->intercept;
    s->is_partial = system->rank < rows;
    if (s->alpha > 0.0) return MARGIN_OK;
    system->rank = MG_MIN(system->rank, rows);
    const double *first = system->values + n - system->rank; /* of the directions that are used */
    if (system->rank > 0 && system->rank < n) s->is_partial |= first[0] < apart * first[-1];
    return MARGIN_OK;
}

static margin_status rows_eigenvectors(mg_squares *s, row_system *system) {
    const int64_t n = s->samples;
    int64_t info = 0;
    MG_ARENA_NEW(&s->arena, system->values, n, "the eigenvalues", s->error);
    MG_TRY(mg_squares_in_time(s, mg_lapack_dsyevd(&s->stop, 'V', 'U', n, system->matrix, n,
                                                  system->values, &info, s->error)));
    if (s->out_of_time) return MARGIN_OK;
    MG_REQUIRE(info == 0, s->error, MARGIN_ERROR_INTERNAL,
               "the eigenvectors of the products of the rows did not converge; use solver=qr");
    const double most = system->values[n - 1], least = 8.0 * (double)n * 0x1p-53 * most;
    system->rank = 0;
    for (int64_t l = 0; l < n; l++)
        system->rank += system->values[l] > least;
    MG_TRY(find_rank(s, system));
    const double used = s->alpha > 0.0     ? fmax(system->values[0], DBL_EPSILON * least)
                        : system->rank > 0 ? system->values[n - system->rank]
                                           : most;
    s->condition = used > 0.0 ? sqrt(most / used) : 1.0;
    return MARGIN_OK;
}

/* ---- Solving --------------------------------------------------------------------------------- */

/* x = V diag(1/values) V'x over the last `rank` vectors, by rows; behind x is room for as many. */
static void solve_spectral(const mg_squares *s, const row_system *system, double *x) {
    const mg_vector_ops *ops = mg_vector_ops_for(s->design.isa);
    const int64_t n = s->samples;
    double *sum = x + n;
    memset(sum, 0, (size_t)n * sizeof *sum);
    for (int64_t l = n - system->rank; l < n; l++) {
        const double *vector = system->matrix + l * n;
        ops->add(sum, ops->dot(vector, x, n) / system->values[l], vector, n);
    }
    memcpy(x, sum, (size_t)n * sizeof *x);
}

/* x becomes K^+ A A'x, from the gradient A'x. Where rows are equal, x has a part that nothing fits,
 * and the least of the vectors that are used has its share of it: A'x has not. */
static margin_status take_part(mg_squares *s, const row_system *system, double *x) {
    double shift = 0.0;
    for (int64_t j = 0; j < s->columns && s->intercept; j++)
        shift += s->mean[j] * s->gradient[j];
    MG_TRY(mg_design_scores(&s->design, s->gradient, -shift, x, s->error));
    for (int64_t i = 0; i < s->samples; i++)
        x[i] *= system->root[i];
    solve_spectral(s, system, x);
    return MARGIN_OK;
}

/* Corrects u by the residual of the system over the samples; step = A'(change of u). */
static margin_status rows_correct(mg_squares *s, void *argument, double *step) {
    row_system *system = argument;
    const int64_t n = s->samples;
    double *x = system->work, total = 0.0;
    for (int64_t i = 0; i < n; i++) {
        const double r = -s->slopes[i] / (2.0 * s->c[i]) - s->now.excess / s->total;
        x[i] = system->root[i] * r - s->alpha * system->u[i];
    }
    if (system->values && s->alpha == 0.0 && system->rank < n - s->intercept)
        MG_TRY(take_part(s, system, x));
    if (system->values)
        solve_spectral(s, system, x);
    else
        mg_cholesky_solve(s->design.isa, n, system->matrix, n, x);
    for (int64_t i = 0; i < n; i++) {
        system->u[i] += x[i];
        x[i] *= system->root[i];
    }
    MG_TRY(mg_design_gradient(&s->design, x, step, &total, s->error));
    for (int64_t j = 0; j < s->columns; j++)
        step[j] = s->norm[j] > 0.0 ? step[j] - s->mean[j] * total : 0.0;
    s->distance = mg_squares_along(s, step);
    return MARGIN_OK;
}

static margin_status take_memory(mg_squares *s, row_system *system) {
    const int64_t n = s->samples;
    MG_TRY(MG_PIECES(&s->arena, "the products of the rows", s->error,
                     MG_PIECE(system->matrix, n * n), MG_PIECE(system->u, n),
                     MG_PIECE(system->root, n), MG_PIECE(system->work, 2 * n),
                     MG_PIECE(s->slopes, n), MG_PIECE(system->shift, s->columns)));
    s->dual = system->u;
    for (int64_t i = 0; i < n; i++)
        system->root[i] = sqrt(s->c[i]);
    return MARGIN_OK;
}

static margin_status rows_solve(mg_squares *s, row_system *system) {
    bool reliable = false;
    MG_TRY(mg_squares_moments(s));
    MG_TRY(take_memory(s, system));
    MG_TRY(make_matrix(s, system, false));
    snprintf(s->method, sizeof s->method, "products of rows");
    MG_TRY(mg_squares_in_time(s, mg_stop_check(&s->stop, 0)));
    if (s->out_of_time) return MARGIN_OK;
    MG_TRY(try_cholesky(s, system, &reliable));
    if (!reliable) {
        MG_TRY(make_matrix(s, system, true));
        MG_TRY(rows_eigenvectors(s, system));
        if (s->out_of_time) return MARGIN_OK;
    }
    mg_matrix_buffer_free(&system->rows);
    snprintf(s->method, sizeof s->method, "%s of the products of rows",
             reliable ? "Cholesky factor" : "eigenvectors");
    if (s->alpha == 0.0) s->rank = system->rank;
    mg_squares_start(s);
    return mg_squares_refine(s, rows_correct, system);
}

margin_status mg_squares_rows(mg_squares *s) {
    row_system *system;
    MG_ARENA_NEW(&s->arena, system, 1, "the products of the rows", s->error);
    memset(system, 0, sizeof *system);
    const margin_status status = rows_solve(s, system);
    mg_matrix_buffer_free(&system->rows);
    s->correct = rows_correct;
    s->factor = system;
    return status;
}
