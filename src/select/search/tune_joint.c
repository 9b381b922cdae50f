/* A chain whose learner solves other rows and penalties together (MG_DIFFER_FOLDS), on all splits
 * at once. Where that declines, or has no answer for one of them, nothing is done, and the chain
 * goes the way of every other. */
#include "model/predict/predict.h"
#include "select/search/tune.h"

#include <string.h>

enum {
    LEAST_FITS = 8,         /* fewer are soon done one by one */
    MOST_NUMBERS = 1 << 26, /* of the rows of all training parts */
    MOST_OF_CLASSES = 64    /* splits: learners of classes decline more */
};

/* ---- Whether --------------------------------------------------------------------------------- */

static bool is_penalty(const margin_option *option) {
    return (option->group && strcmp(option->group, "penalty") == 0) ||
           strcmp(option->name, "l1_ratio") == 0;
}

/* Stages that leave the rows as they are. */
static bool keeps_rows(const margin_spec *spec) {
    bool keeps = spec->component_count == 1 || mg_spec_learner(spec)->learner->takes_affine;
    for (int k = 0; k < spec->component_count - 1; k++)
        keeps = keeps && spec->components[k].stage->affine;
    return keeps;
}

static unsigned folds_differ(const mg_tune *s) {
    return MG_DIFFER_FOLDS | (s->whole->task == MARGIN_REGRESS ? 0 : MG_DIFFER_SIGNS);
}

bool mg_tune_joins(const mg_tune *s, const mg_cell *a, const mg_cell *b) {
    const mg_spec_component *left = mg_spec_learner(a->spec), *right = mg_spec_learner(b->spec);
    const unsigned differ = folds_differ(s);
    bool joins = (left->learner->differ & differ) == differ && s->share == 1 &&
                 !(s->options.cell_seconds > 0) && !s->options.training &&
                 mg_data_targets(s->data) == 1 && keeps_rows(a->spec) &&
                 (s->whole->task == MARGIN_REGRESS ||
                  (s->whole->classes == 2 && s->split_count <= MOST_OF_CLASSES));
    for (int k = 0; joins && k < left->info->option_count; k++)
        joins = is_penalty(&left->info->options[k]) ||
                mg_option_equal(&left->options[k], &right->options[k]);
    return joins;
}

/* ---- The problems ---------------------------------------------------------------------------- */

/* Everything up to the learner on one split. */
typedef struct joint_fold {
    mg_row_list train, test;
    margin_data data;
    margin_model *model;
    mg_trainer trainer;
    mg_split split;
    mg_part part;
    double *scores; /* setting by setting; NULL: the fits have them */
    bool open;
} joint_fold;

typedef struct joint_run {
    mg_tune *search;
    const mg_chain *chain;
    mg_train_how how;
    mg_arena arena;
    joint_fold *folds;
    mg_fit *fits; /* fold by fold */
    mg_shared shared;
    mg_problem whole;
    double *targets; /* of the whole */
} joint_run;

static margin_status open_fold(joint_run *run, int64_t f, margin_error *error) {
    mg_tune *s = run->search;
    joint_fold *fold = &run->folds[f];
    const margin_spec *spec = run->chain->cells[0]->spec;
    const mg_spec_component *learner = mg_spec_learner(spec);
    mg_reduction reduction;
    MG_TRY(mg_tune_rows(s, &run->arena, f, MARGIN_PART_TEST, &fold->test, error));
    MG_TRY(mg_tune_rows(s, &run->arena, f, MARGIN_PART_TRAIN, &fold->train, error));
    fold->data = *s->data;
    fold->data.selection = fold->train.rows;
    fold->data.selected = fold->train.count;
    MG_TRY(mg_model_new(s->heap, &fold->model, error));
    MG_TRY(mg_trainer_open(s->context, spec, &fold->data, &run->how, fold->model, &fold->trainer,
                           error));
    fold->open = true;
    const mg_staged *staged = &fold->trainer.staged;
    MG_REQUIRE(staged->x.values == s->data->x.values && !staged->maker.stage &&
                   staged->target.offset == 0 && staged->target.divisor == 1 &&
                   fold->model->classes == s->whole->classes,
               error, MARGIN_ERROR_LIMIT, "the folds have rows of their own");
    MG_TRY(mg_reduction_choose(learner, fold->model, &reduction, &fold->model->decision, error));
    MG_TRY(mg_split_make(s->context, reduction, &fold->data, &fold->trainer.samples, staged,
                         fold->model, &fold->split, error));
    MG_TRY(mg_split_weigh(learner, fold->model, &fold->split, error));
    MG_REQUIRE(fold->split.parts == 1, error, MARGIN_ERROR_LIMIT, "a fold has several parts");
    return mg_part_make(&fold->split, 0, &fold->part, error);
}

