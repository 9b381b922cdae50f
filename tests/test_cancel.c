/* Cancelling: every learner, every stage and every solver ends soon after it is asked to, by the
 * processor's time, which other programs do not lengthen. */
#include "model_cases.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Four times what is promised, of a program that a sanitizer makes ten times slower. */
static const double soon = SUPPORT_SLOWER > 1 ? 2.0 : 0.2, pause_before = 0.06;
static double longest;

enum { ROWS = 30000, COLUMNS = 40, CLASSES = 5 };

static double processor(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

typedef struct stop {
    margin_context *context;
    double at;
} stop;

/* Once the fit has used some time. */
static void *cancel_later(void *argument) {
    stop *s = argument;
    const struct timespec tick = {.tv_nsec = 2000000};
    for (double start = processor(); processor() < start + pause_before;)
        nanosleep(&tick, NULL);
    s->at = processor();
    margin_context_cancel(s->context);
    return NULL;
}

/* 1: cancelled, in time; 0: it was done before. */
static int try_fit(const char *text, const margin_data *data) {
    const margin_context_options options = {.size = sizeof options, .threads = 1};
    margin_context *context = NULL;
    margin_model *model = NULL;
    margin_error error = {0};
    pthread_t thread;
    assert_int_equal(margin_context_create(&options, &context, NULL), MARGIN_OK);
    margin_spec *spec = parse_text(context, text);
    stop s = {.context = context};
    assert_int_equal(pthread_create(&thread, NULL, cancel_later, &s), 0);
    const margin_status status = margin_fit(context, spec, data, &model, NULL, &error);
    const double end = processor();
    /* if the fit was done first, the thread waits for time to be used */
    while (status != MARGIN_ERROR_CANCELLED && processor() < end + 0.1)
        continue;
    pthread_join(thread, NULL);
    if (status < 0 && status != MARGIN_ERROR_CANCELLED) fail_msg("%s: %s", text, error.text);
    if (status == MARGIN_ERROR_CANCELLED) longest = fmax(longest, end - s.at);
    if (status == MARGIN_ERROR_CANCELLED && end - s.at > soon)
        fail_msg("%s: %g seconds of the processor after it was cancelled", text, end - s.at);
    margin_model_free(model);
    margin_spec_free(spec);
    margin_context_free(context);
    return status == MARGIN_ERROR_CANCELLED;
}

static double *values, *labels;

static int set_up(void **state) {
    (void)state;
    uint64_t seed = 7;
    values = malloc((size_t)ROWS * COLUMNS * sizeof *values);
    labels = malloc((size_t)ROWS * sizeof *labels);
    if (!values || !labels) return 1;
    for (int64_t i = 0; i < (int64_t)ROWS * COLUMNS; i++)
        values[i] = support_uniform(&seed) - 0.5;
    for (int64_t i = 0; i < ROWS; i++)
        labels[i] = (double)(support_random(&seed) % CLASSES);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    print_message("at most %.3f seconds\n", longest);
    free(values);
    free(labels);
    return 0;
}

static margin_data data_for(const margin_component *learner) {
    margin_data data = {.x = margin_dense_f64(values, ROWS, COLUMNS, COLUMNS),
                        .y = margin_values_f64(labels, ROWS)};
    if (!(learner->abilities &
          (MARGIN_CAN_TWO_CLASS | MARGIN_CAN_MULTICLASS | MARGIN_CAN_REGRESSION)))
        data.y = (margin_vector){0};
    return data;
}

static void test_learners(void **state) {
    (void)state;
    int cancelled = 0, tried = 0;
    for (int k = 0; k < margin_component_count(); k++) {
        const margin_component *c = margin_component_at(k);
        if (c->kind != MARGIN_LEARNER) continue;
        const margin_data data = data_for(c);
        char spec[100];
        snprintf(spec, sizeof spec, "poly(degree=2) | %s", c->name);
        cancelled += try_fit(c->name, &data);
        cancelled += try_fit(spec, &data);
        tried += 2;
    }
    print_message("%d of %d fits were cancelled\n", cancelled, tried);
    assert_true(cancelled > tried / 2);
}

static void test_stages(void **state) {
    (void)state;
    static const char *const specs[] = {"rbf(centres=2000) | ridge",
                                        "nystroem(centres=2000) | ridge",
                                        "poly | logistic",
                                        "impute(with=median) | poly(degree=2) | naive-bayes",
                                        "fourier(features=3000) | ridge",
                                        "standardize | poly(degree=2) | normalize | softmax"};
    const margin_data data = data_for(margin_component_find("ridge"));
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++)
        try_fit(specs[k], &data);
}

static void test_solvers(void **state) {
    (void)state;
    static const char *const specs[] = {
        "logistic(solver=newton, tol=1e-12)",
        "logistic(solver=lbfgs, tol=1e-12)",
        "logistic(solver=gd, tol=1e-12)",
        "logistic(solver=sgd, tol=1e-12)",
        "logistic(solver=minibatch, tol=1e-12)",
        "svm(solver=dual_cd, tol=1e-9)",
        "svm(kernel=rbf)",
        "svm(multiclass=argmax, C=1000)",
        "logistic(alpha=0, multiclass=ovo)",
        "softmax(alpha=0)",
        "poly(degree=2) | ridge(solver=qr)",
        "poly(degree=2) | lasso(lambda=1e-6)",
        "perceptron(kernel=rbf)",
        "kmeans(k=300)",
    };
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
        margin_data data = data_for(margin_component_find("ridge"));
        if (strncmp(specs[k], "kmeans", 6) == 0) data.y = (margin_vector){0};
        try_fit(specs[k], &data);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_learners),
        cmocka_unit_test(test_stages),
        cmocka_unit_test(test_solvers),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
