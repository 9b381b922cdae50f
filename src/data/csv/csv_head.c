/* The beginning of a CSV file: is it text, where do the rows start and end, what separates cells,
 * how many columns are there and what are they called. */
#include "base/text/nearest.h"
#include "data/csv/csv.h"

#include <stdio.h>
#include <strings.h>

enum {
    SAMPLE_ROWS = 100,      /* rows looked at for the separator */
    SAMPLE_BYTES = 1 << 20, /* and at most about so much text */
    NUMBERED_NAME = 24,
    DOS_END = 0x1a
};

/* ---- First bytes ---------------------------------------------------------------------------- */

typedef struct magic {
    const char *bytes;
    int length;
    const char *what;
} magic;

/* Text behind the blanks at `at`; past lines of comments (`comment`), if there are any. */
static const char *first_word(const mg_csv *csv, char comment) {
    const char *at = csv->text, *end = csv->text + csv->end;
    while (at < end && (mg_csv_is_blank(*at) || *at == '\n' || *at == comment)) {
        const char *newline = *at == comment ? memchr(at, '\n', (size_t)(end - at)) : at;
        at = newline ? newline + 1 : end;
    }
    return at;
}

/* Formats that are told by their first word; all bytes looked at are there, zeros behind the text.
 */
static const char *other_format(const mg_csv *csv) {
    const char *at = first_word(csv, '\n'), *next = at + (*at != 0);
    next += strspn(next, " \t\r\n");
    if (*at == '{' && (*next == '"' || *next == '}'))
        return "JSON: write its records as the rows of a CSV table";
    if (*at == '[' && (*next == '{' || *next == '['))
        return "JSON: write its records as the rows of a CSV table";
    at = first_word(csv, '%');
    if (*at == '@' && strncasecmp(at, "@relation", 9) == 0)
        return "ARFF: take out the lines up to @data and put a line with the names of the "
               "attributes in their place";
    if (csv->source->length > 10 && memcmp(csv->text + 4, "\0\0\0\0{\"", 6) == 0)
        return "a model (safetensors), which holds no rows";
    return NULL;
}

static margin_status check_magic(const mg_csv *csv) {
    static const magic known[] = {
        {"\xff\xfe", 2, "UTF-16 text: save it as UTF-8 (iconv -f UTF-16 -t UTF-8)"},
        {"\xfe\xff", 2, "UTF-16 text: save it as UTF-8 (iconv -f UTF-16 -t UTF-8)"},
        {"PK\x03\x04", 4, "a zip archive or a spreadsheet: unpack it, or export the table as CSV"},
        {"PAR1", 4, "a Parquet file: export the table as CSV"},
        {"\x89HDF", 4, "an HDF5 file: export the table as CSV"},
        {"SQLite", 6, "an SQLite database: export the table as CSV"},
        {"\x28\xb5\x2f\xfd", 4, "compressed with zstd: unpack it (zstd -d) or pipe it in"},
        {"BZh", 3, "compressed with bzip2: unpack it (bunzip2) or pipe it in"},
        {"\xfd"
         "7zXZ",
         5, "compressed with xz: unpack it (unxz) or pipe it in"}};
    for (int k = 0; k < MG_LENGTH(known); k++)
        MG_REQUIRE(csv->source->length < known[k].length ||
                       memcmp(csv->text, known[k].bytes, (size_t)known[k].length) != 0,
                   csv->error, MARGIN_ERROR_FORMAT, "%s is not CSV but %s", csv->source->name,
                   known[k].what);
    const char *other = other_format(csv);
    MG_REQUIRE(!other, csv->error, MARGIN_ERROR_FORMAT, "%s is not CSV but %s", csv->source->name,
               other);
    return MARGIN_OK;
}

static margin_status fail_empty(const mg_csv *csv) {
    return mg_fail(csv->error, MARGIN_ERROR_DATA, "%s is empty: there is nothing to read",
                   csv->source->name);
}

static margin_status fail_long_row(const mg_csv *csv) {
    return mg_fail_source(csv->error, csv->source, csv->first,
                          "the row is longer than %lld bytes, which is the limit: is this a table?",
                          (long long)MARGIN_MAX_LINE_BYTES);
}

