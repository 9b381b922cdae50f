/* What a setting is worth, and which to take. */
#include "select/search/tune.h"

#include <stdio.h>
#include <string.h>

/* ---- One setting ----------------------------------------------------------------------------- */

double mg_cell_mean(const mg_cell *cell, int64_t splits, double *deviation) {
    double sum = 0, squares = 0, total = 0;
    for (int64_t k = 0; k < splits; k++) {
        total += cell->slots[k].value;
        sum += cell->slots[k].value - cell->slots[0].value;
    }
    const double mean = isinf(total) ? total : cell->slots[0].value + sum / (double)splits;
    for (int64_t k = 0; k < splits; k++) {
        const double off = cell->slots[k].value - mean;
        squares += off * off;
    }
    *deviation = splits > 1 ? sqrt(squares / (double)(splits - 1)) : (double)NAN;
    return mean;
}

int32_t mg_cell_status(const mg_cell *cell, int64_t splits, const mg_slot **worst) {
    *worst = &cell->slots[0];
    for (int64_t k = 1; k < splits; k++) {
        const int32_t status = cell->slots[k].status, most = (*worst)->status;
        if (status < 0 ? most >= 0 : most == 0 && status > 0) *worst = &cell->slots[k];
    }
    return (*worst)->status;
}

bool mg_cell_counts(const mg_tune *s, const mg_cell *cell) {
    const mg_slot *worst;
    double deviation;
    return cell->dropped == 0 && mg_cell_status(cell, s->split_count, &worst) == MARGIN_OK &&
           !isnan(mg_cell_mean(cell, s->split_count, &deviation));
}

/* ---- Simplicity ------------------------------------------------------------------------------ */

static int64_t digit(const margin_spec *spec, int64_t number, int set) {
    for (int k = spec->set_count - 1; k > set; k--)
        number /= spec->sets[k].count;
    return number % spec->sets[set].count;
}

/* Below 0: a is the simpler of two settings by this set. */
static int compare_set(const margin_spec *spec, int set, int64_t a, int64_t b) {
    const mg_spec_set *of = &spec->sets[set];
    const margin_option *option = &spec->components[of->component].info->options[of->option];
    const bool simpler = option->role == MARGIN_ROLE_SIMPLER;
    const bool told = simpler || option->role == MARGIN_ROLE_RICHER;
    const int64_t at = digit(spec, a, set), other = digit(spec, b, set);
    if (!told || at == other) return at < other ? -1 : at > other;
    const double value = mg_spec_set_value(spec, of, at).number,
                 against = mg_spec_set_value(spec, of, other).number;
    if (value == against) return 0;
    return (value > against) == simpler ? -1 : 1;
}

static bool is_simpler(const mg_tune *s, const mg_cell *a, const mg_cell *b) {
    if (a->owner != b->owner) return a->owner < b->owner;
    const margin_spec *spec = s->specs[a->owner];
    int order = 0;
    for (int k = 0; k < spec->set_count && order == 0; k++)
        order = compare_set(spec, k, a->number, b->number);
    return order < 0;
}

static int compare_sets(const mg_tune *s, const mg_cell *a, const mg_cell *b, bool penalties) {
    const margin_spec *spec = s->specs[a->owner];
    int order = 0;
    for (int k = 0; k < spec->set_count && order == 0; k++) {
        const mg_spec_set *set = &spec->sets[k];
        const char *group = spec->components[set->component].info->options[set->option].group;
        if ((group && strcmp(group, "penalty") == 0) == penalties)
            order = compare_set(spec, k, a->number, b->number);
    }
    return order;
}

bool mg_cell_before(const mg_tune *s, const mg_cell *a, const mg_cell *b) {
    const int order = compare_sets(s, a, b, false);
    return (order ? order : compare_sets(s, a, b, true)) < 0;
}

bool mg_cells_near(const mg_tune *s, const mg_cell *a, const mg_cell *b) {
    return compare_sets(s, a, b, false) == 0;
}

static bool is_at_end(const margin_spec *spec, const mg_spec_set *set, int64_t at) {
    const margin_option *option = &spec->components[set->component].info->options[set->option];
    const double value = mg_spec_set_value(spec, set, at).number;
    double least = value, most = value;
    if (option->type != MARGIN_OPTION_NUMBER && option->type != MARGIN_OPTION_INTEGER) return false;
    for (int64_t i = 0; i < set->count; i++) {
        least = fmin(least, mg_spec_set_value(spec, set, i).number);
        most = fmax(most, mg_spec_set_value(spec, set, i).number);
    }
    const bool beyond = value == least ? least > option->low : most < option->high;
    return set->count > 2 && (value == least || value == most) && beyond;
}

bool mg_cell_set_end(const mg_tune *s, const mg_cell *cell, mg_arena *arena, const char **names) {
    const margin_spec *spec = s->specs[cell->owner];
    char text[400] = "";
    size_t length = 0;
    for (int k = 0; k < spec->set_count; k++) {
        const mg_spec_set *set = &spec->sets[k];
        if (!cell->spec->components[set->component].options[set->option].given ||
            !is_at_end(spec, set, digit(spec, cell->number, k)) || length >= sizeof text)
            continue;
        length +=
            (size_t)snprintf(text + length, sizeof text - length, "%s%s", length ? ", " : "",
                             spec->components[set->component].info->options[set->option].name);
    }
    *names = length ? mg_keep_text(arena, text) : NULL;
    return !length || *names;
}

/* ---- Choice ---------------------------------------------------------------------------------- */

void mg_tune_choose(const mg_tune *s, int64_t *best, int64_t *best_one_se) {
    const double sign = s->metric->greater ? -1 : 1;
    double least = (double)INFINITY, spread = 0, deviation;
    *best = *best_one_se = -1;
    for (int64_t k = 0; k < s->count; k++) {
        if (!mg_cell_counts(s, &s->cells[k])) continue;
        const double loss = sign * mg_cell_mean(&s->cells[k], s->split_count, &deviation);
        if (!(loss < least)) continue; /* an infinite one is no better than none */
        *best = k;
        least = loss;
        spread = deviation;
    }
    *best_one_se = *best;
    if (*best < 0 || isnan(spread)) return;
    const double most = least + spread / sqrt((double)s->folds);
    for (int64_t k = 0; k < s->count; k++)
        if (mg_cell_counts(s, &s->cells[k]) &&
            sign * mg_cell_mean(&s->cells[k], s->split_count, &deviation) <= most &&
            is_simpler(s, &s->cells[k], &s->cells[*best_one_se]))
            *best_one_se = k;
}
