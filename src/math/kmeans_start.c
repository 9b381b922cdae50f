/* The first centres: k-means++, rows drawn at random, or given ones; and their order in tiles. */
#include "base/random.h"
#include "base/sort.h"
#include "base/sweep.h"
#include "math/kmeans.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* A quarter of the squared distance of two centres, a little less for what rounding does: a row
 * nearer to its own cannot be nearer to the other. */
static const double quarter = 0.25 * (1 - 1e-9);

typedef struct draws {
    mg_kmeans_run *run;
    int64_t round, chosen; /* centres there are already */
    int64_t block_count;
    double *block_sums; /* of weight x near */
    double *gains;      /* blocks x MG_TILE: what the candidates would gain */
    int64_t count;      /* candidates */
    int64_t rows[MG_TILE];
    double *candidates; /* count x n */
    double *tile;
    double *reach; /* k: a quarter of the squared distance to the nearest candidate */
    int64_t winner;
    bool plus;
    bool sift; /* the filter holds the candidates */
    float *strip, start[MG_FILTER_GROUPS], share[MG_FILTER_GROUPS];
} draws;

static double weight_of(const mg_kmeans_run *run, int64_t i) {
    return run->task->weight ? run->task->weight[i] : 1.0;
}

/* ---- Drawing --------------------------------------------------------------------------------- */

/* The row at which the running sum of weight x near passes a random part of the whole. */
static int64_t draw_row(const draws *d, double total, uint64_t index) {
    const mg_kmeans_run *run = d->run;
    double target = total * mg_random_unit(run->task->seed, MG_RANDOM_START, index);
    int64_t b = 0, last = -1;
    for (; b + 1 < d->block_count && target >= d->block_sums[b]; b++)
        target -= d->block_sums[b];
    for (;; b--) { /* rounding may lead behind the last row that can be drawn */
        const int64_t end = MG_MIN((b + 1) * run->block_rows, run->task->count);
        for (int64_t i = b * run->block_rows; i < end; i++) {
            const double share = weight_of(run, i) * run->near[i];
            if (share > 0) last = i;
            if (share > target) return i;
            target -= share;
        }
        if (last >= 0 || b == 0) return MG_MAX(last, 0);
    }
}

static double total_of(const draws *d) {
    double total = 0;
    for (int64_t b = 0; b < d->block_count; b++)
        total += d->block_sums[b];
    return total;
}

/* ---- Candidates ------------------------------------------------------------------------------ */

static void prepare_candidates(draws *d) {
    mg_kmeans_run *run = d->run;
    const int64_t n = run->n;
    for (int64_t l = 0; l < d->count; l++)
        memcpy(d->candidates + l * n, mg_kmeans_row(run, d->rows[l], 0),
               (size_t)n * sizeof(double));
    mg_tile_pack(d->candidates, NULL, d->count, n, d->tile);
    if (run->filter && d->count > 1) {
        int32_t order[MG_FILTER_GROUPS];
        for (int32_t l = 0; l < MG_FILTER_GROUPS; l++)
            order[l] = l < d->count ? l : -1;
        d->sift = mg_filter_pack(&run->frame, d->candidates, order, 1, 1, 1, d->strip, d->start,
                                 d->share, run->sift_memory);
    }
    for (int64_t c = 0; c < d->chosen; c++) {
        double squares[MG_TILE], least = (double)INFINITY;
        run->distances(run->centres + c * n, d->tile, n, squares);
        for (int64_t l = 0; l < d->count; l++)
            least = MG_MIN(least, quarter * squares[l]);
        d->reach[c] = least;
    }
}

/* At most the squared distance, single precision. */
static float at_most(double square) {
    return (float)MG_MIN(square * (1 - 1e-6), (double)FLT_MAX);
}

