/* margin split: which rows to learn from and which to judge by, as a list or as files. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const part_names[3] = {"train", "test", "validation"};

/* ---- A list ---------------------------------------------------------------------------------- */

/* What each row is in each column of the list: a part, or the number of the fold that tests it. */
typedef struct {
    int64_t rows, columns;
    int64_t *cell; /* rows x columns; -1: in no part */
    bool parts;
} listing;

static int list_splits(const margin_splits *splits, int64_t rows, bool parts, listing *list) {
    const int64_t folds = margin_splits_folds(splits), count = margin_splits_count(splits);
    int64_t *part = malloc((size_t)(rows + 1) * sizeof *part);
    *list = (listing){.rows = rows, .columns = count / folds, .parts = parts};
    list->cell = malloc((size_t)(rows * list->columns + 1) * sizeof *list->cell);
    if (!part || !list->cell) {
        free(part);
        fputs("margin: out of memory for the list of rows\n", stderr);
        return EXIT_NO_MEMORY;
    }
    for (int64_t k = 0; k < rows * list->columns; k++)
        list->cell[k] = -1;
    for (int64_t s = 0; s < count; s++)
        for (int32_t p = 0; p < 3; p++) {
            const int64_t size = margin_splits_rows(splits, s, p, part);
            for (int64_t i = 0; i < size; i++) {
                int64_t *cell = &list->cell[part[i] * list->columns + s / folds];
                if (parts)
                    *cell = p;
                else if (p == MARGIN_PART_TEST)
                    *cell = s % folds + 1;
                else if (*cell < 0)
                    *cell = 0;
            }
        }
    free(part);
    return EXIT_DONE;
}

static void print_list(cli_text *text, const listing *list) {
    text_puts(text, "row");
    for (int64_t c = 0; c < list->columns; c++)
        if (list->columns > 1)
            text_printf(text, ",%s%lld", list->parts ? "part" : "fold", (long long)c + 1);
        else
            text_puts(text, list->parts ? ",part" : ",fold");
    text_puts(text, "\n");
    for (int64_t i = 0; i < list->rows; i++) {
        text_printf(text, "%lld", (long long)i + 1);
        for (int64_t c = 0; c < list->columns; c++) {
            const int64_t cell = list->cell[i * list->columns + c];
            if (cell < 0)
                text_puts(text, ",");
            else if (list->parts)
                text_printf(text, ",%s", part_names[cell]);
            else
                text_printf(text, ",%lld", (long long)cell);
        }
        text_puts(text, "\n");
    }
}

/* For each split, or repeat of folds, what each row is; null: in no part. */
static void json_list(cli_text *text, const listing *list) {
    json_open(text, NULL, '{');
    json_integer(text, "rows", list->rows);
    json_open(text, list->parts ? "parts" : "folds", '[');
    for (int64_t c = 0; c < list->columns; c++) {
        json_open(text, NULL, '[');
        for (int64_t i = 0; i < list->rows; i++) {
            const int64_t cell = list->cell[i * list->columns + c];
            if (cell < 0)
                json_null(text, NULL);
            else if (list->parts)
                json_string(text, NULL, part_names[cell]);
            else
                json_integer(text, NULL, cell);
        }
        json_close(text, ']');
    }
    json_close(text, ']');
    json_close(text, '}');
    text_puts(text, "\n");
}

/* ---- Files ----------------------------------------------------------------------------------- */

/* "iris.csv" becomes "iris.train.csv", and of several splits "iris.3.train.csv". */
static void part_path(cli_text *path, const char *pattern, int64_t split, int64_t count,
                      int32_t part) {
    const char *slash = strrchr(pattern, '/'), *name = slash ? slash + 1 : pattern;
    const char *dot = strrchr(name, '.');
    if (dot && !strcmp(dot, ".gz")) {
        const char *gz = dot;
        while (gz > name && *--gz != '.')
            ;
        dot = *gz == '.' && gz > name ? gz : dot;
    }
    const size_t stem = dot && dot > name ? (size_t)(dot - pattern) : strlen(pattern);
    text_add(path, pattern, stem);
    if (count > 1) text_printf(path, ".%lld", (long long)split + 1);
    text_printf(path, ".%s%s", part_names[part], dot && dot > name ? dot : ".csv");
}

