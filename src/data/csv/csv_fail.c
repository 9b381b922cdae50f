/* What went wrong in a CSV file, in sentences. Only runs after a failure, so it may walk over the
 * text again. */
#include "base/text/text.h"
#include "data/csv/csv.h"

/* The cell that starts at `offset`, without quotes. */
static mg_csv_cell cell_at(const mg_csv *csv, int64_t offset) {
    mg_csv_cursor cursor = {csv->text + offset, csv->text + csv->end, csv->separator};
    const char *start = cursor.at, *stop = cursor.at;
    bool ended;
    if (!mg_csv_next(&cursor, &start, &stop, &ended)) return (mg_csv_cell){start, 0, MG_CSV_PLAIN};
    return mg_csv_cell_of(start, stop, true);
}

static mg_excerpt_text column_name(const mg_csv *csv, int64_t column) {
    return mg_excerpt(csv->names[column], (int64_t)strlen(csv->names[column]));
}

/* Offset of the first thing in a cell: blanks before it are not worth pointing at. */
static int64_t visible(const mg_csv *csv, int64_t offset) {
    while (offset < csv->end && mg_csv_is_blank(csv->text[offset]) &&
           csv->text[offset] != csv->separator)
        offset++;
    return offset;
}

/* ---- Rows ----------------------------------------------------------------------------------- */

static int64_t count_cells(const mg_csv *csv, mg_csv_cursor *cursor) {
    const char *start, *stop;
    bool ended = false;
    int64_t cells = 0;
    while (!ended && mg_csv_next(cursor, &start, &stop, &ended))
        cells += stop > start || csv->separator != MG_CSV_BLANKS;
    return cells;
}

margin_status mg_csv_fail_ragged(const mg_csv *csv, int64_t offset) {
    MG_TRY(mg_source_restore(csv->source, csv->error));
    mg_csv_cursor cursor = {csv->text + offset, csv->text + csv->end, csv->separator};
    while (mg_csv_next_row(&cursor)) {
        if (mg_cancelled(csv->context)) return mg_fail_cancelled(csv->error);
        int64_t row = cursor.at - csv->text, cells = count_cells(csv, &cursor);
        if (cells == csv->columns) continue;
        return mg_fail_source(
            csv->error, csv->source, row,
            "the row has %lld cell%s, but the %s has %lld: correct it; a text that "
            "contains the separator ('%s') must be in double quotes",
            (long long)cells, cells == 1 ? "" : "s", csv->has_header ? "header" : "first row",
            (long long)csv->columns,
            csv->separator == '\t'            ? "tab"
            : csv->separator == MG_CSV_BLANKS ? "blank"
                                              : (char[2]){csv->separator, 0});
    }
    return mg_fail(csv->error, MARGIN_ERROR_FILE, "%s changed while it was being read",
                   csv->source->name);
}

margin_status mg_csv_fail_separator(const mg_csv *csv) {
    const char *line = csv->has_header ? csv->names[0] : csv->text + csv->first;
    const int64_t room = csv->has_header ? (int64_t)strlen(line) : csv->end - csv->first;
    const char *newline = memchr(line, '\n', (size_t)room);
    return mg_fail(
        csv->error, MARGIN_ERROR_DATA,
        "%s has one column, for no separator was found in '%s' (a tab, a semicolon, a bar, a "
        "comma, or as many blanks in every row): name the separator. Beside the target "
        "there has to be another column (the last column is the target unless told "
        "otherwise)",
        csv->source->name, mg_excerpt(line, newline ? newline - line : room).text);
}

margin_status mg_csv_fail_quotes(const mg_csv *csv) {
    static const char sentence[] =
        "a double quote inside a cell: enclose the whole cell in double quotes and double the ones "
        "inside it (\"5\"\" disk\")";
    MG_TRY(mg_source_restore(csv->source, csv->error));
    mg_csv_cursor cursor = {csv->text + csv->first, csv->text + csv->end, csv->separator};
    const char *start, *stop, *last = NULL;
    bool ended;
    while (mg_csv_next(&cursor, &start, &stop, &ended)) {
        if (mg_cancelled(csv->context)) return mg_fail_cancelled(csv->error);
        mg_csv_cell cell = mg_csv_cell_of(start, stop, true);
        const char *quote = memchr(start, '"', (size_t)(stop - start));
        if (cell.quoting != MG_CSV_DAMAGED || !quote) continue;
        last = quote;
        if (stop < cursor.end) break;
    }
    if (!last) last = csv->text + csv->first;
    bool open = memchr(last + 1, '"', (size_t)(csv->text + csv->end - last - 1)) == NULL;
    return mg_fail_source(csv->error, csv->source, last - csv->text, "%s",
                          open ? "this double quote is never closed" : sentence);
}

