/* The CSV reader from the inside. Stages, one file each:
 *
 *   csv_head.c     first bytes, comments, separator, columns and their names
 *   csv_header.c   is the first row a header?
 *   csv_rows.c     pass 1: rows and quotes per block of text, where the rows of each block lie
 *   csv_kinds.c    what each column is to be read as, from its part and a sample
 *   csv_block*.c   pass 2: blocks parsed straight into the final arrays
 *   csv_pass.c     ... by any worker
 *   csv_codes.c    dictionaries of the workers merged, codes brought into sorted order
 *   csv_judge.c    was a column of texts meant to be one of numbers?
 *   csv_drop.c     rows with missing values left out
 *   csv_fail.c     sentences for what went wrong
 *   csv.c          the order of all this
 *
 * Blocks are cut by bytes and handed to any worker. Nothing that can be seen depends on them: rows
 * have exact numbers from pass 1, and the codes of categories are their places in sorted order. A
 * column counts as numeric until a text turns up in it; then that column alone is read again as
 * categories (csv.c: promotion), so the sample decides about speed only. */
#pragma once

#include "base/text/number_text.h"
#include "data/csv/csv_cell.h"
#include "data/dictionary/dictionary.h"
#include "data/source/source.h"
#include "data/table/table.h"

/* The category that missing values are, where they are one; readable beyond its end, as
 * dictionaries want it. */
#define MG_CSV_MISSING_NAME "missing\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
enum { MG_CSV_MISSING_LENGTH = 7 };

/* Pass 1, for one block and each of the two states it may start in (0: outside quotes). */
typedef struct mg_csv_count {
    int64_t rows[2];        /* newlines outside quotes that end a row (not a blank line) */
    int64_t first[2];       /* offset of the first newline outside quotes, -1: none */
    int64_t last[2];        /* of the last one */
    bool first_is_blank[2]; /* the first one ends a blank line */
    bool odd_quotes;        /* the next block starts in the other state */
    bool any_quotes;
} mg_csv_count;

/* The rows that belong to block b start in [start of b, start of b + 1). */
typedef struct mg_csv_block {
    int64_t start; /* offset of its first row */
    int64_t row;   /* number of that row */
} mg_csv_block;

/* How the cells of a column are treated in one pass. */
typedef enum mg_csv_kind {
    MG_CSV_NUMBER, /* a text is noted: the column may have to be read again; so is a whole number
                      that f64 cannot hold: an identifier keeps its digits */
    MG_CSV_STRICT, /* a text is an error */
    MG_CSV_WEIGHT, /* strict, finite and not negative */
    MG_CSV_TEXT,   /* a code of the worker's dictionary */
    MG_CSV_LISTED, /* a code of the given list, NaN if it is not there */
    MG_CSV_UNUSED, /* not wanted, but its quotes must be right */
    MG_CSV_SKIPPED /* was read in an earlier pass */
} mg_csv_kind;

typedef struct mg_csv_column {
    mg_csv_kind kind;
    bool feature;
    bool narrow;         /* f32: a feature of such a table */
    bool names_missing;  /* TEXT, LISTED: a missing value is the category MG_CSV_MISSING_NAME */
    bool refuses;        /* LISTED: what is not in the list is an error */
    bool required;       /* a missing value is an error */
    bool exact;          /* STRICT: a whole number that f64 cannot hold is an error */
    bool label;          /* NUMBER: '007' is no number, as it would lose its zeros */
    int64_t slot;        /* TEXT: its number among the pass's text columns */
    mg_dictionary *list; /* LISTED; TEXT: its codes come first. NULL: none */
    char *cells;         /* where the value of row 0 goes */
    int64_t step;        /* bytes to that of the next row */
} mg_csv_column;

/* Why a block stopped. */
typedef enum mg_csv_reason {
    MG_CSV_FINE = 0,
    MG_CSV_RAGGED,     /* too few or too many cells */
    MG_CSV_QUOTES,     /* a damaged cell */
    MG_CSV_NOT_NUMBER, /* a text in a strict column */
    MG_CSV_INEXACT,    /* a whole number that f64 cannot hold in an exact column */
    MG_CSV_NO_VALUE,   /* missing, and that is an error */
    MG_CSV_BAD_WEIGHT,
    MG_CSV_UNKNOWN,  /* a category that is not in a list, and that is an error */
    MG_CSV_TOO_MANY, /* categories for the type of the table */
    MG_CSV_CHANGED,  /* the text is not what pass 1 saw */
    MG_CSV_MEMORY
} mg_csv_reason;

typedef struct mg_csv_result {
    mg_csv_reason reason;
    int worker;     /* whose dictionaries the codes belong to */
    int64_t offset; /* of the cell, where reason is not FINE */
    int64_t column;
    int64_t row;
    int64_t missing; /* in features */
    int64_t unknown; /* values that are not in their list, of features and target */
    int64_t unknown_classes;
} mg_csv_result;

/* What one worker keeps from block to block. */
typedef struct mg_csv_worker {
    mg_dictionary *dictionaries; /* one per text column of the pass */
    uint8_t *misfits;            /* per column: 1 if a text was met in a NUMBER column */
    uint32_t *ends;              /* MG_CSV_STEP + slack: ends of cells */
    char *scratch;               /* for unescaping */
    int64_t scratch_bytes;
} mg_csv_worker;

enum { MG_CSV_STEP = 4096 }; /* bytes whose cell ends are listed at a time */

