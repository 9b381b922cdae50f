/* One fit that answers for a chain of settings. Where it declines, nothing is done, and the
 * settings are fitted one after the other. */
#include "model/predict/predict.h"
#include "select/search/tune.h"

/* ---- Whether --------------------------------------------------------------------------------- */

bool mg_tune_covers(const mg_tune *s, const mg_cell *a, const mg_cell *b) {
    const mg_spec_component *first = mg_spec_learner(a->spec);
    const mg_learner_more *more = mg_learner_more_of(first->learner);
    return more->covers && s->share == 1 && !s->options.training &&
           !(s->options.cell_seconds > 0) && isinf(mg_deadline(s->context)) &&
           more->covers(first->options, mg_spec_learner(b->spec)->options);
}

static bool is_covered(const mg_tune *s, const mg_chain *chain) {
    bool covered = true;
    for (int64_t k = 0; covered && k < chain->count; k++)
        covered = mg_tune_covers(s, chain->cells[0], chain->cells[k]);
    return covered;
}

/* ---- One fit --------------------------------------------------------------------------------- */

typedef struct answers_run {
    mg_tune *search;
    const mg_chain *chain;
    margin_context *context;
    mg_arena arena;
    margin_data data; /* what it is fitted to */
    mg_row_list rows; /* what it answers for */
    bool left_out;    /* these are the same */
    margin_model *model;
    double **scores; /* of each setting: rows x functions */
} answers_run;

static margin_status answers_fit(answers_run *run, margin_error *error) {
    mg_tune *s = run->search;
    const margin_spec *spec = run->chain->cells[0]->spec;
    const mg_train_how how = {.task = s->whole->task};
    mg_trainer trainer;
    MG_TRY(mg_model_new(s->heap, &run->model, error));
    MG_TRY(mg_trainer_open(run->context, spec, &run->data, &how, run->model, &trainer, error));
    const margin_status status = mg_trainer_fit(&trainer, run->context, spec, error);
    mg_trainer_close(&trainer);
    return status;
}

static margin_status answers_ask(answers_run *run, margin_error *error) {
    mg_tune *s = run->search;
    const margin_model *model = run->model;
    const int64_t rows = run->rows.count, columns = model->hypothesis->columns,
                  count = run->chain->count, numbers = rows * model->hypothesis->functions;
    const char *purpose = "the answers of a fold";
    const mg_option_value **settings;
    double *features, *all;
    MG_TRY(MG_PIECES(&run->arena, purpose, error, MG_PIECE(settings, count),
                     MG_PIECE(features, rows * columns), MG_PIECE(all, count * numbers),
                     MG_PIECE(run->scores, count)));
    for (int64_t k = 0; k < count; k++) {
        settings[k] = mg_spec_learner(run->chain->cells[k]->spec)->options;
        run->scores[k] = all + k * numbers;
    }
    MG_TRY(
        mg_model_features(run->context, model, &s->data->x, run->rows.rows, rows, features, error));
    const margin_matrix x = margin_dense_f64(features, rows, columns, columns);
    return mg_learner_more_of(model->learner)
        ->answers(run->context, model->hypothesis, settings, count, &x, run->left_out, run->scores,
                  error);
}

/* The judgement of setting k on some of the rows, from number `first` on, into the slot of a split.
 */
static margin_status answers_judge(const answers_run *run, int64_t k, int64_t first, int64_t count,
                                   int64_t split, double seconds, margin_error *error) {
    mg_tune *s = run->search;
    mg_cell *cell = run->chain->cells[k];
    mg_slot *slot = &cell->slots[split];
    const mg_row_list list = {run->rows.rows + first, count};
    mg_slot_clear(s->heap, slot);
    slot->gap = run->model->report.gap;
    slot->fit_seconds = (float)seconds;
    return mg_tune_judge(s, run->context, run->model, &list,
                         run->scores[k] + first * run->model->hypothesis->functions, &slot->value,
                         mg_cell_predictions(s, cell, split), error);
}

/* What concerns the whole search; the rest means: one after the other. */
static margin_status answers_end(answers_run *run, margin_status status, const margin_error *own,
                                 bool *done, margin_error *error) {
    margin_model_free(run->model);
    mg_arena_free(&run->arena);
    *done = status >= 0;
    if (status != MARGIN_ERROR_MEMORY && status != MARGIN_ERROR_CANCELLED) return MARGIN_OK;
    if (error) *error = *own;
    return status;
}

/* ---- One split ------------------------------------------------------------------------------- */

