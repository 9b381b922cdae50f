/* The first centres: k-means++, rows drawn at random, or given ones; and their order in tiles. */
#include "base/random.h"
#include "base/sort.h"
#include "cluster/centres/kmeans.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* A quarter of the squared distance of two centres, a little less for what rounding does: a row
 * nearer to its own cannot be nearer to the other. */
static const double quarter = 0.25 * (1 - 1e-9);
enum {
    CHUNK = MG_KMEANS_CHUNK,
    AHEAD = MG_KMEANS_AHEAD,
    KEPT_COLUMNS = 16 /* of dense rows, squares are kept from here on */
};

typedef struct draws {
    mg_kmeans_run *run;
    mg_arena arena;
    int64_t round, chosen; /* centres there are already */
    int64_t block_count;
    double *block_sums; /* of weight x near */
    double *gains;      /* blocks x MG_TILE: what the candidates would gain */
    int64_t count;      /* candidates */
    int64_t rows[MG_TILE];
    double *candidates; /* count x n */
    mg_tiles tile;
    int64_t *centre_rows; /* k */
    double *reach;        /* k: a quarter of the squared distance to the nearest candidate */
    int64_t winner;
    bool plus;
    bool sift; /* the filter holds the candidates */
    float *strip, start[MG_FILTER_MEMBERS], share[MG_FILTER_MEMBERS];
    float most_share;
    uint8_t *may;    /* of a row: bit l is set where candidate l may be nearer than `near` */
    double *squares; /* of a row to the candidates, `trials` each, where one may be, if `keeps` */
    int64_t trials;
    bool keeps;
} draws;

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
            const double share = mg_kmeans_weight(run, i) * run->near[i];
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
    mg_tile_pack(d->candidates, NULL, d->count, n, d->tile.values);
    if (run->lanes) mg_tiles_square(&d->tile, 0);
    if (run->filter && d->count > 1) {
        const int32_t order[MG_TILE] = {0, 1, 2, 3, 4, 5, 6, 7};
        d->sift = mg_filter_pack(&run->frame, d->candidates, order, MG_TILE, 1, d->count, d->strip,
                                 d->start, d->share, run->sift_memory);
        d->most_share = 0;
        for (int64_t l = 0; l < d->count && d->sift; l++)
            d->most_share = MG_MAX(d->most_share, d->share[l]);
    }
    for (int64_t c = 0; c < d->chosen; c++) {
        const mg_kmeans_point x = mg_kmeans_point_of(run, d->centre_rows[c], 0);
        double squares[MG_TILE], least = (double)INFINITY;
        mg_kmeans_distances(run, &x, &d->tile, 0, squares);
        for (int64_t l = 0; l < d->count; l++)
            least = MG_MIN(least, quarter * squares[l]);
        d->reach[c] = least;
    }
}

/* Exactly what candidates gain from a row. */
static void gain_of_row(const draws *d, int64_t i, int worker, double *gains) {
    const mg_kmeans_run *run = d->run;
    const double near = run->near[i], weight = mg_kmeans_weight(run, i);
    const mg_kmeans_point x = mg_kmeans_point_of(run, i, worker);
    double squares[MG_TILE];
    int may = 0;
    mg_kmeans_distances(run, &x, &d->tile, 0, squares);
    for (int64_t l = 0; l < d->count; l++) { /* nobody could foresee a branch */
        may |= (squares[l] < near) << l;
        gains[l] += weight * MG_MAX(near - squares[l], 0.0);
    }
    d->may[i] = (uint8_t)may;
    if (d->keeps) memcpy(d->squares + i * d->trials, squares, (size_t)d->count * sizeof *squares);
}

