/* How certain weighted columns leave the coefficients of a linear function: the inverse of
 *
 *   sum_i h_i (a_i, 1)(a_i, 1)'
 *
 * by orthogonal factors, the columns that are sums of others, and Newton steps with that inverse.
 * Least squares has h the weights of the samples, a likelihood its curvature.
 *
 * The columns are taken in their order: one that is, to rounding, a sum of those before it is set
 * aside, and what it is the sum of is remembered (the rest of its Householder column is empty). So
 * the names are those a reader expects: the total depends on its parts, not the other way round,
 * where it comes behind them.
 *
 * Weights are frequencies: a row of weight k is k rows. So the sum of the weights is the number of
 * observations. */
#include "linear/learners/linear_learner.h"
#include "linear/proof/newton_matrix.h"
#include "math/products/cholesky.h"

#include <string.h>

typedef struct column_variances {
    mg_squares s;        /* the problem whose weights are h */
    mg_problem problem;  /* s.problem */
    mg_squares_factor f; /* the columns that vary */
    int64_t kept_count;  /* of them, in order, those that are no sums of earlier ones */
    int64_t *kept;       /* their numbers in f.column */
    double *lower; /* kept_count x f.count: rows of L with L L' the products of kept columns */
    double *row;   /* f.count */
} column_variances;

typedef struct infer_run {
    mg_fit *fit;
    const mg_problem *problem;
    const double *w;
    double b;
    bool intercept;
    mg_inference *out;
    column_variances v;
    double *scores, *h, *r, *step; /* samples each; columns */
} infer_run;

static const char purpose[] = "the variances of the coefficients";

/* ---- The triangle ---------------------------------------------------------------------------- */

/* Cholesky of the products of the columns, where there is much to do and the condition allows it:
 * the variances then are good to 1e-10. r: by rows, the lower triangle L. */
