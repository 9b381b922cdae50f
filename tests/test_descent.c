/* Gradient descent as in textbooks: every step against plain loops, rates, schedules, divergence,
 * and the optimum of the fast solvers. */
#include "linear_cases.h"

#include "base/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_STEPS = 64, MOST_COLUMNS = 8 };

/* What a trace said. */
typedef struct steps {
    int count, columns;
    double w[MOST_STEPS][MOST_COLUMNS], b[MOST_STEPS], loss[MOST_STEPS];
    int64_t errors[MOST_STEPS];
} steps;

static int keep_step(const margin_trace_step *step, void *user) {
    steps *s = user;
    assert_true(step->step >= s->count || s->count == MOST_STEPS);
    assert_int_equal(step->row, -1);
    if (s->count == MOST_STEPS) return 0;
    s->columns = (int)step->weight_count;
    memcpy(s->w[s->count], step->weights, (size_t)step->weight_count * sizeof(double));
    s->b[s->count] = step->intercept;
    s->loss[s->count] = step->loss;
    s->errors[s->count++] = step->errors;
    return 0;
}

static linear_fitted fit_traced(const mg_problem *problem, mg_loss_kind loss, const char *options,
                                steps *s) {
    margin_context *context = support_context(NULL, 2);
    const mg_trace trace = {.step = keep_step, .user = s};
    memset(s, 0, sizeof *s);
    linear_fitted f = linear_fit_with(context, problem, loss, options, &trace);
    if (f.status < 0) fail_msg("%s: %s", options, f.error.text);
    margin_context_free(context);
    return f;
}

/* ---- Plain loops ----------------------------------------------------------------------------- */

typedef struct plain {
    const linear_case *c;
    mg_loss_kind loss;
    double lambda, l1; /* J = weighted mean of the loss + lambda |w|^2 + l1 |w|_1 */
    bool intercept;
} plain;

static double plain_slope(mg_loss_kind loss, double t) {
    switch (loss) {
    case MG_LOSS_SQUARED:
        return 2 * t;
    case MG_LOSS_HINGE:
        return t < 1 ? -1 : 0;
    case MG_LOSS_SQUARED_HINGE:
        return t < 1 ? -2 * (1 - t) : 0;
    case MG_LOSS_LOGISTIC:
        return -1 / (1 + exp(t));
    case MG_LOSS_EXPONENTIAL:
        return -exp(-t);
    default:
        return 0;
    }
}

/* Derivative of the loss of row i in its score. */
static double slope_in_f(const plain *p, int64_t i, const double *w, double b) {
    const linear_case *c = p->c;
    double f = b;
    for (int64_t j = 0; j < c->columns; j++)
        f += c->x[i * c->columns + j] * w[j];
    if (p->loss == MG_LOSS_SQUARED) return plain_slope(p->loss, f - c->target[i]);
    return c->sign[i] * plain_slope(p->loss, c->sign[i] * f);
}

static double weight_of(const plain *p, int64_t i) {
    return p->c->problem.weight ? p->c->weight[i] : 1;
}

/* w -= rate x gradient of J over the given rows */
static void plain_step(const plain *p, const int64_t *rows, int64_t count, double rate, double *w,
                       double *b) {
    const linear_case *c = p->c;
    double g[MOST_COLUMNS] = {0}, g_b = 0, total = 0;
    for (int64_t i = 0; i < c->rows; i++)
        total += weight_of(p, i);
    for (int64_t k = 0; k < count; k++) {
        const double share = (double)c->rows / (double)count * weight_of(p, rows[k]) / total *
                             slope_in_f(p, rows[k], w, *b);
        for (int64_t j = 0; j < c->columns; j++)
            g[j] += share * c->x[rows[k] * c->columns + j];
        g_b += share;
    }
    for (int64_t j = 0; j < c->columns; j++) {
        w[j] -= rate * (g[j] + 2 * p->lambda * w[j]);
        const double size = fabs(w[j]) - rate * p->l1;
        if (p->l1 > 0) w[j] = size > 0 ? copysign(size, w[j]) : 0;
    }
    if (p->intercept) *b -= rate * g_b;
}

