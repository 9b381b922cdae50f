/* Which variables a round takes: the newest half of those before, and the worst violators by a
 * histogram of two thousand bins, so that nothing is sorted. */
#include "kernel/smo/smo_room.h"

#include <string.h>

enum { BINS = 2048, NOT_ONE = BINS };

/* 0: the worst bin. No branches: violations are in no order. */
static uint16_t key_of(double violation, double scale) {
    const double bin = (double)BINS - violation * scale, inside = bin > 0.0 ? bin : 0.0;
    return (uint16_t)(int)(inside < (double)NOT_ONE ? inside : (double)NOT_ONE);
}

static void find_keys(const mg_smo *s, const int64_t *old, int64_t kept, mg_smo_room *room) {
    const double scale = BINS / (s->lowest - s->up), up = s->up, lowest = s->lowest;
    for (int64_t i = 0; i < s->count; i++) {
        room->up_key[i] = key_of(lowest - s->right[i], scale);
        room->low_key[i] = key_of(s->left[i] - up, scale);
    }
    for (int64_t k = 0; k < kept; k++)
        room->up_key[old[k]] = room->low_key[old[k]] = NOT_ONE;
}

/* The bin in which `wanted` are reached, or the last, and how many of that bin are then wanted. */
static int find_bin(const uint16_t *keys, int64_t count, int64_t wanted, int64_t *rest) {
    int64_t bins[2][BINS + 1];
    int bin = 0;
    memset(bins, 0, sizeof bins);
    for (int64_t i = 0; i < count; i++)
        bins[i & 1][keys[i]]++;
    for (*rest = wanted; bin < BINS - 1 && bins[0][bin] + bins[1][bin] < *rest; bin++)
        *rest -= bins[0][bin] + bins[1][bin];
    return bin;
}

static bool takes(uint16_t key, int bin, int64_t *rest) {
    return key < bin || (key == bin && (*rest)-- > 0);
}

void mg_smo_select(const mg_smo *s, mg_smo_room *room) {
    const int64_t kept = MG_MIN(room->fresh, room->size / 2);
    int64_t rest_up, rest_low, members = 0;
    int64_t old[MG_SMO_MOST];
    if (s->count <= room->size) { /* all of them */
        for (room->members = 0; room->members < s->count; room->members++)
            room->set[room->members] = room->members;
        room->kept = room->inner.count == s->count ? s->count : 0;
        return;
    }
    memcpy(old, room->set, (size_t)kept * sizeof *old);
    find_keys(s, old, kept, room);
    const int64_t wanted = (room->size - kept) / 2;
    const int up = find_bin(room->up_key, s->count, wanted, &rest_up);
    const int low = find_bin(room->low_key, s->count, wanted, &rest_low);
    for (int64_t i = 0; i < s->count && members < room->size - kept; i++)
        if (takes(room->up_key[i], up, &rest_up) || takes(room->low_key[i], low, &rest_low))
            room->set[members++] = i;
    room->kept = kept;
    room->fresh = members;
    memcpy(room->set + members, old, (size_t)kept * sizeof *old);
    room->members = members + kept;
}
