/* Heap, arena, growing text: what they give, what they count, how they refuse. */
#include "support/support.h"

#include "base/context.h"
#include "base/machine/pages.h"
#include "base/memory.h"
#include "base/text/text.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const int64_t MB = (int64_t)1 << 20;

static mg_heap *new_heap(support_heap *source, int64_t limit) {
    mg_heap *heap = NULL;
    margin_error error;
    margin_allocator allocator = {0};
    if (source) {
        support_heap_init(source);
        allocator = support_allocator(source);
    }
    assert_int_equal(mg_heap_create(&allocator, limit, &heap, &error), MARGIN_OK);
    return heap;
}

/* Content that depends on seed and position, and the check for it. Of large blocks the first 100 KB
 * and every 61st byte after them: positions that do not depend on the size, since part of a block
 * may be checked. */
static int64_t next_position(int64_t i) {
    return i < 100000 ? i + 1 : i + 61;
}

static unsigned char content(int64_t i, int seed) {
    return (unsigned char)(i * 31 + i / 977 + seed);
}

static void fill(void *memory, int64_t bytes, int seed) {
    unsigned char *b = memory;
    for (int64_t i = 0; i < bytes; i = next_position(i))
        b[i] = content(i, seed);
}

static bool filled(const void *memory, int64_t bytes, int seed) {
    const unsigned char *b = memory;
    for (int64_t i = 0; i < bytes; i = next_position(i))
        if (b[i] != content(i, seed)) return false;
    return true;
}

static bool aligned(const void *memory, size_t to) {
    return (uintptr_t)memory % to == 0;
}

/* ---- Blocks ---- */

static const int64_t sizes[] = {
    0,       1,      8, 63, 64, 65, 4096, 65536, 1 << 20, (4 << 20) - 1, 4 << 20, (4 << 20) + 1,
    5000001, 9000001};

static void check_blocks(support_heap *source) {
    mg_heap *heap = new_heap(source, 0);
    int64_t empty = mg_heap_held(heap);
    void *blocks[MG_LENGTH(sizes)];
    int64_t total = 0;
    for (int i = 0; i < MG_LENGTH(sizes); i++) {
        blocks[i] = mg_new(heap, sizes[i], 1);
        assert_non_null(blocks[i]);
        assert_true(aligned(blocks[i], 64));
        fill(blocks[i], sizes[i], i);
        total += sizes[i];
        assert_true(mg_heap_held(heap) - empty >= total);
    }
    assert_true(mg_heap_held(heap) - empty <= total + MG_LENGTH(sizes) * (int64_t)8192);
    assert_int_equal(mg_heap_peak(heap), mg_heap_held(heap));
    for (int i = 0; i < MG_LENGTH(sizes); i++) {
        assert_true(filled(blocks[i], sizes[i], i));
        mg_free(heap, blocks[i]);
    }
    mg_free(heap, NULL);
    assert_int_equal(mg_heap_held(heap), empty);
    assert_true(mg_heap_peak(heap) >= total);
    mg_heap_release(heap);
}

static void blocks_are_aligned_apart_and_counted(void **state) {
    (void)state;
    check_blocks(NULL);
    support_heap source;
    check_blocks(&source);
    support_assert_nothing_live(&source);
}

static void the_count_is_what_the_allocator_gave(void **state) {
    (void)state;
    support_heap source;
    mg_heap *heap = new_heap(&source, 0);
    void *a = mg_new(heap, 1000, 8), *b = mg_new(heap, 1, 1);
    assert_int_equal(mg_heap_held(heap), atomic_load(&source.live_bytes));
    mg_free(heap, a);
    assert_int_equal(mg_heap_held(heap), atomic_load(&source.live_bytes));
    assert_int_equal(mg_heap_peak(heap), atomic_load(&source.peak_bytes));
    mg_free(heap, b);
    mg_heap_release(heap);
    support_assert_nothing_live(&source);
}

