/* All folds of a search walk along the penalties together: a pass over the rows makes scores,
 * losses and gradients of every fold, each without the rows that it is tested on.
 *
 * With the loss divided by its factor fold f minimises, in coordinates u of mean 0 and deviation 1
 * (smooth.h) behind which the intercept lies,
 *
 *   P(u) = sum_i c_i log(1 + exp(-t_i)) + lambda/2 sum_j q_fj u_j^2        q: 1 in the fold's units
 *
 * Steps are Newton's with one Gram for all folds: with curvatures d_i that are means over the folds
 * it is made part by part, and each fold takes the sum without its own part. Where a penalty begins
 * the last gradient is known, so that the first step costs no pass; what later steps added to it at
 * the penalties before is extrapolated. The Gram is made anew as long as that does not suffice.
 *
 * The proof comes with every pass. The slopes p_i in (0,1) are dual variables but for s = sum_i
 * y_i c_i p_i, which must be 0. With p_i - y_i (s d_i / sum d) / c_i it is (d_i: those of the Gram,
 * 0 for rows that are not in it; all sums over the rows of fold f), and since c KL(p'|p) <= c (p' -
 * p)^2 / (p (1 - p)) the gap is at most
 *
 *   |g + s m|^2 / (2 lambda) + (s / sum d)^2 sum_i d_i^2 / h_i      h_i = c_i p_i (1 - p_i)
 *
 * with g the gradient, m = sum d_i e_i / sum d and the norm that of 1/q, as long as no p' leaves
 * (0,1): |s| d_i <= h_i sum d. The greatest d_i / h_i is at most the fourth root of the sum of
 * fourth powers. */
#include "linear/folds/folds.h"

#include "linear/design/design_block.h"
#include "linear/proof/goal.h"
#include "math/products/cholesky.h"

#include <string.h>

enum {
    MOST_FOLDS = 32,
    MOST_COLUMNS = 512,
    MOST_PASSES = 12, /* of a penalty */
    AGAIN = 2,        /* passes of a penalty after which there is a new Gram */
    LEAST_ROWS = 8,   /* for each column: with fewer the classes tend to be separable */
    GRAM_ROWS = 96    /* of a Gram for each of its columns */
};

/* Rows whose curvature is below this part of the mean stay out of the Gram, where they are next to
 * nothing: in one of the folds it may be smaller by many orders, and the last sum above large. */
static const double least_mean_curvature = 1e-5;

static const char purpose[] = "the folds of a logistic regression";

typedef struct logistic_folds {
    mg_fit *fits;
    const mg_linear_options *options;
    int64_t folds, count, columns, size, samples; /* count: of penalties; size: columns + 1 */
    bool intercept;
    mg_arena *arena;
    const mg_classes_rows *kernels;
    const mg_vector_ops *vectors;
    mg_design design;        /* of all rows, columns as they are */
    double *sign;            /* samples */
    int32_t *part;           /* samples: the fold that tests it */
    double *weight;          /* samples */
    int64_t *order, *first;  /* the samples of each part: order[first[f]] to order[first[f + 1] - 1]
                              */
    double *centre, *factor; /* columns */
    double *curvature, *next;         /* samples: d, and what it would be now */
    int64_t *chosen;                  /* samples: of a part, those in its Gram */
    double *picked;                   /* and d of these */
    double *grams;                    /* size x size of each part, and their sum */
    double *matrices;                 /* size x size of each fold */
    double *packed, *offset, *middle; /* the weights of a pass in rows' units, and the centre */
    double *work;                     /* of each worker */
    double *sums;                     /* of a pass */
    int64_t at, ld, passes; /* the penalty at hand; its passes, or those of the last one */
    struct logistic_fold *fold;
} logistic_folds;

/* Vectors of `size` numbers. */
typedef struct logistic_fold {
    double *q, *u, *gradient; /* gradient: of the loss */
    double *before;           /* u of the pass before */
    double *base;             /* where the first step led */
    double *off, *off_before; /* what was to be added to it, at the last two penalties */
    double constant;          /* least loss of w = 0 */
    double value, last;       /* P now and in the pass before */
    double gap;
    bool done;
} logistic_fold;

/* Behind one another, of each fold. */
enum { SUM_VALUE, SUM_SLOPES, SUM_SPREAD, SUM_FOURTH, SUMS };

static const mg_problem *problem_of(const logistic_folds *m, int64_t f) {
    return m->fits[f * m->count].problem;
}