/* Row i as row r of a tile. True: f32 does not tell its gains to a hundredth, they are left out. */
static bool ask(const draws *d, int64_t i, int64_t r, mg_filter_draw *tile) {
    const mg_kmeans_run *run = d->run;
    const float square = run->squares[i], slack = mg_filter_slack(&run->frame, square);
    const double scale = run->frame.scale, weight = mg_kmeans_weight(run, i);
    const double near = MG_MIN(run->near[i] * scale * scale * (1 + 1e-6), (double)FLT_MAX);
    const bool rough =
        !(100 * (double)(slack + 2 * d->most_share) < near) || !(weight > 1e-15 && weight < 1e15);
    tile->square[r] = square;
    tile->shift[r] = square < INFINITY ? square - slack : -INFINITY;
    tile->near[r] = (float)near * (1 + 0x1p-20F);
    tile->weight[r] = rough ? 0 : (float)weight;
    return rough;
}

/* What candidates gain from rows, nearly; and which rows they may take. */
static void gain_of_rows(const draws *d, mg_kmeans_tile *tile, int worker, double *gains) {
    const mg_kmeans_run *run = d->run;
    const double back = 1 / run->frame.scale;
    mg_filter_draw asked;
    bool rough[MG_FILTER_MOST_ROWS];
    memset(&asked, 0, sizeof asked);
    for (int64_t r = 0; r < tile->count; r++)
        rough[r] = ask(d, tile->rows[r], r, &asked);
    run->filter->draw(tile->columns, run->n, d->strip, d->start, d->count, &asked);
    for (int64_t l = 0; l < d->count; l++)
        gains[l] += (double)asked.gain[l] * back * back;
    for (int64_t r = 0; r < tile->count; r++) {
        const int64_t i = tile->rows[r];
        d->may[i] = (uint8_t)asked.may[r];
        if (rough[r] && d->may[i]) gain_of_row(d, i, worker, gains);
    }
}

/* What each candidate would gain from the rows [first, first + count). */
static void gain_of_chunk(const draws *d, int64_t first, int64_t count, int worker, double *gains) {
    const mg_kmeans_run *run = d->run;
    mg_kmeans_list list;
    mg_kmeans_tile tile;
    list.count = list.at = list.kept = list.done = 0;
    for (int64_t i = first; i < first + count; i++) {
        const bool open = d->reach[run->labels[i]] < run->near[i];
        d->may[i] = 0;
        if (open && d->sift)
            list.rows[list.count++] = i;
        else if (open)
            gain_of_row(d, i, worker, gains);
        if (list.count > 0 && mg_kmeans_tile_ends(run, i, first + count))
            mg_kmeans_list_complete(run, i, &list);
    }
    if (list.count == 0) return;
    mg_kmeans_tile_init(run, worker, &tile);
    while (mg_kmeans_tile_next(run, &list, &tile))
        gain_of_rows(d, &tile, worker, gains);
}

static margin_status gain_block(const mg_block *block, void *argument) {
    const draws *d = argument;
    const int64_t end = block->first + block->count;
    double *gains = d->gains + block->index * MG_TILE;
    memset(gains, 0, MG_TILE * sizeof *gains);
    for (int64_t i = block->first; i < end; i += CHUNK)
        gain_of_chunk(d, i, MG_MIN(end - i, (int64_t)CHUNK), block->worker, gains);
    return MARGIN_OK;
}

/* Whether the new centre may be the nearest of a row. */
static bool is_open(const draws *d, int64_t i) {
    return d->count == 1 || (d->may[i] >> d->winner & 1);
}

/* START_PLUS: the new centre is near[] for the rows that it is nearest to. */
static void settle_plus(const draws *d, int64_t i, int worker) {
    mg_kmeans_run *run = d->run;
    double squares[MG_TILE];
    if (!is_open(d, i)) return;
    const double *found = squares;
    if (d->keeps && d->count > 1) {
        found = d->squares + i * d->trials;
    } else {
        const mg_kmeans_point x = mg_kmeans_point_of(run, i, worker);
        mg_kmeans_distances(run, &x, &d->tile, 0, squares);
    }
    if (d->chosen > 0 && !(found[d->winner] < run->near[i])) return;
    run->near[i] = found[d->winner];
    run->labels[i] = (int32_t)d->chosen;
}

