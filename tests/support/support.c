#include "support/support.h"

#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Allocator ---- */

/* Before each block: its size, and a mark that is also put after the block. 16 bytes, so that the
 * block is 16 bytes off the 32-byte boundary that the memory below starts at. */
typedef struct block_header {
    uint64_t size;
    uint64_t mark;
} block_header;

static const uint64_t block_mark = 0x6d617267696e2121u;
enum { BLOCK_ALIGNMENT = 64, BLOCK_HEADER = 16 };

void support_heap_init(support_heap *heap) {
    *heap = (support_heap){0};
}

static bool allocation_fails(support_heap *heap) {
    long long call = atomic_fetch_add(&heap->calls, 1) + 1;
    long long fail_at = atomic_load(&heap->fail_at);
    bool fails =
        fail_at > 0 && (call == fail_at || (call > fail_at && atomic_load(&heap->fail_all_after)));
    if (fails) atomic_fetch_add(&heap->failures, 1);
    return fails;
}

static void *heap_allocate(size_t bytes, void *user) {
    support_heap *heap = user;
    if (allocation_fails(heap)) return NULL;
    if (bytes > SIZE_MAX / 2) return NULL;
    size_t whole = BLOCK_HEADER + bytes + sizeof block_mark;
    char *memory = aligned_alloc(BLOCK_ALIGNMENT, (whole + BLOCK_ALIGNMENT - 1) & ~(size_t)63);
    if (!memory) return NULL;
    *(block_header *)memory = (block_header){bytes, block_mark};
    char *block = memory + BLOCK_HEADER;
    memset(block, 0xA5, bytes);
    memcpy(block + bytes, &block_mark, sizeof block_mark);
    atomic_fetch_add(&heap->live_blocks, 1);
    long long live = atomic_fetch_add(&heap->live_bytes, (long long)bytes) + (long long)bytes;
    long long peak = atomic_load(&heap->peak_bytes);
    while (live > peak && !atomic_compare_exchange_weak(&heap->peak_bytes, &peak, live)) {
    }
    return block;
}

static void heap_complain(const char *what, size_t bytes) {
    fprintf(stderr, "support_heap: %s (block of %zu bytes)\n", what, bytes);
    abort();
}

static void heap_release(void *block, size_t bytes, void *user) {
    support_heap *heap = user;
    if (!block) heap_complain("release of NULL", bytes);
    block_header *header = (block_header *)((char *)block - BLOCK_HEADER);
    if (header->mark != block_mark) heap_complain("released twice, or not ours", bytes);
    if (header->size != bytes) heap_complain("released with another size than asked for", bytes);
    if (memcmp((char *)block + bytes, &block_mark, sizeof block_mark) != 0)
        heap_complain("written past its end", bytes);
    memset(header, 0x5A, BLOCK_HEADER + bytes);
    atomic_fetch_sub(&heap->live_blocks, 1);
    atomic_fetch_sub(&heap->live_bytes, (long long)bytes);
    free(header);
}

margin_allocator support_allocator(support_heap *heap) {
    return (margin_allocator){heap_allocate, heap_release, heap};
}

void support_assert_nothing_live(support_heap *heap) {
    long long blocks = atomic_load(&heap->live_blocks), bytes = atomic_load(&heap->live_bytes);
    if (blocks || bytes) fail_msg("%lld blocks with %lld bytes were not released", blocks, bytes);
}

static margin_context_options context_options(support_heap *heap, int threads) {
    margin_context_options options = {.size = sizeof options, .threads = threads};
    if (heap) options.allocator = support_allocator(heap);
    return options;
}

margin_context *support_context(support_heap *heap, int threads) {
    margin_context_options options = context_options(heap, threads);
    margin_context *context = NULL;
    margin_error error = {0};
    if (margin_context_create(&options, &context, &error) < 0)
        fail_msg("no context: %s", error.text);
    return context;
}