/* One walk over all blocks. */
typedef struct mg_csv_pass {
    mg_heap *heap;
    const char *text;
    int64_t end; /* of the text: the last row ends there without a newline */
    char separator;
    bool has_quotes;
    bool counting; /* count missing and unknown values, apply `missing` (first pass) */
    margin_missing missing;
    uint8_t *dropped; /* per row, for MARGIN_MISSING_DROP */
    int64_t column_count;
    const mg_csv_column *columns;
    int64_t text_columns;
    const mg_csv_block *blocks; /* one more than there are */
    mg_csv_result *results;     /* per block */
} mg_csv_pass;

/* Everything hot, per instruction set. */
typedef struct mg_csv_kernels {
    void (*count)(const char *text, int64_t first, int64_t last, mg_csv_count *count);
    /* Parses block `block`; the outcome is in pass->results[block]. */
    void (*parse)(const mg_csv_pass *pass, int64_t block, mg_csv_worker *worker);
} mg_csv_kernels;
extern const mg_csv_kernels mg_csv_kernels_ref;
#if defined(__x86_64__)
extern const mg_csv_kernels mg_csv_kernels_avx2;
#endif

/* The state of one reading. */
typedef struct mg_csv {
    margin_context *context;
    mg_heap *heap;
    const mg_source *source;
    const margin_read_options *options;
    margin_error *error;
    const mg_csv_kernels *kernels;
    const char *text;

    char separator;
    bool has_header;
    int64_t first, end; /* the rows lie in text[first, end), without the last newline */
    int64_t columns;
    const char **names; /* as they stand in the file, or x1, x2, ... */
    char *name_text;

    bool has_quotes;
    int64_t rows;
    int64_t block_bytes, block_count;
    mg_csv_block *blocks;

    mg_column_plan *plan;
    int64_t features, targets;
    mg_csv_column *cells;      /* per column: how to read it */
    mg_dictionary *categories; /* per column: what was found in a TEXT column; heap NULL: nothing */
    int32_t **orders;          /* per column: codes of `categories` in sorted order, or NULL */
    mg_dictionary *lists;      /* per column: expected categories; heap NULL: none */

    margin_table *table;
    uint8_t *dropped;
    int64_t missing, unknown, unknown_classes, rows_dropped;
    int64_t *category_counts; /* per column: length of its order */
} mg_csv;

/* csv_head.c. Fills separator .. name_text. */
margin_status mg_csv_read_head(mg_csv *csv);
/* csv_header.c. `first_row` cells of the first row, the rows after it at `rest`. */
margin_status mg_csv_guess_header(const mg_csv *csv, const mg_csv_cell *first_row, const char *rest,
                                  bool *has_header);
/* csv_rows.c. Fills has_quotes .. blocks. */
margin_status mg_csv_find_rows(mg_csv *csv);
/* csv_kinds.c. Fills `cells` (kinds only) and `lists` from the plan and a sample. */
margin_status mg_csv_choose_kinds(mg_csv *csv);
/* csv_pass.c. Reads what csv->cells ask for and brings the codes of its text columns into order.
 * counting: the first pass. misfits: per column, 1 where a text was met in a NUMBER column. */
margin_status mg_csv_run_pass(mg_csv *csv, bool counting, uint8_t *misfits);

/* csv_drop.c. Takes the rows marked in csv->dropped out of the arrays, and categories that only
 * they had out of the orders. */
margin_status mg_csv_drop_rows(mg_csv *csv);
/* csv_judge.c. Refuses columns of texts that were meant to be numbers, zero bytes in texts, and too
 * many categories. */
margin_status mg_csv_judge_columns(const mg_csv *csv);
/* csv_codes.c. Merges the workers' dictionaries into csv->categories and replaces the workers'
 * codes in the arrays by places in sorted order. */
margin_status mg_csv_settle_codes(mg_csv *csv, const mg_csv_pass *pass,
                                  const mg_csv_worker *workers, int worker_count);

/* csv_fail.c: sentences. Each returns the failure. */
margin_status mg_csv_fail_result(const mg_csv *csv, const mg_csv_result *result);
/* Quotes do not balance. */
margin_status mg_csv_fail_quotes(const mg_csv *csv);
/* One column, and the reader found no separator. */
margin_status mg_csv_fail_separator(const mg_csv *csv);
/* The first row from `offset` on that has too few or too many cells. */
margin_status mg_csv_fail_ragged(const mg_csv *csv, int64_t offset);
/* A column of `numbers` numbers and `texts` texts that should be one or the other. */
margin_status mg_csv_fail_stray(const mg_csv *csv, int64_t column, int64_t numbers, int64_t texts);
margin_status mg_csv_fail_written_number(const mg_csv *csv, int64_t column);
margin_status mg_csv_fail_zero_byte(const mg_csv *csv, int64_t column);

/* The number in a row of a column, and the reverse. */
MG_INLINE double mg_csv_cell_get(const mg_csv_column *column, int64_t row) {
    const char *cell = column->cells + row * column->step;
    if (column->narrow) return (double)*(const float *)(const void *)cell;
    return *(const double *)(const void *)cell;
}
MG_INLINE void mg_csv_cell_set(const mg_csv_column *column, int64_t row, double value) {
    char *cell = column->cells + row * column->step;
    if (column->narrow)
        *(float *)(void *)cell = (float)value;
    else
        *(double *)(void *)cell = value;
}

/* What a category is called: zero-terminated UTF-8. */
MG_INLINE const char *mg_csv_category(const mg_csv *csv, int64_t column, int64_t place) {
    return csv->categories[column].entries[csv->orders[column][place]].text;
}

/* The reader with a block size of the caller's choice (tests); 0: chosen by the length. */
margin_status mg_csv_read(margin_context *context, const mg_source *source,
                          const margin_read_options *options, int64_t block_bytes,
                          margin_table **table, margin_error *error);
