/* The passes over a design against plain loops over its numbers: every layout, instruction set,
 * index, weights and affine columns; the same bits for every number of threads. */
#include "design_cases.h"

#include "linear/design/design_columns.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static margin_error error;

#define OK(call)                                                                                   \
    do {                                                                                           \
        memset(&error, 0, sizeof error);                                                           \
        if ((call) < 0) fail_msg("%s", error.text);                                                \
    } while (0)

/* As the rows are, and sparse ones with their copy by columns. */
static void check_both(const design_case *c, mg_design *d, case_check check) {
    check(c, d);
    OK(mg_design_store_columns(d, &error));
    assert_true((d->by_column != NULL) == mg_is_csr(&c->problem.x));
    if (d->by_column) check(c, d);
    if (d->by_column) mg_sparse_columns_free(d->heap, d->by_column);
    d->by_column = NULL;
}

/* ---- Scores and gradients -------------------------------------------------------------------- */

static double plain_score(const design_case *c, int64_t i, const double *w, double b,
                          double *size) {
    const int64_t p = c->problem.x.columns;
    double sum = b;
    *size = fabs(b);
    for (int64_t j = 0; j < p; j++) {
        sum += c->a[i * p + j] * w[j];
        *size += (fabs(c->a[i * p + j]) + 10) * fabs(w[j]);
    }
    return sum;
}

static void check_linear_passes(const design_case *c, mg_design *d) {
    const int64_t n = d->samples, p = d->columns;
    uint64_t seed = 3;
    double *w = some_numbers(p, &seed), *r = some_numbers(n, &seed), size, total;
    double *scores = space(n), *gradient = space(p), *out = space(p);
    OK(mg_design_scores(d, w, 0.75, scores, &error));
    for (int64_t i = 0; i < n; i++) {
        const double expected = plain_score(c, i, w, 0.75, &size);
        assert_sum(scores[i], expected, size);
    }
    r[0] = 0;
    OK(mg_design_gradient(d, r, gradient, &total, &error));
    OK(mg_design_gradient(d, r, out, NULL, &error));
    assert_memory_equal(out, gradient, (size_t)p * sizeof *out);
    double sum = 0, sum_size = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += r[i];
        sum_size += fabs(r[i]);
    }
    assert_sum(total, sum, sum_size);
    for (int64_t j = 0; j < p; j++) {
        double expected = 0;
        for (int64_t i = 0; i < n; i++)
            expected += r[i] * c->a[i * p + j];
        assert_sum(gradient[j], expected, 10 * sum_size);
    }
    /* x_i . v + the returned sum is a_i . w */
    double *v = space(p), row[256];
    const double constant = mg_design_to_rows(d, w, v);
    mg_row_expand(&c->problem.x, mg_sample_row(d->problem, n - 1), row);
    sum = constant;
    for (int64_t j = 0; j < p; j++)
        sum += row[j] * v[j];
    const double last = plain_score(c, n - 1, w, 0, &size);
    assert_sum(sum, last, size);
    free(v);
    free(w);
    free(r);
    free(scores);
    free(gradient);
    free(out);
}

static void check_linear_passes_both(const design_case *c, mg_design *d) {
    check_both(c, d, check_linear_passes);
}

static void test_scores_and_gradients(void **state) {
    (void)state;
    check_cases(check_linear_passes_both);
}

static void plain_product(const design_case *c, const int64_t *chosen, int64_t count,
                          const double *weights, const double *v, double v0, double *out,
                          double *total, double *size) {
    const int64_t p = c->problem.x.columns;
    double score_size;
    memset(out, 0, (size_t)p * sizeof *out);
    *total = *size = 0;
    for (int64_t k = 0; k < count; k++) {
        const int64_t i = chosen ? chosen[k] : k;
        const double d = weights ? weights[k] : design_case_weight(c, i);
        const double s = d * plain_score(c, i, v, v0, &score_size);
        for (int64_t j = 0; j < p; j++)
            out[j] += s * c->a[i * p + j];
        *total += s;
        *size += d * score_size;
    }
}

