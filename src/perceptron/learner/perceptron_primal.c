/* Primal form: scores from weights. Two classes with one weight vector, or all classes together:
 * the score of the true class must be above all others, else it is moved up and the best other one
 * down (Kesler's construction; Duda and Hart, "Pattern classification and scene analysis", 1973,
 * section 5.12). */
#include "perceptron/learner/perceptron_run.h"

/* ---- Two classes ----------------------------------------------------------------------------- */

static int64_t two_class_next(mg_perceptron_run *run, int64_t first, int64_t last) {
    return run->rows->next_error(&run->scan, first, last, run->now.weights, run->now.intercept[0]);
}

static bool two_class_wrong(mg_perceptron_run *run, int64_t sample) {
    const mg_problem *problem = run->problem;
    const double score =
        run->rows->dot(&problem->x, mg_sample_row(problem, sample), run->now.weights) +
        run->now.intercept[0];
    return !(problem->sign[sample] * score > 0.0);
}

/* Function f moves by `move` towards (or away from) the sample. */
static void move_function(mg_perceptron_run *run, int64_t f, int64_t sample, double move) {
    const margin_matrix *x = &run->problem->x;
    const int64_t row = mg_sample_row(run->problem, sample);
    run->rows->add(x, row, move, run->now.weights + f * run->columns);
    run->now.intercept[f] += move * run->options.constant;
    if (run->options.variant != MG_AVERAGED) return;
    run->rows->add(x, row, move * run->clock, run->sum.weights + f * run->columns);
    run->sum.intercept[f] += move * run->clock * run->options.constant;
}

static margin_status two_class_update(mg_perceptron_run *run, int64_t sample, double step) {
    move_function(run, 0, sample, run->options.rate * step * run->problem->sign[sample]);
    return MARGIN_OK;
}

const mg_perceptron_form mg_perceptron_two_class = {two_class_next, two_class_wrong,
                                                    two_class_update, NULL};

/* ---- All classes together ---------------------------------------------------------------------*/

static void scores_of(mg_perceptron_run *run, int64_t sample) {
    run->rows->scores(&run->problem->x, mg_sample_row(run->problem, sample), 1, run->now.weights,
                      run->now.intercept, run->functions, run->scores);
}

static bool argmax_wrong(mg_perceptron_run *run, int64_t sample) {
    scores_of(run, sample);
    return !(mg_perceptron_margin(run->problem, sample, run->scores) > 0.0);
}

static int64_t argmax_next(mg_perceptron_run *run, int64_t first, int64_t last) {
    for (int64_t p = first; p < last; p++)
        if (argmax_wrong(run, run->order ? run->order[p] : p)) return p;
    return last;
}

/* The best class other than the true one, the first of equals. */
static int64_t best_other(const mg_perceptron_run *run, int64_t truth) {
    int64_t best = truth == 0 ? 1 : 0;
    for (int64_t f = best + 1; f < run->functions; f++)
        if (f != truth && run->scores[f] > run->scores[best]) best = f;
    return best;
}

/* Called after next or wrong on the same sample: run->scores are its scores. */
static margin_status argmax_update(mg_perceptron_run *run, int64_t sample, double step) {
    const int64_t truth = run->problem->code[sample], other = best_other(run, truth);
    move_function(run, truth, sample, run->options.rate * step);
    move_function(run, other, sample, -run->options.rate * step);
    return MARGIN_OK;
}

const mg_perceptron_form mg_perceptron_argmax = {argmax_next, argmax_wrong, argmax_update, NULL};
