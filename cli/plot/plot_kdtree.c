/* margin plot kdtree: how the kd-tree of textbooks cuts the plane of two columns. */
#include "cli_gnuplot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_POINTS = 2000, MOST_LABELS = 40 };

/* A node's part of the plane. */
typedef struct rectangle {
    double low[2], high[2];
} rectangle;

typedef struct partition {
    int64_t count, root;
    double *points; /* count x 2 */
    margin_textbook_node *nodes;
    rectangle *parts;
    int64_t *order; /* parents before children */
    rectangle whole;
} partition;

/* --columns, or the first two that hold numbers. */
static int choose_columns(const cli_arguments *arguments, const margin_data *data,
                          int64_t axis[2]) {
    int found = 0;
    if (arguments->columns)
        return picture_columns(arguments, data->columns, data->x.columns, 2, axis);
    for (int64_t j = 0; j < data->x.columns && found < 2; j++)
        if (data->columns[j].kind == MARGIN_NUMERIC) axis[found++] = j;
    if (found == 2) return EXIT_DONE;
    fputs("margin: a kd-tree is drawn over two columns of numbers, and the table has fewer\n",
          stderr);
    return EXIT_BAD_INPUT;
}

static void cut_parts(partition *p) {
    int64_t known = 0;
    p->order[known++] = p->root;
    p->parts[p->root] = p->whole;
    for (int64_t at = 0; at < known; at++) {
        const int64_t row = p->order[at], axis = p->nodes[row].column;
        const int64_t children[2] = {p->nodes[row].left, p->nodes[row].right};
        for (int side = 0; side < 2; side++) {
            const int64_t child = children[side];
            if (child < 0) continue;
            rectangle part = p->parts[row];
            (side ? part.low : part.high)[axis] = p->points[2 * row + axis];
            p->parts[child] = part;
            p->order[known++] = child;
        }
    }
}

/* The cuts of one column as lines. */
static void put_cuts(picture *pic, const partition *p, int axis) {
    for (int64_t at = 0; at < p->count; at++) {
        const int64_t row = p->order[at];
        const rectangle *part = &p->parts[row];
        const double where = p->points[2 * row + axis];
        if (p->nodes[row].column != axis) continue;
        picture_numbers(pic, 2, axis ? part->low[0] : where, axis ? where : part->low[1]);
        picture_numbers(pic, 2, axis ? part->high[0] : where, axis ? where : part->high[1]);
        text_puts(&pic->data, "\n");
    }
    picture_end(pic);
}

static void put_labels(picture *pic, const partition *p) {
    picture_curve(pic, NULL, "with labels left offset 0.7,0.6");
    for (int64_t i = 0; i < p->count; i++) {
        const double x = p->points[2 * i], y = p->points[2 * i + 1];
        text_number(&pic->data, x);
        text_puts(&pic->data, " ");
        text_number(&pic->data, y);
        text_puts(&pic->data, " \"(");
        text_short(&pic->data, x);
        text_puts(&pic->data, ",");
        text_short(&pic->data, y);
        text_puts(&pic->data, ")\"\n");
    }
    picture_end(pic);
}

static void kdtree_script(picture *pic, const partition *p, const char *x, const char *y) {
    picture_label(pic, 'x', x);
    picture_label(pic, 'y', y);
    picture_range(pic, 'x', p->whole.low[0], p->whole.high[0]); /* just so: the cuts end there */
    picture_range(pic, 'y', p->whole.low[1], p->whole.high[1]);
    picture_set(pic, "set key outside below horizontal\n");
    for (int k = 0; k < 2; k++) {
        picture_curve(pic, k ? "cuts the second" : "cuts the first column",
                      "with lines lw 2 lc rgb '%s'", picture_colour(k));
        put_cuts(pic, p, k);
    }
    picture_curve(pic, "rows", "with points pt 7 ps 0.9 lc rgb '#000000'");
    for (int64_t i = 0; i < p->count; i++)
        picture_numbers(pic, 2, p->points[2 * i], p->points[2 * i + 1]);
    picture_end(pic);
    if (p->count <= MOST_LABELS) put_labels(pic, p);
    picture_plot(pic);
}

static int draw(picture *pic, const margin_data *data, const int64_t axis[2], partition *p) {
    for (int64_t i = 0; i < p->count; i++)
        for (int k = 0; k < 2; k++)
            p->points[2 * i + k] = picture_cell(&data->x, i, axis[k]);
    const margin_matrix x = margin_dense_f64(p->points, p->count, 2, 2);
    const margin_status status =
        margin_textbook_tree(pic->session->context, &x, p->nodes, &p->root, &pic->session->error);
    if (status < 0) return cli_failed(pic->session, status);
    for (int k = 0; k < 2; k++) {
        picture_column_range(&x, k, &p->whole.low[k], &p->whole.high[k]);
        picture_room(0.06, &p->whole.low[k], &p->whole.high[k]);
    }
    cut_parts(p);
    picture_begin(pic, "kd-tree: a median row at each node");
    kdtree_script(pic, p, data->columns[axis[0]].name, data->columns[axis[1]].name);
    return picture_finish(pic);
}

static int draw_table(picture *pic, const margin_data *data) {
    int64_t axis[2];
    partition p = {.count = data->x.rows};
    if (data->x.row_starts || data->x.rows < 1 || data->x.rows > MOST_POINTS) {
        fprintf(stderr,
                "margin: a kd-tree is drawn for a dense table of 1 to %d rows, and '%s' is %s of "
                "%lld: give a part of its rows\n",
                (int)MOST_POINTS, pic->session->arguments->words[1],
                data->x.row_starts ? "a sparse one" : "one", (long long)data->x.rows);
        return EXIT_BAD_INPUT;
    }
    int code = choose_columns(pic->session->arguments, data, axis);
    if (code) return code;
    const size_t count = (size_t)p.count;
    p.points = malloc(2 * count * sizeof *p.points);
    p.nodes = malloc(count * sizeof *p.nodes);
    p.parts = malloc(count * sizeof *p.parts);
    p.order = malloc(count * sizeof *p.order);
    if (!p.points || !p.nodes || !p.parts || !p.order) {
        code = picture_out_of_memory();
    } else {
        code = draw(pic, data, axis, &p);
    }
    free(p.points);
    free(p.nodes);
    free(p.parts);
    free(p.order);
    return code;
}

int plot_kdtree(picture *p) {
    const cli_arguments *a = p->session->arguments;
    margin_table *table = NULL;
    const margin_status status =
        cli_read_table(p->session, a->words[1], false, cli_missing(a, NULL), &table);
    if (status < 0) return cli_failed(p->session, status);
    const margin_data data = margin_table_data(table);
    const int code = draw_table(p, &data);
    margin_table_free(table);
    return code;
}
