/* Making expansions: from training rows, from several expansions, from one function of one. Which
 * rows support them is known first; attach copies these, when all functions have been put together.
 */
#include "base/sort.h"
#include "learn/hypothesis/expansion.h"

#include <string.h>

static const char support_purpose[] = "the list of the support rows";

/* ---- Tensors ---- */

static margin_status add_kernel(mg_hypothesis *h, const mg_kernel *kernel, margin_error *error) {
    double *numbers = NULL;
    MG_TRY(mg_bag_add(&h->bag, "kernel", MARGIN_F64, 4, 0, &numbers, error));
    numbers[0] = (double)kernel->kind;
    numbers[1] = kernel->gamma;
    numbers[2] = kernel->coef0;
    numbers[3] = (double)kernel->degree;
    h->view.expansion.kernel = *kernel;
    return MARGIN_OK;
}

/* Numbers of a lent sparse row. */
static int64_t length_of(const mg_expansion_loan *loan, int64_t key) {
    return loan->units ? 1 : mg_row_start(&loan->x, key + 1) - mg_row_start(&loan->x, key);
}

/* Tensors of the support rows without their numbers. */
static margin_status add_support(mg_hypothesis *h, const mg_expansion_loan *loan,
                                 margin_error *error) {
    const margin_type type = loan->units ? MARGIN_F64 : loan->x.value_type;
    int64_t stored = 0;
    MG_REQUIRE(loan->count <= INT32_MAX, error, MARGIN_ERROR_LIMIT,
               "%lld support rows are more than the limit of %lld", (long long)loan->count,
               (long long)INT32_MAX);
    if (!loan->units && !mg_is_csr(&loan->x))
        return mg_bag_promise(&h->bag, "support", type, loan->count, h->columns, error);
    for (int64_t i = 0; i < loan->count; i++)
        stored += length_of(loan, loan->keys[i]);
    MG_TRY(mg_bag_promise(&h->bag, "support_starts", MARGIN_I64, loan->count + 1, 0, error));
    MG_TRY(mg_bag_promise(&h->bag, "support_indices", loan->units ? MARGIN_I64 : loan->x.index_type,
                          stored, 0, error));
    return mg_bag_promise(&h->bag, "support_values", type, stored, 0, error);
}

static void copy_units(const mg_expansion_loan *loan, int64_t *starts, int64_t *indices,
                       double *values) {
    for (int64_t i = 0; i < loan->count; i++) {
        starts[i + 1] = i + 1;
        indices[i] = loan->keys[i];
        values[i] = 1.0;
    }
}

static void copy_sparse(const mg_expansion_loan *loan, int64_t *starts, char *indices,
                        char *values) {
    const margin_matrix *x = &loan->x;
    const size_t size = (size_t)mg_type_size(x->value_type),
                 index = (size_t)mg_type_size(x->index_type);
    for (int64_t i = 0; i < loan->count; i++) {
        const size_t to = (size_t)starts[i], length = (size_t)length_of(loan, loan->keys[i]),
                     from = (size_t)mg_row_start(x, loan->keys[i]);
        starts[i + 1] = (int64_t)(to + length);
        if (length == 0) continue;
        memcpy(indices + to * index, (const char *)x->column_indices + from * index,
               length * index);
        memcpy(values + to * size, (const char *)x->values + from * size, length * size);
    }
}

margin_status mg_expansion_own(mg_hypothesis *h, margin_error *error) {
    const mg_expansion_loan *loan = h->derived;
    void *values = NULL, *starts = NULL, *indices = NULL;
    if (mg_bag_find(&h->bag, "support")) {
        MG_TRY(mg_bag_fill(&h->bag, "support", &values, error));
        mg_rows_together(&loan->x, loan->keys, 0, loan->count, values);
    } else {
        MG_TRY(mg_bag_fill(&h->bag, "support_starts", &starts, error));
        MG_TRY(mg_bag_fill(&h->bag, "support_indices", &indices, error));
        MG_TRY(mg_bag_fill(&h->bag, "support_values", &values, error));
        if (loan->units)
            copy_units(loan, starts, indices, values);
        else
            copy_sparse(loan, starts, indices, values);
    }
    mg_free(h->heap, h->derived);
    h->derived = NULL;
    h->view.expansion.keys = NULL;
    return MARGIN_OK;
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
    MG_TRY(mg_bag_add(&h->bag, "intercept", MARGIN_F64, h->functions, 0, &to->intercept, error));
    h->view.expansion.starts = to->starts;
    h->view.expansion.entries = to->entries;
    h->view.expansion.coefficients = to->values;
    h->view.expansion.intercept = to->intercept;
    return MARGIN_OK;
}

