/* The search for neighbours with AVX2. */
#include "math/vectors/fvec_avx2.h"
#include "neighbors/search/lanes_eight.h"

enum { TILE_ROWS = 6 };

MG_INLINE unsigned fvec_within(fvec a, fvec b, float limit) { /* not 0 if one is <= limit */
    return (unsigned)_mm256_movemask_ps(
        _mm256_cmp_ps(_mm256_min_ps(a, b), _mm256_set1_ps(limit), _CMP_LE_OQ));
}
MG_INLINE uint32_t fvec_bits(fvec a, float limit) { /* a bit for each a <= limit */
    return lanes8_within(a, limit);
}

#define TABLE mg_neighbors_ops_avx2
#include "neighbors/search/search_tmpl.h"
