/* How far an objective without |w|_1 can be above its least value, from its gradient g and its
 * Hessian H at the weights.
 *
 * The losses here have |l'''| <= l'' along every line: the third derivative of a sample is at most
 * its second times the change of its score (of the softmax: times the range of the changes of its
 * scores, which is what a third central moment is to a variance). In a direction d of length s =
 * sqrt(d'Hd) no sample's change exceeds L s, where L^2 is the greatest (a_i, 1)'H^-1(a_i, 1) (of
 * the softmax: the greatest of the same for e_k a_i - e_l a_i), so that the curvature along d falls
 * no faster than exp(-L t) and with G^2 = g'H^-1 g, psi(t) = exp(-t) + t - 1 and g.d >= -G s
 *
 *   P(w + d) >= P(w) - G s + psi(L s) / L^2.
 *
 * The right side is least at L s = -log(1 - L G), if L G < 1, and then
 *
 *   P(w) - P* <= ((1 - t) log(1 - t) + t) / L^2,   t = L G,
 *
 * which is G^2/2 (1 + t/3 + t^2/6 + ...): Bach, "Self-concordant analysis for logistic regression",
 * 2010. For the squared loss L = 0 and the distance is G^2/2, exactly. Nothing is assumed of where
 * the optimum is. Where L G is large there is no bound: classes that separate, for instance.
 *
 * H is factored in extended precision, scaled to a diagonal of 1. If rounding of H is not small
 * beside its least eigenvalue, at least 1 / trace H^-1, and there is no penalty, a basis of the
 * columns is kept: as many as are independent, which is found without rounding
 * (learn/exact/exact_columns.h) over the rows with a part in g, which then has nothing outside the
 * span of H. Where that does not tell, the factor of one function is made from the rows themselves,
 * by rotations (Givens); that of several has no bound then. */
#include "learn/exact/exact_columns.h"
#include "linear/verify/verification.h"

#include <float.h>
#include <string.h>

typedef mg_real real;

typedef struct curvature {
    mg_verification *k;
    int64_t blocks, block; /* functions that may move on their own; numbers of one */
    mg_extended_factor f;  /* of H */
    real *scale;           /* f.size */
    real *x;               /* blocks x f.size; the first is f.scratch */
    bool apart;            /* the rows that do not count are taken out of the gradient, */
    real lost;             /* and their loss is this */
    bool *independent;     /* columns + 1 */
    bool folded;           /* the factor is made from rows */
} curvature;

enum { MOST_SIZE = 4096 };           /* as in the training: MG_NEWTON_MATRIX_SIZE */
static const real most_error = 0.1L; /* of H, relative to its least eigenvalue */
/* A row, with the 1 of an intercept that is there, less what may be taken off its columns: with b
 * that is another basis of the same functions, in which columns far from 0 keep their digits. */
static margin_status centred_row(curvature *m, int64_t i) {
    mg_verification *k = m->k;
    MG_TRY(mg_verify_row(k, i));
    for (int64_t e = 0; e < k->entries; e++)
        k->values[e] -= k->centre[k->at[e]];
    k->entries -= !k->options->intercept;
    return MARGIN_OK;
}

static margin_status add_sample(curvature *m, int64_t i) {
    mg_verification *k = m->k;
    if (!mg_verify_counts(k, i)) return MARGIN_OK;
    MG_TRY(centred_row(m, i));
    for (int64_t a = 0; a < m->blocks; a++)
        for (int64_t b = 0; b <= a; b++) {
            const real weight = mg_verify_curvature(k, i, a, b);
            for (int64_t r = 0; r < k->entries && weight != 0.0L; r++) {
                const real left = weight * k->values[r];
                real *into = m->f.matrix + (a * m->block + k->at[r]) * m->f.size + b * m->block;
                for (int64_t s = 0; s < (a == b ? r + 1 : k->entries); s++)
                    into[k->at[s]] += left * k->values[s];
            }
        }
    return MARGIN_OK;
}

