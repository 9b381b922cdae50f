/* A bound of P(w, b) - inf P without a penalty, and of a ridge, from the curvature at (w, b).
 *
 * The squared loss has constant curvature; the logistic, the exponential and the softmax loss obey
 * |l'''| <= l'' along any line on which their scores (of several functions: the differences of
 * their scores) change at unit speed (Bach, "Self-concordant analysis for logistic regression",
 * Electron. J. Stat. 4, 2010). With g and H the gradient and the Hessian, d a change of (w, b) and
 * t the greatest change of a score it follows that
 *
 *   P(at + d) >= P(at) + g.d + (1 - t/3) d'Hd / 2        (e^-t + t - 1 >= t^2/2 (1 - t/3))
 *
 * A score changes by l |d|_H at most, where l^2 is the greatest e_i'H^-1 e_i with e_i = (a_i, 1).
 * Let s^2 = g'H^-1 g, and r the root of r (1 - r/3) = 2 l s. If r <= 1, the right side is at least
 * P(at) wherever |d|_H = r/l; P is convex, so its infimum is taken inside, and there
 *
 *   P(at) - inf P <= s^2 / (2 (1 - r/3)).                 (r = 0 for the squared loss)
 *
 * The squared hinge has constant curvature as long as a sample stays inside the margin: H is that
 * of the samples at least `inside` within it, and r = 0 if none of them can leave, 2 l_i s <= its
 * distance.
 *
 * l is bounded by the greatest 1/sqrt(curvature of sample i), because H holds that sample's part;
 * where this is too much, e_i'H^-1 e_i is computed.
 *
 * Of many sparse columns without a penalty H is not made: conjugate gradients find g'H^-1 g from
 * below, what is left of g and a bound of the least eigenvalue (learn/exact/least_curvature.h) how
 * far; e_i'H^-1 e_i is at most |e_i|^2 over that bound.
 *
 * Without a penalty dependent columns make H singular, and g has nothing in its null space: of them
 * a basis is kept, chosen without rounding (exact_columns.h) and from all rows with a part in g.
 * Nothing is added to H. Rounding of H changes it by `error` of its least eigenvalue; if that is
 * not small, there is no bound. What rounding of g and the scores may hide of s is added. */
#include "linear/proof/goal.h"

#include "learn/exact/exact_columns.h"
#include "learn/exact/least_curvature.h"
#include "linear/design/design_sample.h"
#include "linear/proof/newton_matrix.h"

#include "math/products/cholesky.h"

#include <float.h>
#include <string.h>

/* Of the margin; of the error of H, relative to its least eigenvalue; what products tell of that
 * where columns of deviation 1 are sparse. */
static const double inside = 1e-3, most_error = 0.1, usual_least = 0.015;
enum { BATCH = 8 }; /* most vectors of samples that are solved together */
static const char purpose[] = "a proof of the optimum";

typedef struct curvature_bound {
    const mg_objective *o;
    const mg_linear_solution *at;
    margin_error *error;
    double *gradient, *sums, *step, *step_b; /* functions x columns, functions; room */
    double *weights;                       /* samples: curvatures; or samples x functions: shares */
    double *scores;                        /* the squared hinge, samples: 1 - y f; else NULL */
    double *solved;                        /* of a batch of samples: blocks x size of the matrix */
    bool *independent;                     /* columns + 1 */
    double primal, error_of_matrix, ratio; /* ratio: of the greatest offset to a deviation, or 1 */
    mg_newton_matrix newton;
    double *solved_columns; /* L^-1 of each column and of a row of zeros, or NULL */
    bool by_products;       /* which has no matrix, but all else; then: */
    double total;           /* of the weights */
    mg_design units;        /* columns in the coordinates of the matrix */
    mg_step_row row;        /* of them */
    bool too_early;         /* no bound is near */
} curvature_bound;

static margin_status curvature_memory(curvature_bound *m, mg_arena *arena) {
    const mg_objective *o = m->o;
    const int64_t k = o->functions, n = o->columns;
    MG_TRY(mg_newton_matrix_new(o, arena, &m->newton, m->error));
    if (o->loss->kind == MG_LOSS_SQUARED_HINGE)
        MG_ARENA_NEW(arena, m->scores, o->samples, purpose, m->error);
    return MG_PIECES(arena, purpose, m->error, MG_PIECE(m->gradient, k * n), MG_PIECE(m->sums, k),
                     MG_PIECE(m->step, k * (n + 1)), MG_PIECE(m->step_b, k),
                     MG_PIECE(m->weights, o->samples * k), MG_PIECE(m->independent, n + 1),
                     MG_PIECE(m->solved, MG_MAX(BATCH, m->newton.blocks) * m->newton.size));
}

