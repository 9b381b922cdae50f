/* The working-set solver: the conditions of an optimum and the proof, computed again by plain loops
 * in extended precision for every loss; sets that grow, blocks, dependent and scaled columns,
 * penalties at both ends, and what every solver must keep. */
#include "linear_cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const mg_loss_kind losses[] = {MG_LOSS_SQUARED, MG_LOSS_LOGISTIC, MG_LOSS_SQUARED_HINGE,
                                      MG_LOSS_EXPONENTIAL};

/* ---- By other means -------------------------------------------------------------------------- */

typedef long double real;

/* sum_i factor weight_i loss + rho/2 |w|^2 + kappa |w|_1 */
typedef struct sparse_oracle {
    const linear_case *c;
    mg_loss_kind loss;
    real factor, rho, kappa;
    bool intercept;
} sparse_oracle;

static sparse_oracle oracle_of(const linear_case *c, mg_loss_kind loss, double C, double ratio) {
    return (sparse_oracle){c, loss, (real)C, 1 - (real)ratio, (real)ratio / 2, true};
}

static real weight_of(const sparse_oracle *o, int64_t i) {
    const double *weight = o->c->problem.weight;
    return o->factor * (real)(weight ? weight[i] : 1.0);
}

/* Value and slope of the loss in f. */
static void loss_at(const sparse_oracle *o, int64_t i, real f, real *value, real *slope) {
    const real y = o->c->sign[i], z = y * f, left = 1 - z;
    switch (o->loss) {
    case MG_LOSS_SQUARED:
        *slope = 2 * (f - (real)o->c->target[i]);
        *value = *slope * *slope / 4;
        return;
    case MG_LOSS_LOGISTIC:
        *value = z > 0 ? log1pl(expl(-z)) : log1pl(expl(z)) - z;
        *slope = -y / (1 + expl(z));
        return;
    case MG_LOSS_SQUARED_HINGE:
        *value = left > 0 ? left * left : 0;
        *slope = left > 0 ? -2 * y * left : 0;
        return;
    default:
        *value = expl(-z);
        *slope = -y * *value;
    }
}

typedef struct sparse_found {
    real value;   /* P */
    real excess;  /* derivative in b */
    real *slopes; /* columns: derivatives of the loss */
    real *r;      /* rows: weight times derivative in f */
    real fitted;  /* sum r f */
} sparse_found;

static sparse_found look(const sparse_oracle *o, const double *w, double b) {
    const int64_t rows = o->c->rows, columns = o->c->columns;
    sparse_found found = {.slopes = calloc((size_t)columns, sizeof(real)),
                          .r = calloc((size_t)rows, sizeof(real))};
    for (int64_t i = 0; i < rows; i++) {
        const double *x = o->c->x + i * columns;
        real f = (real)b, value, slope;
        for (int64_t j = 0; j < columns; j++)
            f += (real)x[j] * (real)w[j];
        loss_at(o, i, f, &value, &slope);
        found.value += weight_of(o, i) * value;
        found.r[i] = weight_of(o, i) * slope;
        found.excess += found.r[i];
        for (int64_t j = 0; j < columns; j++)
            found.slopes[j] += found.r[i] * (real)x[j];
    }
    for (int64_t j = 0; j < columns; j++)
        found.value += o->rho / 2 * (real)w[j] * (real)w[j] + o->kappa * fabsl((real)w[j]);
    return found;
}

static void forget(sparse_found *found) {
    free(found->slopes);
    free(found->r);
}

/* The conditions of an optimum, which for a convex objective are enough: each slope is what the
 * penalty balances, within `share` of kappa. */
static void assert_conditions(const sparse_oracle *o, const double *w, double b, double share) {
    sparse_found found = look(o, w, b);
    const real room = (real)share * (o->kappa + o->rho);
    for (int64_t j = 0; j < o->c->columns; j++) {
        const real slope = found.slopes[j] + o->rho * (real)w[j];
        const real off =
            w[j] == 0 ? fabsl(slope) - o->kappa : fabsl(slope + copysignl(o->kappa, (real)w[j]));
        if (!(off <= room))
            fail_msg("column %d of %d: w = %g is off by %Lg of %Lg", (int)j, (int)o->c->columns,
                     w[j], off, o->kappa);
    }
    if (o->intercept) assert_true(fabsl(found.excess) <= room + 1e-12L * o->factor);
    forget(&found);
}

static int64_t nonzero(const linear_fitted *f, int64_t columns) {
    int64_t count = 0;
    for (int64_t j = 0; j < columns; j++)
        count += weights_of(f)[j] != 0;
    return count;
}

static double item(const linear_fitted *f, const char *name) {
    return margin_report_item_value(&f->report, name);
}

