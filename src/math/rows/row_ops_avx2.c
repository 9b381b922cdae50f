/* Row products with AVX2. */
#include "math/rows/row_ops_tables.h"
#include "math/vectors/vec_avx2.h"

enum { TILE_ROWS = 2, TILE_FUNCTIONS = 1 }; /* eight sums of sixteen registers */
enum { WALK_VECTORS = 8 }; /* of sixteen registers, beside sums, factor and a value */
#define WALK_CASES                                                                                 \
    WALK_CASE(1)                                                                                   \
    WALK_CASE(2) WALK_CASE(3) WALK_CASE(4) WALK_CASE(5) WALK_CASE(6) WALK_CASE(7) WALK_CASE(8)
#define ISA_TEXT "avx2"
#include "math/rows/row_ops_simd_tables_tmpl.h"

const mg_row_ops mg_row_ops_avx2[2] = ROW_OPS_TABLES;
const mg_vector_ops mg_vector_ops_avx2 = VECTOR_OPS_TABLE;
