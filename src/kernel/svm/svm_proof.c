/* The proof of a solution: its gradient once more, with kernel values in f64. */
#include "kernel/svm/svm_machine.h"

typedef struct proof_lists {
    int64_t *all, *support_places; /* rows of x; of a precomputed matrix its columns */
    double *weights, *products;
    int64_t support;
} proof_lists;

static margin_status list_rows(mg_svm_machine *m, proof_lists *lists) {
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
        lists->all[v] = mg_point_row(&points, i);
        if (m->smo.beta[v] == 0.0) continue;
        lists->support_places[lists->support] =
            columns ? mg_point_place(&points, i) : lists->all[v];
        lists->weights[lists->support++] = mg_svm_beta(m, v);
    }
    return MARGIN_OK;
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

margin_status mg_svm_prove(mg_svm_machine *m) {
    mg_heap *heap = m->fit->context->heap;
    proof_lists lists = {0};
    double *squares = NULL;
    margin_status status;
    MG_GO(list_rows(m, &lists));
    if (m->kernel.kind == MG_KERNEL_RBF) {
        MG_GO_NEW(heap, squares, m->problem->x.rows, "the proof of the solution", m->fit->error);
        status = mg_row_squares(m->fit->context, &m->problem->x, squares);
        MG_GO(mg_kernel_fail(status, m->fit->error));
    }
    MG_GO(multiply(m, &lists, squares));
    for (int64_t v = 0; v < m->smo.count; v++)
        m->smo.f[v] = lists.products[v] - m->smo.target[v];
    mg_smo_measure(&m->smo);
done:
    mg_free(heap, squares);
    mg_free(heap, lists.weights);
    mg_free(heap, lists.all);
    return status;
}