/* A fit that must have converged to an optimum, with the report that goes with it. */
static void assert_optimal(const sparse_oracle *o, const linear_fitted *f, double share) {
    if (f->status != MARGIN_OK) fail_msg("%s", f->report.reason);
    sparse_found found = look(o, weights_of(f), intercept_of(f));
    assert_close(f->report.objective, (double)found.value, 1e-11);
    assert_true(f->report.gap <= f->report.tolerance);
    assert_true(item(f, "nonzero") == (double)nonzero(f, o->c->columns));
    forget(&found);
    assert_conditions(o, weights_of(f), intercept_of(f), share);
}

static linear_fitted fit_optimal(const sparse_oracle *o, const char *options, double share) {
    linear_fitted f = linear_fit(&o->c->problem, o->loss, options);
    assert_optimal(o, &f, share);
    return f;
}

/* ---- Ordinary data --------------------------------------------------------------------------- */

static void test_optimum(void **state) {
    const double Cs[] = {3e-3, 0.1, 10, 1e4}, ratios[] = {1, 0.5, 0.01};
    (void)state;
    for (int l = 0; l < MG_LENGTH(losses); l++)
        for (int k = 0; k < MG_LENGTH(Cs); k++)
            for (int r = 0; r < MG_LENGTH(ratios); r++)
                for (int intercept = 0; intercept < 2; intercept++) {
                    linear_case *c = linear_case_make(90, 12, 0.8, 1, (uint64_t)(l + 1));
                    char options[200];
                    if (k == 1) c->problem.weight = c->weight;
                    snprintf(options, sizeof options, "C=%g, l1_ratio=%g, tol=1e-11, intercept=%s",
                             Cs[k], ratios[r], intercept ? "yes" : "no");
                    sparse_oracle o = oracle_of(c, losses[l], Cs[k], ratios[r]);
                    o.intercept = intercept;
                    linear_fitted f = fit_optimal(&o, options, 1e-2);
                    assert_contains(f.report.reason, "solver working_set, as |w|_1");
                    assert_true(f.report.iterations <= 60);
                    if (!intercept) assert_true(intercept_of(&f) == 0);
                    linear_fitted_free(&f);
                    linear_case_free(c);
                }
}

/* D = sum_i -conjugate - [..], for the losses with the simplest ones. */
static void test_proof(void **state) {
    (void)state;
    for (int tight = 0; tight < 2; tight++) {
        linear_case *c = linear_case_make(150, 20, 0.9, 1, 3);
        const sparse_oracle o = oracle_of(c, MG_LOSS_SQUARED, 0.1, 1);
        linear_fitted f = linear_fit(&c->problem, o.loss,
                                     tight ? "C=0.1, l1_ratio=1, tol=1e-12"
                                           : "C=0.1, l1_ratio=1, tol=1e-12, max_iter=1");
        /* r = mean-free residuals, times s so that |x_j.r| <= kappa: D = -y.r s - |r s|^2/(4 c) */
        sparse_found found = look(&o, weights_of(&f), intercept_of(&f));
        real most = 0, linear = 0, square = 0, best;
        for (int64_t i = 0; i < c->rows; i++)
            found.r[i] -= found.excess / (real)c->rows;
        for (int64_t j = 0; j < c->columns; j++) {
            real v = 0;
            for (int64_t i = 0; i < c->rows; i++)
                v += found.r[i] * (real)c->x[i * c->columns + j];
            most = fmaxl(most, fabsl(v));
        }
        for (int64_t i = 0; i < c->rows; i++) {
            linear -= found.r[i] * (real)c->target[i];
            square += found.r[i] * found.r[i] / (4 * o.factor);
        }
        best = linear / (2 * square);
        best = fminl(best, o.kappa / most);
        const real dual = best * linear - best * best * square;
        assert_close((double)((found.value - dual) / fmaxl(1, found.value)), f.report.gap, 1e-12);
        forget(&found);
        linear_fitted g = linear_verify(&c->problem, o.loss, "C=0.1, l1_ratio=1, tol=1e-12", f.h);
        assert_close(f.report.objective, g.report.objective, 1e-13);
        assert_true(fabs(f.report.gap - g.report.gap) <= 1e-12);
        assert_true(item(&g, "nonzero") == item(&f, "nonzero"));
        assert_close(item(&g, "lambda_max"), item(&f, "lambda_max"), 1e-12);
        linear_fitted_free(&g);
        linear_fitted_free(&f);
        linear_case_free(c);
    }
}

/* The proof of other losses agrees with the plain loops of the verification. */
static void test_verified(void **state) {
    const char *const options[] = {"C=2, l1_ratio=1", "C=2, l1_ratio=0.3",
                                   "lambda=0.01, l1_ratio=1", "alpha=3, l1_ratio=0.7, max_iter=2"};
    (void)state;
    for (int l = 0; l < MG_LENGTH(losses); l++)
        for (int k = 0; k < MG_LENGTH(options); k++) {
            linear_case *c = linear_case_make(100, 15, 0.7, 1, 4);
            linear_fitted f = linear_fit(&c->problem, losses[l], options[k]);
            linear_fitted g = linear_verify(&c->problem, losses[l], options[k], f.h);
            assert_close(f.report.objective, g.report.objective, 1e-12);
            assert_true(fabs(f.report.gap - g.report.gap) <= 1e-11 + 1e-6 * fabs(f.report.gap));
            linear_fitted_free(&g);
            linear_fitted_free(&f);
            linear_case_free(c);
        }
}

