/* The pass over a design with several functions.
 *
 * Dense rows: scores of a chunk of rows, their losses and slopes, and the product of the slopes
 * with the same rows while these are in cache. Sparse rows: scores and slopes of all rows, then the
 * gradient column by column.
 *
 * In single precision a centre is rounded to f32; what is lost thereby (`lost`) is given back to
 * the offsets and to the gradient. */
#include "linear/objective/classes.h"

#include "linear/design/design_block.h"
#include "linear/kernels/classes_rows.h"
#include "math/vectors/vector_math.h"

#include <math.h>
#include <string.h>

typedef struct pass_walk {
    mg_classes *o;
    const mg_classes_rows *rows; /* dense */
    int64_t ld;
    const double *given;     /* shares; NULL: from the scores */
    double *shares, *scores; /* wanted, or NULL */
    bool gradient;
} pass_walk;

/* Behind this head: classes sums of slopes, and for dense rows classes x columns of a gradient. */
typedef struct pass_sums {
    double value;
    int64_t errors;
    _Alignas(64) double numbers[];
} pass_sums;

static int64_t sum_count(const pass_walk *walk) {
    const mg_classes *o = walk->o;
    return o->classes + (walk->rows && walk->gradient ? o->classes * o->columns : 0);
}

static void start_sums(void *state, void *argument) {
    pass_sums *sums = state;
    sums->value = 0.0;
    sums->errors = 0;
    memset(sums->numbers, 0, (size_t)sum_count(argument) * sizeof *sums->numbers);
}

static void merge_sums(void *into, const void *from, void *argument) {
    pass_sums *a = into;
    const pass_sums *b = from;
    const int64_t count = sum_count(argument);
    a->value += b->value;
    a->errors += b->errors;
    for (int64_t j = 0; j < count; j++)
        a->numbers[j] += b->numbers[j];
}

/* ---- One sample ------------------------------------------------------------------------------ */

static double greatest(const double *z, int64_t classes) {
    double most = z[0];
    for (int64_t k = 1; k < classes; k++)
        if (!(z[k] <= most)) most = z[k];
    return most;
}

static bool is_error(const double *z, int64_t classes, int64_t own) {
    for (int64_t k = 0; k < classes; k++)
        if (k != own && !(z[k] < z[own])) return true;
    return false;
}

static double hinge_loss(const double *z, int64_t classes, int64_t own) {
    double most = 0.0;
    for (int64_t k = 0; k < classes; k++) {
        const double excess = 1.0 + z[k] - z[own];
        if (k != own && !(excess <= most)) most = excess;
    }
    return most;
}

/* From the exponentials of z - max z: shares in place, and log sum exp(z - max). The sum of all but
 * one term that is 1 keeps small losses exact. */
static double settle_shares(double *e, int64_t classes, double sum_but_one) {
    const double inverse = 1.0 / (1.0 + sum_but_one);
    for (int64_t k = 0; k < classes; k++)
        e[k] *= inverse;
    return log1p(sum_but_one);
}

static double sum_but_one(const double *e, int64_t classes) {
    double sum = 0.0;
    bool left_out = false;
    for (int64_t k = 0; k < classes; k++) {
        if (!left_out && e[k] == 1.0)
            left_out = true;
        else
            sum += e[k];
    }
    return left_out ? sum : (double)NAN;
}

/* slopes = c (shares - e_own), its own one as what the others leave */
static void make_slopes(const double *shares, int64_t classes, int64_t own, double c,
                        double *slopes) {
    double others = 0.0;
    for (int64_t k = 0; k < classes; k++) {
        slopes[k] = c * shares[k];
        if (k != own) others += slopes[k];
    }
    slopes[own] = -others;
}

/* ---- Chunks ---------------------------------------------------------------------------------- */

static void chunk_scores(const pass_walk *walk, int64_t first, int64_t count,
                         const void *const *rows, double *z) {
    const mg_classes *o = walk->o;
    if (walk->rows)
        walk->rows->scores(rows, count, o->columns, o->centre, o->packed, walk->ld, o->classes, z);
    else
        mg_classes_sparse_scores(o, first, count, z);
    for (int64_t r = 0; r < count; r++)
        for (int64_t k = 0; k < o->classes; k++)
            z[r * o->classes + k] += o->offsets[k];
}

