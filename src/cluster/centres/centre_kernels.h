/* The inner loops of distances to centres for each instruction set, seen only by the dispatchers.
 */
#pragma once

#include "cluster/centres/centre_filter.h"
#include "cluster/centres/centre_squares.h"
#include "cluster/centres/centre_tiles.h"

typedef struct mg_centre_kernels {
    mg_filter_ops filter;
    mg_tile_distances tile_distances;
    /* squared distances to one packed group of MG_CENTRE_GROUP; the same bits in every set */
    void (*group_squares)(const double *x, int64_t columns, const double *group, double *squares);
} mg_centre_kernels;
MG_ISA_TABLES(mg_centre_kernels, mg_centre_kernels);
