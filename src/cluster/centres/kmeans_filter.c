/* The filter in f32 for passes that have to look at many centres: the rows once, the centres after
 * each step. */
#include "cluster/centres/kmeans.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    LEAST_CENTRES = MG_TILE + 1,
    MOST_CENTRES = 1 << 20, /* places are numbers in f32 */
    LEAST_COLUMNS = 4,
    MOST_COLUMNS = 1 << 16, /* the slack is proven while columns 2^-24 is small */
    MOST_EXPONENT = 50,     /* so that squares are within f32 and far from its denormal numbers */
    SAMPLE = 1024,
    TILED_CENTRES = 32 /* up to here few rows are left out of a pass */
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

/* Row i in f32; `fresh`: it and its square are found for the first time. */
static void make_point(const mg_kmeans_run *run, int64_t i, int worker, bool fresh, float *point) {
    const double *x = mg_kmeans_row(run, i, worker);
    memset(point + run->n, 0, (size_t)(run->depth - run->n) * sizeof *point);
    if (fresh)
        run->squares[i] = mg_filter_point(&run->frame, x, point);
    else if (run->squares[i] < INFINITY)
        run->filter->round(&run->frame, x, point);
    else
        memset(point, 0, (size_t)run->depth * sizeof *point);
}

/* Rows side by side; those up to `listed` are read soon. */
static void make_tile(const mg_kmeans_run *run, const int64_t *rows, int64_t count, int64_t listed,
                      int worker, bool fresh, float *to) {
    const int64_t all = run->filter->rows, depth = run->depth;
    float *room = run->sift_memory + worker * run->sift_size;
    const float *at[MG_FILTER_MOST_ROWS];
    for (int64_t r = 0; r < all; r++) {
        at[r] = run->tiled ? room + MG_MIN(r, count - 1) * depth
                           : run->points + rows[MG_MIN(r, count - 1)] * depth;
        if (!run->tiled || r >= count) continue;
        if (r + MG_KMEANS_AHEAD < listed) mg_kmeans_fetch(run, rows[r + MG_KMEANS_AHEAD]);
        make_point(run, rows[r], worker, fresh, room + r * depth);
    }
    run->filter->load(at, depth, to);
    for (int64_t r = all; r < MG_MIN(listed, 2 * all) && !run->tiled; r++)
        mg_fetch(run->points + rows[r] * depth, 0, depth * (int64_t)sizeof(float));
}

static margin_status point_block(const mg_block *block, void *argument) {
    const mg_kmeans_run *run = argument;
    const int64_t all = run->filter->rows, end = block->first + block->count;
    int64_t rows[MG_FILTER_MOST_ROWS];
    for (int64_t i = block->first; i < end && !run->tiled; i++)
        make_point(run, i, block->worker, true, run->points + i * run->depth);
    for (int64_t i = block->first; i < end && run->tiled; i += all) {
        for (int64_t r = 0; r < all; r++)
            rows[r] = i + r;
        make_tile(run, rows, MG_MIN(all, end - i), 0, block->worker, true,
                  run->points + i * run->depth);
    }
    return MARGIN_OK;
}

/* Whether there are enough centres for the filter. */
bool mg_kmeans_filters(const mg_kmeans_task *task) {
    return !mg_is_csr(task->x) && task->k >= LEAST_CENTRES && task->x->columns >= LEAST_COLUMNS &&
           task->k <= MOST_CENTRES && task->x->columns <= MOST_COLUMNS;
}

margin_status mg_kmeans_filter_make(mg_kmeans_run *run, mg_arena *arena) {
    const mg_kmeans_task *task = run->task;
    const int64_t n = run->n, groups = run->tile_count;
    const int64_t workers = mg_threads(task->context);
    double *origin;
    MG_ARENA_NEW(arena, origin, n, "k-means", task->error);
    if (!choose_frame(run, origin)) return MARGIN_OK;
    run->depth = (n + 3) / 4 * 4;
    run->members = (task->k + groups - 1) / groups;
    const int64_t lanes = groups * run->members;
    const mg_filter_ops *ops = mg_filter_ops_for(mg_isa_level());
    const int64_t rows = (task->count + ops->rows - 1) / ops->rows * ops->rows;
    run->sift_size = MG_FILTER_MOST_ROWS * (2 * run->depth + 3 * groups);
    MG_TRY(MG_PIECES(arena, "k-means", task->error, MG_PIECE(run->points, rows * run->depth),
                     MG_PIECE(run->squares, task->count), MG_PIECE(run->strip, lanes * n),
                     MG_PIECE(run->strip_start, lanes), MG_PIECE(run->strip_share, lanes),
                     MG_PIECE(run->sift_memory, workers * run->sift_size)));
    run->filter = ops;
    run->tiled = task->k <= TILED_CENTRES;
    return mg_sweep_each(task->context, task->count, run->block_rows, point_block, run,
                         task->error);
}

/* ---- Centres --------------------------------------------------------------------------------- */

void mg_kmeans_filter_pack(mg_kmeans_run *run) {
    if (run->sift)
        run->sift = mg_filter_pack(&run->frame, run->centres, run->order, MG_TILE, run->tile_count,
                                   run->members, run->strip, run->strip_start, run->strip_share,
                                   run->sift_memory);
}

/* ---- Tiles of rows --------------------------------------------------------------------------- */

