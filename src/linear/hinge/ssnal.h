/* The parts of the semismooth Newton solver for the hinge loss: see solver_ssnal.c for the method.
 *
 * In the terms of certificate.c a dual variable is alpha_i = c_i u_i with 0 <= u_i <= 1. The inner
 * problem, for given u and sharpness s, is
 *
 *   F(w, b) = sum_j q_j/2 (w_j - anchor_j)^2 + sum_i c_i psi_i(1 - y_i f_i)
 *   psi_i(x) = n (2 v - n) / (2 s)   with v = u_i + s x and n = v brought into [0, 1]
 *
 * whose slope in x is n: the hinge with its corner rounded off over a width of 1/s, and moved to
 * where u_i puts it. The rows with 0 < v < 1 are called active: only they have curvature, c_i s.
 *
 * Coordinates are those of smooth.h. */
#pragma once

#include "linear/objective/solver.h"

typedef enum mg_ssnal_mode {
    MG_SSNAL_PENALISED, /* q = rho, anchor = 0: the objective itself */
    MG_SSNAL_HARD,      /* the same with the boxes cut to what they need where classes separate */
    MG_SSNAL_FREE       /* no penalty: small q, and the anchor follows w (proximal points) */
} mg_ssnal_mode;

typedef struct mg_ssnal_point {
    double *w; /* columns, A's units */
    double b;
    double *scores;   /* samples */
    double *pull;     /* columns: sum alpha_i y_i a_i of the new alpha_i = c_i n_i */
    double *gradient; /* size: of F */
    double balance;   /* sum alpha_i y_i */
    double value;     /* F */
    double loss;      /* sum c_i max(1 - y_i f_i, 0) */
    double penalty;   /* sum q_j/2 w_j^2; free: 0 */
    /* The gap of (w, b, alpha) with the balance made 0 is about slackness + residual + amiss (free:
     * that of F): */
    double slackness;  /* sum c_i (max(x_i, 0) - n_i x_i) */
    double residual;   /* sum (q_j (w_j - anchor_j) - pull_j + centre_j balance)^2 / (2 q_j) */
    double amiss;      /* |balance| (1 + |f| at the centre) */
    double infeasible; /* free: the pull, which must be 0: greatest |pull_j| factor_j, */
    double charge;     /* and sum |pull_j w_j| */
    double least;      /* least y_i f_i, where no row is on the wrong side, or MG_SSNAL_HARD */
    int64_t errors, active;
} mg_ssnal_point;

typedef struct mg_ssnal {
    MG_SOLVER_STATE;
    mg_arena *arena;
    int64_t size; /* columns + 1 */
    mg_ssnal_mode mode;
    const double *c;            /* samples: the objective's, or the cut ones */
    double *stiffness;          /* columns: q */
    double *anchor;             /* columns */
    double *cut;                /* samples: the cut boxes, or NULL */
    double *centre, *factor;    /* columns */
    double *multipliers;        /* samples: u */
    double sharpness;           /* s */
    mg_ssnal_point here, there; /* where it is; where it was before the last step, or tried */
    double *direction;          /* size */
    double *move, move_b;       /* the same in A's units */
    double along, square;       /* sum q_j (w_j - anchor_j) move_j, sum q_j move_j^2 */
    double slope;               /* of F along the direction, here */
    /* of the Newton equations (ssnal_newton.c) */
    int64_t *active;        /* samples: the active ones among them */
    double *active_weights; /* samples: their curvatures */
    double *matrix;         /* size x size; NULL: conjugate gradients */
    double *diagonal;       /* size */
    double *usual;          /* columns: the usual size of a value that is not 0, in coordinates */
    double *ridge;          /* size: q, and what is added to it where few rows are active */
    double *work;           /* 5 size: of the conjugate gradients */
    double last_slope;      /* of the step before, in the same round, with `sampled`; 0: none */
    bool sampled;           /* the matrix is not of all active rows */
    int64_t most_rows;      /* of a matrix; 0: not decided */
    int64_t last_products;  /* steps that conjugate gradients took the last time */
    /* of the rounds (solver_ssnal.c) */
    double constant;  /* P with w = 0 and the best intercept */
    double best;      /* the solution's gap, as expected: the least so far */
    double share;     /* and relative to its objective */
    double slackness; /* of the round before */
    double strictness;
    int idle;         /* rounds since the gap last fell by much */
    bool is_constant; /* it started from the best constant, which may yet be optimal */
} mg_ssnal;

/* One pass: everything of a point from its w and b. Without `scores` they are taken as they are and
 * not computed (half a pass). */
margin_status mg_ssnal_pass(mg_ssnal *s, mg_ssnal_point *point, bool scores);

/* n_i at the point `here`, into out[samples]; out may be s->multipliers. */
void mg_ssnal_update(const mg_ssnal *s, double *out);

/* The usual sizes of values, from the share of rows that have one. */
void mg_ssnal_sizes(mg_ssnal *s);
/* Sets s->direction to (nearly) where F's quadratic model at `here` is least. */
margin_status mg_ssnal_direction(mg_ssnal *s);
