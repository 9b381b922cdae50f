/* The bound by curvature of more sparse columns than a factor is made of, without a penalty.
 *
 * With columns less their means and divided by their norms, all weighted by the curvatures, the
 * least eigenvalue of their products has a bound without the matrix
 * (learn/exact/least_curvature.h): as in the training, from sums over the data found anew. G^2 and
 * the L^2 of a row are at most their squared lengths in these units, over that bound. */
#include "learn/exact/least_curvature.h"
#include "linear/verify/verification.h"

#include <string.h>

typedef mg_real real;

typedef struct by_products {
    mg_verification *k;
    mg_arena arena;
    double *own, *weights;         /* samples: c, curvatures */
    double *mean, *norm, *one, *x; /* columns */
    real total;
    mg_column_groups groups;
    double least;
    real square; /* the columns' part of G^2, at most */
} by_products;

static margin_status read_moments(by_products *p) {
    mg_verification *k = p->k;
    real *sum, *square;
    MG_TRY(MG_PIECES(&p->arena, "a verification", k->fit->error, MG_PIECE(sum, k->columns + 1),
                     MG_PIECE(square, k->columns + 1)));
    memset(sum, 0, (size_t)(k->columns + 1) * sizeof *sum);
    memset(square, 0, (size_t)(k->columns + 1) * sizeof *square);
    for (int64_t i = 0; i < k->samples; i++) {
        const real weight = mg_verify_counts(k, i) ? mg_verify_curvature(k, i, 0, 0) : 0.0L;
        p->own[i] = (double)k->c[i];
        p->weights[i] = (double)weight;
        p->total += weight;
        MG_TRY(mg_verify_row(k, i));
        for (int64_t e = 0; e < k->entries; e++) {
            sum[k->at[e]] += weight * k->values[e];
            square[k->at[e]] += weight * k->values[e] * k->values[e];
        }
    }
    for (int64_t j = 0; j < k->columns; j++) {
        const real mean = k->options->intercept ? sum[j] / p->total : 0.0L;
        const real left = k->far[j] > 0.0L ? square[j] - mean * sum[j] : 0.0L; /* 0: constant */
        p->mean[j] = (double)mean;
        p->norm[j] = left > 0.0L ? (double)sqrtl(left) : 0.0;
        p->one[j] = p->norm[j] > 0.0;
    }
    return MARGIN_OK;
}

/* g_j in units of norms, `blurred`: what rounding may have made of it at most. */
static real gradient_entry(const by_products *p, int64_t j, bool blurred) {
    const mg_verification *k = p->k;
    const real mean = (real)p->mean[j], own = k->v[k->columns], blur = k->blur[k->columns];
    const real value = blurred ? k->blur[j] + fabsl(mean) * blur : k->v[j] - mean * own;
    return p->norm[j] > 0.0 ? value / (real)p->norm[j] : 0.0L;
}

/* Columns of which nothing is left in the rows that count: others may have a part in them. */
static bool has_lost(const by_products *p) {
    bool lost = false;
    for (int64_t j = 0; j < p->k->columns; j++)
        lost |= !(p->norm[j] > 0.0) && p->k->far[j] > 0.0L;
    return lost;
}

/* Of the columns' part of G^2; it ends near enough. */
static bool is_near(const void *state, double left, double fallen, double least) {
    (void)state;
    return left / least <= 0.05 * fallen;
}

static margin_status find_least(by_products *p) {
    enum { MOST_PRODUCTS = 2048, STEPS = 4096 }; /* other rows draw others: twice the training's */
    mg_verification *k = p->k;
    margin_context *context = k->fit->context;
    const mg_stop stop = {.context = context, .deadline = (double)INFINITY, .max_iterations = -1};
    double *right;
    MG_ARENA_NEW(&p->arena, right, k->columns, "a verification", k->fit->error);
    for (int64_t j = 0; j < k->columns; j++)
        right[j] = (double)gradient_entry(p, j, false);
    MG_TRY(mg_column_groups_find(context, k->problem, k->options->intercept, p->own, &p->arena,
                                 &p->groups, k->fit->error));
    mg_least_equation equation = {.right = right, .x = p->x, .most = STEPS, .enough = is_near};
    const mg_column_curvature curvature = {.context = context,
                                           .stop = &stop,
                                           .problem = k->problem,
                                           .weights = p->weights,
                                           .mean = p->mean,
                                           .norm = p->norm,
                                           .groups = &p->groups,
                                           .equation = &equation};
    const margin_status status =
        mg_least_curvature(&curvature, MOST_PRODUCTS, &p->least, k->fit->error);
    p->square = (real)equation.fallen + (real)equation.left / (real)p->least;
    return status == MARGIN_ERROR_CANCELLED ? mg_fail_cancelled(k->fit->error) : status;
}

