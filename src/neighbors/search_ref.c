/* The search for neighbours in plain C. */
#include "neighbors/lanes_ref.h"

#define TABLE mg_neighbors_ops_ref
#include "neighbors/search_tmpl.h"
