/* Mean and squared deviations without cancellation. Values are taken relative to the first one of
 * their column, so that all that follows is of the magnitude of the spread. Each block of rows is
 * read twice while it lies in cache, first for its means, then for the deviations from them with
 * the correction of Chan, Golub and LeVeque ("Algorithms for computing the sample variance", The
 * American Statistician, 1983, eq. 1.7); blocks are joined by their formula for two samples
 * (eq. 1.5). For CSR the zeros that are not stored come in as one value with the weight that is
 * left over. */
#include "features/columns/column_moments.h"

#include "features/columns/row_chunk.h"

#include <math.h>
#include <string.h>

/* A sum of weights, and what rounding took off it. */
typedef struct weight_sum {
    double sum, lost;
} weight_sum;

static weight_sum add_weight(weight_sum s, double w) {
    const double sum = s.sum + w, part = sum - s.sum;
    return (weight_sum){sum, s.lost + ((s.sum - (sum - part)) + (w - part))};
}

/* Arrays of one number per column each. */
typedef struct moment_state {
    int64_t rows, block_rows;          /* seen so far; in the block being added */
    weight_sum block_total;            /* weight of all rows of the block */
    double *least, *greatest, *stored; /* stored: how many values, NaNs included; CSR only */
    double *weight, *mean, *squares;
    double *block_stored, *block_weight; /* weight: of stored numbers */
    double *block_taken, *block_lost;    /* a weight_sum: of all that is stored, NaNs included */
    double *block_mean, *block_squares, *block_error; /* error: sum of weighted deviations */
} moment_state;

enum { RANGE_ARRAYS = 3, SPREAD_ARRAYS = 13 };

typedef struct moment_sweep {
    const margin_data *data;
    const double *shift; /* what the values of each column are taken relative to */
    bool sparse, spread;
    const mg_row_maker *maker; /* NULL: rows are there */
    int64_t room;              /* numbers of a worker: a row that is made, or a block of columns */
    double *made;
} moment_sweep;

static void state_init(void *memory, void *argument) {
    const moment_sweep *sweep = argument;
    const int64_t n = sweep->data->x.columns;
    moment_state *s = memory;
    double *next = (double *)(void *)(s + 1);
    memset(s, 0, sizeof *s);
    double **const arrays[] = {&s->least,       &s->greatest,   &s->stored,       &s->weight,
                               &s->mean,        &s->squares,    &s->block_stored, &s->block_weight,
                               &s->block_taken, &s->block_lost, &s->block_mean,   &s->block_squares,
                               &s->block_error};
    for (int k = 0; k < (sweep->spread ? SPREAD_ARRAYS : RANGE_ARRAYS); k++, next += n) {
        *arrays[k] = next;
        for (int64_t j = 0; j < n; j++)
            next[j] = k == 0 ? HUGE_VAL : k == 1 ? -HUGE_VAL : 0;
    }
}

/* ---- First reading: range, sums -------------------------------------------------------------- */

/* Comparisons with a NaN are false, so it changes nothing. */
static void add_range(moment_state *s, const mg_row_chunk *chunk, bool sparse) {
    const double *restrict v = chunk->values;
    if (sparse) {
        for (int64_t k = 0; k < chunk->count; k++) {
            const int64_t j = chunk->columns[k];
            s->least[j] = v[k] < s->least[j] ? v[k] : s->least[j];
            s->greatest[j] = v[k] > s->greatest[j] ? v[k] : s->greatest[j];
            s->stored[j] += 1;
        }
        return;
    }
    double *restrict least = s->least + chunk->first, *restrict greatest =
                                                          s->greatest + chunk->first;
    for (int64_t j = 0; j < chunk->count; j++) {
        least[j] = v[j] < least[j] ? v[j] : least[j];
        greatest[j] = v[j] > greatest[j] ? v[j] : greatest[j];
    }
}

