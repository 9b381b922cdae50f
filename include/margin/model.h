/* margin/model.h - train, predict, evaluate, prove, save.
 *
 * A model is immutable: any number of threads may use one at the same time. It keeps copies of all
 * it needs. Every pointer that a function of a model returns or fills in (texts, columns, weights,
 * coefficients, tensors, the report) is the model's own: constant, valid from any thread until
 * margin_model_free, the same at every call. What margin_spec_* and margin_component_* return has
 * static storage or is the spec's.
 *
 * Threads: log, progress, poll and trace come from the thread that called margin; an allocator, and
 * a kernel with kernel_threads = 1, from those of the pool, too. margin_context_cancel, _resume and
 * _memory may be called from any thread.
 *
 *   margin_data data = {.x = margin_dense_f64(values, rows, columns, columns),
 *                       .y = margin_labels_i32(labels, rows)};
 *   if (margin_context_create(NULL, &context, &error) < 0 ||
 *       margin_spec_parse(context, "standardize | perceptron", &spec, &error) < 0 ||
 *       margin_fit(context, spec, &data, &model, &report, &error) < 0)
 *       return complain(error.text);
 */
#ifndef MARGIN_MODEL_H
#define MARGIN_MODEL_H

#include "margin/data.h"
#include "margin/measure.h"
#include "margin/spec.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct margin_model margin_model;

/* A number that only some learners report ("mistakes", "margin"): docs/functions.md lists them. */
typedef struct margin_report_item {
    char name[24];
    double value; /* NaN: does not apply to this outcome (null in JSON) */
} margin_report_item;

enum { MARGIN_REPORT_ITEMS = 16 };

/* What was minimised, how it ended, and how far from the optimum it provably is. Plain data, owned
 * by the caller. */
typedef struct margin_report {
    size_t size;    /* sizeof(margin_report), set by the caller; 0 counts as that of version 0.1 */
    int32_t status; /* margin_status. MARGIN_OK: converged; above 0: stopped, see reason */
    int32_t task;   /* margin_task */
    int64_t rows, columns; /* rows used (after selection), input columns */
    int64_t classes;       /* 0 for regression */
    /* Value of `formula` at the model, summed over sub-problems or targets. Of a learner that
     * minimises nothing (MARGIN_IS_RULE) a number that tells its training data: see its page. */
    double objective;
    /* The proof: (objective - least possible) / max(1, |objective|) is at most this, whatever the
     * data are; of several sub-problems or targets that of the sum. A model that converged has one
     * of at most `tolerance`. Infinity: there is no bound. NaN: nothing is minimised (knn),
     * or nothing tells how low it could be (kmeans). */
    double gap;
    double tolerance;   /* what was asked of gap */
    int64_t iterations; /* passes, steps, Newton steps: see iteration_name */
    double seconds;     /* of the fit */
    int32_t threads;
    int64_t subproblems;     /* 1, or K for one-versus-rest, K(K-1)/2 for one-versus-one; targets */
    char iteration_name[24]; /* "passes" */
    char formula[160];
    char reason[400]; /* one sentence: why it ended, and if it stopped early what to do */
    double train_accuracy, train_rmse, train_r2; /* on the training rows; NaN: does not apply */
    int64_t item_count;
    margin_report_item items[MARGIN_REPORT_ITEMS];
} margin_report;

/* Value of a report item, NaN if it has none of that name. */
MARGIN_API double margin_report_item_value(const margin_report *report, const char *name);

/* Both inequalities of Novikoff's proof at one step of a perceptron. v is (w, b), R the length of
 * the longest row (x, 1), u the unit vector of margin gamma (of kernels in feature space), k the
 * number of updates, eta their rate. The first two are NaN where no u is known; bounds are NaN with
 * sample weights that are no whole numbers. */
typedef struct margin_novikoff {
    double along, least_along;      /* v . u >= v_0 . u + k eta gamma */
    double square, greatest_square; /* |v|^2 <= |v_0|^2 + k eta^2 R^2 */
} margin_novikoff;

