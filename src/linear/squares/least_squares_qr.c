/* Least squares by orthogonal transformations.
 *
 * Blocks of rows of [1 A y], centred and scaled, are folded one after the other into a triangle by
 * Householder reflections, and triangles are folded into each other (Demmel, Grigori, Hoemmen,
 * Langou, "Communication-optimal parallel and sequential QR", SIAM J. Sci. Comput. 34, 2012). QR
 * of the triangle with pivoting tells what the columns span to the accuracy of the data itself:
 * no product of two columns is ever rounded. Several times the work of the normal equations, so
 * this is for columns that depend on each other closely. */
#include "linear/squares/least_squares.h"

#include "math/products/cholesky.h"
#include "math/products/lapack.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

/* An upper triangle and a block of rows to be folded into it, both by columns. */
typedef struct triangle {
    int64_t size, room; /* columns; rows of a block */
    double *r;          /* size columns of `size` numbers */
    double *block;      /* size columns of `room` numbers */
} triangle;

/* Folds `rows` rows of the block into the triangle; of an upper triangle: `rows` of them. */
static margin_status fold(const mg_stop *stop, const triangle *t, int64_t rows, bool upper,
                          margin_error *error) {
    return mg_lapack_dtpqrt(stop, rows, t->size, upper ? rows : 0, t->r, t->size, t->block, t->room,
                            error);
}

/* ---- The sweep ------------------------------------------------------------------------------- */

typedef struct qr_walk {
    const mg_squares *s;
    const mg_squares_factor *f;
    mg_stop stop;
    int64_t first, size, room; /* first: the number of columns before those of A */
    atomic_int ended;          /* a status, if one of the folds did not come to its end */
} qr_walk;

/* A state: the triangle, the block, a row. */
static triangle triangle_of(const qr_walk *walk, void *state) {
    double *numbers = state;
    return (triangle){walk->size, walk->room, numbers, numbers + walk->size * walk->size};
}

static void fold_in_walk(qr_walk *walk, const triangle *t, int64_t rows, bool upper) {
    if (atomic_load(&walk->ended) != MARGIN_OK) return;
    const margin_status status = fold(&walk->stop, t, rows, upper, NULL);
    if (status != MARGIN_OK) atomic_store(&walk->ended, status);
}

/* Sample i as row `at` of the block; `x` is scratch. Differences from a mean are exact where they
 * are small, and what is wrong with the mean itself the column of ones takes. */
static void fill_row(const qr_walk *walk, const triangle *t, int64_t i, int64_t at, double *x) {
    const mg_squares *s = walk->s;
    const mg_problem *problem = s->problem;
    const double root = sqrt(s->c[i]);
    double *to = t->block + at;
    mg_sample_values(problem, i, x);
    if (walk->first) to[0] = root;
    for (int64_t k = 0; k < walk->f->count; k++) {
        const int64_t j = walk->f->column[k];
        const double scale = problem->scale ? problem->scale[j] : 1.0;
        const double centre = (s->mean[j] - (problem->shift ? problem->shift[j] : 0.0)) / scale;
        to[(walk->first + k) * t->room] = root * (scale * (x[j] - centre) / s->norm[j]);
    }
    to[(walk->size - 1) * t->room] =
        s->spread > 0.0 ? root * ((problem->target[i] - s->centre) / s->spread) : 0.0;
}

static margin_status fold_rows(void *state, const mg_block *block, void *argument) {
    qr_walk *walk = argument;
    const triangle t = triangle_of(walk, state);
    double *x = t.block + t.size * t.room;
    for (int64_t k = 0; k < block->count; k += t.room) {
        const int64_t count = MG_MIN(block->count - k, t.room);
        for (int64_t at = 0; at < count; at++) {
            if (mg_cancelled(walk->s->context)) return MARGIN_ERROR_CANCELLED;
            fill_row(walk, &t, block->first + k + at, at, x);
        }
        fold_in_walk(walk, &t, count, false);
    }
    return MARGIN_OK;
}

static void fold_triangles(void *into, const void *from, void *argument) {
    qr_walk *walk = argument;
    const triangle t = triangle_of(walk, into);
    const double *other = from;
    for (int64_t j = 0; j < t.size; j++)
        memcpy(t.block + j * t.room, other + j * t.size, (size_t)(j + 1) * sizeof *other);
    fold_in_walk(walk, &t, t.size, true);
}