/* Where text that starts at csv->first is not looked at any more: one row may not reach so far. */
static int64_t row_limit(const mg_csv *csv) {
    return MG_MIN(csv->end, csv->first + MARGIN_MAX_LINE_BYTES + 1);
}

/* Offset behind the line that starts at `offset`, or the end of what may be one. */
static int64_t line_end(const mg_csv *csv, int64_t offset) {
    int64_t limit = MG_MIN(csv->end, offset + MARGIN_MAX_LINE_BYTES + 1);
    const char *newline = memchr(csv->text + offset, '\n', (size_t)(limit - offset));
    return newline ? newline - csv->text + 1 : limit;
}

static bool is_blank_line(const mg_csv *csv, int64_t first, int64_t last) {
    const char *start = csv->text + first, *stop = csv->text + last;
    if (start < stop && stop[-1] == '\n') stop--;
    while (start < stop && mg_csv_is_blank(*start) &&
           (*start != csv->separator || *start == MG_CSV_BLANKS))
        start++;
    return start == stop;
}

/* Skips a byte order mark, blank lines (of tabs, too: the separator is not known yet) and comments:
 * lines that start with '#', up to the first line that does not. */
static margin_status find_first_row(mg_csv *csv) {
    csv->first = csv->end >= 3 && memcmp(csv->text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (csv->first < csv->end) {
        int64_t next = line_end(csv, csv->first);
        if (next - csv->first > MARGIN_MAX_LINE_BYTES) return fail_long_row(csv);
        if (csv->text[csv->first] != '#' && !is_blank_line(csv, csv->first, next)) break;
        csv->first = next;
    }
    return csv->first < csv->end ? MARGIN_OK : fail_empty(csv);
}

/* Takes blank lines and the last newline off the end. At least the first row stays: it is not
 * blank. */
static void find_last_row(mg_csv *csv) {
    for (;;) {
        int64_t line = csv->end;
        while (line > csv->first && csv->text[line - 1] != '\n')
            line--;
        if (line == csv->first || !is_blank_line(csv, line, csv->end)) return;
        csv->end = line - 1;
    }
}

static margin_status check_line_ends(const mg_csv *csv) {
    const char *start = csv->text + csv->first;
    size_t length = (size_t)(csv->end - csv->first);
    if (memchr(start, '\n', length)) return MARGIN_OK;
    const char *lone = memchr(start, '\r', length);
    if (!lone || lone == csv->text + csv->end - 1) return MARGIN_OK;
    return mg_fail_source(csv->error, csv->source, lone - csv->text,
                          "lines end in a carriage return alone, as on an old Macintosh: convert "
                          "them (tr '\\r' '\\n')");
}

/* ---- Separator ------------------------------------------------------------------------------ */

static const char candidates[] = {'\t', ';', '|', ','};
enum { CANDIDATES = sizeof candidates, BLANKS = CANDIDATES, ALIGNED, COUNTS };

/* Candidates outside quotes in the row at *at, runs of blanks inside the row and those of two
 * spaces or more; moves *at behind it. */
static void count_candidates(const char **at, const char *end, int64_t counts[COUNTS]) {
    bool quoted = false;
    *at = mg_csv_skip_blanks(*at, end);
    for (; *at < end; ++*at) {
        char c = **at;
        if (c == '"') quoted = !quoted;
        if (quoted) continue;
        if (c == '\n') break;
        for (int k = 0; k < CANDIDATES; k++)
            counts[k] += c == candidates[k];
        if (!mg_csv_is_blank(c) || mg_csv_is_blank((*at)[-1])) continue;
        const char *behind = mg_csv_skip_blanks(*at, end);
        counts[BLANKS] += behind < end && *behind != '\n';
        counts[ALIGNED] += behind < end && *behind != '\n' && c == ' ' && (*at)[1] == ' ';
    }
    ++*at;
}

/* The first of tab, ';', '|', ',' that the sampled rows contain equally often, at least once. The
 * comma comes last as it is the one that other files contain regularly (decimal commas). Else runs
 * of blanks that are as regular; those that align columns go before tabs. If none is regular, the
 * one of which each row has at least one, then the most frequent one in the first row; a file
 * without any has one column. */
static char find_separator(const mg_csv *csv) {
    int64_t least[COUNTS] = {0}, most[COUNTS] = {0}, first[COUNTS] = {0};
    const char *start = csv->text + csv->first, *at = start, *end = csv->text + row_limit(csv);
    for (int row = 0; row < SAMPLE_ROWS && at < end && at - start < SAMPLE_BYTES; row++) {
        int64_t counts[COUNTS] = {0};
        mg_csv_cursor cursor = {at, end, 0};
        if (!mg_csv_next_row(&cursor)) break;
        at = cursor.at;
        count_candidates(&at, end, counts);
        for (int k = 0; k < COUNTS; k++) {
            if (row == 0) first[k] = least[k] = most[k] = counts[k];
            least[k] = MG_MIN(least[k], counts[k]);
            most[k] = MG_MAX(most[k], counts[k]);
        }
    }
    const bool blanks = least[BLANKS] > 0 && least[BLANKS] == most[BLANKS];
    for (int k = 0; k < CANDIDATES; k++) {
        const bool aligned =
            candidates[k] == '\t' && least[ALIGNED] > 0 && blanks && least[BLANKS] > most[k];
        if (least[k] > 0 && least[k] == most[k] && !aligned) return candidates[k];
    }
    if (blanks) return MG_CSV_BLANKS;
    int best = CANDIDATES - 1;
    for (int k = 0; k < CANDIDATES; k++)
        if ((least[k] > 0) > (least[best] > 0) ||
            ((least[k] > 0) == (least[best] > 0) && first[k] > first[best]))
            best = k;
    return candidates[best];
}

static margin_status choose_separator(mg_csv *csv) {
    char given = csv->options->separator;
    bool usable =
        given == 0 || given == ' ' || given == '\t' ||
        (given > ' ' && given < 0x7f && !strchr("\"'#.+-", given) &&
         !(given >= '0' && given <= '9') && !((given | 32) >= 'a' && (given | 32) <= 'z'));
    MG_REQUIRE(usable, csv->error, MARGIN_ERROR_ARGUMENT,
               "the separator (byte %d) cannot be used: it must be a tab, a space or a punctuation "
               "character that does not occur in numbers",
               (unsigned char)given);
    const char *name = csv->source->name;
    int64_t length = (int64_t)strlen(name);
    if (given)
        csv->separator = given;
    else if (mg_ends_with(name, length, ".tsv") || mg_ends_with(name, length, ".tsv.gz"))
        csv->separator = '\t';
    else
        csv->separator = find_separator(csv);
    return MARGIN_OK;
}

/* ---- Columns and names ---------------------------------------------------------------------- */

static margin_status count_columns(mg_csv *csv) {
    mg_csv_cursor cursor = {csv->text + csv->first, csv->text + row_limit(csv), csv->separator};
    const char *start, *stop;
    bool ended = false;
    for (csv->columns = 0; !ended && mg_csv_next(&cursor, &start, &stop, &ended); csv->columns++)
        if (csv->columns == MARGIN_MAX_CSV_COLUMNS)
            return mg_fail_source(
                csv->error, csv->source, csv->first,
                "the row has more than %d columns, which is the limit: write wide "
                "sparse data as svmlight",
                MARGIN_MAX_CSV_COLUMNS);
    int64_t bytes = cursor.at - (csv->text + csv->first);
    return bytes > MARGIN_MAX_LINE_BYTES ? fail_long_row(csv) : MARGIN_OK;
}

static const char *read_first_row(const mg_csv *csv, mg_csv_cell *cells) {
    mg_csv_cursor cursor = {csv->text + csv->first, csv->text + csv->end, csv->separator};
    const char *start, *stop;
    bool ended;
    for (int64_t j = 0; j < csv->columns && mg_csv_next(&cursor, &start, &stop, &ended); j++)
        cells[j] = mg_csv_cell_of(start, stop, true);
    return cursor.at;
}

/* The name in a header cell as zero-terminated UTF-8 at `to`; an empty one is called by number. */
static int64_t write_name(const mg_csv_cell *cell, int64_t column, char *to) {
    if (cell->length == 0) return snprintf(to, NUMBERED_NAME, "x%lld", (long long)column + 1) + 1;
    int64_t length = cell->length;
    if (!mg_is_utf8(cell->text, length)) {
        mg_csv_cell wide = *cell;
        length = mg_csv_from_latin1(cell->text, length, to);
        wide.text = to;
        wide.length = length;
        if (cell->quoting == MG_CSV_ESCAPED) length = mg_csv_unescape(&wide, to);
    } else if (cell->quoting == MG_CSV_ESCAPED) {
        length = mg_csv_unescape(cell, to);
    } else {
        memcpy(to, cell->text, (size_t)length);
    }
    to[length] = '\0';
    return length + 1;
}

static margin_status check_name(const mg_csv *csv, const mg_csv_cell *cell, int64_t column) {
    if (cell->quoting == MG_CSV_DAMAGED)
        return mg_fail_source(csv->error, csv->source, cell->text - csv->text,
                              "the name of column %lld has a double quote inside: enclose the name "
                              "in double quotes and double those inside",
                              (long long)column + 1);
    if (memchr(cell->text, '\0', (size_t)cell->length))
        return mg_fail_source(csv->error, csv->source, cell->text - csv->text,
                              "the name of column %lld has a zero byte: this is not a text file",
                              (long long)column + 1);
    return MARGIN_OK;
}

static margin_status take_names(mg_csv *csv, const mg_csv_cell *cells) {
    int64_t bytes = csv->columns * NUMBERED_NAME;
    for (int64_t j = 0; csv->has_header && j < csv->columns; j++)
        bytes += 2 * cells[j].length + 1;
    MG_NEW(csv->heap, csv->names, csv->columns, "the names of the columns", csv->error);
    MG_NEW(csv->heap, csv->name_text, bytes, "the names of the columns", csv->error);
    static const mg_csv_cell nameless = {0};
    char *at = csv->name_text;
    for (int64_t j = 0; j < csv->columns; j++) {
        csv->names[j] = at;
        at += write_name(csv->has_header ? &cells[j] : &nameless, j, at);
    }
    return MARGIN_OK;
}

static margin_status decide_header(mg_csv *csv, const mg_csv_cell *cells, const char *rest) {
    switch (csv->options->header) {
    case MARGIN_HEADER_YES:
        csv->has_header = true;
        break;
    case MARGIN_HEADER_NO:
        csv->has_header = false;
        break;
    case MARGIN_HEADER_AUTO:
        MG_TRY(mg_csv_guess_header(csv, cells, rest, &csv->has_header));
        break;
    }
    if (!csv->has_header) return MARGIN_OK;
    for (int64_t j = 0; j < csv->columns; j++)
        MG_TRY(check_name(csv, &cells[j], j));
    mg_csv_cursor below = {rest, csv->text + csv->end, csv->separator};
    MG_REQUIRE(mg_csv_next_row(&below), csv->error, MARGIN_ERROR_DATA,
               "%s has a header but no rows%s", csv->source->name,
               csv->options->header == MARGIN_HEADER_AUTO
                   ? " (if its only line is data, say that it has no header)"
                   : "");
    csv->first = below.at - csv->text;
    return MARGIN_OK;
}

margin_status mg_csv_read_head(mg_csv *csv) {
    csv->end = csv->source->length;
    if (csv->end > 0 && csv->text[csv->end - 1] == DOS_END) csv->end--;
    MG_TRY(check_magic(csv));
    MG_TRY(find_first_row(csv));
    MG_TRY(check_line_ends(csv));
    MG_TRY(choose_separator(csv));
    find_last_row(csv);
    MG_TRY(count_columns(csv));

    mg_csv_cell *cells = NULL;
    MG_NEW(csv->heap, cells, csv->columns, "the first row", csv->error);
    const char *rest = read_first_row(csv, cells);
    margin_status status = decide_header(csv, cells, rest);
    if (status == MARGIN_OK) status = take_names(csv, cells);
    mg_free(csv->heap, cells);
    return status;
}
