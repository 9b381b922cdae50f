/* Centres and width of radial basis functions. */
#include "features/made/rbf.h"

#include "base/random.h"
#include "cluster/centres/centre_squares.h"
#include "cluster/centres/kmeans.h"
#include "features/columns/column_moments.h"
#include "features/columns/row_chunk.h"
#include "features/columns/value_runs.h"

#include <math.h>
#include <string.h>

double mg_rbf_count(const mg_rbf_wish *wish, int64_t columns) {
    return wish->pick == MG_RBF_EVEN ? pow((double)wish->centres, (double)columns)
                                     : (double)wish->centres;
}

/* ---- Evenly spaced --------------------------------------------------------------------------- */

/* Place k of n from least to greatest; a single one lies in the middle. */
static double even_place(double least, double greatest, int64_t k, int64_t n) {
    if (n == 1) return least / 2 + greatest / 2;
    const double share = (double)k / (double)(n - 1);
    return k == n - 1 ? greatest : (1 - share) * least + share * greatest;
}

static margin_status even_centres(margin_context *context, const margin_data *data,
                                  const mg_rbf_wish *wish, double *centres, int64_t *count,
                                  margin_error *error) {
    const int64_t columns = data->x.columns;
    mg_column_moments moments;
    MG_TRY(mg_column_moments_make(context, data, NULL, MG_WANT_RANGE, &moments, error));
    *count = (int64_t)mg_rbf_count(wish, columns);
    for (int64_t k = 0; k < *count; k++)
        for (int64_t j = columns - 1, rest = k; j >= 0; j--, rest /= wish->centres)
            centres[k * columns + j] = even_place(moments.least[j], moments.greatest[j],
                                                  rest % wish->centres, wish->centres);
    mg_column_moments_free(&moments);
    return MARGIN_OK;
}

/* ---- A sample of the rows --------------------------------------------------------------------
 * Without replacement and with chances in proportion to the weights: the least of exponential
 * numbers with the weights as rates (Efraimidis and Spirakis, Information Processing Letters 97,
 * 2006). Rows that are equal to a centre are passed over. */

static bool is_new(const double *centres, int64_t count, int64_t columns, const double *centre) {
    for (int64_t k = 0; k < count; k++)
        if (memcmp(centres + k * columns, centre, (size_t)columns * sizeof *centre) == 0)
            return false;
    return true;
}

static margin_status sample_centres(margin_context *context, const margin_data *data,
                                    const mg_rbf_wish *wish, double *centres, int64_t *count,
                                    margin_error *error) {
    enum { POLL = 1024 };
    const int64_t rows = mg_selected_rows(data), columns = data->x.columns;
    mg_value_run *drawn; /* the exponential number, and the row in place of a weight */
    MG_NEW(context->heap, drawn, 2 * rows, "a sample of the rows", error);
    *count = 0;
    for (int64_t i = 0; i < rows; i++) {
        const double u = mg_random_unit(context->options.seed, MG_RANDOM_SAMPLE, (uint64_t)i);
        drawn[i] =
            (mg_value_run){-log1p(-u) / mg_row_weight(data, mg_selected_row(data, i)), (double)i};
        if (i % POLL == 0 && mg_cancelled(context)) goto done;
    }
    if (!mg_sort_values(context, drawn, rows, drawn + rows)) goto done;
    for (int64_t i = 0; i < rows && *count < wish->centres; i++) {
        double *centre = centres + *count * columns;
        if (i % POLL == 0 && mg_cancelled(context)) break;
        mg_row_expand(&data->x, mg_selected_row(data, (int64_t)drawn[i].weight), centre);
        *count += is_new(centres, *count, columns, centre);
    }
done:
    mg_free(context->heap, drawn);
    return mg_cancelled(context) ? mg_fail_cancelled(error) : MARGIN_OK;
}

/* ---- k-means --------------------------------------------------------------------------------- */

static margin_status kmeans_centres(margin_context *context, const margin_data *data,
                                    const mg_rbf_wish *wish, double *centres, int64_t *count,
                                    margin_error *error) {
    mg_kmeans_task task = {.context = context,
                           .x = &data->x,
                           .index = data->selection,
                           .count = mg_selected_rows(data),
                           .k = wish->centres,
                           .start = MG_START_PLUS,
                           .seed = context->options.seed,
                           .restarts = 1,
                           .max_iterations = 100, /* near the means is near enough for centres */
                           .tolerance = 1e-4,
                           .error = error};
    double *weights, *sizes;
    mg_kmeans_result result;
    MG_SCOPED_ARENA(arena, context->heap);
    MG_ARENA_NEW(&arena, weights, task.count, "the weights of the rows", error);
    MG_ARENA_NEW(&arena, sizes, task.k, "the sizes of the clusters", error);
    for (int64_t i = 0; i < task.count; i++)
        weights[i] = mg_row_weight(data, mg_selected_row(data, i));
    if (data->weights.values) task.weight = weights;
    MG_TRY(mg_kmeans(&task, centres, sizes, NULL, &result));
    *count = task.k;
    return MARGIN_OK;
}

