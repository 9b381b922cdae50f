/* nystroem: a kernel seen from some rows z_1, ..., z_c, the centres (Williams and Seeger, "Using
 * the Nyström method to speed up kernel machines", NIPS 2001):
 *
 *   x' = L^-1 (k(z_1, x), ..., k(z_c, x)),    L L' = the Gram matrix of the centres
 *
 * so that x'.z' is the kernel of the nearest functions that the centres span: exact at the centres.
 * A linear model of x' is the sum of kernels about the centres with the same norm, so that ridge
 * behind it, without an intercept, is kernel ridge with inducing points. Centres that the others
 * span to rounding are left out. */
#include "features/columns/row_chunk.h"
#include "features/columns/stages.h"
#include "features/made/kernel_map.h"
#include "features/made/rbf.h"

#include "kernel/landmarks/pivoted_cholesky.h"
#include "math/products/cholesky.h"

#include <math.h>
#include <string.h>

enum { MOST_CENTRES = 20000, CHUNK = 16 };
enum { PICK_UNIFORM, PICK_KMEANS, PICK_PIVOTS };

/* What is left of a centre's k(z, z) below this part is rounding. */
static const double rounding = 1e-10;

static const margin_option options[] = {
    MG_INTEGER("centres", "500", "how many centres, and columns", .low = 1, .high = MOST_CENTRES),
    MG_CHOICE("pick", "rpcholesky", "uniform|kmeans|rpcholesky",
              "rows drawn at random, the means of clusters, or rows drawn where those before leave "
              "most of the kernel (randomly pivoted Cholesky)"),
    MG_OPTION_KERNEL("rbf", MG_KERNEL_CHOICES,
                     "k(x, z): x.z, (gamma x.z + coef0)^degree, exp(-gamma |x-z|^2), exp(x.z), or "
                     "exp(-gamma |x-z|_1)"),
    MG_OPTIONS_KERNEL_SHAPE,
};

static const mg_option_value *option(const mg_option_value *values, const char *name) {
    return mg_option_named(&mg_stage_nystroem.info, values, name);
}

/* ---- Centres --------------------------------------------------------------------------------- */

static margin_status find_pivots(const mg_pivoting *task, const margin_data *data, double *roots,
                                 double *squares, double *centres, int64_t *count) {
    double *factor = NULL, left;
    int64_t *pivots = NULL;
    margin_status status = MARGIN_OK;
    if (mg_kernel_basis_of(task->kernel->kind) == MG_OF_SQUARES)
        MG_GO(mg_kernel_fail(mg_row_squares(task->context, task->x, squares), task->error));
    for (int64_t i = 0; i < task->count; i++)
        roots[i] = data->weights.values
                       ? sqrt(mg_vector_f64(&data->weights, mg_selected_row(data, i)))
                       : 1.0;
    MG_GO_NEW(task->context->heap, factor, task->count * task->most, "the choice of centres",
              task->error);
    MG_GO_NEW(task->context->heap, pivots, task->most, "the choice of centres", task->error);
    MG_GO(mg_pivoted_cholesky(task, factor, pivots, count, &left));
    for (int64_t k = 0; k < *count; k++)
        mg_row_expand(task->x, mg_selected_row(data, pivots[k]), centres + k * task->x->columns);
done:
    MG_FREE(task->context->heap, pivots, factor);
    return status;
}

static margin_status pivot_centres(margin_context *context, const margin_data *data,
                                   const mg_kernel *kernel, int64_t most, double *centres,
                                   int64_t *count, margin_error *error) {
    const int64_t rows = mg_selected_rows(data);
    double *numbers;
    MG_NEW(context->heap, numbers, rows + data->x.rows, "the choice of centres", error);
    const mg_pivoting task = {.context = context,
                              .kernel = kernel,
                              .x = &data->x,
                              .rows = data->selection,
                              .count = rows,
                              .scale = numbers,
                              .squares = numbers + rows,
                              .most = MG_MIN(most, rows),
                              .seed = context->options.seed,
                              .error = error};
    const margin_status status = find_pivots(&task, data, numbers, numbers + rows, centres, count);
    mg_free(context->heap, numbers);
    return status;
}

