/* Shared by the fuzz targets: input fields from a byte stream (never a cast to a struct), and a
 * check that stops the target with a line of its own. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct fuzz_stream {
    const uint8_t *data;
    size_t size;
} fuzz_stream;

/* The next byte, 0 once the stream is empty. */
static inline uint8_t fuzz_byte(fuzz_stream *stream) {
    if (stream->size == 0) return 0;
    stream->size--;
    return *stream->data++;
}

/* A number in [low, high], one byte for ranges up to 256, four bytes beyond. */
static inline uint32_t fuzz_between(fuzz_stream *stream, uint32_t low, uint32_t high) {
    uint32_t value = fuzz_byte(stream);
    for (int i = 0; high - low > 255 && i < 3; i++)
        value = value << 8 | fuzz_byte(stream);
    return high - low == UINT32_MAX ? value : low + value % (high - low + 1);
}

/* Seconds that a call may take, as a user would say: of an input that is slow the end is tried. */
#define FUZZ_TIME_LIMIT 5.0

/* The property that holds for every input. */
#define FUZZ_CHECK(condition)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);         \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
