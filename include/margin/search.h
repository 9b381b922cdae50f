/* margin/search.h - which settings of a spec predict best the rows that they were not fitted to.
 *
 *   margin_splits *splits;                    how: margin/split.h
 *   margin_search_result *found;
 *   if (margin_spec_parse(context, "standardize | svm(C={0.1,1,10})", &spec, &error) < 0 ||
 *       margin_split(context, &data, &(margin_split_options){.folds = 5}, &splits, &error) < 0 ||
 *       margin_search(context, spec, &data, splits, NULL, &found, &error) < 0)
 *       return complain(error.text);
 *   margin_search_cell_at(found, found->best)->spec    is the spec to give to margin_fit
 */
#ifndef MARGIN_SEARCH_H
#define MARGIN_SEARCH_H

#include "margin/model.h"
#include "margin/split.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One setting: a spec without sets, and what it is worth. Belongs to the result. */
typedef struct margin_search_cell {
    const char *spec;     /* canonical: what margin_fit takes */
    int64_t owner;        /* the spec that it is a setting of, from 0 */
    int64_t number;       /* of this setting among those of its spec, as margin_spec_variant counts;
                             the first of those that differ only in options that they do not take */
    int32_t status;       /* margin_status: OK; STOPPED_*, the worst of its fits; below 0: failed */
    int32_t dropped;      /* halving: the round (from 1) after which it was given up; 0: never */
    const char *reason;   /* one sentence, with the fold; "" if all its fits converged and the
                             metric is a finite number on all splits */
    int64_t rows;         /* most rows that one of its fits learned from */
    double mean;          /* of the values; NaN if the setting failed */
    double deviation;     /* sample standard deviation of the values; NaN for fewer than 2 */
    const double *values; /* the metric on the test rows of each split; NaN where there is none */
    const double *training; /* the same on the rows that were learned from; NULL: not asked for */
    double gap;             /* the largest of its fits; NaN where nothing is claimed */
    /* Summed over its fits, that of the stages counted for each setting though settings share it;
     * settings that are solved together have equal shares of it. */
    double fit_seconds, predict_seconds;
    /* x.rows numbers for each repeat of the splits, one repeat after the other: the answer for each
     * row by the fit that did not see it (margin_search_result.classes tells the classes; -1: no
     * answer; NaN: a row that is not tested, or a fit that failed). NULL: not asked for, or
     * nothing known of this setting but its values (read from a journal). */
    const double *predictions;
} margin_search_cell;

/* The whole table. Lives until margin_search_result_free; depends on neither context nor data. */
typedef struct margin_search_result {
    int64_t count;        /* settings */
    int64_t splits, rows; /* of the folds; rows of the data that took part */
    int32_t task;         /* margin_task */
    int32_t greater;      /* 1: a greater value of the metric is better */
    const char *metric;   /* its name */
    /* Cell with the best mean, the first of equals; -1: none. Settings that failed, stopped early,
     * were dropped or have an infinite loss are never best. */
    int64_t best;
    /* The simplest cell whose mean is within one standard error of the best one's (Breiman,
     * Friedman, Olshen and Stone 1984): deviation / sqrt(folds). Simpler: set after set in the
     * order of the canonical spec the lower degree, the stronger penalty, more neighbours, the
     * wider kernel (margin_option.role); options without such a role rank by their place. */
    int64_t best_one_se;
    int64_t stopped, failed, resumed; /* settings of each kind; read from the journal */
    int64_t classes;                  /* 0 for regression */
    const char *const *class_names;
    double seconds;
    int32_t threads;
    const double *baseline; /* of each split: the metric of the answer that looks at no column (most
                               frequent class, shares of the classes, mean); NULL: not asked for */
    double test_share;      /* test rows / training rows, as a mean over the splits */
    const char *set_end;    /* options ("C, gamma") of which the best cell has the least or greatest
                               number of a set of three or more: a wider one may hold a better; NULL:
                               none */
} margin_search_result;

typedef enum margin_search_method {
    MARGIN_SEARCH_GRID = 0,   /* every setting */
    MARGIN_SEARCH_RANDOM = 1, /* `count` of them, drawn without putting back */
    /* Successive halving (Jamieson and Talwalkar, AISTATS 2016): all settings learn from few rows
     * of each training part, the better third of them from three times as many, and so on; the last
     * round has all rows. */
    MARGIN_SEARCH_HALVING = 2
} margin_search_method;

/* All fields may be zero. */
typedef struct margin_search_options {
    size_t size;        /* sizeof(margin_search_options) */
    int32_t method;     /* margin_search_method */
    int32_t training;   /* 1: the metric on the training rows, too; costs their prediction */
    int64_t count;      /* RANDOM: how many settings */
    int64_t most_cells; /* refuse to try more settings than that; 0: 10000 */
    /* A metric of margin/measure.h; NULL: accuracy; for numbers rmse, with single test rows mse. */
    const char *metric;
    /* Seconds that the fits of one setting may take together; one that has no more is shown as
     * stopped or failed. 0: no limit. The context's time limit is that of the whole call: what was
     * not tried by then is shown as failed. */
    double cell_seconds;
    /* File to which a line is added whenever a fit is finished; those that it holds already are not
     * made again. Fits that a limit on time or memory ended are, each time. FORMAT: a file of
     * another search (spec, data, splits, metric, seed). NULL: none. */
    const char *journal;
    int32_t baseline;    /* 1: fill in that of the result */
    int32_t predictions; /* 1: keep those of each cell: 8 bytes a row, repeat and cell */
    /* Called for each finished setting, from the calling thread, in no particular order. */
    void (*finished)(const margin_search_cell *cell, int64_t done, int64_t count, void *user);
    void *user;
} margin_search_options;

