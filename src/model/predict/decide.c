/* How scores become a class. */
#include "model/predict/predict.h"

#include <math.h>
#include <string.h>

static int64_t greatest(const double *scores, int64_t classes) {
    int64_t best = 0;
    double most = scores[0];
    bool gap = isnan(most);
    for (int64_t c = 1; c < classes; c++) { /* without branches: which wins is hard to foresee */
        const bool more = scores[c] > most;
        gap |= isnan(scores[c]);
        best = more ? c : best;
        most = more ? scores[c] : most;
    }
    return gap || isinf(most) ? -1 : best;
}

/* work: a vote and a sum of scores per class. False: a score is NaN. */
static bool count_votes(const double *scores, int64_t classes, double *work) {
    double *votes = work, *sums = work + classes;
    for (int64_t c = 0; c < classes; c++)
        votes[c] = sums[c] = 0;
    for (int64_t i = 0; i < classes; i++) {
        for (int64_t j = i + 1; j < classes; j++) {
            double score = *scores++;
            if (isnan(score)) return false;
            votes[score >= 0 ? i : j] += 1;
            sums[i] += score;
            sums[j] -= score;
        }
    }
    return true;
}

static int64_t elected(const double *scores, int64_t classes, double *work) {
    const double *votes = work, *sums = work + classes;
    int64_t best = 0;
    if (!count_votes(scores, classes, work)) return -1;
    for (int64_t c = 1; c < classes; c++)
        if (votes[c] > votes[best] || (votes[c] == votes[best] && sums[c] > sums[best])) best = c;
    return best;
}

int64_t mg_decide_room(const margin_model *model) {
    if (mg_decides_by_probability(model)) return model->classes;
    return model->decision == MG_DECIDE_VOTES ? 2 * model->classes : 0;
}

int64_t mg_decide(const margin_model *model, const double *scores, double *work) {
    if (mg_decides_by_probability(model)) {
        mg_probabilities(model, scores, work);
        return mg_decide_probable(model, work);
    }
    switch (model->decision) {
    case MG_DECIDE_SIGN:
        return isnan(scores[0]) ? -1 : scores[0] >= 0;
    case MG_DECIDE_ARGMAX:
        return greatest(scores, model->classes);
    case MG_DECIDE_VOTES:
        return elected(scores, model->classes, work);
    case MG_DECIDE_VALUE:
        break;
    }
    return -1;
}

/* ---- Scores with errors ---------------------------------------------------------------------- */

/* The class whose least is above the most of all others. */
static int64_t one_above(const double *least, const double *most, int64_t classes) {
    int64_t best = 0, below = 0;
    for (int64_t c = 1; c < classes; c++)
        if (least[c] > least[best]) best = c;
    for (int64_t c = 0; c < classes; c++)
        below += least[best] > most[c];
    return below == classes - 1 ? best : MG_IN_DOUBT;
}

static void find_ranges(const double *scores, const double *errors, int64_t classes, double *least,
                        double *most) {
    for (int64_t c = 0; c < classes; c++) {
        least[c] = scores[c] - errors[c];
        most[c] = scores[c] + errors[c];
    }
}

/* A score in doubt is a vote that either class may have. */
static void count_ranges(const double *scores, const double *errors, int64_t classes, double *least,
                         double *most) {
    for (int64_t c = 0; c < classes; c++)
        least[c] = most[c] = 0.0;
    for (int64_t i = 0; i < classes; i++) {
        for (int64_t j = i + 1; j < classes; j++) {
            const double score = *scores++, error = *errors++;
            least[i] += score > error;
            least[j] += -score > error;
            most[i] += !(-score > error);
            most[j] += !(score > error);
        }
    }
}

int64_t mg_decide_rough(const margin_model *model, const double *scores, const double *errors,
                        double *work) {
    double *least = work, *most = work + model->classes;
    if (mg_decides_by_probability(model)) return MG_IN_DOUBT;
    switch (model->decision) {
    case MG_DECIDE_SIGN:
        return fabs(scores[0]) > errors[0] ? scores[0] > 0 : MG_IN_DOUBT;
    case MG_DECIDE_ARGMAX:
        find_ranges(scores, errors, model->classes, least, most);
        return one_above(least, most, model->classes);
    case MG_DECIDE_VOTES:
        count_ranges(scores, errors, model->classes, least, most);
        return one_above(least, most, model->classes);
    case MG_DECIDE_VALUE:
        break;
    }
    return MG_IN_DOUBT;
}

/* ---- A number for each class ----------------------------------------------------------------- */

/* Votes are whole numbers; the sum of the scores moves them by less than a third, so that it counts
 * where votes are equal. */
static void vote_scores(const double *work, int64_t classes, double *out) {
    const double *votes = work, *sums = work + classes;
    for (int64_t c = 0; c < classes; c++) {
        const double share =
            isinf(sums[c]) ? copysign(1.0, sums[c]) : sums[c] / (1 + fabs(sums[c]));
        out[c] = votes[c] + (isnan(share) ? 0 : share / 3);
    }
}

void mg_class_scores(const margin_model *model, const double *scores, double *work, double *out) {
    const int64_t classes = model->classes, label = mg_decide(model, scores, work);
    int64_t best = 0;
    if (label < 0) {
        for (int64_t c = 0; c < classes; c++)
            out[c] = (double)NAN;
        return;
    }
    if (mg_decides_by_probability(model)) {
        mg_probable_scores(model, work, out);
    } else if (model->decision == MG_DECIDE_VOTES) {
        vote_scores(work, classes, out);
    } else if (model->decision == MG_DECIDE_SIGN) {
        out[0] = -scores[0];
        out[1] = scores[0];
    } else {
        memcpy(out, scores, (size_t)classes * sizeof *out);
    }
    for (int64_t c = 1; c < classes; c++)
        if (out[c] > out[best]) best = c;
    if (best != label) out[label] = nextafter(out[best], (double)INFINITY);
}

static bool ranks_are_logarithms(const margin_model *model) {
    return mg_learner_more_of(model->learner)->log_scores && !model->additions;
}

void mg_class_ranks(const margin_model *model, const double *scores, const double *p,
                    double *ranks) {
    const int64_t classes = model->classes;
    double most = scores[0], sum = 0;
    if (!ranks_are_logarithms(model)) {
        memcpy(ranks, p, (size_t)classes * sizeof *ranks);
        return;
    }
    for (int64_t c = 1; c < classes; c++)
        most = MG_MAX(most, scores[c]);
    for (int64_t c = 0; c < classes; c++)
        sum += exp(scores[c] - most);
    for (int64_t c = 0; c < classes; c++)
        ranks[c] = -(log(sum) - (scores[c] - most));
}

double mg_log_loss(const margin_model *model, const double *p, const double *ranks, int64_t label) {
    return ranks_are_logarithms(model) ? -ranks[label] : -log(p[label]);
}
