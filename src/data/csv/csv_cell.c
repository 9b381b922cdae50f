#include "data/csv/csv_cell.h"

#include "base/text/number_text.h"

int64_t mg_csv_unescape(const mg_csv_cell *cell, char *to) {
    int64_t length = 0;
    for (int64_t k = 0; k < cell->length; k++) {
        to[length++] = cell->text[k];
        k += cell->text[k] == '"'; /* the second one of a pair */
    }
    return length;
}

static bool is_nan_word(const char *text) {
    return (text[0] | 32) == 'n' && (text[1] | 32) == 'a' && (text[2] | 32) == 'n';
}

bool mg_csv_is_missing(const char *text, int64_t length) {
    switch (length) {
    case 0:
        return true;
    case 1:
        return *text == '?';
    case 2:
        return memcmp(text, "NA", 2) == 0;
    case 3:
        return is_nan_word(text) || memcmp(text, "N/A", 3) == 0 || memcmp(text, "n/a", 3) == 0;
    case 4:
        return ((*text == '-' || *text == '+') && is_nan_word(text + 1)) ||
               memcmp(text, "null", 4) == 0 || memcmp(text, "NULL", 4) == 0 ||
               memcmp(text, "#N/A", 4) == 0;
    default:
        return false;
    }
}

mg_csv_content mg_csv_content_of(const mg_csv_cell *cell) {
    const char *start = cell->text, *stop = cell->text + cell->length;
    double value;
    mg_csv_trim(&start, &stop);
    if (mg_csv_is_missing(start, stop - start)) return MG_CSV_MISSING;
    return margin_number_parse_f64(start, (size_t)(stop - start), &value) ? MG_CSV_IS_NUMBER
                                                                          : MG_CSV_IS_TEXT;
}

/* ---- UTF-8 ---------------------------------------------------------------------------------- */

int64_t mg_csv_from_latin1(const char *text, int64_t length, char *to) {
    int64_t written = 0;
    for (int64_t k = 0; k < length; k++) {
        unsigned char byte = (unsigned char)text[k];
        if (byte < 0x80) {
            to[written++] = (char)byte;
        } else {
            to[written++] = (char)(0xc0 | byte >> 6);
            to[written++] = (char)(0x80 | (byte & 0x3f));
        }
    }
    return written;
}

/* ---- Cell after cell ------------------------------------------------------------------------ */

const char *mg_csv_skip_blanks(const char *at, const char *end) {
    while (at < end && mg_csv_is_blank(*at))
        at++;
    return at;
}

static bool is_gap(char c) {
    return c == ' ' || c == '\t';
}

static const char *skip_gap(const char *at, const char *end) {
    while (at < end && is_gap(*at))
        at++;
    return at;
}

const char *mg_csv_row_end(const char *at, const char *end) {
    at = skip_gap(at, end);
    at += at < end && *at == '\r' && (at + 1 == end || at[1] == '\n');
    return at == end || *at == '\n' ? at : NULL;
}

/* Between blanks, the cell is what stands between two runs of them. */
bool mg_csv_next(mg_csv_cursor *cursor, const char **start, const char **stop, bool *row_ended) {
    if (cursor->at > cursor->end) return false;
    const bool blanks = cursor->separator == MG_CSV_BLANKS;
    bool quoted = false;
    const char *at = blanks ? skip_gap(cursor->at, cursor->end) : cursor->at;
    const char *row_end = blanks ? mg_csv_row_end(at, cursor->end) : NULL;
    *start = at;
    for (; !row_end && at < cursor->end; at++) {
        if (*at == '"')
            quoted = !quoted;
        else if (!quoted && (*at == '\n' || (blanks ? is_gap(*at) : *at == cursor->separator)))
            break;
    }
    *stop = at;
    if (blanks)
        row_end = mg_csv_row_end(at, cursor->end);
    else if (at >= cursor->end || *at == '\n')
        row_end = at;
    *row_ended = row_end != NULL;
    cursor->at = row_end ? row_end + 1 : blanks ? skip_gap(at, cursor->end) : at + 1;
    return true;
}

bool mg_csv_next_row(mg_csv_cursor *cursor) {
    while (cursor->at < cursor->end) {
        const char *at = cursor->at;
        at += *at == '\r' && at + 1 < cursor->end && at[1] == '\n';
        if (*at != '\n') return true;
        cursor->at = at + 1;
    }
    return false;
}
