/* A question about rows, and batches of it: what the files of prediction share. */
#pragma once

#include "learn/hypothesis/expansion_rough.h"
#include "model/predict/predict.h"

typedef struct mg_query {
    const margin_model *model;
    const margin_matrix *x;
    const int64_t *rows; /* NULL: in order */
    margin_output what;
    void *out;
    const margin_context *context; /* NULL: not to be interrupted */
    double *together; /* room for some rows on their way through the last stage; NULL: one by one */
    bool finite;      /* there are no infinite values */
    const mg_expansion_rough *rough; /* labels are told by its scores, or MG_IN_DOUBT; NULL: none */
    double *rough_room;
} mg_query;

/* Scratch in numbers: `way` (rows on their way through the stages) and `votes` once, then for each
 * row of a batch its features, its scores unless they are the answer, and what `row` says. */
typedef struct mg_layout {
    int64_t way, votes, features, scores;
    int64_t row; /* of data that are gathered */
} mg_layout;

bool mg_scores_are_answer(margin_output what);
/* x NULL: of any rows. */
mg_layout mg_layout_of(const margin_model *model, margin_output what, const margin_matrix *x,
                       const int64_t *rows);
/* With the errors of rough scores, and room to decide by them. */
mg_layout mg_query_layout(const mg_query *q);
/* Numbers of scratch that a batch of one row takes. */
int64_t mg_layout_least_room(const mg_layout *need);
/* Whether the hypothesis takes the rows of x as they are. */
bool mg_query_takes_rows(const margin_model *model, const margin_matrix *x);
/* The last stage, where it takes several rows at once; NULL: one by one. And its room for them. */
const mg_fitted_stage *mg_joint_stage(const margin_model *model);
int64_t mg_together_room(const mg_fitted_stage *stage);
/* Rows that a fit would refuse have no score, though some learners would answer: those with
 * infinite values, which show in sums of products, and those of mg_row_is_refused. */
void mg_leave_refused(const mg_query *q, int64_t at, int64_t count, double *way, double *scores);
/* Answers `at`.. of the query from the scores of `count` rows. */
void mg_answer_rows(const mg_query *q, int64_t at, int64_t count, const double *scores,
                    double *votes);
/* Answers [first, first + count) with `room` numbers of scratch, at least mg_layout_least_room. A
 * batch may take long (kernels, thousands of classes), so each looks whether it is still wanted. */
margin_status mg_answer_range(const mg_query *q, int64_t first, int64_t count, double *scratch,
                              int64_t room);
