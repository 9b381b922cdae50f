/* Rows held out of a fit: which they are, and what the model does on them. */
#include "fit_held_out.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int cli_hold_out(cli_session *session, const margin_spec *spec, const margin_table *table,
                 cli_fit_rows *rows) {
    margin_splits *splits = NULL;
    rows->train = rows->test = margin_table_data(table);
    rows->held_out.size = sizeof rows->held_out;
    if (!session->arguments->holdout) return EXIT_DONE;
    int code = cli_split_shares(session, &rows->train, cli_is_classes(&rows->train, spec), &splits);
    if (!code) code = cli_split_part(splits, 0, MARGIN_PART_TRAIN, &rows->train, &rows->train_rows);
    if (!code) code = cli_split_part(splits, 0, MARGIN_PART_TEST, &rows->test, &rows->test_rows);
    if (!code) {
        const margin_data all = margin_table_data(table);
        cli_find_in_data(session, &all, splits, margin_spec_text(spec), cli_is_classes(&all, spec),
                         &rows->findings);
    }
    margin_splits_free(splits);
    return code;
}

/* ---- What to beat ---------------------------------------------------------------------------- */

typedef struct {
    double label, weight;
} weighed_row;

static int by_label(const void *a, const void *b) {
    const double left = ((const weighed_row *)a)->label, right = ((const weighed_row *)b)->label;
    return (left > right) - (left < right);
}

/* Of a selection, the lowest of equals. */
static double most_frequent(const margin_data *data) {
    weighed_row *rows = malloc((size_t)(data->selected + 1) * sizeof *rows);
    double most = 0, sum = 0, label = (double)NAN;
    for (int64_t i = 0; rows && i < data->selected; i++)
        rows[i] = (weighed_row){((const double *)data->y.values)[data->selection[i]],
                                cli_weight_of(data, data->selection[i])};
    if (rows) qsort(rows, (size_t)data->selected, sizeof *rows, by_label);
    for (int64_t i = 0; rows && i < data->selected; i++) {
        sum = i > 0 && rows[i].label == rows[i - 1].label ? sum + rows[i].weight : rows[i].weight;
        if (sum <= most) continue;
        most = sum;
        label = rows[i].label;
    }
    free(rows);
    return label;
}

/* The share of the held-out rows that are of the training rows' most frequent class. */
static double accuracy_to_beat(const margin_data *train, const margin_data *test) {
    const double label = most_frequent(train), *y = test->y.values;
    double right = 0, all = 0;
    for (int64_t i = 0; i < test->selected; i++) {
        const double weight = cli_weight_of(test, test->selection[i]);
        right += y[test->selection[i]] == label ? weight : 0;
        all += weight;
    }
    return right / all;
}

static double mean_of(const margin_data *data, int64_t t, double *variance) {
    const double *y = data->y.values;
    const int64_t targets = data->targets > 1 ? data->targets : 1;
    double total = 0, mean = 0, squares = 0;
    for (int64_t i = 0; i < data->selected; i++) {
        const double weight = cli_weight_of(data, data->selection[i]);
        const double off = y[data->selection[i] * targets + t] - mean;
        if (!(weight > 0)) continue;
        total += weight;
        mean += weight / total * off;
        squares += weight * off * off * (1 - weight / total);
    }
    *variance = squares / total;
    return mean;
}

/* Of the training rows' mean on the held-out rows. */
static double r2_to_beat(const margin_data *train, const margin_data *test) {
    const int64_t targets = train->targets > 1 ? train->targets : 1;
    double r2 = 0, variance;
    for (int64_t t = 0; t < targets; t++) {
        const double known = mean_of(train, t, &variance),
                     off = mean_of(test, t, &variance) - known;
        r2 -= off * off / variance / (double)targets;
    }
    return r2;
}

static void look_at_cost(const cli_session *session, cli_fit_rows *rows) {
    cli_finding *made = NULL;
    if (rows->cost >= rows->least_cost)
        made = cli_find(session, &rows->findings, "no-better",
                        "other columns, another learner, or more rows");
    if (made)
        snprintf(made->words, sizeof made->words,
                 "an answer on the rows held out costs %.4g, and the same answer for all of them "
                 "%.4g",
                 rows->cost, rows->least_cost);
}

/* Squared, of the figure on so many rows: of a share that of a binomial, of r2 that of a mean of
 * normal squares. */
static double squared_error(double figure, double rows, bool classes) {
    return classes ? figure * (1 - figure) / rows : (1 - figure) * (1 - figure) * 2 / rows;
}

/* Much better on the rows that were learned from: by two standard errors of the difference, of
 * which the rows held out have their part, and the others where the figure is that of some of them.
 */
