/* plot roc, plot reliability, plot margins: what scores and probabilities are worth. */
#include "cli_gnuplot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Answers --------------------------------------------------------------------------------- */

/* Scores or probabilities of the rows that have a known class and a weight. */
typedef struct {
    const margin_model *model;
    int64_t rows, width; /* numbers of a row */
    double *answers;     /* rows x width */
    double *weights;
    int64_t *classes;
} answer_list;

static void free_answers(answer_list *list) {
    free(list->answers);
    free(list->weights);
    free(list->classes);
}

static int take_answers(cli_session *session, const margin_model *model, const margin_data *data,
                        bool probabilities, answer_list *list) {
    const int64_t width =
        probabilities ? margin_model_class_count(model) : margin_model_score_count(model);
    const size_t rows = (size_t)(data->x.rows > 0 ? data->x.rows : 1);
    const double *weights = data->weights.values;
    *list = (answer_list){.model = model, .width = width};
    if (rows > SIZE_MAX / 16 / (size_t)width) return picture_out_of_memory();
    list->answers = malloc(rows * (size_t)width * sizeof *list->answers);
    list->weights = malloc(rows * sizeof *list->weights);
    list->classes = malloc(rows * sizeof *list->classes);
    if (!list->answers || !list->weights || !list->classes) return picture_out_of_memory();
    const margin_status status =
        margin_predict_parallel(session->context, model, &data->x,
                                probabilities ? MARGIN_OUTPUT_PROBABILITIES : MARGIN_OUTPUT_SCORES,
                                list->answers, &session->error);
    if (status < 0) return cli_failed(session, status);
    for (int64_t i = 0; i < data->x.rows; i++) {
        const int64_t class = picture_class_of(model, data, i), to = list->rows;
        const double weight = weights ? weights[i] : 1;
        if (class < 0 || !(weight > 0) || isnan(list->answers[i * width])) continue;
        memmove(list->answers + to * width, list->answers + i * width,
                (size_t)width * sizeof *list->answers);
        list->weights[to] = weight;
        list->classes[to] = class;
        list->rows++;
    }
    return EXIT_DONE;
}

/* ---- roc ------------------------------------------------------------------------------------- */

typedef struct {
    double score, weight;
    bool positive;
} scored_row;

static int by_score(const void *a, const void *b) {
    const scored_row *x = a, *y = b;
    return (x->score < y->score) - (x->score > y->score); /* the highest first */
}

/* The curve of one class against the others: rows with the same score are one step. Returns the
 * area, NaN if one of the two sides is empty. Few enough points for a picture. */
static double put_curve(picture *p, scored_row *rows, int64_t count) {
    const double finest = 1.0 / 1000;
    double total[2] = {0, 0}, seen[2] = {0, 0}, drawn[2] = {0, 0}, area = 0;
    for (int64_t i = 0; i < count; i++)
        total[rows[i].positive] += rows[i].weight;
    if (!(total[0] > 0) || !(total[1] > 0)) return (double)NAN;
    qsort(rows, (size_t)count, sizeof *rows, by_score);
    picture_numbers(p, 2, 0.0, 0.0);
    for (int64_t i = 0; i < count;) {
        const double before[2] = {seen[0], seen[1]}, score = rows[i].score;
        for (; i < count && rows[i].score == score; i++)
            seen[rows[i].positive] += rows[i].weight;
        area += (seen[0] - before[0]) / total[0] * (seen[1] + before[1]) / 2 / total[1];
        const bool far = (seen[0] - drawn[0]) / total[0] + (seen[1] - drawn[1]) / total[1] > finest;
        if (!far && i < count) continue;
        picture_numbers(p, 2, seen[0] / total[0], seen[1] / total[1]);
        drawn[0] = seen[0];
        drawn[1] = seen[1];
    }
    picture_end(p);
    return area;
}

/* Two classes: one curve, of the second class. More: one for each class. */
static int64_t curve_count(const answer_list *list) {
    const int64_t classes = margin_model_class_count(list->model);
    return classes == 2 ? 1 : classes < PICTURE_COLOURS ? classes : PICTURE_COLOURS;
}

