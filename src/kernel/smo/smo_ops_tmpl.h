/* Inner loop of the dual solver: included by one file per instruction set after its vectors of f32.
 */
#include "kernel/smo/smo_ops.h"

#include <math.h>

/* ---- Two variables at a time ----------------------------------------------------------------- */

typedef struct smo_choice {
    int up;       /* the variable that gains most by moving up */
    float slope;  /* its slope */
    float lowest; /* greatest slope to the left */
} smo_choice;

/* f += step (K_i - K_j), and the next choice on the way. */
MG_INLINE smo_choice smo_walk(const mg_smo_set *set, const float *row_i, const float *row_j,
                              float step) {
    const fvec t = fvec_set(step);
    fvec_least least = fvec_least_start();
    fvec lowest = fvec_set(-(float)INFINITY);
    for (int k = 0; k < set->padded; k += FLANES) {
        fvec f = fvec_load(set->f + k);
        if (row_i) {
            f = fvec_fma(t, fvec_subtract(fvec_load(row_i + k), fvec_load(row_j + k)), f);
            fvec_store(set->f + k, f);
        }
        fvec_least_take(&least, fvec_add(f, fvec_load(set->up + k)), k);
        lowest = fvec_max(lowest, fvec_add(f, fvec_load(set->low + k)));
    }
    smo_choice choice;
    choice.up = fvec_least_place(&least, &choice.slope);
    choice.lowest = fvec_greatest(lowest);
    return choice;
}

/* Below it curvature is rounding, relative to k(x, x) + k(z, z). */
static const float smo_flat = 5e-7f;

/* The partner with which the objective falls most, (slope difference)^2 / curvature; INT32_MAX:
 * none is higher. */
MG_INLINE int smo_partner(const mg_smo_set *set, const smo_choice *choice) {
    const float *row = set->matrix + (int64_t)choice->up * set->padded;
    const fvec slope = fvec_set(choice->slope), mine = fvec_set(set->diagonal[choice->up]);
    const fvec two = fvec_set(-2.0f), flat = fvec_set(smo_flat), zero = fvec_set(0.0f);
    const fvec tiny = fvec_set(1e-37f);
    fvec_least least = fvec_least_start();
    for (int k = 0; k < set->padded; k += FLANES) {
        const fvec left = fvec_add(fvec_load(set->f + k), fvec_load(set->low + k));
        const fvec gain = fvec_max(fvec_subtract(left, slope), zero);
        const fvec sum = fvec_add(mine, fvec_load(set->diagonal + k));
        const fvec curvature =
            fvec_max(fvec_fma(two, fvec_load(row + k), sum), fvec_fma(flat, sum, tiny));
        fvec_least_take(&least,
                        fvec_subtract(zero, fvec_divide(fvec_multiply(gain, gain), curvature)), k);
    }
    float best;
    const int place = fvec_least_place(&least, &best);
    return best < 0.0f ? place : INT32_MAX;
}

static void smo_offsets(mg_smo_set *set, int i) {
    set->up[i] = (float)mg_smo_up(set->beta[i], set->most[i], set->epsilon);
    set->low[i] = (float)mg_smo_low(set->beta[i], set->least[i], set->epsilon);
}

/* As far as it pays; returns the step. */
static double smo_step(mg_smo_set *set, const smo_choice *choice, int j) {
    const int i = choice->up;
    const double sum = (double)set->diagonal[i] + (double)set->diagonal[j];
    double curvature = sum - 2.0 * (double)set->matrix[(int64_t)i * set->padded + j];
    if (curvature < -20.0 * (double)smo_flat * sum) set->indefinite = true;
    curvature = fmax(curvature, (double)smo_flat * sum + 1e-37);
    const double left = (double)set->f[j] + (double)set->low[j];
    const double step = mg_smo_move(set->beta, i, j, set->most[i], set->least[j], set->epsilon,
                                    (left - (double)choice->slope) / curvature);
    smo_offsets(set, i);
    smo_offsets(set, j);
    return step;
}

static int64_t smo_solve(mg_smo_set *set) {
    smo_choice choice = smo_walk(set, NULL, NULL, 0.0f);
    for (int64_t steps = 0; steps < set->most_steps; steps++) {
        if (!(choice.lowest - choice.slope > set->tolerance)) return steps;
        const int j = smo_partner(set, &choice);
        if (j == INT32_MAX) return steps;
        const int64_t at_i = (int64_t)choice.up * set->padded, at_j = (int64_t)j * set->padded;
        const double step = smo_step(set, &choice, j);
        choice = smo_walk(set, set->matrix + at_i, set->matrix + at_j, (float)step);
    }
    return set->most_steps;
}

#define SMO_OPS_TABLE                                                                              \
    { smo_solve }
