/* Time limits and cancelling across whole calls: each piece of work here would take far longer than
 * what it is allowed. The bounds are a hundred times what a quiet machine needs. */
#include "model_cases.h"

#include "base/context.h"
#include "learn/report.h"
#include "model/object/model_object.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROWS = 60000, COLUMNS = 40, CLASSES = 30, CATEGORIES = 200000 };
static const double limit = 0.2, allowed = 20;
static const double long_enough = 3, longest = 100; /* for a first model */

static double *values, *labels;

static int set_up(void **state) {
    (void)state;
    uint64_t seed = 5;
    values = malloc((size_t)CATEGORIES * COLUMNS * sizeof *values);
    labels = malloc((size_t)CATEGORIES * sizeof *labels);
    if (!values || !labels) return 1;
    for (int64_t i = 0; i < (int64_t)CATEGORIES * COLUMNS; i++)
        values[i] = support_uniform(&seed) - 0.5;
    for (int64_t i = 0; i < CATEGORIES; i++)
        labels[i] = (double)(support_random(&seed) % CLASSES);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    free(values);
    free(labels);
    return 0;
}

static margin_data some_data(int64_t rows) {
    return (margin_data){.x = margin_dense_f64(values, rows, COLUMNS, COLUMNS),
                         .y = margin_values_f64(labels, rows)};
}

static margin_context *limited_context(double seconds) {
    margin_context_options options = {.size = sizeof options, .threads = 2, .time_limit = seconds};
    margin_context *context;
    assert_int_equal(margin_context_create(&options, &context, NULL), MARGIN_OK);
    return context;
}

/* A model that was stopped, or the sentence that there is none; in time. */
static margin_status fit_in_time(double seconds_given, const char *text, const margin_data *data,
                                 margin_report *report) {
    margin_context *context = limited_context(seconds_given);
    margin_spec *spec = parse_text(context, text);
    margin_model *model = NULL;
    margin_error error = {0};
    const double start = mg_clock();
    const margin_status status = margin_fit(context, spec, data, &model, report, &error);
    const double seconds = mg_clock() - start;
    if (seconds > seconds_given + allowed) fail_msg("%s: %g seconds", text, seconds);
    if (status == MARGIN_ERROR_LIMIT) {
        assert_contains(error.text, "seconds was reached before");
        assert_null(model);
    } else if (status != MARGIN_STOPPED_TIME) {
        fail_msg("%s: status %d: %s", text, (int)status, error.text);
    }
    margin_model_free(model);
    margin_spec_free(spec);
    margin_context_free(context);
    return status;
}

/* As fit_in_time, with the time for a first model, which nobody knows where sanitizers and other
 * programs take their share. */
static margin_status fit_until_there_is_one(const char *text, const margin_data *data,
                                            margin_report *report) {
    double given = long_enough;
    margin_status status = fit_in_time(given, text, data, report);
    while (status == MARGIN_ERROR_LIMIT && given < longest)
        status = fit_in_time(given *= 4, text, data, report);
    return status;
}

/* ---- Fits ------------------------------------------------------------------------------------ */

static void learners_and_stages_end_in_time(void **state) {
    (void)state;
    static const char *const specs[] = {
        "kmeans(k=400, restarts=1000)",
        "rbf(centres=2000) | logistic",
        "poly(degree=2) | logistic",
        "poly(degree=2) | ridge",
        "poly(degree=2) | softmax",
        "poly(degree=2) | knn",
        "impute | poly(degree=3) | naive-bayes",
        "poly | svm",
    };
    const margin_data data = some_data(ROWS);
    margin_report report = {0};
    for (int k = 0; k < MG_LENGTH(specs); k++)
        fit_in_time(limit, specs[k], &data, &report);
}

/* ---- Work after the end ---------------------------------------------------------------------- */

/* Processor time of this process when the end of a call has come, or when it is cancelled: what is
 * used up beyond it is work that should not have been done, however busy the machine is. */
typedef struct watch {
    double end, used;
    margin_context *cancels; /* NULL: the time limit ends it */
} watch;