void mg_kmeans_tile_init(const mg_kmeans_run *run, int worker, mg_kmeans_tile *tile) {
    const int64_t rows = MG_FILTER_MOST_ROWS;
    tile->worker = worker;
    tile->room = run->sift_memory + worker * run->sift_size + rows * run->depth;
    tile->found.least = tile->room + rows * run->depth;
    tile->found.next = tile->found.least + rows * run->tile_count;
    tile->bounds = tile->found.next + rows * run->tile_count;
}

void mg_kmeans_list_complete(const mg_kmeans_run *run, int64_t i, mg_kmeans_list *list) {
    const int64_t all = run->filter->rows, first = i / all * all;
    int64_t begin = list->count;
    while (begin > 0 && list->rows[begin - 1] >= first)
        begin--;
    if (2 * (list->count - begin) < all) return;
    for (int64_t row = first; row <= i; row++)
        list->rows[begin++] = row;
    list->count = begin;
}

bool mg_kmeans_tile_next(const mg_kmeans_run *run, mg_kmeans_list *list, mg_kmeans_tile *tile) {
    const int64_t all = run->filter->rows, *rows = list->rows;
    for (; list->at < list->count; list->at++) {
        const int64_t *here = rows + list->at, left = list->count - list->at;
        const int64_t whole = MG_MIN(all, run->task->count - *here);
        if (run->tiled && *here % all == 0 && left >= whole &&
            here[whole - 1] == *here + whole - 1) {
            tile->rows = here;
            tile->count = whole;
            tile->columns = run->points + *here * run->depth;
            list->at += whole;
            return true;
        }
        list->rows[list->kept++] = *here;
    }
    tile->rows = rows + list->done;
    tile->count = MG_MIN(all, list->kept - list->done);
    tile->columns = tile->room;
    if (tile->count == 0) return false;
    make_tile(run, tile->rows, tile->count, list->kept - list->done, tile->worker, false,
              tile->room);
    list->done += tile->count;
    return true;
}

void mg_kmeans_cross(const mg_kmeans_run *run, mg_kmeans_tile *tile) {
    run->filter->nearest(tile->columns, run->n, run->strip, run->strip_start, run->tile_count,
                         run->members, &tile->found);
}

/* |a|^2 - e_a; where f32 does not reach the row that makes every bound 0. */
static float shift_of(const mg_kmeans_run *run, float square) {
    return square < INFINITY ? square - mg_filter_slack(&run->frame, square) : -INFINITY;
}

void mg_kmeans_sift_bounds(const mg_kmeans_run *run, mg_kmeans_tile *tile) {
    const int64_t all = run->filter->rows;
    float shift[MG_FILTER_MOST_ROWS], home[MG_FILTER_MOST_ROWS], *bound[MG_FILTER_MOST_ROWS];
    for (int64_t r = 0; r < all; r++) {
        shift[r] = shift_of(run, run->squares[tile->rows[MG_MIN(r, tile->count - 1)]]);
        home[r] = -1;
        bound[r] = tile->bounds + r * run->tile_count;
    }
    run->filter->bounds(&tile->found, run->tile_count, home, shift,
                        (float)(1 / run->frame.scale) * down, bound);
}

/* The nearest centre of row r of the tile, if its value is below the others' by more than what
 * rounding can do. */
static int32_t kmeans_settle(const mg_kmeans_run *run, const mg_kmeans_tile *tile, int64_t r,
                             float square, float *upper) {
    const float first = tile->found.first[r], second = tile->found.second[r];
    const int64_t place = (int64_t)tile->found.place[r];
    const float back = (float)(1 / run->frame.scale);
    const float slack = mg_filter_slack(&run->frame, square);
    const float share =
        run->strip_share[place / MG_FILTER_MEMBERS * run->members + place % MG_FILTER_MEMBERS];
    /* at most this is |b|^2 - 2 a.b of the best, and at least `rest` that of others */
    const float most = first + (2 * share + slack) + fabsf(first) * 0x1p-20F;
    const float rest = second - slack;
    if (!(square < INFINITY)) return -1;
    if (!(most + fabsf(most) * 0x1p-20F < rest - fabsf(rest) * 0x1p-20F)) return -1;
    *upper = sqrtf(MG_MAX(most + square, 0.0F) + square * 0x1p-20F) * back * up + FLT_MIN;
    return run->order[place];
}

void mg_kmeans_sift(const mg_kmeans_run *run, mg_kmeans_tile *tile, int32_t *centre) {
    const int64_t all = run->filter->rows, groups = run->tile_count;
    float shift[MG_FILTER_MOST_ROWS], home[MG_FILTER_MOST_ROWS], *lower[MG_FILTER_MOST_ROWS];
    for (int64_t r = 0; r < all; r++) {
        shift[r] = home[r] = -1;
        lower[r] = tile->bounds;
        if (r >= tile->count) continue;
        const int64_t i = tile->rows[r];
        const float square = run->squares[i];
        centre[r] = kmeans_settle(run, tile, r, square, &run->upper[i]);
        if (centre[r] >= 0) home[r] = (float)((int64_t)tile->found.place[r] / MG_FILTER_MEMBERS);
        shift[r] = shift_of(run, square);
        lower[r] = run->lower + i * groups;
    }
    run->filter->bounds(&tile->found, groups, home, shift, (float)(1 / run->frame.scale) * down,
                        lower);
}
