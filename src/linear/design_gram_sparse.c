/* A weighted Gram by sparse outer products: sums over the stored values of x, and what centres,
 * scales and shifts make of them afterwards. */
#include "linear/design_gram.h"
#include "linear/sparse_row.h"

#include <string.h>

/* A state: the lower triangle, then a row: its values, then their columns. */
static int64_t state_numbers(int64_t size) {
    return size * size + 2 * size;
}

static void start(void *state, void *argument) {
    const mg_gram_job *job = argument;
    memset(state, 0, (size_t)(job->size * job->size) * sizeof(double));
}

static void merge(void *into, const void *from, void *argument) {
    const mg_gram_job *job = argument;
    double *a = into;
    const double *b = from;
    for (int64_t r = 0; r < job->size; r++)
        for (int64_t s = 0; s <= r; s++)
            a[r * job->size + s] += b[r * job->size + s];
}

static void add_row(const mg_gram_job *job, int64_t k, double *gram) {
    const mg_problem *problem = job->design->problem;
    const int64_t size = job->size, i = mg_gram_sample(job, k);
    const double weight = mg_gram_weight(job, k);
    double *value = gram + size * size;
    int64_t *column = (int64_t *)(value + size);
    int64_t length = mg_sparse_row(&problem->x, mg_sample_row(problem, i), column, value);
    if (job->request->extra) {
        column[length] = job->design->columns;
        value[length++] = job->request->extra[i];
    }
    column[length] = size - 1;
    value[length++] = 1.0;
    for (int64_t r = 0; r < length; r++) {
        const double v = weight * value[r];
        double *g = gram + column[r] * size;
        for (int64_t s = 0; s <= r; s++)
            g[column[s]] += v * value[s];
    }
}

static margin_status add_rows(void *state, const mg_block *block, void *argument) {
    const mg_gram_job *job = argument;
    for (int64_t k = block->first; k < block->first + block->count; k++)
        if (mg_gram_weight(job, k) != 0.0) add_row(job, k, state);
    return MARGIN_OK;
}

/* With e = s x + t: E_jk = s_j s_k G_jk + s_j t_k m_j + t_j s_k m_k + t_j t_k W, where m are the
 * sums of the columns and W that of the weights. */
static void transform(const mg_gram_job *job, double *gram) {
    const int64_t size = job->size, p = job->design->columns;
    const double *m = gram + (size - 1) * size, *s = job->scale;
    double *t = job->shift;
    const double total = m[size - 1];
    for (int64_t j = 0; j < p; j++)
        t[j] -= job->centre[j] * s[j];
    for (int64_t j = 0; j < p; j++)
        for (int64_t k = 0; k <= j; k++)
            gram[j * size + k] = s[j] * s[k] * gram[j * size + k] + s[j] * t[k] * m[j] +
                                 t[j] * s[k] * m[k] + t[j] * t[k] * total;
    for (int64_t r = p; r < size; r++) { /* the sums themselves last */
        const double sum = gram[(size - 1) * size + r];
        for (int64_t j = 0; j < p; j++)
            gram[r * size + j] = s[j] * gram[r * size + j] + t[j] * sum;
    }
}

/* So many that a block has more products to add than a triangle has numbers, where that leaves
 * blocks enough. */
static int64_t block_rows(const mg_gram_job *job) {
    enum { LEAST_BLOCKS = 16, LEAST_ROWS = 64 };
    const margin_matrix *x = &job->design->problem->x;
    const int64_t stored = mg_row_start(x, x->rows) - mg_row_start(x, 0);
    const int64_t length = stored / MG_MAX(x->rows, 1) + 2;
    const int64_t enough = 4 * job->size * job->size / (length * length);
    const int64_t most = MG_MAX(job->count / LEAST_BLOCKS, LEAST_ROWS);
    return MG_MIN(MG_MAX(enough, MG_BLOCK_ROWS / 16), most);
}

margin_status mg_gram_of_sparse(mg_gram_job *job, double *gram) {
    mg_design *d = job->design;
    const int64_t numbers = state_numbers(job->size);
    const mg_accumulator accumulator = {.state_size = numbers * (int64_t)sizeof *gram,
                                        .init = start,
                                        .add = add_rows,
                                        .merge = merge};
    double *sums;
    MG_NEW(d->heap, sums, numbers, "the products of the columns", job->error);
    margin_status status =
        mg_sweep(d->context, job->count, block_rows(job), &accumulator, job, sums, job->error);
    if (status >= 0) {
        memcpy(gram, sums, (size_t)(job->size * job->size) * sizeof *gram);
        if (!job->plain) transform(job, gram);
    }
    mg_free(d->heap, sums);
    return status;
}
