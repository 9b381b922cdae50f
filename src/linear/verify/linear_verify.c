/* What a linear learner claims, once more: objective and gap of one function or of K coupled ones,
 * from the rows, the weights as the learner found them and the dual variables that the model keeps,
 * by plain loops in extended precision that share nothing with the training but the formulas of the
 * losses (loss.h). proof/certificate.c derives the bound: with u_i the dual
 * variables, p_ik what the loss of sample i changes by with its score k (-u y for a margin, -u for
 * a residual, q_k - 1[k = y] for shares q, times c_i), and v_k = sum_i p_ik (a_i, 1),
 *
 *   D = sum_i c_i dual(u_i) [- sum_i p_i target_i] - sum_kj max(|v_kj| - kappa, 0)^2 / (2 rho),
 *
 * where the last number of every v_k, of the intercept, must be 0, and |v_kj| <= kappa if rho = 0.
 * No loss is below 0, so D = 0 always holds. Without a penalty, and for the squared loss without
 * |w|_1 where D is not near enough, the bound comes from the curvature (verify_curvature.c).
 *
 * Rounding. The numbers here are exact beside those of the training, which added them up in double
 * precision. One rule allows for that: a sum may be off by MG_ROUNDING times the sum of the
 * absolute values of its terms. A score is the sum of b, w_j a_ij (a_ij itself of a stored value
 * and a shift; of a made one whatever sum moves it as far as p->blur says) and of minus the target;
 * what that does to the objective is counted to second order, what it does to v (blur) through D.
 * Nothing else is forgiven. What is then said of a gap that is within tol is of the sums here. */
#include "linear/verify/linear_verify.h"

#include "base/sweep.h"
#include "linear/verify/verification.h"

#include <float.h>
#include <string.h>

typedef mg_real real;

static const real unit = (real)MG_ROUNDING;

/* ---- Rows ------------------------------------------------------------------------------------ */

static void add_entry(mg_verification *k, int64_t column, real value, real size) {
    k->at[k->entries] = column;
    k->values[k->entries] = value;
    k->sizes[k->entries++] = size;
}

margin_status mg_verify_row(mg_verification *k, int64_t sample) {
    const mg_problem *p = k->problem;
    const int64_t row = mg_sample_row(p, sample);
    if (mg_cancelled(k->fit->context)) return mg_fail_cancelled(k->fit->error);
    k->entries = 0;
    if (mg_is_csr(&p->x) && !p->shift && !p->maker) {
        for (int64_t e = mg_row_start(&p->x, row); e < mg_row_start(&p->x, row + 1); e++) {
            const int64_t j = mg_column_index(&p->x, e);
            const real value =
                (real)mg_stored_value(&p->x, e) * (p->scale ? (real)p->scale[j] : 1.0L);
            add_entry(k, j, value, fabsl(value));
        }
    } else {
        mg_sample_values(p, sample, k->row);
        for (int64_t j = 0; j < k->columns; j++) {
            const real value = (real)k->row[j] * (p->scale ? (real)p->scale[j] : 1.0L);
            const real shift = p->shift ? (real)p->shift[j] : 0.0L;
            add_entry(k, j, value + shift,
                      fabsl(value) + fabsl(shift) + (real)mg_column_blur(p, j) / unit);
        }
    }
    add_entry(k, k->columns, 1.0L, 1.0L);
    return MARGIN_OK;
}

/* What the loss of one function is of. */
static double at_loss(const mg_verification *k, int64_t i) {
    const real f = k->scores[i];
    return (double)(k->loss->margin_based ? mg_verify_sign(k, i) * f
                                          : f - (real)k->problem->target[i]);
}

/* The shares of all functions but one. */
static real others_of(const mg_verification *k, int64_t i, int64_t function) {
    real others = 0.0L;
    for (int64_t l = 0; l < k->functions; l++)
        others += l == function ? 0.0L : k->u[i * k->functions + l];
    return others;
}