static double processor_time(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void *note_end(void *argument) {
    watch *w = argument;
    const double left = w->end - mg_clock();
    const struct timespec pause = {(time_t)left, (long)((left - floor(left)) * 1e9)};
    if (left > 0) nanosleep(&pause, NULL);
    w->used = processor_time();
    if (w->cancels) margin_context_cancel(w->cancels);
    return NULL;
}

static int no_reader(const margin_trace_step *step, void *user) {
    (void)step, (void)user;
    return 0;
}

static void is_idle_after_its_end(const char *text, const margin_data *data, bool cancels) {
    static const double given = 0.1, most = 0.5 * SUPPORT_SLOWER; /* mostly some hundredths */
    margin_context_options options = {
        .size = sizeof options, .threads = 1, .time_limit = cancels ? 0 : given};
    margin_context *context;
    margin_model *model = NULL;
    pthread_t thread;
    assert_int_equal(margin_context_create(&options, &context, NULL), MARGIN_OK);
    margin_spec *spec = parse_text(context, text);
    watch w = {mg_clock() + given + MG_GRACE, 0, cancels ? context : NULL};
    assert_int_equal(pthread_create(&thread, NULL, note_end, &w), 0);
    margin_error error = {0};
    margin_report report = {0};
    const margin_fit_options traced = {.size = sizeof traced, .trace = no_reader};
    const margin_status status =
        margin_fit_with(context, spec, data, strncmp(text, "perceptron(order", 16) ? NULL : &traced,
                        &model, &report, &error);
    const double used = processor_time();
    pthread_join(thread, NULL);
    /* a fast machine may be done by then */
    if (status < 0 && status != (cancels ? MARGIN_ERROR_CANCELLED : MARGIN_ERROR_LIMIT))
        fail_msg("%s: status %d: %s", text, (int)status, error.text);
    if (used - w.used > most) fail_msg("%s: %g s of work after the end", text, used - w.used);
    margin_model_free(model);
    margin_spec_free(spec);
    margin_context_free(context);
}

static void nothing_works_on_after_the_end(void **state) {
    (void)state;
    enum { WIDE = 2500 };
    static const char *const specs[] = {"kernel-ridge",
                                        "kernel-ridge(solver=cg, intercept=yes)",
                                        "kernel-ridge(solver=gd)",
                                        "kernel-logistic",
                                        "kernel-logistic(solver=gd)",
                                        "svm(kernel=rbf, solver=gd)",
                                        "perceptron(kernel=rbf)",
                                        "perceptron(variant=pocket, order=first)",
                                        "perceptron(order=sequential)", /* traced */
                                        "svm(kernel=rbf)"};
    static const char *const wide[] = {"ridge", "ridge(solver=qr)", "ridge(solver=normal)"};
    margin_data data = some_data(ROWS);
    const margin_data across = {.x = margin_dense_f64(values, WIDE, WIDE, WIDE),
                                .y = margin_values_f64(values, WIDE)};
    const margin_data few = {.x = margin_dense_f64(values, 24, 6, 6),
                             .y = margin_values_f64(values + 200, 24)};
    double *signs = malloc((size_t)ROWS * sizeof *signs);
    for (int64_t i = 0; i < ROWS; i++)
        signs[i] = labels[i] < CLASSES / 2;
    data.y = margin_values_f64(signs, ROWS);
    for (int cancels = 0; cancels < 2; cancels++) {
        for (int k = 0; k < MG_LENGTH(specs); k++)
            is_idle_after_its_end(specs[k], &data, cancels);
        for (int k = 0; k < MG_LENGTH(wide); k++)
            is_idle_after_its_end(wide[k], &across, cancels);
        is_idle_after_its_end("poly(degree=3) | poly | ridge(solver=qr)", &few, cancels);
    }
    free(signs);
}

/* Frequencies are drawn number by number, and a row of many columns and features takes long. */
static void wide_fourier_ends_in_time(void **state) {
    (void)state;
    enum { LONG_ROWS = 64, LONG_ROW = 10000, MADE = 2000 };
    const margin_data wide = {.x = margin_dense_f64(values, LONG_ROWS, LONG_ROW, LONG_ROW),
                              .y = margin_values_f64(values, LONG_ROWS)};
    const margin_data many = {.x = margin_dense_f64(values, ROWS / 20, MADE, MADE),
                              .y = margin_values_f64(values, ROWS / 20)};
    for (int cancels = 0; cancels < 2; cancels++) {
        is_idle_after_its_end("fourier(features=20000)", &wide, cancels);
        is_idle_after_its_end("fourier(features=20000) | ridge", &wide, cancels);
        is_idle_after_its_end("fourier(features=600) | knn(method=brute)", &many, cancels);
    }
}

/* Up to 100 passes before the first step, for the rate, and 200 after the last one for the sentence
 * about a rate that was given. */
static void wide_descent_ends_in_time(void **state) {
    (void)state;
    static const char *const specs[] = {
        "standardize | ridge(solver=gd)", "standardize | ridge(solver=gd, rate=1e-9)",
        "standardize | ridge(solver=minibatch)", "standardize | logistic(solver=gd)",
        "standardize | exponential(solver=gd)"};
    enum { LONG_ROWS = 400, LONG_ROW = 20000 };
    const margin_data wide = {.x = margin_dense_f64(values, LONG_ROWS, LONG_ROW, LONG_ROW)};
    double signs[LONG_ROWS];
    for (int i = 0; i < LONG_ROWS; i++)
        signs[i] = labels[i] < CLASSES / 2;
    for (int k = 0; k < MG_LENGTH(specs); k++) {
        margin_data data = wide;
        data.y = margin_values_f64(strstr(specs[k], "ridge") ? values : signs, LONG_ROWS);
        is_idle_after_its_end(specs[k], &data, 0);
    }
}

/* What was judged last is a model with a gap that holds; at the start that needs no product. */
static void kernel_machines_keep_what_was_judged(void **state) {
    SUPPORT_LARGE_CASE();
    (void)state;
    static const char *const specs[] = {"kernel-ridge(task=regress)",
                                        "kernel-ridge(task=regress, solver=gd)",
                                        "kernel-ridge(task=regress, solver=cg)",
                                        "kernel-ridge(task=classify)",
                                        "kernel-logistic",
                                        "kernel-logistic(solver=cg)",
                                        "kernel-logistic(solver=gd)",
                                        "svm(kernel=rbf, solver=gd, multiclass=ovr)"};
    for (int k = 0; k < MG_LENGTH(specs); k++)
        for (int large = 0; large < 2; large++) {
            margin_data data = some_data(large ? 30000 : 120);
            margin_context *context = limited_context(large ? 0.1 : 1e-6);
            margin_context *plenty = support_context(NULL, 2);
            margin_report report = {0};
            margin_error error = {0};
            margin_model *model = fit_text(context, specs[k], &data, &report);
            assert_int_equal(report.status, MARGIN_STOPPED_TIME);
            assert_contains(report.reason, "time limit");
            assert_true(report.gap >= 0);
            assert_true(isfinite(report.objective));
            if (!large && margin_verify(plenty, model, &data, &report, &error) != MARGIN_OK)
                fail_msg("%s: %s %s", specs[k], report.reason, error.text);
            margin_model_free(model);
            margin_context_free(context);
            margin_context_free(plenty);
        }
}

/* Wherever the clock cuts a linear fit, converged means a gap within tol, found for the model that
 * is handed out: verification finds it, too. */
static void linear_models_claim_what_they_have(void **state) {
    (void)state;
    if (SUPPORT_SLOWER >= 30) skip(); /* valgrind verifies in double precision */
    static const char *const specs[] = {"logistic(solver=lbfgs)",
                                        "logistic(solver=newton)",
                                        "logistic(solver=gd)",
                                        "logistic(solver=sgd)",
                                        "logistic(solver=minibatch)",
                                        "svm(solver=gd)",
                                        "svm(solver=sgd)",
                                        "logistic(alpha=0)",
                                        "exponential",
                                        "svm",
                                        "svm(solver=dual_cd)",
                                        "svm(loss=squared-hinge)",
                                        "svm(multiclass=argmax)",
                                        "softmax",
                                        "softmax(solver=gd)",
                                        "ridge",
                                        "ridge(solver=gd)",
                                        "lasso(lambda=0.001)",
                                        "elastic-net(lambda=0.001)"};
    static const double given[] = {1e-6, 1e-3, 4e-3, 1e-2, 3e-2};
    margin_context *plenty = support_context(NULL, 2);
    margin_error error = {0};
    for (int k = 0; k < MG_LENGTH(specs); k++)
        for (int t = 0; t < MG_LENGTH(given); t++) {
            margin_data data = some_data(t < 2 ? 120 : 600);
            margin_context *context = limited_context(given[t]);
            margin_spec *spec = parse_text(context, specs[k]);
            margin_model *model = NULL;
            margin_report report = {0}, found = {0};
            const margin_status status = margin_fit(context, spec, &data, &model, &report, &error);
            if (status < 0) assert_int_equal(status, MARGIN_ERROR_LIMIT);
            if (status == MARGIN_OK && !(report.gap <= report.tolerance))
                fail_msg("%s converged with a gap of %g", specs[k], report.gap);
            if (status >= 0 && margin_verify(plenty, model, &data, &found, &error) != MARGIN_OK)
                fail_msg("%s: %s %s %s", specs[k], report.reason, error.text, found.reason);
            margin_model_free(model);
            margin_spec_free(spec);
            margin_context_free(context);
        }
    margin_context_free(plenty);
}

/* A time limit that is not met changes no byte. */
static void ample_time_changes_nothing(void **state) {
    (void)state;
    static const char *const specs[] = {"kernel-ridge",
                                        "kernel-ridge(solver=cg)",
                                        "kernel-ridge(solver=gd, max_iter=20)",
                                        "kernel-logistic(solver=cg)",
                                        "kernel-logistic(solver=gd, max_iter=20)",
                                        "svm(kernel=rbf)",
                                        "logistic",
                                        "svm",
                                        "ridge"};
    margin_data data = some_data(300);
    double signs[300];
    for (int i = 0; i < 300; i++)
        signs[i] = labels[i] < CLASSES / 2;
    data.y = margin_values_f64(signs, 300);
    for (int k = 0; k < MG_LENGTH(specs); k++) {
        margin_context *free_of_limits = support_context(NULL, 1);
        margin_context *limited = limited_context(10000);
        margin_model *first = fit_text(free_of_limits, specs[k], &data, NULL);
        margin_model *second = fit_text(limited, specs[k], &data, NULL);
        assert_same_model(first, second);
        margin_model_free(first);
        margin_model_free(second);
        margin_context_free(free_of_limits);
        margin_context_free(limited);
    }
}

/* Columns are sorted one after the other: the end is seen between them. */
static void medians_end_in_time(void **state) {
    (void)state;
    const margin_data data = some_data(CATEGORIES);
    double seconds[2];
    for (int limited = 0; limited < 2; limited++) {
        margin_context *context = limited_context(limited ? 0.01 : 0);
        margin_spec *spec = parse_text(context, "impute(with=median) | naive-bayes");
        margin_model *model = NULL;
        const double start = mg_clock();
        const margin_status status = margin_fit(context, spec, &data, &model, NULL, NULL);
        seconds[limited] = mg_clock() - start;
        assert_int_equal(status, limited ? MARGIN_ERROR_LIMIT : MARGIN_OK);
        margin_model_free(model);
        margin_spec_free(spec);
        margin_context_free(context);
    }
    assert_true(seconds[1] < 0.1 + seconds[0] / 2);
}

static void many_categories_end_in_time(void **state) {
    (void)state;
    char *names = malloc((size_t)CATEGORIES * 8);
    const char **list = malloc((size_t)CATEGORIES * sizeof *list);
    double *codes = malloc((size_t)CATEGORIES * sizeof *codes);
    assert_true(names && list && codes);
    for (int64_t i = 0; i < CATEGORIES; i++) {
        snprintf(names + 8 * i, 8, "%07d", (int)i);
        list[i] = names + 8 * i;
        codes[i] = (double)i;
    }
    const margin_column column = {
        .name = "c", .kind = MARGIN_CATEGORICAL, .categories = list, .category_count = CATEGORIES};
    const margin_data data = {.x = margin_dense_f64(codes, CATEGORIES, 1, 1),
                              .y = margin_values_f64(labels, CATEGORIES),
                              .columns = &column};
    margin_report report = {0};
    fit_in_time(limit, "onehot | logistic(tol=1e-14)", &data, &report);
    fit_in_time(limit, "onehot | softmax(tol=1e-14)", &data, &report);
    free(codes);
    free(list);
    free(names);
}

/* The restarts share one deadline, and what is left out of them is said. */
static void restarts_share_the_time(void **state) {
    (void)state;
    const margin_data data = {.x = margin_dense_f64(values, 2000, COLUMNS, COLUMNS)};
    margin_report report = {0};
    assert_int_equal(fit_until_there_is_one("kmeans(k=3, restarts=10000)", &data, &report),
                     MARGIN_STOPPED_TIME);
    assert_int_equal(report.status, MARGIN_STOPPED_TIME);
    assert_contains(report.reason, "of the 10000 asked for");
    assert_true(isfinite(report.objective));
}

/* Naive Bayes on products of columns in single precision: the model is made in one pass, and then
 * answers for its training rows by all of its classes: several times as long, however busy the
 * machine is. */
static void labelling_is_left_out(void **state) {
    SUPPORT_LARGE_CASE();
    (void)state;
    static const double first = 0.01, step = 1.25;
    float *narrow = malloc((size_t)ROWS * COLUMNS * sizeof *narrow);
    assert_non_null(narrow);
    for (int64_t i = 0; i < (int64_t)ROWS * COLUMNS; i++)
        narrow[i] = (float)values[i];
    const margin_data data = {.x = margin_dense_f32(narrow, ROWS, COLUMNS, COLUMNS),
                              .y = margin_values_f64(labels, ROWS)};
    margin_context *context = limited_context(long_enough);
    margin_spec *spec = parse_text(context, "poly(degree=2) | naive-bayes");
    margin_report report = {0};
    margin_model *model = NULL;
    for (double given = first; !model && given < longest; given *= step) {
        margin_context_free(context);
        context = limited_context(given);
        const margin_status status = margin_fit(context, spec, &data, &model, &report, NULL);
        assert_true(status >= 0 || status == MARGIN_ERROR_LIMIT);
    }
    free(narrow);
    assert_non_null(model);
    assert_int_equal(report.status, MARGIN_STOPPED_TIME);
    assert_contains(report.reason, "before the model had answered for its training rows");
    assert_true(isnan(report.train_accuracy));
    int64_t label;
    const margin_matrix one = margin_dense_f64(values, 1, COLUMNS, COLUMNS);
    margin_error error = {0};
    if (margin_predict(model, &one, &label, &error) < 0) fail_msg("%s", error.text);
    assert_in_range(label, 0, CLASSES - 1);
    margin_model_free(model);
    margin_spec_free(spec);
    margin_context_free(context);
}

/* Nothing is claimed of scores that were left out, so there is nothing to refuse. */
static void what_was_left_out_verifies(void **state) {
    (void)state;
    margin_context *context = support_context(NULL, 2);
    const margin_data data = some_data(300);
    margin_report report = {0};
    margin_error error = {0};
    margin_model *model = fit_text(context, "knn(task=classify)", &data, &report);
    model->report.train_accuracy = (double)NAN;
    assert_int_equal(margin_verify(context, model, &data, &report, &error),
                     MARGIN_STOPPED_STALLED); /* of a whole fit it is missing */
    model->report.status = MARGIN_STOPPED_TIME;
    if (margin_verify(context, model, &data, &report, &error) != MARGIN_OK)
        fail_msg("%s %s", report.reason, error.text);
    margin_model_free(model);
    margin_context_free(context);
}

/* Sleeps as it gives the block of that number. */
typedef struct sleeper {
    int calls, at;
} sleeper;

static void *allocate_asleep(size_t bytes, void *user) {
    sleeper *s = user;
    const struct timespec time = {.tv_sec = 2};
    if (++s->calls == s->at) nanosleep(&time, NULL);
    return malloc(bytes);
}

static void release_block(void *memory, size_t bytes, void *user) {
    (void)bytes;
    (void)user;
    free(memory);
}

static margin_status fit_asleep(sleeper *s, double seconds, const margin_data *data,
                                margin_report *report) {
    margin_context_options options = {.size = sizeof options, .threads = 1, .time_limit = seconds};
    options.allocator = (margin_allocator){allocate_asleep, release_block, s};
    margin_context *context;
    margin_model *model = NULL;
    assert_int_equal(margin_context_create(&options, &context, NULL), MARGIN_OK);
    margin_spec *spec = parse_text(context, "logistic(multiclass=ovr)");
    const margin_status status = margin_fit(context, spec, data, &model, report, NULL);
    margin_model_free(model);
    margin_spec_free(spec);
    margin_context_free(context);
    return status;
}

/* The time that ends between the last class and the answers for the rows leaves no accuracy: that
 * of the first class is none of the whole. */
static void accuracy_of_a_class_is_left_out(void **state) {
    (void)state;
    double classes[200];
    bool late = false;
    for (int i = 0; i < 200; i++)
        classes[i] = i % 3;
    margin_data data = some_data(200);
    data.y = margin_values_f64(classes, 200);
    sleeper all = {0};
    assert_int_equal(fit_asleep(&all, longest, &data, &(margin_report){0}), MARGIN_OK);
    for (int at = all.calls; at > 0 && !late; at--) {
        sleeper s = {.at = at};
        margin_report report = {0};
        fit_asleep(&s, 1.5, &data, &report);
        late = strstr(report.reason, "before the model had answered") != NULL;
        if (late) assert_true(isnan(report.train_accuracy));
    }
    assert_true(late);
}

/* Every class gets its share of the time: the last is trained as long as the first. */
static void parts_share_the_time(void **state) {
    (void)state;
    const margin_data data = some_data(1000);
    margin_report report = {0};
    assert_int_equal(
        fit_until_there_is_one("perceptron(passes=10000000, bound=no)", &data, &report),
        MARGIN_STOPPED_TIME);
    assert_int_equal(report.subproblems, CLASSES);
    assert_contains(report.reason, "30 of 30 sub-problems stopped early");
    assert_true(report.iterations > CLASSES);
}

/* One class has half of the rows, in the midst of the others. What easy parts leave of their share
 * goes to the hard ones: all end, or the time is used up. */
static void what_a_part_leaves_is_for_others(void **state) {
    (void)state;
    enum { HALF = 600, GROUPS = 50, WIDTH = 8 };
    static const char text[] = "poly(degree=2) | logistic(C=1e5)";
    double *const x = malloc(2 * HALF * WIDTH * sizeof *x), y[2 * HALF];
    assert_non_null(x);
    for (int64_t i = 0; i < 2 * HALF; i++) {
        const int64_t own = i % HALF % (GROUPS - 1) + 1;
        y[i] = i < HALF ? 0 : (double)own;
        for (int64_t j = 0; j < WIDTH; j++)
            x[i * WIDTH + j] = 3 * values[i * WIDTH + j] +
                               (i < HALF ? 0 : 5 * values[(CATEGORIES - own) * WIDTH + j]);
    }
    const margin_data data = {.x = margin_dense_f64(x, 2 * HALF, WIDTH, WIDTH),
                              .y = margin_values_f64(y, 2 * HALF)};
    margin_context *context = support_context(NULL, 1);
    double start = mg_clock();
    margin_model_free(fit_text(context, text, &data, NULL));
    const double given = 1.5 * (mg_clock() - start);
    const margin_context_options options = {
        .size = sizeof options, .threads = 1, .time_limit = given};
    for (int k = 0; k < 5; k++) {
        margin_context *limited;
        margin_report report = {0};
        assert_int_equal(margin_context_create(&options, &limited, NULL), MARGIN_OK);
        start = mg_clock();
        margin_model_free(fit_text(limited, text, &data, &report));
        if (report.status != MARGIN_OK && mg_clock() - start < 0.8 * given)
            fail_msg("%g of %g seconds used: %s", mg_clock() - start, given, report.reason);
        margin_context_free(limited);
    }
    margin_context_free(context);
    free(x);
}

static void the_clock_comes_first_in_a_joined_report(void **state) {
    (void)state;
    static const margin_status endings[] = {MARGIN_OK, MARGIN_STOPPED_STALLED, MARGIN_STOPPED_TIME,
                                            MARGIN_STOPPED_ITERATIONS, MARGIN_STOPPED_STALLED};
    margin_report whole = {0};
    mg_report_init(&whole);
    for (int k = 0; k < MG_LENGTH(endings); k++) {
        margin_report part = {0};
        mg_report_init(&part);
        part.status = endings[k];
        mg_report_reason(&part, "ending %d", k);
        mg_report_join(&whole, &part, "class");
    }
    assert_int_equal(whole.status, MARGIN_STOPPED_TIME);
    assert_string_equal(whole.reason, "class: ending 2");
}

/* ---- Other calls ----------------------------------------------------------------------------- */

static void a_path_ends_in_time(void **state) {
    (void)state;
    margin_context *context = limited_context(limit);
    margin_spec *spec = parse_text(context, "poly(degree=2) | ridge(alpha={1, 2, 3})");
    const margin_data data = some_data(ROWS);
    margin_path_result result = {0};
    margin_error error;
    const double start = mg_clock();
    assert_int_equal(margin_path(context, spec, &data, &result, &error), MARGIN_ERROR_LIMIT);
    assert_true(mg_clock() - start < allowed);
    assert_contains(error.text, "the time limit of 0.2 seconds was reached before the path");
    margin_spec_free(spec);
    margin_context_free(context);
}

static void reading_ends_in_time(void **state) {
    (void)state;
    static const char *const lines[] = {"1.25,2.5,3,4\n", "1 1:2.5 2:3.5\n"};
    static const char *const names[] = {"f.csv", "f.svm"};
    enum { COUNT = 8000000 };
    margin_context *context = limited_context(1e-3);
    for (int k = 0; k < 2; k++) {
        const size_t length = strlen(lines[k]);
        char *text = malloc(COUNT * length);
        assert_non_null(text);
        for (size_t i = 0; i < COUNT; i++)
            memcpy(text + i * length, lines[k], length);
        margin_table *table = NULL;
        margin_error error;
        assert_int_equal(margin_table_parse(context, text, (int64_t)(COUNT * length), names[k],
                                            NULL, &table, &error),
                         MARGIN_ERROR_LIMIT);
        assert_contains(error.text,
                        "the time limit of 0.001 seconds was reached before the table was read");
        free(text);
    }
    margin_context_free(context);
}

/* ---- Progress -------------------------------------------------------------------------------- */

static int stop_soon(const margin_progress *progress, void *user) {
    assert_non_null(progress->activity);
    ++*(int *)user;
    return 1;
}

/* Whoever walks over the data reports, and can be cancelled from there: each of these takes
 * seconds. */
static void all_long_work_reports(void **state) {
    (void)state;
    static const char *const specs[] = {"poly(degree=2) | ridge", "poly(degree=2) | least-squares",
                                        "poly(degree=2) | naive-bayes", "knn(p=1.5, method=brute)",
                                        "rbf(centres=2000) | ridge"};
    const margin_data data = some_data(ROWS);
    for (int k = 0; k < MG_LENGTH(specs); k++) {
        int calls = 0;
        margin_context_options options = {
            .size = sizeof options, .threads = 2, .progress = stop_soon, .user = &calls};
        margin_context *context;
        assert_int_equal(margin_context_create(&options, &context, NULL), MARGIN_OK);
        const double start = mg_clock();
        fit_refused(context, specs[k], &data, MARGIN_ERROR_CANCELLED, "cancelled");
        assert_true(mg_clock() - start < allowed);
        assert_int_equal(calls, 1);
        margin_context_free(context);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(learners_and_stages_end_in_time),
        cmocka_unit_test(nothing_works_on_after_the_end),
        cmocka_unit_test(wide_fourier_ends_in_time),
        cmocka_unit_test(wide_descent_ends_in_time),
        cmocka_unit_test(kernel_machines_keep_what_was_judged),
        cmocka_unit_test(linear_models_claim_what_they_have),
        cmocka_unit_test(ample_time_changes_nothing),
        cmocka_unit_test(medians_end_in_time),
        cmocka_unit_test(many_categories_end_in_time),
        cmocka_unit_test(restarts_share_the_time),
        cmocka_unit_test(labelling_is_left_out),
        cmocka_unit_test(what_was_left_out_verifies),
        cmocka_unit_test(accuracy_of_a_class_is_left_out),
        cmocka_unit_test(parts_share_the_time),
        cmocka_unit_test(what_a_part_leaves_is_for_others),
        cmocka_unit_test(the_clock_comes_first_in_a_joined_report),
        cmocka_unit_test(a_path_ends_in_time),
        cmocka_unit_test(reading_ends_in_time),
        cmocka_unit_test(all_long_work_reports),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
