/* margin plot: the kinds of pictures; traces, decision boundaries, margins. The numbers are
 * computed here, the drawing is gnuplot's. */
#include "cli_gnuplot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- trace ----------------------------------------------------------------------------------- */

/* Column of that name, -1: none, or the table is sparse. */
static int64_t column_named(const margin_data *data, const char *name) {
    for (int64_t j = 0; !data->x.row_starts && j < data->x.columns; j++)
        if (!strcmp(data->columns[j].name, name)) return j;
    return -1;
}

static double cell(const margin_data *data, int64_t row, int64_t column) {
    int64_t at = row * data->x.stride + column;
    if (data->x.value_type == MARGIN_F32) return (double)((const float *)data->x.values)[at];
    return ((const double *)data->x.values)[at];
}

/* Lines `column` over the steps; a change of sub-problem breaks the line. */
static void trace_points(cli_text *script, const margin_data *data, int64_t column) {
    int64_t step = column_named(data, "step"), part = column_named(data, "subproblem");
    for (int64_t i = 0; i < data->x.rows; i++) {
        if (isnan(cell(data, i, column))) continue;
        if (i && part >= 0 && cell(data, i, part) != cell(data, i - 1, part))
            text_puts(script, "\n");
        text_number(script, cell(data, i, step));
        text_puts(script, " ");
        text_number(script, cell(data, i, column));
        text_puts(script, "\n");
    }
    text_puts(script, "e\n");
}

/* A few misclassified rows need no fractions on their axis. */
static void count_axis(cli_text *script, const margin_data *data, int64_t column) {
    double most = 0;
    for (int64_t i = 0; column >= 0 && i < data->x.rows; i++)
        most = fmax(most, cell(data, i, column));
    if (column >= 0 && most <= 10) text_puts(script, "set ytics 1\n");
}

static bool has_values(const margin_data *data, int64_t column) {
    for (int64_t i = 0; column >= 0 && i < data->x.rows; i++)
        if (!isnan(cell(data, i, column))) return true;
    return false;
}

/* Misclassified rows on the left axis and the loss on the right, or the one that there is. The
 * range of the loss is its own: what it falls by may be little beside what is left. */
static void trace_script(cli_text *script, const margin_data *data, int64_t errors, int64_t loss) {
    const bool two = errors >= 0 && loss >= 0;
    text_puts(script, "set xlabel 'step'\n");
    if (errors >= 0) {
        text_puts(script, "set ylabel 'misclassified'\nset yrange [0:*]\n");
        count_axis(script, data, errors);
    } else {
        text_puts(script, "set ylabel 'loss'\n");
    }
    if (two) text_puts(script, "set y2label 'loss'\nset y2tics\nset ytics nomirror\n");
    text_puts(script, "plot ");
    if (errors >= 0)
        text_puts(script, "'-' with lines lw 2 lc rgb '#0072B2' title 'misclassified'");
    if (two) text_puts(script, ", ");
    if (loss >= 0)
        text_printf(script, "'-'%s with lines lw 2 lc rgb '#D55E00' title 'loss'",
                    two ? " axes x1y2" : "");
    text_puts(script, "\n");
    if (errors >= 0) trace_points(script, data, errors);
    if (loss >= 0) trace_points(script, data, loss);
}

static int draw_trace(cli_session *session, picture_kind kind, const margin_data *data) {
    int64_t errors = column_named(data, "errors"), loss = column_named(data, "loss");
    if (column_named(data, "step") < 0 || !(has_values(data, errors) || has_values(data, loss))) {
        fprintf(stderr,
                "margin: %s is no trace: it has no columns step, errors and loss; 'margin fit "
                "--trace' writes one\n",
                session->arguments->words[1]);
        return EXIT_BAD_INPUT;
    }
    cli_text script = {0};
    int code = picture_begin(session->arguments, kind, "training, step by step", &script);
    if (code) {
        text_free(&script);
        return code;
    }
    trace_script(&script, data, has_values(data, errors) ? errors : -1,
                 has_values(data, loss) ? loss : -1);
    return picture_finish(session, &script);
}

static int plot_trace(cli_session *session, picture_kind kind) {
    margin_table *table = NULL;
    margin_status status =
        cli_read_table(session, session->arguments->words[1], false, MARGIN_MISSING_KEEP, &table);
    if (status < 0) return cli_failed(session, status);
    margin_data data = margin_table_data(table);
    int code = draw_trace(session, kind, &data);
    margin_table_free(table);
    return code;
}

/* ---- boundary -------------------------------------------------------------------------------- */

