/* |w|_1 on sparse data, where steps go by columns: the conditions of an optimum from the rows, in
 * plain loops and extended precision; the same data as dense rows; small lassos by both solvers;
 * columns that are copies, empty or constant, one row, weights, units, penalties one by one. */
#include "linear_cases.h"

#include "linear/lasso/sparse_quadratic.h"
#include "linear/objective/quadratic.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef long double real;

static const mg_loss_kind losses[] = {MG_LOSS_SQUARED, MG_LOSS_LOGISTIC, MG_LOSS_SQUARED_HINGE,
                                      MG_LOSS_EXPONENTIAL};

/* ---- Data ------------------------------------------------------------------------------------ */

/* A case whose problem has sparse rows: the values of c->x that are not 0. */
typedef struct words {
    linear_case *c;
    double *values;
    float *narrow;
    int32_t *columns;
    int64_t *starts;
} words;

static void pack_rows(words *w) {
    linear_case *c = w->c;
    int64_t at = 0;
    for (int64_t i = 0; i < c->rows; i++) {
        for (int64_t j = 0; j < c->columns; j++) {
            const double value = c->x[i * c->columns + j];
            if (value == 0) continue;
            w->values[at] = value;
            w->narrow[at] = (float)value;
            w->columns[at++] = (int32_t)j;
        }
        w->starts[i + 1] = at;
    }
    c->problem.x = margin_csr_f64(w->values, w->columns, w->starts, c->rows, c->columns);
}

/* Column j in about every (1 + j / 10)th row, so few are long; multiples of 1/64; signs and values
 * by the first ten, with noise. */
static words words_make(int64_t rows, int64_t columns, uint64_t seed) {
    words w = {.c = linear_case_make(rows, columns, 0, 1, seed)};
    linear_case *c = w.c;
    const size_t most = (size_t)(rows * columns);
    uint64_t state = seed;
    for (int64_t i = 0; i < rows; i++) {
        double score = 0.3;
        for (int64_t j = 0; j < columns; j++) {
            double *x = &c->x[i * columns + j];
            state = state * 6364136223846793005U + 1442695040888963407U;
            *x = (state >> 33) % (uint64_t)(2 + j / 10) == 0 ? round(64 * *x) / 64 : 0;
            if (j < 10) score += ((double)(j % 3) - 0.7) * *x;
        }
        state = state * 6364136223846793005U + 1442695040888963407U;
        c->target[i] = score + (double)((state >> 40) % 1000) / 1000;
        c->sign[i] = score + (double)((state >> 40) % 1000) / 250 - 2 > 0 ? 1 : -1;
    }
    w.values = calloc(most, sizeof *w.values);
    w.narrow = calloc(most, sizeof *w.narrow);
    w.columns = calloc(most, sizeof *w.columns);
    w.starts = calloc((size_t)rows + 1, sizeof *w.starts);
    pack_rows(&w);
    return w;
}

static void words_free(words *w) {
    linear_case_free(w->c);
    free(w->values);
    free(w->narrow);
    free(w->columns);
    free(w->starts);
}

/* ---- By other means -------------------------------------------------------------------------- */

typedef struct penalised {
    const words *w;
    mg_loss_kind loss;
    real factor, rho, kappa;
    bool intercept;
    const double *scale, *shift; /* of columns, or NULL */
} penalised;

static penalised penalised_of(const words *w, mg_loss_kind loss, double C, double ratio) {
    return (penalised){w, loss, (real)C, 1 - (real)ratio, (real)ratio / 2, true, NULL, NULL};
}

static real value_in(const penalised *o, int64_t i, int64_t j) {
    real x = (real)o->w->c->x[i * o->w->c->columns + j];
    if (o->scale) x *= (real)o->scale[j];
    return o->shift ? x + (real)o->shift[j] : x;
}

