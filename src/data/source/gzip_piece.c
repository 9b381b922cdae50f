#include "data/source/gzip_piece.h"

#include <string.h>
#include <zlib.h>

enum {
    STEP_BYTES = 1 << 20, /* given to zlib at a time */
    ROOM_BYTES = 1 << 18, /* least room that zlib is given */
    RAW_WINDOW = -MAX_WBITS,
    DEFAULT_MEMORY = 8
};

static const char purpose[] = "compressing the output";

void *mg_zlib_allocate(void *heap, unsigned count, unsigned size) {
    return mg_new(heap, (int64_t)count, size);
}

void mg_zlib_release(void *heap, void *memory) {
    mg_free(heap, memory);
}

static margin_status gzip_piece_make_room(mg_gzip_piece *piece, z_stream *stream,
                                          margin_error *error) {
    if (piece->capacity - piece->length < ROOM_BYTES) {
        int64_t wanted = piece->capacity + MG_MAX(piece->capacity / 2, (int64_t)2 * ROOM_BYTES);
        char *grown = mg_resize(piece->heap, piece->data, wanted, 1);
        if (!grown) return mg_no_memory(piece->heap, wanted, 1, purpose, error);
        piece->data = grown;
        piece->capacity = wanted;
    }
    stream->next_out = (Bytef *)piece->data + piece->length;
    stream->avail_out = (uInt)MG_MIN(piece->capacity - piece->length, (int64_t)STEP_BYTES);
    return MARGIN_OK;
}

/* Compresses one step; with Z_SYNC_FLUSH up to the next byte border. */
static margin_status deflate_step(mg_gzip_piece *piece, z_stream *stream, int flush,
                                  margin_error *error) {
    bool full;
    do {
        MG_TRY(gzip_piece_make_room(piece, stream, error));
        const uInt room = stream->avail_out;
        deflate(stream, flush);
        piece->length += (int64_t)(room - stream->avail_out);
        full = stream->avail_out == 0;
    } while (full || stream->avail_in > 0);
    return MARGIN_OK;
}

margin_status mg_gzip_pack(mg_gzip_piece *piece, const void *bytes, int64_t length,
                           margin_error *error) {
    z_stream stream = {.zalloc = mg_zlib_allocate, .zfree = mg_zlib_release, .opaque = piece->heap};
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, RAW_WINDOW, DEFAULT_MEMORY,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        return mg_no_memory(piece->heap, 1, 1 << 18, purpose, error);
    const Bytef *at = bytes;
    margin_status status = MARGIN_OK;
    piece->length = 0;
    piece->raw_length = length;
    piece->crc = (uint32_t)crc32_z(0, at, (z_size_t)length);
    for (int64_t left = length; left > 0 && status == MARGIN_OK;) {
        const int64_t step = MG_MIN(left, (int64_t)STEP_BYTES);
        stream.next_in = (Bytef *)at;
        stream.avail_in = (uInt)step;
        at += step;
        left -= step;
        status = deflate_step(piece, &stream, left > 0 ? Z_NO_FLUSH : Z_SYNC_FLUSH, error);
    }
    deflateEnd(&stream);
    return status;
}

void mg_gzip_piece_free(mg_gzip_piece *piece) {
    if (piece->heap) mg_free(piece->heap, piece->data);
    *piece = (mg_gzip_piece){0};
}

void mg_gzip_header(char header[MG_GZIP_HEADER]) {
    static const unsigned char fixed[MG_GZIP_HEADER] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255};
    memcpy(header, fixed, MG_GZIP_HEADER);
}

uint32_t mg_gzip_crc_of(uint32_t crc, const mg_gzip_piece *piece) {
    return (uint32_t)crc32_combine(crc, piece->crc, (z_off_t)piece->raw_length);
}

void mg_gzip_end(uint32_t crc, int64_t raw_length, char end[MG_GZIP_END]) {
    const uint32_t size = (uint32_t)((uint64_t)raw_length & UINT32_MAX);
    end[0] = 3; /* final block, fixed codes, end of block */
    end[1] = 0;
    for (int k = 0; k < 4; k++) {
        end[2 + k] = (char)(crc >> 8 * k & 0xff);
        end[6 + k] = (char)(size >> 8 * k & 0xff);
    }
}