/* ---- The matrix ------------------------------------------------------------------------------ */

/* Whether H can be told from a singular one. */
static bool is_definite(curvature_bound *m) {
    const mg_objective *o = m->o;
    const double *shift = o->design->centre ? NULL : o->design->shift;
    m->ratio = 1.0;
    for (int64_t j = 0; j < o->columns; j++) {
        const double offset = fabs(m->newton.mean[j]) + (shift ? fabs(shift[j]) : 0.0);
        m->ratio = fmax(m->ratio, offset * m->newton.factor[j]);
    }
    /* products of sparse columns are made before these are moved to their means */
    const double lost = mg_is_csr(&o->design->problem->x) ? m->ratio * m->ratio : m->ratio;
    m->error_of_matrix = 10.0 * DBL_EPSILON * (double)m->newton.size * lost / m->newton.least;
    return m->error_of_matrix <= most_error;
}

static margin_status make_matrix(curvature_bound *m, const bool *independent) {
    const mg_newton_weights curvature = {
        .weights = m->weights, .exact = true, .independent = independent};
    return mg_newton_matrix_make(m->o, &curvature, &m->newton, m->error);
}

/* Samples with a part in g. */
static margin_status find_independent(curvature_bound *m) {
    const mg_objective *o = m->o;
    int64_t rank;
    double *counts;
    MG_SCOPED_ARENA(arena, o->design->heap);
    MG_ARENA_NEW(&arena, counts, o->samples, purpose, m->error);
    for (int64_t i = 0; i < o->samples; i++)
        counts[i] = m->scores && !(m->scores[i] > 0.0) ? 0.0 : o->c[i];
    return mg_exact_columns(o->design->context, o->design->problem, o->intercept, counts,
                            m->independent, &rank, m->error);
}

/* All but one column of each run of categories; *any: there are such. */
static margin_status find_categories(curvature_bound *m, bool *any) {
    const mg_objective *o = m->o;
    mg_column_groups groups;
    MG_SCOPED_ARENA(arena, o->design->heap);
    MG_TRY(mg_column_groups_find(o->design->context, o->design->problem, o->intercept, o->c, &arena,
                                 &groups, m->error));
    for (int64_t j = 0; j <= o->columns; j++)
        m->independent[j] = j < o->columns || o->intercept;
    if (!o->intercept && o->design->scale)
        return MARGIN_OK; /* a scale of 0 hides what 1 is made of */
    for (int64_t g = !o->intercept; g < groups.count; g++)
        m->independent[groups.end[g] - 1] = false;
    *any = groups.count > !o->intercept;
    return MARGIN_OK;
}

/* What rounding of the gradient, and of the scores in it, may hide of s. */
static double hidden_step(const curvature_bound *m) {
    const mg_objective *o = m->o;
    const mg_newton_matrix *n = &m->newton;
    const double *shift = o->design->shift;
    double curvature = 0.0, terms = 0.0, square = 0.0;
    for (int64_t i = 0; i < o->samples; i++)
        curvature += o->functions == 1 ? m->weights[i] : o->c[i];
    for (int64_t k = 0; k < o->functions; k++) {
        double sum = fabs(m->at->b[k]);
        for (int64_t j = 0; j < o->columns; j++) {
            const double spread = n->factor[j] > 0.0 ? 1.0 / n->factor[j] : 0.0;
            sum += fabs(m->at->w[k * o->columns + j]) *
                   (fabs(n->mean[j]) + (shift ? fabs(shift[j]) : 0.0) + spread);
        }
        terms = fmax(terms, sum);
    }
    /* slopes are at most the loss, or for squares twice its root */
    const double slopes = m->primal + 2.0 * sqrt(m->primal * o->mass);
    for (int64_t r = 0; r < n->size; r++)
        square += n->scale[r] * n->scale[r];
    return DBL_EPSILON *
           (slopes * m->ratio * sqrt(square / n->least) + 2.0 * terms * sqrt(curvature));
}

/* From g'H^-1 g. */
static double square_of(const curvature_bound *m, double own) {
    const double step = sqrt(fmax(own, 0.0) / (1.0 - m->error_of_matrix)) + hidden_step(m);
    return own >= -DBL_EPSILON * m->primal ? step * step : (double)INFINITY;
}

