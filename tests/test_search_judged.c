/* What a search says of a fit on its test rows is what margin_evaluate says of it, to the bit where
 * probabilities are too small for numbers, too. */
#include "model_cases.h"

#include <math.h>
#include <stdlib.h>

#include "support/group_context.h"

enum { ROWS = 80, COLUMNS = 36, CLASSES = 3, FOLDS = 4 };

/* Columns that repeat each other, which naive Bayes counts as so much evidence, and a row that has
 * it all against itself. */
static sample *repeating(int64_t classes) {
    sample *s = sample_make(ROWS, COLUMNS, classes, 0.2, 5);
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < COLUMNS; j++)
            s->f64[i * COLUMNS + j] += 10 * ((double)(j % classes) == s->labels[i]);
    s->labels[0] = (double)((int64_t)(s->labels[0] + 1) % classes);
    return s;
}

static margin_data rows_of(const margin_data *data, const margin_splits *splits, int64_t split,
                           int32_t part, int64_t *rows) {
    margin_data some = *data;
    some.selection = rows;
    some.selected = margin_splits_rows(splits, split, part, rows);
    return some;
}

static double evaluated(const char *spec, const margin_data *data, const margin_splits *splits,
                        int64_t split, const char *metric) {
    int64_t rows[ROWS];
    margin_metrics found = {.size = sizeof found};
    const margin_data train = rows_of(data, splits, split, MARGIN_PART_TRAIN, rows);
    margin_model *model = fit_text(context, spec, &train, NULL);
    const margin_data test = rows_of(data, splits, split, MARGIN_PART_TEST, rows);
    assert_int_equal(margin_evaluate(context, model, &test, &found, NULL), MARGIN_OK);
    const double value = margin_metrics_value(&found, metric);
    margin_metrics_free(&found);
    margin_model_free(model);
    return value;
}

static void assert_judged(const char *text, const margin_data *data, const char *metric) {
    const margin_split_options cut = {.size = sizeof cut, .folds = FOLDS, .seed = 5, .stratify = 1};
    const margin_search_options options = {.size = sizeof options, .metric = metric};
    margin_splits *splits = NULL;
    margin_search_result *found = NULL;
    margin_spec *spec = parse_text(context, text);
    assert_int_equal(margin_split(context, data, &cut, &splits, NULL), MARGIN_OK);
    assert_int_equal(margin_search(context, spec, data, splits, &options, &found, NULL), MARGIN_OK);
    assert_true(found->best >= 0);
    const margin_search_cell *cell = margin_search_cell_at(found, 0);
    for (int64_t k = 0; k < FOLDS; k++) {
        assert_true(isfinite(cell->values[k]));
        assert_close(cell->values[k], evaluated(cell->spec, data, splits, k, metric), 0);
    }
    margin_search_result_free(found);
    margin_splits_free(splits);
    margin_spec_free(spec);
}

static void test_small_probabilities(void **state) {
    (void)state;
    static const char *const metrics[] = {"log_loss", "brier", "auc", "average_precision"};
    for (int64_t classes = 2; classes <= CLASSES; classes++) {
        sample *s = repeating(classes);
        const margin_data data = sample_data(s, DENSE_F64);
        for (int k = 0; k < 4; k++) {
            assert_judged("naive-bayes", &data, metrics[k]);
            assert_judged("knn(k=20)", &data, k > 0 ? metrics[k] : "error");
        }
        sample_free(s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_small_probabilities)};
    return cmocka_run_group_tests(tests, support_open_context, support_close_context);
}
