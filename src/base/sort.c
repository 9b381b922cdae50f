/* Merge sort from the bottom up: short runs by insertion, then passes that merge neighbours. */
#include "base/sort.h"

#include <string.h>

enum { RUN = 16 };

static void sort_run(int64_t *items, int64_t count, mg_before before, const void *argument) {
    for (int64_t i = 1; i < count; i++) {
        int64_t item = items[i], k = i;
        while (k > 0 && before(item, items[k - 1], argument)) {
            items[k] = items[k - 1];
            k--;
        }
        items[k] = item;
    }
}

/* from[0..middle) and from[middle..count) into `to`. */
static void merge(const int64_t *from, int64_t middle, int64_t count, int64_t *to, mg_before before,
                  const void *argument) {
    int64_t a = 0, b = middle, k = 0;
    while (a < middle && b < count)
        to[k++] = before(from[b], from[a], argument) ? from[b++] : from[a++];
    memcpy(to + k, from + a, (size_t)(middle - a) * sizeof *to);
    k += middle - a;
    memcpy(to + k, from + b, (size_t)(count - b) * sizeof *to);
}

void mg_sort(int64_t *items, int64_t count, int64_t *scratch, mg_before before,
             const void *argument) {
    for (int64_t i = 0; i < count; i += RUN)
        sort_run(items + i, count - i < RUN ? count - i : RUN, before, argument);
    int64_t *from = items, *to = scratch;
    for (int64_t run = RUN; run < count; run *= 2) {
        for (int64_t i = 0; i < count; i += 2 * run) {
            int64_t length = count - i < 2 * run ? count - i : 2 * run;
            merge(from + i, length < run ? length : run, length, to + i, before, argument);
        }
        int64_t *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != items) memcpy(items, from, (size_t)count * sizeof *items);
}
