/* Which solver for which problem: the one place that decides. */
#include "linear/learners/linear_learner.h"
#include "math/rows/sparse_columns.h"

#include <stdio.h>
#include <string.h>

enum { ROOM = 200 };

static const mg_linear_solver *const solvers[] = {
    /* one a line */
    /* clang-format off */
    &mg_solver_dual_cd,
    &mg_solver_gd,
    &mg_solver_lbfgs,
    &mg_solver_minibatch,
    &mg_solver_newton,
    &mg_solver_sgd,
    &mg_solver_ssnal,
    &mg_solver_working_set,
    /* clang-format on */
};

const mg_linear_solver *mg_linear_solver_named(const char *name) {
    for (int k = 0; k < MG_LENGTH(solvers); k++)
        if (strcmp(solvers[k]->name, name) == 0) return solvers[k];
    return NULL;
}

/* ---- Prices ----------------------------------------------------------------------------------
 * Seconds of one core from sizes alone, so that a choice is the same everywhere; measured once (see
 * bench/bench_choice.py). */

/* Rows, columns, numbers that a pass visits; squares of a row's numbers, summed up. */
typedef struct sizes {
    double rows, columns, values, pairs;
    bool sparse;
} sizes;

static sizes sizes_of(const mg_design *design) {
    const mg_problem *problem = design->problem;
    const margin_matrix *x = &problem->x;
    const bool sparse = mg_is_csr(x);
    const double rows = (double)problem->count, columns = (double)x->columns;
    const double values =
        sparse ? (double)mg_sparse_count(x, problem->index, problem->count) : rows * columns;
    return (sizes){rows, columns, values, values / rows * values, sparse};
}

/* The columns of dense tables mostly depend on each other, so that steps would be many: there a
 * factor, but where the rows are much fewer, or a few steps tell otherwise. And where no time is to
 * be saved, for its digits. */
mg_squares_cost mg_squares_price(const mg_design *design) {
    enum { MOST = 32768 }; /* rows of a square matrix of 8 GiB */
    static const double no_matter = 1e-3;
    const sizes z = sizes_of(design);
    const bool wide = z.columns >= 2.0 * z.rows;
    const int64_t limit = mg_heap_limit(design->heap);
    const double n = fmin(z.rows, z.columns), bytes = 2.0 * n * n * sizeof(double);
    const double products = z.columns > z.rows ? (z.sparse ? 2e-9 : 6e-11) * z.values * z.rows
                                               : (z.sparse ? 2e-9 : 2e-11) * z.pairs;
    const double value = z.sparse ? 3e-9 : design->problem->maker ? 1e-8 : 4.5e-10;
    mg_squares_cost cost = {.step = value * z.values + 1.5e-8 * z.columns + 3e-9 * z.rows,
                            .factor = products + 5.5e-12 * n * n * n + 1.5e-8 * n * n,
                            .fits = n <= MOST && (limit == 0 || bytes <= (double)limit)};
    const double steps = cost.factor > no_matter ? cost.factor / cost.step : 0.0;
    if (z.sparse || wide) cost.most = steps;
    if (!z.sparse && z.rows >= 2.0 * z.columns) cost.trial = 0.75 * steps;
    return cost;
}

/* How many visits of all values a proof takes grows with what is missing: rows beside columns for
 * dual coordinate descent, columns beside rows for the others. */
enum { WIDE, SQUARE, GENTLE, TALL, NARROW, REGIMES };
static const char *const regimes[REGIMES] = {
    "columns are twice as many as rows, or more", "columns are as many as rows, or more",
    "rows are sparse, columns many and the loss weighs little", "rows are sparse and columns many",
    "rows are many more than columns"};

static const struct {
    mg_loss_kind loss;
    const mg_linear_solver *solver;
    double visits[REGIMES];
} visits[] = {
    {MG_LOSS_HINGE, &mg_solver_dual_cd, {15, 60, 40, 600, 300}},
    {MG_LOSS_HINGE, &mg_solver_ssnal, {60, 300, 60, 250, 150}},
    {MG_LOSS_SQUARED_HINGE, &mg_solver_dual_cd, {12, 45, 100, 200, 200}},
    {MG_LOSS_SQUARED_HINGE, &mg_solver_lbfgs, {100, 60, 10, 10, 10}},
    {MG_LOSS_LOGISTIC, &mg_solver_dual_cd, {13, 40, 30, 100, 100}},
    {MG_LOSS_LOGISTIC, &mg_solver_lbfgs, {20, 20, 10, 10, 10}},
};

