/* The columns are taken in their order: one that is, to rounding, a sum of those before it is set
 * aside, and what it is the sum of is remembered (the rest of its Householder column is empty). So
 * the names are those a reader expects: the total depends on its parts, not the other way round,
 * where it comes behind them. */
#include "linear/learners/column_variances.h"

#include "math/products/cholesky.h"

#include <string.h>

static const char purpose[] = "the variances of the coefficients";

/* ---- The triangle ---------------------------------------------------------------------------- */

/* Cholesky of the products of the columns, where there is much to do and the condition allows it:
 * the variances then are good to 1e-10. r: by rows, the lower triangle L. */
static margin_status try_products(mg_column_variances *v, double *l, bool *done) {
    const double most = 1e3;
    mg_squares *s = &v->s;
    const int64_t n = v->f.count, size = s->columns + 1;
    double *gram, *factor, norm = 0.0;
    MG_TRY(MG_PIECES(&s->arena, purpose, s->error, MG_PIECE(gram, size * size),
                     MG_PIECE(factor, s->columns)));
    for (int64_t j = 0; j < s->columns; j++)
        factor[j] = s->norm[j] > 0.0 ? 1.0 / s->norm[j] : 0.0;
    const mg_weighted_gram request = {.weights = s->c, .centre = s->mean, .factor = factor};
    MG_TRY(mg_design_gram(&s->design, &request, gram, s->error));
    for (int64_t k = 0; k < n; k++) {
        double sum = 0.0;
        for (int64_t i = 0; i < n; i++) {
            l[k * n + i] = gram[v->f.column[k] * size + v->f.column[i]];
            sum += fabs(l[k * n + i]);
        }
        norm = fmax(norm, sum);
    }
    MG_TRY(mg_squares_try_cholesky(s, l, n, n, norm, v->f.work, done));
    *done = *done && s->condition < most;
    return MARGIN_OK;
}

/* Columns of the triangle as rows of `l`: column k has k + 1 numbers. */
static margin_status make_triangle(mg_column_variances *v, double *l) {
    const double little = 1e8; /* multiply-adds */
    mg_squares *s = &v->s;
    const int64_t n = v->f.count;
    bool done = false;
    double *r;
    if ((double)s->samples * (double)n * (double)n > little) MG_TRY(try_products(v, l, &done));
    if (done) return MARGIN_OK;
    MG_ARENA_NEW(&s->arena, r, n * n, purpose, s->error);
    MG_TRY(mg_squares_triangle(s, &v->f, r));
    for (int64_t k = 0; k < n; k++)
        for (int64_t i = 0; i <= k; i++)
            l[k * n + i] = r[i * n + k];
    return MARGIN_OK;
}

/* ---- Columns that are sums of others --------------------------------------------------------- */

static margin_status add_dependence(mg_column_variances *v, int64_t k, const double *column,
                                    double blur, mg_inference *out) {
    const mg_squares *s = &v->s;
    const int64_t j = v->f.column[k];
    double *x = v->row, most = 0.0; /* of columns of length 1 */
    mg_dependence *d = &out->dependences[out->dependence_count];
    int64_t *terms;
    double *factors;
    MG_TRY(MG_PIECES(out->arena, purpose, s->error, MG_PIECE(terms, v->kept_count),
                     MG_PIECE(factors, v->kept_count)));
    memcpy(x, column, (size_t)v->kept_count * sizeof *x);
    mg_cholesky_solve_upper(s->design.isa, v->kept_count, v->lower, v->f.count, x);
    for (int64_t l = 0; l < v->kept_count; l++)
        most = fmax(most, fabs(x[l]));
    const double least = fmax(1e-7, 1e3 * blur) * fmax(most, 1.0);
    *d = (mg_dependence){.column = j, .terms = terms, .factors = factors, .constant = s->mean[j]};
    double size = fabs(s->mean[j]);
    for (int64_t l = 0; l < v->kept_count; l++) {
        if (!(fabs(x[l]) > least)) continue;
        const int64_t other = v->f.column[v->kept[l]];
        terms[d->term_count] = other;
        factors[d->term_count] = x[l] * (s->norm[j] / s->norm[other]);
        d->constant -= factors[d->term_count] * s->mean[other];
        size += fabs(factors[d->term_count++] * s->mean[other]);
    }
    if (fabs(d->constant) <= fmax(1e-9, 1e3 * blur) * fmax(size, s->norm[j] / sqrt(s->total)))
        d->constant = 0.0;
    out->dependence_count++;
    return MARGIN_OK;
}

