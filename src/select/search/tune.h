/* A search from the inside: cells (settings) times splits, a slot for each. */
#pragma once

#include "margin/search.h"

#include "model/train/train.h"

/* What became of one fit. Written by one task; read when all splits of the cell are done. */
typedef struct mg_slot {
    double value, training, gap;
    float fit_seconds, predict_seconds;
    int32_t status;
    _Atomic int state; /* MG_SLOT_ */
    char *reason;      /* owned; NULL: none */
} mg_slot;

/* Of a slot in this round. */
enum {
    MG_SLOT_OPEN,
    MG_SLOT_DONE,  /* filled, and journal and caller do not know of it */
    MG_SLOT_TOLD,  /* they do */
    MG_SLOT_KNOWN, /* it came from the journal */
};

typedef struct mg_cell {
    margin_spec *spec;
    int64_t owner;  /* which of the caller's specs it is of */
    int64_t number; /* among the settings of that */
    int64_t stages; /* equal where all options of the stages are */
    int64_t rows;
    mg_slot *slots;      /* one for each split */
    double *predictions; /* of each repeat; NULL: not kept */
    bool active;         /* in this round */
    int64_t left;        /* splits that journal and caller do not know of */
    int dropped;         /* after this round; 0: not */
} mg_cell;

typedef struct mg_journal mg_journal;

typedef struct mg_tune {
    margin_context *context; /* of the call */
    mg_heap *heap;
    margin_search_options options;
    margin_task task; /* 0: what learners and data tell */
    const margin_spec *const *specs;
    int64_t spec_count;
    const margin_data *data;
    const margin_splits *splits;
    int64_t split_count, folds;
    mg_samples samples;
    margin_model *whole; /* task and classes of all samples */
    double *truth;       /* of each row of x: class, or values of its targets */
    const margin_metric *metric;
    mg_cell *cells;
    int64_t count;
    mg_journal *journal;
    double *baseline; /* of each split; NULL: not asked for */
    double started, phase_started;
    int64_t told;        /* cells */
    int64_t share;       /* halving: fits learn from 1 / share of their training rows */
    int64_t tasks;       /* fits of this round */
    int64_t done_before; /* of them, before this phase: what is solved together, and the rest */
    _Atomic int64_t done;
} mg_tune;

/* ---- Parts, each a file ---------------------------------------------------------------------- */

/* Task, classes, truth and metric: what all cells have in common. DATA, SPEC, ARGUMENT. */
margin_status mg_tune_problem(mg_tune *search, margin_error *error);
void mg_tune_problem_free(mg_tune *search);

/* The settings, in the order of specs and variants. LIMIT: too many. */
margin_status mg_tune_cells(mg_tune *search, margin_error *error);
void mg_tune_cells_free(mg_tune *search);

typedef struct mg_row_list {
    int64_t *rows, count;
} mg_row_list;

/* The rows of a part of a split. */
margin_status mg_tune_rows(const mg_tune *search, mg_arena *arena, int64_t split, int32_t part,
                           mg_row_list *list, margin_error *error);

/* The metric of a fit on these rows, by these scores of theirs (NULL: by its own predictions);
 * predictions, if wanted, into the table of those of a repeat. */
margin_status mg_tune_judge(const mg_tune *search, margin_context *context,
                            const margin_model *model, const mg_row_list *list,
                            const double *scores, double *value, double *predictions,
                            margin_error *error);

/* The same of values or probabilities that are predicted for them. */
margin_status mg_tune_judge_given(const mg_tune *search, margin_context *context,
                                  const mg_row_list *list, double *values, double *probabilities,
                                  double *value, margin_error *error);

/* Settings that differ in options of one learner only. */
typedef struct mg_chain {
    mg_cell **cells;
    int64_t count;
} mg_chain;

typedef struct mg_tune_task {
    mg_tune *search;
    const mg_chain *chain;
    int64_t split;
    int worker;
    mg_shares shares;
    _Atomic bool done;
    bool told;
} mg_tune_task;

/* Fits and judges the settings of a chain on one split, each into its slot. A failure that concerns
 * one of them alone is the slot's; else (MEMORY, CANCELLED) it is returned. */
