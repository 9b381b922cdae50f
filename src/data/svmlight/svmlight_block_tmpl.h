/* Reads blocks of svmlight text; defines SVMLIGHT_PARSER with the instruction set of the including
 * file.
 *
 *   line  = [label] { blank ["qid:" digits | index ":" number] } [blank] ["#" anything] newline
 *   label = number | name without colon, comma and blank
 *   blank = spaces and tabs; empty lines and lines of a comment alone are no rows
 *
 * The fast path is one mg_pair_at per pair; whatever it does not take (a line's end, more blanks,
 * large indices, long numbers, mistakes) goes through `careful_index`, which decides for good. The
 * text may change underneath if it is a mapped file: rows and pairs are checked against the room
 * there is, and every loop ends at the zeros behind the text. */
#include "data/csv/csv_cell.h"
#include "data/source/token_tmpl.h"
#include "data/svmlight/svmlight_block.h"

#include <math.h>

/* ---- Characters ------------------------------------------------------------------------------ */

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

static const char *skip_blanks(const char *p) {
    while (is_blank(*p))
        p++;
    return p;
}

/* Blocks end behind a newline; only the last one may end without, and zeros follow it. */
static bool at_line_end(const char *p, const char *end) {
    return *p == '\n' || *p == '#' || p >= end || (*p == '\r' && (p[1] == '\n' || p + 1 >= end));
}

static bool at_token_end(const char *p, const char *end) {
    return is_blank(*p) || at_line_end(p, end);
}

static const char *next_line(const char *p, const char *end) {
    if (*p == '\n') return p + 1;
    if (p >= end) return end;
    const char *newline = memchr(p, '\n', (size_t)(end - p));
    return newline != NULL ? newline + 1 : end;
}

static const char *fail(mg_svmlight_block *block, mg_svmlight_fault fault, const char *place) {
    block->fault = fault;
    block->place = place;
    return NULL;
}

/* ---- Labels ---------------------------------------------------------------------------------- */

/* What stands at `p` is no number. */
static const char *read_label_name(const mg_svmlight_rules *rules, mg_svmlight_block *block,
                                   const char *p, double *label) {
    const char *q = p;
    bool list = false;
    for (; !at_token_end(q, block->end); q++) {
        if (*q == ':') { /* it is a pair */
            *label = (double)NAN;
            return rules->label_optional ? p : fail(block, MG_SVMLIGHT_NO_LABEL, p);
        }
        list |= *q == ',';
    }
    if (list && rules->labels != MG_SVMLIGHT_SKIPPED)
        return fail(block, MG_SVMLIGHT_SEVERAL_LABELS, p);
    if (mg_csv_is_missing(p, q - p)) {
        *label = (double)NAN;
    } else if (rules->labels == MG_SVMLIGHT_NUMBERS) {
        return fail(block, MG_SVMLIGHT_LABEL_NAME, p);
    } else {
        block->named_label = true;
        if (rules->labels == MG_SVMLIGHT_NUMBERS_ELSE) return NULL;
        *label = (double)(p - rules->text);
    }
    return q;
}

/* Reads the label at `p`, which is not blank. Returns its end (p itself if there is none), NULL if
 * the block ends here. */
static const char *read_label(const mg_svmlight_rules *rules, mg_svmlight_block *block,
                              const char *p, double *label, bool *drop) {
    double number;
    const char *q = mg_number_at_f64(p, block->end, &number);
    if (q == NULL || !at_token_end(q, block->end)) {
        q = read_label_name(rules, block, p, label);
        if (q == NULL || q == p) return q;
    } else if (rules->labels == MG_SVMLIGHT_PLACES && !isnan(number)) {
        *label = (double)(p - rules->text);
    } else if (MG_UNLIKELY(fabs(number) >= 0x1p53) && rules->labels != MG_SVMLIGHT_SKIPPED &&
               mg_number_loses_digits(p, q - p)) {
        block->named_label = true;
        return rules->labels == MG_SVMLIGHT_NUMBERS ? fail(block, MG_SVMLIGHT_LABEL_INEXACT, p)
                                                    : NULL;
    } else {
        *label = number;
        if (isinf(number) && rules->labels != MG_SVMLIGHT_SKIPPED)
            return fail(block, MG_SVMLIGHT_LABEL_INFINITE, p);
    }
    if (MG_UNLIKELY(isnan(*label)) && rules->labels != MG_SVMLIGHT_SKIPPED) {
        if (rules->label_required) return fail(block, MG_SVMLIGHT_LABEL_MISSING, p);
        *drop = rules->missing == MARGIN_MISSING_DROP;
    }
    return q;
}

