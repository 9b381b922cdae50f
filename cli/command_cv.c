/* margin cv: the settings of a spec judged by cross-validation. */
#include "cli.h"
#include "cli_search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_WHOLE = 40, SHOWN_OF_MORE = 20 };

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_cell(cli_text *text, const margin_search_result *table,
                      const margin_search_cell *cell) {
    json_open(text, NULL, '{');
    json_string(text, "spec", cell->spec);
    json_number(text, "mean", cell->mean);
    json_number(text, "std", cell->deviation);
    json_numbers(text, "folds", cell->values, table->splits);
    if (cell->training) json_numbers(text, "training", cell->training, table->splits);
    json_string(text, "status", cli_cell_ending(cell));
    json_string(text, "reason", cli_in_flags(cell->reason).text);
    json_number(text, "gap", cell->gap);
    if (cell->dropped) json_integer(text, "dropped", cell->dropped);
    json_integer(text, "rows", cell->rows);
    json_open(text, "seconds", '{');
    json_number(text, "fit", cell->fit_seconds);
    json_number(text, "predict", cell->predict_seconds);
    json_close(text, '}');
    json_close(text, '}');
}

static void json_cell_number(cli_text *text, const char *key, const char *spec_key,
                             const margin_search_result *table, int64_t cell) {
    if (cell < 0) {
        json_null(text, key);
        json_null(text, spec_key);
        return;
    }
    json_integer(text, key, cell);
    json_string(text, spec_key, margin_search_cell_at(table, cell)->spec);
}

static void json_table(cli_text *text, const cli_session *session, const char *spec,
                       const margin_search_result *table, const margin_nested_result *nested,
                       const cli_findings *findings, const cli_choice *choice,
                       const margin_data *data) {
    json_open(text, NULL, '{');
    json_string(text, "spec", spec);
    json_table_target(text, data);
    json_integer(text, "rows", table->rows);
    json_integer(text, "columns", data->x.columns);
    json_string(text, "metric", table->metric);
    json_bool(text, "greater_is_better", table->greater != 0);
    json_open(text, "cells", '[');
    for (int64_t k = 0; k < table->count; k++)
        json_cell(text, table, margin_search_cell_at(table, k));
    json_close(text, ']');
    json_cell_number(text, "best", "best_spec", table, table->best);
    json_cell_number(text, "best_one_se", "best_one_se_spec", table, table->best_one_se);
    json_integer(text, "splits", table->splits);
    json_integer(text, "stopped", table->stopped);
    json_integer(text, "failed", table->failed);
    json_integer(text, "resumed", table->resumed);
    json_findings(text, findings);
    json_nested(text, nested);
    json_open(text, "seconds", '{');
    json_number(text, "read", session->read_seconds);
    json_number(text, "search", table->seconds);
    json_number(text, "total", cli_elapsed(session));
    json_close(text, '}');
    json_integer(text, "threads", table->threads);
    json_memory(text, session);
    json_choice(text, session, choice);
    json_close(text, '}');
    text_puts(text, "\n");
}

/* ---- For people ------------------------------------------------------------------------------ */

static void print_cell(cli_text *text, const margin_search_result *table, int64_t number) {
    const margin_search_cell *cell = margin_search_cell_at(table, number);
    const char *mark = number == table->best ? "*" : number == table->best_one_se ? "+" : " ";
    text_printf(text, "%s ", mark);
    if (isnan(cell->mean))
        text_printf(text, "%12s %10s", "-", "-");
    else if (isnan(cell->deviation)) /* of one fold, or one is infinite */
        text_printf(text, "%12.6g %10s", cell->mean, "-");
    else
        text_printf(text, "%12.6g %10.3g", cell->mean, cell->deviation);
    const double training = cell->training ? cli_mean_of(cell->training, table->splits) : 0;
    if (cell->training && isnan(training)) text_printf(text, " %12s", "-");
    if (cell->training && !isnan(training)) text_printf(text, " %12.6g", training);
    text_printf(text, "  %-9s  %s", cli_cell_ending(cell), cell->spec);
    if (cell->dropped) text_printf(text, "  (%lld rows)", (long long)cell->rows);
    text_puts(text, "\n");
    if (cell->reason[0]) text_printf(text, "%38s%s\n", "", cli_in_flags(cell->reason).text);
}

typedef struct {
    double loss;
    int64_t number;
} ranked_cell;

static int by_loss(const void *a, const void *b) {
    const ranked_cell *left = a, *right = b;
    if (left->loss != right->loss) return left->loss < right->loss ? -1 : 1;
    return left->number < right->number ? -1 : left->number > right->number;
}

/* The best of many. */
static void print_first(cli_text *text, const margin_search_result *table) {
    ranked_cell *order = malloc((size_t)table->count * sizeof *order);
    if (!order) {
        text->failed = true;
        return;
    }
    for (int64_t k = 0; k < table->count; k++) {
        const margin_search_cell *cell = margin_search_cell_at(table, k);
        const bool ranks = cell->status == 0 && !cell->dropped && !isnan(cell->mean);
        order[k].loss = ranks ? (table->greater ? -cell->mean : cell->mean) : (double)INFINITY;
        order[k].number = k;
    }
    qsort(order, (size_t)table->count, sizeof *order, by_loss);
    for (int64_t k = 0; k < SHOWN_OF_MORE; k++)
        print_cell(text, table, order[k].number);
    text_printf(text, "  the first %d of %lld; --json and --table have all\n", (int)SHOWN_OF_MORE,
                (long long)table->count);
    free(order);
}

