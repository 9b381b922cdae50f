/* The semismooth Newton solver for the hinge loss. Each fit's dual variables are put into the dual
 * objective here, in plain loops and extended precision: what they prove is true whatever the
 * solver did. Small optima are also found by coordinate ascent on pairs of dual variables. */
#include "linear_cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef long double real;

/* ---- Proof ----------------------------------------------------------------------------------- */

/* sum c_i max(1 - y f, 0) + rho/2 |w|^2, c_i = factor weight_i */
typedef struct hinge_problem {
    const linear_case *c;
    double factor, rho;
    bool intercept;
} hinge_problem;

static real box_of(const hinge_problem *p, int64_t i) {
    const double *weight = p->c->problem.weight;
    return (real)p->factor * (real)(weight ? weight[i] : 1.0);
}

/* Column j of row i, as the model sees it. */
static real value_at(const hinge_problem *p, int64_t i, int64_t j) {
    const mg_problem *q = &p->c->problem;
    const real x = (real)p->c->x[i * p->c->columns + j];
    return (q->scale ? (real)q->scale[j] * x : x) + (q->shift ? (real)q->shift[j] : 0);
}

static real margin_of(const hinge_problem *p, int64_t i, const double *w, double b) {
    real f = (real)b;
    for (int64_t j = 0; j < p->c->columns; j++)
        f += value_at(p, i, j) * (real)w[j];
    return p->c->sign[i] * f;
}

static real primal_of(const hinge_problem *p, const double *w, double b) {
    real sum = 0;
    for (int64_t i = 0; i < p->c->rows; i++) {
        const real short_of = 1 - margin_of(p, i, w, b);
        if (short_of > 0) sum += box_of(p, i) * short_of;
    }
    for (int64_t j = 0; j < p->c->columns; j++)
        sum += (real)p->rho / 2 * (real)w[j] * (real)w[j];
    return sum;
}

/* D(alpha) after checking that alpha is feasible; *away: |rho w - sum alpha y x| / |rho w| */
static real dual_of(const hinge_problem *p, const linear_fitted *f, double *away) {
    const mg_hypothesis *h = f->h;
    const int64_t count = h->dual_starts[1], columns = p->c->columns;
    real *v = calloc((size_t)columns, sizeof *v), dual = 0, balance = 0, total = 0;
    real difference = 0, size = 0;
    for (int64_t k = 0; k < count; k++) {
        const int64_t i = h->dual_rows[k];
        const real alpha = (real)h->dual_coefficients[k], box = box_of(p, i);
        assert_true(k == 0 || h->dual_rows[k - 1] < i);
        assert_true(alpha > 0 && (p->rho == 0 || alpha <= box * (1 + 1e-15L)));
        assert_true(h->dual_signs[k] == p->c->sign[i]);
        dual += alpha;
        total += alpha;
        balance += alpha * p->c->sign[i];
        for (int64_t j = 0; j < columns; j++)
            v[j] += alpha * p->c->sign[i] * value_at(p, i, j);
    }
    if (p->intercept) assert_true(fabsl(balance) <= 1e-12L * (total + 1e-300L));
    for (int64_t j = 0; j < columns; j++) {
        const real own = (real)p->rho * (real)weights_of(f)[j];
        dual -= v[j] * v[j] / (2 * (real)p->rho);
        difference += (own - v[j]) * (own - v[j]);
        size += own * own;
    }
    *away = size > 0 ? (double)sqrtl(difference / size) : 0;
    free(v);
    return dual;
}

/* The fit converged, and its dual variables prove what it says; rho > 0. */
static void assert_proven(const hinge_problem *p, const linear_fitted *f) {
    double away;
    if (f->status != MARGIN_OK) fail_msg("%s", f->report.reason);
    const real primal = primal_of(p, weights_of(f), intercept_of(f)), dual = dual_of(p, f, &away);
    const real size = primal > 1 ? primal : 1;
    /* a margin is 1 but for rounding, and C times that */
    assert_close(f->report.objective, (double)primal, 1e-11 + 1e-15 * p->factor);
    assert_true(f->report.gap <= f->report.tolerance);
    if (!((primal - dual) / size <=
          (real)f->report.gap * 1.02L + 1e-12L + 1e-15L * (real)p->factor))
        fail_msg("a gap of %g is reported, %g is true", f->report.gap,
                 (double)((primal - dual) / size));
    assert_close(margin_report_item_value(&f->report, "support_vectors"),
                 (double)f->h->dual_starts[1], 0);
}

static linear_fitted fit_proven(const hinge_problem *p, double tolerance) {
    char options[200];
    const bool free_of = p->rho == 0;
    snprintf(options, sizeof options, "%s=%.17g, tol=%g, intercept=%s", p->rho == 1 ? "C" : "alpha",
             p->rho == 1 ? p->factor : p->rho / 2, tolerance, p->intercept ? "yes" : "no");
    linear_fitted f = linear_fit(&p->c->problem, MG_LOSS_HINGE, options);
    if (!free_of) assert_proven(p, &f);
    linear_fitted again = linear_verify(&p->c->problem, MG_LOSS_HINGE, options, f.h);
    assert_close(again.report.objective, f.report.objective, 1e-11 + 1e-15 * p->factor);
    assert_true(fabs(again.report.gap - f.report.gap) <=
                1e-11 + 1e-15 * p->factor + 2e-2 * f.report.gap);
    linear_fitted_free(&again);
    return f;
}

