/* margin update: more rows for a model. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The model's categorical columns by name, for the reader: they may look like numbers. NULL: none
 * (or no memory, which only costs the hint). */
static char *categorical_names(const margin_model *model) {
    int64_t count;
    const margin_column *columns = margin_model_columns(model, &count);
    cli_text names = {0};
    for (int64_t j = 0; j < count; j++) {
        if (columns[j].kind != MARGIN_CATEGORICAL) continue;
        if (names.length > 0) text_puts(&names, ",");
        text_puts(&names, columns[j].name);
    }
    if (!names.failed) return names.data;
    text_free(&names);
    return NULL;
}

/* The same columns in the same order, by name where both have names of their own. */
static int check_columns(const margin_model *model, const margin_table *table, const char *path) {
    const margin_data data = margin_table_data(table);
    int64_t count;
    const margin_column *columns = margin_model_columns(model, &count);
    if (data.x.columns != count) {
        fprintf(stderr, "margin: %s has %lld feature columns and the model %lld\n", path,
                (long long)data.x.columns, (long long)count);
        return EXIT_BAD_INPUT;
    }
    for (int64_t j = 0; j < count && data.columns && margin_table_info(table).has_header; j++) {
        if (!strcmp(columns[j].name, data.columns[j].name)) continue;
        fprintf(stderr, "margin: column %lld of %s is %s and the model's is %s\n", (long long)j + 1,
                path, data.columns[j].name, columns[j].name);
        return EXIT_BAD_INPUT;
    }
    return EXIT_DONE;
}

static int save(cli_session *session, const margin_model *updated, const margin_report *report) {
    const cli_arguments *a = session->arguments;
    int code = cli_writes_to(a->output);
    if (code) return code;
    const margin_status status = margin_model_save(updated, a->output, &session->error);
    if (status < 0) return cli_failed(session, status);
    cli_text text = {0};
    if (a->json) {
        json_open(&text, NULL, '{');
        json_string(&text, "spec", margin_model_spec(updated));
        json_integer(&text, "rows", report->rows);
        json_classes(&text, "classes", updated);
        json_report(&text, report);
        json_string(&text, "model", a->output);
        json_close(&text, '}');
        text_puts(&text, "\n");
    } else {
        text_printf(&text, "%lld rows in all, %lld classes\nbecause     %s\nmodel       %s\n",
                    (long long)report->rows, (long long)report->classes, report->reason, a->output);
    }
    return text_finish(session, &text, NULL);
}

static int update_model(cli_session *session, const margin_model *model,
                        const margin_table *table) {
    margin_model *updated = NULL;
    margin_report report;
    int code = check_columns(model, table, session->arguments->words[1]);
    if (code) return code;
    const margin_data data = margin_table_data(table);
    const margin_status status =
        margin_update(session->context, model, &data, &updated, &report, &session->error);
    code = status < 0 ? cli_failed(session, status) : save(session, updated, &report);
    margin_model_free(updated);
    return code;
}

int run_update(const cli_arguments *arguments) {
    if (!arguments->output)
        return cli_usage_error(cli_find_command("update"), "update needs -o, the model to write");
    cli_session session;
    margin_model *model = NULL;
    margin_table *table = NULL;
    cli_arguments with = *arguments;
    char *categorical = NULL;
    int code = cli_session_open(&session, &with);
    if (code) return code;
    margin_status status = cli_load_model(&session, arguments->words[0], &model);
    if (status >= 0) {
        const margin_column *target = margin_model_target(model);
        categorical = categorical_names(model);
        if (!with.categorical) with.categorical = categorical;
        if (!with.target && target && !with.labels) with.target = target->name;
        status = cli_read_table(&session, arguments->words[1], true,
                                cli_missing(arguments, margin_model_spec(model)), &table);
    }
    code = status < 0 ? cli_failed(&session, status) : update_model(&session, model, table);
    margin_table_free(table);
    margin_model_free(model);
    free(categorical);
    cli_session_close(&session);
    return code;
}