/* ---- Sets ------------------------------------------------------------------------------------ */

/* More columns than rows, and than the first set has. */
static void test_wide(void **state) {
    (void)state;
    for (int l = 0; l < MG_LENGTH(losses); l++)
        for (int k = 0; k < 3; k++) {
            linear_case *c = linear_case_make(40, 700, 0.6, 1, 11);
            const double C = k == 0 ? 0.05 : k == 1 ? 1 : 100;
            char options[100];
            snprintf(options, sizeof options, "C=%g, l1_ratio=1, tol=1e-10", C);
            const sparse_oracle o = oracle_of(c, losses[l], C, 1);
            linear_fitted f = fit_optimal(&o, options, 1e-3);
            assert_true(nonzero(&f, 700) <= 40);
            linear_fitted_free(&f);
            linear_case_free(c);
        }
}

/* No matrix is made that has many more columns than the rows can give weights. */
static void test_wide_memory(void **state) {
    (void)state;
    margin_context *own = support_context(NULL, 1);
    linear_case *c = linear_case_make(60, 16000, 0.6, 1, 13);
    const int64_t before = margin_context_peak_memory(own);
    linear_fitted f = linear_fit_with(own, &c->problem, MG_LOSS_LOGISTIC, "l1_ratio=1", NULL);
    assert_int_equal(f.status, MARGIN_OK);
    assert_true(margin_context_peak_memory(own) - before < 6 << 20);
    linear_fitted_free(&f);
    linear_case_free(c);
    margin_context_free(own);
}

/* Many weights: sets double. */
static void test_growing_sets(void **state) {
    (void)state;
    linear_case *c = linear_case_make(400, 600, 0.95, 0.1, 12);
    const sparse_oracle o = oracle_of(c, MG_LOSS_SQUARED, 50, 1);
    linear_fitted f = fit_optimal(&o, "C=50, l1_ratio=1, tol=1e-10", 1e-4);
    assert_true(nonzero(&f, 600) > 219); /* more than the first set */
    assert_true(f.report.iterations > 1);
    linear_fitted_free(&f);
    linear_case_free(c);
}

/* With little memory a set has 64 columns at most, and others wait for their turn. */
static void test_blocks(void **state) {
    (void)state;
    linear_case *c = linear_case_make(300, 150, 0.1, 0.5, 13);
    margin_context_options limited = {.size = sizeof limited, .threads = 1, .memory_limit = 500000};
    margin_context *context;
    assert_int_equal(margin_context_create(&limited, &context, NULL), MARGIN_OK);
    for (int l = 0; l < MG_LENGTH(losses); l++) {
        const sparse_oracle o = oracle_of(c, losses[l], 10, 0.5);
        linear_fitted f =
            linear_fit_with(context, &c->problem, losses[l], "C=10, l1_ratio=0.5, tol=1e-9", NULL);
        if (f.status < 0) fail_msg("%s", f.error.text);
        assert_optimal(&o, &f, 1e-2);
        assert_true(nonzero(&f, 150) > 120);
        assert_true(margin_context_peak_memory(context) < 500000);
        linear_fitted_free(&f);
    }
    margin_context_free(context);
    linear_case_free(c);
}

/* A start at the optimum, or near it, is worth its while. */
static void test_warm_start(void **state) {
    (void)state;
    linear_case *c = linear_case_make(200, 8, 0.5, 1, 14);
    for (int l = 0; l < 2; l++) {
        const sparse_oracle o = oracle_of(c, losses[l], 1, 1);
        char options[700];
        int used = snprintf(options, sizeof options, "C=1, l1_ratio=1, start_weights=");
        linear_fitted f = linear_fit(&c->problem, losses[l], "C=0.9, l1_ratio=1, tol=1e-12");
        for (int j = 0; j < 8; j++)
            used += snprintf(options + used, sizeof options - (size_t)used, "%.17g ",
                             weights_of(&f)[j]);
        snprintf(options + used, sizeof options - (size_t)used, ", start_intercept=%.17g",
                 intercept_of(&f));
        linear_fitted cold = linear_fit(&c->problem, losses[l], "C=1, l1_ratio=1");
        linear_fitted warm = fit_optimal(&o, options, 1e-3);
        assert_true(warm.report.iterations <= cold.report.iterations);
        assert_close(warm.report.objective, cold.report.objective, 2e-6);
        assert_close(item(&warm, "lambda_max"), item(&cold, "lambda_max"), 1e-12);
        linear_fitted_free(&warm);
        linear_fitted_free(&cold);
        linear_fitted_free(&f);
    }
    linear_case_free(c);
}

