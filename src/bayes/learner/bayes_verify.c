/* The proof again: every count by plain loops over the raw rows, what the model's probabilities
 * cost on them, and how much more that is than the best probabilities would. Shares nothing with
 * the fit but the layout of the tensors. */
#include "bayes/learner/bayes.h"

#include <float.h>
#include <string.h>

typedef struct recount {
    const mg_problem *problem;
    const mg_bayes_view *v;
    double *classes;          /* weights */
    double *statistics;       /* as the model's */
    long double *sums;        /* of the weights and statistics, while rows are counted */
    double *row;              /* one row */
    double *least, *greatest; /* classes x columns: of the values that are there */
    double unit;              /* of sums over rows (mg_rows_rounding) */
    long double missing;
    bool unlisted;    /* a value is none of the model's */
    double sum, rest; /* of the objective, with what rounding took */
    double excess;    /* over the least objective there is */
    double rounding;  /* of it: what the last digits of the means and of the terms make */
} recount;

static void add_term(recount *r, double term) { /* Neumaier's sum */
    const double total = r->sum + term;
    const double lost =
        fabs(r->sum) >= fabs(term) ? (r->sum - total) + term : (term - total) + r->sum;
    if (isfinite(term)) r->rounding += r->unit * fabs(term);
    r->rest += isinf(total) ? 0 : lost;
    r->sum = total;
}

/* ---- Counting -------------------------------------------------------------------------------- */

/* Level of a value: a code is its level, a number is found by trying all. */
static int64_t level_of(const mg_bayes_layout *layout, int64_t j, double value) {
    if (layout->kinds[j] == MG_BAYES_CODES)
        return value >= 0 && value < (double)layout->levels[j] && value == floor(value)
                   ? (int64_t)value
                   : layout->levels[j];
    for (int64_t level = 0; level < layout->levels[j]; level++)
        if (layout->values[layout->first_value[j] + level] == value) return level;
    return layout->levels[j];
}

static void count_value(recount *r, long double *slots, int64_t j, double value, double weight) {
    const mg_bayes_layout *layout = &r->v->layout;
    switch (layout->kinds[j]) {
    case MG_BAYES_GAUSSIAN:
        slots[MG_BAYES_WEIGHT] += (long double)weight;
        slots[MG_BAYES_MEAN] += (long double)weight * (long double)value; /* divided later */
        return;
    case MG_BAYES_BERNOULLI:
        slots[MG_BAYES_SEEN] += (long double)weight;
        slots[MG_BAYES_ONES] += value > 0 ? (long double)weight : 0.0L;
        return;
    case MG_BAYES_MULTINOMIAL:
        slots[0] += (long double)weight * (long double)value;
        return;
    }
    const int64_t level = level_of(layout, j, value);
    r->unlisted |= level == layout->levels[j];
    if (level < layout->levels[j]) slots[level] += (long double)weight;
}

static void count_row(recount *r, int64_t i, int pass) {
    const mg_problem *p = r->problem;
    const mg_bayes_layout *layout = &r->v->layout;
    const double weight = mg_sample_weight(p, i);
    long double *statistics = r->sums + layout->classes + p->code[i] * layout->slots;
    mg_row_expand(&p->x, mg_sample_row(p, i), r->row);
    if (pass == 0) r->sums[p->code[i]] += (long double)weight;
    for (int64_t j = 0; j < layout->columns; j++) {
        long double *slots = statistics + layout->first[j];
        const double value = r->row[j];
        if (isnan(value)) {
            if (pass == 0) r->missing += (long double)weight;
        } else if (pass == 0) {
            const int64_t cell = p->code[i] * layout->columns + j;
            r->least[cell] = fmin(r->least[cell], value);
            r->greatest[cell] = fmax(r->greatest[cell], value);
            count_value(r, slots, j, value, weight);
        } else if (layout->kinds[j] == MG_BAYES_GAUSSIAN) {
            const long double away = (long double)value - slots[MG_BAYES_MEAN];
            slots[MG_BAYES_SQUARES] += (long double)weight * away * away;
        }
    }
}

