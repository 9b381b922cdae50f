/* Restarts, Lloyd's loop and empty clusters. */
#include "cluster/centres/kmeans.h"

#include <math.h>
#include <string.h>

enum { LEAST_BLOCK = 2048 };

/* ---- Empty clusters -------------------------------------------------------------------------- */

static margin_status distance_block(const mg_block *block, void *argument) {
    const mg_kmeans_run *run = argument;
    for (int64_t i = block->first; i < block->first + block->count; i++) {
        const mg_kmeans_point x = mg_kmeans_point_of(run, i, block->worker);
        const int64_t lane = run->lane[run->labels[i]];
        double squares[MG_TILE];
        mg_kmeans_distances(run, &x, &run->tiles, lane / MG_TILE, squares);
        run->near[i] = squares[lane % MG_TILE];
    }
    return MARGIN_OK;
}

/* The row farthest from its centre, the first of equals, whose cluster has others; -1: none. */
static int64_t farthest_row(const mg_kmeans_run *run) {
    int64_t farthest = -1;
    double square = 0;
    for (int64_t i = 0; i < run->task->count; i++) {
        if (!(run->near[i] > square)) continue;
        if (!(run->weights[run->labels[i]] > mg_kmeans_weight(run, i))) continue;
        square = run->near[i];
        farthest = i;
    }
    return farthest;
}

/* Row i becomes the centre of the empty cluster c. */
static void relocate(mg_kmeans_run *run, int64_t c, int64_t i) {
    const int64_t n = run->n, old = run->labels[i];
    const double *x = mg_kmeans_row(run, i, 0);
    const double weight = mg_kmeans_weight(run, i), rest = run->weights[old] - weight;
    for (int64_t j = 0; j < n; j++) {
        const double mean = run->means[old * n + j];
        run->means[old * n + j] = mean + (mean - x[j]) * (weight / rest);
        run->means[c * n + j] = x[j];
    }
    run->weights[old] = rest;
    run->weights[c] = weight;
    run->still[old] = run->still[c] = false;
    run->labels[i] = (int32_t)c;
    run->near[i] = 0;
    run->upper[i] = 0;
    for (int64_t g = 0; g < run->tile_count; g++)
        run->lower[i * run->tile_count + g] = 0; /* look at all of them next time */
}

static margin_status fill_empty(mg_kmeans_run *run, int64_t *filled) {
    const mg_kmeans_task *task = run->task;
    bool measured = false;
    *filled = 0;
    for (int64_t c = 0; c < task->k; c++) {
        if (run->weights[c] > 0) continue;
        if (!measured && mg_sweep_each(task->context, task->count, run->block_rows, distance_block,
                                       run, NULL) < 0)
            return mg_fail_cancelled(task->error);
        measured = true;
        const int64_t row = farthest_row(run);
        MG_REQUIRE(
            row >= 0, task->error, MG_DATA(FEW_ROWS),
            "the data has fewer different rows than the %lld clusters asked for, or rows too close "
            "for squares of distances; ask for fewer, or bring the columns to one scale "
            "first: minmax | ...",
            (long long)task->k);
        relocate(run, c, row);
        ++*filled;
    }
    return MARGIN_OK;
}

/* ---- One run --------------------------------------------------------------------------------- */

/* sum_c W_c |mean_c - centre_c|^2: what moving the centres gains. */
static double gain_of(const mg_kmeans_run *run) {
    double sum = 0;
    for (int64_t c = 0; c < run->task->k; c++)
        sum += run->weights[c] *
               mg_kmeans_square(run->means + c * run->n, run->centres + c * run->n, run->n);
    return sum;
}

static double relative(double gain, double inertia) {
    return gain > 0 ? gain / MG_MAX(inertia, gain) : 0;
}

/* Whether the gain is within the tolerance; without one only where nothing moves and the centres
 * are the means of all rows to the last bit. */
static margin_status is_done(mg_kmeans_run *run, int64_t moved, bool *done) {
    const mg_kmeans_task *task = run->task;
    const size_t bytes = (size_t)(task->k * run->n) * sizeof *run->means;
    *done = moved == 0 && run->whole && memcmp(run->means, run->centres, bytes) == 0;
    if (*done || !(task->tolerance > 0)) return MARGIN_OK;
    const double gain = gain_of(run);
    double inertia = 0; /* by rows: bounds do not tell it */
    MG_TRY(mg_sweep_each(task->context, task->count, run->block_rows, distance_block, run,
                         task->error));
    for (int64_t i = 0; i < task->count; i++)
        inertia += mg_kmeans_weight(run, i) * run->near[i];
    *done = relative(gain, inertia) <= task->tolerance;
    return MARGIN_OK;
}

