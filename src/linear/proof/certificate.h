/* The parts of a certificate: see certificate.c. */
#ifndef MG_CERTIFICATE_H
#define MG_CERTIFICATE_H

#include "linear/objective/objective.h"

typedef struct mg_proof {
    const mg_objective *objective;
    const mg_linear_solution *solution;
    mg_design *design;
    double *alpha;          /* samples: the dual variables */
    double *r;              /* samples: alpha_i y_i, or alpha_i for residuals */
    double *v, s;           /* columns: sum r_i a_i; sum r_i */
    double factor;          /* alpha is to be multiplied by this */
    double class_factor[2]; /* and by this for the classes -1 and +1 */
    double mean;            /* to be taken off alpha_i / c_i */
    margin_error *error;
} mg_proof;

/* Two sums over samples [first, first + count). */
typedef struct mg_proof_sums {
    double a, b;
} mg_proof_sums;
typedef mg_proof_sums (*mg_proof_range)(const mg_proof *proof, int64_t first, int64_t count);
margin_status mg_proof_sum(const mg_proof *proof, mg_proof_range of_range, mg_proof_sums *total);

/* Puts alpha into its box and sets r, v and s. */
margin_status mg_proof_settle(mg_proof *proof);
/* D at factor * alpha, taking v and s for feasible; -inf if it is no number. */
margin_status mg_proof_dual(mg_proof *proof, double factor, double *dual);
/* (primal - dual) / max(1, |primal|), at least 0 */
double mg_proof_gap(double primal, double dual);

MG_INLINE bool mg_proof_is_positive(const mg_proof *proof, int64_t i) {
    return proof->design->problem->sign[i] > 0;
}
/* Whether y_i = -1 turns the sign of what belongs to sample i. */
MG_INLINE bool mg_proof_turns(const mg_proof *proof, int64_t i) {
    return proof->objective->loss->margin_based && !mg_proof_is_positive(proof, i);
}

#endif
