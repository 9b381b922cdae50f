/* The interface of a learner and of a stage: one file, one constant table entry, one line in the
 * registry.
 *
 * A learner answers three questions kept apart: which hypothesis, which loss, which optimiser. It
 * sees a problem (rows, targets, weights), typed options, a way to stop, and hands back a
 * hypothesis and a report. It knows nothing of specs, files, class names, scaling or multi-class
 * reductions. */
#pragma once

#include "data/table/table.h"
#include "learn/hypothesis/hypothesis.h"
#include "learn/options.h"
#include "learn/report.h"

/* ---- Problem --------------------------------------------------------------------------------- */

typedef enum mg_problem_kind {
    MG_TWO_CLASS,  /* sign[i] = +1 or -1 */
    MG_ARGMAX,     /* code[i] = 0..classes-1: K functions, the greatest wins */
    MG_REGRESSION, /* target[i] */
    MG_CLUSTERING
} mg_problem_kind;

typedef struct mg_row_maker mg_row_maker;

/* m = count samples. Sample i is row index[i] of x (index NULL: row i); sign, code, target and
 * weight are indexed by SAMPLE. The x here has passed the stages; all values are finite unless
 * `unchecked`; weights are >= 0 with a positive sum. Rows of weight 0 are already left out. */
typedef struct mg_problem {
    mg_problem_kind kind;
    margin_matrix x;
    const margin_column *columns;
    const int64_t *index;
    int64_t count;
    int classes;
    const int8_t *sign;
    const int32_t *code;
    const double *target;
    const double *weight;    /* NULL: all one */
    bool classes_weigh;      /* of the whole: weights of classes are in `weight`, not in `given` */
    const double *given;     /* of the samples alone, NULL: all one */
    const int64_t *original; /* row number of sample i in the user's data (for traces, dual forms,
                                messages); NULL: i */
    /* Affine stages that were not applied, for learners that take them so (takes_affine): column j
     * means scale[j] x_ij + shift[j]. Columns numbers each; NULL: 1 and 0. */
    const double *scale, *shift;
    /* Rows that are made when they are read, for learners that take them so (takes_made_rows): x
     * then has a shape and no values. NULL: x is all there. */
    const mg_row_maker *maker;
    bool made; /* by a stage, other instruction sets make other last digits of x */
    /* Of a verification: how far rounding in stages may have moved the values of each column, scale
     * and shift applied, beyond their last digits, and the part of that of each row of x (NULL:
     * all). NULL: not. */
    const double *blur, *blur_shares;
    bool unchecked; /* for learners with finds_infinite: nobody has looked for NaN and infinity */
} mg_problem;

MG_INLINE int64_t mg_sample_row(const mg_problem *p, int64_t i) {
    return p->index ? p->index[i] : i;
}
MG_INLINE int64_t mg_sample_original(const mg_problem *p, int64_t i) {
    return p->original ? p->original[i] : i;
}
MG_INLINE double mg_sample_weight(const mg_problem *p, int64_t i) {
    return p->weight ? p->weight[i] : 1.0;
}
/* Of two classes the sign, of a regression the value. */
MG_INLINE double mg_sample_target(const mg_problem *p, int64_t i) {
    return p->kind == MG_TWO_CLASS ? p->sign[i] : p->target[i];
}

/* mg_matrix_check_finite of the samples' rows, which no stage makes. */
margin_status mg_problem_check_finite(margin_context *context, const mg_problem *p, bool allow_nan,
                                      margin_error *error);
/* problem->blur of a column. */
MG_INLINE double mg_column_blur(const mg_problem *p, int64_t column) {
    return p->blur ? p->blur[column] : 0.0;
}
MG_INLINE double mg_row_share(const mg_problem *p, int64_t row) {
    return p->blur_shares ? p->blur_shares[row] : 1.0;
}
/* |blur|^2: how far a row of x may be off; -1: rows are not made. */
double mg_row_blur(const mg_problem *p, int64_t row);
/* The values of sample i as dense f64, made if need be; scale and shift are not applied. */
void mg_sample_values(const mg_problem *p, int64_t i, double *out);
/* out[i * count + k]: dot products of samples, from what they are made of, without making them: off
 * by rounding of their lengths. *made: the stage that makes them can. MEMORY, CANCELLED. */