typedef double (*rate_rule)(int64_t step);

static void assert_steps(const steps *s, int at, const double *w, double b, double near) {
    for (int j = 0; j < s->columns; j++)
        if (fabs(s->w[at][j] - w[j]) > near * fmax(1, fabs(w[j])))
            fail_msg("step %d: w[%d] is %.17g, not %.17g", at, j, s->w[at][j], w[j]);
    if (fabs(s->b[at] - b) > near * fmax(1, fabs(b)))
        fail_msg("step %d: b is %.17g, not %.17g", at, s->b[at], b);
}

static void check_gd(const plain *p, const steps *s, rate_rule rate, const double *start,
                     double start_b) {
    double w[MOST_COLUMNS] = {0}, b = start_b;
    int64_t rows[200];
    for (int64_t i = 0; i < p->c->rows; i++)
        rows[i] = i;
    if (start) memcpy(w, start, (size_t)p->c->columns * sizeof *w);
    assert_true(s->count > 4);
    for (int at = 0; at < s->count; at++) {
        assert_steps(s, at, w, b, 1e-11);
        plain_step(p, rows, p->c->rows, rate(at), w, &b);
    }
}

static void check_sgd(const plain *p, const steps *s, int64_t batch, rate_rule rate) {
    double w[MOST_COLUMNS] = {0}, b = 0;
    int64_t order[200], step = 0;
    for (int64_t i = 0; i < p->c->rows; i++)
        order[i] = i;
    assert_true(s->count > 4);
    for (int at = 0; at < s->count; at++) {
        assert_steps(s, at, w, b, 1e-10);
        mg_random_shuffle(7, MG_RANDOM_SHUFFLE, (uint64_t)at, order, p->c->rows);
        for (int64_t k = 0; k < p->c->rows; k += batch) {
            const int64_t count = p->c->rows - k < batch ? p->c->rows - k : batch;
            plain_step(p, order + k, count, rate(step++), w, &b);
        }
    }
}

static double constant_rate(int64_t step) {
    (void)step;
    return 0.0625;
}
static double inverse_rate(int64_t step) {
    return 0.5 / (1 + 0.25 * (double)step);
}
static double root_rate(int64_t step) {
    return 0.5 / sqrt(1 + 0.25 * (double)step);
}

static double small_rate(int64_t step) {
    (void)step;
    return 0.0078125;
}
static double falling_rate(int64_t step) {
    return 0.015625 / (1 + 0.25 * (double)step);
}

/* ---- Known answers --------------------------------------------------------------------------- */

/* Least squares on (1,1), (2,2), (3,2), by hand: at w = b = 0 the residuals f - y are -1, -2, -2,
 * the gradient of the mean square is (2/3)(-11) in w and (2/3)(-5) in b. After a step of 3/20 they
 * are w = 11/10, b = 1/2; residuals 3/5, 7/10, 9/5; gradient (2/3)(37/5), (2/3)(31/10). */
static void test_first_steps_by_hand(void **state) {
    double x[3] = {1, 2, 3}, y[3] = {1, 2, 2};
    const mg_problem problem = {
        .kind = MG_REGRESSION, .x = margin_dense_f64(x, 3, 1, 1), .count = 3, .target = y};
    steps s;
    (void)state;
    linear_fitted f =
        fit_traced(&problem, MG_LOSS_SQUARED, "lambda=0, solver=gd, rate=0.15, max_iter=2", &s);
    assert_int_equal(f.status, MARGIN_STOPPED_ITERATIONS);
    assert_int_equal(s.count, 3);
    assert_close(s.loss[0], 3, 1e-15);
    assert_close(s.w[1][0], 1.1, 1e-15);
    assert_close(s.b[1], 0.5, 1e-15);
    assert_close(s.loss[1], (0.36 + 0.49 + 3.24) / 3, 1e-14);
    assert_close(s.w[2][0], 1.1 - 0.15 * (2.0 / 3) * 7.4, 1e-14);
    assert_close(s.b[2], 0.5 - 0.15 * (2.0 / 3) * 3.1, 1e-14);
    assert_int_equal(s.errors[1], -1);
    linear_fitted_free(&f);
    /* the penalty 0.5 |w|^2 adds w to the gradient */
    f = fit_traced(&problem, MG_LOSS_SQUARED, "lambda=0.5, solver=gd, rate=0.15, max_iter=2", &s);
    assert_close(s.w[1][0], 1.1, 1e-15);
    assert_close(s.w[2][0], 1.1 - 0.15 * ((2.0 / 3) * 7.4 + 1.1), 1e-14);
    linear_fitted_free(&f);
}