/* ---- By pairs of dual variables -------------------------------------------------------------- */

enum { MOST_ROWS = 60 };

/* Raises alpha_i and, with an intercept, moves alpha_j so that sum alpha y stays: the best such
 * change within the boxes. u: gradient of D without intercept, 1 - y_i x_i.v / rho. */
static void change_pair(const hinge_problem *p, real k[MOST_ROWS][MOST_ROWS], real *alpha, real *u,
                        int i, int j) {
    const int8_t *y = p->c->sign;
    const real bend = k[i][i] + (j < 0 ? 0 : k[j][j] - 2 * k[i][j]);
    const real slope = y[i] * u[i] - (j < 0 ? 0 : y[j] * u[j]); /* along y_i alpha_i */
    real step = bend > 0 ? slope / bend : (slope > 0 ? 1 : -1) * box_of(p, i);
    for (int side = 0; side < (j < 0 ? 1 : 2); side++) {
        const int r = side ? j : i;
        const real towards = (side ? -1 : 1) * y[r]; /* of alpha_r for a step of 1 */
        const real low = towards > 0 ? -alpha[r] : alpha[r] - box_of(p, r);
        const real high = towards > 0 ? box_of(p, r) - alpha[r] : alpha[r];
        step = step < low ? low : step > high ? high : step;
    }
    alpha[i] += y[i] * step;
    if (j >= 0) alpha[j] -= y[j] * step;
    for (int r = 0; r < p->c->rows; r++)
        u[r] -= y[r] * step * (k[r][i] - (j < 0 ? 0 : k[r][j]));
}

/* The optimum of the dual, by the pair that violates the conditions most (Keerthi, Shevade,
 * Bhattacharyya, Murthy 2001). */
static double smallest_objective(const hinge_problem *p) {
    static real k[MOST_ROWS][MOST_ROWS];
    real alpha[MOST_ROWS] = {0}, u[MOST_ROWS], dual = 0;
    const int rows = (int)p->c->rows;
    assert_true(rows <= MOST_ROWS);
    for (int r = 0; r < rows; r++) {
        u[r] = 1;
        for (int s = 0; s < rows; s++) {
            k[r][s] = 0;
            for (int64_t j = 0; j < p->c->columns; j++)
                k[r][s] += value_at(p, r, j) * value_at(p, s, j) / (real)p->rho;
        }
    }
    real moved = 0;
    for (int step = 0; step < 400000; step++) {
        int up = -1, down = -1;
        for (int r = 0; r < rows; r++) {
            const real y = p->c->sign[r];
            if ((y > 0 ? alpha[r] < box_of(p, r) : alpha[r] > 0) &&
                (up < 0 || y * u[r] > p->c->sign[up] * u[up]))
                up = r;
            if ((y > 0 ? alpha[r] > 0 : alpha[r] < box_of(p, r)) &&
                (down < 0 || y * u[r] < p->c->sign[down] * u[down]))
                down = r;
        }
        if (p->intercept) {
            if (up < 0 || down < 0 || p->c->sign[up] * u[up] - p->c->sign[down] * u[down] < 1e-15L)
                break;
            change_pair(p, k, alpha, u, up, down);
        } else {
            const real before = alpha[step % rows];
            change_pair(p, k, alpha, u, step % rows, -1);
            moved = fmaxl(moved, fabsl(alpha[step % rows] - before) / box_of(p, step % rows));
            if (step % rows == rows - 1 && moved < 1e-13L) break;
            if (step % rows == rows - 1) moved = 0;
        }
    }
    for (int r = 0; r < rows; r++)
        dual += alpha[r] * (1 + u[r]) / 2;
    return (double)dual;
}

static void test_small_optima(void **state) {
    const double penalties[] = {1e-4, 1e-2, 1, 30};
    (void)state;
    for (int seed = 0; seed < 6; seed++)
        for (int k = 0; k < MG_LENGTH(penalties); k++) {
            linear_case *c =
                linear_case_make(14 + 6 * seed, 1 + seed, 0.4, seed % 3, 11 + (uint64_t)seed);
            if (seed % 2) c->problem.weight = c->weight;
            const hinge_problem p = {c, penalties[k], 1, seed % 3 != 1};
            linear_fitted f = fit_proven(&p, 1e-10);
            const double best = smallest_objective(&p);
            const double size = fmax(1, best);
            assert_true(f.report.objective >= best - 1e-9 * size);
            assert_true(f.report.objective <= best + 1e-9 * size);
            linear_fitted_free(&f);
            linear_case_free(c);
        }
}

/* ---- Known answers --------------------------------------------------------------------------- */

static linear_case *case_of(int64_t rows, int64_t columns, const double *x, const int *sign) {
    linear_case *c = linear_case_make(rows, columns, 0, 1, 1);
    memcpy(c->x, x, (size_t)(rows * columns) * sizeof *x);
    for (int64_t i = 0; i < rows; i++)
        c->sign[i] = (int8_t)sign[i];
    return c;
}

