/* The test support itself: an allocator that does not fail on demand would make tests pass that
 * should not. */
#include "support/support.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void allocator_counts_and_fails(void **state) {
    (void)state;
    support_heap heap;
    support_heap_init(&heap);
    margin_allocator allocator = support_allocator(&heap);
    unsigned char *first = allocator.allocate(100, allocator.user);
    assert_non_null(first);
    assert_int_equal((uintptr_t)first % 16, 0);
    assert_int_not_equal((uintptr_t)first % 32, 0);
    assert_int_equal(first[0], 0xA5);
    assert_int_equal(first[99], 0xA5);
    atomic_store(&heap.fail_at, 2);
    assert_null(allocator.allocate(1, allocator.user));
    void *third = allocator.allocate(50, allocator.user);
    assert_non_null(third);
    assert_int_equal(atomic_load(&heap.live_blocks), 2);
    assert_int_equal(atomic_load(&heap.live_bytes), 150);
    assert_int_equal(atomic_load(&heap.failures), 1);
    allocator.release(first, 100, allocator.user);
    allocator.release(third, 50, allocator.user);
    assert_int_equal(atomic_load(&heap.peak_bytes), 150);
    support_assert_nothing_live(&heap);
    atomic_store(&heap.fail_all_after, true);
    assert_null(allocator.allocate(1, allocator.user));
    assert_null(allocator.allocate(1, allocator.user));
}

static void files_and_folders(void **state) {
    (void)state;
    char dir[SUPPORT_PATH], path[SUPPORT_PATH];
    support_temp_dir(dir);
    support_write_bytes(path, dir, "a.bin", "x\0y", 3);
    size_t length = 0;
    char *bytes = support_read_file(path, &length);
    assert_int_equal(length, 3);
    assert_memory_equal(bytes, "x\0y", 4);
    free(bytes);
    support_write_text(path, dir, "empty", "");
    bytes = support_read_file(path, &length);
    assert_int_equal(length, 0);
    free(bytes);
    support_temp_remove(dir);
    assert_int_not_equal(access(dir, F_OK), 0);
    assert_int_equal(access(support_source(path, "include/margin/base.h"), R_OK), 0);
    assert_null(support_data(path, "no/such/set"));
}

static void random_numbers_are_the_published_ones(void **state) {
    (void)state;
    uint64_t seed = 1234567; /* the first two outputs of splitmix64 for this seed */
    assert_true(support_random(&seed) == 6457827717110365317u);
    assert_true(support_random(&seed) == 3203168211198807973u);
}

static void failing_contexts_are_counted(void **state) {
    (void)state;
    support_heap heap;
    support_heap_init(&heap);
    margin_context *context = support_context(&heap, 2);
    assert_int_equal(margin_context_threads(context), 2);
    assert_true(atomic_load(&heap.live_blocks) > 0);
    long long blocks = atomic_load(&heap.calls);
    margin_context_free(context);
    support_assert_nothing_live(&heap);
    for (long long n = 1; n <= blocks; n++) {
        support_heap_init(&heap);
        atomic_store(&heap.fail_at, n);
        margin_context_options options = {
            .size = sizeof options, .threads = 2, .allocator = support_allocator(&heap)};
        margin_error error = {0};
        margin_context *none = NULL;
        assert_int_equal(margin_context_create(&options, &none, &error), MARGIN_ERROR_MEMORY);
        assert_null(none);
        assert_true(error.text[0] != 0);
        support_assert_nothing_live(&heap);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocator_counts_and_fails),
        cmocka_unit_test(files_and_folders),
        cmocka_unit_test(random_numbers_are_the_published_ones),
        cmocka_unit_test(failing_contexts_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