/* The rate is one of the mean loss, whatever the spelling: the same path. */
static void test_rate_has_one_meaning(void **state) {
    enum { ROWS = 40 };
    const char *const spellings[] = {"lambda=0.0125", "alpha=0.5", "C=1"};
    steps s, first;
    (void)state;
    linear_case *c = linear_case_make(ROWS, 3, 0.2, 1, 3);
    for (int k = 0; k < 3; k++) {
        char options[80];
        snprintf(options, sizeof options, "%s, solver=gd, rate=0.1, max_iter=20", spellings[k]);
        linear_fitted f = fit_traced(&c->problem, MG_LOSS_LOGISTIC, options, k ? &s : &first);
        for (int at = 0; k && at < s.count; at++) {
            assert_steps(&s, at, first.w[at], first.b[at], 1e-13);
            /* the trace has the objective of the report, in its own spelling */
            assert_close(s.loss[at], first.loss[at] * (double)ROWS, 1e-12);
        }
        linear_fitted_free(&f);
    }
    linear_case_free(c);
}

/* ---- Each step ------------------------------------------------------------------------------- */

static const mg_loss_kind losses[] = {MG_LOSS_SQUARED, MG_LOSS_HINGE, MG_LOSS_SQUARED_HINGE,
                                      MG_LOSS_LOGISTIC, MG_LOSS_EXPONENTIAL};

static void test_gd_steps(void **state) {
    (void)state;
    for (int l = 0; l < MG_LENGTH(losses); l++) {
        for (int variant = 0; variant < 5; variant++) {
            static const rate_rule rules[] = {constant_rate, inverse_rate, root_rate, constant_rate,
                                              constant_rate};
            static const char *const texts[] = {
                "rate=0.0625, schedule=constant", "rate=0.5, schedule=inverse, decay=0.25",
                "rate=0.5, schedule=sqrt, decay=0.25",
                "rate=0.0625, schedule=constant, start_weights=0.5 -1 2, start_intercept=0.25",
                "rate=0.0625, schedule=constant, intercept=no"};
            const double start[] = {0.5, -1, 2};
            char options[200];
            steps s;
            linear_case *c = linear_case_make(30, 3, 0.2, 1, (uint64_t)(11 + l));
            if (variant % 2) c->problem.weight = c->weight;
            const plain p = {c, losses[l], 0.02, 0, variant != 4};
            snprintf(options, sizeof options, "lambda=0.02, solver=gd, max_iter=20, %s",
                     texts[variant]);
            linear_fitted f = fit_traced(&c->problem, losses[l], options, &s);
            check_gd(&p, &s, rules[variant], variant == 3 ? start : NULL, variant == 3 ? 0.25 : 0);
            linear_fitted_free(&f);
            linear_case_free(c);
        }
    }
}

