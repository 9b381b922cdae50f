/* Which settings are tried: all variants of the specs, or some drawn by chance, each once. */
#include "base/random.h"
#include "base/sort.h"
#include "select/search/tune.h"

#include <string.h>

enum { MOST_CELLS = 10000 };

static int64_t wanted(const mg_tune *s, int64_t variants) {
    const bool draws = s->options.method == MARGIN_SEARCH_RANDOM;
    return draws ? MG_MIN(variants, s->options.count) : variants;
}

static margin_status count_cells(const mg_tune *s, int64_t *count, margin_error *error) {
    const int64_t most = s->options.most_cells > 0 ? s->options.most_cells : MOST_CELLS;
    int64_t sum = 0;
    for (int64_t k = 0; k < s->spec_count; k++)
        sum += wanted(s, s->specs[k]->variants);
    MG_REQUIRE(sum <= most, error, MARGIN_ERROR_LIMIT,
               "the sets stand for %lld settings, each fitted %lld times, and the limit is %lld "
               "settings; use smaller sets, draw some of them by chance "
               "(margin_search_options.count), or raise the limit "
               "(margin_search_options.most_cells)",
               (long long)sum, (long long)s->split_count, (long long)most);
    *count = sum;
    return MARGIN_OK;
}

static bool lower_number(int64_t a, int64_t b, const void *argument) {
    (void)argument;
    return a < b;
}

static bool holds(const int64_t *numbers, int64_t count, int64_t number) {
    for (int64_t k = 0; k < count; k++)
        if (numbers[k] == number) return true;
    return false;
}

/* `count` different numbers below `variants`, ascending. */
static void draw(uint64_t seed, int64_t variants, int64_t count, int64_t *numbers,
                 int64_t *scratch) {
    uint64_t index = 0;
    for (int64_t k = 0; k < count;) {
        const int64_t number =
            (int64_t)mg_random_below(seed, MG_RANDOM_SAMPLE, index++, (uint64_t)variants);
        if (!holds(numbers, k, number)) numbers[k++] = number;
    }
    mg_sort_few(numbers, count, scratch, lower_number, NULL);
}

/* The numbers of the settings of one spec. */
static margin_status choose_numbers(const mg_tune *s, int64_t variants, int64_t count,
                                    int64_t *numbers, margin_error *error) {
    const uint64_t seed = s->context->options.seed;
    int64_t *scratch;
    for (int64_t k = 0; k < count; k++)
        numbers[k] = k;
    if (count == variants) return MARGIN_OK;
    if (variants / 2 > count) {
        MG_NEW(s->heap, scratch, count, "the settings", error);
        draw(seed, variants, count, numbers, scratch);
        mg_free(s->heap, scratch);
        return MARGIN_OK;
    }
    MG_NEW(s->heap, scratch, 2 * variants, "the settings", error);
    for (int64_t k = 0; k < variants; k++)
        scratch[k] = k;
    mg_random_shuffle(seed, MG_RANDOM_SAMPLE, 0, scratch, variants);
    mg_sort_few(scratch, count, scratch + variants, lower_number, NULL);
    memcpy(numbers, scratch, (size_t)count * sizeof *numbers);
    mg_free(s->heap, scratch);
    return MARGIN_OK;
}

/* ---- Options that the choices of a setting do not take --------------------------------------- */

/* As degree is without meaning to kernel=rbf: those are not given, and settings that differ in
 * nothing else are one. */

static bool is_for(const margin_spec *spec, const margin_option *option, const mg_spec_set *by,
                   int64_t place) {
    const char *word = mg_spec_set_value(spec, by, place).text;
    return word && mg_when_holds(option, word);
}

/* Whether the choice at these places does not take an option, and another one does: an option that
 * no choice takes is the user's mistake, which the fit tells. */
static bool is_of_others(const margin_spec *spec, const int64_t *places, const mg_spec_set *set) {
    const margin_component *info = spec->components[set->component].info;
    const margin_option *option = &info->options[set->option];
    bool others = false;
    for (int k = 0; option->when && k < spec->set_count; k++) {
        const mg_spec_set *by = &spec->sets[k];
        if (by->component != set->component || by->option != mg_when_decides(info, option))
            continue;
        if (is_for(spec, option, by, places[k])) return false;
        for (int64_t place = 0; place < by->count; place++)
            others |= is_for(spec, option, by, place);
    }
    return others;
}