/* One step of a learner that can trace. */
typedef struct margin_trace_step {
    int64_t subproblem, subproblems; /* 0-based, and how many there are */
    int64_t step;                    /* from 0: the start */
    int64_t row; /* the sample picked, 0-based; -1: none (start, or the end of a pass) */
    /* Misclassified after the step, y f <= 0: at f = 0 a row counts, though a prediction takes it
     * for the second class. -1: nothing is classified. */
    int64_t errors;
    double loss;      /* objective after the step; NaN if it is not computed */
    double intercept; /* NaN if there are several functions */
    /* weight_count numbers in the learner's own units, or NULL. One function: a weight per column.
     * Several (a learner that tells all classes apart at once): those of each function in turn,
     * then their intercepts. */
    const double *weights;
    int64_t weight_count;
    /* Perceptron in dual or kernel form: the coefficient alpha_i of each of `alpha_count` rows that
     * take part, in their order, and how many updates it had (of sample weights that are no whole
     * numbers: a broken number). NULL: another form or learner. */
    const double *alpha, *updates;
    int64_t alpha_count;
    /* Perceptron with one function: loss / |w|, the sum of the distances of the misclassified rows
     * from the hyperplane (for kernels in feature space); NaN at w = 0. NULL: nothing of the kind.
     */
    const double *distance;
    const margin_novikoff *novikoff; /* perceptron(bound=steps); NULL: else */
} margin_trace_step;

/* Seed, threads and limits of one fit are those of its context: margin_context_with. */
typedef struct margin_fit_options {
    size_t size;
    /* In order, from the calling thread. Nonzero: CANCELLED (sticky: margin_context_resume). */
    int (*trace)(const margin_trace_step *step, void *user);
    void *user;
    /* A linear model of as many features, targets and (of the same names) classes: an iterative
     * solver with a smooth loss begins there, and the perceptron in primal form, if its spec names
     * no start; others as always. What is proven is the same (a perceptron's `bound` is NaN then).
     * ARGUMENT if it does not fit. NULL: none. Only read during the call. */
    const margin_model *start;
    /* What the rows of each class count, in the order of the model's classes: the learner's option
     * class_weight with these numbers, as the model's spec then says. ARGUMENT: not as many as
     * there are classes, one that is not above 0, a learner without that option. */
    const double *class_weights;
    int64_t class_weight_count;
    /* First centres of kmeans, k rows of the columns that it sees (behind the stages): its option
     * centres, which the spec does not say then. ARGUMENT: another learner; SPEC: another number,
     * or the spec has start. Weights to start from: margin_spec_with. */
    const double *centres;
    int64_t centre_count; /* numbers: k x columns */
    /* Called with `user`, from the calling thread, at the end of a fit for each of its sub-problems
     * in order: its own status, objective, gap, iterations, reason and items. */
    void (*part)(const margin_report *report, int64_t subproblem, void *user);
} margin_fit_options;

/* Trains `spec` on `data`. `report` may be NULL. Returns OK, STOPPED_*, or a failure: SPEC (a set
 * to search over, options that exclude each other), ARGUMENT (shapes, or weights and traces that
 * the learner does not take), DATA (NaN or infinity with row and column, no rows, one class, labels
 * that are a measurement, weights negative or all zero, categories without `onehot`), MEMORY,
 * LIMIT, CANCELLED. On failure neither `model` nor `report` is written.
 *
 * Rows of weight 0 and rows that are not selected take no part and may hold anything. Classes are
 * the distinct labels in ascending order (categories: by name; those that do not occur are none,
 * unless data->classes has them);
 * with two classes the second is the positive one. Linear models are put back into original units,
 * as far as the stages are affine column by column. The report's training accuracy is that of the
 * finished model's own predictions. The model does not depend on the number of threads. */
MARGIN_API MARGIN_CHECKED margin_status margin_fit(margin_context *context, const margin_spec *spec,
                                                   const margin_data *data, margin_model **model,
                                                   margin_report *report, margin_error *error);
MARGIN_API MARGIN_CHECKED margin_status margin_fit_with(margin_context *context,
                                                        const margin_spec *spec,
                                                        const margin_data *data,
                                                        const margin_fit_options *options,
                                                        margin_model **model, margin_report *report,
                                                        margin_error *error);
MARGIN_API void margin_model_free(margin_model *model);

/* The model of the rows that `model` was trained on and those of `data`: a new one, `model` stays
 * as it is. Columns are the model's, in its order; classes and categories (compared by name) may be
 * new. Stages stay as they were trained, and with stages an unknown category is a missing value.
 * Only for learners whose models are statistics (naive-bayes); ARGUMENT for others. The counts are
 * those of one fit to all rows, to the last bit if weights are whole numbers; means and variances
 * agree up to rounding. The training accuracy, which needs all rows, is NaN; margin_verify takes
 * all of them. */
