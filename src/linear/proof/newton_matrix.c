/* Newton's matrix of an objective, in coordinates and factored. The functions of all classes may
 * move together without changing the loss, so it is taken without the last one. */
#include "linear/proof/newton_matrix.h"

#include "learn/exact/column_groups.h"
#include "math/products/cholesky.h"

#include <string.h>

static const char purpose[] = "Newton's matrix";

static int64_t blocks_of(const mg_objective *o) {
    return o->functions == 1 ? 1 : o->functions - 1;
}

bool mg_newton_matrix_can(const mg_objective *o) {
    const int64_t size = blocks_of(o) * (o->columns + 1), limit = mg_heap_limit(o->design->heap);
    if (size > MG_NEWTON_MATRIX_SIZE) return false;
    return limit == 0 || 3 * size * size * (int64_t)sizeof(double) <= limit;
}

margin_status mg_newton_matrix_new(const mg_objective *o, mg_arena *arena, mg_newton_matrix *n,
                                   margin_error *error) {
    n->blocks = blocks_of(o);
    n->size = n->blocks * (o->columns + 1);
    if (mg_newton_matrix_can(o)) MG_ARENA_NEW(arena, n->matrix, n->size * n->size, purpose, error);
    return MG_PIECES(arena, purpose, error, MG_PIECE(n->mean, o->columns),
                     MG_PIECE(n->factor, o->columns), MG_PIECE(n->scale, n->size));
}

/* Of a change that all classes share the loss knows nothing, so that it is what the penalty wants:
 * rho (1[k = l] - 1/K). */
static void add_penalty(const mg_objective *o, int64_t k, int64_t l, mg_newton_matrix *n) {
    const int64_t size = o->columns + 1;
    const double rho = o->penalty.rho;
    const double shared = o->functions == 1 ? 0.0 : 1.0 / (double)o->functions;
    const double share = (k == l ? 1.0 : 0.0) - shared;
    for (int64_t j = 0; j < o->columns && rho > 0.0; j++) {
        const double added = rho * n->factor[j] * n->factor[j] * share;
        n->matrix[(k * size + j) * n->size + l * size + j] += added;
        if (k != l) n->matrix[(l * size + j) * n->size + k * size + j] += added;
    }
}

/* Of sample i in the block of the classes k and l. */
static double weight_of(const mg_objective *o, const double *weights, int64_t i, int64_t k,
                        int64_t l) {
    const double *q = weights + i * o->functions;
    double others = 0.0;
    if (o->functions == 1) return q[0];
    if (k != l) return o->c[i] * q[k] * q[l];
    for (int64_t m = 0; m < o->functions; m++)
        others += m == k ? 0.0 : q[m];
    return o->c[i] * q[k] * others;
}

/* Of the classes k and l: the Gram with weights c q_k (1 - q_k), or minus that with c q_k q_l. */
static margin_status newton_add_block(const mg_objective *o, const mg_newton_weights *given,
                                      int64_t k, int64_t l, double *weights, int64_t *chosen,
                                      double *gram, mg_newton_matrix *n, margin_error *error) {
    const int64_t size = o->columns + 1;
    mg_weighted_gram request = {
        .weights = weights, .centre = n->mean, .factor = n->factor, .single = given->single};
    for (int64_t i = 0; i < o->samples; i++) {
        const double weight = weight_of(o, given->weights, i, k, l);
        if (weight == 0.0) continue;
        chosen[request.count] = i;
        weights[request.count++] = weight;
    }
    if (request.count < o->samples) request.chosen = chosen;
    MG_TRY(mg_design_gram(o->design, &request, gram, error));
    for (int64_t r = 0; r < size; r++)
        for (int64_t c = 0; c < size; c++) { /* symmetric, so that it is the other block too */
            double value = k == l ? gram[r * size + c] : -gram[r * size + c];
            if (!o->intercept && (r == size - 1 || c == size - 1)) value = 0.0;
            n->matrix[(k * size + r) * n->size + l * size + c] = value;
            n->matrix[(l * size + r) * n->size + k * size + c] = value;
        }
    add_penalty(o, k, l, n);
    return MARGIN_OK;
}

/* To a diagonal of 1; that of what is left out, or absent, stands alone. *empty: of something else
 * there is nothing. */
static void scale_matrix(const mg_objective *o, const mg_newton_weights *curvature,
                         mg_newton_matrix *n, bool *empty) {
    const int64_t block = o->columns + 1;
    const bool *independent = curvature->independent;
    *empty = false;
    for (int64_t r = 0; r < n->size; r++) {
        const double own = n->matrix[r * n->size + r];
        const bool absent = r % block == o->columns && !o->intercept;
        const bool used = !absent && (!independent || independent[r % block]);
        n->scale[r] = own > 0.0 && used ? 1.0 / sqrt(own) : 0.0;
        *empty |= used && n->scale[r] == 0.0;
    }
    for (int64_t r = 0; r < n->size; r++)
        for (int64_t c = 0; c < n->size; c++)
            if (c != r) n->matrix[r * n->size + c] *= n->scale[r] * n->scale[c];
}

