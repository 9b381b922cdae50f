/* What every test program needs: cmocka in the order it wants, an allocator that fails on demand
 * and counts, contexts that use it, temporary files, data sets. */
#ifndef SUPPORT_H
#define SUPPORT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

#include "margin/data.h"

#include <stdatomic.h>
#include <stdbool.h>

/* ---- Allocator -------------------------------------------------------------------------------
 * Blocks are aligned to 16 bytes and no better (the contract's minimum), filled with 0xA5 when new
 * and 0x5A when released; sizes are checked at release, overruns too. */
typedef struct support_heap {
    atomic_llong calls;       /* allocations asked for so far */
    atomic_llong live_blocks; /* not released yet */
    atomic_llong live_bytes;
    atomic_llong peak_bytes;
    atomic_llong fail_at;       /* the allocation (from 1) that fails; 0: none */
    atomic_bool fail_all_after; /* later ones fail too */
    atomic_llong failures;
} support_heap;

void support_heap_init(support_heap *heap);
margin_allocator support_allocator(support_heap *heap);
void support_assert_nothing_live(support_heap *heap); /* fails the test otherwise */

/* A context over `heap` (NULL: malloc), with that many threads (0: default). Fails the test if it
 * cannot be made. */
margin_context *support_context(support_heap *heap, int threads);

/* cmocka_run_group_tests(tests, support_open_context, support_close_context): *state is a context
 * with two threads, and so is `context` of support/group_context.h. */
int support_open_context(void **state);
int support_close_context(void **state);

/* Calls `body` with a fresh context again and again, its first, second, third ... allocation
 * failing, until one call needs no more. Each failing call must return MARGIN_ERROR_MEMORY with a
 * text and leave nothing allocated once its context is freed; the last one must not fail. `body`
 * must release what it made on success. Returns the number of allocations that were failed. */
typedef margin_status (*support_body)(margin_context *context, void *user, margin_error *error);
int support_fail_each_allocation(int threads, support_body body, void *user);

/* ---- Files -----------------------------------------------------------------------------------*/
enum { SUPPORT_PATH = 1024 };

/* About how many times slower the program is under a sanitizer or valgrind (its preset says so):
 * tests that try very many cases take one of so many. */
#if defined(__SANITIZE_THREAD__)
enum { SUPPORT_SLOWER = 20 };
#elif defined(__SANITIZE_ADDRESS__)
enum { SUPPORT_SLOWER = 4 };
#elif defined(SUPPORT_UNDER_VALGRIND)
enum { SUPPORT_SLOWER = 30 };
#else
enum { SUPPORT_SLOWER = 1 };
#endif

/* At the start of a test whose case takes minutes under valgrind and the thread sanitizer and shows
 * them nothing that smaller ones do not. */
#define SUPPORT_LARGE_CASE()                                                                       \
    do {                                                                                           \
        if (SUPPORT_SLOWER >= 20) skip();                                                          \
    } while (0)

/* Path of a data set, for example "tabular/wdbc.csv": below the directory that MARGIN_DATA names,
 * else below ../shared/data next to the source tree. NULL if it is not there. */
const char *support_data(char path[SUPPORT_PATH], const char *name);
/* The same, or ends the test as skipped. */
#define SUPPORT_DATA_OR_SKIP(path, name)                                                           \
    do {                                                                                           \
        if (!support_data((path), (name))) {                                                       \
            print_message("skipped: no data set %s\n", (name));                                    \
            skip();                                                                                \
        }                                                                                          \
    } while (0)

/* A file or folder of the source tree. */
const char *support_source(char path[SUPPORT_PATH], const char *name);

/* Makes an empty temporary directory; removes it with everything in it. */
void support_temp_dir(char path[SUPPORT_PATH]);
void support_temp_remove(const char *path);

/* Writes dir/name and gives its path. */
const char *support_write_text(char path[SUPPORT_PATH], const char *dir, const char *name,
                               const char *text);
const char *support_write_bytes(char path[SUPPORT_PATH], const char *dir, const char *name,
                                const void *bytes, size_t length);
/* The whole file with a zero after it; free() it. Fails the test if it cannot be read. */
char *support_read_file(const char *path, size_t *length);

/* ---- Checks ----------------------------------------------------------------------------------*/

/* |a - b| <= tolerance * max(1, |a|, |b|); equal infinities and two NaN agree. Prints both. */
void support_assert_close(double a, double b, double tolerance, const char *file, int line);
#define assert_close(a, b, tolerance)                                                              \
    support_assert_close((a), (b), (tolerance), __FILE__, __LINE__)
/* `text` contains `part`; prints both otherwise. */
void support_assert_contains(const char *text, const char *part, const char *file, int line);
#define assert_contains(text, part) support_assert_contains((text), (part), __FILE__, __LINE__)

/* Test numbers: splitmix64, the same on every machine. */
uint64_t support_random(uint64_t *state);
double support_uniform(uint64_t *state); /* in [0, 1) */
double support_normal(uint64_t *state);  /* sum of twelve uniforms - 6 */

/* margin_table_info as a value. */
margin_table_details table_details(const margin_table *table);

#endif
