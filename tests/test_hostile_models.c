/* Model files that agree with their checksum and not with themselves: refused with a sentence, or
 * whatever uses the model works. */
#include "hostile_models.h"

#include "support/group_folder.h"
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static hostile_case cases[HOSTILE_MOST];

static margin_context *limited_context(void) {
    const margin_context_options options = {
        .size = sizeof options, .threads = 1, .memory_limit = INT64_C(1) << 28};
    margin_context *context = NULL;
    assert_int_equal(margin_context_create(&options, &context, NULL), MARGIN_OK);
    return context;
}

/* NULL: the case does not go with its data. */
static margin_model *train(margin_context *context, const hostile_case *c) {
    margin_model *model = NULL;
    margin_error error = {0};
    const margin_status status = hostile_train(context, c, &model, &error);
    if (status < 0) fail_msg("%s: %s", c->spec, error.text);
    return model;
}

static hostile_file encode(const margin_model *model) {
    void *bytes = NULL;
    hostile_file file = {0};
    assert_int_equal(margin_model_encode(model, &bytes, &file.length, NULL), MARGIN_OK);
    file.bytes = malloc((size_t)file.length);
    memcpy(file.bytes, bytes, (size_t)file.length);
    margin_bytes_free(model, bytes);
    return file;
}

/* True: it is usable, and was used. */
static bool try_file(margin_context *context, const hostile_file *file, const char *path,
                     const char *what) {
    margin_model *model = NULL;
    margin_error error = {0};
    margin_status verified;
    const margin_status status =
        margin_model_decode(context, file->bytes, file->length, &model, &error);
    if (status < 0) {
        if (status != MARGIN_ERROR_MODEL && status != MARGIN_ERROR_LIMIT)
            fail_msg("%s: status %d: %s", what, (int)status, error.text);
        assert_contains(error.text, "the model ");
        return false;
    }
    const char *wrong = hostile_use(context, model, path, &verified, &error);
    if (wrong) fail_msg("%s: %s: %s", what, wrong, error.text);
    margin_model_free(model);
    return true;
}

/* Every stage with every learner and every function; what is honest is proven. */
static void test_honest(void **state) {
    margin_context *context = support_context(NULL, 2);
    const int count = hostile_cases(cases);
    char path[SUPPORT_PATH];
    (void)state;
    assert_true(count > 100 && count < HOSTILE_MOST);
    for (int k = 0; k < count; k++) {
        margin_error error = {0};
        margin_status verified;
        margin_model *model = train(context, &cases[k]);
        const char *wrong =
            hostile_use(context, model, in_folder(path, "honest.margin"), &verified, &error);
        if (wrong) fail_msg("%s: %s: %s", cases[k].spec, wrong, error.text);
        const bool claims = margin_model_task(model) != MARGIN_TRANSFORM;
        if (verified != (claims ? MARGIN_OK : MARGIN_ERROR_ARGUMENT))
            fail_msg("%s: verified %d: %s", cases[k].spec, (int)verified, error.text);
        margin_model_free(model);
    }
    margin_context_free(context);
}

static void test_changed(void **state) {
    enum { CHANGES = SUPPORT_SLOWER > 20 ? 6 : 60, CHOICES = 32 };
    margin_context *context = limited_context();
    const int count = hostile_cases(cases);
    uint64_t random = 20;
    int used = 0, tried = 0;
    char path[SUPPORT_PATH];
    (void)state;
    for (int k = 0; k < count; k++) {
        margin_model *model = train(context, &cases[k]);
        const hostile_file file = encode(model);
        margin_model_free(model);
        for (int n = 0; n < CHANGES; n++) {
            unsigned char bytes[CHOICES];
            for (int b = 0; b < CHOICES; b++)
                bytes[b] = (unsigned char)(support_random(&random) >> 20);
            hostile_choices choices = {bytes, CHOICES};
            const hostile_file changed = hostile_change(&file, &choices);
            char what[HOSTILE_SPEC + 40];
            snprintf(what, sizeof what, "%.*s, change %d", HOSTILE_SPEC, cases[k].spec, n);
            used += try_file(context, &changed, in_folder(path, "changed.margin"), what);
            tried++;
            free(changed.bytes);
        }
        free(file.bytes);
    }
    print_message("%d of %d changed files were usable\n", used, tried);
    assert_true(used > tried / 20 && used < tried / 2);
    margin_context_free(context);
}

