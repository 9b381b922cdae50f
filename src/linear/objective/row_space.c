/* Where columns are more than samples: the optimum of a column for each sample.
 *
 * All weights that a step can lead to are w = (A - 1 m')' u, m the mean row, 0 without an
 * intercept. With L L' = (A - 1 m')(A - 1 m')' and v = L'u scores are L v and |w| is |v|: the
 * objective of the rows of L is that of A, and a pass over it takes samples / columns of the work.
 * From its optimum steps go on, and the proof is that of A. */
#include "linear/objective/row_space.h"
#include "base/scoped.h"
#include "data/matrix/matrix.h"
#include "math/products/cholesky.h"

#include <float.h>
#include <string.h>

static const char purpose[] = "products of the rows";

static bool are_made(const mg_design *d) {
    return d->problem->maker || mg_is_by_columns(&d->problem->x);
}

/* Products of rows that lie far from 0, or are long for a few columns, lose what the others say. */
static bool keeps_digits(const mg_design *d, const double *centre, const double *factor) {
    static const double enough = 1e-4;
    double sizes = 0.0, logs = 0.0;
    int64_t count = 0;
    for (int64_t j = 0; j < d->columns; j++) {
        const double away = centre[j] - (d->shift ? d->shift[j] : 0.0);
        sizes += away * away;
        if (!(factor[j] > 0.0)) continue;
        sizes += 1.0 / factor[j] / factor[j];
        logs -= 2.0 * log(factor[j]);
        count++;
    }
    return DBL_EPSILON * sizes <= enough * (double)count * exp(logs / (double)MG_MAX(count, 1));
}

/* Where each row begins, of those that are made in a copy of them. */
static margin_status find_rows(const mg_linear_job *job, mg_arena *arena, const void **rows) {
    mg_design *d = job->objective->design;
    const mg_problem *p = d->problem;
    const int64_t size = mg_type_size(p->x.value_type);
    const bool there = !are_made(d);
    const int64_t bytes = size * (there ? p->x.stride : d->columns);
    const char *from = p->x.values;
    if (!there) {
        double *copy;
        MG_ARENA_NEW(arena, copy, d->samples * d->columns, purpose, job->error);
        mg_design_copy_rows(d, NULL, d->samples, copy);
        from = (const char *)copy;
    }
    for (int64_t i = 0; i < d->samples; i++)
        rows[i] = from + bytes * (there ? mg_sample_row(p, i) : i);
    return MARGIN_OK;
}

/* Products of the rows: the Gram of a matrix whose columns they are. */
static margin_status multiply_rows(const mg_linear_job *job, double *gram) {
    const mg_design *d = job->objective->design;
    mg_weighted_gram request = {0};
    const void **rows;
    double *squares;
    MG_SCOPED(mg_design, turned);
    MG_SCOPED_ARENA(arena, d->heap);
    MG_TRY(MG_PIECES(&arena, purpose, job->error, MG_PIECE(rows, d->samples),
                     MG_PIECE(squares, d->columns)));
    MG_TRY(find_rows(job, &arena, rows));
    const mg_problem problem = {.kind = MG_CLUSTERING,
                                .x = {.rows = d->columns,
                                      .columns = d->samples,
                                      .value_type = d->problem->x.value_type,
                                      .column_values = rows},
                                .count = d->columns};
    for (int64_t j = 0; d->scale && j < d->columns; j++)
        squares[j] = d->scale[j] * d->scale[j];
    if (d->scale) request.weights = squares;
    MG_TRY(mg_design_create(d->context, &problem, &turned, job->error));
    return mg_design_gram(&turned, &request, gram, job->error);
}

/* From products of the rows, one number more each way, to L, with 0 above it; mean: the products of
 * each with the mean row, which is taken off. */
static margin_status factor_rows(const mg_linear_job *job, double *k, double *mean,
                                 double *diagonal) {
    const mg_objective *o = job->objective;
    const mg_vector_ops *vectors = mg_vector_ops_for(o->design->isa);
    const int64_t n = o->samples;
    double all = 0.0, least = 1e-300; /* what a row like the mean row gets */
    for (int64_t i = 0; i < n; i++) {
        least = fmax(least, mg_ridge_double * k[i * (n + 2)]);
        mean[i] = o->intercept ? vectors->dot(k + i * (n + 1), o->c, n) / o->mass : 0.0;
        all += o->c[i] * mean[i] / o->mass;
    }
    for (int64_t i = 0; i < n; i++) {
        for (int64_t l = 0; l < n; l++)
            k[i * n + l] = k[i * (n + 1) + l] - (mean[i] + mean[l] - all);
        diagonal[i] = fmax(k[i * n + i], least);
    }
    MG_TRY(mg_ridge_factor(o->design->context, n, k, diagonal, mg_ridge_double, job->error));
    for (int64_t i = 0; i < n; i++)
        memset(k + i * n + i + 1, 0, (size_t)(n - 1 - i) * sizeof *k);
    return MARGIN_OK;
}

