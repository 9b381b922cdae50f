/* The proof again: every count by plain loops over the raw rows, what the model's probabilities
 * cost on them, and how much more that is than the best probabilities would. Shares nothing with
 * the fit but the layout of the tensors. */
#include "bayes/learner/bayes.h"

#include <float.h>

typedef struct recount {
    const mg_problem *problem;
    const mg_bayes_view *v;
    double *classes;    /* weights */
    double *statistics; /* as the model's */
    double *row;        /* one row */
    double missing;
    double sum, rest; /* of the objective, with what rounding took */
    double excess;    /* over the least objective there is */
    double rounding;  /* of it: what the last digits of the means and of the terms make */
} recount;

static void add_term(recount *r, double term) { /* Neumaier's sum */
    const double total = r->sum + term;
    if (isfinite(term)) r->rounding += MG_ROUNDING * fabs(term);
    if (isinf(total)) {
        r->sum = total;
        return;
    }
    r->rest += fabs(r->sum) >= fabs(term) ? (r->sum - total) + term : (term - total) + r->sum;
    r->sum = total;
}

/* ---- Counting -------------------------------------------------------------------------------- */

/* Level of a value: a code is its level, a number is found by trying all. */
static int64_t level_of(const mg_bayes_layout *layout, int64_t j, double value) {
    if (layout->kinds[j] == MG_BAYES_CODES)
        return value >= 0 && value < (double)layout->levels[j] && value == floor(value)
                   ? (int64_t)value
                   : layout->levels[j];
    for (int64_t level = 0; level < layout->levels[j]; level++) {
        if (layout->values[layout->first_value[j] + level] == value) return level;
    }
    return layout->levels[j];
}

static void count_value(recount *r, double *slots, int64_t j, double value, double weight) {
    const mg_bayes_layout *layout = &r->v->layout;
    switch (layout->kinds[j]) {
    case MG_BAYES_GAUSSIAN:
        slots[MG_BAYES_WEIGHT] += weight;
        slots[MG_BAYES_MEAN] += weight * value; /* the mean once all rows are there */
        return;
    case MG_BAYES_BERNOULLI:
        slots[MG_BAYES_SEEN] += weight;
        slots[MG_BAYES_ONES] += value > 0 ? weight : 0;
        return;
    case MG_BAYES_MULTINOMIAL:
        slots[0] += weight * value;
        return;
    }
    const int64_t level = level_of(layout, j, value);
    if (level < layout->levels[j]) slots[level] += weight;
}

static void count_row(recount *r, int64_t i, int pass) {
    const mg_problem *p = r->problem;
    const mg_bayes_layout *layout = &r->v->layout;
    const double weight = mg_sample_weight(p, i);
    double *statistics = r->statistics + p->code[i] * layout->slots;
    mg_row_expand(&p->x, mg_sample_row(p, i), r->row);
    if (pass == 0) r->classes[p->code[i]] += weight;
    for (int64_t j = 0; j < layout->columns; j++) {
        double *slots = statistics + layout->first[j];
        const double value = r->row[j];
        if (isnan(value)) {
            if (pass == 0) r->missing += weight;
        } else if (pass == 0) {
            count_value(r, slots, j, value, weight);
        } else if (layout->kinds[j] == MG_BAYES_GAUSSIAN) {
            const double away = value - slots[MG_BAYES_MEAN];
            slots[MG_BAYES_SQUARES] += weight * away * away;
        }
    }
}

static void divide_means(recount *r) {
    const mg_bayes_layout *layout = &r->v->layout;
    for (int64_t k = 0; k < layout->classes; k++)
        for (int64_t g = 0; g < layout->gaussians; g++) {
            double *slots = r->statistics + k * layout->slots + layout->first[layout->gaussian[g]];
            if (slots[MG_BAYES_WEIGHT] > 0) slots[MG_BAYES_MEAN] /= slots[MG_BAYES_WEIGHT];
        }
}

/* ---- The objective of the model, and the least there is -------------------------------------- */

/* Adds what shares p cost where `found` was counted, and how much more than the best shares would:
 * by Gibbs' inequality never less than 0, and 0 for the shares of the counts themselves. */
typedef struct shares {
    double found, known; /* sums of what was counted, and of what the model holds */
    double choices, lambda;
} shares;

static void add_share(recount *r, const shares *s, double found, double known) {
    const double times = found + s->lambda;
    const double below = s->known + s->choices * s->lambda;
    const double p = below > 0 ? (known + s->lambda) / below : 1 / s->choices;
    if (!(times > 0)) return;
    const double best = times / (s->found + s->choices * s->lambda);
    add_term(r, -times * log(p));
    r->excess += times * (log(best) - log(p));
}