static margin_status choose_centres(margin_context *context, const margin_data *data,
                                    const mg_fitted_stage *fitted, const mg_kernel *kernel,
                                    double *centres, int64_t *count, margin_error *error) {
    const mg_option_value *values = fitted->options;
    const int64_t pick = option(values, "pick")->integer;
    const int64_t most = option(values, "centres")->integer;
    const double *drawn = mg_stage_drawn(fitted, "centres", count);
    if (drawn && *count <= most) {
        memcpy(centres, drawn, (size_t)(*count * data->x.columns) * sizeof *drawn);
        return MARGIN_OK;
    }
    const mg_rbf_wish wish = {.pick = pick == PICK_KMEANS ? MG_RBF_KMEANS : MG_RBF_SAMPLE,
                              .centres = most};
    if (pick == PICK_PIVOTS)
        return pivot_centres(context, data, kernel, most, centres, count, error);
    return mg_rbf_centres(context, data, &wish, centres, count, error);
}

/* ---- The Gram matrix of the centres ---------------------------------------------------------- */

typedef struct centre_gram {
    margin_context *context;
    int64_t count, rank;
    double *gram;     /* count x count */
    double *lower;    /* count x count: rows in the order of `order` */
    double *diagonal; /* count: what is left */
    int64_t *order;   /* count */
} centre_gram;

/* Pivoted Cholesky, the largest first, until only rounding is left. Centres of a model are in that
 * order: of two that are equally large rounding must not choose the other one. */
static margin_status factor(centre_gram *g, bool ordered, margin_error *error) {
    const mg_vector_ops *ops = mg_vector_ops_for(mg_isa_level());
    const int64_t n = g->count;
    for (int64_t i = 0; i < n; i++) {
        g->order[i] = i;
        g->diagonal[i] = g->gram[i * (n + 1)];
    }
    for (g->rank = 0; g->rank < n; g->rank++) {
        const int64_t k = g->rank;
        int64_t best = k;
        if (mg_cancelled(g->context)) return mg_fail_cancelled(error);
        for (int64_t i = k + 1; i < n && !ordered; i++)
            if (g->diagonal[g->order[i]] > g->diagonal[g->order[best]]) best = i;
        const int64_t pivot = g->order[best];
        if (!(g->diagonal[pivot] > rounding * g->gram[pivot * (n + 1)])) return MARGIN_OK;
        g->order[best] = g->order[k];
        g->order[k] = pivot;
        const double root = sqrt(g->diagonal[pivot]);
        g->lower[pivot * n + k] = root;
        for (int64_t i = k + 1; i < n; i++) {
            double *row = g->lower + g->order[i] * n;
            row[k] =
                (g->gram[g->order[i] * n + pivot] - ops->dot(row, g->lower + pivot * n, k)) / root;
            g->diagonal[g->order[i]] -= row[k] * row[k];
        }
    }
    return MARGIN_OK;
}

/* L^-1 of the centres that are kept, in their order. */
static margin_status invert(const centre_gram *g, double *inverse, margin_error *error) {
    const int64_t n = g->rank;
    double *lower = NULL, *column = NULL;
    margin_status status = MARGIN_OK;
    MG_GO_NEW(g->context->heap, lower, n * n, "the Gram matrix of the centres", error);
    MG_GO_NEW(g->context->heap, column, n, "the Gram matrix of the centres", error);
    for (int64_t i = 0; i < n; i++)
        memcpy(lower + i * n, g->lower + g->order[i] * g->count, (size_t)(i + 1) * sizeof *lower);
    memset(inverse, 0, (size_t)(n * n) * sizeof *inverse);
    for (int64_t j = 0; j < n; j++) {
        if (mg_cancelled(g->context)) MG_GO(mg_fail_cancelled(error));
        memset(column, 0, (size_t)n * sizeof *column);
        column[j] = 1.0;
        mg_cholesky_solve_lower(mg_isa_level(), n - j, lower + j * (n + 1), n, column + j);
        for (int64_t i = j; i < n; i++)
            inverse[i * n + j] = column[i];
    }
done:
    MG_FREE(g->context->heap, column, lower);
    return status;
}

