/* The model without its matrix: coordinate descent over the sparse columns of the working set.
 *
 * A matrix of m columns costs m^2 to make and to walk, and rows with k of them k^2/2 each; sweeps
 * cost the stored values. Text has columns by thousands and rows of ten, so that its matrix is a
 * hundred times its values. Which is less is counted, never timed.
 *
 * The model is in single precision, times the roots of the curvatures: what that misses, the next
 * step makes good, as the slopes it begins with are exact. */
#include "linear/design/design_columns.h"
#include "linear/lasso/solver_working_set.h"
#include "linear/lasso/sparse_quadratic.h"

#include <string.h>

/* How far below the penalty, as a share of it, a slope may be for its column to take part. */
static const double slack = 0.05;

/* ---- The price ------------------------------------------------------------------------------- */

/* Of a step by the matrix of so many columns, in nanoseconds of a core, as measured: products of
 * the rows, the matrix, factors. */
static double matrix_price(const mg_working *s, int64_t columns, int64_t stored) {
    const double m = (double)columns, values = (double)stored;
    return 0.35 * values * values / (double)s->samples + m * m * (2.0 + m / 90.0);
}

/* Of all columns: less than a few sweeps take. */
static bool matrix_is_cheaper(const mg_working *s) {
    const mg_problem *p = s->design->problem;
    const int64_t stored = mg_sparse_count(&p->x, p->index, p->count);
    return matrix_price(s, s->columns, stored) < 14.0 * (double)stored;
}

/* Sweeps over columns that depend on each other can take long: once they cost as much as some steps
 * by the matrix would have, these come next. Where rows weigh 1e9 times more than others the steps
 * may then be many: they begin with all that the sweeps left a weight. */
static void judge_columns(mg_working *s) {
    static const double steps = 5.0, of_value = 2.0;
    const double price = matrix_price(s, s->model.count, s->sparse.starts[s->model.count]);
    if (s->model.count > s->most || of_value * (double)s->sparse.read < steps * price) return;
    s->sparse.pays = s->model.current = false;
}

static int64_t length_of(const mg_working *s, int64_t j) {
    const int64_t *starts = s->design->by_column->starts;
    return starts[j + 1] - starts[j];
}

/* ---- Begin ----------------------------------------------------------------------------------- */

/* Counting sort: of equally long ones the first comes first. */
static margin_status order_columns(mg_working *s) {
    const int64_t n = s->columns, m = s->samples;
    int64_t *places;
    MG_SCOPED_ARENA(arena, s->design->heap);
    MG_ARENA_NEW(&arena, places, m + 2, "the lengths of the columns", s->job->error);
    memset(places, 0, (size_t)(m + 2) * sizeof *places);
    for (int64_t j = 0; j < n; j++)
        places[m - length_of(s, j) + 1]++;
    for (int64_t l = 1; l <= m + 1; l++)
        places[l] += places[l - 1];
    for (int64_t j = 0; j < n; j++)
        s->sparse.order[places[m - length_of(s, j)]++] = j;
    return MARGIN_OK;
}

/* Room for all columns and for what their sweeps keep. */
static bool columns_fit(const mg_working *s) {
    enum { OF_VALUE = 8, OF_COLUMN = 130, OF_ROW = 28 };
    const int64_t bytes = OF_VALUE * s->design->by_column->starts[s->columns] +
                          OF_COLUMN * s->columns + OF_ROW * s->samples;
    return mg_fits_limit(s->design->heap, bytes, 4);
}

margin_status mg_working_columns_begin(mg_working *s) {
    mg_working_columns *c = &s->sparse;
    mg_design *design = s->design;
    const int64_t n = s->columns;
    if (!mg_is_csr(&design->problem->x) || matrix_is_cheaper(s)) return MARGIN_OK;
    MG_TRY(mg_design_store_columns(design, s->job->error));
    if (!design->by_column || (design->shift && !s->objective->intercept) || !columns_fit(s))
        return MARGIN_OK;
    MG_TRY(MG_PIECES(&s->arena, "the state of a solver", s->job->error, MG_PIECE(c->order, n),
                     MG_PIECE(c->starts, n + 1), MG_PIECE(c->origin, n), MG_PIECE(c->sums, n + 1),
                     MG_PIECE(c->column, n)));
    for (int64_t j = 0; j < n; j++)
        c->origin[j] = design->shift ? design->shift[j] : 0.0;
    c->pays = true;
    return order_columns(s);
}

/* The columns with a weight, and all that are over the penalty or near it: nearer, the nearer the
 * optimum is. */
static void choose_columns(mg_working *s, bool *same) {
    mg_working_model *model = &s->model;
    const int64_t before = model->count;
    const double close = fmin(1.0, fmin(s->violation, s->sparse.last));
    const double near = s->objective->penalty.kappa * (1.0 - slack * close);
    int64_t stored = 0;
    *same = s->sparse.unit > 0.0;
    model->count = 0;
    model->current = false;
    for (int64_t k = 0; k < s->columns; k++) {
        const int64_t j = s->sparse.order[k];
        if (s->factor[j] == 0.0) continue;
        if (s->here.w[j] == 0.0 && fabs(mg_working_slope(s, j)) < near) continue;
        s->sparse.starts[model->count] = stored;
        *same &= model->count < before && model->member[model->count] == j;
        model->member[model->count++] = j;
        stored += length_of(s, j);
    }
    s->sparse.starts[model->count] = stored;
    *same &= model->count == before;
}

/* ---- The step -------------------------------------------------------------------------------- */