margin_status mg_sample_products(margin_context *context, const mg_problem *p, double *out,
                                 bool *made, margin_error *error);

/* ---- Fit ------------------------------------------------------------------------------------- */

typedef struct mg_trace {
    margin_context *context;
    int (*step)(const margin_trace_step *step, void *user);
    void *user;
    int64_t subproblem, subproblems;
} mg_trace;
/* Shows a step of which everything but `subproblem` and `subproblems` is said; a nonzero answer
 * cancels the context. NULL: does nothing. */
void mg_trace_note(const mg_trace *trace, margin_trace_step step);

/* What the fits of one call differ in: the parts of a problem of many classes or targets, the
 * penalties of a path. All else is the same in them. */
enum {
    MG_DIFFER_SIGNS = 1,   /* sign */
    MG_DIFFER_TARGETS = 2, /* target */
    MG_DIFFER_OPTIONS = 4, /* options of the group "penalty" */
    MG_DIFFER_ROWS = 8, /* count, index, weight, original, scale, shift: other rows of the same x */
    MG_DIFFER_FOLDS = 16 /* rows and, fold by fold, the penalty and l1_ratio: those of a search; of
                            two classes only with MG_DIFFER_SIGNS */
};

/* Scores of a sample of the whole problem, each off by at most its error from what a hypothesis
 * answers. */
typedef struct mg_rough {
    int64_t sample;
    int worker;
    const double *scores, *errors;
} mg_rough;
typedef void mg_rough_visit(const mg_rough *rough, void *argument);

/* What the fits of one call share. The model makes one for all of them and asks the learner's
 * `share` once, on the calling thread, before the first fit; every fit points to it. While fits
 * run nobody writes to it, as several threads read it. The model calls `release` once, after the
 * last fit, also where a fit failed; not where `share` did, which then leaves nothing behind. */
typedef struct mg_shared {
    margin_context *context;
    const struct mg_learner *learner; /* set with `share` */
    const mg_problem *whole;          /* before it is cut; no sign for classes */
    const mg_option_value *options;   /* of the first fit */
    int64_t fits;
    unsigned differ;     /* MG_DIFFER_ bits */
    margin_error *error; /* of `share` */
    /* Results. So many fits, more than 1, are to go through `fit_many` at once (1 beforehand; fewer
     * than that may be left for the last time). Not by the number of threads. */
    int64_t together;
    void *data;                                 /* the learner's own; NULL: none */
    void (*release)(mg_heap *heap, void *data); /* with data */
    /* Visits, on all workers, all samples with scores of `h`, which has the functions of all fits:
     * much cheaper than those of `h` itself. NULL: cannot. MEMORY, LIMIT; CANCELLED, without a
     * sentence. */
    margin_status (*rough)(const struct mg_shared *shared, const mg_hypothesis *h,
                           mg_rough_visit *visit, void *argument, margin_error *error);
} mg_shared;

/* What a fit leaves for one with other options to the same samples, which the caller makes next:
 * matrices that cost much, where an iteration ended. Of what the fit was given it may still point
 * to the values of its problem's x. */
typedef struct mg_kept {
    void *data; /* NULL: nothing */
    void (*release)(mg_heap *heap, void *data);
    int64_t following; /* fits that are to follow and differ in their penalty only */
} mg_kept;

