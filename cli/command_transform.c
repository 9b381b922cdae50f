/* margin transform: rows as the stages of a model make them, in any format. */
#include "cli.h"

#include <stdio.h>
#include <string.h>

static void json_answer(cli_text *text, cli_session *session, const margin_model *model,
                        const margin_matrix *x) {
    int64_t count;
    const margin_column *features = margin_model_features(model, &count);
    json_open(text, NULL, '{');
    json_string(text, "output", session->arguments->output);
    json_integer(text, "rows", x->rows);
    json_integer(text, "columns", x->columns);
    json_open(text, "features", '[');
    for (int64_t j = 0; j < count; j++)
        json_string(text, NULL, features[j].name);
    json_close(text, ']');
    json_open(text, "seconds", '{');
    json_number(text, "read", session->read_seconds);
    json_number(text, "transform", session->work_seconds);
    json_number(text, "total", cli_elapsed(session));
    json_close(text, '}');
    json_close(text, '}');
    text_puts(text, "\n");
}

static margin_status transform(cli_session *session, const margin_model *model,
                               const margin_table *table, const char *path,
                               margin_transformed *made) {
    const cli_arguments *a = session->arguments;
    const double start = cli_clock();
    margin_data data = margin_table_data(table);
    margin_status status = margin_transform(session->context, model, &data, made, &session->error);
    if (status < 0) return status;
    session->work_seconds = cli_clock() - start;
    int64_t count;
    data.x = made->x;
    data.columns = margin_model_features(model, &count);
    const margin_write_options options = {
        .size = sizeof options, .labels = a->labels_out, .zero_based = a->zero_based};
    return margin_data_write(session->context, &data, path, &options, &session->error);
}

int run_transform(const cli_arguments *arguments) {
    cli_session session;
    margin_model *model = NULL;
    margin_table *table = NULL;
    margin_transformed made = {.size = sizeof made};
    const char *path = arguments->output ? arguments->output : "-";
    if (arguments->json && !strcmp(path, "-"))
        return cli_usage_error(cli_find_command("transform"),
                               "--json needs -o FILE: the table takes standard output");
    int code = cli_session_open(&session, arguments);
    if (code) return code;
    margin_status status = cli_load_model(&session, arguments->words[0], &model);
    if (status >= 0)
        status =
            cli_read_for_model(&session, model, arguments->words[1], CLI_MAY_HAVE_TARGET, &table);
    if (status >= 0) code = cli_writes_to(path);
    if (status >= 0 && !code) status = transform(&session, model, table, path, &made);
    if (status < 0) {
        code = cli_failed(&session, status);
    } else if (!code && arguments->json) {
        cli_text text = {0};
        json_answer(&text, &session, model, &made.x);
        code = text_finish(&session, &text, NULL);
    } else if (!code && strcmp(path, "-") != 0) {
        cli_note(&session, "%lld row%s, %lld column%s written to %s", (long long)made.x.rows,
                 text_plural(made.x.rows), (long long)made.x.columns, text_plural(made.x.columns),
                 path);
    }
    margin_transformed_free(&made);
    margin_table_free(table);
    margin_model_free(model);
    cli_session_close(&session);
    return code;
}
