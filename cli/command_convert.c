/* margin convert: any format from any other. */
#include "cli.h"

#include <stdio.h>
#include <string.h>

static void json_answer(cli_text *text, cli_session *session, const margin_data *data) {
    json_open(text, NULL, '{');
    json_string(text, "output", session->arguments->words[1]);
    json_integer(text, "rows", data->x.rows);
    json_integer(text, "columns", data->x.columns);
    json_open(text, "seconds", '{');
    json_number(text, "read", session->read_seconds);
    json_number(text, "write", session->work_seconds);
    json_number(text, "total", cli_elapsed(session));
    json_close(text, '}');
    json_close(text, '}');
    text_puts(text, "\n");
}

int run_convert(const cli_arguments *arguments) {
    cli_session session;
    margin_table *table = NULL;
    if (arguments->json && !strcmp(arguments->words[1], "-"))
        return cli_usage_error(cli_find_command("convert"),
                               "--json needs a file as OUT: the table takes standard output");
    int code = cli_session_open(&session, arguments);
    if (code) return code;
    margin_status status =
        cli_read_table(&session, arguments->words[0], true, MARGIN_MISSING_KEEP, &table);
    margin_data data = {0};
    if (status >= 0) {
        double start = cli_clock();
        data = margin_table_data(table);
        margin_write_options options = {.size = sizeof options,
                                        .labels = arguments->labels_out,
                                        .zero_based = arguments->zero_based};
        code = cli_writes_to(arguments->words[1]);
        if (!code)
            status = margin_data_write(session.context, &data, arguments->words[1], &options,
                                       &session.error);
        session.work_seconds = cli_clock() - start;
    }
    if (code) {
        /* said already */
    } else if (status < 0) {
        code = cli_failed(&session, status);
    } else if (arguments->json) {
        cli_text text = {0};
        json_answer(&text, &session, &data);
        code = text_finish(&session, &text, NULL);
    } else {
        const char *path = arguments->words[1];
        cli_note(&session, "%lld row%s, %lld column%s written to %s", (long long)data.x.rows,
                 text_plural(data.x.rows), (long long)data.x.columns, text_plural(data.x.columns),
                 strcmp(path, "-") != 0 ? path : "standard output");
    }
    margin_table_free(table);
    cli_session_close(&session);
    return code;
}
