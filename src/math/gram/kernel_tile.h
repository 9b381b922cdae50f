/* One tile of kernel values in a worker's memory: what the files that fill blocks share. */
#pragma once

#include "math/gram/kernel_ops.h"

struct mg_kernel_scratch {
    margin_context *context;
    mg_heap *heap;
    const mg_kernel_ops *ops;
    mg_kernel kernel;
    bool sparse;         /* multiply row by row */
    int64_t left, right; /* rows of a tile: whole panels */
    int64_t size;        /* numbers per worker */
    int64_t dense;   /* of these, where the spread-out row or the panels begin: behind the tile */
    int64_t workers; /* 1: made inside of a task, for it */
    double *memory;  /* workers * size */
};

MG_INLINE double *mg_kernel_room(const mg_kernel_scratch *scratch, int worker) {
    return scratch->memory + (scratch->workers > 1 ? worker : 0) * scratch->size;
}

typedef struct mg_tile_place {
    int64_t i, rows, j, columns; /* of the block; at most left x right */
    bool upper;                  /* values below the block's diagonal are not wanted */
} mg_tile_place;

MG_INLINE int64_t mg_block_left(const mg_kernel_block *block, int64_t i) {
    return block->x_rows ? block->x_rows[i] : block->x_first + i;
}
MG_INLINE int64_t mg_block_right(const mg_kernel_block *block, int64_t j) {
    return block->z_rows ? block->z_rows[j] : block->z_first + j;
}

/* memory[r * scratch->right + c]: the kernel values of a tile; `memory` is the worker's. */
margin_status mg_kernel_tile(const mg_kernel_scratch *scratch, const mg_kernel_block *block,
                             const mg_tile_place *at, double *memory);