/* ---- The triangle ---------------------------------------------------------------------------- */

/* Columns of A and the target, not that of ones. The penalty is one more block of rows. */
static margin_status take_triangle(mg_squares *s, const qr_walk *walk, const double *whole,
                                   triangle *t) {
    const int64_t n = walk->f->count, size = n + 1;
    const double most = 1e140;
    *t = (triangle){.size = size, .room = size};
    MG_TRY(MG_PIECES(&s->arena, "the triangle of the columns", s->error,
                     MG_PIECE(t->r, size * size), MG_PIECE(t->block, size * size)));
    for (int64_t k = 0; k < size; k++)
        memcpy(t->r + k * size, whole + (walk->first + k) * walk->size + walk->first,
               (size_t)size * sizeof(double));
    if (s->alpha == 0.0) return MARGIN_OK;
    memset(t->block, 0, (size_t)(size * size) * sizeof(double));
    for (int64_t k = 0; k < n; k++)
        t->block[k * size + k] = fmin(sqrt(s->alpha) / s->norm[walk->f->column[k]], most);
    return mg_squares_in_time(s, fold(&s->stop, t, n, true, s->error));
}

/* R in Fortran's order with columns of length 1; f->scale. */
static void copy_triangle(const mg_squares *s, const triangle *t, mg_squares_factor *f) {
    for (int64_t k = 0; k < f->count; k++) {
        const double *column = t->r + k * t->size;
        double square = 0.0;
        for (int64_t l = 0; l <= k; l++)
            square += column[l] * column[l];
        const double length = square > 0.0 ? sqrt(square) : 1.0;
        f->scale[k] = 1.0 / (length * s->norm[f->column[k]]);
        for (int64_t l = 0; l < f->count; l++)
            f->matrix[k * f->count + l] = l <= k ? column[l] / length : 0.0;
    }
}

/* Rounding of many rows may pass for a direction: a rank with a pivot that small is at most that of
 * the data, found without rounding. */
static margin_status cap_rank(mg_squares *s, mg_squares_factor *f) {
    const double surely = 1e-10, *r = f->matrix;
    int64_t rank;
    if (f->rank == 0 || fabs(r[(f->rank - 1) * (f->count + 1)]) > surely * fabs(r[0]))
        return MARGIN_OK;
    MG_TRY(mg_squares_exact_rank(s, &rank));
    f->rank = MG_MIN(f->rank, rank);
    return MARGIN_OK;
}

/* The rank, and the condition of what is solved for; with a penalty that is everything, though
 * rounding may hide it. */
static margin_status find_rank(mg_squares *s, mg_squares_factor *f) {
    const int64_t n = f->count;
    const double *r = f->matrix, most = 64.0 / DBL_EPSILON;
    const double least = s->alpha > 0.0 ? -1.0 : mg_squares_blur(s, f) * fabs(r[0]);
    double square = 0.0;
    for (f->rank = 0; f->rank < n && fabs(r[f->rank * (n + 1)]) > least;)
        f->rank++;
    if (s->alpha == 0.0) MG_TRY(cap_rank(s, f));
    for (int64_t k = 0; k < f->rank; k++)
        for (int64_t l = 0; l <= k; l++)
            square += r[k * n + l] * r[k * n + l];
    s->condition = 1.0 / sqrt(mg_cholesky_condition(s->context, f->rank, r, n, square, f->work));
    if (!(s->condition <= most)) s->condition = most;
    return MARGIN_OK;
}

