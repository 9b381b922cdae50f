/* The rounds of the working-set solver. */
#include "kernel/smo/smo_room.h"
#include "learn/kernels/kernel_plan.h"

#include <math.h>
#include <string.h>

/* ---- Where it stands ------------------------------------------------------------------------- */

static void find_slopes(mg_smo *s) {
    const double *f = s->f, *beta = s->beta, *low = s->low, *high = s->high, epsilon = s->epsilon;
    double up = (double)INFINITY, lowest = -(double)INFINITY, *right = s->right, *left = s->left;
    for (int64_t i = 0; i < s->count; i++) { /* by itself it is made of vectors */
        right[i] = f[i] + mg_smo_up(beta[i], high[i], epsilon);
        left[i] = f[i] + mg_smo_low(beta[i], low[i], epsilon);
    }
    for (int64_t i = 0; i < s->count; i++) {
        up = right[i] < up ? right[i] : up;
        lowest = left[i] > lowest ? left[i] : lowest;
    }
    s->up = up;
    s->lowest = lowest;
}

void mg_smo_measure(mg_smo *s) {
    double gap = 0.0, loss = 0.0, energy = 0.0;
    find_slopes(s);
    const double intercept = mg_smo_intercept(s);
    for (int64_t i = 0; i < s->count; i++) {
        const double beta = s->beta[i], r = s->f[i] + intercept;
        const double over = -r - s->epsilon, under = r - s->epsilon;
        const double above = s->high[i] * over, below = s->low[i] * under;
        const double cost = (over > 0.0 ? above : 0.0) - (under > 0.0 ? below : 0.0);
        loss += cost;
        gap += cost + beta * r + s->epsilon * fabs(beta);
        energy += beta * (s->f[i] + s->target[i]);
    }
    s->dual_gap = gap;
    s->primal = 0.5 * energy + loss + (s->total != 0.0 ? intercept * s->total : 0.0);
}

bool mg_smo_is_done(const mg_smo *s) {
    if (!(s->lowest - s->up > 0.0)) return true;
    if (s->kkt > 0.0) return s->lowest - s->up <= s->kkt;
    return s->dual_gap <= s->gap + s->relative * fabs(s->primal);
}

/* ---- Room ------------------------------------------------------------------------------------ */

/* The first round has few members where there are many rows: a time limit shortly after it leaves
 * the proof of what it moved. */
static int64_t first_size(const mg_smo *s, int64_t size) {
    enum { VALUES = 1 << 24, FEWEST = 64 };
    return MG_MIN(size, MG_MAX(VALUES / s->count, FEWEST));
}

static margin_status room_new(mg_smo *s, mg_smo_room *room, margin_error *error) {
    mg_arena *arena = &room->arena;
    memset(room, 0, sizeof *room);
    mg_arena_init(arena, s->context->heap);
    room->most = mg_kernel_set_size(s->count);
    if (s->gram) room->most = MG_MIN(room->most, s->gram->slots);
    room->size = first_size(s, room->most);
    const int64_t q = (room->most + 15) / 16 * 16, n = s->count;
    return MG_PIECES(arena, "a working set", error, MG_PIECE(room->set, q),
                     MG_PIECE(room->up_key, n), MG_PIECE(room->low_key, n),
                     MG_PIECE(room->inner_matrix, q * q), MG_PIECE(room->inner.f, q),
                     MG_PIECE(room->inner.up, q), MG_PIECE(room->inner.low, q),
                     MG_PIECE(room->inner_diagonal, q), MG_PIECE(room->inner.beta, q),
                     MG_PIECE(room->inner_least, q), MG_PIECE(room->inner_most, q),
                     MG_PIECE(room->moved, q), MG_PIECE(room->changed, q));
}

/* ---- One round ------------------------------------------------------------------------------- */

static void pad(mg_smo_set *set, float *matrix, float *diagonal) {
    for (int k = set->count; k < set->padded; k++) {
        set->f[k] = 0.0f;
        set->up[k] = (float)INFINITY;
        set->low[k] = -(float)INFINITY;
        diagonal[k] = 1.0f;
    }
    for (int i = 0; i < set->count; i++)
        for (int k = set->count; k < set->padded; k++)
            matrix[(int64_t)i * set->padded + k] = 0.0f;
}

static void load_set(const mg_smo *s, mg_smo_room *room, int64_t steps_left) {
    mg_smo_set *set = &room->inner;
    const double gap = s->lowest - s->up, middle = (s->lowest + s->up) / 2.0;
    set->count = (int)room->members;
    set->padded = (set->count + 15) / 16 * 16;
    set->matrix = room->inner_matrix;
    set->diagonal = room->inner_diagonal;
    set->least = room->inner_least;
    set->most = room->inner_most;
    set->epsilon = s->epsilon;
    set->tolerance = (float)fmax(0.1 * gap, 0.5 * s->kkt);
    set->most_steps = MG_MIN(20 * room->size, steps_left);
    for (int k = 0; k < set->count; k++) {
        const int64_t i = room->set[k];
        set->beta[k] = s->beta[i];
        room->inner_least[k] = s->low[i];
        room->inner_most[k] = s->high[i];
        room->inner_diagonal[k] = s->diagonal[i];
        set->f[k] = (float)(s->f[i] - middle);
        set->up[k] = (float)mg_smo_up(s->beta[i], s->high[i], s->epsilon);
        set->low[k] = (float)mg_smo_low(s->beta[i], s->low[i], s->epsilon);
    }
    pad(set, room->inner_matrix, room->inner_diagonal);
}

