/* The smooth solvers against an optimum found by other means, their proofs computed again, and the
 * data that make such solvers fail: scaled, dependent and constant columns, separable classes, next
 * to no penalty and nothing but penalty. */
#include "linear_cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const mg_loss_kind losses[] = {MG_LOSS_LOGISTIC, MG_LOSS_EXPONENTIAL, MG_LOSS_SQUARED_HINGE,
                                      MG_LOSS_SQUARED};
static const char *const solvers[] = {"auto", "lbfgs", "newton"};

static oracle_problem oracle_of(const linear_case *c, mg_loss_kind loss, double C, bool intercept) {
    return (oracle_problem){.c = c, .loss = loss, .factor = C, .rho = 1, .intercept = intercept};
}

/* Objective, gap and weights of a fit that must have converged. */
static void assert_optimal(const oracle_problem *p, const linear_fitted *f, double tolerance) {
    double w[ORACLE_COLUMNS], b;
    const double best = oracle_solve(p, w, &b), size = fmax(1, fabs(best));
    assert_int_equal(f->status, MARGIN_OK);
    assert_true(f->report.gap <= tolerance);
    const double value = oracle_objective(p, weights_of(f), intercept_of(f));
    assert_close(f->report.objective, value, 1e-12);
    assert_true(value >= best - 1e-12 * size);
    assert_true(value - best <= tolerance * size + 1e-12 * size);
    if (p->loss != MG_LOSS_SQUARED) {
        const double gap = oracle_gap(p, weights_of(f), intercept_of(f)) / fmax(1, fabs(value));
        assert_true(fabs(gap - f->report.gap) <= 1e-6 * gap + 1e-12);
    }
    /* strong convexity: rho/2 |w - w*|^2 <= P - P* */
    double distance = 0;
    for (int64_t j = 0; j < p->c->columns; j++)
        distance += (weights_of(f)[j] - w[j]) * (weights_of(f)[j] - w[j]);
    assert_true(p->rho / 2 * distance <= 1.01 * tolerance * size + 1e-11 * size);
}

/* ---- Ordinary data --------------------------------------------------------------------------- */

static void test_optimum(void **state) {
    const double Cs[] = {1e-3, 1, 1e3};
    (void)state;
    for (int l = 0; l < MG_LENGTH(losses); l++)
        for (int k = 0; k < MG_LENGTH(Cs); k++)
            for (int s = 0; s < MG_LENGTH(solvers); s++)
                for (int intercept = 0; intercept < 2; intercept++) {
                    linear_case *c = linear_case_make(120, 7, 0.5, 1, (uint64_t)(l + 1));
                    char options[200];
                    if (k == 1) c->problem.weight = c->weight;
                    snprintf(options, sizeof options, "C=%g, tol=1e-9, solver=%s, intercept=%s",
                             Cs[k], solvers[s], intercept ? "yes" : "no");
                    linear_fitted f = linear_fit(&c->problem, losses[l], options);
                    const oracle_problem p = oracle_of(c, losses[l], Cs[k], intercept);
                    assert_optimal(&p, &f, 1e-9);
                    if (!intercept) assert_true(intercept_of(&f) == 0);
                    linear_fitted_free(&f);
                    linear_case_free(c);
                }
}

/* The default tolerance is what the proof says, and no fit needs many steps. */
static void test_few_steps(void **state) {
    (void)state;
    for (int l = 0; l < MG_LENGTH(losses); l++)
        for (uint64_t seed = 1; seed <= 20; seed++) {
            linear_case *c = linear_case_make(60 + (int64_t)seed * 40, 1 + (int64_t)seed % 9,
                                              0.9 * (double)(seed % 2), 1, seed);
            linear_fitted f = linear_fit(&c->problem, losses[l], "");
            const oracle_problem p = oracle_of(c, losses[l], 1, true);
            assert_optimal(&p, &f, 1e-6);
            assert_true(f.report.iterations <= 40);
            linear_fitted_free(&f);
            linear_case_free(c);
        }
}

/* ---- Many rows ------------------------------------------------------------------------------- */

/* What the fit claims is a bound of what is left, and verification, by other code, finds no more.
 */
static linear_fitted fit_many(const linear_case *c, mg_loss_kind loss, const char *options,
                              const oracle_problem *p) {
    linear_fitted f = linear_fit(&c->problem, loss, options);
    linear_fitted again = linear_verify(&c->problem, loss, options, f.h);
    double w[ORACLE_COLUMNS], b;
    const double best = oracle_solve(p, w, &b), size = fmax(1, fabs(best));
    const double value = oracle_objective(p, weights_of(&f), intercept_of(&f));
    assert_int_equal(f.status, MARGIN_OK);
    assert_close(f.report.objective, value, 1e-12);
    assert_true(f.report.gap <= 1e-6 && value >= best - 1e-12 * size);
    assert_true(value - best <= f.report.gap * size + 1e-12 * size);
    assert_close(again.report.objective, value, 1e-12);
    assert_true(again.report.gap <= f.report.gap * (1 + 1e-6) + 1e-12);
    return f;
}

/* Steps on some rows go before those on all, of which there are few then. */
static void test_many_rows(void **state) {
    static const char *const options[] = {"", "intercept=no, C=100", "C=0.01"};
    static const double Cs[] = {1, 100, 0.01};
    (void)state;
    for (int l = 0; l < 3; l++)
        for (int k = 0; k < MG_LENGTH(options); k++) {
            linear_case *c = linear_case_make(12000, 6, 0.5, 1, (uint64_t)(l + 1));
            if (k == 2) c->problem.weight = c->weight;
            const oracle_problem p = oracle_of(c, losses[l], Cs[k], k != 1);
            linear_fitted f = fit_many(c, losses[l], options[k], &p);
            assert_true(f.report.iterations <= 4);
            linear_assert_threads(&c->problem, losses[l], options[k]);
            linear_fitted_free(&f);
            linear_case_free(c);
        }
}

