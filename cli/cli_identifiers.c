/* What a table seems to hold and is easily overlooked: identifiers among the features, numbers
 * that are read as categories, counts. */
#include "cli.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_ROWS = 20, LOOK = 64 };

static double value_at(const margin_matrix *x, int64_t row, int64_t column) {
    const int64_t at = row * x->stride + column;
    return x->value_type == MARGIN_F32 ? (double)((const float *)x->values)[at]
                                       : ((const double *)x->values)[at];
}

/* ---- Identifiers -------------------------------------------------------------------------------
 * A column looks like one if it is different in every row, and holds categories, or whole numbers
 * that are consecutive or have a name like "id". Measurements that happen to be all different do
 * not. */

static bool ends_like_id(const char *name) {
    const size_t length = strlen(name);
    if (length < 3 || tolower((unsigned char)name[length - 2]) != 'i' ||
        tolower((unsigned char)name[length - 1]) != 'd')
        return false;
    const unsigned char before = (unsigned char)name[length - 3];
    return !isalnum(before) || (islower(before) && name[length - 2] == 'I');
}

static bool is_called_id(const char *name) {
    static const char *const names[] = {"id", "index", "key", "uuid", "unnamed: 0"};
    char lower[16] = "";
    for (size_t k = 0; k + 1 < sizeof lower && name[k]; k++)
        lower[k] = (char)tolower((unsigned char)name[k]);
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
        if (!strcmp(lower, names[k])) return true;
    return ends_like_id(name);
}

