/* What the files of dual coordinate descent share (solver_dual_cd.c derives the method).
 *
 * Rows are read as they lie in x, in its types; weights are kept in X's units, so that a scale of
 * the columns costs one factor for each stored value and a shift nothing:
 *
 *   a_ij = scale_j x_ij + shift_j     weights_j = scale_j w_j     f_i = x_i . weights + b
 *
 * with b the intercept that goes with x alone (a free intercept takes the shift in). */
#pragma once

#include "linear/objective/solver.h"
#include "math/losses/linear_kernels.h"

/* Full epochs over which progress is measured. */
enum { MG_DUAL_HISTORY = 4 };

typedef struct mg_dual_progress {
    double value, gap; /* P and gap, as the last full epoch saw them */
    double strictness; /* share of the tolerance that this gap must reach before a proof */
    double work;       /* visits of samples, in all of them */
    double past[MG_DUAL_HISTORY]; /* gaps of the full epochs before, and the work by then */
    double past_work[MG_DUAL_HISTORY];
    double best, best_work; /* least gap that halved the one before, and the work by then */
    int64_t full, shrunk;   /* full epochs; shrunk ones since the last of them */
} mg_dual_progress;

typedef struct mg_dual_cd mg_dual_cd;
struct mg_dual_cd {
    MG_SOLVER_STATE;
    const mg_dual_rows *rows;
    double *weights; /* columns, X's units */
    void (*fetch)(
        mg_dual_cd *m); /* puts weights and alpha in place, where they are kept elsewhere */
    const void *shared; /* of fetch */
    double *factor;     /* columns: scale_j^2 / rho; NULL: all 1 / rho */
    double b;           /* of x alone */
    double spread;      /* tau: variance of the bias coordinate; 0 without intercept */
    double sum;         /* S = sum alpha_i y_i */
    double square;      /* rho |w|^2 */
    double *alpha;      /* samples */
    double *logit;      /* samples, logistic: log(alpha / (c - alpha)); NaN: not visited yet */
    double *scores;     /* samples: a_i . w, where they are at hand; else NULL */
    double *curvature;  /* samples: second derivative of a step, without that of the loss */
    int64_t *order;     /* samples; the first `active` are visited */
    int64_t active;
    double highest, lowest;           /* derivatives of the last epoch: what lies beyond leaves */
    double next_highest, next_lowest; /* of this epoch */
    double constant_value;            /* P with w = 0 and the best intercept */
    int64_t proven; /* epochs after which the solution was certified last; -1: never */
    /* of the last epoch, each sample where it was visited */
    double loss;  /* sum c loss */
    double slack; /* the gap, but for what making S = 0 will cost */
    mg_dual_progress progress;
};

/* ---- Start and progress (dual_cd_progress.c) ------------------------------------------------- */

/* Everything but memory: w = 0, the best intercept for it, P there. */
void mg_dual_cd_start(mg_dual_cd *m, mg_linear_job *job, mg_linear_solution *solution);
/* The same with memory and a first point: all samples in their order. CANCELLED, DATA, MEMORY. */
margin_status mg_dual_cd_begin(mg_linear_job *job, mg_linear_solution *solution, mg_arena *arena,
                               mg_dual_cd *m);
/* Notes an epoch; *reopen: those that left should be looked at again. */
void mg_dual_cd_note(mg_dual_cd *m, int64_t visited, bool full, bool *reopen);
/* After a full epoch: a proof if it may succeed, and whatever else ends the method. *done: the
 * solution is complete, with its status. */
margin_status mg_dual_cd_judge(mg_dual_cd *m, bool *done);
/* The last proof, if the method goes on no more: `ended` is OK, STOPPED_ITERATIONS, _TIME or
 * _STALLED. Sets status and reason. */
margin_status mg_dual_cd_end(mg_dual_cd *m, margin_status ended);
/* A step of the trace, if there is one. */
margin_status mg_dual_cd_trace(mg_dual_cd *m);

