/* The one gate every allocation passes: overflow check, limit, accounting, allocator hook.
 *
 * mg_heap is what an object that outlives its context keeps: a counted reference to the allocator
 * and the shared accounting. A context, its tables and its models share one heap; the heap dies
 * with the last of them. All functions are safe from any thread. */
#pragma once

#include "base/status.h"

#include <stdbool.h>

typedef struct mg_heap mg_heap;

margin_status mg_heap_create(const margin_allocator *allocator, int64_t limit, mg_heap **heap,
                             margin_error *error);
/* A heap within another one, with a limit of its own, that takes its memory from there. */
margin_status mg_heap_part(mg_heap *above, int64_t limit, mg_heap **heap, margin_error *error);
mg_heap *mg_heap_retain(mg_heap *heap);
void mg_heap_release(mg_heap *heap);
int64_t mg_heap_held(const mg_heap *heap);
int64_t mg_heap_peak(const mg_heap *heap);
/* What is about to be held beside what is held now. Whether it is more than was said before, by a
 * share that tells. */
bool mg_heap_announce(mg_heap *heap, int64_t bytes);
int64_t mg_heap_announced(const mg_heap *heap); /* 0: nothing was */
int64_t mg_heap_limit(const mg_heap *heap);     /* the least, of those above it too; 0: none */
int64_t mg_heap_left(const mg_heap *heap); /* up to the nearest limit; INT64_MAX: there is none */

/* count * size bytes, aligned to 64, not cleared (mg_new_zero: cleared). NULL on overflow, limit or
 * exhaustion; count 0 gives a valid pointer. Blocks of 2 MB and more are aligned to 2 MB and marked
 * for huge pages (first touch of memory is a main cost of reading), unless the user gave an
 * allocator of his own. */
void *mg_new(mg_heap *heap, int64_t count, size_t size);
void *mg_new_zero(mg_heap *heap, int64_t count, size_t size);
/* Grows or shrinks; NULL leaves the old block as it was. memory may be NULL. */
void *mg_resize(mg_heap *heap, void *memory, int64_t count, size_t size);
void mg_free(mg_heap *heap, void *memory); /* NULL is fine */
void mg_free_list(mg_heap *heap, void *const *list, int count);
/* Several at once. */
#define MG_FREE(heap, ...)                                                                         \
    mg_free_list(heap, (void *const[]){__VA_ARGS__}, MG_LENGTH(((void *const[]){__VA_ARGS__})))
char *mg_copy_text(mg_heap *heap, const char *text, int64_t length); /* adds the final zero */
/* The same with the error; length < 0: up to the final zero. */
margin_status mg_take_text(mg_heap *heap, const char *text, int64_t length, const char *purpose,
                           char **kept, margin_error *error);

/* MEMORY or LIMIT, whichever made the last mg_new of that size fail, with a sentence about
 * `purpose`
 * ("the feature matrix of 200000 x 100 numbers"). */
margin_status mg_no_memory(const mg_heap *heap, int64_t count, size_t size, const char *purpose,
                           margin_error *error);

/* Allocate into `pointer` (a typed pointer variable) or return the error from the enclosing
 * function: numbers as they are, cleared, or of an arena (below). */
#define MG_NEW(heap, pointer, count, purpose, error)                                               \
    MG_NEW_BY(mg_new(heap, (int64_t)(count), sizeof *(pointer)), heap, pointer, count, purpose,    \
              error)
#define MG_NEW_ZERO(heap, pointer, count, purpose, error)                                          \
    MG_NEW_BY(mg_new_zero(heap, (int64_t)(count), sizeof *(pointer)), heap, pointer, count,        \
              purpose, error)
#define MG_ARENA_NEW(arena, pointer, count, purpose, error)                                        \
    MG_NEW_BY(mg_arena_new(arena, (int64_t)(count), sizeof *(pointer)), (arena)->heap, pointer,    \
              count, purpose, error)
/* So many bytes, where the pointer's type is but their beginning. */
#define MG_NEW_BYTES(heap, pointer, bytes, purpose, error)                                         \
    do {                                                                                           \
        (pointer) = mg_new((heap), (int64_t)(bytes), 1);                                           \
        if (!(pointer)) return mg_no_memory((heap), (int64_t)(bytes), 1, (purpose), (error));      \
    } while (0)
#define MG_NEW_BY(made, heap, pointer, count, purpose, error)                                      \
    do {                                                                                           \
        (pointer) = (made);                                                                        \
        if (!(pointer))                                                                            \
            return mg_no_memory((heap), (int64_t)(count), sizeof *(pointer), (purpose), (error));  \
    } while (0)
/* The first for functions with one exit (`status`, `done:`). */
#define MG_GO_NEW(heap, pointer, count, purpose, error)                                            \
    do {                                                                                           \
        (pointer) = mg_new((heap), (int64_t)(count), sizeof *(pointer));                           \
        if (!(pointer)) {                                                                          \
            status =                                                                               \
                mg_no_memory((heap), (int64_t)(count), sizeof *(pointer), (purpose), (error));     \
            goto done;                                                                             \
        }                                                                                          \
    } while (0)

/* Arena: one fit's scratch, released in one place. Blocks never move. Not for concurrent use. */
typedef struct mg_arena {
    mg_heap *heap;
    struct mg_arena_block *first;
} mg_arena;
void mg_arena_init(mg_arena *arena, mg_heap *heap);
void *mg_arena_new(mg_arena *arena, int64_t count,
                   size_t size);     /* NULL as mg_new; aligned to 64, not cleared */
void mg_arena_free(mg_arena *arena); /* releases every block; the arena may be used again */
/* One for the scratch of a block of code: declared, and released on every way out of it but a
 * longjmp. No goto may jump over it, and nothing in it may be used behind the block. */
#define MG_SCOPED_ARENA(arena, of_heap)                                                            \
    __attribute__((cleanup(mg_arena_free))) mg_arena arena = {.heap = (of_heap)}

/* Several arrays of an arena at once: MG_TRY(MG_PIECES(arena, "what they are for", error,
 * MG_PIECE(a, n), MG_PIECE(b, 2 * n))). */
typedef struct mg_piece {
    void *place; /* of the pointer */
    int64_t count;
    size_t size;
} mg_piece;
#define MG_PIECE(pointer, count)                                                                   \
    { &(pointer), (count), sizeof *(pointer) }
#define MG_PIECES(arena, purpose, error, ...)                                                      \
    mg_arena_pieces((arena), (const mg_piece[]){__VA_ARGS__},                                      \
                    MG_LENGTH(((const mg_piece[]){__VA_ARGS__})), (purpose), (error))
margin_status mg_arena_pieces(mg_arena *arena, const mg_piece *pieces, int count,
                              const char *purpose, margin_error *error); /* not cleared */

/* An object that outlives its context with all that it points to: it lies, cleared, in its own
 * member `arena`, which has a reference to the heap. mg_arena_end frees both. */
#define MG_NEW_OWNER(heap, pointer, purpose, error)                                                \
    do {                                                                                           \
        mg_arena mg_arena_;                                                                        \
        (pointer) = mg_arena_begin(&mg_arena_, (heap), sizeof *(pointer));                         \
        if (!(pointer)) return mg_no_memory((heap), 1, sizeof *(pointer), (purpose), (error));     \
        (pointer)->arena = mg_arena_;                                                              \
    } while (0)
void *mg_arena_begin(mg_arena *arena, mg_heap *heap, size_t size);
void mg_arena_end(mg_arena arena);
