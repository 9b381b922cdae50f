/* Dual coordinate descent against optima found by other means, its proofs computed again from the
 * dual variables in plain loops, values of LIBLINEAR on real sparse sets, layouts, threads, weights
 * and what must not happen. */
#include "linear_cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const mg_loss_kind losses[] = {MG_LOSS_LOGISTIC, MG_LOSS_HINGE, MG_LOSS_SQUARED_HINGE};

/* ---- Sparse copies --------------------------------------------------------------------------- */

typedef struct sparse_copy {
    void *values, *columns;
    int64_t *starts;
    mg_problem problem;
} sparse_copy;

/* Most numbers of a case become 0, the others what f32 can hold; the last rows are empty, column 1
 * is never used. */
static linear_case *thin_case(int64_t rows, int64_t columns, int64_t empty, uint64_t seed) {
    linear_case *c = linear_case_make(rows, columns, 0, 1, seed);
    for (int64_t k = 0; k < rows * columns; k++) {
        const bool kept = support_uniform(&seed) < 0.4 && k % columns != 1;
        c->x[k] = kept && k / columns < rows - empty ? (double)(float)c->x[k] : 0.0;
    }
    return c;
}

static sparse_copy copy_sparse(const linear_case *c, margin_type value, margin_type index) {
    sparse_copy copy = {.problem = c->problem};
    const int64_t numbers = c->rows * c->columns;
    int64_t at = 0;
    copy.values = calloc((size_t)numbers + 1, sizeof(double));
    copy.columns = calloc((size_t)numbers + 1, sizeof(int64_t));
    copy.starts = calloc((size_t)c->rows + 1, sizeof(int64_t));
    for (int64_t k = 0; k < numbers; k++) {
        if (k % c->columns == 0) copy.starts[k / c->columns] = at;
        if (c->x[k] == 0.0) continue;
        if (value == MARGIN_F32)
            ((float *)copy.values)[at] = (float)c->x[k];
        else
            ((double *)copy.values)[at] = c->x[k];
        if (index == MARGIN_I32)
            ((int32_t *)copy.columns)[at++] = (int32_t)(k % c->columns);
        else
            ((int64_t *)copy.columns)[at++] = k % c->columns;
    }
    copy.starts[c->rows] = at;
    copy.problem.x = (margin_matrix){.rows = c->rows,
                                     .columns = c->columns,
                                     .values = copy.values,
                                     .value_type = value,
                                     .row_starts = copy.starts,
                                     .column_indices = copy.columns,
                                     .index_type = index,
                                     .start_type = MARGIN_I64};
    return copy;
}

static void free_sparse(sparse_copy *copy) {
    free(copy->values);
    free(copy->columns);
    free(copy->starts);
}

/* ---- Proofs by hand -------------------------------------------------------------------------- */

/* P - D from the dual variables that the hinge's model carries; fails if they are not feasible. */
static double hinge_gap(const oracle_problem *p, const mg_hypothesis *h) {
    const linear_case *c = p->c;
    double *v = calloc((size_t)c->columns, sizeof *v);
    double dual = 0, sum = 0, total = 0;
    assert_non_null(h->dual_starts);
    for (int64_t k = 0; k < h->dual_starts[1]; k++) {
        const int64_t i = h->dual_rows[k];
        const double alpha = h->dual_coefficients[k];
        const double most = p->factor * (c->problem.weight ? c->problem.weight[i] : 1);
        assert_true(alpha > 0 && alpha <= most * (1 + 1e-12));
        assert_true(h->dual_signs[k] == c->sign[i]);
        dual += alpha;
        total += alpha;
        sum += alpha * c->sign[i];
        for (int64_t j = 0; j < c->columns; j++)
            v[j] += alpha * c->sign[i] * c->x[i * c->columns + j];
    }
    if (p->intercept) assert_true(fabs(sum) <= 1e-11 * total);
    for (int64_t j = 0; j < c->columns; j++)
        dual -= v[j] * v[j] / (2 * p->rho);
    free(v);
    double primal = 0;
    for (int64_t i = 0; i < c->rows; i++) {
        double f = h->view.linear.intercept[0];
        for (int64_t j = 0; j < c->columns; j++)
            f += c->x[i * c->columns + j] * h->view.linear.weights[j];
        primal += p->factor * (c->problem.weight ? c->problem.weight[i] : 1) *
                  fmax(0, 1 - c->sign[i] * f);
    }
    for (int64_t j = 0; j < c->columns; j++)
        primal += p->rho / 2 * h->view.linear.weights[j] * h->view.linear.weights[j];
    return primal - dual;
}

