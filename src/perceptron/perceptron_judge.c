/* Judging a state on all samples, in one parallel sweep. */
#include "perceptron/perceptron_run.h"

#include <math.h>
#include <string.h>

double mg_perceptron_margin(const mg_problem *problem, int64_t sample, const double *scores) {
    if (problem->kind == MG_TWO_CLASS) return problem->sign[sample] * scores[0];
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
} judge_work;

static void judge_init(void *state, void *argument) {
    (void)argument;
    const mg_perceptron_judgement none = {0, 0.0, 0.0, (double)INFINITY};
    memcpy(state, &none, sizeof none);
}

static void judge_sample(mg_perceptron_judgement *j, double margin, double weight) {
    j->least = margin >= j->least ? j->least : margin;
    if (margin > 0.0) return;
    j->errors++; /* a margin that is not a number is an error too */
    j->error_weight += weight;
    j->criterion -= weight * margin;
}

static margin_status judge_add(void *state, const mg_block *block, void *argument) {
    const judge_work *work = argument;
    const mg_perceptron_run *run = work->run;
    const int64_t last = block->first + block->count, step = run->scratch_size / run->functions;
    double *scores = run->scratch + block->worker * run->scratch_size;
    for (int64_t i = block->first; i < last; i += step) {
        const int64_t count = MG_MIN(step, last - i);
        if (run->options.expansion)
            for (int64_t k = 0; k < count; k++)
                scores[k] = run->scores[i + k] + work->state->intercept[0];
        else
            mg_perceptron_sample_scores(run, i, count, work->state->weights, work->state->intercept,
                                        run->functions, scores);
        for (int64_t k = 0; k < count; k++)
            judge_sample(state,
                         mg_perceptron_margin(run->problem, i + k, scores + k * run->functions),
                         mg_sample_weight(run->problem, i + k));
    }
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
}

static margin_status swept(const mg_perceptron_run *run, margin_status status) {
    return status == MARGIN_ERROR_CANCELLED ? mg_fail_cancelled(run->fit->error) : status;
}

margin_status mg_perceptron_judge(mg_perceptron_run *run, const mg_perceptron_state *state,
                                  mg_perceptron_judgement *out) {
    static const mg_accumulator accumulator = {sizeof(mg_perceptron_judgement), judge_init,
                                               judge_add, judge_merge, NULL};
    judge_work work = {run, state};
    return swept(run, mg_sweep(run->context, run->count, run->block_rows, &accumulator, &work, out,
                               run->fit->error));
}

/* ---- Radius ---------------------------------------------------------------------------------- */

static void radius_init(void *state, void *argument) {
    (void)argument;
    *(double *)state = 0.0;
}

static margin_status radius_add(void *state, const mg_block *block, void *argument) {
    const mg_perceptron_run *run = argument;
    double *most = state;
    for (int64_t i = block->first; i < block->first + block->count; i++) {
        const double square = run->rows->square(&run->problem->x, mg_sample_row(run->problem, i));
        *most = MG_MAX(*most, square);
    }
    return MARGIN_OK;
}

static void radius_merge(void *into, const void *from, void *argument) {
    (void)argument;
    const double a = *(double *)into, b = *(const double *)from;
    *(double *)into = MG_MAX(a, b);
}

margin_status mg_perceptron_radius(mg_perceptron_run *run, double *radius) {
    static const mg_accumulator accumulator = {sizeof(double), radius_init, radius_add,
                                               radius_merge, NULL};
    double most = 0.0;
    if (run->options.expansion) {
        const double *diagonal = mg_gram_diagonal(run->gram);
        for (int64_t i = 0; i < run->count; i++)
            most = MG_MAX(most, diagonal[i]);
    } else {
        MG_TRY(swept(run, mg_sweep(run->context, run->count, run->block_rows, &accumulator, run,
                                   &most, run->fit->error)));
    }
    *radius = sqrt(most + 1.0);
    return MARGIN_OK;
}
