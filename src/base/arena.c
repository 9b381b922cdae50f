/* Arena: blocks in a chain, each carved from the front. The newest block that is shared by small
 * pieces comes first; a piece too large for sharing gets a block of its own behind it. */
#include "base/memory.h"

#include <string.h>

enum { PIECE_ALIGNMENT = 64, FIRST_BLOCK = 1 << 15, LARGEST_BLOCK = 1 << 20 };

/* Padded to 64 bytes so that the pieces after it are aligned. */
struct mg_arena_block {
    struct mg_arena_block *next;
    size_t used, capacity; /* bytes after this header */
    char padding[PIECE_ALIGNMENT - sizeof(void *) - 2 * sizeof(size_t)];
};

_Static_assert(sizeof(struct mg_arena_block) == PIECE_ALIGNMENT, "pieces must start aligned");

void mg_arena_init(mg_arena *arena, mg_heap *heap) {
    arena->heap = heap;
    arena->first = NULL;
}

static struct mg_arena_block *block_of(mg_heap *heap, size_t capacity) {
    struct mg_arena_block *block = mg_new(heap, (int64_t)(sizeof *block + capacity), 1);
    if (!block) return NULL;
    *block = (struct mg_arena_block){.capacity = capacity};
    return block;
}

/* A block for a piece of `bytes`, linked in. Sharing is only an economy: where a shared block does
 * not fit under the limit, one for the piece alone may. */
static struct mg_arena_block *array_add_block(mg_arena *arena, size_t bytes) {
    struct mg_arena_block *first = arena->first, *block = NULL;
    size_t shared = first ? MG_MIN(2 * first->capacity, (size_t)LARGEST_BLOCK) : FIRST_BLOCK;
    if (shared < FIRST_BLOCK) shared = FIRST_BLOCK;
    bool alone = bytes > shared / 2;
    if (!alone) block = block_of(arena->heap, shared);
    if (alone || (!block && mg_heap_limit(arena->heap) > 0)) block = block_of(arena->heap, bytes);
    if (!block) return NULL;
    if (alone && first) {
        block->next = first->next;
        first->next = block;
    } else {
        block->next = first;
        arena->first = block;
    }
    return block;
}

void *mg_arena_new(mg_arena *arena, int64_t count, size_t size) {
    const size_t most = (size_t)PTRDIFF_MAX / 2;
    if (count < 0 || (size > 0 && (uint64_t)count > most / size))
        return mg_new(arena->heap, -1, 1); /* NULL, and the reason is noted */
    size_t bytes = (size_t)count * size;
    bytes = (bytes + PIECE_ALIGNMENT - 1) / PIECE_ALIGNMENT * PIECE_ALIGNMENT;
    struct mg_arena_block *block = arena->first;
    if (!block || bytes > block->capacity - block->used) block = array_add_block(arena, bytes);
    if (!block) return NULL;
    void *piece = (char *)(block + 1) + block->used;
    block->used += bytes;
    return piece;
}

/* Pieces that are large together lie in one block: huge pages serve it, which they do not small
 * ones. */
static struct mg_arena_block *begin_large(mg_arena *arena, const mg_piece *pieces, int count) {
    double bytes = 0.0;
    for (int k = 0; k < count; k++)
        bytes += (double)pieces[k].count * (double)pieces[k].size + 2 * PIECE_ALIGNMENT;
    if (!(bytes >= 4.0 * LARGEST_BLOCK && bytes < (double)PTRDIFF_MAX / 4)) return NULL;
    const size_t huge = 2 * (size_t)LARGEST_BLOCK, whole = ((size_t)bytes / huge + 1) * huge;
    const bool fills = (double)whole - bytes <= bytes / 8.0; /* then the last page is huge, too */
    struct mg_arena_block *block =
        block_of(arena->heap, (fills ? whole : (size_t)bytes) - sizeof *block);
    if (!block) return NULL; /* single ones may fit */
    block->next = arena->first;
    return arena->first = block;
}

/* The block for small pieces is the first again. */
static void end_large(mg_arena *arena, struct mg_arena_block *block) {
    struct mg_arena_block *before = block ? block->next : NULL;
    if (!before || arena->first != block) return;
    block->next = before->next;
    before->next = block;
    arena->first = before;
}

margin_status mg_arena_pieces(mg_arena *arena, const mg_piece *pieces, int count,
                              const char *purpose, margin_error *error) {
    struct mg_arena_block *large = begin_large(arena, pieces, count);
    for (int k = 0; k < count; k++) {
        void *made = mg_arena_new(arena, pieces[k].count, pieces[k].size);
        if (!made)
            return mg_no_memory(arena->heap, pieces[k].count, pieces[k].size, purpose, error);
        memcpy(pieces[k].place, &made, sizeof made);
    }
    end_large(arena, large);
    return MARGIN_OK;
}

void mg_arena_free(mg_arena *arena) {
    struct mg_arena_block *next;
    for (struct mg_arena_block *block = arena->first; block; block = next) {
        next = block->next;
        mg_free(arena->heap, block);
    }
    arena->first = NULL;
}

void *mg_arena_begin(mg_arena *arena, mg_heap *heap, size_t size) {
    mg_arena_init(arena, heap);
    void *object = mg_arena_new(arena, 1, size);
    if (object) mg_heap_retain(heap);
    return object ? memset(object, 0, size) : NULL;
}

void mg_arena_end(mg_arena arena) {
    mg_arena_free(&arena);
    mg_heap_release(arena.heap);
}
