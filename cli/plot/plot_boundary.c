/* plot boundary: the regions of the classes, or of a one-class machine, over two columns, and the
 * rows. */
#include "cli_gnuplot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const margin_model *model;
    const margin_data *data;
    const margin_column *columns;
    int64_t column_count;
    plane plane;
    bool one_class; /* classes are those of the answers: outlier, inlier */
    int64_t *rows;  /* class of each sample */
    double *held;   /* what the columns are but for the two */
} boundary;

/* How much of a column's variance lies between the classes, 0 to 1. */
static double between_classes(const boundary *b, int64_t column, double *sums, double *counts) {
    const int64_t classes = margin_model_class_count(b->model);
    double sum = 0, squares = 0, count = 0, between = 0;
    memset(sums, 0, (size_t)classes * sizeof *sums);
    memset(counts, 0, (size_t)classes * sizeof *counts);
    const double origin = b->data->x.rows > 0 ? picture_cell(&b->data->x, 0, column) : 0;
    for (int64_t i = 0; i < b->data->x.rows; i++) {
        const double value = picture_cell(&b->data->x, i, column) - origin;
        if (b->rows[i] < 0 || !isfinite(value)) continue;
        sums[b->rows[i]] += value;
        counts[b->rows[i]]++;
        sum += value;
        squares += value * value;
        count++;
    }
    for (int64_t k = 0; k < classes; k++)
        if (counts[k] > 0) between += sums[k] * sums[k] / counts[k];
    const double all = squares - sum * sum / count;
    return all > 0 ? (between - sum * sum / count) / all : 0;
}

/* The two columns of numbers that tell the classes apart best, each by itself. */
static int best_axes(boundary *b) {
    const int64_t classes = margin_model_class_count(b->model);
    double *work = malloc((size_t)classes * 2 * sizeof *work), best[2] = {-1, -1};
    if (!work) return picture_out_of_memory();
    b->plane.axis[0] = b->plane.axis[1] = -1;
    for (int64_t j = 0; j < b->column_count; j++) {
        if (b->columns[j].kind != MARGIN_NUMERIC) continue;
        const double share = between_classes(b, j, work, work + classes);
        const int worse = best[0] < best[1] ? 0 : 1;
        if (b->plane.axis[0] >= 0 && b->plane.axis[1] >= 0 && !(share > best[worse])) continue;
        const int place = b->plane.axis[0] < 0 ? 0 : b->plane.axis[1] < 0 ? 1 : worse;
        if (place == 0 && b->plane.axis[1] >= 0) { /* in the order of the table */
            b->plane.axis[0] = b->plane.axis[1];
            best[0] = best[1];
        }
        const int last = b->plane.axis[0] < 0 ? 0 : 1;
        b->plane.axis[last] = j;
        best[last] = share;
    }
    free(work);
    if (b->plane.axis[1] >= 0) return EXIT_DONE;
    fputs("margin: a boundary is drawn over two columns of numbers, and the model has fewer\n",
          stderr);
    return EXIT_BAD_INPUT;
}

static int choose_axes(const cli_arguments *a, boundary *b) {
    if (!a->columns) return best_axes(b);
    const int code = picture_columns(a, b->columns, b->column_count, 2, b->plane.axis);
    for (int k = 0; !code && k < 2; k++)
        if (b->columns[b->plane.axis[k]].kind != MARGIN_NUMERIC) {
            fprintf(stderr,
                    "margin: column %s holds categories: a boundary is drawn over numbers\n",
                    b->columns[b->plane.axis[k]].name);
            return EXIT_BAD_INPUT;
        }
    return code;
}