typedef struct mg_fit {
    margin_context *context;
    const struct mg_learner *learner;
    const mg_problem *problem;
    const mg_option_value *options;
    const mg_shared *shared; /* NULL: a fit by itself, a verification, an update */
    const mg_trace *trace;   /* NULL: none */
    /* Of a verification: the report of the whole model, for numbers that are dear to find. What it
     * does not claim (NaN) need not be looked for. */
    const margin_report *claimed;
    int64_t parts; /* that the model is made of; 0: as 1 */
    bool judged;   /* its classes of training rows will be asked for, of the rows as it sees them */
    /* What a fit with other options found on this problem: where an iteration may begin. Changes
     * the way to the optimum and not what is proven of it. NULL: none. */
    const mg_hypothesis *start;
    mg_kept *kept; /* a learner may use, replace and leave something; NULL: no fit follows */
    uint64_t seed;
    /* Of a search: rows of x that are asked for. A `fit_many` for MG_DIFFER_FOLDS may answer with
     * their scores, of all its fits, in place of hypotheses; whoever asked frees them. */
    const int64_t *asked;
    int64_t asked_count;
    double *scores;
    margin_error *error;
    /* results; on failure nothing is left behind */
    mg_hypothesis *hypothesis; /* attached */
    margin_report report;      /* initialised; the learner sets status, objective, gap, tolerance,
                                  iterations, formula, reason, items; of two classes, or with
                                  `scored`, the training accuracy, if it knows what prediction
                                  would say of each of these rows */
    mg_verified verified;      /* of `verify` */
} mg_fit;

typedef struct mg_inference mg_inference; /* learn/inference.h */

/* Where classes and categories of an older hypothesis are in the lists of a problem. */
typedef struct mg_update_map {
    const int32_t *class_of;       /* of each old class */
    const int32_t *const *code_of; /* of each old code, by column; NULL, or NULL for a column: the
                                      same */
} mg_update_map;

/* What few learners have beside a fit. */
typedef struct mg_learner_more {
    /* Its fit refuses infinite values, and NaN if it does not take them, in the sentence of
     * mg_matrix_check_finite, so that data that no stage changes need not be read once more
     * beforehand. */
    bool finds_infinite;
    /* How certain the weights of a linear hypothesis are that this learner fitted to this problem.
     * `problem` has no scale and shift: its columns are those that the hypothesis takes. DATA with
     * the reason where there is no answer. NULL: none. */
    margin_status (*infer)(mg_fit *fit, const mg_hypothesis *hypothesis, mg_inference *inference);
    /* The model of all rows: those of the problem and those that `had` was made from. Sets the
     * hypothesis and the report of all. NULL: cannot. */
    margin_status (*update)(mg_fit *fit, const mg_hypothesis *had, const mg_update_map *map);
    /* Whether a fit with options `a` holds all that one to the same problem with `b` would need to
     * answer; then `answers` fills in, for each of `count` settings that settings[0] covers, the
     * scores of the rows of a dense f64 matrix, which have passed the stages. `h` is the fit with
     * settings[0]. `left_out`: the rows are those it was fitted to, in order, and each is answered
     * for by the fit to the others. LIMIT: not for these. The scores are those of separate fits, to
     * the bit. NULL, both: no. */
    bool (*covers)(const mg_option_value *a, const mg_option_value *b);
    margin_status (*answers)(margin_context *context, const mg_hypothesis *h,
                             const mg_option_value *const *settings, int64_t count,
                             const margin_matrix *rows, bool left_out, double *const *scores,
                             margin_error *error);
    /* Scores are logarithms of what probabilities are in proportion to, one per class: the log loss
     * is then worked out without the underflow of exp. */
    bool log_scores;
    /* Its model is where it walked to from the start: fits of a chain begin as if alone, and only a
     * start of the caller's counts. One class is enough to walk. */
    bool walks;
    /* What a fit keeps (mg_kept) is of the rows alone: where all parts of a call go through one
     * `fit_many`, they keep one for all. */
    bool keeps_rows;
    /* Whether a category that training never saw leaves a row without a prediction. NULL: no. */
    bool (*refuses_unknown)(const mg_hypothesis *h);
} mg_learner_more;

