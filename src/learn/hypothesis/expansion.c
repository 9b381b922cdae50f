/* Expansions over support rows: what makes their tensors safe to use.
 *
 * Tensors: kernel [kind, gamma, coef0, degree]; support (rows x columns), or for sparse data
 * support_starts, support_indices, support_values; starts, entries, coefficients (see the view) and
 * intercept. */
#include "learn/hypothesis/expansion.h"

#include <math.h>
#include <string.h>

/* ---- Checking ---- */

static margin_status attach_kernel(mg_hypothesis *h, margin_error *error) {
    const double *numbers = NULL;
    MG_TRY(mg_bag_expect(&h->bag, "kernel", MARGIN_F64, 4, 0, &numbers, error));
    bool sound = isfinite(numbers[1]) && isfinite(numbers[2]);
    sound =
        sound && numbers[0] >= 0 && numbers[0] < MG_KERNEL_KINDS && numbers[0] == floor(numbers[0]);
    sound = sound && numbers[3] >= 0 && numbers[3] <= INT32_MAX && numbers[3] == floor(numbers[3]);
    MG_REQUIRE(sound, error, MARGIN_ERROR_MODEL, "tensor 'kernel' describes no known kernel");
    mg_kernel *kernel = &h->view.expansion.kernel;
    kernel->kind = (mg_kernel_kind)numbers[0];
    kernel->gamma = numbers[1];
    kernel->coef0 = numbers[2];
    kernel->degree = (int)numbers[3];
    MG_REQUIRE(kernel->kind != MG_KERNEL_FUNCTION || kernel->function, error, MARGIN_ERROR_ARGUMENT,
               "the model was trained with kernel=user, a function of a program, and files do not "
               "hold those: load it in a program that hands it over "
               "(margin_context_options.kernel)");
    MG_REQUIRE(kernel->kind != MG_KERNEL_FUNCTION || h->columns <= MG_OWN_COLUMNS, error,
               MARGIN_ERROR_MODEL, "a model with kernel=user has at most %d columns",
               (int)MG_OWN_COLUMNS);
    return MARGIN_OK;
}

static margin_status attach_dense(mg_hypothesis *h, const mg_tensor *tensor, margin_error *error) {
    bool sound = (tensor->type == MARGIN_F64 || tensor->type == MARGIN_F32) &&
                 tensor->dimensions == 2 && tensor->shape[1] == h->columns;
    MG_REQUIRE(sound, error, MARGIN_ERROR_MODEL,
               "tensor 'support' does not hold numbers in %lld columns", (long long)h->columns);
    margin_matrix *support = &h->view.expansion.support;
    memset(support, 0, sizeof *support);
    support->values = tensor->data;
    support->value_type = tensor->type;
    support->rows = tensor->shape[0];
    support->columns = support->stride = h->columns;
    return MARGIN_OK;
}

static bool rows_are_sound(const mg_bag *bag, const margin_matrix *x, int64_t stored) {
    const int64_t *starts = x->row_starts;
    bool sound = starts[0] == 0 && starts[x->rows] == stored;
    for (int64_t i = 0; i < x->rows; i++)
        sound = sound && starts[i] <= starts[i + 1];
    for (int64_t i = 0; i < x->rows && sound; i++) {
        int64_t previous = -1;
        for (int64_t k = starts[i]; k < starts[i + 1] && !mg_bag_ended(bag, k); k++) {
            int64_t column = mg_column_index(x, k);
            sound = sound && column > previous && column < x->columns;
            previous = column;
        }
    }
    return sound;
}

