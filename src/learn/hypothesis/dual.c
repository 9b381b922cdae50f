/* Dual forms: for each function the training rows that took part, with coefficient alpha, sign y
 * and update count. All functions one after the other in five tensors. */
#include "learn/hypothesis/dual.h"

#include <math.h>
#include <string.h>

typedef struct dual_arrays {
    int64_t *starts, *rows;
    double *coefficients, *signs, *updates;
} dual_arrays;

static margin_status add_tensors(mg_hypothesis *h, int64_t entries, dual_arrays *to,
                                 margin_error *error) {
    MG_TRY(mg_bag_add(&h->bag, "dual_starts", MARGIN_I64, h->functions + 1, 0, &to->starts, error));
    MG_TRY(mg_bag_add(&h->bag, "dual_row", MARGIN_I64, entries, 0, &to->rows, error));
    MG_TRY(
        mg_bag_add(&h->bag, "dual_coefficient", MARGIN_F64, entries, 0, &to->coefficients, error));
    MG_TRY(mg_bag_add(&h->bag, "dual_sign", MARGIN_F64, entries, 0, &to->signs, error));
    return mg_bag_add(&h->bag, "dual_update", MARGIN_F64, entries, 0, &to->updates, error);
}

static void copy_entries(dual_arrays *to, int64_t at, const dual_arrays *from, int64_t first,
                         int64_t count) {
    if (count == 0) return;
    size_t bytes = (size_t)count * 8;
    memcpy(to->rows + at, from->rows + first, bytes);
    memcpy(to->coefficients + at, from->coefficients + first, bytes);
    memcpy(to->signs + at, from->signs + first, bytes);
    memcpy(to->updates + at, from->updates + first, bytes);
}

static dual_arrays arrays_of(const mg_hypothesis *h) {
    return (dual_arrays){(int64_t *)h->dual_starts, (int64_t *)h->dual_rows,
                         (double *)h->dual_coefficients, (double *)h->dual_signs,
                         (double *)h->dual_updates};
}

static void point_to(mg_hypothesis *h, const dual_arrays *arrays) {
    h->dual_starts = arrays->starts;
    h->dual_rows = arrays->rows;
    h->dual_coefficients = arrays->coefficients;
    h->dual_signs = arrays->signs;
    h->dual_updates = arrays->updates;
}

margin_status mg_hypothesis_set_dual(mg_hypothesis *h, int64_t count, const int64_t *rows,
                                     const double *coefficients, const double *signs,
                                     const double *updates, margin_error *error) {
    dual_arrays from = {NULL, (int64_t *)rows, (double *)coefficients, (double *)signs,
                        (double *)updates};
    dual_arrays to;
    MG_REQUIRE(h->functions == 1 && !h->dual_starts, error, MARGIN_ERROR_INTERNAL,
               "a dual form is set once, on a hypothesis of one function; please report it");
    MG_TRY(add_tensors(h, count, &to, error));
    copy_entries(&to, 0, &from, 0, count);
    to.starts[1] = count;
    point_to(h, &to);
    return MARGIN_OK;
}

margin_status mg_dual_combine(mg_hypothesis *const *parts, int64_t count, mg_hypothesis *into,
                              margin_error *error) {
    int64_t entries = 0, at = 0, function = 0;
    dual_arrays to;
    for (int64_t k = 0; k < count; k++) {
        if (!parts[k]->dual_starts) return MARGIN_OK;
        entries += parts[k]->dual_starts[parts[k]->functions];
    }
    MG_TRY(add_tensors(into, entries, &to, error));
    for (int64_t k = 0; k < count; k++) {
        dual_arrays from = arrays_of(parts[k]);
        for (int64_t f = 0; f < parts[k]->functions; f++)
            to.starts[function++] = at + from.starts[f];
        copy_entries(&to, at, &from, 0, from.starts[parts[k]->functions]);
        at += from.starts[parts[k]->functions];
    }
    to.starts[function] = at;
    point_to(into, &to);
    return MARGIN_OK;
}

margin_status mg_dual_slice(const mg_hypothesis *h, int64_t function, mg_hypothesis *into,
                            margin_error *error) {
    if (!h->dual_starts) return MARGIN_OK;
    int64_t first = h->dual_starts[function], last = h->dual_starts[function + 1];
    return mg_hypothesis_set_dual(into, last - first, h->dual_rows + first,
                                  h->dual_coefficients + first, h->dual_signs + first,
                                  h->dual_updates + first, error);
}

static margin_status check_starts(const int64_t *starts, int64_t functions, int64_t entries,
                                  margin_error *error) {
    bool ascending = starts[0] == 0 && starts[functions] == entries;
    for (int64_t f = 0; f < functions; f++)
        ascending = ascending && starts[f] <= starts[f + 1];
    MG_REQUIRE(ascending, error, MARGIN_ERROR_MODEL,
               "tensor 'dual_starts' does not divide the %lld dual entries", (long long)entries);
    return MARGIN_OK;
}

static margin_status check_entries(const mg_bag *bag, const dual_arrays *dual, int64_t entries,
                                   margin_error *error) {
    for (int64_t k = 0; k < entries; k++) {
        if (mg_bag_ended(bag, k)) return mg_fail_cancelled(error);
        bool sound = dual->rows[k] >= 0 && isfinite(dual->coefficients[k]) &&
                     fabs(dual->signs[k]) == 1.0 && isfinite(dual->updates[k]);
        MG_REQUIRE(sound, error, MARGIN_ERROR_MODEL,
                   "dual entry %lld has a negative row, a sign other than 1 and -1, or a number "
                   "that is not finite",
                   (long long)k + 1);
    }
    return MARGIN_OK;
}

margin_status mg_dual_attach(mg_hypothesis *h, margin_error *error) {
    dual_arrays dual = {0};
    point_to(h, &dual);
    const mg_tensor *rows = mg_bag_find(&h->bag, "dual_row");
    if (!rows) return MARGIN_OK;
    int64_t n = rows->shape[0];
    MG_TRY(mg_bag_expect(&h->bag, "dual_starts", MARGIN_I64, h->functions + 1, 0, &dual.starts,
                         error));
    MG_TRY(mg_bag_expect(&h->bag, "dual_row", MARGIN_I64, n, 0, &dual.rows, error));
    MG_TRY(mg_bag_expect(&h->bag, "dual_coefficient", MARGIN_F64, n, 0, &dual.coefficients, error));
    MG_TRY(mg_bag_expect(&h->bag, "dual_sign", MARGIN_F64, n, 0, &dual.signs, error));
    MG_TRY(mg_bag_expect(&h->bag, "dual_update", MARGIN_F64, n, 0, &dual.updates, error));
    MG_TRY(check_starts(dual.starts, h->functions, n, error));
    MG_TRY(check_entries(&h->bag, &dual, n, error));
    point_to(h, &dual);
    return MARGIN_OK;
}