typedef struct mg_learner {
    margin_component info;
    /* Kinds of the hypotheses that it makes; NULL: no second one. */
    const mg_hypothesis_kind *makes[2];
    /* Whether a hypothesis of one of these kinds is one that it makes with these options of a
     * problem of this kind, with these columns (`problem` has no rows): no function below meets
     * another one. NULL: all are. MODEL on failure. */
    margin_status (*fits)(const margin_component *info, const mg_problem *problem,
                          const mg_option_value *options, const mg_hypothesis *h,
                          margin_error *error);
    /* It uses scale and shift of a problem: affine stages just before it are then not applied, so
     * that the data are not copied and sparse data stay sparse. Its hypothesis is linear, in the
     * units behind the stages. */
    bool takes_affine;
    /* It reads dense rows through mg_sample_values or mg_row_make only (of a design, say), so
     * what a stage just before it makes need not be stored (kept_bytes). */
    bool takes_made_rows;
    /* Sparse rows are the quicker ones: of dense data that are mostly zeros it gets a sparse copy.
     */
    bool prefers_sparse;
    /* Dense rows are the quicker ones where a third of the numbers is stored, or more: it then gets
     * a dense copy. */
    bool prefers_dense;
    /* It looks at no row at all, so what the last stage makes is made by nobody. */
    bool reads_no_rows;
    /* Whether, with these options on so many rows, it reads those of data by columns through
     * mg_sample_values or mg_rows_from_columns only, to the same bits as dense rows and in about
     * the same time. NULL: never; it then gets a copy in rows. */
    bool (*takes_columns)(const margin_component *info, const mg_option_value *options,
                          int64_t rows, int64_t columns);
    /* One word may name several families (of svm, a linear one and one per kernel): the learner
     * that these options mean. It has the name, options and option_count of this one, and no
     * variants; the rest of its entry is its own. Asked by mg_learner_of when a spec is read, with
     * options that passed their table and not yet `check`. NULL: itself. */
    const struct mg_learner *(*variant)(const mg_option_value *options);
    /* For a variant: puts other defaults in place of the table's where nothing was given. Called
     * when a spec is read, after `variant`. NULL: the table's are right. */
    void (*defaults)(const margin_component *info, mg_option_value *options);
    /* Checks options against each other and the problem, before any work. May be NULL. SPEC on
     * failure. */
    margin_status (*check)(const margin_component *info, const mg_option_value *options,
                           margin_error *error);
    /* Decides once for all fits of a call what must mean the same in them (gamma=scale), makes what
     * they read in common, and says how many `fit_many` takes at once; see mg_shared. NULL: there
     * is nothing to share. */
    margin_status (*share)(mg_shared *shared);
    /* Fits one problem. Parts of a problem are fitted side by side, one thread each. */
    margin_status (*fit)(mg_fit *fit);
    /* Fits `count` >= 1 problems that differ in `differ` only, each to the same proof as `fit`
     * would; what they share is read once. Calls for different fits may run side by side. Failure:
     * of all, and nothing is left behind in any (they have one error). Else MARGIN_OK, and how each
     * ended is in its report. Called only where `share` asked for it: parts are else fitted side by
     * side, each by `fit`; penalties of a path always come this way. NULL with differ 0. */
    margin_status (*fit_many)(mg_fit *fits, int64_t count);
    unsigned differ; /* MG_DIFFER_ bits that it can; with MG_DIFFER_OPTIONS it has a path of
                        penalties, and each report the items freedom, leave_one_out_rmse and
                        gcv_rmse, and train_rmse */
    /* Recomputes objective, gap and items of a finished hypothesis from the data, sharing nothing
     * with fit. */
    margin_status (*verify)(mg_fit *fit, const mg_hypothesis *hypothesis);
    /* Items of its reports that `verify` does not find, as they tell of the work: " rate rank ", a
     * blank on both sides of each. NULL: none. */
    const char *told;
    /* Most training rows that its accuracy or rmse is of where there are more; 0: all. The item
     * MG_SCORED_ROWS says how many: so many, or half as many and so on, down to the least. */
    int64_t scored, scored_least;
    /* Probabilities of `classes` from the scores of one row (in place count: functions -> classes);
     * NULL: none. */
    void (*probabilities)(const double *scores, int64_t functions, int64_t classes, double *out);
    const mg_learner_more *more; /* NULL: none of it; read through mg_learner_more_of */
    const void *family;          /* what tells it from others with the same functions */
} mg_learner;