/* With lambda the penalty depends on the weight of the fold's rows. */
static const mg_penalty *penalty_of(const logistic_folds *m, int64_t f, int64_t k) {
    return &m->options[f * m->count + k].penalty;
}

static double lambda_of(const logistic_folds *m, int64_t f, int64_t k) {
    return penalty_of(m, f, k)->rho / penalty_of(m, f, k)->factor;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* Enters the samples that fold f is tested on, and signs and weights of those it learns from;
 * false: they are not those of the folds before it. */
static bool enter_fold(logistic_folds *m, int64_t f) {
    const mg_problem *p = problem_of(m, f);
    int64_t count, learned = 0;
    if (mg_fold_tested(m->fits[0].shared->whole, p, m->chosen, &count) < 0 ||
        count > m->samples - m->first[f])
        return false;
    m->first[f + 1] = m->first[f] + count;
    memcpy(m->order + m->first[f], m->chosen, (size_t)count * sizeof *m->order);
    for (int64_t k = 0; k < count; k++)
        m->part[m->chosen[k]] = (int32_t)f;
    for (int64_t i = 0; i < m->samples; i++) {
        if (m->part[i] == f) continue;
        const double sign = p->sign[learned], weight = mg_sample_weight(p, learned++);
        if (m->sign[i] != 0.0 && (m->sign[i] != sign || m->weight[i] != weight)) return false;
        m->sign[i] = sign;
        m->weight[i] = weight;
    }
    return true;
}

static margin_status enter_folds(logistic_folds *m) {
    bool fits = true, once;
    for (int64_t i = 0; i < m->samples; i++) {
        m->sign[i] = 0;
        m->part[i] = -1;
        m->curvature[i] = 0.0;
    }
    m->first[0] = 0;
    for (int64_t f = 0; f < m->folds && fits; f++)
        fits = enter_fold(m, f);
    if (!fits) return mg_folds_decline(m->fits[0].error, "rows differ in more than their folds");
    once = m->first[m->folds] == m->samples;
    for (int64_t i = 0; i < m->samples; i++)
        once = once && m->part[i] >= 0;
    return once ? MARGIN_OK : mg_folds_decline(m->fits[0].error, "not each row is tested once");
}

/* ---- Start ----------------------------------------------------------------------------------- */

/* The best intercept of w = 0, and the loss there. */
static void start_fold(logistic_folds *m, int64_t f) {
    logistic_fold *fold = &m->fold[f];
    double mass[2] = {0.0, 0.0};
    for (int64_t i = 0; i < m->samples; i++)
        if (m->part[i] != f) mass[m->sign[i] > 0] += m->weight[i];
    const double all = mass[0] + mass[1];
    memset(fold->u, 0, (size_t)m->size * sizeof(double));
    memset(fold->off, 0, (size_t)m->size * sizeof(double));
    fold->constant = all * log(2.0);
    if (!m->intercept) return;
    fold->u[m->columns] = log(mass[1] / mass[0]);
    fold->constant = -mass[1] * log(mass[1] / all) - mass[0] * log(mass[0] / all);
}

/* Weights of a penalty in the units that the fold's learner sees. */
static bool take_units(logistic_folds *m, int64_t f) {
    const mg_problem *p = problem_of(m, f);
    double *q = m->fold[f].q;
    for (int64_t j = 0; j < m->columns; j++) {
        const double scale = p->scale ? p->scale[j] : 1.0;
        if (scale == 0.0) return false;
        q[j] = m->factor[j] / scale * (m->factor[j] / scale);
    }
    q[m->columns] = 0.0;
    return m->intercept || !p->shift;
}

static margin_status logistic_room(logistic_folds *m) {
    margin_error *error = m->fits[0].error;
    const int64_t n = m->samples, size = m->size, folds = m->folds, square = size * size;
    const int64_t threads = mg_threads(m->fits[0].context);
    m->ld = mg_classes_padded(m->columns);
    MG_TRY(MG_PIECES(m->arena, purpose, error, MG_PIECE(m->sign, n), MG_PIECE(m->part, n),
                     MG_PIECE(m->weight, n), MG_PIECE(m->order, n), MG_PIECE(m->first, folds + 1),
                     MG_PIECE(m->centre, m->columns), MG_PIECE(m->factor, m->columns),
                     MG_PIECE(m->curvature, n), MG_PIECE(m->next, n), MG_PIECE(m->picked, n),
                     MG_PIECE(m->chosen, n), MG_PIECE(m->grams, (folds + 1) * square),
                     MG_PIECE(m->matrices, folds * square), MG_PIECE(m->packed, folds * m->ld),
                     MG_PIECE(m->offset, folds), MG_PIECE(m->middle, m->ld),
                     MG_PIECE(m->sums, folds * (SUMS + m->columns)),
                     MG_PIECE(m->work, threads * folds * MG_CHUNK_ROWS), MG_PIECE(m->fold, folds)));
    for (int64_t f = 0; f < folds; f++) {
        logistic_fold *fold = &m->fold[f];
        MG_TRY(MG_PIECES(m->arena, purpose, error, MG_PIECE(fold->q, size), MG_PIECE(fold->u, size),
                         MG_PIECE(fold->gradient, size), MG_PIECE(fold->before, size),
                         MG_PIECE(fold->base, size), MG_PIECE(fold->off, size),
                         MG_PIECE(fold->off_before, size)));
    }
    return MARGIN_OK;
}

static margin_status begin_folds(logistic_folds *m) {
    margin_error *error = m->fits[0].error;
    m->kernels = mg_classes_rows_for(&m->design.problem->x, m->design.isa, false);
    m->vectors = mg_vector_ops_for(m->design.isa);
    MG_TRY(logistic_room(m));
    MG_TRY(enter_folds(m));
    MG_TRY(mg_design_coordinates(&m->design, m->intercept, m->centre, m->factor, error));
    memset(m->middle, 0, (size_t)m->ld * sizeof(double));
    memcpy(m->middle, m->centre, (size_t)m->columns * sizeof(double));
    for (int64_t f = 0; f < m->folds; f++) {
        if (!take_units(m, f)) return mg_folds_decline(error, "a column is constant in a fold");
        start_fold(m, f);
    }
    return MARGIN_OK;
}

/* ---- A pass ---------------------------------------------------------------------------------- */

/* Of the samples [first, first + count) in fold f: scores become slopes. */
static void fold_slopes(const logistic_folds *m, int64_t f, int64_t first, int64_t count, double *z,
                        double *sums) {
    const mg_vector_ops *v = m->vectors;
    const double *curvature = m->curvature + first, *sign = m->sign + first, offset = m->offset[f];
    const int32_t *part = m->part + first;
    double t[MG_CHUNK_ROWS], c[MG_CHUNK_ROWS], slopes[MG_CHUNK_ROWS], h[MG_CHUNK_ROWS];
    double ratio[MG_CHUNK_ROWS];
    for (int64_t r = 0; r < count; r++)
        t[r] = sign[r] * (z[r * m->folds + f] + offset);
    for (int64_t r = 0; r < count; r++)
        c[r] = part[r] == f ? 0.0 : m->weight[first + r];
    sums[SUM_VALUE] += mg_loss_pass_for(m->design.isa)(MG_LOSS_LOGISTIC, t, c, count, slopes, h);
    sums[SUM_SLOPES] += v->dot(sign, slopes, count);
    for (int64_t r = 0; r < count; r++)
        z[r * m->folds + f] = sign[r] * slopes[r];
    for (int64_t r = 0; r < count; r++) {
        const bool is_in = part[r] != f && curvature[r] > 0.0;
        ratio[r] = (is_in ? curvature[r] : 0.0) / (is_in ? h[r] : 1.0);
        m->next[first + r] += h[r];
    }
    sums[SUM_SPREAD] += v->dot(curvature, ratio, count);
    for (int64_t r = 0; r < count; r++)
        ratio[r] *= ratio[r];
    sums[SUM_FOURTH] += v->square(ratio, count);
}

static margin_status logistic_block(void *state, const mg_block *block, void *argument) {
    const logistic_folds *m = argument;
    const mg_visit_list list = {&m->design, NULL};
    double *sums = state, *z = m->work + block->worker * m->folds * MG_CHUNK_ROWS;
    const void *rows[MG_CHUNK_ROWS];
    for (int64_t at = 0; at < block->count; at += m->design.chunk_rows) {
        const int64_t first = block->first + at;
        const int64_t count = MG_MIN(block->count - at, m->design.chunk_rows);
        mg_design_find_rows(&list, first, count, rows);
        m->kernels->scores(rows, count, m->columns, m->middle, m->packed, m->ld, m->folds, z);
        memset(m->next + first, 0, (size_t)count * sizeof(double));
        for (int64_t f = 0; f < m->folds; f++)
            fold_slopes(m, f, first, count, z, sums + f * SUMS);
        m->kernels->gradient(rows, count, m->columns, m->middle, z, m->folds,
                             sums + m->folds * SUMS);
    }
    return MARGIN_OK;
}

/* Value, gap and gradient of a fold from the sums. */
static void judge_fold(logistic_folds *m, int64_t f, int64_t k) {
    logistic_fold *fold = &m->fold[f];
    const double *sums = m->sums + f * SUMS, *raw = m->sums + m->folds * SUMS + f * m->columns;
    const int64_t last = m->size * m->size - m->size; /* the row of the intercept */
    const double *own = m->grams + f * m->size * m->size + last,
                 *all = m->grams + m->folds * m->size * m->size + last;
    const double mass = all[m->columns] - own[m->columns], lambda = lambda_of(m, f, k);
    const double share = m->intercept && mass > 0.0 ? -sums[SUM_SLOPES] / mass : 0.0;
    double norm = 0.0, square = 0.0;
    fold->value = sums[SUM_VALUE];
    for (int64_t j = 0; j < m->columns; j++) {
        const double q = lambda * fold->q[j], u = fold->u[j];
        fold->gradient[j] = m->factor[j] * raw[j];
        const double off = fold->gradient[j] + q * u + share * (all[j] - own[j]);
        norm += q * u * u;
        if (q > 0.0) square += off * off / q;
    }
    fold->gradient[m->columns] = m->intercept ? sums[SUM_SLOPES] : 0.0;
    fold->value += norm / 2.0;
    fold->gap = square / 2.0;
    if (share != 0.0) fold->gap += share * share * sums[SUM_SPREAD];
    const bool inside = fabs(share) * sqrt(sqrt(sums[SUM_FOURTH])) <= 1.0;
    if (m->intercept && !(mass > 0.0 && inside)) fold->gap = (double)INFINITY;
}

static margin_status logistic_pass(logistic_folds *m, int64_t k) {
    memset(m->packed, 0, (size_t)(m->folds * m->ld) * sizeof(double));
    for (int64_t f = 0; f < m->folds; f++) {
        for (int64_t j = 0; j < m->columns; j++)
            m->packed[f * m->ld + j] = m->factor[j] * m->fold[f].u[j];
        m->offset[f] = m->fold[f].u[m->columns];
    }
    MG_TRY(mg_sweep_sums(m->design.context, m->samples, m->design.block_rows,
                         m->folds * (SUMS + m->columns), 0, logistic_block, m, m->sums,
                         m->fits[0].error));
    for (int64_t f = 0; f < m->folds; f++)
        judge_fold(m, f, k);
    m->passes++;
    return MARGIN_OK;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

/* sum d_i e_i of the chosen rows, and sum d_i: in f64, as the proof rests on them. */
static void sum_curvatures(const logistic_folds *m, int64_t count, double *row) {
    double *values = m->packed; /* free between passes */
    memset(row, 0, (size_t)m->size * sizeof(double));
    for (int64_t i = 0; i < count; i++) {
        mg_sample_values(m->design.problem, m->chosen[i], values);
        for (int64_t j = 0; j < m->columns; j++)
            row[j] += m->picked[i] * (m->factor[j] * (values[j] - m->centre[j]));
        row[m->columns] += m->picked[i];
    }
}

static margin_status make_grams(logistic_folds *m) {
    const int64_t square = m->size * m->size;
    const int64_t stride = MG_MAX(1, m->samples / (GRAM_ROWS * m->size));
    const double times = (double)stride / (double)(m->folds - 1);
    double *sum = m->grams + m->folds * square;
    memset(sum, 0, (size_t)square * sizeof(double));
    double all = 0.0;
    for (int64_t i = 0; i < m->samples; i++) {
        m->curvature[i] = 0.0;
        all += m->next[i];
    }
    const double least = least_mean_curvature * all / (double)m->samples;
    for (int64_t f = 0; f < m->folds; f++) {
        int64_t count = 0;
        for (int64_t i = m->first[f]; i < m->first[f + 1]; i += stride) {
            const int64_t at = m->order[i];
            if (!(m->next[at] > least)) continue;
            m->chosen[count] = at;
            m->picked[count++] = m->curvature[at] = times * m->next[at];
        }
        const mg_weighted_gram request = {.chosen = m->chosen,
                                          .count = count,
                                          .weights = m->picked,
                                          .centre = m->centre,
                                          .factor = m->factor,
                                          .single = true};
        double *own = m->grams + f * square;
        MG_TRY(mg_design_gram(&m->design, &request, own, m->fits[0].error));
        sum_curvatures(m, count, own + (square - m->size));
        for (int64_t e = 0; e < square; e++)
            sum[e] += own[e];
    }
    return MARGIN_OK;
}

static margin_status factor_fold(void *argument, int64_t f, int worker) {
    const logistic_folds *m = argument;
    const int64_t n = m->size, square = n * n;
    const double *own = m->grams + f * square, *all = m->grams + m->folds * square;
    double *a = m->matrices + f * square;
    int64_t failed;
    (void)worker;
    for (int64_t e = 0; e < square; e++)
        a[e] = all[e] - own[e];
    for (int64_t j = 0; j < n; j++) {
        const bool out = j < m->columns ? m->factor[j] == 0.0 : !m->intercept;
        for (int64_t l = 0; l < n && out; l++)
            a[j * n + l] = a[l * n + j] = 0.0;
        a[j * n + j] =
            out ? 1.0 : a[j * n + j] * (1.0 + 1e-12) + lambda_of(m, f, m->at) * m->fold[f].q[j];
    }
    MG_TRY(mg_cholesky_factor(m->design.context, n, a, n, &failed, NULL));
    return failed ? MARGIN_ERROR_LIMIT : MARGIN_OK;
}

static margin_status factor_folds(logistic_folds *m, int64_t k) {
    m->at = k;
    const margin_status status =
        mg_parallel(m->design.context, m->folds, factor_fold, m, m->fits[0].error);
    return status == MARGIN_ERROR_LIMIT ? mg_folds_decline(m->fits[0].error, "a matrix is singular")
                                        : status;
}

/* From u by Newton's step, with the gradient at hand. */
static void step_fold(logistic_folds *m, int64_t f, int64_t k) {
    logistic_fold *fold = &m->fold[f];
    double *step = m->packed; /* free between passes */
    for (int64_t j = 0; j < m->size; j++)
        step[j] = fold->gradient[j] + lambda_of(m, f, k) * fold->q[j] * fold->u[j];
    mg_cholesky_solve(m->design.isa, m->size, m->matrices + f * m->size * m->size, m->size, step);
    for (int64_t j = 0; j < m->size; j++)
        fold->u[j] -= step[j];
}

/* The start at a penalty: the first step, and what it lacked before, as far as that went on in the
 * same direction. */
static void enter_penalty(logistic_folds *m, int64_t f, int64_t k) {
    logistic_fold *fold = &m->fold[f];
    double along = 0.0, square = 0.0;
    step_fold(m, f, k);
    memcpy(fold->base, fold->u, (size_t)m->size * sizeof(double));
    for (int64_t j = 0; j < m->size && k > 1; j++) {
        along += fold->off[j] * fold->off_before[j];
        square += fold->off_before[j] * fold->off_before[j];
    }
    const double share = square > 0.0 ? fmin(fmax(along / square, 0.0), 1.0) : 0.0;
    for (int64_t j = 0; j < m->size; j++)
        fold->u[j] += share * fold->off[j];
    fold->last = (double)INFINITY;
    fold->done = false;
}

/* Half the way back where the last step led up, else the next one. */
static void move_fold(logistic_folds *m, int64_t f, int64_t k) {
    logistic_fold *fold = &m->fold[f];
    if (fold->value > fold->last + 1e-12 * fabs(fold->last)) {
        for (int64_t j = 0; j < m->size; j++)
            fold->u[j] = (fold->u[j] + fold->before[j]) / 2.0;
        return;
    }
    fold->last = fold->value;
    memcpy(fold->before, fold->u, (size_t)m->size * sizeof(double));
    step_fold(m, f, k);
}

static bool is_done(const logistic_folds *m, int64_t f, int64_t k) {
    const logistic_fold *fold = &m->fold[f];
    const double factor = penalty_of(m, f, k)->factor;
    return factor * fold->gap <=
           mg_wanted_gap(m->options[k].tolerance, factor * fold->value, factor * fold->constant);
}

/* ---- Penalties ------------------------------------------------------------------------------- */

static margin_status solve_penalty(logistic_folds *m, int64_t k) {
    bool done = false;
    if (m->passes > 1) MG_TRY(make_grams(m));
    MG_TRY(factor_folds(m, k));
    for (int64_t f = 0; f < m->folds; f++)
        enter_penalty(m, f, k);
    for (m->passes = 0; !done;) {
        if (m->passes == MOST_PASSES) return mg_folds_decline(m->fits[0].error, "many steps");
        MG_TRY(logistic_pass(m, k));
        done = true;
        for (int64_t f = 0; f < m->folds; f++) {
            m->fold[f].done = is_done(m, f, k);
            done = done && m->fold[f].done;
        }
        if (m->passes % AGAIN == 0 && !done) {
            MG_TRY(make_grams(m));
            MG_TRY(factor_folds(m, k));
        }
        for (int64_t f = 0; f < m->folds && !done; f++)
            if (!m->fold[f].done) move_fold(m, f, k);
    }
    for (int64_t f = 0; f < m->folds; f++) {
        logistic_fold *fold = &m->fold[f];
        for (int64_t j = 0; j < m->size; j++) {
            fold->off_before[j] = fold->off[j];
            fold->off[j] = fold->u[j] - fold->base[j];
        }
    }
    return MARGIN_OK;
}

static margin_status make_fit(logistic_folds *m, int64_t f, int64_t k) {
    const logistic_fold *fold = &m->fold[f];
    const mg_problem *p = problem_of(m, f);
    const double factor = penalty_of(m, f, k)->factor;
    mg_fit *fit = &m->fits[f * m->count + k];
    double b = fold->u[m->columns], *w = m->packed;
    for (int64_t j = 0; j < m->columns; j++) {
        const double own = m->factor[j] * fold->u[j];
        w[j] = p->scale ? own / p->scale[j] : own;
        b -= own * m->centre[j] + (p->shift ? w[j] * p->shift[j] : 0.0);
    }
    fit->report.status = MARGIN_OK;
    fit->report.objective = factor * fold->value;
    fit->report.gap = factor * fold->gap / fmax(1.0, factor * fold->value);
    fit->report.tolerance = m->options[k].tolerance;
    return mg_linear_make(fit->context->heap, w, m->columns, m->intercept ? b : 0.0,
                          &fit->hypothesis, fit->error);
}

static margin_status solve_folds(logistic_folds *m) {
    MG_TRY(begin_folds(m));
    memset(m->grams, 0, (size_t)((m->folds + 1) * m->size * m->size) * sizeof(double));
    MG_TRY(logistic_pass(m, 0));
    m->passes = 2; /* the first Gram is to be made */
    for (int64_t k = 0; k < m->count; k++) {
        MG_TRY(solve_penalty(m, k));
        for (int64_t f = 0; f < m->folds; f++)
            MG_TRY(make_fit(m, f, k));
    }
    return MARGIN_OK;
}

/* Dense rows of one problem, cut into folds; a penalty in each fit. */
static bool are_for_this(const logistic_folds *m, int64_t count) {
    const margin_matrix *x = &m->fits[0].shared->whole->x;
    bool can = m->folds * m->count == count && m->folds > 1 && m->folds <= MOST_FOLDS &&
               m->columns <= MOST_COLUMNS && m->samples >= LEAST_ROWS * m->size && !mg_is_csr(x);
    for (int64_t k = 0; k < count && can; k++) {
        const mg_linear_options *o = &m->options[k];
        const mg_problem *p = m->fits[k].problem;
        can = p->x.values == x->values && !p->maker && p->kind == MG_TWO_CLASS &&
              o->intercept == m->intercept && o->max_iterations < 0 && o->penalty.rho > 0.0 &&
              o->penalty.kappa == 0.0 && strcmp(o->solver, "auto") == 0;
    }
    return can;
}

margin_status mg_logistic_folds(mg_fit *fits, int64_t count, const mg_linear_options *options) {
    const mg_problem *whole = fits[0].shared->whole;
    logistic_folds m = {.fits = fits,
                        .options = options,
                        .columns = whole->x.columns,
                        .size = whole->x.columns + 1,
                        .samples = whole->count,
                        .intercept = options[0].intercept};
    while (m.count < count && fits[m.count].problem == fits[0].problem)
        m.count++;
    m.folds = count / m.count;
    if (!are_for_this(&m, count)) return mg_folds_decline(fits[0].error, "not of this kind");
    MG_SCOPED_ARENA(arena, fits[0].context->heap);
    m.arena = &arena;
    MG_TRY(mg_design_create(fits[0].context, whole, &m.design, fits[0].error));
    const margin_status status = solve_folds(&m);
    mg_design_free(&m.design);
    if (status < 0) mg_fits_undo(fits, count);
    return status;
}
