/* Moves of all dual variables at once, for dense rows that are fewer than columns: those have
 * little to do with each other, and each knows by itself about where it will end.
 *
 *   read      for each row the alpha that is best for all others as they are, and the sum of these
 *             moves times the rows: a direction, and the gap on the way
 *   combine   the best point that the last directions lead to, for which nothing is read: the dual
 *             knows alpha and w alone (after Narkiss and Zibulevsky, Technion, 2005)
 *
 * Near the optimum these are conjugate gradients, preconditioned by the squares of the rows and
 * the curvatures of the losses. */
#include "linear/design/design_block.h"
#include "linear/dual/dual_cd.h"
#include "math/losses/logit_dual.h"

enum { SPAN = MG_LOGIT_SPAN, LEAST = 6, PATIENCE = 8, CLASSES = 2 };

typedef struct leaps {
    mg_dual_cd *m;
    mg_logit_span span;
    int64_t made;         /* directions so far */
    int room, at;         /* for so many; the place of the next one */
    double *moves, *ways; /* samples x SPAN; SPAN x columns: sum y move x, times root */
    double *here;         /* columns: the same of alpha: weights / root */
    double *root;         /* columns: of factor */
    double totals[SPAN];  /* sum y move */
    mg_pass_sums *sums;
} leaps;

/* ---- Read ------------------------------------------------------------------------------------ */

/* The move of a sample whose y f is z; adds up the loss and about the gap that slopes prove.
 * The first two take a class each to the slopes at w = 0. */
static double leap_move(const leaps *g, int64_t i, double z, mg_pass_sums *sums) {
    const mg_dual_cd *m = g->m;
    const double c = m->objective->c[i], s = m->logit[i], share = c * mg_sigmoid(s);
    const double q = m->curvature[i], alpha = m->alpha[i], slope = c * mg_sigmoid(-z);
    if (g->made < CLASSES) return g->made == (m->design->problem->sign[i] > 0) ? slope : 0.0;
    if (!(c > 0.0)) return 0.0;
    sums->value += c * mg_log1pexp_minus(z);
    sums->errors += 0.5 * q * (slope - alpha) * (slope - alpha);
    m->logit[i] = mg_logit_root(c, q, alpha, z, s, q * (share - alpha) + z + s,
                                share * mg_sigmoid(-s), &g->span.aims[i]);
    return g->span.aims[i] - alpha;
}

static margin_status leap_add_block(void *state, const mg_block *block, void *argument) {
    const leaps *g = argument;
    const mg_dual_cd *m = g->m;
    const mg_design *d = m->design;
    const mg_visit_list list = {d, NULL};
    mg_pass_sums *sums = state;
    for (int64_t k = 0; k < block->count; k += d->chunk_rows) {
        const int64_t first = block->first + k, count = MG_MIN(block->count - k, d->chunk_rows);
        const void *rows[MG_CHUNK_ROWS];
        double at[MG_CHUNK_ROWS] = {0.0};
        mg_design_find_rows(&list, first, count, rows);
        if (g->made >= CLASSES) d->rows->scores(rows, count, m->columns, NULL, m->weights, 0.0, at);
        for (int64_t i = first; i < first + count; i++) {
            const double sign = d->problem->sign[i], score = at[i - first];
            const double move = leap_move(g, i, sign * (score + m->b), sums);
            m->scores[i] = score;
            g->moves[i * SPAN + g->at] = move;
            sums->total += at[i - first] = sign * move;
        }
        d->rows->gradient(rows, count, m->columns, NULL, at, sums->gradient);
    }
    return MARGIN_OK;
}

static margin_status leap_read(leaps *g) {
    mg_dual_cd *m = g->m;
    double *way = g->ways + g->at * m->columns;
    MG_TRY(mg_sweep_sums(m->design->context, m->samples, m->design->block_rows,
                         MG_PASS_SUMS + m->columns, 0, leap_add_block, g, g->sums, m->job->error));
    for (int64_t j = 0; j < m->columns; j++)
        way[j] = g->root[j] * g->sums->gradient[j];
    g->totals[g->at] = g->sums->total;
    m->loss = g->sums->value;
    m->slack = g->sums->errors;
    g->made++;
    g->span.count = (int)MG_MIN(g->made, g->room);
    for (int k = 0; k < g->span.count; k++)
        g->span.products[g->at * SPAN + k] = g->span.products[k * SPAN + g->at] =
            g->m->vectors->dot(way, g->ways + k * m->columns, m->columns) +
            m->spread * g->totals[g->at] * g->totals[k];
    g->at = (int)(g->made % g->room);
    return MARGIN_OK;
}