/* START_SAMPLE: rows equal to the new centre are not drawn again. */
static void settle_sample(const draws *d, int64_t i, int worker) {
    if (d->run->lanes) { /* few rows need to be looked at number by number */
        const mg_kmeans_point point = mg_kmeans_point_of(d->run, i, worker);
        double squares[MG_TILE];
        mg_kmeans_distances(d->run, &point, &d->tile, 0, squares);
        if (squares[0] > 0) return;
    }
    const double *x = mg_kmeans_row(d->run, i, worker);
    for (int64_t j = 0; j < d->run->n; j++)
        if (x[j] != d->candidates[j]) return;
    d->run->near[i] = 0;
}

static margin_status settle_block(const mg_block *block, void *argument) {
    const draws *d = argument;
    const mg_kmeans_run *run = d->run;
    const int64_t end = block->first + block->count;
    double sum = 0;
    for (int64_t i = block->first; i < end; i++) {
        if (i + AHEAD < end && is_open(d, i + AHEAD)) mg_kmeans_fetch(run, i + AHEAD);
        if (run->near[i] > 0) {
            if (d->plus)
                settle_plus(d, i, block->worker);
            else
                settle_sample(d, i, block->worker);
        }
        sum += mg_kmeans_weight(run, i) * run->near[i];
    }
    d->block_sums[block->index] = sum;
    return MARGIN_OK;
}

static margin_status kmeans_visit(const draws *d, mg_visit each) {
    const mg_kmeans_task *task = d->run->task;
    return mg_sweep_each(task->context, task->count, d->run->block_rows, each, (void *)d,
                         task->error);
}