real mg_verify_share(const mg_verification *k, int64_t i, int64_t function) {
    return mg_verify_is_own(k, i, function) ? -others_of(k, i, function)
                                            : k->u[i * k->functions + function];
}

/* p: what the loss of a sample changes by with its score k, at the dual variables: the gradient of
 * its minorant. */
static real pull_of(const mg_verification *k, int64_t i, int64_t function) {
    if (k->loss->coupled) return k->c[i] * mg_verify_share(k, i, function);
    return -k->c[i] * k->u[i] * mg_verify_sign(k, i);
}

real mg_verify_curvature(const mg_verification *k, int64_t i, int64_t a, int64_t b) {
    const real *q = k->u + i * k->functions;
    if (!k->loss->coupled) return k->c[i] * (real)k->loss->curvature(at_loss(k, i));
    return k->c[i] * q[a] * (a == b ? others_of(k, i, a) : -q[b]);
}

/* ---- Objective ------------------------------------------------------------------------------- */

/* Of coupled scores f; of the softmax, u becomes the shares, else 0. */
static real coupled_loss(const mg_verification *k, int64_t i) {
    const real *f = k->scores + i * k->functions;
    const bool hinge = !k->loss->smooth;
    const int32_t y = k->problem->code[i];
    real *q = k->u + i * k->functions, most = -(real)INFINITY, sum = 0.0L, others = 0.0L;
    for (int64_t m = 0; m < k->functions; m++)
        most = fmaxl(most, hinge && m != y ? 1.0L + f[m] : f[m]);
    memset(q, 0, (size_t)k->functions * sizeof *q);
    if (hinge) return most - f[y];
    for (int64_t m = 0; m < k->functions; m++) {
        q[m] = expl(f[m] - most);
        sum += q[m];
        others += m == y ? 0.0L : q[m];
    }
    for (int64_t m = 0; m < k->functions; m++)
        q[m] /= sum;
    return f[y] == most ? log1pl(others) : logl(sum) + most - f[y];
}

/* What sums over rows may take off a column: its first value, if no row has 0 there. */
static void note_centre(mg_verification *k, int64_t sample) {
    for (int64_t e = 0; e < k->entries; e++) {
        if (sample == 0) k->centre[k->at[e]] = k->values[e];
        k->held[k->at[e]] += k->values[e] != 0.0L ? 1.0L : 0.0L;
    }
    for (int64_t j = 0; j <= k->columns && sample + 1 == k->samples; j++)
        if (k->held[j] < (real)k->samples || !k->options->intercept) k->centre[j] = 0.0L;
    k->centre[k->columns] = 0.0L;
}

/* c, scores, dual variables of the scores, P. */
static margin_status find_objective(mg_verification *k) {
    const mg_penalty *penalty = &k->options->penalty;
    const double *w = k->h->view.linear.weights, *b = k->h->view.linear.intercept;
    real square = 0.0L, absolute = 0.0L;
    k->objective = 0.0L;
    memset(k->held, 0, (size_t)(k->columns + 1) * sizeof *k->held);
    for (int64_t i = 0; i < k->samples; i++) {
        real *f = k->scores + i * k->functions;
        MG_TRY(mg_verify_row(k, i));
        note_centre(k, i);
        for (int64_t m = 0; m < k->functions; m++) {
            f[m] = (real)b[m];
            for (int64_t e = 0; e < k->entries - 1; e++)
                f[m] += k->values[e] * (real)w[m * k->columns + k->at[e]];
        }
        k->c[i] = (real)penalty->factor * (real)mg_sample_weight(k->problem, i);
        if (!k->loss->coupled) k->u[i] = -(real)k->loss->slope(at_loss(k, i));
        k->objective +=
            k->c[i] * (k->loss->coupled ? coupled_loss(k, i) : (real)k->loss->value(at_loss(k, i)));
    }
    for (int64_t j = 0; j < k->functions * k->columns; j++) {
        square += (real)w[j] * (real)w[j];
        absolute += fabsl((real)w[j]);
    }
    k->objective += (real)penalty->rho / 2.0L * square + (real)penalty->kappa * absolute;
    return MARGIN_OK;
}