static void large_blocks_are_aligned_for_huge_pages(void **state) {
    (void)state;
    if (!mg_pages_available()) skip();
    mg_heap *heap = new_heap(NULL, 0);
    for (int64_t bytes = 4 * MB; bytes < 30 * MB; bytes += 7 * MB + 12345) {
        char *block = mg_new(heap, bytes, 1);
        assert_true(aligned(block, (size_t)2 << 20));
        block[0] = block[bytes - 1] = 1;
        mg_free(heap, block);
    }
    mg_heap_release(heap);
}

static void zeroed_blocks_are_zero_even_if_reused(void **state) {
    (void)state;
    support_heap source;
    for (int own = 0; own < 2; own++) {
        mg_heap *heap = new_heap(own ? &source : NULL, 0);
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < MG_LENGTH(sizes); i++) {
                unsigned char *block = mg_new_zero(heap, sizes[i], 1);
                for (int64_t k = 0; k < sizes[i]; k++)
                    if (block[k] != 0)
                        fail_msg("byte %lld of %lld", (long long)k, (long long)sizes[i]);
                memset(block, 0xff, (size_t)sizes[i]);
                mg_free(heap, block);
            }
        }
        mg_heap_release(heap);
    }
}

static void sizes_that_overflow_are_refused(void **state) {
    (void)state;
    margin_error error;
    for (int limited = 0; limited < 2; limited++) {
        mg_heap *heap = new_heap(NULL, limited ? MB : 0);
        int64_t held = mg_heap_held(heap);
        margin_status expected = limited ? MARGIN_ERROR_LIMIT : MARGIN_ERROR_MEMORY;
        static const struct {
            int64_t count;
            size_t size;
        } cases[] = {{-1, 1},
                     {INT64_MIN, 8},
                     {INT64_MAX, 1},
                     {INT64_MAX, 8},
                     {INT64_MAX / 8, 8},
                     {1, SIZE_MAX},
                     {(int64_t)1 << 32, (size_t)1 << 32},
                     {(int64_t)1 << 33, (size_t)1 << 31}};
        for (int i = 0; i < MG_LENGTH(cases); i++) {
            assert_null(mg_new(heap, cases[i].count, cases[i].size));
            assert_null(mg_new_zero(heap, cases[i].count, cases[i].size));
            error.text[0] = '\0';
            assert_int_equal(mg_no_memory(heap, cases[i].count, cases[i].size, "the table", &error),
                             expected);
            assert_contains(error.text, "the table");
            void *block = mg_new(heap, 10, 1);
            assert_null(mg_resize(heap, block, cases[i].count, cases[i].size));
            mg_free(heap, block);
        }
        assert_null(mg_copy_text(heap, "x", INT64_MAX));
        assert_int_equal(mg_heap_held(heap), held);
        mg_heap_release(heap);
    }
}

/* ---- Resizing ---- */

static void check_resizing(support_heap *source) {
    mg_heap *heap = new_heap(source, 0);
    int64_t empty = mg_heap_held(heap);
    for (int i = 0; i < MG_LENGTH(sizes); i++) {
        for (int j = 0; j < MG_LENGTH(sizes); j++) {
            void *block = mg_new(heap, sizes[i], 1);
            fill(block, sizes[i], i);
            block = mg_resize(heap, block, sizes[j], 1);
            assert_non_null(block);
            assert_true(aligned(block, 64));
            assert_true(filled(block, MG_MIN(sizes[i], sizes[j]), i));
            fill(block, sizes[j], j);
            assert_true(filled(block, sizes[j], j));
            assert_true(mg_heap_held(heap) - empty >= sizes[j]);
            /* giving back counts: no more than a third is kept beyond need */
            assert_true(mg_heap_held(heap) - empty <= sizes[j] + sizes[j] / 3 + 8192);
            mg_free(heap, block);
            assert_int_equal(mg_heap_held(heap), empty);
        }
    }
    void *block = mg_resize(heap, NULL, 10, 4);
    assert_non_null(block);
    mg_free(heap, block);
    mg_heap_release(heap);
}