/* Where the rows that are drawn tell little: three of a class, or a few with nearly all weight. */
static void test_misleading_rows(void **state) {
    (void)state;
    for (int l = 0; l < 3; l++)
        for (int k = 0; k < 2; k++) {
            linear_case *c = linear_case_make(12000, 6, 0.5, 1, (uint64_t)(l + 5));
            for (int64_t i = 0; i < c->rows; i++) {
                if (k == 0) c->sign[i] = i % 5000 == 77 ? 1 : -1;
                c->weight[i] = i % 1000 == 77 ? 100 : 0.001;
            }
            if (k == 1) c->problem.weight = c->weight;
            const oracle_problem p = oracle_of(c, losses[l], 1, true);
            linear_fitted f = fit_many(c, losses[l], "", &p);
            linear_fitted_free(&f);
            linear_case_free(c);
        }
}

/* ---- Coordinates ----------------------------------------------------------------------------- */

/* Units from 1e-6 to 1e6 and means a thousand deviations away: the problem is another one (the
 * penalty sees the units), and is solved as well. */
static void test_scaled_columns(void **state) {
    (void)state;
    for (int l = 0; l < 3; l++)
        for (int s = 0; s < MG_LENGTH(solvers); s++)
            for (int shifted = 0; shifted < 2; shifted++) {
                linear_case *c = linear_case_make(300, 13, 0.3, 1, 77);
                double scale[13], shift[13];
                char options[100];
                for (int j = 0; j < 13; j++) {
                    scale[j] = pow(10, -6 + j);
                    shift[j] = shifted ? (j % 3 - 1) * 1e3 * scale[j] : 0;
                }
                linear_case_scale(c, scale, shift);
                snprintf(options, sizeof options, "solver=%s", solvers[s]);
                linear_fitted f = linear_fit(&c->problem, losses[l], options);
                const oracle_problem p = oracle_of(c, losses[l], 1, true);
                double w[ORACLE_COLUMNS], b;
                const double best = oracle_solve(&p, w, &b);
                assert_int_equal(f.status, MARGIN_OK);
                assert_true(f.report.gap <= 1e-6);
                assert_close(f.report.objective, best, 1e-6);
                assert_true(f.report.iterations <= 60);
                linear_fitted_free(&f);
                linear_case_free(c);
            }
}

/* A power of two in all columns, taken back by C: the same steps, the same bits but for the factor.
 */
static void test_units_do_not_matter(void **state) {
    (void)state;
    linear_case *c = linear_case_make(200, 6, 0.3, 1, 5), *d = linear_case_make(200, 6, 0.3, 1, 5);
    double scale[6];
    for (int j = 0; j < 6; j++)
        scale[j] = 1024;
    linear_case_scale(d, scale, NULL);
    linear_fitted f = linear_fit(&c->problem, MG_LOSS_LOGISTIC, "alpha=0.5");
    linear_fitted g = linear_fit(&d->problem, MG_LOSS_LOGISTIC, "alpha=524288"); /* 0.5 1024^2 */
    assert_int_equal(f.report.iterations, g.report.iterations);
    for (int j = 0; j < 6; j++)
        assert_true(weights_of(&f)[j] == 1024 * weights_of(&g)[j]);
    assert_true(intercept_of(&f) == intercept_of(&g));
    linear_fitted_free(&f);
    linear_fitted_free(&g);
    linear_case_free(c);
    linear_case_free(d);
}

/* scale and shift of the problem mean what they would do to the data. */
static void test_affine_problem(void **state) {
    const double scale[5] = {2, -0.5, 1e3, 1, 0.25}, shift[5] = {1, -2, 0, 1e2, 3};
    (void)state;
    for (int s = 0; s < MG_LENGTH(solvers); s++) {
        linear_case *c = linear_case_make(150, 5, 0.3, 1, 9);
        char options[100];
        mg_problem problem = c->problem;
        problem.scale = scale;
        problem.shift = shift;
        snprintf(options, sizeof options, "tol=1e-9, solver=%s", solvers[s]);
        linear_fitted f = linear_fit(&problem, MG_LOSS_LOGISTIC, options);
        linear_case_scale(c, scale, shift);
        const oracle_problem p = oracle_of(c, MG_LOSS_LOGISTIC, 1, true);
        assert_optimal(&p, &f, 1e-9);
        linear_fitted_free(&f);
        linear_case_free(c);
    }
}

static void test_degenerate_columns(void **state) {
    (void)state;
    for (int l = 0; l < 3; l++)
        for (int s = 0; s < MG_LENGTH(solvers); s++) {
            linear_case *c = linear_case_make(90, 8, 0, 1, 21);
            char options[100];
            for (int64_t i = 0; i < c->rows; i++) {
                double *x = c->x + i * 8;
                x[1] = x[0];                     /* twice the same */
                x[2] = 1e5;                      /* constant */
                x[4] = x[3] - 2 * x[5];          /* dependent */
                x[6] = 0;                        /* nothing */
                x[7] = x[3] * (1 + 1e-9 * x[0]); /* next to dependent */
            }
            snprintf(options, sizeof options, "C=1e6, tol=1e-9, solver=%s", solvers[s]);
            linear_fitted f = linear_fit(&c->problem, losses[l], options);
            const oracle_problem p = oracle_of(c, losses[l], 1e6, true);
            const double *w = weights_of(&f);
            assert_int_equal(f.status, MARGIN_OK);
            assert_true(oracle_gap(&p, w, intercept_of(&f)) <=
                        1e-9 * f.report.objective + 1e-12 * f.report.objective);
            assert_true(w[2] == 0 && w[6] == 0);
            assert_close(w[0], w[1], 1e-6);
            linear_fitted_free(&f);
            linear_case_free(c);
        }
}