/* A mean lies among its values: that of equal ones is exact. */
static void divide_means(recount *r) {
    const mg_bayes_layout *layout = &r->v->layout;
    for (int64_t k = 0; k < layout->classes; k++)
        for (int64_t g = 0; g < layout->gaussians; g++) {
            const int64_t j = layout->gaussian[g], cell = k * layout->columns + j;
            long double *slots = r->sums + layout->classes + k * layout->slots + layout->first[j];
            if (!(slots[MG_BAYES_WEIGHT] > 0)) continue;
            const long double mean = slots[MG_BAYES_MEAN] / slots[MG_BAYES_WEIGHT];
            slots[MG_BAYES_MEAN] =
                fmaxl((long double)r->least[cell], fminl((long double)r->greatest[cell], mean));
        }
}

/* Counts are sums of weights, and of weights times counts; what a sparse matrix leaves out is the
 * rest of the class's weight. What does not occur is counted as 0, exactly. */
static bool same_counts(const recount *r, const double *found, const double *known, int64_t count,
                        double whole) {
    for (int64_t n = 0; n < count; n++) {
        const double blur = found[n] > 0 ? r->unit * fmax(found[n], whole) : 0;
        if (!(fabs(found[n] - known[n]) <= blur)) return false;
    }
    return true;
}

/* Where all are ones the rest is 0, exactly. */
static bool same_trials(const long double *found, const double *known) {
    return found[MG_BAYES_SEEN] > found[MG_BAYES_ONES] ||
           known[MG_BAYES_SEEN] == known[MG_BAYES_ONES];
}

/* A running mean is off by that share of the values that it met, and each difference from it by as
 * much. But it lies among the values: squares of differences that are all 0 are 0. */
static double mean_blur(const recount *r, int64_t cell, const double *found) {
    const double range = r->greatest[cell] - r->least[cell];
    return r->unit * (fabs(found[MG_BAYES_MEAN]) + range);
}

/* Squares are added up about some row, of which up to five digits cancel (bayes_count.c); of a
 * sparse matrix the zeros, if there are any, come last, with the square of the mean. */
static double squares_blur(const recount *r, int64_t cell, const double *found) {
    const double weight = found[MG_BAYES_WEIGHT], mean = found[MG_BAYES_MEAN];
    const double squares = found[MG_BAYES_SQUARES];
    const double least = r->least[cell], greatest = r->greatest[cell];
    const double away = fmin(mean_blur(r, cell, found), 2 * (greatest - least)) +
                        mg_column_blur(r->problem, cell % r->v->layout.columns);
    const bool may_have_zeros = least <= 0 && greatest >= 0;
    const double terms = 1e5 * squares + (may_have_zeros ? weight * mean * mean : 0);
    return r->unit * terms + 2 * sqrt(weight * squares) * away + weight * away * away;
}

static bool same_moments(const recount *r, int64_t cell, const double *found, const double *known,
                         double whole) {
    const double column = mg_column_blur(r->problem, cell % r->v->layout.columns);
    if (!(found[MG_BAYES_WEIGHT] > 0)) return same_counts(r, found, known, MG_BAYES_MOMENTS, 0);
    if (!same_counts(r, found, known, 1, whole)) return false;
    return !(fabs(found[MG_BAYES_MEAN] - known[MG_BAYES_MEAN]) >
             mean_blur(r, cell, found) + column) &&
           !(fabs(found[MG_BAYES_SQUARES] - known[MG_BAYES_SQUARES]) >
             squares_blur(r, cell, found));
}

/* Of a column over all classes; 0: it is constant. */
static double pooled_squares(const recount *r, const double *statistics, int64_t j) {
    double moments[MG_BAYES_MOMENTS];
    mg_bayes_pool(&r->v->layout, statistics, j, moments);
    return moments[MG_BAYES_SQUARES];
}

/* Whether the model leaves out a column where it is constant and nowhere else: this is exact, but
 * for squares that leave the range of numbers and what stages move. */
static bool same_constancy(const recount *r, int64_t j) {
    const double tiny = 1e-290;
    const double found = pooled_squares(r, r->statistics, j);
    const double known = pooled_squares(r, r->v->statistics, j);
    return (found > 0) == (known > 0) || (found < tiny && known < tiny) ||
           mg_column_blur(r->problem, j) > 0;
}

/* A value that the model lists and no row has. Categories without rows may be declared. */
static bool has_empty_value(const recount *r, int64_t j) {
    const mg_bayes_layout *layout = &r->v->layout;
    const int64_t count = layout->kinds[j] == MG_BAYES_VALUES ? layout->levels[j] : 0;
    double weight = 1;
    for (int64_t level = 0; level < count && weight > 0; level++) {
        weight = 0;
        for (int64_t k = 0; k < layout->classes; k++)
            weight += r->statistics[k * layout->slots + layout->first[j] + level];
    }
    return !(weight > 0);
}

