/* A search from the inside: cells (settings) times splits, a slot for each. */
#ifndef MG_TUNE_H
#define MG_TUNE_H

#include "margin/measure.h"
#include "margin/search.h"

#include "model/train/train.h"

/* What became of one fit. Written by one task; read when all splits of the cell are done. */
typedef struct mg_slot {
    double value, training, gap;
    float fit_seconds, predict_seconds;
    int32_t status;
    char *reason; /* owned; NULL: none */
} mg_slot;

typedef struct mg_cell {
    margin_spec *spec;
    int64_t owner;  /* which of the caller's specs it is of */
    int64_t number; /* among the settings of that */
    int64_t rows;
    mg_slot *slots;       /* one for each split */
    double *predictions;  /* of each repeat; NULL: not kept */
    bool active;          /* in this round */
    bool known;           /* from the journal */
    bool told;            /* journal and caller know of it */
    int dropped;          /* after this round; 0: not */
    _Atomic int64_t left; /* splits that are not done in this round */
} mg_cell;

typedef struct mg_journal mg_journal;

typedef struct mg_tune {
    margin_context *context; /* of the call */
    mg_heap *heap;
    margin_search_options options;
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
    double started, round_started, tell_next;
    int64_t share; /* halving: fits learn from 1 / share of their training rows */
    int64_t tasks; /* of this round */
    _Atomic int64_t done;
} mg_tune;

/* ---- Parts, each a file ---------------------------------------------------------------------- */

/* Task, classes, truth and metric: what all cells have in common. DATA, SPEC, ARGUMENT. */
margin_status mg_tune_problem(mg_tune *search, margin_error *error);
void mg_tune_problem_free(mg_tune *search);

/* The settings, in the order of specs and variants. LIMIT: too many. */
margin_status mg_tune_cells(mg_tune *search, margin_error *error);
void mg_tune_cells_free(mg_tune *search);

/* One fit and its judgement, into the slot. A failure that concerns this fit alone is the slot's;
 * else (MEMORY, CANCELLED) it is returned. */
margin_status mg_tune_fold(mg_tune *search, margin_context *part, mg_cell *cell, int64_t split,
                           margin_error *error);

/* Tries all cells. */
margin_status mg_tune_run(mg_tune *search, margin_error *error);

/* Mean and deviation of a cell; whether a greater value counts as less. */
double mg_cell_mean(const mg_cell *cell, int64_t splits, double *deviation);
/* Worst status of its fits, and the slot that has it. */
int32_t mg_cell_status(const mg_cell *cell, int64_t splits, const mg_slot **worst);
/* Whether it may be best, or go on to the next round: all fits converged. */
bool mg_cell_counts(const mg_tune *search, const mg_cell *cell);
/* Best cell and the simplest within one standard error of it; -1: none. */
void mg_tune_choose(const mg_tune *search, int64_t *best, int64_t *best_one_se);

/* A line for each finished cell. FILE, FORMAT: another search. Without a path: none. */
margin_status mg_journal_open(mg_tune *search, margin_error *error);
/* Fills in the cell, and says that it is known, if a line tells of it in this round. */
margin_status mg_journal_find(mg_tune *search, mg_cell *cell, margin_error *error);
margin_status mg_journal_add(mg_tune *search, const mg_cell *cell, margin_error *error);
void mg_journal_close(mg_tune *search);

/* A cell as the caller sees it, but for the arrays of numbers. */
void mg_cell_describe(const mg_tune *search, const mg_cell *cell, margin_search_cell *out);
/* The result as the caller gets it. */
margin_status mg_tune_result_make(const mg_tune *search, margin_search_result **result,
                                  margin_error *error);

#endif
