/* Which solver for which problem: the one place that decides. */
#include "linear/solver.h"

#include <stdio.h>
#include <string.h>

enum { ROOM = 200 };

static const mg_linear_solver *const solvers[] = {
    &mg_solver_gd, &mg_solver_lbfgs, &mg_solver_minibatch, &mg_solver_newton, &mg_solver_sgd,
};

const mg_linear_solver *mg_linear_solver_named(const char *name) {
    for (int k = 0; k < MG_LENGTH(solvers); k++)
        if (strcmp(solvers[k]->name, name) == 0) return solvers[k];
    return NULL;
}

const mg_linear_solver *mg_linear_choose(const mg_objective *objective, char why[200]) {
    const mg_loss *loss = objective->loss;
    why[0] = 0;
    if (mg_solver_lbfgs.can(objective, why)) {
        snprintf(why, ROOM, "the %s loss is smooth", loss->name);
        return &mg_solver_lbfgs;
    }
    return NULL;
}