/* Whether the model's statistics are what was counted. */
static bool is_counted(const recount *r) {
    const mg_bayes_layout *layout = &r->v->layout;
    bool same = !r->unlisted && same_counts(r, r->classes, r->v->counts, layout->classes, 0);
    for (int64_t at = 0; at < layout->classes * layout->columns && same; at++) {
        const int64_t k = at / layout->columns, j = at % layout->columns;
        const int64_t first = k * layout->slots + layout->first[j];
        const double *found = r->statistics + first, *known = r->v->statistics + first;
        if (layout->kinds[j] == MG_BAYES_GAUSSIAN)
            same = same_moments(r, at, found, known, r->classes[k]) && (k || same_constancy(r, j));
        else
            same = same_counts(r, found, known, mg_bayes_slots(layout, j), r->classes[k]) &&
                   (k || !has_empty_value(r, j));
        if (layout->kinds[j] == MG_BAYES_BERNOULLI)
            same = same && same_trials(r->sums + layout->classes + first, known);
    }
    return same;
}

/* ---- The objective of the model, and the least there is -------------------------------------- */

/* Adds what shares p cost where `found` was counted, and how much more than the best shares would:
 * by Gibbs' inequality never less than 0, and 0 for the shares of the counts themselves. */
typedef struct shares {
    double found, known; /* sums of what was counted, and of what the model holds */
    double choices, lambda;
    double blur; /* of each count: what rounding makes of all of them (same_counts) */
} shares;

static void add_share(recount *r, const shares *s, double found, double known) {
    const double times = found + s->lambda;
    const double below = s->known + s->choices * s->lambda;
    const double p = below > 0 ? (known + s->lambda) / below : 1 / s->choices;
    if (!(times > 0)) return;
    const double best = times / (s->found + s->choices * s->lambda);
    add_term(r, -times * log(p));
    r->rounding += r->unit * times * (1 + fabs(log(times)) + fabs(log(below > 0 ? below : 1)));
    r->excess += times * (log(best) - log(p));
    if (p > 0) r->rounding += s->blur * (1 - log(p));
}

static void add_levels(recount *r, double lambda, const double *found, const double *known,
                       int64_t count) {
    shares s = {.choices = (double)count, .lambda = lambda};
    for (int64_t n = 0; n < count; n++) {
        s.found += found[n];
        s.known += known[n];
    }
    s.blur = r->unit * s.found;
    for (int64_t n = 0; n < count; n++)
        add_share(r, &s, found[n], known[n]);
}

static void add_trials(recount *r, const double *found, const double *known) {
    const double a[2] = {found[MG_BAYES_SEEN] - found[MG_BAYES_ONES], found[MG_BAYES_ONES]};
    const double b[2] = {known[MG_BAYES_SEEN] - known[MG_BAYES_ONES], known[MG_BAYES_ONES]};
    add_levels(r, r->v->settings.smoothing, a, b, 2);
}

/* The words of a class are shares of one whole. */
static void add_words(recount *r, const double *found, const double *known) {
    const mg_bayes_layout *layout = &r->v->layout;
    shares s = {.lambda = r->v->settings.smoothing};
    for (int pass = 0; pass < 2; pass++)
        for (int64_t j = 0; j < layout->columns; j++) {
            const int64_t at = layout->first[j];
            if (layout->kinds[j] != MG_BAYES_MULTINOMIAL) continue;
            if (pass == 1) {
                add_share(r, &s, found[at], known[at]);
                continue;
            }
            s.found += found[at];
            s.known += known[at];
            s.choices++;
        }
}

static void add_gaussian(recount *r, int64_t cell, const double *found, const double *known) {
    const double pi = 3.14159265358979323846, epsilon = r->v->epsilon;
    const double weight = found[MG_BAYES_WEIGHT];
    const double away = found[MG_BAYES_MEAN] - known[MG_BAYES_MEAN];
    const double variance = known[MG_BAYES_SQUARES] / known[MG_BAYES_WEIGHT] + epsilon;
    if (!(weight > 0)) return;
    const double best = found[MG_BAYES_SQUARES] / weight + epsilon;
    const double ratio = (best + away * away) / variance;
    if (!(variance > 0) && best == 0 && away == 0) return; /* constant: left out */
    add_term(r, 0.5 * weight * (log(2 * pi * variance) + ratio));
    r->rounding += 0.5 * squares_blur(r, cell, found) / variance;
    r->excess += 0.5 * weight * (log(variance / best) + ratio - 1);
}

