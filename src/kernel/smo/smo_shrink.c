/* The variables that can still move, as a problem of their own. */
#include "kernel/smo/smo_room.h"

enum { LEAST = 1000 /* variables of a problem that is worth it */, LINE = 16 /* of a cache */ };

/* It gains nothing against any other one. */
static bool rests(const mg_smo *s, int64_t i) {
    return (s->right[i] >= s->lowest) & (s->left[i] <= s->up);
}

bool mg_smo_can_shrink(const mg_smo *s, int64_t *active) {
    const double most = 0.4 * (double)s->count;
    int64_t moving = 0, inside = 0;
    if (s->count < LEAST) return false;
    for (int64_t i = 0; i < s->count && (double)moving < most; i++) {
        const double beta = s->beta[i];
        inside += (beta > s->low[i]) & (beta < s->high[i]) & ((s->epsilon == 0.0) | (beta != 0.0));
        moving += !rests(s, i);
    }
    *active = moving;
    return (double)moving < most && 2 * moving <= 3 * inside + 128 &&
           moving * (moving + LINE) <= s->room;
}

typedef struct smaller {
    int64_t *variable, *point;
    double *target, *low, *high, *beta, *f, *right, *left;
    float *diagonal;
} smaller;

static const char purpose[] = "kernel values of the active rows";

/* Fresh pages cost more than the values of rows that have to be made again: it takes the place of
 * the last rows kept, unless its own values are found there; for the next one it is the same. */
static float *take_spare(const mg_smo *s, int64_t size) {
    const mg_gram *gram = s->gram;
    int64_t room = s->room;
    if (gram && mg_gram_makes_anew(gram))
        room = MG_MIN(room, MG_MAX(gram->used * gram->ld, 2 * size + LINE));
    float *place = s->spare + (room - size) / LINE * LINE;
    if (s->lender) mg_gram_vacate(s->lender, place);
    return place;
}

static void copy_active(const mg_smo *s, smaller *to) {
    int64_t n = 0;
    for (int64_t i = 0; i < s->count; i++) {
        if (rests(s, i)) continue;
        to->variable[n] = i;
        to->point[n] = s->point ? s->point[i] : i;
        to->target[n] = s->target[i];
        to->low[n] = s->low[i];
        to->high[n] = s->high[i];
        to->beta[n] = s->beta[i];
        to->f[n] = s->f[i];
        to->diagonal[n++] = s->diagonal[i];
    }
}

/* What changed, to all rows. */
static margin_status take_back(mg_smo *s, const smaller *from, int64_t n, margin_error *error) {
    int64_t changed = 0;
    double *moved = from->f; /* no longer needed */
    int64_t *variables = from->variable;
    for (int64_t k = 0; k < n; k++) {
        const int64_t i = from->variable[k];
        const double move = from->beta[k] - s->beta[i];
        if (move == 0.0) continue;
        s->beta[i] = from->beta[k];
        moved[changed] = move;
        variables[changed++] = i;
    }
    return mg_smo_apply(s, variables, moved, changed, error);
}

margin_status mg_smo_shrink(mg_smo *s, int64_t active, margin_error *error) {
    smaller own = {0};
    MG_SCOPED_ARENA(arena, s->context->heap);
    MG_TRY(MG_PIECES(
        &arena, purpose, error, MG_PIECE(own.variable, active), MG_PIECE(own.point, active),
        MG_PIECE(own.target, active), MG_PIECE(own.low, active), MG_PIECE(own.high, active),
        MG_PIECE(own.beta, active), MG_PIECE(own.f, active), MG_PIECE(own.right, active),
        MG_PIECE(own.left, active), MG_PIECE(own.diagonal, active)));
    copy_active(s, &own);
    mg_smo part = *s;
    part.ld = (active + LINE - 1) / LINE * LINE; /* rows begin a line */
    float *matrix = take_spare(s, active * part.ld);
    MG_TRY(mg_smo_block(s, own.variable, active, 0, matrix, part.ld, error));
    part.count = active;
    part.target = own.target;
    part.low = own.low;
    part.high = own.high;
    part.beta = own.beta;
    part.f = own.f;
    part.right = own.right;
    part.left = own.left;
    part.diagonal = own.diagonal;
    part.gram = NULL;
    part.place = NULL;
    part.point = own.point;
    part.matrix = matrix;
    part.room = matrix - s->spare;
    part.best = NULL; /* its primal is not that of all */
    /* half of what may be left, as the rows that rest may come back with a little */
    part.gap = 0.5 * (s->gap + s->relative * fabs(s->primal));
    part.relative = 0.0;
    const margin_status ended = mg_smo_solve(&part, error);
    MG_TRY(ended);
    s->steps = part.steps;
    s->rounds = part.rounds;
    s->indefinite = part.indefinite;
    MG_TRY(take_back(s, &own, active, error));
    mg_smo_measure(s);
    return ended;
}
