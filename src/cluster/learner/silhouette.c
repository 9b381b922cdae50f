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

/* Sums of weights end near 1, not at 1. */
static const double alone = 1 + 1e-9;

typedef struct measured {
    double value, rounding;
} measured;

/* (b - a) / max(a, b) of sample i, whose row is `row`; sums: k numbers, other: room for a row. Each
 * distance may be off by blur. */
static measured silhouette_of(const mg_clustered *rows, int64_t i, double blur, const double *row,
                              double *other, double *sums) {
    const int64_t own = rows->labels[i], n = rows->x->columns;
    const double size = rows->sizes[own];
    double near, next = (double)INFINITY;
    if (!(size > alone)) return (measured){0, 0};
    memset(sums, 0, (size_t)rows->k * sizeof *sums);
    for (int64_t m = 0; m < rows->count; m++) {
        silhouette_read_row(rows, m, other);
        sums[rows->labels[m]] +=
            silhouette_weight_of(rows, m) * sqrt(mg_kmeans_square(row, other, n));
    }
    near = sums[own] / (size - 1);
    for (int64_t c = 0; c < rows->k; c++)
        if (c != own && rows->sizes[c] > 0) next = MG_MIN(next, sums[c] / rows->sizes[c]);
    const double most = MG_MAX(near, next);
    if (!(most > 0)) return (measured){0, blur > 0 ? 2 : 0};
    const double part = 2 * (blur / most + MG_ROUNDING * size / (size - 1));
    return (measured){(next - near) / most, MG_MIN(part, 2)};
}

typedef struct measuring {
    const mg_clustered *rows;
    double *room; /* per worker: two rows and k sums */
    double blur;  /* of a distance */
    measured *found;
} measuring;

static margin_status measure_row(void *argument, int64_t i, int worker) {
    const measuring *m = argument;
    const int64_t n = m->rows->x->columns;
    double *row = m->room + worker * (2 * n + m->rows->k);
    silhouette_read_row(m->rows, i, row);
    m->found[i] = silhouette_of(m->rows, i, m->blur, row, row + n, row + 2 * n);
    return MARGIN_OK;
}

/* By the size of the largest row, if a stage made it, and what stages may have moved it by. */
static double distance_blur(const mg_clustered *rows, double *row) {
    double most = 0;
    for (int64_t i = 0; i < rows->count; i++) {
        double size = 0;
        silhouette_read_row(rows, i, row);
        for (int64_t j = 0; j < rows->x->columns; j++)
            size +=
                (rows->made ? fabs(row[j]) : 0) + (rows->blur ? rows->blur[j] / MG_ROUNDING : 0);
        most = MG_MAX(most, size);
    }
    return 2 * MG_ROUNDING * most;
}

margin_status mg_silhouette(margin_context *context, const mg_clustered *rows, double *value,
                            double *rounding, margin_error *error) {
    const int64_t room = 2 * rows->x->columns + rows->k;
    measuring m = {.rows = rows};
    mg_heap *heap = context->heap;
    int64_t filled = 0;
    double total = 0, whole = 0, moved = 0;
    margin_status status;
    for (int64_t c = 0; c < rows->k; c++)
        filled += rows->sizes[c] > 0;
    *value = (double)NAN;
    if (rounding) *rounding = 0;
    if (filled < 2) return MARGIN_OK;
    MG_GO_NEW(heap, m.room, mg_threads(context) * room, "the silhouette", error);
    MG_GO_NEW(heap, m.found, rows->count, "the silhouette", error);
    if (rounding) m.blur = distance_blur(rows, m.room);
    MG_GO(mg_parallel(context, rows->count, measure_row, &m, error));
    for (int64_t i = 0; i < rows->count; i++) {
        const double weight = silhouette_weight_of(rows, i);
        whole += weight;
        total += weight * m.found[i].value;
        moved += weight * (m.found[i].rounding + MG_ROUNDING);
    }
    *value = total / whole;
    if (rounding) *rounding = moved / whole;
done:
    MG_FREE(heap, m.found, m.room);
    return status;
}