/* ---- Combine --------------------------------------------------------------------------------- */

static void leap_go(leaps *g) {
    mg_dual_cd *m = g->m;
    for (int k = 0; k < g->span.count; k++) {
        g->m->vectors->add(g->here, g->span.shares[k], g->ways + k * m->columns, m->columns);
        m->sum += g->span.shares[k] * g->totals[k];
        m->b += m->spread * g->span.shares[k] * g->totals[k];
    }
    m->square = m->vectors->square(g->here, m->columns);
    for (int64_t j = 0; j < m->columns; j++)
        m->weights[j] = g->root[j] * g->here[j];
}

static void leap_combine(leaps *g) {
    const mg_dual_cd *m = g->m;
    for (int k = 0; k < g->span.count; k++)
        g->span.slopes[k] =
            m->b * g->totals[k] + g->m->vectors->dot(g->here, g->ways + k * m->columns, m->columns);
    mg_logit_span_minimise(&g->span, 1e-3 * m->job->tolerance * fmin(m->constant_value, 1.0));
    leap_go(g);
}

/* ---- The method ------------------------------------------------------------------------------ */

static bool can_leap(const mg_dual_cd *m) {
    const int64_t bytes = (SPAN + 4) * (m->columns + m->samples) * (int64_t)sizeof(double);
    return m->objective->loss->kind == MG_LOSS_LOGISTIC && m->design->rows &&
           m->columns >= m->samples && mg_fits_limit(m->design->heap, bytes, 8);
}

/* Half of the way to the slopes at w = 0: the first combination finds the best length. */
static margin_status leap_begin(leaps *g, mg_arena *arena) {
    mg_dual_cd *m = g->m;
    const int64_t n = m->columns;
    double *sums;
    g->room = (int)MG_MAX(LEAST, MG_MIN(SPAN, m->samples / 4)); /* their memory is that of rows */
    MG_TRY(MG_PIECES(arena, "moves of all dual variables", m->job->error,
                     MG_PIECE(g->moves, m->samples * SPAN), MG_PIECE(g->ways, n * g->room),
                     MG_PIECE(g->here, n), MG_PIECE(g->root, n), MG_PIECE(m->scores, m->samples),
                     MG_PIECE(g->span.aims, m->samples), MG_PIECE(sums, MG_PASS_SUMS + n)));
    g->sums = (mg_pass_sums *)sums;
    g->span.moves = g->moves;
    g->span.bends = m->curvature;
    for (int64_t j = 0; j < n; j++) {
        g->root[j] = sqrt(m->factor ? m->factor[j] : 1.0 / m->objective->penalty.rho);
        g->here[j] = 0.0;
    }
    for (int k = 0; k < CLASSES; k++)
        MG_TRY(leap_read(g));
    for (int64_t i = 0; i < m->samples; i++) {
        const double *move = g->moves + i * SPAN, c = m->objective->c[i];
        m->alpha[i] = 0.5 * (move[0] + move[1]);
        g->span.aims[i] = (double)INFINITY;
        m->logit[i] = c > 0.0 ? log(m->alpha[i] / (c - m->alpha[i])) : 0.0;
    }
    g->span.shares[0] = g->span.shares[1] = 0.5;
    leap_go(g);
    return MARGIN_OK;
}

margin_status mg_dual_cd_leap(mg_dual_cd *m, bool *done) {
    leaps g = {
        .m = m,
        .span = {
            .samples = m->samples, .c = m->objective->c, .alpha = m->alpha, .logits = m->logit}};
    bool reopen;
    MG_SCOPED_ARENA(arena, m->design->heap);
    *done = false;
    if (!can_leap(m)) return MARGIN_OK;
    MG_TRY(leap_begin(&g, &arena));
    m->progress.strictness = 1.0; /* the gap is that of one point */
    while (!*done && m->progress.work - m->progress.best_work <= PATIENCE &&
           mg_stop_check(&m->job->stop, m->solution->iterations) == MARGIN_OK) {
        leap_combine(&g);
        MG_TRY(leap_read(&g));
        mg_dual_cd_note(m, m->samples, true, &reopen);
        MG_TRY(mg_dual_cd_trace(m));
        MG_TRY(mg_dual_cd_judge(m, done));
    }
    for (int64_t i = 0; i < m->samples; i++)
        m->logit[i] = log(fmax(m->alpha[i], 1e-99) / fmax(m->objective->c[i] - m->alpha[i], 1e-99));
    m->scores = NULL;
    return MARGIN_OK;
}
