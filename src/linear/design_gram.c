/* Weighted Grams of a design. */
#include "linear/design_block.h"
#include "linear/sparse_row.h"

#include <string.h>

typedef struct gram_walk {
    const mg_design *design;
    const mg_gram_request *request;
    double *scale, *shift; /* columns of e in terms of x: those of A, centred and multiplied */
    int64_t size, columns;
    bool sparse;
} gram_walk;

/* The lower triangle, row by row of `size`; then a row of e, and of a sparse row the columns. */
typedef struct gram_sums {
    _Alignas(64) double numbers[1];
} gram_sums;

int64_t mg_design_gram_size(const mg_design *d, const mg_gram_request *request) {
    return d->columns + 1 + (request->extra != NULL);
}

static void start_gram(void *state, void *argument) {
    const gram_walk *walk = argument;
    memset(state, 0, (size_t)(walk->size * walk->size) * sizeof(double));
}

static void merge_grams(void *into, const void *from, void *argument) {
    const gram_walk *walk = argument;
    double *a = into;
    const double *b = from;
    for (int64_t k = 0; k < walk->size * walk->size; k++)
        a[k] += b[k];
}

static void add_dense_row(const gram_walk *walk, int64_t i, double weight, double *gram) {
    const mg_problem *problem = walk->design->problem;
    const int64_t size = walk->size, p = walk->columns;
    double *e = gram + size * size;
    mg_row_expand(&problem->x, mg_sample_row(problem, i), e);
    for (int64_t j = 0; j < p; j++)
        e[j] = e[j] * walk->scale[j] + walk->shift[j];
    if (walk->request->extra) e[p] = walk->request->extra[i];
    e[size - 1] = 1.0;
    for (int64_t r = 0; r < size; r++) {
        const double v = weight * e[r];
        double *g = gram + r * size;
        for (int64_t s = 0; s <= r; s++)
            g[s] += v * e[s];
    }
}

static void add_sparse_row(const gram_walk *walk, int64_t i, double weight, double *gram) {
    const mg_problem *problem = walk->design->problem;
    const int64_t size = walk->size, p = walk->columns;
    double *value = gram + size * size;
    int64_t *column = (int64_t *)(value + size);
    int64_t length = mg_sparse_row(&problem->x, mg_sample_row(problem, i), column, value);
    if (walk->request->extra) {
        column[length] = p;
        value[length++] = walk->request->extra[i];
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
    const gram_walk *walk = argument;
    const mg_gram_request *request = walk->request;
    for (int64_t k = block->first; k < block->first + block->count; k++) {
        const int64_t i = request->chosen ? request->chosen[k] : k;
        const double weight =
            request->weights ? request->weights[k] : mg_sample_weight(walk->design->problem, i);
        if (weight == 0.0) continue;
        if (walk->sparse)
            add_sparse_row(walk, i, weight, state);
        else
            add_dense_row(walk, i, weight, state);
    }
    return MARGIN_OK;
}

/* e_j = scale_j x_j + shift_j of sums over x: G_jk = s_j s_k G_jk + s_j t_k m_j + t_j s_k m_k + t_j
 * t_k W with m the sums of the columns. */
static void affine_gram(const gram_walk *walk, double *gram) {
    const int64_t size = walk->size, p = walk->columns;
    const double *m = gram + (size - 1) * size, *s = walk->scale, *t = walk->shift;
    const double total = m[size - 1];
    for (int64_t j = 0; j < p; j++)
        for (int64_t k = 0; k <= j; k++)
            gram[j * size + k] = s[j] * s[k] * gram[j * size + k] + s[j] * t[k] * m[j] +
                                 t[j] * s[k] * m[k] + t[j] * t[k] * total;
    for (int64_t r = size - 1; r >= p; r--) {
        const double sum = gram[(size - 1) * size + r];
        for (int64_t j = 0; j < p; j++)
            gram[r * size + j] = s[j] * gram[r * size + j] + t[j] * sum;
    }
}

static void mirror(const double *lower, int64_t size, double *gram) {
    for (int64_t r = 0; r < size; r++)
        for (int64_t s = 0; s <= r; s++)
            gram[r * size + s] = gram[s * size + r] = lower[r * size + s];
}

static void compose(const mg_design *d, const mg_gram_request *request, double *scale,
                    double *shift) {
    for (int64_t j = 0; j < d->columns; j++) {
        const double factor = request->factor ? request->factor[j] : 1.0;
        const double moved =
            (d->shift ? d->shift[j] : 0.0) - (request->centre ? request->centre[j] : 0.0);
        scale[j] = (d->scale ? d->scale[j] : 1.0) * factor;
        shift[j] = moved * factor;
    }
}

margin_status mg_design_gram(mg_design *d, const mg_gram_request *request, double *gram,
                             margin_error *error) {
    const int64_t size = mg_design_gram_size(d, request);
    gram_walk walk = {.design = d,
                      .request = request,
                      .size = size,
                      .columns = d->columns,
                      .sparse = mg_is_csr(&d->problem->x)};
    const mg_accumulator accumulator = {.state_size = (size * size + 2 * size) * 8,
                                        .init = start_gram,
                                        .add = add_rows,
                                        .merge = merge_grams};
    const int64_t rows = request->chosen ? request->count : d->samples;
    double *sums = NULL;
    margin_status status;
    MG_GO_NEW(d->heap, walk.scale, 2 * d->columns, "the scale of the columns", error);
    walk.shift = walk.scale + d->columns;
    compose(d, request, walk.scale, walk.shift);
    MG_GO_NEW(d->heap, sums, size * size + 2 * size, "the products of the columns", error);
    MG_GO(mg_sweep(d->context, rows, MG_MAX(256, d->block_rows), &accumulator, &walk, sums, error));
    if (walk.sparse) affine_gram(&walk, sums);
    mirror(sums, size, gram);
done:
    mg_free(d->heap, sums);
    mg_free(d->heap, walk.scale);
    return status;
}
