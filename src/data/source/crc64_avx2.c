/* The checksum by products without carries (Gopal and others, "Fast CRC Computation for Generic
 * Polynomials Using PCLMULQDQ Instruction", Intel, 2009): folding alone, the rest is the table's.
 */
#include "data/source/crc64.h"

#include <immintrin.h>

int64_t mg_crc64_fold_avx2(const mg_crc64 *crc, const unsigned char *bytes, int64_t length,
                           unsigned char *rest) {
    const __m128i by = _mm_set_epi64x((int64_t)crc->fold[1], (int64_t)crc->fold[0]);
    int64_t at = 16;
    __m128i sum = _mm_xor_si128(_mm_loadu_si128((const __m128i *)(const void *)bytes),
                                _mm_set_epi64x(0, (int64_t)crc->state));
    for (; at + 16 <= length; at += 16) {
        const __m128i low = _mm_clmulepi64_si128(sum, by, 0x00),
                      high = _mm_clmulepi64_si128(sum, by, 0x11),
                      next = _mm_loadu_si128((const __m128i *)(const void *)(bytes + at));
        sum = _mm_xor_si128(_mm_xor_si128(low, high), next);
    }
    _mm_storeu_si128((__m128i *)(void *)rest, sum);
    return at;
}