static real loss_at(const penalised *o, int64_t i, real f, real *slope) {
    const real y = o->w->c->sign[i], z = y * f, left = 1 - z, off = f - (real)o->w->c->target[i];
    switch (o->loss) {
    case MG_LOSS_SQUARED:
        *slope = 2 * off;
        return off * off;
    case MG_LOSS_LOGISTIC:
        *slope = -y / (1 + expl(z));
        return z > 0 ? log1pl(expl(-z)) : log1pl(expl(z)) - z;
    case MG_LOSS_SQUARED_HINGE:
        *slope = left > 0 ? -2 * y * left : 0;
        return left > 0 ? left * left : 0;
    default:
        *slope = -y * expl(-z);
        return expl(-z);
    }
}

/* The objective of the report, and the conditions of an optimum, each within `share` of the
 * penalty. */
static void assert_optimal(const penalised *o, const linear_fitted *f, double share) {
    const linear_case *c = o->w->c;
    const double *w = weights_of(f);
    real *slopes = calloc((size_t)c->columns, sizeof *slopes), value = 0, excess = 0;
    if (f->status != MARGIN_OK) fail_msg("%s", f->report.reason);
    for (int64_t i = 0; i < c->rows; i++) {
        real score = (real)intercept_of(f), slope;
        for (int64_t j = 0; j < c->columns; j++)
            if (w[j] != 0) score += value_in(o, i, j) * (real)w[j];
        const real weight = o->factor * (real)(c->problem.weight ? c->problem.weight[i] : 1.0);
        value += weight * loss_at(o, i, score, &slope);
        slope *= weight;
        excess += slope;
        for (int64_t j = 0; j < c->columns; j++)
            slopes[j] += slope * value_in(o, i, j);
    }
    const real room = (real)share * (o->kappa + o->rho);
    for (int64_t j = 0; j < c->columns; j++) {
        const real weight = (real)w[j], slope = slopes[j] + o->rho * weight;
        const real off =
            w[j] == 0 ? fabsl(slope) - o->kappa : fabsl(slope + copysignl(o->kappa, weight));
        if (!(off <= room))
            fail_msg("column %d: w = %g is off by %Lg of %Lg", (int)j, w[j], off, o->kappa);
        value += o->rho / 2 * weight * weight + o->kappa * fabsl(weight);
    }
    if (o->intercept) assert_true(fabsl(excess) <= room + 1e-12L * o->factor);
    assert_close(f->report.objective, (double)value, 1e-11);
    assert_true(f->report.gap <= f->report.tolerance);
    free(slopes);
}

static linear_fitted fit_optimal(const penalised *o, const char *options, double share) {
    linear_fitted f = linear_fit(&o->w->c->problem, o->loss, options);
    assert_optimal(o, &f, share);
    return f;
}

/* ---- Fits ------------------------------------------------------------------------------------ */

static void test_optimum(void **state) {
    const double Cs[] = {0.05, 1, 30}, ratios[] = {1, 0.4};
    (void)state;
    for (int l = 0; l < MG_LENGTH(losses); l++)
        for (int k = 0; k < MG_LENGTH(Cs); k++)
            for (int r = 0; r < MG_LENGTH(ratios); r++)
                for (int intercept = 0; intercept < 2; intercept++) {
                    words w = words_make(150, 400, (uint64_t)(l + 1));
                    char options[200];
                    if (k == 1) w.c->problem.weight = w.c->weight;
                    snprintf(options, sizeof options, "C=%g, l1_ratio=%g, tol=1e-9, intercept=%s",
                             Cs[k], ratios[r], intercept ? "yes" : "no");
                    penalised o = penalised_of(&w, losses[l], Cs[k], ratios[r]);
                    o.intercept = intercept;
                    linear_fitted f = fit_optimal(&o, options, 1e-2);
                    linear_fitted g = linear_verify(&w.c->problem, losses[l], options, f.h);
                    assert_close(f.report.objective, g.report.objective, 1e-12);
                    assert_true(fabs(f.report.gap - g.report.gap) <= 1e-11);
                    linear_fitted_free(&g);
                    linear_fitted_free(&f);
                    words_free(&w);
                }
}

