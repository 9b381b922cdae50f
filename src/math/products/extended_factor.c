/* A factor in extended precision: see extended_factor.h. */
#include "math/products/extended_factor.h"

#include "base/pool.h"
#include "base/status.h"
#include "base/sweep.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef long double real;

/* Brings the number with the greatest rest to place `at` of the order. */
static void choose_next(mg_extended_factor *f, int64_t at) {
    int64_t best = at;
    for (int64_t l = at + 1; l < f->size; l++)
        if (f->scratch[f->order[l]] > f->scratch[f->order[best]]) best = l;
    const int64_t next = f->order[best];
    f->order[best] = f->order[at];
    f->order[at] = next;
}

/* Rows or columns side by side: a sum alone would wait for itself. */
enum { BESIDE = 4 };

/* Of number `at` of the order, the rows behind it. */
typedef struct factor_walk {
    const mg_extended_factor *f;
    int64_t at;
} factor_walk;

static margin_status extended_column(const mg_block *block, void *argument) {
    const factor_walk *walk = argument;
    const mg_extended_factor *f = walk->f;
    const int64_t r = f->order[walk->at], last = block->first + block->count - 1;
    const real *own = f->matrix + r * f->size;
    for (int64_t l = block->first; l <= last; l += BESIDE) {
        real *rows[BESIDE], sums[BESIDE];
        for (int64_t k = 0; k < BESIDE; k++) { /* where they are fewer, the last one again */
            rows[k] = f->matrix + f->order[walk->at + 1 + MG_MIN(l + k, last)] * f->size;
            sums[k] = rows[k][r];
        }
        for (int64_t s = 0; s < walk->at; s++)
            for (int64_t k = 0; k < BESIDE; k++)
                sums[k] -= rows[k][f->order[s]] * own[f->order[s]];
        for (int64_t k = 0; k < BESIDE; k++)
            rows[k][r] = sums[k] / own[r];
    }
    return MARGIN_OK;
}

margin_status mg_extended_cholesky(margin_context *context, mg_extended_factor *f,
                                   margin_error *error) {
    enum { WORK = 1 << 16 }; /* products of a thread */
    const int64_t n = f->size;
    for (int64_t r = 0; r < n; r++) {
        f->order[r] = r;
        f->scratch[r] = f->matrix[r * n + r];
        for (int64_t s = 0; s < r; s++)
            f->matrix[s * n + r] = f->matrix[r * n + s];
    }
    for (f->definite = 0; f->definite < f->count; f->definite++) {
        const int64_t at = f->definite, beside = WORK / (at + 1) / BESIDE;
        factor_walk walk = {f, at};
        choose_next(f, at);
        const int64_t r = f->order[at];
        if (!(f->scratch[r] > 0.0L)) break;
        f->matrix[r * n + r] = sqrtl(f->scratch[r]);
        MG_TRY(mg_sweep_each(context, n - at - 1, (beside + 1) * BESIDE, extended_column, &walk,
                             error));
        for (int64_t l = at + 1; l < n; l++) {
            const real entry = f->matrix[f->order[l] * n + r];
            f->scratch[f->order[l]] -= entry * entry;
        }
    }
    return MARGIN_OK;
}

real mg_extended_solve(const mg_extended_factor *f, real *x) {
    const int64_t n = f->size;
    real sum = 0.0L;
    int64_t start = 0;
    while (start < f->count && x[f->order[start]] == 0.0L)
        start++;
    for (int64_t at = start; at < f->count; at++) {
        const int64_t r = f->order[at];
        const real *row = f->matrix + r * n;
        real own = x[r];
        for (int64_t l = start; l < at; l++)
            own -= row[f->order[l]] * x[f->order[l]];
        x[r] = own / row[r];
        sum += x[r] * x[r];
    }
    return sum;
}

/* ---- From rows ------------------------------------------------------------------------------- */

void mg_extended_fold(mg_extended_factor *f, real *x) {
    const int64_t n = f->size;
    for (int64_t r = 0; r < n; r++) {
        if (x[r] == 0.0L) continue;
        const real own = f->matrix[r * n + r], length = hypotl(own, x[r]);
        const real c = own / length, s = x[r] / length;
        f->matrix[r * n + r] = length;
        for (int64_t q = r + 1; q < n; q++) {
            real *entry = f->matrix + q * n + r;
            const real before = *entry;
            *entry = c * before + s * x[q];
            x[q] = c * x[q] - s * before;
        }
    }
}

