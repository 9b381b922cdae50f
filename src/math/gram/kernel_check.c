/* Whether a precomputed matrix is one that a kernel may have, and a kernel an inner product. */
#include "base/context.h"
#include "math/gram/gram.h"
#include "math/products/cholesky.h"

#include <math.h>

typedef struct check_work {
    const mg_kernel_points *points;
    double largest;
    int64_t *partner; /* of each point: one with which it is not symmetric, -1: none */
} check_work;

static double given(const mg_kernel_points *points, int64_t i, int64_t j) {
    return mg_stored_value(&points->x,
                           mg_point_row(points, i) * points->x.stride + mg_point_place(points, j));
}

bool mg_kernel_differs(double a, double b, double largest) {
    return fabs(a - b) > 1e-6 * fmax(fmax(fabs(a), fabs(b)), 1e-6 * largest);
}

static margin_status check_block(const mg_block *block, void *argument) {
    const check_work *work = argument;
    for (int64_t i = block->first; i < block->first + block->count; i++) {
        work->partner[i] = -1;
        for (int64_t j = 0; j < i && work->partner[i] < 0; j++)
            if (mg_kernel_differs(given(work->points, i, j), given(work->points, j, i),
                                  work->largest))
                work->partner[i] = j;
    }
    return MARGIN_OK;
}

static margin_status check_symmetry(margin_context *context, const mg_kernel_points *points,
                                    margin_error *error) {
    check_work work = {points, 0.0, NULL};
    MG_NEW(context->heap, work.partner, points->count, "a check of the Gram matrix", error);
    for (int64_t i = 0; i < points->count; i++)
        work.largest = fmax(work.largest, fabs(given(points, i, i)));
    margin_status status = mg_sweep_each(context, points->count, 64, check_block, &work, error);
    for (int64_t i = 0; status >= 0 && i < points->count; i++) {
        const int64_t j = work.partner[i];
        if (j < 0) continue;
        const mg_place place = {.row = mg_point_place(points, i) + 1,
                                .feature = mg_point_place(points, j) + 1};
        status = mg_fail_at(
            error, MARGIN_ERROR_DATA, place,
            "kernel=precomputed: the matrix is not symmetric: row %lld has %s in "
            "the column of row %lld, row %lld has %s in that of row %lld",
            (long long)mg_point_place(points, i) + 1, mg_number(given(points, i, j)).text,
            (long long)mg_point_place(points, j) + 1, (long long)mg_point_place(points, j) + 1,
            mg_number(given(points, j, i)).text, (long long)mg_point_place(points, i) + 1);
    }
    mg_free(context->heap, work.partner);
    return status;
}

margin_status mg_kernel_check(margin_context *context, const mg_kernel *kernel,
                              const mg_kernel_points *points, margin_error *error) {
    if (kernel->kind != MG_KERNEL_PRECOMPUTED) return MARGIN_OK;
    MG_REQUIRE(!mg_is_csr(&points->x), error, MARGIN_ERROR_DATA,
               "kernel=precomputed: the matrix is sparse; give a dense one");
    bool square = points->places || points->rows || points->x.columns <= points->count;
    for (int64_t i = 0; i < points->count; i++)
        square = square && mg_point_place(points, i) < points->x.columns;
    MG_REQUIRE(square, error, MARGIN_ERROR_DATA,
               "kernel=precomputed: the matrix is not square: it has %lld rows and %lld columns; "
               "column j is to hold the kernel values with row j",
               (long long)points->count, (long long)points->x.columns);
    return check_symmetry(context, points, error);
}

margin_status mg_kernel_check_value(double value, int64_t row, margin_error *error) {
    static const double most = 1e150;
    if (fabs(value) <= most) return MARGIN_OK;
    return mg_fail_at(
        error, MG_DATA(OVERFLOW), (mg_place){.row = row + 1},
        "row %lld: its kernel value with itself is beyond 1e150, where squares "
        "overflow; scale the columns first (standardize | ...) or use kernel=rbf, or divide "
        "values of your own",
        (long long)row + 1);
}

/* ---- An inner product ------------------------------------------------------------------------ */

const char *mg_kernel_doubt(mg_kernel_curvature curvature) {
    return curvature == MG_KERNEL_INDEFINITE
               ? "is not positive definite on these rows"
               : "need not be positive definite, and the rows are too many to decide";
}

/* With what its values may have lost to rounding, a share of 1e-6 each, more on the diagonal; a
 * diagonal of zeros gets hardly anything, so that zeros alone have a factor. */
margin_status mg_kernel_decide(margin_context *context, const mg_kernel *kernel,
                               const mg_kernel_points *points, mg_kernel_curvature *found,
                               margin_error *error) {
    const int64_t n = points->count, bytes = mg_gram_bytes(n, MARGIN_F64, n);
    const mg_gram_request request = {*kernel, *points, MARGIN_F64, bytes, false, 0.0f};
    int64_t failed = 0;
    static const double least = 1e-300;
    double most = 0.0;
    mg_gram *gram;
    *found = mg_kernel_is_definite(kernel) ? MG_KERNEL_DEFINITE : MG_KERNEL_UNDECIDED;
    if (*found == MG_KERNEL_DEFINITE || n > MG_MOST_DECIDED ||
        bytes > mg_context_room(context, INT64_MAX))
        return MARGIN_OK;
    MG_TRY(mg_gram_create(context, &request, &gram, error));
    margin_status status = mg_gram_fill(gram, context, error);
    double *square = (double *)(void *)gram->values;
    for (int64_t i = 0; i < n; i++)
        most = fmax(most, fabs(gram->diagonal[i]));
    for (int64_t i = 0; i < n; i++)
        square[i * (gram->ld + 1)] += fmax(1e-6 * sqrt((double)n) * most, least);
    if (status >= 0) status = mg_cholesky_factor(context, n, square, gram->ld, &failed, error);
    *found = failed ? MG_KERNEL_INDEFINITE : MG_KERNEL_DEFINITE;
    mg_gram_free(gram);
    return status;
}
