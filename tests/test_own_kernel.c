/* kernel=user: a function of the program in place of the library's kernels, in training, answers,
 * proofs and files. */
#include "model_cases.h"

#include "base/context.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 90, COLUMNS = 3 };

/* exp(-gamma |x - z|^2), with what is wrong about it. */
typedef struct own {
    double gamma;
    double nan_at;     /* NaN where a row of x begins with this and z does not */
    double skew;       /* times the first value of x less that of z */
    double sign;       /* -1: no inner product */
    atomic_int left;   /* calls until it stops; below 0: never */
    atomic_int others; /* calls from other threads than `thread` */
    pthread_t thread;
} own;

static int own_kernel(const double *x, int64_t x_rows, const double *z, int64_t z_rows,
                      int64_t columns, double *values, void *user) {
    own *o = user;
    if (!pthread_equal(o->thread, pthread_self())) o->others++;
    if (o->left >= 0 && o->left-- == 0) return 7;
    for (int64_t i = 0; i < x_rows; i++)
        for (int64_t j = 0; j < z_rows; j++) {
            const double *a = x + i * columns, *b = z + j * columns;
            double square = 0;
            for (int64_t k = 0; k < columns; k++)
                square += (a[k] - b[k]) * (a[k] - b[k]);
            values[i * z_rows + j] = o->sign * exp(-o->gamma * square) + o->skew * (a[0] - b[0]);
            if (a[0] == o->nan_at && b[0] != o->nan_at) values[i * z_rows + j] = (double)NAN;
        }
    return 0;
}

static void own_init(own *o) {
    *o = (own){.gamma = 0.5, .nan_at = (double)NAN, .sign = 1, .thread = pthread_self()};
    atomic_init(&o->left, -1);
    atomic_init(&o->others, 0);
}

static margin_context *own_context(own *o, int threads) {
    const margin_context_options options = {.size = sizeof options,
                                            .threads = threads,
                                            .kernel = own_kernel,
                                            .kernel_user = o,
                                            .kernel_threads = threads > 1};
    margin_context *context;
    assert_int_equal(margin_context_create(&options, &context, NULL), MARGIN_OK);
    return context;
}

/* Options behind the kernel: the same for both. */
static char *spec_of(const char *learner, const char *kernel, const char *rest) {
    static char text[200];
    snprintf(text, sizeof text, "%s(kernel=%s%s)", learner, kernel, rest);
    return text;
}

/* ---- The same function ----------------------------------------------------------------------- */

static const struct {
    const char *learner, *rest;
    double near;
} learners[] = {
    {"svm", ", C=3, tol=1e-8", 1e-5},
    {"svm", ", multiclass=ovr, tol=1e-8", 1e-5},
    {"svm", ", task=one-class, nu=0.2, tol=1e-8", 1e-5},
    {"svm", ", task=regress, epsilon=0.2, tol=1e-8", 1e-5},
    {"kernel-ridge", ", alpha=0.5", 1e-7},
    {"kernel-ridge", ", alpha=0.5, solver=cg, tol=1e-9", 1e-6},
    {"kernel-ridge", ", alpha=2, solver=gd, task=regress", 1e-2},
    {"kernel-logistic", ", C=2, tol=1e-9", 1e-6},
    {"kernel-logistic", ", C=2, tol=1e-9, solver=cg", 1e-6},
    {"perceptron", ", passes=5", 1e-9},
    {"perceptron", ", variant=averaged, passes=5, multiclass=ovo", 1e-9},
};

