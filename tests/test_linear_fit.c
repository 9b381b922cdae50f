/* From options to objective, solver, report and proof: what mg_linear_fit and mg_linear_verify do
 * for every linear learner. */
#include "learn/exact/exact_columns.h"
#include "linear_cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double item(const linear_fitted *f, const char *name) {
    return margin_report_item_value(&f->report, name);
}

/* ---- Penalty --------------------------------------------------------------------------------- */

/* C, alpha and lambda of the same strength: the same weights, formulas and objectives of their own.
 */
static void test_three_spellings(void **state) {
    enum { ROWS = 80 };
    (void)state;
    linear_case *c = linear_case_make(ROWS, 3, 0.3, 1, 1);
    double m = 0;
    char lambda[60];
    c->problem.weight = c->weight;
    for (int i = 0; i < ROWS; i++)
        m += c->weight[i];
    snprintf(lambda, sizeof lambda, "lambda=%.17g, tol=1e-13", 0.125 / m);
    const char *const options[3] = {"C=4, tol=1e-13", "alpha=0.125, tol=1e-13", lambda};
    const char *const formulas[3] = {"C sum log(1+exp(-y f)) + |w|^2/2",
                                     "sum log(1+exp(-y f)) + alpha |w|^2",
                                     "mean log(1+exp(-y f)) + lambda |w|^2"};
    const oracle_problem objectives[3] = {{c, MG_LOSS_LOGISTIC, 4, 1, true},
                                          {c, MG_LOSS_LOGISTIC, 1, 0.25, true},
                                          {c, MG_LOSS_LOGISTIC, 1 / m, 0.25 / m, true}};
    linear_fitted fits[3];
    for (int k = 0; k < 3; k++) {
        fits[k] = linear_fit(&c->problem, MG_LOSS_LOGISTIC, options[k]);
        const linear_fitted *f = &fits[k];
        assert_string_equal(f->report.formula, formulas[k]);
        assert_close(item(f, "C"), 4, 1e-14);
        assert_close(item(f, "alpha"), 0.125, 1e-14);
        assert_true(fabs(item(f, "lambda") - 0.125 / m) < 1e-16);
        assert_close(f->report.objective,
                     oracle_objective(&objectives[k], weights_of(f), intercept_of(f)), 1e-13);
        for (int j = 0; j < 3; j++)
            assert_close(weights_of(f)[j], weights_of(&fits[0])[j], 1e-6);
    }
    for (int k = 0; k < 3; k++)
        linear_fitted_free(&fits[k]);
    linear_case_free(c);
}

static void test_no_penalty_is_said(void **state) {
    const char *const options[] = {"C=inf", "alpha=0", "lambda=0"};
    (void)state;
    linear_case *c = linear_case_make(80, 2, 0.3, 2, 2);
    for (int k = 0; k < 3; k++) {
        linear_fitted f = linear_fit(&c->problem, MG_LOSS_LOGISTIC, options[k]);
        assert_string_equal(f.report.formula,
                            k == 2 ? "mean log(1+exp(-y f))" : "sum log(1+exp(-y f))");
        assert_true(item(&f, "C") == (double)INFINITY);
        assert_true(item(&f, "alpha") == 0 && item(&f, "lambda") == 0);
        linear_fitted_free(&f);
    }
    linear_case_free(c);
}

/* ---- Solvers --------------------------------------------------------------------------------- */

static void test_solver_is_named(void **state) {
    (void)state;
    linear_case *c = linear_case_make(80, 2, 0.3, 2, 3);
    linear_fitted f = linear_fit(&c->problem, MG_LOSS_LOGISTIC, "");
    assert_contains(f.report.reason, "solver lbfgs, as the logistic loss is smooth");
    linear_fitted_free(&f);
    f = linear_fit(&c->problem, MG_LOSS_SQUARED_HINGE, "solver=newton");
    assert_contains(f.report.reason, "(solver newton)");
    assert_string_equal(f.report.iteration_name, "Newton steps");
    linear_fitted_free(&f);
    linear_case_free(c);
}