static margin_status answers_split(answers_run *run, int64_t split, margin_error *error) {
    mg_tune *s = run->search;
    mg_row_list train;
    const double started = mg_clock();
    MG_TRY(mg_tune_rows(s, &run->arena, split, MARGIN_PART_TRAIN, &train, error));
    MG_TRY(mg_tune_rows(s, &run->arena, split, MARGIN_PART_TEST, &run->rows, error));
    run->data = *s->data;
    run->data.selection = train.rows;
    run->data.selected = train.count;
    MG_TRY(answers_fit(run, error));
    MG_TRY(answers_ask(run, error));
    const double each = (mg_clock() - started) / (double)run->chain->count;
    for (int64_t k = 0; k < run->chain->count; k++)
        MG_TRY(answers_judge(run, k, 0, run->rows.count, split, each, error));
    return MARGIN_OK;
}

margin_status mg_tune_answers(const mg_tune_task *task, bool *done, margin_error *error) {
    mg_tune *s = task->search;
    margin_context part;
    margin_error own = {0};
    answers_run run = {.search = s, .chain = task->chain, .context = &part};
    *done = false;
    if (task->chain->count < 2 || !is_covered(s, task->chain)) return MARGIN_OK;
    mg_context_part(s->context, (double)INFINITY, task->shares, &part);
    mg_arena_init(&run.arena, s->heap);
    const margin_status status = answers_split(&run, task->split, &own);
    MG_TRY(answers_end(&run, status, &own, done, error));
    for (int64_t k = 0; *done && k < task->chain->count; k++)
        mg_tune_done(task, task->chain->cells[k]);
    return MARGIN_OK;
}

/* ---- Leave one out --------------------------------------------------------------------------- */

/* Each sample is the test row of one split; no stage learns; every class has two members, so that
 * it is there when one is left out. */
static bool leaves_one_out(const mg_tune *s, const mg_chain *chain) {
    bool leaves = s->split_count == s->samples.count && !s->samples.weights &&
                  chain->cells[0]->spec->component_count == 1;
    for (int64_t i = 0; leaves && i < s->split_count; i++)
        leaves = margin_splits_size(s->splits, i, MARGIN_PART_TEST) == 1 &&
                 margin_splits_size(s->splits, i, MARGIN_PART_TRAIN) == s->samples.count - 1;
    return leaves;
}

static margin_status check_members(answers_run *run, margin_error *error) {
    const mg_tune *s = run->search;
    const int64_t classes = s->whole->classes;
    int64_t *members;
    MG_ARENA_NEW(&run->arena, members, classes, "the classes", error);
    for (int64_t c = 0; c < classes; c++)
        members[c] = 0;
    for (int64_t i = 0; classes > 0 && i < run->rows.count; i++)
        members[(int64_t)s->truth[run->rows.rows[i]]]++;
    for (int64_t c = 0; c < classes; c++)
        MG_REQUIRE(members[c] > 1, error, MARGIN_ERROR_LIMIT, "a class has one row");
    return MARGIN_OK;
}

/* Number of the sample that each split tests. */
typedef struct tested_samples {
    const answers_run *run;
    const int64_t *number; /* of a sample, by row */
    double seconds;
} tested_samples;

static margin_status judge_tested(void *argument, int64_t split, int worker) {
    const tested_samples *t = argument;
    const mg_tune *s = t->run->search;
    int64_t row;
    (void)worker;
    margin_splits_rows(s->splits, split, MARGIN_PART_TEST, &row);
    for (int64_t k = 0; k < t->run->chain->count; k++)
        MG_TRY(answers_judge(t->run, k, t->number[row], 1, split, t->seconds, NULL));
    return MARGIN_OK;
}

static margin_status run_all(answers_run *run, margin_error *error) {
    mg_tune *s = run->search;
    const int64_t count = s->samples.count;
    const double started = mg_clock();
    int64_t *number;
    MG_ARENA_NEW(&run->arena, number, s->data->x.rows, "the rows", error);
    MG_ARENA_NEW(&run->arena, run->rows.rows, count, "the rows", error);
    run->rows.count = count;
    for (int64_t i = 0; i < count; i++) {
        run->rows.rows[i] = mg_samples_row(&s->samples, i);
        number[run->rows.rows[i]] = i;
    }
    MG_TRY(check_members(run, error));
    run->data = *s->data;
    run->data.selection = run->rows.rows;
    run->data.selected = count;
    MG_TRY(answers_fit(run, error));
    MG_TRY(answers_ask(run, error));
    tested_samples tested = {run, number,
                             (mg_clock() - started) / (double)(count * run->chain->count)};
    const margin_status status = mg_parallel(run->context, count, judge_tested, &tested, NULL);
    return status < 0 ? mg_fail(error, status, "the answers cannot be judged") : MARGIN_OK;
}

margin_status mg_tune_leave_one_out(mg_tune *s, const mg_chain *chain, bool *done,
                                    margin_error *error) {
    margin_error own = {0};
    answers_run run = {.search = s, .chain = chain, .context = s->context, .left_out = true};
    *done = false;
    if (!leaves_one_out(s, chain) || !is_covered(s, chain)) return MARGIN_OK;
    mg_arena_init(&run.arena, s->heap);
    return answers_end(&run, run_all(&run, &own), &own, done, error);
}