static margin_status loan_new(mg_heap *heap, const margin_matrix *x, bool units, int64_t most,
                              mg_expansion_loan **loan, margin_error *error) {
    MG_NEW_BYTES(heap, *loan, (int64_t)sizeof **loan + 8 * most, support_purpose, error);
    **loan = (mg_expansion_loan){.x = *x, .units = units};
    return MARGIN_OK;
}

/* Takes the loan over, also where it fails. */
static margin_status expansion_new(mg_heap *heap, const mg_kernel *kernel, mg_expansion_loan *loan,
                                   int64_t functions, int64_t entries, coefficient_arrays *to,
                                   mg_hypothesis **h, margin_error *error) {
    margin_status status;
    mg_hypothesis *made = NULL;
    MG_GO(mg_hypothesis_new(heap, &mg_hypothesis_expansion, loan->x.columns, functions, &made,
                            error));
    made->derived = loan;
    made->view.expansion.keys = loan->keys;
    loan = NULL;
    MG_GO(add_kernel(made, kernel, error));
    MG_GO(add_support(made, made->derived, error));
    MG_GO(add_coefficients(made, entries, to, error));
    *h = made;
    made = NULL;
done:
    mg_hypothesis_free(made);
    mg_free(heap, loan);
    return status;
}

/* ---- One function ---- */

static bool lower_row(int64_t a, int64_t b, const void *rows) {
    return ((const int64_t *)rows)[a] < ((const int64_t *)rows)[b];
}

/* Rows of x, or (units) unit vectors of its columns. */
static margin_status make_of_rows(mg_heap *heap, const mg_kernel *kernel, const margin_matrix *x,
                                  bool units, const int64_t *rows, const double *coefficients,
                                  int64_t count, double intercept, mg_hypothesis **h,
                                  margin_error *error) {
    mg_expansion_loan *loan;
    coefficient_arrays to;
    int64_t *order = NULL, *scratch = NULL;
    margin_status status;
    MG_GO_NEW(heap, order, count, support_purpose, error);
    MG_GO_NEW(heap, scratch, count, support_purpose, error);
    MG_GO(loan_new(heap, x, units, count, &loan, error));
    for (int64_t i = 0; i < count; i++)
        order[i] = i;
    mg_sort_few(order, count, scratch, lower_row, rows);
    for (int64_t i = 0; i < count; i++)
        if (loan->count == 0 || rows[order[i]] != loan->keys[loan->count - 1])
            loan->keys[loan->count++] = rows[order[i]];
    MG_GO(expansion_new(heap, kernel, loan, 1, loan->count, &to, h, error));
    to.starts[1] = loan->count;
    to.intercept[0] = intercept;
    for (int64_t i = 0, s = -1; i < count; i++) {
        if (s < 0 || rows[order[i]] != loan->keys[s]) s++;
        to.entries[s] = (int32_t)s;
        to.values[s] += coefficients[order[i]];
    }
done:
    MG_FREE(heap, scratch, order);
    return status;
}

margin_status mg_expansion_make(mg_heap *heap, const mg_kernel *kernel, const margin_matrix *x,
                                const int64_t *rows, const double *coefficients, int64_t count,
                                double intercept, mg_hypothesis **h, margin_error *error) {
    return make_of_rows(heap, kernel, x, kernel->kind == MG_KERNEL_PRECOMPUTED, rows, coefficients,
                        count, intercept, h, error);
}

/* ---- Many functions from one each, and back ---- */

static bool same_rows(const mg_expansion_loan *a, const mg_expansion_loan *b) {
    return a->x.rows == b->x.rows && a->x.columns == b->x.columns && a->x.values == b->x.values &&
           a->x.column_values == b->x.column_values && a->x.arrays == b->x.arrays;
}