/* The same rows dense, where steps go by a matrix; and in single precision. */
static void test_layouts(void **state) {
    (void)state;
    for (int l = 0; l < MG_LENGTH(losses); l++) {
        static const char options[] = "C=3, l1_ratio=1, tol=1e-10";
        words w = words_make(300, 200, 7);
        linear_case *c = w.c;
        mg_problem dense = c->problem, single = c->problem;
        dense.x = margin_dense_f64(c->x, c->rows, c->columns, c->columns);
        single.x = margin_csr_f32(w.narrow, w.columns, w.starts, c->rows, c->columns);
        linear_fitted f = linear_fit(&c->problem, losses[l], options);
        linear_fitted g = linear_fit(&dense, losses[l], options);
        linear_fitted h = linear_fit(&single, losses[l], options);
        assert_close(f.report.objective, g.report.objective, 3e-10);
        assert_close(f.report.objective, h.report.objective, 3e-10);
        linear_fitted_free(&h);
        linear_fitted_free(&g);
        linear_fitted_free(&f);
        words_free(&w);
    }
}

/* Copies and opposites of columns, empty ones, one that is 3 everywhere. */
static void test_columns(void **state) {
    (void)state;
    for (int l = 0; l < MG_LENGTH(losses); l++) {
        words w = words_make(120, 300, 11), all = words_make(120, 300, 11);
        linear_case *c = all.c;
        for (int64_t i = 0; i < c->rows; i++) {
            double *row = c->x + i * c->columns;
            for (int64_t j = 100; j < 300; j++)
                w.c->x[i * c->columns + j] = 0;
            for (int64_t j = 0; j < 90; j++)
                row[100 + j] = j % 2 ? row[j] : -row[j];
            for (int64_t j = 190; j < 300; j++)
                row[j] = j == 250 ? 3 : 0;
        }
        pack_rows(&w);
        pack_rows(&all);
        const penalised o = penalised_of(&w, losses[l], 5, 1),
                        both = penalised_of(&all, losses[l], 5, 1);
        linear_fitted f = fit_optimal(&o, "C=5, l1_ratio=1, tol=1e-10", 1e-3);
        linear_fitted g = fit_optimal(&both, "C=5, l1_ratio=1, tol=1e-10", 1e-3);
        assert_close(f.report.objective, g.report.objective, 1e-9);
        for (int64_t j = 190; j < 300; j++)
            assert_true(weights_of(&g)[j] == 0);
        linear_fitted_free(&g);
        linear_fitted_free(&f);
        words_free(&all);
        words_free(&w);
    }
}

/* Full columns, each nearly the one before: sweeps would take very long. */
static void test_dependent_columns(void **state) {
    (void)state;
    for (int l = 0; l < 2; l++) {
        words w = words_make(60, 300, 12);
        for (int64_t i = 0; i < 60; i++)
            for (int64_t j = 1; j < 300; j++)
                w.c->x[i * 300 + j] = 0.95 * w.c->x[i * 300 + j - 1] + sin((double)(i * 300 + j));
        pack_rows(&w);
        const penalised o = penalised_of(&w, losses[l], 100, 1);
        linear_fitted f = fit_optimal(&o, "C=100, l1_ratio=1, tol=1e-9", 1e-2);
        assert_true(f.report.iterations < 100);
        linear_fitted_free(&f);
        words_free(&w);
    }
}