/* Constant among the rows that are looked at first, and not elsewhere. */
static void test_rare_columns(void **state) {
    (void)state;
    linear_case *c = linear_case_make(9000, 3, 0, 1, 22);
    for (int64_t i = 0; i < c->rows; i++)
        c->x[i * 3 + 1] = i == 4501 || i == 7003;
    c->sign[4501] = c->sign[7003] = 1;
    linear_fitted f = linear_fit(&c->problem, MG_LOSS_LOGISTIC, "");
    assert_int_equal(f.status, MARGIN_OK);
    assert_true(weights_of(&f)[1] > 0.1);
    linear_fitted_free(&f);
    linear_case_free(c);
}

/* ---- Shapes ---------------------------------------------------------------------------------- */

static void test_more_columns_than_rows(void **state) {
    (void)state;
    for (int l = 0; l < MG_LENGTH(losses); l++)
        for (int s = 0; s < MG_LENGTH(solvers); s++) {
            linear_case *c = linear_case_make(12, 40, 0.2, 1, 31);
            char options[100];
            snprintf(options, sizeof options, "C=10, tol=1e-9, solver=%s", solvers[s]);
            linear_fitted f = linear_fit(&c->problem, losses[l], options);
            const oracle_problem p = oracle_of(c, losses[l], 10, true);
            assert_optimal(&p, &f, 1e-9);
            linear_fitted_free(&f);
            linear_case_free(c);
        }
}

/* Columns that are more than rows and hardly more than five directions; two rows are equal, some
 * weights 0. */
static linear_case *few_directions(int64_t rows, int64_t columns, bool weighted) {
    linear_case *c = linear_case_make(rows, columns, 0, 1, 33);
    for (int64_t k = 5 * columns; k < rows * columns; k++) {
        const int64_t row = k / columns, at = k % columns;
        const double share = 2.8 * (double)row / (double)rows;
        c->x[k] = 0.01 * c->x[k] + c->x[row % 5 * columns + at] - share * c->x[at];
    }
    memcpy(c->x + columns, c->x, (size_t)columns * sizeof *c->x);
    for (int i = 0; weighted && i < rows; i++)
        c->weight[i] = i % 7 / 2;
    if (weighted) c->problem.weight = c->weight;
    return c;
}

static void test_few_directions(void **state) {
    double scale[60], shift[60];
    (void)state;
    for (int j = 0; j < 60; j++) {
        scale[j] = j % 7 == 3 ? 0.0 : 0.5 + 0.1 * j;
        shift[j] = j % 5;
    }
    for (int l = 0; l < MG_LENGTH(losses); l++)
        for (int s = 1; s < MG_LENGTH(solvers); s++)
            for (int variant = 0; variant < 8; variant++) {
                const bool affine = variant & 1, given = variant & 4;
                linear_case *c = few_directions(28, 60, variant & 2);
                mg_problem problem = c->problem;
                char options[200];
                if (affine) {
                    problem.scale = scale;
                    problem.shift = shift;
                }
                snprintf(options, sizeof options, "C=0.5, tol=1e-9, solver=%s%s", solvers[s],
                         given ? ", start_intercept=3, start_weights=0.01" : "");
                for (int j = 1; given && j < 60; j++)
                    strncat(options, " 0", sizeof options - strlen(options) - 1);
                linear_fitted f = linear_fit(&problem, losses[l], options);
                linear_assert_threads(&problem, losses[l], options);
                if (affine) linear_case_scale(c, scale, shift);
                const oracle_problem p = oracle_of(c, losses[l], 0.5, true);
                assert_optimal(&p, &f, 1e-9);
                linear_fitted_free(&f);
                linear_case_free(c);
            }
}

/* Too many columns for Hessians, too few directions for dual coordinate descent, which hands over
 * early: without products of the rows over a thousand steps. */
static void test_few_directions_of_many_columns(void **state) {
    static const mg_loss_kind kinds[] = {MG_LOSS_LOGISTIC, MG_LOSS_SQUARED_HINGE, MG_LOSS_HINGE};
    static const char *const hinge[] = {"auto", "ssnal", "dual_cd"};
    (void)state;
    linear_case *c = few_directions(80, 4200, false);
    for (int l = 0; l < MG_LENGTH(kinds); l++)
        for (int s = 0; s < MG_LENGTH(solvers); s++) {
            char options[100];
            snprintf(options, sizeof options, "C=10, solver=%s",
                     kinds[l] == MG_LOSS_HINGE ? hinge[s] : solvers[s]);
            linear_fitted f = linear_fit(&c->problem, kinds[l], options);
            linear_fitted again = linear_verify(&c->problem, kinds[l], options, f.h);
            assert_int_equal(f.status, MARGIN_OK);
            assert_close(again.report.objective, f.report.objective, 1e-12);
            assert_true(again.report.gap <= f.report.gap * (1 + 1e-6) + 1e-12);
            assert_true(f.report.iterations < 100);
            linear_fitted_free(&again);
            linear_fitted_free(&f);
        }
    linear_assert_threads(&c->problem, MG_LOSS_HINGE, "");
    linear_case_free(c);
}

/* No step changes the weight that a start gives to a constant column: the intercept takes it. */
static void test_start_with_constant(void **state) {
    static const char *const names[] = {"lbfgs", "newton", "ssnal"};
    (void)state;
    for (int s = 0; s < MG_LENGTH(names); s++) {
        linear_case *c = few_directions(28, 30, false);
        char options[200];
        for (int i = 0; i < 28; i++)
            c->x[i * 30] = 3.0;
        snprintf(options, sizeof options, "tol=1e-9, solver=%s, start_weights=0.1", names[s]);
        for (int j = 1; j < 30; j++)
            strncat(options, " 0", sizeof options - strlen(options) - 1);
        linear_fitted f =
            linear_fit(&c->problem, s == 2 ? MG_LOSS_HINGE : MG_LOSS_SQUARED_HINGE, options);
        assert_int_equal(f.status, MARGIN_OK);
        linear_fitted_free(&f);
        linear_case_free(c);
    }
}