/* Dense and sparse rows, columns scaled and shifted on the way, weights, batches. */
static void test_sgd_steps(void **state) {
    const double scale[] = {0.5, 2, 1}, shift[] = {0.25, -1, 3};
    (void)state;
    for (int l = 0; l < MG_LENGTH(losses); l++) {
        for (int variant = 0; variant < 8; variant++) {
            char options[200];
            steps s;
            linear_case *c = linear_case_make(37, 3, 0.2, 1, (uint64_t)(31 + l));
            int32_t columns[3 * 37];
            int64_t starts[38];
            for (int64_t k = 0; k < 3 * 37; k++)
                columns[k] = (int32_t)(k % 3);
            for (int64_t i = 0; i <= 37; i++)
                starts[i] = 3 * i;
            double *values = malloc(sizeof(double) * 3 * 37);
            memcpy(values, c->x, sizeof(double) * 3 * 37);
            if (variant & 1)
                c->problem.x = (margin_matrix){.value_type = MARGIN_F64,
                                               .index_type = MARGIN_I32,
                                               .start_type = MARGIN_I64,
                                               .rows = 37,
                                               .columns = 3,
                                               .values = values,
                                               .column_indices = columns,
                                               .row_starts = starts};
            else
                c->problem.x.values = values;
            if (variant & 2) {
                c->problem.scale = scale;
                c->problem.shift = shift;
                linear_case_scale(c, scale, shift); /* for the plain loops */
            }
            if (variant & 4) c->problem.weight = c->weight;
            const plain p = {c, losses[l], 0.02, 0, true};
            snprintf(options, sizeof options, "lambda=0.02, max_iter=9, %s",
                     variant & 4 ? "rate=0.0078125, schedule=constant, solver=sgd"
                                 : "rate=0.015625, schedule=inverse, decay=0.25, batch=5, "
                                   "solver=minibatch");
            linear_fitted f = fit_traced(&c->problem, losses[l], options, &s);
            check_sgd(&p, &s, variant & 4 ? 1 : 5, variant & 4 ? small_rate : falling_rate);
            linear_fitted_free(&f);
            free(values);
            linear_case_free(c);
        }
    }
}

/* |w|_1 by the proximal step: lambda N(w) = lambda ((1-r) |w|^2 + r |w|_1). */
static void test_proximal_steps(void **state) {
    static const char *const solvers[] = {"solver=gd", "solver=sgd"};
    (void)state;
    for (int l = 0; l < MG_LENGTH(losses); l++) {
        if (losses[l] == MG_LOSS_HINGE) continue;
        for (int k = 0; k < 2; k++) {
            char options[200];
            steps s;
            linear_case *c = linear_case_make(37, 3, 0.2, 1, (uint64_t)(131 + l));
            const plain p = {c, losses[l], 0.1 * 0.75, 0.1 * 0.25, true};
            snprintf(options, sizeof options,
                     "lambda=0.1, l1_ratio=0.25, rate=0.0078125, schedule=constant, max_iter=9, %s",
                     solvers[k]);
            linear_fitted f = fit_traced(&c->problem, losses[l], options, &s);
            if (k == 0)
                check_gd(&p, &s, small_rate, NULL, 0);
            else
                check_sgd(&p, &s, 1, small_rate);
            linear_fitted_free(&f);
            linear_case_free(c);
        }
    }
}

/* ---- Optimum --------------------------------------------------------------------------------- */

static void test_gd_reaches_the_optimum(void **state) {
    (void)state;
    for (int l = 0; l < MG_LENGTH(losses); l++) {
        if (losses[l] == MG_LOSS_HINGE) continue;
        for (int intercept = 0; intercept < 2; intercept++) {
            char options[100], fast[100];
            steps s;
            linear_case *c = linear_case_make(80, 4, 0.3, 1, (uint64_t)(51 + l));
            c->problem.weight = c->weight;
            snprintf(options, sizeof options, "alpha=2, tol=1e-9, solver=gd, intercept=%s",
                     intercept ? "yes" : "no");
            snprintf(fast, sizeof fast, "alpha=2, tol=1e-12, intercept=%s",
                     intercept ? "yes" : "no");
            linear_fitted slow = fit_traced(&c->problem, losses[l], options, &s),
                          best = linear_fit(&c->problem, losses[l], fast);
            if (slow.status != MARGIN_OK) fail_msg("%s: %s", options, slow.report.reason);
            assert_true(slow.report.gap <= 1e-9);
            const oracle_problem p = {c, losses[l], 1, 4, intercept};
            assert_close(slow.report.objective,
                         oracle_objective(&p, weights_of(&slow), intercept_of(&slow)), 1e-13);
            assert_true(slow.report.objective <= best.report.objective * (1 + 1e-12) +
                                                     1e-9 * fmax(1, best.report.objective));
            for (int j = 0; j < 4; j++)
                assert_close(weights_of(&slow)[j], weights_of(&best)[j], 1e-4);
            for (int at = 1; at < s.count; at++) /* no step leads up */
                assert_true(s.loss[at] <= s.loss[at - 1] * (1 + 1e-13));
            linear_fitted checked = linear_verify(&c->problem, losses[l], options, slow.h);
            assert_close(checked.report.gap, slow.report.gap, 1e-3);
            linear_fitted_free(&checked);
            linear_fitted_free(&slow);
            linear_fitted_free(&best);
            linear_case_free(c);
        }
    }
}