static margin_status factor_exactly(const mg_objective *o, mg_newton_matrix *n, double *work,
                                    margin_error *error) {
    double norm = 0.0;
    int64_t failed = 0;
    for (int64_t r = 0; r < n->size; r++) {
        double *row = n->matrix + r * n->size, sum = 1.0;
        for (int64_t c = 0; c < n->size; c++)
            sum += c == r ? 0.0 : fabs(row[c]);
        norm = fmax(norm, sum);
        row[r] = 1.0;
    }
    MG_TRY(mg_cholesky_factor(o->design->context, n->size, n->matrix, n->size, &failed, error));
    if (failed) return MARGIN_OK;
    n->least =
        norm * mg_cholesky_condition(o->design->context, n->size, n->matrix, n->size, norm, work);
    return mg_cancelled(o->design->context) ? mg_fail_cancelled(error) : MARGIN_OK;
}

static margin_status factor_matrix(const mg_objective *o, const mg_newton_weights *curvature,
                                   mg_newton_matrix *n, margin_error *error) {
    double *work;
    bool empty;
    MG_SCOPED_ARENA(arena, o->design->heap);
    n->least = 0.0;
    scale_matrix(o, curvature, n, &empty);
    if (curvature->exact && empty) return MARGIN_OK;
    MG_ARENA_NEW(&arena, work, 2 * n->size, purpose, error);
    if (curvature->exact) return factor_exactly(o, n, work, error);
    for (int64_t r = 0; r < n->size; r++)
        work[r] = 1.0;
    return mg_ridge_factor(o->design->context, n->size, n->matrix, work,
                           curvature->single ? mg_ridge_single : mg_ridge_double, error);
}

margin_status mg_newton_matrix_make(const mg_objective *o, const mg_newton_weights *curvature,
                                    mg_newton_matrix *n, margin_error *error) {
    const int64_t size = o->columns + 1;
    const bool many = n->blocks > 1;
    double *weights, *gram;
    int64_t *chosen;
    MG_SCOPED_ARENA(arena, o->design->heap);
    MG_TRY(MG_PIECES(&arena, purpose, error, MG_PIECE(weights, o->samples),
                     MG_PIECE(chosen, o->samples), MG_PIECE(gram, many ? size * size : 1)));
    if (!many) gram = n->matrix;
    if (!curvature->mean)
        MG_TRY(mg_design_coordinates(o->design, o->intercept, n->mean, n->factor, error));
    for (int64_t j = 0; curvature->mean && j < o->columns; j++) {
        n->mean[j] = curvature->mean[j];
        n->factor[j] = curvature->factor[j];
    }
    for (int64_t k = 0; k < n->blocks; k++)
        for (int64_t l = 0; l <= k; l++)
            MG_TRY(newton_add_block(o, curvature, k, l, weights, chosen, gram, n, error));
    return factor_matrix(o, curvature, n, error);
}

void mg_newton_matrix_within(const mg_objective *o, const mg_newton_matrix *n, double *x) {
    for (int64_t r = 0; r < n->size; r++)
        x[r] *= n->scale[r];
    mg_cholesky_solve(o->design->isa, n->size, n->matrix, n->size, x);
    for (int64_t r = 0; r < n->size; r++)
        x[r] *= n->scale[r];
}

void mg_newton_matrix_solve(const mg_objective *o, const mg_newton_matrix *n, const double *v,
                            const double *s, double *w, double *b) {
    const int64_t p = o->columns, size = p + 1;
    double *x = w; /* (w_k, b_k) of a function one behind the other; taken apart in place */
    for (int64_t k = 0; k < n->blocks; k++) {
        for (int64_t j = 0; j < p; j++)
            x[k * size + j] = n->factor[j] * (v[k * p + j] - n->mean[j] * s[k]);
        x[k * size + p] = o->intercept ? s[k] : 0.0;
    }
    mg_newton_matrix_within(o, n, x);
    for (int64_t k = 0; k < n->blocks; k++) {
        double *own = w + k * p, intercept = x[k * size + p];
        for (int64_t j = 0; j < p; j++) {
            own[j] = n->factor[j] * x[k * size + j];
            intercept -= n->mean[j] * own[j];
        }
        b[k] = o->intercept ? intercept : 0.0;
    }
    if (o->functions == 1) return;
    memset(w + (o->functions - 1) * p, 0, (size_t)p * sizeof *w);
    b[o->functions - 1] = 0.0;
}

/* ---- How margins change in its direction ----------------------------------------------------- */

/* scores: what a step of minus one does to them; of several functions to their differences. */
static void find_changes(const mg_objective *o, const double *scores, double *least, double *most) {
    const mg_problem *problem = o->design->problem;
    *least = (double)INFINITY;
    *most = -(double)INFINITY;
    for (int64_t i = 0; i < o->samples; i++)
        for (int64_t k = 0; k < o->functions; k++) {
            const double *u = scores + i * o->functions;
            double change = 0.0;
            if (o->functions == 1)
                change = -problem->sign[i] * u[0];
            else if (k == problem->code[i] || !(o->totals[k] > 0.0))
                continue;
            else
                change = u[k] - u[problem->code[i]];
            *least = fmin(*least, change);
            *most = fmax(*most, change);
        }
}

