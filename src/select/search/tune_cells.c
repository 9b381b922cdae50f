/* Which settings are tried: all variants of the specs, or some drawn by chance. */
#include "base/random.h"
#include "base/sort.h"
#include "select/search/tune.h"

#include <string.h>

enum { MOST_CELLS = 10000 };

static int64_t wanted(const mg_tune *s, int64_t variants) {
    const bool draws = s->options.method == MARGIN_SEARCH_RANDOM;
    return draws ? MG_MIN(variants, s->options.count) : variants;
}

static margin_status count_cells(mg_tune *s, margin_error *error) {
    const int64_t most = s->options.most_cells > 0 ? s->options.most_cells : MOST_CELLS;
    int64_t sum = 0;
    for (int64_t k = 0; k < s->spec_count; k++)
        sum += wanted(s, s->specs[k]->variants);
    MG_REQUIRE(sum <= most, error, MARGIN_ERROR_LIMIT,
               "the sets stand for %lld settings, each fitted %lld times, and the limit is %lld "
               "settings; use smaller sets, draw some of them by chance, or raise the limit",
               (long long)sum, (long long)s->split_count, (long long)most);
    s->count = sum;
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
    mg_sort(numbers, count, scratch, lower_number, NULL);
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
    mg_sort(scratch, count, scratch + variants, lower_number, NULL);
    memcpy(numbers, scratch, (size_t)count * sizeof *numbers);
    mg_free(s->heap, scratch);
    return MARGIN_OK;
}

/* Sets of the learner vary fastest. */
static int64_t number_of_stages(const margin_spec *spec, int64_t number) {
    for (int k = 0; k < spec->set_count; k++)
        if (spec->sets[k].component == spec->component_count - 1) number /= spec->sets[k].count;
    return number;
}

static margin_status make_cell(const mg_tune *s, int64_t owner, int64_t number, mg_cell *cell,
                               margin_error *error) {
    cell->owner = owner;
    cell->number = number;
    cell->stages = number_of_stages(s->specs[owner], number);
    MG_TRY(mg_spec_variant(s->specs[owner], number, &cell->spec, error));
    MG_NEW_ZERO(s->heap, cell->slots, s->split_count, "the table", error);
    if (!s->options.predictions) return MARGIN_OK;
    const int64_t targets = mg_data_targets(s->data);
    const int64_t count = s->split_count / s->folds * s->data->x.rows * targets;
    MG_NEW(s->heap, cell->predictions, count, "the predictions of the settings", error);
    for (int64_t k = 0; k < count; k++)
        cell->predictions[k] = (double)NAN;
    return MARGIN_OK;
}

static margin_status make_cells(mg_tune *s, int64_t *numbers, margin_error *error) {
    int64_t at = 0;
    for (int64_t owner = 0; owner < s->spec_count; owner++) {
        const int64_t variants = s->specs[owner]->variants, count = wanted(s, variants);
        MG_TRY(choose_numbers(s, variants, count, numbers, error));
        for (int64_t k = 0; k < count; k++)
            MG_TRY(make_cell(s, owner, numbers[k], &s->cells[at++], error));
    }
    return MARGIN_OK;
}

margin_status mg_tune_cells(mg_tune *s, margin_error *error) {
    int64_t *numbers;
    MG_TRY(count_cells(s, error));
    MG_NEW_ZERO(s->heap, s->cells, s->count, "the table", error);
    MG_NEW(s->heap, numbers, s->count, "the settings", error);
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