MARGIN_API MARGIN_CHECKED margin_status margin_update(margin_context *context,
                                                      const margin_model *model,
                                                      const margin_data *data,
                                                      margin_model **updated, margin_report *report,
                                                      margin_error *error);

/* The Gram matrix that a learner with a kernel sees, k(x_i, x_j) behind the stages of `spec`, which
 * are fitted to the selected rows of weight > 0: *rows of them, row-major in `values`, which has
 * room for `capacity` numbers. A target plays no part. SPEC: the learner has no kernel; ARGUMENT:
 * no room; the failures of margin_fit. Cost: rows^2 kernel values. */
MARGIN_API MARGIN_CHECKED margin_status margin_gram(margin_context *context,
                                                    const margin_spec *spec,
                                                    const margin_data *data, int64_t capacity,
                                                    double *values, int64_t *rows,
                                                    margin_error *error);

/* ---- Prediction ------------------------------------------------------------------------------ */

/* `x` has the model's input columns in training order (see margin_model_columns), dense or CSR, f32
 * or f64. These run on the calling thread, allocate nothing and are safe from any thread. Fails
 * with ARGUMENT on other shapes; column indices of CSR rows are checked. A row with an infinite
 * value gives NaN scores and label -1 (regression: NaN), and so does one with NaN unless the first
 * component of the spec takes missing values (MARGIN_CAN_MISSING), or stages that work column by
 * column hand it on to a learner that does, or the NaN is in a column of categories: an unknown
 * one, of which onehot(unknown) and naive-bayes(unseen) tell. Rows that are too wide for the stack
 * on their way through the stages (beyond about 4000 columns) need scratch:
 * see margin_model_scratch_size. A row's answer does not depend on the rows beside it. With
 * kernel=user they may be CANCELLED, after some rows were written. */

/* Class number 0..classes-1 (see margin_model_class_name) or cluster of each row; of one class 0
 * ("outlier") or 1 ("inlier"). */
MARGIN_API MARGIN_CHECKED margin_status margin_predict(const margin_model *model,
                                                       const margin_matrix *x, int64_t *labels,
                                                       margin_error *error);
/* Regression: the value of each row; with several targets rows x targets values, those of a row
 * together, in the order of the targets. */
MARGIN_API MARGIN_CHECKED margin_status margin_predict_values(const margin_model *model,
                                                              const margin_matrix *x,
                                                              double *values, margin_error *error);
/* rows x margin_model_score_count numbers: w.x + b (two classes: one score, positive for the second
 * class; one-versus-rest and argmax: one per class; one-versus-one: one per pair (0,1), (0,2), ...,
 * positive for the FIRST of the pair; regression: the values). The label: with one score the second
 * class where it is >= 0; with one per class the greatest, ties to the lower class; with pairs the
 * most votes (a score >= 0 is one for the first), ties by the sum of the scores for a class, then
 * to the lower class. What a score is: linear models, kernels: w.x + b, f(x); knn: the share of a
 * class among the neighbours' votes, their mean for a regression; naive-bayes: log P(class, x),
 * multinomial without the terms that all classes share; kmeans: minus the squared distance from the
 * centre. */
MARGIN_API MARGIN_CHECKED margin_status margin_scores(const margin_model *model,
                                                      const margin_matrix *x, double *scores,
                                                      margin_error *error);
/* rows x classes probabilities; ARGUMENT if the learner has none (perceptron, svm) or trained pairs
 * of classes (multiclass=ovo), unless they were calibrated (margin_promise). The label is always
 * the most probable class. */
MARGIN_API MARGIN_CHECKED margin_status margin_probabilities(const margin_model *model,
                                                             const margin_matrix *x,
                                                             double *probabilities,
                                                             margin_error *error);

/* rows x classes: one number for each class (cluster), the first greatest of which is the label
 * that margin_predict gives. One score s: -s and s. One per class: the scores. Pairs: the votes of
 * a class plus t / 3 (1 + |t|), t the sum of its scores, which settles ties as the label does. A
 * model that decides by probabilities (calibrated, threshold, costs): those, p - threshold with its
 * opposite, or minus the expected cost. Where a tie or rounding would name another class, the
 * label's number is raised to the next above. NaN throughout where the label is -1. ARGUMENT for
 * regressions. */
MARGIN_API MARGIN_CHECKED margin_status margin_class_scores(const margin_model *model,
                                                            const margin_matrix *x, double *scores,
                                                            margin_error *error);