/* Losses of a chunk; for the softmax the scores become shares. */
static void chunk_losses(const pass_walk *walk, int64_t first, int64_t count, double *z,
                         pass_sums *sums) {
    const mg_classes *o = walk->o;
    const int32_t *code = o->design->problem->code + first;
    const double *c = o->c + first;
    const int64_t classes = o->classes;
    double behind[MG_CHUNK_ROWS]; /* the greatest score less the own one */
    for (int64_t r = 0; r < count; r++) {
        double *at = z + r * classes;
        sums->errors += is_error(at, classes, code[r]);
        if (o->loss == MG_CLASSES_HINGE) {
            sums->value += c[r] * hinge_loss(at, classes, code[r]);
            continue;
        }
        const double most = greatest(at, classes);
        behind[r] = most - at[code[r]];
        for (int64_t k = 0; k < classes; k++)
            at[k] -= most;
    }
    if (o->loss == MG_CLASSES_HINGE) return;
    mg_vector_exp(o->design->isa, z, count * classes, z);
    for (int64_t r = 0; r < count; r++) {
        double *at = z + r * classes;
        sums->value += c[r] * (settle_shares(at, classes, sum_but_one(at, classes)) + behind[r]);
    }
}

static void chunk_gradient(const pass_walk *walk, int64_t count, const void *const *rows,
                           double *slopes, pass_sums *sums) {
    const int64_t numbers = count * walk->o->classes;
    float *narrow =
        (float *)(void *)slopes; /* in place: a number is read before it is written to */
    if (walk->rows->single)
        for (int64_t k = 0; k < numbers; k++) {
            const float value = (float)slopes[k];
            memcpy(narrow + k, &value, sizeof value);
        }
    walk->rows->gradient(rows, count, walk->o->columns, walk->o->centre, slopes, walk->o->classes,
                         sums->numbers + walk->o->classes);
}

static void add_chunk(const pass_walk *walk, int64_t first, int64_t count, double *work,
                      pass_sums *sums) {
    mg_classes *o = walk->o;
    const int64_t classes = o->classes, numbers = count * classes;
    const void *rows[MG_CHUNK_ROWS];
    const double *shares = work;
    double *slopes = o->slopes ? o->slopes + first * classes : work + o->chunk_rows * classes;
    const mg_visit_list list = {o->design, NULL};
    if (walk->rows) mg_design_find_rows(&list, first, count, rows);
    if (walk->given) {
        shares = walk->given + first * classes;
    } else {
        chunk_scores(walk, first, count, rows, work);
        if (walk->scores)
            memcpy(walk->scores + first * classes, work, (size_t)numbers * sizeof *work);
        chunk_losses(walk, first, count, work, sums);
    }
    if (walk->shares) memcpy(walk->shares + first * classes, work, (size_t)numbers * sizeof *work);
    if (!walk->gradient) return;
    for (int64_t r = 0; r < count; r++) {
        double *at = slopes + r * classes;
        make_slopes(shares + r * classes, classes, o->design->problem->code[first + r],
                    o->c[first + r], at);
        for (int64_t k = 0; k < classes; k++)
            sums->numbers[k] += at[k];
    }
    if (walk->rows) chunk_gradient(walk, count, rows, slopes, sums);
}

static margin_status add_block(void *state, const mg_block *block, void *argument) {
    const pass_walk *walk = argument;
    const mg_classes *o = walk->o;
    double *work = o->work + block->worker * o->scratch;
    for (int64_t at = 0; at < block->count; at += o->chunk_rows)
        add_chunk(walk, block->first + at, MG_MIN(block->count - at, o->chunk_rows), work, state);
    return MARGIN_OK;
}

/* ---- Weights as the rows take them ----------------------------------------------------------- */

static void pack_centre(mg_classes *o, int64_t ld, bool single) {
    const double *centre = o->design->centre;
    double *lost = o->lost;
    memset(o->centre, 0, (size_t)ld * sizeof *lost);
    for (int64_t j = 0; j < o->columns; j++) {
        const float narrow = (float)centre[j];
        lost[j] = single ? (double)narrow - centre[j] : 0.0;
        if (single)
            ((float *)o->centre)[j] = narrow;
        else
            ((double *)o->centre)[j] = centre[j];
    }
}

static void pack_weights(mg_classes *o, int64_t k, int64_t ld, const double *w, bool single) {
    if (single) {
        float *to = (float *)o->packed + k * ld;
        memset(to, 0, (size_t)ld * sizeof *to);
        for (int64_t j = 0; j < o->columns; j++)
            to[j] = (float)w[j];
    } else {
        double *to = (double *)o->packed + k * ld;
        memset(to, 0, (size_t)ld * sizeof *to);
        memcpy(to, w, (size_t)o->columns * sizeof *to);
    }
}

