/* The mean of all iterates: w after each visit of a sample, mistakes or not (Freund and Schapire,
 * "Large margin classification using the perceptron algorithm", Machine Learning 37, 1999: the
 * voted perceptron, here averaged as in Collins, "Discriminative training methods for hidden Markov
 * models", EMNLP 2002).
 *
 * No sum over visits is kept. With T visits in all, an update d made after c earlier visits is in
 * T - c of the iterates, so the mean is w - u / T with u = the sum of c d: one more addition per
 * mistake. (Daume, "Practical structured learning techniques", 2006, figure 2.3.) */
#include "perceptron/learner/perceptron_run.h"

#include <math.h>

void mg_perceptron_average(const mg_perceptron_run *run, mg_perceptron_state *out) {
    for (int64_t k = 0; k < run->length; k++) {
        const double mean =
            run->now.numbers[k] - (run->clock > 0.0 ? run->sum.numbers[k] / run->clock : 0.0);
        out->numbers[k] = mean;
    }
    for (int64_t i = 0; out->alpha && i < run->count; i++)
        out->alpha[i] = MG_MAX(out->alpha[i], 0.0); /* rounding */
}

/* Errors of the average; the scores of expansions are made for it. */
static margin_status judge_average(mg_perceptron_run *run, mg_perceptron_state *average,
                                   mg_perceptron_judgement *judged) {
    mg_perceptron_average(run, average);
    if (run->options.expansion) MG_TRY(mg_perceptron_dual_refresh(run, average));
    return mg_perceptron_judge(run, average, false, judged);
}

/* Each further pass would find no mistake and add the same iterate `total_weight` times: only the
 * clock goes on. The passes are doubled until the average is right, then their least number is
 * found by halving. */
margin_status mg_perceptron_average_settle(mg_perceptron_run *run, mg_perceptron_state *average) {
    const double clock = run->clock;
    const int64_t most = run->options.passes - run->passes;
    mg_perceptron_judgement judged;
    int64_t low = -1, high = 0; /* further passes: too few, enough (once it is known) */
    for (;;) {
        run->clock = clock + (double)high * run->total_weight;
        MG_TRY(judge_average(run, average, &judged));
        if (judged.errors == 0 || high == most) break;
        low = high;
        high = MG_MIN(high == 0 ? 1 : 2 * high, most);
    }
    while (judged.errors == 0 && high - low > 1) {
        mg_perceptron_judgement tried;
        const int64_t middle = low + (high - low) / 2;
        run->clock = clock + (double)middle * run->total_weight;
        MG_TRY(judge_average(run, average, &tried));
        if (tried.errors == 0)
            high = middle;
        else
            low = middle;
    }
    run->clock = clock + (double)high * run->total_weight;
    run->passes += high;
    mg_perceptron_average(run, average);
    return judged.errors == 0 ? MARGIN_OK : MARGIN_STOPPED_ITERATIONS;
}
