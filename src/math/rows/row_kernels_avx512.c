/* Row products and elementary functions with AVX-512. */
#include "math/rows/row_kernels.h"
#include "math/vectors/vec_avx512.h"

enum { TILE_ROWS = 2, TILE_FUNCTIONS = 2 }; /* sixteen sums of thirty-two registers */
enum { TRIANGLE_ROWS = 8 };                 /* the same */
enum { WALK_VECTORS = 14 };                 /* beside sums, factor and a value */
#define WALK_CASES                                                                                 \
    WALK_CASE(1)                                                                                   \
    WALK_CASE(2)                                                                                   \
    WALK_CASE(3)                                                                                   \
    WALK_CASE(4)                                                                                   \
    WALK_CASE(5)                                                                                   \
    WALK_CASE(6)                                                                                   \
    WALK_CASE(7)                                                                                   \
    WALK_CASE(8)                                                                                   \
    WALK_CASE(9)                                                                                   \
    WALK_CASE(10)                                                                                  \
    WALK_CASE(11)                                                                                  \
    WALK_CASE(12)                                                                                  \
    WALK_CASE(13)                                                                                  \
    WALK_CASE(14)
#define WIDE
#define KERNELS  mg_row_kernels_avx512
#define ISA_TEXT "avx512"
#include "math/rows/row_kernels_simd_tmpl.h"