margin_status mg_tune_chain(const mg_tune_task *task, margin_error *error);
/* Whether a learner that solves all splits and settings of a chain together can take both. */
bool mg_tune_joins(const mg_tune *search, const mg_cell *a, const mg_cell *b);
/* Does so for a chain of such, from the calling thread. Not *done: it declined. MEMORY, CANCELLED.
 */
margin_status mg_tune_joint(mg_tune *search, const mg_chain *chain, bool *done,
                            margin_error *error);
/* Whether a fit with the settings of a answers for b, too (`covers` of mg_learner_more). */
bool mg_tune_covers(const mg_tune *search, const mg_cell *a, const mg_cell *b);
/* One fit that answers for all settings of a chain: on one split, or
 * on all where they leave out one row each. Not *done: it declined. MEMORY, CANCELLED. */
margin_status mg_tune_answers(const mg_tune_task *task, bool *done, margin_error *error);
margin_status mg_tune_leave_one_out(mg_tune *search, const mg_chain *chain, bool *done,
                                    margin_error *error);
/* To be called when a slot is filled. */
void mg_tune_done(const mg_tune_task *task, mg_cell *cell);
/* Open, and nothing known of it. */
void mg_slot_clear(mg_heap *heap, mg_slot *slot);

/* Tries all active cells. */
margin_status mg_tune_round(mg_tune *search, margin_error *error);

/* Where the predictions of a cell on a split go: the table of its repeat; NULL: not kept. */
MG_INLINE double *mg_cell_predictions(const mg_tune *search, const mg_cell *cell, int64_t split) {
    const int64_t numbers = search->data->x.rows * mg_data_targets(search->data);
    return cell->predictions ? cell->predictions + split / search->folds * numbers : NULL;
}
/* Mean and deviation of a cell. */
double mg_cell_mean(const mg_cell *cell, int64_t splits, double *deviation);
/* Worst status of its fits, and the slot that has it. */
int32_t mg_cell_status(const mg_cell *cell, int64_t splits, const mg_slot **worst);
/* Of one spec: the order in which settings are fitted, those side by side that differ in their
 * penalty only, the strongest first; and whether they are such. */
bool mg_cell_before(const mg_tune *search, const mg_cell *a, const mg_cell *b);
bool mg_cells_near(const mg_tune *search, const mg_cell *a, const mg_cell *b);
/* Whether it may be best, or go on to the next round: all fits converged. */
bool mg_cell_counts(const mg_tune *search, const mg_cell *cell);
/* Test rows to one training row, the mean of all splits. */
double mg_tune_test_share(const mg_tune *search);
/* Best cell and the simplest within one standard error of it; -1: none. */
void mg_tune_choose(const mg_tune *search, int64_t *best, int64_t *best_one_se);

/* Fills in s->baseline, if it is asked for. */
margin_status mg_tune_baseline(mg_tune *search, margin_error *error);

/* The options of which a cell has the first or last number of its set: "C, gamma", NULL: none.
 * False without memory. */
bool mg_cell_set_end(const mg_tune *search, const mg_cell *cell, mg_arena *arena,
                     const char **names);

/* A line for each finished fit. FILE, FORMAT: another search. Without a path: none. */
margin_status mg_journal_open(mg_tune *search, margin_error *error);
/* Fills in the slots of active cells that lines of this round tell of. */
margin_status mg_journal_find(mg_tune *search, margin_error *error);
margin_status mg_journal_add(mg_tune *search, const mg_cell *cell, int64_t split,
                             margin_error *error);
void mg_journal_close(mg_tune *search);

/* A cell as the caller sees it, but for the arrays of numbers. */
void mg_cell_describe(const mg_tune *search, const mg_cell *cell, margin_search_cell *out);
/* A copy (of NULL: ""); NULL without memory. */
const char *mg_keep_text(mg_arena *arena, const char *text);
/* The result as the caller gets it. */
margin_status mg_tune_result_make(const mg_tune *search, margin_search_result **result,
                                  margin_error *error);

/* margin_search_specs where the task is known (0: it is not). */
margin_status mg_tune_search(margin_context *context, margin_task task,
                             const margin_spec *const *specs, int64_t count,
                             const margin_data *data, const margin_splits *splits,
                             const margin_search_options *options, margin_search_result **result,
                             margin_error *error);

/* ARGUMENT where there are no specs, or one is NULL. */
margin_status mg_tune_check_specs(const margin_spec *const *specs, int64_t count,
                                  margin_error *error);