static margin_status attach_sparse(mg_hypothesis *h, margin_error *error) {
    const mg_tensor *starts = mg_bag_find(&h->bag, "support_starts");
    const mg_tensor *indices = mg_bag_find(&h->bag, "support_indices");
    const mg_tensor *values = mg_bag_find(&h->bag, "support_values");
    MG_REQUIRE(starts && indices && values, error, MARGIN_ERROR_MODEL,
               "the expansion model has no support rows");
    bool sound = starts->dimensions == 1 && indices->dimensions == 1 && values->dimensions == 1 &&
                 starts->type == MARGIN_I64 && starts->shape[0] >= 1 &&
                 (indices->type == MARGIN_I32 || indices->type == MARGIN_I64) &&
                 (values->type == MARGIN_F32 || values->type == MARGIN_F64) &&
                 indices->shape[0] == values->shape[0];
    margin_matrix *support = &h->view.expansion.support;
    if (sound) {
        *support = margin_csr_f64(values->data, indices->data, starts->data, starts->shape[0] - 1,
                                  h->columns);
        support->value_type = values->type;
        support->index_type = indices->type;
        sound = rows_are_sound(&h->bag, support, values->shape[0]);
        if (mg_bag_ended(&h->bag, 0)) return mg_fail_cancelled(error);
    }
    MG_REQUIRE(sound, error, MARGIN_ERROR_MODEL,
               "the support rows of the expansion model are no sparse matrix of %lld columns",
               (long long)h->columns);
    return MARGIN_OK;
}

static margin_status attach_coefficients(mg_hypothesis *h, margin_error *error) {
    const int64_t *starts = NULL;
    const int32_t *entries = NULL;
    const double *coefficients = NULL, *intercept = NULL;
    const mg_tensor *tensor = mg_bag_find(&h->bag, "entries");
    int64_t count = tensor ? tensor->shape[0] : 0;
    MG_TRY(mg_bag_expect(&h->bag, "starts", MARGIN_I64, h->functions + 1, 0, &starts, error));
    MG_TRY(mg_bag_expect(&h->bag, "entries", MARGIN_I32, count, 0, &entries, error));
    MG_TRY(mg_bag_expect(&h->bag, "coefficients", MARGIN_F64, count, 0, &coefficients, error));
    MG_TRY(mg_bag_expect(&h->bag, "intercept", MARGIN_F64, h->functions, 0, &intercept, error));
    bool sound = starts[0] == 0 && starts[h->functions] == count;
    for (int64_t f = 0; f < h->functions; f++)
        sound = sound && starts[f] <= starts[f + 1] && isfinite(intercept[f]);
    for (int64_t f = 0; f < h->functions && sound; f++) {
        int64_t previous = -1;
        for (int64_t k = starts[f]; k < starts[f + 1]; k++) {
            if (mg_bag_ended(&h->bag, k)) return mg_fail_cancelled(error);
            sound = sound && entries[k] > previous && isfinite(coefficients[k]) &&
                    entries[k] < h->view.expansion.support.rows;
            previous = entries[k];
        }
    }
    MG_REQUIRE(sound, error, MARGIN_ERROR_MODEL,
               "the coefficients of the expansion model do not fit its %lld support rows, or are "
               "not finite",
               (long long)h->view.expansion.support.rows);
    h->view.expansion.starts = starts;
    h->view.expansion.entries = entries;
    h->view.expansion.coefficients = coefficients;
    h->view.expansion.intercept = intercept;
    return MARGIN_OK;
}

static margin_status expansion_attach(mg_hypothesis *h, margin_error *error) {
    const mg_tensor *dense = mg_bag_find(&h->bag, "support");
    if (h->view.expansion.keys) MG_TRY(mg_expansion_own(h, error));
    MG_TRY(attach_kernel(h, error));
    MG_TRY(dense ? attach_dense(h, dense, error) : attach_sparse(h, error));
    MG_TRY(attach_coefficients(h, error));
    return mg_expansion_prepare(h, error);
}

const mg_hypothesis_kind mg_hypothesis_expansion = {
    .name = "expansion",
    .attach = expansion_attach,
    .scores = mg_expansion_scores,
    .combine = mg_expansion_combine,
    .slice = mg_expansion_slice,
};
