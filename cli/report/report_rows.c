/* What a report says of a table: its columns, and what the model does on its rows. */
#include "cli_gnuplot.h"
#include "report_page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_POINTS = 400, MOST_COLUMNS = 200, WORST = 10, SHOWN_COLUMNS = 6, BINS = 10 };

/* ---- Columns --------------------------------------------------------------------------------- */

static void put_column(cli_text *page, const margin_column_summary *s, bool target) {
    text_puts(page, "<tr>");
    html_cell(page, s->column.name);
    html_cell(page, target ? "target" : "");
    html_cell(page, s->type);
    html_cell_number(page, (double)s->missing);
    if (s->column.kind == MARGIN_CATEGORICAL) {
        html_cell_number(page, (double)s->column.category_count);
        text_puts(page, "<td colspan=\"3\">");
        if (s->top >= 0) {
            text_puts(page, "most often ");
            html_text(page, s->column.categories[s->top]);
            text_printf(page, ", %lld times", (long long)s->top_count);
        }
        text_puts(page, "</td>");
    } else {
        html_cell_number(page, s->distinct < 0 ? (double)NAN : (double)s->distinct);
        html_cell_number(page, s->minimum);
        html_cell_number(page, s->mean);
        html_cell_number(page, s->maximum);
    }
    text_puts(page, "</tr>\n");
}

int report_columns(cli_session *session, cli_text *page, const margin_table *table) {
    const margin_data data = margin_table_data(table);
    const int64_t targets = data.targets > 1 ? data.targets : data.target != NULL;
    const int64_t count = data.x.columns + targets;
    html_section(page, "The data");
    text_puts(page, "<p>");
    html_text(page, cli_table_details(table).name);
    text_printf(page, ": %lld rows, %lld columns%s.</p>\n", (long long)data.x.rows,
                (long long)data.x.columns, targets ? " and the target" : "");
    if (!data.columns) return EXIT_DONE;
    margin_column_summary *list = malloc((size_t)count * sizeof *list);
    if (!list) return picture_out_of_memory();
    const margin_status status =
        margin_table_summarize(session->context, table, list, count, &session->error);
    if (status >= 0) {
        html_table(page, "column||kind|missing|different|least|mean|greatest");
        for (int64_t j = 0; j < count; j++)
            if (j < MOST_COLUMNS || j >= data.x.columns)
                put_column(page, &list[j], j >= data.x.columns);
        html_table_end(page);
        if (data.x.columns > MOST_COLUMNS)
            text_printf(page, "<p class=\"pale\">The first %d columns.</p>\n", (int)MOST_COLUMNS);
    }
    free(list);
    return status < 0 && status != MARGIN_ERROR_LIMIT ? cli_failed(session, status) : EXIT_DONE;
}

/* ---- Metrics --------------------------------------------------------------------------------- */

static void put_metrics(cli_text *page, const margin_metrics *m) {
    const margin_metric *metric;
    html_table(page, "metric|value|what it is");
    for (int64_t k = 0; (metric = margin_metric_at(k)); k++) {
        const double value = margin_metrics_value(m, metric->name);
        const bool variety = strstr(metric->name, "_macro") || strstr(metric->name, "_micro") ||
                             strstr(metric->name, "_weighted");
        if (isnan(value) || variety) continue;
        text_puts(page, "<tr>");
        html_cell(page, metric->name);
        html_cell_number(page, value);
        text_puts(page, "<td style=\"white-space:normal\">");
        html_text(page, metric->help);
        text_puts(page, "</td></tr>\n");
    }
    html_table_end(page);
}

static void put_confusion(cli_text *page, const margin_model *model, const margin_metrics *m) {
    enum { MOST_CLASSES = 30 };
    const int64_t classes = margin_model_class_count(model);
    if (!m->confusion || classes > MOST_CLASSES || m->classes != classes) return;
    html_say(page, "Rows are the true classes, columns what was predicted:");
    text_puts(page, "<div class=\"wide\"><table>\n<tr><th></th>");
    for (int64_t c = 0; c < classes; c++) {
        text_puts(page, "<th>");
        html_text(page, margin_model_class_name(model, c));
        text_puts(page, "</th>");
    }
    for (int64_t c = 0; c < classes; c++) {
        text_puts(page, "</tr>\n<tr><th>");
        html_text(page, margin_model_class_name(model, c));
        text_puts(page, "</th>");
        for (int64_t k = 0; k < classes; k++)
            html_cell_number(page, m->confusion[c * classes + k]);
    }
    text_puts(page, "</tr>\n");
    html_table_end(page);
}