/* rows x clusters Euclidean distances from the centres, over margin_model_features; ARGUMENT for
 * models without clusters. */
MARGIN_API MARGIN_CHECKED margin_status margin_distances(const margin_model *model,
                                                         const margin_matrix *x, double *distances,
                                                         margin_error *error);

typedef enum margin_output {
    MARGIN_OUTPUT_LABELS,
    MARGIN_OUTPUT_VALUES,
    MARGIN_OUTPUT_SCORES,
    MARGIN_OUTPUT_PROBABILITIES,
    MARGIN_OUTPUT_CLASS_SCORES,
    MARGIN_OUTPUT_DISTANCES
} margin_output;
/* The same for many rows on the context's threads, scratch included; `out` is int64_t for labels,
 * double otherwise. The same bits as row by row. After a failure `out` may be partly written. */
MARGIN_API MARGIN_CHECKED margin_status margin_predict_parallel(margin_context *context,
                                                                const margin_model *model,
                                                                const margin_matrix *x,
                                                                margin_output what, void *out,
                                                                margin_error *error);
/* The same for a data set that describes its columns: columns are found by name, in any order (data
 * without descriptions, and data of whose names the model knows none, have the model's columns in
 * its order), category codes mean their names. Answers for the selected rows. Where columns or
 * codes are not the model's, data->x must be dense or by columns, and is copied. All that takes a
 * model and data does that. DATA: columns that are missing, categories where the model has numbers
 * or the other way round. */
MARGIN_API MARGIN_CHECKED margin_status margin_predict_data(margin_context *context,
                                                            const margin_model *model,
                                                            const margin_data *data,
                                                            margin_output what, void *out,
                                                            margin_error *error);
/* Bytes of scratch that margin_predict_scratch needs for this model, aligned as malloc's memory is;
 * 0 for most. Nothing stays in it between calls; calls at the same time need one each. */
MARGIN_API int64_t margin_model_scratch_size(const margin_model *model);
MARGIN_API MARGIN_CHECKED margin_status margin_predict_scratch(const margin_model *model,
                                                               const margin_matrix *x,
                                                               margin_output what, void *out,
                                                               void *scratch, margin_error *error);

/* ---- What a model knows ---------------------------------------------------------------------- */

MARGIN_API const char *margin_model_spec(const margin_model *model); /* canonical text */
MARGIN_API const margin_component *margin_model_learner(const margin_model *model);
/* The report of the fit, with seconds and threads 0: they are not part of the model. */
MARGIN_API const margin_report *margin_model_report(const margin_model *model);
MARGIN_API margin_task margin_model_task(const margin_model *model);
/* What a reader should do with categories that the model does not know
 * (margin_read_options.unknown): MARGIN_UNKNOWN_ERROR if the spec refuses them (naive-bayes:
 * unseen=error, onehot: unknown=error), else MARGIN_UNKNOWN_KEEP, and the model does what its spec
 * says. Codes that are not below the count of a column's categories are such categories wherever
 * they come from. */
MARGIN_API margin_unknown margin_model_unknown(const margin_model *model);
MARGIN_API int64_t margin_model_class_count(const margin_model *model); /* 0 for regression */
MARGIN_API const char *margin_model_class_name(const margin_model *model, int64_t index);
/* The name is NULL for clusters and a class there is none of. The label of a class as the number it
 * was in training (its name reads back to it); NaN where there is no name, or the target had
 * categories or labels of more digits than a double holds. */
MARGIN_API double margin_model_class_value(const margin_model *model, int64_t index);
/* Input columns. */
MARGIN_API const margin_column *margin_model_columns(const margin_model *model, int64_t *count);
/* Name; categories if it had them; with several targets the first of as many. */
MARGIN_API const margin_column *margin_model_target(const margin_model *model);
/* Targets: 1, more if it was trained on several, 0 for clusters. Score function t is target t. */
MARGIN_API int64_t margin_model_target_count(const margin_model *model);
MARGIN_API int64_t margin_model_score_count(const margin_model *model);
MARGIN_API int margin_model_has_probabilities(const margin_model *model);
/* The classes a score is about: positive for `first` against `second`, or against the rest (second
 * = -1). Two classes with one score: 1 and 0. Both -1 for regression and a score there is none of.
 * NULLs allowed. */
