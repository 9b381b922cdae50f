#include "perceptron/separation/separation_points.h"

#include <math.h>
#include <string.h>

/* ---- Column ranges ------------------------------------------------------------------------- */

typedef struct {
    const mg_problem *problem;
    int64_t columns;
} range_job;

/* State: low, high, sum, stored count, a row of scratch, one run of `columns` numbers each. */
static void range_init(void *state, void *argument) {
    const range_job *job = argument;
    double *low = state, *high = low + job->columns;
    for (int64_t j = 0; j < job->columns; j++) {
        low[j] = (double)INFINITY;
        high[j] = -(double)INFINITY;
    }
    memset(high + job->columns, 0, (size_t)job->columns * 3 * sizeof *low);
}

static void range_value(double *low, int64_t columns, int64_t j, double value) {
    double *high = low + columns, *sum = high + columns, *count = sum + columns;
    low[j] = value < low[j] ? value : low[j];
    high[j] = value > high[j] ? value : high[j];
    sum[j] += value;
    count[j] += 1;
}

/* All columns of a row, a vector at a time. */
static void range_row(double *restrict low, double *restrict high, double *restrict sum,
                      const double *restrict row, int64_t columns) {
    for (int64_t j = 0; j < columns; j++) {
        low[j] = row[j] < low[j] ? row[j] : low[j];
        high[j] = row[j] > high[j] ? row[j] : high[j];
        sum[j] += row[j];
    }
}

static margin_status range_add(void *state, const mg_block *block, void *argument) {
    const range_job *job = argument;
    const margin_matrix *x = &job->problem->x;
    const int64_t columns = job->columns;
    double *low = state, *high = low + columns, *sum = high + columns, *count = sum + columns;
    for (int64_t i = block->first; i < block->first + block->count; i++) {
        const int64_t row = mg_sample_row(job->problem, i);
        if (mg_is_csr(x)) {
            for (int64_t k = mg_row_start(x, row); k < mg_row_start(x, row + 1); k++)
                range_value(state, columns, mg_column_index(x, k), mg_stored_value(x, k));
        } else {
            double *scratch = count + columns;
            mg_row_expand(x, row, scratch);
            range_row(low, high, sum, scratch, columns);
        }
    }
    for (int64_t j = 0; j < columns && !mg_is_csr(x); j++)
        count[j] += (double)block->count;
    return MARGIN_OK;
}

static void range_merge(void *into, const void *from, void *argument) {
    int64_t n = ((const range_job *)argument)->columns;
    double *a = into;
    const double *b = from;
    for (int64_t j = 0; j < n; j++) {
        a[j] = b[j] < a[j] ? b[j] : a[j];
        a[n + j] = b[n + j] > a[n + j] ? b[n + j] : a[n + j];
        a[2 * n + j] += b[2 * n + j];
        a[3 * n + j] += b[3 * n + j];
    }
}

/* Zeros that a CSR matrix does not store count as values. */
static margin_status range_finish(void *state, void *argument) {
    const range_job *job = argument;
    int64_t n = job->columns, samples = job->problem->count;
    double *low = state, *high = low + n, *sum = high + n, *count = sum + n;
    for (int64_t j = 0; j < n; j++) {
        if (count[j] < (double)samples) {
            low[j] = fmin(low[j], 0);
            high[j] = fmax(high[j], 0);
        }
        sum[j] /= (double)samples;
        if (!isfinite(sum[j])) sum[j] = low[j] / 2 + high[j] / 2; /* any number between will do */
    }
    return MARGIN_OK;
}

bool mg_ranges_are_finite(const mg_ranges *ranges, int64_t columns) {
    for (int64_t j = 0; j < columns; j++)
        if (!isfinite(ranges->high[j] - ranges->low[j])) return false;
    return true;
}

margin_status mg_ranges_find(margin_context *context, const mg_problem *problem, mg_ranges *ranges,
                             margin_error *error) {
    range_job job = {problem, problem->x.columns};
    double *state;
    MG_NEW(context->heap, state, 5 * MG_MAX(job.columns, 1), "column ranges", error);
    mg_accumulator accumulator = {.state_size = 5 * job.columns * (int64_t)sizeof(double),
                                  .init = range_init,
                                  .add = range_add,
                                  .merge = range_merge,
                                  .finish = range_finish};
    margin_status status =
        mg_sweep(context, problem->count, mg_block_rows(mg_row_bytes(&problem->x)), &accumulator,
                 &job, state, error);
    if (status < 0) {
        mg_free(context->heap, state);
        return status;
    }
    *ranges = (mg_ranges){state, state + job.columns, state + 2 * job.columns};
    return MARGIN_OK;
}

/* ---- Points ---------------------------------------------------------------------------------- */

void mg_point_write(const mg_points *points, int64_t sample, double *z) {
    double sign = points->problem->sign[sample];
    mg_row_expand(&points->problem->x, mg_sample_row(points->problem, sample), z);
    for (int64_t j = 0; j < points->columns; j++) {
        double centre = points->centre ? points->centre[j] : 0;
        z[j] = sign * ((z[j] - centre) * points->scale[j]);
    }
    if (points->augmented) z[points->columns] = sign * points->unit;
}

/* Stored value k of a row that starts so, in the point's coordinates; its column. */
static double sparse_value(const mg_points *p, int64_t sample, mg_row_span span, int64_t k,
                           int64_t *column) {
    *column = mg_span_column(&p->problem->x, span, k);
    return p->problem->sign[sample] * (mg_stored_value(&p->problem->x, k) * p->scale[*column]);
}

