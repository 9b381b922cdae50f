/* What fits with a kernel say before they begin: bytes against the real peak, refusals, notes. */
#include "model_cases.h"

#include "base/context.h"
#include "learn/announce.h"
#include "learn/kernels/kernel_plan.h"
#include "math/gram/gram.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Data ------------------------------------------------------------------------------------ */

typedef struct table {
    double *f64, *y;
    float *f32;
    int32_t *index;
    int64_t *start;
    margin_data data;
} table;

typedef enum layout { F64, F32, SPARSE, CHANCE, APART } layout;

/* A ball and its outside with noise (classes shells of the same), or a smooth value (classes 0). Of
 * f64 also classes by chance, and each with a column of its own. */
static table table_make(int64_t rows, int64_t columns, int classes, layout kind) {
    table t = {.f64 = malloc((size_t)(rows * columns) * sizeof(double)),
               .f32 = malloc((size_t)(rows * columns) * sizeof(float)),
               .index = malloc((size_t)(rows * columns) * sizeof(int32_t)),
               .start = calloc((size_t)rows + 1, sizeof(int64_t)),
               .y = malloc((size_t)rows * sizeof(double))};
    uint64_t state = 7;
    int64_t stored = 0;
    for (int64_t i = 0; i < rows; i++) {
        const int chosen = kind < CHANCE ? -1 : (int)(support_uniform(&state) * classes);
        double square = 0.0, first = 0.0;
        for (int64_t j = 0; j < columns; j++) {
            const double value =
                0.5 * support_normal(&state) + (kind == APART && j == chosen ? 15.0 : 0.0);
            if (j == 0) first = value;
            if (j < 3) square += value * value;
            if (kind == SPARSE && support_uniform(&state) < 0.9) continue;
            const int64_t at = kind == SPARSE ? stored++ : i * columns + j;
            t.f64[at] = value;
            t.f32[at] = (float)value;
            t.index[at] = (int32_t)j;
        }
        t.start[i + 1] = stored;
        square += 0.3 * (support_uniform(&state) - 0.5);
        t.y[i] = classes ? fmin(floor(fmax(square, 0.0) * classes / 1.2), classes - 1)
                         : sin(3.0 * first) + square;
        if (chosen >= 0) t.y[i] = chosen;
    }
    t.data.x = margin_dense_f64(t.f64, rows, columns, columns);
    if (kind == F32) t.data.x = margin_dense_f32(t.f32, rows, columns, columns);
    if (kind == SPARSE) t.data.x = margin_csr_f64(t.f64, t.index, t.start, rows, columns);
    t.data.y = margin_values_f64(t.y, rows);
    return t;
}

static void table_free(table *t) {
    free(t->f64);
    free(t->f32);
    free(t->y);
    free(t->index);
    free(t->start);
}

typedef struct listener {
    int notes;
    char text[1000];
} listener;

static void listen(margin_log_level level, const char *text, void *user) {
    listener *to = user;
    assert_int_equal(level, MARGIN_LOG_NOTE);
    to->notes++;
    snprintf(to->text, sizeof to->text, "%s", text);
}

static margin_context *open_context(support_heap *heap, int threads, int64_t limit, listener *to) {
    margin_context *context;
    margin_context_options options = {.size = sizeof options,
                                      .threads = threads,
                                      .memory_limit = limit,
                                      .log = to ? listen : NULL,
                                      .user = to};
    if (heap) options.allocator = support_allocator(heap);
    assert_int_equal(margin_context_create(&options, &context, NULL), MARGIN_OK);
    return context;
}

/* ---- The announcement against the peak ------------------------------------------------------- */

typedef struct plan_case {
    const char *spec;
    int rows, columns, classes;
    layout kind;
    int threads;
    int64_t limit;
} plan_case;