static int write_part(cli_session *session, const margin_splits *splits, int64_t split,
                      int32_t part, margin_data data, cli_text *report) {
    cli_text path = {0};
    int64_t *rows;
    if (!margin_splits_size(splits, split, part)) return EXIT_DONE;
    int code = cli_split_part(splits, split, (margin_part)part, &data, &rows);
    part_path(&path, session->arguments->output, split, margin_splits_count(splits), part);
    if (!code && (path.failed || !path.data)) code = EXIT_NO_MEMORY;
    if (!code) code = cli_writes_to(path.data);
    if (!code) {
        const margin_write_options options = {.size = sizeof options};
        const margin_status status =
            margin_data_write(session->context, &data, path.data, &options, &session->error);
        if (status < 0) code = cli_failed(session, status);
    }
    if (!code) text_printf(report, "%s  %lld rows\n", path.data, (long long)data.selected);
    free(rows);
    text_free(&path);
    return code;
}

/* None of the files may be the table itself. */
static int check_parts(cli_session *session, const margin_splits *splits) {
    const cli_arguments *a = session->arguments;
    const int64_t count = margin_splits_count(splits);
    int code = EXIT_DONE;
    for (int64_t s = 0; s < count && !code; s++)
        for (int32_t p = 0; p < 3 && !code; p++) {
            cli_text path = {0};
            if (!margin_splits_size(splits, s, p)) continue;
            part_path(&path, a->output, s, count, p);
            if (path.data)
                code = cli_check_made_file(cli_find_command("split"), a, "-o", path.data);
            text_free(&path);
        }
    return code;
}

static int write_parts(cli_session *session, const margin_splits *splits, const margin_data *data) {
    cli_text report = {0};
    const char *weights = session->arguments->weights;
    int code = check_parts(session, splits);
    if (!code && weights && strcmp(weights, "weight") != 0)
        cli_warn("the files have the weights as column weight: --weights weight");
    for (int64_t s = 0; s < margin_splits_count(splits) && !code; s++)
        for (int32_t p = 0; p < 3 && !code; p++)
            code = write_part(session, splits, s, p, *data, &report);
    if (!code && !session->arguments->quiet) return text_finish(session, &report, NULL);
    text_free(&report);
    return code;
}

static int split_table(cli_session *session, const margin_table *table) {
    const cli_arguments *a = session->arguments;
    const margin_data data = margin_table_data(table);
    margin_splits *splits = NULL;
    listing list = {0};
    cli_text text = {0};
    int code = cli_split(session, &data, &splits);
    if (!code && a->output) {
        code = write_parts(session, splits, &data);
    } else if (!code) {
        code = list_splits(splits, data.x.rows, a->holdout != NULL, &list);
        if (!code && a->json) json_list(&text, &list);
        if (!code && !a->json) print_list(&text, &list);
        if (!code) code = text_finish(session, &text, NULL);
        free(list.cell);
    }
    margin_splits_free(splits);
    return code;
}

int run_split(const cli_arguments *arguments) {
    cli_session session;
    margin_table *table = NULL;
    if (!arguments->holdout && arguments->folds <= 0 && !arguments->leave_one_out)
        return cli_usage_error(cli_find_command("split"),
                               "say how: --holdout 0.2 for two parts, or -k 5 for folds");
    if (arguments->json && arguments->output)
        return cli_usage_error(cli_find_command("split"),
                               "--json prints the list, -o writes files");
    int code = cli_session_open(&session, arguments);
    if (code) return code;
    const margin_status status = cli_read_table(&session, arguments->words[0],
                                                !arguments->no_target, MARGIN_MISSING_KEEP, &table);
    code = status < 0 ? cli_failed(&session, status) : split_table(&session, table);
    margin_table_free(table);
    cli_session_close(&session);
    return code;
}
