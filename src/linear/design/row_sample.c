/* A few rows that stand for all.
 *
 * They are drawn with chances in proportion to what they can add, and weighted with the inverse, so
 * that the mean is right and rows that count are not missed: those of chance 1 all, one in each
 * stretch of the others in which the chances add up to 1, so that the sample is spread evenly and
 * no period in the data can spoil it. A row adds its curvature times the square of its length. */
#include "linear/design/row_sample.h"

#include "base/random.h"

#include <math.h>
#include <string.h>

static double importance(const mg_row_chances *s, int64_t i) {
    if (!s->lengths) return s->curvatures[i];
    return s->curvatures[i] * (1.0 + s->lengths[i] / (double)s->columns);
}

/* The factor with which sum min(1, factor * importance) is about `rows`. */
static double chance_factor(const mg_row_chances *s, double rows) {
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

static void draw_rows(const mg_row_chances *s, double factor, mg_row_sample *sample) {
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

margin_status mg_row_sample_draw(mg_heap *heap, const mg_row_chances *s, int64_t rows,
                                 mg_row_sample *sample, margin_error *error) {
    const char *purpose = "the rows of a sampled Hessian";
    mg_row_sample made = {.heap = heap, .capacity = MG_MIN(rows + rows / 8 + 16, s->samples)};
    margin_status status;
    MG_GO_NEW(made.heap, made.rows, made.capacity, purpose, error);
    MG_GO_NEW(made.heap, made.weights, made.capacity, purpose, error);
    draw_rows(s, chance_factor(s, (double)rows), &made);
    *sample = made;
    return MARGIN_OK;
done:
    mg_row_sample_free(&made);
    return status;
}

void mg_row_sample_free(mg_row_sample *sample) {
    mg_free(sample->heap, sample->rows);
    mg_free(sample->heap, sample->weights);
    memset(sample, 0, sizeof *sample);
}
