/* Which columns tell a class from the others: the mean of log P(x_j | c) / P(x_j | not c) over rows
 * of class c (the divergence of Kullback and Leibler), in nats. */
#include "bayes/learner/bayes.h"
#include "bayes/learner/naive_bayes.h"

typedef struct comparison {
    const mg_bayes_view *v;
    int64_t class_index;
    double words[2], choices; /* of multinomial columns: sums in the class and in the others */
} comparison;

/* Slot of a column in the class and its sum over the others. */
static void slot_of(const comparison *c, int64_t slot, double out[2]) {
    const mg_bayes_layout *layout = &c->v->layout;
    out[0] = out[1] = 0;
    for (int64_t k = 0; k < layout->classes; k++)
        out[k != c->class_index] += c->v->statistics[k * layout->slots + slot];
}

static double telling_share(const comparison *c, double count, double total, double choices) {
    const double lambda = c->v->settings.smoothing, below = total + choices * lambda;
    return below > 0 ? (count + lambda) / below : 1 / choices;
}

static double log_ratio(const comparison *c, const double count[2], const double total[2],
                        double choices, double *p) {
    *p = telling_share(c, count[0], total[0], choices);
    const double other = telling_share(c, count[1], total[1], choices);
    return *p > 0 ? log(*p) - log(other) : -(double)INFINITY;
}

/* Levels with counts at first .. first + count - 1; the level that speaks most for the class. */
static void compare_levels(const comparison *c, int64_t first, int64_t count,
                           margin_telling *found) {
    double total[2] = {0, 0}, at[2], p;
    found->log_ratio = -(double)INFINITY;
    for (int64_t level = 0; level < count; level++) {
        slot_of(c, first + level, at);
        total[0] += at[0];
        total[1] += at[1];
    }
    for (int64_t level = 0; level < count; level++) {
        slot_of(c, first + level, at);
        const double ratio = log_ratio(c, at, total, (double)count, &p);
        if (p > 0) found->evidence += p * ratio;
        if (!(ratio > found->log_ratio)) continue;
        found->log_ratio = ratio;
        found->category = level;
    }
}

static void compare_trials(const comparison *c, int64_t first, margin_telling *found) {
    double seen[2], ones[2], p;
    slot_of(c, first + MG_BAYES_SEEN, seen);
    slot_of(c, first + MG_BAYES_ONES, ones);
    const double zeros[2] = {MG_MAX(seen[0] - ones[0], 0.0), MG_MAX(seen[1] - ones[1], 0.0)};
    const double off = log_ratio(c, zeros, seen, 2, &p);
    if (p > 0) found->evidence += p * off;
    const double on = log_ratio(c, ones, seen, 2, &p);
    if (p > 0) found->evidence += p * on;
    found->value = on >= off;
    found->log_ratio = on >= off ? on : off;
}

/* Divergence of two normal distributions: the class, and the others pooled. */
static void compare_gaussians(const comparison *c, int64_t j, margin_telling *found) {
    const mg_bayes_layout *layout = &c->v->layout;
    double rest[MG_BAYES_MOMENTS] = {0};
    const double *own = c->v->statistics + c->class_index * layout->slots + layout->first[j];
    for (int64_t k = 0; k < layout->classes; k++)
        if (k != c->class_index)
            mg_bayes_join_moments(rest, c->v->statistics + k * layout->slots + layout->first[j]);
    found->value = own[MG_BAYES_MEAN];
    if (!(own[MG_BAYES_WEIGHT] > 0) || !(rest[MG_BAYES_WEIGHT] > 0)) return;
    const double a = own[MG_BAYES_SQUARES] / own[MG_BAYES_WEIGHT] + c->v->epsilon;
    const double b = rest[MG_BAYES_SQUARES] / rest[MG_BAYES_WEIGHT] + c->v->epsilon;
    const double away = own[MG_BAYES_MEAN] - rest[MG_BAYES_MEAN];
    if (a > 0 && b > 0)
        found->evidence = 0.5 * (log(b / a) + (a + away * away) / b - 1);
    else if (away != 0)
        found->evidence = (double)INFINITY;
}

static margin_telling compare(const comparison *c, int64_t j) {
    const mg_bayes_layout *layout = &c->v->layout;
    const double none = (double)NAN;
    margin_telling found = {.column = j, .category = -1, .value = none, .log_ratio = none};
    double at[2], p;
    switch (layout->kinds[j]) {
    case MG_BAYES_GAUSSIAN:
        compare_gaussians(c, j, &found);
        break;
    case MG_BAYES_BERNOULLI:
        compare_trials(c, layout->first[j], &found);
        break;
    case MG_BAYES_MULTINOMIAL:
        slot_of(c, layout->first[j], at);
        found.log_ratio = log_ratio(c, at, c->words, c->choices, &p);
        found.evidence = p > 0 ? p * found.log_ratio : 0;
        break;
    default:
        compare_levels(c, layout->first[j], layout->levels[j], &found);
        if (layout->kinds[j] == MG_BAYES_VALUES && found.category >= 0) {
            found.value = layout->values[layout->first_value[j] + found.category];
            found.category = -1;
        }
    }
    return found;
}

int64_t mg_bayes_telling(const mg_hypothesis *h, int64_t class_index, int64_t capacity,
                         margin_telling *list) {
    comparison c = {.v = mg_bayes_view_of(h), .class_index = class_index};
    const mg_bayes_layout *layout = &c.v->layout;
    int64_t count = 0;
    for (int64_t j = 0; j < layout->columns; j++) {
        double at[2];
        if (layout->kinds[j] != MG_BAYES_MULTINOMIAL) continue;
        slot_of(&c, layout->first[j], at);
        c.words[0] += at[0];
        c.words[1] += at[1];
        c.choices++;
    }
    for (int64_t j = 0; j < layout->columns; j++) {
        const margin_telling found = compare(&c, j);
        int64_t at = count < capacity ? count++ : capacity;
        for (; at > 0 && found.evidence > list[at - 1].evidence; at--)
            if (at < capacity) list[at] = list[at - 1];
        if (at < capacity) list[at] = found;
    }
    return count;
}