/* Subgradients come near slowly, but what they claim is proven. */
static void test_hinge_by_subgradients(void **state) {
    const char *const solvers[] = {"gd", "sgd", "minibatch"};
    (void)state;
    linear_case *c = linear_case_make(80, 3, 0.3, 1, 61);
    for (int k = 0; k < 3; k++) {
        for (int intercept = 0; intercept < 2; intercept++) {
            char options[100];
            snprintf(options, sizeof options, "lambda=0.1, tol=0.01, solver=%s, intercept=%s",
                     solvers[k], intercept ? "yes" : "no");
            linear_fitted f = linear_fit(&c->problem, MG_LOSS_HINGE, options);
            if (f.status != MARGIN_OK) fail_msg("%s: %s", options, f.report.reason);
            assert_true(f.report.gap <= 0.01);
            linear_fitted checked = linear_verify(&c->problem, MG_LOSS_HINGE, options, f.h);
            assert_true(checked.report.gap <= 0.01 * (1 + 1e-6));
            assert_close(checked.report.objective, f.report.objective, 1e-12);
            linear_fitted_free(&checked);
            linear_fitted_free(&f);
        }
    }
    linear_case_free(c);
}

/* Rates that fall: near the optimum, and the claimed gap holds. */
static void test_sgd_comes_near(void **state) {
    const char *const solvers[] = {"sgd", "minibatch"};
    (void)state;
    for (int l = 0; l < MG_LENGTH(losses); l++) {
        for (int k = 0; k < 2 && losses[l] != MG_LOSS_HINGE; k++) {
            char options[100];
            linear_case *c = linear_case_make(120, 4, 0.3, 1, (uint64_t)(71 + l));
            snprintf(options, sizeof options, "lambda=0.05, tol=0.001, solver=%s", solvers[k]);
            linear_fitted f = linear_fit(&c->problem, losses[l], options);
            linear_fitted best = linear_fit(&c->problem, losses[l], "lambda=0.05, tol=1e-10");
            const double miss = f.report.objective - best.report.objective;
            if (miss > 0.002 * best.report.objective)
                fail_msg("%s: %s, %g above", options, f.report.reason, miss);
            assert_true(miss <= f.report.gap * fmax(1, f.report.objective) + 1e-12);
            linear_fitted_free(&f);
            linear_fitted_free(&best);
            linear_case_free(c);
        }
    }
}

/* ---- Rates that are too large ---------------------------------------------------------------- */

/* x = (1, 0), (0, 3): the curvature of the mean square is that of diag(1, 9), largest 9, so 2/9 is
 * the largest safe rate. */
static void test_divergence_is_said(void **state) {
    double x[4] = {1, 0, 0, 3}, y[2] = {1, 1};
    const mg_problem problem = {
        .kind = MG_REGRESSION, .x = margin_dense_f64(x, 2, 2, 2), .count = 2, .target = y};
    (void)state;
    linear_fitted f =
        linear_fit(&problem, MG_LOSS_SQUARED, "lambda=0, solver=gd, rate=0.3, intercept=no");
    assert_int_equal(f.status, MARGIN_STOPPED_STALLED);
    assert_contains(f.report.reason, "it diverges");
    assert_contains(f.report.reason, "rate=0.3");
    assert_contains(f.report.reason, "largest safe rate is about 0.22,");
    assert_true(isfinite(f.report.objective) && f.report.objective <= 1); /* no worse than w = 0 */
    linear_fitted_free(&f);
    f = linear_fit(&problem, MG_LOSS_SQUARED,
                   "lambda=0, solver=gd, rate=0.22, intercept=no, tol=1e-6");
    assert_int_equal(f.status, MARGIN_OK);
    linear_fitted_free(&f);
    /* a loss that cannot diverge: it goes round and round */
    linear_case *c = linear_case_make(40, 2, 0, 1, 81);
    f = linear_fit(&c->problem, MG_LOSS_LOGISTIC, "lambda=0.01, solver=gd, rate=400, max_iter=300");
    assert_true(f.status > 0);
    assert_contains(f.report.reason, "largest safe rate");
    linear_fitted_free(&f);
    linear_case_free(c);
}

