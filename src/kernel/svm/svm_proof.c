/* The proof of a solution: its gradient once more, with kernel values in f64. */
#include "kernel/svm/svm_machine.h"

#include "math/products/cholesky.h"

#include <math.h>
#include <string.h>

typedef struct proof_lists {
    int64_t *all, *support_places; /* rows of x; of a precomputed matrix its columns */
    double *weights, *products;
    int64_t support;
} proof_lists;

static margin_status list_rows(mg_svm_machine *m, bool anew, proof_lists *lists) {
    const int64_t n = m->smo.count;
    const mg_kernel_points points = mg_kernel_points_of(m->problem);
    const bool columns = m->kernel.kind == MG_KERNEL_PRECOMPUTED;
    mg_heap *heap = m->fit->context->heap;
    MG_NEW(heap, lists->all, 2 * n, "the proof of the solution", m->fit->error);
    MG_NEW(heap, lists->weights, 2 * n, "the proof of the solution", m->fit->error);
    lists->support_places = lists->all + n;
    lists->products = lists->weights + n;
    for (int64_t v = 0; v < n; v++) {
        const int64_t i = m->sample[v];
        const double change = mg_svm_beta(m, v) - (anew ? 0.0 : m->proven_beta[v]);
        lists->all[v] = mg_point_row(&points, i);
        if (change == 0.0) continue;
        lists->support_places[lists->support] =
            columns ? mg_point_place(&points, i) : lists->all[v];
        lists->weights[lists->support++] = change;
    }
    return MARGIN_OK;
}

/* Whether more variables changed than are not 0. */
static bool is_anew(const mg_svm_machine *m) {
    int64_t changed = 0, support = 0;
    for (int64_t v = 0; v < m->smo.count; v++) {
        const double beta = mg_svm_beta(m, v);
        changed += beta != m->proven_beta[v];
        support += beta != 0.0;
    }
    return changed >= support;
}

static margin_status multiply(mg_svm_machine *m, const proof_lists *lists, const double *squares) {
    const margin_matrix *x = &m->problem->x;
    mg_kernel_scratch *scratch;
    const mg_kernel_block block = {.x = x,
                                   .z = x,
                                   .x_rows = lists->all,
                                   .x_count = m->smo.count,
                                   .z_rows = lists->support_places,
                                   .z_count = lists->support,
                                   .x_squares = squares,
                                   .z_squares = squares};
    MG_TRY(mg_kernel_scratch_new(m->fit->context, &m->kernel, x, x, &scratch, m->fit->error));
    const margin_status status =
        mg_kernel_multiply(scratch, &block, lists->weights, 1, lists->products);
    mg_kernel_scratch_free(scratch);
    return mg_kernel_fail(status, m->fit->error);
}

/* ---- From a matrix that stays ---------------------------------------------------------------- */

/* The penalties of a search prove one after the other: from the second on they add the rows of a
 * whole matrix in f64. Not by the room that other threads leave: bits depend on this. */
static margin_status hold_exact(mg_svm_machine *m) {
    enum { MOST_ROWS = 4096 };
    margin_context *context = m->fit->context;
    const int64_t n = m->smo.count;
    if (!m->again || m->exact || n > MOST_ROWS || mg_heap_limit(context->heap) > 0)
        return MARGIN_OK;
    const mg_gram_request request = {.kernel = m->kernel,
                                     .points = m->points,
                                     .type = MARGIN_F64,
                                     .bytes = mg_gram_bytes(n, MARGIN_F64, n)};
    MG_TRY(mg_gram_create(context, &request, &m->exact, m->fit->error));
    return mg_gram_fill(m->exact, context, m->fit->error);
}

