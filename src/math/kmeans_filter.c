/* The filter in f32 for passes that have to look at many centres: the rows once, the centres after
 * each step. */
#include "base/sweep.h"
#include "math/kmeans.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    LEAST_CENTRES = 32,
    LEAST_COLUMNS = 4,
    MOST_COLUMNS = 1 << 16, /* the slack is proven while columns 2^-24 is small */
    MOST_EXPONENT = 50,     /* so that squares are within f32 and far from its denormal numbers */
    SAMPLE = 1024
};

static const float down = 1 - 1e-6F, up = 1 + 1e-6F;

/* ---- Rows ------------------------------------------------------------------------------------ */

/* The mean of a sample as origin, its spread as unit. False if f32 cannot hold them. */
static bool choose_frame(mg_kmeans_run *run, double *origin) {
    const int64_t n = run->n, count = run->task->count, sample = MG_MIN(count, (int64_t)SAMPLE);
    double spread = 0;
    int exponent;
    memset(origin, 0, (size_t)n * sizeof *origin);
    for (int64_t s = 0; s < sample; s++) {
        const double *x = mg_kmeans_row(run, s * (count / sample), 0);
        for (int64_t j = 0; j < n; j++)
            origin[j] += x[j] / (double)sample;
    }
    for (int64_t s = 0; s < sample; s++)
        spread += mg_kmeans_square(mg_kmeans_row(run, s * (count / sample), 0), origin, n);
    if (!(spread > 0 && spread < (double)INFINITY)) return false;
    (void)frexp(sqrt(spread / (double)sample), &exponent);
    if (exponent < -MOST_EXPONENT || exponent > MOST_EXPONENT) return false;
    run->frame = (mg_filter_frame){origin, ldexp(1, -exponent),
                                   (double)(n + 16) * 0x1.05p-24 /* c u, rounded up */, n};
    return true;
}

static margin_status point_block(const mg_block *block, void *argument) {
    const mg_kmeans_run *run = argument;
    for (int64_t i = block->first; i < block->first + block->count; i++)
        run->squares[i] = mg_filter_point(&run->frame, mg_kmeans_row(run, i, block->worker),
                                          run->points + i * run->n);
    return MARGIN_OK;
}

/* Whether there are enough centres for the filter. */
bool mg_kmeans_filters(const mg_kmeans_task *task) {
    return task->k >= LEAST_CENTRES && task->x->columns >= LEAST_COLUMNS &&
           task->x->columns <= MOST_COLUMNS;
}

static margin_status no_room(const mg_kmeans_run *run) {
    return mg_no_memory(run->task->context->heap, run->task->count * run->n, sizeof(float),
                        "k-means", run->task->error);
}

margin_status mg_kmeans_filter_make(mg_kmeans_run *run, mg_arena *arena) {
    const mg_kmeans_task *task = run->task;
    const int64_t n = run->n, groups = run->tile_count;
    const int64_t workers = mg_pool_threads(task->context->pool);
    double *origin = mg_arena_new(arena, n, sizeof *origin);
    if (!origin) return no_room(run);
    if (!choose_frame(run, origin)) return MARGIN_OK;
    run->sets = groups / MG_FILTER_GROUPS;
    run->strips = (task->k + groups - 1) / groups;
    const int64_t lanes = groups * run->strips;
    run->sift_size = MG_FILTER_MOST_ROWS * (n + lanes + 2 * groups) + groups;
    run->points = mg_arena_new(arena, task->count * n, sizeof *run->points);
    run->squares = mg_arena_new(arena, task->count, sizeof *run->squares);
    run->strip = mg_arena_new(arena, lanes * n, sizeof *run->strip);
    run->strip_start = mg_arena_new(arena, lanes, sizeof *run->strip_start);
    run->strip_share = mg_arena_new(arena, lanes, sizeof *run->strip_share);
    run->sift_memory = mg_arena_new(arena, workers * run->sift_size, sizeof *run->sift_memory);
    const bool there = run->points && run->squares && run->strip && run->strip_start &&
                       run->strip_share && run->sift_memory;
    if (!there) return no_room(run);
    run->filter = mg_filter_ops_for(mg_isa_level());
    return mg_sweep_each(task->context, task->count, run->block_rows, point_block, run) < 0
               ? mg_fail_cancelled(task->error)
               : MARGIN_OK;
}

/* ---- Centres --------------------------------------------------------------------------------- */

void mg_kmeans_filter_pack(mg_kmeans_run *run) {
    if (run->sift)
        run->sift =
            mg_filter_pack(&run->frame, run->centres, run->order, MG_TILE, run->sets, run->strips,
                           run->strip, run->strip_start, run->strip_share, run->sift_memory);
}

/* ---- Tiles of rows --------------------------------------------------------------------------- */