/* v = sum_i p_ik (a_i, 1), and in `held` how far those here may be off. `balanced`: the p of a
 * function add up to 0 but for rounding, which columns far from 0 would magnify. */
static margin_status find_sums(mg_verification *k, bool balanced) {
    const int64_t size = k->columns + 1;
    memset(k->v, 0, (size_t)(k->functions * size) * sizeof *k->v);
    memset(k->held, 0, (size_t)size * sizeof *k->held);
    for (int64_t i = 0; i < k->samples; i++) {
        MG_TRY(mg_verify_row(k, i));
        for (int64_t m = 0; m < k->functions; m++) {
            const real pull = pull_of(k, i, m);
            const real part = LDBL_EPSILON * fabsl(pull);
            for (int64_t e = 0; e < k->entries && pull != 0.0L; e++) {
                const real value = k->values[e] - (balanced ? k->centre[k->at[e]] : 0.0L);
                k->v[m * size + k->at[e]] += pull * value;
                k->held[k->at[e]] += part * (fabsl(value) + 2.0L * k->sizes[e]) +
                                     LDBL_EPSILON * fabsl(k->v[m * size + k->at[e]]);
            }
        }
    }
    return MARGIN_OK;
}

/* ---- Rounding -------------------------------------------------------------------------------- */

/* The slope of the loss in score m, for one function at its steepest nearby: that of a hinge is 0
 * where no rounding reaches its corner. Those of shares are larger by a power of e where rounding
 * moves scores by whole numbers. */
static real slope_of(const mg_verification *k, int64_t i, int64_t m) {
    const bool sparse = mg_is_csr(&k->problem->x); /* from others large means are taken off */
    const real near = fmaxl(1e-9L, sparse ? unit * k->terms[m] : 0.0L);
    if (!k->loss->smooth)
        return k->loss->coupled || (real)at_loss(k, i) < 1.0L + near ? 1.0L : 0.0L;
    const bool shares = k->loss->coupled || k->loss->kind == MG_LOSS_LOGISTIC;
    const real slope =
        k->loss->coupled ? mg_verify_share(k, i, m) : (real)k->loss->slope(at_loss(k, i));
    real most = 0.0L;
    for (int64_t l = 0; shares && l < k->functions; l++)
        most = fmaxl(most, unit * k->terms[l]);
    return shares ? fminl(fabsl(slope) * expl(2.0L * most), 1.0L) : fabsl(slope);
}

/* Absolute values of what score m of a sample is the sum of. */
static real terms_of(const mg_verification *k, int64_t i, int64_t m) {
    const double *w = k->h->view.linear.weights + m * k->columns;
    real terms = fabsl((real)k->h->view.linear.intercept[m]);
    if (!k->loss->coupled && !k->loss->margin_based) terms += fabsl((real)k->problem->target[i]);
    for (int64_t e = 0; e < k->entries - 1; e++)
        terms += fabsl((real)w[k->at[e]]) * k->sizes[e];
    return terms;
}

/* What a sample adds to the rounding of P, and of v: of coupled losses the slope in one score is
 * moved by all of them. */
static void add_rounding(mg_verification *k, int64_t i, int64_t m) {
    const real slope = slope_of(k, i, m);
    real bent = 0.0L;
    for (int64_t l = 0; k->loss->curved && l < k->functions; l++)
        bent += fabsl(mg_verify_curvature(k, i, m, l)) / k->c[i] * k->terms[l];
    k->rounding += k->c[i] * unit * k->terms[m] * (slope + unit * bent);
    for (int64_t e = 0; e < k->entries; e++)
        k->blur[m * (k->columns + 1) + k->at[e]] += k->c[i] * unit * (slope + bent) * k->sizes[e];
}