static margin_status add_changes(mg_svm_machine *m) {
    const mg_vector_ops *ops = mg_vector_ops_for(mg_isa_level());
    const int64_t n = m->smo.count;
    int64_t ld;
    const double *values = mg_gram_values(m->exact, &ld);
    for (int64_t v = 0; v < n; v++) {
        const double beta = mg_svm_beta(m, v);
        if (beta == m->proven_beta[v]) continue;
        if (mg_cancelled(m->fit->context)) return mg_fail_cancelled(m->fit->error);
        ops->add(m->proven_f, beta - m->proven_beta[v], values + v * ld, n);
        m->proven_beta[v] = beta;
    }
    memcpy(m->smo.f, m->proven_f, (size_t)n * sizeof *m->smo.f);
    mg_smo_measure(&m->smo);
    return MARGIN_OK;
}

/* ---- From the rows --------------------------------------------------------------------------- */

margin_status mg_svm_prove(mg_svm_machine *m) {
    mg_heap *heap = m->fit->context->heap;
    const bool anew = is_anew(m);
    proof_lists lists = {0};
    double *squares = NULL;
    margin_status status;
    MG_TRY(hold_exact(m));
    if (m->exact) return add_changes(m);
    MG_GO(list_rows(m, anew, &lists));
    if (mg_kernel_basis_of(m->kernel.kind) == MG_OF_SQUARES) {
        MG_GO_NEW(heap, squares, m->problem->x.rows, "the proof of the solution", m->fit->error);
        status = mg_row_squares(m->fit->context, &m->problem->x, squares);
        MG_GO(mg_kernel_fail(status, m->fit->error));
    }
    MG_GO(multiply(m, &lists, squares));
    for (int64_t v = 0; v < m->smo.count; v++) {
        m->smo.f[v] = lists.products[v] + (anew ? -m->smo.target[v] : m->proven_f[v]);
        m->proven_f[v] = m->smo.f[v];
        m->proven_beta[v] = mg_svm_beta(m, v);
    }
    mg_smo_measure(&m->smo);
done:
    MG_FREE(heap, squares, lists.weights, lists.all);
    return status;
}

/* ---- Kernels that need be no inner product --------------------------------------------------- */

/* Gram matrices of more rows are not decided. */
enum { MOST_DECIDED = 4096 };

/* K with what its values may have lost to rounding, a share of 1e-6 each, more on its diagonal. */
static margin_status fill_square(mg_svm_machine *m, double *square) {
    const int64_t n = m->problem->count;
    const mg_kernel_points points = mg_kernel_points_of(m->problem);
    const bool places = m->kernel.kind == MG_KERNEL_PRECOMPUTED && points.places;
    const mg_kernel_block block = {.x = &points.x,
                                   .z = &points.x,
                                   .x_rows = points.rows,
                                   .x_count = n,
                                   .z_rows = places ? points.places : points.rows,
                                   .z_count = n};
    double most = 0.0;
    MG_TRY(mg_kernel_fill(m->fit->context, &m->kernel, &block, square, n, m->fit->error));
    for (int64_t i = 0; i < n; i++)
        most = fmax(most, fabs(square[i * (n + 1)]));
    for (int64_t i = 0; i < n; i++)
        square[i * (n + 1)] += 1e-6 * sqrt((double)n) * most;
    return MARGIN_OK;
}

margin_status mg_svm_decide_definite(mg_svm_machine *m) {
    const int64_t n = m->problem->count;
    margin_context *context = m->fit->context;
    int64_t failed = 0;
    double *square;
    m->definite = MG_SVM_DEFINITE;
    if (mg_kernel_is_definite(&m->kernel)) return MARGIN_OK;
    m->definite = m->smo.indefinite ? MG_SVM_INDEFINITE : MG_SVM_UNDECIDED;
    if (m->smo.indefinite || n > MOST_DECIDED || 8 * n * n > mg_context_room(context, INT64_MAX))
        return MARGIN_OK;
    MG_NEW(context->heap, square, n * n, "the Gram matrix", m->fit->error);
    margin_status status = fill_square(m, square);
    if (status >= 0) status = mg_cholesky_factor(context, n, square, n, &failed, m->fit->error);
    m->definite = failed ? MG_SVM_INDEFINITE : MG_SVM_DEFINITE;
    mg_free(context->heap, square);
    return status;
}
