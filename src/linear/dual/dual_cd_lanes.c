/* Dual coordinate descent for several problems on the same rows, which differ in their signs only:
 * the classes of one-versus-rest.
 *
 * Each problem is a lane. A row is read once and visited for all lanes: its products with eight
 * weight vectors side by side, a step of each lane (solver_dual_cd.c has the formulas), and its
 * share of the eight vectors. Lanes know nothing of each other but the order of the rows: a lane
 * whose proof is made takes no steps any more; where samples leave, those stay that some lane
 * needs. */
#include "base/random.h"
#include "linear/dual/dual_cd.h"
#include "math/losses/logit_dual.h"

#include <string.h>

enum { LANES = MG_ROW_LANES, AHEAD = 3, POLL = 64 };

static const char purpose[] = "the state of dual coordinate descent";

typedef struct lanes {
    mg_dual_cd lane[LANES]; /* weights and alpha of all of them: scratch, see fetch */
    int count;
    const margin_matrix *x;
    const mg_design *design;
    const mg_row_lanes *rows;
    mg_loss_kind kind;
    bool first;         /* epoch */
    uint8_t unfinished; /* lanes, a bit each */
    double *weights;    /* columns x LANES */
    double *alpha;      /* samples x LANES */
    double *logit;      /* samples x LANES, logistic */
    uint8_t *open;      /* samples: lanes that it has not left */
    int64_t *order, active;
} lanes;

/* ---- Steps -----------------------------------------------------------------------------------
 * z, alpha and change have a number for each lane. */

static void add_losses(lanes *g, double c, const double *z) {
    double value[LANES];
    mg_logit_losses(g->design->isa, z, value);
    for (int l = 0; l < g->count; l++)
        g->lane[l].loss += c * value[l];
}

static void step_logistic(lanes *g, int64_t i, const double *z, double *change) {
    const double c = g->lane[0].objective->c[i], curvature = g->lane[0].curvature[i];
    double *alpha = g->alpha + i * LANES, *s = g->logit + i * LANES;
    double d[LANES], slope[LANES], enough[LANES], at[LANES], share[LANES];
    add_losses(g, c, z);
    if (g->first) {
        for (int l = 0; l < LANES; l++)
            s[l] = -z[l];
        mg_logit_shares(g->design->isa, c, s, share, slope);
    }
    for (int l = 0; l < LANES; l++) {
        const bool on = g->unfinished >> l & 1;
        slope[l] = g->first ? slope[l] : alpha[l] * (c - alpha[l]) / c;
        d[l] = g->first ? curvature * share[l] : z[l] + s[l];
        enough[l] = on ? fmax(1e-2 * fabs(d[l]), 1e-13) : (double)INFINITY;
        change[l] = alpha[l];
        at[l] = g->first && on ? share[l] : alpha[l];
    }
    for (int l = 0; l < g->count; l++)
        g->lane[l].slack += g->first ? c : 0.5 * slope[l] * d[l] * d[l];
    mg_logit_roots(g->design->isa, c, curvature, z, enough, alpha, s, d, slope);
    for (int l = 0; l < LANES; l++) {
        if (g->first && alpha[l] == 0.0) alpha[l] = at[l];
        change[l] = alpha[l] - change[l];
    }
}

/* Hinge and squared hinge. */
static void step_hinge(lanes *g, int64_t i, uint8_t mask, const double *z, double *change) {
    for (int l = 0; l < g->count; l++) {
        bool leaves;
        if (!(mask >> l & 1)) continue;
        change[l] = mg_dual_cd_step_hinge(&g->lane[l], g->kind == MG_LOSS_SQUARED_HINGE, i, z[l],
                                          g->alpha + i * LANES + l, &leaves);
        if (leaves) g->open[i] &= (uint8_t) ~(1U << l);
    }
}

/* Adds what the lanes changed at a row. */
static void lanes_move(lanes *g, int64_t i, int64_t row, const double *z, double *change) {
    const double rho = g->lane[0].objective->penalty.rho;
    const bool scaled = g->lane[0].factor != NULL;
    bool some = false;
    for (int l = 0; l < g->count; l++) {
        const double step = mg_dual_cd_count(&g->lane[l], i, z[l], change[l]);
        some |= step != 0.0;
        change[l] = scaled ? step : step / rho;
    }
    for (int l = g->count; l < LANES; l++)
        change[l] = 0.0;
    if (some) g->rows->add(g->x, row, change, g->lane[0].factor, g->weights);
}

