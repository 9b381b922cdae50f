/* The products of row_lanes_tmpl.h and row_fours_tmpl.h for each layout and their tables: included
 * after a vector type, with WIDE defined if it has more than four lanes. */
enum { SUMS = 4, PARTS = MG_ROW_LANES / LANES };

#define ROWS_CSR "math/rows/row_lanes_tmpl.h"
#include "math/rows/row_layouts_tmpl.h"

#define ROW_LANES_PAIR(suffix)                                                                     \
    { lanes_dot_csr_##suffix, lanes_add_csr_##suffix, lanes_squares_csr_##suffix }
#define ROW_LANES_TABLE                                                                            \
    {                                                                                              \
        {ROW_LANES_PAIR(f64_i32), ROW_LANES_PAIR(f64_i64)}, {                                      \
            ROW_LANES_PAIR(f32_i32), ROW_LANES_PAIR(f32_i64)                                       \
        }                                                                                          \
    }

#ifdef WIDE
#define ROW_FOURS_TABLE                                                                            \
    {                                                                                              \
        {NULL, NULL}, {                                                                            \
            NULL, NULL                                                                             \
        }                                                                                          \
    }
#else
enum { FOUR_PARTS = MG_ROW_FOUR / LANES, FOUR_AHEAD = 2048 /* bytes of values */ };
#define ROWS_CSR "math/rows/row_fours_tmpl.h"
#include "math/rows/row_layouts_tmpl.h"
#define ROW_FOURS_TABLE                                                                            \
    {                                                                                              \
        {fours_csr_f64_i32, fours_csr_f64_i64}, {                                                  \
            fours_csr_f32_i32, fours_csr_f32_i64                                                   \
        }                                                                                          \
    }
#endif
