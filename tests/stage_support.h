/* Shared by the tests of stages: fitting one by its spec, data in other forms, comparing. */
#ifndef STAGE_SUPPORT_H
#define STAGE_SUPPORT_H

#include "support/support.h"

#include "features/columns/stages.h"
#include "model/spec/spec_components.h"

#include <math.h>

#define NOTHING ((double)NAN)

/* Fits the stage that `text` describes; what was made is cleared on failure. */
margin_status stage_fit(margin_context *context, const char *text, const margin_data *data,
                        mg_fitted_stage *fitted, margin_error *error);
/* The same, which must succeed; and which must fail with a text that contains `part`. */
mg_fitted_stage stage_fitted(margin_context *context, const char *text, const margin_data *data);
void assert_stage_fails(const char *text, const margin_data *data, margin_status expected,
                        const char *part);

mg_matrix_buffer stage_applied(margin_context *context, const mg_fitted_stage *fitted,
                               const margin_matrix *x);
double stage_element(const margin_matrix *x, int64_t i, int64_t j); /* up to 64 columns */

/* CSR of a dense f64 matrix: everything but +0 is stored. free() the three arrays. */
typedef struct stage_csr {
    margin_matrix view;
    double *values;
    float *floats;
    int32_t *indices;
    int64_t *starts;
} stage_csr;
stage_csr stage_to_csr(const double *values, int64_t rows, int64_t columns);
void stage_csr_free(stage_csr *csr);
float *stage_to_floats(const double *values, int64_t count); /* free() it */

bool stage_same_bits(double a, double b); /* any two NaN are the same */
void assert_stage_matrix(const margin_matrix *a, const margin_matrix *b);
/* Fits and applies on dense data and compares the whole result. */
void assert_stage_result(const char *text, const margin_data *data, const double *expected,
                         double tolerance);

/* Columns of different kinds: any sign, far from zero, mostly zero, constant, codes 0..4. */
enum { STAGE_ROWS = 9000, STAGE_COLUMNS = 6 };
double *stage_mixed_values(bool missing); /* free() it */
extern const char *const stage_categories[5];
extern const margin_column stage_mixed_columns[STAGE_COLUMNS];

#endif