static void test_same_as_rbf(void **state) {
    SUPPORT_LARGE_CASE();
    (void)state;
    own o;
    own_init(&o);
    sample *s = sample_make(ROWS, COLUMNS, 3, 0.1, 11);
    margin_context *context = own_context(&o, 2);
    for (int k = 0; k < (int)(sizeof learners / sizeof *learners); k++)
        for (int layout = 0; layout < LAYOUTS; layout += k % 3 + 1) {
            margin_report a = {0}, b = {0};
            margin_data data = sample_data(s, layout);
            margin_model *user = fit_text(
                context, spec_of(learners[k].learner, "user", learners[k].rest), &data, &a);
            char rest[100];
            snprintf(rest, sizeof rest, ", gamma=0.5%s", learners[k].rest);
            margin_model *rbf =
                fit_text(context, spec_of(learners[k].learner, "rbf", rest), &data, &b);
            assert_int_equal(a.status, b.status);
            assert_close(a.objective, b.objective, 1e-6);
            assert_true(isnan(margin_report_item_value(&a, "gamma")));
            double *f = scores_of(user, &data.x), *g = scores_of(rbf, &data.x);
            const int64_t count = ROWS * margin_model_score_count(user);
            for (int64_t i = 0; i < count; i++)
                if (!(fabs(f[i] - g[i]) <= learners[k].near))
                    fail_msg("%s%s: %g and %g", learners[k].learner, rest, f[i], g[i]);
            assert_verified(context, user, &data);
            free(f);
            free(g);
            margin_model_free(user);
            margin_model_free(rbf);
        }
    margin_context_free(context);
    sample_free(s);
}

/* All rows at once, one by one, from all threads, and with geometric margins. */
static void test_answers(void **state) {
    (void)state;
    own o;
    own_init(&o);
    sample *s = sample_make(ROWS, COLUMNS, 3, 0.1, 5);
    margin_context *context = own_context(&o, 3);
    margin_data data = sample_data(s, CSR_F32_I32_I64);
    margin_model *model = fit_text(context, "svm(kernel=user)", &data, NULL);
    double *all = scores_of(model, &data.x), one[3], side[3 * ROWS], geometric[ROWS];
    assert_int_equal(
        margin_predict_parallel(context, model, &data.x, MARGIN_OUTPUT_SCORES, side, NULL), 0);
    assert_memory_equal(all, side, sizeof side);
    for (int i = 0; i < ROWS; i++) {
        const margin_matrix row = margin_dense_f64(s->f64 + i * COLUMNS, 1, COLUMNS, COLUMNS);
        assert_int_equal(margin_scores(model, &row, one, NULL), MARGIN_OK);
        assert_memory_equal(one, all + 3 * i, sizeof one);
    }
    assert_int_equal(margin_margins(context, model, &data, NULL, geometric, NULL), MARGIN_OK);
    assert_true(isfinite(geometric[0]));
    free(all);
    margin_model_free(model);
    margin_context_free(context);
    sample_free(s);
}

static void test_threads(void **state) {
    (void)state;
    own o;
    own_init(&o);
    sample *s = sample_make(3 * ROWS, COLUMNS, 3, 0.1, 5);
    margin_data data = sample_data(s, DENSE_F64);
    margin_model *models[3];
    for (int k = 0; k < 3; k++) {
        margin_context *context = own_context(&o, 1 + k);
        models[k] = fit_text(context, "standardize | svm(kernel=user)", &data, NULL);
        if (k == 0) assert_int_equal(o.others, 0);
        margin_context_free(context);
    }
    for (int k = 0; o.others == 0 && k < 200; k++) { /* where the caller was quicker than all */
        margin_context *context = own_context(&o, 3);
        margin_model_free(fit_text(context, "standardize | svm(kernel=user)", &data, NULL));
        margin_context_free(context);
    }
    assert_true(o.others > 0);
    assert_same_model(models[0], models[1]);
    assert_same_model(models[0], models[2]);
    const margin_context_options options = {
        .size = sizeof options, .threads = 8, .kernel = own_kernel, .kernel_user = &o};
    margin_context *context;
    assert_int_equal(margin_context_create(&options, &context, NULL), MARGIN_OK);
    assert_int_equal(margin_context_threads(context), 1);
    margin_context_free(context);
    for (int k = 0; k < 3; k++)
        margin_model_free(models[k]);
    sample_free(s);
}

/* ---- Refused --------------------------------------------------------------------------------- */

