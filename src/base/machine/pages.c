#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* mremap, MADV_HUGEPAGE */
#endif
#include "base/machine/pages.h"

#include <stdint.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) ||                         \
    __has_feature(thread_sanitizer)
#define MG_CHECKED_MEMORY 1
#endif
#endif
/* The thread sanitizer does not follow mremap: what it knows of the old addresses stays behind. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MG_CHECKED_MEMORY 1
#endif

#if defined(__linux__) && !defined(MG_CHECKED_MEMORY)

#include <sys/mman.h>
#include <unistd.h>

static const size_t huge_page = (size_t)2 << 20;

static size_t page_size(void) {
    long size = sysconf(_SC_PAGESIZE);
    return size > 0 ? (size_t)size : 4096;
}

bool mg_pages_available(void) {
    return page_size() <= huge_page;
}

size_t mg_pages_total(size_t bytes) {
    size_t page = page_size();
    return page + (bytes + page - 1) / page * page;
}

/* Address space for a block of `total` bytes whose second page is aligned to 2 MB. The surplus is
 * given back at once, so that limits on address space count the block alone. */
static char *reserve(size_t total, int protection) {
    size_t page = page_size(), spare = huge_page - page;
    char *map = mmap(NULL, total + spare, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) return NULL;
    size_t past = ((uintptr_t)map + page) % huge_page;
    size_t before = past == 0 ? 0 : huge_page - past;
    if (before > 0) munmap(map, before);
    if (spare > before) munmap(map + before + total, spare - before);
    return map + before;
}

void *mg_pages_new(size_t bytes) {
    size_t total = mg_pages_total(bytes);
    char *map = reserve(total, PROT_READ | PROT_WRITE);
    if (!map) return NULL;
    /* a wish: refusal does no harm; for the whole map, as mremap takes no two kinds at once */
    madvise(map, total, MADV_HUGEPAGE);
#ifdef MADV_POPULATE_WRITE /* small pages behind the last huge one: all at once costs a quarter */
    const size_t whole = page_size() + bytes / huge_page * huge_page;
    madvise(map + whole, total - whole, MADV_POPULATE_WRITE);
#endif
    return map + page_size();
}

void *mg_pages_resize(void *block, size_t old_bytes, size_t new_bytes) {
    char *old_map = (char *)block - page_size();
    size_t old_total = mg_pages_total(old_bytes), new_total = mg_pages_total(new_bytes);
    if (mremap(old_map, old_total, new_total, 0) != MAP_FAILED) return block;
    char *map = reserve(new_total, PROT_NONE);
    if (!map) return NULL;
    if (mremap(old_map, old_total, new_total, MREMAP_MAYMOVE | MREMAP_FIXED, map) == MAP_FAILED) {
        munmap(map, new_total);
        return NULL;
    }
    return map + page_size();
}

void mg_pages_free(void *block, size_t bytes) {
    munmap((char *)block - page_size(), mg_pages_total(bytes));
}

#else

bool mg_pages_available(void) {
    return false;
}
size_t mg_pages_total(size_t bytes) {
    return bytes;
}
void *mg_pages_new(size_t bytes) {
    (void)bytes;
    return NULL;
}
void *mg_pages_resize(void *block, size_t old_bytes, size_t new_bytes) {
    (void)block, (void)old_bytes, (void)new_bytes;
    return NULL;
}
void mg_pages_free(void *block, size_t bytes) {
    (void)block, (void)bytes;
}

#endif
