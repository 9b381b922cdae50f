/* Statistics of every column in one sweep: count, weight, least and greatest value, mean and sum of
 * squared deviations. */
#pragma once

#include "learn/learner.h"

/* One number per column. Missing values (NaN) are left out. A row of weight k counts as k rows. */
typedef struct mg_column_moments {
    mg_heap *heap;
    double *least, *greatest; /* +inf, -inf where every value is missing */
    double *weight;           /* of the values that are not missing */
    double *mean;             /* 0 where the weight is 0 */
    double *squares;          /* sum of weight * (value - mean)^2 */
} mg_column_moments;

typedef enum mg_moments_wanted { MG_WANT_RANGE, MG_WANT_SPREAD } mg_moments_wanted;

/* `maker`: makes the rows of data->x, which is only their shape; NULL: they are there.
 * MG_WANT_RANGE leaves weight, mean and squares NULL. The same bits for any number of threads, and
 * for rows that are made. Cost: one pass over the data (rows are made twice for a spread). */
margin_status mg_column_moments_make(margin_context *context, const margin_data *data,
                                     const mg_row_maker *maker, mg_moments_wanted wanted,
                                     mg_column_moments *out, margin_error *error);
void mg_column_moments_free(mg_column_moments *moments);
