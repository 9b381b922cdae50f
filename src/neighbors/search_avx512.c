#include "neighbors/lanes_avx512.h"

#define TABLE mg_neighbors_ops_avx512
#include "neighbors/search_tmpl.h"