/* ---- Epochs ---------------------------------------------------------------------------------- */

MG_INLINE void mg_dual_cd_epoch_begin(mg_dual_cd *m) {
    m->loss = m->slack = 0.0;
    m->next_highest = -(double)INFINITY;
    m->next_lowest = (double)INFINITY;
}
MG_INLINE void mg_dual_cd_epoch_end(mg_dual_cd *m) {
    m->highest = m->next_highest > 0.0 ? m->next_highest : (double)INFINITY;
    m->lowest = m->next_lowest < 0.0 ? m->next_lowest : -(double)INFINITY;
}

/* Hinge and squared hinge of sample i, whose y f is z: the step of *at, its alpha; returns the
 * change. *leaves: it is surely right (Hsieh, Chang, Lin, Keerthi, Sundararajan, "A dual coordinate
 * descent method for large-scale linear SVM", ICML 2008, section 3.2). */
MG_INLINE double mg_dual_cd_step_hinge(mg_dual_cd *m, bool squared, int64_t i, double z, double *at,
                                       bool *leaves) {
    const double c = m->objective->c[i], alpha = *at, miss = 1.0 - z;
    const double soft = squared ? 0.5 / c : 0.0, most = squared ? (double)INFINITY : c;
    const double d = soft * alpha - miss;
    double violation = d;
    if (squared) {
        const double over = fmax(miss, 0.0) - soft * alpha;
        m->loss += miss > 0.0 ? c * miss * miss : 0.0;
        m->slack += c * over * over + alpha * fmax(-miss, 0.0);
    } else {
        m->loss += c * fmax(miss, 0.0);
        m->slack += miss > 0.0 ? (c - alpha) * miss : -alpha * miss;
    }
    *leaves = (alpha == 0.0 && d > m->highest) || (alpha == most && d < m->lowest);
    if (*leaves) return 0.0;
    if (alpha == 0.0)
        violation = fmin(d, 0.0);
    else if (alpha == most)
        violation = fmax(d, 0.0);
    m->next_highest = fmax(m->next_highest, violation);
    m->next_lowest = fmin(m->next_lowest, violation);
    if (!(fabs(violation) > 1e-15)) return 0.0;
    *at = fmin(fmax(alpha - d / (m->curvature[i] + soft), 0.0), most);
    return *at - alpha;
}

/* What a change of alpha_i does to the sums; returns it with the sign of the class. */
MG_INLINE double mg_dual_cd_count(mg_dual_cd *m, int64_t i, double z, double change) {
    const int8_t sign = m->design->problem->sign[i];
    const double step = sign * change;
    m->square += step * (2.0 * (sign * z - m->b) + step * (m->curvature[i] - m->spread));
    m->sum += step;
    m->b += m->spread * step;
    return step;
}

/* solver_dual_cd.c: epochs until the end, from wherever m is: order and active are set. Returns the
 * status of the solution. */
margin_status mg_dual_cd_go_on(mg_dual_cd *m);

/* ---- All at once (dual_cd_leaps.c) ----------------------------------------------------------- */

/* Before epochs, as long as they get on well. *done: as mg_dual_cd_judge. */
margin_status mg_dual_cd_leap(mg_dual_cd *m, bool *done);

/* ---- Several at once (dual_cd_lanes.c) ------------------------------------------------------- */

/* At most MG_ROW_LANES. */
margin_status mg_dual_cd_solve_lanes(mg_linear_job *jobs, mg_linear_solution *solutions,
                                     int64_t count);

/* crammer_singer.c: minimises an objective with their hinge and rho > 0 until its gap is proven;
 * solution->shares (samples x classes) must be there and is left with the feasible shares of the
 * proof. One thread; classes x columns multiplications and additions a sample and walk. */
margin_status mg_crammer_singer(mg_linear_job *job, mg_linear_solution *solution);
