/* One query: which code answers it. */
#include "neighbors/search/search_limit.h"

/* Queries within it: the squares of their gaps to rows, and sums of them, are within f32. */
static const double farthest = 0x1p51;

bool mg_search_reach(const mg_neighbors *index, mg_filter filter, const double *q, float *q32,
                     mg_reach *reach) {
    double norm = 0;
    for (int64_t j = 0; j < index->columns; j++) {
        const double y = (q[j] - index->centre[j]) * index->scale, size = fabs(y);
        if (!(size < farthest)) return false;
        q32[j] = (float)y;
        if (filter == MG_FILTER_MOST)
            norm = MG_MAX(norm, size);
        else
            norm += filter == MG_FILTER_SQUARES ? size * size : size;
    }
    const double columns = (double)index->columns, p = index->metric.p;
    *reach = (mg_reach){.scale = index->scale,
                        .centred = filter == MG_FILTER_SQUARES ? sqrt(norm) : norm,
                        .slack = 1 + (columns + 16) * 0x1p-23,
                        .squares = filter == MG_FILTER_SQUARES};
    /* stored (1 + 2^-22) + 2^-22 centred, squared, with slack: below stored^2 (1 + 2^-8) if centred
     * is at most 2^11 stored, and slack at most 1 + 2^-12 */
    reach->plain =
        reach->slack < 1 + 0x1p-12 ? (float)(norm * 0x1p-22 * (1 + 0x1p-20) + 0x1p-60) : INFINITY;
    /* Euclid's norm is at most columns^(1/2 - 1/p) times the one of p > 2, at most that of p < 2 */
    if (index->metric.kind == MG_METRIC_POWER && p > 2)
        reach->scale *= pow(columns, 0.5 - 1 / p) * (1 + 0x1p-40);
    return true;
}

const mg_neighbors_ops *mg_neighbors_ops_for(mg_isa isa) {
    return MG_ISA_TABLE(isa, mg_neighbors_ops);
}

void mg_neighbors_find(const mg_neighbors *index, mg_search *search) {
    const mg_neighbors_ops *ops = mg_neighbors_ops_for(index->isa);
    if (index->tree)
        ops->search(index, search);
    else
        ops->scan(index, search, 0, index->rows);
}

void mg_neighbors_find_together(const mg_neighbors *index, mg_search *searches, int count) {
    mg_neighbors_ops_for(index->isa)->search_together(index, searches, count);
}

void mg_neighbors_scan(const mg_neighbors *index, mg_search *search, int64_t first, int64_t count) {
    mg_neighbors_ops_for(index->isa)->scan(index, search, first, count);
}

bool mg_neighbors_usable(const double *q, int64_t columns) {
    for (int64_t j = 0; j < columns; j++)
        if (!(fabs(q[j]) <= MG_NEIGHBORS_LARGEST)) return false;
    return true;
}