/* Ranges of the two axes with a little room, and what the other columns are held at. */
static margin_status measure(picture *p, const margin_table *table, boundary *b) {
    margin_status status;
    margin_column_summary *s =
        picture_summarize(p, table, b->column_count + !b->one_class, &status);
    for (int64_t j = 0; status >= 0 && j < b->column_count; j++)
        b->held[j] = picture_held(&s[j]);
    for (int k = 0; status >= 0 && k < 2; k++) {
        b->plane.low[k] = s[b->plane.axis[k]].minimum;
        b->plane.high[k] = s[b->plane.axis[k]].maximum;
        picture_room(0.05, &b->plane.low[k], &b->plane.high[k]);
    }
    free(s);
    return status;
}

/* Share of the rows that lie in another region than the model's own answer, which knows all their
 * columns. NaN: there is no memory to find out. */
static double share_elsewhere(picture *p, const boundary *b) {
    const int64_t rows = b->data->x.rows, columns = b->column_count;
    double *flat = malloc((size_t)(rows * columns + 1) * sizeof *flat);
    int64_t *here = malloc((size_t)(rows + 1) * 2 * sizeof *here), *own = here ? here + rows : NULL;
    double different = (double)NAN;
    for (int64_t i = 0; flat && i < rows; i++) {
        memcpy(flat + i * columns, b->held, (size_t)columns * sizeof *flat);
        for (int k = 0; k < 2; k++)
            flat[i * columns + b->plane.axis[k]] = picture_cell(&b->data->x, i, b->plane.axis[k]);
    }
    const margin_matrix x = margin_dense_f64(flat, rows, columns, columns);
    if (flat && here && rows > 0 &&
        margin_predict_parallel(p->session->context, b->model, &x, MARGIN_OUTPUT_LABELS, here,
                                &p->session->error) >= 0 &&
        margin_predict_parallel(p->session->context, b->model, &b->data->x, MARGIN_OUTPUT_LABELS,
                                own, &p->session->error) >= 0) {
        different = 0;
        for (int64_t i = 0; i < rows; i++)
            different += here[i] != own[i];
    }
    free(flat);
    free(here);
    return different / (double)rows;
}

static void put_samples(picture *p, const boundary *b, int64_t class) {
    for (int64_t i = 0; i < b->data->x.rows; i++)
        if (b->rows[i] == class)
            picture_numbers(p, 2, picture_cell(&b->data->x, i, b->plane.axis[0]),
                            picture_cell(&b->data->x, i, b->plane.axis[1]));
    picture_end(p);
}

/* The margin of an svm: where its score is -1, 0 and 1. In characters 0 is the boundary. */
static void put_levels(picture *p, const boundary *b) {
    for (int level = -1; level <= 1; level++) {
        const char *title = level < 0 ? "score -1 and 1" : level > 0 ? NULL : "score 0";
        if (level ? b->one_class : !p->image) continue;
        if (p->image)
            picture_curve(p, title, "with vectors nohead lw %d lc rgb '%s'", level ? 1 : 2,
                          level ? "#555555" : "black"); /* too short for dashes */
        else
            picture_curve(p, title, "with points pt '-'");
        plane_level(p, &b->plane, level);
    }
}

/* The rows that take part: those on the margin, inside of it or on the wrong side. Of one class
 * those on the boundary of its region or outside. */
static bool supports(const boundary *b, int64_t row, double score) {
    static const double near = 1e-3; /* of the solution */
    if (b->one_class) return score <= near * fabs(margin_model_intercept(b->model, 0));
    return b->rows[row] >= 0 && (b->rows[row] ? score : -score) <= 1 + near;
}

/* Rings around them; in characters their letters are small. */
static void put_support(picture *p, const boundary *b) {
    const int64_t rows = b->data->x.rows, kinds = p->image ? 1 : 2;
    double *scores = malloc((size_t)(rows + 1) * sizeof *scores);
    const bool known =
        scores && margin_predict_parallel(p->session->context, b->model, &b->data->x,
                                          MARGIN_OUTPUT_SCORES, scores, &p->session->error) >= 0;
    for (int64_t k = 0; k < kinds; k++) {
        if (p->image)
            picture_curve(p, "support vectors", "with points pt 6 ps 1.4 lc rgb 'black'");
        else
            picture_curve(p, k ? NULL : "support vectors", "with points pt '%c'", (char)('a' + k));
        for (int64_t i = 0; known && i < rows; i++)
            if ((p->image || b->rows[i] == k) && supports(b, i, scores[i]))
                picture_numbers(p, 2, picture_cell(&b->data->x, i, b->plane.axis[0]),
                                picture_cell(&b->data->x, i, b->plane.axis[1]));
        picture_end(p);
    }
    free(scores);
}

