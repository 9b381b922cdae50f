/* The sweep, in parallel and with few states.
 *
 * The tree over blocks [0, n) is the complete binary tree cut off at n: the node of level l and
 * number a covers blocks [a 2^l, (a + 1) 2^l). A leaf is one such node whose blocks are added in
 * order into one state. Leaf sizes depend on the position alone: 1 block up to block 128, then 2 up
 * to 256, 4 up to 512, ... so that every octave has 64 leaves. That keeps merges rare in long
 * sweeps and leaves small against the whole, without knowing n: a stream can form the same tree.
 *
 * Leaves are the pool's tasks. A finished node goes up: if its sibling is finished too, whoever
 * came second merges the right state into the left and goes on as the parent; else it parks there.
 * Each inner node is told by the first leaf of its right half, so one slot per leaf is the whole
 * table.
 *
 * States: the pool hands out leaves in ascending order, so the finished region is a prefix with at
 * most one hole per thread; finished nodes lie beside the paths from the root to the holes and to
 * the end of the prefix, at most (threads + 1) * log2(leaves) of them. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pthread */
#endif
#include "base/sweep.h"

#include <pthread.h>
#include <string.h>

enum { SMALL_LEAVES = 128, LEAVES_PER_OCTAVE = 64, SMALL_BITS = 7 };

/* ---- Shape of the tree ---- */

static int floor_log2(uint64_t value) {
    return 63 - __builtin_clzll(value);
}

/* Level (log2 of the number of blocks) of the leaf that holds a block. */
static int leaf_level(int64_t block) {
    return block < SMALL_LEAVES ? 0 : floor_log2((uint64_t)block) - SMALL_BITS + 1;
}

/* Number of the leaf that holds a block. */
static int64_t leaf_of(int64_t block) {
    if (block < SMALL_LEAVES) return block;
    int octave = floor_log2((uint64_t)block);
    int64_t before = SMALL_LEAVES + (int64_t)(octave - SMALL_BITS) * LEAVES_PER_OCTAVE;
    return before + ((block - ((int64_t)1 << octave)) >> leaf_level(block));
}

/* First block of a leaf: the inverse of leaf_of. */
static int64_t leaf_first(int64_t leaf) {
    if (leaf < SMALL_LEAVES) return leaf;
    int64_t octave = (leaf - SMALL_LEAVES) / LEAVES_PER_OCTAVE;
    int64_t within = (leaf - SMALL_LEAVES) % LEAVES_PER_OCTAVE;
    return ((int64_t)SMALL_LEAVES << octave) + (within << (octave + 1));
}

int64_t mg_block_rows(int64_t row_bytes) {
    const int64_t block_bytes = 256 * 1024;
    int64_t rows = MG_BLOCK_ROWS;
    while (rows > 64 && rows > block_bytes / MG_MAX(row_bytes, 1))
        rows /= 2;
    return rows;
}

/* ---- States ---- */

/* In front of a state; 64 bytes, so that the state is aligned. */
typedef struct state_header {
    _Alignas(64) struct state_header *all; /* every state made, for the end */
    struct state_header *unused;           /* states ready for another leaf */
} state_header;

typedef struct sweep_run {
    margin_context *context;
    const mg_accumulator *accumulator;
    void *argument;
    void *result; /* state of leaf 0, into which everything ends up */
    int64_t rows, block_rows, blocks, leaves;
    pthread_mutex_t lock; /* guards the two lists */
    state_header *all, *unused;
    atomic_int no_memory;    /* a state could not be had */
    _Atomic(void *) *parked; /* [leaves]: the first half of a pair to be finished */
} sweep_run;

static void *take_state(sweep_run *run, int64_t leaf) {
    if (leaf == 0) return run->result;
    pthread_mutex_lock(&run->lock);
    state_header *header = run->unused;
    if (header) run->unused = header->unused;
    pthread_mutex_unlock(&run->lock);
    if (header) return header + 1;
    size_t bytes = sizeof *header + (size_t)run->accumulator->state_size;
    header = mg_new(run->context->heap, (int64_t)bytes, 1);
    if (!header) return NULL;
    pthread_mutex_lock(&run->lock);
    header->all = run->all;
    run->all = header;
    pthread_mutex_unlock(&run->lock);
    return header + 1;
}

static void give_state(sweep_run *run, void *state) {
    state_header *header = (state_header *)state - 1;
    pthread_mutex_lock(&run->lock);
    header->unused = run->unused;
    run->unused = header;
    pthread_mutex_unlock(&run->lock);
}

static void free_states(sweep_run *run) {
    state_header *next;
    for (state_header *header = run->all; header; header = next) {
        next = header->all;
        mg_free(run->context->heap, header);
    }
}

static void start_state(const sweep_run *run, void *state) {
    const mg_accumulator *accumulator = run->accumulator;
    if (accumulator->init)
        accumulator->init(state, run->argument);
    else
        memset(state, 0, (size_t)accumulator->sums * sizeof(double));
}

