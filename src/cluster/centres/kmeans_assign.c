/* One pass of Lloyd's iteration: nearest centres, and the sums of the clusters. */
#include "cluster/centres/kmeans.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Bounds are f32: factors that cover what rounding does, to the safe side. */
static const double up = 1 + 1e-6, down = 1 - 1e-6;

const double *mg_kmeans_row(const mg_kmeans_run *run, int64_t i, int worker) {
    const int64_t row = mg_kmeans_row_number(run, i);
    const margin_matrix *x = run->task->x;
    if (!run->rows) return (const double *)x->values + row * x->stride;
    double *out = run->rows + worker * run->n;
    mg_row_expand(x, row, out);
    return out;
}

mg_kmeans_point mg_kmeans_point_of(const mg_kmeans_run *run, int64_t i, int worker) {
    if (!run->lanes) return (mg_kmeans_point){.dense = mg_kmeans_row(run, i, worker)};
    return (mg_kmeans_point){
        .sparse = {run->task->x, run->lanes, mg_kmeans_row_number(run, i), run->row_squares[i]}};
}

void mg_kmeans_fetch(const mg_kmeans_run *run, int64_t i) {
    const margin_matrix *x = run->task->x;
    const int64_t row = mg_kmeans_row_number(run, i);
    const int64_t size = mg_type_size(x->value_type);
    if (run->lanes) return; /* sparse rows are short */
    mg_fetch((const char *)x->values + row * x->stride * size, 0, MG_MIN(run->n * size, 1024));
}

double mg_kmeans_square(const double *a, const double *b, int64_t n) {
    double sum = 0;
    for (int64_t j = 0; j < n; j++)
        sum += (a[j] - b[j]) * (a[j] - b[j]);
    return sum;
}

/* ---- Nearest centre -------------------------------------------------------------------------- */

/* The nearest centre so far, ties to the lower number; and the second distance. */
typedef struct nearest {
    double square, second;
    int32_t centre;
} nearest;

enum { HALF = MG_TILE / 2 };

/* Distances to one tile; *least of the tile, *next: the least but that of the tile's nearest. */
typedef struct tile_view {
    double least, next;
    int32_t centre; /* nearest in the tile */
} tile_view;

static tile_view look(const mg_kmeans_run *run, const mg_kmeans_point *x, int64_t g) {
    double squares[MG_TILE];
    const int32_t *order = run->order + g * MG_TILE;
    mg_kmeans_distances(run, x, &run->tiles, g, squares);
    /* no branches: nobody foresees them; lanes without a centre are last */
    double least[MG_TILE], next[MG_TILE];
    uint32_t centre = UINT32_MAX;
    for (int l = 0; l < HALF; l++) {
        least[l] = MG_MIN(squares[l], squares[l + HALF]);
        next[l] = MG_MAX(squares[l], squares[l + HALF]);
    }
    for (int half = HALF / 2; half > 0; half /= 2)
        for (int l = 0; l < half; l++) {
            const double greater = MG_MAX(least[l], least[l + half]);
            next[l] = MG_MIN(MG_MIN(next[l], next[l + half]), greater);
            least[l] = MG_MIN(least[l], least[l + half]);
        }
    for (int l = 0; l < MG_TILE; l++) {
        const uint32_t here = squares[l] == least[0] ? (uint32_t)order[l] : UINT32_MAX;
        centre = MG_MIN(centre, here);
    }
    return (tile_view){least[0], next[0], (int32_t)centre};
}

static bool assign_take(nearest *best, const tile_view *view) {
    const bool better =
        view->least < best->square || (view->least == best->square && view->centre < best->centre);
    if (better) {
        best->second = MG_MIN(best->square, view->next);
        best->square = view->least;
        best->centre = view->centre;
    } else {
        best->second = MG_MIN(best->second, view->least);
    }
    return better;
}

