/* Naive Bayes from the inside.
 *
 *   naive_bayes.c       options, fit, report
 *   bayes_layout.c      which distribution a column has and where its statistics lie
 *   bayes_values.c      numbers taken as categories: their distinct values
 *   bayes_count.c       one sweep over the rows: the sufficient statistics
 *   bayes_rows.h        its inner loops for numbers, and those of prediction
 *   bayes_hypothesis.c  from statistics to logarithms of probabilities
 *   bayes_likelihood.c  the probabilities themselves, for those who want to see them
 *   bayes_scores.c      log P(c) + sum_j log P(x_j | c) of rows
 *   bayes_verify.c      the statistics and the objective again, by plain loops
 *
 * The statistics of a model are one table, classes x slots. A column has the slots
 *   categories   N_jac for each of its S_j levels
 *   gaussian     weight, mean and sum of squared deviations of the values that are there
 *   bernoulli    weight of the values that are there, and of those above 0
 *   multinomial  weighted sum of the values
 * They are sufficient: parameters, objective and the merging of two models need nothing else. */
#pragma once

#include "bayes/rows/bayes_moments.h"
#include "bayes/rows/bayes_rows.h"
#include "learn/learner.h"

#include <math.h>

typedef enum mg_bayes_kind { /* stored in model files */
                             MG_BAYES_CODES =
                                 0, /* a categorical column: levels are its categories */
                             MG_BAYES_VALUES =
                                 1, /* numbers taken as categories: levels are in a list */
                             MG_BAYES_GAUSSIAN = 2,
                             MG_BAYES_BERNOULLI = 3,
                             MG_BAYES_MULTINOMIAL = 4
} mg_bayes_kind;

typedef enum mg_bayes_unseen { /* stored in model files */
                               MG_BAYES_SMOOTH = 0,
                               MG_BAYES_IGNORE = 1,
                               MG_BAYES_REFUSE = 2
} mg_bayes_unseen;

enum { MG_BAYES_SEEN, MG_BAYES_ONES, MG_BAYES_TRIALS }; /* bernoulli; gaussian: moments */

typedef struct mg_bayes_layout {
    mg_heap *heap;
    int64_t columns, classes;
    const int32_t *kinds;  /* of the columns */
    const int64_t *levels; /* of the columns; 0 where there are none */
    const double *values;  /* VALUES: of one column after the other, ascending in each */
    int64_t slots;         /* of a class, at least 1 */
    int64_t value_count;
    int64_t *first;                     /* first slot of a column; owned */
    int64_t *first_value;               /* of a column; owned with first */
    int64_t *listed;                    /* columns by family; owned with first */
    int64_t gaussians, tables, linears; /* gaussian; CODES and VALUES; bernoulli and multinomial */
    const int64_t *gaussian, *table, *linear; /* their numbers, ascending */
    bool alike;                               /* all columns are bernoulli, or all multinomial */
} mg_bayes_layout;

/* Fills in what follows from columns, classes, kinds, levels and values. MODEL if they contradict
 * each other or are too large. */
margin_status mg_bayes_layout_make(mg_heap *heap, mg_bayes_layout *layout, margin_error *error);
void mg_bayes_layout_free(mg_bayes_layout *layout);

/* Slots of a column. */
int64_t mg_bayes_slots(const mg_bayes_layout *layout, int64_t column);
/* Level of a value in a column of categories: -1 if it is missing, `levels` if it is not known. A
 * number that is not among VALUES is the first one that it becomes, or that becomes it, when
 * rounded to single precision. */
int64_t mg_bayes_level(const mg_bayes_layout *layout, int64_t column, double value);

/* How many columns from linear[n] on lie next to each other and have one distribution. */
int64_t mg_bayes_run(const mg_bayes_layout *layout, int64_t n);

/* Chosen distribution of every column. `kinds` has an entry for each; SPEC, DATA. */
margin_status mg_bayes_choose_kinds(mg_heap *heap, const mg_problem *problem,
                                    const mg_option_value *options, int32_t *kinds,
                                    margin_error *error);
/* Distinct values of the VALUES columns, and the levels of all. *values belongs to the heap. DATA:
 * measurements where categories are declared. */
