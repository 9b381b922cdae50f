/* Symmetric products with AVX-512. */
#include "math/products/symmetric_product.h"
#include "math/vectors/fvec_avx512.h"

#include <string.h>

#define TILE_ROWS 8
#define DEPTH     96
#define ISA_TEXT  "avx512"
#define KERNELS   mg_symmetric_kernels_avx512
#include "math/products/symmetric_product_simd_tmpl.h"
