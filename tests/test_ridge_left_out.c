/* Leave-one-out searches of ridge in closed form: the values of fits made one by one. */
#include "model_cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/group_context.h"

static margin_search_result *search(const char *text, const margin_data *data, double seconds) {
    const int64_t rows = data->selected > 0 ? data->selected : data->x.rows;
    const margin_split_options all = {.size = sizeof all, .folds = rows};
    const margin_search_options options = {
        .size = sizeof options, .metric = "mse", .predictions = 1, .cell_seconds = seconds};
    margin_spec *spec = parse_text(context, text);
    margin_splits *splits = NULL;
    margin_search_result *found = NULL;
    margin_error error = {0};
    if (margin_split(context, data, &all, &splits, &error) < 0 ||
        margin_search(context, spec, data, splits, &options, &found, &error) < 0)
        fail_msg("%s: %s", text, error.text);
    margin_splits_free(splits);
    margin_spec_free(spec);
    return found;
}

/* With a limit each cell is fitted alone. Gaps are NaN where the closed form answered. */
static void assert_as_alone(const char *text, const margin_data *data, bool closed) {
    margin_search_result *shared = search(text, data, 0.0), *alone = search(text, data, 1e6);
    assert_true(shared->count == alone->count && shared->count > 1);
    for (int64_t k = 0; k < shared->count; k++) {
        const margin_search_cell *a = margin_search_cell_at(shared, k),
                                 *b = margin_search_cell_at(alone, k);
        assert_int_equal(a->status, MARGIN_OK);
        if (isnan(a->gap) != closed) fail_msg("%s: gap %g, %g alone", text, a->gap, b->gap);
        assert_close(a->mean, b->mean, 1e-8);
        for (int64_t f = 0; f < shared->splits; f++)
            assert_close(a->values[f], b->values[f], 1e-7);
        for (int64_t i = 0; i < data->x.rows; i++)
            assert_close(a->predictions[i], b->predictions[i], 1e-8);
    }
    margin_search_result_free(shared);
    margin_search_result_free(alone);
}

static void assert_close_to_alone(const char *text, const margin_data *data) {
    margin_search_result *shared = search(text, data, 0.0), *alone = search(text, data, 1e6);
    for (int64_t k = 0; k < shared->count; k++)
        for (int64_t f = 0; f < shared->splits; f++) {
            const double a = margin_search_cell_at(shared, k)->values[f],
                         b = margin_search_cell_at(alone, k)->values[f];
            if (fabs(a - b) > 1e-6 * (fabs(b) + margin_search_cell_at(alone, k)->mean))
                fail_msg("%s, row %d: %.10g, %.10g alone, gaps %g %g", text, (int)f, a, b,
                         margin_search_cell_at(shared, k)->gap,
                         margin_search_cell_at(alone, k)->gap);
        }
    margin_search_result_free(shared);
    margin_search_result_free(alone);
}

static void values_are_those_of_fits(void **unused) {
    (void)unused;
    sample *s = sample_make(70, 6, 40, 0.2, 3);
    double weights[70];
    for (int64_t i = 0; i < 70; i++)
        weights[i] = 0.25 + (double)(i % 5);
    for (int layout = 0; layout < LAYOUTS; layout++) {
        margin_data data = sample_data(s, layout);
        assert_as_alone("ridge(alpha={0.001,1,1000})", &data, true);
        data.weights = margin_values_f64(weights, 70);
        assert_as_alone("ridge(lambda={1e-6,0.01,10})", &data, true);
        assert_as_alone("ridge(C={0.01,100})", &data, true);
    }
    sample_free(s);
}

/* A column that only one row has, a constant one, rows twice, columns far from 0. */
static void awkward_tables(void **unused) {
    (void)unused;
    enum { ROWS = 40, COLUMNS = 5 };
    double x[ROWS * COLUMNS], y[ROWS];
    uint64_t state = 5;
    for (int64_t k = 0; k < ROWS * COLUMNS; k++)
        x[k] = support_normal(&state);
    for (int64_t i = 0; i < ROWS; i++) {
        y[i] = x[i * COLUMNS] - 2.0 * x[i * COLUMNS + 1] + 0.1 * support_normal(&state);
        x[i * COLUMNS + 4] = 7.0;
    }
    memcpy(x + 10 * COLUMNS, x, COLUMNS * sizeof *x);
    margin_data data = {.x = margin_dense_f64(x, ROWS, COLUMNS, COLUMNS),
                        .y = margin_values_f64(y, ROWS)};
    assert_as_alone("ridge(alpha={0.01,1})", &data, true);
    for (int64_t i = 0; i < ROWS; i++) {
        x[i * COLUMNS + 3] += 1e4;
        y[i] += 1e3;
    }
    assert_as_alone("ridge(alpha={0.01,1})", &data, true);
    for (int64_t i = 0; i < ROWS; i++)
        x[i * COLUMNS + 3] = i == 8 ? 1e3 : 0.0;
    assert_as_alone("ridge(alpha={1e-4,1})", &data, false);
    assert_as_alone("ridge(intercept=no, alpha={0.1,1})", &data, false);
    for (int64_t i = 0; i < ROWS; i++) /* one row that nearly decides, and columns nearly alike */
        x[i * COLUMNS + 3] = x[i * COLUMNS] + 1e-4 * support_normal(&state) + (i == 8 ? 30.0 : 0.0);
    for (int k = 1; k < 8; k++) {
        const double alpha = pow(10.0, -k);
        char text[80];
        snprintf(text, sizeof text, "ridge(alpha={%g,%g})", alpha, 2.0 * alpha);
        assert_close_to_alone(text, &data);
    }
    double weights[ROWS];
    for (int k = 4; k < 15; k++) { /* one row that weighs more than all others */
        for (int64_t i = 0; i < ROWS; i++)
            weights[i] = i == 5 ? pow(10.0, k) : 1.0 + (double)(i % 3);
        data.weights = margin_values_f64(weights, ROWS);
        assert_close_to_alone("ridge(alpha={0.1,1})", &data);
    }
    data.weights = (margin_vector){0};
    assert_as_alone("standardize | ridge(alpha={0.1,1})", &data,
                    true); /* by eigenvectors of each fold */
}

/* Some rows only, in an order of their own. */
static void a_selection(void **unused) {
    (void)unused;
    sample *s = sample_make(60, 4, 30, 0.2, 9);
    int64_t rows[25];
    for (int64_t i = 0; i < 25; i++)
        rows[i] = (i * 17 + 3) % 60;
    margin_data data = sample_data(s, DENSE_F64);
    data.selection = rows;
    data.selected = 25;
    margin_search_result *shared = search("ridge(alpha={0.1,1})", &data, 0.0),
                         *alone = search("ridge(alpha={0.1,1})", &data, 1e6);
    for (int64_t k = 0; k < 2; k++)
        assert_close(margin_search_cell_at(shared, k)->mean, margin_search_cell_at(alone, k)->mean,
                     1e-9);
    assert_true(isnan(margin_search_cell_at(shared, 0)->gap));
    margin_search_result_free(shared);
    margin_search_result_free(alone);
    sample_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_those_of_fits),
        cmocka_unit_test(awkward_tables),
        cmocka_unit_test(a_selection),
    };
    return cmocka_run_group_tests(tests, support_open_context, support_close_context);
}
