/* Which distribution a column has, and where its statistics lie. */
#include "base/sort.h"
#include "bayes/learner/bayes.h"
#include "bayes/learner/naive_bayes.h"
#include "learn/column_choice.h"

#include <string.h>

/* ---- Choice ---------------------------------------------------------------------------------- */

/* Words of the option `distribution`, in its order; `auto` is first. */
static const char *const words[] = {"auto", "categorical", "gaussian", "multinomial", "bernoulli"};
enum { AUTO, CATEGORICAL, GAUSSIAN, MULTINOMIAL, BERNOULLI, WORDS };

static int32_t kind_of(int word, bool categorical) {
    switch (word) {
    case AUTO:
        return categorical ? MG_BAYES_CODES : MG_BAYES_GAUSSIAN;
    case CATEGORICAL:
        return categorical ? MG_BAYES_CODES : MG_BAYES_VALUES;
    case MULTINOMIAL:
        return MG_BAYES_MULTINOMIAL;
    case BERNOULLI:
        return MG_BAYES_BERNOULLI;
    default:
        return MG_BAYES_GAUSSIAN;
    }
}

static margin_status fail_categories(const margin_column *column, int word, margin_error *error) {
    return mg_fail(error, MG_DATA(CATEGORIES),
                   "naive-bayes: column %s holds categories, which have no numbers for "
                   "distribution=%s; leave it to categorical, or encode it: onehot | naive-bayes",
                   column->name, words[word]);
}

/* Columns that the option of this distribution names. */
static margin_status choose_named(mg_heap *heap, const mg_problem *problem,
                                  const mg_option_value *options, int word, bool *named,
                                  int *chosen, margin_error *error) {
    const mg_option_value *list =
        mg_option_named(&mg_learner_naive_bayes.info, options, words[word]);
    if (!list->text) return MARGIN_OK;
    const margin_data data = {.x = problem->x, .columns = problem->columns};
    memset(named, 0, (size_t)data.x.columns * sizeof *named);
    MG_TRY(mg_choose_columns(heap, "naive-bayes", &data, list->text, named, error));
    for (int64_t j = 0; j < data.x.columns; j++) {
        char buffer[32];
        if (!named[j]) continue;
        MG_REQUIRE(chosen[j] < 0, error, MARGIN_ERROR_SPEC,
                   "naive-bayes: column %s is named by both %s and %s; a column has one "
                   "distribution",
                   mg_column_name(data.columns, j, buffer), words[chosen[j]], words[word]);
        chosen[j] = word;
    }
    return MARGIN_OK;
}

margin_status mg_bayes_choose_kinds(mg_heap *heap, const mg_problem *problem,
                                    const mg_option_value *options, int32_t *kinds,
                                    margin_error *error) {
    const int64_t n = problem->x.columns;
    const int rest =
        (int)mg_option_named(&mg_learner_naive_bayes.info, options, "distribution")->integer;
    bool *named;
    int *chosen;
    MG_SCOPED_ARENA(arena, heap);
    MG_TRY(
        MG_PIECES(&arena, "the choice of columns", error, MG_PIECE(named, n), MG_PIECE(chosen, n)));
    for (int64_t j = 0; j < n; j++)
        chosen[j] = -1;
    for (int word = CATEGORICAL; word < WORDS; word++)
        MG_TRY(choose_named(heap, problem, options, word, named, chosen, error));
    for (int64_t j = 0; j < n; j++) {
        const bool categorical = mg_is_categorical(problem->columns, j);
        const int word = chosen[j] < 0 ? rest : chosen[j];
        kinds[j] = kind_of(word, categorical);
        if (categorical && kinds[j] != MG_BAYES_CODES)
            MG_TRY(fail_categories(&problem->columns[j], word, error));
    }
    return MARGIN_OK;
}

/* ---- Places ---------------------------------------------------------------------------------- */

int64_t mg_bayes_slots(const mg_bayes_layout *layout, int64_t j) {
    switch (layout->kinds[j]) {
    case MG_BAYES_GAUSSIAN:
        return MG_BAYES_MOMENTS;
    case MG_BAYES_BERNOULLI:
        return MG_BAYES_TRIALS;
    case MG_BAYES_MULTINOMIAL:
        return 1;
    default:
        return layout->levels[j];
    }
}