/* By price, which the sizes alone settle; the reason has both. */
static void test_solver_by_price(void **state) {
    static const struct {
        int64_t rows, columns;
        mg_loss_kind loss;
        const char *reason;
    } cases[] = {
        {200, 100, MG_LOSS_HINGE, "solver ssnal, as rows are many more than columns: about"},
        {60, 90, MG_LOSS_HINGE, "solver dual_cd, as columns are as many as rows, or more"},
        {200, 220, MG_LOSS_SQUARED_HINGE, "s by estimate, lbfgs 0.00"},
        {200, 220, MG_LOSS_LOGISTIC, "solver lbfgs, as the logistic loss is smooth"},
        {30, 80, MG_LOSS_LOGISTIC, "solver dual_cd, as columns are twice as many"}};
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        linear_case *c = linear_case_make(cases[k].rows, cases[k].columns, 0.3, 2, 5);
        linear_fitted f = linear_fit(&c->problem, cases[k].loss, "C=0.1");
        assert_int_equal(f.status, MARGIN_OK);
        assert_contains(f.report.reason, cases[k].reason);
        linear_fitted_free(&f);
        linear_case_free(c);
    }
}

static void test_solver_table(void **state) {
    const char *const names[] = {"lbfgs", "newton"};
    (void)state;
    assert_null(mg_linear_solver_named("simplex"));
    assert_null(mg_linear_solver_named(""));
    linear_case *c = linear_case_make(20, 2, 0.3, 2, 4);
    margin_context *context = support_context(NULL, 1);
    margin_error error = {0};
    mg_design design;
    assert_int_equal(mg_design_create(context, &c->problem, &design, &error), MARGIN_OK);
    for (int k = 0; k < 2; k++) {
        const mg_linear_solver *solver = mg_linear_solver_named(names[k]);
        mg_objective objective = {.design = &design, .loss = mg_loss_get(MG_LOSS_HINGE)};
        char why[200] = "";
        assert_string_equal(solver->name, names[k]);
        assert_true(strlen(solver->step_name) < 24);
        assert_false(solver->can(&objective, why));
        assert_contains(why, "the hinge loss has corners");
        objective.loss = mg_loss_get(MG_LOSS_LOGISTIC);
        assert_true(solver->can(&objective, why));
        objective.penalty.kappa = 1;
        assert_false(solver->can(&objective, why));
        assert_contains(why, "|w|_1 has corners");
    }
    mg_design_free(&design);
    margin_context_free(context);
    linear_case_free(c);
}

static void test_impossible_solver_refused(void **state) {
    (void)state;
    linear_case *c = linear_case_make(20, 2, 0.3, 2, 5);
    margin_context *context = support_context(NULL, 1);
    linear_fitted f = linear_fit_with(context, &c->problem, MG_LOSS_HINGE, "solver=newton", NULL);
    assert_int_equal(f.status, MARGIN_ERROR_SPEC);
    assert_contains(f.error.text, "solver=newton cannot minimise this");
    assert_contains(f.error.text, "solver=auto");
    margin_context_free(context);
    linear_case_free(c);
}

static void test_start_weights_counted(void **state) {
    (void)state;
    linear_case *c = linear_case_make(20, 3, 0.3, 2, 6);
    margin_context *context = support_context(NULL, 1);
    linear_fitted f =
        linear_fit_with(context, &c->problem, MG_LOSS_LOGISTIC, "start_weights=1 2", NULL);
    assert_int_equal(f.status, MARGIN_ERROR_SPEC);
    assert_contains(f.error.text, "start_weights has 2 numbers; the learner sees 3 columns");
    margin_context_free(context);
    linear_case_free(c);
}

/* ---- Verification ---------------------------------------------------------------------------- */