static void test_no_optimum_is_said(void **state) {
    (void)state;
    linear_case *c = linear_case_make(30, 2, 0, 0, 82);
    linear_fitted f = linear_fit(&c->problem, MG_LOSS_LOGISTIC, "C=inf, solver=gd, max_iter=500");
    assert_true(f.status > 0);
    assert_contains(f.report.reason, "without a penalty there is no optimum");
    linear_fitted_free(&f);
    linear_case_free(c);

    /* classes overlap, but a column is 1 only in rows of one of them */
    c = linear_case_make(200, 3, 0.2, 1, 65);
    for (int64_t i = 0; i < c->rows; i++)
        c->x[i * 3 + 2] = c->sign[i] > 0 && i % 5 == 0;
    f = linear_fit(&c->problem, MG_LOSS_LOGISTIC, "C=inf, solver=gd, max_iter=200");
    assert_true(f.status > 0);
    assert_contains(f.report.reason, "in one direction");
    linear_fitted_free(&f);
    f = linear_fit(&c->problem, MG_LOSS_SQUARED_HINGE, "C=inf, solver=gd, max_iter=2");
    assert_contains(f.report.reason, "the limit of 2 steps");
    linear_fitted_free(&f);
    linear_case_free(c);
}

static void test_limits_are_said(void **state) {
    (void)state;
    linear_case *c = linear_case_make(60, 3, 0.9, 1, 83);
    linear_fitted f = linear_fit(&c->problem, MG_LOSS_LOGISTIC, "solver=gd, max_iter=3");
    assert_int_equal(f.status, MARGIN_STOPPED_ITERATIONS);
    assert_contains(f.report.reason, "the limit of 3 steps is reached");
    assert_contains(f.report.reason, "raise max_iter");
    assert_string_equal(f.report.iteration_name, "steps");
    assert_int_equal(f.report.iterations, 3);
    linear_fitted_free(&f);
    f = linear_fit(&c->problem, MG_LOSS_LOGISTIC, "solver=sgd, max_iter=3, tol=1e-9");
    assert_contains(f.report.reason, "the limit of 3 passes is reached");
    linear_fitted_free(&f);
    linear_case_free(c);
}

/* Points and what progress said of them. */
typedef struct followed {
    double best, here;
    int whole, worse;
} followed;

static int follow_step(const margin_trace_step *step, void *user) {
    const struct timespec pause = {.tv_nsec = 101 * 1000 * 1000}; /* progress is told as often */
    followed *f = user;
    f->here = step->loss;
    f->best = step->step == 0 ? step->loss : fmin(f->best, step->loss);
    nanosleep(&pause, NULL);
    return 0;
}

static int follow_progress(const margin_progress *progress, void *user) {
    followed *f = user;
    assert_string_equal(progress->activity, "training");
    if (f->here > f->best) assert_true(isnan(progress->measure));
    f->worse += f->here > f->best;
    f->whole += !isnan(progress->measure);
    return 0;
}

/* Without an intercept the part of a gradient that is always there is 0, and no gap. */
static void test_progress_tells_no_part_of_a_gap(void **state) {
    (void)state;
    followed f = {0};
    margin_context *context = NULL;
    const margin_context_options options = {
        .size = sizeof options, .threads = 1, .progress = follow_progress, .user = &f};
    const mg_trace trace = {.step = follow_step, .user = &f};
    assert_int_equal(margin_context_create(&options, &context, NULL), MARGIN_OK);
    linear_case *c = linear_case_make(60, 3, 0.3, 1, 84);
    linear_fitted fit = linear_fit_with(context, &c->problem, MG_LOSS_LOGISTIC,
                                        "solver=sgd, intercept=no, rate=0.5, schedule=constant, "
                                        "max_iter=12",
                                        &trace);
    assert_true(fit.status >= 0);
    assert_true(f.whole > 0 && f.worse > 0);
    linear_fitted_free(&fit);
    linear_case_free(c);
    margin_context_free(context);
}