margin_status mg_rbf_centres(margin_context *context, const margin_data *data,
                             const mg_rbf_wish *wish, double *centres, int64_t *count,
                             margin_error *error) {
    if (wish->pick == MG_RBF_EVEN) return even_centres(context, data, wish, centres, count, error);
    return wish->pick == MG_RBF_KMEANS ? kmeans_centres(context, data, wish, centres, count, error)
                                       : sample_centres(context, data, wish, centres, count, error);
}

/* ---- Width ----------------------------------------------------------------------------------- */

enum { MOST_DISTANCES = 1 << 20 };

typedef struct distance_walk {
    const margin_data *data;
    const double *packed;
    int64_t centres, stride; /* every stride-th row */
    mg_isa isa;
    double *rows;        /* per worker: a row and its squares */
    mg_value_run *found; /* centres per row; weight 0: none */
} distance_walk;

static margin_status find_distances(void *argument, int64_t task, int worker) {
    const distance_walk *walk = argument;
    const int64_t columns = walk->data->x.columns, i = task * walk->stride;
    double *row = walk->rows + worker * (columns + walk->centres), *squares = row + columns;
    mg_value_run *found = walk->found + task * walk->centres;
    mg_row_expand(&walk->data->x, mg_selected_row(walk->data, i), row);
    mg_centre_squares(walk->isa, row, columns, walk->packed, walk->centres, squares);
    for (int64_t k = 0; k < walk->centres; k++)
        found[k] = (mg_value_run){
            sqrt(squares[k]),
            squares[k] > 0 ? mg_row_weight(walk->data, mg_selected_row(walk->data, i)) : 0.0};
    return MARGIN_OK;
}

static margin_status take_median(const margin_context *context, mg_value_run *found, int64_t count,
                                 mg_value_run *scratch, double *sigma, margin_error *error) {
    int64_t kept = 0;
    for (int64_t k = 0; k < count; k++)
        if (found[k].weight > 0) found[kept++] = found[k];
    MG_REQUIRE(
        kept > 0, error, MARGIN_ERROR_DATA,
        "rbf: all distances of rows and centres are 0, so they have no median: every row is a "
        "centre and all are equal, or they are too close for squares; give sigma=, or bring "
        "the columns to one scale: minmax | rbf");
    if (!mg_sort_values(context, found, kept, scratch)) return mg_fail_cancelled(error);
    /* a row that is a centre may be away from it by rounding */
    const double median = mg_runs_median(found, kept);
    int64_t none = 0;
    while (found[none].value < 1e-10 * median)
        none++;
    *sigma = mg_runs_median(found + none, kept - none);
    return MARGIN_OK;
}

static margin_status median_width(margin_context *context, const margin_data *data,
                                  const double *centres, int64_t count, double *sigma,
                                  margin_error *error) {
    const int64_t rows = mg_selected_rows(data), columns = data->x.columns;
    const int64_t most = MG_MAX(MOST_DISTANCES / count, 1);
    distance_walk walk = {
        .data = data, .centres = count, .stride = (rows + most - 1) / most, .isa = mg_isa_level()};
    const int64_t looked = (rows + walk.stride - 1) / walk.stride, found = looked * count;
    double *packed;
    MG_SCOPED_ARENA(arena, context->heap);
    MG_TRY(MG_PIECES(&arena, "distances", error,
                     MG_PIECE(packed, mg_centres_packed(count, columns)),
                     MG_PIECE(walk.rows, mg_threads(context) * (columns + count)),
                     MG_PIECE(walk.found, 2 * found)));
    mg_centres_pack(centres, count, columns, packed);
    walk.packed = packed;
    MG_TRY(mg_parallel(context, looked, find_distances, &walk, error));
    return take_median(context, walk.found, found, walk.found + found, sigma, error);
}

margin_status mg_rbf_width(margin_context *context, const margin_data *data,
                           const mg_rbf_wish *wish, const double *centres, int64_t count,
                           double *sigma, margin_error *error) {
    *sigma = wish->sigma;
    if (wish->median) return median_width(context, data, centres, count, sigma, error);
    if (!wish->spacing) return MARGIN_OK;
    MG_REQUIRE(wish->pick == MG_RBF_EVEN && data->x.columns == 1 && count > 1, error,
               MARGIN_ERROR_DATA,
               "rbf: sigma=spacing is the distance of neighbouring centres: it needs pick=even, at "
               "least 2 centres and a single column; take sigma=median or a number");
    *sigma = (centres[count - 1] - centres[0]) / (double)(count - 1);
    MG_REQUIRE(*sigma > 0, error, MARGIN_ERROR_DATA,
               "rbf: the column is constant, so evenly spaced centres coincide");
    return MARGIN_OK;
}
