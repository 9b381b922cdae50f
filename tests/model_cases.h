/* Data sets and fits for the tests of models. */
#ifndef MODEL_CASES_H
#define MODEL_CASES_H

#include "support/support.h"

#include "margin/margin.h"

/* One matrix in every layout that a fit takes. Values are multiples of 1/8 within [-2, 2], so that
 * every layout holds them exactly and their products add up exactly; about a third are 0. */
enum {
    DENSE_F64,
    DENSE_F32,
    STRIDED_F64,
    STRIDED_F32,
    CSR_F64_I32_I64, /* value, column index, row start */
    CSR_F32_I32_I64,
    CSR_F64_I64_I32,
    CSR_F32_I64_I64,
    CSR_F64_I32_I32,
    LAYOUTS
};

/* Numbers behind each strided row: rows would be cut elsewhere if the stride had a say. */
enum { SAMPLE_PADDING = 13 };

typedef struct {
    int64_t rows, columns, classes, stored;
    double *f64, *wide_f64, *stored_f64;
    float *f32, *wide_f32, *stored_f32;
    int32_t *index_i32, *start_i32;
    int64_t *index_i64, *start_i64;
    double *labels; /* 0, 1, ... by the greatest of `classes` hidden linear functions */
} sample;

/* `noise` in [0, 1]: share of rows with a random label. Every class occurs. */
sample *sample_make(int64_t rows, int64_t columns, int64_t classes, double noise, uint64_t seed);
void sample_free(sample *s);
margin_matrix sample_view(const sample *s, int layout);
margin_data sample_data(const sample *s, int layout);

/* Parse and fit; `status` may be NULL (then it must not fail). */
margin_model *fit_text(margin_context *context, const char *text, const margin_data *data,
                       margin_report *report);
/* The failure of a fit: checks status, text, and that model and report were left alone. */
void fit_refused(margin_context *context, const char *text, const margin_data *data,
                 margin_status status, const char *part);

/* A body for support_fail_each_allocation: parses, fits, verifies. `user`: a fit_attempt. */
typedef struct {
    const char *spec;
    margin_data data;
} fit_attempt;
margin_status attempt_fit(margin_context *context, void *user, margin_error *error);

/* Reads a table (`options` may be NULL), fits `spec` and verifies the model; the report of the fit,
 * which must have converged to `objective` within that share. */
margin_report fit_table(const char *path, const margin_read_options *options, const char *spec,
                        double objective, double share);

/* margin_verify, which must not fail. */
margin_status verify_model(margin_context *context, const margin_model *model,
                           const margin_data *data, margin_report *found);
/* It says that this is the model of the data. */
void assert_verified(margin_context *context, const margin_model *model, const margin_data *data);
/* It says that this is not the model of the data, for that reason. */
void assert_not_verified(margin_context *context, const margin_model *model,
                         const margin_data *data, const char *reason);

/* Scores of all rows by margin_scores. */
double *scores_of(const margin_model *model, const margin_matrix *x);

/* Two models are the same bytes. */
void assert_same_model(const margin_model *a, const margin_model *b);

margin_spec *parse_text(margin_context *context, const char *text);

#endif