margin_status mg_bayes_find_values(margin_context *context, const mg_problem *problem,
                                   const int32_t *kinds, int64_t *levels, double **values,
                                   margin_error *error);

/* ---- Statistics ------------------------------------------------------------------------------ */

typedef struct mg_bayes_counts {
    double *classes;    /* weight of each class */
    double *statistics; /* classes x slots */
    double missing;     /* weight of missing cells */
} mg_bayes_counts;
/* Rows of a block of the sweep: enough that joining the tables of all classes costs little, of
 * sparse rows with many columns, too. */
int64_t mg_bayes_block_rows(const mg_bayes_layout *layout, bool sparse);
/* Fills in cleared counts. DATA: negative counts, codes without a category. */
margin_status mg_bayes_count(margin_context *context, const mg_problem *problem,
                             const mg_bayes_layout *layout, mg_bayes_counts *counts,
                             margin_error *error);

/* ---- Models ---------------------------------------------------------------------------------- */

typedef struct mg_bayes_settings {
    double smoothing, prior_smoothing /* of the classes */, var_smoothing;
    mg_bayes_unseen unseen;
    const double *priors; /* given ones, NULL: learnt */
} mg_bayes_settings;

/* The view of a hypothesis: parameters as logarithms. Arrays belong to h->derived. */
typedef struct mg_bayes_view {
    mg_bayes_layout layout;
    mg_bayes_settings settings;
    const double *counts, *statistics; /* tensors: classes; classes x slots */
    double epsilon;                    /* added to every variance */
    mg_isa isa;
    double *log_prior; /* classes */
    double *base; /* classes: log prior and all that a row without gaps gets whatever it holds */
    /* Gaussian columns g: log density = level - (slope (x - centre) + offset)^2 */
    bool centred;                   /* false: all centres are 0 */
    double *centre;                 /* gaussians */
    double *slope, *offset, *level; /* classes x gaussians */
    int64_t *table_row;             /* columns: first row of `tables`; one more row is for unseen */
    double *tables;                 /* rows x classes: log P(level | class) */
    double *linear_on, *linear_off; /* linears x classes: multinomial log theta and 0; bernoulli
                                       log p - log(1 - p) and log(1 - p) */
    double *linear_one;             /* linears x classes: bernoulli log p */
    double *linear_across;          /* classes x linears: linear_on, for dense rows */
    double *words;                  /* classes: sum of all multinomial columns */
    int64_t word_columns;           /* how many those are */
    bool impossible_zeros;          /* a bernoulli log(1 - p) is -infinity */
} mg_bayes_view;

/* A hypothesis with tensors for `layout`, cleared statistics and copies of the rest. */
margin_status mg_bayes_new(mg_heap *heap, const mg_bayes_layout *layout,
                           const mg_bayes_settings *settings, mg_hypothesis **h,
                           mg_bayes_counts *counts, margin_error *error);
/* epsilon from the statistics. */
double mg_bayes_epsilon(const mg_bayes_layout *layout, const double *statistics,
                        double var_smoothing);
/* Moments of a gaussian column over all classes. */
void mg_bayes_pool(const mg_bayes_layout *layout, const double *statistics, int64_t column,
                   double moments[MG_BAYES_MOMENTS]);

MG_INLINE const mg_bayes_view *mg_bayes_view_of(const mg_hypothesis *h) {
    return h->view.other;
}

/* Entries of the kind and the learner. */
margin_status mg_bayes_scores(const mg_hypothesis *h, const margin_matrix *x, int64_t first,
                              int64_t count, double *out);
margin_status mg_bayes_verify(mg_fit *fit, const mg_hypothesis *h);
void mg_bayes_describe(const mg_bayes_view *view, double missing, margin_report *report);

/* Attaches h, whose counts are complete, hands it to fit->hypothesis and fills in the report. On
 * failure h is still the caller's. DATA: a variance of 0. */
margin_status mg_bayes_finish(mg_fit *fit, const mg_bayes_layout *layout,
                              const mg_bayes_settings *settings, const mg_bayes_counts *counts,
                              mg_hypothesis *h);
margin_status mg_bayes_update(mg_fit *fit, const mg_hypothesis *had, const mg_update_map *map);