static margin_status pick_winner(draws *d) {
    double best = -1;
    d->winner = 0;
    if (d->count == 1) return MARGIN_OK;
    MG_TRY(kmeans_visit(d, gain_block));
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

margin_status mg_kmeans_overflow(const mg_kmeans_run *run) {
    return mg_fail(run->task->error, MG_DATA(OVERFLOW),
                   "the squared distances of rows leave the range of numbers; bring the columns to "
                   "one scale first: minmax | ...");
}

/* No row can be drawn: all are equal to a centre, or the squares of their distances are 0. */
static margin_status refuse_draw(const draws *d) {
    const mg_kmeans_run *run = d->run;
    const mg_kmeans_task *task = run->task;
    for (int64_t i = 0; d->plus && i < task->count; i++) {
        const double *x = mg_kmeans_row(run, i, 0),
                     *centre = run->centres + run->labels[i] * run->n;
        for (int64_t j = 0; j < run->n; j++)
            if (x[j] != centre[j])
                return mg_fail(task->error, MG_DATA(OVERFLOW),
                               "the squared distances of rows leave the range of numbers: they "
                               "are 0 between rows that differ; bring the columns to one scale "
                               "first: minmax | ...");
    }
    return mg_fail(task->error, MG_DATA(FEW_ROWS),
                   "the data has only %lld different row%s and cannot make %lld clusters; ask for "
                   "fewer",
                   (long long)d->chosen, d->chosen == 1 ? "" : "s", (long long)task->k);
}

static margin_status choose_next(draws *d) {
    mg_kmeans_run *run = d->run;
    const double total = total_of(d);
    if (total == 0) return refuse_draw(d);
    if (!isfinite(total)) return mg_kmeans_overflow(run);
    d->count = d->plus && d->chosen > 0 ? d->trials : 1;
    for (int64_t l = 0; l < d->count; l++)
        d->rows[l] =
            draw_row(d, total, (uint64_t)d->round << 40 | (uint64_t)d->chosen << 4 | (uint64_t)l);
    prepare_candidates(d);
    MG_TRY(pick_winner(d));
    MG_TRY(kmeans_visit(d, settle_block));
    memcpy(run->centres + d->chosen * run->n, d->candidates + d->winner * run->n,
           (size_t)run->n * sizeof *run->centres);
    d->centre_rows[d->chosen] = d->rows[d->winner];
    d->chosen++;
    return MARGIN_OK;
}

/* ---- Entry ----------------------------------------------------------------------------------- */

static margin_status start_draws(draws *d) {
    mg_kmeans_run *run = d->run;
    const mg_kmeans_task *task = run->task;
    d->block_count = (task->count + run->block_rows - 1) / run->block_rows;
    d->keeps = run->lanes || (!run->filter && run->n >= KEPT_COLUMNS);
    MG_TRY(MG_PIECES(
        &d->arena, "the start of k-means", task->error, MG_PIECE(d->block_sums, d->block_count),
        MG_PIECE(d->gains, d->block_count * MG_TILE), MG_PIECE(d->candidates, MG_TILE * run->n),
        MG_PIECE(d->tile.values, MG_TILE * run->n),
        MG_PIECE(d->tile.blocks, mg_tiles_square_numbers(1, run->n)),
        MG_PIECE(d->centre_rows, task->k), MG_PIECE(d->reach, task->k),
        MG_PIECE(d->strip, run->filter ? MG_FILTER_MEMBERS * run->n : 0),
        MG_PIECE(d->squares, d->keeps ? d->trials * task->count : 0),
        MG_PIECE(d->may, task->count)));
    d->tile.squares = d->tile.blocks + mg_tiles_square_numbers(1, run->n) - MG_TILE;
    memset(d->block_sums, 0, (size_t)d->block_count * sizeof *d->block_sums);
    for (int64_t i = 0; i < task->count; i++) {
        run->near[i] = 1;
        run->labels[i] = 0;
        d->block_sums[i / run->block_rows] += mg_kmeans_weight(run, i);
    }
    return MARGIN_OK;
}

margin_status mg_kmeans_choose(mg_kmeans_run *run, int64_t round) {
    const mg_kmeans_task *task = run->task;
    draws d = {.run = run,
               .round = round,
               .plus = task->start == MG_START_PLUS,
               .tile = run->tiles,
               .trials = MG_MIN(MG_TILE, 2 + (int64_t)log((double)task->k))};
    margin_status status;
    if (task->start == MG_START_GIVEN) {
        memcpy(run->centres, task->given, (size_t)(task->k * run->n) * sizeof *run->centres);
        return MARGIN_OK;
    }
    mg_arena_init(&d.arena, task->context->heap);
    MG_GO(start_draws(&d));
    while (d.chosen < task->k)
        MG_GO(choose_next(&d));
    status = MARGIN_OK;
done:
    mg_arena_free(&d.arena);
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
static bool bisect(mg_kmeans_run *run, int64_t *items, int64_t count, int64_t first, int64_t tiles,
                   int64_t *scratch) {
    if (tiles == 1) {
        fill_tile(run, items, count, first);
        return true;
    }
    const axis_order order = {run->centres, run->n,
                              widest_axis(run->centres, run->n, items, count)};
    const int64_t left = (tiles + 1) / 2, half = count * left / tiles;
    return mg_sort(run->task->context, items, count, scratch, before_on_axis, &order) &&
           bisect(run, items, half, first, left, scratch) &&
           bisect(run, items + half, count - half, first + left, tiles - left, scratch);
}

margin_status mg_kmeans_group(mg_kmeans_run *run) {
    const int64_t k = run->task->k;
    mg_heap *heap = run->task->context->heap;
    int64_t *items;
    MG_NEW(heap, items, 2 * k, "the order of the centres", run->task->error);
    for (int64_t c = 0; c < k; c++)
        items[c] = c;
    const bool done = bisect(run, items, k, 0, run->tile_count, items + k);
    mg_free(heap, items);
    if (!done) return mg_fail_cancelled(run->task->error);
    for (int64_t g = 0; g < run->tile_count; g++)
        mg_kmeans_pack(run, g);
    run->sift = run->filter != NULL;
    mg_kmeans_filter_pack(run);
    return MARGIN_OK;
}
