/* Categories as columns: which runs are found, which directions follow, and fits and verifications
 * that rest on them, against factors and against answers by hand. */
#include "least_squares_cases.h"

#include "learn/exact/column_groups.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/group_context.h"

/* ---- Data ------------------------------------------------------------------------------------ */

enum { RUNS = 3, NUMBERS = 2 /* columns between the first run and the second */ };

/* RUNS categories a row, and two columns of normal numbers. */
typedef struct records {
    int64_t rows, columns, first[RUNS], size[RUNS];
    int64_t *starts;
    int32_t *at;
    double *values, *y, *labels, *weights;
} records;

static records records_make(int64_t rows, const int64_t *sizes, uint64_t seed) {
    enum { LONG = RUNS + NUMBERS };
    records r = {.rows = rows,
                 .starts = malloc((size_t)(rows + 1) * sizeof(int64_t)),
                 .at = malloc((size_t)(rows * LONG) * sizeof(int32_t)),
                 .values = malloc((size_t)(rows * LONG) * sizeof(double)),
                 .y = malloc((size_t)rows * sizeof(double)),
                 .labels = malloc((size_t)rows * sizeof(double)),
                 .weights = malloc((size_t)rows * sizeof(double))};
    for (int k = 0; k < RUNS; k++) {
        r.size[k] = sizes[k];
        r.first[k] = r.columns;
        r.columns += sizes[k] + (k == 0 ? NUMBERS : 0);
    }
    int64_t stored = 0;
    for (int64_t i = 0; i < rows; i++) {
        double sum = support_normal(&seed);
        r.starts[i] = stored;
        for (int k = 0; k < RUNS; k++) {
            /* each one of a run occurs, of the first equally often */
            const bool in_turn = k == 0 || i < sizes[k];
            const int64_t drawn = (int64_t)(support_random(&seed) % (uint64_t)sizes[k]);
            const int64_t own = in_turn ? i % sizes[k] : drawn;
            r.at[stored] = (int32_t)(r.first[k] + own);
            r.values[stored++] = 1;
            sum += (double)(own % 5) - 2;
            for (int j = 0; k == 0 && j < NUMBERS; j++) {
                r.at[stored] = (int32_t)(sizes[0] + j);
                r.values[stored] = support_normal(&seed);
                sum += r.values[stored++];
            }
        }
        r.y[i] = sum;
        /* both of them in each category of the first run */
        r.labels[i] =
            i / sizes[0] < 2 ? (double)(i / sizes[0]) : sum + 3 * support_normal(&seed) > 0;
        r.weights[i] = (double)(support_random(&seed) % 4);
    }
    r.starts[rows] = stored;
    return r;
}

static void records_free(records *r) {
    free(r->starts);
    free(r->at);
    free(r->values);
    free(r->y);
    free(r->labels);
    free(r->weights);
}

static margin_matrix records_x(const records *r) {
    return margin_csr_f64(r->values, r->at, r->starts, r->rows, r->columns);
}

static margin_data records_data(const records *r, bool classes) {
    return (margin_data){.x = records_x(r),
                         .y = margin_values_f64(classes ? r->labels : r->y, r->rows)};
}

/* ---- Runs and directions --------------------------------------------------------------------- */

static mg_column_groups find_groups(const mg_problem *problem, bool intercept,
                                    const double *weights, mg_arena *arena) {
    mg_column_groups groups;
    margin_error error = {0};
    mg_arena_init(arena, context->heap);
    assert_int_equal(
        mg_column_groups_find(context, problem, intercept, weights, arena, &groups, &error),
        MARGIN_OK);
    return groups;
}

/* The runs from number `from` on are found. */
static void assert_runs(const records *r, const mg_problem *problem, const double *weights,
                        int from) {
    mg_arena arena;
    const mg_column_groups groups = find_groups(problem, true, weights, &arena);
    assert_int_equal(groups.count, RUNS - from);
    for (int64_t g = 0; g < groups.count; g++) {
        assert_int_equal(groups.first[g], r->first[from + g]);
        assert_int_equal(groups.end[g], r->first[from + g] + r->size[from + g]);
    }
    mg_arena_free(&arena);
}