/* ---- Promises -------------------------------------------------------------------------------- */

static void put_coverage(cli_text *page, const margin_model *model,
                         const margin_coverage_found *found) {
    const bool numbers = margin_model_task(model) == MARGIN_REGRESS;
    char words[300];
    snprintf(words, sizeof words,
             "%s are made to hold the truth of %g of future rows. Of these rows they hold that of "
             "%.6g, with %.6g %s.",
             numbers ? "The intervals of its predictions" : "Its sets of classes", found->asked,
             found->covered, found->width, numbers ? "as their mean width" : "classes on average");
    html_say(page, words);
}

/* What was settled after the fit, and how it holds here. */
static int put_promises(cli_session *session, cli_text *page, const margin_model *model,
                        const margin_data *data) {
    const double threshold = margin_model_threshold(model);
    margin_coverage_found found = {.size = sizeof found};
    char words[200];
    if (cli_calibration(model)) {
        snprintf(words, sizeof words,
                 "The probabilities are calibrated by %s, from fits that did not see the rows.",
                 cli_calibration(model));
        html_say(page, words);
    }
    if (!isnan(threshold)) {
        text_puts(page, "<p>");
        html_text(page, margin_model_class_name(model, 1));
        text_printf(page, " is told from a probability of %g on.</p>\n", threshold);
    }
    if (margin_model_costs(model))
        html_say(page, "Classes are told by least expected cost, not by what is most probable.");
    if (isnan(margin_model_coverage(model))) return EXIT_DONE;
    const margin_status status =
        margin_coverage(session->context, model, data, &found, &session->error);
    if (status < 0) return cli_failed(session, status);
    if (found.rows) put_coverage(page, model, &found);
    return EXIT_DONE;
}

/* ---- Answers --------------------------------------------------------------------------------- */

typedef struct {
    int64_t row;
    double loss, said; /* said: of the truth's class, or the value */
    double weight;
} judged_row;

typedef struct {
    const margin_model *model;
    const margin_data *data;
    int64_t classes, width;
    double *answers; /* probabilities, scores (of more than two classes one each) or values */
    int64_t *labels;
    judged_row *rows;
    int64_t count;
    bool probabilities;
} judged_rows;

static double truth_of(const judged_rows *j, int64_t row) {
    return ((const double *)j->data->y.values)[row];
}

static int by_loss(const void *a, const void *b) {
    const judged_row *left = a, *right = b;
    if (left->loss != right->loss) return left->loss > right->loss ? -1 : 1;
    return (left->row > right->row) - (left->row < right->row);
}

/* How bad the answer for a row is; NaN: it takes no part. */
static judged_row judge(const judged_rows *j, int64_t row) {
    const double *answer = j->answers + row * j->width;
    judged_row r = {row, (double)NAN, answer[0], cli_weight_of(j->data, row)};
    if (!(r.weight > 0)) return r;
    if (j->classes == 0) {
        r.loss = fabs(truth_of(j, row) - answer[0]);
        return r;
    }
    const int64_t truth = picture_class_of(j->model, j->data, row);
    if (truth < 0 || j->labels[row] < 0) return r;
    if (j->probabilities)
        r.said = answer[truth];
    else if (j->width == 1)
        r.said = truth == 1 ? answer[0] : -answer[0];
    else
        r.said = j->labels[row] == truth;
    r.loss = -r.said;
    return r;
}

static void free_judged(judged_rows *j) {
    free(j->answers);
    free(j->labels);
    free(j->rows);
}