/* Rows that one more step would move, for a run that was stopped; leaves centres and labels as they
 * are. */
static margin_status count_moves(mg_kmeans_run *run, double *kept, int64_t *moved) {
    const size_t bytes = (size_t)(run->task->k * run->n) * sizeof *kept;
    const size_t weight_bytes = (size_t)run->task->k * sizeof *kept;
    const size_t label_bytes = (size_t)run->task->count * sizeof *run->labels;
    double *weights = kept + run->task->k * run->n;
    memcpy(kept, run->centres, bytes);
    memcpy(weights, run->weights, weight_bytes);
    memcpy(run->kept_labels, run->labels, label_bytes);
    mg_kmeans_shift(run);
    run->fresh = run->whole = true;
    MG_TRY(mg_kmeans_assign(run, moved));
    memcpy(run->centres, kept, bytes);
    memcpy(run->weights, weights, weight_bytes);
    memcpy(run->labels, run->kept_labels, label_bytes);
    return MARGIN_OK;
}

/* The first pass of all is the longest, and an end takes two like it: one to measure, and one to
 * count what would move. The clock stops the iteration so much earlier. */
static margin_status first_pass(mg_kmeans_run *run, int64_t *moved) {
    const double before = mg_clock();
    MG_TRY(mg_kmeans_assign(run, moved));
    run->whole_pass = mg_clock() - before;
    run->stop.deadline -= 2 * run->whole_pass;
    return MARGIN_OK;
}

static margin_status kmeans_iterate(mg_kmeans_run *run, mg_kmeans_result *result) {
    const mg_kmeans_task *task = run->task;
    bool done = false;
    for (int64_t i = 0; i < task->count; i++)
        run->labels[i] = -1;
    run->fresh = run->whole = true;
    for (result->iterations = 0; !done; result->iterations++) {
        int64_t moved, filled;
        result->status = mg_stop_check(&run->stop, result->iterations);
        if (result->status < 0) return mg_fail_cancelled(task->error);
        if (result->status > 0) return MARGIN_OK;
        if (result->iterations > 0) mg_kmeans_shift(run);
        MG_TRY(run->whole_pass < 0 ? first_pass(run, &moved) : mg_kmeans_assign(run, &moved));
        MG_TRY(fill_empty(run, &filled));
        result->relocated += filled;
        if (filled == 0) MG_TRY(is_done(run, moved, &done));
        run->whole = filled > 0 || moved == 0 || moved > task->count / 4;
        mg_progress(task->context, "k-means", (double)result->iterations,
                    (double)task->max_iterations, (double)moved);
    }
    return MARGIN_OK;
}

static margin_status run_once(mg_kmeans_run *run, int64_t round, double *kept,
                              mg_kmeans_result *result) {
    int64_t moved = 0;
    *result = (mg_kmeans_result){.run = round};
    MG_TRY(mg_kmeans_choose(run, round));
    MG_TRY(mg_kmeans_group(run));
    MG_TRY(kmeans_iterate(run, result));
    if (result->status > 0 && result->iterations > 0) mg_kmeans_shift(run);
    MG_TRY(mg_kmeans_measure(run, &moved, &result->inertia, &result->second));
    result->gap = relative(gain_of(run), result->inertia);
    if (result->gap > 0) MG_TRY(count_moves(run, kept, &result->moved));
    return MARGIN_OK;
}

/* ---- All runs -------------------------------------------------------------------------------- */

/* A further run, unless time is up: then what the runs before it found stands. */
static margin_status run_again(mg_kmeans_run *run, int64_t round, double *kept,
                               mg_kmeans_result *found) {
    margin_status status = mg_stop_check(&run->stop, 0);
    if (status == MARGIN_OK) status = run_once(run, round, kept, found);
    if (status != MARGIN_STOPPED_TIME && !mg_timed_out(run->task->context, status)) return status;
    *found = (mg_kmeans_result){.status = MARGIN_STOPPED_TIME, .inertia = (double)INFINITY};
    return MARGIN_OK;
}

