/* Cancelling and time limits reach into the factorisations of least squares: fits that would take
 * very long in plain C end soon, and those that the limit ended say so. */
#include "support/support.h"

#include "margin/margin.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Much for a loaded machine under a sanitizer; a fraction of a tenth is what it should be. */
static const double soon = 8.0, limit = 0.05;

enum { ROWS = 1000, COLUMNS = 1000 };

static const struct {
    const char *spec;
    int64_t rows, columns;
} cases[] = {
    {"ridge(solver=qr)", ROWS, COLUMNS},
    {"least-squares(solver=qr)", ROWS, COLUMNS},
    {"ridge(solver=qr)", 30, COLUMNS},
    {"ridge(solver=cg, alpha=1e-12, tol=1e-14)", ROWS, COLUMNS},
    {"least-squares", ROWS, COLUMNS}, /* one column twice: products with pivots */
    {"poly(degree=2) | ridge(solver=qr)", 24, 45},
    {"rbf(centres=400, sigma=1) | least-squares", 600, 3},
};
enum { CASES = sizeof cases / sizeof *cases };

typedef struct table {
    double *x, *y;
    margin_data data;
} table;

static table new_table(int64_t rows, int64_t columns) {
    table t = {.x = malloc((size_t)(rows * columns) * sizeof *t.x),
               .y = malloc((size_t)rows * sizeof *t.y)};
    uint64_t seed = 3;
    assert_non_null(t.x);
    assert_non_null(t.y);
    for (int64_t i = 0; i < rows * columns; i++)
        t.x[i] = support_normal(&seed);
    for (int64_t i = 0; i < rows; i++) {
        t.y[i] = support_normal(&seed);
        if (columns > 1) t.x[i * columns + columns - 1] = t.x[i * columns];
    }
    t.data = (margin_data){.x = margin_dense_f64(t.x, rows, columns, columns),
                           .y = margin_values_f64(t.y, rows)};
    return t;
}

static void free_table(table *t) {
    free(t->x);
    free(t->y);
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static margin_context *new_context(double time_limit) {
    margin_context_options options = {
        .size = sizeof options, .threads = 2, .time_limit = time_limit};
    margin_context *context = NULL;
    assert_int_equal(margin_context_create(&options, &context, NULL), MARGIN_OK);
    return context;
}

typedef struct outcome {
    margin_status status;
    double took, gap;
} outcome;

static outcome fit(margin_context *context, const char *text, const margin_data *data) {
    margin_spec *spec = NULL;
    margin_model *model = NULL;
    outcome found = {.gap = -1.0};
    assert_int_equal(margin_spec_parse(context, text, &spec, NULL), MARGIN_OK);
    const double start = seconds();
    found.status = margin_fit(context, spec, data, &model, NULL, NULL);
    found.took = seconds() - start;
    if (model) found.gap = margin_model_report(model)->gap;
    margin_model_free(model);
    margin_spec_free(spec);
    return found;
}

static void test_time_limits(void **state) {
    (void)state;
    for (int k = 0; k < CASES; k++) {
        table t = new_table(cases[k].rows, cases[k].columns);
        margin_context *context = new_context(limit);
        const outcome found = fit(context, cases[k].spec, &t.data);
        /* a model with a true gap (of the constant), or none that could be checked in time */
        if (found.status != MARGIN_ERROR_LIMIT) {
            assert_int_equal(found.status, MARGIN_STOPPED_TIME);
            assert_true(found.gap > 0.0);
        }
        assert_true(found.took < soon);
        margin_context_free(context);
        free_table(&t);
    }
}

static void *cancel_soon(void *context) {
    const struct timespec pause = {.tv_nsec = 50000000};
    nanosleep(&pause, NULL);
    margin_context_cancel(context);
    return NULL;
}

static void test_cancelling(void **state) {
    (void)state;
    for (int k = 0; k < CASES; k++) {
        table t = new_table(cases[k].rows, cases[k].columns);
        margin_context *context = new_context(0.0);
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, cancel_soon, context), 0);
        const outcome found = fit(context, cases[k].spec, &t.data);
        pthread_join(thread, NULL);
        assert_int_equal(found.status, MARGIN_ERROR_CANCELLED);
        assert_true(found.took < soon);
        margin_context_free(context);
        free_table(&t);
    }
}

static void test_path(void **state) {
    (void)state;
    table t = new_table(ROWS / 2, COLUMNS / 2);
    margin_context *context = new_context(limit / 2);
    margin_spec *spec = NULL;
    margin_path_result path = {0};
    margin_error error = {0};
    assert_int_equal(margin_spec_parse(context, "ridge(alpha={1,10})", &spec, NULL), MARGIN_OK);
    const double start = seconds();
    assert_int_equal(margin_path(context, spec, &t.data, &path, &error), MARGIN_ERROR_LIMIT);
    assert_contains(error.text, "the time limit");
    assert_true(seconds() - start < soon);
    margin_spec_free(spec);
    margin_context_free(context);
    free_table(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_time_limits),
        cmocka_unit_test(test_cancelling),
        cmocka_unit_test(test_path),
    };
    setenv("MARGIN_ISA", "ref", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