void mg_point_add(const mg_points *p, int64_t sample, double c, double *z, mg_twin *sum) {
    int64_t j;
    if (!p->sparse) {
        mg_point_write(p, sample, z);
        for (j = 0; j < p->dimension; j++)
            sum[j] = mg_twin_add_product(sum[j], c, z[j]);
        return;
    }
    const mg_row_span span = mg_span_of(&p->problem->x, mg_sample_row(p->problem, sample));
    for (int64_t k = span.first; k < span.last; k++) {
        const double value = sparse_value(p, sample, span, k, &j);
        sum[j] = mg_twin_add_product(sum[j], c, value);
    }
    j = p->columns;
    if (p->augmented) sum[j] = mg_twin_add_product(sum[j], c, p->problem->sign[sample] * p->unit);
}

double mg_point_dot(const mg_points *p, int64_t sample, const double *g, double *z) {
    int64_t j;
    if (!p->sparse) {
        mg_point_write(p, sample, z);
        return mg_vector_ops_for(p->isa)->dot(z, g, p->dimension);
    }
    double sum = p->augmented ? p->problem->sign[sample] * p->unit * g[p->columns] : 0.0;
    const mg_row_span span = mg_span_of(&p->problem->x, mg_sample_row(p->problem, sample));
    for (int64_t k = span.first; k < span.last; k++) {
        const double value = sparse_value(p, sample, span, k, &j);
        sum += value * g[j];
    }
    return sum;
}

typedef struct {
    const mg_points *points;
    const double *raw;
    double offset;
    double *scores;
} score_job;

static margin_status score_block(const mg_block *block, void *argument) {
    const score_job *job = argument;
    const mg_problem *p = job->points->problem;
    if (mg_cancelled(job->points->context)) return MARGIN_ERROR_CANCELLED;
    for (int64_t i = block->first; i < block->first + block->count; i++) {
        double f = job->points->ops->dot(&p->x, mg_sample_row(p, i), job->raw) + job->offset;
        job->scores[i] = p->sign[i] * f;
    }
    return MARGIN_OK;
}

margin_status mg_points_score(const mg_points *points, const double *g, double *raw,
                              double *scores) {
    score_job job = {points, raw, 0, scores};
    for (int64_t j = 0; j < points->columns; j++) {
        raw[j] = g[j] * points->scale[j];
        if (points->centre) job.offset -= points->centre[j] * raw[j];
    }
    if (points->augmented) job.offset += g[points->columns] * points->unit;
    return mg_sweep_each(points->context, points->problem->count,
                         mg_block_rows(mg_row_bytes(&points->problem->x)), score_block, &job, NULL);
}

/* ---- Double-double: error-free sums and products (Dekker 1971; Ogita, Rump, Oishi 2005) ------ */

static mg_twin two_sum(double a, double b) {
    double s = a + b, t = s - a;
    return (mg_twin){s, (a - (s - t)) + (b - t)};
}

mg_twin mg_twin_add_product(mg_twin sum, double a, double b) {
    double product = a * b, rest = fma(a, b, -product);
    mg_twin s = two_sum(sum.high, product);
    return two_sum(s.high, s.low + sum.low + rest);
}

double mg_twin_plus(mg_twin a, double b) {
    mg_twin s = two_sum(a.high, b);
    return s.high + (s.low + a.low);
}

static bool twin_less(mg_twin a, mg_twin b) {
    return a.high < b.high || (a.high == b.high && a.low < b.low);
}

static mg_twin exact_dot(const margin_matrix *x, int64_t row, const double *w) {
    mg_twin sum = {0, 0};
    const mg_row_span span = mg_span_of(x, row);
    for (int64_t k = span.first; k < span.last; k++)
        sum = mg_twin_add_product(sum, mg_stored_value(x, k), w[mg_span_column(x, span, k)]);
    return sum;
}

typedef struct {
    const mg_problem *problem;
    const double *w;
} extreme_job;

static void extreme_init(void *state, void *argument) {
    (void)argument;
    *(mg_extremes *)state = (mg_extremes){{(double)INFINITY, 0}, {-(double)INFINITY, 0}};
}

static margin_status extreme_add(void *state, const mg_block *block, void *argument) {
    const extreme_job *job = argument;
    mg_extremes *e = state;
    for (int64_t i = block->first; i < block->first + block->count; i++) {
        mg_twin f = exact_dot(&job->problem->x, mg_sample_row(job->problem, i), job->w);
        if (job->problem->sign[i] > 0 && twin_less(f, e->least_positive)) e->least_positive = f;
        if (job->problem->sign[i] < 0 && twin_less(e->greatest_negative, f))
            e->greatest_negative = f;
    }
    return MARGIN_OK;
}

static void extreme_merge(void *into, const void *from, void *argument) {
    mg_extremes *a = into;
    const mg_extremes *b = from;
    (void)argument;
    if (twin_less(b->least_positive, a->least_positive)) a->least_positive = b->least_positive;
    if (twin_less(a->greatest_negative, b->greatest_negative))
        a->greatest_negative = b->greatest_negative;
}

margin_status mg_extremes_find(margin_context *context, const mg_problem *problem, const double *w,
                               mg_extremes *extremes, margin_error *error) {
    extreme_job job = {problem, w};
    mg_accumulator accumulator = {.state_size = sizeof(mg_extremes),
                                  .init = extreme_init,
                                  .add = extreme_add,
                                  .merge = extreme_merge};
    return mg_sweep(context, problem->count, mg_block_rows(mg_row_bytes(&problem->x)), &accumulator,
                    &job, extremes, error);
}
