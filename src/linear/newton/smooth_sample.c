/* The rows that a sampled Hessian is made from.
 *
 * They are drawn with chances in proportion to what they can add, and weighted with the inverse, so
 * that the mean is right and rows that count are not missed: those of chance 1 all, one in each
 * stretch of the others in which the chances add up to 1, so that the sample is spread evenly and
 * no period in the data can spoil it. A row adds its curvature times the square of its length.
 * Lengths of rows take a pass to find and matter only where few rows are much longer than the
 * others; so they are found once a step had to be cut. */
#include "base/random.h"
#include "linear/design/design_sample.h"
#include "linear/newton/smooth.h"

/* ---- Lengths --------------------------------------------------------------------------------- */

typedef struct length_walk {
    double *lengths;
    mg_step_row *rows; /* of each worker */
} length_walk;

static margin_status find_block_lengths(const mg_block *block, void *argument) {
    const length_walk *walk = argument;
    mg_step_row *row = &walk->rows[block->worker];
    for (int64_t i = block->first; i < block->first + block->count; i++) {
        mg_step_row_read(row, i);
        walk->lengths[i] = mg_step_row_square(row, false);
    }
    return MARGIN_OK;
}

static margin_status find_lengths(mg_smooth *s) {
    const int threads = mg_threads(s->design->context);
    length_walk walk;
    mg_design units;
    MG_SCOPED_ARENA(arena, s->design->heap);
    MG_ARENA_NEW(&s->arena, s->lengths, s->samples, "lengths of the rows", s->job->error);
    MG_ARENA_NEW(&arena, walk.rows, threads, "rows", s->job->error);
    walk.lengths = s->lengths;
    for (int k = 0; k < threads; k++)
        MG_TRY(mg_step_row_in_units(s->design, s->centre, s->factor, &arena, &units, &walk.rows[k],
                                    s->job->error));
    return mg_sweep_each(s->design->context, s->samples, s->design->block_rows, find_block_lengths,
                         &walk, s->job->error);
}

/* ---- Sample ---------------------------------------------------------------------------------- */

static double importance(const mg_smooth *s, const double *curvatures, int64_t i) {
    return curvatures[i] * (s->lengths ? 1.0 + s->lengths[i] / (double)s->columns : 1.0);
}

/* The factor with which sum min(1, factor * importance) is about `rows`. */
static double chance_factor(const mg_smooth *s, const double *curvatures, double rows) {
    enum { ROUNDS = 6 };
    double factor = (double)INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
        double sum = 0.0;
        for (int64_t i = 0; i < s->samples; i++) {
            const double each = importance(s, curvatures, i), chance = factor * each;
            sum += round == 0 ? each : chance < 1.0 ? chance : 1.0;
        }
        if (!(sum > 0.0) || (round > 0 && sum > 0.97 * rows)) break;
        factor = round > 0 ? factor * rows / sum : rows / sum;
    }
    return factor;
}

static void draw_rows(const mg_smooth *s, const double *curvatures, double factor, uint64_t round,
                      mg_row_sample *sample) {
    const uint64_t seed = s->job->seed;
    double passed = 0.0, next = mg_random_unit(seed, MG_RANDOM_SAMPLE, round);
    uint64_t drawn = 1;
    for (int64_t i = 0; i < s->samples && sample->count < sample->capacity; i++) {
        const double chance = factor * importance(s, curvatures, i);
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
        sample->weights[sample->count++] = times * curvatures[i];
    }
}

margin_status mg_smooth_sample(mg_smooth *s, const double *curvatures, int64_t rows, int64_t round,
                               mg_arena *arena, mg_row_sample *sample) {
    const int64_t capacity = MG_MIN(rows + rows / 8 + 16, s->samples);
    if (s->was_cut && !s->lengths && s->functions == 1) MG_TRY(find_lengths(s));
    *sample = (mg_row_sample){.capacity = capacity};
    MG_TRY(MG_PIECES(arena, "the rows of a sampled Hessian", s->job->error,
                     MG_PIECE(sample->rows, capacity), MG_PIECE(sample->weights, capacity)));
    const double factor = chance_factor(s, curvatures, (double)rows);
    draw_rows(s, curvatures, factor, (uint64_t)round << 40, sample);
    return MARGIN_OK;
}
