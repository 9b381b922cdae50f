/* The heap: where a block comes from, and what it counts.
 *
 * Every block has a header right before it. Three sources, told apart by header.source:
 *   system   posix_memalign, header in the 64 bytes before the block
 *   pages    large blocks of the default allocator, header at the end of the page before the block
 *   user     the allocator of the options, padded because it promises 16 bytes of alignment only
 * `held` counts what was asked of the source, header and padding included, so that the limit is
 * about what the process really takes. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* posix_memalign */
#endif
#include "base/memory.h"
#include "base/machine/pages.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 };

/* Blocks from this size on go to huge pages: smaller ones would have none. */
static const size_t large_block = (size_t)2 << 20;

struct mg_heap {
    margin_allocator allocator; /* allocate NULL: the system's */
    int64_t limit;              /* 0: none */
    atomic_llong held, peak, announced;
    atomic_int references;
    atomic_int refused_by; /* why the last allocation failed: a margin_status, 0 if none has */
    mg_heap *above;        /* what this is a part of; a reference; NULL: nothing */
};

typedef enum block_source { FROM_SYSTEM, FROM_PAGES, FROM_USER } block_source;

typedef struct block_header {
    void *base;    /* what the source gave */
    size_t taken;  /* bytes asked of the source */
    size_t bytes;  /* bytes the block may use */
    size_t source; /* block_source */
} block_header;

static block_header *header_of(void *block) {
    return (block_header *)block - 1;
}

/* ---- Heap ---- */

static void *raw_allocate(const margin_allocator *allocator, size_t bytes) {
    return allocator->allocate ? allocator->allocate(bytes, allocator->user) : malloc(bytes);
}

margin_status mg_heap_create(const margin_allocator *allocator, int64_t limit, mg_heap **heap,
                             margin_error *error) {
    margin_allocator chosen = {0};
    if (allocator) chosen = *allocator;
    MG_REQUIRE(!chosen.allocate == !chosen.release, error, MARGIN_ERROR_ARGUMENT,
               "the allocator has only one of `allocate` and `release`; give both or neither");
    MG_REQUIRE(limit >= 0, error, MARGIN_ERROR_ARGUMENT,
               "the memory limit is %lld bytes; it must be 0 (none) or positive", (long long)limit);
    mg_heap *created = raw_allocate(&chosen, sizeof *created);
    if (!created) return mg_fail_memory(error, sizeof *created, "the context's accounts");
    created->allocator = chosen;
    created->limit = limit == INT64_MAX ? 0 : limit; /* accounts alone */
    atomic_init(&created->held, (long long)sizeof *created);
    atomic_init(&created->peak, (long long)sizeof *created);
    atomic_init(&created->announced, 0);
    atomic_init(&created->references, 1);
    atomic_init(&created->refused_by, 0);
    created->above = NULL;
    *heap = created;
    return MARGIN_OK;
}

static void *take_from_above(size_t bytes, void *above) {
    return mg_new(above, (int64_t)bytes, 1);
}

static void give_to_above(void *memory, size_t bytes, void *above) {
    (void)bytes;
    mg_free(above, memory);
}

margin_status mg_heap_part(mg_heap *above, int64_t limit, mg_heap **heap, margin_error *error) {
    const margin_allocator allocator = {take_from_above, give_to_above, above};
    MG_TRY(mg_heap_create(&allocator, limit, heap, error));
    (*heap)->above = mg_heap_retain(above);
    return MARGIN_OK;
}

mg_heap *mg_heap_retain(mg_heap *heap) {
    atomic_fetch_add_explicit(&heap->references, 1, memory_order_relaxed);
    return heap;
}

void mg_heap_release(mg_heap *heap) {
    if (!heap || atomic_fetch_sub_explicit(&heap->references, 1, memory_order_acq_rel) > 1) return;
    margin_allocator allocator = heap->allocator;
    mg_heap *above = heap->above;
    if (allocator.release)
        allocator.release(heap, sizeof *heap, allocator.user);
    else
        free(heap);
    mg_heap_release(above);
}

int64_t mg_heap_held(const mg_heap *heap) {
    return atomic_load_explicit(&((mg_heap *)heap)->held, memory_order_relaxed);
}

int64_t mg_heap_peak(const mg_heap *heap) {
    return atomic_load_explicit(&((mg_heap *)heap)->peak, memory_order_relaxed);
}

int64_t mg_heap_announced(const mg_heap *heap) {
    return atomic_load_explicit(&((mg_heap *)heap)->announced, memory_order_relaxed);
}

int64_t mg_heap_limit(const mg_heap *heap) {
    int64_t least = 0;
    for (; heap; heap = heap->above)
        if (heap->limit > 0 && (least == 0 || heap->limit < least)) least = heap->limit;
    return least;
}