static real square_of_intercept(const by_products *p, const real *values) {
    const real own = values[p->k->columns];
    return p->k->options->intercept ? own * own / p->total : 0.0L;
}

/* What rounding may add to G^2 / 2. */
static real find_moved(const by_products *p, real square) {
    real blur = 0.0L;
    for (int64_t j = 0; j < p->k->columns; j++)
        blur += gradient_entry(p, j, true) * gradient_entry(p, j, true);
    blur = blur / (real)p->least + square_of_intercept(p, p->k->blur);
    return sqrtl(square * blur) + blur;
}

/* L^2 at most. */
static margin_status find_reach(by_products *p, real square, real *reach) {
    mg_verification *k = p->k;
    const bool hinge = k->loss->kind == MG_LOSS_SQUARED_HINGE;
    real at_zero = 0.0L; /* of a row whose columns are all 0 */
    *reach = 0.0L;
    if (k->loss->kind == MG_LOSS_SQUARED) return MARGIN_OK;
    for (int64_t j = 0; j < k->columns; j++)
        if (p->norm[j] > 0.0)
            at_zero += (real)p->mean[j] / (real)p->norm[j] * ((real)p->mean[j] / (real)p->norm[j]);
    for (int64_t i = 0; i < k->samples; i++) {
        const real weight = (real)p->weights[i], most = mg_verify_most_length(k, i);
        real sum = at_zero, length = weight > 0.0L ? 1.0L / weight : (real)INFINITY;
        if (!mg_verify_counts(k, i) || !(k->c[i] > 0.0L)) continue;
        if (!(length * square <= most)) {
            MG_TRY(mg_verify_row(k, i));
            for (int64_t e = 0; e < k->entries - 1; e++) {
                const int64_t j = k->at[e];
                const real mean = (real)p->mean[j], left = k->values[e] - mean;
                if (p->norm[j] > 0.0)
                    sum += (left * left - mean * mean) / ((real)p->norm[j] * (real)p->norm[j]);
            }
            length = sum / (real)p->least + (k->options->intercept ? 1.0L / p->total : 0.0L);
        }
        if (hinge) length = length * square <= most ? 0.0L : (real)INFINITY;
        *reach = fmaxl(*reach, length);
    }
    return MARGIN_OK;
}

/* Nothing of the weights is along a direction that the columns do not see. */
static bool is_least(const by_products *p) {
    const double *w = p->k->h->view.linear.weights;
    double part = 0.0, all = 0.0;
    memset(p->x, 0, (size_t)p->k->columns * sizeof *p->x);
    mg_column_groups_add(&p->groups, p->one, 1.0, w, 1, p->x);
    for (int64_t j = 0; j < p->k->columns; j++) {
        part += p->x[j] * p->x[j];
        all += w[j] * w[j];
    }
    return part <= 1e-12 * all;
}

static margin_status judge(by_products *p, real *distance, real *moved) {
    mg_verification *k = p->k;
    const int64_t n = k->columns;
    real reach;
    MG_TRY(MG_PIECES(&p->arena, "a verification", k->fit->error, MG_PIECE(p->own, k->samples),
                     MG_PIECE(p->weights, k->samples), MG_PIECE(p->mean, n), MG_PIECE(p->norm, n),
                     MG_PIECE(p->one, n), MG_PIECE(p->x, n)));
    MG_TRY(read_moments(p));
    if (has_lost(p)) return MARGIN_OK;
    MG_TRY(find_least(p));
    if (!(p->least > 0.0)) return MARGIN_OK;
    const real square = p->square + square_of_intercept(p, k->v);
    *moved = find_moved(p, square);
    MG_TRY(find_reach(p, square, &reach));
    *distance = mg_verify_at_reach(square, reach);
    if (k->loss->kind != MG_LOSS_SQUARED) return MARGIN_OK;
    int64_t rank = -mg_column_groups_rank(&p->groups, p->one);
    for (int64_t j = 0; j < n; j++)
        rank += p->norm[j] > 0.0;
    mg_verify_rank(k, rank, is_least(p));
    return MARGIN_OK;
}

margin_status mg_verify_by_products(mg_verification *k, mg_real *distance, mg_real *moved) {
    by_products p = {.k = k};
    mg_arena_init(&p.arena, k->fit->context->heap);
    const margin_status status = judge(&p, distance, moved);
    mg_arena_free(&p.arena);
    return status;
}
