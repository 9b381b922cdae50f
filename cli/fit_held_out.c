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

/* Less than the most frequent of two classes, or the mean, would have said. */
static void look_at_held_out(const cli_session *session, cli_fit_rows *rows) {
    const margin_metrics *m = &rows->held_out;
    cli_finding *made = NULL;
    const bool classes = m->task == MARGIN_CLASSIFY;
    double most = 0, all = 0;
    for (int64_t c = 0; classes && c < m->classes; c++) {
        double rows_of = 0;
        for (int64_t k = 0; k < m->classes; k++)
            rows_of += m->confusion[c * m->classes + k];
        most = fmax(most, rows_of);
        all += rows_of;
    }
    if (classes ? m->accuracy <= most / fmax(all, m->weight) : m->r2 <= 0)
        made = cli_find(session, &rows->findings, "no-better",
                        "other columns, another learner, or more rows");
    if (made && classes)
        snprintf(
            made->words, sizeof made->words,
            "accuracy on the rows held out is %.4g, and the most frequent class alone is right "
            "for %.4g of them",
            m->accuracy, most / fmax(all, m->weight));
    else if (made)
        snprintf(made->words, sizeof made->words,
                 "r2 on the rows held out is %.4g: their mean alone says as much", m->r2);
}

/* A class that occurs in the held-out rows alone counts as an error. */
int cli_judge_held_out(cli_session *session, const margin_model *model, cli_fit_rows *rows) {
    const margin_evaluate_options options = {.size = sizeof options, .unknown_wrong = 1};
    if (!rows->test_rows) return EXIT_DONE;
    margin_status status = margin_evaluate_with(session->whole, model, &rows->test, &options,
                                                &rows->held_out, &session->error);
    rows->coverage = (margin_coverage_found){.size = sizeof rows->coverage};
    if (status >= 0 && !isnan(margin_model_coverage(model)))
        status =
            margin_coverage(session->whole, model, &rows->test, &rows->coverage, &session->error);
    if (status >= 0) look_at_held_out(session, rows);
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
    json_coverage(text, &rows->coverage);
    json_close(text, '}');
}
