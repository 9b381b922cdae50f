/* The distinct values of one column with their weights, ascending: for medians, most frequent
 * values, categories. Weights are added up as whole numbers and rounded once, so that values that
 * weigh the same do so in any order of the rows and in sparse ones. */
#pragma once

#include "base/text/decimal.h"
#include "learn/learner.h"
#include "math/rows/sparse_columns.h"

typedef struct mg_value_run {
    double value, weight;
} mg_value_run;

/* Access to the columns of a data set; for CSR a copy by columns is made. */
typedef struct mg_column_reader {
    margin_context *context;
    const margin_data *data;
    int64_t rows;             /* selected */
    int shift;                /* weights are whole numbers of 2^-shift (take_weight) */
    mg_u128 total;            /* weight of all of them */
    mg_sparse_columns sparse; /* CSR */
} mg_column_reader;
/* `columns`: which ones will be read (NULL: all). */
margin_status mg_column_reader_open(margin_context *context, const margin_data *data,
                                    const bool *columns, mg_column_reader *reader,
                                    margin_error *error);
void mg_column_reader_close(mg_column_reader *reader);

/* Runs that a column can have at most: the room that mg_column_runs needs. */
int64_t mg_column_runs_room(const mg_column_reader *reader);
/* Writes the runs of a column, missing values left out, and returns their count. `runs` and
 * `scratch` hold mg_column_runs_room entries each. Safe from several threads. Where the call is to
 * end (mg_cancelled, to be asked afterwards) it leaves off, with any count. */
int64_t mg_column_runs(const mg_column_reader *reader, int64_t column, mg_value_run *runs,
                       mg_value_run *scratch);

/* Half of the weight of ascending values lies on either side; between two values, their middle. NaN
 * if there are none. */
double mg_runs_median(const mg_value_run *runs, int64_t count);

/* Ascending by value (-0 before 0); no NaN among them. Equal values keep their order. Linear time.
 * False: the call is to end, and they are in no order. */
bool mg_sort_values(const margin_context *context, mg_value_run *values, int64_t count,
                    mg_value_run *scratch);