/* ---- Epoch ----------------------------------------------------------------------------------- */

static void lanes_visit(lanes *g, int64_t i, int64_t row, uint8_t mask) {
    double z[LANES], change[LANES] = {0};
    g->rows->dot(g->x, row, g->weights, z);
    for (int l = 0; l < g->count; l++)
        z[l] = g->lane[l].design->problem->sign[i] * (z[l] + g->lane[l].b);
    if (g->kind == MG_LOSS_LOGISTIC)
        step_logistic(g, i, z, change);
    else
        step_hinge(g, i, mask, z, change);
    lanes_move(g, i, row, z, change);
}

static margin_status lanes_run(lanes *g, int64_t *visits) {
    const mg_dual_rows *rows = g->lane[0].rows;
    memset(visits, 0, LANES * sizeof *visits);
    for (int64_t k = 0; k < g->active;) {
        if (k % POLL == 0 && mg_cancelled(g->design->context)) return MARGIN_ERROR_CANCELLED;
        if (k + AHEAD < g->active)
            rows->prefetch(g->x, mg_sample_row(g->design->problem, g->order[k + AHEAD]));
        const int64_t i = g->order[k];
        const uint8_t mask = g->open[i] & g->unfinished;
        for (int l = 0; l < g->count; l++)
            visits[l] += mask >> l & 1;
        if (mask) lanes_visit(g, i, mg_sample_row(g->design->problem, i), mask);
        if (g->open[i] & g->unfinished) {
            k++;
        } else {
            g->order[k] = g->order[--g->active];
            g->order[g->active] = i;
        }
    }
    return MARGIN_OK;
}

static margin_status lanes_epoch(lanes *g, int64_t *visits) {
    const mg_linear_job *job = g->lane[0].job;
    int64_t number = 0;
    for (int l = 0; l < g->count; l++) {
        mg_dual_cd_epoch_begin(&g->lane[l]);
        if (g->unfinished >> l & 1) number = g->lane[l].solution->iterations;
    }
    mg_random_shuffle(job->seed, MG_RANDOM_SHUFFLE, (uint64_t)number, g->order, g->active);
    if (lanes_run(g, visits) < 0) return mg_fail_cancelled(job->error);
    for (int l = 0; l < g->count; l++)
        mg_dual_cd_epoch_end(&g->lane[l]);
    g->first = false;
    return MARGIN_OK;
}

/* ---- Lanes ----------------------------------------------------------------------------------- */

/* The weights and dual variables of a lane from where all are. */
static void lanes_fetch(mg_dual_cd *m) {
    const lanes *g = m->shared;
    const int64_t l = m - g->lane;
    for (int64_t j = 0; j < m->columns; j++)
        m->weights[j] = g->weights[j * LANES + l];
    for (int64_t i = 0; i < m->samples; i++)
        m->alpha[i] = g->alpha[i * LANES + l];
}

static void open_all(lanes *g) {
    memset(g->open, g->unfinished, (size_t)g->lane[0].samples);
    g->active = g->lane[0].samples;
}

static margin_status lanes_new_vectors(lanes *g, mg_arena *arena) {
    mg_dual_cd *m = &g->lane[0];
    const int64_t weights = LANES * m->columns, alphas = LANES * m->samples;
    const int64_t logits = g->kind == MG_LOSS_LOGISTIC ? alphas : 0;
    MG_TRY(MG_PIECES(arena, purpose, m->job->error, MG_PIECE(g->weights, weights),
                     MG_PIECE(g->alpha, alphas), MG_PIECE(g->logit, logits),
                     MG_PIECE(g->open, m->samples)));
    memset(g->weights, 0, (size_t)weights * sizeof *g->weights);
    memset(g->alpha, 0, (size_t)alphas * sizeof *g->alpha);
    memset(g->logit, 0, (size_t)logits * sizeof *g->logit);
    g->order = m->order;
    return MARGIN_OK;
}

