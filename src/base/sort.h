/* Sorting numbers of things by a rule of the caller. */
#pragma once

#include "base/context.h"

#include <stdbool.h>

/* True if a belongs strictly before b. */
typedef bool (*mg_before)(int64_t a, int64_t b, const void *argument);
/* By the doubles at these places, in ascending order. */
bool mg_lower_at(int64_t a, int64_t b, const void *numbers);

/* Stable merge sort of items[0..count); `scratch` holds count numbers. About count * log2(count)
 * calls of `before`, fewer where parts are in order already. False: the call is to end
 * (mg_cancelled), and they are in no order. */
MARGIN_CHECKED bool mg_sort(const margin_context *context, int64_t *items, int64_t count,
                            int64_t *scratch, mg_before before, const void *argument);
/* To its end: of no more than some ten thousand. */
void mg_sort_few(int64_t *items, int64_t count, int64_t *scratch, mg_before before,
                 const void *argument);

/* Below zero if a belongs before b, above if after. */
typedef int (*mg_order)(const void *a, const void *b);
/* Of doubles, or what begins with one. */
int mg_ascending(const void *a, const void *b);

/* The same for `count` items of `size` bytes each; `scratch` has room for as many. In place of
 * qsort, which takes memory that no allocator and no limit knows of. */
MARGIN_CHECKED bool mg_sort_items(const margin_context *context, void *items, int64_t count,
                                  size_t size, void *scratch, mg_order order);
void mg_sort_few_items(void *items, int64_t count, size_t size, void *scratch, mg_order order);

/* The number of place `place`, from 0, among numbers[0..count) in ascending order; puts them into
 * another order (Hoare's FIND, 1961). */
double mg_select(double *numbers, int64_t count, int64_t place);
float mg_select_f32(float *numbers, int64_t count, int64_t place);

/* `place` becomes the first of first..last-1 for which `before`, an expression of place that is
 * true up to some place and false from there on, is false; last if there is none. */
#define MG_BISECT(place, first, last, before)                                                      \
    do {                                                                                           \
        int64_t mg_low_ = (first), mg_high_ = (last);                                              \
        while (mg_low_ < mg_high_) {                                                               \
            (place) = mg_low_ + (mg_high_ - mg_low_) / 2;                                          \
            if (before)                                                                            \
                mg_low_ = (place) + 1;                                                             \
            else                                                                                   \
                mg_high_ = (place);                                                                \
        }                                                                                          \
        (place) = mg_low_;                                                                         \
    } while (0)

/* The first of `count` ascending numbers that is not below `value`; count: none. */
MG_INLINE int64_t mg_lower_bound(const double *numbers, int64_t count, double value) {
    int64_t place;
    MG_BISECT(place, 0, count, numbers[place] < value);
    return place;
}
