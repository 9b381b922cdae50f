/* Rows held out of a fit: which they are, and what the model does on them. */
#ifndef FIT_HELD_OUT_H
#define FIT_HELD_OUT_H

#include "cli_search.h"

/* Rows to train on, and those held out (--holdout), whose metrics are `held_out`. */
typedef struct cli_fit_rows {
    margin_data train, test;
    int64_t *train_rows, *test_rows;
    cli_findings findings;          /* of the split */
    margin_metrics held_out;        /* inner NULL: none */
    double cost, least_cost;        /* cli_mean_cost of those rows */
    margin_coverage_found coverage; /* rows 0: none was promised, or none are held out */
} cli_fit_rows;

/* What --classes adds to a data set, which borrows from it. */
typedef struct cli_declared {
    char *text; /* the words of the list */
    double *labels;
    const char **names;
    margin_column target;
} cli_declared;
int cli_declare_classes(cli_session *session, margin_data *data, cli_declared *declared);
void cli_declared_free(cli_declared *declared);

int cli_hold_out(cli_session *session, const margin_spec *spec, const margin_table *table,
                 cli_fit_rows *rows);
/* A class that occurs in the held-out rows alone counts as an error. */
int cli_judge_held_out(cli_session *session, const margin_model *model, cli_fit_rows *rows);
void text_held_out(cli_text *text, const cli_fit_rows *rows);
void json_held_out(cli_text *text, const cli_fit_rows *rows);
void cli_fit_rows_free(cli_fit_rows *rows);

#endif
