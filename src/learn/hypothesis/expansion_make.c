/* Making expansions: from training rows, from several expansions, from one function of one. */
#include "base/sort.h"
#include "learn/hypothesis/expansion.h"

#include <string.h>

/* ---- Tensors ---- */

static margin_status add_kernel(mg_hypothesis *h, const mg_kernel *kernel, margin_error *error) {
    double *numbers = NULL;
    MG_TRY(mg_bag_add(&h->bag, "kernel", MARGIN_F64, 4, 0, &numbers, error));
    numbers[0] = (double)kernel->kind;
    numbers[1] = kernel->gamma;
    numbers[2] = kernel->coef0;
    numbers[3] = (double)kernel->degree;
    mg_expansion_function(h, kernel->function, kernel->user);
    return MARGIN_OK;
}

/* A support row to be: row `row` of x. */
typedef struct row_source {
    const margin_matrix *x;
    int64_t row;
} row_source;

static margin_status add_dense(mg_hypothesis *h, const row_source *sources, int64_t count,
                               margin_type type, margin_error *error) {
    char *to = NULL;
    size_t bytes = (size_t)(h->columns * mg_type_size(type));
    MG_TRY(mg_bag_add(&h->bag, "support", type, count, h->columns, &to, error));
    for (int64_t i = 0; i < count; i++)
        mg_rows_together(sources[i].x, NULL, sources[i].row, 1, to + (size_t)i * bytes);
    return MARGIN_OK;
}

static margin_status add_sparse(mg_hypothesis *h, const row_source *sources, int64_t count,
                                margin_type type, margin_type index_type, margin_error *error) {
    int64_t *starts = NULL;
    char *indices = NULL, *values = NULL;
    size_t value_size = (size_t)mg_type_size(type), index_size = (size_t)mg_type_size(index_type);
    MG_TRY(mg_bag_add(&h->bag, "support_starts", MARGIN_I64, count + 1, 0, &starts, error));
    for (int64_t i = 0; i < count; i++)
        starts[i + 1] = starts[i] + mg_row_start(sources[i].x, sources[i].row + 1) -
                        mg_row_start(sources[i].x, sources[i].row);
    MG_TRY(mg_bag_add(&h->bag, "support_indices", index_type, starts[count], 0, &indices, error));
    MG_TRY(mg_bag_add(&h->bag, "support_values", type, starts[count], 0, &values, error));
    for (int64_t i = 0; i < count; i++) {
        const margin_matrix *x = sources[i].x;
        size_t to = (size_t)starts[i], length = (size_t)(starts[i + 1] - starts[i]);
        size_t from = (size_t)mg_row_start(x, sources[i].row);
        if (length == 0) continue;
        memcpy(indices + to * index_size, (const char *)x->column_indices + from * index_size,
               length * index_size);
        memcpy(values + to * value_size, (const char *)x->values + from * value_size,
               length * value_size);
    }
    return MARGIN_OK;
}

/* Copies rows that all have the layout of `like` into the tensors of the support matrix. */
static margin_status add_support(mg_hypothesis *h, const row_source *sources, int64_t count,
                                 const margin_matrix *like, margin_error *error) {
    MG_REQUIRE(count <= INT32_MAX, error, MARGIN_ERROR_LIMIT,
               "%lld support rows are more than the limit of %lld", (long long)count,
               (long long)INT32_MAX);
    return mg_is_csr(like)
               ? add_sparse(h, sources, count, like->value_type, like->index_type, error)
               : add_dense(h, sources, count, like->value_type, error);
}

typedef struct coefficient_arrays {
    int64_t *starts;
    int32_t *entries;
    double *values, *intercept;
} coefficient_arrays;

static margin_status add_coefficients(mg_hypothesis *h, int64_t count, coefficient_arrays *to,
                                      margin_error *error) {
    MG_TRY(mg_bag_add(&h->bag, "starts", MARGIN_I64, h->functions + 1, 0, &to->starts, error));
    MG_TRY(mg_bag_add(&h->bag, "entries", MARGIN_I32, count, 0, &to->entries, error));
    MG_TRY(mg_bag_add(&h->bag, "coefficients", MARGIN_F64, count, 0, &to->values, error));
    return mg_bag_add(&h->bag, "intercept", MARGIN_F64, h->functions, 0, &to->intercept, error);
}

static void set_keys(mg_hypothesis *h, const int64_t *keys) {
    mg_expansion_plan *plan = h->derived;
    if (h->view.expansion.support.rows > 0)
        memcpy(plan->keys, keys, (size_t)h->view.expansion.support.rows * sizeof *keys);
    h->view.expansion.keys = plan->keys;
}

/* ---- One function ---- */

static bool lower_row(int64_t a, int64_t b, const void *rows) {
    return ((const int64_t *)rows)[a] < ((const int64_t *)rows)[b];
}

/* Fills order[count] with the positions of `rows` in ascending order and keys[] with the distinct
 * rows; returns how many there are. */
