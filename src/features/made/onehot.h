/* onehot from the inside: onehot.c learns which columns become indicators, onehot_apply.c makes
 * them. */
#pragma once

#include "learn/learner.h"

/* What becomes of an input column; stored in model files. */
typedef enum mg_onehot_kind {
    MG_ONEHOT_PASS = 0,  /* one output column: the number itself */
    MG_ONEHOT_CODES = 1, /* categories: values are 0..count-1 */
    MG_ONEHOT_VALUES = 2 /* numbers taken as categories: values are in a list */
} mg_onehot_kind;

typedef struct mg_onehot_column {
    mg_onehot_kind kind;
    int64_t count;        /* categories */
    int64_t first;        /* its first output column */
    const double *values; /* MG_ONEHOT_VALUES: count of them, ascending */
} mg_onehot_column;

typedef struct mg_onehot_view {
    int64_t drop;               /* 1: the first category has no indicator; else 0 */
    bool refuse_unknown;        /* unknown=error */
    int64_t coded_count;        /* columns that are not passed */
    const int64_t *coded;       /* their numbers, ascending */
    mg_onehot_column columns[]; /* one per input column */
} mg_onehot_view;

/* Entries of mg_stage. */
void mg_onehot_apply_row(const mg_fitted_stage *fitted, const double *in, double *out);
int64_t mg_onehot_entries(const mg_fitted_stage *fitted, const double *in, int64_t *columns,
                          double *values);
margin_status mg_onehot_apply(margin_context *context, const mg_fitted_stage *fitted,
                              const margin_matrix *in, mg_matrix_buffer *out, margin_error *error);