static void add_sums(moment_state *s, const mg_row_chunk *chunk, const double *shifts, double w,
                     bool sparse) {
    const double *restrict v = chunk->values;
    if (sparse) {
        for (int64_t k = 0; k < chunk->count; k++) {
            const int64_t j = chunk->columns[k];
            const bool number = v[k] == v[k];
            s->block_stored[j] += 1;
            const weight_sum taken =
                add_weight((weight_sum){s->block_taken[j], s->block_lost[j]}, w);
            s->block_taken[j] = taken.sum;
            s->block_lost[j] = taken.lost;
            s->block_weight[j] += number ? w : 0;
            s->block_mean[j] += number ? w * (v[k] - shifts[j]) : 0;
        }
        return;
    }
    double *restrict weight = s->block_weight + chunk->first;
    double *restrict sum = s->block_mean + chunk->first;
    const double *restrict shift = shifts + chunk->first;
    for (int64_t j = 0; j < chunk->count; j++) {
        const double share =
            w * (v[j] - shift[j]); /* NaN where v is: weights are finite and above 0 */
        sum[j] += share == share ? share : 0;
    }
    for (int64_t j = 0; j < chunk->count; j++) /* apart, so that both loops become vector code */
        weight[j] += v[j] == v[j] ? w : 0;
}

/* ---- Second reading: deviations -------------------------------------------------------------- */

static void add_deviations(moment_state *s, const mg_row_chunk *chunk, const double *shifts,
                           double w, bool sparse) {
    const double *restrict v = chunk->values;
    if (sparse) {
        for (int64_t k = 0; k < chunk->count; k++) {
            const int64_t j = chunk->columns[k];
            const double deviation = v[k] == v[k] ? v[k] - shifts[j] - s->block_mean[j] : 0;
            s->block_squares[j] += w * deviation * deviation;
            s->block_error[j] += w * deviation;
        }
        return;
    }
    const double *restrict mean = s->block_mean + chunk->first;
    const double *restrict shift = shifts + chunk->first;
    double *restrict squares = s->block_squares + chunk->first;
    double *restrict error = s->block_error + chunk->first;
    for (int64_t j = 0; j < chunk->count; j++) {
        const double difference = v[j] - shift[j] - mean[j];
        const double deviation = difference == difference ? difference : 0;
        squares[j] += w * deviation * deviation;
        error[j] += w * deviation;
    }
}

/* Weight of the zeros of column j that the block does not store. By count, so that rounding of
 * weights cannot make some up; a difference of sums with what they lost, as it may be a small part
 * of them. */
static double unstored_weight(const moment_state *s, int64_t j, bool sparse) {
    if (!sparse || s->block_stored[j] >= (double)s->block_rows) return 0;
    return fmax(0, (s->block_total.sum - s->block_taken[j]) +
                       (s->block_total.lost - s->block_lost[j]));
}

static void sums_to_means(moment_state *s, const double *shift, int64_t n, bool sparse) {
    for (int64_t j = 0; j < n; j++) {
        const double zeros = unstored_weight(s, j, sparse), weight = s->block_weight[j] + zeros;
        s->block_mean[j] = weight > 0 ? (s->block_mean[j] - zeros * shift[j]) / weight : 0;
    }
}

/* Joins a sample of the given weight, mean and squares to column j. */
static void join(moment_state *s, int64_t j, double weight, double mean, double squares) {
    if (!(weight > 0)) return;
    const double total = s->weight[j] + weight, delta = mean - s->mean[j];
    s->mean[j] += delta * (weight / total);
    s->squares[j] += squares + delta * delta * (s->weight[j] * (weight / total));
    s->weight[j] = total;
}

static void join_block(moment_state *s, const double *shift, int64_t n, bool sparse) {
    for (int64_t j = 0; j < n; j++) {
        const double zeros = unstored_weight(s, j, sparse);
        const double weight = s->block_weight[j] + zeros;
        const double mean = s->block_mean[j], zero = 0 - shift[j] - mean;
        const double error = s->block_error[j] + zeros * zero;
        const double squares = s->block_squares[j] + zeros * zero * zero;
        const double correction = weight > 0 ? error / weight : 0;
        join(s, j, weight, mean + correction, fmax(0, squares - error * correction));
    }
}

