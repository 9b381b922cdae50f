/* margin gram: the Gram matrix of a table, as a learner with a kernel sees it. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows that are shown, and that are written to a file: 3.2 GB of numbers. */
enum { MOST_SHOWN = 100, MOST_WRITTEN = 20000 };

static int refuse_size(int64_t rows, bool file) {
    fprintf(stderr,
            "margin: the Gram matrix of %lld rows has %lld numbers; margin gram %s at most %d "
            "rows%s\n",
            (long long)rows, (long long)rows * (long long)rows, file ? "writes" : "shows",
            file ? MOST_WRITTEN : MOST_SHOWN, file ? "" : ": -o FILE.csv or FILE.npy takes more");
    return EXIT_NO_MEMORY;
}

static void print_gram(cli_text *text, const double *values, int64_t rows) {
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < rows; j++)
            text_printf(text, "%s%10.6g", j ? " " : "", values[i * rows + j] + 0.0);
        text_puts(text, "\n");
    }
}

static void json_gram(cli_text *text, const cli_session *session, const double *values,
                      int64_t rows) {
    json_open(text, NULL, '{');
    json_string(text, "spec", session->arguments->words[0]);
    json_integer(text, "rows", rows);
    json_open(text, "gram", '[');
    for (int64_t i = 0; i < rows; i++)
        json_numbers(text, NULL, values + i * rows, rows);
    json_close(text, ']');
    json_close(text, '}');
    text_puts(text, "\n");
}

/* Columns k1, k2, ...: no target. */
static int write_gram(cli_session *session, const double *values, int64_t rows) {
    const char *path = session->arguments->output;
    const margin_data data = {.x = margin_dense_f64(values, rows, rows, rows)};
    const margin_write_options options = {.size = sizeof options};
    int code = cli_writes_to(path);
    if (code) return code;
    const margin_status status =
        margin_data_write(session->context, &data, path, &options, &session->error);
    if (status < 0) return cli_failed(session, status);
    if (session->arguments->json) {
        cli_text text = {0};
        json_open(&text, NULL, '{');
        json_string(&text, "spec", session->arguments->words[0]);
        json_string(&text, "output", path);
        json_integer(&text, "rows", rows);
        json_close(&text, '}');
        text_puts(&text, "\n");
        return text_finish(session, &text, NULL);
    }
    cli_note(session, "the Gram matrix of %lld rows written to %s", (long long)rows, path);
    return EXIT_DONE;
}

static int show(cli_session *session, const double *values, int64_t rows) {
    cli_text text = {0};
    if (session->arguments->output) return write_gram(session, values, rows);
    if (session->arguments->json)
        json_gram(&text, session, values, rows);
    else
        print_gram(&text, values, rows);
    return text_finish(session, &text, NULL);
}

static int gram_of_table(cli_session *session, const margin_spec *spec, const margin_table *table) {
    const margin_data data = margin_table_data(table);
    const int64_t most = data.x.rows;
    const bool file = session->arguments->output != NULL;
    int64_t rows = 0;
    if (most > (file ? MOST_WRITTEN : MOST_SHOWN)) return refuse_size(most, file);
    double *values = malloc((size_t)(most * most + 1) * sizeof *values);
    if (!values) {
        fputs("margin: out of memory for the Gram matrix\n", stderr);
        return EXIT_NO_MEMORY;
    }
    const margin_status status =
        margin_gram(session->context, spec, &data, most * most, values, &rows, &session->error);
    const int code = status < 0 ? cli_failed(session, status) : show(session, values, rows);
    free(values);
    return code;
}

int run_gram(const cli_arguments *arguments) {
    cli_session session;
    margin_spec *spec = NULL;
    margin_table *table = NULL;
    if (arguments->json && arguments->output && !strcmp(arguments->output, "-"))
        return cli_usage_error(cli_find_command("gram"),
                               "--json needs a file for -o: the matrix takes standard output");
    int code = cli_session_open(&session, arguments);
    if (code) return code;
    margin_status status =
        margin_spec_parse(session.context, arguments->words[0], &spec, &session.error);
    session.spec = arguments->words[0];
    if (status >= 0)
        status = cli_read_table(&session, arguments->words[1], true,
                                cli_missing(arguments, margin_spec_text(spec)), &table);
    code = status < 0 ? cli_failed(&session, status) : gram_of_table(&session, spec, table);
    margin_table_free(table);
    margin_spec_free(spec);
    cli_session_close(&session);
    return code;
}
