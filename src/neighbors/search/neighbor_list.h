/* The k nearest so far: sorted while they are few, a heap with the farthest on top beyond. */
#pragma once

#include "neighbors/search/neighbor_index.h"

enum { MG_SORTED_LIST = 32 };

/* a stands behind b in the order (distance, row). */
MG_INLINE bool mg_farther(double distance, int32_t row, const mg_neighbor *b) {
    return distance > b->distance || (distance == b->distance && row > b->row);
}

void mg_list_sift_down(mg_neighbor *list, int64_t count, int64_t at);
void mg_list_sift_up(mg_neighbor *list, int64_t at);

MG_INLINE void mg_list_note_worst(mg_search *s) {
    if (s->count < s->k) return;
    const mg_neighbor *last = s->k <= MG_SORTED_LIST ? &s->list[s->k - 1] : &s->list[0];
    s->worst = last->distance;
    s->worst_row = last->row;
}

/* Offers a row that is not farther than the worst. */
MG_INLINE void mg_list_offer(mg_search *s, double distance, int32_t row) {
    if (!(distance < s->worst || (distance == s->worst && row < s->worst_row))) return;
    if (!mg_farther(distance, row, &s->after)) return;
    if (s->k == 0) {
        if (s->list) s->list[s->count] = (mg_neighbor){distance, row, 0};
        s->count++;
        return;
    }
    if (s->k <= MG_SORTED_LIST) {
        int64_t at = s->count < s->k ? s->count++ : s->k - 1;
        while (at > 0 && !mg_farther(distance, row, &s->list[at - 1])) {
            s->list[at] = s->list[at - 1];
            at--;
        }
        s->list[at] = (mg_neighbor){distance, row, 0};
    } else if (s->count < s->k) {
        s->list[s->count++] = (mg_neighbor){distance, row, 0};
        mg_list_sift_up(s->list, s->count - 1);
    } else {
        s->list[0] = (mg_neighbor){distance, row, 0};
        mg_list_sift_down(s->list, s->count, 0);
    }
    mg_list_note_worst(s);
}

MG_INLINE void mg_list_begin(mg_search *s) {
    s->count = s->visits = s->ranked = 0;
    s->worst = s->radius;
    s->worst_row = INT32_MAX;
}

MG_INLINE void mg_list_finish(mg_search *s) {
    if (s->k > MG_SORTED_LIST) mg_neighbors_sort(s->list, s->count);
}