MARGIN_API void margin_model_score_classes(const margin_model *model, int64_t score, int64_t *first,
                                           int64_t *second);

/* Linear models: weights and intercept of one score function over `features` (the weights of score
 * k begin k x features behind those of score 0: a row-major matrix without gaps), in original units
 * as far as the stages can be folded (after `onehot` the features are "colour=red" ...; after
 * `normalize` those behind it). NULL if not linear. */
MARGIN_API const double *margin_model_weights(const margin_model *model, int64_t score);
MARGIN_API double margin_model_intercept(const margin_model *model, int64_t score);
MARGIN_API const margin_column *margin_model_features(const margin_model *model, int64_t *count);
/* The units of a feature. It stands for (u - *shift) / *scale, where u is the column of its name:
 * an input column, whose number is returned (its missing values filled in, if a stage does so), or
 * what a stage made of columns in their own units (-1) or of scaled ones (-2: products of poly
 * behind standardize). *scale = 0: u was the constant *shift in training, and the feature is 0. A
 * feature that is not scaled, or that is not there, has 0 and 1. */
MARGIN_API int64_t margin_model_scale(const margin_model *model, int64_t feature, double *shift,
                                      double *scale);
/* rows x features: what margin_model_features stand for at each row of x, NaN where a stage cannot
 * tell: what the hypothesis is about. Stages that are folded into a linear model are not applied
 * (behind `standardize | logistic` these are the columns of x themselves, behind `standardize |
 * kmeans` the scaled ones). On the calling thread; a failure may leave them partly written. */
MARGIN_API MARGIN_CHECKED margin_status margin_model_transform(margin_context *context,
                                                               const margin_model *model,
                                                               const margin_matrix *x,
                                                               double *features,
                                                               margin_error *error);

/* ---- Stages alone ----------------------------------------------------------------------------
 * A spec without a learner ("impute | onehot | standardize") is fitted like any other: the stages
 * learn from the rows, their weights and, where a stage asks for it, the target. The model's task
 * is MARGIN_TRANSFORM, its learner is called "transform" (margin_component_find does not know it),
 * and its scores are the columns that the stages make, described by margin_model_features. */

/* Rows as the stages of a model made them. */
typedef struct margin_transformed {
    size_t size;     /* sizeof(margin_transformed); 0 counts as that of version 0.1 */
    margin_matrix x; /* rows x features: CSR where the stages keep zeros, f32 if the data were */
    void *inner;     /* owns what x points to */
} margin_transformed;
/* The selected rows of `data` through all stages of any model, those too that are folded into a
 * linear one: what its learner was trained on. Columns and codes are found as by
 * margin_predict_data; weights and target play no part; rows that a stage cannot take are DATA.
 * Release with margin_transformed_free; the result outlives model and context. Cost: one pass and
 * the memory of the result. */
MARGIN_API MARGIN_CHECKED margin_status margin_transform(margin_context *context,
                                                         const margin_model *model,
                                                         const margin_data *data,
                                                         margin_transformed *result,
                                                         margin_error *error);
MARGIN_API void margin_transformed_free(margin_transformed *result);
/* The way back, rows x input columns: each column scaled back by the affine stages (minmax,
 * standardize; a constant column is its constant), row by row on the calling thread. `x` has the
 * model's features, dense or CSR; `rows_out` has room for x->rows x input columns numbers.
 * ARGUMENT: a stage that is not affine. */
MARGIN_API MARGIN_CHECKED margin_status margin_transform_inverse(const margin_model *model,
                                                                 const margin_matrix *x,
                                                                 double *rows_out,
                                                                 margin_error *error);

/* The numbers of a model, all that its file holds and under the same names, without a copy:
 * "hypothesis.weights", "hypothesis.support", "hypothesis.centres", "stage.0.divisor",
 * "class_values" ... docs/format.md says what each is and which learner and stage has which. Later
 * versions may add tensors to a model; look for names, not for numbers. */
enum { MARGIN_TENSOR_NAME = 64 };
typedef struct margin_tensor {
    size_t size; /* sizeof(margin_tensor), set by the caller; 0 counts as that of version 0.1 */
    char name[MARGIN_TENSOR_NAME];
    int32_t type;       /* margin_type: F64, F32, I64, I32 or U8 */
    int32_t rank;       /* 1 or 2 */
    int64_t shape[2];   /* row-major without gaps; shape[1] is 1 for rank 1 */
    const void *values; /* shape[0] x shape[1] numbers, valid while the model lives */
} margin_tensor;
MARGIN_API int64_t margin_model_tensor_count(const margin_model *model);
/* By number from 0, or by name. Returns 1; 0, with nothing written, if there is none (or
 * tensor->size is less than that of version 0.1). */
