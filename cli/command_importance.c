/* margin importance: what shuffling a column takes from a model's answers. */
#include "cli.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Columns from the most important one; the caller frees. */
static int64_t *sorted_columns(const margin_importance *found) {
    const int64_t count = margin_importance_count(found);
    int64_t *order = malloc((size_t)(count + 1) * sizeof *order);
    for (int64_t j = 0; order && j < count; j++) {
        margin_importance_column here = {.size = sizeof here}, other = {.size = sizeof other};
        int64_t at = j;
        margin_importance_of(found, j, &here);
        while (at > 0 && margin_importance_of(found, order[at - 1], &other) &&
               other.mean < here.mean) {
            order[at] = order[at - 1];
            at--;
        }
        order[at] = j;
    }
    return order;
}

static void print_columns(cli_text *text, const margin_model *model, const margin_importance *found,
                          const int64_t *order) {
    enum { SHOWN = 50 };
    const int64_t count = margin_importance_count(found);
    int64_t inputs;
    const margin_column *columns = margin_model_columns(model, &inputs);
    margin_importance_column c = {.size = sizeof c};
    const bool weights = margin_importance_of(found, 0, &c) && !isnan(c.weight_per_deviation);
    text_printf(text, "%-24s %12s %12s%s\n", "column shuffled", "worse by", "deviation",
                weights ? "   weight per deviation" : "");
    for (int64_t k = 0; k < count && k < SHOWN; k++) {
        margin_importance_of(found, order[k], &c);
        text_name(text, columns[order[k]].name, 24, 24);
        const double shown[3] = {c.mean, c.deviation, c.weight_per_deviation};
        for (int i = 0; i < (weights ? 3 : 2); i++) {
            cli_text cell = {0};
            text_short(&cell, shown[i]);
            text_printf(text, " %*s", i < 2 ? 12 : 22, cell.data ? cell.data : "");
            text_free(&cell);
        }
        text_puts(text, "\n");
    }
    if (count > SHOWN)
        text_printf(text, "and %lld more columns (--json has them all)\n",
                    (long long)(count - SHOWN));
}

static void json_columns(cli_text *text, const cli_session *session, const margin_model *model,
                         const margin_importance *found, const int64_t *order) {
    int64_t inputs;
    const margin_column *columns = margin_model_columns(model, &inputs);
    margin_importance_column c = {.size = sizeof c};
    json_open(text, NULL, '{');
    json_string(text, "metric", margin_importance_metric(found));
    json_number(text, "base", margin_importance_base(found));
    json_open(text, "columns", '[');
    for (int64_t k = 0; k < margin_importance_count(found); k++) {
        margin_importance_of(found, order[k], &c);
        json_open(text, NULL, '{');
        json_string(text, "name", columns[order[k]].name);
        json_number(text, "importance", c.mean);
        json_number(text, "deviation", c.deviation);
        if (!isnan(c.weight_per_deviation))
            json_number(text, "weight_per_deviation", c.weight_per_deviation);
        json_close(text, '}');
    }
    json_close(text, ']');
    json_open(text, "seconds", '{');
    json_number(text, "read", session->read_seconds);
    json_number(text, "total", cli_elapsed(session));
    json_close(text, '}');
    json_close(text, '}');
    text_puts(text, "\n");
}

static int shuffle_table(cli_session *session, const margin_model *model,
                         const margin_table *table) {
    const cli_arguments *a = session->arguments;
    const margin_data data = margin_table_data(table);
    const margin_importance_options options = {.size = sizeof options,
                                               .metric = a->metric,
                                               .repeats = (int64_t)a->repeat,
                                               .seed = (uint64_t)a->seed};
    margin_importance *found = NULL;
    cli_text text = {0};
    const margin_status status = margin_importance_measure(session->context, model, &data, &options,
                                                           &found, &session->error);
    if (status < 0) return cli_failed(session, status);
    int64_t *order = sorted_columns(found);
    int code = order ? EXIT_DONE : EXIT_NO_MEMORY;
    if (order && a->json) {
        json_columns(&text, session, model, found, order);
    } else if (order) {
        text_printf(&text, "%-11s ", margin_importance_metric(found));
        text_short(&text, margin_importance_base(found));
        text_printf(&text, " on %lld rows\n\n", (long long)data.x.rows);
        print_columns(&text, model, found, order);
    } else {
        fputs("margin: out of memory for the columns\n", stderr);
    }
    if (!code) code = text_finish(session, &text, a->output);
    free(order);
    margin_importance_free(found);
    return code;
}

int run_importance(const cli_arguments *arguments) {
    cli_session session;
    margin_model *model = NULL;
    margin_table *table = NULL;
    int code = cli_session_open(&session, arguments);
    if (code) return code;
    const margin_status status = cli_load_to_judge(&session, &model, &table);
    code = status < 0 ? cli_failed(&session, status) : shuffle_table(&session, model, table);
    margin_table_free(table);
    margin_model_free(model);
    cli_session_close(&session);
    return code;
}
