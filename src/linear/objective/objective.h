/* One objective for every linear model, of one score function or of K functions f_k(a) = w_k . a +
 * b_k that are trained together:
 *
 *   P(w, b) = sum_i c_i loss_i + rho/2 |w|^2 + kappa |w|_1        b free (or absent: 0)
 *
 * One function: loss_i = loss(t_i), see loss.h. K functions, one for each class, the greatest of
 * which wins, coupled by the loss:
 *
 *   softmax          log sum_k exp f_k - f_y
 *   Crammer-Singer   max_k (1[k != y] + f_k) - f_y
 *
 * Both are the greatest value of (q - e_y) . f + dual(q) over the simplex of shares q: dual(q) =
 * -sum q log q for the softmax, where the best shares are the probabilities, and 1 - q_y for the
 * hinge of Crammer and Singer.
 *
 * The penalty is that of learn/penalty.h, and c_i = factor x sample weight. The
 * report's objective is P, in the spelling the formula shows.
 *
 * w is functions x columns in A's units (design.h), b has `functions` numbers, and what belongs to
 * samples is samples x functions. Passes fail with CANCELLED or MEMORY only. */
#pragma once

#include "learn/penalty.h"
#include "linear/design/design.h"
#include "math/losses/line_search.h"

typedef struct mg_objective {
    mg_design *design; /* borrowed */
    mg_arena arena;    /* of what it owns */
    const mg_loss *loss;
    mg_penalty penalty;
    bool intercept;
    int64_t functions, columns, samples;
    double *c;                  /* samples numbers, owned; factor included */
    double mass;                /* their sum */
    double *totals;             /* functions > 1, owned: sums of c over the samples of a class */
    struct mg_coupled *coupled; /* functions > 1: what its passes need (coupled.h) */
} mg_objective;

/* As many functions as the loss couples: 1, or the classes of the problem. */
margin_status mg_objective_create(mg_design *design, const mg_loss *loss, const mg_penalty *penalty,
                                  bool intercept, mg_objective *objective, margin_error *error);
void mg_objective_free(mg_objective *objective);
/* The best intercepts for w = 0 (0 without intercept), and P there; of the softmax or one function.
 * A class without samples, which a problem may name, is put out of the way. */
double mg_objective_constant(const mg_objective *objective, double *b);

/* rho/2 |w|^2 + kappa |w|_1 */
double mg_objective_penalty(const mg_objective *objective, const double *w);
MG_INLINE bool mg_is_unpenalised(const mg_objective *objective) {
    return objective->penalty.rho == 0.0 && objective->penalty.kappa == 0.0;
}

/* One pass: point->value = P(w, b), point->gradient (if wanted) that of its smooth part, rho w
 * included and kappa |w|_1 not; intercept_gradient is 0 without intercept. The hinge of Crammer and
 * Singer has no gradient and no shares. */
margin_status mg_objective_pass(const mg_objective *objective, const double *w, const double *b,
                                mg_loss_point *point, margin_error *error);

/* An error where the value at the start is beyond double precision. */
margin_status mg_objective_finite(double value, margin_error *error);

/* scores: samples x functions, in f64 */
margin_status mg_objective_scores(const mg_objective *objective, const double *w, const double *b,
                                  double *scores, margin_error *error);

/* gradient = sum_i residuals_i a_i' (functions x columns), and the sums of the residuals. */
margin_status mg_objective_gradient(const mg_objective *objective, const double *residuals,
                                    double *gradient, double *sums, margin_error *error);

/* Scores are linear along a line, so those of two of its points give those of all: the loss where
 * they are from + t (to - from); samples numbers each. */
margin_status mg_line_look(const mg_objective *objective, const double *from, const double *to,
                           double t, mg_line_value *found, margin_error *error);

/* Several functions: takes their mean off weights and intercepts. The loss does not change, the
 * penalty becomes less. */
void mg_objective_centre(const mg_objective *objective, double *w, double *b);

/* A solution and how good it provably is. */
typedef struct mg_linear_solution {
    double *w, *b; /* owned by the caller, b right behind w; b is 0 without intercept */
    /* Dual variables, owned by the caller, or NULL: those of the scores. Needed where slopes say
     * too little (hinges): there the multipliers of samples on the kink, or with no penalty of all,
     * cannot be seen in the scores. */
    union {
        double *alpha;  /* one function, samples: alpha_i = c_i u_i */
        double *shares; /* several, samples x functions: q */
    };
    double primal, dual, gap; /* gap = (primal - dual) / max(1, |primal|), dual from a feasible
                                 point; -inf and inf if no feasible point is at hand */
    int64_t iterations;
    double accuracy;  /* of two classes in what predictions say of the rows; NAN: not known */
    bool plain;       /* from the solver: no proof that needs a matrix */
    bool ended;       /* from the solver: no step follows, and a proof may cost more */
    bool drawn;       /* the gap rests on a draw: MG_LEAST_DRAWN */
    double l1_limit;  /* kappa > 0: the least kappa for which w = 0 */
    const char *next; /* the solver that should go on from here; NULL: this is the end */
    margin_status status;
    char why[400];
} mg_linear_solution;

/* What the residuals of least squares are compared with: sqrt(sum c (y - centre)^2), of a constant
 * target sqrt(sum c y^2), so that what rounding leaves of an exact answer is small. 0: all targets
 * are 0, and the residual itself is what there is. */
double mg_squares_spread(const double *y, const double *c, int64_t count, double centre);
/* Whether the proof of a ridge may use the exact distance to the optimum, p^3 and n p^2 steps. */
bool mg_squares_exact(int64_t samples, int64_t columns);
