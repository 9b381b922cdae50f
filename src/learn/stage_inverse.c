/* Stages whose rows are the inverse of a factor times values that cost much less. */
#include "learn/learner.h"

#include <math.h>
#include <string.h>

static const double *inverse_of(const mg_fitted_stage *fitted) {
    return mg_bag_find(&fitted->bag, "inverse")->data;
}

void mg_stage_to_inner(const mg_fitted_stage *fitted, const double *w, double *v) {
    const int64_t n = fitted->columns_out;
    const double *row = inverse_of(fitted);
    memset(v, 0, (size_t)n * sizeof *v);
    for (int64_t k = 0; k < n; k++, row += n)
        for (int64_t j = 0; j <= k; j++)
            v[j] += w[k] * row[j];
}

static double ordered_dot(const double *a, const double *b, int64_t count) {
    enum { SUMS = 8 };
    double sums[SUMS] = {0};
    int64_t j = 0;
    for (; j + SUMS <= count; j += SUMS)
        for (int64_t s = 0; s < SUMS; s++)
            sums[s] += a[j + s] * b[j + s];
    for (; j < count; j++)
        sums[j % SUMS] += a[j] * b[j];
    for (int64_t half = SUMS / 2; half > 0; half /= 2)
        for (int64_t s = 0; s < half; s++)
            sums[s] += sums[s + half];
    return sums[0];
}

void mg_inner_scores(const double *values, int64_t count, int64_t columns, const double *v,
                     const double *intercept, int64_t functions, double *scores) {
    for (int64_t i = 0; i < count; i++)
        for (int64_t f = 0; f < functions; f++)
            *scores++ = ordered_dot(values + i * columns, v + f * columns, columns) + intercept[f];
}

double mg_stage_inner_growth(const mg_fitted_stage *fitted) {
    const int64_t n = fitted->columns_out;
    const double *row = inverse_of(fitted);
    double most = 0;
    for (int64_t k = 0; k < n; k++, row += n) {
        double sum = 0;
        for (int64_t j = 0; j <= k; j++)
            sum += fabs(row[j]);
        most = fmax(most, sum);
    }
    return most;
}

/* ---- Two stages that are alike ---------------------------------------------------------------
 * The numbers of their inverses may be large and cancel, and say little: they agree if what they
 * make of the centres does, to the rounding of kernel values. The inverse of a factor times the
 * Gram matrix is that factor again, and no other matrix gives it. */

/* Whether two alike tensors, if there are any, have other bits. */
static bool differ_in(const mg_fitted_stage *fitted, const mg_fitted_stage *stored,
                      const char *name) {
    const mg_tensor *a = mg_bag_find(&fitted->bag, name), *b = mg_bag_find(&stored->bag, name);
    const int64_t bytes = a ? a->shape[0] * a->shape[1] * mg_type_size(a->type) : 0;
    return a && memcmp(a->data, b->data, (size_t)bytes) != 0;
}

/* Raises, for each feature of a centre, what two stages differ in and what rounding may move it by,
 * both as parts of the centre's norm. room: 3 x n. */
static void compare_centre(const mg_fitted_stage *fitted, const mg_fitted_stage *stored,
                           const double *centre, double *room, double *apart, double *rounding) {
    const int64_t n = fitted->columns_out;
    double *made = room, *other = made + n, *blur = other + n, square = 0;
    memset(blur, 0, (size_t)n * sizeof *blur);
    fitted->stage->blur(fitted, centre, made, blur);
    fitted->stage->apply_row(fitted, centre, made);
    fitted->stage->apply_row(stored, centre, other);
    for (int64_t k = 0; k < n; k++)
        square += made[k] * made[k];
    for (int64_t k = 0; k < n; k++) {
        const double moved = fabs(made[k] - other[k]);
        const bool known = isfinite(moved) && square > 0;
        apart[k] = fmax(apart[k], known ? moved / sqrt(square) : (double)INFINITY);
        rounding[k] = fmax(rounding[k], known ? blur[k] / sqrt(square) : 0);
    }
}

margin_status mg_stage_compare_inverse(margin_context *context, const mg_fitted_stage *fitted,
                                       const mg_fitted_stage *stored, const char **differs,
                                       margin_error *error) {
    if (!differ_in(fitted, stored, "inverse")) return MARGIN_OK;
    const double *centres = mg_bag_find(&fitted->bag, "centres")->data;
    const int64_t n = fitted->columns_out;
    double *apart;
    MG_NEW_ZERO(context->heap, apart, 5 * n, "what a stage makes of its centres", error);
    double *rounding = apart + n, *room = rounding + n;
    for (int64_t i = 0; i < n && !mg_cancelled(context); i++)
        compare_centre(fitted, stored, centres + i * fitted->columns_in, room, apart, rounding);
    for (int64_t k = 0; k < n; k++)
        if (apart[k] > rounding[k]) *differs = "inverse";
    mg_free(context->heap, apart);
    return mg_cancelled(context) ? mg_fail_cancelled(error) : MARGIN_OK;
}