static int64_t distinct_rows(const int64_t *rows, int64_t count, int64_t *order, int64_t *scratch,
                             int64_t *keys) {
    int64_t found = 0;
    for (int64_t i = 0; i < count; i++)
        order[i] = i;
    mg_sort_few(order, count, scratch, lower_row, rows);
    for (int64_t i = 0; i < count; i++)
        if (found == 0 || rows[order[i]] != keys[found - 1]) keys[found++] = rows[order[i]];
    return found;
}

static margin_status make_of_rows(mg_heap *heap, const mg_kernel *kernel, const margin_matrix *x,
                                  const int64_t *rows, const double *coefficients, int64_t count,
                                  double intercept, mg_hypothesis **h, margin_error *error) {
    mg_hypothesis *made = NULL;
    coefficient_arrays to;
    int64_t *order = NULL, *scratch = NULL, *keys = NULL;
    row_source *sources = NULL;
    margin_status status;
    MG_GO_NEW(heap, order, count, "the order of the support rows", error);
    MG_GO_NEW(heap, scratch, count, "the order of the support rows", error);
    MG_GO_NEW(heap, keys, count, "the order of the support rows", error);
    int64_t found = distinct_rows(rows, count, order, scratch, keys);

    MG_GO_NEW(heap, sources, found, "the list of the support rows", error);
    for (int64_t s = 0; s < found; s++)
        sources[s] = (row_source){x, keys[s]};
    MG_GO(mg_hypothesis_new(heap, &mg_hypothesis_expansion, x->columns, 1, &made, error));
    MG_GO(add_kernel(made, kernel, error));
    MG_GO(add_support(made, sources, found, x, error));
    MG_GO(add_coefficients(made, found, &to, error));
    to.starts[1] = found;
    to.intercept[0] = intercept;
    for (int64_t i = 0, s = -1; i < count; i++) {
        if (s < 0 || rows[order[i]] != keys[s]) s++;
        to.entries[s] = (int32_t)s;
        to.values[s] += coefficients[order[i]];
    }
    made->isa = mg_isa_level();
    MG_GO(mg_expansion_attach(made, false, error));
    set_keys(made, keys);
    *h = made;
    made = NULL;
done:
    mg_hypothesis_free(made);
    MG_FREE(heap, sources, keys, scratch, order);
    return status;
}

margin_status mg_expansion_make(mg_heap *heap, const mg_kernel *kernel, const margin_matrix *x,
                                const int64_t *rows, const double *coefficients, int64_t count,
                                double intercept, mg_hypothesis **h, margin_error *error) {
    const int64_t n = x->columns;
    int64_t *starts;
    double *ones;
    if (kernel->kind != MG_KERNEL_PRECOMPUTED)
        return make_of_rows(heap, kernel, x, rows, coefficients, count, intercept, h, error);
    MG_NEW(heap, starts, 3 * n + 1, "the list of the support rows", error);
    ones = (double *)(starts + 2 * n + 1);
    for (int64_t j = 0; j < n; j++) {
        starts[j] = starts[n + 1 + j] = j;
        ones[j] = 1.0;
    }
    starts[n] = n;
    margin_matrix units = margin_csr_f64(ones, NULL, starts, n, n);
    units.column_indices = starts + n + 1;
    units.index_type = MARGIN_I64;
    const margin_status status =
        make_of_rows(heap, kernel, &units, rows, coefficients, count, intercept, h, error);
    mg_free(heap, starts);
    return status;
}

/* ---- Many functions from one each, and back ---- */

/* The support rows of all parts, one part after the other, and where each goes. */
typedef struct merged_rows {
    int64_t total, distinct;
    int64_t *keys;       /* total */
    int64_t *order;      /* total: positions in ascending order of keys */
    int64_t *scratch;    /* total; then: the merged row of each position */
    int64_t *merged;     /* total, the first `distinct`: keys of the merged rows */
    row_source *sources; /* total; then the first `distinct`: where the merged rows come from */
} merged_rows;

static void free_merged(mg_heap *heap, merged_rows *rows) {
    MG_FREE(heap, rows->sources, rows->merged, rows->scratch, rows->order, rows->keys);
}

/* The part that holds a position: the last one that begins at or before it. */
static int64_t part_at(const int64_t *offsets, int64_t count, int64_t position) {
    int64_t behind;
    MG_BISECT(behind, 1, count, offsets[behind] <= position);
    return behind - 1;
}

/* Fills `sources` in the order of the merged rows; `scratch` gets the merged row of each position.
 */
static void place_rows(mg_hypothesis *const *parts, const int64_t *offsets, int64_t count,
                       merged_rows *rows) {
    int64_t merged = -1;
    for (int64_t i = 0; i < rows->total; i++) {
        int64_t position = rows->order[i];
        bool new_row = merged < 0 || rows->keys[position] != rows->merged[merged];
        if (new_row) {
            int64_t part = part_at(offsets, count, position);
            rows->sources[++merged] =
                (row_source){&parts[part]->view.expansion.support, position - offsets[part]};
        }
        rows->scratch[position] = merged;
    }
}