MARGIN_API int margin_model_tensor(const margin_model *model, int64_t index, margin_tensor *tensor);
MARGIN_API int margin_model_tensor_find(const margin_model *model, const char *name,
                                        margin_tensor *tensor);

/* Dual forms: for one score function the training rows (0-based, of the data given to fit) that
 * took part, their coefficients alpha >= 0, the signs y (+1, -1) and update counts. Returns the
 * number of rows; 0 if the model has no dual form. NULLs allowed. */
MARGIN_API int64_t margin_model_dual(const margin_model *model, int64_t score, const int64_t **rows,
                                     const double **coefficients, const double **signs,
                                     const double **updates);

/* Clusters: the coordinates of a centre over margin_model_features (behind stages: as they make
 * them; in the units of the columns it is shift + scale x coordinate, see margin_model_scale), NULL
 * if there is no such cluster; the weight of the training rows in it, NaN then. */
MARGIN_API const double *margin_model_centre(const margin_model *model, int64_t cluster);
MARGIN_API double margin_model_cluster_size(const margin_model *model, int64_t cluster);

/* Naive Bayes: what a column tells of a class. */
typedef struct margin_telling {
    int64_t column;   /* of margin_model_features */
    double evidence;  /* mean over rows of the class of log P(x_j | class) / P(x_j | other classes),
                         in nats (multinomial: the column's share of it for one word) */
    int64_t category; /* the category that speaks most for the class; -1: the column has none */
    double value; /* gaussian: the mean in the class; numbers as categories: the number; bernoulli:
                     1 or 0 (above 0 or not); else NaN */
    double log_ratio;   /* log P(that | class) / P(that | other classes); NaN for gaussian */
    double reserved[2]; /* 0 */
} margin_telling;
/* The columns with the most evidence for one class, most first, at most `capacity`; returns their
 * number, 0 for models that are not naive Bayes. Cost: classes x statistics. */
MARGIN_API int64_t margin_model_telling(const margin_model *model, int64_t class_index,
                                        int64_t capacity, margin_telling *list);

/* Naive Bayes: P(class) as the model uses it, and the weight of the training rows of the class
 * (NULL allowed). NaN for other models and a class there is none of. */
MARGIN_API double margin_model_prior(const margin_model *model, int64_t class_index,
                                     double *weight);

typedef enum margin_distribution {
    MARGIN_DISTRIBUTION_CATEGORICAL = 0,
    MARGIN_DISTRIBUTION_GAUSSIAN = 1,
    MARGIN_DISTRIBUTION_BERNOULLI = 2,
    MARGIN_DISTRIBUTION_MULTINOMIAL = 3
} margin_distribution;

/* Naive Bayes: P(x_j | class). What a distribution does not have is NaN, 0 or NULL. */
typedef struct margin_likelihood {
    size_t size;          /* sizeof(margin_likelihood), set by the caller */
    int32_t distribution; /* margin_distribution */
    double total;     /* N_jc, the weight of the class's training rows with a value in the column;
                         multinomial: N_c, the weighted sum of all multinomial columns */
    double count;     /* bernoulli: weight of the values above 0; multinomial: weighted sum of the
                         column */
    double p;         /* bernoulli: P(x_j > 0 | class); multinomial: theta_jc */
    double mean;      /* gaussian; without any value in the class those of all classes */
    double deviation; /* gaussian: standard deviation with what var_smoothing adds to its square;
                         0: the column is constant and left out */
    int64_t levels;   /* categorical: S_j, the number of categories */
    const double *counts; /* categorical: N_jac of each; belongs to the model */
    const double *values; /* numbers as categories: which, ascending; NULL where the names are those
                             of margin_model_features; belongs to the model */
} margin_likelihood;
/* Fills in *likelihood for a column of margin_model_features; of a categorical one also P(x_j = a |
 * class) of its first `capacity` levels into probabilities (NULL with capacity 0). Returns 1; 0,
 * with nothing written, for other models and a class or column there is none of. Cost: levels. */
MARGIN_API int margin_model_likelihood(const margin_model *model, int64_t class_index,
                                       int64_t column, margin_likelihood *likelihood,
                                       int64_t capacity, double *probabilities);

