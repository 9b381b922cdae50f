/* The pass over a design with several functions.
 *
 * Dense rows: scores of a chunk of rows, their losses and slopes, and the product of the slopes
 * with the same rows while these are in cache. Sparse rows: scores and slopes of all rows, then the
 * gradient column by column.
 *
 * In single precision a centre is rounded to f32; what is lost thereby (`lost`) is given back to
 * the offsets and to the gradient. */
#include "linear/objective/coupled.h"

#include "linear/design/design_block.h"
#include "math/rows/vector_math.h"

#include <string.h>

static const char purpose[] = "the functions of the classes";

static margin_status take_dense(mg_objective *o, mg_coupled *made, margin_error *error) {
    const int64_t padded = mg_classes_padded(o->columns);
    MG_ARENA_NEW(&o->arena, made->packed, padded * o->functions, purpose, error);
    if (!o->design->centre) return MARGIN_OK;
    return MG_PIECES(&o->arena, purpose, error, MG_PIECE(made->centre, padded),
                     MG_PIECE(made->lost, padded));
}

margin_status mg_coupled_create(mg_objective *o, margin_error *error) {
    enum { CACHE = 512 * 1024 }; /* the second one: rows are read twice */
    const mg_design *d = o->design;
    const bool sparse = mg_is_csr(&d->problem->x);
    const int64_t chunk_rows =
        d->problem->maker ? d->chunk_rows : mg_rows_of_chunk(&d->problem->x, CACHE);
    const int64_t sums = (sparse ? 1 : d->columns) * o->functions;
    const mg_coupled made = {.block_rows = mg_rows_of_block(d->problem, o->functions, sums, 8),
                             .chunk_rows = chunk_rows,
                             /* scores, slopes and a few numbers for each function */
                             .scratch = (2 * chunk_rows + 2) * o->functions};
    mg_coupled *c;
    MG_ARENA_NEW(&o->arena, c, 1, purpose, error);
    *c = made;
    o->coupled = c;
    MG_TRY(MG_PIECES(&o->arena, purpose, error, MG_PIECE(o->totals, o->functions),
                     MG_PIECE(c->offsets, o->functions),
                     MG_PIECE(c->work, mg_threads(d->context) * c->scratch)));
    return sparse ? mg_coupled_take_sparse(o, c, error) : take_dense(o, c, error);
}

typedef struct pass_walk {
    const mg_objective *o;
    const mg_classes_rows *rows; /* dense */
    int64_t ld;
    const double *given;     /* residuals; NULL: from the scores */
    double *shares, *scores; /* wanted, or NULL */
    bool gradient;
} pass_walk;

/* Behind this head: `functions` sums of slopes; dense rows: functions x columns of a gradient. */
typedef struct pass_sums {
    double value, errors;
    _Alignas(64) double numbers[];
} pass_sums;

static int64_t sum_count(const pass_walk *walk) {
    const mg_objective *o = walk->o;
    const int64_t head = sizeof(pass_sums) / sizeof(double);
    return head + o->functions + (walk->rows && walk->gradient ? o->functions * o->columns : 0);
}

/* ---- One sample ------------------------------------------------------------------------------ */

/* Of the other scores, of which a NaN may be passed over. */
static double greatest_other(const double *z, int64_t functions, int64_t own) {
    double most = -(double)INFINITY;
    for (int64_t k = 0; k < functions; k++)
        if (k != own && !(z[k] <= most)) most = z[k];
    return most;
}

/* From the exponentials of z - max z: shares in place, and log sum exp(z - max). The sum of all but
 * one term that is 1 keeps small losses exact. */
static double settle_shares(double *e, int64_t functions) {
    double sum = 0.0;
    bool left_out = false;
    for (int64_t k = 0; k < functions; k++) {
        if (!left_out && e[k] == 1.0)
            left_out = true;
        else
            sum += e[k];
    }
    if (!left_out) sum = (double)NAN;
    for (int64_t k = 0; k < functions; k++)
        e[k] *= 1.0 / (1.0 + sum);
    return log1p(sum);
}

void mg_coupled_slopes(const double *shares, int64_t functions, int64_t own, double c,
                       double *slopes) {
    double others = 0.0;
    for (int64_t k = 0; k < functions; k++) {
        slopes[k] = c * shares[k];
        if (k != own) others += slopes[k];
    }
    slopes[own] = -others;
}

/* ---- Chunks ---------------------------------------------------------------------------------- */

