/* The state of the working-set solver: see solver_working_set.c. */
#pragma once

#include "linear/proof/goal.h"

typedef struct mg_working_point {
    double *w; /* columns, A's units */
    double b;
    double *scores;   /* samples */
    double *gradient; /* columns: of the loss alone */
    double excess;    /* its derivative in b; 0 without intercept */
    double value;     /* P */
    double gap;       /* what its slopes as dual variables prove, to first order in the excess */
    int64_t errors;
} mg_working_point;

/* The quadratic model of P at `here` over some columns, in scaled coordinates: column k of it is
 * (a_j - centre_j) factor_j with j = member[k], and the best change of the intercept is taken out
 * of it. */
typedef struct mg_working_model {
    int64_t count, room;  /* columns; for which there is memory */
    int64_t *member;      /* ascending, or the longest columns first */
    double *matrix;       /* (count + 1) x (count + 1); the last row as mg_design_gram leaves it */
    const double *centre; /* columns */
    const double *sums;   /* count + 1: of the columns times the curvatures, and of these */
    double *u, *before, *r, *lambda; /* count */
    bool current;                    /* the matrix is that of `here`, or near enough */
    bool exact;                      /* it is that of `here`, all rows */
    bool fresh;                      /* it is that of `here`, all rows or some */
} mg_working_model;

/* Sparse columns as they are, the longest first, times factors and the roots of the curvatures:
 * where the model's matrix would cost more (solver_working_set_columns.c). */
typedef struct mg_working_columns {
    bool pays;             /* false: steps go by the model's matrix */
    int64_t read;          /* values, by all sweeps */
    int64_t *order;        /* columns, the longest first */
    int64_t *starts, room; /* count + 1; values for which there is memory */
    int32_t *samples;
    float *values;
    double *origin;                  /* columns: the centre with which A's columns are sparse */
    double *sums;                    /* count + 1 */
    struct mg_sparse_column *column; /* count */
    double unit;                     /* of the curvatures that they are times; 0: there are none */
    double last;                     /* violation before the last step */
} mg_working_columns;

typedef struct mg_working {
    MG_SOLVER_STATE;
    mg_arena arena;
    int64_t varying;         /* columns that are not constant */
    double *centre, *factor; /* columns; factor 0: a constant column, which stays out */
    mg_working_point here, there;
    double *curvatures; /* samples: c loss'' at `here` */
    double *score;      /* columns: scratch of the choice */
    mg_working_model model;
    mg_working_columns sparse;
    int64_t most;     /* columns that the model may have */
    int64_t first;    /* and that it has at least, where there are so many */
    double violation; /* of the optimality conditions at `here`, as a share of kappa */
    double slope;     /* of P along the last step */
    double length;    /* of the last step, as a part of what the model asked for */
    int64_t stride;   /* the matrix is made from every stride-th row where these are many */
    int64_t *rows;    /* samples / stride of them, their curvatures; NULL: never */
    double *row_curvatures;
    mg_goal goal;
    double best_gap;    /* least so far */
    int64_t idle_steps; /* since it, or the value, last fell by what counts */
    bool careful;       /* models are exact */
    bool in_turns;      /* more columns have weights than the model has room for */
    bool was_set;       /* the last step was that of a set */
} mg_working;

/* The derivative of the loss in w_j, with the intercept at its best. */
MG_INLINE double mg_working_slope(const mg_working *s, int64_t j) {
    return s->here.gradient[j] - s->centre[j] * s->here.excess;
}

/* solver_working_set_model.c: there.w and there.b, the best point of the model, which gets other
 * columns where it lacks some that it needs, and s->slope. */
margin_status mg_working_solve(mg_working *s);
void mg_working_begin_step(mg_working *s);
void mg_working_end_step(mg_working *s);
void mg_working_model_free(mg_working *s);

/* solver_working_set_columns.c: the same without a matrix, where that costs less. */
margin_status mg_working_columns_begin(mg_working *s);
margin_status mg_working_columns_solve(mg_working *s);

/* solver_working_set_support.c: there.w, there.b and s->slope, a step for all columns that have a
 * weight, with the signs that they have. */
margin_status mg_working_solve_support(mg_working *s);
