/* Reading CSV texts in tests and looking at what came out. */
#ifndef CSV_CASES_H
#define CSV_CASES_H

#include "support/support.h"

#include "base/status.h"
#include "margin/data.h"

#include <math.h>

extern margin_context *csv_context; /* two threads; made by csv_set_up */
int csv_set_up(void **state);
int csv_tear_down(void **state);

/* Here all columns are features unless a target is given; CSV_NULL stands for NULL. */
extern const char CSV_NULL[];

/* Reads text[0..length) as "t.csv"; fails the test if it is refused. */
margin_table *csv_read(const char *text, size_t length, margin_read_options options);
#define READ(text, ...)                                                                            \
    csv_read((text), sizeof(text) - 1, (margin_read_options){.size = 0, __VA_ARGS__})
#define PLAIN .header = MARGIN_HEADER_NO
#define NAMED .header = MARGIN_HEADER_YES

/* It must be refused so: status, line and column of the place (0: none), a part of the sentence. */
void csv_refused(const char *text, size_t length, margin_read_options options, margin_status wanted,
                 int line, int column, const char *sentence);
#define REFUSED(text, status, line, column, sentence, ...)                                         \
    csv_refused((text), sizeof(text) - 1, (margin_read_options){.size = 0, __VA_ARGS__}, (status), \
                (line), (column), (sentence))

double csv_value(const margin_table *table, int64_t row, int64_t column);
/* rows x columns values, row after row; missing ones are NAN. Frees the table. */
void csv_values(margin_table *table, int64_t rows, int64_t columns, const double *values);
#define VALUES(rows, columns, ...)                                                                 \
    (rows), (columns), (const double[]) {                                                          \
        __VA_ARGS__                                                                                \
    }
/* The categories of a column, the names of the features, joined by '/'. */
void csv_categories(const margin_column *column, const char *joined);
void csv_names(const margin_table *table, const char *joined);

/* What a model wants: town (categories), age (number), target ok (categories). */
extern const margin_column csv_model_columns[2], csv_model_target;
#define MODEL                                                                                      \
    .expected = csv_model_columns, .expected_count = 2, .expected_target = &csv_model_target

#endif