/* ---- Leverages ------------------------------------------------------------------------------- */

/* 1 / the curvature of sample i in the change of its scores by 1. */
static double plain_leverage(const curvature_bound *m, int64_t i) {
    const mg_objective *o = m->o;
    if (o->functions == 1) return 1.0 / m->weights[i];
    const double *q = m->weights + i * o->functions;
    double least = (double)INFINITY, second = (double)INFINITY;
    for (int64_t k = 0; k < o->functions; k++) {
        if (!(o->totals[k] > 0.0)) continue; /* a class without samples stays out of the way */
        second = fmin(second, fmax(least, q[k]));
        least = fmin(least, q[k]);
    }
    return (1.0 / least + 1.0 / second) / o->c[i];
}

/* e_i of each function, in the coordinates of the matrix. */
static void read_sample(const curvature_bound *m, int64_t i, double *z) {
    const mg_design *d = m->o->design;
    const mg_newton_matrix *n = &m->newton;
    const int64_t block = d->columns + 1;
    memset(z, 0, (size_t)(n->size * n->blocks) * sizeof *z);
    mg_sample_values(d->problem, i, z);
    for (int64_t j = 0; j < d->columns; j++) {
        double a = d->scale ? d->scale[j] * z[j] : z[j];
        if (d->shift) a += d->shift[j];
        z[j] = (a - n->mean[j]) * n->factor[j];
    }
    z[d->columns] = m->o->intercept ? 1.0 : 0.0;
    for (int64_t k = n->blocks - 1; k >= 0; k--)
        for (int64_t j = 0; j < block; j++)
            z[k * (n->size + block) + j] = n->scale[k * block + j] * z[j];
}

/* The greatest e'H^-1 e over the differences e of the functions of a sample, from L^-1 e_i. */
static double exact_leverage(const curvature_bound *m, const double *solved) {
    const mg_vector_ops *v = mg_vector_ops_for(m->o->design->isa);
    const int64_t size = m->newton.size;
    double most = 0.0;
    for (int64_t k = 0; k < m->newton.blocks; k++) {
        const double *z = solved + k * size, own = v->square(z, size);
        most = fmax(most, own);
        for (int64_t l = 0; l < k; l++) {
            const double *y = solved + l * size;
            most = fmax(most, own + v->square(y, size) - 2.0 * v->dot(y, z, size));
        }
    }
    return most / (1.0 - m->error_of_matrix);
}

/* No less than that, by products. */
static double leverage_by_length(curvature_bound *m, int64_t i) {
    mg_step_row_read(&m->row, i);
    return mg_step_row_square(&m->row, m->o->intercept) / (1.0 - m->error_of_matrix) /
           (m->total * m->newton.least);
}

/* The squared hinge: takes out the samples that are not well inside the margin. */
static void keep_inside(curvature_bound *m) {
    const int8_t *sign = m->o->design->problem->sign;
    for (int64_t i = 0; m->scores && i < m->o->samples; i++) {
        m->scores[i] = 1.0 - sign[i] * m->scores[i];
        if (!(m->scores[i] >= inside)) m->weights[i] = 0.0;
    }
}

/* What e_i'H^-1 e_i s^2 may be at most: r = 1, or half the way out of the margin. */
static double reach(const curvature_bound *m, int64_t i) {
    return m->scores ? m->scores[i] * m->scores[i] / 4.0 : 1.0 / 9.0;
}

static bool counts(const curvature_bound *m, int64_t i) {
    return m->o->c[i] > 0.0 && !(m->scores && m->weights[i] == 0.0);
}

/* A batch of columns, as long as there is time. */
static margin_status solve_some(void *argument, int64_t batch, int worker) {
    const curvature_bound *m = argument;
    const mg_design *d = m->o->design;
    const int64_t size = m->newton.size, end = MG_MIN(size, (batch + 1) * BATCH);
    (void)worker;
    for (int64_t j = batch * BATCH; j < end && mg_clock() < mg_deadline(d->context); j++) {
        const int64_t first = j < size - 1 ? j : 0; /* number that is not 0 */
        mg_cholesky_solve_lower(d->isa, size - first, m->newton.matrix + first * (size + 1), size,
                                m->solved_columns + j * size + first);
    }
    return MARGIN_OK;
}