/* As few steps as asked for, whatever they are steps of. */
static void test_few_steps_of_few_directions(void **state) {
    (void)state;
    linear_case *c = few_directions(28, 60, false);
    for (int s = 1; s < MG_LENGTH(solvers); s++)
        for (int most = 1; most < 9; most++) {
            char options[100];
            snprintf(options, sizeof options, "tol=1e-15, max_iter=%d, solver=%s", most,
                     solvers[s]);
            linear_fitted f = linear_fit(&c->problem, MG_LOSS_LOGISTIC, options);
            if (most < 3) assert_int_equal(f.status, MARGIN_STOPPED_ITERATIONS);
            assert_true(f.report.iterations <= most && isfinite(f.report.gap));
            linear_fitted_free(&f);
        }
    linear_fitted f = linear_fit_limited(&c->problem, MG_LOSS_LOGISTIC, "solver=newton");
    assert_true(isfinite(f.report.gap));
    linear_fitted_free(&f);
    linear_case_free(c);
}

/* w = (1, 1) s: the dual of two rows has one variable. */
static void test_one_row_per_class(void **state) {
    const double x[4] = {1, 1, -1, -1};
    const int8_t sign[2] = {1, -1};
    const mg_problem problem = {.kind = MG_TWO_CLASS,
                                .x = margin_dense_f64(x, 2, 2, 2),
                                .count = 2,
                                .classes = 2,
                                .sign = sign};
    (void)state;
    for (int s = 0; s < MG_LENGTH(solvers); s++) {
        char options[100];
        snprintf(options, sizeof options, "C=3, tol=1e-12, solver=%s", solvers[s]);
        linear_fitted f = linear_fit(&problem, MG_LOSS_LOGISTIC, options);
        const double w = weights_of(&f)[0];
        assert_int_equal(f.status, MARGIN_OK);
        assert_close(weights_of(&f)[1], w, 1e-9);
        assert_close(intercept_of(&f), 0, 1e-9);
        /* 6 log(1 + e^(-2w)) + w^2: w = 6 / (1 + e^(2w)) */
        assert_close(w, 6 / (1 + exp(2 * w)), 1e-6);
        linear_fitted_free(&f);
    }
}

/* Rows by the ten thousand: the Hessian is that of a sample. */
static void test_sampled(void **state) {
    const double noises[] = {1, 0.02};
    (void)state;
    for (int k = 0; k < MG_LENGTH(noises); k++)
        for (int l = 0; l < 3; l++) {
            linear_case *c = linear_case_make(40000, 4, 0.5, noises[k], 41);
            c->problem.weight = k == 0 ? c->weight : NULL;
            linear_fitted f = linear_fit(&c->problem, losses[l], "solver=lbfgs, tol=1e-10");
            linear_fitted g = linear_fit(&c->problem, losses[l], "solver=newton, tol=1e-10");
            assert_int_equal(f.status, MARGIN_OK);
            assert_int_equal(g.status, MARGIN_OK);
            assert_close(f.report.objective, g.report.objective, 1e-10);
            for (int j = 0; j < 4; j++)
                assert_close(weights_of(&f)[j], weights_of(&g)[j], 1e-5);
            assert_true(f.report.iterations <= 40);
            linear_fitted_free(&f);
            linear_fitted_free(&g);
            linear_case_free(c);
        }
}

/* CSR rows with `filled` values each. */
typedef struct sparse_case {
    double *values;
    int32_t *columns;
    int64_t *starts;
    int8_t *sign;
    mg_problem problem;
} sparse_case;

static sparse_case sparse_make(int64_t rows, int64_t columns, int filled, uint64_t seed) {
    sparse_case c;
    c.values = calloc((size_t)(rows * filled), sizeof *c.values);
    c.columns = calloc((size_t)(rows * filled), sizeof *c.columns);
    c.starts = calloc((size_t)rows + 1, sizeof *c.starts);
    c.sign = calloc((size_t)rows, sizeof *c.sign);
    for (int64_t i = 0; i < rows; i++) {
        double f = 0;
        for (int k = 0; k < filled; k++) { /* one in each stretch of columns */
            const int64_t stretch = columns / filled, at = i * filled + k;
            const int64_t j = k * stretch + (int64_t)(support_random(&seed) % (uint64_t)stretch);
            c.columns[at] = (int32_t)j;
            c.values[at] = support_normal(&seed);
            f += c.values[at] * (double)(j % 5 - 2);
        }
        c.starts[i + 1] = (i + 1) * filled;
        c.sign[i] = f + support_normal(&seed) > 0 ? 1 : -1;
    }
    c.problem = (mg_problem){.kind = MG_TWO_CLASS,
                             .x = margin_csr_f64(c.values, c.columns, c.starts, rows, columns),
                             .count = rows,
                             .classes = 2,
                             .sign = c.sign};
    return c;
}

static void sparse_free(sparse_case *c) {
    free(c->values);
    free(c->columns);
    free(c->starts);
    free(c->sign);
}

/* Sparse rows, and the same as dense ones. */
static void test_sparse(void **state) {
    enum { ROWS = 400, COLUMNS = 30 };
    (void)state;
    sparse_case c = sparse_make(ROWS, COLUMNS, 4, 51);
    double *dense = calloc(ROWS * COLUMNS, sizeof *dense);
    for (int64_t i = 0; i < ROWS; i++)
        mg_row_expand(&c.problem.x, i, dense + i * COLUMNS);
    mg_problem filled = c.problem;
    filled.x = margin_dense_f64(dense, ROWS, COLUMNS, COLUMNS);
    for (int l = 0; l < 3; l++)
        for (int s = 0; s < MG_LENGTH(solvers); s++) {
            char options[100];
            snprintf(options, sizeof options, "tol=1e-11, solver=%s", solvers[s]);
            linear_fitted f = linear_fit(&c.problem, losses[l], options);
            linear_fitted g = linear_fit(&filled, losses[l], options);
            assert_int_equal(f.status, MARGIN_OK);
            assert_int_equal(g.status, MARGIN_OK);
            assert_close(f.report.objective, g.report.objective, 1e-11);
            for (int j = 0; j < COLUMNS; j++)
                assert_close(weights_of(&f)[j], weights_of(&g)[j], 1e-4);
            linear_fitted_free(&f);
            linear_fitted_free(&g);
        }
    free(dense);
    sparse_free(&c);
}