static void check_products(const design_case *c, mg_design *d) {
    const int64_t n = d->samples, p = d->columns;
    uint64_t seed = 4;
    double *v = some_numbers(p, &seed), *weights = some_numbers(n, &seed);
    double *out = space(p), *expected = space(p), total, expected_total, size;
    int64_t *chosen = space(n), count = 0;
    for (int64_t i = 0; i < n; i++) {
        weights[i] = fabs(weights[i]);
        if (i % 4 != 2) chosen[count++] = n - 1 - i;
    }
    for (int with = 0; with < 4; with++) {
        const int64_t *list = with & 1 ? chosen : NULL, visited = with & 1 ? count : n;
        const double *factors = with & 2 ? weights : NULL;
        plain_product(c, list, visited, factors, v, 0.5, expected, &expected_total, &size);
        OK(mg_design_product(d, list, count, factors, v, 0.5, out, &total, &error));
        assert_sum(total, expected_total, size);
        for (int64_t j = 0; j < p; j++)
            assert_sum(out[j], expected[j], 10 * size);
    }
    OK(mg_design_product(d, chosen, 0, NULL, v, 0.5, out, &total, &error));
    assert_true(total == 0 && out[0] == 0);
    free(v);
    free(weights);
    free(out);
    free(expected);
    free(chosen);
}

static void test_products(void **state) {
    (void)state;
    check_cases(check_products);
}

/* ---- The pass of a loss ---------------------------------------------------------------------- */

typedef struct loss_arrays {
    double *scores, *slopes, *curvatures, *gradient;
} loss_arrays;

static void check_loss_point(const design_case *c, const mg_design *d, const mg_loss *loss,
                             const double *w, double b, const double *weights,
                             const mg_loss_point *point) {
    const int64_t n = d->samples, p = d->columns;
    double value = 0, total = 0, size = 0, slope_size = 0, score_size;
    int64_t errors = 0;
    double *gradient = calloc((size_t)p, sizeof *gradient);
    for (int64_t i = 0; i < n; i++) {
        const double weight = weights ? weights[i] : design_case_weight(c, i);
        const double f = plain_score(c, i, w, b, &score_size);
        const double t = loss->margin_based ? c->sign[i] * f : f - c->target[i];
        const double side = loss->margin_based ? c->sign[i] : 1;
        const double slope = side * weight * loss->slope(t);
        assert_sum(point->scores[i], f, score_size);
        const double found =
            loss->margin_based ? c->sign[i] * point->scores[i] : point->scores[i] - c->target[i];
        assert_close(point->slopes[i], side * weight * loss->slope(found), 1e-14);
        assert_close(point->curvatures[i], weight * loss->curvature(found), 1e-14);
        value += weight * loss->value(t);
        size += weight * (loss->value(t) + score_size * (1 + fabs(loss->slope(t))));
        errors += loss->margin_based && !(t > 0);
        total += slope;
        slope_size += weight * (fabs(loss->slope(t)) + score_size * (1 + loss->curvature(t)));
        for (int64_t j = 0; j < p; j++)
            gradient[j] += slope * c->a[i * p + j];
    }
    assert_sum(point->value, value, size);
    assert_int_equal(point->errors, errors);
    assert_sum(*point->intercept_gradient, total, slope_size);
    for (int64_t j = 0; j < p; j++)
        assert_sum(point->gradient[j], gradient[j], 10 * slope_size);
    free(gradient);
}

static void check_loss_passes(const design_case *c, mg_design *d) {
    const int64_t n = d->samples, p = d->columns;
    uint64_t seed = 5;
    double *w = some_numbers(p, &seed), *weights = some_numbers(n, &seed);
    double total, again;
    mg_loss_point all = {.scores = space(n),
                         .slopes = space(n),
                         .curvatures = space(n),
                         .gradient = space(p),
                         .intercept_gradient = &total};
    for (int64_t i = 0; i < n; i++)
        weights[i] = 1 + weights[i];
    for (int kind = 0; kind <= MG_LOSS_EXPONENTIAL; kind++) {
        const mg_loss *loss = mg_loss_get((mg_loss_kind)kind);
        const double *factors = kind % 2 ? weights : NULL;
        OK(mg_design_loss(d, loss, w, -0.25, factors, &all, &error));
        check_loss_point(c, d, loss, w, -0.25, factors, &all);
        mg_loss_point value = {.intercept_gradient = &again};
        OK(mg_design_loss(d, loss, w, -0.25, factors, &value, &error));
        assert_true(value.value == all.value && value.errors == all.errors && again == total);
        again = -1; /* the intercept counts no more: */
        mg_loss_point known = {.known = all.scores, .intercept_gradient = &again};
        OK(mg_design_loss(d, loss, w, 7, factors, &known, &error));
        assert_true(known.value == all.value && known.errors == all.errors && again == total);
    }
    free(w);
    free(weights);
    free(all.scores);
    free(all.slopes);
    free(all.curvatures);
    free(all.gradient);
}