/* ---- Columns --------------------------------------------------------------------------------- */

/* Copies, opposites and multiples of columns: the weights are not unique, the objective is. */
static void test_dependent_columns(void **state) {
    (void)state;
    for (int l = 0; l < MG_LENGTH(losses); l++) {
        linear_case *c = linear_case_make(120, 5, 0.3, 1, 21);
        linear_case *more = linear_case_make(120, 15, 0.3, 1, 21);
        memcpy(more->sign, c->sign, 120);
        memcpy(more->target, c->target, 120 * sizeof *c->target);
        for (int64_t i = 0; i < 120; i++)
            for (int64_t j = 0; j < 5; j++) {
                more->x[i * 15 + j] = c->x[i * 5 + j];
                more->x[i * 15 + 5 + j] = -c->x[i * 5 + j];
                more->x[i * 15 + 10 + j] = c->x[i * 5 + j];
            }
        const sparse_oracle o = oracle_of(c, losses[l], 5, 1),
                            all = oracle_of(more, losses[l], 5, 1);
        linear_fitted f = fit_optimal(&o, "C=5, l1_ratio=1, tol=1e-11", 1e-4);
        linear_fitted g = fit_optimal(&all, "C=5, l1_ratio=1, tol=1e-11", 1e-4);
        assert_close(f.report.objective, g.report.objective, 1e-10);
        for (int j = 0; j < 5; j++) /* the parts do not work against each other */
            assert_close(weights_of(&f)[j],
                         weights_of(&g)[j] - weights_of(&g)[5 + j] + weights_of(&g)[10 + j], 1e-4);
        linear_fitted_free(&g);
        linear_fitted_free(&f);
        linear_case_free(more);
        linear_case_free(c);
    }
}

/* Columns of 1e-12 and 1e12, far from 0, and constant ones. */
static void test_columns_of_all_sizes(void **state) {
    (void)state;
    for (int l = 0; l < MG_LENGTH(losses); l++) {
        linear_case *c = linear_case_make(150, 6, 0.3, 1, 22);
        const double scale[6] = {1e-12, 1e6, 1, 1, 1e-3, 0};
        const double shift[6] = {0, 0, 1e4, 0, 1, 3};
        linear_case_scale(c, scale, shift);
        const sparse_oracle o = oracle_of(c, losses[l], 1, 1);
        linear_fitted f = fit_optimal(&o, "C=1, l1_ratio=1", 1e-2);
        assert_true(weights_of(&f)[0] == 0); /* far too expensive */
        assert_true(weights_of(&f)[5] == 0);
        assert_true(weights_of(&f)[1] != 0);
        linear_fitted_free(&f);
        linear_case_free(c);
    }
}

/* Beside a column of 1e12 rounding in its sums is more than the penalty: a good model all the same,
 * and a word about the proof. */
static void test_huge_column(void **state) {
    (void)state;
    for (int l = 0; l < 2; l++) {
        linear_case *c = linear_case_make(150, 4, 0, 1, 23);
        const double scale[4] = {1, 1e12, 1, 1};
        linear_fitted plain = linear_fit(&c->problem, losses[l], "C=1, l1_ratio=1");
        linear_case_scale(c, scale, NULL);
        linear_fitted f = linear_fit(&c->problem, losses[l], "C=1, l1_ratio=1");
        assert_true(f.status == MARGIN_OK || f.status == MARGIN_STOPPED_STALLED);
        if (f.status != MARGIN_OK) assert_contains(f.report.reason, "standardize");
        assert_true(f.report.objective <= plain.report.objective * (1 + 1e-9));
        assert_true(f.report.iterations < 60);
        linear_fitted_free(&f);
        linear_fitted_free(&plain);
        linear_case_free(c);
    }
}

/* Scale and shift that are told are those that are applied. */
static void test_affine_problem(void **state) {
    const double scale[5] = {2, 0.1, -3, 1, 0}, shift[5] = {-7, 100, 0, 0.5, 4};
    (void)state;
    for (int l = 0; l < MG_LENGTH(losses); l++) {
        linear_case *c = linear_case_make(130, 5, 0.5, 1, 24);
        mg_problem told = c->problem;
        told.scale = scale;
        told.shift = shift;
        linear_fitted f = linear_fit(&told, losses[l], "C=1, l1_ratio=0.9, tol=1e-10");
        linear_case_scale(c, scale, shift);
        const sparse_oracle o = oracle_of(c, losses[l], 1, 0.9);
        assert_optimal(&o, &f, 1e-3);
        linear_fitted_free(&f);
        linear_case_free(c);
    }
}

/* ---- Penalties at both ends ------------------------------------------------------------------ */

