/* The means of sparse rows: each cluster adds up its own rows, in order, so many at a time. */
#include "cluster/centres/kmeans.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

typedef struct summing {
    mg_kmeans_run *run;
    bool changes;
    double *parts;    /* per worker: sums of some rows of a cluster that has more; or NULL */
    atomic_bool lost; /* means that are no numbers */
} summing;

/* What a row adds to cluster c; 0: nothing. */
static void note(mg_kmeans_run *run, int32_t c, int64_t i, double weight) {
    const int64_t at = run->cluster_starts[c]++;
    run->cluster_rows[at] = mg_kmeans_row_number(run, i);
    run->cluster_weights[at] = weight;
}

/* Rows by cluster: a counting sort. */
static void sort_rows(mg_kmeans_run *run, bool changes) {
    const int64_t count = run->task->count, k = run->task->k;
    int64_t *starts = run->cluster_starts, first = 0;
    memset(starts, 0, (size_t)(k + 1) * sizeof *starts);
    for (int64_t i = 0; i < count; i++) {
        const int32_t label = run->labels[i], old = run->old_labels[i];
        if (changes && label == old) continue;
        starts[label]++;
        if (changes) starts[old]++;
    }
    for (int64_t c = 0; c <= k; c++) {
        const int64_t rows = starts[c];
        starts[c] = first;
        first += rows;
    }
    for (int64_t i = 0; i < count; i++) {
        const int32_t label = run->labels[i], old = run->old_labels[i];
        if (changes && label == old) continue;
        note(run, label, i, mg_kmeans_weight(run, i));
        if (changes) note(run, old, i, -mg_kmeans_weight(run, i));
    }
}

/* Sums over many rows lose no more digits than those of a sweep. */
static void add_rows(const summing *s, int64_t first, int64_t rows, double *part, double *sums) {
    const mg_kmeans_run *run = s->run;
    for (int64_t end = first + rows, at = first; at < end; at += MG_BLOCK_ROWS) {
        const int64_t some = MG_MIN(end - at, (int64_t)MG_BLOCK_ROWS);
        double *to = rows > MG_BLOCK_ROWS ? part : sums;
        if (to == part) memset(part, 0, (size_t)run->n * sizeof *part);
        run->ops->adds(run->task->x, run->cluster_rows + at, some, run->cluster_weights + at, to);
        for (int64_t j = 0; to == part && j < run->n; j++)
            sums[j] += part[j];
    }
}

static margin_status sum_cluster(void *argument, int64_t c, int worker) {
    summing *s = argument;
    mg_kmeans_run *run = s->run;
    const int64_t n = run->n, first = c > 0 ? run->cluster_starts[c - 1] : 0;
    const int64_t rows = run->cluster_starts[c] - first;
    double *sums = run->sums + c * n, *means = run->means + c * n, size = run->weights[c];
    run->still[c] = s->changes && rows == 0;
    if (run->still[c]) return MARGIN_OK;
    if (!s->changes) memset(sums, 0, (size_t)n * sizeof *sums);
    add_rows(s, first, rows, s->parts + (s->parts ? worker * n : 0), sums);
    if (!(size > 0)) {
        memcpy(means, run->centres + c * n, (size_t)n * sizeof *means);
        return MARGIN_OK;
    }
    for (int64_t j = 0; j < n; j++)
        means[j] = sums[j] / size;
    double check = 0;
    for (int64_t j = 0; j < n; j++)
        check += means[j] * 0;
    if (!(check == 0)) s->lost = true;
    return MARGIN_OK;
}

margin_status mg_kmeans_sum(mg_kmeans_run *run, bool changes, bool *finite) {
    summing s = {.run = run, .changes = changes};
    const mg_kmeans_task *task = run->task;
    mg_heap *heap = task->context->heap;
    if (task->count > MG_BLOCK_ROWS)
        MG_NEW(heap, s.parts, mg_threads(task->context) * run->n, "the sums of the clusters",
               task->error);
    sort_rows(run, changes);
    const margin_status status = mg_parallel(task->context, task->k, sum_cluster, &s, task->error);
    *finite = !s.lost;
    mg_free(heap, s.parts);
    return status;
}
