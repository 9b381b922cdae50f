/* CRC-64/XZ: the polynomial of ECMA-182 (42F0E1EBA9EA3693), bits reflected, all ones in and out.
 * The check value of "123456789" is 995DC9BBDF1939FA. Finds every change within 64 neighbouring
 * bits. */
#pragma once

#include <stdint.h>

typedef struct mg_crc64 {
    uint64_t table[8][256]; /* table[k][b]: byte b followed by k zero bytes */
    uint64_t state;
} mg_crc64;

void mg_crc64_begin(mg_crc64 *crc);
void mg_crc64_add(mg_crc64 *crc, const void *bytes, int64_t length);
uint64_t mg_crc64_value(const mg_crc64 *crc); /* of all bytes so far */