/* The sum of squared errors may come from products of columns, as a difference of the squares of
 * target and fit about the mean, where those are not much larger (linear/squares). */
static real squares_rounding(const mg_verification *k) {
    static const real most = 4000.0L;
    const double *y = k->problem->target;
    real total = 0.0L, mean = 0.0L, squares = 0.0L, errors = 0.0L;
    for (int64_t i = 0; i < k->samples && k->options->intercept; i++) {
        total += k->c[i];
        mean += k->c[i] * (real)y[i];
    }
    if (total > 0.0L) mean /= total;
    for (int64_t i = 0; i < k->samples; i++) {
        const real of_target = (real)y[i] - mean, of_fit = k->scores[i] - mean;
        squares += k->c[i] * (of_target * of_target + of_fit * of_fit);
        errors += k->c[i] * (of_target - of_fit) * (of_target - of_fit);
    }
    return squares <= most * errors ? k->unit_of_rows * squares : 0.0L;
}

/* At the scores: before other dual variables are taken. */
static margin_status find_rounding(mg_verification *k) {
    memset(k->blur, 0, (size_t)(k->functions * (k->columns + 1)) * sizeof *k->blur);
    k->rounding = k->unit_of_rows * k->objective;
    k->own = 0.0L;
    if (k->loss->kind == MG_LOSS_SQUARED) k->rounding += squares_rounding(k);
    for (int64_t i = 0; i < k->samples; i++) {
        MG_TRY(mg_verify_row(k, i));
        for (int64_t m = 0; m < k->functions; m++)
            k->terms[m] = terms_of(k, i, m);
        for (int64_t m = 0; m < k->functions; m++)
            add_rounding(k, i, m);
        const real off = LDBL_EPSILON * (real)(k->entries + 2) * k->terms[0]; /* of a score here */
        if (k->loss->kind == MG_LOSS_SQUARED)
            k->own += k->c[i] * off * (2.0L * fabsl((real)at_loss(k, i)) + off);
        /* of the logarithm of a sum that is about 1 */
        if (k->loss->coupled && k->loss->smooth) k->rounding += k->c[i] * unit;
    }
    return MARGIN_OK;
}

/* Of P - D with a penalty. */
static real gap_rounding(const mg_verification *k) {
    const mg_penalty *penalty = &k->options->penalty;
    const real rho = (real)penalty->rho, kappa = (real)penalty->kappa;
    real sum = k->rounding, most = 0.0L;
    for (int64_t m = 0; m < k->functions; m++)
        for (int64_t j = 0; j < k->columns; j++) {
            const int64_t at = m * (k->columns + 1) + j;
            const real w = fabsl((real)k->h->view.linear.weights[m * k->columns + j]);
            const real excess = fmaxl(fabsl(k->v[at]) - kappa, 0.0L), blur = k->blur[at];
            if (rho > 0.0L)
                sum += blur * fmaxl(w, excess / rho) + blur * blur / (2.0L * rho);
            else
                sum += blur * w;
            most = fmaxl(most, blur);
        }
    for (int64_t m = 0; m < k->functions && k->options->intercept; m++)
        sum += k->blur[m * (k->columns + 1) + k->columns] *
               fabsl((real)k->h->view.linear.intercept[m]);
    return rho > 0.0L ? sum : sum + k->objective * fminl(1.0L, most / kappa);
}

/* ---- Bound ----------------------------------------------------------------------------------- */

static real greatest(const mg_verification *k) {
    real most = 0.0L;
    for (int64_t m = 0; m < k->functions; m++)
        for (int64_t j = 0; j < k->columns; j++)
            most = fmaxl(most, fabsl(k->v[m * (k->columns + 1) + j]));
    return most;
}