static void gain_of_row(const draws *d, int64_t i, int worker, double *gains) {
    const mg_kmeans_run *run = d->run;
    const double near = run->near[i], weight = weight_of(run, i);
    float *kept = run->lower + i * MG_TILE;
    double squares[MG_TILE];
    run->distances(mg_kmeans_row(run, i, worker), d->tile, run->n, squares);
    for (int64_t l = 0; l < d->count; l++) {
        kept[l] = at_most(squares[l]);
        if (squares[l] < near) gains[l] += weight * (near - squares[l]);
    }
}

/* Keeps what is certain of the row's distances; whether a candidate may be nearer than `near`. */
static bool may_gain(const draws *d, int64_t i, const float *values) {
    const mg_kmeans_run *run = d->run;
    const float square = run->squares[i], back = (float)(1 / run->frame.scale);
    const float shift = square - mg_filter_slack(&run->frame, square);
    float *kept = run->lower + i * MG_TILE, lower[MG_TILE], least = FLT_MAX;
    if (!(square < INFINITY)) return true;
    for (int64_t l = 0; l < MG_TILE; l++) {
        const float bound = (values[l] + shift) * (back * back * (1 - 1e-6F));
        lower[l] = bound > 0 ? bound : 0;
    }
    memcpy(kept, lower, sizeof lower);
    for (int64_t l = 0; l < MG_TILE / 2; l++)
        lower[l] = MG_MIN(lower[l], lower[l + MG_TILE / 2]);
    for (int64_t l = 0; l < MG_TILE / 2; l++)
        least = MG_MIN(least, lower[l]);
    return !((double)least >= run->near[i]);
}

/* The same as gain_of_row for each, but for rows that nothing is gained from. */
static void gain_of_rows(const draws *d, const int64_t *rows, int64_t count, int worker,
                         double *gains) {
    const mg_kmeans_run *run = d->run;
    mg_kmeans_tile tile = mg_kmeans_tile_of(run, worker);
    run->filter->cross(mg_kmeans_tile_rows(run, rows, count, &tile), run->n, d->strip, d->start, 1,
                       1, tile.values, tile.least, tile.next);
    for (int64_t r = 0; r < count; r++)
        if (may_gain(d, rows[r], tile.values + r * MG_FILTER_GROUPS))
            gain_of_row(d, rows[r], worker, gains);
}

/* What each candidate would gain; `lower` keeps the distances, so that few rows are read again. */
static margin_status gain_block(const mg_block *block, void *argument) {
    const draws *d = argument;
    const mg_kmeans_run *run = d->run;
    double *gains = d->gains + block->index * MG_TILE;
    int64_t rows[MG_FILTER_MOST_ROWS], waiting = 0;
    memset(gains, 0, MG_TILE * sizeof *gains);
    for (int64_t i = block->first; i < block->first + block->count; i++) {
        if (d->reach[run->labels[i]] >= run->near[i]) {
            for (int64_t l = 0; l < d->count; l++)
                run->lower[i * MG_TILE + l] = INFINITY;
        } else if (!d->sift) {
            gain_of_row(d, i, block->worker, gains);
        } else {
            rows[waiting++] = i;
            if (waiting < run->filter->rows) continue;
            gain_of_rows(d, rows, waiting, block->worker, gains);
            waiting = 0;
        }
    }
    if (waiting > 0) gain_of_rows(d, rows, waiting, block->worker, gains);
    return MARGIN_OK;
}

/* START_PLUS: the new centre is near[] for the rows that it is nearest to. */
static void settle_plus(const draws *d, int64_t i, int worker) {
    mg_kmeans_run *run = d->run;
    double squares[MG_TILE];
    if (d->count > 1 && (double)run->lower[i * MG_TILE + d->winner] >= run->near[i]) return;
    run->distances(mg_kmeans_row(run, i, worker), d->tile, run->n, squares);
    if (d->chosen > 0 && !(squares[d->winner] < run->near[i])) return;
    run->near[i] = squares[d->winner];
    run->labels[i] = (int32_t)d->chosen;
}