static void test_one_row(void **state) {
    (void)state;
    words w = words_make(2, 300, 13);
    const penalised o = penalised_of(&w, MG_LOSS_SQUARED, 10, 1);
    linear_fitted f = fit_optimal(&o, "C=10, l1_ratio=1", 1e-3);
    linear_fitted_free(&f);
    w.c->problem.count = w.c->rows = 1;
    f = fit_optimal(&o, "C=10, l1_ratio=1", 1e-3);
    for (int64_t j = 0; j < 300; j++)
        assert_true(weights_of(&f)[j] == 0);
    linear_fitted_free(&f);
    words_free(&w);
}

/* A row of weight 3 is three rows. */
static void test_copies_of_rows(void **state) {
    (void)state;
    for (int l = 0; l < MG_LENGTH(losses); l++) {
        words w = words_make(90, 250, 14);
        linear_case *c = w.c;
        mg_problem thrice = c->problem;
        int64_t index[130], count = 0;
        int8_t sign[130];
        double target[130];
        for (int64_t i = 0; i < 90; i++) {
            c->weight[i] = i < 20 ? 3 : 1;
            for (int copy = 0; copy < (int)c->weight[i]; copy++) {
                index[count] = i;
                sign[count] = c->sign[i];
                target[count++] = c->target[i];
            }
        }
        c->problem.weight = c->weight;
        thrice.index = index;
        thrice.count = count;
        thrice.sign = sign;
        thrice.target = target;
        linear_fitted f = linear_fit(&c->problem, losses[l], "lambda=0.02, l1_ratio=1, tol=1e-10");
        linear_fitted g = linear_fit(&thrice, losses[l], "lambda=0.02, l1_ratio=1, tol=1e-10");
        assert_close(f.report.objective, g.report.objective, 1e-9);
        linear_fitted_free(&g);
        linear_fitted_free(&f);
        words_free(&w);
    }
}

/* Scales and shifts that are told; columns of all sizes. */
static void test_affine_problem(void **state) {
    (void)state;
    for (int l = 0; l < MG_LENGTH(losses); l++)
        for (int intercept = 0; intercept < 2; intercept++) {
            words w = words_make(120, 250, 15);
            double scale[250], shift[250];
            for (int j = 0; j < 250; j++) {
                scale[j] = j % 50 == 7 ? 1e-9 : j % 50 == 8 ? 1e4 : 1 + j % 3;
                shift[j] = j % 7 == 0 ? -0.5 : 0;
            }
            w.c->problem.scale = scale;
            w.c->problem.shift = shift;
            penalised o = penalised_of(&w, losses[l], 1, 0.9);
            o.intercept = intercept;
            o.scale = scale;
            o.shift = shift;
            linear_fitted f = fit_optimal(&o,
                                          intercept ? "C=1, l1_ratio=0.9, tol=1e-9"
                                                    : "C=1, l1_ratio=0.9, tol=1e-9, intercept=no",
                                          0.05);
            linear_fitted_free(&f);
            words_free(&w);
        }
}

/* Weaker and weaker penalties, each from where the last one ended: as good as from 0. */
static void test_penalties_in_turn(void **state) {
    (void)state;
    enum { COLUMNS = 40, ROOM = 640 };
    words w = words_make(20, COLUMNS, 16);
    for (int l = 0; l < 2; l++) {
        char options[2 * ROOM], start[ROOM] = "";
        for (double C = 0.01; C < 50; C *= 7) {
            const penalised o = penalised_of(&w, losses[l], C, 1);
            int used = snprintf(options, sizeof options, "C=%g, l1_ratio=1, tol=1e-9", C);
            linear_fitted cold = fit_optimal(&o, options, 1e-2);
            snprintf(options + used, sizeof options - (size_t)used, "%s", start);
            linear_fitted warm = fit_optimal(&o, options, 1e-2);
            assert_close(warm.report.objective, cold.report.objective, 2e-9);
            used = snprintf(start, ROOM,
                            ", start_intercept=%.6g, start_weights=", intercept_of(&warm));
            for (int j = 0; j < COLUMNS; j++)
                used +=
                    snprintf(start + used, (size_t)(ROOM - used), "%.6g ", weights_of(&warm)[j]);
            linear_fitted_free(&warm);
            linear_fitted_free(&cold);
        }
    }
    words_free(&w);
}