/* The widest margin of (3, 3) and (4, 3) against (1, 1). */
static void test_widest_margin(void **state) {
    const double x[] = {3, 3, 4, 3, 1, 1};
    const int sign[] = {1, 1, -1};
    const char *const options[] = {"C=0.26, tol=1e-12", "C=1, tol=1e-12", "C=1e10, tol=1e-10",
                                   "C=inf, tol=1e-12", "alpha=0, tol=1e-12"};
    (void)state;
    for (int k = 0; k < MG_LENGTH(options); k++) {
        linear_case *c = case_of(3, 2, x, sign);
        linear_fitted f = linear_fit(&c->problem, MG_LOSS_HINGE, options[k]);
        assert_int_equal(f.status, MARGIN_OK);
        assert_close(weights_of(&f)[0], 0.5, 1e-9);
        assert_close(weights_of(&f)[1], 0.5, 1e-9);
        assert_close(intercept_of(&f), -2, 1e-9);
        assert_int_equal(f.h->dual_starts[1], 2);
        assert_int_equal(f.h->dual_rows[0], 0);
        assert_int_equal(f.h->dual_rows[1], 2);
        assert_close(f.h->dual_coefficients[0], 0.25, 1e-9);
        assert_close(f.h->dual_coefficients[1], 0.25, 1e-9);
        assert_close(f.report.objective, k < 3 ? 0.25 : 0, 1e-9);
        if (k >= 3) assert_contains(f.report.reason, "widest margin");
        linear_fitted_free(&f);
        linear_case_free(c);
    }
}

/* The same rows, the last one of so little weight that a narrower violation is cheaper: its dual
 * variable, a quarter in the widest margin, ends at its bound c = 0.05, so that w = 0.05 (3 - 1),
 * and b makes the margin of (3, 3) 1. */
static void test_one_small_box(void **state) {
    const double x[] = {3, 3, 4, 3, 1, 1};
    const int sign[] = {1, 1, -1};
    double weight[] = {100, 100, 0.05};
    (void)state;
    linear_case *c = case_of(3, 2, x, sign);
    c->problem.weight = weight;
    linear_fitted f = linear_fit(&c->problem, MG_LOSS_HINGE, "C=1, tol=1e-10");
    assert_int_equal(f.status, MARGIN_OK);
    assert_close(weights_of(&f)[0], 0.1, 1e-6);
    assert_close(weights_of(&f)[1], 0.1, 1e-6);
    assert_close(intercept_of(&f), 0.4, 1e-6);
    assert_close(f.report.objective, 0.05 * 1.6 + 0.01, 1e-9);
    linear_fitted_free(&f);
    c->problem.weight = NULL;
    linear_case_free(c);
}

/* One row against all others, and balanced: what it weighs, none of the others does alone. */
static void test_one_row_balanced(void **state) {
    enum { ROWS = 58, COLUMNS = 10 };
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        linear_case *c = linear_case_make(ROWS, COLUMNS, 0, 0, seed);
        double weight[ROWS];
        for (int i = 0; i < ROWS; i++) {
            c->sign[i] = i == 0 ? 1 : -1;
            weight[i] = i == 0 ? ROWS / 2.0 : ROWS / 2.0 / (ROWS - 1);
        }
        c->problem.weight = weight;
        linear_fitted f = linear_fit(&c->problem, MG_LOSS_HINGE, "C=1, tol=1e-7");
        if (f.status != MARGIN_OK) fail_msg("seed %d: %s", (int)seed, f.report.reason);
        linear_fitted_free(&f);
        c->problem.weight = NULL;
        linear_case_free(c);
    }
}

static int count_steps(const margin_trace_step *step, void *user) {
    int64_t *seen = user;
    assert_int_equal(step->step, *seen);
    assert_true(isfinite(step->loss));
    (*seen)++;
    return 0;
}

/* One of several overlapping classes against the others: no function is better than a constant,
 * which is seen in a few steps (from zero it takes 18). */
static void test_constant_is_best(void **state) {
    const char *const options[] = {"tol=1e-4", "C=1e4",      "C=0.01",  "C=1e-4",
                                   "C=1e-6",   "max_iter=3", "tol=1e-8"};
    enum { ROWS = 4000, COLUMNS = 5 };
    int64_t seen;
    const mg_trace trace = {.step = count_steps, .user = &seen};
    uint64_t seed = 58;
    (void)state;
    linear_case *c = linear_case_make(ROWS, COLUMNS, 0.3, 1, 57);
    for (int64_t i = 0; i < ROWS; i++)
        c->sign[i] = support_uniform(&seed) < 1 / (5 + exp(-c->x[i * COLUMNS])) ? 1 : -1;
    margin_context *context = support_context(NULL, 2);
    for (int k = 0; k < 2 * MG_LENGTH(options); k++) {
        seen = 0;
        if (k == MG_LENGTH(options)) c->problem.weight = c->weight;
        linear_fitted f = linear_fit_with(context, &c->problem, MG_LOSS_HINGE,
                                          options[k % MG_LENGTH(options)], &trace);
        assert_int_equal(f.status, MARGIN_OK);
        if (k % MG_LENGTH(options) < 6) assert_true(f.report.iterations <= 3);
        assert_int_equal(seen, f.report.iterations + 1);
        assert_close(intercept_of(&f), -1, 1e-3);
        assert_true(weights_of(&f)[0] != 0);
        linear_fitted_free(&f);
    }
    const hinge_problem p = {c, 1, 1, true};
    linear_fitted f = fit_proven(&p, 1e-4);
    linear_fitted_free(&f);
    linear_assert_threads(&c->problem, MG_LOSS_HINGE, "tol=1e-4");
    linear_assert_cancels(&c->problem, MG_LOSS_HINGE, "tol=1e-8", 2);
    margin_context_free(context);
    c->problem.weight = NULL;
    linear_case_free(c);
}

