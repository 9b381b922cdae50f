/* margin_verify of least squares whose columns depend on each other: rank, least norm, weights of
 * constant columns; and that honest fits of such columns verify. */
#include "model/object/model_object.h"
#include "model_cases.h"

#include "base/random.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#ifndef FITS
#define FITS 150
#endif
enum { MOST_ROWS = 90, MOST_COLUMNS = 160 };

typedef struct {
    int rows, columns, copy, of; /* column `copy` is that of `of`; -1: none is */
    int constant;                /* a constant column; -1: none */
    bool sparse, weighted;
    double x[MOST_ROWS * MOST_COLUMNS], y[MOST_ROWS], weight[MOST_ROWS];
    double values[MOST_ROWS * MOST_COLUMNS];
    int32_t index[MOST_ROWS * MOST_COLUMNS];
    int64_t starts[MOST_ROWS + 1];
} table;

static int below(uint64_t *random, int count) {
    return (int)(support_random(random) % (uint64_t)count);
}

/* plain: no column is nearly another, or far from 0. */
static void fill_column(table *t, int j, bool plain, uint64_t *random) {
    const int drawn = j == 0 ? 0 : below(random, 9), kind = plain && drawn % 4 == 3 ? 0 : drawn;
    const int a = j ? below(random, j) : 0, b = j ? below(random, j) : 0;
    const double offset = below(random, 4) ? 0 : pow(10, below(random, 7));
    const double width = below(random, 3) ? 1 : pow(10, below(random, 9) - 4);
    const double near = pow(10, -6 - below(random, 9));
    const double constant = support_normal(random);
    for (int i = 0; i < t->rows; i++) {
        const double *row = t->x + i * t->columns, noise = support_normal(random);
        t->x[i * t->columns + j] = kind == 1   ? row[a]
                                   : kind == 2 ? constant
                                   : kind == 3 ? row[a] + near * noise
                                   : kind == 4 ? row[a] + row[b]
                                   : kind == 5 ? 3 * row[a] + 1
                                   : kind == 6 ? noise > 0.5
                                   : kind == 7 ? offset + width * noise
                                               : floor(4 * noise) / 4;
    }
    if (kind == 1 && t->x[a] != t->x[t->columns + a]) t->copy = j;
    if (t->copy == j) t->of = a;
    if (kind == 2) t->constant = j;
}

static void make_table(table *t, bool plain, uint64_t seed) {
    uint64_t random = seed;
    int64_t stored = 0;
    memset(t, 0, sizeof *t);
    t->copy = t->constant = -1;
    t->rows = 3 + below(&random, MOST_ROWS - 3);
    t->columns = below(&random, 8) ? 1 + below(&random, 12) : 100 + below(&random, 60);
    t->sparse = below(&random, 2);
    t->weighted = below(&random, 3) == 0;
    for (int j = 0; j < t->columns; j++)
        fill_column(t, j, plain, &random);
    for (int i = 0; i < t->rows; i++) {
        t->y[i] = t->x[i * t->columns] + support_normal(&random);
        t->weight[i] = below(&random, 5) ? 0.1 + below(&random, 20) : 0;
        for (int j = 0; j < t->columns; j++) {
            const double value = t->x[i * t->columns + j];
            if (value == 0) continue;
            t->index[stored] = j;
            t->values[stored++] = value;
        }
        t->starts[i + 1] = stored;
    }
    t->weight[0] = 1;
}

static margin_data data_of(const table *t) {
    margin_data data = {.y = margin_values_f64(t->y, t->rows)};
    data.x = t->sparse ? margin_csr_f64(t->values, t->index, t->starts, t->rows, t->columns)
                       : margin_dense_f64(t->x, t->rows, t->columns, t->columns);
    if (t->weighted) data.weights = margin_values_f64(t->weight, t->rows);
    return data;
}