/* Rows in the order of their classes, two of 0.1: sums of equal terms keep their digits. */
static void test_equal_terms(void **state) {
    enum { ROWS = 9000, COLUMNS = 250 };
    (void)state;
    words w = words_make(ROWS, COLUMNS, 20);
    linear_case *c = w.c;
    memset(c->x, 0, ROWS * COLUMNS * sizeof *c->x);
    for (int i = 0; i < ROWS; i++) {
        c->sign[i] = i < 4000 ? -1 : 1;
        c->x[i * COLUMNS + i % 2] = 0.1;
        c->x[i * COLUMNS + 2 + i % (COLUMNS - 2)] = 1e-6 * i; /* lest rows are equal */
    }
    pack_rows(&w);
    linear_fitted f = linear_fit(&c->problem, MG_LOSS_LOGISTIC, "C=1, l1_ratio=1");
    linear_fitted g = linear_verify(&c->problem, MG_LOSS_LOGISTIC, "C=1, l1_ratio=1", f.h);
    const double limit = margin_report_item_value(&g.report, "lambda_max");
    assert_close(margin_report_item_value(&f.report, "lambda_max") / limit, 1, 1e-14);
    linear_fitted_free(&g);
    linear_fitted_free(&f);
    words_free(&w);
}

static void test_threads(void **state) {
    (void)state;
    words w = words_make(2000, 600, 17);
    for (int l = 0; l < 2; l++)
        linear_assert_threads(&w.c->problem, losses[l], "lambda=0.002, l1_ratio=1");
    words_free(&w);
}

static void test_limits(void **state) {
    (void)state;
    words w = words_make(300, 500, 18);
    linear_fitted f =
        linear_fit(&w.c->problem, MG_LOSS_LOGISTIC, "l1_ratio=1, max_iter=2, tol=1e-12");
    assert_int_equal(f.status, MARGIN_STOPPED_ITERATIONS);
    assert_int_equal(f.report.iterations, 2);
    assert_true(f.report.gap > 1e-12 && isfinite(f.report.gap));
    linear_fitted_free(&f);
    f = linear_fit_limited(&w.c->problem, MG_LOSS_LOGISTIC, "l1_ratio=1");
    assert_true(isfinite(f.report.gap));
    linear_fitted_free(&f);
    linear_assert_cancels(&w.c->problem, MG_LOSS_LOGISTIC, "l1_ratio=1", 1);
    words_free(&w);
}

/* Without room for a copy of the columns it goes by a matrix. */
static void test_little_memory(void **state) {
    (void)state;
    words w = words_make(200, 300, 19);
    margin_context_options limited = {.size = sizeof limited, .threads = 1, .memory_limit = 400000};
    margin_context *context;
    assert_int_equal(margin_context_create(&limited, &context, NULL), MARGIN_OK);
    const penalised o = penalised_of(&w, MG_LOSS_LOGISTIC, 5, 1);
    linear_fitted f = linear_fit_with(context, &w.c->problem, MG_LOSS_LOGISTIC,
                                      "C=5, l1_ratio=1, tol=1e-9", NULL);
    if (f.status < 0) fail_msg("%s", f.error.text);
    assert_optimal(&o, &f, 1e-2);
    assert_true(margin_context_peak_memory(context) < 400000);
    linear_fitted_free(&f);
    margin_context_free(context);
    words_free(&w);
}

/* ---- The small lasso ------------------------------------------------------------------------- */

enum { SMALL = 40, LONG = 90 };

typedef struct small_lasso {
    int64_t starts[SMALL + 1];
    int32_t samples[SMALL * LONG];
    float values[SMALL * LONG];
    mg_sparse_column column[SMALL];
    double h[SMALL * SMALL], lambda[SMALL], u[SMALL], r[SMALL];
} small_lasso;

