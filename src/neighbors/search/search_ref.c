/* The search for neighbours in plain C. */
#ifdef __SANITIZE_ADDRESS__ /* with all of it inlined, the compiler takes minutes */
#define MG_NO_HINTS
#endif
#include "math/vectors/vec_ref.h"
#include "neighbors/search/lanes_ref.h"

#define TABLE mg_neighbors_ops_ref
#include "neighbors/search/search_tmpl.h"
