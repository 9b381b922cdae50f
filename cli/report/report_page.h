/* The parts of the page that margin report writes: one file of HTML with everything in it. */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include "cli.h"

/* Text of data, models and paths: nothing in it is markup, and control characters are left out. */
void html_text(cli_text *page, const char *string);
void html_number(cli_text *page, double value); /* as text_short; NaN: a dash */

/* Everything up to the first section, and behind the last. */
void html_begin(cli_text *page, const char *title);
void html_end(cli_text *page);

/* A heading, and a paragraph of our own words. */
void html_section(cli_text *page, const char *heading);
void html_say(cli_text *page, const char *words);

/* A table that scrolls sideways where it is wide; heads separated by |. */
void html_table(cli_text *page, const char *heads);
void html_table_end(cli_text *page);
void html_cell(cli_text *page, const char *string);
void html_cell_number(cli_text *page, double value);

/* ---- Charts: inline SVG in the colours of the page ------------------------------------------- */

typedef struct chart {
    cli_text *page;
    double low[2], high[2]; /* of x and y */
} chart;

/* Axes with ticks and labels; `says` describes the picture to those who do not see it. */
void chart_begin(chart *c, cli_text *page, const char *title, const char *x, const char *y,
                 const double low[2], const double high[2]);
/* A line through points, or the points themselves, in colour k. */
void chart_line(const chart *c, const double *x, const double *y, int64_t count, int colour);
void chart_points(const chart *c, const double *x, const double *y, int64_t count, int colour);
/* The thin line from (x0, y0) to (x1, y1): where a good curve would be. */
void chart_guide(const chart *c, double x0, double y0, double x1, double y1);
/* The words below it, then names in the colours of their lines, then the end. */
void chart_caption(const chart *c, const char *words);
void chart_name(const chart *c, const char *name, int colour);
void chart_end(const chart *c);

/* ---- Sections -------------------------------------------------------------------------------- */

/* Of the model alone, and of a table (its columns; what the model does on its rows). Return an exit
 * code. */
int report_model(cli_session *session, cli_text *page, const margin_model *model);
void report_proof(cli_session *session, cli_text *page, const margin_model *model,
                  const margin_data *data);
int report_columns(cli_session *session, cli_text *page, const margin_table *table);
int report_rows(cli_session *session, cli_text *page, const margin_model *model,
                const margin_data *data);
/* Weights; for one standard deviation of each column where the rows are given (NULL: not). */
void report_weights(cli_session *session, cli_text *page, const margin_model *model,
                    const margin_data *data);
void report_commands(cli_session *session, cli_text *page, const margin_model *model,
                     const margin_data *data);

#endif
