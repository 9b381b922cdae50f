/* The tiles in bfloat16 that the matrix registers make, in plain C. */
#ifndef TILES_HALF_H
#define TILES_HALF_H

#include "neighbors/search/neighbor_index.h"

extern const mg_tile_ops tiles_half;

#endif
