/* Pictures: a script for gnuplot that is written curve by curve, run, and delivered whole. */
#ifndef CLI_GNUPLOT_H
#define CLI_GNUPLOT_H

#include "cli.h"

typedef enum picture_kind { PICTURE_TERMINAL, PICTURE_SVG, PICTURE_PNG } picture_kind;

typedef struct picture {
    cli_session *session;
    picture_kind kind;
    bool image; /* not in characters */
    int width, height;
    cli_text script;
    cli_text data; /* of the curves of the plot command that is being written */
    int curves;    /* of it */
} picture;

/* Colours that stay apart for colour-blind readers (Okabe and Ito 2008). */
enum { PICTURE_COLOURS = 8 };
const char *picture_colour(int64_t k); /* in turn */

/* Kind by the ending of -o, and --size; usage errors name what there is. */
int picture_choose(const cli_arguments *arguments, picture *p);

/* Puts terminal, size and title (that of the options goes first) at the start of the script. */
void picture_begin(picture *p, const char *title, ...) __attribute__((format(printf, 2, 3)));

/* The same for images and in characters, or for one of them. */
void picture_set(picture *p, const char *text);
void picture_set_image(picture *p, const char *text);

/* A quoted gnuplot string, whatever the text holds. */
void picture_string(cli_text *script, const char *string);

/* Axes without a box, over a pale grid. */
void picture_axes(picture *p);
/* Label of axis 'x' or 'y', and its range just so. */
void picture_label(picture *p, char axis, const char *label);
void picture_range(picture *p, char axis, double low, double high);
/* Makes room beside the ends of a range: a share of it. */
void picture_room(double share, double *low, double *high);

/* ---- Curves: what the plot command says of each, and its points ------------------------------ */

/* A function of x, as gnuplot writes it. */
void picture_function(picture *p, const char *text);
/* Begins a curve: its style, and its title (NULL: none). Points follow, then picture_end. */
void picture_curve(picture *p, const char *title, const char *style, ...)
    __attribute__((format(printf, 3, 4)));
void picture_numbers(picture *p, int count, ...); /* doubles: one line */
void picture_end(picture *p);
/* All curves of a plot command are there. */
void picture_plot(picture *p);

/* Draws and writes the picture whole or not at all. */
int picture_finish(picture *p);

/* Says that there is no memory; returns the exit code. */
int picture_out_of_memory(void);
/* The exit code of a failure, which is told; of memory also where the library did not say so. */
int picture_failed(picture *p, margin_status status);

/* ---- Columns --------------------------------------------------------------------------------- */

/* --columns, or the first ones: `wanted` (1 or 2) different numbers of columns into `axis`. */
int picture_columns(const cli_arguments *arguments, const margin_column *columns, int64_t count,
                    int wanted, int64_t *axis);

/* A number of a dense table. */
double picture_cell(const margin_matrix *x, int64_t row, int64_t column);

/* Least and greatest finite number of a column; both 0 where there is none. */
void picture_column_range(const margin_matrix *x, int64_t column, double *low, double *high);

/* Summaries of the `count` columns of a table (to be freed), NULL without memory. */
margin_column_summary *picture_summarize(picture *p, const margin_table *table, int64_t count,
                                         margin_status *status);
/* What a column is held at: the mean or the most frequent category. */
double picture_held(const margin_column_summary *column);

/* The class of a row in words, as the data says; NULL: none. */
const char *picture_class_text(const margin_data *data, int64_t row,
                               char number[MARGIN_NUMBER_TEXT]);
/* Class of a row as the data says, -1 where it says none or one that the model does not know. */
int64_t picture_class_of(const margin_model *model, const margin_data *data, int64_t row);

/* ---- A plane of two columns, and its parts --------------------------------------------------- */

typedef struct plane {
    int64_t axis[2];
    double low[2], high[2];
    int64_t width, height; /* of the grid */
    int64_t *labels;       /* of the grid, owned; NULL: not known */
    double *scores;        /* of the grid, owned: of an svm with one function */
} plane;

/* Labels and scores of the grid: `held` is what the model's columns are but for the two. */
margin_status plane_predict(picture *p, const margin_model *model, const double *held,
                            int64_t columns, plane *of);
/* Labels and ranges of both axes. */
void plane_axes(picture *p, const plane *of, const margin_column *columns);
/* Each class in a pale colour; with `lines`, white between them. */
void plane_image(picture *p, const plane *of, int64_t classes, bool lines);
/* In characters: dots where the class changes. */
void plane_edges(picture *p, const plane *of);
/* The points of a curve "with vectors", in characters "with points": where the scores are the
 * level.
 */
void plane_level(picture *p, const plane *of, double level);

/* ---- Kinds of pictures ----------------------------------------------------------------------- */

int plot_trace(picture *p);
int plot_kdtree(picture *p);
int plot_elbow(picture *p);
int plot_search(picture *p); /* settings, learning */

/* Draws a model and a table; the table is NULL where none is given. */
typedef int picture_of_model(picture *p, const margin_model *model, const margin_table *table);
picture_of_model plot_boundary, plot_clusters, plot_coefficients, plot_fit, plot_margins;
picture_of_model plot_reliability, plot_residuals, plot_roc, plot_precision, plot_confusion;

#endif
