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

#include "base/random.h"
#include "kernel/landmarks/pivoted_cholesky.h"
#include "learn/kernels/kernel_sums.h"
#include "math/products/cholesky.h"

#include <math.h>
#include <string.h>

enum { MOST_CENTRES = 20000, GROUP = MG_TRIANGLE_GROUP };
_Static_assert((int)MG_TRIANGLE_WIDTH == (int)MG_ROWS_AT_ONCE, "rows are side by side");
#define KEPT_BYTES ((int64_t)2 << 30) /* of features, and of what chooses centres */
enum { PICK_UNIFORM, PICK_KMEANS, PICK_PIVOTS };

/* What is left of a centre's k(z, z) below this part is rounding. */
static const double rounding = 1e-10;

static const margin_option options[] = {
    MG_INTEGER("centres", "500", "how many centres, and columns", .low = 1, .high = MOST_CENTRES,
               MG_RICHER),
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

/* Rows of the choice: all, if its factor takes no more than features that are kept; else as many as
 * it has room for in half the memory of the data (or CHOICE_BYTES), but two for each centre,
 * one drawn from each of so many runs of rows. */
static int64_t choice_rows(const margin_context *context, const margin_data *data, int64_t most) {
    enum { CHOICE_BYTES = 64 << 20, BESIDE = 70 }; /* numbers of a row beside the factor */
    const int64_t rows = mg_selected_rows(data), data_bytes = rows * mg_row_bytes(&data->x);
    const int64_t row = (most + BESIDE) * (int64_t)sizeof(double);
    const int64_t kept = mg_context_room(context, KEPT_BYTES) / row;
    const int64_t fitting = MG_MAX(data_bytes / 2, CHOICE_BYTES) / row;
    return rows <= kept ? rows : MG_MIN(rows, MG_MAX(MG_MIN(fitting, kept), 2 * most));
}

static int64_t drawn_row(const margin_context *context, const margin_data *data, int64_t i,
                         int64_t count) {
    const double u = mg_random_unit(context->options.seed, MG_RANDOM_SAMPLE, (uint64_t)i);
    const int64_t rows = mg_selected_rows(data);
    const int64_t first = (int64_t)((double)i / (double)count * (double)rows);
    const int64_t last = (int64_t)((double)(i + 1) / (double)count * (double)rows);
    return mg_selected_row(data, MG_MIN(first + (int64_t)(u * (double)(last - first)), rows - 1));
}

typedef struct centre_choice {
    mg_arena arena;
    int64_t count, most;
    int64_t *rows, *pivots;           /* of x; places in rows */
    double *roots, *squares, *factor; /* of the weights of rows; of all rows of x */
} centre_choice;

static margin_status choice_make(margin_context *context, const margin_data *data,
                                 const mg_kernel *kernel, centre_choice *c, margin_error *error) {
    const int64_t m = c->count;
    const bool squares = mg_kernel_basis_of(kernel->kind) == MG_OF_SQUARES;
    MG_TRY(MG_PIECES(&c->arena, "the choice of centres", error, MG_PIECE(c->rows, m),
                     MG_PIECE(c->roots, m), MG_PIECE(c->squares, squares ? data->x.rows : 0),
                     MG_PIECE(c->factor, m * c->most), MG_PIECE(c->pivots, c->most)));
    for (int64_t i = 0; i < m; i++) {
        c->rows[i] =
            m < mg_selected_rows(data) ? drawn_row(context, data, i, m) : mg_selected_row(data, i);
        c->roots[i] = sqrt(mg_row_weight(data, c->rows[i]));
    }
    return squares ? mg_kernel_fail(mg_row_squares(context, &data->x, NULL, c->squares), error)
                   : MARGIN_OK;
}

static margin_status pivot_centres(margin_context *context, const margin_data *data,
                                   const mg_kernel *kernel, int64_t most, double *centres,
                                   int64_t *count, margin_error *error) {
    centre_choice c = {.count = choice_rows(context, data, most)};
    double left;
    margin_status status;
    mg_arena_init(&c.arena, context->heap);
    c.most = MG_MIN(most, c.count);
    MG_GO(choice_make(context, data, kernel, &c, error));
    const mg_pivoting task = {.context = context,
                              .kernel = kernel,
                              .points = {.x = data->x, .rows = c.rows, .count = c.count},
                              .scale = c.roots,
                              .squares = c.squares,
                              .most = c.most,
                              .seed = context->options.seed,
                              .error = error};
    MG_GO(mg_pivoted_cholesky(&task, c.factor, c.pivots, count, &left));
    for (int64_t k = 0; k < *count; k++)
        mg_row_expand(&data->x, c.rows[c.pivots[k]], centres + k * data->x.columns);
done:
    mg_arena_free(&c.arena);
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

/* The rows of L in the order of the centres, where the Gram matrix was. */
static void take_order(centre_gram *g) {
    const int64_t n = g->rank;
    for (int64_t i = 0; i < n; i++)
        memcpy(g->gram + i * n, g->lower + g->order[i] * g->count,
               (size_t)(i + 1) * sizeof *g->gram);
}

/* L^-1, once its rows are in order. */
static margin_status invert(const centre_gram *g, double *inverse, margin_error *error) {
    const int64_t n = g->rank;
    double *column;
    MG_NEW(g->context->heap, column, n, "the Gram matrix of the centres", error);
    memset(inverse, 0, (size_t)(n * n) * sizeof *inverse);
    for (int64_t j = 0; j < n && !mg_cancelled(g->context); j++) {
        memset(column, 0, (size_t)n * sizeof *column);
        column[j] = 1.0;
        mg_cholesky_solve_lower(mg_isa_level(), n - j, g->gram + j * (n + 1), n, column + j);
        for (int64_t i = j; i < n; i++)
            inverse[i * n + j] = column[i];
    }
    mg_free(g->context->heap, column);
    return mg_cancelled(g->context) ? mg_fail_cancelled(error) : MARGIN_OK;
}

static margin_status make_gram(centre_gram *g, const mg_kernel *kernel, const double *centres,
                               int64_t columns, margin_error *error) {
    const margin_matrix z = margin_dense_f64(centres, g->count, columns, columns);
    double *squares;
    MG_NEW(g->context->heap, squares, g->count, "the Gram matrix of the centres", error);
    margin_status status = mg_row_squares(g->context, &z, NULL, squares);
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
    margin_status status;
    MG_GO_NEW(context->heap, g.gram, count * count, "the Gram matrix of the centres", error);
    MG_GO_NEW(context->heap, g.lower, count * count, "the Gram matrix of the centres", error);
    MG_GO_NEW(context->heap, g.diagonal, count, "the Gram matrix of the centres", error);
    MG_GO_NEW(context->heap, g.order, count, "the Gram matrix of the centres", error);
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
    take_order(&g);
    mg_free(context->heap, g.lower);
    g.lower = NULL;
    status = nystroem_keep(&g, kernel, centres, fitted, error);
done:
    MG_FREE(context->heap, g.order, g.diagonal, g.lower, g.gram);
    return status;
}

/* Bytes at the peak of a fit of the stage: of what chooses centres, or of two matrices of them. */
static double bytes_of(const margin_context *context, const margin_data *data, bool pivots,
                       double centres) {
    enum {
        BESIDE = 70,
        BLOCK = 64,
        OF_A_THREAD = 80 << 10,
        DEPTH = 256,
        SIDES = 192,
        ENDS = 1 << 16
    };
    const double columns = (double)data->x.columns;
    const double rows = pivots ? (double)choice_rows(context, data, (int64_t)centres) : 0.0;
    const double choice = 8.0 * rows * (centres + BESIDE) + 8.0 * (double)data->x.rows +
                          (rows > 0.0 ? 8.0 * BLOCK * (2.0 * BLOCK + centres) : 0.0),
                 kept = 8.0 * centres * (2.0 * centres + columns);
    return 8.0 * centres * columns + fmax(choice, kept) + ENDS +
           mg_threads(context) * (OF_A_THREAD + 8.0 * SIDES * fmin(columns, DEPTH));
}

/* Before it begins. A linear learner behind it takes at most so much (learn/announce.c). */
static margin_status check_memory(const margin_context *context, const margin_data *data,
                                  const mg_fitted_stage *fitted, margin_error *error) {
    const mg_option_value *values = fitted->options;
    enum { OF_A_ROW = 400, OF_A_PAIR = 100, SCRATCH = 768 << 10, OF_A_THREAD = 128 << 10 };
    const bool pivots = option(values, "pick")->integer == PICK_PIVOTS && !fitted->stored;
    const double rows = (double)mg_selected_rows(data),
                 limit = (double)mg_heap_limit(context->heap),
                 most = fmin((double)option(values, "centres")->integer, rows),
                 left = 2.0 * (double)mg_context_room(context, INT64_MAX),
                 bytes = bytes_of(context, data, pivots, most);
    const double learner = OF_A_PAIR * most * most + OF_A_ROW * rows + SCRATCH +
                           OF_A_THREAD * (double)mg_threads(context);
    double fewer = most;
    if (limit == 0.0 || bytes <= left) return MARGIN_OK;
    while (fewer >= 2.0 && bytes_of(context, data, pivots, fewer) > left)
        fewer = floor(fewer / 2.0);
    return mg_fail(
        error, MG_CAUSE(MARGIN_ERROR_LIMIT, MEMORY_LIMIT),
        "nystroem with %s centres of %s rows takes %s of memory beside the data, and there is room "
        "for %s: give more memory (with a limit of %s a linear learner has room behind it)%s%s",
        mg_number(most).text, mg_number(rows).text, mg_bytes((uint64_t)bytes).text,
        mg_bytes((uint64_t)left).text,
        mg_bytes((uint64_t)(limit - left + 1.05 * fmax(2.0 * bytes, bytes + learner))).text,
        fewer >= 2.0 ? ", or take fewer centres: centres=" : "",
        fewer >= 2.0 ? mg_number(fewer).text : "");
}

static margin_status nystroem_fit(margin_context *context, const margin_data *data,
                                  const mg_option_value *values, mg_fitted_stage *fitted,
                                  margin_error *error) {
    const int64_t most = option(values, "centres")->integer;
    double *centres;
    int64_t count = 0;
    mg_kernel kernel;
    MG_SCOPED_ARENA(arena, context->heap);
    MG_TRY(check_memory(context, data, fitted, error));
    MG_TRY(mg_map_kernel(context, &mg_stage_nystroem.info, data, values, &kernel, error));
    MG_ARENA_NEW(&arena, centres, most * data->x.columns, "the centres", error);
    MG_TRY(choose_centres(context, data, fitted, &kernel, centres, &count, error));
    if (count == 0)
        MG_TRY(mg_fail(error, MARGIN_ERROR_DATA,
                       "nystroem: the kernel is 0 at all rows; take another kernel"));
    return fit_centres(context, &kernel, centres, count, fitted, error);
}

/* ---- Use ------------------------------------------------------------------------------------- */

typedef struct nystroem_view {
    mg_kernel kernel;
    margin_matrix centres, inverse;
    const mg_row_ops *ops;
    const mg_triangle_ops *triangle;
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

/* |x|^2 of a dense row, as inner_products has it. */
static double square_of(const nystroem_view *view, const double *x) {
    const int64_t columns = view->centres.columns;
    const margin_matrix row = margin_dense_f64(x, 1, columns, columns);
    double square;
    if (columns > MG_INNER_COLUMNS) return view->ops->square(&row, 0);
    view->triangle->one(x, columns, 1, columns, x, &square);
    return square;
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
    view->triangle = mg_triangle_ops_for(view->isa);
    view->zero = view->squares + n;
    for (int64_t k = 0; k < n; k++)
        view->squares[k] = square_of(view, centres + k * columns);
    fitted->view = view;
    return MARGIN_OK;
}

/* x.z_k of rows side by side, for which the centres are read once: the same bits for one. Of long
 * rows by vectors along them. */
static void inner_products(const nystroem_view *view, const double *x, int64_t count, double *out) {
    const int64_t n = view->centres.rows, columns = view->centres.columns;
    const margin_matrix rows = margin_dense_f64(x, count, columns, columns);
    const double *centres = view->centres.values;
    double side[MG_INNER_COLUMNS * MG_ROWS_AT_ONCE], part[GROUP * MG_ROWS_AT_ONCE];
    if (columns > MG_INNER_COLUMNS) {
        view->ops->scores(&rows, 0, count, centres, view->zero, n, out);
        return;
    }
    for (int64_t j = 0; j < columns && count > 1; j++)
        for (int64_t i = 0; i < MG_ROWS_AT_ONCE; i++)
            side[j * MG_ROWS_AT_ONCE + i] = i < count ? x[i * columns + j] : 0.0;
    for (int64_t k = 0; k < n; k += GROUP) {
        const int64_t some = MG_MIN(GROUP, n - k);
        if (count == 1)
            view->triangle->one(centres + k * columns, columns, some, columns, x, out + k);
        else
            view->triangle->many(centres + k * columns, columns, some, columns, side, part);
        for (int64_t i = 0; i < count && count > 1; i++)
            for (int64_t r = 0; r < some; r++)
                out[i * n + k + r] = part[r * MG_ROWS_AT_ONCE + i];
    }
}

/* k(z_k, x) of dense rows. */
static void nystroem_inner(const mg_fitted_stage *fitted, const double *x, int64_t count,
                           double *out) {
    const nystroem_view *view = fitted->view;
    const int64_t n = view->centres.rows, columns = view->centres.columns;
    const bool distances = mg_kernel_basis_of(view->kernel.kind) == MG_OF_DISTANCES;
    if (!distances) inner_products(view, x, count, out);
    for (int64_t i = 0; i < count; i++, x += columns, out += n) {
        for (int64_t k = 0; k < n && distances; k++) {
            const double *z = (const double *)view->centres.values + k * columns;
            out[k] = 0.0;
            for (int64_t j = 0; j < columns; j++)
                out[k] += fabs(x[j] - z[j]);
        }
        const double square = square_of(view, x);
        mg_kernel_finish(view->isa, &view->kernel, square, view->squares, out, n);
        /* A distance clipped at 0 hides a missing value; and sums of one row and of many, which end
         * at other zeros of the inverse, would not agree on a value beyond all numbers. */
        bool finite = !isnan(square);
        for (int64_t k = 0; k < n; k++)
            finite &= isfinite(out[k]) != 0;
        for (int64_t k = 0; k < n && !finite; k++)
            out[k] = (double)NAN;
    }
}

/* In place, the last first: rows of the inverse end where their group does, its zeros included. */
static void nystroem_apply_row(const mg_fitted_stage *fitted, const double *in, double *out) {
    const nystroem_view *view = fitted->view;
    const int64_t n = view->centres.rows;
    const double *inverse = view->inverse.values;
    double part[GROUP];
    nystroem_inner(fitted, in, 1, out);
    for (int64_t k = (n - 1) / GROUP * GROUP; k >= 0; k -= GROUP) {
        const int64_t rows = MG_MIN(GROUP, n - k);
        view->triangle->one(inverse + k * n, n, rows, k + rows, out, part);
        memcpy(out + k, part, (size_t)rows * sizeof *out);
    }
    mg_map_flush(out, n);
}

/* The same for rows side by side, for which the inverse is read once. */
static void nystroem_apply_rows(const mg_fitted_stage *fitted, const double *in, int64_t count,
                                double *scratch, double *out) {
    const nystroem_view *view = fitted->view;
    const int64_t n = view->centres.rows;
    const double *inverse = view->inverse.values;
    double part[GROUP * MG_ROWS_AT_ONCE];
    nystroem_inner(fitted, in, count, out);
    for (int64_t k = 0; k < n; k++)
        for (int64_t i = 0; i < MG_ROWS_AT_ONCE; i++)
            scratch[k * MG_ROWS_AT_ONCE + i] = i < count ? out[i * n + k] : 0.0;
    for (int64_t k = 0; k < n; k += GROUP) {
        const int64_t rows = MG_MIN(GROUP, n - k);
        view->triangle->many(inverse + k * n, n, rows, k + rows, scratch, part);
        for (int64_t i = 0; i < count; i++)
            for (int64_t r = 0; r < rows; r++)
                out[i * n + k + r] = part[r * MG_ROWS_AT_ONCE + i];
    }
    mg_map_flush(out, count * n);
}

/* A centre that is nearly a sum of others has large numbers in its row of the inverse, which cancel
 * over its kernel values and magnify their rounding: of each value by its own number, so that a
 * centre far out, whose values are large and its numbers small, blurs no column of others. */
static void nystroem_blur(const mg_fitted_stage *fitted, const double *in, double *scratch,
                          double *most) {
    const nystroem_view *view = fitted->view;
    const int64_t n = view->centres.rows;
    const double norm = sqrt(square_of(view, in));
    const double most_blur = 1e-6; /* whatever a file says that the inverse is */
    const double *inverse = view->inverse.values;
    nystroem_inner(fitted, in, 1, scratch);
    for (int64_t k = 0; k < n; k++)
        scratch[k] = mg_kernel_terms(&view->kernel, scratch[k], norm, sqrt(view->squares[k]));
    for (int64_t k = 0; k < n; k++, inverse += n) {
        double blur = 0.0;
        for (int64_t i = 0; i <= k; i++)
            blur += fmin(MG_ROUNDING * fabs(inverse[i]), most_blur) * scratch[i];
        most[k] = fmax(most[k], blur);
    }
}

bool mg_nystroem_kernel(const mg_fitted_stage *fitted, mg_kernel *kernel) {
    if (fitted->stage != &mg_stage_nystroem) return false;
    *kernel = ((const nystroem_view *)fitted->view)->kernel;
    return true;
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
    .apply_rows = nystroem_apply_rows,
    .inner = nystroem_inner,
    .blur = nystroem_blur,
    .kept_bytes = KEPT_BYTES};