/* Too many columns for a Hessian: conjugate gradients, and L-BFGS on a diagonal. */
static void test_wide_sparse(void **state) {
    (void)state;
    for (int l = 0; l < 3; l++) {
        double objective = 0;
        for (int s = 0; s < 3; s++) {
            sparse_case c = sparse_make(600, s == 0 ? 9000 : 2500, 20, 52);
            linear_fitted f =
                linear_fit(&c.problem, losses[l], s == 2 ? "solver=newton" : "solver=lbfgs");
            linear_fitted again = linear_verify(&c.problem, losses[l], "", f.h);
            assert_int_equal(f.status, MARGIN_OK);
            assert_true(again.report.gap <= 1e-6);
            assert_close(again.report.objective, f.report.objective, 1e-10);
            if (s == 1) objective = f.report.objective;
            if (s == 2) assert_close(f.report.objective, objective, 1e-6);
            linear_fitted_free(&f);
            sparse_free(&c);
        }
    }
}

/* ---- Penalties at both ends ------------------------------------------------------------------ */

static void test_next_to_no_penalty(void **state) {
    (void)state;
    for (int separable = 0; separable < 2; separable++)
        for (int l = 0; l < 3; l++)
            for (int s = 0; s < MG_LENGTH(solvers); s++) {
                linear_case *c = linear_case_make(80, 3, 0.2, separable ? 0 : 1, 61);
                char options[100];
                snprintf(options, sizeof options, "C=1e10, solver=%s", solvers[s]);
                linear_fitted f = linear_fit(&c->problem, losses[l], options);
                const oracle_problem p = oracle_of(c, losses[l], 1e10, true);
                assert_int_equal(f.status, MARGIN_OK);
                assert_true(f.report.gap <= 1e-6);
                assert_true(oracle_gap(&p, weights_of(&f), intercept_of(&f)) <=
                            1.0001e-6 * f.report.objective);
                linear_fitted_free(&f);
                linear_case_free(c);
            }
}

/* Even w = 0 has a gap of 1e-9 here; yet the weights must be those of the optimum, which to first
 * order are C times the slope at w = 0. */
static void test_nothing_but_penalty(void **state) {
    (void)state;
    for (int l = 0; l < MG_LENGTH(losses); l++)
        for (int s = 0; s < MG_LENGTH(solvers); s++) {
            linear_case *c = linear_case_make(80, 4, 0.2, 1, 62);
            char options[100];
            snprintf(options, sizeof options, "C=1e-10, solver=%s", solvers[s]);
            linear_fitted f = linear_fit(&c->problem, losses[l], options);
            const oracle_problem p = oracle_of(c, losses[l], 1e-10, true);
            double w[ORACLE_COLUMNS], b, norm = 0, distance = 0;
            oracle_solve(&p, w, &b);
            for (int j = 0; j < 4; j++) {
                norm += w[j] * w[j];
                distance += (weights_of(&f)[j] - w[j]) * (weights_of(&f)[j] - w[j]);
            }
            assert_int_equal(f.status, MARGIN_OK);
            assert_true(norm > 0 && distance <= 0.01 * norm);
            assert_close(intercept_of(&f), b, 1e-3);
            linear_fitted_free(&f);
            linear_case_free(c);
        }
}

static void test_no_penalty(void **state) {
    (void)state;
    for (int l = 0; l < MG_LENGTH(losses); l++)
        for (int s = 0; s < MG_LENGTH(solvers); s++) {
            linear_case *c = linear_case_make(150, 4, 0.4, 1, 63);
            char options[100];
            snprintf(options, sizeof options, "C=inf, tol=1e-9, solver=%s", solvers[s]);
            linear_fitted f = linear_fit(&c->problem, losses[l], options);
            const oracle_problem p = {c, losses[l], 1, 0, true};
            double w[ORACLE_COLUMNS], b;
            const double best = oracle_solve(&p, w, &b);
            assert_int_equal(f.status, MARGIN_OK);
            assert_true(f.report.gap <= 1e-9);
            assert_close(f.report.objective, best, 1e-9);
            for (int j = 0; j < 4; j++)
                assert_close(weights_of(&f)[j], w[j], 1e-3);
            linear_fitted again = linear_verify(&c->problem, losses[l], "C=inf", f.h);
            assert_true(again.report.gap <= 1e-9);
            linear_fitted_free(&f);
            linear_case_free(c);
        }
}

/* The proof is by a matrix of columns x columns where there is room for it, else by products. */
static void test_no_penalty_of_many_columns(void **state) {
    margin_context_options small = {.size = sizeof small, .threads = 1, .memory_limit = 32 << 20};
    margin_context *context;
    uint64_t seed = 71;
    (void)state;
    sparse_case c = sparse_make(8400, 2100, 5, 70);
    for (int64_t i = 0; i < c.problem.count; i++)
        c.sign[i] = support_random(&seed) & 1 ? 1 : -1;
    linear_fitted f = linear_fit(&c.problem, MG_LOSS_LOGISTIC, "C=inf");
    assert_int_equal(f.status, MARGIN_OK);
    assert_true(f.report.gap <= 1e-6);
    linear_fitted penalised = linear_fit(&c.problem, MG_LOSS_LOGISTIC, "C=1e4, tol=1e-9");
    assert_true(f.report.objective <= penalised.report.objective / 1e4 * (1 + 1e-6));
    linear_fitted_free(&penalised);
    linear_fitted_free(&f);
    assert_int_equal(margin_context_create(&small, &context, NULL), MARGIN_OK);
    f = linear_fit_with(context, &c.problem, MG_LOSS_LOGISTIC, "C=inf", NULL);
    assert_int_equal(f.status, MARGIN_OK);
    assert_true(f.report.gap <= 1e-6);
    assert_contains(f.report.reason, "wrong for one random draw");
    linear_fitted_free(&f);
    margin_context_free(context);
    sparse_free(&c);
}