static void add_levels(recount *r, const double *found, const double *known, int64_t count) {
    shares s = {.choices = (double)count, .lambda = r->v->settings.smoothing};
    for (int64_t n = 0; n < count; n++) {
        s.found += found[n];
        s.known += known[n];
    }
    for (int64_t n = 0; n < count; n++)
        add_share(r, &s, found[n], known[n]);
}

static void add_trials(recount *r, const double *found, const double *known) {
    const double a[2] = {found[MG_BAYES_SEEN] - found[MG_BAYES_ONES], found[MG_BAYES_ONES]};
    const double b[2] = {known[MG_BAYES_SEEN] - known[MG_BAYES_ONES], known[MG_BAYES_ONES]};
    add_levels(r, a, b, 2);
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

static void add_gaussian(recount *r, const double *found, const double *known) {
    const double pi = 3.14159265358979323846, epsilon = r->v->epsilon;
    const double weight = found[MG_BAYES_WEIGHT];
    const double away = found[MG_BAYES_MEAN] - known[MG_BAYES_MEAN];
    const double variance = known[MG_BAYES_SQUARES] / known[MG_BAYES_WEIGHT] + epsilon;
    if (!(weight > 0)) return;
    const double best = found[MG_BAYES_SQUARES] / weight + epsilon;
    const double ratio = (best + away * away) / variance;
    const double unit = 4 * DBL_EPSILON * fabs(known[MG_BAYES_MEAN]);
    if (!(variance > 0) && best == 0 && away == 0) return; /* constant: left out */
    add_term(r, 0.5 * weight * (log(2 * pi * variance) + ratio));
    r->excess += 0.5 * weight * (log(variance / best) + ratio - 1);
    if (isfinite(unit)) r->rounding += 0.5 * weight * unit * unit / variance;
}

static void add_priors(recount *r) {
    const mg_bayes_view *v = r->v;
    if (!v->settings.priors) {
        add_levels(r, r->classes, v->counts, v->layout.classes);
        return;
    }
    for (int64_t k = 0; k < v->layout.classes; k++)
        if (r->classes[k] > 0) add_term(r, -r->classes[k] * log(v->settings.priors[k]));
}

/* A column that is constant in all classes is left out. */
static bool is_constant(const recount *r, int64_t j) {
    double moments[MG_BAYES_MOMENTS];
    mg_bayes_pool(&r->v->layout, r->v->statistics, j, moments);
    return !(moments[MG_BAYES_SQUARES] > 0);
}

static void bayes_verify_judge(recount *r) {
    const mg_bayes_layout *layout = &r->v->layout;
    add_priors(r);
    for (int64_t j = 0; j < layout->columns; j++) {
        const int32_t kind = layout->kinds[j];
        if (kind == MG_BAYES_MULTINOMIAL || (kind == MG_BAYES_GAUSSIAN && is_constant(r, j)))
            continue;
        for (int64_t k = 0; k < layout->classes; k++) {
            const int64_t at = k * layout->slots + layout->first[j];
            const double *found = r->statistics + at, *known = r->v->statistics + at;
            if (kind == MG_BAYES_GAUSSIAN)
                add_gaussian(r, found, known);
            else if (kind == MG_BAYES_BERNOULLI)
                add_trials(r, found, known);
            else
                add_levels(r, found, known, layout->levels[j]);
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
    return MARGIN_OK;
}

margin_status mg_bayes_verify(mg_fit *fit, const mg_hypothesis *h) {
    recount r = {.problem = fit->problem, .v = mg_bayes_view_of(h)};
    const mg_bayes_layout *layout = &r.v->layout;
    mg_heap *heap = fit->context->heap;
    margin_report *report = &fit->report;
    margin_status status;
    const int64_t numbers = layout->classes * (layout->slots + 1) + layout->columns;
    MG_REQUIRE(
        fit->problem->x.columns == layout->columns && fit->problem->classes == layout->classes,
        fit->error, MARGIN_ERROR_DATA, "the data has other columns or classes than the model");
    MG_NEW_ZERO(heap, r.classes, numbers, "counting again", fit->error);
    r.statistics = r.classes + layout->classes;
    r.row = r.statistics + layout->classes * layout->slots;
    MG_GO(count_again(fit, &r));
    bayes_verify_judge(&r);
    mg_bayes_describe(r.v, r.missing, report);
    report->objective = r.sum + r.rest;
    report->gap = MG_MAX(r.excess, 0.0) / MG_MAX(1.0, fabs(report->objective));
    fit->verified.objective = fit->verified.gap = r.rounding;
done:
    mg_free(heap, r.classes);
    return status;
}