static void boundary_script(picture *p, const boundary *b) {
    const int64_t classes = margin_model_class_count(b->model);
    plane_axes(p, &b->plane, b->columns);
    if (p->image)
        plane_image(p, &b->plane, classes, false);
    else
        plane_edges(p, &b->plane);
    if (b->plane.scores && !p->image)
        put_levels(p, b); /* beneath the rows, which they would hide */
    for (int64_t k = 0; k < classes; k++) {
        const char *name = margin_model_class_name(b->model, k);
        if (p->image) { /* white ring, coloured disc */
            picture_curve(p, NULL, "with points pt 7 ps 0.9 lc rgb 'white'");
            put_samples(p, b, k);
            picture_curve(p, name, "with points pt 7 ps 0.7 lc rgb '%s'", picture_colour(k));
        } else {
            picture_curve(p, name, "with points pt '%c'", (char)('A' + k % 26));
        }
        put_samples(p, b, k);
    }
    if (b->plane.scores && p->image) put_levels(p, b);
    if (b->plane.scores) put_support(p, b);
    picture_plot(p);
}

static int draw(picture *p, const margin_table *table, boundary *b) {
    b->plane.width = p->image ? 240 : 180;
    b->plane.height = p->image ? 180 : 60;
    b->rows = malloc((size_t)(b->data->x.rows > 0 ? b->data->x.rows : 1) * sizeof *b->rows);
    b->held = calloc((size_t)b->column_count, sizeof *b->held);
    if (!b->rows || !b->held) return picture_out_of_memory();
    for (int64_t i = 0; i < b->data->x.rows && !b->one_class; i++)
        b->rows[i] = picture_class_of(b->model, b->data, i);
    margin_status status = MARGIN_OK;
    if (b->one_class)
        status = margin_predict_parallel(p->session->context, b->model, &b->data->x,
                                         MARGIN_OUTPUT_LABELS, b->rows, &p->session->error);
    if (status < 0) return picture_failed(p, status);
    const int code = choose_axes(p->session->arguments, b);
    if (code) return code;
    status = measure(p, table, b);
    if (status >= 0) status = plane_predict(p, b->model, b->held, b->column_count, &b->plane);
    if (status < 0) return picture_failed(p, status);
    if (b->column_count > 2)
        picture_begin(p,
                      "%s; other columns at their means: %.3g %% of the rows lie in a region that "
                      "is not the model's answer for them",
                      margin_model_spec(b->model), 100 * share_elsewhere(p, b));
    else
        picture_begin(p, "%s", margin_model_spec(b->model));
    boundary_script(p, b);
    return picture_finish(p);
}

int plot_boundary(picture *p, const margin_model *model, const margin_table *table) {
    const margin_data data = margin_table_data(table);
    boundary b = {.model = model, .data = &data};
    b.columns = margin_model_columns(model, &b.column_count);
    b.one_class = margin_model_task(model) == MARGIN_CLUSTER && margin_model_class_name(model, 0);
    if ((margin_model_task(model) != MARGIN_CLASSIFY && !b.one_class) || data.x.row_starts) {
        fputs("margin: boundaries are drawn for classifiers, and of one class, over dense tables\n",
              stderr);
        return EXIT_BAD_INPUT;
    }
    const int code = draw(p, table, &b);
    free(b.plane.labels);
    free(b.plane.scores);
    free(b.rows);
    free(b.held);
    return code;
}
