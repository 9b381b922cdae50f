/* Which columns go into the working set.
 *
 * Those with a weight, and of the others the ones whose correlation with the residuals comes
 * nearest to kappa or exceeds it most, in units of the column's length (Johnson and Guestrin,
 * "Blitz", ICML 2015; Massias, Gramfort, Salmon, "Celer", ICML 2018). At most as many of these as
 * have weights, so that the set grows by doubling at most, and only while it must. */
#include "base/sort.h"
#include "linear/lasso/solver_working_set.h"

#include <string.h>

/* ---- Scores ---------------------------------------------------------------------------------- */

double mg_working_slope(const mg_working *s, int64_t j) {
    return s->here.gradient[j] - s->centre[j] * s->here.excess;
}

/* How urgent a column is: above 0 where it violates the conditions of an optimum. */
static double urgency(const mg_working *s, int64_t j) {
    const mg_penalty *penalty = &s->objective->penalty;
    const double w = s->here.w[j], slope = mg_working_slope(s, j);
    if (w == 0.0) return s->factor[j] * (fabs(slope) - penalty->kappa);
    return s->factor[j] * fabs(slope + penalty->rho * w + copysign(penalty->kappa, w));
}

/* Columns with a weight; scores: INFINITY for those if all are to be in, the urgency else, and
 * -INFINITY for constant columns. */
static int64_t fill_scores(mg_working *s) {
    int64_t support = 0;
    for (int64_t j = 0; j < s->columns; j++)
        support += s->here.w[j] != 0.0;
    for (int64_t j = 0; j < s->columns; j++) {
        if (s->factor[j] == 0.0)
            s->score[j] = -(double)INFINITY;
        else if (s->here.w[j] != 0.0 && support < s->most)
            s->score[j] = (double)INFINITY;
        else
            s->score[j] = urgency(s, j);
    }
    return support;
}

/* The columns with the `wanted` greatest scores, of equal ones those that come first. */
static int64_t take_greatest(const mg_working *s, int64_t wanted, double *scratch,
                             int64_t *chosen) {
    int64_t above = 0, count = 0;
    memcpy(scratch, s->score, (size_t)s->columns * sizeof *scratch);
    const double least = mg_select(scratch, s->columns, s->columns - wanted);
    for (int64_t j = 0; j < s->columns; j++)
        above += s->score[j] > least;
    int64_t equal = wanted - above;
    for (int64_t j = 0; j < s->columns; j++) {
        if (s->score[j] > least || (s->score[j] == least && equal > 0)) {
            equal -= s->score[j] == least;
            chosen[count++] = j;
        }
    }
    return count;
}

/* ---- The choice ------------------------------------------------------------------------------ */

/* Whether every column that violates the conditions, or has a weight, is in the model. */
bool mg_working_is_enough(const mg_working *s) {
    const mg_working_model *model = &s->model;
    static const double rounding = 1e-12;
    int64_t k = 0;
    if (!model->current || model->count == 0) return false;
    for (int64_t j = 0; j < s->columns; j++) {
        while (k < model->count && model->member[k] < j)
            k++;
        if (s->factor[j] == 0.0 || (k < model->count && model->member[k] == j)) continue;
        if (s->here.w[j] != 0.0) return false;
        if (urgency(s, j) > rounding * s->factor[j] * s->objective->penalty.kappa) return false;
    }
    return true;
}

void mg_working_choose(mg_working *s) {
    mg_working_model *model = &s->model;
    const bool constant = s->objective->loss->kind == MG_LOSS_SQUARED;
    const int64_t support = fill_scores(s);
    int64_t urgent = 0; /* columns without a weight that violate the conditions */
    for (int64_t j = 0; j < s->columns; j++)
        urgent += s->here.w[j] == 0.0 && s->score[j] > 0.0;
    s->in_turns = support >= s->most;
    int64_t wanted = support + MG_MIN(urgent, MG_MAX(s->first, support)) + MG_MAX(8, support / 8);
    if (constant) { /* the matrix is made once for each set, so that it grows for good */
        const int64_t more = MG_MIN(urgent + urgent / 2 + 16, MG_MAX(s->first, model->count));
        wanted = MG_MAX(s->first, MG_MAX(wanted, model->count + more));
        for (int64_t k = 0; k < model->count && 2 * model->count <= s->most; k++)
            s->score[model->member[k]] = (double)INFINITY;
        if (3 * wanted > 2 * s->varying) wanted = s->varying;
    }
    if (mg_is_csr(&s->design->problem->x)) /* their products cost little */
        wanted = MG_MAX(wanted, s->first);
    wanted = MG_MIN(wanted, MG_MIN(s->most, s->varying));
    /* the weights of `there` are not needed now */
    model->count = wanted > 0 ? take_greatest(s, wanted, s->there.w, model->member) : 0;
}