/* Looks at every tile. */
static nearest look_everywhere(const mg_kmeans_run *run, const mg_kmeans_point *x) {
    nearest best = {(double)INFINITY, (double)INFINITY, INT32_MAX};
    for (int64_t g = 0; g < run->tile_count; g++) {
        const tile_view view = look(run, x, g);
        assign_take(&best, &view);
    }
    return best;
}

static float lower_bound(double square) {
    return (float)MG_MIN(sqrt(square) * down, (double)FLT_MAX);
}
static float upper_bound(double square) {
    return (float)(sqrt(square) * up) + FLT_MIN;
}

/* Without bounds to begin with. */
static int32_t label_fresh(const mg_kmeans_run *run, const mg_kmeans_point *x, float *lower,
                           float *upper) {
    nearest best = {(double)INFINITY, (double)INFINITY, INT32_MAX};
    double next = (double)INFINITY;
    int64_t home = 0;
    for (int64_t g = 0; g < run->tile_count; g++) {
        const tile_view view = look(run, x, g);
        lower[g] = lower_bound(view.least);
        if (!assign_take(&best, &view)) continue;
        home = g;
        next = view.next;
    }
    lower[home] = lower_bound(next);
    *upper = upper_bound(best.square);
    return best.centre;
}

/* Bounds after the centres have moved; how many groups may hold a centre within `reach`. */
static int64_t move_bounds(const mg_kmeans_run *run, float *lower, float reach) {
    int64_t near = 0;
    if (run->filter)
        return run->filter->drift(lower, run->drift, run->tile_count, (float)down, reach);
    for (int64_t g = 0; g < run->tile_count; g++) {
        lower[g] = (lower[g] - run->drift[g]) * (float)down;
        near += lower[g] <= reach;
    }
    return near;
}

/* Looks at tile `home` and at those that the bounds leave. */
static int32_t label_looking(const mg_kmeans_run *run, const mg_kmeans_point *x, int64_t home,
                             float *lower, float *upper) {
    const int64_t first = home;
    tile_view view = look(run, x, home);
    nearest best = {view.least, view.next, view.centre};
    double next = view.next;
    float reach = upper_bound(best.square);
    for (int64_t g = 0; g < run->tile_count; g++) {
        if (g == first || !(lower[g] <= reach)) continue;
        view = look(run, x, g);
        lower[g] = lower_bound(view.least);
        const double old = best.square;
        if (!assign_take(&best, &view)) continue;
        lower[home] = lower_bound(old); /* the tile left behind: its nearest was the best */
        home = g;
        next = view.next;
        reach = upper_bound(best.square);
    }
    lower[home] = lower_bound(next);
    *upper = reach;
    return best.centre;
}

/* ---- Rows of a chunk ------------------------------------------------------------------------- */

enum { CHUNK = MG_KMEANS_CHUNK };

/* A state: moved, inertia, second, rows sifted, those of them with a choice left, rows without a
 * nearest centre; weights of the clusters; their sums. */
enum { MOVED, INERTIA, SECOND, SIFTED, TIED, LOST, HEAD = 8 };

typedef struct chunk {
    const mg_kmeans_run *run;
    const margin_context *context; /* once it is cancelled the rest of the chunk is left */
    int64_t first, count;
    int worker;
    int32_t labels[CHUNK];
    mg_kmeans_list list; /* that wait for the filter */
} chunk;

static float *lower_of(const mg_kmeans_run *run, int64_t i) {
    return run->lower + i * run->tile_count;
}

/* Whether a product with all centres is less work than looking at the groups that are left. In
 * vector operations a row: a look takes two a column and about 40 more, the product one for 16
 * centres and column, and about 5 for them. */
static bool product_pays(const mg_kmeans_run *run, int64_t left) {
    return (left + 1) * (4 * run->n + 80) > run->tile_count * run->members * (run->n + 10) / 16;
}

