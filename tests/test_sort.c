/* base/sort.h: order, stability, sizes around the length of a run. */
#include "support/support.h"

#include "base/sort.h"

#include <stdlib.h>

static bool lower(int64_t a, int64_t b, const void *keys) {
    return ((const int *)keys)[a] < ((const int *)keys)[b];
}

static void check_sorted(const int64_t *order, const int *keys, int64_t count) {
    for (int64_t i = 1; i < count; i++) {
        int a = keys[order[i - 1]], b = keys[order[i]];
        assert_true(a < b || (a == b && order[i - 1] < order[i])); /* stable: ties by number */
    }
}

static void check_permutation(const int64_t *order, int64_t count) {
    char *seen = calloc((size_t)count + 1, 1);
    for (int64_t i = 0; i < count; i++) {
        assert_in_range(order[i], 0, count - 1);
        assert_int_equal(seen[order[i]]++, 0);
    }
    free(seen);
}

static void test_sorts(void **state) {
    (void)state;
    static const int64_t sizes[] = {0, 1, 2, 15, 16, 17, 31, 32, 33, 48, 100, 1000, 4097};
    uint64_t random = 5;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        int64_t count = sizes[s];
        for (int range = 1; range <= 10000; range *= 100) {
            int *keys = malloc((size_t)(count + 1) * sizeof *keys);
            int64_t *order = malloc((size_t)(count + 1) * sizeof *order);
            int64_t *scratch = malloc((size_t)(count + 1) * sizeof *scratch);
            for (int64_t i = 0; i < count; i++) {
                keys[i] = (int)(support_random(&random) % (uint64_t)range);
                order[i] = i;
            }
            order[count] = scratch[count] = -77;
            mg_sort_few(order, count, scratch, lower, keys);
            assert_int_equal(order[count], -77);
            assert_int_equal(scratch[count], -77);
            check_sorted(order, keys, count);
            check_permutation(order, count);
            free(scratch);
            free(order);
            free(keys);
        }
    }
}

typedef struct pair {
    int key, place;
    char rest[3];
} pair;

static int by_key(const void *a, const void *b) {
    return ((const pair *)a)->key - ((const pair *)b)->key;
}

static void test_sorts_items(void **state) {
    (void)state;
    static const int sizes[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 100, 1025};
    uint64_t random = 7;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        int count = sizes[s];
        pair *items = calloc((size_t)count + 1, sizeof *items);
        pair *scratch = calloc((size_t)count + 1, sizeof *scratch);
        int *key_of = calloc((size_t)count + 1, sizeof *key_of);
        for (int i = 0; i < count; i++) {
            key_of[i] = (int)(support_random(&random) % 40);
            items[i] = (pair){key_of[i], i, {0}};
        }
        items[count].key = scratch[count].key = -77;
        mg_sort_few_items(items, count, sizeof *items, scratch, by_key);
        assert_int_equal(items[count].key, -77);
        assert_int_equal(scratch[count].key, -77);
        for (int i = 0; i < count; i++) {
            assert_int_equal(items[i].key, key_of[items[i].place]);
            key_of[items[i].place] = -1; /* each place once */
            if (i == 0) continue;
            int a = items[i - 1].key, b = items[i].key;
            assert_true(a < b || (a == b && items[i - 1].place < items[i].place));
        }
        free(key_of);
        free(scratch);
        free(items);
    }
}

static void test_can_be_ended(void **state) {
    enum { COUNT = 100000 };
    const margin_context_options options = {.size = sizeof options, .threads = 1};
    margin_context *context = NULL;
    int *keys = calloc(COUNT, sizeof *keys);
    int64_t *order = calloc(2 * COUNT, sizeof *order);
    double *numbers = calloc(2 * COUNT, sizeof *numbers);
    uint64_t random = 3;
    (void)state;
    assert_int_equal(margin_context_create(&options, &context, NULL), MARGIN_OK);
    for (int64_t i = 0; i < COUNT; i++) {
        keys[i] = (int)(support_random(&random) % COUNT);
        numbers[i] = (double)keys[i];
        order[i] = i;
    }
    assert_true(mg_sort(context, order, COUNT, order + COUNT, lower, keys));
    check_sorted(order, keys, COUNT);
    assert_true(
        mg_sort_items(context, numbers, COUNT, sizeof *numbers, numbers + COUNT, mg_ascending));
    for (int64_t i = 1; i < COUNT; i++)
        assert_true(numbers[i - 1] <= numbers[i]);
    margin_context_cancel(context);
    assert_false(mg_sort(context, order, COUNT, order + COUNT, lower, keys));
    assert_false(
        mg_sort_items(context, numbers, COUNT, sizeof *numbers, numbers + COUNT, mg_ascending));
    margin_context_free(context);
    free(numbers);
    free(order);
    free(keys);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sorts),
                                       cmocka_unit_test(test_sorts_items),
                                       cmocka_unit_test(test_can_be_ended)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