static const mg_loss_kind losses[] = {MG_LOSS_LOGISTIC, MG_LOSS_EXPONENTIAL, MG_LOSS_SQUARED_HINGE,
                                      MG_LOSS_SQUARED};

/* The same numbers by other code: near the optimum and far from it, weighted, without intercept,
 * without penalty, with columns that are scaled and shifted on the way. */
static void test_verified(void **state) {
    const char *const options[] = {"",
                                   "max_iter=1, tol=1e-12, solver=newton",
                                   "intercept=no, C=30",
                                   "alpha=2, max_iter=2, tol=1e-12",
                                   "lambda=0.01",
                                   "C=inf, tol=1e-9"};
    const double scale[4] = {2, -0.5, 1, 3}, shift[4] = {1, 0, -3, 0.5};
    (void)state;
    for (int l = 0; l < MG_LENGTH(losses); l++)
        for (int k = 0; k < MG_LENGTH(options); k++)
            for (int affine = 0; affine < 2; affine++) {
                linear_case *c = linear_case_make(150, 4, 0.4, 1, 10);
                c->problem.weight = c->weight;
                c->problem.scale = affine ? scale : NULL;
                c->problem.shift = affine ? shift : NULL;
                linear_fitted f = linear_fit(&c->problem, losses[l], options[k]);
                linear_fitted again = linear_verify(&c->problem, losses[l], options[k], f.h);
                assert_close(again.report.objective, f.report.objective, 1e-12);
                if (strstr(options[k], "inf")) /* another bound */
                    assert_true(again.report.gap <= 1e-9 && f.report.gap <= 1e-9);
                else
                    assert_true(fabs(again.report.gap - f.report.gap) <=
                                1e-7 * f.report.gap + 1e-13 * fmax(1, f.report.objective));
                assert_true(item(&again, "C") == item(&f, "C"));
                assert_true(item(&again, "lambda") == item(&f, "lambda"));
                linear_fitted_free(&f);
                linear_case_free(c);
            }
}

static void test_changes_are_found(void **state) {
    (void)state;
    linear_case *c = linear_case_make(150, 4, 0.4, 1, 11);
    linear_fitted f = linear_fit(&c->problem, MG_LOSS_LOGISTIC, "tol=1e-10");
    double *w = (double *)weights_of(&f), *b = (double *)f.h->view.linear.intercept;
    w[2] += 1e-3;
    linear_fitted other = linear_verify(&c->problem, MG_LOSS_LOGISTIC, "tol=1e-10", f.h);
    assert_true(other.report.gap > 1e-9);
    assert_true(other.report.objective > f.report.objective * (1 + 1e-9));
    w[2] -= 1e-3;
    *b += 1e-2;
    other = linear_verify(&c->problem, MG_LOSS_LOGISTIC, "tol=1e-10", f.h);
    assert_true(other.report.gap > 1e-9);
    *b -= 1e-2;
    other = linear_verify(&c->problem, MG_LOSS_LOGISTIC, "C=1.1, tol=1e-10", f.h);
    assert_true(other.report.gap > 1e-6);
    linear_fitted_free(&f);
    linear_case_free(c);
}

/* Sparse rows verify as dense ones. */
static void test_sparse_verified(void **state) {
    enum { ROWS = 60, COLUMNS = 3 };
    double values[ROWS * COLUMNS];
    int32_t columns[ROWS * COLUMNS];
    int64_t starts[ROWS + 1] = {0}, filled = 0;
    (void)state;
    linear_case *c = linear_case_make(ROWS, COLUMNS, 0, 1, 12);
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++) {
            if ((i + j) % 3 == 0) c->x[i * COLUMNS + j] = 0;
            if (c->x[i * COLUMNS + j] == 0) continue;
            values[filled] = c->x[i * COLUMNS + j];
            columns[filled++] = j;
        }
        starts[i + 1] = filled;
    }
    mg_problem sparse = c->problem;
    sparse.x = margin_csr_f64(values, columns, starts, ROWS, COLUMNS);
    linear_fitted f = linear_fit(&c->problem, MG_LOSS_LOGISTIC, "");
    linear_fitted a = linear_verify(&c->problem, MG_LOSS_LOGISTIC, "", f.h);
    linear_fitted b = linear_verify(&sparse, MG_LOSS_LOGISTIC, "", f.h);
    assert_true(a.report.objective == b.report.objective && a.report.gap == b.report.gap);
    linear_fitted_free(&f);
    linear_case_free(c);
}

