/* Least squares without a penalty on sparse rows of which many have a column of their own
 * (learn/exact/owned_rows.h): those are fitted, so that the least objective is that of the others,
 * which are a problem of their own with few columns. Of all weights that leave no more, those of
 * least norm: columns that neither a row owns nor the others have are free, and the own ones follow
 * from them,
 *
 *   w = w_0 + N u,    N = (1 of free columns; -T^-1 B of own ones),    minimise |w|^2 by u,
 *
 * with T, triangular in the rows' order, of own columns and B of free ones. No eigenvalue of N'N is
 * below 1: what is left of the gradient says how near the least norm is. */
#include "linear/squares/least_squares.h"

#include <float.h>
#include <string.h>

typedef struct owned_way {
    const mg_owned_rows *rows;
    bool *is_free;                                /* columns */
    double *residual, *conjugate, *image, *along; /* columns */
} owned_way;

/* The weights of own columns that make each row's score its target less b, or 0. */
static void fit_owners(const mg_owned_rows *o, bool targets, double b, double *w) {
    for (int64_t k = o->owners - 1; k >= 0; k--) {
        double sum = targets ? o->target[o->order[k]] - b : 0.0, own = 1.0;
        for (int64_t e = o->start[k]; e < o->start[k + 1]; e++) {
            if (o->at[e] == o->own[k])
                own = o->value[e];
            else
                sum -= o->value[e] * w[o->at[e]];
        }
        w[o->own[k]] = sum / own;
    }
}

/* N'v, in v's free columns. */
static void take_back(const mg_owned_rows *o, double *v) {
    for (int64_t k = 0; k < o->owners; k++) {
        double own = 1.0;
        for (int64_t e = o->start[k]; e < o->start[k + 1]; e++)
            if (o->at[e] == o->own[k]) own = o->value[e];
        const double part = v[o->own[k]] / own;
        for (int64_t e = o->start[k]; e < o->start[k + 1]; e++)
            v[o->at[e]] -= o->value[e] * part;
    }
}

static double keep_free(const owned_way *m, int64_t columns, double *v) {
    double square = 0.0;
    for (int64_t j = 0; j < columns; j++) {
        if (!m->is_free[j]) v[j] = 0.0;
        square += v[j] * v[j];
    }
    return square;
}

/* *done: |w| is the least, to rounding of small weights, too. */
static margin_status find_least_norm(mg_squares *s, owned_way *m, bool *done) {
    enum { MOST = 2000 };
    static const double little = 1e-26;
    const int64_t n = s->columns;
    const mg_vector_ops *ops = mg_vector_ops_for(s->design.isa);
    const size_t bytes = (size_t)n * sizeof *s->w;
    memcpy(m->residual, s->w, bytes);
    take_back(m->rows, m->residual);
    double rest = keep_free(m, n, m->residual);
    memcpy(m->conjugate, m->residual, bytes);
    for (*done = false; s->steps < MOST; s->steps++) {
        *done = rest <= little * ops->square(s->w, n);
        if (*done || !isfinite(rest)) break;
        MG_TRY(mg_squares_in_time(s, mg_stop_check(&s->stop, s->steps)));
        if (s->out_of_time) return MARGIN_OK;
        memcpy(m->along, m->conjugate, bytes);
        fit_owners(m->rows, false, 0.0, m->along);
        memcpy(m->image, m->along, bytes);
        take_back(m->rows, m->image);
        const double by = rest / ops->square(m->along, n), before = rest;
        (void)keep_free(m, n, m->image);
        ops->add(s->w, -by, m->along, n);
        ops->add(m->residual, -by, m->image, n);
        rest = ops->square(m->residual, n);
        for (int64_t j = 0; j < n; j++)
            m->conjugate[j] = m->residual[j] + rest / before * m->conjugate[j];
    }
    fit_owners(m->rows, true, s->b, s->w);
    return MARGIN_OK;
}

void mg_squares_find_floor(mg_squares *s, bool again) {
    const mg_owned_rows *o = s->owned;
    long double left = 0.0L;
    if (again) mg_owned_rows_sum(s->problem, s->c, s->owned);
    for (int64_t i = 0; i < s->samples && o->rows < s->samples; i++) {
        if (!(s->c[i] > 0.0)) continue;
        const double away = s->problem->target[i] - o->target[o->group[i]];
        left += (long double)(s->c[i] * away * away);
    }
    s->floor = s->penalty.factor * s->unit * (double)left;
}

