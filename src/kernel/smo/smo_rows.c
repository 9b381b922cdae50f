/* Rows of K where the solver needs them: from a gram, or from a matrix of which the variables are a
 * part. */
#include "kernel/smo/smo_room.h"

#include <string.h>

enum { COLUMNS = 512 };

static int64_t place_of(const mg_smo *s, int64_t i) {
    return s->place ? s->place[i] : i;
}

typedef struct apply_work {
    mg_smo *s;
    const int64_t *changed;
    const double *moved;
    int64_t count;
} apply_work;

static void apply_part(const mg_gram_part *part, void *argument) {
    const apply_work *work = argument;
    work->s->tiles->sum(work->s->f + part->first, part->columns, (const float *const *)part->rows,
                        work->moved, work->count);
}

/* How far the columns of variables from `i` on lie side by side. */
static int64_t run_length(const mg_smo *s, int64_t i, int64_t last) {
    int64_t length = 1;
    if (!s->place) return last - i;
    while (i + length < last && s->place[i + length] == s->place[i] + length)
        length++;
    return length;
}

static margin_status apply_columns(void *argument, int64_t task, int worker) {
    const apply_work *work = argument;
    mg_smo *s = work->s;
    const float *rows[MG_SMO_MOST];
    const int64_t last = MG_MIN((task + 1) * COLUMNS, s->count);
    (void)worker;
    for (int64_t i = task * COLUMNS, length; i < last; i += length) {
        length = run_length(s, i, last);
        for (int64_t k = 0; k < work->count; k++)
            rows[k] = s->matrix + place_of(s, work->changed[k]) * s->ld + place_of(s, i);
        s->tiles->sum(s->f + i, length, rows, work->moved, work->count);
    }
    return MARGIN_OK;
}

/* A variable on its bound moves no more, as a rule. */
static void release_resting(const mg_smo *s, const int64_t *changed, int64_t count) {
    for (int64_t k = 0; k < count; k++) {
        const int64_t i = changed[k];
        if (s->beta[i] == s->low[i] || s->beta[i] == s->high[i]) mg_gram_release(s->gram, i);
    }
}

margin_status mg_smo_apply(mg_smo *s, const int64_t *changed, const double *moved, int64_t count,
                           margin_error *error) {
    const int64_t most = s->gram ? MG_MIN(s->gram->slots, MG_SMO_MOST) : MG_SMO_MOST;
    for (int64_t first = 0; first < count; first += most) {
        apply_work work = {s, changed + first, moved + first, MG_MIN(most, count - first)};
        if (s->gram)
            MG_TRY(mg_gram_rows(s->gram, s->context, work.changed, work.count, apply_part, &work,
                                error));
        else
            MG_TRY(mg_parallel(s->context, (s->count + COLUMNS - 1) / COLUMNS, apply_columns, &work,
                               error));
    }
    if (s->gram) release_resting(s, changed, count);
    return MARGIN_OK;
}

typedef struct block_work {
    const mg_smo *s;
    const int64_t *variables;
    int64_t fresh, count, ld;
    float *out;
} block_work;

static margin_status block_row(void *argument, int64_t task, int worker) {
    const block_work *work = argument;
    const mg_smo *s = work->s;
    const float *row = s->matrix + place_of(s, work->variables[task]) * s->ld;
    const int64_t next = MG_MIN(task + 1, work->fresh - 1); /* is on its way meanwhile */
    const float *ahead = s->matrix + place_of(s, work->variables[next]) * s->ld;
    float *out = work->out + task * work->ld;
    (void)worker;
    for (int64_t k = 0; k < work->count; k++) {
        const int64_t place = place_of(s, work->variables[k]);
        out[k] = row[place];
        __builtin_prefetch(ahead + place);
    }
    return MARGIN_OK;
}

enum { EDGE = 64 };

static margin_status mirror_rows(void *argument, int64_t task, int worker) {
    const block_work *work = argument;
    const int64_t at = task * EDGE, kept = work->count - work->fresh;
    (void)worker;
    mg_gram_mirror(work->out, work->ld, at, MG_MIN(EDGE, work->fresh - at), work->fresh, kept,
                   false);
    return MARGIN_OK;
}

/* Values of a smaller problem, too, are made faster than they are found. */
static margin_status block_anew(const mg_smo *s, const int64_t *variables, int64_t fresh,
                                int64_t count, float *out, int64_t ld, margin_error *error) {
    int64_t *points;
    MG_SCOPED_ARENA(arena, s->context->heap);
    MG_ARENA_NEW(&arena, points, count, "a working set", error);
    for (int64_t k = 0; k < count; k++)
        points[k] = s->point[variables[k]];
    return mg_gram_block(s->lender, s->context, points, fresh, points, count, out, ld, error);
}

margin_status mg_smo_block(mg_smo *s, const int64_t *variables, int64_t count, int64_t kept,
                           float *out, int64_t ld, margin_error *error) {
    const int64_t fresh = count - kept;
    block_work work = {s, variables, fresh, count, ld, out};
    for (int64_t a = kept; a-- > 0;)
        memmove(out + (fresh + a) * ld + fresh, out + a * ld, (size_t)kept * sizeof *out);
    if (s->gram)
        MG_TRY(
            mg_gram_block(s->gram, s->context, variables, fresh, variables, count, out, ld, error));
    else if (s->point && s->lender && mg_gram_makes_anew(s->lender))
        MG_TRY(block_anew(s, variables, fresh, count, out, ld, error));
    else
        MG_TRY(mg_parallel(s->context, fresh, block_row, &work, error));
    return mg_parallel(s->context, (fresh + EDGE - 1) / EDGE, mirror_rows, &work, error);
}