static margin_status fill_matrix(curvature *m) {
    const int64_t n = m->f.size;
    memset(m->f.matrix, 0, (size_t)(n * n) * sizeof *m->f.matrix);
    for (int64_t i = 0; i < m->k->samples; i++)
        MG_TRY(add_sample(m, i));
    for (int64_t r = 0; r < n; r++) {
        if (r % m->block < m->k->columns)
            m->f.matrix[r * n + r] += (real)m->k->options->penalty.rho;
        const real own = m->f.matrix[r * n + r];
        m->scale[r] = own > 0.0L ? 1.0L / sqrtl(own) : 0.0L;
    }
    for (int64_t r = 0; r < n; r++)
        for (int64_t s = 0; s <= r; s++)
            m->f.matrix[r * n + s] *= m->scale[r] * m->scale[s];
    return MARGIN_OK;
}

/* How many columns are kept: what the matrix has of rank, without rounding. */
static margin_status count_columns(curvature *m) {
    mg_verification *k = m->k;
    const bool hinge = k->loss->kind == MG_LOSS_SQUARED_HINGE;
    margin_context *context = k->fit->context;
    double *weights;
    int64_t rank;
    MG_SCOPED_ARENA(arena, context->heap);
    if (k->options->penalty.rho > 0.0) return MARGIN_OK;
    MG_ARENA_NEW(&arena, weights, k->samples, "a verification", k->fit->error);
    for (int64_t i = 0; i < k->samples; i++)
        weights[i] =
            k->c[i] > 0 && (m->apart || !hinge ? mg_verify_counts(k, i) : mg_verify_depth(k, i) > 0)
                ? 1.0
                : 0.0;
    MG_TRY(mg_exact_columns(context, k->problem, k->options->intercept, weights, m->independent,
                            &rank, k->fit->error));
    m->f.count = m->blocks * rank;
    return MARGIN_OK;
}

static margin_status fold_rows(curvature *m) {
    mg_verification *k = m->k;
    const real root = sqrtl((real)k->options->penalty.rho);
    memset(m->f.matrix, 0, (size_t)(m->f.size * m->f.size) * sizeof *m->f.matrix);
    for (int64_t i = 0; i < k->samples + k->columns; i++) {
        if (i < k->samples && !mg_verify_counts(k, i)) continue;
        memset(m->x, 0, (size_t)m->f.size * sizeof *m->x);
        if (i >= k->samples)
            m->x[i - k->samples] = root;
        else {
            const real weight = sqrtl(mg_verify_curvature(k, i, 0, 0));
            MG_TRY(centred_row(m, i));
            for (int64_t e = 0; e < k->entries; e++)
                m->x[k->at[e]] = weight * k->values[e];
        }
        mg_extended_fold(&m->f, m->x);
    }
    return MARGIN_OK;
}

static margin_status make_factor(curvature *m) {
    static const real enough = 1e-10L; /* more digits need rotations */
    margin_context *context = m->k->fit->context;
    margin_error *error = m->k->fit->error;
    m->f.count = m->f.size;
    MG_TRY(fill_matrix(m));
    MG_TRY(mg_extended_cholesky(context, &m->f, error));
    MG_TRY(mg_extended_error(context, &m->f, false, error));
    if (m->f.error <= enough) return MARGIN_OK;
    MG_TRY(count_columns(m)); /* of a factor that leaves no doubt none depends on others */
    if (m->f.count < m->f.size) MG_TRY(mg_extended_error(context, &m->f, false, error));
    if (m->f.error <= enough || m->blocks > 1) return MARGIN_OK;
    m->folded = true;
    MG_TRY(fold_rows(m));
    MG_TRY(mg_extended_reflect(context, &m->f, m->scale, error));
    return mg_extended_error(context, &m->f, true, error);
}

static real centred_entry(const curvature *m, const real *v, bool is_gradient, int64_t r) {
    const mg_verification *k = m->k;
    const int64_t f = r / m->block, j = r % m->block;
    const real *own = v + f * (k->columns + 1), shift = k->centre[j] * own[k->columns];
    real value = is_gradient ? own[j] - shift : own[j] + fabsl(shift);
    if (is_gradient && j < k->columns)
        value +=
            (real)k->options->penalty.rho * (real)k->h->view.linear.weights[f * k->columns + j];
    return value * m->scale[r];
}

