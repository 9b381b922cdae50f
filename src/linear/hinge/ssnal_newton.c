/* The Newton equations of the inner problem, H d = -gradient with
 *
 *   H = s sum over active rows of c_i (e_i, 1)(e_i, 1)' + diag(q factor^2, 0)
 *
 * (and a ridge beside q: add_ridge) by a Cholesky factor of H, made from some of the active rows if
 * they are many (evenly spread, with their weights raised to match; more of them where that is too
 * few to get on), or by conjugate gradients, each of whose steps reads the active rows once, where
 * there are so many columns that a factor costs many passes. */
#include "linear/hinge/ssnal.h"
#include "linear/objective/conjugate.h"
#include "math/products/cholesky.h"

#include <float.h>
#include <math.h>

enum { MOST_INNER = 200, FIRST_ROWS = 2000, ROWS_PER_COLUMN = 40 };

/* ---- Active rows ----------------------------------------------------------------------------- */

static bool is_active(const mg_ssnal *s, int64_t i) {
    const double y = s->design->problem->sign[i];
    const double v = s->multipliers[i] + s->sharpness * (1.0 - y * s->here.scores[i]);
    return v > 0.0 && v < 1.0;
}

/* About `most` of the active rows, every stride-th; returns their number. */
static int64_t ssnal_newton_gather(mg_ssnal *s, int64_t most) {
    const int64_t all = s->here.active;
    const int64_t stride = all > most + most / 2 ? (all + most - 1) / most : 1;
    int64_t count = 0, seen = 0;
    s->sampled = stride > 1;
    for (int64_t i = 0; i < s->samples; i++) {
        if (!is_active(s, i) || seen++ % stride != 0) continue;
        s->active[count] = i;
        s->active_weights[count++] = s->sharpness * s->c[i] * (double)stride;
    }
    return count;
}

void mg_ssnal_sizes(mg_ssnal *s) {
    const margin_matrix *x = &s->design->problem->x;
    const bool sparse = mg_is_csr(x);
    for (int64_t j = 0; j < s->columns; j++)
        s->usual[j] = sparse ? 0.0 : 1.0;
    for (int64_t i = 0; sparse && i < s->samples; i++) {
        const int64_t row = mg_sample_row(s->design->problem, i), end = mg_row_start(x, row + 1);
        for (int64_t k = mg_row_start(x, row); k < end; k++)
            s->usual[mg_column_index(x, k)] += 1.0;
    }
    for (int64_t j = 0; sparse && j < s->columns; j++)
        s->usual[j] = sqrt((double)s->samples / fmax(s->usual[j], 1.0));
}

/* A column whose rows are at their bounds but for a few bends F by little more than q: alone it
 * would go far beyond the place where the others begin to count. So it is bent by as much as moves
 * the scores of its rows by the width of a corner, 1/s, and no further, less where the active rows
 * bend it ten times as much. The intercept likewise. A ridge that does not vanish with the pull
 * would keep columns without active rows from their last digits. `diagonal` holds what the active
 * rows do, and then that of H. */
static void add_ridge(mg_ssnal *s) {
    static const double as_much = 0.1;
    for (int64_t j = 0; j < s->size; j++) {
        const bool last = j == s->columns;
        const double factor = last ? 1.0 : s->factor[j], square = factor * factor;
        const double own = s->diagonal[j], usual = last ? 1.0 : s->usual[j];
        const double width = s->sharpness * usual * fabs(s->here.gradient[j]);
        const double more = width > 0.0 ? width * (width / (width + as_much * own)) : 0.0;
        s->ridge[j] = last ? 0.0 : s->stiffness[j];
        s->diagonal[j] += s->ridge[j] * square + more;
        if (more > 0.0 && square > 0.0) s->ridge[j] += fmin(more / square, DBL_MAX);
        if (!(s->diagonal[j] > 0.0)) s->diagonal[j] = 1.0;
    }
}

/* ---- By a factor ----------------------------------------------------------------------------- */

static void complete(mg_ssnal *s) {
    const int64_t n = s->size, last = n - 1;
    double *a = s->matrix;
    for (int64_t j = 0; j < last && !s->objective->intercept; j++)
        a[last * n + j] = a[j * n + last] = 0.0;
    for (int64_t j = 0; j < n; j++)
        s->diagonal[j] = a[j * n + j];
    add_ridge(s);
    for (int64_t j = 0; j < n; j++)
        a[j * n + j] = s->diagonal[j];
}