static void take_scores(const answer_list *list, int64_t curve, scored_row *rows) {
    const bool two = margin_model_class_count(list->model) == 2;
    const int64_t class = two ? 1 : curve;
    for (int64_t i = 0; i < list->rows; i++) {
        const double *answer = list->answers + i * list->width;
        double score = list->width == 1 ? answer[0] : answer[class];
        if (two && list->width == 2) score = answer[1] - answer[0];
        rows[i] = (scored_row){score, list->weights[i], list->classes[i] == class};
    }
}

typedef double put_class(picture *p, scored_row *rows, int64_t count);

static int put_curves(picture *p, const answer_list *list, put_class *put, const char *name) {
    scored_row *rows = malloc((size_t)(list->rows > 0 ? list->rows : 1) * sizeof *rows);
    int64_t drawn = 0;
    if (!rows) return picture_out_of_memory();
    for (int64_t k = 0; k < curve_count(list); k++) {
        const int64_t class = margin_model_class_count(list->model) == 2 ? 1 : k;
        cli_text title = {0};
        take_scores(list, k, rows);
        const double area = put(p, rows, list->rows);
        if (isnan(area)) continue;
        text_name(&title, margin_model_class_name(list->model, class), 0, 24);
        text_printf(&title, ", %s %.4f", name, area);
        if (p->image)
            picture_curve(p, title.data ? title.data : "", "with lines lw 2 lc rgb '%s'",
                          picture_colour(k));
        else
            picture_curve(p, title.data ? title.data : "", "with lines");
        text_free(&title);
        drawn++;
    }
    free(rows);
    if (drawn) return EXIT_DONE;
    fputs("margin: the data hold one class only: there is nothing to tell it from\n", stderr);
    return EXIT_BAD_INPUT;
}

static int roc_script(picture *p, const answer_list *list) {
    picture_axes(p);
    picture_set(p, "set xlabel 'false-positive rate'\nset ylabel 'true-positive rate'\n"
                   "set xrange [0:1]\nset yrange [0:1.01]\n");
    picture_set_image(p, "set size square\nset key inside right bottom vertical\n");
    picture_function(p, p->image ? "x lc rgb '#999999' dt 2 lw 1 notitle" : "x with dots notitle");
    const int code = put_curves(p, list, put_curve, "area");
    picture_plot(p);
    return code;
}

static bool is_classifier(const margin_model *model, const char *what) {
    if (margin_model_task(model) == MARGIN_CLASSIFY) return true;
    fprintf(stderr, "margin: a picture of %s is for classifiers\n", what);
    return false;
}

static int plot_ranking(picture *p, const margin_model *model, const margin_table *table,
                        int script(picture *p, const answer_list *list)) {
    const margin_data data = margin_table_data(table);
    const int64_t classes = margin_model_class_count(model);
    answer_list list;
    if (!is_classifier(model, p->session->arguments->words[0])) return EXIT_BAD_INPUT;
    /* probabilities of three classes and more, as one class's score says little by itself */
    const bool probabilities = classes > 2 && margin_model_has_probabilities(model);
    if (cli_scores_pairs(model) && !probabilities) {
        fputs("margin: the model scores pairs of classes (multiclass=ovo), not classes; train with "
              "multiclass=ovr, or with --calibrate sigmoid\n",
              stderr);
        return EXIT_BAD_INPUT;
    }
    int code = take_answers(p->session, model, &data, probabilities, &list);
    if (classes > PICTURE_COLOURS)
        picture_begin(p, "%s: the first %d of %lld classes", margin_model_spec(model),
                      (int)PICTURE_COLOURS, (long long)classes);
    else
        picture_begin(p, "%s", margin_model_spec(model));
    if (!code) code = script(p, &list);
    if (!code) code = picture_finish(p);
    free_answers(&list);
    return code;
}

int plot_roc(picture *p, const margin_model *model, const margin_table *table) {
    return plot_ranking(p, model, table, roc_script);
}

/* ---- precision ------------------------------------------------------------------------------- */

/* Precision over recall of one class; rows with the same score are one step. Returns the average
 * precision, NaN if the class does not occur. */
