/* The search; the problem and its sources are in separation.c. */
#include "perceptron/separation/separation_search.h"

#include <math.h>
#include <string.h>

/* Whole data sets up to this size are their own pool: each change of the active set reads all of
 * it, so that a pool beyond the caches costs more than the passes that refill a smaller one. */
static const int64_t whole_pool_bytes = INT64_C(1) << 18;
static const int64_t pool_bytes = INT64_C(1) << 18;
/* Rows taken into the pool after a pass, per group. */
enum { VIOLATORS = 256 };
/* The search goes on below this, as far as double precision carries. */
static const double aim_residual = 1e-13;
/* Shrinks g.g by less than this count as rounding: the search must not go round in circles. */
static const double real_progress = 1e-13;
/* Passes over all rows without progress after which the search ends. */
enum { IDLE_PASSES = 8 };
/* A width is as good as found when lower and upper bound agree to this. */
static const double aim_gap = 1e-9;
/* For the decision it is enough to be about right. */
static const double decision_gap = 0.25;

typedef struct {
    double value;
    int64_t sample;
} candidate;

static int group_of(const mg_search *s, int64_t sample) {
    return s->groups == 2 && s->problem->sign[sample] < 0 ? 1 : 0;
}

/* ---- Memory ---- */

margin_status mg_search_create(mg_search *s) {
    int64_t dimension = s->points.dimension, width = MG_MAX(dimension, 1) * (int64_t)sizeof(double);
    bool dense = s->points.columns <= MG_SEARCH_DENSE_COLUMNS;
    int64_t full = dimension + s->groups + 1;
    s->samples = s->problem->count;
    s->pool_capacity = s->samples;
    if (dense && s->samples > whole_pool_bytes / width)
        s->pool_capacity = MG_MIN(s->samples, MG_MAX(pool_bytes / width, 2 * full + 4 * VIOLATORS));
    int64_t capacity = MG_MIN(full, s->samples + 1);
    const char *purpose = "the separability solver";
    mg_arena_init(&s->arena, s->context->heap);
    MG_TRY(MG_PIECES(&s->arena, purpose, s->error, MG_PIECE(s->pool, s->pool_capacity),
                     MG_PIECE(s->pool_score, s->pool_capacity),
                     MG_PIECE(s->excluded, s->pool_capacity), MG_PIECE(s->in_pool, s->samples),
                     MG_PIECE(s->g, dimension), MG_PIECE(s->best_g, dimension),
                     MG_PIECE(s->raw, dimension), MG_PIECE(s->sum, dimension),
                     MG_PIECE(s->scores, s->samples), MG_PIECE(s->products, capacity + 1)));
    if (dense) MG_ARENA_NEW(&s->arena, s->point, s->pool_capacity * dimension, purpose, s->error);
    memset(s->in_pool, 0, (size_t)s->samples * sizeof *s->in_pool);
    s->ops = mg_vector_ops_for(s->points.isa);
    return mg_corral_create(&s->arena, s->points.isa, dimension, s->groups, 1.0, capacity, dense,
                            &s->corral, s->error);
}

void mg_search_free(mg_search *s) {
    if (s->arena.heap) mg_arena_free(&s->arena);
}

/* ---- Points of the pool ---------------------------------------------------------------------- */

/* Numbers read by a change of the active set, or as many as take that time: a product with each
 * member, twice orthogonalised, and exact sums. */
static void count_change(mg_search *s) {
    enum { MEMBER = 16 };
    const int64_t rows = s->pool_count + MEMBER * s->corral.size;
    s->work += (double)rows * (double)s->points.dimension;
}

static double *pool_point(const mg_search *s, int64_t position) {
    return s->point + position * s->points.dimension;
}

static void pool_add(mg_search *s, int64_t sample) {
    if (s->in_pool[sample] || s->pool_count == s->pool_capacity) return;
    s->in_pool[sample] = true;
    s->pool[s->pool_count] = sample;
    s->excluded[s->pool_count] = false;
    if (s->point) mg_point_write(&s->points, sample, pool_point(s, s->pool_count));
    s->pool_count++;
}

/* Keeps the corral's rows and forgets the others, to make room. */
static void pool_clear(mg_search *s) {
    memset(s->in_pool, 0, (size_t)s->samples * sizeof *s->in_pool);
    s->pool_count = 0;
    for (int64_t k = 0; k < s->corral.size; k++)
        pool_add(s, s->corral.member[k]);
}

typedef struct {
    const mg_search *s;
    double *out;
} pool_job;