/* The same of 0/1 columns and matrices of some of the rows: on the way the balance goes up at
 * times.
 */
static void test_constant_of_bits(void **state) {
    enum { ROWS = 9000, COLUMNS = 60 };
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        uint64_t draw = seed;
        linear_case *c = linear_case_make(ROWS, COLUMNS, 0, 0, seed);
        for (int64_t i = 0; i < ROWS; i++) {
            double sum = support_uniform(&draw) - 0.5;
            for (int64_t j = 0; j < COLUMNS; j++) {
                c->x[i * COLUMNS + j] = support_uniform(&draw) < 0.2;
                sum += (c->x[i * COLUMNS + j] - 0.2) * (double)(j % 7 - 3);
            }
            c->sign[i] = sum > 0 && sum < 2 ? 1 : -1;
        }
        linear_fitted f = linear_fit(&c->problem, MG_LOSS_HINGE, "C=1, tol=1e-4, solver=ssnal");
        assert_int_equal(f.status, MARGIN_OK);
        assert_close(intercept_of(&f), -1, 1e-3);
        if (f.report.iterations > 16)
            fail_msg("seed %d: %d steps", (int)seed, (int)f.report.iterations);
        linear_fitted_free(&f);
        linear_case_free(c);
    }
}

/* ---- Penalties of every size ----------------------------------------------------------------- */

static void test_penalties(void **state) {
    const double penalties[] = {1e-10, 1e-6, 1e-4, 1e-2, 1, 1e2, 1e4, 1e6, 1e10};
    const double noises[] = {0, 0.2, 3};
    (void)state;
    for (int n = 0; n < MG_LENGTH(noises); n++)
        for (int k = 0; k < MG_LENGTH(penalties); k++)
            for (int intercept = 0; intercept < 2; intercept++) {
                linear_case *c = linear_case_make(130, 6, 0.5, noises[n], 21);
                if (k % 2) c->problem.weight = c->weight;
                const hinge_problem p = {c, penalties[k], 1, intercept};
                linear_fitted f = fit_proven(&p, 1e-8);
                linear_fitted_free(&f);
                linear_case_free(c);
            }
}

static void test_spellings(void **state) {
    const char *const options[] = {"C=2, tol=1e-9", "alpha=0.25, tol=1e-9",
                                   "lambda=0.0025, tol=1e-9"};
    linear_fitted fits[3];
    (void)state;
    linear_case *c = linear_case_make(100, 3, 0.5, 1, 22);
    for (int k = 0; k < 3; k++) {
        fits[k] = linear_fit(&c->problem, MG_LOSS_HINGE, options[k]);
        assert_int_equal(fits[k].status, MARGIN_OK);
        for (int j = 0; j < 3; j++)
            assert_close(weights_of(&fits[k])[j], weights_of(&fits[0])[j], 1e-4);
    }
    assert_string_equal(fits[0].report.formula, "C sum max(1-y f, 0) + |w|^2/2");
    assert_string_equal(fits[2].report.formula, "mean max(1-y f, 0) + lambda |w|^2");
    assert_close(fits[0].report.objective, 2 * fits[1].report.objective, 1e-8);
    assert_close(fits[0].report.objective, 200 * fits[2].report.objective, 1e-8);
    for (int k = 0; k < 3; k++)
        linear_fitted_free(&fits[k]);
    linear_case_free(c);
}

/* Where C = inf the classes overlap: nothing bounds the loss from below, and that is said. */
static void test_no_penalty(void **state) {
    (void)state;
    for (int intercept = 0; intercept < 2; intercept++) {
        linear_case *c = linear_case_make(200, 5, 0.5, 2, 23);
        linear_fitted f =
            linear_fit(&c->problem, MG_LOSS_HINGE, intercept ? "C=inf" : "C=inf, intercept=no");
        assert_int_equal(f.status, MARGIN_STOPPED_STALLED);
        assert_true(f.report.gap == 1);
        assert_contains(f.report.reason, "no bound");
        linear_fitted_free(&f);
        linear_case_free(c);
    }
}

/* C = inf and separable: every row on or outside of the margin, and w made of rows on it, with
 * sum alpha = |w|^2 (the dual of the widest margin). */
