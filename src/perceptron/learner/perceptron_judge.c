/* Judging a state on all samples, in one parallel sweep. */
#include "perceptron/learner/perceptron_run.h"

#include <math.h>
#include <string.h>

double mg_perceptron_margin(const mg_problem *problem, int64_t sample, const double *scores) {
    if (problem->kind == MG_TWO_CLASS) return problem->sign[sample] * scores[0] + 0.0; /* no -0 */
    const int64_t truth = problem->code[sample];
    double best = -(double)INFINITY;
    for (int64_t f = 0; f < problem->classes; f++)
        if (f != truth && !(scores[f] <= best)) best = scores[f];
    return scores[truth] - best;
}

void mg_perceptron_sample_scores(const mg_perceptron_run *run, int64_t first, int64_t count,
                                 const double *weights, const double *intercepts, int64_t functions,
                                 double *out) {
    const margin_matrix *x = &run->problem->x;
    const int64_t *index = run->problem->index;
    for (int64_t i = 0; i < count;) {
        const int64_t row = index ? index[first + i] : first + i;
        int64_t stretch = index ? 1 : count;
        while (index && i + stretch < count && index[first + i + stretch] == row + stretch)
            stretch++;
        run->rows->scores(x, row, stretch, weights, intercepts, functions, out + i * functions);
        i += stretch;
    }
}

/* ---- Errors, criterion, least margin ----------------------------------------------------------*/

typedef struct judge_work {
    const mg_perceptron_run *run;
    const mg_perceptron_state *state;
    bool squares;
} judge_work;

static void judge_init(void *state, void *argument) {
    (void)argument;
    const mg_perceptron_judgement none = {0, 0.0, 0.0L, (double)INFINITY, (double)INFINITY, 0.0};
    memcpy(state, &none, sizeof none);
}

static void judge_sample(mg_perceptron_judgement *j, double margin, double weight) {
    j->least = margin >= j->least ? j->least : margin;
    j->nearest = fabs(margin) >= j->nearest ? j->nearest : fabs(margin);
    if (margin > 0.0) return;
    j->errors++; /* a margin that is not a number is an error too */
    j->error_weight += weight;
    j->criterion -= (long double)weight * (long double)margin;
}

/* The squared norm of a sample; in feature space k(x, x). */
static double square_of(const mg_perceptron_run *run, int64_t sample) {
    if (run->options.expansion) return run->gram->diagonal[sample];
    return run->rows->square(&run->problem->x, mg_sample_row(run->problem, sample));
}

/* Scores of a few samples, while their rows are in cache. */
static void judge_some(const judge_work *work, int64_t first, int64_t count, double *scores,
                       mg_perceptron_judgement *j) {
    const mg_perceptron_run *run = work->run;
    if (run->options.expansion)
        for (int64_t k = 0; k < count; k++)
            scores[k] = run->scores[first + k] + work->state->intercept[0];
    else
        mg_perceptron_sample_scores(run, first, count, work->state->weights, work->state->intercept,
                                    run->functions, scores);
    for (int64_t k = 0; k < count; k++) {
        const double *own = scores + k * run->functions;
        judge_sample(j, mg_perceptron_margin(run->problem, first + k, own),
                     mg_sample_weight(run->problem, first + k));
        if (work->squares) j->square = MG_MAX(j->square, square_of(run, first + k));
    }
}

static margin_status judge_add(void *state, const mg_block *block, void *argument) {
    enum { SOME = 32 };
    const judge_work *work = argument;
    const mg_perceptron_run *run = work->run;
    const int64_t last = block->first + block->count;
    const int64_t step = MG_MIN(run->scratch_size / run->functions, SOME);
    double *scores = run->scratch + block->worker * run->scratch_size;
    for (int64_t i = block->first; i < last; i += step)
        judge_some(work, i, MG_MIN(step, last - i), scores, state);
    return MARGIN_OK;
}

static void judge_merge(void *into, const void *from, void *argument) {
    (void)argument;
    mg_perceptron_judgement *a = into;
    const mg_perceptron_judgement *b = from;
    a->errors += b->errors;
    a->error_weight += b->error_weight;
    a->criterion += b->criterion;
    a->least = b->least >= a->least ? a->least : b->least;
    a->nearest = b->nearest >= a->nearest ? a->nearest : b->nearest;
    a->square = MG_MAX(a->square, b->square);
}

margin_status mg_perceptron_judge(mg_perceptron_run *run, const mg_perceptron_state *state,
                                  bool squares, mg_perceptron_judgement *out) {
    static const mg_accumulator accumulator = {.state_size = sizeof(mg_perceptron_judgement),
                                               .init = judge_init,
                                               .add = judge_add,
                                               .merge = judge_merge};
    judge_work work = {run, state, squares};
    return mg_sweep(run->context, run->count, run->block_rows, &accumulator, &work, out,
                    run->fit->error);
}
