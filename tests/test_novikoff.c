/* Both inequalities of Novikoff's proof at every step of a perceptron, in all forms: known answers,
 * and numbers counted once more from the trace. */
#include "model_cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4000, ROWS = 40 };

typedef struct step_seen {
    int64_t row, part;
    double weights[2], intercept, alpha[ROWS];
    margin_novikoff proof;
    bool has;
} step_seen;

static struct {
    int64_t count;
    step_seen steps[MOST];
} seen;

static int see(const margin_trace_step *step, void *user) {
    (void)user;
    if (seen.count == MOST) return 1;
    step_seen *s = &seen.steps[seen.count++];
    *s = (step_seen){.row = step->row,
                     .part = step->subproblem,
                     .intercept = step->intercept,
                     .has = step->novikoff};
    if (step->novikoff) s->proof = *step->novikoff;
    if (step->weights && step->weight_count == 2) memcpy(s->weights, step->weights, 16);
    if (step->alpha) memcpy(s->alpha, step->alpha, (size_t)step->alpha_count * sizeof(double));
    return 0;
}

static margin_report traced(margin_context *context, const char *text, const margin_data *data) {
    const margin_fit_options options = {.size = sizeof options, .trace = see};
    margin_spec *spec = parse_text(context, text);
    margin_report report = {0};
    margin_model *model;
    margin_error error;
    seen.count = 0;
    if (margin_fit_with(context, spec, data, &options, &model, &report, &error) < 0)
        fail_msg("%s", error.text);
    margin_model_free(model);
    margin_spec_free(spec);
    return report;
}

static double item(const margin_report *report, const char *name) {
    return margin_report_item_value(report, name);
}

/* ---- Known answers --------------------------------------------------------------------------- */

/* (3,3)+, (4,3)+, (1,1)-: u = (1, 1, -4)/sqrt(18), gamma = sqrt(2)/3, R^2 = 26, and every pick lies
 * on the margin, so that the first inequality is an equation. */
static void test_three_points(void **state) {
    (void)state;
    static const double x[] = {3, 3, 4, 3, 1, 1}, y[] = {1, 1, -1};
    static const double squares[] = {0, 19, 8, 3, 4, 19, 12, 11};
    static const char *const forms[] = {"", ", form=dual", ", kernel=linear",
                                        ", kernel=poly, degree=1, coef0=0"};
    margin_context *context = support_context(NULL, 1);
    const margin_data data = {.x = margin_dense_f64(x, 3, 2, 2), .y = margin_values_f64(y, 3)};
    for (int k = 0; k < 8; k++) {
        const double rate = k < 4 ? 1 : 0.25;
        char spec[100];
        snprintf(spec, sizeof spec, "perceptron(order=first, bound=steps, rate=%g%s)", rate,
                 forms[k % 4]);
        const margin_report report = traced(context, spec, &data);
        assert_int_equal(seen.count, 8);
        for (int n = 0; n < 8; n++) {
            const margin_novikoff *p = &seen.steps[n].proof;
            assert_true(seen.steps[n].has);
            assert_close(p->along, rate * n * sqrt(2) / 3, 1e-5);
            assert_close(p->least_along, rate * n * sqrt(2) / 3, 1e-5);
            assert_close(p->square, rate * rate * squares[n], 1e-13);
            assert_close(p->greatest_square, rate * rate * n * 26, 1e-13);
        }
        assert_close(item(&report, "margin"), sqrt(2) / 3, 1e-6);
        assert_close(item(&report, "bound"), 117, 1e-5);
    }
    margin_context_free(context);
}

/* XOR at (+-1, +-1) with (x.z + 1)^2: in the space of the kernel and the constant the nearest point
 * to 0 of the hull is the mean of all, at sqrt(2), and R^2 = 10: at most 5 updates. */
