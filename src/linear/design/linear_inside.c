/* Other coordinates for data with offsets, or with more columns than rows. */
#include "linear/design/linear_inside.h"

#include "math/rows/row_ops.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Of a mean to the deviation: beyond, scores lose more than three digits. */
static const double far_off = 1e3;
/* A row counts as a combination of those before if no more than this share of it is left. */
static const double dependent = 1e-13;
/* The basis costs 4 samples^2 columns multiply-adds and a copy of the rows in f64. */
static const double most_work = 1e9;
enum { LEAST_COLUMNS = 64, MOST_BYTES = 256 << 20 };

static const char purpose[] = "coordinates for a solver";

/* ---- Whether --------------------------------------------------------------------------------- */

static bool is_wide(const mg_design *d) {
    const double samples = (double)d->samples, columns = (double)d->columns;
    return d->columns >= LEAST_COLUMNS && columns >= 2.0 * samples &&
           samples * samples * columns <= most_work &&
           samples * columns * (double)sizeof(double) <=
               (double)mg_context_room(d->context, MOST_BYTES);
}

/* Mean and deviation of each column; deviation is scratch. */
static margin_status find_mean(mg_design *d, bool intercept, mg_inside *in, bool *is_far,
                               margin_error *error) {
    double *deviation = in->shift;
    *is_far = false;
    if (!intercept) {
        memset(in->mean, 0, (size_t)in->columns * sizeof *in->mean);
        return MARGIN_OK;
    }
    MG_TRY(mg_design_moments(d, false, in->mean, deviation, error));
    for (int64_t j = 0; j < in->columns; j++)
        *is_far |= deviation[j] > 0.0 && fabs(in->mean[j]) > far_off * deviation[j];
    return MARGIN_OK;
}

/* ---- Wide ------------------------------------------------------------------------------------ */

static void read_row(const mg_inside *in, const mg_problem *p, int64_t i, double *a) {
    mg_sample_values(p, i, a);
    for (int64_t j = 0; j < in->columns; j++)
        a[j] = (p->scale ? p->scale[j] * a[j] : a[j]) + in->shift[j];
}

/* Row i in the basis, which grows by what is new in it. z: samples numbers, 0. */
static void add_row(mg_inside *in, const mg_vector_ops *v, const mg_problem *p, int64_t i,
                    double *z) {
    const int64_t n = in->columns;
    double *a = in->basis + in->rank * n;
    read_row(in, p, i, a);
    const double length = sqrt(v->square(a, n));
    for (int twice = 0; twice < 2; twice++)
        for (int64_t k = 0; k < in->rank; k++) {
            const double share = v->dot(in->basis + k * n, a, n);
            v->add(a, -share, in->basis + k * n, n);
            z[k] += share;
        }
    const double left = sqrt(v->square(a, n));
    if (!(left > dependent * length)) return;
    for (int64_t j = 0; j < n; j++)
        a[j] /= left;
    z[in->rank++] = left;
}

static margin_status turn(mg_design *d, mg_inside *in, margin_error *error) {
    const int64_t samples = d->samples, n = in->columns;
    MG_NEW(in->heap, in->basis, samples * n, purpose, error);
    in->rows = mg_new_zero(in->heap, samples * samples, sizeof *in->rows);
    if (!in->rows) return mg_no_memory(in->heap, samples * samples, sizeof(double), purpose, error);
    for (int64_t i = 0; i < samples; i++) {
        if (mg_cancelled(d->context)) return mg_fail_cancelled(error);
        add_row(in, mg_vector_ops_for(d->isa), d->problem, i, in->rows + i * samples);
    }
    in->rank = MG_MAX(in->rank, 1); /* where all rows are 0 */
    in->problem.x = margin_dense_f64(in->rows, samples, in->rank, samples);
    in->problem.columns = NULL;
    in->problem.index = NULL;
    in->problem.scale = in->problem.shift = NULL;
    return MARGIN_OK;
}

/* ---- All ------------------------------------------------------------------------------------- */

margin_status mg_inside_make(mg_design *d, bool intercept, bool turns, mg_inside *inside,
                             bool *helps, margin_error *error) {
    mg_inside in = {.problem = *d->problem, .heap = d->heap, .columns = d->columns};
    const bool wide = turns && is_wide(d);
    bool is_far = false;
    margin_status status;
    *helps = false;
    if (d->problem->maker || (!wide && !intercept)) return MARGIN_OK;
    MG_GO_NEW(in.heap, in.mean, 2 * in.columns, purpose, error);
    in.shift = in.mean + in.columns;
    MG_GO(find_mean(d, intercept, &in, &is_far, error));
    if (!wide && !is_far) goto done;
    for (int64_t j = 0; j < in.columns; j++)
        in.shift[j] = (d->shift ? d->shift[j] : 0.0) - in.mean[j];
    in.problem.shift = in.shift;
    if (wide) MG_GO(turn(d, &in, error));
    *inside = in;
    *helps = true;
    return MARGIN_OK;
done:
    mg_inside_free(&in);
    return status;
}

void mg_inside_weights(const mg_inside *inside, const double *u, double *w, double *b) {
    const int64_t n = inside->columns;
    if (inside->basis) {
        memset(w, 0, (size_t)n * sizeof *w);
        for (int64_t k = 0; k < inside->rank; k++)
            for (int64_t j = 0; j < n && u[k] != 0.0; j++)
                w[j] += u[k] * inside->basis[k * n + j];
    } else {
        memmove(w, u, (size_t)n * sizeof *w);
    }
    for (int64_t j = 0; j < n; j++)
        *b -= inside->mean[j] * w[j];
}

void mg_inside_explain(double gap, double tolerance, size_t room, char *why) {
    snprintf(why, room,
             "the gap is proven in the coordinates of the solver (columns from their mean, rows in "
             "their span); rounding of the scores in those of the data leaves a gap of %s, above "
             "tol=%s: ask for less, give C a smaller value, or standardize | ...",
             mg_number(gap).text, mg_number(tolerance).text);
}

void mg_inside_free(mg_inside *inside) {
    mg_free(inside->heap, inside->rows);
    mg_free(inside->heap, inside->basis);
    mg_free(inside->heap, inside->mean);
    memset(inside, 0, sizeof *inside);
}
