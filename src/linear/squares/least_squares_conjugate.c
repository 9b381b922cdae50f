/* Least squares by conjugate gradients, for columns of which products would cost more than passes
 * over the data: sparse and many, or one for each category.
 *
 *   (A'CA + alpha I) step = gradient        centred A, never made; diag(A'CA + alpha I) first
 *
 * With the residuals as dual point the gap is |gradient|^2 / alpha and what the intercept costs,
 * exactly (least_squares_pass.c). What conjugate gradients have left of the gradient is known in
 * each step, and so is how far P fell: both tell without a pass when to look at the data again. A
 * pass over the data then proves it, or more steps start from there.
 *
 * Without a penalty more columns than rows mostly leave nothing of the target, and no P is below 0,
 * or what equal rows differ by. Steps by w itself, without the diagonal, then stay in the span of
 * the rows from 0 on: of all weights with the same scores w has the least norm. */
#include "learn/exact/least_curvature.h"
#include "linear/design/design_columns.h"
#include "linear/objective/conjugate.h"
#include "linear/squares/least_squares.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

typedef struct conjugate_ways {
    mg_objective objective; /* what mg_conjugate_gradients needs of one */
    double *one;            /* columns: 1, of constant ones 0 */
    double *diagonal;       /* columns + 1, as those below */
    double *residual, *direction, *work;
    double *slopes; /* samples */
    mg_column_groups groups;
    int64_t most;         /* steps for a target */
    double early;         /* gap where the speed was last looked at */
    margin_status failed; /* of look_at_rows */
    bool are_apart;       /* columns: products of two are 0 */
} conjugate_ways;

/* After a quarter of the steps their speed is taken for that of the rest, which is faster. */
enum { QUARTER = 4 };
/* Of dense columns, which mostly depend on each other, the speed between these two steps. */
enum { TRIAL_FROM = 2, TRIAL = 5 };
/* Of a target of which nothing is to be left, from this step on whenever they have doubled. */
enum { FIRST_LOOK = 16 };
/* And at this one whether rows that own a column leave others that nothing fits. */
enum { LOOK_AT_ROWS = 64 };
/* Products for a bound where there is no penalty; one is as many steps, with some to spare. */
enum { MOST_PRODUCTS = 1024, PRODUCT = 2 };
static const double hope = 2.0;
/* Without a penalty steps are few, and other ways leave nothing but rounding. */
static const double least_gap = 1e-12;
/* Or of a target of which nothing is to be left this share of tol of its squares, to rounding. */
static const double share_of_target = 1e-4, rounding_of_target = 1e-14;
/* With neither bound nor factor: |gradient|^2 beside the squares of columns and residual. */
static const double at_rest = 1e-14;

/* What mg_conjugate asks between steps. */
typedef struct outlook {
    mg_squares *s;
    double before;               /* P where the steps start */
    double first, wanted, noise; /* gaps; see noise_of */
    int64_t most;
    conjugate_ways *ways;
} outlook;

/* sum (gradient_j / norm_j)^2: at least `least` times the distance from the optimum. */
static double reach_of(const mg_squares *s, const double *gradient) {
    double sum = 0.0;
    for (int64_t j = 0; j < s->columns; j++)
        if (s->norm[j] > 0.0) sum += gradient[j] / s->norm[j] * (gradient[j] / s->norm[j]);
    return sum;
}

static void judge_by_reach(mg_squares *s) {
    if (s->least > 0.0) mg_squares_judge_by(s, reach_of(s, s->gradient) / s->least);
}

/* Of all weights with the same scores those of least norm. */
static margin_status move_and_judge(mg_squares *s, const conjugate_ways *m) {
    mg_squares_move(s, m->direction);
    memset(s->step, 0, (size_t)s->columns * sizeof *s->step);
    mg_column_groups_add(&m->groups, m->one, -1.0, s->w, 1, s->step);
    mg_squares_move(s, s->step);
    MG_TRY(mg_squares_pass(s));
    judge_by_reach(s);
    return MARGIN_OK;
}

/* distance: of P from its least value. */
static double gap_of(const outlook *o, double distance, double fallen) {
    const double value = o->before - o->s->penalty.factor * o->s->unit * fallen;
    return fmin(distance, value - o->s->floor) / fmax(1.0, value);
}

/* Of the centred columns, squared and summed up. */
static double lengths_of(const mg_squares *s) {
    return mg_vector_ops_for(s->design.isa)->square(s->norm, s->columns);
}

/* |gradient|^2 that is rounding, some of it along what no column sees: steps would have no end. */
static double noise_of(const mg_squares *s) {
    double r, length = DBL_EPSILON * mg_squares_rounding(s, &r);
    return s->alpha > 0.0 || s->least > 0.0 ? 0.0 : length * length * lengths_of(s);
}