static void leave_out(const margin_spec *spec, int64_t *places) {
    int64_t all[MG_SPEC_MAX_SETS];
    memcpy(all, places, (size_t)spec->set_count * sizeof *all);
    for (int k = 0; k < spec->set_count; k++)
        if (is_of_others(spec, all, &spec->sets[k])) places[k] = -1;
}

/* ---- Cells ----------------------------------------------------------------------------------- */

/* Sets of the learner vary fastest. */
static int64_t number_of_stages(const margin_spec *spec, int64_t number) {
    for (int k = 0; k < spec->set_count; k++)
        if (spec->sets[k].component == spec->component_count - 1) number /= spec->sets[k].count;
    return number;
}

/* A set of kernels or tasks may change what is predicted. */
static margin_status check_task(const mg_tune *s, const margin_spec *spec, margin_error *error) {
    const bool numbers = s->whole->task == MARGIN_REGRESS;
    MG_REQUIRE(
        mg_can_task(mg_spec_learner(spec), s->whole->task), error, MARGIN_ERROR_SPEC,
        "'%s' does not predict %s, as the first setting does; compare what predicts the same",
        spec->text, numbers ? "numbers" : "classes");
    return MARGIN_OK;
}

static margin_status make_cell(const mg_tune *s, int64_t owner, const int64_t *places,
                               mg_cell *cell, margin_error *error) {
    cell->owner = owner;
    cell->number = mg_spec_index(s->specs[owner], places);
    cell->stages = number_of_stages(s->specs[owner], cell->number);
    MG_TRY(mg_spec_at(s->specs[owner], places, &cell->spec, error));
    MG_TRY(check_task(s, cell->spec, error));
    MG_NEW_ZERO(s->heap, cell->slots, s->split_count, "the table", error);
    if (!s->options.predictions) return MARGIN_OK;
    const int64_t targets = mg_data_targets(s->data);
    const int64_t count = s->split_count / s->folds * s->data->x.rows * targets;
    MG_NEW(s->heap, cell->predictions, count, "the predictions of the settings", error);
    for (int64_t k = 0; k < count; k++)
        cell->predictions[k] = (double)NAN;
    return MARGIN_OK;
}

static bool is_made(const mg_tune *s, int64_t owner, int64_t number) {
    for (int64_t k = s->count; k-- > 0 && s->cells[k].owner == owner;)
        if (s->cells[k].number == number) return true;
    return false;
}

static margin_status make_cells(mg_tune *s, int64_t *numbers, margin_error *error) {
    for (int64_t owner = 0; owner < s->spec_count; owner++) {
        const margin_spec *spec = s->specs[owner];
        const int64_t count = wanted(s, spec->variants);
        MG_TRY(choose_numbers(s, spec->variants, count, numbers, error));
        for (int64_t k = 0; k < count; k++) {
            int64_t places[MG_SPEC_MAX_SETS];
            mg_spec_places(spec, numbers[k], places);
            leave_out(spec, places);
            const int64_t number = mg_spec_index(spec, places);
            if (number != numbers[k] && is_made(s, owner, number)) continue;
            MG_TRY(make_cell(s, owner, places, &s->cells[s->count++], error));
        }
    }
    return MARGIN_OK;
}

margin_status mg_tune_cells(mg_tune *s, margin_error *error) {
    int64_t *numbers, most = 0;
    MG_TRY(count_cells(s, &most, error));
    MG_NEW_ZERO(s->heap, s->cells, most, "the table", error);
    MG_NEW(s->heap, numbers, most, "the settings", error);
    const margin_status status = make_cells(s, numbers, error);
    mg_free(s->heap, numbers);
    return status;
}

void mg_tune_cells_free(mg_tune *s) {
    for (int64_t k = 0; s->cells && k < s->count; k++) {
        mg_cell *cell = &s->cells[k];
        for (int64_t i = 0; cell->slots && i < s->split_count; i++)
            mg_free(s->heap, cell->slots[i].reason);
        MG_FREE(s->heap, cell->slots, cell->predictions);
        margin_spec_free(cell->spec);
    }
    mg_free(s->heap, s->cells);
}