static margin_status score_pool_block(const mg_block *block, void *argument) {
    const pool_job *job = argument;
    const mg_search *s = job->s;
    for (int64_t i = block->first; i < block->first + block->count; i++)
        job->out[i] = s->ops->dot(pool_point(s, i), s->g, s->points.dimension);
    return MARGIN_OK;
}

static margin_status score_pool(mg_search *s) {
    if (!s->point) { /* the pool holds every row, and the rows are not copied */
        MG_TRY(mg_points_score(&s->points, s->g, s->raw, s->scores));
        for (int64_t i = 0; i < s->pool_count; i++)
            s->pool_score[i] = s->scores[s->pool[i]];
        return MARGIN_OK;
    }
    pool_job job = {s, s->pool_score};
    return mg_sweep_each(s->context, s->pool_count,
                         mg_block_rows(s->points.dimension * (int64_t)sizeof(double)),
                         score_pool_block, &job, NULL);
}

/* Inner products of a row with the corral's, for the factor without Q. */
static void corral_products(mg_search *s, int64_t sample) {
    const mg_points *points = &s->points;
    const mg_problem *p = s->problem;
    mg_point_write(points, sample, s->raw);
    s->products[s->corral.size] = s->ops->square(s->raw, points->dimension);
    for (int64_t j = 0; j < points->columns; j++)
        s->raw[j] *= points->scale[j]; /* the members are taken from the matrix as they are */
    double last = points->augmented ? s->raw[points->columns] * points->unit : 0;
    for (int64_t k = 0; k < s->corral.size; k++) {
        int64_t member = s->corral.member[k];
        double f = points->ops->dot(&p->x, mg_sample_row(p, member), s->raw);
        s->products[k] = p->sign[member] * (f + last);
    }
}

static bool corral_add(mg_search *s, int64_t position) {
    int64_t sample = s->pool[position];
    if (!s->point) corral_products(s, sample);
    return mg_corral_add(&s->corral, sample, group_of(s, sample),
                         s->point ? pool_point(s, position) : NULL, s->products);
}

static int64_t pool_position(const mg_search *s, int64_t sample) {
    for (int64_t i = 0; i < s->pool_count; i++)
        if (s->pool[i] == sample) return i;
    return -1;
}

/* ---- The point g ----------------------------------------------------------------------------- */

/* Scores of the members by g, in double-double, as differences from their group's weighted mean. */
static double member_residuals(mg_search *s, double *residual) {
    double parts[MG_CORRAL_GROUPS] = {0, 0}, largest = 0;
    for (int64_t k = 0; k < s->corral.size; k++) {
        mg_point_write(&s->points, s->corral.member[k], s->raw);
        mg_twin score = {0, 0};
        for (int64_t j = 0; j < s->points.dimension; j++)
            score = mg_twin_add_product(score, s->raw[j], s->g[j]);
        residual[k] = mg_twin_plus(score, 0);
        parts[s->corral.group[k]] += s->corral.weight[k] * residual[k];
    }
    for (int64_t k = 0; k < s->corral.size; k++) {
        residual[k] -= parts[s->corral.group[k]];
        largest = fmax(largest, fabs(residual[k]));
    }
    return largest;
}

/* With columns of very different size, |g| can be 1e-8 of the points' size; then rounding in g
 * moves scores by as much as the width. Refinement against residuals in double-double makes the
 * members' scores agree to the last digits again. */
static void refine_g(mg_search *s) {
    enum { ROUNDS = 3 };
    double *residual = s->products;
    for (int round = 0; round < ROUNDS; round++) {
        if (member_residuals(s, residual) <= aim_gap / 8 * s->square) return;
        mg_corral_correct(&s->corral, residual, s->g);
    }
}

static void update_g(mg_search *s) {
    memset(s->sum, 0, (size_t)s->points.dimension * sizeof *s->sum);
    for (int64_t k = 0; k < s->corral.size; k++)
        mg_point_add(&s->points, s->corral.member[k], s->corral.weight[k], s->raw, s->sum);
    for (int64_t j = 0; j < s->points.dimension; j++)
        s->g[j] = mg_twin_plus(s->sum[j], 0);
    s->square = s->ops->square(s->g, s->points.dimension);
    s->residual = 0;
    for (int64_t j = 0; j < s->points.dimension; j++)
        s->residual = fmax(s->residual, fabs(s->g[j]));
    if (s->corral.q && (s->goal == MG_SEARCH_WIDEN || s->residual < 1e-4)) refine_g(s);
}

