/* The classes of one-versus-rest on sparse rows: perceptrons that differ in their signs only, side
 * by side. A row is read once for all of them and multiplied with eight weight vectors that lie
 * side by side; each walks as if alone, with the same bits. One whose last pass is done leaves. */
#include "perceptron/learner/perceptron_run.h"

#include <string.h>

enum { LANES = MG_ROW_LANES, FEW = 2 /* alone they take as long as a pass for all */ };

typedef struct lanes {
    mg_perceptron_run *runs;
    int count;
    uint8_t walking; /* lanes, a bit each */
    const mg_row_lanes *rows;
    double *weights;         /* columns x LANES */
    uint8_t *positive;       /* samples: lanes where it is */
    double intercept[LANES]; /* as the weights: of lanes that walk */
} lanes;

static void fetch(const lanes *g, int l) {
    mg_perceptron_run *run = &g->runs[l];
    for (int64_t j = 0; j < run->columns; j++)
        run->now.weights[j] = g->weights[j * LANES + l];
    run->now.intercept[0] = g->intercept[l];
}

static margin_status begin(lanes *g) {
    mg_perceptron_run *one = &g->runs[0];
    MG_TRY(MG_PIECES(&one->arena, "the perceptrons' weights", one->fit->error,
                     MG_PIECE(g->weights, one->columns * LANES),
                     MG_PIECE(g->positive, one->count)));
    memset(g->weights, 0, (size_t)(one->columns * LANES) * sizeof *g->weights);
    memset(g->positive, 0, (size_t)one->count);
    for (int l = 0; l < g->count; l++) {
        const mg_perceptron_run *run = &g->runs[l];
        for (int64_t j = 0; j < run->columns; j++)
            g->weights[j * LANES + l] = run->now.weights[j];
        for (int64_t i = 0; i < run->count; i++)
            g->positive[i] |= (uint8_t)((run->problem->sign[i] > 0) << l);
        g->intercept[l] = run->now.intercept[0];
    }
    return MARGIN_OK;
}

/* What mg_perceptron_two_class does at a sample, for all that walk. */
static void visit(lanes *g, const margin_matrix *x, int64_t row, unsigned positive) {
    const double rate = g->runs[0].options.rate, constant = g->runs[0].options.constant;
    double z[LANES], change[LANES];
    unsigned above = 0, below = 0;
    g->rows->dot(x, row, g->weights, z);
    for (int l = 0; l < LANES; l++) {
        const double score = z[l] + g->intercept[l];
        above |= (unsigned)(score > 0.0) << l;
        below |= (unsigned)(score < 0.0) << l;
    }
    const unsigned wrong = ~((above & positive) | (below & ~positive)) & g->walking;
    if (wrong == 0) return;
    for (int l = 0; l < LANES; l++) {
        change[l] = !(wrong >> l & 1) ? 0.0 : positive >> l & 1 ? rate : -rate;
        g->intercept[l] += change[l] * constant;
        if (wrong >> l & 1) g->runs[l].pass_mistakes++;
    }
    g->rows->add(x, row, change, NULL, g->weights);
}

/* Above 0: out of time, all of them. */
static margin_status one_pass(lanes *g) {
    const mg_perceptron_run *one = &g->runs[0];
    margin_status status = MARGIN_OK;
    for (int l = 0; l < g->count; l++)
        g->runs[l].pass_mistakes = 0;
    for (int64_t first = 0; first < one->count && status == MARGIN_OK; first += one->chunk) {
        const int64_t last = MG_MIN(first + one->chunk, one->count);
        for (int64_t i = first; i < last; i++)
            visit(g, &one->problem->x, mg_sample_row(one->problem, i), g->positive[i]);
        status = mg_perceptron_poll(&g->runs[__builtin_ctz(g->walking)]);
    }
    for (int l = 0; l < g->count; l++)
        if (g->walking >> l & 1) g->runs[l].mistakes += g->runs[l].pass_mistakes;
    return status;
}

/* Each that has ended says how; the others go on alone. */
margin_status mg_perceptron_lanes(mg_perceptron_run *runs, int64_t count) {
    lanes all = {.runs = runs, .count = (int)count, .walking = (uint8_t)((1U << count) - 1U)},
          *g = &all;
    if (runs->problem->weight || runs->fit->trace) return MARGIN_OK;
    g->rows = mg_row_lanes_for(&runs->problem->x, mg_isa_level());
    MG_TRY(begin(g));
    while (__builtin_popcount(g->walking) > FEW) {
        const margin_status passed = one_pass(g);
        if (passed < 0) return passed;
        for (int l = 0; l < g->count; l++) {
            mg_perceptron_run *run = &g->runs[l];
            bool clean = run->pass_mistakes == 0;
            if (!(g->walking >> l & 1)) continue;
            if (run->passes == 0) fetch(g, l);
            run->ended = passed;
            if (passed == MARGIN_OK) MG_TRY(run->ended = mg_perceptron_after_pass(run, &clean));
            if (run->ended == MARGIN_OK && !clean) continue;
            fetch(g, l);
            run->has_ended = true;
            g->walking &= (uint8_t) ~(1U << l);
        }
    }
    for (int l = 0; l < g->count; l++)
        if (g->walking >> l & 1) fetch(g, l);
    return MARGIN_OK;
}