static double put_precision(picture *p, scored_row *rows, int64_t count) {
    const double finest = 1.0 / 1000;
    double total = 0, seen[2] = {0, 0}, drawn = 0, area = 0;
    for (int64_t i = 0; i < count; i++)
        total += rows[i].positive ? rows[i].weight : 0;
    if (!(total > 0)) return (double)NAN;
    qsort(rows, (size_t)count, sizeof *rows, by_score);
    for (int64_t i = 0; i < count;) {
        const double before = seen[1], score = rows[i].score;
        for (; i < count && rows[i].score == score; i++)
            seen[rows[i].positive] += rows[i].weight;
        const double precision = seen[1] / (seen[0] + seen[1]);
        area += (seen[1] - before) / total * precision;
        if ((seen[1] - drawn) / total <= finest && i < count && drawn > 0) continue;
        picture_numbers(p, 2, seen[1] / total, precision);
        drawn = seen[1];
    }
    picture_end(p);
    return area;
}

static int precision_script(picture *p, const answer_list *list) {
    picture_axes(p);
    picture_set(p, "set xlabel 'recall'\nset ylabel 'precision'\nset xrange [0:1]\n"
                   "set yrange [0:1.01]\n");
    picture_set_image(p, "set size square\nset key inside left bottom vertical\n");
    const int code = put_curves(p, list, put_precision, "average precision");
    picture_plot(p);
    return code;
}

int plot_precision(picture *p, const margin_model *model, const margin_table *table) {
    return plot_ranking(p, model, table, precision_script);
}

/* ---- confusion ------------------------------------------------------------------------------- */

static void class_tics(picture *p, const margin_model *model, char axis) {
    const int64_t classes = margin_model_class_count(model);
    text_printf(&p->script, "set %ctics (", axis);
    for (int64_t c = 0; c < classes; c++) {
        cli_text name = {0};
        text_name(&name, margin_model_class_name(model, c), 0, 16);
        if (c) picture_set(p, ", ");
        picture_string(&p->script, name.data ? name.data : "");
        text_printf(&p->script, " %lld", (long long)c);
        text_free(&name);
    }
    picture_set(p, ")\n");
}

/* Shares of each true class as colours, the counts as numbers. */
static void confusion_script(picture *p, const margin_model *model, const margin_metrics *m) {
    const int64_t classes = m->classes;
    picture_set(p, "set xlabel 'predicted'\nset ylabel 'true'\n");
    class_tics(p, model, 'x');
    class_tics(p, model, 'y');
    text_printf(&p->script, "set xrange [-0.5:%lld.5]\nset yrange [%lld.5:-0.5]\n",
                (long long)classes - 1, (long long)classes - 1);
    picture_set_image(p, "set palette defined (0 '#ffffff', 1 '#0072B2')\nset cbrange [0:1]\n"
                         "set cblabel 'share of the true class'\nset size square\n");
    for (int labels = p->image ? 0 : 1; labels < 2; labels++) {
        picture_curve(p, NULL, "%s",
                      labels ? "using 1:2:(sprintf('%g', $4)) with labels"
                             : "using 1:2:3 with image");
        for (int64_t c = 0; c < classes; c++) {
            double rows = 0;
            for (int64_t k = 0; k < classes; k++)
                rows += m->confusion[c * classes + k];
            for (int64_t k = 0; k < classes; k++) {
                const double count = m->confusion[c * classes + k];
                picture_numbers(p, 4, (double)k, (double)c, rows > 0 ? count / rows : 0.0, count);
            }
        }
        picture_end(p);
    }
    picture_plot(p);
}

int plot_confusion(picture *p, const margin_model *model, const margin_table *table) {
    enum { MOST = 40 };
    const margin_data data = margin_table_data(table);
    margin_metrics found = {.size = sizeof found};
    if (!is_classifier(model, "confusion")) return EXIT_BAD_INPUT;
    if (margin_model_class_count(model) > MOST) {
        fprintf(stderr,
                "margin: a picture has room for %d classes; margin evaluate --json has all\n",
                (int)MOST);
        return EXIT_BAD_INPUT;
    }
    const margin_status status =
        margin_evaluate(p->session->context, model, &data, &found, &p->session->error);
    if (status < 0) return cli_failed(p->session, status);
    picture_begin(p, "%s", margin_model_spec(model));
    confusion_script(p, model, &found);
    margin_metrics_free(&found);
    return picture_finish(p);
}