/* Full columns, as long as conjugate gradients want them, or every third value; the matrix by plain
 * loops. */
static void make_small(small_lasso *s, bool full, uint64_t seed) {
    int64_t at = 0;
    memset(s, 0, sizeof *s);
    for (int k = 0; k < SMALL; k++) {
        for (int i = 0; i < LONG; i++)
            if (full || (i + k) % 3 == 0) {
                s->samples[at] = i;
                s->values[at++] = (float)sin((double)(seed * 977) + i * 1.7 + k * k * 0.31);
            }
        s->starts[k + 1] = at;
        s->lambda[k] = 1 + k % 4;
        s->column[k] = (mg_sparse_column){.q = 30 * cos(k * 1.3 + (double)seed),
                                          .mean = 0.3 * cos(k * 0.9),
                                          .ridge = k % 2,
                                          .lambda = s->lambda[k],
                                          .before = k % 5 == 0 ? 0.1 : 0};
    }
    for (int k = 0; k < SMALL; k++)
        for (int l = 0; l < SMALL; l++) {
            double sum = k == l ? s->column[k].ridge : 0;
            for (int64_t a = s->starts[k]; a < s->starts[k + 1]; a++)
                for (int64_t b = s->starts[l]; b < s->starts[l + 1]; b++)
                    if (s->samples[a] == s->samples[b])
                        sum += (double)s->values[a] * (double)s->values[b];
            s->h[k * SMALL + l] = sum - s->column[k].mean * s->column[l].mean;
        }
    for (int k = 0; k < SMALL; k++) {
        s->u[k] = s->column[k].before;
        s->r[k] = s->column[k].q;
        s->column[k].curvature = s->h[k * SMALL + k];
        s->column[k].inverse = 1 / s->column[k].curvature;
    }
}

static double small_value(const small_lasso *s, const double *u) {
    double value = 0;
    for (int k = 0; k < SMALL; k++) {
        const double change = u[k] - s->column[k].before;
        value += s->column[k].q * change + s->lambda[k] * fabs(u[k]);
        for (int l = 0; l < SMALL; l++)
            value += change * s->h[k * SMALL + l] * (u[l] - s->column[l].before) / 2;
    }
    return value;
}

static void test_small_lasso(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 1);
    for (int round = 0; round < 8; round++) {
        small_lasso *s = calloc(1, sizeof *s);
        double u[SMALL];
        int64_t read = 0;
        margin_error error;
        const mg_stop stop = mg_stop_make(context, -1);
        make_small(s, round % 2 == 0, (uint64_t)round);
        memcpy(u, s->u, sizeof u);
        const mg_sparse_quadratic sparse = {context,    SMALL,     LONG,      s->starts,
                                            s->samples, s->values, s->column, u,
                                            5000,       0.05,      &read,     &error};
        mg_quadratic dense = {context,   mg_isa_level(), SMALL, SMALL, s->h,
                              s->lambda, s->u,           s->r,  &stop, &error};
        assert_int_equal(mg_sparse_quadratic_solve(&sparse, 1e-5), MARGIN_OK);
        assert_int_equal(mg_quadratic_solve(&dense, 1e-12), MARGIN_OK);
        const double best = small_value(s, s->u), found = small_value(s, u);
        assert_true(found <= best + 1e-5 * fabs(best));
        assert_true(read > 0);
        free(s);
    }
    margin_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_optimum),        cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_columns),        cmocka_unit_test(test_dependent_columns),
        cmocka_unit_test(test_one_row),        cmocka_unit_test(test_copies_of_rows),
        cmocka_unit_test(test_affine_problem), cmocka_unit_test(test_penalties_in_turn),
        cmocka_unit_test(test_threads),        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_little_memory),  cmocka_unit_test(test_small_lasso),
        cmocka_unit_test(test_equal_terms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
