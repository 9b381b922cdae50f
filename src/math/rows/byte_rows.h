/* Rows of bytes: dense rows whose numbers are a unit times whole numbers of 0 to 255, as pixels,
 * counts and marks are. Their dot products are exact in whole numbers, and processors that multiply
 * bytes (AVX-512 VNNI) make four of them in the time of one in f32.
 *
 * A word holds the bytes of four columns, and panels of words are laid out like panels of f32. In
 * those on the left bytes are signed, by 128 less: u.v = (u - 128).v + 128 |v|_1. */
#pragma once

#include "data/matrix/matrix.h"

#include <string.h>

#define MG_BYTE_LINES(columns) (((columns) + 3) / 4)

typedef struct mg_byte_point {
    int32_t sum, square; /* of the bytes, of their squares */
    int32_t words;       /* that are not 0 */
} mg_byte_point;

MG_INLINE float mg_byte_signs(float word) { /* bytes to signed ones */
    uint32_t bits;
    memcpy(&bits, &word, sizeof bits);
    bits ^= 0x80808080u;
    memcpy(&word, &bits, sizeof bits);
    return word;
}

/* 1 / unit of some rows (NULL: the first ones); 0: they are no bytes, by more than four roundings
 * of f32, or have so few columns that it does not matter, or so many that 2 u.v may pass 2^31, or
 * this processor multiplies no bytes. Cost: a look at each number; at those of a row for most data
 * that are none. */
float mg_byte_over(margin_context *context, const margin_matrix *x, const int64_t *rows,
                   int64_t count);
bool mg_byte_is(const margin_matrix *x, int64_t row, float over, /* this row alone */
                mg_byte_point *point);

/* Words that are not 0, of some rows of bytes (NULL: the first ones); over 0: none. CANCELLED. */
margin_status mg_byte_words(margin_context *context, const margin_matrix *x, const int64_t *rows,
                            int64_t count, float over, int32_t *words);

/* A row as a lane of a panel, `width` words a line. false: it is no row of bytes, and what is
 * written says nothing. */
bool mg_byte_pack(const margin_matrix *x, int64_t row, float over, bool left, int64_t width,
                  float *to, mg_byte_point *point);

/* A bit for each of so many lines of a panel, 64 and 64: one of its words is not `none`. */
void mg_byte_mark(const float *panel, int64_t lines, int64_t width, uint32_t none, uint32_t *marks);
#define MG_BYTE_MARKS(lines) (((lines) + 63) / 64 * 2)

/* A tile of products: 12 words a line on the left, signed, 32 on the right. Of sums, and what
 * points add to twice them, whole numbers of 32 bits, the last lines make f32 times `scale`. */
typedef struct mg_byte_tile {
    int64_t depth;
    const float *a, *a_add;
    const uint32_t *a_marks; /* lines of zeros are left out; NULL: none is looked for */
    const float *b, *b_add;
    const uint32_t *b_marks;
    bool first, last;
    float scale, *sums;
} mg_byte_tile;
void mg_byte_products_vnni(const mg_byte_tile *tile);

/* The bytes of a row, in whole vectors of 16. */
bool mg_byte_row_vnni(const margin_matrix *x, int64_t row, float over, uint8_t *to,
                      mg_byte_point *point);
