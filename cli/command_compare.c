/* margin compare: learners under the same folds, and a baseline that looks at no column. */
#include "cli.h"
#include "cli_search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SPECS = 32 };

/* ---- Which learners -------------------------------------------------------------------------- */

typedef struct {
    margin_spec *specs[MOST_SPECS];
    int64_t count;
} spec_list;

static void free_specs(spec_list *list) {
    for (int64_t k = 0; k < list->count; k++)
        margin_spec_free(list->specs[k]);
}

static int64_t count_settings(const spec_list *list) {
    int64_t sum = 0;
    for (int64_t k = 0; k < list->count; k++)
        sum += margin_spec_variants(list->specs[k]);
    return sum;
}

static margin_status add_spec(cli_session *session, const char *text, spec_list *list) {
    const margin_status status =
        margin_spec_parse(session->context, text, &list->specs[list->count], &session->error);
    if (status >= 0) list->count++;
    return status;
}

static margin_status list_specs(cli_session *session, const margin_data *data, spec_list *list) {
    const cli_arguments *a = session->arguments;
    margin_status status = MARGIN_OK;
    if (a->word_count == 1)
        return margin_usual_specs(session->context, data, MOST_SPECS, list->specs, &list->count,
                                  &session->error);
    for (int k = 1; k < a->word_count && status >= 0; k++)
        status = add_spec(session, a->words[k], list);
    return status;
}

/* Different numbers of a target; 0 where they are names of classes, -1: many. */
static int64_t count_numbers(const margin_data *data) {
    enum { MOST = 20 };
    double seen[MOST];
    int64_t count = 0;
    if (!data->y.values || data->y.type != MARGIN_F64 ||
        (data->target && data->target->kind == MARGIN_CATEGORICAL))
        return 0;
    for (int64_t i = 0; i < data->y.count; i++) {
        const double value = ((const double *)data->y.values)[i];
        int64_t k = 0;
        while (k < count && seen[k] != value)
            k++;
        if (k < count || isnan(value) || !(cli_weight_of(data, i) > 0)) continue;
        if (count == MOST) return -1;
        seen[count++] = value;
    }
    return count;
}