static int take_answers(cli_session *session, const margin_model *model, const margin_data *data,
                        judged_rows *j) {
    const size_t rows = (size_t)(data->x.rows > 0 ? data->x.rows : 1);
    *j = (judged_rows){.model = model, .data = data};
    j->classes = margin_model_class_count(model);
    j->probabilities = j->classes > 0 && margin_model_has_probabilities(model);
    const bool of_classes = !j->probabilities && j->classes > 2;
    j->width = j->classes > 2 || j->probabilities ? j->classes : margin_model_score_count(model);
    if (j->width < 1 || rows > SIZE_MAX / 64 / (size_t)j->width) return picture_out_of_memory();
    j->answers = malloc(rows * (size_t)j->width * sizeof *j->answers);
    j->labels = malloc(rows * sizeof *j->labels);
    j->rows = malloc(rows * sizeof *j->rows);
    if (!j->answers || !j->labels || !j->rows) return picture_out_of_memory();
    margin_status status = margin_predict_parallel(session->context, model, &data->x,
                                                   j->probabilities ? MARGIN_OUTPUT_PROBABILITIES
                                                   : of_classes     ? MARGIN_OUTPUT_CLASS_SCORES
                                                                    : MARGIN_OUTPUT_SCORES,
                                                   j->answers, &session->error);
    if (status >= 0 && j->classes > 0)
        status = margin_predict_parallel(session->context, model, &data->x, MARGIN_OUTPUT_LABELS,
                                         j->labels, &session->error);
    if (status < 0) return cli_failed(session, status);
    for (int64_t i = 0; i < data->x.rows; i++) {
        j->rows[j->count] = judge(j, i);
        j->count += !isnan(j->rows[j->count].loss);
    }
    return EXIT_DONE;
}

/* ---- Charts ---------------------------------------------------------------------------------- */

typedef struct {
    double score, weight;
    bool positive;
} ranked_row;

static int by_score(const void *a, const void *b) {
    const ranked_row *left = a, *right = b;
    return (left->score < right->score) - (left->score > right->score);
}

/* Points of both curves for one class against the others; how many, 0: one side is empty. */
static int64_t rank(const judged_rows *j, int64_t class, ranked_row *rows, double *fall,
                    double *rise, double *precision) {
    double total[2] = {0, 0}, seen[2] = {0, 0};
    int64_t points = 0;
    for (int64_t k = 0; k < j->count; k++) {
        const int64_t row = j->rows[k].row;
        const double *answer = j->answers + row * j->width;
        rows[k].score = j->width == 1 ? answer[0] : answer[class];
        rows[k].weight = j->rows[k].weight;
        rows[k].positive = picture_class_of(j->model, j->data, row) == class;
        total[rows[k].positive] += rows[k].weight;
    }
    if (!(total[0] > 0) || !(total[1] > 0)) return 0;
    qsort(rows, (size_t)j->count, sizeof *rows, by_score);
    const int64_t every = j->count / MOST_POINTS + 1;
    fall[points] = rise[points] = 0;
    precision[points++] = 1;
    for (int64_t k = 0, last = 0; k < j->count;) {
        const double score = rows[k].score;
        for (; k < j->count && rows[k].score == score; k++)
            seen[rows[k].positive] += rows[k].weight;
        if (k - last < every && k < j->count) continue;
        last = k;
        fall[points] = seen[0] / total[0];
        rise[points] = seen[1] / total[1];
        precision[points++] = seen[1] / (seen[0] + seen[1]);
    }
    return points;
}

static void put_ranking(cli_text *page, const judged_rows *j, double *numbers, ranked_row *ranked) {
    const double low[2] = {0, 0}, high[2] = {1, 1};
    const bool two = j->classes == 2;
    const int64_t first = two ? 1 : 0, end = two ? 2 : j->classes < 4 ? j->classes : 4;
    double *fall = numbers, *rise = fall + j->count + 2, *precision = rise + j->count + 2;
    for (int which = 0; which < 2; which++) {
        chart c;
        chart_begin(&c, page, which ? "Precision over recall" : "ROC curve",
                    which ? "recall" : "false-positive rate",
                    which ? "precision" : "true-positive rate", low, high);
        if (!which) chart_guide(&c, 0, 0, 1, 1);
        for (int64_t at = first; at < end; at++) {
            const int64_t points = rank(j, at, ranked, fall, rise, precision);
            chart_line(&c, which ? rise : fall, which ? precision : rise, points,
                       (int)(at - first));
        }
        chart_caption(&c, which ? "Precision over recall:" : "ROC curve:");
        for (int64_t at = first; at < end; at++)
            chart_name(&c, margin_model_class_name(j->model, at), (int)(at - first));
        chart_end(&c);
    }
}