/* START_SAMPLE: rows equal to the new centre are not drawn again. */
static void settle_sample(const draws *d, int64_t i, int worker) {
    const double *x = mg_kmeans_row(d->run, i, worker);
    for (int64_t j = 0; j < d->run->n; j++)
        if (x[j] != d->candidates[j]) return;
    d->run->near[i] = 0;
}

static margin_status settle_block(const mg_block *block, void *argument) {
    const draws *d = argument;
    const mg_kmeans_run *run = d->run;
    double sum = 0;
    for (int64_t i = block->first; i < block->first + block->count; i++) {
        if (run->near[i] > 0) {
            if (d->plus)
                settle_plus(d, i, block->worker);
            else
                settle_sample(d, i, block->worker);
        }
        sum += weight_of(run, i) * run->near[i];
    }
    d->block_sums[block->index] = sum;
    return MARGIN_OK;
}

static margin_status visit(const draws *d, mg_visit each) {
    const mg_kmeans_task *task = d->run->task;
    const margin_status status =
        mg_sweep_each(task->context, task->count, d->run->block_rows, each, (void *)d);
    return status < 0 ? mg_fail_cancelled(task->error) : MARGIN_OK;
}

static margin_status pick_winner(draws *d) {
    double best = -1;
    d->winner = 0;
    if (d->count == 1) return MARGIN_OK;
    MG_TRY(visit(d, gain_block));
    for (int64_t l = 0; l < d->count; l++) {
        double gain = 0;
        for (int64_t b = 0; b < d->block_count; b++)
            gain += d->gains[b * MG_TILE + l];
        if (gain > best) {
            best = gain;
            d->winner = l;
        }
    }
    return MARGIN_OK;
}

static margin_status choose_next(draws *d) {
    mg_kmeans_run *run = d->run;
    const mg_kmeans_task *task = run->task;
    const double total = total_of(d);
    MG_REQUIRE(total > 0, task->error, MARGIN_ERROR_DATA,
               "the data has only %lld different rows and cannot make %lld clusters; ask for fewer",
               (long long)d->chosen, (long long)task->k);
    MG_REQUIRE(isfinite(total), task->error, MARGIN_ERROR_DATA,
               "the squared distances of rows leave the range of numbers; bring the columns to one "
               "scale first: standardize | ...");
    d->count = d->plus && d->chosen > 0 ? MG_MIN(MG_TILE, 2 + (int64_t)log((double)task->k)) : 1;
    for (int64_t l = 0; l < d->count; l++)
        d->rows[l] =
            draw_row(d, total, (uint64_t)d->round << 40 | (uint64_t)d->chosen << 4 | (uint64_t)l);
    prepare_candidates(d);
    MG_TRY(pick_winner(d));
    MG_TRY(visit(d, settle_block));
    memcpy(run->centres + d->chosen * run->n, d->candidates + d->winner * run->n,
           (size_t)run->n * sizeof *run->centres);
    d->chosen++;
    return MARGIN_OK;
}

/* ---- Entry ----------------------------------------------------------------------------------- */

static margin_status start_draws(draws *d) {
    mg_kmeans_run *run = d->run;
    const mg_kmeans_task *task = run->task;
    mg_heap *heap = task->context->heap;
    const char *purpose = "the start of k-means";
    d->block_count = (task->count + run->block_rows - 1) / run->block_rows;
    MG_NEW(heap, d->block_sums, d->block_count, purpose, task->error);
    MG_NEW(heap, d->gains, d->block_count * MG_TILE, purpose, task->error);
    MG_NEW(heap, d->candidates, MG_TILE * run->n, purpose, task->error);
    MG_NEW(heap, d->tile, MG_TILE * run->n, purpose, task->error);
    MG_NEW(heap, d->reach, task->k, purpose, task->error);
    if (run->filter) MG_NEW(heap, d->strip, MG_FILTER_GROUPS * run->n, purpose, task->error);
    memset(d->block_sums, 0, (size_t)d->block_count * sizeof *d->block_sums);
    for (int64_t i = 0; i < task->count; i++) {
        run->near[i] = 1;
        run->labels[i] = 0;
        d->block_sums[i / run->block_rows] += weight_of(run, i);
    }
    return MARGIN_OK;
}