/* Promises that were never made, added to each model; folds may be models of another kind. */
static void test_added(void **state) {
    enum { ADDED = SUPPORT_SLOWER > 20 ? 6 : 24, CHOICES = 32 };
    margin_context *context = limited_context();
    const int count = hostile_cases(cases);
    uint64_t random = 5;
    int used = 0, tried = 0;
    hostile_file other = {0};
    (void)state;
    for (int k = 0; k < count; k++) {
        if (cases[k].promise) continue;
        margin_model *model = train(context, &cases[k]);
        const hostile_file file = encode(model);
        margin_model_free(model);
        if (!other.bytes) other = file;
        for (int n = 0; n < ADDED; n++) {
            unsigned char bytes[CHOICES];
            for (int b = 0; b < CHOICES; b++)
                bytes[b] = (unsigned char)(support_random(&random) >> 20);
            hostile_choices choices = {bytes, CHOICES};
            const hostile_file added = hostile_promise(&file, &other, &choices);
            char what[HOSTILE_SPEC + 40];
            snprintf(what, sizeof what, "%.*s, promise %d", HOSTILE_SPEC, cases[k].spec, n);
            used += try_file(context, &added, NULL, what);
            tried++;
            free(added.bytes);
        }
        if (other.bytes != file.bytes) free(other.bytes);
        other = file;
    }
    free(other.bytes);
    print_message("%d of %d promises were usable\n", used, tried);
    assert_true(used > tried / 20 && used < tried / 2);
    margin_context_free(context);
}

/* A coverage by rows left out, of an honest file of three columns: used, or refused (part: in what
 * it says; whether it is there is the answer). */
static bool try_coverage(margin_context *context, const char *spec, double level, int64_t width,
                         const char *part) {
    static const double numbers[] = {1, 0.5};
    hostile_case c = {.target = VALUES};
    margin_model *loaded = NULL;
    margin_error error = {0};
    strcpy(c.spec, spec);
    margin_model *model = train(context, &c);
    hostile_file files[4] = {encode(model)};
    files[1] = hostile_add(&files[0], "addition.coverage", "F64", 1, 0, &level, 1);
    files[2] = hostile_add(&files[1], "addition.residuals", "F64", 30, 0, numbers, 2);
    files[3] = hostile_add(&files[2], "addition.left_out", "F64", 30, width, numbers, 2);
    const margin_status status =
        margin_model_decode(context, files[3].bytes, files[3].length, &loaded, &error);
    if (part) {
        if (status != MARGIN_ERROR_MODEL) fail_msg("%s %g: %d", spec, level, (int)status);
    } else {
        margin_status verified;
        if (status < 0) fail_msg("%s", error.text);
        assert_null(hostile_use(context, loaded, NULL, &verified, &error));
        margin_model_free(loaded);
    }
    for (int k = 0; k < 4; k++)
        free(files[k].bytes);
    margin_model_free(model);
    return !part || strstr(error.text, part);
}

static void test_coverage(void **state) {
    margin_context *context = support_context(NULL, 1);
    (void)state;
    int fitting = 0;
    assert_true(try_coverage(context, "ridge", 0.9, 4, NULL));
    assert_true(try_coverage(context, "standardize | ridge", 0.9, 4, NULL));
    assert_true(try_coverage(context, "ridge", 0.9, 5, "left_out"));
    assert_true(try_coverage(context, "ridge", 0.999999, 4, "none that its 30 rows can promise"));
    assert_true(try_coverage(context, "ridge", 1e-12, 4, "none that its 30 rows can promise"));
    /* refused as well with as many numbers as the columns that the stage makes */
    for (int width = 2; width < 16; width++)
        fitting += try_coverage(context, "poly | ridge", 0.9, width, "function of its input");
    assert_int_equal(fitting, 1);
    margin_context_free(context);
}