static margin_status make_gram(centre_gram *g, const mg_kernel *kernel, const double *centres,
                               int64_t columns, margin_error *error) {
    const margin_matrix z = margin_dense_f64(centres, g->count, columns, columns);
    double *squares;
    MG_NEW(g->context->heap, squares, g->count, "the Gram matrix of the centres", error);
    margin_status status = mg_row_squares(g->context, &z, squares);
    const mg_kernel_block block = {.x = &z,
                                   .z = &z,
                                   .x_count = g->count,
                                   .z_count = g->count,
                                   .x_squares = squares,
                                   .z_squares = squares};
    if (status < 0)
        status = mg_kernel_fail(status, error);
    else
        status = mg_kernel_fill(g->context, kernel, &block, g->gram, g->count, error);
    mg_free(g->context->heap, squares);
    return status;
}

/* ---- Fit ------------------------------------------------------------------------------------- */

static margin_status nystroem_keep(const centre_gram *g, const mg_kernel *kernel,
                                   const double *centres, mg_fitted_stage *fitted,
                                   margin_error *error) {
    const int64_t n = g->rank, columns = fitted->columns_in;
    double *kept, *inverse, *numbers;
    MG_TRY(mg_bag_add(&fitted->bag, "centres", MARGIN_F64, n, columns, &kept, error));
    MG_TRY(mg_bag_add(&fitted->bag, "inverse", MARGIN_F64, n, n, &inverse, error));
    MG_TRY(mg_bag_add(&fitted->bag, "kernel", MARGIN_F64, 4, 0, &numbers, error));
    for (int64_t k = 0; k < n; k++)
        memcpy(kept + k * columns, centres + g->order[k] * columns, (size_t)columns * sizeof *kept);
    numbers[0] = (double)kernel->kind;
    numbers[1] = kernel->gamma;
    numbers[2] = kernel->coef0;
    numbers[3] = (double)kernel->degree;
    fitted->columns_out = n;
    MG_TRY(invert(g, inverse, error));
    return mg_columns_numbered(fitted->heap, "nystroem", fitted->columns_out, &fitted->columns,
                               error);
}

static margin_status fit_centres(margin_context *context, const mg_kernel *kernel,
                                 const double *centres, int64_t count, mg_fitted_stage *fitted,
                                 margin_error *error) {
    centre_gram g = {.context = context, .count = count};
    double *numbers = NULL;
    margin_status status;
    MG_GO_NEW(context->heap, numbers, 2 * count * count + count, "the Gram matrix of the centres",
              error);
    MG_GO_NEW(context->heap, g.order, count, "the Gram matrix of the centres", error);
    g.gram = numbers;
    g.lower = numbers + count * count;
    g.diagonal = numbers + 2 * count * count;
    MG_GO(make_gram(&g, kernel, centres, fitted->columns_in, error));
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(g.gram[i * (count + 1)]))
            MG_GO(mg_fail(error, MG_DATA(OVERFLOW),
                          "nystroem: kernel values are beyond double precision; scale the columns "
                          "first (minmax | nystroem) or use kernel=rbf"));
    MG_GO(factor(&g, fitted->stored != NULL, error));
    if (g.rank == 0)
        MG_GO(mg_fail(error, MARGIN_ERROR_DATA,
                      "nystroem: the kernel is 0 at all centres; take another kernel"));
    mg_log(context, MARGIN_LOG_NOTE, "nystroem makes %lld columns%s", (long long)g.rank,
           g.rank < count ? ": the other centres are sums of these" : "");
    status = nystroem_keep(&g, kernel, centres, fitted, error);
done:
    MG_FREE(context->heap, g.order, numbers);
    return status;
}

