/* Ridge under many penalties:
 *
 *   A'CA = V diag(l) V'          one product of the columns, one set of eigenvectors
 *   w(alpha) = V diag(1/(l + alpha)) V'A'C(y - mean)
 *   h_i(alpha) = c_i (1/m + sum_k z_ik^2 / (l_k + alpha)),  z_i = V'a_i      the leverage
 *   e_i = (y_i - f(x_i)) / (1 - h_i)      the error at row i of the fit without it
 *
 * with centred columns (Golub and Van Loan, "Matrix Computations", section 6.1.4; Allen, "The
 * relationship between variable selection and data augmentation", Technometrics 16, 1974). One
 * sweep makes z_i a block of rows at a time and from it, for all penalties, residuals, errors and
 * gradients; solutions whose gradient is not small enough are corrected by it and the sweep made
 * again. */
#include "linear/squares/least_squares.h"

#include "math/products/lapack.h"

#include <string.h>

enum { MOST_COLUMNS = 4096, MOST_SWEEPS = 4, CHUNK = 64, BLOCK = 512 };

static const char purpose[] = "the path of penalties";

/* What the sweep adds up for one penalty; the gradient in eigenvectors' coordinates follows. */
typedef struct path_sums {
    double value;  /* sum c r^2 */
    double excess; /* sum c r */
    double errors; /* sum c e^2 */
    double trace;  /* sum h */
} path_sums;

typedef struct path_run {
    mg_squares s;
    mg_fit *fits;
    const mg_linear_options *options; /* count */
    int64_t count;                    /* penalties */
    double *vectors;                  /* columns x columns: eigenvectors by rows */
    double *values;                   /* columns: eigenvalues, ascending */
    double *start;                    /* columns: V'A'C(y - mean) */
    double *offset;                   /* columns: of a row before it is centred */
    double *alpha;                    /* count: in the problem's own weights */
    double *solution;                 /* count x columns, in eigenvectors' coordinates */
    double *level;                    /* count: intercept over centred columns */
    double *inverse;                  /* count x columns: 1/(l + alpha), 0 where that is rounding */
    double *zero;                     /* max(columns, count) */
    double *state;                    /* sums and gradients */
    const mg_row_ops *ops;
} path_run;

static path_sums *sums_of(double *state, int64_t k) {
    return (path_sums *)(void *)state + k;
}

static double *gradient_of(const path_run *run, double *state, int64_t k) {
    return state + run->count * 4 + k * run->s.columns;
}

/* ---- Eigenvectors ---------------------------------------------------------------------------- */

static margin_status make_products(path_run *run, double *gram) {
    mg_squares *s = &run->s;
    const int64_t n = s->columns, size = n + 2;
    const mg_weighted_gram request = {.weights = s->c,
                                      .centre = s->mean,
                                      .extra = s->problem->target,
                                      .extra_centre = s->centre,
                                      .extra_spread = 1.0};
    MG_TRY(mg_design_gram(&s->design, &request, gram, s->error));
    const double *sums = gram + (size - 1) * size;
    for (int64_t j = 0; s->intercept && j < n + 1; j++)
        for (int64_t k = 0; k < n + 1; k++)
            gram[j * size + k] -= sums[j] * sums[k] / s->total;
    for (int64_t j = 0; j < n; j++) { /* a spread that is rounding is none */
        const bool constant = !(s->norm[j] > 0.0);
        for (int64_t k = 0; k < n; k++)
            run->vectors[j * n + k] = constant || !(s->norm[k] > 0.0) ? 0.0 : gram[j * size + k];
        s->gradient[j] = constant ? 0.0 : gram[j * size + n];
    }
    return MARGIN_OK;
}