static const plan_case cases[] = {
    {"svm(kernel=rbf)", 2000, 5, 2, F64, 1, 0},
    {"svm(kernel=rbf)", 3000, 200, 2, F32, 2, 0},
    {"svm(kernel=rbf, C=100)", 3000, 20, 2, F64, 4, 0},
    {"svm(kernel=rbf, C=100)", 4000, 10, 2, F64, 2, 20 << 20}, /* some rows stay */
    {"svm(kernel=rbf, task=regress, C=0.001, epsilon=0.001)", 8000, 2, 0, F64, 1,
     4 << 20}, /* whose proof takes more than its rows */
    {"svm(kernel=laplacian)", 3000, 60, 2, SPARSE, 2, 0},
    {"svm(kernel=sigmoid, gamma=0.01, coef0=0.1)", 1500, 8, 2, F64, 2, 0}, /* decided by a factor */
    {"svm(kernel=poly)", 2500, 8, 2, F64, 2, 12 << 20},
    {"svm(kernel=rbf)", 2500, 8, 3, F64, 2, 0}, /* one matrix for three problems */
    {"svm(kernel=rbf)", 2500, 8, 10, F64, 2, 0},
    {"svm(kernel=rbf, multiclass=ovr)", 2000, 8, 10, F32, 2, 0},
    {"svm(kernel=rbf, gamma=0.01, kkt=0.001)", 3000, 300, 10, CHANCE, 2, 0}, /* all support */
    {"svm(kernel=rbf, gamma=0.01, kkt=0.001)", 1500, 500, 5, CHANCE, 2, 0},
    {"svm(kernel=rbf, C=0.1, tol=0.01)", 1500, 3, 26, CHANCE, 2, 0},
    {"svm(kernel=rbf, gamma=0.01)", 4000, 300, 10, APART, 2, 0}, /* few do */
    {"svm(kernel=rbf, task=regress)", 2500, 8, 0, F64, 2, 0},
    {"svm(kernel=rbf, task=regress)", 3000, 4, 0, F32, 1, 15 << 20},
    {"svm(kernel=rbf, task=one-class, nu=0.1)", 3000, 8, 0, F64, 2, 0},
    {"kernel-ridge", 2000, 5, 0, F64, 1, 0},
    {"kernel-ridge(intercept=yes)", 1500, 40, 0, F32, 4, 0},
    {"kernel-ridge", 3000, 10, 0, F64, 2, 0},
    {"kernel-ridge", 2500, 80, 0, SPARSE, 2, 0},
    {"kernel-ridge(solver=cg)", 4000, 8, 0, F64, 2, 30 << 20}, /* no matrix */
    {"kernel-logistic", 4000, 2, 2, F64, 1, 4 << 20},
    {"kernel-ridge(task=classify)", 2500, 20, 4, F64, 2, 0},
    {"kernel-ridge(task=classify)", 1800, 20, 10, F64, 2, 0},
    {"kernel-ridge(solver=gd, max_iter=5)", 2000, 8, 0, F64, 2, 0},
    {"kernel-logistic", 1000, 5, 2, F64, 1, 0},
    {"kernel-logistic(solver=cholesky)", 1500, 30, 2, F32, 2, 0},
    {"kernel-logistic", 2000, 10, 3, F64, 2, 0},
    {"kernel-logistic", 1500, 10, 10, F64, 2, 0},
    {"kernel-logistic", 2500, 60, 2, SPARSE, 2, 0},
    {"perceptron(kernel=rbf, passes=3)", 1500, 8, 2, F64, 2, 0},
    {"perceptron(kernel=laplacian, passes=2)", 2000, 30, 2, SPARSE, 1, 0},
    {"perceptron(kernel=poly, passes=2)", 2500, 4, 2, F32, 2, 20 << 20}, /* some rows stay */
    {"perceptron(kernel=rbf, passes=3, variant=averaged)", 500, 8, 2, F64, 2, 0},
    {"perceptron(kernel=rbf, passes=3)", 1500, 300, 2, F64, 2, 0}, /* its model beside none */
};

static void test_peak(void **state) {
    (void)state;
    SUPPORT_LARGE_CASE();
    for (int k = 0; k < MG_LENGTH(cases); k++) {
        const plan_case *c = &cases[k];
        table t = table_make(c->rows, c->columns, c->classes, c->kind);
        support_heap heap;
        support_heap_init(&heap);
        margin_context *context = open_context(&heap, c->threads, c->limit, NULL);
        margin_report report = {0};
        margin_model *model = fit_text(context, c->spec, &t.data, &report);
        const double peak = (double)atomic_load(&heap.peak_bytes);
        const double said = (double)margin_context_announced_memory(context);
        if (!(fabs(said - peak) <= 0.05 * peak))
            fail_msg("%s of %d x %d: %.0f bytes were announced, %.0f held", c->spec, c->rows,
                     c->columns, said, peak);
        if (c->limit) assert_true(peak <= (double)c->limit);
        margin_model_free(model);
        margin_context_free(context);
        support_assert_nothing_live(&heap);
        table_free(&t);
    }
}

/* Few rows of several classes on many threads: whichever fits meet, each has scratch of its own. */
static void test_peak_of_fits_that_meet(void **state) {
    (void)state;
    table t = table_make(150, 4, 3, F64);
    for (int k = 0; k < 100; k++) {
        margin_context *context = open_context(NULL, 2 + 6 * (k % 2), 0, NULL);
        margin_report report = {0};
        margin_model_free(fit_text(context, "svm(kernel=rbf)", &t.data, &report));
        const double peak = (double)margin_context_peak_memory(context);
        const double said = (double)margin_context_announced_memory(context);
        if (!(peak <= 1.05 * said)) fail_msg("%.0f bytes were announced, %.0f held", said, peak);
        margin_context_free(context);
    }
    table_free(&t);
}

