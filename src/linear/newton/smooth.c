/* The moving point of the smooth solvers: coordinates, start, steps. */
#include "linear/newton/smooth.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A step is taken if it leads down by this share of what the slope promises (Armijo), */
static const double armijo = 1e-4;
/* or, where the value no longer tells, by rounding at most and to a flatter place (Hager and Zhang,
 * "A new conjugate gradient method with guaranteed descent", SIAM J. Optim. 16, 2005). */
static const double rounding = 1e-12, flatter = 0.9;
/* It is lengthened if the slope at its end is still this share of that at its start. */
static const double still_steep = 0.5;

bool mg_smooth_can(const mg_objective *objective, char *why) {
    enum { ROOM = 200 };
    if (!objective->loss->curved)
        snprintf(why, ROOM, "the %s loss has corners", objective->loss->name);
    else if (objective->penalty.kappa > 0.0)
        snprintf(why, ROOM, "|w|_1 has corners");
    else
        return true;
    return false;
}

/* ---- Points ---------------------------------------------------------------------------------- */

static margin_status evaluate(mg_smooth *s, mg_smooth_point *point) {
    const double rho = s->objective->penalty.rho;
    double last;
    mg_loss_point pass = {
        .scores = point->scores, .gradient = point->gradient, .intercept_gradient = &last};
    MG_TRY(mg_objective_pass(s->objective, point->w, &point->b, &pass, s->job->error));
    s->solution->passes++;
    point->value = pass.value;
    point->errors = pass.errors;
    const double square = s->vectors->square(point->gradient, s->columns);
    point->slack = rho > 0.0 ? square / (2.0 * rho) + fabs(last * point->b) : (double)INFINITY;
    for (int64_t j = 0; j < s->columns; j++)
        point->gradient[j] = s->factor[j] * (point->gradient[j] - s->centre[j] * last);
    point->gradient[s->columns] = last;
    return MARGIN_OK;
}

static void swap_points(mg_smooth *s) {
    const mg_smooth_point here = s->here;
    s->here = s->there;
    s->there = here;
}

/* there = here + t direction */
static margin_status try_step(mg_smooth *s, double t) {
    for (int64_t j = 0; j < s->columns; j++)
        s->there.w[j] = s->here.w[j] + t * s->move[j];
    s->there.b = s->here.b + t * s->move_b;
    s->step = t;
    return evaluate(s, &s->there);
}

/* ---- Start ----------------------------------------------------------------------------------- */

static margin_status go_to_start(mg_smooth *s) {
    const mg_linear_solution *given = s->solution;
    bool somewhere = *given->b != 0.0;
    for (int64_t j = 0; j < s->columns; j++)
        somewhere |= given->w[j] != 0.0;
    double constant;
    s->constant_value = mg_objective_constant(s->objective, &constant);
    memcpy(s->here.w, given->w, (size_t)s->columns * sizeof *given->w);
    s->here.b = somewhere ? *given->b : constant;
    MG_TRY(evaluate(s, &s->here));
    MG_REQUIRE(isfinite(s->here.value), s->job->error, MARGIN_ERROR_DATA,
               "the objective is beyond double precision; bring the columns to one scale first: "
               "standardize | ...");
    s->best_slack = s->here.slack;
    return MARGIN_OK;
}

static double *new_numbers(mg_smooth *s, int64_t count, bool *failed) {
    double *numbers = mg_arena_new(&s->arena, count, sizeof *numbers);
    *failed |= !numbers;
    return numbers;
}