static void resizing_keeps_the_content(void **state) {
    (void)state;
    check_resizing(NULL);
    support_heap source;
    check_resizing(&source);
    support_assert_nothing_live(&source);
}

static void growing_step_by_step_keeps_the_content(void **state) {
    (void)state;
    mg_heap *heap = new_heap(NULL, 0);
    int64_t bytes = 1000;
    unsigned char *block = mg_new(heap, bytes, 1), *other[40];
    fill(block, bytes, 1);
    for (int i = 0; i < 40; i++) {
        int64_t more = bytes + bytes / 3;
        other[i] = mg_new(heap, 5 * MB, 1); /* stands in the way of growing in place */
        block = mg_resize(heap, block, more, 1);
        assert_true(filled(block, bytes, 1));
        fill(block, more, 1);
        bytes = more;
        if (bytes > 60 * MB) {
            for (int k = 0; k <= i; k++)
                mg_free(heap, other[k]);
            break;
        }
    }
    for (; bytes > 100; bytes /= 3) {
        assert_true(filled(block, bytes, 1));
        block = mg_resize(heap, block, bytes / 3, 1);
    }
    assert_true(filled(block, bytes, 1));
    mg_free(heap, block);
    mg_heap_release(heap);
}

static void a_refused_growth_changes_nothing(void **state) {
    (void)state;
    support_heap source;
    mg_heap *heap = new_heap(&source, 0);
    void *block = mg_new(heap, 1000, 1);
    fill(block, 1000, 3);
    int64_t held = mg_heap_held(heap);
    atomic_store(&source.fail_at, atomic_load(&source.calls) + 1);
    assert_null(mg_resize(heap, block, 5000, 1));
    assert_true(filled(block, 1000, 3));
    assert_int_equal(mg_heap_held(heap), held);
    mg_free(heap, block);
    mg_heap_release(heap);
    support_assert_nothing_live(&source);

    heap = new_heap(NULL, 12 * MB);
    block = mg_new(heap, 5 * MB, 1);
    fill(block, 5 * MB, 4);
    assert_null(mg_resize(heap, block, 13 * MB, 1));
    assert_true(filled(block, 5 * MB, 4));
    mg_free(heap, block);
    mg_heap_release(heap);
}

static void slight_shrinking_costs_nothing(void **state) {
    (void)state;
    support_heap source;
    mg_heap *heap = new_heap(&source, 0);
    void *block = mg_new(heap, 1000, 1);
    atomic_store(&source.fail_at, 1);
    atomic_store(&source.fail_all_after, true);
    assert_ptr_equal(mg_resize(heap, block, 990, 1), block);
    assert_ptr_equal(mg_resize(heap, block, 1000, 1), block);
    mg_free(heap, block);
    mg_heap_release(heap);
    support_assert_nothing_live(&source);
}

/* ---- Limit ---- */

static void the_limit_holds_to_the_byte(void **state) {
    (void)state;
    support_heap source;
    mg_heap *heap = new_heap(&source, 0);
    int64_t before = mg_heap_held(heap);
    mg_free(heap, mg_new(heap, 5000, 1));
    int64_t needed = mg_heap_peak(heap);
    assert_true(needed > before + 5000);
    mg_heap_release(heap);

    heap = new_heap(&source, needed);
    assert_int_equal(mg_heap_limit(heap), needed);
    void *block = mg_new(heap, 5000, 1);
    assert_non_null(block);
    assert_null(mg_new(heap, 0, 1));
    mg_free(heap, block);
    mg_heap_release(heap);

    heap = new_heap(&source, needed - 1);
    assert_null(mg_new(heap, 5000, 1));
    assert_int_equal(mg_heap_held(heap), before);
    mg_heap_release(heap);
}