static void test_honest_fits_verify(void **state) {
    (void)state;
    static const char *const specs[] = {"least-squares",
                                        "least-squares(solver=qr)",
                                        "least-squares(solver=normal)",
                                        "least-squares(solver=cg)",
                                        "least-squares(intercept=false)",
                                        "least-squares(intercept=false, solver=qr)",
                                        "ridge(alpha=0.3)",
                                        "ridge(solver=qr)",
                                        "ridge(alpha=0)",
                                        "ridge(solver=cg)",
                                        "ridge(alpha=0.1, intercept=false)",
                                        "standardize | least-squares",
                                        "standardize | ridge",
                                        "minmax | least-squares(solver=qr)",
                                        "poly(degree=2) | least-squares",
                                        "standardize | poly(degree=2) | least-squares",
                                        "lasso(alpha=0)"};
    margin_context *context = support_context(NULL, 1);
    static table t;
    for (int k = 0; k < FITS; k++) {
        margin_error error = {0};
        margin_report report = {0}, found = {0};
        margin_model *model = NULL;
        make_table(&t, false, (uint64_t)(k + 1) * 7919);
        const char *text = specs[k % MG_LENGTH(specs)];
        if (strstr(text, "poly") && t.columns > 20) text = specs[0];
        margin_spec *spec = parse_text(context, text);
        const margin_data data = data_of(&t);
        const margin_status status = margin_fit(context, spec, &data, &model, &report, &error);
        if (status >= 0 && verify_model(context, model, &data, &found) != MARGIN_OK)
            fail_msg("%d %s %dx%d %s: %s", k, text, t.rows, t.columns, report.reason, found.reason);
        margin_model_free(model);
        margin_spec_free(spec);
    }
    margin_context_free(context);
}

/* ---- What verification refuses --------------------------------------------------------------- */

static double *weights_of(const margin_model *model, const char *name) {
    return mg_bag_find(&model->hypothesis->bag, name)->data;
}

static void move(margin_model *model, int column, double by) {
    weights_of(model, "weights")[column] += by;
    weights_of(model, "learner_weights")[column] += by;
}

static void set_item(margin_model *model, const char *name, double value) {
    for (int64_t i = 0; i < model->report.item_count; i++)
        if (strcmp(model->report.items[i].name, name) == 0) model->report.items[i].value = value;
}

/* The same predictions by other weights, other ranks and a weight of a constant column. */
static void refuse_changes(margin_context *context, margin_model *model, const table *t,
                           const margin_data *data) {
    const double rank = margin_report_item_value(&model->report, "rank");
    const double constant = t->constant < 0 ? 0 : t->x[t->constant];
    if (t->copy >= 0) {
        const double by = 0.01 * (1 + fabs(weights_of(model, "weights")[t->of]));
        move(model, t->copy, by);
        move(model, t->of, -by);
        assert_not_verified(context, model, data, "are not the least");
        move(model, t->copy, -by);
        move(model, t->of, by);
    }
    if (constant != 0) {
        move(model, t->constant, 0.1);
        weights_of(model, "intercept")[0] -= 0.1 * constant;
        weights_of(model, "learner_intercept")[0] -= 0.1 * constant;
        assert_not_verified(context, model, data, "constant");
        move(model, t->constant, -0.1);
        weights_of(model, "intercept")[0] += 0.1 * constant;
        weights_of(model, "learner_intercept")[0] += 0.1 * constant;
    }
    for (int other = -1; other <= 1; other += 2) {
        set_item(model, "rank", rank + other);
        assert_not_verified(context, model, data, "rank");
    }
    set_item(model, "rank", (double)NAN);
    assert_not_verified(context, model, data, "rank");
}

static void test_other_weights_of_least_squares_are_refused(void **state) {
    (void)state;
    static const char *const specs[] = {"least-squares", "least-squares(solver=qr)",
                                        "least-squares(solver=normal)", "ridge(alpha=0)"};
    margin_context *context = support_context(NULL, 1);
    static table t;
    int told = 0, refused = 0;
    for (int k = 0; k < FITS; k++) {
        margin_report found = {0};
        make_table(&t, true, (uint64_t)(k + 1) * 104729);
        const margin_data data = data_of(&t);
        margin_model *model =
            fit_text(context, specs[k % MG_LENGTH(specs)], &data, &(margin_report){0});
        assert_int_equal(verify_model(context, model, &data, &found), MARGIN_OK);
        const bool claims = !isnan(margin_report_item_value(&model->report, "rank")) &&
                            model->report.status == MARGIN_OK;
        const bool compared = !strstr(found.reason, "not compared");
        if (claims && compared) refuse_changes(context, model, &t, &data);
        refused += claims && compared;
        told += claims && !compared;
        margin_model_free(model);
    }
    if (refused < 10 || refused < 10 * told)
        fail_msg("%d models were compared, %d were not", refused, told);
    margin_context_free(context);
}

