/* Sixteen f32 as two times eight: included behind the type `lanes8`. */
#pragma once

typedef struct lanes16 {
    lanes8 low, high;
} lanes16;

MG_INLINE lanes16 lanes16_zero(void) {
    return (lanes16){lanes8_set(0), lanes8_set(0)};
}
MG_INLINE lanes16 lanes16_gap(const float *p, float q) {
    return (lanes16){lanes8_absolute(lanes8_subtract(lanes8_load(p), lanes8_set(q))),
                     lanes8_absolute(lanes8_subtract(lanes8_load(p + 8), lanes8_set(q)))};
}
MG_INLINE lanes16 lanes16_add(lanes16 a, lanes16 b) {
    return (lanes16){lanes8_add(a.low, b.low), lanes8_add(a.high, b.high)};
}
MG_INLINE lanes16 lanes16_square(lanes16 a) {
    return (lanes16){lanes8_multiply(a.low, a.low), lanes8_multiply(a.high, a.high)};
}
MG_INLINE lanes16 lanes16_max(lanes16 a, lanes16 b) {
    return (lanes16){lanes8_max(a.low, b.low), lanes8_max(a.high, b.high)};
}
MG_INLINE unsigned lanes16_within(lanes16 a, float limit) {
    return lanes8_within(a.low, limit) | lanes8_within(a.high, limit) << 8;
}
MG_INLINE void lanes16_store(float *p, lanes16 a) {
    lanes8_store(p, a.low);
    lanes8_store(p + 8, a.high);
}