/* What group `group` contributes to g.g: at the optimum no row of the group scores less. */
static void group_parts(const mg_search *s, double parts[MG_CORRAL_GROUPS]) {
    parts[0] = parts[1] = 0;
    for (int64_t k = 0; k < s->corral.size; k++)
        parts[s->corral.group[k]] +=
            s->corral.weight[k] * mg_point_dot(&s->points, s->corral.member[k], s->g, s->raw);
}

static bool residual_reached(const mg_search *s) {
    return s->goal == MG_SEARCH_DECIDE && s->residual <= aim_residual;
}

/* Factorises the same members afresh, which clears the rounding of many updates. */
static bool rebuild_corral(mg_search *s) {
    int64_t size = s->corral.size, kept = 0;
    mg_corral_clear(&s->corral);
    for (int64_t k = 0; k < size; k++) {
        double weight = s->corral.weight[k];
        int64_t position = pool_position(s, s->corral.member[k]);
        if (position < 0 || !corral_add(s, position)) continue;
        s->corral.weight[kept++] = weight;
    }
    if (mg_corral_settle(&s->corral) < 0) return false;
    update_g(s);
    return true;
}

/* ---- Optimum over the pool ------------------------------------------------------------------- */

static int64_t worst_in_pool(const mg_search *s, const double parts[MG_CORRAL_GROUPS],
                             double *violation) {
    int64_t worst = -1;
    *violation = 0;
    for (int64_t i = 0; i < s->pool_count; i++) {
        if (s->excluded[i]) continue;
        double v = parts[group_of(s, s->pool[i])] - s->pool_score[i];
        if (v > *violation) {
            *violation = v;
            worst = i;
        }
    }
    return worst;
}

/* One change of the active set: false when no row of the pool can improve g beyond `gap`. */
static margin_status improve(mg_search *s, double gap, bool *improved) {
    double parts[MG_CORRAL_GROUPS], violation, before = s->square;
    *improved = false;
    MG_TRY(score_pool(s));
    group_parts(s, parts);
    for (;;) {
        int64_t worst = worst_in_pool(s, parts, &violation);
        if (worst < 0 || violation <= gap * s->square) return MARGIN_OK;
        if (corral_add(s, worst)) {
            if (mg_corral_settle(&s->corral) < 0) return MARGIN_OK;
            break;
        }
        s->excluded[worst] = true;
    }
    update_g(s);
    s->changes++;
    if (!(s->square < before)) return MARGIN_OK;
    memset(s->excluded, 0, (size_t)s->pool_count * sizeof *s->excluded);
    *improved = true;
    return MARGIN_OK;
}

/* True if g.g is below all before. */
static bool is_progress(mg_search *s) {
    if (!(s->square < s->least * (1 - real_progress))) return false;
    s->least = s->square;
    return true;
}

static margin_status optimise_pool(mg_search *s, double gap) {
    bool improved = true, rebuilt = false;
    while (!residual_reached(s)) {
        margin_status stop = mg_stop_check(&s->stop, s->changes);
        if (stop != MARGIN_OK) return stop;
        if (s->work > s->most_work) return MARGIN_STOPPED_ITERATIONS;
        count_change(s);
        MG_TRY(improve(s, gap, &improved));
        if (improved) {
            /* what only undoes the rounding of a rebuild earns no further one */
            if (is_progress(s)) rebuilt = false;
            continue;
        }
        if (rebuilt || !rebuild_corral(s)) break;
        rebuilt = true;
        memset(s->excluded, 0, (size_t)s->pool_count * sizeof *s->excluded);
    }
    return MARGIN_OK;
}

/* ---- Passes over all rows -------------------------------------------------------------------- */

static bool comes_before(candidate a, candidate b) {
    return a.value < b.value || (a.value == b.value && a.sample < b.sample);
}

