/* Fits to all folds but one, and what they say of the rows of that one. */
#include "select/promise/cross_fit.h"
#include "model/train/train.h"
#include "select/split/split_deal.h"

#include <string.h>

void mg_crossed_free(mg_crossed *c) {
    if (!c->heap) return;
    for (int64_t k = 0; c->models && k < c->folds; k++)
        margin_model_free(c->models[k]);
    MG_FREE(c->heap, c->models, c->scores, c->fold, c->codes, c->targets);
    mg_samples_free(&c->samples);
    memset(c, 0, sizeof *c);
}

static margin_status read_targets(margin_context *context, const margin_model *model,
                                  const margin_data *data, mg_crossed *c, margin_error *error) {
    MG_TRY(mg_samples_make(context->heap, data, &c->samples, error));
    if (model->task == MARGIN_REGRESS) {
        MG_NEW(c->heap, c->targets, model->target.count * c->samples.count, "the targets", error);
        return mg_target_values(context, data, &c->samples, c->targets, error);
    }
    MG_NEW(c->heap, c->codes, c->samples.count, "the classes of the rows", error);
    return mg_target_codes(context, data, &c->samples, model, false, c->codes, error);
}

/* Rows of class k, or the groups that they are of; no row: 0. rows: room for all samples. */
static margin_status count_apart(margin_context *context, const mg_crossed *c, int64_t k,
                                 const margin_vector *groups, int64_t *rows, int64_t *apart,
                                 margin_error *error) {
    mg_samples own = {.heap = context->heap, .rows = rows};
    for (int64_t i = 0; i < c->samples.count; i++)
        if (c->codes[i] == k) rows[own.count++] = mg_samples_row(&c->samples, i);
    *apart = own.count;
    if (!groups->values || own.count == 0) return MARGIN_OK;
    return mg_count_units(context, groups, &own, "group", apart, error);
}

/* 10, or as many as there are groups, or as the rarest class has rows or groups. A class whose rows
 * are never apart is refused, but where fits to folds know it all the same. */
static margin_status usual_folds(margin_context *context, const margin_model *model,
                                 const margin_data *data, const mg_crossed *c,
                                 const margin_vector *groups, int64_t *folds, margin_error *error) {
    const bool known = groups->values && data->classes.values;
    MG_SCOPED_ARENA(arena, context->heap);
    *folds = c->samples.count;
    if (groups->values) MG_TRY(mg_count_units(context, groups, &c->samples, "group", folds, error));
    *folds = MG_MIN((int64_t)10, *folds);
    int64_t *rows, apart;
    MG_ARENA_NEW(&arena, rows, c->samples.count, "the rows of a class", error);
    for (int64_t k = 0; model->task == MARGIN_CLASSIFY && k < model->classes; k++) {
        MG_TRY(count_apart(context, c, k, groups, rows, &apart, error));
        if (apart == 1 && !known)
            MG_TRY(
                mg_fail(error, MG_DATA(FEW_ROWS),
                        "class '%s' has 1 %s, and a promise is made from fits that have not seen "
                        "it but others of its class; leave it out, join the class with another, "
                        "or find more of it",
                        margin_model_class_name(model, k), groups->values ? "group" : "row"));
        if (apart > 0) *folds = MG_MIN(*folds, apart);
    }
    *folds = MG_MAX(*folds, (int64_t)2);
    return MARGIN_OK;
}

/* Fits fold k and takes its scores to the samples of that fold. rows, test: room for all samples.
 */
static margin_status cross_fold(margin_context *context, const margin_spec *spec,
                                const margin_model *model, const margin_data *data,
                                const margin_splits *splits, int64_t k, const int64_t *sample_of,
                                int64_t *rows, mg_crossed *c, margin_error *error) {
    margin_data part = *data;
    double *scores;
    part.selection = rows;
    part.selected = margin_splits_rows(splits, k, MARGIN_PART_TRAIN, rows);
    MG_TRY(mg_fit_task(context, model->task, spec, &part, NULL, &c->models[k], NULL, error));
    MG_TRY(mg_additions_check_fold(model, c->models[k], error));
    part.selected = margin_splits_rows(splits, k, MARGIN_PART_TEST, rows);
    MG_NEW(c->heap, scores, part.selected * c->functions, "the scores of a fold", error);
    const margin_status status =
        margin_predict_data(context, c->models[k], &part, MARGIN_OUTPUT_SCORES, scores, error);
    for (int64_t i = 0; status >= 0 && i < part.selected; i++) {
        const int64_t sample = sample_of[rows[i]];
        memcpy(c->scores + sample * c->functions, scores + i * c->functions,
               (size_t)c->functions * sizeof *scores);
        c->fold[sample] = (int32_t)k;
    }
    mg_free(c->heap, scores);
    return status;
}

static margin_status cross_folds(margin_context *context, const margin_spec *spec,
                                 const margin_model *model, const margin_data *data,
                                 const margin_splits *splits, mg_crossed *c, margin_error *error) {
    int64_t *sample_of, *rows;
    MG_SCOPED_ARENA(arena, c->heap);
    MG_TRY(MG_PIECES(&arena, "the rows of the folds", error, MG_PIECE(sample_of, data->x.rows),
                     MG_PIECE(rows, c->samples.count)));
    for (int64_t i = 0; i < c->samples.count; i++)
        sample_of[mg_samples_row(&c->samples, i)] = i;
    for (int64_t k = 0; k < c->folds; k++)
        MG_TRY(cross_fold(context, spec, model, data, splits, k, sample_of, rows, c, error));
    return MARGIN_OK;
}

margin_status mg_cross_fit(margin_context *context, const margin_model *model,
                           const margin_data *data, const margin_promise_options *o, bool fits,
                           mg_crossed *c, margin_error *error) {
    margin_spec *spec = NULL;
    margin_splits *splits = NULL;
    margin_status status = MARGIN_OK;
    if (!c->heap) {
        c->heap = context->heap;
        MG_TRY(read_targets(context, model, data, c, error));
    }
    if (!fits || c->folds) return MARGIN_OK;
    margin_split_options split = {.size = sizeof split,
                                  .folds = o->folds,
                                  .seed = o->seed,
                                  .stratify = model->task == MARGIN_CLASSIFY,
                                  .groups = o->groups};
    int64_t usual;
    MG_TRY(usual_folds(context, model, data, c, &o->groups, &usual, error));
    if (!o->folds) split.folds = usual;
    MG_GO(margin_spec_parse(context, model->spec, &spec, error));
    MG_GO(margin_split(context, data, &split, &splits, error));
    c->functions = model->hypothesis->functions;
    MG_GO_NEW(c->heap, c->scores, c->samples.count * c->functions, "the scores", error);
    MG_GO_NEW(c->heap, c->fold, c->samples.count, "the folds of the rows", error);
    c->models = mg_new_zero(c->heap, split.folds, sizeof *c->models);
    if (!c->models) {
        status = mg_no_memory(c->heap, split.folds, sizeof *c->models, "the folds", error);
        goto done;
    }
    c->folds = split.folds;
    status = cross_folds(context, spec, model, data, splits, c, error);
done:
    margin_splits_free(splits);
    margin_spec_free(spec);
    return status;
}