MG_INLINE const mg_learner_more *mg_learner_more_of(const mg_learner *learner) {
    static const mg_learner_more none = {0};
    return learner->more ? learner->more : &none;
}

/* Leaves nothing behind in fits of which one failed. */
MG_INLINE void mg_fits_undo(mg_fit *fits, int64_t count) {
    for (int64_t k = 0; k < count; k++) {
        mg_hypothesis_free(fits[k].hypothesis);
        fits[k].hypothesis = NULL;
    }
}

/* The rows of x that fits with MG_DIFFER_FOLDS are asked for, fold by fold, and then others that
 * they learn from: their number, rows[] and the position of each row of x (-1: none of them). */
int64_t mg_folds_rows(const mg_fit *fits, int64_t count, int64_t *position, int64_t *rows);

MG_INLINE margin_status mg_learner_check(const mg_learner *learner, const mg_option_value *options,
                                         margin_error *error) {
    MG_TRY(mg_options_check_when(&learner->info, options, error));
    return learner->check ? learner->check(&learner->info, options, error) : MARGIN_OK;
}

/* ---- Stages ---------------------------------------------------------------------------------- */

typedef struct mg_fitted_stage mg_fitted_stage;

typedef struct mg_stage {
    margin_component info;
    /* Learns from the data: sets columns_out and tensors, and `columns` where the output columns
     * differ from the input columns (else they are left empty and the caller uses its input's).
     * `fitted` comes from mg_fitted_stage_init; attach is called next. `data` has only selected
     * rows of weight > 0 through data->selection. y is there for stages that scale the target. */
    margin_status (*fit)(margin_context *context, const margin_data *data,
                         const mg_option_value *options, mg_fitted_stage *fitted,
                         margin_error *error);
    /* Checks tensors of a fitted or loaded stage against columns_in, columns_out and options, and
     * makes its view. Trusts nothing in the tensors. MODEL on failure. */
    margin_status (*attach)(mg_fitted_stage *fitted, margin_error *error);
    /* One row, dense f64 in (NaN for missing) and dense f64 out (another array); allocates nothing.
     * This is the specification; `apply` must give the same bits (for f32 data: rounded to f32). A
     * value that `apply` refuses with DATA becomes NaN here. */
    void (*apply_row)(const mg_fitted_stage *fitted, const double *in, double *out);
    /* At most MG_ROWS_AT_ONCE rows, in: count x columns_in, out: count x columns_out, scratch:
     * MG_ROWS_AT_ONCE x columns_out. For stages that read as much for a row as for several. NULL:
     * each by apply_row. */
    void (*apply_rows)(const mg_fitted_stage *fitted, const double *in, int64_t count,
                       double *scratch, double *out);
    /* Of a stage with rows L v, where L is its tensor `inverse`, a lower triangle, and v costs much
     * less: v of at most MG_ROWS_AT_ONCE rows, count x columns_out. A linear function of its rows
     * is one of v: see mg_stage_to_inner. NULL: it is none. */
    void (*inner)(const mg_fitted_stage *fitted, const double *in, int64_t count, double *out);
    /* The same row as its entries that are not 0, columns ascending: at most columns_in of them.
     * Returns how many; -1: all of it is NaN. NULL: most entries are not 0. */
    int64_t (*entries)(const mg_fitted_stage *fitted, const double *in, int64_t *columns,
                       double *values);
    /* The whole matrix into a new one (keeps f32, keeps CSR where zeros stay zeros), in parallel.
     * NULL: rows through apply_row. */
    margin_status (*apply)(margin_context *context, const mg_fitted_stage *fitted,
                           const margin_matrix *in, mg_matrix_buffer *out, margin_error *error);
    /* For affine column-wise stages out = (in - offset) / divisor: those of a column, so that
     * models can be put back into original units. An infinite divisor: a constant column, which
     * becomes 0. NULL: it is not affine. apply_row of such a stage may write over its input. */
    void (*affine)(const mg_fitted_stage *fitted, int64_t column, double *offset, double *divisor);
    /* See mg_sample_products, of a problem whose rows this stage makes in f64 and nothing follows.
     * NULL: it cannot. */
    margin_status (*products)(margin_context *context, const mg_problem *problem, double *out,
                              bool *made, margin_error *error);
    /* The input column that an output column hands on as it is (but for missing values), or of
     * which it indicates one category (*indicates); -1: it is made. NULL: all are made. Affine
     * stages need none: theirs hand on the column of their number. */
    int64_t (*origin)(const mg_fitted_stage *fitted, int64_t column, bool *indicates);
    /* For stages that scale the target of a regression, y' = (y - offset) / divisor with divisor >
     * 0: true, and both filled in, if this one does. The learner then sees y', and the model puts
     * its functions back into the units of y. NULL: never. */
    bool (*target)(const mg_fitted_stage *fitted, double *offset, double *divisor);
    /* Whether a category that it did not see in training fails. NULL: no. */
    bool (*refuses_unknown)(const mg_fitted_stage *fitted);
    /* Where its sums may cancel, so that rounding moves what it makes by more than last digits:
     * raises most (columns_out numbers) to how far, by the rule of learn/report.h, that may be for
     * a row (dense f64). scratch: columns_out numbers. NULL: by last digits. */
    void (*blur)(const mg_fitted_stage *fitted, const double *in, double *scratch, double *most);
    bool takes_missing; /* NaN in its input is fine, both in fit and in apply */
    /* Its fit reads rows through fitted->maker where there is one, so that it may stand behind a
     * stage whose rows are not stored. For affine stages. */
    bool fits_made_rows;
    /* What it makes of dense data may be much more than what went in: beyond so many bytes rows may
     * be made anew in every pass instead (takes_made_rows). 0: it is always stored. */
    int64_t kept_bytes;
} mg_stage;