static margin_status nystroem_fit(margin_context *context, const margin_data *data,
                                  const mg_option_value *values, mg_fitted_stage *fitted,
                                  margin_error *error) {
    const int64_t most = option(values, "centres")->integer;
    double *centres = NULL;
    int64_t count = 0;
    mg_kernel kernel;
    margin_status status;
    MG_TRY(mg_map_kernel(context, &mg_stage_nystroem.info, data, values, &kernel, error));
    MG_NEW(context->heap, centres, most * data->x.columns, "the centres", error);
    MG_GO(choose_centres(context, data, fitted, &kernel, centres, &count, error));
    if (count == 0)
        MG_GO(mg_fail(error, MARGIN_ERROR_DATA,
                      "nystroem: the kernel is 0 at all rows; take another kernel"));
    status = fit_centres(context, &kernel, centres, count, fitted, error);
done:
    mg_free(context->heap, centres);
    return status;
}

/* ---- Use ------------------------------------------------------------------------------------- */

typedef struct nystroem_view {
    mg_kernel kernel;
    margin_matrix centres, inverse;
    const mg_row_ops *ops;
    mg_isa isa;
    double *zero;     /* count */
    double squares[]; /* count: of the centres; then the zeros */
} nystroem_view;

/* As the options say, but for a gamma that they do not. */
static margin_status check_kernel(const mg_fitted_stage *fitted, const double *numbers,
                                  mg_kernel *kernel, margin_error *error) {
    const mg_kernel_choice choice = mg_kernel_options_of(&mg_stage_nystroem.info, fitted->options);
    *kernel = choice.kernel;
    MG_REQUIRE(numbers[0] == (double)kernel->kind && numbers[2] == kernel->coef0 &&
                   numbers[3] == (double)kernel->degree && numbers[1] >= 0 &&
                   (choice.rule != MG_GAMMA_GIVEN || numbers[1] == kernel->gamma),
               error, MARGIN_ERROR_MODEL, "the stage nystroem has another kernel than it says");
    kernel->gamma = numbers[1];
    return MARGIN_OK;
}

static margin_status nystroem_attach(mg_fitted_stage *fitted, margin_error *error) {
    const int64_t n = fitted->columns_out, columns = fitted->columns_in;
    const double *centres, *inverse, *numbers;
    const mg_bag *bag = &fitted->bag;
    mg_kernel kernel;
    MG_TRY(mg_bag_numbers(bag, "kernel", 4, 0, &numbers, error));
    MG_TRY(mg_bag_numbers(bag, "centres", n, columns, &centres, error));
    MG_TRY(mg_bag_numbers(bag, "inverse", n, n, &inverse, error));
    MG_REQUIRE(bag->count == 3 && fitted->columns.count == n, error, MARGIN_ERROR_MODEL,
               "the stage nystroem has other centres than it says");
    MG_TRY(check_kernel(fitted, numbers, &kernel, error));
    const int64_t bytes = (int64_t)sizeof(nystroem_view) + 2 * n * (int64_t)sizeof(double);
    nystroem_view *view = mg_new_zero(fitted->heap, bytes, 1);
    if (!view) return mg_no_memory(fitted->heap, bytes, 1, "a stage", error);
    view->kernel = kernel;
    view->centres = margin_dense_f64(centres, n, columns, columns);
    view->inverse = margin_dense_f64(inverse, n, n, n);
    view->isa = mg_isa_level();
    view->ops = mg_row_ops_for(&view->centres, view->isa);
    view->zero = view->squares + n;
    for (int64_t k = 0; k < n; k++)
        view->squares[k] = view->ops->square(&view->centres, k);
    fitted->view = view;
    return MARGIN_OK;
}

/* k(z_k, x) of one dense row. */
static void kernel_values(const nystroem_view *view, const double *x, double *out) {
    const int64_t n = view->centres.rows, columns = view->centres.columns;
    const margin_matrix row = margin_dense_f64(x, 1, columns, columns);
    const bool distances = mg_kernel_basis_of(view->kernel.kind) == MG_OF_DISTANCES;
    for (int64_t k = 0; k < n; k++)
        out[k] = distances ? 0.0 : view->ops->dot(&view->centres, k, x);
    for (int64_t k = 0; k < n && distances; k++) {
        const double *z = (const double *)view->centres.values + k * columns;
        for (int64_t j = 0; j < columns; j++)
            out[k] += fabs(x[j] - z[j]);
    }
    const double square = view->ops->square(&row, 0);
    mg_kernel_finish(view->isa, &view->kernel, square, view->squares, out, n);
    for (int64_t k = 0; isnan(square) && k < n; k++)
        out[k] = square; /* a distance clipped at 0 hides a missing value */
}

