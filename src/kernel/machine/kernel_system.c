/* The Gram matrix as an operator. */
#include "kernel/machine/kernel_system.h"

#include "math/gram/gram.h"
#include "math/rows/row_pair.h"

#include <math.h>
#include <string.h>

enum { BLOCK = MG_GRAM_BLOCK };

static const char purpose[] = "the Gram matrix";

/* ---- Making ---------------------------------------------------------------------------------- */

/* Row i, of which the columns from the diagonal on are there. */
static double *upper_row(const mg_kernel_system *system, int64_t i) {
    const int64_t index = i / BLOCK, left = index * BLOCK;
    if (system->storage == MG_GRAM_SQUARE) return system->gram + i * system->count;
    return system->gram + mg_gram_before(system->count, index) +
           (i - left) * (system->count - left) - left;
}

void mg_kernel_system_free(mg_kernel_system *system) {
    if (!system->context) return;
    mg_heap *heap = system->context->heap;
    mg_kernel_scratch_free(system->scratch);
    MG_FREE(heap, system->squares, system->gram, system->diagonal);
    memset(system, 0, sizeof *system);
}

/* The rows from `first` on with the columns from `left` on. */
static mg_kernel_block block_of(const mg_kernel_system *system, int64_t first, int64_t count,
                                int64_t left) {
    const mg_problem *p = system->problem;
    const bool places = system->kernel.kind == MG_KERNEL_PRECOMPUTED && p->original;
    const int64_t *right = places ? p->original : p->index;
    return (mg_kernel_block){.x = &p->x,
                             .z = &p->x,
                             .x_rows = p->index ? p->index + first : NULL,
                             .z_rows = right ? right + left : NULL,
                             .x_first = first,
                             .x_count = count,
                             .z_first = left,
                             .z_count = system->count - left,
                             .x_squares = system->squares,
                             .z_squares = system->squares};
}

static margin_status make_diagonal(mg_kernel_system *system, const mg_kernel_points *points) {
    MG_NEW(system->context->heap, system->diagonal, system->count, purpose, system->error);
    for (int64_t i = 0; i < system->count; i++) {
        system->diagonal[i] = mg_kernel_pair(system->context, &system->kernel, points, i, i);
        if (i % 4096 == 0 && mg_cancelled(system->context)) return mg_fail_cancelled(system->error);
        MG_TRY(mg_kernel_check_value(system->diagonal[i], mg_sample_original(system->problem, i),
                                     system->error));
    }
    return MARGIN_OK;
}

static margin_status fill_triangle(const mg_kernel_system *system) {
    for (int64_t first = 0; first < system->count; first += BLOCK) {
        const int64_t rows = MG_MIN(BLOCK, system->count - first);
        const mg_kernel_block block = block_of(system, first, rows, first);
        MG_TRY(mg_kernel_fill_with(system->scratch, &block, upper_row(system, first) + first,
                                   system->count - first));
    }
    return MARGIN_OK;
}

static margin_status store(mg_kernel_system *system) {
    const int64_t bytes = mg_system_bytes(system->storage, system->count);
    MG_NEW(system->context->heap, system->gram, bytes / 8, purpose, system->error);
    if (system->storage == MG_GRAM_TRIANGLE)
        return mg_kernel_fail(fill_triangle(system), system->error);
    const mg_kernel_block block = block_of(system, 0, system->count, 0);
    const mg_kernel_out out = {
        .type = MARGIN_F64, .values = system->gram, .ld = system->count, .square = true};
    return mg_kernel_fail(mg_kernel_fill_out(system->scratch, &block, &out), system->error);
}