/* From v and the intercepts behind it to w and b; u: samples x functions. */
static margin_status return_from_rows(const mg_linear_job *job, const double *factor,
                                      const double *mean, double *v, double *u, double *w,
                                      double *b) {
    const mg_objective *o = job->objective;
    const mg_vector_ops *vectors = mg_vector_ops_for(o->design->isa);
    const int64_t n = o->samples, functions = o->functions;
    const double *shift = o->design->shift;
    for (int64_t k = 0; k < functions; k++) {
        double *own = v + k * n;
        mg_cholesky_solve_upper(o->design->isa, n, factor, n, own);
        const double total = o->intercept ? mg_sum(own, n) / o->mass : 0.0;
        b[k] = v[n * functions + k];
        for (int64_t i = 0; i < n; i++) {
            u[i * functions + k] = own[i] - total * o->c[i];
            b[k] -= u[i * functions + k] * mean[i];
        }
    }
    MG_TRY(mg_objective_gradient(o, u, w, v + n * functions, job->error));
    for (int64_t k = 0; shift && k < functions; k++)
        b[k] -= vectors->dot(shift, w + k * o->columns, o->columns);
    return MARGIN_OK;
}

/* As a solution of its own, a little closer, so that it is one behind the way back, too. */
static margin_status solve_in_rows(const mg_linear_job *job, int64_t steps, const double *factor,
                                   mg_linear_solution *found) {
    const mg_objective *o = job->objective;
    const int64_t n = o->samples;
    mg_problem problem = *o->design->problem;
    mg_linear_job own = *job;
    MG_SCOPED(mg_design, design);
    MG_SCOPED(mg_objective, objective);
    problem.x = margin_dense_f64(factor, n, n, n);
    problem.index = NULL;
    problem.maker = NULL;
    problem.scale = problem.shift = NULL;
    own.objective = &objective;
    own.trace = NULL;
    own.tolerance *= 0.5;
    if (o->loss->kind == MG_LOSS_SQUARED_HINGE) own.solver = &mg_solver_newton; /* few steps */
    if (own.stop.max_iterations >= 0)
        own.stop.max_iterations = MG_MAX(own.stop.max_iterations - steps - 1, 0);
    MG_TRY(mg_design_create(o->design->context, &problem, &design, job->error));
    MG_TRY(
        mg_objective_create(&design, o->loss, &o->penalty, o->intercept, &objective, job->error));
    return own.solver->solve(&own, found);
}

bool mg_has_row_space(const mg_objective *o) {
    enum { MOST = 2800 };
    const double many = o->loss->kind == MG_LOSS_HINGE ? 3.0 : 1.25;
    return !mg_is_csr(&o->design->problem->x) && o->samples <= MOST &&
           (double)o->columns > many * (double)o->samples;
}

bool mg_can_solve_in_rows(const mg_objective *o, const double *centre, const double *factor) {
    enum { MOST_COPY = 1 << 28 };
    const int64_t n = o->samples;
    const int64_t copy = are_made(o->design) ? n * o->columns * (int64_t)sizeof(double) : 0;
    const bool same = o->intercept || !o->design->shift;
    return mg_has_row_space(o) && same && o->penalty.rho > 0.0 && copy <= MOST_COPY &&
           mg_fits_limit(o->design->heap, 2 * n * n * (int64_t)sizeof(double) + copy, 4) &&
           keeps_digits(o->design, centre, factor);
}

margin_status mg_solve_in_rows(const mg_linear_job *job, mg_linear_solution *solution, double *w,
                               double *b) {
    const mg_objective *o = job->objective;
    const int64_t n = o->samples, numbers = n * o->functions;
    mg_linear_solution found = {.alpha = solution->alpha};
    double *k, *mean, *u;
    MG_SCOPED_ARENA(arena, o->design->heap);
    MG_TRY(MG_PIECES(&arena, purpose, job->error, MG_PIECE(k, (n + 1) * (n + 1)), MG_PIECE(mean, n),
                     MG_PIECE(u, numbers), MG_PIECE(found.w, numbers + o->functions)));
    found.b = found.w + numbers;
    memset(found.w, 0, (size_t)(numbers + o->functions) * sizeof *found.w);
    mg_stop_arm(&job->stop);
    margin_status status = multiply_rows(job, k);
    if (status >= 0) status = factor_rows(job, k, mean, u);
    if (mg_stop_cut(&job->stop, status)) return MARGIN_STOPPED_TIME;
    mg_stop_disarm(&job->stop);
    MG_TRY(status);
    MG_TRY(solve_in_rows(job, solution->iterations, k, &found));
    solution->iterations += found.iterations;
    return return_from_rows(job, k, mean, found.w, u, w, b);
}