/* How often the answer was right where it was given probability p. */
static void put_calibration(cli_text *page, const judged_rows *j) {
    const double low[2] = {0, 0}, high[2] = {1, 1};
    double said[BINS] = {0}, happened[BINS] = {0}, rows[BINS] = {0}, x[BINS], y[BINS];
    int64_t points = 0;
    for (int64_t k = 0; k < j->count; k++) {
        const int64_t row = j->rows[k].row, truth = picture_class_of(j->model, j->data, row);
        const int64_t class = j->classes == 2 ? 1 : j->labels[row];
        const double p = j->answers[row * j->width + class], weight = j->rows[k].weight;
        const int bin = p >= 1 ? BINS - 1 : p > 0 ? (int)(p * BINS) : 0;
        said[bin] += weight * p;
        happened[bin] += truth == class ? weight : 0;
        rows[bin] += weight;
    }
    for (int k = 0; k < BINS; k++) {
        if (!(rows[k] > 0)) continue;
        x[points] = said[k] / rows[k];
        y[points++] = happened[k] / rows[k];
    }
    chart c;
    chart_begin(&c, page, "Calibration", "probability said", "share that happened", low, high);
    chart_guide(&c, 0, 0, 1, 1);
    chart_line(&c, x, y, points, 0);
    chart_points(&c, x, y, points, 0);
    chart_caption(&c, "Calibration: on the dashed line what is said is what happens");
    chart_end(&c);
}

static void put_scatter(cli_text *page, const judged_rows *j, double *numbers) {
    double *said = numbers, *truth = said + j->count + 2, *missed = truth + j->count + 2;
    const int64_t every = j->count / MOST_POINTS + 1;
    double low[2] = {(double)INFINITY, (double)INFINITY},
           high[2] = {-(double)INFINITY, -(double)INFINITY}, most = 0;
    int64_t points = 0;
    for (int64_t k = 0; k < j->count; k += every) {
        said[points] = j->rows[k].said;
        truth[points] = truth_of(j, j->rows[k].row);
        missed[points] = truth[points] - said[points];
        low[0] = fmin(low[0], fmin(said[points], truth[points]));
        high[0] = fmax(high[0], fmax(said[points], truth[points]));
        most = fmax(most, fabs(missed[points]));
        points++;
    }
    if (points == 0 || !isfinite(low[0]) || !isfinite(high[0])) return;
    low[1] = low[0];
    high[1] = high[0];
    chart c;
    chart_begin(&c, page, "True over predicted values", "predicted", "true", low, high);
    chart_guide(&c, low[0], low[0], high[0], high[0]);
    chart_points(&c, said, truth, points, 0);
    chart_caption(&c, "True over predicted values: the nearer the dashed line the better");
    chart_end(&c);
    low[1] = -most;
    high[1] = most;
    chart_begin(&c, page, "Residuals", "predicted", "true - predicted", low, high);
    chart_guide(&c, low[0], 0, high[0], 0);
    chart_points(&c, said, missed, points, 1);
    chart_caption(&c, "What is missed: no pattern should be left");
    chart_end(&c);
}

static void put_charts(cli_text *page, const judged_rows *j) {
    double *numbers = malloc(3 * ((size_t)j->count + 2) * sizeof *numbers);
    ranked_row *ranked = malloc(((size_t)j->count + 1) * sizeof *ranked);
    const bool ranks = j->classes > 0 && (j->probabilities || !cli_scores_pairs(j->model));
    if (numbers && ranked && j->count > 1 && (ranks || j->classes == 0)) {
        html_section(page, "In pictures");
        text_puts(page, "<div class=\"charts\">\n");
        if (ranks) put_ranking(page, j, numbers, ranked);
        if (j->probabilities) put_calibration(page, j);
        if (j->classes == 0) put_scatter(page, j, numbers);
        text_puts(page, "</div>\n");
    }
    page->failed = page->failed || !numbers || !ranked;
    free(numbers);
    free(ranked);
}

/* ---- The worst ------------------------------------------------------------------------------- */