static void test_separable(void **state) {
    const int columns[] = {2, 6, 40};
    (void)state;
    for (int k = 0; k < MG_LENGTH(columns); k++) {
        linear_case *c = linear_case_make(120, columns[k], 0.4, 0, 24);
        const hinge_problem p = {c, 1, 0, true}, hard = {c, 1e9, 1, true};
        linear_fitted f = fit_proven(&p, 1e-9), g = fit_proven(&hard, 1e-9);
        real sum = 0, square = 0;
        assert_int_equal(f.status, MARGIN_OK);
        assert_contains(f.report.reason, "widest margin");
        for (int64_t i = 0; i < c->rows; i++)
            assert_true(margin_of(&p, i, weights_of(&f), intercept_of(&f)) >= 1 - 1e-11L);
        for (int64_t i = 0; i < f.h->dual_starts[1]; i++)
            sum += (real)f.h->dual_coefficients[i];
        for (int j = 0; j < columns[k]; j++)
            square += (real)weights_of(&f)[j] * (real)weights_of(&f)[j];
        assert_close((double)(sum / square), 1, 1e-7);
        assert_close((double)square / 2, g.report.objective, 1e-8);
        linear_fitted_free(&f);
        linear_fitted_free(&g);
        linear_case_free(c);
    }
}

/* ---- What the optimum is like ---------------------------------------------------------------- */

/* Rows outside of the margin have no dual variable; those inside have all of it; w = sum alpha y x.
 */
static void test_identities(void **state) {
    (void)state;
    linear_case *c = linear_case_make(300, 4, 0.5, 1, 31);
    c->problem.weight = c->weight;
    const hinge_problem p = {c, 0.7, 1, true};
    linear_fitted f = fit_proven(&p, 1e-12);
    double *alpha = calloc(300, sizeof *alpha), away;
    dual_of(&p, &f, &away);
    assert_true(away < 1e-5);
    for (int64_t k = 0; k < f.h->dual_starts[1]; k++)
        alpha[f.h->dual_rows[k]] = f.h->dual_coefficients[k];
    int on = 0;
    for (int64_t i = 0; i < 300; i++) {
        const double margin = (double)margin_of(&p, i, weights_of(&f), intercept_of(&f));
        const double box = 0.7 * c->weight[i];
        if (margin > 1 + 1e-5) assert_true(alpha[i] <= 1e-7 * box);
        if (margin < 1 - 1e-5) assert_true(alpha[i] >= box * (1 - 1e-7));
        on += alpha[i] > 1e-5 * box && alpha[i] < box * (1 - 1e-5);
    }
    assert_true(on >= 1 && on <= 5); /* at most columns + 1, unless rows coincide */
    free(alpha);
    linear_fitted_free(&f);
    linear_case_free(c);
}

static void assert_same_function(const linear_fitted *f, const linear_fitted *g, int64_t columns,
                                 double tolerance) {
    assert_close(f->report.objective, g->report.objective, 1e-9);
    for (int64_t j = 0; j < columns; j++)
        assert_close(weights_of(f)[j], weights_of(g)[j], tolerance);
    assert_close(intercept_of(f), intercept_of(g), tolerance);
}

/* Weight k is k copies, in any order. */
static void test_copies(void **state) {
    enum { ROWS = 90, COLUMNS = 3, MOST = 3 * ROWS };
    int64_t index[MOST], count = 0;
    int8_t sign[MOST];
    (void)state;
    linear_case *c = linear_case_make(ROWS, COLUMNS, 0.4, 1, 32);
    for (int64_t i = 0; i < ROWS; i++)
        c->weight[i] = (double)(1 + i % 3);
    for (int copy = 0; copy < 3; copy++)
        for (int64_t k = 0; k < ROWS; k++) {
            const int64_t i = k * 37 % ROWS;
            if ((double)copy >= c->weight[i]) continue;
            index[count] = i;
            sign[count++] = c->sign[i];
        }
    mg_problem weighted = c->problem, copied = c->problem;
    weighted.weight = c->weight;
    copied.index = index;
    copied.sign = sign;
    copied.count = count;
    linear_fitted f = linear_fit(&weighted, MG_LOSS_HINGE, "C=0.5, tol=1e-12");
    linear_fitted g = linear_fit(&copied, MG_LOSS_HINGE, "C=0.5, tol=1e-12");
    assert_same_function(&f, &g, COLUMNS, 1e-5);
    linear_fitted_free(&f);
    linear_fitted_free(&g);
    linear_case_free(c);
}

/* scale and shift of the problem mean what they would do to the data. */
static void test_affine_problem(void **state) {
    const double scale[5] = {2, -0.5, 1e3, 1, 0.25}, shift[5] = {1, -2, 0, 1e2, 3};
    (void)state;
    linear_case *c = linear_case_make(150, 5, 0.3, 1, 33);
    c->problem.scale = scale;
    c->problem.shift = shift;
    const hinge_problem p = {c, 1, 1, true};
    linear_fitted f = fit_proven(&p, 1e-11);
    linear_case_scale(c, scale, shift);
    c->problem.scale = c->problem.shift = NULL;
    linear_fitted g = fit_proven(&p, 1e-11);
    assert_same_function(&f, &g, 5, 1e-4);
    linear_fitted_free(&f);
    linear_fitted_free(&g);
    linear_case_free(c);
}

/* ---- Layouts --------------------------------------------------------------------------------- */

