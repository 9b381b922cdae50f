/* Dot products of rows that poly makes, without making them. All products of t factors, each once,
 * are the complete symmetric polynomial T_t of u_f = x_f z_f, and of factors that do not repeat the
 * elementary one; both follow from sums of powers (Newton's identities):
 *
 *   t T_t = sum_s P_s T_(t-s),   P_s = sum_f u_f^s, times (-1)^(s-1) where f does not repeat
 *
 * Columns of 0 and 1 do not repeat, and of those that exclude each other all but one are 0. */
#include "features/made/poly.h"

#include "features/columns/stages.h"
#include "learn/column_choice.h"
#include "math/gram/kernel.h"

#include <string.h>

enum {
    MOST_DEGREE = 6, /* more powers cancel too much */
    STRIP_ROWS = 128 /* whose sums of powers are kept */
};

typedef struct products_job {
    const mg_poly_view *view;
    int64_t count;
    double *left, *right; /* degree x count x factors: x_f^s with its sign, and z_f^s */
    double *sums;         /* degree x STRIP_ROWS x count: P_s */
    double *strip;        /* of the result */
} products_job;

static void set_powers(const mg_problem *problem, products_job *job) {
    const int64_t p = job->view->factors, size = job->count * p;
    for (int64_t i = 0; i < job->count; i++)
        mg_row_expand(&problem->maker->source, mg_sample_row(problem, i), job->left + i * p);
    memcpy(job->right, job->left, (size_t)size * sizeof *job->right);
    for (int64_t k = size; k < job->view->degree * size; k++) {
        const int64_t f = k % p;
        job->left[k] =
            (job->view->next[f] == f ? 1.0 : -1.0) * job->left[k - size] * job->right[k % size];
        job->right[k] = job->right[k - size] * job->right[k % size];
    }
}

static margin_status add_terms(void *argument, int64_t task, int worker) {
    const products_job *job = argument;
    const mg_poly_view *view = job->view;
    const int64_t n = job->count;
    const double *sums = job->sums + task * n;
    (void)worker;
    for (int64_t k = 0; k < n; k++) {
        double terms[MOST_DEGREE + 1] = {1.0}, all = view->bias ? 1.0 : 0.0;
        for (int64_t t = 1; t <= view->degree; t++) {
            double term = 0.0;
            for (int64_t s = 1; s <= t; s++)
                term += sums[(s - 1) * STRIP_ROWS * n + k] * terms[t - s];
            terms[t] = term / (double)t;
            all += terms[t];
        }
        job->strip[task * n + k] = all;
    }
    return MARGIN_OK;
}

static margin_status fill_strip(margin_context *context, const products_job *job, int64_t first,
                                int64_t rows, margin_error *error) {
    const mg_kernel linear = {.kind = MG_KERNEL_LINEAR};
    const int64_t n = job->count, p = job->view->factors;
    for (int64_t s = 0; s < job->view->degree; s++) {
        const margin_matrix x = margin_dense_f64(job->left + s * n * p, n, p, p);
        const margin_matrix z = margin_dense_f64(job->right + s * n * p, n, p, p);
        const mg_kernel_block block = {
            .x = &x, .z = &z, .x_first = first, .x_count = rows, .z_count = n};
        MG_TRY(mg_kernel_fill(context, &linear, &block, job->sums + s * STRIP_ROWS * n, n, error));
    }
    return mg_parallel(context, rows, add_terms, (void *)job, NULL) < 0 ? mg_fail_cancelled(error)
                                                                        : MARGIN_OK;
}

margin_status mg_poly_products(margin_context *context, const mg_problem *problem, double *out,
                               bool *made, margin_error *error) {
    const mg_fitted_stage *fitted = problem->maker->stage;
    const mg_poly_view *view = fitted->view;
    const int64_t n = problem->count;
    products_job job = {.view = view, .count = n};
    *made = view->factors == view->columns && !view->weights && view->degree <= MOST_DEGREE &&
            !mg_stage_option(&mg_stage_poly, fitted->options, "interactions")->integer;
    if (!*made) return MARGIN_OK;
    MG_SCOPED_ARENA(arena, context->heap);
    MG_TRY(MG_PIECES(&arena, "the products of the rows", error,
                     MG_PIECE(job.left, view->degree * n * view->factors),
                     MG_PIECE(job.right, view->degree * n * view->factors),
                     MG_PIECE(job.sums, view->degree * STRIP_ROWS * n)));
    set_powers(problem, &job);
    for (int64_t first = 0; first < n; first += STRIP_ROWS) {
        job.strip = out + first * n;
        MG_TRY(fill_strip(context, &job, first, MG_MIN(STRIP_ROWS, n - first), error));
    }
    return MARGIN_OK;
}