static margin_status make(mg_kernel_system *system) {
    const margin_matrix *x = &system->problem->x;
    const mg_kernel_points points = mg_kernel_points_of(system->problem);
    MG_TRY(mg_kernel_check(system->context, &system->kernel, &points, system->error));
    MG_TRY(mg_kernel_scratch_new(system->context, &system->kernel, x, x, &system->scratch,
                                 system->error));
    if (mg_kernel_basis_of(system->kernel.kind) == MG_OF_SQUARES) {
        MG_NEW(system->context->heap, system->squares, x->rows, purpose, system->error);
        MG_TRY(mg_kernel_fail(mg_row_squares(system->context, x, NULL, system->squares),
                              system->error));
    }
    MG_TRY(make_diagonal(system, &points));
    MG_TRY(mg_kernel_decide(system->context, &system->kernel, &points, &system->curvature,
                            system->error));
    return system->storage == MG_GRAM_NONE ? MARGIN_OK : store(system);
}

margin_status mg_kernel_system_make(margin_context *context, const mg_problem *problem,
                                    const mg_kernel *kernel, mg_gram_storage storage,
                                    mg_kernel_system *system, margin_error *error) {
    *system = (mg_kernel_system){.context = context,
                                 .problem = problem,
                                 .kernel = *kernel,
                                 .curvature = mg_kernel_is_definite(kernel) ? MG_KERNEL_DEFINITE
                                                                            : MG_KERNEL_UNDECIDED,
                                 .storage = storage,
                                 .count = problem->count,
                                 .error = error};
    const mg_kernel_system named = *system;
    const margin_status status = make(system);
    if (status >= 0) return status;
    mg_kernel_system_free(system);
    *system = named;
    return status;
}

margin_status mg_kernel_system_part(const mg_kernel_system *whole, const int64_t *position,
                                    margin_context *context, const mg_problem *problem,
                                    mg_kernel_system *part, margin_error *error) {
    const int64_t m = problem->count, rows = problem->x.rows;
    *part = *whole;
    part->context = context;
    part->problem = problem;
    part->count = m;
    part->error = error;
    part->scratch = NULL;
    part->squares = part->gram = part->diagonal = NULL;
    MG_NEW(context->heap, part->gram, m * m, purpose, error);
    MG_NEW(context->heap, part->diagonal, m, purpose, error);
    if (whole->squares) {
        MG_NEW(context->heap, part->squares, rows, purpose, error);
        memcpy(part->squares, whole->squares, (size_t)rows * sizeof *part->squares);
    }
    for (int64_t i = 0; i < m; i++) {
        const int64_t place = position[mg_sample_row(problem, i)];
        const double *from = whole->gram + place * whole->count;
        part->diagonal[i] = whole->diagonal[place];
        for (int64_t j = 0; j < m; j++)
            part->gram[i * m + j] = from[position[mg_sample_row(problem, j)]];
    }
    return MARGIN_OK;
}

/* ---- Products -------------------------------------------------------------------------------- */

typedef struct multiplication {
    const mg_kernel_system *system;
    const mg_vector_ops *ops;
    int64_t vectors;
    const double *v;
    double *out;
} multiplication;

/* What the numbers right of the diagonal add: to their row, and mirrored to their column. */
static margin_status add_product(void *state, const mg_block *block, void *argument) {
    const multiplication *to = argument;
    const int64_t m = to->system->count;
    for (int64_t i = block->first; i < block->first + block->count; i++) {
        const double *row = upper_row(to->system, i) + i + 1;
        for (int64_t k = 0; k < to->vectors; k++) {
            const double *v = to->v + k * m + i;
            double *out = (double *)state + k * m + i;
            out[0] += to->system->diagonal[i] * v[0] + to->ops->dot(row, v + 1, m - i - 1);
            to->ops->add(out + 1, v[0], row, m - i - 1);
        }
        if (mg_cancelled(to->system->context)) return MARGIN_ERROR_CANCELLED;
    }
    return MARGIN_OK;
}

static margin_status multiply_triangle(multiplication *to) {
    return mg_sweep_sums(to->system->context, to->system->count, BLOCK,
                         to->vectors * to->system->count, 0, add_product, to, to->out,
                         to->system->error);
}

