/* Which solver for which problem: the one place that decides. */
#include "linear/objective/solver.h"

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