/* Without a penalty: one pass is not worth a proof by a matrix of 401 columns, many are. */
static void test_dear_proofs_are_left(void **state) {
    (void)state;
    static const struct {
        mg_loss_kind loss;
        const char *options;
        bool proven;
    } cases[] = {
        {MG_LOSS_SQUARED, "C=inf, solver=sgd, max_iter=1", false},
        {MG_LOSS_SQUARED, "C=inf, solver=sgd, max_iter=10", true},
        {MG_LOSS_LOGISTIC, "C=inf, solver=gd, max_iter=1", false},
    };
    linear_case *c = linear_case_make(900, 400, 0.5, 1, 83);
    linear_case *apart = linear_case_make(300, 400, 0.5, 1, 83); /* any signs are separable */
    for (int k = 0; k < MG_LENGTH(cases); k++) {
        linear_fitted f = linear_fit(&c->problem, cases[k].loss, cases[k].options);
        assert_int_equal(f.status, MARGIN_STOPPED_ITERATIONS);
        assert_true(f.report.objective > 1.0);
        assert_true(cases[k].proven ? f.report.gap > 0.0 && f.report.gap < 1.0
                                    : f.report.gap == 1.0);
        linear_fitted checked = linear_verify(&c->problem, cases[k].loss, cases[k].options, f.h);
        assert_int_equal(checked.status, MARGIN_OK);
        linear_fitted_free(&checked);
        linear_fitted_free(&f);
    }
    for (int k = 0; k < 2; k++) { /* nor is the look for a direction without end */
        linear_fitted f = linear_fit(&apart->problem, MG_LOSS_LOGISTIC,
                                     k == 0 ? "C=inf, solver=gd, max_iter=1, rate=1e-6"
                                            : "C=inf, solver=gd, max_iter=10, rate=1e-6");
        assert_true(!strstr(f.report.reason, "there is no optimum") == (k == 0));
        linear_fitted_free(&f);
    }
    linear_case_free(apart);
    linear_case_free(c);
}

/* ---- Curvature without a bound --------------------------------------------------------------- */

static void test_exponential_finds_its_rate(void **state) {
    steps s;
    (void)state;
    linear_case *c = linear_case_make(60, 3, 0.3, 1, 91);
    const double scale[] = {30, 1, 0.1};
    linear_case_scale(c, scale, NULL);
    linear_fitted f = fit_traced(&c->problem, MG_LOSS_EXPONENTIAL, "solver=gd, max_iter=60", &s);
    for (int at = 1; at < s.count; at++)
        assert_true(s.loss[at] < s.loss[at - 1]);
    linear_fitted_free(&f);
    f = linear_fit(&c->problem, MG_LOSS_EXPONENTIAL, "solver=sgd, max_iter=60");
    assert_true(isfinite(f.report.objective) && f.report.objective < 60);
    linear_fitted_free(&f);
    linear_case_free(c);
}

/* Steps are cut to the curvature of a batch as a whole, so that they lead to the same optimum. */
static void test_exponential_in_batches(void **state) {
    const char *const batches[] = {"batch=1", "batch=8", "batch=32", "batch=200"};
    char options[80];
    (void)state;
    linear_case *c = linear_case_make(200, 3, 0.3, 1, 92);
    linear_fitted best = linear_fit(&c->problem, MG_LOSS_EXPONENTIAL, "tol=1e-9");
    for (int k = 0; k < 4; k++) {
        snprintf(options, sizeof options, "solver=minibatch, tol=1e-9, max_iter=500, %s",
                 batches[k]);
        linear_fitted f = linear_fit(&c->problem, MG_LOSS_EXPONENTIAL, options);
        if (!(f.report.objective < best.report.objective * (1 + 1e-3)))
            fail_msg("%s: %.17g, the least is %.17g", batches[k], f.report.objective,
                     best.report.objective);
        linear_fitted_free(&f);
    }
    linear_fitted_free(&best);
    linear_case_free(c);
}