/* A trial that is not worth more steps is its target's last. from: the look before, if any. */
static bool is_slow(const outlook *o, double gap, int64_t from, int64_t steps) {
    const double speed = fmin(log(gap / o->ways->early), -1e-3) / (double)(steps - from);
    const bool slow = from > 0 && (double)steps + log(o->wanted / gap) / speed > (double)o->most;
    o->ways->early = gap;
    if (slow) o->ways->most = 0;
    return slow;
}

/* Steps would be many, and have no bound. */
static bool look_at_rows(const outlook *o) {
    bool worth = false;
    o->ways->failed = mg_squares_find_owners(o->s, &worth);
    worth |= o->ways->failed < 0;
    if (worth) o->ways->most = 0;
    return worth;
}

/* Near enough, or so far that the direct way will be there before. */
static bool look_ahead(const void *state, const double *residual, int64_t steps, double fallen) {
    const outlook *o = state;
    const mg_squares *s = o->s;
    const double factor = s->penalty.factor * s->unit;
    const double square = mg_vector_ops_for(s->design.isa)->square(residual, s->columns);
    double distance = (double)INFINITY;
    if (s->penalty.rho > 0.0)
        distance = 2.0 * factor * factor * square / s->penalty.rho;
    else if (s->least > 0.0)
        distance = factor * reach_of(s, residual) / s->least;
    const double gap = gap_of(o, distance, fallen);
    if (gap <= o->wanted || square <= o->noise) return true;
    if (s->is_free && !s->is_unbounded && steps == LOOK_AT_ROWS && s->most_steps < 0 &&
        look_at_rows(o))
        return true;
    if (s->only) return false;
    if (s->is_dear) return square <= at_rest * lengths_of(s) * (o->before / factor - fallen);
    if (s->is_free)
        return steps >= FIRST_LOOK && (steps & (steps - 1)) == 0 &&
               is_slow(o, gap, steps > FIRST_LOOK ? steps / 2 : 0, steps);
    if (s->price.most == 0.0)
        return (steps == TRIAL_FROM || steps == TRIAL) &&
               is_slow(o, distance / fmax(1.0, o->before), steps > TRIAL_FROM ? TRIAL_FROM : 0,
                       steps);
    if (steps != o->most / QUARTER) return false;
    const double needed = log(o->wanted / o->first) / fmin(log(gap / o->first), -1e-3);
    return (double)steps * needed > hope * (double)o->most;
}

/* Of the equation that is solved beside the bound, in columns divided by their norms. */
static bool is_enough(const void *state, double left, double fallen, double least) {
    const outlook *o = state;
    return gap_of(o, o->s->penalty.factor * o->s->unit * left / least, fallen) <= o->wanted;
}

static double squares_of_target(const mg_squares *s) {
    return s->penalty.factor * s->unit * s->spread * s->spread;
}

/* The gap at which steps end. */
static double aim_of(const mg_squares *s) {
    const double squares = squares_of_target(s);
    if (!s->is_free) return s->least > 0.0 ? least_gap : 0.9 * s->tolerance;
    return 0.9 * fmin(s->tolerance,
                      fmax(s->tolerance * share_of_target * squares, rounding_of_target * squares));
}

static margin_status conjugate_step(mg_squares *s, conjugate_ways *m, int64_t most) {
    const outlook ahead = {.s = s,
                           .before = s->now.objective,
                           .first = s->now.gap,
                           .wanted = aim_of(s),
                           .noise = noise_of(s),
                           .most = most,
                           .ways = m};
    const mg_conjugate job = {.objective = &m->objective,
                              .stop = &s->stop,
                              .weights = s->c,
                              .count = s->samples,
                              .centre = s->mean,
                              .factor = m->one,
                              .diagonal = m->diagonal,
                              .share = 1e-24,
                              .enough = look_ahead,
                              .state = &ahead,
                              .most = most,
                              .residual = m->residual,
                              .direction = m->direction,
                              .work = m->work};
    int64_t steps;
    memcpy(m->residual, s->gradient, (size_t)s->columns * sizeof *m->residual);
    m->residual[s->columns] = 0.0;
    MG_TRY(mg_conjugate_gradients(&job, &steps, s->error));
    MG_TRY(m->failed);
    s->steps += steps;
    return move_and_judge(s, m);
}

/* mg_squares_pass where w = 0: the scores are known. Behind one large term thousands of small ones
 * would all be rounded the same way. */