int64_t mg_heap_left(const mg_heap *heap) {
    int64_t left = INT64_MAX;
    for (; heap; heap = heap->above)
        if (heap->limit > 0) left = MG_MIN(left, heap->limit - mg_heap_held(heap));
    return left;
}

/* ---- Accounts ---- */

static void refuse(mg_heap *heap, margin_status why) {
    atomic_store_explicit(&heap->refused_by, (int)why, memory_order_relaxed);
}

/* Books `bytes` unless the limit forbids it. Never books more than the limit even for a moment, so
 * that a thread whose request is refused does not make another's fail. */
static bool book(mg_heap *heap, size_t bytes) {
    long long more = (long long)bytes;
    long long held = atomic_load_explicit(&heap->held, memory_order_relaxed);
    do {
        if (heap->limit > 0 && more > heap->limit - held) {
            refuse(heap, MARGIN_ERROR_LIMIT);
            return false;
        }
    } while (!atomic_compare_exchange_weak_explicit(&heap->held, &held, held + more,
                                                    memory_order_relaxed, memory_order_relaxed));
    return true;
}

static void raise_to(atomic_llong *most, long long value) {
    long long known = atomic_load_explicit(most, memory_order_relaxed);
    while (value > known && !atomic_compare_exchange_weak_explicit(
                                most, &known, value, memory_order_relaxed, memory_order_relaxed)) {
    }
}

/* After the source has given what was booked: a request that failed never counts. */
static void note_peak(mg_heap *heap) {
    raise_to(&heap->peak, atomic_load_explicit(&heap->held, memory_order_relaxed));
}

bool mg_heap_announce(mg_heap *heap, int64_t bytes) {
    const int64_t known = mg_heap_announced(heap);
    const bool more = bytes - bytes / 8 > known - mg_heap_held(heap);
    for (; heap; heap = heap->above) {
        const int64_t held = mg_heap_held(heap);
        raise_to(&heap->announced, held + MG_MIN(bytes, INT64_MAX - held));
    }
    return more;
}

static void unbook(mg_heap *heap, size_t bytes) {
    atomic_fetch_sub_explicit(&heap->held, (long long)bytes, memory_order_relaxed);
}

/* count * size, or false if no block can have that many bytes. */
static bool block_bytes(int64_t count, size_t size, size_t *bytes) {
    const size_t most = (size_t)PTRDIFF_MAX - ((size_t)8 << 20); /* room for headers, padding */
    if (count < 0 || (size > 0 && (uint64_t)count > most / size)) return false;
    *bytes = (size_t)count * size;
    return true;
}

/* ---- Blocks ---- */

static block_source source_for(const mg_heap *heap, size_t bytes) {
    if (heap->allocator.allocate) return FROM_USER;
    return bytes >= large_block && mg_pages_available() ? FROM_PAGES : FROM_SYSTEM;
}

static size_t taken_for(block_source source, size_t bytes) {
    switch (source) {
    case FROM_SYSTEM:
        return bytes + ALIGNMENT;
    case FROM_PAGES:
        return mg_pages_total(bytes);
    case FROM_USER:
        break;
    }
    return bytes + sizeof(block_header) + ALIGNMENT - 1;
}

/* What the source gives for the block, and the aligned place in it. */
static void *memory_take(const mg_heap *heap, block_source source, size_t bytes, void **base) {
    size_t taken = taken_for(source, bytes);
    *base = NULL;
    switch (source) {
    case FROM_SYSTEM:
        return posix_memalign(base, ALIGNMENT, taken) == 0 ? (char *)*base + ALIGNMENT : NULL;
    case FROM_PAGES:
        return *base = mg_pages_new(bytes);
    case FROM_USER:
        break;
    }
    *base = heap->allocator.allocate(taken, heap->allocator.user);
    if (!*base) return NULL;
    uintptr_t start = (uintptr_t)*base + sizeof(block_header);
    return (char *)*base + sizeof(block_header) + (ALIGNMENT - start % ALIGNMENT) % ALIGNMENT;
}

static void *block_new(mg_heap *heap, size_t bytes) {
    block_source source = source_for(heap, bytes);
    size_t taken = taken_for(source, bytes);
    void *base;
    if (!book(heap, taken)) return NULL;
    void *block = memory_take(heap, source, bytes, &base);
    if (!block) {
        unbook(heap, taken);
        refuse(heap, MARGIN_ERROR_MEMORY);
        return NULL;
    }
    note_peak(heap);
    *header_of(block) = (block_header){base, taken, bytes, (size_t)source};
    return block;
}

void *mg_new(mg_heap *heap, int64_t count, size_t size) {
    size_t bytes;
    if (block_bytes(count, size, &bytes)) return block_new(heap, bytes);
    refuse(heap, heap->limit > 0 ? MARGIN_ERROR_LIMIT : MARGIN_ERROR_MEMORY);
    return NULL;
}