static void test_runs(void **state) {
    (void)state;
    const int64_t sizes[RUNS] = {7, 1, 12};
    records r = records_make(300, sizes, 1);
    mg_problem problem = {.x = records_x(&r), .count = r.rows};
    assert_runs(&r, &problem, NULL, 0);
    static const double others[] = {2, 0, -1, 1 + 1e-12, 1e300, (double)INFINITY};
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) { /* the first is none in row 0, */
        r.values[0] = others[k];
        assert_runs(&r, &problem, NULL, 1);
        r.weights[0] = 0; /* where that counts */
        assert_runs(&r, &problem, r.weights, 0);
    }
    r.values[0] = 1;
    double scale[64], shift[64];
    for (int64_t j = 0; j < r.columns; j++)
        scale[j] = 1 + (double)j, shift[j] = -0.25;
    problem.scale = scale;
    problem.shift = shift;
    assert_runs(&r, &problem, NULL, 0);
    mg_arena arena;
    mg_column_groups groups = find_groups(&problem, false, NULL, &arena); /* shifts are rounded */
    assert_int_equal(groups.count, 0);
    mg_arena_free(&arena);
    scale[3] = 0; /* a category that is told no more */
    assert_runs(&r, &problem, NULL, 1);
    records_free(&r);
}

/* The scores of v, without their mean if there is an intercept. */
static double largest_score(const records *r, const double *scale, bool intercept,
                            const double *v) {
    double most = 0, first = 0;
    for (int64_t i = 0; i < r->rows; i++) {
        double sum = 0;
        for (int64_t e = r->starts[i]; e < r->starts[i + 1]; e++)
            sum += scale[r->at[e]] * r->values[e] * v[r->at[e]];
        if (i == 0) first = sum;
        most = fmax(most, fabs(sum - (intercept ? first : 0)));
    }
    return most;
}

/* What is added is seen by no row; what is left has nothing of it; ranks count. */
static void test_directions(void **state) {
    (void)state;
    const int64_t sizes[RUNS] = {7, 3, 12};
    records r = records_make(300, sizes, 2);
    double scale[64], one[64], v[4 * 64], part[4 * 64], own[64];
    uint64_t seed = 3;
    for (int64_t j = 0; j < r.columns; j++)
        scale[j] = 0.5 + support_uniform(&seed), one[j] = 1;
    const mg_problem problem = {.x = records_x(&r), .count = r.rows, .scale = scale};
    for (int intercept = 0; intercept < 2; intercept++) {
        mg_arena arena;
        const mg_column_groups groups = find_groups(&problem, intercept, NULL, &arena);
        assert_int_equal(mg_column_groups_rank(&groups, one), intercept ? 3 : 2);
        for (int64_t k = 0; k < 4 * r.columns; k++)
            v[k] = support_normal(&seed), part[k] = 0;
        mg_column_groups_add(&groups, one, 1, v, 4, part);
        for (int l = 0; l < 4; l++) {
            double inner = 0, square = 0;
            for (int64_t j = 0; j < r.columns; j++) {
                own[j] = part[4 * j + l];
                square += own[j] * own[j];
                inner += own[j] * v[4 * j + l];
            }
            assert_true(square > 0.1 && fabs(inner - square) < 1e-12); /* orthogonal */
            assert_true(largest_score(&r, scale, intercept, own) < 1e-12);
        }
        mg_column_groups_add(&groups, one, -1, part, 4, part);
        for (int64_t k = 0; k < 4 * r.columns; k++)
            assert_true(fabs(part[k]) < 1e-12);
        for (int64_t j = 0; j < sizes[0]; j++) /* a run that is left out */
            one[j] = 0;
        assert_int_equal(mg_column_groups_rank(&groups, one), intercept ? 2 : 1);
        for (int64_t j = 0; j < sizes[0]; j++)
            one[j] = 1;
        mg_arena_free(&arena);
    }
    records_free(&r);
}