/* The same numbers dense, dense f32 and sparse; multiples of 1/8, half of them 0. */
static void test_layouts(void **state) {
    enum { ROWS = 200, COLUMNS = 12 };
    static float narrow[ROWS * COLUMNS];
    static double stored[ROWS * COLUMNS];
    static int32_t columns[ROWS * COLUMNS];
    static int64_t starts[ROWS + 1];
    const double shift[COLUMNS] = {1, 2, 3};
    (void)state;
    linear_case *c = linear_case_make(ROWS, COLUMNS, 0.4, 1, 41);
    int64_t at = 0;
    for (int64_t k = 0; k < ROWS * COLUMNS; k++) {
        c->x[k] = k % 3 == 0 ? 0 : floor(8 * c->x[k]) / 8;
        narrow[k] = (float)c->x[k];
        if (c->x[k] != 0) {
            stored[at] = c->x[k];
            columns[at++] = (int32_t)(k % COLUMNS);
        }
        if ((k + 1) % COLUMNS == 0) starts[(k + 1) / COLUMNS] = at;
    }
    for (int shifted = 0; shifted < 2; shifted++) {
        mg_problem views[3] = {c->problem, c->problem, c->problem};
        linear_fitted f[3];
        views[1].x = margin_dense_f32(narrow, ROWS, COLUMNS, COLUMNS);
        views[2].x = margin_csr_f64(stored, columns, starts, ROWS, COLUMNS);
        for (int k = 0; k < 3; k++) {
            if (shifted) views[k].shift = shift;
            f[k] = linear_fit(&views[k], MG_LOSS_HINGE, "C=3, tol=1e-11");
            assert_int_equal(f[k].status, MARGIN_OK);
            assert_same_function(&f[k], &f[0], COLUMNS, 1e-4);
        }
        for (int k = 0; k < 3; k++)
            linear_fitted_free(&f[k]);
    }
    linear_case_free(c);
}

/* f32 numbers far from 0: only their differences count. */
static void test_far_from_zero(void **state) {
    enum { ROWS = 300, COLUMNS = 3 };
    static float narrow[ROWS * COLUMNS];
    (void)state;
    linear_case *c = linear_case_make(ROWS, COLUMNS, 0.2, 1, 42);
    for (int64_t k = 0; k < ROWS * COLUMNS; k++) {
        narrow[k] = (float)(1e6 + floor(8 * c->x[k]) / 8);
        c->x[k] = (double)narrow[k];
    }
    const hinge_problem p = {c, 1, 1, true};
    c->problem.x = margin_dense_f32(narrow, ROWS, COLUMNS, COLUMNS);
    linear_fitted f = linear_fit(&c->problem, MG_LOSS_HINGE, "tol=1e-6");
    assert_int_equal(f.status, MARGIN_OK);
    for (int64_t k = 0; k < ROWS * COLUMNS; k++)
        c->x[k] -= 1e6;
    c->problem.x = margin_dense_f64(c->x, ROWS, COLUMNS, COLUMNS);
    linear_fitted g = fit_proven(&p, 1e-9);
    assert_close(f.report.objective, g.report.objective, 2e-6);
    linear_fitted_free(&f);
    linear_fitted_free(&g);
    linear_case_free(c);
}

/* ---- Columns --------------------------------------------------------------------------------- */

static void test_scaled_columns(void **state) {
    const double scale[6] = {1e-12, 1e12, 1, 1e-6, 1e6, 1e3};
    (void)state;
    for (int intercept = 0; intercept < 2; intercept++) {
        linear_case *c = linear_case_make(200, 6, 0.3, 1, 51);
        linear_case_scale(c, scale, NULL);
        const hinge_problem p = {c, 1, 1, intercept};
        linear_fitted f = fit_proven(&p, 1e-4);
        linear_fitted_free(&f);
        linear_case_free(c);
    }
}

/* Columns that all but a few rows have as 0: a matrix made from some of the rows may miss them. */
static void test_rare_columns(void **state) {
    enum { ROWS = 12000, COLUMNS = 12 };
    (void)state;
    linear_case *c = linear_case_make(ROWS, COLUMNS, 0, 1, 56);
    for (int64_t i = 0; i < ROWS; i++)
        for (int j = 2; j < COLUMNS; j++)
            c->x[i * COLUMNS + j] = i % 1999 == 3 * j ? 1 : 0;
    const hinge_problem p = {c, 1e4, 1, true};
    linear_fitted f = fit_proven(&p, 1e-6);
    assert_true(f.report.iterations < 100);
    linear_fitted_free(&f);
    linear_case_free(c);
}

/* Constant, equal and dependent columns. */
static void test_degenerate_columns(void **state) {
    const double penalties[] = {1e-3, 1, 1e5};
    (void)state;
    for (int k = 0; k < MG_LENGTH(penalties); k++)
        for (int intercept = 0; intercept < 2; intercept++) {
            linear_case *c = linear_case_make(160, 7, 0, 1, 52);
            for (int64_t i = 0; i < c->rows; i++) {
                double *x = c->x + 7 * i;
                x[2] = 5;
                x[3] = x[0];
                x[4] = x[0] + x[1];
                x[5] = 0;
            }
            const hinge_problem p = {c, penalties[k], 1, intercept};
            linear_fitted f = fit_proven(&p, 1e-9);
            assert_close(weights_of(&f)[0], weights_of(&f)[3], 1e-3);
            assert_true(weights_of(&f)[5] == 0);
            if (intercept) assert_true(weights_of(&f)[2] == 0);
            linear_fitted_free(&f);
            linear_case_free(c);
        }
}

