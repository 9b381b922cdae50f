#include "data/source/crc64.h"

#include "base/machine/cpu.h"

#define POLYNOMIAL UINT64_C(0xc96c5795d7870f42) /* reflected */

/* x^n modulo the polynomial, reflected. */
static uint64_t power_of_x(int n) {
    uint64_t value = UINT64_C(1) << 63;
    for (; n > 0; n--)
        value = value >> 1 ^ (value & 1 ? POLYNOMIAL : 0);
    return value;
}

void mg_crc64_begin(mg_crc64 *crc) {
    crc->state = ~UINT64_C(0);
    crc->fold[0] =
        power_of_x(191); /* one less than the distance: products are shifted by one bit */
    crc->fold[1] = power_of_x(127);
    crc->folds = mg_isa_level() != MG_ISA_REF;
    for (unsigned b = 0; b < 256; b++) {
        uint64_t value = b;
        for (int bit = 0; bit < 8; bit++)
            value = value >> 1 ^ (value & 1 ? POLYNOMIAL : 0);
        crc->table[0][b] = value;
    }
    for (int k = 1; k < 8; k++)
        for (unsigned b = 0; b < 256; b++) {
            const uint64_t before = crc->table[k - 1][b];
            crc->table[k][b] = before >> 8 ^ crc->table[0][before & 255];
        }
}

/* Eight bytes at a time: Sarwate's table method, sliced (Kounavis and Berry, "A systematic approach
 * to building high performance software-based CRC generators", ISCC 2005). */
static void add_by_table(mg_crc64 *crc, const unsigned char *at, int64_t length) {
    uint64_t state = crc->state;
    for (; length >= 8; length -= 8, at += 8) {
        uint64_t next = 0;
        for (int k = 0; k < 8; k++)
            next ^= crc->table[7 - k][(state >> (8 * k) & 255) ^ at[k]];
        state = next;
    }
    for (; length > 0; length--, at++)
        state = state >> 8 ^ crc->table[0][(state & 255) ^ *at];
    crc->state = state;
}

void mg_crc64_add(mg_crc64 *crc, const void *bytes, int64_t length) {
    enum { PIECE = 16, LEAST = 256 };
    int64_t done = 0;
#if defined(__x86_64__)
    unsigned char rest[PIECE];
    if (crc->folds && length >= LEAST) {
        done = mg_crc64_fold_avx2(crc, bytes, length, rest);
        crc->state = 0;
        add_by_table(crc, rest, PIECE);
    }
#endif
    add_by_table(crc, (const unsigned char *)bytes + done, length - done);
}

uint64_t mg_crc64_value(const mg_crc64 *crc) {
    return ~crc->state;
}