/* QR with pivoting of the triangle: the factor, and the start, step = R^-1 Q'y. */
static margin_status qr_decompose(mg_squares *s, const triangle *t, mg_squares_factor *f) {
    const int64_t n = f->count;
    double *tau, *y = t->r + n * t->size;
    int *pivots;
    MG_TRY(MG_PIECES(&s->arena, "the triangle of the columns", s->error, MG_PIECE(tau, n),
                     MG_PIECE(pivots, n)));
    memset(pivots, 0, (size_t)n * sizeof *pivots);
    copy_triangle(s, t, f);
    MG_TRY(mg_squares_in_time(
        s, mg_lapack_dgeqp3(&s->stop, n, n, f->matrix, n, pivots, tau, s->error)));
    if (s->out_of_time) return MARGIN_OK;
    MG_TRY(mg_squares_in_time(
        s, mg_lapack_dormqr(&s->stop, 'L', 'T', n, 1, n, f->matrix, n, tau, y, n, s->error)));
    if (s->out_of_time) return MARGIN_OK;
    for (int64_t k = 0; k < n; k++)
        y[k] *= s->spread;
    MG_TRY(mg_squares_factor_pivoted(s, f, pivots));
    MG_TRY(find_rank(s, f));
    if (s->alpha == 0.0) MG_TRY(mg_squares_factor_null(s, f));
    return s->out_of_time ? MARGIN_OK : mg_squares_factor_start(s, f, y);
}

static margin_status qr_solve(mg_squares *s, const qr_walk *walk, const double *whole,
                              mg_squares_factor *f) {
    triangle t;
    memset(s->step, 0, (size_t)s->columns * sizeof *s->step);
    MG_TRY(take_triangle(s, walk, whole, &t));
    if (s->out_of_time) return MARGIN_OK;
    if (f->count > 0) MG_TRY(qr_decompose(s, &t, f));
    if (s->out_of_time) return MARGIN_OK;
    mg_squares_start(s);
    mg_squares_move(s, s->step);
    return mg_squares_refine(s, mg_squares_factor_correct, f);
}

/* The sweep; *whole: walk->size x walk->size numbers and scratch. */
static margin_status make_triangle(mg_squares *s, const mg_squares_factor *f, const mg_stop *stop,
                                   qr_walk *walk, double **whole) {
    enum { LEAST_ROOM = 256 };
    *walk = (qr_walk){.s = s, .f = f, .stop = *stop, .first = s->intercept ? 1 : 0};
    walk->size = walk->first + f->count + 1;
    walk->room = MG_MAX(LEAST_ROOM, walk->size);
    const int64_t numbers = walk->size * (walk->size + walk->room) + s->columns;
    const mg_accumulator accumulator = {.state_size = numbers * (int64_t)sizeof(double),
                                        .sums = walk->size * walk->size,
                                        .add = fold_rows,
                                        .merge = fold_triangles};
    MG_ARENA_NEW(&s->arena, *whole, numbers, "the triangle of the columns", s->error);
    MG_TRY(mg_sweep(s->context, s->samples, 4 * walk->room, &accumulator, walk, *whole, s->error));
    const margin_status ended = (margin_status)atomic_load(&walk->ended);
    if (ended == MARGIN_ERROR_CANCELLED) return mg_fail_cancelled(s->error);
    if (ended == MARGIN_ERROR_MEMORY)
        return mg_no_memory(s->context->heap, walk->size, sizeof(double),
                            "the triangle of the columns", s->error);
    return ended;
}

/* Without a deadline: there is nothing to fall back on. */
margin_status mg_squares_triangle(mg_squares *s, const mg_squares_factor *f, double *r) {
    const mg_stop stop = {
        .context = s->context, .deadline = (double)INFINITY, .max_iterations = -1};
    qr_walk walk;
    double *whole;
    MG_TRY(make_triangle(s, f, &stop, &walk, &whole));
    for (int64_t k = 0; k < f->count; k++)
        for (int64_t l = 0; l < f->count; l++)
            r[k * f->count + l] =
                l < k ? 0.0 : whole[(walk.first + l) * walk.size + walk.first + k];
    return MARGIN_OK;
}

margin_status mg_squares_qr(mg_squares *s) {
    mg_squares_factor f;
    qr_walk walk;
    double *whole;
    MG_TRY(mg_squares_moments(s));
    MG_TRY(mg_squares_factor_new(s, &f));
    MG_TRY(mg_squares_factor_apart(s, &f));
    snprintf(s->method, sizeof s->method, "QR of the columns");
    s->columns_text[0] = 0;
    s->rank = -1;
    s->is_partial = false;
    s->judged = false;
    s->correct = NULL; /* the triangle holds one target */
    MG_TRY(mg_squares_in_time(s, make_triangle(s, &f, &s->stop, &walk, &whole)));
    return s->out_of_time ? MARGIN_OK : qr_solve(s, &walk, whole, &f);
}
