/* Losses: formulas, derivatives, duals, and the vectorised pass. */
#include "support/support.h"

#include "math/losses/logit_dual.h"
#include "math/losses/loss.h"

#include <math.h>
#include <string.h>

enum { KINDS = MG_LOSS_EXPONENTIAL + 1 };
static const double inf = (double)INFINITY;

static void test_known_values(void **state) {
    (void)state;
    static const struct {
        mg_loss_kind kind;
        double t, value, slope, curvature;
    } known[] = {
        {MG_LOSS_SQUARED, 3, 9, 6, 2},
        {MG_LOSS_SQUARED, -0.5, 0.25, -1, 2},
        {MG_LOSS_HINGE, 0.25, 0.75, -1, 0},
        {MG_LOSS_HINGE, 1, 0, 0, 0},
        {MG_LOSS_HINGE, -2, 3, -1, 0},
        {MG_LOSS_SQUARED_HINGE, -1, 4, -4, 2},
        {MG_LOSS_SQUARED_HINGE, 1, 0, 0, 0},
        {MG_LOSS_SQUARED_HINGE, 2, 0, 0, 0},
        {MG_LOSS_LOGISTIC, 0, M_LN2, -0.5, 0.25},
        {MG_LOSS_EXPONENTIAL, 0, 1, -1, 1},
        {MG_LOSS_EXPONENTIAL, 1, 1 / M_E, -1 / M_E, 1 / M_E},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const mg_loss *loss = mg_loss_get(known[i].kind);
        assert_int_equal(loss->kind, known[i].kind);
        assert_close(loss->value(known[i].t), known[i].value, 1e-15);
        assert_close(loss->slope(known[i].t), known[i].slope, 1e-15);
        assert_close(loss->curvature(known[i].t), known[i].curvature, 1e-15);
    }
}

/* Slopes and curvatures are the difference quotients where there is no kink. */
static void test_derivatives(void **state) {
    const double h = 1e-5;
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        const mg_loss *loss = mg_loss_get((mg_loss_kind)kind);
        for (double t = -6.03; t < 6; t += 0.1) {
            if (fabs(t) < 2 * h || fabs(t - 1) < 2 * h) continue;
            const double slope = (loss->value(t + h) - loss->value(t - h)) / (2 * h);
            const double curvature = (loss->slope(t + h) - loss->slope(t - h)) / (2 * h);
            assert_close(loss->slope(t), slope, 1e-7);
            assert_close(loss->curvature(t), curvature, 1e-7);
            assert_true(loss->curvature(t) <= loss->curvature_bound);
            assert_true(loss->curvature(t) >= 0 && loss->value(t) >= 0);
        }
    }
}

/* value(t) >= dual(u) - u t everywhere, equal at u = -slope(t), and dual is the greatest number for
 * which that holds: it is attained. */
static void test_duals(void **state) {
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        const mg_loss *loss = mg_loss_get((mg_loss_kind)kind);
        for (double t = -5; t <= 5; t += 0.25) {
            const double touching = -loss->slope(t);
            assert_true(touching >= loss->dual_low && touching <= loss->dual_high);
            assert_close(loss->dual(touching) - touching * t, loss->value(t), 1e-13);
            for (double u = -3; u <= 8; u += 0.125) {
                const double dual = loss->dual(u);
                assert_true(loss->value(t) >= dual - u * t - 1e-12);
                assert_int_equal(dual == -inf, u < loss->dual_low || u > loss->dual_high);
            }
        }
        assert_true(loss->dual(0) == 0);
    }
    assert_true(mg_loss_get(MG_LOSS_LOGISTIC)->dual((double)NAN) == -inf);
    assert_true(mg_loss_get(MG_LOSS_LOGISTIC)->dual(1) == 0);
    assert_true(mg_loss_get(MG_LOSS_LOGISTIC)->dual(1e-320) >= 0);
}

static void test_nothing_overflows(void **state) {
    (void)state;
    const mg_loss *loss = mg_loss_get(MG_LOSS_LOGISTIC);
    assert_true(loss->value(1e308) == 0 && loss->value(-1e308) == 1e308);
    assert_true(loss->value(800) == 0 && loss->value(-800) == 800);
    assert_true(loss->slope(-1e308) == -1 && fabs(loss->slope(1e308)) == 0);
    assert_true(loss->curvature(-1e308) == 0 && loss->curvature(1e308) == 0);
    assert_close(loss->value(40), exp(-40), 1e-30);
    assert_true(mg_sigmoid(1e308) == 1 && mg_sigmoid(-1e308) == 0);
    assert_close(mg_sigmoid(-30) * (1 + exp(30)), 1, 1e-14);
}

/* ---- The pass -------------------------------------------------------------------------------- */

enum { MOST = 75 };

static double test_argument(int i, uint64_t *seed) {
    static const double special[] = {0, -0.0, 1, 50, -50, 745, -700, 1e300};
    return i % 5 == 0 ? special[i / 5 % 8] : 6 * (support_uniform(seed) - 0.5);
}

