#include "neighbors/lanes_avx2.h"

#define TABLE mg_neighbors_ops_avx2
#include "neighbors/search_tmpl.h"