static margin_status start_pass(mg_squares *s, const conjugate_ways *m, bool again) {
    const double *y = s->problem->target;
    double total, *residual = m->slopes;
    long double value = 0.0L;
    for (int64_t i = 0; i < s->samples; i++) {
        residual[i] = s->c[i] * (y[i] - s->b);
        value += (long double)(residual[i] * (y[i] - s->b));
    }
    s->now.value = (double)value;
    if (s->is_free) mg_squares_find_floor(s, again);
    s->enough = s->tolerance * (s->is_free ? fmin(1.0, squares_of_target(s)) : 1.0);
    MG_TRY(mg_design_gradient(&s->design, residual, s->gradient, &total, s->error));
    mg_squares_judge(s, total);
    judge_by_reach(s);
    return MARGIN_OK;
}

/* Rounds of steps, each from the data, while one is worth its pass. */
static margin_status conjugate_go_on(mg_squares *s, conjugate_ways *m) {
    const double enough = s->is_free ? aim_of(s) / 0.9 : s->tolerance;
    const mg_vector_ops *ops = mg_vector_ops_for(s->design.isa);
    while (s->now.gap > enough && ops->square(s->gradient, s->columns) > noise_of(s)) {
        const double before = s->now.gap;
        const int64_t most = m->most - s->steps;
        MG_TRY(mg_squares_in_time(s, mg_stop_check(&s->stop, s->steps)));
        if (s->out_of_time || most <= 0) return MARGIN_OK;
        MG_TRY(conjugate_step(s, m, most));
        MG_TRY(mg_squares_in_time(s, mg_stop_check(&s->stop, s->steps)));
        if (!(s->now.gap < 0.5 * before)) return MARGIN_OK;
    }
    return MARGIN_OK;
}

static margin_status conjugate_rounds(mg_squares *s, void *argument) {
    MG_TRY(start_pass(s, argument, true));
    return conjugate_go_on(s, argument);
}

/* Sums over blocks of rows are not to have more numbers than the rows, nor nearly as many. Blocks
 * are fewer then; where there is enough to share among threads, sums are found column by column. */
static margin_status choose_sums(mg_squares *s) {
    enum { FEW = 1 << 20, RATIO = 4 }; /* stored values: a pass is over before threads are awake */
    const mg_problem *problem = s->problem;
    if (!mg_is_csr(&problem->x)) return MARGIN_OK;
    const int64_t stored = mg_sparse_count(&problem->x, problem->index, problem->count);
    const int64_t most = MG_MAX(stored / s->columns / (stored > FEW ? 1 : RATIO), 1);
    const int64_t rows = (s->samples + most - 1) / most;
    if (s->design.block_rows >= rows) return MARGIN_OK;
    if (stored > FEW) return mg_design_store_columns(&s->design, s->error);
    s->design.block_rows = rows;
    return MARGIN_OK;
}

/* What a bound of the least eigenvalue says: nothing depends but categories, left out of it. */
static margin_status take_rank(mg_squares *s, const conjugate_ways *m) {
    bool *marks;
    const int64_t left_out = mg_column_groups_rank(&m->groups, m->one);
    if (left_out <= 0) return MARGIN_OK;
    MG_ARENA_NEW(&s->arena, marks, s->columns, "the categories", s->error);
    s->rank = -left_out;
    for (int64_t j = 0; j < s->columns; j++) {
        s->rank += m->one[j] > 0.0;
        marks[j] = m->one[j] * m->groups.entry[j] != 0.0;
    }
    mg_squares_name_columns(s, marks);
    return MARGIN_OK;
}

/* Where columns are more than rows, steps in their own lengths leave the span of the rows for short
 * ones, and a small penalty is slow to bring them back. So none counts as shorter than the rows
 * are, but for columns that are most of those. */
static double least_square(const mg_squares *s) {
    enum { PART = 10, ROUNDS = 20 };
    double all = (double)INFINITY;
    for (int k = 0; k < ROUNDS && s->columns > s->samples; k++) {
        const double before = all, most = all / PART;
        all = 0.0;
        for (int64_t j = 0; j < s->columns; j++)
            if (s->norm[j] * s->norm[j] <= most) all += s->norm[j] * s->norm[j];
        if (all == before) break;
    }
    return s->columns > s->samples ? all / s->total : 0.0;
}

