/* Symmetric products with AVX2. */
#include "math/products/symmetric_product.h"
#include "math/vectors/fvec_avx2.h"

#include <string.h>

#define TILE_ROWS 4
#define DEPTH     128
#define ISA_TEXT  "avx2"
#define KERNELS   mg_symmetric_kernels_avx2
#include "math/products/symmetric_product_simd_tmpl.h"