static void add_priors(recount *r) {
    const mg_bayes_view *v = r->v;
    if (!v->settings.priors) {
        add_levels(r, v->settings.prior_smoothing, r->classes, v->counts, v->layout.classes);
        return;
    }
    for (int64_t k = 0; k < v->layout.classes; k++)
        if (r->classes[k] > 0) add_term(r, -r->classes[k] * log(v->settings.priors[k]));
}

static void bayes_verify_judge(recount *r) {
    const mg_bayes_layout *layout = &r->v->layout;
    add_priors(r);
    for (int64_t j = 0; j < layout->columns; j++) {
        const int32_t kind = layout->kinds[j];
        const bool out = kind == MG_BAYES_GAUSSIAN && !(pooled_squares(r, r->v->statistics, j) > 0);
        if (kind == MG_BAYES_MULTINOMIAL || out) continue;
        for (int64_t k = 0; k < layout->classes; k++) {
            const int64_t at = k * layout->slots + layout->first[j];
            const double *found = r->statistics + at, *known = r->v->statistics + at;
            if (kind == MG_BAYES_GAUSSIAN)
                add_gaussian(r, k * layout->columns + j, found, known);
            else if (kind == MG_BAYES_BERNOULLI)
                add_trials(r, found, known);
            else
                add_levels(r, r->v->settings.smoothing, found, known, layout->levels[j]);
        }
    }
    for (int64_t k = 0; k < layout->classes; k++)
        add_words(r, r->statistics + k * layout->slots, r->v->statistics + k * layout->slots);
}

/* ---- Entry ----------------------------------------------------------------------------------- */

static margin_status count_again(mg_fit *fit, recount *r) {
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = 0; i < r->problem->count; i++) {
            if (i % 1024 == 0 && mg_cancelled(fit->context)) return mg_fail_cancelled(fit->error);
            count_row(r, i, pass);
        }
        if (pass == 0) divide_means(r);
    }
    for (int64_t n = 0; n < r->v->layout.classes * (r->v->layout.slots + 1); n++)
        r->classes[n] = (double)r->sums[n]; /* and the statistics behind them */
    return MARGIN_OK;
}

margin_status mg_bayes_verify(mg_fit *fit, const mg_hypothesis *h) {
    recount r = {.problem = fit->problem, .v = mg_bayes_view_of(h)};
    const mg_bayes_layout *layout = &r.v->layout;
    /* the rows may have been sparse in the fit */
    r.unit = mg_rows_rounding(fit->problem->count, mg_bayes_block_rows(layout, true));
    MG_SCOPED_ARENA(arena, fit->context->heap);
    margin_report *report = &fit->report;
    const int64_t counted = layout->classes * (layout->slots + 1);
    const int64_t cells = layout->classes * layout->columns;
    MG_REQUIRE(
        fit->problem->x.columns == layout->columns && fit->problem->classes == layout->classes,
        fit->error, MARGIN_ERROR_DATA, "the data has other columns or classes than the model");
    MG_TRY(MG_PIECES(&arena, "counting again", fit->error,
                     MG_PIECE(r.classes, counted + layout->columns + 2 * cells),
                     MG_PIECE(r.sums, counted)));
    memset(r.sums, 0, (size_t)counted * sizeof *r.sums);
    r.statistics = r.classes + layout->classes;
    r.row = r.statistics + layout->classes * layout->slots;
    r.least = r.row + layout->columns;
    r.greatest = r.least + cells;
    for (int64_t cell = 0; cell < cells; cell++) {
        r.least[cell] = (double)INFINITY;
        r.greatest[cell] = -(double)INFINITY;
    }
    MG_TRY(count_again(fit, &r));
    bayes_verify_judge(&r);
    mg_bayes_describe(r.v, (double)r.missing, report);
    report->objective = r.sum + r.rest;
    report->gap = MG_MAX(r.excess, 0.0) / MG_MAX(1.0, fabs(report->objective));
    fit->verified.objective = fit->verified.gap = r.rounding;
    if (!is_counted(&r))
        fit->verified.contradiction = "its counts and moments are not those of the data";
    return MARGIN_OK;
}