static void chunk_scores(const pass_walk *walk, int64_t first, int64_t count,
                         const void *const *rows, double *z) {
    const mg_objective *o = walk->o;
    if (walk->rows)
        walk->rows->scores(rows, count, o->columns, o->coupled->centre, o->coupled->packed,
                           walk->ld, o->functions, z);
    else
        mg_coupled_sparse_scores(o, first, count, z);
    for (int64_t r = 0; r < count; r++)
        for (int64_t k = 0; k < o->functions; k++)
            z[r * o->functions + k] += o->coupled->offsets[k];
}

/* Losses of a chunk; for the softmax the scores become shares. A chunk has a sum of its own, as
 * thousands of equal losses added to a large number are all rounded the same way. */
static void chunk_losses(const pass_walk *walk, int64_t first, int64_t count, double *z,
                         pass_sums *sums) {
    const mg_objective *o = walk->o;
    const int32_t *code = o->design->problem->code + first;
    const double *c = o->c + first;
    const int64_t functions = o->functions;
    double behind[MG_CHUNK_ROWS]; /* the greatest score less the own one */
    double value = 0.0;
    const bool shares = o->loss->kind != MG_LOSS_CRAMMER_SINGER;
    for (int64_t r = 0; r < count; r++) {
        double *at = z + r * functions;
        const double own = at[code[r]], other = greatest_other(at, functions, code[r]);
        sums->errors += !(other < own);
        if (!shares) value += c[r] * (1.0 + other <= own ? 0.0 : 1.0 + other - own);
        const double most = other <= own ? own : other;
        behind[r] = most - own;
        for (int64_t k = 0; k < functions && shares; k++)
            at[k] -= most;
    }
    if (shares) mg_vector_exp(o->design->isa, z, count * functions, z);
    for (int64_t r = 0; r < count && shares; r++)
        value += c[r] * (settle_shares(z + r * functions, functions) + behind[r]);
    sums->value += value;
}

/* To f32 in place: a number is read before it is written to. */
static void coupled_narrow(double *slopes, int64_t count) {
    float *to = (float *)(void *)slopes;
    for (int64_t k = 0; k < count; k++) {
        const float value = (float)slopes[k];
        memcpy(to + k, &value, sizeof value);
    }
}

static void sum_slopes(const double *slopes, int64_t count, int64_t functions, pass_sums *sums) {
    for (int64_t r = 0; r < count; r++)
        for (int64_t k = 0; k < functions; k++)
            sums->numbers[k] += slopes[r * functions + k];
}

/* Scores and losses, of which the shares are left in `work`, and their slopes behind them. */
static double *chunk_slopes(const pass_walk *walk, int64_t first, int64_t count,
                            const void *const *rows, double *work, pass_sums *sums) {
    const mg_objective *o = walk->o;
    const int64_t functions = o->functions, from = first * functions;
    const size_t bytes = (size_t)(count * functions) * sizeof *work;
    double *slopes = work + o->coupled->chunk_rows * functions;
    chunk_scores(walk, first, count, rows, work);
    if (walk->scores) memcpy(walk->scores + from, work, bytes);
    chunk_losses(walk, first, count, work, sums);
    if (walk->shares) memcpy(walk->shares + from, work, bytes);
    for (int64_t r = 0; r < count && walk->gradient; r++)
        mg_coupled_slopes(work + r * functions, functions, o->design->problem->code[first + r],
                          o->c[first + r], slopes + r * functions);
    return slopes;
}

MG_INLINE void coupled_add_chunk(const pass_walk *walk, int64_t first, int64_t count, double *work,
                                 pass_sums *sums) {
    const mg_objective *o = walk->o;
    const void *rows[MG_CHUNK_ROWS];
    const mg_visit_list list = {o->design, NULL};
    if (walk->rows) mg_design_find_rows(&list, first, count, rows);
    double *own = walk->given ? NULL : chunk_slopes(walk, first, count, rows, work, sums);
    const double *slopes = own ? own : walk->given + first * o->functions;
    if (!walk->gradient) return;
    sum_slopes(slopes, count, o->functions, sums);
    if (!walk->rows) {
        mg_coupled_turn_slopes(o, first, count, slopes);
        return;
    }
    if (own && walk->rows->single) coupled_narrow(own, count * o->functions);
    walk->rows->gradient(rows, count, o->columns, o->coupled->centre, slopes, o->functions,
                         sums->numbers + o->functions);
}

static margin_status coupled_add_block(void *state, const mg_block *block, void *argument) {
    const pass_walk *walk = argument;
    const mg_objective *o = walk->o;
    double *work = o->coupled->work + block->worker * o->coupled->scratch;
    for (int64_t at = 0; at < block->count; at += o->coupled->chunk_rows)
        coupled_add_chunk(walk, block->first + at,
                          MG_MIN(block->count - at, o->coupled->chunk_rows), work, state);
    return MARGIN_OK;
}