/* ---- Judging --------------------------------------------------------------------------------- */

/* Metrics of a model (margin/measure.h; set metrics->size) on a data set.
 * Needs a target in `data` whose labels are all known to the model (DATA names an unknown one) and
 * rows that it can score (DATA names one with a missing value). Labels are compared as numbers, or
 * by name where both or only the data have categories. Clusters need no target. */
MARGIN_API MARGIN_CHECKED margin_status margin_evaluate(margin_context *context,
                                                        const margin_model *model,
                                                        const margin_data *data,
                                                        margin_metrics *metrics,
                                                        margin_error *error);

typedef struct margin_evaluate_options {
    size_t size;
    int32_t unknown_wrong; /* 1: a row of a class that the model does not know is an error, and
                              counted in metrics->unknown; 0: DATA */
    /* As in margin_measure_options. */
    int64_t bootstrap;
    uint64_t seed;
    double level;
} margin_evaluate_options;
/* The same with options (NULL: none). */
MARGIN_API MARGIN_CHECKED margin_status margin_evaluate_with(
    margin_context *context, const margin_model *model, const margin_data *data,
    const margin_evaluate_options *options, margin_metrics *metrics, margin_error *error);

/* Margins of every sample: functional y f(x) and geometric y f(x)/|w| (for kernel forms |w| is the
 * norm in feature space), rows (or selected) numbers each, whatever their weights. Several classes:
 * the score of the true class minus the best other, divided by the norm of the difference of the
 * two; one-versus-one: the least score towards the true class over its pairs. Geometric margins are
 * NaN where the norm is 0. Either may be NULL. */
MARGIN_API MARGIN_CHECKED margin_status margin_margins(margin_context *context,
                                                       const margin_model *model,
                                                       const margin_data *data, double *functional,
                                                       double *geometric, margin_error *error);

/* Recomputes the report's proof from the model and the data it was trained on, in f64 with code
 * that shares nothing with the solver, and writes what it found: objective, gap, items. Compared
 * are task, formula, rows, columns, classes, tolerance, that a model which says it converged did,
 * objective, gap (a bound: one found lower agrees), the scores on the training rows, the items that
 * it finds (the widest margin of a perceptron is sought anew), folded weights, dual coefficients
 * (without a penalty they prove nothing), support rows, and what stages learned: they are fitted
 * again, but for what a seed drew (frequencies, centres), of a model that took more rows later to
 * its first rows. Not compared is what only tells of the work (iterations, reason, a stop,
 * condition, rate, best_run, mistakes but of bounds and plain duals), nor freedom, gcv_rmse, and,
 * of several optimal weight vectors without a penalty, which one it is but the least of least
 * squares; nor, as the reason then says, a leave_one_out_rmse hidden by rounding and what was
 * settled after the fit (calibration, thresholds, costs, coverage). OK if it agrees;
 * STOPPED_STALLED if not (the reason says where). ARGUMENT if the learner claims nothing. Rows may
 * be in another order but where a stage takes the median of some (rbf beyond 2^20 distances,
 * gamma=median beyond 1000 rows), where the model has stages and took more rows later, and where it
 * keeps rows or their numbers: svm, knn, kernel-ridge, kernel-logistic, perceptron with a kernel or
 * form=dual. Cost: that of the fit; without a penalty columns^3 / 3 products in long double. */
MARGIN_API MARGIN_CHECKED margin_status margin_verify(margin_context *context,
                                                      const margin_model *model,
                                                      const margin_data *data, margin_report *found,
                                                      margin_error *error);

/* The same, and what was found of each sub-problem: `parts` has room for `capacity` reports, at
 * least margin_model_report(model)->subproblems (ARGUMENT), of parts[0].size bytes each, in the
 * order of the targets, classes or pairs of classes; objective, gap and items of each are its own,
 * the rest is that of `found`. NULL: none are wanted. After a failure they hold nothing of use. */
MARGIN_API MARGIN_CHECKED margin_status margin_verify_parts(
    margin_context *context, const margin_model *model, const margin_data *data,
    margin_report *found, margin_report *parts, int64_t capacity, margin_error *error);

/* ---- Separability ---------------------------------------------------------------------------- */