static margin_status verify_body(margin_context *context, void *user, margin_error *error) {
    const char *options = user;
    linear_case *c = linear_case_make(50, 3, 0.3, 1, 13);
    linear_fitted f = linear_fit_with(context, &c->problem, MG_LOSS_LOGISTIC, options, NULL);
    margin_status status = f.status;
    *error = f.error;
    if (status >= 0) {
        const margin_option table[] = {MG_OPTION_C("1")};
        const margin_component info = {.options = table, .option_count = 1};
        const mg_option_value value = {
            .given = true, .number = strcmp(options, "C=inf") == 0 ? (double)INFINITY : 1.0};
        mg_fit fit = {
            .context = context, .problem = &c->problem, .options = &value, .error = error};
        mg_report_init(&fit.report);
        const mg_linear_options o = mg_linear_options_of(&fit, &info, 0.0);
        status = mg_linear_verify(&fit, &o, MG_LOSS_LOGISTIC, f.h);
    }
    linear_fitted_free(&f);
    linear_case_free(c);
    return status;
}

static void test_allocations(void **state) {
    (void)state;
    assert_true(support_fail_each_allocation(1, verify_body, (void *)"") > 10);
    assert_true(support_fail_each_allocation(1, verify_body, (void *)"C=inf") > 10);
}

static void test_verification_cancelled(void **state) {
    (void)state;
    linear_case *c = linear_case_make(50, 3, 0.3, 1, 14);
    linear_fitted f = linear_fit(&c->problem, MG_LOSS_LOGISTIC, "");
    margin_context *context = support_context(NULL, 1);
    margin_error error = {0};
    mg_fit fit = {.context = context, .problem = &c->problem, .error = &error};
    const margin_component info = {0};
    const mg_linear_options o = mg_linear_options_of(&fit, &info, 0.0);
    margin_context_cancel(context);
    assert_int_equal(mg_linear_verify(&fit, &o, MG_LOSS_LOGISTIC, f.h), MARGIN_ERROR_CANCELLED);
    margin_context_free(context);
    linear_fitted_free(&f);
    linear_case_free(c);
}

/* Of a changed model file; found by fuzzing. */
static void test_infinite_shift(void **state) {
    (void)state;
    linear_case *c = linear_case_make(20, 3, 0.3, 1, 15);
    margin_context *context = support_context(NULL, 1);
    const double shift[3] = {0, INFINITY, -INFINITY};
    bool independent[4];
    int64_t rank;
    margin_error error;
    c->problem.shift = shift;
    assert_int_equal(mg_exact_columns(context, &c->problem, true, NULL, independent, &rank, &error),
                     MARGIN_OK);
    assert_int_equal(rank, 4);
    margin_context_free(context);
    linear_case_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_three_spellings),
        cmocka_unit_test(test_no_penalty_is_said),
        cmocka_unit_test(test_solver_is_named),
        cmocka_unit_test(test_solver_by_price),
        cmocka_unit_test(test_solver_table),
        cmocka_unit_test(test_impossible_solver_refused),
        cmocka_unit_test(test_start_weights_counted),
        cmocka_unit_test(test_verified),
        cmocka_unit_test(test_changes_are_found),
        cmocka_unit_test(test_sparse_verified),
        cmocka_unit_test(test_allocations),
        cmocka_unit_test(test_verification_cancelled),
        cmocka_unit_test(test_infinite_shift),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