/* ---- Cells ---------------------------------------------------------------------------------- */

/* A text that is not among the categories (classes) of the model. */
static margin_status csv_fail_unknown(const mg_csv *csv, int64_t column, int64_t offset,
                                      mg_excerpt_text text) {
    const margin_column *expected = csv->plan[column].expected;
    const bool target = csv->plan[column].role == MG_ROLE_TARGET;
    mg_name_list known = {.most = 12};
    for (int64_t k = 0; k < expected->category_count && !known.full; k++)
        mg_name_list_add(&known, expected->categories[k], "'");
    return mg_fail_source(csv->error, csv->source, offset,
                          "'%s' in column '%s' is %s that the model does not know; it knows %s%s",
                          text.text, column_name(csv, column).text,
                          target ? "a class" : "a category", known.count ? known.text : "none",
                          target ? ": correct it, or leave such rows out (MARGIN_MISSING_DROP)"
                                 : ", and its spec refuses others");
}

static margin_status fail_cell(const mg_csv *csv, const mg_csv_result *result) {
    int64_t offset = visible(csv, result->offset);
    mg_csv_cell cell = cell_at(csv, result->offset);
    mg_excerpt_text text = mg_excerpt(cell.text, cell.length),
                    name = column_name(csv, result->column);
    const mg_column_plan *plan = &csv->plan[result->column];
    switch (result->reason) {
    case MG_CSV_NOT_NUMBER:
        return mg_fail_source(csv->error, csv->source, offset,
                              "'%s' in column '%s' is not a number, but %s", text.text, name.text,
                              plan->role == MG_ROLE_WEIGHT
                                  ? "the weights must be numbers"
                                  : "the model was trained on numbers there");
    case MG_CSV_INEXACT:
        return mg_fail_source(csv->error, csv->source, offset,
                              "'%s' in column '%s' is a whole number beyond 2^53, which no number "
                              "of the model can be exactly: correct it",
                              text.text, name.text);
    case MG_CSV_BAD_WEIGHT:
        return mg_fail_source(csv->error, csv->source, offset,
                              "the weight '%s' in column '%s' cannot be used: weights are finite "
                              "numbers, 0 or more",
                              text.text, name.text);
    case MG_CSV_NO_VALUE:
        return mg_fail_source(csv->error, csv->source, offset,
                              "the value of %s '%s' is missing (cell '%s', data row %lld)",
                              plan->role == MG_ROLE_TARGET ? "the target" : "column", name.text,
                              text.text, (long long)result->row + 1);
    case MG_CSV_UNKNOWN:
        return csv_fail_unknown(csv, result->column, offset, text);
    case MG_CSV_QUOTES:
        return mg_fail_source(csv->error, csv->source, offset,
                              "a double quote inside the cell of column '%s': enclose the whole "
                              "cell in double quotes and double the ones inside it",
                              name.text);
    default:
        return mg_fail(csv->error, MARGIN_ERROR_LIMIT,
                       "%s: column '%s' has too many categories: ignore it, or read it as f64 if "
                       "the table is f32",
                       csv->source->name, name.text);
    }
}

/* What a program is told of a cell, beside the sentence. */
static margin_cause cause_of(const mg_csv *csv, const mg_csv_result *result) {
    switch (result->reason) {
    case MG_CSV_NO_VALUE:
        return MARGIN_CAUSE_MISSING_VALUE;
    case MG_CSV_BAD_WEIGHT:
        return MARGIN_CAUSE_WEIGHTS;
    case MG_CSV_NOT_NUMBER:
        return MARGIN_CAUSE_CATEGORIES;
    case MG_CSV_UNKNOWN:
        return csv->plan[result->column].role == MG_ROLE_TARGET ? MARGIN_CAUSE_UNKNOWN_CLASS
                                                                : MARGIN_CAUSE_UNKNOWN_CATEGORY;
    default:
        return MARGIN_CAUSE_NONE;
    }
}