/* Of sparse rows L^-1 e_i is a sum of few solved columns. */
static margin_status solve_columns(curvature_bound *m, mg_arena *arena) {
    const mg_objective *o = m->o;
    const mg_newton_matrix *n = &m->newton;
    margin_context *context = o->design->context;
    const int64_t size = n->size;
    double *x, *zeros;
    MG_ARENA_NEW(arena, x, size * size, purpose, m->error);
    MG_TRY(
        mg_step_row_in_units(o->design, n->mean, n->factor, arena, &m->units, &m->row, m->error));
    memset(x, 0, (size_t)(size * size) * sizeof *x);
    zeros = x + (size - 1) * size;
    for (int64_t j = 0; j < o->columns; j++) {
        x[j * (size + 1)] = n->scale[j];
        zeros[j] = n->scale[j] * (m->row.shift ? m->row.shift[j] : 0.0);
    }
    zeros[size - 1] = o->intercept ? n->scale[size - 1] : 0.0;
    m->solved_columns = x;
    MG_TRY(mg_parallel(context, (size + BATCH - 1) / BATCH, solve_some, m, m->error));
    m->too_early = mg_clock() >= mg_deadline(context); /* a fit that the clock has stopped */
    return MARGIN_OK;
}

static double leverage_by_columns(curvature_bound *m, int64_t i) {
    const mg_vector_ops *v = mg_vector_ops_for(m->o->design->isa);
    const int64_t size = m->newton.size;
    mg_step_row_read(&m->row, i);
    memcpy(m->solved, m->solved_columns + (size - 1) * size, (size_t)size * sizeof(double));
    for (int64_t k = 0; k < m->row.stored; k++)
        v->add(m->solved, m->row.values[k], m->solved_columns + m->row.at[k] * size, size);
    return v->square(m->solved, size) / (1.0 - m->error_of_matrix);
}

/* Of samples of which the curvature alone says too little: too many, or so many that solved columns
 * are worth their price. */
static margin_status count_open(curvature_bound *m, double square, mg_arena *arena) {
    static const double most_work = 1e10;
    const margin_matrix *x = &m->o->design->problem->x;
    const double size = (double)m->newton.size, whole = size * size * (double)m->newton.blocks;
    const double few = size * (1.0 + mg_row_length(x)); /* steps of a sparse row */
    const bool can = mg_is_csr(x) && !m->o->design->made && m->newton.blocks == 1 &&
                     mg_fits_limit(m->o->design->heap, (int64_t)(8.0 * size * size), 4);
    double open = 0.0;
    for (int64_t i = 0; m->o->loss->kind != MG_LOSS_SQUARED && i < m->o->samples; i++)
        open += counts(m, i) && !(plain_leverage(m, i) <= reach(m, i) / square);
    const bool worth = can && open > size && 4.0 * few < whole;
    const double work = worth ? open * few + size * size * size / 6.0 : open * whole;
    m->too_early = work > most_work;
    return worth && !m->too_early ? solve_columns(m, arena) : MARGIN_OK;
}

/* Raises l^2 to the exact leverage of a batch of samples. */
static margin_status add_batch(const curvature_bound *m, const int64_t *batch, int64_t count,
                               double square, double *most) {
    const mg_design *d = m->o->design;
    const int64_t numbers = m->newton.blocks * m->newton.size;
    if (mg_cancelled(d->context)) return mg_fail_cancelled(m->error);
    if (count > 0 && mg_clock() >= mg_deadline(d->context)) *most = (double)INFINITY;
    if (isinf(*most)) return MARGIN_OK;
    for (int64_t k = 0; k < count; k++)
        read_sample(m, batch[k], m->solved + k * numbers);
    mg_cholesky_solve_lower_many(d->isa, m->newton.size, m->newton.matrix, m->newton.size,
                                 m->solved, count * m->newton.blocks);
    for (int64_t k = 0; k < count; k++) {
        const double own = exact_leverage(m, m->solved + k * numbers);
        *most = own <= reach(m, batch[k]) / square ? fmax(*most, own) : (double)INFINITY;
    }
    return MARGIN_OK;
}

/* l^2, or INFINITY where it reaches too far or would take too long to find: a fit that the clock
 * has stopped does without. */