static void assert_optimal(const oracle_problem *p, const linear_fitted *f, double tolerance) {
    double w[ORACLE_COLUMNS], b;
    assert_int_equal(f->status, MARGIN_OK);
    assert_true(f->report.gap <= tolerance);
    if (!p->intercept) assert_true(intercept_of(f) == 0);
    const double size = fmax(1, fabs(f->report.objective));
    if (p->loss == MG_LOSS_HINGE) {
        assert_true(hinge_gap(p, f->h) <= tolerance * size + 1e-11 * size);
        return;
    }
    const double best = oracle_solve(p, w, &b);
    const double value = oracle_objective(p, weights_of(f), intercept_of(f));
    assert_close(f->report.objective, value, 1e-12);
    assert_true(value >= best - 1e-12 * size && value - best <= tolerance * size + 1e-12 * size);
    assert_true(oracle_gap(p, weights_of(f), intercept_of(f)) <= tolerance * size + 1e-12 * size);
}

/* ---- Optimum --------------------------------------------------------------------------------- */

static void test_optimum(void **state) {
    const double Cs[] = {1e-2, 1, 30};
    (void)state;
    for (int l = 0; l < MG_LENGTH(losses); l++)
        for (int k = 0; k < MG_LENGTH(Cs); k++)
            for (int variant = 0; variant < 8; variant++) {
                const bool intercept = variant & 1, wide = variant & 2, sparse = variant & 4;
                linear_case *c = thin_case(wide ? 30 : 60, wide ? 60 : 12, 2, 5 + (uint64_t)k);
                sparse_copy copy = copy_sparse(c, MARGIN_F64, MARGIN_I32);
                char options[200];
                if (k == 1) c->problem.weight = copy.problem.weight = c->weight;
                snprintf(options, sizeof options, "C=%g, tol=1e-7, solver=dual_cd, intercept=%s",
                         Cs[k], intercept ? "yes" : "no");
                linear_fitted f =
                    linear_fit(sparse ? &copy.problem : &c->problem, losses[l], options);
                const oracle_problem p = {c, losses[l], Cs[k], 1, intercept};
                assert_optimal(&p, &f, 1e-7);
                assert_true(weights_of(&f)[1] == 0);
                linear_fitted_free(&f);
                free_sparse(&copy);
                linear_case_free(c);
            }
}

/* The other spellings of the penalty: rho is not 1. */
static void test_spellings(void **state) {
    (void)state;
    for (int l = 0; l < MG_LENGTH(losses); l++) {
        linear_case *c = thin_case(60, 9, 1, 8);
        linear_fitted f = linear_fit(&c->problem, losses[l], "alpha=0.2, tol=1e-7, solver=dual_cd");
        const oracle_problem alpha = {c, losses[l], 1, 0.4, true};
        assert_optimal(&alpha, &f, 1e-7);
        linear_fitted_free(&f);
        f = linear_fit(&c->problem, losses[l], "lambda=0.01, tol=1e-7, solver=dual_cd");
        const oracle_problem lambda = {c, losses[l], 1.0 / 60, 0.02, true};
        assert_optimal(&lambda, &f, 1e-7);
        linear_fitted_free(&f);
        linear_case_free(c);
    }
}

/* scale and shift of the problem mean what they would do to the data. */
static void test_affine_problem(void **state) {
    const double scale[5] = {2, -0.5, 4, 0, 0.25}, shift[5] = {1, -2, 0, 3, 0.5};
    (void)state;
    for (int l = 0; l < MG_LENGTH(losses); l++)
        for (int sparse = 0; sparse < 2; sparse++)
            for (int intercept = 0; intercept < 2; intercept++) {
                linear_case *c = thin_case(80, 5, 0, 9);
                sparse_copy copy = copy_sparse(c, MARGIN_F64, MARGIN_I32);
                mg_problem problem = sparse ? copy.problem : c->problem;
                problem.scale = scale;
                problem.shift = intercept ? shift : NULL;
                linear_fitted f = linear_fit(&problem, losses[l],
                                             intercept ? "tol=1e-7, solver=dual_cd"
                                                       : "tol=1e-7, solver=dual_cd, intercept=no");
                linear_case_scale(c, scale, problem.shift);
                const oracle_problem p = {c, losses[l], 1, 1, intercept};
                assert_optimal(&p, &f, 1e-7);
                linear_fitted_free(&f);
                free_sparse(&copy);
                linear_case_free(c);
            }
}

