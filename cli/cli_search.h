/* What the commands that search share: cv, compare. */
#ifndef CLI_SEARCH_H
#define CLI_SEARCH_H

#include "cli.h"

margin_search_options cli_search_options(const cli_session *session);
/* Which column is the target: in a terminal before the work, else on top of the answer, so that
 * nothing is printed where the command fails. The first returns an exit code. */
int cli_target_first(cli_session *session, const margin_data *data);
void text_target_on_top(cli_text *text, const cli_session *session, const margin_data *data);
void json_table_target(cli_text *text, const margin_data *data);
/* Says how many of so many settings were no settings of their own. */
void cli_note_left_out(const cli_session *session, int64_t settings,
                       const margin_search_result *table);
/* "converged", "stopped", "failed", "dropped" */
const char *cli_cell_ending(const margin_search_cell *cell);
double cli_mean_of(const double *values, int64_t count);
/* Ends an interval of a metric's mean where the metric ends: accuracy has nothing above 1. */
void cli_end_interval(const char *metric, double *low, double *high);
/* Why there is nothing to choose from, and the exit code of that. */
const char *cli_why_none(const margin_search_result *table);
int cli_no_best(const margin_search_result *table);
/* Fits a setting to all rows; *model stays NULL where that fails. */
margin_status cli_fit_setting(cli_session *session, const margin_data *data, const char *setting,
                              margin_model **model);
/* What became of the model that -o asks for. */
typedef struct cli_choice {
    bool written;
    margin_status status; /* of its fit to all rows and of the file */
    margin_error error;   /* below 0; above 0 the text is why it stopped */
} cli_choice;
/* Writes the model of a fit that had this status (NULL: it failed) to -o, if it is given. A failure
 * is kept, as there is a table to be printed first; EXIT_INTERRUPTED is returned. */
int cli_keep_choice(cli_session *session, const margin_model *model, margin_status status,
                    cli_choice *choice);
/* After the table: says what is wrong with the choice and returns its exit code, or else `code`. */
int cli_choice_code(cli_session *session, const cli_choice *choice, int code);
/* The path, or null where nothing was written; without -o nothing. */
void json_choice(cli_text *text, const cli_session *session, const cli_choice *choice);

/* With --nested, else *found stays as it is. Returns an exit code. */
int cli_nested(cli_session *session, const margin_spec *spec, const margin_data *data,
               const margin_splits *outer, margin_nested_result **found);
/* Nothing for NULL. */
void text_nested(cli_text *text, const margin_nested_result *found);
void json_nested(cli_text *text, const margin_nested_result *found);

/* What the user should know, each with a code; those of --allow are left out. */
enum { CLI_MOST_FINDINGS = 16 };
typedef struct cli_finding {
    const char *code;
    char words[400];
    const char *remedy;
} cli_finding;
typedef struct cli_findings {
    cli_finding list[CLI_MOST_FINDINGS];
    int count;
} cli_findings;
/* One more, whose words are to be written; NULL: it is allowed. */
cli_finding *cli_find(const cli_session *session, cli_findings *found, const char *code,
                      const char *remedy);
/* Those of a table of settings, all of which the answer shows (else it names the first of those
 * that it tells of); those of the data and its splits (NULL: none), for a spec (NULL: none in
 * particular). */
void cli_find_in_table(const cli_session *session, const margin_search_result *table, bool shown,
                       cli_findings *found);
void cli_find_in_data(const cli_session *session, const margin_data *data,
                      const margin_splits *splits, const char *spec, bool classes,
                      cli_findings *found);
void text_findings(cli_text *text, const cli_findings *found);
void json_findings(cli_text *text, const cli_findings *found);
/* The exit code that --strict makes of them. */
int cli_findings_code(const cli_session *session, const cli_findings *found);

#endif