static void check_loss_passes_both(const design_case *c, mg_design *d) {
    check_both(c, d, check_loss_passes);
}

static void test_loss_passes(void **state) {
    (void)state;
    check_cases(check_loss_passes_both);
}

/* ---- Moments --------------------------------------------------------------------------------- */

static void check_moments(const design_case *c, mg_design *d) {
    const int64_t n = d->samples, p = d->columns;
    double *mean = space(p), *deviation = space(p);
    for (int exact = 0; exact < 2; exact++) {
        OK(mg_design_moments(d, exact != 0, mean, deviation, &error));
        for (int64_t j = 0; j < p; j++) {
            double total = 0, sum = 0, squares = 0;
            for (int64_t i = 0; i < n; i++) {
                total += design_case_weight(c, i);
                sum += design_case_weight(c, i) * c->a[i * p + j];
            }
            sum /= total;
            for (int64_t i = 0; i < n; i++) {
                const double from_mean = c->a[i * p + j] - sum;
                squares += design_case_weight(c, i) * from_mean * from_mean;
            }
            assert_close(mean[j], sum, 1e-13);
            if (fabs(deviation[j] - sqrt(squares / total)) > 1e-13)
                fail_msg("%.17g %.17g", deviation[j], sqrt(squares / total));
            if (n == 1 || (c->scale && c->scale[j] == 0)) assert_true(deviation[j] == 0);
        }
    }
    free(mean);
    free(deviation);
}

static void check_moments_both(const design_case *c, mg_design *d) {
    check_both(c, d, check_moments);
}

static void test_moments(void **state) {
    (void)state;
    check_cases(check_moments_both);
}

/* The sample of 4096 stands for the rest; a far away mean does not spoil the deviation. */
static void test_moments_of_many_rows(void **state) {
    enum { ROWS = 50000 };
    double *x = space(3 * ROWS), mean[3], deviation[3], exact_mean[3], exact_deviation[3];
    uint64_t seed = 8;
    margin_context *context = support_context(NULL, 3);
    mg_design d;
    (void)state;
    for (int64_t i = 0; i < ROWS; i++) {
        x[3 * i] = 1e9 + support_normal(&seed);
        x[3 * i + 1] = 1e-9 * support_uniform(&seed);
        x[3 * i + 2] = 0.1;
    }
    const mg_problem problem = {.x = margin_dense_f64(x, ROWS, 3, 3), .count = ROWS};
    OK(mg_design_create(context, &problem, &d, &error));
    OK(mg_design_moments(&d, false, mean, deviation, &error));
    OK(mg_design_moments(&d, true, exact_mean, exact_deviation, &error));
    assert_true(fabs(exact_deviation[0] - 1) < 0.02 && fabs(deviation[0] - 1) < 0.1);
    assert_true(fabs(exact_mean[0] - 1e9) < 0.05 && fabs(mean[0] - 1e9) < 0.2);
    assert_close(exact_deviation[1] * 1e9, 1 / sqrt(12), 0.01);
    assert_true(exact_deviation[2] == 0 && deviation[2] == 0);
    assert_close(exact_mean[2], 0.1, 1e-15);
    mg_design_free(&d);
    margin_context_free(context);
    free(x);
}