/* Columns are twice as many as rows: all dual variables are moved at once, which takes few reads;
 * with weights of 0 and columns that are shifted, too. */
static void test_wide(void **state) {
    double scale[60], shift[60], weight[30];
    (void)state;
    for (int j = 0; j < 60; j++) {
        scale[j] = j % 7 == 3 ? 0.0 : 0.5 + 0.1 * j;
        shift[j] = j % 5;
        weight[j / 2] = j % 8 / 2;
    }
    for (int affine = 0; affine < 2; affine++)
        for (int weighted = 0; weighted < 2; weighted++) {
            linear_case *c = linear_case_make(30, 60, 0, 2, 31);
            if (weighted) c->problem.weight = memcpy(c->weight, weight, sizeof weight);
            mg_problem problem = c->problem;
            if (affine) {
                problem.scale = scale;
                problem.shift = shift;
            }
            linear_fitted f =
                linear_fit(&problem, MG_LOSS_LOGISTIC, "C=0.1, tol=1e-7, solver=dual_cd");
            linear_assert_threads(&problem, MG_LOSS_LOGISTIC, "C=0.1, tol=1e-7, solver=dual_cd");
            if (affine) linear_case_scale(c, scale, shift);
            const oracle_problem p = {c, MG_LOSS_LOGISTIC, 0.1, 1, true};
            assert_optimal(&p, &f, 1e-7);
            if (!affine) assert_true(f.report.iterations <= 9);
            linear_fitted_free(&f);
            linear_case_free(c);
        }
}

/* ---- Extremes -------------------------------------------------------------------------------- */

/* Next to no loss: w is not just 0, but C times the sum of what pulls at it. */
static void test_tiny_C(void **state) {
    (void)state;
    for (int l = 0; l < MG_LENGTH(losses); l++) {
        linear_case *c = thin_case(60, 6, 3, 12);
        linear_fitted f = linear_fit(&c->problem, losses[l], "C=1e-10, solver=dual_cd");
        assert_int_equal(f.status, MARGIN_OK);
        if (losses[l] != MG_LOSS_HINGE) {
            const oracle_problem p = {c, losses[l], 1e-10, 1, true};
            double w[ORACLE_COLUMNS], b;
            oracle_solve(&p, w, &b);
            for (int j = 0; j < 6; j++)
                assert_true(fabs(weights_of(&f)[j] - w[j]) <= 0.05 * fabs(w[j]) + 1e-12);
            assert_close(intercept_of(&f), b, 1e-6);
        } else {
            const oracle_problem p = {c, losses[l], 1e-10, 1, true};
            double square = 0;
            for (int j = 0; j < 6; j++)
                square += weights_of(&f)[j] * weights_of(&f)[j];
            assert_true(square > 0);
            assert_true(hinge_gap(&p, f.h) <= 0.02 * square);
        }
        linear_fitted_free(&f);
        linear_case_free(c);
    }
}

/* Separable classes and a loss that nothing outweighs: the widest margin. */
static void test_huge_C_separable(void **state) {
    (void)state;
    for (int l = 0; l < MG_LENGTH(losses); l++) {
        linear_case *c = linear_case_make(25, 40, 0, 0, 14);
        linear_fitted f = linear_fit(&c->problem, losses[l], "C=1e10, tol=1e-5, solver=dual_cd");
        const oracle_problem p = {c, losses[l], 1e10, 1, true};
        assert_int_equal(f.status, MARGIN_OK);
        assert_true(f.report.gap <= 1e-5);
        if (losses[l] == MG_LOSS_HINGE) {
            assert_true(hinge_gap(&p, f.h) <= 1e-5 * fmax(1, f.report.objective));
            for (int64_t i = 0; i < c->rows; i++) {
                double z = intercept_of(&f);
                for (int j = 0; j < 40; j++)
                    z += c->x[i * 40 + j] * weights_of(&f)[j];
                assert_true(c->sign[i] * z >= 1 - 1e-9);
            }
        }
        linear_fitted_free(&f);
        linear_case_free(c);
    }
}

/* The same without a margin: another method takes over. */
static void test_huge_C_mixed(void **state) {
    (void)state;
    for (int l = 0; l < MG_LENGTH(losses); l++) {
        linear_case *c = linear_case_make(40, 3, 0, 3, 15);
        linear_fitted f =
            linear_fit(&c->problem, losses[l], "C=1e10, solver=dual_cd, max_iter=20000");
        const oracle_problem p = {c, losses[l], 1e10, 1, true};
        assert_optimal(&p, &f, 1e-6);
        linear_fitted_free(&f);
        linear_case_free(c);
    }
}

