/* Least squares by the normal equations.
 *
 * One pass makes the weighted products of the columns [A y 1], shifted by the means and divided by
 * the deviations of a sample of rows so that little cancels; the shift left over is corrected
 * exactly through the column of ones. Cholesky after scaling to a diagonal of ones, and refinement
 * with residuals from the data ("corrected seminormal equations", Björck, "Numerical methods for
 * least squares problems", 1996, section 6.6.5), unless the products of well conditioned columns
 * say enough: then no further pass follows. Where the condition is too large for Cholesky, Cholesky
 * with pivoting tells columns that depend on each other from those that do not, if there is nothing
 * in between: there the products of rounded numbers cannot tell, and QR does. */
#include "linear/squares/least_squares.h"

#include "math/products/cholesky.h"
#include "math/products/lapack.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

/* ---- Products -------------------------------------------------------------------------------- */

static void choose_factors(const mg_squares *s, mg_squares_products *p) {
    for (int64_t j = 0; j < s->columns; j++) {
        const double length = s->intercept ? p->factor[j] : hypot(p->start[j], p->factor[j]);
        if (!s->intercept) p->start[j] = 0.0;
        const double other = fabs(p->start[j]);
        p->factor[j] = fmin(1.0 / (length > 0.0 ? length : other > 0.0 ? other : 1.0), DBL_MAX);
    }
}

/* The mean of what was shifted by a sample's mean. */
static margin_status take_means_off(const mg_squares *s, const mg_squares_products *p) {
    const int64_t size = p->size;
    const double *sums = p->gram + (size - 1) * size;
    for (int64_t j = 0; s->intercept && j < size - 1; j++) {
        const double mean = sums[j] / s->total;
        for (int64_t k = 0; k < size - 1; k++)
            p->gram[j * size + k] -= mean * sums[k];
        if (mg_cancelled(s->context)) return mg_fail_cancelled(s->error);
    }
    return MARGIN_OK;
}

/* *unsure: a spread is one that rounding alone could make; of sparse rows means come off the sums
 * of squares, which leaves half the digits. */
static void set_columns(mg_squares *s, const mg_squares_products *p, bool *unsure) {
    const double rounding = isinf(mg_design_gram_rounding(&s->design)) ? 1e-7 : 1e-14;
    const double *sums = p->gram + (p->size - 1) * p->size;
    for (int64_t j = 0; j < s->columns; j++) {
        const double square = p->diagonal[j];
        const double length = square > 0.0 ? sqrt(square) / p->factor[j] : square - square;
        const double left = s->intercept ? sums[j] / s->total / p->factor[j] : 0.0;
        s->mean[j] = p->start[j] + left;
        const double least = rounding * sqrt(s->total) * fabs(s->mean[j]);
        s->norm[j] = length > least || isnan(length) ? length : 0.0;
        *unsure |= s->norm[j] == 0.0;
    }
}

/* Whether columns that seem constant are not: their differences are then for QR. */
static margin_status find_constants(mg_squares *s, bool *doubtful) {
    double *mean = s->step, *deviation = s->gradient;
    MG_TRY(mg_design_moments(&s->design, true, mean, deviation, s->error));
    *doubtful = false;
    for (int64_t j = 0; j < s->columns; j++)
        *doubtful |= s->norm[j] == 0.0 && (deviation[j] > 0.0 || (!s->intercept && mean[j] != 0.0));
    return MARGIN_OK;
}

margin_status mg_squares_make_products(mg_squares *s, mg_squares_products *p, bool *doubtful) {
    bool unsure = false;
    MG_TRY(MG_PIECES(&s->arena, "the scale of the columns", s->error,
                     MG_PIECE(p->start, s->columns), MG_PIECE(p->factor, s->columns)));
    MG_TRY(mg_design_moments(&s->design, false, p->start, p->factor, s->error));
    memcpy(s->mean, p->start, (size_t)s->columns * sizeof *s->mean);
    memcpy(s->norm, p->factor, (size_t)s->columns * sizeof *s->norm);
    MG_TRY(mg_squares_check_norms(s));
    choose_factors(s, p);
    const mg_weighted_gram request = {.weights = s->c,
                                      .centre = p->start,
                                      .factor = p->factor,
                                      .extra = s->problem->target,
                                      .extra_centre = s->centre,
                                      .extra_spread = s->spread};
    p->size = mg_design_gram_size(&s->design, &request);
    MG_TRY(MG_PIECES(&s->arena, "the products of the columns", s->error,
                     MG_PIECE(p->gram, p->size * p->size), MG_PIECE(p->diagonal, p->size)));
    MG_TRY(mg_design_gram(&s->design, &request, p->gram, s->error));
    MG_TRY(take_means_off(s, p));
    for (int64_t j = 0; j < p->size; j++)
        p->diagonal[j] = p->gram[j * (p->size + 1)];
    set_columns(s, p, &unsure);
    *doubtful = false;
    if (unsure) MG_TRY(find_constants(s, doubtful));
    return mg_squares_check_norms(s);
}

