/* What a solver is after: a gap that is proven to be as small as was asked for. */
#pragma once

#include "base/text/number_text.h"
#include "linear/objective/solver.h"
#include "linear/proof/newton_matrix.h"

/* The certificate (certificate.c derives it): scores afresh, P, and the dual
 * objective at a feasible point made from the solution's dual variables if they are given, else
 * from the slopes or shares of the scores; given ones are replaced by the feasible point. Sets
 * primal, dual and gap; w and b stay as they are. Scores: one function, those of the
 * solution where they are known, or NULL. Two passes; with no penalty (rho = kappa = 0)
 * also a Gram and its factor for curved losses, unless the solution is plain. */
margin_status mg_certify(const mg_objective *objective, mg_linear_solution *solution,
                         const double *scores, margin_error *error);

/* The gap P - D to reach where P = value: tolerance x max(1, |P|), and so small a part of what the
 * columns gain over the best constant, P = constant, too: where the loss weighs next to nothing
 * (C = 1e-10), w = 0 has a tiny gap as well. */
double mg_wanted_gap(double tolerance, double value, double constant);
/* The same with |w|_1 in the penalty: where P is below 1, relative to it, so that the units of a
 * target do not matter. */
double mg_wanted_gap_l1(double tolerance, double value, double constant);

/* The gap where the slopes of the loss are the dual variables. `v`: of the loss in each w, the sign
 * turned, each known up to `off`. Where the penalty has a ridge part it is what the penalty and its
 * conjugate miss of v.w; else these variables times s = kappa / max |v_j|, which costs (1 - s) v.w
 * and a part of the loss that is (1 - s)^2 for the squared one and about that for others. */
typedef struct mg_l1_gap {
    double rho, kappa; /* > 0 */
    double penalty, most, product, hidden, short_of, ridge;
} mg_l1_gap;

MG_INLINE void mg_l1_gap_add(mg_l1_gap *g, double w, double v, double off) {
    const double penalty = g->kappa * fabs(w) + g->rho / 2.0 * w * w;
    const double over = fabs(v) + off - g->kappa, excess = over > 0.0 ? over : 0.0;
    g->most = excess > g->most ? excess : g->most;
    g->penalty += penalty;
    g->product += v * w;
    g->hidden += off * fabs(w);
    g->short_of += penalty - v * w;
    if (g->rho > 0.0) g->ridge += excess * excess / (2.0 * g->rho);
}

MG_INLINE double mg_l1_gap_of(const mg_l1_gap *g, double loss) {
    const double cut = g->most / (g->kappa + g->most), short_of = g->short_of + g->hidden;
    const double gap = short_of + cut * (fabs(g->product) + g->hidden) + cut * cut * fabs(loss);
    return g->rho > 0.0 ? fmin(gap, short_of + g->ridge) : gap;
}

typedef struct mg_goal {
    const mg_linear_job *job;
    mg_linear_solution *solution;
    double constant;   /* P with w = 0 and the best intercepts */
    double strictness; /* share of the wanted gap that must be expected before a proof is made */
    bool proven;       /* the solution is the point at hand, with its proof */
} mg_goal;

/* The point (w, b) becomes the solution and is certified, unless it was. scores: as mg_certify. */
margin_status mg_goal_prove(mg_goal *goal, const double *w, const double *b, const double *scores);
/* The same where the expected gap is small enough beside the wanted one; *done: that is reached.
 * value: P there. Reports progress. */
margin_status mg_goal_check(mg_goal *goal, double expected, double wanted, double value,
                            const double *w, const double *b, const double *scores, bool *done);
/* Status and reason of a certified solution; `ended`: OK, or why the steps ended, which `unit`
 * counts. */
margin_status mg_goal_end(const mg_linear_job *job, mg_linear_solution *solution,
                          margin_status ended, const char *unit);

/* ---- What is said in the end: why a minimisation ended, in one sentence ---- */

/* Of any minimisation; `unit` names what was counted: "steps". status OK: the gap is proven. */
void mg_explain_end(margin_status status, const char *unit, int64_t count, double gap,
                    double tolerance, char *why, size_t room);
/* False: there may be one. */
bool mg_explain_endless(const mg_endless *endless, char *why, size_t room);

/* *above: P(w, b) - inf P is at most this; INFINITY: no bound is known. For kappa = 0, and rho = 0
 * or the squared loss. Costs a pass, a Gram of size (blocks (columns + 1))^2 and its factor, and a
 * triangular solve for each sample whose curvature alone says too little. Sets at->drawn. */
margin_status mg_bound_by_curvature(const mg_objective *objective, mg_linear_solution *at,
                                    double *above, margin_error *error);
/* Whether it is tried without the Gram: it then needs a point that is nearer to the optimum. */
bool mg_bound_by_products(const mg_objective *objective);