static void refusals_tell_limit_from_exhaustion(void **state) {
    (void)state;
    support_heap source;
    margin_error error;
    mg_heap *heap = new_heap(&source, 3 * MB);
    void *block = mg_new(heap, MB, 1);

    assert_null(mg_new(heap, 5 * MB, 2));
    assert_int_equal(mg_no_memory(heap, 5 * MB, 2, "the feature matrix", &error),
                     MARGIN_ERROR_LIMIT);
    assert_int_equal(error.status, MARGIN_ERROR_LIMIT);
    assert_contains(error.text, "too little for the feature matrix (10 MiB)");
    assert_contains(error.text, "memory limit of 3 MiB");
    assert_contains(error.text, "2 MiB left");
    assert_contains(error.text, "1 MiB in use");

    atomic_store(&source.fail_at, atomic_load(&source.calls) + 1);
    assert_null(mg_new(heap, 100, 1));
    assert_int_equal(mg_no_memory(heap, 100, 1, "the weights", &error), MARGIN_ERROR_MEMORY);
    assert_contains(error.text, "out of memory");
    assert_contains(error.text, "100 bytes for the weights");
    assert_int_equal(mg_no_memory(heap, 100, 1, "the weights", NULL), MARGIN_ERROR_MEMORY);
    mg_free(heap, block);
    mg_heap_release(heap);
}

static void absurd_sizes_fail_as_memory(void **state) {
    (void)state;
    if (!mg_pages_available()) skip(); /* a memory checker ends the program instead */
    mg_heap *heap = new_heap(NULL, 0);
    margin_error error;
    assert_null(mg_new(heap, (int64_t)1 << 46, 8));
    assert_int_equal(mg_no_memory(heap, (int64_t)1 << 46, 8, "it", &error), MARGIN_ERROR_MEMORY);
    assert_contains(error.text, "512 TiB");
    assert_int_equal(mg_heap_held(heap), mg_heap_peak(heap));
    mg_heap_release(heap);
}

static margin_status allocate_by_macro(mg_heap *heap, int64_t count, margin_error *error) {
    double *numbers = NULL;
    MG_NEW(heap, numbers, count, "the numbers", error);
    mg_free(heap, numbers);
    return MARGIN_OK;
}

static void macros_return_the_sentence(void **state) {
    (void)state;
    mg_heap *heap = new_heap(NULL, MB);
    margin_error error;
    assert_int_equal(allocate_by_macro(heap, 1000, &error), MARGIN_OK);
    assert_int_equal(allocate_by_macro(heap, MB, &error), MARGIN_ERROR_LIMIT);
    assert_contains(error.text, "too little for the numbers (8 MiB)");
    mg_heap_release(heap);
}

static void wrong_allocators_are_refused(void **state) {
    (void)state;
    support_heap source;
    support_heap_init(&source);
    margin_allocator half = support_allocator(&source);
    mg_heap *heap = NULL;
    margin_error error;
    half.release = NULL;
    assert_int_equal(mg_heap_create(&half, 0, &heap, &error), MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "release");
    assert_int_equal(mg_heap_create(NULL, -1, &heap, &error), MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "-1 bytes");
    half = support_allocator(&source);
    atomic_store(&source.fail_at, 1);
    assert_int_equal(mg_heap_create(&half, 0, &heap, &error), MARGIN_ERROR_MEMORY);
    assert_null(heap);
}

/* ---- References and threads ---- */

static void the_heap_lives_until_its_last_owner(void **state) {
    (void)state;
    support_heap source;
    mg_heap *heap = new_heap(&source, 0);
    assert_ptr_equal(mg_heap_retain(heap), heap);
    void *block = mg_new(heap, 100, 1);
    mg_heap_release(heap);
    fill(block, 100, 1);
    mg_free(heap, block);
    assert_int_equal(atomic_load(&source.live_blocks), 1);
    mg_heap_release(heap);
    support_assert_nothing_live(&source);
    mg_heap_release(NULL);
}

