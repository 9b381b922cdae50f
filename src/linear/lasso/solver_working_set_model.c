/* The quadratic model of an objective over the working set, and the step to its best point. */
#include "linear/lasso/quadratic.h"
#include "linear/lasso/solver_working_set.h"

#include <string.h>

static const char purpose[] = "the products of the columns of a working set";

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

margin_status mg_working_build(mg_working *s) {
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