int support_fail_each_allocation(int threads, support_body body, void *user) {
    for (int n = 1;; n++) {
        support_heap heap;
        support_heap_init(&heap);
        margin_context *context = support_context(&heap, threads);
        margin_error error = {0};
        atomic_store(&heap.fail_at, atomic_load(&heap.calls) + n);
        margin_status status = body(context, user, &error);
        atomic_store(&heap.fail_at, 0);
        margin_context_free(context);
        support_assert_nothing_live(&heap);
        if (atomic_load(&heap.failures) == 0) {
            if (status < 0) fail_msg("failed without a failing allocation: %s", error.text);
            return n - 1;
        }
        if (status != MARGIN_ERROR_MEMORY)
            fail_msg("allocation %d failed, the status is %d, not out of memory", n, (int)status);
        if (error.text[0] == 0) fail_msg("allocation %d failed, the error has no text", n);
    }
}

/* ---- Files ---- */

static void join_path(char path[SUPPORT_PATH], const char *dir, const char *name) {
    int length = snprintf(path, SUPPORT_PATH, "%s/%s", dir, name);
    if (length < 0 || length >= SUPPORT_PATH) fail_msg("path too long: %s/%s", dir, name);
}

const char *support_source(char path[SUPPORT_PATH], const char *name) {
    join_path(path, MARGIN_SOURCE_DIR, name);
    return path;
}

const char *support_data(char path[SUPPORT_PATH], const char *name) {
    const char *root = getenv("MARGIN_DATA");
    join_path(path, root && root[0] ? root : MARGIN_SOURCE_DIR "/../shared/data", name);
    return access(path, R_OK) == 0 ? path : NULL;
}

void support_temp_dir(char path[SUPPORT_PATH]) {
    const char *base = getenv("TMPDIR");
    join_path(path, base && base[0] ? base : "/tmp", "margin-test-XXXXXX");
    if (!mkdtemp(path)) fail_msg("no temporary directory %s", path);
}

static int remove_entry(const char *path, const struct stat *entry, int type, struct FTW *walk) {
    (void)entry, (void)type, (void)walk;
    return remove(path);
}

void support_temp_remove(const char *path) {
    if (!strstr(path, "margin-test-")) fail_msg("not a temporary directory: %s", path);
    nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

const char *support_write_bytes(char path[SUPPORT_PATH], const char *dir, const char *name,
                                const void *bytes, size_t length) {
    join_path(path, dir, name);
    FILE *file = fopen(path, "wb");
    if (!file) fail_msg("cannot create %s", path);
    size_t written = length ? fwrite(bytes, 1, length, file) : 0;
    if (fclose(file) != 0 || written != length) fail_msg("cannot write %s", path);
    return path;
}

const char *support_write_text(char path[SUPPORT_PATH], const char *dir, const char *name,
                               const char *text) {
    return support_write_bytes(path, dir, name, text, strlen(text));
}

char *support_read_file(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    if (!file) fail_msg("cannot open %s", path);
    struct stat entry;
    if (fstat(fileno(file), &entry) != 0) fail_msg("cannot stat %s", path);
    size_t size = (size_t)entry.st_size;
    char *bytes = malloc(size + 1);
    if (!bytes || fread(bytes, 1, size, file) != size) fail_msg("cannot read %s", path);
    fclose(file);
    bytes[size] = 0;
    if (length) *length = size;
    return bytes;
}

/* ---- Checks ---- */

void support_assert_close(double a, double b, double tolerance, const char *file, int line) {
    bool same = a == b || (isnan(a) && isnan(b));
    double scale = fmax(1.0, fmax(fabs(a), fabs(b)));
    if (same || fabs(a - b) <= tolerance * scale) return;
    print_error("%.17g and %.17g differ by %.3g, allowed %.3g\n", a, b, fabs(a - b),
                tolerance * scale);
    _fail(file, line);
}

void support_assert_contains(const char *text, const char *part, const char *file, int line) {
    if (text && strstr(text, part)) return;
    print_error("\"%s\" does not contain \"%s\"\n", text ? text : "(null)", part);
    _fail(file, line);
}

uint64_t support_random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

double support_uniform(uint64_t *state) {
    return (double)(support_random(state) >> 11) * 0x1p-53;
}

double support_normal(uint64_t *state) {
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += support_uniform(state);
    return sum;
}

margin_table_details table_details(const margin_table *table) {
    margin_table_details details = {.size = sizeof details};
    margin_table_info(table, &details);
    return details;
}
