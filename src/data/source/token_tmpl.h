/* Readers of numbers in bulk text, and the masks that find separators: inline, compiled once per
 * instruction set.
 *
 * How to use it. A block parser (CSV, svmlight) is a header `*_tmpl.h` that includes this one; two
 * small .c files include the parser, one as it is and one, named *_avx2.c (which CMake compiles for
 * that instruction set), after `#define MG_TOKEN_AVX2 1`. Each defines a differently named entry
 * point through a suffix macro of the parser; the caller picks one per file by mg_isa_level()
 * (base/machine/cpu.h). Everything here is static inline, so the two do not collide. Nothing here
 * is called through a pointer per cell. Both give the same answer for every text.
 *
 * The contract on text: 64 bytes before the first and 64 bytes behind the last character of the
 * whole text are readable (mg_source promises it). No function decides anything by bytes outside
 * the range it was given, with one exception that is stated: mg_number_at_* stops at the first byte
 * that cannot continue a number, so the byte at `end` must not continue one (a newline, or the zero
 * of the guard).
 *
 *   bool mg_field_f64(start, length, &value)    a number that fills [start, start + length);
 *   bool mg_field_f32                           anything else: false, *value as it was. Grammar of
 *                                               margin_number_parse_f64: sign, digits, point,
 *                                               exponent, inf, infinity, nan in any case; no blanks
 *   const char *mg_number_at_f64(p, end, &value)
 *                                               the longest number that starts at p: what is behind
 *   const char *mg_number_at_f32                it, or NULL
 *   mg_pair mg_pair_at(p)                       "index:number" at p (svmlight), see below
 *
 *   mg_chunk mg_chunk_load(p)                   64 bytes
 *   uint64_t mg_chunk_equal(chunk, byte)        bit k: byte k of the chunk equals `byte`
 *   uint64_t mg_prefix_xor(mask)                bit k: parity of bits 0..k (inside quotes)
 *   uint32_t *mg_list_bits(mask, first, out)    appends first + k for each set bit k, returns the
 *                                               new end; may write up to MG_LIST_SLACK more entries
 *   int mg_count_bits(mask)
 */
#pragma once

#include "base/text/decimal.h"
#include "base/text/number_text.h"

/* A number as it was written: significand * 10^power, or ok false for what only the general reader
 * knows (more than 19 digits, words, damage). */
typedef struct mg_token {
    uint64_t significand;
    int power;
    unsigned length; /* characters; mg_number_at_* only */
    bool negative, ok;
} mg_token;

/* "index:number". ok false: not of that form or out of the fast path's reach, look closer. */
typedef struct mg_pair {
    mg_token number; /* its length counts the index and the colon, too */
    uint32_t index;  /* at most 8 digits */
} mg_pair;

enum { MG_LIST_SLACK = 8 };

/* Exponent of one to four digits behind the 'e' at `text`: adds it to the power and returns its
 * end. NULL if it is of another form. */
MG_INLINE const char *mg_take_exponent(const char *text, mg_token *token) {
    const bool negative = text[1] == '-';
    const char *digits = text + 1 + (negative || text[1] == '+');
    const uint64_t word = mg_load_8(digits);
    const uint64_t marks = mg_nondigit_marks(word);
    const unsigned count = marks != 0 ? (unsigned)__builtin_ctzll(marks) >> 3 : 8;
    if (count - 1 > 3) return NULL;
    const int exponent = (int)mg_eight_digits(word << (64 - 8 * count));
    token->power += negative ? -exponent : exponent;
    return digits + count;
}

#if defined(MG_TOKEN_AVX2) && MG_TOKEN_AVX2
#include "data/source/token_avx2_tmpl.h"
#else
#include "data/source/token_portable_tmpl.h"
#endif

MG_INLINE int mg_count_bits(uint64_t mask) {
    return __builtin_popcountll(mask);
}

/* Eight at a time without asking how many are left: the branch on the count is then almost always
 * foretold, and the entries written in vain are overwritten by the next call. */
MG_INLINE uint32_t *mg_list_bits(uint64_t mask, uint32_t first, uint32_t *out) {
    const int count = mg_count_bits(mask);
    for (int done = 0; done < count; done += 8) {
        for (int k = 0; k < 8; k++) {
            out[done + k] = first + (uint32_t)__builtin_ctzll(mask | (uint64_t)1 << 63);
            mask &= mask - 1;
        }
    }
    return out + count;
}

/* ---- Values ---------------------------------------------------------------------------------- */

MG_INLINE bool mg_field_f64(const char *start, size_t length, double *value) {
    const mg_token token = mg_token_field(start, length);
    if (MG_LIKELY(token.ok)) {
        *value = mg_round_f64(token.significand, token.power, token.negative);
        return true;
    }
    return margin_number_parse_f64(start, length, value) != 0;
}

MG_INLINE bool mg_field_f32(const char *start, size_t length, float *value) {
    const mg_token token = mg_token_field(start, length);
    if (MG_LIKELY(token.ok)) {
        *value = mg_round_f32(token.significand, token.power, token.negative);
        return true;
    }
    return margin_number_parse_f32(start, length, value) != 0;
}

MG_INLINE const char *mg_number_at_f64(const char *text, const char *end, double *value) {
    const mg_token token = mg_token_at(text);
    if (MG_LIKELY(token.ok)) {
        *value = mg_round_f64(token.significand, token.power, token.negative);
        return text + token.length;
    }
    return mg_read_f64(text, end, value);
}

MG_INLINE const char *mg_number_at_f32(const char *text, const char *end, float *value) {
    const mg_token token = mg_token_at(text);
    if (MG_LIKELY(token.ok)) {
        *value = mg_round_f32(token.significand, token.power, token.negative);
        return text + token.length;
    }
    return mg_read_f32(text, end, value);
}