static real dual_of_shares(const mg_verification *k, int64_t i) {
    real sum = 0.0L;
    for (int64_t m = 0; m < k->functions; m++) {
        const real q = k->u[i * k->functions + m];
        if (!k->loss->smooth)
            sum += mg_verify_is_own(k, i, m) ? 0.0L : q;
        else if (q > 0.0L)
            sum -= q * logl(q);
    }
    return sum;
}

/* D with all dual variables times `factor` (1 for coupled ones). */
static real dual_objective(const mg_verification *k, real factor) {
    const mg_penalty *penalty = &k->options->penalty;
    real sum = 0.0L, square = 0.0L;
    for (int64_t i = 0; i < k->samples; i++) {
        const double u = (double)(factor * k->u[i * k->functions]);
        if (k->loss->coupled)
            sum += k->c[i] * dual_of_shares(k, i);
        else
            sum +=
                k->c[i] * (real)k->loss->dual(fmin(fmax(u, k->loss->dual_low), k->loss->dual_high));
        if (!k->loss->coupled && !k->loss->margin_based)
            sum += factor * k->c[i] * k->u[i] * (real)k->problem->target[i];
    }
    for (int64_t m = 0; m < k->functions; m++)
        for (int64_t j = 0; j < k->columns; j++) {
            const real v = fabsl(factor * k->v[m * (k->columns + 1) + j]);
            const real excess = fmaxl(v - (real)penalty->kappa, 0.0L);
            square += excess * excess;
        }
    return penalty->rho > 0.0 ? sum - square / (2.0L * (real)penalty->rho) : sum;
}

/* The factor of the dual variables that serves best where |v_j| <= kappa must hold. */
static real lasso_factor(const mg_verification *k) {
    const real kappa = (real)k->options->penalty.kappa, most = greatest(k);
    real limit = most > 0.0L ? kappa / most : (real)INFINITY, square = 0.0L, linear = 0.0L;
    if (k->loss->kind != MG_LOSS_SQUARED) return fminl(1.0L, limit);
    for (int64_t i = 0; i < k->samples; i++) { /* D = linear x - square x^2 */
        linear += k->c[i] * k->u[i] * (real)k->problem->target[i];
        square -= k->c[i] * (real)k->loss->dual((double)k->u[i]);
    }
    if (!(square > 0.0L)) return fminl(1.0L, limit);
    limit = fminl(limit, 1000.0L); /* no amplifying of what is left of nothing */
    return fmaxl(-limit, fminl(limit, linear / (2.0L * square)));
}

/* How far rounding of the sums here may have made P - D too small at most, where D = bound is that
 * of squares at `factor` times the dual variables. With u half of LDBL_EPSILON a sum of n terms is
 * off by n u times the sum of their sizes, v by u times all its partial sums (Higham, "Accuracy and
 * stability of numerical algorithms", sections 4.2 and 3.3); here is twice that, or more. Losses
 * are in double precision, three roundings each. The p that are computed are the dual variables,
 * but for the first row's, which takes what they do not add up to: `lost`. So v is off by `held`
 * and by what that moves; all p are then so much smaller that it is feasible, or the ridge costs
 * more. */