/* Columns far from 0 that a shift brings near: nothing is lost, in scores, gradients and Grams. */
static void test_far_columns_keep_their_digits(void **state) {
    enum { ROWS = 200, COLUMNS = 11 };
    const double far = 3e9;
    double x[ROWS * COLUMNS], scale[COLUMNS], shift[COLUMNS], w[COLUMNS], r[ROWS];
    double scores[ROWS], gradient[COLUMNS], gram[(COLUMNS + 1) * (COLUMNS + 1)];
    uint64_t seed = 12;
    (void)state;
    for (int64_t j = 0; j < COLUMNS; j++) {
        scale[j] = j == 3 ? 0 : 1.0 / 16;
        shift[j] = j == 3 ? 0.5 : -far / 16;
        w[j] = support_normal(&seed);
    }
    for (int64_t k = 0; k < ROWS * COLUMNS; k++) /* far + whole numbers: exact */
        x[k] = far + floor(100 * support_uniform(&seed));
    for (int64_t i = 0; i < ROWS; i++)
        r[i] = support_normal(&seed);
    const mg_problem problem = {.x = margin_dense_f64(x, ROWS, COLUMNS, COLUMNS),
                                .count = ROWS,
                                .scale = scale,
                                .shift = shift};
    for (int isa = 0; isa <= (int)mg_isa_level(); isa++) {
        margin_context *context = support_context(NULL, 2);
        mg_design d;
        const mg_weighted_gram request = {0};
        setenv("MARGIN_ISA", isa_names[isa], 1);
        OK(mg_design_create(context, &problem, &d, &error));
        OK(mg_design_scores(&d, w, 0.5, scores, &error));
        OK(mg_design_gradient(&d, r, gradient, NULL, &error));
        OK(mg_design_gram(&d, &request, gram, &error));
        for (int64_t i = 0; i < ROWS; i++) {
            double expected = 0.5;
            for (int64_t j = 0; j < COLUMNS; j++)
                expected += w[j] * (j == 3 ? 0.5 : (x[i * COLUMNS + j] - far) / 16);
            assert_close(scores[i], expected, 1e-13);
        }
        for (int64_t j = 0; j < COLUMNS; j++) {
            double expected = 0, square = 0;
            for (int64_t i = 0; i < ROWS; i++) {
                const double a = j == 3 ? 0.5 : (x[i * COLUMNS + j] - far) / 16;
                expected += r[i] * a;
                square += a * a;
            }
            assert_close(gradient[j], expected, 1e-12);
            assert_close(gram[j * (COLUMNS + 1) + j], square, 1e-13);
        }
        mg_design_free(&d);
        margin_context_free(context);
        unsetenv("MARGIN_ISA");
    }
}

/* ---- Threads, memory, cancellation ----------------------------------------------------------- */

/* Everything a design computes, one behind the other. */
static double *all_results(margin_context *context, const design_case *c, int64_t *count) {
    mg_design d;
    uint64_t seed = 9;
    OK(mg_design_create(context, &c->problem, &d, &error));
    const int64_t n = d.samples, p = d.columns, size = p + 2;
    double *w = some_numbers(p, &seed), *out = space(4 * n + 8 * p + 2 * size * size + 5),
           *at = out;
    OK(mg_design_scores(&d, w, 0.5, at, &error));
    at += n;
    OK(mg_design_gradient(&d, out, at, at + p, &error));
    at += p + 1;
    OK(mg_design_product(&d, NULL, n, NULL, w, 0.5, at, at + p, &error));
    at += p + 1;
    mg_loss_point point = {.scores = at,
                           .slopes = at + n,
                           .curvatures = at + 2 * n,
                           .gradient = at + 3 * n,
                           .intercept_gradient = at + 3 * n + p};
    OK(mg_design_loss(&d, mg_loss_get(MG_LOSS_LOGISTIC), w, 0.5, NULL, &point, &error));
    at += 3 * n + p + 1;
    *at++ = point.value;
    mg_weighted_gram request = {.extra = c->target, .extra_spread = 1.0};
    OK(mg_design_gram(&d, &request, at, &error));
    at += size * size;
    request.single = true;
    OK(mg_design_gram(&d, &request, at, &error));
    at += size * size;
    OK(mg_design_store_columns(&d, &error));
    OK(mg_design_gradient(&d, out, at, at + p, &error));
    at += p + 1;
    OK(mg_design_moments(&d, true, at, at + p, &error));
    at += 2 * p;
    point = (mg_loss_point){.gradient = at};
    OK(mg_design_loss(&d, mg_loss_get(MG_LOSS_LOGISTIC), w, 0.5, NULL, &point, &error));
    at += p;
    *count = at - out;
    mg_design_free(&d);
    free(w);
    return out;
}

