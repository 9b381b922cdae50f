/* plot clusters: rows by cluster over two columns, with the centres. */
#include "cli_gnuplot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_POINTS = 20000, MOST_NAMED = 12, GRID_WIDTH = 240, GRID_HEIGHT = 180 };

/* What is drawn: the table's own columns where stages only scale them, otherwise the columns that
 * the stages make. */
typedef struct {
    const margin_model *model;
    margin_matrix x;              /* over `columns` */
    const margin_column *columns; /* inputs or features */
    int64_t column_count, clusters, axis[2];
    bool scaled;      /* x is the table itself; centres are scaled back */
    double *centres;  /* clusters x 2, on the axes */
    double *features; /* owned; x where not scaled */
    int64_t *labels, *sizes;
    int64_t *cells; /* clusters of a grid over the plane, or NULL */
    double low[2], high[2];
} cluster_picture;

/* Whether the stages do no more than scale the columns and fill in what is missing. */
static bool only_scaled(const margin_model *model) {
    int64_t columns, features;
    double shift, scale;
    (void)margin_model_columns(model, &columns);
    (void)margin_model_features(model, &features);
    for (int64_t j = 0; j < features; j++)
        if (margin_model_scale(model, j, &shift, &scale) != j) return false;
    return features == columns;
}

/* The columns to draw over, and the rows in them. */
static margin_status choose_space(cli_session *session, const margin_matrix *x,
                                  cluster_picture *p) {
    p->columns = margin_model_columns(p->model, &p->column_count);
    p->scaled = only_scaled(p->model);
    p->x = *x;
    if (p->scaled) return MARGIN_OK;
    p->columns = margin_model_features(p->model, &p->column_count);
    p->features = malloc((size_t)(x->rows * p->column_count) * sizeof *p->features);
    if (!p->features) return MARGIN_ERROR_MEMORY;
    p->x = margin_dense_f64(p->features, x->rows, p->column_count, p->column_count);
    return margin_model_transform(session->context, p->model, x, p->features, &session->error);
}

/* Centres on the axes, and the ranges with the centres in them. */
static void place_centres(cluster_picture *p) {
    for (int k = 0; k < 2; k++) {
        const int64_t j = p->axis[k];
        picture_column_range(&p->x, j, &p->low[k], &p->high[k]);
        for (int64_t c = 0; c < p->clusters; c++) {
            double value = margin_model_centre(p->model, c)[j];
            if (p->scaled) value = cli_in_units(p->model, j, value);
            p->centres[2 * c + k] = value;
            p->low[k] = fmin(p->low[k], value);
            p->high[k] = fmax(p->high[k], value);
        }
    }
}

static double grid_value(const cluster_picture *p, int k, int64_t i) {
    const double steps = k ? GRID_HEIGHT : GRID_WIDTH;
    const double room = p->high[k] > p->low[k] ? 0.05 * (p->high[k] - p->low[k]) : 0.5;
    return p->low[k] - room + (p->high[k] - p->low[k] + 2 * room) * ((double)i + 0.5) / steps;
}

/* Two columns are the whole space: each point of the plane has its cluster. */
static margin_status fill_cells(cli_session *session, cluster_picture *p) {
    const int64_t count = (int64_t)GRID_WIDTH * GRID_HEIGHT;
    double *grid = malloc((size_t)(2 * count) * sizeof *grid);
    p->cells = malloc((size_t)count * sizeof *p->cells);
    if (!grid || !p->cells) {
        free(grid);
        return MARGIN_ERROR_MEMORY;
    }
    for (int64_t i = 0; i < count; i++) {
        grid[2 * i + p->axis[0]] = grid_value(p, 0, i % GRID_WIDTH);
        grid[2 * i + p->axis[1]] = grid_value(p, 1, i / GRID_WIDTH);
    }
    const margin_matrix x = margin_dense_f64(grid, count, 2, 2);
    const margin_status status = margin_predict_parallel(
        session->context, p->model, &x, MARGIN_OUTPUT_LABELS, p->cells, &session->error);
    free(grid);
    return status;
}

/* ---- Script ---------------------------------------------------------------------------------- */

