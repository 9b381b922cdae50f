/* The rows that a sampled Hessian is made from.
 *
 * They are drawn with chances in proportion to what they can add, and weighted with the inverse, so
 * that the mean is right and rows that count are not missed: those of chance 1 all, one in each
 * stretch of the others in which the chances add up to 1, so that the sample is spread evenly and
 * no period in the data can spoil it. A row adds its curvature times the square of its length. *
 * Lengths of rows take a pass to find and matter only where few rows are much longer than the
 * others; so they are found once a step had to be cut. */
#include "base/random.h"
#include "linear/newton/smooth.h"
#include "math/rows/sparse_row.h"

/* ---- Lengths --------------------------------------------------------------------------------- */

/* e_j = scale_j x_j + shift_j */
typedef struct length_walk {
    mg_smooth *s;
    double *scale, *shift; /* columns */
    double *scratch;       /* per worker: a row, and the columns of a sparse one */
    double zero;           /* |e|^2 of a row of zeros */
} length_walk;

static double dense_length(const length_walk *walk, int64_t i, double *values) {
    double sum = 0.0;
    mg_sample_values(walk->s->design->problem, i, values);
    for (int64_t j = 0; j < walk->s->columns; j++) {
        const double e = walk->scale[j] * values[j] + walk->shift[j];
        sum += e * e;
    }
    return sum;
}

static double sparse_length(const length_walk *walk, int64_t row, double *values) {
    int64_t *columns = (int64_t *)(values + walk->s->columns);
    const int64_t count = mg_sparse_row(&walk->s->design->problem->x, row, columns, values);
    double sum = walk->zero;
    for (int64_t k = 0; k < count; k++) {
        const int64_t j = columns[k];
        const double scaled = walk->scale[j] * values[k];
        sum += scaled * (scaled + 2.0 * walk->shift[j]);
    }
    return fmax(sum, 0.0);
}

static margin_status find_block_lengths(const mg_block *block, void *argument) {
    const length_walk *walk = argument;
    const mg_problem *problem = walk->s->design->problem;
    double *values = walk->scratch + 2 * walk->s->columns * block->worker;
    for (int64_t i = block->first; i < block->first + block->count; i++) {
        const int64_t row = mg_sample_row(problem, i);
        walk->s->lengths[i] = mg_is_csr(&problem->x) ? sparse_length(walk, row, values)
                                                     : dense_length(walk, i, values);
    }
    return MARGIN_OK;
}

static void set_scales(length_walk *walk) {
    const mg_smooth *s = walk->s;
    const mg_problem *problem = s->design->problem;
    walk->zero = 0.0;
    for (int64_t j = 0; j < s->columns; j++) {
        const double moved = (s->design->shift ? s->design->shift[j] : 0.0) - s->centre[j];
        walk->scale[j] = s->factor[j] * (problem->scale ? problem->scale[j] : 1.0);
        walk->shift[j] = s->factor[j] * moved;
        walk->zero += walk->shift[j] * walk->shift[j];
    }
}

static margin_status find_lengths(mg_smooth *s) {
    const int64_t n = s->columns, room = 2 * n * mg_threads(s->design->context);
    length_walk walk = {.s = s};
    MG_SCOPED_ARENA(arena, s->design->heap);
    MG_ARENA_NEW(&s->arena, s->lengths, s->samples, "lengths of the rows", s->job->error);
    MG_TRY(MG_PIECES(&arena, "lengths of the rows", s->job->error, MG_PIECE(walk.scale, n),
                     MG_PIECE(walk.shift, n), MG_PIECE(walk.scratch, room)));
    set_scales(&walk);
    return mg_sweep_each(s->design->context, s->samples, s->design->block_rows, find_block_lengths,
                         &walk, s->job->error);
}

/* ---- Sample ---------------------------------------------------------------------------------- */

/* A row adds its curvature times the square of its length. */
typedef struct chances {
    int64_t samples, columns;
    const double *curvatures; /* samples: >= 0 */
    const double *lengths;    /* samples; NULL: all alike */
    uint64_t seed, round;
} chances;

static double importance(const chances *s, int64_t i) {
    if (!s->lengths) return s->curvatures[i];
    return s->curvatures[i] * (1.0 + s->lengths[i] / (double)s->columns);
}

/* The factor with which sum min(1, factor * importance) is about `rows`. */
static double chance_factor(const chances *s, double rows) {
    enum { ROUNDS = 6 };
    double factor = (double)INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
        double sum = 0.0;
        for (int64_t i = 0; i < s->samples; i++) {
            const double each = importance(s, i);
            const double chance = factor * each;
            sum += round == 0 ? each : chance < 1.0 ? chance : 1.0;
        }
        if (!(sum > 0.0) || (round > 0 && sum > 0.97 * rows)) break;
        factor = round > 0 ? factor * rows / sum : rows / sum;
    }
    return factor;
}

static void draw_rows(const chances *s, double factor, mg_row_sample *sample) {
    const uint64_t seed = s->seed, round = s->round << 40;
    double passed = 0.0, next = mg_random_unit(seed, MG_RANDOM_SAMPLE, round);
    uint64_t drawn = 1;
    for (int64_t i = 0; i < s->samples && sample->count < sample->capacity; i++) {
        const double chance = factor * importance(s, i);
        double times = 1.0;
        if (!(chance > 0.0)) continue;
        if (chance < 1.0) {
            passed += chance;
            for (times = 0.0; passed > next; times += 1.0, drawn++)
                next = (double)drawn + mg_random_unit(seed, MG_RANDOM_SAMPLE, round + drawn);
            if (times == 0.0) continue;
            times /= chance;
        }
        sample->rows[sample->count] = i;
        sample->weights[sample->count++] = times * s->curvatures[i];
    }
}

margin_status mg_smooth_sample(mg_smooth *s, const double *curvatures, int64_t rows, int64_t round,
                               mg_arena *arena, mg_row_sample *sample) {
    const int64_t capacity = MG_MIN(rows + rows / 8 + 16, s->samples);
    if (s->was_cut && !s->lengths && s->functions == 1) MG_TRY(find_lengths(s));
    const chances all = {s->samples, s->columns,   curvatures,
                         s->lengths, s->job->seed, (uint64_t)round};
    *sample = (mg_row_sample){.capacity = capacity};
    MG_TRY(MG_PIECES(arena, "the rows of a sampled Hessian", s->job->error,
                     MG_PIECE(sample->rows, capacity), MG_PIECE(sample->weights, capacity)));
    draw_rows(&all, chance_factor(&all, (double)rows), sample);
    return MARGIN_OK;
}
