/* A stream of Arrow batches on its way into a table. */
#pragma once

#include "data/arrays/array.h"
#include "data/table/encoder.h"
#include "data/table/missing.h"
#include "margin/arrow.h"

typedef enum mg_arrow_form {
    MG_ARROW_OTHER, /* not read */
    MG_ARROW_NUMBER,
    MG_ARROW_BITS, /* booleans */
    MG_ARROW_NULLS,
    MG_ARROW_TEXT,       /* offsets of 32 bits */
    MG_ARROW_LARGE_TEXT, /* of 64 bits */
    MG_ARROW_VIEWS
} mg_arrow_form;

/* The type of a column or of a dictionary's values. */
typedef struct mg_arrow_type {
    mg_arrow_form form;   /* of a dictionary: its indices' */
    mg_array_kind number; /* NUMBER */
    int bytes;            /* NUMBER: of one */
    mg_arrow_form values; /* the texts of a dictionary; OTHER: it is none */
} mg_arrow_type;
static inline bool mg_arrow_is_text(const mg_arrow_type *type) {
    return type->form >= MG_ARROW_TEXT || type->values >= MG_ARROW_TEXT;
}

typedef struct mg_arrow_column {
    mg_arrow_type type;
    const char *name;
    mg_column_plan plan;
    bool coded;           /* becomes categories */
    bool names_missing;   /* a missing value is the category MG_MISSING_NAME */
    mg_columns described; /* coded: its categories */
    int64_t unknown;      /* values that a model does not list */
} mg_arrow_column;

typedef struct mg_arrow_batch {
    struct ArrowArray array;
    int64_t row; /* of the stream, its first */
} mg_arrow_batch;

typedef struct mg_arrow {
    margin_context *context;
    mg_heap *heap;
    struct ArrowArrayStream *stream;
    const char *name; /* in sentences */
    bool bytes;       /* it is decoded from a file */
    const margin_read_options *options;
    margin_error *error;
    struct ArrowSchema schema;
    mg_columns numbered;      /* names of columns that have none */
    mg_names unique;          /* as the table has them */
    mg_arrow_column *columns; /* schema.n_children */
    int64_t features, targets;
    margin_column *chosen, *aims; /* descriptions of features, of targets */
    mg_arrow_batch *batches;      /* none is empty */
    int64_t batch_count, batch_room;
    int64_t rows;
    uint8_t *dropped; /* a byte for each row of the stream; NULL: none */
    mg_missing missing;
    margin_table *table;
} mg_arrow;

#define MG_MISSING_NAME "missing"

/* name: of the file that the stream is decoded from; NULL: it is a program's. */
margin_status mg_arrow_table(margin_context *context, struct ArrowArrayStream *stream,
                             const char *name, const margin_read_options *options,
                             margin_table **table, margin_error *error);

/* arrow_ipc.c: whether bytes begin as a stream of Arrow IPC, or as the file that is none. */
bool mg_arrow_looks(const char *text, int64_t length);

/* Schema and types of the columns. */
margin_status mg_arrow_read_schema(mg_arrow *arrow);
/* Takes all batches and checks those columns that have a part. */
margin_status mg_arrow_read_batches(mg_arrow *arrow);
/* Releases all that came from the stream. */
void mg_arrow_release(mg_arrow *arrow);

/* One column of one batch. */
typedef struct mg_arrow_piece {
    const mg_arrow_column *column;
    const struct ArrowArray *array;
    int64_t first;         /* place of its row 0 in the buffers */
    const uint8_t *there;  /* bits from `first` on; NULL: all */
    const uint8_t *around; /* of the rows, from `outer` on; NULL: all */
    int64_t outer;
    int64_t row, rows; /* of the stream, its first and how many */
} mg_arrow_piece;
mg_arrow_piece mg_arrow_piece_of(const mg_arrow *arrow, const mg_arrow_batch *batch,
                                 int64_t column);
static inline bool mg_arrow_bit(const uint8_t *bits, int64_t place) {
    return !bits || (bits[place >> 3] >> (place & 7) & 1);
}
/* By the bitmaps of value and row. */
static inline bool mg_arrow_is_there(const mg_arrow_piece *piece, int64_t row) {
    return mg_arrow_bit(piece->there, piece->first + row) &&
           mg_arrow_bit(piece->around, piece->outer + row);
}
/* The numbers of a piece, missing ones whatever they are. NUMBER only. */
mg_array mg_arrow_numbers(const mg_arrow_piece *piece);

/* Where the values of a column go from that row of the table on, `stride` numbers apart. */
margin_matrix mg_arrow_place(const mg_arrow *arrow, const mg_arrow_column *column, int64_t row);

/* Encodes the coded columns; rows of the table are those of the stream that are not dropped. */
margin_status mg_arrow_encode(mg_arrow *arrow);
/* Whether the dictionary says that there is no value. */
bool mg_arrow_word_is_missing(const mg_arrow_piece *piece, int64_t row);
