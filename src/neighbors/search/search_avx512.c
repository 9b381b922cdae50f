/* The search for neighbours with AVX-512. */
#include "math/vectors/fvec_avx512.h"
#include "neighbors/search/lanes_eight.h"
#include "neighbors/search/tile_avx512.h"

#define TABLE mg_neighbors_ops_avx512
#include "neighbors/search/search_tmpl.h"