/* Nobody said that numbers are classes; of two it need not be said. */
static void note_classes(const cli_session *session, const margin_data *data,
                         const spec_list *list) {
    const int64_t numbers = count_numbers(data);
    if (session->arguments->word_count > 1 || numbers <= 2 ||
        margin_spec_learner(list->specs[0])->abilities & MARGIN_CAN_REGRESSION)
        return;
    cli_note(session,
             "%s holds %lld different whole numbers, which are taken for classes; to predict the "
             "numbers name the learners: margin compare DATA ridge 'svm(task=regress)' "
             "'knn(task=regress)'",
             data->target ? data->target->name : "the target", (long long)numbers);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* One learner at the best of its settings. */
typedef struct {
    const margin_search_cell *cell;
    const double *values;
    margin_search_difference mean, behind, gain; /* NaN: none */
    int64_t bytes;                               /* of the model of all rows; -1: not known */
} compared_row;

static bool counts(const margin_search_cell *cell) {
    return cell->status == 0 && isfinite(cell->mean);
}

/* The best of a spec's settings; of those that failed or stopped, the first with a mean. */
static const margin_search_cell *best_of(const margin_search_result *table, int64_t owner) {
    const margin_search_cell *best = NULL;
    for (int64_t k = 0; k < table->count; k++) {
        const margin_search_cell *cell = margin_search_cell_at(table, k);
        if (cell->owner != owner) continue;
        const bool better =
            best && (table->greater ? cell->mean > best->mean : cell->mean < best->mean);
        if (!best || (counts(cell) && (!counts(best) || better))) best = cell;
    }
    return best;
}

static margin_search_difference interval(const margin_search_result *table, const double *values,
                                         const double *against) {
    margin_search_difference found = {sizeof found, (double)NAN, (double)NAN, (double)NAN};
    if (values) margin_search_interval(table, values, against, 0.95, &found);
    if (!against) cli_end_interval(table->metric, &found.low, &found.high);
    return found;
}

static int by_mean(const void *a, const void *b) {
    const compared_row *left = a, *right = b;
    const bool first = counts(left->cell), second = counts(right->cell);
    if (first != second) return first ? -1 : 1;
    if (!first || left->cell->mean == right->cell->mean)
        return left->cell->owner < right->cell->owner ? -1 : 1;
    return left->cell->mean > right->cell->mean ? -1 : 1;
}

static int by_mean_ascending(const void *a, const void *b) {
    const compared_row *left = a, *right = b;
    const bool both = counts(left->cell) && counts(right->cell);
    return both && left->cell->mean != right->cell->mean ? -by_mean(a, b) : by_mean(a, b);
}

/* Fits the setting to all rows: what a model of it takes. That of the best one (choice) is what -o
 * writes. */
static int size_model(cli_session *session, const margin_data *data, compared_row *row,
                      cli_choice *choice) {
    margin_model *model = NULL;
    void *bytes = NULL;
    const margin_status fitted = cli_fit_setting(session, data, row->cell->spec, &model);
    int code = fitted == MARGIN_ERROR_CANCELLED ? cli_failed(session, fitted) : EXIT_DONE;
    if (model && margin_model_encode(model, &bytes, &row->bytes, &session->error) >= 0)
        margin_bytes_free(model, bytes);
    if (!code && choice) code = cli_keep_choice(session, model, fitted, choice);
    margin_model_free(model);
    return code;
}

/* From the best to the last. */
static void rank_rows(const margin_search_result *table, compared_row *rows, int64_t count) {
    for (int64_t k = 0; k < count; k++) {
        rows[k].cell = best_of(table, k);
        rows[k].values = counts(rows[k].cell) ? rows[k].cell->values : NULL;
    }
    qsort(rows, (size_t)count, sizeof *rows, table->greater ? by_mean : by_mean_ascending);
    for (int64_t k = 0; k < count; k++) {
        compared_row *row = &rows[k];
        row->mean = interval(table, row->values, NULL);
        row->gain = interval(table, row->values, table->baseline);
        row->behind = interval(table, k > 0 && rows[0].values ? row->values : NULL, rows[0].values);
        row->bytes = -1;
    }
}

static int size_rows(cli_session *session, const margin_data *data, compared_row *rows,
                     int64_t count, cli_choice *choice) {
    for (int64_t i = 1; i <= count; i++) { /* the best one, which -o writes, last */
        compared_row *row = &rows[i % count];
        const bool best = row == rows && row->values;
        const double limit = session->arguments->time_limit;
        if (!row->values || (!best && limit > 0 && cli_elapsed(session) > limit)) continue;
        const int code = size_model(session, data, row, best ? choice : NULL);
        if (code) return code;
    }
    return EXIT_DONE;
}

/* ---- Answers --------------------------------------------------------------------------------- */

static void json_difference(cli_text *text, const char *key, const margin_search_difference *d) {
    json_open(text, key, '{');
    json_number(text, "mean", d->mean);
    json_number(text, "low", d->low);
    json_number(text, "high", d->high);
    json_close(text, '}');
}

static void json_row(cli_text *text, const margin_search_result *table, const compared_row *row) {
    const margin_search_cell *cell = row->cell;
    json_open(text, NULL, '{');
    json_string(text, "spec", cell->spec);
    json_number(text, "mean", cell->mean);
    json_number(text, "std", cell->deviation);
    json_number(text, "low", row->mean.low);
    json_number(text, "high", row->mean.high);
    json_difference(text, "behind_best", &row->behind);
    json_difference(text, "over_baseline", &row->gain);
    json_open(text, "seconds", '{');
    json_number(text, "fit", cell->fit_seconds / (double)table->splits);
    json_number(text, "predict", cell->predict_seconds / (double)table->splits);
    json_close(text, '}');
    if (row->bytes >= 0)
        json_integer(text, "bytes", row->bytes);
    else
        json_null(text, "bytes");
    json_string(text, "status", cli_cell_ending(cell));
    json_string(text, "reason", cli_in_flags(cell->reason).text);
    json_close(text, '}');
}

static void json_answer(cli_text *text, const cli_session *session,
                        const margin_search_result *table, const compared_row *rows, int64_t count,
                        const cli_findings *findings, const cli_choice *choice,
                        const margin_data *data) {
    const margin_search_difference base = interval(table, table->baseline, NULL);
    json_open(text, NULL, '{');
    json_table_target(text, data);
    json_integer(text, "rows_of_data", table->rows);
    json_string(text, "metric", table->metric);
    json_bool(text, "greater_is_better", table->greater != 0);
    json_integer(text, "splits", table->splits);
    json_open(text, "rows", '[');
    for (int64_t k = 0; k < count; k++)
        json_row(text, table, &rows[k]);
    json_close(text, ']');
    json_difference(text, "baseline", &base);
    json_integer(text, "settings", table->count);
    json_findings(text, findings);
    json_open(text, "seconds", '{');
    json_number(text, "read", session->read_seconds);
    json_number(text, "search", table->seconds);
    json_number(text, "total", cli_elapsed(session));
    json_close(text, '}');
    json_integer(text, "threads", table->threads);
    json_choice(text, session, choice);
    json_close(text, '}');
    text_puts(text, "\n");
}

static void print_interval(cli_text *text, const margin_search_difference *d) {
    char words[60] = "";
    if (!isnan(d->low)) snprintf(words, sizeof words, "%.4g .. %.4g", d->low, d->high);
    text_printf(text, "  %-20s", words);
}

static void print_seconds(cli_text *text, double seconds) {
    cli_text words = {0};
    text_seconds(&words, seconds);
    text_printf(text, " %8s", words.data ? words.data : "");
    text_free(&words);
}

static void print_row(cli_text *text, const margin_search_result *table, const compared_row *row,
                      bool best) {
    const margin_search_cell *cell = row->cell;
    text_printf(text, "%s ", best ? "*" : " ");
    if (!counts(cell)) {
        text_printf(text, "%10s  %s: %s\n%14s%s\n", isinf(cell->mean) ? "inf" : "-",
                    cli_cell_ending(cell), cell->spec, "", cli_in_flags(cell->reason).text);
        return;
    }
    text_printf(text, "%10.5g", cell->mean);
    print_interval(text, &row->mean);
    print_interval(text, &row->behind);
    print_seconds(text, cell->fit_seconds / (double)table->splits);
    print_seconds(text, cell->predict_seconds / (double)table->splits);
    cli_text size = {0};
    if (row->bytes >= 0) text_bytes(&size, (double)row->bytes);
    text_printf(text, " %9s  %s\n", size.data ? size.data : "", cell->spec);
    text_free(&size);
}

static void print_answer(cli_text *text, const cli_session *session,
                         const margin_search_result *table, const compared_row *rows, int64_t count,
                         const cli_findings *findings, const cli_choice *choice,
                         const margin_data *data) {
    text_target_on_top(text, session, data);
    text_count(text, table->rows, "rows");
    text_puts(text, ", ");
    text_count(text, table->splits, "folds");
    text_puts(text, ", ");
    text_count(text, count, "specs");
    text_puts(text, " with ");
    text_count(text, table->count, "settings");
    text_puts(text, " in ");
    text_seconds(text, table->seconds);
    text_puts(text, " on ");
    text_count(text, table->threads, "threads");
    text_printf(text, "\n\n  %10s  %-20s  %-20s %8s %8s %9s  setting\n", table->metric,
                "95 % interval", "less the best", "fit", "predict", "model");
    for (int64_t k = 0; k < count; k++)
        print_row(text, table, &rows[k], k == 0 && counts(rows[k].cell));
    const margin_search_difference base = interval(table, table->baseline, NULL);
    text_printf(text, "  %10.5g", base.mean);
    print_interval(text, &base);
    text_printf(text, "  %-20s %8s %8s %9s  baseline: %s\n", "", "", "", "",
                table->task == MARGIN_CLASSIFY ? "the most frequent class" : "the mean");
    if (choice->written) text_printf(text, "\nmodel       %s\n", session->arguments->output);
    text_findings(text, findings);
}

/* ---- Command --------------------------------------------------------------------------------- */

static int show_rows(cli_session *session, const margin_search_result *table,
                     const margin_data *data, const margin_splits *splits, int64_t count) {
    compared_row rows[MOST_SPECS];
    cli_findings findings = {0};
    cli_choice choice = {0};
    cli_text text = {0};
    rank_rows(table, rows, count);
    cli_find_in_table(session, table, false, &findings);
    cli_find_in_data(session, data, splits, rows[0].cell->spec, table->task == MARGIN_CLASSIFY,
                     &findings);
    int code = size_rows(session, data, rows, count, &choice); /* only the answer is left to do */
    if (code) return code;
    if (session->arguments->json)
        json_answer(&text, session, table, rows, count, &findings, &choice, data);
    else
        print_answer(&text, session, table, rows, count, &findings, &choice, data);
    code = text_finish(session, &text, NULL);
    if (code) return code;
    if (!counts(rows[0].cell)) return cli_no_best(table);
    return cli_choice_code(session, &choice, cli_findings_code(session, &findings));
}

static int compare_table(cli_session *session, const margin_table *table) {
    const margin_data data = margin_table_data(table);
    margin_search_options options = cli_search_options(session);
    spec_list list = {0};
    margin_splits *splits = NULL;
    margin_search_result *found = NULL;
    options.baseline = 1;
    options.cell_seconds = 0;
    margin_status status = list_specs(session, &data, &list);
    int code = status < 0 ? cli_failed(session, status) : cli_split(session, &data, &splits);
    if (!code) code = cli_target_first(session, &data);
    if (!code) {
        note_classes(session, &data, &list);
        status = margin_search_specs(session->context, (const margin_spec *const *)list.specs,
                                     list.count, &data, splits, &options, &found, &session->error);
        if (status >= 0) cli_note_left_out(session, count_settings(&list), found);
        code = status < 0 ? cli_failed(session, status)
                          : show_rows(session, found, &data, splits, list.count);
    }
    margin_search_result_free(found);
    margin_splits_free(splits);
    free_specs(&list);
    return code;
}

/* Gaps are kept for the first spec that takes them; in front of the others they are a reason. */
static margin_missing missing_of(const cli_arguments *arguments) {
    margin_missing missing = MARGIN_MISSING_ERROR;
    if (arguments->word_count == 1) return cli_missing(arguments, "impute");
    for (int k = 1; k < arguments->word_count && missing == MARGIN_MISSING_ERROR; k++)
        missing = cli_missing(arguments, arguments->words[k]);
    return missing;
}

int run_compare(const cli_arguments *arguments) {
    cli_session session;
    margin_table *table = NULL;
    int code = cli_session_open(&session, arguments);
    if (code) return code;
    const margin_status status =
        cli_read_table(&session, arguments->words[0], true, missing_of(arguments), &table);
    code = status < 0 ? cli_failed(&session, status) : compare_table(&session, table);
    margin_table_free(table);
    cli_session_close(&session);
    return code;
}