margin_status mg_csv_fail_result(const mg_csv *csv, const mg_csv_result *result) {
    margin_status status;
    MG_TRY(mg_source_restore(csv->source, csv->error));
    switch (result->reason) {
    case MG_CSV_MEMORY:
        return mg_no_memory(csv->heap, csv->rows, sizeof(int32_t), "the categories of a column",
                            csv->error);
    case MG_CSV_CHANGED:
        return mg_fail(csv->error, MARGIN_ERROR_FILE,
                       "%s changed while it was being read: read it again once it is complete",
                       csv->source->name);
    case MG_CSV_RAGGED:
        status = mg_csv_fail_ragged(csv, result->offset);
        break;
    default:
        status = fail_cell(csv, result);
    }
    if (csv->error) {
        csv->error->row = result->row + 1;
        csv->error->cause = (int32_t)cause_of(csv, result);
    }
    return status;
}

/* ---- Columns -------------------------------------------------------------------------------- */

/* The first text of a column, and its row from 0. */
static margin_status find_text(const mg_csv *csv, int64_t column, mg_csv_cell *found,
                               int64_t *offset, int64_t *row) {
    MG_TRY(mg_source_restore(csv->source, csv->error));
    mg_csv_cursor cursor = {csv->text + csv->first, csv->text + csv->end, csv->separator};
    const char *start, *stop;
    for (*row = 0; mg_csv_next_row(&cursor); ++*row) {
        bool ended = false;
        if (*row % 4096 == 0 && mg_cancelled(csv->context)) return mg_fail_cancelled(csv->error);
        for (int64_t j = 0; !ended && mg_csv_next(&cursor, &start, &stop, &ended); j++) {
            if (j != column) continue;
            *found = mg_csv_cell_of(start, stop, true);
            *offset = visible(csv, start - csv->text);
            if (mg_csv_content_of(found) == MG_CSV_IS_TEXT) return MARGIN_OK;
        }
    }
    return MARGIN_OK;
}

margin_status mg_csv_fail_stray(const mg_csv *csv, int64_t column, int64_t numbers, int64_t texts) {
    mg_csv_cell cell = {0};
    int64_t offset = csv->first, row = 0;
    MG_TRY(find_text(csv, column, &cell, &offset, &row));
    margin_status status = mg_fail_source(
        csv->error, csv->source, offset,
        "'%s' in column '%s' is not a number, while %lld of its %lld values are: correct it%s, or "
        "empty the cell if the value is missing, or read the column as categories "
        "(margin_read_options.categorical)",
        mg_excerpt(cell.text, cell.length).text, column_name(csv, column).text, (long long)numbers,
        (long long)(numbers + texts), texts > 1 ? " and the like" : "");
    if (csv->error) csv->error->row = row + 1;
    return status;
}

margin_status mg_csv_fail_written_number(const mg_csv *csv, int64_t column) {
    mg_csv_cell cell = {0};
    int64_t offset = csv->first, row;
    MG_TRY(find_text(csv, column, &cell, &offset, &row));
    return mg_fail_source(
        csv->error, csv->source, offset,
        "'%s' in column '%s' looks like a number with a comma or a unit: write decimal "
        "points, leave out units and what stands between thousands, or read the column as "
        "categories "
        "(margin_read_options.categorical)",
        mg_excerpt(cell.text, cell.length).text, column_name(csv, column).text);
}

margin_status mg_csv_fail_zero_byte(const mg_csv *csv, int64_t column) {
    mg_excerpt_text name = column_name(csv, column);
    MG_TRY(mg_source_restore(csv->source, csv->error));
    const char *zero = memchr(csv->text + csv->first, '\0', (size_t)(csv->end - csv->first));
    return mg_fail_source(csv->error, csv->source, zero ? zero - csv->text : csv->first,
                          "a zero byte in a text of column '%s': this is not a text file",
                          name.text);
}
