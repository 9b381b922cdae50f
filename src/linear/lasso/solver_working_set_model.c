/* The working set, the quadratic model of an objective over it, and the step to its best point.
 *
 * Into the set go the columns with a weight, and of the others the ones whose correlation with the
 * residuals comes nearest to kappa or exceeds it most, in units of the column's length (Johnson and
 * Guestrin, "Blitz", ICML 2015; Massias, Gramfort, Salmon, "Celer", ICML 2018). At most as many of
 * these as have weights, so that the set grows by doubling at most, and only while it must. */
#include "base/sort.h"
#include "linear/lasso/solver_working_set.h"
#include "linear/objective/quadratic.h"

#include <string.h>

static const char purpose[] = "the products of the columns of a working set";

/* ---- Scores ---------------------------------------------------------------------------------- */

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
static bool is_enough(const mg_working *s) {
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

static void choose(mg_working *s) {
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

/* ---- Memory ---------------------------------------------------------------------------------- */

void mg_working_model_free(mg_working *s) {
    mg_free(s->design->heap, s->model.matrix);
    s->model.matrix = NULL;
    s->model.room = 0;
}

static margin_status working_set_make_room(mg_working *s) {
    mg_working_model *model = &s->model;
    if (model->matrix && model->count <= model->room) return MARGIN_OK;
    const int64_t room = MG_MAX(model->count, MG_MIN(model->count + model->count / 4, s->most));
    mg_working_model_free(s);
    MG_NEW(s->design->heap, model->matrix, (room + 1) * (room + 1), purpose, s->job->error);
    model->room = room;
    return MARGIN_OK;
}

/* ---- Matrix ---------------------------------------------------------------------------------- */

/* What the best change of the intercept leaves of the curvature of the others. */
static void remove_intercept(mg_working *s) {
    mg_working_model *model = &s->model;
    const int64_t stride = model->count + 1;
    const double *sums = model->sums, total = sums[model->count];
    if (!s->objective->intercept || !(total > 0.0)) return;
    for (int64_t k = 0; k < model->count; k++)
        s->vectors->add(model->matrix + k * stride, -sums[k] / total, sums, model->count);
}

static void add_ridge(mg_working *s) {
    mg_working_model *model = &s->model;
    const double rho = s->objective->penalty.rho;
    for (int64_t k = 0; k < model->count; k++) {
        const double factor = s->factor[model->member[k]];
        double *diagonal = model->matrix + k * (model->count + 2);
        *diagonal = fmax(*diagonal, 0.0) + rho * factor * factor;
    }
}

/* Every stride-th row in place of all of them, as long as these are many beside the columns. */
static void leave_out_rows(mg_working *s, mg_weighted_gram *request) {
    enum { ROWS_A_COLUMN = 64 };
    const int64_t count = s->samples / s->stride;
    if (s->stride == 1 || !s->rows || count < ROWS_A_COLUMN * s->model.count) {
        s->model.exact = true;
        return;
    }
    for (int64_t k = 0; k < count; k++) {
        s->rows[k] = k * s->stride;
        s->row_curvatures[k] = (double)s->stride * s->curvatures[k * s->stride];
    }
    request->chosen = s->rows;
    request->count = count;
    request->weights = s->row_curvatures;
    s->model.exact = false;
}

static margin_status build(mg_working *s) {
    mg_working_model *model = &s->model;
    mg_weighted_gram request = {.weights = s->curvatures,
                                .centre = s->centre,
                                .factor = s->factor,
                                .columns = model->member,
                                .column_count = model->count};
    MG_TRY(working_set_make_room(s));
    leave_out_rows(s, &request);
    MG_TRY(mg_design_gram(s->design, &request, model->matrix, s->job->error));
    model->centre = s->centre;
    model->sums = model->matrix + model->count * (model->count + 1); /* the row of the intercept */
    remove_intercept(s);
    add_ridge(s);
    model->current = model->fresh = true;
    return MARGIN_OK;
}

/* ---- Step ------------------------------------------------------------------------------------ */

void mg_working_begin_step(mg_working *s) {
    mg_working_model *model = &s->model;
    const mg_penalty *penalty = &s->objective->penalty;
    const double *sums = model->sums, total = sums[model->count];
    const double share = s->objective->intercept && total > 0.0 ? s->here.excess / total : 0.0;
    for (int64_t k = 0; k < model->count; k++) {
        const int64_t j = model->member[k];
        const double w = s->here.w[j], factor = s->factor[j];
        const double slope = s->here.gradient[j] - model->centre[j] * s->here.excess;
        model->u[k] = model->before[k] = w / factor;
        model->r[k] = factor * (slope + penalty->rho * w) - sums[k] * share;
        model->lambda[k] = factor * penalty->kappa;
    }
}

/* Without the intercept's part: that is 0 to first order, as the change of the intercept is the
 * best one. */
void mg_working_end_step(mg_working *s) {
    const mg_working_model *model = &s->model;
    const mg_penalty *penalty = &s->objective->penalty;
    const double *sums = model->sums, total = sums[model->count];
    double shift = s->here.excess, slope = 0.0, offset = 0.0;
    memcpy(s->there.w, s->here.w, (size_t)s->columns * sizeof *s->there.w);
    for (int64_t k = 0; k < model->count; k++) {
        const int64_t j = model->member[k];
        const double change = model->u[k] - model->before[k];
        if (change == 0.0) continue;
        const double from = s->here.w[j], to = s->factor[j] * model->u[k];
        s->there.w[j] = to;
        shift += sums[k] * change;
        offset += model->centre[j] * (to - from);
        slope += (s->here.gradient[j] + penalty->rho * from) * (to - from) +
                 penalty->kappa * (fabs(to) - fabs(from));
    }
    s->there.b = s->here.b;
    if (s->objective->intercept) {
        s->there.b -= offset + (total > 0.0 ? shift / total : 0.0);
        slope += s->here.excess * (s->there.b - s->here.b);
    }
    s->slope = slope;
}

/* How exactly the model is to be solved: more so the better it describes the objective. */
static double wanted_violation(const mg_working *s) {
    const double finest = 0.01 * s->job->tolerance, violation = fmin(s->violation, 0.3);
    if (s->objective->loss->kind == MG_LOSS_SQUARED) return finest;
    return fmax(finest, fmin(0.1 * violation, violation * violation));
}

margin_status mg_working_solve(mg_working *s) {
    mg_working_model *model = &s->model;
    if (!is_enough(s)) {
        choose(s);
        MG_TRY(build(s));
    }
    mg_quadratic quadratic = {.context = s->job->context,
                              .isa = s->design->isa,
                              .count = model->count,
                              .stride = model->count + 1,
                              .h = model->matrix,
                              .lambda = model->lambda,
                              .u = model->u,
                              .r = model->r,
                              .stop = &s->job->stop,
                              .error = s->job->error};
    mg_working_begin_step(s);
    MG_TRY(mg_quadratic_solve(&quadratic, wanted_violation(s)));
    mg_working_end_step(s);
    return MARGIN_OK;
}
