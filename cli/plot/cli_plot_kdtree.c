/* margin plot kdtree: how the kd-tree of textbooks cuts the plane of two columns. */
#include "cli_gnuplot.h"

#include <math.h>
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
static int choose_columns(const cli_session *session, const margin_data *data, int64_t axis[2]) {
    int found = 0;
    if (session->arguments->columns)
        return picture_columns(session->arguments, data->columns, data->x.columns, 2, axis);
    for (int64_t j = 0; j < data->x.columns && found < 2; j++)
        if (data->columns[j].kind == MARGIN_NUMERIC) axis[found++] = j;
    if (found == 2) return EXIT_DONE;
    fputs("margin: a kd-tree is drawn over two columns of numbers, and the table has fewer\n",
          stderr);
    return EXIT_BAD_INPUT;
}

/* Range of a column with a little room. */
static void measure(partition *p, int axis) {
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (int64_t i = 0; i < p->count; i++) {
        low = fmin(low, p->points[2 * i + axis]);
        high = fmax(high, p->points[2 * i + axis]);
    }
    const double room = high > low ? 0.06 * (high - low) : 0.5;
    p->whole.low[axis] = low - room;
    p->whole.high[axis] = high + room;
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

static void put_point(cli_text *script, double x, double y, const char *end) {
    text_number(script, x);
    text_puts(script, " ");
    text_number(script, y);
    text_puts(script, end);
}

/* The cuts of one column as lines. */
static void put_cuts(cli_text *script, const partition *p, int axis) {
    for (int64_t at = 0; at < p->count; at++) {
        const int64_t row = p->order[at];
        const rectangle *part = &p->parts[row];
        const double where = p->points[2 * row + axis];
        if (p->nodes[row].column != axis) continue;
        if (axis == 0) {
            put_point(script, where, part->low[1], "\n");
            put_point(script, where, part->high[1], "\n\n");
        } else {
            put_point(script, part->low[0], where, "\n");
            put_point(script, part->high[0], where, "\n\n");
        }
    }
    text_puts(script, "e\n");
}

/* Just so much: the cuts end at it. */
static void put_range(cli_text *script, char axis, double low, double high) {
    text_printf(script, "set %crange [", axis);
    text_number(script, low);
    text_puts(script, ":");
    text_number(script, high);
    text_puts(script, "]\n");
}

static void put_script(cli_text *script, const partition *p, const char *x, const char *y) {
    const bool labels = p->count <= MOST_LABELS;
    picture_label(script, 'x', x);
    picture_label(script, 'y', y);
    put_range(script, 'x', p->whole.low[0], p->whole.high[0]);
    put_range(script, 'y', p->whole.low[1], p->whole.high[1]);
    text_puts(script, "set key outside below horizontal\nplot "
                      "'-' with lines lw 2 lc rgb '#0072B2' title 'cuts the first column', "
                      "'-' with lines lw 2 lc rgb '#D55E00' title 'cuts the second', "
                      "'-' with points pt 7 ps 0.9 lc rgb '#000000' title 'rows'");
    text_puts(script, labels ? ", '-' with labels left offset 0.7,0.6 notitle\n" : "\n");
    put_cuts(script, p, 0);
    put_cuts(script, p, 1);
    for (int64_t i = 0; i < p->count; i++)
        put_point(script, p->points[2 * i], p->points[2 * i + 1], "\n");
    text_puts(script, "e\n");
    for (int64_t i = 0; labels && i < p->count; i++) {
        put_point(script, p->points[2 * i], p->points[2 * i + 1], " \"(");
        text_short(script, p->points[2 * i]);
        text_puts(script, ",");
        text_short(script, p->points[2 * i + 1]);
        text_puts(script, ")\"\n");
    }
    if (labels) text_puts(script, "e\n");
}

static int draw(cli_session *session, picture_kind kind, const margin_data *data,
                const int64_t axis[2], partition *p) {
    cli_text script = {0};
    for (int64_t i = 0; i < p->count; i++)
        for (int k = 0; k < 2; k++)
            p->points[2 * i + k] = picture_cell(&data->x, i, axis[k]);
    const margin_matrix x = margin_dense_f64(p->points, p->count, 2, 2);
    const margin_status status =
        margin_textbook_tree(session->context, &x, p->nodes, &p->root, &session->error);
    if (status < 0) return cli_failed(session, status);
    measure(p, 0);
    measure(p, 1);
    cut_parts(p);
    const int code =
        picture_begin(session->arguments, kind, "kd-tree: a median row at each node", &script);
    if (code) {
        text_free(&script);
        return code;
    }
    put_script(&script, p, data->columns[axis[0]].name, data->columns[axis[1]].name);
    return picture_finish(session, &script);
}

static int draw_table(cli_session *session, picture_kind kind, const margin_data *data) {
    int64_t axis[2];
    partition p = {.count = data->x.rows};
    if (data->x.row_starts || data->x.rows < 1 || data->x.rows > MOST_POINTS) {
        fprintf(stderr,
                "margin: a kd-tree is drawn for a dense table of 1 to %d rows, and '%s' is %s of "
                "%lld: give a part of its rows\n",
                (int)MOST_POINTS, session->arguments->words[1],
                data->x.row_starts ? "a sparse one" : "one", (long long)data->x.rows);
        return EXIT_BAD_INPUT;
    }
    int code = choose_columns(session, data, axis);
    if (code) return code;
    const size_t count = (size_t)p.count;
    p.points = malloc(2 * count * sizeof *p.points);
    p.nodes = malloc(count * sizeof *p.nodes);
    p.parts = malloc(count * sizeof *p.parts);
    p.order = malloc(count * sizeof *p.order);
    if (!p.points || !p.nodes || !p.parts || !p.order) {
        code = picture_out_of_memory();
    } else {
        code = draw(session, kind, data, axis, &p);
    }
    free(p.points);
    free(p.nodes);
    free(p.parts);
    free(p.order);
    return code;
}

int plot_kdtree(cli_session *session, picture_kind kind) {
    margin_table *table = NULL;
    const margin_status status = cli_read_table(session, session->arguments->words[1], false,
                                                cli_missing(session->arguments, NULL), &table);
    if (status < 0) return cli_failed(session, status);
    const margin_data data = margin_table_data(table);
    const int code = draw_table(session, kind, &data);
    margin_table_free(table);
    return code;
}