static void test_xor(void **state) {
    (void)state;
    static const double x[] = {-1, -1, 1, 1, -1, 1, 1, -1}, y[] = {0, 0, 1, 1};
    margin_context *context = support_context(NULL, 2);
    const margin_data data = {.x = margin_dense_f64(x, 4, 2, 2), .y = margin_values_f64(y, 4)};
    margin_report report = traced(context, "perceptron(kernel=poly, bound=steps)", &data);
    assert_close(item(&report, "margin"), sqrt(2), 1e-6);
    assert_close(item(&report, "bound"), 5, 1e-5);
    assert_true(item(&report, "mistakes") <= 5 &&
                item(&report, "mistakes") == (double)(seen.count - 1));
    report = traced(context, "perceptron(kernel=poly, bound=yes)", &data);
    assert_close(item(&report, "bound"), 5, 1e-5);
    assert_false(seen.steps[0].has);
    report = traced(context, "perceptron(kernel=poly)", &data);
    assert_true(isnan(item(&report, "bound")));
    margin_context_free(context);
}

/* ---- Any data -------------------------------------------------------------------------------- */

static void separable_rows(double *x, double *y, uint64_t seed) {
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < 2; j++)
            x[2 * i + j] = 3 * support_normal(&seed);
        y[i] = x[2 * i] - 2 * x[2 * i + 1] + 1 > 0;
        x[2 * i] += y[i] > 0 ? 0.5 : -0.5;
    }
}

/* |v|^2 once more, from weights or from coefficients with the kernel written out. */
static double plain_square(const step_seen *s, const double *x, const double *y, bool rbf) {
    double sum = s->intercept * s->intercept;
    if (!rbf) return sum + s->weights[0] * s->weights[0] + s->weights[1] * s->weights[1];
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < ROWS; j++) {
            const double d = hypot(x[2 * i] - x[2 * j], x[2 * i + 1] - x[2 * j + 1]);
            sum += s->alpha[i] * s->alpha[j] * (y[i] > 0 ? 1 : -1) * (y[j] > 0 ? 1 : -1) *
                   exp(-0.3 * d * d);
        }
    return sum;
}

/* Each inequality; that a row moves v along u by the same each time, at least by eta gamma; and no
 * further along u than v is long. */
static void check_steps(const char *spec, const double *x, const double *y, double rate,
                        double gamma, bool rbf) {
    double moves[ROWS] = {0};
    assert_true(seen.count > 1);
    for (int64_t k = 0; k < seen.count; k++) {
        const step_seen *s = &seen.steps[k];
        const margin_novikoff *p = &s->proof;
        const double slack = 1e-9 * (1 + p->square);
        if (!(s->has && p->along >= p->least_along - slack &&
              p->square <= p->greatest_square + slack && p->along <= sqrt(p->square) + slack))
            fail_msg("%s: step %d: %g >= %g, %g <= %g", spec, (int)k, p->along, p->least_along,
                     p->square, p->greatest_square);
        assert_close(p->square, plain_square(s, x, y, rbf), 1e-9);
        if (k == 0) continue;
        const double move = p->along - seen.steps[k - 1].proof.along;
        assert_true(move >= rate * gamma - slack);
        if (moves[s->row] != 0) assert_close(move, moves[s->row], 1e-7);
        moves[s->row] = move;
    }
}

static void test_any_data(void **state) {
    (void)state;
    static const char *const specs[] = {
        "perceptron(bound=steps%s)",
        "perceptron(bound=steps, order=first%s)",
        "perceptron(bound=steps, order=shuffled, form=dual%s)",
        "perceptron(bound=steps, order=random%s)",
        "perceptron(bound=steps, variant=pocket%s)",
        "perceptron(bound=steps, variant=averaged, form=dual%s)",
        "perceptron(bound=steps, start_weights=\"2 -1\", start_intercept=3%s)",
        "perceptron(bound=steps, start=random%s)",
        "perceptron(bound=steps, kernel=rbf, gamma=0.3%s)",
        "perceptron(bound=steps, kernel=rbf, gamma=0.3, order=first, start_intercept=2%s)",
    };
    margin_context *context = support_context(NULL, 2);
    double x[2 * ROWS], y[ROWS], weights[ROWS];
    for (int i = 0; i < ROWS; i++)
        weights[i] = 1 + i % 3;
    for (int k = 0; k < (int)(sizeof specs / sizeof *specs); k++)
        for (int round = 0; round < 6; round++) {
            const double rate = round % 2 ? 0.3 : 1;
            char spec[200];
            snprintf(spec, sizeof spec, specs[k], round % 2 ? ", rate=0.3" : "");
            separable_rows(x, y, (uint64_t)(10 * k + round));
            margin_data data = {.x = margin_dense_f64(x, ROWS, 2, 2),
                                .y = margin_values_f64(y, ROWS)};
            if (round >= 4) data.weights = margin_values_f64(weights, ROWS);
            const margin_report report = traced(context, spec, &data);
            assert_true(item(&report, "margin") > 0);
            check_steps(spec, x, y, rate, item(&report, "margin"), k >= 8);
        }
    margin_context_free(context);
}