static void merge_states(const sweep_run *run, void *into, const void *from) {
    const mg_accumulator *accumulator = run->accumulator;
    double *a = into;
    const double *b = from;
    if (accumulator->merge) accumulator->merge(into, from, run->argument);
    for (int64_t k = 0; !accumulator->merge && k < accumulator->sums; k++)
        a[k] += b[k];
}

/* ---- Walk ---- */

static mg_block block_at(int64_t index, int64_t block_rows, int64_t rows, int worker) {
    int64_t first = index * block_rows;
    return (mg_block){index, first, MG_MIN(block_rows, rows - first), worker};
}

/* Carries a finished node towards the root. */
static void go_up(sweep_run *run, void *state, int64_t first, int level) {
    for (;; level++) {
        int64_t size = (int64_t)1 << level;
        bool is_left = (first & size) == 0;
        int64_t middle = is_left ? first + size : first; /* where the right sibling begins */
        first = middle - size;
        if (middle >= run->blocks) {
            if (first == 0) return; /* the root */
            continue;               /* no sibling: the parent is this node */
        }
        void *sibling = NULL;
        if (atomic_compare_exchange_strong(&run->parked[leaf_of(middle)], &sibling, state)) return;
        void *left = is_left ? state : sibling, *right = is_left ? sibling : state;
        merge_states(run, left, right);
        give_state(run, right);
        state = left;
    }
}

static margin_status sweep_leaf(void *argument, int64_t leaf, int worker) {
    sweep_run *run = argument;
    const mg_accumulator *accumulator = run->accumulator;
    int64_t first = leaf_first(leaf);
    int level = leaf_level(first);
    int64_t end = MG_MIN(first + ((int64_t)1 << level), run->blocks);
    void *state = take_state(run, leaf);
    if (!state) {
        atomic_store(&run->no_memory, 1);
        return MARGIN_ERROR_MEMORY;
    }
    start_state(run, state);
    for (int64_t i = first; i < end; i++) {
        if (mg_cancelled(run->context)) return MARGIN_ERROR_CANCELLED;
        mg_block block = block_at(i, run->block_rows, run->rows, worker);
        MG_TRY(accumulator->add(state, &block, run->argument));
    }
    go_up(run, state, first, level);
    return MARGIN_OK;
}

static int64_t count_blocks(int64_t rows, int64_t block_rows) {
    return rows / block_rows + (rows % block_rows > 0);
}

margin_status mg_sweep(margin_context *context, int64_t rows, int64_t block_rows,
                       const mg_accumulator *accumulator, void *argument, void *state,
                       margin_error *error) {
    sweep_run run = {.context = context,
                     .accumulator = accumulator,
                     .argument = argument,
                     .result = state,
                     .rows = rows,
                     .block_rows = block_rows,
                     .blocks = count_blocks(rows, block_rows)};
    size_t state_bytes = sizeof(state_header) + (size_t)accumulator->state_size;
    margin_status status = MARGIN_OK;

    pthread_mutex_init(&run.lock, NULL);
    if (run.blocks == 0) {
        start_state(&run, state);
    } else {
        run.leaves = leaf_of(run.blocks - 1) + 1;
        run.parked = mg_new(context->heap, run.leaves, sizeof *run.parked);
        if (!run.parked) {
            status = mg_no_memory(context->heap, run.leaves, sizeof *run.parked,
                                  "the table of partial results", error);
            goto done;
        }
        for (int64_t i = 0; i < run.leaves; i++)
            atomic_init(&run.parked[i], NULL);
        status = mg_parallel(context, run.leaves, sweep_leaf, &run, error);
    }
    if (status >= 0 && accumulator->finish) status = accumulator->finish(state, argument);
    if (status == MARGIN_ERROR_MEMORY && atomic_load(&run.no_memory))
        status = mg_no_memory(context->heap, (int64_t)state_bytes, 1, "a partial result", error);
    if (status == MARGIN_ERROR_CANCELLED) mg_fail_cancelled(error);
done:
    free_states(&run);
    mg_free(context->heap, run.parked);
    pthread_mutex_destroy(&run.lock);
    return status;
}

/* ---- Walk without states ---- */

typedef struct walk {
    int64_t rows, block_rows;
    mg_visit visit;
    void *argument;
} walk;

static margin_status visit_block(void *argument, int64_t index, int worker) {
    const walk *run = argument;
    mg_block block = block_at(index, run->block_rows, run->rows, worker);
    return run->visit(&block, run->argument);
}

margin_status mg_sweep_each(margin_context *context, int64_t rows, int64_t block_rows,
                            mg_visit visit, void *argument, margin_error *error) {
    walk run = {rows, block_rows, visit, argument};
    return mg_parallel(context, count_blocks(rows, block_rows), visit_block, &run, error);
}
