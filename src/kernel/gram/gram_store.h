/* What the files of a Gram matrix share. */
#pragma once

#include "kernel/gram/gram_tiles.h"
#include "kernel/gram/kernel_tile.h"

struct mg_gram {
    mg_heap *heap;
    mg_kernel_points points;
    mg_kernel kernel;
    mg_kernel_scratch *scratch;
    mg_gram_tiles *tiles; /* f32 of dense points; NULL: through f64 */
    margin_type type;
    double factor;
    int64_t size, ld; /* bytes of a value, values from one row to the next */
    double *squares;  /* of all rows of x; NULL where the kernel needs none */
    double *diagonal;
    char *values;         /* slots rows; whole: row i in slot i */
    int64_t *row, *place; /* of each point, for blocks: row of x, and what the kernel takes on
                             the right (precomputed: its column; else the same list) */
    int64_t *some_rows, *some_places; /* points each: lists of a call */
    void **pointers;                  /* slots: the same */
    bool whole, filled;
    int64_t slots;
    /* Slots; NULL if whole. */
    int64_t used;
    int64_t newest, oldest; /* -1: none is in use */
    int64_t *missing;       /* slots: scratch of a call */
    int64_t *slot_of;       /* of each point, -1: not kept */
    int64_t *row_of;        /* of each slot, -1: holds nothing */
    int64_t *newer, *older; /* of each slot */
};

/* The block of some points with others (NULL: all of them), listed in the gram's scratch. */
mg_kernel_block mg_gram_block_of(mg_gram *gram, const int64_t *points, int64_t count,
                                 const int64_t *others, int64_t other_count);
