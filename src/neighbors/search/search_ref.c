/* The search for neighbours in plain C. */
#include "neighbors/search/lanes_ref.h"

#define TABLE mg_neighbors_ops_ref
#include "neighbors/search/search_tmpl.h"
