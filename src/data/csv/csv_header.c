/* Is the first row a header? The rule, also stated in margin/data.h:
 *
 *  1. Read as a model wants it: yes if a cell is the name of one of the model's columns (numbered
 *     names, x1, x2, ..., do not count).
 *  2. A text above a column of numbers: yes.
 *  3. Only numbers, all different, above columns of which some are texts and none numbers: yes
 *     (columns that were numbered).
 *  4. Only texts (or empty), all different, none of which appears below in its own column: yes.
 *  5. Otherwise no.
 *
 * "Below" are the rows that follow, up to 1000 of them and about 1 MB. Tables of categories alone
 * are told by 4: in a row of data some value repeats, in the row or below it. */
#include "base/sort.h"
#include "data/csv/csv.h"

enum { SAMPLE_ROWS = 1000, SAMPLE_BYTES = 1 << 20, WANTED_NAMES = 1000 };

/* What is known of the cells below one cell of the first row. */
typedef struct below {
    bool numbers, texts, same;
} below;

static bool same_cell(const mg_csv_cell *a, const mg_csv_cell *b) {
    return a->length == b->length && memcmp(a->text, b->text, (size_t)a->length) == 0;
}

static void look_below(const mg_csv *csv, const mg_csv_cell *first_row, const char *rest,
                       below *columns) {
    mg_csv_cursor cursor = {rest, csv->text + csv->end, csv->separator};
    for (int row = 0; row < SAMPLE_ROWS && cursor.at - rest < SAMPLE_BYTES; row++) {
        if (!mg_csv_next_row(&cursor)) return;
        const char *start, *stop;
        bool ended = false;
        for (int64_t j = 0; !ended && mg_csv_next(&cursor, &start, &stop, &ended); j++) {
            if (j >= csv->columns) continue;
            mg_csv_cell cell = mg_csv_cell_of(start, stop, true);
            mg_csv_content content = mg_csv_content_of(&cell);
            columns[j].numbers |= content == MG_CSV_IS_NUMBER;
            columns[j].texts |= content == MG_CSV_IS_TEXT;
            columns[j].same |= same_cell(&cell, &first_row[j]);
        }
    }
}

static int by_content(const void *a, const void *b) {
    const mg_csv_cell *left = a, *right = b;
    int order = memcmp(left->text, right->text, (size_t)MG_MIN(left->length, right->length));
    if (order) return order;
    return left->length < right->length ? -1 : left->length > right->length;
}

/* True if no two cells that are not empty are the same. Sorts `cells`; behind them is room for as
 * many. */
static bool all_different(mg_csv_cell *cells, int64_t count) {
    mg_sort_few_items(cells, count, sizeof *cells, cells + count, by_content);
    for (int64_t j = 1; j < count; j++)
        if (cells[j].length && same_cell(&cells[j], &cells[j - 1])) return false;
    return true;
}

static bool is_numbered_name(const char *name) {
    if (*name != 'x' || !name[1]) return false;
    return name[1 + strspn(name + 1, "0123456789")] == '\0';
}

/* Rule 1. */
static bool names_a_wanted_column(const mg_csv *csv, const mg_csv_cell *cells) {
    const margin_read_options *options = csv->options;
    int64_t count = options->expected ? MG_MIN(options->expected_count, (int64_t)WANTED_NAMES) : 0;
    for (int64_t k = 0; k < count; k++) {
        const char *name = options->expected[k].name;
        int64_t length = (int64_t)strlen(name);
        if (is_numbered_name(name)) continue;
        for (int64_t j = 0; j < csv->columns; j++)
            if (cells[j].length == length && memcmp(cells[j].text, name, (size_t)length) == 0)
                return true;
    }
    return false;
}

static bool csv_header_judge(const mg_csv *csv, const mg_csv_cell *first_row, const below *columns,
                             mg_csv_cell *scratch) {
    bool any_number = false, any_text = false, only_numbers = true;
    bool seen_below = false, texts_below = false, numbers_below = false;
    for (int64_t j = 0; j < csv->columns; j++) {
        mg_csv_content content =
            first_row[j].length ? mg_csv_content_of(&first_row[j]) : MG_CSV_MISSING;
        if (content == MG_CSV_IS_TEXT && columns[j].numbers && !columns[j].texts) return true;
        any_number |= content == MG_CSV_IS_NUMBER;
        any_text |= content == MG_CSV_IS_TEXT;
        only_numbers &= content == MG_CSV_IS_NUMBER;
        seen_below |= first_row[j].length && columns[j].same;
        texts_below |= columns[j].texts;
        numbers_below |= columns[j].numbers;
        scratch[j] = first_row[j];
    }
    if (only_numbers && texts_below && !numbers_below) return all_different(scratch, csv->columns);
    return any_text && !any_number && !seen_below && all_different(scratch, csv->columns);
}

margin_status mg_csv_guess_header(const mg_csv *csv, const mg_csv_cell *first_row, const char *rest,
                                  bool *has_header) {
    if (names_a_wanted_column(csv, first_row)) {
        *has_header = true;
        return MARGIN_OK;
    }
    below *columns;
    mg_csv_cell *scratch;
    MG_SCOPED_ARENA(arena, csv->heap);
    MG_TRY(MG_PIECES(&arena, "the first rows", csv->error, MG_PIECE(columns, csv->columns),
                     MG_PIECE(scratch, 2 * csv->columns)));
    memset(columns, 0, (size_t)csv->columns * sizeof *columns);
    look_below(csv, first_row, rest, columns);
    *has_header = csv_header_judge(csv, first_row, columns, scratch);
    return MARGIN_OK;
}
