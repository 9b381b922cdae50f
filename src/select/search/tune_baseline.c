/* What to beat: the answer that looks at no column, the most frequent class with the shares of all
 * classes for probabilities, or the mean. And how far one cell is from another. */
#include "select/search/tune.h"

#include "math/vectors/tails.h"

#include <string.h>

/* The weighted shares of the classes, or the mean of a target, among training rows. */
static void summarise(const mg_tune *s, const mg_row_list *train, double *shares) {
    const int64_t targets = mg_data_targets(s->data), classes = s->whole->classes;
    const bool classifies = s->whole->task == MARGIN_CLASSIFY;
    const margin_vector *weights = &s->data->weights;
    const int64_t count = classifies ? classes : targets;
    double total = 0;
    memset(shares, 0, (size_t)count * sizeof *shares);
    for (int64_t i = 0; i < train->count; i++) {
        const int64_t row = train->rows[i];
        const double weight = weights->values ? mg_vector_f64(weights, row) : 1.0;
        const double *truth = s->truth + row * targets;
        total += weight;
        if (classifies)
            shares[(int64_t)truth[0]] += weight;
        else
            for (int64_t t = 0; t < targets; t++)
                shares[t] += weight / total * (truth[t] - shares[t]);
    }
    for (int64_t c = 0; classifies && c < classes; c++)
        shares[c] /= total;
}

static margin_status judge_split(mg_tune *s, mg_arena *arena, int64_t split, double *value,
                                 margin_error *error) {
    const bool classifies = s->whole->task == MARGIN_CLASSIFY;
    const int64_t width = classifies ? s->whole->classes : mg_data_targets(s->data);
    mg_row_list train, test;
    double *shares, *all;
    MG_TRY(mg_tune_rows(s, arena, split, MARGIN_PART_TRAIN, &train, error));
    MG_TRY(mg_tune_rows(s, arena, split, MARGIN_PART_TEST, &test, error));
    MG_ARENA_NEW(arena, shares, width, "the baseline", error);
    MG_ARENA_NEW(arena, all, test.count * width, "the baseline", error);
    summarise(s, &train, shares);
    for (int64_t i = 0; i < test.count; i++)
        memcpy(all + i * width, shares, (size_t)width * sizeof *all);
    return mg_tune_judge_given(s, s->context, &test, classifies ? NULL : all,
                               classifies ? all : NULL, value, error);
}

margin_status mg_tune_baseline(mg_tune *s, margin_error *error) {
    if (!s->options.baseline) return MARGIN_OK;
    MG_NEW(s->heap, s->baseline, s->split_count, "the baseline", error);
    for (int64_t k = 0; k < s->split_count; k++) {
        mg_arena arena;
        mg_arena_init(&arena, s->heap);
        const margin_status status = judge_split(s, &arena, k, &s->baseline[k], error);
        mg_arena_free(&arena);
        if (status < 0) return status;
    }
    return MARGIN_OK;
}

/* ---- Intervals ------------------------------------------------------------------------------- */

int margin_search_interval(const margin_search_result *result, const double *values,
                           const double *against, double level, margin_search_difference *found) {
    const int64_t n = result ? result->splits : 0;
    const mg_result_type type = MG_RESULT(margin_search_difference, high);
    if (n < 2 || !values || !(level > 0 && level < 1) || mg_result_check(found, type, NULL) < 0)
        return 0;
    double mean = 0, squares = 0;
    for (int64_t k = 0; k < n; k++)
        mean += (values[k] - (against ? against[k] : 0)) / (double)n;
    for (int64_t k = 0; k < n; k++) {
        const double off = values[k] - (against ? against[k] : 0) - mean;
        squares += off * off;
    }
    const double variance = squares / (double)(n - 1) * (1 / (double)n + result->test_share);
    const double reach = mg_student_quantile(1 - level, (double)(n - 1)) * sqrt(variance);
    const margin_search_difference made = {0, mean, mean - reach, mean + reach};
    if (isnan(mean)) return 0;
    mg_result_give(found, type, &made);
    return 1;
}