/* ---- Equations ------------------------------------------------------------------------------- */

/* A'CA + alpha I with a diagonal of ones, the lower triangle, into f->matrix, and its 1-norm. From
 * the products below the diagonal, `again`: above it, as a factor has taken the place of those. */
static margin_status equilibrate(const mg_squares *s, const mg_squares_products *p,
                                 mg_squares_factor *f, bool again, double *norm) {
    const double most = 1e280; /* a penalty that leaves nothing of a column */
    double *sums = f->work + f->count;
    *norm = 0.0;
    for (int64_t k = 0; k < f->count; k++) {
        const int64_t j = f->column[k];
        const double factor = p->factor[j], square = p->diagonal[j];
        const double penalty = s->alpha * factor * factor;
        const bool alone = s->alpha > 0.0 && !(penalty < most);
        f->work[k] = alone ? 1.0 / sqrt(s->alpha) / factor : 1.0 / sqrt(square + penalty);
        f->scale[k] = alone ? 1.0 / sqrt(s->alpha) : factor * f->work[k];
    }
    for (int64_t k = 0; k < f->count; k++) {
        const int64_t along = again ? p->size : 1;
        const double *gram = p->gram + f->column[k] * (again ? 1 : p->size);
        double *row = f->matrix + k * f->ld, sum = 0.0;
        for (int64_t l = 0; l < k; l++) {
            row[l] = gram[f->column[l] * along] * f->work[k] * f->work[l];
            sum += fabs(row[l]);
            sums[l] += fabs(row[l]);
        }
        row[k] = 1.0;
        sums[k] = sum + 1.0;
        if (mg_cancelled(s->context)) return mg_fail_cancelled(s->error);
    }
    for (int64_t k = 0; k < f->count; k++)
        *norm = fmax(*norm, sums[k]);
    return MARGIN_OK;
}

/* Of the longest column to the shortest. */
static double ratio_of(const mg_squares_factor *f) {
    double most = 0.0, least = (double)INFINITY;
    for (int64_t k = 0; k < f->count; k++) {
        most = fmax(most, f->scale[k]);
        least = fmin(least, f->scale[k]);
    }
    return most / least;
}

/* What a factor of `rank` places says of columns that depend on each other, unless rounding is. */
static margin_status take_rank(mg_squares *s, mg_squares_factor *f, const int *pivots, int64_t rank,
                               double norm, bool *reliable) {
    const double reciprocal =
        mg_cholesky_condition(s->context, rank, f->matrix, f->ld, norm, f->work);
    if (!(reciprocal > mg_squares_least_reciprocal(f->count))) return MARGIN_OK;
    MG_TRY(mg_squares_factor_pivoted(s, f, pivots));
    MG_TRY(mg_squares_factor_apart(s, f));
    f->rank = rank;
    s->condition = 1.0 / sqrt(reciprocal);
    if (ratio_of(f) <= s->condition)
        MG_ARENA_NEW(&s->arena, f->away, s->columns, "the normal equations", s->error);
    MG_TRY(mg_squares_factor_null(s, f));
    *reliable = !s->out_of_time;
    return s->is_partial && *reliable ? mg_squares_factor_check(s, f, reliable) : MARGIN_OK;
}

/* Columns that depend on each other: pivots, which fall to rounding all at once, and what the data
 * says of the directions left out. */