/* At lambda_max and above all weights are 0, exactly; just below one is not. */
static void test_lambda_max(void **state) {
    (void)state;
    for (int l = 0; l < MG_LENGTH(losses); l++)
        for (int k = 0; k < 2; k++) {
            linear_case *c = linear_case_make(100, 9, 0.5, 1, 31);
            const double ratio = k ? 0.4 : 1;
            char options[200];
            c->problem.weight = c->weight;
            snprintf(options, sizeof options, "lambda=1e3, l1_ratio=%g", ratio);
            linear_fitted f = linear_fit(&c->problem, losses[l], options);
            const double limit = item(&f, "lambda_max");
            assert_int_equal(f.status, MARGIN_OK);
            assert_int_equal(nonzero(&f, 9), 0);
            /* slopes where only b is fitted */
            real m = 0, most = 0;
            for (int64_t i = 0; i < 100; i++)
                m += (real)c->weight[i];
            const sparse_oracle o = {c, losses[l], 1 / m, 0, 1, true};
            sparse_found found = look(&o, weights_of(&f), intercept_of(&f));
            for (int j = 0; j < 9; j++)
                most = fmaxl(most, fabsl(found.slopes[j]));
            assert_close((double)(most / (real)ratio), limit, 1e-12);
            forget(&found);
            linear_fitted_free(&f);
            for (int below = 0; below < 2; below++) {
                snprintf(options, sizeof options, "lambda=%.17g, l1_ratio=%g",
                         limit * (below ? 1 - 1e-3 : 1 + 1e-12), ratio);
                f = linear_fit(&c->problem, losses[l], options);
                assert_int_equal(f.status, MARGIN_OK);
                assert_int_equal(nonzero(&f, 9), below);
                assert_close(item(&f, "lambda_max"), limit, 1e-12);
                linear_fitted_free(&f);
            }
            linear_case_free(c);
        }
}

/* Next to no penalty: the optimum without one. */
static void test_next_to_no_penalty(void **state) {
    (void)state;
    for (int l = 0; l < 2; l++) {
        linear_case *c = linear_case_make(200, 6, 0.5, 1, 32);
        double w[ORACLE_COLUMNS], b;
        const oracle_problem p = {c, losses[l], 1, 0, true};
        const double best = oracle_solve(&p, w, &b);
        linear_fitted f = linear_fit(&c->problem, losses[l], "alpha=1e-7, l1_ratio=1");
        assert_int_equal(f.status, MARGIN_OK);
        assert_close(oracle_objective(&p, weights_of(&f), intercept_of(&f)), best, 2e-6);
        for (int j = 0; j < 6; j++)
            assert_close(weights_of(&f)[j], w[j], 1e-3);
        linear_fitted_free(&f);
        linear_case_free(c);
    }
}

/* Classes that can be told apart, with penalties so small that the weights are large. */
static void test_separable(void **state) {
    const mg_loss_kind kinds[] = {MG_LOSS_LOGISTIC, MG_LOSS_SQUARED_HINGE, MG_LOSS_EXPONENTIAL};
    (void)state;
    for (int l = 0; l < 3; l++)
        for (int k = 0; k < 3; k++) {
            linear_case *c = linear_case_make(80, 10, 0.5, 0, 33);
            const double C = k == 0 ? 1 : k == 1 ? 1e4 : 1e8;
            char options[100];
            snprintf(options, sizeof options, "C=%g, l1_ratio=1", C);
            const sparse_oracle o = oracle_of(c, kinds[l], C, 1);
            linear_fitted f = fit_optimal(&o, options, 0.05);
            linear_fitted_free(&f);
            linear_case_free(c);
        }
}

/* Targets in tiny and huge units: as good a model, which the gap beside 1 does not show. */
static void test_units_of_the_target(void **state) {
    (void)state;
    for (int k = 0; k < 3; k++) {
        linear_case *c = linear_case_make(100, 8, 0.5, 1, 34);
        const double unit = k == 0 ? 1e-9 : k == 1 ? 1 : 1e9;
        char options[100];
        for (int i = 0; i < 100; i++)
            c->target[i] *= unit;
        snprintf(options, sizeof options, "alpha=%.17g, l1_ratio=1", 20 * unit);
        linear_fitted f = linear_fit(&c->problem, MG_LOSS_SQUARED, options);
        const sparse_oracle o = {c, MG_LOSS_SQUARED, 1, 0, 20 * (real)unit, true};
        assert_optimal(&o, &f, 1e-4);
        linear_fitted_free(&f);
        linear_case_free(c);
    }
}

/* ---- What every solver keeps ----------------------------------------------------------------- */

