/* One block of an svmlight text: whole lines, read by one task straight into its part of the final
 * arrays. The parser is compiled once per instruction set and number type (svmlight_block_tmpl.h);
 * all of them give the same answer. */
#pragma once

#include "margin/data.h"

#include <stdbool.h>

/* Why a block was given up; `place` of the block says where. */
typedef enum mg_svmlight_fault {
    MG_SVMLIGHT_FINE = 0,
    MG_SVMLIGHT_NO_LABEL,       /* the line begins with a pair */
    MG_SVMLIGHT_SEVERAL_LABELS, /* 1,3 */
    MG_SVMLIGHT_LABEL_NAME,     /* a name where a number is wanted, or with bytes no name has */
    MG_SVMLIGHT_LABEL_INEXACT,  /* a whole number that f64 cannot hold, where one is wanted */
    MG_SVMLIGHT_LABEL_INFINITE, /* or too large */
    MG_SVMLIGHT_LABEL_MISSING,  /* and missing values are refused */
    MG_SVMLIGHT_NO_PAIR,        /* something else where index:value is due */
    MG_SVMLIGHT_INDEX_ZERO,     /* though indices count from 1 */
    MG_SVMLIGHT_INDEX_LARGE,    /* beyond MG_SVMLIGHT_LAST_INDEX */
    MG_SVMLIGHT_INDEX_REPEATED,
    MG_SVMLIGHT_INDEX_DESCENDS,
    MG_SVMLIGHT_NO_VALUE,       /* not a number behind the colon */
    MG_SVMLIGHT_VALUE_INFINITE, /* or too large for the type */
    MG_SVMLIGHT_VALUE_MISSING,  /* NaN, and missing values are refused */
    MG_SVMLIGHT_CHANGED         /* more rows or pairs than were counted: the file was written to */
} mg_svmlight_fault;

#define MG_SVMLIGHT_LAST_INDEX INT64_C(2147483646)

typedef enum mg_svmlight_labels {
    MG_SVMLIGHT_NUMBERS,      /* a name is a fault */
    MG_SVMLIGHT_NUMBERS_ELSE, /* a name ends the reading of labels: `named_label` is set */
    MG_SVMLIGHT_PLACES,       /* not read: its offset in the text is kept, NaN if missing */
    MG_SVMLIGHT_SKIPPED       /* not wanted, whatever it is */
} mg_svmlight_labels;

/* The same for all blocks. */
typedef struct mg_svmlight_rules {
    const char *text;    /* start of the whole text, for offsets */
    int base;            /* subtracted from every index: 1 or 0 */
    bool zero_index;     /* index 0 is fine */
    bool label_optional; /* lines without label are fine; their label is NaN */
    bool label_required; /* a missing label is an error */
    margin_missing missing;
    mg_svmlight_labels labels;
} mg_svmlight_rules;

typedef struct mg_svmlight_block {
    const char *begin, *end; /* whole lines; the last block may end without a newline */

    /* At most so many: newlines and colons. Exact where there are no comments, blank lines and
     * qid. */
    int64_t row_room, pair_room;

    /* Where the block's part of the arrays begins. */
    double *labels;
    int64_t *row_ends;
    int32_t *columns;
    void *values;
    int64_t first_pair; /* place of `columns` and `values` in the whole: what row ends count from */

    /* What was found. */
    int64_t rows, pairs;
    int64_t rows_dropped, missing, unlabelled;
    const char *first_unlabelled;
    int64_t first_index, last_index; /* as written; first > last: there are none */
    bool query_ids, named_label;
    mg_svmlight_fault fault;
    const char *place;
} mg_svmlight_block;

typedef struct mg_svmlight_parser {
    void (*count)(mg_svmlight_block *block); /* fills in the rooms */
    void (*parse_f64)(const mg_svmlight_rules *rules, mg_svmlight_block *block);
    void (*parse_f32)(const mg_svmlight_rules *rules, mg_svmlight_block *block);
} mg_svmlight_parser;

extern const mg_svmlight_parser mg_svmlight_portable;
#if defined(__x86_64__)
extern const mg_svmlight_parser mg_svmlight_avx2;
#endif