enum { THREADS = 4 };

typedef struct thread_job {
    mg_heap *heap;
    uint64_t seed;
    int refused;
} thread_job;

static void *allocate_at_random(void *argument) {
    thread_job *job = argument;
    void *blocks[16] = {0};
    for (int i = 0; i < 3000; i++) {
        int at = (int)(support_random(&job->seed) % 16);
        int64_t bytes = (int64_t)(support_random(&job->seed) % 20000);
        mg_free(job->heap, blocks[at]);
        blocks[at] = mg_new(job->heap, bytes, 1);
        if (blocks[at])
            memset(blocks[at], at, (size_t)bytes);
        else
            job->refused++;
        int64_t held = mg_heap_held(job->heap), limit = mg_heap_limit(job->heap);
        if (held > limit) job->refused = -1000000;
    }
    for (int i = 0; i < 16; i++)
        mg_free(job->heap, blocks[i]);
    mg_heap_release(job->heap);
    return NULL;
}

static void threads_share_accounts_and_limit(void **state) {
    (void)state;
    enum { LIMIT = 100000 }; /* below what one thread alone comes to hold */
    mg_heap *heap = new_heap(NULL, LIMIT);
    int64_t empty = mg_heap_held(heap);
    pthread_t threads[THREADS];
    thread_job jobs[THREADS];
    int refused = 0;
    for (int i = 0; i < THREADS; i++) {
        jobs[i] = (thread_job){mg_heap_retain(heap), (uint64_t)i, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, allocate_at_random, &jobs[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        refused += jobs[i].refused;
    }
    assert_true(refused > 0); /* the limit was met, and never passed */
    assert_int_equal(mg_heap_held(heap), empty);
    assert_true(mg_heap_peak(heap) <= LIMIT);
    assert_true(mg_heap_peak(heap) > LIMIT - 20000);
    mg_heap_release(heap);
}

/* ---- Arena ---- */

static void arena_pieces_are_aligned_and_apart(void **state) {
    (void)state;
    support_heap source;
    mg_heap *heap = new_heap(&source, 0);
    int64_t empty = mg_heap_held(heap);
    mg_arena arena;
    mg_arena_init(&arena, heap);
    for (int round = 0; round < 2; round++) {
        enum { PIECES = 400 };
        void *pieces[PIECES];
        int64_t bytes[PIECES], total = 0;
        uint64_t random = 5;
        for (int i = 0; i < PIECES; i++) {
            bytes[i] = (int64_t)(support_random(&random) % (i % 50 == 7 ? 500000 : 3000));
            if (i % 10 == 0) bytes[i] = i % 20 == 0 ? 0 : 1;
            pieces[i] = mg_arena_new(&arena, bytes[i], 1);
            assert_non_null(pieces[i]);
            assert_true(aligned(pieces[i], 64));
            fill(pieces[i], bytes[i], i);
            total += bytes[i];
        }
        for (int i = 0; i < PIECES; i++)
            assert_true(filled(pieces[i], bytes[i], i));
        assert_true(mg_heap_held(heap) - empty < 2 * total + 100000);
        mg_arena_free(&arena);
        assert_int_equal(mg_heap_held(heap), empty);
    }
    mg_heap_release(heap);
    support_assert_nothing_live(&source);
}

static void a_tight_limit_costs_the_arena_only_its_economy(void **state) {
    (void)state;
    mg_heap *heap = new_heap(NULL, 20000);
    mg_arena arena;
    margin_error error;
    mg_arena_init(&arena, heap);
    assert_non_null(mg_arena_new(&arena, 1000, 8));
    assert_non_null(mg_arena_new(&arena, 1000, 8));
    assert_null(mg_arena_new(&arena, 1000, 8));
    assert_int_equal(mg_no_memory(heap, 1000, 8, "scratch", &error), MARGIN_ERROR_LIMIT);
    assert_null(mg_arena_new(&arena, INT64_MAX, 8));
    assert_null(mg_arena_new(&arena, -1, 1));
    mg_arena_free(&arena);
    mg_arena_free(&arena);
    mg_heap_release(heap);
}

static margin_status use_arena(margin_context *context, void *user, margin_error *error) {
    (void)user;
    mg_arena arena;
    margin_status status = MARGIN_OK;
    mg_arena_init(&arena, context->heap);
    for (int i = 0; i < 120 && status >= 0; i++) {
        int64_t count = i % 7 == 0 ? 30000 : 600;
        double *piece = mg_arena_new(&arena, count, sizeof *piece);
        if (piece)
            memset(piece, i, (size_t)count * sizeof *piece);
        else
            status = mg_no_memory(context->heap, count, sizeof *piece, "scratch", error);
    }
    mg_arena_free(&arena);
    return status;
}

static void arena_reports_every_failure(void **state) {
    (void)state;
    assert_true(support_fail_each_allocation(1, use_arena, NULL) > 5);
}

/* ---- Text ---- */

static void text_grows(void **state) {
    (void)state;
    support_heap source;
    mg_heap *heap = new_heap(&source, 0);
    mg_text text;
    char expected[60001];
    mg_text_init(&text, heap);
    assert_null(text.data);
    mg_text_add(&text, "", 0);
    assert_string_equal(text.data, "");
    for (int i = 0; i < 20000; i++) {
        mg_text_add(&text, "abc", 3);
        memcpy(expected + 3 * i, "abc", 4);
        assert_int_equal(text.length, 3 * i + 3);
    }
    assert_string_equal(text.data, expected);
    assert_true(atomic_load(&source.calls) < 40);
    mg_text_free(&text);
    assert_null(text.data);
    mg_text_puts(&text, "again");
    assert_string_equal(text.data, "again");
    mg_text_free(&text);
    mg_heap_release(heap);
    support_assert_nothing_live(&source);
}

static void text_formats(void **state) {
    (void)state;
    mg_heap *heap = new_heap(NULL, 0);
    mg_text text;
    char wide[3000];
    mg_text_init(&text, heap);
    mg_text_integer(&text, 0);
    mg_text_puts(&text, " ");
    mg_text_integer(&text, INT64_MIN);
    mg_text_puts(&text, " ");
    mg_text_integer(&text, INT64_MAX);
    mg_text_puts(&text, " ");
    mg_text_number(&text, 0.1);
    mg_text_format(&text, " %s=%d", "x", -5);
    assert_string_equal(text.data, "0 -9223372036854775808 9223372036854775807 0.1 x=-5");
    mg_text_free(&text);
    memset(wide, 'w', sizeof wide - 1);
    wide[sizeof wide - 1] = '\0';
    for (int length = 250; length < 262; length++) {
        mg_text_format(&text, "%.*s", length, wide);
        assert_int_equal(text.length, length);
        assert_int_equal(strlen(text.data), length);
        mg_text_free(&text);
    }
    mg_text_format(&text, "%s", wide);
    assert_string_equal(text.data, wide);
    mg_text_free(&text);
    mg_heap_release(heap);
}

static void json_strings_are_escaped(void **state) {
    (void)state;
    mg_heap *heap = new_heap(NULL, 0);
    mg_text text;
    static const struct {
        const char *bytes;
        int64_t length;
        const char *json;
    } cases[] = {
        {"", 0, "\"\""},
        {"plain", 5, "\"plain\""},
        {"a\"b\\c", 5, "\"a\\\"b\\\\c\""},
        {"\n\r\t", 3, "\"\\n\\r\\t\""},
        {"\0\x01\x1f\x7f", 4, "\"\\u0000\\u0001\\u001f\\u007f\""},
        {"\xc3\xa4\xe2\x82\xac\xf0\x9f\x99\x82", 9, "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x99\x82\""},
        {"\xff"
         "a\xc3",
         3,
         "\"\xef\xbf\xbd"
         "a\xef\xbf\xbd\""},
        {"\xc3\xa4", 1, "\"\xef\xbf\xbd\""}};
    for (int i = 0; i < MG_LENGTH(cases); i++) {
        mg_text_init(&text, heap);
        mg_text_json_string(&text, cases[i].bytes, cases[i].length);
        assert_string_equal(text.data, cases[i].json);
        mg_text_free(&text);
    }
    mg_heap_release(heap);
}

static margin_status write_text(margin_context *context, void *user, margin_error *error) {
    (void)user;
    mg_text text;
    margin_status status = MARGIN_OK;
    mg_text_init(&text, context->heap);
    for (int i = 0; i < 300; i++) {
        mg_text_puts(&text, "word ");
        mg_text_format(&text, "%0300d", i);
        mg_text_json_string(&text, "\n\n", 2);
    }
    if (text.failed) status = mg_no_memory(context->heap, text.capacity, 1, "the text", error);
    mg_text_free(&text);
    return status;
}

static void text_remembers_a_failure(void **state) {
    (void)state;
    assert_true(support_fail_each_allocation(1, write_text, NULL) > 5);
}

static void a_tight_limit_costs_the_text_only_its_reserve(void **state) {
    (void)state;
    mg_heap *heap = new_heap(NULL, 5000);
    mg_text text;
    mg_text_init(&text, heap);
    for (int i = 0; i < 3000 && !text.failed; i++)
        mg_text_puts(&text, "x");
    assert_true(text.length > 2000);
    mg_text_free(&text);
    mg_heap_release(heap);
}

static void texts_are_copied_with_their_zero(void **state) {
    (void)state;
    mg_heap *heap = new_heap(NULL, 0);
    char *copy = mg_copy_text(heap, "margin and more", 6);
    assert_string_equal(copy, "margin");
    mg_free(heap, copy);
    copy = mg_copy_text(heap, NULL, 0);
    assert_string_equal(copy, "");
    mg_free(heap, copy);
    mg_heap_release(heap);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_aligned_apart_and_counted),
        cmocka_unit_test(the_count_is_what_the_allocator_gave),
        cmocka_unit_test(large_blocks_are_aligned_for_huge_pages),
        cmocka_unit_test(zeroed_blocks_are_zero_even_if_reused),
        cmocka_unit_test(sizes_that_overflow_are_refused),
        cmocka_unit_test(resizing_keeps_the_content),
        cmocka_unit_test(growing_step_by_step_keeps_the_content),
        cmocka_unit_test(a_refused_growth_changes_nothing),
        cmocka_unit_test(slight_shrinking_costs_nothing),
        cmocka_unit_test(the_limit_holds_to_the_byte),
        cmocka_unit_test(refusals_tell_limit_from_exhaustion),
        cmocka_unit_test(absurd_sizes_fail_as_memory),
        cmocka_unit_test(macros_return_the_sentence),
        cmocka_unit_test(wrong_allocators_are_refused),
        cmocka_unit_test(the_heap_lives_until_its_last_owner),
        cmocka_unit_test(threads_share_accounts_and_limit),
        cmocka_unit_test(arena_pieces_are_aligned_and_apart),
        cmocka_unit_test(a_tight_limit_costs_the_arena_only_its_economy),
        cmocka_unit_test(arena_reports_every_failure),
        cmocka_unit_test(text_grows),
        cmocka_unit_test(text_formats),
        cmocka_unit_test(json_strings_are_escaped),
        cmocka_unit_test(text_remembers_a_failure),
        cmocka_unit_test(a_tight_limit_costs_the_text_only_its_reserve),
        cmocka_unit_test(texts_are_copied_with_their_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