/* No objective of theirs is below. */
static double least_of(const mg_squares *others) {
    double ratio;
    const double rounding = DBL_EPSILON * mg_squares_rounding(others, &ratio);
    const double blur = rounding * (2.0 * sqrt(others->now.value) + rounding);
    return fmax(others->now.objective - others->now.gap * fmax(1.0, others->now.objective) -
                    others->penalty.factor * others->unit * blur,
                0.0);
}

/* All columns of the others count, and there is one answer. */
static bool has_answer(const mg_squares *others) {
    bool all = others->judged && !others->out_of_time && others->rank < 0 && !others->is_partial &&
               others->now.gap <= others->tolerance;
    for (int64_t j = 0; j < others->columns; j++)
        all &= others->norm[j] > 0.0;
    return all;
}

static margin_status solve_others(mg_squares *others, bool *solved) {
    enum { MOST_STEPS = 4096, FEW_COLUMNS = 1024 };
    bool doubtful;
    MG_TRY(mg_squares_begin(others));
    MG_TRY(mg_squares_conjugate(others, MOST_STEPS, &doubtful));
    if (doubtful && !others->out_of_time && others->columns <= FEW_COLUMNS)
        MG_TRY(mg_squares_normal(others, false, &doubtful));
    *solved = !doubtful && has_answer(others);
    return MARGIN_OK;
}

/* From the weights of the others. */
static margin_status solve_owners(mg_squares *s, const mg_squares *others, const mg_owned_rows *o,
                                  bool *done) {
    owned_way m = {.rows = o};
    const int64_t n = s->columns;
    int64_t vary = 0;
    bool least;
    MG_TRY(MG_PIECES(&s->arena, "rows that own a column", s->error, MG_PIECE(m.is_free, n),
                     MG_PIECE(m.residual, n), MG_PIECE(m.conjugate, n), MG_PIECE(m.image, n),
                     MG_PIECE(m.along, n)));
    for (int64_t j = 0; j < n; j++) {
        m.is_free[j] = s->norm[j] > 0.0 && o->place[j] < 0;
        s->w[j] = o->place[j] >= 0 ? others->w[o->place[j]] : 0.0;
        vary += s->norm[j] > 0.0;
    }
    for (int64_t k = 0; k < o->owners; k++)
        m.is_free[o->own[k]] = false;
    s->b = others->b;
    s->steps = 0;
    fit_owners(o, true, s->b, s->w);
    MG_TRY(find_least_norm(s, &m, &least));
    for (int64_t j = 0; j < n && s->problem->shift; j++)
        s->b -= s->problem->shift[j] * s->w[j];
    s->steps += others->steps;
    mg_squares_find_floor(s, false);
    s->floor += least_of(others);
    MG_TRY(mg_squares_pass(s));
    *done = least && s->now.gap <= s->tolerance;
    if (!*done) return MARGIN_OK;
    if (o->owners + o->columns < vary) s->rank = o->owners + o->columns;
    s->owners = o->owners;
    s->is_drawn = others->is_drawn;
    return MARGIN_OK;
}

margin_status mg_squares_find_equal(mg_squares *s) {
    if (s->owned) return MARGIN_OK;
    MG_ARENA_NEW(&s->arena, s->owned, 1, "equal rows", s->error);
    return mg_owned_rows_equal(s->context, s->problem, s->c, &s->arena, s->owned, s->error);
}

margin_status mg_squares_find_owners(mg_squares *s, bool *worth) {
    MG_TRY(mg_squares_find_equal(s));
    if (s->owned->owners == 0)
        MG_TRY(mg_owned_rows_find(s->context, s->problem, s->intercept, s->norm, &s->arena,
                                  s->owned, s->error));
    *worth = s->owned->owners > 0;
    return MARGIN_OK;
}

margin_status mg_squares_owned(mg_squares *s, bool *done) {
    mg_problem problem;
    mg_fit fit = *s->fit;
    bool solved = false;
    *done = false;
    MG_TRY(mg_squares_find_owners(s, &solved));
    if (!solved) return MARGIN_OK;
    MG_TRY(mg_owned_rows_others(s->owned, &s->arena, &problem, s->error));
    fit.problem = &problem;
    mg_squares others = mg_squares_of(&fit, s->intercept);
    others.penalty = s->penalty;
    others.penalty.factor *= s->unit;
    others.tolerance = s->tolerance;
    margin_status status = solve_others(&others, &solved);
    if (status == MARGIN_OK && solved) status = solve_owners(s, &others, s->owned, done);
    s->out_of_time |= others.out_of_time;
    mg_squares_end(&others);
    return status == MARGIN_ERROR_DATA ? MARGIN_OK : status; /* left to a factor */
}
