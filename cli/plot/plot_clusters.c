/* plot clusters: rows by cluster over two columns, with the centres. */
#include "cli_gnuplot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_POINTS = 20000, MOST_NAMED = 12 };

/* What is drawn: the table's own columns where stages only scale them, otherwise the columns that
 * the stages make. */
typedef struct {
    const margin_model *model;
    margin_matrix x;              /* over `columns` */
    const margin_column *columns; /* inputs or features */
    int64_t column_count, clusters;
    bool scaled;      /* x is the table itself; centres are scaled back */
    double *centres;  /* clusters x 2, on the axes */
    double *features; /* owned; x where not scaled */
    int64_t *labels, *sizes;
    plane plane; /* labels where the two columns are the whole space */
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

/* Centres on the axes, and the ranges with the centres in them and a little room. */
static void place_centres(cluster_picture *p) {
    for (int k = 0; k < 2; k++) {
        const int64_t j = p->plane.axis[k];
        double low, high;
        picture_column_range(&p->x, j, &low, &high);
        for (int64_t c = 0; c < p->clusters; c++) {
            double value = margin_model_centre(p->model, c)[j];
            if (p->scaled) value = cli_in_units(p->model, j, value);
            p->centres[2 * c + k] = value;
            low = fmin(low, value);
            high = fmax(high, value);
        }
        picture_room(0.05, &low, &high);
        p->plane.low[k] = low;
        p->plane.high[k] = high;
    }
}

/* ---- Script ---------------------------------------------------------------------------------- */

/* A cluster's rows: colours in turn, then the same colours with the next shape. */
static void put_cluster(picture *pic, const cluster_picture *p, int64_t c) {
    static const int shapes[] = {7, 5, 9, 11, 13};
    static const char letters[] = "123456789abcdefghijklmnopqrstuvwxyz";
    const int64_t step = p->x.rows > MOST_POINTS ? (p->x.rows + MOST_POINTS - 1) / MOST_POINTS : 1;
    char title[64];
    snprintf(title, sizeof title, "%lld: %lld row%s", (long long)c + 1, (long long)p->sizes[c],
             p->sizes[c] == 1 ? "" : "s");
    const char *named = p->clusters > MOST_NAMED ? NULL : title;
    if (pic->image)
        picture_curve(pic, named, "with points pt %d ps %s lc rgb '%s'",
                      shapes[c / PICTURE_COLOURS % 5], p->x.rows > 1000 ? "0.4" : "0.8",
                      picture_colour(c));
    else
        picture_curve(pic, named, "with points pt '%c'", letters[c % 35]);
    for (int64_t i = 0; i < p->x.rows; i += step) {
        const double x = picture_cell(&p->x, i, p->plane.axis[0]);
        const double y = picture_cell(&p->x, i, p->plane.axis[1]);
        if (p->labels[i] == c && isfinite(x) && isfinite(y)) picture_numbers(pic, 2, x, y);
    }
    picture_end(pic);
}

static void put_centres(picture *pic, const cluster_picture *p, const char *title,
                        const char *style) {
    picture_curve(pic, title, "%s", style);
    for (int64_t c = 0; c < p->clusters; c++)
        picture_numbers(pic, 3, p->centres[2 * c], p->centres[2 * c + 1], (double)(c + 1));
    picture_end(pic);
}

static void cluster_script(picture *pic, const cluster_picture *p) {
    plane_axes(pic, &p->plane, p->columns);
    picture_set(pic, "set tics out nomirror\n");
    /* where colours come twice, neighbours may share one: white lines part them */
    if (p->plane.labels) plane_image(pic, &p->plane, p->clusters, p->clusters > PICTURE_COLOURS);
    for (int64_t c = 0; c < p->clusters; c++)
        put_cluster(pic, p, c);
    if (pic->image) { /* the number stands in the centre */
        put_centres(pic, p, NULL, "using 1:2 with points pt 7 ps 2.6 lc rgb 'white'");
        put_centres(pic, p, "centres", "using 1:2 with points pt 6 ps 2.6 lw 1.5 lc rgb '#000000'");
        put_centres(pic, p, NULL, "using 1:2:3 with labels font ',10' tc rgb '#000000'");
    } else {
        put_centres(pic, p, "centres", "using 1:2 with points pt '@'");
    }
    picture_plot(pic);
}

static int draw(picture *pic, cluster_picture *p) {
    char columns[64] = "";
    if (p->column_count > 2)
        snprintf(columns, sizeof columns, "; two of %lld columns", (long long)p->column_count);
    picture_begin(pic, "%s%s%s", margin_model_spec(p->model), columns,
                  p->scaled ? "" : ", as the stages make them");
    cluster_script(pic, p);
    return picture_finish(pic);
}

static int prepare(picture *pic, const margin_matrix *x, cluster_picture *p) {
    cli_session *session = pic->session;
    const size_t rows = (size_t)(x->rows > 0 ? x->rows : 1);
    p->clusters = margin_model_class_count(p->model);
    p->labels = malloc(rows * sizeof *p->labels);
    p->sizes = calloc((size_t)p->clusters, sizeof *p->sizes);
    p->centres = malloc((size_t)(2 * p->clusters) * sizeof *p->centres);
    if (!p->labels || !p->sizes || !p->centres) return picture_out_of_memory();
    margin_status status = choose_space(session, x, p);
    if (status >= 0)
        status = margin_predict_parallel(session->context, p->model, x, MARGIN_OUTPUT_LABELS,
                                         p->labels, &session->error);
    if (status < 0) return picture_failed(pic, status);
    if (p->column_count < 2) {
        fputs("margin: clusters are drawn over two columns, and the model has one\n", stderr);
        return EXIT_BAD_INPUT;
    }
    const int code =
        picture_columns(session->arguments, p->columns, p->column_count, 2, p->plane.axis);
    if (code) return code;
    for (int64_t i = 0; i < x->rows; i++)
        if (p->labels[i] >= 0) p->sizes[p->labels[i]]++;
    place_centres(p);
    if (!p->scaled || p->column_count > 2 || !pic->image) return EXIT_DONE;
    const double held[2] = {0, 0};
    p->plane.width = 240;
    p->plane.height = 180;
    status = plane_predict(pic, p->model, held, 2, &p->plane);
    return status < 0 ? picture_failed(pic, status) : EXIT_DONE;
}

int plot_clusters(picture *pic, const margin_model *model, const margin_table *table) {
    const margin_data data = margin_table_data(table);
    cluster_picture p = {.model = model};
    if (!margin_model_centre(model, 0) || data.x.row_starts) {
        fputs(data.x.row_starts
                  ? "margin: clusters are drawn over columns of a dense table, and this one is "
                    "sparse\n"
                  : "margin: the model has no clusters to draw: they are those of kmeans; the "
                    "classes of a classifier are drawn by 'margin plot boundary'\n",
              stderr);
        return EXIT_BAD_INPUT;
    }
    int code = prepare(pic, &data.x, &p);
    if (!code) code = draw(pic, &p);
    free(p.centres);
    free(p.features);
    free(p.labels);
    free(p.sizes);
    free(p.plane.labels);
    return code;
}
