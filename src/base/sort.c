/* Merge sort from the bottom up: short runs by insertion, then passes that merge neighbours. */
#include "base/sort.h"

#include <string.h>

enum { RUN = 16 };

bool mg_lower_at(int64_t a, int64_t b, const void *numbers) {
    return ((const double *)numbers)[a] < ((const double *)numbers)[b];
}

int mg_ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

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

/* ---- Items of any size ---- */

/* from[0..middle) and from[middle..end), places in bytes, into `to`. */
static void merge_items(const char *from, size_t middle, size_t end, size_t size, char *to,
                        mg_order order) {
    size_t a = 0, b = middle;
    while (a < middle && b < end) {
        bool second = order(from + b, from + a) < 0;
        memcpy(to, from + (second ? b : a), size);
        *(second ? &b : &a) += size;
        to += size;
    }
    memcpy(to, from + a, middle - a);
    memcpy(to + (middle - a), from + b, end - b);
}

void mg_sort_items(void *items, int64_t count, size_t size, void *scratch, mg_order order) {
    char *from = items, *to = scratch;
    size_t bytes = (size_t)count * size;
    for (size_t run = size; run < bytes; run *= 2) {
        for (size_t i = 0; i < bytes; i += 2 * run) {
            size_t length = bytes - i < 2 * run ? bytes - i : 2 * run;
            merge_items(from + i, length < run ? length : run, length, size, to + i, order);
        }
        char *sorted = to;
        to = from;
        from = sorted;
    }
    if (bytes && from != items) memcpy(items, from, bytes);
}

#define REAL    double
#define NAME(x) x
#include "base/select_tmpl.h"
#undef REAL
#undef NAME

#define REAL    float
#define NAME(x) x##_f32
#include "base/select_tmpl.h"