/* Without u the second inequality is left; of broken weights neither bound; parts have their own.
 */
static void test_unknown(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 1);
    double x[2 * ROWS], y[ROWS], weights[ROWS];
    margin_data data = {.x = margin_dense_f64(x, ROWS, 2, 2), .y = margin_values_f64(y, ROWS)};
    static const char *const specs[] = {"perceptron(bound=steps, passes=3)",
                                        "perceptron(bound=steps, passes=3, kernel=poly)"};
    for (int k = 0; k < 2; k++) {
        separable_rows(x, y, 3);
        for (int i = 0; i < ROWS; i++)
            x[i] = y[i] = i % 2; /* the same rows in both classes */
        for (int i = 0; i < ROWS; i++)
            y[i] = i % 4 > 1;
        traced(context, specs[k], &data);
        for (int64_t n = 0; n < seen.count; n++) {
            const margin_novikoff *p = &seen.steps[n].proof;
            assert_true(isnan(p->along) && isnan(p->least_along));
            assert_true(p->square <= p->greatest_square * (1 + 1e-12));
        }
    }
    separable_rows(x, y, 3);
    for (int i = 0; i < ROWS; i++)
        weights[i] = 1.5;
    data.weights = margin_values_f64(weights, ROWS);
    traced(context, specs[0], &data);
    assert_true(isnan(seen.steps[1].proof.least_along) &&
                isnan(seen.steps[1].proof.greatest_square));
    assert_true(seen.steps[1].proof.along > 0);
    data.weights = (margin_vector){0};
    for (int i = 0; i < ROWS; i++)
        y[i] = x[2 * i] > 1 ? 2 : y[i];
    traced(context, "perceptron(bound=steps, passes=3)", &data);
    assert_int_equal(seen.steps[seen.count - 1].part, 2);
    for (int64_t n = 0; n < seen.count; n++)
        assert_true(seen.steps[n].proof.square <=
                    seen.steps[n].proof.greatest_square * (1 + 1e-12));
    fit_refused(context, "perceptron(bound=steps, batch=all)", &data, MARGIN_ERROR_SPEC,
                "leave out batch");
    fit_refused(context, "perceptron(bound=steps, multiclass=argmax)", &data, MARGIN_ERROR_SPEC,
                "use multiclass=ovr or ovo");
    margin_context_free(context);
}

static margin_status attempt(margin_context *context, void *user, margin_error *error) {
    const fit_attempt *a = user;
    const margin_fit_options options = {.size = sizeof options, .trace = see};
    margin_spec *spec = NULL;
    margin_model *model = NULL;
    seen.count = 0;
    margin_status status = margin_spec_parse(context, a->spec, &spec, error);
    if (status >= 0)
        status = margin_fit_with(context, spec, &a->data, &options, &model, NULL, error);
    margin_model_free(model);
    margin_spec_free(spec);
    return status;
}

static void test_memory(void **state) {
    (void)state;
    static const char *const specs[] = {"perceptron(bound=steps)",
                                        "perceptron(bound=steps, kernel=rbf, gamma=0.3)"};
    double x[2 * ROWS], y[ROWS];
    separable_rows(x, y, 3);
    for (int k = 0; k < 2; k++) {
        fit_attempt a = {specs[k],
                         {.x = margin_dense_f64(x, ROWS, 2, 2), .y = margin_values_f64(y, ROWS)}};
        assert_true(support_fail_each_allocation(1, attempt, &a) > 10);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_three_points), cmocka_unit_test(test_xor),
        cmocka_unit_test(test_any_data),     cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
