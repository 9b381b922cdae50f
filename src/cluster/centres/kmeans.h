/* k-means: minimise the inertia, sum_i w_i min_c |x_i - c|^2, over k centres.
 *
 * Lloyd's iteration (Lloyd, "Least squares quantization in PCM", 1982) from the starts of k-means++
 * (Arthur and Vassilvitskii, SODA 2007; of a few draws the one that gains most, as they suggest),
 * with the bounds of Yinyang k-means (Ding, Zhao, Shen, Musuvathi and Mytkowicz, ICML 2015): a row
 * keeps an upper bound of the distance to its centre and lower ones to groups of the others, and
 * only looks at groups that its bounds cannot rule out. Ours: a group is a tile of up to eight near
 * centres, whose distances are one vector operation a column; bounds are f32, rounded to the safe
 * side; a row with many groups left gets new bounds from a product in f32 with proven slack
 * (centre_filter.h), and exact distances only where that leaves a choice; the draws of k-means++
 * are pruned by the triangle inequality and the same product, which also judges, to a hundredth of
 * what a row gives, which candidate gains most. The result is that of the plain iteration from
 * these starts, and the same bytes for any number of threads.
 *
 * Sparse rows go through the same, without the product in f32: their distances are those of
 * centre_sparse.h, and only centres whose rows have changed are worked out anew.
 *
 *   kmeans.c         restarts, Lloyd's loop, empty clusters
 *   kmeans_start.c   the first centres
 *   kmeans_assign.c  one pass: nearest centres under bounds, sums of clusters
 *   kmeans_sums.c    the means of sparse rows
 *   kmeans_filter.c  the f32 product of rows and centres, and bounds from it */
#pragma once

#include "cluster/centres/centre_filter.h"
#include "cluster/centres/centre_sparse.h"
#include "data/matrix/matrix.h"
#include "math/rows/row_ops.h"

typedef enum mg_kmeans_start { MG_START_PLUS, MG_START_SAMPLE, MG_START_GIVEN } mg_kmeans_start;

/* Sample i is row index[i] of x (NULL: row i), x by rows and finite, with weight[i] > 0 (NULL: 1).
 */
typedef struct mg_kmeans_task {
    margin_context *context;
    const margin_matrix *x;
    const int64_t *index;
    int64_t count;
    const double *weight;
    int64_t k;
    mg_kmeans_start start;
    const double *given; /* START_GIVEN: k x columns */
    uint64_t seed;
    int64_t restarts; /* runs from different starts; the least inertia wins, ties to the first */
    int64_t max_iterations;
    double tolerance; /* see mg_kmeans_result.gap */
    margin_error *error;
} mg_kmeans_task;

typedef struct mg_kmeans_result {
    margin_status status; /* OK: gap <= tolerance; STOPPED_ITERATIONS, STOPPED_TIME */
    double inertia;
    double second; /* sum_i w_i (1 - a_i / b_i): a and b the distances to the nearest two centres */
    double gap;    /* what moving the centres to the means of their rows would gain, relative to
                      the inertia; 0 once no row changes its cluster */
    int64_t moved; /* rows that would change their cluster in a further step */
    int64_t iterations;
    int64_t relocated; /* clusters that were empty and got the farthest row */
    int64_t run;       /* the restart that won, from 0 */
    int64_t runs;      /* restarts that came to an end; fewer than asked for where time was up */
} mg_kmeans_result;

/* Fills centres (k x columns), weights (k, of the rows of each cluster) and, if not NULL, labels
 * (count). DATA: fewer different rows than clusters; squares or sums out of the range of numbers.
 * Memory: the tiles, 4 (k / 8 + 2) bytes and three labels a row, from 9 centres on at least 64
 * bytes and the rows once more in f32, with fewer and from 16 columns on up to 32 bytes; k x
 * columns numbers a thread. Of sparse rows up to 110 bytes more a row, and no numbers a thread but
 * those of a row. */