static void scale_row(mg_extended_factor *f, real *scale, int64_t r) {
    real *row = f->matrix + r * f->size, square = 0.0L;
    for (int64_t l = 0; l <= r; l++)
        square += row[l] * row[l];
    scale[r] = square > 0.0L ? 1.0L / sqrtl(square) : 0.0L;
    for (int64_t l = 0; l <= r; l++)
        row[l] *= scale[r];
}

/* Number `at` of the order by a reflection (Householder) of all that are left. */
static bool extended_reflect(mg_extended_factor *f, int64_t at) {
    const int64_t n = f->size;
    for (int64_t l = at; l < n; l++) {
        const real *row = f->matrix + f->order[l] * n;
        f->scratch[f->order[l]] = 0.0L;
        for (int64_t j = at; j < n; j++)
            f->scratch[f->order[l]] += row[j] * row[j];
    }
    choose_next(f, at);
    real *own = f->matrix + f->order[at] * n, square = f->scratch[f->order[at]];
    const real length = own[at] > 0.0L ? -sqrtl(square) : sqrtl(square);
    if (!(square > 0.0L)) return false;
    square = 2.0L * (square - own[at] * length);
    own[at] -= length;
    for (int64_t l = at + 1; l < n; l++) {
        real *row = f->matrix + f->order[l] * n, product = 0.0L;
        for (int64_t j = at; j < n; j++)
            product += own[j] * row[j];
        for (int64_t j = at; j < n; j++)
            row[j] -= 2.0L * product / square * own[j];
    }
    own[at] = length;
    return true;
}

margin_status mg_extended_reflect(const margin_context *context, mg_extended_factor *f, real *scale,
                                  margin_error *error) {
    const int64_t n = f->size;
    for (int64_t r = 0; r < n; r++) {
        scale_row(f, scale, r);
        f->order[r] = r;
    }
    for (f->definite = 0; f->definite < f->count; f->definite++) {
        if (mg_cancelled(context)) return mg_fail_cancelled(error);
        if (!extended_reflect(f, f->definite)) break;
    }
    for (int64_t at = 0; at < n; at++) {
        real *row = f->matrix + f->order[at] * n;
        memcpy(f->scratch, row, (size_t)n * sizeof *row);
        for (int64_t l = 0; l <= at && l < f->count; l++)
            row[f->order[l]] = f->scratch[l];
    }
    return MARGIN_OK;
}

/* ---- Its error ------------------------------------------------------------------------------- */

typedef struct inverse_walk {
    const mg_extended_factor *f;
    real *room, *sums; /* workers x size x BESIDE; for each BESIDE columns */
} inverse_walk;

/* |x|^2 of some columns x of L^-1. */
static margin_status add_columns(void *argument, int64_t number, int worker) {
    const inverse_walk *walk = argument;
    const mg_extended_factor *f = walk->f;
    const int64_t first = number * BESIDE;
    real *x = walk->room + worker * f->size * BESIDE, sum = 0.0L;
    memset(x, 0, (size_t)(f->size * BESIDE) * sizeof *x);
    for (int64_t k = 0; k < BESIDE && first + k < f->count; k++)
        x[f->order[first + k] * BESIDE + k] = 1.0L;
    for (int64_t at = first; at < f->count; at++) {
        const real *row = f->matrix + f->order[at] * f->size;
        real *into = x + f->order[at] * BESIDE, own[BESIDE];
        memcpy(own, into, sizeof own);
        for (int64_t l = first; l < at; l++)
            for (int64_t k = 0; k < BESIDE; k++)
                own[k] -= row[f->order[l]] * x[f->order[l] * BESIDE + k];
        for (int64_t k = 0; k < BESIDE; k++) {
            into[k] = own[k] / row[f->order[at]];
            sum += into[k] * into[k];
        }
    }
    walk->sums[number] = sum;
    return MARGIN_OK;
}

margin_status mg_extended_error(margin_context *context, mg_extended_factor *f, bool folded,
                                margin_error *error) {
    const int64_t parts = (f->count + BESIDE - 1) / BESIDE;
    inverse_walk walk = {.f = f};
    real trace = 0.0L;
    f->error = (real)INFINITY;
    if (f->definite < f->count) return MARGIN_OK;
    MG_SCOPED_ARENA(arena, context->heap);
    MG_TRY(MG_PIECES(&arena, "a verification", error,
                     MG_PIECE(walk.room, mg_threads(context) * f->size * BESIDE),
                     MG_PIECE(walk.sums, parts)));
    MG_TRY(mg_parallel(context, parts, add_columns, &walk, error));
    for (int64_t k = 0; k < parts; k++)
        trace += walk.sums[k];
    f->error =
        8.0L * (real)LDBL_EPSILON * (real)MG_MAX(f->count, 1) * (folded ? sqrtl(trace) : trace);
    return MARGIN_OK;
}