/* Separable and no penalty: no optimum, said with a direction that proves it. */
static void test_no_optimum(void **state) {
    const mg_loss_kind falling[] = {MG_LOSS_LOGISTIC, MG_LOSS_EXPONENTIAL};
    (void)state;
    for (int l = 0; l < 2; l++)
        for (int s = 0; s < MG_LENGTH(solvers); s++) {
            linear_case *c = linear_case_make(70, 3, 0.2, 0, 64);
            char options[100];
            snprintf(options, sizeof options, "C=inf, solver=%s", solvers[s]);
            linear_fitted f = linear_fit(&c->problem, falling[l], options);
            assert_int_equal(f.status, MARGIN_STOPPED_STALLED);
            assert_contains(f.report.reason, "no optimum");
            assert_true(f.report.objective <= 1e-6 && f.report.gap <= 1e-6);
            for (int64_t i = 0; i < c->rows; i++) {
                double score = intercept_of(&f);
                for (int j = 0; j < 3; j++)
                    score += c->x[i * 3 + j] * weights_of(&f)[j];
                assert_true(c->sign[i] * score > 0);
            }
            linear_fitted_free(&f);
            linear_case_free(c);
        }
    /* the squared hinge reaches 0 and has an optimum */
    linear_case *c = linear_case_make(70, 3, 0.2, 0, 64);
    linear_fitted f = linear_fit(&c->problem, MG_LOSS_SQUARED_HINGE, "C=inf");
    assert_int_equal(f.status, MARGIN_OK);
    assert_true(f.report.objective <= 1e-6);
    linear_fitted_free(&f);
    linear_case_free(c);
}

/* Classes that separate have no bound: none is looked for in a matrix of all columns, which would
 * take 18 MB. */
static void test_no_optimum_of_many_columns(void **state) {
    (void)state;
    linear_case *c = linear_case_make(20, 1500, 0, 0, 66);
    margin_context *context = support_context(NULL, 1);
    linear_fitted f = linear_fit_with(context, &c->problem, MG_LOSS_LOGISTIC, "C=inf", NULL);
    linear_fitted again = linear_verify(&c->problem, MG_LOSS_LOGISTIC, "C=inf", f.h);
    assert_int_equal(f.status, MARGIN_STOPPED_STALLED);
    assert_contains(f.report.reason, "every row on its side");
    assert_true(f.report.gap <= 1e-6);
    assert_close(again.report.gap, f.report.gap, 1e-9);
    assert_true(margin_context_peak_memory(context) < 2000000);
    linear_fitted_free(&again);
    linear_fitted_free(&f);
    margin_context_free(context);
    linear_case_free(c);
}

/* A 0/1 column that is 1 only in rows of one class: its weight grows for ever, the others do not.
 */
static void test_no_optimum_in_one_direction(void **state) {
    (void)state;
    for (int s = 0; s < MG_LENGTH(solvers); s++) {
        linear_case *c = linear_case_make(200, 3, 0.2, 1, 65);
        char options[100];
        for (int64_t i = 0; i < c->rows; i++)
            c->x[i * 3 + 2] = c->sign[i] > 0 && i % 5 == 0;
        snprintf(options, sizeof options, "C=inf, solver=%s", solvers[s]);
        linear_fitted f = linear_fit(&c->problem, MG_LOSS_LOGISTIC, options);
        assert_int_equal(f.status, MARGIN_STOPPED_STALLED);
        assert_contains(f.report.reason, "no optimum");
        assert_contains(f.report.reason, "in one direction");
        assert_true(weights_of(&f)[2] > 5);
        assert_true(fabs(weights_of(&f)[0]) < 5);
        linear_fitted_free(&f);
        linear_case_free(c);
    }
}

/* ---- Invariances ----------------------------------------------------------------------------- */

static void test_order_of_rows(void **state) {
    (void)state;
    linear_case *c = linear_case_make(4096, 5, 0.3, 1, 71);
    int64_t *order = calloc(4096, sizeof *order);
    for (int64_t i = 0; i < 4096; i++)
        order[i] = i * 4999 % 4096;
    mg_problem shuffled = c->problem;
    int8_t *sign = calloc(4096, 1);
    for (int64_t i = 0; i < 4096; i++)
        sign[i] = c->sign[order[i]];
    shuffled.index = order;
    shuffled.sign = sign;
    for (int l = 0; l < 3; l++) {
        linear_fitted f = linear_fit(&c->problem, losses[l], "");
        linear_fitted g = linear_fit(&shuffled, losses[l], "");
        const double size = f.report.objective;
        assert_true(fabs(f.report.objective - g.report.objective) <= 1e-6 * size);
        double distance = 0;
        for (int j = 0; j < 5; j++)
            distance += pow(weights_of(&f)[j] - weights_of(&g)[j], 2);
        /* each within sqrt(2 gap P) of the optimum */
        const double gaps = sqrt(2 * f.report.gap * size) + sqrt(2 * g.report.gap * size);
        assert_true(sqrt(distance) <= gaps + 1e-9);
        linear_fitted_free(&f);
        linear_fitted_free(&g);
    }
    free(order);
    free(sign);
    linear_case_free(c);
}

static void test_threads(void **state) {
    (void)state;
    linear_case *c = linear_case_make(30000, 6, 0.3, 1, 72);
    linear_assert_threads(&c->problem, MG_LOSS_LOGISTIC, "solver=lbfgs");
    linear_assert_threads(&c->problem, MG_LOSS_LOGISTIC, "solver=newton");
    linear_case_free(c);
}