/* ---- reliability ----------------------------------------------------------------------------- */

enum { BINS = 10 };

typedef struct {
    double weight[BINS], said[BINS], happened[BINS]; /* sums */
    double total, brier, error;                      /* error: mean |said - happened| by bins */
} reliability;

/* What was said, and whether it happened: of two classes the second one, of more the most probable.
 */
static void count_bins(const answer_list *list, reliability *r) {
    const bool two = list->width == 2;
    memset(r, 0, sizeof *r);
    for (int64_t i = 0; i < list->rows; i++) {
        const double *p = list->answers + i * list->width, weight = list->weights[i];
        int64_t class = 1;
        for (int64_t k = 0; !two && k < list->width; k++)
            if (k == 0 || p[k] > p[class]) class = k;
        const double happened = list->classes[i] == class ? 1 : 0;
        const int bin = p[class] < 1 ? (int)(p[class] * BINS) : BINS - 1;
        r->weight[bin] += weight;
        r->said[bin] += weight * p[class];
        r->happened[bin] += weight * happened;
        r->total += weight;
        for (int64_t k = two ? 1 : 0; k < list->width; k++)
            r->brier += weight * pow(p[k] - (list->classes[i] == k), 2);
    }
    for (int b = 0; b < BINS; b++)
        r->error += fabs(r->said[b] - r->happened[b]);
}

/* Wilson's 95 % interval of a share ("Probable inference, the law of succession, and statistical
 * inference", 1927). */
static void wilson(double share, double count, double *low, double *high) {
    const double z = 1.959963984540054, square = z * z / count;
    const double middle = (share + square / 2) / (1 + square);
    const double half = z * sqrt(share * (1 - share) / count + square / count / 4) / (1 + square);
    *low = fmax(middle - half, 0);
    *high = fmin(middle + half, 1);
}

static void put_shares(picture *p, const reliability *r) {
    picture_curve(p, "by tenths, with 95 % intervals", "using 1:2:3:4 %s",
                  p->image ? "with yerrorlines lw 2 pt 7 ps 1 lc rgb '#0072B2'"
                           : "with yerrorbars pt 'o'");
    for (int b = 0; b < BINS; b++) {
        double low, high;
        if (!(r->weight[b] > 0)) continue;
        const double share = r->happened[b] / r->weight[b];
        wilson(share, r->weight[b], &low, &high);
        picture_numbers(p, 4, r->said[b] / r->weight[b], share, low, high);
    }
    picture_end(p);
}

/* How many rows there are in each bin, below. */
static void plot_counts(picture *p, const reliability *r, const char *said) {
    picture_set(p, "set tmargin at screen 0.32\nset bmargin at screen 0.12\nset format x\n"
                   "set yrange [0:*]\nset ytics autofreq\nset ylabel 'rows'\nset boxwidth 0.09\n"
                   "set style fill solid 0.7\n");
    picture_label(p, 'x', said);
    picture_curve(p, NULL, "with boxes lc rgb '#0072B2'");
    for (int b = 0; b < BINS; b++)
        picture_numbers(p, 2, ((double)b + 0.5) / BINS, r->weight[b]);
    picture_end(p);
    picture_plot(p);
    picture_set(p, "unset multiplot\n");
}