static void test_what_it_can(void **state) {
    (void)state;
    linear_case *c = linear_case_make(30, 2, 0, 1, 41);
    margin_context *context = support_context(NULL, 1);
    linear_fitted f =
        linear_fit_with(context, &c->problem, MG_LOSS_LOGISTIC, "solver=working_set", NULL);
    assert_int_equal(f.status, MARGIN_ERROR_SPEC);
    assert_contains(f.error.text, "there is no |w|_1 in the penalty");
    f = linear_fit_with(context, &c->problem, MG_LOSS_HINGE, "solver=working_set, l1_ratio=1",
                        NULL);
    assert_int_equal(f.status, MARGIN_ERROR_SPEC);
    assert_contains(f.error.text, "the hinge loss has corners");
    f = linear_fit_with(context, &c->problem, MG_LOSS_LOGISTIC, "solver=lbfgs, l1_ratio=1", NULL);
    assert_int_equal(f.status, MARGIN_ERROR_SPEC);
    assert_contains(f.error.text, "|w|_1 has corners");
    margin_context_free(context);
    f = linear_fit(&c->problem, MG_LOSS_LOGISTIC, "C=inf, l1_ratio=1");
    assert_contains(f.report.reason, "solver lbfgs");
    assert_string_equal(f.report.formula, "sum log(1+exp(-y f))");
    linear_fitted_free(&f);
    linear_case_free(c);
}

/* The formulas say what is minimised. */
static void test_formulas(void **state) {
    const char *const options[][2] = {
        {"C=2, l1_ratio=1", "C sum (f-y)^2 + |w|_1/2"},
        {"alpha=2, l1_ratio=1", "sum (f-y)^2 + alpha |w|_1"},
        {"lambda=2, l1_ratio=1", "mean (f-y)^2 + lambda |w|_1"},
        {"C=2, l1_ratio=0.5", "C sum (f-y)^2 + ((1-r) |w|^2 + r |w|_1)/2"},
        {"lambda=2, l1_ratio=0.5", "mean (f-y)^2 + lambda ((1-r) |w|^2 + r |w|_1)"}};
    (void)state;
    linear_case *c = linear_case_make(30, 2, 0, 1, 42);
    for (int k = 0; k < MG_LENGTH(options); k++) {
        linear_fitted f = linear_fit(&c->problem, MG_LOSS_SQUARED, options[k][0]);
        assert_string_equal(f.report.formula, options[k][1]);
        assert_string_equal(f.report.iteration_name, "working-set steps");
        linear_fitted_free(&f);
    }
    linear_case_free(c);
}

/* A row of weight 3 is three rows. */
static void test_copies_of_rows(void **state) {
    (void)state;
    for (int l = 0; l < MG_LENGTH(losses); l++) {
        linear_case *c = linear_case_make(90, 7, 0.5, 1, 43);
        mg_problem thrice = c->problem;
        int64_t index[130], count = 0;
        for (int64_t i = 0; i < 90; i++)
            c->weight[i] = i < 20 ? 3 : 1;
        c->problem.weight = c->weight;
        int8_t sign[130];
        double target[130];
        for (int64_t i = 0; i < 90; i++)
            for (int copy = 0; copy < (i < 20 ? 3 : 1); copy++) {
                index[count] = i;
                sign[count] = c->sign[i];
                target[count++] = c->target[i];
            }
        thrice.index = index;
        thrice.count = count;
        thrice.sign = sign;
        thrice.target = target;
        linear_fitted f = linear_fit(&c->problem, losses[l], "lambda=0.02, l1_ratio=1, tol=1e-12");
        linear_fitted g = linear_fit(&thrice, losses[l], "lambda=0.02, l1_ratio=1, tol=1e-12");
        assert_close(f.report.objective, g.report.objective, 1e-12);
        for (int j = 0; j < 7; j++)
            assert_close(weights_of(&f)[j], weights_of(&g)[j], 1e-6);
        linear_fitted_free(&g);
        linear_fitted_free(&f);
        linear_case_free(c);
    }
}

/* The same bytes for any number of threads. */
static void test_threads(void **state) {
    (void)state;
    linear_case *c = linear_case_make(9000, 11, 0.9, 1, 44);
    for (int l = 0; l < 2; l++)
        linear_assert_threads(&c->problem, losses[l], "lambda=0.01, l1_ratio=1");
    linear_case_free(c);
}

/* Rows in another order give the same model within the gap. */
static void test_order_of_rows(void **state) {
    (void)state;
    linear_case *c = linear_case_make(5000, 6, 0.5, 1, 45);
    int64_t *index = calloc(5000, sizeof *index);
    int8_t *sign = calloc(5000, 1);
    mg_problem turned = c->problem;
    for (int64_t i = 0; i < 5000; i++) {
        index[i] = 4999 - i;
        sign[i] = c->sign[4999 - i];
    }
    turned.index = index;
    turned.sign = sign;
    linear_fitted f = linear_fit(&c->problem, MG_LOSS_LOGISTIC, "l1_ratio=1, C=0.02, tol=1e-12");
    linear_fitted g = linear_fit(&turned, MG_LOSS_LOGISTIC, "l1_ratio=1, C=0.02, tol=1e-12");
    assert_close(f.report.objective, g.report.objective, 1e-12);
    for (int j = 0; j < 6; j++)
        assert_close(weights_of(&f)[j], weights_of(&g)[j], 1e-7);
    linear_fitted_free(&g);
    linear_fitted_free(&f);
    free(sign);
    free(index);
    linear_case_free(c);
}