struct mg_fitted_stage {
    const mg_stage *stage;
    mg_heap *heap;            /* borrowed: whoever keeps the stage keeps the heap */
    mg_option_value *options; /* owned copies */
    int64_t columns_in, columns_out;
    mg_columns columns; /* descriptions of the output columns; count 0: those of the input */
    mg_bag bag;
    const mg_row_maker *maker; /* during a fit with fits_made_rows: makes the rows of data->x, which
                                  is only their shape; else NULL */
    const mg_fitted_stage *before; /* during a fit: the before_count stages before it */
    int before_count;
    const mg_fitted_stage *stored; /* during a fit for a verification: the stage of the model */
    const void
        *view; /* the stage's own small view of its tensors, owned by the heap; may be NULL */
};
/* An empty fitted stage (columns_out = columns_in, no tensors) with copies of the options. */
margin_status mg_fitted_stage_init(mg_fitted_stage *fitted, mg_heap *heap, const mg_stage *stage,
                                   const mg_option_value *options, int64_t columns_in,
                                   margin_error *error);
/* Releases what it owns and zeroes it; a zeroed one is fine. */
void mg_fitted_stage_clear(mg_fitted_stage *fitted);
/* During a fit: a tensor of doubles that a seed draws, as the model to be verified holds it; NULL:
 * it is to be drawn. */
const double *mg_stage_drawn(const mg_fitted_stage *fitted, const char *name, int64_t *rows);
/* An affine stage as out_j = scale_j in_j + shift_j: fills in columns_in of each; both 0 for a
 * constant column. */
void mg_stage_affine(const mg_fitted_stage *fitted, double *scale, double *shift);