static void put_rows(cli_text *script, const cluster_picture *p, int64_t cluster, int64_t step) {
    for (int64_t i = 0; i < p->x.rows; i += step) {
        const double x = picture_cell(&p->x, i, p->axis[0]), y = picture_cell(&p->x, i, p->axis[1]);
        if (p->labels[i] == cluster && isfinite(x) && isfinite(y)) picture_point(script, x, y);
    }
    text_puts(script, "e\n");
}

/* Where colours come twice, neighbours may share one: white lines part them. */
static bool at_edge(const cluster_picture *p, int64_t i) {
    const int64_t x = i % GRID_WIDTH, y = i / GRID_WIDTH;
    return p->clusters > PICTURE_COLOURS &&
           ((x + 1 < GRID_WIDTH && p->cells[i] != p->cells[i + 1]) ||
            (y + 1 < GRID_HEIGHT && p->cells[i] != p->cells[i + GRID_WIDTH]));
}

static void put_cells(cli_text *script, const cluster_picture *p) {
    for (int64_t i = 0; i < (int64_t)GRID_WIDTH * GRID_HEIGHT; i++) {
        text_number(script, grid_value(p, 0, i % GRID_WIDTH));
        text_puts(script, " ");
        text_number(script, grid_value(p, 1, i / GRID_WIDTH));
        text_printf(script, " %lld\n", (long long)(at_edge(p, i) ? p->clusters : p->cells[i]));
    }
    text_puts(script, "e\n");
}

/* "x y number" of each centre. */
static void put_centres(cli_text *script, const cluster_picture *p) {
    for (int64_t c = 0; c < p->clusters; c++) {
        text_number(script, p->centres[2 * c]);
        text_puts(script, " ");
        text_number(script, p->centres[2 * c + 1]);
        text_printf(script, " \"%lld\"\n", (long long)c + 1);
    }
    text_puts(script, "e\n");
}

static void begin_cells(cli_text *script, const cluster_picture *p) {
    text_printf(script, "unset colorbox\nset palette maxcolors %lld defined (",
                (long long)p->clusters + 1);
    for (int64_t c = 0; c < p->clusters; c++)
        text_printf(script, "%s%lld '%s'", c ? ", " : "", (long long)c,
                    picture_pale_colours[c % PICTURE_COLOURS]);
    text_printf(script, ", %lld 'white')\nset cbrange [0:%lld]\n", (long long)p->clusters,
                (long long)p->clusters);
}

/* A cluster's rows: colours in turn, then the same colours with the next shape. */
static void plot_cluster(cli_text *script, const cluster_picture *p, int64_t c, bool image) {
    static const int shapes[] = {7, 5, 9, 11, 13};
    static const char letters[] = "123456789abcdefghijklmnopqrstuvwxyz";
    if (image)
        text_printf(script, "'-' with points pt %d ps %s lc rgb '%s' ",
                    shapes[c / PICTURE_COLOURS % 5], p->x.rows > 1000 ? "0.4" : "0.8",
                    picture_colours[c % PICTURE_COLOURS]);
    else
        text_printf(script, "'-' with points pt '%c' ", letters[c % 35]);
    if (p->clusters > MOST_NAMED)
        text_puts(script, "notitle");
    else
        text_printf(script, "title '%lld: %lld row%s'", (long long)c + 1, (long long)p->sizes[c],
                    p->sizes[c] == 1 ? "" : "s");
}

