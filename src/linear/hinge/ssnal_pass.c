/* The pass of the semismooth Newton solver: scores, values and gradient of its inner problem while
 * a chunk of rows is in cache. */
#include "linear/design/design_block.h"
#include "linear/hinge/ssnal.h"

#include <string.h>

typedef struct pass_walk {
    mg_visit_list list;
    mg_row_weights weights;
    const mg_ssnal *s;
    double *scores;
    bool fresh; /* scores are to be computed */
} pass_walk;

/* Sums of a pass, with `columns` numbers of the pull behind this head. */
typedef struct pass_sums {
    double value, loss, slackness, balance, errors, active;
    _Alignas(64) double pull[];
} pass_sums;

enum { HEAD = sizeof(pass_sums) / sizeof(double) };

/* What the samples [first, first + count) add beside the pull; r: their alpha_i y_i. */
static void add_samples(const pass_walk *walk, int64_t first, int64_t count, pass_sums *sums,
                        double *r) {
    const mg_ssnal *s = walk->s;
    const int8_t *sign = s->design->problem->sign + first;
    const double *c = s->c + first, *u = s->multipliers + first, *scores = walk->scores + first;
    const double sharpness = s->sharpness;
    double value = 0.0, loss = 0.0, slackness = 0.0;
    int64_t errors = 0, active = 0;
    for (int64_t k = 0; k < count; k++) {
        const double y = sign[k], short_of = 1.0 - y * scores[k];
        const double v = u[k] + sharpness * short_of;
        const double above = v > 0.0 ? v : 0.0, n = above < 1.0 ? above : 1.0;
        const double hinge = short_of > 0.0 ? short_of : 0.0;
        value += c[k] * (n * (v - 0.5 * n));
        loss += c[k] * hinge;
        slackness += c[k] * (short_of > 0.0 ? (1.0 - n) * short_of : -n * short_of);
        errors += !(short_of < 1.0);
        active += v > 0.0 && v < 1.0;
        r[k] = c[k] * n * y;
    }
    for (int64_t k = 0; k < count; k++)
        sums->balance += r[k];
    sums->value += value / sharpness;
    sums->loss += loss;
    sums->slackness += slackness;
    sums->errors += (double)errors;
    sums->active += (double)active;
}

static margin_status ssnal_add_block(void *state, const mg_block *block, void *argument) {
    const pass_walk *walk = argument;
    const int64_t step = mg_walk_rows(&walk->list), chunk = walk->list.design->chunk_rows;
    pass_sums *sums = state;
    for (int64_t at = 0; at < block->count; at += step) {
        const int64_t first = block->first + at, count = MG_MIN(block->count - at, step);
        double r[MG_COLUMN_ROWS];
        if (walk->fresh)
            mg_design_chunk_scores(&walk->list, &walk->weights, first, count, walk->scores + first);
        for (int64_t k = 0; k < count; k += chunk) /* the same sums whatever the step is */
            add_samples(walk, first + k, MG_MIN(chunk, count - k), sums, r + k);
        mg_design_chunk_gradient(&walk->list, first, count, r, sums->pull);
    }
    return MARGIN_OK;
}

/* What the columns add to F, its gradient and the gap. */
static void ssnal_pass_add_columns(const mg_ssnal *s, mg_ssnal_point *point) {
    const bool is_free = s->mode == MG_SSNAL_FREE;
    double bent = 0.0;
    point->residual = point->infeasible = point->charge = point->penalty = 0.0;
    for (int64_t j = 0; j < s->columns; j++) {
        const double q = s->stiffness[j], away = point->w[j] - s->anchor[j];
        const double pull = point->pull[j] - s->centre[j] * point->balance; /* as if balanced */
        const double gradient = q * away - pull;
        bent += q * away * away;
        point->gradient[j] = s->factor[j] * gradient;
        if (s->factor[j] > 0.0) point->residual += 0.5 * gradient * gradient / q;
        if (!is_free) continue;
        point->infeasible = fmax(point->infeasible, fabs(pull) * s->factor[j]);
        point->charge += fabs(pull * point->w[j]);
    }
    point->gradient[s->columns] = -point->balance;
    point->value += 0.5 * bent;
    if (!is_free) point->penalty = 0.5 * bent;
    point->amiss = fabs(point->balance) *
                   (1.0 + fabs(point->b + s->vectors->dot(s->centre, point->w, s->columns)));
}

static double least_margin(const mg_ssnal *s, const double *scores) {
    const int8_t *sign = s->design->problem->sign;
    double most = -(double)INFINITY; /* that a row is short of 1 */
    for (int64_t i = 0; i < s->samples; i++)
        most = fmax(most, 1.0 - sign[i] * scores[i]);
    return 1.0 - most;
}

static void complete(const mg_ssnal *s, const pass_sums *sums, mg_ssnal_point *point) {
    memcpy(point->pull, sums->pull, (size_t)s->columns * sizeof *point->pull);
    mg_design_from_rows(s->design, sums->balance, point->pull);
    point->balance = s->objective->intercept ? sums->balance : 0.0;
    point->value = sums->value;
    point->loss = sums->loss;
    point->slackness = sums->slackness;
    point->errors = (int64_t)sums->errors;
    point->active = (int64_t)sums->active;
    if (point->errors == 0 || s->mode == MG_SSNAL_HARD)
        point->least = least_margin(s, point->scores);
    ssnal_pass_add_columns(s, point);
}

margin_status mg_ssnal_pass(mg_ssnal *s, mg_ssnal_point *point, bool scores) {
    mg_design *d = s->design;
    pass_walk walk = {.list = {d, NULL}, .s = s, .scores = point->scores, .fresh = scores};
    double *sums;
    MG_SCOPED_ARENA(arena, d->heap);
    if (scores) walk.weights = mg_design_row_weights(d, point->w, point->b);
    MG_ARENA_NEW(&arena, sums, HEAD + s->columns, "the gradient of a linear model", s->job->error);
    MG_TRY(mg_sweep_sums(d->context, s->samples, d->block_rows, HEAD + s->columns, 0,
                         ssnal_add_block, &walk, sums, s->job->error));
    complete(s, (pass_sums *)sums, point);
    return MARGIN_OK;
}

void mg_ssnal_update(const mg_ssnal *s, double *out) {
    const int8_t *sign = s->design->problem->sign;
    for (int64_t i = 0; i < s->samples; i++) {
        const double v = s->multipliers[i] + s->sharpness * (1.0 - sign[i] * s->here.scores[i]);
        out[i] = v > 0.0 ? (v < 1.0 ? v : 1.0) : 0.0;
    }
}
