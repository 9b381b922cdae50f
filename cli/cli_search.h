/* What the commands that search share: cv, compare. */
#ifndef CLI_SEARCH_H
#define CLI_SEARCH_H

#include "cli.h"

margin_search_options cli_search_options(const cli_session *session);
/* "converged", "stopped", "failed", "dropped" */
const char *cli_cell_ending(const margin_search_cell *cell);
/* Fits the chosen setting to all rows and writes it to -o. Returns an exit code. */
int cli_write_choice(cli_session *session, const margin_search_result *table,
                     const margin_data *data);

/* With --nested, else *found stays as it is. Returns an exit code. */
int cli_nested(cli_session *session, const margin_spec *spec, const margin_data *data,
               const margin_splits *outer, margin_nested_result **found);
/* Nothing for NULL. */
void text_nested(cli_text *text, const margin_nested_result *found);
void json_nested(cli_text *text, const margin_nested_result *found);

/* What the table shows that its user should know, but for the codes of --allow; the exit code that
 * --strict makes of it. */
void text_findings(cli_text *text, const cli_session *session, const margin_search_result *table);
void json_findings(cli_text *text, const cli_session *session, const margin_search_result *table);
int cli_findings_code(const cli_session *session, const margin_search_result *table);

#endif
