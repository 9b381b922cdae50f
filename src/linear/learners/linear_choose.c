/* Which solver for which problem: the one place that decides. */
#include "linear/learners/linear_learner.h"
#include "math/rows/sparse_columns.h"

#include <math.h>
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
 * factor, but where the rows are much fewer. And where no time is to be saved, for its digits. */
mg_squares_cost mg_squares_price(const mg_design *design) {
    enum { MOST = 32768 }; /* rows of a square matrix of 8 GiB */
    static const double no_matter = 1e-3;
    const sizes z = sizes_of(design);
    const bool wide = z.columns >= 2.0 * z.rows;
    const int64_t limit = mg_heap_limit(design->heap);
    const double n = fmin(z.rows, z.columns), bytes = 2.0 * n * n * sizeof(double);
    const double products = z.columns > z.rows ? (z.sparse ? 2e-9 : 6e-11) * z.values * z.rows
                                               : (z.sparse ? 2e-9 : 2e-11) * z.pairs;
    const double value = z.sparse ? 3e-9 : design->made ? 1e-8 : 1e-9;
    mg_squares_cost cost = {.step = value * z.values + 1.5e-8 * z.columns + 3e-9 * z.rows,
                            .factor = products + 5.5e-12 * n * n * n + 1.5e-8 * n * n,
                            .fits = n <= MOST && (limit == 0 || bytes <= (double)limit)};
    if ((z.sparse || wide) && cost.factor > no_matter) cost.most = cost.factor / cost.step;
    return cost;
}

const mg_linear_solver *mg_linear_choose(const mg_objective *objective, char why[200]) {
    const mg_loss *loss = objective->loss;
    const mg_design *d = objective->design;
    const bool wide = d->columns >= 2 * d->samples;
    const bool many = mg_is_csr(&d->problem->x) && d->columns > MG_MANY_COLUMNS;
    why[0] = 0;
    if (loss->kind == MG_LOSS_CRAMMER_SINGER && mg_solver_dual_cd.can(objective, why)) {
        snprintf(why, ROOM, "the %s has corners", loss->name);
        return &mg_solver_dual_cd;
    }
    /* a smooth loss on many rows has a well-posed primal, in which fewer steps are needed */
    if ((wide || (many && !loss->smooth)) && mg_solver_dual_cd.can(objective, why)) {
        snprintf(why, ROOM,
                 wide ? "columns are twice as many as rows, or more"
                      : "rows are sparse and columns many");
        return &mg_solver_dual_cd;
    }
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