static void test_one_row(void **state) {
    double x[3] = {3, 0, 4};
    const int8_t sign[1] = {1};
    (void)state;
    for (int l = 0; l < MG_LENGTH(losses); l++)
        for (int intercept = 0; intercept < 2; intercept++) {
            const mg_problem problem = {.kind = MG_TWO_CLASS,
                                        .x = margin_dense_f64(x, 1, 3, 3),
                                        .count = 1,
                                        .classes = 2,
                                        .sign = sign};
            linear_fitted f = linear_fit(&problem, losses[l],
                                         intercept ? "solver=dual_cd, C=0.1"
                                                   : "solver=dual_cd, C=0.1, intercept=no");
            assert_int_equal(f.status, MARGIN_OK);
            if (!intercept && losses[l] != MG_LOSS_LOGISTIC) {
                /* hinge: alpha = 1/25 of 0.1; squared hinge: alpha = 1/(25 + 5) */
                const double alpha = losses[l] == MG_LOSS_HINGE ? 0.04 : 1.0 / 30;
                assert_close(weights_of(&f)[0], 3 * alpha, 1e-3);
                assert_close(weights_of(&f)[2], 4 * alpha, 1e-3);
            }
            linear_fitted_free(&f);
        }
}

/* Rows without numbers and a matrix without any: only the intercept is left. */
static void test_nothing_stored(void **state) {
    (void)state;
    for (int l = 0; l < MG_LENGTH(losses); l++)
        for (int intercept = 0; intercept < 2; intercept++) {
            linear_case *c = thin_case(20, 4, 20, 3);
            sparse_copy copy = copy_sparse(c, MARGIN_F32, MARGIN_I64);
            linear_fitted f =
                linear_fit(&copy.problem, losses[l],
                           intercept ? "solver=dual_cd" : "solver=dual_cd, intercept=no");
            assert_int_equal(f.status, MARGIN_OK);
            for (int j = 0; j < 4; j++)
                assert_true(weights_of(&f)[j] == 0);
            linear_fitted_free(&f);
            free_sparse(&copy);
            linear_case_free(c);
        }
}

/* ---- What must not matter -------------------------------------------------------------------- */

/* f32 or f64, 32 or 64 bit indices: the same numbers, so the same bits. */
static void test_layouts(void **state) {
    const margin_type values[] = {MARGIN_F64, MARGIN_F32}, indices[] = {MARGIN_I32, MARGIN_I64};
    const double scale[14] = {1, 2, 3, 4, 5, 6, 7, 1, 2, 3, 4, 5, 6, 7};
    (void)state;
    for (int l = 0; l < MG_LENGTH(losses); l++)
        for (int scaled = 0; scaled < 2; scaled++) {
            linear_case *c = thin_case(70, 14, 2, 6);
            double first[15] = {0};
            for (int k = 0; k < 4; k++) {
                sparse_copy copy = copy_sparse(c, values[k & 1], indices[k >> 1]);
                if (scaled) copy.problem.scale = scale;
                linear_fitted f = linear_fit(&copy.problem, losses[l], "solver=dual_cd");
                if (k == 0) {
                    memcpy(first, weights_of(&f), sizeof(double) * 14);
                    first[14] = intercept_of(&f);
                }
                assert_memory_equal(first, weights_of(&f), sizeof(double) * 14);
                assert_true(first[14] == intercept_of(&f));
                linear_fitted_free(&f);
                free_sparse(&copy);
            }
            linear_case_free(c);
        }
}

static void test_threads(void **state) {
    enum { COLUMNS = 40 };
    (void)state;
    for (int l = 0; l < MG_LENGTH(losses); l++) {
        linear_case *c = thin_case(1200, COLUMNS, 5, 16);
        sparse_copy copy = copy_sparse(c, MARGIN_F32, MARGIN_I32);
        double first[COLUMNS + 1] = {0};
        for (int threads = 1; threads <= 4; threads++) {
            margin_context *context = support_context(NULL, threads);
            linear_fitted f = linear_fit_with(context, &copy.problem, losses[l],
                                              "solver=dual_cd, tol=1e-3", NULL);
            assert_int_equal(f.status, MARGIN_OK);
            if (threads == 1) {
                memcpy(first, weights_of(&f), sizeof(double) * COLUMNS);
                first[COLUMNS] = intercept_of(&f);
            }
            assert_memory_equal(first, weights_of(&f), sizeof(double) * COLUMNS);
            assert_true(first[COLUMNS] == intercept_of(&f));
            linear_fitted_free(&f);
            margin_context_free(context);
        }
        free_sparse(&copy);
        linear_case_free(c);
    }
}