/* Functions share rows and kernel, or they are no one hypothesis. */
static margin_status check_parts(mg_hypothesis *const *parts, int64_t count, margin_error *error) {
    const mg_kernel *first = &parts[0]->view.expansion.kernel;
    for (int64_t k = 0; k < count; k++) {
        const mg_kernel *kernel = &parts[k]->view.expansion.kernel;
        bool same = kernel->kind == first->kind && kernel->gamma == first->gamma &&
                    kernel->coef0 == first->coef0 && kernel->degree == first->degree;
        MG_REQUIRE(same && parts[k]->view.expansion.keys &&
                       same_rows(parts[k]->derived, parts[0]->derived),
                   error, MARGIN_ERROR_INTERNAL,
                   "expansions with kernels or rows of their own cannot be joined; please report "
                   "it");
    }
    return MARGIN_OK;
}

/* The rows of all parts, in order, and where each row of the training data is among them. */
static margin_status merge_loans(mg_heap *heap, mg_hypothesis *const *parts, int64_t count,
                                 int32_t *place, mg_expansion_loan **merged, margin_error *error) {
    const mg_expansion_loan *first = parts[0]->derived;
    const int64_t rows = first->units ? first->x.columns : first->x.rows;
    int64_t distinct = 0;
    for (int64_t k = 0; k < count; k++) {
        const mg_expansion_loan *loan = parts[k]->derived;
        for (int64_t i = 0; i < loan->count; i++) {
            distinct += !place[loan->keys[i]];
            place[loan->keys[i]] = 1;
        }
    }
    MG_TRY(loan_new(heap, &first->x, first->units, distinct, merged, error));
    for (int64_t i = 0; i < rows; i++) {
        if (!place[i]) continue;
        place[i] = (int32_t)(*merged)->count;
        (*merged)->keys[(*merged)->count++] = i;
    }
    return MARGIN_OK;
}

static void copy_coefficients(const mg_hypothesis *part, const int32_t *place, int64_t function,
                              coefficient_arrays *to) {
    for (int64_t f = 0; f < part->functions; f++) {
        const int64_t *starts = part->view.expansion.starts;
        int64_t at = to->starts[function + f];
        for (int64_t k = starts[f]; k < starts[f + 1]; k++, at++) {
            to->entries[at] = place[part->view.expansion.keys[part->view.expansion.entries[k]]];
            to->values[at] = part->view.expansion.coefficients[k];
        }
        to->starts[function + f + 1] = at;
        to->intercept[function + f] = part->view.expansion.intercept[f];
    }
}

margin_status mg_expansion_combine(mg_heap *heap, mg_hypothesis *const *parts, int64_t count,
                                   mg_hypothesis **out, margin_error *error) {
    mg_hypothesis *made = NULL;
    mg_expansion_loan *loan;
    coefficient_arrays to;
    int32_t *place = NULL;
    int64_t functions = 0, entries = 0, function = 0;
    margin_status status;
    MG_TRY(check_parts(parts, count, error));
    for (int64_t k = 0; k < count; k++) {
        functions += parts[k]->functions;
        entries += parts[k]->view.expansion.starts[parts[k]->functions];
    }
    loan = parts[0]->derived;
    MG_NEW_ZERO(heap, place, MG_MAX(loan->x.rows, loan->x.columns), support_purpose, error);
    MG_GO(merge_loans(heap, parts, count, place, &loan, error));
    MG_GO(expansion_new(heap, &parts[0]->view.expansion.kernel, loan, functions, entries, &to,
                        &made, error));
    for (int64_t k = 0; k < count; function += parts[k]->functions, k++)
        copy_coefficients(parts[k], place, function, &to);
    MG_GO(mg_dual_combine(parts, count, made, error));
    *out = made;
    made = NULL;
done:
    mg_hypothesis_free(made);
    mg_free(heap, place);
    return status;
}

margin_status mg_expansion_slice(mg_heap *heap, const mg_hypothesis *h, int64_t function,
                                 mg_hypothesis **out, margin_error *error) {
    const int64_t *starts = h->view.expansion.starts;
    int64_t first = starts[function], count = starts[function + 1] - first;
    mg_hypothesis *made = NULL;
    int64_t *rows = NULL;
    margin_status status;
    MG_GO_NEW(heap, rows, count, support_purpose, error);
    for (int64_t k = 0; k < count; k++)
        rows[k] = h->view.expansion.entries[first + k];
    MG_GO(make_of_rows(heap, &h->view.expansion.kernel, &h->view.expansion.support, false, rows,
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
