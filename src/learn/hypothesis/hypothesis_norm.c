/* Norms and inner products of the weight vectors of a hypothesis, for geometric margins.
 *
 * An expansion's weight vector lives in the feature space of its kernel: w_f . w_g = c_f' K c_g
 * with the Gram matrix K of the support rows. K is computed in slabs of rows, never whole. */
#include "learn/hypothesis/hypothesis.h"

#include <math.h>
#include <string.h>

enum { SLAB_BYTES = 8 << 20 };

/* Slabs of K over some support rows (NULL: all). */
typedef struct gram_slabs {
    const mg_hypothesis *h;
    const int64_t *rows;
    int64_t count, height;
    double *slab; /* height x count */
} gram_slabs;

static margin_status slabs_open(mg_heap *heap, const mg_hypothesis *h, const int64_t *rows,
                                int64_t count, gram_slabs *slabs, margin_error *error) {
    *slabs = (gram_slabs){.h = h, .rows = rows, .count = count};
    slabs->height = SLAB_BYTES / 8 / MG_MAX(count, 1);
    slabs->height = MG_MAX(1, MG_MIN(slabs->height, count));
    MG_NEW(heap, slabs->slab, slabs->height * count, "a slab of the Gram matrix", error);
    return MARGIN_OK;
}

/* Rows [first, first + height) of K; returns how many there are. */
static margin_status slabs_fill(margin_context *context, gram_slabs *slabs, int64_t first,
                                int64_t *height, margin_error *error) {
    const mg_hypothesis *h = slabs->h;
    *height = MG_MIN(slabs->height, slabs->count - first);
    mg_kernel_block block = {.x = &h->view.expansion.support,
                             .z = &h->view.expansion.support,
                             .x_rows = slabs->rows ? slabs->rows + first : NULL,
                             .z_rows = slabs->rows,
                             .x_first = slabs->rows ? 0 : first,
                             .x_count = *height,
                             .z_first = 0,
                             .z_count = slabs->count,
                             .x_squares = h->view.expansion.squares,
                             .z_squares = h->view.expansion.squares};
    return mg_kernel_fill(context, &h->view.expansion.kernel, &block, slabs->slab, slabs->count,
                          error);
}

/* Norm of the function with the coefficients c over the support rows `rows`. */
static margin_status expansion_norm(margin_context *context, const mg_hypothesis *h,
                                    const int64_t *rows, const double *c, int64_t count,
                                    double *norm, margin_error *error) {
    gram_slabs slabs;
    double square = 0;
    MG_TRY(slabs_open(context->heap, h, rows, count, &slabs, error));
    margin_status status = MARGIN_OK;
    for (int64_t first = 0, height; first < count; first += height) {
        MG_GO(slabs_fill(context, &slabs, first, &height, error));
        for (int64_t i = 0; i < height; i++) {
            double product = 0;
            for (int64_t j = 0; j < count; j++)
                product += slabs.slab[i * count + j] * c[j];
            square += c[first + i] * product;
        }
    }
    *norm = sqrt(MG_MAX(square, 0.0));
done:
    mg_free(context->heap, slabs.slab);
    return status;
}

static double linear_product(const mg_hypothesis *h, int64_t f, int64_t g) {
    const double *w = h->view.linear.weights;
    return mg_vector_ops_for(h->isa)->dot(w + f * h->columns, w + g * h->columns, h->columns);
}

static margin_status no_norm(const mg_hypothesis *h, margin_error *error) {
    return mg_fail(error, MARGIN_ERROR_ARGUMENT,
                   "a %s model has no weight vector, so it has no geometric margins",
                   h->kind->name);
}

/* k of two support rows is known, of unit vectors it is not. */
static margin_status check_gram(const mg_hypothesis *h, margin_error *error) {
    MG_REQUIRE(
        h->view.expansion.kernel.kind != MG_KERNEL_PRECOMPUTED, error, MARGIN_ERROR_ARGUMENT,
        "a model of kernel=precomputed does not hold the kernel values of its rows with each "
        "other, so it has no geometric margins");
    return MARGIN_OK;
}

