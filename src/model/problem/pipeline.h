/* Stages over a whole data set, and back into the weights of a linear model. */
#pragma once

#include "model/problem/samples.h"

/* The samples' rows as a learner sees them. Sample i is row index[i] of x (NULL: row i). */
typedef struct mg_staged {
    mg_matrix_buffer buffer; /* what a stage made; empty: x is the caller's matrix */
    margin_matrix x;
    const margin_column *columns; /* of x, in the model */
    const int64_t *index;
    bool made; /* x holds the samples' rows as a stage made them, not the caller's */
    /* Affine stages that were left to the learner: column j means scale[j] x_ij + shift[j]. NULL:
     * none. Owned, in one block. */
    double *scale, *shift;
    mg_target_scale target; /* what stages did to the target */
    /* A stage that was left to the learner, which makes rows when it needs them: x is only their
     * shape. stage NULL: none. */
    mg_row_maker maker;
    bool unchecked;                   /* the learner finds NaN and infinity */
    const double *blur, *blur_shares; /* of a verification: see mg_problem; borrowed */
    mg_heap *heap;
} mg_staged;

/* Fits the stages of `spec` one after the other on the samples, each on what the one before made
 * of them, and keeps them in the model (all of them active), with the model's input columns. Only
 * the samples' rows are transformed. If the learner takes affine stages, those just before it are
 * fitted and not applied, but handed on as one scale and shift; if it takes made rows, so is a
 * stage just before it or before those with a limit on what is kept, beyond that limit. DATA: NaN
 * or infinity, categories that no stage encodes. */
margin_status mg_pipeline_fit(margin_context *context, const margin_spec *spec,
                              const margin_data *data, const mg_samples *samples,
                              margin_model *model, mg_staged *staged, margin_error *error);

/* Whether a stage or the learner does something with columns of categories. */
bool mg_pipeline_takes_categories(const margin_spec *spec);

/* The data as the spec's stages and learner take them: the caller's, or, of data by columns that
 * they need all at once, with a copy in rows, which the caller frees. */
margin_status mg_pipeline_rows(margin_context *context, const margin_spec *spec,
                               const margin_data *data, margin_data *seen, mg_matrix_buffer *copy,
                               margin_error *error);

/* How far rounding may have moved what stages make, beyond the last digits of each value (blur.c).
 * For verifications. */
typedef struct mg_blur {
    mg_heap *heap;
    const margin_model *model;
    double
        *columns;   /* the most of all samples: of inputs, then of what each stage makes; NULL: 0 */
    double *shares; /* of each sample: its part of that, at most 1 */
} mg_blur;
/* Whether a stage of it may be off by more than the last digits. */
bool mg_is_blurred(const margin_model *model);
/* Cost: what applying the stages costs; none if they all keep to the last digits. */
margin_status mg_blur_make(margin_context *context, const margin_model *model,
                           const margin_data *data, const mg_samples *samples, mg_blur *blur,
                           margin_error *error);
/* Of the columns that a stage of the model gets, or (stage_count) the learner; NULL: 0. */
const double *mg_blur_before(const mg_blur *blur, int stage);
void mg_blur_free(mg_blur *blur);

/* Fits the stages of the model again and compares them (refit.c). MODEL if they differ. */
margin_status mg_pipeline_refit(margin_context *context, const margin_spec *spec,
                                const margin_model *model, const mg_blur *blur,
                                const margin_data *data, const mg_samples *samples,
                                margin_error *error);
/* Whether what a stage learned from `data` (`maker` as in mg_column_moments_make) is what the one
 * of the model holds, but for rounding (blur: of the columns of data; NULL: none), which it then
 * takes over. During a fit. MODEL if not. */
margin_status mg_stage_compare(margin_context *context, mg_fitted_stage *fitted,
                               const margin_data *data, const mg_row_maker *maker,
                               const double *blur, const mg_fitted_stage *stored,
                               margin_error *error);

/* The same with the model's own stages, the folded ones too: what its learner once saw. */
margin_status mg_pipeline_apply(margin_context *context, const margin_model *model,
                                const margin_data *data, const mg_samples *samples,
                                mg_staged *staged, margin_error *error);

/* The samples' rows as all stages make them, whatever the learner takes: dense or CSR, a selection
 * gathered. */
margin_status mg_pipeline_transform(margin_context *context, const margin_model *model,
                                    const margin_data *data, const mg_samples *samples,
                                    mg_staged *staged, margin_error *error);

/* Makes x dense if it is sparse, for learners that need that. */
margin_status mg_staged_densify(margin_context *context, mg_staged *staged, const char *learner,
                                margin_error *error);
void mg_staged_free(mg_staged *staged);

/* Puts a linear hypothesis back into the units of the target (SPEC for others) and folds the affine
 * stages at the tail into it (units.c): w_j becomes w_j scale_j, b becomes b + sum w_j shift_j. A
 * constant column, which has scale 0, gets the weight 0. The weights as they were are kept beside
 * those. */
margin_status mg_model_fold(margin_model *model, margin_error *error);

/* Whether the weights are what folding makes of the kept ones, bit by bit. */
margin_status mg_model_fold_check(const margin_model *model, bool *holds, margin_error *error);

/* The hypothesis as its learner found it, one function of it or (-1) all. MODEL if the model does
 * not hold that. */
margin_status mg_model_learned(mg_heap *heap, const margin_model *model, int64_t function,
                               mg_hypothesis **h, margin_error *error);
