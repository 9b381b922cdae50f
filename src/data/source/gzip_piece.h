/* gzip in pieces that are compressed apart from each other, at the same time if need be, and still
 * make one ordinary member (RFC 1952): header, pieces, end. A piece is a run of raw deflate blocks
 * (RFC 1951) that ends on a byte, by an empty stored block, and refers to nothing before it. What
 * pieces of 256 KB and more lose against one run is about a hundredth of the size. */
#pragma once

#include "base/memory.h"

enum {
    MG_GZIP_HEADER = 10, /* bytes before the first piece */
    MG_GZIP_END = 10     /* bytes behind the last one */
};

typedef struct mg_gzip_piece {
    mg_heap *heap;
    char *data; /* owned */
    int64_t length, capacity;
    int64_t raw_length;
    uint32_t crc; /* of the raw bytes */
} mg_gzip_piece;

/* Compresses bytes[0..length) into the piece; its buffer is used again. MEMORY or LIMIT. */
margin_status mg_gzip_pack(mg_gzip_piece *piece, const void *bytes, int64_t length,
                           margin_error *error);
void mg_gzip_piece_free(mg_gzip_piece *piece); /* all zero is fine */

/* The first bytes of a file: no name, no time, no system, so that they are always the same. */
void mg_gzip_header(char header[MG_GZIP_HEADER]);
/* The checksum of a text followed by the piece's. */
uint32_t mg_gzip_crc_of(uint32_t crc, const mg_gzip_piece *piece);
/* The last bytes: an empty final block, checksum and size of the raw text. */
void mg_gzip_end(uint32_t crc, int64_t raw_length, char end[MG_GZIP_END]);

/* What zlib takes its memory by; opaque: the heap. */
void *mg_zlib_allocate(void *heap, unsigned count, unsigned size);
void mg_zlib_release(void *heap, void *memory);
