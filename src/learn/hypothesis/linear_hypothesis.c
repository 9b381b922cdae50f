/* Linear functions w.x + b: tensors weights (functions x columns) and intercept (functions); in a
 * model also learner_weights and learner_intercept: the same as the learner found them, in the
 * units that it saw. */
#include "learn/hypothesis/dual.h"
#include "math/rows/column_ops.h"

#include <string.h>

static margin_status find_weights(const mg_hypothesis *h, const char *of_weights,
                                  const char *of_intercept, const double **weights,
                                  const double **intercept, margin_error *error) {
    MG_TRY(mg_bag_numbers(&h->bag, of_weights, h->functions, h->columns, weights, error));
    return mg_bag_numbers(&h->bag, of_intercept, h->functions, 0, intercept, error);
}

static const char kept_weights[] = "learner_weights", kept_intercept[] = "learner_intercept";

static margin_status linear_attach(mg_hypothesis *h, margin_error *error) {
    MG_TRY(find_weights(h, "weights", "intercept", &h->view.linear.weights,
                        &h->view.linear.intercept, error));
    h->view.linear.kept_weights = h->view.linear.kept_intercept = NULL;
    if (!mg_bag_find(&h->bag, kept_weights) && !mg_bag_find(&h->bag, kept_intercept))
        return MARGIN_OK;
    return find_weights(h, kept_weights, kept_intercept, &h->view.linear.kept_weights,
                        &h->view.linear.kept_intercept, error);
}

margin_status mg_linear_keep(mg_hypothesis *h, margin_error *error) {
    double *w = NULL, *b = NULL;
    MG_TRY(mg_bag_add(&h->bag, kept_weights, MARGIN_F64, h->functions, h->columns, &w, error));
    MG_TRY(mg_bag_add(&h->bag, kept_intercept, MARGIN_F64, h->functions, 0, &b, error));
    memcpy(w, h->view.linear.weights, (size_t)(h->functions * h->columns) * sizeof *w);
    memcpy(b, h->view.linear.intercept, (size_t)h->functions * sizeof *b);
    return mg_hypothesis_attach(h, error);
}

static void scores_of_columns(const mg_hypothesis *h, const margin_matrix *x, int64_t first,
                              int64_t count, double *out) {
    const mg_column_ops *ops = mg_column_ops_for(x, h->isa);
    double scores[MG_COLUMN_ROWS];
    for (int64_t at = 0; at < count; at += MG_COLUMN_ROWS) {
        const mg_column_part part = {x->column_values, x->columns, first + at,
                                     MG_MIN(count - at, MG_COLUMN_ROWS)};
        for (int64_t f = 0; f < h->functions; f++) {
            ops->scores(&part, NULL, h->view.linear.weights + f * h->columns,
                        h->view.linear.intercept[f], 4, scores);
            for (int64_t i = 0; i < part.count; i++)
                out[(at + i) * h->functions + f] = scores[i];
        }
    }
}

static margin_status linear_scores(const mg_hypothesis *h, const margin_matrix *x, int64_t first,
                                   int64_t count, double *out) {
    if (mg_is_by_columns(x)) {
        scores_of_columns(h, x, first, count, out);
        return MARGIN_OK;
    }
    mg_row_ops_for(x, h->isa)->scores(x, first, count, h->view.linear.weights,
                                      h->view.linear.intercept, h->functions, out);
    return MARGIN_OK;
}

/* An unattached hypothesis with cleared weights. */
static margin_status new_linear(mg_heap *heap, int64_t columns, int64_t functions,
                                mg_hypothesis **h, double **weights, double **intercept,
                                margin_error *error) {
    MG_OWNED(mg_hypothesis, made);
    MG_TRY(mg_hypothesis_new(heap, &mg_hypothesis_linear, columns, functions, &made, error));
    MG_TRY(mg_bag_add(&made->bag, "weights", MARGIN_F64, functions, columns, weights, error));
    MG_TRY(mg_bag_add(&made->bag, "intercept", MARGIN_F64, functions, 0, intercept, error));
    *h = made;
    made = NULL;
    return MARGIN_OK;
}

margin_status mg_linear_make(mg_heap *heap, const double *weights, int64_t columns,
                             double intercept, mg_hypothesis **h, margin_error *error) {
    mg_hypothesis *made = NULL;
    double *w = NULL, *b = NULL;
    MG_TRY(new_linear(heap, columns, 1, &made, &w, &b, error));
    memcpy(w, weights, (size_t)columns * sizeof *w);
    b[0] = intercept;
    margin_status status = mg_hypothesis_attach(made, error);
    if (status < 0)
        mg_hypothesis_free(made);
    else
        *h = made;
    return status;
}

static margin_status linear_combine(mg_heap *heap, mg_hypothesis *const *parts, int64_t count,
                                    mg_hypothesis **out, margin_error *error) {
    MG_OWNED(mg_hypothesis, made);
    double *w = NULL, *b = NULL;
    int64_t functions = 0, columns = parts[0]->columns;
    for (int64_t k = 0; k < count; k++)
        functions += parts[k]->functions;
    MG_TRY(new_linear(heap, columns, functions, &made, &w, &b, error));
    for (int64_t k = 0, f = 0; k < count; f += parts[k]->functions, k++) {
        const mg_hypothesis *part = parts[k];
        memcpy(w + f * columns, part->view.linear.weights,
               (size_t)(part->functions * columns) * sizeof *w);
        memcpy(b + f, part->view.linear.intercept, (size_t)part->functions * sizeof *b);
    }
    MG_TRY(mg_dual_combine(parts, count, made, error));
    MG_TRY(mg_hypothesis_attach(made, error));
    *out = made;
    made = NULL;
    return MARGIN_OK;
}

static margin_status linear_slice(mg_heap *heap, const mg_hypothesis *h, int64_t function,
                                  mg_hypothesis **out, margin_error *error) {
    mg_hypothesis *made = NULL;
    MG_TRY(mg_linear_make(heap, h->view.linear.weights + function * h->columns, h->columns,
                          h->view.linear.intercept[function], &made, error));
    margin_status status = mg_dual_slice(h, function, made, error);
    if (status < 0)
        mg_hypothesis_free(made);
    else
        *out = made;
    return status;
}

const mg_hypothesis_kind mg_hypothesis_linear = {
    .name = "linear",
    .attach = linear_attach,
    .scores = linear_scores,
    .takes_columns = true,
    .combine = linear_combine,
    .slice = linear_slice,
};
