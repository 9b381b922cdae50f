/* Category codes of a column: its values one after the other, in the order of the stream, so that
 * neither batches nor threads nor the producer's own codes show. */
#include "data/arrow/arrow_batches.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CHUNK = 256, UNSEEN = -2 };

typedef struct coder {
    mg_arrow *arrow;
    mg_arrow_column *column;
    mg_encoder encoder;
    margin_error *error;
    mg_arrow_piece piece;
    const struct ArrowArray *words; /* the dictionary that `codes` is of */
    int64_t *codes;                 /* of its words: code, -1 unknown, UNSEEN */
    margin_matrix to;               /* in the table */
    int64_t row;                    /* of the table, the next */
} coder;

/* ---- Texts ---------------------------------------------------------------------------------- */

static const char *plain_text(const struct ArrowArray *array, int64_t first, int64_t stop,
                              int64_t *length) {
    const char *texts = array->buffers[2];
    *length = stop - first;
    if (first < 0 || stop < first || (*length > 0 && !texts)) return NULL;
    return *length > 0 ? texts + first : "";
}

/* A view has 16 bytes: the length and the text, or its start, buffer and place there. */
static const char *view_text(const struct ArrowArray *array, int64_t place, int64_t *length) {
    enum { INSIDE = 12, VIEW = 16 };
    const char *view = (const char *)array->buffers[1] + place * VIEW;
    int32_t words[4];
    int64_t size;
    memcpy(words, view, sizeof words);
    *length = words[0];
    if (*length <= INSIDE) return *length >= 0 ? view + sizeof words[0] : NULL;
    if (words[2] < 0 || words[2] >= array->n_buffers - 3) return NULL;
    const char *sizes = array->buffers[array->n_buffers - 1], *texts = array->buffers[2 + words[2]];
    memcpy(&size, sizes + (size_t)words[2] * sizeof size, sizeof size);
    return words[3] >= 0 && texts && size - words[3] >= *length ? texts + words[3] : NULL;
}

/* NULL if the array contradicts itself. */
static const char *text_at(const struct ArrowArray *array, mg_arrow_form form, int64_t place,
                           int64_t *length) {
    const char *ends = array->buffers[1];
    if (form == MG_ARROW_VIEWS) return view_text(array, place, length);
    if (form == MG_ARROW_LARGE_TEXT) {
        int64_t wide[2];
        memcpy(wide, ends + (size_t)place * sizeof *wide, sizeof wide);
        return plain_text(array, wide[0], wide[1], length);
    }
    int32_t narrow[2];
    memcpy(narrow, ends + (size_t)place * sizeof *narrow, sizeof narrow);
    return plain_text(array, narrow[0], narrow[1], length);
}

static margin_status fail_row(const coder *c, int64_t row, const char *what) {
    const int64_t number = c->piece.row + row + 1;
    return mg_fail_at(c->error, MARGIN_ERROR_FORMAT,
                      (mg_place){.row = number, .feature = c->column->plan.feature + 1},
                      "%s: row %lld: the text of column '%.60s' %s", c->arrow->name,
                      (long long)number, c->column->name, what);
}

static margin_status check_text(const coder *c, int64_t row, const char *text, int64_t length) {
    if (length > 0 && memchr(text, 0, (size_t)length))
        return fail_row(c, row, "has a zero byte, which no name of a category can have");
    return mg_is_utf8(text, length) ? MARGIN_OK : fail_row(c, row, "is not UTF-8");
}

/* ---- Codes ---------------------------------------------------------------------------------- */

static margin_status encode_text(coder *c, int64_t row, const char *text, int64_t length,
                                 int64_t *code) {
    mg_encoder *encoder = &c->encoder;
    const int64_t known = encoder->texts.count;
    char what[96];
    if (!text) return fail_row(c, row, "lies outside of its buffer");
    if (length > MARGIN_MAX_LINE_BYTES) return fail_row(c, row, "is longer than 1 GiB");
    MG_TRY(mg_encoder_code(encoder, text, length, code, c->error));
    if (encoder->texts.count > known) MG_TRY(check_text(c, row, text, length));
    if (*code >= 0 || !encoder->refuses) return MARGIN_OK;
    snprintf(what, sizeof what, "column %.60s", c->column->name);
    return mg_encoder_refuse(encoder, c->arrow->table->name, c->piece.row + row, what, text, length,
                             c->error);
}

