/* A plane of two columns: the grid over it, and the regions of the classes. */
#include "cli_gnuplot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The same colours as picture_colour, mixed with white: regions lie under the samples. */
static const char *const pale[PICTURE_COLOURS] = {"#B3D5E8", "#F3CFB3", "#B3E2D5", "#F0D7E5",
                                                  "#F8E2B3", "#CDE8F7", "#FBF8C6", "#B3B3B3"};

static double grid_x(const plane *of, int64_t i) {
    return of->low[0] +
           (of->high[0] - of->low[0]) * ((double)(i % of->width) + 0.5) / (double)of->width;
}

static double grid_y(const plane *of, int64_t i) {
    return of->low[1] +
           (of->high[1] - of->low[1]) * ((double)(i / of->width) + 0.5) / (double)of->height;
}

margin_status plane_predict(picture *p, const margin_model *model, const double *held,
                            int64_t columns, plane *of) {
    const int64_t cells = of->width * of->height;
    double *grid = calloc((size_t)(cells * columns), sizeof *grid);
    margin_status status = MARGIN_ERROR_MEMORY;
    of->labels = malloc((size_t)cells * sizeof *of->labels);
    for (int64_t i = 0; grid && i < cells; i++) {
        memcpy(grid + i * columns, held, (size_t)columns * sizeof *grid);
        grid[i * columns + of->axis[0]] = grid_x(of, i);
        grid[i * columns + of->axis[1]] = grid_y(of, i);
    }
    const margin_matrix x = margin_dense_f64(grid, cells, columns, columns);
    if (grid && of->labels)
        status = margin_predict_parallel(p->session->context, model, &x, MARGIN_OUTPUT_LABELS,
                                         of->labels, &p->session->error);
    if (status >= 0 && strcmp(margin_model_learner(model)->name, "svm") == 0 &&
        margin_model_score_count(model) == 1) {
        of->scores = malloc((size_t)cells * sizeof *of->scores);
        status = of->scores
                     ? margin_predict_parallel(p->session->context, model, &x, MARGIN_OUTPUT_SCORES,
                                               of->scores, &p->session->error)
                     : MARGIN_ERROR_MEMORY;
    }
    free(grid);
    return status;
}

void plane_axes(picture *p, const plane *of, const margin_column *columns) {
    for (int k = 0; k < 2; k++) {
        picture_label(p, k ? 'y' : 'x', columns[of->axis[k]].name);
        picture_range(p, k ? 'y' : 'x', of->low[k], of->high[k]);
    }
}

static bool at_edge(const plane *of, int64_t i) {
    return (i % of->width + 1 < of->width && of->labels[i] != of->labels[i + 1]) ||
           (i / of->width + 1 < of->height && of->labels[i] != of->labels[i + of->width]);
}

void plane_image(picture *p, const plane *of, int64_t classes, bool lines) {
    const int64_t colours = classes + lines;
    text_printf(&p->script, "unset colorbox\nset palette maxcolors %lld defined (",
                (long long)colours);
    for (int64_t k = 0; k < colours; k++)
        text_printf(&p->script, "%s%lld '%s'", k ? ", " : "", (long long)k,
                    k < classes ? pale[k % PICTURE_COLOURS] : "white");
    text_printf(&p->script, ")\nset cbrange [0:%lld]\n",
                (long long)(colours > 1 ? colours - 1 : 1));
    picture_curve(p, NULL, "using 1:2:3 with image");
    for (int64_t i = 0; i < of->width * of->height; i++)
        picture_numbers(p, 3, grid_x(of, i), grid_y(of, i),
                        (double)(lines && at_edge(of, i) ? classes : of->labels[i]));
    picture_end(p);
}

void plane_edges(picture *p, const plane *of) {
    picture_curve(p, "boundary", "with points pt '.'");
    for (int64_t i = 0; i < of->width * of->height; i++)
        if (at_edge(of, i)) picture_numbers(p, 2, grid_x(of, i), grid_y(of, i));
    picture_end(p);
}

/* Where the line between the centres of two cells, one step of the grid apart, meets the level. */
static bool meets(const plane *of, int64_t from, int64_t to, double level, double at[2]) {
    const double a = of->scores[from] - level, b = of->scores[to] - level;
    if (!isfinite(a) || !isfinite(b) || (a < 0) == (b < 0)) return false;
    const double t = a / (a - b);
    at[0] = grid_x(of, from) + t * (grid_x(of, to) - grid_x(of, from));
    at[1] = grid_y(of, from) + t * (grid_y(of, to) - grid_y(of, from));
    return true;
}

/* Through each square of four cells, from side to side in turn. */
void plane_level(picture *p, const plane *of, double level) {
    for (int64_t i = 0; i + of->width < of->width * of->height; i++) {
        const int64_t corner[] = {i, i + 1, i + 1 + of->width, i + of->width, i};
        double at[4][2];
        int count = 0;
        if (i % of->width + 1 == of->width) continue;
        for (int k = 0; k < 4; k++)
            count += meets(of, corner[k], corner[k + 1], level, at[count]);
        for (int k = 0; k + 1 < count; k += 2)
            picture_numbers(p, p->image ? 4 : 2, at[k][0], at[k][1], at[k + 1][0] - at[k][0],
                            at[k + 1][1] - at[k][1]);
    }
    picture_end(p);
}