static margin_status factor_pivoted(mg_squares *s, const mg_squares_products *p,
                                    mg_squares_factor *f, bool *reliable) {
    const double rounding = 1e-11, least = 1e-9;
    const int64_t n = f->count;
    int *pivots, rank = 0;
    double norm;
    MG_ARENA_NEW(&s->arena, pivots, n, "the normal equations", s->error);
    MG_TRY(equilibrate(s, p, f, true, &norm));
    MG_TRY(mg_squares_in_time(s, mg_lapack_dpstrf(&s->stop, 'U', n, f->matrix, f->ld, pivots,
                                                  rounding, &rank, s->error)));
    if (s->out_of_time || rank == 0 || rank == n) return MARGIN_OK;
    const double last = f->matrix[(rank - 1) * (f->ld + 1)];
    if (!(last * last > least)) return MARGIN_OK;
    return take_rank(s, f, pivots, rank, norm, reliable);
}

static double least_pivot(const mg_squares_factor *f, int64_t rank) {
    double least = (double)INFINITY;
    for (int64_t k = 0; k < rank; k++)
        least = fmin(least, f->matrix[k * (f->ld + 1)]);
    return least * least;
}

/* In the columns' own order, which is quick: where a few columns are sums of others, exactly, no
 * pivot is anywhere near rounding. Otherwise the factor is not kept: an order by size has a better
 * condition. */
static margin_status factor_in_order(mg_squares *s, mg_squares_factor *f, double norm,
                                     bool *reliable) {
    const double surely = 1e-6;
    const int64_t n = f->count, few = n / 8;
    int64_t *order, rank, failed;
    int *pivots;
    MG_TRY(MG_PIECES(&s->arena, "the normal equations", s->error, MG_PIECE(order, n),
                     MG_PIECE(pivots, n)));
    MG_TRY(mg_cholesky_factor_rank(s->context, n, f->matrix, f->ld, mg_squares_least_reciprocal(n),
                                   few, order, &rank, &failed, s->error));
    if (failed) return MARGIN_OK;
    if (rank == n)
        return mg_squares_judge_cholesky(s, f->matrix, n, f->ld, norm, f->work, reliable);
    if (!(least_pivot(f, rank) > surely)) return MARGIN_OK;
    for (int64_t k = 0; k < n; k++)
        pivots[k] = (int)order[k] + 1;
    return take_rank(s, f, pivots, rank, norm, reliable);
}

/* ---- Proof ----------------------------------------------------------------------------------- */

/* How much larger than the columns are what their products were summed from, squared. */
static double shift_ratio(const mg_squares *s, const mg_squares_products *p) {
    const double *sums = p->gram + (p->size - 1) * p->size;
    double most = 1.0;
    for (int64_t j = 0; j <= s->columns && s->intercept; j++)
        if (j == s->columns || s->norm[j] > 0.0)
            most = fmax(most, 1.0 + sums[j] * sums[j] / s->total / p->diagonal[j]);
    return most;
}

/* How far from 0 columns lie at most, stored ones included, beside their norms: so much more than a
 * number is rounded its place. */
static double offset_ratio(const mg_squares *s) {
    const double *shift = s->design.shift, root = sqrt(s->total);
    double most = 1.0;
    for (int64_t j = 0; j < s->columns; j++)
        if (s->norm[j] > 0.0)
            most =
                fmax(most, root * (fabs(s->mean[j]) + (shift ? fabs(shift[j]) : 0.0)) / s->norm[j]);
    return most;
}

/* value: y'y - w'(A'y + left), where left = A'y - A'A w, which goes to the gradient, all in the
 * units of the products. v: columns. Whether that cancels little. */
static bool residual_of(mg_squares *s, const mg_squares_products *p, double *v, double *value) {
    static const double least = 1e-3, most = 16.0; /* of y'y */
    const int64_t size = p->size, target = s->columns;
    const double *row = p->gram + target * size;
    double sum = row[target], sizes = row[target];
    for (int64_t j = 0; j < target; j++)
        v[j] = s->norm[j] > 0.0 ? s->w[j] / p->factor[j] / s->spread : 0.0;
    for (int64_t j = 0; j < target; j++) {
        double left = row[j], terms = fabs(row[j]);
        for (int64_t k = 0; k < target; k++) {
            const double *own = k < j ? p->gram + k * size + j : p->gram + j * size + k;
            const double term = (k == j ? p->diagonal[j] : *own) * v[k];
            left -= term;
            terms += fabs(term);
        }
        sum -= v[j] * (row[j] + left);
        sizes += fabs(v[j]) * terms;
        s->gradient[j] = left * s->spread / p->factor[j];
    }
    *value = sum;
    return sum >= least * row[target] && sizes <= most * row[target];
}

