/* Row products with AVX2. */
#include "math/row_ops_tables.h"
#include "math/vec_avx2.h"

enum { TILE_ROWS = 2, TILE_FUNCTIONS = 1 }; /* eight sums of sixteen registers */
#define ISA_TEXT "avx2"
#include "math/row_ops_simd_tables_tmpl.h"

const mg_row_ops mg_row_ops_avx2[2] = ROW_OPS_TABLES;
const mg_vector_ops mg_vector_ops_avx2 = VECTOR_OPS_TABLE;