static void check_pass(const mg_loss *loss, int count, const double *t, const double *c) {
    double expected_slope[MOST], expected_curvature[MOST], slope[MOST + 1], curvature[MOST + 1];
    const double first =
        mg_loss_pass_for(MG_ISA_REF)(loss->kind, t, c, count, expected_slope, expected_curvature);
    double sum = 0, size = 0;
    for (int i = 0; i < count; i++) {
        const double weight = c ? c[i] : 1;
        sum += weight * loss->value(t[i]);
        size += fabs(weight * loss->value(t[i]));
        const double s = weight * loss->slope(t[i]), k = weight * loss->curvature(t[i]);
        assert_true(s == expected_slope[i] ||
                    fabs(s - expected_slope[i]) <= 1e-15 * fabs(s) + 1e-300);
        assert_true(k == expected_curvature[i] ||
                    fabs(k - expected_curvature[i]) <= 1e-15 * fabs(k) + 1e-300);
    }
    if (isfinite(size)) assert_true(fabs(first - sum) <= 1e-15 * size * 8 || first == sum);
    for (int isa = 0; isa <= (int)mg_isa_level(); isa++) {
        memset(slope, 0, sizeof slope);
        memset(curvature, 0, sizeof curvature);
        const double value =
            mg_loss_pass_for((mg_isa)isa)(loss->kind, t, c, count, slope, curvature);
        assert_memory_equal(&value, &first, sizeof value);
        assert_memory_equal(slope, expected_slope, (size_t)count * sizeof *slope);
        assert_memory_equal(curvature, expected_curvature, (size_t)count * sizeof *slope);
        assert_true(slope[count] == 0 && curvature[count] == 0);
        const double alone = mg_loss_pass_for((mg_isa)isa)(loss->kind, t, c, count, NULL, NULL);
        assert_memory_equal(&alone, &first, sizeof alone);
        memcpy(slope, t, (size_t)count * sizeof *slope); /* in place */
        mg_loss_pass_for((mg_isa)isa)(loss->kind, slope, c, count, slope, NULL);
        assert_memory_equal(slope, expected_slope, (size_t)count * sizeof *slope);
    }
}

static void test_pass_agrees_with_the_functions(void **state) {
    double t[MOST], c[MOST];
    uint64_t seed = 7;
    (void)state;
    for (int kind = 0; kind < KINDS; kind++)
        for (int count = 0; count <= MOST; count++) {
            for (int i = 0; i < count; i++) {
                t[i] = test_argument(i, &seed);
                c[i] = i % 7 == 3 ? 0 : support_uniform(&seed);
                if (kind == MG_LOSS_SQUARED && fabs(t[i]) > 1e100) t[i] = 1e100;
            }
            check_pass(mg_loss_get((mg_loss_kind)kind), count, t, c);
            check_pass(mg_loss_get((mg_loss_kind)kind), count, t, NULL);
        }
}

static void test_pass_keeps_nan(void **state) {
    (void)state;
    for (int kind = 0; kind < KINDS; kind++)
        for (int isa = 0; isa <= (int)mg_isa_level(); isa++) {
            double t[20] = {0};
            t[13] = (double)NAN;
            const mg_loss *loss = mg_loss_get((mg_loss_kind)kind);
            assert_true(isnan(mg_loss_pass_for((mg_isa)isa)(loss->kind, t, NULL, 20, NULL, NULL)));
        }
}

/* Slopes vanish along all directions but those that depend on others; alpha is where the shares say
 * and stays within its bounds. */
static void test_logit_span(void **state) {
    enum { ROWS = 40, COUNT = 4 };
    static double moves[ROWS * MG_LOGIT_SPAN];
    double c[ROWS], alpha[ROWS], start[ROWS], aims[ROWS], bends[ROWS], logits[ROWS] = {0};
    uint64_t seed = 3;
    mg_logit_span span = {.samples = ROWS,
                          .count = COUNT,
                          .c = c,
                          .alpha = alpha,
                          .aims = aims,
                          .bends = bends,
                          .logits = logits,
                          .moves = moves,
                          .slopes = {1.0, -3.0, 0.1, -2.0}};
    (void)state;
    for (int i = 0; i < ROWS; i++) {
        double *move = moves + i * MG_LOGIT_SPAN;
        c[i] = i % 9 == 4 ? 0.0 : 0.1 + support_uniform(&seed);
        start[i] = alpha[i] = 0.3 * c[i];
        aims[i] = (double)INFINITY;
        bends[i] = 1.0;
        if (c[i] > 0.0) logits[i] = log(alpha[i] / (c[i] - alpha[i]));
        for (int k = 0; k < COUNT - 1; k++)
            move[k] = c[i] > 0.0 ? support_uniform(&seed) - 0.5 : 0.0;
        move[3] = move[0] + move[1];
    }
    for (int k = 0; k < COUNT - 1; k++)
        span.products[k * MG_LOGIT_SPAN + k] = 0.5;
    span.products[3] = span.products[MG_LOGIT_SPAN + 3] = 0.5;
    span.products[3 * MG_LOGIT_SPAN] = span.products[3 * MG_LOGIT_SPAN + 1] = 0.5;
    span.products[3 * MG_LOGIT_SPAN + 3] = 1.0;
    mg_logit_span_minimise(&span, 1e-20);
    for (int k = 0; k < COUNT; k++) {
        double slope = span.slopes[k];
        for (int l = 0; l < COUNT; l++)
            slope += span.products[k * MG_LOGIT_SPAN + l] * span.shares[l];
        for (int i = 0; i < ROWS; i++)
            slope += moves[i * MG_LOGIT_SPAN + k] * logits[i];
        assert_true(fabs(slope) < 1e-6);
    }
    for (int i = 0; i < ROWS; i++) {
        double at = start[i];
        for (int k = 0; k < COUNT; k++)
            at += span.shares[k] * moves[i * MG_LOGIT_SPAN + k];
        assert_true(fabs(at - alpha[i]) < 1e-12);
        assert_true(c[i] == 0.0 || (alpha[i] > 0.0 && alpha[i] < c[i]));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_values),
        cmocka_unit_test(test_derivatives),
        cmocka_unit_test(test_duals),
        cmocka_unit_test(test_nothing_overflows),
        cmocka_unit_test(test_pass_agrees_with_the_functions),
        cmocka_unit_test(test_pass_keeps_nan),
        cmocka_unit_test(test_logit_span),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