/* Eigenvectors for all penalties. */
static void test_path_peak(void **state) {
    (void)state;
    SUPPORT_LARGE_CASE();
    table t = table_make(1000, 5, 0, F64);
    margin_context *context = open_context(NULL, 1, 0, NULL);
    margin_spec *spec = parse_text(context, "kernel-ridge(alpha={0.1,10})");
    margin_path_result result = {0};
    assert_int_equal(margin_path(context, spec, &t.data, &result, NULL), MARGIN_OK);
    const double peak = (double)margin_context_peak_memory(context);
    assert_true(fabs((double)margin_context_announced_memory(context) - peak) <= 0.05 * peak);
    margin_path_free(&result);
    margin_spec_free(spec);
    margin_context_free(context);
    table_free(&t);
}

/* A search: by one matrix for all folds, or, where stages differ from fold to fold, by one of each,
 * with that in f64 of later penalties. */
static void test_search_peak(void **state) {
    (void)state;
    SUPPORT_LARGE_CASE();
    static const char *const specs[] = {"svm(kernel=rbf, gamma=0.01, C={1,10})",
                                        "standardize | svm(kernel=rbf, gamma=0.01, C={1,10})",
                                        "kernel-ridge(gamma=0.01, alpha={0.1..10 log 6})",
                                        "standardize | kernel-ridge(alpha={0.1..10 log 6})",
                                        "standardize | kernel-ridge(alpha={0.1,1})"};
    table t = table_make(1500, 5, 2, F64);
    for (int k = 0; k < 2 * MG_LENGTH(specs); k++) {
        margin_context *context = open_context(NULL, 1 + k % 2, 0, NULL);
        margin_spec *spec = parse_text(context, specs[k / 2]);
        const margin_split_options folds = {.size = sizeof folds, .folds = 5};
        margin_splits *splits;
        margin_search_result *found;
        assert_int_equal(margin_split(context, &t.data, &folds, &splits, NULL), 0);
        assert_int_equal(margin_search(context, spec, &t.data, splits, NULL, &found, NULL), 0);
        const double peak = (double)margin_context_peak_memory(context);
        const double said = (double)margin_context_announced_memory(context);
        const bool together = k % 2; /* two folds at once, if the machine has time for both */
        if (!(peak <= 1.05 * said && (together || said <= 1.1 * peak)))
            fail_msg("%s: %.0f bytes were announced, %.0f held", specs[k / 2], said, peak);
        margin_search_result_free(found);
        margin_splits_free(splits);
        margin_spec_free(spec);
        margin_context_free(context);
    }
    table_free(&t);
}

/* Nobody else announces, and what is small is said to programs only. */
static void test_notes(void **state) {
    (void)state;
    table t = table_make(300, 3, 2, F64);
    listener to = {0};
    margin_context *context = open_context(NULL, 2, 0, &to);
    margin_model_free(fit_text(context, "logistic", &t.data, &(margin_report){0}));
    assert_int_equal(margin_context_announced_memory(context), 0);
    margin_model_free(fit_text(context, "svm(kernel=rbf)", &t.data, &(margin_report){0}));
    const int64_t said = margin_context_announced_memory(context);
    assert_true(said > 300 * 300 * 4);
    assert_int_equal(to.notes, 0);
    margin_context_free(context);
    table_free(&t);
}

/* Of linear learners the products of many columns, once, and again where they are more. */
static void test_products_of_columns(void **state) {
    (void)state;
    listener to = {0};
    margin_context *context = open_context(NULL, 1, 0, &to);
    mg_announce_products(context, 2800);
    assert_int_equal(margin_context_announced_memory(context), 0);
    assert_int_equal(to.notes, 0);
    double *held = mg_new(context->heap, 3000 * 3000, sizeof *held);
    mg_announce_products(context, 3000);
    assert_in_range(margin_context_announced_memory(context), 72000000, 80000000);
    mg_announce_products(context, 3000);
    assert_int_equal(to.notes, 1);
    assert_contains(to.text, "the products of 3000 columns take 68.7 MiB of memory");
    mg_free(context->heap, held);
    margin_context_free(context);
}

