/* What a learner produces: real-valued functions of a row, as a bag of named tensors.
 *
 * A hypothesis knows nothing of classes or labels: the decision (sign, arg-max, votes, value) is
 * the model's. A kind adds the scoring and the check that makes tensors from a hostile file safe.
 * The kinds `linear` and `expansion` live here; others (neighbours, counts, centres) live with
 * their family. */
#pragma once

#include "base/scoped.h"
#include "learn/hypothesis/bag.h"
#include "math/gram/kernel.h"

typedef struct mg_hypothesis mg_hypothesis;

typedef struct mg_hypothesis_kind {
    const char *name; /* stored in model files */
    /* Checks names, types, shapes and contents of the tensors of a hypothesis with h->columns and
     * h->functions set, and fills h->view. MODEL on failure. Called after fit as well (a defect
     * then). */
    margin_status (*attach)(mg_hypothesis *h, margin_error *error);
    /* out[count x functions] for rows [first, first + count) of x. Allocates nothing, any thread.
     * CANCELLED, without a sentence: a function of the caller's ended it. */
    margin_status (*scores)(const mg_hypothesis *h, const margin_matrix *x, int64_t first,
                            int64_t count, double *out);
    /* The same for all rows of x on the context's threads, the same bits; NULL: blocks of rows
     * through `scores`. MEMORY, LIMIT, CANCELLED. */
    margin_status (*scores_batch)(margin_context *context, const mg_hypothesis *h,
                                  const margin_matrix *x, double *out, margin_error *error);
    /* `scores` and `scores_batch` take dense f64 rows only; prediction expands others. */
    bool dense;
    /* `scores` takes data by columns, too. */
    bool takes_columns;
    /* One hypothesis with the functions of all parts in order (NULL: cannot be combined), to be
     * attached. */
    margin_status (*combine)(mg_heap *heap, mg_hypothesis *const *parts, int64_t count,
                             mg_hypothesis **out, margin_error *error);
    /* One function of h as a hypothesis of its own: what combine was given (NULL: cannot). */
    margin_status (*slice)(mg_heap *heap, const mg_hypothesis *h, int64_t function,
                           mg_hypothesis **out, margin_error *error);
} mg_hypothesis_kind;

struct mg_hypothesis {
    const mg_hypothesis_kind *kind;
    mg_heap *heap;
    mg_isa isa; /* chosen when attached */
    int64_t columns, functions;
    mg_bag bag;
    union {
        struct {
            const double *weights;   /* functions x columns */
            const double *intercept; /* functions */
            /* The same in the learner's own units, as it found them: what its report is about and
             * what a verification starts from. NULL before a model keeps them. */
            const double *kept_weights, *kept_intercept;
        } linear;
        struct {
            mg_kernel kernel;
            margin_matrix support; /* copied rows of the training data, dense or CSR, as the learner
                                      saw them */
            const double *squares; /* of the support rows; NULL where the kernel needs none */
            /* Function f has the coefficients (alpha y) [starts[f], starts[f + 1]) of the support
             * rows `entries`, ascending: one-versus-one functions share rows but not all of them.
             */
            const int64_t *starts;
            const int32_t *entries;
            const double *coefficients;
            const double *intercept;
            const int64_t *keys; /* before attach copies the support rows: their numbers in the
                                    training matrix, ascending; lets combine share rows */
        } expansion;
        const void *other;
    } view;
    void *derived; /* what attach made for itself; owned by the heap */
    /* Optional dual form, all functions one after the other: entries [starts[f], starts[f+1]). NULL
     * if there is none. */
    const int64_t *dual_starts, *dual_rows;
    const double *dual_coefficients, *dual_signs, *dual_updates;
};

extern const mg_hypothesis_kind mg_hypothesis_linear, mg_hypothesis_expansion;
const mg_hypothesis_kind *
mg_hypothesis_kind_find(const char *name); /* in the model layer's registry */

margin_status mg_hypothesis_new(mg_heap *heap, const mg_hypothesis_kind *kind, int64_t columns,
                                int64_t functions, mg_hypothesis **h, margin_error *error);
void mg_hypothesis_free(mg_hypothesis *h);
/* Of MG_OWNED: what is handed over is set to NULL. */
MG_INLINE void mg_hypothesis_drop(mg_hypothesis **h) {
    mg_hypothesis_free(*h);
}
/* Last step of making one, in a fit or from a file: checks the dual tensors, chooses the
 * instruction set and calls the kind's attach. MODEL on failure. Idempotent. */
margin_status mg_hypothesis_attach(mg_hypothesis *h, margin_error *error);

/* A linear hypothesis of one function; copies the weights and attaches. */
margin_status mg_linear_make(mg_heap *heap, const double *weights, int64_t columns,
                             double intercept, mg_hypothesis **h, margin_error *error);
/* Keeps weights and intercepts as they are now beside those that will be folded, and attaches. */
margin_status mg_linear_keep(mg_hypothesis *h, margin_error *error);
/* Dual entries of a hypothesis with one function, copied, before or after attach (tensors
 * dual_starts, dual_row, dual_coefficient, dual_sign, dual_update). */
margin_status mg_hypothesis_set_dual(mg_hypothesis *h, int64_t count, const int64_t *rows,
                                     const double *coefficients, const double *signs,
                                     const double *updates, margin_error *error);
/* Expansion of one function over chosen rows of x with coefficients alpha_i y_i (a row named twice
 * once, with the sum), which attach copies: x stays until then. Of a precomputed kernel, which is
 * linear in the values of a row: over chosen columns, whose support rows are unit vectors. */
margin_status mg_expansion_make(mg_heap *heap, const mg_kernel *kernel, const margin_matrix *x,
                                const int64_t *rows, const double *coefficients, int64_t count,
                                double intercept, mg_hypothesis **h, margin_error *error);
/* Before the attach of an expansion: what kernel=user stands for. */
MG_INLINE void mg_expansion_function(mg_hypothesis *h, margin_kernel_function function,
                                     void *user) {
    h->view.expansion.kernel.function = function;
    h->view.expansion.kernel.user = user;
}
/* Norm of the weight vector of one function in feature space (linear: |w|; expansion: sqrt(c'Kc)).
 */
margin_status mg_hypothesis_norm(margin_context *context, const mg_hypothesis *h, int64_t function,
                                 double *norm, margin_error *error);

/* All inner products of the weight vectors of the functions, there: products[f * functions + g]. */
margin_status mg_hypothesis_products(margin_context *context, const mg_hypothesis *h,
                                     double *products, margin_error *error);