static int64_t steps_left(const mg_smo *s) {
    return s->stop->max_iterations < 0 ? INT64_MAX : s->stop->max_iterations - s->steps;
}

/* From now on it ends in time: by the stop alone, which leaves room for another round and for the
 * proof. That takes the rows of K of all variables that are not 0, in f64; a round those it moved,
 * in f32 or from a matrix that is kept. The next round may have more members. */
static void keep_pace(mg_smo *s, mg_smo_room *room, int64_t moved, double seconds) {
    enum { GROWTH = 4, PROOF = 3, PROOF_OF_KEPT = 12 }; /* times the cost of a row in a round */
    mg_pace *pace = s->stop->pace;
    const double row = seconds / (double)MG_MAX(moved, 1);
    const int64_t cost = !s->gram || s->gram->whole ? PROOF_OF_KEPT : PROOF;
    int64_t support = 0;
    room->size = MG_MIN(GROWTH * room->size, room->most);
    mg_stop_disarm(s->stop);
    if (!pace || isinf(s->stop->deadline)) return;
    for (int64_t i = 0; i < s->count; i++)
        support += s->beta[i] != 0.0;
    if (s->row_seconds == 0.0 || row < s->row_seconds) s->row_seconds = row;
    const int64_t next = room->size - room->members;
    const double proof = (double)(cost * (support + next) + next) * s->row_seconds;
    pace->behind = proof / fmax(fmax(pace->step, seconds), 1e-9);
}

static margin_status smo_round(mg_smo *s, mg_smo_room *room, margin_error *error) {
    const double began = mg_clock();
    int64_t changed = 0;
    mg_smo_select(s, room);
    const int64_t padded = (room->members + 15) / 16 * 16;
    if (padded != room->inner.padded) room->kept = 0;
    MG_TRY(
        mg_smo_block(s, room->set, room->members, room->kept, room->inner_matrix, padded, error));
    load_set(s, room, steps_left(s));
    s->steps += s->ops->solve(&room->inner);
    for (int64_t k = 0; k < room->members; k++) {
        const int64_t i = room->set[k];
        const double move = room->inner.beta[k] - s->beta[i];
        if (move == 0.0) continue;
        s->beta[i] = room->inner.beta[k];
        room->changed[changed] = i;
        room->moved[changed++] = move;
    }
    s->indefinite |= room->inner.indefinite;
    s->stalled = changed == 0;
    s->rounds++;
    MG_TRY(mg_smo_apply(s, room->changed, room->moved, changed, error));
    keep_pace(s, room, changed, mg_clock() - began);
    if (s->kkt > 0.0)
        find_slopes(s); /* the proof finds the gap */
    else
        mg_smo_measure(s);
    return MARGIN_OK;
}

/* ---- The best so far ------------------------------------------------------------------------- */

static void keep_best(mg_smo *s) {
    const size_t bytes = (size_t)s->count * sizeof *s->best;
    if (!s->best) return;
    if (s->kkt > 0.0) mg_smo_measure(s); /* else it was, after the round */
    if (!(s->primal < s->least)) return;
    s->least = s->primal;
    memcpy(s->best, s->beta, bytes);
    memcpy(s->best + s->count, s->f, bytes);
}

static void go_back_to_best(mg_smo *s) {
    const size_t bytes = (size_t)s->count * sizeof *s->best;
    keep_best(s);
    if (!s->best || !isfinite(s->least)) return;
    memcpy(s->beta, s->best, bytes);
    memcpy(s->f, s->best + s->count, bytes);
    mg_smo_measure(s);
}

/* ---- All rounds ------------------------------------------------------------------------------ */

bool mg_smo_has_stalled(const mg_smo *s, mg_smo_pace *p) {
    enum { PATIENCE = 200, LITTLE = 20 };
    const double now = s->kkt > 0.0 ? s->lowest - s->up : s->dual_gap;
    const int64_t patience = s->kkt <= 0.0 && now <= s->enough ? LITTLE : PATIENCE;
    if (now < 0.95 * p->best) {
        p->best = now;
        p->since = s->rounds;
    }
    return s->stalled || s->rounds - p->since > patience;
}

static margin_status smo_rounds(mg_smo *s, mg_smo_room *room, margin_error *error) {
    enum { BETWEEN = 3 }; /* rounds from one smaller problem to the next */
    mg_smo_pace p = {(double)INFINITY, s->rounds};
    int64_t next = s->rounds + 1, active;
    while (!mg_smo_is_done(s)) {
        const margin_status ended = mg_stop_check(s->stop, s->steps);
        if (ended == MARGIN_ERROR_CANCELLED) return mg_fail_cancelled(error);
        if (ended != MARGIN_OK) {
            go_back_to_best(s);
            return ended;
        }
        keep_best(s);
        if (mg_smo_has_stalled(s, &p)) break;
        if (s->rounds >= next && mg_smo_can_shrink(s, &active) && active > 1) {
            MG_TRY(mg_smo_shrink(s, active, error));
            room->fresh = 0;
            next = s->rounds + BETWEEN;
            if (mg_smo_is_done(s)) break;
        }
        MG_TRY(smo_round(s, room, error));
    }
    s->stalled = !mg_smo_is_done(s);
    return MARGIN_OK;
}

margin_status mg_smo_solve(mg_smo *s, margin_error *error) {
    mg_smo_room room;
    s->stalled = false;
    s->least = (double)INFINITY;
    margin_status status = room_new(s, &room, error);
    if (status >= 0) {
        mg_smo_measure(s);
        status = smo_rounds(s, &room, error);
    }
    mg_arena_free(&room.arena);
    return status;
}