/* Before the fit, once for all parts that take as much. */
static void test_note_of_much(void **state) {
    (void)state;
    SUPPORT_LARGE_CASE();
    table t = table_make(4300, 3, 2, F64);
    listener to = {0};
    margin_context *context = open_context(NULL, 2, 0, &to);
    margin_model_free(fit_text(context, "svm(kernel=rbf)", &t.data, &(margin_report){0}));
    assert_int_equal(to.notes, 1);
    assert_contains(to.text, "svm of 4300 rows takes ");
    assert_contains(to.text, "MiB of memory beside the data, 70.6 MiB of it for its Gram matrix of "
                             "4300 x 4300 numbers");
    assert_contains(to.text, "on 2 threads");
    margin_context_free(context);
    table_free(&t);
    t = table_make(6400, 3, 3, F64); /* no room for one matrix of all classes */
    to.notes = 0;
    context = open_context(NULL, 2, 180 << 20, &to);
    margin_model_free(fit_text(context, "svm(kernel=rbf)", &t.data, &(margin_report){0}));
    assert_true(to.notes >= 1); /* again where a pair has more rows */
    assert_contains(to.text, "on 2 threads for each of 3 problems");
    margin_context_free(context);
    table_free(&t);
}

/* ---- From sizes alone ------------------------------------------------------------------------ */

static mg_kernel_sizes sizes_of(int64_t rows, int64_t columns, mg_kernel_kind kernel) {
    const mg_kernel of_kind = {.kind = kernel};
    return (mg_kernel_sizes){.learner = "svm",
                             .linear = "svm",
                             .kernel = kernel,
                             .definite = mg_kernel_is_definite(&of_kind),
                             .x = margin_dense_f64(NULL, rows, columns, columns),
                             .count = rows,
                             .functions = 1,
                             .samples = (double)rows,
                             .threads = 2};
}

/* Half of what a limit leaves for rows, all but what is beside it for equations. */
static void test_storage(void **state) {
    (void)state;
    margin_context *context = open_context(NULL, 2, 40 << 20, NULL);
    const mg_kernel_sizes small = sizes_of(1000, 10, MG_KERNEL_RBF),
                          some = sizes_of(2000, 10, MG_KERNEL_RBF),
                          large = sizes_of(3000, 10, MG_KERNEL_RBF);
    mg_kernel_plan plan = mg_kernel_plan_make(context, &small, MG_WAY_FACTOR);
    assert_true(plan.says.fits && plan.storage == MG_GRAM_SQUARE);
    assert_int_equal(plan.says.matrix, 8 * 1000 * 1000);
    plan = mg_kernel_plan_make(context, &some, MG_WAY_FACTOR);
    assert_true(plan.says.fits && plan.says.matrix == 8 * 2000 * 2000);
    plan = mg_kernel_plan_make(context, &large, MG_WAY_FACTOR);
    assert_false(plan.says.fits);
    plan = mg_kernel_plan_make(context, &small, MG_WAY_CONJUGATE);
    assert_true(plan.says.fits && plan.storage == MG_GRAM_TRIANGLE);
    plan = mg_kernel_plan_make(context, &large, MG_WAY_CONJUGATE);
    assert_true(plan.says.fits && plan.storage == MG_GRAM_NONE && plan.says.matrix == 0);
    plan = mg_kernel_plan_make(context, &small, MG_WAY_ROWS);
    assert_int_equal(plan.says.matrix, mg_gram_bytes(1000, MARGIN_F32, 1000));
    plan = mg_kernel_plan_make(context, &large, MG_WAY_ROWS);
    assert_true(plan.says.fits && plan.says.matrix < mg_gram_bytes(3000, MARGIN_F32, 3000));
    assert_true(plan.says.matrix <= 20 << 20 && plan.says.matrix > 10 << 20);
    assert_true(plan.says.bytes <= 40 << 20);
    margin_context_free(context);
}

/* More work, more bytes; no thread changes the work. */
static void test_order(void **state) {
    (void)state;
    margin_context *context = open_context(NULL, 2, 0, NULL);
    for (mg_kernel_way way = MG_WAY_ROWS; way <= MG_WAY_NEWTON; way++) {
        double work = 0.0;
        int64_t bytes = 0;
        for (int64_t rows = 500; rows <= 32000; rows *= 4) {
            mg_kernel_sizes s = sizes_of(rows, 20, MG_KERNEL_RBF);
            const mg_kernel_plan plan = mg_kernel_plan_make(context, &s, way);
            assert_true(plan.says.work > work && plan.says.bytes > bytes);
            assert_true(plan.says.bytes > plan.says.matrix && plan.says.seconds > 0.0);
            work = plan.says.work;
            bytes = plan.says.bytes;
            s.threads = 8;
            assert_true(mg_kernel_plan_make(context, &s, way).says.work == work);
        }
    }
    margin_context_free(context);
}