/* An index without targets votes for nothing, in a fold as elsewhere. */
static void test_bare_fold(void **state) {
    static const double x[] = {0, 0, 0, 1, 1, 1, 2, 2, 2}, level = 0.5, residuals[] = {1};
    static const int32_t fold[] = {0, 1};
    const margin_matrix rows = margin_dense_f64(x, 3, 3, 3);
    const hostile_case c = {.spec = "knn(k=1, task=regress)", .target = VALUES};
    margin_context *context = support_context(NULL, 1);
    margin_neighbors *index = NULL;
    margin_model *loaded = NULL;
    margin_error error = {0};
    char path[SUPPORT_PATH];
    (void)state;
    if (margin_neighbors_build(context, &rows, NULL, &index, &error) < 0)
        fail_msg("%s", error.text);
    assert_int_equal(margin_neighbors_save(index, in_folder(path, "bare.margin"), NULL), MARGIN_OK);
    margin_neighbors_free(index);
    size_t size;
    char *bare = support_read_file(path, &size);
    const int64_t length = (int64_t)size;
    margin_model *model = train(context, &c);
    const int64_t starts[] = {0, length, 2 * length};
    hostile_file files[6] = {encode(model)};
    files[1] = hostile_add(&files[0], "addition.coverage", "F64", 1, 0, &level, 1);
    files[2] = hostile_add(&files[1], "addition.residuals", "F64", 4, 0, residuals, 1);
    files[3] = hostile_add(&files[2], "addition.fold", "I32", 4, 0, fold, 2);
    files[4] = hostile_add(&files[3], "addition.model_starts", "I64", 3, 0, starts, 3);
    files[5] = hostile_add(&files[4], "addition.models", "U8", 2 * length, 0, bare, length);
    assert_int_equal(margin_model_decode(context, files[5].bytes, files[5].length, &loaded, &error),
                     MARGIN_ERROR_MODEL);
    assert_contains(error.text, "an index of neighbours without targets");
    for (int k = 0; k < 6; k++)
        free(files[k].bytes);
    free(bare);
    margin_model_free(model);
    margin_context_free(context);
}

/* One entry changed so that the parts of the model contradict each other. */
static void test_contradictions(void **state) {
    static const struct {
        const char *spec;
        hostile_target target;
        const char *from, *to, *part;
    } changes[] = {
        {"softmax", THREE_NAMES, "\\\"subproblems\\\":1", "\\\"subproblems\\\":2", "sub-problems"},
        {"softmax", THREE_NAMES, "\\\"subproblems\\\":1", "\\\"subproblems\\\":1000000000",
         "sub-problems"},
        {"softmax", THREE_NAMES, "\\\"argmax\\\"", "\\\"votes\\\"", "the way the model decides"},
        {"logistic", THREE_NAMES, "\\\"subproblems\\\":3", "\\\"subproblems\\\":1", "sub-problems"},
        {"logistic", THREE_NAMES, "\"spec\":\"logistic\"", "\"spec\":\"softmax\"", "sub-problems"},
        {"logistic", THREE_NAMES, "\"spec\":\"logistic\"", "\"spec\":\"kmeans(k=3)\"",
         "kmeans is not a learner for the task"},
        {"perceptron(kernel=rbf)", TWO_CLASSES, "\"spec\":\"perceptron(kernel=rbf)\"",
         "\"spec\":\"naive-bayes\"", "naive-bayes makes no hypothesis of the kind expansion"},
        {"perceptron(kernel=rbf)", TWO_CLASSES, "\"spec\":\"perceptron(kernel=rbf)\"",
         "\"spec\":\"knn\"", "knn makes no hypothesis of the kind expansion"},
        {"perceptron(kernel=rbf)", TWO_CLASSES, "kernel=rbf", "kernel=laplacian", "another kernel"},
        {"perceptron", TWO_CLASSES, "\"spec\":\"perceptron\"", "\"spec\":\"perceptron(form=dual)\"",
         "has not the form"},
        {"knn", TWO_CLASSES, "\"spec\":\"knn\"", "\"spec\":\"logistic\"",
         "logistic makes no hypothesis of the kind neighbors"},
        {"knn", TWO_CLASSES, "\"spec\":\"knn\"", "\"spec\":\"naive-bayes\"",
         "naive-bayes makes no hypothesis of the kind neighbors"},
        {"knn", TWO_CLASSES, "\"spec\":\"knn\"", "\"spec\":\"knn(k=3)\"", "in another way"},
        {"knn", TWO_CLASSES, "\"spec\":\"knn\"", "\"spec\":\"knn(p=1)\"", "in another way"},
        {"knn", TWO_CLASSES, "\"spec\":\"knn\"", "\"spec\":\"knn(radius=5)\"", "in another way"},
        {"naive-bayes", TWO_CLASSES, "\"spec\":\"naive-bayes\"", "\"spec\":\"logistic\"",
         "logistic makes no hypothesis of the kind bayes"},
        {"naive-bayes", TWO_CLASSES, "\"spec\":\"naive-bayes\"",
         "\"spec\":\"naive-bayes(smoothing=2)\"", "other settings"},
        {"naive-bayes", TWO_CLASSES, "\"spec\":\"naive-bayes\"",
         "\"spec\":\"naive-bayes(distribution=bernoulli)\"", "another distribution"},
        {"ridge", VALUES, "\"spec\":\"ridge\"", "\"spec\":\"logistic(C=inf)\"",
         "logistic is not a learner for the task"},
        {"ridge", TWO_VALUES, "\"spec\":\"ridge\"", "\"spec\":\"lasso\"", "2 target columns"},
        {"kmeans(k=3)", NO_TARGET, "\"spec\":\"kmeans(k=3)\"", "\"spec\":\"kmeans(k=4)\"",
         "3 centres"},
        {"standardize | ridge", VALUES, "\"spec\":\"standardize | ridge\"",
         "\"spec\":\"standardize(target=yes) | ridge\"", "another target than its spec says"},
        {"standardize | ridge", VALUES, "\\\"active\\\":0", "\\\"active\\\":1",
         "applies 1 of its 1 stages"},
        {"ridge", VALUES, "\\\"columns\\\":3,\\\"classes\\\"", "\\\"columns\\\":2,\\\"classes\\\"",
         "2 columns"},
        {"ridge", VALUES, "\\\"inputs\\\":3",
         "\\\"inputs\\\":[\\\"a\\\",\\\"b\\\",{\\\"name\\\":\\\"c\\\",\\\"categories\\\":[]}]",
         "column c of the model holds categories"},
    };
    (void)state;
    margin_context *context = support_context(NULL, 1);
    for (size_t k = 0; k < sizeof changes / sizeof changes[0]; k++) {
        hostile_case c = {.target = changes[k].target};
        strcpy(c.spec, changes[k].spec);
        margin_model *model = train(context, &c), *loaded = NULL;
        const hostile_file file = encode(model);
        const hostile_file forged = hostile_replace(&file, changes[k].from, changes[k].to);
        margin_error error = {0};
        if (!forged.bytes) fail_msg("%s: there is no %s", c.spec, changes[k].from);
        const margin_status status =
            margin_model_decode(context, forged.bytes, forged.length, &loaded, &error);
        if (status != MARGIN_ERROR_MODEL)
            fail_msg("%s: %s: status %d: %s", c.spec, changes[k].to, (int)status, error.text);
        assert_contains(error.text, "the model is not a usable model file: ");
        assert_contains(error.text, changes[k].part);
        free(forged.bytes);
        free(file.bytes);
        margin_model_free(model);
    }
    margin_context_free(context);
}