static void test_nothing_but_constants(void **state) {
    (void)state;
    linear_case *c = linear_case_make(30, 2, 0, 1, 53);
    for (int64_t k = 0; k < 60; k++)
        c->x[k] = 3;
    for (int64_t i = 0; i < 30; i++)
        c->sign[i] = i < 10 ? 1 : -1;
    const hinge_problem p = {c, 2, 1, true};
    linear_fitted f = fit_proven(&p, 1e-9);
    assert_close(f.report.objective, 40, 1e-12);
    assert_close(intercept_of(&f), -1, 1e-9);
    linear_fitted_free(&f);
    linear_case_free(c);
}

static void test_more_columns_than_rows(void **state) {
    const double penalties[] = {1e-5, 1e-2, 1, 1e5};
    (void)state;
    for (int k = 0; k < MG_LENGTH(penalties); k++)
        for (int intercept = 0; intercept < 2; intercept++) {
            linear_case *c = linear_case_make(25, 60, 0.2, 2, 54);
            const hinge_problem p = {c, penalties[k], 1, intercept};
            linear_fitted f = fit_proven(&p, 1e-8);
            const double best = smallest_objective(&p);
            assert_true(fabs(f.report.objective - best) <= 1e-7 * fmax(1, best));
            linear_fitted_free(&f);
            linear_case_free(c);
        }
}

/* So many that no matrix is made of them. */
static void test_very_many_columns(void **state) {
    (void)state;
    linear_case *c = linear_case_make(40, 2100, 0.2, 2, 55);
    const hinge_problem p = {c, 0.01, 1, true};
    linear_fitted f = fit_proven(&p, 1e-7);
    linear_fitted_free(&f);
    linear_case_free(c);
}

/* ---- Few rows -------------------------------------------------------------------------------- */

static void test_one_class(void **state) {
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2)
        for (int64_t rows = 1; rows <= 4; rows += 3) {
            const char *const options[] = {"", "C=1e10", "C=inf", "C=1e-10"};
            for (int k = 0; k < MG_LENGTH(options); k++) {
                linear_case *c = linear_case_make(rows, 2, 0, 1, 61);
                for (int64_t i = 0; i < rows; i++)
                    c->sign[i] = (int8_t)sign;
                linear_fitted f = linear_fit(&c->problem, MG_LOSS_HINGE, options[k]);
                assert_int_equal(f.status, MARGIN_OK);
                assert_close(intercept_of(&f), sign, 1e-12);
                assert_true(weights_of(&f)[0] == 0 && weights_of(&f)[1] == 0);
                assert_true(f.report.objective == 0 && f.report.gap == 0);
                assert_int_equal(f.h->dual_starts[1], 0);
                assert_null(strstr(f.report.reason, "separable"));
                linear_fitted_free(&f);
                linear_case_free(c);
            }
        }
}

/* One row x = (3, 4), y = 1, no intercept: w = t x with t = min(C, 1/25). */
static void test_one_row(void **state) {
    const double x[] = {3, 4}, penalties[] = {1e-10, 0.01, 1, 1e10};
    const int sign[] = {1};
    (void)state;
    for (int k = 0; k < MG_LENGTH(penalties); k++) {
        linear_case *c = case_of(1, 2, x, sign);
        const hinge_problem p = {c, penalties[k], 1, false};
        const double t = fmin(penalties[k], 0.04);
        linear_fitted f = fit_proven(&p, 1e-10);
        assert_close(weights_of(&f)[0] / t, 3, 1e-6);
        assert_close(weights_of(&f)[1] / t, 4, 1e-6);
        linear_fitted_free(&f);
        linear_case_free(c);
    }
}

/* Two rows that are the same and of different classes. */
static void test_contradiction(void **state) {
    const double x[] = {1, 2, 1, 2};
    const int sign[] = {1, -1};
    const char *const options[] = {"C=1", "C=1e6"};
    (void)state;
    for (int k = 0; k < MG_LENGTH(options); k++) {
        linear_case *c = case_of(2, 2, x, sign);
        linear_fitted f = linear_fit(&c->problem, MG_LOSS_HINGE, options[k]);
        assert_int_equal(f.status, MARGIN_OK);
        assert_close(f.report.objective, k == 1 ? 2e6 : 2, 1e-12);
        linear_fitted_free(&f);
        linear_case_free(c);
    }
}

/* ---- Limits ---------------------------------------------------------------------------------- */

static void test_threads(void **state) {
    (void)state;
    linear_case *c = linear_case_make(30000, 6, 0.3, 1, 71);
    linear_assert_threads(&c->problem, MG_LOSS_HINGE, "tol=1e-7");
    linear_case_free(c);
}

static void test_limits(void **state) {
    const char *const options[] = {"max_iter=2, tol=1e-12", "max_iter=2, tol=1e-12, C=inf"};
    (void)state;
    for (int noise = 0; noise < 2; noise++) {
        linear_case *c = linear_case_make(300, 6, 0.5, noise, 72);
        for (int k = 0; k < MG_LENGTH(options); k++) {
            linear_fitted f = linear_fit(&c->problem, MG_LOSS_HINGE, options[k]);
            assert_int_equal(f.status, MARGIN_STOPPED_ITERATIONS);
            assert_int_equal(f.report.iterations, 2);
            assert_contains(f.report.reason, "raise max_iter");
            linear_fitted_free(&f);

            f = linear_fit_limited(&c->problem, MG_LOSS_HINGE, options[k]);
            assert_true(f.report.gap > 0);
            linear_fitted_free(&f);
        }
        linear_case_free(c);
    }
}