static margin_status merge_rows(mg_heap *heap, mg_hypothesis *const *parts, const int64_t *offsets,
                                int64_t count, merged_rows *rows, margin_error *error) {
    const char *purpose = "the list of the support rows";
    int64_t total = offsets[count];
    rows->total = total;
    MG_NEW(heap, rows->keys, total, purpose, error);
    MG_NEW(heap, rows->order, total, purpose, error);
    MG_NEW(heap, rows->scratch, total, purpose, error);
    MG_NEW(heap, rows->merged, total, purpose, error);
    MG_NEW(heap, rows->sources, total, purpose, error);
    for (int64_t k = 0; k < count; k++) {
        size_t length = (size_t)(offsets[k + 1] - offsets[k]);
        if (length > 0)
            memcpy(rows->keys + offsets[k], parts[k]->view.expansion.keys,
                   length * sizeof *rows->keys);
    }
    rows->distinct = distinct_rows(rows->keys, total, rows->order, rows->scratch, rows->merged);
    place_rows(parts, offsets, count, rows);
    return MARGIN_OK;
}

static void copy_coefficients(const mg_hypothesis *part, const int64_t *merged_row,
                              int64_t function, coefficient_arrays *to) {
    for (int64_t f = 0; f < part->functions; f++) {
        const int64_t *starts = part->view.expansion.starts;
        int64_t at = to->starts[function + f];
        for (int64_t k = starts[f]; k < starts[f + 1]; k++, at++) {
            to->entries[at] = (int32_t)merged_row[part->view.expansion.entries[k]];
            to->values[at] = part->view.expansion.coefficients[k];
        }
        to->starts[function + f + 1] = at;
        to->intercept[function + f] = part->view.expansion.intercept[f];
    }
}

/* Functions share rows and kernel, or they are no one hypothesis. */
static margin_status check_kernels(mg_hypothesis *const *parts, int64_t count,
                                   margin_error *error) {
    const mg_kernel *first = &parts[0]->view.expansion.kernel;
    for (int64_t k = 0; k < count; k++) {
        const mg_kernel *kernel = &parts[k]->view.expansion.kernel;
        bool same = kernel->kind == first->kind && kernel->gamma == first->gamma &&
                    kernel->coef0 == first->coef0 && kernel->degree == first->degree;
        MG_REQUIRE(same && parts[k]->view.expansion.keys, error, MARGIN_ERROR_INTERNAL,
                   "expansions with kernels of their own cannot be joined; please report it");
    }
    return MARGIN_OK;
}

margin_status mg_expansion_combine(mg_heap *heap, mg_hypothesis *const *parts, int64_t count,
                                   mg_hypothesis **out, margin_error *error) {
    mg_hypothesis *made = NULL;
    merged_rows rows = {0};
    coefficient_arrays to;
    int64_t *offsets = NULL, functions = 0, entries = 0, function = 0;
    const margin_matrix *like = &parts[0]->view.expansion.support;
    margin_status status;
    MG_TRY(check_kernels(parts, count, error));
    MG_GO_NEW(heap, offsets, count + 1, "the list of the support rows", error);
    offsets[0] = 0;
    for (int64_t k = 0; k < count; k++) {
        const mg_hypothesis *part = parts[k];
        offsets[k + 1] = offsets[k] + part->view.expansion.support.rows;
        functions += part->functions;
        entries += part->view.expansion.starts[part->functions];
    }
    MG_GO(merge_rows(heap, parts, offsets, count, &rows, error));
    MG_GO(
        mg_hypothesis_new(heap, &mg_hypothesis_expansion, like->columns, functions, &made, error));
    MG_GO(add_kernel(made, &parts[0]->view.expansion.kernel, error));
    MG_GO(add_support(made, rows.sources, rows.distinct, like, error));
    MG_GO(add_coefficients(made, entries, &to, error));
    for (int64_t k = 0; k < count; function += parts[k]->functions, k++)
        copy_coefficients(parts[k], rows.scratch + offsets[k], function, &to);
    MG_GO(mg_dual_combine(parts, count, made, error));
    MG_GO(mg_hypothesis_attach(made, error));
    set_keys(made, rows.merged);
    *out = made;
    made = NULL;
done:
    mg_hypothesis_free(made);
    free_merged(heap, &rows);
    mg_free(heap, offsets);
    return status;
}

margin_status mg_expansion_slice(mg_heap *heap, const mg_hypothesis *h, int64_t function,
                                 mg_hypothesis **out, margin_error *error) {
    const int64_t *starts = h->view.expansion.starts;
    int64_t first = starts[function], count = starts[function + 1] - first;
    mg_hypothesis *made = NULL;
    int64_t *rows = NULL;
    margin_status status;
    MG_GO_NEW(heap, rows, count, "the list of the support rows", error);
    for (int64_t k = 0; k < count; k++)
        rows[k] = h->view.expansion.entries[first + k];
    MG_GO(make_of_rows(heap, &h->view.expansion.kernel, &h->view.expansion.support, rows,
                       h->view.expansion.coefficients + first, count,
                       h->view.expansion.intercept[function], &made, error));
    MG_GO(mg_dual_slice(h, function, made, error));
    MG_GO(mg_hypothesis_attach(made, error));
    *out = made;
    made = NULL;
done:
    mg_hypothesis_free(made);
    mg_free(heap, rows);
    return status;
}
