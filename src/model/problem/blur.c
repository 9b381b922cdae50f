/* How far rounding may have moved what stages make of the samples' rows. Most stages make the same
 * bits on every instruction set, to the last digits of their values, which the rule of rounding
 * (learn/report.h) covers. Of others the sums cancel: those tell for each row how far its values
 * may be off (`blur` of a stage); the most of all rows is what a column is off by, and a row has
 * its share. Behind them an affine stage divides that; another one hands on the most of all
 * columns. */
#include "model/problem/pipeline.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct blur_walk {
    const margin_model *model;
    const margin_matrix *x;
    const mg_samples *samples;
    int last;        /* the last stage with a blur of its own */
    int64_t numbers; /* columns of all places, see mg_blur */
    int64_t widest;
    double *room; /* per worker: numbers, then 3 x widest */
    const double *columns;
    double *shares;
} blur_walk;

static int last_blurred(const margin_model *model) {
    int s = model->stage_count - 1;
    while (s >= 0 && !model->stages[s].stage->blur)
        s--;
    return s;
}

bool mg_is_blurred(const margin_model *model) {
    return last_blurred(model) >= 0;
}

/* Raises what each stage makes for itself. Values of f32 may be the next ones. */
static void blur_row(const blur_walk *walk, int64_t row, double *most, double *a) {
    double *b = a + walk->widest, *scratch = b + walk->widest;
    const bool f32 = walk->x->value_type == MARGIN_F32;
    mg_row_expand(walk->x, row, a);
    for (int s = 0; s <= walk->last; s++) {
        const mg_fitted_stage *fitted = &walk->model->stages[s];
        most += fitted->columns_in;
        if (fitted->stage->blur) fitted->stage->blur(fitted, a, scratch, most);
        if (s == walk->last && !f32) return;
        fitted->stage->apply_row(fitted, a, b);
        for (int64_t j = 0; f32 && fitted->stage->blur && j < fitted->columns_out; j++)
            most[j] = fmax(most[j], (double)FLT_EPSILON * fabs(b[j]));
        double *const made = b;
        b = a;
        a = made;
    }
}

static margin_status blur_block(const mg_block *block, void *argument) {
    const blur_walk *walk = argument;
    double *most = walk->room + block->worker * (walk->numbers + 3 * walk->widest);
    for (int64_t i = block->first; i < block->first + block->count; i++)
        blur_row(walk, mg_samples_row(walk->samples, i), most, most + walk->numbers);
    return MARGIN_OK;
}

/* The greatest part of what a column is off by that a row is off by. */
static margin_status share_block(const mg_block *block, void *argument) {
    const blur_walk *walk = argument;
    double *own = walk->room + block->worker * (walk->numbers + 3 * walk->widest);
    for (int64_t i = block->first; i < block->first + block->count; i++) {
        double *share = &walk->shares[i];
        memset(own, 0, (size_t)walk->numbers * sizeof *own);
        blur_row(walk, mg_samples_row(walk->samples, i), own, own + walk->numbers);
        for (int64_t k = 0; k < walk->numbers; k++)
            if (own[k] > 0) *share = fmax(*share, own[k] / walk->columns[k]);
    }
    return MARGIN_OK;
}

/* Adds what the stage hands on of what its input is off by. scale: room for 2 x columns_in. */
static void hand_on(const mg_fitted_stage *fitted, const double *in, double *scale, double *out) {
    double most = 0;
    if (fitted->stage->affine) mg_stage_affine(fitted, scale, scale + fitted->columns_in);
    for (int64_t j = 0; j < fitted->columns_in; j++)
        most = fmax(most, in[j]);
    for (int64_t j = 0; j < fitted->columns_out; j++)
        out[j] += fitted->stage->affine ? in[j] * fabs(scale[j]) : most;
}

static void find_size(blur_walk *walk) {
    const margin_model *model = walk->model;
    walk->numbers = walk->widest = walk->x->columns;
    for (int s = 0; s < model->stage_count; s++) {
        walk->numbers += model->stages[s].columns_out;
        walk->widest = MG_MAX(walk->widest, model->stages[s].columns_out);
    }
}

margin_status mg_blur_make(margin_context *context, const margin_model *model,
                           const margin_data *data, const mg_samples *samples, mg_blur *blur,
                           margin_error *error) {
    blur_walk walk = {
        .model = model, .x = &data->x, .samples = samples, .last = last_blurred(model)};
    const int threads = mg_threads(context);
    MG_SCOPED_ARENA(arena, context->heap);
    *blur = (mg_blur){.heap = context->heap, .model = model};
    if (walk.last < 0) return MARGIN_OK;
    find_size(&walk);
    const int64_t size = walk.numbers + 3 * walk.widest;
    MG_ARENA_NEW(&arena, walk.room, threads * size, "rounding of rows that are made", error);
    memset(walk.room, 0, (size_t)(threads * size) * sizeof *walk.room);
    MG_NEW(context->heap, blur->columns, walk.numbers, "rounding of rows that are made", error);
    MG_TRY(mg_sweep_each(context, samples->count, MG_ROWS_AT_ONCE, blur_block, &walk, error));
    for (int64_t k = 0; k < walk.numbers; k++) {
        blur->columns[k] = walk.room[k];
        for (int w = 1; w < threads; w++)
            blur->columns[k] = fmax(blur->columns[k], walk.room[w * size + k]);
    }
    MG_NEW(context->heap, blur->shares, samples->count, "rounding of rows that are made", error);
    memset(blur->shares, 0, (size_t)samples->count * sizeof *blur->shares);
    walk.columns = blur->columns;
    walk.shares = blur->shares;
    MG_TRY(mg_sweep_each(context, samples->count, MG_ROWS_AT_ONCE, share_block, &walk, error));
    double *at = blur->columns;
    for (int s = 0; s < model->stage_count; at += model->stages[s++].columns_in)
        hand_on(&model->stages[s], at, walk.room, at + model->stages[s].columns_in);
    return MARGIN_OK;
}

const double *mg_blur_before(const mg_blur *blur, int stage) {
    const double *at = blur->columns;
    for (int s = 0; at && s < stage; s++)
        at += blur->model->stages[s].columns_in;
    return at;
}

void mg_blur_free(mg_blur *blur) {
    MG_FREE(blur->heap, blur->shares, blur->columns);
    *blur = (mg_blur){0};
}
