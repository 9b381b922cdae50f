/* Sorting numbers of things by a rule of the caller. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True if a belongs strictly before b. */
typedef bool (*mg_before)(int64_t a, int64_t b, const void *argument);

/* Stable merge sort of items[0..count); `scratch` holds count numbers. About count * log2(count)
 * calls of `before`, fewer where parts are in order already. */
void mg_sort(int64_t *items, int64_t count, int64_t *scratch, mg_before before,
             const void *argument);

/* Below zero if a belongs before b, above if after. */
typedef int (*mg_order)(const void *a, const void *b);

/* The same for `count` items of `size` bytes each; `scratch` has room for as many. In place of
 * qsort, which takes memory that no allocator and no limit knows of. */
void mg_sort_items(void *items, int64_t count, size_t size, void *scratch, mg_order order);

/* The number of place `place`, from 0, among numbers[0..count) in ascending order; puts them into
 * another order (Hoare's FIND, 1961). */
double mg_select(double *numbers, int64_t count, int64_t place);