/* Labels row i, or has it wait for the filter. */
static void label_row(chunk *c, int64_t i) {
    const mg_kmeans_run *run = c->run;
    float *lower = lower_of(run, i), *upper = &run->upper[i];
    int32_t *label = &c->labels[i - c->first];
    if (run->fresh && run->sift) {
        c->list.rows[c->list.count++] = i;
        return;
    }
    if (run->fresh) {
        const mg_kmeans_point x = mg_kmeans_point_of(run, i, c->worker);
        *label = label_fresh(run, &x, lower, upper);
        return;
    }
    *label = run->labels[i];
    *upper = (*upper + run->drift[run->tile_count + *label]) * (float)up;
    const int64_t left = move_bounds(run, lower, *upper);
    if (left == 0) return;
    if (run->sift && product_pays(run, left)) {
        c->list.rows[c->list.count++] = i;
        return;
    }
    const mg_kmeans_point x = mg_kmeans_point_of(run, i, c->worker);
    *label = label_looking(run, &x, run->lane[*label] / MG_TILE, lower, upper);
}

/* Labels the rows that wait. */
static void label_waiting(chunk *c, double *sums) {
    const mg_kmeans_run *run = c->run;
    mg_kmeans_tile tile;
    int32_t centre[MG_FILTER_MOST_ROWS];
    if (c->list.count == 0) return;
    sums[SIFTED] += (double)c->list.count;
    mg_kmeans_tile_init(run, c->worker, &tile);
    while (!mg_cancelled(c->context) && mg_kmeans_tile_next(run, &c->list, &tile)) {
        mg_kmeans_cross(run, &tile);
        mg_kmeans_sift(run, &tile, centre);
        for (int64_t r = 0; r < tile.count; r++) {
            const int64_t i = tile.rows[r];
            c->labels[i - c->first] = centre[r];
            if (centre[r] >= 0) continue;
            sums[TIED]++;
            const mg_kmeans_point x = mg_kmeans_point_of(run, i, c->worker);
            c->labels[i - c->first] =
                label_looking(run, &x, (int64_t)tile.found.place[r] / MG_FILTER_MEMBERS,
                              lower_of(run, i), &run->upper[i]);
        }
    }
}

static void label_chunk(chunk *c, double *sums) {
    const mg_kmeans_run *run = c->run;
    const int64_t end = c->first + c->count;
    for (int64_t i = c->first; i < end && !mg_cancelled(c->context); i++) {
        label_row(c, i);
        if (c->list.count > 0 && mg_kmeans_tile_ends(run, i, end))
            mg_kmeans_list_complete(run, i, &c->list);
    }
    label_waiting(c, sums);
}

/* ---- Measuring ------------------------------------------------------------------------------- */

/* The nearest two of row r of a tile: as look_everywhere, but for groups that are certainly
 * farther; first those with the least bounds. */
static nearest look_sifted(const mg_kmeans_run *run, mg_kmeans_tile *tile, int64_t r,
                           const mg_kmeans_point *x) {
    const int64_t first = (int64_t)tile->found.place[r] / MG_FILTER_MEMBERS;
    float *bounds = tile->bounds + r * run->tile_count;
    const tile_view home = look(run, x, first);
    nearest best = {home.least, home.next, home.centre};
    bounds[first] = INFINITY;
    for (;;) {
        int64_t g = 0;
        for (int64_t other = 1; other < run->tile_count; other++)
            g = bounds[other] < bounds[g] ? other : g;
        if (bounds[g] == INFINITY || (double)bounds[g] > sqrt(best.second)) return best;
        const tile_view view = look(run, x, g);
        assign_take(&best, &view);
        bounds[g] = INFINITY;
    }
}

static void add_measured(const mg_kmeans_run *run, chunk *c, int64_t i, nearest best,
                         double *sums) {
    const double weight = mg_kmeans_weight(run, i);
    sums[INERTIA] += weight * best.square;
    if (best.second > 0 && best.second < (double)INFINITY)
        sums[SECOND] += weight * (1 - sqrt(best.square / best.second));
    c->labels[i - c->first] = best.centre;
}