/* Reflects rows [first, last] of columns k and on so that column k has nothing behind `first`. */
static void variances_reflect(const mg_vector_ops *ops, double *l, int64_t n, int64_t k,
                              int64_t first) {
    double *x = l + k * n + first;
    const int64_t count = k - first + 1;
    const double length = sqrt(ops->square(x, count));
    const double beta = x[0] > 0.0 ? -length : length, pivot = x[0] - beta;
    if (count == 1 || !(length > 0.0)) return;
    for (int64_t other = k + 1; other < n; other++) {
        double *y = l + other * n + first;
        const double sum = ops->dot(x + 1, y + 1, count - 1);
        const double factor = (pivot * y[0] + sum) / (pivot * beta);
        y[0] += factor * pivot;
        ops->add(y + 1, factor, x + 1, count - 1);
    }
    x[0] = beta;
    memset(x + 1, 0, (size_t)(count - 1) * sizeof *x);
}

static margin_status sort_columns(mg_column_variances *v, double *l, mg_inference *out) {
    const mg_squares *s = &v->s;
    const mg_vector_ops *ops = mg_vector_ops_for(s->design.isa);
    const int64_t n = v->f.count;
    /* nearer than the digits of the rows: weights of such columns mean nothing one by one */
    const double blur = 64.0 * mg_squares_blur(s, &v->f);
    for (int64_t k = 0; k < n; k++) {
        const int64_t rank = v->kept_count;
        double *column = l + k * n;
        if (mg_cancelled(s->context)) return mg_fail_cancelled(s->error);
        if (sqrt(ops->square(column + rank, k - rank + 1)) <= blur) {
            MG_TRY(add_dependence(v, k, column, blur, out));
            continue;
        }
        variances_reflect(ops, l, n, k, rank);
        if (rank < k) memcpy(v->lower + rank * n, column, (size_t)(rank + 1) * sizeof *column);
        v->kept[v->kept_count++] = k;
    }
    return MARGIN_OK;
}

/* ---- Variances ------------------------------------------------------------------------------- */

/* Row k of the inverse of L', from entry k on; its square is the inverse's diagonal. */
static void inverse_row(const mg_column_variances *v, int64_t k, double *row) {
    const int64_t n = v->f.count, left = v->kept_count - k;
    memset(row, 0, (size_t)left * sizeof *row);
    row[0] = 1.0;
    mg_cholesky_solve_lower(v->s.design.isa, left, v->lower + k * n + k, n, row);
}

static double scale_of(const mg_column_variances *v, int64_t k) {
    return 1.0 / v->s.norm[v->f.column[v->kept[k]]];
}

static margin_status set_variances(mg_column_variances *v, mg_inference *out) {
    const mg_squares *s = &v->s;
    const mg_vector_ops *ops = mg_vector_ops_for(s->design.isa);
    for (int64_t j = 0; j < out->coefficients; j++)
        out->variance[j] = (double)NAN;
    for (int64_t j = 0; j < out->columns; j++)
        out->inflation[j] = (double)NAN;
    for (int64_t k = 0; k < v->kept_count; k++) {
        const int64_t j = v->f.column[v->kept[k]];
        if (mg_cancelled(s->context)) return mg_fail_cancelled(s->error);
        inverse_row(v, k, v->row);
        const double square = ops->square(v->row, v->kept_count - k);
        out->variance[j] = square * scale_of(v, k) * scale_of(v, k) / s->unit;
        if (s->intercept) out->inflation[j] = square;
    }
    if (!s->intercept) return MARGIN_OK;
    for (int64_t k = 0; k < v->kept_count; k++)
        v->row[k] = s->mean[v->f.column[v->kept[k]]] * scale_of(v, k);
    mg_cholesky_solve_lower(s->design.isa, v->kept_count, v->lower, v->f.count, v->row);
    out->variance[out->columns] = (1.0 / s->total + ops->square(v->row, v->kept_count)) / s->unit;
    return MARGIN_OK;
}

/* Coefficients of columns that take part in a dependence could be any. */
static void clear_undetermined(const mg_inference *out) {
    for (int64_t d = 0; d < out->dependence_count; d++) {
        const mg_dependence *dependence = &out->dependences[d];
        for (int64_t k = 0; k < dependence->term_count; k++)
            out->variance[dependence->terms[k]] = (double)NAN;
        for (int64_t k = 0; k < dependence->term_count; k++)
            out->inflation[dependence->terms[k]] = (double)NAN;
        if (out->intercept && dependence->term_count > 0 && dependence->constant != 0.0)
            out->variance[out->columns] = (double)NAN;
    }
}

