/* CRC-64/XZ: the polynomial of ECMA-182 (42F0E1EBA9EA3693), bits reflected, all ones in and out.
 * The check value of "123456789" is 995DC9BBDF1939FA. Finds every change within 64 neighbouring
 * bits. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct mg_crc64 {
    uint64_t table[8][256]; /* table[k][b]: byte b followed by k zero bytes */
    uint64_t state;
    uint64_t fold[2]; /* x^191 and x^127: what 16 bytes are worth 16 bytes earlier */
    bool folds;       /* this processor */
} mg_crc64;

void mg_crc64_begin(mg_crc64 *crc);
void mg_crc64_add(mg_crc64 *crc, const void *bytes, int64_t length);
/* Of at least 16 bytes whole pieces of 16; returns their number of bytes, which have the same
 * checksum as the 16 of `rest` from state 0. */
int64_t mg_crc64_fold_avx2(const mg_crc64 *crc, const unsigned char *bytes, int64_t length,
                           unsigned char *rest);
uint64_t mg_crc64_value(const mg_crc64 *crc); /* of all bytes so far */
