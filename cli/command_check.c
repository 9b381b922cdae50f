/* margin check: what is in a table. */
#include "cli.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void json_column(cli_text *text, const margin_column_summary *s, bool target) {
    json_open(text, NULL, '{');
    json_string(text, "name", s->column.name);
    json_string(text, "type", s->type);
    if (target) json_bool(text, "target", true);
    json_integer(text, "count", s->count);
    json_integer(text, "missing", s->missing);
    if (s->distinct >= 0) json_integer(text, "distinct", s->distinct);
    if (s->column.kind == MARGIN_CATEGORICAL) {
        if (s->top >= 0) {
            json_string(text, "top", s->column.categories[s->top]);
            json_integer(text, "top_count", s->top_count);
        }
    } else {
        json_integer(text, "zeros", s->zeros);
        json_number(text, "min", s->minimum);
        json_number(text, "max", s->maximum);
        json_number(text, "mean", s->mean);
        json_number(text, "sd", s->deviation);
    }
    json_close(text, '}');
}

static void print_column(cli_text *text, const margin_column_summary *s, bool target) {
    text_name(text, s->column.name, 24, 24);
    text_printf(text, " %-9s%s %9lld ", s->type, target ? "*" : " ", (long long)s->missing);
    if (s->distinct >= 0)
        text_printf(text, "%9lld ", (long long)s->distinct);
    else
        text_printf(text, "%9s ", ">1000");
    if (s->column.kind == MARGIN_CATEGORICAL) {
        if (s->top >= 0) {
            text_puts(text, "most often ");
            text_name(text, s->column.categories[s->top], 0, 40);
            text_printf(text, " (%lld)", (long long)s->top_count);
        }
    } else {
        double numbers[] = {s->minimum, s->maximum, s->mean, s->deviation};
        for (int k = 0; k < 4; k++) /* NaN has no sign to speak of */
            text_printf(text, k ? " %11.5g" : "%11.5g",
                        isnan(numbers[k]) ? fabs(numbers[k]) : numbers[k]);
    }
    text_puts(text, "\n");
}

static int64_t count_missing(const margin_column_summary *summaries, int64_t count) {
    int64_t missing = 0;
    for (int64_t j = 0; j < count; j++)
        missing += summaries[j].missing;
    return missing;
}

static const char *format_name(margin_format format) {
    switch (format) {
    case MARGIN_FORMAT_CSV:
        return "csv";
    case MARGIN_FORMAT_SVMLIGHT:
        return "svmlight";
    case MARGIN_FORMAT_NPY:
        return "npy";
    case MARGIN_FORMAT_IDX:
        return "idx";
    case MARGIN_FORMAT_ARROW:
        return "arrow";
    case MARGIN_FORMAT_AUTO:
        break;
    }
    return "";
}

static void json_table(cli_text *text, cli_session *session, const margin_table *table,
                       const margin_data *data, const margin_column_summary *summaries,
                       int64_t count) {
    const margin_table_details details = cli_table_details(table);
    json_open(text, NULL, '{');
    json_string(text, "format", format_name(details.format));
    json_bool(text, "header", details.has_header);
    json_bool(text, "sparse", data->x.row_starts != NULL);
    json_integer(text, "rows", data->x.rows);
    json_open(text, "columns", '[');
    for (int64_t j = 0; j < count; j++)
        json_column(text, &summaries[j], j >= data->x.columns);
    json_close(text, ']');
    json_integer(text, "missing", count_missing(summaries, count));
    json_column_notes(text, session, data);
    json_open(text, "seconds", '{');
    json_number(text, "read", session->read_seconds);
    json_number(text, "total", cli_elapsed(session));
    json_close(text, '}');
    json_memory(text, session);
    json_close(text, '}');
    text_puts(text, "\n");
}

static void print_table(cli_text *text, const margin_table *table, const margin_data *data,
                        const margin_column_summary *summaries, int64_t count) {
    const margin_table_details details = cli_table_details(table);
    const int64_t missing = count_missing(summaries, count);
    text_printf(text, "%s, %lld row%s, %lld column%s, %lld missing value%s\n\n",
                format_name(details.format), (long long)data->x.rows, text_plural(data->x.rows),
                (long long)count, text_plural(count), (long long)missing, text_plural(missing));
    text_printf(text, "%-24s %-10s %9s %9s %11s %11s %11s %11s\n", "column", "type", "missing",
                "distinct", "min", "max", "mean", "sd");
    for (int64_t j = 0; j < count; j++)
        print_column(text, &summaries[j], j >= data->x.columns);
    if (count > data->x.columns)
        text_puts(text, data->targets > 1 ? "\n* the targets\n" : "\n* the target\n");
}

static int describe(cli_session *session, const margin_table *table) {
    margin_data data = margin_table_data(table);
    int64_t count = data.x.columns;
    if (data.target) count += data.targets > 1 ? data.targets : 1;
    margin_column_summary *summaries = calloc((size_t)(count > 0 ? count : 1), sizeof *summaries);
    if (!summaries) {
        fputs("margin: out of memory for the summaries\n", stderr);
        return EXIT_NO_MEMORY;
    }
    int code;
    margin_status status =
        margin_table_summarize(session->context, table, summaries, count, &session->error);
    if (status < 0) {
        code = cli_failed(session, status);
    } else {
        cli_text text = {0};
        if (!session->arguments->json) cli_note_columns(session, &data);
        if (session->arguments->json)
            json_table(&text, session, table, &data, summaries, count);
        else
            print_table(&text, table, &data, summaries, count);
        code = text_finish(session, &text, session->arguments->output);
    }
    free(summaries);
    return code;
}

int run_check(const cli_arguments *arguments) {
    cli_session session;
    margin_table *table = NULL;
    int code = cli_session_open(&session, arguments);
    if (code) return code;
    margin_status status =
        cli_read_table(&session, arguments->words[0], true, MARGIN_MISSING_KEEP, &table);
    code = status < 0 ? cli_failed(&session, status) : describe(&session, table);
    margin_table_free(table);
    cli_session_close(&session);
    return code;
}