/* Which word of its dictionary a row has; -1: none that is there. */
static int64_t word_of(const mg_arrow_piece *piece, double index) {
    const struct ArrowArray *words = piece->array->dictionary;
    const int64_t word = index >= 0 && index < (double)words->length ? (int64_t)index : -1;
    return word < words->length ? word : -1;
}

static bool word_is_null(const struct ArrowArray *words, int64_t word) {
    const uint8_t *there = words->null_count != 0 ? words->buffers[0] : NULL;
    return !mg_arrow_bit(there, words->offset + word);
}

bool mg_arrow_word_is_missing(const mg_arrow_piece *piece, int64_t row) {
    const mg_array indices = mg_arrow_numbers(piece);
    double index;
    mg_array_read_f64(&indices, indices.first + row * indices.row_step, indices.row_step, 1, &index,
                      1);
    const int64_t word = word_of(piece, index);
    return word >= 0 && word_is_null(piece->array->dictionary, word);
}

/* A word is encoded when a row has it for the first time; *missing where it is null. */
static margin_status encode_word(coder *c, int64_t row, double index, int64_t *code,
                                 bool *missing) {
    const struct ArrowArray *words = c->piece.array->dictionary;
    const int64_t word = word_of(&c->piece, index);
    int64_t length;
    if (word < 0) return fail_row(c, row, "has a code that its dictionary lacks");
    *missing = word_is_null(words, word);
    if (*missing) return MARGIN_OK;
    if (c->codes[word] == UNSEEN) {
        const char *text = text_at(words, c->column->type.values, words->offset + word, &length);
        MG_TRY(encode_text(c, row, text, length, &c->codes[word]));
    } else if (c->codes[word] < 0 || c->codes[word] >= c->encoder.listed) {
        c->encoder.unknown += c->encoder.listed > 0 || c->encoder.fixed;
    }
    *code = c->codes[word];
    return MARGIN_OK;
}

static margin_status encode_number(coder *c, int64_t row, int64_t *code, bool *missing) {
    char text[MARGIN_NUMBER_TEXT] = "";
    int64_t length = 0;
    if (c->column->type.form == MG_ARROW_NUMBER) {
        const mg_array numbers = mg_arrow_numbers(&c->piece);
        length = mg_array_print(&numbers, row, 0, text);
    } else if (c->column->type.form == MG_ARROW_BITS) {
        const bool bit = mg_arrow_bit(c->piece.array->buffers[1], c->piece.first + row);
        length = snprintf(text, sizeof text, "%s", bit ? "true" : "false");
    }
    *missing = length == 0;
    return *missing ? MARGIN_OK : encode_text(c, row, text, length, code);
}

static margin_status encode_value(coder *c, int64_t row, double index, int64_t *code,
                                  bool *missing) {
    const mg_arrow_type *type = &c->column->type;
    int64_t length;
    if (type->values) return encode_word(c, row, index, code, missing);
    if (!mg_arrow_is_text(type)) return encode_number(c, row, code, missing);
    const char *text = text_at(c->piece.array, type->form, c->piece.first + row, &length);
    return encode_text(c, row, text, length, code);
}

static margin_status encode_row(coder *c, int64_t row, double index) {
    int64_t code = -1;
    bool missing = !mg_arrow_is_there(&c->piece, row);
    if (!missing) MG_TRY(encode_value(c, row, index, &code, &missing));
    if (missing && c->column->names_missing)
        MG_TRY(encode_text(c, row, MG_MISSING_NAME, sizeof MG_MISSING_NAME - 1, &code));
    mg_store_value(&c->to, c->row++ * c->to.stride, code < 0 ? (double)NAN : (double)code);
    return MARGIN_OK;
}

/* ---- Pieces --------------------------------------------------------------------------------- */

/* Whether all that words are read from is the same memory: offsets alone may be of several. */
static bool are_same_words(const struct ArrowArray *a, const struct ArrowArray *b) {
    return a->offset == b->offset && a->length == b->length && a->n_buffers == b->n_buffers &&
           memcmp(a->buffers, b->buffers, (size_t)a->n_buffers * sizeof *a->buffers) == 0;
}

