/* Whether a precomputed matrix is one that a kernel may have. */
#include "kernel/gram/kernel_ops.h"

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

/* Values of both sides were rounded when they were made: to f32, or to few digits in a file. */
static bool differs(const check_work *work, double a, double b) {
    return fabs(a - b) > 1e-6 * fmax(fmax(fabs(a), fabs(b)), 1e-6 * work->largest);
}

static margin_status check_block(const mg_block *block, void *argument) {
    const check_work *work = argument;
    for (int64_t i = block->first; i < block->first + block->count; i++) {
        work->partner[i] = -1;
        for (int64_t j = 0; j < i && work->partner[i] < 0; j++)
            if (differs(work, given(work->points, i, j), given(work->points, j, i)))
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
        status = mg_fail(
            error, MARGIN_ERROR_DATA,
            "kernel=precomputed: the matrix is not symmetric: row %lld has %s in "
            "column %lld, row %lld has %s in column %lld",
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
    MG_REQUIRE(points->places || points->rows || points->x.columns <= points->count, error,
               MARGIN_ERROR_DATA,
               "kernel=precomputed: the matrix is not square: it has %lld rows and %lld columns; "
               "column j is to hold the kernel values with row j",
               (long long)points->count, (long long)points->x.columns);
    for (int64_t i = 0; i < points->count; i++)
        MG_REQUIRE(mg_point_place(points, i) < points->x.columns, error, MARGIN_ERROR_DATA,
                   "kernel=precomputed: the matrix is not square: it has %lld columns, and row "
                   "%lld has no column of its own",
                   (long long)points->x.columns, (long long)mg_point_place(points, i) + 1);
    return check_symmetry(context, points, error);
}
