/* The minimisation of the softmax objective: a point that moves, and the matrix its steps start
 * from. As smooth.h for one function: coordinates of mean 0 and deviation 1, the same for every
 * class; vectors have `size` = classes x block numbers, block = columns + 1, the last one of a
 * block for the intercept. */
#ifndef MG_CLASSES_SMOOTH_H
#define MG_CLASSES_SMOOTH_H

#include "linear/newton/lbfgs_pairs.h"
#include "linear/objective/solver.h"

typedef struct mg_classes_place {
    double *w, *b;    /* classes x columns, classes right behind; A's units */
    double *gradient; /* size */
    double value, slack;
    int64_t errors;
} mg_classes_place;

/* The start matrix H0, near the Hessian. */
typedef enum mg_classes_base {
    MG_BASE_DIAGONAL,
    MG_BASE_SHARED, /* one factor for all classes, scaled: right where all samples have the same
                       shares */
    MG_BASE_BLOCKS  /* a factor for each class */
} mg_classes_base;

typedef struct mg_classes_state {
    mg_linear_job *job;
    mg_linear_solution *solution;
    const mg_objective *o;
    mg_arena arena;
    int64_t classes, columns, block, size;
    double *centre, *factor; /* columns */
    mg_classes_place here, there;
    double constant_value; /* P with W = 0 and the best intercepts */
    double *raw;           /* classes x columns: a gradient in A's units */
    double *direction, *move, *move_b;
    double slope, step;
    bool single; /* passes in f32 */
    bool cut;    /* the last step */
    mg_lbfgs_pairs pairs;
    /* proof and progress */
    double strictness, best_slack,
        best_promise; /* least slack, least decrease promised by a step */
    int64_t idle_steps;
    bool separated, proven_here;
    bool exact; /* directions are Newton's */
    /* H0 */
    mg_classes_base base;
    double *shares;      /* samples x classes; NULL: not needed so far */
    double *matrices;    /* block x block for each class, or one */
    double *diagonals;   /* size */
    double *class_scale; /* classes */
    double scale;
    int64_t builds, since, rented; /* steps and passes since the last one */
} mg_classes_state;

/* Decreases P from solution->w and ->b = anything (it starts from W = 0) until it is proven. */
margin_status mg_classes_minimise(mg_linear_job *job, mg_linear_solution *solution);

/* classes_base.c: H0 at the start, a better one where that pays, its solution. */
margin_status mg_classes_base_start(mg_classes_state *s);
margin_status mg_classes_base_improve(mg_classes_state *s, bool must, bool *improved);
/* x = H0^-1 x, and its mean over the classes taken off */
margin_status mg_classes_base_solve(mg_classes_state *s, double *x);

/* classes_end.c: whether it is done; filling in the solution. */
margin_status mg_classes_check(mg_classes_state *s, bool *done);
margin_status mg_classes_end(mg_classes_state *s, margin_status ended);
bool mg_classes_is_idle(const mg_classes_state *s);
/* s->direction becomes Newton's; the least and the greatest change of a margin (own score less
 * another) along it; where mg_classes_newton_can. */
margin_status mg_classes_newton_step(mg_classes_state *s, double *least, double *most);
/* classes_smooth.c: one step along the direction */
margin_status mg_classes_step(mg_classes_state *s, bool *moved);
void mg_classes_set_move(mg_classes_state *s);

#endif
