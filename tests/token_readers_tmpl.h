/* Defines TOKEN_READERS with the instruction set of the including file. */
#include "token_readers.h"

#include "data/source/token_tmpl.h"

static bool field_f64(const char *start, size_t length, double *value) {
    return mg_field_f64(start, length, value);
}
static bool field_f32(const char *start, size_t length, float *value) {
    return mg_field_f32(start, length, value);
}
static bool fast_field(const char *start, size_t length) {
    return mg_token_field(start, length).ok;
}
static const char *number_f64(const char *text, const char *end, double *value) {
    return mg_number_at_f64(text, end, value);
}
static const char *number_f32(const char *text, const char *end, float *value) {
    return mg_number_at_f32(text, end, value);
}
static const char *pair(const char *text, uint32_t *index, double *value) {
    const mg_pair found = mg_pair_at(text);
    if (!found.number.ok) return NULL;
    *index = found.index;
    *value = mg_round_f64(found.number.significand, found.number.power, found.number.negative);
    return text + found.number.length;
}
static uint64_t equal_mask(const char *text, char byte) {
    return mg_chunk_equal(mg_chunk_load(text), byte);
}
static uint64_t prefix_xor(uint64_t mask) {
    return mg_prefix_xor(mask);
}
static uint32_t *list_bits(uint64_t mask, uint32_t first, uint32_t *out) {
    return mg_list_bits(mask, first, out);
}

const token_readers TOKEN_READERS = {field_f64, field_f32,  fast_field, number_f64, number_f32,
                                     pair,      equal_mask, prefix_xor, list_bits};
