/* The products of row_lanes_tmpl.h for each layout and their table: included after a vector type.
 */
enum { SUMS = 4, PARTS = MG_ROW_LANES / LANES };

#define ROWS_CSR "math/rows/row_lanes_tmpl.h"
#include "math/rows/row_layouts_tmpl.h"

#define ROW_LANES_PAIR(suffix)                                                                     \
    { lanes_dot_csr_##suffix, lanes_add_csr_##suffix }
#define ROW_LANES_TABLE                                                                            \
    {                                                                                              \
        {ROW_LANES_PAIR(f64_i32), ROW_LANES_PAIR(f64_i64)}, {                                      \
            ROW_LANES_PAIR(f32_i32), ROW_LANES_PAIR(f32_i64)                                       \
        }                                                                                          \
    }