static margin_status find_own(mg_verification *k, real factor, real bound) {
    const real rho = (real)k->options->penalty.rho, kappa = (real)k->options->penalty.kappa;
    const real depth = LDBL_EPSILON * (real)(k->samples + k->columns + 8), size = fabsl(factor);
    const real first = size * fabsl(k->u[0]), sum = k->v[k->columns], of_sum = k->held[k->columns];
    const real left = k->options->intercept ? fabsl(sum) + of_sum : 0.0L, lost = size * left;
    real linear = 0.0L, square = 0.0L, most = 0.0L;
    for (int64_t i = 0; i < k->samples; i++) {
        const real u = size * fabsl(k->u[i]);
        linear += k->c[i] * u * fabsl((real)k->problem->target[i]);
        square += k->c[i] * u * u / 4.0L;
    }
    k->own += (2.0L * (real)DBL_EPSILON + depth) * (k->objective + square) + depth * linear;
    k->own += lost * (fabsl((real)k->problem->target[0]) + first / 2.0L + lost / (4.0L * k->c[0]));
    MG_TRY(mg_verify_row(k, 0));
    for (int64_t e = 0; e < k->entries - 1; e++) {
        const int64_t j = k->at[e];
        k->held[j] += left * (fabsl(k->values[e] - k->centre[j]) + LDBL_EPSILON * k->sizes[e]);
    }
    for (int64_t j = 0; j < k->columns; j++) {
        const real off = size * k->held[j], excess = fmaxl(size * fabsl(k->v[j]) - kappa, 0.0L);
        most = fmaxl(most, off);
        if (rho > 0.0L) k->own += (off * (excess + off / 2.0L) + depth * excess * excess) / rho;
    }
    if (rho == 0.0L)
        k->own +=
            fmaxl(bound - dual_objective(k, factor * (1.0L - fminl(1.0L, most / kappa))), 0.0L);
    return MARGIN_OK;
}

/* D at the dual variables made feasible; gap: P - D. */
static margin_status find_duality_gap(mg_verification *k, real *gap, real *moved) {
    const mg_penalty *penalty = &k->options->penalty;
    const real kappa = (real)penalty->kappa;
    real bound;
    MG_TRY(mg_verify_dual(k));
    MG_TRY(find_sums(k, true));
    const real most = greatest(k);
    real factor = penalty->rho > 0.0 ? 1.0L : lasso_factor(k);
    bound = dual_objective(k, factor);
    if (penalty->rho > 0.0 && kappa > 0.0L && most > kappa) {
        const real other = dual_objective(k, kappa / most);
        if (other > bound) factor = kappa / most;
        bound = fmaxl(bound, other);
    }
    *gap = k->objective - bound;
    *moved = gap_rounding(k);
    if (k->loss->kind == MG_LOSS_SQUARED && kappa > 0.0L) return find_own(k, factor, bound);
    k->own = (real)INFINITY; /* not known */
    return MARGIN_OK;
}

/* Of a ridge training takes the distance where the duality gap is more than tol, or than tol /
 * parts where parts had to be nearer for the whole: from half of that on it is looked at here. */
static margin_status find_gap(mg_verification *k, real *gap, real *moved) {
    const mg_penalty *penalty = &k->options->penalty;
    const real near = (real)k->options->tolerance * fmaxl(1.0L, k->objective);
    const real enough = near / (real)(2 * MG_MAX(k->fit->parts, 1));
    real distance = (real)INFINITY, of_distance = 0.0L;
    MG_TRY(find_sums(k, false)); /* the gradient of the losses */
    const bool free = mg_verify_is_free(k);
    const bool square = k->loss->kind == MG_LOSS_SQUARED && penalty->kappa == 0.0;
    *gap = (real)INFINITY;
    *moved = 0.0L;
    /* where no more is claimed than that no loss is below 0, no bound is looked for */
    const double claimed = k->fit->claimed && k->fit->parts <= 1 ? k->fit->claimed->gap : 0.0;
    const bool plain = k->loss->kind != MG_LOSS_SQUARED &&
                       (real)claimed * fmaxl(1.0L, k->objective) >= k->objective;
    if (free && !plain) MG_TRY(mg_verify_distance(k, gap, moved));
    if (!free) MG_TRY(find_duality_gap(k, gap, moved));
    if (!free && square && *gap > enough && mg_squares_exact(k->samples, k->columns)) {
        MG_TRY(find_objective(k)); /* its dual variables */
        MG_TRY(find_sums(k, false));
        MG_TRY(mg_verify_distance(k, &distance, &of_distance));
    }
    if (distance < *gap) {
        *gap = distance;
        *moved = of_distance;
    }
    if (k->objective < *gap) { /* no loss is below 0 */
        *gap = k->objective;
        *moved = fmaxl(*moved, k->rounding);
    }
    *moved = fminl(*moved, k->objective + k->rounding);
    *gap = fmaxl(0.0L, *gap);
    if (free || *gap == k->objective || !(*gap + k->own <= near)) k->own = *moved;
    k->own = fminl(k->own, *moved);
    return MARGIN_OK;
}

