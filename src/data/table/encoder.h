/* Texts to category codes, one after the other: those that a model expects, then the others in
 * order of appearance until finishing sorts them. */
#pragma once

#include "data/dictionary/dictionary.h"
#include "data/table/table.h"

typedef struct mg_encoder {
    mg_heap *heap;
    bool fixed;          /* no category joins those of a model */
    bool refuses;        /* the caller is to refuse what is unknown */
    bool target;         /* texts are classes */
    int64_t listed;      /* categories of a model, which come first */
    int64_t unknown;     /* texts so far that are not among them */
    mg_dictionary texts; /* all categories */
    const char **names;  /* finished: in order, borrowed */
    int32_t *ranks;      /* finished: rank of each code; NULL: the same */
} mg_encoder;

/* `expected` NULL or numeric: categories as they come. Options say what becomes of others; NULL:
 * they are missing. */
margin_status mg_encoder_init(mg_heap *heap, const margin_column *expected,
                              const margin_read_options *options, bool target, mg_encoder *encoder,
                              margin_error *error);
/* The categories of a column as a dictionary whose codes are their places. ARGUMENT: one is there
 * twice. */
margin_status mg_list_categories(const margin_column *column, mg_dictionary *list,
                                 margin_error *error);

/* The code of a text, -1 if it is unknown and not to be kept. */
margin_status mg_encoder_code(mg_encoder *encoder, const char *text, int64_t length, int64_t *code,
                              margin_error *error);
/* Whether a model's categories have the text. */
bool mg_encoder_knows(const mg_encoder *encoder, const char *text, int64_t length);
/* DATA: row `row` (from 0) of `file` has a class or category that is refused. */
margin_status mg_encoder_refuse(const mg_encoder *encoder, const char *file, int64_t row,
                                const char *what, const char *text, int64_t length,
                                margin_error *error);
/* Sorts: `names` and `ranks` are valid from here. LIMIT beyond 2^24 categories. */
margin_status mg_encoder_finish(mg_encoder *encoder, margin_error *error);
/* The same, and codes become ranks (NaN and negative ones stay; MARGIN_F64 or MARGIN_F32, `step` in
 * elements); *out is the description that goes with them, of its own memory. */
margin_status mg_encoder_describe(mg_encoder *encoder, const char *name, void *codes,
                                  margin_type type, int64_t count, int64_t step, mg_columns *out,
                                  margin_error *error);
void mg_encoder_free(mg_encoder *encoder); /* all zero is fine */
/* The finished categories as a description; valid while the encoder is. */
margin_column mg_encoder_column(const mg_encoder *encoder, const char *name);
