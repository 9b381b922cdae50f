/* The sweep: the only way the library walks over rows.
 *
 * The rows are cut into blocks by row number alone (never by thread). Runs of blocks are leaves: an
 * accumulator is started for each leaf and its blocks are added in order; the leaves are merged in
 * a fixed binary tree over block numbers: the tree of [0, n) splits at the largest power of two
 * below n. A leaf that starts at block b has 1 block for b < 128, 2 for b < 256, 4 for b < 512, and
 * so on: 64 leaves an octave, whatever n is. So the result has the same bits for any number of
 * threads, and the same sweep can later be run over a stream whose end is not known, or on several
 * machines, by giving each an aligned range. */
#pragma once

#include "base/pool.h"

typedef struct mg_block {
    int64_t index;        /* block number */
    int64_t first, count; /* rows [first, first + count) */
    int worker;           /* for scratch only */
} mg_block;

/* Four functions on a state of `state_size` bytes (64-byte aligned, not cleared). `argument` is
 * shared and read-only to them, apart from outputs indexed by row. Without init and merge a state
 * begins with `sums` doubles, which start at 0 and are added up. */
typedef struct mg_accumulator {
    int64_t state_size, sums;
    void (*init)(void *state, void *argument);
    margin_status (*add)(void *state, const mg_block *block, void *argument);
    void (*merge)(void *into, const void *from, void *argument); /* from holds the later rows */
    margin_status (*finish)(void *state, void *argument);        /* may be NULL */
} mg_accumulator;

enum { MG_BLOCK_ROWS = 4096 };

/* Rows per block for rows of `row_bytes` bytes: a power of two in 64..4096 so that a block is about
 * 256 KB. A constant of the data's shape, so it may not depend on threads. */
int64_t mg_block_rows(int64_t row_bytes);

/* Runs the accumulator over rows [0, rows) and leaves the merged state in `state` (aligned as the
 * functions need it). No rows: init and finish alone. block_rows >= 1; block_rows * the number of
 * blocks must fit into int64_t. Cost besides `add`: one init and one merge a leaf, so a block
 * should be no smaller than a state. Memory: at most threads * log2(leaves) + 1 states, in practice
 * a few a thread, not one per block. Returns the status of the LOWEST failing block, else that of
 * finish (which may be above 0), else MARGIN_OK. After a failure the content of `state` is
 * undefined and finish has not run. `error` is written for CANCELLED and where memory for states is
 * refused (MEMORY, LIMIT); the sentence for a failure of `add` or `finish` is theirs to write
 * (through `argument`, only if it is the lowest). */
margin_status mg_sweep(margin_context *context, int64_t rows, int64_t block_rows,
                       const mg_accumulator *accumulator, void *argument, void *state,
                       margin_error *error);

/* Sums of `count` numbers, and behind them room for `room` more, with which `add` may do as it
 * likes. sums: count + room doubles. */
MG_INLINE margin_status mg_sweep_sums(margin_context *context, int64_t rows, int64_t block_rows,
                                      int64_t count, int64_t room,
                                      margin_status (*add)(void *sums, const mg_block *block,
                                                           void *argument),
                                      void *argument, void *sums, margin_error *error) {
    const mg_accumulator accumulator = {
        .state_size = (count + room) * (int64_t)sizeof(double), .sums = count, .add = add};
    return mg_sweep(context, rows, block_rows, &accumulator, argument, sums, error);
}

/* Only the walk: `visit` is called for each block in any order, possibly at the same time. For
 * outputs indexed by row. `error` is written for CANCELLED alone. */
typedef margin_status (*mg_visit)(const mg_block *block, void *argument);
margin_status mg_sweep_each(margin_context *context, int64_t rows, int64_t block_rows,
                            mg_visit visit, void *argument, margin_error *error);