static margin_status path_decompose(path_run *run) {
    mg_squares *s = &run->s;
    const mg_vector_ops *ops = mg_vector_ops_for(s->design.isa);
    const int64_t n = s->columns;
    double *gram;
    int64_t info = 0;
    MG_ARENA_NEW(&s->arena, gram, (n + 2) * (n + 2), purpose, s->error);
    MG_TRY(make_products(run, gram));
    const margin_status status =
        mg_lapack_dsyevd(&s->stop, 'V', 'U', n, run->vectors, n, run->values, &info, s->error);
    MG_TRY(status);
    MG_REQUIRE(status == MARGIN_OK, s->error, MARGIN_ERROR_LIMIT,
               "the time limit came before the eigenvectors of the columns were there, and with "
               "them a first answer; give it more time, or fewer columns");
    MG_REQUIRE(info == 0, s->error, MARGIN_ERROR_INTERNAL,
               "the eigenvectors of the columns did not converge; fit the penalties one by one");
    for (int64_t l = 0; l < n; l++) {
        run->values[l] = fmax(run->values[l], 0.0);
        run->start[l] = ops->dot(run->vectors + l * n, s->gradient, n);
    }
    return MARGIN_OK;
}

static void set_inverses(path_run *run) {
    const int64_t n = run->s.columns;
    const double least = 8.0 * (double)n * 0x1p-53 * run->values[n - 1];
    for (int64_t k = 0; k < run->count; k++)
        for (int64_t l = 0; l < n; l++) {
            const double value = run->values[l] + run->alpha[k];
            const bool empty = run->alpha[k] == 0.0 && run->values[l] <= least;
            run->inverse[k * n + l] = value > 0.0 && !empty ? 1.0 / value : 0.0;
        }
}

/* ---- The sweep ------------------------------------------------------------------------------- */

static int64_t state_numbers(const path_run *run) {
    return run->count * (4 + run->s.columns);
}

/* Behind the sums: see path_chunk. */
static int64_t path_room(const path_run *run) {
    return CHUNK * (3 * run->s.columns + 2 * run->count);
}

/* Rows of a chunk as the model's centred columns. */
static void centre_row(const path_run *run, int64_t i, double *row) {
    const mg_squares *s = &run->s;
    const double *scale = s->problem->scale;
    mg_sample_values(s->problem, i, row);
    for (int64_t j = 0; j < s->columns; j++)
        row[j] = s->norm[j] > 0.0 ? (scale ? scale[j] : 1.0) * row[j] + run->offset[j] : 0.0;
}

typedef struct path_chunk {
    double *rows, *z, *squares; /* CHUNK x columns */
    double *f, *h;              /* CHUNK x count */
} path_chunk;

static void path_add_sample(const path_run *run, int64_t i, const double *z, const double *f,
                            const double *h, double *state) {
    const mg_squares *s = &run->s;
    const mg_vector_ops *ops = mg_vector_ops_for(s->design.isa);
    const double c = s->c[i], base = s->intercept ? 1.0 / s->total : 0.0;
    for (int64_t k = 0; k < run->count; k++) {
        path_sums *sums = sums_of(state, k);
        const double r = s->problem->target[i] - run->level[k] - f[k];
        const double leverage = c * (base + h[k]), left = 1.0 - leverage;
        const double error = left > 1e-10 ? r / left : (double)INFINITY;
        sums->value += c * r * r;
        sums->excess += c * r;
        sums->errors += c * error * error;
        sums->trace += leverage;
        ops->add(gradient_of(run, state, k), c * r, z, s->columns);
    }
}

static void add_chunk(const path_run *run, int64_t first, int64_t count, const path_chunk *chunk,
                      double *state) {
    const int64_t n = run->s.columns, penalties = run->count;
    const margin_matrix rows = margin_dense_f64(chunk->rows, count, n, n);
    const margin_matrix z = margin_dense_f64(chunk->z, count, n, n);
    const margin_matrix squares = margin_dense_f64(chunk->squares, count, n, n);
    for (int64_t i = 0; i < count; i++)
        centre_row(run, first + i, chunk->rows + i * n);
    run->ops->scores(&rows, 0, count, run->vectors, run->zero, n, chunk->z);
    for (int64_t i = 0; i < count * n; i++)
        chunk->squares[i] = chunk->z[i] * chunk->z[i];
    run->ops->scores(&z, 0, count, run->solution, run->zero, penalties, chunk->f);
    run->ops->scores(&squares, 0, count, run->inverse, run->zero, penalties, chunk->h);
    for (int64_t i = 0; i < count; i++)
        path_add_sample(run, first + i, chunk->z + i * n, chunk->f + i * penalties,
                        chunk->h + i * penalties, state);
}