static void close_folds(joint_run *run) {
    for (int64_t f = 0; f < run->search->split_count; f++) {
        joint_fold *fold = &run->folds[f];
        mg_free(run->search->heap, fold->scores);
        mg_part_free(&fold->part);
        mg_split_free(&fold->split);
        if (fold->open) mg_trainer_close(&fold->trainer);
        margin_model_free(fold->model);
    }
}

static margin_status make_whole(joint_run *run, margin_error *error) {
    const mg_tune *s = run->search;
    MG_ARENA_NEW(&run->arena, run->targets, s->samples.count, "the targets", error);
    for (int64_t i = 0; i < s->samples.count; i++)
        run->targets[i] = s->truth[mg_samples_row(&s->samples, i)];
    run->whole = (mg_problem){.kind = MG_REGRESSION,
                              .x = s->data->x,
                              .columns = s->data->columns,
                              .index = s->samples.rows,
                              .count = s->samples.count,
                              .target = run->targets,
                              .weight = s->samples.weights};
    return MARGIN_OK;
}

static margin_status fit_all(joint_run *run, margin_error *error) {
    mg_tune *s = run->search;
    const int64_t settings = run->chain->count, count = settings * s->split_count;
    const mg_spec_component *learner = mg_spec_learner(run->chain->cells[0]->spec);
    run->shared = (mg_shared){.context = s->context,
                              .whole = &run->whole,
                              .options = learner->options,
                              .fits = count,
                              .differ = folds_differ(s),
                              .error = error};
    for (int64_t k = 0; k < count; k++) {
        const joint_fold *fold = &run->folds[k / settings];
        run->fits[k] =
            (mg_fit){.context = s->context,
                     .learner = learner->learner,
                     .problem = &fold->part.problem,
                     .options = mg_spec_learner(run->chain->cells[k % settings]->spec)->options,
                     .shared = &run->shared,
                     .seed = s->context->options.seed,
                     .asked = fold->test.rows,
                     .asked_count = fold->test.count,
                     .error = error};
        mg_report_init(&run->fits[k].report);
    }
    MG_TRY(mg_share(learner->learner, &run->shared));
    MG_REQUIRE(run->shared.together == count, error, MARGIN_ERROR_LIMIT, "not all at once");
    return learner->learner->fit_many(run->fits, count);
}

/* ---- The answers ----------------------------------------------------------------------------- */

typedef struct joint_answers {
    joint_run *run;
    int64_t split;
} joint_answers;

static margin_status judge_setting(void *argument, int64_t k, int worker) {
    const joint_answers *a = argument;
    const mg_tune *s = a->run->search;
    const joint_fold *fold = &a->run->folds[a->split];
    const double *scores = fold->scores ? fold->scores + k * fold->test.count
                                        : a->run->fits[a->split * a->run->chain->count + k].scores;
    mg_cell *cell = a->run->chain->cells[k];
    mg_slot *slot = &cell->slots[a->split];
    (void)worker;
    mg_slot_clear(s->heap, slot);
    return mg_tune_judge(s, s->context, fold->model, &fold->test, scores, &slot->value,
                         mg_cell_predictions(s, cell, a->split), NULL);
}

