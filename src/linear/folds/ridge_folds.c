/* Ridge without each fold in turn, under many penalties: eigenvectors of the products of each
 * fold's columns. Declines, for the caller to fit one by one, what it cannot do to about 1e-8. */
#include "linear/folds/folds.h"

#include <string.h>

#define MOST_CONDITION 1e9 /* of eigenvalues */

static margin_status make_fit(const mg_fold_products *p, int64_t number, const mg_fold_system *s,
                              const mg_linear_options *options, const double *values,
                              const double *turned, double *w) {
    const int64_t n = p->columns;
    mg_fit *fit = &p->fits[number];
    memset(w, 0, (size_t)n * sizeof(double));
    for (int64_t l = 0; l < n; l++) {
        const double value = values[l] + options[number].penalty.alpha;
        const double step = value > 0.0 ? turned[l] / value : 0.0;
        for (int64_t j = 0; j < n; j++)
            w[j] += step * s->matrix[l * n + j];
    }
    fit->report.status = MARGIN_OK;
    fit->report.gap = (double)NAN;
    fit->report.tolerance = options[number].tolerance;
    return mg_linear_make(fit->context->heap, w, n, mg_fold_intercept(s, w, n), &fit->hypothesis,
                          NULL);
}

static margin_status ridge_fold(const mg_fold_products *p, int64_t f, mg_fold_system *s,
                                double *values, const mg_linear_options *options) {
    const int64_t n = p->columns, count = p->count;
    double *turned = values + n, lost = 1.0; /* how much larger the sums were */
    for (int64_t j = 0; j < n; j++)
        if (s->matrix[j * n + j] > 0.0)
            lost = fmax(lost, s->length[j] * s->length[j] / s->matrix[j * n + j]);
    MG_TRY(mg_fold_turn(p, s->matrix, s->slope, values, turned, NULL));
    for (int64_t k = f * count; k < (f + 1) * count; k++) {
        const double alpha = options[k].penalty.alpha;
        if (!(lost * (values[n - 1] + alpha) <= MOST_CONDITION * (values[s->constant] + alpha)))
            return MARGIN_ERROR_LIMIT;
        MG_TRY(make_fit(p, k, s, options, values, turned, turned + n));
    }
    return MARGIN_OK;
}

/* ---- Folds of one row ------------------------------------------------------------------------ */

/* From eigenvectors of all rows' products alone.
 *
 * With rows x and targets y centred by the weighted means of all rows, G = sum g x x', s = sum g x
 * y and A = G + alpha, leaving out a row of weight g out of W takes c x x' from G and c x y from s,
 * c = g W / (W - g). By the formula of Sherman and Morrison, with u = A^-1 x and h = c x'u,
 *
 *   w without it = w + c u (x'w - y) / (1 - h),   x'(w without it) = x'w + h (x'w - y) / (1 - h)
 *
 * and what its fit says of the row, whose mean moved: level - g y / (W - g) + W / (W - g) x'(...).
 * (Golub, Heath and Wahba, Technometrics 21, 1979, for equal weights.) */

/* Rounding grows with the condition of A, with 1 / (1 - h), and with W / (W - g). */
#define MOST_GROWTH 1e8
#define LEAST_REST  1e-6

typedef struct left_out {
    mg_fold_products p;
    const mg_linear_options *options;
    int64_t *rows, *sample; /* of samples; the sample that each fold leaves out */
    double *weights, *targets;
    double total, level;               /* weight; mean target, less p.level */
    double *mean;                      /* columns: of x less the centre */
    double *vectors, *values, *turned; /* of G; Q's */
    double *room;                      /* of each worker: 2 x columns */
} left_out;

static bool leaves_one_out(const mg_fit *fits, int64_t count) {
    const mg_problem *whole = fits[0].shared->whole;
    bool leaves = whole->count > 2 && count % whole->count == 0;
    for (int64_t k = 0; leaves && k < count; k++)
        leaves = fits[k].problem->count == whole->count - 1 && fits[k].asked_count == 1 &&
                 !fits[k].problem->scale && !fits[k].problem->shift;
    return leaves;
}

/* Each fold asks for the row that it does not learn from, and no other fold does. tested: of all
 * samples; seen: those that another fold leaves out. */
static margin_status left_out_check(left_out *l, int64_t *tested, bool *seen, margin_error *error) {
    const mg_fold_products *p = &l->p;
    int64_t count;
    memset(seen, 0, (size_t)p->whole->count * sizeof *seen);
    for (int64_t f = 0; f < p->folds; f++) {
        const mg_fit *fit = &p->fits[f * p->count];
        const margin_status status = mg_fold_tested(p->whole, fit->problem, tested, &count);
        const int64_t i = l->sample[f] = tested[0];
        if (status < 0 || l->rows[i] != fit->asked[0] || seen[i])
            return mg_folds_decline(error, "they do not leave out each row once");
        seen[i] = true;
    }
    return MARGIN_OK;
}