static margin_status try_products(column_variances *v, double *l, bool *done) {
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
static margin_status make_triangle(column_variances *v, double *l) {
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

static margin_status add_dependence(column_variances *v, int64_t k, const double *column,
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

static margin_status sort_columns(column_variances *v, double *l, mg_inference *out) {
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
static void inverse_row(const column_variances *v, int64_t k, double *row) {
    const int64_t n = v->f.count, left = v->kept_count - k;
    memset(row, 0, (size_t)left * sizeof *row);
    row[0] = 1.0;
    mg_cholesky_solve_lower(v->s.design.isa, left, v->lower + k * n + k, n, row);
}

static double scale_of(const column_variances *v, int64_t k) {
    return 1.0 / v->s.norm[v->f.column[v->kept[k]]];
}

static margin_status set_variances(column_variances *v, mg_inference *out) {
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
            out->variance[dependence->terms[k]] = out->inflation[dependence->terms[k]] =
                (double)NAN;
        if (out->intercept && dependence->term_count > 0 && dependence->constant != 0.0)
            out->variance[out->columns] = (double)NAN;
    }
}

/* covariance_jk = row_j . row_k of the inverse; with the intercept last. */
static margin_status set_covariance(column_variances *v, mg_inference *out) {
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
static void set_condition(column_variances *v, mg_inference *out) {
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

/* Takes apart the columns with the weights h, samples numbers >= 0, and fills in everything of the
 * inference but weight, distance and what the learner's loss says. About 2 m n^2 + n^3/2
 * multiply-adds. */
static margin_status make_variances(infer_run *run, const double *h) {
    mg_inference *out = run->out;
    column_variances *v = &run->v;
    mg_squares *s = &v->s;
    v->problem = *run->problem;
    v->problem.weight = h;
    if (!v->problem.target) v->problem.target = h; /* finite numbers: it plays no part */
    *s = mg_squares_of(run->fit, run->intercept);
    s->problem = &v->problem;
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

/* The Newton step for the gradient sum_i r_i (a_i, 1): step[columns], and for the intercept. r:
 * samples numbers. */
static margin_status newton_step(column_variances *v, const double *r, double *step,
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

/* ---- Rows ------------------------------------------------------------------------------------ */

static margin_status find_scores(infer_run *run) {
    const int64_t samples = run->problem->count, columns = run->problem->x.columns;
    margin_error *error = run->fit->error;
    MG_SCOPED(mg_design, design);
    MG_TRY(MG_PIECES(run->out->arena, "the scores of the rows", error,
                     MG_PIECE(run->scores, samples), MG_PIECE(run->h, samples),
                     MG_PIECE(run->r, samples), MG_PIECE(run->step, columns)));
    MG_TRY(mg_design_create(run->fit->context, run->problem, &design, error));
    return mg_design_scores(&design, run->w, run->b, run->scores, error);
}

/* As many coefficients as rows: nothing would be left over to judge them by. Before anything of the
 * size columns^2 is made. */
static margin_status infer_check_rows(const infer_run *run, double weight, int64_t coefficients) {
    MG_REQUIRE(weight > (double)coefficients, run->fit->error, MG_DATA(FEW_ROWS),
               "%s rows cannot tell how certain %lld coefficients are: there must be more rows",
               mg_number(weight).text, (long long)coefficients);
    return MARGIN_OK;
}

/* How far the weights are from the optimum, in standard errors. `noise`: standard deviation. */
static margin_status measure_distance(infer_run *run, double noise) {
    const double rounding = 1e-6, far = 0.1;
    mg_inference *out = run->out;
    const mg_squares *s = &run->v.s;
    double intercept_step = 0.0, size = 0.0;
    MG_TRY(newton_step(&run->v, run->r, run->step, &intercept_step));
    for (int64_t j = 0; j < out->columns; j++)
        size = fmax(size, fabs(run->w[j]) * s->norm[j]);
    out->distance = 0.0;
    for (int64_t j = 0; j < out->columns; j++) {
        if (isnan(out->variance[j])) continue;
        const double error = fmax(noise * sqrt(out->variance[j]), rounding * size / s->norm[j]);
        if (run->step[j] != 0.0) out->distance = fmax(out->distance, fabs(run->step[j]) / error);
    }
    if (out->intercept && !isnan(out->variance[out->columns]) && intercept_step != 0.0) {
        const double error =
            fmax(noise * sqrt(out->variance[out->columns]), rounding * fabs(run->b));
        out->distance = fmax(out->distance, fabs(intercept_step) / error);
    }
    MG_REQUIRE(out->distance <= far, run->fit->error, MARGIN_ERROR_DATA,
               "the weights are %s standard errors from the best ones for this data: it is not the "
               "data that the model was trained on, or training stopped early",
               mg_about(out->distance).text);
    return MARGIN_OK;
}

/* ---- Least squares --------------------------------------------------------------------------- */

/* Sums in extended precision: they are what is left of large numbers. */
static void sum_squares(infer_run *run) {
    const mg_problem *p = run->problem;
    long double mean = 0.0L, residual = 0.0L, explained = 0.0L, total = 0.0L, weight = 0.0L;
    const double first = p->target[0];
    for (int64_t i = 0; i < p->count; i++) {
        const long double h = (long double)mg_sample_weight(p, i);
        mean += h * ((long double)p->target[i] - (long double)first);
        weight += h;
    }
    mean = run->intercept ? (long double)first + mean / weight : 0.0L;
    for (int64_t i = 0; i < p->count; i++) {
        const long double h = (long double)mg_sample_weight(p, i);
        const long double y = (long double)p->target[i], f = (long double)run->scores[i];
        run->r[i] = (double)(h * (y - f));
        residual += h * (y - f) * (y - f);
        explained += h * (f - mean) * (f - mean);
        total += h * (y - mean) * (y - mean);
    }
    run->out->residual = (double)residual;
    run->out->explained = (double)explained;
    run->out->total = (double)total;
}

static margin_status infer_squares(infer_run *run) {
    mg_inference *out = run->out;
    out->weight = mg_total_weight(run->problem);
    MG_TRY(infer_check_rows(run, out->weight, run->intercept ? 1 : 0));
    MG_TRY(find_scores(run));
    MG_TRY(make_variances(run, run->problem->weight));
    const int64_t coefficients = out->rank + run->intercept;
    MG_TRY(infer_check_rows(run, out->weight, coefficients));
    sum_squares(run);
    return measure_distance(run, sqrt(out->residual / (out->weight - (double)coefficients)));
}

/* ---- Maximum likelihood ---------------------------------------------------------------------- */

/* r_i and h_i: gradient and curvature of the log-likelihood in the score of sample i. */
static void sum_likelihood(infer_run *run) {
    const mg_problem *p = run->problem;
    long double sum = 0.0L, positive = 0.0L, weight = 0.0L;
    for (int64_t i = 0; i < p->count; i++) {
        const double h = mg_sample_weight(p, i), z = run->scores[i] * (double)p->sign[i];
        const double wrong = mg_sigmoid(-z);
        run->r[i] = h * wrong * (double)p->sign[i];
        run->h[i] = h * wrong * mg_sigmoid(z);
        sum -= (long double)h * (long double)mg_log1pexp_minus(z);
        weight += (long double)h;
        if (p->sign[i] > 0) positive += (long double)h;
    }
    const long double share = positive / weight;
    run->out->weight = (double)weight;
    run->out->log_likelihood = (double)sum;
    run->out->null_log_likelihood =
        run->intercept ? (double)(positive * logl(share) + (weight - positive) * log1pl(-share))
                       : (double)(weight * logl(0.5L));
}

/* A hyperplane with every row on its right side is proof enough. */
static margin_status check_separation(const infer_run *run) {
    const mg_problem *p = run->problem;
    double most = 0.0, least = (double)INFINITY;
    for (int64_t i = 0; i < p->count; i++) {
        most = fmax(most, run->h[i]);
        least = fmin(least, run->scores[i] * (double)p->sign[i]);
    }
    MG_REQUIRE(most > 1e-8 && !(least > 0.0), run->fit->error, MARGIN_ERROR_DATA,
               "a hyperplane separates the classes, so the likelihood has no maximum: the larger "
               "the weights the better, and standard errors mean nothing; train with a penalty");
    return MARGIN_OK;
}

/* Where a hyperplane touches rows of both classes and has all others on their side, the likelihood
 * grows for ever too. Sought from 0 on: far out curvature has vanished, and the direction with it.
 */
static margin_status check_recession(infer_run *run) {
    static const double zero = 0.0;
    const mg_linear_options options = mg_linear_options_for(run->fit);
    margin_error *error = run->fit->error;
    MG_SCOPED(mg_design, design);
    MG_SCOPED(mg_objective, objective);
    mg_endless endless = {0};
    MG_TRY(mg_design_create(run->fit->context, run->problem, &design, error));
    MG_TRY(mg_objective_create(&design, mg_loss_get(MG_LOSS_LOGISTIC), &options.penalty,
                               run->intercept, &objective, error));
    memset(run->step, 0, (size_t)run->problem->x.columns * sizeof *run->step);
    MG_TRY(mg_find_recession(&objective, run->step, &zero, &endless, error));
    MG_REQUIRE(!endless.recession, error, MARGIN_ERROR_DATA,
               "a hyperplane separates the classes but for rows on it (they touch, and "
               "do not overlap), so the likelihood has no maximum: in one direction of "
               "the weights it grows for ever, and standard errors mean nothing; train "
               "with a penalty");
    return MARGIN_OK;
}

static margin_status infer_logistic(infer_run *run) {
    mg_inference *out = run->out;
    MG_TRY(find_scores(run));
    sum_likelihood(run);
    MG_TRY(infer_check_rows(run, out->weight, run->intercept ? 1 : 0));
    MG_TRY(check_separation(run));
    MG_TRY(check_recession(run)); /* first: there the curvature of columns vanishes */
    const margin_status status = make_variances(run, run->h);
    MG_REQUIRE(status != MARGIN_ERROR_DATA, run->fit->error, MARGIN_ERROR_DATA,
               "the weights are so far out that the likelihood has no curvature left, and standard "
               "errors mean nothing: train with a penalty");
    MG_TRY(status);
    MG_TRY(infer_check_rows(run, out->weight, out->rank + run->intercept));
    return measure_distance(run, 1.0);
}

static margin_status infer(mg_fit *fit, const mg_hypothesis *hypothesis, mg_inference *out,
                           margin_status (*method)(infer_run *run), const char *instead) {
    const mg_linear_options o = mg_linear_options_for(fit);
    infer_run run = {.fit = fit,
                     .problem = fit->problem,
                     .w = hypothesis->view.linear.weights,
                     .b = hypothesis->view.linear.intercept[0],
                     .intercept = o.intercept,
                     .out = out};
    MG_REQUIRE(o.penalty.rho == 0.0 && o.penalty.kappa == 0.0, fit->error, MARGIN_ERROR_DATA,
               "the model was trained with a penalty (alpha %s), which pulls its weights towards 0 "
               "by an amount that standard errors do not tell; for statistics train %s",
               mg_number(o.penalty.alpha).text, instead);
    const margin_status status = method(&run);
    mg_squares_end(&run.v.s);
    return status;
}

margin_status mg_squares_infer(mg_fit *fit, const mg_hypothesis *hypothesis, mg_inference *out) {
    return infer(fit, hypothesis, out, infer_squares, "least-squares");
}

margin_status mg_logistic_infer(mg_fit *fit, const mg_hypothesis *hypothesis, mg_inference *out) {
    return infer(fit, hypothesis, out, infer_logistic, "logistic(C=inf)");
}
