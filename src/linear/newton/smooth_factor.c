/* Hessians of a smooth objective from all samples or a few, and their Cholesky factors. */
#include "linear/newton/smooth.h"
#include "math/products/cholesky.h"
#include "math/products/ridge_factor.h"

#include <math.h>
#include <string.h>

enum { MOST_COLUMNS = 8192, CHUNK = 256 };

/* ---- Cost ------------------------------------------------------------------------------------
 * Nanoseconds on one core of 2020, all roughly: only their ratio matters, and little. */

static double pass_cost(const mg_smooth *s) {
    const margin_matrix *x = &s->design->problem->x;
    const double value = mg_is_csr(x) ? 2.0 : x->value_type == MARGIN_F32 ? 0.9 : 1.6;
    return (double)s->samples * (10.0 + value * mg_design_row_length(s->design)) +
           10.0 * (double)s->columns;
}

static double factor_cost(const mg_smooth *s, int64_t rows, bool single) {
    const double n = (double)s->size, length = mg_design_row_length(s->design) + 1.0;
    const double product = mg_is_csr(&s->design->problem->x) ? 0.7 : single ? 0.05 : 0.1;
    return (double)rows * (0.5 * length * length * product + 2.0 * length) + n * n * n / 6.0 * 0.1 +
           n * n * 20.0;
}

double mg_smooth_price(const mg_smooth *s, int64_t rows, bool single) {
    return factor_cost(s, MG_MIN(rows, s->samples), single) / pass_cost(s);
}

/* By the limit and not by what is left of it: that may depend on what other threads do. */
bool mg_smooth_can_factor(const mg_smooth *s) {
    enum { MATRICES = 20 }; /* the factor, sums of the Gram, and room for the rest */
    const int64_t limit = mg_heap_limit(s->design->heap);
    if (s->size > MOST_COLUMNS) return false;
    return limit == 0 || MATRICES * s->size * s->size * (int64_t)sizeof(double) <= limit;
}

/* ---- Curvatures ------------------------------------------------------------------------------ */

typedef struct curvature_walk {
    const mg_smooth *s;
    double *curvatures; /* samples, or NULL: only their sum */
} curvature_walk;

static void chunk_curvatures(const mg_smooth *s, int64_t first, int64_t count, double *out) {
    const mg_problem *problem = s->design->problem;
    double at[CHUNK];
    for (int64_t k = 0; k < count; k++) {
        const double score = s->here.scores[first + k];
        at[k] = s->objective->loss->margin_based ? problem->sign[first + k] * score
                                                 : score - problem->target[first + k];
    }
    mg_loss_pass(s->objective->loss, s->design->isa, at, s->objective->c + first, count, NULL, out);
}

static void start_sum(void *state, void *argument) {
    (void)argument;
    *(double *)state = 0.0;
}

static void merge_sums(void *into, const void *from, void *argument) {
    (void)argument;
    *(double *)into += *(const double *)from;
}

static margin_status add_curvatures(void *state, const mg_block *block, void *argument) {
    const curvature_walk *walk = argument;
    double own[CHUNK], *total = state;
    for (int64_t k = 0; k < block->count; k += CHUNK) {
        const int64_t first = block->first + k, count = MG_MIN(block->count - k, CHUNK);
        double *out = walk->curvatures ? walk->curvatures + first : own;
        chunk_curvatures(walk->s, first, count, out);
        for (int64_t i = 0; i < count; i++)
            *total += out[i];
    }
    return MARGIN_OK;
}

margin_status mg_smooth_curvatures(mg_smooth *s, double *curvatures, double *total) {
    static const mg_accumulator steps = {.state_size = sizeof(double),
                                         .init = start_sum,
                                         .add = add_curvatures,
                                         .merge = merge_sums};
    curvature_walk walk = {s, curvatures};
    return mg_sweep(s->design->context, s->samples, MG_BLOCK_ROWS, &steps, &walk, total,
                    s->job->error);
}

/* ---- Factor ---------------------------------------------------------------------------------- */

/* The Gram becomes H; its diagonal is kept, as is the triangle above it. */
static void complete(mg_smooth *s) {
    const int64_t n = s->size, last = n - 1;
    const double rho = s->objective->penalty.rho;
    double *a = s->factored;
    if (!s->objective->intercept) {
        for (int64_t j = 0; j < last; j++)
            a[last * n + j] = a[j * n + last] = 0.0;
        a[last * n + last] = 0.0;
    }
    for (int64_t j = 0; j < last; j++)
        a[j * n + j] += rho * s->factor[j] * s->factor[j];
    for (int64_t j = 0; j < n; j++)
        s->diagonal[j] = a[j * n + j] > 0.0 ? a[j * n + j] : 1.0;
}

static margin_status make_gram(mg_smooth *s, const double *curvatures, const mg_row_sample *sample,
                               bool single) {
    const mg_gram_request request = {.chosen = sample ? sample->rows : NULL,
                                     .count = sample ? sample->count : 0,
                                     .weights = sample ? sample->weights : curvatures,
                                     .centre = s->centre,
                                     .factor = s->factor,
                                     .single = single};
    return mg_design_gram(s->design, &request, s->factored, s->job->error);
}

static margin_status make_sampled_gram(mg_smooth *s, const double *curvatures, int64_t rows,
                                       bool single) {
    mg_row_sample sample;
    MG_TRY(mg_smooth_sample(s, curvatures, rows, &sample));
    const margin_status status = make_gram(s, curvatures, &sample, single);
    mg_row_sample_free(&sample);
    return status;
}

margin_status mg_smooth_factor(mg_smooth *s, int64_t rows, bool single) {
    mg_heap *heap = s->design->heap;
    const bool all = rows >= s->samples;
    double *curvatures = NULL, total;
    margin_status status;
    if (!s->factored) {
        s->factored = mg_arena_new(&s->arena, s->size * s->size, sizeof *s->factored);
        if (!s->factored)
            return mg_no_memory(heap, s->size * s->size, sizeof(double), "a Hessian",
                                s->job->error);
    }
    s->factored_rows = 0;
    s->builds++;
    MG_GO_NEW(heap, curvatures, s->samples, "the curvatures of the samples", s->job->error);
    MG_GO(mg_smooth_curvatures(s, curvatures, &total));
    if (all)
        MG_GO(make_gram(s, curvatures, NULL, single));
    else
        MG_GO(make_sampled_gram(s, curvatures, rows, single));
    complete(s);
    MG_GO(mg_ridge_factor(s->design->context, s->size, s->factored, s->diagonal,
                          single ? mg_ridge_single : mg_ridge_double, s->job->error));
    s->factored_rows = MG_MIN(rows, s->samples);
    s->factored_exactly = all && !single;
done:
    mg_free(heap, curvatures);
    return status;
}

void mg_smooth_solve(const mg_smooth *s, double *x) {
    mg_cholesky_solve(s->design->isa, s->size, s->factored, s->size, x);
}