/* Decides whether a hyperplane separates two classes strictly, and proves the answer. */
typedef struct margin_separation {
    size_t size;       /* sizeof(margin_separation), set by the caller */
    int32_t separable; /* 1, 0 */
    int64_t rows, columns;
    /* separable: the widest hyperplane: unit weights (norm 1), y(w.x + b) >= margin > 0 for every
     * row, and the certified relative distance of that margin from the largest possible one. */
    double margin, intercept, margin_gap;
    const double *weights; /* columns numbers */
    /* not separable: convex weights on the rows of each class (sum 1 each) whose weighted means
     * coincide; residual is the largest difference of the two means in any column, relative to that
     * column's range (greatest minus least value). */
    int64_t positive_count, negative_count;
    const int64_t *positive_rows, *negative_rows;
    const double *positive_weights, *negative_weights;
    double residual;
    double seconds;
    int64_t iterations;
    void *inner; /* owns the arrays */
} margin_separation;
/* `data` has two classes (the greater label is positive), features dense or CSR. A tie of a
 * positive and a negative row is the simplest proof. Stated tolerance of the proof: residual <=
 * 1e-9. STOPPED_STALLED or STOPPED_TIME with the best of both (separable 0) if neither could be
 * established in double precision or in time; that is said, not guessed. The same status with
 * separable 1: a wider hyperplane may exist, by margin_gap > 1e-6 (columns of very different sizes,
 * such as an identifier beside measurements). DATA: other than two classes, categories,
 * NaN. Cost: a few dozen passes over the data; does not depend on the number of threads. Memory:
 * 8 m^2 bytes with m the lesser of columns + 3 and rows + 1, a few numbers per row, and up to
 * 150 MB more for tables of at most 2000 columns. */
MARGIN_API MARGIN_CHECKED margin_status margin_separable(margin_context *context,
                                                         const margin_data *data,
                                                         margin_separation *result,
                                                         margin_error *error);

typedef struct margin_separable_options {
    size_t size;
    /* The class, by name, that is to be separated from all others, of which there may be several;
     * it is the positive one. NULL: there are two classes. DATA: no such class. */
    const char *positive;
} margin_separable_options;
/* The same with options (NULL: none). */
MARGIN_API MARGIN_CHECKED margin_status margin_separable_with(
    margin_context *context, const margin_data *data, const margin_separable_options *options,
    margin_separation *result, margin_error *error);
MARGIN_API void margin_separation_free(margin_separation *result);

/* ---- Model files (docs/format.md) ------------------------------------------------------------ */

/* Writes the model whole or not at all. The bytes depend only on the model. */
MARGIN_API MARGIN_CHECKED margin_status margin_model_save(const margin_model *model,
                                                          const char *path, margin_error *error);
/* Loads a file that may be hostile: every count and offset is checked before use. MODEL with the
 * reason (an index of neighbours without targets is no model, too), FILE, MEMORY, CANCELLED. */
MARGIN_API MARGIN_CHECKED margin_status margin_model_load(margin_context *context, const char *path,
                                                          margin_model **model,
                                                          margin_error *error);
/* The same without a copy of the large parts: they are used where they lie in the mapped file,
 * which must not be changed or cut off while the model lives. For models that are as large as their
 * data (knn). Every byte is read and checked once. */
MARGIN_API MARGIN_CHECKED margin_status margin_model_map(margin_context *context, const char *path,
                                                         margin_model **model, margin_error *error);
/* The same to and from memory; release `bytes` with margin_bytes_free, which needs the model that
 * they came from: before margin_model_free. */
MARGIN_API MARGIN_CHECKED margin_status margin_model_encode(const margin_model *model, void **bytes,
                                                            int64_t *length, margin_error *error);
MARGIN_API MARGIN_CHECKED margin_status margin_model_decode(margin_context *context,
                                                            const void *bytes, int64_t length,
                                                            margin_model **model,
                                                            margin_error *error);
MARGIN_API void margin_bytes_free(const margin_model *model, void *bytes);
/* The same bytes in memory of the caller: their number, and writing them. ARGUMENT, with nothing
 * written, if `capacity` is less; *length is what was written. Each call makes the header (names,
 * report) anew. */
MARGIN_API MARGIN_CHECKED margin_status margin_model_encoded_size(const margin_model *model,
                                                                  int64_t *length,
                                                                  margin_error *error);
MARGIN_API MARGIN_CHECKED margin_status margin_model_encode_into(const margin_model *model,
                                                                 void *bytes, int64_t capacity,
                                                                 int64_t *length,
                                                                 margin_error *error);

#ifdef __cplusplus
}
#endif
#endif