margin_status mg_kmeans(const mg_kmeans_task *task, double *centres, double *weights,
                        int32_t *labels, mg_kmeans_result *result);

/* ---- Between the files ----------------------------------------------------------------------- */

typedef struct mg_kmeans_run {
    const mg_kmeans_task *task;
    mg_stop stop;      /* of all restarts */
    double whole_pass; /* seconds the first took; < 0: there was none yet */
    int64_t n, tile_count;
    const mg_row_ops *ops;
    double *centres; /* k x n, in the order of the result */
    double *means;   /* k x n: of the rows of each cluster after a pass */
    double *sums;    /* k x n: of the rows of each cluster */
    double *weights; /* k */
    mg_tiles tiles;
    int32_t *order;  /* centre in each lane */
    int32_t *lane;   /* lane of each centre */
    float *drift;    /* tile_count: how far a centre of the tile has moved; then k: each centre */
    int32_t *labels; /* count */
    int32_t *kept_labels; /* count: while moves are counted */
    float *upper;         /* count: at least the distance to the own centre */
    float *lower; /* count x tile_count: at most the distance to another centre of the tile */
    double *near; /* count: squared distances while starting */
    double *rows; /* per worker: a row as f64 */
    bool *still;  /* k: centres that are the means of their rows already */
    int64_t block_rows;
    bool whole; /* the next pass adds up all rows, not only those that move */
    bool fresh; /* there are no bounds yet */

    /* Sparse rows. */
    const mg_row_lanes *lanes; /* NULL: dense */
    double *row_squares;       /* count: |x|^2 */
    int32_t *old_labels;       /* count: before a pass */
    int64_t *cluster_starts;   /* k + 1: of the rows of each cluster that go into its sums */
    int64_t *cluster_rows;     /* 2 count */
    double *cluster_weights;   /* 2 count: < 0: row leaves the cluster */

    /* The filter. */
    const mg_filter_ops *filter; /* NULL: none */
    bool sift;                   /* passes may use it */
    mg_filter_frame frame;
    int64_t members; /* of a group, at most */
    int64_t depth;   /* n, rounded up to a multiple of 4 */
    bool tiled;      /* as there are few centres, so that few rows can be left out: */
    float *points;   /* tiles of filter->rows rows side by side, else rows x depth */
    float *squares;  /* count */
    float *strip, *strip_start, *strip_share;
    float *sift_memory; /* per worker */
    int64_t sift_size;
} mg_kmeans_run;

MG_INLINE int64_t mg_kmeans_row_number(const mg_kmeans_run *run, int64_t i) {
    return run->task->index ? run->task->index[i] : i;
}
/* Row i as f64: the caller's memory, or copied to that of the worker. */
const double *mg_kmeans_row(const mg_kmeans_run *run, int64_t i, int worker);
/* What distances take of row i: of a dense one where it lies, as above. */
typedef struct mg_kmeans_point {
    const double *dense;
    mg_sparse_point sparse;
} mg_kmeans_point;
mg_kmeans_point mg_kmeans_point_of(const mg_kmeans_run *run, int64_t i, int worker);
MG_INLINE void mg_kmeans_distances(const mg_kmeans_run *run, const mg_kmeans_point *point,
                                   const mg_tiles *tiles, int64_t g, double out[MG_TILE]) {
    if (run->lanes)
        mg_sparse_distances(&point->sparse, tiles, g, out);
    else
        tiles->distances(point->dense, tiles->values + g * MG_TILE * tiles->n, tiles->n, out);
}
/* Fetches a row that comes so many rows later: the processor does not see which are read. */
enum { MG_KMEANS_AHEAD = 8 };
void mg_kmeans_fetch(const mg_kmeans_run *run, int64_t i);
double mg_kmeans_square(const double *a, const double *b, int64_t n);
MG_INLINE double mg_kmeans_weight(const mg_kmeans_run *run, int64_t i) {
    return run->task->weight ? run->task->weight[i] : 1.0;
}