static void cluster_script(cli_text *script, const cluster_picture *p, picture_kind kind) {
    const bool image = kind != PICTURE_TERMINAL;
    const int64_t step = (p->x.rows + MOST_POINTS - 1) / MOST_POINTS;
    picture_label(script, 'x', p->columns[p->axis[0]].name);
    picture_label(script, 'y', p->columns[p->axis[1]].name);
    picture_range(script, 'x', p->low[0], p->high[0]);
    picture_range(script, 'y', p->low[1], p->high[1]);
    text_puts(script, "set tics out nomirror\n");
    if (p->cells) begin_cells(script, p);
    text_puts(script, p->cells ? "plot '-' using 1:2:3 with image notitle, " : "plot ");
    for (int64_t c = 0; c < p->clusters; c++) {
        plot_cluster(script, p, c, image);
        text_puts(script, ", ");
    }
    if (image) /* the number stands in the centre */
        text_puts(script,
                  "'-' using 1:2 with points pt 7 ps 2.6 lc rgb 'white' notitle, "
                  "'-' using 1:2 with points pt 6 ps 2.6 lw 1.5 lc rgb '#000000' title 'centres', "
                  "'-' using 1:2:3 with labels font ',10' tc rgb '#000000' notitle\n");
    else
        text_puts(script, "'-' using 1:2 with points pt '@' title 'centres'\n");
    if (p->cells) put_cells(script, p);
    for (int64_t c = 0; c < p->clusters; c++)
        put_rows(script, p, c, step > 0 ? step : 1);
    for (int k = 0; k < (image ? 3 : 1); k++)
        put_centres(script, p);
}

static int draw(cli_session *session, picture_kind kind, cluster_picture *p) {
    cli_text script = {0}, title = {0};
    text_puts(&title, margin_model_spec(p->model));
    if (p->column_count > 2)
        text_printf(&title, "; two of %lld columns", (long long)p->column_count);
    if (!p->scaled) text_puts(&title, ", as the stages make them");
    int code = picture_begin(session->arguments, kind, title.data ? title.data : "", &script);
    text_free(&title);
    if (code) {
        text_free(&script);
        return code;
    }
    cluster_script(&script, p, kind);
    return picture_finish(session, &script);
}

static int prepare(cli_session *session, picture_kind kind, const margin_matrix *x,
                   cluster_picture *p) {
    const size_t rows = (size_t)(x->rows > 0 ? x->rows : 1);
    p->clusters = margin_model_class_count(p->model);
    p->labels = malloc(rows * sizeof *p->labels);
    p->sizes = calloc((size_t)p->clusters, sizeof *p->sizes);
    p->centres = malloc((size_t)(2 * p->clusters) * sizeof *p->centres);
    if (!p->labels || !p->sizes || !p->centres) return picture_out_of_memory();
    session->error.text[0] = '\0';
    margin_status status = choose_space(session, x, p);
    if (status >= 0)
        status = margin_predict_parallel(session->context, p->model, x, MARGIN_OUTPUT_LABELS,
                                         p->labels, &session->error);
    if (status == MARGIN_ERROR_MEMORY && !session->error.text[0]) return picture_out_of_memory();
    if (status < 0) return cli_failed(session, status);
    if (p->column_count < 2) {
        fputs("margin: clusters are drawn over two columns, and the model has one\n", stderr);
        return EXIT_BAD_INPUT;
    }
    const int code = picture_columns(session->arguments, p->columns, p->column_count, 2, p->axis);
    if (code) return code;
    for (int64_t i = 0; i < x->rows; i++)
        if (p->labels[i] >= 0) p->sizes[p->labels[i]]++;
    place_centres(p);
    if (!p->scaled || p->column_count > 2 || kind == PICTURE_TERMINAL) return EXIT_DONE;
    status = fill_cells(session, p);
    if (status == MARGIN_ERROR_MEMORY && !session->error.text[0]) return picture_out_of_memory();
    return status < 0 ? cli_failed(session, status) : EXIT_DONE;
}

int plot_clusters(cli_session *session, picture_kind kind, const margin_model *model,
                  const margin_table *table) {
    const margin_data data = margin_table_data(table);
    cluster_picture p = {.model = model};
    if (margin_model_task(model) != MARGIN_CLUSTER || data.x.row_starts) {
        fputs(data.x.row_starts
                  ? "margin: clusters are drawn over columns of a dense table, and this one is "
                    "sparse\n"
                  : "margin: the model has no clusters to draw: they are those of kmeans; the "
                    "classes of a classifier are drawn by 'margin plot boundary'\n",
              stderr);
        return EXIT_BAD_INPUT;
    }
    int code = prepare(session, kind, &data.x, &p);
    if (!code) code = draw(session, kind, &p);
    free(p.centres);
    free(p.features);
    free(p.labels);
    free(p.sizes);
    free(p.cells);
    return code;
}