static const char *const trained[] = {"svm(kernel=user)",
                                      "svm(kernel=user, multiclass=ovr)",
                                      "kernel-ridge(kernel=user)",
                                      "kernel-logistic(kernel=user)",
                                      "perceptron(kernel=user)",
                                      "kernel-ridge(kernel=user, solver=cg)",
                                      "kernel-logistic(kernel=user, solver=gd)"};
enum { TRAINED = sizeof trained / sizeof *trained };

/* Row 42 of the data, 41 from 0: behind a stage, among rows that are selected. */
static void test_no_numbers(void **state) {
    (void)state;
    own o;
    own_init(&o);
    sample *s = sample_make(3 * ROWS, COLUMNS, 3, 0.1, 5);
    int64_t some[3 * ROWS], count = 0;
    margin_context *context = own_context(&o, 2);
    margin_data data = sample_data(s, DENSE_F64);
    margin_error error;
    for (int64_t i = 0; i < 3 * ROWS; i++)
        if (i % 4 != 0) some[count++] = i;
    data.selection = some;
    data.selected = count;
    s->f64[41 * COLUMNS] = 5;
    o.nan_at = 5;
    for (int k = 0; k < TRAINED; k++) {
        fit_refused(context, trained[k], &data, MARGIN_ERROR_DATA,
                    "the function gives nan for row 42 with row 2, which is no finite number");
        margin_spec *spec = parse_text(context, trained[k]);
        margin_model *model;
        assert_int_equal(margin_fit(context, spec, &data, &model, NULL, &error), MARGIN_ERROR_DATA);
        assert_int_equal(error.row, 42);
        margin_spec_free(spec);
    }
    double *gram = malloc(9 * ROWS * ROWS * sizeof *gram);
    margin_spec *spec = parse_text(context, trained[0]);
    int64_t rows;
    assert_int_equal(margin_gram(context, spec, &data, 9 * ROWS * ROWS, gram, &rows, &error),
                     MARGIN_ERROR_DATA);
    assert_contains(error.text, "row 42 with row 2,");
    margin_spec_free(spec);
    free(gram);
    margin_context_free(context);
    sample_free(s);
}

static void test_refused(void **state) {
    (void)state;
    own o;
    own_init(&o);
    sample *s = sample_make(ROWS, COLUMNS, 2, 0.1, 5);
    margin_data data = sample_data(s, DENSE_F64);
    margin_context *context = own_context(&o, 1), *plain = support_context(NULL, 1);
    for (int k = 0; k < TRAINED; k++)
        fit_refused(plain, trained[k], &data, MARGIN_ERROR_SPEC,
                    "(margin_context_options.kernel), and this one has none");
    fit_refused(context, "svm(kernel=user, gamma=1)", &data, MARGIN_ERROR_SPEC, "gamma belongs");
    o.skew = 0.1;
    for (int k = 0; k < TRAINED; k++)
        fit_refused(context, trained[k], &data, MARGIN_ERROR_DATA,
                    "and another number the other way round");
    o.skew = 0;
    double *wide = calloc(2 * 4097, sizeof *wide), y[] = {0, 1};
    wide[0] = 1;
    data = (margin_data){.x = margin_dense_f64(wide, 2, 4097, 4097), .y = margin_values_f64(y, 2)};
    fit_refused(context, "svm(kernel=user)", &data, MARGIN_ERROR_DATA, "at most 4096 columns");
    data.x.columns = 4096;
    margin_model_free(fit_text(context, "svm(kernel=user)", &data, NULL));
    free(wide);
    const margin_context_options options = {.size = sizeof options, .kernel_threads = 2};
    assert_int_equal(margin_context_create(&options, &context, NULL), MARGIN_ERROR_ARGUMENT);
    margin_context_free(plain);
    margin_context_free(context);
    sample_free(s);
}