/* The first lane has the memory; its weights and alphas are scratch. */
static margin_status lanes_begin(lanes *g, mg_linear_job *jobs, mg_linear_solution *solutions,
                                 int count, mg_arena *arena) {
    const mg_objective *objective = jobs[0].objective;
    mg_design *d = objective->design;
    mg_dual_cd *one = &g->lane[0];
    *g = (lanes){.count = count,
                 .x = &d->problem->x,
                 .design = d,
                 .rows = mg_row_lanes_for(&d->problem->x, d->isa),
                 .kind = objective->loss->kind,
                 .first = true,
                 .unfinished = (uint8_t)((1U << count) - 1U)};
    MG_TRY(mg_dual_cd_begin(&jobs[0], &solutions[0], arena, one));
    MG_TRY(lanes_new_vectors(g, arena));
    open_all(g);
    for (int l = 0; l < count; l++) {
        mg_dual_cd *m = &g->lane[l];
        if (l > 0) mg_dual_cd_start(m, &jobs[l], &solutions[l]);
        m->weights = one->weights;
        m->alpha = one->alpha;
        m->curvature = one->curvature;
        m->factor = one->factor;
        m->spread = one->spread;
        m->progress.strictness = one->progress.strictness;
        m->shared = g;
        m->fetch = lanes_fetch;
    }
    return MARGIN_OK;
}

/* ---- The method ------------------------------------------------------------------------------ */

static void finish_lane(lanes *g, int l) {
    g->unfinished &= (uint8_t) ~(1U << l);
}

static margin_status end_all(lanes *g, margin_status stop) {
    for (int l = 0; l < g->count; l++)
        if (g->unfinished >> l & 1) {
            MG_TRY(mg_dual_cd_end(&g->lane[l], stop));
            finish_lane(g, l);
        }
    return MARGIN_OK;
}

/* Few samples that count are common to the lanes: a row read for all costs about what it costs for
 * two. */
static bool are_apart(const lanes *g, const int64_t *visits) {
    int64_t alone = 0;
    for (int l = 0; l < g->count; l++)
        if (g->unfinished >> l & 1) alone += visits[l];
    return g->kind != MG_LOSS_LOGISTIC && 5 * alone < 9 * g->active;
}

/* The lanes that are left, one after the other. */
static margin_status go_on_apart(lanes *g) {
    for (int l = 0; l < g->count; l++) {
        mg_dual_cd *m = &g->lane[l];
        if (!(g->unfinished >> l & 1)) continue;
        lanes_fetch(m);
        m->fetch = NULL;
        m->order = g->order;
        m->active = 0;
        int64_t left = m->samples;
        for (int64_t i = 0; i < m->samples; i++)
            m->order[g->open[i] >> l & 1 ? m->active++ : --left] = i;
        MG_TRY(mg_dual_cd_go_on(m));
        finish_lane(g, l);
    }
    return MARGIN_OK;
}

static margin_status one_epoch(lanes *g) {
    int64_t visits[LANES];
    bool reopen_all = false;
    MG_TRY(lanes_epoch(g, visits));
    for (int l = 0; l < g->count; l++) {
        mg_dual_cd *m = &g->lane[l];
        const bool full = visits[l] == m->samples;
        bool reopen, done = false;
        if (!(g->unfinished >> l & 1)) continue;
        m->active = g->active;
        mg_dual_cd_note(m, visits[l], full, &reopen);
        MG_TRY(mg_dual_cd_trace(m));
        if (full) MG_TRY(mg_dual_cd_judge(m, &done));
        if (done)
            finish_lane(g, l);
        else
            reopen_all |= reopen;
    }
    if (reopen_all || g->active == 0)
        open_all(g);
    else if (are_apart(g, visits))
        return go_on_apart(g);
    return MARGIN_OK;
}

static margin_status lanes_iterate(lanes *g, const mg_stop *stop) {
    for (int l = 0; l < g->count; l++)
        MG_TRY(mg_dual_cd_trace(&g->lane[l]));
    for (int64_t epochs = 0; g->unfinished; epochs++) {
        const margin_status ended = mg_stop_check(stop, epochs);
        if (ended < 0) return mg_fail_cancelled(g->lane[0].job->error);
        MG_TRY(ended > 0 ? end_all(g, ended) : one_epoch(g));
    }
    return MARGIN_OK;
}

margin_status mg_dual_cd_solve_lanes(mg_linear_job *jobs, mg_linear_solution *solutions,
                                     int64_t count) {
    lanes g;
    MG_SCOPED_ARENA(arena, jobs[0].objective->design->heap);
    MG_TRY(lanes_begin(&g, jobs, solutions, (int)count, &arena));
    return lanes_iterate(&g, &jobs[0].stop);
}