static margin_status path_add_block(void *state, const mg_block *block, void *argument) {
    const path_run *run = argument;
    const int64_t n = run->s.columns, last = block->first + block->count;
    double *room = (double *)state + state_numbers(run);
    const path_chunk chunk = {.rows = room,
                              .z = room + CHUNK * n,
                              .squares = room + 2 * CHUNK * n,
                              .f = room + 3 * CHUNK * n,
                              .h = room + 3 * CHUNK * n + CHUNK * run->count};
    for (int64_t first = block->first; first < last; first += CHUNK) {
        if (mg_cancelled(run->s.context)) return MARGIN_ERROR_CANCELLED;
        add_chunk(run, first, MG_MIN(CHUNK, last - first), &chunk, state);
    }
    return MARGIN_OK;
}

/* ---- Solutions ------------------------------------------------------------------------------- */

/* Takes the gradient of the penalty off, and says how far the solution is from the optimum at most;
 * the formulas are those of least_squares_pass.c. Products of columns prove nothing without a
 * penalty. */
static double path_judge(const path_run *run, int64_t k) {
    const mg_squares *s = &run->s;
    const mg_vector_ops *ops = mg_vector_ops_for(s->design.isa);
    const mg_penalty *penalty = &run->options[k].penalty;
    const path_sums *sums = sums_of(run->state, k);
    const double factor = penalty->factor * s->unit, *w = run->solution + k * s->columns;
    const double excess = s->intercept ? sums->excess : 0.0;
    double *gradient = gradient_of(run, run->state, k);
    ops->add(gradient, -run->alpha[k], w, s->columns);
    const double objective = factor * sums->value + penalty->rho / 2.0 * ops->square(w, s->columns);
    run->fits[k].report.objective = objective;
    double distance = objective; /* none is below 0 */
    if (penalty->rho > 0.0)
        distance = fmin(distance, factor * excess * excess / s->total +
                                      2.0 * factor * factor * ops->square(gradient, s->columns) /
                                          penalty->rho);
    return distance / fmax(1.0, objective);
}

static margin_status path_solve(path_run *run) {
    const double enough = 1e-10;
    const int64_t n = run->s.columns;
    double last = (double)INFINITY;
    for (int64_t k = 0; k < run->count; k++)
        for (int64_t l = 0; l < n; l++)
            run->solution[k * n + l] = run->inverse[k * n + l] * run->start[l];
    for (int64_t k = 0; k < run->count; k++)
        run->level[k] = run->s.centre;
    for (int sweeps = 1;; sweeps++) {
        double worst = 0.0;
        MG_TRY(mg_sweep_sums(run->s.context, run->s.samples, BLOCK, state_numbers(run),
                             path_room(run), path_add_block, run, run->state, run->s.error));
        for (int64_t k = 0; k < run->count; k++) {
            run->fits[k].report.gap = path_judge(run, k);
            worst = fmax(worst, run->fits[k].report.gap);
        }
        if (worst <= enough || !(worst < last / 2.0) || sweeps == MOST_SWEEPS ||
            mg_stop_check(&run->s.stop, sweeps) > 0)
            return MARGIN_OK;
        last = worst;
        for (int64_t k = 0; k < run->count; k++) {
            const double *gradient = gradient_of(run, run->state, k);
            for (int64_t l = 0; l < n; l++)
                run->solution[k * n + l] += run->inverse[k * n + l] * gradient[l];
            if (run->s.intercept) run->level[k] += sums_of(run->state, k)->excess / run->s.total;
        }
    }
}

/* ---- Results --------------------------------------------------------------------------------- */