mg_kmeans_tile mg_kmeans_tile_of(const mg_kmeans_run *run, int worker) {
    const int64_t n = run->n, groups = run->tile_count, rows = MG_FILTER_MOST_ROWS;
    mg_kmeans_tile tile = {.rows = run->sift_memory + worker * run->sift_size};
    tile.values = tile.rows + rows * n;
    tile.least = tile.values + rows * groups * run->strips;
    tile.next = tile.least + rows * groups;
    tile.bounds = tile.next + rows * groups;
    return tile;
}

const float *mg_kmeans_tile_rows(const mg_kmeans_run *run, const int64_t *rows, int64_t count,
                                 mg_kmeans_tile *tile) {
    const int64_t n = run->n, all = run->filter->rows;
    if (count == all && rows[count - 1] - rows[0] == count - 1) return run->points + rows[0] * n;
    for (int64_t r = 0; r < all; r++)
        memcpy(tile->rows + r * n, run->points + rows[MG_MIN(r, count - 1)] * n,
               (size_t)n * sizeof *tile->rows);
    return tile->rows;
}

void mg_kmeans_cross(const mg_kmeans_run *run, const int64_t *rows, int64_t count,
                     mg_kmeans_tile *tile) {
    run->filter->cross(mg_kmeans_tile_rows(run, rows, count, tile), run->n, run->strip,
                       run->strip_start, run->sets, run->strips, tile->values, tile->least,
                       tile->next);
}

/* The group of the least value, and the least value of another one: no branches to guess. */
static int64_t least_group(const float *least, int64_t groups, float *other) {
    float first = least[0], second = FLT_MAX;
    int32_t best = 0;
    for (int32_t g = 1; g < (int32_t)groups; g++) {
        const float v = least[g], larger = v < first ? first : v;
        best = v < first ? g : best;
        first = v < first ? v : first;
        second = larger < second ? larger : second;
    }
    *other = second;
    return best;
}

/* Lower bounds to all groups; false if the row is too far for f32. */
static bool bound_groups(const mg_kmeans_run *run, const mg_kmeans_tile *tile, int64_t r,
                         int64_t row, float *lower) {
    const int64_t groups = run->tile_count;
    const float square = run->squares[row], back = (float)(1 / run->frame.scale);
    if (square < INFINITY)
        run->filter->bound(tile->least + r * groups, groups,
                           square - mg_filter_slack(&run->frame, square), back * down, lower);
    else
        memset(lower, 0, (size_t)groups * sizeof *lower);
    return square < INFINITY;
}

int64_t mg_kmeans_sift_bounds(const mg_kmeans_run *run, const mg_kmeans_tile *tile, int64_t r,
                              int64_t row, float *lower) {
    float other;
    (void)bound_groups(run, tile, r, row, lower);
    return least_group(tile->least + r * run->tile_count, run->tile_count, &other);
}

/* The member of a group with the least value, its number among all strips. */
static int64_t least_strip(const mg_kmeans_run *run, const mg_kmeans_tile *tile, int64_t r,
                           int64_t group, float least) {
    const int64_t first = group / MG_FILTER_GROUPS * run->strips;
    const float *values = tile->values + r * run->sets * run->strips * MG_FILTER_GROUPS +
                          first * MG_FILTER_GROUPS + group % MG_FILTER_GROUPS;
    int32_t strip = 0;
    for (int32_t t = 1; t < (int32_t)run->strips; t++)
        strip = values[t * MG_FILTER_GROUPS] == least ? t : strip;
    return first + strip;
}

mg_kmeans_sifted mg_kmeans_sift(const mg_kmeans_run *run, const mg_kmeans_tile *tile, int64_t r,
                                int64_t row, float *lower, float *upper) {
    const int64_t groups = run->tile_count;
    const float *least = tile->least + r * groups, *next = tile->next + r * groups;
    const float square = run->squares[row], back = (float)(1 / run->frame.scale);
    const float slack = mg_filter_slack(&run->frame, square);
    float other;
    const int64_t g = least_group(least, groups, &other), lane = g % MG_FILTER_GROUPS;
    mg_kmeans_sifted found = {-1, g};
    if (!bound_groups(run, tile, r, row, lower)) return found;
    const int64_t strip = least_strip(run, tile, r, g, least[g]);
    const float share = run->strip_share[strip * MG_FILTER_GROUPS + lane];
    /* at most this is |b|^2 - 2 a.b of the best, and at least `rest` that of others */
    const float most = least[g] + (2 * share + slack) + fabsf(least[g]) * 0x1p-20F;
    const float rest = MG_MIN(other, next[g]) - slack;
    if (!(most + fabsf(most) * 0x1p-20F < rest - fabsf(rest) * 0x1p-20F)) return found;
    found.centre = run->order[g * MG_TILE + strip % run->strips];
    run->filter->bound(next + g - lane, MG_FILTER_GROUPS, square - slack, back * down,
                       tile->bounds);
    lower[g] = tile->bounds[lane];
    *upper = sqrtf(MG_MAX(most + square, 0.0F) + square * 0x1p-20F) * back * up + FLT_MIN;
    return found;
}
