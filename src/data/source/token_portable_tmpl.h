/* The readers of token_tmpl.h in plain C, eight characters in a 64-bit word: always built, and the
 * specification of the AVX2 ones. */
#pragma once

/* ---- 64 characters --------------------------------------------------------------------------- */

typedef struct mg_chunk {
    uint64_t words[8];
} mg_chunk;

MG_INLINE mg_chunk mg_chunk_load(const char *text) {
    mg_chunk chunk;
    for (int k = 0; k < 8; k++)
        chunk.words[k] = mg_load_8(text + 8 * k);
    return chunk;
}

MG_INLINE uint64_t mg_chunk_equal(mg_chunk chunk, char byte) {
    const uint64_t low_bits = 0x7f7f7f7f7f7f7f7fu;
    const uint64_t wanted = (uint8_t)byte * (uint64_t)0x0101010101010101u;
    uint64_t mask = 0;
    for (int k = 0; k < 8; k++) {
        const uint64_t difference = chunk.words[k] ^ wanted;
        const uint64_t zero_bytes =
            ~(((difference & low_bits) + low_bits) | difference | low_bits); /* 0x80 each */
        /* The product gathers the eight top bits in the highest byte. */
        mask |= (zero_bytes * 0x0002040810204081u) >> 56 << (8 * k);
    }
    return mask;
}

MG_INLINE uint64_t mg_prefix_xor(uint64_t mask) {
    for (int step = 1; step < 64; step *= 2)
        mask ^= mask << step;
    return mask;
}

/* ---- Numbers --------------------------------------------------------------------------------- */

/* Appends the digits at `text` to *significand (which wraps beyond 19 digits: the caller counts)
 * and returns the first character that is none. */
MG_INLINE const char *mg_take_digits(const char *text, uint64_t *significand) {
    for (;;) {
        const uint64_t word = mg_load_8(text);
        const uint64_t marks = mg_nondigit_marks(word);
        if (marks != 0) {
            const unsigned count = (unsigned)__builtin_ctzll(marks) >> 3;
            if (count != 0)
                *significand = *significand * mg_powers_of_ten_u64[count] +
                               mg_eight_digits(word << (64 - 8 * count));
            return text + count;
        }
        *significand = *significand * 100000000u + mg_eight_digits(word);
        text += 8;
    }
}

MG_INLINE mg_token mg_token_at(const char *text) {
    mg_token token = {.negative = *text == '-'};
    const char *digits = text + ((*text == '-') | (*text == '+'));
    const char *end = mg_take_digits(digits, &token.significand);
    ptrdiff_t count = end - digits;
    if (*end == '.') {
        const char *fraction = end + 1;
        end = mg_take_digits(fraction, &token.significand);
        count += end - fraction;
        token.power = count <= 19 ? (int)(fraction - end) : 0;
    }
    token.ok = count >= 1 && count <= 19;
    if (token.ok && (*end | 0x20) == 'e') {
        end = mg_take_exponent(end, &token);
        token.ok = end != NULL;
    }
    if (token.ok) token.length = (unsigned)(end - text);
    return token;
}

/* What follows the range may only make the token longer than it, and then the general reader
 * decides. */
MG_INLINE mg_token mg_token_field(const char *start, size_t length) {
    mg_token token = mg_token_at(start);
    token.ok &= token.length == length;
    return token;
}

MG_INLINE mg_pair mg_pair_at(const char *text) {
    uint64_t index = 0;
    const char *colon = mg_take_digits(text, &index);
    const unsigned digits = (unsigned)(colon - text);
    if (digits - 1 > 7 || *colon != ':') return (mg_pair){.number = {.ok = false}};
    mg_pair pair = {.number = mg_token_at(colon + 1), .index = (uint32_t)index};
    pair.number.length += digits + 1;
    return pair;
}