typedef struct {
    const margin_model *model;
    const margin_data *data;
    const margin_column *columns;
    int64_t column_count, axis[2];
    double low[2], high[2];
    int64_t width, height;
    double *grid;    /* width * height rows */
    int64_t *labels; /* of the grid */
    int64_t *rows;   /* class of each sample */
} boundary;

/* How much of a column's variance lies between the classes, 0 to 1. */
static double between_classes(const boundary *b, int64_t column, double *sums, double *counts) {
    const int64_t classes = margin_model_class_count(b->model);
    double sum = 0, squares = 0, count = 0, between = 0;
    memset(sums, 0, (size_t)classes * sizeof *sums);
    memset(counts, 0, (size_t)classes * sizeof *counts);
    const double origin = b->data->x.rows > 0 ? cell(b->data, 0, column) : 0;
    for (int64_t i = 0; i < b->data->x.rows; i++) {
        const double value = cell(b->data, i, column) - origin;
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
    b->axis[0] = b->axis[1] = -1;
    for (int64_t j = 0; j < b->column_count; j++) {
        if (b->columns[j].kind != MARGIN_NUMERIC) continue;
        const double share = between_classes(b, j, work, work + classes);
        const int worse = best[0] < best[1] ? 0 : 1;
        if (b->axis[0] >= 0 && b->axis[1] >= 0 && !(share > best[worse])) continue;
        const int place = b->axis[0] < 0 ? 0 : b->axis[1] < 0 ? 1 : worse;
        if (place == 0 && b->axis[1] >= 0) { /* in the order of the table */
            b->axis[0] = b->axis[1];
            best[0] = best[1];
        }
        const int last = b->axis[0] < 0 ? 0 : 1;
        b->axis[last] = j;
        best[last] = share;
    }
    free(work);
    if (b->axis[1] >= 0) return EXIT_DONE;
    fputs("margin: a boundary is drawn over two columns of numbers, and the model has fewer\n",
          stderr);
    return EXIT_BAD_INPUT;
}

static int choose_axes(const cli_arguments *a, boundary *b) {
    if (!a->columns) return best_axes(b);
    const int code = picture_columns(a, b->columns, b->column_count, 2, b->axis);
    for (int k = 0; !code && k < 2; k++)
        if (b->columns[b->axis[k]].kind != MARGIN_NUMERIC) {
            fprintf(stderr,
                    "margin: column %s holds categories: a boundary is drawn over numbers\n",
                    b->columns[b->axis[k]].name);
            return EXIT_BAD_INPUT;
        }
    return code;
}

/* Ranges of the two axes with a little room, and what the other columns are held at: mean or most
 * frequent category. */
static margin_status measure(cli_session *session, const margin_table *table, boundary *b,
                             double *held) {
    int64_t count = b->column_count + 1;
    margin_column_summary *s = calloc((size_t)count, sizeof *s);
    if (!s) return MARGIN_ERROR_MEMORY;
    margin_status status =
        margin_table_summarize(session->context, table, s, count, &session->error);
    for (int64_t j = 0; status >= 0 && j < b->column_count; j++)
        held[j] = s[j].column.kind == MARGIN_CATEGORICAL ? (double)s[j].top : s[j].mean;
    for (int k = 0; status >= 0 && k < 2; k++) {
        double low = s[b->axis[k]].minimum, high = s[b->axis[k]].maximum;
        double room = high > low ? 0.05 * (high - low) : 0.5;
        b->low[k] = low - room;
        b->high[k] = high + room;
    }
    free(s);
    return status;
}

static double grid_value(const boundary *b, int k, int64_t i) {
    int64_t steps = k ? b->height : b->width;
    return b->low[k] + (b->high[k] - b->low[k]) * ((double)i + 0.5) / (double)steps;
}

static void fill_grid(boundary *b, const double *held) {
    for (int64_t i = 0; i < b->width * b->height; i++) {
        double *row = b->grid + i * b->column_count;
        memcpy(row, held, (size_t)b->column_count * sizeof *row);
        row[b->axis[0]] = grid_value(b, 0, i % b->width);
        row[b->axis[1]] = grid_value(b, 1, i / b->width);
    }
}

/* Share of the rows that lie in another region than the model's own answer, which knows all their
 * columns. NaN: there is no memory to find out. */
static double share_elsewhere(cli_session *session, const boundary *b, const double *held) {
    const int64_t rows = b->data->x.rows, columns = b->column_count;
    double *flat = malloc((size_t)(rows * columns + 1) * sizeof *flat);
    int64_t *here = malloc((size_t)(rows + 1) * 2 * sizeof *here), *own = here ? here + rows : NULL;
    double different = (double)NAN;
    for (int64_t i = 0; flat && i < rows; i++) {
        memcpy(flat + i * columns, held, (size_t)columns * sizeof *flat);
        for (int k = 0; k < 2; k++)
            flat[i * columns + b->axis[k]] = cell(b->data, i, b->axis[k]);
    }
    const margin_matrix x = margin_dense_f64(flat, rows, columns, columns);
    if (flat && here && rows > 0 &&
        margin_predict_parallel(session->context, b->model, &x, MARGIN_OUTPUT_LABELS, here,
                                &session->error) >= 0 &&
        margin_predict_parallel(session->context, b->model, &b->data->x, MARGIN_OUTPUT_LABELS, own,
                                &session->error) >= 0) {
        different = 0;
        for (int64_t i = 0; i < rows; i++)
            different += here[i] != own[i];
    }
    free(flat);
    free(here);
    return different / (double)rows;
}

static void sample_points(cli_text *script, const boundary *b, int64_t class) {
    for (int64_t i = 0; i < b->data->x.rows; i++) {
        if (b->rows[i] != class) continue;
        text_number(script, cell(b->data, i, b->axis[0]));
        text_puts(script, " ");
        text_number(script, cell(b->data, i, b->axis[1]));
        text_puts(script, "\n");
    }
    text_puts(script, "e\n");
}

static void grid_image(cli_text *script, const boundary *b) {
    for (int64_t i = 0; i < b->width * b->height; i++) {
        text_number(script, grid_value(b, 0, i % b->width));
        text_puts(script, " ");
        text_number(script, grid_value(b, 1, i / b->width));
        text_printf(script, " %lld\n", (long long)b->labels[i]);
    }
    text_puts(script, "e\n");
}

/* In characters the regions are dots where the class changes. */
static void grid_edges(cli_text *script, const boundary *b) {
    for (int64_t i = 0; i < b->width * b->height; i++) {
        bool edge = (i % b->width + 1 < b->width && b->labels[i] != b->labels[i + 1]) ||
                    (i / b->width + 1 < b->height && b->labels[i] != b->labels[i + b->width]);
        if (!edge) continue;
        text_number(script, grid_value(b, 0, i % b->width));
        text_puts(script, " ");
        text_number(script, grid_value(b, 1, i / b->width));
        text_puts(script, "\n");
    }
    text_puts(script, "e\n");
}

static void axis_setup(cli_text *script, const boundary *b, int k) {
    const char *axis = k ? "y" : "x";
    text_printf(script, "set %slabel ", axis);
    picture_string(script, b->columns[b->axis[k]].name);
    text_printf(script, "\nset %srange [", axis);
    text_number(script, b->low[k]);
    text_puts(script, ":");
    text_number(script, b->high[k]);
    text_puts(script, "]\n");
}

static void boundary_script(cli_text *script, const boundary *b, picture_kind kind) {
    int64_t classes = margin_model_class_count(b->model);
    bool image = kind != PICTURE_TERMINAL;
    axis_setup(script, b, 0);
    axis_setup(script, b, 1);
    if (image) {
        text_puts(script, "unset colorbox\nset palette maxcolors ");
        text_printf(script, "%lld defined (", (long long)classes);
        for (int64_t k = 0; k < classes; k++)
            text_printf(script, "%s%lld '%s'", k ? ", " : "", (long long)k,
                        picture_pale_colours[k % PICTURE_COLOURS]);
        text_printf(script, ")\nset cbrange [0:%lld]\nplot '-' using 1:2:3 with image notitle",
                    (long long)(classes > 1 ? classes - 1 : 1));
    } else {
        text_puts(script, "plot '-' with points pt '.' title 'boundary'");
    }
    for (int64_t k = 0; k < classes; k++) {
        if (image) /* white ring, coloured disc */
            text_puts(script, ", '-' with points pt 7 ps 0.9 lc rgb 'white' notitle");
        text_puts(script, ", '-' with points ");
        if (image)
            text_printf(script, "pt 7 ps 0.7 lc rgb '%s' title ",
                        picture_colours[k % PICTURE_COLOURS]);
        else
            text_printf(script, "pt '%c' title ", (char)('A' + k % 26));
        picture_string(script, margin_model_class_name(b->model, k));
    }
    text_puts(script, "\n");
    if (image)
        grid_image(script, b);
    else
        grid_edges(script, b);
    for (int64_t k = 0; k < classes; k++) {
        if (image) sample_points(script, b, k);
        sample_points(script, b, k);
    }
}

static bool allocate_boundary(boundary *b, picture_kind kind, double **held) {
    b->width = kind == PICTURE_TERMINAL ? 180 : 240;
    b->height = kind == PICTURE_TERMINAL ? 60 : 180;
    size_t cells = (size_t)(b->width * b->height);
    b->grid = malloc(cells * (size_t)b->column_count * sizeof *b->grid);
    b->labels = malloc(cells * sizeof *b->labels);
    b->rows = malloc((size_t)(b->data->x.rows > 0 ? b->data->x.rows : 1) * sizeof *b->rows);
    *held = calloc((size_t)b->column_count, sizeof **held);
    return b->grid && b->labels && b->rows && *held;
}

static int draw_boundary(cli_session *session, picture_kind kind, const margin_table *table,
                         boundary *b) {
    double *held = NULL;
    double elsewhere = 0;
    if (!allocate_boundary(b, kind, &held)) {
        free(held);
        return picture_out_of_memory();
    }
    for (int64_t i = 0; i < b->data->x.rows; i++)
        b->rows[i] = picture_class_of(b->model, b->data, i);
    int code = choose_axes(session->arguments, b);
    if (code) {
        free(held);
        return code;
    }
    margin_status status = measure(session, table, b, held);
    if (status == MARGIN_ERROR_MEMORY && !session->error.text[0]) {
        free(held);
        return picture_out_of_memory();
    }
    if (status >= 0) {
        fill_grid(b, held);
        margin_matrix grid =
            margin_dense_f64(b->grid, b->width * b->height, b->column_count, b->column_count);
        status = margin_predict_parallel(session->context, b->model, &grid, MARGIN_OUTPUT_LABELS,
                                         b->labels, &session->error);
    }
    if (status >= 0 && b->column_count > 2) elsewhere = share_elsewhere(session, b, held);
    free(held);
    if (status < 0) return cli_failed(session, status);
    cli_text script = {0}, title = {0};
    text_puts(&title, margin_model_spec(b->model));
    if (b->column_count > 2)
        text_printf(&title,
                    "; other columns at their means: %.3g %% of the rows lie in a region that is "
                    "not the model's answer for them",
                    100 * elsewhere);
    code = picture_begin(session->arguments, kind, title.data ? title.data : "", &script);
    text_free(&title);
    if (code) {
        text_free(&script);
        return code;
    }
    boundary_script(&script, b, kind);
    return picture_finish(session, &script);
}

static int plot_boundary(cli_session *session, picture_kind kind, const margin_model *model,
                         const margin_table *table) {
    margin_data data = margin_table_data(table);
    boundary b = {.model = model, .data = &data};
    b.columns = margin_model_columns(model, &b.column_count);
    int code;
    if (margin_model_task(model) != MARGIN_CLASSIFY || data.x.row_starts) {
        fputs("margin: boundaries are drawn for classifiers over dense tables\n", stderr);
        return EXIT_BAD_INPUT;
    }
    code = draw_boundary(session, kind, table, &b);
    free(b.grid);
    free(b.labels);
    free(b.rows);
    return code;
}

/* ---- margins --------------------------------------------------------------------------------- */

enum { BINS = 40 };

static void histogram(cli_text *script, const double *values, int64_t count) {
    double low = HUGE_VAL, high = -HUGE_VAL;
    int64_t bins[BINS] = {0};
    for (int64_t i = 0; i < count; i++) {
        if (!isfinite(values[i])) continue;
        low = fmin(low, values[i]);
        high = fmax(high, values[i]);
    }
    double width = high > low ? (high - low) / BINS : 1;
    for (int64_t i = 0; i < count; i++) {
        if (!isfinite(values[i])) continue;
        int64_t bin = (int64_t)((values[i] - low) / width);
        bins[bin < BINS ? bin : BINS - 1]++;
    }
    text_puts(script, "set boxwidth ");
    text_number(script, width);
    text_puts(script, "\nset style fill solid 0.7\nset yrange [0:*]\nset arrow from 0, graph 0 to "
                      "0, graph 1 nohead lc rgb "
                      "'#D55E00' lw 2\nplot '-' with boxes lc rgb '#0072B2' notitle\n");
    for (int k = 0; k < BINS && isfinite(low); k++) {
        text_number(script, low + ((double)k + 0.5) * width);
        text_printf(script, " %lld\n", (long long)bins[k]);
    }
    text_puts(script, "e\n");
}

static int plot_margins(cli_session *session, picture_kind kind, const margin_model *model,
                        const margin_table *table) {
    margin_data data = margin_table_data(table);
    size_t rows = (size_t)(data.x.rows > 0 ? data.x.rows : 1);
    double *functional = malloc(rows * sizeof *functional),
           *geometric = malloc(rows * sizeof *geometric);
    int code;
    if (!functional || !geometric) {
        code = picture_out_of_memory();
    } else {
        margin_status status =
            margin_margins(session->context, model, &data, functional, geometric, &session->error);
        cli_text script = {0};
        bool norm = status >= 0 && data.x.rows > 0 && isfinite(geometric[0]);
        if (status < 0) {
            code = cli_failed(session, status);
        } else if (!(code = picture_begin(session->arguments, kind, margin_model_spec(model),
                                          &script))) {
            text_printf(&script,
                        "set xlabel '%s margin; wrong side left of 0'\nset ylabel 'rows'\n",
                        norm ? "geometric" : "functional");
            histogram(&script, norm ? geometric : functional, data.x.rows);
            code = picture_finish(session, &script);
        }
        text_free(&script);
    }
    free(functional);
    free(geometric);
    return code;
}

/* ---- command --------------------------------------------------------------------------------- */

/* Whether a kind of picture takes a table. */
enum { NO_TABLE, MAY_HAVE_TABLE, NEEDS_TABLE };

typedef struct plot_kind {
    const char *name;
    picture_of_model draw;
    int table;
    bool need_target;
    bool one_target; /* --target has to choose one of several */
} plot_kind;

static const plot_kind kinds[] = {
    {"boundary", plot_boundary, NEEDS_TABLE, false, false},
    {"clusters", plot_clusters, NEEDS_TABLE, false, false},
    {"coefficients", plot_coefficients, MAY_HAVE_TABLE, true, false},
    {"fit", plot_fit, NEEDS_TABLE, true, true},
    {"margins", plot_margins, NEEDS_TABLE, true, false},
    {"reliability", plot_reliability, NEEDS_TABLE, true, false},
    {"residuals", plot_residuals, NEEDS_TABLE, true, true},
    {"roc", plot_roc, NEEDS_TABLE, true, false},
};

const char cli_plot_kinds[] =
    "trace kdtree elbow boundary clusters coefficients fit margins reliability residuals roc";

static int plot_model(cli_session *session, picture_kind kind, const plot_kind *plot) {
    margin_model *model = NULL;
    margin_table *table = NULL;
    const cli_arguments *a = session->arguments;
    const bool with_table = a->word_count > 2;
    if (!with_table && plot->table == NEEDS_TABLE)
        return cli_usage_error(cli_find_command("plot"), "margin plot %s needs a model and a table",
                               a->words[0]);
    margin_status status = cli_load_model(session, a->words[1], &model);
    if (status >= 0) {
        const int code = cli_choose_target(session, model, "plot", plot->one_target);
        if (code) {
            margin_model_free(model);
            return code;
        }
    }
    if (status >= 0 && with_table)
        status =
            cli_read_for_model(session, model, a->words[2],
                               plot->need_target ? CLI_NEEDS_TARGET : CLI_MAY_HAVE_TARGET, &table);
    int code = status < 0 ? cli_failed(session, status) : plot->draw(session, kind, model, table);
    margin_table_free(table);
    margin_model_free(model);
    return code;
}

static int plot(cli_session *session, picture_kind kind) {
    const cli_arguments *a = session->arguments;
    const char *what = a->words[0];
    const bool one_file = !strcmp(what, "trace") || !strcmp(what, "kdtree");
    if (one_file && a->word_count > 2)
        return cli_usage_error(cli_find_command("plot"), "'%s' is one word too many", a->words[2]);
    if (a->seed != 0 && strcmp(what, "elbow") != 0)
        return cli_usage_error(cli_find_command("plot"),
                               "--seed is for 'margin plot elbow', which trains; margin plot %s "
                               "draws what there is",
                               what);
    if (!strcmp(what, "elbow")) return plot_elbow(session, kind);
    if (one_file) return what[0] == 't' ? plot_trace(session, kind) : plot_kdtree(session, kind);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (!strcmp(what, kinds[k].name)) return plot_model(session, kind, &kinds[k]);
    return cli_usage_error(cli_find_command("plot"), "there is no picture '%s': choose one of %s",
                           what, cli_plot_kinds);
}

int run_plot(const cli_arguments *arguments) {
    cli_session session;
    picture_kind kind;
    int code = picture_choose(arguments, &kind);
    if (!code) code = cli_session_open(&session, arguments);
    if (code) return code;
    code = plot(&session, kind);
    cli_session_close(&session);
    return code;
}
