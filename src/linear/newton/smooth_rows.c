/* Where columns are more than samples: the optimum of a column for each sample.
 *
 * All weights that a step can lead to are w = (A - 1 m')' u, m the mean row, 0 without an
 * intercept. With L L' = (A - 1 m')(A - 1 m')' and v = L'u scores are L v and |w| is |v|: the
 * objective of the rows of L is that of A, and a pass over it takes samples / columns of the work.
 * From its optimum steps go on, and the proof is that of A. */
#include "base/scoped.h"
#include "data/matrix/matrix.h"
#include "linear/newton/smooth.h"
#include "math/products/cholesky.h"

#include <float.h>
#include <string.h>

static const char purpose[] = "products of the rows";

static bool are_made(const mg_smooth *s) {
    return s->design->problem->maker || mg_is_by_columns(&s->design->problem->x);
}

/* Products of rows that lie far from 0, or are long for a few columns, lose what the others say. */
static bool keeps_digits(const mg_smooth *s) {
    static const double enough = 1e-4;
    const double *shift = s->design->shift;
    double sizes = 0.0, logs = 0.0;
    int64_t count = 0;
    for (int64_t j = 0; j < s->columns; j++) {
        const double away = s->centre[j] - (shift ? shift[j] : 0.0);
        sizes += away * away;
        if (!(s->factor[j] > 0.0)) continue;
        sizes += 1.0 / s->factor[j] / s->factor[j];
        logs -= 2.0 * log(s->factor[j]);
        count++;
    }
    return DBL_EPSILON * sizes <= enough * (double)count * exp(logs / (double)MG_MAX(count, 1));
}

/* Where each row begins, of those that are made in a copy of them. */
static margin_status find_rows(const mg_smooth *s, mg_arena *arena, const void **rows) {
    const mg_problem *p = s->design->problem;
    const int64_t size = mg_type_size(p->x.value_type);
    const bool there = !are_made(s);
    const int64_t bytes = size * (there ? p->x.stride : s->columns);
    const char *from = p->x.values;
    if (!there) {
        double *copy;
        MG_ARENA_NEW(arena, copy, s->samples * s->columns, purpose, s->job->error);
        mg_design_copy_rows(s->design, NULL, s->samples, copy);
        from = (const char *)copy;
    }
    for (int64_t i = 0; i < s->samples; i++)
        rows[i] = from + bytes * (there ? mg_sample_row(p, i) : i);
    return MARGIN_OK;
}

/* Products of the rows: the Gram of a matrix whose columns they are. */
static margin_status multiply_rows(const mg_smooth *s, double *gram) {
    const double *scale = s->design->scale;
    mg_weighted_gram request = {0};
    const void **rows;
    double *squares;
    MG_SCOPED(mg_design, turned);
    MG_SCOPED_ARENA(arena, s->design->heap);
    MG_TRY(MG_PIECES(&arena, purpose, s->job->error, MG_PIECE(rows, s->samples),
                     MG_PIECE(squares, s->columns)));
    MG_TRY(find_rows(s, &arena, rows));
    const mg_problem problem = {.kind = MG_CLUSTERING,
                                .x = {.rows = s->columns,
                                      .columns = s->samples,
                                      .value_type = s->design->problem->x.value_type,
                                      .column_values = rows},
                                .count = s->columns};
    for (int64_t j = 0; scale && j < s->columns; j++)
        squares[j] = scale[j] * scale[j];
    if (scale) request.weights = squares;
    MG_TRY(mg_design_create(s->design->context, &problem, &turned, s->job->error));
    return mg_design_gram(&turned, &request, gram, s->job->error);
}

/* From products of the rows, one number more each way, to L, with 0 above it; mean: the products of
 * each with the mean row, which is taken off. */
static margin_status factor_rows(const mg_smooth *s, double *k, double *mean, double *diagonal) {
    const mg_objective *o = s->objective;
    const int64_t n = s->samples;
    double all = 0.0, least = 1e-300; /* what a row like the mean row gets */
    for (int64_t i = 0; i < n; i++) {
        least = fmax(least, mg_ridge_double * k[i * (n + 2)]);
        mean[i] = o->intercept ? s->vectors->dot(k + i * (n + 1), o->c, n) / o->mass : 0.0;
        all += o->c[i] * mean[i] / o->mass;
    }
    for (int64_t i = 0; i < n; i++) {
        for (int64_t l = 0; l < n; l++)
            k[i * n + l] = k[i * (n + 1) + l] - (mean[i] + mean[l] - all);
        diagonal[i] = fmax(k[i * n + i], least);
    }
    MG_TRY(mg_ridge_factor(s->design->context, n, k, diagonal, mg_ridge_double, s->job->error));
    for (int64_t i = 0; i < n; i++)
        memset(k + i * n + i + 1, 0, (size_t)(n - 1 - i) * sizeof *k);
    return MARGIN_OK;
}