/* Chooses the first centres. `round`: number of the restart. */
margin_status mg_kmeans_choose(mg_kmeans_run *run, int64_t round);
/* Refuses data whose squares or sums are no numbers. */
margin_status mg_kmeans_overflow(const mg_kmeans_run *run);
/* Groups near centres into tiles: sets order and lane, and packs. */
margin_status mg_kmeans_group(mg_kmeans_run *run);
/* Packs tile g of the centres. */
void mg_kmeans_pack(mg_kmeans_run *run, int64_t g);
/* Means of sparse rows after a pass that has labelled them; `changes`: the sums are there but for
 * the rows that moved. False: some are no numbers. */
margin_status mg_kmeans_sum(mg_kmeans_run *run, bool changes, bool *finite);
/* Labels every row, sums the clusters into means and weights; *moved: rows with a new label. */
margin_status mg_kmeans_assign(mg_kmeans_run *run, int64_t *moved);
/* The same without bounds, with inertia and second. */
margin_status mg_kmeans_measure(mg_kmeans_run *run, int64_t *moved, double *inertia,
                                double *second);
/* After centres became the means: how far each has moved, the bounds, tiles anew. */
void mg_kmeans_shift(mg_kmeans_run *run);

/* Whether the filter is of use; tile_count is then a multiple of MG_FILTER_GROUPS. */
bool mg_kmeans_filters(const mg_kmeans_task *task);
/* The rows in f32 and room for the rest; no filter where f32 cannot hold the data. */
margin_status mg_kmeans_filter_make(mg_kmeans_run *run, mg_arena *arena);
void mg_kmeans_filter_pack(mg_kmeans_run *run);

/* A tile of rows; arrays belong to the worker. */
typedef struct mg_kmeans_tile {
    const int64_t *rows;  /* their numbers */
    int64_t count;        /* at most filter->rows */
    const float *columns; /* depth x filter->rows */
    float *room;          /* for them */
    int worker;
    float *bounds; /* filter->rows x tile_count */
    mg_filter_found found;
} mg_kmeans_tile;
/* Room for tiles; the worker's scratch. */
void mg_kmeans_tile_init(const mg_kmeans_run *run, int worker, mg_kmeans_tile *tile);
/* Rows of a chunk that are to be looked at, in order. */
enum { MG_KMEANS_CHUNK = 1024 };
typedef struct mg_kmeans_list {
    int64_t count, at, kept, done; /* taken or kept for later up to `at`; of those kept taken */
    int64_t rows[MG_KMEANS_CHUNK];
} mg_kmeans_list;
/* Whether row i ends a tile as they are stored. */
MG_INLINE bool mg_kmeans_tile_ends(const mg_kmeans_run *run, int64_t i, int64_t end) {
    return run->tiled && (i + 1 == end || ((i + 1) & (run->filter->rows - 1)) == 0);
}
/* Then all rows of that tile are taken where half of them are in the list, as it costs less. */
void mg_kmeans_list_complete(const mg_kmeans_run *run, int64_t i, mg_kmeans_list *list);
/* Takes the next rows: tiles as they are stored, then others. False: there are none. */
bool mg_kmeans_tile_next(const mg_kmeans_run *run, mg_kmeans_list *list, mg_kmeans_tile *tile);
/* The product of these rows with all centres: fills in `found`. */
void mg_kmeans_cross(const mg_kmeans_run *run, mg_kmeans_tile *tile);

/* Lower bounds of all groups: row r of the tile at bounds + r x tile_count. */
void mg_kmeans_sift_bounds(const mg_kmeans_run *run, mg_kmeans_tile *tile);
/* New bounds of the rows. centre[r]: the nearest; -1: several may be, and then upper stays and
 * lower holds for the group of the least value, too. */
void mg_kmeans_sift(const mg_kmeans_run *run, mg_kmeans_tile *tile, int32_t *centre);
