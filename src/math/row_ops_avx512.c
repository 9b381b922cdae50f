/* Row products with AVX-512. */
#include "math/row_ops_tables.h"
#include "math/vec_avx512.h"

enum { TILE_ROWS = 2, TILE_FUNCTIONS = 2 }; /* sixteen sums of thirty-two registers */
#define ISA_TEXT "avx512"
#include "math/row_ops_simd_tables_tmpl.h"

const mg_row_ops mg_row_ops_avx512[2] = ROW_OPS_TABLES;
const mg_vector_ops mg_vector_ops_avx512 = VECTOR_OPS_TABLE;
