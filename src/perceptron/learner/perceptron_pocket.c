/* The pocket: the state that was best on all samples (Gallant, "Perceptron-based learning
 * algorithms", IEEE Transactions on Neural Networks 1, 1990), with the ratchet: a state goes in
 * only if it misclassifies less of the whole training set, so the pocket never gets worse.
 *
 * A state is looked at when it has been right for longer in a row than the one in the pocket; while
 * none has been right at all (on XOR none ever is) a few of each pass are looked at regardless. To
 * count its errors takes a pass over the data; up to sixteen states wait and share one pass, then
 * the ratchet is replayed in their order: the outcome is that of counting each at once. */
#include "perceptron/learner/perceptron_run.h"

#include <string.h>

/* All waiting weights together stay below this many numbers (32 MB). */
enum { WAITING_NUMBERS = 1 << 22 };

/* ---- Errors of several states in one sweep ----------------------------------------------------*/

static margin_status errors_add(void *state, const mg_block *block, void *argument) {
    const mg_perceptron_run *run = argument;
    const mg_perceptron_pocket *pocket = &run->pocket;
    const int64_t functions = run->functions * pocket->waiting;
    const int64_t last = block->first + block->count, step = run->scratch_size / functions;
    double *scores = run->scratch + block->worker * run->scratch_size;
    double *sums = state; /* weight of the errors of each */
    for (int64_t i = block->first; i < last; i += step) {
        const int64_t count = MG_MIN(step, last - i);
        mg_perceptron_sample_scores(run, i, count, pocket->weights, pocket->intercepts, functions,
                                    scores);
        for (int64_t k = 0; k < count; k++) {
            const double weight = mg_sample_weight(run->problem, i + k);
            for (int c = 0; c < pocket->waiting; c++) {
                const double *own = scores + k * functions + c * run->functions;
                if (!(mg_perceptron_margin(run->problem, i + k, own) > 0.0)) sums[c] += weight;
            }
        }
    }
    return MARGIN_OK;
}

/* ---- Waiting --------------------------------------------------------------------------------- */

static bool worth_a_look(const mg_perceptron_pocket *pocket, double streak) {
    return streak > pocket->best_streak || (streak == 0.0 && pocket->best_streak == 0.0);
}

static void pocket_take(mg_perceptron_run *run, int candidate) {
    mg_perceptron_pocket *pocket = &run->pocket;
    const int64_t weights = run->functions * run->columns;
    if (weights > 0)
        memcpy(pocket->best.weights, pocket->weights + candidate * weights,
               (size_t)weights * sizeof(double));
    memcpy(pocket->best.intercept, pocket->intercepts + candidate * run->functions,
           (size_t)run->functions * sizeof(double));
}

margin_status mg_perceptron_pocket_settle(mg_perceptron_run *run) {
    mg_perceptron_pocket *pocket = &run->pocket;
    double sums[MG_POCKET_CANDIDATES];
    if (pocket->waiting == 0) return MARGIN_OK;
    MG_TRY(mg_sweep_sums(run->context, run->count, run->block_rows, pocket->waiting, 0, errors_add,
                         run, sums, run->fit->error));
    for (int c = 0; c < pocket->waiting; c++) {
        if (!worth_a_look(pocket, pocket->streak[c]) || sums[c] >= pocket->best_errors) continue;
        pocket_take(run, c);
        pocket->best_errors = sums[c];
        pocket->best_streak = pocket->streak[c];
    }
    pocket->waiting = 0;
    return MARGIN_OK;
}

static margin_status wait_in_line(mg_perceptron_run *run, double streak) {
    mg_perceptron_pocket *pocket = &run->pocket;
    const int64_t weights = run->functions * run->columns;
    const int c = pocket->waiting++;
    if (weights > 0)
        memcpy(pocket->weights + c * weights, run->now.weights, (size_t)weights * sizeof(double));
    memcpy(pocket->intercepts + c * run->functions, run->now.intercept,
           (size_t)run->functions * sizeof(double));
    pocket->streak[c] = streak;
    return pocket->waiting == pocket->room ? mg_perceptron_pocket_settle(run) : MARGIN_OK;
}

/* Dual form: the scores are there, so errors are counted at once. */
static void judge_now(mg_perceptron_run *run, double streak) {
    mg_perceptron_pocket *pocket = &run->pocket;
    double errors = 0.0;
    for (int64_t i = 0; i < run->count; i++)
        if (run->form->wrong(run, i)) errors += mg_sample_weight(run->problem, i);
    if (errors >= pocket->best_errors) return;
    mg_perceptron_state_copy(run, &pocket->best, &run->now);
    pocket->best_errors = errors;
    pocket->best_streak = streak;
}

static margin_status offer(mg_perceptron_run *run, double streak) {
    if (run->options.dual)
        judge_now(run, streak);
    else
        return wait_in_line(run, streak);
    return MARGIN_OK;
}

margin_status mg_perceptron_pocket_offer(mg_perceptron_run *run) {
    mg_perceptron_pocket *pocket = &run->pocket;
    if (!worth_a_look(pocket, run->streak)) return MARGIN_OK;
    if (run->streak == 0.0 && pocket->regardless++ >= MG_POCKET_CANDIDATES) return MARGIN_OK;
    return offer(run, run->streak);
}

/* ---- Beginning and end ------------------------------------------------------------------------*/

margin_status mg_perceptron_pocket_begin(mg_perceptron_run *run) {
    mg_perceptron_pocket *pocket = &run->pocket;
    const char *purpose = "the pocket's candidates";
    const int64_t weights = MG_MAX(run->functions * run->columns, 1);
    MG_TRY(mg_perceptron_state_new(run, &pocket->best));
    mg_perceptron_state_copy(run, &pocket->best, &run->now);
    mg_perceptron_judgement judged;
    MG_TRY(mg_perceptron_judge(run, &run->now, false, &judged));
    pocket->best_errors = judged.error_weight;
    if (run->options.dual) return MARGIN_OK;
    const int64_t fit = MG_MIN(WAITING_NUMBERS / weights, run->scratch_size / run->functions);
    pocket->room = (int)MG_MAX(MG_MIN(fit, MG_POCKET_CANDIDATES), 1);
    MG_ARENA_NEW(&run->arena, pocket->weights, pocket->room * weights, purpose, run->fit->error);
    MG_ARENA_NEW(&run->arena, pocket->intercepts, pocket->room * run->functions, purpose,
                 run->fit->error);
    return MARGIN_OK;
}

margin_status mg_perceptron_pocket_end(mg_perceptron_run *run) {
    MG_TRY(mg_perceptron_pocket_settle(run));
    run->pocket.best_streak = -1.0; /* the last state may enter whatever its streak was */
    MG_TRY(offer(run, 0.0));
    return mg_perceptron_pocket_settle(run);
}