/* ---- The sweep ------------------------------------------------------------------------------- */

/* The rows of a block of columns in one piece. */
static margin_matrix put_together(const mg_block *block, const moment_sweep *sweep) {
    const margin_data *data = sweep->data;
    const int64_t n = data->x.columns, *chosen = data->selection;
    double *made = sweep->made + block->worker * sweep->room;
    mg_rows_from_columns(&data->x, chosen ? chosen + block->first : NULL, block->first,
                         block->count, made);
    margin_matrix rows = margin_dense_f64(made, block->count, n, n);
    rows.value_type = data->x.value_type;
    return rows;
}

static void read_block(moment_state *s, const mg_block *block, const moment_sweep *sweep,
                       const margin_matrix *rows, bool second) {
    const margin_data *data = sweep->data;
    const int64_t n = data->x.columns;
    double *const made = sweep->maker ? sweep->made + block->worker * sweep->room : NULL;
    const margin_matrix one = margin_dense_f64(made, 1, n, n), *x = made ? &one : rows;
    mg_row_chunk chunk;
    for (int64_t i = block->first; i < block->first + block->count; i++) {
        const int64_t row = mg_selected_row(data, i);
        const int64_t place = made ? 0 : rows == &data->x ? row : i - block->first;
        const double w = mg_row_weight(data, row);
        if (made) mg_row_make(sweep->maker, row, made);
        for (int64_t at = mg_chunk_begin(x, place); mg_chunk_next(x, place, &at, &chunk);) {
            if (second) {
                add_deviations(s, &chunk, sweep->shift, w, sweep->sparse);
                continue;
            }
            add_range(s, &chunk, sweep->sparse);
            if (sweep->spread) add_sums(s, &chunk, sweep->shift, w, sweep->sparse);
        }
        if (!second) s->block_total = add_weight(s->block_total, w);
    }
}

static margin_status state_add(void *memory, const mg_block *block, void *argument) {
    const moment_sweep *sweep = argument;
    const margin_matrix *x = &sweep->data->x;
    const int64_t n = x->columns;
    moment_state *s = memory;
    margin_matrix rows;
    if (!sweep->maker && mg_is_by_columns(x)) {
        rows = put_together(block, sweep);
        x = &rows;
    }
    s->rows += block->count;
    s->block_rows = block->count;
    s->block_total = (weight_sum){0, 0};
    if (sweep->spread) memset(s->block_stored, 0, (size_t)(7 * n) * sizeof(double));
    read_block(s, block, sweep, x, false);
    if (!sweep->spread) return MARGIN_OK;
    sums_to_means(s, sweep->shift, n, sweep->sparse);
    read_block(s, block, sweep, x, true);
    join_block(s, sweep->shift, n, sweep->sparse);
    return MARGIN_OK;
}

static void state_merge(void *into, const void *from, void *argument) {
    const moment_sweep *sweep = argument;
    moment_state *a = into;
    const moment_state *b = from;
    a->rows += b->rows;
    for (int64_t j = 0; j < sweep->data->x.columns; j++) {
        if (b->least[j] < a->least[j]) a->least[j] = b->least[j];
        if (b->greatest[j] > a->greatest[j]) a->greatest[j] = b->greatest[j];
        a->stored[j] += b->stored[j];
        if (sweep->spread) join(a, j, b->weight[j], b->mean[j], b->squares[j]);
    }
}

/* Rows per block: the usual size; for CSR enough rows that the work on them outweighs that on one
 * number per column. Depends on the shape of the data only. */
static int64_t rows_per_block(const margin_matrix *x) {
    int64_t rows = mg_block_rows(mg_row_bytes(x));
    if (!mg_is_csr(x) || x->rows == 0) return rows;
    const int64_t stored = mg_row_start(x, x->rows) - mg_row_start(x, 0);
    const int64_t per_row = stored / x->rows + 1;
    while (rows < x->rows && rows * per_row < 4 * x->columns)
        rows *= 2;
    return rows;
}

