/* The silhouette of Rousseeuw 1987, by all pairs of rows. */
#include "cluster/learner/silhouette.h"
#include "cluster/centres/kmeans.h"
#include "learn/hypothesis/dual.h"

#include <math.h>
#include <string.h>

static double silhouette_weight_of(const mg_clustered *rows, int64_t i) {
    return rows->weight ? rows->weight[i] : 1.0;
}

static void silhouette_read_row(const mg_clustered *rows, int64_t i, double *row) {
    mg_row_expand(rows->x, rows->index ? rows->index[i] : i, row);
}

/* (b - a) / max(a, b) of sample i, whose row is `row`; sums: k numbers, other: room for a row. */
static double silhouette_of(const mg_clustered *rows, int64_t i, const double *row, double *other,
                            double *sums) {
    const int64_t own = rows->labels[i], n = rows->x->columns;
    double near, next = (double)INFINITY;
    if (!(rows->sizes[own] > 1)) return 0;
    memset(sums, 0, (size_t)rows->k * sizeof *sums);
    for (int64_t m = 0; m < rows->count; m++) {
        silhouette_read_row(rows, m, other);
        sums[rows->labels[m]] +=
            silhouette_weight_of(rows, m) * sqrt(mg_kmeans_square(row, other, n));
    }
    near = sums[own] / (rows->sizes[own] - 1);
    for (int64_t c = 0; c < rows->k; c++)
        if (c != own && rows->sizes[c] > 0) next = MG_MIN(next, sums[c] / rows->sizes[c]);
    return MG_MAX(near, next) > 0 ? (next - near) / MG_MAX(near, next) : 0;
}

typedef struct measuring {
    const mg_clustered *rows;
    double *room; /* per worker: two rows and k sums */
    double *found;
} measuring;

static margin_status measure_row(void *argument, int64_t i, int worker) {
    const measuring *m = argument;
    const int64_t n = m->rows->x->columns;
    double *row = m->room + worker * (2 * n + m->rows->k);
    silhouette_read_row(m->rows, i, row);
    m->found[i] = silhouette_of(m->rows, i, row, row + n, row + 2 * n);
    return MARGIN_OK;
}

margin_status mg_silhouette(margin_context *context, const mg_clustered *rows, double *value,
                            margin_error *error) {
    const int64_t room = 2 * rows->x->columns + rows->k;
    measuring m = {.rows = rows};
    mg_heap *heap = context->heap;
    int64_t filled = 0;
    double total = 0, whole = 0;
    margin_status status;
    for (int64_t c = 0; c < rows->k; c++)
        filled += rows->sizes[c] > 0;
    *value = (double)NAN;
    if (filled < 2) return MARGIN_OK;
    MG_GO_NEW(heap, m.room, mg_pool_threads(context->pool) * room, "the silhouette", error);
    MG_GO_NEW(heap, m.found, rows->count, "the silhouette", error);
    MG_GO(mg_parallel(context, rows->count, measure_row, &m, error));
    for (int64_t i = 0; i < rows->count; i++) {
        whole += silhouette_weight_of(rows, i);
        total += silhouette_weight_of(rows, i) * m.found[i];
    }
    *value = total / whole;
done:
    MG_FREE(heap, m.found, m.room);
    return status;
}
