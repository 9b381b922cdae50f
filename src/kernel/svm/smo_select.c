/* Which variables a round takes: the newest half of those before, and the worst violators by a
 * histogram of two thousand bins, so that nothing is sorted. */
#include "kernel/svm/smo_room.h"

#include <string.h>

enum { BINS = 2048, NOT_ONE = BINS };

/* 0: the worst bin. */
static uint16_t key_of(double violation, double scale) {
    const double bin = (double)BINS - violation * scale;
    const double inside = bin > 0.0 ? bin : 0.0, most = inside < BINS - 1 ? inside : BINS - 1;
    return violation > 0.0 ? (uint16_t)(int)most : NOT_ONE;
}

static void find_keys(const mg_smo *s, mg_smo_room *room) {
    const double gap = s->lowest - s->up, scale = BINS / gap;
    for (int64_t i = 0; i < s->count; i++) {
        room->up_key[i] = room->in[i] ? NOT_ONE : key_of(s->lowest - mg_smo_right(s, i), scale);
        room->low_key[i] = room->in[i] ? NOT_ONE : key_of(mg_smo_left(s, i) - s->up, scale);
    }
}

/* The bin in which `wanted` are reached, and how many of that bin are then still wanted. */
static int find_bin(const uint16_t *keys, int64_t count, int64_t wanted, int64_t *rest) {
    int64_t bins[2][BINS + 1], found = 0;
    memset(bins, 0, sizeof bins);
    for (int64_t i = 0; i < count; i++)
        bins[i & 1][keys[i]]++;
    for (int k = 0; k < BINS; k++) {
        const int64_t here = bins[0][k] + bins[1][k];
        if (found + here >= wanted) {
            *rest = wanted - found;
            return k;
        }
        found += here;
    }
    *rest = 0;
    return BINS;
}

static bool takes(uint16_t key, int bin, int64_t *rest) {
    if (key == NOT_ONE || key > bin) return false;
    return key < bin || (*rest)-- > 0;
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
    memset(room->in, 0, (size_t)s->count * sizeof *room->in);
    memcpy(old, room->set, (size_t)kept * sizeof *old);
    for (int64_t k = 0; k < kept; k++)
        room->in[old[k]] = true;
    find_keys(s, room);
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
