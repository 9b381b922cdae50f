/* Register tiles with AVX-512: include it in files for that only. */
#pragma once

#include "math/vectors/fvec_avx512.h"

enum { TILE_ROWS = 12 };

MG_INLINE unsigned fvec_within(fvec a, fvec b, float limit) { /* not 0 if one is <= limit */
    return _mm512_cmp_ps_mask(_mm512_min_ps(a, b), _mm512_set1_ps(limit), _CMP_LE_OQ);
}
MG_INLINE uint32_t fvec_bits(fvec a, float limit) { /* a bit for each a <= limit */
    return _mm512_cmp_ps_mask(a, _mm512_set1_ps(limit), _CMP_LE_OQ);
}