/* Kernel values are made again, once for all vectors, which have to lie side by side. */
static margin_status multiply_anew(const multiplication *to) {
    const mg_kernel_system *system = to->system;
    const int64_t m = system->count, n = to->vectors;
    const mg_kernel_block block = block_of(system, 0, m, 0);
    double *v;
    if (n == 1)
        return mg_kernel_multiply_square(system->scratch, &block, to->v, to->out, system->error);
    MG_NEW(system->context->heap, v, 2 * n * m, purpose, system->error);
    double *out = v + n * m;
    for (int64_t i = 0; i < m; i++)
        for (int64_t k = 0; k < n; k++)
            v[i * n + k] = to->v[k * m + i];
    const margin_status status = mg_kernel_multiply(system->scratch, &block, v, n, out);
    for (int64_t i = 0; i < m && status >= 0; i++)
        for (int64_t k = 0; k < n; k++)
            to->out[k * m + i] = out[i * n + k];
    mg_free(system->context->heap, v);
    return status;
}

margin_status mg_kernel_system_multiply(const mg_kernel_system *system, int64_t vectors,
                                        const double *v, double *out) {
    multiplication to = {system, mg_vector_ops_for(mg_isa_level()), vectors, v, out};
    if (mg_cancelled(system->context)) return mg_fail_cancelled(system->error);
    if (system->storage != MG_GRAM_NONE) return multiply_triangle(&to);
    return mg_kernel_fail(multiply_anew(&to), system->error);
}

/* ---- The result ------------------------------------------------------------------------------ */

/* Where no step was made no row has a part in the function, and none is kept. */
static int64_t support_count(const double *a, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (a[i] != 0.0) return count;
    return 0;
}

double mg_kernel_system_root(const mg_kernel_system *system, int64_t sample) {
    if (system->kernel.kind == MG_KERNEL_SIGMOID) return 1.0; /* no inner product */
    return sqrt(fabs(system->diagonal[sample]));
}

/* Of its argument, as far as a slope of 1 carries it. */
static double sigmoid_steepness(const mg_kernel_system *system, int64_t sample) {
    const int64_t row = mg_sample_row(system->problem, sample);
    const margin_matrix *x = &system->problem->x;
    return 1.0 + fabs(system->kernel.gamma) * mg_row_pair(x, row, x, row).square_a;
}

double mg_kernel_system_steepness(const mg_kernel_system *system, int64_t sample) {
    const mg_kernel *kernel = &system->kernel;
    switch (kernel->kind) {
    case MG_KERNEL_RBF: /* by way of the squares, which cancel */
        return 1.0 + 2.0 * kernel->gamma * system->squares[mg_sample_row(system->problem, sample)];
    case MG_KERNEL_EXP:
        return 1.0 + fmax(log(system->diagonal[sample]), 0.0);
    case MG_KERNEL_POLY:
        return (double)kernel->degree + 1.0;
    case MG_KERNEL_LAPLACIAN:
        return 2.0;
    case MG_KERNEL_SIGMOID:
        return sigmoid_steepness(system, sample);
    case MG_KERNEL_LINEAR:
    case MG_KERNEL_PRECOMPUTED:
    case MG_KERNEL_FUNCTION:
        break;
    }
    return 1.0;
}

margin_status mg_kernel_system_hand_over(const mg_kernel_system *system, const double *a, double b,
                                         mg_fit *fit) {
    const mg_problem *p = system->problem;
    const mg_kernel_points points = mg_kernel_points_of(p);
    const int64_t count = support_count(a, system->count);
    mg_heap *heap = system->context->heap;
    int64_t *rows;
    MG_NEW(heap, rows, count, "the list of the support rows", fit->error);
    for (int64_t i = 0; i < count; i++)
        rows[i] = mg_point_right(&system->kernel, &points, i);
    const margin_status status = mg_expansion_make(heap, &system->kernel, &p->x, rows, a, count, b,
                                                   &fit->hypothesis, fit->error);
    mg_free(heap, rows);
    return status;
}