/* In place, the last first: row k of the inverse ends at column k. */
static void nystroem_apply_row(const mg_fitted_stage *fitted, const double *in, double *out) {
    const nystroem_view *view = fitted->view;
    kernel_values(view, in, out);
    for (int64_t k = view->centres.rows - 1; k >= 0; k--)
        out[k] = view->ops->dot(&view->inverse, k, out);
    mg_map_flush(out, view->centres.rows);
}

/* A chunk of rows reads the inverse once; a row's bits do not depend on those beside it. */
typedef struct nystroem_map {
    const nystroem_view *view;
    const margin_matrix *in;
    margin_matrix *out;
    double *scratch; /* per worker: a row of `in`, a chunk of kernel values, one of features */
    int64_t size;
} nystroem_map;

static margin_status map_block(const mg_block *block, void *argument) {
    const nystroem_map *map = argument;
    const nystroem_view *view = map->view;
    const int64_t n = view->centres.rows, last = block->first + block->count;
    double *row = map->scratch + block->worker * map->size;
    double *values = row + map->in->columns, *features = values + CHUNK * n;
    for (int64_t first = block->first; first < last; first += CHUNK) {
        const int64_t count = MG_MIN(CHUNK, last - first);
        const margin_matrix rows = margin_dense_f64(values, count, n, n);
        for (int64_t i = 0; i < count; i++) {
            mg_row_expand(map->in, first + i, row);
            kernel_values(view, row, values + i * n);
        }
        view->ops->scores(&rows, 0, count, view->inverse.values, view->zero, n, features);
        mg_map_flush(features, count * n);
        for (int64_t i = 0; i < count; i++)
            mg_row_store(map->out, first + i, features + i * n);
    }
    return MARGIN_OK;
}

static margin_status nystroem_apply(margin_context *context, const mg_fitted_stage *fitted,
                                    const margin_matrix *in, mg_matrix_buffer *out,
                                    margin_error *error) {
    nystroem_map map = {.view = fitted->view, .in = in};
    const int64_t n = fitted->columns_out;
    mg_matrix_buffer made = {0};
    margin_status status;
    map.size = in->columns + 2 * CHUNK * n;
    MG_GO_NEW(context->heap, map.scratch, mg_threads(context) * map.size, "scratch for a stage",
              error);
    MG_GO(mg_matrix_new_dense(context->heap, in->rows, n, in->value_type,
                              "the features of the kernel", &made, error));
    map.out = &made.view;
    MG_GO(mg_sweep_each(context, in->rows, 64, map_block, &map, error));
    *out = made;
    made = (mg_matrix_buffer){0};
done:
    mg_matrix_buffer_free(&made);
    mg_free(context->heap, map.scratch);
    return status;
}

const mg_stage mg_stage_nystroem = {
    .info = {.name = "nystroem",
             .kind = MARGIN_STAGE,
             .summary = "a kernel seen from some rows: features whose dot products are nearly it",
             .formula = "x' = L^-1 (k(z_1, x), ..., k(z_c, x)),  L L' = (k(z_i, z_j))",
             .source = "Williams and Seeger 2001; Chen, Epperly, Tropp and Webber 2025 "
                       "(rpcholesky)",
             .page = "docs/stages.md",
             .abilities = MARGIN_CAN_SPARSE | MARGIN_CAN_WEIGHTS,
             MG_OPTION_TABLE(options)},
    .fit = nystroem_fit,
    .attach = nystroem_attach,
    .apply_row = nystroem_apply_row,
    .apply = nystroem_apply};