/* ---- Fits ------------------------------------------------------------------------------------ */

/* The answer of least norm, as a factor finds it, and its rank. */
static void check_against_factor(const records *r, const char *options, bool weighted) {
    char by_steps[80], by_factor[80];
    margin_data data = records_data(r, false);
    margin_report report = {0}, other = {0};
    if (weighted) data.weights = margin_values_f64(r->weights, r->rows);
    snprintf(by_steps, sizeof by_steps, "least-squares(solver=cg%s)", options);
    snprintf(by_factor, sizeof by_factor, "least-squares(solver=normal%s)", options);
    margin_model *model = fit_proven(context, by_steps, &data, &report);
    margin_model *direct = fit_proven(context, by_factor, &data, &other);
    assert_contains(report.reason, "solved by conjugate gradients");
    assert_contains(report.reason, "of all best weights these have the least norm");
    assert_true(margin_report_item_value(&report, "rank") ==
                margin_report_item_value(&other, "rank"));
    for (int64_t j = 0; j < r->columns; j++)
        assert_true(fabs(margin_model_weights(model, 0)[j] - margin_model_weights(direct, 0)[j]) <
                    1e-5);
    assert_true(fabs(report.objective - other.objective) <= 1e-11 * other.objective);
    assert_verified(context, model, &data);
    margin_model_free(model);
    margin_model_free(direct);
}

static void test_least_norm(void **state) {
    (void)state;
    const int64_t sizes[RUNS] = {20, 3, 11};
    records r = records_make(400, sizes, 4);
    for (int weighted = 0; weighted < 2; weighted++) {
        check_against_factor(&r, "", weighted);
        check_against_factor(&r, ", intercept=no", weighted);
    }
    records_free(&r);
}

/* More columns than verification makes a factor of: of either kind a bound is found anew, and a
 * model that was changed is not one of the data. */
static void check_many(const records *r, const char *spec, const char *word, bool classes) {
    const margin_data data = records_data(r, classes);
    margin_report report = {0};
    margin_model *model = fit_proven(context, spec, &data, &report);
    assert_contains(report.reason, word);
    assert_verified(context, model, &data);
    margin_context *one = support_context(NULL, 1);
    margin_model *again = fit_text(one, spec, &data, NULL);
    assert_same_model(model, again);
    margin_model_free(again);
    margin_context_free(one);
    r->values[1] += 1;
    margin_report found = {0};
    assert_true(verify_model(context, model, &data, &found) != MARGIN_OK);
    r->values[1] -= 1;
    margin_model_free(model);
}

static void test_many_columns(void **state) {
    SUPPORT_LARGE_CASE();
    (void)state;
    const int64_t sizes[RUNS] = {4200, 1, 9};
    records r = records_make(20000, sizes, 5);
    check_many(&r, "least-squares", "the columns have rank 4209 of 4212", false);
    check_many(&r, "logistic(C=inf)", "wrong for one random draw", true);
    check_many(&r, "svm(loss=squared-hinge, C=inf)", "wrong for one random draw", true);
    records_free(&r);
}

/* What depends on other columns, too, is not claimed to be all there is to it. */
static void test_other_dependences(void **state) {
    (void)state;
    const int64_t sizes[RUNS] = {5, 1, 4};
    records r = records_make(200, sizes, 8);
    for (int64_t i = 0; i < r.rows; i++) /* one number twice */
        r.values[r.starts[i] + 2] = r.values[r.starts[i] + 1];
    const margin_data data = records_data(&r, false);
    margin_report report = {0};
    margin_model *model = fit_text(context, "least-squares(solver=cg)", &data, &report);
    assert_int_equal(report.status, MARGIN_STOPPED_STALLED);
    assert_true(isnan(margin_report_item_value(&report, "rank")));
    margin_report found = {0};
    assert_int_equal(verify_model(context, model, &data, &found), MARGIN_OK);
    margin_model_free(model);
    records_free(&r);
}

