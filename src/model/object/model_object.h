/* A model from the inside: everything a prediction or a file needs, nothing that points into the
 * caller's data or the context. Immutable once margin_fit or margin_model_decode hands it out. */
#pragma once

#include "model/object/additions.h"
#include "model/spec/spec_components.h"

#include <math.h>

/* Of MG_OWNED: what is handed over is set to NULL. */
MG_INLINE void margin_model_drop(margin_model **model) {
    margin_model_free(*model);
}

/* How scores become an answer. The numbers are stored in model files. */
typedef enum mg_decision {
    MG_DECIDE_SIGN = 1,   /* one score: class 1 where it is >= 0, else class 0 */
    MG_DECIDE_ARGMAX = 2, /* one score per class (or cluster): the greatest, ties to the lower */
    MG_DECIDE_VOTES = 3,  /* one score per pair (0,1), (0,2), ..., (1,2), ...: positive or zero is a
                             vote for the FIRST of the pair; most votes, ties by the sum of the
                             scores for a class, then to the lower class */
    MG_DECIDE_VALUE = 4   /* regression: the score is the value */
} mg_decision;

struct margin_model {
    mg_heap *heap; /* a reference; owns all below */
    char *spec;    /* canonical text */
    const mg_learner *learner;
    margin_task task;
    mg_decision decision;

    int64_t classes;      /* 0 for regression; the clusters of a clustering */
    char **class_names;   /* numbers in their shortest text; NULL if there are no classes or
                             they have no names (clusters) */
    double *class_values; /* numeric labels, ascending; NULL where the target had categories */
    mg_columns inputs;    /* columns of the matrices that predict takes */
    mg_columns target;    /* one entry; none for clustering */

    /* All stages of the spec, in order. Rows pass through the first `active`; the rest (affine
     * stages at the tail, before a linear hypothesis) are folded into the hypothesis and kept for
     * margin_verify. */
    mg_fitted_stage *stages;
    int stage_count, active;

    /* Of a verification, which fits the stages of this model again: they are compared, and what a
     * seed draws is taken over. NULL: a fit. */
    const margin_model *refitted;
    const struct mg_blur *blur; /* beside it: of what its stages make */

    struct mg_source *mapped; /* the file that borrowed tensors lie in; owned; NULL: none */

    mg_hypothesis *hypothesis; /* takes rows as they leave stage active - 1 */
    double *inner;           /* its weights over inner values of that stage (mg_stage), which answer
                                in its place; NULL: none */
    mg_additions *additions; /* what was settled after the fit; NULL: nothing */
    margin_report report;    /* of the fit, with threads and seconds 0: they are of the run, not
                                of the model, and would make equal models differ */
};

/* An item of the report of a model with stages that took more rows later: how many rows its stages
 * have seen. */
#define MG_STAGE_ROWS "stage_rows"
MG_INLINE bool mg_model_is_updated(const margin_model *model) {
    return !isnan(margin_report_item_value(&model->report, MG_STAGE_ROWS));
}

/* An empty model that holds a reference to the heap. */
margin_status mg_model_new(mg_heap *heap, margin_model **model, margin_error *error);

/* Room for `classes` names (all NULL) and, if `numeric`, values. */
margin_status mg_model_set_classes(margin_model *model, int64_t classes, bool numeric,
                                   margin_error *error);
void mg_model_clear_classes(margin_model *model);

/* Room for `count` stages, all zero. margin_model_free releases what was filled in. */
/* length < 0: up to the final zero. */
margin_status mg_model_name_class(margin_model *model, int64_t c, const char *name, int64_t length,
                                  margin_error *error);
margin_status mg_model_set_stages(margin_model *model, int count, margin_error *error);

/* ---- What follows from what (model_check.c) -------------------------------------------------- */

/* From a problem with several classes or targets to problems that a learner solves. */
typedef enum mg_reduction {
    MG_REDUCE_NONE, /* the whole problem: argmax, regression, clustering */
    MG_REDUCE_TWO,
    MG_REDUCE_REST,
    MG_REDUCE_PAIRS,
    MG_REDUCE_TARGETS
} mg_reduction;

/* How a learner with these options is used for the model's task, classes and targets, and how it
 * decides then. SPEC if the learner cannot. */
margin_status mg_reduction_choose(const mg_spec_component *learner, const margin_model *model,
                                  mg_reduction *reduction, mg_decision *decision,
                                  margin_error *error);
int64_t mg_reduction_parts(mg_reduction reduction, const margin_model *model);
/* Of a problem that is not cut. */
mg_problem_kind mg_whole_kind(margin_task task);

/* The target of a regression as the learner sees it: (y - offset) / divisor. */
typedef struct mg_target_scale {
    double offset, divisor;
} mg_target_scale;
/* From the fitted stages; 0 and 1 if none scales it. SPEC if several do, or if there is no number
 * to be scaled. */
margin_status mg_model_target_scale(const margin_model *model, mg_target_scale *scale,
                                    margin_error *error);
/* The formula of a report, in y: as it is where nothing scales the target. */
void mg_scaled_formula(const mg_target_scale *scale, const char *formula, char *text, size_t size);

/* Refuses a model of stages alone: whoever asks wants predictions. */
margin_status mg_model_predicts(const margin_model *model, margin_error *error);

/* Whether a learner with these options may have that task. */
bool mg_can_task(const mg_spec_component *learner, margin_task task);

/* Last step of fit, update and load, once every part is in place: what the learner of the spec and
 * the tensors tell of a model is worked out again, and whatever says otherwise is refused. Nothing
 * that uses a model needs to doubt it, or to trust its report. MODEL on failure. */
margin_status mg_model_check(const margin_model *model, const mg_spec_component *learner,
                             margin_error *error);

/* Follows it: makes `inner` where predictions are quicker by it. */
margin_status mg_model_make_inner(margin_model *model, margin_error *error);

/* Through bytes, in model/store: a model is what its file says. CANCELLED too. */
margin_status mg_model_copy(margin_context *context, const margin_model *model, margin_model **copy,
                            margin_error *error);

/* Columns of the rows that the hypothesis sees. */
const mg_columns *mg_model_feature_columns(const margin_model *model);

/* Doubles that one row may need on its way through the active stages (the widest of them). */
int64_t mg_model_row_width(const margin_model *model);

/* Classes of pair number `pair` in the order (0,1), (0,2), ..., (1,2), ... */
void mg_pair_of(int64_t classes, int64_t pair, int64_t *first, int64_t *second);