/* Products of sizes that no integer holds are no room for anybody. */
static void test_overflow(void **state) {
    (void)state;
    static const int64_t counts[] = {(int64_t)1 << 31, (int64_t)1 << 40, INT64_MAX / 8, INT64_MAX};
    margin_context *context = open_context(NULL, 1, 0, NULL);
    margin_error error = {0};
    for (int k = 0; k < MG_LENGTH(counts); k++)
        for (mg_kernel_way way = MG_WAY_ROWS; way <= MG_WAY_NEWTON; way++) {
            mg_kernel_sizes s = sizes_of(counts[k], 1 << 20, MG_KERNEL_LINEAR);
            s.functions = INT64_MAX;
            s.samples = 1e30;
            const mg_kernel_plan plan = mg_kernel_plan_make(context, &s, way);
            assert_true(plan.says.bytes > 0 && plan.says.matrix >= 0 && plan.says.work > 1e18);
            assert_int_equal(mg_announce(context, &plan.says, &error), MARGIN_ERROR_LIMIT);
            assert_contains(error.text, k < 2 ? "nystroem(centres=2000) | svm" : "take fewer rows");
        }
    assert_int_equal(margin_context_announced_memory(context), 0);
    assert_true(mg_gram_bytes(INT64_MAX, MARGIN_F64, 2) == INT64_MAX);
    margin_context_free(context);
}

/* ---- Refusals -------------------------------------------------------------------------------- */

/* Of conjugate gradients: 200,000 rows of two columns took 220 seconds on two threads, 12,000 of a
 * hundred 30 on one, without a matrix. Of few rows no second is named. */
static void test_order_of_time(void **state) {
    (void)state;
    static const struct {
        int64_t rows, columns;
        int threads;
        double took;
    } runs[] = {{200000, 2, 2, 220.0}, {12000, 20, 1, 10.0}, {12000, 100, 1, 30.0}};
    const margin_context_options limited = {.size = sizeof limited, .time_limit = 1e-9};
    listener to = {0};
    margin_context *context = open_context(NULL, 2, 40 << 20, &to), *large, *timed;
    large = open_context(NULL, 2, (int64_t)1 << 30, NULL);
    for (int k = 0; k < MG_LENGTH(runs); k++) {
        mg_kernel_sizes s = sizes_of(runs[k].rows, runs[k].columns, MG_KERNEL_RBF);
        s.threads = runs[k].threads;
        const mg_kernel_plan plan =
            mg_kernel_plan_make(k == 0 ? large : context, &s, MG_WAY_CONJUGATE);
        assert_int_equal(plan.storage, MG_GRAM_NONE);
        assert_true(plan.says.seconds > runs[k].took / 3.0);
        assert_true(plan.says.seconds < runs[k].took * 3.0);
    }
    const mg_kernel_sizes s = sizes_of(50, 2, MG_KERNEL_RBF);
    const mg_kernel_plan plan = mg_kernel_plan_make(context, &s, MG_WAY_CONJUGATE);
    assert_int_equal(margin_context_with(context, &limited, &timed, NULL), MARGIN_OK);
    assert_int_equal(mg_announce(timed, &plan.says, NULL), MARGIN_OK);
    assert_contains(to.text, "50 x 50 numbers, and less than a second on");
    assert_contains(to.text, "for less take fewer rows");
    margin_context_free(timed);
    margin_context_free(large);
    margin_context_free(context);
}

/* Hours of work do not begin, but with a limit to their time. */
static void test_hours(void **state) {
    (void)state;
    static const struct {
        mg_kernel_kind kernel;
        const char *instead;
    } kernels[] = {{MG_KERNEL_RBF, "nystroem(centres=2000) | svm, or fourier(features=2000) | svm"},
                   {MG_KERNEL_POLY, "nystroem(centres=2000) | svm (verifying the first tells"},
                   {MG_KERNEL_PRECOMPUTED, "take fewer rows"},
                   {MG_KERNEL_FUNCTION, "take fewer rows"},
                   {MG_KERNEL_SIGMOID, "take fewer rows"}};
    const margin_context_options limited = {.size = sizeof limited, .time_limit = 5.0};
    listener to = {0};
    margin_context *context = open_context(NULL, 1, 0, &to), *timed;
    margin_error error = {0};
    assert_int_equal(margin_context_with(context, &limited, &timed, NULL), MARGIN_OK);
    for (int k = 0; k < MG_LENGTH(kernels); k++) {
        const mg_kernel_sizes s = sizes_of(3000000, 50, kernels[k].kernel);
        const mg_kernel_plan plan = mg_kernel_plan_make(context, &s, MG_WAY_ROWS);
        assert_true(plan.says.fits);
        assert_int_equal(mg_announce(context, &plan.says, &error), MARGIN_ERROR_LIMIT);
        assert_contains(error.text, kernels[k].instead);
        assert_contains(error.text, "set a time limit");
    }
    const mg_kernel_sizes s = sizes_of(3000000, 50, MG_KERNEL_RBF);
    const mg_kernel_plan plan = mg_kernel_plan_make(timed, &s, MG_WAY_ROWS);
    assert_int_equal(mg_announce(timed, &plan.says, &error), MARGIN_OK);
    assert_int_equal(to.notes, 1);
    assert_contains(to.text, "more than the time limit leaves; for less take some rows for all");
    assert_int_equal(margin_context_announced_memory(timed),
                     margin_context_announced_memory(context));
    margin_context_free(timed);
    margin_context_free(context);
}