/* The start changes the way, not the end. */
static void test_start(void **state) {
    (void)state;
    linear_case *c = linear_case_make(100, 2, 0.3, 1, 73);
    for (int s = 0; s < MG_LENGTH(solvers); s++) {
        char options[200];
        const oracle_problem p = oracle_of(c, MG_LOSS_LOGISTIC, 1, true);
        snprintf(options, sizeof options, "start_weights=40 -30, start_intercept=8, solver=%s",
                 solvers[s]);
        linear_fitted f = linear_fit(&c->problem, MG_LOSS_LOGISTIC, options);
        assert_optimal(&p, &f, 1e-6);
        /* and from the optimum nothing is left to do */
        snprintf(options, sizeof options,
                 "start_weights=%.17g %.17g, start_intercept=%.17g, solver=%s", weights_of(&f)[0],
                 weights_of(&f)[1], intercept_of(&f), solvers[s]);
        linear_fitted g = linear_fit(&c->problem, MG_LOSS_LOGISTIC, options);
        assert_int_equal(g.report.iterations, 0);
        linear_fitted_free(&f);
        linear_fitted_free(&g);
    }
    linear_case_free(c);
}

/* A row far on the wrong side: exp of the full first step is beyond double precision. */
static void test_overflowing_steps(void **state) {
    (void)state;
    linear_case *c = linear_case_make(400, 2, 0, 0.1, 74);
    c->x[6] = -4000 * c->sign[3];
    c->x[7] = 0;
    for (int s = 0; s < MG_LENGTH(solvers); s++) {
        char options[100];
        snprintf(options, sizeof options, "C=100, solver=%s", solvers[s]);
        linear_fitted f = linear_fit(&c->problem, MG_LOSS_EXPONENTIAL, options);
        const oracle_problem p = oracle_of(c, MG_LOSS_EXPONENTIAL, 100, true);
        assert_int_equal(f.status, MARGIN_OK);
        assert_true(oracle_gap(&p, weights_of(&f), intercept_of(&f)) <=
                    1.01e-6 * f.report.objective);
        linear_fitted_free(&f);
    }
    linear_case_free(c);
}

/* ---- Ends ------------------------------------------------------------------------------------ */

static void test_limits(void **state) {
    (void)state;
    linear_case *c = linear_case_make(300, 6, 0.5, 0.5, 81);
    for (int s = 1; s < MG_LENGTH(solvers); s++) {
        char options[100];
        snprintf(options, sizeof options, "max_iter=1, tol=1e-12, solver=%s", solvers[s]);
        linear_fitted f = linear_fit(&c->problem, MG_LOSS_LOGISTIC, options);
        const oracle_problem p = oracle_of(c, MG_LOSS_LOGISTIC, 1, true);
        assert_int_equal(f.status, MARGIN_STOPPED_ITERATIONS);
        assert_int_equal(f.report.iterations, 1);
        assert_true(f.report.gap > 1e-12);
        assert_contains(f.report.reason, "raise max_iter");
        const double gap = oracle_gap(&p, weights_of(&f), intercept_of(&f));
        assert_close(gap / f.report.objective, f.report.gap, 1e-9); /* proven all the same */
        linear_fitted_free(&f);

        f = linear_fit_limited(&c->problem, MG_LOSS_LOGISTIC, options);
        assert_true(isfinite(f.report.gap));
        linear_fitted_free(&f);
    }
    linear_case_free(c);
}

/* tol below what double precision can show: it ends, and says which gap it has. */
static void test_rounding(void **state) {
    (void)state;
    linear_case *c = linear_case_make(500, 9, 0.5, 1, 82);
    for (int l = 0; l < 3; l++)
        for (int s = 1; s < MG_LENGTH(solvers); s++) {
            char options[100];
            snprintf(options, sizeof options, "tol=1e-300, solver=%s", solvers[s]);
            linear_fitted f = linear_fit(&c->problem, losses[l], options);
            assert_true(f.report.gap <= 1e-12);
            if (f.status != MARGIN_OK) {
                assert_int_equal(f.status, MARGIN_STOPPED_STALLED);
                assert_contains(f.report.reason, "rounding");
            }
            assert_true(f.report.iterations <= 100);
            linear_fitted_free(&f);
        }
    linear_case_free(c);
}

/* Without room for a Hessian the diagonal must do. */
static void test_memory_limit(void **state) {
    (void)state;
    linear_case *c = linear_case_make(400, 60, 0.2, 1, 83);
    margin_context_options limited = {.size = sizeof limited, .threads = 1, .memory_limit = 500000};
    margin_context *context;
    assert_int_equal(margin_context_create(&limited, &context, NULL), MARGIN_OK);
    for (int s = 0; s < MG_LENGTH(solvers); s++) {
        char options[100];
        snprintf(options, sizeof options, "solver=%s", solvers[s]);
        linear_fitted f = linear_fit_with(context, &c->problem, MG_LOSS_LOGISTIC, options, NULL);
        if (f.status < 0) fail_msg("%s", f.error.text);
        assert_int_equal(f.status, MARGIN_OK);
        assert_true(margin_context_peak_memory(context) < 500000);
        linear_fitted_free(&f);
    }
    margin_context_free(context);
    linear_case_free(c);
}

typedef struct steps_seen {
    int64_t count;
    double loss, least, intercept;
    int64_t errors;
} steps_seen;

static int see_step(const margin_trace_step *step, void *user) {
    steps_seen *seen = user;
    assert_int_equal(step->step, seen->count);
    assert_int_equal(step->row, -1);
    assert_int_equal(step->weight_count, 4);
    if (seen->count > 0) assert_true(step->loss <= seen->least * (1 + 1e-12));
    seen->count++;
    seen->loss = seen->least = step->loss;
    seen->intercept = step->intercept;
    seen->errors = step->errors;
    return 0;
}