/* L^-1 (e_f a_i) for every function that may move: `blocks` rows of x. */
static margin_status solve_row(curvature *m) {
    const mg_verification *k = m->k;
    memset(m->x, 0, (size_t)(m->blocks * m->f.size) * sizeof *m->x);
    for (int64_t f = 0; f < m->blocks; f++) {
        real *x = m->x + f * m->f.size;
        if (mg_cancelled(k->fit->context)) return mg_fail_cancelled(k->fit->error);
        for (int64_t e = 0; e < k->entries; e++)
            x[f * m->block + k->at[e]] = k->values[e] * m->scale[f * m->block + k->at[e]];
        mg_extended_solve(&m->f, x);
    }
    return MARGIN_OK;
}

/* The greatest squared length of one of them (the function that does not move is the other), or of
 * the difference of two. */
static real longest(const curvature *m) {
    real most = 0.0L;
    for (int64_t f = 0; f < m->blocks; f++)
        for (int64_t g = 0; g <= f; g++) {
            real sum = 0.0L;
            for (int64_t at = 0; at < m->f.count; at++) {
                const int64_t r = m->f.order[at];
                const real other = g == f ? 0.0L : m->x[g * m->f.size + r];
                sum += (m->x[f * m->f.size + r] - other) * (m->x[f * m->f.size + r] - other);
            }
            most = fmaxl(most, sum);
        }
    return most;
}

/* Of one function (a_i, 1)'H^-1(a_i, 1) is at most 1 / the row's curvature: H has its part. */
static real plain_length(const mg_verification *k, int64_t i) {
    const real own = k->functions == 1 ? mg_verify_curvature(k, i, 0, 0) : 0.0L;
    return own > 0.0L ? 1.0L / own : (real)INFINITY;
}

/* L^2; of the squared hinge 0, or INFINITY. square: G^2. What a row's curvature alone says is taken
 * where that is enough, as in the training. */
static margin_status find_reach(curvature *m, real square, real *reach) {
    mg_verification *k = m->k;
    const bool hinge = k->loss->kind == MG_LOSS_SQUARED_HINGE;
    *reach = 0.0L;
    if (k->loss->kind == MG_LOSS_SQUARED) return MARGIN_OK;
    for (int64_t i = 0; i < k->samples; i++) {
        if (!mg_verify_counts(k, i)) continue;
        const real most = mg_verify_most_length(k, i);
        real length = plain_length(k, i);
        if (!(length * square <= most)) {
            MG_TRY(centred_row(m, i));
            MG_TRY(solve_row(m));
            length = longest(m) / (1.0L - m->f.error);
        }
        if (hinge) length = length * square <= most ? 0.0L : (real)INFINITY;
        *reach = fmaxl(*reach, length);
    }
    return MARGIN_OK;
}

/* G^2 */
static real gradient_length(const curvature *m) {
    for (int64_t r = 0; r < m->f.size; r++)
        m->x[r] = centred_entry(m, m->k->v, true, r);
    return mg_extended_solve(&m->f, m->x) / (1.0L - m->f.error);
}

/* What rounding of the gradient may add to G^2: with signs that agree, and that alternate. */
static real gradient_blur(const curvature *m) {
    real most = 0.0L;
    for (int way = 0; way < 2; way++) {
        for (int64_t r = 0; r < m->f.size; r++)
            m->x[r] = centred_entry(m, m->k->blur, false, r) * (way && r % 2 ? -1.0L : 1.0L);
        most = fmaxl(most, mg_extended_solve(&m->f, m->x));
    }
    return most;
}

/* Takes the rows that do not count out of the gradient. */
static margin_status leave_out(curvature *m) {
    mg_verification *k = m->k;
    m->apart = true;
    for (int64_t i = 0; i < k->samples; i++) {
        const real inner = (real)mg_verify_depth(k, i);
        if (mg_verify_counts(k, i) || !(inner > 0.0L)) continue;
        m->lost += k->c[i] * inner * inner;
        MG_TRY(mg_verify_row(k, i));
        for (int64_t e = 0; e < k->entries; e++)
            k->v[k->at[e]] += 2.0L * k->c[i] * inner * (real)k->problem->sign[i] * k->values[e];
    }
    return MARGIN_OK;
}