margin_status mg_hypothesis_norm(margin_context *context, const mg_hypothesis *h, int64_t function,
                                 double *norm, margin_error *error) {
    if (h->kind == &mg_hypothesis_linear) {
        *norm = sqrt(linear_product(h, function, function));
        return MARGIN_OK;
    }
    if (h->kind != &mg_hypothesis_expansion) return no_norm(h, error);
    MG_TRY(check_gram(h, error));
    const int64_t *starts = h->view.expansion.starts;
    int64_t first = starts[function], count = starts[function + 1] - first, *rows;
    MG_NEW(context->heap, rows, count, "the list of the support rows", error);
    for (int64_t k = 0; k < count; k++)
        rows[k] = h->view.expansion.entries[first + k];
    margin_status status = expansion_norm(context, h, rows, h->view.expansion.coefficients + first,
                                          count, norm, error);
    mg_free(context->heap, rows);
    return status;
}

/* products[f][g] += c_f[s] * values[g], the part of support row s; `at` walks the entries of each
 * function as s ascends. */
static void norm_add_row(const mg_hypothesis *h, int64_t s, const double *values, int64_t *at,
                         double *products) {
    for (int64_t f = 0; f < h->functions; f++) {
        if (at[f] == h->view.expansion.starts[f + 1]) continue;
        if (h->view.expansion.entries[at[f]] != s) continue;
        double c = h->view.expansion.coefficients[at[f]++];
        for (int64_t g = 0; g < h->functions; g++)
            products[f * h->functions + g] += c * values[g];
    }
}

/* values[g] = sum over support rows t of c_g[t] K[s, t]. */
static void function_values(const mg_hypothesis *h, const double *gram_row, double *values) {
    for (int64_t g = 0; g < h->functions; g++) {
        double sum = 0;
        for (int64_t k = h->view.expansion.starts[g]; k < h->view.expansion.starts[g + 1]; k++)
            sum += h->view.expansion.coefficients[k] * gram_row[h->view.expansion.entries[k]];
        values[g] = sum;
    }
}

static margin_status expansion_products(margin_context *context, const mg_hypothesis *h,
                                        double *products, margin_error *error) {
    int64_t rows = h->view.expansion.support.rows, *at = NULL;
    double *values = NULL;
    gram_slabs slabs = {0};
    margin_status status;
    MG_GO_NEW(context->heap, at, h->functions, "the products of the score functions", error);
    MG_GO_NEW(context->heap, values, h->functions, "the products of the score functions", error);
    MG_GO(slabs_open(context->heap, h, NULL, rows, &slabs, error));
    memcpy(at, h->view.expansion.starts, (size_t)h->functions * sizeof *at);
    memset(products, 0, (size_t)(h->functions * h->functions) * sizeof *products);
    for (int64_t first = 0, height; first < rows; first += height) {
        MG_GO(slabs_fill(context, &slabs, first, &height, error));
        for (int64_t i = 0; i < height; i++) {
            function_values(h, slabs.slab + i * rows, values);
            norm_add_row(h, first + i, values, at, products);
        }
    }
done:
    MG_FREE(context->heap, slabs.slab, values, at);
    return status;
}

margin_status mg_hypothesis_products(margin_context *context, const mg_hypothesis *h,
                                     double *products, margin_error *error) {
    if (h->kind == &mg_hypothesis_expansion) {
        MG_TRY(check_gram(h, error));
        return expansion_products(context, h, products, error);
    }
    if (h->kind != &mg_hypothesis_linear) return no_norm(h, error);
    for (int64_t f = 0; f < h->functions; f++)
        for (int64_t g = 0; g < h->functions; g++)
            products[f * h->functions + g] = linear_product(h, f, g);
    return MARGIN_OK;
}
