#include "neighbors/ref/lanes_ref.h"

#define TABLE mg_neighbors_ops_ref
#include "neighbors/search_tmpl.h"
