/* The proof of a least-squares or ridge model once more, from the model and the data, by plain
 * loops in extended precision that share nothing with the solvers. */
#include "linear/squares/least_squares.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef long double real;

typedef struct proof {
    mg_fit *fit;
    const mg_problem *problem;
    const double *w;
    real constant, offset; /* b + shift.w; |b| + |shift|.|w| */
    bool intercept;
    int64_t columns;
    real total, target_mean, target_square; /* weights; target, centred if there is an intercept */
    real target_whole;                      /* sum c y^2 */
    real value, excess;                     /* sum c r^2, sum c r */
    real terms;                             /* the greatest sum |w_j a_ij| + |b| + |y| */
    /* columns numbers each: mean of x, then sums over stored values of c (x - mean)^2, c r x, c */
    real *mean, *square, *gradient, *stored;
    double *row; /* columns */
} proof;

static real value_at(const margin_matrix *x, int64_t k) {
    if (x->value_type == MARGIN_F32) return (real)((const float *)x->values)[k];
    return (real)((const double *)x->values)[k];
}

static real weight_of(const proof *p, int64_t i) {
    return (real)mg_sample_weight(p->problem, i);
}

static real scale_of(const proof *p, int64_t j) {
    return p->problem->scale ? (real)p->problem->scale[j] : 1.0L;
}

static real shift_of(const proof *p, int64_t j) {
    return p->problem->shift ? (real)p->problem->shift[j] : 0.0L;
}

typedef void (*entry_visit)(proof *p, int64_t column, real value, real weight);

static void visit_row(proof *p, int64_t i, real weight, entry_visit visit) {
    const margin_matrix *x = &p->problem->x;
    const int64_t row = mg_sample_row(p->problem, i);
    if (mg_is_csr(x)) {
        for (int64_t k = mg_row_start(x, row); k < mg_row_start(x, row + 1); k++)
            visit(p, mg_column_index(x, k), value_at(x, k), weight);
    } else {
        mg_sample_values(p->problem, i, p->row);
        for (int64_t j = 0; j < x->columns; j++)
            visit(p, j, (real)p->row[j], weight);
    }
}

static void add_mean(proof *p, int64_t j, real value, real weight) {
    p->mean[j] += weight * value;
}

static void add_square(proof *p, int64_t j, real value, real weight) {
    p->square[j] += weight * (value - p->mean[j]) * (value - p->mean[j]);
    p->stored[j] += weight;
}

/* weight: c r */
static void add_gradient(proof *p, int64_t j, real value, real weight) {
    p->gradient[j] += weight * value;
}

static real score(proof *p, int64_t i) {
    const margin_matrix *x = &p->problem->x;
    const int64_t row = mg_sample_row(p->problem, i);
    real sum = p->constant, terms = p->offset + fabsl((real)p->problem->target[i]);
    if (mg_is_csr(x)) {
        for (int64_t k = mg_row_start(x, row); k < mg_row_start(x, row + 1); k++) {
            const int64_t j = mg_column_index(x, k);
            const real term = scale_of(p, j) * (real)p->w[j] * value_at(x, k);
            sum += term;
            terms += fabsl(term);
        }
    } else {
        mg_sample_values(p->problem, i, p->row);
        for (int64_t j = 0; j < p->columns; j++) {
            const real term = scale_of(p, j) * (real)p->w[j] * (real)p->row[j];
            sum += term;
            terms += fabsl(term);
        }
    }
    p->terms = fmaxl(p->terms, terms);
    return sum;
}

static margin_status each_sample(proof *p, void (*visit)(proof *p, int64_t i)) {
    for (int64_t i = 0; i < p->problem->count; i++) {
        if (mg_cancelled(p->fit->context)) return mg_fail_cancelled(p->fit->error);
        visit(p, i);
    }
    return MARGIN_OK;
}

static void visit_means(proof *p, int64_t i) {
    const real weight = weight_of(p, i);
    p->total += weight;
    p->target_mean += weight * ((real)p->problem->target[i] - (real)p->problem->target[0]);
    visit_row(p, i, weight, add_mean);
}

static void visit_residual(proof *p, int64_t i) {
    const real weight = weight_of(p, i), y = (real)p->problem->target[i];
    const real r = y - score(p, i);
    p->target_whole += weight * y * y;
    p->target_square += weight * (y - p->target_mean) * (y - p->target_mean);
    p->value += weight * r * r;
    p->excess += weight * r;
    visit_row(p, i, weight, add_square);
    visit_row(p, i, weight * r, add_gradient);
}