/* Steps that end exactly, before anybody asks whether they are near: counts are powers of 2, so
 * that nothing is rounded. Another target of the same objective is not the model's. */
static void test_exact_steps(void **state) {
    (void)state;
    enum { VALUES = 8192, EACH = 4, ALL = VALUES * EACH };
    int64_t *starts = malloc((ALL + 1) * sizeof *starts);
    int32_t *at = malloc(ALL * sizeof *at);
    double *ones = malloc(ALL * sizeof *ones), *y = malloc(ALL * sizeof *y);
    for (int64_t i = 0; i < ALL; i++) {
        starts[i] = i;
        at[i] = (int32_t)(i % VALUES);
        ones[i] = 1;
        y[i] = at[i] % 8 + (i / VALUES % 2 ? 0.5 : -0.5);
    }
    starts[ALL] = ALL;
    const margin_data data = {.x = margin_csr_f64(ones, at, starts, ALL, VALUES),
                              .y = margin_values_f64(y, ALL)};
    margin_report report = {0}, found = {0};
    margin_model *model = fit_proven(context, "least-squares(intercept=no)", &data, &report);
    assert_verified(context, model, &data);
    for (int64_t i = 0; i < ALL; i++) /* all errors of a value to one side: as large, not least */
        y[i] = at[i] % 8 + (at[i] % 2 ? 0.5 : -0.5);
    assert_true(verify_model(context, model, &data, &found) != MARGIN_OK);
    margin_model_free(model);
    free(starts);
    free(at);
    free(ones);
    free(y);
}

/* The first column whose rows are all of one class, counted from 1. */
static int32_t column_of_one_class(const records *r) {
    for (int32_t column = 0;; column++) {
        int rows[2] = {0, 0};
        for (int64_t i = 0; i < r->rows; i++)
            for (int64_t e = r->starts[i]; e < r->starts[i + 1]; e++)
                rows[r->labels[i] > 0] += r->at[e] == column;
        if ((rows[0] == 0) != (rows[1] == 0)) return column + 1;
    }
}

/* All rows of a category are of one class: its weight would grow for ever, and that is said, as
 * soon as steps gain little. */
static void test_recession(void **state) {
    (void)state;
    static const char *const specs[] = {"logistic(C=inf)", "softmax(C=inf)", "exponential(C=inf)"};
    const int64_t sizes[RUNS] = {4200, 6, 9};
    records r = records_make(9000, sizes, 6);
    for (int64_t i = 0; i < r.rows; i++)
        if (r.at[r.starts[i]] == 17) r.labels[i] = 1;
    const margin_data data = records_data(&r, true);
    char column[64];
    snprintf(column, sizeof column, "optimum: column %d of", column_of_one_class(&r));
    for (int k = 0; k < 3; k++) {
        margin_report report = {0};
        margin_model_free(fit_text(context, specs[k], &data, &report));
        assert_int_equal(report.status, MARGIN_STOPPED_STALLED);
        assert_contains(report.reason, column);
        assert_true(report.iterations < 60);
    }
    records_free(&r);
}

static void test_no_memory(void **state) {
    (void)state;
    const int64_t sizes[RUNS] = {5, 3, 4};
    records r = records_make(60, sizes, 7);
    fit_attempt attempts[] = {{"least-squares(solver=cg)", records_data(&r, false)},
                              {"logistic(C=inf)", records_data(&r, true)}};
    for (int k = 0; k < 2; k++)
        assert_true(support_fail_each_allocation(2, attempt_fit, &attempts[k]) > 10);
    records_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_directions),
        cmocka_unit_test(test_least_norm),
        cmocka_unit_test(test_many_columns),
        cmocka_unit_test(test_other_dependences),
        cmocka_unit_test(test_exact_steps),
        cmocka_unit_test(test_recession),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, support_open_context, support_close_context);
}
