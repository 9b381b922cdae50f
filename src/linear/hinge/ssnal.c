/* The moving point of the semismooth Newton solver: memory, start, steps. */
#include "linear/hinge/ssnal.h"

#include <string.h>

/* Of F, relative to it. */
static const double rounding = 1e-13;
/* The matrix is made from more rows if a step promises more than this share of what the one before
 * promised. */
static const double slow = 0.3;
/* Columns up to which the Newton equations may be solved by a factor, and by what the rows in it
 * grow. */
enum { FACTOR_COLUMNS = 2048, MORE_ROWS = 4 };
/* Steps that conjugate gradients are taken to need before they were tried. */
enum { FIRST_PRODUCTS = 20 };
static const double first_sharpness = 0.3;
/* The greatest ratio to start with between what the rows and what the penalty do to a column, in
 * the geometric mean of the columns. */
static const double hold = 1e4;
/* Of q in the coordinates, relative to the sum of the boxes, where there is no penalty. */
static const double softness = 1e-11;
/* Boxes are cut to this much more than the multipliers can be, if that is so much less. */
static const double above_bound = 1.001, worth_cutting = 4.0;

static margin_status ssnal_new_vectors(mg_ssnal *s) {
    static const char purpose[] = "the state of a solver";
    const int64_t n = s->columns, size = s->size, m = s->samples;
    margin_error *error = s->job->error;
    MG_TRY(MG_PIECES(
        s->arena, purpose, error, MG_PIECE(s->centre, n), MG_PIECE(s->factor, n),
        MG_PIECE(s->move, n), MG_PIECE(s->here.w, n), MG_PIECE(s->there.w, n),
        MG_PIECE(s->here.pull, n), MG_PIECE(s->there.pull, n), MG_PIECE(s->stiffness, n),
        MG_PIECE(s->anchor, n), MG_PIECE(s->direction, size), MG_PIECE(s->diagonal, size),
        MG_PIECE(s->here.gradient, size), MG_PIECE(s->there.gradient, size),
        MG_PIECE(s->here.scores, m), MG_PIECE(s->there.scores, m), MG_PIECE(s->active_weights, m),
        MG_PIECE(s->multipliers, m), MG_PIECE(s->active, m), MG_PIECE(s->work, 5 * size)));
    if (s->columns <= FACTOR_COLUMNS)
        MG_ARENA_NEW(s->arena, s->matrix, s->size * s->size, purpose, error);
    return MARGIN_OK;
}

/* ---- Modes ----------------------------------------------------------------------------------- */

/* The first sharpness: with w, b and the multipliers 0 all rows are active, so that the first step
 * is a least squares fit; less where the boxes are so large that few rows would hold w from then
 * on. */
static double start_sharpness(const mg_ssnal *s) {
    double boxes = 0.0, logs = 0.0, columns = 0.0;
    for (int64_t i = 0; i < s->samples; i++)
        boxes += s->c[i];
    for (int64_t j = 0; j < s->columns; j++) {
        if (!(s->factor[j] > 0.0)) continue;
        logs -= log(s->factor[j] * s->factor[j] * s->stiffness[j]);
        columns += 1.0;
    }
    return columns > 0.0 ? fmin(first_sharpness, hold / (boxes * exp(logs / columns)))
                         : first_sharpness;
}

void mg_ssnal_soften(mg_ssnal *s) {
    const double q = softness * s->objective->mass;
    s->mode = MG_SSNAL_FREE;
    memcpy(s->anchor, s->here.w, (size_t)s->columns * sizeof *s->anchor);
    for (int64_t j = 0; j < s->columns; j++)
        s->stiffness[j] = s->factor[j] > 0.0 ? q / s->factor[j] / s->factor[j] : q;
}

margin_status mg_ssnal_harden(mg_ssnal *s, bool *hardened) {
    const double scale = 1.0 / s->here.least;
    const double rho = s->objective->penalty.rho > 0.0 ? s->objective->penalty.rho : 1.0;
    const double norm = scale * sqrt(s->vectors->square(s->here.w, s->columns));
    const double enough = above_bound * rho * norm * norm;
    double least = (double)INFINITY; /* one box that binds is enough to make it another optimum */
    for (int64_t i = 0; i < s->samples; i++)
        least = fmin(least, s->c[i]);
    *hardened = isfinite(enough) && enough > 0.0 &&
                (s->mode == MG_SSNAL_FREE || worth_cutting * enough < least);
    if (!*hardened) return MARGIN_OK;
    if (!s->cut) MG_ARENA_NEW(s->arena, s->cut, s->samples, "the boxes of a solver", s->job->error);
    for (int64_t i = 0; i < s->samples; i++)
        s->cut[i] = s->mode == MG_SSNAL_FREE ? enough : fmin(s->c[i], enough);
    s->c = s->cut;
    s->mode = MG_SSNAL_HARD;
    for (int64_t j = 0; j < s->columns; j++) {
        s->stiffness[j] = rho;
        s->here.w[j] = s->anchor[j] = 0.0;
    }
    s->here.b = 0.0;
    s->sharpness = start_sharpness(s);
    memset(s->multipliers, 0, (size_t)s->samples * sizeof *s->multipliers);
    return mg_ssnal_pass(s, &s->here, true);
}

/* ---- Start ----------------------------------------------------------------------------------- */

/* 0 where both classes are there, else the sign of all samples. */
static int only_sign(const mg_ssnal *s) {
    const int8_t *sign = s->design->problem->sign;
    for (int64_t i = 1; i < s->samples; i++)
        if (sign[i] != sign[0]) return 0;
    return sign[0];
}