static void reliability_script(picture *p, const answer_list *list, const reliability *r) {
    const char *title = p->session->arguments->title;
    cli_text said = {0};
    text_puts(&said,
              list->width == 2 ? "probability of " : "probability of the most probable class");
    if (list->width == 2) text_name(&said, margin_model_class_name(list->model, 1), 0, 24);
    const char *label = said.data ? said.data : "";
    picture_axes(p);
    picture_set(p, p->image ? "unset title\nset multiplot title " : "set title ");
    picture_string(&p->script, title ? title : margin_model_spec(list->model));
    text_printf(&p->script,
                " . \"\\n\" . 'calibration error %.3g, Brier score %.3g'\nset xrange [0:1]\n",
                r->error / r->total, r->brier / r->total);
    picture_set_image(p, "set lmargin at screen 0.12\nset rmargin at screen 0.97\n"
                         "set tmargin at screen 0.88\nset bmargin at screen 0.37\nset format x ''\n"
                         "set key inside left top vertical Left reverse\n");
    picture_set(p, "set yrange [0:1.02]\nset ylabel 'how often it was so'\n");
    if (!p->image) picture_label(p, 'x', label);
    picture_function(p, p->image ? "x lc rgb '#999999' dt 2 lw 1 title 'as said'"
                                 : "x with dots notitle");
    put_shares(p, r);
    picture_plot(p);
    if (p->image) plot_counts(p, r, label);
    text_free(&said);
}

int plot_reliability(picture *p, const margin_model *model, const margin_table *table) {
    const margin_data data = margin_table_data(table);
    answer_list list;
    reliability r;
    if (!is_classifier(model, "reliability")) return EXIT_BAD_INPUT;
    if (!margin_model_has_probabilities(model)) {
        fputs("margin: the model has no probabilities, only scores: fit it with --calibrate "
              "sigmoid\n",
              stderr);
        return EXIT_BAD_INPUT;
    }
    int code = take_answers(p->session, model, &data, true, &list);
    if (!code && list.rows == 0) {
        fputs("margin: no row has a class that the model knows\n", stderr);
        code = EXIT_BAD_INPUT;
    }
    if (!code) {
        count_bins(&list, &r);
        picture_begin(p, " ");
        reliability_script(p, &list, &r);
        code = picture_finish(p);
    }
    free_answers(&list);
    return code;
}

/* ---- margins --------------------------------------------------------------------------------- */

static void histogram(picture *p, const double *values, int64_t count) {
    enum { BARS = 40 };
    const margin_matrix x = margin_dense_f64(values, count, 1, 1);
    double low, high;
    int64_t bars[BARS] = {0}, known = 0;
    picture_column_range(&x, 0, &low, &high);
    const double width = high > low ? (high - low) / BARS : 1;
    for (int64_t i = 0; i < count; i++) {
        if (!isfinite(values[i])) continue;
        const int64_t bar = (int64_t)((values[i] - low) / width);
        bars[bar < BARS ? bar : BARS - 1]++;
        known++;
    }
    picture_set(p, "set boxwidth ");
    text_number(&p->script, width);
    picture_set(p, "\nset style fill solid 0.7\nset yrange [0:*]\nset arrow from 0, graph 0 to 0, "
                   "graph 1 nohead lc rgb '#D55E00' lw 2\n");
    picture_curve(p, NULL, "with boxes lc rgb '#0072B2'");
    for (int k = 0; known && k < BARS; k++)
        picture_numbers(p, 2, low + ((double)k + 0.5) * width, (double)bars[k]);
    picture_end(p);
    picture_plot(p);
}

int plot_margins(picture *p, const margin_model *model, const margin_table *table) {
    const margin_data data = margin_table_data(table);
    const size_t rows = (size_t)(data.x.rows > 0 ? data.x.rows : 1);
    double *functional = malloc(2 * rows * sizeof *functional);
    if (!functional) return picture_out_of_memory();
    double *geometric = functional + rows;
    int code;
    const margin_status status = margin_margins(p->session->context, model, &data, functional,
                                                geometric, &p->session->error);
    if (status < 0) {
        code = cli_failed(p->session, status);
    } else {
        const bool norm = data.x.rows > 0 && isfinite(geometric[0]);
        picture_begin(p, "%s", margin_model_spec(model));
        text_printf(&p->script, "set xlabel '%s margin; wrong side left of 0'\nset ylabel 'rows'\n",
                    norm ? "geometric" : "functional");
        histogram(p, norm ? geometric : functional, data.x.rows);
        code = picture_finish(p);
    }
    free(functional);
    return code;
}