/* The dual form of a perceptron says what its rows take, and what does without them. */
static void test_perceptron(void **state) {
    (void)state;
    table t = table_make(3000, 3, 2, F64);
    margin_error error = {0};
    margin_context *context = open_context(NULL, 1, 30000, NULL);
    margin_spec *spec = parse_text(context, "perceptron(kernel=rbf, gamma=1)");
    margin_model *model;
    assert_int_equal(margin_fit(context, spec, &t.data, &model, NULL, &error), MARGIN_ERROR_LIMIT);
    assert_true(strstr(error.text, "take fewer rows") || strstr(error.text, "memory limit"));
    margin_spec_free(spec);
    margin_context_free(context);
    table_free(&t);
}

/* What is advised runs within the limit that refused, and is for the same target. */
static void test_advice(void **state) {
    (void)state;
    static const struct {
        const char *spec, *instead;
        int classes;
    } refusals[] = {{"kernel-ridge(solver=cholesky)", "nystroem(centres=400) | ridge", 0},
                    {"kernel-ridge(kernel=poly, degree=3, coef0=2, solver=cholesky)",
                     "nystroem(centres=400, kernel=poly, degree=3, coef0=2) | ridge", 0},
                    {"kernel-ridge(kernel=laplacian, gamma=median, solver=cholesky)",
                     "fourier(features=400, kernel=laplacian, gamma=median) | ridge", 0},
                    {"kernel-ridge(solver=cholesky)", "nystroem(centres=400) | logistic", 2},
                    {"kernel-logistic(solver=cholesky)", "nystroem(centres=400) | logistic", 2}};
    for (int k = 0; k < MG_LENGTH(refusals); k++) {
        table t = table_make(2000, 3, refusals[k].classes, F64);
        margin_context *context = open_context(NULL, 2, 20000000, NULL);
        margin_spec *spec = parse_text(context, refusals[k].spec);
        margin_error error = {0};
        margin_model *model;
        assert_int_equal(margin_fit(context, spec, &t.data, &model, NULL, &error),
                         MARGIN_ERROR_LIMIT);
        assert_contains(error.text, refusals[k].instead);
        margin_model_free(fit_text(context, refusals[k].instead, &t.data, &(margin_report){0}));
        margin_spec_free(spec);
        margin_context_free(context);
        table_free(&t);
    }
    assert_null(mg_linear_instead("svm", MG_CLUSTERING));
    assert_string_equal(mg_linear_instead("svm", MG_REGRESSION), "ridge");
}

/* Limits from too little for a row to nearly enough: refused with the bytes and what to take, by
 * cause; nothing is left behind, and what is not refused ends. */
static void test_limits(void **state) {
    (void)state;
    static const char *const specs[] = {"svm(kernel=rbf)",
                                        "kernel-ridge",
                                        "kernel-logistic",
                                        "kernel-ridge(solver=cholesky)",
                                        "svm(kernel=rbf, task=one-class, nu=0.5)",
                                        "perceptron(kernel=rbf, passes=3)"};
    table t = table_make(600, 4, 2, F64);
    int refused = 0, done = 0;
    for (int k = 0; k < MG_LENGTH(specs); k++)
        for (int64_t limit = 60000; limit < 20000000; limit += limit / 3) {
            margin_context *context = open_context(NULL, 2, limit, NULL);
            margin_spec *spec = parse_text(context, specs[k]);
            margin_model *model = NULL;
            margin_error error = {0};
            const margin_status status = margin_fit(context, spec, &t.data, &model, NULL, &error);
            if (status < 0) {
                assert_int_equal(status, MARGIN_ERROR_LIMIT);
                assert_int_equal(error.cause, MARGIN_CAUSE_MEMORY_LIMIT);
                refused += strstr(error.text, "beside the data") != NULL;
                if (strstr(error.text, "beside the data"))
                    assert_true(strstr(error.text, "nystroem(centres=") ||
                                strstr(error.text, "take fewer rows"));
                assert_int_equal(margin_context_announced_memory(context), 0);
            } else {
                assert_true(margin_context_announced_memory(context) <= limit);
                done++;
            }
            margin_model_free(model);
            margin_spec_free(spec);
            margin_context_free(context);
        }
    assert_true(refused >= 20 && done >= 40);
    table_free(&t);
}