/* From v and the intercepts behind it to w and b; u: samples x functions. */
static margin_status return_from_rows(const mg_smooth *s, const double *factor, const double *mean,
                                      double *v, double *u, mg_smooth_point *point) {
    const mg_objective *o = s->objective;
    const int64_t n = s->samples, functions = s->functions;
    const double *shift = s->design->shift, *b = v + n * functions;
    for (int64_t k = 0; k < functions; k++) {
        double *own = v + k * n;
        mg_cholesky_solve_upper(s->design->isa, n, factor, n, own);
        const double total = o->intercept ? mg_sum(own, n) / o->mass : 0.0;
        point->b[k] = b[k];
        for (int64_t i = 0; i < n; i++) {
            u[i * functions + k] = own[i] - total * o->c[i];
            point->b[k] -= u[i * functions + k] * mean[i];
        }
    }
    MG_TRY(mg_objective_gradient(o, u, point->w, point->sums, s->job->error));
    for (int64_t k = 0; shift && k < functions; k++)
        point->b[k] -= s->vectors->dot(shift, point->w + k * s->columns, s->columns);
    return MARGIN_OK;
}

/* As a solution of its own, a little closer, so that it is one behind the way back, too. */
static margin_status solve_in_rows(mg_smooth *s, const double *factor, mg_linear_solution *found) {
    const mg_objective *o = s->objective;
    const int64_t n = s->samples;
    mg_problem problem = *s->design->problem;
    mg_linear_job job = *s->job;
    MG_SCOPED(mg_design, design);
    MG_SCOPED(mg_objective, objective);
    problem.x = margin_dense_f64(factor, n, n, n);
    problem.index = NULL;
    problem.maker = NULL;
    problem.scale = problem.shift = NULL;
    job.objective = &objective;
    job.trace = NULL;
    if (o->loss->kind == MG_LOSS_SQUARED_HINGE) job.solver = &mg_solver_newton; /* few steps */
    job.tolerance *= 0.5;
    if (job.stop.max_iterations >= 0)
        job.stop.max_iterations = MG_MAX(job.stop.max_iterations - s->solution->iterations - 1, 0);
    MG_TRY(mg_design_create(s->design->context, &problem, &design, job.error));
    MG_TRY(mg_objective_create(&design, o->loss, &o->penalty, o->intercept, &objective, job.error));
    return job.solver->solve(&job, found);
}

bool mg_smooth_can_rows(const mg_smooth *s) {
    enum { FOR_EACH = 150, MOST = 2800, MOST_COPY = 1 << 28 };
    const bool several = s->functions > 1;
    const int64_t n = s->samples;
    const int64_t few = several ? 4 * n - 1 : n + n / 4; /* columns, never n */
    const int64_t many = several ? MG_MIN(FOR_EACH * s->functions, MOST) : MOST;
    const int64_t copy = are_made(s) ? n * s->columns * (int64_t)sizeof(double) : 0;
    const bool same = s->objective->intercept || !s->design->shift;
    return !mg_is_csr(&s->design->problem->x) && same && s->objective->penalty.rho > 0.0 &&
           s->columns > few && n <= many && copy <= MOST_COPY &&
           mg_fits_limit(s->design->heap, 2 * n * n * (int64_t)sizeof(double) + copy, 4) &&
           keeps_digits(s);
}

margin_status mg_smooth_solve_in_rows(mg_smooth *s, mg_smooth_point *point) {
    const int64_t n = s->samples, numbers = n * s->functions;
    mg_linear_solution found = {0};
    double *k, *mean, *u;
    MG_SCOPED_ARENA(arena, s->design->heap);
    MG_TRY(MG_PIECES(&arena, purpose, s->job->error, MG_PIECE(k, (n + 1) * (n + 1)),
                     MG_PIECE(mean, n), MG_PIECE(u, numbers),
                     MG_PIECE(found.w, numbers + s->functions)));
    found.b = found.w + numbers;
    memset(found.w, 0, (size_t)(numbers + s->functions) * sizeof *found.w);
    mg_stop_arm(&s->job->stop);
    margin_status status = multiply_rows(s, k);
    if (status >= 0) status = factor_rows(s, k, mean, u);
    if (mg_stop_cut(&s->job->stop, status)) return MARGIN_STOPPED_TIME;
    mg_stop_disarm(&s->job->stop);
    MG_TRY(status);
    MG_TRY(solve_in_rows(s, k, &found));
    s->solution->iterations += found.iterations;
    return return_from_rows(s, k, mean, found.w, u, point);
}