static void look_at_training(const cli_session *session, const margin_report *report, double least,
                             cli_fit_rows *rows) {
    const margin_metrics *m = &rows->held_out;
    const bool classes = m->task == MARGIN_CLASSIFY;
    const double known = classes ? report->train_accuracy : report->train_r2;
    const double found = classes ? m->accuracy : m->r2;
    const double scored = margin_report_item_value(report, "scored_rows");
    const double error = sqrt(squared_error(found, (double)m->rows, classes) +
                              (isnan(scored) ? 0 : squared_error(known, scored, classes)));
    cli_finding *made = NULL;
    if (known - found > 2 * error && known - found > (found - least) / 10)
        made = cli_find(session, &rows->findings, "overfit",
                        "a stronger penalty, more neighbours, a lower degree, or more rows");
    if (made)
        snprintf(made->words, sizeof made->words, "%s is %.4g on %s and %.4g on those held out",
                 classes ? "accuracy" : "r2", known,
                 isnan(scored) ? "the rows that were learned from"
                               : "a sample of the rows that were learned from",
                 found);
}

/* No more than the most frequent class, or the mean, of the training rows would have said. */
static void look_at_held_out(const cli_session *session, const margin_report *report,
                             cli_fit_rows *rows) {
    const margin_metrics *m = &rows->held_out;
    const bool classes = m->task == MARGIN_CLASSIFY;
    if (rows->test.y.type != MARGIN_F64 || !rows->test.y.values) return;
    if (!isnan(rows->cost)) {
        look_at_cost(session, rows);
        return;
    }
    const double found = classes ? m->accuracy : m->r2;
    const double least = classes ? accuracy_to_beat(&rows->train, &rows->test)
                                 : r2_to_beat(&rows->train, &rows->test);
    cli_finding *made = NULL;
    if (found <= least)
        made = cli_find(session, &rows->findings, "no-better",
                        "other columns, another learner, or more rows");
    if (made)
        snprintf(made->words, sizeof made->words,
                 classes ? "accuracy on the rows held out is %.4g, and the most frequent class of "
                           "the training rows alone is right for %.4g of them"
                         : "r2 on the rows held out is %.4g, and that of the training rows' mean "
                           "alone is %.4g",
                 found, least);
    look_at_training(session, report, least, rows);
}

/* A class that occurs in the held-out rows alone counts as an error. */
int cli_judge_held_out(cli_session *session, const margin_model *model, cli_fit_rows *rows) {
    const margin_evaluate_options options = {.size = sizeof options, .unknown_wrong = 1};
    if (!rows->test_rows) return EXIT_DONE;
    margin_status status = margin_evaluate_with(session->whole, model, &rows->test, &options,
                                                &rows->held_out, &session->error);
    rows->cost =
        status < 0 ? (double)NAN : cli_mean_cost(model, &rows->held_out, &rows->least_cost);
    rows->coverage = (margin_coverage_found){.size = sizeof rows->coverage};
    if (status >= 0 && !isnan(margin_model_coverage(model)))
        status =
            margin_coverage(session->whole, model, &rows->test, &rows->coverage, &session->error);
    if (status >= 0) look_at_held_out(session, margin_model_report(model), rows);
    return status < 0 ? cli_failed(session, status) : EXIT_DONE;
}

void cli_fit_rows_free(cli_fit_rows *rows) {
    margin_metrics_free(&rows->held_out);
    free(rows->train_rows);
    free(rows->test_rows);
}

void text_held_out(cli_text *text, const cli_fit_rows *rows) {
    static const char *const shown[][2] = {{"accuracy", "accuracy"}, {"log_loss", "log loss"},
                                           {"auc", "AUC"},           {"rmse", "rmse"},
                                           {"mae", "mae"},           {"r2", "r2"},
                                           {"inertia", "inertia"}};
    bool first = true;
    const margin_metrics *m = &rows->held_out;
    if (!m->inner || (m->task == MARGIN_CLUSTER && isnan(m->inertia))) return; /* one class */
    text_puts(text, "held-out    ");
    for (size_t k = 0; k < sizeof shown / sizeof *shown; k++) {
        const double value = margin_metrics_value(&rows->held_out, shown[k][0]);
        if (isnan(value)) continue;
        text_printf(text, "%s%s ", first ? "" : ", ", shown[k][1]);
        text_short(text, value);
        first = false;
    }
    if (!isnan(rows->cost)) {
        text_puts(text, ", cost ");
        text_short(text, rows->cost);
    }
    text_printf(text, ", on %lld rows that training did not see\n", (long long)rows->held_out.rows);
}

void json_held_out(cli_text *text, const cli_fit_rows *rows) {
    const margin_metric *metric;
    if (!rows->held_out.inner) return;
    json_open(text, "held_out", '{');
    json_integer(text, "rows", rows->held_out.rows);
    for (int64_t k = 0; (metric = margin_metric_at(k)); k++) {
        const double value = margin_metrics_value(&rows->held_out, metric->name);
        if (!isnan(value)) json_number(text, metric->name, value);
    }
    if (!isnan(rows->cost)) json_number(text, "cost", rows->cost);
    json_coverage(text, &rows->coverage);
    json_close(text, '}');
}