static margin_status prepare(pass_walk *walk, const double *w, const double *b, bool single,
                             margin_error *error) {
    mg_classes *o = walk->o;
    mg_design *d = o->design;
    walk->ld = (o->columns + MG_CLASSES_PADDING - 1) / MG_CLASSES_PADDING * MG_CLASSES_PADDING;
    if (!mg_is_csr(&d->problem->x)) {
        walk->rows = mg_classes_rows_for(&d->problem->x, d->isa, single);
        if (o->centre) pack_centre(o, walk->ld, walk->rows->single);
    }
    if (!w) return MARGIN_OK;
    for (int64_t k = 0; k < o->classes; k++) {
        const mg_row_weights own = mg_design_row_weights(d, w + k * o->columns, b[k]);
        o->offsets[k] = own.b;
        if (!walk->rows) continue;
        pack_weights(o, k, walk->ld, own.w, walk->rows->single);
        if (o->centre)
            for (int64_t j = 0; j < o->columns; j++)
                o->offsets[k] += ((const double *)o->lost)[j] * own.w[j];
    }
    return walk->rows ? MARGIN_OK : mg_classes_turn_weights(o, w, error);
}

/* ---- The pass -------------------------------------------------------------------------------- */

static margin_status finish_gradient(const pass_walk *walk, const pass_sums *sums, double *gradient,
                                     double *totals, margin_error *error) {
    mg_classes *o = walk->o;
    const int64_t numbers = o->classes * o->columns;
    if (walk->rows)
        memcpy(gradient, sums->numbers + o->classes, (size_t)numbers * sizeof *gradient);
    else
        MG_TRY(mg_classes_sparse_gradient(o, gradient, error));
    for (int64_t k = 0; k < o->classes; k++) {
        double *own = gradient + k * o->columns;
        if (o->centre)
            for (int64_t j = 0; j < o->columns; j++)
                own[j] += ((const double *)o->lost)[j] * sums->numbers[k];
        mg_design_from_rows(o->design, sums->numbers[k], own);
        totals[k] = sums->numbers[k];
    }
    return MARGIN_OK;
}

static margin_status walk_rows(pass_walk *walk, const double *w, const double *b, bool single,
                               double *gradient, double *totals, mg_classes_point *point,
                               margin_error *error) {
    mg_classes *o = walk->o;
    mg_accumulator accumulator = {.init = start_sums, .add = add_block, .merge = merge_sums};
    MG_TRY(prepare(walk, w, b, single, error));
    accumulator.state_size = (int64_t)sizeof(pass_sums) + sum_count(walk) * (int64_t)sizeof(double);
    pass_sums *sums = mg_new(o->design->heap, accumulator.state_size, 1);
    if (!sums)
        return mg_no_memory(o->design->heap, accumulator.state_size, 1,
                            "the gradient of a linear model", error);
    margin_status status =
        mg_sweep(o->design->context, o->samples, o->block_rows, &accumulator, walk, sums, error);
    if (status >= 0 && gradient) status = finish_gradient(walk, sums, gradient, totals, error);
    if (status >= 0 && point) {
        point->value = sums->value;
        point->errors = sums->errors;
    }
    mg_free(o->design->heap, sums);
    return status;
}

margin_status mg_classes_pass(mg_classes *o, const double *w, const double *b, bool single,
                              mg_classes_point *point, margin_error *error) {
    const double rho = o->penalty.rho;
    const bool gradient = point->gradient != NULL;
    pass_walk walk = {.o = o, .shares = point->shares, .gradient = gradient};
    MG_TRY(
        walk_rows(&walk, w, b, single, point->gradient, point->intercept_gradient, point, error));
    point->value += mg_classes_penalty(o, w);
    for (int64_t j = 0; gradient && j < o->classes * o->columns; j++)
        point->gradient[j] += rho * w[j];
    for (int64_t k = 0; gradient && !o->intercept && k < o->classes; k++)
        point->intercept_gradient[k] = 0.0;
    return MARGIN_OK;
}

margin_status mg_classes_gradient(mg_classes *o, const double *shares, double *gradient,
                                  double *sums, margin_error *error) {
    pass_walk walk = {.o = o, .given = shares, .gradient = true};
    return walk_rows(&walk, NULL, NULL, false, gradient, sums, NULL, error);
}

margin_status mg_classes_scores(mg_classes *o, const double *w, const double *b, double *scores,
                                margin_error *error) {
    pass_walk walk = {.o = o, .scores = scores};
    return walk_rows(&walk, w, b, false, NULL, NULL, NULL, error);
}