/* Sums of squares of sparse rows leave half the digits of a column that is constant. */
static void test_a_constant_column_of_weighted_sparse_rows(void **state) {
    (void)state;
    enum { GROUPS = 27 };
    static const double constants[] = {-3.7, 0.1, 1000000.1};
    margin_context *context = support_context(NULL, 1);
    static table t;
    for (int k = 0; k < 30; k++) {
        uint64_t random = (uint64_t)k + 1;
        t = (table){.rows = k % 2 ? GROUPS : MOST_ROWS, .columns = GROUPS + 1, .sparse = true};
        t.weighted = true;
        for (int i = 0; i < t.rows; i++) {
            const double place = constants[k % MG_LENGTH(constants)];
            t.y[i] = support_normal(&random);
            t.weight[i] = (double)(1 + below(&random, 1000)) / 1001.0;
            t.values[2 * i] = 1;
            t.values[2 * i + 1] = place;
            t.index[2 * i] = i % GROUPS;
            t.index[2 * i + 1] = GROUPS;
            t.starts[i + 1] = 2 * (i + 1);
        }
        margin_report report = {0}, found = {0};
        margin_model *model = NULL;
        margin_spec *spec = parse_text(context, "least-squares");
        const margin_data data = data_of(&t);
        assert_int_equal(margin_fit(context, spec, &data, &model, &report, NULL), MARGIN_OK);
        assert_true(margin_report_item_value(&report, "rank") == GROUPS - 1);
        assert_true(weights_of(model, "weights")[GROUPS] == 0);
        assert_int_equal(verify_model(context, model, &data, &found), MARGIN_OK);
        margin_model_free(model);
        margin_spec_free(spec);
    }
    margin_context_free(context);
}

/* Categories, and a column that has a value for each of them: rounding passed for a direction,
 * whose weights were 1e12 and more where the least are below 1. */
static void test_a_column_of_values_of_categories(void **state) {
    (void)state;
    enum { GROUPS = 27, FILLED = 3 };
    static const char *const specs[] = {"least-squares", "least-squares(solver=qr)"};
    margin_context *context = support_context(NULL, 1);
    static table t;
    for (int k = 0; k < 60; k++) {
        uint64_t random = (uint64_t)k + 1;
        double level[GROUPS];
        t = (table){.rows = MOST_ROWS, .columns = GROUPS + 2, .sparse = true};
        for (int g = 0; g < GROUPS; g++)
            level[g] = 2000 + 10 * support_normal(&random);
        for (int i = 0; i < t.rows; i++) {
            const int group = i % GROUPS;
            const double values[FILLED] = {1, level[group], support_normal(&random)};
            t.y[i] = support_normal(&random);
            for (int f = 0; f < FILLED; f++) {
                t.values[FILLED * i + f] = values[f];
                t.index[FILLED * i + f] = f == 0 ? group : GROUPS + f - 1;
            }
            t.starts[i + 1] = FILLED * (i + 1);
        }
        margin_report report = {0}, found = {0};
        margin_model *model = NULL;
        margin_spec *spec = parse_text(context, specs[k % 2]);
        const margin_data data = data_of(&t);
        assert_int_equal(margin_fit(context, spec, &data, &model, &report, NULL), MARGIN_OK);
        assert_true(margin_report_item_value(&report, "rank") == GROUPS);
        for (int j = 0; j < t.columns; j++)
            assert_true(fabs(weights_of(model, "weights")[j]) < 10);
        assert_int_equal(verify_model(context, model, &data, &found), MARGIN_OK);
        margin_model_free(model);
        margin_spec_free(spec);
    }
    margin_context_free(context);
}

/* One row tells of many weights, and the small column's is next to nothing. */
static void test_columns_of_unlike_sizes(void **state) {
    (void)state;
    static const double rows[][3] = {{1, 1e6, 2}, {1, 1e9, 2}, {634.877, 231942642.9, -0.18966}};
    margin_context *context = support_context(NULL, 1);
    margin_spec *spec = parse_text(context, "least-squares(intercept=no)");
    for (int k = 0; k < MG_LENGTH(rows); k++) {
        margin_report found = {0};
        margin_model *model = NULL;
        const margin_data data = {.x = margin_dense_f64(rows[k], 1, 2, 2),
                                  .y = margin_values_f64(rows[k] + 2, 1)};
        assert_int_equal(margin_fit(context, spec, &data, &model, NULL, NULL), MARGIN_OK);
        if (verify_model(context, model, &data, &found) != MARGIN_OK)
            fail_msg("%d: %s", k, found.reason);
        margin_model_free(model);
    }
    margin_spec_free(spec);
    margin_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_honest_fits_verify),
        cmocka_unit_test(test_a_constant_column_of_weighted_sparse_rows),
        cmocka_unit_test(test_a_column_of_values_of_categories),
        cmocka_unit_test(test_columns_of_unlike_sizes),
        cmocka_unit_test(test_other_weights_of_least_squares_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