/* Weights that are whole numbers against copies of the rows, and rows in another order through an
 * index: the same optimum. */
static void test_weights_and_order(void **state) {
    enum { ROWS = 50, COLUMNS = 8 };
    (void)state;
    for (int l = 0; l < MG_LENGTH(losses); l++) {
        linear_case *c = thin_case(ROWS, COLUMNS, 1, 18);
        int64_t index[4 * ROWS], count = 0;
        int8_t sign[4 * ROWS];
        for (int64_t i = ROWS - 1; i >= 0; i--) {
            const int copies = 1 + (int)(i % 3);
            c->weight[i] = copies;
            for (int k = 0; k < copies; k++) {
                index[count] = i;
                sign[count++] = c->sign[i];
            }
        }
        mg_problem copied = c->problem;
        copied.index = index;
        copied.sign = sign;
        copied.count = count;
        c->problem.weight = c->weight;
        linear_fitted f = linear_fit(&c->problem, losses[l], "solver=dual_cd, tol=1e-9");
        linear_fitted g = linear_fit(&copied, losses[l], "solver=dual_cd, tol=1e-9");
        assert_int_equal(f.status, MARGIN_OK);
        assert_int_equal(g.status, MARGIN_OK);
        const double away = sqrt(8e-9 * fmax(1, f.report.objective)); /* strong convexity, twice */
        for (int j = 0; j < COLUMNS; j++)
            assert_true(fabs(weights_of(&f)[j] - weights_of(&g)[j]) <= away);
        assert_close(f.report.objective, g.report.objective, 2e-9);
        linear_fitted_free(&f);
        linear_fitted_free(&g);
        linear_case_free(c);
    }
}

/* ---- Stopping -------------------------------------------------------------------------------- */

static void test_max_iter(void **state) {
    (void)state;
    for (int l = 0; l < MG_LENGTH(losses); l++) {
        linear_case *c = thin_case(200, 20, 1, 20);
        linear_fitted f =
            linear_fit(&c->problem, losses[l], "solver=dual_cd, tol=1e-12, C=100, max_iter=3");
        assert_int_equal(f.status, MARGIN_STOPPED_ITERATIONS);
        assert_int_equal(f.report.iterations, 3);
        assert_true(f.report.gap > 1e-12 && f.report.gap <= 1);
        assert_non_null(strstr(f.report.reason, "3 epochs is reached at a gap of"));
        assert_non_null(strstr(f.report.reason, "raise max_iter"));
        const oracle_problem p = {c, losses[l], 100, 1, true};
        if (losses[l] != MG_LOSS_HINGE)
            assert_close(f.report.objective, oracle_objective(&p, weights_of(&f), intercept_of(&f)),
                         1e-12);
        else
            assert_close(f.report.gap, hinge_gap(&p, f.h) / fmax(1, f.report.objective), 1e-9);
        linear_fitted_free(&f);
        linear_case_free(c);
    }
}

/* The clock may end it before the first epoch: that proves nothing. */
static void test_time_limit(void **state) {
    (void)state;
    for (int l = 0; l < MG_LENGTH(losses); l++) {
        linear_case *c = thin_case(200, 20, 1, 20);
        linear_fitted f = linear_fit_limited(&c->problem, losses[l], "solver=dual_cd");
        assert_true(f.report.gap > 1e-6 && f.report.gap <= 1);
        assert_true(f.report.objective > 0);
        linear_fitted_free(&f);
        linear_case_free(c);
    }
}