margin_status mg_ssnal_start_constant(mg_ssnal *s, bool *started) {
    static const double larger = 2.0, near = 0.95, sharp = 1e5, sharper = 1e12;
    const int8_t *sign = s->design->problem->sign;
    double boxes[2] = {0.0, 0.0};
    for (int64_t i = 0; i < s->samples; i++)
        boxes[sign[i] > 0] += s->c[i];
    const bool most = boxes[1] > boxes[0];
    const double few = boxes[!most], ratio = boxes[most] / few, rho = s->objective->penalty.rho;
    *started = s->objective->intercept && rho > 0.0 && few > 0.0 && ratio >= larger;
    if (!*started) return MARGIN_OK;
    s->here.b = most ? 1.0 : -1.0;
    s->sharpness = fmax(sharp, sqrt(sharper / few)); /* what w it leaves: as 1 / (s^2 few) */
    for (int64_t j = 0; j < s->columns; j++) {
        s->stiffness[j] = rho;
        s->here.w[j] = s->anchor[j] = 0.0;
    }
    for (int64_t i = 0; i < s->samples; i++) {
        s->multipliers[i] = (sign[i] > 0) == most ? 1.0 / ratio : 1.0;
        s->here.scores[i] = s->here.b;
    }
    MG_TRY(mg_ssnal_pass(s, &s->here, false));
    const double apart = s->vectors->square(s->here.gradient, s->columns) / few / few;
    *started = apart <= near * log(ratio);
    return MARGIN_OK;
}

margin_status mg_ssnal_start(mg_ssnal *s) {
    const double rho = s->objective->penalty.rho;
    memcpy(s->here.w, s->solution->w, (size_t)s->columns * sizeof *s->here.w);
    s->here.b = *s->solution->b;
    if (s->objective->intercept && only_sign(s) != 0) s->here.b = only_sign(s);
    for (int64_t j = 0; j < s->columns; j++) {
        s->stiffness[j] = rho;
        s->anchor[j] = 0.0;
    }
    if (rho == 0.0) mg_ssnal_soften(s);
    s->last_slope = 0.0;
    s->most_rows = 0;
    s->sharpness = start_sharpness(s);
    memset(s->multipliers, 0, (size_t)s->samples * sizeof *s->multipliers);
    MG_TRY(mg_ssnal_pass(s, &s->here, true));
    return mg_objective_finite(s->here.value, s->job->error);
}

margin_status mg_ssnal_begin(mg_linear_job *job, mg_linear_solution *solution, mg_arena *arena,
                             mg_ssnal *s) {
    mg_design *design = job->objective->design;
    *s = (mg_ssnal){.job = job,
                    .solution = solution,
                    .objective = job->objective,
                    .design = design,
                    .arena = arena,
                    .vectors = mg_vector_ops_for(design->isa),
                    .columns = design->columns,
                    .size = design->columns + 1,
                    .samples = design->samples,
                    .c = job->objective->c,
                    .last_products = FIRST_PRODUCTS};
    MG_TRY(ssnal_new_vectors(s));
    return mg_design_coordinates(design, job->objective->intercept, s->centre, s->factor,
                                 job->error);
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static void set_move(mg_ssnal *s) {
    s->move_b = mg_design_from_coordinates(s->design, s->centre, s->factor, s->direction, s->move);
    if (!s->objective->intercept) s->move_b = 0.0;
    s->slope = s->vectors->dot(s->here.gradient, s->direction, s->size);
    s->along = s->square = 0.0;
    for (int64_t j = 0; j < s->columns; j++) {
        s->along += s->stiffness[j] * (s->here.w[j] - s->anchor[j]) * s->move[j];
        s->square += s->stiffness[j] * s->move[j] * s->move[j];
    }
}

/* there = here + t direction; its scores, but for t = 1, from those of t = 1. */
static margin_status ssnal_try(mg_ssnal *s, double t) {
    for (int64_t j = 0; j < s->columns; j++)
        s->there.w[j] = s->here.w[j] + t * s->move[j];
    s->there.b = s->here.b + t * s->move_b;
    for (int64_t i = 0; t != 1.0 && i < s->samples; i++)
        s->there.scores[i] = s->here.scores[i] + t * (s->there.scores[i] - s->here.scores[i]);
    return mg_ssnal_pass(s, &s->there, t == 1.0);
}

static mg_step step_of(const mg_ssnal *s, double t) {
    const double slope_there = s->vectors->dot(s->there.gradient, s->direction, s->size);
    return (mg_step){s->here.value, s->there.value, t, s->slope, slope_there};
}

margin_status mg_ssnal_step(mg_ssnal *s, bool *moved) {
    *moved = false;
    set_move(s);
    if (!(s->slope < 0.0)) return MARGIN_OK;
    if (s->sampled && s->last_slope != 0.0 && s->slope < slow * s->last_slope)
        s->most_rows *= MORE_ROWS;
    s->last_slope = s->sampled ? s->slope : 0.0;
    MG_TRY(ssnal_try(s, 1.0));
    mg_step step = step_of(s, 1.0);
    if (!mg_step_leads_down(&step, rounding) || mg_step_is_short(&step)) {
        double t;
        MG_TRY(mg_ssnal_line(s, &t));
        if (t != 1.0) MG_TRY(ssnal_try(s, t));
        step = step_of(s, t);
        if (!mg_step_leads_down(&step, rounding)) return MARGIN_OK;
    }
    const mg_ssnal_point here = s->here;
    s->here = s->there;
    s->there = here;
    s->solution->iterations++;
    *moved = true;
    return MARGIN_OK;
}