static void measure_chunk(chunk *c, double *sums) {
    const mg_kmeans_run *run = c->run;
    if (!run->sift) {
        for (int64_t i = c->first; i < c->first + c->count && !mg_cancelled(c->context); i++) {
            const mg_kmeans_point x = mg_kmeans_point_of(run, i, c->worker);
            add_measured(run, c, i, look_everywhere(run, &x), sums);
        }
        return;
    }
    mg_kmeans_tile tile;
    mg_kmeans_tile_init(run, c->worker, &tile);
    for (int64_t i = 0; i < c->count; i++)
        c->list.rows[c->list.count++] = c->first + i;
    while (!mg_cancelled(c->context) && mg_kmeans_tile_next(run, &c->list, &tile)) {
        mg_kmeans_cross(run, &tile);
        mg_kmeans_sift_bounds(run, &tile);
        for (int64_t r = 0; r < tile.count; r++) {
            const mg_kmeans_point x = mg_kmeans_point_of(run, tile.rows[r], c->worker);
            add_measured(run, c, tile.rows[r], look_sifted(run, &tile, r, &x), sums);
        }
    }
}

/* ---- Sums of clusters ------------------------------------------------------------------------ */

typedef struct pass {
    mg_kmeans_run *run;
    bool measure;
    bool changes; /* the sums are what changes in them: of rows that move */
} pass;

static int64_t state_numbers(const mg_kmeans_run *run) {
    return HEAD + run->task->k * (run->lanes ? 1 : run->n + 1);
}

/* Takes the labels of a chunk over, and adds up its rows. One whose distances are no numbers has
 * the label of no centre, and the pass fails. */
static void assign_add_chunk(const pass *p, const chunk *c, double *sums) {
    mg_kmeans_run *run = p->run;
    const margin_matrix *x = run->task->x;
    const int64_t n = run->n;
    double *weights = sums + HEAD, *totals = weights + run->task->k;
    for (int64_t i = c->first; i < c->first + c->count; i++) {
        const double weight = mg_kmeans_weight(run, i);
        const int32_t old = run->labels[i], label = c->labels[i - c->first];
        const int64_t row = mg_kmeans_row_number(run, i);
        if (label < 0 || label >= run->task->k) {
            sums[LOST]++;
            continue;
        }
        run->labels[i] = label;
        weights[label] += weight;
        if (run->lanes) {
            run->old_labels[i] = old; /* summed up by mg_kmeans_sum */
        } else if (!p->changes) {
            run->ops->add(x, row, weight, totals + label * n);
        } else if (label != old) {
            run->ops->add(x, row, weight, totals + label * n);
            run->ops->add(x, row, -weight, totals + old * n);
        }
        sums[MOVED] += label != old;
    }
}

static margin_status assign_add_block(void *state, const mg_block *block, void *argument) {
    const pass *p = argument;
    const int64_t end = block->first + block->count;
    for (int64_t i = block->first; i < end; i += CHUNK) {
        chunk c;
        c.run = p->run;
        c.context = p->run->task->context;
        c.first = i;
        c.count = MG_MIN(end - i, (int64_t)CHUNK);
        c.list.count = c.list.at = c.list.kept = c.list.done = 0;
        c.worker = block->worker;
        if (p->measure)
            measure_chunk(&c, state);
        else
            label_chunk(&c, state);
        if (mg_cancelled(c.context)) return MARGIN_ERROR_CANCELLED;
        assign_add_chunk(p, &c, state);
    }
    return MARGIN_OK;
}

static margin_status kmeans_sweep(pass *p, double *state) {
    const mg_kmeans_run *run = p->run;
    return mg_sweep_sums(run->task->context, run->task->count, run->block_rows, state_numbers(run),
                         0, assign_add_block, p, state, run->task->error);
}