static margin_status make_sparse(mg_kmeans_run *run, mg_arena *arena) {
    const mg_kmeans_task *task = run->task;
    const int64_t n = run->n, squares = mg_tiles_square_numbers(run->tile_count, n);
    MG_TRY(MG_PIECES(
        arena, "k-means", task->error, MG_PIECE(run->tiles.blocks, squares),
        MG_PIECE(run->row_squares, task->count), MG_PIECE(run->old_labels, task->count),
        MG_PIECE(run->cluster_starts, task->k + 1), MG_PIECE(run->cluster_rows, 2 * task->count),
        MG_PIECE(run->cluster_weights, 2 * task->count)));
    run->tiles.squares = run->tiles.blocks + squares - run->tile_count * MG_TILE;
    run->tiles.block = mg_tiles_block(n);
    run->lanes = mg_row_lanes_for(task->x, mg_isa_level());
    for (int64_t i = 0; i < task->count; i++)
        run->row_squares[i] =
            mg_sparse_point_of(task->x, run->lanes, mg_kmeans_row_number(run, i)).square;
    return MARGIN_OK;
}

static margin_status make_run(const mg_kmeans_task *task, mg_kmeans_run *run, mg_arena *arena) {
    static const char purpose[] = "k-means";
    const int64_t n = task->x->columns, k = task->k;
    const int64_t all = MG_FILTER_GROUPS, least = mg_tile_count(k);
    const int64_t tiles = mg_kmeans_filters(task) ? (least + all - 1) / all * all : least;
    const bool expands = mg_is_csr(task->x) || task->x->value_type == MARGIN_F32;
    const int64_t workers = mg_threads(task->context);
    *run = (mg_kmeans_run){.task = task,
                           .stop = mg_stop_make(task->context, task->max_iterations),
                           .whole_pass = -1,
                           .n = n,
                           .tile_count = tiles,
                           .tiles = {.n = n, .distances = mg_tile_distances_for(mg_isa_level())},
                           .ops = mg_row_ops_for(task->x, mg_isa_level()),
                           .block_rows = LEAST_BLOCK};
    while (run->block_rows < 8 * k)
        run->block_rows *= 2;
    MG_TRY(MG_PIECES(arena, purpose, task->error, MG_PIECE(run->centres, k * n),
                     MG_PIECE(run->means, k * n), MG_PIECE(run->sums, k * n),
                     MG_PIECE(run->weights, k), MG_PIECE(run->tiles.values, tiles * MG_TILE * n),
                     MG_PIECE(run->order, tiles * MG_TILE), MG_PIECE(run->lane, k),
                     MG_PIECE(run->drift, tiles + k), MG_PIECE(run->labels, task->count),
                     MG_PIECE(run->kept_labels, task->count), MG_PIECE(run->upper, task->count),
                     MG_PIECE(run->lower, task->count * MG_MAX(tiles, (int64_t)MG_TILE)),
                     MG_PIECE(run->near, task->count), MG_PIECE(run->still, k)));
    memset(run->still, 0, (size_t)k * sizeof *run->still);
    if (expands) MG_ARENA_NEW(arena, run->rows, workers * n, purpose, task->error);
    if (mg_is_csr(task->x)) return make_sparse(run, arena);
    return mg_kmeans_filters(task) ? mg_kmeans_filter_make(run, arena) : MARGIN_OK;
}

margin_status mg_kmeans(const mg_kmeans_task *task, double *centres, double *weights,
                        int32_t *labels, mg_kmeans_result *result) {
    const int64_t numbers = task->k * task->x->columns;
    mg_kmeans_run run;
    double *kept;
    int64_t relocated = 0, runs = 0;
    bool ended = false;
    MG_SCOPED_ARENA(arena, task->context->heap);
    MG_TRY(make_run(task, &run, &arena));
    MG_ARENA_NEW(&arena, kept, numbers + task->k, "k-means", task->error);
    for (int64_t round = 0; round < task->restarts && !ended; round++) {
        mg_kmeans_result found;
        MG_TRY(round == 0 ? run_once(&run, round, kept, &found)
                          : run_again(&run, round, kept, &found));
        relocated += found.relocated;
        ended = found.status == MARGIN_STOPPED_TIME;
        runs += !ended;
        if (round == 0 || found.inertia < result->inertia) {
            *result = found;
            memcpy(centres, run.centres, (size_t)numbers * sizeof *centres);
            memcpy(weights, run.weights, (size_t)task->k * sizeof *weights);
            if (labels) memcpy(labels, run.labels, (size_t)task->count * sizeof *labels);
        }
    }
    if (ended) result->status = MARGIN_STOPPED_TIME;
    result->relocated = relocated;
    result->runs = runs;
    return MARGIN_OK;
}