/* covariance_jk = row_j . row_k of the inverse; with the intercept last. */
static margin_status set_covariance(mg_column_variances *v, mg_inference *out) {
    const mg_squares *s = &v->s;
    const mg_vector_ops *ops = mg_vector_ops_for(s->design.isa);
    const int64_t n = v->kept_count, size = out->coefficients;
    double *rows;
    MG_ARENA_NEW(out->arena, out->covariance, size * size, purpose, s->error);
    MG_ARENA_NEW(&v->s.arena, rows, n * n, purpose, v->s.error);
    for (int64_t i = 0; i < size * size; i++)
        out->covariance[i] = (double)NAN;
    for (int64_t k = 0; k < n; k++)
        inverse_row(v, k, rows + k * n + k);
    for (int64_t k = 0; k < n; k++) {
        const int64_t j = v->f.column[v->kept[k]];
        double with_intercept = 0.0;
        if (mg_cancelled(s->context)) return mg_fail_cancelled(s->error);
        for (int64_t l = 0; l < n; l++) {
            const int64_t other = v->f.column[v->kept[l]], from = MG_MAX(k, l);
            const double product = ops->dot(rows + k * n + from, rows + l * n + from, n - from) *
                                   scale_of(v, k) * scale_of(v, l) / s->unit;
            out->covariance[j * size + other] = product;
            with_intercept -= product * s->mean[other];
        }
        if (!s->intercept) continue;
        out->covariance[j * size + out->columns] = with_intercept;
        out->covariance[out->columns * size + j] = with_intercept;
    }
    for (int64_t i = 0; i < size; i++)
        out->covariance[i * size + i] = out->variance[i];
    for (int64_t i = 0; i < size * size; i++)
        if (isnan(out->variance[i / size]) || isnan(out->variance[i % size]))
            out->covariance[i] = (double)NAN;
    return MARGIN_OK;
}

/* As the fit estimates it: the root of the condition of the products in the 1-norm. */
static void set_condition(mg_column_variances *v, mg_inference *out) {
    const mg_vector_ops *ops = mg_vector_ops_for(v->s.design.isa);
    const int64_t n = v->f.count;
    double norm = 0.0;
    out->condition = 1.0;
    if (v->kept_count == 0) return;
    for (int64_t k = 0; k < v->kept_count; k++) {
        double sum = 0.0;
        for (int64_t l = 0; l < v->kept_count; l++)
            sum += fabs(ops->dot(v->lower + k * n, v->lower + l * n, MG_MIN(k, l) + 1));
        norm = fmax(norm, sum);
    }
    out->condition = 1.0 / sqrt(mg_cholesky_condition(v->s.context, v->kept_count, v->lower, n,
                                                      norm, v->f.work));
}

static margin_status take_apart(mg_column_variances *v, mg_inference *out) {
    mg_squares *s = &v->s;
    MG_TRY(mg_squares_begin(s));
    MG_TRY(mg_squares_moments(s));
    MG_TRY(mg_squares_factor_new(s, &v->f));
    const int64_t n = v->f.count;
    out->columns = s->columns;
    out->intercept = s->intercept;
    out->coefficients = s->columns + s->intercept;
    out->dependence_count = 0;
    MG_TRY(MG_PIECES(out->arena, purpose, s->error, MG_PIECE(out->variance, out->coefficients),
                     MG_PIECE(out->inflation, out->columns),
                     MG_PIECE(out->dependences, s->columns)));
    MG_TRY(MG_PIECES(&s->arena, purpose, s->error, MG_PIECE(v->lower, n * n), MG_PIECE(v->row, n),
                     MG_PIECE(v->kept, n)));
    MG_TRY(make_triangle(v, v->lower));
    MG_TRY(sort_columns(v, v->lower, out));
    out->rank = v->kept_count;
    MG_TRY(set_variances(v, out));
    clear_undetermined(out);
    for (int64_t j = 0; j < out->columns; j++)
        if (!(s->norm[j] > 0.0))
            out->dependences[out->dependence_count++] =
                (mg_dependence){.column = j, .constant = s->mean[j]};
    set_condition(v, out);
    return out->want_covariance ? set_covariance(v, out) : MARGIN_OK;
}

margin_status mg_column_variances_make(mg_fit *fit, const double *h, bool intercept,
                                       mg_column_variances *v, mg_inference *out) {
    memset(v, 0, sizeof *v);
    v->problem = *fit->problem;
    v->problem.weight = h;
    if (!v->problem.target) v->problem.target = h; /* finite numbers: it plays no part */
    v->s = mg_squares_of(fit, intercept);
    v->s.problem = &v->problem;
    return take_apart(v, out);
}

margin_status mg_column_variances_step(mg_column_variances *v, const double *r, double *step,
                                       double *intercept_step) {
    mg_squares *s = &v->s;
    const int64_t n = v->f.count;
    double total = 0.0;
    MG_TRY(mg_design_gradient(&s->design, r, s->gradient, &total, s->error));
    for (int64_t k = 0; k < v->kept_count; k++) {
        const int64_t j = v->f.column[v->kept[k]];
        v->row[k] = scale_of(v, k) * (s->gradient[j] - s->mean[j] * total) / s->unit;
    }
    mg_cholesky_solve(s->design.isa, v->kept_count, v->lower, n, v->row);
    memset(step, 0, (size_t)s->columns * sizeof *step);
    *intercept_step = s->intercept ? total / s->total / s->unit : 0.0;
    for (int64_t k = 0; k < v->kept_count; k++) {
        const int64_t j = v->f.column[v->kept[k]];
        step[j] = scale_of(v, k) * v->row[k];
        if (s->intercept) *intercept_step -= s->mean[j] * step[j];
    }
    return MARGIN_OK;
}