/* ---- Indices --------------------------------------------------------------------------------- */

typedef enum careful_step {
    LINE_ENDS,
    LOOK_AGAIN,  /* something without a value was skipped */
    VALUE_COMES, /* an index was read */
    GIVEN_UP
} careful_step;

static careful_step skip_query_id(mg_svmlight_block *block, const char **position) {
    const char *p = *position + 4;
    while ((unsigned)(*p - '0') < 10)
        p++;
    if (p == *position + 4 || !at_token_end(p, block->end)) {
        fail(block, MG_SVMLIGHT_NO_PAIR, *position);
        return GIVEN_UP;
    }
    block->query_ids = true;
    *position = p;
    return LOOK_AGAIN;
}

static mg_svmlight_fault check_index(const mg_svmlight_rules *rules, int64_t index,
                                     int64_t previous) {
    if (index > MG_SVMLIGHT_LAST_INDEX) return MG_SVMLIGHT_INDEX_LARGE;
    if (index > previous) return MG_SVMLIGHT_FINE;
    if (index == 0 && !rules->zero_index) return MG_SVMLIGHT_INDEX_ZERO;
    return index == previous ? MG_SVMLIGHT_INDEX_REPEATED : MG_SVMLIGHT_INDEX_DESCENDS;
}

/* Moves *position over one thing of a line; VALUE_COMES: behind the colon of *index. */
static careful_step careful_index(const mg_svmlight_rules *rules, mg_svmlight_block *block,
                                  const char **position, int64_t previous, int64_t *index) {
    const char *start = *position, *p = start;
    if (is_blank(*start)) {
        *position = skip_blanks(start);
        return LOOK_AGAIN;
    }
    if (at_line_end(start, block->end)) return LINE_ENDS;
    if (memcmp(start, "qid:", 4) == 0) return skip_query_id(block, position);
    int64_t value = 0;
    for (; (unsigned)(*p - '0') < 10; p++)
        if (value <= MG_SVMLIGHT_LAST_INDEX) value = value * 10 + (*p - '0');
    mg_svmlight_fault fault =
        p == start || *p != ':' ? MG_SVMLIGHT_NO_PAIR : check_index(rules, value, previous);
    if (fault != MG_SVMLIGHT_FINE) {
        fail(block, fault, start);
        return GIVEN_UP;
    }
    *index = value;
    *position = p + 1;
    return VALUE_COMES;
}

/* The value of the pair at `p`. */
static const char *behind_colon(const char *p) {
    while (*p != ':')
        p++;
    return p + 1;
}

/* ---- Rows, for both types of values ---------------------------------------------------------- */

#define REAL_TYPES_TMPL "data/svmlight/svmlight_rows_tmpl.h"
#include "base/real_types_tmpl.h"

/* ---- Counting -------------------------------------------------------------------------------- */

static void count_block(mg_svmlight_block *block) {
    const char *p = block->begin, *end = block->end;
    int64_t newlines = 0, colons = 0;
    for (; end - p >= 64; p += 64) {
        const mg_chunk chunk = mg_chunk_load(p);
        newlines += mg_count_bits(mg_chunk_equal(chunk, '\n'));
        colons += mg_count_bits(mg_chunk_equal(chunk, ':'));
    }
    bool open = p > block->begin && p[-1] != '\n';
    if (p < end) {
        const mg_chunk chunk = mg_chunk_load(p);
        const uint64_t inside = ~(uint64_t)0 >> (64 - (end - p));
        newlines += mg_count_bits(mg_chunk_equal(chunk, '\n') & inside);
        colons += mg_count_bits(mg_chunk_equal(chunk, ':') & inside);
        open = end[-1] != '\n';
    }
    block->row_room = newlines + open;
    block->pair_room = colons;
}

const mg_svmlight_parser SVMLIGHT_PARSER = {count_block, parse_f64, parse_f32};
