/* margin separable: the widest hyperplane between two classes, or the proof that there is none. */
#include "cli.h"

#include <stdio.h>

static void json_pairs(cli_text *text, const char *key, const int64_t *rows, const double *weights,
                       int64_t count) {
    json_open(text, key, '[');
    for (int64_t i = 0; i < count; i++) {
        json_open(text, NULL, '[');
        json_integer(text, NULL, rows[i] + 1);
        json_number(text, NULL, weights[i]);
        json_close(text, ']');
    }
    json_close(text, ']');
}

static void json_answer(cli_text *text, cli_session *session, margin_status status,
                        const margin_separation *s, const margin_data *data) {
    json_open(text, NULL, '{');
    if (data->target) json_string(text, "target", data->target->name);
    if (status == MARGIN_OK || s->separable)
        json_bool(text, "separable", s->separable);
    else
        json_null(text, "separable");
    json_integer(text, "rows", s->rows);
    json_integer(text, "columns", s->columns);
    if (s->separable) {
        json_number(text, "margin", s->margin);
        json_number(text, "gap", s->margin_gap);
        json_numbers(text, "weights", s->weights, s->columns);
        json_number(text, "intercept", s->intercept);
    } else {
        json_pairs(text, "positive", s->positive_rows, s->positive_weights, s->positive_count);
        json_pairs(text, "negative", s->negative_rows, s->negative_weights, s->negative_count);
        json_number(text, "residual", s->residual);
    }
    json_integer(text, "iterations", s->iterations);
    json_open(text, "seconds", '{');
    json_number(text, "read", session->read_seconds);
    json_number(text, "separate", s->seconds);
    json_number(text, "total", cli_elapsed(session));
    json_close(text, '}');
    json_close(text, '}');
    text_puts(text, "\n");
}

static void print_hyperplane(cli_text *text, margin_status status, const margin_separation *s,
                             const margin_data *data) {
    text_puts(text, "separable   yes: a hyperplane keeps every row at least ");
    text_short(text, s->margin);
    text_puts(text, " away\nwidest      to a relative gap of ");
    text_short(text, s->margin_gap);
    if (status == MARGIN_STOPPED_TIME)
        text_puts(text, ": the time limit came before the widest was found");
    else if (status != MARGIN_OK)
        text_puts(text, ": double precision tells no more; the columns' sizes differ too much "
                        "(leave identifiers out, bring the others to similar sizes)");
    text_puts(text, "\n\n");
    for (int64_t j = 0; j < s->columns; j++) {
        text_puts(text, "  ");
        if (data->columns)
            text_name(text, data->columns[j].name, 28, 0);
        else
            text_printf(text, "x%-27lld", (long long)j + 1);
        text_puts(text, " ");
        text_short(text, s->weights[j]);
        text_puts(text, "\n");
    }
    text_printf(text, "  %-28s ", "(intercept)");
    text_short(text, s->intercept);
    text_puts(text, "\n");
}

static void print_side(cli_text *text, const char *title, const int64_t *rows,
                       const double *weights, int64_t count) {
    text_printf(text, "\n%s\n", title);
    for (int64_t i = 0; i < count; i++) {
        text_printf(text, "  row %-8lld ", (long long)rows[i] + 1);
        text_short(text, weights[i]);
        text_puts(text, "\n");
    }
}

static void print_proof(cli_text *text, const margin_separation *s) {
    text_puts(text, "residual    ");
    text_short(text, s->residual);
    text_puts(text, " of a column's range\n");
    if (s->positive_count == 0 || s->negative_count == 0) return;
    print_side(text, "weights on rows of the positive class (sum 1)", s->positive_rows,
               s->positive_weights, s->positive_count);
    print_side(text, "weights on rows of the negative class (sum 1)", s->negative_rows,
               s->negative_weights, s->negative_count);
}

static int answer(cli_session *session, margin_status status, const margin_separation *s,
                  const margin_data *data) {
    cli_text text = {0};
    if (session->arguments->json) {
        json_answer(&text, session, status, s, data);
    } else {
        text_table_target(&text, data, session->target_why);
        if (status == MARGIN_STOPPED_TIME && !s->separable)
            text_puts(&text,
                      "undecided   the time limit came before either proof; the nearest pair "
                      "of weighted means:\n");
        else if (status != MARGIN_OK && !s->separable)
            text_puts(&text,
                      "undecided   neither answer could be proven in double precision (bring "
                      "the columns to similar sizes); the nearest pair of weighted means:\n");
        else if (!s->separable)
            text_puts(&text, "separable   no: these weighted means of the two classes coincide to "
                             "the residual, so no hyperplane parts them by more\n");
        if (s->separable)
            print_hyperplane(&text, status, s, data);
        else
            print_proof(&text, s);
    }
    int code = text_finish(session, &text, session->arguments->output);
    return code ? code : cli_exit_code(status);
}

int run_separable(const cli_arguments *arguments) {
    cli_session session;
    margin_table *table = NULL;
    int code = cli_session_open(&session, arguments);
    if (code) return code;
    margin_status status =
        cli_read_table(&session, arguments->words[0], true, cli_missing(arguments, NULL), &table);
    if (status < 0) {
        code = cli_failed(&session, status);
    } else {
        margin_data data = margin_table_data(table);
        margin_separation separation = {0};
        const margin_separable_options options = {.size = sizeof options,
                                                  .positive = arguments->positive};
        status =
            margin_separable_with(session.context, &data, &options, &separation, &session.error);
        if (status < 0) {
            code = cli_failed(&session, status);
        } else {
            code = answer(&session, status, &separation, &data);
            margin_separation_free(&separation);
        }
    }
    margin_table_free(table);
    cli_session_close(&session);
    return code;
}