void mg_squares_look_at_products(mg_squares *s, const mg_squares_products *p) {
    const double *sums = p->gram + (p->size - 1) * p->size;
    const double excess = s->intercept ? sums[s->columns] * s->spread : 0.0;
    double value, terms = sqrt(p->diagonal[s->columns]), *v = s->step;
    const double of_sums = 3.0 * mg_design_gram_rounding(&s->design) * shift_ratio(s, p);
    if (!isfinite(of_sums) || !(s->spread > 0.0)) return;
    if (!residual_of(s, p, v, &value)) return;
    for (int64_t j = 0; j < s->columns; j++)
        terms += fabs(v[j]) * sqrt(fmax(p->diagonal[j], 0.0));
    const double rounding = of_sums + DBL_EPSILON * ((double)p->size + offset_ratio(s));
    mg_squares_judge_products(s, value * s->spread * s->spread + excess * excess / s->total, excess,
                              rounding * terms * s->spread);
}

/* Of sparse rows products lose digits of columns far from 0, and what is left of a sum of others
 * passes for a direction: a rank above that of the data is none. */
static margin_status check_sparse_rank(mg_squares *s, const mg_squares_factor *f, bool *reliable) {
    const double far = offset_ratio(s), noise = 64.0 * DBL_EPSILON * far * far;
    int64_t rank;
    if (!isinf(mg_design_gram_rounding(&s->design)) || least_pivot(f, f->rank) > noise)
        return MARGIN_OK;
    MG_TRY(mg_squares_exact_rank(s, &rank));
    *reliable = f->rank <= rank;
    return MARGIN_OK;
}

margin_status mg_squares_normal(mg_squares *s, bool only, bool *doubtful) {
    static const double well_conditioned = 32.0; /* of others the data tells more */
    mg_squares_products p = {0};
    mg_squares_factor *f;
    bool reliable = false, hidden = false;
    double norm;
    *doubtful = true;
    MG_ARENA_NEW(&s->arena, f, 1, "the normal equations", s->error);
    MG_TRY(mg_squares_make_products(s, &p, &hidden));
    if (hidden) return MARGIN_OK;
    MG_TRY(mg_squares_factor_new(s, f));
    f->matrix = p.gram;
    f->ld = p.size;
    snprintf(s->method, sizeof s->method, "Cholesky factor of the normal equations");
    MG_TRY(mg_squares_in_time(s, mg_stop_check(&s->stop, 0)));
    if (s->out_of_time) return MARGIN_OK;
    MG_TRY(equilibrate(s, &p, f, false, &norm));
    if (s->alpha > 0.0)
        MG_TRY(mg_squares_try_cholesky(s, f->matrix, f->count, f->ld, norm, f->work, &reliable));
    else
        MG_TRY(factor_in_order(s, f, norm, &reliable));
    if (!reliable && s->alpha == 0.0 && s->rank < 0) MG_TRY(factor_pivoted(s, &p, f, &reliable));
    if (reliable && s->alpha == 0.0 && !s->out_of_time) MG_TRY(check_sparse_rank(s, f, &reliable));
    if (!reliable || s->out_of_time) return MARGIN_OK;
    mg_squares_start(s);
    for (int64_t j = 0; j < s->columns; j++) /* sum c (a - mean) (y - centre) */
        s->gradient[j] =
            s->norm[j] > 0.0 ? p.gram[j * p.size + s->columns] * s->spread / p.factor[j] : 0.0;
    MG_TRY(mg_squares_factor_correct(s, f, s->step));
    mg_squares_move(s, s->step);
    if (s->condition <= well_conditioned && !s->slopes) mg_squares_look_at_products(s, &p);
    MG_TRY(mg_squares_refine(s, mg_squares_factor_correct, f));
    s->may_doubt = !only && !s->is_partial; /* no way tells more of what is left out */
    *doubtful = s->may_doubt && s->now.gap > s->tolerance;
    s->correct = mg_squares_factor_correct;
    s->factor = f;
    return MARGIN_OK;
}