/* From the units of x to those of the model's columns, the zeros of sparse rows included. */
static void finish_columns(proof *p) {
    for (int64_t j = 0; j < p->columns; j++) {
        const real s = scale_of(p, j), t = shift_of(p, j), mean = p->mean[j];
        const real square = s * s * (p->square[j] + (p->total - p->stored[j]) * mean * mean);
        if (p->intercept) {
            const real rounding = 1e-28L * p->total * (s * mean + t) * (s * mean + t);
            p->square[j] = square > rounding ? square : 0.0L; /* else a constant */
            p->gradient[j] = s * (p->gradient[j] - mean * p->excess);
        } else {
            p->square[j] = square + p->total * (s * mean + t) * (s * mean + t);
            p->gradient[j] = s * p->gradient[j] + t * p->excess;
        }
    }
}

/* ---- Gaps ------------------------------------------------------------------------------------ */

static double normal_residual(const proof *p) {
    real most = p->intercept ? fabsl(p->excess) / sqrtl(p->total) : 0.0L;
    for (int64_t j = 0; j < p->columns; j++)
        if (p->square[j] > 0.0L) most = fmaxl(most, fabsl(p->gradient[j]) / sqrtl(p->square[j]));
    if (!(most > 0.0L)) return 0.0;
    if (p->target_square > 0.0L) return (double)(most / sqrtl(p->target_square));
    /* a constant target: its size; of zeros only: the residual's */
    return (double)(most / sqrtl(p->target_whole > 0.0L ? p->target_whole : p->value));
}

/* The matrix A'CA + alpha I with centred columns, lower triangle. */
static margin_status make_matrix(proof *p, real alpha, double *row, real *matrix) {
    const mg_problem *problem = p->problem;
    const int64_t n = p->columns;
    memset(matrix, 0, (size_t)(n * n) * sizeof *matrix);
    for (int64_t j = 0; j < n; j++)
        matrix[j * n + j] = alpha;
    for (int64_t i = 0; i < problem->count; i++) {
        const real weight = weight_of(p, i);
        if (mg_cancelled(p->fit->context)) return mg_fail_cancelled(p->fit->error);
        mg_sample_values(problem, i, row);
        for (int64_t j = 0; j < n; j++) {
            const real mean = p->intercept ? p->mean[j] : 0.0L;
            const real shift = p->intercept ? 0.0L : shift_of(p, j);
            row[j] = (double)(scale_of(p, j) * ((real)row[j] - mean) + shift);
            for (int64_t k = 0; k <= j; k++)
                matrix[j * n + k] += weight * (real)row[j] * (real)row[k];
        }
    }
    return MARGIN_OK;
}

/* g'H^-1 g through H = L L': |L^-1 g|^2. Replaces the matrix. */
static real inverse_square(real *matrix, const real *g, real *x, int64_t n) {
    real sum = 0.0L;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j <= i; j++) {
            real entry = matrix[i * n + j];
            for (int64_t k = 0; k < j; k++)
                entry -= matrix[i * n + k] * matrix[j * n + k];
            matrix[i * n + j] = i == j ? sqrtl(entry) : entry / matrix[j * n + j];
        }
        x[i] = g[i];
        for (int64_t k = 0; k < i; k++)
            x[i] -= matrix[i * n + k] * x[k];
        x[i] /= matrix[i * n + i];
        sum += x[i] * x[i];
    }
    return sum;
}

static margin_status exact_distance(proof *p, real alpha, const real *g, real *distance) {
    mg_heap *heap = p->fit->context->heap;
    margin_error *error = p->fit->error;
    const int64_t n = p->columns;
    real *matrix = NULL;
    double *row = NULL;
    margin_status status;
    MG_GO_NEW(heap, matrix, n * n + n, "the normal equations", error);
    MG_GO_NEW(heap, row, n, "a row", error);
    MG_GO(make_matrix(p, alpha, row, matrix));
    *distance = inverse_square(matrix, g, matrix + n * n, n);
done:
    mg_free(heap, row);
    mg_free(heap, matrix);
    return status;
}

/* P - D at u = 2 c (r - mean r): see least_squares_pass.c; D = 0 at u = 0. The exact distance where
 * that is too coarse. */