static void test_refused(void **state) {
    const double shift[3] = {1, 2, 3};
    (void)state;
    linear_case *c = thin_case(20, 3, 0, 22);
    mg_problem shifted = c->problem;
    shifted.shift = shift;
    margin_context *context = support_context(NULL, 1);
    const struct {
        const mg_problem *problem;
        mg_loss_kind loss;
        const char *options, *says;
    } cases[] = {
        {&c->problem, MG_LOSS_LOGISTIC, "C=inf, solver=dual_cd", "needs the penalty"},
        {&c->problem, MG_LOSS_SQUARED, "solver=dual_cd", "no steps for the squared loss"},
        {&c->problem, MG_LOSS_EXPONENTIAL, "solver=dual_cd", "no steps for the exponential loss"},
        {&shifted, MG_LOSS_HINGE, "intercept=no, solver=dual_cd", "need an intercept"},
    };
    for (int k = 0; k < MG_LENGTH(cases); k++) {
        linear_fitted f =
            linear_fit_with(context, cases[k].problem, cases[k].loss, cases[k].options, NULL);
        assert_int_equal(f.status, MARGIN_ERROR_SPEC);
        assert_non_null(strstr(f.error.text, cases[k].says));
        assert_non_null(strstr(f.error.text, "solver=auto"));
        linear_fitted_free(&f);
    }
    margin_context_free(context);
    linear_case_free(c);
}

static void test_beyond_double(void **state) {
    (void)state;
    linear_case *c = thin_case(20, 3, 0, 23);
    margin_context *context = support_context(NULL, 1);
    c->x[4] = 0;
    c->x[6] = 1e200;
    linear_fitted f =
        linear_fit_with(context, &c->problem, MG_LOSS_LOGISTIC, "solver=dual_cd", NULL);
    assert_int_equal(f.status, MARGIN_ERROR_DATA);
    assert_non_null(strstr(f.error.text, "standardize"));
    linear_fitted_free(&f);
    margin_context_free(context);
    linear_case_free(c);
}

typedef struct failing_fit {
    const mg_problem *problem;
    mg_loss_kind loss;
    const char *options;
} failing_fit;

static margin_status fit_once(margin_context *context, void *user, margin_error *error) {
    const failing_fit *fit = user;
    linear_fitted f = linear_fit_with(context, fit->problem, fit->loss, fit->options, NULL);
    *error = f.error;
    const margin_status status = f.status;
    linear_fitted_free(&f);
    return status;
}

static void test_allocations(void **state) {
    const double scale[6] = {1, 2, 3, 4, 5, 6};
    (void)state;
    for (int l = 0; l < MG_LENGTH(losses); l++) {
        linear_case *c = thin_case(40, 6, 1, 24);
        sparse_copy copy = copy_sparse(c, MARGIN_F64, MARGIN_I64);
        copy.problem.scale = scale;
        failing_fit fit = {&copy.problem, losses[l], "solver=dual_cd"};
        assert_true(support_fail_each_allocation(1, fit_once, &fit) >= 6);
        /* and where another method goes on */
        fit = (failing_fit){&c->problem, losses[l], "solver=dual_cd, C=1e10, max_iter=3000"};
        assert_true(support_fail_each_allocation(1, fit_once, &fit) >= 6);
        free_sparse(&copy);
        linear_case_free(c);
    }
}

static int cancel_at(const margin_trace_step *step, void *user) {
    if (step->step == 2) margin_context_cancel(user);
    return 0;
}

static void test_cancel(void **state) {
    (void)state;
    for (int l = 0; l < MG_LENGTH(losses); l++) {
        linear_case *c = thin_case(100, 6, 1, 25);
        margin_context *context = support_context(NULL, 2);
        const mg_trace trace = {.step = cancel_at, .user = context};
        linear_fitted f =
            linear_fit_with(context, &c->problem, losses[l], "solver=dual_cd, tol=1e-12", &trace);
        assert_int_equal(f.status, MARGIN_ERROR_CANCELLED);
        linear_fitted_free(&f);
        margin_context_free(context);
        linear_case_free(c);
    }
}

typedef struct watched {
    int64_t steps;
    double last;
} watched;

static int watch(const margin_trace_step *step, void *user) {
    watched *w = user;
    assert_int_equal(step->step, w->steps);
    assert_int_equal(step->weight_count, 6);
    w->steps++;
    w->last = step->loss;
    return 0;
}

/* Categories, most of them rare, and two numbers. The rows of a rare one are now and then all at a
 * bound, and a step that moves them may not cut those of the others short: without that ssnal takes
 * 44 to 48 steps, and 103 to 111 with C=100. Nor may columns be held that have no row between the
 * bounds: where they are scaled by their deviations, the last digits are theirs. */
