/* The silhouette of Rousseeuw 1987, by all pairs of rows. */
#include "cluster/silhouette.h"
#include "base/context.h"
#include "learn/dual.h"
#include "math/kmeans.h"

#include <math.h>
#include <string.h>

static double weight_of(const mg_clustered *rows, int64_t i) {
    return rows->weight ? rows->weight[i] : 1.0;
}

static void read_row(const mg_clustered *rows, int64_t i, double *row) {
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
        read_row(rows, m, other);
        sums[rows->labels[m]] += weight_of(rows, m) * sqrt(mg_kmeans_square(row, other, n));
    }
    near = sums[own] / (rows->sizes[own] - 1);
    for (int64_t c = 0; c < rows->k; c++)
        if (c != own && rows->sizes[c] > 0) next = MG_MIN(next, sums[c] / rows->sizes[c]);
    return MG_MAX(near, next) > 0 ? (next - near) / MG_MAX(near, next) : 0;
}

margin_status mg_silhouette(margin_context *context, const mg_clustered *rows, double *value,
                            margin_error *error) {
    const int64_t n = rows->x->columns;
    int64_t filled = 0;
    double total = 0, whole = 0, *room;
    for (int64_t c = 0; c < rows->k; c++)
        filled += rows->sizes[c] > 0;
    *value = (double)NAN;
    if (filled < 2) return MARGIN_OK;
    MG_NEW(context->heap, room, 2 * n + rows->k, "the silhouette", error);
    for (int64_t i = 0; i < rows->count && !mg_cancelled(context); i++) {
        read_row(rows, i, room);
        whole += weight_of(rows, i);
        total += weight_of(rows, i) * silhouette_of(rows, i, room, room + n, room + 2 * n);
    }
    mg_free(context->heap, room);
    if (mg_cancelled(context)) return mg_fail_cancelled(error);
    *value = total / whole;
    return MARGIN_OK;
}