static void test_trace(void **state) {
    (void)state;
    linear_case *c = linear_case_make(200, 4, 0.5, 1, 84);
    margin_context *context = support_context(NULL, 2);
    for (int s = 0; s < MG_LENGTH(solvers); s++) {
        steps_seen seen = {0};
        const mg_trace trace = {.step = see_step, .user = &seen};
        char options[100];
        snprintf(options, sizeof options, "solver=%s", solvers[s]);
        linear_fitted f = linear_fit_with(context, &c->problem, MG_LOSS_LOGISTIC, options, &trace);
        int64_t errors = 0;
        assert_int_equal(f.status, MARGIN_OK);
        assert_int_equal(seen.count, f.report.iterations + 1);
        assert_close(seen.loss, f.report.objective, 1e-12);
        assert_true(seen.intercept == intercept_of(&f));
        for (int64_t i = 0; i < c->rows; i++) {
            double score = intercept_of(&f);
            for (int j = 0; j < 4; j++)
                score += c->x[i * 4 + j] * weights_of(&f)[j];
            errors += c->sign[i] * score <= 0;
        }
        assert_int_equal(seen.errors, errors);
        linear_fitted_free(&f);
    }
    margin_context_free(context);
    linear_case_free(c);
}

/* Numbers whose objective is no number are refused by name. */
static void test_beyond_double(void **state) {
    (void)state;
    linear_case *c = linear_case_make(20, 2, 0, 1, 85);
    margin_context *context = support_context(NULL, 1);
    linear_fitted f =
        linear_fit_with(context, &c->problem, MG_LOSS_LOGISTIC, "start_weights=1e200 1e200", NULL);
    assert_int_equal(f.status, MARGIN_ERROR_DATA);
    assert_contains(f.error.text, "standardize");
    for (int64_t i = 0; i < 20; i++)
        c->x[2 * i] *= 1e300;
    f = linear_fit_with(context, &c->problem, MG_LOSS_LOGISTIC, "", NULL);
    assert_true(f.status >= 0 || f.status == MARGIN_ERROR_DATA);
    if (f.status >= 0) assert_true(isfinite(f.report.objective));
    linear_fitted_free(&f);
    margin_context_free(context);
    linear_case_free(c);
}

/* ---- Memory, cancelling ---------------------------------------------------------------------- */

static margin_status fit_body(margin_context *context, void *user, margin_error *error) {
    const char *options = user;
    linear_case *c = linear_case_make(5000, 3, 0.3, 1, 91);
    linear_fitted f = linear_fit_with(context, &c->problem, MG_LOSS_LOGISTIC, options, NULL);
    *error = f.error;
    linear_fitted_free(&f);
    linear_case_free(c);
    return f.status;
}

static margin_status wide_body(margin_context *context, void *user, margin_error *error) {
    sparse_case c = sparse_make(100, 2500, 10, 92);
    linear_fitted f = linear_fit_with(context, &c.problem, MG_LOSS_LOGISTIC, user, NULL);
    *error = f.error;
    linear_fitted_free(&f);
    sparse_free(&c);
    return f.status;
}

static margin_status few_body(margin_context *context, void *user, margin_error *error) {
    linear_case *c = few_directions(28, 60, false);
    const mg_loss_kind kind = *(mg_loss_kind *)user;
    const char *options = kind == MG_LOSS_HINGE ? "solver=ssnal" : "solver=lbfgs";
    linear_fitted f = linear_fit_with(context, &c->problem, kind, options, NULL);
    *error = f.error;
    linear_fitted_free(&f);
    linear_case_free(c);
    return f.status;
}

static void test_allocations(void **state) {
    (void)state;
    mg_loss_kind kinds[] = {MG_LOSS_SQUARED_HINGE, MG_LOSS_HINGE};
    for (int k = 0; k < MG_LENGTH(kinds); k++)
        assert_true(support_fail_each_allocation(1, few_body, &kinds[k]) > 15);
    assert_true(support_fail_each_allocation(1, fit_body, (void *)"solver=lbfgs") > 10);
    assert_true(support_fail_each_allocation(2, fit_body, (void *)"solver=newton") > 10);
    assert_true(support_fail_each_allocation(1, fit_body, (void *)"C=inf, tol=1e-9") > 10);
    assert_true(support_fail_each_allocation(1, wide_body, (void *)"solver=newton") > 10);
}

static void test_cancel(void **state) {
    (void)state;
    linear_case *c = linear_case_make(5000, 3, 0.3, 1, 93);
    for (int s = 0; s < MG_LENGTH(solvers); s++) {
        char options[100];
        snprintf(options, sizeof options, "tol=1e-12, solver=%s", solvers[s]);
        linear_assert_cancels(&c->problem, MG_LOSS_LOGISTIC, options, 2);
    }
    linear_case_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_optimum),
        cmocka_unit_test(test_few_steps),
        cmocka_unit_test(test_many_rows),
        cmocka_unit_test(test_misleading_rows),
        cmocka_unit_test(test_scaled_columns),
        cmocka_unit_test(test_units_do_not_matter),
        cmocka_unit_test(test_affine_problem),
        cmocka_unit_test(test_degenerate_columns),
        cmocka_unit_test(test_rare_columns),
        cmocka_unit_test(test_more_columns_than_rows),
        cmocka_unit_test(test_few_directions),
        cmocka_unit_test(test_few_directions_of_many_columns),
        cmocka_unit_test(test_start_with_constant),
        cmocka_unit_test(test_few_steps_of_few_directions),
        cmocka_unit_test(test_one_row_per_class),
        cmocka_unit_test(test_sampled),
        cmocka_unit_test(test_sparse),
        cmocka_unit_test(test_wide_sparse),
        cmocka_unit_test(test_next_to_no_penalty),
        cmocka_unit_test(test_nothing_but_penalty),
        cmocka_unit_test(test_no_penalty),
        cmocka_unit_test(test_no_penalty_of_many_columns),
        cmocka_unit_test(test_no_optimum),
        cmocka_unit_test(test_no_optimum_of_many_columns),
        cmocka_unit_test(test_no_optimum_in_one_direction),
        cmocka_unit_test(test_order_of_rows),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_start),
        cmocka_unit_test(test_overflowing_steps),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_memory_limit),
        cmocka_unit_test(test_trace),
        cmocka_unit_test(test_beyond_double),
        cmocka_unit_test(test_allocations),
        cmocka_unit_test(test_cancel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