static void claim(mg_verification *k, const char *item, double value, double rounding) {
    mg_report_claim(&k->fit->report, &k->fit->verified, item, value, rounding);
}

/* ---- Weights that are 0 ---------------------------------------------------------------------- */

/* The best score that is the same for all rows: where its derivative changes its sign. */
static double best_constant(const mg_verification *k) {
    real positive = 0.0L, negative = 0.0L, targets = 0.0L;
    double low = -64.0, high = 64.0;
    for (int64_t i = 0; i < k->samples; i++) {
        *(mg_verify_sign(k, i) > 0.0L ? &positive : &negative) += k->c[i];
        if (!k->loss->margin_based) targets += k->c[i] * (real)k->problem->target[i];
    }
    if (!k->options->intercept) return 0.0;
    if (!k->loss->margin_based) return (double)(targets / positive);
    for (int halvings = 0; halvings < 80; halvings++) {
        const double b = 0.5 * (low + high);
        const bool rises = positive * (real)k->loss->slope(b) > negative * (real)k->loss->slope(-b);
        *(rises ? &high : &low) = b;
    }
    return 0.5 * (low + high);
}

/* The items of a penalty with |w|_1: how many weights are not 0, and from which lambda on all are:
 * the greatest slope of the loss where only the constant is fitted. Uses scores, u, v and blur. */
static margin_status claim_sparsity(mg_verification *k) {
    const mg_penalty *penalty = &k->options->penalty;
    const double constant = best_constant(k), *w = k->h->view.linear.weights;
    real most = 0.0L, all = 0.0L, far = fabsl((real)constant), total = 0.0L;
    int64_t nonzero = 0;
    for (int64_t j = 0; j < k->columns; j++)
        nonzero += w[j] != 0.0;
    claim(k, "nonzero", (double)nonzero, 0.0);
    claim(k, "l1_ratio", penalty->l1_ratio, 0.0);
    if (!k->loss->smooth) return MARGIN_OK;
    for (int64_t i = 0; i < k->samples && !k->loss->margin_based; i++)
        far = fmaxl(far, fabsl((real)k->problem->target[i])); /* the constant may be taken off it */
    memset(k->blur, 0, (size_t)k->columns * sizeof *k->blur);
    memset(k->v, 0, (size_t)(k->columns + 1) * sizeof *k->v);
    for (int64_t i = 0; i < k->samples; i++) {
        k->scores[i] = (real)constant;
        k->u[i] = -(real)k->loss->slope(at_loss(k, i));
        const real terms = fabsl(k->u[i]) + 2.0L * far * (real)k->loss->curvature(at_loss(k, i));
        all += k->c[i] * k->unit_of_rows * terms;
        total += k->c[i];
        MG_TRY(mg_verify_row(k, i));
        for (int64_t e = 0; e < k->entries - 1; e++) {
            k->blur[k->at[e]] += k->c[i] * k->unit_of_rows * terms * k->sizes[e];
            k->v[k->at[e]] += k->c[i] * k->sizes[e];
        }
    }
    most = 1e-160L * total * (1.0L + far);   /* squares of such columns vanish: a fit has none */
    for (int64_t j = 0; j < k->columns; j++) /* a fit may take the means of columns off all rows */
        most = fmaxl(most, k->blur[j] + 4.0L * all * (k->v[j] / total));
    MG_TRY(find_sums(k, false));
    const real scale = (real)(penalty->lambda / penalty->kappa);
    claim(k, "lambda_max", (double)(greatest(k) * scale), (double)(most * scale));
    return MARGIN_OK;
}

