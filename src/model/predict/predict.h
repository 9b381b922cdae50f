/* From rows to answers, inside the library. */
#pragma once

#include "model/object/model_object.h"

/* Class of a row from its scores, -1 if one of them is NaN. `work`: mg_decide_room(model) numbers.
 */
int64_t mg_decide(const margin_model *model, const double *scores, double *work);
int64_t mg_decide_room(const margin_model *model);
/* The class that mg_decide has for all scores that are off by at most these errors, or that it is
 * not one. `work`: two numbers a class. */
enum { MG_IN_DOUBT = -2 };
int64_t mg_decide_rough(const margin_model *model, const double *scores, const double *errors,
                        double *work);
/* A number for each class, the greatest at the class of the row (margin_class_scores). */
void mg_class_scores(const margin_model *model, const double *scores, double *work, double *out);
/* What ranks rows by each class, from a row's scores and its probabilities: these, or where the
 * scores are logarithms theirs, as none is rounded to 0 then. */
void mg_class_ranks(const margin_model *model, const double *scores, const double *p,
                    double *ranks);
/* -log P of a class, from these. No clipping: a class of probability 0 costs infinity. */
double mg_log_loss(const margin_model *model, const double *p, const double *ranks, int64_t label);

/* Answers for the rows rows[0..count) of x (NULL: all), on the context's threads. x has passed
 * mg_matrix_check; finite: it holds no infinite values, and they are not looked for. `out` may be
 * partly written after CANCELLED. */
margin_status mg_predict_rows(margin_context *context, const margin_model *model,
                              const margin_matrix *x, const int64_t *rows, int64_t count,
                              margin_output what, bool finite, void *out, margin_error *error);

/* What the hypothesis sees of rows[0..count) of x (NULL: in order): count x its columns. x has
 * passed mg_matrix_check. */
margin_status mg_model_features(margin_context *context, const margin_model *model,
                                const margin_matrix *x, const int64_t *rows, int64_t count,
                                double *features, margin_error *error);

/* ARGUMENT if the model has no such answer, or x has other columns than the model's. */
margin_status mg_output_check(const margin_model *model, margin_output what, margin_error *error);
margin_status mg_columns_check(const margin_model *model, const margin_matrix *x,
                               margin_error *error);