int cli_ascending(const void *a, const void *b) {
    const double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Sorts whole numbers; false if one is there twice, is missing or not whole. */
static bool sort_different(double *values, int64_t count) {
    for (int64_t k = 0; k < count; k++)
        if (!(floor(values[k]) == values[k])) return false;
    qsort(values, (size_t)count, sizeof *values, cli_ascending);
    for (int64_t k = 1; k < count; k++)
        if (values[k] == values[k - 1]) return false;
    return true;
}

/* Most columns are ruled out by their first rows. */
static bool numbers_identify(const margin_matrix *x, int64_t column, bool called_id) {
    double first[LOOK], *all;
    const int64_t rows = x->rows, look = rows < LOOK ? rows : LOOK;
    for (int64_t i = 0; i < look; i++)
        first[i] = value_at(x, i, column);
    if (!sort_different(first, look)) return false;
    all = malloc((size_t)rows * sizeof *all);
    if (!all) return false; /* a note less */
    for (int64_t i = 0; i < rows; i++)
        all[i] = value_at(x, i, column);
    const bool different = sort_different(all, rows);
    const bool consecutive = different && all[rows - 1] - all[0] == (double)(rows - 1);
    free(all);
    return consecutive || (different && called_id);
}

static bool identifies(const margin_data *data, int64_t column) {
    const margin_column *c = &data->columns[column];
    if (c->kind == MARGIN_CATEGORICAL) return c->category_count == data->x.rows;
    return data->x.columns > 1 && numbers_identify(&data->x, column, is_called_id(c->name));
}

int64_t cli_next_identifier(const margin_data *data, int64_t from) {
    if (!data->columns || data->x.row_starts || data->x.rows < LEAST_ROWS) return data->x.columns;
    while (from < data->x.columns && !identifies(data, from))
        from++;
    return from;
}

#define IDENTIFIER "column %s: a different value in every row; an identifier? --ignore %s"

static void note_identifiers(const cli_session *session, const margin_data *data) {
    for (int64_t j = cli_next_identifier(data, 0); j < data->x.columns;
         j = cli_next_identifier(data, j + 1))
        cli_note(session, IDENTIFIER, data->columns[j].name, data->columns[j].name);
}

static void json_identifiers(cli_text *text, const margin_data *data) {
    for (int64_t j = cli_next_identifier(data, 0); j < data->x.columns;
         j = cli_next_identifier(data, j + 1)) {
        cli_text note = {0};
        text_printf(&note, IDENTIFIER, data->columns[j].name, data->columns[j].name);
        json_string(text, NULL, note.data ? note.data : "");
        text_free(&note);
    }
}

/* ---- Numbers among texts -----------------------------------------------------------------------
 * A marker such as '-' in a column of numbers makes categories of them all. */

static bool is_number(const char *text) {
    double value;
    return margin_number_parse_f64(text, strlen(text), &value);
}

/* How many rows hold each category of column j (the count of columns: the target); to be freed. */
static int64_t *count_categories(const margin_data *data, int64_t j, const margin_column *column) {
    int64_t *counts = calloc((size_t)column->category_count + 1, sizeof *counts);
    for (int64_t i = 0; counts && i < data->x.rows; i++) {
        const double code =
            j < data->x.columns ? value_at(&data->x, i, j) : ((const double *)data->y.values)[i];
        if (code >= 0 && code < (double)column->category_count) counts[(int64_t)code]++;
    }
    return counts;
}

/* "3 of its 5 values are numbers; the others: '-' 1, 'none' 1" */
static void list_texts(cli_text *text, const margin_column *column, const int64_t *counts) {
    enum { SHOWN = 3 };
    int64_t numbers = 0, texts = 0, shown = 0;
    for (int64_t k = 0; k < column->category_count; k++)
        *(is_number(column->categories[k]) ? &numbers : &texts) += counts[k];
    if (texts == 0 || numbers < texts) return;
    text_printf(text, "%lld of its %lld values are numbers; the others: ", (long long)numbers,
                (long long)(numbers + texts));
    for (int64_t k = 0; k < column->category_count && shown <= SHOWN; k++) {
        if (counts[k] == 0 || is_number(column->categories[k])) continue;
        text_puts(text, shown ? ", " : "");
        if (shown++ == SHOWN) {
            text_puts(text, "...");
            continue;
        }
        text_puts(text, "'");
        text_name(text, column->categories[k], 0, 20);
        text_printf(text, "' %lld", (long long)counts[k]);
    }
}

void text_numbers_among_texts(cli_text *text, const margin_data *data, int64_t j) {
    const margin_column *column = j < data->x.columns ? &data->columns[j] : data->target;
    if (!column || column->kind != MARGIN_CATEGORICAL || data->x.row_starts) return;
    int64_t *counts = count_categories(data, j, column);
    if (counts) list_texts(text, column, counts);
    free(counts);
}

#define MIXED                                                                                      \
    "column %s holds categories: %s; empty them in the file where they mean that there is no "     \
    "value, or --categorical %s says that it is so"

/* What is told to be categories (--categorical) surprises nobody. */
static void find_mixed(const cli_session *session, const margin_data *data, cli_text *json) {
    const bool told = session->arguments->categorical || !data->columns || data->targets > 1;
    for (int64_t j = 0; !told && j <= data->x.columns; j++) {
        cli_text note = {0};
        text_numbers_among_texts(&note, data, j);
        const char *name = j < data->x.columns ? data->columns[j].name
                           : data->target      ? data->target->name
                                               : "";
        if (note.data && json) {
            cli_text line = {0};
            text_printf(&line, MIXED, name, note.data, name);
            json_string(json, NULL, line.data ? line.data : "");
            text_free(&line);
        } else if (note.data) {
            cli_note(session, MIXED, name, note.data, name);
        }
        text_free(&note);
    }
}

void cli_note_columns(const cli_session *session, const margin_data *data) {
    if (session->arguments->quiet) return;
    find_mixed(session, data, NULL);
    note_identifiers(session, data);
}

void json_column_notes(cli_text *text, const cli_session *session, const margin_data *data) {
    json_open(text, "notes", '[');
    find_mixed(session, data, text);
    json_identifiers(text, data);
    json_close(text, ']');
}

/* ---- Counts --------------------------------------------------------------------------------- */

void cli_note_counts(const cli_session *session, const margin_model *model,
                     const margin_data *data) {
    const margin_matrix *x = &data->x;
    if (!x->row_starts || strcmp(margin_model_spec(model), "naive-bayes") != 0) return;
    const int64_t *starts = x->row_starts; /* of 64 bits, as svmlight is read */
    const margin_matrix stored = {.values = x->values, .value_type = x->value_type, .stride = 1};
    double most = 0;
    for (int64_t k = 0; k < starts[x->rows]; k++) {
        const double value = value_at(&stored, k, 0);
        if (!(value >= 0 && value == floor(value))) return;
        most = value > most ? value : most;
    }
    cli_note(session,
             "all values are counts, and naive-bayes took them for measurements: "
             "'naive-bayes(distribution=%s)' may be meant",
             most > 1 ? "multinomial" : "bernoulli");
}