static margin_status ridge_gap(proof *p, const mg_penalty *penalty, double tolerance) {
    margin_report *report = &p->fit->report;
    const real factor = (real)penalty->factor, rho = (real)penalty->rho,
               alpha = rho / (2.0L * factor);
    const real offset = p->intercept ? p->excess * p->excess / p->total : 0.0L;
    real square = 0.0L, distance = 0.0L, weights = 0.0L;
    for (int64_t j = 0; j < p->columns; j++) {
        p->gradient[j] -= alpha * (real)p->w[j];
        if (p->square[j] == 0.0L && p->w[j] == 0.0) p->gradient[j] = 0.0L;
        square += p->gradient[j] * p->gradient[j];
        weights += (real)p->w[j] * (real)p->w[j];
    }
    const real objective = factor * p->value + rho / 2.0L * weights, whole = fmaxl(1.0L, objective);
    report->objective = (double)objective;
    report->gap = (double)(fminl(factor * (offset + square / alpha), objective) / whole);
    if (report->gap <= tolerance || !mg_squares_exact(p->problem->count, p->columns))
        return MARGIN_OK;
    MG_TRY(exact_distance(p, alpha, p->gradient, &distance));
    const double gap = (double)(factor * (offset + distance) / whole);
    if (gap < report->gap) report->gap = gap;
    return MARGIN_OK;
}

/* What rounding of the weights to doubles may make of the gap: residuals move by units in the last
 * place of the terms of the score, and deviations of columns by those of their means. */
static double find_rounding(const proof *p, const mg_penalty *penalty, real objective) {
    const real moved = 4.0L * (real)DBL_EPSILON * p->terms * sqrtl(p->total);
    const real factor = (real)penalty->factor, alpha = (real)penalty->rho / (2.0L * factor);
    real square = 0.0L, blur = 0.0L, gap;
    if (alpha == 0.0L) {
        for (int64_t j = 0; j < p->columns; j++)
            if (p->square[j] > 0.0L)
                blur = fmaxl(blur,
                             fabsl(scale_of(p, j) * p->mean[j]) * sqrtl(p->total / p->square[j]));
        gap = 4.0L * (real)DBL_EPSILON * blur * (real)p->fit->report.gap;
        return (double)(gap + (p->target_square > 0.0L ? moved / sqrtl(p->target_square) : 0.0L));
    }
    for (int64_t j = 0; j < p->columns; j++)
        square += p->square[j];
    gap = factor * moved * (sqrtl(p->value) + moved + moved * square / alpha);
    return (double)(gap / fmaxl(1.0L, objective));
}

/* The same for the objective, relative to it. */
static double find_objective_rounding(const proof *p, const mg_penalty *penalty, real objective) {
    const real moved = 4.0L * (real)DBL_EPSILON * p->terms * sqrtl(p->total);
    const real change = (real)penalty->factor * moved * (2.0L * sqrtl(p->value) + moved);
    return (double)(change / fmaxl(1.0L, objective));
}

static margin_status judge(proof *p, const mg_penalty *penalty, double tolerance) {
    margin_report *report = &p->fit->report;
    MG_TRY(each_sample(p, visit_means));
    p->target_mean = p->intercept ? (real)p->problem->target[0] + p->target_mean / p->total : 0.0L;
    for (int64_t j = 0; j < p->columns; j++) {
        p->mean[j] /= p->total;
        p->constant += shift_of(p, j) * (real)p->w[j];
        p->offset += fabsl(shift_of(p, j) * (real)p->w[j]);
    }
    MG_TRY(each_sample(p, visit_residual));
    finish_columns(p);
    if (penalty->rho > 0.0) {
        MG_TRY(ridge_gap(p, penalty, tolerance));
    } else {
        report->objective = (double)((real)penalty->factor * p->value);
        report->gap = normal_residual(p);
    }
    mg_report_set(report, MG_ITEM_ROUNDING, find_rounding(p, penalty, (real)report->objective));
    mg_report_set(report, MG_ITEM_OBJECTIVE_ROUNDING,
                  find_objective_rounding(p, penalty, (real)report->objective));
    report->tolerance = tolerance;
    report->status = report->gap <= tolerance ? MARGIN_OK : MARGIN_STOPPED_STALLED;
    return MARGIN_OK;
}

margin_status mg_squares_verify(mg_fit *fit, const mg_penalty *penalty, bool intercept,
                                double tolerance, const mg_hypothesis *hypothesis) {
    const int64_t n = fit->problem->x.columns;
    proof p = {.fit = fit,
               .problem = fit->problem,
               .w = hypothesis->view.linear.weights,
               .constant = (real)hypothesis->view.linear.intercept[0],
               .offset = fabsl((real)hypothesis->view.linear.intercept[0]),
               .intercept = intercept,
               .columns = n};
    mg_heap *heap = fit->context->heap;
    MG_NEW(heap, p.mean, 5 * n, "the sums of the columns", fit->error);
    memset(p.mean, 0, (size_t)(4 * n) * sizeof *p.mean);
    p.square = p.mean + n;
    p.gradient = p.mean + 2 * n;
    p.stored = p.mean + 3 * n;
    p.row = (double *)(p.mean + 4 * n);
    const margin_status status = judge(&p, penalty, tolerance);
    mg_free(heap, p.mean);
    return status;
}
