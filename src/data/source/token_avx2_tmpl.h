/* The readers of token_tmpl.h with AVX2: one load of 32 characters tells where the parts of a
 * number are, another one, aligned to its last digit, is converted with the point squeezed out. The
 * chain from one number to the next is load, compare, move mask, count zeros; the conversions hang
 * off it and overlap. */
#pragma once

#include <immintrin.h>

/* ---- 64 characters --------------------------------------------------------------------------- */

typedef struct mg_chunk {
    __m256i low, high;
} mg_chunk;

MG_INLINE __m256i mg_load_32(const void *text) {
    return _mm256_loadu_si256((const __m256i *)text);
}
MG_INLINE uint32_t mg_equal_32(__m256i text, char byte) {
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(text, _mm256_set1_epi8(byte)));
}

MG_INLINE mg_chunk mg_chunk_load(const char *text) {
    return (mg_chunk){mg_load_32(text), mg_load_32(text + 32)};
}
MG_INLINE uint64_t mg_chunk_equal(mg_chunk chunk, char byte) {
    return mg_equal_32(chunk.low, byte) | (uint64_t)mg_equal_32(chunk.high, byte) << 32;
}

/* Carry-less multiplication by all ones (Langdale and Lemire, "Parsing gigabytes of JSON per
 * second", VLDB Journal 2019). */
MG_INLINE uint64_t mg_prefix_xor(uint64_t mask) {
    const __m128i ones = _mm_set1_epi8(-1);
    const __m128i bits = _mm_set_epi64x(0, (long long)mask);
    return (uint64_t)_mm_cvtsi128_si64(_mm_clmulepi64_si128(bits, ones, 0));
}

/* ---- Digits ---------------------------------------------------------------------------------- */

/* Loaded at a sliding offset, this is a mask with n low nibbles at either end of a vector. */
static const uint8_t mg_nibbles[80] = {
    15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 0,  0,  0,  0,
    0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,
    0,  0,  0,  0,  0,  0,  0,  0,  15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15,
    15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15};

MG_INLINE __m128i mg_first_of_16_but(unsigned n) { /* the first 16 - n bytes; n up to 32: none */
    return _mm_loadu_si128((const __m128i *)(mg_nibbles + n));
}
MG_INLINE __m128i mg_last_of_16(unsigned n) {
    return _mm_loadu_si128((const __m128i *)(mg_nibbles + 32 + n));
}
MG_INLINE __m256i mg_last_of_32(unsigned n) {
    return mg_load_32(mg_nibbles + 16 + n);
}

MG_INLINE uint32_t mg_nondigits_32(__m256i text) {
    const __m256i digits = _mm256_sub_epi8(text, _mm256_set1_epi8('0'));
    const __m256i least = _mm256_min_epu8(digits, _mm256_set1_epi8(9));
    return ~(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(least, digits));
}

/* Two eights of digits, the first one in the low half, as one number. */
MG_INLINE uint64_t mg_join_eights(uint64_t eights) {
    return (eights & 0xffffffffu) * 100000000u + (eights >> 32);
}

/* Value of 16 digits 0..9. */
MG_INLINE uint64_t mg_sixteen_digits(__m128i digits) {
    const __m128i pairs = _mm_maddubs_epi16(digits, _mm_set1_epi16(0x010a));
    const __m128i fours = _mm_madd_epi16(pairs, _mm_set1_epi32(0x00010064));
    const __m128i packed = _mm_packus_epi32(fours, fours);
    const __m128i eights = _mm_madd_epi16(packed, _mm_set1_epi32(0x00012710));
    return mg_join_eights((uint64_t)_mm_cvtsi128_si64(eights));
}

/* Value of the last `count` digits before `end`, up to 32 of them; the point in front of the last
 * `fraction` of them is left out (fraction 32: there is none). False if it is 10^19 or more. Reads
 * 33 characters before `end`. */