static margin_status solve_by_factor(mg_ssnal *s) {
    const mg_weighted_gram request = {.chosen = s->active,
                                      .count = ssnal_newton_gather(s, s->most_rows),
                                      .weights = s->active_weights,
                                      .centre = s->centre,
                                      .factor = s->factor};
    MG_TRY(mg_design_gram(s->design, &request, s->matrix, s->job->error));
    complete(s);
    MG_TRY(mg_ridge_factor(s->design->context, s->size, s->matrix, s->diagonal, mg_ridge_double,
                           s->job->error));
    for (int64_t j = 0; j < s->size; j++)
        s->direction[j] = -s->here.gradient[j];
    mg_cholesky_solve(s->design->isa, s->size, s->matrix, s->size, s->direction);
    return MARGIN_OK;
}

/* ---- By conjugate gradients ------------------------------------------------------------------ */

/* Of sparse rows without centres, as most values of a column that few rows have are 0. */
static void set_diagonal(mg_ssnal *s, int64_t count) {
    const margin_matrix *x = &s->design->problem->x;
    const double *scale = s->design->scale, sum = mg_sum(s->active_weights, count);
    const bool sparse = mg_is_csr(x);
    for (int64_t j = 0; j < s->size; j++)
        s->diagonal[j] = sparse && j < s->columns ? 0.0 : sum;
    for (int64_t k = 0; sparse && k < count; k++) {
        const int64_t row = mg_sample_row(s->design->problem, s->active[k]);
        for (int64_t at = mg_row_start(x, row); at < mg_row_start(x, row + 1); at++) {
            const double value = mg_stored_value(x, at);
            s->diagonal[mg_column_index(x, at)] += s->active_weights[k] * value * value;
        }
    }
    for (int64_t j = 0; sparse && j < s->columns; j++) {
        const double factor = s->factor[j] * (scale ? scale[j] : 1.0);
        s->diagonal[j] *= factor * factor;
    }
    add_ridge(s);
}

static margin_status solve_by_conjugate_gradients(mg_ssnal *s) {
    static const double share = 1e-5;
    mg_conjugate m = {.objective = s->objective,
                      .stop = &s->job->stop,
                      .chosen = s->active,
                      .count = ssnal_newton_gather(s, s->samples),
                      .weights = s->active_weights,
                      .centre = s->centre,
                      .factor = s->factor,
                      .ridge = s->ridge,
                      .diagonal = s->diagonal,
                      .share = share,
                      .most = MOST_INNER,
                      .residual = s->work,
                      .direction = s->direction,
                      .work = s->work + s->size};
    set_diagonal(s, m.count);
    m.added = s->ridge[s->columns];
    for (int64_t j = 0; j < s->size; j++)
        m.residual[j] = -s->here.gradient[j];
    return mg_conjugate_gradients(&m, &s->last_products, s->job->error);
}

/* ---- Which ----------------------------------------------------------------------------------- */

/* Nanoseconds on one core, roughly. */
typedef struct costs {
    double product, visit; /* of a row: of its products with itself, and read by a pass */
    double factor;         /* of the matrix, once it is made */
} costs;

static costs costs_of(const mg_ssnal *s) {
    const double n = (double)s->size, length = mg_row_length(&s->design->problem->x) + 1.0;
    const double each = mg_is_csr(&s->design->problem->x) ? 0.7 : 0.05;
    return (costs){.product = length * length * each + 2.0 * length,
                   .visit = 10.0 + 1.6 * length,
                   .factor = n * n * (0.02 * n + 20.0)};
}

/* As many rows as are worth half a pass, or some for each column. */
static int64_t first_rows(const mg_ssnal *s) {
    const costs cost = costs_of(s);
    const double rows = 0.5 * (double)s->samples * cost.visit / cost.product;
    return MG_MAX((int64_t)rows, MG_MAX(FIRST_ROWS, ROWS_PER_COLUMN * s->size));
}

static bool factor_is_cheaper(const mg_ssnal *s) {
    const costs cost = costs_of(s);
    const double rows = (double)MG_MIN(s->here.active, s->most_rows);
    const double pass = (double)s->here.active * cost.visit + 10.0 * (double)s->size;
    return rows * cost.product + cost.factor <= (double)s->last_products * pass;
}

margin_status mg_ssnal_direction(mg_ssnal *s) {
    if (s->most_rows == 0) s->most_rows = first_rows(s);
    return s->matrix && factor_is_cheaper(s) ? solve_by_factor(s) : solve_by_conjugate_gradients(s);
}
