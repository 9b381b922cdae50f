/* margin update: more rows for a model. */
#include "cli.h"

#include <stdio.h>

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
        text_printf(&text, "%lld row%s in all, %lld classes\nbecause     %s\nmodel       %s\n",
                    (long long)report->rows, text_plural(report->rows), (long long)report->classes,
                    report->reason, a->output);
    }
    return text_finish(session, &text, NULL);
}

static int update_model(cli_session *session, const margin_model *model,
                        const margin_table *table) {
    margin_model *updated = NULL;
    margin_report report = {0};
    int code;
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
    int code = cli_session_open(&session, arguments);
    if (code) return code;
    margin_status status = cli_load_model(&session, arguments->words[0], &model);
    if (status >= 0) status = cli_read_more_for_model(&session, model, arguments->words[1], &table);
    code = status < 0 ? cli_failed(&session, status) : update_model(&session, model, table);
    margin_table_free(table);
    margin_model_free(model);
    cli_session_close(&session);
    return code;
}