MG_INLINE bool mg_digits_before(const char *end, unsigned count, unsigned fraction,
                                uint64_t *value) {
    /* Behind the point as it is, before it moved by one. */
    const __m256i straight = mg_load_32(end - 32), moved = mg_load_32(end - 33);
    const __m256i behind = mg_last_of_32(fraction);
    const __m256i mixed =
        _mm256_xor_si256(_mm256_and_si256(_mm256_xor_si256(straight, moved), behind), moved);
    const __m256i digits = _mm256_and_si256(mixed, mg_last_of_32(count));
    const __m256i pairs = _mm256_maddubs_epi16(digits, _mm256_set1_epi16(0x010a));
    const __m256i fours = _mm256_madd_epi16(pairs, _mm256_set1_epi32(0x00010064));
    const __m256i packed = _mm256_packus_epi32(fours, fours);
    const __m256i eights = _mm256_madd_epi16(packed, _mm256_set1_epi32(0x00012710));
    const uint64_t low = (uint64_t)_mm_cvtsi128_si64(_mm256_extracti128_si256(eights, 1));
    const uint64_t high = (uint64_t)_mm_cvtsi128_si64(_mm256_castsi256_si128(eights));
    const uint64_t above = high >> 32 | high << 32; /* the digits above the last 16 */
    *value = above * 10000000000000000u + mg_join_eights(low);
    return above < 1000;
}

/* ---- A number whose end is not known --------------------------------------------------------- */

/* The number whose digits start at text[start], where `others` marks what is no digit in the 32
 * characters at `text`, from `start` on and with a guard at bit 32, and `points` the points. */
MG_INLINE mg_token mg_token_window(const char *text, unsigned start, uint64_t others,
                                   uint64_t points, bool negative) {
    const uint64_t stops = others & ~points;
    const unsigned stop = (unsigned)__builtin_ctzll(stops);
    const uint64_t inside = others & ((stops & (0 - stops)) - 1); /* points before the stop */
    mg_token token = {.length = stop, .negative = negative};
    token.ok = stop < 32 && (inside & (inside - 1)) == 0 && stop - start > (inside != 0);
    if (MG_UNLIKELY(!token.ok)) return token;

    if (stop - start == 1 && text[stop] == ' ') { /* zeros and ones, by themselves in many files */
        token.significand = (uint64_t)text[start] & 15;
        return token;
    }
    const unsigned behind = inside != 0 ? stop - 1 - (unsigned)__builtin_ctzll(inside) : 32;
    token.power = inside != 0 ? -(int)behind : 0;
    token.ok =
        mg_digits_before(text + stop, stop - start - (inside != 0), behind, &token.significand);
    if (MG_UNLIKELY((text[stop] | 0x20) == 'e')) {
        const char *end = mg_take_exponent(text + stop, &token);
        token.ok &= end != NULL;
        if (token.ok) token.length = (unsigned)(end - text);
    }
    return token;
}

MG_INLINE mg_token mg_token_at(const char *text) {
    const __m256i window = mg_load_32(text);
    const uint64_t others = mg_nondigits_32(window) | (uint64_t)1 << 32;
    const unsigned is_signed = (*text == '-') | (*text == '+'); /* signs are random: no branch */
    return mg_token_window(text, is_signed, others & ~(uint64_t)is_signed, mg_equal_32(window, '.'),
                           *text == '-');
}

MG_INLINE mg_pair mg_pair_at(const char *text) {
    const __m256i window = mg_load_32(text);
    const uint64_t others = mg_nondigits_32(window) | (uint64_t)1 << 32;
    const unsigned digits = (unsigned)__builtin_ctzll(others);
    if (MG_UNLIKELY(digits - 1 > 7 || text[digits] != ':'))
        return (mg_pair){.number = {.ok = false}};

    const uint64_t colon = others & (0 - others), behind = colon << 1;
    const uint64_t minus = mg_equal_32(window, '-') & behind;
    const uint64_t sign = (mg_equal_32(window, '+') & behind) | minus;
    mg_pair pair;
    pair.number = mg_token_window(text, digits + 1 + (sign != 0), others & ~colon & ~sign,
                                  mg_equal_32(window, '.'), minus != 0);
    /* Shifted up to the last digit: what stood behind the index falls out. */
    pair.index = mg_eight_digits(mg_load_8(text) << (64 - 8 * digits));
    return pair;
}