/* Batches that share a dictionary share the codes of its words. */
static margin_status take_words(coder *c) {
    const struct ArrowArray *words = c->piece.array->dictionary;
    if (c->words && are_same_words(c->words, words)) return MARGIN_OK;
    mg_free(c->arrow->heap, c->codes);
    c->codes = NULL;
    c->words = words;
    MG_NEW(c->arrow->heap, c->codes, words->length, "the categories of a column", c->error);
    for (int64_t k = 0; k < words->length; k++)
        c->codes[k] = UNSEEN;
    return MARGIN_OK;
}

static margin_status encode_piece(coder *c) {
    const uint8_t *dropped = c->arrow->dropped ? c->arrow->dropped + c->piece.row : NULL;
    const bool coded = c->column->type.values != MG_ARROW_OTHER;
    double indices[CHUNK] = {0};
    if (coded) MG_TRY(take_words(c));
    const mg_array numbers = coded ? mg_arrow_numbers(&c->piece) : (mg_array){0};
    for (int64_t first = 0; first < c->piece.rows; first += CHUNK) {
        const int64_t count = MG_MIN(c->piece.rows - first, CHUNK);
        if (mg_cancelled(c->arrow->context)) return mg_fail_cancelled(c->error);
        if (coded)
            mg_array_read_f64(&numbers, numbers.first + first * numbers.row_step, numbers.row_step,
                              count, indices, 1);
        for (int64_t i = 0; i < count; i++)
            if (!dropped || !dropped[first + i]) MG_TRY(encode_row(c, first + i, indices[i]));
    }
    return MARGIN_OK;
}

static margin_status encode_pieces(coder *c, int64_t j) {
    const mg_arrow *arrow = c->arrow;
    const mg_column_plan *plan = &c->column->plan;
    MG_TRY(mg_encoder_init(arrow->heap, plan->expected, arrow->options,
                           plan->role == MG_ROLE_TARGET, &c->encoder, c->error));
    for (int64_t b = 0; b < arrow->batch_count; b++) {
        c->piece = mg_arrow_piece_of(arrow, &arrow->batches[b], j);
        MG_TRY(encode_piece(c));
    }
    return mg_encoder_describe(&c->encoder, c->column->name, (void *)c->to.values,
                               (margin_type)c->to.value_type, arrow->table->x.view.rows,
                               c->to.stride, &c->column->described, c->error);
}

static margin_status encode_column(mg_arrow *arrow, int64_t j, margin_error *error) {
    mg_arrow_column *column = &arrow->columns[j];
    coder c = {
        .arrow = arrow, .column = column, .error = error, .to = mg_arrow_place(arrow, column, 0)};
    const margin_status status = encode_pieces(&c, j);
    column->unknown = c.encoder.unknown;
    mg_encoder_free(&c.encoder);
    mg_free(arrow->heap, c.codes);
    return status;
}

/* ---- The whole ------------------------------------------------------------------------------ */

typedef struct coding {
    mg_arrow *arrow;
    struct coded_column {
        int64_t column;
        margin_status status;
        margin_error error;
    } * coded;
} coding;

static margin_status encode_task(void *argument, int64_t task, int worker) {
    const coding *all = argument;
    (void)worker;
    all->coded[task].status =
        encode_column(all->arrow, all->coded[task].column, &all->coded[task].error);
    return all->coded[task].status;
}

margin_status mg_arrow_encode(mg_arrow *arrow) {
    coding all = {.arrow = arrow};
    int64_t count = 0;
    for (int64_t j = 0; j < arrow->schema.n_children; j++)
        count += arrow->columns[j].coded;
    if (count == 0) return MARGIN_OK;
    MG_NEW_ZERO(arrow->heap, all.coded, count, "the categories of columns", arrow->error);
    for (int64_t j = 0, k = 0; j < arrow->schema.n_children; j++)
        if (arrow->columns[j].coded) all.coded[k++].column = j;
    const margin_status status =
        mg_parallel(arrow->context, count, encode_task, &all, arrow->error);
    for (int64_t k = count - 1; status < 0 && k >= 0; k--)
        if (all.coded[k].status == status && arrow->error) *arrow->error = all.coded[k].error;
    mg_free(arrow->heap, all.coded);
    return status;
}