/* Tries all settings that the sets in `spec` stand for. An option in a set that belongs to another
 * choice (margin_option.when) is left out of a setting: svm(kernel={rbf,poly}, degree={2,3}) stands
 * for three settings, of which that of kernel=rbf has no degree. Each is fitted, stages included,
 * to the training rows of each split and judged on its test rows. `options` may be NULL. Returns OK
 * also where settings failed or stopped: the table tells. ARGUMENT: options, splits of other data;
 * SPEC: a learner without a target, settings that predict classes and numbers; DATA as margin_fit,
 * where it concerns all of the rows; LIMIT: more settings than most_cells (before anything is
 * fitted); FILE, FORMAT: the journal; MEMORY, CANCELLED (the journal keeps what is finished).
 *
 * Fits run side by side, each on one thread; the result does not depend on their number, nor on
 * what came from a journal, times aside. Memory: that of one fit for each thread, and 48 bytes for
 * each setting and split. */
MARGIN_API MARGIN_CHECKED margin_status
margin_search(margin_context *context, const margin_spec *spec, const margin_data *data,
              const margin_splits *splits, const margin_search_options *options,
              margin_search_result **result, margin_error *error);
/* The settings of several specs in one table, under the same splits; `number` of a cell counts
 * within its spec. All must have the same task. */
MARGIN_API MARGIN_CHECKED margin_status margin_search_specs(
    margin_context *context, const margin_spec *const *specs, int64_t count,
    const margin_data *data, const margin_splits *splits, const margin_search_options *options,
    margin_search_result **result, margin_error *error);
MARGIN_API void margin_search_result_free(margin_search_result *result);

/* Specs that are worth trying on data of which nothing else is known, for margin_search_specs: the
 * learners that suit target and size, with sets of settings, behind `impute` and `onehot` where the
 * data ask for them, from the cheapest to the dearest. A target without categories of up to 20
 * different whole numbers is taken for classes. Writes at most `capacity` specs, which the caller
 * frees (16 are enough), and their number. ARGUMENT, DATA: no target; MEMORY. Cost: a pass over the
 * data. */
MARGIN_API MARGIN_CHECKED margin_status margin_usual_specs(margin_context *context,
                                                           const margin_data *data,
                                                           int64_t capacity, margin_spec **specs,
                                                           int64_t *count, margin_error *error);

/* NULL if there is no such cell. */
MARGIN_API const margin_search_cell *margin_search_cell_at(const margin_search_result *result,
                                                           int64_t cell);

typedef struct margin_search_difference {
    size_t size; /* sizeof(margin_search_difference); 0 counts as the size in version 0.1 */
    double mean, low, high;
} margin_search_difference;

/* The mean of `values` (one for each split, of a cell or the baseline), or of their differences
 * from `against`, and an interval of confidence `level` in (0, 1): Student's, its variance
 * corrected for training parts that overlap by test rows / training rows (Nadeau and Bengio,
 * Machine Learning 52, 2003). Returns 1; 0, with nothing written, for fewer than 2 splits or values
 * that are NaN. */
MARGIN_API int margin_search_interval(const margin_search_result *result, const double *values,
                                      const double *against, double level,
                                      margin_search_difference *found);

/* ---- Nested ---------------------------------------------------------------------------------- */

/* One outer split. */
typedef struct margin_nested_fold {
    const char *spec;   /* the setting that its training rows chose; "": none */
    const char *reason; /* why there is no value, or a stopped one; "": it converged */
    int32_t status;     /* margin_status of the fit of that setting to all its training rows */
    double value;       /* the metric on its test rows, which took no part in the choice */
    double inside;      /* the mean by which the setting was chosen: lucky as well as good */
} margin_nested_fold;

/* Lives until margin_nested_result_free; depends on neither context nor data. */
typedef struct margin_nested_result {
    int64_t splits, rows;
    int32_t task, greater; /* margin_task; 1: a greater value of the metric is better */
    const char *metric;
    const double *values, *baseline; /* the same values; of the answer that looks at no column,
                                        NULL: not asked for */
    double mean, deviation;          /* of the values; NaN where one is missing */
    double low, high; /* 95 % interval of the mean, as margin_search_interval; NaN: none */
    double gain, gain_low, gain_high; /* mean of values less baseline, and its interval */
    int64_t failed, stopped;          /* splits of each kind */
    double seconds;
    int32_t threads;
} margin_nested_result;

/* Outer split `number`, from 0; NULL beyond the last. */
MARGIN_API const margin_nested_fold *margin_nested_fold_at(const margin_nested_result *result,
                                                           int64_t number);

/* What a search is worth, choice included: for each outer split the settings are searched on its
 * training rows alone, under splits of those (`inner`; its vectors have x.rows numbers), the best
 * one (one_se: the simplest within one standard error) is fitted to them and judged on the test
 * rows. The mean has no part in the luck that the best cell of a search has (Stone 1974; Varma and
 * Simon, BMC Bioinformatics 7, 2006). `options` as for margin_search, without a journal, training
 * and predictions. Cost: a search and a fit for each outer split. Fails as margin_search and
 * margin_split. */
MARGIN_API MARGIN_CHECKED margin_status
margin_search_nested(margin_context *context, const margin_spec *const *specs, int64_t count,
                     const margin_data *data, const margin_splits *outer,
                     const margin_split_options *inner, const margin_search_options *options,
                     int32_t one_se, margin_nested_result **result, margin_error *error);
MARGIN_API void margin_nested_result_free(margin_nested_result *result);

#ifdef __cplusplus
}
#endif
#endif
