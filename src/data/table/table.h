/* The table from the inside, and what readers fill in. */
#pragma once

#include "base/text/text.h"
#include "data/matrix/matrix.h"

/* Owned descriptions of columns: one block of pointers and one of text. Shared by tables, fitted
 * stages and models. */
typedef struct mg_columns {
    mg_heap *heap;
    margin_column *items; /* count entries; names and categories owned */
    int64_t count;
} mg_columns;
margin_status mg_columns_copy(mg_heap *heap, const margin_column *items, int64_t count,
                              mg_columns *out, margin_error *error);
/* count numeric columns named x1, x2, ..., or by another short word. */
margin_status mg_columns_numbered(mg_heap *heap, const char *word, int64_t count, mg_columns *out,
                                  margin_error *error);
/* count numeric columns whose names stand in `names`, each with a zero behind it. */
margin_status mg_columns_named(mg_heap *heap, const mg_text *names, int64_t count, mg_columns *out,
                               margin_error *error);
void mg_columns_free(mg_columns *columns);

struct margin_table {
    mg_heap *heap;
    mg_matrix_buffer x;
    mg_columns columns;
    bool has_target;
    mg_columns target; /* an entry for each target if has_target */
    double *y;         /* x.rows values or codes for each target, those of a row together; NULL */
    double *weights;   /* or NULL */
    margin_table_details details;
    char *name;
};

/* A new empty table that holds a reference to the heap. */
margin_status mg_table_new(mg_heap *heap, const char *name, margin_table **table,
                           margin_error *error);

/* ---- Which column plays which part ----------------------------------------------------------- */

/* Resolves the options' references against the file's names once the header is known. */
typedef enum mg_role { MG_ROLE_FEATURE, MG_ROLE_TARGET, MG_ROLE_WEIGHT, MG_ROLE_IGNORED } mg_role;
typedef struct mg_column_plan {
    mg_role role;
    int64_t feature;               /* its place among the features */
    int64_t target;                /* its place among the targets */
    bool categorical;              /* told by the options or by `expected` */
    const margin_column *expected; /* or NULL */
} mg_column_plan;
/* How many targets the model has that a table is read for. */
MG_INLINE int64_t mg_expected_targets(const margin_read_options *options) {
    if (!options->expected_target) return 0;
    return options->expected_targets > 1 ? options->expected_targets : 1;
}
/* Whether a missing target is an error of the reader. */
MG_INLINE bool mg_target_is_required(const margin_read_options *options) {
    return options->missing == MARGIN_MISSING_ERROR ||
           (options->target_complete && options->missing != MARGIN_MISSING_DROP);
}
/* plan: count entries. `names` are the file's as they stand in it (or "x1"... where has_names is
 * false). How references are resolved:
 *  - a name, or if no column has it a number from 1, negative from the end; a name that several
 *    columns have is refused, a number tells them apart. A list is one name if a column is called
 *    exactly so, else it is cut at its commas;
 *  - target NULL: the last column that has no other part; "": none; else a list of one or more. A
 *    reader whose target is not a column passes "";
 *  - `expected`: found by (unique) name if the file has names, else by position among the columns
 *    that are not ignored, weights or target. A file with names of its own is read by position too
 *    if the model's are x1, x2, ... and none of them is in it. The targets are options->target,
 * else expected_target by name; by position, if the file has so many columns more than features,
 * the columns of those numbers (x5: the fifth) or the last. Everything else is left out. DATA with
 * the nearest name on an unknown reference, names the columns that are missing when `expected` is
 * given, refuses two parts for one column and a table without features. */
margin_status mg_plan_columns(mg_heap *heap, const char *const *names, bool has_names,
                              int64_t count, const margin_read_options *options, const char *file,
                              mg_column_plan *plan, int64_t *features, margin_error *error);

/* Names without repetition: the second "a" becomes "a.1", the third "a.2", skipping what the file
 * has already. items[0..count) point into `names` or into text of their own. */
typedef struct mg_names {
    mg_heap *heap;
    const char **items;
    char *text;
} mg_names;
margin_status mg_names_unique(mg_heap *heap, const char *const *names, int64_t count,
                              mg_names *unique, margin_error *error);
void mg_names_free(mg_names *names);

/* ---- Readers --------------------------------------------------------------------------------- */

/* A reader gets the whole text or bytes and makes a table. Adding a format is one file and one line
 * in reader.c. */
typedef struct mg_source mg_source; /* data/source/source.h */
typedef struct mg_reader {
    margin_format format;
    const char *name;           /* "csv" */
    const char *const *endings; /* ".csv", ..., NULL */
    margin_status (*read)(margin_context *context, mg_source *source,
                          const margin_read_options *options, margin_table **table,
                          margin_error *error);
} mg_reader;
extern const mg_reader mg_reader_csv, mg_reader_svmlight, mg_reader_npy, mg_reader_idx,
    mg_reader_arrow;