static void test_threads_do_not_matter(void **state) {
    static const int64_t shapes[][2] = {{5000, 30}, {900, 150}};
    (void)state;
    for (int layout = 0; layout < LAYOUTS; layout += 4)
        for (int s = 0; s < 2; s++) {
            design_case *c = design_case_make(shapes[s][0], shapes[s][1], layout, ALL_PARTS, 21);
            double *first = NULL;
            for (int threads = 1; threads <= 4; threads++) {
                margin_context *context = support_context(NULL, threads);
                int64_t count;
                double *results = all_results(context, c, &count);
                if (first) assert_memory_equal(results, first, (size_t)count * sizeof *first);
                margin_context_free(context);
                if (first) free(results);
                if (!first) first = results;
            }
            free(first);
            design_case_free(c);
        }
}

static margin_status run_all(margin_context *context, void *user, margin_error *failure) {
    const design_case *c = user;
    mg_design d = {0};
    const int64_t n = c->problem.count, p = c->problem.x.columns;
    const int64_t length = 2 * n + 2 * p + (p + 1) * (p + 1);
    double *numbers = space(length);
    margin_status status;
    const mg_weighted_gram request = {0};
    mg_loss_point point = {.gradient = numbers + n};
    memset(numbers, 0, (size_t)length * sizeof *numbers);
    MG_GO(mg_design_create(context, &c->problem, &d, failure));
    MG_GO(mg_design_scores(&d, numbers + n, 0, numbers, failure));
    MG_GO(mg_design_gradient(&d, numbers, numbers + n, NULL, failure));
    MG_GO(
        mg_design_loss(&d, mg_loss_get(MG_LOSS_HINGE), numbers + n + p, 0, NULL, &point, failure));
    MG_GO(mg_design_moments(&d, true, numbers, numbers + p, failure));
    MG_GO(mg_design_gram(&d, &request, numbers + n + p, failure));
    MG_GO(mg_design_store_columns(&d, failure));
    MG_GO(mg_design_moments(&d, true, numbers, numbers + p, failure));
    memset(numbers, 0, (size_t)length * sizeof *numbers);
    MG_GO(
        mg_design_loss(&d, mg_loss_get(MG_LOSS_HINGE), numbers + n + p, 0, NULL, &point, failure));
done:
    if (d.heap) mg_design_free(&d);
    free(numbers);
    return status;
}

static void test_memory_may_run_out(void **state) {
    (void)state;
    for (int layout = 0; layout < LAYOUTS; layout += 4) {
        design_case *c = design_case_make(700, 12, layout, ALL_PARTS, 31);
        assert_true(support_fail_each_allocation(1, run_all, c) > 5);
        assert_true(support_fail_each_allocation(3, run_all, c) > 5);
        design_case_free(c);
    }
}

static void test_cancelled_passes_say_so(void **state) {
    design_case *c = design_case_make(300, 4, CSR_F64_I32_I64, 0, 41);
    margin_context *context = support_context(NULL, 2);
    mg_design d;
    double numbers[400] = {0};
    const mg_weighted_gram request = {0};
    mg_loss_point point = {0};
    (void)state;
    OK(mg_design_create(context, &c->problem, &d, &error));
    margin_context_cancel(context);
    assert_int_equal(mg_design_store_columns(&d, &error), MARGIN_ERROR_CANCELLED);
    assert_null(d.by_column);
    assert_int_equal(mg_design_scores(&d, numbers, 0, numbers, &error), MARGIN_ERROR_CANCELLED);
    assert_int_equal(mg_design_gradient(&d, numbers, numbers, NULL, &error),
                     MARGIN_ERROR_CANCELLED);
    assert_int_equal(mg_design_gram(&d, &request, numbers, &error), MARGIN_ERROR_CANCELLED);
    assert_int_equal(
        mg_design_loss(&d, mg_loss_get(MG_LOSS_HINGE), numbers, 0, NULL, &point, &error),
        MARGIN_ERROR_CANCELLED);
    assert_contains(error.text, "interrupted");
    mg_design_free(&d);
    margin_context_free(context);
    design_case_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scores_and_gradients),
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_loss_passes),
        cmocka_unit_test(test_moments),
        cmocka_unit_test(test_moments_of_many_rows),
        cmocka_unit_test(test_far_columns_keep_their_digits),
        cmocka_unit_test(test_threads_do_not_matter),
        cmocka_unit_test(test_memory_may_run_out),
        cmocka_unit_test(test_cancelled_passes_say_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