/* The number behind `before` in a sentence, with its unit. */
static int64_t bytes_behind(const char *text, const char *before) {
    const char *at = strstr(text, before);
    char unit = 0;
    double value = 0.0;
    assert_non_null(at);
    assert_int_equal(sscanf(at + strlen(before), "%lf %c", &value, &unit), 2);
    return (int64_t)(value * (unit == 'K' ? 1024.0 : 1048576.0));
}

static margin_status report_within(const char *text, const margin_data *data, int threads,
                                   int64_t limit, margin_report *report, margin_error *error) {
    margin_context *context = open_context(NULL, threads, limit, NULL);
    margin_spec *spec = parse_text(context, text);
    margin_model *model = NULL;
    const margin_status status = margin_fit(context, spec, data, &model, report, error);
    margin_model_free(model);
    margin_spec_free(spec);
    margin_context_free(context);
    return status;
}

static margin_status fit_within(const char *text, const margin_data *data, int threads,
                                int64_t limit, margin_error *error) {
    return report_within(text, data, threads, limit, NULL, error);
}

/* Few rows: what is not refused before it begins ends, and what a refusal advises does. */
static void test_small_limits(void **state) {
    (void)state;
    static const char *const specs[] = {"svm(kernel=rbf)",
                                        "kernel-ridge(task=classify)",
                                        "kernel-ridge(solver=gd, max_iter=3, task=regress)",
                                        "kernel-logistic",
                                        "kernel-ridge(solver=cholesky)",
                                        "svm(kernel=rbf, task=one-class, nu=0.5)",
                                        "perceptron(kernel=rbf, passes=3)",
                                        "perceptron(kernel=rbf, passes=3, variant=averaged)"};
    static const int rows[] = {12, 150, 400}, threads[] = {1, 8};
    int refused = 0, advised = 0;
    for (int k = 0; k < 6 * MG_LENGTH(specs); k++) {
        table t = table_make(rows[k / 2 % 3], 4, k / 2 % 3 + 2, F64);
        const char *spec = specs[k / 6];
        for (int64_t limit = 120000; limit < 2500000; limit += limit / 4) {
            margin_error error = {0}, again = {0};
            if (fit_within(spec, &t.data, threads[k % 2], limit, &error) >= 0) continue;
            if (!strstr(error.text, "beside the data"))
                fail_msg("%s of %d rows in %lld bytes: %s", spec, rows[k / 2 % 3], (long long)limit,
                         error.text);
            refused++;
            if (fit_within(spec, &t.data, threads[k % 2], bytes_behind(error.text, "(a limit of "),
                           &again) < 0)
                fail_msg("%s: %s: then %s", spec, error.text, again.text);
            const char *instead = strstr(error.text, "nystroem(");
            char advice[200];
            if (!instead) continue;
            const size_t stage = strcspn(instead, ")");
            snprintf(advice, sizeof advice, "%.*s", (int)(stage + strcspn(instead + stage, ",(")),
                     instead);
            if (fit_within(advice, &t.data, threads[k % 2], limit, &again) < 0)
                fail_msg("%s: %s: then %s", spec, error.text, again.text);
            advised++;
        }
        table_free(&t);
    }
    assert_true(refused > 50 && advised > 0);
    table large = table_make(40000, 1, 0, F64); /* a matrix of 12.8 GB, beyond what any may have */
    margin_error error = {0};
    assert_true(fit_within(specs[4], &large.data, 1, (int64_t)64e9, &error) < 0);
    assert_non_null(strstr(error.text, "which no limit raises: let solver=cg do without"));
    table_free(&large);
}

static int64_t settings_within(const table *t, int threads, int64_t limit) {
    margin_context *context = open_context(NULL, threads, limit, NULL);
    margin_spec *spec =
        parse_text(context, "kernel-ridge(gamma=0.02, alpha={1e-8..100 log 6}, intercept=yes)");
    const margin_split_options folds = {.size = sizeof folds, .folds = 3, .in_order = 1};
    margin_splits *splits;
    margin_search_result *found;
    int64_t done = 0;
    assert_int_equal(margin_split(context, &t->data, &folds, &splits, NULL), 0);
    if (margin_search(context, spec, &t->data, splits, NULL, &found, NULL) >= 0) {
        done = found->count - found->failed;
        margin_search_result_free(found);
    }
    margin_splits_free(splits);
    margin_spec_free(spec);
    margin_context_free(context);
    return done;
}