/* What the loss weighs beside the penalty, for a row of the usual length: c |a|^2 / rho. */
static double pull_of(const mg_objective *objective) {
    enum { SAMPLE = 512 };
    const mg_design *d = objective->design;
    const int64_t step = MG_MAX(d->samples / SAMPLE, 1);
    double squares = 0.0, count = 0.0;
    for (int64_t i = 0; i < d->samples; i += step, count += 1.0)
        squares += d->scale ? (double)d->columns
                            : d->ops->square(&d->problem->x, mg_sample_row(d->problem, i));
    return objective->mass / (double)d->samples * (squares / count) / objective->penalty.rho;
}

static int regime_of(const mg_objective *objective, const sizes *z) {
    const mg_loss_kind kind = objective->loss->kind;
    if (z->columns >= 2.0 * z->rows) return WIDE;
    const bool gentle = z->sparse && kind != MG_LOSS_LOGISTIC && pull_of(objective) <= 10.0;
    if (z->columns >= z->rows && !(gentle && kind == MG_LOSS_SQUARED_HINGE)) return SQUARE;
    if (!z->sparse || z->rows > MG_NARROW * z->columns) return NARROW;
    return gentle && kind == MG_LOSS_HINGE ? GENTLE : TALL;
}

static double price_of(const mg_linear_solver *solver, double visits_needed, const sizes *z) {
    const bool dual = solver == &mg_solver_dual_cd;
    const double sparse = 4e-9 * z->values + 2e-8 * (dual ? z->rows : z->columns);
    return visits_needed * (z->sparse ? sparse : (dual ? 1e-9 : 8e-10) * z->values);
}

/* The cheapest of those that can. NULL: there is no choice, or no time to be saved. */
static const mg_linear_solver *cheapest(const mg_objective *objective, char why[200]) {
    static const double no_matter = 1e-3;
    const sizes z = sizes_of(objective->design);
    const int regime = regime_of(objective, &z);
    const mg_linear_solver *best = NULL, *other = NULL;
    double least = (double)INFINITY, next = (double)INFINITY;
    for (int k = 0; k < MG_LENGTH(visits); k++) {
        const mg_linear_solver *solver = visits[k].solver;
        if (visits[k].loss != objective->loss->kind || !solver->can(objective, why)) continue;
        const bool leaps =
            !z.sparse && visits[k].loss == MG_LOSS_LOGISTIC && solver == &mg_solver_dual_cd;
        const double price = price_of(solver, (leaps ? 0.35 : 1.0) * visits[k].visits[regime], &z);
        if (solver != &mg_solver_dual_cd && price < no_matter && regime != WIDE) return NULL;
        const bool less = price < least;
        other = less ? best : solver;
        next = less ? least : price;
        best = less ? solver : best;
        least = less ? price : least;
    }
    if (other)
        snprintf(why, ROOM, "%s: about %s s by estimate, %s %s s", regimes[regime],
                 mg_about(least).text, other->name, mg_about(next).text);
    return other ? best : NULL;
}

const mg_linear_solver *mg_linear_choose(const mg_objective *objective, char why[200]) {
    const mg_loss *loss = objective->loss;
    why[0] = 0;
    if (loss->kind == MG_LOSS_CRAMMER_SINGER && mg_solver_dual_cd.can(objective, why)) {
        snprintf(why, ROOM, "the %s has corners", loss->name);
        return &mg_solver_dual_cd;
    }
    const mg_linear_solver *solver = cheapest(objective, why);
    /* of data by columns it is priced, so that they are told what rows are, and never chosen: where
     * it is the cheapest they were copied */
    const bool unread = solver == &mg_solver_dual_cd && objective->design->made;
    if (solver && !unread) return solver;
    why[0] = 0;
    if (mg_solver_lbfgs.can(objective, why)) {
        snprintf(why, ROOM, "the %s loss is smooth", loss->name);
        return &mg_solver_lbfgs;
    }
    if (mg_solver_ssnal.can(objective, why)) {
        snprintf(why, ROOM, "the %s loss has a corner", loss->name);
        return &mg_solver_ssnal;
    }
    if (mg_solver_working_set.can(objective, why)) {
        snprintf(why, ROOM, "|w|_1 leaves few weights");
        return &mg_solver_working_set;
    }
    return NULL;
}