/* tol below what double precision can show: it ends, and says which gap it has. */
static void test_rounding(void **state) {
    const char *const options[] = {"tol=1e-300", "tol=1e-300, C=1e4"};
    (void)state;
    for (int noise = 0; noise < 2; noise++) {
        linear_case *c = linear_case_make(500, 9, 0.5, noise, 73);
        for (int k = 0; k < MG_LENGTH(options); k++) {
            linear_fitted f = linear_fit(&c->problem, MG_LOSS_HINGE, options[k]);
            assert_true(f.report.gap <= 1e-11);
            if (f.report.gap > 1e-300) assert_int_equal(f.status, MARGIN_STOPPED_STALLED);
            if (f.status != MARGIN_OK) assert_contains(f.report.reason, "rounding");
            linear_fitted_free(&f);
        }
        linear_case_free(c);
    }
}

static void test_beyond_double(void **state) {
    (void)state;
    linear_case *c = linear_case_make(20, 2, 0, 1, 74);
    for (int64_t k = 0; k < 40; k++)
        c->x[k] *= 1e200;
    margin_context *context = support_context(NULL, 1);
    linear_fitted f = linear_fit_with(context, &c->problem, MG_LOSS_HINGE, "", NULL);
    if (f.status < 0) assert_contains(f.error.text, "one scale");
    linear_fitted_free(&f);
    margin_context_free(context);
    linear_case_free(c);
}

static void test_trace(void **state) {
    int64_t seen = 0;
    const mg_trace trace = {.step = count_steps, .user = &seen};
    (void)state;
    linear_case *c = linear_case_make(200, 4, 0.5, 1, 75);
    margin_context *context = support_context(NULL, 2);
    linear_fitted f = linear_fit_with(context, &c->problem, MG_LOSS_HINGE, "", &trace);
    assert_int_equal(f.status, MARGIN_OK);
    assert_int_equal(seen, f.report.iterations + 1);
    assert_string_equal(f.report.iteration_name, "Newton steps");
    linear_fitted_free(&f);
    margin_context_free(context);
    linear_case_free(c);
}

static margin_status fit_body(margin_context *context, void *user, margin_error *error) {
    const char *options = user;
    linear_case *c = linear_case_make(400, 3, 0.3, options[0] == 'C' ? 0 : 1, 76);
    linear_fitted f = linear_fit_with(context, &c->problem, MG_LOSS_HINGE, options, NULL);
    *error = f.error;
    linear_fitted_free(&f);
    linear_case_free(c);
    return f.status;
}

static void test_allocations(void **state) {
    (void)state;
    assert_true(support_fail_each_allocation(1, fit_body, (void *)"tol=1e-3") > 10);
    assert_true(support_fail_each_allocation(1, fit_body, (void *)"C=inf") > 10);
}

static void test_cancel(void **state) {
    (void)state;
    linear_case *c = linear_case_make(5000, 3, 0.3, 1, 77);
    linear_assert_cancels(&c->problem, MG_LOSS_HINGE, "tol=1e-9", 2);
    linear_case_free(c);
}

/* Other losses are not its business. */
static void test_refused(void **state) {
    (void)state;
    linear_case *c = linear_case_make(20, 2, 0.3, 1, 78);
    margin_context *context = support_context(NULL, 1);
    linear_fitted f =
        linear_fit_with(context, &c->problem, MG_LOSS_SQUARED_HINGE, "solver=ssnal", NULL);
    assert_int_equal(f.status, MARGIN_ERROR_SPEC);
    assert_contains(f.error.text, "solver=ssnal cannot minimise this: ssnal is for the hinge loss");
    margin_context_free(context);
    linear_case_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_optima),
        cmocka_unit_test(test_widest_margin),
        cmocka_unit_test(test_one_small_box),
        cmocka_unit_test(test_one_row_balanced),
        cmocka_unit_test(test_constant_is_best),
        cmocka_unit_test(test_constant_of_bits),
        cmocka_unit_test(test_penalties),
        cmocka_unit_test(test_spellings),
        cmocka_unit_test(test_no_penalty),
        cmocka_unit_test(test_separable),
        cmocka_unit_test(test_identities),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_affine_problem),
        cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_far_from_zero),
        cmocka_unit_test(test_scaled_columns),
        cmocka_unit_test(test_rare_columns),
        cmocka_unit_test(test_degenerate_columns),
        cmocka_unit_test(test_nothing_but_constants),
        cmocka_unit_test(test_more_columns_than_rows),
        cmocka_unit_test(test_very_many_columns),
        cmocka_unit_test(test_one_class),
        cmocka_unit_test(test_one_row),
        cmocka_unit_test(test_contradiction),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_beyond_double),
        cmocka_unit_test(test_trace),
        cmocka_unit_test(test_allocations),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