/* Where memory is too little for all threads, fewer run: how many there are decides no fit. */
static void test_fewer_threads(void **state) {
    (void)state;
    static const char *const specs[] = {"svm(kernel=rbf)", "kernel-ridge(task=classify)",
                                        "kernel-logistic", "svm(kernel=laplacian, multiclass=ovr)",
                                        "perceptron(kernel=rbf, passes=3)"};
    int done = 0, refused = 0;
    for (int k = 0; k < MG_LENGTH(specs); k++) {
        table t = table_make(400, 4, 2 + k % 2, F64);
        for (int64_t limit = 300000; limit < 4000000; limit += limit / 3) {
            margin_report one = {.size = sizeof one}, more = one;
            margin_error error = {0};
            const margin_status alone =
                report_within(specs[k], &t.data, 1, limit, &one, &(margin_error){0});
            for (int threads = 3; threads < 12; threads += 8)
                if (report_within(specs[k], &t.data, threads, limit, &more, &error) != alone ||
                    (alone >= 0 && (one.gap != more.gap || one.objective != more.objective ||
                                    strcmp(one.reason, more.reason) != 0)))
                    fail_msg("%s in %lld bytes: %d threads: %s", specs[k], (long long)limit,
                             threads, error.text);
            *(alone < 0 ? &refused : &done) += 1;
        }
        table_free(&t);
    }
    assert_true(done > 10 && refused > 3);
    table t = table_make(200, 5, 0, F64);
    for (int64_t limit = 800000; limit < 6000000; limit += limit / 2)
        assert_int_equal(settings_within(&t, 8, limit), settings_within(&t, 1, limit));
    table_free(&t);
}

/* Which rows support is not known: where a model of all of them is the most, that is said. */
static void test_up_to(void **state) {
    (void)state;
    table t = table_make(1000, 200, 2, F64);
    margin_error error = {0};
    assert_true(fit_within("svm(kernel=rbf)", &t.data, 2, 1000000, &error) < 0);
    assert_contains(error.text, "svm of 1000 rows takes up to ");
    table_free(&t);
}

/* A stage that takes more than there is says so at once, and what it advises does. */
static void test_stage(void **state) {
    (void)state;
    static const char *const specs[] = {"nystroem(centres=100) | logistic",
                                        "nystroem(centres=100, pick=uniform) | svm"};
    table t = table_make(1500, 30, 2, F64);
    int refused = 0;
    for (int k = 0; k < 4; k++)
        for (int64_t limit = 100000; limit < 1000000; limit += limit / 4) {
            margin_error error = {0}, again = {0};
            if (fit_within(specs[k / 2], &t.data, 1 + k % 2 * 3, limit, &error) >= 0) continue;
            if (!strstr(error.text, "nystroem with 100 centres of 1500 rows takes")) {
                if (strstr(error.text, "centres") || strstr(error.text, "ernel") ||
                    strstr(error.text, "Gram"))
                    fail_msg("%s", error.text);
                continue; /* the learner behind it */
            }
            assert_int_equal(error.cause, MARGIN_CAUSE_MEMORY_LIMIT);
            if (fit_within(specs[k / 2], &t.data, 1 + k % 2 * 3,
                           bytes_behind(error.text, "with a limit of "), &again) < 0)
                fail_msg("%s: then %s", error.text, again.text);
            refused++;
        }
    assert_true(refused > 10);
    table_free(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_peak),          cmocka_unit_test(test_peak_of_fits_that_meet),
        cmocka_unit_test(test_path_peak),     cmocka_unit_test(test_search_peak),
        cmocka_unit_test(test_notes),         cmocka_unit_test(test_products_of_columns),
        cmocka_unit_test(test_note_of_much),  cmocka_unit_test(test_small_limits),
        cmocka_unit_test(test_storage),       cmocka_unit_test(test_order),
        cmocka_unit_test(test_overflow),      cmocka_unit_test(test_hours),
        cmocka_unit_test(test_perceptron),    cmocka_unit_test(test_limits),
        cmocka_unit_test(test_advice),        cmocka_unit_test(test_stage),
        cmocka_unit_test(test_order_of_time), cmocka_unit_test(test_up_to),
        cmocka_unit_test(test_fewer_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