int64_t mg_bayes_run(const mg_bayes_layout *layout, int64_t n) {
    const int64_t *column = layout->linear + n;
    int64_t run = 1;
    while (n + run < layout->linears && column[run] == column[0] + run &&
           layout->kinds[column[run]] == layout->kinds[column[0]])
        run++;
    return run;
}

static margin_status check_column(const mg_bayes_layout *layout, int64_t j, margin_error *error) {
    const int32_t kind = layout->kinds[j];
    const bool listed = kind == MG_BAYES_CODES || kind == MG_BAYES_VALUES;
    MG_REQUIRE(kind >= MG_BAYES_CODES && kind <= MG_BAYES_MULTINOMIAL && layout->levels[j] >= 0 &&
                   layout->levels[j] <= INT32_MAX && (listed || layout->levels[j] == 0),
               error, MARGIN_ERROR_MODEL, "column %lld of the bayes model has no distribution",
               (long long)j + 1);
    return MARGIN_OK;
}

static void list_columns(mg_bayes_layout *layout) {
    int64_t *next = layout->listed;
    for (int family = 0; family < 3; family++) {
        const int64_t *start = next;
        for (int64_t j = 0; j < layout->columns; j++) {
            const int32_t kind = layout->kinds[j];
            const int of = kind == MG_BAYES_GAUSSIAN ? 0 : kind <= MG_BAYES_VALUES ? 1 : 2;
            if (of == family) *next++ = j;
        }
        if (family == 0) {
            layout->gaussian = start;
            layout->gaussians = next - start;
        } else if (family == 1) {
            layout->table = start;
            layout->tables = next - start;
        } else {
            layout->linear = start;
            layout->linears = next - start;
        }
    }
    layout->alike = layout->linears > 0 && mg_bayes_run(layout, 0) == layout->columns;
}

margin_status mg_bayes_layout_make(mg_heap *heap, mg_bayes_layout *layout, margin_error *error) {
    const int64_t n = layout->columns;
    layout->heap = heap;
    for (int64_t j = 0; j < n; j++)
        MG_TRY(check_column(layout, j, error));
    MG_NEW(heap, layout->first, 3 * n, "the columns of a model", error);
    layout->first_value = layout->first + n;
    layout->listed = layout->first_value + n;
    layout->slots = layout->value_count = 0;
    for (int64_t j = 0; j < n; j++) {
        layout->first[j] = layout->slots;
        layout->first_value[j] = layout->value_count;
        layout->slots += mg_bayes_slots(layout, j);
        if (layout->kinds[j] == MG_BAYES_VALUES) layout->value_count += layout->levels[j];
    }
    layout->slots = MG_MAX(layout->slots, 1);
    list_columns(layout);
    if (layout->slots <= INT64_MAX / 64 / layout->classes) return MARGIN_OK;
    mg_bayes_layout_free(layout);
    return mg_fail(error, MARGIN_ERROR_LIMIT,
                   "%lld statistics for each of %lld classes are too many",
                   (long long)layout->slots, (long long)layout->classes);
}

void mg_bayes_layout_free(mg_bayes_layout *layout) {
    if (layout->heap) mg_free(layout->heap, layout->first);
    layout->first = NULL;
}

/* ---- Levels ---------------------------------------------------------------------------------- */

static int64_t find_value(const double *values, int64_t count, double value) {
    const int64_t at = mg_lower_bound(values, count, value);
    return at < count && values[at] == value ? at : count;
}

/* The same where one side was rounded to single precision and the other was not. */
static int64_t find_rounded(const double *values, int64_t count, double value) {
    const float single = (float)value;
    int64_t at;
    if ((double)single != value) return find_value(values, count, (double)single);
    MG_BISECT(at, 0, count, (float)values[at] < single);
    return at < count && (float)values[at] == single ? at : count;
}

int64_t mg_bayes_level(const mg_bayes_layout *layout, int64_t column, double value) {
    const int64_t levels = layout->levels[column];
    if (isnan(value)) return -1;
    const int64_t guess = value >= 0 && value < (double)levels ? (int64_t)value : levels;
    if (layout->kinds[column] == MG_BAYES_CODES)
        return guess < levels && (double)guess == value ? guess : levels;
    const double *values = layout->values + layout->first_value[column];
    if (guess < levels && values[guess] == value) return guess;
    const int64_t found = find_value(values, levels, value);
    return found < levels ? found : find_rounded(values, levels, value);
}