/* ---- The same model -------------------------------------------------------------------------- */

static void test_threads(void **state) {
    (void)state;
    const char *const solvers[] = {"gd", "sgd", "minibatch"};
    linear_case *c = linear_case_make(3000, 5, 0.3, 1, 95);
    for (int k = 0; k < 3; k++) {
        linear_fitted fits[4];
        char options[60];
        snprintf(options, sizeof options, "solver=%s, max_iter=4", solvers[k]);
        for (int t = 0; t < 4; t++) {
            margin_context *context = support_context(NULL, t + 1);
            fits[t] = linear_fit_with(context, &c->problem, MG_LOSS_LOGISTIC, options, NULL);
            assert_true(fits[t].status >= 0);
            assert_memory_equal(weights_of(&fits[t]), weights_of(&fits[0]), 5 * sizeof(double));
            assert_true(fits[t].report.gap == fits[0].report.gap);
            margin_context_free(context);
        }
        for (int t = 0; t < 4; t++)
            linear_fitted_free(&fits[t]);
    }
    linear_case_free(c);
}

/* ---- Failures -------------------------------------------------------------------------------- */

typedef struct failing {
    const linear_case *c;
    mg_loss_kind loss;
    const char *options;
} failing;

static margin_status fit_once(margin_context *context, void *user, margin_error *error) {
    const failing *f = user;
    linear_fitted fit = linear_fit_with(context, &f->c->problem, f->loss, f->options, NULL);
    *error = fit.error;
    linear_fitted_free(&fit);
    return fit.status;
}

static void test_each_allocation(void **state) {
    (void)state;
    linear_case *c = linear_case_make(20, 3, 0.3, 1, 97);
    failing cases[] = {{c, MG_LOSS_LOGISTIC, "solver=gd, max_iter=3"},
                       {c, MG_LOSS_EXPONENTIAL, "solver=gd, max_iter=3"},
                       {c, MG_LOSS_HINGE, "solver=sgd, max_iter=3"},
                       {c, MG_LOSS_SQUARED, "solver=minibatch, max_iter=3"}};
    for (int k = 0; k < MG_LENGTH(cases); k++)
        assert_true(support_fail_each_allocation(2, fit_once, &cases[k]) > 3);
    linear_case_free(c);
}

static int cancel_step(const margin_trace_step *step, void *user) {
    if (step->step == 2) margin_context_cancel(user);
    return 0;
}

static void test_cancel(void **state) {
    const char *const solvers[] = {"gd", "sgd", "minibatch"};
    (void)state;
    linear_case *c = linear_case_make(600, 3, 0.3, 1, 98);
    for (int k = 0; k < 3; k++) {
        char options[60];
        margin_context *context = support_context(NULL, 2);
        const mg_trace trace = {.step = cancel_step, .user = context};
        snprintf(options, sizeof options, "solver=%s, tol=1e-12", solvers[k]);
        linear_fitted f = linear_fit_with(context, &c->problem, MG_LOSS_LOGISTIC, options, &trace);
        assert_int_equal(f.status, MARGIN_ERROR_CANCELLED);
        assert_null(f.h);
        margin_context_free(context);
    }
    linear_case_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_steps_by_hand),
        cmocka_unit_test(test_rate_has_one_meaning),
        cmocka_unit_test(test_gd_steps),
        cmocka_unit_test(test_sgd_steps),
        cmocka_unit_test(test_proximal_steps),
        cmocka_unit_test(test_gd_reaches_the_optimum),
        cmocka_unit_test(test_hinge_by_subgradients),
        cmocka_unit_test(test_sgd_comes_near),
        cmocka_unit_test(test_divergence_is_said),
        cmocka_unit_test(test_no_optimum_is_said),
        cmocka_unit_test(test_limits_are_said),
        cmocka_unit_test(test_progress_tells_no_part_of_a_gap),
        cmocka_unit_test(test_dear_proofs_are_left),
        cmocka_unit_test(test_exponential_finds_its_rate),
        cmocka_unit_test(test_exponential_in_batches),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_each_allocation),
        cmocka_unit_test(test_cancel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