static void path_describe(const path_run *run, int64_t k) {
    const mg_squares *s = &run->s;
    const mg_penalty *penalty = &run->options[k].penalty;
    const path_sums *sums = sums_of(run->state, k);
    const double weight = s->total * s->unit, rmse = sqrt(sums->value / s->total);
    margin_report *report = &run->fits[k].report;
    report->tolerance = run->options[k].tolerance;
    report->status = report->gap <= report->tolerance ? MARGIN_OK : MARGIN_STOPPED_STALLED;
    report->train_rmse = rmse;
    mg_report_penalty(report, penalty);
    mg_report_set(report, "freedom", sums->trace);
    mg_report_set(report, "leave_one_out_rmse", sqrt(sums->errors / s->total));
    mg_report_set(report, "gcv_rmse",
                  sums->trace < weight ? rmse / (1.0 - sums->trace / weight) : (double)INFINITY);
    mg_linear_describe(penalty, "(f-y)^2", report);
    mg_report_reason(report, "solved by eigenvectors of the columns%s",
                     report->status == MARGIN_OK ? ""
                     : penalty->rho > 0.0
                         ? ", whose rounding limits the gap: fit this penalty by itself"
                         : ", which prove nothing without a penalty: fit alpha=0 by itself");
}

static margin_status hand_over(path_run *run, int64_t k) {
    mg_squares *s = &run->s;
    const mg_vector_ops *ops = mg_vector_ops_for(s->design.isa);
    double *w = s->w, b = run->level[k];
    memset(w, 0, (size_t)s->columns * sizeof *w);
    for (int64_t l = 0; l < s->columns; l++)
        ops->add(w, run->solution[k * s->columns + l], run->vectors + l * s->columns, s->columns);
    for (int64_t j = 0; j < s->columns; j++) {
        if (!(s->norm[j] > 0.0)) w[j] = 0.0;
        b -= s->mean[j] * w[j];
    }
    path_describe(run, k);
    return mg_linear_make(s->context->heap, w, s->columns, b, &run->fits[k].hypothesis, s->error);
}

static margin_status path_memory(path_run *run) {
    mg_squares *s = &run->s;
    const int64_t n = s->columns, count = run->count;
    MG_TRY(MG_PIECES(&s->arena, purpose, s->error, MG_PIECE(run->vectors, n * n),
                     MG_PIECE(run->values, n), MG_PIECE(run->start, n), MG_PIECE(run->offset, n),
                     MG_PIECE(run->alpha, count), MG_PIECE(run->level, count),
                     MG_PIECE(run->solution, count * n), MG_PIECE(run->inverse, count * n),
                     MG_PIECE(run->zero, MG_MAX(n, count)),
                     MG_PIECE(run->state, state_numbers(run) + path_room(run))));
    memset(run->zero, 0, (size_t)MG_MAX(n, count) * sizeof *run->zero);
    return MARGIN_OK;
}

static margin_status walk_path(path_run *run) {
    mg_squares *s = &run->s;
    MG_REQUIRE(s->columns <= MOST_COLUMNS, s->error, MARGIN_ERROR_LIMIT,
               "%lld columns are too many for a path, which works by the eigenvectors of at most "
               "%d; fit the penalties one by one",
               (long long)s->columns, (int)MOST_COLUMNS);
    MG_TRY(mg_squares_begin(s));
    MG_TRY(mg_squares_moments(s));
    MG_TRY(path_memory(run));
    const margin_matrix shape = margin_dense_f64(run->zero, 1, s->columns, s->columns);
    run->ops = mg_row_ops_for(&shape, s->design.isa);
    for (int64_t j = 0; j < s->columns; j++)
        run->offset[j] = (s->problem->shift ? s->problem->shift[j] : 0.0) - s->mean[j];
    for (int64_t k = 0; k < run->count; k++)
        run->alpha[k] = run->options[k].penalty.alpha / s->unit;
    MG_TRY(path_decompose(run));
    set_inverses(run);
    MG_TRY(path_solve(run));
    for (int64_t k = 0; k < run->count; k++)
        MG_TRY(hand_over(run, k));
    return MARGIN_OK;
}

margin_status mg_ridge_path(mg_fit *fits, int64_t count, const mg_linear_options *options) {
    path_run run = {.s = mg_squares_of(fits, options[0].intercept),
                    .fits = fits,
                    .options = options,
                    .count = count};
    const margin_status status = walk_path(&run);
    mg_squares_end(&run.s);
    if (status < 0) mg_fits_undo(fits, count);
    return status;
}