static void test_rare_categories(void **state) {
    enum { ROWS = 3000, RARE = 300, COLUMNS = RARE + 2 };
    static const char *const options[] = {"solver=ssnal", "solver=ssnal, C=100",
                                          "solver=ssnal, C=100, tol=1e-8"};
    static const int most[] = {40, 92, 400};
    (void)state;
    for (uint64_t seed = 60; seed < 64; seed++) {
        uint64_t draw = seed;
        linear_case *c = linear_case_make(ROWS, COLUMNS, 0, 0, seed);
        double scale[COLUMNS] = {0};
        for (int64_t i = 0; i < ROWS; i++) {
            const double u = support_uniform(&draw), v = support_uniform(&draw);
            double *row = c->x + i * COLUMNS;
            const int64_t at = (int64_t)(RARE * u * u * u);
            memset(row, 0, RARE * sizeof *row);
            row[at] = 1;
            scale[at] += 1.0 / ROWS;
            c->sign[i] = row[RARE] + (double)(at % 5) - 2 + log(v / (1 - v)) > 0 ? 1 : -1;
        }
        sparse_copy copy = copy_sparse(c, MARGIN_F64, MARGIN_I32);
        for (int j = 0; j < COLUMNS; j++)
            scale[j] = j < RARE ? 1.0 / sqrt(fmax(scale[j], 1.0 / ROWS)) : 1.0;
        for (int k = 0; k < MG_LENGTH(options); k++) {
            if (k == 2) copy.problem.scale = scale;
            linear_fitted f = linear_fit(&copy.problem, MG_LOSS_HINGE, options[k]);
            assert_int_equal(f.status, MARGIN_OK);
            if (f.report.iterations > most[k])
                fail_msg("seed %d: %d steps", (int)seed, (int)f.report.iterations);
            linear_fitted_free(&f);
        }
        free_sparse(&copy);
        linear_case_free(c);
    }
}

/* Where the matrix of the Newton equations takes more than a part of the memory limit, ssnal does
 * without. */
static void test_little_memory(void **state) {
    enum { ROWS = 2000, COLUMNS = 700 };
    const margin_context_options little = {
        .size = sizeof little, .threads = 1, .memory_limit = 3 << 20};
    margin_context *context;
    (void)state;
    assert_int_equal(margin_context_create(&little, &context, NULL), MARGIN_OK);
    linear_case *c = linear_case_make(ROWS, COLUMNS, 0, 0, 65);
    for (int64_t i = 0; i < ROWS; i++) {
        memset(c->x + i * COLUMNS, 0, COLUMNS * sizeof *c->x);
        c->x[i * COLUMNS + i * i % COLUMNS] = 1;
    }
    sparse_copy copy = copy_sparse(c, MARGIN_F64, MARGIN_I32);
    linear_fitted f = linear_fit_with(context, &copy.problem, MG_LOSS_HINGE, "solver=ssnal", NULL);
    assert_int_equal(f.status, MARGIN_OK);
    linear_fitted_free(&f);
    free_sparse(&copy);
    linear_case_free(c);
    margin_context_free(context);
}

/* Counts of words in text, some rows in both classes, and next to no penalty: no epoch gets
 * anywhere, and more columns than factors are made of are no reason to go on. */
static void test_words(void **state) {
    enum { ROWS = 300, COLUMNS = 4200, WORDS = 60 };
    static const mg_loss_kind kinds[] = {MG_LOSS_LOGISTIC, MG_LOSS_SQUARED_HINGE, MG_LOSS_HINGE};
    uint64_t random = 5;
    (void)state;
    linear_case *c = linear_case_make(ROWS, COLUMNS, 0, 1, 67);
    memset(c->x, 0, ROWS * COLUMNS * sizeof *c->x);
    for (int64_t k = 0; k < ROWS * WORDS; k++) {
        const double *row = c->x + k / WORDS * COLUMNS;
        const int64_t at = (int64_t)pow(COLUMNS, support_uniform(&random)) - 1;
        c->x[row - c->x + at] += 1;
    }
    for (int i = 0; i < 5; i++) { /* the last rows are the first ones of the other class */
        memcpy(c->x + (ROWS - 1 - i) * COLUMNS, c->x + i * COLUMNS, COLUMNS * sizeof *c->x);
        c->sign[ROWS - 1 - i] = (int8_t)-c->sign[i];
    }
    sparse_copy copy = copy_sparse(c, MARGIN_F64, MARGIN_I32);
    for (int l = 0; l < MG_LENGTH(kinds); l++) {
        linear_fitted f = linear_fit(&copy.problem, kinds[l], "C=1000, solver=dual_cd");
        linear_fitted again = linear_verify(&copy.problem, kinds[l], "C=1000", f.h);
        assert_true(f.report.iterations < 3000);
        assert_int_equal(f.status, MARGIN_OK);
        assert_close(again.report.objective, f.report.objective, 1e-12);
        linear_fitted_free(&again);
        linear_fitted_free(&f);
    }
    free_sparse(&copy);
    linear_case_free(c);
}