void *mg_new_zero(mg_heap *heap, int64_t count, size_t size) {
    void *block = mg_new(heap, count, size);
    if (block && header_of(block)->source != FROM_PAGES) /* fresh pages are zero */
        memset(block, 0, header_of(block)->bytes);
    return block;
}

void mg_free(mg_heap *heap, void *memory) {
    if (!memory) return;
    block_header header = *header_of(memory);
    switch ((block_source)header.source) {
    case FROM_SYSTEM:
        free(header.base);
        break;
    case FROM_PAGES:
        mg_pages_free(header.base, header.bytes);
        break;
    case FROM_USER:
        heap->allocator.release(header.base, header.taken, heap->allocator.user);
        break;
    }
    unbook(heap, header.taken);
}

void mg_free_list(mg_heap *heap, void *const *list, int count) {
    for (int k = 0; k < count; k++)
        mg_free(heap, list[k]);
}

/* Grows or shrinks within huge pages: no copy, and no moment at which both sizes are held. */
static void *resize_pages(mg_heap *heap, void *memory, size_t bytes) {
    block_header header = *header_of(memory);
    size_t taken = taken_for(FROM_PAGES, bytes);
    if (taken > header.taken && !book(heap, taken - header.taken)) return NULL;
    void *block = mg_pages_resize(memory, header.bytes, bytes);
    if (!block) {
        if (taken > header.taken) unbook(heap, taken - header.taken);
        refuse(heap, MARGIN_ERROR_MEMORY);
        return NULL;
    }
    if (taken < header.taken) unbook(heap, header.taken - taken);
    note_peak(heap);
    *header_of(block) = (block_header){block, taken, bytes, FROM_PAGES};
    return block;
}

void *mg_resize(mg_heap *heap, void *memory, int64_t count, size_t size) {
    size_t bytes;
    if (!memory) return mg_new(heap, count, size);
    if (!block_bytes(count, size, &bytes)) return mg_new(heap, count, size); /* notes the refusal */
    const block_header *header = header_of(memory);
    if (bytes <= header->bytes && bytes >= header->bytes / 4 * 3) return memory;
    if (header->source == FROM_PAGES && source_for(heap, bytes) == FROM_PAGES)
        return resize_pages(heap, memory, bytes);
    void *block = block_new(heap, bytes);
    if (!block) return NULL;
    memcpy(block, memory, MG_MIN(bytes, header->bytes));
    mg_free(heap, memory);
    return block;
}

char *mg_copy_text(mg_heap *heap, const char *text, int64_t length) {
    char *copy = length < INT64_MAX ? mg_new(heap, length + 1, 1) : NULL;
    if (!copy) return NULL;
    if (length > 0) memcpy(copy, text, (size_t)length);
    copy[length] = '\0';
    return copy;
}

margin_status mg_take_text(mg_heap *heap, const char *text, int64_t length, const char *purpose,
                           char **kept, margin_error *error) {
    if (length < 0) length = (int64_t)strlen(text);
    *kept = mg_copy_text(heap, text, length);
    return *kept ? MARGIN_OK : mg_no_memory(heap, length + 1, 1, purpose, error);
}

/* ---- Refusals ---- */

static margin_status fail_limit(const mg_heap *heap, size_t need, const char *purpose,
                                margin_error *error) {
    int64_t held = mg_heap_held(heap);
    return mg_fail(error, MG_CAUSE(MARGIN_ERROR_LIMIT, MEMORY_LIMIT),
                   "the memory limit of %s has %s left (%s in use), too little for %s (%s); raise "
                   "the limit or use less data",
                   mg_bytes((uint64_t)heap->limit).text,
                   mg_bytes((uint64_t)MG_MAX(heap->limit - held, 0)).text,
                   mg_bytes((uint64_t)held).text, purpose, mg_bytes(need).text);
}

margin_status mg_no_memory(const mg_heap *heap, int64_t count, size_t size, const char *purpose,
                           margin_error *error) {
    size_t bytes = 0;
    bool possible = block_bytes(count, size, &bytes);
    int refused_by = atomic_load_explicit(&((mg_heap *)heap)->refused_by, memory_order_relaxed);
    if (refused_by == MARGIN_ERROR_LIMIT)
        return fail_limit(heap, possible ? bytes : SIZE_MAX, purpose, error);
    if (heap->above) return mg_no_memory(heap->above, count, size, purpose, error);
    if (!possible)
        return mg_fail(error, MARGIN_ERROR_MEMORY,
                       "out of memory: %s needs more memory than can be addressed (%lld times %zu "
                       "bytes)",
                       purpose, (long long)count, size);
    return mg_fail_memory(error, bytes, purpose);
}