static margin_status greatest_leverage(curvature_bound *m, double square, mg_arena *arena,
                                       double *most) {
    enum { POLL = 4096 };
    const mg_objective *o = m->o;
    const margin_context *context = o->design->context;
    const int64_t room = MG_MAX(BATCH / m->newton.blocks, 1);
    int64_t batch[BATCH], count = 0;
    if (!m->by_products) MG_TRY(count_open(m, square, arena));
    *most = !m->by_products && m->too_early ? (double)INFINITY : 0.0;
    for (int64_t i = 0; i < o->samples && isfinite(*most); i++) {
        if (i % POLL == POLL - 1 && mg_cancelled(context)) return mg_fail_cancelled(m->error);
        if (i % POLL == POLL - 1 && mg_clock() >= mg_deadline(context)) *most = (double)INFINITY;
        if (!counts(m, i)) continue;
        const double limit = reach(m, i) / square, plain = plain_leverage(m, i);
        if (plain <= limit || m->by_products || m->solved_columns) {
            const double own = plain <= limit   ? plain
                               : m->by_products ? leverage_by_length(m, i)
                                                : leverage_by_columns(m, i);
            *most = own <= limit ? fmax(*most, own) : (double)INFINITY;
        } else {
            batch[count++] = i;
        }
        if (count < room) continue;
        MG_TRY(add_batch(m, batch, count, square, most));
        count = 0;
    }
    return add_batch(m, batch, count, square, most);
}

/* ---- The step -------------------------------------------------------------------------------- */

/* Where it costs less, for the most products that are made. */
bool mg_bound_by_products(const mg_objective *o) {
    static const double price = 15e3; /* of a product, in steps of a factor, for a stored value */
    const mg_problem *problem = o->design->problem;
    const double n = (double)o->columns;
    const bool can = mg_is_csr(&problem->x) && !o->design->made && o->functions == 1 &&
                     o->penalty.rho == 0.0 && o->design->shift == problem->shift;
    if (can && !mg_newton_matrix_can(o)) return true;
    return can && n * n * n > price * mg_row_length(&problem->x) * (double)o->samples;
}

/* Between steps: g'H^-1 g is at most fallen + left / least. */
static bool is_near(const void *state, double left, double fallen, double least) {
    (void)state;
    return left / least <= 0.05 * fallen;
}

/* Means, units and the gradient for the products: columns and the intercept have nothing in common,
 * and the same curvature. */
static margin_status set_units(curvature_bound *m, mg_arena *arena, double *norm, double *right) {
    const mg_objective *o = m->o;
    mg_newton_matrix *n = &m->newton;
    double *mean = right;
    MG_TRY(mg_design_moments(o->design, true, mean, norm, m->error));
    MG_TRY(mg_objective_gradient(o, m->weights, n->mean, &m->total, m->error));
    const double root = sqrt(m->total);
    for (int64_t j = 0; j < o->columns; j++) {
        n->mean[j] = o->intercept ? n->mean[j] / m->total : 0.0;
        const double deviation = o->intercept ? norm[j] : hypot(mean[j], norm[j]);
        norm[j] = root * deviation;
        n->factor[j] = deviation > 0.0 ? 1.0 / deviation : 0.0;
        n->scale[j] = 1.0 / root;
        right[j] = norm[j] > 0.0 ? (m->gradient[j] - n->mean[j] * m->sums[0]) / norm[j] : 0.0;
    }
    n->scale[o->columns] = o->intercept ? 1.0 / root : 0.0;
    return mg_step_row_in_units(o->design, n->mean, n->factor, arena, &m->units, &m->row, m->error);
}

static margin_status step_by_products(curvature_bound *m, mg_arena *arena, double *square) {
    enum { MOST = 64, STEPS = 1024 };
    const mg_objective *o = m->o;
    const mg_stop stop = {
        .context = o->design->context, .deadline = (double)INFINITY, .max_iterations = -1};
    double *norm, *right, *x, leverage = 0.0;
    MG_TRY(MG_PIECES(arena, purpose, m->error, MG_PIECE(norm, o->columns),
                     MG_PIECE(right, o->columns), MG_PIECE(x, o->columns)));
    MG_TRY(set_units(m, arena, norm, right));
    *square = mg_vector_ops_for(o->design->isa)->square(right, o->columns); /* about */
    m->newton.least = usual_least;
    if (o->loss->kind != MG_LOSS_SQUARED && !m->at->ended)
        MG_TRY(greatest_leverage(m, *square, arena, &leverage));
    m->too_early = isinf(leverage);
    *square = (double)INFINITY;
    if (m->too_early) return MARGIN_OK;
    mg_column_groups groups;
    MG_TRY(mg_column_groups_find(stop.context, o->design->problem, o->intercept, o->c, arena,
                                 &groups, m->error));
    mg_least_equation equation = {.right = right, .x = x, .most = STEPS, .enough = is_near};
    const mg_column_curvature curvature = {.context = o->design->context,
                                           .stop = &stop,
                                           .problem = o->design->problem,
                                           .weights = m->weights,
                                           .mean = m->newton.mean,
                                           .norm = norm,
                                           .groups = &groups,
                                           .equation = &equation};
    const margin_status status = mg_least_curvature(&curvature, MOST, &m->newton.least, m->error);
    if (status != MARGIN_OK)
        return status == MARGIN_ERROR_CANCELLED ? mg_fail_cancelled(m->error) : status;
    m->newton.least = fmin(m->newton.least, 1.0); /* that of the intercept */
    if (!is_definite(m)) return MARGIN_OK;
    const double most = equation.fallen + equation.left / m->newton.least;
    *square = square_of(m, most + (o->intercept ? m->sums[0] * m->sums[0] / m->total : 0.0));
    return MARGIN_OK;
}

