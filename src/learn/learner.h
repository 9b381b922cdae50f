/* The interface of a learner and of a stage: one file, one constant table entry, one line in the
 * registry.
 *
 * A learner answers three questions kept apart: which hypothesis, which loss, which optimiser. It
 * sees a problem (rows, targets, weights), typed options, a way to stop, and hands back a
 * hypothesis and a report. It knows nothing of specs, files, class names, scaling or multi-class
 * reductions. */
#ifndef MG_LEARNER_H
#define MG_LEARNER_H

#include "data/table.h"
#include "learn/hypothesis.h"
#include "learn/report.h"

/* ---- Options: values parallel to the component's option table
 * ------------------------------------- */

typedef struct mg_option_value {
    bool given;            /* false: the default was filled in */
    double number;         /* NUMBER, INTEGER too */
    int64_t integer;       /* INTEGER; CHOICE: index; SWITCH: 0 or 1 */
    const char *text;      /* TEXT; CHOICE: the word */
    const double *numbers; /* NUMBERS */
    int64_t count;
} mg_option_value;

/* ---- Problem
 * ------------------------------------------------------------------------------------------ */

typedef enum mg_problem_kind {
    MG_TWO_CLASS,  /* sign[i] = +1 or -1 */
    MG_ARGMAX,     /* code[i] = 0..classes-1: K functions, the greatest wins */
    MG_REGRESSION, /* target[i] */
    MG_CLUSTERING
} mg_problem_kind;

/* m = count samples. Sample i is row index[i] of x (index NULL: row i); sign, code, target and
 * weight are indexed by SAMPLE. The x here has passed the stages; all values are finite; weights
 * are >= 0 with a positive sum. Rows of weight 0 are already left out. */
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
    const int64_t *original; /* row number of sample i in the user's data (for traces, dual forms,
                                messages); NULL: i */
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

/* ---- Fit
 * ------------------------------------------------------------------------------------------------
 */

typedef struct mg_trace {
    void (*step)(const margin_trace_step *step, void *user);
    void *user;
    int64_t subproblem;
} mg_trace;

typedef struct mg_fit {
    margin_context *context;
    const mg_problem *problem;
    const mg_option_value *options;
    const mg_trace *trace; /* NULL: none */
    uint64_t seed;
    margin_error *error;
    /* results; on failure nothing is left behind */
    mg_hypothesis *hypothesis;
    margin_report report; /* initialised; the learner sets status, objective, gap, tolerance,
                             iterations, formula, reason, items */
} mg_fit;

typedef struct mg_learner {
    margin_component info;
    /* Checks options against each other and the problem, before any work. May be NULL. SPEC on
     * failure. */
    margin_status (*check)(const mg_option_value *options, margin_error *error);
    margin_status (*fit)(mg_fit *fit);
    /* Recomputes objective, gap and items of a finished hypothesis from the data, sharing nothing
     * with fit. */
    margin_status (*verify)(mg_fit *fit, const mg_hypothesis *hypothesis);
    /* Probabilities of `classes` from the scores of one row (in place count: functions -> classes);
     * NULL: none. */
    void (*probabilities)(const double *scores, int64_t functions, int64_t classes, double *out);
} mg_learner;

/* ---- Stages
 * ---------------------------------------------------------------------------------------------- */

typedef struct mg_fitted_stage mg_fitted_stage;

typedef struct mg_stage {
    margin_component info;
    /* Learns from the data and fills in the fitted stage: tensors, columns_out. `data` has only
     * selected rows of weight > 0 through data->selection. y is there for stages that scale the
     * target. */
    margin_status (*fit)(margin_context *context, const margin_data *data,
                         const mg_option_value *options, mg_fitted_stage *fitted,
                         margin_error *error);
    /* Checks tensors of a loaded stage against columns_in/columns_out. MODEL on failure. */
    margin_status (*attach)(mg_fitted_stage *fitted, margin_error *error);
    /* One row, dense f64 in (NaN for missing) and dense f64 out; allocates nothing. This is the
     * specification; `apply` must give the same bits. */
    void (*apply_row)(const mg_fitted_stage *fitted, const double *in, double *out);
    /* The whole matrix into a new one (keeps f32, keeps CSR where zeros stay zeros), in parallel.
     * NULL: rows through apply_row. */
    margin_status (*apply)(margin_context *context, const mg_fitted_stage *fitted,
                           const margin_matrix *in, mg_matrix_buffer *out, margin_error *error);
    /* For affine column-wise stages out_j = scale_j in_j + shift_j: fills scale and shift
     * (columns_in each), so that linear models can be folded back to original units. NULL: cannot.
     */
    void (*affine)(const mg_fitted_stage *fitted, double *scale, double *shift);
} mg_stage;

struct mg_fitted_stage {
    const mg_stage *stage;
    mg_heap *heap;
    mg_option_value *options; /* owned copies */
    int64_t columns_in, columns_out;
    mg_columns columns; /* descriptions of the output columns */
    mg_tensor tensors[MG_MAX_TENSORS];
    int tensor_count;
    const void
        *view; /* the stage's own small view of its tensors, owned by the heap; may be NULL */
};
void *mg_stage_tensor(mg_fitted_stage *fitted, const char *name, margin_type type, int64_t rows,
                      int64_t columns);
const mg_tensor *mg_stage_tensor_find(const mg_fitted_stage *fitted, const char *name);

/* ---- Registry (src/model/registry.c)
 * ------------------------------------------------------------------------ */
const mg_learner *mg_learner_find(const char *name);
const mg_stage *mg_stage_find(const char *name);

#endif