/* Minus Newton's direction at (at_w, at_b), and the least and the greatest change of a margin (of
 * several functions own score less another) along it. w: room for functions x (columns + 1)
 * numbers, of which the first functions x columns are the weights. Passes. */
static margin_status look_ahead(const mg_objective *o, const double *at_w, const double *at_b,
                                double *w, double *b, double *least, double *most,
                                margin_error *error) {
    mg_newton_matrix newton;
    double *weights, *v, *sums;
    MG_SCOPED_ARENA(arena, o->design->heap);
    MG_TRY(MG_PIECES(&arena, "Newton's direction", error,
                     MG_PIECE(weights, o->samples * o->functions),
                     MG_PIECE(v, o->functions * o->columns), MG_PIECE(sums, o->functions)));
    MG_TRY(mg_newton_matrix_new(o, &arena, &newton, error));
    mg_loss_point point = {.gradient = v, .intercept_gradient = sums};
    *(o->functions == 1 ? &point.curvatures : &point.shares) = weights;
    MG_TRY(mg_objective_pass(o, at_w, at_b, &point, error));
    const mg_newton_weights curvature = {.weights = weights};
    MG_TRY(mg_newton_matrix_make(o, &curvature, &newton, error));
    mg_newton_matrix_solve(o, &newton, v, sums, w, b);
    MG_TRY(mg_objective_scores(o, w, b, weights, error));
    find_changes(o, weights, least, most);
    return MARGIN_OK;
}

bool mg_is_endless(const mg_objective *o) {
    return mg_is_unpenalised(o) && o->loss->endless;
}

/* Brings (w, b) so near to 0 that no row lies where its loss is nearly flat: there rounding hides
 * the direction in which a solver had gone far. */
static margin_status come_nearer(const mg_objective *o, double *w, double *b, margin_error *error) {
    static const double near = 8.0;
    double *scores, most = 0.0;
    MG_SCOPED_ARENA(arena, o->design->heap);
    MG_ARENA_NEW(&arena, scores, o->samples * o->functions, "the scores of the rows", error);
    MG_TRY(mg_objective_scores(o, w, b, scores, error));
    for (int64_t k = 0; k < o->samples * o->functions; k++)
        most = fmax(most, fabs(scores[k]));
    for (int64_t k = 0; k < o->functions * o->columns && most > near; k++)
        w[k] *= near / most;
    for (int64_t k = 0; k < o->functions && most > near; k++)
        b[k] *= near / most;
    return MARGIN_OK;
}

margin_status mg_find_column(const mg_objective *o, mg_endless *endless, margin_error *error) {
    int64_t column = -1;
    if (mg_is_endless(o))
        MG_TRY(mg_column_recedes(o->design->context, o->design->problem, o->intercept, o->c,
                                 &column, error));
    endless->column = column + 1;
    endless->recession = column >= 0;
    return MARGIN_OK;
}

margin_status mg_find_recession(const mg_objective *o, const double *w, const double *b,
                                mg_endless *endless, margin_error *error) {
    enum { MOST_STEPS = 12 };
    static const double far = 4.0;    /* of a margin in one step */
    static const double still = 0.05; /* below it nothing moves any more: an optimum */
    const int64_t weights = o->functions * o->columns;
    double *at, *at_b, *step, *step_b, least, most = (double)INFINITY;
    MG_SCOPED_ARENA(arena, o->design->heap);
    MG_TRY(mg_find_column(o, endless, error));
    if (!mg_is_endless(o) || endless->recession || !mg_newton_matrix_can(o)) return MARGIN_OK;
    MG_TRY(MG_PIECES(&arena, "Newton's direction", error, MG_PIECE(at, weights),
                     MG_PIECE(at_b, o->functions), MG_PIECE(step, weights + o->functions),
                     MG_PIECE(step_b, o->functions)));
    memcpy(at, w, (size_t)weights * sizeof *at);
    memcpy(at_b, b, (size_t)o->functions * sizeof *at);
    MG_TRY(come_nearer(o, at, at_b, error));
    for (int k = 0; k < MOST_STEPS && most >= still && !endless->recession; k++) {
        MG_TRY(look_ahead(o, at, at_b, step, step_b, &least, &most, error));
        /* some margins grow and none falls, however far one goes */
        endless->recession = most >= still && least > -1e-4 * most;
        endless->separable = endless->recession && least > 1e-4 * most;
        const double share = fmin(1.0, far / fmax(most, -least));
        for (int64_t j = 0; j < weights; j++)
            at[j] -= share * step[j];
        for (int64_t f = 0; f < o->functions; f++)
            at_b[f] -= share * step_b[f];
    }
    return MARGIN_OK;
}