/* One model with a function for each setting answers for all of them in one pass. */
static margin_status predict_fold(joint_run *run, int64_t f, margin_error *error) {
    mg_tune *s = run->search;
    joint_fold *fold = &run->folds[f];
    const int64_t settings = run->chain->count;
    mg_hypothesis **parts = NULL;
    double *values = NULL;
    margin_status status;
    MG_GO_NEW(s->heap, parts, settings, "the fits of a fold", error);
    for (int64_t k = 0; k < settings; k++)
        parts[k] = run->fits[f * settings + k].hypothesis;
    MG_GO(parts[0]->kind->combine(s->heap, parts, settings, &fold->model->hypothesis, error));
    MG_GO(mg_model_fold(fold->model, error));
    MG_GO(mg_hypothesis_attach(fold->model->hypothesis, error));
    MG_GO_NEW(s->heap, values, fold->test.count * settings, "the predictions of a fold", error);
    MG_GO_NEW(s->heap, fold->scores, fold->test.count * settings, "the predictions of a fold",
              error);
    MG_GO(mg_predict_rows(s->context, fold->model, &s->data->x, fold->test.rows, fold->test.count,
                          MARGIN_OUTPUT_SCORES, false, values, error));
    for (int64_t i = 0; i < fold->test.count * settings; i++)
        fold->scores[i % settings * fold->test.count + i / settings] = values[i];
    mg_hypothesis_free(fold->model->hypothesis);
    fold->model->hypothesis = NULL;
done:
    MG_FREE(s->heap, values, parts);
    return status;
}

static margin_status judge_fold(joint_run *run, int64_t f, margin_error *error) {
    joint_answers answers = {run, f};
    margin_model *model = run->folds[f].model;
    if (run->fits[0].hypothesis) MG_TRY(predict_fold(run, f, error));
    model->hypothesis = run->fits[f * run->chain->count].hypothesis; /* as any other of them */
    const margin_status status =
        mg_parallel(run->search->context, run->chain->count, judge_setting, &answers, NULL);
    model->hypothesis = NULL;
    mg_free(run->search->heap, run->folds[f].scores);
    run->folds[f].scores = NULL;
    return status < 0 ? mg_fail(error, status, "the predictions cannot be judged") : status;
}

static margin_status run_joint(joint_run *run, margin_error *error) {
    mg_tune *s = run->search;
    const double started = mg_clock();
    const int64_t settings = run->chain->count;
    for (int64_t f = 0; f < s->split_count; f++)
        MG_TRY(open_fold(run, f, error));
    MG_TRY(make_whole(run, error));
    MG_TRY(fit_all(run, error));
    const double fitted = mg_clock();
    for (int64_t f = 0; f < s->split_count; f++)
        MG_TRY(judge_fold(run, f, error));
    const double each = 1 / (double)(settings * s->split_count);
    for (int64_t k = 0; k < settings * s->split_count; k++) {
        mg_slot *slot = &run->chain->cells[k % settings]->slots[k / settings];
        slot->gap = run->fits[k].report.gap;
        slot->fit_seconds = (float)((fitted - started) * each);
        slot->predict_seconds = (float)((mg_clock() - fitted) * each);
    }
    return MARGIN_OK;
}

margin_status mg_tune_joint(mg_tune *s, const mg_chain *chain, bool *done, margin_error *error) {
    const int64_t count = chain->count * s->split_count;
    joint_run run = {.search = s, .chain = chain, .how = {.task = s->whole->task}};
    margin_error own = {0};
    *done = false;
    if (count < LEAST_FITS || s->split_count > MOST_NUMBERS / s->samples.count ||
        !isinf(mg_deadline(s->context)) || !mg_tune_joins(s, chain->cells[0], chain->cells[0]))
        return MARGIN_OK;
    run.folds = mg_new_zero(s->heap, s->split_count, sizeof *run.folds);
    run.fits = mg_new_zero(s->heap, count, sizeof *run.fits);
    mg_arena_init(&run.arena, s->heap);
    margin_status status = run.folds && run.fits
                               ? run_joint(&run, &own)
                               : mg_no_memory(s->heap, count, sizeof *run.fits, "the fits", &own);
    mg_shared_free(&run.shared);
    for (int64_t k = 0; run.fits && k < count; k++) {
        mg_hypothesis_free(run.fits[k].hypothesis);
        mg_free(s->heap, run.fits[k].scores);
    }
    if (run.folds) close_folds(&run);
    mg_arena_free(&run.arena);
    MG_FREE(s->heap, run.fits, run.folds);
    *done = status >= 0;
    if (status != MARGIN_ERROR_MEMORY && status != MARGIN_ERROR_CANCELLED) return MARGIN_OK;
    if (error) *error = own;
    return status;
}