/* ---- A number that fills a range ------------------------------------------------------------- */

/* Digits and a point, no sign, in the last `length` (1..16) characters before `end`. */
MG_INLINE bool mg_plain_16(const char *end, unsigned length, mg_token *token) {
    const __m128i text = _mm_loadu_si128((const __m128i *)(end - 16));
    const __m128i digits = _mm_sub_epi8(text, _mm_set1_epi8('0'));
    const __m128i least = _mm_min_epu8(digits, _mm_set1_epi8(9));
    const unsigned inside = 0xffffu & (0xffff0000u >> length);
    const unsigned others = ~(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(least, digits)) & inside;
    const unsigned points = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(text, _mm_set1_epi8('.')));
    const bool pointed = others != 0;
    if (MG_UNLIKELY((others & (others - 1)) != 0 || (others & ~points) != 0 || length <= pointed))
        return false;

    const unsigned place = (unsigned)__builtin_ctz(others | 0x10000u);
    const unsigned behind = (15 - place) & 31; /* 31 if there is no point: nothing moves */
    token->power = pointed ? -(int)behind : 0;
    /* Adding 15 to the number of a byte means its left neighbour; byte 0 gets a wrong one, which
     * the mask takes away. */
    const __m128i order =
        _mm_add_epi8(_mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
                     mg_first_of_16_but(behind));
    token->significand = mg_sixteen_digits(
        _mm_and_si128(_mm_shuffle_epi8(text, order), mg_last_of_16(length - pointed)));
    return true;
}

/* The same for 1..32 characters. */
MG_INLINE bool mg_plain_32(const char *end, unsigned length, mg_token *token) {
    const __m256i text = mg_load_32(end - 32);
    const uint32_t inside = ~(uint32_t)0 << (32 - length);
    const uint32_t others = mg_nondigits_32(text) & inside;
    const bool pointed = others != 0;
    if (MG_UNLIKELY((others & (others - 1)) != 0 || (others & ~mg_equal_32(text, '.')) != 0 ||
                    length <= pointed))
        return false;
    const unsigned behind = pointed ? 31 - (unsigned)__builtin_ctz(others) : 32;
    token->power = pointed ? -(int)behind : 0;
    return mg_digits_before(end, length - pointed, behind, &token->significand);
}

/* With an exponent: the parts before and behind the 'e'. */
MG_INLINE bool mg_scientific(const char *digits, const char *end, mg_token *token) {
    const __m256i text = _mm256_or_si256(mg_load_32(digits), _mm256_set1_epi8(0x20));
    const unsigned place = (unsigned)__builtin_ctzll(mg_equal_32(text, 'e') | (uint64_t)1 << 32);
    if (place == 0 || place >= (unsigned)(end - digits)) return false;
    return mg_plain_32(digits + place, place, token) &&
           mg_take_exponent(digits + place, token) == end;
}

MG_INLINE mg_token mg_token_field(const char *start, size_t length) {
    mg_token token = {.negative = *start == '-'};
    if (MG_UNLIKELY(length - 1 > 31)) return token;
    const unsigned is_signed = (*start == '-') | (*start == '+');
    const unsigned count = (unsigned)length - is_signed;
    const char *end = start + length;
    if (MG_UNLIKELY(count == 0)) return token;
    token.ok = count <= 16 ? mg_plain_16(end, count, &token) : mg_plain_32(end, count, &token);
    if (MG_UNLIKELY(!token.ok)) token.ok = mg_scientific(start + is_signed, end, &token);
    return token;
}