/* Keeps the VIOLATORS least scores in a heap whose root is the greatest kept. */
static void keep_least(candidate *heap, int64_t *count, candidate c) {
    int64_t i;
    if (*count < VIOLATORS) {
        for (i = (*count)++; i > 0 && comes_before(heap[(i - 1) / 2], c); i = (i - 1) / 2)
            heap[i] = heap[(i - 1) / 2];
        heap[i] = c;
        return;
    }
    if (!comes_before(c, heap[0])) return;
    for (i = 0; 2 * i + 1 < VIOLATORS;) {
        int64_t child = 2 * i + 1;
        if (child + 1 < VIOLATORS && comes_before(heap[child], heap[child + 1])) child++;
        if (!comes_before(c, heap[child])) break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = c;
}

/* Scores every row by g, updates the lower bound of the width and takes the worst rows into the
 * pool. */
static margin_status pass_over_data(mg_search *s, int64_t *added) {
    candidate least[MG_CORRAL_GROUPS][VIOLATORS];
    int64_t count[MG_CORRAL_GROUPS] = {0, 0};
    double minimum[MG_CORRAL_GROUPS] = {(double)INFINITY, (double)INFINITY};
    s->work += (double)s->samples * mg_row_length(&s->problem->x);
    MG_TRY(mg_points_score(&s->points, s->g, s->raw, s->scores));
    for (int64_t i = 0; i < s->samples; i++) {
        int group = group_of(s, i);
        minimum[group] = fmin(minimum[group], s->scores[i]);
        if (!s->in_pool[i]) keep_least(least[group], &count[group], (candidate){s->scores[i], i});
    }
    double norm = sqrt(s->square);
    s->lower = (minimum[0] + (s->groups == 2 ? minimum[1] : 0)) / norm;
    if (s->lower > s->best_lower) {
        s->best_lower = s->lower;
        memcpy(s->best_g, s->g, (size_t)s->points.dimension * sizeof *s->g);
    }
    if (s->pool_count + count[0] + count[1] > s->pool_capacity) pool_clear(s);
    int64_t before = s->pool_count;
    double parts[MG_CORRAL_GROUPS];
    group_parts(s, parts);
    for (int64_t g = 0; g < s->groups; g++)
        for (int64_t k = 0; k < count[g]; k++)
            if (least[g][k].value < parts[g]) pool_add(s, least[g][k].sample);
    *added = s->pool_count - before;
    return MARGIN_OK;
}

/* First pair: the rows of each class that lie furthest towards the other class's mean. */
static margin_status start_corral(mg_search *s) {
    memset(s->g, 0, (size_t)s->points.dimension * sizeof *s->g);
    double size[2] = {0, 0};
    for (int64_t i = 0; i < s->samples; i++)
        size[s->problem->sign[i] < 0] += 1;
    int64_t step = s->samples / 10000 + 1; /* a mean of some thousand rows is as good a start */
    for (int64_t i = 0; i < s->samples; i += step) {
        mg_point_write(&s->points, i, s->raw);
        s->ops->add(s->g, 1 / size[s->problem->sign[i] < 0], s->raw, s->points.dimension);
    }
    int64_t added;
    s->work += (double)s->samples * mg_row_length(&s->problem->x);
    s->square = 1;
    s->least = (double)INFINITY;
    s->best_lower = -(double)INFINITY;
    MG_TRY(mg_points_score(&s->points, s->g, s->raw, s->scores));
    int64_t best[2] = {-1, -1};
    for (int64_t i = 0; i < s->samples; i++) {
        int group = group_of(s, i);
        if (best[group] < 0 || s->scores[i] < s->scores[best[group]]) best[group] = i;
    }
    for (int64_t g = 0; g < s->groups; g++) {
        pool_add(s, best[g]);
        if (!corral_add(s, pool_position(s, best[g]))) return MARGIN_OK;
        s->corral.weight[s->corral.size - 1] = 1;
    }
    update_g(s);
    if (s->pool_capacity == s->samples) {
        for (int64_t i = 0; i < s->samples; i++)
            pool_add(s, i);
        return MARGIN_OK;
    }
    return pass_over_data(s, &added);
}

/* Runs to the goal, to where rounding ends progress, or to a limit. */
margin_status mg_search_run(mg_search *s) {
    double gap = s->goal == MG_SEARCH_DECIDE ? decision_gap : 1e-3;
    int idle = 0;
    MG_TRY(start_corral(s));
    for (;;) {
        double least = s->least, best_lower = s->best_lower;
        margin_status status = optimise_pool(s, gap);
        if (status != MARGIN_OK) return status;
        if (s->residual <= aim_residual) return MARGIN_OK;
        int64_t added;
        MG_TRY(pass_over_data(s, &added));
        idle = s->least < least || s->best_lower > best_lower ? 0 : idle + 1;
        if (idle == IDLE_PASSES) return MARGIN_OK;
        double found = 1 - s->lower / sqrt(s->square);
        mg_progress(s->context, "separating", (double)s->changes, 0, found);
        if (s->goal == MG_SEARCH_DECIDE && s->lower > 1e-6 * sqrt(s->square)) return MARGIN_OK;
        if (found <= aim_gap) return MARGIN_OK;
        if (added == 0) {
            if (gap <= aim_gap / 4) return MARGIN_OK;
            gap = MG_MAX(gap / 100, aim_gap / 4);
        } else if (s->goal == MG_SEARCH_WIDEN) {
            gap = MG_MAX(MG_MIN(gap, found / 10), aim_gap / 4);
        }
    }
}