/* ---- Report ---------------------------------------------------------------------------------- */

/* Rows with a dual variable above 0; of coupled losses those whose own share is below 1. */
static int64_t count_support(const mg_verification *k) {
    const mg_hypothesis *h = k->h;
    int64_t count = 0;
    for (int64_t e = 0; e < h->dual_starts[k->functions]; e++)
        count += h->dual_signs[e] > 0.0 || !k->loss->coupled;
    return count;
}

static margin_status fill_report(mg_verification *k, real gap, real moved) {
    const mg_linear_options *options = k->options;
    const mg_penalty *penalty = &options->penalty;
    const real size = fmaxl(1.0L, k->objective);
    margin_report *report = &k->fit->report;
    mg_verified *verified = &k->fit->verified;
    report->objective = (double)k->objective;
    mg_linear_describe(&k->options->penalty, k->loss->formula, report);
    report->gap = (double)(gap / size);
    report->tolerance = options->tolerance;
    verified->objective = (double)k->rounding;
    verified->gap = (double)moved;
    verified->own = (double)k->own;
    report->status =
        gap <= (real)options->tolerance * size + moved ? MARGIN_OK : MARGIN_STOPPED_STALLED;
    if (options->penalised) {
        claim(k, "C", penalty->C, 0.0);
        claim(k, "alpha", penalty->alpha, 0.0);
        claim(k, "lambda", penalty->lambda, 0.0);
    }
    for (int64_t m = 0; m < k->functions; m++)
        if (!options->intercept && k->h->view.linear.intercept[m] != 0.0)
            verified->contradiction = "the model has an intercept and its spec says that there is "
                                      "none";
    if (k->h->dual_starts) claim(k, "support_vectors", (double)count_support(k), 0.0);
    return penalty->kappa > 0.0 ? claim_sparsity(k) : MARGIN_OK;
}

margin_status mg_linear_verify(mg_fit *fit, const mg_linear_options *options, mg_loss_kind loss,
                               const mg_hypothesis *hypothesis) {
    mg_verification k = {.fit = fit,
                         .problem = fit->problem,
                         .loss = mg_loss_get(loss),
                         .h = hypothesis,
                         .options = options,
                         .samples = fit->problem->count,
                         .columns = fit->problem->x.columns,
                         .functions = hypothesis->functions,
                         .unit_of_rows =
                             (real)mg_rows_rounding(fit->problem->count, MG_BLOCK_ROWS)};
    const int64_t size = k.columns + 1, scores = k.samples * k.functions;
    real gap, moved;
    MG_SCOPED_ARENA(arena, fit->context->heap);
    MG_REQUIRE(!k.loss->coupled || k.functions == fit->problem->classes, fit->error,
               MARGIN_ERROR_DATA, "the data has %d classes and the model %lld functions",
               fit->problem->classes, (long long)k.functions);
    MG_TRY(MG_PIECES(
        &arena, "a verification", fit->error, MG_PIECE(k.c, k.samples), MG_PIECE(k.scores, scores),
        MG_PIECE(k.u, scores), MG_PIECE(k.v, k.functions * size),
        MG_PIECE(k.blur, k.functions * size), MG_PIECE(k.values, size), MG_PIECE(k.sizes, size),
        MG_PIECE(k.terms, k.functions), MG_PIECE(k.centre, size), MG_PIECE(k.held, size),
        MG_PIECE(k.far, size), MG_PIECE(k.at, size), MG_PIECE(k.row, size)));
    MG_TRY(find_objective(&k));
    MG_TRY(mg_verify_columns(&k));
    MG_TRY(find_rounding(&k));
    MG_TRY(find_gap(&k, &gap, &moved));
    return fill_report(&k, gap, moved);
}