/* slope: centred products with the target. */
static void centre_whole(left_out *l, double *slope) {
    const int64_t n = l->p.columns, size = l->p.size, last = (size - 1) * size;
    const double *gram = l->p.grams;
    l->total = gram[last + size - 1];
    l->level = gram[last + n] / l->total;
    for (int64_t j = 0; j < n; j++) {
        l->mean[j] = gram[last + j] / l->total;
        slope[j] = gram[j * size + n] - l->mean[j] * gram[last + n];
        for (int64_t k = 0; k < n; k++)
            l->vectors[j * n + k] = gram[j * size + k] - l->mean[j] * gram[last + k];
    }
}

/* What the fit with penalty alpha to the other rows says of the row, of which z = Q'x. */
static bool predict_left_out(const left_out *l, double alpha, const double *z, double weight,
                             double y, double *score) {
    const int64_t n = l->p.columns;
    const double rest = l->total - weight, c = weight * l->total / rest;
    double fitted = 0.0, h = 0.0;
    for (int64_t e = 0; e < n; e++) {
        const double inverse = 1.0 / (l->values[e] + alpha);
        fitted += z[e] * l->turned[e] * inverse;
        h += c * z[e] * z[e] * inverse;
    }
    const double growth = (l->values[n - 1] + alpha) / ((l->values[0] + alpha) * (1.0 - h));
    if (!(growth > 0.0 && growth <= MOST_GROWTH && rest >= LEAST_REST * l->total)) return false;
    const double without = fitted + h * (fitted - y) / (1.0 - h);
    *score = l->p.level + l->level - weight * y / rest + l->total / rest * without;
    return isfinite(*score);
}

static margin_status leave_row_out(void *argument, int64_t f, int worker) {
    const left_out *l = argument;
    const mg_fold_products *p = &l->p;
    const int64_t n = p->columns;
    double *x = l->room + worker * 2 * n, *z = x + n;
    const int64_t i = l->sample[f];
    mg_sample_values(p->whole, i, x);
    for (int64_t j = 0; j < n; j++)
        x[j] -= p->centre[j] + l->mean[j];
    for (int64_t e = 0; e < n; e++) {
        z[e] = 0.0;
        for (int64_t j = 0; j < n; j++)
            z[e] += l->vectors[e * n + j] * x[j];
    }
    for (int64_t k = f * p->count; k < (f + 1) * p->count; k++) {
        mg_fit *fit = &p->fits[k];
        fit->scores = mg_new(p->arena->heap, 1, sizeof *fit->scores);
        if (!fit->scores) return MARGIN_ERROR_MEMORY;
        if (!predict_left_out(l, l->options[k].penalty.alpha, z, l->weights[i],
                              l->targets[i] - l->level, fit->scores))
            return MARGIN_ERROR_LIMIT;
        fit->report.status = MARGIN_OK;
        fit->report.gap = (double)NAN;
        fit->report.tolerance = l->options[k].tolerance;
    }
    return MARGIN_OK;
}

static margin_status ridge_left_out(mg_fit *fits, int64_t count, const mg_linear_options *options) {
    const int64_t samples = fits[0].shared->whole->count, n = fits[0].shared->whole->x.columns;
    margin_error *error = fits[0].error;
    left_out l = {.options = options};
    bool *seen;
    int64_t *tested;
    margin_status status;
    MG_SCOPED_ARENA(arena, fits[0].context->heap);
    if (!leaves_one_out(fits, count)) return mg_folds_decline(error, "they leave out more rows");
    MG_GO(MG_PIECES(&arena, "the rows left out", error, MG_PIECE(l.rows, samples),
                    MG_PIECE(l.sample, samples), MG_PIECE(l.weights, samples),
                    MG_PIECE(l.targets, samples), MG_PIECE(l.mean, n), MG_PIECE(l.vectors, n * n),
                    MG_PIECE(l.values, n), MG_PIECE(l.turned, n),
                    MG_PIECE(l.room, 2 * n * mg_threads(fits[0].context)),
                    MG_PIECE(tested, samples), MG_PIECE(seen, samples)));
    MG_GO(mg_fold_products_whole(&l.p, fits, count, &arena, l.rows, l.weights, l.targets));
    MG_GO(left_out_check(&l, tested, seen, error));
    centre_whole(&l, l.room);
    status = mg_fold_turn(&l.p, l.vectors, l.room, l.values, l.turned, error);
    if (status == MARGIN_ERROR_LIMIT)
        status = mg_folds_decline(error, "eigenvalues were not found");
    if (status < 0) goto done;
    status = mg_parallel(fits[0].context, l.p.folds, leave_row_out, &l, error);
    if (status == MARGIN_ERROR_MEMORY)
        status = mg_no_memory(arena.heap, 1, sizeof(double), "a row left out", error);
done:
    for (int64_t k = 0; status < 0 && k < count; k++) {
        mg_free(arena.heap, fits[k].scores);
        fits[k].scores = NULL;
    }
    if (status < 0) mg_fits_undo(fits, count);
    return status;
}

margin_status mg_ridge_folds(mg_fit *fits, int64_t count, const mg_linear_options *options) {
    MG_REQUIRE(options[0].intercept, fits[0].error, MARGIN_ERROR_LIMIT, "there is no intercept");
    const margin_status status = ridge_left_out(fits, count, options);
    if (status != MARGIN_ERROR_LIMIT) return status;
    return mg_fold_products_solve(fits, count, 3, ridge_fold, options);
}
