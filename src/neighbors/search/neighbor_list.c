#include "neighbors/search/neighbor_list.h"

static bool behind(const mg_neighbor *a, const mg_neighbor *b) {
    return mg_farther(a->distance, a->row, b);
}

void mg_list_sift_down(mg_neighbor *list, int64_t count, int64_t at) {
    const mg_neighbor moved = list[at];
    for (int64_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && behind(&list[child + 1], &list[child])) child++;
        if (!behind(&list[child], &moved)) break;
        list[at] = list[child];
    }
    list[at] = moved;
}

void mg_list_sift_up(mg_neighbor *list, int64_t at) {
    const mg_neighbor moved = list[at];
    while (at > 0 && behind(&moved, &list[(at - 1) / 2])) {
        list[at] = list[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    list[at] = moved;
}

void mg_neighbors_sort(mg_neighbor *list, int64_t count) {
    for (int64_t at = count / 2 - 1; at >= 0; at--)
        mg_list_sift_down(list, count, at);
    while (count > 1) {
        const mg_neighbor first = list[0];
        list[0] = list[--count];
        list[count] = first;
        mg_list_sift_down(list, count, 0);
    }
}