/* Number `at` of the sums and means, of cluster c. */
static void set_mean(mg_kmeans_run *run, int64_t at, int64_t c, double sum, bool change) {
    run->sums[at] = change ? run->sums[at] + sum : sum;
    run->means[at] = run->weights[c] > 0 ? run->sums[at] / run->weights[c] : run->centres[at];
}

static bool all_finite(const double *values, int64_t count) {
    for (int64_t j = 0; j < count; j++)
        if (!isfinite(values[j])) return false;
    return true;
}

/* What further passes may rely on: labels of centres, and centres and weights that are numbers. */
static bool is_in_range(const mg_kmeans_run *run, const double head[HEAD]) {
    return head[LOST] == 0 && isfinite(head[INERTIA]) && all_finite(run->weights, run->task->k);
}

static margin_status run_pass(mg_kmeans_run *run, bool measure, double head[HEAD]) {
    pass p = {run, measure, !measure && !run->whole};
    double *state;
    const int64_t k = run->task->k, n = run->n;
    mg_heap *heap = run->task->context->heap;
    MG_NEW(heap, state, state_numbers(run), "the sums of the clusters", run->task->error);
    margin_status status = kmeans_sweep(&p, state);
    if (status >= 0) {
        memcpy(head, state, HEAD * sizeof *head);
        memcpy(run->weights, state + HEAD, (size_t)k * sizeof *state);
        bool finite = is_in_range(run, head);
        if (run->lanes && finite) status = mg_kmeans_sum(run, p.changes, &finite);
        for (int64_t c = 0; c < k && !run->lanes; c++)
            for (int64_t j = 0; j < n; j++)
                set_mean(run, c * n + j, c, state[HEAD + k + c * n + j], p.changes);
        run->fresh = run->fresh && measure;
        /* f32 does not tell these centres apart */
        if (2 * head[TIED] > head[SIFTED]) run->sift = false;
        finite = finite && (run->lanes || all_finite(run->means, k * n));
        if (status >= 0 && !finite) status = mg_kmeans_overflow(run);
    }
    mg_free(heap, state);
    return status;
}

margin_status mg_kmeans_assign(mg_kmeans_run *run, int64_t *moved) {
    double head[HEAD];
    MG_TRY(run_pass(run, false, head));
    *moved = (int64_t)head[MOVED];
    return MARGIN_OK;
}

margin_status mg_kmeans_measure(mg_kmeans_run *run, int64_t *moved, double *inertia,
                                double *second) {
    double head[HEAD];
    MG_TRY(run_pass(run, true, head));
    *moved = (int64_t)head[MOVED];
    *inertia = head[INERTIA];
    *second = head[SECOND];
    return MARGIN_OK;
}

void mg_kmeans_shift(mg_kmeans_run *run) {
    const int64_t k = run->task->k, n = run->n;
    float *of_tile = run->drift, *of_centre = run->drift + run->tile_count;
    memset(of_tile, 0, (size_t)run->tile_count * sizeof *of_tile);
    for (int64_t c = 0; c < k; c++) {
        const int64_t g = run->lane[c] / MG_TILE;
        of_centre[c] = 0;
        if (run->still[c]) continue;
        of_centre[c] = upper_bound(mg_kmeans_square(run->means + c * n, run->centres + c * n, n));
        of_tile[g] = MG_MAX(of_tile[g], of_centre[c]);
        memcpy(run->centres + c * n, run->means + c * n, (size_t)n * sizeof *run->centres);
    }
    for (int64_t g = 0; g < run->tile_count; g++)
        if (of_tile[g] > 0) mg_kmeans_pack(run, g);
    mg_kmeans_filter_pack(run);
}

void mg_kmeans_pack(mg_kmeans_run *run, int64_t g) {
    mg_tile_pack(run->centres, run->order + g * MG_TILE, MG_TILE, run->n,
                 run->tiles.values + g * MG_TILE * run->n);
    if (run->lanes) mg_tiles_square(&run->tiles, g);
}
