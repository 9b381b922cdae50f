/* Merge sort from the bottom up: short runs by insertion, then passes that merge neighbours. */
#include "base/sort.h"

#include "base/cancelled_at.h"

#include <string.h>

enum { RUN = 16 };

bool mg_lower_at(int64_t a, int64_t b, const void *numbers) {
    return ((const double *)numbers)[a] < ((const double *)numbers)[b];
}

int mg_ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Asked for each item; no context: to the end. */
MG_INLINE bool is_over(const margin_context *context, int64_t i) {
    return context && mg_cancelled_at(context, i);
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

/* from[first..middle) and from[middle..end) into `to`. */
static bool merge(const margin_context *context, const int64_t *from, int64_t first, int64_t middle,
                  int64_t end, int64_t *to, mg_before before, const void *argument) {
    int64_t a = first, b = middle, k = first;
    for (; a < middle && b < end; k++) {
        if (is_over(context, k)) return false;
        to[k] = before(from[b], from[a], argument) ? from[b++] : from[a++];
    }
    memcpy(to + k, from + a, (size_t)(middle - a) * sizeof *to);
    k += middle - a;
    memcpy(to + k, from + b, (size_t)(end - b) * sizeof *to);
    return true;
}

bool mg_sort(const margin_context *context, int64_t *items, int64_t count, int64_t *scratch,
             mg_before before, const void *argument) {
    for (int64_t i = 0; i < count; i += RUN) {
        if (is_over(context, i)) return false;
        sort_run(items + i, count - i < RUN ? count - i : RUN, before, argument);
    }
    int64_t *from = items, *to = scratch;
    for (int64_t run = RUN; run < count; run *= 2) {
        for (int64_t i = 0; i < count; i += 2 * run)
            if (!merge(context, from, i, MG_MIN(i + run, count), MG_MIN(i + 2 * run, count), to,
                       before, argument))
                return false;
        int64_t *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != items) memcpy(items, from, (size_t)count * sizeof *items);
    return true;
}

void mg_sort_few(int64_t *items, int64_t count, int64_t *scratch, mg_before before,
                 const void *argument) {
    if (!mg_sort(NULL, items, count, scratch, before, argument)) return; /* never */
}

/* ---- Items of any size ---- */

typedef struct {
    const margin_context *context;
    size_t size; /* of an item, bytes */
    mg_order order;
} item_order;

/* from[first..middle) and from[middle..end) into `to`: numbers of items. */
static bool merge_items(const item_order *o, const char *from, int64_t first, int64_t middle,
                        int64_t end, char *to) {
    const size_t size = o->size;
    int64_t a = first, b = middle, k = first;
    for (; a < middle && b < end; k++) {
        if (is_over(o->context, k)) return false;
        const char *const one = from + (size_t)a * size, *const other = from + (size_t)b * size;
        const bool second = o->order(other, one) < 0;
        memcpy(to + (size_t)k * size, second ? other : one, size);
        (*(second ? &b : &a))++;
    }
    memcpy(to + (size_t)k * size, from + (size_t)a * size, (size_t)(middle - a) * size);
    k += middle - a;
    memcpy(to + (size_t)k * size, from + (size_t)b * size, (size_t)(end - b) * size);
    return true;
}

bool mg_sort_items(const margin_context *context, void *items, int64_t count, size_t size,
                   void *scratch, mg_order order) {
    const item_order o = {context, size, order};
    char *from = items, *to = scratch;
    for (int64_t run = 1; run < count; run *= 2) {
        for (int64_t i = 0; i < count; i += 2 * run)
            if (!merge_items(&o, from, i, MG_MIN(i + run, count), MG_MIN(i + 2 * run, count), to))
                return false;
        char *sorted = to;
        to = from;
        from = sorted;
    }
    if (count > 0 && from != items) memcpy(items, from, (size_t)count * size);
    return true;
}

void mg_sort_few_items(void *items, int64_t count, size_t size, void *scratch, mg_order order) {
    if (!mg_sort_items(NULL, items, count, size, scratch, order)) return; /* never */
}

#define REAL    double
#define NAME(x) x
#include "base/select_tmpl.h"
#undef REAL
#undef NAME

#define REAL    float
#define NAME(x) x##_f32
#include "base/select_tmpl.h"