static margin_status judge(curvature *m, real *distance, real *moved) {
    real reach;
    MG_TRY(make_factor(m));
    if (mg_verify_claims_rank(m->k)) mg_verify_dependence(m->k, &m->f, m->scale, m->folded, m->x);
    if (!(m->f.error <= most_error)) return MARGIN_OK;
    const real square = gradient_length(m), blur = gradient_blur(m);
    *moved = sqrtl(square * blur) + blur + m->lost; /* training did not take them out */
    MG_TRY(find_reach(m, square, &reach));
    *distance = m->lost + mg_verify_at_reach(square, reach);
    return MARGIN_OK;
}

mg_real mg_verify_at_reach(mg_real square, mg_real reach) {
    const real t = reach > 0.0L ? sqrtl(reach * square) : 0.0L;
    if (!(t <= mg_verify_most_reach)) return (real)INFINITY;
    if (t < 1e-3L) /* the closed form has few digits left; this is a little more */
        return square * (0.5L + t / 6.0L + t * t / 10.0L);
    return square * ((1.0L - t) * log1pl(-t) + t) / (t * t);
}

static margin_status without_factor(mg_verification *k, real *distance, real *moved) {
    if (!mg_verify_is_free(k)) return MARGIN_OK;
    if (k->functions == 1) MG_TRY(mg_verify_by_products(k, distance, moved));
    if (k->loss->kind != MG_LOSS_SQUARED || !isinf(*distance)) return MARGIN_OK;
    return mg_verify_between_rows(k, distance, moved);
}

/* Each row on its side without a penalty: the least value, 0, is nowhere, and there is no bound. */
static bool is_separated(const mg_verification *k) {
    const mg_loss_kind kind = k->loss->kind;
    bool all = mg_verify_is_free(k) && kind != MG_LOSS_SQUARED && kind != MG_LOSS_SQUARED_HINGE;
    for (int64_t i = 0; all && i < k->samples; i++) {
        const real *f = k->scores + i * k->functions;
        if (!k->loss->coupled) all = mg_verify_sign(k, i) * f[0] > 0.0L;
        for (int64_t l = 0; k->loss->coupled && l < k->functions; l++)
            all &= mg_verify_is_own(k, i, l) || f[k->problem->code[i]] > f[l];
    }
    return all;
}

margin_status mg_verify_distance(mg_verification *k, mg_real *distance, mg_real *moved) {
    curvature m = {.k = k, .blocks = k->functions == 1 ? 1 : k->functions - 1};
    m.block = k->columns + k->options->intercept;
    m.f.size = m.blocks * m.block;
    *distance = (real)INFINITY;
    *moved = 0.0L;
    if (!k->loss->self_bounding || is_separated(k)) return MARGIN_OK;
    if (m.f.size > MOST_SIZE) return without_factor(k, distance, moved);
    MG_SCOPED_ARENA(arena, k->fit->context->heap);
    MG_TRY(MG_PIECES(&arena, "a verification", k->fit->error,
                     MG_PIECE(m.f.matrix, m.f.size * m.f.size), MG_PIECE(m.scale, m.f.size),
                     MG_PIECE(m.x, m.f.size * m.blocks), MG_PIECE(m.f.order, m.f.size),
                     MG_PIECE(m.independent, k->columns + 1)));
    m.f.scratch = m.x;
    MG_TRY(judge(&m, distance, moved));
    if (!isinf(*distance)) return MARGIN_OK;
    if (k->loss->kind == MG_LOSS_SQUARED && mg_verify_is_free(k))
        return mg_verify_between_rows(k, distance, moved);
    if (k->loss->kind != MG_LOSS_SQUARED_HINGE) return MARGIN_OK;
    MG_TRY(leave_out(&m));
    return judge(&m, distance, moved);
}