/* A function that is no inner product: said, no proof claimed, and no end of a logistic loss. */
static void test_indefinite(void **state) {
    (void)state;
    own o;
    own_init(&o);
    sample *s = sample_make(ROWS, COLUMNS, 2, 0.1, 5);
    margin_data data = sample_data(s, DENSE_F64);
    margin_context *context = own_context(&o, 2);
    static const char *const said[] = {"svm(kernel=user)", "kernel-ridge(kernel=user, alpha=200)",
                                       "kernel-ridge(kernel=user, alpha=200, solver=cg)",
                                       "kernel-ridge(kernel=user, alpha=200, solver=gd)"};
    o.sign = -1;
    for (int k = 0; k < 4; k++) {
        margin_report report = {0};
        margin_model *model = fit_text(context, said[k], &data, &report);
        assert_int_equal(report.status, MARGIN_STOPPED_STALLED);
        assert_true(isinf(report.gap));
        assert_contains(report.reason, "not positive definite on these rows");
        assert_verified(context, model, &data);
        margin_model_free(model);
    }
    fit_refused(context, "kernel-logistic(kernel=user)", &data, MARGIN_ERROR_DATA,
                "is not positive definite on these rows, and the objective has no least value");
    margin_context_free(context);
    sample_free(s);
}

/* ---- Stopping -------------------------------------------------------------------------------- */

/* Wherever it stops, the call ends and says so; afterwards the context goes on. */
static void test_stops(void **state) {
    (void)state;
    own o;
    own_init(&o);
    sample *s = sample_make(ROWS, COLUMNS, 3, 0.1, 5);
    margin_data data = sample_data(s, DENSE_F64);
    margin_context *context = own_context(&o, 2);
    for (int k = 0; k < TRAINED; k++) {
        margin_spec *spec = parse_text(context, trained[k]);
        margin_status status = MARGIN_ERROR_CANCELLED;
        margin_model *model = NULL;
        margin_error error = {0};
        int stopped = 0;
        for (; status < 0; stopped++) {
            o.left = stopped * (stopped + 1) / 2;
            status = margin_fit(context, spec, &data, &model, NULL, &error);
            if (status < 0) assert_int_equal(status, MARGIN_ERROR_CANCELLED);
            if (status < 0) assert_contains(error.text, "interrupted");
            margin_context_resume(context);
        }
        assert_true(stopped > 3);
        margin_report found = {0};
        for (int calls = 0; calls < 400; calls += 150) {
            o.left = calls;
            assert_int_equal(margin_verify(context, model, &data, &found, &error),
                             MARGIN_ERROR_CANCELLED);
            margin_context_resume(context);
        }
        int64_t labels[ROWS];
        o.left = 0;
        assert_int_equal(margin_predict(model, &data.x, labels, &error), MARGIN_ERROR_CANCELLED);
        assert_contains(error.text, "the kernel function ended the prediction");
        o.left = 1;
        assert_int_equal(
            margin_predict_parallel(context, model, &data.x, MARGIN_OUTPUT_LABELS, labels, &error),
            MARGIN_ERROR_CANCELLED);
        margin_context_resume(context);
        o.left = -1;
        assert_int_equal(margin_predict(model, &data.x, labels, &error), MARGIN_OK);
        margin_model_free(model);
        margin_spec_free(spec);
    }
    margin_context_free(context);
    sample_free(s);
}

static void test_no_answer(void **state) {
    (void)state;
    own o;
    own_init(&o);
    sample *s = sample_make(ROWS, COLUMNS, 3, 0.1, 5);
    margin_data data = sample_data(s, DENSE_F64);
    margin_context *context = own_context(&o, 2);
    margin_model *model = fit_text(context, "svm(kernel=user)", &data, NULL);
    int64_t labels[ROWS];
    o.nan_at = 7;
    s->f64[8 * COLUMNS] = 7;
    s->f64[9 * COLUMNS + 1] = (double)NAN;
    s->f64[10 * COLUMNS + 1] = (double)INFINITY;
    assert_int_equal(margin_predict(model, &data.x, labels, NULL), MARGIN_OK);
    for (int i = 0; i < ROWS; i++)
        assert_true((labels[i] == -1) == (i >= 8 && i <= 10));
    margin_model_free(model);
    margin_context_free(context);
    sample_free(s);
}

/* ---- Files, searches, memory ----------------------------------------------------------------- */