static void print_choice(cli_text *text, const char *name, const margin_search_result *table,
                         int64_t number) {
    const margin_search_cell *cell = margin_search_cell_at(table, number);
    text_printf(text, "%-12s", name);
    text_printf(text, "%s: %s ", cell->spec, table->metric);
    text_short(text, cell->mean);
    if (!isnan(cell->deviation)) {
        text_puts(text, ", std ");
        text_short(text, cell->deviation);
    }
    text_puts(text, "\n");
}

static void print_table(cli_text *text, const cli_session *session,
                        const margin_search_result *table, const margin_nested_result *nested,
                        const cli_findings *findings, const cli_choice *choice,
                        const margin_data *data) {
    text_target_on_top(text, session, data);
    text_count(text, table->rows, "rows");
    text_puts(text, ", ");
    text_count(text, data->x.columns, "columns");
    text_puts(text, ", ");
    text_count(text, table->splits, "folds");
    text_puts(text, ", ");
    text_count(text, table->count, "settings");
    text_puts(text, " in ");
    text_seconds(text, table->seconds);
    text_puts(text, " on ");
    text_count(text, table->threads, "threads");
    text_printf(text, "\n\n  %12s %10s", table->metric, "std");
    if (session->arguments->training) text_printf(text, " %12s", "training");
    text_printf(text, "  %-9s  setting\n", "ended");
    if (table->count > SHOWN_WHOLE) print_first(text, table);
    for (int64_t k = 0; k < table->count && table->count <= SHOWN_WHOLE; k++)
        print_cell(text, table, k);
    text_puts(text, "\n");
    if (table->best < 0) {
        text_printf(text, "best        none: %s\n", cli_why_none(table));
    } else {
        print_choice(text, "best *", table, table->best);
        if (table->best_one_se != table->best)
            print_choice(text, "simplest +", table, table->best_one_se);
    }
    if (choice->written) text_printf(text, "model       %s\n", session->arguments->output);
    text_nested(text, nested);
    text_findings(text, findings);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static void csv_number(cli_text *text, double value) {
    text_puts(text, ",");
    if (!isnan(value)) text_number(text, value);
}

static int write_table(cli_session *session, const margin_search_result *table) {
    cli_text text = {0};
    const char *path = session->arguments->table;
    const int code = path ? cli_writes_to(path) : EXIT_DONE;
    if (!path || code) return code;
    text_puts(&text, "spec,status,mean,std");
    for (int64_t k = 0; k < table->splits; k++)
        text_printf(&text, ",fold%lld", (long long)k + 1);
    for (int64_t k = 0; k < table->splits && session->arguments->training; k++)
        text_printf(&text, ",training%lld", (long long)k + 1);
    text_puts(&text, ",gap,fit_seconds,predict_seconds,rows,reason\n");
    for (int64_t k = 0; k < table->count; k++) {
        const margin_search_cell *cell = margin_search_cell_at(table, k);
        text_cell(&text, cell->spec);
        text_printf(&text, ",%s", cli_cell_ending(cell));
        csv_number(&text, cell->mean);
        csv_number(&text, cell->deviation);
        for (int64_t i = 0; i < table->splits; i++)
            csv_number(&text, cell->values[i]);
        for (int64_t i = 0; i < table->splits && cell->training; i++)
            csv_number(&text, cell->training[i]);
        csv_number(&text, cell->gap);
        csv_number(&text, cell->fit_seconds);
        csv_number(&text, cell->predict_seconds);
        text_printf(&text, ",%lld,", (long long)cell->rows);
        text_cell(&text, cli_in_flags(cell->reason).text);
        text_puts(&text, "\n");
    }
    return text_finish(session, &text, path);
}

static void csv_answer(cli_text *text, const margin_search_result *table, double value) {
    if (isnan(value)) return;
    if (table->task != MARGIN_CLASSIFY)
        text_number(text, value);
    else if (value >= 0)
        text_cell(text, table->class_names[(int64_t)value]);
}

static int write_answers(cli_session *session, const margin_search_result *table,
                         const margin_search_cell *cell, const margin_data *data, int64_t folds) {
    const char *path = session->arguments->predictions;
    const int64_t targets = data->targets > 1 ? data->targets : 1, repeats = table->splits / folds;
    cli_text text = {0};
    const int code = cli_writes_to(path);
    if (code) return code;
    text_puts(&text, "row");
    for (int64_t k = 0; k < repeats * targets; k++) {
        text_puts(&text, ",");
        text_cell(&text, targets > 1 ? data->target[k % targets].name : "prediction");
    }
    text_puts(&text, "\n");
    for (int64_t i = 0; i < data->x.rows; i++) {
        text_printf(&text, "%lld", (long long)i + 1);
        for (int64_t k = 0; k < repeats * targets; k++) {
            text_puts(&text, ",");
            csv_answer(&text, table,
                       cell->predictions[(k / targets * data->x.rows + i) * targets + k % targets]);
        }
        text_puts(&text, "\n");
    }
    return text_finish(session, &text, path);
}

/* The answers for each row by the fit of the best setting that did not see it. A setting that came
 * from the journal has none, and is fitted again. */
static int write_predictions(cli_session *session, const margin_search_result *table,
                             const margin_data *data, const margin_splits *splits) {
    const margin_search_cell *cell = margin_search_cell_at(table, table->best);
    const margin_search_options options = {
        .size = sizeof options, .predictions = 1, .metric = table->metric};
    const int64_t folds = margin_splits_folds(splits);
    margin_spec *spec = NULL;
    margin_search_result *again = NULL;
    if (!session->arguments->predictions || !cell) return EXIT_DONE;
    if (cell->predictions) return write_answers(session, table, cell, data, folds);
    margin_status status = margin_spec_parse(session->context, cell->spec, &spec, &session->error);
    if (status >= 0)
        status =
            margin_search(session->context, spec, data, splits, &options, &again, &session->error);
    const int code =
        status < 0 ? cli_failed(session, status)
                   : write_answers(session, again, margin_search_cell_at(again, 0), data, folds);
    margin_search_result_free(again);
    margin_spec_free(spec);
    return code;
}

/* ---- Command --------------------------------------------------------------------------------- */

/* Fits the chosen setting to all rows, for -o. */
static int keep_choice(cli_session *session, const margin_search_result *table,
                       const margin_data *data, cli_choice *choice) {
    const int64_t number = session->arguments->one_se ? table->best_one_se : table->best;
    margin_model *model = NULL;
    if (!session->arguments->output || number < 0) return EXIT_DONE;
    const margin_status status =
        cli_fit_setting(session, data, margin_search_cell_at(table, number)->spec, &model);
    const int code = cli_keep_choice(session, model, status, choice);
    margin_model_free(model);
    return code;
}

static int show_search(cli_session *session, const margin_spec *spec, const margin_data *data,
                       const margin_search_result *table, const margin_nested_result *nested,
                       const margin_splits *splits) {
    cli_findings findings = {0};
    cli_choice choice = {0};
    cli_text text = {0};
    int code = write_table(session, table);
    if (!code) code = write_predictions(session, table, data, splits);
    if (!code) code = keep_choice(session, table, data, &choice);
    if (code) return code;
    cli_find_in_table(session, table, table->count <= SHOWN_WHOLE, &findings);
    cli_find_in_data(session, data, splits, margin_spec_text(spec), table->task == MARGIN_CLASSIFY,
                     &findings);
    if (session->arguments->json)
        json_table(&text, session, margin_spec_text(spec), table, nested, &findings, &choice, data);
    else
        print_table(&text, session, table, nested, &findings, &choice, data);
    code = text_finish(session, &text, NULL);
    if (!code && table->best < 0) code = cli_no_best(table);
    if (!code) code = cli_choice_code(session, &choice, cli_findings_code(session, &findings));
    return code;
}

static int search_table(cli_session *session, const margin_spec *spec, const margin_table *table) {
    const margin_data data = margin_table_data(table);
    const margin_search_options options = cli_search_options(session);
    margin_splits *splits = NULL;
    margin_search_result *found = NULL;
    margin_nested_result *nested = NULL;
    int code = cli_split(session, &data, &splits);
    if (!code) code = cli_target_first(session, &data);
    if (!code) {
        const margin_status status =
            margin_search(session->context, spec, &data, splits, &options, &found, &session->error);
        if (status < 0) code = cli_failed(session, status);
    }
    if (!code) cli_note_left_out(session, margin_spec_variants(spec), found);
    if (!code) code = cli_nested(session, spec, &data, splits, &nested);
    if (!code) code = show_search(session, spec, &data, found, nested, splits);
    margin_nested_result_free(nested);
    margin_search_result_free(found);
    margin_splits_free(splits);
    return code;
}

static int cv_file(cli_session *session, const cli_arguments *arguments) {
    margin_spec *spec = NULL;
    margin_table *table = NULL;
    margin_status status =
        margin_spec_parse(session->context, arguments->words[0], &spec, &session->error);
    session->spec = arguments->words[0];
    if (status >= 0)
        status = cli_read_table(session, arguments->words[1], true,
                                cli_missing(arguments, margin_spec_text(spec)), &table);
    const int code = status < 0 ? cli_failed(session, status) : search_table(session, spec, table);
    margin_table_free(table);
    margin_spec_free(spec);
    return code;
}

int run_cv(const cli_arguments *arguments) {
    cli_arguments chosen = *arguments;
    cli_session session;
    chosen.time_limit = 0; /* of each setting, not of reading and the whole */
    const int code = cli_session_open(&session, &chosen);
    if (code) return code;
    chosen.time_limit = arguments->time_limit;
    const int done = cv_file(&session, &chosen);
    cli_session_close(&session);
    return done;
}