static void put_feature(cli_text *page, const margin_data *data, int64_t row, int64_t column) {
    const int64_t at = row * data->x.stride + column;
    const double value = data->x.value_type == MARGIN_F32
                             ? (double)((const float *)data->x.values)[at]
                             : ((const double *)data->x.values)[at];
    const margin_column *c = &data->columns[column];
    if (c->kind == MARGIN_CATEGORICAL && value >= 0 && value < (double)c->category_count)
        html_cell(page, c->categories[(int64_t)value]);
    else
        html_cell_number(page, value);
}

/* Rows differ by a number, not only by right and wrong. */
static bool is_graded(const judged_rows *j) {
    return j->classes == 0 || j->probabilities || j->width == 1;
}

static void put_worst_row(cli_text *page, const judged_rows *j, const judged_row *r) {
    const margin_data *data = j->data;
    text_puts(page, "<tr>");
    html_cell_number(page, (double)r->row + 1);
    if (j->classes > 0) {
        html_cell(page,
                  margin_model_class_name(j->model, picture_class_of(j->model, data, r->row)));
        html_cell(page, margin_model_class_name(j->model, j->labels[r->row]));
    } else {
        html_cell_number(page, truth_of(j, r->row));
        html_cell_number(page, r->said);
    }
    if (is_graded(j))
        html_cell_number(page, j->classes > 0 ? r->said : truth_of(j, r->row) - r->said);
    for (int64_t k = 0; k < data->x.columns && k < SHOWN_COLUMNS && !data->x.row_starts; k++)
        put_feature(page, data, r->row, k);
    text_puts(page, "</tr>\n");
}

static void put_worst_heads(cli_text *page, const judged_rows *j) {
    const margin_data *data = j->data;
    text_puts(page, "<div class=\"wide\"><table>\n<tr><th>row</th><th>true</th><th>predicted</th>");
    if (is_graded(j))
        text_printf(page, "<th>%s</th>",
                    j->classes == 0    ? "missed by"
                    : j->probabilities ? "probability"
                                       : "score");
    for (int64_t k = 0; k < data->x.columns && k < SHOWN_COLUMNS && !data->x.row_starts; k++) {
        text_puts(page, "<th>");
        html_text(page, data->columns[k].name);
        text_puts(page, "</th>");
    }
    text_puts(page, "</tr>\n");
}

static void put_worst(cli_text *page, judged_rows *j) {
    int64_t count = 0;
    qsort(j->rows, (size_t)j->count, sizeof *j->rows, by_loss);
    while (count < j->count && count < WORST && (is_graded(j) || j->rows[count].said == 0))
        count++;
    html_section(page, "The worst rows");
    html_say(page, j->classes == 0    ? "Those that are missed by most:"
                   : j->probabilities ? "Those whose true class was given the least probability:"
                   : j->width == 1    ? "Those whose score speaks least for their true class:"
                   : count > 0        ? "Those that are not predicted right, the first ones:"
                                      : "None: every row is predicted right.");
    if (!count) return;
    put_worst_heads(page, j);
    for (int64_t k = 0; k < count; k++)
        put_worst_row(page, j, &j->rows[k]);
    html_table_end(page);
}

/* ---- All ------------------------------------------------------------------------------------- */

int report_rows(cli_session *session, cli_text *page, const margin_model *model,
                const margin_data *data) {
    margin_metrics found = {.size = sizeof found};
    const margin_status status =
        margin_evaluate(session->context, model, data, &found, &session->error);
    if (status < 0) return cli_failed(session, status);
    html_section(page, "How good it is on these rows");
    html_say(page, "If these are the rows that the model was trained on, the figures flatter it: "
                   "give rows that it has not seen.");
    put_metrics(page, &found);
    put_confusion(page, model, &found);
    margin_metrics_free(&found);
    const int broken = put_promises(session, page, model, data);
    if (broken) return broken;
    if (margin_model_task(model) == MARGIN_CLUSTER || cli_several_targets(model)) return EXIT_DONE;
    judged_rows judged;
    const int code = take_answers(session, model, data, &judged);
    if (!code) put_charts(page, &judged);
    if (!code && data->columns) put_worst(page, &judged);
    free_judged(&judged);
    return code;
}