/* ---- Weights as the rows take them ----------------------------------------------------------- */

static void pack_centre(const mg_objective *o, int64_t ld, bool single) {
    const double *centre = o->design->centre;
    double *lost = o->coupled->lost;
    memset(o->coupled->centre, 0, (size_t)ld * sizeof *lost);
    for (int64_t j = 0; j < o->columns; j++) {
        const float narrow = (float)centre[j];
        lost[j] = single ? (double)narrow - centre[j] : 0.0;
        if (single)
            ((float *)(void *)o->coupled->centre)[j] = narrow;
        else
            o->coupled->centre[j] = centre[j];
    }
}

static void pack_weights(const mg_objective *o, int64_t k, int64_t ld, const double *w,
                         bool single) {
    if (single) {
        float *to = (float *)(void *)o->coupled->packed + k * ld;
        memset(to, 0, (size_t)ld * sizeof *to);
        for (int64_t j = 0; j < o->columns; j++)
            to[j] = (float)w[j];
    } else {
        double *to = o->coupled->packed + k * ld;
        memset(to, 0, (size_t)ld * sizeof *to);
        memcpy(to, w, (size_t)o->columns * sizeof *to);
    }
}

static margin_status coupled_prepare(pass_walk *walk, const double *w, const double *b, bool single,
                                     margin_error *error) {
    const mg_objective *o = walk->o;
    mg_design *d = o->design;
    walk->ld = mg_classes_padded(o->columns);
    if (!mg_is_csr(&d->problem->x)) {
        walk->rows = mg_classes_rows_for(&d->problem->x, d->isa, single);
        if (o->coupled->centre) pack_centre(o, walk->ld, walk->rows->single);
    }
    if (!w) return MARGIN_OK;
    for (int64_t k = 0; k < o->functions; k++) {
        const mg_row_weights own = mg_design_row_weights(d, w + k * o->columns, b[k]);
        o->coupled->offsets[k] = own.b;
        if (!walk->rows) continue;
        pack_weights(o, k, walk->ld, own.w, walk->rows->single);
        if (o->coupled->centre)
            for (int64_t j = 0; j < o->columns; j++)
                o->coupled->offsets[k] += o->coupled->lost[j] * own.w[j];
    }
    return walk->rows ? MARGIN_OK : mg_coupled_turn_weights(o, w, error);
}

/* ---- The pass -------------------------------------------------------------------------------- */

static margin_status finish_gradient(const pass_walk *walk, const pass_sums *sums, double *gradient,
                                     double *totals, margin_error *error) {
    const mg_objective *o = walk->o;
    const mg_coupled *coupled = o->coupled;
    const int64_t numbers = o->functions * o->columns;
    if (walk->rows)
        memcpy(gradient, sums->numbers + o->functions, (size_t)numbers * sizeof *gradient);
    else
        MG_TRY(mg_coupled_sparse_gradient(o, gradient, error));
    for (int64_t k = 0; k < o->functions; k++) {
        double *own = gradient + k * o->columns;
        if (coupled->centre)
            for (int64_t j = 0; j < o->columns; j++)
                own[j] += coupled->lost[j] * sums->numbers[k];
        mg_design_from_rows(o->design, sums->numbers[k], own);
        totals[k] = sums->numbers[k];
    }
    return MARGIN_OK;
}

margin_status mg_coupled_pass(const mg_objective *o, const double *w, const double *b,
                              mg_loss_point *point, margin_error *error) {
    pass_walk walk = {.o = o,
                      .given = point->given,
                      .shares = point->shares,
                      .scores = point->scores,
                      .gradient = point->gradient != NULL};
    MG_TRY(coupled_prepare(&walk, w, b, point->single, error));
    const int64_t count = sum_count(&walk);
    double *numbers;
    MG_SCOPED_ARENA(arena, o->design->heap);
    MG_ARENA_NEW(&arena, numbers, count, "the gradient of a linear model", error);
    const pass_sums *sums = (pass_sums *)numbers;
    MG_TRY(mg_sweep_sums(o->design->context, o->samples, o->coupled->block_rows, count, 0,
                         coupled_add_block, &walk, numbers, error));
    point->value = sums->value;
    point->errors = (int64_t)sums->errors;
    if (!walk.gradient) return MARGIN_OK;
    return finish_gradient(&walk, sums, point->gradient, point->intercept_gradient, error);
}
