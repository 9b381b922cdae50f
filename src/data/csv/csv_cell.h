/* One cell of a CSV file: what its bytes mean. Shared by the careful readers of the head and of
 * samples and by the block parser. */
#pragma once

#include "base/status.h"

#include <stdbool.h>
#include <string.h>

typedef enum mg_csv_quoting {
    MG_CSV_PLAIN,
    MG_CSV_QUOTED,  /* "text", or 'text' where the quotes are the first and last character */
    MG_CSV_ESCAPED, /* "text" with "" in it */
    MG_CSV_DAMAGED  /* a double quote that neither begins nor ends the cell nor is doubled */
} mg_csv_quoting;

typedef struct mg_csv_cell {
    const char *text; /* inside the quotes */
    int64_t length;
    mg_csv_quoting quoting;
} mg_csv_cell;

/* Blanks around a cell mean nothing. CR is one, so that CRLF needs no other care. */
MG_INLINE bool mg_csv_is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

MG_INLINE void mg_csv_trim(const char **start, const char **stop) {
    while (*start < *stop && mg_csv_is_blank(**start))
        ++*start;
    while (*start < *stop && mg_csv_is_blank((*stop)[-1]))
        --*stop;
}

/* A cell in double quotes, blanks around them trimmed. */
static inline mg_csv_cell mg_csv_double_quoted(const char *start, const char *stop) {
    mg_csv_cell cell = {start + 1, stop - start - 2, MG_CSV_QUOTED};
    if (stop - start < 2 || stop[-1] != '"') return (mg_csv_cell){start, 0, MG_CSV_DAMAGED};
    const char *inner_stop = stop - 1;
    for (const char *at = cell.text; at < inner_stop; at += 2) {
        at = memchr(at, '"', (size_t)(inner_stop - at));
        if (!at) break;
        if (at + 1 == inner_stop || at[1] != '"') return (mg_csv_cell){start, 0, MG_CSV_DAMAGED};
        cell.quoting = MG_CSV_ESCAPED;
    }
    return cell;
}

/* The cell in [start, stop). `quotes` false: the file has no double quote, do not look for one. */
MG_INLINE mg_csv_cell mg_csv_cell_of(const char *start, const char *stop, bool quotes) {
    mg_csv_trim(&start, &stop);
    mg_csv_cell cell = {start, stop - start, MG_CSV_PLAIN};
    if (cell.length == 0) return cell;
    if (quotes && *start == '"') return mg_csv_double_quoted(start, stop);
    if (quotes && memchr(start, '"', (size_t)cell.length))
        cell.quoting = MG_CSV_DAMAGED;
    else if (*start == '\'' && cell.length >= 2 && stop[-1] == '\'')
        cell = (mg_csv_cell){start + 1, cell.length - 2, MG_CSV_QUOTED};
    return cell;
}

/* Writes the text without the doubling of its quotes and returns its length; `to` holds
 * cell->length bytes. */
int64_t mg_csv_unescape(const mg_csv_cell *cell, char *to);

/* True for the texts that stand for a missing value: nothing, ?, NA, N/A, n/a, #N/A, null, NULL,
 * and nan in any case and with any sign. */
bool mg_csv_is_missing(const char *text, int64_t length);

/* What a cell is, for deciding about columns: trims inside quotes as well. */
typedef enum mg_csv_content { MG_CSV_MISSING, MG_CSV_IS_NUMBER, MG_CSV_IS_TEXT } mg_csv_content;
mg_csv_content mg_csv_content_of(const mg_csv_cell *cell);

/* A text that is not UTF-8 is taken for Latin-1: writes it as UTF-8 (at most twice as long) and
 * returns the length. */
int64_t mg_csv_from_latin1(const char *text, int64_t length, char *to);

/* The separator that stands for runs of blanks: no cell is empty, and blanks at the ends of a row
 * mean nothing. */
enum { MG_CSV_BLANKS = ' ' };
const char *mg_csv_skip_blanks(const char *at, const char *end);

/* Where such a row ends, at a newline or `end`, if nothing is left of it but blanks and the CR of
 * its CRLF; else NULL. Any other CR is part of a cell. */
const char *mg_csv_row_end(const char *at, const char *end);

/* ---- Cell after cell ------------------------------------------------------------------------
 * The plain way to walk over text: for the head, for samples, and for explaining an error. */
typedef struct mg_csv_cursor {
    const char *at, *end;
    char separator;
} mg_csv_cursor;

/* The next cell [start, stop); *row_ended: it is the last of its row. False at the end of the
 * text. A blank line is a row of one empty cell. */
bool mg_csv_next(mg_csv_cursor *cursor, const char **start, const char **stop, bool *row_ended);
/* Skips blank lines; true if a row starts at cursor->at. */
bool mg_csv_next_row(mg_csv_cursor *cursor);