/* The file of a model with stages is an index whose queries pass them. */
static void test_neighbors_behind_stages(void **state) {
    const hostile_case c = {.spec = "standardize | knn(k=3)", .target = TWO_CLASSES};
    margin_context *context = support_context(NULL, 1);
    margin_neighbors *index = NULL, *own = NULL;
    margin_error error = {0};
    char path[SUPPORT_PATH];
    double query[64] = {0}, apart, expected;
    int64_t row, same, columns;
    (void)state;
    margin_model *model = train(context, &c);
    margin_model_columns(model, &columns);
    const margin_matrix x = margin_dense_f64(query, 1, columns, columns);
    assert_int_equal(margin_model_save(model, in_folder(path, "staged.margin"), NULL), MARGIN_OK);
    assert_int_equal(margin_neighbors_load(context, path, &index, &error), MARGIN_OK);
    assert_int_equal(margin_neighbors_of(model, &own, &error), MARGIN_OK);
    assert_int_equal(margin_neighbors_nearest(context, index, &x, 1, &row, &apart, &error),
                     MARGIN_OK);
    assert_int_equal(margin_neighbors_nearest(context, own, &x, 1, &same, &expected, &error),
                     MARGIN_OK);
    assert_int_equal(row, same);
    assert_close(apart, expected, 0);
    margin_neighbors_free(index);
    margin_neighbors_free(own);
    margin_model_free(model);
    margin_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_honest),
        cmocka_unit_test(test_changed),
        cmocka_unit_test(test_added),
        cmocka_unit_test(test_coverage),
        cmocka_unit_test(test_bare_fold),
        cmocka_unit_test(test_contradictions),
        cmocka_unit_test(test_neighbors_behind_stages),
    };
    return cmocka_run_group_tests(tests, group_folder_make, group_folder_remove);
}