margin_status mg_kmeans_choose(mg_kmeans_run *run, int64_t round) {
    const mg_kmeans_task *task = run->task;
    mg_heap *heap = task->context->heap;
    draws d = {.run = run, .round = round, .plus = task->start == MG_START_PLUS};
    margin_status status;
    if (task->start == MG_START_GIVEN) {
        memcpy(run->centres, task->given, (size_t)(task->k * run->n) * sizeof *run->centres);
        return MARGIN_OK;
    }
    MG_GO(start_draws(&d));
    while (d.chosen < task->k)
        MG_GO(choose_next(&d));
    status = MARGIN_OK;
done:
    mg_free(heap, d.strip);
    mg_free(heap, d.reach);
    mg_free(heap, d.tile);
    mg_free(heap, d.candidates);
    mg_free(heap, d.gains);
    mg_free(heap, d.block_sums);
    return status;
}

/* ---- Tiles ----------------------------------------------------------------------------------- */

typedef struct axis_order {
    const double *centres;
    int64_t n, axis;
} axis_order;

static bool before_on_axis(int64_t a, int64_t b, const void *argument) {
    const axis_order *o = argument;
    return o->centres[a * o->n + o->axis] < o->centres[b * o->n + o->axis];
}

static int64_t widest_axis(const double *centres, int64_t n, const int64_t *items, int64_t count) {
    int64_t widest = 0;
    double width = -1;
    for (int64_t j = 0; j < n; j++) {
        double low = centres[items[0] * n + j], high = low;
        for (int64_t c = 1; c < count; c++) {
            low = MG_MIN(low, centres[items[c] * n + j]);
            high = MG_MAX(high, centres[items[c] * n + j]);
        }
        if (!(high - low > width)) continue;
        width = high - low;
        widest = j;
    }
    return widest;
}

static void fill_tile(mg_kmeans_run *run, const int64_t *items, int64_t count, int64_t tile) {
    for (int64_t l = 0; l < MG_TILE; l++) {
        run->order[tile * MG_TILE + l] = l < count ? (int32_t)items[l] : -1;
        if (l < count) run->lane[items[l]] = (int32_t)(tile * MG_TILE + l);
    }
}

/* Halves the centres on their widest axis until a tile is left; depth: log2 of their number. */
static void bisect(mg_kmeans_run *run, int64_t *items, int64_t count, int64_t first, int64_t tiles,
                   int64_t *scratch) {
    if (tiles == 1) {
        fill_tile(run, items, count, first);
        return;
    }
    const axis_order order = {run->centres, run->n,
                              widest_axis(run->centres, run->n, items, count)};
    const int64_t left = (tiles + 1) / 2, half = count * left / tiles;
    mg_sort(items, count, scratch, before_on_axis, &order);
    bisect(run, items, half, first, left, scratch);
    bisect(run, items + half, count - half, first + left, tiles - left, scratch);
}

margin_status mg_kmeans_group(mg_kmeans_run *run) {
    const int64_t k = run->task->k;
    mg_heap *heap = run->task->context->heap;
    int64_t *items;
    MG_NEW(heap, items, 2 * k, "the order of the centres", run->task->error);
    for (int64_t c = 0; c < k; c++)
        items[c] = c;
    bisect(run, items, k, 0, run->tile_count, items + k);
    mg_free(heap, items);
    mg_tile_pack(run->centres, run->order, run->tile_count * MG_TILE, run->n, run->tiles);
    run->sift = run->filter != NULL;
    mg_kmeans_filter_pack(run);
    return MARGIN_OK;
}
