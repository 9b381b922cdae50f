/* plot roc, plot reliability: what scores and probabilities are worth. */
#include "cli_gnuplot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t picture_class_of(const margin_model *model, const margin_data *data, int64_t row) {
    if (!data->y.values) return -1;
    double value = ((const double *)data->y.values)[row];
    char number[MARGIN_NUMBER_TEXT];
    const char *name = number;
    if (isnan(value)) return -1;
    if (data->target && data->target->kind == MARGIN_CATEGORICAL)
        name = data->target->categories[(int64_t)value];
    else
        margin_number_print_f64(value, number);
    for (int64_t k = 0; k < margin_model_class_count(model); k++)
        if (!strcmp(name, margin_model_class_name(model, k))) return k;
    return -1;
}

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
static double curve_points(cli_text *points, scored_row *rows, int64_t count) {
    const double finest = 1.0 / 1000;
    double total[2] = {0, 0}, seen[2] = {0, 0}, drawn[2] = {0, 0}, area = 0;
    for (int64_t i = 0; i < count; i++)
        total[rows[i].positive] += rows[i].weight;
    if (!(total[0] > 0) || !(total[1] > 0)) return (double)NAN;
    qsort(rows, (size_t)count, sizeof *rows, by_score);
    picture_point(points, 0, 0);
    for (int64_t i = 0; i < count;) {
        const double before[2] = {seen[0], seen[1]}, score = rows[i].score;
        for (; i < count && rows[i].score == score; i++)
            seen[rows[i].positive] += rows[i].weight;
        area += (seen[0] - before[0]) / total[0] * (seen[1] + before[1]) / 2 / total[1];
        const bool far = (seen[0] - drawn[0]) / total[0] + (seen[1] - drawn[1]) / total[1] > finest;
        if (!far && i < count) continue;
        picture_point(points, seen[0] / total[0], seen[1] / total[1]);
        drawn[0] = seen[0];
        drawn[1] = seen[1];
    }
    text_puts(points, "e\n");
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

static void curve_title(cli_text *script, const margin_model *model, int64_t class, double area) {
    cli_text title = {0};
    text_name(&title, margin_model_class_name(model, class), 0, 24);
    text_printf(&title, ", area %.4f", area);
    picture_string(script, title.data ? title.data : "");
    text_free(&title);
}

static int roc_script(const answer_list *list, picture_kind kind, cli_text *script) {
    const bool image = kind != PICTURE_TERMINAL;
    scored_row *rows = malloc((size_t)(list->rows > 0 ? list->rows : 1) * sizeof *rows);
    cli_text points = {0};
    if (!rows) return picture_out_of_memory();
    int64_t drawn = 0;
    picture_axes(script, kind);
    text_puts(script, "set xlabel 'false-positive rate'\nset ylabel 'true-positive rate'\n"
                      "set xrange [0:1]\nset yrange [0:1.01]\n");
    if (image) text_puts(script, "set size square\nset key inside right bottom vertical\n");
    text_puts(script,
              image ? "plot x lc rgb '#999999' dt 2 lw 1 notitle" : "plot x with dots notitle");
    for (int64_t k = 0; k < curve_count(list); k++) {
        const int64_t class = margin_model_class_count(list->model) == 2 ? 1 : k;
        take_scores(list, k, rows);
        const double area = curve_points(&points, rows, list->rows);
        if (isnan(area)) continue;
        text_puts(script, ", '-' with lines ");
        if (image) text_printf(script, "lw 2 lc rgb '%s' ", picture_colours[k % PICTURE_COLOURS]);
        text_puts(script, "title ");
        curve_title(script, list->model, class, area);
        drawn++;
    }
    text_puts(script, "\n");
    if (points.data) text_add(script, points.data, points.length);
    script->failed = script->failed || points.failed;
    text_free(&points);
    free(rows);
    if (drawn) return EXIT_DONE;
    fputs("margin: the data hold one class only: there is nothing to tell it from\n", stderr);
    return EXIT_BAD_INPUT;
}

static bool is_classifier(const margin_model *model, const char *what) {
    if (margin_model_task(model) == MARGIN_CLASSIFY) return true;
    fprintf(stderr, "margin: a picture of %s is for classifiers\n", what);
    return false;
}

int plot_roc(cli_session *session, picture_kind kind, const margin_model *model,
             const margin_table *table) {
    const margin_data data = margin_table_data(table);
    const int64_t classes = margin_model_class_count(model);
    answer_list list;
    cli_text script = {0};
    if (!is_classifier(model, "roc")) return EXIT_BAD_INPUT;
    if (classes > 2 && margin_model_score_count(model) != classes) {
        fputs("margin: the model scores pairs of classes (multiclass=ovo), not classes; train with "
              "multiclass=ovr\n",
              stderr);
        return EXIT_BAD_INPUT;
    }
    /* probabilities of three classes and more, as one class's score says little by itself */
    const bool probabilities = classes > 2 && margin_model_has_probabilities(model);
    int code = take_answers(session, model, &data, probabilities, &list);
    cli_text title = {0};
    text_puts(&title, margin_model_spec(model));
    if (classes > PICTURE_COLOURS)
        text_printf(&title, ": the first %d of %lld classes", (int)PICTURE_COLOURS,
                    (long long)classes);
    if (!code)
        code = picture_begin(session->arguments, kind, title.data ? title.data : "", &script);
    text_free(&title);
    if (!code) code = roc_script(&list, kind, &script);
    if (!code) code = picture_finish(session, &script);
    text_free(&script);
    free_answers(&list);
    return code;
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
        r->brier += weight * (p[class] - happened) * (p[class] - happened);
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

static void reliability_points(cli_text *script, const reliability *r) {
    for (int b = 0; b < BINS; b++) {
        double low, high;
        if (!(r->weight[b] > 0)) continue;
        const double share = r->happened[b] / r->weight[b];
        wilson(share, r->weight[b], &low, &high);
        text_number(script, r->said[b] / r->weight[b]);
        text_puts(script, " ");
        text_number(script, share);
        text_puts(script, " ");
        text_number(script, low);
        text_puts(script, " ");
        text_number(script, high);
        text_puts(script, "\n");
    }
    text_puts(script, "e\n");
}

static void count_points(cli_text *script, const reliability *r) {
    for (int b = 0; b < BINS; b++)
        picture_point(script, ((double)b + 0.5) / BINS, r->weight[b]);
    text_puts(script, "e\n");
}

static void reliability_script(const answer_list *list, const cli_arguments *arguments,
                               picture_kind kind, const reliability *r, cli_text *script) {
    const bool image = kind != PICTURE_TERMINAL;
    const char *title = arguments->title ? arguments->title : margin_model_spec(list->model);
    cli_text said = {0};
    if (list->width == 2) {
        text_puts(&said, "probability of ");
        text_name(&said, margin_model_class_name(list->model, 1), 0, 24);
    } else {
        text_puts(&said, "probability of the most probable class");
    }
    picture_axes(script, kind);
    if (image)
        text_puts(script, "unset title\nset multiplot title ");
    else
        text_puts(script, "set title ");
    picture_string(script, title);
    text_printf(script,
                " . \"\\n\" . 'calibration error %.3g, Brier score %.3g'\nset xrange [0:1]\n",
                r->error / r->total, r->brier / r->total);
    if (image)
        text_puts(script, "set lmargin at screen 0.12\nset rmargin at screen 0.97\nset tmargin at "
                          "screen 0.88\nset bmargin at screen 0.37\nset format x ''\n");
    if (image) text_puts(script, "set key inside left top vertical Left reverse\n");
    text_puts(script, "set yrange [0:1.02]\nset ylabel 'how often it was so'\n");
    if (!image) {
        text_puts(script, "set xlabel ");
        picture_string(script, said.data ? said.data : "");
        text_puts(script, "\n");
    }
    if (image)
        text_puts(script, "plot x lc rgb '#999999' dt 2 lw 1 title 'as said', '-' using 1:2:3:4 "
                          "with yerrorlines lw 2 pt 7 ps 1 lc rgb '#0072B2' title ");
    else
        text_puts(script, "plot x with dots notitle, '-' using 1:2:3:4 with yerrorbars pt 'o' "
                          "title ");
    picture_string(script, "by tenths, with 95 % intervals");
    text_puts(script, "\n");
    reliability_points(script, r);
    if (image) {
        text_puts(script, "set tmargin at screen 0.32\nset bmargin at screen 0.12\nset format x\n"
                          "set yrange [0:*]\nset ytics autofreq\nset ylabel 'rows'\nset boxwidth "
                          "0.09\nset style fill solid 0.7\nset xlabel ");
        picture_string(script, said.data ? said.data : "");
        text_puts(script, "\nplot '-' with boxes lc rgb '#0072B2' notitle\n");
        count_points(script, r);
        text_puts(script, "unset multiplot\n");
    }
    text_free(&said);
}

int plot_reliability(cli_session *session, picture_kind kind, const margin_model *model,
                     const margin_table *table) {
    const margin_data data = margin_table_data(table);
    answer_list list;
    reliability r;
    cli_text script = {0};
    if (!is_classifier(model, "reliability")) return EXIT_BAD_INPUT;
    if (!margin_model_has_probabilities(model)) {
        fputs("margin: the model has no probabilities, only scores; logistic has\n", stderr);
        return EXIT_BAD_INPUT;
    }
    int code = take_answers(session, model, &data, true, &list);
    if (!code && list.rows == 0) {
        fputs("margin: no row has a class that the model knows\n", stderr);
        code = EXIT_BAD_INPUT;
    }
    if (!code) code = picture_begin(session->arguments, kind, "", &script);
    if (!code) {
        count_bins(&list, &r);
        reliability_script(&list, session->arguments, kind, &r, &script);
        code = picture_finish(session, &script);
    }
    text_free(&script);
    free_answers(&list);
    return code;
}
