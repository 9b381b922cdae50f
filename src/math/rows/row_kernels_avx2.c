/* Row products and elementary functions with AVX2. */
#include "math/rows/row_kernels.h"
#include "math/vectors/vec_avx2.h"

enum { TILE_ROWS = 2, TILE_FUNCTIONS = 1 }; /* eight sums of sixteen registers */
enum { TRIANGLE_ROWS = 2 };                 /* the same */
enum { WALK_VECTORS = 8 }; /* of sixteen registers, beside sums, factor and a value */
#define WALK_CASES                                                                                 \
    WALK_CASE(1)                                                                                   \
    WALK_CASE(2) WALK_CASE(3) WALK_CASE(4) WALK_CASE(5) WALK_CASE(6) WALK_CASE(7) WALK_CASE(8)
#define KERNELS  mg_row_kernels_avx2
#define ISA_TEXT "avx2"
#include "math/rows/row_kernels_simd_tmpl.h"