/* The origin of an output column, affine stages included. */
int64_t mg_stage_origin(const mg_fitted_stage *fitted, int64_t column, bool *indicates);
/* During the fit of a stage: whether two columns that it gets indicate categories of one column. */
bool mg_stage_same_indicated(const mg_fitted_stage *fitted, int64_t a, int64_t b);

/* How many rows to hand to the next function at a time: 1 where several gain nothing. */
enum { MG_ROWS_AT_ONCE = 16 };
int64_t mg_stage_at_once(const mg_fitted_stage *fitted);
/* The same for `inner`, which gains by several rows of few columns only. */
enum { MG_INNER_COLUMNS = 64 };
MG_INLINE int64_t mg_inner_at_once(const mg_fitted_stage *fitted) {
    return fitted->columns_in > MG_INNER_COLUMNS ? 1 : MG_ROWS_AT_ONCE;
}
/* So many rows, or fewer, through apply_rows or apply_row; scratch: see there, unused for 1. */
void mg_stage_apply_rows(const mg_fitted_stage *fitted, const double *in, int64_t count,
                         double *scratch, double *out);
/* The rows of a matrix through these into a dense one of the same number type, in parallel;
 * fitted NULL: as they are. */
margin_status mg_stage_rows(margin_context *context, const mg_fitted_stage *fitted,
                            const margin_matrix *in, const char *purpose, mg_matrix_buffer *out,
                            margin_error *error);
/* Of a stage with `inner`: weights v = L'w, so that v.inner is w.row but for rounding, and such
 * functions of `count` inner values, with the same bits on every instruction set. */
void mg_stage_to_inner(const mg_fitted_stage *fitted, const double *w, double *v);
void mg_inner_scores(const double *values, int64_t count, int64_t columns, const double *v,
                     const double *intercept, int64_t functions, double *scores);
/* No number of a row is larger than this times the largest of its inner values. */
double mg_stage_inner_growth(const mg_fitted_stage *fitted);
/* Of the same stage fitted again, with its view: *differs becomes the name of the tensor `inverse`
 * where there is one and the two make different features of the centres; else it stays. */
margin_status mg_stage_compare_inverse(margin_context *context, const mg_fitted_stage *fitted,
                                       const mg_fitted_stage *stored, const char **differs,
                                       margin_error *error);

/* A whole matrix, through the stage's apply if it has one. */
margin_status mg_stage_apply(margin_context *context, const mg_fitted_stage *fitted,
                             const margin_matrix *in, mg_matrix_buffer *out, margin_error *error);

/* Rows that the stage makes of the dense matrix `source` when they are read, and affine stages of
 * the same number of columns after it. They have the same bits as stored ones. */
struct mg_row_maker {
    const mg_fitted_stage *stage;
    margin_matrix source;
    const mg_fitted_stage *after; /* after_count of them */
    int after_count;
};
/* The most columns of a source. */
enum { MG_MADE_FROM = 2048 };
/* Row `row` as f64; any number of rows as f64, or as numbers of the source's type. Scratch: numbers
 * of mg_row_maker_scratch. */
void mg_row_make(const mg_row_maker *maker, int64_t row, double *out);
void mg_rows_make(const mg_row_maker *maker, const int64_t *rows, int64_t count, double *scratch,
                  double *out);
void mg_rows_make_stored(const mg_row_maker *maker, const int64_t *rows, int64_t count,
                         double *scratch, void *out);
int64_t mg_row_maker_scratch(const mg_row_maker *maker);
/* Inner values of so many rows. */
void mg_rows_make_inner(const mg_row_maker *maker, const int64_t *rows, int64_t count, double *out);
/* The shape of what is made: a dense view without values. */
margin_matrix mg_row_maker_shape(const mg_row_maker *maker);

/* ---- Registry (src/model/spec/registry.c) ---------------------------------------------------- */
const mg_learner *mg_learner_find(const char *name);
const mg_stage *mg_stage_find(const char *name);
/* Entries of the catalogue's index; NULL if it is of the other kind. */
const mg_learner *mg_learner_at(int index);
const mg_stage *mg_stage_at(int index);