static void test_files(void **state) {
    (void)state;
    own o;
    own_init(&o);
    sample *s = sample_make(ROWS, COLUMNS, 2, 0.1, 5);
    margin_data data = sample_data(s, DENSE_F64);
    margin_context *context = own_context(&o, 2), *plain = support_context(NULL, 1);
    margin_model *fitted = fit_text(context, "minmax | svm(kernel=user)", &data, NULL), *model,
                 *again;
    const margin_promise_options wish = {
        .size = sizeof wish, .calibrate = MARGIN_CALIBRATE_SIGMOID, .coverage = 0.8};
    margin_error error;
    void *bytes;
    int64_t length;
    assert_int_equal(margin_promise(context, fitted, &data, &wish, &model, &error), MARGIN_OK);
    assert_int_equal(margin_model_encode(model, &bytes, &length, &error), MARGIN_OK);
    assert_int_equal(margin_model_decode(plain, bytes, length, &again, &error),
                     MARGIN_ERROR_ARGUMENT);
    assert_contains(error.text, "load it in a program that hands it over");
    assert_int_equal(margin_model_decode(context, bytes, length, &again, &error), MARGIN_OK);
    margin_bytes_free(model, bytes);
    assert_same_model(model, again);
    margin_context_free(context);
    double p[2 * ROWS], q[2 * ROWS];
    assert_int_equal(margin_probabilities(model, &data.x, p, NULL), MARGIN_OK);
    assert_int_equal(margin_probabilities(again, &data.x, q, NULL), MARGIN_OK);
    assert_memory_equal(p, q, sizeof p);
    margin_model_free(again);
    margin_model_free(model);
    margin_model_free(fitted);
    margin_context_free(plain);
    sample_free(s);
}

static void test_search(void **state) {
    (void)state;
    own o;
    own_init(&o);
    sample *s = sample_make(ROWS, COLUMNS, 3, 0.1, 5);
    margin_data data = sample_data(s, DENSE_F64);
    margin_context *context = own_context(&o, 2);
    static const char *const specs[2] = {"svm(kernel=user, C={0.1,1,10})",
                                         "svm(kernel=rbf, gamma=0.5, C={0.1,1,10})"};
    const margin_split_options folds = {.size = sizeof folds, .folds = 4};
    margin_search_result *found[2];
    margin_splits *splits;
    margin_error error;
    assert_int_equal(margin_split(context, &data, &folds, &splits, &error), MARGIN_OK);
    for (int k = 0; k < 2; k++) {
        margin_spec *spec = parse_text(context, specs[k]);
        assert_int_equal(margin_search(context, spec, &data, splits, NULL, &found[k], &error), 0);
        margin_spec_free(spec);
    }
    for (int64_t c = 0; c < 3; c++)
        assert_close(margin_search_cell_at(found[0], c)->mean,
                     margin_search_cell_at(found[1], c)->mean, 1e-12);
    margin_search_result_free(found[0]);
    margin_search_result_free(found[1]);
    margin_splits_free(splits);
    margin_context_free(context);
    sample_free(s);
}

static margin_status attempt(margin_context *context, void *user, margin_error *error) {
    static own o;
    own_init(&o);
    context->options.kernel = own_kernel;
    context->options.kernel_user = &o;
    return attempt_fit(context, user, error);
}

static void test_memory(void **state) {
    (void)state;
    sample *s = sample_make(30, COLUMNS, 3, 0.1, 5);
    for (int k = 0; k < 4; k++) {
        fit_attempt a = {trained[k], sample_data(s, DENSE_F64)};
        assert_true(support_fail_each_allocation(1, attempt, &a) > 10);
    }
    sample_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_as_rbf), cmocka_unit_test(test_answers),
        cmocka_unit_test(test_threads),     cmocka_unit_test(test_no_numbers),
        cmocka_unit_test(test_refused),     cmocka_unit_test(test_indefinite),
        cmocka_unit_test(test_stops),       cmocka_unit_test(test_no_answer),
        cmocka_unit_test(test_files),       cmocka_unit_test(test_search),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