static margin_status conjugate_begin(mg_squares *s, conjugate_ways *m) {
    const int64_t n = s->columns;
    MG_TRY(MG_PIECES(&s->arena, "conjugate gradients", s->error, MG_PIECE(m->one, n),
                     MG_PIECE(m->diagonal, n + 1), MG_PIECE(m->residual, n + 1),
                     MG_PIECE(m->direction, n + 1), MG_PIECE(m->slopes, s->samples),
                     MG_PIECE(m->work, MG_CONJUGATE_VECTORS * (n + 1))));
    MG_TRY(choose_sums(s));
    MG_TRY(mg_squares_moments(s));
    m->are_apart = mg_columns_are_apart(s->problem);
    const double least = least_square(s);
    const double rows = lengths_of(s) / s->total; /* for all: steps stay in the span of the rows */
    for (int64_t j = 0; j < n; j++) {
        const double mean = m->are_apart && !s->design.shift ? s->mean[j] : 0.0; /* two steps */
        const double square = fmax(s->norm[j] * s->norm[j] + s->total * mean * mean, least);
        m->one[j] = s->norm[j] > 0.0;
        m->diagonal[j] = !(s->norm[j] > 0.0) ? 1.0 : s->is_free ? rows : square + s->alpha;
    }
    m->diagonal[n] = s->total;
    m->objective = (mg_objective){.design = &s->design,
                                  .columns = n,
                                  .samples = s->samples,
                                  .intercept = s->intercept,
                                  .penalty.rho = s->alpha};
    return MARGIN_OK;
}

/* The bound of the least eigenvalue, and with it the first steps.
 *
 * Where every row has one category alone, of share p_j, the matrix is 1 / (1 - p_j) on the diagonal
 * less a vector times itself: beside the 0 of the intercept, which is left out, no eigenvalue is
 * below the least on the diagonal. Without an intercept, and shifts, it is 1. */
static margin_status find_least(mg_squares *s, conjugate_ways *m) {
    const int64_t products = s->only ? MOST_PRODUCTS : MG_MIN(m->most / PRODUCT, MOST_PRODUCTS);
    const outlook ahead = {.s = s, .before = s->now.objective, .wanted = least_gap};
    mg_least_equation equation = {.right = m->residual,
                                  .x = m->direction,
                                  .most = m->most,
                                  .enough = is_enough,
                                  .state = &ahead};
    MG_TRY(mg_column_groups_find(s->context, s->problem, s->intercept, s->c, &s->arena, &m->groups,
                                 s->error));
    if (m->are_apart && (s->intercept ? m->groups.count == 1 : !s->problem->shift)) {
        s->least = 0.5; /* 1 but for rounding, see below */
        s->condition = sqrt(2.0);
        judge_by_reach(s);
        return MARGIN_OK;
    }
    const mg_column_curvature curvature = {.context = s->context,
                                           .stop = &s->stop,
                                           .problem = s->problem,
                                           .weights = s->c,
                                           .mean = s->mean,
                                           .norm = s->norm,
                                           .groups = &m->groups,
                                           .equation = &equation};
    for (int64_t j = 0; j < s->columns; j++)
        m->residual[j] = s->norm[j] > 0.0 ? s->gradient[j] / s->norm[j] : 0.0;
    MG_TRY(mg_squares_in_time(s, mg_least_curvature(&curvature, products, &s->least, s->error)));
    if (s->out_of_time || s->least == 0.0) return MARGIN_OK;
    s->condition = 1.0 / sqrt(s->least);
    s->is_drawn = true;
    s->steps = equation.steps;
    for (int64_t j = 0; j < s->columns; j++)
        m->direction[j] = s->norm[j] > 0.0 ? m->direction[j] / s->norm[j] : 0.0;
    return move_and_judge(s, m);
}

margin_status mg_squares_conjugate(mg_squares *s, int64_t most, bool *doubtful) {
    conjugate_ways *m;
    MG_ARENA_NEW(&s->arena, m, 1, "conjugate gradients", s->error);
    m->most = most;
    m->groups.count = 0;
    m->failed = MARGIN_OK;
    snprintf(s->method, sizeof s->method, "conjugate gradients");
    s->is_free = s->alpha == 0.0 && (s->columns > s->samples || s->is_unbounded);
    MG_TRY(conjugate_begin(s, m));
    if (s->is_free) MG_TRY(mg_squares_find_equal(s));
    mg_squares_start(s);
    MG_TRY(start_pass(s, m, false));
    *doubtful = s->alpha == 0.0 && !s->is_free && !s->only;
    if (s->alpha == 0.0 && !s->is_free) MG_TRY(find_least(s, m));
    if (s->least > 0.0) MG_TRY(take_rank(s, m));
    if (*doubtful && s->least == 0.0) s->judged = false; /* left to a factor */
    if (s->out_of_time || !s->judged) return MARGIN_OK;
    MG_TRY(conjugate_go_on(s, m));
    *doubtful = s->now.gap > s->enough && !s->out_of_time;
    s->solve_again = conjugate_rounds;
    s->factor = m;
    return MARGIN_OK;
}