static void test_limits(void **state) {
    (void)state;
    linear_case *c = linear_case_make(300, 9, 0.5, 0.5, 46);
    const sparse_oracle o = oracle_of(c, MG_LOSS_LOGISTIC, 1, 1);
    linear_fitted f =
        linear_fit(&c->problem, MG_LOSS_LOGISTIC, "l1_ratio=1, max_iter=2, tol=1e-12");
    sparse_found found = look(&o, weights_of(&f), intercept_of(&f));
    assert_int_equal(f.status, MARGIN_STOPPED_ITERATIONS);
    assert_int_equal(f.report.iterations, 2);
    assert_contains(f.report.reason, "raise max_iter");
    assert_close(f.report.objective, (double)found.value, 1e-12);
    assert_true(f.report.gap > 1e-12 && isfinite(f.report.gap));
    forget(&found);
    linear_fitted_free(&f);

    f = linear_fit_limited(&c->problem, MG_LOSS_LOGISTIC, "l1_ratio=1");
    assert_true(isfinite(f.report.gap));
    linear_fitted_free(&f);
    linear_case_free(c);
}

/* More than double precision can show: it ends and says so. */
static void test_rounding(void **state) {
    (void)state;
    linear_case *c = linear_case_make(500, 9, 0.5, 1, 47);
    for (int l = 0; l < MG_LENGTH(losses); l++) {
        linear_fitted f = linear_fit(&c->problem, losses[l], "l1_ratio=1, tol=1e-300");
        assert_true(f.report.gap <= 1e-11);
        if (f.status != MARGIN_OK) {
            assert_int_equal(f.status, MARGIN_STOPPED_STALLED);
            assert_contains(f.report.reason, "rounding");
        }
        assert_true(f.report.iterations <= 60);
        linear_fitted_free(&f);
    }
    linear_case_free(c);
}

typedef struct steps_seen {
    int64_t count;
    double loss;
} steps_seen;

static int see_step(const margin_trace_step *step, void *user) {
    steps_seen *seen = user;
    assert_int_equal(step->step, seen->count);
    if (seen->count > 0) assert_true(step->loss <= seen->loss * (1 + 1e-12));
    seen->count++;
    seen->loss = step->loss;
    return 0;
}

static void test_trace(void **state) {
    (void)state;
    linear_case *c = linear_case_make(200, 30, 0.5, 0.2, 48);
    margin_context *context = support_context(NULL, 2);
    for (int l = 0; l < MG_LENGTH(losses); l++) {
        steps_seen seen = {0};
        const mg_trace trace = {.step = see_step, .user = &seen};
        linear_fitted f =
            linear_fit_with(context, &c->problem, losses[l], "l1_ratio=1, C=100", &trace);
        assert_int_equal(f.status, MARGIN_OK);
        assert_int_equal(seen.count, f.report.iterations + 1);
        assert_close(seen.loss, f.report.objective, 1e-12);
        linear_fitted_free(&f);
    }
    margin_context_free(context);
    linear_case_free(c);
}

static margin_status fit_body(margin_context *context, void *user, margin_error *error) {
    const mg_loss_kind *loss = user;
    linear_case *c = linear_case_make(150, 12, 0.9, 1, 49);
    linear_fitted f =
        linear_fit_with(context, &c->problem, *loss, "l1_ratio=1, C=10, tol=1e-12", NULL);
    *error = f.error;
    linear_fitted_free(&f);
    linear_case_free(c);
    return f.status;
}

static void test_allocations(void **state) {
    (void)state;
    for (int l = 0; l < 2; l++)
        assert_true(support_fail_each_allocation(1 + l, fit_body, (void *)&losses[l]) > 10);
}

static void test_cancel(void **state) {
    (void)state;
    linear_case *c = linear_case_make(3000, 5, 0.3, 1, 50);
    linear_assert_cancels(&c->problem, MG_LOSS_LOGISTIC, "l1_ratio=1, tol=1e-12", 1);
    linear_case_free(c);
}

/* ---- Words of texts -------------------------------------------------------------------------- */

enum { TEXTS = 400, WORDS = 20000, LENGTH = 12 };

typedef struct texts {
    double values[TEXTS * LENGTH];
    int32_t columns[TEXTS * LENGTH];
    int64_t starts[TEXTS + 1];
    int8_t sign[TEXTS];
    mg_problem problem;
} texts;