static margin_status columns_make_room(mg_working *s) {
    mg_working_columns *c = &s->sparse;
    mg_heap *heap = s->design->heap;
    const int64_t stored = c->starts[s->model.count],
                  all = s->design->by_column->starts[s->columns];
    if (stored <= c->room) return MARGIN_OK;
    MG_FREE(heap, c->samples, c->values);
    c->samples = NULL;
    c->values = NULL;
    c->room = MG_MIN(stored + stored / 4, all);
    MG_NEW(heap, c->samples, c->room, "a copy of the working set", s->job->error);
    MG_NEW(heap, c->values, c->room, "a copy of the working set", s->job->error);
    return MARGIN_OK;
}

typedef struct pack_job {
    mg_working *s;
    const double *root; /* samples: of the curvatures, as shares of `unit` */
    double unit, total; /* total: of the curvatures */
} pack_job;

static void pack_column(const pack_job *job, int64_t k) {
    const mg_working *s = job->s;
    const mg_sparse_columns *x = s->design->by_column;
    const mg_working_columns *c = &s->sparse;
    const int64_t j = s->model.member[k], begin = x->starts[j], length = length_of(s, j);
    const double scale = s->design->scale ? s->design->scale[j] : 1.0,
                 factor = s->factor[j] * scale;
    double sum = 0.0, square = 0.0;
    int32_t *restrict samples = c->samples + c->starts[k];
    float *restrict values = c->values + c->starts[k];
    for (int64_t e = 0; e < length; e++) {
        const double root = job->root[x->samples[begin + e]];
        const double value = x->values[begin + e] * factor * root;
        samples[e] = x->samples[begin + e];
        values[e] = (float)value;
        sum += value * root;
        square += value * value;
    }
    const double mean = s->objective->intercept ? sum * sqrt(job->unit / job->total) : 0.0;
    const double ridge = s->objective->penalty.rho * s->factor[j] * s->factor[j] / job->unit;
    c->sums[k] = sum * job->unit;
    const double curvature = fmax(square - mean * mean, 1e-6 * square) + ridge;
    c->column[k] = (mg_sparse_column){.mean = mean,
                                      .ridge = ridge,
                                      .curvature = curvature,
                                      .inverse = curvature > 0.0 ? 1.0 / curvature : 0.0};
}

enum { PACK_TASKS = 32 };

static margin_status pack_some(void *argument, int64_t task, int worker) {
    const pack_job *job = argument;
    (void)worker;
    for (int64_t k = task; k < job->s->model.count; k += PACK_TASKS) {
        if (mg_cancelled(job->s->job->context)) return MARGIN_ERROR_CANCELLED;
        pack_column(job, k);
    }
    return MARGIN_OK;
}

/* X, in units in which the mean curvature is 1, so that single precision holds it. */
static margin_status pack(mg_working *s) {
    double *root = s->there.scores; /* not needed now */
    const double total = mg_sum(s->curvatures, s->samples);
    MG_TRY(columns_make_room(s));
    s->sparse.unit = fmax(total / (double)s->samples, 1e-300);
    for (int64_t i = 0; i < s->samples; i++)
        root[i] = sqrt(s->curvatures[i] / s->sparse.unit);
    const pack_job job = {s, root, s->sparse.unit, fmax(total, 1e-300)};
    s->sparse.sums[s->model.count] = total;
    return mg_parallel(s->job->context, PACK_TASKS, pack_some, (void *)&job, s->job->error);
}

/* Whether the curvatures have hardly changed since: those of squares never do. */
static bool still_serves(const mg_working *s) {
    static const double near = 0.2, good = 0.15;
    if (s->objective->loss->kind == MG_LOSS_SQUARED) return true;
    return !s->careful && s->length == 1.0 && s->violation < near &&
           s->violation <= good * s->sparse.last;
}

/* The point and the slopes, in those units. */
static void begin_columns(mg_working *s) {
    mg_working_model *model = &s->model;
    const double unit = s->sparse.unit;
    mg_sparse_column *column = s->sparse.column;
    model->centre = s->sparse.origin;
    model->sums = s->sparse.sums;
    model->exact = model->fresh = true;
    mg_working_begin_step(s);
    for (int64_t k = 0; k < model->count; k++) {
        column[k].q = model->r[k] / unit;
        column[k].lambda = model->lambda[k] / unit;
        column[k].before = model->before[k];
    }
}

/* Only as far as the model is worth. */
static margin_status sweep_columns(mg_working *s) {
    enum { FIRST_STEPS = 2, FIRST_SWEEPS = 3, SWEEPS = 80 };
    static const double share = 0.1;
    mg_working_columns *c = &s->sparse;
    const mg_sparse_quadratic quadratic = {
        .context = s->job->context,
        .count = s->model.count,
        .rows = s->samples,
        .starts = c->starts,
        .samples = c->samples,
        .values = c->values,
        .column = c->column,
        .u = s->model.u,
        .most = s->solution->iterations < FIRST_STEPS ? FIRST_SWEEPS : SWEEPS,
        .slack = slack * fmin(1.0, c->last),
        .read = &c->read,
        .error = s->job->error};
    return mg_sparse_quadratic_solve(&quadratic, share * s->violation);
}

margin_status mg_working_columns_solve(mg_working *s) {
    bool same;
    choose_columns(s, &same);
    if (!same || !still_serves(s)) MG_TRY(pack(s));
    begin_columns(s);
    MG_TRY(sweep_columns(s));
    mg_working_end_step(s);
    s->sparse.last = s->violation;
    judge_columns(s);
    return MARGIN_OK;
}