/* s^2, or INFINITY where H cannot be told from a singular one. */
static margin_status squared_step(curvature_bound *m, mg_arena *arena, double *square) {
    const mg_objective *o = m->o;
    const mg_vector_ops *v = mg_vector_ops_for(o->design->isa);
    if (m->by_products) return step_by_products(m, arena, square);
    const bool free = o->penalty.rho == 0.0; /* else each one counts */
    bool any = false;
    if (free) MG_TRY(find_categories(m, &any));
    MG_TRY(make_matrix(m, any ? m->independent : NULL));
    bool is_sure = is_definite(m);
    if (!is_sure && free) {
        MG_TRY(find_independent(m));
        MG_TRY(make_matrix(m, m->independent));
        is_sure = is_definite(m);
    }
    *square = (double)INFINITY;
    if (!is_sure) return MARGIN_OK;
    mg_newton_matrix_solve(o, &m->newton, m->gradient, m->sums, m->step, m->step_b);
    *square = square_of(m, v->dot(m->sums, m->step_b, o->functions) +
                               v->dot(m->gradient, m->step, o->functions * o->columns));
    return MARGIN_OK;
}

static margin_status find_bound(curvature_bound *m, double *above) {
    const mg_objective *o = m->o;
    double square, leverage = 0.0;
    MG_SCOPED_ARENA(arena, o->design->heap);
    MG_TRY(squared_step(m, &arena, &square));
    if (!isfinite(square)) return MARGIN_OK;
    if (o->loss->kind != MG_LOSS_SQUARED && square > 0.0)
        MG_TRY(greatest_leverage(m, square, &arena, &leverage));
    m->too_early |= isinf(leverage) && m->by_products && !m->at->ended;
    if (isinf(leverage)) return MARGIN_OK;
    const double product = m->scores ? 0.0 : fmin(sqrt(leverage * square), 1.0 / 3.0);
    const double r = 0.5 * (3.0 - sqrt(9.0 - 24.0 * product));
    *above = square / (2.0 * (1.0 - r / 3.0));
    return MARGIN_OK;
}

static margin_status look_at_point(curvature_bound *m) {
    const mg_objective *o = m->o;
    mg_loss_point point = {
        .scores = m->scores, .gradient = m->gradient, .intercept_gradient = m->sums};
    *(o->functions == 1 ? &point.curvatures : &point.shares) = m->weights;
    MG_TRY(mg_objective_pass(o, m->at->w, m->at->b, &point, m->error));
    m->primal = point.value;
    keep_inside(m);
    return MARGIN_OK;
}

margin_status mg_bound_by_curvature(const mg_objective *objective, mg_linear_solution *at,
                                    double *above, margin_error *error) {
    curvature_bound m = {.o = objective, .at = at, .error = error};
    *above = (double)INFINITY;
    at->drawn = false;
    const bool can = mg_newton_matrix_can(objective);
    m.by_products = mg_bound_by_products(objective);
    if (!objective->loss->self_bounding || at->plain || !(can || m.by_products)) return MARGIN_OK;
    MG_SCOPED_ARENA(arena, objective->design->heap);
    MG_TRY(curvature_memory(&m, &arena));
    MG_TRY(look_at_point(&m));
    if (m.by_products) MG_TRY(find_bound(&m, above));
    at->drawn = isfinite(*above);
    m.by_products = false;
    return isinf(*above) && !m.too_early && can ? find_bound(&m, above) : MARGIN_OK;
}