static void test_trace(void **state) {
    (void)state;
    for (int l = 0; l < MG_LENGTH(losses); l++) {
        linear_case *c = thin_case(100, 6, 1, 26);
        margin_context *context = support_context(NULL, 1);
        watched w = {0, 0};
        const mg_trace trace = {.step = watch, .user = &w};
        linear_fitted f =
            linear_fit_with(context, &c->problem, losses[l], "solver=dual_cd, tol=1e-10", &trace);
        assert_int_equal(f.status, MARGIN_OK);
        assert_int_equal(w.steps, f.report.iterations + 1);
        assert_close(w.last, f.report.objective, 1e-4);
        linear_fitted_free(&f);
        margin_context_free(context);
        linear_case_free(c);
    }
}

/* ---- Real data ------------------------------------------------------------------------------- */

/* Least objectives without an intercept, C = 1, by LIBLINEAR's solvers for the primal (tol 1e-10;
 * hinge: for the dual, tol 1e-6), computed from its weights in NumPy. */
static void assert_real(const char *name, double tolerance, const double expected[3]) {
    char path[SUPPORT_PATH], with[100];
    SUPPORT_DATA_OR_SKIP(path, name);
    margin_context *context = support_context(NULL, 2);
    const margin_read_options options = {.size = sizeof options, .value_type = MARGIN_F64};
    margin_table *table = NULL;
    margin_error error = {0};
    if (margin_table_read(context, path, &options, &table, &error) < 0) fail_msg("%s", error.text);
    const margin_data data = margin_table_data(table);
    int8_t *sign = calloc((size_t)data.x.rows, 1);
    snprintf(with, sizeof with, "solver=dual_cd, intercept=no, tol=%g", tolerance);
    for (int64_t i = 0; i < data.x.rows; i++)
        sign[i] = mg_vector_f64(&data.y, i) == 1 ? 1 : -1;
    const mg_problem problem = {
        .kind = MG_TWO_CLASS, .x = data.x, .count = data.x.rows, .classes = 2, .sign = sign};
    for (int l = 0; l < MG_LENGTH(losses); l++) {
        linear_fitted f = linear_fit_with(context, &problem, losses[l], with, NULL);
        assert_int_equal(f.status, MARGIN_OK);
        assert_true(f.report.objective <= expected[l] * (1 + tolerance));
        assert_true(f.report.objective >= expected[l] * (1 - 1e-4));
        linear_fitted_free(&f);
    }
    free(sign);
    margin_table_free(table);
    margin_context_free(context);
}

static void test_heart(void **state) {
    (void)state;
    assert_real("libsvm/heart_scale", 1e-5,
                (const double[]){98.2267995081, 96.4982788606, 121.134724437});
}

static void test_mushrooms(void **state) {
    (void)state;
    assert_real("libsvm/agaricus.txt.train", 1e-4,
                (const double[]){98.5136447576, 6.62472522359, 6.36869058788});
}

static void test_adults(void **state) {
    SUPPORT_LARGE_CASE();
    (void)state;
    assert_real("libsvm/a9a", 1e-2, (const double[]){10529.5625846, 11433.8089072, 13742.3973044});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_optimum),         cmocka_unit_test(test_spellings),
        cmocka_unit_test(test_affine_problem),  cmocka_unit_test(test_wide),
        cmocka_unit_test(test_tiny_C),          cmocka_unit_test(test_huge_C_separable),
        cmocka_unit_test(test_huge_C_mixed),    cmocka_unit_test(test_one_row),
        cmocka_unit_test(test_nothing_stored),  cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_threads),         cmocka_unit_test(test_weights_and_order),
        cmocka_unit_test(test_max_iter),        cmocka_unit_test(test_time_limit),
        cmocka_unit_test(test_refused),         cmocka_unit_test(test_beyond_double),
        cmocka_unit_test(test_allocations),     cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_rare_categories), cmocka_unit_test(test_trace),
        cmocka_unit_test(test_heart),           cmocka_unit_test(test_mushrooms),
        cmocka_unit_test(test_adults),          cmocka_unit_test(test_little_memory),
        cmocka_unit_test(test_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