/* The first row; 0 where that is missing or so large that differences could overflow. */
static void find_shift(const margin_data *data, const mg_row_maker *maker, int64_t rows,
                       double *shift) {
    const double limit = 1e300;
    for (int64_t j = 0; j < data->x.columns; j++)
        shift[j] = 0;
    if (rows == 0) return;
    if (maker)
        mg_row_make(maker, mg_selected_row(data, 0), shift);
    else
        mg_row_expand(&data->x, mg_selected_row(data, 0), shift);
    for (int64_t j = 0; j < data->x.columns; j++)
        if (!(fabs(shift[j]) < limit)) shift[j] = 0;
}

/* Copies what was found; zeros that are not stored belong to the range. */
static void copy_out(const moment_state *s, const double *shift, int64_t n, bool sparse,
                     mg_column_moments *out) {
    for (int64_t j = 0; j < n; j++) {
        const bool zeros = sparse && s->stored[j] < (double)s->rows;
        out->least[j] = zeros && s->least[j] > 0 ? 0 : s->least[j];
        out->greatest[j] = zeros && s->greatest[j] < 0 ? 0 : s->greatest[j];
        if (!out->mean) continue;
        out->weight[j] = s->weight[j];
        out->mean[j] = s->weight[j] > 0 ? shift[j] + s->mean[j] : 0;
        out->squares[j] = s->squares[j];
    }
}

static margin_status make_arrays(mg_heap *heap, int64_t n, bool spread, mg_column_moments *out,
                                 margin_error *error) {
    const int64_t count = (spread ? 5 : 2) * n;
    double *block;
    MG_NEW(heap, block, count, "the statistics of the columns", error);
    *out = (mg_column_moments){.heap = heap, .least = block, .greatest = block + n};
    if (!spread) return MARGIN_OK;
    out->weight = block + 2 * n;
    out->mean = block + 3 * n;
    out->squares = block + 4 * n;
    return MARGIN_OK;
}

margin_status mg_column_moments_make(margin_context *context, const margin_data *data,
                                     const mg_row_maker *maker, mg_moments_wanted wanted,
                                     mg_column_moments *out, margin_error *error) {
    const int64_t n = data->x.columns;
    const int64_t rows = mg_selected_rows(data);
    moment_sweep sweep = {.data = data,
                          .sparse = mg_is_csr(&data->x),
                          .spread = wanted == MG_WANT_SPREAD,
                          .maker = maker};
    const int64_t numbers = n * (sweep.spread ? SPREAD_ARRAYS : RANGE_ARRAYS);
    const mg_accumulator accumulator = {.state_size = (int64_t)sizeof(moment_state) +
                                                      numbers * (int64_t)sizeof(double),
                                        .init = state_init,
                                        .add = state_add,
                                        .merge = state_merge};
    mg_column_moments made = {0};
    margin_status status;
    double *shift = NULL;
    moment_state *state;
    MG_NEW_BYTES(context->heap, state, accumulator.state_size, "the statistics of the columns",
                 error);
    MG_GO_NEW(context->heap, shift, n, "the statistics of the columns", error);
    sweep.room = maker ? n : mg_is_by_columns(&data->x) ? rows_per_block(&data->x) * n : 0;
    if (sweep.room > 0)
        MG_GO_NEW(context->heap, sweep.made, mg_threads(context) * sweep.room, "rows that are made",
                  error);
    find_shift(data, maker, rows, shift);
    sweep.shift = shift;
    MG_GO(make_arrays(context->heap, n, sweep.spread, &made, error));
    MG_GO(mg_sweep(context, rows, rows_per_block(&data->x), &accumulator, &sweep, state, error));
    copy_out(state, shift, n, sweep.sparse, &made);
    *out = made;
    made = (mg_column_moments){0};
done:
    mg_column_moments_free(&made);
    MG_FREE(context->heap, sweep.made, shift, state);
    return status;
}

void mg_column_moments_free(mg_column_moments *moments) {
    if (moments->heap) mg_free(moments->heap, moments->least);
    *moments = (mg_column_moments){0};
}