static margin_status new_vectors(mg_smooth *s) {
    bool failed = false;
    double **const of_columns[] = {&s->centre, &s->factor, &s->move, &s->here.w, &s->there.w};
    double **const of_size[] = {&s->direction, &s->diagonal, &s->here.gradient, &s->there.gradient};
    double **const of_samples[] = {&s->here.scores, &s->there.scores};
    for (int k = 0; k < MG_LENGTH(of_columns); k++)
        *of_columns[k] = new_numbers(s, s->columns, &failed);
    for (int k = 0; k < MG_LENGTH(of_size); k++)
        *of_size[k] = new_numbers(s, s->size, &failed);
    for (int k = 0; k < MG_LENGTH(of_samples); k++)
        *of_samples[k] = new_numbers(s, s->samples, &failed);
    if (!failed) return MARGIN_OK;
    return mg_no_memory(s->design->heap, 9 * s->size + 2 * s->samples, sizeof(double),
                        "the state of a solver", s->job->error);
}

margin_status mg_smooth_begin(mg_linear_job *job, mg_linear_solution *solution, mg_smooth *s) {
    mg_design *design = job->objective->design;
    margin_status status;
    *s = (mg_smooth){.job = job,
                     .solution = solution,
                     .objective = job->objective,
                     .design = design,
                     .vectors = mg_vector_ops_for(design->isa),
                     .columns = design->columns,
                     .size = design->columns + 1,
                     .samples = design->samples,
                     .strictness = 0.95};
    mg_arena_init(&s->arena, design->heap);
    MG_GO(new_vectors(s));
    MG_GO(
        mg_design_coordinates(design, job->objective->intercept, s->centre, s->factor, job->error));
    MG_GO(go_to_start(s));
    mg_linear_trace(job, 0, s->here.w, &s->here.b, s->here.value, s->here.errors);
    return MARGIN_OK;
done:
    mg_smooth_free(s);
    return status;
}

void mg_smooth_free(mg_smooth *s) {
    mg_arena_free(&s->arena);
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static void set_move(mg_smooth *s) {
    for (int64_t j = 0; j < s->columns; j++)
        s->move[j] = s->factor[j] * s->direction[j];
    s->move_b = s->direction[s->columns] - s->vectors->dot(s->centre, s->move, s->columns);
    if (!s->objective->intercept) s->move_b = 0.0;
    s->slope = s->vectors->dot(s->here.gradient, s->direction, s->size);
}

margin_status mg_smooth_changes(mg_smooth *s, double *changes) {
    set_move(s);
    s->solution->passes++;
    return mg_design_scores(s->design, s->move, s->move_b, changes, s->job->error);
}

static double slope_there(const mg_smooth *s) {
    return s->vectors->dot(s->there.gradient, s->direction, s->size);
}

/* NaN does not lead down. */
static bool leads_down(const mg_smooth *s) {
    const double change = s->there.value - s->here.value;
    if (change <= armijo * s->step * s->slope) return true;
    return change <= rounding * fabs(s->here.value) &&
           fabs(slope_there(s)) <= flatter * fabs(s->slope);
}

static void take_step(mg_smooth *s) {
    swap_points(s);
    s->proven_here = false;
    s->solution->iterations++;
    s->cut = s->step < 0.5;
    s->was_cut |= s->cut;
    const bool fell = s->there.value - s->here.value > rounding * fabs(s->here.value);
    const bool tighter = s->here.slack < 0.5 * s->best_slack;
    if (tighter) s->best_slack = s->here.slack;
    s->idle_steps = fell || tighter ? 0 : s->idle_steps + 1;
    mg_linear_trace(s->job, s->solution->iterations, s->here.w, &s->here.b, s->here.value,
                    s->here.errors);
}

margin_status mg_smooth_step(mg_smooth *s, bool *moved) {
    *moved = false;
    s->stretched = false;
    set_move(s);
    if (!(s->slope < 0.0)) return MARGIN_OK;
    MG_TRY(try_step(s, 1.0));
    const bool fits = leads_down(s);
    s->stretched = fits && slope_there(s) < still_steep * s->slope;
    if (!fits || s->stretched) {
        double t;
        MG_TRY(mg_smooth_line(s, &t));
        if (t != 1.0) MG_TRY(try_step(s, t));
        if (!leads_down(s)) return MARGIN_OK;
    }
    take_step(s);
    *moved = true;
    return MARGIN_OK;
}
