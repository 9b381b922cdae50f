/* Selection among keys, and ranges of points. */
#include "neighbors/tree/tree_build.h"

static uint64_t middle(uint64_t a, uint64_t b, uint64_t c) {
    const uint64_t low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

/* Middle of middles, at places that no arrangement of the data can foresee. */
static uint64_t choose_pivot(const uint64_t *keys, int64_t count, uint64_t *state) {
    uint64_t picked[9];
    if (count <= 200) return middle(keys[0], keys[count / 2], keys[count - 1]);
    for (int k = 0; k < 9; k++) {
        *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        picked[k] = keys[(int64_t)((*state >> 33) % (uint64_t)count)];
    }
    return middle(middle(picked[0], picked[1], picked[2]), middle(picked[3], picked[4], picked[5]),
                  middle(picked[6], picked[7], picked[8]));
}

static void sort_few(uint64_t *keys, int64_t count) {
    for (int64_t i = 1; i < count; i++) {
        const uint64_t key = keys[i];
        int64_t at = i;
        for (; at > 0 && keys[at - 1] > key; at--)
            keys[at] = keys[at - 1];
        keys[at] = key;
    }
}

void mg_select_keys(uint64_t *keys, int64_t count, int64_t r) {
    uint64_t state = (uint64_t)count;
    while (count > 12) {
        const uint64_t pivot = choose_pivot(keys, count, &state);
        int64_t below = 0;
        for (int64_t i = 0; i < count; i++) { /* no branch to mispredict */
            const uint64_t key = keys[i];
            keys[i] = keys[below];
            keys[below] = key;
            below += key < pivot;
        }
        if (r < below) {
            count = below;
            continue;
        }
        if (below == 0) { /* the pivot is the least: take it out */
            int64_t at = 0;
            while (keys[at] != pivot)
                at++;
            keys[at] = keys[0];
            keys[0] = pivot;
            if (r == 0) return;
            below = 1;
        }
        keys += below;
        count -= below;
        r -= below;
    }
    sort_few(keys, count);
}

void mg_build_range(const float *points, int64_t stride, int64_t columns, const int32_t *order,
                    int64_t count, float *low, float *high) {
    for (int64_t j = 0; j < columns; j++) {
        low[j] = INFINITY;
        high[j] = -INFINITY;
    }
    for (int64_t i = 0; i < count; i++) {
        const float *point = points + (order ? order[i] : i) * stride;
        for (int64_t j = 0; j < columns; j++) {
            low[j] = point[j] < low[j] ? point[j] : low[j];
            high[j] = point[j] > high[j] ? point[j] : high[j];
        }
    }
}

int64_t mg_build_widest(const float *low, const float *high, int64_t columns) {
    int64_t widest = 0;
    for (int64_t j = 1; j < columns; j++)
        if (high[j] - low[j] > high[widest] - low[widest]) widest = j;
    return widest;
}