/* Word 7 k of text i is one of a few frequent ones, the others are rare; frequent words tell. */
static texts *texts_make(void) {
    texts *t = calloc(1, sizeof *t);
    uint64_t seed = 77;
    for (int64_t i = 0; i < TEXTS; i++) {
        double score = 0.3 * support_normal(&seed);
        for (int64_t k = 0; k < LENGTH; k++) {
            const int64_t range = WORDS / LENGTH, at = i * LENGTH + k;
            const double u = support_uniform(&seed);
            t->columns[at] = (int32_t)(k * range + (int64_t)(u * u * u * (double)range));
            t->values[at] = 0.5 + support_uniform(&seed);
            if (t->columns[at] - k * range < 3) score += k % 2 ? t->values[at] : -t->values[at];
        }
        t->starts[i + 1] = (i + 1) * LENGTH;
        t->sign[i] = score > 0 ? 1 : -1;
    }
    t->problem = (mg_problem){.kind = MG_TWO_CLASS,
                              .x = margin_csr_f64(t->values, t->columns, t->starts, TEXTS, WORDS),
                              .count = TEXTS,
                              .sign = t->sign};
    return t;
}

/* Conditions of the optimum of C sum log(1 + e^-yf) + |w|_1/2, from the numbers. */
static void check_texts(const texts *t, const linear_fitted *f, double C, double tolerance) {
    double *gradient = calloc(WORDS, sizeof *gradient), total = 0;
    const double *w = weights_of(f);
    for (int64_t i = 0; i < TEXTS; i++) {
        double score = intercept_of(f);
        for (int64_t k = t->starts[i]; k < t->starts[i + 1]; k++)
            score += t->values[k] * w[t->columns[k]];
        const double slope = -C * t->sign[i] / (1 + exp(t->sign[i] * score));
        total += slope;
        for (int64_t k = t->starts[i]; k < t->starts[i + 1]; k++)
            gradient[t->columns[k]] += slope * t->values[k];
    }
    assert_true(fabs(total) < tolerance);
    for (int64_t j = 0; j < WORDS; j++) {
        if (w[j] == 0.0)
            assert_true(fabs(gradient[j]) <= 0.5 + tolerance);
        else
            assert_true(fabs(gradient[j] + copysign(0.5, w[j])) <= tolerance);
    }
    free(gradient);
}

/* More columns than are put in order at once; rows are read by columns. */
static void test_texts(void **state) {
    static const double Cs[] = {0.3, 3, 30};
    (void)state;
    texts *t = texts_make();
    for (int k = 0; k < MG_LENGTH(Cs); k++) {
        char options[100];
        linear_fitted first = {0};
        snprintf(options, sizeof options, "C=%g, l1_ratio=1, tol=1e-11", Cs[k]);
        for (int threads = 1; threads <= 4; threads += 3) {
            margin_context *context = support_context(NULL, threads);
            linear_fitted f =
                linear_fit_with(context, &t->problem, MG_LOSS_LOGISTIC, options, NULL);
            assert_int_equal(f.status, MARGIN_OK);
            if (threads == 1) {
                check_texts(t, &f, Cs[k], 1e-4);
                first = f;
            } else {
                assert_memory_equal(weights_of(&f), weights_of(&first), WORDS * sizeof(double));
                assert_true(f.report.gap == first.report.gap);
                linear_fitted_free(&f);
            }
            margin_context_free(context);
        }
        linear_fitted_free(&first);
    }
    free(t);
}

static margin_status fit_texts(margin_context *context, void *user, margin_error *failure) {
    const texts *t = user;
    linear_fitted f =
        linear_fit_with(context, &t->problem, MG_LOSS_LOGISTIC, "l1_ratio=1, tol=1e-3", NULL);
    const margin_status status = f.status;
    *failure = f.error;
    linear_fitted_free(&f);
    return status;
}

static void test_texts_without_memory(void **state) {
    (void)state;
    texts *t = texts_make();
    assert_true(support_fail_each_allocation(1, fit_texts, t) > 10);
    free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_optimum),
        cmocka_unit_test(test_proof),
        cmocka_unit_test(test_verified),
        cmocka_unit_test(test_wide),
        cmocka_unit_test(test_wide_memory),
        cmocka_unit_test(test_growing_sets),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_warm_start),
        cmocka_unit_test(test_dependent_columns),
        cmocka_unit_test(test_columns_of_all_sizes),
        cmocka_unit_test(test_huge_column),
        cmocka_unit_test(test_affine_problem),
        cmocka_unit_test(test_lambda_max),
        cmocka_unit_test(test_next_to_no_penalty),
        cmocka_unit_test(test_separable),
        cmocka_unit_test(test_units_of_the_target),
        cmocka_unit_test(test_what_it_can),
        cmocka_unit_test(test_formulas),
        cmocka_unit_test(test_copies_of_rows),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_order_of_rows),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_trace),
        cmocka_unit_test(test_allocations),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_texts_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
