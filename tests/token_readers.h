/* The inline readers of data/source/token_tmpl.h behind pointers, one set per instruction set, so
 * that one program can compare them. */
#ifndef TOKEN_READERS_H
#define TOKEN_READERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct token_readers {
    bool (*field_f64)(const char *start, size_t length, double *value);
    bool (*field_f32)(const char *start, size_t length, float *value);
    bool (*fast_field)(const char *start, size_t length); /* without the general reader? */
    const char *(*number_f64)(const char *text, const char *end, double *value);
    const char *(*number_f32)(const char *text, const char *end, float *value);
    /* Position behind "index:number", or NULL where the fast path does not apply. */
    const char *(*pair)(const char *text, uint32_t *index, double *value);
    uint64_t (*equal_mask)(const char *text, char byte);
    uint64_t (*prefix_xor)(uint64_t mask);
    uint32_t *(*list_bits)(uint64_t mask, uint32_t first, uint32_t *out);
} token_readers;

extern const token_readers token_readers_portable;
#if defined(__x86_64__)
extern const token_readers token_readers_avx2;
#endif

#endif
